#!/usr/bin/env python3
"""Writes stats-golden.json, which src/test/stats.t compares PgSeries::Stats
with.  Needs scipy; the versions used are in the file.  The random numbers of
PgSeries::Stats are done here a second time, independently of the Perl code."""

import json
import os
import random

import numpy
import scipy
from scipy import stats

rng = random.Random(20261121)


def xorshift128(seed):
    x, y, z, w = 123456789 ^ seed, 362436069, 521288629, 88675123
    while True:
        t = (x ^ (x << 11)) % 2**32
        x, y, z = y, z, w
        w = w ^ (w >> 19) ^ t ^ (t >> 8)
        yield w


# The first numbers of Marsaglia's generator, as published in many places
numbers = xorshift128(0)
assert [next(numbers) for _ in range(4)] == [
    3701687786, 458299110, 2500872618, 3633119408]


def below(numbers, limit):
    return next(numbers) * limit // 2**32


def start(seed):
    numbers = xorshift128(seed)
    for _ in range(64):
        next(numbers)
    return numbers


def quantiles():
    for n in (1, 2, 5, 10, 37):
        x = [rng.lognormvariate(0, 1) for _ in range(n)]
        for p in (0, 0.025, 0.25, 0.5, 0.9, 0.975, 1):
            yield {'x': x, 'p': p, 'value': float(numpy.quantile(x, p))}


def intervals():
    """Ranks of the order statistics, 1 is the smallest value; rank 0: none"""
    for n in (1, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 50, 101, 2000):
        for conf in (0.9, 0.95, 0.99):
            rank = int(stats.binom.ppf((1 - conf) / 2, n, 0.5))
            yield {'n': n, 'conf': conf, 'rank': rank,
                   'actual': float(1 - 2 * stats.binom.cdf(rank - 1, n, 0.5))}


def wilcoxon(d, method):
    nonzero = [v for v in d if v != 0]
    return {'d': d, 'method': method, 'p': float(
        stats.wilcoxon(nonzero, correction=True, method=method).pvalue)}


def signed_ranks():
    for n in range(1, 26):
        for shift in (0, 0.5):
            yield wilcoxon([rng.gauss(shift, 1) for _ in range(n)], 'exact')
    yield wilcoxon([1.5, 0, -2.5, 0, 3.25, 4, 5], 'exact')
    for n in (26, 40, 100):
        for shift in (0, 0.2, 1):
            yield wilcoxon([rng.gauss(shift, 1) for _ in range(n)],
                           'asymptotic')
    for n in (8, 20, 60):
        for shift in (0, 1):
            yield wilcoxon([rng.randint(-4, 4) + shift for _ in range(n)],
                           'asymptotic')
    yield wilcoxon([1, -1], 'asymptotic')
    yield wilcoxon([1, -1, 2, 3, -3, 3], 'asymptotic')


def shuffles():
    for seed in (0, 1, 2, 4294967295):
        for n in (1, 2, 10, 52):
            x = list(range(n))
            numbers = start(seed)
            for i in range(n - 1, 0, -1):
                j = below(numbers, i + 1)
                x[i], x[j] = x[j], x[i]
            yield {'seed': seed, 'n': n, 'order': x}


def bootstraps():
    for seed, n, conf, resamples in ((1, 8, 0.95, 2000), (7, 15, 0.9, 500)):
        x = [rng.lognormvariate(0, 1) for _ in range(n)]
        numbers = start(seed)
        medians = [
            float(numpy.median([x[below(numbers, n)] for _ in range(n)]))
            for _ in range(resamples)]
        lo, hi = (float(numpy.quantile(medians, p))
                  for p in ((1 - conf) / 2, (1 + conf) / 2))
        yield {'x': x, 'seed': seed, 'conf': conf, 'resamples': resamples,
               'lo': lo, 'hi': hi}


golden = {
    'scipy': scipy.__version__,
    'numpy': numpy.__version__,
    'quantile': list(quantiles()),
    'median_interval': list(intervals()),
    'signed_rank': list(signed_ranks()),
    'shuffle': list(shuffles()),
    'bootstrap_interval': list(bootstraps()),
}
name = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    'stats-golden.json')
with open(name, 'w', encoding='ascii') as file:
    # A line for each case
    text = json.dumps(golden, separators=(',', ':'))
    file.write(text.replace('},{', '},\n{').replace('}],"', '}],\n"') + '\n')
