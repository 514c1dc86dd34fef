"""Heading from the course of a path and from two antennas."""

import numpy as np
import pytest

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.motion.course import (
    NoHeadingError,
    compare_with_course,
    heading_from_antennas,
    heading_from_course,
)


def test_heading_equals_course_in_motion_and_first_course_before_motion():
    times = np.arange(0.0, 60.0, 0.1)
    yaw = 0.3 * times  # nearly three turns
    velocities = np.column_stack([np.cos(yaw), np.sin(yaw)])
    assert heading_from_course(times, velocities, 0.2, 1.0) == pytest.approx(yaw, abs=1e-9)
    times = np.arange(0.0, 10.0, 0.1)
    velocities = np.where(times[:, None] < 5.0, 0.0, [[0.0, 1.0]])
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert heading == pytest.approx(np.full(100, np.pi / 2.0))
    # A 180 deg turn within 2 s at 0.5 m/s; at the limit of 0.8 rad/s, it would take 5.9 s.
    times = np.arange(0.0, 20.0, 0.05)
    yaw = np.clip((times - 9.0) * np.pi / 2.0, 0.0, np.pi)
    speed = np.where((times > 9.0) & (times < 11.0), 0.5, 2.0)
    velocities = np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw)])
    heading = heading_from_course(times, velocities, 0.2, 0.8, deviations=0.2)
    assert heading == pytest.approx(yaw, abs=1e-9)
    turn_rate = np.repeat([0.0, np.pi, 0.0, -np.pi, 0.0], [100, 20, 100, 20, 100])
    times, velocities, yaw = make_drive(np.full(340, 1.0), turn_rate)
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert heading == pytest.approx(yaw, abs=1e-9)


def stop_between(yaw_before, yaw_after, stop=10.0, rate=20.0):
    """Return times and velocities of two straight 20 s drives with a stop in between."""
    times = np.arange(0.0, 40.0 + stop, 1.0 / rate)
    speed = np.where((times < 20.0) | (times >= 20.0 + stop), 1.0, 0.0)
    yaw = np.where(times < 20.0 + stop / 2.0, yaw_before, yaw_after)
    return times, np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw)])


def test_heading_is_constant_during_stop_and_turns_at_its_end_within_rate_limit():
    times, velocities = stop_between(0.2, 1.7)
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    needed = 1.5 * 1.5 / 0.8
    held = (times >= 20.0) & (times < 30.0 - needed - 0.1)
    assert np.all(heading[held] == pytest.approx(0.2))
    assert heading[times >= 30.0] == pytest.approx(1.7)
    assert np.abs(np.diff(heading) / np.diff(times)).max() <= 0.8 + 1e-9
    times, velocities = stop_between(0.0, -2.0, stop=0.5)
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    fastest = np.abs(np.diff(heading) / np.diff(times)).max()
    assert 0.75 < fastest <= 0.8 + 1e-9
    assert heading[[0, -1]] == pytest.approx([0.0, -2.0])
    times, velocities = stop_between(0.5, 0.5)
    velocities += 0.01 * np.random.default_rng(1).standard_normal(velocities.shape)
    velocities[(times < 20.0) | (times >= 30.0)] = velocities[0]
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert np.ptp(heading) < 1e-9


def test_heading_of_robot_without_motion_is_rejected():
    with pytest.raises(NoHeadingError, match="minimum speed"):
        heading_from_course(np.arange(5.0), np.zeros((5, 2)), 0.2, 0.8)
    nowhere = np.zeros(3, dtype=bool)
    assert compare_with_course(np.arange(3.0), np.zeros(3), np.zeros((3, 2)), nowhere) is None


def test_insignificant_speed_and_swaying_antenna_do_not_change_heading():
    times, velocities = stop_between(0.3, 0.3, stop=20.0)
    rest = (times >= 20.0) & (times < 40.0)
    velocities[rest] = 0.4 * np.column_stack([np.cos(times[rest]), np.sin(times[rest])])
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert np.ptp(heading) > 3.0
    held = heading_from_course(times, velocities, 0.2, 0.8, deviations=0.2)
    assert np.ptp(held) < 1e-9
    # The robot brakes from 1.5 m/s, the antenna sways back by 0.1 m, and the robot drives on.
    speed = np.repeat([1.5, -0.5, 0.0, 1.5], [200, 4, 40, 200])
    times, velocities, yaw = make_drive(speed, np.zeros(len(speed)))
    assert heading_from_course(times, velocities, 0.2, 0.8) == pytest.approx(yaw, abs=1e-9)


def make_drive(speed, turn_rate, rate=20.0):
    """Return times, velocities and heading of a robot for signed speeds and turn rates."""
    times = np.arange(len(speed)) / rate
    yaw = np.cumsum(turn_rate) / rate
    return times, speed[:, None] * np.column_stack([np.cos(yaw), np.sin(yaw)]), yaw


def test_middle_of_three_point_turn_is_recognised_as_reversing():
    speed = np.repeat([1.0, 0.0, -1.0, 0.0, 1.0], [200, 20, 120, 20, 200])
    turn_rate = np.repeat([0.0, 0.3, 0.0], [100, 300, 160])
    times, velocities, yaw = make_drive(speed, turn_rate)
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert heading[-1] == pytest.approx(yaw[-1], abs=1e-9)
    # In each stop of 1 s, the heading is constant or turns up to 0.3 rad too early.
    assert np.abs(heading - yaw).max() < 0.31
    assert heading[speed != 0.0] == pytest.approx(yaw[speed != 0.0], abs=0.16)


@pytest.mark.parametrize("way, turned", [(0.3, 0.0), (2.0, 1.5)])
def test_position_jump_between_two_stops_is_not_used_as_course(way, turned):
    speed = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0], [200, 80, int(way * 20), 80, 200])
    times, velocities, _ = make_drive(speed, np.zeros(len(speed)))
    between = slice(280, 280 + int(way * 20))
    velocities[between] = np.array([np.cos(1.5), np.sin(1.5)])
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert heading[between] == pytest.approx(turned, abs=1e-9)
    assert heading[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("stop, way", [(5.0, 10.0), (1.0, 30.0)])
def test_lanes_with_turns_on_the_spot_are_recognised_as_forward_driving(stop, way):
    """Long stops allow turns on the spot; long lanes exceed the maximum length of reversing."""
    row, rest = int(way * 20), int(stop * 20)
    speed = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0], [row, rest, row, rest, row])
    turn_rate = np.repeat([0.0, np.pi / stop, 0.0, -np.pi / stop, 0.0], [row, rest] * 2 + [row])
    times, velocities, yaw = make_drive(speed, turn_rate)
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    middle = (times > stop + 1.3 * way) & (times < stop + 1.7 * way)
    assert wrap(heading - yaw)[middle] == pytest.approx(0.0, abs=1e-9)


def test_antenna_heading_gaps_are_bridged_with_course():
    times = np.arange(0.0, 30.0, 0.05)
    course = 0.2 * times
    measured_times = np.arange(0.0, 30.0, 0.5)
    heard = (measured_times < 10.0) | (measured_times > 20.0)
    # The robot reverses, and before the gap its heading increasingly deviates from the course.
    wander = np.where(measured_times < 10.0, 0.01 * measured_times, 0.1)
    measured = wrap(0.2 * measured_times + np.pi + wander)
    heading, silent = heading_from_antennas(times, course, measured_times[heard], measured[heard])
    assert np.abs(np.diff(heading)).max() < 0.02
    expected = course + np.pi + np.where(times < 9.5, 0.01 * times, np.nan)
    inside = np.isfinite(expected)
    assert wrap(heading[inside] - expected[inside]) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(wrap(heading[silent] - course[silent] - np.pi)).max() < 0.11
    # The gaps last from 9.5 s to 20.5 s and from the last heading at 29.5 s to the end.
    assert silent.sum() == pytest.approx((11.0 + 0.45) / 0.05, abs=2)
    times = np.arange(0.0, 3.0, 0.1)
    heading, silent = heading_from_antennas(times, 0.5 * times, np.array([1.0]), np.array([2.0]))
    assert heading == pytest.approx(0.5 * times + 1.5)
    assert silent.all()


@pytest.mark.parametrize("offset", [0.0, np.pi / 2.0, -0.3])
def test_antenna_offset_from_course_is_reported(offset):
    times = np.arange(0.0, 100.0, 0.1)
    heading = 0.1 * times
    sign = np.where((times >= 60.0) & (times < 80.0), -1.0, 1.0)
    velocities = sign[:, None] * np.column_stack([np.cos(heading), np.sin(heading)])
    check = compare_with_course(times, heading + offset, velocities, np.ones(1000, dtype=bool))
    assert check.offset == pytest.approx(offset)
    assert check.rms < 1e-9
    assert check.backwards == pytest.approx(20.0)
