"""Live yaw angles and yaw errors without ROS, unwrapped and on a common clock."""

import numpy as np
import pytest

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.drive.session.yaws import YawSession

ZERO = 1000 * NANOSECONDS
REFERENCE = (np.array([0.0, 6.0]), np.array([0.0, 0.6]))
RECORDED = (np.array([1.0, 5.0]), np.array([0.5, 8.5]))
"""Times [s] and yaw angles [rad] of the recorded IMU, which turns at 2 rad/s from 1 s to 5 s."""


def at(time):
    return ZERO + round(time * NANOSECONDS)


def select_topic(samples, topic):
    return [sample for sample in samples if sample.topic == topic]


def errors_of(samples):
    """Return the unwrapped errors of the simulated IMU."""
    return [sample.unwrapped for sample in select_topic(samples, topics.YAW_ERROR_SIMULATED)]


@pytest.fixture
def session():
    session = YawSession()
    session.compare_with(REFERENCE, RECORDED)
    session.begin(ZERO)
    return session


def test_wrapped_yaw_messages_are_unwrapped():
    session = YawSession()
    yaws = 0.1 * np.arange(100)
    wrapped = np.angle(np.exp(1j * yaws))
    samples = [session.add_ground_truth(at(k), yaw)[0] for k, yaw in enumerate(wrapped.tolist())]
    assert {sample.topic for sample in samples} == {topics.YAW_GROUND_TRUTH}
    np.testing.assert_allclose([sample.unwrapped for sample in samples], yaws, atol=1e-12)
    np.testing.assert_allclose([sample.yaw for sample in samples], wrapped, atol=1e-12)
    assert [sample.stamp for sample in samples] == [at(k) for k in range(100)]


def test_simulated_yaw_error_is_ground_truth_minus_imu_starting_at_zero(session):
    found = []
    for k in range(50):
        found += session.add_ground_truth(at(0.01 * k), 0.3 * k)
        found += session.add_imu(at(0.01 * k), 0.2 * k - 0.7)
    np.testing.assert_allclose(errors_of(found), 0.1 * np.arange(50), atol=1e-9)
    assert session.begun


def test_yaw_error_waits_for_next_ground_truth_and_ignores_previous_session(session):
    session.add_ground_truth(at(0.0), 0.0)
    assert not errors_of(session.add_imu(at(0.005), 0.0))
    (error,) = select_topic(session.add_ground_truth(at(0.01), 0.2), topics.YAW_ERROR_SIMULATED)
    assert error.stamp == at(0.005)
    session.restart()
    assert not errors_of(session.add_imu(at(5.0), 0.0))
    assert not errors_of(session.add_ground_truth(at(5.01), 1.0))


def test_recorded_yaw_is_aligned_at_drive_start(session):
    session.begin(ZERO + 2 * NANOSECONDS)
    for time, expected in ((1.0, 0.5), (3.5, 5.5)):
        (yaw,) = select_topic(session.add_imu(at(time), 0.0), topics.YAW_REAL)
        assert yaw.stamp == at(time)
        assert np.exp(1j * yaw.yaw) == pytest.approx(np.exp(1j * expected))


def test_recorded_yaw_error_starts_at_zero_at_recording_start(session):
    # The error is defined as zero at 1 s, although there is no sample.
    (error,) = select_topic(session.add_imu(at(2.0), 0.0), topics.YAW_ERROR_REAL)
    assert error.unwrapped == pytest.approx(0.1 - 2.0)


def test_recorded_yaw_is_published_only_within_recording_and_drive(session):
    for time in (0.5, 5.5):
        assert not select_topic(session.add_imu(at(time), 0.0), topics.YAW_REAL)
    session = YawSession()
    session.compare_with(REFERENCE, RECORDED)
    assert not select_topic(session.add_imu(at(3.0), 0.0), topics.YAW_REAL)
    session = YawSession()
    session.compare_with(REFERENCE)
    session.begin(ZERO)
    assert [sample.topic for sample in session.add_imu(at(3.0), 0.0)] == [topics.YAW_SIMULATED]


def test_recorded_yaw_of_earlier_stamps_is_published_once_drive_start_is_known():
    session = YawSession()
    session.compare_with(REFERENCE, (np.array([0.0, 5.0]), np.array([0.5, 8.5])))
    for k in (-1, 0, 0, 1):
        assert not select_topic(session.add_imu(at(0.01 * k), 0.0), topics.YAW_REAL)
    session.begin(ZERO)
    played = select_topic(session.add_imu(at(0.02), 0.0), topics.YAW_REAL)
    assert [yaw.stamp for yaw in played] == [at(0.0), at(0.01), at(0.02)]
    np.testing.assert_allclose([yaw.unwrapped for yaw in played], [0.5, 0.516, 0.532])


def test_simulated_yaw_error_is_zero_at_drive_start():
    # Before the drive, the robot is moved to its start pose and the IMU's errors are set.
    session = YawSession()
    found = []
    for k in range(-20, 5):
        off = 0.5 if k < 0 else 0.1 * k + 0.3
        found += session.add_ground_truth(at(0.01 * k), 0.0)
        found += session.add_imu(at(0.01 * k), -off)
    assert not errors_of(found) and not session.begun
    # The first samples after the start of the session release the errors of the drive so far.
    session.begin(ZERO)
    found = session.add_ground_truth(at(0.05), 0.0) + session.add_imu(at(0.05), -0.8)
    stamps = [error.stamp for error in select_topic(found, topics.YAW_ERROR_SIMULATED)]
    assert stamps == [at(0.01 * k) for k in range(6)]
    np.testing.assert_allclose(errors_of(found), 0.1 * np.arange(6), atol=1e-9)


def test_last_repeated_sample_before_drive_defines_zero_yaw_error():
    session = YawSession()
    for off in (0.9, 0.7):
        session.add_ground_truth(at(0.0), 0.0)
        session.add_imu(at(0.0), -off)
    session.begin(ZERO)
    found = session.add_ground_truth(at(0.01), 0.0) + session.add_imu(at(0.01), -1.0)
    np.testing.assert_allclose(errors_of(found), [0.0, 0.3], atol=1e-9)
