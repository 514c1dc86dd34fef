"""Check whether a robot can follow a trajectory, with suggestions for feasible trajectories."""

import math

import numpy as np
import pandas as pd

from ...core.errors import TooFastError, TrajectoryError
from ...core.tables import WHEELS
from ...motion.trajectory import add_velocities, interpolate, motion_at, scale, smooth
from .controllers import ControllerGains, LinearQuadratic, Pose2D, tracking_error

# Longest suggested smoothing window [s]; longer windows would distort every turn.
_LONGEST_SUGGESTED_WINDOW = 10.0
_SUGGESTED_WINDOWS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, _LONGEST_SUGGESTED_WINDOW)
_SUGGESTED_CAR_SCALES = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)


def _times(table):
    return table.index.to_numpy(dtype=float)


def wheel_velocities(trajectory, drivetrain):
    """Return the drivetrain commands with which a robot follows a trajectory without slip.

    Parameters
    ----------
    trajectory : pandas.DataFrame
        Table Trajectory.
    drivetrain : Drivetrain
        Drivetrain of the robot.

    Returns
    -------
    pandas.DataFrame
        Table WheelVelocities at the same times. The steering angles do not change while the robot
        is stationary.
    """
    commands = drivetrain.inverse(
        trajectory["v"].to_numpy(dtype=float),
        trajectory["yaw_rate"].to_numpy(dtype=float),
    )
    index = pd.Index(_times(trajectory), name="time")
    table = pd.DataFrame(dict(zip(drivetrain.commands, commands)), index)
    steering = list(drivetrain.commands[len(WHEELS) :])
    table[steering] = table[steering].ffill().fillna(0.0)
    return table


# Low gains, which suppress lateral noise: a lateral error of 1 m causes a yaw rate of 1 rad/s.
_ROLLING_GAINS = ControllerGains(lq_along_weight=4.0, lq_cross_weight=1.0, lq_yaw_weight=4.0)
_LONGEST_ROLLING_STEP = 0.05  # s


def roll_along(trajectory, robot):
    """Modify a trajectory so that a robot with wheels on one axle can follow it without sideslip.

    Position noise moves a recorded reference sideways, which a robot with wheels on one axle cannot
    follow without turning. Here a massless point follows the reference with linear-quadratic
    tracking (:class:`.LinearQuadratic`), in arcs between samples, within the curvature and steering
    rate limits of the robot. If the yaw and the course of a straight reference differ by a constant
    angle ``a``, the result is parallel to the reference at the distance ``a K_yaw / K_side``.

    Parameters
    ----------
    trajectory : pandas.DataFrame
        Table Trajectory.
    robot : RobotParameters
        Robot whose drivetrain limits curvature and steering rate.

    Returns
    -------
    pandas.DataFrame
        Table Trajectory at the same times, with the same first pose.
    """
    controller, drivetrain = LinearQuadratic(_ROLLING_GAINS, 1.0, robot), robot.drivetrain
    commanded = (0.0,) * len(drivetrain.commands)
    times = _times(trajectory)
    # Long steps would make the feedback unstable; its time constants are one to two seconds. A
    # tolerance of 1e-3 of a step prevents further steps due to rounded stamps (0.25 us since 1970).
    parts = max(1, math.ceil(np.max(np.diff(times)) / _LONGEST_ROLLING_STEP - 1e-3))
    count = len(times)
    times = np.interp(np.arange((count - 1) * parts + 1) / parts, np.arange(count), times)
    dense = interpolate(trajectory, times)
    samples = [dense[name].tolist() for name in ("x", "y", "yaw")]
    speeds, rates = (dense[name].to_numpy(dtype=float) for name in ("v", "yaw_rate"))
    steps = zip(
        np.diff(times).tolist(),
        (0.5 * (speeds[1:] + speeds[:-1])).tolist(),
        (0.5 * (rates[1:] + rates[:-1])).tolist(),
        *samples,
    )
    pose = Pose2D(*(values[0] for values in samples))
    poses = [pose]
    for step, v, yaw_rate, *reference in steps:
        error = tracking_error(Pose2D(*reference), pose)
        speed_change, turning = controller.correction(
            v, yaw_rate, *error.to_robot_axes(), error.yaw_error
        )
        v, yaw_rate = v + speed_change, yaw_rate + turning
        if drivetrain.min_turning_radius:
            demand = drivetrain.inverse(*drivetrain.limit(v, yaw_rate))
            commanded = drivetrain.reachable(demand, commanded, step)
            v, yaw_rate = drivetrain.forward(*commanded)
        turn = step * yaw_rate
        # The direction of an arc's chord is the mean yaw.
        chord = step * v * float(np.sinc(turn / (2.0 * math.pi)))
        course = pose.yaw + 0.5 * turn
        pose = Pose2D(
            pose.x + chord * math.cos(course), pose.y + chord * math.sin(course), pose.yaw + turn
        )
        poses.append(pose)
    table = pd.DataFrame(poses, columns=["x", "y", "yaw"], index=pd.Index(times, name="time"))
    return add_velocities(table).iloc[::parts].set_index(trajectory.index)


# A turn is impossible if the steering limits cause this yaw error [rad] in this time [s].
_MAX_MISSED_YAW, _MISSED_YAW_TIME = math.radians(1.0), 1.0


def describe_impossible_turn(trajectory, drivetrain) -> str:
    """Describe the first turn of a trajectory that exceeds the steering limits.

    A turn is impossible if the limits of steering angle and steering rate cause a yaw error of more
    than one degree within a second.

    Parameters
    ----------
    trajectory : pandas.DataFrame
        Table Trajectory.
    drivetrain : Drivetrain
        Drivetrain of the robot.

    Returns
    -------
    str
        Time, yaw rate and speed of the turn; empty if all turns are possible.
    """
    if not drivetrain.min_turning_radius:
        return ""
    times, v, yaw_rate = _times(trajectory), trajectory["v"], trajectory["yaw_rate"].to_numpy()
    desired = wheel_velocities(trajectory, drivetrain)
    reached_command, reached = desired.iloc[0].tolist(), []
    for step, commands in zip(np.diff(times, prepend=times[0]), desired.to_numpy()):
        reached_command = drivetrain.reachable(commands, reached_command, step)
        reached.append(drivetrain.forward(*reached_command)[1])
    missed = np.gradient(times) * (yaw_rate - reached)
    until = np.concatenate([[0.0], np.cumsum(missed)])
    later = np.minimum(np.searchsorted(times, times + _MISSED_YAW_TIME), len(times))
    turns = np.flatnonzero(np.abs(until[later] - until[:-1]) > _MAX_MISSED_YAW)
    if not len(turns):
        return ""
    first = turns[0]
    worst = first + int(np.argmax(np.abs(missed[first : later[first]])))
    return (
        f"at {times[worst] - times[0]:.2f} s the drive turns at "
        f"{math.degrees(abs(yaw_rate[worst])):.0f} deg/s and {abs(v.iloc[worst]):.2f} m/s, which "
        f"is impossible with a minimum turning radius of {drivetrain.min_turning_radius:.2f} m and "
        f"a steering rate of up to {math.degrees(drivetrain.max_steering_rate):.0f} deg/s"
    )


def _wheel_accelerations(wheels):
    """Return the wheel accelerations between consecutive samples, shape (n - 1, 2) [rad/s^2]."""
    return np.diff(wheels.to_numpy(), axis=0) / np.diff(_times(wheels))[:, np.newaxis]


def _driven_wheel_velocities(trajectory, drivetrain):
    return wheel_velocities(trajectory, drivetrain)[list(WHEELS)]


def _fits(trajectory, drivetrain):
    wheels, limits = _driven_wheel_velocities(trajectory, drivetrain), drivetrain.limits
    return bool(
        np.max(np.abs(wheels.to_numpy())) <= limits.max_wheel_velocity
        and np.max(np.abs(_wheel_accelerations(wheels))) <= limits.max_wheel_acceleration
    )


def _largest_fitting_scale(trajectory, drivetrain):
    """Return the largest scale factor with a feasible trajectory, or None."""

    def fits(hundredths):
        return _fits(scale(trajectory, hundredths / 100.0), drivetrain)

    if drivetrain.min_turning_radius:
        # A smaller path has tighter turns, so that bisection could miss a feasible scale factor.
        for factor in _SUGGESTED_CAR_SCALES:
            smaller = scale(trajectory, factor)
            if _fits(smaller, drivetrain) and not describe_impossible_turn(smaller, drivetrain):
                return factor
        return None
    if not fits(1):
        return None
    # As |a + b factor| is convex, the feasible scale factors form an interval; it contains 0.01.
    low, high = 1, 100
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low / 100.0


def _shortest_fitting_window(recorded, trajectory, factor, longer_than, drivetrain):
    """Return the shortest smoothing window with a feasible trajectory, or None."""
    times = _times(trajectory)
    recorded_times = _times(recorded)
    worst = _hardest_time(trajectory, drivetrain)

    def fits(poses, evaluated_times):
        smoothed = scale(motion_at(smooth(poses, window), evaluated_times), factor)
        return _fits(smoothed, drivetrain) and not describe_impossible_turn(smoothed, drivetrain)

    for window in _SUGGESTED_WINDOWS:
        if longer_than < window < 0.5 * (times[-1] - times[0]):
            # As smoothing a long drive is slow, the interval near the worst time is checked first.
            half_width = max(0.5 * window, 4.0 * (times[1] - times[0]))
            nearby_times = times[np.abs(times - worst) < half_width]
            span = worst - half_width - window, worst + half_width + window
            first, last = np.searchsorted(recorded_times, span)
            around = recorded.iloc[max(0, first - 1) : last + 1]
            if fits(around, nearby_times) and fits(recorded, times):
                return window
    return None


def _hardest_time(trajectory, drivetrain):
    """Return the time of the largest ratio of wheel velocity or acceleration to its limit [s]."""
    wheels, limits = _driven_wheel_velocities(trajectory, drivetrain), drivetrain.limits
    effort = np.abs(wheels.to_numpy()).max(axis=1) / limits.max_wheel_velocity
    accelerations = np.abs(_wheel_accelerations(wheels)).max(axis=1)
    effort[1:] = np.maximum(effort[1:], accelerations / limits.max_wheel_acceleration)
    return _times(trajectory)[int(np.argmax(effort))]


def _describe_excess(values, times, limit, unit, noun):
    excess = np.abs(values)
    count = int(np.count_nonzero(np.any(excess > limit, axis=1)))
    if count == 0:
        return ""
    row, wheel = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return (
        f"at {times[row]:.2f} s the {WHEELS[wheel]} wheel's {noun} is "
        f"{excess[row, wheel]:.3g} {unit}, {excess[row, wheel] / limit:.2f} times the limit of "
        f"{limit:g} {unit} ({count} of {len(values)} samples are above it)"
    )


def check_limits(trajectory, drivetrain, recorded=None, present_scale=1.0, present_window=0.0):
    """Reject a trajectory that exceeds the limits of the wheels, and suggest a remedy.

    Suggested scale factors and smoothing windows have been tested on the trajectory.

    Parameters
    ----------
    trajectory : pandas.DataFrame
        Table Trajectory.
    drivetrain : Drivetrain
        Drivetrain of the robot.
    recorded : pandas.DataFrame, optional
        Table Poses before smoothing, resampling and scaling, at times on the same clock. If given,
        the suggested window replaces the current window; if not, it is applied additionally.
    present_scale : float
        Scale factor with which the trajectory was computed from the recorded poses.
    present_window : float
        Smoothing window with which the trajectory was computed [s].

    Raises
    ------
    TooFastError
        A velocity or an acceleration of a wheel exceeds its limit.
    TrajectoryError
        A velocity is not a finite number.
    """
    if not np.all(np.isfinite(trajectory[["v", "yaw_rate"]].to_numpy(dtype=float))):
        raise TrajectoryError(
            "the trajectory has velocities that are not finite, expected finite numbers"
        )
    if _fits(trajectory, drivetrain):
        return
    wheels, limits = _driven_wheel_velocities(trajectory, drivetrain), drivetrain.limits
    elapsed = _times(trajectory) - _times(trajectory)[0]
    phrases = [
        _describe_excess(
            wheels.to_numpy(), elapsed, limits.max_wheel_velocity, "rad/s", "velocity"
        ),
        _describe_excess(
            _wheel_accelerations(wheels),
            elapsed,
            limits.max_wheel_acceleration,
            "rad/s^2",
            "acceleration",
        ),
    ]
    factor = _largest_fitting_scale(trajectory, drivetrain)
    if recorded is None:
        present_scale, present_window, recorded = 1.0, 0.0, trajectory
    window = _shortest_fitting_window(
        recorded, trajectory, present_scale, present_window, drivetrain
    )
    remedies = []
    if factor is not None:
        remedies.append(f"scale {present_scale * factor:.4g}")
    if window is not None:
        remedies.append(f"smoothing over {window:g} s")
    if remedies:
        advice = f"{' or '.join(remedies)} would stay within the limits"
    else:
        advice = (
            f"neither a smaller scale nor smoothing over up to {_LONGEST_SUGGESTED_WINDOW:g} s "
            "would stay within the limits; crop that part or choose another robot"
        )
    raise TooFastError(
        " and ".join(phrase for phrase in phrases if phrase),
        advice,
        None if factor is None else present_scale * factor,
        window,
    )
