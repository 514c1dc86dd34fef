"""Specification of an IMU: its errors in standard, continuous-time units, and its output.

Errors are stated per axis, as in IEEE Std 952 and in Allan analysis. Densities are two-sided: with
N = 1, the variance of samples at the rate f is f. The Allan deviation at the averaging time tau is

====================  ================================== =====================================
``quantisation``      Q [rad; m/s]                       ``sqrt(3) Q / tau``
``white_noise``       N [rad/s/sqrt(Hz); m/s^2/sqrt(Hz)] ``N / sqrt(tau)``
``bias_instability``  B [rad/s; m/s^2]                   ``sqrt(2 ln 2 / pi) B = 0.664 B``
``random_walk``       K [rad/s^2/sqrt(Hz); m/s^3/...]    ``K sqrt(tau / 3)``
``rate_ramp``         R [rad/s^2; m/s^3]                 ``R tau / sqrt(2)``
====================  ================================== =====================================

The first unit applies to the gyroscope, the second to the accelerometer.
Samples are simulated by :mod:`imu_simulation_framework.sensors.noise.processes` and
:mod:`imu_simulation_framework.sensors.imu_models.specification`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace
from typing import Any, Tuple

import numpy as np

from ..core.checks import Axes, Matrix, check_axes, check_band, check_matrix
from ..core.errors import ConfigurationError
from ..core.sentences import quote
from ..core.settings import Settings, setting
from ..core.units import STANDARD_GRAVITY
from .conditions import BandLimit, SupplyVoltage, TemperatureProfile, Vibration
from .noise.streams import child_generator, run_seed
from .triads import TRIADS

Covariance = Tuple[float, ...]  # elements of a 3 x 3 matrix, row by row

ORIENTATION_REFERENCES = ("fusion", "truth")
GYROSCOPE_FILTERS = ("mahony", "vqf")
FILTERS = (*GYROSCOPE_FILTERS, "compass")
#: Operation modes of the BNO055 by their names in the data sheet, see bno055_modes.py.
BNO055_MODES = ("IMU", "COMPASS", "M4G", "NDOF_FMC_OFF", "NDOF")

_TOPIC = re.compile(r"[~/]?[A-Za-z0-9_][A-Za-z0-9_./:-]{0,199}")


def is_topic(text: str) -> bool:
    """Check whether a string is a valid topic name of ROS or Gazebo.

    Parameters
    ----------
    text : str
        Name to check.

    Returns
    -------
    bool
    """
    return _TOPIC.fullmatch(text) is not None


def _checked_topic(name: str, value: Any) -> str:
    if not (isinstance(value, str) and is_topic(value)):
        raise ConfigurationError(f"{name} is {quote(value)}, expected a topic such as /imu/data")
    return value


@dataclass(frozen=True)
class OutputSpecification(Settings):
    """Output settings of an IMU: its rate, its orientation filter and its topic.

    Parameters
    ----------
    rate : float
        Sampling rate [Hz]. If the simulation is slower, its rate is used.
    start_offset : float
        Time from the simulation's first sample to the sensor's first sample [s].
    random_start_offset : float
        Upper limit of a random addition to ``start_offset``, uniformly distributed from zero [s].
    drop_repeated : bool
        Whether samples of a faster simulation between two readings are dropped; if not, they repeat
        the last reading.
    repeat_samples : bool
        Whether each sample of a slower simulation is repeated at the sensor's rate, with the same
        time stamp; if not, it is output once.
    orientation_reference : str
        ``fusion``: orientation from the sensor's readings, without a reference for the yaw unless
        there is a ``magnetic_heading``. ``truth``: the true orientation.
    filter : str
        Fusion filter: ``mahony`` (complementary) or ``vqf``. ``compass`` uses no gyroscope, only
        accelerometer and magnetometer; its yaw starts at the true yaw unless there is a
        ``magnetic_heading``.
    filter_time_constant : float
        Time constant with which the accelerometer corrects the tilt [s]; for ``compass``, its lag.
    filter_rate_bias : bool
        Whether the filter also estimates the gyroscope's bias: ``mahony`` about the horizontal
        axes, at rest and in gentle motion, ``vqf`` at rest about all axes; with a magnetic heading,
        both about all axes.
    magnetic_heading : bool
        Whether the magnetometer is the reference of the yaw.
    magnetic_time_constant : float
        Time constant with which the magnetometer corrects the yaw [s].
    magnetic_disturbance_rejection : bool
        Whether the filter ignores readings of a field whose strength or dip angle differs from the
        previous field (:mod:`.sensors.fusion.magnetic_heading`).
    magnetic_declination : float
        Declination set in the sensor: angle from the world's y axis, which is north, clockwise to
        magnetic north [rad]. With 0, the yaw is relative to magnetic east.
    topic : str
        Topic of the sensor's messages in another simulator. Conversions preserve it; it is empty if
        there is none. This package does not publish on it.
    bno055_mode : str
        Mode of :data:`BNO055_MODES` in which the sensor reports its calibration status
        (:class:`.Bno055Calibration`); empty for a sensor without such a status. It does not affect
        the readings.
    """

    rate: float = setting(100.0, above=0.0, unit="Hz")
    start_offset: float = setting(0.0, minimum=0.0, unit="s")
    drop_repeated: bool = setting(False)
    orientation_reference: str = setting("fusion", choices=ORIENTATION_REFERENCES)
    filter: str = setting("mahony", choices=FILTERS)
    filter_time_constant: float = setting(3.0, above=0.0, unit="s")
    filter_rate_bias: bool = setting(False)
    magnetic_heading: bool = setting(False)
    magnetic_time_constant: float = setting(9.0, above=0.0, unit="s")
    magnetic_disturbance_rejection: bool = setting(False)
    magnetic_declination: float = setting(0.0, maximum=math.pi, unit="rad")
    topic: str = setting("", _checked_topic)
    random_start_offset: float = setting(0.0, minimum=0.0, unit="s")
    repeat_samples: bool = setting(False)
    bno055_mode: str = setting("", choices=("", *BNO055_MODES))

    def __post_init__(self) -> None:
        super().__post_init__()
        needs_gyroscope = self.filter_rate_bias or self.magnetic_disturbance_rejection
        if self.filter == "compass" and needs_gyroscope:
            raise ConfigurationError(
                "filter is compass, which uses no gyroscope, expected mahony or vqf with "
                "filter_rate_bias or magnetic_disturbance_rejection"
            )
        if self.magnetic_disturbance_rejection and not self.magnetic_heading:
            raise ConfigurationError(
                "magnetic_disturbance_rejection is true without magnetic_heading, expected both"
            )

    @property
    def fuses_magnetometer(self) -> bool:
        """Whether the orientation requires a magnetometer."""
        fuses = self.orientation_reference == "fusion"
        return fuses and (self.magnetic_heading or self.filter == "compass")


_ZERO = (0.0, 0.0, 0.0)
_ZERO_MATRIX = (_ZERO, _ZERO, _ZERO)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class TriadSpecification(Settings):
    """Errors of a triad: three identical sensors, such as three gyroscopes or accelerometers.

    Units are [gyroscope; accelerometer]; units of other triads are in :mod:`.sensors.triads`. Three
    numbers apply to the axes x, y, z; a single number applies to all three. The default is no
    error.

    Parameters
    ----------
    quantisation : 3 float
        Q, quantisation noise of the angle or velocity increments [rad; m/s].
    white_noise : 3 float
        N, angle or velocity random walk [rad/s/sqrt(Hz); m/s^2/sqrt(Hz)].
    bias_instability : 3 float
        B, flicker noise [rad/s; m/s^2].
    bias_instability_band : 2 float
        Shortest and longest averaging time of the flicker noise [s].
    random_walk : 3 float
        K, rate or acceleration random walk [rad/s^2/sqrt(Hz); m/s^3/sqrt(Hz)].
    rate_ramp : 3 float
        R, constant rate of change; may be negative [rad/s^2; m/s^3].
    gauss_markov_sigma, gauss_markov_time : 3 float
        Stationary standard deviation [rad/s; m/s^2] and correlation time [s] of a first-order
        Gauss-Markov process.
    turn_on_bias, turn_on_bias_sigma : 3 float
        Mean and standard deviation of the bias that has a new random value in each run [rad/s;
        m/s^2].
    scale_factor_and_misalignment : 3 x 3 float
        M in ``(I + M) truth`` [1]: scale factor errors on the diagonal, misalignments [rad] and
        cross-axis sensitivities off the diagonal.
    temperature_bias, temperature_scale_factor : 3 float
        Bias [rad/s/K; m/s^2/K] and scale factor error [1/K] per kelvin away from the reference
        temperature.
    supply_bias, supply_scale_factor : 3 float
        Bias [rad/s/V; m/s^2/V] and scale factor error [1/V] per volt away from the reference
        voltage.
    nonlinearity : 3 float
        Quadratic coefficient of the response, K2 in ``f + K2 f^2`` (IEEE Std 1293) [1/(rad/s);
        1/(m/s^2)]. It rectifies the mean square of a vibration.
    vibration_rectification : 3 float
        Bias per mean square of the vibration's specific force, summed over the three axes (IEEE Std
        1431; data sheets: "vibration rectification") [rad/s/(m/s^2)^2; m/s^2/(m/s^2)^2].
    bandwidth : float or None
        Half-power frequency of the sensor's low-pass filter, a second-order Butterworth filter
        [Hz]; None for no filter. Above half of the sampling rate, it only determines which
        vibration is aliased.
    saturation : 3 float or None
        Full scale: largest absolute value of a reading [rad/s; m/s^2]; None for no limit.
    resolution : 3 float
        Step size of the readings [rad/s; m/s^2]; 0 for none.
    g_sensitivity : 3 x 3 float
        Angular velocity per specific force, only for a gyroscope [rad/s per m/s^2].
    """

    quantisation: Axes = setting(_ZERO, check_axes, minimum=0.0)
    white_noise: Axes = setting(_ZERO, check_axes, minimum=0.0)
    bias_instability: Axes = setting(_ZERO, check_axes, minimum=0.0)
    bias_instability_band: tuple[float, float] = setting((0.1, 10_000.0), check_band)
    random_walk: Axes = setting(_ZERO, check_axes, minimum=0.0)
    rate_ramp: Axes = setting(_ZERO, check_axes)
    gauss_markov_sigma: Axes = setting(_ZERO, check_axes, minimum=0.0)
    gauss_markov_time: Axes = setting((1000.0, 1000.0, 1000.0), check_axes, above=0.0)
    turn_on_bias: Axes = setting(_ZERO, check_axes)
    turn_on_bias_sigma: Axes = setting(_ZERO, check_axes, minimum=0.0)
    scale_factor_and_misalignment: Matrix = setting(_ZERO_MATRIX, check_matrix)
    temperature_bias: Axes = setting(_ZERO, check_axes)
    temperature_scale_factor: Axes = setting(_ZERO, check_axes)
    supply_bias: Axes = setting(_ZERO, check_axes)
    supply_scale_factor: Axes = setting(_ZERO, check_axes)
    nonlinearity: Axes = setting(_ZERO, check_axes)
    vibration_rectification: Axes = setting(_ZERO, check_axes)
    bandwidth: float | None = setting(None, above=0.0)
    saturation: Axes | None = setting(None, check_axes, above=0.0)
    resolution: Axes = setting(_ZERO, check_axes, minimum=0.0)
    g_sensitivity: Matrix = setting(_ZERO_MATRIX, check_matrix)


def _checked_iron(name: str, value: Any) -> Any:
    matrix = check_matrix(name, value)
    if not np.linalg.cond(matrix) < 1e3:
        raise ConfigurationError(f"{name} is singular, expected an invertible 3 x 3 matrix")
    return matrix


@dataclass(frozen=True)
class MagnetometerSpecification(TriadSpecification):
    """Errors of a magnetometer triad, and hard and soft iron that moves with it.

    The magnetometer measures ``soft_iron B + hard_iron`` of a field B at the sensor, in its axes,
    with the errors of any triad (Vasconcelos et al., IEEE Transactions on Aerospace and Electronic
    Systems 47, 1293, 2011). The default is neither iron nor error.

    Parameters
    ----------
    hard_iron : 3 float
        Field of permanently magnetised parts of the robot, such as motor magnets [T].
    soft_iron : 3 x 3 float
        Distortion of the field by magnetically soft parts of the robot [1].
    """

    hard_iron: Axes = setting(_ZERO, check_axes, unit="T")
    soft_iron: Matrix = setting(_IDENTITY, _checked_iron, unit="1")


@dataclass(frozen=True)
class UnitVariation(Settings):
    """Differences between individual sensors of the same part number; by default, there are none.

    Parameters
    ----------
    tolerances : bool
        Whether the numbers of a triad's response (:data:`TOLERANCES`) are standard deviations over
        individual sensors; if not, they are the values of this sensor. An individual sensor
        deviates by at most :data:`LARGEST_TOLERANCE` standard deviations.
    white_noise, bias_instability, random_walk : float
        Standard deviations, over individual sensors, of the natural logarithms of N, B and K [1],
        which are then the values of the median sensor.
    """

    tolerances: bool = setting(False)
    white_noise: float = setting(0.0, minimum=0.0, maximum=3.0)
    bias_instability: float = setting(0.0, minimum=0.0, maximum=3.0)
    random_walk: float = setting(0.0, minimum=0.0, maximum=3.0)


#: Parameters of a triad that differ between individual sensors, with either sign.
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
LARGEST_TOLERANCE = 3.0  #: standard deviations; the maximum in a data sheet is assumed to be three


def checked_line(name: str, value: Any, slash: bool = True) -> str:
    """Check that a value is a non-empty text on a single line.

    Parameters
    ----------
    name : str
        Name of the value in messages.
    value : object
        Value to check.
    slash : bool
        Whether the text may contain a slash.

    Returns
    -------
    str

    Raises
    ------
    ConfigurationError
        If the value is not a text, is empty, has several lines, or contains a slash.
    """
    is_line = isinstance(value, str) and value.strip() and value.isprintable()
    if not is_line or ("/" in value and not slash):
        hint = "" if slash else " without a slash"
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected a string on a single line{hint}"
        )
    return value


@dataclass(frozen=True)
class ImuSpecification(Settings):
    """Specification of an IMU: all its errors, its conditions and its output.

    Parameters
    ----------
    name : str
        Name of the sensor, without a slash, since it becomes part of folder names.
    gyroscope, accelerometer : TriadSpecification
        Errors of the two triads that every IMU has.
    temperature : TemperatureProfile
        Temperature of the sensor over time.
    output : OutputSpecification
        Rate, orientation filter and topic.
    magnetometer : MagnetometerSpecification or None
        Errors of the magnetometer; None for an IMU without a magnetometer.
    supply : SupplyVoltage
        Supply voltage over time.
    vibration : Vibration
        Vibration of the sensor while the robot drives.
    units : UnitVariation
        Differences between individual sensors of the same part number. If there are any, each run
        simulates another sensor.
    """

    name: str = setting("imu", checked_line, slash=False, always=True)
    gyroscope: TriadSpecification = setting(TriadSpecification(), part=TriadSpecification)
    accelerometer: TriadSpecification = setting(TriadSpecification(), part=TriadSpecification)
    temperature: TemperatureProfile = setting(TemperatureProfile(), part=TemperatureProfile)
    output: OutputSpecification = setting(OutputSpecification(), part=OutputSpecification)
    magnetometer: MagnetometerSpecification | None = setting(None, part=MagnetometerSpecification)
    supply: SupplyVoltage = setting(SupplyVoltage(), part=SupplyVoltage)
    vibration: Vibration = setting(Vibration(), part=Vibration)
    units: UnitVariation = setting(UnitVariation(), part=UnitVariation)

    @property
    def is_any_unit(self) -> bool:
        """Whether the specification describes a part number rather than an individual sensor."""
        return self.units != UnitVariation()

    def draw_unit(self, seed: np.random.SeedSequence) -> ImuSpecification:
        """Generate the specification of a random individual sensor of this part number.

        Parameters
        ----------
        seed : numpy.random.SeedSequence
            Seed of a run.

        Returns
        -------
        ImuSpecification
            Specification of the sensor; this specification if it already describes an individual
            one.
        """
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
        """Return the specification with random differences between sensors, within its tolerances.

        Returns
        -------
        ImuSpecification
            Specification with random differences between sensors.
        """
        return replace(self, units=replace(self.units, tolerances=True))

    def this_unit(self) -> ImuSpecification:
        """Return the specification of an individual sensor that has exactly these errors.

        Returns
        -------
        ImuSpecification
            Specification without differences between sensors.
        """
        return replace(self, units=UnitVariation())

    def __post_init__(self) -> None:
        super().__post_init__()
        for is_required, cause in (
            (self.output.magnetic_heading, "output.magnetic_heading is true"),
            (self.output.fuses_magnetometer, "output.filter is compass"),
        ):
            if is_required and self.magnetometer is None:
                raise ConfigurationError(
                    f"{cause}, expected a magnetometer section in the specification"
                )
        for name, kind in TRIADS.items():
            triad = getattr(self, name)
            if triad and not kind.is_force_sensitive and triad.g_sensitivity != _ZERO_MATRIX:
                raise ConfigurationError(
                    f"{name}.g_sensitivity is set, but is permitted only for a gyroscope"
                )

    def covariances(
        self, period: float | None = None, duration: float = 600.0
    ) -> tuple[Covariance, Covariance, Covariance]:
        """Compute the covariance matrices that are published with each reading.

        Covariances of gyroscope and accelerometer contain the errors that change from sample to
        sample: white noise ``N^2 / dt`` and quantisation ``2 Q^2 / dt^2``, both as far as they pass
        the bandwidth, and rounding ``resolution^2 / 12``. Roll and pitch contain the errors that
        pass the filter with the time constant T, ``N_a^2 / (2 T g^2) + N_g^2 T / 2``, and the
        uncertainty of the accelerometer's bias divided by g. The variance of a yaw without a
        reference grows without limit; after the duration t it is ``N^2 t + K^2 t^3 / 3 + (turn-on
        and Gauss-Markov sigma)^2 t^2``. With a magnetic heading with the time constant T in an
        undisturbed field, it is ``N^2 T / 2 + (K^2 t + (turn-on and Gauss-Markov sigma)^2) T^2 +
        N_m^2 / (2 T H^2)``, with a horizontal field H of 20 uT, as in Europe.

        Parameters
        ----------
        period : float, optional
            Period between samples, dt [s]; by default 1 / ``output.rate``.
        duration : float
            Duration t [s].

        Returns
        -------
        tuple of 3 Covariance
            Covariances of orientation [rad^2], angular velocity [rad^2/s^2] and specific force
            [m^2/s^4]; all zeros mean unknown (sensor_msgs/Imu).
        """
        period = 1.0 / self.output.rate if period is None else period
        return (
            diagonal(_orientation_variances(self, duration)),
            diagonal(_sample_variances(self.gyroscope, period)),
            diagonal(_sample_variances(self.accelerometer, period)),
        )

    def magnetic_covariance(self, period: float | None = None) -> Covariance:
        """Compute the covariance matrix that is published with each magnetometer reading.

        Parameters
        ----------
        period : float, optional
            Period between samples [s]; by default 1 / ``output.rate``.

        Returns
        -------
        Covariance
            Covariance [T^2]; zero without a magnetometer.
        """
        period = 1.0 / self.output.rate if period is None else period
        triad = self.magnetometer
        return diagonal(_ZERO if triad is None else _sample_variances(triad, period))


#: Class of each section of a specification, by the name of the section.
PARTS: dict[str, Any] = {
    key.name: key.metadata["part"]
    for key in fields(ImuSpecification)
    if key.metadata["part"] is not None
}
CONDITIONS = ("temperature", "supply", "vibration")  # sections on the sensor's environment
# Triads that every IMU has; all kinds of triads are in triads.TRIADS.
IMU_TRIADS = tuple(name for name, kind in PARTS.items() if kind is TriadSpecification)

_HORIZONTAL_FIELD = 20e-6  # T; horizontal component of the Earth's field in Europe


def _orientation_variances(specification: ImuSpecification, duration: float) -> Axes:
    """Compute the error variances of roll, pitch and, after a duration [s], yaw [rad^2]."""
    output, magnetometer = specification.output, specification.magnetometer
    if output.orientation_reference == "truth":
        return _ZERO
    names = ("white_noise", "random_walk", "turn_on_bias_sigma", "gauss_markov_sigma")
    noise, walk, turn_on, slow = (np.square(getattr(specification.gyroscope, x)) for x in names)
    force, _, offset, drift = (np.square(getattr(specification.accelerometer, x)) for x in names)
    time_constant = output.filter_time_constant
    # The accelerometer along x determines the pitch, the accelerometer along y the roll.
    tilt = (force / (2.0 * time_constant) + offset + drift)[[1, 0]] / STANDARD_GRAVITY**2
    roll, pitch = (tilt + noise[:2] * time_constant / 2.0).tolist()
    # The drift due to a Gauss-Markov bias is at most that due to a constant bias.
    if output.magnetic_heading and magnetometer is not None:
        time_constant = output.magnetic_time_constant
        field_noise = max(magnetometer.white_noise[:2]) / _HORIZONTAL_FIELD
        bias = walk * duration + turn_on + slow
        yaw = (
            noise * time_constant / 2.0
            + bias * time_constant**2
            + field_noise**2 / (2.0 * time_constant)
        )
    else:
        yaw = noise * duration + walk * duration**3 / 3.0 + (turn_on + slow) * duration**2
    return roll, pitch, float(yaw[2])


def _sample_variances(triad: TriadSpecification, period: float) -> Axes:
    """Compute the variance of each axis due to errors that change from sample to sample."""
    white_gain, difference_gain = 1.0, 1.0
    if triad.bandwidth is not None and triad.bandwidth < 0.5 / period:
        white_gain, difference_gain = BandLimit(triad.bandwidth, 1.0 / period).noise_gains()
    white = white_gain * np.square(triad.white_noise) / period
    increments = difference_gain * 2.0 * np.square(np.divide(triad.quantisation, period))
    x, y, z = (white + increments + np.square(triad.resolution) / 12.0).tolist()
    return x, y, z


def diagonal(values: Axes) -> Covariance:
    """Return a diagonal 3 x 3 covariance matrix as nine elements.

    Parameters
    ----------
    values : 3 float
        Variances.

    Returns
    -------
    Covariance
        Nine numbers, row by row.
    """
    xx, yy, zz = values
    return (xx, 0.0, 0.0, 0.0, yy, 0.0, 0.0, 0.0, zz)


@dataclass(frozen=True)
class UnitSpread(Settings):
    """Limits of random scale factors, misalignments and g-sensitivities of individual sensors.

    Each element is distributed uniformly between zero and the given value, which may be negative.

    Parameters
    ----------
    gyroscope, accelerometer : 3 x 3 float
        Deviations of ``scale_factor_and_misalignment`` of the triad [1].
    g_sensitivity : 3 x 3 float
        Deviations of the gyroscope's g-sensitivity [rad/s per m/s^2].
    """

    gyroscope: Matrix = setting(_ZERO_MATRIX, check_matrix)
    accelerometer: Matrix = setting(_ZERO_MATRIX, check_matrix)
    g_sensitivity: Matrix = setting(_ZERO_MATRIX, check_matrix)


# Table 2 of the AGISim paper, converted from forward-right-down to forward-left-up axes.
AGISIM_SPREAD = UnitSpread(
    gyroscope=((3e-3, -3e-3, -3e-3), (0.0, 3e-3, 3e-3), (0.0, 0.0, 3e-3)),
    accelerometer=((5e-3, -5e-3, -5e-3), (-5e-3, 5e-3, 5e-3), (-5e-3, 5e-3, 5e-3)),
    g_sensitivity=((1e-5, -1e-5, -1e-5), (-1e-5, 1e-5, 1e-5), (-1e-5, 1e-5, 1e-5)),
)


def draw_unit(
    specification: ImuSpecification, spread: UnitSpread, seed: int = 1, run: int = 0
) -> ImuSpecification:
    """Replace scale factors, misalignments and g-sensitivity of a specification by random values.

    Parameters
    ----------
    specification : ImuSpecification
        Specification whose scale factors, misalignments and g-sensitivity are replaced.
    spread : UnitSpread
        Largest deviations.
    seed : int
        Seed of all runs.
    run : int
        Number of the run; the sensor of a run does not depend on other runs.

    Returns
    -------
    ImuSpecification
    """
    random = child_generator(run_seed(seed, run), _RESPONSE)
    matrices = (spread.gyroscope, spread.accelerometer, spread.g_sensitivity)
    rate_response, force_response, g_sensitivity = (
        np.array(m) * random.random((3, 3)) for m in matrices
    )
    gyroscope: dict[str, Any] = {
        "scale_factor_and_misalignment": rate_response,
        "g_sensitivity": g_sensitivity,
    }
    accelerometer: dict[str, Any] = {"scale_factor_and_misalignment": force_response}
    return replace(
        specification,
        gyroscope=replace(specification.gyroscope, **gyroscope),
        accelerometer=replace(specification.accelerometer, **accelerometer),
    )


_RESPONSE = 1000  # number of the child seed, above those of triads, vibration and receivers
