package PgSeries::Report;

=pod

=head1 NAME

PgSeries::Report - report, plots and README table from benchmark results

=head1 SYNOPSIS

  use PgSeries::Report;
  use PgSeries::Report::Results qw(read_result);

  my @results = map { read_result($_, 'benchmarks') } @json_files;
  my @patches = ({ file => '0001-slug.patch', topic => 'indexes',
                   subject => 'Compute index tree height only when needed' });
  print PgSeries::Report::write_report(results => \@results,
    patches => \@patches, plots => 'benchmarks', output => 'build/report');
  $readme = PgSeries::Report::update_readme($readme, \@results, \@patches);
  $letter .= PgSeries::Report::text_table(\@results, \@patches);

=head1 DESCRIPTION

L<PgSeries::Report::Results> says what a result is and what its figures say,
L<PgSeries::Report::Topics> makes the page of the topics, and
L<PgSeries::Report::Markup> gives Markdown and HTML the same contents.

The same results give the same files, byte for byte: dates come from the
results, and the SVG files name neither the version of gnuplot nor a path.

=head1 DATA OF A PLOT

gnuplot gets the variables C<datafile>, C<outfile> (SVG), C<style> (path of
benchmarks/style.gp) and C<title>, and runs the plot file.  The data file has
a row for each figure, sorted by x, and these columns, separated by tabs:

  1  x             value of the key "x"
  2  base          median of the runs
  3  base_lo       lower and upper bound: the 95% interval of the median for
  4  base_hi       time, smallest and largest run for instructions
  5  patched       the same for patched
  6  patched_lo
  7  patched_hi
  8  line          name of the line, "-" if there is only one

Each line is an index block of its own (two empty lines between them).  A
bound that does not exist, because there are too few runs, is NaN.

=head1 FUNCTIONS

All raise a L<PgSeries::Error> with code 2 that names the file and the remedy.

=over

=cut

use strict;
use warnings FATAL => 'all';

use Cwd            qw(abs_path);
use File::Basename qw(dirname);
use File::Temp;
use List::Util               qw(max);
use PgSeries::Report::Markup qw(bytes html_text markdown page plain
  plain_inline relative_path);
use PgSeries::Report::Results qw(builds case_text case_value dates figure
  interval machine medians mixed ratio ratio_text refuse select_series texts
  verdict_inline);
use PgSeries::Report::Topics qw(measured_topics topics_page);
use PgSeries::Util           qw(find_tool info make_dir read_file run_status
  write_file);
use Scalar::Util qw(looks_like_number);

use constant {
	README_BEGIN => '<!-- results:begin -->',
	README_END => '<!-- results:end -->'
};

=item plot_data(\%result, \%plot)

Takes a result and one of its plots.  Returns the text of the data file, or
the empty string if there are figures for less than two values of x.  Raises an
error if two figures share a place in the plot.

=cut

sub plot_data
{
	my ($result, $plot) = @_;
	my @keys = grep { defined }
	  ref $plot->{lines} ? @{ $plot->{lines} } : $plot->{lines};
	my (@names, %rows, %x);

	foreach my $series (map { select_series($result, $_, $plot->{where}) }
		texts($plot->{measure}))
	{
		my $x = $series->{case}{ $plot->{x} };
		next unless looks_like_number($x);

		my $name = join ', ', map { case_value($_, $series->{case}{$_}) }
		  grep { defined $series->{case}{$_} } @keys;
		$name = '-' if $name eq '';
		push @names, $name unless $rows{$name};
		$x{$x} = 1;
		refuse(
			"$result->{file}: plot $plot->{file} has two figures for "
			  . "$plot->{x} $x",
			'add to "where" or "lines" of the plot in the benchmark\'s meta.json'
		) if $rows{$name}{$x};

		my $figure = figure($series);
		$rows{$name}{$x} = join(
			"\t", $x,
			(   map { defined $_ ? sprintf('%.10g', $_) : 'NaN' }
				  @{ $figure->{base} },
				@{ $figure->{patched} }),
			$name) . "\n";
	}
	return '' if keys %x < 2;
	return join(
		"\n\n",
		"# x\tbase\tbase_lo\tbase_hi\tpatched\tpatched_lo\tpatched_hi\tline\n",
		map {
			my $row = $rows{$_};
			join('', map { $row->{$_} } sort { $a <=> $b } keys %$row)
		} @names);
}

# The gnuplot output without what differs between versions of gnuplot or makes
# two plots in one page clash.
sub _clean_svg
{
	my ($svg, $name, $title) = @_;
	my $heading = '<title>' . html_text($title) . '</title>';

	$svg =~ s/^<\?xml[^>]*>\s*//;
	$svg =~ s/<title>.*?<\/title>\s*<desc>.*?<\/desc>/$heading/s;
	$svg =~ s/<title>[^<]*_plot_\d+[a-z]?<\/title>//g;
	$svg =~ s/\b(id=['"])/$1$name-/g;
	$svg =~ s/(xlink:href=['"]#)/$1$name-/g;
	$svg =~ s/(url\(#)/$1$name-/g;
	$svg =~ s/<svg\s/<svg role="img" /;
	$svg =~ s/[ \t]+$//mg;
	return $svg;
}

# Runs gnuplot; returns the SVG text.
sub _plot
{
	my ($gnuplot, $result, $plot, $name, $benchmarks) = @_;
	my $file = "$benchmarks/$result->{bench}/$plot->{file}";
	my $data = plot_data($result, $plot);
	my $dir = File::Temp->newdir('pgseries-plot-XXXXXX', TMPDIR => 1);
	my $title = $plot->{title};

	return if $data eq '';
	refuse(
		"$file, named in $result->{file}, is missing",
		'restore it, or correct the benchmark\'s meta.json') unless -f $file;
	write_file("$dir/data", bytes($data));

	# gnuplot writes '' for a quote in a quoted string
	my %set = (
		datafile => "$dir/data",
		outfile => "$dir/plot.svg",
		style => "$benchmarks/style.gp",
		title => bytes($title));
	s/'/''/g foreach values %set;
	my $status = run_status(
		[
			$gnuplot, '-d', '-e',
			join('; ', map { "$_='$set{$_}'" } sort keys %set), $file
		],
		env => { LC_ALL => 'C', GNUPLOT_LIB => undef },
		err => \my $errors);
	my $svg = -s "$dir/plot.svg" ? read_file("$dir/plot.svg") : '';
	refuse("gnuplot failed on $file (exit status $status)",
		'correct the plot file', $errors)
	  if $status != 0 || $svg !~ /<\/svg>\s*$/;
	utf8::decode($svg);
	return _clean_svg($svg, $name, $title);
}

=item update_readme($text, \@results, \@patches)

Takes the README's text, results from read_result() and the patches of the
series as C<{ file, topic, subject }>.  Returns the text with the table of
patches between C<< <!-- results:begin --> >> and C<< <!-- results:end --> >>.

Raises an error if the text does not have exactly one pair of these lines, or
if a result names a patch that the series does not have or a figure that does
not exist.

=cut

sub update_readme
{
	my ($text, $results, $patches) = @_;
	my ($begin, $end) = (README_BEGIN, README_END);
	my @markers = $text =~ /^(\Q$begin\E|\Q$end\E)[ \t]*$/mg;

	refuse(
		'the README does not have one line "'
		  . $begin
		  . '" and, after it, one line "'
		  . $end . '"',
		'put both where the table of results belongs'
	) unless "@markers" eq "$begin $end";

	my $block = bytes(
		markdown(
			_patch_table(_patch_figures($results, $patches, 1), 'patches'),
			(@$results ? _measured_on($results) : ())));
	$text =~ s/^\Q$begin\E[ \t]*\n.*^\Q$end\E[ \t]*$/$begin\n$block$end/ms;
	return $text;
}

# The patches, each with its figures as C<[text, series]>.  A benchmark names a
# patch without its number, which changes with the series.  Unless $complete,
# there may be figures that were not measured, such as those of another scale:
# their series is undef.
sub _patch_figures
{
	my ($results, $patches, $complete) = @_;
	my %figures = map { _unnumbered($_->{file}) => [] } @$patches;

	foreach my $result (@$results)
	{
		foreach my $entry (@{ $result->{readme} })
		{
			my $patch = $entry->{patch};
			my $case = $entry->{case} || {};
			my @found = select_series($result, $entry->{measure}, $case);

			refuse(
				"$result->{file} gives a figure to $patch, "
				  . 'which is not in the series',
				'correct the name in the benchmark\'s meta.json'
			) unless $figures{$patch};
			refuse(
				sprintf(
					'%s: "readme" of %s: %d figures are %s (%s)',
					$result->{file}, $patch,
					scalar @found, $entry->{measure},
					case_text($case, sort keys %$case)),
				'name exactly one in the benchmark\'s meta.json'
			) if @found > 1 || ($complete && !@found);
			push @{ $figures{$patch} }, [ $entry->{text}, $found[0] ];
		}
	}
	return [
		map {
			{ %$_, figures => $figures{ _unnumbered($_->{file}) } }
		} @$patches
	];
}

sub _unnumbered
{
	my ($file) = @_;

	return $file =~ s/^\d+-//r;
}

# Text, base, patched and ratio of a figure, the last as a list of an inline.
sub _patch_cells
{
	my ($text, $series) = @_;

	return ($text, '', '', ['not measured']) unless $series;

	my $figure = figure($series);
	my $what = "$text ($series->{unit})";
	return (
		$what,
		medians($series, $figure),
		[ ratio_text($series, $figure) . ', ', verdict_inline($figure) ]);
}

sub _patch_table
{
	my ($patches, $patches_dir) = @_;
	my @rows;

	foreach my $patch (@$patches)
	{
		my @start = (
			[
				{
					text => $patch->{file},
					href => "$patches_dir/$patch->{file}"
				}
			],
			$patch->{topic},
			$patch->{subject});
		my @figures = @{ $patch->{figures} };

		push @rows, [ @start, 'not measured', '', '', '' ] unless @figures;
		foreach my $figure (@figures)
		{
			push @rows, [ @start, _patch_cells(@$figure) ];
			@start = ('', '', '');
		}
	}

	return (
		[
			table => [
				'Patch', 'Topic',
				'What it changes', 'Measured',
				'>Base', '>Patched',
				'>Patched / base'
			],
			@rows
		],
		[
			p =>
			  'Base and patched are medians.  Patched has all patches of the '
			  . 'series, whichever patch a figure stands at.  For times, the '
			  . '95% interval of the ratio stands in brackets.'
		]);
}

# When, at which scale, and on which machine.
sub _measured_on
{
	my ($results) = @_;
	my @days = sort map { substr($_->{date}, 0, 10) } @$results;
	my $days =
	  $days[0] eq $days[-1] ? $days[0] : "$days[0] to $days[-1]";
	my %scales = map { $_->{scale} => 1 } @$results;

	return (
		[
				p => "Measured on $days at scale "
			  . join(' and ', sort keys %scales)
			  . ', on this machine:'
		],
		machine($results));
}

=item text_table(\@results, \@patches)

As the table of update_readme(), but as plain text, for a letter: for each
patch its subject and, below it, its figures.  Raises the same errors.

=cut

sub text_table
{
	my ($results, $patches) = @_;
	return bytes(_plain_table(_patch_figures($results, $patches, 1)));
}

sub _plain_table
{
	my ($patches) = @_;
	my @lines = ([ '', 'base', 'patched', 'patched / base' ]);

	foreach my $patch (@$patches)
	{
		my @figures = @{ $patch->{figures} };
		push @lines,
		  [ $patch->{subject} . (@figures ? '' : ': not measured') ];
		foreach my $figure (@figures)
		{
			my ($what, $base, $patched, $ratio) = _patch_cells(@$figure);
			push @lines, [ "  $what", $base, $patched, plain_inline($ratio) ];
		}
	}
	return '' unless @lines > 1;

	# Subjects, which stand alone, may be longer than the first column.
	my @table = grep { @$_ > 1 } @lines;
	my @width = map {
		my $i = $_;
		max(map { length $_->[$i] } @table)
	} 0 .. 2;
	my $text = '';
	foreach my $line (@lines)
	{
		my ($what, @rest) = @$line;
		$text .=
		  @rest
		  ? sprintf("%-*s  %*s  %*s  %s\n",
			$width[0], $what, $width[1], $rest[0], $width[2], @rest[ 1, 2 ])
		  : "$what\n";
	}
	return $text;
}

=item write_report(%options)

Writes report.md, index.html (one file, nothing else is needed to read it) and
BENCH-PLOT.svg for each plot, and the page of the topics, topics.md and
topics.html.  Returns a summary, as plain text in UTF-8.  Options:

  results   list of results from read_result()
  patches   the patches, as for update_readme()
  output    directory to write to, made if it does not exist
  plots     directory of style.gp and of the directories of the plots; the
            patches and the documents, for links, are in ../patches and ../doc
  topics    what read_topics() returned; without it there is no page of them
  complete  true if that page must be complete

Unlike in the README, figures of the report may be missing: a run at another
scale does not have all of them.  Without gnuplot the report has no plots; it
says so, and so does a line on standard error.

=back

=cut

sub write_report
{
	my (%opt) = @_;
	my $results = $opt{results};
	my $gnuplot = find_tool('gnuplot');
	my ($out, $benchmarks) = (make_dir($opt{output}), abs_path($opt{plots}));
	my $beside = dirname($benchmarks);

	_check_all($results);
	info(   'pgseries: the report has no plots: gnuplot is missing; install '
		  . 'it (Debian: gnuplot-nox) and make the report again')
	  unless $gnuplot;

	my @overview = _overview($results);
	my $patches = _patch_figures($results, $opt{patches}, 0);
	my @topics =
	  $opt{topics}
	  ? measured_topics($opt{topics}, $results, $opt{patches}, $opt{complete})
	  : ();
	my $plots = $gnuplot && _plots($gnuplot, $results, $benchmarks, $out);
	_write_page(
		"$out/report.md",
		"$out/index.html",
		'pgseries benchmark report',
		[ h => 1, 'Benchmark report' ],
		@overview,
		(@topics ? _link_to_topics() : ()),
		[ h => 2, 'Patches', 'patches' ],
		_patch_table($patches, relative_path("$beside/patches", $out)),
		[ h => 2, 'How it was measured', 'method' ],
		_method(),
		[ h => 2, 'Machine', 'machine' ],
		machine($results),
		[ h => 2, 'Runs', 'runs' ],
		_runs($results, $out),
		_about_plots($gnuplot),
		map { _benchmark($_, $plots) } @$results);
	my $where = "report: $out/index.html\n";

	if (@topics)
	{
		_write_page(
			"$out/topics.md",
			"$out/topics.html",
			'pgseries: the topics, measured',
			topics_page(
				topics => \@topics,
				results => $results,
				plots => $plots,
				documents => "$beside/doc",
				output => $out),
			_about_plots($gnuplot));
		$where .= "a plot for each topic: $out/topics.html\n";
	}
	return join "\n", grep { $_ ne '' } bytes(plain(@overview)),
	  bytes(_plain_table($patches)), $where;
}

# There must be results, and only one of each benchmark.
sub _check_all
{
	my ($results) = @_;
	my %file_of;

	refuse('there are no benchmark results', 'run a benchmark first')
	  unless @$results;
	foreach my $result (@$results)
	{
		my $other = $file_of{ $result->{bench} };
		refuse(
			"$other and $result->{file} are both results of "
			  . $result->{bench},
			'give only one of them') if defined $other;
		$file_of{ $result->{bench} } = $result->{file};
	}
	return;
}

# Makes all plots.  Returns their blocks by the plot, the hash that describes it;
# a plot without data has none.
sub _plots
{
	my ($gnuplot, $results, $benchmarks, $out) = @_;
	my %block;

	foreach my $result (@$results)
	{
		my %used;
		foreach my $plot (@{ $result->{plots} })
		{
			(my $name = "$result->{bench}-$plot->{file}") =~ s/\.plot$//;
			$used{$name}++;
			$name .= "-$used{$name}" if $used{$name} > 1;
			my $svg = _plot($gnuplot, $result, $plot, $name, $benchmarks);
			next unless defined $svg;
			write_file("$out/$name.svg", bytes($svg));
			$block{$plot} = [ plot => "$name.svg", $plot->{title}, $svg ];
		}
	}
	return \%block;
}

# The part of the report about one benchmark; $plots is undef without gnuplot.
sub _benchmark
{
	my ($result, $plots) = @_;
	my @shown = $plots ? @{ $result->{plots} } : ();

	return (
		[ h => 2, $result->{title}, "bench-$result->{bench}" ],
		(   map {
				$plots->{$_}
				  || [ p => "No plot \"$_->{title}\": it needs figures for "
					  . "two values of $_->{x}." ]
			} @shown),
		_figures($result));
}

sub _link_to_topics
{
	return [
		p => [
			'A plot for each topic: ',
			{
				text => 'topics',
				href => { md => 'topics.md', html => 'topics.html' }
			}
		]
	];
}

sub _write_page
{
	my ($md, $html, $title, @blocks) = @_;

	write_file($md, bytes(markdown(@blocks)));
	write_file($html, bytes(page($title, @blocks)));
	return;
}

sub _about_plots
{
	my ($gnuplot) = @_;
	return [
		p => $gnuplot
		? 'In the plots both axes are logarithmic.  Points are medians; bars '
		  . 'are the 95% interval of the median for times, the smallest and '
		  . 'the largest run for instructions, and are not seen where they '
		  . 'are smaller than the point.  Points apart on the left are not on '
		  . 'the axis, such as a table without partitions; a dotted line '
		  . 'carries the patched one across the plot.'
		: 'This report has no plots: gnuplot was not there when it was made.'
	];
}

# How many figures there are of each kind, and those that a reader must not
# miss.
sub _overview
{
	my ($results) = @_;
	my (%count, @worse);
	my $total = 0;

	foreach my $result (@$results)
	{
		foreach my $series (@{ $result->{series} })
		{
			my $figure = figure($series);
			$total++;
			$count{ $figure->{verdict} }++;
			next unless $figure->{verdict} eq 'worse';

			my @keys = _case_keys($result, $series->{case});
			push @worse,
			  [
				"$result->{bench}, $series->{label} ("
				  . case_text($series->{case}, @keys) . '): '
				  . ratio($figure->{ratio})
				  . ' times base, ',
				verdict_inline($figure)
			  ];
		}
	}
	my $counts = join ', ', map { "$count{$_} $_" }
	  grep { $count{$_} } 'better', 'no difference', 'inconclusive', 'worse';
	my @blocks = (
		[ p => builds($results) . "  $total figures: $counts." ],
		mixed($results));
	push @blocks, [ p => 'Worse than base:' ], [ ul => @worse ] if @worse;
	return @blocks;
}

sub _method
{
	return [
		ul =>
		  'Base and patched are built from the same release with the same '
		  . 'compiler and flags, without assertions.',
		'Instructions are counted by callgrind for a fixed piece of work and '
		  . 'do not depend on the load of the machine.  "Exact" means that '
		  . 'several runs gave the same count; otherwise the largest '
		  . 'difference between runs of one build is given.',
		'Times come in pairs: one run of each build, in random order, each '
		  . 'on a server started for it.  The ratio is the median of '
		  . 'patched / base over the pairs (not the quotient of the two '
		  . 'medians beside it), the interval covers the true median with a '
		  . 'probability of at least 95%.',
		'The A/A interval is that of base against a second run of base, taken '
		  . 'along with each pair: it shows what the machine adds by itself.',
		'A time is better or worse if its interval excludes 1 and its ratio '
		  . 'is farther from 1 than the A/A interval reaches; no difference '
		  . 'if the interval lies within 0.98 and 1.02; otherwise '
		  . 'inconclusive.  No run was left out: all are in the files listed '
		  . 'under Runs.'
	];
}

sub _runs
{
	my ($results, $out) = @_;
	return [
		table =>
		  [ 'Benchmark', 'Topic', 'Scale', 'Date', 'Series', 'Raw runs' ],
		map {
			my $raw = relative_path($_->{file}, $out);
			my $result = $_;
			my @dates = sort { $a cmp $b } dates($result);
			my $date =
				$dates[0] eq $dates[-1]
			  ? $dates[0]
			  : "$dates[0] to $dates[-1]";
			[
				$_->{bench},
				$_->{topic},
				$_->{scale},
				$date,
				[
					{
						text => substr($_->{patched}, 0, 12),
						code => 1
					}
				],
				[ { text => $raw, href => $raw } ]
			]
		} @$results
	];
}

# The keys of a case, the one of the axis first.
sub _case_keys
{
	my ($result, $case) = @_;
	my $axis = ref $result->{axis} eq 'HASH' ? $result->{axis}{name} : undef;
	my $first = defined $axis && exists $case->{$axis} ? $axis : '';
	return (
		(grep { $_ eq $first } keys %$case),
		(sort grep { $_ ne $first } keys %$case));
}

# A table for each measure and label; what all its cases share stands above.
sub _figures
{
	my ($result) = @_;
	my (@order, %groups, @blocks);

	foreach my $series (@{ $result->{series} })
	{
		my $id = join "\0", @{$series}{qw(measure label unit method better)};
		push @order, $id unless $groups{$id};
		push @{ $groups{$id} }, $series;
	}
	foreach my $id (@order)
	{
		my @series = @{ $groups{$id} };
		my $time = $series[0]{method} eq 'time';
		my %keys = map { $_ => 1 } map { keys %{ $_->{case} } } @series;
		my (@shared, @varying, @heads);
		foreach my $key (_case_keys($result, \%keys))
		{
			my %values = map { _text($_->{case}{$key}) => 1 } @series;
			if (keys %values == 1) { push @shared, $key; }
			else
			{
				my $text = grep { !looks_like_number($_) } keys %values;
				push @varying, $key;
				push @heads, $text ? $key : ">$key";
			}
		}

		push @blocks, [ h => 3, $series[0]{label} ],
		  [
				p => "Measure: $series[0]{measure}, in $series[0]{unit}; "
			  . "$series[0]{better} is better."
			  . (
				@shared
				? '  Case: ' . case_text($series[0]{case}, @shared) . '.'
				: '')
		  ],
		  [
			table => [
				(@varying ? @heads : ('Case')),
				'>Base',
				'>Patched',
				'>Patched / base',
				($time ? ('95% interval', 'A/A interval') : ('Exactness')),
				$time ? '>Pairs' : '>Runs',
				'Verdict'
			],
			map {
				[
					(   @varying
						? (map { _text($_) } @{ $_->{case} }{@varying})
						: ('as above')),
					_cells($_)
				]
			} @series
		  ];
	}
	return @blocks;
}

sub _text
{
	my ($value) = @_;
	return defined $value ? "$value" : '-';
}

# The cells of a figure after those of its case.
sub _cells
{
	my ($series) = @_;
	my $figure = figure($series);
	my $time = $series->{method} eq 'time';
	my @exactness;

	if ($time)
	{
		@exactness = (
			interval(@{$figure}{qw(lo hi)}),
			$figure->{aa}
			? interval(@{ $figure->{aa} }{qw(lo hi)})
			: 'not measured');
	}
	elsif ($figure->{n} == 1)      { @exactness = ('one run'); }
	elsif ($figure->{spread} == 0) { @exactness = ('exact'); }
	else
	{
		my $percent = max(0.01, $figure->{spread} * 100);
		@exactness = (sprintf 'runs differ by %.2f%%', $percent);
	}
	return (
		medians($series, $figure),
		ratio($figure->{ratio}),
		@exactness, $figure->{n}, [ verdict_inline($figure) ]);
}

=head1 TESTS

src/test/report.t, on the results in src/test/data.

=cut

1;
