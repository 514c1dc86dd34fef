"""Detection of irregular time stamps, and sorting of the remaining samples."""

import json

import numpy as np
import pytest

from imu_simulation_framework.core.stamps import (
    StampLimits,
    count_occurrences,
    examine_stamps,
    packet_size,
    seconds_from_nanoseconds,
)


def regular(count=100, period=0.1, start=1000.0):
    return start + period * np.arange(count)


def test_stamp_irregularities_are_reported_with_count_and_location():
    order, report = examine_stamps(regular())
    assert np.array_equal(order, np.arange(100))
    assert not (report.missing or report.unordered or report.duplicates or report.gaps)
    assert report.rate == pytest.approx(10.0)
    assert report.median_period == pytest.approx(0.1)
    assert report.duration == pytest.approx(9.9)
    assert report.refusal(StampLimits()) == ""
    finding = count_occurrences([False, True, True], [10.0, 11.0, 12.0], places=[5, 6, 7])
    assert (finding.count, finding.first_place, finding.first_time) == (2, 6, 1.0)
    assert not count_occurrences([False], [0.0])


def test_gaps_of_five_or_more_periods_are_counted_and_longest_is_reported():
    times = regular()
    times[40:] += 0.6
    times[80:] += 3.0
    _, report = examine_stamps(times)
    assert report.gaps.count == 2
    assert report.gaps.first_place == 40
    assert report.longest_gap == pytest.approx(3.1)
    assert report.longest_gap_time == pytest.approx(7.9 + 0.6)
    times = regular()
    times[40:] += 0.39
    _, report = examine_stamps(times)
    assert not report.gaps


def test_more_than_three_unordered_stamps_or_long_gap_are_rejected():
    for swaps, refused in ((3, False), (4, True)):
        times = regular(12)
        for first in range(0, 3 * swaps, 3):
            times[[first, first + 1]] = times[[first + 1, first]]
        _, report = examine_stamps(times)
        assert report.unordered.count == swaps
        assert bool(report.refusal(StampLimits())) is refused
    times = regular()
    times[50:] += 700.0
    _, report = examine_stamps(times)
    assert "nothing was recorded for 700.1 s after 4.900 s," in report.refusal(StampLimits())
    assert report.refusal(StampLimits(longest_gap=800.0)) == ""


def test_fewer_than_two_stamps_have_no_rate():
    order, report = examine_stamps([])
    assert len(order) == 0
    assert report.samples == 0
    order, report = examine_stamps([np.nan, np.nan])
    assert len(order) == 0
    assert report.missing.count == 2
    order, report = examine_stamps([5.0])
    assert np.array_equal(order, [0])
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["rate"] is None


@pytest.mark.filterwarnings("error")
def test_conversion_to_nanoseconds_rounds_once_and_preserves_nonfinite_values():
    nanoseconds = 1432235497988949113
    assert seconds_from_nanoseconds(nanoseconds) == float("1432235497.988949113")
    several = np.array([nanoseconds, 1, 0])
    assert np.array_equal(seconds_from_nanoseconds(several), [1432235497.988949113, 1e-9, 0.0])
    seconds = seconds_from_nanoseconds(np.array([2e9, np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(seconds, [2.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("within", [0.0, 1e-4])
def test_samples_buffered_in_packets_are_counted_with_mean_rate(within):
    count, size, rate = 600, 10, 100.0
    index = np.arange(count)
    times = index // size * (size / rate) + index % size * within
    assert packet_size(times) == size
    _, report = examine_stamps(times)
    assert report.mean_rate == pytest.approx(rate, rel=0.01)


def test_jitter_and_missing_samples_are_not_reported_as_packets():
    generator = np.random.default_rng(1)
    times = 0.01 * np.arange(2000)
    assert packet_size(times + generator.uniform(-0.004, 0.004, len(times))) == 1
    assert packet_size(np.delete(times, np.arange(0, 2000, 10))) == 1
    assert packet_size(np.delete(times, generator.integers(0, 2000, 600))) == 1
    assert packet_size(np.cumsum(generator.exponential(0.01, 2000))) == 1


def test_identical_time_stamps_are_rejected_as_unset():
    _, report = examine_stamps(np.zeros(50))
    assert report.never_set
    assert "--rate" in report.refusal(StampLimits())
    assert not examine_stamps(np.repeat(np.arange(25.0), 2))[1].never_set
