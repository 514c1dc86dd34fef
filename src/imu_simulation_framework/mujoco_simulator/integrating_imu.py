"""What an ideal IMU on the robot delivers: the means of its signals over the sample period."""

from __future__ import annotations

import mujoco
import numpy as np


class IntegratingImu:
    """From the base's motion at the sample times to angular velocity and specific force.

    The angular velocity is the rotation since the last sample over the period. The specific force
    is the change of the IMU's velocity over the period, less gravity; in the base's axes
    ``f = dv/dt + omega x v + g up`` (Groves: Principles of GNSS, Inertial, and Multisensor
    Integrated Navigation Systems, section 5.3), its mean taken by the trapezoidal rule.

    Quaternions are in MuJoCo's order w, x, y, z. The quaternion functions are MuJoCo's.

    Parameters
    ----------
    position : sequence of 3 float
        Of the IMU in the base [m].
    quaternion : sequence of 4 float
        Orientation of the IMU in the base.
    rate : float
        Samples per second [Hz].
    gravity : float
        [m/s^2]
    """

    def __init__(self, position, quaternion, rate, gravity):
        self._position = tuple(map(float, position))
        self._mounting = np.array(quaternion, dtype=float)
        self._base_to_imu = np.empty(4)
        mujoco.mju_negQuat(self._base_to_imu, self._mounting)
        self._rate = rate
        self._gravity = gravity
        self._vertical = np.array([0.0, 0.0, 1.0])
        self._world_to_base = np.empty(4)
        self._velocity = np.empty(3)
        self._up = np.empty(3)
        self._quaternion = np.empty(4)
        self._motion = ()

    @property
    def position(self) -> np.ndarray:
        """Of the IMU in the base (3,) [m]."""
        return np.array(self._position)

    @property
    def quaternion(self) -> np.ndarray:
        """Orientation of the IMU in the base (4,)."""
        return self._mounting

    def start(self, quaternion):
        """Begin anew with a base at rest.

        Returns
        -------
        imu_quaternion : ndarray (4,)
        angular_velocity, specific_force : ndarray (3,)
            Of an IMU at rest, in its axes.
        """
        rest = np.zeros(3)
        self._quaternion[:] = quaternion
        self._motion = self._base_motion(quaternion, rest, rest)
        force = self._in_imu_axes(self._gravity * self._up)
        return self._orientation(quaternion), rest, force

    def sample(self, quaternion, velocity, angular_velocity):
        """Take the base's motion at the end of a sample period.

        Parameters
        ----------
        quaternion : ndarray (4,)
            Orientation of the base in the world.
        velocity : ndarray (3,)
            Of the base's origin in the world's axes [m/s].
        angular_velocity : ndarray (3,)
            In the base's axes [rad/s].

        Returns
        -------
        imu_quaternion : ndarray (4,)
            Orientation of the IMU in the world.
        angular_velocity : ndarray (3,)
            In the IMU's axes [rad/s].
        specific_force : ndarray (3,)
            In the IMU's axes [m/s^2].
        """
        rotation = np.empty(3)
        mujoco.mju_subQuat(rotation, quaternion, self._quaternion)
        self._quaternion[:] = quaternion
        rotation *= self._rate
        motion = self._base_motion(quaternion, velocity, angular_velocity)
        vx, vy, vz, cx, cy, cz, ux, uy, uz = motion
        vx0, vy0, vz0, cx0, cy0, cz0, ux0, uy0, uz0 = self._motion
        self._motion = motion
        rate, half_gravity = self._rate, 0.5 * self._gravity
        force = np.array(
            [
                rate * (vx - vx0) + 0.5 * (cx + cx0) + half_gravity * (ux + ux0),
                rate * (vy - vy0) + 0.5 * (cy + cy0) + half_gravity * (uy + uy0),
                rate * (vz - vz0) + 0.5 * (cz + cz0) + half_gravity * (uz + uz0),
            ]
        )
        return (
            self._orientation(quaternion),
            self._in_imu_axes(rotation),
            self._in_imu_axes(force),
        )

    def _base_motion(self, quaternion, velocity, angular_velocity):
        # In the base's axes: velocity v of the IMU, omega x v, and the vertical. Plain numbers:
        # numpy would take longer for three of them.
        mujoco.mju_negQuat(self._world_to_base, quaternion)
        mujoco.mju_rotVecQuat(self._velocity, velocity, self._world_to_base)
        mujoco.mju_rotVecQuat(self._up, self._vertical, self._world_to_base)
        vx, vy, vz = self._velocity.tolist()
        wx, wy, wz = angular_velocity.tolist()
        rx, ry, rz = self._position
        vx += wy * rz - wz * ry
        vy += wz * rx - wx * rz
        vz += wx * ry - wy * rx
        return (
            vx,
            vy,
            vz,
            wy * vz - wz * vy,
            wz * vx - wx * vz,
            wx * vy - wy * vx,
            *self._up.tolist(),
        )

    def _orientation(self, quaternion):
        orientation = np.empty(4)
        mujoco.mju_mulQuat(orientation, quaternion, self._mounting)
        return orientation

    def _in_imu_axes(self, vector):
        turned = np.empty(3)
        mujoco.mju_rotVecQuat(turned, vector, self._base_to_imu)
        return turned
