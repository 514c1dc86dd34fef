"""The node imu_corrector without any ROS: its arguments, and what it makes of messages."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import Settings, setting
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.realistic_imu.node_session import Session, Shell
from imu_simulation_framework.recordings.messages import (
    FIELD,
    IMU,
    MAGNETIC_FIELD,
    TEMPERATURE,
    NumbersMessage,
    as_packed,
    with_numbers,
)
from imu_simulation_framework.sensors.correction import (
    ImuCorrection,
    TriadCorrection,
    read_imu_correction,
)
from imu_simulation_framework.sensors.operation import LiveZeroing, Operation

RAW_IMU = "imu/data_raw"
RAW_MAG = "imu/mag_raw"
TEMPERATURE_TOPIC = "imu/temperature"

_OTHER_UNIT = 1000.0
_EARTHS_FIELD = 60e-6  # T
_RATE, _FORCE = (IMU.place(f"{name}.") for name in ("angular_velocity", "linear_acceleration"))
_OF_FIELD = slice(0, len(FIELD))


@dataclass(frozen=True)
class CorrectorArguments(Settings):
    """The node's parameters; what each means stands beside it, for launch files and for ROS 2."""

    correction: str = setting(
        "", about="YAML file that calibrate_imu.py has written; empty: none, with a standstill"
    )
    standstill: float = setting(
        0.0,
        minimum=0.0,
        about="how long the robot stands still at first, in which the gyroscope's offset is "
        "measured, s; 0: not at all",
    )
    stops: str = setting(
        "none", about="detected: where the IMU stands on the way, the offset is measured anew"
    )


class LiveCorrector(Session):
    """From raw messages to corrected ones, of an IMU of any robot; no experiment is needed.

    ``imu/data_raw`` to ``imu/data``; where the correction has a magnetometer ``imu/mag_raw`` to
    ``imu/mag``; where it depends on the temperature ``imu/temperature``, whose last value counts.
    Header and orientation are kept.

    Covariances go through the same matrix as the readings. Those that say that they are not known
    (all zero), or that there are no such readings (-1 first), stay, and so do readings that are
    not there. Raises ConfigurationError: there is nothing to do, or it cannot be done.
    """

    name = "imu_corrector"
    arguments_type = CorrectorArguments
    alone = False

    def __init__(self, arguments: CorrectorArguments, shell: Shell) -> None:
        super().__init__(shell)
        path = arguments.correction
        try:
            operation = Operation(standstill=arguments.standstill, stops=arguments.stops)
            self._zeroing = LiveZeroing(operation) if operation.standstill > 0.0 else None
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.name}: {error}") from None
        if not path and self._zeroing is None:
            raise ConfigurationError(
                f"{self.name}: correction names no file, expected what calibrate_imu.py has "
                "written, and standstill is 0, so that there is nothing to do"
            )
        self._correction = read_imu_correction(os.path.abspath(path)) if path else ImuCorrection()
        self._temperature: float | None = None
        self.outputs = {topics.IMU: IMU}
        self.inputs = {RAW_IMU: (IMU, self._on_imu)}
        if self._correction.magnetometer != TriadCorrection():
            self.outputs[topics.IMU_MAG] = MAGNETIC_FIELD
            self.inputs[RAW_MAG] = (MAGNETIC_FIELD, self._on_field)
        if needs_temperature(self._correction):
            self.inputs[TEMPERATURE_TOPIC] = (TEMPERATURE, self._on_temperature)

    def close(self) -> None:
        """Say so if no offset was ever known."""
        if self._zeroing is not None and self._zeroing.missing:
            self._shell.warn(f"{self.name}: {self._zeroing.missing}")

    def _on_temperature(self, message, _):
        if np.isfinite(message.numbers[0]):
            self._temperature = float(message.numbers[0])

    def _on_imu(self, message: NumbersMessage, data: bytes) -> None:
        numbers = message.numbers
        for place, part in (
            (_RATE, self._correction.gyroscope),
            (_FORCE, self._correction.accelerometer),
        ):
            correct(numbers, place, part, self._temperature)
        if self._zeroing is not None and numbers[_RATE.stop] != -1.0:
            stamp = message.stamp / NANOSECONDS
            numbers[_RATE] = self._zeroing.add(stamp, numbers[_RATE].copy(), numbers[_FORCE].copy())
            while self._zeroing.sentences:
                self._shell.inform(f"{self.name}: {self._zeroing.sentences.pop(0)}")
        self._send(topics.IMU, message, data)

    def _on_field(self, message: NumbersMessage, data: bytes) -> None:
        part = self._correction.magnetometer
        wrong = another_unit(message.numbers[_OF_FIELD], part)
        if wrong:
            self._warn_once("unit", f"{self.name}: {wrong}")
        correct(message.numbers, _OF_FIELD, part, self._temperature)
        self._send(topics.IMU_MAG, message, data)

    def _send(self, topic, message, data):
        corrected = with_numbers(data, message, message.numbers, self._shell.ros2)
        self._shell.send(topic, as_packed(corrected))


def needs_temperature(correction: ImuCorrection) -> bool:
    """Return whether a part of a correction depends on the temperature."""
    parts = (correction.gyroscope, correction.accelerometer, correction.magnetometer)
    return any(part.needs_temperature for part in parts)


def correct(
    numbers: np.ndarray, place: slice, part: TriadCorrection, temperature: float | None = None
) -> None:
    """Correct, in place, readings of three axes among numbers (n,) and the covariance behind them.

    ``place``: where the readings are; ``temperature`` [degC].
    """
    around = slice(place.stop, place.stop + 9)
    covariance = numbers[around]
    if covariance[0] == -1.0:
        return
    numbers[place] = part.apply(numbers[place], temperature)
    if np.any(covariance):
        numbers[around] = part.covariance(covariance.reshape(3, 3)).ravel()


def another_unit(field: np.ndarray, part: TriadCorrection) -> str:
    """Return why a field (3,) cannot be in the correction's unit; empty if it may be.

    Drivers are known that publish microtesla or gauss, and a correction of a table is in tesla.
    """
    size, bias = float(np.linalg.norm(field)), float(np.linalg.norm(part.bias))
    largest = _OTHER_UNIT * max(bias, _EARTHS_FIELD)
    if not size or bias / _OTHER_UNIT <= size <= largest or not np.isfinite(size):
        return ""
    return (
        f"the magnetometer reads {size:.3g}, where the correction's bias is {bias:.3g} T: one of "
        "the two is in another unit, and the correction is of no use"
    )
