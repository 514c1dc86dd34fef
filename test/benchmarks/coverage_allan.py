"""How often an Allan analysis claims a term that a record lacks, or an interval misses the truth.

Each record is one axis of 30 minutes at 20 Hz with white noise of N = 1e-4 and, by case,

* ``white``: nothing else;
* ``walk``: a random walk, K from 2e-5 to 2e-4;
* ``instability``: flicker noise in the assumed band, B from 3e-5 to 3e-4;
* ``process``: a Gauss-Markov process of 20 to 100 s, sigma from 3e-5 to 3e-4;
* ``minute``: one of 60 s and sigma 1e-4;
* ``long``: a Gauss-Markov process of 150 to 600 s, longer than the record can distinguish from a
  random walk.

Coefficients and times are drawn evenly in the logarithm. Printed are, for each case and term, the
share of records in which the term is identified and that in which its 95 % interval excludes the
truth, for a term that is not there: 0. All random numbers but those of flicker noise come from
numpy alone.

    coverage_allan.py [RECORDS [CASE ...]]
"""

import warnings

import numpy as np
from _coverage import standard_error, studied, with_words
from scipy.signal import lfilter

from imu_simulation_framework.characterisation.allan.analysis import DEFAULT_BAND, identify
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.sensors.noise.processes import BiasInstability

RATE, LENGTH = 20.0, 36_000
WHITE = 1e-4
TERMS = ("white_noise", "bias_instability", "random_walk")
CASES = ("white", "walk", "instability", "process", "minute", "long")


def draw(generator, low, high):
    """Draw a value evenly in the logarithm."""
    return float(np.exp(generator.uniform(np.log(low), np.log(high))))


def gauss_markov(generator, sigma, time):
    """Return a stationary Gauss-Markov process, shape (n,)."""
    phi = np.exp(-1.0 / RATE / time)
    steps = sigma * np.sqrt(1.0 - phi**2) * generator.standard_normal(LENGTH)
    steps[0] = sigma * generator.standard_normal()
    return lfilter([1.0], [1.0, -phi], steps)


def make_record(case, generator):
    """Return samples (n,) of a case and the true coefficients of ``TERMS``."""
    values = WHITE * np.sqrt(RATE) * generator.standard_normal(LENGTH)
    instability = walk = 0.0
    if case == "walk":
        walk = draw(generator, 2e-5, 2e-4)
        values += np.cumsum(walk / np.sqrt(RATE) * generator.standard_normal(LENGTH))
    elif case == "instability":
        instability = draw(generator, 3e-5, 3e-4)
        process = BiasInstability(instability, DEFAULT_BAND, 1.0 / RATE, generator)
        values += process.batch(LENGTH, 1)[0, :, 0]
    elif case == "process":
        values += gauss_markov(generator, draw(generator, 3e-5, 3e-4), draw(generator, 20.0, 100.0))
    elif case == "minute":
        values += gauss_markov(generator, 1e-4, 60.0)
    elif case == "long":
        values += gauss_markov(
            generator, draw(generator, 5e-5, 3e-4), draw(generator, 150.0, 600.0)
        )
    return values, (WHITE, instability, walk)


def analyse(seed, case):
    """Analyse one record; return a row of (identified, interval excludes the truth) per term."""
    warnings.simplefilter("ignore")
    values, truth = make_record(case, np.random.default_rng([CASES.index(case), seed]))
    made = prepare_at_rest(np.arange(LENGTH) / RATE, values[:, None], ("gyro_x",), "made")
    terms = identify([made]).axes["gyro_x"].fit.terms
    return [
        (terms[name].identified, not terms[name].low <= value <= terms[name].high)
        for name, value in zip(TERMS, truth)
    ]


def main(count=200, *cases):
    """Analyse so many records of each case and print the shares."""
    print(f"{count} records a case, {standard_error(count)}")
    for case in cases or CASES:
        rows = np.array(studied(analyse, count, case))
        shares = 100.0 * rows.mean(axis=0)
        for name, (identified, missed) in zip(TERMS, shares):
            print(f"{case:12s} {name:17s} identified {identified:5.1f} %  missed {missed:5.1f} %")


if __name__ == "__main__":
    with_words(main, int)
