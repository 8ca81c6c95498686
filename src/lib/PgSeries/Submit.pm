package PgSeries::Submit;

use strict;
use warnings FATAL => 'all';

use File::Glob qw(:bsd_glob);
use File::Path qw(remove_tree);
use PgSeries::Bench;
use PgSeries::Report;
use PgSeries::Util qw(fail make_dir on_exit read_file write_file);

=pod

=head1 NAME

PgSeries::Submit - a set of patches ready to mail

=head1 FUNCTIONS

=over

=item write_set($context, $version, $topic)

Writes BUILD/submit/vN (or vN-TOPIC): vN-0001-....patch and so on, numbered from
1; cover-letter, from patches/cover-letter (or patches/cover/TOPIC).  In that,
C<@BASE@> stands for the upstream version, "[PATCH 0/N]" in the subject for the
set's version and size, and lines C<@PATCHES@> and C<@RESULTS@> for the list of
patches and their figures of benchmarks/results.
Sends nothing.  An existing set of the same name is never changed: it may have
been mailed.  Returns the directory.

=cut

sub write_set
{
	my ($c, $version, $topic) = @_;
	my ($dir, $source, @patches) = check_set($c, $version, $topic);
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
	my @results = PgSeries::Bench::read_results($c->config,
		sort glob($c->config->top . '/benchmarks/results/*.json'));
	@results = grep { $_->{topic} eq $topic } @results if defined $topic;
	my $letter = read_file($source);
	my $about = '';
	for my $i (0 .. $#list)
	{
		$about .= "  $names[$i]\n    $list[$i]{subject}\n";
	}
	my $table = PgSeries::Report::text_table(\@results, \@list);
	my $prefix = prefix($version, 0, scalar @patches);
	$letter =~ s/^Subject: \[PATCH 0\/N\]/Subject: $prefix/;
	$letter =~ s/\@BASE@/$series->upstream->actual_version/ge;
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

=back

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
	my $name = "v$version" . (defined $topic ? "-$topic" : '');
	my $dir = $c->config->build . "/submit/$name";
	fail(2, "$dir exists",
		'choose the next version, or remove it if it was never mailed')
	  if -e $dir;
	return ($dir, $source, @patches);
}

# As git format-patch writes it.
sub prefix
{
	my ($version, $number, $count) = @_;
	return sprintf '[PATCH v%d %0*d/%d]', $version, length $count, $number,
	  $count;
}

1;
