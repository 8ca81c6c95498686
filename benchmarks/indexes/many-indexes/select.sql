select * from synth_table where col5 = 42;
