"""How often an identified model of the yaw error holds the truth: 50 drives of ten minutes.

Simulated drives of known parameters, for four true models: angle random walk alone and with a rate
random walk, a Gauss-Markov drift of the rate, and one of the yaw as Hector's plug-in has it; each
with a rate bias, a scale factor, and the reference's white noise.
Wanted: each 95 % interval holds its truth in 90 to 99 % of drives, and the terms that are chosen
are the true ones in 90 % or more. Of 50 drives such a share has a standard error of 3.1 %; an
interval of a parameter that was not chosen does not hold.

Then the same where the reference errs in ways that are known beforehand, with the first of the
models and with a sensor that has no error at all, of which no term may be found in more than 5 %.

    coverage_yaw_error.py [DRIVES [MODEL ...]]
"""

import time
from collections import Counter

import numpy as np
from _coverage import held, standard_error, studied, with_words

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
"""Parameters of the random terms, in SI units, each of which ten minutes can show: without any one
the expected log-likelihood is lower by 6 at least."""
SOURCES = {
    AngleRandomWalk: ("walk", "angle_random_walk"),
    RateRandomWalk: ("rate walk", "rate_random_walk"),
    RateGaussMarkov: ("drift", "rate_drift_sigma", "rate_drift_time"),
    YawGaussMarkov: ("drift", "yaw_drift_sigma", "yaw_drift_time"),
}
"""Random terms: what they are called, as which they draw their numbers, and their parameters."""


_STEADY = np.ones(int(DURATION) + 1)
_TURNED = np.sin(np.arange(DURATION + 1.0) / 20.0) ** 2
REFERENCES = {
    "white": (0.02 * _STEADY, 0.2, 0.0, 0.0, 0.0),
    "correlated": (0.02 * _STEADY, 10.0, 0.0, 0.0, 0.0),
    "late": (0.01 * _STEADY, 1.0, 0.5, 0.0, 0.0),
    "turning too far": (0.005 * _STEADY, 1.0, 0.0, 0.02, 0.0),
    "course": (0.005 + 0.05 * _TURNED, 3.0, 0.3, 0.0, 0.0),
    "slipping": (0.003 * _STEADY, 1.0, 0.0, 0.0, 0.01),
}
"""What is known of a reference: standard deviation [rad] and correlation time [s] of what changes,
standard deviations of lag [s] and turn error; and its slip [rad/sqrt(rad)], which is not known."""
SENSORS = {"a sensor": MODELS["angle random walk"], "no sensor's error": {}}


def motion(duration=DURATION):
    """Times [s], and net and absolute turn [rad] of a drive with curves to both sides."""
    times = np.arange(duration + 1.0)
    rate = 0.3 * np.sin(times / 20.0) + 0.15 * np.sign(np.sin(times / 57.0)) + 0.05
    rate[0] = 0.0
    return times, np.cumsum(rate), np.cumsum(np.abs(rate))


def true_model(name, duration=DURATION):
    """The model that the drives are drawn from."""
    times, net, _ = motion(duration)
    values = MODELS[name]
    known = START_OFFSET - CONSTANTS["rate_bias"] * times - CONSTANTS["scale_factor"] * net
    sources = [KnownError("constants", known), YawNoise("noise", values["reference_noise"])]
    for kind, (called, *names) in SOURCES.items():
        if names[0] in values:
            sources.append(kind(called, *(values[name] for name in names)))
    return YawErrorModel(times, tuple(sources))


def drives(name, first, count=1, duration=DURATION):
    """Simulated drives from a number on."""
    times, net, absolute = motion(duration)
    errors = true_model(name, duration).realisations(count, seed=1, first_run=first)
    return [
        ObservedYawError(f"drive {first + index}", times, error, net, absolute)
        for index, error in enumerate(errors)
    ]


def study(number, name):
    """Identify one drive: its estimates, whether its checks passed, and seconds of CPU."""
    return identified(drives(name, number))


def identified(*arguments):
    begin = time.process_time()
    result = identify_yaw_error(*arguments)
    seconds = time.process_time() - begin
    return result.estimates, [check.passed for check in result.checks], seconds


def drive_with_reference(number, kind, sensor, duration=DURATION):
    """Simulate a drive whose reference errs in some way, with a sensor that does or does not."""
    times, net, absolute = motion(duration)
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
    """As study."""
    return identified([drive_with_reference(number, kind, sensor)], kind != "slipping")


def main(count=50, *chosen):
    """Print, for each true model, how often each interval held and the model was chosen."""
    print(f"{count} drives of {DURATION:g} s: share of 95 % intervals that hold the truth")
    for name in chosen or MODELS:
        if name in MODELS:
            for line in summary(name, studied(study, count, name)):
                print(f"  {line}", flush=True)
    for kind in chosen or REFERENCES:
        for sensor in SENSORS if kind in REFERENCES else ():
            found = studied(study_with_reference, count, kind, sensor)
            for line in summary_with_reference(f"{kind} reference, {sensor}", found):
                print(f"  {line}", flush=True)
    print(f"  {standard_error(count)}")


def summary(name, found):
    """Lines on the drives of one true model."""
    truth = {**MODELS[name], **CONSTANTS}
    chosen = Counter(", ".join(sorted(estimates)) for estimates, _, _ in found)
    right = 100.0 * chosen.pop(", ".join(sorted(truth)), 0) / len(found)
    yield f"{name}: chosen in {right:.0f} %"
    for parameter, value in truth.items():
        there = [estimates[parameter] for estimates, _, _ in found if parameter in estimates]
        right = sum(held(there, [value] * len(there)))
        where = f", {100.0 * right / len(there):.1f} % where chosen" if there else ""
        yield f"  {parameter:18s} {100.0 * right / len(found):5.1f} %{where}"
    passed = 100.0 * np.mean([checks for _, checks, _ in found], axis=0)
    yield f"  residual checks passed in {', '.join(f'{share:.0f} %' for share in passed)}"
    for other, times in chosen.most_common():
        yield f"  {times} times instead: {other}"
    seconds = [time_taken for _, _, time_taken in found]
    yield f"  {np.mean(seconds):.1f} s of CPU each, {max(seconds):.1f} at most"


OF_SENSOR = ("angle_random_walk", *CONSTANTS, "scale_factor_of_absolute_turn", "rate_random_walk",
             "rate_drift_sigma", "yaw_drift_sigma")  # fmt: skip


def summary_with_reference(title, found):
    """Lines on the drives of one kind of reference."""
    truth = {**MODELS["angle random walk"], **CONSTANTS} if "a sensor" in title else {}
    passed = 100.0 * np.mean([all(checks) for _, checks, _ in found])
    yield f"{title}: all checks passed in {passed:.0f} %"
    for parameter in OF_SENSOR:
        there = [estimates[parameter] for estimates, _, _ in found if parameter in estimates]
        if not there:
            continue
        right = 100.0 * np.mean(held(there, [truth.get(parameter, 0.0)] * len(there)))
        middle = np.median([(one.low, one.value, one.high) for one in there], axis=0)
        words = " .. ".join(f"{value:.2g}" for value in middle)
        yield (f"  {parameter:30s} in {100.0 * len(there) / len(found):5.1f} %, where it holds the "
               f"truth in {right:5.1f} %; median {words}")  # fmt: skip


if __name__ == "__main__":
    with_words(main, int)
