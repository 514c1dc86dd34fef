"""Reliability of the Allan analysis: false identifications, and coverage of the intervals.

Each record is one axis of 30 minutes at 20 Hz with white noise of N = 1e-4 and, by case,

* ``white``: no other noise;
* ``walk``: a random walk, K from 2e-5 to 2e-4;
* ``instability``: flicker noise in the default band, B from 3e-5 to 3e-4;
* ``process``: a Gauss-Markov process with a time constant of 20 to 100 s, sigma 3e-5 to 3e-4;
* ``minute``: a Gauss-Markov process with a time constant of 60 s, sigma 1e-4;
* ``long``: a Gauss-Markov process with a time constant of 150 to 600 s, too long to distinguish it
  from a random walk in the record.

Coefficients and time constants are log-uniform. For each case and term, the program prints the
share of records in which the term is identified, and the share in which the 95 % interval excludes
the true value (0 for an absent term). Only flicker noise is simulated by this package, all other
noise by numpy.

    coverage_allan.py [RECORDS [CASE ...]]
"""

import warnings

import numpy as np
from _coverage import call_with_arguments, run_study, standard_error
from scipy.signal import lfilter

from imu_simulation_framework.characterisation.allan.analysis import DEFAULT_BAND, identify
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.sensors.noise.processes import BiasInstability

RATE, LENGTH = 20.0, 36_000
WHITE = 1e-4
TERMS = ("white_noise", "bias_instability", "random_walk")
CASES = ("white", "walk", "instability", "process", "minute", "long")


def draw(generator, low, high):
    """Return a log-uniform random number."""
    return float(np.exp(generator.uniform(np.log(low), np.log(high))))


def gauss_markov(generator, sigma, time):
    """Return samples of a stationary Gauss-Markov process, shape (n,)."""
    phi = np.exp(-1.0 / RATE / time)
    steps = sigma * np.sqrt(1.0 - phi**2) * generator.standard_normal(LENGTH)
    steps[0] = sigma * generator.standard_normal()
    return lfilter([1.0], [1.0, -phi], steps)


def make_record(case, generator):
    """Return the samples of a record, shape (n,), and the true coefficients of ``TERMS``."""
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
    """Return for each term whether it is identified and whether its interval misses the value."""
    warnings.simplefilter("ignore")
    values, truth = make_record(case, np.random.default_rng([CASES.index(case), seed]))
    samples = prepare_at_rest(np.arange(LENGTH) / RATE, values[:, None], ("gyro_x",), "simulated")
    terms = identify([samples]).axes["gyro_x"].fit.terms
    return [
        (terms[name].identified, not terms[name].low <= value <= terms[name].high)
        for name, value in zip(TERMS, truth)
    ]


def main(count=200, *cases):
    """Analyse ``count`` records per case; print the rates of identified terms and missed values."""
    print(f"{count} records per case, {standard_error(count)}")
    for case in cases or CASES:
        rows = np.array(run_study(analyse, count, case))
        shares = 100.0 * rows.mean(axis=0)
        for name, (identified, missed) in zip(TERMS, shares):
            print(f"{case:12s} {name:17s} identified {identified:5.1f} %  missed {missed:5.1f} %")


if __name__ == "__main__":
    call_with_arguments(main, int)
