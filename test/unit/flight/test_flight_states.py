import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.earth import ecef_of, geodetic_of
from imu_simulation_framework.motion.flight import FlightStates

RATE, SPEED, LATITUDE = 50.0, 60.0, 0.5
TIME = np.arange(0.0, 20.0, 1.0 / RATE)
PLACES = np.column_stack([np.full(len(TIME), LATITUDE), TIME * 9e-6, np.full(len(TIME), 300.0)])


def eastwards(**others):
    """A flight along a parallel, with its nose up by a tenth."""
    angles = np.tile([0.0, 0.1, np.pi / 2.0], (len(TIME), 1))
    return FlightStates.of_ecef_and_aviation(TIME, ecef_of(*PLACES.T), angles, **others)


def test_aviation_and_ros_say_the_same_flight():
    velocity = np.tile([1.0, 50.0, -2.0], (len(TIME), 1))
    ned = eastwards(velocity_ned=velocity)
    # Nose up is a negative pitch about left, and east a yaw of zero.
    level = Rotation.from_euler("ZYX", [0.0, -0.1, 0.0]).as_quat()
    enu = FlightStates.from_local(
        TIME, PLACES, np.tile(level, (len(TIME), 1)), velocity[:, [1, 0, 2]] * [1.0, 1.0, -1.0]
    )
    np.testing.assert_allclose(ned.position, enu.position, atol=1e-8)
    np.testing.assert_allclose(ned.velocity, enu.velocity, atol=1e-12)
    turned = Rotation.from_quat(ned.orientation).inv() * Rotation.from_quat(enu.orientation)
    assert np.max(turned.magnitude()) < 1e-14


def test_the_motion_is_that_of_the_poses():
    states = eastwards()
    motion = states.motion()
    np.testing.assert_array_equal(motion.position, states.position)
    speed = np.linalg.norm(motion.velocity, axis=1)
    radius = np.linalg.norm(states.position[0, :2])
    np.testing.assert_allclose(speed, 9e-6 * radius, rtol=1e-9)
    finer = states.motion(at=np.arange(0.0, 19.0, 0.001))
    np.testing.assert_allclose(np.linalg.norm(finer.velocity, axis=1), 9e-6 * radius, rtol=1e-9)


def test_positions_with_few_digits_are_replaced_by_the_integral_of_velocities():
    exact = eastwards()
    velocity = exact.motion().velocity
    place = geodetic_of(exact.position)
    place[:, 1] = np.round(place[:, 1], 7)
    coarse = FlightStates(TIME, ecef_of(*place.T), exact.orientation, velocity)
    assert np.max(np.linalg.norm(coarse.position - exact.position, axis=1)) > 0.2
    assert np.max(coarse.velocity_error()) > 10.0
    repaired = coarse.integrated()
    # A step of 0.56 m, evenly distributed, on the mean of 1000: 0.56 / sqrt(12 * 1000), four times.
    assert np.max(np.linalg.norm(repaired.position - exact.position, axis=1)) < 4 * 0.0051
    assert np.max(repaired.velocity_error()) < 1e-6
    with pytest.raises(MotionError, match="no velocities"):
        eastwards().integrated()


def test_a_part_of_a_flight_is_cut_out():
    states = eastwards(velocity_ned=np.ones((len(TIME), 3)), on_ground=TIME < 3.0)
    part = states.between(2.0, 5.0)
    assert part.time[0] == 2.0 and part.time[-1] == 5.0 and len(part) == 151
    assert len(part.velocity) == 151 and part.on_ground.sum() == 50
    with pytest.raises(MotionError, match=r"nothing of it from 30 to 40 s"):
        states.between(30.0, 40.0)


def test_instants_are_those_of_the_positions_where_there_are_no_velocities():
    with_velocity = eastwards(velocity_ned=np.tile([0.0, 50.0, 0.0], (len(TIME), 1)))
    assert eastwards().instants() == with_velocity.instants()
