"""Error statistics of a simulated IMU at rest, and their comparison with a model.

Each statistic of a recording is compared with its mean over many realisations of the model under
the same conditions; their standard deviation is the standard error of a single recording.
Therefore, correlated drift, lost messages and a start from zero need no separate formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from ..core.angles import roll_pitch_yaw_from_quaternion
from .imu_models.base import SIGNALS, SLOW_ERRORS, ImuModel, ImuReading, ImuTruth

DEVIATION_LIMIT = 3.0  # standard errors; a recording with a larger deviation contradicts the model

BIASES = ("gyroscope bias", "accelerometer bias", "yaw bias")
_UNITS = ("rad/s", "m/s^2", "rad")


@dataclass(frozen=True)
class ImuAtRest:
    """Recording of an IMU at rest.

    Parameters
    ----------
    reading : ImuReading
        Readings, shape (n, ...).
    true_orientation : ndarray, shape (4,)
        Quaternion x, y, z, w of the true orientation.
    consecutive : ndarray of bool, shape (n - 1,)
        Whether no sample is missing between each sample and the next one.
    settled : int
        Index of the first sample at rest, from which orientation, gyroscope and accelerometer are
        used.
    drift_starts : dict of str to int
        Index of the sample at which the drift of each of ``BIASES`` starts from zero.
    """

    reading: ImuReading
    true_orientation: np.ndarray
    consecutive: np.ndarray
    settled: int = 0
    drift_starts: dict = field(default_factory=lambda: dict.fromkeys(BIASES, 0))


def statistics_at_rest(imu: ImuAtRest) -> pd.DataFrame:
    """Compute the statistics of all errors of an IMU at rest.

    The three axes of a sensor count as three recordings of the same process. Statistics of a
    constant bias are omitted, and so are statistics of white noise on a drifting quaternion.

    Parameters
    ----------
    imu : ImuAtRest
        Recording.

    Returns
    -------
    pandas.DataFrame
        Columns ``unit`` and ``value``, by quantity and statistic.
    """
    reading = imu.reading
    rows = []
    biases = zip(BIASES, _UNITS, _bias_columns(reading))
    for quantity, unit, values in biases:
        start = imu.drift_starts[quantity]
        if np.ptp(values[start:], axis=0).any():
            rows += _rows(quantity, unit, values[start:], imu.consecutive[start:], drifts=True)
    settled = slice(imu.settled, None)
    noises = [
        ("gyroscope noise", "rad/s", reading.angular_velocity - reading.angular_velocity_bias),
        ("accelerometer noise", "m/s^2", reading.specific_force - reading.specific_force_bias),
    ]
    if not np.ptp(reading.yaw_bias):
        # The sign of a quaternion is chosen such that it is closer to the true quaternion.
        sign = np.sign(reading.orientation @ imu.true_orientation)[:, np.newaxis]
        noises.append(("quaternion noise", "", reading.orientation * sign))
    for quantity, unit, values in noises:
        rows += _rows(quantity, unit, values[settled], imu.consecutive[settled], drifts=False)
    orientation = reading.orientation[settled]
    orientation_error = (
        Rotation.from_quat(orientation) * Rotation.from_quat(imu.true_orientation).inv()
    )
    error = roll_pitch_yaw_from_quaternion(orientation_error.as_quat())
    length = np.linalg.norm(reading.specific_force[settled].mean(axis=0))
    rows += [
        ("accelerometer", "magnitude of the mean", "m/s^2", length),
        ("orientation", "RMS error of roll and pitch", "rad", _rms(error[:, :2])),
        ("orientation", "RMS error of yaw", "rad", _rms(error[:, 2])),
        ("orientation", "mean norm minus 1", "", np.linalg.norm(orientation, axis=1).mean() - 1.0),
    ]
    table = pd.DataFrame(rows, columns=["quantity", "statistic", "unit", "value"])
    return table.set_index(["quantity", "statistic"])


def compare_with_model(imu: ImuAtRest, model: ImuModel, runs: int, progress=iter) -> pd.DataFrame:
    """Compare the error statistics of an IMU recorded at rest with those of a model.

    Parameters
    ----------
    imu : ImuAtRest
        Recording.
    model : ImuModel
        Model with the parameters and the sampling period of the recorded IMU.
    runs : int
        Number of realisations of the model.
    progress : callable
        Wrapper of the iterable over runs, for a progress bar.

    Returns
    -------
    pandas.DataFrame
        By quantity and statistic: ``unit``, ``recorded``, ``model`` (mean over the runs),
        ``standard_error`` (standard deviation over the runs), ``deviation`` (recorded minus model,
        in standard errors; nan if the model has no error).
    """
    truth = ImuTruth.at_rest(len(imu.reading.orientation), imu.true_orientation)
    recorded = statistics_at_rest(imu)
    values = []
    for run in progress(range(runs)):
        reading = model.batch(truth, first_run=run, parts=(*SIGNALS, *SLOW_ERRORS))[0]
        values.append(statistics_at_rest(_as_recorded(reading, imu))["value"])
    model_values = pd.concat(values, axis=1).reindex(recorded.index)
    error = model_values.std(axis=1, ddof=1)
    mean = model_values.mean(axis=1)
    difference = recorded["value"] - mean
    # A spread that is due to rounding alone is no standard error.
    has_error = error > 1e-9 * recorded["value"].abs()
    columns = {"unit": recorded["unit"], "recorded": recorded["value"], "model": mean}
    columns.update(standard_error=error, deviation=difference / error.where(has_error))
    return pd.DataFrame(columns)


def _as_recorded(reading: ImuReading, imu: ImuAtRest) -> ImuAtRest:
    """Return a simulated reading whose drift processes start where those of the recording start."""
    rate_bias, force_bias, yaw_bias = (
        _delay(values, imu.drift_starts[quantity])
        for quantity, values in zip(BIASES, _bias_columns(reading))
    )
    return replace(
        imu,
        reading=reading.replaced(
            # Only the bias is delayed; white noise is present from the first sample.
            angular_velocity=reading.angular_velocity - reading.angular_velocity_bias + rate_bias,
            specific_force=reading.specific_force - reading.specific_force_bias + force_bias,
            orientation=_delay(reading.orientation, imu.drift_starts["yaw bias"]),
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


def _delay(values, samples):
    return np.concatenate([values[:1].repeat(samples, axis=0), values])[: len(values)]


def _rows(quantity, unit, values, consecutive, drifts):
    # A drift starts at zero, so its first value is the constant part of the bias.
    centred = values - (values[0] if drifts else values.mean(axis=0))
    earlier, later = centred[:-1][consecutive], centred[1:][consecutive]
    rows = [(quantity, "standard deviation", unit, _rms(centred))]
    power = (earlier * earlier).sum()
    if drifts or power > 0.0:
        correlation = (earlier * later).sum() / power
        rows.append((quantity, "lag-1 correlation", "", correlation))
    if drifts:
        innovation = _rms(later - correlation * earlier)
        rows.insert(0, (quantity, "mean", unit, values.mean()))
        rows.insert(2, (quantity, "standard deviation of the innovation", unit, innovation))
    return rows


def _rms(values) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
