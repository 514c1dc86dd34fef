r"""Loosely coupled INS/GNSS error-state Kalman filter with 15 states, for ensembles of runs.

The states are the errors of attitude, velocity, position, accelerometer bias and gyroscope bias,
three components each (Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation
Systems, 2nd edition, section 14.2.3). With a hat for estimated quantities,

.. math::

    \hat C = (I + [\delta\psi]_\times) C, \quad \delta v = \hat v - v, \quad \delta r = \hat r - r,
    \quad \delta b = b - \hat b,

    \dot{\delta\psi} = -\Omega \delta\psi + C (\delta b_g + w_g), \quad
    \dot{\delta v} = -[C f]_\times \delta\psi - 2 \Omega \delta v
    - \frac{2 g}{r_S |r|} r r^T \delta r + C (\delta b_a + w_a), \quad
    \dot{\delta r} = \delta v

(14.48 to 14.50), with the Earth rotation rate :math:`\Omega`, gravity g and the geocentric radius
:math:`r_S` of the surface. The transition between two fixes is computed from the integrals of C and
C f, which are not assumed to be constant. Products with the Earth rotation between two fixes, 4e-5
rad in half a second, are neglected. The covariance is therefore propagated from fix to fix,
regardless of the rotation of the IMU between them.

Scale factors, misalignments and the g-sensitivity of the gyroscope are not states. The filter
considers these 27 parameters without estimating them (:func:`influence`).

The antenna of the receiver can be anywhere on the aircraft. With the lever arm l from the IMU to
the antenna, in IMU axes, and its rate of change :math:`\dot l`, which is nonzero with a moving
gimbal, the position and velocity of the antenna are

.. math::

    r_a = r + C l, \quad v_a = v + C (\omega \times l + \dot l) - \Omega C l

(Groves, 2nd edition, 14.102, with :math:`\dot l` added). The innovation, which is the measurement
minus its prediction, depends on the errors as

.. math::

    \delta z = \begin{pmatrix}
    [C l]_\times & 0 & -I & 0 & 0 \\
    [C (\omega \times l + \dot l)]_\times - \Omega [C l]_\times & -I & 0 & 0 & C [l]_\times
    \end{pmatrix} \delta x + \mathrm{noise}

(section 14.3.1, and 14.115 without a lever arm).

Between two fixes, the mechanisation runs without corrections (:mod:`.mechanisation`), and the
covariance is

.. math:: P^- = \Phi (P + \tfrac12 Q) \Phi^T + \tfrac12 Q'

(3.46), with the noise in the initial and in the final IMU axes. At a fix, the innovation
:math:`\delta z` yields

.. math::

    S = H P^- H^T + R, \quad K = P^- H^T S^{-1}, \quad \delta x = K \delta z, \quad
    P = (I - K H) P^- (I - K H)^T + K R K^T,

(3.21, 3.24, and the covariance in Joseph form), which corrects the state immediately.

The consider parameters p with the covariance :math:`P_p` contribute to the errors as in the
Schmidt-Kalman filter (Jazwinski: Stochastic Processes and Filtering Theory, section 8.4). With
their influence :math:`\Gamma` over an interval, and the covariance X of states and parameters,

.. math::

    P^- \mathrel{+}= \Phi X \Gamma^T + \Gamma X^T \Phi^T + \Gamma P_p \Gamma^T, \quad
    X^- = \Phi X + \Gamma P_p, \quad X = (I - K H) X^- .
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ...core.errors import MotionError
from ...motion.earth import EARTH_RATE, geodetic_of, gravity_ecef
from ...motion.earth_motion import enu_to_ecef, ned_to_ecef
from ...sensors.gnss.receiver import EarthFixes
from .mechanisation import NavigationState, Stretch, cross_matrix, navigate, rotation_matrix
from .tuning import FilterTuning

STATES = 15
ATTITUDE = slice(0, 3)
VELOCITY = slice(3, 6)
POSITION = slice(6, 9)
ACCELEROMETER_BIAS = slice(9, 12)
GYROSCOPE_BIAS = slice(12, 15)
KINEMATIC = 9
"""Number of attitude, velocity and position states."""

CONSIDERED = 27
GYROSCOPE_MATRIX = slice(0, 9)
ACCELEROMETER_MATRIX = slice(9, 18)
G_SENSITIVITY = slice(18, 27)

_EARTH_TURN = np.array([[0.0, -EARTH_RATE, 0.0], [EARTH_RATE, 0.0, 0.0], [0.0, 0.0, 0.0]])
_IDENTITY = np.eye(3)


def transition(state: NavigationState, stretch: Stretch) -> np.ndarray:
    """Return the transition matrices of the error states over an interval.

    Parameters
    ----------
    state : NavigationState
        Initial or final state of r runs.
    stretch : Stretch
        Integrals over the interval.

    Returns
    -------
    ndarray, shape (r, 15, 15)
        Transition matrices.
    """
    matrix = np.zeros((len(state.position), STATES, STATES))
    duration = stretch.duration
    turn = _EARTH_TURN * duration
    gradient = _gravity_gradient(state.position)
    matrix[:, range(STATES), range(STATES)] = 1.0
    matrix[:, ATTITUDE, ATTITUDE] -= turn
    matrix[:, ATTITUDE, GYROSCOPE_BIAS] = stretch.rotation
    matrix[:, VELOCITY, ATTITUDE] = -cross_matrix(stretch.velocity)
    matrix[:, VELOCITY, VELOCITY] -= 2.0 * turn
    matrix[:, VELOCITY, POSITION] = gradient * duration
    matrix[:, VELOCITY, ACCELEROMETER_BIAS] = stretch.rotation
    matrix[:, VELOCITY, GYROSCOPE_BIAS] = -stretch.tilting
    matrix[:, POSITION, ATTITUDE] = -cross_matrix(stretch.displacement)
    matrix[:, POSITION, VELOCITY] = (_IDENTITY - turn) * duration
    matrix[:, POSITION, POSITION] += 0.5 * duration**2 * gradient
    matrix[:, POSITION, ACCELEROMETER_BIAS] = stretch.rotation_twice
    matrix[:, POSITION, GYROSCOPE_BIAS] = -stretch.tilting_twice
    return matrix


def _gravity_gradient(position):
    """Return the gravity gradient, shape (r, 3, 3) [1/s^2]."""
    distance = np.linalg.norm(position, axis=1)
    gravity = np.linalg.norm(gravity_ecef(position), axis=1)
    # At aircraft altitudes, the geocentric distance is close to the radius of the surface.
    strength = -2.0 * gravity / distance**3
    return strength[:, np.newaxis, np.newaxis] * (
        position[:, :, np.newaxis] * position[:, np.newaxis, :]
    )


def influence(stretch: Stretch) -> np.ndarray:
    r"""Return the influence of the consider parameters on the error states over an interval.

    An error :math:`\epsilon_{ij}` in the gyroscope matrix adds :math:`\epsilon_{ij} \omega_j` to
    the rate about axis i, an error in its g-sensitivity adds :math:`\epsilon_{ij} f_j`, and an
    error in the accelerometer matrix adds :math:`\epsilon_{ij} f_j` to the force along axis i. The
    integrals of these errors are added to attitude and velocity. Their effects on velocity and
    position within the interval are approximated by linearly growing errors.

    Parameters
    ----------
    stretch : Stretch
        Integrals over the interval for r runs.

    Returns
    -------
    ndarray, shape (r, 15, 27)
        The columns correspond to the elements, row by row, of the gyroscope matrix, the
        accelerometer matrix and the g-sensitivity.
    """
    runs, duration = len(stretch.velocity), stretch.duration
    matrix = np.zeros((runs, STATES, CONSIDERED))
    velocity_cross = -cross_matrix(stretch.velocity)
    force_moment = stretch.force_moment.reshape(runs, 3, 9)
    rate_moment = stretch.rate_moment.reshape(runs, 3, 9)
    for part, angle in ((GYROSCOPE_MATRIX, rate_moment), (G_SENSITIVITY, force_moment)):
        matrix[:, ATTITUDE, part] = angle
        matrix[:, VELOCITY, part] = 0.5 * velocity_cross @ angle
        matrix[:, POSITION, part] = duration / 6.0 * velocity_cross @ angle
    matrix[:, VELOCITY, ACCELEROMETER_MATRIX] = force_moment
    matrix[:, POSITION, ACCELEROMETER_MATRIX] = 0.5 * duration * force_moment
    return matrix


def process_noise(attitude: np.ndarray, duration: float, tuning: FilterTuning) -> np.ndarray:
    """Return the process noise covariance over an interval, treated as acting at one instant.

    In IMU axes, the power spectral density of the white noise is N_g^2 for the gyroscope and N_a^2
    for the accelerometer, and K^2 for the random walks of the biases (Groves 14.82).

    Parameters
    ----------
    attitude : ndarray, shape (r, 3, 3)
        Attitude at the start or the end of the interval.
    duration : float
        Duration [s].
    tuning : FilterTuning
        Noise densities and random walks.

    Returns
    -------
    ndarray, shape (r, 15, 15)
        Covariances in the SI units of the states.
    """
    noise = np.zeros((len(attitude), STATES, STATES))
    for part, density in (
        (ATTITUDE, tuning.gyroscope_noise),
        (VELOCITY, tuning.accelerometer_noise),
    ):
        noise[:, part, part] = (attitude * np.square(density)) @ attitude.swapaxes(1, 2)
    noise[:, ACCELEROMETER_BIAS, ACCELEROMETER_BIAS] = (
        np.diag(tuning.accelerometer_random_walk) ** 2
    )
    noise[:, GYROSCOPE_BIAS, GYROSCOPE_BIAS] = np.diag(tuning.gyroscope_random_walk) ** 2
    return noise * duration


MEASUREMENTS = 6
"""Number of scalar measurements in a fix: three of position and three of velocity."""

_EARTH = np.array([0.0, 0.0, EARTH_RATE])


class LeverArm(NamedTuple):
    """Lever arm from the IMU to the antenna in IMU axes at k fixes.

    Attributes
    ----------
    arm : ndarray, shape (k, 3)
        Position of the antenna [m].
    rate : ndarray, shape (k, 3)
        Rate of change in IMU axes [m/s].
    """

    arm: np.ndarray
    rate: np.ndarray


def antenna_matrix(
    state: NavigationState, rate: np.ndarray, arm: np.ndarray, arm_rate: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted antenna position and velocity, and the measurement matrix.

    Parameters
    ----------
    state : NavigationState
        State of r runs.
    rate : ndarray, shape (r, 3)
        Angular velocity relative to inertial space in IMU axes, without bias [rad/s].
    arm, arm_rate : ndarray, shape (3,)
        Lever arm [m] and its rate of change [m/s].

    Returns
    -------
    antenna : ndarray, shape (r, 6)
        Position [m] and velocity [m/s] in ECEF.
    matrix : ndarray, shape (r, 6, 15)
        Derivatives of the innovation with respect to the errors.
    """
    offset = state.attitude @ arm
    swing = (state.attitude @ (np.cross(rate, arm) + arm_rate)[..., np.newaxis])[..., 0]
    earth_velocity = np.cross(_EARTH, offset)
    antenna = np.concatenate(
        [state.position + offset, state.velocity + swing - earth_velocity], axis=1
    )
    matrix = np.zeros((len(offset), MEASUREMENTS, STATES))
    matrix[:, :3, POSITION] = -_IDENTITY
    matrix[:, 3:, VELOCITY] = -_IDENTITY
    if np.any(arm) or np.any(arm_rate):
        across = cross_matrix(offset)
        matrix[:, :3, ATTITUDE] = across
        matrix[:, 3:, ATTITUDE] = cross_matrix(swing) - cross_matrix(_EARTH) @ across
        matrix[:, 3:, GYROSCOPE_BIAS] = state.attitude @ cross_matrix(arm)
    return antenna, matrix


def corrected(state: NavigationState, error: np.ndarray) -> NavigationState:
    """Correct a state by its estimated errors (closed-loop correction, Groves 14.7 to 14.9).

    Parameters
    ----------
    state : NavigationState
        State of r runs.
    error : ndarray, shape (r, 15)
        Estimated errors in the SI units of the states.

    Returns
    -------
    NavigationState
        Corrected state.
    """
    attitude, velocity, position, accelerometer, gyroscope = np.split(error, 5, axis=1)
    return NavigationState(
        position=state.position - position,
        velocity=state.velocity - velocity,
        attitude=rotation_matrix(-attitude) @ state.attitude,
        accelerometer_bias=state.accelerometer_bias + accelerometer,
        gyroscope_bias=state.gyroscope_bias + gyroscope,
    )


_MAX_TIME_DIFFERENCE = 1e-3  # largest offset of a fix from its IMU sample, in sampling periods


class Navigation(NamedTuple):
    """Estimates of r runs after each of k fixes.

    Attributes
    ----------
    time : ndarray, shape (k,)
        Times of the fixes [s].
    position, velocity : ndarray, shape (r, k, 3)
        Position [m] and velocity [m/s] in ECEF.
    attitude : ndarray, shape (r, k, 3, 3)
        Rotation matrices from IMU axes to ECEF.
    accelerometer_bias, gyroscope_bias : ndarray, shape (r, k, 3)
        Biases [m/s^2] and [rad/s].
    covariance : ndarray, shape (r, k, 15, 15)
        Covariance of the errors in the order of the states.
    innovation : ndarray, shape (r, k, 6)
        Innovations of position [m] and velocity [m/s] in ECEF; NaN without a fix.
    squared_innovation : ndarray, shape (r, k)
        Normalised innovation squared (NIS).
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
    """Return the initial states of the runs, with initial errors.

    Parameters
    ----------
    position, velocity : array_like, shape (3,)
        True position [m] and velocity [m/s] in ECEF.
    orientation : array_like, shape (4,)
        True orientation from IMU axes to ECEF, a quaternion x, y, z, w.
    errors : array_like, shape (r, 9)
        Errors of r runs, estimate minus true value: rotation [rad], velocity [m/s] and position
        [m], in north, east, down axes (:meth:`.InitialUncertainty.draw`).

    Returns
    -------
    NavigationState
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
    """Return the initial error covariances.

    Parameters
    ----------
    position : ndarray, shape (r, 3)
        Positions in ECEF [m].
    tuning : FilterTuning
        Initial uncertainties.

    Returns
    -------
    ndarray, shape (r, 15, 15)
        Covariances in the SI units of the states.
    """
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
    """Run the filter with IMU increments and GNSS fixes.

    Parameters
    ----------
    start : NavigationState
        State of r runs at the first time.
    time : ndarray, shape (n,)
        Evenly spaced times [s].
    delta_theta, delta_velocity : ndarray, shape (r, n, 3)
        Measured increments over the period that ends at each time [rad] and [m/s]; the first
        increment is not used.
    fixes : EarthFixes
        Fixes of r runs, or of a single run that is used for all runs.
    tuning : FilterTuning
        Noise and uncertainties assumed by the filter.
    lever_arm : LeverArm, optional
        Lever arm of the antenna; by default zero.

    Returns
    -------
    Navigation

    Raises
    ------
    MotionError
        A fix is not at the time of a sample, or the shapes do not match.
    """
    runs = len(start.position)
    _check_inputs(runs, time, delta_theta, delta_velocity, fixes, lever_arm)
    period = (time[-1] - time[0]) / (len(time) - 1)
    fix_samples = _find_samples(fixes.time, time, period)
    no_arm = np.zeros(3)
    covariance = initial_covariance(start.position, tuning)
    shapes = [(3,), (3,), (3, 3), (3,), (3,), (STATES, STATES), (MEASUREMENTS,), ()]
    empty = (np.empty((runs, len(fixes.time), *shape)) for shape in shapes)
    navigation = Navigation(np.asarray(fixes.time, dtype=float), *empty)
    shared = np.zeros((runs, STATES, CONSIDERED))
    state, last = start, 0
    rate = (delta_theta[:, 1] / period) - start.gyroscope_bias
    for fix, sample in enumerate(fix_samples):
        if sample > last:
            window = slice(last + 1, sample + 1)
            attitude = state.attitude
            state, stretch = navigate(
                state, delta_theta[:, window], delta_velocity[:, window], period
            )
            covariance, shared = _propagate(
                covariance, shared, stretch, (attitude, state.attitude), state, tuning
            )
            rate, last = stretch.last_rate, sample
        arm = no_arm if lever_arm is None else lever_arm.arm[fix]
        arm_rate = no_arm if lever_arm is None else lever_arm.rate[fix]
        antenna, matrix = antenna_matrix(state, rate, arm, arm_rate)
        measured, variances = fixes.at(fix)
        variances = _apply_tuned_noise(variances, tuning)
        innovation = measured - antenna
        fix_noise = _rotate_to_ecef(variances, state.position)
        # The angular velocity at a fix is extrapolated from two samples, with 2.5 times the
        # variance of a sample. With a lever arm, its noise adds to the antenna velocity.
        variance = 2.5 * np.mean(np.square(tuning.gyroscope_noise)) / period
        fix_noise[:, 3:, 3:] += variance * np.dot(arm, arm) * np.eye(3)
        state, covariance, shared, squared = _update(
            state, covariance, shared, innovation, matrix, fix_noise
        )
        navigation.innovation[:, fix] = innovation
        navigation.squared_innovation[:, fix] = squared
        navigation.covariance[:, fix] = covariance
        for name in NavigationState._fields:
            getattr(navigation, name)[:, fix] = getattr(state, name)
    return navigation


def _propagate(covariance, shared, stretch, attitudes, state, tuning):
    """Propagate the covariances of error states and consider parameters over an interval."""
    step, considered = transition(state, stretch), influence(stretch)
    first, second = (process_noise(attitude, stretch.duration, tuning) for attitude in attitudes)
    covariance = step @ (covariance + 0.5 * first) @ step.swapaxes(1, 2) + 0.5 * second
    variances = tuning.considered_variances
    if not np.any(variances):
        return covariance, shared
    propagated = step @ shared
    growth = (propagated + 0.5 * considered * variances) @ considered.swapaxes(1, 2)
    return covariance + growth + growth.swapaxes(1, 2), propagated + considered * variances


def _update(state, covariance, shared, innovation, matrix, noise):
    """Return state, both covariances and NIS after a fix; runs without a fix are unchanged."""
    is_measured = np.all(np.isfinite(innovation), axis=1)
    filled = np.where(is_measured[:, np.newaxis], innovation, 0.0)
    noise = np.where(is_measured[:, np.newaxis, np.newaxis], noise, np.eye(MEASUREMENTS))
    cross = matrix @ covariance
    spread = cross @ matrix.swapaxes(1, 2) + noise
    solved = np.linalg.solve(spread, np.concatenate([cross, filled[..., np.newaxis]], axis=2))
    gain = solved[..., :STATES].swapaxes(1, 2) * is_measured[:, np.newaxis, np.newaxis]
    squared = np.einsum("ri,ri->r", filled, solved[..., STATES])
    state = corrected(state, np.einsum("rij,rj->ri", gain, filled))
    residual = np.eye(STATES) - gain @ matrix
    covariance = residual @ covariance @ residual.swapaxes(1, 2) + gain @ noise @ gain.swapaxes(
        1, 2
    )
    return state, covariance, residual @ shared, np.where(is_measured, squared, np.nan)


def _rotate_to_ecef(variances, position):
    """Convert east, north, up variances (r or 1, 6) to covariance matrices (r, 6, 6) in ECEF."""
    latitude, longitude, _ = geodetic_of(position).T
    turn = enu_to_ecef(latitude, longitude).as_matrix()
    covariance = np.zeros((len(position), MEASUREMENTS, MEASUREMENTS))
    for part in (slice(0, 3), slice(3, 6)):
        covariance[:, part, part] = (turn * variances[:, np.newaxis, part]) @ turn.swapaxes(1, 2)
    return covariance


def _apply_tuned_noise(variances, tuning):
    """Replace the variances (r, 6) reported by the receiver with those of the tuning, if any."""
    white_variances = np.array(variances)
    for noise, part in ((tuning.position_noise, slice(0, 3)), (tuning.velocity_noise, slice(3, 6))):
        if noise is not None:
            white_variances[:, part] = noise**2
    return white_variances


def _find_samples(times, time, period):
    """Return the index of the IMU sample at each fix, shape (k,)."""
    positions = (np.asarray(times) - time[0]) / period
    samples = np.rint(positions).astype(int)
    if len(samples) == 0:
        return samples
    difference = float(np.max(np.abs(positions - samples)))
    is_inside = samples[0] >= 0 and samples[-1] < len(time) and np.all(np.diff(samples) > 0)
    if difference > _MAX_TIME_DIFFERENCE or not is_inside:
        raise MotionError(
            f"the fixes are from {times[0]:g} s to {times[-1]:g} s and up to {difference:.2g} "
            "sampling periods away from samples, expected increasing times at IMU samples every "
            f"{period:g} s from {time[0]:g} s to {time[-1]:g} s"
        )
    return samples


def _check_inputs(runs, time, delta_theta, delta_velocity, fixes, lever_arm):
    expected = (runs, len(time), 3)
    for name, values in (("delta_theta", delta_theta), ("delta_velocity", delta_velocity)):
        if np.shape(values) != expected or len(time) < 2:
            raise MotionError(
                f"{name} has the shape {np.shape(values)}, expected {expected} for {runs} runs "
                f"and {len(time)} times, at least two"
            )
        if not np.all(np.isfinite(values)):
            raise MotionError(f"{name} contains a value that is not finite")
    if len(fixes.position) not in (1, runs):
        raise MotionError(f"the fixes have {len(fixes.position)} runs, expected 1 or {runs}")
    if lever_arm is not None and any(
        np.shape(values) != (len(fixes.time), 3) for values in lever_arm
    ):
        raise MotionError(
            f"lever_arm has the shapes {np.shape(lever_arm.arm)} and {np.shape(lever_arm.rate)}, "
            f"expected {(len(fixes.time), 3)}, one row per fix"
        )
