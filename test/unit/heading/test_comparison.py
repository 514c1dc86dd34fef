from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from synthetic_experiment import cut, make_tables

from imu_simulation_framework.core.error_statistics import edge_samples, error_statistics
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.signals import (
    estimate_delay,
    find_time_shift,
    normalised_correlation,
)
from imu_simulation_framework.heading.experiment_comparison import compare, yaw_error_difference
from imu_simulation_framework.heading.reference_error import ReferenceError
from imu_simulation_framework.heading.statistics import median_trend
from imu_simulation_framework.heading.yaw_comparison import (
    ComparisonSettings,
    compare_yaw,
    lateness,
)


def yaw(values, rate=100.0, start=0.0):
    values = np.asarray(values, dtype=float)
    return pd.Series(values, index=pd.Index(start + np.arange(len(values)) / rate, name="time"))


def wavy_yaw(time):
    """Return a heading that turns continuously and does not repeat within 200 s."""
    return 0.1 * time + np.sin(0.9 * time) + 0.4 * np.sin(2.3 * time + 1.0)


def compare_tables(tables, scale=1.0, **settings):
    tables = replace(tables, reference=None, fixes=None, odometer=None)
    tables = replace(tables, wheel_velocities=None, wheel_velocities_actual=None)
    return compare(tables, ComparisonSettings(**settings), scale)


def test_yaw_error_is_reference_minus_imu_starting_at_zero_and_unwrapped():
    time = np.arange(10001) / 100.0
    reference = yaw(wavy_yaw(time))
    imu = yaw(wavy_yaw(time) + 0.001 * time + 0.7)
    result = compare_yaw(imu, reference, ComparisonSettings())
    # The median of the ramp over its first 300 samples is its value at 1.495 s.
    np.testing.assert_allclose(result.error, -0.001 * (time - 1.495), atol=1e-12)
    assert result.statistics.drift == pytest.approx(-0.001, rel=1e-9)
    assert result.statistics.final == pytest.approx(-0.001 * (98.505 - 1.495), rel=1e-9)
    assert result.statistics.maximum_absolute == pytest.approx(0.001 * 98.505, rel=1e-9)
    np.testing.assert_allclose(result.reference_yaw - result.imu_yaw, result.error, atol=1e-12)
    time = np.arange(6001) / 100.0
    reference = wavy_yaw(time) + 3.0
    imu = reference - 0.002 * time + 2.0
    expected = compare_yaw(yaw(imu), yaw(reference), ComparisonSettings()).error
    imu, reference = (np.angle(np.exp(1j * values)) for values in (imu, reference))
    imu += 2 * np.pi * (time > 30.0)
    wrapped = compare_yaw(yaw(imu), yaw(reference), ComparisonSettings()).error
    np.testing.assert_allclose(wrapped, expected, atol=1e-9)
    # An outlier at the first sample does not shift the error.
    imu, reference = yaw(np.zeros(2000)), yaw(np.zeros(2000))
    imu.iloc[0] = 0.2
    error = compare_yaw(imu, reference, ComparisonSettings()).error
    assert error.iloc[0] == pytest.approx(-0.2)
    assert np.all(error.iloc[1:] == 0.0)


def test_yaw_error_has_no_samples_outside_reference_interval():
    reference = yaw([0.0, 1.0, 2.0], rate=1.0, start=10.0)
    imu = yaw(np.zeros(60), rate=20.0, start=9.525)
    result = compare_yaw(imu, reference, ComparisonSettings())
    assert result.error.index[0] == pytest.approx(10.025)
    assert result.error.index[-1] == pytest.approx(11.975)
    np.testing.assert_allclose(result.reference_yaw, result.error.index - 10.0, atol=1e-12)


def test_yaw_error_between_samples_of_slow_reference_is_unaffected_by_turning():
    time, reference_time = np.arange(10001) / 100.0, np.arange(501) / 5.0
    imu = yaw(wavy_yaw(3.0 * time) + 0.001 * time)
    # The angle by which the IMU turned within its gap is unknown.
    imu = imu[(imu.index < 40.03) | (imu.index > 42.38)]
    reference = yaw(wavy_yaw(3.0 * reference_time), rate=5.0)
    result = compare_yaw(imu, reference, ComparisonSettings(start_window=0.001))
    np.testing.assert_allclose(result.error, -0.001 * result.error.index, atol=1e-12)
    np.testing.assert_allclose(result.imu_yaw, imu, atol=1e-12)


def test_error_statistics_of_irregular_samples_match_expected_values():
    statistics = error_statistics([0.0, 1.0, 2.0, 3.0], [1.0, -3.0, 1.0, 5.0], final_window=1.0)
    assert (statistics.samples, statistics.mean, statistics.median) == (4, 1.0, 1.0)
    assert statistics.rms == pytest.approx(3.0)
    assert statistics.standard_deviation == pytest.approx(np.sqrt(8.0))
    assert (statistics.minimum, statistics.maximum) == (-3.0, 5.0)
    assert (statistics.maximum_absolute, statistics.final) == (5.0, 5.0)
    assert statistics.drift == pytest.approx(1.6)
    assert error_statistics([1.0], [-2.0]).rms == 2.0
    assert np.isnan(error_statistics([1.0], [-2.0]).drift)
    assert error_statistics([], []) is None
    time = uneven_times()
    assert edge_samples(time, 2.0) == np.sum(time < time[0] + 2.0)
    assert edge_samples(time, 2.0, is_end=True) == np.sum(time > time[-1] - 2.0)
    # For a short series, the window is a tenth of its duration, but at least one sample.
    assert edge_samples(time[:101], 3.0) == np.sum(time < time[0] + 0.1 * (time[100] - time[0]))
    assert edge_samples(time[:1], 3.0) == edge_samples(time[:1], 3.0, is_end=True) == 1


def uneven_times():
    """Return irregular stamps, first at 29 Hz, later at 60 Hz."""
    steps = np.concatenate([np.full(300, 1 / 29), np.full(900, 1 / 60)])
    steps *= np.random.default_rng(7).uniform(0.8, 1.2, len(steps))
    return 1.6e9 + np.cumsum(steps)


@pytest.mark.parametrize("window", [1e-6, 1.0, 5.19, 100.0])
def test_median_trend_of_irregular_samples_uses_window_in_seconds(window):
    time = uneven_times()
    error = pd.Series(np.random.default_rng(8).normal(size=len(time)).cumsum(), index=time)
    expected = [np.median(error[np.abs(time - middle) <= 0.5 * window]) for middle in time]
    np.testing.assert_array_equal(median_trend(error, window), expected)


@pytest.mark.parametrize("shift", [-0.37, 0.0, 0.043, 0.5])
def test_time_shift_estimate_matches_known_delay(shift):
    generator = np.random.default_rng(6)
    imu_time = np.arange(20001) / 100.0
    gps_time = np.arange(1001) / 5.0
    gps = wavy_yaw(gps_time) + generator.normal(size=1001) * np.radians(0.25)
    found = find_time_shift(imu_time, wavy_yaw(imu_time - shift), gps_time, gps, max_shift=1.0)
    # With 1000 headings of noise s and rates of 0.9 rad/s rms, the shift has a standard error of
    # s / (0.9 sqrt(1000)) = 0.15 ms; the interpolation between fixes adds to it.
    assert found.shift == pytest.approx(shift, abs=0.003)
    assert found.correlation > 0.9
    assert found.problem == ""


@pytest.mark.parametrize("lag", [0.0, 0.3, -0.2])
def test_delayed_course_is_aligned_without_alignment_setting(lag):
    time, noise = np.arange(24001) / 100.0, np.random.default_rng(4)
    known = time[::20]
    wrong = np.radians(1.0) * noise.standard_normal(len(known))
    poses = pd.DataFrame({"yaw": wavy_yaw(known - lag) + wrong}, index=known)
    poses = poses.assign(yaw_std=np.radians(1.0), yaw_error_time=0.2, yaw_lag=0.5, turn_error=0.0)
    result = compare_yaw(yaw(wavy_yaw(time)), poses["yaw"], ComparisonSettings(), poses)
    # The lag uncertainty depends on the noise and the rate changes of both headings over 1 s steps.
    rate = np.gradient(wavy_yaw(time), time)
    error = np.radians(1.0) * np.sqrt(2.0) / np.sqrt(240.0 * np.var(rate[100:] - rate[:-100]))
    if lag == 0.0:
        assert result.time_shift is None and not result.sentences
        assert result.split.process.lag < 4.0 * error
    else:
        assert result.time_shift.shift == pytest.approx(-lag, abs=4.0 * error)
        assert result.split.process.lag == pytest.approx(error, rel=0.5)
        (sentence,) = result.sentences
        assert ("late" if lag > 0.0 else "early") in sentence


def test_lag_is_estimated_only_from_measured_courses():
    # Corners take 1.5 s, and the receiver measures the course once per second.
    random, time = np.random.default_rng(5), np.arange(40001) / 100.0
    rates = np.zeros(len(time))
    for start in range(1000, 39000, 2000):
        begin, turn = start + random.integers(500), random.choice([-1.0, 1.0])
        rates[begin : begin + 150] = turn
    heading, lag, noise = np.cumsum(rates) / 100.0, 0.1, 0.005
    course_times, known = 0.65 + np.arange(399.0), np.arange(8000) / 20.0
    course = np.interp(course_times - lag, time, heading) + noise * random.standard_normal(
        len(course_times)
    )
    away = np.abs(known - 0.65 - np.rint(known - 0.65))
    poses = pd.DataFrame({"yaw": np.interp(known, course_times, course)}, index=known)
    poses = poses.assign(
        yaw_std=noise + 0.1 * away, yaw_error_time=0.5, yaw_lag=0.5, turn_error=0.0
    )
    reference = ReferenceError.from_poses(poses)
    found, std = lateness(yaw(heading), poses, 0.5, reference)
    assert found.shift == pytest.approx(-lag, abs=4.0 * std) and std < 0.01


def test_delay_of_nearly_periodic_motion_is_estimated():
    def heading(time):
        return 2.0 * np.sin(2.0 * np.pi * 2.3 * time) + 0.3 * np.sin(0.7 * time)

    time, lag = np.arange(-1.0, 61.0, 0.01), 0.5
    measured = np.diff(heading(np.arange(61.0) - lag))[:, np.newaxis]
    found, std = estimate_delay(
        np.arange(61.0),
        measured + 0.01 * np.random.default_rng(2).standard_normal(measured.shape),
        lambda at: np.interp(at, time, heading(time))[:, np.newaxis],
        np.full(60, True),
        1.0,
    )
    assert found == pytest.approx(-lag, abs=4.0 * std) and std < 0.01


def test_lag_of_short_drive_has_prior_uncertainty():
    time = np.arange(1001) / 100.0
    poses = pd.DataFrame({"yaw": wavy_yaw(time - 0.3)}, index=time)
    poses = poses.assign(yaw_std=np.radians(1.0), yaw_error_time=0.2, yaw_lag=0.5, turn_error=0.0)
    result = compare_yaw(yaw(wavy_yaw(time)), poses["yaw"], ComparisonSettings(), poses)
    assert result.time_shift is None and result.split.process.lag == 0.5
    assert np.isfinite(result.split.reference)


@pytest.mark.parametrize(("first", "is_reported"), [(30.0, True), (3.0, False)])
def test_uncertain_reference_heading_at_start_is_reported(first, is_reported):
    time = np.arange(2401) / 20.0
    std = np.radians(np.where(time < 10.0, first, 2.0))
    poses = pd.DataFrame({"yaw": wavy_yaw(time)}, index=time)
    poses = poses.assign(yaw_std=std, yaw_error_time=20.0, yaw_lag=0.0, turn_error=0.0)
    settings = ComparisonSettings(zero="start")
    result = compare_yaw(yaw(wavy_yaw(time)), poses["yaw"], settings, poses)
    assert [sentence for sentence in result.sentences if "30 deg" in sentence] == (
        result.sentences if is_reported else []
    )
    assert len(result.sentences) == is_reported
    # Over many correlation times, the mean is more certain than each sample.
    poses["yaw_error_time"] = 0.05
    result = compare_yaw(yaw(wavy_yaw(time)), poses["yaw"], settings, poses)
    assert len(result.sentences) == is_reported and "30 deg" not in "".join(result.sentences)


def test_estimated_zero_offset_is_unaffected_by_poor_reference_at_start():
    time, degree = np.arange(2401) / 20.0, np.radians(1.0)
    std = degree * np.where(time < 10.0, 20.0, 1.0)
    wrong = degree * np.where(time < 10.0, 15.0, 0.0) + 0.5 * degree * np.sin(time)
    poses = pd.DataFrame({"yaw": wavy_yaw(time) + 0.7 + wrong}, index=time)
    imu = pd.Series(wavy_yaw(time) - 0.01 * degree * time, index=time)
    exact = compare_yaw(imu, poses["yaw"], ComparisonSettings(), poses)
    known = poses.assign(yaw_std=std, yaw_error_time=5.0, yaw_lag=0.0, turn_error=0.0)
    start = compare_yaw(imu, poses["yaw"], ComparisonSettings(zero="start"), known)
    result = compare_yaw(imu, poses["yaw"], ComparisonSettings(), known)
    # Without a reference error model, or on request, the median at the start is used.
    assert exact.zero == start.zero == "start" and exact.start_offset == start.start_offset
    assert exact.error.equals(start.error) and exact.zero_words == ""
    off = abs(result.start_offset - 0.7)
    assert off < 1.96 * result.split.zero_std < 3.0 * degree < abs(start.start_offset - 0.7)
    assert result.error.iloc[-1] - start.error.iloc[-1] == pytest.approx(
        start.start_offset - result.start_offset
    )
    assert "estimated" in result.zero_words and not result.sentences
    assert start.split.zero_std > 10.0 * degree


def test_alignment_reduces_yaw_error_or_is_reported_as_impossible():
    time = np.arange(20001) / 100.0
    late = yaw(wavy_yaw(time - 0.3))
    reference = yaw(wavy_yaw(time))
    plain = compare_yaw(late, reference, ComparisonSettings())
    aligned = compare_yaw(late, reference, ComparisonSettings(align=True))
    assert plain.time_shift is None
    assert plain.statistics.rms > 0.1
    assert aligned.time_shift.shift == pytest.approx(0.3, abs=1e-3)
    assert aligned.statistics.rms < 1e-3
    time = np.arange(5000) / 100.0
    noise = np.random.default_rng(7).normal(size=(2, 5000))
    waves, late = wavy_yaw(time), wavy_yaw(time - 0.4)
    for arguments, word in (
        ((time, noise[0], time, noise[1], 1.0), "correlation"),
        ((time, late, time, waves, 0.2), "permit a larger shift"),
        ((time[:5], time[:5], time, time, 1.0), ""),
        ((time, np.ones(5000), time, np.ones(5000), 1.0), ""),
    ):
        found = find_time_shift(*arguments)
        assert found.shift == 0.0
        assert found.problem and word in found.problem


def test_normalised_correlation_matches_direct_computation():
    late, reference = (np.random.default_rng(5).standard_normal(n) for n in (37, 30))
    lags = np.arange(-12, 15)
    expected = []
    for lag in lags:
        pairs = [(k + lag, k) for k in range(30) if 0 <= k + lag < 37]
        a, b = (series[list(which)] for series, which in zip((late, reference), zip(*pairs)))
        expected.append(a @ b / np.sqrt((a @ a) * (b @ b)))
    np.testing.assert_allclose(normalised_correlation(late, reference, lags), expected, atol=1e-12)


def test_yaw_difference_between_imus_is_sampled_at_stamps_of_slower_imu():
    real = yaw(0.02 * np.arange(101) / 50.0, rate=50.0, start=0.5)
    simulated = yaw(0.01 * np.arange(201) / 100.0, rate=100.0)
    result = yaw_error_difference(real, simulated, ComparisonSettings())
    time = result.difference.index.to_numpy()
    np.testing.assert_allclose(time, 0.5 + np.arange(76) / 50.0, atol=1e-9)
    np.testing.assert_allclose(result.difference, 0.02 * (time - 0.5) - 0.01 * time, atol=1e-12)
    late = pd.Series(real.to_numpy(), index=real.index + 10.0)
    assert yaw_error_difference(late, simulated, ComparisonSettings()) is None


def test_experiment_comparison_returns_simulated_errors():
    tables = make_tables(duration=120.0)
    result = compare_tables(tables)
    assert result.remarks == []
    expected = tables.ground_truth["yaw"] - tables.imu_simulated["yaw"]
    expected -= expected.iloc[:300].median()
    np.testing.assert_allclose(result.simulated.error, expected, atol=1e-12)
    assert result.tracking["yaw_error"].maximum == pytest.approx(np.radians(0.6), rel=1e-3)
    assert result.difference.statistics.samples == 12001
    tables = make_tables(30.0)
    longer = make_tables(60.0)
    tables.imu_real = longer.imu_real
    result = compare_tables(tables)
    assert result.remarks == []
    assert result.real.error.index[-1] == 30.0


@pytest.mark.parametrize("stop", [2.0, 0.05, 0.0, -1.0])
@pytest.mark.parametrize("align", [False, True])
def test_experiment_that_ended_early_is_compared_up_to_its_end(stop, align):
    result = compare_tables(cut(make_tables(duration=30.0), stop), align=align)
    if stop >= 0.0:
        assert result.simulated.statistics.samples == int(round(100 * stop)) + 1
        assert result.tracking
        assert result.real.error.index[-1] <= stop
        assert any(f"ended at {stop:.1f} s of 30.0 s" in remark for remark in result.remarks)
    else:
        assert result.simulated is None
        assert any("simulated IMU has no sample" in remark for remark in result.remarks)
        assert any("tracking" in remark for remark in result.remarks)
        # The recorded IMU is compared nevertheless; alignment may remove samples at one end.
        assert result.real.statistics.samples >= 2980


def test_missing_recorded_imu_is_reported_and_arguments_are_not_modified():
    tables = make_tables(duration=10.0)
    present = [table for table in vars(tables).values() if table is not None]
    before = [table.copy() for table in present]
    compare_tables(tables, align=True)
    for table, copy in zip(present, before):
        pd.testing.assert_frame_equal(table, copy)
    late = make_tables(duration=10.0)
    late.imu_real.index = late.imu_real.index + 1e6
    aligned = compare_tables(make_tables(duration=120.0), align=True)
    assert aligned.real.time_shift is not None and aligned.simulated.time_shift is None
    for tables, words in (
        (make_tables(duration=30.0, with_real_imu=False), "no recorded IMU"),
        (late, "recorded IMU has no sample"),
    ):
        result = compare_tables(tables, align=True)
        assert result.real is None and result.difference is None
        # The simulated yaw is never shifted.
        assert result.simulated.time_shift is None
        assert any(words in remark for remark in result.remarks)


@pytest.mark.parametrize("key", ["median_window", "max_shift", "start_window"])
@pytest.mark.parametrize("value", [0.0, -1.0, 1e5, 1e308, float("nan"), float("inf"), "x"])
def test_comparison_settings_out_of_range_are_rejected_with_setting_name(key, value):
    with pytest.raises(ConfigurationError, match=key):
        ComparisonSettings(**{key: value})


def test_yaw_error_excludes_intervals_of_unknown_heading():
    time = np.arange(6001) / 100.0
    truth = wavy_yaw(time)
    # The robot is stationary from 20 to 24 s; the reference heading makes a spurious full turn.
    guess = truth + 2.0 * np.pi * np.clip((time - 20.0) / 4.0, 0.0, 1.0)
    known = yaw(((time < 21.0) | (time > 23.0)).astype(float)).to_frame("yaw_known")
    result = compare_yaw(yaw(truth + 0.001 * time), yaw(guess), ComparisonSettings(), known)
    assert not ((result.error.index > 21.0) & (result.error.index < 23.0)).any()
    later = result.error[result.error.index > 24.0]
    # The zero offset is the median over the first three seconds, accurate to one sample.
    np.testing.assert_allclose(later, -0.001 * (later.index - 1.5), rtol=0.0, atol=6e-5)
    time = np.arange(1001) / 100.0
    imu = yaw(0.1 * time)
    imu.iloc[[300, 500]] = np.nan
    holed = np.where(time < 2.0, np.nan, 0.1 * time)
    known = yaw((time < 8.0).astype(float)).to_frame("yaw_known")
    result = compare_yaw(imu, yaw(holed), ComparisonSettings(), known)
    assert result.error.index[0] == pytest.approx(2.0)
    assert result.error.index[-1] == pytest.approx(7.99)
    assert result.statistics.samples == 598
    assert compare_yaw(imu, imu, ComparisonSettings(), 0.0 * known) is None


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_relative_error_distances_refer_to_unscaled_drive(scale):
    tables = make_tables()
    as_driven = compare_tables(tables).real.over_distance
    tables.trajectory_data[["x", "y"]] *= scale
    found = compare_tables(tables, scale).real.over_distance
    assert 10.0 in [entry.length for entry in found]
    for stretch, expected in zip(found, as_driven):
        assert (stretch.length, stretch.rms) == pytest.approx(
            (expected.length, expected.rms), rel=1e-9
        )


@pytest.mark.parametrize("late", [0.15, -0.3])
def test_delay_to_poses_without_error_model_is_estimated(late):
    time = np.arange(0.0, 120.0, 0.05)
    poses = pd.DataFrame({"yaw": wavy_yaw(time)}, index=time)
    imu = pd.Series(wavy_yaw(time - late), index=time)
    found, left = lateness(imu, poses, 0.2, None)
    assert found.shift == pytest.approx(late, abs=0.01) and left < 0.01
    # No delay is estimated from a very short overlap.
    alone = imu.set_axis(time + time[-1])
    assert lateness(alone, poses, 0.2, None) == (None, 0.2)
