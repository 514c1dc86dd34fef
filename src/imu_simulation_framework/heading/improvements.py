"""Improvements of a heading: calibration, a different use of the sensor, or a better sensor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterator

from ..core.errors import FrameworkError
from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..sensors.imu_specification import ImuSpecification
from ..sensors.odometer import OdometerSpecification
from ..sensors.operation import Operation
from .answer import Improvement
from .model import imu_error_sources
from .model.model import YawErrorModel
from .model.odometer import TRACK, WHEEL_SIZE, WHEELS
from .selection import yaw_error_models

LONG_STANDSTILL = 60.0
"""Proposed duration of the standstill before the drive, if the present one is shorter [s]."""
STOPS = "every 2min for 3s"
"""Proposed stops during the drive, if there are none."""
MAX_REMAINING_SHARE = 0.9
"""Largest ratio of the yaw errors after and before an improvement that is worth proposing."""

_CALIBRATIONS = (
    (
        "scale factor and axes calibrated",
        (imu_error_sources.SCALE_FACTOR, imu_error_sources.MISALIGNMENT),
    ),
    ("g-sensitivity calibrated", (imu_error_sources.G_SENSITIVITY,)),
    ("temperature kept constant", ("temperature",)),
    ("wheels and track calibrated", (WHEELS, TRACK, WHEEL_SIZE)),
)
"""Calibrations, and the yaw error sources that they remove."""


def propose_improvements(
    imu: object,
    motion: Motion | EarthMotion,
    operation: Operation,
    model: YawErrorModel,
    part: Improvement | None = None,
    **arguments: Any,
) -> tuple[Improvement, ...]:
    """Propose improvements that reduce the yaw error by more than a tenth.

    Parameters
    ----------
    imu : object
        Errors of the sensor; proposals exist for ImuSpecification and OdometerSpecification.
    motion : Motion or EarthMotion
        Motion without the stops of the operation.
    operation : Operation
        Present use of the sensor.
    model : YawErrorModel
        Model of the sensor's yaw error in that use.
    part : Improvement, optional
        Better IMU from :func:`better_part`.
    **arguments
        Further arguments that were passed to :func:`.yaw_error_model` for the model.

    Returns
    -------
    tuple of Improvement
        Improvements, the best first.
    """
    if not isinstance(imu, (ImuSpecification, OdometerSpecification)):
        return ()
    improved_models = [*_calibrated(model)]
    for action, other in _other_uses(imu, operation):
        try:
            improved = imu_error_sources.yaw_error_model(
                imu, other.insert_stops(motion), operation=other, **arguments
            )
        except FrameworkError:
            continue  # this motion cannot include stops
        samples = min(len(model.time), len(improved.time))
        improved_models.append((action, improved.until(samples)))
    improvements = [
        Improvement(action, improved.absolute_quantile(0.95))
        for action, improved in improved_models
    ]
    if part is not None and _is_gyroscope_alone(imu):
        improvements.append(part)
    limit = MAX_REMAINING_SHARE * model.absolute_quantile(0.95)
    worthwhile = [improvement for improvement in improvements if improvement.percentile_95 < limit]
    return tuple(sorted(worthwhile, key=lambda improvement: improvement.percentile_95))


def _calibrated(model: YawErrorModel) -> Iterator[tuple[str, YawErrorModel]]:
    """Yield each calibration, and the yaw error model without the sources that it removes."""
    for action, names in _CALIBRATIONS:
        remaining = tuple(source for source in model.sources if source.name not in names)
        if len(remaining) < len(model.sources):
            yield action, replace(model, sources=remaining)


def _other_uses(
    imu: ImuSpecification | OdometerSpecification, operation: Operation
) -> Iterator[tuple[str, Operation]]:
    if isinstance(imu, ImuSpecification) and operation.standstill < LONG_STANDSTILL:
        action = f"standing still for {LONG_STANDSTILL:g} s before the drive"
        yield action, replace(operation, standstill=LONG_STANDSTILL)
    if _is_gyroscope_alone(imu) and not operation.stop_plan.use_stops:
        yield f"a stop {STOPS}", replace(operation, stops=STOPS)


def _is_gyroscope_alone(imu: ImuSpecification | OdometerSpecification) -> bool:
    return isinstance(imu, ImuSpecification) and not imu.output.fuses_magnetometer


def better_part(
    parts: dict[str, ImuSpecification],
    motion: Motion | EarthMotion,
    limit: float,
    at: float,
    operation: Operation,
    sample: float | None = None,
    period: float | None = None,
) -> Improvement:
    """Propose the least precise IMU whose heading stays within a limit in 95 % of drives.

    Parameters
    ----------
    parts : dict of str to ImuSpecification
        IMUs by name.
    motion : Motion or EarthMotion
        Motion with its stops.
    limit : float
        Limit of the yaw error to either side [rad].
    at : float
        Time since the motion's start at which the IMUs are compared [s].
    operation : Operation
        Standstill, stops and warm-up of the gyroscope.
    sample : float, optional
        Sampling period of the sensors, see :func:`.yaw_error_model` [s].
    period : float, optional
        Step of the model with which the proposed IMU is compared [s]; by default that of
        :func:`.model_step`, which takes fewer steps.

    Returns
    -------
    Improvement
        Proposed IMU; the most precise one if none stays within the limit in 95 % of drives.
    """
    sizes = {
        name: model.absolute_quantile(0.95)
        for name, model in yaw_error_models(parts, motion, at, operation, sample)
    }
    within_limit = {name: size for name, size in sizes.items() if size <= limit}
    name = (
        max(within_limit, key=within_limit.__getitem__)
        if within_limit
        else min(sizes, key=sizes.__getitem__)
    )
    size = sizes[name]
    if period is not None:
        part = {name: parts[name]}
        ((_, model),) = yaw_error_models(part, motion, at, operation, sample, period)
        size = model.absolute_quantile(0.95)
    return Improvement(f"another part, {name},", size, is_part=True)
