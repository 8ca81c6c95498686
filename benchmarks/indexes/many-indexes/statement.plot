# Instructions of a whole statement, against the number of indexes of its table
x_label = 'indexes on the table'
y_label = 'instructions per statement'
load style
eval draw
