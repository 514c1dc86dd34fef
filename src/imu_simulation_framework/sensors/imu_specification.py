"""The errors of an IMU in standard, continuous-time units, and what it gives out.

Per axis, as in IEEE Std 952 and in Allan analysis; densities are two-sided, that is, with
N = 1 the variance of samples at the rate f is f. At the averaging time tau the Allan deviation is

====================  ================================== =====================================
``quantisation``      Q [rad; m/s]                       ``sqrt(3) Q / tau``
``white_noise``       N [rad/s/sqrt(Hz); m/s^2/sqrt(Hz)] ``N / sqrt(tau)``
``bias_instability``  B [rad/s; m/s^2]                   ``sqrt(2 ln 2 / pi) B = 0.664 B``
``random_walk``       K [rad/s^2/sqrt(Hz); m/s^3/...]    ``K sqrt(tau / 3)``
``rate_ramp``         R [rad/s^2; m/s^3]                 ``R tau / sqrt(2)``
====================  ================================== =====================================

The first unit is the gyroscope's, the second the accelerometer's. What turns these numbers into
samples is in :mod:`imu_simulation_framework.sensors.noise.processes` and
:mod:`imu_simulation_framework.sensors.imu_models.specification`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace
from typing import Any, Tuple

import numpy as np

from ..core.errors import ConfigurationError
from ..core.sentences import quote
from ..core.settings import (
    Axes,
    Matrix,
    Settings,
    check_axes,
    check_band,
    check_choice,
    check_flag,
    check_matrix,
    declared,
)
from ..core.units import STANDARD_GRAVITY
from .conditions import BandLimit, SupplyVoltage, TemperatureProfile, Vibration
from .noise.streams import child_generator, run_seed
from .triads import TRIADS

Covariance = Tuple[float, ...]
"""Nine numbers, row by row."""

ORIENTATION_REFERENCES = ("fusion", "truth")
GYROSCOPE_FILTERS = ("mahony", "vqf")
FILTERS = (*GYROSCOPE_FILTERS, "compass")
BNO055_MODES = ("IMU", "COMPASS", "M4G", "NDOF_FMC_OFF", "NDOF")
"""By the data sheet's names; see :mod:`.sensors.imu_models.bno055_modes`."""

_TOPIC = re.compile(r"[~/]?[A-Za-z0-9_][A-Za-z0-9_./:-]{0,199}")


def is_topic(text: str) -> bool:
    """Whether a text may be a topic's name, in ROS or in Gazebo."""
    return _TOPIC.fullmatch(text) is not None


def _checked_topic(name: str, value: Any) -> str:
    if not (isinstance(value, str) and is_topic(value)):
        raise ConfigurationError(
            f"{name} is {quote(value)}, but it must be the name of a topic, as /imu/data."
        )
    return value


@dataclass(frozen=True)
class OutputSpecification(Settings):
    """What the sensor gives out, and how it gets its orientation.

    Parameters
    ----------
    rate : float
        Samples per second [Hz]. Where the simulation is slower, it has the simulation's rate.
    start_offset, random_start_offset : float
        Time from the simulation's first sample to the sensor's [s], and what the seed may add to
        it, evenly between zero and this.
    drop_repeated : bool
        Where the simulation is faster than the sensor: whether the samples between two readings
        are left out, or repeat the last reading.
    repeat_samples : bool
        Where the simulation is slower than the sensor: whether each sample is emitted as often as
        the sensor would, with the same time stamp, or once.
    orientation_reference : str
        ``fusion``: orientation from the sensor's own readings, without a reference for the yaw
        unless there is a ``magnetic_heading``.
        ``truth``: the true orientation.
    filter : str
        Of the fusion: ``mahony``, complementary, or ``vqf``. ``compass`` has no gyroscope, only
        accelerometer and magnetometer; its yaw starts as the true one unless there is a
        ``magnetic_heading``.
    filter_time_constant : float
        How fast the accelerometer corrects the tilt [s]; of ``compass`` how late it is.
    filter_rate_bias : bool
        Whether the filter estimates the gyroscope's bias as well: ``mahony`` about the horizontal
        axes, at rest and in gentle motion, ``vqf`` at rest about all; with a magnetic heading both
        about all.
    magnetic_heading : bool
        Whether the magnetometer is the yaw's reference.
    magnetic_time_constant : float
        How fast the magnetometer corrects the yaw [s].
    magnetic_disturbance_rejection : bool
        Whether the filter leaves out readings of a field that is not as strong or steep as before
        (:mod:`.sensors.fusion.magnetic_heading`).
    magnetic_declination : float
        What the sensor is told of where magnetic north is: the angle from the world's y axis, which
        is north, clockwise to it [rad]. With 0 the yaw is that to magnetic east.
    topic : str
        Of its messages at whoever states the parameters, which conversions keep; empty for none.
        Nothing is published on it here.
    bno055_mode : str
        One of :data:`BNO055_MODES`, as which the sensor says how far it is calibrated
        (:class:`.Bno055Calibration`); empty for a sensor that does not. It changes no reading.
    """

    rate: float = declared(100.0, above=0.0, unit="Hz")
    start_offset: float = declared(0.0, minimum=0.0, unit="s")
    drop_repeated: bool = declared(False, check_flag)
    orientation_reference: str = declared("fusion", check_choice, choices=ORIENTATION_REFERENCES)
    filter: str = declared("mahony", check_choice, choices=FILTERS)
    filter_time_constant: float = declared(3.0, above=0.0, unit="s")
    filter_rate_bias: bool = declared(False, check_flag)
    magnetic_heading: bool = declared(False, check_flag)
    magnetic_time_constant: float = declared(9.0, above=0.0, unit="s")
    magnetic_disturbance_rejection: bool = declared(False, check_flag)
    magnetic_declination: float = declared(0.0, maximum=math.pi, unit="rad")
    topic: str = declared("", _checked_topic)
    random_start_offset: float = declared(0.0, minimum=0.0, unit="s")
    repeat_samples: bool = declared(False, check_flag)
    bno055_mode: str = declared("", check_choice, choices=("", *BNO055_MODES))

    def __post_init__(self) -> None:
        super().__post_init__()
        needs_gyroscope = self.filter_rate_bias or self.magnetic_disturbance_rejection
        if self.filter == "compass" and needs_gyroscope:
            raise ConfigurationError(
                "filter is compass, which has no gyroscope: it can neither estimate its bias nor "
                "do without a disturbed field."
            )
        if self.magnetic_disturbance_rejection and not self.magnetic_heading:
            raise ConfigurationError(
                "magnetic_disturbance_rejection is true, but without magnetic_heading there is "
                "nothing to reject."
            )

    @property
    def fuses_magnetometer(self) -> bool:
        """Whether the orientation needs a magnetometer."""
        fuses = self.orientation_reference == "fusion"
        return fuses and (self.magnetic_heading or self.filter == "compass")


_ZERO = (0.0, 0.0, 0.0)
_ZERO_MATRIX = (_ZERO, _ZERO, _ZERO)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class TriadSpecification(Settings):
    """Errors of three equal sensors, as three gyroscopes or three accelerometers are.

    Units are [gyroscope; accelerometer], those of other kinds are in :mod:`.sensors.triads`. Three
    numbers are for the axes x, y, z; one number stands for three equal ones. By default there is
    no error.

    Parameters
    ----------
    quantisation : 3 float
        Q, of the angle or velocity increments [rad; m/s].
    white_noise : 3 float
        N, angle or velocity random walk [rad/s/sqrt(Hz); m/s^2/sqrt(Hz)].
    bias_instability : 3 float
        B, flicker noise [rad/s; m/s^2].
    bias_instability_band : 2 float
        Shortest and longest averaging time at which the flicker noise is there [s].
    random_walk : 3 float
        K, rate or acceleration random walk [rad/s^2/sqrt(Hz); m/s^3/sqrt(Hz)].
    rate_ramp : 3 float
        R, steady change; may be negative [rad/s^2; m/s^3].
    gauss_markov_sigma, gauss_markov_time : 3 float
        Stationary standard deviation [rad/s; m/s^2] and correlation time [s] of a first-order
        Gauss-Markov process.
    turn_on_bias, turn_on_bias_sigma : 3 float
        Mean and standard deviation of the bias that a run has from its beginning
        [rad/s; m/s^2].
    scale_factor_and_misalignment : 3 x 3 float
        M in ``(I + M) truth`` [1]: scale factor errors on the diagonal, misalignments [rad] and
        cross-axis sensitivities beside it.
    temperature_bias, temperature_scale_factor : 3 float
        Bias [rad/s/K; m/s^2/K] and scale factor error [1/K] per kelvin away from the reference
        temperature.
    supply_bias, supply_scale_factor : 3 float
        Bias [rad/s/V; m/s^2/V] and scale factor error [1/V] per volt away from the reference
        voltage.
    nonlinearity : 3 float
        Quadratic part of the response, K2 in ``f + K2 f^2`` (IEEE Std 1293)
        [1/(rad/s); 1/(m/s^2)]. Of vibration it rectifies the mean square.
    vibration_rectification : 3 float
        Bias per mean square of the vibration's specific force along the three axes together
        (IEEE Std 1431; data sheets: "vibration rectification") [rad/s/(m/s^2)^2;
        m/s^2/(m/s^2)^2].
    bandwidth : float or None
        Where the sensor's low-pass, a Butterworth filter of second order, lets half of the power
        pass [Hz]; None for none. From half of the rate on it only says what vibration is folded.
    saturation : 3 float or None
        Largest size of a reading [rad/s; m/s^2]; None for no limit.
    resolution : 3 float
        Step of the readings [rad/s; m/s^2]; 0 for none.
    g_sensitivity : 3 x 3 float
        Gyroscope only: angular velocity per specific force [rad/s per m/s^2].
    """

    quantisation: Axes = declared(_ZERO, check_axes, minimum=0.0)
    white_noise: Axes = declared(_ZERO, check_axes, minimum=0.0)
    bias_instability: Axes = declared(_ZERO, check_axes, minimum=0.0)
    bias_instability_band: tuple[float, float] = declared((0.1, 10_000.0), check_band)
    random_walk: Axes = declared(_ZERO, check_axes, minimum=0.0)
    rate_ramp: Axes = declared(_ZERO, check_axes)
    gauss_markov_sigma: Axes = declared(_ZERO, check_axes, minimum=0.0)
    gauss_markov_time: Axes = declared((1000.0, 1000.0, 1000.0), check_axes, above=0.0)
    turn_on_bias: Axes = declared(_ZERO, check_axes)
    turn_on_bias_sigma: Axes = declared(_ZERO, check_axes, minimum=0.0)
    scale_factor_and_misalignment: Matrix = declared(_ZERO_MATRIX, check_matrix)
    temperature_bias: Axes = declared(_ZERO, check_axes)
    temperature_scale_factor: Axes = declared(_ZERO, check_axes)
    supply_bias: Axes = declared(_ZERO, check_axes)
    supply_scale_factor: Axes = declared(_ZERO, check_axes)
    nonlinearity: Axes = declared(_ZERO, check_axes)
    vibration_rectification: Axes = declared(_ZERO, check_axes)
    bandwidth: float | None = declared(None, above=0.0)
    saturation: Axes | None = declared(None, check_axes, above=0.0)
    resolution: Axes = declared(_ZERO, check_axes, minimum=0.0)
    g_sensitivity: Matrix = declared(_ZERO_MATRIX, check_matrix)


def _checked_iron(name: str, value: Any) -> Any:
    matrix = check_matrix(name, value)
    if not np.linalg.cond(matrix) < 1e3:
        raise ConfigurationError(
            f"{name} is singular: of a field in some direction it leaves nothing, as no iron does."
        )
    return matrix


@dataclass(frozen=True)
class MagnetometerSpecification(TriadSpecification):
    """Errors of three equal magnetometers, and the iron that moves with them.

    With the field B where the sensor is, in its axes, it measures ``soft_iron B + hard_iron``, with
    the errors of any triad (Vasconcelos et al., IEEE Transactions on Aerospace and Electronic
    Systems 47, 1293, 2011). By default there is neither iron nor error.

    ``hard_iron`` (3,): field of what is magnetised for good on the robot: magnets of motors, screws
    [T]. ``soft_iron`` (3, 3): what iron on the robot makes of the field around it [1].
    """

    hard_iron: Axes = declared(_ZERO, check_axes, unit="T")
    soft_iron: Matrix = declared(_IDENTITY, _checked_iron, unit="1")


@dataclass(frozen=True)
class UnitVariation(Settings):
    """How units of one part differ from each other; by default they do not.

    ``tolerances``: whether the numbers of a triad's response (:data:`TOLERANCES`) are standard
    deviations from unit to unit; else they are this unit's own. No unit is more than
    :data:`LARGEST_TOLERANCE` of them off. ``white_noise``, ``bias_instability``, ``random_walk``:
    standard deviations, from unit to unit, of the natural logarithms of N, B and K, which are then
    the median unit's.
    """

    tolerances: bool = declared(False, check_flag)
    white_noise: float = declared(0.0, minimum=0.0, maximum=3.0)
    bias_instability: float = declared(0.0, minimum=0.0, maximum=3.0)
    random_walk: float = declared(0.0, minimum=0.0, maximum=3.0)


TOLERANCES = (
    "scale_factor_and_misalignment",
    "g_sensitivity",
    "nonlinearity",
    "vibration_rectification",
    "temperature_bias",
    "temperature_scale_factor",
    "supply_bias",
    "supply_scale_factor",
)
"""Parameters of a triad that differ from unit to unit, of either sign."""
LARGEST_TOLERANCE = 3.0
"""Standard deviations; a data sheet's maximum is taken for so many of them."""


def checked_line(name: str, value: Any, slash: bool = True) -> str:
    """Return a text in one line, which may have a slash or not."""
    line = isinstance(value, str) and value.strip() and value.isprintable()
    if not line or ("/" in value and not slash):
        hint = "" if slash else ", without a slash"
        raise ConfigurationError(
            f"{name} is {quote(value)}, but it must be a text in one line{hint}."
        )
    return value


@dataclass(frozen=True)
class ImuSpecification(Settings):
    """All errors of an IMU.

    ``name``: of the sensor; without a slash, as it becomes part of the names of folders.
    ``magnetometer``: None for an IMU that has none. ``units``: whether it is one unit, or any of a
    part's: of those each run has another one.
    """

    name: str = declared("imu", checked_line, slash=False, always=True)
    gyroscope: TriadSpecification = declared(TriadSpecification(), part=TriadSpecification)
    accelerometer: TriadSpecification = declared(TriadSpecification(), part=TriadSpecification)
    temperature: TemperatureProfile = declared(TemperatureProfile(), part=TemperatureProfile)
    output: OutputSpecification = declared(OutputSpecification(), part=OutputSpecification)
    magnetometer: MagnetometerSpecification | None = declared(None, part=MagnetometerSpecification)
    supply: SupplyVoltage = declared(SupplyVoltage(), part=SupplyVoltage)
    vibration: Vibration = declared(Vibration(), part=Vibration)
    units: UnitVariation = declared(UnitVariation(), part=UnitVariation)

    @property
    def is_any_unit(self) -> bool:
        """Whether it is any unit of a part, none in particular."""
        return self.units != UnitVariation()

    def one_unit(self, seed: np.random.SeedSequence) -> ImuSpecification:
        """Return one unit of the part, drawn by the seed of a run; a unit is what it is."""
        if not self.is_any_unit:
            return self
        random = child_generator(seed, _RESPONSE)
        triads = {}
        for name, triad in ((name, getattr(self, name)) for name in TRIADS):
            if triad is None:
                continue
            changes = {}
            for key in TOLERANCES:
                drawn = random.standard_normal(np.shape(getattr(triad, key)))
                drawn = np.clip(drawn, -LARGEST_TOLERANCE, LARGEST_TOLERANCE)
                if self.units.tolerances:
                    changes[key] = drawn * getattr(triad, key)
            for key in ("white_noise", "bias_instability", "random_walk"):
                factor = math.exp(getattr(self.units, key) * random.standard_normal())
                changes[key] = factor * np.array(getattr(triad, key))
            triads[name] = replace(triad, **changes)
        return replace(self, units=UnitVariation(), **triads)

    def any_unit(self) -> ImuSpecification:
        """Return any unit of the part, whose tolerances are what stands here."""
        return replace(self, units=replace(self.units, tolerances=True))

    def this_unit(self) -> ImuSpecification:
        """Return the unit whose response and noise are exactly what stands here."""
        return replace(self, units=UnitVariation())

    def __post_init__(self) -> None:
        super().__post_init__()
        for needed, why in (
            (self.output.magnetic_heading, "output.magnetic_heading is true"),
            (self.output.fuses_magnetometer, "output.filter is compass"),
        ):
            if needed and self.magnetometer is None:
                raise ConfigurationError(f"{why}, but the specification has no magnetometer.")
        for name, kind in TRIADS.items():
            triad = getattr(self, name)
            if triad and not kind.feels_force and triad.g_sensitivity != _ZERO_MATRIX:
                raise ConfigurationError(
                    f"{name}.g_sensitivity is set, but only a gyroscope has one."
                )

    def covariances(
        self, period: float | None = None, duration: float = 600.0
    ) -> tuple[Covariance, Covariance, Covariance]:
        """Return the covariances to publish with each reading, row by row.

        Those of gyroscope and accelerometer are the variances of what changes from sample to
        sample: white noise ``N^2 / dt``, quantisation ``2 Q^2 / dt^2``, as far as they pass the
        bandwidth, and rounding ``resolution^2 / 12``. Roll and pitch have what passes the filter of
        time constant T, ``N_a^2 / (2 T g^2) + N_g^2 T / 2``, and the uncertainty of the
        accelerometer's bias over g. Yaw without a reference has a variance that grows without end,
        at ``duration`` t ``N^2 t + K^2 t^3 / 3 + (turn-on and Gauss-Markov sigma)^2 t^2``. With a
        magnetic heading of time constant T it is that of an undisturbed field,
        ``N^2 T / 2 + (K^2 t + those sigma^2) T^2 + N_m^2 / (2 T H^2)``, with a level field H of
        20 uT, as in Europe.

        ``period``: between samples, dt [s]; by default 1 / ``output.rate``. ``duration`` [s].
        Returns those of orientation [rad^2], angular velocity [rad^2/s^2] and acceleration
        [m^2/s^4]; all zero means unknown (sensor_msgs/Imu).
        """
        period = 1.0 / self.output.rate if period is None else period
        return (
            diagonal(_orientation_variances(self, duration)),
            diagonal(_sample_variances(self.gyroscope, period)),
            diagonal(_sample_variances(self.accelerometer, period)),
        )

    def magnetic_covariance(self, period: float | None = None) -> Covariance:
        """Return that of the magnetometer [T^2], as :meth:`covariances`; zero without one."""
        period = 1.0 / self.output.rate if period is None else period
        triad = self.magnetometer
        return diagonal(_ZERO if triad is None else _sample_variances(triad, period))


PARTS: dict[str, Any] = {
    key.name: key.metadata["part"] for key in fields(ImuSpecification) if "part" in key.metadata
}
"""Part of a specification -> what its keys are the fields of."""
CONDITIONS = ("temperature", "supply", "vibration")
"""Those of them that say what the sensor is exposed to."""
IMU_TRIADS = tuple(name for name, kind in PARTS.items() if kind is TriadSpecification)
"""The triads that every IMU has; what they measure is in :data:`.triads.TRIADS`."""

_LEVEL_FIELD = 20e-6  # T


def _orientation_variances(specification: ImuSpecification, duration: float) -> Axes:
    """Variances of roll, pitch and yaw [rad^2], the yaw's after a duration [s]."""
    output, magnetometer = specification.output, specification.magnetometer
    if output.orientation_reference == "truth":
        return _ZERO
    names = ("white_noise", "random_walk", "turn_on_bias_sigma", "gauss_markov_sigma")
    noise, walk, turn_on, slow = (np.square(getattr(specification.gyroscope, x)) for x in names)
    force, _, offset, drift = (np.square(getattr(specification.accelerometer, x)) for x in names)
    constant = output.filter_time_constant
    # A turn about x shows on y, and the other way round.
    tilt = (force / (2.0 * constant) + offset + drift)[[1, 0]] / STANDARD_GRAVITY**2
    roll, pitch = (tilt + noise[:2] * constant / 2.0).tolist()
    # The drift of a Gauss-Markov bias is bounded by that of a constant one.
    if output.magnetic_heading and magnetometer is not None:
        constant = output.magnetic_time_constant
        level = max(magnetometer.white_noise[:2]) / _LEVEL_FIELD
        bias = walk * duration + turn_on + slow
        yaw = noise * constant / 2.0 + bias * constant**2 + level**2 / (2.0 * constant)
    else:
        yaw = noise * duration + walk * duration**3 / 3.0 + (turn_on + slow) * duration**2
    return roll, pitch, float(yaw[2])


def _sample_variances(triad: TriadSpecification, period: float) -> Axes:
    """Variances of what changes from sample to sample, for each axis."""
    white_gain, difference_gain = 1.0, 1.0
    if triad.bandwidth is not None and triad.bandwidth < 0.5 / period:
        white_gain, difference_gain = BandLimit(triad.bandwidth, 1.0 / period).noise_gains()
    white = white_gain * np.square(triad.white_noise) / period
    increments = difference_gain * 2.0 * np.square(np.divide(triad.quantisation, period))
    x, y, z = (white + increments + np.square(triad.resolution) / 12.0).tolist()
    return x, y, z


def diagonal(values: Axes) -> Covariance:
    """Return a covariance without correlations, row by row."""
    xx, yy, zz = values
    return (xx, 0.0, 0.0, 0.0, yy, 0.0, 0.0, 0.0, zz)


@dataclass(frozen=True)
class UnitSpread(Settings):
    """How far the response of one unit may be from the truth.

    Each element is drawn evenly between zero and what stands here, which may be negative.

    ``gyroscope``, ``accelerometer`` (3, 3): as ``scale_factor_and_misalignment`` of a triad [1].
    ``g_sensitivity`` (3, 3): the gyroscope's [rad/s per m/s^2].
    """

    gyroscope: Matrix = declared(_ZERO_MATRIX, check_matrix)
    accelerometer: Matrix = declared(_ZERO_MATRIX, check_matrix)
    g_sensitivity: Matrix = declared(_ZERO_MATRIX, check_matrix)


AGISIM_SPREAD = UnitSpread(
    gyroscope=((3e-3, -3e-3, -3e-3), (0.0, 3e-3, 3e-3), (0.0, 0.0, 3e-3)),
    accelerometer=((5e-3, -5e-3, -5e-3), (-5e-3, 5e-3, 5e-3), (-5e-3, 5e-3, 5e-3)),
    g_sensitivity=((1e-5, -1e-5, -1e-5), (-1e-5, 1e-5, 1e-5), (-1e-5, 1e-5, 1e-5)),
)
"""Of the paper on AGISim, table 2, whose axes are forward, right, down: in ours, forward, left, up,
what leads from x to y or z, or back, has the other sign."""


def draw_unit(
    specification: ImuSpecification, spread: UnitSpread, seed: int = 1, run: int = 0
) -> ImuSpecification:
    """Return a specification with a response drawn anew; all else is as it was.

    ``seed``: of all runs. ``run``: which one; it is the same whatever other runs there are.
    """
    random = child_generator(run_seed(seed, run), _RESPONSE)
    matrices = (spread.gyroscope, spread.accelerometer, spread.g_sensitivity)
    of_rate, of_force, g_sensitivity = (np.array(m) * random.random((3, 3)) for m in matrices)
    gyroscope: dict[str, Any] = {
        "scale_factor_and_misalignment": of_rate,
        "g_sensitivity": g_sensitivity,
    }
    accelerometer: dict[str, Any] = {"scale_factor_and_misalignment": of_force}
    return replace(
        specification,
        gyroscope=replace(specification.gyroscope, **gyroscope),
        accelerometer=replace(specification.accelerometer, **accelerometer),
    )


_RESPONSE = 1000  # child of a run's seed, beyond those of the triads, vibration and receivers
