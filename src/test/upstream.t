# Where upstream's source comes from, and what happens when it is not right.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use Fixture qw(refuses slurp spew);
use Test::More;

my $f = Fixture->new;
my $dir = $f->dir;
my $upstream = "$dir/work/upstream";
my $cache = "$upstream/postgresql-18.6.tar.bz2";
my $truncated = "$dir/truncated.tar.bz2";
spew($truncated, substr(slurp($f->tarball), 0, 100));

sub fetch
{
	my (%env) = @_;
	return $f->pgseries('fetch', { PGSERIES_TARBALL => undef, %env });
}

# A fetch succeeds, and nothing but the tarball is left in the cache.
sub fetches
{
	my ($what, %env) = @_;
	my ($status, $out, $err) = fetch(%env);
	is("$status $out", "0 $cache\n", "fetch: $what") or diag($err);
	is(join(' ', glob("$upstream/*")), $cache, 'and nothing else is left');
	return;
}

# 1. The person's tarball; 2. the cache, which is checked, too.
fetch(PGSERIES_TARBALL => $truncated);
refuses(2, 'its sha256 is', 'a truncated tarball');
ok(!-e $cache, 'and it does not reach the cache');
fetches('a tarball', PGSERIES_TARBALL => $f->tarball);
fetches('the cache');
spew($cache, 'damaged');
fetch();
refuses(
	2,
	'cannot obtain PostgreSQL 18.6',
	'a damaged cache and no other way');

# 3. The release URL.
SKIP:
{
	skip 'curl is not installed', 5
	  if system('command -v curl >/dev/null') != 0;
	fetches('a URL', PGSERIES_URL => 'file://' . $f->tarball);
	unlink $cache;
	fetch(PGSERIES_URL => "file://$truncated");
	refuses(2, 'truncated or changed', 'a truncated download');
	ok(!glob("$upstream/*"), 'and nothing of it is left');
}

# 4. The source package: an apt that has the right, a changed, an earlier, a later
# release.
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
	skip 'no apt sources here', 10
	  if !grep { -f } glob('/etc/apt/sources.list /etc/apt/sources.list.d/*');
	archive('18.6', $f->tarball);
	fetches('a source package');
	unlink $cache;
	archive('18.6', $truncated);
	fetch();
	refuses(2, 'its sha256 is', 'a source package with another tarball');
	archive('18.5', $f->tarball);
	fetch();
	refuses(2, 'the archive does not carry it', 'an earlier minor release');

	spew("$dir/upstream/NEWS", "18.7\n");
	my $base = slurp("$dir/patches/18/BASE");
	$f->make_release;
	rename $f->tarball, "$dir/later.tar.bz2" or die $!;
	spew("$dir/patches/18/BASE", $base);
	archive('18.7', "$dir/later.tar.bz2");
	my ($status, $out, $err) =
	  $f->pgseries('apply', { PGSERIES_TARBALL => undef });
	is($status, 0, 'a later minor release stands in') or diag($err);
	like(
		$err,
		qr/^NOTICE: PostgreSQL 18.6 cannot be had; using 18.7/m,
		'with a clear notice');
	like($out, qr/: upstream 18\.7 and 2 patches$/, 'and is named');
	($status, $out, $err) =
	  $f->pgseries('apply', { PGSERIES_TARBALL => undef });
	is("$status$err", '0', 'it is used again');
}

# A BASE that does not fit.
my $g = Fixture->new;
my $base = slurp($g->dir . '/patches/18/BASE');
my $other = '0123456789' x 4;
for (
	[ qr/^tree = \w+/m => "tree = $other", 'unpacks to git tree' ],
	[ qr/^sha256.*\n/m => '', 'no line "sha256 = ' ],
	[ qr/^tree = \w+/m => 'tree = HEAD', 'no line "tree = ' ],
	[ qr/^version = .*/m => 'version = 18beta1', 'no line "version = ' ])
{
	my ($line, $instead, $like) = @$_;
	spew($g->dir . '/patches/18/BASE', $base =~ s/$line/$instead/r);
	$g->pgseries('apply');
	refuses(2, $like, "BASE: $instead");
	ok(!-e $g->dir . '/work/tree', 'and no repository is left');
}
spew($g->dir . '/patches/18/BASE', $base);
$g->pgseries('apply');
spew($g->dir . '/patches/18/BASE', $base =~ s/= 18\.6/= 18.9/r);
$g->pgseries('apply');
refuses(2, 'holds another upstream', 'a repository of another release');

# A full disk, while unpacking.
my $h = Fixture->new;
$h->script('tar',
	'echo "tar: README: Cannot write: No space left on device" >&2; exit 2');
$h->pgseries('apply');
refuses(2, 'the disk is full', 'no space while unpacking');
ok(!-e $h->dir . '/work/tree', 'and no repository is left');
$h->no_script('tar');
my ($status, $out, $err) = $h->pgseries('apply');
is($status, 0, 'the next run is clean') or diag($err);

done_testing();
