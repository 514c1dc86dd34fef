"""The part of the wheels' velocity control that is slower than the physics."""

from __future__ import annotations

from imu_simulation_framework.robot.parameters import RobotParameters


class WheelMotors:
    """Integral action of the motors' controllers, one for each wheel, once per sample.

    All wheels of a side are commanded alike.

    MuJoCo's actuators act in each physics step, in proportion to the error. In a curve the wheels
    drive against the robot's inertia, and by that alone it would turn 1 % too slowly at 1.2 m/s
    and 0.8 rad/s; the integral takes the standing error away.

    Parameters
    ----------
    parameters : RobotParameters
    period : float
        Sample period [s].
    """

    def __init__(self, parameters: RobotParameters, period: float):
        self._max_velocity = parameters.limits.max_wheel_velocity
        # The integral acts as an addition to the commanded velocity, worth no more than what
        # the motor can give, so that it does not wind up while a wheel is held.
        factor = parameters.velocity_integral_gain * period / parameters.velocity_gain
        # Taking more than half of the error per sample would make slow samplings oscillate.
        self._factor = min(factor, 0.5)
        self._limit = parameters.max_wheel_torque / parameters.velocity_gain
        self._per_side = len(parameters.wheel_joints) // 2
        self.reset()

    def reset(self):
        """Command standstill and forget."""
        self._wanted = [0.0] * (2 * self._per_side)
        self._integrals = [0.0] * (2 * self._per_side)

    def command(self, left, right):
        """Set each side's wanted velocity [rad/s]; what exceeds the wheels' largest is cut off."""
        sides = (_clip(left, self._max_velocity), _clip(right, self._max_velocity))
        self._wanted = [wanted for wanted in sides for _ in range(self._per_side)]

    def control(self, velocities):
        """Return what MuJoCo's actuators are to hold [rad/s], given the wheels' velocities."""
        # Done for each sample of a drive, hence without a call for each wheel.
        integrals, factor, limit = self._integrals, self._factor, self._limit
        held = []
        for wheel, wanted in enumerate(self._wanted):
            integral = integrals[wheel] + factor * (wanted - velocities[wheel])
            if integral > limit:
                integral = limit
            elif integral < -limit:
                integral = -limit
            integrals[wheel] = integral
            held.append(wanted + integral)
        return held


def _clip(value, limit):
    return min(max(value, -limit), limit)
