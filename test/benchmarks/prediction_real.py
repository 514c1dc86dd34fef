"""Predicts how far the headings of real gyroscopes drift, and then looks at their recordings.

The recordings are no part of this package:

    prediction_real.py DATA [--out windows.csv] [--only NAME ...]

DATA/static/NAME/data.npz is a recording at rest, of some ten minutes at least:

    time   (n,)     [s], even steps; where samples are missing, a gap
    gyro   (n, 1)   or (n, 3) [rad/s]

DATA/moving/NAME/data.npz is one in motion, which begins at rest:

    time, gyro (n, 3), as above
    truth_time         (m,)    [s], of the same clock; a shift of up to half a second is found
    truth_quaternion   (m, 4)  x, y, z, w, from the body to the world; NaN where it is missing

DATA/sets.yaml says for each NAME what it is, and may be missing for those at rest. ``sensor``: its
name, the same for several units of one type; by default NAME. ``use: false`` leaves it out. In
motion also ``set``: what rows of the table are named; ``imu``: a bundled specification's name, or a
file's in DATA; ``rest: [3, 40]``: when it stands still, from the first sample on [s]; ``mounting``:
standard deviation of the angle between the axes of truth and sensor, about each axis, and
``truth``: that of the true heading, both in deg and by default 0:

    BROAD_02: {set: BROAD, sensor: aktos-t, imu: bmi088, rest: [0, 40], mounting: 0.5, truth: 0.2}

What is predicted from what is in doc/heading_drift.md, Predicted, and then looked. In motion the
rate is integrated by strapdown from the true attitude at a window's beginning, and how far the mean
of the standstill scatters, as a robot that stands with its motors on can see, is an error of the
offset, as far as it is more than the specification's noise. Standard errors are between stretches
of a recording as long as the longest window, as windows of other lengths and of other axes share a
temperature; of more than five recordings between these. They are at least those of as many
independent windows of a right prediction.
"""

import argparse
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.integrate import cumulative_trapezoid
from scipy.spatial.transform import Rotation, Slerp
from scipy.special import ndtri

from imu_simulation_framework.characterisation.allan.analysis import identify
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.core.signals import find_time_shift
from imu_simulation_framework.core.yaml_files import read_yaml
from imu_simulation_framework.heading.model.imu_error_sources import MISALIGNMENT, yaw_error_model
from imu_simulation_framework.heading.model.sources import RandomConstant
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.motion.sources import at_rest
from imu_simulation_framework.report.table import Column, format_table
from imu_simulation_framework.sensors.files import imu_names, read_imu_specification
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    TriadSpecification,
    UnitVariation,
)
from imu_simulation_framework.sensors.operation import Operation

STANDSTILL = 10.0
DURATIONS = (60.0, 300.0, 600.0)
PROBABILITIES = (0.5, 0.95)
NOISE = (
    "quantisation",
    "white_noise",
    "bias_instability",
    "random_walk",
    "rate_ramp",
    "gauss_markov_sigma",
    "gauss_markov_time",
)
"""Parameters of one axis that a recording at rest tells."""
FELT = "felt acceleration"  # the source of the yaw error that is the filter's
STEP = 1.0
MOTION_RATE = 20.0
TRUTH_STEP = 0.5
MAX_SHIFT = 0.5
LONGEST_GAP = 0.1
MANY_RECORDINGS = 5
BATCHES = 8
COLUMNS = (
    Column("kind", ""),
    Column("sensor", "sensor"),
    Column("window", "over"),
    Column("windows", "windows", "", 0),
    Column("within_50", "in 50 %", "%", 0),
    Column("error_50", "+-", "%", 0),
    Column("within_95", "in 95 %", "%", 0),
    Column("error_95", "+-", "%", 0),
    Column("predicted", "predicted rms", "deg", 2),
    Column("seen", "seen rms", "deg", 2),
)


def drifts(time, rate, standstill, duration):
    """Windows side by side: when they begin, and the heading's error [rad] at their ends.

    ``time`` and ``rate`` (n,) [s], [rad/s]. The heading is the integral of the rate less its mean
    over the standstill at a window's beginning; the error is what is true, nothing, less that.
    Windows in which samples are missing are left out. Returns (k,), (k,).
    """
    period = np.median(np.diff(time))
    before, driven = round(standstill / period), round(duration / period)
    count = len(time) // (before + driven)
    used = slice(count * (before + driven))
    times = time[used].reshape(count, before + driven)
    whole = times[:, -1] - times[:, 0] < (before + driven - 0.5) * period
    rates = rate[used].reshape(count, before + driven)[whole]
    offset = rates[:, :before].mean(axis=1)
    return times[whole, 0], -(rates[:, before:].mean(axis=1) - offset) * driven * period


def of_axis(identified, axis):
    """The specification of a sensor all of whose axes have the noise that one was found to have."""
    specification = identified.to_specification("identified")
    gyroscope = specification.gyroscope
    values = {name: (getattr(gyroscope, name)[axis],) * 3 for name in NOISE}
    return replace(specification, gyroscope=replace(gyroscope, **values))


def at_rest_windows(name, sensor, data):
    """Rows of all windows of a recording at rest."""
    time, rate = data["time"], np.asarray(data["gyro"], dtype=float)
    half = len(time) // 2
    names = tuple(f"gyro_{axis}" for axis in "xyz"[: rate.shape[1]])
    identified = identify([prepare_at_rest(time[:half], rate[:half], names, name)])
    operation = Operation(standstill=STANDSTILL)
    for axis in range(len(names)):
        imu = of_axis(identified, axis)
        sample = 1.0 / identified.rate
        motion = at_rest(max(DURATIONS), rate=1.0 / STEP)
        model = yaw_error_model(imu, motion, STANDSTILL, sample=sample, operation=operation)
        bands = model.bands(())
        for duration in DURATIONS:
            begins, seen = drifts(time[half:], rate[half:, axis], STANDSTILL, duration)
            mean, std = bands.loc[duration, ["mean", "std"]]
            for begin, error in zip(begins, seen):
                yield {
                    "kind": "static", "sensor": sensor, "recording": name, "axis": "xyz"[axis],
                    "begin": begin, "window": f"{duration:g} s", "duration": duration,
                    "seen": error, "mean": mean, "std": std,
                }  # fmt: skip


def integrated(time, rate):
    """Orientations, from the identity, of a body that turns at rates (n, 3)."""
    turned = 0.5 * (rate[1:] + rate[:-1]) * np.diff(time)[:, np.newaxis]
    orientation = Rotation.from_rotvec(np.vstack([np.zeros(3), turned]))
    shift = 1
    while shift < len(time):
        later = orientation[:-shift] * orientation[shift:]
        orientation = Rotation.concatenate([orientation[:shift], later])
        shift *= 2
    return orientation


def clock_shift(time, rate, truth_time, truth):
    """By how much the true orientations are to be later [s], to be those of the rates (n, 3)."""
    steps = (truth[1:] * truth[:-1].inv()).as_rotvec()[:, 2]
    both = (time >= truth_time[0]) & (time <= truth_time[-1])
    up = Slerp(truth_time, truth)(time[both]).inv().apply([0.0, 0.0, 1.0])
    turned = cumulative_trapezoid(np.sum(up * rate[both], axis=1), time[both], initial=0.0)
    # The sum of the turns about the vertical is there at any tilt, unlike a yaw.
    true = np.concatenate([[0.0], np.cumsum(steps)])
    return find_time_shift(time[both], turned, truth_time, true, MAX_SHIFT).shift


def scatter_at_rest(rate, period, white_noise):
    """The error (3,) [rad/s] of the mean of rates (n, 3) beyond that of white noise.

    By the method of batch means, with ``BATCHES`` of them; ``white_noise`` (3,) [rad/s/sqrt(Hz)].
    """
    size = len(rate) // BATCHES
    means = rate[: BATCHES * size].reshape(BATCHES, size, 3).mean(axis=1)
    noise = np.square(white_noise) / (len(rate) * period)
    return np.sqrt(np.maximum(0.0, np.var(means, axis=0, ddof=1) / BATCHES - noise))


def model_of(imu, motion, sample, operation, mounting, scatter):
    """The yaw error of any unit of a gyroscope that is integrated; ``mounting`` in [rad].

    ``scatter`` (3,): standard deviation of the offset that was found at the standstill [rad/s].
    """
    imu = replace(imu, units=UnitVariation(tolerances=True))
    model = yaw_error_model(imu, motion, STEP, sample=sample, operation=operation)
    sources = list(model.sources)
    for axis in mounting * np.eye(3):
        turned = TriadSpecification(
            scale_factor_and_misalignment=np.cross(np.eye(3), axis).tolist()
        )
        one = ImuSpecification(gyroscope=turned, output=imu.output)
        curves = yaw_error_model(one, motion, STEP, operation=operation).sources
        sources += [
            RandomConstant("mounting", source.curve, 1.0)
            for source in curves
            if source.name == MISALIGNMENT
        ]
    offset = TriadSpecification(turn_on_bias_sigma=tuple(scatter))
    one = ImuSpecification(gyroscope=offset, output=imu.output)
    sources += yaw_error_model(one, motion, STEP, operation=Operation(standstill=0.0)).sources
    # No filter corrects the tilt, so that none leans.
    kept = tuple(source for source in sources if source.name != FELT)
    return replace(model, sources=kept)


def moving_windows(name, about, data, folder):
    """Rows of all windows of a recording in motion."""
    imu = about["imu"]
    imu = read_imu_specification(imu if imu in imu_names() else folder / imu)
    mounting, truth_std = (math.radians(about.get(key, 0.0)) for key in ("mounting", "truth"))
    time, rate = data["time"], data["gyro"]
    still = (time - time[0] >= about["rest"][0]) & (time - time[0] <= about["rest"][1])
    period = float(np.median(np.diff(time)))
    scatter = scatter_at_rest(rate[still], period, imu.gyroscope.white_noise)
    rate = rate - rate[still].mean(axis=0)
    known = np.all(np.isfinite(data["truth_quaternion"]), axis=1)
    truth = Rotation.from_quat(data["truth_quaternion"][known])
    truth_time = data["truth_time"][known]
    truth_time = truth_time + clock_shift(time, rate, truth_time, truth)
    orientation = integrated(time, rate)
    begin = time[still][-1]
    inside = (truth_time >= begin) & (truth_time <= time[-1])
    truth, truth_time = truth[inside], truth_time[inside]
    integral = Slerp(time, orientation)
    errors = truth * integral(truth_time).inv()
    # Between the true attitudes the gyroscope tells the motion.
    steps = np.arange(int((truth_time[-1] - truth_time[0]) * MOTION_RATE))
    motion_time = truth_time[0] + steps / MOTION_RATE
    at_times = np.searchsorted(truth_time, np.arange(*truth_time[[0, -1]], TRUTH_STEP))
    at_times = np.union1d(at_times, [len(truth_time) - 1])
    true = Slerp(truth_time[at_times], errors[at_times])(motion_time) * integral(motion_time)
    motion = Motion.from_poses(motion_time, np.zeros((len(motion_time), 3)), true.as_quat())
    operation = Operation(standstill=time[still][-1] - time[still][0])
    model = model_of(imu, motion, period, operation, mounting, scatter)
    mean, covariance = model.mean(), model.covariance()
    seconds = np.arange(len(model.time))
    nearest = np.searchsorted(truth_time, truth_time[0] + STEP * seconds).clip(0, len(truth) - 1)
    gaps = time[:-1][np.diff(time) > LONGEST_GAP] - truth_time[0]
    length, last = round(DURATIONS[0] / STEP), len(seconds) - 1
    windows = [(start, start + length, "60 s") for start in range(0, last - length + 1, length)]
    for start, end, window in [*windows, (0, last, "drive")]:
        if np.any((gaps >= STEP * start) & (gaps < STEP * end)):
            continue
        variance = covariance[start, start] + covariance[end, end] - 2.0 * covariance[start, end]
        error = errors[nearest[end]] * errors[nearest[start]].inv()
        yield {
            "kind": about.get("set", name), "sensor": about.get("sensor", name), "recording": name,
            "axis": "heading", "begin": STEP * start, "window": window,
            "duration": STEP * (end - start), "seen": error.as_rotvec()[2],
            "mean": mean[end] - mean[start], "std": math.sqrt(variance + 2.0 * truth_std**2),
        }  # fmt: skip


def within(rows, probability):
    """The share of windows within their predicted band, and its standard error."""
    half = ndtri(0.5 + 0.5 * probability) * rows["std"]
    held = ((rows["seen"] - rows["mean"]).abs() <= half).astype(float)
    share, count = held.mean(), len(held)
    stretch = rows["begin"] // (max(DURATIONS) + STANDSTILL)
    by = [rows["recording"]]
    if rows["recording"].nunique() <= MANY_RECORDINGS:
        by.append(stretch)
    sums = (held - share).groupby(by).sum()
    between = math.sqrt((sums**2).sum() * len(sums) / max(1, len(sums) - 1)) / count
    return share, max(between, math.sqrt(probability * (1.0 - probability) / count))


def summary(rows, kind, sensor, window):
    """One row of the table."""
    row = {"kind": kind, "sensor": sensor, "window": window, "windows": len(rows)}
    for probability in PROBABILITIES:
        share, error = within(rows, probability)
        name = f"{100.0 * probability:g}"
        row[f"within_{name}"], row[f"error_{name}"] = 100.0 * share, 100.0 * error
    predicted = rows["mean"] ** 2 + rows["std"] ** 2
    row["predicted"], row["seen"] = (
        math.degrees(math.sqrt(squares.mean())) for squares in (predicted, rows["seen"] ** 2)
    )
    return row


def table_of(rows):
    """Rows for each sensor and window, all windows of a sensor, and of all sensors."""
    table = []
    for moving, one in rows.groupby(rows["axis"] == "heading"):
        of_sensors = []
        for (kind, sensor), some in one.groupby(["kind", "sensor"], sort=False):
            table += [summary(of, kind, sensor, w) for w, of in some.groupby("window", sort=False)]
            of_sensors.append(summary(some, kind, sensor, "all"))
            if not moving:
                table.append(of_sensors[-1])
        kind = "moving" if moving else "static"
        table += [summary(of, kind, "all", w) for w, of in one.groupby("window", sort=False)]
        if not moving:
            alike = pd.DataFrame(of_sensors)
            mean, error = alike.mean(numeric_only=True), alike.sem(numeric_only=True)
            row = {"kind": kind, "sensor": "mean of sensors", "window": "all"}
            for name in PROBABILITIES:
                name = f"{100.0 * name:g}"
                row[f"within_{name}"] = mean[f"within_{name}"]
                row[f"error_{name}"] = error[f"within_{name}"]
            table += [summary(one, kind, "all", "all"), row]
    return pd.DataFrame(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", metavar="DATA", help="folder of recordings")
    parser.add_argument("--out", type=Path, metavar="FILE", help="CSV file of all windows")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="beginnings")
    parser.add_argument("--table", default="terminal", help="terminal (default), markdown, csv")
    options = parser.parse_args()
    if options.data is None:
        print("no folder of recordings is given: nothing measured")
        return
    path = options.data / "sets.yaml"
    sets = (read_yaml(path, "description of recordings") or {}) if path.exists() else {}
    rows = []
    for path in sorted(options.data.glob("static/*/data.npz")) + sorted(
        options.data.glob("moving/*/data.npz")
    ):
        name, about = path.parent.name, sets.get(path.parent.name, {})
        if not name.startswith(tuple(options.only)) or not about.get("use", True):
            continue
        with np.load(path) as data:
            if "truth_time" in data and not {"imu", "rest"} <= set(about):
                print(f"{name}: left out, as sets.yaml does not say its imu and rest")
            elif "truth_time" in data:
                rows += moving_windows(name, about, data, options.data)
            else:
                rows += at_rest_windows(name, about.get("sensor", name), data)
    if not rows:
        print(f"{options.data}: no recording in static/*/data.npz or moving/*/data.npz is used")
        return
    rows = pd.DataFrame(rows)
    if options.out:
        rows.to_csv(options.out, index=False)
    print(format_table(table_of(rows), COLUMNS, options.table), end="")


if __name__ == "__main__":
    main()
