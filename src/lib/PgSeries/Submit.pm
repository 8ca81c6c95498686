package PgSeries::Submit;

use strict;
use warnings FATAL => 'all';

use File::Path                qw(remove_tree);
use PgSeries::Git             qw(git_status);
use PgSeries::Report::Results qw(read_results);
use PgSeries::Report::Topics  qw(filler read_topics text_table);
use PgSeries::Util            qw(fail make_dir on_exit read_file write_file);
use Text::Wrap                qw(wrap);

=pod

=head1 NAME

PgSeries::Submit - a set of patches ready to mail

=cut

sub check_arguments
{
	my ($c) = @_;
	my $o = $c->{option};
	PgSeries::CLI::usage_error('submit needs a version', 'submit')
	  unless ($o->{v} // 0) > 0;
	PgSeries::CLI::usage_error('submit needs a topic', 'submit')
	  unless defined $o->{topic};
	$c->series->topic($_) for $c->topics;
	return;
}

# The command pgseries submit.
sub command
{
	my ($c) = @_;
	my $o = $c->{option};
	my @sets = map { check_set($c, $o->{v}, $_, $o->{author}) } $c->topics;
	my $lint = $c->run_lint;
	fail(
		1,
		'lint has findings',
		'correct them, then submit again',
		PgSeries::Lint::format_text($lint)) if @{ $lint->{findings} };
	my @said = $c->series->round_trip;
	fail(
		1,
		'the series does not survive apply and export',
		'run: pgseries apply && pgseries export',
		join("\n", @said)) if @said;
	my @dirs = map { write_set($c, $_) } @sets;
	return $c->say(
		join('', map { "$_: read cover-letter, then mail the set\n" } @dirs));
}

# Returns what write_set() writes for a topic, or raises an error if the set cannot
# be mailed.  $author is "NAME <MAIL>"; if it is undef, the git configuration of the
# checkout is asked for pgseries.author.
#
# The letter is made from patches/cover/TOPIC, where @BASE@ stands for the upstream
# version, "[PATCH 0/N]" in the subject for the set's version and size, a line
# @RESULTS@ for a table of figures, and {NAME:WHAT} for a figure, see
# fill_letter().  It is checked as it is sent: no line is longer than 76 columns, no
# placeholder is left, and the topics that this one needs are named, as: topic "NAME".
sub check_set
{
	my ($c, $version, $topic, $author) = @_;
	my ($config, $series) = ($c->config, $c->series);
	my @patches = $series->topic($topic);
	my %set = (
		version => $version,
		topic => $topic,
		author => author($config, $author),
		dir => $config->build . "/submit/v$version-$topic");
	fail(
		2,
		"$set{dir} exists",
		'choose the next version, or remove it if it was never mailed'
	) if -e $set{dir};
	my $source = $config->top . "/patches/cover/$topic";
	my $text = read_file($source);
	my $prefix = prefix($version, 0, scalar @patches);
	$text =~
	  s/^Subject: \[PATCH 0\/N\] /From: $set{author}\nSubject: $prefix /
	  or fail(
		2,
		"$source does not begin with \"Subject: [PATCH 0/N] \"",
		'write that line');
	$text =~ s/\@BASE\@/$series->upstream->version/ge;
	my @results = $text =~ /[{}]|^\@RESULTS\@$/m ? read_results($config) : ();
	$text = fill_letter($config, $source, $text, \@results, $topic);
	$text =~
	  s/^\@RESULTS\@\n/text_table(read_topics($config), \@results, $topic)/me;
	fail(2, "$source: the placeholder $1 is left", 'correct its name')
	  if $text =~ /(\@[A-Z]+\@)/;
	fail(
		2,
		"$source: a line has more than 76 columns when it is sent: $1",
		'break it, or shorten the labels of the figures'
	) if $text =~ /^(.{77,})$/m;

	for my $needed (@{ $series->about($topic)->{needs} })
	{
		fail(
			2,
			"$source does not say that the patches need the topic \"$needed\"",
			"write that they apply after those of the topic \"$needed\""
		) unless $text =~ /topics?\s[^.]*"\Q$needed\E"/;
	}
	return { %set, letter => $text };
}

# Whoever sends the set.
sub author
{
	my ($config, $author) = @_;

	# The checkout may be another user's than the tool's.
	git_status(
		$config->top,
		[qw(-c safe.directory=* config pgseries.author)],
		out => \$author,
		err => \my $err) unless defined $author;
	chomp $author;
	my $remedy =
	  'use --author="NAME <MAIL>", or run: git config pgseries.author "NAME <MAIL>"';
	fail(2, 'submit does not know who sends the set', $remedy)
	  if $author eq '';
	fail(2, "\"$author\" is not of the form NAME <MAIL>", $remedy)
	  unless $author =~ /^[^<>@\n]*[^<>@\s] <[^<>@\s]+@[^<>@\s]+>\z/;
	return $author;
}

# Writes what check_set() returned to BUILD/submit/vN-TOPIC: vN-0001-....patch and so
# on, numbered from 1, and cover-letter.  The author stands for the "pgseries
# developers" that the tool makes commits as.  Sends nothing.  An existing set of
# the same name is never changed: it may have been mailed.  Returns the directory.
sub write_set
{
	my ($c, $set) = @_;
	my $series = $c->series;
	my ($version, $dir) = @$set{qw(version dir)};
	my $temp = "$dir.new";
	remove_tree($temp);
	make_dir($temp);
	my $forget = on_exit(sub { remove_tree($temp); });

	# As they apply here: on plain upstream, after the topics that they need.
	my @patches = $series->topic($set->{topic});
	my @all = $series->alone($set->{topic});
	my @texts = $series->format($series->commit_of(@all));
	my $number = 0;
	for my $new (splice @texts, @all - @patches)
	{
		$number++;
		my ($slug) = $new->{name} =~ /^\d+-(.*)$/;
		my $prefix = prefix($version, $number, scalar @patches);
		my $text = $new->{text};
		$text =~ s/^Subject: \[PATCH\]/Subject: $prefix/m;
		$text =~
		  s/^From: pgseries developers <pgseries\@localhost>$/From: $set->{author}/m;
		write_file(sprintf('%s/v%d-%04d-%s', $temp, $version, $number, $slug),
			$text);
	}
	write_file("$temp/cover-letter", $set->{letter});
	rename $temp, $dir or fail(2, "cannot rename $temp: $!", "remove $temp");
	$forget->();
	return $dir;
}

# Returns the text of the letter $file with the figures in place of its
# placeholders, see filler() in PgSeries::Report::Topics.  A paragraph or an item of
# a list ("- ", not indented) that has placeholders is broken into lines of at most
# 72 columns.  All other lines, such as the subject and those of an indented table,
# remain as they are.
sub fill_letter
{
	my ($config, $file, $text, $results, $topic) = @_;
	return $text unless $text =~ /[{}]/;
	my $fill = filler($file, read_topics($config), $results, $topic);
	my $line = qr/(?!- |From: |Subject: |\@[A-Z]+\@\n)\S.*\n/;
	my $rewrap = sub {
		my ($part) = @_;
		return $part =~ /[{}]/ ? wrapped($fill->($part)) : $part;
	};
	$text =~ s/^($line+|- .*\n(?:  \S.*\n)*)/$rewrap->($1)/gme;
	return $fill->($text);
}

# The paragraph or item in lines of at most 72 columns.  A sentence that ended at
# the end of a line gets two blanks after it, as the others have.
sub wrapped
{
	my ($text) = @_;
	my ($mark) = $text =~ s/^(- )// ? $1 : '';
	$text =~ s/(?<=[.?!])([)"]?)\n *(?=.)/$1  /g;
	$text =~ s/\n *(?=.)/ /g;
	local $Text::Wrap::columns = 73;
	local $Text::Wrap::break = '\s+';
	local $Text::Wrap::huge = 'overflow';
	local $Text::Wrap::unexpand = 0;
	return wrap($mark, ' ' x length $mark, $text) =~ s/ +$//mgr;
}

# As git format-patch writes it.
sub prefix
{
	my ($version, $number, $count) = @_;
	return sprintf '[PATCH v%d %0*d/%d]', $version, length $count, $number,
	  $count;
}

1;
