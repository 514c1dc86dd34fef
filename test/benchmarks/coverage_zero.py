"""Interval coverage for the start offset and the final yaw error, over 100 drives.

The simulated drives of ten minutes have the references of coverage_yaw_error.py, a reference that
is inaccurate in the first minute, like the course over ground of a slow robot, and a reference with
unknown jumps. Expected: the 95 % intervals of the start offset and of the final IMU error have a
coverage of 90 to 99 %. The program also prints the rms error of the estimated start offset and of
the median over the first three seconds, and how often the true model is rejected at the 5 % level.

    coverage_zero.py [DRIVES [KIND ...]]
"""

import numpy as np
import pandas as pd
from _coverage import call_with_arguments, run_study, standard_error
from coverage_yaw_error import CONSTANTS, DURATION, MODELS, REFERENCES, START_OFFSET, turns

from imu_simulation_framework.heading.error_split import ESTIMATED, START, split_error
from imu_simulation_framework.heading.judgement.common_zero import zero_where_known
from imu_simulation_framework.heading.judgement.judge import judge
from imu_simulation_framework.heading.reference_error import ReferenceError
from imu_simulation_framework.heading.statistics import TWO_SIDED

WINDOW, RUNS = 3.0, 399
_CONSTANT = np.ones(int(DURATION) + 1)
_SLOW = 0.02 + 0.3 * (np.arange(DURATION + 1.0) < 60.0)
KINDS = {
    **REFERENCES,
    "poor at the start": (_SLOW, 10.0, 0.0, 0.0, 0.0),
    "jumping": (0.02 * _CONSTANT, 10.0, 0.0, 0.0, 0.0),
}
# Steps of the yaw error [rad] by time [s]: an outlier of two seconds and a permanent step.
JUMPS = {150: 0.5, 152: -0.5, 250: 0.35}


def simulate_sensors(runs, random):
    """Return yaw errors of the sensor in coverage_yaw_error.py [rad], shape (runs, n)."""
    times, net, _ = turns()
    walk = MODELS["angle random walk"]["angle_random_walk"]
    errors = np.cumsum(walk * random.standard_normal((runs, len(times))), axis=1)
    return errors - CONSTANTS["rate_bias"] * times - CONSTANTS["scale_factor"] * net


def simulate_references(kind, runs, random):
    """Return the error model of a reference, and realisations of its error [rad]."""
    times, net, _ = turns()
    std, correlation_time, *constants = KINDS[kind]
    known = ReferenceError(times, std, correlation_time, np.gradient(net, times), net, *constants)
    return known, known.draw(runs, random)


def study(number, kind):
    """Return the errors of both start offset estimators, and whether the model is rejected."""
    random = np.random.default_rng([number, len(kind)])
    times = turns()[0]
    reference, reference_errors = simulate_references(kind, 1, random)
    sensor_error = simulate_sensors(1, random)[0]
    error = reference_errors[0] + sensor_error + START_OFFSET
    if kind == "jumping":
        for start, size in JUMPS.items():
            error[start:] += size
    first = times < WINDOW
    offset, final = (
        START_OFFSET + sensor_error[first].mean(),
        sensor_error[-3:].mean() - sensor_error[first].mean(),
    )
    rows = []
    for zero in (ESTIMATED, START):
        split = split_error(pd.Series(error, times), reference, WINDOW, zero)
        measured_final = np.median(error[-3:]) - split.zero
        rows.append(
            (
                split.zero - offset,
                split.zero_std,
                measured_final - final,
                split.final_std,
                split.imu_final_low <= final <= split.imu_final_high,
            )
        )
    ensemble = simulate_sensors(RUNS, random) + simulate_references(kind, RUNS, random)[1]
    judged = judge(*zero_where_known(times, error, ensemble, reference))
    return np.array(rows, dtype=float), judged.rejected


def main(count=100, *chosen):
    """Print the interval coverage for each type of reference error."""
    for kind in chosen or KINDS:
        rows, rejected = zip(*run_study(study, count, kind))
        rows = np.array(rows)
        for row, zero in enumerate((ESTIMATED, START)):
            offset_errors, std, final_errors, final_std, own_covered = rows[:, row].T
            print(f"{kind}, {zero}: start offset {_format_coverage(offset_errors, std)}; final "
                  f"error {_format_coverage(final_errors, final_std)}; coverage of the IMU's error "
                  f"{100.0 * np.mean(own_covered):.0f} %", flush=True)  # fmt: skip
        print(f"{kind}: the true model is rejected in {100.0 * np.mean(rejected):.0f} %")
    print(standard_error(count))


def _format_coverage(offset_errors, std):
    covered = 100.0 * np.mean(np.abs(offset_errors) <= TWO_SIDED * std)
    rms, predicted = (np.degrees(np.sqrt(np.mean(values**2))) for values in (offset_errors, std))
    return f"coverage {covered:.0f} %, error {rms:.2g} deg rms (predicted {predicted:.2g})"


if __name__ == "__main__":
    call_with_arguments(main, int)
