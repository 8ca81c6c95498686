select count(*) from accounts where bid = 2;
