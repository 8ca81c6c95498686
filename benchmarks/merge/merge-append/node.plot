# Instructions of the Merge Append node, against the number of its inputs
x_label = 'inputs'
y_label = 'instructions per execution'
load style
eval draw
