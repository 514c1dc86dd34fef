"""Noise of a ``<sensor type="imu">`` in SDF, for Gazebo and Gazebo Classic, and in Unity's XML.

Each axis of ``<angular_velocity>`` [rad/s] and ``<linear_acceleration>`` [m/s^2] has a ``<noise>``;
an axis without it has no noise. ``<update_rate>`` of the sensor is the sampling rate [Hz],
``<topic>`` is Gazebo's topic. The dynamic bias was added in SDF 1.6. Gazebo outputs the true
orientation, relative to a given reference. Source: ``sdf/1.6/imu.sdf``, ``sdf/1.6/noise.sdf`` and
later versions in libsdformat.

================================= ==================== =========================================
tag of ``<noise>``                unit                 specification
================================= ==================== =========================================
``mean``                          rad/s; m/s^2         ``turn_on_bias``
``stddev``                        rad/s; m/s^2         ``white_noise * sqrt(rate)``
``bias_mean``, ``bias_stddev``    rad/s; m/s^2         ``turn_on_bias_sigma``, see below
``dynamic_bias_stddev``           rad/s^2/sqrt(Hz);    driving density
                                  m/s^3/sqrt(Hz)       ``gauss_markov_sigma * sqrt(2 / time)``
``dynamic_bias_correlation_time`` s                    ``gauss_markov_time``
``precision``                     rad/s; m/s^2         ``resolution``
================================= ==================== =========================================

The behaviour of Gazebo (``GaussianNoiseModel.cc`` in gz-sensors and in classic Gazebo 11)
determines their meaning:

- Each sample gets ``N(mean, stddev)``: the standard deviation applies to a sample, so that the
  density depends on the sensor's ``update_rate``.
- At the start, a bias is drawn from ``N(bias_mean, bias_stddev)``, and its sign is reversed with a
  probability of one half. A bias of known sign is therefore ``mean``, and ``bias_mean`` adds to the
  standard deviation of the unknown bias: ``sqrt(bias_mean^2 + bias_stddev^2)``.
- ``bias = phi bias + sqrt(-q^2 tau / 2 (exp(-2 dt / tau) - 1)) w`` with ``phi = exp(-dt / tau)`` in
  each sample, with ``dynamic_bias_stddev`` q: its stationary standard deviation is ``q sqrt(tau /
  2)``. It starts at the initial random bias, which decays with it. The process of a specification
  is stationary from the start, so that its initial value is also random. Without a positive
  correlation time, there is no dynamic bias.
- In the first sample, and in a sample with an earlier time than the last one, the bias does not
  change.
- A precision of 1e-6 or less has no effect. Samples of the types ``gaussian`` and
  ``gaussian_quantized`` are both rounded; SDF specifies this only for the latter.
- Older releases of classic Gazebo ignore the dynamic bias.

Unity's XML is similar to SDF, with the same noise for all axes of both sensors:

===================================== =====================================================
tag                                   specification
===================================== =====================================================
``update_rate``                       ``output.rate`` [Hz]
``topic``                             ``output.topic``
``output/discard_redundant_data``     not ``output.repeat_samples``
``offset_start_time``                 ``output.random_start_offset`` above zero, see below
``noise``                             as in SDF, in the unit of each signal, except
                                      ``bias_mean``: ``turn_on_bias``
===================================== =====================================================

Unity's documentation ("Configure an IMU") names the tags ``noise/mean`` and ``noise/stddev``, and
the properties bias mean, bias standard deviation, precision, dynamic bias standard deviation and
dynamic bias correlation without their tags. These tags are assumed to be the same as in SDF, with
their meaning in Gazebo. Only the bias mean is read literally, as a known bias like the mean, since
the documentation mentions no random sign.

A sensor that is faster than the physics repeats each state at its sampling rate, with the same time
stamp, unless redundant data is discarded; a slower sensor never repeats a state. It may start late
by "a small, random number of frames", which is read as up to five of Unity's default fixed time
steps of 0.02 s, with a remark.

There is a single set of numbers, used as rad/s for the gyroscope and as m/s^2 for the
accelerometer. The gyroscope's numbers are written, since they determine the heading drift.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...core import topics
from ...core.checks import AXES
from ...core.sentences import quote
from ..imu_specification import TriadSpecification
from ..noise.processes import density_of_samples, driven_std, driving_density, sampled_std
from .base import (
    Draft,
    Reading,
    format_value,
    imu_reading,
    note_unknown,
    read_rate,
    read_topic,
    tag,
)
from .trees import Tag, find_imu_sensor, read_tags

_NOISE_TYPES = ("none", "gaussian", "gaussian_quantized")
_SMALLEST_PRECISION = 1e-6  # rad/s or m/s^2; Gazebo ignores precisions up to this value
_TIME = "dynamic_bias_correlation_time"
_NOISE_TAGS = (
    *("mean", "stddev", "bias_mean", "bias_stddev"),
    *("dynamic_bias_stddev", _TIME, "precision"),
)
_SIGNALS = {"angular_velocity": "gyroscope", "linear_acceleration": "accelerometer"}
_IMU_TAGS = (*_SIGNALS, "orientation_reference_frame", "enable_orientation", "topic")
_UNITY_TAGS = ("topic", "update_rate", "offset_start_time", "output", "noise", "pose", "always_on")
_START_OFFSET = 0.1  # s; five of Unity's default time steps


class _AxisNoise(NamedTuple):
    """Noise of an axis, with the field names of a specification."""

    white_noise: float = 0.0
    turn_on_bias: float = 0.0
    turn_on_bias_sigma: float = 0.0
    gauss_markov_sigma: float = 0.0
    gauss_markov_time: float = 1000.0
    resolution: float = 0.0


def _read_noise(noise, rate, remarks, default_type="none", bias_sign_is_drawn=True) -> _AxisNoise:
    """Read a ``<noise>`` tag, or None for no noise, for a sampling rate [Hz].

    If ``bias_sign_is_drawn``, ``bias_mean`` has a random sign as in Gazebo; if not, it is a known
    bias like ``mean``.
    """
    if noise is None:
        return _AxisNoise()
    kind = noise.attributes.get("type", default_type)
    if kind not in _NOISE_TYPES:
        raise noise.error(f"has the type {quote(kind)}, expected one of {', '.join(_NOISE_TYPES)}")
    note_unknown(noise.children, _NOISE_TAGS, "{} is not a part of <noise>", remarks)
    if kind == "none":
        return _AxisNoise()
    bias_mean = noise.inside("bias_mean", Tag.number)
    unknown_bias = bias_mean if bias_sign_is_drawn else 0.0
    turn_on = math.hypot(unknown_bias, noise.inside("bias_stddev", Tag.size))
    density, time = noise.inside("dynamic_bias_stddev", Tag.size), noise.inside(_TIME, Tag.size)
    if density > 0.0 and time == 0.0:
        remarks.append(
            f"Line {noise.line}: dynamic_bias_stddev has no effect in Gazebo without a {_TIME} "
            "above 0."
        )
    sigma = float(driven_std(density, time))
    if sigma > 0.0:
        drawn_sigma = turn_on
        turn_on = math.sqrt(max(0.0, drawn_sigma - sigma)) * math.sqrt(drawn_sigma + sigma)
        if drawn_sigma < sigma * (1.0 - 1e-9):
            remarks.append(
                f"Line {noise.line}: the dynamic bias starts closer to zero in Gazebo than it is "
                "later; here it has its full standard deviation from the start."
            )
        elif turn_on < 1e-6 * sigma:  # a rounding error
            turn_on = 0.0
        else:
            remarks.append(
                f"Line {noise.line}: the initial random bias decays in Gazebo with the correlation "
                "time of the dynamic bias; here turn_on_bias_sigma is constant."
            )
    if unknown_bias != 0.0:
        place = "turn_on_bias_sigma" if turn_on > 0.0 else "gauss_markov_sigma, which is larger"
        remarks.append(
            f"Line {noise.line}: bias_mean, whose sign Gazebo chooses at random, became part of "
            f"{place}."
        )
    precision = noise.inside("precision", Tag.size)
    if 0.0 < precision <= _SMALLEST_PRECISION:
        remarks.append(f"Line {noise.line}: a precision of {precision:g} has no effect in Gazebo.")
    return _AxisNoise(
        white_noise=float(density_of_samples(noise.inside("stddev", Tag.size), rate)),
        turn_on_bias=noise.inside("mean", Tag.number) + bias_mean - unknown_bias,
        turn_on_bias_sigma=turn_on,
        gauss_markov_sigma=sigma,
        gauss_markov_time=time if sigma > 0.0 else _AxisNoise().gauss_markov_time,
        resolution=precision,
    )


def _noise_text(axis, rate, indent, is_stationary) -> str:
    """Format a ``<noise>`` tag whose dynamic bias is stationary or starts at zero."""
    kind = "gaussian_quantized" if axis.resolution > 0.0 else "gaussian"
    values = {
        "mean": axis.turn_on_bias,
        "stddev": sampled_std(axis.white_noise, rate),
        "bias_mean": 0.0,
        "bias_stddev": math.hypot(axis.turn_on_bias_sigma, is_stationary * axis.gauss_markov_sigma),
    }
    if axis.gauss_markov_sigma > 0.0:
        density = driving_density(axis.gauss_markov_sigma, axis.gauss_markov_time)
        values.update({"dynamic_bias_stddev": density, _TIME: axis.gauss_markov_time})
    if axis.resolution > 0.0:
        values["precision"] = axis.resolution
    lines = "".join(tag(name, value, indent + 1) for name, value in values.items())
    return f'{"  " * indent}<noise type="{kind}">\n{lines}{"  " * indent}</noise>\n'


def _note_differences(draft, name, simulator="Gazebo"):
    """Add remarks on differences between a simulator's noise and the specification of a triad."""
    triad = getattr(draft.specification, name)
    if any(triad.turn_on_bias_sigma) and any(triad.gauss_markov_sigma):
        draft.remarks.append(
            f"{name}.turn_on_bias_sigma: the initial random bias decays in {simulator} with "
            "the correlation time of the dynamic bias."
        )
    if any(0.0 < step <= _SMALLEST_PRECISION for step in triad.resolution):
        draft.remarks.append(
            f"{name}.resolution: a precision of {_SMALLEST_PRECISION:g} or less has no effect in "
            f"{simulator}."
        )


def read(path, rate: float | None = None) -> Reading:
    """Read the noise of the IMU in an SDF file, or in a URDF with Gazebo's tags.

    Parameters
    ----------
    path : str or path
        File with a single IMU sensor.
    rate : float, optional
        Sampling rate [Hz], if the file does not state it.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, or does not contain exactly one IMU sensor.
    """
    sensor = find_imu_sensor(read_tags(path))
    sample_rate = read_rate(
        sensor.inside("update_rate", Tag.size) or None,
        rate,
        f"{path}, line {sensor.line}: the IMU states no update_rate above 0",
    )
    imu = sensor.require("imu")
    if imu.child("noise") is not None:
        raise imu.require("noise").error(
            "directly in <imu> is the form of SDF 1.4, which Gazebo no longer reads, expected the "
            "form of SDF 1.6 for each axis, as in <angular_velocity><x><noise>"
        )
    remarks: list[str] = []
    triads = {
        triad: _read_triad(imu.child(signal), sample_rate, remarks)
        for signal, triad in _SIGNALS.items()
    }
    note_unknown(imu.children, _IMU_TAGS, "{} is not a part of SDF's <imu>", remarks)
    topic = read_topic(sensor.child("topic") or imu.child("topic"), remarks)  # SDF 1.4: in <imu>
    return imu_reading(sample_rate, triads, remarks, orientation_reference="truth", topic=topic)


def _read_triad(signal, rate, remarks):
    if signal is None:
        return TriadSpecification()
    tags = (signal.child(name) for name in AXES)
    axes = [_read_noise(axis and axis.child("noise"), rate, remarks) for axis in tags]
    for child in signal.children:
        if child.name not in AXES:
            raise child.error(f"is in <{signal.name}>, expected only <x>, <y> and <z> there")
    return TriadSpecification(**dict(zip(_AxisNoise._fields, zip(*axes))))


def write(draft: Draft) -> str:
    """Format a ``<sensor>`` tag for a link, or for a URDF's ``<gazebo reference="...">``.

    Parameters
    ----------
    draft : Draft
        Specification to write.

    Returns
    -------
    str
    """
    topic = draft.specification.output.topic
    draft.supported = {"output.rate", "output.topic", *_AxisNoise._fields[:3], "resolution"}
    signals = ""
    for signal, name in _SIGNALS.items():
        triad = getattr(draft.specification, name)
        bias = draft.slow_bias(name)
        _note_differences(draft, name)
        stationary = any(triad.gauss_markov_sigma)  # if false, it is a random walk
        values = (triad.white_noise, triad.turn_on_bias, triad.turn_on_bias_sigma, *bias)
        noises = "".join(
            f"      <{axis}>\n"
            + _noise_text(_AxisNoise(*noise), draft.rate, 4, stationary)
            + f"      </{axis}>\n"
            for axis, *noise in zip(AXES, *values, triad.resolution)
        )
        signals += f"    <{signal}>\n{noises}    </{signal}>\n"
    draft.note_fusion("Gazebo")
    return (
        '<sensor name="imu" type="imu">\n'
        + tag("always_on", "true")
        + tag("update_rate", draft.rate)
        + tag("topic", topic)
        + f"  <imu>\n{signals}  </imu>\n</sensor>\n"
    )


def read_unity(path, rate: float | None = None) -> Reading:
    """Read the IMU sensor in an XML file of Unity.

    Parameters
    ----------
    path : str or path
        File with a single IMU sensor.
    rate : float, optional
        Sampling rate [Hz], if the file does not state it.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, or does not contain exactly one IMU sensor.
    """
    sensor = find_imu_sensor(read_tags(path))
    sample_rate = read_rate(
        sensor.inside("update_rate", Tag.positive, None),
        rate,
        f"{path}, line {sensor.line}: the IMU states no update_rate",
    )
    remarks: list[str] = []
    if sensor.child("imu") is not None:
        raise sensor.require("imu").error("is a tag of SDF, not of Unity; use the format sdf")
    noise = sensor.child("noise")
    axis = _read_noise(noise, sample_rate, remarks, "gaussian", bias_sign_is_drawn=False)
    if noise is not None:
        remarks.append(
            f"Line {noise.line}: the same numbers apply to the gyroscope in rad/s and the "
            "accelerometer in m/s^2."
        )
    triad = TriadSpecification(**axis._asdict())
    offset, start_delay = sensor.child("offset_start_time"), 0.0
    if offset is not None and offset.flag():
        start_delay = _START_OFFSET
        remarks.append(
            f"Line {offset.line}: Unity documents no limit for the frames of offset_start_time; "
            f"read as {_START_OFFSET:g} s, five of its default frames of 0.02 s: "
            "random_start_offset."
        )
    output = sensor.child("output")
    discard = output is not None and output.inside("discard_redundant_data", Tag.flag, False)
    topic = read_topic(sensor.child("topic"), remarks)
    note_unknown(sensor.children, _UNITY_TAGS, "{} is not a tag of Unity", remarks)
    return imu_reading(
        sample_rate,
        {"gyroscope": triad, "accelerometer": triad},
        remarks,
        drop_repeated=True,
        repeat_samples=not discard,
        orientation_reference="truth",
        topic=topic,
        random_start_offset=start_delay,
    )


def write_unity(draft: Draft) -> str:
    """Format a ``<sensor>`` tag of Unity's XML with the gyroscope's noise.

    Parameters
    ----------
    draft : Draft
        Specification to write.

    Returns
    -------
    str
    """
    triad, output = draft.specification.gyroscope, draft.specification.output
    draft.supported = {
        "output.rate",
        "output.topic",
        "output.drop_repeated",
        "output.repeat_samples",
    }
    bias = draft.common_slow_bias("gyroscope")
    names = ("white_noise", "turn_on_bias_sigma", "resolution")
    noise, turn_on, resolution = (draft.common_value(f"gyroscope.{name}") for name in names)
    draft.supported.update(f"gyroscope.{name}" for name in names)
    mean = 0.0
    if len(set(triad.turn_on_bias)) == 1:
        mean = triad.turn_on_bias[0]
        draft.supported.add("gyroscope.turn_on_bias")
    axis = _AxisNoise(noise, mean, turn_on, *bias, resolution)
    _note_differences(draft, "gyroscope", "a simulator like Gazebo")
    _note_the_accelerometer(draft, axis)
    draft.note_fusion("Unity")
    if not output.drop_repeated:
        draft.remarks.append(
            "output.drop_repeated = False cannot be represented: if Unity is faster than the "
            "sensor, it drops repeated samples."
        )
    return (
        '<sensor name="imu_sensor" type="imu">\n'
        + tag("update_rate", draft.rate)
        + tag("topic", output.topic or topics.absolute_topic(topics.IMU))
        + tag("offset_start_time", "true" if output.random_start_offset > 0.0 else "")
        + "  <output>\n"
        + tag("discard_redundant_data", "false" if output.repeat_samples else "true", 2)
        + "  </output>\n"
        + _noise_text(axis, draft.rate, 1, any(triad.gauss_markov_sigma))
        + "</sensor>\n"
    )


def _note_the_accelerometer(draft, axis):
    """Add a remark on accelerometer parameters that differ from those written for the gyroscope."""
    triad = draft.specification.accelerometer
    others = {
        field
        for field in axis._fields
        if set(getattr(triad, field)) != {getattr(axis, field)}
        and (field != "gauss_markov_time" or any(triad.gauss_markov_sigma))
    }
    draft.supported.update(f"accelerometer.{field}" for field in {*axis._fields} - others)
    if others:
        values = ", ".join(
            f"{field} {format_value(getattr(axis, field))}" for field in sorted(others)
        )
        draft.remarks.append(
            "accelerometer: this format has the same noise for both sensors, so the "
            f"accelerometer gets the gyroscope's numbers as m/s^2: {values}."
        )
