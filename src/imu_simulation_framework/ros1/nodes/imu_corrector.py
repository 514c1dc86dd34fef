"""Republishes an IMU with the correction that calibrate_imu.py found.

Private parameters: ``~correction``, the YAML file; ``~standstill``, how long the robot stands still
at first, in which the gyroscope's offset is measured, to be taken off from then on [s], by default
0, not at all; ``~stops``, ``detected`` for taking it anew where the IMU stands on the way. Without
a correction there has to be a standstill. Topics: ``imu/data_raw`` to ``imu/data``; where
the correction has a magnetometer ``imu/mag_raw`` to ``imu/mag``; where it depends on the
temperature ``imu/temperature``, whose last value counts. Remap them as usual. Header and
orientation are kept; who has fused the orientation from uncorrected readings should fuse it anew.
"""

from __future__ import annotations

import os

import numpy as np
import rospy
from geometry_msgs.msg import Vector3
from sensor_msgs.msg import Imu, MagneticField, Temperature

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.ros1.node import Node, advertise, subscribe
from imu_simulation_framework.sensors.correction import (
    ImuCorrection,
    TriadCorrection,
    read_imu_correction,
)
from imu_simulation_framework.sensors.operation import LiveZeroing, Operation

RAW_IMU = "imu/data_raw"
RAW_MAG = "imu/mag_raw"
MAG = "imu/mag"
TEMPERATURE = "imu/temperature"
QUEUE = 100  # messages that wait, before the oldest is dropped

_OTHER_UNIT = 1000.0
_EARTHS_FIELD = 60e-6  # T


class ImuCorrector(Node):
    """From raw messages to corrected ones, of an IMU of any robot; no experiment is needed."""

    name = "imu_corrector"
    has_settings = False

    def __init__(self) -> None:
        super().__init__()
        path = str(rospy.get_param("~correction", ""))
        try:
            operation = Operation(
                standstill=rospy.get_param("~standstill", 0.0),
                stops=rospy.get_param("~stops", "none"),
            )
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.name}: the private parameter {error}") from None
        self._zeroing = LiveZeroing(operation) if operation.standstill > 0.0 else None
        if not path and self._zeroing is None:
            raise ConfigurationError(
                f"{self.name}: the private parameter correction names no file, expected what "
                "calibrate_imu.py has written, and standstill is 0, so that there is nothing to do"
            )
        self._correction = read_imu_correction(os.path.abspath(path)) if path else ImuCorrection()
        self._temperature: float | None = None
        self._imu = advertise(topics.IMU, Imu)
        self._inputs = [subscribe(RAW_IMU, Imu, self._on_imu, QUEUE)]
        if self._correction.magnetometer != TriadCorrection():
            self._field = advertise(MAG, MagneticField)
            self._inputs.append(subscribe(RAW_MAG, MagneticField, self._on_field, QUEUE))
        if needs_temperature(self._correction):
            self._inputs.append(subscribe(TEMPERATURE, Temperature, self._on_temperature, 1))

    def _on_temperature(self, message):
        if np.isfinite(message.temperature):
            self._temperature = message.temperature

    def _on_imu(self, message):
        done = corrected_imu(message, self._correction, self._temperature)
        if self._zeroing is not None and message.angular_velocity_covariance[0] != -1.0:
            zero(done, self._zeroing)
            while self._zeroing.sentences:
                rospy.loginfo("%s: %s", self.name, self._zeroing.sentences.pop(0))
        self._imu.publish(done)

    def close(self):
        """Say so if no offset was ever known."""
        if self._zeroing is not None and self._zeroing.missing:
            rospy.logwarn("%s: %s", self.name, self._zeroing.missing)

    def _on_field(self, message):
        wrong = another_unit(message, self._correction)
        if wrong:
            rospy.logwarn_once(f"{self.name}: {wrong}")
        self._field.publish(corrected_field(message, self._correction, self._temperature))


def needs_temperature(correction: ImuCorrection) -> bool:
    """Return whether a part of a correction depends on the temperature."""
    parts = (correction.gyroscope, correction.accelerometer, correction.magnetometer)
    return any(part.needs_temperature for part in parts)


def corrected_imu(message: Imu, correction: ImuCorrection, temperature: float | None = None) -> Imu:
    """Return a message with corrected readings; header and orientation are the same.

    Covariances go through the same matrix as the readings. Those that say that they are not known
    (all zero), or that there are no such readings (-1 first), stay, and so do readings that are
    not there.
    """
    result = Imu(
        header=message.header,
        orientation=message.orientation,
        orientation_covariance=message.orientation_covariance,
    )
    for name, part in (
        ("angular_velocity", correction.gyroscope),
        ("linear_acceleration", correction.accelerometer),
    ):
        covariance = getattr(message, f"{name}_covariance")
        there = covariance[0] != -1.0
        vector = getattr(message, name)
        setattr(result, name, _corrected(vector, part, temperature) if there else vector)
        setattr(result, f"{name}_covariance", _propagated(covariance, part))
    return result


def zero(message: Imu, zeroing: LiveZeroing) -> None:
    """Take the offset that is known by now off a message's angular velocity."""
    rate, force = (
        np.array([vector.x, vector.y, vector.z])
        for vector in (message.angular_velocity, message.linear_acceleration)
    )
    stamp = message.header.stamp.to_sec()
    message.angular_velocity = Vector3(*zeroing.add(stamp, rate, force).tolist())


def corrected_field(
    message: MagneticField, correction: ImuCorrection, temperature: float | None = None
) -> MagneticField:
    """Return a message with the corrected field, as :func:`corrected_imu` does."""
    part = correction.magnetometer
    return MagneticField(
        header=message.header,
        magnetic_field=_corrected(message.magnetic_field, part, temperature),
        magnetic_field_covariance=_propagated(message.magnetic_field_covariance, part),
    )


def another_unit(message: MagneticField, correction: ImuCorrection) -> str:
    """Return why a field cannot be in the correction's unit; empty if it may be.

    Drivers are known that publish microtesla or gauss, and a correction of a table is in tesla.
    """
    vector = message.magnetic_field
    size = float(np.linalg.norm([vector.x, vector.y, vector.z]))
    bias = float(np.linalg.norm(correction.magnetometer.bias))
    largest = _OTHER_UNIT * max(bias, _EARTHS_FIELD)
    if not size or bias / _OTHER_UNIT <= size <= largest or not np.isfinite(size):
        return ""
    return (
        f"the magnetometer reads {size:.3g}, where the correction's bias is {bias:.3g} T: one of "
        "the two is in another unit, and the correction is of no use"
    )


def _corrected(vector, part, temperature):
    x, y, z = part.apply(np.array([vector.x, vector.y, vector.z]), temperature).tolist()
    return type(vector)(x, y, z)


def _propagated(covariance, part):
    if covariance[0] == -1.0 or not any(covariance):
        return tuple(covariance)
    return tuple(part.covariance(np.reshape(covariance, (3, 3))).ravel().tolist())
