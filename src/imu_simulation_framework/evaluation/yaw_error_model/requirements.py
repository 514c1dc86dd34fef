r"""How small each error of a gyroscope must be for a heading to stay within a limit.

The model is linear: an error of size p adds p times what one of size 1 adds. So the largest p of
each alone is found from a model in which only this error is there, with size 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.evaluation.yaw_error_model.of_imu import yaw_error_model
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TemperatureProfile,
    TriadSpecification,
)
from imu_simulation_framework.units import factor

WARMING = 10.0
"""Kelvin away from the reference temperature, for a requirement on the temperature's bias."""


@dataclass(frozen=True)
class Requirement:
    """An error of a gyroscope on which there is a requirement.

    Parameters
    ----------
    name : str
    unit : str
        In which a data sheet states it.
    field : str
        Of :class:`.TriadSpecification`.
    axis : tuple of int
        Where in the field, for the yaw of a level robot: the z axis's own or what it takes from
        another axis.
    """

    name: str
    unit: str
    field: str
    axis: tuple[int, ...] = (2,)


REQUIREMENTS = (
    Requirement("rate bias", "deg/h", "turn_on_bias_sigma"),
    Requirement("bias instability", "deg/h", "bias_instability"),
    Requirement("rate random walk", "deg/h/sqrt(h)", "random_walk"),
    Requirement("angle random walk", "deg/sqrt(h)", "white_noise"),
    Requirement("scale factor", "1", "scale_factor_and_misalignment", (2, 2)),
    Requirement("misalignment about x", "deg", "scale_factor_and_misalignment", (2, 1)),
    Requirement("misalignment about y", "deg", "scale_factor_and_misalignment", (2, 0)),
    Requirement("g-sensitivity to x", "deg/h/g", "g_sensitivity", (2, 0)),
    Requirement("g-sensitivity to y", "deg/h/g", "g_sensitivity", (2, 1)),
    Requirement("g-sensitivity to z", "deg/h/g", "g_sensitivity", (2, 2)),
    Requirement(f"temperature bias, {WARMING:g} K", "deg/h/K", "temperature_bias"),
)


def requirements(
    motion: Motion | EarthMotion, limit: float, at: float, probability: float, rate: float = 100.0
) -> pd.DataFrame:
    """Return the largest size of each error with which the yaw error stays within a limit.

    A random error is within by the given probability; one that is the same in every run, scale
    factor, misalignment, g-sensitivity and temperature, is within exactly.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Of the IMU.
    limit : float
        Of the yaw error, to either side [rad].
    at : float
        When, after the motion's start [s].
    probability : float
        Between 0 and 1.
    rate : float
        Of the sensor [Hz].

    Returns
    -------
    pandas.DataFrame
        Index: name of the error; unit; alone and equal_shares, the largest size [unit] with no
        other error, and with all of them there, each allowed the same share; infinite where this
        motion does not show the error; random, whether it is drawn anew in each run.

    Raises
    ------
    ConfigurationError
        Limit, time or probability is out of range.
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
    quantile = float(ndtri(0.5 + 0.5 * probability))
    # What a sensor without errors says wrong: its filter leans, and the Earth turns.
    ideal = ImuSpecification(output=OutputSpecification(rate=rate))
    always = float(yaw_error_model(ideal, motion, at).mean()[-1])
    rows = []
    for requirement in REQUIREMENTS:
        size = factor(requirement.unit)
        model = yaw_error_model(_only(requirement, size, rate), motion, at)
        known = abs(float(model.mean()[-1]) - always)
        std = float(np.sqrt(model.variance()[-1]))
        random = not requirement.field.startswith(("scale", "g_", "temperature"))
        effect = quantile * std if random else known
        rows.append(
            {
                "name": requirement.name,
                "unit": requirement.unit,
                # Rounding leaves a little where the motion shows nothing.
                "alone": limit / effect if effect > 1e-9 * size else np.inf,
                "random": random,
            }
        )
    table = pd.DataFrame(rows).set_index("name")
    shown = int(np.sum(np.isfinite(table["alone"])))
    # Random errors' variances add up. Known ones may, at worst, all have one sign; as one part
    # of the limit among the others', they count as if they were random.
    table.insert(2, "equal_shares", table["alone"] / np.sqrt(max(shown, 1)))
    return table


def _only(requirement, size, rate):
    shape = (3, 3) if len(requirement.axis) == 2 else (3,)
    values = np.zeros(shape)
    values[requirement.axis] = size
    triad = TriadSpecification(**{requirement.field: values.tolist()})
    warm = TemperatureProfile(reference=0.0, start=WARMING, end=WARMING)
    return ImuSpecification(
        gyroscope=triad, temperature=warm, output=OutputSpecification(rate=rate)
    )
