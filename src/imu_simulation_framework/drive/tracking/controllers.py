"""Controllers that add a correction to the precomputed wheel velocities.

All of them answer ``correct(left, right, error)``: the wheel velocities that follow
from the reference by inverse kinematics, and the tracking error of this instant, give
the wheel velocities to command [rad/s]. Gains act on wheel velocities, so a yaw gain is
in rad/s of the wheel per rad, a distance gain in rad/s of the wheel per metre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.checked_values import checked_number
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import Settings, setting
from imu_simulation_framework.drive.tracking.reference import TrackingError


@dataclass(frozen=True)
class ControllerGains(Settings):
    """Gains of all controllers, for a robot with wheels of 0.1 m, a half track of 0.25 m and 20 Hz.

    Raises ConfigurationError: a value is out of range.

    Attributes
    ----------
    yaw_proportional, yaw_integral, yaw_derivative : float
        From the yaw error to wheel velocity [rad/s per rad, per rad s, per rad/s].
    distance_proportional, distance_integral, distance_derivative : float
        From the distance to wheel velocity [rad/s per m, per m s, per m/s].
    derivative_time_constant : float
        Of the derivatives' low-pass filter [s]; 0 is none.
    correction_limit : float
        Largest correction of a wheel's velocity [rad/s].
    """

    yaw_proportional: float = setting(8.0, unit="1/s", minimum=0.0)
    yaw_integral: float = setting(2.0, unit="1/s^2", minimum=0.0)
    yaw_derivative: float = setting(0.2, unit="1", minimum=0.0)
    distance_proportional: float = setting(10.0, unit="rad/s/m", minimum=0.0)
    distance_integral: float = setting(0.5, unit="rad/s^2/m", minimum=0.0)
    distance_derivative: float = setting(0.0, unit="rad/m", minimum=0.0)
    derivative_time_constant: float = setting(0.1, unit="s", minimum=0.0)
    correction_limit: float = setting(6.0, unit="rad/s", above=0.0, minimum=1e-6)


class Pid:
    """PID controller with a fixed period.

    ``output = P e + I integral(e) + D de/dt``, signed, within the output limit. The derivative is
    that of the error after a first-order low-pass filter. While the output is at its limit the
    integral only changes if that leads away from the limit (conditional integration; Astrom and
    Hagglund: Advanced PID Control, section 3.5). Raises ConfigurationError: if the period or the
    limit is not positive, or a gain or the time constant is negative.

    Parameters
    ----------
    proportional, integral, derivative : float
        Gains P [output/error], I [output/error/s] and D [output s/error].
    period : float
        Time between two steps [s].
    derivative_time_constant : float
        Time constant of the derivative's filter [s]; 0 is no filter.
    output_limit : float
        Largest magnitude of the output.
    angular : bool
        The error is an angle [rad]: its change from step to step is wrapped, so that
        passing half a turn does not look like a jump.
    """

    def __init__(
        self,
        proportional,
        integral,
        derivative,
        period,
        derivative_time_constant=0.0,
        output_limit=math.inf,
        angular=False,
    ):
        for name, value in (
            ("proportional gain", proportional),
            ("integral gain", integral),
            ("derivative gain", derivative),
            ("derivative time constant", derivative_time_constant),
        ):
            checked_number(f"A controller's {name}", value, minimum=0.0)
        checked_number("A controller's period", period, above=0.0)
        if output_limit != math.inf:
            checked_number("A controller's output limit", output_limit, above=0.0)
        self.proportional = proportional
        self.integral = integral
        self.derivative = derivative
        self.period = period
        self.output_limit = output_limit
        self.angular = angular
        self._filter_gain = period / (derivative_time_constant + period)
        self.reset()

    def reset(self):
        """Forget the past: no integral, no derivative at the next step."""
        self._sum = 0.0
        self._rate = 0.0
        self._previous = None

    def step(self, error, integrate=True):
        """Return the output for the next error.

        Raises ValueError: if the error is not finite; it would stay in the integral for ever.

        Parameters
        ----------
        error : float
        integrate : bool
            False keeps the integral as it is, for a caller who knows that the
            actuator cannot follow.
        """
        if not math.isfinite(error):
            raise ValueError(f"the control error is {error}")
        if self._previous is not None:
            change = error - self._previous
            if self.angular:
                change = wrap(change)
            self._rate += self._filter_gain * (change / self.period - self._rate)
        self._previous = error

        immediate = self.proportional * error + self.derivative * self._rate
        increment = self.integral * error * self.period if integrate else 0.0
        wanted = immediate + self._sum + increment
        limited = min(max(wanted, -self.output_limit), self.output_limit)
        if wanted == limited or increment * wanted < 0.0:
            self._sum += increment
        return limited


def _limit_wheels(mean, half_difference, max_wheel_velocity):
    """Return (left, right) within the limit; turning takes precedence over driving.

    A robot that is late on its way can catch up; one that misses a turn drives away.
    """
    half_difference = min(max(half_difference, -max_wheel_velocity), max_wheel_velocity)
    room = max_wheel_velocity - abs(half_difference)
    mean = min(max(mean, -room), room)
    return mean - half_difference, mean + half_difference


class OpenLoop:
    """No correction."""

    def correct(self, left, right, error):
        """Return the wheel velocities [rad/s] as they are."""
        return left, right

    def reset(self):
        """Do nothing: there is no past."""


class YawPid:
    """PID on the yaw error: ``left -= u``, ``right += u``.

    Parameters
    ----------
    pid : Pid
        From yaw error [rad] to wheel velocity [rad/s].
    max_wheel_velocity : float
        Largest magnitude of what is commanded [rad/s].
    """

    def __init__(self, pid, max_wheel_velocity):
        self._pid = pid
        self._max_wheel_velocity = max_wheel_velocity

    def correct(self, left, right, error):
        """Return the corrected wheel velocities (left, right) [rad/s].

        Parameters
        ----------
        left, right : float
            Precomputed wheel velocities [rad/s].
        """
        turning = self._pid.step(error.yaw_error)
        return _limit_wheels(
            0.5 * (left + right),
            0.5 * (right - left) + turning,
            self._max_wheel_velocity,
        )

    def reset(self):
        """Forget integral and derivative."""
        self._pid.reset()


class YawDistancePid:
    """PID on the yaw error together with PID on the distance to the reference.

    The distance vector is split along the robot's axes. Its part ahead, through a PID,
    drives both wheels. Its part to the side, through a PID of the same gains, says how
    fast the robot should come closer sideways; a differential drive can only do that by
    driving at an angle to the reference, so this becomes an offset of the heading that the
    yaw PID follows::

        offset = u_side * w / (w^2 + w_0^2)

    with w the mean precomputed wheel velocity. At speed that is ``u_side / w``, the
    angle that gives the wanted sideways velocity; it changes its sign when the robot
    drives backwards, and vanishes at standstill, where an angle to the reference point
    would be undefined and the robot would spin. The precomputed speed is multiplied by the
    cosine of the yaw error, as in Kanayama et al., "A stable tracking control method for an
    autonomous mobile robot", ICRA 1990, eq. 8.

    Parameters
    ----------
    yaw_pid : Pid
        From yaw error [rad] to wheel velocity [rad/s].
    along_pid, cross_pid : Pid
        From distance [m] to wheel velocity [rad/s]; two, as each has its own integral.
    max_wheel_velocity : float
        Largest magnitude of what is commanded [rad/s].
    transition_velocity : float
        w_0, wheel velocity below which steering to the side fades out [rad/s].
    max_heading_offset : float
        Largest magnitude of the offset [rad].
    """

    def __init__(
        self,
        yaw_pid,
        along_pid,
        cross_pid,
        max_wheel_velocity,
        transition_velocity=2.0,
        max_heading_offset=0.7,
    ):
        self._yaw_pid = yaw_pid
        self._along_pid = along_pid
        self._cross_pid = cross_pid
        self._max_wheel_velocity = max_wheel_velocity
        self._transition_velocity = transition_velocity
        self._max_heading_offset = max_heading_offset
        self._along_is_limited = False
        self._cross_is_limited = False

    def correct(self, left, right, error):
        """Return the corrected wheel velocities (left, right) [rad/s].

        Parameters
        ----------
        left, right : float
            Precomputed wheel velocities [rad/s].
        """
        mean = 0.5 * (left + right)
        cosine = math.cos(error.yaw_error)
        sine = math.sin(error.yaw_error)
        ahead = cosine * error.along_track_error - sine * error.cross_track_error
        side = sine * error.along_track_error + cosine * error.cross_track_error

        driving = self._along_pid.step(ahead, integrate=not self._along_is_limited)

        # Standing, the robot cannot reduce an error to the side: integrating it would
        # only store a swerve for the start.
        is_rolling = abs(mean) > self._transition_velocity
        sideways = self._cross_pid.step(side, integrate=is_rolling and not self._cross_is_limited)
        wanted = sideways * mean / (mean * mean + self._transition_velocity**2)
        offset = min(max(wanted, -self._max_heading_offset), self._max_heading_offset)
        self._cross_is_limited = offset != wanted

        turning = self._yaw_pid.step(wrap(error.yaw_error + offset))
        wanted = mean * cosine + driving
        left, right = _limit_wheels(
            wanted, 0.5 * (right - left) + turning, self._max_wheel_velocity
        )
        self._along_is_limited = abs(0.5 * (left + right) - wanted) > 1e-9
        return left, right

    def reset(self):
        """Forget integrals and derivatives."""
        for pid in (self._yaw_pid, self._along_pid, self._cross_pid):
            pid.reset()
        self._along_is_limited = False
        self._cross_is_limited = False


def _make_pid(prefix, gains, period, angular=False):
    return Pid(
        getattr(gains, f"{prefix}_proportional"),
        getattr(gains, f"{prefix}_integral"),
        getattr(gains, f"{prefix}_derivative"),
        period,
        gains.derivative_time_constant,
        gains.correction_limit,
        angular=angular,
    )


def _make_open_loop(gains, period, limits):
    return OpenLoop()


def _make_yaw_pid(gains, period, limits):
    return YawPid(_make_pid("yaw", gains, period, angular=True), limits.max_wheel_velocity)


def _make_yaw_distance_pid(gains, period, limits):
    return YawDistancePid(
        _make_pid("yaw", gains, period, angular=True),
        _make_pid("distance", gains, period),
        _make_pid("distance", gains, period),
        limits.max_wheel_velocity,
    )


CONTROLLERS = {
    "open_loop": _make_open_loop,
    "yaw_pid": _make_yaw_pid,
    "yaw_distance_pid": _make_yaw_distance_pid,
}
"""Name to function of (ControllerGains, period [s], RobotLimits)."""


def make_controller(name, gains, period, limits):
    """Return a controller by its name.

    Raises ConfigurationError: if the name is unknown, or the period is not positive.

    Parameters
    ----------
    name : str
        One of `CONTROLLERS`.
    period : float
        Control period [s].
    """
    if name not in CONTROLLERS:
        raise ConfigurationError(
            f"There is no controller '{name}'; choose one of {', '.join(CONTROLLERS)}."
        )
    return CONTROLLERS[name](gains, period, limits)


NO_ERROR = TrackingError(0.0, 0.0, 0.0, 0.0)


class Follower:
    """Follows a reference: feed-forward by inverse kinematics, corrected by a controller.

    Parameters
    ----------
    reference : Reference
        With wheel velocities; time zero is the start of the drive.
    controller
        One of :mod:`imu_simulation_framework.drive.tracking.controllers`.
    period : float
        Control period [s].
    """

    def __init__(self, reference, controller, period: float) -> None:
        self.reference = reference
        self._controller = controller
        self._period = period

    def command(self, time: float, error: TrackingError = NO_ERROR):
        """Return wheel velocities (left, right) [rad/s] for the control period that begins now.

        Parameters
        ----------
        time : float
            Since the start of the drive [s].
        error : TrackingError
            Of this moment.
        """
        # Held for one period, so the value in its middle follows best.
        left, right = self.reference.wheel_velocities_at(time + 0.5 * self._period)
        return self._controller.correct(left, right, error)

    def finished(self, time: float) -> bool:
        """Return whether the drive has come to its end."""
        return time > self.reference.duration - 0.5 * self._period
