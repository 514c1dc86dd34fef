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


def test_a_sensor_that_lies_still_is_at_rest():
    assert check(*at_rest()) == []


def test_a_sensor_that_warms_up_is_at_rest():
    times, values = at_rest()
    values[:2] += 0.05 * np.exp(-times / 60.0)
    values[2:] += 0.5 * (1.0 - np.exp(-times / 60.0))
    assert check(times, values) == []


def test_coarse_readings_and_single_spikes_are_no_motion():
    times, values = at_rest()
    values = np.round(values / 0.05) * 0.05
    values[:, ::5000] += 100.0
    assert check(times, values) == []


def test_readings_in_degrees_taken_for_radians_are_no_motion():
    times, values = at_rest()
    values[:2] *= np.degrees(1.0)
    assert check(times, values) == []


@pytest.mark.parametrize(
    "axis, change, word",
    [
        # A robot that turns to and fro, and one that pitches.
        (1, lambda t: 0.3 * np.sin(2.0 * np.pi * t / 15.0), "gyro_z"),
        (2, lambda t: 1.5 * np.sin(2.0 * np.pi * t / 10.0), "accel_x"),
    ],
)
def test_a_moving_sensor_is_refused(axis, change, word):
    times, values = at_rest()
    moving = times > 300.0
    values[axis, moving] += change(times[moving])
    with pytest.raises(RecordingError) as caught:
        check(times, values)
    sentence = str(caught.value)
    assert sentence.startswith("file.bag: the sensor moves, expected it at rest")
    assert word in sentence
    assert "the first at 30" in sentence


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
    assert "moved in 2 of 599 seconds, the first at 100 s" in remark
