"""Predicted and measured heading drift of real gyroscopes.

The recordings are not part of this package:

    prediction_real.py DATA [--out windows.csv] [--only NAME ...]

DATA/static/NAME/data.npz is a recording at rest, of at least about ten minutes:

    time   (n,)     [s], even steps; a gap where samples are missing
    gyro   (n, 1)   or (n, 3) [rad/s]

DATA/moving/NAME/data.npz is a recording in motion, which begins at rest:

    time, gyro (n, 3), as above
    truth_time         (m,)    [s], same clock; the program corrects up to half a second
    truth_quaternion   (m, 4)  x, y, z, w, from body to world; NaN where missing

DATA/sets.yaml describes each NAME, and is optional for recordings at rest. Keys: ``sensor``, part
number, which several sensors may share (by default NAME); ``use: false`` skips the recording. Keys
of recordings in motion: ``set``, name in the table; ``imu``, name of a bundled specification, or a
file in DATA; ``rest: [3, 40]``, standstill interval after the first sample [s]; ``mounting``,
standard deviation of the misalignment between truth and sensor about each axis, and ``truth``,
standard deviation of the true heading, both in deg and by default 0:

    BROAD_02: {set: BROAD, sensor: aktos-t, imu: bmi088, rest: [0, 40], mounting: 0.5, truth: 0.2}

doc/explanation/accuracy.md describes the method. In motion, a strapdown integration of the rate
starts from the true attitude at the beginning of a window. The scatter of mean rates at standstill,
which may be caused by running motors, is added to the offset error if it exceeds the specified
noise. Standard errors are computed between segments of a recording with the length of the longest
window, because shorter windows and the other axes have the same temperature. With more than five
recordings, they are computed between recordings. Their lower limit is the standard error of the
same number of independent windows.
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

STANDSTILL = 10.0  # duration of the bias measurement before each window at rest [s]
DURATIONS = (60.0, 300.0, 600.0)  # window durations [s]
PROBABILITIES = (0.5, 0.95)
# Parameters of the noise on an axis that are identified from a recording at rest.
NOISE = (
    "quantisation",
    "white_noise",
    "bias_instability",
    "random_walk",
    "rate_ramp",
    "gauss_markov_sigma",
    "gauss_markov_time",
)
FILTER_TILT = "acceleration tilt"  # error source of the fusion filter
STEP = 1.0  # time step of the model [s]
MOTION_RATE = 20.0  # rate of the interpolated motion [Hz]
TRUTH_STEP = 0.5  # interval between the true attitudes that correct the motion [s]
MAX_SHIFT = 0.5  # maximum offset between the clocks of sensor and ground truth [s]
MAX_GAP = 0.1  # longest interval without samples in a window [s]
MANY_RECORDINGS = 5  # largest number of recordings with standard errors between segments
BATCHES = 8  # number of batches into which a standstill is divided
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
    Column("seen", "measured rms", "deg", 2),
)


def measure_drifts(time, rate, standstill, duration):
    """Return the start times of adjacent windows and the yaw errors at their ends.

    The mean rate over the standstill before a window is subtracted from the rate before the
    integration to yaw. The true yaw is zero. Windows with missing samples are skipped.

    Parameters
    ----------
    time, rate : ndarray, shape (n,)
        Times [s] and rates at rest [rad/s].
    standstill, duration : float
        Durations of the standstill and of the following window [s].

    Returns
    -------
    tuple of ndarray, shape (k,)
        Start times [s] and yaw errors [rad].
    """
    period = np.median(np.diff(time))
    standstill_count, window_count = round(standstill / period), round(duration / period)
    count = len(time) // (standstill_count + window_count)
    selection = slice(count * (standstill_count + window_count))
    times = time[selection].reshape(count, standstill_count + window_count)
    whole = times[:, -1] - times[:, 0] < (standstill_count + window_count - 0.5) * period
    rates = rate[selection].reshape(count, standstill_count + window_count)[whole]
    offset = rates[:, :standstill_count].mean(axis=1)
    return times[whole, 0], -(
        rates[:, standstill_count:].mean(axis=1) - offset
    ) * window_count * period


def specification_of_axis(identified, axis):
    """Return a specification in which all axes have the identified noise of one axis."""
    specification = identified.to_specification("identified")
    gyroscope = specification.gyroscope
    values = {name: (getattr(gyroscope, name)[axis],) * 3 for name in NOISE}
    return replace(specification, gyroscope=replace(gyroscope, **values))


def rows_at_rest(name, sensor, data):
    """Yield a table row for each window of a recording at rest."""
    time, rate = data["time"], np.asarray(data["gyro"], dtype=float)
    half = len(time) // 2
    names = tuple(f"gyro_{axis}" for axis in "xyz"[: rate.shape[1]])
    identified = identify([prepare_at_rest(time[:half], rate[:half], names, name)])
    operation = Operation(standstill=STANDSTILL)
    for axis in range(len(names)):
        imu = specification_of_axis(identified, axis)
        sample = 1.0 / identified.rate
        motion = at_rest(max(DURATIONS), rate=1.0 / STEP)
        model = yaw_error_model(imu, motion, STANDSTILL, sample=sample, operation=operation)
        bands = model.bands(())
        for duration in DURATIONS:
            begins, errors = measure_drifts(time[half:], rate[half:, axis], STANDSTILL, duration)
            mean, std = bands.loc[duration, ["mean", "std"]]
            for begin, error in zip(begins, errors):
                yield {
                    "kind": "static", "sensor": sensor, "recording": name, "axis": "xyz"[axis],
                    "begin": begin, "window": f"{duration:g} s", "duration": duration,
                    "seen": error, "mean": mean, "std": std,
                }  # fmt: skip


def integrate_rates(time, rate):
    """Integrate angular velocities to orientations, starting from the identity."""
    turned = 0.5 * (rate[1:] + rate[:-1]) * np.diff(time)[:, np.newaxis]
    orientation = Rotation.from_rotvec(np.vstack([np.zeros(3), turned]))
    shift = 1
    while shift < len(time):
        later = orientation[:-shift] * orientation[shift:]
        orientation = Rotation.concatenate([orientation[:shift], later])
        shift *= 2
    return orientation


def estimate_clock_shift(time, rate, truth_time, truth):
    """Estimate the delay of the true orientations relative to the angular velocities [s]."""
    steps = (truth[1:] * truth[:-1].inv()).as_rotvec()[:, 2]
    both = (time >= truth_time[0]) & (time <= truth_time[-1])
    up = Slerp(truth_time, truth)(time[both]).inv().apply([0.0, 0.0, 1.0])
    turned = cumulative_trapezoid(np.sum(up * rate[both], axis=1), time[both], initial=0.0)
    # Unlike yaw, the accumulated rotation about the vertical is defined at any tilt.
    true = np.concatenate([[0.0], np.cumsum(steps)])
    return find_time_shift(time[both], turned, truth_time, true, MAX_SHIFT).shift


def estimate_scatter(rate, period, white_noise):
    """Estimate from batch means by how much the scatter of the mean rate exceeds white noise.

    Parameters
    ----------
    rate : ndarray, shape (n, 3)
        Rates at standstill [rad/s].
    period : float
        Sampling period [s].
    white_noise : array_like, shape (3,)
        Noise density [rad/s/sqrt(Hz)].

    Returns
    -------
    ndarray, shape (3,)
        Standard deviation of the mean rate about each axis, in excess of white noise [rad/s].
    """
    size = len(rate) // BATCHES
    means = rate[: BATCHES * size].reshape(BATCHES, size, 3).mean(axis=1)
    noise = np.square(white_noise) / (len(rate) * period)
    return np.sqrt(np.maximum(0.0, np.var(means, axis=0, ddof=1) / BATCHES - noise))


def model_of(imu, motion, sample, operation, mounting, scatter):
    """Return the yaw error model of a random sensor of a part, without a fusion filter.

    Parameters
    ----------
    imu : ImuSpecification
        Specification of the part number.
    motion : Motion
        Motion of the sensor.
    sample : float
        Sampling period [s].
    operation : Operation
        Duration of the standstill at the beginning.
    mounting : float
        Standard deviation of the mounting misalignment about each axis [rad].
    scatter : ndarray, shape (3,)
        Standard deviation of the mean rate at standstill [rad/s].
    """
    imu = replace(imu, units=UnitVariation(tolerances=True))
    model = yaw_error_model(imu, motion, STEP, sample=sample, operation=operation)
    sources = list(model.sources)
    for axis in mounting * np.eye(3):
        misaligned = TriadSpecification(
            scale_factor_and_misalignment=np.cross(np.eye(3), axis).tolist()
        )
        single_error = ImuSpecification(gyroscope=misaligned, output=imu.output)
        curves = yaw_error_model(single_error, motion, STEP, operation=operation).sources
        sources += [
            RandomConstant("mounting", source.curve, 1.0)
            for source in curves
            if source.name == MISALIGNMENT
        ]
    offset = TriadSpecification(turn_on_bias_sigma=tuple(scatter))
    single_error = ImuSpecification(gyroscope=offset, output=imu.output)
    sources += yaw_error_model(
        single_error, motion, STEP, operation=Operation(standstill=0.0)
    ).sources
    # No fusion filter is used, so accelerations do not cause tilt errors.
    kept = tuple(source for source in sources if source.name != FILTER_TILT)
    return replace(model, sources=kept)


def rows_in_motion(name, description, data, folder):
    """Yield a table row for each window of a recording in motion."""
    imu = description["imu"]
    imu = read_imu_specification(imu if imu in imu_names() else folder / imu)
    mounting, truth_std = (math.radians(description.get(key, 0.0)) for key in ("mounting", "truth"))
    time, rate = data["time"], data["gyro"]
    is_standstill = (time - time[0] >= description["rest"][0]) & (
        time - time[0] <= description["rest"][1]
    )
    period = float(np.median(np.diff(time)))
    scatter = estimate_scatter(rate[is_standstill], period, imu.gyroscope.white_noise)
    rate = rate - rate[is_standstill].mean(axis=0)
    known = np.all(np.isfinite(data["truth_quaternion"]), axis=1)
    truth = Rotation.from_quat(data["truth_quaternion"][known])
    truth_time = data["truth_time"][known]
    truth_time = truth_time + estimate_clock_shift(time, rate, truth_time, truth)
    orientation = integrate_rates(time, rate)
    begin = time[is_standstill][-1]
    inside = (truth_time >= begin) & (truth_time <= time[-1])
    truth, truth_time = truth[inside], truth_time[inside]
    integral = Slerp(time, orientation)
    errors = truth * integral(truth_time).inv()
    # Between true attitudes, the motion is interpolated by integration of the gyroscope.
    steps = np.arange(int((truth_time[-1] - truth_time[0]) * MOTION_RATE))
    motion_time = truth_time[0] + steps / MOTION_RATE
    anchors = np.searchsorted(truth_time, np.arange(*truth_time[[0, -1]], TRUTH_STEP))
    anchors = np.union1d(anchors, [len(truth_time) - 1])
    true = Slerp(truth_time[anchors], errors[anchors])(motion_time) * integral(motion_time)
    motion = Motion.from_poses(motion_time, np.zeros((len(motion_time), 3)), true.as_quat())
    operation = Operation(standstill=time[is_standstill][-1] - time[is_standstill][0])
    model = model_of(imu, motion, period, operation, mounting, scatter)
    mean, covariance = model.mean(), model.covariance()
    seconds = np.arange(len(model.time))
    nearest = np.searchsorted(truth_time, truth_time[0] + STEP * seconds).clip(0, len(truth) - 1)
    gaps = time[:-1][np.diff(time) > MAX_GAP] - truth_time[0]
    length, last = round(DURATIONS[0] / STEP), len(seconds) - 1
    windows = [(start, start + length, "60 s") for start in range(0, last - length + 1, length)]
    for start, end, window in [*windows, (0, last, "drive")]:
        if np.any((gaps >= STEP * start) & (gaps < STEP * end)):
            continue
        variance = covariance[start, start] + covariance[end, end] - 2.0 * covariance[start, end]
        error = errors[nearest[end]] * errors[nearest[start]].inv()
        yield {
            "kind": description.get("set", name), "sensor": description.get("sensor", name),
            "recording": name, "axis": "heading", "begin": STEP * start, "window": window,
            "duration": STEP * (end - start), "seen": error.as_rotvec()[2],
            "mean": mean[end] - mean[start], "std": math.sqrt(variance + 2.0 * truth_std**2),
        }  # fmt: skip


def share_within(rows, probability):
    """Return the fraction of windows within the predicted band, and its standard error."""
    half = ndtri(0.5 + 0.5 * probability) * rows["std"]
    inside = ((rows["seen"] - rows["mean"]).abs() <= half).astype(float)
    share, count = inside.mean(), len(inside)
    segment = rows["begin"] // (max(DURATIONS) + STANDSTILL)
    groups = [rows["recording"]]
    if rows["recording"].nunique() <= MANY_RECORDINGS:
        groups.append(segment)
    sums = (inside - share).groupby(groups).sum()
    between = math.sqrt((sums**2).sum() * len(sums) / max(1, len(sums) - 1)) / count
    return share, max(between, math.sqrt(probability * (1.0 - probability) / count))


def summary(rows, kind, sensor, window):
    """Return a table row with the fractions of windows within the bands, and rms errors."""
    row = {"kind": kind, "sensor": sensor, "window": window, "windows": len(rows)}
    for probability in PROBABILITIES:
        share, error = share_within(rows, probability)
        name = f"{100.0 * probability:g}"
        row[f"within_{name}"], row[f"error_{name}"] = 100.0 * share, 100.0 * error
    predicted = rows["mean"] ** 2 + rows["std"] ** 2
    row["predicted"], row["seen"] = (
        math.degrees(math.sqrt(squares.mean())) for squares in (predicted, rows["seen"] ** 2)
    )
    return row


def table_of(rows):
    """Return table rows for each sensor and window duration, each sensor, and all sensors."""
    table = []
    for moving, group in rows.groupby(rows["axis"] == "heading"):
        sensor_summaries = []
        for (kind, sensor), sensor_rows in group.groupby(["kind", "sensor"], sort=False):
            table += [
                summary(window_rows, kind, sensor, w)
                for w, window_rows in sensor_rows.groupby("window", sort=False)
            ]
            sensor_summaries.append(summary(sensor_rows, kind, sensor, "all"))
            if not moving:
                table.append(sensor_summaries[-1])
        kind = "moving" if moving else "static"
        table += [
            summary(window_rows, kind, "all", w)
            for w, window_rows in group.groupby("window", sort=False)
        ]
        if not moving:
            summaries = pd.DataFrame(sensor_summaries)
            mean, error = summaries.mean(numeric_only=True), summaries.sem(numeric_only=True)
            row = {"kind": kind, "sensor": "mean of sensors", "window": "all"}
            for name in PROBABILITIES:
                name = f"{100.0 * name:g}"
                row[f"within_{name}"] = mean[f"within_{name}"]
                row[f"error_{name}"] = error[f"within_{name}"]
            table += [summary(group, kind, "all", "all"), row]
    return pd.DataFrame(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", metavar="DATA", help="folder of recordings")
    parser.add_argument("--out", type=Path, metavar="FILE", help="CSV file of all windows")
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="NAME", help="prefixes of recording names"
    )
    parser.add_argument(
        "--table", default="terminal", help="output format: terminal (default), markdown or csv"
    )
    options = parser.parse_args()
    if options.data is None:
        print("argument DATA is missing; no evaluation")
        return
    path = options.data / "sets.yaml"
    sets = (read_yaml(path, "description of recordings") or {}) if path.exists() else {}
    rows = []
    for path in sorted(options.data.glob("static/*/data.npz")) + sorted(
        options.data.glob("moving/*/data.npz")
    ):
        name, description = path.parent.name, sets.get(path.parent.name, {})
        if not name.startswith(tuple(options.only)) or not description.get("use", True):
            continue
        with np.load(path) as data:
            if "truth_time" in data and not {"imu", "rest"} <= set(description):
                print(f"{name}: skipped, because key imu or rest is missing in sets.yaml")
            elif "truth_time" in data:
                rows += rows_in_motion(name, description, data, options.data)
            else:
                rows += rows_at_rest(name, description.get("sensor", name), data)
    if not rows:
        print(f"{options.data}: no recordings static/*/data.npz or moving/*/data.npz to evaluate")
        return
    rows = pd.DataFrame(rows)
    if options.out:
        rows.to_csv(options.out, index=False)
    print(format_table(table_of(rows), COLUMNS, options.table), end="")


if __name__ == "__main__":
    main()
