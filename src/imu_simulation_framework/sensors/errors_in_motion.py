"""Whether a specification says what happens in motion, and a rough way out where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.settings import check_number
from ..motion.earth import EARTH_RATE
from .files import imu_names
from .imu_specification import IMU_TRIADS, ImuSpecification

_NOISE = ("white_noise", "bias_instability", "random_walk", "gauss_markov_sigma")


def understated_in_motion(specification: ImuSpecification) -> str | None:
    """Return a sentence where a specification lacks what turns the heading in motion; else None.

    That is what a recording at rest does not show, and data sheets only in part. A g-sensitivity
    that is missing alone is not remarked on. Where the same part is bundled by its data sheet, too,
    the sentence names that entry.
    """
    gyroscope = specification.gyroscope
    if specification.output.orientation_reference == "truth":
        return None
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    stated = {
        "scale factor": np.diag(matrix),
        "misalignment": matrix - np.diag(np.diag(matrix)),
        "g-sensitivity": gyroscope.g_sensitivity,
        "turn-on bias": (gyroscope.turn_on_bias, gyroscope.turn_on_bias_sigma),
    }
    missing = [name for name, values in stated.items() if not np.any(values)]
    if missing in ([], ["g-sensitivity"]):
        return None
    static = "what a sensor shows at rest: " if len(missing) == len(stated) else ""
    *others, last = missing
    listed = f"{', '.join(others)} or {last}" if others else last
    sheet = f"{specification.name.split('_')[0]}_datasheet"
    stated_there = f"; {sheet} has what the data sheet states" if sheet in imu_names() else ""
    return (
        f"{specification.name} holds {static}no {listed}, so that on a moving robot the heading "
        f"will drift more than this says{stated_there}"
    )


def without_earth_turning(specification: ImuSpecification) -> str | None:
    """Return a sentence where a gyroscope is good enough to show the Earth's turning; else None.

    For what moves in a flat world that stands still. 15 deg/h are compared with what the gyroscope
    is wrong by for long.
    """
    gyroscope, output = specification.gyroscope, specification.output
    if output.orientation_reference != "fusion" or output.fuses_magnetometer:
        return None
    names = ("turn_on_bias", "turn_on_bias_sigma", "bias_instability", "gauss_markov_sigma")
    lasting = [getattr(gyroscope, name) for name in names]
    bias = float(np.sqrt(np.sum(np.square(lasting)) / 3.0))
    if bias >= EARTH_RATE:
        return None
    return (
        f"the Earth's turning, 15 deg/h times the sine of the latitude, is left out, and "
        f"{specification.name} has a bias of {np.degrees(bias) * 3600.0:.2g} deg/h only: a "
        "latitude adds it"
    )


def without_noise(specification: ImuSpecification) -> str | None:
    """Return a sentence where nothing of a fused heading's gyroscope is random; else None."""
    gyroscope = specification.gyroscope
    rotates = specification.output.orientation_reference == "fusion"
    if not rotates or any(any(getattr(gyroscope, name)) for name in (*_NOISE, "quantisation")):
        return None
    return (
        f"{specification.name} has no number for the gyroscope's noise or its bias's instability, "
        "so that its heading cannot be foretold"
    )


def without_wandering_bias(specification: ImuSpecification) -> str | None:
    """Return a sentence where a gyroscope is noisy, but its bias stands still; else None."""
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
    """Return the specification with all noise and drift times a factor, which its name has.

    Kalibr's wiki (IMU Noise Model) recommends ten or more for low-cost sensors measured at rest.

    Raises :class:`.ConfigurationError`: the factor is not positive.
    """
    factor = check_number("factor", factor, above=0.0)
    triads: dict[str, Any] = {}
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        larger = {key: tuple(factor * x for x in getattr(triad, key)) for key in _NOISE}
        triads[name] = replace(triad, **larger)
    return replace(specification, name=f"{specification.name}_x{factor:g}", **triads)
