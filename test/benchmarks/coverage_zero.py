"""How often the zero of a yaw error and its final value lie where they are said to be: 100 drives.

Simulated drives of ten minutes with the references of coverage_yaw_error.py, with one that is poor
for its first minute, as a course while a robot is slow, and one that jumps, which is not known.
Wanted: 95 % intervals hold the start offset, and what the IMU's own final error is, in 90 to 99 %.
Beside them stands how far off the start offset is (rms), and how far the median over the first
three seconds is; and how often a judgement of the right model rejects it, at 5 %.

    coverage_zero.py [DRIVES [KIND ...]]
"""

import numpy as np
import pandas as pd
from _coverage import standard_error, studied, with_words
from coverage_yaw_error import CONSTANTS, DURATION, MODELS, REFERENCES, START_OFFSET, motion

from imu_simulation_framework.heading.error_split import ESTIMATED, START, split_error
from imu_simulation_framework.heading.judgement import from_zero_where_known, judge
from imu_simulation_framework.heading.reference_error import ReferenceError
from imu_simulation_framework.heading.statistics import TWO_SIDED

WINDOW, RUNS = 3.0, 399
_STEADY = np.ones(int(DURATION) + 1)
_SLOW = 0.02 + 0.3 * (np.arange(DURATION + 1.0) < 60.0)
KINDS = {
    **REFERENCES,
    "poor at the start": (_SLOW, 10.0, 0.0, 0.0, 0.0),
    "jumping": (0.02 * _STEADY, 10.0, 0.0, 0.0, 0.0),
}
JUMPS = {150: 0.5, 152: -0.5, 250: 0.35}
"""An outlier of two seconds, and a step [rad], by their time [s]."""


def sensors(runs, random):
    """Errors of the sensor of coverage_yaw_error.py, (runs, n) [rad]."""
    times, net, _ = motion()
    walk = MODELS["angle random walk"]["angle_random_walk"]
    errors = np.cumsum(walk * random.standard_normal((runs, len(times))), axis=1)
    return errors - CONSTANTS["rate_bias"] * times - CONSTANTS["scale_factor"] * net


def references(kind, runs, random):
    """What is known of a reference, and errors that it may have, (runs, n) [rad]."""
    times, net, _ = motion()
    std, correlation_time, *constants = KINDS[kind]
    known = ReferenceError(times, std, correlation_time, np.gradient(net, times), net, *constants)
    return known, known.draw(runs, random)


def study(number, kind):
    """One drive: offsets' and final errors' miss and reach, and whether a judgement rejects."""
    random = np.random.default_rng([number, len(kind)])
    times = motion()[0]
    known, of_reference = references(kind, 1, random)
    own = sensors(1, random)[0]
    error = of_reference[0] + own + START_OFFSET
    if kind == "jumping":
        for at, size in JUMPS.items():
            error[at:] += size
    first = times < WINDOW
    offset, final = START_OFFSET + own[first].mean(), own[-3:].mean() - own[first].mean()
    found = []
    for zero in (ESTIMATED, START):
        split = split_error(pd.Series(error, times), known, WINDOW, zero)
        seen = np.median(error[-3:]) - split.zero
        found.append(
            (
                split.zero - offset,
                split.zero_std,
                seen - final,
                split.final_std,
                split.imu_final_low <= final <= split.imu_final_high,
            )
        )
    ensemble = sensors(RUNS, random) + references(kind, RUNS, random)[1]
    judged = judge(*from_zero_where_known(times, error, ensemble, known))
    return np.array(found, dtype=float), judged.rejected


def main(count=100, *chosen):
    """Print, for each kind of reference, how often each interval held."""
    for kind in chosen or KINDS:
        found, rejected = zip(*studied(study, count, kind))
        found = np.array(found)
        for row, zero in enumerate((ESTIMATED, START)):
            miss, std, of_final, final_std, own = found[:, row].T
            print(f"{kind}, {zero}: start offset {_words(miss, std)}; final error "
                  f"{_words(of_final, final_std)}; the IMU's own within in "
                  f"{100.0 * np.mean(own):.0f} %", flush=True)  # fmt: skip
        print(f"{kind}: the right model is rejected in {100.0 * np.mean(rejected):.0f} %")
    print(standard_error(count))


def _words(miss, std):
    held = 100.0 * np.mean(np.abs(miss) <= TWO_SIDED * std)
    rms, said = (np.degrees(np.sqrt(np.mean(one**2))) for one in (miss, std))
    return f"within in {held:.0f} %, off by {rms:.2g} deg rms (said {said:.2g})"


if __name__ == "__main__":
    with_words(main, int)
