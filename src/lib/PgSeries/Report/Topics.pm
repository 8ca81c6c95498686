package PgSeries::Report::Topics;

=pod

=head1 NAME

PgSeries::Report::Topics - the page with a plot for each topic, and the figures
of letters

=head1 SYNOPSIS

  use PgSeries::Report::Topics qw(check_topics filler read_topics);

  my $topics = read_topics('benchmarks/topics.json');
  check_topics($topics, \@results, \@patches);
  my $fill = filler($file, $topics, \@results, 'indexes');
  print $fill->('planning takes {plan:patched} instructions');

=head1 DESCRIPTION

benchmarks/topics.json says what the page shows of each topic of the series:

  title      heading
  plot       { bench, file }: one of the plots of that benchmark
  figures    { NAME => { bench, measure, case } }: each exactly one figure, as
             in readme
  letter     the same, for figures that only cover letters have; may be missing
  sentence   a text, or a list of texts, which semicolons join
  worst      the same: what gets slower, and by how much

The texts have no digits: C<{NAME:WHAT}> stands for something of a figure, which
the page takes from the results.  WHAT is

  base, patched   the median; nanoseconds as a time with its unit
  ratio           patched / base; for time with the 95% interval
  percent         the same as "31.9% less" or "4.2% more"
  verdict         see figure() in PgSeries::Report::Results
  pairs           for time: the number of pairs of runs
  cores           of the machine
  KEY             the value of this key of the figure's case

A figure with C<all> (true) is all that fit, one or more; C<measure> may then be a
list.  What stands for it is a range, as "0.427 to 0.587", without intervals, and
the verdicts with their numbers, as "59 better, 1 worse".  A figure with C<of>,
the name of another measure, is its share of that one in the same case: C<base>
and C<patched> are percentages.

A text with a figure that was not measured is left out, and the page says so; a
topic that the file does not have is left out, too.  Where the page must be
complete, both are errors.

=head1 FUNCTIONS

All raise a L<PgSeries::Error> with code 2 that names the file and the remedy.

=over

=cut

use strict;
use warnings FATAL => 'all';

use Exporter                  qw(import);
use File::Basename            qw(dirname);
use PgSeries::Report::Markup  qw(bytes relative_path);
use PgSeries::Report::Results qw(builds case_text dates figure grouped machine
  mixed number ratio ratio_text refuse select_series texts);
use PgSeries::Util qw(info slurp_json);
use Scalar::Util   qw(looks_like_number);

our @EXPORT_OK =
  qw(check_topics filler measured_topics read_topics topics_page);

my $placeholder = qr/\{([\w-]+):([\w-]+)\}/;
my $letter_placeholder = qr/\{(?:([\w-]+)\/)?([\w-]+):([\w-]+)\}/;

=item read_topics($file)

Returns the contents of topics.json, checked; benchmarks are directories beside
the file.

=cut

sub read_topics
{
	my ($file) = @_;
	my $topics = slurp_json($file);
	my $hash = sub { ref $_[0] eq 'HASH' };
	my $text = sub { ref $_[0] eq 'ARRAY' ? 0 : scalar texts($_[0]) };
	my $bad = sub { refuse("$file: $_[0]", 'correct it') };

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
		$topic->{letter} = {} unless defined $topic->{letter};
		$bad->("$name: \"letter\" is not an object")
		  unless $hash->($topic->{letter});
		my %of_page = %{ $topic->{figures} };
		my ($twice) = grep { $of_page{$_} } sort keys %{ $topic->{letter} };
		$bad->("$name: \"figures\" and \"letter\" have a figure \"$twice\"")
		  if defined $twice;
		my %figures = (%of_page, %{ $topic->{letter} });
		foreach my $figure (sort keys %figures)
		{
			$bad->("$name: figure \"$figure\" has no \"case\"")
			  unless $hash->($figures{$figure})
			  && $hash->($figures{$figure}{case});
			$bad->("$name: figure \"$figure\": \"of\" is not a text")
			  unless !exists $figures{$figure}{of}
			  || $text->($figures{$figure}{of});
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
				  unless $text->($object->{$key})
				  || ( $key eq 'measure'
					&& $object->{all}
					&& texts($object->{$key}));
			}
			$bad->("$name: $what: no benchmark \"$object->{bench}\"")
			  unless $object->{bench} =~ /^\w[\w.-]*\z/a
			  && -d dirname($file) . "/$object->{bench}";
		}
		foreach my $key (qw(sentence worst))
		{
			$topic->{$key} = [ texts($topic->{$key}) ];
			$bad->("$name: \"$key\" is not a text or a list of texts")
			  unless @{ $topic->{$key} };
			foreach my $template (@{ $topic->{$key} })
			{
				my ($left, @names) = _placeholders($template);
				my ($stranger) = grep { !$of_page{$_} } @names;
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
		my ($unused) = grep { !$used{$_} } sort keys %of_page;
		$bad->("$name: no text has the figure \"$unused\"")
		  if defined $unused;
	}
	return { file => $file, topics => $topics };
}

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
	measured_topics($topics, $results, $patches, 1);
	return;
}

=item measured_topics(\%topics, \@results, \@patches, $complete)

Returns the topics in the order of the series: { name, title, bench, plot,
sentence, worst }.  The last two are lists for an inline; plot is undef if there
are no results of the benchmark.  Unless the page must be complete, a topic that
only the series has, or only topics.json, is left out with a line on standard
error.

=cut

sub measured_topics
{
	my ($topics, $results, $patches, $complete) = @_;
	my ($file, %topics) = ($topics->{file}, %{ $topics->{topics} });
	my %result = map { $_->{bench} => $_ } @$results;
	my (%seen, @topics);

	foreach my $name (map { $_->{topic} } @$patches)
	{
		next if $seen{$name}++;
		my $topic = $topics{$name};
		if (!$topic)
		{
			_left_out($complete, "$file says nothing of the topic $name",
				'add it');
			next;
		}
		my ($bench, $plot) = @{ $topic->{plot} }{qw(bench file)};
		my @plots = grep { $_->{file} eq $plot }
		  $result{$bench} ? @{ $result{$bench}{plots} } : ();
		refuse("$file: $name: $bench has " . @plots . " plots named $plot",
			'name a plot that its meta.json has once')
		  if $result{$bench} && @plots != 1;
		my %figures = (%{ $topic->{figures} }, %{ $topic->{letter} });
		my %series = map {
			$_ =>
			  scalar _series("$file: $name", $_, $figures{$_}, \%result,
				$complete)
		} sort keys %figures;
		push @topics, {
			name => $name,
			title => $topic->{title},
			bench => $bench,
			plot => $plots[0],
			map {
				$_ => [ _sentence("$file: $name", $topic->{$_}, \%series) ]
			} qw(sentence worst)
		};
	}
	foreach my $unknown (grep { !$seen{$_} } sort keys %topics)
	{
		_left_out($complete,
			"$file has a topic $unknown, which is not in the series",
			'remove it');
	}
	return @topics;
}

# A topic that cannot be shown.
sub _left_out
{
	my ($complete, $message, $remedy) = @_;

	refuse($message, $remedy) if $complete;
	info(bytes("pgseries: $message; $remedy"));
	return;
}

# What a figure of topics.json is: { series, all, of, machine }, with the series
# that fit and, for a share, those that they are a share of.  Returns undef if it
# was not measured.
sub _series
{
	my ($where, $name, $figure, $results, $complete) = @_;
	my $result = $results->{ $figure->{bench} };
	my $find = sub {
		my ($case, $all, @measures) = @_;
		my @found =
		  $result ? map { select_series($result, $_, $case) } @measures : ();

		refuse(
			sprintf(
				'%s: figure "%s": %d figures of %s are %s (%s)',
				$where, $name,
				scalar @found, $figure->{bench},
				join(' or ', @measures), case_text($case, sort keys %$case)),
			sprintf('name %s one, or run the benchmark',
				$all ? 'at least' : 'exactly')
		) if (@found > 1 && !$all) || ($complete && !@found);
		return @found;
	};
	my @found =
	  $find->(@{$figure}{qw(case all)}, texts($figure->{measure}));
	my @of =
	  defined $figure->{of}
	  ? map { $find->(_defined($_->{case}), 0, $figure->{of}) } @found
	  : ();

	return if !@found || (defined $figure->{of} && @of < @found);
	return {
		series => \@found,
		all => $figure->{all},
		of => \@of,
		machine => $result->{machine}
	};
}

sub _defined
{
	my ($case) = @_;
	return {
		map  { $_ => $case->{$_} }
		grep { defined $case->{$_} } keys %$case
	};
}

# The templates whose figures were measured, as one sentence for an inline.
sub _sentence
{
	my ($where, $templates, $series) = @_;
	my @texts;

	foreach my $template (@$templates)
	{
		my (undef, @names) = _placeholders($template);
		next if grep { !$series->{$_} } @names;
		my $text = $template;
		$text =~ s/$placeholder/_value($where, $1, $2, $series->{$1})/ge;
		push @texts, $text;
	}
	my $note = { text => 'not measured yet', class => 'missing' };
	return ($note) unless @texts;
	my $sentence = join '; ', @texts;
	return $sentence . '.' if @texts == @$templates;
	$note->{text} = 'the rest is not measured yet';
	return ("$sentence; ", $note, '.');
}

# What a placeholder stands for; $figure is from _series().
sub _value
{
	my ($where, $name, $what, $figure) = @_;
	my @series = @{ $figure->{series} };
	my @of = @{ $figure->{of} };
	my (%count, @values);

	foreach my $i (0 .. $#series)
	{
		my $value = _value_of($what, $series[$i], $of[$i], $figure);
		refuse(
			"$where: {$name:$what}: $series[$i]{measure} has no case with "
			  . "\"$what\"",
			@of
			? 'of a share, write base, patched, pairs, cores or a key of the case'
			: 'write base, patched, ratio, percent, verdict, pairs, cores or a '
			  . 'key of the case') unless $value;
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

# The same for one series, as a value and its text; undef if there is none.  $of is
# the series that this one is a share of, or undef.
sub _value_of
{
	my ($what, $series, $of, $figure) = @_;
	my $said = figure($series);
	my $time = $series->{method} eq 'time';
	my $value = $series->{case}{$what};

	if ($what eq 'base' || $what eq 'patched')
	{
		my $median = $said->{$what}[0];
		if ($of)
		{
			my $percent = 100 * $median / figure($of)->{$what}[0];
			return [ $percent, number($percent) . '%' ];
		}
		return [ $median, _duration($median) ] if $series->{unit} =~ /^ns\b/;
		return [ $median, grouped($median) ]
		  if $series->{method} eq 'count' && $median =~ /^\d+\z/;
		return [ $median, number($median, !$time) ];
	}
	if (!$of && ($what eq 'ratio' || $what eq 'percent'))
	{
		my $ratio = $said->{ratio};
		my $text = $what eq 'ratio' ? \&ratio : \&_percent;
		return [ $ratio, $text->($ratio) ] if !$time || $figure->{all};
		return [ $ratio, ratio_text($series, $said) ] if $what eq 'ratio';
		return [ $ratio, $text->($ratio) . ', too few pairs' ]
		  unless defined $said->{lo};
		my $bounds = join ', ', map { $text->($_) } @{$said}{qw(lo hi)};
		return [ $ratio, $text->($ratio) . " [$bounds]" ];
	}
	$value = $said->{verdict} if !$of && $what eq 'verdict';
	$value = $said->{n} if $what eq 'pairs' && $time;
	$value = $figure->{machine}{cores} if $what eq 'cores';
	return unless defined $value;
	return [ $value, looks_like_number($value) ? grouped($value) : $value ];
}

sub _percent
{
	my ($ratio) = @_;
	my $change = abs($ratio - 1) * 100;
	return ($change < 0.0005 ? 0      : number($change)) . '% '
	  . ($ratio < 1          ? 'less' : 'more');
}

sub _duration
{
	my ($ns) = @_;
	foreach my $unit ([ 1e9, 's' ], [ 1e6, 'ms' ], [ 1e3, "\x{b5}s" ])
	{
		return number($ns / $unit->[0]) . " $unit->[1]"
		  if $ns >= $unit->[0];
	}
	return number($ns) . ' ns';
}

=item filler($file, \%topics, \@results, $topic)

Returns a function that fills the placeholders of a text, which is from the cover
letter $file of a topic, or of the whole set if that is undef.  In a letter, the
figures of any topic are C<{TOPIC/NAME:WHAT}>, those of its own topic
C<{NAME:WHAT}>.  The function returns bytes, with "us" for microseconds, and raises
an error if a brace is no placeholder, if topics.json has no such figure, or if
that was not measured.

=cut

sub filler
{
	my ($file, $topics, $results, $own) = @_;
	my %result = map { $_->{bench} => $_ } @$results;

	return sub {
		my ($text) = @_;
		(my $left = $text) =~ s/$letter_placeholder//g;
		refuse("$file: \"$1\" is no {NAME:WHAT}",
			'braces are for figures of benchmarks/topics.json: correct it')
		  if $left =~ /(\{\S*|\S*\})/;
		$text =~ s{$letter_placeholder}
		  {_letter_value($file, $topics, \%result, defined $1 ? $1 : $own,
			$2, $3)}ge;
		return $text;
	};
}

sub _letter_value
{
	my ($letter, $topics, $results, $topic, $name, $what) = @_;
	my $file = $topics->{file};

	refuse("$letter: {$name:$what} names no topic", 'write {TOPIC/NAME:WHAT}')
	  unless defined $topic;
	my $known = $topics->{topics}{$topic};
	refuse("$letter: {$name:$what}: $file has no topic \"$topic\"",
		'correct the name, or add it')
	  unless $known;
	my $figure = $known->{figures}{$name} || $known->{letter}{$name};
	refuse(
		"$letter: {$name:$what}: $file has no figure \"$name\" of the topic "
		  . $topic,
		'correct the name, or add the figure to "letter" of the topic'
	) unless $figure;
	my $value = _value($letter, $name, $what,
		_series("$file: $topic", $name, $figure, $results, 1));
	$value =~ s/\x{b5}s/us/g;
	return bytes($value);
}

=item topics_page(%options)

Returns the blocks of the page: for each topic a plot, a sentence and a worst
case.  Options:

  topics     what measured_topics() returned
  results    the results
  plots      their blocks, by the hash of the plot; undef without gnuplot
  documents  directory of the topics' documents: TOPIC.md is linked if it exists
  output     directory of the page

=back

=cut

sub topics_page
{
	my (%opt) = @_;
	my $results = $opt{results};
	my @blocks = (
		[ h => 1, 'The topics, measured' ],
		[
			p => [
				builds($results)
				  . '  A ratio of times is the median over pairs of runs, '
				  . 'not the quotient of the two medians beside it.  It '
				  . 'has its 95% interval in brackets and a verdict: '
				  . '"inconclusive" if the noise of the machine allows no '
				  . 'other.  All figures: ',
				{
					text => 'report',
					href => { md => 'report.md', html => 'index.html' }
				}
			]
		],
		mixed($results));

	foreach my $topic (@{ $opt{topics} })
	{
		my $plot = $topic->{plot};
		my $block = $plot && $opt{plots} && $opt{plots}{$plot};
		my $document = "$opt{documents}/$topic->{name}.md";
		my $title =
		  $plot
		  ? "\"$plot->{title}\""
		  : "of the benchmark $topic->{bench}";

		push @blocks,
		  [ h => 2, $topic->{title}, "topic-$topic->{name}" ],
		  [ p => [ map { ref $_ ? $_ : ucfirst } @{ $topic->{sentence} } ] ];
		if    ($block) { push @blocks, $block; }
		elsif ($opt{plots})
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
				(   -f $document
					? ( '  More: ',
						{
							text => "doc/$topic->{name}.md",
							href => relative_path($document, $opt{output})
						})
					: ())
			]
		  ];
	}

	my @dates = sort map { dates($_) } @$results;
	s/ .*// foreach @dates;
	my %scales = map { $_->{scale} => 1 } @$results;
	return (
		@blocks,
		[ h => 2, 'Machine', 'machine' ],
		machine($results),
		[
				p => 'Scale '
			  . join(' and ', sort keys %scales)
			  . ", measured $dates[0]"
			  . ($dates[0] eq $dates[-1] ? '.' : " to $dates[-1].")
		]);
}

=head1 TESTS

src/test/report.t

=cut

1;
