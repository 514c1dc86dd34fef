import numpy as np
import pytest

from imu_simulation_framework.motion.flight import flight_instants

RATE = 50.0
TIME = np.arange(0.0, 200.0, 1.0 / RATE)


def flown(climb, course_rate, speed=60.0):
    """Velocities east, north, up of a flight with a climb and a rate of its course over time."""
    course = np.cumsum(np.broadcast_to(course_rate, TIME.shape)) / RATE
    speed = np.broadcast_to(speed, TIME.shape)
    return np.column_stack(
        [speed * np.cos(course), speed * np.sin(course), np.broadcast_to(climb, TIME.shape)]
    )


def between(begin, end, value):
    return np.where((begin <= TIME) & (end > TIME), value, 0.0)


def test_the_instants_of_a_flight_are_found_within_the_second_that_is_averaged():
    climb = between(20.0, 60.0, 8.0)
    turning = between(100.0, 130.0, np.radians(3.0)) + between(30.0, 40.0, np.radians(-5.0))
    found = flight_instants(TIME, flown(climb, turning), TIME < 18.0)
    assert found.lift_off == pytest.approx(18.0)
    assert found.ascent == pytest.approx(20.0, abs=0.5)
    assert found.cruise == pytest.approx(60.0, abs=0.5)
    assert found.turn_start == pytest.approx(100.0, abs=0.5)
    assert found.turn_end == pytest.approx(130.0, abs=0.5)
    assert [round(np.degrees(turn.change)) for turn in found.turns] == [
        pytest.approx(-50, abs=2),
        pytest.approx(90, abs=2),
    ]
    assert list(found.marked()) == [
        "lift-off",
        "start of ascent",
        "start of cruise",
        "start of strong turn",
        "end of turn",
    ]


def test_the_strong_turn_is_one_of_the_cruise_if_there_is_one():
    climb = between(20.0, 60.0, 8.0)
    turning = between(30.0, 50.0, np.radians(5.0)) + between(100.0, 110.0, np.radians(-3.0))
    found = flight_instants(TIME, flown(climb, turning))
    assert found.turn_start == pytest.approx(100.0, abs=0.5)
    alone = flight_instants(TIME, flown(climb, between(30.0, 50.0, np.radians(5.0))))
    assert alone.turn_start == pytest.approx(30.0, abs=0.5)


def test_of_several_climbs_the_longest_is_the_ascent():
    climbs = between(20.0, 30.0, 8.0) + between(60.0, 100.0, 8.0) + between(150.0, 160.0, 8.0)
    found = flight_instants(TIME, flown(climbs, 0.0))
    assert (found.ascent, found.cruise) == pytest.approx((60.0, 100.0), abs=0.5)


def test_a_level_flight_straight_on_has_none():
    found = flight_instants(TIME, flown(0.2, 0.0))
    assert found.marked() == {} and found.turns == () and found.sentences() == []


def test_what_turns_on_the_ground_or_hardly_moves_is_no_turn():
    turning = between(50.0, 80.0, np.radians(5.0))
    assert flight_instants(TIME, flown(0.0, turning), TIME > 0.0).turns == ()
    assert flight_instants(TIME, flown(0.0, turning, speed=2.0)).turns == ()


def test_a_climb_that_lasts_to_the_end_has_no_cruise():
    found = flight_instants(TIME, flown(between(150.0, 300.0, 5.0), 0.0))
    assert found.ascent == pytest.approx(150.0, abs=0.5) and found.cruise is None


def test_a_turn_that_lasts_to_the_end_has_no_end():
    found = flight_instants(TIME, flown(0.0, between(150.0, 300.0, np.radians(3.0))))
    assert found.turn_start == pytest.approx(150.0, abs=0.5) and found.turn_end is None
    assert found.turns[0].end == TIME[-1]


def test_too_short_a_flight_has_no_instants():
    assert flight_instants([0.0, 1.0], np.ones((2, 3))).marked() == {}
