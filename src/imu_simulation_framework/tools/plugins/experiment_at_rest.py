"""The IMU of an experiment in which the robot stood still, read back from its bag."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np

from imu_simulation_framework import topics
from imu_simulation_framework.angles import yaw_from_quaternion
from imu_simulation_framework.columns import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.errors import ResultError
from imu_simulation_framework.evaluation.statistics_at_rest import BIASES, ImuAtRest
from imu_simulation_framework.recordings.formats.bag import read_bag
from imu_simulation_framework.recordings.messages import IMU, ODOMETRY
from imu_simulation_framework.results.folder import ResultFolder
from imu_simulation_framework.sensors.imu_models import PRESETS, SIGNALS, SLOW_ERRORS, ImuReading
from imu_simulation_framework.sensors.imu_models.reading import without_bias

IMU_TOPIC = topics.in_root(topics.IMU)
BIAS_TOPIC = topics.in_root(topics.IMU_BIAS)
TRUTH_TOPIC = topics.in_root(topics.GROUND_TRUTH)

STILL = 0.01
"""A robot that moves or turns less than this in a whole experiment stands still [m, rad]."""


@dataclass(frozen=True)
class ExperimentAtRest:
    """What an experiment with a robot at rest tells about its IMU.

    Attributes
    ----------
    imu : ImuAtRest
        From the moment at which the experiment's recorder began.
    model : str
        Which error model it shall have.
    parameters : Mapping
        Of the model.
    period : float
        Of the samples [s].
    simulator : str
    expected, received : int
        Messages of the IMU during the drive.
    """

    imu: ImuAtRest
    model: str
    parameters: Mapping[str, Any]
    period: float
    simulator: str
    expected: int
    received: int


def load_experiment_at_rest(folder: ResultFolder) -> ExperimentAtRest:
    """Read the bag of an experiment with a robot at rest (``record:=true``).

    Raises
    ------
    RecordingError, ResultError
        The bag or the summary is missing or broken, or the robot moved.
    """
    path = folder.path("summary.json")
    try:
        summary = json.loads(folder.read_text("summary.json"))
        run = summary["run"]
        messages = summary["messages"]["imu_simulated"]
        preset = PRESETS[run["imu"]["model"]]
        about = {
            "model": preset.model,
            "parameters": run["imu"]["parameters"],
            "simulator": run["simulator"],
            "expected": messages["expected"],
            "received": messages["received"],
        }
        duration = float(summary["durations"]["recorded_s"])
    except (ValueError, TypeError, KeyError) as error:
        raise ResultError(f"{path}: not the summary of an experiment ({error})") from error
    bag = folder.path("experiment.bag")
    imu, period = _read(bag, preset.model == "hector", duration)
    return ExperimentAtRest(imu=imu, period=period, **about)


def _read(bag, with_bias, duration):
    samples = read_bag(bag, IMU_TOPIC, [IMU])
    # A stamp of zero, not a number here, is the first that the MuJoCo simulator gives.
    stamped = np.isfinite(samples.columns["stamp"])
    biases: dict[str, Any] = {}
    columns = [samples.matrix(names)[stamped] for names in (QUATERNION, GYRO, ACCEL)]
    stamp = samples.columns["stamp"][stamped]
    if with_bias:
        bias = read_bag(bag, BIAS_TOPIC, [IMU])
        stamp, ours, theirs = np.intersect1d(stamp, bias.columns["stamp"], return_indices=True)
        columns = [values[ours] for values in columns]
        biases = _biases(bias, theirs)
    reading = ImuReading(without_bias, **dict(zip(SIGNALS, columns)), **biases)
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
    """Return the robot's orientation, which must not change from ``start`` on."""
    truth = read_bag(bag, TRUTH_TOPIC, [ODOMETRY])
    settled = truth.columns["stamp"] >= start
    poses = truth.matrix(("x", "y", *QUATERNION))[settled]
    if np.ptp(poses, axis=0).max() > STILL:
        raise ResultError(f"{bag}: the robot moves; it must stand still for this comparison")
    mean = poses[:, 2:].mean(axis=0)
    return mean / np.linalg.norm(mean)


def _biases(samples, index):
    orientation = samples.matrix(QUATERNION)[index]
    yaw = yaw_from_quaternion(orientation)
    parts = (samples.matrix(GYRO)[index], samples.matrix(ACCEL)[index], yaw, orientation)
    return dict(zip(SLOW_ERRORS, parts))


def _first_drift(bias) -> int:
    """Find the first sample at which a bias is not zero any more; the plug-in begins with none."""
    nonzero = np.asarray(bias).reshape(len(bias), -1).any(axis=1)
    return int(np.argmax(nonzero))
