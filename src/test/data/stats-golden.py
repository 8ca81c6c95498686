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


def medians():
    for n in (1, 2, 5, 10, 37):
        x = [rng.lognormvariate(0, 1) for _ in range(n)]
        yield {'x': x, 'value': float(numpy.median(x))}


def intervals():
    """Ranks of the order statistics, 1 is the smallest value; rank 0: none"""
    for n in (1, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 50, 101, 2000):
        rank = int(stats.binom.ppf((1 - 0.95) / 2, n, 0.5))
        yield {'n': n, 'rank': rank,
               'actual': float(1 - 2 * stats.binom.cdf(rank - 1, n, 0.5))}


def shuffles():
    for seed in (0, 1, 2, 4294967295):
        for n in (1, 2, 10, 52):
            x = list(range(n))
            numbers = start(seed)
            for i in range(n - 1, 0, -1):
                j = below(numbers, i + 1)
                x[i], x[j] = x[j], x[i]
            yield {'seed': seed, 'n': n, 'order': x}


golden = {
    'scipy': scipy.__version__,
    'numpy': numpy.__version__,
    'median': list(medians()),
    'median_interval': list(intervals()),
    'shuffle': list(shuffles()),
}
name = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    'stats-golden.json')
with open(name, 'w', encoding='ascii') as file:
    # A line for each case
    text = json.dumps(golden, separators=(',', ':'))
    file.write(text.replace('},{', '},\n{').replace('}],"', '}],\n"') + '\n')
