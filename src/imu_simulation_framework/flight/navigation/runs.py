r"""Ensembles of navigation runs along a motion, their errors, and the consistency of the filter.

A consistent filter correctly estimates the covariance P of the errors e of n states. The normalised
estimation error squared :math:`e^T P^{-1} e` (NEES) then has a :math:`\chi^2` distribution with n
degrees of freedom. The normalised innovation squared (NIS) has as many degrees of freedom as there
are measurements. The mean over r independent runs, multiplied by r, has r n degrees of freedom
(Bar-Shalom, Li and Kirubarajan: Estimation with Applications to Tracking and Navigation, section
5.4.2). Innovations at different times are independent, so that NIS can be averaged over time.
Errors at different times are correlated, so that the bounds of NEES apply to each time separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Sequence, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ...core.errors import ConfigurationError, EnsembleError, MotionError
from ...core.yaml_files import accept_names
from ...motion.earth import EARTH_RATE
from ...motion.earth_motion import EarthMotion, ned_to_ecef
from ...sensors.files import read_imu_specification
from ...sensors.gnss.receiver import mount_antenna, simulate_earth_fixes
from ...sensors.gnss.specification import GnssSpecification, read_gnss_specification
from ...sensors.imu_models.base import ImuTruth
from ...sensors.imu_specification import ImuSpecification
from ...sensors.noise.streams import child_seed
from ...sensors.simulation import imu_model
from .filter import KINEMATIC, MEASUREMENTS, LeverArm, Navigation, initial_state, run_filter
from .tuning import FilterTuning, tuning_of

RMSE_COLUMNS = (
    "heading",
    *("position_n", "position_e", "position_d"),
    *("velocity_n", "velocity_e", "velocity_d"),
)
"""Columns with the RMS errors of heading [rad], position [m] and velocity [m/s]."""


class NavigationErrors(NamedTuple):
    """Errors of r runs at k fixes, estimate minus true value.

    Attributes
    ----------
    time : ndarray, shape (k,)
        Times of the fixes [s].
    attitude : ndarray, shape (r, k, 3)
        Rotation vector from the true to the estimated attitude about north, east and down [rad].
        The component about down is the heading error.
    velocity, position : ndarray, shape (r, k, 3)
        Errors along north, east and down [m/s] and [m].
    states : ndarray, shape (r, k, 9) or (r, k, 15)
        Errors of the states of :mod:`.filter` in ECEF, including the biases if they are known.
    """

    time: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray
    position: np.ndarray
    states: np.ndarray

    def rmse(self, begin: float = 0.0) -> pd.DataFrame:
        """Return the RMS errors of each run, computed over its fixes.

        Parameters
        ----------
        begin : float
            Start of the evaluation, relative to the first fix [s].

        Returns
        -------
        pandas.DataFrame
            One row per run with the columns :data:`RMSE_COLUMNS`.
        """
        used = self.time >= self.time[0] + begin
        errors = [self.attitude[:, used, 2:], self.position[:, used], self.velocity[:, used]]
        squares = np.mean(np.concatenate(errors, axis=2) ** 2, axis=1)
        index = pd.RangeIndex(len(squares), name="run")
        return pd.DataFrame(np.sqrt(squares), columns=list(RMSE_COLUMNS), index=index)


def navigation_errors(
    navigation: Navigation,
    motion: EarthMotion,
    accelerometer_bias: ArrayLike | None = None,
    gyroscope_bias: ArrayLike | None = None,
) -> NavigationErrors:
    """Compute the errors of navigation runs.

    Parameters
    ----------
    navigation : Navigation
        Estimates of r runs at k fixes.
    motion : EarthMotion
        True motion of the IMU, with samples at the times of the fixes.
    accelerometer_bias, gyroscope_bias : array_like, shape (r, k, 3), optional
        True biases [m/s^2] and [rad/s], if noise is the only other error of the IMU.

    Returns
    -------
    NavigationErrors

    Raises
    ------
    MotionError
        The motion has no samples at the times of the fixes.
    """
    period = motion.period
    index = np.rint((navigation.time - motion.time[0]) / period).astype(int)
    is_in_range = index.size == 0 or (index[0] >= 0 and index[-1] < len(motion))
    if not (
        is_in_range
        and np.allclose(motion.time[index], navigation.time, rtol=0.0, atol=1e-3 * period)
    ):
        raise MotionError("the true motion has no samples at the times of the fixes")
    runs, fixes = navigation.position.shape[:2]
    latitude, longitude, _ = motion.latitude_longitude_height[index].T
    to_local = ned_to_ecef(latitude, longitude).as_matrix().swapaxes(1, 2)
    true = Rotation.from_quat(motion.orientation[index]).as_matrix()
    difference = navigation.attitude @ true.swapaxes(1, 2)
    turn = Rotation.from_matrix(difference.reshape(-1, 3, 3)).as_rotvec().reshape(runs, fixes, 3)
    velocity = navigation.velocity - motion.velocity[index]
    position = navigation.position - motion.position[index]
    parts = [turn, velocity, position]
    if accelerometer_bias is not None and gyroscope_bias is not None:
        parts.append(accelerometer_bias - navigation.accelerometer_bias)
        parts.append(gyroscope_bias - navigation.gyroscope_bias)
    attitude, speed, place = ((to_local @ part[..., np.newaxis])[..., 0] for part in parts[:3])
    return NavigationErrors(navigation.time, attitude, speed, place, np.concatenate(parts, axis=2))


PROBABILITY = 0.95


def mean_bounds(degrees: int, count: int, probability: float = PROBABILITY) -> tuple[float, float]:
    """Return two-sided bounds for the mean of independent chi-square variables.

    Parameters
    ----------
    degrees : int
        Degrees of freedom of each variable.
    count : int
        Number of variables.
    probability : float
        Two-sided probability.

    Returns
    -------
    low, high : float
        Bounds of the mean [1].
    """
    from scipy.stats import chi2

    tail = 0.5 * (1.0 - probability)
    low, high = chi2.ppf([tail, 1.0 - tail], degrees * count) / count
    return float(low), float(high)


class Consistency(NamedTuple):
    """Consistency of the navigation errors with the filter covariance.

    Attributes
    ----------
    time : ndarray, shape (k,)
        Times [s].
    nees, nis : ndarray, shape (k,)
        Means of NEES and NIS over the runs; NIS is NaN if no run has a fix.
    degrees : int
        Degrees of freedom of NEES.
    nees_bounds, nis_bounds : tuple of float
        Two-sided bounds of ``nees`` and ``nis``.
    nees_within, nis_within : float
        Shares of times at which NEES and NIS are within their bounds.
    mean_nees, mean_nis : float
        Means over runs and times.
    mean_nis_bounds : tuple of float
        Two-sided bounds of ``mean_nis``.
    """

    time: np.ndarray
    nees: np.ndarray
    nis: np.ndarray
    degrees: int
    nees_bounds: tuple[float, float]
    nis_bounds: tuple[float, float]
    nees_within: float
    nis_within: float
    mean_nees: float
    mean_nis: float
    mean_nis_bounds: tuple[float, float]


def consistency(
    navigation: Navigation,
    errors: NavigationErrors,
    begin: float = 0.0,
) -> Consistency:
    """Test the navigation errors of an ensemble for consistency with the filter covariance.

    Parameters
    ----------
    navigation : Navigation
        Results of the filter.
    errors : NavigationErrors
        Errors of the same runs and times, with or without biases.
    begin : float
        Start of the evaluation, relative to the first fix [s].

    Returns
    -------
    Consistency

    Raises
    ------
    EnsembleError
        There is no fix after ``begin``, or the filter assumes an exact state.
    """
    used = navigation.time >= navigation.time[0] + begin
    states = errors.states[:, used]
    degrees = states.shape[-1]
    nis = navigation.squared_innovation[:, used]
    if not np.any(np.isfinite(nis)):
        raise EnsembleError(f"the ensemble has no fix after {begin:g} s, expected at least one")
    covariance = navigation.covariance[:, used, :degrees, :degrees]
    try:
        solved = np.linalg.solve(covariance, states[..., np.newaxis])[..., 0]
    except np.linalg.LinAlgError:
        raise EnsembleError(
            "the covariance of the filter is singular, for example because the receiver has no "
            "noise, expected a nonzero uncertainty of each state"
        ) from None
    nees = np.mean(np.sum(states * solved, axis=-1), axis=0)
    known = np.isfinite(nis)
    count = np.sum(known, axis=0)
    sums = np.sum(np.where(known, nis, 0.0), axis=0)
    with np.errstate(invalid="ignore"):
        nis_over_runs = sums / count
    runs = len(nis)
    nees_bounds = mean_bounds(degrees, runs)
    nis_bounds = mean_bounds(MEASUREMENTS, runs)
    return Consistency(
        time=navigation.time[used],
        nees=nees,
        nis=nis_over_runs,
        degrees=degrees,
        nees_bounds=nees_bounds,
        nis_bounds=nis_bounds,
        nees_within=_share_within(nees, nees_bounds),
        nis_within=_share_within(nis_over_runs[count == runs], nis_bounds),
        mean_nees=float(np.mean(nees)),
        mean_nis=float(np.sum(sums) / np.sum(count)),
        mean_nis_bounds=mean_bounds(MEASUREMENTS, int(np.sum(count))),
    )


def _share_within(values: np.ndarray, bounds: tuple[float, float]) -> float:
    if len(values) == 0:
        return float("nan")
    return float(np.mean((values >= bounds[0]) & (values <= bounds[1])))


_RUNS_AT_ONCE = 10  # number of runs whose complete readings are held in memory at a time
_ROUNDING = 1e-6  # s
_IMU, _GNSS, _START = range(3)  # indices of the child seeds of the random numbers
_SIGNALS = ("angular_velocity", "specific_force")
_PARTS = (*_SIGNALS, *(f"{name}_bias" for name in _SIGNALS))

Imus = Union[ImuSpecification, Sequence[ImuSpecification]]
"""IMU specification of all runs, or one specification per run."""


class ImuRuns(NamedTuple):
    """IMU increments of r runs.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Times [s].
    delta_theta, delta_velocity : ndarray, shape (r, n, 3)
        Increments over the period that ends at each time [rad] and [m/s].
    gyroscope_error, accelerometer_error : ndarray, shape (r, n, 3)
        Errors of the readings, without white noise [rad/s] and [m/s^2].
    """

    time: np.ndarray
    delta_theta: np.ndarray
    delta_velocity: np.ndarray
    gyroscope_error: np.ndarray
    accelerometer_error: np.ndarray


class NavigatedRuns(NamedTuple):
    """Estimates and errors of navigation runs, and the filter tuning.

    Attributes
    ----------
    navigation : Navigation
    errors : NavigationErrors
    tuning : FilterTuning
    """

    navigation: Navigation
    errors: NavigationErrors
    tuning: FilterTuning

    def rmse(self, begin: float = 0.0) -> pd.DataFrame:
        """Return the RMS navigation errors of each run.

        Parameters
        ----------
        begin : float, optional
            Start of the evaluation, relative to the first fix [s].

        Returns
        -------
        DataFrame
            Table of :meth:`.NavigationErrors.rmse`.
        """
        return self.errors.rmse(begin)

    def consistency(self, begin: float = 0.0, biases: bool | None = None) -> Consistency:
        """Test the navigation errors for consistency with the filter covariance.

        Parameters
        ----------
        begin : float
            Start of the evaluation, relative to the first fix [s].
        biases : bool, optional
            Whether to include bias errors. By default, they are included unless the filter assumes
            scale factor errors, which would contribute to the apparent bias.

        Returns
        -------
        Consistency
        """
        errors = self.errors
        if biases is None:
            biases = not np.any(self.tuning.considered_variances)
        if not biases:
            errors = errors._replace(states=errors.states[..., :KINEMATIC])
        return consistency(self.navigation, errors, begin)


def simulate_increments(
    motion: EarthMotion,
    imus: Imus,
    runs: int = 1,
    seed: int | np.random.SeedSequence = 1,
    first_run: int = 0,
) -> ImuRuns:
    """Simulate the increments of IMUs along a motion on the Earth.

    Parameters
    ----------
    motion : EarthMotion
        Evenly sampled motion of the IMU.
    imus : ImuSpecification or sequence of ImuSpecification
        IMU of all runs, or one IMU per run. An IMU with a lower rate than the motion has fewer
        samples.
    runs : int
        Number of runs.
    seed : int or numpy.random.SeedSequence
        Seed of all runs; the random numbers of a run do not depend on other runs.
    first_run : int
        Index of the first run.

    Returns
    -------
    ImuRuns

    Raises
    ------
    MotionError
        The motion is not evenly sampled.
    ConfigurationError
        The number of IMUs is neither 1 nor the number of runs, their rates differ, or the rate of
        the motion is not a multiple of their rate.
    """
    specifications = [imus] * runs if isinstance(imus, ImuSpecification) else list(imus)
    if len(specifications) != runs:
        raise ConfigurationError(f"{len(specifications)} IMUs were given, expected 1 or {runs}")
    rate, force = motion.means()
    truth = ImuTruth(motion.orientation, rate, force)
    begin, blocks, times = 0, [], None
    while begin < runs:
        # A batch contains consecutive runs with the same IMU.
        end = begin + 1
        while (
            end < min(runs, begin + _RUNS_AT_ONCE) and specifications[end] is specifications[begin]
        ):
            end += 1
        model = imu_model(specifications[begin], motion.period, seed)
        reading = model.batch(truth, end - begin, first_run + begin, _PARTS)
        new = np.flatnonzero(model.new_samples(len(motion)))
        if times is not None and not np.array_equal(times, motion.time[new]):
            raise ConfigurationError("the IMUs must have the same rate")
        times = motion.time[new]
        period = np.mean(np.diff(times)) if len(times) > 1 else motion.period
        scales = (period, period, 1.0, 1.0)
        blocks.append(
            [getattr(reading, part)[:, new] * scale for part, scale in zip(_PARTS, scales)]
        )
        begin = end
    if times is None:
        raise ConfigurationError(f"runs is {runs}, expected at least 1")
    return ImuRuns(times, *(np.concatenate(parts) for parts in zip(*blocks)))


def lever_arm_between(imu: EarthMotion, antenna: EarthMotion, time: ArrayLike) -> LeverArm:
    """Return the true lever arm from an IMU to an antenna.

    Parameters
    ----------
    imu, antenna : EarthMotion
        Motions with the same times.
    time : array_like, shape (k,)
        Times at which the lever arm is evaluated [s].

    Returns
    -------
    LeverArm

    Raises
    ------
    MotionError
        The times of the motions differ.
    """
    if len(imu) != len(antenna) or not np.allclose(imu.time, antenna.time, rtol=0.0, atol=1e-9):
        raise MotionError("the motions of IMU and antenna must have the same times")
    index = np.rint((np.asarray(time) - imu.time[0]) / imu.period).astype(int)
    to_imu = Rotation.from_quat(imu.orientation[index]).inv()
    arm = to_imu.apply(antenna.position[index] - imu.position[index])
    turning = imu.angular_velocity[index] - to_imu.apply((0.0, 0.0, EARTH_RATE))
    velocity = to_imu.apply(antenna.velocity[index] - imu.velocity[index])
    return LeverArm(arm, velocity - np.cross(turning, arm))


@dataclass(frozen=True)
class NavigationSettings:
    """Settings of an ensemble of navigation runs.

    Parameters
    ----------
    first_run : int, optional
        Index of the first run.
    airframe : EarthMotion, optional
        Motion of the airframe with the antenna, at the times of the IMU motion; by default the
        motion of the IMU.
    compensated : bool, optional
        Whether the filter knows the lever arm of the antenna; if not, it assumes zero.
    tuning : FilterTuning, optional
        Tuning of the filter; by default derived from the first IMU (:func:`.tuning_of`).
    initial_errors : array_like, shape (9,) or (runs, 9), optional
        Errors for :func:`.initial_state`; by default drawn according to the tuning.
    """

    first_run: int = 0
    airframe: EarthMotion | None = None
    compensated: bool = True
    tuning: FilterTuning | None = None
    initial_errors: ArrayLike | None = None


@accept_names(imus=read_imu_specification, gnss=read_gnss_specification)
def navigate_runs(
    motion: EarthMotion,
    imus: Imus,
    gnss: GnssSpecification,
    runs: int = 50,
    seed: int | np.random.SeedSequence = 1,
    **settings: Any,
) -> NavigatedRuns:
    """Simulate an ensemble of navigation runs with an IMU and a GNSS receiver.

    The runs differ in the noise of IMU and receiver, in the initial errors and, if there is one IMU
    per run, in the errors of the IMU.

    Parameters
    ----------
    motion : EarthMotion
        Evenly sampled motion of the IMU.
    imus : ImuSpecification or sequence of ImuSpecification
        IMU of all runs, or one IMU per run.
    gnss : GnssSpecification
        GNSS receiver, whose lever arm is the position of the antenna on the airframe.
    runs : int
        Number of runs.
    seed : int or numpy.random.SeedSequence
        Seed of all runs. The random numbers of a run do not depend on other runs, and are identical
        for all motions with the same number of samples.
    **settings
        Fields of :class:`NavigationSettings`: ``first_run``, ``airframe``, ``compensated``,
        ``tuning``, ``initial_errors``.

    Returns
    -------
    NavigatedRuns

    Raises
    ------
    MotionError, ConfigurationError
        See :func:`simulate_increments`, :func:`.simulate_earth_fixes` and :func:`.run_filter`.
    """
    first = imus if isinstance(imus, ImuSpecification) else imus[0]
    navigation_settings = NavigationSettings(**settings)
    airframe, first_run = navigation_settings.airframe, navigation_settings.first_run
    tuning = tuning_of(first) if navigation_settings.tuning is None else navigation_settings.tuning
    carrier = motion if airframe is None else airframe
    fixes = simulate_earth_fixes(carrier, gnss, runs, child_seed(seed, _GNSS), first_run)
    measured = simulate_increments(motion, imus, runs, child_seed(seed, _IMU), first_run)
    # IMU samples with a lower rate may start later and end earlier than the motion samples.
    begin = int(np.argmin(np.abs(motion.time - measured.time[0])))
    fixes = fixes.between(measured.time[0] - _ROUNDING, measured.time[-1] + _ROUNDING)
    initial_errors = navigation_settings.initial_errors
    if initial_errors is None:
        initial_errors = tuning.initial.draw(runs, child_seed(seed, _START), first_run)
    errors = np.array(np.broadcast_to(initial_errors, (runs, 9)), dtype=float)
    arm = None
    if navigation_settings.compensated and (airframe is not None or np.any(gnss.lever_arm)):
        arm = lever_arm_between(motion, mount_antenna(carrier, gnss), fixes.time)
    start = initial_state(
        motion.position[begin], motion.velocity[begin], motion.orientation[begin], errors
    )
    navigation = run_filter(
        start, measured.time, measured.delta_theta, measured.delta_velocity, fixes, tuning, arm
    )
    period = measured.time[1] - measured.time[0]
    index = np.rint((fixes.time - measured.time[0]) / period).astype(int)
    biases = measured.accelerometer_error[:, index], measured.gyroscope_error[:, index]
    return NavigatedRuns(navigation, navigation_errors(navigation, motion, *biases), tuning)
