# The report page in a browser, at two widths, in the light and in the dark.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use File::Temp     ();
use FindBin;
use JSON::PP;
use PgSeries::Config;
use PgSeries::Report          qw(write_page);
use PgSeries::Report::Results qw(read_results);
use PgSeries::Report::Topics  qw(read_topics);
use PgSeries::Util            qw(find_tool read_file run_status write_file);
use Test::More;

plan skip_all => 'chromium is not installed (Debian package: chromium)'
  unless find_tool('chromium');
plan skip_all => 'gnuplot is not installed (Debian package: gnuplot-nox)'
  unless find_tool('gnuplot');

use constant { NARROW => 420, WIDE => 1280 };

# What is read from a page, with all tables opened.  Pages are in frames, because a
# window of the browser is not as narrow as a telephone.
my $script = <<'JS';
const colour = text => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
const light = c => c.slice(0, 3).map(v => v / 255).map(
  v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
function behind(win, e) {
  for (; e; e = e.parentElement) {
    const c = colour(win.getComputedStyle(e).backgroundColor);
    if (c.length == 3 || c[3] == 1) return c;
  }
  return [255, 255, 255];
}
function contrast(win, e, property) {
  const [a, b] = [light(colour(win.getComputedStyle(e)[property])),
    light(behind(win, e))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
const name = e => e.tagName + ' ' + e.textContent.trim().slice(0, 30);
function measure(frame) {
  const [doc, win] = [frame.contentDocument, frame.contentWindow];
  const all = selector => [...doc.querySelectorAll(selector)];
  all('details').forEach(d => d.open = true);
  const root = doc.documentElement;
  return {
    width: win.innerWidth,
    dark: win.matchMedia('(prefers-color-scheme: dark)').matches,
    ground: light(behind(win, doc.body)),
    scroll: root.scrollWidth - root.clientWidth,
    outside: all('body *').filter(e => !e.closest('.scroll > *')
      && !e.closest('svg *')
      && e.getBoundingClientRect().right > root.clientWidth + 0.5).map(name),
    tables: all('table').filter(e => !e.closest('.scroll[tabindex="0"]'))
      .map(name),
    plots: Object.fromEntries(all('section').map(s => [s.id,
      [...s.querySelectorAll('figure svg')].map(svg => {
        const box = svg.getBoundingClientRect();
        return {
          share: box.width / s.clientWidth, height: box.height,
          lines: [...svg.querySelectorAll('path')].filter(p =>
            /base|patched/.test(p.getAttribute('stroke')) && p.getBBox().width > 50
            && contrast(win, p, 'stroke') >= 3).length,
          text: Math.min(99, ...[...svg.querySelectorAll('text')].map(t =>
            parseFloat(win.getComputedStyle(t).fontSize)
            * box.width / svg.viewBox.baseVal.width))
        };
      })])),
    faint: all('h1, h2, h3, p, a, li, dt, dd, th, td, summary, svg text').filter(e =>
      contrast(win, e, e.closest('svg') ? 'fill' : 'color') < 4.5).map(name),
    links: all('a').map(a => a.getAttribute('href')),
    ids: all('[id]').map(e => e.id),
    foreign: all('script, link, img, iframe, object, [src]').map(name)
  };
}
onload = () => document.body.append('MEASURED' + JSON.stringify(
  [...document.querySelectorAll('iframe')].map(measure)) + 'END');
JS

my $temp = File::Temp->newdir();
my $top = dirname(dirname($FindBin::RealBin));
my $config = PgSeries::Config->new(top => $top);
my $topics = read_topics($config);
my $page =
  write_page($config, $topics, [ read_results($config) ], "$temp/report");

# Opens [file, width], ...; returns what the script says of each.
sub look
{
	my ($dark, @pages) = @_;
	my $frames = join '', map {
		"<iframe src=\"file://$_->[0]\" style=\"width: $_->[1]px; height: 900px;"
		  . ' border: 0"></iframe>'
	} @pages;
	write_file("$temp/frames.html",
		"<!DOCTYPE html><body>$frames<script>$script</script>");
	my $status = run_status(
		[
			'timeout',
			'240',
			'chromium',
			qw(--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
			  --disable-background-networking --disable-component-update
			  --disable-sync --allow-file-access-from-files --dump-dom),
			'--blink-settings=preferredColorScheme=' . ($dark ? 0 : 1),
			"--user-data-dir=$temp/profile",
			"file://$temp/frames.html"
		],
		env => { HOME => "$temp" },
		out => \my $out,
		err => \my $err);
	my ($json) = $out =~ /MEASURED(\[.*\])END(?!')/s;
	if ($status != 0 || !defined $json)
	{
		diag($err);
		BAIL_OUT("chromium failed (exit status $status)");
	}
	$json =~ s/&lt;/</g;
	$json =~ s/&gt;/>/g;
	$json =~ s/&amp;/&/g;
	return @{ JSON::PP->new->decode($json) };
}

# What is wrong with a page as it was seen.
sub problems
{
	my ($file, $width, $dark, $seen) = @_;
	my %id;
	my @problems = map { "id $_ occurs twice" }
	  grep { $id{$_}++ == 1 } @{ $seen->{ids} };

	push @problems, "width is $seen->{width}" if $seen->{width} != $width;
	push @problems, 'the browser shows other colours'
	  if !$seen->{dark} != !$dark;
	push @problems, 'the background is not ' . ($dark ? 'dark' : 'light')
	  if $dark ? $seen->{ground} > 0.1 : $seen->{ground} < 0.8;
	push @problems, "scrolls sideways by $seen->{scroll}"
	  if $seen->{scroll} > 0;
	push @problems, map { "outside: $_" } @{ $seen->{outside} };
	push @problems,
	  map { "table without scroll bar: $_" } @{ $seen->{tables} };
	push @problems, map { "hard to read: $_" } @{ $seen->{faint} };
	push @problems, map { "not self-contained: $_" } @{ $seen->{foreign} };

	foreach my $topic (@$topics)
	{
		my ($name, $want) = ($topic->{name}, $topic->{plot} ? 1 : 0);
		my @plots = @{ $seen->{plots}{$name} || [] };
		push @problems, "no section $name" unless $seen->{plots}{$name};
		push @problems, "plots of $name: " . @plots if @plots != $want;
		push @problems, map { "small plot of $name" }
		  grep { $_->{height} < 150 || $_->{share} < 0.4 } @plots;
		push @problems, map { "plot of $name without lines" }
		  grep { $_->{lines} < 2 } @plots;
		push @problems, map { "small text in the plot of $name" }
		  grep { $_->{text} < 9 } @plots;
	}
	foreach my $link (@{ $seen->{links} })
	{
		my $found =
		  $link =~ /^#(.+)/ ? $id{$1} : -e dirname($file) . "/$link";
		push @problems, "dead link: $link"
		  if !$found || $link =~ m{^(?:/|\w+:)};
	}
	return @problems;
}

foreach my $dark (0, 1)
{
	my @widths = (NARROW, WIDE);
	my @seen = look($dark, map { [ $page, $_ ] } @widths);
	foreach my $i (0 .. $#widths)
	{
		is(join("\n", problems($page, $widths[$i], $dark, $seen[$i])),
			'', "$widths[$i] pixels, " . ($dark ? 'dark' : 'light'));
		cmp_ok(scalar @{ $seen[$i]{links} }, '>', 10, 'there are links');
	}
}

# A page that is broken on purpose: each check finds its fault.
my $text = read_file($page);
my @broken = (
	[
		qr/<main>/,
		'<main><p style="width: 2000px">wide</p>',
		'scrolls sideways by \d+'
	],
	[ qr/<h1>/, '<h1 id="merge">', 'id merge occurs twice' ],
	[ qr/<h1/, '<img alt=""><h1', 'not self-contained: IMG' ],
	[
		qr/<div class="scroll"[^>]*>/,
		'<div>',
		'table without scroll bar: TABLE Case'
	],
	[ qr/<svg(?!.*<svg).*<\/svg>/s, '', 'plots of [\w-]+: 0' ],
	[
		qr/viewBox="0 0 480 300"/,
		'viewBox="0 0 960 600"',
		'small text in the plot of indexes'
	],
	[
		qr/--patched: #0067b1/,
		'--patched: #fafafa',
		'plot of indexes without lines'
	],
	[ qr/--soft: #59636e/, '--soft: #e0e0e0', 'hard to read: P ' ],
	[ qr/href="[^"#]*indexes\.md"/, 'href="none.md"', 'dead link: none\.md' ],
	[
		qr/href="[^"#]*locks\.md"/, 'href="https://example.org/"',
		'dead link: https:'
	]);
foreach my $broken (@broken)
{
	my ($from, $to) = @$broken;
	$text =~ s/$from/$to/ or die "the page has no $from";
}
write_file("$temp/report/broken.html", $text);
my ($seen) = look(0, [ "$temp/report/broken.html", NARROW ]);
my $found = join "\n", problems("$temp/report/broken.html", NARROW, 0, $seen);
like($found, qr/^$_->[2]/m, "found: $_->[2]") foreach @broken;

done_testing();
