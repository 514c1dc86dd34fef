"""Compare a simulator's IMU plug-in with this package's emulation, on a stationary robot.

The command line is defined in :mod:`.parsers.compare_plugins`.
"""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ..core import topics
from ..core.angles import yaw_from_quaternion
from ..core.errors import ResultError
from ..core.progress import progress_bar
from ..core.tables import ACCEL, GYRO, QUATERNION, escape_formula
from ..core.whole_files import write_whole
from ..drive.results.files import ResultFolder, find_result
from ..recordings.formats.bag import read_bag
from ..recordings.messages import IMU, ODOMETRY
from ..sensors.imu_models.base import SIGNALS, SLOW_ERRORS, DriftFreeReading
from ..sensors.imu_models.plugins import PRESETS, make_imu_model
from ..sensors.statistics_at_rest import BIASES, DEVIATION_LIMIT, ImuAtRest, compare_with_model

IMU_TOPIC = topics.absolute_topic(topics.IMU)
BIAS_TOPIC = topics.absolute_topic(topics.IMU_BIAS)
TRUTH_TOPIC = topics.absolute_topic(topics.GROUND_TRUTH)
STILL = 0.01
"""Largest displacement and rotation of a robot that counts as stationary [m, rad]."""


def _load(folder: ResultFolder) -> tuple[ImuAtRest, float, dict[str, Any]]:
    """Read the IMU output of an experiment with a stationary robot and ``record:=true``.

    Parameters
    ----------
    folder : ResultFolder
        Result of the experiment.

    Returns
    -------
    imu : ImuAtRest
        Output of the IMU.
    period : float
        Period of the samples [s].
    facts : dict of str to object
        ``model``, ``parameters``, ``simulator``, ``expected`` and ``received`` of the summary.

    Raises
    ------
    RecordingError, ResultError
        Bag or summary is missing or invalid, or the robot moved.
    """
    try:
        summary = json.loads(folder.read_text("summary.json"))
        run = summary["run"]
        messages = summary["messages"]["imu_simulated"]
        about = {
            "model": PRESETS[run["imu"]["model"]].model,
            "parameters": run["imu"]["parameters"],
            "simulator": run["simulator"],
            "expected": messages["expected"],
            "received": messages["received"],
        }
        duration = float(summary["durations"]["recorded_s"])
    except (ValueError, TypeError, KeyError) as error:
        path = folder.path("summary.json")
        raise ResultError(f"{path}: not a valid summary of an experiment ({error})") from error
    return *_read(folder.path("experiment.bag"), about["model"] == "hector", duration), about


def _read(bag, with_bias, duration):
    samples = read_bag(bag, IMU_TOPIC, [IMU])
    # The first stamp of the MuJoCo simulator is zero, which the reader replaces with NaN.
    stamped = np.isfinite(samples.columns["stamp"])
    biases: dict[str, Any] = {}
    columns = [samples.matrix(names)[stamped] for names in (QUATERNION, GYRO, ACCEL)]
    stamp = samples.columns["stamp"][stamped]
    if with_bias:
        bias = read_bag(bag, BIAS_TOPIC, [IMU])
        stamp, imu_rows, bias_rows = np.intersect1d(
            stamp, bias.columns["stamp"], return_indices=True
        )
        columns = [values[imu_rows] for values in columns]
        orientation = bias.matrix(QUATERNION)[bias_rows]
        yaw = yaw_from_quaternion(orientation)
        parts = bias.matrix(GYRO)[bias_rows], bias.matrix(ACCEL)[bias_rows], yaw, orientation
        biases = dict(zip(SLOW_ERRORS, parts))
    reading = DriftFreeReading(**dict(zip(SIGNALS, columns)), **biases)
    period = float(np.median(np.diff(stamp)))
    start = stamp[-1] - duration
    imu = ImuAtRest(
        reading,
        _true_orientation(bag, start),
        np.rint(np.diff(stamp) / period) == 1.0,
        int(np.searchsorted(stamp, start)),
        {name: _first_drift(getattr(reading, part)) for name, part in zip(BIASES, SLOW_ERRORS)},
    )
    return imu, period


def _true_orientation(bag, start):
    """Return the mean orientation from ``start`` on, and check that the robot does not move."""
    truth = read_bag(bag, TRUTH_TOPIC, [ODOMETRY])
    settled = truth.columns["stamp"] >= start
    poses = truth.matrix(("x", "y", *QUATERNION))[settled]
    if np.ptp(poses, axis=0).max() > STILL:
        raise ResultError(f"{bag}: the robot moves, but must be stationary for this comparison")
    mean = poses[:, 2:].mean(axis=0)
    return mean / np.linalg.norm(mean)


def _first_drift(bias) -> int:
    """Return the index of the first nonzero bias; the biases of the plug-in start at zero."""
    nonzero = np.asarray(bias).reshape(len(bias), -1).any(axis=1)
    return int(np.argmax(nonzero))


COMPARED = {
    # With these values, every type of error occurs, and drifts become stationary within minutes.
    "hector": {
        "rate_offset": 0.01, "rate_drift": 0.05, "rate_drift_frequency": 0.1,
        "rate_gaussian_noise": 0.001, "accel_offset": 0.05, "accel_drift": 0.5,
        "accel_drift_frequency": 0.2, "accel_gaussian_noise": 0.02, "yaw_offset": 0.02,
        "yaw_drift": 0.5, "yaw_drift_frequency": 0.05,
    },
    "generic": {"gaussian_noise": 0.00215},
}  # fmt: skip
"""Default parameters of each plug-in in this comparison."""
AT_REST = "at_rest"
"""Folder name of the experiments that this program runs."""
STANDING_POSES = 100
"""Number of poses in the recording of the stationary robot; readers reject shorter recordings."""


def run(options):
    """Run and evaluate the experiments specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.

    Returns
    -------
    int
        Exit code: 0, or 1 if a plug-in differs from its emulation.
    """
    out = Path(options.out)
    folders = options.results or [_run_experiment(out, name, options) for name in options.imu]
    tables = {}
    for folder in folders:
        name, table = _compare(folder, options)
        print(_text(table), "", sep="\n", flush=True)
        tables[escape_formula(name)] = table
    tables = pd.concat(tables, names=["experiment"])
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "comparison.csv", tables.to_csv().encode())
    print(out / "comparison.csv")
    outside = tables[tables["deviation"].abs() > DEVIATION_LIMIT]
    for experiment, quantity, statistic in outside.index:
        print(
            f"{experiment}: {quantity}, {statistic}: differs from the model by more than "
            f"{DEVIATION_LIMIT:g} standard errors"
        )
    return 1 if len(outside) else 0


def _run_experiment(out, name, options) -> Path:
    folder = out / name
    if folder.exists():
        raise ResultError(
            f"{folder}: already exists; choose another --out, or evaluate the existing results "
            f"with --results {folder}"
        )
    duration = 60.0 * options.minutes
    parameters = options.parameters or COMPARED.get(PRESETS[name].model, {})
    standing = folder / f"{AT_REST}.tum"
    folder.mkdir(parents=True)
    poses = (f"{t:.2f} 0 0 0 0 0 0 1\n" for t in np.linspace(0.0, duration, STANDING_POSES))
    write_whole(standing, "".join(poses).encode())
    settings = {
        "experiment": {"name": AT_REST},
        f"imu_{PRESETS[name].model}": parameters,
        # The recording contains the constant pose of the stationary robot, and no IMU.
        "imu_recording": {"use": False},
        "reference": {"format": "tum"},
    }
    words = {
        "simulator": options.simulator, "recording": standing.resolve(), "imu": name,
        "controller": "open_loop", "record": "true", "seed": options.seed,
        "output": folder.resolve(),
        "settings": yaml.safe_dump(settings, default_flow_style=True, width=10**6).strip(),
    }  # fmt: skip
    program = ("rosrun", "imu_simulation_framework", "run_experiment.py")
    code = subprocess.call([*program, *(f"{key}:={value}" for key, value in words.items())])
    if code:
        raise ResultError(
            f"{folder}: the experiment exited with code {code}, expected 0; see the messages above"
        )
    (result,) = folder.glob(f"{AT_REST}/*/1")
    return result


def _compare(folder, options):
    """Return a name for the experiment in a folder, and the table of compared statistics."""
    folder = find_result(folder)
    imu, period, about = _load(folder)
    # The random numbers of the model must be independent of those of the experiment.
    model = make_imu_model(about["model"], about["parameters"], period, options.seed + 1)
    progress = functools.partial(progress_bar, desc="model", unit=" runs")
    table = compare_with_model(imu, model, options.runs, progress)
    received, lost = about["received"], about["expected"] - about["received"]
    print(f"{folder.folder}: {about['simulator']}, {received} messages, {lost} lost")
    return f"{about['simulator']}, {about['model']}", table


def _text(table) -> str:
    shown = table.reset_index()
    for column in ("recorded", "model"):
        shown[column] = shown[column].map("{:.6g}".format)
    shown["standard_error"] = shown["standard_error"].map("{:.2g}".format)
    shown["deviation"] = shown["deviation"].map("{:+.2f}".format, na_action="ignore").fillna("-")
    return shown.to_string(index=False)
