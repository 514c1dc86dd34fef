"""When a recording is complete, and how often the wheels are asked how fast they turn."""

import numpy as np
import pytest

from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.drive.session.recording import RecordingSession, ticks_between_wheels
from imu_simulation_framework.drive.tracking.reference import TrackingError

PERIOD = 0.05
TICKS = 18
"""0.9 s: the last sample of the wheels is at 0.8 s."""


def stamps_of(times):
    return np.rint(NANOSECONDS * np.atleast_1d(times)).astype(np.int64)


@pytest.fixture
def session():
    """Everything of a drive but the wheels."""
    session = RecordingSession(PERIOD)
    session.ends_after(TICKS * PERIOD)
    stamps = stamps_of(PERIOD * np.arange(TICKS + 1))
    session.add_imu(stamps, np.zeros((len(stamps), 10)))
    session.add_ground_truth(stamps, np.zeros((len(stamps), 13)))
    session.add_command(0.0, 0.0)
    for stamp in stamps[1:].tolist():
        error = TrackingError(0.0, 0.0, 0.0, 0.0)
        session.add_error(stamp, stamp / NANOSECONDS, error)
        session.add_command(0.0, 0.0)
    return session


def add_wheels(session, *times):
    for time in times:
        session.add_wheels(stamps_of(time), np.zeros((1, 2)))


def test_it_is_complete_when_the_wheels_last_sample_of_the_drive_is_there(session):
    add_wheels(session, 0.0, 0.2, 0.4, 0.6)
    assert not session.complete
    add_wheels(session, 0.8)
    assert session.complete


def test_a_sample_of_the_wheels_at_the_very_end_is_waited_for(session):
    session.ends_after(0.8)
    add_wheels(session, 0.6)
    assert not session.complete
    add_wheels(session, 0.8)
    assert session.complete


def test_a_simulator_that_never_tells_of_the_wheels_is_not_waited_for(session):
    assert session.complete


def test_the_velocity_of_a_side_is_the_mean_of_its_wheels(session):
    stamps = stamps_of([0.0, 0.2])
    session.add_wheels(stamps, np.array([[1.0, 3.0, 5.0, 9.0], [0.1, 0.1, 0.3, 0.3]]))
    table = session.record.tables(0, int(stamps[-1]))["wheel_velocities_actual"].whole()
    np.testing.assert_array_equal(table[["left", "right"]], [[2.0, 7.0], [0.1, 0.3]])


@pytest.mark.parametrize(("rate", "ticks"), [(20.0, 4), (5.0, 1), (2.0, 1), (8.0, 2), (100.0, 20)])
def test_the_wheels_are_asked_five_times_a_second_at_whole_control_periods(rate, ticks):
    assert ticks_between_wheels(1.0 / rate) == ticks


def test_the_robot_has_arrived_though_messages_of_its_imu_are_missing():
    session = RecordingSession(PERIOD)
    session.ends_after(TICKS * PERIOD)
    session.add_imu(stamps_of([0.0, 0.3]), np.zeros((2, 10)))
    stamps = stamps_of(PERIOD * np.arange(TICKS + 3))
    session.add_ground_truth(stamps, np.zeros((len(stamps), 13)))
    for stamp in stamps[1 : TICKS + 1].tolist():
        assert not session.arrived
        session.add_error(stamp, stamp / NANOSECONDS, TrackingError(0.0, 0.0, 0.0, 0.0))
    assert session.arrived
    # It grows with messages of the drive, not with those that come later.
    before = session.recorded_until
    session.add_ground_truth(stamps_of(2.0), np.zeros((1, 13)))
    assert session.recorded_until == before
    session.add_imu(stamps_of(0.5), np.zeros((1, 10)))
    assert session.recorded_until > before
