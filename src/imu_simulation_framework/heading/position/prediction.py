"""Prediction of the position error of dead reckoning along a motion."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import ConfigurationError
from ...core.yaml_files import accept_names
from ...motion.earth_motion import EarthMotion
from ...motion.motion import Motion
from ...sensors import simulation
from ...sensors.magnetism.environment import MagneticEnvironment, read_magnetic_environment
from ...sensors.odometer import OdometerSpecification, read_odometer
from ...sensors.operation import Operation
from ..model.distribution import ErrorDistribution
from ..model.imu_error_sources import LinearImu, yaw_error_model
from ..model.model import YawErrorModel
from ..model.odometer import (
    FusedYawError,
    encoder_noise,
    odometer_constants,
    wheel_slips,
)
from ..statistics import TWO_SIDED
from .fixes import PositionFix
from .model import HeadingSource, OdometerErrors, PositionErrorModel, StartUncertainty
from .track import Track

MAX_YAW_ERROR = math.radians(20.0)
"""Yaw error above which a linear position error is reported as inaccurate [rad].

The sine of this angle is 2 % smaller than the angle; the cosine shortens the path by 6 %."""


@dataclass(frozen=True)
class DeadReckoning:
    """Computation of a robot's position from distances, a heading and position fixes.

    Parameters
    ----------
    odometer : OdometerSpecification or str, optional
        Wheel odometer, or the name or file of one; by default distances are known exactly.
    fuse : bool, optional
        Whether the heading is the optimal fusion of the IMU with the odometer; by default it is the
        heading of the IMU.
    fixes : tuple of PositionFix, optional
        Position fixes during the drive.
    start : StartUncertainty, optional
        Uncertainty of the pose at the start.

    Raises
    ------
    ConfigurationError
        If the heading is to be fused without an odometer.
    """

    odometer: OdometerSpecification | str | None = None
    fuse: bool = False
    fixes: tuple[PositionFix, ...] = ()
    start: StartUncertainty = field(default_factory=StartUncertainty)

    def __post_init__(self) -> None:
        if isinstance(self.odometer, str):
            object.__setattr__(self, "odometer", read_odometer(self.odometer))
        if self.fuse and self.odometer is None:
            raise ConfigurationError("a fused heading requires an odometer")

    @property
    def specification(self) -> OdometerSpecification | None:
        """Errors of the odometer, which has been read if it was a name or a file."""
        assert not isinstance(self.odometer, str)
        return self.odometer


@accept_names(imu=simulation.named_errors, magnetic_environment=read_magnetic_environment)
def position_error_model(
    imu: LinearImu | None,
    motion: Motion | EarthMotion,
    reckoning: DeadReckoning | None = None,
    period: float = 1.0,
    operation: Operation | None = None,
    sample: float | None = None,
    magnetic_environment: MagneticEnvironment | None = None,
    until: float | None = None,
) -> PositionErrorModel:
    """Create the model of the position error of dead reckoning along a motion.

    Parameters
    ----------
    imu : LinearImu or str or None
        Errors of the IMU, or the name or file of a specification; None if the heading is that of
        the odometer.
    motion : Motion or EarthMotion
        Evenly sampled motion of the midpoint between the wheels.
    reckoning : DeadReckoning, optional
        Odometer, fixes and uncertainty of the start; by default distances are known exactly.
    period : float, optional
        Step of the model [s]; the model may have at most 1000 times.
    operation, sample, magnetic_environment : optional
        See :func:`.yaw_error_model`.
    until : float, optional
        Last time of the model since the start of the motion [s]; by default the end of the motion.

    Returns
    -------
    PositionErrorModel

    Raises
    ------
    ConfigurationError
        If neither an IMU nor an odometer is given, the motion has no length, or an argument of
        :func:`.yaw_error_model` is invalid.
    MotionError
        If the motion has uneven samples, or is shorter than the step.

    Examples
    --------
    >>> motion = isf.straight(600.0, speed=1.0)
    >>> reckoning = isf.DeadReckoning(odometer="differential")
    >>> operation = isf.Operation(standstill=60.0)
    >>> model = isf.position_error_model("stim300", motion, reckoning, operation=operation)
    >>> model.realisations(1000, seed=1).shape
    (1000, 601, 2)
    """
    reckoning = DeadReckoning() if reckoning is None else reckoning
    odometer = reckoning.specification
    options: dict[str, Any] = {"period": period, "sample": sample, "operation": operation}
    wheels: YawErrorModel | None = None
    if odometer is not None and (reckoning.fuse or imu is None):
        wheels = _truncated(yaw_error_model(odometer, motion, period, sample=sample), until)
    if imu is None:
        if wheels is None:
            raise ConfigurationError("a position requires the heading of an IMU or an odometer")
        return _position_model(HeadingSource(None), wheels, motion, reckoning)
    yaw = yaw_error_model(imu, motion, magnetic_environment=magnetic_environment, **options)
    yaw = _truncated(yaw, until)
    if wheels is None:
        return _position_model(HeadingSource(yaw), yaw, motion, reckoning)
    fused = FusedYawError(yaw, wheels)
    return _position_model(HeadingSource(yaw, fused.gains), fused, motion, reckoning)


def _truncated(model: YawErrorModel, until: float | None) -> YawErrorModel:
    if until is None:
        return model
    samples = round((until - float(model.time[0])) / model.step) + 1
    return model.until(min(max(samples, 2), len(model.time)))


def _position_model(
    heading: HeadingSource,
    yaw: ErrorDistribution,
    motion: Motion | EarthMotion,
    reckoning: DeadReckoning,
) -> PositionErrorModel:
    local = motion.local()
    limits = list(yaw.limits)
    if reckoning.odometer is None:
        limits.append("distances are assumed to be known exactly; add an odometer (--odometer)")
    limits += _linearity_limits(yaw, reckoning.start)
    return PositionErrorModel(
        Track.from_motion(local, yaw.time),
        heading,
        odometer_errors(reckoning.specification, local, yaw.time),
        reckoning.start,
        reckoning.fixes,
        tuple(limits),
    )


def odometer_errors(
    odometer: OdometerSpecification | None, motion: Motion, time: np.ndarray
) -> OdometerErrors:
    """Compute the errors of an odometer's yaw and distance on a motion.

    Parameters
    ----------
    odometer : OdometerSpecification or None
        Errors of the odometer; None without errors.
    motion : Motion
        Motion of the midpoint between the wheels.
    time : numpy.ndarray
        Times since the start of the motion, shape (n,) [s].

    Returns
    -------
    OdometerErrors
    """
    if odometer is None:
        return OdometerErrors()
    return OdometerErrors(
        tuple(odometer_constants(odometer, motion, time)),
        tuple(wheel_slips(odometer, motion, time)),
        encoder_noise(odometer),
        max(motion.period, 1.0 / odometer.rate),
    )


def _linearity_limits(yaw: ErrorDistribution, start: StartUncertainty) -> list[str]:
    mean_square = float(np.max(yaw.mean() ** 2 + yaw.variance())) + start.heading**2
    if TWO_SIDED * math.sqrt(mean_square) <= MAX_YAW_ERROR:
        return []
    return [
        f"the yaw error exceeds {math.degrees(MAX_YAW_ERROR):.0f} deg in more than 5 % of drives "
        "at some time, if no position fix corrects it; there the linear model of the position "
        "overestimates the error across the track and omits the shortened path"
    ]
