"""What an ideal IMU on the robot delivers: the means of its signals over the sample period."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np


class BaseSamples(NamedTuple):
    """What was observed at the ends of n sample periods.

    Attributes
    ----------
    velocity : ndarray (n, 3)
        Of the base's origin, in the base's axes [m/s].
    imu_quaternion : ndarray (n, 4)
        Orientation of the IMU in the world.
    imu_angular_velocity : ndarray (n, 3)
        In the IMU's axes [rad/s].
    imu_specific_force : ndarray (n, 3)
        In the IMU's axes [m/s^2].
    """

    velocity: np.ndarray
    imu_quaternion: np.ndarray
    imu_angular_velocity: np.ndarray
    imu_specific_force: np.ndarray


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
        self._up = np.empty(3)
        self._turn = np.empty(3)
        self._force = np.empty(3)
        self._quaternion = np.empty(4)
        self._motion: tuple[float, ...] = ()

    @property
    def position(self) -> np.ndarray:
        """Of the IMU in the base (3,) [m]."""
        return np.array(self._position)

    @property
    def quaternion(self) -> np.ndarray:
        """Orientation of the IMU in the base (4,)."""
        return self._mounting

    def start(self, quaternion) -> BaseSamples:
        """Begin anew with a base at rest; return one sample, of an IMU at rest."""
        self._quaternion = np.array(quaternion)
        rest = np.zeros((1, 3))
        samples, (self._motion,) = self._observe(self._quaternion[np.newaxis], rest, rest)
        force = samples.imu_specific_force
        force[0] = self._in_imu_axes(self._gravity * np.array(self._motion[6:]))
        return samples

    def samples(self, quaternions, velocities, angular_velocities) -> BaseSamples:
        """Take the base's motion at the ends of consecutive sample periods.

        Parameters
        ----------
        quaternions : ndarray (n, 4)
            Orientation of the base in the world.
        velocities : ndarray (n, 3)
            Of the base's origin in the world's axes [m/s].
        angular_velocities : ndarray (n, 3)
            In the base's axes [rad/s].
        """
        samples, motions = self._observe(quaternions, velocities, angular_velocities)
        rate, half_gravity = self._rate, 0.5 * self._gravity
        rows = zip(motions, quaternions, samples.imu_angular_velocity, samples.imu_specific_force)
        for motion, quaternion, imu_rate, imu_force in rows:
            vx, vy, vz, cx, cy, cz, ux, uy, uz = motion
            vx0, vy0, vz0, cx0, cy0, cz0, ux0, uy0, uz0 = self._motion
            self._motion = motion
            force = (
                rate * (vx - vx0) + 0.5 * (cx + cx0) + half_gravity * (ux + ux0),
                rate * (vy - vy0) + 0.5 * (cy + cy0) + half_gravity * (uy + uy0),
                rate * (vz - vz0) + 0.5 * (cz + cz0) + half_gravity * (uz + uz0),
            )
            turn = self._turn
            mujoco.mju_subQuat(turn, quaternion, self._quaternion)
            self._quaternion = quaternion
            turn *= rate
            mujoco.mju_rotVecQuat(imu_rate, turn, self._base_to_imu)
            self._force[:] = force
            mujoco.mju_rotVecQuat(imu_force, self._force, self._base_to_imu)
        return samples

    def _observe(self, quaternions, velocities, angular_velocities):
        # In the base's axes: velocity v of the IMU, omega x v, and the vertical. Plain numbers:
        # numpy would take longer for three of them.
        count = len(quaternions)
        samples = BaseSamples(
            np.empty((count, 3)), np.empty((count, 4)), np.zeros((count, 3)), np.empty((count, 3))
        )
        world_to_base, up, vertical = self._world_to_base, self._up, self._vertical
        rx, ry, rz = self._position
        motions = []
        turnings = angular_velocities.tolist()
        rows = zip(quaternions, velocities, turnings, samples.velocity, samples.imu_quaternion)
        for quaternion, in_world, (wx, wy, wz), velocity, imu_quaternion in rows:
            mujoco.mju_negQuat(world_to_base, quaternion)
            mujoco.mju_rotVecQuat(velocity, in_world, world_to_base)
            mujoco.mju_rotVecQuat(up, vertical, world_to_base)
            mujoco.mju_mulQuat(imu_quaternion, quaternion, self._mounting)
            vx, vy, vz = velocity.tolist()
            vx += wy * rz - wz * ry
            vy += wz * rx - wx * rz
            vz += wx * ry - wy * rx
            turning = (wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx)
            motions.append((vx, vy, vz, *turning, *up.tolist()))
        return samples, motions

    def _in_imu_axes(self, vector):
        turned = np.empty(3)
        mujoco.mju_rotVecQuat(turned, vector, self._base_to_imu)
        return turned
