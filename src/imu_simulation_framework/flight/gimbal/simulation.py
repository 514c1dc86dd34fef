"""A gimbal on a moving platform: where its joints are, and how the IMU on it moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.errors import ConfigurationError, prefix_errors
from ...core.yaml_files import accept_names
from ...sensors.imu_specification import ImuSpecification
from ...sensors.simulation import ImuErrors, imu_model, imu_truth, named_errors
from . import stabilisation
from .geometry import AnyMotion, GimbalGeometry, JointMotion, world_to_inertial
from .loop import GyroscopeErrors, run_loop, servo
from .specification import GimbalSpecification, read_gimbal


@dataclass(frozen=True)
class GimbalMotion:
    """What a gimbal made of a platform's motion.

    ``motion``: of the IMU on the inner link, at the platform's times. ``residual``: of a stabilised
    one. ``remarks``: how well it pointed, and when it was at its limits.
    """

    motion: AnyMotion
    joints: JointMotion
    geometry: GimbalGeometry
    residual: stabilisation.Residual | None = None
    remarks: tuple[str, ...] = ()


@accept_names(gimbal=read_gimbal, imu=named_errors)
def simulate_gimbal(
    motion: AnyMotion,
    gimbal: GimbalSpecification,
    imu: ImuErrors | None = None,
    seed: int = 1,
    run: int = 0,
) -> GimbalMotion:
    """Return how an IMU moves on a gimbal on a platform.

    A stabilised gimbal is led by this IMU's gyroscope: with the same seed and run
    :func:`.simulate_imu` of the result has the errors that the loop had. Its scale factor's
    temperature and supply coefficients and a low-pass see what the gimbal shall do, not what it
    does besides, and the g-sensitivity likewise.

    ``motion`` (Motion or EarthMotion): of the platform; evenly sampled for a stabilised gimbal.
    ``imu`` (ImuErrors): as for :func:`.simulate_imu`; without one the gyroscope has no errors.
    ``seed``, ``run``: as there. Raises MotionError if the motion is too short or not evenly
    sampled, a table of angles does not go so far, or the motion goes through the point that is
    looked at. Raises ConfigurationError if the loop is not stable with the gyroscope's rate, the
    IMU's errors are no such thing, or a point on the Earth is to be looked at by what has no place
    on it.
    """
    drive, geometry = gimbal.drive, gimbal.geometry
    if not isinstance(drive, stabilisation.Stabilisation):
        joints = drive.joints(motion.time)
        return GimbalMotion(geometry.carry(motion, joints), joints, geometry)
    target = stabilisation.target_orientation(motion, drive, geometry, gimbal.limits)
    turning = stabilisation.target_rate(motion, target)
    joints = stabilisation.exact_joints(motion, target, turning, geometry, gimbal.limits)
    at_rate = np.zeros((len(joints), 3), dtype=bool)
    if drive.bandwidth is not None:
        joints, command = _stabilised(motion, gimbal, target, joints, imu, seed, run)
        at_rate = stabilisation.at_rates(command, drive.rate_limits, gimbal.limits)
    carried = geometry.carry(motion, joints)
    residual = _residual(carried, target, turning, joints, gimbal, at_rate)
    return GimbalMotion(carried, joints, geometry, residual, residual.remarks())


def _stabilised(
    motion: Any,
    gimbal: Any,
    target: Rotation,
    wanted: JointMotion,
    imu: Any,
    seed: Any,
    run: int,
) -> tuple[JointMotion, np.ndarray]:
    """Return the joints with the loop around the gyroscope, and what it asked of them."""
    period, most = motion.period, np.array(gimbal.drive.rate_limits)
    if imu is None:
        due, still = np.arange(len(motion.time)), np.zeros(3)
        none = np.zeros((len(due), 3))
        gyroscope = GyroscopeErrors(np.eye(3), still, none, still + np.inf, still)
    else:
        due, gyroscope = _gyroscope(gimbal.geometry.carry(motion, wanted), imu, seed, run, period)
    stride = int(due[1] - due[0])
    # Before the first sample of the gyroscope the gimbal is where it shall be.
    to_inertial = world_to_inertial(motion)[due]
    base = to_inertial * Rotation.from_quat(motion.orientation[due]) * gimbal.geometry.base_rotation
    inertial = to_inertial * target[due]
    turned = np.zeros((len(due), 3))
    turned[1:] = (inertial[:-1].inv() * inertial[1:]).as_rotvec() / (stride * period)
    turned[0] = turned[1]
    with prefix_errors(f"gimbal {gimbal.name}: "):
        found = run_loop(
            base.as_quat(),
            inertial.as_quat(),
            turned,
            gyroscope,
            gimbal.drive,
            gimbal.limits,
            stride * period,
            wanted.angle[due[0]],
            np.clip(wanted.rate[due[0]], -most, most),
        )
    joints, command = _between(found, due, stride, motion.time, gimbal, period)
    first = due[0]
    joints.angle[:first], joints.rate[:first] = wanted.angle[:first], wanted.rate[:first]
    joints.acceleration[:first] = wanted.acceleration[:first]
    return joints, command


def _between(
    found: Any, due: np.ndarray, stride: int, time: np.ndarray, gimbal: Any, period: float
) -> tuple[JointMotion, np.ndarray]:
    """Return the joints at all of the motion's samples, from those at the gyroscope's."""
    count = len(time)
    since = np.arange(count) - due[0]
    index = np.clip(-(-since // stride) - 1, 0, len(due) - 1)
    steps = np.maximum(since - index * stride, 0)
    low, high = np.array(gimbal.limits).T
    angle, rate, command = (one[index] for one in found)
    for ahead in range(1, stride + 1):
        decay, own, wanted = servo(gimbal.drive, ahead * period)
        rows = steps == ahead
        free = angle[rows] + own * rate[rows] + wanted * command[rows]
        moving = decay * rate[rows] + (1.0 - decay) * command[rows]
        inside = (free >= low) & (free <= high)
        angle[rows], rate[rows] = np.clip(free, low, high), np.where(inside, moving, 0.0)
    pulsation = 2.0 * np.pi * gimbal.drive.servo_bandwidth
    stopped = stabilisation.at_limits(angle, gimbal.limits) | (low == high)
    acceleration = np.where(stopped, 0.0, pulsation * (command - rate))
    return JointMotion(time, angle, rate, acceleration), command


def _gyroscope(
    motion: Any, imu: Any, seed: Any, run: int, period: float
) -> tuple[np.ndarray, GyroscopeErrors]:
    """Return the samples at which the gyroscope reads, and its errors of one run."""
    matrix: Any = np.eye(3)
    bent: Any = np.zeros(3)
    saturation: Any = np.full(3, np.inf)
    resolution: Any = np.zeros(3)
    if isinstance(imu, ImuSpecification):
        triad = imu.gyroscope
        matrix = matrix + np.array(triad.scale_factor_and_misalignment)
        bent, resolution = np.array(triad.nonlinearity), np.array(triad.resolution)
        if triad.saturation is not None:
            saturation = np.array(triad.saturation)
        # What the loop does with numbers it does with its own.
        imu = replace(imu, gyroscope=replace(triad, saturation=None, resolution=(0.0,) * 3))
    model = imu_model(imu, period, seed)
    truth = imu_truth(motion, speed=model.requires_speed)
    reading = model.batch(truth, 1, first_run=run, parts=("angular_velocity",))
    due = np.flatnonzero(model.new_samples(len(motion.time)))
    if len(due) < 2:
        raise ConfigurationError("the gimbal's gyroscope has no two samples during the motion.")
    rate = _means(truth.angular_velocity, due)
    additive = reading.angular_velocity[0][due] - rate @ matrix.T - bent * rate**2
    return due, GyroscopeErrors(matrix, bent, additive, saturation, resolution)


def _means(values: np.ndarray, due: np.ndarray) -> np.ndarray:
    """Return the means of values since the due sample before, that of the first is its own."""
    stride, means = int(due[1] - due[0]), values[due].copy()
    if stride > 1:
        sums = np.cumsum(values, axis=0)
        means[1:] = (sums[due[1:]] - sums[due[:-1]]) / stride
    return means


def _residual(
    carried: Any,
    target: Rotation,
    turning: np.ndarray,
    joints: JointMotion,
    gimbal: Any,
    at_rate: np.ndarray,
) -> stabilisation.Residual:
    found = Rotation.from_quat(carried.orientation)
    error = found.inv() * target
    axis = np.array(stabilisation.BORESIGHTS[gimbal.drive.boresight])
    seen = error.apply(axis)
    off = np.arctan2(np.linalg.norm(np.cross(axis, seen), axis=1), seen @ axis)
    return stabilisation.Residual(
        carried.time,
        error.as_rotvec(),
        off,
        carried.angular_velocity - error.apply(turning),
        stabilisation.at_limits(joints.angle, gimbal.limits),
        at_rate,
    )
