package PgSeries::Report;

=pod

=head1 NAME

PgSeries::Report - the page, the documents and the worst cases from the results

=head1 DESCRIPTION

L<PgSeries::Report::Results> says what a result is and what its figures say,
L<PgSeries::Report::Topics> what topic.json adds.  The same results give the same
files, byte for byte.  benchmarks/report.html is what all pages have in common,
and benchmarks/style.gp all plots.

All raise a PgSeries::Error with code 2 that names the file and the remedy.

=cut

use strict;
use warnings FATAL => 'all';

use Cwd                       qw(abs_path);
use Encode                    qw(encode_utf8);
use Exporter                  qw(import);
use File::Spec                ();
use File::Temp                ();
use List::Util                qw(sum0 uniq);
use PgSeries::Report::Results qw(figure medians ratio_text read_results
  select_series);
use PgSeries::Report::Topics qw(gain read_topics worst);
use PgSeries::Util
  qw(fail find_tool info make_dir read_file run_status slurp_json write_file);
use Scalar::Util qw(looks_like_number);
use Text::Wrap   ();

our @EXPORT_OK = qw(plot_data update_readme write_page);

# The colours of style.gp, which report.html gives their meaning.
my %colour = (
	'#010101' => 'var(--ink)',
	'#020202' => 'var(--grid)',
	'#030303' => 'var(--base)',
	'#040404' => 'var(--patched)',
	'#050505' => 'var(--base-2)',
	'#060606' => 'var(--patched-2)');

# Takes a result and a plot of its benchmark.  Returns the text of the data file, which
# benchmarks/style.gp describes; the empty string if there are less than two values
# of x.
sub plot_data
{
	my ($result, $plot) = @_;
	my @keys = ref $plot->{lines} ? @{ $plot->{lines} } : $plot->{lines}
	  // ();
	my (@names, %rows, %x);

	foreach
	  my $series (select_series($result, $plot->{measure}, $plot->{where}))
	{
		my ($case, $figure) = ($series->{case}, figure($series));
		my $x = $case->{ $plot->{x} };
		next unless looks_like_number($x);
		$x{$x} = 1;

		# A text says by itself what it is; a number needs its name.
		my $name = join ', ', map {
			looks_like_number($case->{$_}) ? "$_ $case->{$_}" : $case->{$_}
		  }
		  grep { defined $case->{$_} } @keys;
		$name = '-' if $name eq '';
		push @names, $name unless $rows{$name};
		fail(
			2,
			"$result->{file}: plot $plot->{file} has two figures for "
			  . "$plot->{x} $x",
			'add to "where" or "lines" of the plot in the benchmark\'s meta.json'
		) if $rows{$name}{$x};
		$rows{$name}{$x} = join(
			"\t", $x,
			(   map { defined $_ ? sprintf('%.10g', $_) : 'NaN' }
				map { @{ $figure->{$_} }[ 0 .. 2 ] } qw(base patched)),
			$name) . "\n";
	}
	return '' if keys %x < 2;
	return join(
		"\n\n",
		"# x\tbase\tbase_lo\tbase_hi\tpatched\tpatched_lo\tpatched_hi\tline\n",
		map {
			my $row = $rows{$_};
			join('', map { $row->{$_} } sort { $a <=> $b } keys %$row)
		} @names);
}

# Runs gnuplot; returns the SVG text, without what differs between its versions or
# makes two plots in one page clash, and with the colours of the page.
sub _svg
{
	my ($result, $plot, $data, $benchmarks) = @_;
	my $file = "$benchmarks/$result->{topic}/$result->{bench}/$plot->{file}";
	my $dir = File::Temp->newdir('pgseries-plot-XXXXXX', TMPDIR => 1);
	my %set = (
		datafile => "$dir/data",
		outfile => "$dir/plot.svg",
		style => "$benchmarks/style.gp",
		base => $result->{base});
	my $gnuplot = find_tool('gnuplot')
	  or fail(2, 'gnuplot is missing', 'run: ./configure --install-deps');

	write_file($set{datafile}, $data);
	s/'/''/g foreach values %set;
	my $status = run_status(
		[
			$gnuplot, '-d', '-e',
			join('; ', map { "$_='$set{$_}'" } sort keys %set), $file
		],
		env => { LC_ALL => 'C', GNUPLOT_LIB => undef },
		err => \my $errors);
	my $svg = -s "$dir/plot.svg" ? read_file("$dir/plot.svg") : '';
	fail(
		2,
		"gnuplot failed on $file (exit status $status)",
		'correct the plot file', $errors
	) if $status != 0 || $svg !~ /<\/svg>\s*$/;
	utf8::decode($svg);
	my $label = _html("$plot->{title}: $result->{base} and patched");
	$svg =~ s/^.*?<svg\s+width="\d+" height="\d+"/<svg/s;
	$svg =~ s/<svg/<svg role="img" aria-label="$label"/;
	$svg =~ s/<title>[^<]*<\/title>\s*|<desc>[^<]*<\/desc>\s*//g;
	$svg =~ s/\b(id=['"]|xlink:href=['"]#|url\(#)/$1$result->{bench}-/g;
	$svg =~
	  s/rgb\( *(\d+), *(\d+), *(\d+)\)/sprintf '#%02x%02x%02x', $1, $2, $3/ge;
	$svg =~ s/(#0([1-6])0\g2[0]\g2)/$colour{$1}/g;
	$svg =~ s/<filter.*?<\/filter>|<g[^>]*>\s*<\/g>//gs;
	$svg =~ s/[ \t]*\n\s*/\n/g;
	return $svg;
}

sub _html
{
	my ($text) = @_;
	my %entity = ('&' => 'amp', '<' => 'lt', '>' => 'gt', '"' => 'quot');
	$text =~ s/([&<>"])/&$entity{$1};/g;
	return $text;
}

# A link to a file, relative to the directory of the page, which exists.
sub _link
{
	my ($text, $file, $dir) = @_;
	my $path = File::Spec->abs2rel(abs_path($file), abs_path($dir));
	$path =~ s{([^A-Za-z0-9./_~-])}{sprintf '%%%02X', ord $1}ge;
	return "<a href=\"$path\">" . _html($text) . '</a>';
}

# The rows of a result's table: [head], or text, base, patched, ratio and verdict.
sub _rows
{
	my ($result) = @_;
	my @rows = [ 'Case', $result->{base}, 'Patched', 'Ratio', 'Verdict' ];
	foreach my $group (@{ $result->{groups} })
	{
		push @rows, [ $group->{head} ] if defined $group->{head};
		foreach my $series (@{ $group->{series} })
		{
			my $figure = figure($series);
			push @rows,
			  [
				$series->{row}, medians($series, $figure),
				ratio_text($series, $figure), $figure->{verdict}
			  ];
		}
	}
	return @rows;
}

sub _html_table
{
	my ($result) = @_;
	my ($heads, @rows) = _rows($result);
	my $title = _html($result->{title});
	my $head = join '',
	  map { "<th scope=\"col\">" . _html($_) . "</th>\n" } @$heads;
	my $body = '';

	foreach my $row (@rows)
	{
		my ($text, @cells) = map { _html($_) } @$row;
		if (!@cells)
		{
			$body .= '<tr class="head"><th colspan="5" scope="rowgroup">'
			  . "<span>$text</span>\n</th>\n</tr>\n";
			next;
		}
		my $verdict = pop @cells;
		my $class = $verdict =~ tr/ /-/r;
		$body .= join '', "<tr><th scope=\"row\">$text</th>\n",
		  (map { "<td>$_</td>\n" } @cells),
		  "<td class=\"$class\">$verdict</td>\n</tr>\n";
	}
	return <<"EOT";
<h3>$title</h3>
<div class="scroll" tabindex="0" role="region" aria-label="$title"><table><thead><tr>$head</tr>
</thead>
<tbody>$body</tbody>
</table>
</div>
EOT
}

# Machine, compiler and dates of the results, as [name, value].
sub _facts
{
	my ($results) = @_;
	my @dates = sort map { substr $_, 0, 10 } grep { defined }
	  map { $_->{date} } map { ($_, @{ $_->{series} }) } @$results;
	my %of = map {
		my $key = $_;
		$key => join ' / ',
		  uniq map { s/^(\d{6,})\z/sprintf '%.1f GiB', $1 \/ 1024 ** 2/er }
		  map      { $_->{machine}{$key} // 'not known' }
		  @$results
	} qw(cpu cores memory_kb compiler valgrind);
	return (
		[ Machine => "$of{cpu}, $of{cores} cores, $of{memory_kb}" ],
		[ System => "$of{compiler}, $of{valgrind}" ],
		[ Measured => join ' to ', uniq @dates[ 0, -1 ] ],
		[ Scale => join ' and ', uniq map { $_->{scale} } @$results ]);
}

# Writes $dir/index.html, for which no other file is needed: the topics from
# read_topics() with what the results, from read_results(), say of them.  Returns the
# path.
sub write_page
{
	my ($config, $topics, $results, $dir) = @_;
	make_dir($dir);
	my %part = (
		BASE => _html(join ' and ', uniq map { $_->{base} } @$results),
		PATCHES => sum0(map { $_->{patches} } @$topics),
		NAV => join(
			'',
			map { "<a href=\"#$_->{name}\">" . _html($_->{title}) . "</a>\n" }
			  @$topics),
		TOPICS =>
		  join('', map { _section($config, $_, $results, $dir) } @$topics),
		FACTS => join('',
			map { "<dt>$_->[0]</dt>\n<dd>" . _html($_->[1]) . "</dd>\n" }
			  _facts($results)));
	my $page = read_file($config->top . '/benchmarks/report.html');
	$page =~ s/\@([A-Z]+)\@/$part{$1}/g;
	write_file("$dir/index.html", encode_utf8($page));
	return "$dir/index.html";
}

# What the page says of a topic.
sub _section
{
	my ($config, $topic, $results, $dir) = @_;
	my ($top, $name) = ($config->top, $topic->{name});
	my @own = grep { $_->{topic} eq $name } @$results;
	my $title = _html($topic->{title});

	# The results of a shorter run need not have all figures.
	my $gain = eval { gain($topic, $results) }
	  // 'the figures for this sentence are not among the results';
	$gain = _html(ucfirst $gain);
	my $worst = worst($topic, $results);
	my $costs = '';
	$costs =
		'<p class="worst"><b>Worst measured:</b> '
	  . _html($worst->{text})
	  . ".</p>\n"
	  if $worst;
	my $links = join ' &middot; ',
	  map { _link(@$_, $dir) } grep { -e $_->[1] } (
		[ 'How it works', "$top/doc/topics/$name.md" ],
		[ "$topic->{patches} patches", $config->patches . "/$name" ],
		map { [ "$_->{bench}.json", $_->{file} ] } @own);
	my $plot = _figure($topic, \@own, "$top/benchmarks");
	my $count = map { @{ $_->{series} } } @own;
	my $tables = join '', map { _html_table($_) } @own;
	$tables =
	  "<details><summary>All $count figures</summary>\n$tables</details>\n"
	  if @own;
	return <<"EOT";
<section id="$name"><div class="words"><h2>$title</h2>
<p class="gain">$gain.</p>
$costs<p class="links">$links</p>
</div>
$plot$tables</section>
EOT
}

# The plot of a topic as an element; the empty string if the results do not have its
# data.
sub _figure
{
	my ($topic, $own, $benchmarks) = @_;
	my $of = $topic->{plot} or return '';
	my ($result) = grep { $_->{bench} eq $of->{bench} } @$own or return '';
	my $meta =
	  slurp_json("$benchmarks/$topic->{name}/$of->{bench}/meta.json");
	my ($plot) = grep { $_->{file} eq $of->{file} } @{ $meta->{plots} }
	  or fail(
		2,
		"$topic->{file}: $of->{bench} has no plot $of->{file}",
		'name one of its meta.json');
	my $data = plot_data($result, $plot);
	return '' if $data eq '';
	my $svg = _svg($result, $plot, $data, $benchmarks);
	my $caption = _html($plot->{title});
	return "<figure>$svg<figcaption>$caption</figcaption>\n</figure>\n";
}

sub _md
{
	my ($text) = @_;
	$text =~ s/([\\`*_<>\[\]|~#])/\\$1/g;
	return $text;
}

sub _md_row
{
	return '| ' . join(' | ', map { _md($_) } @_) . " |\n";
}

# The text of doc/results.md.
sub _results_document
{
	my ($topics, $results) = @_;
	my $text =
		"# Results\n\nWritten by `src/bin/pgseries report --docs` from "
	  . "[benchmarks/results](../benchmarks/results).\n"
	  . "A ratio is patched / base, of times the median over pairs of runs with "
	  . "its 95% interval.\n\n| Fact | Value |\n| --- | --- |\n"
	  . join('', map { _md_row(@$_) } _facts($results));

	foreach my $topic (@$topics)
	{
		my $worst = worst($topic, $results);
		$text .=
			"\n## "
		  . _md($topic->{title}) . "\n\n"
		  . _md(ucfirst gain($topic, $results)) . ".\n";
		$text .= "\nWorst measured: " . _md($worst->{text}) . ".\n" if $worst;
		foreach my $result (grep { $_->{topic} eq $topic->{name} } @$results)
		{
			my ($head, @rows) = _rows($result);
			$text .=
				"\n### "
			  . _md($result->{title}) . "\n\n"
			  . _md_row(@$head)
			  . "| --- | --: | --: | --: | --- |\n";
			$text .=
			  @$_ > 1
			  ? _md_row(@$_)
			  : '| **' . _md(@$_) . "** | | | | |\n"
			  foreach @rows;
		}
	}
	return encode_utf8($text);
}

# Returns the text of the README with what the topics gain between
# <!-- results:begin --> and <!-- results:end -->, in lines of at most
# 120 characters.
sub update_readme
{
	my ($text, $topics, $results) = @_;
	my ($begin, $end) = map { "<!-- results:$_ -->\n" } qw(begin end);
	my $block = '';
	local $Text::Wrap::columns = 121;
	local $Text::Wrap::huge = 'overflow';

	foreach my $topic (@$topics)
	{
		my $worst = worst($topic, $results);
		my $line = gain($topic, $results)
		  . (
			  !%{ $topic->{figures} } ? ''
			: defined $worst->{short} ? "; worst measured: $worst->{short}"
			:                           '; none of its benchmarks is worse');
		$block .= Text::Wrap::wrap(
			'- ',
			'  ',
			'**'
			  . _md($topic->{who})
			  . "** (`$topic->{name}`): "
			  . _md($line) . '.') . "\n";
	}
	$block = encode_utf8($block);
	$text =~ s/^\Q$begin\E.*?^\Q$end\E/$begin$block$end/ms
	  or fail(
		2,
		'README.md has no line "<!-- results:begin -->" before one with "end"',
		'put both where the list of topics belongs');
	return $text;
}

# The command pgseries report.  Returns the exit status: 1 if --docs --dry-run
# finds a document that is not what benchmarks/results gives.
sub command
{
	my ($c) = @_;
	my ($config, $o) = ($c->config, $c->{option});
	my $help = 'see: pgseries report --help';
	fail(2, '--dry-run is for --docs only', $help)
	  if $o->{dry_run} && !$o->{docs};
	fail(2, '--docs takes no --results: it reads benchmarks/results', $help)
	  if $o->{docs} && defined $o->{results};
	my @results = read_results($config, $o->{results});
	my ($topics, $top) = (read_topics($config), $config->top);

	return $c->say(
		write_page($config, $topics, \@results, $config->build . '/report'))
	  unless $o->{docs};
	my %new = (
		'doc/results.md' => _results_document($topics, \@results),
		'README.md' =>
		  update_readme(read_file("$top/README.md"), $topics, \@results));
	my $status = 0;

	foreach my $name (sort keys %new)
	{
		my $file = "$top/$name";
		next if -f $file && read_file($file) eq $new{$name};
		if ($o->{dry_run})
		{
			info("pgseries: $name is not what benchmarks/results gives; run: "
				  . 'pgseries report --docs');
			$status = 1;
		}
		else { write_file($file, $new{$name}); }
	}
	return $status;
}

1;
