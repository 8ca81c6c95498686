package PgSeries::Lint::Patch;

use strict;
use warnings FATAL => 'all';

use PgSeries::Util qw(read_file);

=pod

=head1 NAME

PgSeries::Lint::Patch - a patch file, taken apart with its line numbers

=head1 DESCRIPTION

The patch, as "pgseries export" writes it, each of its files and each line is a hash
whose C<file> and C<line> say where it stands in patches/.

  patch   path, message (without the summary), files
  file    path, new, deleted, rows
  row     kind ("+", "-" or " "), text

=cut

# Reads the file; $name is what findings call it.
sub new
{
	my ($class, $path, $name) = @_;
	my ($head, $diff) = split /^(?=diff --git )/m, read_file($path), 2;
	my ($message) = $head =~ /\n\n(.*?)^---$/ms;
	my $self = bless {
		path => $path,
		file => $name,
		line => 1,
		message => $message // '',
		files => [],
	}, $class;
	my $number = $head =~ tr/\n//;
	my $f;

	for (split /\n/, $diff // '')
	{
		my %at = (file => $name, line => ++$number);
		if (m{^diff --git a/.+ b/(.+)})
		{
			$f = { %at, path => $1 };
			push @{ $self->{files} }, $f;
		}
		elsif (/^@@ /) { $f->{rows} ||= []; }
		elsif ($f->{rows})
		{
			my ($kind, $text) = /^(.)(.*)/;
			push @{ $f->{rows} }, { %at, kind => $kind, text => $text };
		}
		elsif (/^(new|deleted) file mode/) { $f->{$1} = 1; }
	}
	return $self;
}

# The files whose path matches.
sub files
{
	my ($self, $path) = @_;
	return grep { $_->{path} =~ $path } @{ $self->{files} };
}

# The lines of a kind in files whose path matches.
sub rows
{
	my ($self, $kind, $path) = @_;
	return grep { $_->{kind} eq $kind }
	  map { @{ $_->{rows} || [] } } $self->files($path);
}

# Does the patch add a line that matches $text to a file whose path matches
# $path?
sub adds
{
	my ($self, $path, $text) = @_;
	return scalar grep { $_->{text} =~ $text } $self->rows('+', $path);
}

1;
