# Instructions to execute a prepared select of a row, against its columns
x_label = 'columns'
y_label = 'instructions per execution'
load style
eval draw
