"""Interface of all IMU models, which convert ideal signals to readings with errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, partial
from itertools import repeat
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import numpy as np

from ...core.angles import yaw_from_quaternion
from ...core.checks import check_number
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.units import WORLD_GRAVITY
from ..imu_specification import Covariance, diagonal
from ..noise.streams import run_seed

SIGNALS = ("orientation", "angular_velocity", "specific_force")  # quantities in an IMU sample

#: Quantities of a reading that contain its slow errors, without white noise.
SLOW_ERRORS = ("angular_velocity_bias", "specific_force_bias", "yaw_bias", "orientation_bias")

#: Quantities in the reading of every IMU, with their shapes for a single sample.
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
#: Additional quantities for an IMU with a magnetometer in a known magnetic field.
MAGNETIC_PARTS = {"magnetic_field": (3,)}

_ALL_PARTS = {**PARTS, **MAGNETIC_PARTS}


class ImuTruth(NamedTuple):
    """Ideal, error-free signals of an IMU at a single sample or at several samples.

    Parameters
    ----------
    orientation : ndarray, shape (..., 4)
        Quaternion x, y, z, w of the IMU in the world frame.
    angular_velocity : ndarray, shape (..., 3)
        Angular velocity in the IMU's axes [rad/s].
    specific_force : ndarray, shape (..., 3)
        Specific force in the IMU's axes [m/s^2].
    magnetic_field : ndarray, shape (..., 3), or None
        Magnetic field in the IMU's axes [T], for an IMU with a magnetometer; None if it is unknown.
    speed : ndarray, shape (...), or None
        Speed of the robot [m/s], for an IMU whose vibration depends on it; None if it is unknown.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    magnetic_field: np.ndarray | None = None
    speed: np.ndarray | None = None

    @classmethod
    def at_rest(cls, samples: int, orientation=(0.0, 0.0, 0.0, 1.0)) -> ImuTruth:
        """Return the ideal signals of an IMU at rest, without the Earth's rotation.

        Parameters
        ----------
        samples : int
            Number of samples.
        orientation : 4 float
            Quaternion x, y, z, w of the IMU in the world frame.

        Returns
        -------
        ImuTruth
        """
        from scipy.spatial.transform import Rotation

        force = Rotation.from_quat(orientation).inv().apply((0.0, 0.0, WORLD_GRAVITY))
        tiled = (np.tile(row, (samples, 1)) for row in (orientation, np.zeros(3), force))
        return cls(*tiled)

    def each(self, function: Callable[[np.ndarray], np.ndarray]) -> ImuTruth:
        """Apply a function to each signal that is not None.

        Parameters
        ----------
        function : callable
            Function from an array to an array.

        Returns
        -------
        ImuTruth
        """
        signals: list[Any] = [None if signal is None else function(signal) for signal in self]
        return ImuTruth(*signals)

    def samples(self) -> Iterator[ImuTruth]:
        """Iterate over the samples of a series.

        Returns
        -------
        iterator of ImuTruth
            Ideal signals of one sample each, in order.
        """
        signals = (repeat(None) if signal is None else signal for signal in self)
        return map(ImuTruth._make, zip(*signals))


class ImuSamples(NamedTuple):
    """Output of an IMU at n times, with errors.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times [s].
    orientation, angular_velocity, specific_force : ndarray, shape (n, 4) or (n, 3)
        Signals as in :class:`ImuTruth`.
    """

    time: np.ndarray
    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


class ImuReading:
    """Simulated signals of an IMU at one or several samples, in one or several runs.

    Arrays may have the leading axes (runs, samples). The reading of a stepped model has all
    quantities of :data:`PARTS`; subclasses compute expensive ones when they are first accessed. The
    reading of a batch has only the requested quantities, and the yaw if it has an orientation.

    Parameters
    ----------
    **parts
        Known quantities of the reading by name.

    Attributes
    ----------
    orientation, angular_velocity, specific_force, magnetic_field : ndarray
        Signals of :class:`ImuTruth` with errors; the magnetic field only for an IMU with a
        magnetometer.
    angular_velocity_bias, specific_force_bias, yaw_bias : ndarray (..., 3), (..., 3) and (...)
        Slow errors [rad/s, m/s^2, rad], which Hector's plug-in publishes.
    orientation_bias : ndarray (..., 4)
        Rotation in the world frame from the true orientation to the simulated orientation.
    yaw : float or ndarray (...)
        Yaw of the orientation [rad], in (-pi, pi].
    """

    __slots__ = ("__dict__",)

    def __init__(self, **parts):
        # A single assignment is fast, as needed by a model that takes hundreds of steps per second.
        self.__dict__ = parts

    @cached_property
    def orientation(self) -> np.ndarray:
        return self._compute("orientation")

    @cached_property
    def angular_velocity(self) -> np.ndarray:
        return self._compute("angular_velocity")

    @cached_property
    def specific_force(self) -> np.ndarray:
        return self._compute("specific_force")

    @cached_property
    def magnetic_field(self) -> np.ndarray:
        return self._compute("magnetic_field")

    @cached_property
    def angular_velocity_bias(self) -> np.ndarray:
        return self._compute("angular_velocity_bias")

    @cached_property
    def specific_force_bias(self) -> np.ndarray:
        return self._compute("specific_force_bias")

    @cached_property
    def yaw_bias(self) -> float | np.ndarray:
        return self._compute("yaw_bias")

    @cached_property
    def orientation_bias(self) -> np.ndarray:
        return self._compute("orientation_bias")

    @cached_property
    def yaw(self) -> float | np.ndarray:
        return yaw_from_quaternion(self.orientation)

    def _compute(self, name: str) -> Any:
        """Compute a quantity of :data:`PARTS` or :data:`MAGNETIC_PARTS` on its first access."""
        raise AttributeError(
            f"this reading does not contain {name}, because its sensor or batch does not provide it"
        )

    def __getitem__(self, index) -> ImuReading:
        """Return a reading with the same quantities, restricted to selected samples or runs."""
        return ImuReading(**{name: values[index] for name, values in self.parts().items()})

    def parts(self) -> dict[str, Any]:
        """Return the quantities that have already been computed, by name.

        Returns
        -------
        dict of str to object
            Keys of :data:`PARTS` and :data:`MAGNETIC_PARTS` with their arrays.
        """
        return dict(self.__dict__)

    def replaced(self, **parts) -> ImuReading:
        """Return a copy of the reading in which some quantities are replaced.

        Parameters
        ----------
        **parts
            New values of the quantities by name.

        Returns
        -------
        ImuReading
        """
        return ImuReading(**{**self.parts(), **parts})


def checked_parts(parts: Iterable[str]) -> tuple[str, ...]:
    """Check that names are quantities of a reading, and return them as a tuple.

    Parameters
    ----------
    parts : iterable of str
        Keys of :data:`PARTS` or :data:`MAGNETIC_PARTS`.

    Returns
    -------
    tuple of str
        The names.

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    parts = tuple(parts)
    for name in parts:
        if name not in _ALL_PARTS:
            known = ", ".join(_ALL_PARTS)
            raise ValueError(f"unknown part {quote(name)} of a reading, expected some of {known}")
    return parts


class DriftFreeReading(ImuReading):
    """Reading of an IMU without slow errors.

    Parameters
    ----------
    **parts
        Known quantities of the reading by name. Missing slow errors are zero, or the identity
        rotation.
    """

    __slots__ = ()

    def _compute(self, name: str) -> float | np.ndarray:
        if name not in SLOW_ERRORS:
            return super()._compute(name)
        shape = self.orientation.shape[:-1]
        if name == "yaw_bias" and not shape:
            return 0.0
        neutral = [0.0, 0.0, 0.0, 1.0] if name == "orientation_bias" else 0.0
        return np.broadcast_to(neutral, (*shape, *PARTS[name]))


def ideal_reading(truth: ImuTruth) -> ImuReading:
    """Return the reading of an ideal IMU, which has no errors.

    Parameters
    ----------
    truth : ImuTruth
        Ideal signals.

    Returns
    -------
    ImuReading
    """
    signals = truth._asdict()
    names = (name for name in (*SIGNALS, *MAGNETIC_PARTS) if signals[name] is not None)
    return DriftFreeReading(**{name: signals[name] for name in names})


def _collect(readings: Iterable[ImuReading], parts: tuple[str, ...], runs: int) -> ImuReading:
    """Collect quantities of readings over several runs, with one reading in memory at a time."""
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
    return ImuReading(**arrays)


class JoinedReading(ImuReading):
    """Reading of several samples that is joined from the readings of single samples.

    Parameters
    ----------
    readings : list of ImuReading
        Readings of the samples, in order.
    """

    __slots__ = ("_readings",)

    def __init__(self, readings: list[ImuReading]):
        super().__init__()
        self._readings = readings

    def _compute(self, name: str) -> np.ndarray:
        return np.array([getattr(reading, name) for reading in self._readings])


class ImuModel(ABC):
    """Interface of IMU models, which simulate the errors of an IMU.

    A stepped model is in run 0, and after each :meth:`reset` in the next run; its output is equal
    to that run of a batch.

    Parameters
    ----------
    parameters : dataclass
        Parameters, whose type depends on the model.
    period : float
        Sampling period [s].
    seed : int or numpy.random.SeedSequence
        Seed of all runs; each run has separate random numbers (:mod:`.noise.streams`).

    Raises
    ------
    ConfigurationError
        If the period is not a positive number.

    Attributes
    ----------
    gravity : float
        Gravity of the world [m/s^2], which converts an error of the accelerometer into a tilt.
    has_new_sample : bool
        Whether the last :meth:`step` returned a new sample of the sensor.
    drop_repeated : bool
        Whether the caller has to drop repeated samples.
    first_sample_time : float
        Time from the first sample of the simulation to the first output sample of the sensor [s].
    has_magnetometer : bool
        Whether readings have the :data:`.base.MAGNETIC_PARTS` in a magnetic field.
    requires_speed : bool
        Whether the ideal signals must contain the speed.
    bno055_mode : str
        Mode in which the model reports its calibration status; empty for no status.
    """

    def __init__(self, parameters, period: float, seed=0):
        check_number("The IMU's period", period, above=0.0)
        self.parameters, self.period = parameters, period
        self._seed, self._run = seed, 0
        self._set_up()
        self._begin(run_seed(seed, 0))

    gravity: float = WORLD_GRAVITY
    has_new_sample: bool = True
    drop_repeated: bool = False
    first_sample_time: float = 0.0
    has_magnetometer: bool = False
    requires_speed: bool = False
    bno055_mode: str = ""

    def emitted(self, time: np.ndarray, new: np.ndarray) -> np.ndarray | None:
        """Return the indices of the samples that the sensor outputs, in order.

        Parameters
        ----------
        time : ndarray, shape (samples,)
            Times of consecutive samples, relative to the first sample of the simulation [s].
        new : ndarray of bool, shape (samples,)
            Whether each sample is a new sample of the sensor.

        Returns
        -------
        ndarray of int, or None
            Indices of the samples; None if each sample is output exactly once.
        """
        return np.flatnonzero(new) if self.drop_repeated else None

    @property
    @abstractmethod
    def label(self) -> str:
        """Name and main parameters of the model, for use as a folder name.

        They contain no blanks, commas and ``=``.
        """

    def reset(self):
        """Start the next run, in which all errors restart with different random numbers."""
        self._run += 1
        self._begin(run_seed(self._seed, self._run))

    def set_drift(self, angular_velocity=None, specific_force=None):
        """Set slow errors to given values, from which they continue, as in Hector's plug-in.

        Parameters
        ----------
        angular_velocity : 3 float, optional
            Drift of the gyroscope [rad/s]; by default it continues unchanged.
        specific_force : 3 float, optional
            Drift of the accelerometer [m/s^2]; by default it continues unchanged.

        Raises
        ------
        ConfigurationError
            If the model has no drift, or a value is not three numbers.
        """
        raise ConfigurationError("[imu] model has no drift to set, expected Hector's plug-in")

    def _set_up(self):  # noqa: B027
        """Initialise the state that all runs share."""

    def _begin(self, seed: np.random.SeedSequence):  # noqa: B027
        """Initialise the state of a stepped model for a run with the given seed."""

    @abstractmethod
    def step(self, truth: ImuTruth) -> ImuReading:
        """Return the IMU reading at the next sample.

        Parameters
        ----------
        truth : ImuTruth
            Ideal signals of the sample.

        Returns
        -------
        ImuReading
        """

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        """Return the IMU readings at the next samples, identical to those of repeated :meth:`step`.

        Parameters
        ----------
        truth : ImuTruth
            Ideal signals of at least one sample, shape (samples, ...).

        Returns
        -------
        reading : ImuReading
            Reading with the leading axis (samples, ...).
        new : ndarray of bool, shape (samples,)
            Whether each sample is a new sample of the sensor.
        """
        readings, new = [], []
        for sample in truth.samples():
            readings.append(self.step(sample))
            new.append(self.has_new_sample)
        return JoinedReading(readings), np.array(new)

    def batch(
        self, truth: ImuTruth, runs: int = 1, first_run: int = 0, parts: Iterable[str] = SIGNALS
    ) -> ImuReading:
        """Return the IMU readings at a series of samples in several independent runs.

        Each run starts from the initial state; the state of a stepped model is neither used nor
        changed. If runs do not differ, arrays may be read-only views.

        Parameters
        ----------
        truth : ImuTruth
            Ideal signals, shape (samples, ...).
        runs : int
            Number of runs.
        first_run : int
            Number of the first run.
        parts : iterable of str
            Names from :data:`.base.PARTS`, and with a magnetometer from
            :data:`.base.MAGNETIC_PARTS`.

        Returns
        -------
        ImuReading
            Requested quantities with leading axes (runs, samples, ...).

        Raises
        ------
        ValueError
            If a quantity is unknown.
        """
        parts = checked_parts(parts)
        truth = truth.each(partial(np.asarray, dtype=float))
        numbers = range(first_run, first_run + runs)
        prepared = self._prepare(truth)
        readings = (self._realise(prepared, run_seed(self._seed, run)) for run in numbers)
        return _collect(readings, parts, runs)

    def _prepare(self, truth: ImuTruth) -> Any:
        """Return the state that all runs of a batch share."""
        return truth

    @abstractmethod
    def _realise(self, prepared: Any, seed: np.random.SeedSequence) -> ImuReading:
        """Return the reading of one run of a batch, with all quantities, shape (samples, ...)."""

    def new_samples(self, samples: int) -> np.ndarray:
        """Return a mask of the samples in a batch that are new samples of the sensor.

        Parameters
        ----------
        samples : int
            Number of samples.

        Returns
        -------
        ndarray of bool, shape (samples,)
            True for a new sample, False for a repetition.
        """
        return np.ones(samples, dtype=bool)

    def magnetic_covariance(self) -> Covariance:
        """Return the covariance of a magnetometer reading.

        Returns
        -------
        tuple of float
            Nine elements, row by row [T^2]; zero means unknown.
        """
        return diagonal((0.0, 0.0, 0.0))

    @abstractmethod
    def covariances(self) -> tuple[Covariance, Covariance, Covariance]:
        """Return the covariances of orientation, angular velocity and specific force to publish."""


# Largest parameter in SI units: sensor errors are smaller, and squares of parameters stay finite.
LARGEST_PARAMETER = 1e6


def checked_parameter(name, value, **bounds):
    """Check that a parameter of an IMU model is a number within bounds.

    Parameters
    ----------
    name : str
        Name of the parameter in messages.
    value : object
        Value to check.
    **bounds
        Bounds of :func:`.check_number`.

    Returns
    -------
    float
        The value.

    Raises
    ------
    ConfigurationError
        If the value is not a number, or is out of bounds.
    """
    return check_number(f"The IMU's {name}", value, maximum=LARGEST_PARAMETER, **bounds)
