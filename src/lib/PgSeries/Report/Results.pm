package PgSeries::Report::Results;

=pod

=head1 NAME

PgSeries::Report::Results - results of benchmarks, and what they say

=head1 SYNOPSIS

  use PgSeries::Report::Results qw(figure read_result);

  my $result = read_result('build/results/NAME.json', 'benchmarks');
  print figure($_)->{verdict}, "\n" foreach @{ $result->{series} };

=head1 DESCRIPTION

Every figure is computed here from the raw runs, with L<PgSeries::Stats>.  Of
the summary that a result file carries beside them, only C<ratio> is read: it
must agree with the raw runs within 1%, so that a file edited by hand or
written by a faulty benchmark is found.

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
  readme    list of { patch, measure, case, text }; patch is a file name without
            number

Which plots and which figures for the README there are is not a matter of the
run: where benchmarks/BENCH/meta.json exists, C<plots> and C<readme> are those
that it has now.

A figure names its C<measure>, C<label>, C<unit>, which direction is
C<better> ("lower" or "higher") and its C<case>, a hash.  The raw runs depend
on the C<method>:

  instructions   "base" and "patched": lists of counts
  count          the same, for what else can be counted
  time           "pairs": list of { base, patched }, and
                 "aa": list of { first, second }, base against itself

A figure may carry the C<date> of its own run, if others were measured later.

C<ratio> is patched / base: of the medians for instructions, the median of the
ratios of the pairs for time.

A plot shows the figures of one C<measure> (or of a list of them) whose case
agrees with C<where>, against the case's key C<x>; C<lines> names the key (or a
list of keys) whose values make lines of their own.  An entry of C<readme> gives
one figure, the only one of its measure whose case agrees with C<case>, to a
patch.

=head1 FUNCTIONS

Blocks and inlines are those of L<PgSeries::Report::Markup>.  Only read_result()
and refuse() raise errors.

=over

=cut

use strict;
use warnings FATAL => 'all';

use Exporter        qw(import);
use List::Util      qw(max min);
use PgSeries::Stats qw(median median_interval paired_ratio verdict);
use PgSeries::Util  qw(fail slurp_json);
use Scalar::Util    qw(looks_like_number);

our @EXPORT_OK = qw(builds case_text case_value dates figure grouped interval
  machine medians mixed number ratio ratio_text read_result refuse select_series
  texts verdict_inline);

use constant FORMAT => 1;

# Instruction counts are exact, but a change that a ratio with three decimals
# does not show is none.
use constant VISIBLE => 0.0005;

my %runs_of = (
	instructions => [qw(base patched)],
	count => [qw(base patched)],
	time => [qw(pairs aa)]);

=item refuse($message, $remedy [, $detail])

Raises a L<PgSeries::Error> with code 2.  What comes from a JSON file is decoded
text, but what is printed must be bytes.

=cut

sub refuse
{
	my (@texts) = @_;

	foreach my $text (@texts)
	{
		utf8::encode($text) if utf8::is_utf8($text);
	}
	return fail(2, @texts);
}

=item read_result($file, $benchmarks)

Takes the path of a result file and that of the directory benchmarks (without it,
no meta.json is read).  Returns the contents, with the path as C<file>.  Raises an
error that names the file and the remedy unless they are as described above.

=cut

sub read_result
{
	my ($file, $benchmarks) = @_;
	my $again = 'run the benchmark again';
	my $result = slurp_json($file);

	refuse(
		"$file is not a benchmark result: no \"format\"",
		'remove it, or give the path of a result'
	) unless ref $result eq 'HASH' && defined $result->{format};
	refuse(
		"$file has format $result->{format}, but only "
		  . FORMAT
		  . ' can be read',
		"use the pgseries that wrote it, or $again"
	) unless $result->{format} eq FORMAT;
	foreach my $key (qw(bench title topic scale base patched date))
	{
		refuse("$file: \"$key\" is missing", $again)
		  unless defined $result->{$key}
		  && !ref $result->{$key}
		  && $result->{$key} ne '';
	}
	refuse("$file: \"bench\" is not a name: $result->{bench}", $again)
	  unless $result->{bench} =~ /^\w[\w.-]*\z/a;
	refuse("$file: \"machine\" is not an object", $again)
	  unless ref $result->{machine} eq 'HASH';
	refuse("$file: \"series\" is not a list of objects", $again)
	  unless _objects($result->{series});
	$result->{file} = $file;

	my $number = 0;
	foreach my $series (@{ $result->{series} })
	{
		my $where = sprintf '%s: series %d (%s)', $file, ++$number,
		  defined $series->{measure} ? $series->{measure} : '?';
		my $problem = _series_problem($series);
		refuse("$where: $problem", $again) if defined $problem;
	}

	my $source = $file;
	if (defined $benchmarks && -f "$benchmarks/$result->{bench}/meta.json")
	{
		$source = "$benchmarks/$result->{bench}/meta.json";
		my $meta = slurp_json($source);
		refuse("$source is not an object", 'correct it')
		  unless ref $meta eq 'HASH';
		$result->{$_} = $meta->{$_} foreach qw(plots readme);
	}
	_check_use($result, $source);
	return $result;
}

sub _objects
{
	my ($list) = @_;
	return ref $list eq 'ARRAY' && !grep { ref $_ ne 'HASH' } @$list;
}

# Checks the plots and the figures for the README, which the file gives.
sub _check_use
{
	my ($result, $file) = @_;
	my %keys = (
		plots => [qw(file title x)],
		readme => [qw(patch measure text)]);

	foreach my $list (qw(plots readme))
	{
		$result->{$list} = [] unless defined $result->{$list};
		refuse("$file: \"$list\" is not a list of objects", 'correct it')
		  unless _objects($result->{$list});
		foreach my $entry (@{ $result->{$list} })
		{
			my ($missing) =
			  grep { !defined $entry->{$_} || ref $entry->{$_} }
			  @{ $keys{$list} };
			refuse("$file: \"$list\" has an entry without \"$missing\"",
				'correct it')
			  if defined $missing;
		}
	}
	foreach my $plot (@{ $result->{plots} })
	{
		refuse("$file: \"plots\" has an entry without \"measure\"",
			'correct it')
		  unless texts($plot->{measure});
		refuse("$file: not the name of a plot file: $plot->{file}",
			'correct it')
		  unless $plot->{file} =~ /^\w[\w.-]*\.plot\z/a;
	}
	return;
}

=item texts($value)

Returns a text, or a list of texts, as a list; the empty list if the value is
something else.

=cut

sub texts
{
	my ($value) = @_;
	my @texts = ref $value eq 'ARRAY' ? @$value : $value;
	return
	  if grep { !defined $_ || ref $_ || $_ eq '' } @texts;
	return @texts;
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
	  $series->{ratio}, ratio($ratio)
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

=cut

sub figure
{
	my ($series) = @_;

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

=item select_series(\%result, $measure, \%where)

Returns the series of a measure whose case agrees with the hash.

=cut

sub select_series
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

=item case_value($key, $value), case_text(\%case, @keys)

Return one value of a case, and several with their names, as text.

=cut

# A text value says by itself what it is; a number needs its name.
sub case_value
{
	my ($key, $value) = @_;
	return looks_like_number($value) ? "$key $value" : $value;
}

sub case_text
{
	my ($case, @keys) = @_;
	return join(', ', map { "$_ $case->{$_}" } @keys);
}

=item grouped($number), number($value, $exact), ratio($value), interval($lo, $hi)

Return a number for people: grouped() with commas, number() with three
significant digits and all digits before the point (all others, too, if it is an
exact one of three digits or more), ratio() and interval() as a report shows them.

=cut

sub grouped
{
	my ($text) = @_;
	1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
	return $text;
}

sub number
{
	my ($value, $exact) = @_;

	return grouped(sprintf '%.0f', $value) if $exact && $value >= 100;
	$value = sprintf('%.2e', $value);
	my ($exponent) = $value =~ /e([-+]\d+)$/;
	return grouped(sprintf '%.*f', max(0, 2 - $exponent), $value);
}

# At least three decimals below 10, since a ratio is compared with 1.
sub ratio
{
	my ($value) = @_;
	return $value < 10 && $value >= 0.1
	  ? sprintf('%.3f', $value)
	  : number($value);
}

sub interval
{
	my ($lo, $hi) = @_;
	return 'too few pairs' unless defined $lo;
	return '[' . ratio($lo) . ', ' . ratio($hi) . ']';
}

sub _memory
{
	my ($kb) = @_;
	return number($kb / 1024 / 1024) . ' GiB';
}

=item ratio_text(\%series, \%figure), medians(...), verdict_inline(\%figure)

Take a series and what figure() says of it.  Return the ratio, with the interval
for time; the medians of base and patched, as a list; the verdict as an inline.

=cut

sub ratio_text
{
	my ($series, $figure) = @_;
	my $text = ratio($figure->{ratio});
	return $text if $series->{method} ne 'time';
	return
		$text
	  . (defined $figure->{lo} ? ' ' : ', ')
	  . interval(@{$figure}{qw(lo hi)});
}

sub medians
{
	my ($series, $figure) = @_;
	my $exact = $series->{method} ne 'time';
	return map { number($figure->{$_}[0], $exact) } qw(base patched);
}

sub verdict_inline
{
	my ($figure) = @_;
	(my $class = $figure->{verdict}) =~ tr/ /-/;
	return { text => $figure->{verdict}, class => $class };
}

=item builds(\@results), mixed(\@results), machine(\@results)

Return what is true of all results: a sentence about the builds; a block that
warns of different series, or nothing; a table of the machine's facts.

=cut

sub builds
{
	my ($results) = @_;
	my %base = map { $_->{base} => 1 } @$results;
	return
		'PostgreSQL '
	  . join(' and ', sort keys %base)
	  . ' (base) against the same with the patches.';
}

sub mixed
{
	my ($results) = @_;
	my %series = map { $_->{patched} => 1 } @$results;
	return if keys %series < 2;
	return [
		p => 'The results are not all of the same series of patches; see the '
		  . 'column Series under Runs in the report.' ];
}

# Machine facts: one column if all results come from one machine, otherwise
# one for each benchmark.
sub machine
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

=item dates(\%result)

Returns when the result and its figures were measured.

=back

=cut

sub dates
{
	my ($result) = @_;
	my @dates = map { defined $_->{date} ? $_->{date} : $result->{date} }
	  @{ $result->{series} }, $result;
	s/^([\d-]+)T(\d+:\d+).*Z$/$1 $2 UTC/ foreach @dates;
	return @dates;
}

=head1 TESTS

src/test/report.t

=cut

1;
