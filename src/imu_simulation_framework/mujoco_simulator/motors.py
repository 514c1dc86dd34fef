"""The part of the wheels' velocity control that is slower than the physics."""

from __future__ import annotations

from imu_simulation_framework.robot.parameters import RobotParameters


class WheelMotors:
    """Integral action of both motor controllers, once per sample.

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
        self.reset()

    def reset(self):
        """Command standstill and forget."""
        self._left = self._right = 0.0
        self._left_integral = self._right_integral = 0.0

    def command(self, left, right):
        """Set the wanted velocities [rad/s]; what exceeds the wheels' largest is cut off."""
        self._left = _clip(left, self._max_velocity)
        self._right = _clip(right, self._max_velocity)

    def control(self, left, right):
        """Return what MuJoCo's actuators are to hold [rad/s], given the wheels' velocities."""
        self._left_integral = _clip(
            self._left_integral + self._factor * (self._left - left), self._limit
        )
        self._right_integral = _clip(
            self._right_integral + self._factor * (self._right - right), self._limit
        )
        return self._left + self._left_integral, self._right + self._right_integral


def _clip(value, limit):
    return min(max(value, -limit), limit)
