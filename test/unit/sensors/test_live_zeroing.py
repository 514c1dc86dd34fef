"""Zeroing of a real gyroscope: removal of the bias that is estimated at standstill."""

import math

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.operation import LiveZeroing, Operation

RATE = 100.0
OFFSET = np.radians([1.5, -20.0, 0.4])
NOISE = 2e-3  # rad/s, standard deviation of a sample


def readings(turning, seed=1):
    """Simulate times, angular rates and specific forces at given turn rates about z [rad/s]."""
    random = np.random.default_rng(seed)
    rates = OFFSET + NOISE * random.standard_normal((len(turning), 3))
    rates[:, 2] += turning
    forces = [0.0, 0.0, 9.8] + 0.01 * random.standard_normal((len(turning), 3))
    return np.arange(len(turning)) / RATE, rates, forces


def zeroed(turning, **operation):
    live = LiveZeroing(Operation(**operation))
    return live, np.array([live.add(*sample) for sample in zip(*readings(turning))])


def test_mean_rate_at_standstill_is_subtracted():
    live, rates = zeroed(np.zeros(1500), standstill=10.0)
    _, raw, _ = readings(np.zeros(1500))
    np.testing.assert_array_equal(rates[:1000], raw[:1000])
    np.testing.assert_allclose(live.offset, np.mean(raw[:1001], axis=0), rtol=1e-12)
    assert np.max(np.abs(live.offset - OFFSET)) < 5.0 * NOISE / math.sqrt(1000)
    np.testing.assert_array_equal(rates[1000:], raw[1000:] - live.offset)
    assert live.sentences == [
        "zeroed at standstill: 1.5, -20, 0.394 deg/s are subtracted from x, y, z"
    ]


def test_standstill_too_short_for_gyroscope_zeroing_is_reported():
    live, _ = zeroed(np.zeros(900), standstill=10.0)
    assert "was not stationary for 10 s" in live.missing
    assert not zeroed(np.zeros(1500), standstill=10.0)[0].missing


def test_turn_during_standstill_is_reported_and_delays_gyroscope_zeroing():
    turning = np.concatenate([np.zeros(400), np.full(300, math.radians(30.0)), np.zeros(1800)])
    live, rates = zeroed(turning, standstill=10.0)
    # The sensor is stationary from 7 s on.
    np.testing.assert_allclose(live.offset, OFFSET, atol=6.0 * NOISE / math.sqrt(1000))
    first, *_, last = live.sentences
    assert "could be wrong by 30 deg/s, or 1.8e+03 deg of heading per minute; waiting" in first
    assert last.startswith("zeroed at standstill")
    assert np.max(np.abs(np.mean(rates[-500:], axis=0))) < 6.0 * NOISE / math.sqrt(500)


def test_detected_stop_updates_gyroscope_bias_estimate():
    random = np.random.default_rng(3)
    driving = math.radians(20.0) * np.sin(np.arange(600) / 30.0)
    turning = np.concatenate([np.zeros(1001), driving, np.zeros(500), driving])
    time, rates, forces = readings(turning)
    shaken = np.zeros(len(time), dtype=bool)
    shaken[1001:1601] = shaken[2101:] = True
    forces[shaken] += 0.5 * random.standard_normal((shaken.sum(), 3))
    rates[1001:, 2] += math.radians(0.2)
    live = LiveZeroing(Operation(standstill=10.0, stops="detected"))
    for sample in zip(time, rates, forces):
        live.add(*sample)
    assert live.offset[2] == pytest.approx(
        OFFSET[2] + math.radians(0.2), abs=5.0 * NOISE / math.sqrt(400)
    )


def test_live_gyroscope_zeroing_at_stops_known_from_wheels_is_rejected():
    with pytest.raises(ConfigurationError, match="stops is found"):
        LiveZeroing(Operation(stops="found"))


def test_nan_clock_jump_and_gap_do_not_corrupt_gyroscope_bias_estimate():
    live = LiveZeroing(Operation(standstill=2.0))
    time, rates, forces = readings(np.zeros(900))
    rates[50] = np.nan
    # After half a second, the clock jumps back, and one second later there is a gap of one second.
    time = np.concatenate([time[:50] + 100.0, time[50:150], time[150:] + 1.0])
    zeroed = [live.add(*sample) for sample in zip(time, rates, forces)]
    assert np.isnan(zeroed[50]).all() and np.isfinite(np.delete(zeroed, 50, axis=0)).all()
    # The bias estimate is the mean rate of the two seconds after the gap.
    np.testing.assert_allclose(live.offset, np.mean(rates[150:351], axis=0), rtol=1e-12)
    assert len(live.sentences) == 1 and live.sentences[0].startswith("zeroed at standstill")
