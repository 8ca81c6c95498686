# Instructions to plan a query, against the number of indexes of its table
x_label = 'indexes on the table'
y_label = 'instructions per plan'
load style
eval draw
