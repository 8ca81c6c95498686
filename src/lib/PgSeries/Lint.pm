package PgSeries::Lint;

use strict;
use warnings FATAL => 'all';

use Encode        ();
use File::Glob    qw(:bsd_glob);
use PgSeries::Git qw(git_capture git_status);
use PgSeries::Lint::Patch;
use PgSeries::Util qw(fail find_tool run_status);

=pod

=head1 NAME

PgSeries::Lint - what can be said of the patches without building them

=head1 DESCRIPTION

Applies the patches and reports, for each broken rule, the file and the line of
patches/ to look at.  No file of the project is modified.  A rule that cannot be
checked here is listed as skipped, with the reason.  That the patches apply, and that
the files are as "pgseries export" writes them, is not checked here: the one is an
error before any rule, see commit_of() in L<PgSeries::Series>, the other round_trip().

  series-files    each *.patch file beside the file "series" is listed in it
  counterpart     each patch has one with the same summary in the same topic of the
                  other base, or a line "# only here: WHAT: REASON" in "series"
  commit-message  a summary of at most 64 characters without a full stop; then at least
                  two lines of narrative; then, last, the tags, of which one is
                  Discussion with a link (a fault that nobody has reported has no
                  thread yet: a patch of the topic "fixes" may go without tags);
                  lines of at most 76 characters; no notes to oneself (such as
                  squash marks)
  has-test        each patch touches a test
  forbidden-path  a patch keeps to src, doc, contrib, config, the meson files and
                  configure; catversion.h is left to the committer
  whitespace      what "git diff --check" reports under upstream's .gitattributes, and
                  what "make check" of doc/src/sgml refuses
  listed          a new C file, module or test is named in the Makefile and in
                  meson.build, or in the schedule
  gucs            a new setting is documented
  oids            a new OID is in 8000-9999
  typedefs        a new typedef is in src/tools/pgindent/typedefs.list
  pgindent        C is laid out as upstream's pgindent does it, after each patch

=cut

# The rules in order, and what to do about a finding.
my @RULES = (
	[
		'commit-message',
		\&rule_commit_message,
		'reword the commit, then run: pgseries export'
	],
	[
		'has-test', \&rule_has_test,
		'add a test that fails without the patch'
	],
	[ 'forbidden-path', \&rule_forbidden_path, 'leave it out' ],
	[ 'whitespace', \&rule_whitespace, 'correct the line' ],
	[ 'listed', \&rule_listed, 'add it in the same patch' ],
	[ 'gucs', \&rule_gucs, 'add it in the same patch' ],
	[ 'oids', \&rule_oids, 'choose an unused one of 8000-9999' ],
	[ 'typedefs', \&rule_typedefs, 'add it, sorted as by LC_ALL=C sort' ],
	[
		'pgindent', \&rule_pgindent,
		'run src/tools/pgindent/pgindent of upstream on it'
	],);
my $SERIES_FILES =
  [ 'series-files', undef, 'list it in the file "series" or remove it' ];
my $COUNTERPART = [
	'counterpart', undef,
	'pgseries port, or say why not in a line "# only here: WHAT: REASON" of the topic in "series"'
];

# $series is a PgSeries::Series; the program is pg_bsd_indent, by default that in
# PATH.
sub new
{
	my ($class, $series, %tools) = @_;
	return bless {
		series => $series,
		pgindent => $tools{pgindent} || scalar find_tool('pg_bsd_indent'),
	}, $class;
}

# Returns { findings => [ { file, line, rule, message, remedy }, ... ], skips => [
# { rule, reason }, ... ], checked => number of patches }.  A patch that does not apply
# is an error with code 3.
sub run
{
	my ($self) = @_;
	my $series = $self->{series};
	my $top = $series->{config}->top;
	my @commits = $series->commits_of($series->patches);
	@$self{qw(findings skips)} = ([], {});
	$self->unlisted_files;
	$self->counterparts;
	my @patches;

	for ($series->patches)
	{
		my $p = PgSeries::Lint::Patch->new(
			$_->{path},
			substr $_->{path},
			length "$top/");
		$p->{before} = shift @commits;
		$p->{after} = $commits[0];
		push @patches, $p;
	}
	for my $rule (@RULES)
	{
		$self->{rule} = $rule;
		$rule->[1]->($self, $_) for @patches;
	}
	my @findings =
	  sort { $a->{file} cmp $b->{file} || $a->{line} <=> $b->{line} }
	  @{ $self->{findings} };
	return {
		findings => \@findings,
		skips => [ values %{ $self->{skips} } ],
		checked => scalar @patches
	};
}

# A function.  Returns one line for each finding, "FILE:LINE: RULE: MESSAGE;
# REMEDY", and one for each skipped rule.
sub format_text
{
	my ($result) = @_;
	return join '', (
		map {
			"$_->{file}:$_->{line}: $_->{rule}: $_->{message}; $_->{remedy}\n"
		} @{ $result->{findings} }),
	  map { "skipped $_->{rule}: $_->{reason}\n" } @{ $result->{skips} };
}

# A finding.  $at is anything that has a file and a line, see
# PgSeries::Lint::Patch.
sub find
{
	my ($self, $at, $message) = @_;
	my ($rule, undef, $remedy) = @{ $self->{rule} };
	push @{ $self->{findings} },
	  {
		file => $at->{file},
		line => $at->{line},
		rule => $rule,
		message => $message,
		remedy => $remedy
	  };
	return;
}

#
# The rules
#

sub unlisted_files
{
	my ($self) = @_;
	my $config = $self->{series}{config};
	my %listed = map { $_->{path} => 1 } $self->{series}->patches;
	$self->{rule} = $SERIES_FILES;
	for my $path (
		grep { !$listed{$_} }
		sort glob($config->patches . '/{,*/}*.patch'))
	{
		my $file = substr $path, length($config->top . '/');
		$self->find({ file => $file, line => 1 }, 'it is not listed');
	}
	return;
}

sub counterparts
{
	my ($self) = @_;
	my $series = $self->{series};
	my $config = $series->{config};
	$self->{rule} = $COUNTERPART;
	for my $base (grep { $_ ne $config->base } $config->bases)
	{
		my $other = PgSeries::Series->new($config->with_base($base));
		my %has = map { ("$_->{topic} " . $other->subject($_->{path})) => 1 }
		  $other->patches;
		for my $p ($series->patches)
		{
			my $only = $series->about($p->{topic})->{only};
			$self->find(
				{
					file => substr($p->{path}, length($config->top . '/')),
					line => 1
				},
				"base $base has no patch of that summary in topic $p->{topic}"
			  )
			  unless $has{ "$p->{topic} " . $series->subject($p->{path}) }
			  || grep { $only->{$_} } 'all', $p->{file} =~ s{.*/}{}r;
		}
	}
	return;
}

my $TAG = qr{(?:Author|Backpatch-through|Bug|Co-authored-by|Discussion
	|Reported-by|Reviewed-by|Suggested-by|Tested-by):\s}xi;

sub rule_commit_message
{
	my ($self, $p) = @_;
	my $summary =
	  Encode::decode('UTF-8', $self->{series}->subject($p->{path}));
	my $length = length $summary;
	$self->find($p, "the summary has $length characters, more than 64")
	  if $length > 64;
	$self->find($p, 'the summary ends with a full stop')
	  if $summary =~ /\.$/;
	my $message = Encode::decode('UTF-8', $p->{message});
	$self->find($p, "\"$1\" in the commit message")
	  if "$summary\n$message" =~ /(\b(?:WIP|TODO)\b|\b(?:fixup|squash)!)/;

	# A link cannot be broken.
	$self->find($p, "a line has more than 76 characters: $_")
	  for grep { /.{77}/ && !m{^(?:[\w-]+:)?\s*https?://\S+$} }
	  split /\n/, $message;
	my ($narrative, $tags) = $message =~ /\A(?:(.*)\n\n)?(.*?)\s*\z/s;
	($narrative, $tags) = ($message, '')
	  if $p->{file} =~ m{/fixes/} && $tags !~ /^$TAG/m;
	$self->find($p, 'the last paragraph has no tag "Discussion: https://..."')
	  unless $tags eq '' || $tags =~ m{^Discussion: https://\S+$}m;
	$self->find($p, 'the last paragraph has more than tags')
	  if $tags =~ /^(?![A-Z][A-Za-z-]+:\s+\S|\s)./m;
	$narrative //= '';
	$self->find($p, 'a tag is not in the last paragraph')
	  if $narrative =~ /^$TAG/m;
	$self->find($p, 'the message has fewer than two lines of narrative')
	  if 2 > grep { /\S/ } split /\n/, $narrative;
	return;
}

sub rule_has_test
{
	my ($self, $p) = @_;
	my $test = qr{/(?:sql|expected|specs|t)/[^/]+$|^src/test/modules/.};
	$self->find($p, 'the patch touches no test')
	  unless grep { !$_->{deleted} } $p->files($test);
	return;
}

sub rule_forbidden_path
{
	my ($self, $p) = @_;
	my $allowed = qr{^(?:(?:src|doc|contrib|config)/
		|meson(?:\.build|_options\.txt)$|configure(?:\.ac)?$|\.gitignore$)}x;
	my $stray = qr{\.(?:orig|rej|sw[op])$|~$|/catversion\.h$
		|pgseries(?<!^contrib/pgseries)(?<!^contrib/pgseries/pgseries)(?<!sgml/pgseries)}x;
	$self->find($_, "a patch must not touch $_->{path}")
	  for grep { $_->{path} !~ $allowed || $_->{path} =~ $stray }
	  @{ $p->{files} };
	return;
}

sub rule_whitespace
{
	my ($self, $p) = @_;
	git_status(
		$self->{series}->tree,
		[ qw(diff --check), $p->{before}, $p->{after} ],
		out => \my $out);
	$self->find($p, $_) for $out =~ /^([^+\s:][^:]*:\d+: .*?)\.?$/mg;
	$self->find($_, 'tab or no-break space in SGML')
	  for grep { $_->{text} =~ /\t|\xc2\xa0/ } $p->rows('+', qr{\.sgml$});
	return;
}

# How files are named in Makefile and in meson.build: a word of a list (an object
# there, a C file here), and in quotes.
sub rule_listed
{
	my ($self, $p) = @_;
	for my $f (grep { $_->{new} } @{ $p->{files} })
	{
		my ($name, $suffix) =
			$f->{path} =~ m{([^/]+)(\.c|/meson\.build)$}           ? ($1, $2)
		  : $f->{path} =~ m{/(?:sql|specs)/([^/]+)\.(?:sql|spec)$} ? ($1, '')
		  : $f->{path} =~ m{/(t/[^/]+\.pl)$}                       ? ($1, '')
		  :                                                          next;
		my $word = qr{(?<![\w-])\Q$name\E(?![\w-])};
		my $quoted =
		  $suffix eq '.c'
		  ? qr{'(?:[^']*/)?\Q$name\E\.c'}
		  : qr{'(?:[^']*/)?\Q$name\E'};
		if ($f->{path} =~ m{^src/test/(?:regress|isolation)/})
		{
			$self->find($f, "$name is in no schedule")
			  unless $p->adds(qr{_schedule$}, $word);
			next;
		}

		# A C file may be a part of another one.
		next if $p->adds(qr{\.[chy]$}, qr{#\s*include\s+".*\b\Q$name\E\.c"});
		$self->find($f, "$name is in no Makefile")
		  unless $name =~ m{^t/} || $p->adds(qr{/(?:GNUm|M)akefile$}, $word);
		$self->find($f, "$name is in no meson.build")
		  unless $p->adds(qr{/meson\.build$}, $quoted);
	}
	return;
}

sub rule_gucs
{
	my ($self, $p) = @_;
	my $tables = qr{/guc_tables\.c$};
	my $guc = qr/^\s*\{"(\w+)", PGC_/;
	my %old =
	  map { $_->{text} =~ $guc ? ($1 => 1) : () } $p->rows('-', $tables);
	for my $row ($p->rows('+', $tables))
	{
		next if $row->{text} !~ $guc || $old{$1};
		my $id = lc "guc-$1" =~ tr/_/-/r;
		$self->find($row, "no id=\"$id\" in doc/src/sgml")
		  unless $p->adds(qr{\.sgml$}, qr{\bid="$id"});
	}
	return;
}

# That no other object has it is a matter of genbki.pl, which every build runs.
sub rule_oids
{
	my ($self, $p) = @_;
	my $catalogs = qr{^src/include/catalog/};
	my $oid =
	  qr/(?:\b|_)oid\s*=>\s*'(\d+)'|^(?:CATALOG|DECLARE_\w+)\(\w+,\s*(\d+)/;
	my $of = sub {
		grep { defined } $_[0]{text} =~ /$oid/g;
	};
	my %old = map { $_ => 1 } map { $of->($_) } $p->rows('-', $catalogs);
	for my $row ($p->rows('+', $catalogs))
	{
		$self->find($row, "OID $_ is not in the range for patches")
		  for grep { !$old{$_} && !/^[89]\d\d\d$/ } $of->($row);
	}
	return;
}

sub rule_typedefs
{
	my ($self, $p) = @_;
	my $list = 'src/tools/pgindent/typedefs.list';
	my %known;
	for my $f ($p->files(qr/\.[ch]$/))
	{
		my $added = join "\n",
		  map { $_->{text} } grep { $_->{kind} eq '+' } @{ $f->{rows} || [] };
		while ($added =~ /^typedef\b([^{;]*)(?:\{.*?^\}([^;]*))?;/msg)
		{
			my ($name) = ($2 // $1) =~
			  /(?|\(\s*\*\s*(\w+)\s*\)\s*\(|(\w+)\s*(?:\[.*)?\z)/;
			%known = map { $_ => 1 } split /\n/,
			  git_capture($self->{series}->tree, 'show', "$p->{after}:$list")
			  unless %known;
			$self->find($f, "$name is not in $list") unless $known{$name};
		}
	}
	return;
}

# The unprivileged user has built the program, so that root does not run it.
sub rule_pgindent
{
	my ($self, $p) = @_;
	my @paths =
	  map { $_->{path} } grep { !$_->{deleted} } $p->files(qr{\.[ch]$});
	return unless @paths;
	if (!defined $self->{pgindent})
	{
		$self->{skips}{pgindent} = {
			rule => 'pgindent',
			reason => 'there is no pg_bsd_indent; run: pgseries build'
		};
		return;
	}
	my $dir = $self->{series}->scratch($p->{after});
	my $user = $self->{series}{config}->user;
	my $tools = "$dir/src/tools/pgindent";
	my @command = (
		$user ? '/usr/bin/perl' : $^X,
		"$tools/pgindent",
		"--indent=$self->{pgindent}",
		"--typedefs=$tools/typedefs.list",
		"--excludes=$tools/exclude_file_patterns",
		qw(--diff --check),
		map { "$dir/$_" } @paths);

	# It makes temporary files in the directory where it runs.
	my $status = run_status(
		\@command,
		cwd => $user ? $user->{home} : $self->{series}{config}->work,
		user => $user,
		out => \my $diff,
		err => \my $err);
	my @found;
	push @found, "$1:$2: pgindent would change it"
	  while $diff =~ m{^--- \Q$dir\E/(\S+).*\n.*\n@@ -(\d+)}mg;
	push @found, "$1: pgindent refuses it: $2"
	  while $err =~ m{^Failure in \Q$dir\E/([^:]+): *(.*)}mg;
	fail(
		2,
		"pgindent failed on $p->{file}",
		"see what it says; or build or install $self->{pgindent} again", $err
	) if $status != 0 && !@found;
	$self->find($p, $_) for @found;
	return;
}

1;
