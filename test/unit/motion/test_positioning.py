"""Paths from GNSS fixes: local coordinates, repeated fixes, variances, trajectory, report."""

import json

import numpy as np
import pandas as pd
import pymap3d
import pytest
from scipy.interpolate import make_smoothing_spline

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.tables import REFERENCE_ERROR
from imu_simulation_framework.motion import positioning
from imu_simulation_framework.motion.course import NoHeadingError

ORIGIN = (48.1, 11.6, 500.0)


def fixes(times, east, north, variance):
    place = pymap3d.enu2geodetic(np.asarray(east), np.asarray(north), 0.0, *ORIGIN)
    columns = dict(zip(("latitude", "longitude", "altitude"), place))
    columns.update(variance_east=variance, variance_north=variance)
    return pd.DataFrame(columns, index=pd.Index(times, name="time"))


def test_local_positions_are_east_and_north_at_any_altitude():
    east, north = np.array([0.0, 100.0, -30.0]), np.array([0.0, 50.0, 200.0])
    position = positioning.local_position(fixes([0.0, 1.0, 2.0], east, north, 1.0))
    # Plane and ellipsoid differ in height by d^2 / 2 R; positions shift by 1e-5 of the height.
    assert position[:, 0] == pytest.approx(east, abs=1e-3)
    assert position[:, 1] == pytest.approx(north, abs=1e-3)
    table = fixes(np.arange(3.0), [0.0, 10.0, 20.0], [0.0, 0.0, 0.0], 1.0)
    noisy = table.assign(altitude=[500.0, np.nan, 900.0])
    # Only the first altitude matters: it changes the last digits of the conversion.
    expected = positioning.local_position(table)
    assert positioning.local_position(noisy) == pytest.approx(expected, abs=1e-6)
    nowhere = positioning.local_position(table.assign(altitude=np.nan))
    assert nowhere[:, 0] == pytest.approx([0.0, 10.0, 20.0], rel=1e-3)
    # Missing altitudes and an altitude of zero yield identical positions.
    level = positioning.local_position(table.drop(columns="altitude"))
    np.testing.assert_array_equal(nowhere, level)


def test_smoothing_with_specified_acceleration_density_yields_smoothing_spline():
    generator = np.random.default_rng(2)
    times = 1.5e9 + np.arange(0.0, 60.0, 0.5)
    east = 5.0 * (times - times[0]) + generator.standard_normal(len(times))
    table = fixes(times, east, 0.0 * east, 1.0)
    settings = positioning.FixSettings(acceleration_density=0.3, error_correlation_time=2.0)
    made = positioning.trajectory_from_fixes(table, settings)
    # With errors correlated for 2 s at 2 Hz, dt / (dt + 2 T) = 1 / 9 of the fixes is independent.
    weights, local = np.full(len(times), 1.0 / 9.0), positioning.local_position(table)[:, 0]
    spline = make_smoothing_spline(times - times[0], local, weights, 0.3**-2)
    expected = spline(made.poses.index - times[0])
    assert made.poses["x"].to_numpy() == pytest.approx(expected, abs=1e-6)
    assert not made.report.estimated
    assert made.report.variance_scale == pytest.approx(9.0)


def drive(rate, deviation, seed=1, duration=90.0, stated_deviation=None):
    """Return fixes on five circles of 10 m radius at 4 m/s, and the true yaw."""
    generator = np.random.default_rng(seed)
    times = 1.5e9 + np.arange(0.0, duration, 1.0 / rate)
    yaw = 0.4 * (times - times[0])
    noise = deviation * generator.standard_normal((2, len(times)))
    place = 10.0 * np.sin(yaw) + noise[0], 10.0 - 10.0 * np.cos(yaw) + noise[1]
    return fixes(times, *place, (stated_deviation or deviation) ** 2), yaw


def yaw_error(poses, table, yaw):
    error = wrap(poses["yaw"].to_numpy() - np.interp(poses.index, table.index, yaw))
    return np.sqrt(np.mean(error[60:-60] ** 2))


@pytest.mark.parametrize("rate", [1.0, 5.0, 10.0])
@pytest.mark.parametrize("stated", [0.1, 2.5])
def test_smoothing_preserves_tight_circles(rate, stated):
    table, yaw = drive(rate, 0.1, stated_deviation=stated)
    made = positioning.trajectory_from_fixes(table)
    assert list(made.poses.columns) == ["x", "y", "yaw", "yaw_known", *REFERENCE_ERROR]
    assert made.poses.index.name == "time"
    assert np.diff(made.poses.index) == pytest.approx(0.05, abs=1e-6)
    length = np.hypot(np.diff(made.poses["x"]), np.diff(made.poses["y"])).sum()
    assert length == pytest.approx(4.0 * (90.0 - 1.0 / rate), rel=0.05)
    assert yaw_error(made.poses, table, yaw) < np.radians(5.0)


def test_expected_heading_standard_deviation_matches_rms_error():
    # The simulated motion follows the model of the smoother.
    ratios = []
    for seed in range(16):
        generator = np.random.default_rng(seed)
        times = np.arange(0.0, 200.0, 0.2)
        jumps = 0.3 * np.sqrt(0.2) * generator.standard_normal((len(times), 2))
        velocities = np.array([8.0, 0.0]) + np.cumsum(jumps, axis=0)
        positions = np.zeros_like(velocities)
        positions[1:] = np.cumsum(0.1 * (velocities[1:] + velocities[:-1]), axis=0)
        table = fixes(times, *(positions + generator.standard_normal(positions.shape)).T, 1.0)
        settings = positioning.FixSettings(error_correlation_time=0.0)
        made = positioning.trajectory_from_fixes(table, settings, rate=5.0)
        count = min(len(times), len(made.poses))
        course = np.arctan2(velocities[:count, 1], velocities[:count, 0])
        fast = np.hypot(velocities[:count, 0], velocities[:count, 1]) > 2.0
        error = wrap(made.poses["yaw"].to_numpy()[:count] - course)[fast]
        ratios.append(np.sqrt(np.mean(error**2)) / made.report.heading_deviation)
    mean = np.mean(ratios)
    assert mean == pytest.approx(1.0, abs=3.0 * np.std(ratios, ddof=1) / 4.0 + 0.1)


def test_doppler_velocities_improve_heading():
    table, yaw = drive(1.0, 2.0)
    alone = positioning.trajectory_from_fixes(table)
    noise = 0.05 * np.random.default_rng(3).standard_normal((2, len(table)))
    table["velocity_east"] = 4.0 * np.cos(yaw) + noise[0]
    table["velocity_north"] = 4.0 * np.sin(yaw) + noise[1]
    combined = positioning.trajectory_from_fixes(table)
    assert combined.report.doppler
    assert not alone.report.doppler
    assert yaw_error(combined.poses, table, yaw) < 0.5 * yaw_error(alone.poses, table, yaw)
    assert combined.report.heading_deviation < alone.report.heading_deviation


def test_constant_course_output_of_slow_receiver_does_not_affect_path():
    # A 90 degree turn at 1 m/s in 10 s; below 1.4 m/s the receiver outputs a constant course.
    generator = np.random.default_rng(4)
    times = np.arange(0.0, 60.0, 0.2)
    speed = np.interp(times, [20.0, 24.0, 36.0, 40.0], [5.0, 1.0, 1.0, 5.0])
    slow = speed < 1.4
    yaw = 0.4 + np.clip((times - 25.0) / 10.0, 0.0, 1.0) * np.pi / 2.0
    velocity = speed[:, None] * np.column_stack([np.cos(yaw), np.sin(yaw)])
    place = np.cumsum(velocity * 0.2, axis=0)
    table = fixes(times, *(place + 0.05 * generator.standard_normal(place.shape)).T, 2.0**2)
    reported = np.where(slow, 0.4, yaw)
    table["velocity_east"], table["velocity_north"] = (
        speed * np.cos(reported),
        speed * np.sin(reported),
    )
    made = positioning.trajectory_from_fixes(table)
    # On the straight road, a few fixes above the threshold repeat the course by chance.
    assert made.report.held_courses == pytest.approx(slow.sum(), abs=8)
    assert "holds its course" in " ".join(made.report.sentences())
    inside = (made.poses.index > 27.0) & (made.poses.index < 35.0)
    error = made.poses["yaw"].to_numpy() - np.interp(made.poses.index, times, yaw)
    # The stated sigma of positions is 2 m, so velocities would dominate the path if they were used.
    assert np.abs(error[inside]).max() < np.radians(20.0)


def test_reversing_between_two_180_degree_course_jumps_is_reported():
    generator = np.random.default_rng(8)
    times = np.arange(0.0, 60.0, 0.2)
    speed = np.where((times > 25.0) & (times < 30.0), -1.0, 1.0)
    east = np.cumsum(speed * 0.2)
    noise = 0.01 * generator.standard_normal((2, len(times)))
    made = positioning.trajectory_from_fixes(fixes(times, east + noise[0], noise[1], 1e-4))
    assert np.abs(made.poses["yaw"]).max() < np.radians(30.0)
    assert made.report.backwards == pytest.approx(5.0, abs=1.0)
    assert "backwards" in " ".join(made.report.sentences())


def test_antennas_provide_heading_while_stationary_and_reversing():
    table, yaw = drive(5.0, 0.02)
    heading = yaw + np.pi
    noise = 0.01 * np.random.default_rng(4).standard_normal(len(table))
    table["heading"] = wrap(heading + noise)
    table.loc[table.index[200:250], "heading"] = np.nan
    made = positioning.trajectory_from_fixes(table)
    assert yaw_error(made.poses, table, heading) < 0.05
    assert made.report.heading_source == "the antennas and the course"
    assert abs(made.report.antennas.offset) == pytest.approx(np.pi, abs=0.02)
    assert any(
        "check the mounting of the antennas" in sentence for sentence in made.report.sentences()
    )
    times = np.arange(0.0, 20.0, 0.2)
    table = fixes(times, 0.0 * times, 0.0 * times, 0.01)
    with pytest.raises(NoHeadingError):
        positioning.trajectory_from_fixes(table)
    table["heading"] = 0.1 * times
    made = positioning.trajectory_from_fixes(table)
    assert made.poses["yaw"].to_numpy() == pytest.approx(0.1 * made.poses.index.to_numpy())
    assert made.report.heading_source == "the antennas"
    assert made.report.heading_deviation is None


def held(rate=50.0, every=5, rest=10.0):
    """Return times and positions that repeat fixes of a receiver at rest and then at 5 m/s."""
    times = np.arange(0.0, 40.0, 1.0 / rate)
    held_times = every / rate * np.floor(np.arange(len(times)) / every)
    return times, np.column_stack([5.0 * np.maximum(held_times - rest, 0.0), 0.0 * held_times])


@pytest.mark.parametrize(
    "rate, every, repeated, expected",
    [
        (50.0, 5, [], [number for number in range(2000) if number % 5]),
        # Identical positions at rest are not repeated fixes if the positions change in motion.
        (10.0, 1, [], []),
        (10.0, 1, [250, 300, 301], [250, 300, 301]),
    ],
)
def test_repeated_positions_are_distinguished_from_stationary_periods(
    rate, every, repeated, expected
):
    times, coordinates = held(rate, every)
    for number in repeated:
        coordinates[number] = coordinates[number - 1]
    actual = positioning.repeated_fixes(times, coordinates, 0.2)
    np.testing.assert_array_equal(np.flatnonzero(actual), expected)


def test_repeated_fixes_yield_path_of_original_fixes():
    table, _ = drive(10.0, 0.05)
    rows = np.repeat(np.arange(len(table)), 5)
    times = table.index[0] + np.arange(len(rows)) / 50.0
    many = table.iloc[rows].set_index(pd.Index(times, name="time"))
    made, plain = positioning.trajectory_from_fixes(many), positioning.trajectory_from_fixes(table)
    assert (made.report.repeated, made.report.fixes) == (4 * len(table), len(table))
    actual = made.poses.iloc[: len(plain.poses)].to_numpy()
    assert actual == pytest.approx(plain.poses.to_numpy(), abs=1e-5)


def test_variances_are_computed_from_position_error_or_hdop():
    error, hdop = np.array([2.0, np.nan, 0.0]), np.array([1.0, 2.0, np.nan])
    expected = [2.0, (2.0 * positioning.RANGE_ERROR) ** 2, np.nan]
    assert positioning.variances_from_quality(error, hdop) == pytest.approx(expected, nan_ok=True)
    assert positioning.variances_from_quality(None, hdop)[0] == positioning.UNKNOWN_VARIANCE
    assert positioning.variances_from_quality(error)[0] == pytest.approx(2.0)


def test_fix_report_contains_outlier_locations_and_is_valid_json():
    table, _ = drive(5.0, 0.3)
    table.iloc[100, table.columns.get_loc("latitude")] += 1e-3
    made = positioning.trajectory_from_fixes(table, places=np.arange(len(table)) + 2)
    report = made.report
    assert (report.outliers.count, report.outliers.first_place) == (1, 102)
    assert report.outliers.first_time == pytest.approx(20.0)
    sentences = " ".join(report.sentences("message"))
    assert (
        "1 position ignored as inconsistent with any plausible motion; the first is message 102 at"
        in sentences
    )
    assert "estimated from the fixes" in sentences
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["heading_deviation_deg"] == pytest.approx(np.degrees(report.heading_deviation))


def test_inconsistent_variances_velocities_and_stamps_are_reported():
    table, yaw = drive(5.0, 0.05, stated_deviation=5.0)
    assert "estimated position variances" in " ".join(
        positioning.trajectory_from_fixes(table).report.sentences()
    )
    # The velocities are in km/h, but are interpreted as m/s.
    table["velocity_east"], table["velocity_north"] = 14.4 * np.cos(yaw), 14.4 * np.sin(yaw)
    made = positioning.trajectory_from_fixes(table)
    assert "check their unit, course and axes" in " ".join(made.report.sentences())
    assert made.report.refused_velocity_scale == pytest.approx(1.0 / 3.6, rel=0.02)
    assert yaw_error(made.poses, table, yaw) < np.radians(5.0)
    times = np.arange(0.0, 60.0, 0.2)
    # As from a buffering receiver, stamps run up to 1.3 times too fast and later too slow.
    warped = times + 6.0 * np.sin(np.pi * times / 60.0) ** 2
    table = fixes(warped, 10.0 * times, 0.0 * times, 1.0)
    table["velocity_east"], table["velocity_north"] = 10.0, 0.0
    sentences = " ".join(positioning.trajectory_from_fixes(table).report.sentences())
    assert "check the time stamps of the fixes" in sentences


@pytest.mark.filterwarnings("error")
def test_distant_last_fix_does_not_cause_negative_variance():
    seconds = 1.6e9 + 0.1 * np.arange(200)
    turns = seconds - seconds[0]
    table = pd.DataFrame(
        {"latitude": 48.0 + 1e-5 * np.sin(turns), "longitude": 11.0 + 7e-5 * turns},
        index=pd.Index(seconds, name="time"),
    ).assign(variance_east=6.25, variance_north=6.25)
    table.iloc[-1, 1] -= 6.2
    made = positioning.trajectory_from_fixes(table, positioning.FixSettings(), np.arange(200))
    assert np.isfinite(made.poses.to_numpy()).all()


def test_velocity_variance_between_fixes_matches_brownian_bridge():
    count, step = 200, 2.0
    at = (np.arange(count) + 1.0) / count
    walk = np.minimum.outer(at, at) * step
    # The process and its integral are known at both ends of the interval.
    known = np.zeros((2, count))
    known[0, -1], known[1] = 1.0, step / count
    known[1, -1] *= 0.5
    left = walk - walk @ known.T @ np.linalg.solve(known @ walk @ known.T, known @ walk)
    scatter = positioning._variance_between(np.array([5.0, 7.0]), 5.0 + step * at, np.ones(1))
    assert scatter == pytest.approx(np.diag(left), abs=1e-4)


def test_fixes_spanning_centuries_are_rejected_before_memory_allocation():
    times = 1e9 * np.arange(20.0)
    table = fixes(times, 5.0 * np.arange(20.0), np.zeros(20), 1.0)
    with pytest.raises(ValueError, match="unit of time"):
        positioning.trajectory_from_fixes(table)
