package PgSeries::Report::Results;

=pod

=head1 NAME

PgSeries::Report::Results - results of benchmarks, and what they say

=head1 DESCRIPTION

Every figure is computed here from the raw runs, with L<PgSeries::Stats>.  Of the
summary that a result file carries beside them, only C<ratio> is read: it must
agree with the raw runs within 1%, so that a file edited by hand is found.

=head1 RESULT FILES

One JSON file for each benchmark, NAME.json:

  format    1
  bench     NAME
  topic     the topic: the benchmark is benchmarks/TOPIC/NAME
  title, scale, date
  base      version that is the base
  patched   key of the series that was measured
  machine   facts, name and value
  axis      { name, label }: the key of "case" that varies most
  series    list of figures, see below
  plots     list of { file, title, measure, x, where, lines }; where the
            benchmark has a meta.json, those that it has now

A figure names its C<measure>, C<label> (C<:KEY> in it is a value of the case),
C<unit>, which direction is C<better> ("lower" or "higher") and its C<case>, a
hash.  The raw runs depend on the C<method>:

  instructions   "base" and "patched": lists of counts
  count          the same, for what else can be counted
  time           "pairs": list of { base, patched }, and
                 "aa": list of { first, second }, base against itself

A plot shows the figures of one C<measure> (or of a list of them) whose case
agrees with C<where>, against the case's key C<x>; C<lines> names the key (or a
list of keys) whose values make lines of their own.

=head1 FUNCTIONS

Texts are decoded.  Numbers of a figure have the unit of its C<unit>; a ratio is
patched / base.  Only read_results() and refuse() raise errors.

=over

=cut

use strict;
use warnings FATAL => 'all';

use Encode          qw(encode_utf8);
use Exporter        qw(import);
use File::Basename  qw(basename);
use File::Glob      qw(bsd_glob);
use List::Util      qw(max min uniq);
use PgSeries::Stats qw(median median_interval paired_ratio verdict);
use PgSeries::Util  qw(fail slurp_json);
use Scalar::Util    qw(looks_like_number);

our @EXPORT_OK = qw(VISIBLE case_text figure fill_label grouped medians
  number quantity ratio ratio_text read_results refuse select_series shown
  unit);

# Counts are exact, but a change that a ratio with three decimals does not show
# is none.
use constant VISIBLE => 0.0005;

=item refuse($message, $remedy [, $detail])

Raises a L<PgSeries::Error> with code 2.  What comes from a JSON file is decoded
text, but what is printed must be bytes.

=cut

sub refuse
{
	my (@texts) = @_;
	return fail(2, map { utf8::is_utf8($_) ? encode_utf8($_) : $_ } @texts);
}

=item read_results($config [, $dir])

Returns the results of a directory (of benchmarks/results by default), sorted by
name.  Each has its path as C<file> and its series in C<groups>: one for each
measure and unit, { head, series }, where C<head> is the label that all its series
share, or undef.  Each series gets C<text>, the label with what it does not say of
the case, and C<row>, which tells it from the others of its group.

Raises an error if there are no results, or if one is not as described above.

=cut

sub read_results
{
	my ($config, $dir) = @_;
	my $benchmarks = $config->top . '/benchmarks';
	$dir = "$benchmarks/results" unless defined $dir;
	my @files = sort(bsd_glob("$dir/*.json"));

	refuse("there are no results in $dir", 'run: pgseries bench all')
	  unless @files;
	return map { _read_result($_, $benchmarks) } @files;
}

sub _read_result
{
	my ($file, $benchmarks) = @_;
	my $result = slurp_json($file);
	my $bad =
	  sub { refuse("$file: $_[0]", 'remove it, or run the benchmark again') };

	$bad->('not a benchmark result of format 1')
	  unless ref $result eq 'HASH' && ($result->{format} || '') eq '1';
	my @missing = grep { !defined $result->{$_} }
	  qw(bench topic title scale base patched date machine series);
	$bad->("\"$missing[0]\" is missing") if @missing;
	$bad->(
		"a result of \"$result->{bench}\" belongs in $result->{bench}.json")
	  unless basename($file) eq "$result->{bench}.json";
	foreach my $number (1 .. @{ $result->{series} })
	{
		my $problem = _problem($result->{series}[ $number - 1 ]);
		$bad->("series $number: $problem") if defined $problem;
	}

	my $meta = "$benchmarks/$result->{topic}/$result->{bench}/meta.json";
	$result->{plots} = slurp_json($meta)->{plots} if -f $meta;
	$result->{plots} ||= [];
	$result->{file} = $file;
	$result->{groups} = [ _groups($result) ];
	return $result;
}

# What is wrong with a series, or undef.
sub _problem
{
	my ($series) = @_;

	return '"better" must be "lower" or "higher"'
	  unless ($series->{better} || '') =~ /^(?:lower|higher)\z/;
	my @missing =
	  grep { !defined $series->{$_} } qw(case measure label unit method);
	return "\"$missing[0]\" is missing" if @missing;
	my $figure = eval { figure($series) };
	return 'its runs are not lists of positive numbers' unless $figure;
	return sprintf '"ratio" is %s, but the raw runs give %s',
	  $series->{ratio}, ratio($figure->{ratio})
	  if defined $series->{ratio}
	  && abs($series->{ratio} / $figure->{ratio} - 1) > 0.01;
	return;
}

# The groups of read_results(), each sorted by the axis.  Keys that have the same
# value in all cases of the result are not worth a word.
sub _groups
{
	my ($result) = @_;
	my $axis = $result->{axis} && $result->{axis}{name} || '';
	my @cases = map { $_->{case} } @{ $result->{series} };
	my @keys = sort { ($b eq $axis) <=> ($a eq $axis) || $a cmp $b } grep {
		my $key = $_;
		1 < uniq grep { defined } map { $_->{$key} } @cases
	} uniq map { keys %$_ } @cases;
	my (@order, %group);

	foreach my $series (@{ $result->{series} })
	{
		my $id = join "\0", @{$series}{qw(measure unit method)};
		push @order, $id unless $group{$id};
		push @{ $group{$id} }, $series;
		$series->{label} = fill_label($series->{label}, $series->{case});
		$series->{text} = _with($series, @keys);
	}
	return map {
		my @series = @{ $group{$_} };
		@series = sort { $a->{case}{$axis} <=> $b->{case}{$axis} } @series
		  unless grep { !looks_like_number($_->{case}{$axis}) } @series;
		my %same = map {
			my $key = $_;
			$key => 1 == uniq map { shown($_->{case}{$key}) } @series
		} @keys;
		my $shared = @series > 1 && 1 == uniq map { $_->{label} } @series;
		my $unit = unit($series[0]);
		foreach my $series (@series)
		{
			$series->{row} =
			  $shared
			  ? case_text($series->{case}, grep { !$same{$_} } @keys)
			  : "$series->{text}, $unit";
		}
		+{
			series => \@series,
			head => $shared
			? _with($series[0], grep { $same{$_} } @keys) . ", $unit"
			: undef
		}
	} @order;
}

# The label, and of the case what the label does not say.
sub _with
{
	my ($series, @keys) = @_;
	my ($label, $case) = @{$series}{qw(label case)};
	my $more = case_text($case,
		grep { $label !~ /(?<![\w.,])\Q${\shown($case->{$_})}\E(?!\w)/ }
		  @keys);
	return $more eq '' ? $label : "$label ($more)";
}

=item fill_label($label, \%case)

Returns the label with the case's values in place of C<:KEY>.

=cut

sub fill_label
{
	my ($label, $case) = @_;
	$label =~
	  s/(?<!:):(\w+)/defined $case->{$1} ? shown($case->{$1}) : ":$1"/ge;
	return $label;
}

=item figure(\%series)

Takes a series of a result.  Returns what the report says of it:

  base, patched    [median, lower bound, upper bound] of the runs, as in the
                   data of a plot; a bound is undef if there are too few runs
  ratio, lo, hi    patched / base with its bounds: 95% interval for time, the
                   farthest apart that any two runs are for counts
  n                number of pairs, or smallest number of runs
  verdict          see verdict() in PgSeries::Stats.  For counts: better or worse
                   if all runs of one build need less than all of the other, by
                   more than 0.05%; no difference if none differ by more than
                   that; otherwise inconclusive

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
		my $direction =
			$hi < 1 - VISIBLE                        ? 'lower'
		  : $lo > 1 + VISIBLE                        ? 'higher'
		  : $lo >= 1 - VISIBLE && $hi <= 1 + VISIBLE ? 'no difference'
		  :                                            'inconclusive';
		return {
			base => $base,
			patched => $patched,
			ratio => $patched->[0] / $base->[0],
			lo => $lo,
			hi => $hi,
			n => min(map { scalar @$_ } @{$series}{qw(base patched)}),
			verdict => $direction eq $series->{better} ? 'better'
			: $direction =~ /er\z/ ? 'worse'
			:                        $direction
		};
	}

	my @pairs = @{ $series->{pairs} };
	my @aa = map { [ @{$_}{qw(first second)} ] } @{ $series->{aa} || [] };
	my $ab = paired_ratio([ map { [ @{$_}{qw(base patched)} ] } @pairs ]);
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
		verdict => verdict(
			$ab,
			@aa ? paired_ratio(\@aa) : undef,
			better => $series->{better})
	};
}

=item select_series(\%result, $measure, \%where)

Returns the series of a measure, or of a list of them, whose case agrees with the
hash.

=cut

sub select_series
{
	my ($result, $measure, $where) = @_;
	my %where = %{ $where || {} };
	my %measure = map { $_ => 1 } ref $measure ? @$measure : $measure;

	return grep {
		my $case = $_->{case};
		$measure{ $_->{measure} }
		  && !grep { !defined $case->{$_} || $case->{$_} ne $where{$_} }
		  keys %where
	} @{ $result->{series} };
}

=item shown($value), case_text(\%case, @keys)

Return a value of a case, and those of the keys that it has with their names.

=cut

sub shown
{
	my ($value) = @_;
	return
		!defined $value       ? '-'
	  : $value =~ /^-?\d+\z/a ? grouped($value)
	  :                         $value;
}

sub case_text
{
	my ($case, @keys) = @_;
	return join ', ',
	  map { "$_ " . shown($case->{$_}) } grep { defined $case->{$_} } @keys;
}

=item grouped($number), number($value, $exact), ratio($value)

Return a number for people: grouped() with commas, number() with three
significant digits and all digits before the point (all others, too, if it is an
exact one of three digits or more), ratio() with at least three decimals below
10, since it is compared with 1.

=cut

sub grouped
{
	my ($text) = @_;
	1 while $text =~ s/^(-?\d+)(\d{3})/$1,$2/;
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

sub ratio
{
	my ($value) = @_;
	return $value < 10 && $value >= 0.1
	  ? sprintf('%.3f', $value)
	  : number($value);
}

=item unit(\%series), quantity(\%series, $value), medians(\%series, \%figure),
ratio_text(\%series, \%figure)

Take a series, and what figure() says of it.  Return its unit in words; a value in
this unit, nanoseconds as a time with its unit; the medians of base and patched,
as a list; the ratio, with the interval for time.

=cut

sub unit
{
	my ($series) = @_;
	return $series->{unit} =~ s/^ns\b/time/r =~
	  s/^tps\z/transactions per second/r;
}

sub quantity
{
	my ($series, $value) = @_;
	return grouped($value)
	  if $series->{method} eq 'count' && $value =~ /^\d+\z/a;
	return number($value, $series->{method} ne 'time')
	  unless $series->{unit} =~ /^ns\b/;
	foreach my $unit ([ 1e9, 's' ], [ 1e6, 'ms' ], [ 1e3, "\x{b5}s" ])
	{
		return number($value / $unit->[0]) . " $unit->[1]"
		  if $value >= $unit->[0];
	}
	return number($value) . ' ns';
}

sub medians
{
	my ($series, $figure) = @_;
	return map { quantity($series, $figure->{$_}[0]) } qw(base patched);
}

sub ratio_text
{
	my ($series, $figure) = @_;
	my $text = ratio($figure->{ratio});
	return $text if $series->{method} ne 'time';
	return "$text, too few pairs" unless defined $figure->{lo};
	return sprintf '%s [%s, %s]', $text,
	  map { ratio($_) } @{$figure}{qw(lo hi)};
}

=back

1;
