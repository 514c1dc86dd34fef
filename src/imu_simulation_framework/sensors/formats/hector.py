"""Parameters of Hector's IMU plug-in for Gazebo Classic, ``libhector_gazebo_ros_imu.so``.

``X`` is ``rate`` [rad/s] or ``accel`` [m/s^2], with three numbers each, or ``yaw`` [rad], with one:

===================== ==================================================================
tag                   specification
===================== ==================================================================
``XGaussianNoise``    ``white_noise * sqrt(rate)``: per sample
``XDrift``            from ``gauss_markov_sigma``: not a standard deviation, see below
``XDriftFrequency``   ``1 / gauss_markov_time`` [1/s]
``XOffset``           ``turn_on_bias``
``XScaleError``       1 + diagonal of ``scale_factor_and_misalignment``
``updateRate``        ``output.rate`` [Hz]; ``updatePeriod`` [s] overrides it
``topicName``         ``output.topic``
===================== ==================================================================

The plug-in multiplies the innovation of its drift by dt instead of sqrt(dt), so that the meaning of
``XDrift`` depends on the sampling rate. The formulas in
:mod:`imu_simulation_framework.sensors.imu_models.plugins` are inverted here, and numbers written
for one rate are valid only for that rate. When the plug-in is loaded, its drift starts with a
standard deviation of ``XDrift``, which is about ten times too large at 100 Hz, and decays with 1 /
XDriftFrequency.

Its orientation is the true orientation, rotated by a drift of the yaw that is independent of the
gyroscope, and by the tilt that corresponds to the accelerometer's bias. A specification has no
separate drift of the yaw: it is an option for writing, and reading it adds a remark.

``yawGaussianNoise`` has no effect on the orientation. ``rateXxx`` and ``accelXxx`` are three
numbers; a single number does not apply to all three axes. Load the plug-in with zero drift and set
it afterwards through dynamic_reconfigure to avoid the large drift at the start.

``gaussianNoise``, a single number, replaces both ``rateGaussianNoise`` and ``accelGaussianNoise``
if it is not zero. Source: ``gazebo_ros_imu.cpp``, ``sensor_model.h`` and ``update_timer.h`` of
hector_gazebo_plugins.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..imu_models.plugins import drift_parameters, drift_stationary_std
from ..imu_specification import TriadSpecification
from ..noise.processes import density_of_samples, sampled_std
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
from .trees import Tag, find_plugin, read_tags

LIBRARY = "libhector_gazebo_ros_imu.so"
_SENSORS = {"rate": "gyroscope", "accel": "accelerometer"}
_ERRORS = ("GaussianNoise", "Drift", "DriftFrequency", "Offset", "ScaleError")
_KNOWN = {f"{prefix}{error}" for prefix in _SENSORS for error in _ERRORS}
_YAW = {f"yaw{error}" for error in _ERRORS}
_MOUNTING = ("xyzOffset", "rpyOffset")
_PLACE = (
    *("robotNamespace", "bodyName", "frameId", "topicName", "biasTopicName", "serviceName"),
    *("updateRate", "updatePeriod", "updateOffset", "gaussianNoise", "alwaysOn"),
)
_DEFAULT_FREQUENCY = 1.0 / 3600.0  # 1/s; default of the plug-in


def read(path, rate: float | None = None) -> Reading:
    """Read the parameters of Hector's IMU plug-in in a URDF or SDF file.

    Parameters
    ----------
    path : str or path
        File with a single Hector IMU.
    rate : float, optional
        Sampling rate [Hz], if the file does not state it.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, or does not contain exactly one such IMU.
    """
    plugin = find_plugin(read_tags(path), LIBRARY)
    sample_rate = read_rate(
        _stated_rate(plugin),
        rate,
        f"{path}, line {plugin.line}: the plug-in states no updateRate above 0",
    )
    remarks: list[str] = []
    triads = {name: _read_triad(plugin, prefix, sample_rate) for prefix, name in _SENSORS.items()}
    common = plugin.inside("gaussianNoise", Tag.size)
    if common != 0.0:
        density = float(density_of_samples(common, sample_rate))
        triads = {name: replace(triad, white_noise=density) for name, triad in triads.items()}
    _note_ignored(plugin, sample_rate, remarks)
    topic = read_topic(plugin.child("topicName"), remarks)
    return imu_reading(sample_rate, triads, remarks, topic=topic)


def _stated_rate(plugin):
    # In the plug-in, the period overrides the rate; zero means every physics step.
    period = plugin.inside("updatePeriod", Tag.size, None)
    if period is not None:
        return 1.0 / period if period > 0.0 else None
    return plugin.inside("updateRate", Tag.size) or None


def _read_triad(plugin, prefix, rate):
    def axes(error, read=Tag.sizes, default=0.0):
        # The plug-in reads a vector, and a single number would not apply to all three axes.
        return plugin.inside(f"{prefix}{error}", lambda tag: read(tag, 3), (default,) * 3)

    noise, drift = axes("GaussianNoise"), axes("Drift")
    frequency = axes("DriftFrequency", default=_DEFAULT_FREQUENCY)
    if any(value > 0.0 and not f > 0.0 for value, f in zip(drift, frequency)):
        raise plugin.require(f"{prefix}DriftFrequency").error(
            "is 0 with a drift, expected a positive number"
        )
    # If the drift is zero, its frequency has no effect and may be zero.
    unused = TriadSpecification().gauss_markov_time[0]
    frequency = [f if value > 0.0 else 1.0 / unused for value, f in zip(drift, frequency)]
    scale = np.diag(axes("ScaleError", Tag.numbers, 1.0)) - np.eye(3)
    return TriadSpecification(
        white_noise=density_of_samples(noise, rate),
        gauss_markov_sigma=drift_stationary_std(drift, frequency, 1.0 / rate),
        gauss_markov_time=1.0 / np.array(frequency),
        turn_on_bias=axes("Offset", Tag.numbers),
        scale_factor_and_misalignment=scale,
    )


def _note_ignored(plugin, rate, remarks):
    for child in plugin.children:
        if child.name in _YAW:
            child.number()
        elif child.name in _MOUNTING:
            if any(child.numbers(3)):
                remarks.append(
                    f"Line {child.line}: <{child.name}> is the sensor's mounting; ignored."
                )
        elif child.name not in _KNOWN and child.name not in _PLACE:
            names = {*_KNOWN, *_YAW, *_PLACE, *_MOUNTING}
            # Some published robots have tags such as headingDrift instead of yawDrift.
            yaw_name = child.name.replace("heading", "yaw", 1)
            suggestion = yaw_name if yaw_name in _YAW else ""
            note_unknown([child], names, "the plug-in does not know {}", remarks, suggestion)
    for error in ("Offset", "GaussianNoise"):
        tag = plugin.child(f"yaw{error}")
        if tag is not None and tag.number() != 0.0:
            remarks.append(f"Line {tag.line}: <{tag.name}> is not an error of a sensor; ignored.")
    drift = plugin.child("yawDrift")
    if drift is not None and drift.size() != 0.0:
        frequency = plugin.inside("yawDriftFrequency", Tag.positive, _DEFAULT_FREQUENCY)
        std = float(drift_stationary_std(drift.number(), frequency, 1.0 / rate))
        remarks.append(
            f"Line {drift.line}: <yawDrift> is not an error of a sensor; ignored. At {rate:g} Hz "
            f"it is a drift of the yaw with a standard deviation of {std:.6g} rad and a "
            f"correlation time of {1.0 / frequency:.6g} s."
        )


def write(draft: Draft) -> str:
    """Format a ``<plugin>`` tag with the parameters for the sampling rate of the file.

    Parameters
    ----------
    draft : Draft
        Specification to write.

    Returns
    -------
    str
    """
    rate, output = draft.rate, draft.specification.output
    draft.supported = {"output.rate", "output.topic", "output.orientation_reference", "white_noise"}
    draft.supported.update(("turn_on_bias", "scale_factor_and_misalignment"))
    tags = tag("topicName", output.topic) + tag("updateRate", rate)
    for prefix, name in _SENSORS.items():
        triad = getattr(draft.specification, name)
        drift, frequency = np.transpose(
            [
                drift_parameters(float(sigma), float(time), 1.0 / rate)
                if sigma > 0.0
                else (0.0, _DEFAULT_FREQUENCY)
                for sigma, time in zip(*draft.slow_bias(name))
            ]
        )
        errors = np.array(triad.scale_factor_and_misalignment)
        if np.any(errors[~np.eye(3, dtype=bool)]):
            draft.remarks.append(
                f"{name}.scale_factor_and_misalignment = "
                f"{format_value(triad.scale_factor_and_misalignment)}: only its diagonal can be "
                "represented in this format."
            )
        noise, scale = sampled_std(triad.white_noise, rate), 1.0 + np.diag(errors)
        values = (noise, drift, frequency, triad.turn_on_bias, scale)
        tags += "".join(tag(f"{prefix}{error}", value) for error, value in zip(_ERRORS, values))
    yaw = "does not drift unless its drift is stated"
    if draft.options.yaw_drift is None:
        tags += tag("yawDrift", 0.0)
    else:
        sigma, time = draft.options.yaw_drift
        yaw = f"drifts by {sigma:g} rad with a correlation time of {time:g} s"
        yaw_drift, frequency = drift_parameters(sigma, time, 1.0 / rate)
        tags += tag("yawDrift", yaw_drift) + tag("yawDriftFrequency", frequency)
    draft.remarks.append(
        f"output.orientation_reference = {output.orientation_reference} cannot be represented: the "
        "plug-in rotates the true orientation by the accelerometer's bias, and by a separate yaw "
        f"that {yaw}."
    )
    missing = "bodyName and frameId" if output.topic else "bodyName, frameId and topicName"
    draft.notes = [
        f"The drifts are valid only for {rate:g} Hz. When the plug-in is loaded with them, the",
        "drift starts far too large; load it with XDrift 0 and set the drift afterwards through",
        f"dynamic_reconfigure. Add {missing} of the robot.",
    ]
    return f'<plugin name="imu_hector" filename="{LIBRARY}">\n{tags}</plugin>\n'
