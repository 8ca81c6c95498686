package PgSeries::Report::Results;

=pod

=head1 NAME

PgSeries::Report::Results - results of benchmarks, and what they say

=head1 DESCRIPTION

benchmarks/README.md describes the result files.  Every figure is computed here from
the raw runs, with L<PgSeries::Stats>.  Of the summary that a result file carries
beside them, only C<ratio> is read: it must agree with the raw runs within 1%, so that
a file edited by hand is found.

Numbers of a figure have the unit of its C<unit>; a ratio is patched / base.

=cut

use strict;
use warnings FATAL => 'all';

use Exporter        qw(import);
use File::Basename  qw(basename);
use File::Glob      qw(bsd_glob);
use List::Util      qw(max min uniq);
use PgSeries::Stats qw(median median_interval paired_ratio verdict);
use PgSeries::Util  qw(fail slurp_json);
use Scalar::Util    qw(looks_like_number);

our @EXPORT_OK = qw(case_text figure fill_label medians number quantity
  ratio ratio_text read_results select_series shown unit with_values);

# Counts are exact, but a change that a ratio with three decimals does not show
# is none.
use constant INVISIBLE => { lo => 1 - 0.0005, hi => 1 + 0.0005 };

# Returns the results of a directory (of benchmarks/results by default), sorted by
# name.  Each has its path as "file" and its series in "groups": one for each
# measure and unit, { head, series }, where "head" is the label that all its series
# share, or undef.  Each series gets "text", the label with what it does not say of
# the case, and "row", which tells it from the others of its group.
#
# Raises an error if there are no results, or if one is not as described there.
sub read_results
{
	my ($config, $dir) = @_;
	$dir //= $config->top . '/benchmarks/results';
	my @files = sort(bsd_glob("$dir/*.json"));

	fail(2, "there are no results in $dir", 'run: pgseries bench all')
	  unless @files;
	return map { _read_result($_) } @files;
}

sub _read_result
{
	my ($file) = @_;
	my $result = slurp_json($file);
	my $usable = eval {
		die "its format is not 1\n" unless $result->{format} eq '1';
		die "that of \"$result->{bench}\" belongs in $result->{bench}.json\n"
		  unless basename($file) eq "$result->{bench}.json";
		$result->{groups} = [ _groups($result) ];
		foreach my $series (@{ $result->{series} })
		{
			my $ratio = figure($series)->{ratio};
			die "its runs give another ratio: $series->{text}\n"
			  if abs(($series->{ratio} // $ratio) / $ratio - 1) > 0.01;
		}
		1;
	};
	fail(
		2,
		"$file is no result of a benchmark: " . $@ =~
		  s/(?: at \S+ line \d+\.)?\n//gr,
		'remove it, or run the benchmark again') unless $usable;
	return { %$result, file => $file };
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
			  ? case_text($series->{case}, [ grep { !$same{$_} } @keys ])
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
	my @more =
	  grep {
		$label !~ /(?<![\w.,])\Q${\shown($case->{$_})}\E(?![\w]|[.,]\d)/
	  } @keys;
	my $more = case_text($case, \@more);
	return $more eq '' ? $label : "$label ($more)";
}

# with_values($text, \%values), fill_label($label, \%case):
# Return the text with the value in place of each :KEY; in a label it is as shown()
# shows it.
sub with_values
{
	my ($text, $values) = @_;
	return $text =~ s/(?<!:):(\w+)/$values->{$1} \/\/ ":$1"/ger;
}

sub fill_label
{
	my ($label, $case) = @_;
	my %shown = map { $_ => shown($case->{$_}) } keys %$case;
	return with_values($label, \%shown);
}

# Takes a series of a result.  Returns what the report says of it:
#
#   base, patched    [median, lower bound, upper bound] of the runs, as in the
#                    data of a plot; without bounds if there are too few runs
#   ratio            patched / base
#   lo, hi           for time: its 95% interval, undef if there are too few runs
#   verdict          of verdict() in PgSeries::Stats; for counts, a difference of
#                    at most 0.05% is none
#   gain             how many times as good patched is as base
sub figure
{
	my ($series) = @_;
	my (%figure, $noise);

	if ($series->{method} eq 'time')
	{
		my ($pairs, $aa) = @{$series}{qw(pairs aa)};
		foreach my $side (qw(base patched))
		{
			my @runs = map { $_->{$side} } @$pairs;
			$figure{$side} = [ median(@runs), median_interval(@runs) ];
		}
		%figure = (
			%figure,
			%{ paired_ratio(map { [ @{$_}{qw(base patched)} ] } @$pairs) });
		$noise = paired_ratio(map { [ @{$_}{qw(first second)} ] } @$aa);
	}
	else
	{
		foreach my $side (qw(base patched))
		{
			my @runs = @{ $series->{$side} };
			$figure{$side} = [ median(@runs), min(@runs), max(@runs) ];
		}
		$figure{ratio} = $figure{patched}[0] / $figure{base}[0];
		@figure{qw(lo hi)} = ($figure{ratio}) x 2;
		$noise = INVISIBLE;
	}
	$figure{verdict} = verdict(\%figure, $noise, $series->{better});
	$figure{gain} =
	  $series->{better} eq 'higher' ? $figure{ratio} : 1 / $figure{ratio};
	return \%figure;
}

# Returns the series of a measure, or of a list of them, whose case agrees with the
# hash.
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

# shown($value), case_text(\%case [, \@keys]):
# Return a value of a case, and those of the keys (all by default) that it has, with
# their names.
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
	my ($case, $keys) = @_;
	return join ', ', map { "$_ " . shown($case->{$_}) }
	  grep { defined $case->{$_} } @{ $keys || [ sort keys %$case ] };
}

# grouped($number), number($value, $exact), ratio($value):
# Return a number for people: grouped() with commas, number() with three
# significant digits and all digits before the point (all others, too, if it is an
# exact one of three digits or more), ratio() with at least three decimals below
# 10, since it is compared with 1.
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

# unit(\%series), quantity(\%series, $value), medians(\%series, \%figure), ratio_text(\%series, \%figure):
# Take a series, and what figure() says of it.  Return its unit in words; a value in
# this unit, nanoseconds as a time with its unit; the medians of base and patched,
# as a list; the ratio, with the interval for time.
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

1;
