r"""Simulation of the control loop of a stabilised gimbal, sample by sample.

The loop is updated with each sample of the gyroscope, which is on the inner link with the camera.
The attitude is estimated by integrating the gyroscope samples from the true initial attitude,
:math:`\hat q_k = \hat q_{k-1} \exp(y_k T)`. The command to the joints is

.. math:: c_k = J^{-1} (\omega_{t,k} + K_p e_k + i_k), \quad i_{k+1} = i_k + K_i T e_k,
          \quad K_p = 2 \zeta \omega_n, \quad K_i = \omega_n^2,

limited to the maximum servo rates and held until the next sample. Here e is the rotation vector
from the estimated attitude to the target in inner link axes, :math:`\omega_t` is the mean rate of
the target since the previous sample, and J is the Jacobian from joint rates to the rate of the
inner link. While a servo is at a limit, i is set to the value that cancels the platform rate as
measured by gyroscope and joints, :math:`J s - y`, which prevents windup. The servo rate s is a
first-order low-pass of the command, :math:`\dot s = \omega_s (c - s)`, which is integrated exactly.
Without servo and sampling, a platform rate d causes the residual rate
:math:`s^2 / (s^2 + K_p s + K_i) \, d`.

The attitude depends only on the gyroscope, so that a bias b rotates the line of sight by b t. An
outer loop (``aid_time``), for example an image tracker or a navigation filter, corrects
:math:`\hat q` towards the true attitude as :math:`\exp(-t / \tau)`. The remaining error due to the
bias is :math:`b \tau`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core.errors import ConfigurationError
from .stabilisation import NEAR_LOCK, Stabilisation


class Servo(NamedTuple):
    """Exact coefficients of a first-order servo for one period with a constant rate command.

    Attributes
    ----------
    decay : float
        Remaining share of the difference between rate and command.
    rate_gain : float
        Angle change per initial rate [s].
    command_gain : float
        Angle change per commanded rate [s].
    """

    decay: float
    rate_gain: float
    command_gain: float


def servo(stabilisation: Stabilisation, period: float) -> Servo:
    """Return the discrete-time model of the servos.

    Parameters
    ----------
    stabilisation : Stabilisation
        Parameters of the loop.
    period : float
        Sampling period of the gyroscope [s].

    Returns
    -------
    Servo
        Coefficients of the exact discretisation.
    """
    pulsation = 2.0 * math.pi * stabilisation.servo_bandwidth
    decay = math.exp(-pulsation * period)
    rate_gain = -math.expm1(-pulsation * period) / pulsation
    return Servo(decay, rate_gain, period - rate_gain)


def gains(stabilisation: Stabilisation) -> tuple[float, float]:
    """Return the gains of the stabilisation loop.

    Parameters
    ----------
    stabilisation : Stabilisation
        Parameters of the loop.

    Returns
    -------
    proportional, integral : float
        Gains K_p [1/s] and K_i [1/s^2].
    """
    pulsation = 2.0 * math.pi * (stabilisation.bandwidth or 0.0)
    return 2.0 * stabilisation.damping * pulsation, pulsation**2


def transition(stabilisation: Stabilisation, period: float) -> np.ndarray:
    """Return the transition matrix of angle, rate and integral of one axis over one sample.

    The platform is stationary, and the target is zero.

    Parameters
    ----------
    stabilisation : Stabilisation
        Parameters of the loop.
    period : float
        Sampling period of the gyroscope [s].

    Returns
    -------
    ndarray, shape (3, 3)
        Transition matrix.
    """
    decay, rate_gain, command_gain = servo(stabilisation, period)
    proportional, integral = gains(stabilisation)
    command = np.array([-proportional, 0.0, 1.0])
    return np.array(
        [
            np.array([1.0, rate_gain, 0.0]) + command_gain * command,
            np.array([0.0, decay, 0.0]) + (1.0 - decay) * command,
            [-integral * period, 0.0, 1.0],
        ]
    )


def require_stable(stabilisation: Stabilisation, period: float) -> None:
    """Reject stabilisation parameters with which the control loop is unstable.

    Parameters
    ----------
    stabilisation : Stabilisation
        Parameters of the loop.
    period : float
        Sampling period of the gyroscope [s].

    Raises
    ------
    ConfigurationError
        The loop is unstable at this period.
    """
    radius = np.max(np.abs(np.linalg.eigvals(transition(stabilisation, period))))
    if not radius < 1.0:
        raise ConfigurationError(
            f"the loop with a bandwidth of {stabilisation.bandwidth:g} Hz, a servo bandwidth of "
            f"{stabilisation.servo_bandwidth:g} Hz and gyroscope samples every {period:g} s is "
            "unstable; choose a lower bandwidth, faster servos or a higher sampling rate"
        )


SMALL = 1e-4
"""Square of half an angle, or of its sine, below which series replace sine and arcsine; the omitted
terms are below the rounding error."""


class GyroscopeErrors(NamedTuple):
    r"""Errors of a gyroscope with the readings :math:`y = A \omega + K_2 \omega^2 + e`.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3)
        Matrix A, the sum of identity, scale factor errors and misalignment.
    nonlinearity : ndarray, shape (3,)
        Coefficient K_2 [1/(rad/s)].
    additive : ndarray, shape (n, 3)
        Additive error e of each reading [rad/s].
    saturation, resolution : ndarray, shape (3,)
        Full scale and step of the readings [rad/s]; infinity and zero to omit them.
    """

    matrix: np.ndarray
    nonlinearity: np.ndarray
    additive: np.ndarray
    saturation: np.ndarray
    resolution: np.ndarray


class TargetMotion(NamedTuple):
    """Orientation and angular rate of the target.

    Attributes
    ----------
    orientation : ndarray, shape (n, 4)
        Quaternions x, y, z, w from the inner link to inertial space.
    rate : ndarray, shape (n, 3)
        Mean angular rate since the previous sample, in target axes [rad/s].
    """

    orientation: np.ndarray
    rate: np.ndarray


class JointState(NamedTuple):
    """Angles and rates of the gimbal joints at an instant.

    Attributes
    ----------
    angle : ndarray, shape (3,)
        Angles of pan, tilt and roll [rad].
    rate : ndarray, shape (3,)
        Rates of pan, tilt and roll [rad/s].
    """

    angle: np.ndarray
    rate: np.ndarray


class Run(NamedTuple):
    """Result of a loop simulation for n samples of pan, tilt and roll.

    Attributes
    ----------
    angle : ndarray, shape (n, 3)
        Angles [rad].
    rate, command : ndarray, shape (n, 3)
        Rates and commanded rates [rad/s]. A command applies from its sample to the next sample.
    """

    angle: np.ndarray
    rate: np.ndarray
    command: np.ndarray


def run_loop(
    platform: np.ndarray,
    target: TargetMotion,
    gyroscope: GyroscopeErrors,
    stabilisation: Stabilisation,
    limits,
    period: float,
    start: JointState,
) -> Run:
    """Simulate the control loop, which tracks the target from the first sample.

    Parameters
    ----------
    platform : ndarray, shape (n, 4)
        Quaternions x, y, z, w from the gimbal base to inertial space at the gyroscope samples.
    target : TargetMotion
        Motion that the inner link should follow.
    gyroscope : GyroscopeErrors
        Errors of the gyroscope on the inner link.
    stabilisation : Stabilisation
        Parameters of the loop.
    limits : sequence of tuple of float
        Smallest and largest angle of each joint [rad].
    period : float
        Sampling period of the gyroscope [s].
    start : JointState
        Initial state of the joints.

    Returns
    -------
    Run

    Raises
    ------
    ConfigurationError
        The loop is unstable.
    """
    require_stable(stabilisation, period)
    joints = _Joints(stabilisation, limits, period, start)
    sensor = _Gyroscope(gyroscope, period)
    controller = _Controller(stabilisation, limits, period)
    controller.start(joints, target.rate[0].tolist())
    aid = (
        0.0 if stabilisation.aid_time is None else 1.0 - math.exp(-period / stabilisation.aid_time)
    )
    true = _link_orientation(platform[0].tolist(), joints.half_angles())
    estimate = true

    states = [joints.state()]
    samples = zip(
        platform[1:].tolist(),
        target.orientation[1:].tolist(),
        target.rate[1:].tolist(),
        gyroscope.additive[1:].tolist(),
    )
    for base, goal, goal_rate, additive in samples:
        joints.advance()
        half_angles = joints.half_angles()
        previous, true = true, _link_orientation(base, half_angles)
        reading = sensor.read(previous, true, additive)
        estimate = _integrate(estimate, reading, period)
        if aid:
            estimate = _blend_quaternions(estimate, true, aid)
        estimate = _normalise(estimate)
        error = _rotation_vector(estimate, goal, 2.0)
        joints.commands = controller.command(error, goal_rate, reading, joints, half_angles)
        states.append(joints.state())
    columns = np.array(states)
    return Run(columns[:, :3], columns[:, 3:6], columns[:, 6:])


class _Joints:
    """State of pan, tilt and roll joints with servos and limits."""

    def __init__(self, stabilisation, limits, period, start):
        self._servo = servo(stabilisation, period)
        self._limits = limits
        self.angles = tuple(map(float, start.angle))
        self.rates = self.commands = tuple(map(float, start.rate))

    def state(self):
        return (*self.angles, *self.rates, *self.commands)

    def advance(self):
        """Advance the joints by one period."""
        decay, rate_gain, command_gain = self._servo
        gain = 1.0 - decay
        angles, rates = list(self.angles), list(self.rates)
        for joint, (low, high) in enumerate(self._limits):
            rate, command = rates[joint], self.commands[joint]
            angle = angles[joint] + (rate_gain * rate + command_gain * command)
            rate = decay * rate + gain * command
            if not low <= angle <= high:
                angle, rate = (low if angle < low else high), 0.0
            angles[joint], rates[joint] = angle, rate
        self.angles, self.rates = angles, rates

    def half_angles(self):
        """Return the sine and cosine of half the pan, tilt and roll angles."""
        pan, tilt, roll = self.angles
        sin, cos = math.sin, math.cos
        return (
            (sin(0.5 * pan), cos(0.5 * pan)),
            (sin(0.5 * tilt), cos(0.5 * tilt)),
            (sin(0.5 * roll), cos(0.5 * roll)),
        )

    def link_rate(self, tilt, roll):
        """Return the angular rate of the inner link that results from the joint rates."""
        (sine_tilt, cosine_tilt), (sine_roll, cosine_roll) = tilt, roll
        pan_rate, tilt_rate, roll_rate = self.rates
        return (
            roll_rate - sine_tilt * pan_rate,
            cosine_roll * tilt_rate + cosine_tilt * sine_roll * pan_rate,
            cosine_tilt * cosine_roll * pan_rate - sine_roll * tilt_rate,
        )


class _Gyroscope:
    """Gyroscope whose readings contain the simulated errors."""

    def __init__(self, errors, period):
        self._matrix = errors.matrix.tolist()
        self._nonlinearity = errors.nonlinearity.tolist()
        self._is_nonlinear = any(self._nonlinearity)
        self._bounds = list(zip(errors.saturation.tolist(), errors.resolution.tolist()))
        self._is_digital = any(
            step > 0.0 or math.isfinite(saturation) for saturation, step in self._bounds
        )
        self._rate_factor = 2.0 / period

    def read(self, previous, current, additive):
        """Return the gyroscope reading [rad/s] for the mean rate between two orientations."""
        x, y, z = _rotation_vector(previous, current, self._rate_factor)
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self._matrix
        error_x, error_y, error_z = additive
        reading_x = xx * x + xy * y + xz * z + error_x
        reading_y = yx * x + yy * y + yz * z + error_y
        reading_z = zx * x + zy * y + zz * z + error_z
        if self._is_nonlinear:
            factor_x, factor_y, factor_z = self._nonlinearity
            reading_x += factor_x * x * x
            reading_y += factor_y * y * y
            reading_z += factor_z * z * z
        reading = reading_x, reading_y, reading_z
        return _digitise(reading, self._bounds) if self._is_digital else reading


class _Controller:
    """Attitude controller of the inner link, with integral action and anti-windup."""

    def __init__(self, stabilisation, limits, period):
        self._proportional, integral = gains(stabilisation)
        self._integral_step = integral * period
        self._rate_limits = stabilisation.rate_limits
        # A fixed joint does not stop the integration, although it is always at its limits.
        self._free_angles = [
            (-math.inf, math.inf) if low == high else (low, high) for low, high in limits
        ]
        self._free_rates = [
            math.inf if low == high else largest
            for (low, high), largest in zip(limits, stabilisation.rate_limits)
        ]
        self._integral = (0.0, 0.0, 0.0)

    def start(self, joints, target_rate):
        """Set the integral to the value that maintains the initial joint rates."""
        _, *angles = joints.angles
        functions = [(math.sin(angle), math.cos(angle)) for angle in angles]
        self._integral = _difference(joints.link_rate(*functions), target_rate)

    def command(self, error, target_rate, reading, joints, half_angles):
        """Return the commanded rate of each joint [rad/s]."""
        gain = self._proportional
        error_x, error_y, error_z = error
        target_x, target_y, target_z = target_rate
        integral_x, integral_y, integral_z = self._integral
        x = target_x + gain * error_x + integral_x
        y = target_y + gain * error_y + integral_y
        z = target_z + gain * error_z + integral_z
        tilt, roll = _full_angle(*half_angles[1]), _full_angle(*half_angles[2])
        if -NEAR_LOCK < tilt[1] < NEAR_LOCK:
            tilt = tilt[0], math.copysign(NEAR_LOCK, tilt[1])
        (sine_tilt, cosine_tilt), (sine_roll, cosine_roll) = tilt, roll
        pan_rate = (y * sine_roll + z * cosine_roll) / cosine_tilt
        commands = pan_rate, y * cosine_roll - z * sine_roll, x + pan_rate * sine_tilt
        if self._is_free(commands, joints.angles):
            step = self._integral_step
            self._integral = (
                integral_x + step * error_x,
                integral_y + step * error_y,
                integral_z + step * error_z,
            )
        else:
            # This integral compensates for the platform rate (reading minus joint contribution).
            self._integral = _difference(joints.link_rate(tilt, roll), reading)
        return [
            command if -largest <= command <= largest else math.copysign(largest, command)
            for command, largest in zip(commands, self._rate_limits)
        ]

    def _is_free(self, commands, angles):
        """Return whether no joint is at its rate or angle limit."""
        pan_rate, tilt_rate, roll_rate = commands
        most_pan, most_tilt, most_roll = self._free_rates
        pan, tilt, roll = angles
        (low_pan, high_pan), (low_tilt, high_tilt), (low_roll, high_roll) = self._free_angles
        return (
            -most_pan <= pan_rate <= most_pan
            and -most_tilt <= tilt_rate <= most_tilt
            and -most_roll <= roll_rate <= most_roll
            and low_pan < pan < high_pan
            and low_tilt < tilt < high_tilt
            and low_roll < roll < high_roll
        )


def _link_orientation(base, half_angles):
    """Return the inner link quaternion from the sine and cosine of the half joint angles."""
    (sine_p, cosine_p), (sine_t, cosine_t), (sine_r, cosine_r) = half_angles
    a, b, c, d = cosine_t * cosine_r, sine_t * sine_r, cosine_t * sine_r, sine_t * cosine_r
    qw, qx = cosine_p * a + sine_p * b, cosine_p * c - sine_p * d
    qy, qz = cosine_p * d + sine_p * c, sine_p * a - cosine_p * b
    return _product(base, (qx, qy, qz, qw))


def _product(first, second):
    """Return the product of two quaternions with the components (x, y, z, w)."""
    ax, ay, az, aw = first
    bx, by, bz, bw = second
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _rotation_vector(first, second, factor):
    """Return the rotation vector between two orientations, multiplied by ``factor`` / 2."""
    ax, ay, az, aw = first
    bx, by, bz, bw = second
    w = aw * bw + ax * bx + ay * by + az * bz
    x = aw * bx - ax * bw - ay * bz + az * by
    y = aw * by + ax * bz - ay * bw - az * bx
    z = aw * bz - ax * by + ay * bx - az * bw
    square = x * x + y * y + z * z
    if square < SMALL and w > 0.0:
        scale = factor * (1.0 + square * (1.0 / 6.0 + square * (0.075 + square / 22.4)))
    else:
        size = math.sqrt(square)
        scale = factor * math.atan2(size, abs(w)) / math.copysign(size, w)
    return x * scale, y * scale, z * scale


def _integrate(orientation, rate, period):
    """Return the orientation after one period with a constant angular rate."""
    x, y, z = (0.5 * period * part for part in rate)
    square = x * x + y * y + z * z
    if square < SMALL:
        scale = 1.0 - square * (1.0 - 0.05 * square) / 6.0
        w = 1.0 - 0.5 * square * (1.0 - square / 12.0)
    else:
        size = math.sqrt(square)
        scale, w = math.sin(size) / size, math.cos(size)
    return _product(orientation, (x * scale, y * scale, z * scale, w))


def _blend_quaternions(estimate, true, share):
    """Return the weighted mean of two quaternions; ``share`` is the weight of ``true``."""
    dot = sum(first * second for first, second in zip(estimate, true))
    weight = share if dot >= 0.0 else -share
    return tuple(old + (weight * new - share * old) for old, new in zip(estimate, true))


def _normalise(quaternion):
    """Return a normalised quaternion."""
    x, y, z, w = quaternion
    square = x * x + y * y + z * z + w * w
    scale = 1.5 - 0.5 * square
    if scale == 1.0:
        return quaternion
    # If the norm is close to one, a single Newton step is exact within rounding errors.
    if not 0.9 < scale < 1.1:
        scale = 1.0 / math.sqrt(square)
    return scale * x, scale * y, scale * z, scale * w


def _full_angle(half_sine, half_cosine):
    """Return the sine and cosine of an angle from the sine and cosine of half the angle."""
    return 2.0 * half_sine * half_cosine, 1.0 - 2.0 * half_sine * half_sine


def _difference(first, second):
    return tuple(a - b for a, b in zip(first, second))


def _digitise(rates, bounds):
    """Limit rates to the full scale of a gyroscope, and round them to its resolution."""
    result = []
    for value, (largest, step) in zip(rates, bounds):
        value = largest if value > largest else -largest if value < -largest else value
        result.append(step * round(value / step) if step > 0.0 else value)
    return result
