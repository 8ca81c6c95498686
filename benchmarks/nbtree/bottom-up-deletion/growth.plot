# Size of three indexes, for updates of one column and of all, against the number
# of updates
x_label = 'updates'
y_label = 'pages'
load style
eval draw
