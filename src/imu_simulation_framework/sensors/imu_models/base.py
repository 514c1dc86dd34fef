"""What all IMU models share: true signals in, readings of named parts out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from itertools import repeat
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import numpy as np

from ...core.angles import yaw_from_quaternion
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import check_number
from ...core.units import WORLD_GRAVITY
from ..imu_specification import Covariance, diagonal
from ..noise.streams import run_seed

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

_EVERY_PART = {**PARTS, **MAGNETIC_PARTS}


class ImuTruth(NamedTuple):
    """True signals, of one sample or, with the samples as the first axis, of many.

    ``orientation`` (..., 4): quaternion x, y, z, w of the IMU in the world.
    ``angular_velocity`` (..., 3) [rad/s] and ``specific_force`` (..., 3) [m/s^2] in its axes.
    ``magnetic_field`` (..., 3) [T] where the IMU is, in its axes, for an IMU with a magnetometer,
    and ``speed`` (...) [m/s] for one that is shaken while it moves; None where they are not known.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    magnetic_field: np.ndarray | None = None
    speed: np.ndarray | None = None

    @classmethod
    def at_rest(cls, samples: int, orientation=(0.0, 0.0, 0.0, 1.0)) -> ImuTruth:
        """Return that of an IMU which stands still, without the Earth's rotation."""
        from scipy.spatial.transform import Rotation

        force = Rotation.from_quat(orientation).inv().apply((0.0, 0.0, WORLD_GRAVITY))
        tiled = (np.tile(one, (samples, 1)) for one in (orientation, np.zeros(3), force))
        return cls(*tiled)

    def each(self, function: Callable[[np.ndarray], np.ndarray]) -> ImuTruth:
        """Return what a function makes of each signal that there is."""
        made: list[Any] = [None if signal is None else function(signal) for signal in self]
        return ImuTruth(*made)

    def samples(self) -> Iterator[ImuTruth]:
        """Yield the samples one by one."""
        signals = (repeat(None) if signal is None else signal for signal in self)
        return map(ImuTruth._make, zip(*signals))


class ImuSamples(NamedTuple):
    """What an IMU says at times (n,) [s], as :class:`ImuTruth`, with errors."""

    time: np.ndarray
    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


class ImuReading:
    """Simulated signals, of one sample or, with leading axes (runs, samples), of many.

    A stepped model's reading has all of :data:`PARTS`; those that cost something are computed when
    they are asked for first. A batch's reading has those that the batch was asked for.

    ``ask``: called with the reading and the name of a part of :data:`PARTS` that is not there yet;
    returns it. ``**parts``: by name.

    Attributes
    ----------
    orientation, angular_velocity, specific_force, magnetic_field : ndarray
        Those of :class:`ImuTruth` with errors; the last only where there is a magnetometer.
    angular_velocity_bias, specific_force_bias, yaw_bias : ndarray (..., 3), (..., 3) and (...)
        Errors that change slowly [rad/s, m/s^2, rad], which Hector's plug-in publishes.
    orientation_bias : ndarray (..., 4)
        The rotation in the world that leads from the true orientation to the simulated one.
    yaw : float or ndarray (...)
        Of the orientation [rad], in (-pi, pi].
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
        if name not in _EVERY_PART:
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
    """Return the parts that are asked for; raises ValueError for one that there is not."""
    parts = tuple(parts)
    for name in parts:
        if name not in _EVERY_PART:
            known = ", ".join(_EVERY_PART)
            raise ValueError(f"an IMU's reading has no part {quote(name)}; there are {known}")
    return parts


def without_bias(reading: ImuReading, name: str):
    """Return a slow error of a reading that has none; to be given as a reading's ``ask``."""
    if name not in SLOW_ERRORS:
        raise AttributeError(f"this reading has no {name}")
    shape = reading.orientation.shape[:-1]
    if name == "yaw_bias" and not shape:
        return 0.0
    none = [0.0, 0.0, 0.0, 1.0] if name == "orientation_bias" else 0.0
    return np.broadcast_to(none, (*shape, *PARTS[name]))


def untouched(truth: ImuTruth) -> ImuReading:
    """Return the reading of an IMU that has no errors."""
    signals = truth._asdict()
    names = (name for name in (*SIGNALS, *MAGNETIC_PARTS) if signals[name] is not None)
    return ImuReading(without_bias, **{name: signals[name] for name in names})


def _gathered(readings: Iterable[ImuReading], parts: tuple[str, ...], runs: int) -> ImuReading:
    """Return the wanted parts of readings of one run each; of these one is in memory at a time."""
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


class ImuModel(ABC):
    """An IMU with errors.

    ``parameters`` (dataclass): the model's own kind. ``period``: time from one sample to the next
    [s]. ``seed`` (int or numpy.random.SeedSequence): of all runs; each has random numbers of its
    own (:mod:`.noise.streams`). A stepped model is in run 0, after each :meth:`reset` in the next
    one, and equals that run of a batch. Raises :class:`.ConfigurationError`: the period is not a
    positive number.
    """

    def __init__(self, parameters, period: float, seed=0):
        check_number("The IMU's period", period, above=0.0)
        self.parameters, self.period = parameters, period
        self._seed, self._run = seed, 0
        self._set_up()
        self._begin(run_seed(seed, 0))

    gravity: float = WORLD_GRAVITY
    """Of the world [m/s^2], for what takes an error of the accelerometer for a tilt."""
    has_new_sample: bool = True
    """Whether the last :meth:`step` gave a new sample of the sensor."""
    drop_repeated: bool = False
    """Whether a sample that is not new shall be left out."""
    first_sample_time: float = 0.0
    """From the first sample of the simulation to the sensor's first [s]; none is emitted before."""
    has_magnetometer: bool = False
    """Whether its readings have the :data:`.base.MAGNETIC_PARTS` where there is a field."""
    requires_speed: bool = False
    """Whether its truth must have the speed, as it is shaken by it."""
    bno055_mode: str = ""
    """The mode as which it says how far it is calibrated; empty for one that does not."""

    def emitted(self, time: np.ndarray, new: np.ndarray) -> np.ndarray | None:
        """Return which samples the sensor gives away, by number, in order; None for each once.

        ``time`` (samples,): of samples that follow each other, from the first of all on [s].
        ``new`` (samples,): which are new ones of the sensor.
        """
        return np.flatnonzero(new) if self.drop_repeated else None

    @property
    @abstractmethod
    def label(self) -> str:
        """Name and telling parameters, without blanks, commas and ``=``: it names a folder."""

    def reset(self):
        """Begin the next run: slow errors start anew, with other random numbers."""
        self._run += 1
        self._begin(run_seed(self._seed, self._run))

    def set_drift(self, angular_velocity=None, specific_force=None):
        """Let slow errors go on from here, as the services of Hector's plug-in do.

        ``angular_velocity``, ``specific_force`` (3 float, optional): [rad/s], [m/s^2]; what is left
        out goes on as it was. Raises :class:`.ConfigurationError`: the model has no such thing, or
        they are not three numbers.
        """
        raise ConfigurationError(
            "The IMU's model has no drift that could be set; that of Hector's plug-in has."
        )

    def _set_up(self):  # noqa: B027
        """Make what is the same in each run."""

    def _begin(self, seed: np.random.SeedSequence):  # noqa: B027
        """Begin a run that is stepped, with the run's seed."""

    @abstractmethod
    def step(self, truth: ImuTruth) -> ImuReading:
        """Return the reading of the next sample."""

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        """Return the readings of the next samples, the same numbers as of so many :meth:`step`.

        ``truth``: of at least one sample, (samples, ...). Returns arrays (samples, ...), and which
        of them are new ones of the sensor.
        """
        readings, new = [], []
        for sample in truth.samples():
            readings.append(self.step(sample))
            new.append(self.has_new_sample)
        return joined(readings), np.array(new)

    def batch(
        self, truth: ImuTruth, runs: int = 1, first_run: int = 0, parts: Iterable[str] = SIGNALS
    ) -> ImuReading:
        """Return independent realisations of a series of samples, arrays (runs, samples, ...).

        Each run starts anew, and a stepped model's state is neither used nor changed. The arrays
        may be read-only views where runs do not differ. Raises ValueError: there is no such part.

        ``truth``: (samples, ...). ``runs``: how many. ``first_run``: number of the first of them.
        ``parts``: which of :data:`.base.PARTS` the reading shall have, and of
        :data:`.base.MAGNETIC_PARTS` if there is a magnetometer.
        """
        parts = checked_parts(parts)
        truth = truth.each(partial(np.asarray, dtype=float))
        numbers = range(first_run, first_run + runs)
        prepared = self._prepared(truth)
        readings = (self._realise(prepared, run_seed(self._seed, run)) for run in numbers)
        return _gathered(readings, parts, runs)

    def _prepared(self, truth: ImuTruth) -> Any:
        """Return what all runs of a batch share."""
        return truth

    @abstractmethod
    def _realise(self, prepared: Any, seed: np.random.SeedSequence) -> ImuReading:
        """Return the reading of one run of what was prepared, with all parts, (samples, ...)."""

    def new_samples(self, samples: int) -> np.ndarray:
        """Return which of a batch's samples are new ones of the sensor, (samples,) of bool."""
        return np.ones(samples, dtype=bool)

    def magnetic_covariance(self) -> Covariance:
        """Return the covariance of a magnetometer's readings, row by row [T^2]; zero is unknown."""
        return diagonal((0.0, 0.0, 0.0))

    @abstractmethod
    def covariances(self) -> tuple[Covariance, Covariance, Covariance]:
        """Return what is published as covariances, as :meth:`.ImuSpecification.covariances`."""


LARGEST_PARAMETER = 1e6
"""Of an IMU, in SI units; beyond it no error is one of a sensor, and squares might overflow."""


def checked_parameter(name, value, **bounds):
    """Return a number of an IMU."""
    return check_number(f"The IMU's {name}", value, maximum=LARGEST_PARAMETER, **bounds)
