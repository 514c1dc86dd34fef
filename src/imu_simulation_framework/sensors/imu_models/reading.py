"""What goes into an IMU and what comes out: true signals, and readings of named parts."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, NamedTuple, Union

import numpy as np

from imu_simulation_framework.angles import yaw_from_quaternion
from imu_simulation_framework.sentences import shown

SIGNALS = ("orientation", "angular_velocity", "specific_force")
"""The parts that are a sample of the sensor."""

SLOW_ERRORS = ("angular_velocity_bias", "specific_force_bias", "yaw_bias", "orientation_bias")
"""The parts that say how wrong it is, apart from white noise."""

PARTS = {
    "orientation": (4,),
    "angular_velocity": (3,),
    "specific_force": (3,),
    "angular_velocity_bias": (3,),
    "specific_force_bias": (3,),
    "yaw_bias": (),
    "orientation_bias": (4,),
    "yaw": (),
}
"""Every part that can be asked for of any IMU -> its shape for one sample."""

MAGNETIC_PARTS = {"magnetic_field": (3,)}
"""The same, of an IMU with a magnetometer, where the truth has a magnetic field."""


class ImuTruth(NamedTuple):
    """True signals, of one sample or, with the samples as the first axis, of many.

    ``orientation`` (..., 4): quaternion x, y, z, w of the IMU in the world.
    ``angular_velocity`` (..., 3) [rad/s] and ``specific_force`` (..., 3) [m/s^2] in its axes.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray

    @property
    def magnetic_field(self) -> None:
        """There is none: see :class:`MagneticTruth`."""
        return None

    @property
    def speed(self) -> None:
        """It is not known: see :class:`MovingTruth`."""
        return None


class MovingTruth(NamedTuple):
    """The same with the speed (...) [m/s], for an IMU that is shaken while it moves."""

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    speed: np.ndarray

    @property
    def magnetic_field(self) -> None:
        """There is none."""
        return None


class MagneticTruth(NamedTuple):
    """The same with the magnetic field, for an IMU with a magnetometer.

    ``magnetic_field`` (..., 3) [T] where the IMU is, in its axes.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    magnetic_field: np.ndarray

    @property
    def speed(self) -> None:
        """It is not known."""
        return None


class MovingMagneticTruth(NamedTuple):
    """The same with the magnetic field and with the speed."""

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    magnetic_field: np.ndarray
    speed: np.ndarray


AnyTruth = Union[ImuTruth, MovingTruth, MagneticTruth, MovingMagneticTruth]


def truth_of(
    orientation, angular_velocity, specific_force, magnetic_field=None, speed=None
) -> AnyTruth:
    """Return the truth that has what is given, and nothing else."""
    signals = orientation, angular_velocity, specific_force
    if magnetic_field is None:
        return ImuTruth(*signals) if speed is None else MovingTruth(*signals, speed)
    if speed is None:
        return MagneticTruth(*signals, magnetic_field)
    return MovingMagneticTruth(*signals, magnetic_field, speed)


class ImuSamples(NamedTuple):
    """What an IMU says, with times: arrays of samples.

    Attributes
    ----------
    time : ndarray, shape (n,)
        [s]
    orientation : ndarray, shape (n, 4)
        Quaternions x, y, z, w; their length is one only to the resolution.
    angular_velocity : ndarray, shape (n, 3)
        [rad/s]
    specific_force : ndarray, shape (n, 3)
        [m/s^2]
    """

    time: np.ndarray
    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


class ImuReading:
    """Simulated signals, of one sample or, with leading axes (runs, samples), of many.

    A stepped model's reading has all of :data:`PARTS`; those that cost something are computed when
    they are asked for first. A batch's reading has those that the batch was asked for.

    Parameters
    ----------
    ask : callable, optional
        Called with the reading and the name of a part of :data:`PARTS` that is not there yet;
        returns it.
    **parts
        By name.

    Attributes
    ----------
    orientation, angular_velocity, specific_force : ndarray
        Those of :class:`ImuTruth` with errors.
    angular_velocity_bias : ndarray (..., 3)
        Error that changes slowly [rad/s], as are the other three, which Hector's plug-in publishes.
    specific_force_bias : ndarray (..., 3)
        [m/s^2]
    yaw_bias : float or ndarray (...)
        [rad]
    orientation_bias : ndarray (..., 4)
        The rotation in the world that leads from the true orientation to the simulated one.
    yaw : float or ndarray (...)
        Of the orientation [rad], in (-pi, pi].
    magnetic_field : ndarray (..., 3)
        Of :class:`MagneticTruth`, with errors [T]; only where there is a magnetometer.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    angular_velocity_bias: np.ndarray
    specific_force_bias: np.ndarray
    yaw_bias: float | np.ndarray
    orientation_bias: np.ndarray
    yaw: float | np.ndarray
    magnetic_field: np.ndarray

    __slots__ = ("__dict__", "_ask")

    def __init__(self, ask: Callable[[ImuReading, str], Any] | None = None, **parts):
        self._ask = ask
        # Not set one by one: a model is stepped a hundred times a second and more.
        self.__dict__ = parts

    def __getattr__(self, name: str):
        # Called for what is not there.
        if name not in PARTS and name not in MAGNETIC_PARTS:
            raise AttributeError(f"an IMU's reading has no {name}")
        known = self.__dict__
        if name == "yaw" and ("orientation" in known or self._ask is not None):
            value = yaw_from_quaternion(self.orientation)
        elif self._ask is None:
            raise AttributeError(f"this reading was not asked for its {name}")
        else:
            value = self._ask(self, name)
        known[name] = value
        return value

    def __getitem__(self, index) -> ImuReading:
        """Return the same parts of some samples or runs."""
        return ImuReading(**{name: values[index] for name, values in self.parts().items()})

    def parts(self) -> dict[str, Any]:
        """Return the parts that are there, by their names."""
        return dict(self.__dict__)

    def replaced(self, **parts) -> ImuReading:
        """Return the same reading with other values of some parts."""
        return ImuReading(**{**self.parts(), **parts})


def checked_parts(parts: Iterable[str]) -> tuple[str, ...]:
    """Return the parts that are asked for.

    Raises
    ------
    ValueError
        There is no such part.
    """
    parts = tuple(parts)
    for name in parts:
        if name not in PARTS and name not in MAGNETIC_PARTS:
            known = ", ".join((*PARTS, *MAGNETIC_PARTS))
            raise ValueError(f"an IMU's reading has no part {shown(name)}; there are {known}")
    return parts


def without_bias(reading: ImuReading, name: str):
    """Return a slow error of a reading that has none; to be given as a reading's ``ask``."""
    if name not in SLOW_ERRORS:
        raise AttributeError(f"this reading has no {name}")
    shape = reading.orientation.shape[:-1]
    if name == "yaw_bias" and not shape:
        return 0.0
    return np.broadcast_to(_NO_BIAS[name], (*shape, *PARTS[name]))


def untouched(truth: AnyTruth) -> ImuReading:
    """Return the reading of an IMU that has no errors."""
    signals = truth_of(*truth[:3], truth.magnetic_field)
    return ImuReading(without_bias, **signals._asdict())


def gathered(readings: Iterable[ImuReading], parts: tuple[str, ...], runs: int) -> ImuReading:
    """Return the wanted parts of readings of one run each, (samples, ...), in arrays of all runs.

    Only one of the readings is in memory at a time.
    """
    arrays: dict[str, np.ndarray] = {}
    for run, reading in enumerate(readings):
        for name in parts:
            values = getattr(reading, name)
            if runs == 1:
                arrays[name] = values[np.newaxis]
                continue
            if run == 0:
                arrays[name] = np.empty((runs, *values.shape))
            arrays[name][run] = values
    return ImuReading(None, **arrays)


def joined(readings: list[ImuReading]) -> ImuReading:
    """Return the readings of single samples as one of many, (samples, ...)."""
    return ImuReading(lambda _, name: np.array([getattr(reading, name) for reading in readings]))


_NO_BIAS: Mapping[str, np.ndarray] = {
    "angular_velocity_bias": np.zeros(3),
    "specific_force_bias": np.zeros(3),
    "yaw_bias": np.zeros(()),
    "orientation_bias": np.array([0.0, 0.0, 0.0, 1.0]),
}
