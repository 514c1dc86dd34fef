import numpy as np
import pytest
from earth_flights import require_same_motion
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.earth import ecef_of, geodetic_of
from imu_simulation_framework.motion.flight import FlightStates, flight_instants

RATE, LATITUDE = 50.0, 0.5
TIME = np.arange(0.0, 20.0, 1.0 / RATE)
PLACES = np.column_stack([np.full(len(TIME), LATITUDE), TIME * 9e-6, np.full(len(TIME), 300.0)])


def eastwards(**others):
    """Return a flight along a parallel with a pitch of 0.1 rad."""
    angles = np.tile([0.0, 0.1, np.pi / 2.0], (len(TIME), 1))
    return FlightStates.from_ecef_and_aviation(TIME, ecef_of(*PLACES.T), angles, **others)


def test_aviation_and_ros_states_match_and_motion_passes_through_poses():
    velocity = np.tile([1.0, 50.0, -2.0], (len(TIME), 1))
    ned = eastwards(velocity_ned=velocity)
    # In ROS, nose-up is a negative pitch about the left axis, and a yaw of zero points east.
    level = Rotation.from_euler("ZYX", [0.0, -0.1, 0.0]).as_quat()
    local = np.tile(level, (len(TIME), 1)), velocity[:, [1, 0, 2]] * [1.0, 1.0, -1.0]
    enu = FlightStates.from_local(TIME, PLACES, *local)
    require_same_motion(ned, enu, angle=1e-14, position=1e-8, velocity=1e-12)
    states = eastwards()
    motion = states.motion()
    np.testing.assert_array_equal(motion.position, states.position)
    speed = np.linalg.norm(motion.velocity, axis=1)
    radius = np.linalg.norm(states.position[0, :2])
    np.testing.assert_allclose(speed, 9e-6 * radius, rtol=1e-9)
    finer = states.motion(at=np.arange(0.0, 19.0, 0.001))
    np.testing.assert_allclose(np.linalg.norm(finer.velocity, axis=1), 9e-6 * radius, rtol=1e-9)


def test_rounded_positions_are_replaced_by_integral_of_velocities():
    exact = eastwards()
    velocity = exact.motion().velocity
    place = geodetic_of(exact.position)
    place[:, 1] = np.round(place[:, 1], 7)
    coarse = FlightStates(TIME, ecef_of(*place.T), exact.orientation, velocity)
    assert np.max(np.linalg.norm(coarse.position - exact.position, axis=1)) > 0.2
    repaired = coarse.integrated()
    # Four standard errors of the mean of 1000 positions with a resolution of 0.56 m.
    assert np.max(np.linalg.norm(repaired.position - exact.position, axis=1)) < 4 * 0.0051
    with pytest.raises(MotionError, match="velocity is missing"):
        eastwards().integrated()


def test_flight_is_cropped_by_time_and_flight_phases_require_no_velocities():
    states = eastwards(velocity_ned=np.ones((len(TIME), 3)), on_ground=TIME < 3.0)
    part = states.between(2.0, 5.0)
    assert part.time[0] == 2.0 and part.time[-1] == 5.0 and len(part) == 151
    assert len(part.velocity) == 151 and part.on_ground.sum() == 50
    with pytest.raises(MotionError, match=r"no states from 30 to 40 s"):
        states.between(30.0, 40.0)
    with_velocity = eastwards(velocity_ned=np.tile([0.0, 50.0, 0.0], (len(TIME), 1)))
    assert eastwards().instants() == with_velocity.instants()


INSTANTS = np.arange(0.0, 200.0, 1.0 / RATE)


def flown(climb, course_rate, speed=60.0):
    """Return the east-north-up velocity of a flight with a given climb rate and turn rate."""
    course = np.cumsum(np.broadcast_to(course_rate, INSTANTS.shape)) / RATE
    speed = np.broadcast_to(speed, INSTANTS.shape)
    east, north = speed * np.cos(course), speed * np.sin(course)
    return np.column_stack([east, north, np.broadcast_to(climb, INSTANTS.shape)])


def between(begin, end, value):
    return np.where((begin <= INSTANTS) & (end > INSTANTS), value, 0.0)


def test_flight_phases_are_detected_within_averaging_window():
    climb = between(20.0, 60.0, 8.0)
    turning = between(100.0, 130.0, np.radians(3.0)) + between(30.0, 40.0, np.radians(-5.0))
    actual = flight_instants(INSTANTS, flown(climb, turning), INSTANTS < 18.0)
    assert actual.lift_off == pytest.approx(18.0)
    assert actual.ascent == pytest.approx(20.0, abs=0.5)
    assert actual.cruise == pytest.approx(60.0, abs=0.5)
    assert actual.turn_start == pytest.approx(100.0, abs=0.5)
    assert actual.turn_end == pytest.approx(130.0, abs=0.5)
    changes = [round(np.degrees(turn.change)) for turn in actual.turns]
    assert changes == pytest.approx([-50, 90], abs=2)
    names = "lift-off, start of ascent, start of cruise, start of strong turn, end of turn"
    assert list(actual.marked()) == names.split(", ")


def test_ascent_is_longest_climb_and_turn_in_cruise_is_preferred():
    climbs = between(20.0, 30.0, 8.0) + between(60.0, 100.0, 8.0) + between(150.0, 160.0, 8.0)
    actual = flight_instants(INSTANTS, flown(climbs, 0.0))
    assert (actual.ascent, actual.cruise) == pytest.approx((60.0, 100.0), abs=0.5)
    climb = between(20.0, 60.0, 8.0)
    turning = between(30.0, 50.0, np.radians(5.0)) + between(100.0, 110.0, np.radians(-3.0))
    actual = flight_instants(INSTANTS, flown(climb, turning))
    assert actual.turn_start == pytest.approx(100.0, abs=0.5)
    alone = flight_instants(INSTANTS, flown(climb, between(30.0, 50.0, np.radians(5.0))))
    assert alone.turn_start == pytest.approx(30.0, abs=0.5)


def test_level_or_short_flight_has_no_detected_phases():
    actual = flight_instants(INSTANTS, flown(0.2, 0.0))
    assert actual.marked() == {} and actual.turns == () and actual.sentences() == []
    assert flight_instants([0.0, 1.0], np.ones((2, 3))).marked() == {}


def test_turn_on_ground_is_ignored_and_unfinished_turn_has_no_end():
    turning = between(50.0, 80.0, np.radians(5.0))
    assert flight_instants(INSTANTS, flown(0.0, turning), INSTANTS > 0.0).turns == ()
    assert flight_instants(INSTANTS, flown(0.0, turning, speed=2.0)).turns == ()
    actual = flight_instants(INSTANTS, flown(between(150.0, 300.0, 5.0), 0.0))
    assert actual.ascent == pytest.approx(150.0, abs=0.5) and actual.cruise is None
    actual = flight_instants(INSTANTS, flown(0.0, between(150.0, 300.0, np.radians(3.0))))
    assert actual.turn_start == pytest.approx(150.0, abs=0.5) and actual.turn_end is None
    assert actual.turns[0].end == INSTANTS[-1]
