package PgSeries::Demo;

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use List::Util qw(sum);
use PgSeries::Bench;
use PgSeries::Report;
use PgSeries::Report::Results qw(figure grouped);
use PgSeries::Util            qw(fail info read_file slurp_json);
use Text::Wrap                ();
use Time::HiRes               qw(time);

=pod

=head1 NAME

PgSeries::Demo - what the series does, on one screen

=head1 DESCRIPTION

benchmarks/demo.json is the list of what is shown, one or two cases for each topic:

  topic    of the series
  label    for the reader, :NAME stands for a value of the case
  bench    a benchmark
  measure  one of its measures
  case     all its values, which may be others than those in meta.json
  tiny     values in their place for --tiny

=head1 FUNCTIONS

=over

=cut

# How much longer than others a case of this method takes, for the time left.
my %WEIGHT = (instructions => 1, count => 1, time => 8);

# Pairs and seconds of the times; the smallest number of pairs with an interval.
my %EFFORT = (pairs => 6, seconds => 1, runs => 1);
my %TINY = (pairs => 1, seconds => 1, runs => 1);

=item command($context, @words)

The command C<pgseries demo>.  Returns the exit status: 1 if a case has no figure.
Raises an error if the list is wrong, before anything is built.

=cut

sub command
{
	my ($c, @words) = @_;
	fail(
		2,
		"demo takes no argument \"$words[0]\"",
		'see: pgseries demo --help') if @words;
	my $top = $c->config->top . '/benchmarks';
	my $list = PgSeries::Bench::as_bytes(slurp_json("$top/demo.json"));
	return run($c, { PgSeries::Bench::read_metas($top) }, @$list);
}

=item run($context, \%metas, @list)

Does the same with other contents of meta.json and of demo.json.

=cut

sub run
{
	my ($c, $metas, @list) = @_;
	my $tiny = $c->{option}{tiny};
	my @groups = groups($metas, $tiny, @list);
	PgSeries::Bench::check_valgrind();

	my $builds = $c->builds;
	phase(1, 'source', sub { $c->series->commit_of($c->series->patches) });
	phase(2, 'build 18.6', sub { $builds->ensure('base') });
	phase(3, 'build patched', sub { $builds->ensure('patched') });
	my $temp = $tiny ? File::Temp->newdir : undef;
	my $bench = PgSeries::Bench->new(
		$c,
		%{ $tiny ? \%TINY : \%EFFORT },
		scale => 'demo',
		output => $tiny ? "$temp" : undef);
	my @series;
	phase(4, 'measure', sub { @series = measure($bench, @_, @groups) });
	print screen($c, $bench, \@series, @list);
	page($c->config) unless $tiny;
	return @{ $bench->{failed} } ? 1 : 0;
}

# The list by databases: { meta, values, cases }.  Each entry gets its measure and its
# case.
sub groups
{
	my ($metas, $tiny, @list) = @_;
	my (@groups, %group);
	for my $entry (@list)
	{
		my $meta = $metas->{ $entry->{bench} }
		  or wrong($entry, 'there is no such benchmark');
		my %case =
		  (%{ $entry->{case} }, $tiny ? %{ $entry->{tiny} || {} } : ());
		my @takes = grep { takes($meta, $_, \%case) }
		  grep { $_->{name} eq $entry->{measure} } @{ $meta->{measures} };
		my ($m) = (
			(   grep { PgSeries::Bench::wanted(\%case, $_->{where} || {}) }
				  @takes),
			@takes);
		wrong($entry, 'no measure of that name has a case with these values')
		  unless $m;
		wrong($entry, "the topic is $meta->{topic}")
		  if $meta->{topic} ne $entry->{topic};
		@{$entry}{qw(m now)} = ($m, \%case);
		my %values = map { $_ => $case{$_} } keys %{ $meta->{values} };
		my $id = join ' ', $meta->{name},
		  map { "$_=$values{$_}" } sort keys %values;
		push @groups, $group{$id} = { meta => $meta, values => \%values }
		  unless $group{$id};
		push @{ $group{$id}{cases} }, [ $m, \%case ];
	}
	return @groups;
}

# Does the case have a value for each name of the measure, and no other?
sub takes
{
	my ($meta, $m, $case) = @_;
	my %names = (%{ $meta->{values} }, %{ $m->{values} || {} });
	return "@{[ sort keys %names ]}" eq "@{[ sort keys %$case ]}";
}

sub wrong
{
	my ($entry, $why) = @_;
	return fail(2, "benchmarks/demo.json: \"$entry->{label}\": $why",
		'correct it');
}

# Runs one phase of four, says how long it took, and returns its value.
sub phase
{
	my ($n, $name, $code) = @_;
	my $start = time;
	no warnings qw(once);
	local $PgSeries::Util::phase = "[$n/4] $name: ";
	$code->($start);
	info("[$n/4] $name " . minutes(time - $start));
	return;
}

sub minutes
{
	my ($seconds) = @_;
	return sprintf '%d:%02d', $seconds / 60, $seconds % 60;
}

# Measures all groups.
sub measure
{
	my ($bench, $start, @groups) = @_;
	my @cases = map { @{ $_->{cases} } } @groups;
	my $all = sum(map { $WEIGHT{ $_->[0]{method} } } @cases);
	my ($done, $number) = (0, 0);
	$bench->{on_case} = sub {
		my ($m) = @_;
		$PgSeries::Util::phase =
		  sprintf '[4/4] measure %d/%d%s: ', ++$number,
		  scalar @cases,
		  $done
		  ? ', about '
		  . minutes((time - $start) / $done * ($all - $done)) . ' left'
		  : '';
		$done += $WEIGHT{ $m->{method} };
		return;
	};
	return map { $bench->benchmark($_->{meta}, $_) } @groups;
}

# The table and what follows it, at most 100 columns wide.
sub screen
{
	my ($c, $bench, $series, @list) = @_;
	my %figure = map { $_->{case} => $_ } @$series;
	my %why = map { $_->{case} => $_->{error} } @{ $bench->{failed} };
	my $row = "  %-46s %10s %10s  %-16s%s\n";
	my $text =
	  "\nPostgreSQL $bench->{base} with and without the series, on this machine\n"
	  . sprintf $row, 'what you do', $bench->{base}, 'patched', 'gain',
	  'sure?';
	for my $entry (@list)
	{
		my $case = $entry->{now};
		my $label = PgSeries::Bench::filled($entry, $case)->{label};
		my $s = $figure{$case};
		$text .=
		  $s
		  ? sprintf $row, $label, columns($s)
		  : "  $label: no figure: $why{$case}{message}; $why{$case}{remedy}\n";
	}
	my $of = $bench->{same_rows} + grep { $_->{message} =~ /different rows/ }
	  values %why;
	$text .= "What costs more (the computed worst of each topic):\n";
	$text .= wrapped("$_->[0]: $_->[1]")
	  for PgSeries::Report::worst_of_topics($c->config);
	return
		$text
	  . "Same rows from both servers: $bench->{same_rows} of $of statements.\n"
	  . faults($c->config->top . '/doc/bugs.md')
	  . "Is it for your server?  psql -f doc/is-it-for-me.sql        All figures: build/report/index.html\n"
	  . "Try it: src/bin/pgseries server start && src/bin/pgseries server psql\n";
}

sub wrapped
{
	my ($text) = @_;
	local $Text::Wrap::columns = 100;
	local $Text::Wrap::huge = 'overflow';
	return Text::Wrap::wrap('  ', '    ', $text) . "\n";
}

# The columns of a figure: base, patched, gain, and how sure it is.
sub columns
{
	my ($s) = @_;
	my $figure = figure($s);
	my ($base, $patched) = map { $figure->{$_}[0] } qw(base patched);
	my @shown = map {
			$s->{method} eq 'count' ? grouped($_)
		  : $s->{unit} =~ /^ns\b/ ? grouped(sprintf '%.0f', $_ / 1e6) . ' ms'
		  : grouped(sprintf '%.0f', $_)
	} $base, $patched;
	return (@shown, 'the same', 'exact')
	  if $base == $patched && $s->{method} ne 'time';
	return (
		@shown,
		grouped(abs($patched - $base))
		  . ($patched > $base ? ' more' : ' fewer'),
		'exact') if $s->{method} eq 'count';

	my @better =
	  $s->{method} eq 'time' ? qw(faster slower) : ('less work', 'more work');
	my ($times, $lo, $hi) =
	  map { !defined || $s->{better} eq 'higher' ? $_ : 1 / $_ }
	  @{$figure}{qw(ratio lo hi)};
	my $factor = $times < 1 ? 1 / $times : $times;
	my $gain =
	  $factor < 1.1
	  ? sprintf('%.1f%% ', 100 * (1 - 1 / $factor))
	  : sprintf('%.1fx ', $factor);
	my $sure =
		$s->{method} ne 'time' ? 'exact'
	  : !defined $lo           ? 'too few runs'
	  : sprintf('%.1f to %.1f', sort { $a <=> $b } $lo, $hi)
	  . ($figure->{verdict} eq 'inconclusive' ? ', no' : '');
	return (@shown, $gain . $better[ $times < 1 ], $sure);
}

# What doc/bugs.md has: a heading for each fault, and whether it loses rows.
sub faults
{
	my ($file) = @_;
	return '' unless -f $file;
	my $text = read_file($file);
	return sprintf
	  "Also fixed: %d faults of 18.6, of which %d lose rows (doc/bugs.md).\n",
	  scalar(my @all = $text =~ /^## /mg),
	  scalar(my @lose = $text =~ /^\W*Loses rows: yes\b/mg);
}

# The page has the recorded figures, not those of the demo.
sub page
{
	my ($config) = @_;
	return PgSeries::Report::write_page(
		$config,
		PgSeries::Report::Topics::read_topics($config),
		[ PgSeries::Report::Results::read_results($config) ],
		$config->build . '/report');
}

=back

=head1 TESTS

src/test/demo.t runs the list with C<--tiny>.

=cut

1;
