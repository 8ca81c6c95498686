# Instructions to execute a generic plan, against the number of partitions
x_label = 'partitions'
y_label = 'instructions per execution'
load style
eval draw
