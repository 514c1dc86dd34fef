"""Angle wrapping and unwrapping, and quaternions."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core import angles


def test_scalar_yaw_matches_vectorised_yaw():
    quaternions = 1.3 * Rotation.random(100, random_state=4).as_quat()
    yaws = [angles.fast_yaw(*quaternion) for quaternion in quaternions.tolist()]
    np.testing.assert_allclose(yaws, angles.yaw_from_quaternion(quaternions), rtol=0, atol=1e-14)


def test_wrapped_angles_are_in_half_open_interval():
    assert angles.wrap(0.1) == 0.1
    multiples = np.arange(-7, 8) * math.pi
    near = np.concatenate(
        [multiples, np.nextafter(multiples, np.inf), np.nextafter(multiples, -np.inf)]
    )
    wrapped = angles.wrap(near)
    assert np.all((wrapped > -math.pi) & (wrapped <= math.pi))
    assert np.allclose(np.exp(1j * wrapped), np.exp(1j * near), atol=1e-14)
    values = np.random.default_rng(1).uniform(-50.0, 50.0, 200)
    assert angles.wrap(values).tolist() == [angles.wrap(float(value)) for value in values]


def test_angle_difference_is_wrapped_at_180_degrees():
    across = angles.difference(math.radians(-179.0), math.radians(179.0))
    assert across == pytest.approx(math.radians(2.0))
    assert angles.difference(np.array([3.0]), -3.0) == pytest.approx(6.0 - 2.0 * math.pi)
    yaw = np.linspace(0.3, 40.0, 500)
    assert angles.unwrap(angles.wrap(yaw)) == pytest.approx(yaw)


def test_quaternions_have_ros_order_and_yaw_turns_about_world_z():
    quaternion = angles.quaternion_from_roll_pitch_yaw([0.0, 0.0, math.pi / 2])
    assert quaternion == pytest.approx([0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)])
    assert angles.yaw_from_quaternion(quaternion) == pytest.approx(math.pi / 2)
    tilt = Rotation.from_euler("xyz", [0.3, -0.4, 0.0])
    turned = Rotation.from_rotvec([0.0, 0.0, 1.2]) * tilt
    roll, pitch, yaw = angles.roll_pitch_yaw_from_quaternion(turned.as_quat())
    assert (roll, pitch, yaw) == pytest.approx((0.3, -0.4, 1.2))
    quaternion = angles.quaternion_from_roll_pitch_yaw([0.1, 0.2, 0.3])
    assert angles.yaw_from_quaternion(1.7 * quaternion) == pytest.approx(0.3)
    with pytest.raises(ValueError, match="[Zz]ero"):
        angles.yaw_from_quaternion([0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("shape", [(), (5,), (4, 3), (0,)])
def test_roll_pitch_yaw_round_trip_preserves_values_and_shape(shape):
    generator = np.random.default_rng(2)
    expected = generator.uniform(-1.5, 1.5, (*shape, 3))
    quaternions = angles.quaternion_from_roll_pitch_yaw(expected)
    assert quaternions.shape == (*shape, 4)
    assert np.all(quaternions[..., 3] >= 0.0)
    result = angles.roll_pitch_yaw_from_quaternion(quaternions)
    assert result.shape == expected.shape
    assert np.allclose(result, expected, atol=1e-12)


def test_rotation_vectors_match_scipy_up_to_180_degrees():
    generator = np.random.default_rng(7)
    first = Rotation.random(200, random_state=1)
    vectors = generator.normal(size=(200, 3)) * np.logspace(-14.0, 0.0, 200)[:, np.newaxis]
    vectors[0] = 0.0
    vectors[1] = (0.0, np.pi, 0.0)
    second = first * Rotation.from_rotvec(vectors)
    expected = (first.inv() * second).as_rotvec()
    for sign in (1.0, -1.0):
        found = angles.relative_rotations(first.as_quat(), sign * second.as_quat())
        # A rotation by 180 degrees is the same about either direction of its axis.
        found[1] *= np.sign(found[1] @ expected[1])
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-15)
