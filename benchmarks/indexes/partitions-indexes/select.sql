select * from pt where col5 = 42;
