"""Many runs of a navigator on one motion: simulated IMU, receiver, filter, and how wrong it is."""

from __future__ import annotations

from typing import NamedTuple, Sequence, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from imu_simulation_framework.errors import ConfigurationError, MotionError
from imu_simulation_framework.evaluation.navigation.aiding import LeverArm
from imu_simulation_framework.evaluation.navigation.consistency import Consistency, consistency
from imu_simulation_framework.evaluation.navigation.error_dynamics import KINEMATIC
from imu_simulation_framework.evaluation.navigation.errors_of_runs import (
    NavigationErrors,
    navigation_errors,
)
from imu_simulation_framework.evaluation.navigation.ins_gnss_filter import (
    Navigation,
    initial_state,
    run_filter,
)
from imu_simulation_framework.evaluation.navigation.tuning import FilterTuning, tuning_of
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.ellipsoid import EARTH_RATE
from imu_simulation_framework.noise.streams import child_seed
from imu_simulation_framework.sensors.gnss.earth_fixes import (
    antenna_on,
    simulate_earth_fixes,
)
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification
from imu_simulation_framework.sensors.imu_models import truth_of
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sensors.simulation import imu_model

_AT_ONCE = 10
"""Runs whose readings are in memory with all their parts."""
_ROUNDING = 1e-6  # s
_IMU, _GNSS, _START = range(3)
"""Children of the seed."""
_PARTS = (
    "angular_velocity",
    "specific_force",
    "angular_velocity_bias",
    "specific_force_bias",
)

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

        Parameters
        ----------
        begin : float
            Fixes before that time after the first one are left out [s].
        biases : bool, optional
            Whether the errors of the biases count beside those of attitude, velocity and position.
            By default if these are all that the filter takes to be wrong with the IMU: scale
            factors are a part of what looks like a bias.
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

    Parameters
    ----------
    motion : EarthMotion
        Of the IMU itself, evenly sampled.
    imus : Imus
        A slower sensor than the motion gives fewer samples.
    runs : int
    seed : int or numpy.random.SeedSequence
        Of all runs. A run has the same numbers whatever others there are.
    first_run : int

    Raises
    ------
    MotionError
        The motion is not evenly sampled.
    ConfigurationError
        There is neither one IMU nor as many as runs, or their rates differ or do not go with the
        motion's.
    """
    specifications = [imus] * runs if isinstance(imus, ImuSpecification) else list(imus)
    if len(specifications) != runs:
        raise ConfigurationError(f"there are {len(specifications)} IMUs, expected 1 or {runs}")
    rate, force = motion.means()
    truth = truth_of(motion.orientation, rate, force)
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

    Parameters
    ----------
    imu, antenna : EarthMotion
        With the same times.
    time : array_like, shape (k,)
        Some of them [s].

    Raises
    ------
    MotionError
        The motions have other times.
    """
    if len(imu) != len(antenna) or not np.allclose(imu.time, antenna.time, rtol=0.0, atol=1e-9):
        raise MotionError("the motions of IMU and antenna must have the same times")
    at = np.rint((np.asarray(time) - imu.time[0]) / imu.period).astype(int)
    to_imu = Rotation.from_quat(imu.orientation[at]).inv()
    arm = to_imu.apply(antenna.position[at] - imu.position[at])
    turning = imu.angular_velocity[at] - to_imu.apply((0.0, 0.0, EARTH_RATE))
    velocity = to_imu.apply(antenna.velocity[at] - imu.velocity[at])
    return LeverArm(arm, velocity - np.cross(turning, arm))


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

    Parameters
    ----------
    motion : EarthMotion
        Of the IMU, evenly sampled.
    imus : Imus
    gnss : GnssSpecification
        Its lever arm is where the antenna is on the airframe.
    runs : int
    seed : int or numpy.random.SeedSequence
        Of all runs. A run has the same numbers whatever others there are, and the same on any
        motion with as many samples.
    first_run : int
    airframe : EarthMotion, optional
        What the antenna is fixed to, with the times of the motion; by default what the IMU is fixed
        to.
    compensated : bool
        Whether the filter knows where the antenna is, else it takes it to be where the IMU is.
    tuning : FilterTuning, optional
        By default that of the first IMU (:func:`.tuning_of`).
    initial_errors : array_like, shape (9,) or (r, 9), optional
        As :func:`.initial_state` takes them; by default they are drawn from the tuning's.

    Raises
    ------
    MotionError, ConfigurationError
        As :func:`simulate_increments`, :func:`.simulate_earth_fixes` and :func:`.run_filter`.
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
        arm = lever_arm_between(motion, antenna_on(carrier, gnss), fixes.time)
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
