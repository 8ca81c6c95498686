# Instructions to take and release weak locks, against their number
x_label = 'locks in a transaction'
y_label = 'instructions per transaction'
load style
eval draw
