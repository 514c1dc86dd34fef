"""Errors over stretches of a drive, and as they come in, against those of whole tables."""

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.angles import unwrap, wrap
from imu_simulation_framework.core.stamps import find_gap_ends, interpolate_outside_gaps
from imu_simulation_framework.heading import statistics
from imu_simulation_framework.heading.comparison import ComparisonSettings, compare_yaw


def series(values, time):
    return pd.Series(values, index=pd.Index(time, name="time"))


def path(time, speed=1.0, yaw_rate=0.0):
    yaw = yaw_rate * time
    return pd.DataFrame({"x": speed * time, "y": 0.0 * time, "yaw": yaw}, index=time)


def test_what_grows_with_the_path_changes_equally_and_turns_count_to_either_side():
    time = np.arange(0.0, 100.01, 0.1)
    progress = statistics.travelled(path(time, speed=2.0))
    assert progress.end == pytest.approx(200.0)
    entries = statistics.relative_errors(series(0.01 * 2.0 * time, time), progress, [10.0, 100.0])
    for entry, stretches in zip(entries, (1901, 101)):
        assert entry.stretches == stretches
        assert entry.independent == pytest.approx(1.0 + (stretches - 1) / 100.0)
        for value in (entry.mean, entry.rms, entry.maximum_absolute):
            assert value == pytest.approx(0.01 * entry.length)
    time = np.arange(0.0, 40.01, 0.1)
    there_and_back = path(time)
    there_and_back["yaw"] = 0.5 * np.minimum(time, 40.0 - time)
    progress = statistics.turned(there_and_back)
    assert progress.end == pytest.approx(20.0)
    (entry,) = statistics.relative_errors(series(-0.02 * time, time), progress, [5.0])
    assert entry.mean == pytest.approx(-0.02 * 10.0)


def test_a_random_walk_grows_with_the_root_of_the_distance():
    time = np.arange(0.0, 20000.0, 1.0)
    steps = np.random.default_rng(5).normal(size=len(time)) * 1e-3
    progress = statistics.travelled(path(time))
    entries = statistics.relative_errors(series(np.cumsum(steps), time), progress, [10.0, 100.0])
    for entry in entries:
        # Changes over overlapping stretches: four standard errors of the independent ones.
        expected = 1e-3 * np.sqrt(entry.length)
        assert entry.rms == pytest.approx(expected, rel=4.0 / np.sqrt(2.0 * entry.independent))


def test_stretches_that_end_in_a_gap_are_left_out_and_a_stop_counts_once():
    time = np.arange(0.0, 100.01, 0.1)
    known = (time < 40.0) | (time > 60.0)
    # Between its ends a line across the gap would say 0.5 at 50 s.
    error = series(np.where(time > 50.0, 1.0, 0.0), time)[known]
    (entry,) = statistics.relative_errors(error, statistics.travelled(path(time)), [5.0])
    assert entry.maximum_absolute == 0.0
    # Those that begin or end between 40 and 60 s.
    assert entry.stretches == pytest.approx(1901 - 500, abs=8)
    time = np.arange(0.0, 300.01, 0.1)
    stopping = path(time)
    stopping["x"] = np.where(time < 100.0, time, np.maximum(100.0, time - 100.0))
    progress = statistics.travelled(stopping)
    assert progress.end == pytest.approx(200.0)
    # The error jumps while the robot stands: every stretch across the stop has all of it.
    error = series(np.where(time < 150.0, 0.0, 0.3), time)
    (entry,) = statistics.relative_errors(error, progress, [10.0])
    assert entry.maximum_absolute == pytest.approx(0.3)
    assert entry.mean == pytest.approx(0.3 * 10.0 / 190.0, rel=0.02)


def test_lengths_are_round_and_fit_twice_and_gaps_are_long_steps():
    assert statistics.distances(41.0)[-1] == 20.0
    assert statistics.distances(40.0)[-1] == 20.0
    assert statistics.distances(39.9)[-1] == 10.0
    assert statistics.distances(0.0) == []
    np.testing.assert_allclose(np.degrees(statistics.turns(np.radians(400.0))), [45.0, 90.0, 180.0])
    time = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(3.0, 4.0, 0.01)])
    assert find_gap_ends(time).tolist() == [100]
    assert find_gap_ends(np.arange(0.0, 10.0, 1.0)).tolist() == []
    assert find_gap_ends([]).tolist() == find_gap_ends([1.0]).tolist() == []
    for period, longest in ((0.01, 0.5), (0.05, 0.5), (0.2, 1.0), (1.0, 5.0)):
        # Half a second is bridged whatever the rate, and five usual steps.
        for step, gaps in ((0.98 * longest, []), (1.02 * longest, [50])):
            steps = np.full(100, period)
            steps[49] = step
            assert find_gap_ends(np.append(0.0, np.cumsum(steps))).tolist() == gaps
    values = interpolate_outside_gaps(time, time, [-1.0, 0.0, 0.505, 0.99, 2.0, 3.0, 3.985, 5.0])
    expected = [np.nan, 0.0, 0.505, 0.99, np.nan, 3.0, 3.985, np.nan]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert np.isnan(interpolate_outside_gaps([], [], [1.0])).all()


PERIOD = 10_000_000


def turning(stamps):
    """Yaw of a robot that turns several times round, and back [rad]."""
    return 7.0 * np.sin(0.4 * np.asarray(stamps) * 1e-9)


def streams(phase, count=2000):
    """Stamps and wrapped yaws of the truth and of an IMU that drifts."""
    truth = PERIOD * np.arange(count)
    imu = truth + phase
    drifted = wrap(turning(imu) - 0.3 - 0.02 * imu * 1e-9)
    return list(zip(truth, wrap(turning(truth)))), list(zip(imu, drifted))


@pytest.mark.parametrize("phase", [0, 1, 4_000_000, 9_999_999])
@pytest.mark.parametrize("lag", [0, 1, 300])
def test_errors_are_those_of_the_comparison_of_whole_tables(phase, lag):
    truth, imu = streams(phase)
    pairs = statistics.StreamedYawError()
    known = []
    # One of the streams is behind by so many samples.
    for k in range(len(truth) + lag):
        if k < len(truth):
            known += pairs.add_imu(*imu[k])
        if k >= lag:
            known += pairs.add_truth(*truth[k - lag])
    stamps, errors = zip(*known)
    whole = compare_yaw(
        *(
            pd.Series([yaw for _, yaw in samples], [stamp * 1e-9 for stamp, _ in samples])
            for samples in (imu, truth)
        ),
        ComparisonSettings(),
    )
    np.testing.assert_allclose(np.array(stamps) * 1e-9, whole.error.index, atol=1e-9)
    # The last sample lies after the last truth, unless their stamps are the same.
    assert len(errors) == len(imu) - (phase > 0)
    errors = unwrap(errors)
    np.testing.assert_allclose(errors - errors[0], whole.error - whole.error.iloc[0], atol=1e-9)


def test_what_waits_is_bounded_and_an_imu_before_the_first_truth_has_no_error(monkeypatch):
    pairs = statistics.StreamedYawError()
    pairs.add_imu(5, 0.0)
    assert pairs.add_truth(10, 1.0) == []
    assert pairs.add_imu(10, 0.25) == [(10, 0.75)]
    monkeypatch.setattr(statistics, "WAITING", 5)
    pairs = statistics.StreamedYawError()
    for k in range(100):
        assert pairs.add_imu(k, 0.0) == []
    assert pairs.add_truth(0, 1.0) == []
    assert pairs.add_truth(200, 1.0) == [(k, 1.0) for k in range(95, 100)]


def test_a_clock_that_is_set_back_begins_anew_and_a_repeated_stamp_counts_with_its_last_value():
    pairs = statistics.StreamedYawError()
    for stamp in (100, 200):
        pairs.add_truth(stamp, 1.0)
    assert pairs.add_imu(150, 0.0) == [(150, 1.0)]
    assert pairs.add_truth(50, 2.0) == []
    assert pairs.add_imu(60, 0.0) == []
    assert pairs.add_truth(70, 2.0) == [(60, 2.0)]
    pairs = statistics.StreamedYawError()
    pairs.add_truth(10, 1.0)
    pairs.add_truth(10, 3.0)
    pairs.add_truth(20, 3.0)
    assert pairs.add_imu(15, 0.0) == [(15, 3.0)]
