"""IMU increments of a motion on the Earth, and their integration back to the motion."""

import numpy as np
import pytest
from earth_flights import flight, mount_on_gimbal, poses, require_same_motion
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import relative_rotations
from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.earth import EARTH_RATE


def _require_closed(motion, place, velocity, angle):
    """Assert that integrated increments reproduce a motion within tolerances in m, m/s and rad."""
    begin = motion.position[0], motion.velocity[0], motion.orientation[0]
    path = isf.integrate(isf.increments_of(motion), *begin)
    require_same_motion(path, motion, position=place, velocity=velocity)
    assert np.abs(relative_rotations(path.orientation, motion.orientation)).max() < angle


@pytest.mark.parametrize("latitude, longitude", [(90.0, 0.0), (-90.0, 0.0), (3.0, 180.0)])
def test_integrated_increments_reproduce_motion_at_poles_and_date_line(latitude, longitude):
    motion = mount_on_gimbal(isf.circling(200.0, latitude, longitude, 300.0))
    _require_closed(motion, 1e-3, 1e-4, 1e-6)


def test_integrated_increments_reproduce_large_rotations_and_irregular_times():
    motion = isf.standing(3600.0, 47.0, 11.0, 500.0, yaw=1.0, rate=10.0)
    _require_closed(motion, 1e-2, 1e-5, 1e-9)
    # The body rotates by nearly 180 degrees per sample about changing axes.
    count = 200
    moments = np.arange(count) / 10.0
    still = isf.standing(moments[-1], 20.0, rate=10.0)
    vectors = np.column_stack([2.9 * np.cos(moments), 2.9 * np.sin(moments), 0.1 * moments])
    steps = Rotation.from_rotvec(vectors)
    orientation = [Rotation.from_quat(still.orientation[0])]
    for step in steps[1:]:
        orientation.append(orientation[-1] * step)
    nothing = np.zeros((count, 3))
    quaternions = Rotation.concatenate(orientation).as_quat()
    motion = isf.EarthMotion(moments, still.position, quaternions, nothing, nothing, nothing)
    _require_closed(motion, 1e-5, 1e-8, 1e-9)
    increments, position, orientation = poses(100.0, 60.0)
    random = np.random.default_rng(2)
    at = np.sort(random.uniform(0.0, 60.0, 6000))
    motion = isf.EarthMotion.from_poses(increments, position, orientation, at)
    _require_closed(motion, 1e-2, 1e-4, 1e-6)


@pytest.mark.parametrize("gimbal", [False, True])
def test_increments_match_integrals_of_rate_and_force(gimbal):
    coarse, fine = 50, 40
    # The motion is in closed form, because derivatives of rounded positions would be inaccurate.
    finer = isf.circling(4.0, 47.0, 11.0, 300.0, radius=300.0, rate=float(coarse * fine))
    finer = mount_on_gimbal(finer) if gimbal else finer
    samples = slice(None, None, fine)
    names = ("time", "position", "orientation", "velocity", "angular_velocity", "specific_force")
    motion = isf.EarthMotion(*(getattr(finer, name)[samples] for name in names))
    increments = isf.increments_of(motion)
    step = 1.0 / (coarse * fine)
    for number in range(20, 180, 16):
        within = slice((number - 1) * fine, number * fine + 1)
        start = Rotation.from_quat(finer.orientation[(number - 1) * fine])
        # Integrate in axes that coincide with the Earth's axes at first, but do not rotate.
        angles = EARTH_RATE * step * np.arange(fine + 1)
        earth = Rotation.from_rotvec(np.outer(angles, [0.0, 0.0, 1.0]))
        turned = start.inv() * earth * Rotation.from_quat(finer.orientation[within])
        theta, velocity = increments.delta_theta[number], increments.delta_velocity[number]
        assert theta == pytest.approx(turned[-1].as_rotvec(), rel=1e-10, abs=1e-14)
        velocity_change = simpson(turned.apply(finer.specific_force[within]), dx=step, axis=0)
        parts = Rotation.from_rotvec(np.outer((np.arange(1000) + 0.5) / 1000.0, theta))
        assert np.mean(parts.as_matrix(), axis=0) @ velocity == pytest.approx(
            velocity_change, abs=1e-9
        )
        # Without corrections, coning and sculling are of third order in the period.
        plain = simpson(finer.specific_force[within], dx=step, axis=0)
        assert velocity == pytest.approx(plain, abs=3e-5)
        rate = simpson(finer.angular_velocity[within], dx=step, axis=0)
        assert theta == pytest.approx(rate, abs=1e-6)


def test_sample_means_match_increments_and_path_through_earth_is_rejected():
    motion = mount_on_gimbal(flight(100.0, 10.0))
    increments = isf.increments_of(motion)
    rate, force = motion.means()
    step = np.diff(motion.time)[:, np.newaxis]
    assert rate[1:] * step == pytest.approx(increments.delta_theta[1:], abs=1e-14)
    assert force[1:] * step == pytest.approx(increments.delta_velocity[1:], abs=1e-14)
    assert np.all(increments.delta_theta[0] == 0.0)
    assert np.all(increments.delta_velocity[0] == 0.0)
    assert rate[0] == pytest.approx(motion.angular_velocity[0])
    assert force[0] == pytest.approx(motion.specific_force[0])
    free_fall = isf.Increments(np.arange(2000.0), np.zeros((2000, 3)), np.zeros((2000, 3)))
    with pytest.raises(MotionError, match="integration of the increments"):
        isf.integrate(free_fall, (6378137.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    "time, turned, gained, words",
    [
        (np.arange(3.0), np.zeros((3, 3)), np.zeros((2, 3)), "has the shape"),
        (np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), "increase"),
    ],
)
def test_malformed_increments_are_rejected(time, turned, gained, words):
    with pytest.raises(MotionError, match=words):
        isf.Increments(time, turned, gained)
