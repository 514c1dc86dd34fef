"""Helpers for studies of interval coverage: parallel runs, interval checks, standard errors."""

import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat


def contains_truth(estimates, truths):
    """Return for each interval whether it contains the true value."""
    return [item.low <= truth <= item.high for item, truth in zip(estimates, truths)]


def run_study(study, count, *arguments, first=0):
    """Call a function in parallel with ``count`` consecutive seeds; return the results."""
    with ProcessPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
        return list(pool.map(study, range(first, first + count), *map(repeat, arguments)))


def standard_error(count):
    """Return as text the standard error of a coverage of 95 % over ``count`` intervals."""
    return f"standard error of a coverage of 95 %: {100.0 * math.sqrt(0.95 * 0.05 / count):.1f} %"


def call_with_arguments(main, *kinds):
    """Call a study with the command-line arguments, converting the first ones to given types."""
    words = sys.argv[1:]
    main(*(kind(word) for kind, word in zip(kinds, words)), *words[len(kinds) :])
