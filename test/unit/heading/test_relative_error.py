"""Relative yaw errors over sections of a drive, and gaps in a series."""

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.stamps import find_gap_ends, interpolate_outside_gaps
from imu_simulation_framework.heading.relative_error import (
    accumulated_turn,
    distance_lengths,
    relative_errors,
    travelled_distance,
    turn_lengths,
)


def series(values, time):
    return pd.Series(values, index=pd.Index(time, name="time"))


def path(time, speed=1.0, yaw_rate=0.0):
    yaw = yaw_rate * time
    return pd.DataFrame({"x": speed * time, "y": 0.0 * time, "yaw": yaw}, index=time)


def test_relative_error_of_drift_per_metre_is_proportional_to_length():
    time = np.arange(0.0, 100.01, 0.1)
    progress = travelled_distance(path(time, speed=2.0))
    assert progress.end == pytest.approx(200.0)
    entries = relative_errors(series(0.01 * 2.0 * time, time), progress, [10.0, 100.0])
    for entry, stretches in zip(entries, (1901, 101)):
        assert entry.stretches == stretches
        assert entry.independent == pytest.approx(1.0 + (stretches - 1) / 100.0)
        for value in (entry.mean, entry.rms, entry.maximum_absolute):
            assert value == pytest.approx(0.01 * entry.length)


def test_relative_error_over_turn_accumulates_left_and_right_turns():
    time = np.arange(0.0, 40.01, 0.1)
    there_and_back = path(time)
    there_and_back["yaw"] = 0.5 * np.minimum(time, 40.0 - time)
    progress = accumulated_turn(there_and_back)
    assert progress.end == pytest.approx(20.0)
    (entry,) = relative_errors(series(-0.02 * time, time), progress, [5.0])
    assert entry.mean == pytest.approx(-0.02 * 10.0)


def test_relative_error_of_random_walk_grows_with_root_of_distance():
    time = np.arange(0.0, 20000.0, 1.0)
    steps = np.random.default_rng(5).normal(size=len(time)) * 1e-3
    progress = travelled_distance(path(time))
    entries = relative_errors(series(np.cumsum(steps), time), progress, [10.0, 100.0])
    for entry in entries:
        # Sections overlap, so the tolerance is four standard errors of independent sections.
        expected = 1e-3 * np.sqrt(entry.length)
        assert entry.rms == pytest.approx(expected, rel=4.0 / np.sqrt(2.0 * entry.independent))


def test_relative_error_excludes_sections_that_end_in_gap():
    time = np.arange(0.0, 100.01, 0.1)
    known = (time < 40.0) | (time > 60.0)
    # Linear interpolation across the gap would yield 0.5 at 50 s.
    error = series(np.where(time > 50.0, 1.0, 0.0), time)[known]
    (entry,) = relative_errors(error, travelled_distance(path(time)), [5.0])
    assert entry.maximum_absolute == 0.0
    # Sections that begin or end between 40 and 60 s are missing.
    assert entry.stretches == pytest.approx(1901 - 500, abs=8)


def test_relative_error_of_every_section_across_stop_includes_jump():
    time = np.arange(0.0, 300.01, 0.1)
    stopping = path(time)
    stopping["x"] = np.where(time < 100.0, time, np.maximum(100.0, time - 100.0))
    progress = travelled_distance(stopping)
    assert progress.end == pytest.approx(200.0)
    # The error jumps during a stop: each section across the stop includes the complete jump.
    error = series(np.where(time < 150.0, 0.0, 0.3), time)
    (entry,) = relative_errors(error, progress, [10.0])
    assert entry.maximum_absolute == pytest.approx(0.3)
    assert entry.mean == pytest.approx(0.3 * 10.0 / 190.0, rel=0.02)


def test_section_lengths_are_round_and_fit_twice_into_drive():
    assert distance_lengths(41.0)[-1] == 20.0
    assert distance_lengths(40.0)[-1] == 20.0
    assert distance_lengths(39.9)[-1] == 10.0
    assert distance_lengths(0.0) == []
    np.testing.assert_allclose(np.degrees(turn_lengths(np.radians(400.0))), [45.0, 90.0, 180.0])


def test_gaps_exceed_half_a_second_and_five_sampling_periods():
    time = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(3.0, 4.0, 0.01)])
    assert find_gap_ends(time).tolist() == [100]
    assert find_gap_ends(np.arange(0.0, 10.0, 1.0)).tolist() == []
    assert find_gap_ends([]).tolist() == find_gap_ends([1.0]).tolist() == []
    for period, longest in ((0.01, 0.5), (0.05, 0.5), (0.2, 1.0), (1.0, 5.0)):
        # Steps of up to half a second or of five sampling periods are bridged at any rate.
        for step, gaps in ((0.98 * longest, []), (1.02 * longest, [50])):
            steps = np.full(100, period)
            steps[49] = step
            assert find_gap_ends(np.append(0.0, np.cumsum(steps))).tolist() == gaps
    values = interpolate_outside_gaps(time, time, [-1.0, 0.0, 0.505, 0.99, 2.0, 3.0, 3.985, 5.0])
    expected = [np.nan, 0.0, 0.505, 0.99, np.nan, 3.0, 3.985, np.nan]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert np.isnan(interpolate_outside_gaps([], [], [1.0])).all()
