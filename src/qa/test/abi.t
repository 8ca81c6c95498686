# pgseries check --abi: what needs no server.

use strict;
use warnings FATAL => 'all';

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use PgSeries::Abi;
use PgSeries::Util qw(write_file);
use Test::More;

my $dir = tempdir(CLEANUP => 1);

sub patch
{
	my ($name, $text) = @_;
	write_file("$dir/$name", $text);
	return { file => $name, path => "$dir/$name" };
}

is_deeply(
	[
		PgSeries::Abi::files(
			patch(
				'code',
				"+++ b/src/include/pgstat.h\n PGSTAT_FILE_FORMAT_ID\n"),
			patch(
				'proc', "+++ b/src/include/catalog/pg_proc.dat\n+{ oid }\n"),
			patch('view', "+++ b/src/backend/catalog/system_views.sql\n"),
			patch('format', "-#define PGSTAT_FILE_FORMAT_ID 1\n"),
			patch('magic', "+#define XLOG_PAGE_MAGIC 0xD119\n"))
	],
	[
		'proc: changes src/include/catalog/pg_proc.dat',
		'view: changes src/backend/catalog/system_views.sql',
		'format: changes the number of a file format',
		'magic: changes the number of a file format'
	],
	'catalogs and numbers of file formats');

write_file("$dir/allowed",
	"# comment\n[suppress_type]\n  name = A\n  label = at its end\n");
ok(eval { PgSeries::Abi::check_reasons("$dir/allowed"); 1 }, 'a reason');
write_file("$dir/allowed",
	"[suppress_type]\n  name = A\n  label = x\n[suppress_type]\n  name = B\n"
);
ok(!eval { PgSeries::Abi::check_reasons("$dir/allowed"); 1 }, 'no reason');
like($@, qr/no reason for\n\[suppress_type\]\n  name = B\n/, 'for which');

done_testing();
