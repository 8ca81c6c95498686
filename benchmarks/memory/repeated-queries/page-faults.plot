# Page faults of a query on all partitions, against their number
x_label = 'partitions'
y_label = 'page faults'
load style
eval draw
