package PgSeries::Error;

use strict;
use warnings FATAL => 'all';

use overload '""' => \&as_string, fallback => 1;

=pod

=head1 NAME

PgSeries::Error - a failure that names its remedy

=head1 SYNOPSIS

  die PgSeries::Error->new(
      code    => 2,
      message => 'meson is missing',
      remedy  => 'run ./configure --install-deps');

=head1 DESCRIPTION

The one exception class of the tool.  C<code> is the exit status the command
ends with: 1 for a finding or a failed test, 2 for trouble (usage, missing
tool, wrong checksum, full disk), 3 for a patch that does not apply, 130 for an
interrupt.  C<message> says what is wrong and C<remedy> what to do about it;
C<detail> may hold more lines, such as a rejected hunk.

=over

=item new(%args)

Returns the error.  C<code> defaults to 2.

=cut

sub new
{
	my ($class, %args) = @_;
	return bless { code => 2, message => '', remedy => '', %args }, $class;
}

=item as_string

Returns one line, "MESSAGE; REMEDY", and the detail, if any, before it.

=back

=cut

sub as_string
{
	my ($self) = @_;
	my $line = $self->{message};
	$line .= "; $self->{remedy}" if $self->{remedy} ne '';
	$line = "$self->{detail}\n$line" if defined $self->{detail};
	return $line;
}

1;
