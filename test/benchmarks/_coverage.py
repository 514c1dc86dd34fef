"""Helpers of the coverage studies: a pool of processes, interval checks and standard errors."""

import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat


def contains_truth(estimates, truths):
    """Return for each interval whether it contains its true value."""
    return [item.low <= truth <= item.high for item, truth in zip(estimates, truths)]


def run_study(study, count, *arguments, first=0):
    """Return the results of a function for ``count`` seeds, computed in parallel."""
    with ProcessPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
        return list(pool.map(study, range(first, first + count), *map(repeat, arguments)))


def standard_error(count):
    """Return the standard error of a share of 95 % of ``count`` intervals, as text."""
    return f"standard error of a share: {100.0 * math.sqrt(0.95 * 0.05 / count):.1f} %"


def call_with_arguments(main, *kinds):
    """Call a study with the words of the command line; convert the first words to ``kinds``."""
    words = sys.argv[1:]
    main(*(kind(word) for kind, word in zip(kinds, words)), *words[len(kinds) :])
