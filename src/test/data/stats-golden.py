#!/usr/bin/env python3
"""Writes stats-golden.json, which src/test/stats.t compares PgSeries::Stats
with.  Needs scipy; the versions used are in the file."""

import json
import os
import random

import numpy
import scipy
from scipy import stats

rng = random.Random(20261121)


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


golden = {
    'scipy': scipy.__version__,
    'numpy': numpy.__version__,
    'median': list(medians()),
    'median_interval': list(intervals()),
}
name = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    'stats-golden.json')
with open(name, 'w', encoding='ascii') as file:
    # A line for each case
    text = json.dumps(golden, separators=(',', ':'))
    file.write(text.replace('},{', '},\n{').replace('}],"', '}],\n"') + '\n')
