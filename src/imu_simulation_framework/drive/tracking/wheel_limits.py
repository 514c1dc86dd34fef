"""Whether the robot can follow a trajectory, and what would help if it cannot."""

import math

import numpy as np
import pandas as pd

from ...core.errors import TooFastError, TrajectoryError
from ...core.tables import WHEELS
from ...motion.trajectory import add_velocities, interpolate, motion_at, scale, smooth
from .controllers import ControllerGains, LinearQuadratic, Pose2D, tracking_error

# Suggestions for smoothing are tried up to here; a longer window cuts every corner.
_LONGEST_SUGGESTED_WINDOW = 10.0
_SUGGESTED_WINDOWS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, _LONGEST_SUGGESTED_WINDOW)
_SCALES_OF_CARS = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)


def _times(table):
    return table.index.to_numpy(dtype=float)


def wheel_velocities(trajectory, drivetrain):
    """Return the commands that drive the trajectory if nothing slips.

    ``trajectory`` (pandas.DataFrame): Trajectory. Returns pandas.DataFrame: WheelVelocities, at the
    same times; what steers stays as it is while the robot stands.
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


# Slow enough to leave most of a reference's noise to the side behind: 1 m turns by 1 rad/s.
_ROLLING_GAINS = ControllerGains(lq_along_weight=4.0, lq_cross_weight=1.0, lq_yaw_weight=4.0)
_LONGEST_ROLLING_STEP = 0.05  # s


def rolled(trajectory, robot):
    """Return the trajectory of wheels that roll after another one, and never move to the side.

    Noise of recorded positions moves a reference to its side, where no robot with wheels on one
    axle can follow it without turning. A point that rolls in arcs from sample to sample follows it
    here as linear-quadratic tracking says, :class:`.LinearQuadratic`, without any robot's inertia,
    and turns no tighter and steers no faster than the robot can.
    An angle ``a`` between yaw and course, constant on a straight at speed v, is answered by driving
    beside the reference at ``a K_yaw / K_side``.

    ``trajectory`` (pandas.DataFrame): Trajectory. ``robot`` (RobotParameters). Returns
    pandas.DataFrame: Trajectory, at the same times, from the same first pose.
    """
    controller, drivetrain = LinearQuadratic(_ROLLING_GAINS, 1.0, robot), robot.drivetrain
    commanded = (0.0,) * len(drivetrain.commands)
    times = _times(trajectory)
    # A slow control rate would make the feedback, one or two seconds fast, unstable.
    # Stamps since 1970 are rounded to a quarter of a microsecond.
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
        faster, turning = controller.correction(
            v, yaw_rate, *error.to_robot_axes(), error.yaw_error
        )
        v, yaw_rate = v + faster, yaw_rate + turning
        if drivetrain.least_radius:
            wanted = drivetrain.inverse(*drivetrain.limited(v, yaw_rate))
            commanded = drivetrain.reachable(wanted, commanded, step)
            v, yaw_rate = drivetrain.forward(*commanded)
        turn = step * yaw_rate
        # The chord of an arc has the direction of its mean yaw.
        chord = step * v * float(np.sinc(turn / (2.0 * math.pi)))
        course = pose.yaw + 0.5 * turn
        pose = Pose2D(
            pose.x + chord * math.cos(course), pose.y + chord * math.sin(course), pose.yaw + turn
        )
        poses.append(pose)
    table = pd.DataFrame(poses, columns=["x", "y", "yaw"], index=pd.Index(times, name="time"))
    return add_velocities(table).iloc[::parts].set_index(trajectory.index)


_MISSED_YAW, _MISSED_WITHIN = math.radians(1.0), 1.0  # rad within s


def untaken_turn(trajectory, drivetrain) -> str:
    """Return where a trajectory turns as a robot that steers cannot, in words; empty if nowhere.

    That is where its steering, at its limit or still on the way, would miss a degree of yaw within
    a second. ``trajectory`` (pandas.DataFrame): Trajectory.
    """
    if not drivetrain.least_radius:
        return ""
    times, v, yaw_rate = _times(trajectory), trajectory["v"], trajectory["yaw_rate"].to_numpy()
    wanted = wheel_velocities(trajectory, drivetrain)
    held, reached = wanted.iloc[0].tolist(), []
    for step, commands in zip(np.diff(times, prepend=times[0]), wanted.to_numpy()):
        held = drivetrain.reachable(commands, held, step)
        reached.append(drivetrain.forward(*held)[1])
    missed = np.gradient(times) * (yaw_rate - reached)
    until = np.concatenate([[0.0], np.cumsum(missed)])
    later = np.minimum(np.searchsorted(times, times + _MISSED_WITHIN), len(times))
    turns = np.flatnonzero(np.abs(until[later] - until[:-1]) > _MISSED_YAW)
    if not len(turns):
        return ""
    first = turns[0]
    worst = first + int(np.argmax(np.abs(missed[first : later[first]])))
    return (
        f"at {times[worst] - times[0]:.2f} s the drive turns by "
        f"{math.degrees(abs(yaw_rate[worst])):.0f} deg/s at {abs(v.iloc[worst]):.2f} m/s, which a "
        f"robot with a least turning radius of {drivetrain.least_radius:.2f} m, that steers by up "
        f"to {math.degrees(drivetrain.max_steering_rate):.0f} deg/s, cannot"
    )


def _wheel_accelerations(wheels):
    """Return the accelerations between consecutive samples, (n - 1, 2) [rad/s^2]."""
    return np.diff(wheels.to_numpy(), axis=0) / np.diff(_times(wheels))[:, np.newaxis]


def _driven(trajectory, drivetrain):
    """Return the velocities of the driven wheels."""
    return wheel_velocities(trajectory, drivetrain)[list(WHEELS)]


def _fits(trajectory, drivetrain):
    wheels, limits = _driven(trajectory, drivetrain), drivetrain.limits
    return bool(
        np.max(np.abs(wheels.to_numpy())) <= limits.max_wheel_velocity
        and np.max(np.abs(_wheel_accelerations(wheels))) <= limits.max_wheel_acceleration
    )


def _largest_fitting_scale(trajectory, drivetrain):
    """Return the largest factor, in steps of 0.01, that fits, or None."""

    def fits(hundredths):
        return _fits(scale(trajectory, hundredths / 100.0), drivetrain)

    if drivetrain.least_radius:
        # A smaller path is a tighter one, so that no small scale has to fit.
        smaller = (scale(trajectory, factor) for factor in _SCALES_OF_CARS)
        able = (_fits(one, drivetrain) and not untaken_turn(one, drivetrain) for one in smaller)
        return next((factor for factor, can in zip(_SCALES_OF_CARS, able) if can), None)
    if not fits(1):
        return None
    # What fits is an interval that holds a fitting small one, as |a + b factor| is convex.
    low, high = 1, 100
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low / 100.0


def _shortest_fitting_window(recorded, trajectory, factor, longer_than, drivetrain):
    """Return the shortest of the usual smoothing windows that fits, or None.

    The recorded poses are smoothed, and what the trajectory has of them is looked at.
    """
    times = _times(trajectory)
    recorded_times = _times(recorded)
    worst = _hardest_time(trajectory, drivetrain)

    def fits(poses, where):
        smoothed = scale(motion_at(smooth(poses, window), where), factor)
        return _fits(smoothed, drivetrain) and not untaken_turn(smoothed, drivetrain)

    for window in _SUGGESTED_WINDOWS:
        if longer_than < window < 0.5 * (times[-1] - times[0]):
            # Smoothing a long drive takes long, so first where it matters most.
            reach = max(0.5 * window, 4.0 * (times[1] - times[0]))
            near = times[np.abs(times - worst) < reach]
            span = worst - reach - window, worst + reach + window
            first, last = np.searchsorted(recorded_times, span)
            around = recorded.iloc[max(0, first - 1) : last + 1]
            if fits(around, near) and fits(recorded, times):
                return window
    return None


def _hardest_time(trajectory, drivetrain):
    """When a wheel is farthest beyond what it can [s]."""
    wheels, limits = _driven(trajectory, drivetrain), drivetrain.limits
    effort = np.abs(wheels.to_numpy()).max(axis=1) / limits.max_wheel_velocity
    accelerations = np.abs(_wheel_accelerations(wheels)).max(axis=1)
    effort[1:] = np.maximum(effort[1:], accelerations / limits.max_wheel_acceleration)
    return _times(trajectory)[int(np.argmax(effort))]


def _describe_excess(values, times, limit, unit, noun):
    excess = np.abs(values)
    above = int(np.count_nonzero(np.any(excess > limit, axis=1)))
    if above == 0:
        return ""
    row, wheel = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return (
        f"at {times[row]:.2f} s the {WHEELS[wheel]} wheel's {noun} is "
        f"{excess[row, wheel]:.3g} {unit}, {excess[row, wheel] / limit:.2f} times the limit of "
        f"{limit:g} {unit} ({above} of {len(values)} samples are above it)"
    )


def check_limits(trajectory, drivetrain, recorded=None, present_scale=1.0, present_window=0.0):
    """Refuse a trajectory that the robot's wheels cannot follow, and say what would help.

    Both suggestions, a smaller scale and a longer smoothing window, are tried on the trajectory
    before they are made. Raises TooFastError: if a wheel would have to be faster, or accelerate
    more, than it can. Raises TrajectoryError: if a velocity is no finite number. ``trajectory``
    (pandas.DataFrame): Trajectory; ``recorded`` (pandas.DataFrame): Poses before smoothing,
    resampling and scaling, at times that count as the trajectory's do, so that the window suggested
    is the whole window and not one in addition to what was done; ``present_scale``,
    ``present_window``: scale and smoothing window [s] with which the trajectory was made from it.
    """
    if not np.all(np.isfinite(trajectory[["v", "yaw_rate"]].to_numpy(dtype=float))):
        raise TrajectoryError("The trajectory has velocities that are not finite numbers.")
    if _fits(trajectory, drivetrain):
        return
    wheels, limits = _driven(trajectory, drivetrain), drivetrain.limits
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
        advice = f"{' or '.join(remedies)} would fit"
    else:
        advice = (
            "neither a smaller scale nor smoothing over up to "
            f"{_LONGEST_SUGGESTED_WINDOW:g} s would fit, so crop that part or take another robot"
        )
    raise TooFastError(
        " and ".join(phrase for phrase in phrases if phrase),
        advice,
        None if factor is None else present_scale * factor,
        window,
    )
