"""Recording of a drive without ROS: messages in the bag, and completeness."""

import numpy as np
import pytest

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.drive.session.recording import (
    MessageSession,
    RecordingSession,
    ticks_between_wheels,
)
from imu_simulation_framework.drive.tracking.controllers import TrackingError

ZERO = 100 * NANOSECONDS
PERIOD = 0.05
DURATION = 8.1


def at(time):
    return ZERO + round(time * NANOSECONDS)


@pytest.fixture
def begun():
    session = MessageSession(PERIOD)
    session.ends_after(DURATION)
    return session


@pytest.fixture
def session(begun):
    begun.take_error(at(PERIOD), PERIOD)
    return begun


def contents(messages):
    return [message.content for message in messages]


def test_message_is_recorded_when_next_stamp_arrives(begun):
    assert begun.take(topics.IMU, at(0.0), "first") == []
    # A waiting simulator repeats its messages.
    assert begun.take(topics.IMU, at(0.0), "again") == []
    assert contents(begun.take(topics.IMU, at(0.01), "next")) == ["again"]
    assert contents(begun.remaining()) == ["next"]


def test_message_without_stamp_gets_clock_time_once_session_has_begun(session):
    session.take(topics.CLOCK, at(1.0), "clock")
    (message,) = session.take(topics.WHEEL_COMMAND, None, "command")
    assert (message.stamp, message.content) == (at(1.0), "command")
    session = MessageSession(PERIOD)
    session.take(topics.CLOCK, at(1.0), "clock")
    assert session.take(topics.WHEEL_COMMAND, None, "command") == []
    assert session.remaining() == []


def test_message_after_drive_is_ignored(session):
    session.take(topics.IMU, at(DURATION), "last")
    # The simulator outputs one more control period of samples after the last command.
    assert contents(session.take(topics.IMU, at(DURATION + 0.04), "answer")) == ["last"]
    assert contents(session.take(topics.IMU, at(DURATION + 0.1), "late")) == ["answer"]
    assert session.take(topics.IMU, at(DURATION + 0.2), "later") == []
    assert session.remaining() == []


def test_drive_is_over_after_last_tracking_error_and_complete_after_last_command(session):
    for number in range(1, round(DURATION / PERIOD) + 1):
        assert not session.over
        session.take(topics.WHEEL_COMMAND, None, "command")
        session.take(topics.TRAJECTORY_ERROR, at(number * PERIOD), "error")
    assert session.over
    assert not session.complete
    session.take(topics.WHEEL_COMMAND, None, "the answer to the last one")
    assert session.complete
    session.take(topics.TRAJECTORY_ERROR, at(DURATION + PERIOD), "after that one's step")
    assert session.complete


@pytest.mark.parametrize(
    ("messages", "last"),
    [
        ([(topics.GROUND_TRUTH, DURATION - 0.01)], (topics.GROUND_TRUTH, DURATION)),
        # Joint states are published at a low rate, so the last one of the drive suffices.
        ([(topics.JOINT_STATES, 7.8)], (topics.JOINT_STATES, 8.0)),
        # The recorded IMU may have ended earlier.
        ([(topics.YAW_REAL, 3.0), (topics.YAW_ERROR_REAL, 3.0)], None),
    ],
)
def test_session_is_complete_when_every_topic_reaches_end_of_drive(session, messages, last):
    for topic, time in [(topics.IMU, DURATION), *messages]:
        session.take(topic, at(time), "message")
    if last is not None:
        assert not session.complete
        session.take(last[0], at(last[1]), "last")
    assert session.complete


def test_static_transforms_have_stamp_of_first_message():
    session = MessageSession(PERIOD)
    for robot in ("robot", "antenna"):
        assert session.take(topics.STATIC_TRANSFORMS, None, robot) == []
    session.ends_after(DURATION)
    session.take(topics.CLOCK, at(0.0), "clock")
    assert session.take(topics.IMU, at(0.0), "first") == []
    messages = session.take(topics.IMU, at(0.01), "second")
    assert contents(messages) == ["robot", "antenna", "first"]
    assert {message.stamp for message in messages} == {at(0.0)}
    session.take(topics.CLOCK, at(1.0), "clock")
    (message,) = session.take(topics.STATIC_TRANSFORMS, None, "late")
    assert (message.stamp, message.content) == (at(0.0), "late")
    assert contents(session.remaining()) == ["clock", "second"]
    # A session without a drive records no messages.
    nothing = MessageSession(PERIOD)
    nothing.take(topics.STATIC_TRANSFORMS, None, "robot")
    nothing.ends_after(DURATION)
    assert nothing.remaining() == []


def test_latched_calibration_status_has_stamp_of_first_message():
    session = MessageSession(PERIOD)
    session.take(topics.STATIC_TRANSFORMS, None, "robot")
    for status in ("off", "on"):
        assert session.take(topics.IMU_CALIBRATION, None, status) == []
    session.ends_after(DURATION)
    session.take(topics.IMU, at(0.0), "first")
    assert contents(session.take(topics.IMU, at(0.01), "second")) == ["robot", "on", "first"]
    session.take(topics.CLOCK, at(1.0), "clock")
    (message,) = session.take(topics.IMU_CALIBRATION, None, "calibrated")
    assert (message.stamp, message.content) == (at(1.0), "calibrated")


@pytest.mark.parametrize("errors_first", [True, False])
def test_command_received_before_errors_or_after_clock_is_recorded(session, errors_first):
    last = round(DURATION / PERIOD)
    if errors_first:
        for number in range(1, last + 1):
            session.take(topics.TRAJECTORY_ERROR, at(number * PERIOD), "error")
        # After the drive, zero commands keep the simulator and its clock running.
        session.take(topics.CLOCK, at(DURATION + 3 * PERIOD), "clock")
    count = last + 1 + 2 * errors_first
    received = [session.take(topics.WHEEL_COMMAND, None, number) for number in range(count)]
    assert [content for some in received for content in contents(some)] == list(range(last + 1))
    if errors_first:
        assert received[0][0].stamp <= at(DURATION + PERIOD)
        assert session.complete


def test_lock_step_command_stamp_is_computed_from_command_number():
    session = MessageSession(PERIOD, lock_step=True)
    session.ends_after(DURATION)
    # The first command precedes the first error, and the clock precedes the second command.
    assert session.take(topics.WHEEL_COMMAND, None, "first") == []
    session.take(topics.CLOCK, at(PERIOD), "clock")
    assert session.take(topics.WHEEL_COMMAND, None, "second") == []
    session.take_error(at(PERIOD), PERIOD)
    session.take(topics.TRAJECTORY_ERROR, at(PERIOD), "error")
    session.take(topics.TRAJECTORY_ERROR, at(2 * PERIOD), "error")
    messages = session.take(topics.WHEEL_COMMAND, None, "third")
    assert [(message.content, message.stamp) for message in messages] == [
        *(("first", at(0.0)), ("second", at(PERIOD)), ("third", at(2 * PERIOD)))
    ]


def test_topics_without_final_message_are_reported(session):
    for topic in (topics.IMU, topics.YAW_SIMULATED, topics.GNSS_FIX, topics.ODOMETER):
        session.take(topic, at(3.0), "early")
    session.take(topics.IMU, at(DURATION), "last")
    assert session.incomplete == [topics.YAW_SIMULATED]
    session.take(topics.YAW_SIMULATED, at(DURATION), "last")
    assert session.incomplete == []


TICKS = 18  # 0.9 s, because the last sample of the wheels is at 0.8 s


def stamps_of(times):
    return np.rint(NANOSECONDS * np.atleast_1d(times)).astype(np.int64)


@pytest.fixture
def recording():
    """Return a session with all samples of a drive except wheel velocities."""
    recording = RecordingSession(PERIOD)
    recording.ends_after(TICKS * PERIOD)
    stamps = stamps_of(PERIOD * np.arange(TICKS + 1))
    recording.add_imu(stamps, np.zeros((len(stamps), 10)))
    recording.add_ground_truth(stamps, np.zeros((len(stamps), 13)))
    recording.add_command(0.0, 0.0)
    for stamp in stamps[1:].tolist():
        error = TrackingError(0.0, 0.0, 0.0, 0.0)
        recording.add_error(stamp, stamp / NANOSECONDS, error)
        recording.add_command(0.0, 0.0)
    return recording


@pytest.mark.parametrize("end", [0.8, TICKS * PERIOD])
def test_recording_with_wheel_velocities_is_complete_after_their_last_sample(recording, end):
    recording.ends_after(end)
    assert recording.complete
    recording.add_wheels(stamps_of([0.0, 0.2, 0.4, 0.6]), np.zeros((4, 2)))
    assert not recording.complete
    recording.add_wheels(stamps_of(0.8), np.zeros((1, 2)))
    assert recording.complete


def test_recording_with_magnetometer_is_complete_after_its_last_reading(recording):
    recording.add_magnetic_field(stamps_of([0.0, 0.1, 0.2]), np.zeros((3, 3)))
    assert not recording.complete
    recording.add_magnetic_field(
        stamps_of(PERIOD * np.arange(5, TICKS + 1)), np.zeros((TICKS - 4, 3))
    )
    assert recording.complete


def test_wheel_velocity_of_side_is_mean_of_its_wheels(recording):
    stamps = stamps_of([0.0, 0.2])
    recording.add_wheels(stamps, np.array([[1.0, 3.0, 5.0, 9.0], [0.1, 0.1, 0.3, 0.3]]))
    table = recording.record.tables(0, int(stamps[-1]))["wheel_velocities_actual"].whole()
    np.testing.assert_array_equal(table[["left", "right"]], [[2.0, 7.0], [0.1, 0.3]])


@pytest.mark.parametrize(("rate", "ticks"), [(20.0, 4), (5.0, 1), (2.0, 1), (8.0, 2), (100.0, 20)])
def test_wheel_velocities_are_sampled_about_five_times_per_second(rate, ticks):
    assert ticks_between_wheels(1.0 / rate) == ticks


def test_session_reports_end_of_drive_before_last_imu_message_is_received():
    recording = RecordingSession(PERIOD)
    recording.ends_after(TICKS * PERIOD)
    recording.add_imu(stamps_of([0.0, 0.3]), np.zeros((2, 10)))
    stamps = stamps_of(PERIOD * np.arange(TICKS + 3))
    recording.add_ground_truth(stamps, np.zeros((len(stamps), 13)))
    for stamp in stamps[1 : TICKS + 1].tolist():
        assert not recording.arrived
        recording.add_error(stamp, stamp / NANOSECONDS, TrackingError(0.0, 0.0, 0.0, 0.0))
    assert recording.arrived
    # Only messages of the drive, not later ones, extend the recorded interval.
    before = recording.recorded_until
    recording.add_ground_truth(stamps_of(2.0), np.zeros((1, 13)))
    assert recording.recorded_until == before
    recording.add_imu(stamps_of(0.5), np.zeros((1, 10)))
    assert recording.recorded_until > before
