# Instructions of a whole statement, against the number of partitions
x_label = 'partitions'
y_label = 'instructions per statement'
load style
eval draw
