# The look of all plots.  pgseries sets datafile, outfile, style (the path of this
# file) and base (a version).  The data has a row for each figure, sorted by x, with
# these columns, separated by tabs; each line is a block of its own:
#
#	1  x             the value on the x axis
#	2  base          median of the runs
#	3  base_lo       lower and upper bound: the 95% interval of the median for
#	4  base_hi       time, smallest and largest run for counts; NaN if there
#	                 are too few runs
#	5-7              the same for patched
#	8  line          name of the line, "-" if there is only one
#
# A plot file sets x_label and y_label, with units, and ends with the two lines
#
#	load style
#	eval draw
#
# There is no x = 0 on a log axis.  Points with x = 0 stand apart on the left,
# and a dotted line carries the patched one across the plot, to compare with;
# zero_label says what they are.  With y_scale, the y axis shows the values
# multiplied by it, such as 1e-9 for nanoseconds in seconds.

set datafile separator "\t"
if (!exists("zero_label")) zero_label = '0'
if (!exists("y_scale")) y_scale = 1.0

# The data: range and names of the lines
x_min = 1e300
x_max = 0.0
y_min = 1e300
y_max = 0.0
has_zero = 0
x_values = ''
note_x(x) = x > 0 ? (x_values = x_values . sprintf(' %.10g', x), \
	x_min = x < x_min ? x : x_min, x_max = x > x_max ? x : x_max) : \
	(has_zero = 1)
note_y(y) = y > 0 ? (y_min = y < y_min ? y : y_min, \
	y_max = y > y_max ? y : y_max) : 0
stats datafile using (note_x($1), 1) name 'stats' nooutput
do for [column = 2:7] {
	stats datafile using (note_y(column(column)), 1) name 'stats' nooutput
}
if (x_max == 0) x_min = x_max = 1.0
lines = stats_blocks
array name[lines]
array zero_y[lines]
do for [i = 1:lines] {
	this_name = ''
	this_zero = 0
	stats datafile index i - 1 using \
		(this_name = strcol(8), this_zero = $1 == 0 ? $5 : this_zero, 1) \
		name 'stats' nooutput
	name[i] = this_name
	zero_y[i] = this_zero
}

# The colours are names: report.html says what they are, in the light and
# in the dark.  Patched is solid with full points, base is dashed with open ones; a
# second line has colours of its own, so that no two differ in colour alone.
ink = '#010101'
faint = '#020202'
base_colour(i) = i % 2 ? '#030303' : '#050505'
patched_colour(i) = i % 2 ? '#040404' : '#060606'
key_text(i, build) = name[i] eq '-' ? build : name[i] . ', ' . build

# Small, so that the text is readable where the page is narrow.
set terminal svg size 480,300 font 'sans-serif,13' linewidth 1.5 noenhanced
set output outfile

set xlabel x_label tc rgb ink offset 0, 0.3
set label 1 y_label at graph 0, graph 1 left tc rgb ink offset character -6, 0.9
set border 1 lc rgb ink lw 0.5
set grid y back lt 1 lc rgb faint lw 0.5
set key at graph 1, graph lines == 1 ? 1.02 : 1.13 right bottom maxrows lines vertical Left reverse \
	noautotitle samplen 2 width -1 tc rgb ink
set tics nomirror scale 0.5 tc rgb ink
set ytics scale 0
set lmargin 7
set rmargin 1.5
set tmargin lines == 1 ? 2.5 : 2.9 + lines
set bmargin 3
set pointsize 0.55

# x: log axis with the measured values as tics, but for those so close to the
# one before that their labels would overlap
x_zero = x_min / (x_max / x_min) ** 0.12 / 1.5
x_left = has_zero ? x_zero / 1.3 : x_min / (x_max / x_min) ** 0.03 / 1.05
x_right = x_max * (x_max / x_min) ** 0.03 * 1.05
set logscale x
set xrange [x_left : x_right]
set xtics ()
last_tic = 0.0
do for [x in x_values] {
	if (last_tic == 0 || \
		log(real(x) / last_tic) > \
		(0.015 + 0.02 * strlen(x)) * log(x_right / x_left)) {
		set xtics add (x real(x))
		last_tic = real(x)
	}
}
if (has_zero) {
	set xtics add (zero_label x_zero)
	x_gap = sqrt(x_zero * x_min)
	set arrow from first x_gap, graph 0 to first x_gap, graph 1 nohead back \
		dt '-' lc rgb faint lw 0.7
	do for [i = 1:lines] {
		if (zero_y[i] > 0) {
			set arrow from first x_zero, first zero_y[i] to \
				graph 1, first zero_y[i] nohead back dt '. ' lw 0.7 \
				lc rgb patched_colour(i)
		}
	}
}

# y: log axis with as many tics in a decade as the range needs
set logscale y
y_low = y_min / 1.25
y_high = y_max * 1.25
y_span = y_high / y_low
steps = y_span < 4 ? '1 1.2 1.4 1.6 1.8 2 2.5 3 3.5 4 5 6 7 8 9' : \
	y_span < 30 ? '1 1.5 2 3 5 7' : y_span < 1000 ? '1 2 5' : '1'
number_text(v) = v >= 1e9 ? sprintf('%g G', v / 1e9) : \
	v >= 1e6 ? sprintf('%g M', v / 1e6) : \
	v >= 1e3 ? sprintf('%g k', v / 1e3) : sprintf('%g', v)
set yrange [y_low : y_high]
set ytics ()
do for [e = floor(log10(y_low)) : ceil(log10(y_high))] {
	do for [step in steps] {
		tic = real(step) * 10.0 ** e
		if (tic >= y_low && tic <= y_high) {
			set ytics add (number_text(tic * y_scale) tic)
		}
	}
}

# Bars are drawn first, so that the points cover them.  Bounds that are missing
# or equal draw none.
at(x) = x > 0 ? x : NaN
at_zero(x) = x == 0 ? x_zero : NaN
at_bar(x, lo, hi) = hi > lo ? (x > 0 ? x : x_zero) : NaN

draw = "plot " . \
	"for [i = 1:lines] datafile index i - 1 using " . \
	"(at_bar($1, $3, $4)):3:(0):($4 - $3) " . \
	"with vectors heads size screen 0.004, 90 lw 0.8 lc rgb base_colour(i), " . \
	"for [i = 1:lines] datafile index i - 1 using " . \
	"(at_bar($1, $6, $7)):6:(0):($7 - $6) " . \
	"with vectors heads size screen 0.004, 90 lw 0.8 lc rgb patched_colour(i), " . \
	"for [i = 1:lines] datafile index i - 1 using (at($1)):2 " . \
	"with lines lc rgb base_colour(i) dt '-', " . \
	"for [i = 1:lines] datafile index i - 1 using " . \
	"($1 > 0 ? $1 : x_zero):2 with points lc rgb base_colour(i) pt 6, " . \
	"for [i = 1:lines] NaN with linespoints lc rgb base_colour(i) " . \
	"dt '-' pt 6 title key_text(i, base), " . \
	"for [i = 1:lines] datafile index i - 1 using (at($1)):5 " . \
	"with linespoints lc rgb patched_colour(i) dt 1 pt 7 " . \
	"title key_text(i, 'patched'), " . \
	"for [i = 1:lines] datafile index i - 1 using (at_zero($1)):5 " . \
	"with points lc rgb patched_colour(i) pt 7"
