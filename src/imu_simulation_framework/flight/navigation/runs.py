r"""Many runs of a navigator on one motion, their errors, and their consistency.

With the errors e of n states and their covariance P, as the filter says it, the normalised
squared error :math:`e^T P^{-1} e` (NEES) of a consistent filter has a :math:`\chi^2` distribution
of n degrees of freedom, and so has the squared innovation in units of its own covariance (NIS) of
the number of measurements. The mean over r independent runs, times r, has one of r n (Bar-Shalom,
Li and Kirubarajan: Estimation with Applications to Tracking and Navigation, section 5.4.2).
Innovations of different times are independent, too, so NIS may be averaged over all; errors are
not, so NEES has bounds at each time.
"""

from __future__ import annotations

from typing import NamedTuple, Sequence, Union

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
"""Of the heading [rad], of the position [m] and of the velocity [m/s] north, east and down."""


class NavigationErrors(NamedTuple):
    """Estimate less truth, of r runs at k fixes.

    ``time`` (k,) [s]; ``attitude`` (r, k, 3): the turn that leads from the true attitude to the
    estimated one, about north, east and down [rad]; about down is the error of the heading;
    ``velocity`` (r, k, 3) [m/s] and ``position`` (r, k, 3) [m] along north, east and down;
    ``states`` (r, k, 9 or 15): the errors as :mod:`.filter` has them, in ECEF, with those
    of the biases if these are known.
    """

    time: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray
    position: np.ndarray
    states: np.ndarray

    def rmse(self, begin: float = 0.0) -> pd.DataFrame:
        """Return root mean squares over time, of each run; columns :data:`RMSE_COLUMNS`.

        ``begin``: fixes before that time after the first one are left out [s].
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
    """Return by how much navigators are wrong.

    ``navigation``: of r runs at k fixes. ``motion``: the IMU's true one, which has samples at the
    times of the fixes. ``accelerometer_bias``, ``gyroscope_bias`` (r, k, 3): the true ones [m/s^2;
    rad/s], where they are known and nothing else is wrong with the IMU. Raises MotionError if the
    motion has no samples at the times of the fixes.
    """
    period = motion.period
    at = np.rint((navigation.time - motion.time[0]) / period).astype(int)
    within = at.size == 0 or (at[0] >= 0 and at[-1] < len(motion))
    if not (within and np.allclose(motion.time[at], navigation.time, rtol=0.0, atol=1e-3 * period)):
        raise MotionError("the true motion has no samples at the times of the fixes")
    runs, fixes = navigation.position.shape[:2]
    latitude, longitude, _ = motion.latitude_longitude_height[at].T
    to_local = ned_to_ecef(latitude, longitude).as_matrix().swapaxes(1, 2)
    true = Rotation.from_quat(motion.orientation[at]).as_matrix()
    difference = navigation.attitude @ true.swapaxes(1, 2)
    turn = Rotation.from_matrix(difference.reshape(-1, 3, 3)).as_rotvec().reshape(runs, fixes, 3)
    velocity = navigation.velocity - motion.velocity[at]
    position = navigation.position - motion.position[at]
    parts = [turn, velocity, position]
    if accelerometer_bias is not None and gyroscope_bias is not None:
        parts.append(accelerometer_bias - navigation.accelerometer_bias)
        parts.append(gyroscope_bias - navigation.gyroscope_bias)
    attitude, speed, place = ((to_local @ part[..., np.newaxis])[..., 0] for part in parts[:3])
    return NavigationErrors(navigation.time, attitude, speed, place, np.concatenate(parts, axis=2))


PROBABILITY = 0.95


def mean_bounds(degrees: int, count: int, probability: float = PROBABILITY) -> tuple[float, float]:
    """Return between which values the mean of chi-square numbers is.

    ``degrees``: degrees of freedom of each. ``count``: how many independent ones there are.
    ``probability``: two-sided.
    """
    from scipy.stats import chi2

    tail = 0.5 * (1.0 - probability)
    low, high = chi2.ppf([tail, 1.0 - tail], degrees * count) / count
    return float(low), float(high)


class Consistency(NamedTuple):
    """How a filter's errors compare with what it says of them.

    ``time`` (k,) [s]; ``nees`` (k,), mean over the runs of the normalised squared error, and
    ``nis`` (k,) of the innovation, not a number where no run has a fix; ``degrees`` of NEES;
    ``nees_bounds``, ``nis_bounds``: of such a mean, two-sided; ``nees_within``, ``nis_within``:
    shares of the times that are within; ``mean_nees``; ``mean_nis``, over runs and times, and
    ``mean_nis_bounds``.
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
    """Return how the errors of many runs compare with what the filter says of them.

    ``errors``: of the same runs and times, with the biases' errors or without. ``begin``: fixes
    before that time after the first one are left out [s]. Raises
    EnsembleError if there is no fix after the beginning, or the filter takes a state for exact.
    """
    used = navigation.time >= navigation.time[0] + begin
    states = errors.states[:, used]
    degrees = states.shape[-1]
    nis = navigation.squared_innovation[:, used]
    if not np.any(np.isfinite(nis)):
        raise EnsembleError(f"there is no fix after {begin:g} s by which a filter could be judged")
    covariance = navigation.covariance[:, used, :degrees, :degrees]
    try:
        solved = np.linalg.solve(covariance, states[..., np.newaxis])[..., 0]
    except np.linalg.LinAlgError:
        raise EnsembleError(
            "the filter takes a state for exact, as with a receiver without noise, so that its "
            "errors cannot be compared with what it says of them"
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
        nees_within=_share(nees, nees_bounds),
        nis_within=_share(nis_over_runs[count == runs], nis_bounds),
        mean_nees=float(np.mean(nees)),
        mean_nis=float(np.sum(sums) / np.sum(count)),
        mean_nis_bounds=mean_bounds(MEASUREMENTS, int(np.sum(count))),
    )


def _share(values: np.ndarray, bounds: tuple[float, float]) -> float:
    if len(values) == 0:
        return float("nan")
    return float(np.mean((values >= bounds[0]) & (values <= bounds[1])))


_AT_ONCE = 10  # runs whose readings are in memory with all their parts
_ROUNDING = 1e-6  # s
_IMU, _GNSS, _START = range(3)  # children of the seed
_SIGNALS = ("angular_velocity", "specific_force")
_PARTS = (*_SIGNALS, *(f"{name}_bias" for name in _SIGNALS))

Imus = Union[ImuSpecification, Sequence[ImuSpecification]]
"""One for all runs, or one for each."""


class ImuRuns(NamedTuple):
    """What the IMUs of r runs say, as increments.

    ``time`` (n,) [s]; ``delta_theta`` (r, n, 3) [rad] and ``delta_velocity`` (r, n, 3) [m/s] over
    the period that ends at each; ``gyroscope_error`` (r, n, 3) [rad/s] and ``accelerometer_error``
    (r, n, 3) [m/s^2]: what is wrong with the readings apart from white noise.
    """

    time: np.ndarray
    delta_theta: np.ndarray
    delta_velocity: np.ndarray
    gyroscope_error: np.ndarray
    accelerometer_error: np.ndarray


class NavigatedRuns(NamedTuple):
    """``navigation`` and its ``errors``, of the same runs, and the ``tuning`` that was used."""

    navigation: Navigation
    errors: NavigationErrors
    tuning: FilterTuning

    def rmse(self, begin: float = 0.0) -> pd.DataFrame:
        """Return root mean squares over time, of each run; see :meth:`.NavigationErrors.rmse`."""
        return self.errors.rmse(begin)

    def consistency(self, begin: float = 0.0, biases: bool | None = None) -> Consistency:
        """Return how the errors compare with what the filter says of them.

        ``begin``: fixes before that time after the first one are left out [s]. ``biases``: whether
        the errors of the biases count beside those of attitude, velocity and position. By default
        if these are all that the filter takes to be wrong with the IMU: scale factors are a part of
        what looks like a bias.
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
    """Return what IMUs with errors say of a motion on the Earth, as increments.

    ``motion``: of the IMU itself, evenly sampled. ``imus``: a slower sensor than the motion gives
    fewer samples. ``seed``: of all runs. A run has the same numbers whatever others there are.
    Raises MotionError if the motion is not evenly sampled. Raises ConfigurationError if there is
    neither one IMU nor as many as runs, or their rates differ or do not go with the motion's.
    """
    specifications = [imus] * runs if isinstance(imus, ImuSpecification) else list(imus)
    if len(specifications) != runs:
        raise ConfigurationError(f"there are {len(specifications)} IMUs, expected 1 or {runs}")
    rate, force = motion.means()
    truth = ImuTruth(motion.orientation, rate, force)
    begin, blocks, times = 0, [], None
    while begin < runs:
        # As many as have the same errors.
        end = begin + 1
        while end < min(runs, begin + _AT_ONCE) and specifications[end] is specifications[begin]:
            end += 1
        model = imu_model(specifications[begin], motion.period, seed)
        reading = model.batch(truth, end - begin, first_run + begin, _PARTS)
        new = np.flatnonzero(model.new_samples(len(motion)))
        if times is not None and not np.array_equal(times, motion.time[new]):
            raise ConfigurationError("the IMUs of the runs must have one rate")
        times = motion.time[new]
        period = np.mean(np.diff(times)) if len(times) > 1 else motion.period
        scales = (period, period, 1.0, 1.0)
        blocks.append(
            [getattr(reading, part)[:, new] * scale for part, scale in zip(_PARTS, scales)]
        )
        begin = end
    if times is None:
        raise ConfigurationError("there must be at least one run")
    return ImuRuns(times, *(np.concatenate(parts) for parts in zip(*blocks)))


def lever_arm_between(imu: EarthMotion, antenna: EarthMotion, time: ArrayLike) -> LeverArm:
    """Return where an antenna is as seen from an IMU, as one who knows both motions knows it.

    ``imu``, ``antenna``: with the same times. ``time`` (k,): some of them [s]. Raises MotionError
    if the motions have other times.
    """
    if len(imu) != len(antenna) or not np.allclose(imu.time, antenna.time, rtol=0.0, atol=1e-9):
        raise MotionError("the motions of IMU and antenna must have the same times")
    at = np.rint((np.asarray(time) - imu.time[0]) / imu.period).astype(int)
    to_imu = Rotation.from_quat(imu.orientation[at]).inv()
    arm = to_imu.apply(antenna.position[at] - imu.position[at])
    turning = imu.angular_velocity[at] - to_imu.apply((0.0, 0.0, EARTH_RATE))
    velocity = to_imu.apply(antenna.velocity[at] - imu.velocity[at])
    return LeverArm(arm, velocity - np.cross(turning, arm))


@accept_names(imus=read_imu_specification, gnss=read_gnss_specification)
def navigate_runs(
    motion: EarthMotion,
    imus: Imus,
    gnss: GnssSpecification,
    runs: int = 50,
    seed: int | np.random.SeedSequence = 1,
    first_run: int = 0,
    airframe: EarthMotion | None = None,
    compensated: bool = True,
    tuning: FilterTuning | None = None,
    initial_errors: ArrayLike | None = None,
) -> NavigatedRuns:
    """Return how well a navigator with these sensors knows where it is.

    The runs differ in the noise of IMU and receiver, in the errors at the beginning, and in the
    IMU's errors if these are given for each.

    ``motion`` (EarthMotion): of the IMU, evenly sampled. ``gnss`` (GnssSpecification): its lever
    arm is where the antenna is on the airframe. ``seed`` (int or numpy.random.SeedSequence): of all
    runs. A run has the same numbers whatever others there are, and the same on any motion with as
    many samples. ``airframe`` (EarthMotion): what the antenna is fixed to, with the times of the
    motion; by default what the IMU is fixed to. ``compensated``: whether the filter knows where the
    antenna is, else it takes it to be where the IMU is. ``tuning`` (FilterTuning): by default that
    of the first IMU (:func:`.tuning_of`). ``initial_errors`` (9,) or (r, 9): as
    :func:`.initial_state` takes them; by default they are drawn from the tuning's. Raises
    MotionError, ConfigurationError as :func:`simulate_increments`, :func:`.simulate_earth_fixes`
    and :func:`.run_filter`.
    """
    first = imus if isinstance(imus, ImuSpecification) else imus[0]
    tuning = tuning_of(first) if tuning is None else tuning
    carrier = motion if airframe is None else airframe
    fixes = simulate_earth_fixes(carrier, gnss, runs, child_seed(seed, _GNSS), first_run)
    said = simulate_increments(motion, imus, runs, child_seed(seed, _IMU), first_run)
    # A slower sensor may begin later and end earlier.
    begin = int(np.argmin(np.abs(motion.time - said.time[0])))
    fixes = fixes.between(said.time[0] - _ROUNDING, said.time[-1] + _ROUNDING)
    if initial_errors is None:
        initial_errors = tuning.initial.draw(runs, child_seed(seed, _START), first_run)
    errors = np.array(np.broadcast_to(initial_errors, (runs, 9)), dtype=float)
    arm = None
    if compensated and (airframe is not None or np.any(gnss.lever_arm)):
        arm = lever_arm_between(motion, mount_antenna(carrier, gnss), fixes.time)
    start = initial_state(
        motion.position[begin], motion.velocity[begin], motion.orientation[begin], errors
    )
    navigation = run_filter(
        start, said.time, said.delta_theta, said.delta_velocity, fixes, tuning, arm
    )
    period = said.time[1] - said.time[0]
    at = np.rint((fixes.time - said.time[0]) / period).astype(int)
    return NavigatedRuns(
        navigation,
        navigation_errors(
            navigation, motion, said.accelerometer_error[:, at], said.gyroscope_error[:, at]
        ),
        tuning,
    )
