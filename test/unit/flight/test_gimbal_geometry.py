"""Gimbal arms and joints compared with closed-form equations and numerical differentiation."""

import numpy as np
import pytest
from earth_flights import GIMBAL, LEVER_ARM, flight, mount_on_gimbal, require_same_motion
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.flight.gimbal.geometry import JointMotion

AMPLITUDES, PERIODS = zip(*GIMBAL)
ARM = (LEVER_ARM, 0.0, 0.0)
ARMS = isf.GimbalGeometry(pan_to_tilt=ARM, tilt_to_roll=ARM)
SWINGING = isf.SinusoidalJoints(AMPLITUDES, PERIODS)
STANDING = isf.at_rest(12.0, 100.0)


def _difference(values, step):
    """Return fourth-order first derivatives from values at -2, -1, 0, 1, 2 steps."""
    return (values[0] - 8.0 * values[1] + 8.0 * values[3] - values[4]) / (12.0 * step)


def test_gimbal_motion_on_turning_platform_matches_numerical_differentiation():
    # The expected values use rotation matrices and finite differences, and no library code.
    def about(axis, angle):
        x, y, z = np.eye(3)[axis]
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew

    def pose(t):
        joints = [a * np.sin(2.0 * np.pi * t / p) for a, p in GIMBAL]
        body = about(2, 0.3 * t) @ about(0, 0.2)
        position = np.array([5.0 * np.sin(0.3 * t), -5.0 * np.cos(0.3 * t), 1.0])
        base = body @ about(1, 0.1)
        position = position + body @ (0.3, -0.2, 0.4)
        pan = base @ about(2, joints[0])
        tilt = pan @ about(1, joints[1])
        roll = tilt @ about(0, joints[2])
        arms = pan @ (0.1, 0.02, -0.05) + tilt @ (0.1, 0.01, 0.03) + roll @ (0.02, 0.03, 0.01)
        return position + arms, roll, body

    time = np.arange(0.0, 12.0, 0.01)
    platform = isf.Motion.from_poses(
        time,
        np.column_stack([5.0 * np.sin(0.3 * time), -5.0 * np.cos(0.3 * time), np.ones(len(time))]),
        [Rotation.from_matrix(pose(t)[2]).as_quat() for t in time],
    )
    geometry = isf.GimbalGeometry(
        (0.3, -0.2, 0.4), (0.0, 0.1, 0.0), (0.1, 0.02, -0.05), (0.1, 0.01, 0.03), (0.02, 0.03, 0.01)
    )
    gimbal = isf.GimbalSpecification(geometry=geometry, drive=SWINGING)
    found = isf.simulate_gimbal(platform, gimbal).motion
    step = 1e-3
    for index in (300, 555, 801):
        around = [[pose(time[index] + (i + j) * step) for j in range(-2, 3)] for i in range(-2, 3)]
        velocities = [_difference([p for p, _, _ in five], step) for five in around]
        turn = pose(time[index])[1].T @ _difference([r for _, r, _ in around[2]], step)
        specific_force = _difference(velocities, step) + (0.0, 0.0, WORLD_GRAVITY)
        np.testing.assert_allclose(found.velocity[index], velocities[2], rtol=0.0, atol=1e-7)
        rate = turn[2, 1], turn[0, 2], turn[1, 0]
        np.testing.assert_allclose(found.angular_velocity[index], rate, rtol=0.0, atol=1e-7)
        position, roll, _ = pose(time[index])
        np.testing.assert_allclose(
            found.specific_force[index], roll.T @ specific_force, rtol=0.0, atol=1e-6
        )
        np.testing.assert_allclose(found.position[index], position, rtol=0.0, atol=1e-12)


def test_gimbal_in_flight_matches_three_consecutive_mountings():
    platform = flight(100.0, 20.0)
    gimbal = isf.GimbalSpecification(geometry=ARMS, drive=SWINGING)
    found, expected = isf.simulate_gimbal(platform, gimbal).motion, mount_on_gimbal(platform)
    inner = slice(100, -100)  # a spline is less accurate at its ends
    off = {"position": 2e-9, "orientation": 1e-12, "velocity": 1e-7, "angular_velocity": 1e-7}
    require_same_motion(found, expected, inner, **off, specific_force=1e-5)


def test_gimbal_links_end_at_imu_and_default_gimbal_leaves_motion_unchanged():
    geometry = isf.GimbalGeometry(
        (0.3, 0.0, -0.4), (0.1, 0.0, 0.0), (0.1, 0.0, -0.1), (0.1, 0.0, 0.0), (0.0, 0.05, 0.0)
    )
    angles = (0.5, 0.4, -0.3)
    place, turned = np.zeros(3), Rotation.identity()
    for link in geometry.links(np.array([angles]))[0]:
        place = place + turned.apply(link[:3])
        turned = turned * Rotation.from_quat(link[3:])
    still = np.zeros((3, 3))
    mount = geometry.mount(JointMotion(np.arange(3.0), still + angles, still, still))
    np.testing.assert_allclose(place, mount.lever_arm[0], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(turned.as_matrix(), mount.rotation[0].as_matrix(), atol=1e-15)
    platform = flight(50.0, 4.0)
    found = isf.simulate_gimbal(platform, isf.GimbalSpecification()).motion
    names = ("position", "velocity", "angular_velocity", "specific_force")
    require_same_motion(found, platform, **dict.fromkeys(names, 1e-12))


def closure(name, rate):
    """Return the largest position, velocity and angle errors of gimbal increments over 200 s."""
    gimbal = isf.read_gimbal(name)
    carried = isf.simulate_gimbal(flight(rate), gimbal, isf.read_imu_specification("agisim")).motion
    begin = carried.position[0], carried.velocity[0], carried.orientation[0]
    found = isf.integrate(isf.increments_of(carried), *begin)
    turned = Rotation.from_quat(found.orientation).inv() * Rotation.from_quat(carried.orientation)
    away = found.position - carried.position, found.velocity - carried.velocity
    return [*(np.linalg.norm(vectors, axis=1).max() for vectors in away), turned.magnitude().max()]


@pytest.mark.parametrize("name", ["off", "agisim", "level", "ground_point"])
def test_gimbal_increments_reproduce_motion_to_second_order(name):
    error_100, error_50 = closure(name, 100.0), closure(name, 50.0)
    assert np.all(np.array(error_100) < (1e-3, 1e-4, 1e-6))
    assert error_50[0] / error_100[0] == pytest.approx(4.0, rel=0.1)


def test_joint_table_is_interpolated_with_spline():
    times = np.arange(0.0, 12.5, 0.05)
    angles = np.array(AMPLITUDES) * np.sin(2.0 * np.pi * np.outer(times, 1.0 / np.array(PERIODS)))
    tabulated = isf.TabulatedJoints(tuple(times), tuple(map(tuple, angles)))
    found = tabulated.joints(STANDING.time)
    expected = SWINGING.joints(STANDING.time)
    # The error is h^4 / 384 of the fourth derivative, 5e-8 rad for the pan; ends are worse.
    inner = slice(50, -50)
    np.testing.assert_allclose(found.angle[inner], expected.angle[inner], rtol=0.0, atol=6e-8)
    np.testing.assert_allclose(found.angle, expected.angle, rtol=0.0, atol=1e-5)


def test_joint_table_shorter_than_motion_and_joints_at_different_times_are_rejected():
    tabulated = isf.TabulatedJoints((0.0, 1.0, 2.0), ((0.0,) * 3,) * 3, "angles.csv")
    gimbal = isf.GimbalSpecification(drive=tabulated)
    with pytest.raises(MotionError, match=r"angles\.csv: .* from 0 s to 2 s, .* to 12 s"):
        isf.simulate_gimbal(STANDING, gimbal)
    still = np.zeros((3, 3))
    joints = JointMotion(np.arange(3.0), still, still, still)
    with pytest.raises(MotionError, match="must have the same times"):
        ARMS.carry(STANDING, joints)


@pytest.mark.parametrize(
    "drive, joint",
    [
        (isf.FixedJoints((0.0, 1.6, 0.0)), "angle of tilt is 1.6 rad"),
        (isf.SinusoidalJoints((0.0, 0.3, 0.0), offsets=(0.0, -1.4, 0.0)), "angle of tilt is -1.7"),
        (
            isf.TabulatedJoints((0.0, 1.0), ((0.0, 2.0, 0.0), (0.0, 0.0, 0.0))),
            "angle of tilt is 2",
        ),
    ],
)
def test_prescribed_joint_angles_beyond_limits_are_rejected(drive, joint):
    with pytest.raises(ConfigurationError, match=f"the gimbal exceeds its limits: the {joint}"):
        isf.GimbalSpecification(drive=drive)
