# Throughput of a prepared query, for each plan_cache_mode, against the number of
# partitions; 0 is a table without partitions
x_label = 'partitions'
y_label = 'transactions per second'
zero_label = 'plain table'
load style
eval draw
