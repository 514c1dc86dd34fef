"""Kalibr's imu.yaml: white noise and random walk of both sensors, one number for three axes.

=============================== ==================== =================================
key                             unit                 ours
=============================== ==================== =================================
``gyroscope_noise_density``     rad/s/sqrt(Hz)       ``gyroscope.white_noise``
``gyroscope_random_walk``       rad/s^2/sqrt(Hz)     ``gyroscope.random_walk``
``accelerometer_noise_density`` m/s^2/sqrt(Hz)       ``accelerometer.white_noise``
``accelerometer_random_walk``   m/s^3/sqrt(Hz)       ``accelerometer.random_walk``
``update_rate`` or ``rate_hz``  Hz                   ``output.rate``
``rostopic``                                         ``output.topic``
=============================== ==================== =================================

Densities are two-sided: a sample's standard deviation is ``density * sqrt(update_rate)``. All
five must be above zero. Source: Kalibr's wiki page "IMU Noise Model", which also tells how the
values are read off an Allan deviation.

OpenVINS has the same keys in its ``kalibr_imu_chain.yaml``, in OpenCV's form of YAML and with the
sensor's calibration (``Tw``, ``Ta``, ``Tg``, ...); an ``estimator_config.yaml``, which has none of
them, names that file as ``relative_config_imu``. The ``sensor.yaml`` of the EuRoC recordings and
Kimera-VIO's ``ImuParams.yaml`` call the rate ``rate_hz``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown as shown_text
from imu_simulation_framework.sensors.formats.base import (
    NO_OPTIONS,
    Reading,
    WriteOptions,
    Writing,
    heading,
    number,
    quoted,
    read_rate,
    unsaid,
    yaml_comment,
)
from imu_simulation_framework.sensors.formats.gaussian_noise import one_value
from imu_simulation_framework.sensors.formats.yaml import read_mapping
from imu_simulation_framework.sensors.imu_specification import (
    IMU_TRIADS,
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
    is_topic,
)
from imu_simulation_framework.sensors.noise.densities import driving_density

_PARAMETERS = {"noise_density": "white_noise", "random_walk": "random_walk"}
_PLACE = ("rostopic", "model")
_FILE_OF_OPENVINS = "relative_config_imu"
_RATES = ("update_rate", "rate_hz")
_INFLATION = (
    "These are the sensor's own numbers, at rest. Kalibr's wiki (IMU Noise Model) recommends "
    "larger ones for low-cost sensors, ten times and more, since scale factors and temperature "
    "count as noise, too."
)


def read(path, rate: float | None = None) -> Reading:
    """Read Kalibr's parameters, at the top level or, as Kalibr writes them, below ``imu0``.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        Taken where the file does not state the rate; no other number depends on it [Hz].

    Raises
    ------
    ConfigurationError
        A key is missing, its value is not a number above zero, the rate is stated twice, or
        nobody states it.
    """
    values = read_mapping(path)
    remarks = []
    if _FILE_OF_OPENVINS in values:
        named = Path(path).parent / values.text(_FILE_OF_OPENVINS)
        remarks.append(f"The IMU's parameters are those of {named}, which this file names.")
        values = read_mapping(named)
    inner = [key for key in values.names() if key.startswith("imu") and values.is_mapping(key)]
    if len(inner) > 1:
        raise values.error(inner[1], f"is a second IMU besides {inner[0]}; keep one in the file")
    if inner:
        values = values.mapping(inner[0])
    needed = [f"{triad}_{key}" for triad in IMU_TRIADS for key in _PARAMETERS]
    stated = [key for key in _RATES if key in values]
    if len(stated) > 1:
        raise values.error(stated[1], f"states the rate a second time, besides {stated[0]}")
    if rate is None:
        needed += stated or _RATES[:1]
    values.require(needed, (*_PLACE, *_RATES))
    triads: dict[str, Any] = {}
    for triad in IMU_TRIADS:
        parameters: dict[str, Any] = {
            field: (values.positive(f"{triad}_{key}"),) * 3 for key, field in _PARAMETERS.items()
        }
        triads[triad] = TriadSpecification(**parameters)
    topic = values.text("rostopic").strip() if "rostopic" in values else ""
    if topic and not is_topic(topic):
        remarks.append(f"rostopic says {shown_text(topic)}, no topic; left out.")
        topic = ""
    sample_rate = read_rate(
        values.positive(stated[0]) if stated else None, rate, f"{path}: {_RATES[0]} is missing"
    )
    output = OutputSpecification(rate=sample_rate, topic=topic)
    others = [key for key in values.names() if key not in (*needed, *_PLACE, *_RATES)]
    said = [values.path(key) for key in others if not values.is_neutral(key)]
    if said:
        remarks.append(f"No noise parameters, and left out: {', '.join(said)}.")
    return Reading(ImuSpecification(**triads, output=output), remarks)


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
    remarks: list[str] = []
    lines = []
    said = {"white_noise", "output.rate", "output.topic"}
    for name in ("accelerometer", "gyroscope"):
        triad = getattr(specification, name)
        noise = one_value(triad.white_noise, f"{name}.white_noise", remarks)
        if any(triad.random_walk):
            walk = one_value(triad.random_walk, f"{name}.random_walk", remarks)
            said.add(f"{name}.random_walk")
        else:
            walk = _initial_walk(triad, name, remarks)
            said.update((f"{name}.gauss_markov_sigma", f"{name}.gauss_markov_time"))
        for key, value in (("noise_density", noise), ("random_walk", walk)):
            if value <= 0.0:
                raise ConfigurationError(
                    f"Kalibr needs a positive {name}_{key}, but the specification's "
                    f"{name}.{_PARAMETERS[key]} is 0."
                )
            lines.append(f"{name}_{key}: {number(value)}\n")
    lines.append(f"rostopic: {specification.output.topic or topics.in_root(topics.IMU)}\n")
    lines.append(f"update_rate: {number(rate)}\n")
    remarks += unsaid(specification, said)
    lines_above = heading(specification, "kalibr", remarks)
    if options.inflation is None:
        lines_above.append(_INFLATION)
    comment = yaml_comment(lines_above)
    return Writing(comment + "".join(lines), remarks)


def _initial_walk(triad, name, remarks) -> float:
    density = tuple(
        float(q) for q in driving_density(triad.gauss_markov_sigma, triad.gauss_markov_time)
    )
    if any(density):
        remarks.append(
            f"{name}.gauss_markov_sigma = {quoted(triad.gauss_markov_sigma)} is said as a random "
            "walk with its driving density, which is the same for times well below its "
            f"correlation time of {quoted(triad.gauss_markov_time)} s only."
        )
    return one_value(density, f"{name}.random_walk", remarks)
