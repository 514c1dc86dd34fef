import numpy as np
import pytest

from imu_simulation_framework.characterisation.samples_at_rest import check_at_rest
from imu_simulation_framework.core.errors import RecordingError

RATE = 100.0
NAMES = ("gyro_x", "gyro_z", "accel_x", "accel_z")


def at_rest(seconds=600.0, seed=1):
    """White noise of a poor sensor, shape (axes, n)."""
    generator = np.random.default_rng(seed)
    times = np.arange(round(seconds * RATE)) / RATE
    sigmas = np.array([0.02, 0.02, 0.1, 0.1])[:, None]
    values = sigmas * generator.standard_normal((len(NAMES), len(times)))
    values[3] += 9.81
    return times, values


def check(times, values):
    return check_at_rest(times, values, NAMES, RATE, "file.bag")


@pytest.mark.parametrize(
    "change",
    [
        # It lies still, warms up, reads coarsely with single spikes, or is in degrees.
        lambda times, values: values,
        lambda times, values: values + np.outer([1, 1, -10, -10], 0.05 * np.exp(-times / 60.0)),
        lambda times, values: np.round(values / 0.05) * 0.05 + 100.0 * (times % 50.0 == 0.0),
        lambda times, values: values * np.degrees([[1.0], [1.0], [np.pi / 180], [np.pi / 180]]),
    ],
)
def test_a_sensor_that_lies_still_is_at_rest(change):
    times, values = at_rest()
    assert check(times, change(times, values)) == []


@pytest.mark.parametrize(
    "axis, amplitude, period",
    # A robot that turns to and fro, and one that pitches.
    [(1, 0.3, 15.0), (2, 1.5, 10.0)],
)
def test_a_moving_sensor_is_refused(axis, amplitude, period):
    times, values = at_rest()
    swing = amplitude * np.sin(2.0 * np.pi * times / period)
    values[axis] += np.where(times > 300.0, swing, 0.0)
    with pytest.raises(RecordingError, match=rf"^file\.bag: .* first at 30.*{NAMES[axis]}"):
        check(times, values)


def test_two_seconds_are_enough_to_see_a_motion_and_one_is_not():
    times, values = (some[..., :200] for some in at_rest())
    values[1, 100:] += 0.5
    assert check(times[:199], values[:, :199]) == []
    with pytest.raises(RecordingError, match="in 1 of 1 seconds"):
        check(times, values)


def test_a_push_is_told():
    times, values = at_rest()
    values[1, (times > 100.0) & (times < 102.0)] += 0.5
    (remark,) = check(times, values)
    assert "2 of 599 seconds" in remark and "100 s" in remark
