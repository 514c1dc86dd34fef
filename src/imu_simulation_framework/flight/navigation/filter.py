r"""A loosely coupled filter for INS and GNSS, of 15 states, of many runs at once.

The error is that of attitude, velocity, position, accelerometer bias and gyroscope bias, three
numbers each, as by Groves (Principles of GNSS, Inertial, and Multisensor Integrated Navigation
Systems, 2nd edition, section 14.2.3): with a hat on what is estimated,

.. math::

    \hat C = (I + [\delta\psi]_\times) C, \quad \delta v = \hat v - v, \quad \delta r = \hat r - r,
    \quad \delta b = b - \hat b,

    \dot{\delta\psi} = -\Omega \delta\psi + C (\delta b_g + w_g), \quad
    \dot{\delta v} = -[C f]_\times \delta\psi - 2 \Omega \delta v
    - \frac{2 g}{r_S |r|} r r^T \delta r + C (\delta b_a + w_a), \quad
    \dot{\delta r} = \delta v

(14.48 to 14.50), with the Earth's rate :math:`\Omega`, the gravity g and the geocentric radius
:math:`r_S` at the surface. The transition from one fix to the next is made of the integrals of C
and C f along the way, in which nothing is taken as constant; left out are products with the Earth's
turn from one fix to the next, 4e-5 rad in half a second. So the covariance needs to go no faster
than the fixes come, however much the IMU turns between them.

Scale factors, misalignments and the gyroscope's g-sensitivity are no states: the filter does not
estimate these 27 numbers, but it considers them (:func:`influence`).

A fix is of a receiver beside the IMU, or anywhere on the aircraft. With the lever arm l from the
IMU to the antenna, in the IMU's axes, and its rate of change :math:`\dot l`, which is not 0 where a
gimbal moves one against the other, the antenna is at

.. math::

    r_a = r + C l, \quad v_a = v + C (\omega \times l + \dot l) - \Omega C l

(Groves, 2nd edition, 14.102, with :math:`\dot l` added). Of the innovation, the measurement less
what the estimate makes of it, the errors make

.. math::

    \delta z = \begin{pmatrix}
    [C l]_\times & 0 & -I & 0 & 0 \\
    [C (\omega \times l + \dot l)]_\times - \Omega [C l]_\times & -I & 0 & 0 & C [l]_\times
    \end{pmatrix} \delta x + \mathrm{noise}

(section 14.3.1, and 14.115 without a lever arm).

From one fix to the next the navigator runs freely (:mod:`.mechanisation`), its covariance follows,

.. math:: P^- = \Phi (P + \tfrac12 Q) \Phi^T + \tfrac12 Q'

(3.46), with the noise in the axes that the IMU has at the beginning and at the end, and with a fix
the innovation :math:`\delta z` gives

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
"""Of the states those of attitude, velocity and position."""

CONSIDERED = 27
GYROSCOPE_MATRIX = slice(0, 9)
ACCELEROMETER_MATRIX = slice(9, 18)
G_SENSITIVITY = slice(18, 27)

_EARTH_TURN = np.array([[0.0, -EARTH_RATE, 0.0], [EARTH_RATE, 0.0, 0.0], [0.0, 0.0, 0.0]])
_IDENTITY = np.eye(3)


def transition(state: NavigationState, stretch: Stretch) -> np.ndarray:
    """Return by which matrices (r, 15, 15) errors at a stretch's beginning become those at its end.

    ``state``: at the beginning or at the end, of r runs.
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
    matrix[:, POSITION, ATTITUDE] = -cross_matrix(stretch.way)
    matrix[:, POSITION, VELOCITY] = (_IDENTITY - turn) * duration
    matrix[:, POSITION, POSITION] += 0.5 * duration**2 * gradient
    matrix[:, POSITION, ACCELEROMETER_BIAS] = stretch.rotation_twice
    matrix[:, POSITION, GYROSCOPE_BIAS] = -stretch.tilting_twice
    return matrix


def _gravity_gradient(position):
    """Return how gravity changes with the place, (r, 3, 3) [1/s^2]."""
    distance = np.linalg.norm(position, axis=1)
    gravity = np.linalg.norm(gravity_ecef(position), axis=1)
    # At the heights of aircraft the place's own distance serves for the surface's.
    strength = -2.0 * gravity / distance**3
    return strength[:, np.newaxis, np.newaxis] * (
        position[:, :, np.newaxis] * position[:, np.newaxis, :]
    )


def influence(stretch: Stretch) -> np.ndarray:
    r"""Return what the considered errors make of the states along a stretch, (r, 15, 27).

    An error :math:`\epsilon_{ij}` of the gyroscope's scale factors and misalignments turns the axis
    i by :math:`\epsilon_{ij} \omega_j`, one of its g-sensitivity by :math:`\epsilon_{ij} f_j`, and
    one of the accelerometer's matrix pushes along i with :math:`\epsilon_{ij} f_j`. Their integrals
    are added to the attitude and to the velocity; within the stretch the velocity follows a tilt,
    and the position both, as if they grew evenly.

    The result is (r, 15, 27): by the elements, row by row, of the gyroscope's matrix, of the
    accelerometer's, and of the g-sensitivity.
    """
    runs, duration = len(stretch.velocity), stretch.duration
    matrix = np.zeros((runs, STATES, CONSIDERED))
    fallen = -cross_matrix(stretch.velocity)
    pushed = stretch.force_moment.reshape(runs, 3, 9)
    turned = stretch.rate_moment.reshape(runs, 3, 9)
    for part, angle in ((GYROSCOPE_MATRIX, turned), (G_SENSITIVITY, pushed)):
        matrix[:, ATTITUDE, part] = angle
        matrix[:, VELOCITY, part] = 0.5 * fallen @ angle
        matrix[:, POSITION, part] = duration / 6.0 * fallen @ angle
    matrix[:, VELOCITY, ACCELEROMETER_MATRIX] = pushed
    matrix[:, POSITION, ACCELEROMETER_MATRIX] = 0.5 * duration * pushed
    return matrix


def process_noise(attitude: np.ndarray, duration: float, tuning: FilterTuning) -> np.ndarray:
    """Return the covariance (r, 15, 15) of the noise along a stretch, as if it came all at once.

    In the IMU's axes the white noise of the gyroscope has the density N_g^2, that of the
    accelerometer N_a^2, and the biases walk with K^2 (Groves 14.82).

    ``attitude`` (r, 3, 3): at one end of the stretch. ``duration`` [s].
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
"""Position and velocity."""

_EARTH = np.array([0.0, 0.0, EARTH_RATE])


class LeverArm(NamedTuple):
    """Where the antenna is as seen from the IMU, in the IMU's axes, at k fixes.

    ``arm`` (k, 3) [m], ``rate`` (k, 3), its change in these axes [m/s].
    """

    arm: np.ndarray
    rate: np.ndarray


def antenna_matrix(
    state: NavigationState, rate: np.ndarray, arm: np.ndarray, arm_rate: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where a state has the antenna, and how the innovation depends on its errors.

    ``state``: of r runs. ``rate`` (r, 3): angular velocity against inertial space, in the IMU's
    axes, less the bias [rad/s]. ``arm``, ``arm_rate`` (3,) [m; m/s]. Returns ``antenna`` (r, 6),
    position [m] and velocity [m/s] in ECEF; ``matrix`` (r, 6, 15).
    """
    offset = state.attitude @ arm
    swing = (state.attitude @ (np.cross(rate, arm) + arm_rate)[..., np.newaxis])[..., 0]
    carried = np.cross(_EARTH, offset)
    antenna = np.concatenate([state.position + offset, state.velocity + swing - carried], axis=1)
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
    """Return a state less its estimated errors (r, 15): the loop is closed (14.7 to 14.9)."""
    attitude, velocity, position, accelerometer, gyroscope = np.split(error, 5, axis=1)
    return NavigationState(
        position=state.position - position,
        velocity=state.velocity - velocity,
        attitude=rotation_matrix(-attitude) @ state.attitude,
        accelerometer_bias=state.accelerometer_bias + accelerometer,
        gyroscope_bias=state.gyroscope_bias + gyroscope,
    )


_OFF_SAMPLE = 1e-3  # by what share of a sample's period a fix may be beside it


class Navigation(NamedTuple):
    """What a filter made of r runs, at the k fixes, with each of them used.

    ``time`` (k,) [s]; ``position`` (r, k, 3) [m] and ``velocity`` (r, k, 3) [m/s] in ECEF;
    ``attitude`` (r, k, 3, 3) from the IMU's axes to ECEF; ``accelerometer_bias`` (r, k, 3)
    [m/s^2]; ``gyroscope_bias`` (r, k, 3) [rad/s]; ``covariance`` (r, k, 15, 15) of the errors
    as above; ``innovation`` (r, k, 6), position and velocity in ECEF [m; m/s], not
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

    ``position``, ``velocity`` (3,): the true ones, in ECEF [m; m/s]. ``orientation`` (4,): the true
    one, from the IMU's axes to ECEF; a quaternion x, y, z, w. ``errors`` (r, 9): of r runs,
    estimate less truth: turn [rad], velocity [m/s] and position [m] about and along north, east,
    down (:meth:`.InitialUncertainty.draw`).
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

    ``start`` (NavigationState): of r runs, at the first time. ``time`` (n,): evenly spaced [s].
    ``delta_theta`` (r, n, 3): rotations over the period that ends at each time, with the sensor's
    errors [rad]; the first one is not used. ``delta_velocity`` (r, n, 3) [m/s]. ``fixes``
    (EarthFixes): of r runs, or of one for all. ``tuning`` (FilterTuning): what the filter knows of
    the IMU. ``lever_arm`` (LeverArm): by default the antenna is where the IMU is, or is taken to
    be. Raises MotionError if a fix is not at the time of a sample, or outside them, or the shapes
    do not fit.
    """
    runs = len(start.position)
    _check(runs, time, delta_theta, delta_velocity, fixes, lever_arm)
    period = (time[-1] - time[0]) / (len(time) - 1)
    at = _samples_of(fixes.time, time, period)
    nothing = np.zeros(3)
    covariance = initial_covariance(start.position, tuning)
    shapes = [(3,), (3,), (3, 3), (3,), (3,), (STATES, STATES), (MEASUREMENTS,), ()]
    empty = (np.empty((runs, len(fixes.time), *shape)) for shape in shapes)
    made = Navigation(np.asarray(fixes.time, dtype=float), *empty)
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
        # The angular velocity at a fix is extrapolated from two samples, with 2.5 times their
        # variance; so the gyroscope's noise is in an antenna's velocity.
        variance = 2.5 * np.mean(np.square(tuning.gyroscope_noise)) / period
        noise_of_fix[:, 3:, 3:] += variance * np.dot(arm, arm) * np.eye(3)
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
