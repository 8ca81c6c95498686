package PgSeries::Submit;

use strict;
use warnings FATAL => 'all';

use File::Path                qw(remove_tree);
use PgSeries::Report::Results qw(read_results);
use PgSeries::Report::Topics  qw(filler read_topics text_table);
use PgSeries::Util            qw(fail make_dir on_exit read_file write_file);

=pod

=head1 NAME

PgSeries::Submit - a set of patches ready to mail

=head1 FUNCTIONS

=over

=item write_set($context, $version, $topic)

Writes BUILD/submit/vN (or vN-TOPIC): vN-0001-....patch and so on, numbered from
1; cover-letter, from patches/cover-letter (or patches/cover/TOPIC).  In that,
C<@BASE@> stands for the upstream version, "[PATCH 0/N]" in the subject for the
set's version and size, lines C<@PATCHES@> and C<@RESULTS@> for the list of
patches and their figures of benchmarks/results, and C<{NAME:WHAT}> for a figure,
see fill_letter().
Sends nothing.  An existing set of the same name is never changed: it may have
been mailed.  Returns the directory.

=cut

sub write_set
{
	my ($c, $version, $topic) = @_;
	my ($dir, $source, @patches) = check_set($c, $version, $topic);
	my @results = read_results($c->config);
	my $series = $c->series;
	my $temp = "$dir.new";
	remove_tree($temp);
	make_dir($temp);
	my $forget = on_exit(sub { remove_tree($temp); });

	# As they apply here: on plain upstream, in this order.
	my $commit = $series->commit_of(@patches);
	my $number = 0;
	my @names;
	for my $new ($series->format($commit))
	{
		$number++;
		my ($slug) = $new->{name} =~ /^\d+-(.*)$/;
		my $prefix = prefix($version, $number, scalar @patches);
		(my $text = $new->{text}) =~ s/^Subject: \[PATCH\]/Subject: $prefix/m;
		push @names, sprintf 'v%d-%04d-%s', $version, $number, $slug;
		write_file("$temp/$names[-1]", $text);
	}
	my @list = $series->summaries(@patches);
	my $letter = read_file($source);
	my $about = '';
	for my $i (0 .. $#list)
	{
		$about .= "  $names[$i]\n    $list[$i]{subject}\n";
	}
	my $table = text_table(read_topics($c->config), \@results, $topic);
	my $prefix = prefix($version, 0, scalar @patches);
	$letter =~ s/^Subject: \[PATCH 0\/N\]/Subject: $prefix/;
	$letter =~ s/\@BASE@/$series->upstream->actual_version/ge;
	$letter = fill_letter($c->config, $source, $letter, \@results, $topic);
	$letter =~ s/\@PATCHES@\n/$about/g;
	$letter =~ s/\@RESULTS@\n/$table/g;
	write_file("$temp/cover-letter", $letter);
	rename $temp, $dir or fail(2, "cannot rename $temp: $!", "remove $temp");
	$forget->();
	return $dir;
}

=item check_set($context, $version, $topic)

Raises an error if the set cannot be written.  Returns what write_set needs: the
directory, the letter's file, the patches.

=cut

sub check_set
{
	my ($c, $version, $topic) = @_;
	fail(2, "v$version is not a version", 'use -v1, -v2, ...')
	  if $version < 1;
	my $series = $c->series;
	my @patches = defined $topic ? $series->topic($topic) : $series->patches;
	fail(2, 'the series has no patches', 'see: pgseries status')
	  unless @patches;
	my $source =
	  $c->config->patches
	  . (defined $topic ? "/cover/$topic" : '/cover-letter');
	fail(2, "there is no cover letter $source", 'write it') unless -f $source;
	fail(
		2,
		"$source does not begin with \"Subject: [PATCH 0/N] \"",
		'write that line'
	) unless read_file($source) =~ /^Subject: \[PATCH 0\/N\] /;
	fill_letter($c->config, $source, read_file($source),
		[ read_results($c->config) ], $topic);
	my $name = "v$version" . (defined $topic ? "-$topic" : '');
	my $dir = $c->config->build . "/submit/$name";
	fail(2, "$dir exists",
		'choose the next version, or remove it if it was never mailed')
	  if -e $dir;
	return ($dir, $source, @patches);
}

=item fill_letter($config, $file, $text, \@results, $topic)

Returns the text of the letter $file with the figures in place of its
placeholders, see filler() in L<PgSeries::Report::Topics>; $topic is undef for the
whole set.  A paragraph or an item of a list (C<- >, not indented) that has
placeholders is broken into lines of at most 72 columns.  All other lines, such as
the subject and those of an indented table, remain as they are.

=back

=cut

sub fill_letter
{
	my ($config, $file, $text, $results, $topic) = @_;
	return $text unless $text =~ /[{}]/;
	my $fill = filler($file, read_topics($config), $results, $topic);
	my @parts;

	for my $line (split /^/, $text)
	{
		if (@parts && continues($parts[-1], $line)) { $parts[-1] .= $line; }
		else { push @parts, $line; }
	}
	for (grep { /[{}]/ } @parts)
	{
		$_ = $fill->($_);
		$_ = wrapped($_) if /^\S/ && !/^Subject: /;
	}
	return join '', @parts;
}

# The line belongs to the paragraph, or to the item of a list.
sub continues
{
	my ($part, $line) = @_;
	return 0 if "$part$line" =~ /^(Subject: |\@\w+\@$)/m;
	return $line =~ /^  \S/ if $part =~ /^- /;
	return $part =~ /^\S/ && $line =~ /^(?!- )\S/;
}

# The paragraph or item in lines of at most 72 columns.  A sentence that ended at
# the end of a line gets two blanks after it, as the others have.
sub wrapped
{
	my ($text) = @_;
	my ($mark) = $text =~ s/^(- )// ? $1 : '';
	my $indent = ' ' x length $mark;
	$text =~ s/(?<=[.?!])([)"]?)\n/$1  /g;
	my @lines = ($mark);
	my $blanks = '';

	for my $part (split /(\s+)/, $text)
	{
		if ($part =~ /^\s/)
		{
			$blanks = $part =~ /^  / ? '  ' : ' ';
			next;
		}
		if (length "$lines[-1]$blanks$part" > 72 && $blanks ne '')
		{
			push @lines, $indent;
			$blanks = '';
		}
		$lines[-1] .= "$blanks$part";
	}
	return join '', map { "$_\n" } @lines;
}

# As git format-patch writes it.
sub prefix
{
	my ($version, $number, $count) = @_;
	return sprintf '[PATCH v%d %0*d/%d]', $version, length $count, $number,
	  $count;
}

1;
