"""Pace control of Gazebo, with a fake plug-in that records limits; a rostest covers gzserver."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import rospy
from std_msgs.msg import Header

from imu_simulation_framework.core.errors import SimulatorError

# Appended to the path, so that the messages of an installed Gazebo take precedence.
sys.path.append(str(Path(__file__).resolve().parents[2] / "fake_gazebo"))
gazebo_pace = importlib.import_module("imu_simulation_framework.ros1.simulators.gazebo")
sys.path.pop()

PERIOD, SAMPLING = 0.05, 0.01


class Gazebo:
    """Fake Gazebo: a simulated time that advances to each published time limit."""

    def __init__(self):
        self.limits = []
        self.connections = 1
        self.watch = SimpleNamespace(now=100.0)
        self.time = 7.013

    def publish(self, limit):
        self.limits.append(limit)
        if 0.0 < limit.to_sec() < 1e9:
            self.time = max(self.time, limit.to_sec() - 0.0005)

    @property
    def limit(self):
        """Latest limit [s], without the margin that lets physics stop between two samples."""
        return self.limits[-1].to_sec() - gazebo_pace.LIMIT_MARGIN


@pytest.fixture
def gazebo(monkeypatch):
    gazebo = Gazebo()
    publisher = SimpleNamespace(
        publish=gazebo.publish,
        get_num_connections=lambda: gazebo.connections,
        resolved_name="/simulation_limit",
    )
    subscriber = SimpleNamespace(unregister=lambda: None)
    monkeypatch.setattr(gazebo_pace, "advertise", lambda *_, **__: publisher)
    monkeypatch.setattr(rospy, "Subscriber", lambda *_, **__: subscriber)
    monkeypatch.setattr(gazebo_pace, "_simulated_time", lambda: gazebo.time)
    monkeypatch.setattr(gazebo_pace.time, "monotonic", lambda: gazebo.watch.now)
    monkeypatch.setattr(gazebo_pace.time, "sleep", lambda _: setattr(gazebo.watch, "now", 1e9))
    # The tests call _republish_limit() directly.
    monkeypatch.setattr(gazebo_pace.GazeboPace, "_repeat_limit", lambda self: None)
    return gazebo


@pytest.fixture
def pace(gazebo):
    pace = gazebo_pace.GazeboPace(PERIOD)
    yield pace
    pace.end()


def report(pace, name, stamp):
    pace._on_progress(Header(stamp=rospy.Time.from_sec(stamp), frame_id=name))


def begin(pace, *participants):
    pace.hold(SAMPLING, participants, 10.0)
    return round(pace._limit, 6)


def test_plugin_without_subscription_is_reported(gazebo):
    gazebo.connections = 0
    with pytest.raises(SimulatorError, match="does not subscribe to /simulation_limit: build"):
        gazebo_pace.GazeboPace(PERIOD)


def test_simulated_time_stops_after_sample_of_control_period(gazebo, pace):
    held = begin(pace)
    assert held == 7.1
    # The limit is half a step after the sample, so that all plug-ins have processed it.
    assert gazebo.limits[-1].to_sec() == pytest.approx(7.1005)
    report(pace, "fast", 100.0)
    assert gazebo.limit == pytest.approx(held)


def test_drive_starts_when_all_participants_have_processed_last_sample(gazebo, pace):
    # The previous sample does not suffice.
    report(pace, "imu_error_model", 7.09)
    with pytest.raises(SimulatorError, match="waiting for imu_error_model to process"):
        begin(pace, "imu_error_model")
    gazebo.watch.now, gazebo.time = 100.0, 7.013
    report(pace, "imu_error_model", 7.1)
    assert begin(pace, "imu_error_model") == 7.1


def test_time_limit_is_two_periods_ahead_of_last_command(gazebo, pace):
    held = begin(pace)
    pace.release()
    assert gazebo.limit == pytest.approx(held + 2 * PERIOD)
    pace.on_command(held + PERIOD)
    assert gazebo.limit == pytest.approx(held + 3 * PERIOD)
    assert pace.answered_until == pytest.approx(held + PERIOD)
    # A late command does not move the limit back.
    pace.on_command(held + 3 * PERIOD)
    pace.on_command(held + PERIOD)
    assert gazebo.limit == pytest.approx(held + 5 * PERIOD)
    before = len(gazebo.limits)
    pace._republish_limit()
    assert len(gazebo.limits) == before + 1


@pytest.mark.parametrize("name", ["imu_error_model", "gnss_receiver", "imu_yaw_publisher"])
def test_slowest_participant_limits_simulated_time(gazebo, pace, name):
    held = begin(pace)
    pace.release()
    report(pace, "result_comparison", held + 100.0)
    report(pace, name, held)
    for period in range(1, 30):
        pace.on_command(held + period * PERIOD)
    assert gazebo.limit == pytest.approx(held + 10 * PERIOD)
    assert pace.slow_participants == [name]
    report(pace, name, held + PERIOD)
    assert gazebo.limit == pytest.approx(held + 11 * PERIOD)
    # The participant reports that it is idle.
    report(pace, name, 4e9)
    assert gazebo.limit == pytest.approx(held + 31 * PERIOD)
    assert pace.slow_participants == []


def test_simulated_time_is_not_limited_after_end_of_drive(gazebo, pace):
    begin(pace)
    pace.end()
    assert gazebo.limits[-1] == gazebo_pace.LATEST_TIME
    pace.on_command(8.0)
    pace._republish_limit()
    assert gazebo.limits[-1] == gazebo_pace.LATEST_TIME


def test_lost_command_delays_simulated_time_only_until_timeout(gazebo, pace):
    held = begin(pace)
    pace.release()
    gazebo.watch.now += 4.9
    pace._republish_limit()
    assert gazebo.limit == pytest.approx(held + 2 * PERIOD)
    gazebo.watch.now += 0.2
    pace._republish_limit()
    assert gazebo.limit == pytest.approx(held + 4 * PERIOD)
    # Simulated time may still be before the limit, which is not a reset of the simulation.
    assert pace.answered_until <= held
