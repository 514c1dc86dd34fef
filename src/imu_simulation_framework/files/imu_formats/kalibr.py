"""Kalibr's imu.yaml: white noise and random walk of both sensors, one number for three axes.

=============================== ==================== =================================
key                             unit                 ours
=============================== ==================== =================================
``gyroscope_noise_density``     rad/s/sqrt(Hz)       ``gyroscope.white_noise``
``gyroscope_random_walk``       rad/s^2/sqrt(Hz)     ``gyroscope.random_walk``
``accelerometer_noise_density`` m/s^2/sqrt(Hz)       ``accelerometer.white_noise``
``accelerometer_random_walk``   m/s^3/sqrt(Hz)       ``accelerometer.random_walk``
``update_rate``                 Hz                   ``output.rate``
=============================== ==================== =================================

Densities are two-sided: a sample's standard deviation is ``density * sqrt(update_rate)``. All
five must be above zero. Source: Kalibr's wiki page "IMU Noise Model", which also tells how the
values are read off an Allan deviation.
"""

from __future__ import annotations

from imu_simulation_framework.core.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.core.noise_densities import driving_density
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.imu_formats.base import (
    NO_OPTIONS,
    TRIADS,
    Reading,
    WriteOptions,
    Writing,
    shown,
    unsaid,
)
from imu_simulation_framework.files.imu_formats.texts import heading, number, yaml_comment
from imu_simulation_framework.files.imu_formats.triads import one_value
from imu_simulation_framework.files.imu_formats.yaml_values import read_mapping

_PARAMETERS = {"noise_density": "white_noise", "random_walk": "random_walk"}
_PLACE = ("rostopic",)


def read(path, rate: float | None = None) -> Reading:
    """Read Kalibr's parameters; a file that Kalibr wrote may have them below ``imu0``.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        Not needed: the format states the rate, and nothing depends on it.

    Raises
    ------
    ConfigurationError
        A key is missing, or its value is not a number above zero.
    """
    values = read_mapping(path)
    inner = [key for key in values.names() if key.startswith("imu") and values.is_mapping(key)]
    if len(inner) > 1:
        raise values.error(inner[1], f"is a second IMU besides {inner[0]}; keep one in the file")
    if inner:
        values = values.mapping(inner[0])
    triads = {}
    known = ["update_rate", *_PLACE]
    for triad in TRIADS:
        keys = {field: f"{triad}_{key}" for key, field in _PARAMETERS.items()}
        triads[triad] = TriadSpecification(
            **{field: (values.positive(key),) * 3 for field, key in keys.items()}
        )
        known.extend(keys.values())
    output = OutputSpecification(rate=values.positive("update_rate"))
    notes = [
        f"{values.path(key)} is no noise parameter and was left out."
        for key in values.names()
        if key not in known
    ]
    return Reading(ImuSpecification(**triads, output=output), notes)


def write(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return Kalibr's imu.yaml for a specification.

    Kalibr's random walk has no end. Where the specification has none, but a Gauss-Markov bias,
    the driving density of that is written, which is the same for times well below its
    correlation time.

    Raises
    ------
    ConfigurationError
        A number that Kalibr needs to be above zero is zero.
    """
    notes = []
    lines = []
    said = {"white_noise", "output.rate"}
    for name in ("accelerometer", "gyroscope"):
        triad = getattr(specification, name)
        noise = one_value(triad.white_noise, f"{name}.white_noise", notes)
        if any(triad.random_walk):
            walk = one_value(triad.random_walk, f"{name}.random_walk", notes)
            said.add(f"{name}.random_walk")
        else:
            walk = _initial_walk(triad, name, notes)
            said.update((f"{name}.gauss_markov_sigma", f"{name}.gauss_markov_time"))
        for key, value in (("noise_density", noise), ("random_walk", walk)):
            if value <= 0.0:
                raise ConfigurationError(
                    f"Kalibr needs a positive {name}_{key}, but the specification's "
                    f"{name}.{_PARAMETERS[key]} is 0."
                )
            lines.append(f"{name}_{key}: {number(value)}\n")
    lines.append("rostopic: /imu/data\n")
    lines.append(f"update_rate: {number(rate)}\n")
    omissions = notes + unsaid(specification, said)
    comment = yaml_comment(heading(specification, "kalibr", omissions))
    return Writing(comment + "".join(lines), omissions)


def _initial_walk(triad, name, notes) -> float:
    density = tuple(
        float(q) for q in driving_density(triad.gauss_markov_sigma, triad.gauss_markov_time)
    )
    if any(density):
        notes.append(
            f"{name}.gauss_markov_sigma = {shown(triad.gauss_markov_sigma)} is said as a random "
            "walk with its driving density, which is the same for times well below its "
            f"correlation time of {shown(triad.gauss_markov_time)} s only."
        )
    return one_value(density, f"{name}.random_walk", notes)
