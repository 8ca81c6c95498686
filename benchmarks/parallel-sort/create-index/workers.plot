# Time to create an index, against the number of workers; 0 is the leader alone
x_label = 'workers'
y_label = 'seconds'
y_scale = 1e-9
zero_label = 'none'
load style
eval draw
