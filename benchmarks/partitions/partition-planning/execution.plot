# Instructions to execute a generic plan, against the number of partitions; 0 is a
# table without partitions
x_label = 'partitions'
y_label = 'instructions per execution'
zero_label = 'plain table'
load style
eval draw
