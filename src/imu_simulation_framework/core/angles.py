"""Angles and orientations: wrapping, unwrapping, quaternions and roll, pitch, yaw.

Quaternions are in ROS order (x, y, z, w). Roll, pitch and yaw are rotations about
x, then y, then z of the fixed world frame (REP-103), which is the intrinsic
z-y-x sequence; yaw is therefore a rotation about the world's z axis.
"""

import math
import warnings

import numpy as np

TWO_PI = 2.0 * math.pi


def _rotation():
    # Imported here, since every node knows angles, and it takes 27 MB.
    from scipy.spatial.transform import Rotation

    return Rotation


def wrap(angle):
    """Bring an angle into (-pi, pi].

    An angle that is already there is returned unchanged, bit for bit.

    ``angle`` (float or array_like): [rad], as what is returned, in the same shape.
    """
    if isinstance(angle, (float, int)):
        wrapped = angle - TWO_PI * math.ceil((angle - math.pi) / TWO_PI)
        if wrapped <= -math.pi:
            wrapped += TWO_PI
        return min(wrapped, math.pi)
    angle = np.asarray(angle, dtype=float)
    wrapped = angle - TWO_PI * np.ceil((angle - math.pi) / TWO_PI)
    # Rounding of large angles can end an ulp outside the interval.
    wrapped = np.where(wrapped <= -math.pi, wrapped + TWO_PI, wrapped)
    return np.minimum(wrapped, math.pi)


def difference(a, b):
    """Return ``a - b`` wrapped to (-pi, pi] [rad]; scalars or arrays."""
    if isinstance(a, float) and isinstance(b, float):
        return wrap(a - b)
    return wrap(np.subtract(a, b))


def unwrap(angles, axis=-1):
    """Remove the jumps of a full turn from angles (array_like) that follow each other [rad].

    The first one stays. Consecutive angles must differ by less than half a turn, otherwise the
    sense of rotation is not known. Not-a-number spoils all that follows, so remove it first.

    ``axis``: along which they follow each other.
    """
    return np.unwrap(np.asarray(angles, dtype=float), axis=axis)


def interpolate(times, known_times, angles):
    """Interpolate angles linearly, the short way round.

    What is returned is unwrapped [rad], in the shape of ``times`` (float or array_like); before and
    after the known ones the first and the last angle hold. ``known_times`` (n,): increasing.
    ``angles`` (n,): [rad]; wrapped or not, see :func:`unwrap`.
    """
    return np.interp(times, known_times, unwrap(angles))


def roll_pitch_yaw_from_quaternion(quaternions):
    """Return roll, pitch and yaw (..., 3) of quaternions (..., 4) in order x, y, z, w [rad].

    Pitch is in [-pi/2, pi/2], the others in [-pi, pi].

    Raises ValueError: if a quaternion has length zero.
    """
    quaternions = np.asarray(quaternions, dtype=float)
    if quaternions.size == 0:
        return np.empty(quaternions.shape[:-1] + (3,))
    rotations = _rotation().from_quat(quaternions.reshape(-1, 4))
    with warnings.catch_warnings():
        # With the nose straight up roll and yaw are one rotation, which scipy calls yaw.
        warnings.filterwarnings("ignore", "Gimbal lock detected")
        yaw_pitch_roll = rotations.as_euler("ZYX")
    return yaw_pitch_roll[:, ::-1].reshape(quaternions.shape[:-1] + (3,))


def yaw_from_quaternion(quaternions):
    """Return the yaw [rad], in [-pi, pi], of quaternions (..., 4) in order x, y, z, w.

    The result has shape (...); one quaternion gives a float.

    Raises ValueError: if a quaternion has length zero.
    """
    if len(quaternions) == 4 and np.ndim(quaternions[0]) == 0:
        x, y, z, w = quaternions
        # Of one that is no nearer to the vertical than 60 degrees, of which half the sine is 0.43,
        # scipy does not warn; to tell it not to takes longer than the yaw.
        if abs(w * y - x * z) < 0.43 * (x * x + y * y + z * z + w * w):
            return float(_rotation().from_quat(quaternions).as_euler("ZYX")[0])
    yaw = roll_pitch_yaw_from_quaternion(quaternions)[..., 2]
    return float(yaw) if yaw.ndim == 0 else yaw


def fast_yaw(x: float, y: float, z: float, w: float) -> float:
    """Return the yaw [rad], in [-pi, pi], of one quaternion of any length but zero.

    It is :func:`yaw_from_quaternion` but for the last digit and for a body on its nose, of which it
    makes any yaw; plain numbers are 25 times as fast, where a drive asks for it sample by sample.
    """
    return math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


def quaternion_from_roll_pitch_yaw(roll_pitch_yaw):
    """Return unit quaternions (..., 4) of roll, pitch and yaw (..., 3) [rad].

    Their order is x, y, z, w, with w >= 0 so that equal orientations are equal numbers.
    """
    angles = np.asarray(roll_pitch_yaw, dtype=float)
    if angles.size == 0:
        return np.empty(angles.shape[:-1] + (4,))
    quaternions = _rotation().from_euler("ZYX", angles.reshape(-1, 3)[:, ::-1]).as_quat()
    quaternions = np.where(quaternions[:, 3:] < 0.0, -quaternions, quaternions)
    return quaternions.reshape(angles.shape[:-1] + (4,))


def quaternion_product(x, y, z, w, x2, y2, z2, w2):
    """Return x, y, z, w of the product of two quaternions, given by component.

    For inner loops, with numbers or with arrays, to the bits of scipy's Rotation, which says more
    clearly what is meant.
    """
    return (
        w * x2 + w2 * x + (y * z2 - z * y2),
        w * y2 + w2 * y + (z * x2 - x * z2),
        w * z2 + w2 * z + (x * y2 - y * x2),
        w * w2 - x * x2 - y * y2 - z * z2,
    )


def relative_rotations(first, second):
    """Return the rotation vectors that lead from orientations to others, in the axes of the first.

    ``first``, ``second`` (n, 4): quaternions x, y, z, w of length one. A vector (n, 3) is axis
    times angle [rad], of at most half a turn.
    """
    x, y, z, w = first.T
    # For many rotations several times faster than scipy's Rotation.
    product = np.array(quaternion_product(-x, -y, -z, w, *second.T))
    product *= np.where(product[3] < 0.0, -1.0, 1.0)
    vector, size = product[:3], np.sqrt((product[:3] * product[:3]).sum(axis=0))
    small = size < 1e-10
    scale = 2.0 * np.arctan2(size, product[3]) / np.where(small, 1.0, size)
    return (np.where(small, 2.0, scale) * vector).T
