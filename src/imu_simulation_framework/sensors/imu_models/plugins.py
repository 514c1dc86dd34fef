r"""IMU models by name, including emulations of the generic and Hector's plug-in for Gazebo.

- ``ideal``: no errors.
- ``generic``: Gazebo's ``libgazebo_ros_imu_sensor.so``. White noise ``gaussian_noise`` (0.00215,
  tuned to a BNO055) on each component of the quaternion and on each axis of gyroscope and
  accelerometer; no drift.
- ``hector``, ``hector_slow``: Hector's ``libhector_gazebo_ros_imu.so``. True orientation, rotated
  by a drifting yaw bias and by a tilt due to the accelerometer's bias. ``yaw_drift`` is 0.5 rad at
  0.005 Hz, or 1.118 rad at 0.001 Hz, both tuned to a BNO055.
- ``specification``: real sensor with standard parameters. The orientation is fused from gyroscope
  and accelerometer without a yaw reference, as in the IMU mode of a BNO055.

A model is either stepped sample by sample in a simulator, or run over a complete drive many times
at once; both yield the same output for the same random numbers. The emulations behave like the
plug-ins.

In each step of length dt, Hector's plug-in changes its drift as follows (hector_gazebo_plugins,
sensor_model.h):

.. math:: d_k = e^{-f dt} d_{k-1} + dt \, \sqrt{2 f} \, \sigma \, w_k, \qquad w_k \sim N(0, 1).

A first-order Gauss-Markov process with standard deviation sigma would have the innovation
``sqrt(1 - exp(-2 f dt)) sigma``, about ``sqrt(2 f dt) sigma``. The plug-in multiplies by dt instead
of sqrt(dt). Its parameter ``drift`` is therefore not the standard deviation of the drift, which
depends on the sampling rate; :func:`.drift_stationary_std` and :func:`.drift_parameters` convert
between them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Iterable, Mapping, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...core.angles import quaternion_product
from ...core.checks import check_axes
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import Settings, setting
from ..imu_specification import diagonal
from ..noise.processes import recursion
from ..noise.streams import NormalStreams
from .base import (
    SIGNALS,
    DriftFreeReading,
    ImuModel,
    ImuReading,
    ImuTruth,
    checked_parameter,
    checked_parts,
    ideal_reading,
)
from .specification import SpecificationImu, SpecificationParameters


@dataclass(frozen=True)
class IdealParameters:
    """Parameters of the ideal IMU model, which has none."""


class IdealImu(ImuModel):
    """Model of an ideal IMU, without errors."""

    label = "ideal"
    has_magnetometer = True

    def step(self, truth: ImuTruth) -> ImuReading:
        return ideal_reading(truth)

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        return self.step(truth), self.new_samples(len(truth.orientation))

    def batch(
        self, truth: ImuTruth, runs: int = 1, first_run: int = 0, parts: Iterable[str] = SIGNALS
    ) -> ImuReading:
        reading = self._realise(truth, None)
        values = ((name, getattr(reading, name)) for name in checked_parts(parts))
        repeated: dict[str, Any] = {
            name: np.broadcast_to(part, (runs, *np.shape(part))) for name, part in values
        }
        return ImuReading(**repeated)

    def _realise(self, truth: ImuTruth, seed: Any) -> ImuReading:
        return self.step(truth.each(np.asarray))

    def covariances(self) -> tuple[Any, ...]:
        return (diagonal((0.0, 0.0, 0.0)),) * 3


_ORIENTATION, _FORCE, _RATE = slice(0, 4), slice(4, 7), slice(7, 10)


@dataclass(frozen=True)
class GenericParameters(Settings):
    """Error parameter of Gazebo's generic IMU plug-in.

    Parameters
    ----------
    gaussian_noise : float
        Standard deviation of the white noise on each axis of the gyroscope [rad/s] and the
        accelerometer [m/s^2], and on each component of the quaternion. The default was tuned to
        a BNO055.
    """

    gaussian_noise: float = setting(
        0.00215,
        checked_parameter,
        minimum=0.0,
        about="standard deviation of the white noise on each axis of the gyroscope [rad/s] and the "
        "accelerometer [m/s^2], and on each component of the quaternion",
    )


class GenericImu(ImuModel):
    """IMU with the errors of Gazebo's generic plug-in: white noise on all signals, no drift.

    The noise has the same standard deviation on all signals.

    As in the plug-in, the quaternion is not normalised after noise has been added.
    """

    @property
    def label(self) -> str:
        return f"generic_sigma{self.parameters.gaussian_noise:g}"

    def _begin(self, seed: Any) -> None:
        self._numbers = NormalStreams(seed, [self.parameters.gaussian_noise > 0.0] * 10)

    def step(self, truth: ImuTruth) -> ImuReading:
        return self._read(truth, self._numbers.next())

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        samples = len(truth.orientation)
        return self._read(truth, self._numbers.take(samples)), self.new_samples(samples)

    def _realise(self, truth: ImuTruth, seed: Any) -> ImuReading:
        numbers = NormalStreams(seed, [self.parameters.gaussian_noise > 0.0] * 10)
        return self._read(truth, numbers.take(len(truth.orientation)))

    def _read(self, truth: ImuTruth, numbers: np.ndarray) -> ImuReading:
        noise = self.parameters.gaussian_noise * numbers
        return DriftFreeReading(
            orientation=truth.orientation + noise[..., _ORIENTATION],
            angular_velocity=truth.angular_velocity + noise[..., _RATE],
            specific_force=truth.specific_force + noise[..., _FORCE],
        )

    def covariances(self) -> tuple[Any, ...]:
        variance = self.parameters.gaussian_noise**2
        return (diagonal((variance,) * 3),) * 3


class DriftParameters(NamedTuple):
    """Parameters of a drift in Hector's IMU plug-in.

    Parameters
    ----------
    drift : float
        Strength of the drift [unit of the signal].
    drift_frequency : float
        Inverse of the correlation time [1/s; the plug-in calls it Hz].
    """

    drift: float
    drift_frequency: float


def drift_innovation_std(drift: ArrayLike, drift_frequency: ArrayLike, period: float) -> np.ndarray:
    """Compute the standard deviation of the drift innovation per step, ``drift * dt * sqrt(2 f)``.

    Parameters
    ----------
    drift, drift_frequency : array_like
        Parameters of the plug-in, see :class:`DriftParameters`.
    period : float
        Sampling period dt [s].

    Returns
    -------
    ndarray
        Standard deviation [unit of the signal].
    """
    frequency = np.asarray(drift_frequency, dtype=float)
    return np.asarray(drift, dtype=float) * period * np.sqrt(2.0 * frequency)


def drift_stationary_std(drift: ArrayLike, drift_frequency: ArrayLike, period: float) -> np.ndarray:
    """Compute the stationary standard deviation of a drift in Hector's plug-in.

    This is ``drift * dt * sqrt(2 f / (1 - exp(-2 f dt)))``, about ``drift * sqrt(dt)``: the
    standard deviation of the innovation divided by ``sqrt(1 - phi^2)``, as for any first-order
    autoregressive process.

    Parameters
    ----------
    drift, drift_frequency : array_like
        Parameters of the plug-in, see :class:`DriftParameters`; the frequency must be positive.
    period : float
        Sampling period dt [s].

    Returns
    -------
    ndarray
        Standard deviation [unit of the signal].
    """
    frequency = np.asarray(drift_frequency, dtype=float)
    forgotten = -np.expm1(-2.0 * frequency * period)
    return drift_innovation_std(drift, frequency, period) / np.sqrt(forgotten)


def drift_parameters(
    stationary_std: float, correlation_time: float, period: float
) -> DriftParameters:
    """Compute the parameters of Hector's plug-in that yield a desired drift.

    Parameters
    ----------
    stationary_std : float
        Desired stationary standard deviation [unit of the signal].
    correlation_time : float
        Desired correlation time [s].
    period : float
        Sampling period of the plug-in [s].

    Returns
    -------
    DriftParameters

    Raises
    ------
    ConfigurationError
        If a value is not positive.
    """
    names = ("standard deviation", "correlation time", "sample period")
    for name, value in zip(names, (stationary_std, correlation_time, period)):
        if not (np.isfinite(value) and value > 0.0):
            raise ConfigurationError(f"{name} of the drift is {value}, expected a positive number")
    frequency = 1.0 / correlation_time
    drift = stationary_std / float(drift_stationary_std(1.0, frequency, period))
    return DriftParameters(drift, frequency)


# Columns of the drifts, and of the random numbers of a sample: innovations, then white noise.
_HECTOR_FORCE, _HECTOR_RATE, _YAW = slice(0, 3), slice(3, 6), 6
_DRIFTS = slice(0, 7)
_ACCEL_NOISE, _RATE_NOISE = slice(7, 10), slice(10, 13)


@dataclass(frozen=True)
class HectorParameters(Settings):
    """Parameters of Hector's plug-in, with the plug-in's names; each applies to all three axes.

    The defaults of the yaw were tuned to a BNO055; all others are the defaults of the plug-in.

    Parameters
    ----------
    yaw_offset, rate_offset, accel_offset : float
        Constant errors [rad, rad/s, m/s^2].
    yaw_drift, rate_drift, accel_drift : float
        Strengths of the drift [rad, rad/s, m/s^2]; its standard deviation is
        :func:`drift_stationary_std`.
    yaw_drift_frequency, rate_drift_frequency, accel_drift_frequency : float
        Inverse correlation times of the drift [1/s; the plug-in calls it Hz].
    yaw_gaussian_noise, rate_gaussian_noise, accel_gaussian_noise : float
        Standard deviations of the white noise [rad, rad/s, m/s^2]. That of the yaw does not affect
        the orientation; its square is published as a variance.
    rate_scale_error, accel_scale_error : float
        Scale factors of the measured values.
    """

    yaw_offset: float = setting(
        0.0, checked_parameter, unit="rad", about="constant error of the yaw"
    )
    yaw_drift: float = setting(
        0.5,
        checked_parameter,
        minimum=0.0,
        unit="rad",
        about="strength of the drift of the yaw, as the plug-in defines it",
    )
    yaw_drift_frequency: float = setting(
        0.005,
        checked_parameter,
        minimum=0.0,
        unit="Hz",
        about="inverse of the correlation time of the drift of the yaw",
    )
    yaw_gaussian_noise: float = setting(
        0.00215,
        checked_parameter,
        minimum=0.0,
        unit="rad",
        about="standard deviation of the yaw, which is published as a variance and does not "
        "change the orientation",
    )
    rate_offset: float = setting(
        0.0, checked_parameter, unit="rad/s", about="constant error of the gyroscope"
    )
    rate_drift: float = setting(
        0.0,
        checked_parameter,
        minimum=0.0,
        unit="rad/s",
        about="strength of the drift of the gyroscope, as the plug-in defines it",
    )
    rate_drift_frequency: float = setting(
        1.0 / 3600.0,
        checked_parameter,
        minimum=0.0,
        unit="Hz",
        about="inverse of the correlation time of the drift of the gyroscope",
    )
    rate_gaussian_noise: float = setting(
        0.0,
        checked_parameter,
        minimum=0.0,
        unit="rad/s",
        about="standard deviation of the white noise of the gyroscope",
    )
    rate_scale_error: float = setting(
        1.0,
        checked_parameter,
        unit="1",
        about="scale factor of the measured angular velocity",
    )
    accel_offset: float = setting(
        0.0, checked_parameter, unit="m/s^2", about="constant error of the accelerometer"
    )
    accel_drift: float = setting(
        0.0,
        checked_parameter,
        minimum=0.0,
        unit="m/s^2",
        about="strength of the drift of the accelerometer, as the plug-in defines it",
    )
    accel_drift_frequency: float = setting(
        1.0 / 3600.0,
        checked_parameter,
        minimum=0.0,
        unit="Hz",
        about="inverse of the correlation time of the drift of the accelerometer",
    )
    accel_gaussian_noise: float = setting(
        0.0,
        checked_parameter,
        minimum=0.0,
        unit="m/s^2",
        about="standard deviation of the white noise of the accelerometer",
    )
    accel_scale_error: float = setting(
        1.0,
        checked_parameter,
        unit="1",
        about="scale factor of the measured specific force",
    )


class HectorImu(ImuModel):
    """IMU with the errors of Hector's plug-in, including a separate drift of the yaw.

    The orientation is the true orientation, rotated in the world frame by the bias of the yaw and
    by the tilt that an attitude filter would derive from the accelerometer's bias. Errors of the
    gyroscope do not affect it. Bias means offset plus drift, without white noise.

    The plug-in starts its drift from a normal distribution with the standard deviation ``drift``,
    which is ten times too large at 100 Hz. Here, the drift starts at zero, as if the plug-in were
    loaded with zero drift and received its parameters afterwards.
    """

    def _set_up(self) -> None:
        p, period = self.parameters, self.period
        drift = _per_quantity(p.accel_drift, p.rate_drift, p.yaw_drift)
        frequency = _per_quantity(
            p.accel_drift_frequency, p.rate_drift_frequency, p.yaw_drift_frequency
        )
        self._correlation = np.exp(-frequency * period)
        self._innovation_std = drift_innovation_std(drift, frequency, period)
        self._offset = _per_quantity(p.accel_offset, p.rate_offset, p.yaw_offset)
        # The rotation by a tilt, which takes most of the time of a step, is skipped without a tilt.
        self._tilts = p.accel_offset != 0.0 or p.accel_drift != 0.0
        self._random = [
            *(self._innovation_std > 0.0),
            *[p.accel_gaussian_noise > 0.0] * 3,
            *[p.rate_gaussian_noise > 0.0] * 3,
        ]

    @property
    def label(self) -> str:
        p = self.parameters
        label = f"hector_sigma{p.yaw_drift:g}_fd{p.yaw_drift_frequency:g}"
        for field in fields(p):
            value = getattr(p, field.name)
            if field.name not in ("yaw_drift", "yaw_drift_frequency") and value != field.default:
                label += f"_{field.name}{value:g}"
        return label

    def _begin(self, seed: Any) -> None:
        self._drift = np.zeros(7)
        self._numbers = NormalStreams(seed, self._random)

    def set_drift(self, angular_velocity: Any = None, specific_force: Any = None) -> None:
        # SensorModel::reset(value) of the plug-in preserves the offset and sets the drift.
        drift = self._drift.copy()
        if angular_velocity is not None:
            drift[_HECTOR_RATE] = check_axes("angular_velocity", tuple(angular_velocity))
        if specific_force is not None:
            drift[_HECTOR_FORCE] = check_axes("specific_force", tuple(specific_force))
        self._drift = drift
        self._tilts = self._tilts or specific_force is not None

    def step(self, truth: ImuTruth) -> ImuReading:
        numbers = self._numbers.next()
        self._drift = self._correlation * self._drift + self._innovation_std * numbers[_DRIFTS]
        return self._read(truth, self._drift + self._offset, numbers)

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        # Most of the time of a step is call overhead, which does not depend on the number of rows.
        samples = len(truth.orientation)
        numbers = self._numbers.take(samples)
        bias = np.empty((samples, _DRIFTS.stop))
        for row, innovation in zip(bias, self._innovation_std * numbers[:, _DRIFTS]):
            row[:] = self._drift = self._correlation * self._drift + innovation
        return self._read(truth, bias + self._offset, numbers), self.new_samples(samples)

    def _realise(self, truth: ImuTruth, seed: Any) -> ImuReading:
        numbers = NormalStreams(seed, self._random).take(len(truth.orientation))
        bias = np.tile(self._offset, (len(numbers), 1))
        for index in np.flatnonzero(self._innovation_std):
            innovation = self._innovation_std[index] * numbers[:, index]
            bias[:, index] += recursion(self._correlation[index], innovation, 0.0)
        return self._read(truth, bias, numbers)

    def _read(self, truth: ImuTruth, bias: np.ndarray, numbers: np.ndarray) -> ImuReading:
        # The same code computes a single sample and a series.
        p, yaw_bias = self.parameters, bias[..., _YAW]
        force_bias, rate_bias = bias[..., _HECTOR_FORCE], bias[..., _HECTOR_RATE]
        orientation, orientation_bias = self._turn(truth.orientation, force_bias, yaw_bias)
        return ImuReading(
            orientation=orientation,
            angular_velocity=p.rate_scale_error * truth.angular_velocity
            + (rate_bias + p.rate_gaussian_noise * numbers[..., _RATE_NOISE]),
            specific_force=p.accel_scale_error * truth.specific_force
            + (force_bias + p.accel_gaussian_noise * numbers[..., _ACCEL_NOISE]),
            angular_velocity_bias=rate_bias,
            specific_force_bias=force_bias,
            yaw_bias=yaw_bias,
            orientation_bias=orientation_bias,
        )

    def _turn(
        self, orientation: np.ndarray, force_bias: np.ndarray, yaw_bias: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        bias = np.zeros(np.shape(orientation))
        bias[..., 2], bias[..., 3] = np.sin(0.5 * yaw_bias), np.cos(0.5 * yaw_bias)
        if not self._tilts:
            # The result is bitwise identical to that of scipy, whose import takes 27 MB of memory.
            orientation_with_bias = quaternion_product(*_unit(*bias.T), *_unit(*orientation.T))
            return np.stack(_unit(*orientation_with_bias), axis=-1), bias
        from scipy.spatial.transform import Rotation

        true = Rotation.from_quat(orientation)
        # An attitude filter computes a tilt error of a / g from a horizontal accelerometer error a.
        world_tilt = true.apply(force_bias) / self.gravity
        tilt = np.zeros_like(bias)
        tilt[..., 0], tilt[..., 1] = 0.5 * world_tilt[..., 1], -0.5 * world_tilt[..., 0]
        tilt[..., 3] = 1.0
        error = Rotation.from_quat(bias) * Rotation.from_quat(tilt)
        return (error * true).as_quat(), error.as_quat()

    def covariances(self) -> tuple[Any, ...]:
        # The plug-in sets the covariances of gyroscope and accelerometer when it is loaded.
        p = self.parameters
        tilt = (p.accel_gaussian_noise / self.gravity) ** 2
        return (
            diagonal((tilt, tilt, p.yaw_gaussian_noise**2)),
            diagonal((p.rate_gaussian_noise**2,) * 3),
            diagonal((p.accel_gaussian_noise**2,) * 3),
        )


def _unit(x: Any, y: Any, z: Any, w: Any) -> tuple[Any, ...]:
    length = np.sqrt(x * x + y * y + z * z + w * w)
    return x / length, y / length, z / length, w / length


def _per_quantity(accel: float, rate: float, yaw: float) -> np.ndarray:
    return np.array([accel] * 3 + [rate] * 3 + [yaw], dtype=float)


class _Kind(NamedTuple):
    model: type
    parameters: type


class Preset(NamedTuple):
    """IMU model with a named set of parameters that differ from its defaults.

    Attributes
    ----------
    model : str
        Key of ``IMU_MODELS``.
    parameters : mapping of str to object
        Parameters that differ, by name.
    """

    model: str
    parameters: Mapping[str, Any]


IMU_MODELS = {
    "ideal": _Kind(IdealImu, IdealParameters),
    "generic": _Kind(GenericImu, GenericParameters),
    "hector": _Kind(HectorImu, HectorParameters),
    "specification": _Kind(SpecificationImu, SpecificationParameters),
}

# Named sets of parameters: the defaults of each model, and others.
PRESETS = {
    **{name: Preset(name, {}) for name in IMU_MODELS},
    # The slower of the two drifts that were tuned to a BNO055.
    "hector_slow": Preset("hector", {"yaw_drift": 1.118, "yaw_drift_frequency": 0.001}),
}


def make_imu_model(
    name: str, parameters: Mapping[str, Any], period: float, seed: Any = 0
) -> ImuModel:
    """Create the IMU model of a given preset.

    Parameters
    ----------
    name : str
        Key of ``PRESETS``: a model, or a named set of its parameters.
    parameters : mapping of str to object
        Parameters that differ from those of the preset, by field.
    period : float
        Sampling period [s].
    seed : int or numpy.random.SeedSequence
        Seed of all runs.

    Returns
    -------
    ImuModel

    Raises
    ------
    ConfigurationError
        If the name or a parameter is unknown, or a value is out of range.
    """
    if name not in PRESETS:
        raise ConfigurationError(
            f"IMU model is {quote(name)}, expected one of {', '.join(sorted(PRESETS))}"
        )
    preset = PRESETS[name]
    kind = IMU_MODELS[preset.model]
    known = [field.name for field in fields(kind.parameters)]
    for key in parameters:
        if key not in known:
            raise ConfigurationError(
                f"parameter {quote(key)} of the IMU model {name} is unknown, expected "
                + (f"one of {', '.join(known)}" if known else "none")
            )
    return kind.model(kind.parameters(**{**preset.parameters, **parameters}), period, seed)
