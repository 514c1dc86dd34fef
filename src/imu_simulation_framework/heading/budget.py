"""Heading budget of a sensor: yaw error model, its limitations, and possible improvements."""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from types import MappingProxyType
from typing import Any, Mapping, NamedTuple, Sequence

from ..core.sentences import number_duplicates
from ..motion.earth import EARTH_RATE
from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..sensors.imu_specification import ImuSpecification
from ..sensors.noise.processes import flicker_processes
from .answer import Improvement
from .model.distribution import ErrorDistribution
from .model.imu_error_sources import BIAS_INSTABILITY
from .model.model import YawErrorModel
from .model.odometer import FusedYawError
from .model.sources import RateGaussMarkov

NOTABLE_SHARE = 0.1
"""Smallest share of a yaw error at which an uncertain component is reported."""

MIN_STEPS = 20
"""Minimum number of time steps of a yaw error model."""

FUSION_REMARK = (
    "fused headings assume the best estimator, which knows the magnitude of each error; no filter "
    "on a robot is more accurate. Limits are only checked at the model's times"
)


class Budget(NamedTuple):
    """Yaw error model of one sensor, or of two fused sensors.

    Attributes
    ----------
    name : str
        Name of the sensor in tables and messages.
    errors : object
        Errors of the sensor; None for two fused sensors.
    model : ErrorDistribution
        Model up to the time of the budget.
    remarks : list of str
        Messages on limitations of the model.
    improvements : tuple of Improvement
        Worthwhile improvements, the best first.
    origins : mapping of str to str
        Origin of the gyroscope's parameters by field.
    """

    name: str
    errors: Any
    model: ErrorDistribution
    remarks: list[str]
    improvements: tuple[Improvement, ...]
    origins: Mapping[str, str] = MappingProxyType({})


def budget_step(at: float, max_steps: int) -> float:
    """Choose a round time step that gives a yaw error model a suitable number of steps.

    Parameters
    ----------
    at : float
        Duration of the model [s].
    max_steps : int
        Largest number of steps.

    Returns
    -------
    float
        Step [s].
    """
    for period in (0.1, 1.0, 10.0, 60.0):
        if at / period <= max_steps and at / period >= MIN_STEPS:
            return period
    return 0.01 if at < 2.0 else at / max_steps


def fuse_budgets(imu: Budget, odometer: Budget) -> Budget:
    """Create the budget of the heading optimally fused from an IMU and an odometer.

    Parameters
    ----------
    imu, odometer : Budget
        Budgets with models at the same times.

    Returns
    -------
    Budget
        The fused budget.
    """
    assert isinstance(imu.model, YawErrorModel)
    assert isinstance(odometer.model, YawErrorModel)
    model = FusedYawError(imu.model, odometer.model)
    name = f"{imu.name} + {odometer.name}"
    remarks = [FUSION_REMARK]
    known_error = math.degrees(abs(model.mean()[-1]))
    if known_error > NOTABLE_SHARE * math.degrees(final_std(model)):
        remarks.append(
            f"{name}: {known_error:.3g} deg of its error are errors that a file states as values, "
            "which the estimator does not know; state them as standard deviations to have them "
            "estimated"
        )
    return Budget(name, None, model, remarks, ())


def fuse_all(imus: Sequence[Budget], odometers: Sequence[Budget]) -> list[Budget]:
    """Create the budgets of the headings fused from each IMU with each odometer.

    Parameters
    ----------
    imus, odometers : sequence of Budget
        Budgets with models at the same times.

    Returns
    -------
    list of Budget
        Fused budgets, by IMU and then by odometer.
    """
    return [fuse_budgets(imu, odometer) for imu, odometer in product(imus, odometers)]


def distinguish_budgets(budgets: Sequence[Budget]) -> list[Budget]:
    """Make the names of budgets unique by appending numbers to duplicates.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.

    Returns
    -------
    list of Budget
        Budgets with unique names.
    """
    names = number_duplicates([budget.name for budget in budgets])
    return [budget._replace(name=name) for name, budget in zip(names, budgets)]


def budget_remarks(budgets: Sequence[Budget]) -> list[str]:
    """Return the remarks of all budgets without duplicates.

    Parameters
    ----------
    budgets : sequence of Budget
        Yaw error models of the compared sensors.

    Returns
    -------
    list of str
        Remarks in the order of the budgets.
    """
    return list(dict.fromkeys(remark for budget in budgets for remark in budget.remarks))


def bias_instability_remark(errors: ImuSpecification, model: YawErrorModel) -> str | None:
    """Describe how the yaw error depends on the averaging times assumed for bias instability.

    Data sheets state a bias instability without the range of averaging times of the flicker noise.

    Parameters
    ----------
    errors : ImuSpecification
        Errors of the IMU.
    model : YawErrorModel
        Yaw error model of the IMU.

    Returns
    -------
    str or None
        Message; None if the influence is small.
    """
    std = final_std(model)
    if BIAS_INSTABILITY not in model.names or std == 0.0:
        return None
    flicker_std = final_std(model.only(BIAS_INSTABILITY))
    if flicker_std < NOTABLE_SHARE * std:
        return None
    first, last = errors.gyroscope.bias_instability_band

    def unit_std(end: float) -> float:
        times, sigmas = flicker_processes((first, end), model.sensor_period or first)
        processes = [
            RateGaussMarkov(BIAS_INSTABILITY, sigma, time) for time, sigma in zip(times, sigmas)
        ]
        return final_std(dataclasses.replace(model, sources=tuple(processes)))

    ends = (0.1 * last, 10.0 * last)
    others = [flicker_std * unit_std(end) / unit_std(last) for end in ends]
    if max(others) - min(others) < NOTABLE_SHARE * std:
        return None  # zero-rate updates remove slow processes
    shorter, longer = (
        f"{math.degrees(other):.3g} deg to {end:g} s" for other, end in zip(others, ends)
    )
    return (
        f"its bias instability is flicker noise over averaging times from {first:g} to {last:g} s, "
        f"which causes {math.degrees(flicker_std):.3g} deg std here; it would be {shorter} and "
        f"{longer}"
    )


def earth_rate_remark(
    errors: ImuSpecification, model: YawErrorModel, motion: Motion | EarthMotion
) -> str | None:
    """Describe the omitted yaw error due to the Earth's rotation if the latitude is unknown.

    Parameters
    ----------
    errors : ImuSpecification
        Errors of the IMU.
    model : YawErrorModel
        Yaw error model of the IMU.
    motion : Motion or EarthMotion
        Motion of the model.

    Returns
    -------
    str or None
        Message; None if the motion has a latitude, or the error would be small.
    """
    is_zeroed = model.standstill > 0.0  # zero-rate updates remove the Earth's rate
    if (
        is_zeroed
        or isinstance(motion, EarthMotion)
        or errors.output.orientation_reference != "fusion"
    ):
        return None
    time, constant = float(model.time[-1]), model.heading_time_constant
    effective_time = time if constant is None else -constant * math.expm1(-time / constant)
    drift = EARTH_RATE * effective_time
    total_rms = math.hypot(float(model.mean()[-1]), final_std(model))
    if drift < NOTABLE_SHARE * total_rms:
        return None
    return (
        f"the Earth's rotation is omitted: it adds {-math.degrees(drift):.3g} deg times the sine "
        f"of the latitude to {math.degrees(total_rms):.3g} deg rms"
    )


def final_std(model: ErrorDistribution) -> float:
    """Return the standard deviation of the final yaw error.

    Parameters
    ----------
    model : ErrorDistribution
        Distribution of the yaw error.

    Returns
    -------
    float
        Standard deviation [rad].
    """
    return math.sqrt(float(model.variance()[-1]))
