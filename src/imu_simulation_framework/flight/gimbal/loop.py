r"""The loop of a stabilised gimbal: sample by sample, and what can be said of it without running.

The loop runs once per sample of the gyroscope, which is on the inner link, beside the camera. Its
attitude is the integral of the gyroscope's samples, :math:`\hat q_k = \hat q_{k-1} \exp(y_k T)`,
right at the beginning. With e the rotation vector from it to the target, in the inner link's axes,
:math:`\omega_t` the target's own rate since the sample before and J the matrix from the joints'
rates to the inner link's, the joints are asked for

.. math:: c_k = J^{-1} (\omega_{t,k} + K_p e_k + i_k), \quad i_{k+1} = i_k + K_i T e_k,
          \quad K_p = 2 \zeta \omega_n, \quad K_i = \omega_n^2,

within the servos' rates, until the next sample. While a servo is at a limit, i is what cancels the
platform's rate as gyroscope and joints tell it, :math:`J s - y`, so that it does not wind up. A
servo's rate s follows as a low-pass of first order, :math:`\dot s = \omega_s (c - s)`, integrated
exactly. So a platform's rate d leaves a rate of :math:`s^2 / (s^2 + K_p s + K_i) \, d`, were
there neither servo nor sampling.

The loop knows no more of its attitude than the gyroscope says, whose bias b therefore turns the
line of sight by b t. An outer loop (``aid_time``), as a tracker of images or a navigation filter is
one, leads :math:`\hat q` back to the true attitude as :math:`\exp(-t / \tau)`; what stays of a bias
is :math:`b \tau`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core.angles import quaternion_product
from ...core.errors import ConfigurationError
from .stabilisation import NEAR_LOCK, Stabilisation


class Servo(NamedTuple):
    """A joint's rate over a period in which one rate is asked for, solved exactly.

    ``decay``: how much of the difference from the wanted rate is left. ``own``, ``wanted``: the
    angle that it turns per rate that it had and per wanted rate [s].
    """

    decay: float
    own: float
    wanted: float


def servo(stabilisation: Stabilisation, period: float) -> Servo:
    """Return the servo of a loop for a period [s]."""
    pulsation = 2.0 * math.pi * stabilisation.servo_bandwidth
    decay = math.exp(-pulsation * period)
    own = -math.expm1(-pulsation * period) / pulsation
    return Servo(decay, own, period - own)


def gains(stabilisation: Stabilisation) -> tuple[float, float]:
    """Return K_p [1/s] and K_i [1/s^2]."""
    pulsation = 2.0 * math.pi * (stabilisation.bandwidth or 0.0)
    return 2.0 * stabilisation.damping * pulsation, pulsation**2


def transition(stabilisation: Stabilisation, period: float) -> np.ndarray:
    """Return what leads joint angle, rate, and integral of one axis to the next sample, (3, 3).

    The platform stands, and the target is zero.
    """
    decay, own, wanted = servo(stabilisation, period)
    proportional, integral = gains(stabilisation)
    command = np.array([-proportional, 0.0, 1.0])
    return np.array(
        [
            np.array([1.0, own, 0.0]) + wanted * command,
            np.array([0.0, decay, 0.0]) + (1.0 - decay) * command,
            [-integral * period, 0.0, 1.0],
        ]
    )


def require_stable(stabilisation: Stabilisation, period: float) -> None:
    """Refuse a loop that shakes itself.

    Raises ConfigurationError if at this period [s] its disturbances grow.
    """
    radius = np.max(np.abs(np.linalg.eigvals(transition(stabilisation, period))))
    if not radius < 1.0:
        raise ConfigurationError(
            f"the gimbal's loop of {stabilisation.bandwidth:g} Hz with servos of "
            f"{stabilisation.servo_bandwidth:g} Hz is not stable with a gyroscope's sample each "
            f"{period:g} s; it needs a lower bandwidth, faster servos or more samples."
        )


SMALL = 1e-4
"""Square of the sine or size of half an angle, up to which series stand for arcsine and sine; their
next terms are below rounding."""


class GyroscopeErrors(NamedTuple):
    r"""How readings follow from true rates: :math:`y = A \omega + K_2 \omega^2 + e`.

    ``matrix`` (3, 3): A, scale factor and misalignment with the identity. ``nonlinearity`` (3,): K2
    [1/(rad/s)]. ``additive`` (n, 3): e of each reading [rad/s]. ``saturation``, ``resolution``
    (3,): largest size and step of readings [rad/s]; infinite and zero for none.
    """

    matrix: np.ndarray
    nonlinearity: np.ndarray
    additive: np.ndarray
    saturation: np.ndarray
    resolution: np.ndarray


class Run(NamedTuple):
    """What came of a loop; n samples of pan, tilt, roll.

    ``angle`` [rad], ``rate`` and ``command`` [rad/s], each (n, 3). A command holds from its sample
    to the next.
    """

    angle: np.ndarray
    rate: np.ndarray
    command: np.ndarray


def run_loop(
    platform: np.ndarray,
    target: np.ndarray,
    target_turns: np.ndarray,
    gyroscope: GyroscopeErrors,
    stabilisation: Stabilisation,
    limits,
    period: float,
    start_angle,
    start_rate,
) -> Run:
    """Run the loop, from the first sample on the target.

    ``platform`` (n, 4): orientations of the gimbal's base against inertial space, at the
    gyroscope's samples. ``target`` (n, 4): those that the inner link shall have. ``target_turns``
    (n, 3): the target's mean rate since the sample before, in its own axes [rad/s]. ``gyroscope``
    (GyroscopeErrors): on the inner link. ``limits`` (sequence of 3 pairs of float): smallest and
    largest angles [rad]. ``period``: of the gyroscope's samples [s]. ``start_angle``,
    ``start_rate`` (sequence of 3 float): of the joints [rad, rad/s]. Raises ConfigurationError if
    the loop is not stable.
    """
    require_stable(stabilisation, period)
    sin, cos, sqrt, atan2, copysign = math.sin, math.cos, math.sqrt, math.atan2, math.copysign
    decay, own, wanted = servo(stabilisation, period)
    keep = 1.0 - decay
    proportional, integral = gains(stabilisation)
    per_step, per_period = integral * period, 2.0 / period
    aid = (
        0.0 if stabilisation.aid_time is None else 1.0 - math.exp(-period / stabilisation.aid_time)
    )
    (low_p, high_p), (low_t, high_t), (low_r, high_r) = limits
    most_p, most_t, most_r = stabilisation.rate_limits
    # A joint that cannot move at all does not stop the integral.
    (from_p, to_p), (from_t, to_t), (from_r, to_r) = (
        (-math.inf, math.inf) if low == high else (low, high) for low, high in limits
    )
    free_p, free_t, free_r = (
        math.inf if low == high else most
        for (low, high), most in zip(limits, stabilisation.rate_limits)
    )
    ((xx, xy, xz), (yx, yy, yz), (zx, zy, zz)) = gyroscope.matrix.tolist()
    kx, ky, kz = gyroscope.nonlinearity.tolist()
    bent = kx != 0.0 or ky != 0.0 or kz != 0.0
    digital = bool(np.any(gyroscope.resolution > 0.0) or np.any(np.isfinite(gyroscope.saturation)))
    bounds = list(zip(gyroscope.saturation.tolist(), gyroscope.resolution.tolist()))

    p, t, r = map(float, start_angle)
    sp, st, sr = map(float, start_rate)
    # The integral begins as what keeps the joints moving as they do.
    sine_r, cosine_r, cosine_t = sin(r), cos(r), cos(t)
    ix = sr - sin(t) * sp - target_turns[0, 0]
    iy = cosine_r * st + cosine_t * sine_r * sp - target_turns[0, 1]
    iz = cosine_t * cosine_r * sp - sine_r * st - target_turns[0, 2]
    cp, ct, cr = sp, st, sr
    # True orientation of the sample before, and what the loop takes it for.
    bx, by, bz, bw = _inner(platform[0].tolist(), p, t, r)
    ex, ey, ez, ew = bx, by, bz, bw

    found = [(p, t, r, sp, st, sr, cp, ct, cr)]
    keep_row = found.append
    rows = zip(
        platform[1:].tolist(),
        target[1:].tolist(),
        target_turns[1:].tolist(),
        gyroscope.additive[1:].tolist(),
    )
    for (ax, ay, az, aw), (gx, gy, gz, gw), (fx, fy, fz), (nx, ny, nz) in rows:
        # The joints over the period.
        p += own * sp + wanted * cp
        t += own * st + wanted * ct
        r += own * sr + wanted * cr
        sp = decay * sp + keep * cp
        st = decay * st + keep * ct
        sr = decay * sr + keep * cr
        if not low_p <= p <= high_p:
            p, sp = (low_p if p < low_p else high_p), 0.0
        if not low_t <= t <= high_t:
            t, st = (low_t if t < low_t else high_t), 0.0
        if not low_r <= r <= high_r:
            r, sr = (low_r if r < low_r else high_r), 0.0
        # The inner link's true orientation: platform, then z, y, x.
        sine_p, cosine_p = sin(0.5 * p), cos(0.5 * p)
        half_t, cosine_t = sin(0.5 * t), cos(0.5 * t)
        half_r, cosine_r = sin(0.5 * r), cos(0.5 * r)
        a, b, c, d = cosine_t * cosine_r, half_t * half_r, cosine_t * half_r, half_t * cosine_r
        qw, qx = cosine_p * a + sine_p * b, cosine_p * c - sine_p * d
        qy, qz = cosine_p * d + sine_p * c, sine_p * a - cosine_p * b
        tx = aw * qx + ax * qw + ay * qz - az * qy
        ty = aw * qy - ax * qz + ay * qw + az * qx
        tz = aw * qz + ax * qy - ay * qx + az * qw
        tw = aw * qw - ax * qx - ay * qy - az * qz
        # Its rotation since the sample before, which the gyroscope integrates.
        w = bw * tw + bx * tx + by * ty + bz * tz
        x = bw * tx - bx * tw - by * tz + bz * ty
        y = bw * ty + bx * tz - by * tw - bz * tx
        z = bw * tz - bx * ty + by * tx - bz * tw
        bx, by, bz, bw = tx, ty, tz, tw
        square = x * x + y * y + z * z
        if square < SMALL and w > 0.0:
            scale = per_period * (1.0 + square * (1.0 / 6.0 + square * (0.075 + square / 22.4)))
        else:
            size = sqrt(square)
            scale = per_period * atan2(size, abs(w)) / copysign(size, w)
        x *= scale
        y *= scale
        z *= scale
        vx = xx * x + xy * y + xz * z + nx
        vy = yx * x + yy * y + yz * z + ny
        vz = zx * x + zy * y + zz * z + nz
        if bent:
            vx, vy, vz = vx + kx * x * x, vy + ky * y * y, vz + kz * z * z
        if digital:
            vx, vy, vz = _digital((vx, vy, vz), bounds)
        # The loop's own attitude, turned by what was read.
        x, y, z = 0.5 * period * vx, 0.5 * period * vy, 0.5 * period * vz
        square = x * x + y * y + z * z
        if square < SMALL:
            scale = 1.0 - square * (1.0 - 0.05 * square) / 6.0
            w = 1.0 - 0.5 * square * (1.0 - square / 12.0)
        else:
            size = sqrt(square)
            scale, w = sin(size) / size, cos(size)
        x *= scale
        y *= scale
        z *= scale
        ex, ey, ez, ew = (
            ew * x + ex * w + ey * z - ez * y,
            ew * y - ex * z + ey * w + ez * x,
            ew * z + ex * y - ey * x + ez * w,
            ew * w - ex * x - ey * y - ez * z,
        )
        if aid:
            weight = aid if ex * tx + ey * ty + ez * tz + ew * tw >= 0.0 else -aid
            ex += weight * tx - aid * ex
            ey += weight * ty - aid * ey
            ez += weight * tz - aid * ez
            ew += weight * tw - aid * ew
        scale = 1.5 - 0.5 * (ex * ex + ey * ey + ez * ez + ew * ew)
        if scale != 1.0:
            # One Newton step is exact for a quaternion of nearly length one.
            if not 0.9 < scale < 1.1:
                scale = 1.0 / sqrt(ex * ex + ey * ey + ez * ez + ew * ew)
            ex, ey, ez, ew = scale * ex, scale * ey, scale * ez, scale * ew
        # From there to the target, as a rotation vector.
        w = ew * gw + ex * gx + ey * gy + ez * gz
        x = ew * gx - ex * gw - ey * gz + ez * gy
        y = ew * gy + ex * gz - ey * gw - ez * gx
        z = ew * gz - ex * gy + ey * gx - ez * gw
        square = x * x + y * y + z * z
        if square < SMALL and w > 0.0:
            scale = 2.0 + square * (1.0 / 3.0 + square * (0.15 + square / 11.2))
        else:
            size = sqrt(square)
            scale = 2.0 * atan2(size, abs(w)) / copysign(size, w)
        x *= scale
        y *= scale
        z *= scale
        wx = fx + proportional * x + ix
        wy = fy + proportional * y + iy
        wz = fz + proportional * z + iz
        # The joints that turn it so.
        sine_r, cosine_r = 2.0 * half_r * cosine_r, 1.0 - 2.0 * half_r * half_r
        sine_t, cosine_t = 2.0 * half_t * cosine_t, 1.0 - 2.0 * half_t * half_t
        if -NEAR_LOCK < cosine_t < NEAR_LOCK:
            cosine_t = copysign(NEAR_LOCK, cosine_t)
        cp = (wy * sine_r + wz * cosine_r) / cosine_t
        ct = wy * cosine_r - wz * sine_r
        cr = wx + cp * sine_t
        if (
            -free_p <= cp <= free_p
            and -free_t <= ct <= free_t
            and -free_r <= cr <= free_r
            and from_p < p < to_p
            and from_t < t < to_t
            and from_r < r < to_r
        ):
            ix += per_step * x
            iy += per_step * y
            iz += per_step * z
        else:
            # What cancels the platform's rate, as gyroscope and joints tell it.
            ix = sr - sine_t * sp - vx
            iy = cosine_r * st + cosine_t * sine_r * sp - vy
            iz = cosine_t * cosine_r * sp - sine_r * st - vz
        if not -most_p <= cp <= most_p:
            cp = most_p if cp > most_p else -most_p
        if not -most_t <= ct <= most_t:
            ct = most_t if ct > most_t else -most_t
        if not -most_r <= cr <= most_r:
            cr = most_r if cr > most_r else -most_r
        keep_row((p, t, r, sp, st, sr, cp, ct, cr))
    columns = np.array(found)
    return Run(columns[:, :3], columns[:, 3:6], columns[:, 6:])


def _inner(platform, p, t, r):
    """Return the quaternion of the inner link on a platform."""
    sine_p, cosine_p = math.sin(0.5 * p), math.cos(0.5 * p)
    sine_t, cosine_t = math.sin(0.5 * t), math.cos(0.5 * t)
    sine_r, cosine_r = math.sin(0.5 * r), math.cos(0.5 * r)
    qw = cosine_p * cosine_t * cosine_r + sine_p * sine_t * sine_r
    qx = cosine_p * cosine_t * sine_r - sine_p * sine_t * cosine_r
    qy = cosine_p * sine_t * cosine_r + sine_p * cosine_t * sine_r
    qz = sine_p * cosine_t * cosine_r - cosine_p * sine_t * sine_r
    return quaternion_product(*platform, qx, qy, qz, qw)


def _digital(rates, bounds):
    """Return rates within what a gyroscope can say, on its steps."""
    result = []
    for value, (most, step) in zip(rates, bounds):
        value = most if value > most else -most if value < -most else value
        result.append(step * round(value / step) if step > 0.0 else value)
    return result
