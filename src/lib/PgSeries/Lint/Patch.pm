package PgSeries::Lint::Patch;

use strict;
use warnings FATAL => 'all';

use PgSeries::Util qw(read_file);

=pod

=head1 NAME

PgSeries::Lint::Patch - a patch file, taken apart with its line numbers

=head1 SYNOPSIS

  my $p = PgSeries::Lint::Patch->new($path, 'patches/0001-x.patch');
  for my $f ($p->files(qr/\.c$/))
  {
      print "$_->{line}: $_->{text}\n" for $f->added;
  }

=head1 DESCRIPTION

The patch, each of its files and each line is a hash whose C<file> and C<line>
say where it stands in patches/; C<target> is what it stands for, a path in
the tree or a path and a line.

  patch   path, text (all lines), header { name => LINE }, body [ LINE ] (the
          message without the summary), problems [ { file, line, text } ]
  file    path, old, new, deleted, binary, index (LINE or undef),
          hunks [ { file, line, start, rows } ], rows (of all hunks)
  row     kind ("+", "-" or " "), new (line in the patched file), text

Line ends of DOS are dropped except in C<text>.

=over

=item new($path, $name)

Reads the file; $name is what findings call it.

=cut

sub new
{
	my ($class, $path, $name) = @_;
	my @text = split /\n/, read_file($path), -1;
	pop @text if @text && $text[-1] eq '';
	my $self = bless {
		path => $path,
		file => $name,
		line => 1,
		text => \@text,
		header => {},
		body => [],
		files => [],
		problems => [],
	}, $class;
	my @lines = map { { file => $name, line => $_, text => $text[ $_ - 1 ] } }
	  1 .. @text;
	$_->{text} =~ s/\r$// for @lines;
	$self->parse_message(\@lines);
	$self->parse_diff(\@lines);
	return $self;
}

sub parse_message
{
	my ($self, $lines) = @_;
	my $header;
	shift @$lines;
	while (@$lines && $lines->[0]{text} ne '')
	{
		my $line = shift @$lines;
		if ($line->{text} =~ s/^([\w-]+):\s*//)
		{
			$header = $self->{header}{ lc $1 } = $line;
		}
		elsif ($header && $line->{text} =~ /^\s+(.*)/)
		{
			$header->{text} .= " $1";
		}
	}
	shift @$lines;
	push @{ $self->{body} }, shift @$lines
	  while @$lines && $lines->[0]{text} !~ /^(?:---$|diff --git )/;
	shift @$lines while @$lines && $lines->[0]{text} !~ /^diff --git /;
	return;
}

sub parse_diff
{
	my ($self, $lines) = @_;
	my $f;
	while (my $line = shift @$lines)
	{
		my $text = $line->{text};
		if ($text =~ m{^diff --git a/(.+?) b/(.+)$})
		{
			$f = bless {
				%$line,
				target => $2,
				old => $1,
				path => $2,
				hunks => [],
				rows => []
			  },
			  'PgSeries::Lint::Patch::File';
			push @{ $self->{files} }, $f;
		}
		elsif ($text =~ /^new file mode/)     { $f->{new} = 1; }
		elsif ($text =~ /^deleted file mode/) { $f->{deleted} = 1; }
		elsif ($text =~ /^index (\S+)/)
		{
			$f->{index} = { %$line, text => $1 };
		}
		elsif ($text =~ /^(?:GIT binary patch|Binary files .* differ)/)
		{
			$f->{binary} = $line;
			shift @$lines
			  while @$lines && $lines->[0]{text} !~ /^diff --git /;
		}
		elsif ($f && $text =~ /^@@ -/)
		{
			my $hunk = $self->parse_hunk($f, $line, $lines);
			push @{ $f->{hunks} }, $hunk;
			push @{ $f->{rows} }, @{ $hunk->{rows} };
		}
		elsif ($text !~ /^(?:--- |\+\+\+ |\\|(?:old|new) mode |similarity )/
			&& $text !~ /^(?:rename|copy) (?:from|to) /)
		{
			# What follows is not understood: one message is enough.
			$self->problem($line, 'text outside of the diff');
			last;
		}
	}
	return;
}

sub parse_hunk
{
	my ($self, $f, $line, $lines) = @_;
	my ($start, $old, $at, $new) =
	  $line->{text} =~ /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
	my $hunk = { %$line, start => $start, rows => [] };
	my %left =
	  ('-' => defined $old ? $old : 1, '+' => defined $new ? $new : 1);
	while (defined $start && ($left{'-'} > 0 || $left{'+'} > 0))
	{
		last unless @$lines && $lines->[0]{text} =~ /^[-+ \\]|^$/;
		my $row = shift @$lines;
		my $kind = $row->{text} =~ s/^([-+ \\])// ? $1 : ' ';
		next if $kind eq '\\';
		for my $side ('-', '+')
		{
			$left{$side}-- if $kind eq $side || $kind eq ' ';
		}
		push @{ $hunk->{rows} },
		  { %$row, kind => $kind, new => $at, target => "$f->{path}:$at" };
		$at++ if $kind ne '-';
	}
	$self->problem($line, 'the line counts of the hunk are wrong')
	  if !defined $start || $left{'-'} || $left{'+'};
	return $hunk;
}

sub problem
{
	my ($self, $line, $text) = @_;
	push @{ $self->{problems} }, { %$line, text => $text };
	return;
}

=item files($path)

The files whose path matches.

=item adds($path, $text)

Does the patch add a line that matches $text to a file whose path matches
$path?

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

sub PgSeries::Lint::Patch::File::added
{
	my ($self) = @_;
	return grep { $_->{kind} eq '+' } @{ $self->{rows} };
}

1;
