package Fixture;

use strict;
use warnings FATAL => 'all';

use Cwd qw(realpath);
use Digest::SHA;
use Exporter       qw(import);
use File::Basename qw(dirname);
use File::Path     qw(make_path remove_tree);
use File::Temp     ();
use Test::More     ();
use Time::HiRes    qw(usleep);

our @EXPORT_OK = qw(append error_of fails refuses said slurp spew);

=pod

=head1 NAME

Fixture - a tiny project with a tiny upstream, for tests of the tool

=head1 SYNOPSIS

  my $f = Fixture->new;
  my ($status, $out, $err) = $f->pgseries('apply');

=head1 DESCRIPTION

A copy of the tool in a temporary directory, with an "upstream release" of a few
files and a series of two patches in two topics.  Nothing is downloaded: the
tarball lies in the fixture, and C<apt-get> and C<df> are scripts that the test
can write.

=cut

my $top = realpath(dirname(__FILE__) . '/../../..');

# The person's own choices are none of a test's.
delete $ENV{PGSERIES_MASTER_TARBALL};

sub new
{
	my ($class) = @_;
	my $dir = File::Temp->newdir('pgseries-test-XXXXXX', TMPDIR => 1);
	chmod 0755, "$dir" or die $!;
	my $self = bless { dir => "$dir", keep => $dir }, $class;
	make_path(map { "$dir/$_" }
		  qw(src patches/18 bin work build upstream/src));
	for my $part (qw(bin lib qa))
	{
		system('cp', '-R', "$top/src/$part", "$dir/src/$part") == 0
		  or die "cp failed";
	}
	spew("$dir/upstream/README", map { "line $_\n" } 1 .. 30);
	spew("$dir/upstream/src/a.c", "int a = 1;\n");
	spew("$dir/upstream/.gitignore", "hidden\n");
	spew("$dir/upstream/hidden", "tracked, though ignored\n");
	$self->make_release;
	$self->script('apt-get', 'echo "E: no archive here" >&2; exit 100');
	return $self;
}

sub dir { my ($self) = @_; return $self->{dir}; }

# A tarball of upstream/, and a BASE that fits it.
sub make_release
{
	my ($self) = @_;
	my $dir = $self->{dir};
	my $tarball = $self->tarball;
	remake("$dir/upstream", "$dir/pg");
	system('tar', '--sort=name', '--mtime=@0', '-C', $dir, '-cjf', $tarball,
		'pg') == 0
	  or die 'tar failed';
	my $tree =
	  `cd $dir/pg && git init -q . && git add -Af . && git write-tree`;
	chomp $tree;
	spew(
		"$dir/patches/18/BASE",
		"version = 18.6\n",
		"url = file://$dir/none.tar.bz2\n",
		"sha256 = "
		  . Digest::SHA->new(256)->addfile($tarball)->hexdigest . "\n",
		"tree = $tree\n",
		"package = postgresql-18\n");
	$self->patch('one/0001-Change-line-3.patch', 'README', 3, 'three');
	$self->patch('two/0001-Change-line-20.patch', 'README', 20, 'twenty');
	$self->series("# topic: one\none/0001-Change-line-3.patch\n\n"
		  . "# topic: two\ntwo/0001-Change-line-20.patch\n");
	return;
}

# Writes the list of the patches.
sub series
{
	my ($self, $text) = @_;
	spew("$self->{dir}/patches/18/series", "# a comment that stays\n\n$text");
	return;
}

sub remake
{
	my ($from, $to) = @_;
	remove_tree($to);
	system('cp', '-R', $from, $to) == 0 or die "cp failed";
	return;
}

sub tarball { my ($self) = @_; return "$self->{dir}/release.tar.bz2"; }

# A patch that changes one line of a file, as export writes it.
sub patch
{
	my ($self, $name, $file, $line, $text) = @_;
	my $dir = "$self->{dir}/made";
	remake("$self->{dir}/upstream", $dir);
	my $git = 'git -c user.name=A -c user.email=a@b -c core.abbrev=12';
	my @lines = split /^/, slurp("$dir/$file");
	$lines[ $line - 1 ] = "$text\n";
	my ($subject) = $name =~ /\d-(.*)\.patch$/;
	$subject =~ s/-/ /g;
	my $script = <<"EOT";
set -e
cd $dir
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
git init -q . && git add -Af . && $git commit -qm upstream
cat >$file <<'END'
@{[ join '', @lines ]}END
$git commit -qam '$subject' -m 'The body of the message.'
git -c core.abbrev=12 format-patch -q --zero-commit --full-index --no-signature --stat=79 -1 -o ..
EOT
	system('sh', '-c', $script) == 0 or die "cannot make $name";
	my ($made) = glob "$self->{dir}/0001-*.patch";
	make_path(dirname("$self->{dir}/patches/18/$name"));
	rename $made, "$self->{dir}/patches/18/$name" or die "rename: $!";
	return;
}

# A program that the tool finds before the real one.
sub script
{
	my ($self, $name, $text) = @_;
	spew("$self->{dir}/bin/$name", "#!/bin/sh\n$text\n");
	chmod 0755, "$self->{dir}/bin/$name" or die $!;
	return;
}

sub no_script
{
	my ($self, $name) = @_;
	unlink "$self->{dir}/bin/$name";
	return;
}

sub environment
{
	my ($self, %more) = @_;
	return (
		PATH =>
		  "$self->{dir}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
		PGSERIES_BUILDDIR => "$self->{dir}/build",
		PGSERIES_WORKDIR => "$self->{dir}/work",
		PGSERIES_TARBALL => $self->tarball,
		%more);
}

# Runs a command of the tool: (exit status, standard output, standard error).
my @last;

sub pgseries
{
	my ($self, @arguments) = @_;
	my %more = ref $arguments[-1] ? %{ pop @arguments } : ();
	my %env = $self->environment(%more);
	local %ENV = %ENV;
	for (keys %env)
	{
		if   (defined $env{$_}) { $ENV{$_} = $env{$_}; }
		else                    { delete $ENV{$_}; }
	}
	my ($out, $err) = ("$self->{dir}/out", "$self->{dir}/err");
	my $pid = fork();
	die "fork: $!" unless defined $pid;
	if ($pid == 0)
	{
		open(STDOUT, '>', $out) or die "$out: $!";
		open(STDERR, '>', $err) or die "$err: $!";

		# Whatever this process ignores.
		@SIG{qw(INT TERM HUP)} = ('DEFAULT') x 3;
		exec($^X, "$self->{dir}/src/bin/pgseries", @arguments)
		  or die "exec: $!";
	}
	if ($self->{interrupt_after})
	{
		usleep(1_000_000 * $self->{interrupt_after});
		kill 'INT', $pid;
	}
	waitpid($pid, 0);
	my $status = $? & 127 ? 256 + ($? & 127) : $? >> 8;
	@last = ($status, slurp($out), slurp($err));
	return @last;
}

# A function: the last command has refused.  It must have said so, after any
# detail, in one line with a remedy.
sub refuses
{
	my ($code, $like, $what) = @_;
	my ($status, $out, $err) = @last;
	Test::More::is($status, $code, "$what: exit status $code")
	  or Test::More::diag("$out$err");
	Test::More::like(
		(split /\n/, $err)[-1],
		qr/^pgseries: (?=.*; \S).*$like/,
		"$what: one line with a remedy");
	return;
}

# Runs a command that must refuse.
sub refused
{
	my ($self, $code, $like, @arguments) = @_;
	$self->pgseries(@arguments);
	refuses($code, $like, join(' ', grep { !ref } @arguments));
	return;
}

# Runs a command that must succeed; returns standard output and standard error.
sub succeeds
{
	my ($self, @arguments) = @_;
	my ($status, $out, $err) = $self->pgseries(@arguments);
	Test::More::is($status, 0, join(' ', grep { !ref } @arguments))
	  or Test::More::diag("$out$err");
	return ($out, $err);
}

sub git
{
	my ($self, @arguments) = @_;
	my $quoted = join ' ', map { "'$_'" } @arguments;
	my $out =
	  `git -C $self->{dir}/work/tree -c user.name=A -c user.email=a\@b $quoted 2>&1`;
	chomp $out;
	return $out;
}

# The error of the code as "CODE: MESSAGE; REMEDY", any detail in lines after it; the
# empty string if there is none.
sub error_of
{
	my ($code) = @_;
	return '' if eval { $code->(); 1 };
	return ref $@
	  ? join "\n", "$@->{code}: $@->{message}; $@->{remedy}",
	  $@->{detail} // ()
	  : $@;
}

# The code must raise an error that begins so.
sub fails
{
	my ($pattern, $code) = @_;
	Test::More::like(error_of($code), qr/^$pattern/s, "fails: $pattern");
	return;
}

# What the code, and programs that it runs, print on standard error.
sub said
{
	my ($code) = @_;
	my $file = File::Temp->new;
	open(my $saved, '>&', \*STDERR) or die $!;
	open(STDERR, '>', "$file") or die $!;
	my $ok = eval { $code->(); 1 };
	my $error = $@;
	open(STDERR, '>&', $saved) or die $!;
	die $error unless $ok;
	return slurp("$file");
}

sub slurp
{
	my ($file) = @_;
	open(my $fh, '<', $file) or die "$file: $!";
	local $/ = undef;
	my $text = <$fh>;
	return defined $text ? $text : '';
}

sub spew
{
	my ($file, @text) = @_;
	open(my $fh, '>', $file) or die "$file: $!";
	print $fh @text;
	close $fh or die "$file: $!";
	return;
}

sub append
{
	my ($file, @text) = @_;
	spew($file, slurp($file), @text);
	return;
}

1;
