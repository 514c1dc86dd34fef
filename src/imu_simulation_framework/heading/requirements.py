"""Requirements on a gyroscope: the largest errors that keep the heading within a limit.

The magnitude of a constant error, which has a new random value in each sensor or at each start, is
its standard deviation; the magnitude of noise is its density or coefficient. The model is linear:
the spread of the yaw is proportional to the magnitude of each error. The largest magnitude
therefore follows from a model with this error alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtri

from ..core.errors import ConfigurationError
from ..core.units import factor
from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..sensors.conditions import TemperatureProfile
from ..sensors.imu_specification import ImuSpecification, OutputSpecification, TriadSpecification
from ..sensors.noise.processes import FLICKER_PLATEAU
from ..sensors.operation import Operation
from .model import imu_error_sources
from .model.distribution import normal_within

TEMPERATURE_CHANGE = 10.0
"""Difference from the reference temperature for the requirement on temperature bias [K]."""


@dataclass(frozen=True)
class Requirement:
    """Requirement on one error of a gyroscope.

    Parameters
    ----------
    name : str
        Name of the error.
    unit : str
        Unit of the error's magnitude.
    field : str
        Field of :class:`.TriadSpecification`.
    axis : tuple of int
        Index in the field that is relevant for the yaw of a level robot: of the z axis, or of its
        sensitivity to another axis.
    sheet : str
        Line of a data sheet with a placeholder for the number; noise densities are one-sided.
    per_unit : float
        Number in that line for an error of 1 unit.
    """

    name: str
    unit: str
    field: str
    axis: tuple[int, ...]
    sheet: str
    per_unit: float = 1.0

    def line(self, size: float) -> str:
        """Format the magnitude of an error as a line of a data sheet.

        Parameters
        ----------
        size : float
            Magnitude of the error [unit].

        Returns
        -------
        str
        """
        return self.sheet.format(self.per_unit * size)


_HOUR, _PERCENT = 1.0 / 3600.0, 100.0 * math.radians(1.0)
_MATRIX = "scale_factor_and_misalignment"
_CROSS = "cross-axis sensitivity {:.2g} %"
_FORCE = "linear acceleration sensitivity {:.2g} deg/s/g"

# fmt: off
_ROWS = (
    ("rate bias", "deg/h", "turn_on_bias_sigma", (2,), "zero-rate offset {:.2g} deg/s", _HOUR),
    (
        "bias instability",
        "deg/h",
        "bias_instability",
        (2,),
        "in-run bias stability {:.2g} deg/h",
        FLICKER_PLATEAU,
    ),
    ("rate random walk", "deg/h/sqrt(h)", "random_walk", (2,), "seldom stated"),
    (
        "angle random walk",
        "deg/sqrt(h)",
        "white_noise",
        (2,),
        "noise density {:.2g} deg/s/sqrt(Hz)",
        math.sqrt(2.0) / 60.0,
    ),
    ("scale factor", "1", _MATRIX, (2, 2), "sensitivity tolerance {:.2g} %", 100.0),
    ("misalignment about x", "deg", _MATRIX, (2, 1), _CROSS, _PERCENT),
    ("misalignment about y", "deg", _MATRIX, (2, 0), _CROSS, _PERCENT),
    ("g-sensitivity to x", "deg/h/g", "g_sensitivity", (2, 0), _FORCE, _HOUR),
    ("g-sensitivity to y", "deg/h/g", "g_sensitivity", (2, 1), _FORCE, _HOUR),
    ("g-sensitivity to z", "deg/h/g", "g_sensitivity", (2, 2), _FORCE, _HOUR),
    (
        f"temperature bias, {TEMPERATURE_CHANGE:g} K",
        "deg/h/K",
        "temperature_bias",
        (2,),
        "offset over temperature {:.2g} deg/s/K",
        _HOUR,
    ),
)
# fmt: on
REQUIREMENTS = tuple(Requirement(*row) for row in _ROWS)


def requirements(
    motion: Motion | EarthMotion,
    limit: float,
    at: float,
    probability: float,
    rate: float = 100.0,
    sample: float | None = None,
    operation: Operation | None = None,
) -> pd.DataFrame:
    """Compute the largest magnitude of each gyroscope error that keeps the yaw within a limit.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion of the IMU.
    limit : float
        Limit of the yaw error to either side [rad].
    at : float
        Time since the motion's start until which the limit applies [s].
    probability : float
        Share of drives that stay within the limit, between 0 and 1.
    rate : float, optional
        Sampling rate of the sensor [Hz].
    sample, operation : optional
        See :func:`.yaw_error_model`.

    Returns
    -------
    pandas.DataFrame
        Indexed by the name of the error. Columns: ``unit``; ``alone``, the largest magnitude
        without any other error [unit]; ``equal_shares``, the largest magnitude if all errors have
        the same share of the variance [unit]; ``sheet``, ``equal_shares`` as a line of a data
        sheet. A magnitude is infinite if this motion does not excite the error, and zero if the
        limit is exceeded without any error.

    Raises
    ------
    ConfigurationError
        If limit, time or probability is out of range.
    """
    _check_requirement(motion, limit, at, probability)
    # Even an ideal sensor has a yaw error due to its filter's tilt error and the Earth's rotation.
    ideal = ImuSpecification(output=OutputSpecification(rate=rate))
    model = imu_error_sources.yaw_error_model(ideal, motion, at, sample=sample, operation=operation)
    ideal_error = float(model.mean()[-1])
    allowed = _largest_std(limit, abs(ideal_error), probability)
    rows = []
    for requirement in REQUIREMENTS:
        size = factor(requirement.unit)
        imu = _imu_with_single_error(requirement, size, rate)
        model = imu_error_sources.yaw_error_model(
            imu, motion, at, sample=sample, operation=operation
        )
        effect = np.hypot(model.mean()[-1] - ideal_error, np.sqrt(model.variance()[-1]))
        # Rounding leaves a small remainder if the motion does not excite the error.
        limit_alone = allowed / effect if effect > 1e-9 * size else np.inf
        rows.append((requirement.name, requirement.unit, limit_alone))
    table = pd.DataFrame(rows, columns=["name", "unit", "alone"]).set_index("name")
    excited = int(np.sum(np.isfinite(table["alone"])))
    # Variances of independent errors add up.
    table["equal_shares"] = table["alone"] / np.sqrt(max(excited, 1))
    table["sheet"] = [
        requirement.line(size) if np.isfinite(size) else "any"
        for requirement, size in zip(REQUIREMENTS, table["equal_shares"])
    ]
    return table


def _check_requirement(
    motion: Motion | EarthMotion, limit: float, at: float, probability: float
) -> None:
    if not limit > 0.0:
        raise ConfigurationError(f"the limit of a yaw error is {limit} rad, but must be positive")
    if not 0.0 < probability < 1.0:
        raise ConfigurationError(
            f"the probability is {probability}, but it must be between 0 and 1"
        )
    if not 0.0 < at <= motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"the motion lasts {motion.duration:g} s, expected at least {at:g} s"
        )


def _largest_std(limit: float, mean: float, probability: float) -> float:
    """Return the largest std of a normal error that is within a limit with a probability."""
    if mean >= limit:
        return 0.0
    largest = limit / float(ndtri(0.5 + 0.5 * probability))  # with zero mean
    if mean == 0.0:
        return largest

    def excess(std: float) -> float:
        return float(normal_within(mean, np.array(std), limit)) - probability

    return float(brentq(excess, 0.0, 1.01 * largest))


def _imu_with_single_error(requirement: Requirement, size: float, rate: float) -> ImuSpecification:
    values = np.zeros((3,) * len(requirement.axis))
    values[requirement.axis] = size
    triad = TriadSpecification(**{requirement.field: values.tolist()})
    change = TEMPERATURE_CHANGE
    warm = TemperatureProfile(reference=0.0, start=change, end=change)
    return ImuSpecification(
        gyroscope=triad, temperature=warm, output=OutputSpecification(rate=rate)
    )
