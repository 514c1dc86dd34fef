"""Following a reference: where the robot should be, how far it is from there, what corrects it.

All controllers answer ``correct(v, yaw_rate, error)``: speed and yaw rate of the reference and the
tracking error of this instant give the speed [m/s] and yaw rate [rad/s] that the robot shall have;
the drivetrain makes commands of these. The gains of the PIDs say by how much a driven wheel turns
faster: a yaw gain is in rad/s of the wheel per rad, a distance gain in rad/s of the wheel per
metre. Of both driven wheels ``u`` makes ``u R`` of speed, of the right and less of the left one
``u R / L`` of yaw rate, with the drivetrain's wheel radius R and half track L. Those that look at
the distance head into a turn by the drivetrain's sideslip, since the robot slides out of it.
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
    """Position [m] and yaw [rad] in the plane."""

    x: float
    y: float
    yaw: float


class TrackingError(NamedTuple):
    """Reference minus actual pose.

    ``yaw_error``: in (-pi, pi] [rad]; negative means: turn right; ``distance_error``: distance to
    the reference's position, never negative [m]; ``along_track_error``: how far the reference's
    position is ahead, along the reference's x axis [m]; ``cross_track_error``: how far it is to the
    left, along the reference's y axis [m].
    """

    yaw_error: float
    distance_error: float
    along_track_error: float
    cross_track_error: float

    def along_the_robot(self):
        """Return how far the reference is along the robot's x and y axis, ahead and left [m]."""
        cosine, sine = math.cos(self.yaw_error), math.sin(self.yaw_error)
        return (
            cosine * self.along_track_error - sine * self.cross_track_error,
            sine * self.along_track_error + cosine * self.cross_track_error,
        )


def tracking_error(reference, actual):
    """Return the error between two poses."""
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
    """A trajectory that can be asked for any time; made for loops, one time per call.

    Values between two samples are interpolated linearly. Before the first sample the reference
    stands at the first pose, after the last sample at the last one. Raises TrajectoryError: if
    there are less than two samples. ``time`` (array_like, shape (n,)) [s], ascending; ``x``, ``y``
    (array_like, shape (n,)) [m]; ``yaw`` (array_like, shape (n,)) [rad], unwrapped; ``v`` [m/s],
    ``yaw_rate`` [rad/s] (array_like, shape (n,)).
    """

    def __init__(self, time, x, y, yaw, v=None, yaw_rate=None):
        if len(time) < 2:
            raise TrajectoryError(
                f"A reference needs at least two samples, but the trajectory has {len(time)}."
            )
        # Indexing numpy's arrays costs ten times as much, lists of floats four times the memory.
        self._time, self._x, self._y, self._yaw = (array("d", one) for one in (time, x, y, yaw))
        self._v = self._yaw_rate = None
        if v is not None and yaw_rate is not None:
            self._v, self._yaw_rate = array("d", v), array("d", yaw_rate)
        if len({len(one) for one in (self._time, self._x, self._y, self._yaw)}) > 1:
            raise ValueError("the columns of a reference differ in length")
        self.start = self._time[0]
        self.stop = self._time[-1]

    @classmethod
    def of_table(cls, trajectory):
        """Make one of a table Trajectory, or of Poses, which then has no velocities."""
        columns = [trajectory.get(name) for name in TRAJECTORY]
        return cls(trajectory.index, *columns)

    def poses(self):
        """Return time, x, y and yaw of all samples, each an ``array`` of float."""
        return self._time, self._x, self._y, self._yaw

    @property
    def duration(self):
        """Time from the first to the last sample [s]."""
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
        """Return the pose at a time [s] of the trajectory's own clock.

        Returns Pose2D: with the yaw unwrapped, as in the table.
        """
        index, fraction = self._locate(time)
        rest = 1.0 - fraction
        following = index + 1
        return Pose2D(
            rest * self._x[index] + fraction * self._x[following],
            rest * self._y[index] + fraction * self._y[following],
            rest * self._yaw[index] + fraction * self._yaw[following],
        )

    def velocities_at(self, time):
        """Return the speed [m/s] and the yaw rate [rad/s] at a time [s].

        They are zero before the start and after the end. A command that is held for a control
        period follows the trajectory best with the value in the period's middle. Raises ValueError:
        if the reference was made without velocities.
        """
        if self._v is None:
            raise ValueError("this reference was made without velocities")
        if time < self.start or time > self.stop:
            return 0.0, 0.0
        index, fraction = self._locate(time)
        rest = 1.0 - fraction
        following = index + 1
        return (
            rest * self._v[index] + fraction * self._v[following],
            rest * self._yaw_rate[index] + fraction * self._yaw_rate[following],
        )


@dataclass(frozen=True)
class ControllerGains(TextSettings):
    """Gains of all controllers, for a robot with wheels of 0.1 m, a half track of 0.25 m and 20 Hz.

    Raises ConfigurationError: a value is out of range. ``yaw_proportional``, ``yaw_integral``,
    ``yaw_derivative``: from the yaw error to wheel velocity [rad/s per rad, per rad s, per rad/s];
    ``distance_proportional``, ``distance_integral``, ``distance_derivative``: from the distance to
    wheel velocity [rad/s per m, per m s, per m/s]; ``derivative_time_constant``: of the
    derivatives' low-pass filter [s]; 0 is none; ``correction_limit``: largest correction of a
    wheel's velocity [rad/s]; ``ramsete_b``: what a distance counts beside an angle [rad^2/m^2];
    ``ramsete_damping``: zeta of RAMSETE, below 1; ``lq_along_weight`` [1/s^2], ``lq_cross_weight``
    [rad^2/s^2/m^2], ``lq_yaw_weight`` [1/s^2]: what the squares of the errors cost beside those of
    the corrections of speed and yaw rate.
    """

    yaw_proportional: float = setting(8.0, unit="1/s", minimum=0.0)
    yaw_integral: float = setting(2.0, unit="1/s^2", minimum=0.0)
    yaw_derivative: float = setting(0.2, unit="1", minimum=0.0)
    distance_proportional: float = setting(10.0, unit="rad/s/m", minimum=0.0)
    distance_integral: float = setting(0.5, unit="rad/s^2/m", minimum=0.0)
    distance_derivative: float = setting(0.0, unit="rad/m", minimum=0.0)
    derivative_time_constant: float = setting(0.1, unit="s", minimum=0.0)
    correction_limit: float = setting(6.0, unit="rad/s", above=0.0, minimum=1e-6)
    ramsete_b: float = setting(4.0, unit="rad^2/m^2", above=0.0, minimum=1e-6)
    ramsete_damping: float = setting(0.7, unit="1", above=0.0, minimum=1e-6, maximum=0.999)
    lq_along_weight: float = setting(4.0, unit="1/s^2", minimum=0.0)
    lq_cross_weight: float = setting(9.0, unit="rad^2/s^2/m^2", minimum=0.0)
    lq_yaw_weight: float = setting(9.0, unit="1/s^2", minimum=0.0)


_PARTS = ("proportional", "integral", "derivative")


class Pid:
    """PID controller with a fixed period.

    ``output = P e + I integral(e) + D de/dt``, signed, within the output limit. The derivative is
    that of the error after a first-order low-pass filter. While the output is at its limit the
    integral only changes if that leads away from the limit (conditional integration; Astrom and
    Hagglund: Advanced PID Control, section 3.5). Raises ConfigurationError: if the period or the
    limit is not positive, or a gain or the time constant is negative. ``proportional``,
    ``integral``, ``derivative``: gains P [output/error], I [output/error/s] and D [output s/error];
    ``period``: time between two steps [s]; ``derivative_time_constant``: time constant of the
    derivative's filter [s]; 0 is no filter; ``output_limit``: largest magnitude of the output;
    ``angular``: the error is an angle [rad]: its change from step to step is wrapped, so that
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
        names = (*(f"{part} gain" for part in _PARTS), "derivative time constant")
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

        Raises ValueError: if the error is not finite; it would stay in the integral for ever.
        ``error``; ``integrate``: false keeps the integral as it is, for a caller who knows that the
        actuator cannot follow.
        """
        if not math.isfinite(error):
            raise ValueError(f"the control error is {error}")
        if self._previous is not None:
            change = error - self._previous
            if self._angular:
                change = wrap(change)
            self._rate += self._filter_gain * (change / self._period - self._rate)
        self._previous = error

        proportional, integral, derivative = self._gains
        immediate = proportional * error + derivative * self._rate
        increment = integral * error * self._period if integrate else 0.0
        wanted = immediate + self._sum + increment
        limited = min(max(wanted, -self._output_limit), self._output_limit)
        if wanted == limited or increment * wanted < 0.0:
            self._sum += increment
        return limited


def _make_pid(prefix, gains, period, angular=False):
    parts = (getattr(gains, f"{prefix}_{part}") for part in _PARTS)
    filtered, limit = gains.derivative_time_constant, gains.correction_limit
    return Pid(*parts, period, filtered, limit, angular)


class OpenLoop:
    """No correction."""

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        pass

    def correct(self, v, yaw_rate, error):
        """Return speed [m/s] and yaw rate [rad/s] as they are."""
        return v, yaw_rate


class Controller(ABC):
    """Base of controllers that correct anything; ``period``: control period [s].

    ``_is_limited``: whether speed, and yaw rate, were last cut to what the robot can reach.
    """

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        check_number("A controller's period", period, above=0.0)
        self._gains = gains
        self._drivetrain = robot.drivetrain
        self._radius = robot.drivetrain.wheel_radius
        self._turning_radius = self._radius / robot.drivetrain.half_track
        self._is_limited = False, False

    @abstractmethod
    def correct(self, v, yaw_rate, error):
        """Return the corrected of the reference's speed [m/s] and yaw rate [rad/s]."""

    def _limited(self, *wanted):
        reached = self._drivetrain.limited(*wanted)
        self._is_limited = tuple(abs(one - other) > 1e-9 for one, other in zip(reached, wanted))
        return reached


class YawPid(Controller):
    """PID on the yaw error: u more of the right wheel, and less of the left one."""

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        super().__init__(gains, period, robot)
        self._pid = _make_pid("yaw", gains, period, angular=True)

    def correct(self, v, yaw_rate, error):
        """Return the corrected of the reference's speed [m/s] and yaw rate [rad/s]."""
        _, turn_is_limited = self._is_limited
        turning = self._pid.step(error.yaw_error, integrate=not turn_is_limited)
        return self._limited(v, yaw_rate + self._turning_radius * turning)


_TRANSITION_VELOCITY = 2.0  # of a wheel [rad/s]
_MAX_HEADING_OFFSET = 0.7  # rad


class YawDistancePid(Controller):
    """PID on the yaw error together with PID on the distance to the reference.

    The distance vector is split along the robot's axes. Its part ahead, through a PID,
    drives both wheels. Its part to the side, through a PID of the same gains, says how
    fast the robot should come closer sideways; a differential drive can only do that by
    driving at an angle to the reference, so this becomes an offset of the heading that the
    yaw PID follows::

        offset = u_side * w / (w^2 + w_0^2)

    with w the wheel velocity of the reference's speed. At speed that is ``u_side / w``, the
    angle that gives the wanted sideways velocity; it changes its sign when the robot
    drives backwards, and vanishes at standstill, where an angle to the reference point
    would be undefined and the robot would spin. The precomputed speed is multiplied by the
    cosine of the yaw error, as in Kanayama et al., "A stable tracking control method for an
    autonomous mobile robot", ICRA 1990, eq. 8.

    Steering to the side fades out below w_0 = 2 rad/s; the offset is 0.7 rad at most. Each part of
    the distance has an integral of its own.
    """

    def __init__(self, gains: ControllerGains, period: float, robot: RobotParameters):
        super().__init__(gains, period, robot)
        self._yaw_pid = _make_pid("yaw", gains, period, angular=True)
        self._along_pid, self._cross_pid = (_make_pid("distance", gains, period) for _ in "12")
        self._cross_is_limited = False

    def correct(self, v, yaw_rate, error):
        """Return the corrected of the reference's speed [m/s] and yaw rate [rad/s]."""
        wheel = v / self._radius
        ahead, side = error.along_the_robot()
        along_is_limited, turn_is_limited = self._is_limited

        driving = self._along_pid.step(ahead, integrate=not along_is_limited)

        # Standing, the robot cannot reduce an error to the side: integrating it would
        # only store a swerve for the start.
        is_rolling = abs(wheel) > _TRANSITION_VELOCITY
        sideways = self._cross_pid.step(side, integrate=is_rolling and not self._cross_is_limited)
        wanted = sideways * wheel / (wheel * wheel + _TRANSITION_VELOCITY**2)
        offset = min(max(wanted, -_MAX_HEADING_OFFSET), _MAX_HEADING_OFFSET)
        self._cross_is_limited = offset != wanted

        heading = error.yaw_error + self._drivetrain.sideslip(yaw_rate) + offset
        turning = self._yaw_pid.step(wrap(heading), integrate=not turn_is_limited)
        return self._limited(
            v * math.cos(error.yaw_error) + self._radius * driving,
            yaw_rate + self._turning_radius * turning,
        )


class SpeedAndYawRateController(Controller):
    """Base of controllers whose gains are in speed and yaw rate."""

    @abstractmethod
    def correction(self, v, yaw_rate, ahead, side, yaw_error):
        """Return what is added to the reference's speed [m/s] and yaw rate [rad/s].

        ``v`` [m/s], ``yaw_rate`` [rad/s]: the reference's; ``ahead``, ``side``: where its position
        is along the robot's x and y axis [m]; ``yaw_error``: to where it has to head [rad].
        """

    def correct(self, v, yaw_rate, error):
        """Return the corrected of the reference's speed [m/s] and yaw rate [rad/s].

        Raises ValueError: the error is not finite.
        """
        if not all(map(math.isfinite, error)):
            raise ValueError(f"the control error is {error}")
        heading = wrap(error.yaw_error + self._drivetrain.sideslip(yaw_rate))
        faster, turning = self.correction(v, yaw_rate, *error.along_the_robot(), heading)
        most = self._gains.correction_limit * self._radius
        most_turning = self._gains.correction_limit * self._turning_radius
        return self._limited(
            v + min(max(faster, -most), most),
            yaw_rate + min(max(turning, -most_turning), most_turning),
        )


_REST_RATE = 1.0  # rad/s


class Ramsete(SpeedAndYawRateController):
    """The nonlinear controller of De Luca, Oriolo and Vendittelli.

    "Control of wheeled mobile robots: an experimental overview", 2001, section 5: with errors along
    the robot's axes::

        v = v_d cos(e_yaw) + k e_ahead
        yaw rate = w_d + k e_yaw + b v_d sin(e_yaw) / e_yaw e_side
        k = 2 zeta sqrt(w_d^2 + b v_d^2 + w_0^2)

    Then ``b (e_ahead^2 + e_side^2) / 2 + e_yaw^2 / 2`` falls at ``k (b e_ahead^2 + e_yaw^2)``,
    whatever k is. Theirs has no w_0 and corrects nothing at rest; with w_0 = 1 rad/s the robot
    comes level with a reference at rest, and an error to the side does not turn it.
    """

    def correction(self, v, yaw_rate, ahead, side, yaw_error):
        """Return what is added to the reference's speed [m/s] and yaw rate [rad/s]."""
        b = self._gains.ramsete_b
        k = 2.0 * self._gains.ramsete_damping * math.sqrt(yaw_rate**2 + b * v * v + _REST_RATE**2)
        ratio = math.sin(yaw_error) / yaw_error if yaw_error else 1.0
        return v * (math.cos(yaw_error) - 1.0) + k * ahead, k * yaw_error + b * v * ratio * side


_REST_SPEED = 0.2  # m/s


class LinearQuadratic(SpeedAndYawRateController):
    """Linear-quadratic tracking, its gains scheduled over the reference's speed.

    About a straight reference at speed v, ``d e_side/dt = v e_yaw``, and the corrections of speed
    and yaw rate take from ``e_ahead`` and ``e_yaw``. The Riccati equation then has a closed
    solution: gains ``sqrt(q_ahead)``, ``K_side = sign(v) sqrt(q_side)`` and
    ``sqrt(q_yaw + 2 v K_side)``. An error to the side cannot be reduced at rest, so its weight
    fades out there, by ``v^2 / (v^2 + v_0^2)`` with v_0 = 0.2 m/s. Far to the side, the
    heading towards the path is 0.7 rad at most.
    """

    def gains_at(self, v):
        """Return the gains (ahead [1/s], side [rad/s/m], yaw [1/s]) at a speed [m/s]."""
        gains = self._gains
        side = math.sqrt(gains.lq_cross_weight) * v / math.hypot(v, _REST_SPEED)
        yaw = math.sqrt(gains.lq_yaw_weight + 2.0 * v * side)
        return math.sqrt(gains.lq_along_weight), side, yaw

    def correction(self, v, yaw_rate, ahead, side, yaw_error):
        """Return what is added to the reference's speed [m/s] and yaw rate [rad/s]."""
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
    """Return a controller by its name.

    Raises ConfigurationError: if the name is unknown, or the period is not positive. ``name``: one
    of `CONTROLLERS`; ``period``: control period [s]; ``robot`` (RobotParameters): whose drivetrain
    says what it can reach.
    """
    if name not in CONTROLLERS:
        raise ConfigurationError(
            f"There is no controller '{name}'; choose one of {', '.join(CONTROLLERS)}."
        )
    return CONTROLLERS[name](gains, period, robot)


NO_ERROR = TrackingError(0.0, 0.0, 0.0, 0.0)


class Follower:
    """Follows a reference: its velocities, corrected by a controller, and what makes them.

    ``reference`` (Reference): with velocities; time zero is the start of the drive; ``controller``:
    one of :mod:`imu_simulation_framework.drive.tracking.controllers`; ``period``: control period
    [s]; ``drivetrain``: of the robot.
    """

    def __init__(self, reference, controller, period: float, drivetrain: Drivetrain) -> None:
        self.reference = reference
        self._controller = controller
        self._period = period
        self._drivetrain = drivetrain
        self._commanded = (0.0,) * len(drivetrain.commands)

    def command(self, time: float, error: TrackingError = NO_ERROR) -> tuple[float, ...]:
        """Return the commands of the drivetrain for the control period that begins now.

        ``time``: since the start of the drive [s]; ``error``: of this moment.
        """
        # Held for one period, so the value in its middle follows best.
        v, yaw_rate = self.reference.velocities_at(time + 0.5 * self._period)
        return self._reached(*self._controller.correct(v, yaw_rate, error))

    def standstill(self) -> tuple[float, ...]:
        """Return the commands that stop the robot; what steers stays as it is."""
        return self._reached(0.0, 0.0)

    def _reached(self, v, yaw_rate):
        wanted = self._drivetrain.inverse(v, yaw_rate)
        self._commanded = self._drivetrain.reachable(wanted, self._commanded, self._period)
        return self._commanded

    def finished(self, time: float) -> bool:
        """Return whether the drive has come to its end."""
        return time > self.reference.duration - 0.5 * self._period
