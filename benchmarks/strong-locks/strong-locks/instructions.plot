# Instructions to take a strong lock, against max_connections
x_label = 'max_connections'
y_label = 'instructions per transaction'
load style
eval draw
