package PgSeries::Lint::Patch;

use strict;
use warnings FATAL => 'all';

use PgSeries::Util qw(read_file);

=pod

=head1 NAME

PgSeries::Lint::Patch - a patch file, taken apart with its line numbers

=head1 SYNOPSIS

  my $p = PgSeries::Lint::Patch->new($path, 'patches/18/x/0001-y.patch');
  for my $f ($p->files(qr/\.c$/))
  {
      print "$_->{line}: $_->{text}\n" for $f->added;
  }

=head1 DESCRIPTION

The patch, as "pgseries export" writes it, each of its files and each line is a hash
whose C<file> and C<line> say where it stands in patches/; C<target> is what it
stands for, a path in the tree or a path and a line.

  patch   path, subject (LINE), body [ LINE ] (the message without the summary)
  file    path, old, new, deleted, rows
  row     kind ("+", "-" or " "), new (line in the patched file), text, hunk (number)

=over

=item new($path, $name)

Reads the file; $name is what findings call it.

=cut

sub new
{
	my ($class, $path, $name) = @_;
	my $number = 0;
	my @lines =
	  map { { file => $name, line => ++$number, text => s/\n\z//r } }
	  split /^/, read_file($path);
	my $self = bless {
		path => $path,
		file => $name,
		line => 1,
		subject => { file => $name, line => 1, text => '' },
		body => [],
		files => [],
	}, $class;
	while (@lines && (my $line = shift @lines)->{text} ne '')
	{
		if ($line->{text} =~ s/^Subject: \[PATCH\]//)
		{
			$self->{subject} = $line;
		}
		elsif ($self->{subject}{line} > 1 && $line->{text} =~ /^\s+(.*)/)
		{
			$self->{subject}{text} .= " $1";
		}
	}
	$self->{subject}{text} =~ s/^ +//;
	push @{ $self->{body} }, shift @lines
	  while @lines && $lines[0]{text} !~ /^(?:---$|diff --git )/;
	$self->parse_diff(@lines);
	return $self;
}

sub parse_diff
{
	my ($self, @lines) = @_;
	my ($f, $new);
	my $hunk = 0;
	my %left = ('-' => 0, '+' => 0);
	for my $line (@lines)
	{
		my $text = $line->{text};
		if ($left{'-'} > 0 || $left{'+'} > 0)
		{
			my $kind = $text =~ s/^([-+ \\])// ? $1 : ' ';
			next if $kind eq '\\';
			$left{$_}-- for grep { $kind eq $_ || $kind eq ' ' } '-', '+';
			push @{ $f->{rows} },
			  {
				%$line,
				text => $text,
				kind => $kind,
				new => $new,
				hunk => $hunk,
				target => "$f->{path}:$new"
			  };
			$new++ if $kind ne '-';
		}
		elsif ($text =~ m{^diff --git a/(.+?) b/(.+)$})
		{
			$f = bless {
				%$line,
				target => $2,
				old => $1,
				path => $2,
				rows => []
			  },
			  'PgSeries::Lint::Patch::File';
			push @{ $self->{files} }, $f;
		}
		elsif ($text =~ /^(new|deleted) file mode/) { $f->{$1} = 1; }
		elsif ($text =~ /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/)
		{
			$new = $2;
			%left = ('-' => $1 // 1, '+' => $3 // 1);
			$hunk++;
		}
	}
	return;
}

=item files($path)

The files whose path matches.

=item adds($path, $text)

Does the patch add a line that matches $text to a file whose path matches
$path?

=item row($target)

The line of the patch, added or kept, that has this path and line in the tree.

=item added

A method of a file: its added lines.

=back

=cut

sub files
{
	my ($self, $path) = @_;
	return grep { $_->{path} =~ $path } @{ $self->{files} };
}

sub adds
{
	my ($self, $path, $text) = @_;
	return scalar grep { $_->{text} =~ $text }
	  map { $_->added } $self->files($path);
}

sub row
{
	my ($self, $target) = @_;
	return (
		grep { $_->{kind} ne '-' && $_->{target} eq $target }
		map  { @{ $_->{rows} } } @{ $self->{files} })[0];
}

sub PgSeries::Lint::Patch::File::added
{
	my ($self) = @_;
	return grep { $_->{kind} eq '+' } @{ $self->{rows} };
}

1;
