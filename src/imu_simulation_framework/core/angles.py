"""Angles and orientations: wrapping, unwrapping, quaternions, and roll, pitch and yaw.

Quaternions are in ROS order (x, y, z, w). Roll, pitch and yaw are rotations about
x, then y, then z of the fixed world frame (REP-103), which is the intrinsic
z-y-x sequence; yaw is therefore a rotation about the world's z axis.
"""

import math
import warnings

import numpy as np

TWO_PI = 2.0 * math.pi


def _rotation():
    # Imported on first use: every node imports this module, and scipy.spatial needs 27 MB.
    from scipy.spatial.transform import Rotation

    return Rotation


def wrap(angle):
    """Wrap an angle to (-pi, pi].

    Parameters
    ----------
    angle : float or array_like
        Angle [rad]. An angle in the interval is returned unchanged, bit for bit.

    Returns
    -------
    float or ndarray
        Wrapped angle [rad], in the same shape.
    """
    if isinstance(angle, (float, int)):
        wrapped = angle - TWO_PI * math.ceil((angle - math.pi) / TWO_PI)
        if wrapped <= -math.pi:
            wrapped += TWO_PI
        return min(wrapped, math.pi)
    angle = np.asarray(angle, dtype=float)
    wrapped = angle - TWO_PI * np.ceil((angle - math.pi) / TWO_PI)
    # Rounding can move large angles out of the interval by one unit in the last place.
    wrapped = np.where(wrapped <= -math.pi, wrapped + TWO_PI, wrapped)
    return np.minimum(wrapped, math.pi)


def difference(a, b):
    """Return the difference of two angles, wrapped to (-pi, pi].

    Parameters
    ----------
    a, b : float or array_like
        Angles [rad].

    Returns
    -------
    float or ndarray
        ``a - b`` [rad], wrapped.
    """
    if isinstance(a, float) and isinstance(b, float):
        return wrap(a - b)
    return wrap(np.subtract(a, b))


def unwrap(angles, axis=-1):
    """Remove jumps of a full turn from a sequence of angles.

    Parameters
    ----------
    angles : array_like
        Angles [rad]. Consecutive angles must differ by less than half a turn, because the direction
        of a larger rotation is ambiguous. A nan makes all later angles nan; remove it first.
    axis : int, optional
        Axis of the sequence in ``angles``.

    Returns
    -------
    ndarray
        Unwrapped angles [rad]; the first angle is unchanged.
    """
    return np.unwrap(np.asarray(angles, dtype=float), axis=axis)


def interpolate(times, known_times, angles):
    """Interpolate angles linearly, along the shorter arc.

    Parameters
    ----------
    times : float or array_like
        Times at which to interpolate [s].
    known_times : array_like, shape (n,)
        Increasing times of the angles [s].
    angles : array_like, shape (n,)
        Angles [rad], wrapped or not, see :func:`unwrap`.

    Returns
    -------
    float or ndarray
        Unwrapped angles [rad], in the shape of ``times``. Before the first and after the last
        known time, the first and the last angle are returned.
    """
    return np.interp(times, known_times, unwrap(angles))


def roll_pitch_yaw_from_quaternion(quaternions):
    """Convert quaternions to roll, pitch and yaw.

    Parameters
    ----------
    quaternions : array_like, shape (..., 4)
        Quaternions x, y, z, w of any norm except zero.

    Returns
    -------
    ndarray, shape (..., 3)
        Roll, pitch and yaw [rad]. Pitch is in [-pi/2, pi/2], roll and yaw are in [-pi, pi].

    Raises
    ------
    ValueError
        A quaternion has norm zero.
    """
    quaternions = np.asarray(quaternions, dtype=float)
    if quaternions.size == 0:
        return np.empty(quaternions.shape[:-1] + (3,))
    rotations = _rotation().from_quat(quaternions.reshape(-1, 4))
    with warnings.catch_warnings():
        # At a pitch of 90 degrees, only the sum of roll and yaw is defined; scipy sets roll to 0.
        warnings.filterwarnings("ignore", "Gimbal lock detected")
        yaw_pitch_roll = rotations.as_euler("ZYX")
    return yaw_pitch_roll[:, ::-1].reshape(quaternions.shape[:-1] + (3,))


def yaw_from_quaternion(quaternions):
    """Return the yaw of quaternions.

    Parameters
    ----------
    quaternions : array_like, shape (..., 4)
        Quaternions x, y, z, w of any norm except zero.

    Returns
    -------
    float or ndarray, shape (...)
        Yaw [rad], in [-pi, pi]; a float for a single quaternion.

    Raises
    ------
    ValueError
        A quaternion has norm zero.
    """
    if len(quaternions) == 4 and np.ndim(quaternions[0]) == 0:
        x, y, z, w = quaternions
        # Below a pitch of 60 degrees (half its sine is 0.43), scipy never warns about gimbal lock.
        # Suppressing the warning would take longer than the conversion.
        if abs(w * y - x * z) < 0.43 * (x * x + y * y + z * z + w * w):
            return float(_rotation().from_quat(quaternions).as_euler("ZYX")[0])
    yaw = roll_pitch_yaw_from_quaternion(quaternions)[..., 2]
    return float(yaw) if yaw.ndim == 0 else yaw


def fast_yaw(x: float, y: float, z: float, w: float) -> float:
    """Return the yaw of a single quaternion, for sample-by-sample computation.

    The result equals that of :func:`yaw_from_quaternion` up to rounding, except at a pitch of 90
    degrees, where the yaw is undefined. With plain numbers, the function is 25 times as fast.

    Parameters
    ----------
    x, y, z, w : float
        Components of a quaternion of any norm except zero.

    Returns
    -------
    float
        Yaw [rad], in [-pi, pi].
    """
    return math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


def quaternion_from_roll_pitch_yaw(roll_pitch_yaw):
    """Convert roll, pitch and yaw to unit quaternions.

    Parameters
    ----------
    roll_pitch_yaw : array_like, shape (..., 3)
        Roll, pitch and yaw [rad].

    Returns
    -------
    ndarray, shape (..., 4)
        Quaternions x, y, z, w with w >= 0, so that an orientation has only one quaternion.
    """
    angles = np.asarray(roll_pitch_yaw, dtype=float)
    if angles.size == 0:
        return np.empty(angles.shape[:-1] + (4,))
    quaternions = _rotation().from_euler("ZYX", angles.reshape(-1, 3)[:, ::-1]).as_quat()
    quaternions = np.where(quaternions[:, 3:] < 0.0, -quaternions, quaternions)
    return quaternions.reshape(angles.shape[:-1] + (4,))


def quaternion_product(x, y, z, w, x2, y2, z2, w2):
    """Multiply two quaternions whose components are separate arguments.

    The function is meant for inner loops; elsewhere, scipy's Rotation is easier to read. Both give
    bit-identical results.

    Parameters
    ----------
    x, y, z, w : float or ndarray
        Components of the left factor.
    x2, y2, z2, w2 : float or ndarray
        Components of the right factor.

    Returns
    -------
    tuple
        Components x, y, z, w of the product.
    """
    return (
        w * x2 + w2 * x + (y * z2 - z * y2),
        w * y2 + w2 * y + (z * x2 - x * z2),
        w * z2 + w2 * z + (x * y2 - y * x2),
        w * w2 - x * x2 - y * y2 - z * z2,
    )


def relative_rotations(first, second):
    """Return the rotation vectors from the first to the second of each pair of orientations.

    Parameters
    ----------
    first, second : ndarray, shape (n, 4)
        Unit quaternions x, y, z, w.

    Returns
    -------
    ndarray, shape (n, 3)
        Rotation vectors (axis times angle) in the body axes of ``first`` [rad], up to half a turn.
    """
    x, y, z, w = first.T
    # For many rotations, this code is several times faster than scipy's Rotation.
    product = np.array(quaternion_product(-x, -y, -z, w, *second.T))
    product *= np.where(product[3] < 0.0, -1.0, 1.0)
    vector, size = product[:3], np.sqrt((product[:3] * product[:3]).sum(axis=0))
    small = size < 1e-10
    scale = 2.0 * np.arctan2(size, product[3]) / np.where(small, 1.0, size)
    return (np.where(small, 2.0, scale) * vector).T
