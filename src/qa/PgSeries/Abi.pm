package PgSeries::Abi;

use strict;
use warnings FATAL => 'all';

use PgSeries::Util qw(fail find_tool read_file run_status);

=pod

=head1 NAME

PgSeries::Abi - what extensions and data see of the server is as before: pgseries check --abi

=head1 DESCRIPTION

Compares the servers base and patched by abidiff (libabigail, by Dodji Seketeli): the
functions and variables that they export, and the types in the headers that they
install.  What differs must be allowed by a section of src/qa/abi-allowed.ini, in the
format of abidiff's suppression files; its label is the reason why it does no harm.

Patches must not change the catalogs that initdb makes, nor the numbers that tell one
format of files from another.

=cut

my $FORMATS =
  qr/^[-+].*\b(?:CATALOG_VERSION_NO|PG_CONTROL_VERSION|XLOG_PAGE_MAGIC|PGSTAT_FILE_FORMAT_ID)\b/m;
my $CATALOGS =
  qr{^\+\+\+ b/(src/(?:include/catalog/\S+|backend/catalog/\S+\.sql))$}m;

# The command pgseries check --abi.  Exit status 1 if something differs.
sub compare
{
	my ($c) = @_;
	my $allowed = $c->config->top . '/src/qa/abi-allowed.ini';
	check_reasons($allowed);
	my @findings = files($c->series->patches);
	my @builds = map { $c->builds->ensure($_) } qw(base patched);
	my @headers =
	  map { ("--headers-dir$_", include_dir($builds[ $_ - 1 ])) } 1, 2;
	my $status = run_status(
		[
			find_tool('abidiff'), qw(--leaf-changes-only --no-added-syms),
			@headers, '--suppressions',
			$allowed, map { "$_->{inst}/bin/postgres" } @builds
		],
		out => \my $report);

	# The lowest bits are trouble, the next a difference.
	fail(2, "abidiff failed (exit status $status)", 'rerun the same command')
	  if $status & 3;
	push @findings, $report if $status;
	$c->say(
		@findings
		? join("\n", @findings)
		: 'the binary interface, catalogs and files are those of base');
	return @findings ? 1 : 0;
}

# Arguments are checked before anything is built.
sub check_tools
{
	fail(2, 'abidiff is missing', 'run: ./configure --install-deps')
	  unless find_tool('abidiff');
	return;
}

# What patches change of catalogs and file formats.
sub files
{
	my (@patches) = @_;
	my @found;
	for my $patch (@patches)
	{
		my $text = read_file($patch->{path});
		push @found, "$patch->{file}: changes $1" while $text =~ /$CATALOGS/g;
		push @found, "$patch->{file}: changes the number of a file format"
		  if $text =~ $FORMATS;
	}
	return @found;
}

sub check_reasons
{
	my ($file) = @_;
	for my $section (split /^(?=\[)/m, read_file($file))
	{
		next unless $section =~ /^\[/;
		fail(
			2,
			"$file: no reason for\n$section",
			'add "label = REASON" to that section'
		) unless $section =~ /^\s*label\s*=\s*\S/m;
	}
	return;
}

sub include_dir
{
	my ($b) = @_;
	my ($dir) = grep { -d }
	  map { "$b->{inst}/include/$_" } qw(postgresql/server server);
	return $dir;
}

1;
