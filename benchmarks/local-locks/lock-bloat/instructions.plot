# Instructions of a transaction with one lock, against the locks of an earlier one
x_label = 'locks of an earlier transaction'
y_label = 'instructions per transaction'
load style
eval draw
