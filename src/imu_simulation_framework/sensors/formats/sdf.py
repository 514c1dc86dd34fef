"""The noise of a ``<sensor type="imu">`` in SDF, for new and classic Gazebo, and in Unity's XML.

Each axis of ``<angular_velocity>`` [rad/s] and ``<linear_acceleration>`` [m/s^2] has a
``<noise>``, whose tags are described in
:mod:`imu_simulation_framework.sensors.formats.gaussian_noise`; an axis without one has no noise.
``<update_rate>`` of the sensor is the rate of the samples [Hz], ``<topic>`` Gazebo's own topic. The
dynamic bias came with SDF 1.6. The orientation that Gazebo gives out is the true one. Source:
``sdf/1.6/imu.sdf``, ``sdf/1.6/noise.sdf`` and later of libsdformat.

Unity's XML is like SDF, with one noise for the whole sensor:

===================================== =====================================================
tag                                   ours
===================================== =====================================================
``update_rate``                       ``output.rate`` [Hz]
``topic``                             ``output.topic``
``output/discard_redundant_data``     not ``output.repeat_samples``
``offset_start_time``                 ``output.random_start_offset`` above zero, see below
``noise``                             as in SDF, in the unit of whichever signal it is added to,
                                      but for ``bias_mean``: ``turn_on_bias``
===================================== =====================================================

Unity's documentation ("Configure an IMU") names the tags ``noise/mean`` and ``noise/stddev``, and
the properties bias mean, bias standard deviation, precision, dynamic bias standard deviation and
dynamic bias correlation without their tags; those are taken to be SDF's, with the meaning they
have in Gazebo: :mod:`.formats.gaussian_noise`. Only the bias mean is
what its name says, since nothing is said of a sign drawn by lot: a known bias, as the mean is.

A sensor that is faster than the physics says each state as often as its rate wants, with the same
time stamp, unless what is redundant is discarded; a slower one never says anything twice. It may
start late by "a small, random number of frames", which is read as up to five of Unity's default
fixed time step of 0.02 s, with a remark.

There is one set of numbers, used as rad/s for the gyroscope and as m/s^2 for the accelerometer.
What is written is the gyroscope's, which decides how the heading drifts.
"""

from __future__ import annotations

from imu_simulation_framework.core import topics
from imu_simulation_framework.sensors.formats.base import (
    AXES,
    NO_OPTIONS,
    Reading,
    WriteOptions,
    Writing,
    heading,
    imu_reading,
    quoted,
    read_rate,
    tag,
    topic_of,
    unknown_tag,
    unsaid,
    without_fusion,
    xml_comment,
)
from imu_simulation_framework.sensors.formats.gaussian_noise import (
    AxisNoise,
    differences,
    noise_text,
    one_slow_bias,
    one_value,
    read_noise,
    slow_bias,
)
from imu_simulation_framework.sensors.formats.xml import find_imu_sensor, read_tags
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification

_SIGNALS = {"angular_velocity": "gyroscope", "linear_acceleration": "accelerometer"}
_OTHER_TAGS = ("orientation_reference_frame", "enable_orientation", "topic")
_OF_UNITY = ("topic", "update_rate", "offset_start_time", "output", "noise", "pose", "always_on")
_START_OFFSET = 0.1  # s


def read(path, rate: float | None = None) -> Reading:
    """Read the noise of the one IMU in an SDF file, or in a URDF with Gazebo's tags."""
    sensor = find_imu_sensor(read_tags(path))
    update_rate = sensor.child("update_rate")
    stated = update_rate.size() if update_rate is not None else 0.0
    sample_rate = read_rate(
        stated or None, rate, f"{path}, line {sensor.line}: the IMU states no update_rate above 0"
    )
    imu = sensor.require("imu")
    if imu.child("noise") is not None:
        raise imu.require("noise").error(
            "directly in <imu> is the form of SDF 1.4, which Gazebo has given up; SDF 1.6 has one "
            "for each axis, as in <angular_velocity><x><noise>"
        )
    remarks: list[str] = []
    triads = {
        triad: _read_triad(imu.child(signal), sample_rate, remarks)
        for signal, triad in _SIGNALS.items()
    }
    known = (*_SIGNALS, *_OTHER_TAGS)
    for child in imu.children:
        if child.name not in known:
            remarks.append(unknown_tag(child, known, "{} is no part of SDF's <imu>"))
    topic = topic_of(sensor.child("topic") or imu.child("topic"), remarks)  # the second until 1.4
    return imu_reading(sample_rate, triads, remarks, orientation_reference="truth", topic=topic)


def _read_triad(signal, rate, remarks):
    axes = []
    for name in AXES:
        axis = signal.child(name) if signal is not None else None
        noise = axis.child("noise") if axis is not None else None
        axes.append(AxisNoise() if noise is None else read_noise(noise, rate, remarks))
    if signal is not None:
        for child in signal.children:
            if child.name not in AXES:
                raise child.error(f"stands in <{signal.name}>, which has only <x>, <y> and <z>")
    return TriadSpecification(
        **{field: tuple(getattr(axis, field) for axis in axes) for field in AxisNoise._fields}
    )


def write(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return a ``<sensor>`` to put into a link, or into a URDF's ``<gazebo reference="...">``."""
    topic = specification.output.topic
    said = {"output.rate", "output.topic", *AxisNoise._fields[:3], "resolution"}
    remarks: list[str] = []
    signals = ""
    for signal, name in _SIGNALS.items():
        triad = getattr(specification, name)
        sigma, time = slow_bias(triad, name, options.random_walk_time, said, remarks)
        remarks.extend(differences(triad, name))
        axes = zip(
            AXES,
            *(triad.white_noise, triad.turn_on_bias, triad.turn_on_bias_sigma),
            *(sigma, time, triad.resolution),
        )
        noises = "".join(
            f"      <{axis}>\n{noise_text(AxisNoise(*noise), rate, 4)}      </{axis}>\n"
            for axis, *noise in axes
        )
        signals += f"    <{signal}>\n{noises}    </{signal}>\n"
    remarks.extend(without_fusion(specification, "Gazebo", said))
    remarks.extend(unsaid(specification, said))
    text = (
        xml_comment(heading(specification, "sdf", remarks))
        + '<sensor name="imu" type="imu">\n'
        + tag("always_on", "true")
        + tag("update_rate", rate)
        + (tag("topic", topic) if topic else "")
        + f"  <imu>\n{signals}  </imu>\n</sensor>\n"
    )
    return Writing(text, remarks)


def read_unity(path, rate: float | None = None) -> Reading:
    """Read the one IMU sensor in a file of Unity's XML."""
    sensor = find_imu_sensor(read_tags(path))
    stated = sensor.child("update_rate")
    sample_rate = read_rate(
        None if stated is None else stated.positive(),
        rate,
        f"{path}, line {sensor.line}: the IMU states no update_rate",
    )
    remarks: list[str] = []
    if sensor.child("imu") is not None:
        raise sensor.require("imu").error("is SDF's, not Unity's; read it as the format sdf")
    noise = sensor.child("noise")
    axis = AxisNoise()
    if noise is not None:
        axis = read_noise(
            noise, sample_rate, remarks, default_type="gaussian", bias_sign_is_drawn=False
        )
        remarks.append(
            f"Line {noise.line}: the same numbers are the gyroscope's in rad/s and the "
            "accelerometer's in m/s^2."
        )
    triad = TriadSpecification(**axis._asdict())
    offset = sensor.child("offset_start_time")
    late = 0.0
    if offset is not None and offset.flag():
        late = _START_OFFSET
        remarks.append(
            f"Line {offset.line}: Unity does not say how many frames offset_start_time is at most; "
            f"taken as {_START_OFFSET:g} s, five of its default frames of 0.02 s: "
            "random_start_offset."
        )
    output = sensor.child("output")
    discard = None if output is None else output.child("discard_redundant_data")
    topic = topic_of(sensor.child("topic"), remarks)
    for child in sensor.children:
        if child.name not in _OF_UNITY:
            remarks.append(unknown_tag(child, _OF_UNITY, "{} is no tag of Unity's"))
    return imu_reading(
        sample_rate,
        {"gyroscope": triad, "accelerometer": triad},
        remarks,
        drop_repeated=True,
        repeat_samples=discard is None or not discard.flag(),
        orientation_reference="truth",
        topic=topic,
        random_start_offset=late,
    )


def write_unity(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return a ``<sensor>`` of Unity's XML with the gyroscope's noise."""
    triad, output = specification.gyroscope, specification.output
    said = {"output.rate", "output.topic", "output.drop_repeated", "output.repeat_samples"}
    said.update(f"gyroscope.{name}" for name in ("white_noise", "turn_on_bias_sigma", "resolution"))
    remarks: list[str] = []
    sigma, time = one_slow_bias(triad, "gyroscope", options.random_walk_time, said, remarks)
    mean = 0.0
    if len(set(triad.turn_on_bias)) == 1:
        mean = triad.turn_on_bias[0]
        said.add("gyroscope.turn_on_bias")
    axis = AxisNoise(
        white_noise=one_value(triad.white_noise, "gyroscope.white_noise", remarks),
        turn_on_bias=mean,
        turn_on_bias_sigma=one_value(
            triad.turn_on_bias_sigma, "gyroscope.turn_on_bias_sigma", remarks
        ),
        gauss_markov_sigma=sigma,
        gauss_markov_time=time,
        resolution=one_value(triad.resolution, "gyroscope.resolution", remarks),
    )
    remarks.extend(differences(triad, "gyroscope", "a simulator like Gazebo"))
    said.update(_same_for_the_accelerometer(specification, axis, remarks))
    remarks.extend(without_fusion(specification, "Unity", said))
    if not output.drop_repeated:
        remarks.append(
            "output.drop_repeated = False cannot be said: where Unity is faster than the sensor, "
            "it leaves out what the sensor would only repeat."
        )
    remarks.extend(unsaid(specification, said))
    text = (
        xml_comment(heading(specification, "unity", remarks))
        + '<sensor name="imu_sensor" type="imu">\n'
        + tag("update_rate", rate)
        + tag("topic", output.topic or topics.in_root(topics.IMU))
        + (tag("offset_start_time", "true") if output.random_start_offset > 0.0 else "")
        + "  <output>\n"
        + tag("discard_redundant_data", "false" if output.repeat_samples else "true", 2)
        + "  </output>\n"
        + noise_text(axis, rate, 1)
        + "</sensor>\n"
    )
    return Writing(text, remarks)


def _same_for_the_accelerometer(specification, axis, remarks):
    """Parameters of the accelerometer that are what is written; a sentence if others are not."""
    triad = specification.accelerometer
    same = {
        field
        for field in axis._fields
        if set(getattr(triad, field)) == {getattr(axis, field)}
        or (field == "gauss_markov_time" and not any(triad.gauss_markov_sigma))
    }
    if set(axis._fields) - same:
        values = ", ".join(
            f"{field} {quoted(getattr(axis, field))}" for field in sorted(set(axis._fields) - same)
        )
        remarks.append(
            "accelerometer: this format has one noise for both sensors, so that the accelerometer "
            f"gets the gyroscope's numbers as m/s^2: {values}."
        )
    return {f"accelerometer.{field}" for field in same}
