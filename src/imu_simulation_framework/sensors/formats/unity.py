"""Unity's XML of an IMU sensor, an SDF-like form with one noise for the whole sensor.

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

from typing import Any

from imu_simulation_framework.core import topics
from imu_simulation_framework.sensors.formats.base import (
    NO_OPTIONS,
    Reading,
    WriteOptions,
    Writing,
    heading,
    number,
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
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

_KNOWN = ("topic", "update_rate", "offset_start_time", "output", "noise", "pose", "always_on")
_START_OFFSET = 0.1  # s


def read(path, rate: float | None = None) -> Reading:
    """Read the one IMU sensor in a file of Unity's XML.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        The sensor's rate where the file does not state it [Hz].

    Raises
    ------
    ConfigurationError
        There is no such sensor or several, a value is no number or out of range, or nobody
        states the rate.
    """
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
    parameters: dict[str, Any] = {field: (getattr(axis, field),) * 3 for field in axis._fields}
    triad = TriadSpecification(**parameters)
    offset = sensor.child("offset_start_time")
    late = 0.0
    if offset is not None and offset.flag():
        late = _START_OFFSET
        remarks.append(
            f"Line {offset.line}: Unity does not say how many frames offset_start_time is at most; "
            f"taken as {_START_OFFSET:g} s, five of its default frames of 0.02 s: "
            "random_start_offset."
        )
    output = OutputSpecification(
        rate=sample_rate,
        drop_repeated=True,
        repeat_samples=not _discards(sensor),
        orientation_reference="truth",
        topic=topic_of(sensor.child("topic"), remarks),
        random_start_offset=late,
    )
    for child in sensor.children:
        if child.name not in _KNOWN:
            remarks.append(unknown_tag(child, _KNOWN, "{} is no tag of Unity's"))
    return Reading(ImuSpecification(gyroscope=triad, accelerometer=triad, output=output), remarks)


def _discards(sensor):
    output = sensor.child("output")
    discard = None if output is None else output.child("discard_redundant_data")
    return False if discard is None else discard.flag()


def write(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return a ``<sensor>`` of Unity's XML with the gyroscope's noise."""
    triad = specification.gyroscope
    output = specification.output
    said = {"output.rate", "output.orientation_reference", "output.topic"}
    said.update(("output.drop_repeated", "output.repeat_samples"))
    said.update(f"gyroscope.{name}" for name in ("white_noise", "turn_on_bias_sigma", "resolution"))
    bias = slow_bias(triad, "gyroscope", options.random_walk_time)
    said.update(f"gyroscope.{field}" for field in bias.said)
    remarks: list[str] = []
    sigma, time = one_slow_bias(bias, "gyroscope", remarks)
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
    remarks.extend(without_fusion(specification, "Unity"))
    if not output.drop_repeated:
        remarks.append(
            "output.drop_repeated = False cannot be said: where Unity is faster than the sensor, "
            "it leaves out what the sensor would only repeat."
        )
    remarks.extend(unsaid(specification, said))
    late = tag("offset_start_time", "true", 1) if output.random_start_offset > 0.0 else ""
    discard = "false" if output.repeat_samples else "true"
    text = (
        xml_comment(heading(specification, "unity", remarks))
        + '<sensor name="imu_sensor" type="imu">\n'
        + tag("update_rate", number(rate), 1)
        + tag("topic", output.topic or topics.in_root(topics.IMU), 1)
        + late
        + "  <output>\n"
        + tag("discard_redundant_data", discard, 2)
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
