"""References, tracking errors and controllers.

The method ``correct(v, yaw_rate, error)`` of a controller computes the speed [m/s] and the yaw rate
[rad/s] of the robot from the speed and the yaw rate of the reference and the current tracking
error. The drivetrain converts them to commands.

The output u of a PID controller is a wheel velocity [rad/s], so that yaw gains have the unit rad/s
per rad and distance gains rad/s per m. With the wheel radius R and half the track width L of the
drivetrain, u on both wheels changes the speed by ``u R``; u on the right wheel and -u on the left
wheel change the yaw rate by ``u R / L``.

Controllers with a distance gain add the sideslip of the drivetrain to the heading, because the
robot slides outwards in turns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from ...core.angles import wrap
from ...core.checks import check_number
from ...core.errors import ConfigurationError, TrajectoryError
from ...core.settings import TextSettings, setting
from ...core.tables import TRAJECTORY
from ..drivetrain import Drivetrain
from ..robots.parameters import RobotParameters


class Pose2D(NamedTuple):
    """Pose in the plane.

    Attributes
    ----------
    x, y : float
        Position [m].
    yaw : float
        Yaw [rad].
    """

    x: float
    y: float
    yaw: float


class TrackingError(NamedTuple):
    """Tracking error, reference pose minus actual pose.

    Attributes
    ----------
    yaw_error : float
        Yaw error in (-pi, pi] [rad]; if it is negative, the robot points too far to the left and
        has to turn right.
    distance_error : float
        Distance to the position of the reference [m], never negative.
    along_track_error : float
        Component of the position error along the x axis of the reference [m]; positive if the
        reference is ahead.
    cross_track_error : float
        Component of the position error along the y axis of the reference [m]; positive if the
        reference is to the left.
    """

    yaw_error: float
    distance_error: float
    along_track_error: float
    cross_track_error: float

    def to_robot_axes(self):
        """Return the position error in the axes of the robot.

        Returns
        -------
        ahead, left : float
            Components along the x and y axes of the robot [m].
        """
        cosine, sine = math.cos(self.yaw_error), math.sin(self.yaw_error)
        return (
            cosine * self.along_track_error - sine * self.cross_track_error,
            sine * self.along_track_error + cosine * self.cross_track_error,
        )


def tracking_error(reference, actual):
    """Return the tracking error between two poses.

    Parameters
    ----------
    reference, actual : Pose2D
        Poses of the reference and the robot at the same time.

    Returns
    -------
    TrackingError
    """
    east = reference.x - actual.x
    north = reference.y - actual.y
    cosine = math.cos(reference.yaw)
    sine = math.sin(reference.yaw)
    return TrackingError(
        yaw_error=wrap(reference.yaw - actual.yaw),
        distance_error=math.hypot(east, north),
        along_track_error=cosine * east + sine * north,
        cross_track_error=cosine * north - sine * east,
    )


class Reference:
    """Trajectory that is interpolated at a single time per call, for use in control loops.

    The interpolation between samples is linear. Before the first and after the last sample, the
    reference is stationary.

    Parameters
    ----------
    time : array_like, shape (n,)
        Time [s], ascending.
    x, y : array_like, shape (n,)
        Position [m].
    yaw : array_like, shape (n,)
        Unwrapped yaw [rad].
    v : array_like, shape (n,), optional
        Speed [m/s].
    yaw_rate : array_like, shape (n,), optional
        Yaw rate [rad/s].

    Attributes
    ----------
    start, stop : float
        Times of the first and the last sample [s].

    Raises
    ------
    TrajectoryError
        The trajectory has fewer than two samples.
    """

    def __init__(self, time, x, y, yaw, v=None, yaw_rate=None):
        if len(time) < 2:
            raise TrajectoryError(f"the reference has {len(time)} samples, expected at least 2")
        # Indexing NumPy arrays takes ten times as long; lists of floats take four times the memory.
        self._time, self._x, self._y, self._yaw = (
            array("d", values) for values in (time, x, y, yaw)
        )
        self._v = self._yaw_rate = None
        if v is not None and yaw_rate is not None:
            self._v, self._yaw_rate = array("d", v), array("d", yaw_rate)
        if len({len(column) for column in self.poses()}) > 1:
            raise ValueError("the columns of a reference must have the same length")
        self.start = self._time[0]
        self.stop = self._time[-1]

    @classmethod
    def from_table(cls, trajectory):
        """Create a reference from a trajectory, or from poses without velocities.

        Parameters
        ----------
        trajectory : DataFrame
            Trajectory or Poses.

        Returns
        -------
        Reference
            Interpolated reference.
        """
        columns = [trajectory.get(name) for name in TRAJECTORY]
        return cls(trajectory.index, *columns)

    def poses(self):
        """Return the poses at all samples.

        Returns
        -------
        tuple of array.array
            Time [s], x, y [m] and yaw [rad].
        """
        return self._time, self._x, self._y, self._yaw

    @property
    def duration(self):
        """Duration from the first to the last sample [s]."""
        return self.stop - self.start

    def _locate(self, time):
        times = self._time
        if time <= times[0]:
            return 0, 0.0
        if time >= times[-1]:
            return len(times) - 2, 1.0
        index = bisect_right(times, time) - 1
        return index, (time - times[index]) / (times[index + 1] - times[index])

    def pose_at(self, time):
        """Return the interpolated pose at a time.

        Parameters
        ----------
        time : float
            Time on the clock of the trajectory [s].

        Returns
        -------
        Pose2D
            Pose with unwrapped yaw, as in the table.
        """
        index, fraction = self._locate(time)
        complement = 1.0 - fraction
        following = index + 1
        return Pose2D(
            complement * self._x[index] + fraction * self._x[following],
            complement * self._y[index] + fraction * self._y[following],
            complement * self._yaw[index] + fraction * self._yaw[following],
        )

    def velocities_at(self, time):
        """Return the interpolated speed and yaw rate at a time.

        Parameters
        ----------
        time : float
            Time on the clock of the trajectory [s]. A command that applies for a control period
            follows the trajectory best with the values at the middle of the period.

        Returns
        -------
        v, yaw_rate : float
            Speed [m/s] and yaw rate [rad/s], zero before the start and after the end.

        Raises
        ------
        ValueError
            The reference has no velocities.
        """
        if self._v is None:
            raise ValueError("the reference has no velocities")
        if time < self.start or time > self.stop:
            return 0.0, 0.0
        index, fraction = self._locate(time)
        complement = 1.0 - fraction
        following = index + 1
        return (
            complement * self._v[index] + fraction * self._v[following],
            complement * self._yaw_rate[index] + fraction * self._yaw_rate[following],
        )


_WEIGHT = "weight of the squared error {} relative to the weight of the squared corrections"


@dataclass(frozen=True)
class ControllerGains(TextSettings):
    """Gains of all controllers.

    The default values are for a robot with a wheel radius of 0.1 m and a track width of 0.5 m, at a
    control rate of 20 Hz.

    Parameters
    ----------
    yaw_proportional, yaw_integral, yaw_derivative : float
        Gains from the yaw error to the wheel velocity [rad/s per rad, per rad s, per rad/s].
    distance_proportional, distance_integral, distance_derivative : float
        Gains from the distance to the wheel velocity [rad/s per m, per m s, per m/s].
    derivative_time_constant : float
        Time constant of the low-pass filter for derivatives [s]; 0 disables the filter.
    correction_limit : float
        Largest correction of a wheel velocity [rad/s].
    ramsete_b : float
        Parameter b of RAMSETE: weight of a distance relative to an angle [rad^2/m^2].
    ramsete_damping : float
        Damping zeta of RAMSETE, below 1.
    lq_along_weight, lq_cross_weight, lq_yaw_weight : float
        Weights of the squared errors [1/s^2, rad^2/s^2/m^2, 1/s^2] relative to the squared
        corrections of speed and yaw rate.

    Raises
    ------
    ConfigurationError
        A value is out of range.
    """

    yaw_proportional: float = setting(
        8.0, unit="1/s", minimum=0.0, about="gain: wheel velocity per yaw error"
    )
    yaw_integral: float = setting(
        2.0, unit="1/s^2", minimum=0.0, about="gain: wheel velocity per integral of the yaw error"
    )
    yaw_derivative: float = setting(
        0.2, unit="1", minimum=0.0, about="gain: wheel velocity per derivative of the yaw error"
    )
    distance_proportional: float = setting(
        10.0, unit="rad/s/m", minimum=0.0, about="gain: wheel velocity per distance error"
    )
    distance_integral: float = setting(
        0.5,
        unit="rad/s^2/m",
        minimum=0.0,
        about="gain: wheel velocity per integral of the distance error",
    )
    distance_derivative: float = setting(
        0.0,
        unit="rad/m",
        minimum=0.0,
        about="gain: wheel velocity per derivative of the distance error",
    )
    derivative_time_constant: float = setting(
        0.1,
        unit="s",
        minimum=0.0,
        about="time constant of the low-pass filter for derivatives; 0: no filter",
    )
    correction_limit: float = setting(
        6.0,
        unit="rad/s",
        above=0.0,
        minimum=1e-6,
        about="largest correction of a wheel velocity",
    )
    ramsete_b: float = setting(
        4.0,
        unit="rad^2/m^2",
        above=0.0,
        minimum=1e-6,
        about="RAMSETE: weight of the distance relative to the angle",
    )
    ramsete_damping: float = setting(
        0.7, unit="1", above=0.0, minimum=1e-6, maximum=0.999, about="RAMSETE: damping"
    )
    lq_along_weight: float = setting(
        4.0,
        unit="1/s^2",
        minimum=0.0,
        about=f"linear-quadratic: {_WEIGHT.format('along the path')}",
    )
    lq_cross_weight: float = setting(
        9.0,
        unit="rad^2/s^2/m^2",
        minimum=0.0,
        about=f"linear-quadratic: {_WEIGHT.format('across the path')}",
    )
    lq_yaw_weight: float = setting(
        9.0, unit="1/s^2", minimum=0.0, about=f"linear-quadratic: {_WEIGHT.format('in yaw')}"
    )


_TERMS = ("proportional", "integral", "derivative")


class Pid:
    """PID controller with a fixed period, a filtered derivative and anti-windup.

    The output is ``P e + I integral(e) + D de/dt``, signed and limited. The derivative is computed
    from the error after a first-order low-pass filter. While the output is at its limit, the
    integral changes only in the direction away from the limit (conditional integration; Astrom and
    Hagglund: Advanced PID Control, section 3.5).

    Parameters
    ----------
    proportional, integral, derivative : float
        Gains P [output/error], I [output/error/s] and D [output s/error].
    period : float
        Time between two steps [s].
    derivative_time_constant : float
        Time constant of the derivative filter [s]; 0 disables the filter.
    output_limit : float
        Largest magnitude of the output.
    angular : bool
        Whether the error is an angle [rad]. If so, its change between steps is wrapped, so that the
        derivative has no peak when the angle wraps.

    Raises
    ------
    ConfigurationError
        The period or the limit is not positive, or a gain or the time constant is negative.
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
        names = (*(f"{term} gain" for term in _TERMS), "derivative time constant")
        values = (proportional, integral, derivative, derivative_time_constant)
        for name, value in zip(names, values):
            check_number(f"A controller's {name}", value, minimum=0.0)
        check_number("A controller's period", period, above=0.0)
        if output_limit != math.inf:
            check_number("A controller's output limit", output_limit, above=0.0)
        self._gains = proportional, integral, derivative
        self._period = period
        self._output_limit = output_limit
        self._angular = angular
        self._filter_gain = period / (derivative_time_constant + period)
        self._sum = self._rate = 0.0
        self._previous = None

    def step(self, error, integrate=True):
        """Return the output for the next error.

        Parameters
        ----------
        error : float
            Control error.
        integrate : bool
            Whether the integral may change; false if the actuator cannot follow.

        Returns
        -------
        float
            Control output.

        Raises
        ------
        ValueError
            The error is not finite, and would corrupt the integral.
        """
        if not math.isfinite(error):
            raise ValueError(f"control error is {error}, expected a finite number")
        if self._previous is not None:
            change = error - self._previous
            if self._angular:
                change = wrap(change)
            self._rate += self._filter_gain * (change / self._period - self._rate)
        self._previous = error

        proportional, integral, derivative = self._gains
        immediate = proportional * error + derivative * self._rate
        increment = integral * error * self._period if integrate else 0.0
        unlimited = immediate + self._sum + increment
        limited = min(max(unlimited, -self._output_limit), self._output_limit)
        if unlimited == limited or increment * unlimited < 0.0:
            self._sum += increment
        return limited


def _make_pid(prefix, gains, period, angular=False):
    terms = (getattr(gains, f"{prefix}_{term}") for term in _TERMS)
    time_constant, limit = gains.derivative_time_constant, gains.correction_limit
    return Pid(*terms, period, time_constant, limit, angular)


class OpenLoop:
    """Controller without feedback.

    Parameters
    ----------
    gains : ControllerGains
        Ignored.
    period : float
        Ignored.
    robot : RobotParameters
        Ignored.
    """

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        pass

    def correct(self, v, yaw_rate, error):
        """Return the speed and the yaw rate of the reference.

        Parameters
        ----------
        v : float
            Speed of the reference [m/s].
        yaw_rate : float
            Yaw rate of the reference [rad/s].
        error : TrackingError
            Ignored.

        Returns
        -------
        v, yaw_rate : float
            Unchanged speed [m/s] and yaw rate [rad/s].
        """
        return v, yaw_rate


class Controller(ABC):
    """Base class of controllers with feedback.

    Parameters
    ----------
    gains : ControllerGains
        Gains of all controllers.
    period : float
        Control period [s].
    robot : RobotParameters
        Robot whose drivetrain limits speed and yaw rate.
    """

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        check_number("A controller's period", period, above=0.0)
        self._gains = gains
        self._drivetrain = robot.drivetrain
        self._radius = robot.drivetrain.wheel_radius
        self._turning_radius = self._radius / robot.drivetrain.half_track
        # Whether the drivetrain limited the previous speed and the previous yaw rate.
        self._is_limited = False, False

    @abstractmethod
    def correct(self, v, yaw_rate, error):
        """Return the corrected speed [m/s] and yaw rate [rad/s].

        Parameters
        ----------
        v : float
            Speed of the reference [m/s].
        yaw_rate : float
            Yaw rate of the reference [rad/s].
        error : TrackingError
            Current tracking error.
        """

    def _limit(self, *demand):
        limited = self._drivetrain.limit(*demand)
        # Differences below 1e-9 are rounding errors.
        self._is_limited = tuple(abs(a - b) > 1e-9 for a, b in zip(limited, demand))
        return limited


class YawPid(Controller):
    """PID on the yaw error; its output is added to the right and subtracted from the left wheel."""

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        super().__init__(gains, period, robot)
        self._pid = _make_pid("yaw", gains, period, angular=True)

    def correct(self, v, yaw_rate, error):
        """Return the corrected speed [m/s] and yaw rate [rad/s].

        Parameters
        ----------
        v : float
            Speed of the reference [m/s].
        yaw_rate : float
            Yaw rate of the reference [rad/s].
        error : TrackingError
            Current tracking error.
        """
        _, turn_is_limited = self._is_limited
        turning = self._pid.step(error.yaw_error, integrate=not turn_is_limited)
        return self._limit(v, yaw_rate + self._turning_radius * turning)


# Wheel velocity w_0 below which the lateral correction fades out [rad/s].
_TRANSITION_VELOCITY = 2.0
# Largest heading offset with which the robot returns to the path [rad].
_MAX_HEADING_OFFSET = 0.7


class YawDistancePid(Controller):
    """PID on the yaw error, and PIDs on both components of the position error.

    The position error is resolved along the axes of the robot. The output of the PID on the
    longitudinal component is added to both wheels. The output of the PID on the lateral component
    is a lateral velocity. As a differential drive can move sideways only by driving at an angle to
    the reference, this output is converted to a heading offset, which the yaw PID follows::

        offset = u_side * w / (w^2 + w_0^2)

    w is the wheel velocity at the speed of the reference. At high speed the offset is
    ``u_side / w``, the angle that results in the lateral velocity. It changes sign if the robot
    drives backwards. It is zero while the reference is stationary, when a heading offset would make
    the robot spin. Lateral steering fades out below w_0 = 2 rad/s, and the offset is at most
    0.7 rad.

    The speed of the reference is multiplied by the cosine of the yaw error, as in Kanayama et al.,
    "A stable tracking control method for an autonomous mobile robot", ICRA 1990, eq. 8. The PIDs
    on both components have the same gains and separate integrals.
    """

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        super().__init__(gains, period, robot)
        self._yaw_pid = _make_pid("yaw", gains, period, angular=True)
        self._along_pid, self._cross_pid = (_make_pid("distance", gains, period) for _ in "12")
        self._cross_is_limited = False

    def correct(self, v, yaw_rate, error):
        """Return the corrected speed [m/s] and yaw rate [rad/s].

        Parameters
        ----------
        v : float
            Speed of the reference [m/s].
        yaw_rate : float
            Yaw rate of the reference [rad/s].
        error : TrackingError
            Current tracking error.
        """
        wheel = v / self._radius
        ahead, side = error.to_robot_axes()
        along_is_limited, turn_is_limited = self._is_limited

        driving = self._along_pid.step(ahead, integrate=not along_is_limited)

        # A stationary robot cannot reduce a lateral error; its integral would cause a swerve later.
        is_rolling = abs(wheel) > _TRANSITION_VELOCITY
        sideways = self._cross_pid.step(side, integrate=is_rolling and not self._cross_is_limited)
        unlimited = sideways * wheel / (wheel * wheel + _TRANSITION_VELOCITY**2)
        offset = min(max(unlimited, -_MAX_HEADING_OFFSET), _MAX_HEADING_OFFSET)
        self._cross_is_limited = offset != unlimited

        heading = error.yaw_error + self._drivetrain.sideslip(yaw_rate) + offset
        turning = self._yaw_pid.step(wrap(heading), integrate=not turn_is_limited)
        return self._limit(
            v * math.cos(error.yaw_error) + self._radius * driving,
            yaw_rate + self._turning_radius * turning,
        )


class SpeedAndYawRateController(Controller):
    """Base class of controllers that correct speed and yaw rate instead of wheel velocities."""

    @abstractmethod
    def correction(self, v, yaw_rate, ahead, side, yaw_error):
        """Return the corrections of speed [m/s] and yaw rate [rad/s].

        Parameters
        ----------
        v : float
            Speed of the reference [m/s].
        yaw_rate : float
            Yaw rate of the reference [rad/s].
        ahead, side : float
            Position of the reference along the x and y axes of the robot [m].
        yaw_error : float
            Yaw error including the sideslip [rad].
        """

    def correct(self, v, yaw_rate, error):
        """Return the corrected speed [m/s] and yaw rate [rad/s], see :meth:`.Controller.correct`.

        Raises
        ------
        ValueError
            The error is not finite.
        """
        if not all(map(math.isfinite, error)):
            raise ValueError(f"control error is {error}, expected a finite number")
        heading = wrap(error.yaw_error + self._drivetrain.sideslip(yaw_rate))
        speed_change, turning = self.correction(v, yaw_rate, *error.to_robot_axes(), heading)
        max_speed_change = self._gains.correction_limit * self._radius
        max_turning = self._gains.correction_limit * self._turning_radius
        return self._limit(
            v + min(max(speed_change, -max_speed_change), max_speed_change),
            yaw_rate + min(max(turning, -max_turning), max_turning),
        )


# Rate w_0, which keeps the feedback active while the reference is stationary [rad/s].
_STANDSTILL_RATE = 1.0


class Ramsete(SpeedAndYawRateController):
    """Nonlinear controller of De Luca, Oriolo and Vendittelli.

    Source: "Control of wheeled mobile robots: an experimental overview", 2001, section 5. The
    errors are along the robot's axes::

        v = v_d cos(e_yaw) + k e_ahead
        yaw rate = w_d + k e_yaw + b v_d sin(e_yaw) / e_yaw e_side
        k = 2 zeta sqrt(w_d^2 + b v_d^2 + w_0^2)

    The Lyapunov function ``b (e_ahead^2 + e_side^2) / 2 + e_yaw^2 / 2`` decreases at the rate
    ``k (b e_ahead^2 + e_yaw^2)`` for any positive k. The source has no w_0, so that it corrects no
    errors while the reference is stationary. With w_0 = 1 rad/s, along-track and yaw errors are
    also reduced then, and a lateral error does not turn the robot.
    """

    def correction(self, v, yaw_rate, ahead, side, yaw_error):
        """Return the corrections of speed [m/s] and yaw rate [rad/s]."""
        b = self._gains.ramsete_b
        k = (
            2.0
            * self._gains.ramsete_damping
            * math.sqrt(yaw_rate**2 + b * v * v + _STANDSTILL_RATE**2)
        )
        ratio = math.sin(yaw_error) / yaw_error if yaw_error else 1.0
        return v * (math.cos(yaw_error) - 1.0) + k * ahead, k * yaw_error + b * v * ratio * side


# Speed v_0 below which the gain on the lateral error fades out [m/s].
_TRANSITION_SPEED = 0.2


class LinearQuadratic(SpeedAndYawRateController):
    """Linear-quadratic tracking controller with gains that depend on the speed of the reference.

    For a straight reference at the speed v, the lateral error follows ``d e_side/dt = v e_yaw``,
    and the corrections of speed and yaw rate are the negative derivatives of ``e_ahead`` and
    ``e_yaw``. The Riccati equation then has the closed-form solution ``K_ahead = sqrt(q_ahead)``,
    ``K_side = sign(v) sqrt(q_side)``, ``K_yaw = sqrt(q_yaw + 2 v K_side)``.

    As a stationary robot cannot reduce a lateral error, the weight q_side is multiplied by
    ``v^2 / (v^2 + v_0^2)`` with v_0 = 0.2 m/s. The angle towards the path is at most 0.7 rad.
    """

    def gains_at(self, v):
        """Return the controller gains at a reference speed.

        Parameters
        ----------
        v : float
            Speed [m/s].

        Returns
        -------
        ahead, side, yaw : float
            Gains K_ahead [1/s], K_side [rad/s/m] and K_yaw [1/s].
        """
        gains = self._gains
        side = math.sqrt(gains.lq_cross_weight) * v / math.hypot(v, _TRANSITION_SPEED)
        yaw = math.sqrt(gains.lq_yaw_weight + 2.0 * v * side)
        return math.sqrt(gains.lq_along_weight), side, yaw

    def correction(self, v, yaw_rate, ahead, side, yaw_error):
        """Return the corrections of speed [m/s] and yaw rate [rad/s]."""
        k_ahead, k_side, k_yaw = self.gains_at(v)
        offset = k_side * side / k_yaw if k_yaw else 0.0
        offset = min(max(offset, -_MAX_HEADING_OFFSET), _MAX_HEADING_OFFSET)
        turning = k_yaw * wrap(yaw_error + offset)
        return v * (math.cos(yaw_error) - 1.0) + k_ahead * ahead, turning


CONTROLLERS = {
    "open_loop": OpenLoop,
    "yaw_pid": YawPid,
    "yaw_distance_pid": YawDistancePid,
    "ramsete": Ramsete,
    "lq": LinearQuadratic,
}


def make_controller(name, gains, period, robot):
    """Create a controller by name.

    Parameters
    ----------
    name : str
        One of `CONTROLLERS`.
    gains : ControllerGains
        Gains of all controllers.
    period : float
        Control period [s].
    robot : RobotParameters
        Robot whose drivetrain limits speed and yaw rate.

    Returns
    -------
    Controller
        New controller.

    Raises
    ------
    ConfigurationError
        The name is unknown, or the period is not positive.
    """
    if name not in CONTROLLERS:
        raise ConfigurationError(
            f"the controller is '{name}', expected one of {', '.join(CONTROLLERS)}"
        )
    return CONTROLLERS[name](gains, period, robot)


NO_ERROR = TrackingError(0.0, 0.0, 0.0, 0.0)


class Follower:
    """Path follower, which computes drivetrain commands from a reference and tracking errors.

    Parameters
    ----------
    reference : Reference
        Reference with velocities; time zero is the start of the drive.
    controller : Controller or OpenLoop
        Controller that corrects the velocities of the reference.
    period : float
        Control period [s].
    drivetrain : Drivetrain
        Drivetrain of the robot.
    """

    def __init__(self, reference, controller, period: float, drivetrain: Drivetrain) -> None:
        self.reference = reference
        self._controller = controller
        self._period = period
        self._drivetrain = drivetrain
        self._commanded = (0.0,) * len(drivetrain.commands)

    def command(self, time: float, error: TrackingError = NO_ERROR) -> tuple[float, ...]:
        """Return the commands for the next control period.

        Parameters
        ----------
        time : float
            Time since the start of the drive [s].
        error : TrackingError
            Current tracking error.

        Returns
        -------
        tuple of float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        # A command applies for one period; it is computed from the reference at mid-period.
        v, yaw_rate = self.reference.velocities_at(time + 0.5 * self._period)
        return self._reachable_commands(*self._controller.correct(v, yaw_rate, error))

    def standstill(self) -> tuple[float, ...]:
        """Return the commands that stop the robot without changing the steering angles.

        Returns
        -------
        tuple of float
            Commands as in :attr:`.Drivetrain.commands`.
        """
        return self._reachable_commands(0.0, 0.0)

    def _reachable_commands(self, v, yaw_rate):
        demand = self._drivetrain.inverse(v, yaw_rate)
        self._commanded = self._drivetrain.reachable(demand, self._commanded, self._period)
        return self._commanded

    def is_finished(self, time: float) -> bool:
        """Return whether the end of the drive has been reached.

        Parameters
        ----------
        time : float
            Time since the start of the drive [s].

        Returns
        -------
        bool
            True from half a control period before the end of the reference.
        """
        return time > self.reference.duration - 0.5 * self._period
