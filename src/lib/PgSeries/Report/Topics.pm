package PgSeries::Report::Topics;

=pod

=head1 NAME

PgSeries::Report::Topics - what topic.json says of each topic, with its figures

=head1 DESCRIPTION

benchmarks/README.md describes benchmarks/TOPIC/topic.json, which says what the report,
the README and the cover letter say of a topic; doc/measure.md, which figures
C<{NAME:WHAT}> stands for in their texts.

All raise a PgSeries::Error with code 2 that names the file and the remedy.

=cut

use strict;
use warnings FATAL => 'all';

use Exporter                  qw(import);
use List::Util                qw(max uniq);
use PgSeries::Report::Results qw(case_text figure fill_label medians number
  quantity ratio ratio_text select_series shown unit);
use PgSeries::Series ();
use PgSeries::Util   qw(fail slurp_json);
use Scalar::Util     qw(looks_like_number);

our @EXPORT_OK =
  qw(check_figures filler gain read_topic read_topics text_table worst);

my $placeholder = qr/\{([\w-]+):([\w-]+)\}/;

# read_topics($config), read_topic($config, $name):
# Return the contents of topic.json, checked, with "name", "file" and the number of
# "patches" added: a list of those of all topics of the series, or that of one.
sub read_topics
{
	my ($config) = @_;
	return [ map { read_topic($config, $_) }
		  PgSeries::Series->new($config)->topics ];
}

sub read_topic
{
	my ($config, $name) = @_;
	my $file = $config->top . "/benchmarks/$name/topic.json";
	fail(
		2,
		"the topic $name has no $file",
		'write one, see benchmarks/README.md') unless -f $file;
	my $topic = slurp_json($file);
	my $problem = _problem($topic);
	fail(2, "$file: $problem", 'correct it') if defined $problem;
	my @patches = PgSeries::Series->new($config)->topic($name);
	return {
		%$topic,
		name => $name,
		file => $file,
		patches => scalar @patches
	};
}

# What is wrong with the contents of a topic.json, or undef.
sub _problem
{
	my ($topic) = @_;
	my ($figures, $letter) = @{$topic}{qw(figures letter)};

	my @missing = grep { !defined $topic->{$_} } qw(title who gain figures);
	return "\"$missing[0]\" is missing" if @missing;
	my %text = (gain => $topic->{gain} =~ s/$placeholder//gr);
	foreach my $name (sort keys %$figures)
	{
		@missing =
		  grep { !defined $figures->{$name}{$_} } qw(bench measure case);
		return "figure \"$name\" has no \"$missing[0]\"" if @missing;
		$text{"label of $name"} = $figures->{$name}{label} // '';
	}
	my ($digit) = grep { $text{$_} =~ /\d/ } sort keys %text;
	return "the $digit has a digit: take it from a figure"
	  if defined $digit;
	my ($bad) =
	  grep { !$figures->{$_} || !defined $figures->{$_}{label} }
	  @{ $letter || [] };
	return "\"letter\" has \"$bad\", which is no figure with a label"
	  if defined $bad;
	return;
}

# Raises an error if a figure of the topic is not among the results, or if its label
# names no value of the case.
sub check_figures
{
	my ($topic, $results) = @_;
	foreach my $name (sort keys %{ $topic->{figures} })
	{
		my $figure = _found($topic->{file}, $topic, $results, $name);
		my ($left) =
		  fill_label($figure->{label} // '', $figure->{series}[0]{case}) =~
		  /((?<!:):\w+)/;
		fail(
			2,
			"$topic->{file}: figure \"$name\": $left in its label is no value of the case",
			'correct it') if defined $left;
	}
	return;
}

# Returns a function that fills the placeholders of a text from the file, with figures
# of the topic of that name and "us" for microseconds.  It raises an error if a brace
# is no placeholder, if there is no such figure, or if that was not measured.
sub filler
{
	my ($file, $topics, $results, $name) = @_;
	my ($topic) = grep { $_->{name} eq $name } @$topics;

	return sub {
		my ($text) = @_;
		(my $left = $text) =~ s/$placeholder//g;
		fail(
			2,
			"$file: \"$1\" is no {NAME:WHAT}",
			'braces are for figures of topic.json: correct it'
		) if $left =~ /(\{\S*|\S*\})/;
		$text =~ s{$placeholder}{
			_value("$file: $&", _found("$file: $&", $topic, $results, $1), $2)}ge;
		return $text =~ s/\x{b5}s/us/gr;
	};
}

# Returns the sentence about the gain of a topic.
sub gain
{
	my ($topic, $results) = @_;
	return filler($topic->{file}, [$topic], $results, $topic->{name})
	  ->($topic->{gain});
}

# The figure of a topic: what topic.json says of it, and the series that fit.
sub _found
{
	my ($where, $topic, $results, $name) = @_;
	my $figure = $topic->{figures}{$name}
	  or fail(
		2,
		"$where: there is no such figure",
		'correct it, or add the figure to topic.json');
	my ($bench, $measure, $case, $all) =
	  @{$figure}{qw(bench measure case all)};
	my ($result) = grep { $_->{bench} eq $bench } @$results;
	my @found = $result ? select_series($result, $measure, $case) : ();
	fail(
		2,
		"$topic->{file}: figure \"$name\": "
		  . @found
		  . " figures of $bench are "
		  . (ref $measure ? join ' or ', @$measure : $measure) . ' ('
		  . case_text($case) . ')',
		sprintf('name %s one, or run the benchmark',
			$all ? 'at least' : 'exactly')
	) unless @found == 1 || @found && $all;
	return {
		%$figure,
		series => \@found,
		cores => $result->{machine}{cores}
	};
}

# What a placeholder stands for; $figure is from _found().
sub _value
{
	my ($where, $figure, $what) = @_;
	my @series = @{ $figure->{series} };
	my @values;

	foreach my $series (@series)
	{
		my ($value, $text) = _value_of($what, $series, $figure);
		fail(
			2,
			"$where: $series->{measure} has no \"$what\"",
			'see doc/measure.md for what there is') unless defined $value;
		push @values, [ $value, $text // $value ];
	}
	return $values[0][1] unless $figure->{all};
	if ($what eq 'verdict')
	{
		my %count;
		$count{ $_->[0] }++ foreach @values;
		return join ', ',
		  map { "$count{$_} $_" } grep { $count{$_} } 'better',
		  'no difference', 'inconclusive', 'worse';
	}
	my ($bad) = grep { !looks_like_number($_->[0]) } @values;
	fail(
		2,
		"$where: \"$bad->[1]\" is no number",
		'of a figure with "all", take numbers and verdicts only') if $bad;
	my @texts = uniq map { $_->[1] } sort { $a->[0] <=> $b->[0] } @values;
	return @texts > 1 ? "$texts[0] to $texts[-1]" : $texts[0];
}

# The same for one series: a value, and its text if that is another.
sub _value_of
{
	my ($what, $series, $figure) = @_;
	my $said = figure($series);
	my $ratio = $said->{ratio};

	if ($what eq 'base' || $what eq 'patched')
	{
		my $median = $said->{$what}[0];
		return ($median, quantity($series, $median));
	}
	return $figure->{cores} if $what eq 'cores';
	return ($ratio,
		$figure->{all} ? ratio($ratio) : ratio_text($series, $said))
	  if $what eq 'ratio';
	return $said->{verdict} eq 'better' ? ($ratio, number($ratio)) : ()
	  if $what eq 'times';
	return $said->{verdict} if $what eq 'verdict';
	return $series->{pairs} ? scalar @{ $series->{pairs} } : ()
	  if $what eq 'pairs';
	my $value = $series->{case}{$what};
	return ($value, shown($value));
}

# Returns the worst of all figures of a topic's benchmarks, undef if there are none:
# { text, short }, a sentence and a clause.
sub worst
{
	my ($topic, $results) = @_;
	my @own = grep { $_->{topic} eq $topic->{name} } @$results;
	my @series = map { @{ $_->{series} } } @own;
	my (@worse, %times);

	foreach my $series (@series)
	{
		my $figure = figure($series);
		push @worse, [ $series, $figure ] if $figure->{verdict} eq 'worse';
		$times{$_}++
		  foreach $series->{method} eq 'time'
		  ? ('all', $figure->{verdict})
		  : ();
	}
	return unless @series;

	my $text = _count(scalar @worse, ' of ' . @series . ' figures', 'worse');
	my $short;
	if (@worse)
	{
		my ($most) = sort { $a->[1]{gain} <=> $b->[1]{gain} } @worse;
		my ($series, $figure) = @$most;
		my $unit = unit($series);
		$unit =~ s/ per .*// if $series->{method} eq 'instructions';
		my ($verb, $how) =
		  $series->{better} eq 'lower'
		  ? ('takes', "times the $unit")
		  : ('reaches', "of the $unit");
		my @notes = map { "($_->{note})" } grep {
			my $with = $_;
			defined $with->{note} && grep { $_ == $series }
			  map  { select_series($_, $with->{measure}, $with->{case}) }
			  grep { $_->{bench} eq $with->{bench} }
			  @own
		} map { $topic->{figures}{$_} } sort keys %{ $topic->{figures} };
		$short = ratio_text($series, $figure) . " $how";
		$text .= join ' ', '; the worst:', $series->{text}, $verb, $short,
		  @notes;
		$short = join ' ', $short, "($series->{text})", @notes;
	}
	$text .=
		"; of the $times{all} measured times, "
	  . _count($times{worse}, '', 'worse') . ' and '
	  . _count($times{inconclusive}, '', 'inconclusive')
	  if $times{all};
	return { text => $text, short => $short };
}

sub _count
{
	my ($n, $of, $what) = @_;
	return ($n || 'none') . $of . (($n // 0) > 1 ? ' are ' : ' is ') . $what;
}

# Returns the table of a topic's cover letter: the figures of "letter".
sub text_table
{
	my ($topics, $results, $name) = @_;
	my ($topic) = grep { $_->{name} eq $name } @$topics;
	my @rows = map {
		my $figure = _found($topic->{file}, $topic, $results, $_);
		my ($series) = @{ $figure->{series} };
		my $said = figure($series);
		[
			fill_label($figure->{label}, $series->{case}),
			medians($series, $said),
			ratio_text($series, $said)
		]
	} @{ $topic->{letter} || [] };
	return '' unless @rows;
	unshift @rows, [ '', 'base', 'patched', 'patched / base' ];
	my @width = map {
		my $i = $_;
		max(map { length $_->[$i] } @rows)
	} 0 .. 2;
	my $text = join '', map {
		sprintf "%-*s  %*s  %*s  %s\n", $width[0], $_->[0], $width[1],
		  $_->[1],
		  $width[2], @{$_}[ 2, 3 ]
	} @rows;
	return $text =~ s/\x{b5}s/us/gr;
}

1;
