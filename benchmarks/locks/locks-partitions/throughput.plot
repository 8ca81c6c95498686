# Throughput of a query on all partitions, against their number
x_label = 'partitions'
y_label = 'transactions per second'
load style
eval draw
