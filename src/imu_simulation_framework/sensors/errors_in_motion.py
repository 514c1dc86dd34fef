"""Remarks on motion-dependent errors that a specification lacks, and a rough compensation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.checks import check_number
from ..motion.earth import EARTH_RATE
from .files import imu_names
from .imu_specification import IMU_TRIADS, ImuSpecification

_NOISE = ("white_noise", "bias_instability", "random_walk", "gauss_markov_sigma")


def remark_on_motion_errors(specification: ImuSpecification) -> str | None:
    """Return a remark on motion-dependent errors that a specification lacks.

    A recording at rest does not show these errors, and data sheets state only some of them. A
    missing g-sensitivity alone causes no remark. If the data sheet of the same part is also
    bundled, the remark names that specification.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to check.

    Returns
    -------
    str or None
    """
    gyroscope = specification.gyroscope
    if specification.output.orientation_reference == "truth":
        return None
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    motion_errors = {
        "scale factor": np.diag(matrix),
        "misalignment": matrix - np.diag(np.diag(matrix)),
        "g-sensitivity": gyroscope.g_sensitivity,
        "turn-on bias": (gyroscope.turn_on_bias, gyroscope.turn_on_bias_sigma),
    }
    missing = [name for name, values in motion_errors.items() if not np.any(values)]
    if missing in ([], ["g-sensitivity"]):
        return None
    static = "only stationary errors: " if len(missing) == len(motion_errors) else ""
    *others, last = missing
    listed = f"{', '.join(others)} or {last}" if others else last
    sheet = f"{specification.name.split('_')[0]}_datasheet"
    hint = f"; {sheet} contains the values of the data sheet" if sheet in imu_names() else ""
    return (
        f"{specification.name} has {static}no {listed}, so the heading of a moving robot drifts "
        f"more than simulated{hint}"
    )


def remark_on_earth_rate(specification: ImuSpecification) -> str | None:
    """Return a remark if a gyroscope is accurate enough to measure the Earth's rotation.

    The long-term errors of the gyroscope are compared with 15 deg/h.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to check.

    Returns
    -------
    str or None
    """
    gyroscope, output = specification.gyroscope, specification.output
    if output.orientation_reference != "fusion" or output.fuses_magnetometer:
        return None
    names = ("turn_on_bias", "turn_on_bias_sigma", "bias_instability", "gauss_markov_sigma")
    long_term_errors = [getattr(gyroscope, name) for name in names]
    bias = float(np.sqrt(np.sum(np.square(long_term_errors)) / 3.0))
    if bias >= EARTH_RATE:
        return None
    return (
        f"the Earth's rotation, 15 deg/h times the sine of the latitude, is not simulated, and "
        f"{specification.name} has a bias of only {np.degrees(bias) * 3600.0:.2g} deg/h; set a "
        "latitude to add it"
    )


def remark_on_missing_noise(specification: ImuSpecification) -> str | None:
    """Return a remark if the gyroscope of a specification with a fused heading has no random error.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to check.

    Returns
    -------
    str or None
    """
    gyroscope = specification.gyroscope
    rotates = specification.output.orientation_reference == "fusion"
    if not rotates or any(any(getattr(gyroscope, name)) for name in (*_NOISE, "quantisation")):
        return None
    return (
        f"the gyroscope of {specification.name} has neither noise nor bias instability, so its "
        "heading cannot be predicted"
    )


def remark_on_constant_bias(specification: ImuSpecification) -> str | None:
    """Return a remark if a gyroscope has white noise, but a constant bias.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to check.

    Returns
    -------
    str or None
    """
    gyroscope = specification.gyroscope
    wandering = (gyroscope.bias_instability, gyroscope.random_walk, gyroscope.gauss_markov_sigma)
    uses_fusion = specification.output.orientation_reference == "fusion"
    if not uses_fusion or not any(gyroscope.white_noise) or any(map(any, wandering)):
        return None
    return (
        f"{specification.name} has a constant bias, since many data sheets state no bias "
        "instability; the heading of a real sensor drifts more once the bias is known"
    )


def inflate_noise(specification: ImuSpecification, factor: float) -> ImuSpecification:
    """Multiply all noise and bias drift by a factor, and append it to the specification's name.

    Kalibr's wiki (IMU Noise Model) recommends ten or more for low-cost sensors measured at rest.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to change.
    factor : float
        Factor for noise and drift.

    Returns
    -------
    ImuSpecification

    Raises
    ------
    ConfigurationError
        If the factor is not positive.
    """
    factor = check_number("factor", factor, above=0.0)
    triads: dict[str, Any] = {}
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        larger = {key: tuple(factor * x for x in getattr(triad, key)) for key in _NOISE}
        triads[name] = replace(triad, **larger)
    return replace(specification, name=f"{specification.name}_x{factor:g}", **triads)
