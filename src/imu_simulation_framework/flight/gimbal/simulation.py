"""Simulation of a gimbal on a moving platform: motion of the joints and of the IMU."""

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
from .loop import GyroscopeErrors, JointState, TargetMotion, run_loop, servo
from .specification import GimbalSpecification, read_gimbal


@dataclass(frozen=True)
class GimbalMotion:
    """Motion of an IMU on a gimbal.

    Attributes
    ----------
    motion : Motion or EarthMotion
        Motion of the IMU on the inner link, at the times of the platform motion.
    joints : JointMotion
    geometry : GimbalGeometry
    residual : Residual, optional
        Residual motion of a stabilised gimbal.
    remarks : tuple of str
        Messages about the pointing error and about joints at their limits.
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
    """Simulate the motion of an IMU on a gimbal that is mounted on a platform.

    The gyroscope of this IMU controls a stabilised gimbal. With the same seed and run,
    :func:`.simulate_imu` with the result produces the errors that were used in the loop. In the
    loop, temperature and supply coefficients of the scale factor, the low-pass filter and the
    g-sensitivity are applied to the target motion instead of the actual motion.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion of the platform; it must be evenly sampled for a stabilised gimbal.
    gimbal : GimbalSpecification
        Geometry and drive of the gimbal.
    imu : ImuErrors, optional
        Errors of the IMU, see :func:`.simulate_imu`; by default the gyroscope has no errors.
    seed, run : int
        Seed and run number, see :func:`.simulate_imu`.

    Returns
    -------
    GimbalMotion

    Raises
    ------
    MotionError
        The motion is too short, not evenly sampled, longer than the table of joint angles, or
        passes through the target point.
    ConfigurationError
        The loop is unstable at the rate of the gyroscope, the IMU errors have the wrong type, or
        the target is a point on the Earth, but the motion is not on the Earth.
    """
    drive, geometry = gimbal.drive, gimbal.geometry
    if not isinstance(drive, stabilisation.Stabilisation):
        joints = drive.joints(motion.time)
        return GimbalMotion(geometry.carry(motion, joints), joints, geometry)
    target = stabilisation.target_orientation(motion, drive, geometry, gimbal.limits)
    turning = stabilisation.target_rate(motion, target)
    joints = stabilisation.exact_joints(motion, target, turning, geometry, gimbal.limits)
    rate_limited = np.zeros((len(joints), 3), dtype=bool)
    if drive.bandwidth is not None:
        joints, command = _simulate_loop(motion, gimbal, target, joints, imu, seed, run)
        rate_limited = stabilisation.find_rate_limits(command, drive.rate_limits, gimbal.limits)
    carried_motion = geometry.carry(motion, joints)
    residual = _residual_motion(carried_motion, target, turning, joints, gimbal, rate_limited)
    return GimbalMotion(carried_motion, joints, geometry, residual, residual.remarks())


def _simulate_loop(
    motion: Any,
    gimbal: Any,
    target: Rotation,
    ideal_joints: JointMotion,
    imu: Any,
    seed: Any,
    run: int,
) -> tuple[JointMotion, np.ndarray]:
    """Simulate the control loop; return the joint motion and the commanded rates."""
    period, max_rates = motion.period, np.array(gimbal.drive.rate_limits)
    if imu is None:
        sample_indices, zeros = np.arange(len(motion.time)), np.zeros(3)
        no_noise = np.zeros((len(sample_indices), 3))
        gyroscope = GyroscopeErrors(np.eye(3), zeros, no_noise, zeros + np.inf, zeros)
    else:
        carried_motion = gimbal.geometry.carry(motion, ideal_joints)
        sample_indices, gyroscope = _simulate_gyroscope(carried_motion, imu, seed, run, period)
    stride = int(sample_indices[1] - sample_indices[0])
    # Before the first gyroscope sample, the gimbal tracks the target exactly.
    to_inertial = world_to_inertial(motion)[sample_indices]
    base = (
        to_inertial
        * Rotation.from_quat(motion.orientation[sample_indices])
        * gimbal.geometry.base_rotation
    )
    inertial = to_inertial * target[sample_indices]
    target_rate = np.zeros((len(sample_indices), 3))
    target_rate[1:] = (inertial[:-1].inv() * inertial[1:]).as_rotvec() / (stride * period)
    target_rate[0] = target_rate[1]
    with prefix_errors(f"gimbal {gimbal.name}: "):
        loop = run_loop(
            base.as_quat(),
            TargetMotion(inertial.as_quat(), target_rate),
            gyroscope,
            gimbal.drive,
            gimbal.limits,
            stride * period,
            JointState(
                ideal_joints.angle[sample_indices[0]],
                np.clip(ideal_joints.rate[sample_indices[0]], -max_rates, max_rates),
            ),
        )
    joints, command = _interpolate(loop, sample_indices, stride, motion.time, gimbal, period)
    first = sample_indices[0]
    joints.angle[:first], joints.rate[:first] = (
        ideal_joints.angle[:first],
        ideal_joints.rate[:first],
    )
    joints.acceleration[:first] = ideal_joints.acceleration[:first]
    return joints, command


def _interpolate(
    loop: Any, sample_indices: np.ndarray, stride: int, time: np.ndarray, gimbal: Any, period: float
) -> tuple[JointMotion, np.ndarray]:
    """Interpolate the joint motion from the gyroscope samples to all samples of the motion."""
    count = len(time)
    steps_since_start = np.arange(count) - sample_indices[0]
    index = np.clip(-(-steps_since_start // stride) - 1, 0, len(sample_indices) - 1)
    steps = np.maximum(steps_since_start - index * stride, 0)
    low, high = np.array(gimbal.limits).T
    angle, rate, command = (values[index] for values in loop)
    for step_count in range(1, stride + 1):
        decay, rate_gain, command_gain = servo(gimbal.drive, step_count * period)
        rows = steps == step_count
        free = angle[rows] + rate_gain * rate[rows] + command_gain * command[rows]
        moving = decay * rate[rows] + (1.0 - decay) * command[rows]
        inside = (free >= low) & (free <= high)
        angle[rows], rate[rows] = np.clip(free, low, high), np.where(inside, moving, 0.0)
    pulsation = 2.0 * np.pi * gimbal.drive.servo_bandwidth
    stopped = stabilisation.find_angle_limits(angle, gimbal.limits) | (low == high)
    acceleration = np.where(stopped, 0.0, pulsation * (command - rate))
    return JointMotion(time, angle, rate, acceleration), command


def _simulate_gyroscope(
    motion: Any, imu: Any, seed: Any, run: int, period: float
) -> tuple[np.ndarray, GyroscopeErrors]:
    """Return the sample indices and the errors of the gyroscope in a run."""
    matrix: Any = np.eye(3)
    nonlinearity: Any = np.zeros(3)
    saturation: Any = np.full(3, np.inf)
    resolution: Any = np.zeros(3)
    if isinstance(imu, ImuSpecification):
        triad = imu.gyroscope
        matrix = matrix + np.array(triad.scale_factor_and_misalignment)
        nonlinearity, resolution = np.array(triad.nonlinearity), np.array(triad.resolution)
        if triad.saturation is not None:
            saturation = np.array(triad.saturation)
        # Full scale and resolution are applied in the simulation of the loop.
        imu = replace(imu, gyroscope=replace(triad, saturation=None, resolution=(0.0,) * 3))
    model = imu_model(imu, period, seed)
    truth = imu_truth(motion, speed=model.requires_speed)
    reading = model.batch(truth, 1, first_run=run, parts=("angular_velocity",))
    sample_indices = np.flatnonzero(model.new_samples(len(motion.time)))
    if len(sample_indices) < 2:
        raise ConfigurationError(
            f"the gimbal's gyroscope has {len(sample_indices)} samples during the motion, "
            "expected at least 2"
        )
    rate = _interval_means(truth.angular_velocity, sample_indices)
    additive = (
        reading.angular_velocity[0][sample_indices] - rate @ matrix.T - nonlinearity * rate**2
    )
    return sample_indices, GyroscopeErrors(matrix, nonlinearity, additive, saturation, resolution)


def _interval_means(values: np.ndarray, sample_indices: np.ndarray) -> np.ndarray:
    """Average values between gyroscope samples; return the value at the first sample unchanged."""
    stride, means = int(sample_indices[1] - sample_indices[0]), values[sample_indices].copy()
    if stride > 1:
        sums = np.cumsum(values, axis=0)
        means[1:] = (sums[sample_indices[1:]] - sums[sample_indices[:-1]]) / stride
    return means


def _residual_motion(
    carried_motion: Any,
    target: Rotation,
    turning: np.ndarray,
    joints: JointMotion,
    gimbal: Any,
    rate_limited: np.ndarray,
) -> stabilisation.Residual:
    error = Rotation.from_quat(carried_motion.orientation).inv() * target
    axis = np.array(stabilisation.BORESIGHTS[gimbal.drive.boresight])
    target_axis = error.apply(axis)
    sine = np.linalg.norm(np.cross(axis, target_axis), axis=1)
    return stabilisation.Residual(
        carried_motion.time,
        error.as_rotvec(),
        np.arctan2(sine, target_axis @ axis),
        carried_motion.angular_velocity - error.apply(turning),
        stabilisation.find_angle_limits(joints.angle, gimbal.limits),
        rate_limited,
    )
