"""The noise of an SDF ``<sensor type="imu">``, for new Gazebo and classic Gazebo 11.

Each axis of ``<angular_velocity>`` [rad/s] and ``<linear_acceleration>`` [m/s^2] has a
``<noise>``, whose tags are described in
:mod:`imu_simulation_framework.sensors.formats.gaussian_noise`; an axis without one has no noise.
``<update_rate>`` of the sensor is the rate of the samples [Hz], ``<topic>`` Gazebo's own topic. The
dynamic bias came with SDF 1.6. The orientation that Gazebo gives out is the true one. Source:
``sdf/1.6/imu.sdf``, ``sdf/1.6/noise.sdf`` and later of libsdformat.
"""

from __future__ import annotations

from imu_simulation_framework.sensors.formats.base import (
    AXES,
    NO_OPTIONS,
    Reading,
    WriteOptions,
    Writing,
    heading,
    number,
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
    read_noise,
    slow_bias,
)
from imu_simulation_framework.sensors.formats.xml import find_imu_sensor, read_tags
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

_SIGNALS = {"angular_velocity": "gyroscope", "linear_acceleration": "accelerometer"}
_OTHER_TAGS = ("orientation_reference_frame", "enable_orientation", "topic")


def read(path, rate: float | None = None) -> Reading:
    """Read the noise of the one IMU in an SDF file, or in a URDF with Gazebo's tags.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        The sensor's rate where the file does not state it [Hz].

    Raises
    ------
    ConfigurationError
        There is no such sensor or several, it has no ``<imu>``, a value is no number or out of
        range, or nobody states the rate.
    """
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
    triads = {}
    for signal, triad in _SIGNALS.items():
        triads[triad] = _read_triad(imu.child(signal), sample_rate, remarks)
    known = (*_SIGNALS, *_OTHER_TAGS)
    for child in imu.children:
        if child.name not in known:
            remarks.append(unknown_tag(child, known, "{} is no part of SDF's <imu>"))
    topic = sensor.child("topic") or imu.child("topic")  # the second until SDF 1.4
    output = OutputSpecification(
        rate=sample_rate, orientation_reference="truth", topic=topic_of(topic, remarks)
    )
    return Reading(ImuSpecification(**triads, output=output), remarks)


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
    output = specification.output
    said = {
        "output.rate",
        "output.topic",
        "white_noise",
        "turn_on_bias",
        "turn_on_bias_sigma",
        "resolution",
    }
    remarks = []
    signals = []
    for signal, name in _SIGNALS.items():
        triad = getattr(specification, name)
        bias = slow_bias(triad, name, options.random_walk_time)
        said.update(f"{name}.{field}" for field in bias.said)
        remarks.extend(bias.remarks + differences(triad, name))
        signals.append(f"    <{signal}>\n")
        for axis, axis_name in enumerate(AXES):
            noise = AxisNoise(
                triad.white_noise[axis],
                triad.turn_on_bias[axis],
                triad.turn_on_bias_sigma[axis],
                bias.sigma[axis],
                bias.time[axis],
                triad.resolution[axis],
            )
            signals.append(f"      <{axis_name}>\n{noise_text(noise, rate, 4)}")
            signals.append(f"      </{axis_name}>\n")
        signals.append(f"    </{signal}>\n")
    remarks.extend(without_fusion(specification, "Gazebo"))
    said.add("output.orientation_reference")
    remarks.extend(unsaid(specification, said))
    text = (
        xml_comment(heading(specification, "sdf", remarks))
        + '<sensor name="imu" type="imu">\n'
        + tag("always_on", "true", 1)
        + tag("update_rate", number(rate), 1)
        + (tag("topic", output.topic, 1) if output.topic else "")
        + "  <imu>\n"
        + "".join(signals)
        + "  </imu>\n</sensor>\n"
    )
    return Writing(text, remarks)
