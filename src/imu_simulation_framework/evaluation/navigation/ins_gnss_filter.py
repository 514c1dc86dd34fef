r"""A loosely coupled filter for INS and GNSS, closed loop, of many runs at once.

An extended Kalman filter of 15 error states in the Earth's axes (Groves: Principles of GNSS,
Inertial, and Multisensor Integrated Navigation Systems, 2nd edition, chapter 14): from one fix to
the next the navigator runs freely (:mod:`.mechanisation`), its covariance follows
(:mod:`.error_dynamics`),

.. math:: P^- = \Phi (P + \tfrac12 Q) \Phi^T + \tfrac12 Q'

(3.46), with the noise in the axes that the IMU has at the beginning and at the end, and with a fix
(:mod:`.aiding`) the innovation :math:`\delta z` gives

.. math::

    S = H P^- H^T + R, \quad K = P^- H^T S^{-1}, \quad \delta x = K \delta z, \quad
    P = (I - K H) P^- (I - K H)^T + K R K^T,

(3.21, 3.24, and the covariance in Joseph's form), by which the navigator is corrected at once.

Scale factors and misalignments p, of the covariance :math:`P_p`, are no states, but their part in
the errors is reckoned with, as by Schmidt (Jazwinski: Stochastic Processes and Filtering Theory,
section 8.4): with their influence :math:`\Gamma` on a stretch and the covariance X of states and
them

.. math::

    P^- \mathrel{+}= \Phi X \Gamma^T + \Gamma X^T \Phi^T + \Gamma P_p \Gamma^T, \quad
    X^- = \Phi X + \Gamma P_p, \quad X = (I - K H) X^- .
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.evaluation.navigation.aiding import (
    MEASUREMENTS,
    LeverArm,
    antenna_matrix,
    corrected,
)
from imu_simulation_framework.evaluation.navigation.error_dynamics import (
    ACCELEROMETER_BIAS,
    ATTITUDE,
    CONSIDERED,
    GYROSCOPE_BIAS,
    POSITION,
    STATES,
    VELOCITY,
    influence,
    process_noise,
    transition,
)
from imu_simulation_framework.evaluation.navigation.mechanisation import NavigationState, navigate
from imu_simulation_framework.evaluation.navigation.tuning import FilterTuning
from imu_simulation_framework.motion.earth.ellipsoid import geodetic_of
from imu_simulation_framework.motion.earth.frames import enu_to_ecef, ned_to_ecef
from imu_simulation_framework.sensors.gnss.earth_fixes import EarthFixes

_OFF_SAMPLE = 1e-3
"""By what share of a sample's period a fix may be beside it."""


class Navigation(NamedTuple):
    """What a filter made of r runs, at the k fixes, with each of them used.

    ``time`` (k,) [s]; ``position`` (r, k, 3) [m] and ``velocity`` (r, k, 3) [m/s] in ECEF;
    ``attitude`` (r, k, 3, 3) from the IMU's axes to ECEF; ``accelerometer_bias`` (r, k, 3)
    [m/s^2]; ``gyroscope_bias`` (r, k, 3) [rad/s]; ``covariance`` (r, k, 15, 15) of the errors
    (:mod:`.error_dynamics`); ``innovation`` (r, k, 6), position and velocity in ECEF [m; m/s], not
    a number without a fix; ``squared_innovation`` (r, k): the innovation's square in units of its
    own covariance S, NIS.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    attitude: np.ndarray
    accelerometer_bias: np.ndarray
    gyroscope_bias: np.ndarray
    covariance: np.ndarray
    innovation: np.ndarray
    squared_innovation: np.ndarray


def initial_state(
    position: ArrayLike, velocity: ArrayLike, orientation: ArrayLike, errors: ArrayLike
) -> NavigationState:
    """Return where navigators begin that do not quite know where they are.

    Parameters
    ----------
    position, velocity : array_like, shape (3,)
        The true ones, in ECEF [m; m/s].
    orientation : array_like, shape (4,)
        The true one, from the IMU's axes to ECEF; a quaternion x, y, z, w.
    errors : array_like, shape (r, 9)
        Of r runs, estimate less truth: turn [rad], velocity [m/s] and position [m] about and along
        north, east, down (:meth:`.InitialUncertainty.draw`).
    """
    position, errors = np.asarray(position, dtype=float), np.atleast_2d(errors)
    local = ned_to_ecef(*geodetic_of(position)[:2])
    turn, velocity_error, position_error = np.split(errors, 3, axis=1)
    attitude = Rotation.from_rotvec(local.apply(turn)) * Rotation.from_quat(orientation)
    nothing = np.zeros((len(errors), 3))
    return NavigationState(
        position + local.apply(position_error),
        np.asarray(velocity, dtype=float) + local.apply(velocity_error),
        attitude.as_matrix(),
        nothing,
        nothing,
    )


def initial_covariance(position: np.ndarray, tuning: FilterTuning) -> np.ndarray:
    """Return covariances (r, 15, 15) at the beginning, at places (r, 3) in ECEF [m]."""
    latitude, longitude, _ = geodetic_of(position).T
    local = ned_to_ecef(latitude, longitude).as_matrix()
    covariance = np.zeros((len(position), STATES, STATES))
    for part, sigmas in zip((ATTITUDE, VELOCITY, POSITION), np.split(tuning.initial.sigmas, 3)):
        covariance[:, part, part] = (local * sigmas**2) @ local.swapaxes(1, 2)
    covariance[:, ACCELEROMETER_BIAS, ACCELEROMETER_BIAS] = np.diag(tuning.accelerometer_bias) ** 2
    covariance[:, GYROSCOPE_BIAS, GYROSCOPE_BIAS] = np.diag(tuning.gyroscope_bias) ** 2
    return covariance


def run_filter(
    start: NavigationState,
    time: np.ndarray,
    delta_theta: np.ndarray,
    delta_velocity: np.ndarray,
    fixes: EarthFixes,
    tuning: FilterTuning,
    lever_arm: LeverArm | None = None,
) -> Navigation:
    """Return what a navigator makes of an IMU's increments and a receiver's fixes.

    Parameters
    ----------
    start : NavigationState
        Of r runs, at the first time.
    time : ndarray, shape (n,)
        Evenly spaced [s].
    delta_theta : ndarray, shape (r, n, 3)
        Rotations over the period that ends at each time, with the sensor's errors [rad]; the first
        one is not used.
    delta_velocity : ndarray, shape (r, n, 3)
        [m/s]
    fixes : EarthFixes
        Of r runs, or of one for all.
    tuning : FilterTuning
        What the filter knows of the IMU.
    lever_arm : LeverArm, optional
        By default the antenna is where the IMU is, or is taken to be.

    Raises
    ------
    MotionError
        A fix is not at the time of a sample, or outside them, or the shapes do not fit.
    """
    runs = len(start.position)
    _check(runs, time, delta_theta, delta_velocity, fixes, lever_arm)
    period = (time[-1] - time[0]) / (len(time) - 1)
    at = _samples_of(fixes.time, time, period)
    nothing = np.zeros(3)
    covariance = initial_covariance(start.position, tuning)
    made = _empty(runs, fixes.time)
    shared = np.zeros((runs, STATES, CONSIDERED))
    state, last = start, 0
    rate = (delta_theta[:, 1] / period) - start.gyroscope_bias
    for fix, sample in enumerate(at):
        if sample > last:
            window = slice(last + 1, sample + 1)
            attitude = state.attitude
            state, stretch = navigate(
                state, delta_theta[:, window], delta_velocity[:, window], period
            )
            covariance, shared = _propagated(
                covariance, shared, stretch, (attitude, state.attitude), state, tuning
            )
            rate, last = stretch.last_rate, sample
        arm = nothing if lever_arm is None else lever_arm.arm[fix]
        arm_rate = nothing if lever_arm is None else lever_arm.rate[fix]
        antenna, matrix = antenna_matrix(state, rate, arm, arm_rate)
        measured, variances = fixes.at(fix)
        variances = _as_tuned(variances, tuning)
        innovation = measured - antenna
        noise_of_fix = _in_ecef(variances, state.position)
        noise_of_fix[:, 3:, 3:] += _swing_noise(tuning, arm, period)
        state, covariance, shared, squared = _updated(
            state, covariance, shared, innovation, matrix, noise_of_fix
        )
        made.innovation[:, fix], made.squared_innovation[:, fix] = innovation, squared
        made.covariance[:, fix] = covariance
        for name in NavigationState._fields:
            getattr(made, name)[:, fix] = getattr(state, name)
    return made


def _propagated(covariance, shared, stretch, attitudes, state, tuning):
    """Return the covariance at the end of a stretch, that with what is considered likewise."""
    step, considered = transition(state, stretch), influence(stretch)
    before, after = (process_noise(one, stretch.duration, tuning) for one in attitudes)
    covariance = step @ (covariance + 0.5 * before) @ step.swapaxes(1, 2) + 0.5 * after
    variances = tuning.considered_variances
    if not np.any(variances):
        return covariance, shared
    carried = step @ shared
    more = (carried + 0.5 * considered * variances) @ considered.swapaxes(1, 2)
    return covariance + more + more.swapaxes(1, 2), carried + considered * variances


def _updated(state, covariance, shared, innovation, matrix, noise):
    """Return state, both covariances and squared innovation after a fix, if there is one."""
    known = np.all(np.isfinite(innovation), axis=1)
    filled = np.where(known[:, np.newaxis], innovation, 0.0)
    noise = np.where(known[:, np.newaxis, np.newaxis], noise, np.eye(MEASUREMENTS))
    seen = matrix @ covariance
    spread = seen @ matrix.swapaxes(1, 2) + noise
    solved = np.linalg.solve(spread, np.concatenate([seen, filled[..., np.newaxis]], axis=2))
    gain = solved[..., :STATES].swapaxes(1, 2) * known[:, np.newaxis, np.newaxis]
    squared = np.einsum("ri,ri->r", filled, solved[..., STATES])
    state = corrected(state, np.einsum("rij,rj->ri", gain, filled))
    left = np.eye(STATES) - gain @ matrix
    covariance = left @ covariance @ left.swapaxes(1, 2) + gain @ noise @ gain.swapaxes(1, 2)
    return state, covariance, left @ shared, np.where(known, squared, np.nan)


def _in_ecef(variances, position):
    """Return covariances (r, 6, 6) in ECEF of variances (r or 1, 6) along east, north, up."""
    latitude, longitude, _ = geodetic_of(position).T
    turn = enu_to_ecef(latitude, longitude).as_matrix()
    covariance = np.zeros((len(position), MEASUREMENTS, MEASUREMENTS))
    for part in (slice(0, 3), slice(3, 6)):
        covariance[:, part, part] = (turn * variances[:, np.newaxis, part]) @ turn.swapaxes(1, 2)
    return covariance


def _as_tuned(variances, tuning):
    """Return variances (r, 6) with those that the tuning has in place of the receiver's."""
    known = np.array(variances)
    for noise, part in ((tuning.position_noise, slice(0, 3)), (tuning.velocity_noise, slice(3, 6))):
        if noise is not None:
            known[:, part] = noise**2
    return known


def _swing_noise(tuning, arm, period):
    """Return what the gyroscope's noise makes of an antenna's velocity, (3, 3) [m^2/s^2].

    The angular velocity at a fix is extrapolated from two samples, with 2.5 times their variance.
    """
    variance = 2.5 * np.mean(np.square(tuning.gyroscope_noise)) / period
    return variance * np.dot(arm, arm) * np.eye(3)


def _empty(runs, time):
    def made(*shape):
        return np.empty((runs, len(time), *shape))

    return Navigation(
        time=np.asarray(time, dtype=float),
        position=made(3),
        velocity=made(3),
        attitude=made(3, 3),
        accelerometer_bias=made(3),
        gyroscope_bias=made(3),
        covariance=made(STATES, STATES),
        innovation=made(MEASUREMENTS),
        squared_innovation=made(),
    )


def _samples_of(times, time, period):
    """Return at which samples fixes are, (k,) of int."""
    place = (np.asarray(times) - time[0]) / period
    at = np.rint(place).astype(int)
    if len(at) == 0:
        return at
    off = float(np.max(np.abs(place - at)))
    if off > _OFF_SAMPLE or at[0] < 0 or at[-1] >= len(time) or np.any(np.diff(at) <= 0):
        raise MotionError(
            f"fixes must be at times of the IMU's samples, which are {period:g} s apart from "
            f"{time[0]:g} s to {time[-1]:g} s, one after the other; they are from {times[0]:g} s "
            f"to {times[-1]:g} s and up to {off:.2g} periods beside samples"
        )
    return at


def _check(runs, time, delta_theta, delta_velocity, fixes, lever_arm):
    expected = (runs, len(time), 3)
    for name, values in (("delta_theta", delta_theta), ("delta_velocity", delta_velocity)):
        if np.shape(values) != expected or len(time) < 2:
            raise MotionError(
                f"{name} has the shape {np.shape(values)}, expected {expected} for {runs} runs "
                f"and {len(time)} times, at least two"
            )
        if not np.all(np.isfinite(values)):
            raise MotionError(f"{name} holds a value that is not finite")
    if len(fixes.position) not in (1, runs):
        raise MotionError(f"there are fixes of {len(fixes.position)} runs, expected 1 or {runs}")
    if lever_arm is not None and any(
        np.shape(values) != (len(fixes.time), 3) for values in lever_arm
    ):
        raise MotionError(
            f"a lever arm has the shapes {np.shape(lever_arm.arm)} and {np.shape(lever_arm.rate)}, "
            f"expected {(len(fixes.time), 3)} as there are so many fixes"
        )
