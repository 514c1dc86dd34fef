"""Files of estimators, as YAML: Kalibr, OpenVINS, EuRoC and Kimera-VIO, VINS, ORB-SLAM3.

Kalibr's imu.yaml has white noise and random walk of both sensors, one number for three axes:

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

VINS-Mono and VINS-Fusion (``estimator/parameters.cpp``, ``factor/integration_base.h``):

==================== ==================================================================
key                  ours
==================== ==================================================================
``gyr_n``, ``acc_n`` ``white_noise * sqrt(rate)``: of a sample
``gyr_w``, ``acc_w`` ``random_walk * sqrt(rate)``: the noise whose sum times dt is the bias
==================== ==================================================================

The files call the first the standard deviation of a measurement; the second enters the covariance
as ``(dt sigma)^2`` per sample, so that its density is ``sigma sqrt(dt)``. The sensor's rate is
nowhere in the file.

ORB-SLAM3 (``Tracking::newParameterLoader``, which multiplies the first by sqrt(rate) and divides
the second by it):

======================================= ==================================================
key                                     ours
======================================= ==================================================
``IMU.NoiseGyro``, ``IMU.NoiseAcc``     ``white_noise``
``IMU.GyroWalk``, ``IMU.AccWalk``       ``random_walk``
``IMU.Frequency``                       ``output.rate`` [Hz]
======================================= ==================================================

The numbers of these two are tuned for an estimator, often ten times what the sensor has. They are
read only.
"""

from __future__ import annotations

import math
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
    imu_reading,
    number,
    quoted,
    read_rate,
    unsaid,
    yaml_comment,
)
from imu_simulation_framework.sensors.formats.gaussian_noise import one_value
from imu_simulation_framework.sensors.formats.yaml import read_mapping
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    TriadSpecification,
    is_topic,
)
from imu_simulation_framework.sensors.noise.densities import driving_density

_KALIBR = {
    triad: (f"{triad}_noise_density", f"{triad}_random_walk")
    for triad in ("accelerometer", "gyroscope")
}
_VINS = {"gyroscope": ("gyr_n", "gyr_w"), "accelerometer": ("acc_n", "acc_w")}
_ORB_SLAM3 = {
    "gyroscope": ("IMU.NoiseGyro", "IMU.GyroWalk"),
    "accelerometer": ("IMU.NoiseAcc", "IMU.AccWalk"),
}
_FREQUENCY = "IMU.Frequency"
_TUNED = (
    "These numbers are tuned for an estimator and often far above what the sensor has; for the "
    "sensor's own take a recording at rest (allan_analysis.py) or the datasheet."
)
_PLACE = ("rostopic", "model")
_FILE_OF_OPENVINS = "relative_config_imu"
_RATES = ("update_rate", "rate_hz")
_INFLATION = (
    "These are the sensor's own numbers, at rest. Kalibr's wiki (IMU Noise Model) recommends "
    "larger ones for low-cost sensors, ten times and more, since scale factors and temperature "
    "count as noise, too."
)


def read_kalibr(path, rate: float | None = None) -> Reading:
    """Read Kalibr's parameters, at the top level or, as Kalibr writes them, below ``imu0``.

    No number but the rate depends on ``rate``, which is taken where the file does not state it.
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
    needed = sorted(sum(_KALIBR.values(), ()), reverse=True)
    stated = [key for key in _RATES if key in values]
    if len(stated) > 1:
        raise values.error(stated[1], f"states the rate a second time, besides {stated[0]}")
    if rate is None:
        needed += stated or _RATES[:1]
    values.require(needed, (*_PLACE, *_RATES))
    topic = values.text("rostopic").strip() if "rostopic" in values else ""
    if topic and not is_topic(topic):
        remarks.append(f"rostopic says {shown_text(topic)}, no topic; left out.")
        topic = ""
    sample_rate = read_rate(
        values.positive(stated[0]) if stated else None, rate, f"{path}: {_RATES[0]} is missing"
    )
    others = [key for key in values.names() if key not in (*needed, *_PLACE, *_RATES)]
    said = [values.path(key) for key in others if not values.is_neutral(key)]
    if said:
        remarks.append(f"No noise parameters, and left out: {', '.join(said)}.")
    return imu_reading(sample_rate, _triads(values, _KALIBR), remarks, topic=topic)


def write_kalibr(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return Kalibr's imu.yaml for a specification.

    Kalibr's random walk has no end. Where the specification has none, but a Gauss-Markov bias,
    the driving density of that is written, which is the same for times well below its
    correlation time. Raises :class:`.ConfigurationError` where a number is zero that Kalibr needs
    to be above.
    """
    remarks: list[str] = []
    lines = []
    said = {"white_noise", "output.rate", "output.topic"}
    for name, keys in _KALIBR.items():
        triad = getattr(specification, name)
        noise = one_value(triad.white_noise, f"{name}.white_noise", remarks)
        if any(triad.random_walk):
            walk = one_value(triad.random_walk, f"{name}.random_walk", remarks)
            said.add(f"{name}.random_walk")
        else:
            if any(triad.gauss_markov_sigma):
                remarks.append(
                    f"{name}.gauss_markov_sigma = {quoted(triad.gauss_markov_sigma)} is said as a "
                    "random walk with its driving density, which is the same for times well below "
                    f"its correlation time of {quoted(triad.gauss_markov_time)} s only."
                )
            density = driving_density(triad.gauss_markov_sigma, triad.gauss_markov_time)
            walk = one_value(density, f"{name}.random_walk", remarks)
            said.update((f"{name}.gauss_markov_sigma", f"{name}.gauss_markov_time"))
        for key, ours, value in zip(keys, ("white_noise", "random_walk"), (noise, walk)):
            if value <= 0.0:
                raise ConfigurationError(
                    f"Kalibr needs a positive {key}, but the specification's {name}.{ours} is 0."
                )
            lines.append(f"{key}: {number(value)}\n")
    lines.append(f"rostopic: {specification.output.topic or topics.in_root(topics.IMU)}\n")
    lines.append(f"update_rate: {number(rate)}\n")
    remarks += unsaid(specification, said)
    lines_above = heading(specification, "kalibr", remarks)
    if options.inflation is None:
        lines_above.append(_INFLATION)
    comment = yaml_comment(lines_above)
    return Writing(comment + "".join(lines), remarks)


def read_vins(path, rate: float | None = None) -> Reading:
    """Read the noise in a configuration of VINS-Mono or VINS-Fusion, which states no rate."""
    values = read_mapping(path)
    values.require(sum(_VINS.values(), ()))
    sample_rate = read_rate(
        None, rate, f"{path}: the noise is that of samples, whose rate VINS does not state"
    )
    remark = f"All four were divided by sqrt({sample_rate:g} Hz), as VINS has them per sample."
    triads = _triads(values, _VINS, math.sqrt(sample_rate))
    return imu_reading(sample_rate, triads, [remark, _TUNED])


def read_orb_slam3(path, rate: float | None = None) -> Reading:
    """Read the noise in a configuration of ORB-SLAM3, which states its rate."""
    values = read_mapping(path)
    values.require((*sum(_ORB_SLAM3.values(), ()), _FREQUENCY))
    return imu_reading(values.positive(_FREQUENCY), _triads(values, _ORB_SLAM3), [_TUNED])


def _triads(values, keys, divisor=1.0) -> dict[str, Any]:
    return {
        triad: TriadSpecification(
            white_noise=values.positive(noise) / divisor,
            random_walk=values.positive(walk) / divisor,
        )
        for triad, (noise, walk) in keys.items()
    }
