"""Gazebo's pace, with a plug-in that only remembers limits; the rostest has it beside a server."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import rospy
from std_msgs.msg import Header

from imu_simulation_framework.core.errors import SimulatorError

# Behind everything else: where Gazebo is installed, its own messages are taken.
sys.path.append(str(Path(__file__).resolve().parents[2] / "fake_gazebo"))
gazebo_pace = importlib.import_module("imu_simulation_framework.ros1.simulators.gazebo")
sys.path.pop()

PERIOD, SAMPLING = 0.05, 0.01


class Gazebo:
    """Its time, and the limits that it is told."""

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
        """The newest one [s], without what is added so that physics stops between two samples."""
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
    # What time alone decides is asked for below.
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


def test_a_plug_in_that_does_not_listen_is_said(gazebo):
    gazebo.connections = 0
    with pytest.raises(SimulatorError, match="does not listen on /simulation_limit: build"):
        gazebo_pace.GazeboPace(PERIOD)


def test_time_is_held_at_a_control_period_which_a_sample_belongs_to(gazebo, pace):
    held = begin(pace)
    assert held == 7.1
    # Half a step later, so that all plug-ins have taken the sample.
    assert gazebo.limits[-1].to_sec() == pytest.approx(7.1005)
    report(pace, "fast", 100.0)
    assert gazebo.limit == pytest.approx(held)


def test_a_drive_begins_with_the_last_sample_taken_in_by_all(gazebo, pace):
    # The sample before it is not enough.
    report(pace, "imu_error_model", 7.09)
    with pytest.raises(SimulatorError, match="waiting for imu_error_model to process"):
        begin(pace, "imu_error_model")
    gazebo.watch.now, gazebo.time = 100.0, 7.013
    report(pace, "imu_error_model", 7.1)
    assert begin(pace, "imu_error_model") == 7.1


def test_two_periods_are_driven_without_an_answer(gazebo, pace):
    held = begin(pace)
    pace.release()
    assert gazebo.limit == pytest.approx(held + 2 * PERIOD)
    pace.on_command(held + PERIOD)
    assert gazebo.limit == pytest.approx(held + 3 * PERIOD)
    assert pace.answered_until == pytest.approx(held + PERIOD)
    # One that comes late does not turn the limit back.
    pace.on_command(held + 3 * PERIOD)
    pace.on_command(held + PERIOD)
    assert gazebo.limit == pytest.approx(held + 5 * PERIOD)
    before = len(gazebo.limits)
    pace._republish_limit()
    assert len(gazebo.limits) == before + 1


@pytest.mark.parametrize("name", ["imu_error_model", "gnss_receiver", "imu_yaw_publisher"])
def test_the_slowest_participant_is_waited_for(gazebo, pace, name):
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
    # It has nothing to do any more.
    report(pace, name, 4e9)
    assert gazebo.limit == pytest.approx(held + 31 * PERIOD)
    assert pace.slow_participants == []


def test_the_end_of_the_drive_lets_time_run(gazebo, pace):
    begin(pace)
    pace.end()
    assert gazebo.limits[-1] == gazebo_pace.LATEST_TIME
    pace.on_command(8.0)
    pace._republish_limit()
    assert gazebo.limits[-1] == gazebo_pace.LATEST_TIME


def test_an_answer_that_was_lost_is_not_waited_for_without_end(gazebo, pace):
    held = begin(pace)
    pace.release()
    gazebo.watch.now += 4.9
    pace._republish_limit()
    assert gazebo.limit == pytest.approx(held + 2 * PERIOD)
    gazebo.watch.now += 0.2
    pace._republish_limit()
    assert gazebo.limit == pytest.approx(held + 4 * PERIOD)
    # Simulated time may not be there yet, which is no reset of the simulation.
    assert pace.answered_until <= held
