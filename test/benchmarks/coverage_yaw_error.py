"""Interval coverage in the identification of yaw error models, over 50 ten-minute drives.

Four models with known parameters simulate the drives: angle random walk alone, angle random walk
with rate random walk, a Gauss-Markov drift of the rate, and a Gauss-Markov drift of the yaw as in
Hector's plug-in. Each model includes a rate bias, a scale factor error and white noise of the
reference. Expected: the coverage of each 95 % interval is 90 to 99 %, and the selected terms are
the true terms in at least 90 % of the drives. With 50 drives, the standard error of a coverage of
95 % is 3.1 %. The interval of a parameter that is not selected counts as missing the true value.

The second part combines references that have known kinds of error with sensors that have the first
model or no error. Without sensor errors, a term may be identified in at most 5 % of the drives.

    coverage_yaw_error.py [DRIVES [MODEL ...]]
"""

import time
from collections import Counter

import numpy as np
from _coverage import call_with_arguments, contains_truth, run_study, standard_error

from imu_simulation_framework.heading.identification.identify import identify_yaw_error
from imu_simulation_framework.heading.identification.terms import ObservedYawError
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.sources import (
    AngleRandomWalk,
    KnownError,
    RateGaussMarkov,
    RateRandomWalk,
    YawGaussMarkov,
    YawNoise,
)
from imu_simulation_framework.heading.reference_error import ReferenceError

DURATION = 600.0
START_OFFSET = 0.3
CONSTANTS = {"rate_bias": 2e-4, "scale_factor": 4e-3}
# Parameters of the random terms in SI units. Ten minutes suffice to identify each parameter: the
# expected log-likelihood of a model without the parameter is lower by at least 6.
MODELS = {
    "angle random walk": {"angle_random_walk": 6e-4, "reference_noise": 3e-3},
    "rate random walk": {
        "angle_random_walk": 8e-4,
        "rate_random_walk": 1e-4,
        "reference_noise": 1e-3,
    },
    "rate drift": {"rate_drift_sigma": 1e-3, "rate_drift_time": 10.0, "reference_noise": 1e-3},
    "yaw drift": {"yaw_drift_sigma": 0.02, "yaw_drift_time": 10.0, "reference_noise": 6e-3},
}
# For each type of error source, its name, which selects the random numbers, and its parameters.
SOURCES = {
    AngleRandomWalk: ("walk", "angle_random_walk"),
    RateRandomWalk: ("rate walk", "rate_random_walk"),
    RateGaussMarkov: ("drift", "rate_drift_sigma", "rate_drift_time"),
    YawGaussMarkov: ("drift", "yaw_drift_sigma", "yaw_drift_time"),
}


_CONSTANT = np.ones(int(DURATION) + 1)
_TURNED = np.sin(np.arange(DURATION + 1.0) / 20.0) ** 2
# Standard deviation [rad] and correlation time [s] of the varying error; standard deviations of
# delay [s] and relative turn error; slip [rad/sqrt(rad)], which the identification does not model.
REFERENCES = {
    "white": (0.02 * _CONSTANT, 0.2, 0.0, 0.0, 0.0),
    "correlated": (0.02 * _CONSTANT, 10.0, 0.0, 0.0, 0.0),
    "late": (0.01 * _CONSTANT, 1.0, 0.5, 0.0, 0.0),
    "turning too far": (0.005 * _CONSTANT, 1.0, 0.0, 0.02, 0.0),
    "course": (0.005 + 0.05 * _TURNED, 3.0, 0.3, 0.0, 0.0),
    "slipping": (0.003 * _CONSTANT, 1.0, 0.0, 0.0, 0.01),
}
SENSORS = {"sensor errors": MODELS["angle random walk"], "no sensor errors": {}}


def turns(duration=DURATION):
    """Return times [s], net and absolute turn [rad] of a drive with left and right turns."""
    times = np.arange(duration + 1.0)
    rate = 0.3 * np.sin(times / 20.0) + 0.15 * np.sign(np.sin(times / 57.0)) + 0.05
    rate[0] = 0.0
    return times, np.cumsum(rate), np.cumsum(np.abs(rate))


def true_model(name, duration=DURATION):
    """Return the yaw error model from which the drives are simulated."""
    times, net, _ = turns(duration)
    values = MODELS[name]
    known = START_OFFSET - CONSTANTS["rate_bias"] * times - CONSTANTS["scale_factor"] * net
    sources = [KnownError("constants", known), YawNoise("noise", values["reference_noise"])]
    for kind, (source_name, *names) in SOURCES.items():
        if names[0] in values:
            sources.append(kind(source_name, *(values[name] for name in names)))
    return YawErrorModel(times, tuple(sources))


def simulate_drives(name, first, count=1, duration=DURATION):
    """Return ``count`` simulated drives, numbered from ``first``."""
    times, net, absolute = turns(duration)
    errors = true_model(name, duration).realisations(count, seed=1, first_run=first)
    return [
        ObservedYawError(f"drive {first + index}", times, error, net, absolute)
        for index, error in enumerate(errors)
    ]


def study(number, name):
    """Simulate one drive and identify its yaw error model; see :func:`identify`."""
    return identify(simulate_drives(name, number))


def identify(*arguments):
    """Identify a model; return its estimates, the residual check results and the CPU time [s]."""
    begin = time.process_time()
    result = identify_yaw_error(*arguments)
    seconds = time.process_time() - begin
    return result.estimates, [check.passed for check in result.checks], seconds


def simulate_drive_with_reference(number, kind, sensor, duration=DURATION):
    """Return a simulated drive with one type of reference error and optional sensor errors."""
    times, net, absolute = turns(duration)
    std, correlation_time, lag, turn_error, slip = REFERENCES[kind]
    std = std[: len(times)]
    rate = np.gradient(net, times)
    known = ReferenceError(times, std, correlation_time, rate, net, lag, turn_error)
    random = np.random.default_rng([number, len(kind)])
    covariance = known.covariance(times) + slip**2 * np.minimum.outer(absolute, absolute)
    values, vectors = np.linalg.eigh(covariance)
    error = vectors @ (np.sqrt(np.maximum(values, 0.0)) * random.standard_normal(len(times)))
    error += 0.3
    walk = SENSORS[sensor].get("angle_random_walk")
    if walk:
        error += np.cumsum(walk * random.standard_normal(len(times)))
        error -= CONSTANTS["rate_bias"] * times + CONSTANTS["scale_factor"] * net
    return ObservedYawError(f"drive {number}", times, error, net, absolute, known)


def study_with_reference(number, kind, sensor):
    """Simulate a drive with one type of reference error, and identify its yaw error model."""
    return identify([simulate_drive_with_reference(number, kind, sensor)], kind != "slipping")


def main(count=50, *selected):
    """Print how often each true model is selected, and the coverage of its intervals."""
    print(f"{count} drives of {DURATION:g} s: coverage of 95 % intervals")
    for name in selected or MODELS:
        if name in MODELS:
            for line in summary(name, run_study(study, count, name)):
                print(f"  {line}", flush=True)
    for kind in selected or REFERENCES:
        for sensor in SENSORS if kind in REFERENCES else ():
            results = run_study(study_with_reference, count, kind, sensor)
            for line in summary_with_reference(f"{kind} reference, {sensor}", results):
                print(f"  {line}", flush=True)
    print(f"  {standard_error(count)}")


def summary(name, results):
    """Yield output lines for the drives simulated from one true model."""
    truth = {**MODELS[name], **CONSTANTS}
    selected = Counter(", ".join(sorted(estimates)) for estimates, _, _ in results)
    covered = 100.0 * selected.pop(", ".join(sorted(truth)), 0) / len(results)
    yield f"{name}: selected in {covered:.0f} %"
    for parameter, value in truth.items():
        present = [estimates[parameter] for estimates, _, _ in results if parameter in estimates]
        covered = sum(contains_truth(present, [value] * len(present)))
        suffix = f", {100.0 * covered / len(present):.1f} % where selected" if present else ""
        yield f"  {parameter:18s} {100.0 * covered / len(results):5.1f} %{suffix}"
    passed = 100.0 * np.mean([checks for _, checks, _ in results], axis=0)
    yield f"  residual checks passed in {', '.join(f'{share:.0f} %' for share in passed)}"
    for other, times in selected.most_common():
        yield f"  selected {times} times instead: {other}"
    seconds = [time_taken for _, _, time_taken in results]
    yield f"  {np.mean(seconds):.1f} s of CPU each, {max(seconds):.1f} at most"


SENSOR_PARAMETERS = (
    *("angle_random_walk", *CONSTANTS, "scale_factor_of_absolute_turn", "rate_random_walk"),
    *("rate_drift_sigma", "yaw_drift_sigma"),
)


def summary_with_reference(title, results):
    """Yield output lines for the drives with one type of reference error."""
    truth = (
        {**MODELS["angle random walk"], **CONSTANTS}
        if not title.endswith("no sensor errors")
        else {}
    )
    passed = 100.0 * np.mean([all(checks) for _, checks, _ in results])
    yield f"{title}: all checks passed in {passed:.0f} %"
    for parameter in SENSOR_PARAMETERS:
        present = [estimates[parameter] for estimates, _, _ in results if parameter in estimates]
        if not present:
            continue
        covered = 100.0 * np.mean(
            contains_truth(present, [truth.get(parameter, 0.0)] * len(present))
        )
        medians = np.median([(item.low, item.value, item.high) for item in present], axis=0)
        words = " .. ".join(f"{value:.2g}" for value in medians)
        yield (f"  {parameter:30s} selected in {100.0 * len(present) / len(results):5.1f} %, "
               f"coverage {covered:5.1f} %; median {words}")  # fmt: skip


if __name__ == "__main__":
    call_with_arguments(main, int)
