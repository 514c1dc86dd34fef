"""What the studies of intervals share: a pool over seeds, and shares that are printed."""

import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat


def held(estimates, truths):
    """Whether each interval holds its truth."""
    return [one.low <= truth <= one.high for one, truth in zip(estimates, truths)]


def studied(study, count, *arguments, first=0):
    """What a function finds for each number from the first on, called with it and the arguments."""
    with ProcessPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
        return list(pool.map(study, range(first, first + count), *map(repeat, arguments)))


def standard_error(count):
    """That of a share of 95 % of so many intervals, in words."""
    return f"standard error of a share: {100.0 * math.sqrt(0.95 * 0.05 / count):.1f} %"


def with_words(main, *kinds):
    """Call a study with the words of the command line, the first of which are of some kinds."""
    words = sys.argv[1:]
    main(*(kind(word) for kind, word in zip(kinds, words)), *words[len(kinds) :])
