package PgSeries::Demo;

use strict;
use warnings FATAL => 'all';

use Encode     qw(encode_utf8);
use List::Util qw(max sum uniq);
use PgSeries::Bench;
use PgSeries::Report          qw(write_page);
use PgSeries::Report::Results qw(figure fill_label medians quantity
  read_results);
use PgSeries::Report::Topics qw(check_figures read_topic read_topics worst);
use PgSeries::Util           qw(fail info minutes read_file slurp_json);
use Text::Wrap               ();

=pod

=head1 NAME

PgSeries::Demo - what the series does, on one screen

=head1 DESCRIPTION

benchmarks/demo.json, which benchmarks/README.md describes, is the list of what is
shown.  src/test/demo.t runs it with C<--tiny>.

=cut

# So many pairs that the interval leaves out the two highest and the two lowest.
use constant PAIRS => 12;

# The command pgseries demo.  Returns the exit status: 1 if a case has no figure, or
# if what follows the table cannot be shown.  Raises an error if demo.json, or topic.json
# of one of its topics, is wrong, before anything is built.
sub command
{
	my ($c) = @_;
	my $top = $c->config->top . '/benchmarks';
	return run(
		$c,
		{ PgSeries::Bench::read_metas($top) },
		@{ slurp_json("$top/demo.json") });
}

# Does the same with other contents of meta.json and of demo.json.
sub run
{
	my ($c, $metas, @list) = @_;
	my ($config, $tiny) = ($c->config, $c->{option}{tiny});
	my @groups = groups($metas, $tiny, @list);
	my @results = read_results($config);
	check_figures(read_topic($config, $_), \@results)
	  for uniq map { $_->{topic} } @list;
	PgSeries::Bench::check_valgrind();

	phase(1, 'source', sub { $c->series->commit_of($c->series->patches) });
	phase(2, 'build 18.6', sub { $c->builds->ensure('base') });
	phase(3, 'build patched', sub { $c->builds->ensure('patched') });
	my $bench = PgSeries::Bench->new(
		$c,
		pairs => $tiny ? 1 : PAIRS,
		seconds => 1,
		scale => 'demo',
		output => $config->build . '/demo');
	my @series;
	phase(4, 'measure', sub { @series = measure($bench, @groups) });
	print table($bench, \@series, @list);

	# What is wrong elsewhere must not cost the table.
	my $shown = eval {
		my $topics = read_topics($config);
		print what_follows($config, $topics, \@results);
		write_page($config, $topics, \@results, $config->build . '/report')
		  unless $tiny;
		1;
	};
	die $@ unless $shown || ref $@ && $@->{code} != 130;
	info("pgseries: $@->{message}; $@->{remedy}") unless $shown;
	return $shown && !@{ $bench->{failed} } ? 0 : 1;
}

# The list as benchmark() takes it, [meta, [measure, case], ..].  Each entry gets its
# case.  Raises an error if an entry is wrong.
sub groups
{
	my ($metas, $tiny, @list) = @_;
	my @groups;
	for my $entry (@list)
	{
		my $meta = $metas->{ $entry->{bench} }
		  or wrong($entry, 'there is no such benchmark');
		wrong($entry, "the topic is $meta->{topic}")
		  if $meta->{topic} ne $entry->{topic};
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
		my ($left) = fill_label($entry->{label}, \%case) =~ /((?<!:):\w+)/;
		wrong($entry, "$left in the label is no value of the case")
		  if defined $left;
		$entry->{now} = \%case;
		push @groups, [$meta] unless @groups && $groups[-1][0] == $meta;
		push @{ $groups[-1] }, [ $m, \%case ];
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

# Runs one phase of four, and says how long it took.
sub phase
{
	my ($n, $name, $code) = @_;
	my $start = time;
	no warnings qw(once);
	local $PgSeries::Util::phase = "[$n/4] $name: ";
	$code->();
	info("[$n/4] $name " . minutes(time - $start));
	return;
}

# Measures all groups, and tells how far it is.
sub measure
{
	my ($bench, @groups) = @_;
	my ($start, $done, $all) = (time, 0, sum map { $#$_ } @groups);
	my @series;
	for my $group (@groups)
	{
		my $left = $done && (time - $start) / $done * ($all - $done);
		local $PgSeries::Util::phase = sprintf '[4/4] measure %d/%d, ',
		  $done + 1, $all;
		$PgSeries::Util::phase .= 'about ' . minutes($left) . ' left: '
		  if $done;
		push @series, $bench->benchmark(@$group);
		$done += $#$group;
	}
	return @series;
}

# The table, at most 100 columns wide.
sub table
{
	my ($bench, $series, @list) = @_;
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
		my $label = fill_label($entry->{label}, $case);
		$text .=
		  $figure{$case}
		  ? sprintf $row, $label, columns($figure{$case})
		  : "  $label: no figure: $why{$case}{message}; $why{$case}{remedy}\n";
	}
	my $of = $bench->{same_rows} + grep { $_->{message} =~ /different rows/ }
	  values %why;
	$text =~ s/\x{b5}s/us/g;
	return encode_utf8($text
		  . "Same rows from both servers: $bench->{same_rows} of $of statements.\n"
	);
}

# The columns of a figure: base, patched, gain, and how sure it is.
sub columns
{
	my ($s) = @_;
	my $figure = figure($s);
	my ($base, $patched) = map { $figure->{$_}[0] } qw(base patched);
	my $gain = $figure->{gain};
	my $factor = max($gain, 1 / $gain);
	my ($good, $bad, $sure) = ('less work', 'more work', 'exact');
	my $show =
	  $factor < 1.1 && $figure->{verdict} ne 'inconclusive'
	  ? sub { sprintf '%.1f%%', 100 * (1 - 1 / $_[0]) }
	  : sub { sprintf $_[0] < 2 ? '%.2fx' : '%.1fx', $_[0] };
	my $says = $show->($factor) . ' ';

	if ($s->{method} eq 'time')
	{
		# The bounds of the gain, or of the loss
		($good, $bad) = qw(faster slower);
		my @bounds = grep { defined } @{$figure}{qw(lo hi)};
		@bounds = map { 1 / $_ } @bounds
		  if ($s->{better} eq 'lower') != ($gain < 1);
		$sure =
		  @bounds
		  ? join ' to ', map { $show->($_) } sort { $a <=> $b } @bounds
		  : 'too few runs';
	}
	$says .= $gain < 1 ? $bad : $good;
	$says =
	  quantity($s, abs($patched - $base))
	  . ($patched > $base ? ' more' : ' fewer')
	  if $s->{method} eq 'count';
	$says = 'not sure'
	  if $figure->{verdict} eq 'inconclusive' && $sure ne 'too few runs';
	$says = $base == $patched ? 'the same' : 'no difference'
	  if $figure->{verdict} eq 'no difference';
	return (medians($s, $figure), $says, $sure);
}

# What costs more, and where to go on.
sub what_follows
{
	my ($config, $topics, $results) = @_;
	local $Text::Wrap::columns = 100;
	local $Text::Wrap::huge = 'overflow';
	my $text = "What costs more (the computed worst of each topic):\n";
	for my $topic (@$topics)
	{
		my $worst = %{ $topic->{figures} } && worst($topic, $results)
		  or next;
		$text .=
		  Text::Wrap::wrap('  ', '    ', "$topic->{name}: $worst->{text}")
		  . "\n";
	}
	my $bugs = read_file($config->top . '/doc/bugs.md');
	my @faults = map { /^- Loses rows: (\w+)/m }
	  grep { !/^Only in the development branch/m } split /^## /m, $bugs;
	my ($faults, $lose) =
	  (scalar @faults, scalar grep { $_ eq 'yes' } @faults);
	return encode_utf8(<<"EOT");
${text}Also fixed: $faults faults of 18.6, of which $lose lose rows (doc/bugs.md).
Is it for your server?  psql -f doc/is-it-for-me.sql        All figures: build/report/index.html
Try it: src/bin/pgseries server start && src/bin/pgseries server psql
EOT
}

1;
