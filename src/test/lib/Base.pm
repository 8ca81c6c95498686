package Base;

use strict;
use warnings FATAL => 'all';

use Exporter       qw(import);
use File::Basename qw(dirname);
use PgSeries::Build;
use PgSeries::Config;
use PgSeries::Series;
use PgSeries::Util qw(take_lock);

our @EXPORT_OK = qw(base_build);

=pod

=head1 NAME

Base - the build "base", for tests that need its servers

=cut

# Returns the configuration and the build, which has to be there.  Takes the lock.
sub base_build
{
	my $config =
	  PgSeries::Config->new(top => dirname(__FILE__) . '/../../..');
	take_lock($config->work . '/lock');
	my $build =
	  PgSeries::Build->new($config, PgSeries::Series->new($config))
	  ->describe('base');
	die
	  "there is no build \"base\": make it with src/bin/pgseries build base\n"
	  unless -x "$build->{bin}/postgres";
	return ($config, $build);
}

1;
