"""GNSS fixes: variances, velocities and headings, from samples to a path."""

import json
import warnings

import numpy as np
import pymap3d
import pytest
import recording_writers as writers
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw, wrap
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.tables import QUATERNION, REFERENCE_ERROR
from imu_simulation_framework.heading.reference_error import ReferenceError
from imu_simulation_framework.motion.positioning import RANGE_ERROR, UNKNOWN_VARIANCE, FixSettings
from imu_simulation_framework.recordings.cleaning import Samples, is_missing_fix
from imu_simulation_framework.recordings.reading import read_reference, read_reference_samples
from imu_simulation_framework.recordings.reference import reference_table

COUNT, RATE = 300, 5.0


def truth():
    """Return times, positions, velocities and yaw of a car on a winding road at 6 m/s."""
    times = np.arange(COUNT) / RATE
    fine = np.arange(COUNT * 20) / (20.0 * RATE)
    yaw = 1.2 * np.sin(fine / 6.0) + 0.02 * fine
    velocities = 6.0 * np.column_stack([np.cos(yaw), np.sin(yaw)])
    positions = np.cumsum(velocities, axis=0) / (20.0 * RATE)
    return times, positions[::20], velocities[::20], yaw[::20]


def samples(deviation=0.5, **columns):
    """Return noisy position samples as a reader returns them, with further ``columns``."""
    times, positions, _, _ = truth()
    noise = deviation * np.random.default_rng(7).standard_normal(positions.shape)
    latitude, longitude, _ = pymap3d.enu2geodetic(*(positions + noise).T, 0.0, 48.0, 11.0, 0.0)
    return lines(stamp=1.5e9 + times, latitude=latitude, longitude=longitude, **columns)


def lines(**columns):
    places = np.arange(len(columns["stamp"])) + 2
    return Samples("drive.csv", "csv", columns, places, "line")


def yaw_error(table, yaw):
    times = 1.5e9 + np.arange(COUNT) / RATE
    error = wrap(table["yaw"].to_numpy() - np.interp(table.index, times, yaw))
    return np.sqrt(np.mean(error[40:-40] ** 2))


def stated_deviation(report):
    return report.positioning["stated_deviation"]


def test_fix_variance_is_taken_from_covariance_error_column_hdop_or_default():
    error, stated_variance = np.full(COUNT, 2.0), np.full(COUNT, 0.25)
    report = reference_table(samples(position_error=error))[1]
    assert stated_deviation(report) == pytest.approx(np.sqrt(2.0))
    assert any("computed from position_error" in remark for remark in report.remarks)
    assert not report.unknown_variance
    stated_variance[:100] = np.nan
    variances = {"variance_east": stated_variance, "variance_north": stated_variance}
    report = reference_table(samples(**variances, position_error=error))[1]
    assert stated_deviation(report) == pytest.approx(np.sqrt((100 * 2.0 + 200 * 0.25) / COUNT))
    hdop = np.ones(COUNT)
    hdop[50:60] = 0.0
    report = reference_table(samples(hdop=2.0 * hdop))[1]
    assert (report.unknown_variance.count, report.unknown_variance.first_place) == (10, 52)
    usual = (10 * UNKNOWN_VARIANCE + 290 * (2.0 * RANGE_ERROR) ** 2) / COUNT
    assert stated_deviation(report) == pytest.approx(np.sqrt(usual))


def total_station_samples(rate, error, seed=1):
    """Return total station positions of a robot on a circle with a radius of 1 m."""
    times = np.arange(0.0, 120.0, 1.0 / rate)
    noise = error * np.random.default_rng(seed).standard_normal((len(times), 2))
    x, y = (np.column_stack([np.cos(times / 2.0), np.sin(times / 2.0)]) + noise).T
    return lines(stamp=times, x=x, y=y), times, times / 2.0 + np.pi / 2.0


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("error", [0.001, 0.01])
def test_variance_of_metric_positions_is_estimated_from_jitter(rate, error):
    recorded, times, yaw = total_station_samples(rate, error)
    table, report = reference_table(recorded)
    difference = wrap(table["yaw"].to_numpy() - np.interp(table.index, times, yaw))
    assert np.degrees(np.sqrt(np.mean(difference**2))) < 2.5
    assert table["yaw_known"].mean() > 0.95
    assert any("the jitter of the positions" in s for s in report.sentences())
    assert not any("receiver" in sentence for sentence in report.sentences())


def test_oversmoothed_path_is_rejected_with_reason():
    recorded, _, _ = total_station_samples(1.0, 0.001)
    x, y = recorded.columns.pop("x"), recorded.columns.pop("y")
    latitude, longitude, _ = pymap3d.enu2geodetic(x, y, 0.0, 48.0, 11.0, 0.0)
    recorded.columns.update(latitude=latitude, longitude=longitude)
    with pytest.raises(RecordingError, match="error of the positions is not known, and 2.5 m"):
        reference_table(recorded)


def test_doppler_velocities_are_used_and_reported():
    _, _, velocities, yaw = truth()
    alone, report_alone = reference_table(samples())
    noisy = velocities + 0.1 * np.random.default_rng(8).standard_normal(velocities.shape)
    table, report = reference_table(samples(velocity_east=noisy[:, 0], velocity_north=noisy[:, 1]))
    assert report.positioning["doppler"] and not report_alone.positioning["doppler"]
    assert yaw_error(table, yaw) < 0.5 * yaw_error(alone, yaw)
    assert any("with Doppler velocities" in sentence for sentence in report.sentences())


@pytest.mark.parametrize("form", ["yaw", "quaternion"])
def test_heading_recorded_with_fixes_is_used(form):
    _, _, _, yaw = truth()
    # The heading has a sideslip of 40 deg, which the course does not contain.
    heading = yaw + np.radians(40.0)
    heading[100:103] = np.nan
    if form == "yaw":
        columns = {"yaw": heading}
    else:
        level = np.column_stack([0.0 * heading, 0.0 * heading, heading])
        columns = dict(zip(QUATERNION, quaternion_from_roll_pitch_yaw(level).T))
    table, report = reference_table(samples(**columns))
    assert yaw_error(table, yaw + np.radians(40.0)) < np.radians(1.0)
    assert report.positioning["antennas"]["offset_deg"] == pytest.approx(40.0, abs=2.0)
    assert any("check the mounting of the antennas" in remark for remark in report.remarks)


def test_outlier_is_reported_with_line_number():
    wrong = samples()
    wrong.columns["latitude"][120] += 1e-3
    table, report = reference_table(wrong)
    assert yaw_error(table, truth()[3]) < np.radians(10.0)
    assert report.positioning["outliers"]["first_place"] == 122
    assert any("the first is line 122 at 24.000 s" in remark for remark in report.remarks)
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.parametrize("kind", ["bag", "ros2", "rostopic_csv"])
def test_fix_variances_are_horizontal_diagonal_of_covariance(tmp_path, kind):
    # The covariance is row-major in east, north, up; all nine numbers are different.
    covariance = np.array([[4.0, 0.1, 0.2], [0.3, 16.0, 0.4], [0.5, 0.6, 100.0]]).ravel()
    times, positions, _, _ = truth()
    latitude, longitude, _ = pymap3d.enu2geodetic(*positions.T, 0.0, 48.0, 11.0, 0.0)
    stamps = (1e9 * (1.5e9 + times)).astype(np.int64)
    messages = [writers.fix(int(t), *place) for t, *place in zip(stamps, latitude, longitude)]
    for message in messages:
        message.position_covariance[:] = covariance
    if kind == "rostopic_csv":
        path = writers.write_rostopic_csv(tmp_path / "a.csv", messages)
    else:
        write = writers.write_bag if kind == "bag" else writers.write_ros2_bag
        path = write(tmp_path / "a.bag", {"/fix": messages})
    report = read_reference(path).report
    assert stated_deviation(report) == pytest.approx(np.sqrt((4.0 + 16.0) / 2.0))


TOLD = 30
START, PERIOD = 1_700_000_000 * 10**9, 200_000_000
STAMPS = [START + PERIOD * k for k in range(TOLD)]
ROUGH_FIXES = [writers.fix(stamp, 48.0 + 1e-6 * k, 11.0) for k, stamp in enumerate(STAMPS)]
VELOCITIES = np.column_stack([np.arange(TOLD), -np.arange(TOLD), np.zeros(TOLD)])
HEADINGS = Rotation.from_euler("Z", 0.1 * np.arange(TOLD)[:, None]).as_quat()


def bag(tmp_path, **topics):
    content = {"/fix": ROUGH_FIXES, **{f"/{name}": messages for name, messages in topics.items()}}
    return writers.write_bag(tmp_path / "a.bag", content)


@pytest.mark.parametrize("make", [writers.twist_stamped, writers.twist_with_covariance_stamped])
@pytest.mark.parametrize("late", [-60_000_000, 0, 90_000_000])
def test_velocity_nearest_in_time_to_fix_is_used(tmp_path, make, late):
    messages = [make(stamp + late, velocity) for stamp, velocity in zip(STAMPS, VELOCITIES)]
    path = bag(tmp_path, vel=messages)
    samples = read_reference_samples(path, topic="/fix", velocity_topic="/vel")
    assert np.array_equal(samples.columns["velocity_east"], VELOCITIES[:, 0])
    assert np.array_equal(samples.columns["velocity_north"], VELOCITIES[:, 1])
    assert np.array_equal(samples.columns["latitude"], [fix.latitude for fix in ROUGH_FIXES])


def test_velocities_more_frequent_than_fixes_or_partly_missing_are_accepted(tmp_path):
    times = [START + PERIOD // 10 * k for k in range(10 * TOLD)]
    messages = [writers.twist_stamped(time, (k, 0.0, 0.0)) for k, time in enumerate(times)]
    path = writers.write_ros2_bag(tmp_path / "a", {"/fix": ROUGH_FIXES, "/vel": messages})
    samples = read_reference_samples(path, velocity_topic="vel")
    assert np.array_equal(samples.columns["velocity_east"], 10.0 * np.arange(TOLD))
    messages = [writers.twist_stamped(*row) for row in zip(STAMPS[:10], VELOCITIES)]
    path = bag(tmp_path, vel=messages)
    east = read_reference_samples(path, velocity_topic="/vel").columns["velocity_east"]
    assert np.array_equal(np.isfinite(east), np.arange(TOLD) < 10)


@pytest.mark.parametrize(
    "make",
    [
        writers.quaternion_stamped,
        lambda stamp, heading: writers.pose_stamped(stamp, np.zeros(3), heading),
        lambda stamp, heading: writers.imu(stamp, heading, np.zeros(3), np.zeros(3)),
        lambda stamp, heading: writers.odometry(stamp, np.zeros(3), heading),
    ],
)
def test_heading_topic_of_dual_antenna_receiver_is_read(tmp_path, make):
    messages = [make(stamp + 1000, heading) for stamp, heading in zip(STAMPS, HEADINGS)]
    path = bag(tmp_path, heading=messages)
    samples = read_reference_samples(path, topic="/fix", heading_topic="/heading")
    assert np.array_equal(samples.matrix(("qx", "qy", "qz", "qw")), HEADINGS)


@pytest.mark.parametrize("changes", [True, False])
def test_recorded_yaw_variance_is_ignored_if_constant(changes):
    times, positions, _, yaw = truth()
    deviation = np.full(COUNT, 0.02) + changes * 1e-4 * np.arange(COUNT)
    columns = {"stamp": times, "x": positions[:, 0], "y": positions[:, 1], "yaw": yaw}
    table, report = reference_table(lines(**columns, yaw_variance=deviation**2))
    is_rejected = any("therefore not an estimate" in remark for remark in report.remarks)
    assert is_rejected != changes and (REFERENCE_ERROR[0] in table) == changes
    if changes:
        assert table["yaw_std"].to_numpy() == pytest.approx(deviation)
        assert set(table["yaw_lag"]) == {0.0}
    settings = FixSettings(yaw_deviation=0.05, turn_error=0.02)
    table, _ = reference_table(lines(**columns), settings=settings)
    assert set(table["yaw_std"]) == {0.05} and set(table["turn_error"]) == {0.02}
    assert "turn_slip" not in table
    table, _ = reference_table(lines(**columns), settings=FixSettings(turn_slip=0.04))
    assert set(table["turn_slip"]) == {0.04} and ReferenceError.from_poses(table).slip == 0.04


def test_reference_error_columns_describe_course_and_antenna_heading():
    table, _ = reference_table(samples())
    assert list(table.columns[-4:]) == list(REFERENCE_ERROR)
    assert set(table["yaw_lag"]) == {FixSettings().course_lag}
    _, _, _, yaw = truth()
    noisy = yaw + np.radians(1.0) * np.random.default_rng(3).standard_normal(COUNT)
    table, _ = reference_table(samples(0.01, position_error=np.full(COUNT, 0.02), yaw=noisy))
    # Interpolation to the trajectory's rate reduces the variance of headings to 2/3.
    assert np.sqrt(2.0 / 3.0) < np.degrees(table["yaw_std"]).median() < 1.2


def test_missing_positions_are_not_read_as_zero():
    nowhere = np.full(5, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_missing_fix(nowhere, nowhere).any()
        assert not is_missing_fix(np.zeros(5), np.zeros(5)).any()
    assert is_missing_fix(np.array([0.0, 48.0, 48.0]), np.array([0.0, 11.0, 11.0])).tolist() == [
        1,
        0,
        0,
    ]
