"""Gazebo's pace, with services that count their calls; the rostest has it beside a server."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import rospy
from rosgraph_msgs.msg import Clock

# Behind everything else: where Gazebo is installed, its own messages are taken.
sys.path.append(str(Path(__file__).resolve().parents[2] / "fake_gazebo"))
gazebo_pace = importlib.import_module("imu_simulation_framework.ros.simulators.gazebo_pace")
sys.path.pop()

PERIOD = 0.05


class Service:
    def __init__(self):
        self.calls = 0
        self.deaf = False

    def __call__(self):
        if self.deaf:
            raise rospy.ServiceException("gone")
        self.calls += 1


class Gazebo:
    """Its two services and its clock, as a pace sees them."""

    def __init__(self):
        self.services = {}
        self.watch = SimpleNamespace(now=100.0)

    def proxy(self, name, kind, persistent):
        return self.services.setdefault(name.rsplit("/", 1)[-1], Service())

    @property
    def pauses(self):
        return self.services["pause_physics"].calls

    @property
    def resumed(self):
        return self.services["unpause_physics"].calls


@pytest.fixture
def gazebo(monkeypatch):
    gazebo = Gazebo()
    subscriber = SimpleNamespace(unregister=lambda: None)
    monkeypatch.setattr(
        gazebo_pace,
        "rospy",
        SimpleNamespace(
            ServiceProxy=gazebo.proxy,
            Subscriber=lambda *_, **__: subscriber,
            ServiceException=rospy.ServiceException,
            ROSException=rospy.ROSException,
        ),
    )
    monkeypatch.setattr(gazebo_pace.time, "monotonic", lambda: gazebo.watch.now)
    return gazebo


@pytest.fixture
def pace(gazebo, monkeypatch):
    # Pauses that are too long are ended by a thread, which here has no say.
    monkeypatch.setattr(gazebo_pace.GazeboPace, "_end_long_pauses", lambda self: None)
    pace = gazebo_pace.GazeboPace(PERIOD)
    tick(pace, 0.0)
    pace.begin()
    yield pace
    pace.end()


def tick(pace, seconds):
    pace._on_clock(Clock(clock=rospy.Time.from_sec(seconds)))


def test_a_drive_that_begins_before_the_first_clock_waits_for_nobody_yet(gazebo):
    pace = gazebo_pace.GazeboPace(PERIOD)
    pace.begin()
    tick(pace, 17.0)
    assert (gazebo.pauses, pace.now) == (0, 17.0)
    pace.end()


def test_two_periods_without_an_answer_are_no_reason_to_pause(gazebo, pace):
    tick(pace, 2.0 * PERIOD)
    assert gazebo.pauses == 0


def test_a_pause_lasts_until_the_answer_and_is_counted_once(gazebo, pace):
    for seconds in (0.11, 0.12, 0.13):
        tick(pace, seconds)
    assert (gazebo.pauses, pace.pauses) == (1, 1)
    gazebo.watch.now += 0.25
    # Of an earlier period: it is still overdue.
    pace.answered(0.05)
    assert gazebo.resumed == 0
    pace.answered(0.10)
    assert gazebo.resumed == 1
    assert pace.paused_for == pytest.approx(0.25)


def test_an_answer_that_comes_late_does_not_turn_time_back(gazebo, pace):
    pace.answered(0.2)
    pace.answered(0.1)
    tick(pace, 0.2 + 1.9 * PERIOD)
    assert gazebo.pauses == 0


def test_a_pause_that_gazebo_does_not_hear_is_none(gazebo, pace):
    gazebo.services["pause_physics"].deaf = True
    tick(pace, 1.0)
    assert pace.pauses == 0
    pace.answered(1.0)
    assert gazebo.resumed == 0


def test_an_end_of_the_pause_that_is_not_heard_is_tried_again(gazebo, pace):
    tick(pace, 1.0)
    gazebo.services["unpause_physics"].deaf = True
    pace.answered(1.0)
    gazebo.services["unpause_physics"].deaf = False
    gazebo.watch.now += 1.0
    pace.answered(1.0)
    assert (pace.pauses, gazebo.resumed) == (1, 1)
    assert pace.paused_for == pytest.approx(1.0)


def test_the_end_of_the_drive_ends_a_pause_and_begins_no_other(gazebo, pace):
    tick(pace, 1.0)
    pace.end()
    tick(pace, 2.0)
    assert (gazebo.pauses, gazebo.resumed) == (1, 1)


def test_before_the_drive_nobody_is_waited_for(gazebo):
    tick(gazebo_pace.GazeboPace(PERIOD), 5.0)
    assert gazebo.pauses == 0


def test_a_pause_that_lasts_too_long_ends_by_itself(gazebo, monkeypatch):
    monkeypatch.setattr(gazebo_pace, "WATCH_PERIOD", 0.001)
    pace = gazebo_pace.GazeboPace(PERIOD)
    # In this thread, at the second look: by then the pause is too long.
    looks = iter((False, False, True))

    def look(_):
        gazebo.watch.now += 0.3
        return next(looks)

    tick(pace, 0.0)
    pace._begun = True
    tick(pace, 1.0)
    monkeypatch.setattr(pace._ended, "wait", look)
    pace._end_long_pauses()
    assert (gazebo.pauses, gazebo.resumed) == (1, 1)
    tick(pace, 1.0 + PERIOD)
    assert gazebo.pauses == 1
