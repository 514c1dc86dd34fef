"""How small each error of a gyroscope must be for a heading to stay within a limit.

The size of an error means the same for all: what is drawn anew with each sensor or each start is
normal, of either sign, with the size as its standard deviation; of noise it is the density or
coefficient. The model is linear: an error of size p spreads the yaw p times as far as one of size
1, so that the largest p of each alone is found from a model in which only this error is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtri

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.units import factor
from imu_simulation_framework.heading.model.distribution import normal_within
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.motion.earth_motion import EarthMotion
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.sensors.conditions import TemperatureProfile
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU
from imu_simulation_framework.sensors.operation import Operation

WARMING = 10.0
"""Kelvin away from the reference temperature, for a requirement on the temperature's bias."""


@dataclass(frozen=True)
class Requirement:
    """An error of a gyroscope on which there is a requirement.

    ``unit``: in which a data sheet states it. ``field``: of :class:`.TriadSpecification`. ``axis``:
    where in the field, for the yaw of a level robot: the z axis's own or what it takes from another
    axis. ``sheet``: how a data sheet says it, noise densities one-sided.
    """

    name: str
    unit: str
    field: str
    axis: tuple[int, ...] = (2,)
    sheet: str = ""
    per_unit: float = 1.0

    def line(self, size: float) -> str:
        """Return what a size [unit] is on a line of a data sheet: ``sheet``, ``per_unit`` each."""
        return self.sheet.format(self.per_unit * size)


_HOUR, _PERCENT = 1.0 / 3600.0, 100.0 * math.radians(1.0)
_CROSS = "cross-axis sensitivity {:.2g} %"
_FORCE = "linear acceleration sensitivity {:.2g} deg/s/g"

REQUIREMENTS = (
    Requirement(
        "rate bias", "deg/h", "turn_on_bias_sigma", (2,), "zero-rate offset {:.2g} deg/s", _HOUR
    ),
    Requirement(
        "bias instability",
        "deg/h",
        "bias_instability",
        (2,),
        "in-run bias stability {:.2g} deg/h",
        FLICKER_PLATEAU,
    ),
    Requirement("rate random walk", "deg/h/sqrt(h)", "random_walk", (2,), "seldom stated"),
    Requirement(
        "angle random walk",
        "deg/sqrt(h)",
        "white_noise",
        (2,),
        "noise density {:.2g} deg/s/sqrt(Hz)",
        math.sqrt(2.0) / 60.0,
    ),
    Requirement(
        "scale factor",
        "1",
        "scale_factor_and_misalignment",
        (2, 2),
        "sensitivity tolerance {:.2g} %",
        100.0,
    ),
    Requirement(
        "misalignment about x", "deg", "scale_factor_and_misalignment", (2, 1), _CROSS, _PERCENT
    ),
    Requirement(
        "misalignment about y", "deg", "scale_factor_and_misalignment", (2, 0), _CROSS, _PERCENT
    ),
    Requirement("g-sensitivity to x", "deg/h/g", "g_sensitivity", (2, 0), _FORCE, _HOUR),
    Requirement("g-sensitivity to y", "deg/h/g", "g_sensitivity", (2, 1), _FORCE, _HOUR),
    Requirement("g-sensitivity to z", "deg/h/g", "g_sensitivity", (2, 2), _FORCE, _HOUR),
    Requirement(
        f"temperature bias, {WARMING:g} K",
        "deg/h/K",
        "temperature_bias",
        (2,),
        "offset over temperature {:.2g} deg/s/K",
        _HOUR,
    ),
)


def requirements(
    motion: Motion | EarthMotion,
    limit: float,
    at: float,
    probability: float,
    rate: float = 100.0,
    sample: float | None = None,
    operation: Operation | None = None,
) -> pd.DataFrame:
    """Return the largest size of each error with which the yaw error stays within a limit.

    All sizes mean the same: the standard deviation from sensor to sensor or from start to start of
    an error of either sign, and of noise its density or coefficient.

    ``motion`` (Motion or EarthMotion): of the IMU. ``limit``: of the yaw error, to either side
    [rad]. ``at``: when, after the motion's start [s]. ``probability``: between 0 and 1. ``rate``:
    of the sensor [Hz]. ``sample``, ``operation``: as for :func:`.yaw_error_model`. Index: name of
    the error; unit; alone and equal_shares, the largest size [unit] with no other error, and with
    all of them there, each allowed the same share, and what that is on a line of a data sheet;
    infinite where this motion does not show the error, zero where the limit is not kept even
    without any. Raises ConfigurationError if limit, time or probability is out of range.
    """
    if not limit > 0.0:
        raise ConfigurationError(f"the limit of a yaw error is {limit} rad, but must be positive")
    if not 0.0 < probability < 1.0:
        raise ConfigurationError(
            f"the probability is {probability}, but it must be between 0 and 1"
        )
    if not 0.0 < at <= motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"the motion lasts {motion.duration:g} s, so that nothing is known at {at:g} s"
        )
    # What a sensor without errors says wrong: its filter leans, and the Earth turns.
    ideal = ImuSpecification(output=OutputSpecification(rate=rate))
    model = yaw_error_model(ideal, motion, at, sample=sample, operation=operation)
    always = float(model.mean()[-1])
    allowed = _largest_std(limit, abs(always), probability)
    rows = []
    for requirement in REQUIREMENTS:
        size = factor(requirement.unit)
        imu = _only(requirement, size, rate)
        model = yaw_error_model(imu, motion, at, sample=sample, operation=operation)
        effect = np.hypot(model.mean()[-1] - always, np.sqrt(model.variance()[-1]))
        # Rounding leaves a little where the motion shows nothing.
        alone = allowed / effect if effect > 1e-9 * size else np.inf
        rows.append((requirement.name, requirement.unit, alone))
    table = pd.DataFrame(rows, columns=["name", "unit", "alone"]).set_index("name")
    shown = int(np.sum(np.isfinite(table["alone"])))
    # Independent errors: their variances add up.
    table["equal_shares"] = table["alone"] / np.sqrt(max(shown, 1))
    table["sheet"] = [
        requirement.line(size) if np.isfinite(size) else "any"
        for requirement, size in zip(REQUIREMENTS, table["equal_shares"])
    ]
    return table


def _largest_std(limit, mean, probability):
    """Return with which standard deviation an error of this mean is within the limit so often."""
    if mean >= limit:
        return 0.0
    largest = limit / float(ndtri(0.5 + 0.5 * probability))  # without a mean
    if mean == 0.0:
        return largest

    def excess(std):
        return float(normal_within(mean, np.array(std), limit)) - probability

    return float(brentq(excess, 0.0, 1.01 * largest))


def _only(requirement, size, rate):
    values = np.zeros((3,) * len(requirement.axis))
    values[requirement.axis] = size
    triad = TriadSpecification(**{requirement.field: values.tolist()})
    warm = TemperatureProfile(reference=0.0, start=WARMING, end=WARMING)
    return ImuSpecification(
        gyroscope=triad, temperature=warm, output=OutputSpecification(rate=rate)
    )
