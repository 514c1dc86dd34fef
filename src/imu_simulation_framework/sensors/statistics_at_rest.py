"""What a simulated IMU's errors are while the robot stands still, and whether a model says so too.

Each statistic of a recording is set beside its mean over many realisations of the model, under
the same conditions, and beside their standard deviation, which is the standard error of one
recording: correlated drift, lost messages and a start from zero need no formulas of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from ..core.angles import roll_pitch_yaw_from_quaternion
from .imu_models.base import SIGNALS, SLOW_ERRORS, ImuModel, ImuReading, ImuTruth

DEVIATION_LIMIT = 3.0
"""Standard errors; further away a recording contradicts the model."""

BIASES = ("gyroscope bias", "accelerometer bias", "yaw bias")
_UNITS = ("rad/s", "m/s^2", "rad")


@dataclass(frozen=True)
class ImuAtRest:
    """An IMU that stands still: its ``reading`` (n, ...).

    ``true_orientation`` (4,): quaternion x, y, z, w. ``consecutive`` (n - 1,): whether no sample is
    missing before the next. ``settled``: the first sample at which nothing moves any more, from
    which orientation, gyroscope and accelerometer count. ``drift_starts``: for each of ``BIASES``
    the sample at which its drift begins, from zero.
    """

    reading: ImuReading
    true_orientation: np.ndarray
    consecutive: np.ndarray
    settled: int = 0
    drift_starts: dict = field(default_factory=lambda: dict.fromkeys(BIASES, 0))


def statistics_at_rest(imu: ImuAtRest) -> pd.DataFrame:
    """Return ``unit`` and ``value`` of the statistics of all errors, by quantity and statistic.

    Three axes of one sensor count as three recordings of the same thing. Statistics of a bias that
    does not change at all are left out, and of white noise on the quaternion where drift is on it.
    """
    reading = imu.reading
    rows = []
    biases = zip(BIASES, _UNITS, _bias_columns(reading))
    for quantity, unit, values in biases:
        start = imu.drift_starts[quantity]
        if np.ptp(values[start:], axis=0).any():
            rows += _rows(quantity, unit, values[start:], imu.consecutive[start:], drifts=True)
    after = slice(imu.settled, None)
    noises = [
        ("gyroscope noise", "rad/s", reading.angular_velocity - reading.angular_velocity_bias),
        ("accelerometer noise", "m/s^2", reading.specific_force - reading.specific_force_bias),
    ]
    if not np.ptp(reading.yaw_bias):
        # With the sign that is nearer to the truth's.
        sign = np.sign(reading.orientation @ imu.true_orientation)[:, np.newaxis]
        noises.append(("quaternion noise", "", reading.orientation * sign))
    for quantity, unit, values in noises:
        rows += _rows(quantity, unit, values[after], imu.consecutive[after], drifts=False)
    orientation = reading.orientation[after]
    turned = Rotation.from_quat(orientation) * Rotation.from_quat(imu.true_orientation).inv()
    error = roll_pitch_yaw_from_quaternion(turned.as_quat())
    length = np.linalg.norm(reading.specific_force[after].mean(axis=0))
    rows += [
        ("accelerometer", "length of the mean", "m/s^2", length),
        ("orientation", "RMS error of roll and pitch", "rad", _rms(error[:, :2])),
        ("orientation", "RMS error of yaw", "rad", _rms(error[:, 2])),
        ("orientation", "mean norm less 1", "", np.linalg.norm(orientation, axis=1).mean() - 1.0),
    ]
    table = pd.DataFrame(rows, columns=["quantity", "statistic", "unit", "value"])
    return table.set_index(["quantity", "statistic"])


def compare_with_model(imu: ImuAtRest, model: ImuModel, runs: int, progress=iter) -> pd.DataFrame:
    """Set a recording's statistics beside those of a model, by quantity and statistic.

    ``model``: with the recorded IMU's parameters and sample period. ``runs``: realisations of the
    model. ``progress`` (callable): wraps the iterable of runs, for a progress bar.

    Returned: ``unit``, ``recorded``, ``model`` (mean over the runs), ``standard_error`` (standard
    deviation over them), ``deviation`` (recorded less model, in standard errors; not a number where
    the model knows no error).
    """
    truth = ImuTruth.at_rest(len(imu.reading.orientation), imu.true_orientation)
    recorded = statistics_at_rest(imu)
    values = []
    for run in progress(range(runs)):
        reading = model.batch(truth, first_run=run, parts=(*SIGNALS, *SLOW_ERRORS))[0]
        values.append(statistics_at_rest(_as_recorded(reading, imu))["value"])
    of_runs = pd.concat(values, axis=1).reindex(recorded.index)
    error = of_runs.std(axis=1, ddof=1)
    mean = of_runs.mean(axis=1)
    difference = recorded["value"] - mean
    # Rounding alone is no error of the model.
    known = error > 1e-9 * recorded["value"].abs()
    columns = {"unit": recorded["unit"], "recorded": recorded["value"], "model": mean}
    columns.update(standard_error=error, deviation=difference / error.where(known))
    return pd.DataFrame(columns)


def _as_recorded(reading: ImuReading, imu: ImuAtRest) -> ImuAtRest:
    """Return a realisation whose drifts begin where the recording's do."""
    rate_bias, force_bias, yaw_bias = (
        _later(values, imu.drift_starts[quantity])
        for quantity, values in zip(BIASES, _bias_columns(reading))
    )
    return replace(
        imu,
        reading=reading.replaced(
            # What is left of the readings without their bias is white noise in any case.
            angular_velocity=reading.angular_velocity - reading.angular_velocity_bias + rate_bias,
            specific_force=reading.specific_force - reading.specific_force_bias + force_bias,
            orientation=_later(reading.orientation, imu.drift_starts["yaw bias"]),
            angular_velocity_bias=rate_bias,
            specific_force_bias=force_bias,
            yaw_bias=yaw_bias[:, 0],
        ),
    )


def _bias_columns(reading):
    shape = (len(reading.orientation), 3)
    return (
        np.broadcast_to(reading.angular_velocity_bias, shape),
        np.broadcast_to(reading.specific_force_bias, shape),
        np.broadcast_to(reading.yaw_bias, shape[:1])[:, np.newaxis],
    )


def _later(values, samples):
    return np.concatenate([values[:1].repeat(samples, axis=0), values])[: len(values)]


def _rows(quantity, unit, values, consecutive, drifts):
    # A drift starts at zero: what is there then is the constant part.
    centred = values - (values[0] if drifts else values.mean(axis=0))
    before, after = centred[:-1][consecutive], centred[1:][consecutive]
    rows = [(quantity, "standard deviation", unit, _rms(centred))]
    power = (before * before).sum()
    if drifts or power > 0.0:
        correlation = (before * after).sum() / power
        rows.append((quantity, "lag-1 correlation", "", correlation))
    if drifts:
        innovation = _rms(after - correlation * before)
        rows.insert(0, (quantity, "mean", unit, values.mean()))
        rows.insert(2, (quantity, "standard deviation of the innovation", unit, innovation))
    return rows


def _rms(values) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
