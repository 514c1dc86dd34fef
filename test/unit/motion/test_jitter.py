"""The size of an error that nothing states, from positions alone."""

import numpy as np
import pytest

from imu_simulation_framework.motion.smoothing import SMALLEST_JITTER, jitter


def circle(times, radius=1.0):
    """Half a metre a second round a circle."""
    angle = 0.5 * times / radius
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("rate", [5.0, 100.0])
@pytest.mark.parametrize("error", [0.01, 0.5])
def test_white_errors_have_the_size_that_they_have(rate, error):
    found = []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        # Stamps that are not even.
        times = np.cumsum(generator.uniform(0.5, 1.5, 1000)) / rate
        noise = error * generator.standard_normal((1000, 2))
        found.append(jitter(times, circle(times) + noise))
    deviation = np.std(found, ddof=1)
    assert abs(np.mean(found) - error) < 3.0 * deviation / np.sqrt(20) + 0.01 * error
    assert deviation < 0.06 * error


def test_a_motion_without_errors_does_not_jitter():
    times = np.arange(200) / 20.0
    assert jitter(times, circle(times)) == SMALLEST_JITTER
    assert jitter(times[:3], circle(times[:3])) == SMALLEST_JITTER


def test_single_jumps_and_stretches_at_rest_do_not_count():
    generator = np.random.default_rng(3)
    times = np.arange(2000) / 20.0
    positions = circle(times) + 0.02 * generator.standard_normal((2000, 2))
    positions[::50] += 5.0
    assert jitter(times, positions) == pytest.approx(0.02, rel=0.2)


def test_errors_along_one_axis_and_positions_that_are_held_at_rest_do_not_hide_them():
    generator = np.random.default_rng(4)
    times = np.arange(2000) / 20.0
    along = np.column_stack([times + 0.1 * generator.standard_normal(2000), np.zeros(2000)])
    assert 0.04 < jitter(times, along) < 0.1
    held = circle(times) + 0.1 * generator.standard_normal((2000, 2))
    held[:1200] = held[1200]
    assert jitter(times, held) == pytest.approx(0.1, rel=0.2)
    assert jitter(times, np.zeros((2000, 2))) == SMALLEST_JITTER
