package PgSeries::Report::Topics;

=pod

=head1 NAME

PgSeries::Report::Topics - what topic.json says of each topic, with its figures

=head1 DESCRIPTION

benchmarks/TOPIC/topic.json says what the report, the README and the cover letter
say of a topic:

  title    heading
  who      who gains: "tables with ten or more indexes"
  gain     what they gain with default settings: a clause, or several
  figures  { NAME => { bench, measure, case, label, note } }: each exactly one
           figure; where it is the worst of the topic, the note explains it
  plot     { bench, file }: one of the plots of that benchmark; may be missing
  letter   names of the figures in the table of the cover letter, at most six

Neither C<gain> nor a C<label> has digits.  In a label, C<:KEY> is a value of the
figure's case; it is needed only for the letter.  In other texts C<{NAME:WHAT}>
stands for something of a figure.  WHAT is

  base, patched   the median; nanoseconds as a time with its unit
  ratio           patched / base; for time with the 95% interval
  times           the ratio alone, for a headline: the verdict must be "better"
  verdict         see figure() in PgSeries::Report::Results
  pairs           for time: the number of pairs of runs
  cores           of the machine
  KEY             the value of this key of the figure's case

A figure with C<all> (true) is all that fit, one or more; C<measure> may then be a
list.  What stands for it is a range, as "0.427 to 0.587", without intervals, and
the verdicts with their numbers, as "59 better, 1 worse".  A figure with C<of>,
the name of another measure, is its share of that one in the same case: C<base>
and C<patched> are percentages.

=head1 FUNCTIONS

All raise a L<PgSeries::Error> with code 2 that names the file and the remedy.

=over

=cut

use strict;
use warnings FATAL => 'all';

use Encode                    qw(decode_utf8 encode_utf8);
use Exporter                  qw(import);
use List::Util                qw(max);
use PgSeries::Report::Results qw(VISIBLE case_text figure fill_label
  grouped medians number quantity ratio ratio_text refuse select_series shown
  unit);
use PgSeries::Series ();
use PgSeries::Util   qw(slurp_json);
use Scalar::Util     qw(looks_like_number);

our @EXPORT_OK = qw(filler gain read_topics text_table worst);

my $placeholder = qr/\{(?:([\w-]+)\/)?([\w-]+):([\w-]+)\}/;

# Mail is read with at most so many columns.
use constant LETTER_WIDTH => 76;

=item read_topics($config)

Returns what is known of the topics of the series, in its order: a list of the
contents of topic.json, checked, each with its C<name>, C<file> and the number of
its C<patches>.

=cut

sub read_topics
{
	my ($config) = @_;
	my $series = PgSeries::Series->new($config);

	return [
		map {
			my $file = $config->top . "/benchmarks/$_/topic.json";
			refuse("the topic $_ has no $file",
				'write one, see PgSeries::Report::Topics')
			  unless -f $file;
			my $topic = slurp_json($file);
			my $problem = _problem($topic);
			refuse("$file: $problem", 'correct it') if defined $problem;
			my @patches = $series->topic($_);
			@{$topic}{qw(name file patches)} = ($_, $file, scalar @patches);
			$topic;
		} $series->topics
	];
}

# What is wrong with the contents of a topic.json, or undef.
sub _problem
{
	my ($topic) = @_;

	return 'not an object with "figures"'
	  unless ref $topic eq 'HASH' && ref $topic->{figures} eq 'HASH';
	my $figures = $topic->{figures};
	my @missing = grep { !defined $topic->{$_} } qw(title who gain);
	return "\"$missing[0]\" is missing" if @missing;
	foreach my $name (sort keys %$figures)
	{
		@missing =
		  grep { !defined $figures->{$name}{$_} } qw(bench measure case);
		return "figure \"$name\" has no \"$missing[0]\"" if @missing;
	}
	my %text = (gain => $topic->{gain} =~ s/$placeholder//gr);
	$text{"label of $_"} = $figures->{$_}{label} || '' foreach keys %$figures;
	my ($digit) = grep { $text{$_} =~ /\d/ } sort keys %text;
	return "the $digit has a digit: take it from a figure"
	  if defined $digit;
	my @letter = @{ $topic->{letter} || [] };
	return '"letter" has more than six figures' if @letter > 6;
	my ($bad) =
	  grep { !$figures->{$_} || !defined $figures->{$_}{label} } @letter;
	return "\"letter\" has \"$bad\", which is no figure with a label"
	  if defined $bad;
	return;
}

=item filler($file, \@topics, \@results, $own)

Returns a function that fills the placeholders of a text from the file; figures of
another topic than $own (which may be undef) are C<{TOPIC/NAME:WHAT}>.  It returns
bytes, with "us" for microseconds, and raises an error if a brace is no
placeholder, if there is no such figure, or if that was not measured.

=cut

sub filler
{
	my ($file, $topics, $results, $own) = @_;

	return sub {
		my ($text) = @_;
		(my $left = $text) =~ s/$placeholder//g;
		refuse("$file: \"$1\" is no {NAME:WHAT}",
			'braces are for figures of topic.json: correct it')
		  if $left =~ /(\{\S*|\S*\})/;
		$text =~ s{$placeholder}{
			_value("$file: $&",
				_found("$file: $&", $topics, $results, $1 || $own, $2), $3)}ge;
		$text =~ s/\x{b5}s/us/g;
		return encode_utf8($text);
	};
}

=item gain(\@topics, \@results, $name)

Returns the sentence about the gain of a topic, decoded.

=cut

sub gain
{
	my ($topics, $results, $name) = @_;
	my ($topic) = grep { $_->{name} eq $name } @$topics;
	return decode_utf8(
		filler($topic->{file}, $topics, $results, $name)->($topic->{gain}));
}

# The figure of a topic: { series, of, all, label, cores }, with the series that
# fit and, for a share, those that they are a share of.
sub _found
{
	my ($where, $topics, $results, $own, $name) = @_;
	my ($topic) = grep { defined $own && $_->{name} eq $own } @$topics;
	my $figure = $topic && $topic->{figures}{$name};
	refuse("$where: there is no such figure",
		'correct it, or add the figure to topic.json')
	  unless $figure;
	my ($result) =
	  grep { $_->{bench} eq $figure->{bench} && $_->{topic} eq $own }
	  @$results;
	my $find = sub {
		my ($case, $all, $measure) = @_;
		my @found = $result ? select_series($result, $measure, $case) : ();
		refuse(
			sprintf(
				'%s: figure "%s": %d figures of %s are %s (%s)',
				$topic->{file},
				$name,
				scalar @found,
				$figure->{bench},
				ref $measure ? join ' or ',
				@$measure : $measure,
				case_text($case, sort keys %$case)),
			sprintf('name %s one, or run the benchmark',
				$all ? 'at least' : 'exactly')
		) if !@found || (@found > 1 && !$all);
		return @found;
	};
	my @found = $find->(@{$figure}{qw(case all measure)});
	return {
		%$figure,
		series => \@found,
		cores => $result->{machine}{cores},
		of => defined $figure->{of}
		? [ map { $find->($_->{case}, 0, $figure->{of}) } @found ]
		: []
	};
}

# What a placeholder stands for; $figure is from _found().
sub _value
{
	my ($where, $figure, $what) = @_;
	my @series = @{ $figure->{series} };
	my (%count, @values);

	foreach my $i (0 .. $#series)
	{
		my $value = _value_of($what, $series[$i], $figure->{of}[$i], $figure);
		refuse(
			"$where: $series[$i]{measure} has no \"$what\"",
			'see PgSeries::Report::Topics for what there is'
		) unless $value && defined $value->[1];
		push @values, $value;
		$count{ $value->[1] }++;
	}
	return $values[0][1] unless $figure->{all};
	return join ', ', map { "$count{$_} $_" }
	  grep { $count{$_} } 'better', 'no difference', 'inconclusive', 'worse'
	  if $what eq 'verdict';

	# From the lowest to the highest number; other values one after the other.
	my $numbers = !grep { !looks_like_number($_->[0]) } @values;
	@values = sort { $a->[0] <=> $b->[0] } @values if $numbers;
	my @texts = grep { delete $count{$_} } map { $_->[1] } @values;
	@texts = @texts[ 0, -1 ] if $numbers && @texts > 1;
	return join $numbers ? ' to ' : ', ', @texts;
}

# The same for one series, as a value and its text; undef if there is none.
sub _value_of
{
	my ($what, $series, $of, $figure) = @_;
	my $said = figure($series);
	my $time = $series->{method} eq 'time';

	if ($what eq 'base' || $what eq 'patched')
	{
		my $median = $said->{$what}[0];
		return [ $median, quantity($series, $median) ] unless $of;
		my $percent = 100 * $median / figure($of)->{$what}[0];
		return [ $percent, number($percent) . '%' ];
	}
	my ($ratio, $case) = ($said->{ratio}, $series->{case}{$what});
	return [ $figure->{cores}, $figure->{cores} ] if $what eq 'cores';
	return defined $case ? [ $case, shown($case) ] : undef
	  if $of || $what !~ /^(?:ratio|times|verdict|pairs)\z/;
	return [ $ratio,
		$figure->{all} ? ratio($ratio) : ratio_text($series, $said) ]
	  if $what eq 'ratio';
	return $said->{verdict} eq 'better' ? [ $ratio, number($ratio) ] : undef
	  if $what eq 'times';
	return [ 0, $said->{verdict} ] if $what eq 'verdict';
	return $time ? [ $said->{n}, $said->{n} ] : undef;
}

=item worst(\%topic, \@results)

Returns the worst of all figures of a topic's benchmarks, undef if there are none:
{ text, short }, a sentence and a clause, decoded.  A count is worse if its medians
say so, a time only if its verdict does.

=cut

sub worst
{
	my ($topic, $results) = @_;
	my @own = grep { $_->{topic} eq $topic->{name} } @$results;
	my @series = map { @{ $_->{series} } } @own;
	my (@worse, %times);

	foreach my $series (@series)
	{
		my $figure = figure($series);
		my $ratio = $figure->{ratio};
		my $loss = $series->{better} eq 'lower' ? $ratio : 1 / $ratio;
		my $worse = $loss > 1 + VISIBLE;
		if ($series->{method} eq 'time')
		{
			$worse = $figure->{verdict} eq 'worse';
			$times{$_}++ foreach 'all', $figure->{verdict};
		}
		push @worse, [ $loss, $series, $figure ] if $worse;
	}
	return unless @series;

	my $text = _count(scalar @worse, 'worse', ' of ' . @series . ' figures');
	my $short = 'nothing measured is worse';
	if (@worse)
	{
		my ($most) = sort { $b->[0] <=> $a->[0] } @worse;
		my (undef, $series, $figure) = @$most;
		my $unit = unit($series);
		$unit =~ s/ per .*// if $series->{method} eq 'instructions';
		my ($verb, $how) =
		  $series->{better} eq 'lower'
		  ? ('takes', "times the $unit")
		  : ('reaches', "of the $unit");
		my $ratio = ratio_text($series, $figure);
		my @notes = map { "($_->{note})" } grep {
			my $with = $_;
			defined $with->{note} && grep { $_ == $series }
			  map  { select_series($_, $with->{measure}, $with->{case}) }
			  grep { $_->{bench} eq $with->{bench} }
			  @own
		} values %{ $topic->{figures} };
		$short = "$ratio $how";
		$text .= join ' ', '; the worst:', $series->{text}, $verb, $short,
		  @notes;
		$short .= " ($series->{text})";
	}
	$text .=
		"; of the $times{all} measured times, "
	  . _count($times{worse}, 'worse') . ' and '
	  . _count($times{inconclusive}, 'inconclusive')
	  if $times{all};
	return { text => $text, short => $short };
}

sub _count
{
	my ($n, $what, $of) = @_;
	return
		($n || 'none')
	  . ($of || '')
	  . ($n && $n > 1 ? ' are ' : ' is ')
	  . $what;
}

=item text_table(\@topics, \@results, $name)

Returns the table of a cover letter, at most 8 lines of 76 columns, as bytes: the
figures of C<letter>, for the whole series ($name is undef) the first of each
topic.

=back

=cut

sub text_table
{
	my ($topics, $results, $name) = @_;
	my @rows = ([ '', 'base', 'patched', 'patched / base' ]);

	foreach my $topic (@$topics)
	{
		my @names = @{ $topic->{letter} || [] };
		next if defined $name && $topic->{name} ne $name;
		@names = grep { defined } $names[0] unless defined $name;
		foreach my $figure (
			map {
				_found($topic->{file}, $topics, $results, $topic->{name}, $_)
			} @names)
		{
			my ($series, $label) = ($figure->{series}[0], $figure->{label});
			my $said = figure($series);
			push @rows,
			  [
				fill_label($label, $series->{case}),
				medians($series, $said),
				ratio_text($series, $said)
			  ];
		}
	}
	return '' if @rows == 1;
	my @width = map {
		my $i = $_;
		max(map { length $_->[$i] } @rows)
	} 0 .. 2;
	my $text = '';
	foreach my $row (@rows)
	{
		my $line = sprintf '%-*s  %*s  %*s  %s',
		  (map { ($width[$_], $row->[$_]) } 0 .. 2), $row->[3];
		refuse(
			"the table of the letter has a line of more than "
			  . LETTER_WIDTH
			  . " columns: $line",
			'give the figure a shorter label in topic.json'
		) if length $line > LETTER_WIDTH;
		$text .= "$line\n";
	}
	$text =~ s/\x{b5}s/us/g;
	return encode_utf8($text);
}

1;
