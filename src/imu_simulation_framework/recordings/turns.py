"""Compare rotations of an orientation, of gravity and of a gyroscope over half a second.

In all functions, ``seconds`` (n,) are times [s], and ``pieces`` (n,) are the indices of the
excerpts of the recording to which the rows belong; rows of different excerpts are not compared.

The bounds are not critical: if each bound is halved or doubled, the same columns and units are
chosen for 24 simulated drives of a car with mixed names, units and signs.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from ..core.angles import quaternion_from_roll_pitch_yaw

_MIN_WINDOWS = 10  # smallest number of windows over which rotations are compared
_MIN_STEPS = 40  # smallest number of time steps for which windows are formed
_TURN_TIME = 0.5  # s, duration of the windows over which rotations are compared; longer than shocks
_MIN_TURN = np.radians(0.5)  # rad, rotation in a window; 0.1 deg/s/sqrt(Hz) noise causes 0.07 deg
_ONE_AXIS_SHARE = 0.9  # share of squared rotations about one axis; 0.9 remains at a tilt of 18 deg


def steps_within(values, pieces):
    """Return the finite differences between successive rows within each excerpt.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Values of the rows.
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.

    Returns
    -------
    ndarray
        Finite differences, in the unit of the values.
    """
    steps = np.diff(values)[np.diff(pieces) == 0]
    return steps[np.isfinite(steps)]


def step(values, pieces) -> float:
    """Return the median of the positive differences between successive rows.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Values of the rows.
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.

    Returns
    -------
    float
        Median in the unit of the values; nan if there is no positive difference.
    """
    steps = steps_within(values, pieces)
    return float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else np.nan


def turn_scale(seconds, pieces, angles, gyro):
    """Return the ratio of orientation changes [rad] to integrated angular velocities.

    The angle between two orientations does not depend on their conventions. If roll, pitch and yaw
    are recorded, shaking may hide rotations, so that the yaw or a single axis may fit better.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    angles : numpy.ndarray, shape (n, 4), (n, 3) or (n, 1)
        Quaternions; or roll, pitch, yaw [rad]; or yaw [rad].
    gyro : numpy.ndarray, shape (n, 1 to 3)
        Angular velocity in any unit.

    Returns
    -------
    scale, correlation : float
        Both are 0 if there are too few rows or hardly any turns.
    """
    seconds, pieces, angles, gyro = _complete(seconds, pieces, angles, gyro)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0, 0.0
    measured = _integrated(seconds, gyro, first, last)
    turns = [_angle_between(angles[first], angles[last])]
    all_measured = [np.linalg.norm(measured, axis=1)]
    if angles.shape[1] != 4:
        turns.append(_angle_between(angles[first, -1:], angles[last, -1:]))
        all_measured += list(np.abs(measured.T))
    fits = [_proportion(rates, turn) for rates in all_measured for turn in turns]
    return max(fits, key=lambda fit: fit[1])


def yaw_correlation(seconds, pieces, yaw, rates):
    """Return the correlation of yaw changes with integrated rates about the vertical.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    yaw : ndarray, shape (n,)
        Yaw [rad].
    rates : ndarray, shape (n,)
        Angular velocity about the vertical in any unit.

    Returns
    -------
    float
        Correlation; 0 if there are too few rows or hardly any turns.
    """
    seconds, pieces, yaw, rates = _complete(seconds, pieces, yaw, rates)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0
    yaw_changes = np.angle(np.exp(1j * (yaw[last] - yaw[first])))
    measured = _integrated(seconds, rates[:, None], first, last)[:, 0]
    if np.percentile(np.abs(yaw_changes), 95) < _MIN_TURN or measured.std() == 0.0:
        return 0.0
    return float(
        np.dot(yaw_changes, measured) / (np.linalg.norm(yaw_changes) * np.linalg.norm(measured))
    )


def same_turns(seconds, pieces, quaternions, gyro):
    """Return the correlation of rotations about the body axes with integrated gyroscope rates.

    Unlike the angle between orientations, these rotations determine the order of a quaternion's
    components. The correlation has no sign, since one of the two may have the axes forward, right,
    down.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    quaternions : ndarray, shape (n, 4)
        Quaternions x, y, z, w.
    gyro : ndarray, shape (n, 3)
        Angular velocity in any unit.

    Returns
    -------
    float
        Correlation; 0 if there are too few rows or hardly any turns, or if all turns are about a
        single axis that is not vertical, as it would be for a vehicle.
    """
    set_ = np.linalg.norm(quaternions, axis=1) > 0.0
    filled = (values[set_] for values in (seconds, pieces, quaternions, gyro))
    seconds, pieces, quaternions, gyro = _complete(*filled)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0
    body = Rotation.from_quat(quaternions)
    rotation_vectors = (body[first].inv() * body[last]).as_rotvec()
    about = np.sum((body[last] * body[first].inv()).as_rotvec() ** 2, axis=0)
    if max(about[:2]) > _ONE_AXIS_SHARE * np.sum(about):
        return 0.0
    measured = _integrated(seconds, gyro, first, last)
    if (
        np.percentile(np.linalg.norm(rotation_vectors, axis=1), 95) < _MIN_TURN
        or not measured.any()
    ):
        return 0.0
    size = np.linalg.norm(rotation_vectors) * np.linalg.norm(measured)
    return abs(float(np.sum(rotation_vectors * measured))) / float(size)


def _complete(seconds, *others):
    """Remove rows with values that are not finite; ``pieces``, the second argument, is exempt."""
    rows = np.isfinite(np.column_stack([seconds, *others[1:]])).all(axis=1)
    return [values[rows] for values in (seconds, *others)]


def _integrated(seconds, gyro, first, last):
    weights = np.diff(seconds, append=seconds[-1])
    sums = np.vstack([np.zeros(gyro.shape[1]), np.cumsum(weights[:, None] * gyro, axis=0)])
    return sums[last] - sums[first]


_MIN_TILT_CORRELATION = 0.25  # below it, noise reduces the measured ratio to less than 1/16


def gravity_scale(seconds, pieces, forces, gyro):
    """Return the ratio of changes of the gravity direction [rad] to integrated angular velocities.

    In the axes of the sensor, the direction u of gravity changes by the integral of u x w,
    independently of the sign of the forces.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    forces, gyro : numpy.ndarray, shape (n, 3)
        Specific force and angular velocity in any unit.

    Returns
    -------
    scale, correlation : float
        Both are 0 if there are too few rows, or if the correlation is below 0.25 or below five
        standard errors.
    """
    seconds, pieces, forces, gyro = _complete(seconds, pieces, forces, gyro)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return 0.0, 0.0
    # Forces are averaged over a window to remove most of the vibration.
    width = int(last[0] - first[0])
    sums = np.vstack([np.zeros(3), np.cumsum(forces, axis=0)])
    inside = np.clip(np.arange(len(seconds)) - width // 2, 0, len(seconds) - width)
    means = sums[inside + width] - sums[inside]
    up = means / np.linalg.norm(means, axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    weights = np.diff(seconds, append=seconds[-1])[:, np.newaxis]
    integrals = np.vstack([np.zeros(3), np.cumsum(weights * np.cross(up, gyro), axis=0)])
    expected, measured = integrals[last] - integrals[first], up[last] - up[first]
    common, size = float(np.sum(expected * measured)), float(np.sum(expected**2))
    correlation = common / max(np.sqrt(size * np.sum(measured**2)), np.finfo(float).tiny)
    if correlation < max(_MIN_TILT_CORRELATION, 5.0 / np.sqrt(len(first))):
        return 0.0, 0.0
    return common / size, correlation


_YAW_AGREEMENT = 0.8  # smallest correlation of two yaws that agree; equals possible_units.AGREEMENT


def yaws_agree(seconds, pieces, yaw, other):
    """Return whether the changes of two yaws agree, possibly with opposite signs.

    Parameters
    ----------
    seconds, pieces, yaw, other : numpy.ndarray, shape (n,)
        Times [s], indices of excerpts, and the two yaws [rad].

    Returns
    -------
    bool or None
        Whether they agree; None if one yaw hardly turns.
    """
    seconds, pieces, *yaws = _complete(seconds, pieces, yaw, other)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return None
    turns = [np.angle(np.exp(1j * (yaw[last] - yaw[first]))) for yaw in yaws]
    if min(np.percentile(np.abs(turn), 95) for turn in turns) < _MIN_TURN:
        return None
    lengths = [np.linalg.norm(turn) for turn in turns]
    return bool(abs(np.dot(*turns)) > _YAW_AGREEMENT * lengths[0] * lengths[1])


def windows(seconds, pieces):
    """Return the indices of the first and last rows of half-second windows.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.

    Returns
    -------
    first, last : ndarray of int
        Rows; empty if there are fewer than 40 steps.
    """
    steps = steps_within(seconds, pieces)
    if len(steps) < _MIN_STEPS or np.median(steps) <= 0.0:
        return np.arange(0), np.arange(0)
    width = max(1, round(_TURN_TIME / float(np.median(steps))))
    first = np.arange(0, len(seconds) - width, width)
    first = first[pieces[first] == pieces[first + width]]
    return first, first + width


def _angle_between(first, last):
    if first.shape[1] == 1:
        return np.abs(np.angle(np.exp(1j * (last[:, 0] - first[:, 0]))))
    if first.shape[1] == 3:
        first, last = quaternion_from_roll_pitch_yaw(first), quaternion_from_roll_pitch_yaw(last)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(last, axis=1)
    cosine = np.abs(np.sum(first * last, axis=1)) / np.where(lengths > 0.0, lengths, 1.0)
    return 2.0 * np.arccos(np.minimum(cosine, 1.0))


def _proportion(measured, reference_turns):
    if np.percentile(reference_turns, 95) < _MIN_TURN or measured.std() == 0.0:
        return 0.0, 0.0
    scale, correlation = (
        measured @ reference_turns / (measured @ measured),
        np.corrcoef(measured, reference_turns),
    )
    return float(scale), float(correlation[0, 1])


_MAX_YAW_RATE = 6.0  # rad/s, about one revolution per second; ground vehicles turn more slowly
_WRAP_OF_DEGREES = (300.0, 360.5)  # deg, magnitude of a wrap: 360 deg minus the turn in a time step
_WRAP_OF_RADIANS = (5.5, 6.3)  # rad, magnitude of a wrap
_MAX_STEP_OF_RADIANS = 1.0  # rad, largest step of a yaw that is not a wrap
_ANGLE_ROUNDING = 0.02  # rad by which a rounded angle may exceed pi or 2 pi


def angle_unit(yaw, seconds, pieces, others=()):
    """Determine whether a yaw is in degrees or radians.

    A wrapped yaw jumps by 360 deg. A yaw that exceeds 2 pi without a jump may be unwrapped and in
    radians, unless its rate would be too large.

    Parameters
    ----------
    yaw : ndarray, shape (n,)
        Yaw in an unknown unit.
    seconds : ndarray, shape (n,)
        Time of each row [s].
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    others : sequence of ndarray, shape (n,), optional
        Roll and pitch in the same unit.

    Returns
    -------
    str
        ``deg`` or ``rad``; empty if the unit cannot be determined.
    """
    jumps = np.abs(steps_within(yaw, pieces))
    if ((jumps > _WRAP_OF_DEGREES[0]) & (jumps < _WRAP_OF_DEGREES[1])).any():
        return "deg"
    if any(np.nanmax(np.abs(angles)) > np.pi + _ANGLE_ROUNDING for angles in others):
        return "deg"
    if np.nanmax(np.abs(yaw)) <= 2.0 * np.pi + _ANGLE_ROUNDING:
        wraps = (jumps > _WRAP_OF_RADIANS[0]) & (jumps < _WRAP_OF_RADIANS[1])
        is_steady = jumps[~wraps].max(initial=0.0) < _MAX_STEP_OF_RADIANS
        return "rad" if wraps.any() and is_steady else ""
    seconds, pieces, yaw = _complete(seconds, pieces, yaw)
    first, last = windows(seconds, pieces)
    if len(first) < _MIN_WINDOWS:
        return ""
    durations, yaw_changes = seconds[last] - seconds[first], np.abs(yaw[last] - yaw[first])
    rates = yaw_changes[durations > 0.0] / durations[durations > 0.0]
    return "deg" if np.percentile(rates, 99) > _MAX_YAW_RATE else ""


_MAX_LEAN = 0.03  # rad, largest rms change of a constant direction of gravity
_MIN_OFFSET = 0.3  # rad/s, 17 deg/s; data sheets specify zero-rate outputs of at most 20 deg/s


def tilts_without_turning(gyro, forces):
    """Return whether the gravity direction is constant although the rates should change it.

    Parameters
    ----------
    gyro : ndarray, shape (n, 1 to 3)
        Angular velocities, assumed to be in rad/s.
    forces : numpy.ndarray, shape (n, 3)
        Specific forces in any unit.

    Returns
    -------
    bool
        True if gravity contradicts the rates.
    """
    known = np.isfinite(gyro).all(axis=1) & np.isfinite(forces).all(axis=1)
    gyro, forces = gyro[known], forces[known]
    if gyro.shape[1] != 3 or not known.any():
        return False
    up = forces / np.linalg.norm(forces, axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    mean = up.mean(axis=0)
    is_still = float(np.sqrt(np.mean(np.sum((up - mean) ** 2, axis=1)))) < _MAX_LEAN
    return is_still and float(np.linalg.norm(np.cross(gyro.mean(axis=0), mean))) > _MIN_OFFSET
