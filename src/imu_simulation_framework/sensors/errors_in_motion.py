"""Whether a specification says what happens in motion, and a rough way out where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.sensors.imu_specification import ImuSpecification

INFLATED = ("white_noise", "bias_instability", "random_walk", "gauss_markov_sigma")
"""What :func:`inflated` makes larger."""


def understated_in_motion(specification: ImuSpecification) -> str | None:
    """Return a sentence where a specification knows the sensor at rest only; else None.

    A recording at rest shows noise and the bias's wandering. It shows neither scale factor,
    misalignment and g-sensitivity nor the bias that stays after a calibration, and on a drive
    these are mostly what turns the heading.

    Parameters
    ----------
    specification : ImuSpecification
    """
    gyroscope = specification.gyroscope
    if specification.output.orientation_reference == "truth":
        return None
    of_motion = (
        gyroscope.scale_factor_and_misalignment,
        gyroscope.g_sensitivity,
        gyroscope.turn_on_bias,
        gyroscope.turn_on_bias_sigma,
    )
    if any(np.any(values) for values in of_motion):
        return None
    return (
        f"{specification.name} holds what a sensor shows at rest: no scale factor, misalignment, "
        "g-sensitivity or turn-on bias, so that on a moving robot the heading will drift more than "
        "this says"
    )


def without_wandering_bias(specification: ImuSpecification) -> str | None:
    """Return a sentence where a gyroscope is noisy, but its bias stands still; else None.

    Data sheets of cheap sensors state noise density and offset, and neither bias instability nor
    random walk. No real bias stands still.

    Parameters
    ----------
    specification : ImuSpecification
    """
    gyroscope = specification.gyroscope
    wandering = (gyroscope.bias_instability, gyroscope.random_walk, gyroscope.gauss_markov_sigma)
    fused = specification.output.orientation_reference == "fusion"
    if not fused or not any(gyroscope.white_noise) or any(map(any, wandering)):
        return None
    return (
        f"{specification.name} has a bias that never changes, as many data sheets say nothing of "
        "its instability; a real sensor's heading drifts more than this says once the bias is known"
    )


def inflated(specification: ImuSpecification, factor: float) -> ImuSpecification:
    """Return the specification with all noise larger; its name says by how much.

    Kalibr's advice for parameters from a recording at rest: its wiki (IMU Noise Model) recommends
    to multiply them for low-cost sensors, by ten or more.

    Parameters
    ----------
    specification : ImuSpecification
    factor : float
        Of all noise densities and drifts of gyroscope and accelerometer.

    Raises
    ------
    ConfigurationError
        The factor is not positive.
    """
    factor = checked_number("factor", factor, above=0.0)
    triads = (specification.gyroscope, specification.accelerometer)
    gyroscope, accelerometer = (_multiplied(triad, factor) for triad in triads)
    name = f"{specification.name}_x{factor:g}"
    return replace(specification, name=name, gyroscope=gyroscope, accelerometer=accelerometer)


def _multiplied(triad, factor):
    larger: Any = {name: tuple(factor * x for x in getattr(triad, name)) for name in INFLATED}
    return replace(triad, **larger)
