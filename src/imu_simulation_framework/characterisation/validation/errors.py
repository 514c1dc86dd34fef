"""Errors of an IMU relative to ground truth, axis by axis."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...core.angles import difference, unwrap
from ...core.error_statistics import ErrorStatistics, error_statistics
from ...core.errors import RecordingError
from ...core.signals import find_time_shift
from ...core.tables import ACCEL, EULER, GYRO
from ..allan.model import averaging_factors, overlapping_allan_variance

QUANTITIES = {"rate": GYRO, "force": ACCEL, "orientation": EULER}
"""Columns of an ImuRecord for each quantity."""

AXES = {"rate": "xyz", "force": "xyz", "orientation": EULER}
"""Names of each quantity's axes, in the order of :data:`QUANTITIES`."""

UNITS = {"rate": "rad/s", "force": "m/s^2", "orientation": "rad"}
"""Unit of each quantity."""

NORM = "norm"
"""Axis name for the norm of an error vector, which requires all three axes."""

_MIN_SAMPLES = 10
_MAX_PITCH = np.radians(75.0)  # rad; above this pitch, roll and yaw are reported as undefined
_GAP = 3.0  # sampling periods of the ground truth; samples in longer gaps are not compared


@dataclass(frozen=True)
class AxisError:
    """Error of an IMU on one axis, ground truth minus IMU.

    Parameters
    ----------
    quantity : str
        Key of :data:`QUANTITIES`.
    axis : str
        Element of :data:`AXES`, or :data:`NORM`.
    error : ndarray, shape (n,)
        Error, in the unit from :data:`UNITS`.
    statistics : ErrorStatistics
        Statistics of the error.
    tau : ndarray, shape (taus,)
        Averaging times [s].
    allan_deviation : ndarray, shape (taus,)
        Overlapping Allan deviation of the error.
    """

    quantity: str
    axis: str
    error: np.ndarray
    statistics: ErrorStatistics
    tau: np.ndarray
    allan_deviation: np.ndarray

    def value(self, statistic: str, tau: float | None = None) -> float:
        """Return the magnitude of an error statistic, or the Allan deviation at an averaging time.

        Parameters
        ----------
        statistic : str
            Name of a statistic; ignored if ``tau`` is given.
        tau : float, optional
            Averaging time [s]. If it is given, the Allan deviation is returned.

        Returns
        -------
        float
            The value, in the unit of the error.

        Raises
        ------
        RecordingError
            The recording is too short for the averaging time.
        """
        if tau is None:
            return abs(float(getattr(self.statistics, statistic)))
        if not (len(self.tau) and self.tau[0] * (1 - 1e-9) <= tau <= self.tau[-1] * (1 + 1e-9)):
            raise RecordingError(
                f"averaging time of the Allan deviation of {self.quantity} {self.axis} is {tau:g} "
                "s, expected at least the sampling period and at most a fifth of the recording"
            )
        with np.errstate(divide="ignore"):
            logarithm = np.log(self.allan_deviation)
        return float(np.exp(np.interp(np.log(tau), np.log(self.tau), logarithm)))


@dataclass(frozen=True)
class ImuValidation:
    """Result of comparing an IMU with ground truth.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times of the IMU samples that were compared [s].
    axes : list of AxisError
        Errors of the compared axes.
    shift : float
        Shift that was subtracted from the IMU's stamps [s].
    remarks : list of str
        Remarks on the alignment and on ignored samples.
    """

    time: np.ndarray
    axes: list[AxisError]
    shift: float = 0.0
    remarks: list[str] = field(default_factory=list)

    def axis(self, quantity: str, axis: str) -> AxisError | None:
        """Return the error of the IMU on one axis.

        Parameters
        ----------
        quantity : str
            Key of :data:`QUANTITIES`.
        axis : str
            Element of :data:`AXES`, or :data:`NORM`.

        Returns
        -------
        AxisError or None
            Error of the axis; None if it was not compared.
        """
        errors = {(error.quantity, error.axis): error for error in self.axes}
        return errors.get((quantity, axis))


def validate_imu(
    imu: pd.DataFrame, truth: pd.DataFrame, align: bool = False, max_shift: float = 1.0
) -> ImuValidation:
    """Compare an IMU with ground truth, axis by axis, at the IMU's stamps.

    The ground truth is interpolated linearly, after angles are unwrapped. Samples before, after and
    in gaps of the ground truth are ignored. Errors are ground truth minus IMU. Angle errors are
    wrapped to (-pi, pi] and then unwrapped; constant errors are not removed.

    Parameters
    ----------
    imu, truth : pandas.DataFrame
        Tables with columns of ImuRecord; only common columns are compared.
    align : bool, optional
        Whether the IMU's stamps are shifted so that the yaw rates match best
        (:func:`.find_time_shift`). Both tables must then contain a yaw.
    max_shift : float, optional
        Largest shift [s].

    Returns
    -------
    ImuValidation

    Raises
    ------
    RecordingError
        The tables have no common axis, or too few common samples.
    """
    columns = [name for group in QUANTITIES.values() for name in group]
    common = [name for name in columns if name in imu and name in truth]
    if not common:
        imu_columns, truth_columns = (
            ", ".join(name for name in columns if name in table) or "none" for table in (imu, truth)
        )
        raise RecordingError(
            f"axes of the IMU are {imu_columns}, and axes of the ground truth are {truth_columns}, "
            "expected at least one common axis"
        )
    shift, remark = (
        0.0,
        "compared at the IMU's stamps; both clocks are assumed to be synchronised",
    )
    if align:
        shift, remark = _shift(imu, truth, max_shift)
    remarks = [remark]
    time = imu.index.to_numpy(dtype=float) - shift
    true_time = truth.index.to_numpy(dtype=float)
    if min(len(time), len(true_time)) < 2:
        raise RecordingError("IMU or ground truth has fewer than two samples, but needs two")
    # A sample is compared only if the ground truth has no gap around it.
    longest = _GAP * float(np.median(np.diff(true_time)))
    upper = np.clip(np.searchsorted(true_time, time), 1, len(true_time) - 1)
    near = (true_time[upper] - true_time[upper - 1] <= longest) | np.isin(time, true_time)
    inside = (time >= true_time[0]) & (time <= true_time[-1]) & near
    if inside.sum() < _MIN_SAMPLES:
        raise RecordingError(
            f"only {inside.sum()} samples of the IMU are within the time range of the ground "
            f"truth, expected at least two; the ground truth is from {true_time[0]:.3f} to "
            f"{true_time[-1]:.3f} s, the IMU from {time[0]:.3f} to {time[-1]:.3f} s"
        )
    if not inside.all():
        remarks.append(
            f"{len(inside) - inside.sum()} of {len(inside)} samples are excluded, because they are "
            "outside the time range of the ground truth or in one of its gaps"
        )
    if not np.isin(time[inside], true_time).all():
        remarks.append("the ground truth was interpolated linearly between its samples")
    checked_time = time[inside]
    errors = {
        name: _error(
            imu[name].to_numpy()[inside], truth[name].to_numpy(), checked_time, true_time, name
        )
        for name in common
    }
    steps = np.diff(checked_time)
    rate = 1.0 / float(np.median(steps))
    parts = np.flatnonzero(steps > _GAP / rate) + 1
    axes = []
    for quantity, names in QUANTITIES.items():
        axis_errors = {
            axis: errors[name] for axis, name in zip(AXES[quantity], names) if name in errors
        }
        if len(axis_errors) == len(names):
            axis_errors[NORM] = np.linalg.norm(np.column_stack(list(axis_errors.values())), axis=1)
        axes += [
            _axis(quantity, axis, checked_time, error, rate, parts)
            for axis, error in axis_errors.items()
        ]
    if "pitch" in truth and {"roll", "yaw"} & set(common):
        steepest = float(np.abs(truth["pitch"].to_numpy()).max())
        if steepest > _MAX_PITCH:
            remarks.append(
                f"the true pitch reaches {np.degrees(steepest):.0f} deg; near 90 deg, roll "
                "and yaw are undefined, so that their errors are meaningless"
            )
    missing = [name for name in columns if name not in common]
    if missing:
        remarks.append(
            f"not compared, because missing in the IMU or the ground truth: {', '.join(missing)}"
        )
    return ImuValidation(checked_time, axes, shift, remarks)


def _shift(imu, truth, max_shift):
    if "yaw" not in imu or "yaw" not in truth:
        raise RecordingError(
            "time alignment requires a yaw in both the IMU and the ground truth, but one lacks it"
        )
    result = find_time_shift(imu.index, imu["yaw"], truth.index, truth["yaw"], max_shift)
    if result.problem:
        return 0.0, f"times were not aligned: {result.problem}"
    return result.shift, (
        f"according to the yaw rates, the IMU is {result.shift:.4f} s late (correlation "
        f"{result.correlation:.2f}); this delay was subtracted from its stamps"
    )


def _error(values, true_values, time, true_time, name):
    if name not in EULER:
        return np.interp(time, true_time, true_values) - values
    between = np.interp(time, true_time, unwrap(true_values))
    return unwrap(difference(between, values))


def _axis(quantity, axis, time, error, rate, parts) -> AxisError:
    statistics = error_statistics(time, error)
    assert statistics is not None  # there is at least one sample
    pieces = [piece for piece in np.split(error, parts) if len(piece) >= _MIN_SAMPLES]
    tau = deviation = np.empty(0)
    if pieces:
        factors = averaging_factors(max(map(len, pieces)))
        tau = factors / rate
        deviation = np.sqrt(overlapping_allan_variance(pieces, rate, factors))
    return AxisError(quantity, axis, error, statistics, tau, deviation)
