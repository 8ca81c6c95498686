# Where upstream's source comes from, and what happens when it is not right.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use Fixture qw(refuses slurp spew);
use Test::More;

my $f = Fixture->new;
my $dir = $f->dir;
my $cache = "$dir/work/upstream/postgresql-18.6.tar.bz2";
my ($status, $out, $err);

# 1. The person's tarball.
($status, $out, $err) = $f->pgseries('fetch');
is($status, 0, 'fetch with a tarball') or diag($err);
is($out, "$cache\n", 'prints the path in the cache');
unlink $cache;
($status, $out, $err) =
  $f->pgseries('fetch', { PGSERIES_TARBALL => "$dir/no such file" });
refuses(2, 'there is no tarball', 'a tarball that is not there');
spew("$dir/truncated.tar.bz2", substr(slurp($f->tarball), 0, 100));
($status, $out, $err) =
  $f->pgseries('fetch', { PGSERIES_TARBALL => "$dir/truncated.tar.bz2" });
refuses(2, 'its sha256 is', 'a truncated tarball');
ok(!-e $cache, 'and it does not reach the cache');

# 2. The cache, which is checked, too.
my %none = (PGSERIES_TARBALL => undef);
$f->pgseries('fetch');
($status, $out, $err) = $f->pgseries('fetch', {%none});
is($status, 0, 'fetch from the cache') or diag($err);
spew($cache, 'damaged');
($status, $out, $err) = $f->pgseries('fetch', {%none});
refuses(
	2,
	'cannot obtain PostgreSQL 18.6',
	'a damaged cache and no other way');
like($err, qr/wrong checksum, removed/, 'the damaged file is named');

# 3. The release URL.
SKIP:
{
	skip 'curl is not installed', 6
	  if system('command -v curl >/dev/null') != 0;
	($status, $out, $err) =
	  $f->pgseries('fetch',
		{ %none, PGSERIES_URL => "file://$dir/truncated.tar.bz2" });
	refuses(2, 'truncated or changed', 'a truncated download');
	ok(!glob("$dir/work/upstream/*"), 'and nothing of it is left');
	($status, $out, $err) =
	  $f->pgseries('fetch',
		{ %none, PGSERIES_URL => 'file://' . $f->tarball });
	is($status, 0, 'fetch by URL') or diag($err);
	ok(-f $cache, 'and it is in the cache');
	is(join(' ', glob("$dir/work/upstream/*")), $cache, 'and nothing else');
	unlink $cache;
}

# 4. The source package: an apt that has the right, a changed, a later release.
sub archive
{
	my ($version, $tarball) = @_;
	$f->script('apt-cache', "echo 'Version: $version-1'");
	$f->script('apt-get', <<"EOT");
case "\$*" in
	*source*) cp $tarball postgresql-18_$version.orig.tar.bz2 ;;
esac
exit 0
EOT
	return;
}
SKIP:
{
	skip 'no apt sources here', 11
	  if !grep { -f } glob('/etc/apt/sources.list /etc/apt/sources.list.d/*');
	archive('18.6', $f->tarball);
	($status, $out, $err) = $f->pgseries('fetch', {%none});
	is($status, 0, 'fetch by source package') or diag($err);
	is(join(' ', glob("$dir/work/upstream/*")),
		$cache, 'the tarball is in the cache, apt\'s lists are gone');
	unlink $cache;
	archive('18.6', "$dir/truncated.tar.bz2");
	($status, $out, $err) = $f->pgseries('fetch', {%none});
	refuses(2, 'its sha256 is', 'a source package with another tarball');

	# Only a later release can stand in.
	archive('18.5', $f->tarball);
	($status, $out, $err) = $f->pgseries('fetch', {%none});
	refuses(
		2,
		'cannot obtain .*the archive does not carry it',
		'an earlier minor release');
	ok(!glob("$dir/work/upstream/*"), 'does not stand in');

	unlink glob("$dir/work/upstream/*");
	spew("$dir/upstream/NEWS", "18.7\n");
	my $base = slurp("$dir/patches/18/BASE");
	$f->make_release;
	rename $f->tarball, "$dir/later.tar.bz2" or die $!;
	spew("$dir/patches/18/BASE", $base);
	archive('18.7', "$dir/later.tar.bz2");
	($status, $out, $err) = $f->pgseries('apply', {%none});
	is($status, 0, 'a later minor release stands in') or diag($err);
	like(
		$err,
		qr/^NOTICE: PostgreSQL 18.6 cannot be had; using 18.7/m,
		'with a clear notice');
	($status, $out, $err) = $f->pgseries('apply', {%none});
	is($status, 0, 'and is used again') or diag($err);
}

# A BASE that does not fit.
my $g = Fixture->new;
my $base = slurp($g->dir . '/patches/18/BASE');
(my $wrong = $base) =~ s/^tree = \w+/'tree = ' . '0123456789' x 4/me;
spew($g->dir . '/patches/18/BASE', $wrong);
($status, $out, $err) = $g->pgseries('apply');
refuses(2, 'unpacks to git tree', 'another tree than BASE says');
ok(!-e $g->dir . '/work/tree', 'and no repository is left');
($wrong = $base) =~ s/^sha256.*\n//m;
spew($g->dir . '/patches/18/BASE', $wrong);
($status, $out, $err) = $g->pgseries('apply');
refuses(2, 'no line "sha256 = ', 'a key is missing in BASE');
($wrong = $base) =~ s/^tree = \w+/tree = HEAD/m;
spew($g->dir . '/patches/18/BASE', $wrong);
($status, $out, $err) = $g->pgseries('apply');
refuses(2, '"tree" is not the 40 digits', 'a tree that is none');
($wrong = $base) =~ s/^version = .*/version = 18beta1/m;
spew($g->dir . '/patches/18/BASE', $wrong);
($status, $out, $err) = $g->pgseries('apply');
refuses(2, '"version" is not a minor release', 'a version that is none');
spew($g->dir . '/patches/18/BASE', $base);
$g->pgseries('apply');
($wrong = $base) =~ s/^version = .*/version = 18.9/m;
spew($g->dir . '/patches/18/BASE', $wrong);
($status, $out, $err) = $g->pgseries('apply');
refuses(2, 'holds another upstream', 'a repository of another release');

# A full disk, while unpacking.
my $h = Fixture->new;
$h->script('tar',
	'echo "tar: README: Cannot write: No space left on device" >&2; exit 2');
($status, $out, $err) = $h->pgseries('apply');
refuses(2, 'the disk is full', 'no space while unpacking');
ok(!-e $h->dir . '/work/tree', 'and no repository is left');
$h->no_script('tar');
($status, $out, $err) = $h->pgseries('apply');
is($status, 0, 'the next run is clean') or diag($err);

done_testing();
