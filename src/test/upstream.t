# Where upstream's source comes from, and what happens when it is not right.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use Fixture qw(slurp spew);
use Test::More;

my $f = Fixture->new;
my $dir = $f->dir;
my $upstream = "$dir/work/upstream";
my $cache = "$upstream/postgresql-18.6.tar.bz2";
my $truncated = "$dir/truncated.tar.bz2";
spew($truncated, substr(slurp($f->tarball), 0, 100));

sub fetch_refuses
{
	my ($like, %env) = @_;
	return $f->refused(2, $like, 'fetch',
		{ PGSERIES_TARBALL => undef, %env });
}

# A fetch succeeds, and nothing but the tarball is left in the cache.
sub fetches
{
	my ($what, %env) = @_;
	my ($out) =
	  $f->succeeds('fetch', { PGSERIES_TARBALL => undef, %env });
	is($out, "$cache\n", "fetch: $what");
	is(join(' ', glob("$upstream/*")), $cache, 'and nothing else is left');
	return;
}

# 1. The person's tarball; 2. the cache, which is checked, too.
fetch_refuses('its sha256 is', PGSERIES_TARBALL => $truncated);
ok(!-e $cache, 'and it does not reach the cache');
fetches('a tarball', PGSERIES_TARBALL => $f->tarball);
fetches('the cache');
spew($cache, 'damaged');
fetch_refuses('cannot obtain PostgreSQL 18.6');

# 3. The release URL.
SKIP:
{
	skip 'curl is not installed', 6
	  if system('command -v curl >/dev/null') != 0;
	my $url = "$dir/none.tar.bz2";
	spew($url, slurp($f->tarball));
	fetches('a URL');
	unlink $cache;
	spew($url, slurp($truncated));
	fetch_refuses('truncated or changed');
	ok(!glob("$upstream/*"), 'and nothing of it is left');
	unlink $url;
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
	skip 'no apt sources here', 11
	  if !grep { -f } glob('/etc/apt/sources.list /etc/apt/sources.list.d/*');
	archive('18.6', $f->tarball);
	fetches('a source package');
	unlink $cache;
	archive('18.6', $truncated);
	fetch_refuses('its sha256 is');
	for my $version (qw(18.5 18.7))
	{
		archive($version, $f->tarball);
		fetch_refuses('the archive does not carry it');
	}
}

# A BASE that does not fit.
my $g = Fixture->new;
my $BASE = $g->dir . '/patches/18/BASE';
my $base = slurp($BASE);
my $other = '0123456789' x 4;
for (
	[ qr/^tree = \w+/m => "tree = $other", 'unpacks to git tree' ],
	[ qr/^sha256.*\n/m => '', 'no line "sha256 = ' ],
	[ qr/^tree = \w+/m => 'tree = HEAD', 'no line "tree = ' ],
	[ qr/^version = .*/m => 'version = 18beta1', 'no line "version = ' ])
{
	my ($line, $instead, $like) = @$_;
	spew($BASE, $base =~ s/$line/$instead/r);
	$g->refused(2, $like, 'apply');
	ok(!-e $g->dir . '/work/tree', 'and no repository is left');
}

# A full disk, while unpacking; another BASE later.
spew($BASE, $base);
$g->script('tar',
	'echo "tar: README: Cannot write: No space left on device" >&2; exit 2');
$g->refused(2, 'the disk is full', 'apply');
ok(!-e $g->dir . '/work/tree', 'and no repository is left');
$g->no_script('tar');
$g->succeeds('apply');
for my $line ("tree = $other", 'version = 18.7')
{
	my ($key) = split / /, $line;
	spew($BASE, $base =~ s/^$key = .*/$line/mr);
	$g->refused(2, 'holds another upstream', 'apply');
}

done_testing();
