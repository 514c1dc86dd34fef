"""IMU parameter files of Kalibr, OpenVINS, EuRoC, Kimera-VIO, VINS, ORB-SLAM3 and imu_utils.

Kalibr's imu.yaml contains white noise and random walk of both sensors, one number for all axes:

=============================== ==================== =================================
key                             unit                 specification
=============================== ==================== =================================
``gyroscope_noise_density``     rad/s/sqrt(Hz)       ``gyroscope.white_noise``
``gyroscope_random_walk``       rad/s^2/sqrt(Hz)     ``gyroscope.random_walk``
``accelerometer_noise_density`` m/s^2/sqrt(Hz)       ``accelerometer.white_noise``
``accelerometer_random_walk``   m/s^3/sqrt(Hz)       ``accelerometer.random_walk``
``update_rate`` or ``rate_hz``  Hz                   ``output.rate``
``rostopic``                                         ``output.topic``
=============================== ==================== =================================

Densities are two-sided: the standard deviation of a sample is ``density * sqrt(update_rate)``. All
five numbers must be positive. Source: Kalibr's wiki page "IMU Noise Model", which also explains how
to read the values from an Allan deviation.

OpenVINS has the same keys in its ``kalibr_imu_chain.yaml``, in OpenCV's variant of YAML and with
the sensor's calibration (``Tw``, ``Ta``, ``Tg``, ...); an ``estimator_config.yaml`` without these
keys refers to that file as ``relative_config_imu``. The ``sensor.yaml`` of the EuRoC recordings and
Kimera-VIO's ``ImuParams.yaml`` call the rate ``rate_hz``.

VINS-Mono and VINS-Fusion (``estimator/parameters.cpp``, ``factor/integration_base.h``):

==================== ==================================================================
key                  specification
==================== ==================================================================
``gyr_n``, ``acc_n`` ``white_noise * sqrt(rate)``: per sample
``gyr_w``, ``acc_w`` ``random_walk * sqrt(rate)``: the noise whose sum times dt is the bias
==================== ==================================================================

The files call the first number the standard deviation of a measurement; the second enters the
covariance as ``(dt sigma)^2`` per sample, so that its density is ``sigma sqrt(dt)``. The file does
not state the sensor's rate.

ORB-SLAM3 (``Tracking::newParameterLoader``, which multiplies the white noise by sqrt(rate) and
divides the random walk by it):

======================================= ==================================================
key                                     specification
======================================= ==================================================
``IMU.NoiseGyro``, ``IMU.NoiseAcc``     ``white_noise``
``IMU.GyroWalk``, ``IMU.AccWalk``       ``random_walk``
``IMU.Frequency``                       ``output.rate`` [Hz]
======================================= ==================================================

VINS and ORB-SLAM3 tune these numbers for an estimator, often to ten times the sensor's values;
their files are only read.

imu_utils writes ``NAME_imu_param.yaml``, the Allan analysis of a recording at rest: for ``Gyr``
[rad/s] and ``Acc`` [m/s^2], below ``x-axis``, ``y-axis``, ``z-axis`` and, for their mean,
``avg-axis``:

==================== ==================================================================
key                  specification
==================== ==================================================================
``gyr_n``, ``acc_n`` ``white_noise * sqrt(rate)``: per sample; until May 2018
                     ``white_noise`` itself
``gyr_w``, ``acc_w`` lowest point of the Allan deviation: ``0.664 bias_instability``
``name``             ``name``
==================== ==================================================================

Its readme calls the second number a random walk by its unit, and many configurations of Kalibr or
VINS use it as a random walk. The program computes the minimum of the fitted Allan deviation over
the averaging times (``getBiasInstability`` in ``src/gyr_lib/fitallan_gyr.cpp`` and
``src/acc_lib``). There is no random walk K in the file. The first number is the fitted Allan
deviation at 1 s times the square root of the recording's rate (``getWhiteNoise``), which the file
does not state. The factor was added with commit 7262b35 of May 2018: older files, and the example
in the readme, do not contain it. Since the minimum of a curve cannot be above its value at 1 s, a
file with ``n / sqrt(rate)`` well below w must be an older file. Source:
github.com/gaowenliang/imu_utils. The format is read-only; the tool itself writes it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ...core import topics
from ...core.checks import AXES
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ..imu_specification import TriadSpecification, is_topic
from ..noise.processes import FLICKER_PLATEAU, driving_density
from ..triads import TRIADS
from .base import Draft, Reading, format_value, imu_reading, number, read_rate
from .trees import read_mapping

_KALIBR = {
    triad: (f"{triad}_noise_density", f"{triad}_random_walk")
    for triad in ("accelerometer", "gyroscope")
}
_VINS = {"gyroscope": ("gyr_n", "gyr_w"), "accelerometer": ("acc_n", "acc_w")}
_ORB_SLAM3 = {
    "gyroscope": ("IMU.NoiseGyro", "IMU.GyroWalk"),
    "accelerometer": ("IMU.NoiseAcc", "IMU.AccWalk"),
}
_TUNED = (
    "These numbers are tuned for an estimator and often far above those of the sensor; for the "
    "sensor itself, use a recording at rest (allan_analysis.py) or the data sheet."
)
_PLACE, _RATES = ("rostopic", "model"), ("update_rate", "rate_hz")
_INFLATION = (
    "These are the numbers of the sensor itself, at rest. Kalibr's wiki (IMU Noise Model) "
    "recommends at least ten times larger numbers for low-cost sensors, since scale factors and "
    "temperature also count as noise."
)


def read_kalibr(path, rate: float | None = None) -> Reading:
    """Read Kalibr's parameters, at the top level or, as written by Kalibr, below ``imu0``.

    Parameters
    ----------
    path : str or path
        YAML file.
    rate : float, optional
        Sampling rate [Hz], if the file does not state it.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, or describes several IMUs.
    """
    values = read_mapping(path)
    remarks = []
    if "relative_config_imu" in values:
        named = Path(path).parent / values.text("relative_config_imu")
        remarks.append(f"The IMU's parameters are from {named}, to which this file refers.")
        values = read_mapping(named)
    inner = [key for key in values.names() if key.startswith("imu") and values.is_mapping(key)]
    if len(inner) > 1:
        raise values.error(inner[1], f"is a second IMU after {inner[0]}, expected a single IMU")
    values = values.mapping(inner[0]) if inner else values
    required = sorted(sum(_KALIBR.values(), ()), reverse=True)
    rate_keys = [key for key in _RATES if key in values]
    if len(rate_keys) > 1:
        raise values.error(
            rate_keys[1], f"is a second rate after {rate_keys[0]}, expected a single rate"
        )
    if rate is None:
        required += rate_keys or _RATES[:1]
    values.require(required, (*_PLACE, *_RATES))
    topic = values.text("rostopic").strip() if "rostopic" in values else ""
    if topic and not is_topic(topic):
        remarks.append(f"rostopic is {quote(topic)}, which is not a topic; ignored.")
        topic = ""
    sample_rate = read_rate(
        values.positive(rate_keys[0]) if rate_keys else None,
        rate,
        f"{path}: {_RATES[0]} is missing",
    )
    others = [key for key in values.names() if key not in (*required, *_PLACE, *_RATES)]
    ignored = [values.path(key) for key in others if not values.is_neutral(key)]
    if ignored:
        remarks.append(f"Ignored, since they are not noise parameters: {', '.join(ignored)}.")
    return imu_reading(sample_rate, _triads(values, _KALIBR), remarks, topic=topic)


class ZeroNoiseError(ConfigurationError):
    """Noise parameter that is zero, although the format requires a positive number."""


def write_kalibr(draft: Draft) -> str:
    """Format Kalibr's imu.yaml, where the driving noise of a Gauss-Markov bias is the random walk.

    Parameters
    ----------
    draft : Draft
        Specification to write.

    Returns
    -------
    str

    Raises
    ------
    ZeroNoiseError
        If a number is zero that Kalibr requires to be positive.
    """
    lines = []
    draft.supported = {"white_noise", "output.rate", "output.topic"}
    for name, keys in _KALIBR.items():
        triad = getattr(draft.specification, name)
        noise = draft.common_value(f"{name}.white_noise")
        if any(triad.random_walk):
            walk = draft.common_value(f"{name}.random_walk")
            draft.supported.add(f"{name}.random_walk")
        else:
            if any(triad.gauss_markov_sigma):
                draft.remarks.append(
                    f"{name}.gauss_markov_sigma = {format_value(triad.gauss_markov_sigma)} is "
                    "written as a random walk with its driving density, which is equivalent only "
                    "for times well below its correlation time of "
                    f"{format_value(triad.gauss_markov_time)} s."
                )
            density = driving_density(triad.gauss_markov_sigma, triad.gauss_markov_time)
            walk = draft.common_value(f"{name}.random_walk", density)
            draft.supported.update((f"{name}.gauss_markov_sigma", f"{name}.gauss_markov_time"))
        for key, parameter, value in zip(keys, ("white_noise", "random_walk"), (noise, walk)):
            if value <= 0.0:
                raise ZeroNoiseError(
                    f"{name}.{parameter} is 0, expected a positive number for Kalibr's {key}"
                )
            lines.append(f"{key}: {number(value)}\n")
    lines.append(
        f"rostopic: {draft.specification.output.topic or topics.absolute_topic(topics.IMU)}\n"
    )
    lines.append(f"update_rate: {number(draft.rate)}\n")
    draft.notes = [_INFLATION] if draft.options.inflation is None else []
    return "".join(lines)


def read_vins(path, rate: float | None = None) -> Reading:
    """Read the noise in a configuration of VINS-Mono or VINS-Fusion, which lacks a sampling rate.

    Parameters
    ----------
    path : str or path
        YAML file.
    rate : float, optional
        Sampling rate [Hz]; required.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, or the rate is missing.
    """
    values = read_mapping(path)
    values.require(sum(_VINS.values(), ()))
    sample_rate = read_rate(
        None,
        rate,
        f"{path}: the noise is given per sample, but VINS does not state the sample rate",
    )
    remark = (
        f"All four numbers were divided by sqrt({sample_rate:g} Hz), since VINS states them per "
        "sample."
    )
    triads = _triads(values, _VINS, math.sqrt(sample_rate))
    return imu_reading(sample_rate, triads, [remark, _TUNED])


def read_orb_slam3(path, rate: float | None = None) -> Reading:
    """Read the noise and the sampling rate in a configuration of ORB-SLAM3.

    Parameters
    ----------
    path : str or path
        YAML file.
    rate : float, optional
        Ignored, since the file states the rate.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid.
    """
    values = read_mapping(path)
    values.require((*sum(_ORB_SLAM3.values(), ()), "IMU.Frequency"))
    return imu_reading(values.positive("IMU.Frequency"), _triads(values, _ORB_SLAM3), [_TUNED])


def _triads(values, keys, divisor=1.0) -> dict[str, Any]:
    return {
        triad: TriadSpecification(
            white_noise=values.positive(noise) / divisor,
            random_walk=values.positive(walk) / divisor,
        )
        for triad, (noise, walk) in keys.items()
    }


_SENSORS = {"gyroscope": "Gyr", "accelerometer": "Acc"}
_MEAN = "avg-axis"
# The minimum of the fitted curve may by chance be slightly above its value at 1 s.
_SURELY_BELOW = 0.8


def read_imu_utils(path, rate: float | None = None) -> Reading:
    """Read the parameters that imu_utils estimated from a recording.

    Parameters
    ----------
    path : str or path
        YAML file.
    rate : float, optional
        Sampling rate of the recording [Hz]; required.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, or the rate is missing.
    """
    values = read_mapping(path)
    values.require(_SENSORS.values(), ("type", "name"))
    sample_rate = read_rate(
        None,
        rate,
        f"{path}: the noise is given per sample, but imu_utils does not state the sample rate",
    )
    remarks: list[str] = []
    results = {
        name: _read_sensor(values, TRIADS[name].unit, key, *_VINS[name], remarks)
        for name, key in _SENSORS.items()
    }
    root = float(np.sqrt(sample_rate))
    is_per_sample = all(np.all(n / root >= _SURELY_BELOW * w) for n, w in results.values())
    remarks.append(
        f"gyr_n and acc_n were divided by sqrt({sample_rate:g} Hz), the rate of the recording; "
        "imu_utils before May 2018 writes them without that factor."
        if is_per_sample
        else "gyr_n and acc_n were read as densities, as imu_utils wrote them until May 2018: as "
        f"standard deviations of samples at {sample_rate:g} Hz, they would be below the minimum of "
        "the Allan deviation from the same file, gyr_w or acc_w."
    )
    remarks.append(
        "gyr_w and acc_w are the minima of the Allan deviations, that is, bias instabilities, not "
        "random walks; imu_utils states no random walk."
    )
    divisor = root if is_per_sample else 1.0
    triads = {
        name: TriadSpecification(white_noise=n / divisor, bias_instability=w / FLICKER_PLATEAU)
        for name, (n, w) in results.items()
    }
    name = values.text("name") if "name" in values else "imu"
    return imu_reading(sample_rate, triads, remarks, name)


def _read_sensor(values, unit, key, noise, minimum, remarks):
    """Return the noise and the Allan minimum of a sensor for each axis, (3,) each."""
    sensor = values.mapping(key)
    if "unit" in sensor and sensor.text("unit").strip() != unit:
        raise sensor.error("unit", f"is {quote(sensor.text('unit'))}, expected {unit!r}")
    axes = [f"{axis}-axis" for axis in AXES]
    if not any(axis in sensor for axis in axes):
        sensor.require([_MEAN])
        remarks.append(f"{key}: the mean over the axes is used for each axis.")
        axes = [_MEAN] * 3
    sensor.require(axes, ("unit", _MEAN))
    rows = [sensor.mapping(axis) for axis in axes]
    for row in rows:
        row.require((noise, minimum))
    return tuple(np.array([row.positive(name) for row in rows]) for name in (noise, minimum))
