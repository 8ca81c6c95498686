package PgSeries::Report;

=pod

=head1 NAME

PgSeries::Report - report, plots and README table from benchmark results

=head1 SYNOPSIS

  use PgSeries::Report;

  my @results = map { PgSeries::Report::read_result($_) } @json_files;
  my @patches = ({ file => '0001-slug.patch', topic => 'indexes',
                   subject => 'Compute index tree height only when needed' });
  print PgSeries::Report::write_report(results => \@results,
    patches => \@patches, plots => 'benchmarks', output => 'build/report',
    source => 'build/results');
  $readme = PgSeries::Report::update_readme($readme, \@results, \@patches);
  $letter .= PgSeries::Report::text_table(\@results, \@patches);
  my $topics = PgSeries::Report::read_topics('benchmarks/topics.json');
  PgSeries::Report::check_topics($topics, \@results, \@patches);

=head1 DESCRIPTION

Every figure is computed here from the raw runs, with L<PgSeries::Stats>.  Of
the summary that a result file carries beside them, only C<ratio> is read: it
must agree with the raw runs within 1%, so that a file edited by hand or
written by a faulty benchmark is found.

The same results give the same files, byte for byte: dates come from the
results, and the SVG files name neither the version of gnuplot nor a path.

=head1 RESULT FILES

One JSON file for each benchmark:

  format    1
  bench     name: the plots are benchmarks/BENCH/FILE
  title, topic, scale, date
  base      version that is the base
  patched   key of the series that was measured
  machine   facts, name and value
  axis      { name, label }: the key of "case" that varies most
  series    list of figures, see below
  plots     list of { file, title, measure, x, where, lines }
  readme    list of { patch, measure, case, text }; patch is a file name without number

A figure names its C<measure>, C<label>, C<unit>, which direction is
C<better> ("lower" or "higher") and its C<case>, a hash.  The raw runs depend
on the C<method>:

  instructions   "base" and "patched": lists of counts
  count          the same, for what else can be counted
  time           "pairs": list of { base, patched }, and
                 "aa": list of { first, second }, base against itself

A figure may carry the C<date> of its own run, if others were measured later.
A figure with C<error> has no runs: the report says so and gives the error.

C<ratio> is patched / base: of the medians for instructions, the median of the
ratios of the pairs for time.

A plot shows the figures of one C<measure> (or of a list of them) whose case
agrees with C<where>, against the case's key C<x>; C<lines> names the key (or a
list of keys) whose values make lines of their own.  An entry of C<readme> gives one figure, the
only one of its measure whose case agrees with C<case>, to a patch.

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

=head1 THE PAGE OF THE TOPICS

benchmarks/topics.json says what the page shows of each topic of the series:

  title      heading
  plot       { bench, file }: one of the plots of that benchmark
  figures    { NAME => { bench, measure, case } }: each exactly one figure, as
             in readme
  sentence   a text, or a list of texts, which semicolons join
  worst      the same: what gets slower, and by how much

The texts have no digits: C<{NAME:WHAT}> stands for something of a figure, which
the page takes from the results.  WHAT is

  base, patched   the median; nanoseconds as a time with its unit
  ratio           patched / base; for time with the 95% interval
  percent         the same as "31.9% less" or "4.2% more"
  verdict         see figure()
  KEY             the value of this key of the figure's case

A text with a figure that was not measured is left out, and the page says so,
unless the figures must be complete: then it is an error.

=head1 FUNCTIONS

All raise a L<PgSeries::Error> with code 2 that names the file and the remedy.

=over

=cut

use strict;
use warnings FATAL => 'all';

use Cwd            qw(abs_path);
use File::Basename qw(basename dirname);
use File::Spec;
use File::Temp;
use List::Util qw(max min);
use PgSeries::Error;
use PgSeries::Stats qw(median median_interval paired_ratio verdict);
use PgSeries::Util  qw(fail find_tool info make_dir read_file run_status
  slurp_json write_file);
use Scalar::Util qw(looks_like_number);

use constant FORMAT => 1;
use constant {
	README_BEGIN => '<!-- results:begin -->',
	README_END => '<!-- results:end -->'
};

# Instruction counts are exact, but a change that a ratio with three decimals
# does not show is none.
use constant VISIBLE => 0.0005;

my %runs_of = (
	instructions => [qw(base patched)],
	count => [qw(base patched)],
	time => [qw(pairs aa)]);

=item read_result($file), check_result($result, $file)

Both return the contents of a result file, with its path as C<file>, after
they have been checked; C<check_result> takes contents that were read already.
The functions below check a result that was not.

=cut

sub read_result
{
	my ($file) = @_;
	return check_result(slurp_json($file), $file);
}

sub check_result
{
	my ($result, $file) = @_;
	my $again = 'run the benchmark again';

	fail(
		2,
		"$file is not a benchmark result: no \"format\"",
		'remove it, or give the path of a result'
	) unless ref $result eq 'HASH' && defined $result->{format};
	fail(
		2,
		"$file has format $result->{format}, but only "
		  . FORMAT
		  . ' can be read',
		"use the pgseries that wrote it, or $again"
	) unless $result->{format} eq FORMAT;
	foreach my $key (qw(bench title topic scale base patched date))
	{
		fail(2, "$file: \"$key\" is missing", $again)
		  unless defined $result->{$key}
		  && !ref $result->{$key}
		  && $result->{$key} ne '';
	}
	fail(2, "$file: \"bench\" is not a name: $result->{bench}", $again)
	  unless $result->{bench} =~ /^\w[\w.-]*\z/;
	foreach my $key (qw(series plots readme))
	{
		$result->{$key} = [] if $key ne 'series' && !defined $result->{$key};
		fail(2, "$file: \"$key\" is not a list of objects", $again)
		  unless ref $result->{$key} eq 'ARRAY'
		  && !grep { ref $_ ne 'HASH' } @{ $result->{$key} };
	}
	fail(2, "$file: \"machine\" is not an object", $again)
	  unless ref $result->{machine} eq 'HASH';
	$result->{file} = $file;

	my $number = 0;
	foreach my $series (@{ $result->{series} })
	{
		my $where = sprintf '%s: series %d (%s)', $file, ++$number,
		  defined $series->{measure} ? $series->{measure} : '?';
		my $problem = _series_problem($series);
		fail(2, "$where: $problem", $again) if defined $problem;
	}
	my %keys = (
		plots => [qw(file title x)],
		readme => [qw(patch measure text)]);
	foreach my $list (qw(plots readme))
	{
		foreach my $entry (@{ $result->{$list} })
		{
			my ($missing) =
			  grep { !defined $entry->{$_} || ref $entry->{$_} }
			  @{ $keys{$list} };
			fail(
				2,
				"$file: \"$list\" has an entry without \"$missing\"",
				"correct the benchmark and $again") if defined $missing;
		}
	}
	foreach my $plot (@{ $result->{plots} })
	{
		fail(
			2,
			"$file: \"plots\" has an entry without \"measure\"",
			"correct the benchmark and $again"
		) unless _texts($plot->{measure});
		fail(
			2,
			"$file: not the name of a plot file: $plot->{file}",
			"correct the benchmark and $again"
		) unless $plot->{file} =~ /^\w[\w.-]*\.plot\z/;
	}
	return $result;
}

# A text, or a list of texts, as a list; otherwise the empty list.
sub _texts
{
	my ($value) = @_;
	my @texts = ref $value eq 'ARRAY' ? @$value : $value;
	return
	  if grep { !defined $_ || ref $_ || $_ eq '' } @texts;
	return @texts;
}

# Results that came from read_result(), or are checked now.
sub _checked
{
	my ($results, $source) = @_;
	my @checked;

	foreach my $result (@$results)
	{
		my $known = ref $result eq 'HASH';
		my $name = $known && $result->{bench} ? $result->{bench} : 'result';
		my $file = defined $source ? "$source/$name.json" : "$name.json";
		push @checked, $known && defined $result->{file}
		  ? $result
		  : check_result($result, $file);
	}
	return @checked;
}

# What is wrong with a series, or undef.
sub _series_problem
{
	my ($series) = @_;

	foreach my $key (qw(measure label unit better method))
	{
		return "\"$key\" is missing"
		  unless defined $series->{$key} && !ref $series->{$key};
	}
	return "\"case\" is not an object" unless ref $series->{case} eq 'HASH';
	return "\"better\" must be \"lower\" or \"higher\""
	  unless $series->{better} =~ /^(?:lower|higher)$/;
	return "\"method\" must be \"instructions\", \"count\" or \"time\""
	  unless exists $runs_of{ $series->{method} };
	return if defined $series->{error};

	if ($series->{method} ne 'time')
	{
		foreach my $key (qw(base patched))
		{
			my $runs = $series->{$key};
			return "\"$key\" must be a list of positive numbers"
			  unless ref $runs eq 'ARRAY' && @$runs && _positive(@$runs);
		}
	}
	else
	{
		$series->{aa} = [] unless defined $series->{aa};
		foreach my $key (qw(pairs aa))
		{
			my @names = $key eq 'aa' ? qw(first second) : qw(base patched);
			my $pairs = $series->{$key};
			return "\"$key\" must be a list of pairs of positive numbers,"
			  . " named $names[0] and $names[1]"
			  unless ref $pairs eq 'ARRAY' && (@$pairs || $key eq 'aa');
			foreach my $pair (@$pairs)
			{
				return
					"\"$key\" must be a list of pairs of positive numbers,"
				  . " named $names[0] and $names[1]"
				  unless ref $pair eq 'HASH' && _positive(@{$pair}{@names});
			}
		}
	}

	my $ratio = figure($series)->{ratio};
	return sprintf "\"ratio\" is %s, but the raw runs give %s",
	  $series->{ratio}, _ratio($ratio)
	  if defined $series->{ratio}
	  && !(looks_like_number($series->{ratio})
		&& abs($series->{ratio} / $ratio - 1) <= 0.01);
	return;
}

sub _positive
{
	return !grep {
		!(     defined $_
			&& !ref $_
			&& looks_like_number($_)
			&& $_ > 0
			&& $_ - $_ == 0)
	} @_;
}

=item figure(\%series)

Takes a series of a result.  Returns what the report says of it:

  base, patched    [median, lower bound, upper bound] of the runs, as in the
                   data of a plot; a bound is undef if there are too few runs
  ratio, lo, hi    patched / base with its bounds: 95% interval for time, the
                   farthest apart that any two runs are for instructions
  aa               result of paired_ratio() for the A/A pairs, or undef
  n                number of pairs, or smallest number of runs
  spread           instructions: the largest relative difference between runs
                   of the same build; 0 if all were equal
  verdict          see verdict() in PgSeries::Stats.  For instructions: better
                   or worse if all runs of one build need less than all of the
                   other, by more than 0.05%; no difference if none differ by
                   more than that; otherwise inconclusive

For a series with C<error>, only C<error>.

=cut

sub figure
{
	my ($series) = @_;

	return { error => $series->{error} } if defined $series->{error};

	if ($series->{method} ne 'time')
	{
		my ($base, $patched) =
		  map { [ median(@$_), min(@$_), max(@$_) ] }
		  @{$series}{qw(base patched)};
		my ($lo, $hi) =
		  ($patched->[1] / $base->[2], $patched->[2] / $base->[1]);
		my $lower =
			$hi < 1 - VISIBLE ? 'lower'
		  : $lo > 1 + VISIBLE ? 'higher'
		  :                     undef;
		my $same = $lo >= 1 - VISIBLE && $hi <= 1 + VISIBLE;
		return {
			base => $base,
			patched => $patched,
			ratio => $patched->[0] / $base->[0],
			lo => $lo,
			hi => $hi,
			n => min(map { scalar @$_ } @{$series}{qw(base patched)}),
			spread =>
			  max(map { ($_->[2] - $_->[1]) / $_->[0] } $base, $patched),
			verdict => defined $lower
			? ($lower eq $series->{better} ? 'better' : 'worse')
			: $same ? 'no difference'
			:         'inconclusive'
		};
	}

	my @pairs = @{ $series->{pairs} };
	my @aa = map { [ @{$_}{qw(first second)} ] } @{ $series->{aa} };
	my $ab = paired_ratio([ map { [ @{$_}{qw(base patched)} ] } @pairs ]);
	my $aa = @aa ? paired_ratio(\@aa) : undef;
	my %side;
	foreach my $side (qw(base patched))
	{
		my @runs = map { $_->{$side} } @pairs;
		my ($lo, $hi) = median_interval(\@runs);
		$side{$side} = [ median(@runs), $lo, $hi ];
	}
	return {
		%side,
		(map { $_ => $ab->{$_} } qw(ratio lo hi n)),
		aa => $aa,
		verdict => verdict($ab, $aa, better => $series->{better})
	};
}

=item plot_data(\%result, \%plot)

Takes a result and one of its plots.  Returns the text of the data file, or
the empty string if there are figures for less than two values of x.

=cut

sub plot_data
{
	my ($result, $plot) = @_;
	my @keys = grep { defined }
	  ref $plot->{lines} ? @{ $plot->{lines} } : $plot->{lines};
	my (@names, %rows, %x);

	foreach my $series (map { _select($result, $_, $plot->{where}) }
		_texts($plot->{measure}))
	{
		my $x = $series->{case}{ $plot->{x} };
		next unless looks_like_number($x) && !defined $series->{error};

		my $name = join ', ', map { _case_value($_, $series->{case}{$_}) }
		  grep { defined $series->{case}{$_} } @keys;
		$name = '-' if $name eq '';
		push @names, $name unless $rows{$name};
		$x{$x} = 1;
		fail(
			2,
			"$result->{file}: plot $plot->{file} has two figures for "
			  . "$plot->{x} $x",
			'add to "where" or "lines" of the plot in the benchmark'
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

# The series of a measure whose case agrees with $where.
sub _select
{
	my ($result, $measure, $where) = @_;
	my %where = %{ $where || {} };

	return grep {
		my $case = $_->{case};
		$_->{measure} eq $measure
		  && !grep { !defined $case->{$_} || $case->{$_} ne $where{$_} }
		  keys %where
	} @{ $result->{series} };
}

# A text value says by itself what it is; a number needs its name.
sub _case_value
{
	my ($key, $value) = @_;
	return looks_like_number($value) ? "$key $value" : $value;
}

sub _case
{
	my ($case, @keys) = @_;
	return join(', ', map { "$_ $case->{$_}" } @keys);
}

# The gnuplot output without what differs between versions of gnuplot or makes
# two plots in one page clash.
sub _clean_svg
{
	my ($svg, $name, $title) = @_;
	my $heading = '<title>' . _html($title) . '</title>';

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
	fail(
		2,
		"$file, named in $result->{file}, is missing",
		'restore it, or correct the benchmark and run it again'
	) unless -f $file;
	write_file("$dir/data", _bytes($data));

	# gnuplot writes '' for a quote in a quoted string
	my %set = (
		datafile => "$dir/data",
		outfile => "$dir/plot.svg",
		style => "$benchmarks/style.gp",
		title => _bytes($title));
	s/'/''/g foreach values %set;
	my $status = run_status(
		[
			$gnuplot, '-d', '-e',
			join('; ', map { "$_='$set{$_}'" } sort keys %set), $file
		],
		env => { LC_ALL => 'C', GNUPLOT_LIB => undef },
		err => \my $errors);
	my $svg = -s "$dir/plot.svg" ? read_file("$dir/plot.svg") : '';
	fail(
		2,
		"gnuplot failed on $file (exit status $status)",
		'correct the plot file', $errors
	) if $status != 0 || $svg !~ /<\/svg>\s*$/;
	utf8::decode($svg);
	return _clean_svg($svg, $name, $title);
}

sub _bytes
{
	my ($text) = @_;
	utf8::encode($text);
	return $text;
}

# Numbers for people.

sub _grouped
{
	my ($text) = @_;
	1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
	return $text;
}

# Three significant digits, and all digits before the point.
sub _number
{
	my ($value, $exact) = @_;

	return _grouped(sprintf '%.0f', $value) if $exact && $value >= 100;
	$value = sprintf('%.2e', $value);
	my ($exponent) = $value =~ /e([-+]\d+)$/;
	return _grouped(sprintf '%.*f', max(0, 2 - $exponent), $value);
}

# At least three decimals below 10, since a ratio is compared with 1.
sub _ratio
{
	my ($value) = @_;
	return $value < 10 && $value >= 0.1
	  ? sprintf('%.3f', $value)
	  : _number($value);
}

sub _interval
{
	my ($lo, $hi) = @_;
	return 'too few pairs' unless defined $lo;
	return '[' . _ratio($lo) . ', ' . _ratio($hi) . ']';
}

sub _memory
{
	my ($kb) = @_;
	return _number($kb / 1024 / 1024) . ' GiB';
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
	my @results = _checked($results);
	my ($begin, $end) = (README_BEGIN, README_END);
	my @markers = $text =~ /^(\Q$begin\E|\Q$end\E)[ \t]*$/mg;

	fail(
		2,
		'the README does not have one line "'
		  . $begin
		  . '" and, after it, one line "'
		  . $end . '"',
		'put both where the table of results belongs'
	) unless "@markers" eq "$begin $end";

	my $block = _markdown(
		_patch_table(_patch_figures(\@results, $patches, 1), 'patches'));
	$text =~ s/^\Q$begin\E[ \t]*\n.*^\Q$end\E[ \t]*$/$begin\n$block$end/ms;
	return $text;
}

# The report is a list of blocks, so that Markdown and HTML say the same:
#   [h => level, text, id], [p => inline], [ul => inline, ...],
#   [table => [heading, ...], [cell, ...], ...], [plot => file, title, svg]
# A heading that starts with ">" is a column of numbers.  An inline or cell is
# a text or a list of texts and hashes { text, href, class, code }.  A "href" to
# another page of the report is { md, html }.

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
			my @found = _select($result, $entry->{measure}, $case);

			fail(
				2,
				"$result->{file} gives a figure to $patch, "
				  . 'which is not in the series',
				'correct the name in the benchmark and run it again'
			) unless $figures{$patch};
			fail(
				2,
				sprintf(
					'%s: "readme" of %s: %d figures are %s (%s)',
					$result->{file}, $patch,
					scalar @found, $entry->{measure},
					_case($case, sort keys %$case)),
				'name exactly one in the benchmark and run it again'
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
	return ($what, '', '', [ _failed($figure) ]) if defined $figure->{error};
	return (
		$what,
		_medians($series, $figure),
		[ _ratio_text($series, $figure) . ', ', _verdict($figure) ]);
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
			p => 'Base and patched are medians.  For times, the 95% '
			  . 'interval of the ratio stands in brackets.'
		]);
}

=item text_table(\@results, \@patches)

As the table of update_readme(), but as plain text, for a letter: for each
patch its subject and, below it, its figures.  Raises the same errors.

=cut

sub text_table
{
	my ($results, $patches) = @_;
	return _plain_table(_patch_figures([ _checked($results) ], $patches, 1));
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
			push @lines,
			  [ "  $what", $base, $patched, _plain_inline($ratio) ];
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

sub _ratio_text
{
	my ($series, $figure) = @_;
	my $text = _ratio($figure->{ratio});
	return $text if $series->{method} ne 'time';
	return
		$text
	  . (defined $figure->{lo} ? ' ' : ', ')
	  . _interval(@{$figure}{qw(lo hi)});
}

sub _medians
{
	my ($series, $figure) = @_;
	my $exact = $series->{method} ne 'time';
	return map { _number($figure->{$_}[0], $exact) } qw(base patched);
}

sub _verdict
{
	my ($figure) = @_;
	(my $class = $figure->{verdict}) =~ tr/ /-/;
	return { text => $figure->{verdict}, class => $class };
}

sub _failed
{
	my ($figure) = @_;
	return { text => "failed: $figure->{error}", class => 'failed' };
}

=item write_report(%options)

Writes report.md, index.html (one file, nothing else is needed to read it) and
BENCH-PLOT.svg for each plot, and the page of the topics, topics.md and
topics.html.  Returns a summary, as plain text.  Options:

  results   list of results
  patches   the patches, as for update_readme()
  output    directory to write to, made if it does not exist
  plots     directory of style.gp and of the directories of the plots; the
            patches, for links, are in ../patches
  source    directory of the results that were not read by read_result()
  topics    what read_topics() returned; without it there is no page of them
  complete  true if the figures of that page must be complete

Unlike in the README, figures of the report may be missing: a run at another
scale does not have all of them.  Without gnuplot the report has no plots; it says so, and so
does a line on standard error.

=cut

sub write_report
{
	my (%opt) = @_;
	my @results = _checked($opt{results}, $opt{source});
	my $gnuplot = find_tool('gnuplot');
	my ($out, $benchmarks) = (make_dir($opt{output}), abs_path($opt{plots}));

	fail(2, 'there are no benchmark results', 'run a benchmark first')
	  unless @results;
	my %file_of;
	foreach my $result (@results)
	{
		my $other = $file_of{ $result->{bench} };
		fail(
			2,
			"$other and $result->{file} are both results of "
			  . $result->{bench},
			'give only one of them') if defined $other;
		$file_of{ $result->{bench} } = $result->{file};
	}
	info(   'pgseries: the report has no plots: gnuplot is missing; install '
		  . 'it (Debian: gnuplot-nox) and make the report again')
	  unless $gnuplot;

	my @overview = _overview(\@results);
	my $patches = _patch_figures(\@results, $opt{patches}, 0);
	my @topics =
	  $opt{topics}
	  ? _topics($opt{topics}, \@results, $opt{patches}, $opt{complete})
	  : ();
	my $links = _relative(dirname($benchmarks) . '/patches', $out);
	my @blocks = (
		[ h => 1, 'Benchmark report' ],
		@overview,
		(   @topics
			? [ p => [ 'A plot for each topic: ', _other_page('topics') ] ]
			: ()),
		[ h => 2, 'Patches', 'patches' ],
		_patch_table($patches, $links),
		[ h => 2, 'How it was measured', 'method' ],
		_method(),
		[ h => 2, 'Machine', 'machine' ],
		_machine(\@results),
		[ h => 2, 'Runs', 'runs' ],
		_runs(\@results, $out));
	push @blocks, _about_plots($gnuplot);

	my %plot;
	foreach my $result (@results)
	{
		my %used;
		push @blocks, [ h => 2, $result->{title}, "bench-$result->{bench}" ];
		foreach my $plot ($gnuplot ? @{ $result->{plots} } : ())
		{
			(my $name = "$result->{bench}-$plot->{file}") =~ s/\.plot$//;
			$used{$name}++;
			$name .= "-$used{$name}" if $used{$name} > 1;
			my $svg = _plot($gnuplot, $result, $plot, $name, $benchmarks);
			if (defined $svg)
			{
				write_file("$out/$name.svg", _bytes($svg));
				push @blocks, [ plot => "$name.svg", $plot->{title}, $svg ];
				$plot{ $result->{bench} }{ $plot->{file} } = $blocks[-1];
			}
			else
			{
				push @blocks,
				  [ p => "No plot \"$plot->{title}\": it needs figures for "
					  . "two values of $plot->{x}." ];
			}
		}
		push @blocks, _figures($result);
	}

	write_file("$out/report.md", _bytes(_markdown(@blocks)));
	write_file("$out/index.html",
		_bytes(_page('pgseries benchmark report', @blocks)));
	my $where = "report: $out/index.html\n";
	if (@topics)
	{
		my @page = (
			_topics_page(
				\@topics, \@results, \%plot, $gnuplot,
				_relative(dirname($benchmarks) . '/doc', $out)),
			_about_plots($gnuplot));
		write_file("$out/topics.md", _bytes(_markdown(@page)));
		write_file("$out/topics.html",
			_bytes(_page('pgseries: the topics, measured', @page)));
		$where .= "a plot for each topic: $out/topics.html\n";
	}
	return join "\n", grep { $_ ne '' } _plain(@overview),
	  _plain_table($patches), $where;
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

# Link to the report or to the page of the topics.
sub _other_page
{
	my ($name) = @_;
	return {
		text => $name,
		href => {
			md => "$name.md",
			html => $name eq 'report' ? 'index.html' : "$name.html"
		}
	};
}

=item read_topics($file)

Returns the contents of topics.json, checked; benchmarks are directories beside
the file.

=cut

sub read_topics
{
	my ($file) = @_;
	my $topics = slurp_json($file);
	my $hash = sub { ref $_[0] eq 'HASH' };
	my $text = sub { ref $_[0] eq 'ARRAY' ? 0 : scalar _texts($_[0]) };
	my $bad = sub { fail(2, "$file: $_[0]", 'correct it') };

	$bad->('not an object of topics') unless $hash->($topics) && %$topics;
	foreach my $name (sort keys %$topics)
	{
		my $topic = $topics->{$name};
		my %used;

		$bad->("\"$name\" is not an object") unless $hash->($topic);
		$bad->("$name: \"title\" is missing") unless $text->($topic->{title});
		foreach my $key (qw(plot figures))
		{
			$bad->("$name: \"$key\" is not an object")
			  unless $hash->($topic->{$key});
		}
		my %figures = %{ $topic->{figures} };
		foreach my $figure (sort keys %figures)
		{
			$bad->("$name: figure \"$figure\" has no \"case\"")
			  unless $hash->($figures{$figure})
			  && $hash->($figures{$figure}{case});
		}
		foreach my $part (
			[ 'plot', $topic->{plot}, qw(bench file) ],
			map { [ "figure \"$_\"", $figures{$_}, qw(bench measure) ] }
			sort keys %figures)
		{
			my ($what, $object, @keys) = @$part;
			foreach my $key (@keys)
			{
				$bad->("$name: $what has no \"$key\"")
				  unless $text->($object->{$key});
			}
			$bad->("$name: $what: no benchmark \"$object->{bench}\"")
			  unless $object->{bench} =~ /^\w[\w.-]*\z/
			  && -d dirname($file) . "/$object->{bench}";
		}
		foreach my $key (qw(sentence worst))
		{
			$topic->{$key} = [ _texts($topic->{$key}) ];
			$bad->("$name: \"$key\" is not a text or a list of texts")
			  unless @{ $topic->{$key} };
			foreach my $template (@{ $topic->{$key} })
			{
				my ($left, @names) = _placeholders($template);
				my ($stranger) = grep { !$figures{$_} } @names;
				$bad->("$name: \"$key\" has a brace that is no {NAME:WHAT}")
				  if $left =~ /[{}]/;
				$bad->("$name: \"$key\" has a digit: write {NAME:WHAT}")
				  if $left =~ /\d/;
				$bad->( "$name: \"$key\" has a figure \"$stranger\" that "
					  . '"figures" does not have')
				  if defined $stranger;
				$used{$_} = 1 foreach @names;
			}
		}
		my ($unused) = grep { !$used{$_} } sort keys %figures;
		$bad->("$name: no text has the figure \"$unused\"")
		  if defined $unused;
	}
	return { file => $file, topics => $topics };
}

my $placeholder = qr/\{([\w-]+):([\w-]+)\}/;

# The text without its placeholders, and the names of their figures.
sub _placeholders
{
	my ($template) = @_;
	my @names;

	$template =~ s/$placeholder/push @names, $1; ''/ge;
	return ($template, @names);
}

=item check_topics(\%topics, \@results, \@patches)

Raises an error unless topics.json, from read_topics(), has all topics of the
patches, no other ones, and only figures and plots that the results have.  A
plot without data is none: it may have been measured later.

=cut

sub check_topics
{
	my ($topics, $results, $patches) = @_;
	_topics($topics, [ _checked($results) ], $patches, 1);
	return;
}

# The topics in the order of the series: { name, title, bench, plot, sentence,
# worst }.  The last two are lists for an inline; plot is undef if there are no
# results of the benchmark.
sub _topics
{
	my ($topics, $results, $patches, $complete) = @_;
	my ($file, %topics) = ($topics->{file}, %{ $topics->{topics} });
	my %result = map { $_->{bench} => $_ } @$results;
	my (%seen, @topics);

	foreach my $name (map { $_->{topic} } @$patches)
	{
		next if $seen{$name}++;
		fail(2, "$file says nothing of the topic $name", 'add it')
		  unless $topics{$name};
		my $topic = $topics{$name};
		my ($bench, $plot) = @{ $topic->{plot} }{qw(bench file)};
		my @plots = grep { $_->{file} eq $plot }
		  $result{$bench} ? @{ $result{$bench}{plots} } : ();
		fail(
			2,
			"$file: $name: $bench has " . @plots . " plots named $plot",
			'name a plot that its meta.json has once'
		) if $result{$bench} && @plots != 1;
		my %series = map {
			$_ => _topic_series("$file: $name", $_, $topic->{figures}{$_},
				\%result, $complete)
		} sort keys %{ $topic->{figures} };
		push @topics, {
			name => $name,
			title => $topic->{title},
			bench => $bench,
			plot => $plots[0],
			map {
				$_ => [ _topic_text("$file: $name", $topic->{$_}, \%series) ]
			} qw(sentence worst)
		};
	}
	my ($unknown) = grep { !$seen{$_} } sort keys %topics;
	fail(2, "$file has a topic $unknown, which is not in the series",
		'remove it')
	  if defined $unknown;
	return @topics;
}

# The series of a figure, or undef if it was not measured.
sub _topic_series
{
	my ($where, $name, $figure, $results, $complete) = @_;
	my ($bench, $measure, $case) = @{$figure}{qw(bench measure case)};
	my @found =
	  $results->{$bench} ? _select($results->{$bench}, $measure, $case) : ();
	my $failed = @found == 1 && defined $found[0]{error};

	fail(
		2,
		sprintf(
			'%s: figure "%s": %d figures of %s are %s (%s)',
			$where, $name, scalar @found,
			$bench, $measure, _case($case, sort keys %$case)),
		'name exactly one, or run the benchmark'
	) if @found > 1 || ($complete && !@found);
	fail(
		2,
		"$where: figure \"$name\" failed: $found[0]{error}",
		'name another one, or run the benchmark again'
	) if $failed && $complete;
	return $failed ? undef : $found[0];
}

# The templates whose figures were measured, as one sentence for an inline.
sub _topic_text
{
	my ($where, $templates, $series) = @_;
	my @texts;

	foreach my $template (@$templates)
	{
		my (undef, @names) = _placeholders($template);
		next if grep { !$series->{$_} } @names;
		my $text = $template;
		$text =~
		  s/$placeholder/_topic_value($where, $1, $2, $series->{$1})/ge;
		push @texts, $text;
	}
	my $note = { text => 'not measured yet', class => 'missing' };
	return ($note) unless @texts;
	my $sentence = join '; ', @texts;
	return $sentence . '.' if @texts == @$templates;
	$note->{text} = 'the rest is not measured yet';
	return ("$sentence; ", $note, '.');
}

# What a placeholder stands for.
sub _topic_value
{
	my ($where, $name, $what, $series) = @_;
	my $figure = figure($series);
	my $time = $series->{method} eq 'time';
	my $case = $series->{case}{$what};

	if ($what eq 'base' || $what eq 'patched')
	{
		my $median = $figure->{$what}[0];
		return _duration($median) if $series->{unit} =~ /^ns\b/;
		return _grouped($median)
		  if $series->{method} eq 'count' && $median =~ /^\d+\z/;
		return _number($median, !$time);
	}
	return _ratio_text($series, $figure) if $what eq 'ratio';
	return _percent($figure->{ratio})
	  . (
		!$time ? ''
		: defined $figure->{lo}
		? ' [' . join(', ', map { _percent($_) } @{$figure}{qw(lo hi)}) . ']'
		: ', too few pairs') if $what eq 'percent';
	return $figure->{verdict} if $what eq 'verdict';
	fail(
		2,
		"$where: {$name:$what}: $series->{measure} has no case with \"$what\"",
		'write base, patched, ratio, percent, verdict or a key of the case'
	) unless defined $case;
	return looks_like_number($case) ? _grouped($case) : $case;
}

sub _percent
{
	my ($ratio) = @_;
	my $change = abs($ratio - 1) * 100;
	return ($change < 0.0005 ? 0      : _number($change)) . '% '
	  . ($ratio < 1          ? 'less' : 'more');
}

sub _duration
{
	my ($ns) = @_;
	foreach my $unit ([ 1e9, 's' ], [ 1e6, 'ms' ], [ 1e3, "\x{b5}s" ])
	{
		return _number($ns / $unit->[0]) . " $unit->[1]"
		  if $ns >= $unit->[0];
	}
	return _number($ns) . ' ns';
}

# The page: for each topic a plot, a sentence and a worst case.
sub _topics_page
{
	my ($topics, $results, $plots, $gnuplot, $doc) = @_;
	my @blocks = (
		[ h => 1, 'The topics, measured' ],
		[
			p => [
				_builds($results)
				  . '  A ratio of times is the median over pairs of runs, '
				  . 'not the quotient of the two medians beside it.  It '
				  . 'has its 95% interval in brackets and a verdict: '
				  . '"inconclusive" if the noise of the machine allows no '
				  . 'other.  All figures: ',
				_other_page('report')
			]
		],
		_mixed($results));

	foreach my $topic (@$topics)
	{
		my $plot = $topic->{plot};
		my $block = $plot && $plots->{ $topic->{bench} }{ $plot->{file} };
		my $title =
		  $plot
		  ? "\"$plot->{title}\""
		  : "of the benchmark $topic->{bench}";

		push @blocks,
		  [ h => 2, $topic->{title}, "topic-$topic->{name}" ],
		  [ p => [ map { ref $_ ? $_ : ucfirst } @{ $topic->{sentence} } ] ];
		if    ($block) { push @blocks, $block; }
		elsif ($gnuplot)
		{
			push @blocks,
			  [
				p => [
					"Plot $title: ",
					{ text => 'not measured yet', class => 'missing' }
				]
			  ];
		}
		push @blocks,
		  [
			p => [
				{ text => 'Worst case measured:', class => 'label' },
				' ',
				@{ $topic->{worst} },
				'  More: ',
				{
					text => "doc/$topic->{name}.md",
					href => "$doc/$topic->{name}.md"
				}
			]
		  ];
	}

	my @dates = sort map { _dates($_) } @$results;
	s/ .*// foreach @dates;
	my %scales = map { $_->{scale} => 1 } @$results;
	return (
		@blocks,
		[ h => 2, 'Machine', 'machine' ],
		_machine($results),
		[
				p => 'Scale '
			  . join(' and ', sort keys %scales)
			  . ", measured $dates[0]"
			  . ($dates[0] eq $dates[-1] ? '.' : " to $dates[-1].")
		]);
}

# Path from one directory to a file, for links.  Both may be reached through
# symbolic links.
sub _relative
{
	my ($path, $dir) = @_;
	my $parent = abs_path(dirname($path));
	$path = "$parent/" . basename($path) if defined $parent;
	return File::Spec->abs2rel($path, abs_path($dir));
}

# How many figures there are of each kind, and those that a reader must not
# miss.
sub _overview
{
	my ($results) = @_;
	my (%count, @worse, @failed);
	my $total = 0;

	foreach my $result (@$results)
	{
		foreach my $series (@{ $result->{series} })
		{
			my $figure = figure($series);
			my @keys = _case_keys($result, $series->{case});
			my $what = "$result->{bench}, $series->{label} ("
			  . _case($series->{case}, @keys) . '): ';

			$total++;
			$count{
				defined $figure->{error}
				? 'failed'
				: $figure->{verdict}
			}++;
			push @failed, [ $what, _failed($figure) ]
			  if defined $figure->{error};
			push @worse,
			  [
				$what . _ratio($figure->{ratio}) . ' times base, ',
				_verdict($figure)
			  ]
			  if !defined $figure->{error} && $figure->{verdict} eq 'worse';
		}
	}
	my $counts = join ', ', map { "$count{$_} $_" }
	  grep { $count{$_} } 'better', 'no difference', 'inconclusive', 'worse',
	  'failed';
	my @blocks = (
		[ p => _builds($results) . "  $total figures: $counts." ],
		_mixed($results));
	push @blocks, [ p => 'Worse than base, or failed:' ],
	  [ ul => @worse, @failed ]
	  if @worse || @failed;
	return @blocks;
}

sub _builds
{
	my ($results) = @_;
	my %base = map { $_->{base} => 1 } @$results;
	return
		'PostgreSQL '
	  . join(' and ', sort keys %base)
	  . ' (base) against the same with the patches.';
}

sub _mixed
{
	my ($results) = @_;
	my %series = map { $_->{patched} => 1 } @$results;
	return if keys %series < 2;
	return [
		p => 'The results are not all of the same series of patches; see the '
		  . 'column Series under Runs in the report.' ];
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

# Machine facts: one column if all results come from one machine, otherwise
# one for each benchmark.
sub _machine
{
	my ($results) = @_;
	my @known = qw(cpu cores memory_kb kernel compiler valgrind);
	my %known = map { $_ => 1 } @known;
	my %seen = map { $_ => 1 } map { keys %{ $_->{machine} } } @$results;
	my @keys =
	  ((grep { $seen{$_} } @known), (sort grep { !$known{$_} } keys %seen));
	my (@columns, %texts);

	foreach my $result (@$results)
	{
		my @facts = map {
			my $fact = $result->{machine}{$_};
			!defined $fact        ? 'not known'
			  : $_ eq 'memory_kb' ? _memory($fact)
			  : "$fact"
		} @keys;
		push @columns, [ $result->{bench}, @facts ];
		$texts{ join("\0", @facts) } = 1;
	}
	@columns = ([ 'Value', @{ $columns[0] }[ 1 .. @keys ] ])
	  if keys %texts == 1;

	s/^memory_kb$/memory/ foreach @keys;
	return [
		table => [ 'Fact', map { $_->[0] } @columns ],
		map {
			my $i = $_;
			[ $keys[ $i - 1 ], map { $_->[$i] } @columns ]
		} 1 .. @keys
	];
}

sub _runs
{
	my ($results, $out) = @_;
	return [
		table =>
		  [ 'Benchmark', 'Topic', 'Scale', 'Date', 'Series', 'Raw runs' ],
		map {
			my $raw = _relative($_->{file}, $out);
			my $result = $_;
			my @dates = sort { $a cmp $b } _dates($result);
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

# When the result and its figures were measured.
sub _dates
{
	my ($result) = @_;
	my @dates = map { defined $_->{date} ? $_->{date} : $result->{date} }
	  @{ $result->{series} }, $result;
	s/^([\d-]+)T(\d+:\d+).*Z$/$1 $2 UTC/ foreach @dates;
	return @dates;
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
				? '  Case: ' . _case($series[0]{case}, @shared) . '.'
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

	return (('') x ($time ? 6 : 5), [ _failed($figure) ])
	  if defined $figure->{error};

	if ($time)
	{
		@exactness = (
			_interval(@{$figure}{qw(lo hi)}),
			$figure->{aa}
			? _interval(@{ $figure->{aa} }{qw(lo hi)})
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
		_medians($series, $figure),
		_ratio($figure->{ratio}),
		@exactness, $figure->{n}, [ _verdict($figure) ]);
}

# Plain text: paragraphs and lists only

sub _plain_inline
{
	my ($inline) = @_;
	return join '',
	  map { ref $_ ? $_->{text} : $_ } ref $inline ? @$inline : $inline;
}

sub _plain
{
	my $text = '';

	foreach my $block (@_)
	{
		my ($type, @inlines) = @$block;
		my $bullet = $type eq 'ul' ? '- ' : '';
		$text .= $bullet . _plain_inline($_) . "\n" foreach @inlines;
	}
	return $text;
}

# Markdown

sub _md_text
{
	my ($text) = @_;
	$text =~ s/([\\`*_<>\[\]|~#])/\\$1/g;
	$text =~ s/&/&amp;/g;
	$text =~ s/\s*\n\s*/ /g;
	return $text;
}

sub _md
{
	my ($inline) = @_;
	return join '', map {
		!ref $_
		  ? _md_text($_)
		  : defined $_->{href} ? '['
		  . _md_text($_->{text}) . ']('
		  . _url(ref $_->{href} ? $_->{href}{md} : $_->{href}) . ')'
		  : $_->{code} ? "`$_->{text}`"
		  : _md_text($_->{text})
	} ref $inline ? @$inline : $inline;
}

sub _url
{
	my ($path) = @_;
	$path = _bytes($path);
	$path =~ s{([^A-Za-z0-9./_~-])}{sprintf '%%%02X', ord $1}ge;
	return $path;
}

sub _markdown
{
	my @text;

	foreach my $block (@_)
	{
		my ($type, @rest) = @$block;
		if ($type eq 'h')
		{
			push @text, '#' x $rest[0] . ' ' . _md_text($rest[1]) . "\n";
		}
		elsif ($type eq 'p') { push @text, _md($rest[0]) . "\n"; }
		elsif ($type eq 'ul')
		{
			push @text, join('', map { '- ' . _md($_) . "\n" } @rest);
		}
		elsif ($type eq 'plot')
		{
			push @text,
			  '![' . _md_text($rest[1]) . '](' . _url($rest[0]) . ")\n";
		}
		else
		{
			my ($head, @rows) = @rest;
			my @names = map { /^>?(.*)/s } @$head;
			push @text, join(
				'',
				map { '| ' . join(' | ', @$_) . " |\n" }
				  [ map { _md_text($_) } @names ],
				[ map { /^>/ ? '--:' : '---' } @$head ],
				map {
					[ map { _md($_) } @$_ ]
				} @rows);
		}
	}
	return join("\n", @text);
}

# HTML

sub _html
{
	my ($text) = @_;
	my %entity =
	  ('&' => 'amp', '<' => 'lt', '>' => 'gt', '"' => 'quot', "'" => '#39');
	$text =~ s/([&<>"'])/&$entity{$1};/g;
	return $text;
}

sub _html_inline
{
	my ($inline) = @_;
	return join '', map {
		my $text = _html(ref $_ ? $_->{text} : $_);
		!ref $_
		  ? $text
		  : defined $_->{href} ? '<a href="'
		  . _url(ref $_->{href} ? $_->{href}{html} : $_->{href})
		  . "\">$text</a>"
		  : $_->{code}  ? "<code>$text</code>"
		  : $_->{class} ? "<span class=\"$_->{class}\">$text</span>"
		  : $text
	} ref $inline ? @$inline : $inline;
}

sub _html_table
{
	my ($head, @rows) = @_;
	my @class = map { /^>/ ? ' class="n"' : '' } @$head;
	my $row = sub {
		my ($tag, @cells) = @_;
		return
			'<tr>'
		  . join('', map { "<$tag$class[$_]>$cells[$_]</$tag>" } 0 .. $#cells)
		  . "</tr>\n";
	};
	return
		"<div class=\"scroll\"><table>\n<thead>"
	  . $row->('th', map { /^>?(.*)/s; _html($1) } @$head)
	  . "</thead>\n<tbody>\n"
	  . join(
		'',
		map {
			$row->('td', map { _html_inline($_) } @$_)
		} @rows) . "</tbody></table></div>\n";
}

my $css = <<'CSS';
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
  max-width: 72rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .5rem; }
h2 { border-bottom: 1px solid #ccc; padding-bottom: .25rem; }
h3 { font-size: 1.05rem; overflow-wrap: anywhere; }
a { color: #0058a3; }
nav a { margin-right: 1rem; white-space: nowrap; }
figure { margin: 1rem 0; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem;
  border-bottom: 1px solid #ddd; }
th { background: #f3f3f3; }
.n { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.better { color: #00633f; font-weight: 600; }
.label { font-weight: 600; }
.worse, .failed, .missing { color: #a3260c; font-weight: 600; }
.inconclusive { font-style: italic; }
CSS

sub _page
{
	my ($name, @blocks) = @_;
	my ($title, $body, $links) = ('', '', '');

	foreach my $block (@blocks)
	{
		my ($type, @rest) = @$block;
		if ($type eq 'h')
		{
			my ($level, $text, $id) = ($rest[0], _html($rest[1]), $rest[2]);
			my $attribute = '';
			if (defined $id)
			{
				$id = _html($id);
				$attribute = " id=\"$id\"";
				$links .= "<a href=\"#$id\">$text</a>\n";
			}
			my $heading = "<h$level$attribute>$text</h$level>\n";
			if   ($level == 1) { $title = $heading; }
			else               { $body .= $heading; }
		}
		elsif ($type eq 'p')
		{
			$body .= '<p>' . _html_inline($rest[0]) . "</p>\n";
		}
		elsif ($type eq 'ul')
		{
			$body .=
				"<ul>\n"
			  . join('', map { '<li>' . _html_inline($_) . "</li>\n" } @rest)
			  . "</ul>\n";
		}
		elsif ($type eq 'plot') { $body .= "<figure>\n$rest[2]</figure>\n"; }
		else                    { $body .= _html_table(@rest); }
	}
	return <<"HTML";
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$name</title>
<style>
$css</style>
</head>
<body>
$title<nav>
$links</nav>
$body</body>
</html>
HTML
}

=back

=head1 TESTS

src/test/report.t, on the results in src/test/data.

=cut

1;
