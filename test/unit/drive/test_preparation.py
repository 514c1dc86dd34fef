"""Preparation of a drive: the trajectory to follow, and the recorded reference."""

import numpy as np
import pytest
import recording_writers as writers
from drive_recordings import yaw_at

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import (
    ConfigurationError,
    RecordingError,
    TrajectoryError,
)
from imu_simulation_framework.core.files import default_configuration_path
from imu_simulation_framework.drive.experiment.robot import experiment_robot
from imu_simulation_framework.drive.prepared_drive import prepare_drive
from imu_simulation_framework.drive.recorded_drive.imu import coverage_remark, prepare_recorded_imu
from imu_simulation_framework.drive.recorded_drive.sources import drive_name
from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.drive.session.driving import DriveToFollow
from imu_simulation_framework.drive.session.preparation import PreparationSession

EPOCH = 1.6e9
NOISE = np.radians(2.0)


@pytest.fixture
def prepared(tmp_path):
    """Return a function that writes columns to a CSV file and prepares a drive from it."""

    def prepare(columns, **sections):
        path = tmp_path / "drive.csv"
        writers.write_csv(path, {name: values.tolist() for name, values in columns.items()})
        (tmp_path / "config.ini").write_text("")
        overrides = {"recording": {"path": str(path)}, **sections}
        configuration = isf.load_configuration(tmp_path / "config.ini", overrides)
        return path, prepare_drive(configuration)

    return prepare


def recorded(noise=NOISE, seed=1):
    """Return poses at irregular stamps with a mean rate of 10 Hz."""
    generator = np.random.default_rng(seed)
    times = np.cumsum(generator.uniform(0.05, 0.15, 600))
    yaw = yaw_at(times)
    steps = 0.5 * np.gradient(times)
    return {
        "time": EPOCH + times,
        "x": np.cumsum(steps * np.cos(yaw)),
        "y": np.cumsum(steps * np.sin(yaw)),
        "yaw": yaw + noise * generator.standard_normal(len(times)),
    }


def test_drive_shorter_than_control_period_is_rejected_with_file_name(prepared):
    columns = {name: values[:20] for name, values in recorded().items()}
    columns["time"] = EPOCH + 2e-7 * np.arange(20)  # shorter than a control period
    with pytest.raises(TrajectoryError, match=r"drive\.csv: trajectory lasts"):
        prepared(columns)


def test_imu_is_evaluated_against_recorded_reference(prepared):
    columns = recorded()
    _, drive = prepared(
        columns,
        trajectory={"start": 10.0, "stop": 40.0, "smoothing_window": 2.0, "check_limits": False},
    )
    reference = drive.reference
    stamps = reference.index.to_numpy() + drive.start
    rows = np.searchsorted(columns["time"], stamps - 1e-3)
    # Between its ends, the reference has exactly the stamps of the recording.
    assert np.all(np.diff(rows) == 1)
    np.testing.assert_allclose(columns["time"][rows], stamps, atol=1e-6)
    for name in ("x", "y", "yaw"):
        np.testing.assert_allclose(reference[name], columns[name][rows], atol=1e-12)
    # The reference can be interpolated from the first to the last pose of the drive.
    assert reference.index[0] <= 0.0 < reference.index[1]
    assert reference.index[-2] < drive.trajectory.index[-1] <= reference.index[-1] + 1e-9
    assert drive.start - columns["time"][0] == pytest.approx(10.0, abs=0.2)
    assert drive.stop - drive.start == pytest.approx(30.0, abs=0.2)


def test_cropping_drive_does_not_change_required_wheel_velocities(prepared):
    # Position noise, typical of GNSS fixes or of wheels on gravel, with little smoothing.
    columns = recorded()
    generator = np.random.default_rng(2)
    columns["x"] += 0.05 * generator.standard_normal(len(columns["x"]))
    settings = {"smoothing_window": 0.8, "check_limits": False}
    _, whole = prepared(columns, trajectory=settings)
    wheels = ["v", "yaw_rate", "left", "right"]
    for stop in (3.0, 17.0, 29.0, 41.0):
        _, cut = prepared(columns, trajectory={**settings, "stop": stop})
        common_part = whole.trajectory.iloc[: len(cut.trajectory)]
        np.testing.assert_allclose(cut.trajectory[wheels], common_part[wheels], rtol=0.0, atol=1e-6)


def test_path_shift_from_smoothing_is_reported_with_remark_if_large(prepared):
    path, drive = prepared(recorded(), trajectory={"smoothing_window": 2.0, "check_limits": False})
    smoothing = drive.report["smoothing"]
    # A local fit over 20 samples removes most of the white noise, so the shift has nearly the
    # standard deviation of the noise. Its estimate has a relative standard error of
    # 1 / sqrt(2 n) = 3 %, and the remaining noise of the fit (Cleveland's weights, degree 2)
    # reduces the variance of the shift by about a sixth.
    assert smoothing["yaw_rms"] == pytest.approx(NOISE, rel=0.2)
    assert smoothing["yaw_maximum"] > smoothing["yaw_rms"]
    table = isf.read_reference(path).table
    assert len(table) == 600
    (remark,) = drive.smoothing_remarks
    assert f"by {np.degrees(smoothing['yaw_rms']):.2f} deg rms" in remark
    assert "evaluated against the reference as recorded" in remark
    _, drive = prepared(
        recorded(noise=0.0), trajectory={"smoothing_window": 0.5, "check_limits": False}
    )
    assert drive.smoothing_remarks == ()
    assert drive.report["smoothing"]["yaw_rms"] < np.radians(0.1)
    assert len(drive.reference) == 600
    assert drive.reference.index[0] == 0.0


def test_path_shift_from_rolling_conversion_is_reported_and_reference_is_unchanged(prepared):
    settings = {"smoothing_window": 0.8, "check_limits": False}
    columns = recorded(noise=0.0)
    columns["y"] = columns["y"] + 0.2 * np.sin(2.0 * np.pi * columns["time"])
    _, followed = prepared(columns, trajectory=settings)
    _, rolling = prepared(columns, trajectory={**settings, "rolling": True})
    assert "rolling" not in followed.report
    assert rolling.reference.equals(followed.reference)
    displacements = rolling.trajectory[["x", "y"]] - followed.trajectory[["x", "y"]]
    rms = np.sqrt(np.mean(np.sum(displacements.to_numpy() ** 2, axis=1)))
    assert rolling.report["rolling"]["position_rms"] == pytest.approx(rms, rel=1e-9)
    assert rms > 0.05
    assert any(remark.startswith("rolling changes the yaw") for remark in rolling.smoothing_remarks)


def test_reference_from_positions_marks_intervals_of_known_heading(prepared):
    generator = np.random.default_rng(1)
    times = np.arange(0.0, 100.0, 0.2)
    # The robot stops for twenty seconds between long moving intervals.
    moving = (times < 40.0) | (times > 60.0)
    speed = 2.0 * moving
    yaw = yaw_at(np.cumsum(0.2 * moving))
    columns = {
        "time": EPOCH + times,
        "x": np.cumsum(0.2 * speed * np.cos(yaw)) + 0.02 * generator.standard_normal(500),
        "y": np.cumsum(0.2 * speed * np.sin(yaw)) + 0.02 * generator.standard_normal(500),
    }
    _, drive = prepared(columns, trajectory={"check_limits": False})
    known = drive.reference["yaw_known"]
    assert set(known.unique()) == {0.0, 1.0}
    assert (known.loc[5.0:38.0] == 1.0).all()
    assert (known.loc[44.0:56.0] == 0.0).all()
    true = np.interp(known.index, times, yaw)
    error = (drive.reference["yaw"] - true)[known == 1.0]
    error -= error.median()
    # The expected heading error is that of the report.
    expected = np.radians(drive.report["positioning"]["heading_deviation_deg"])
    assert np.sqrt(np.mean(error**2)) < 2.0 * expected
    assert "yaw_known" not in drive.trajectory
    # The fixes are translated, rotated and scaled together with the trajectory.
    _, half = prepared(columns, trajectory={"check_limits": False, "scale": 0.5})
    for made in (drive, half):
        fixes, path = made.fixes, made.trajectory
        apart = np.hypot(
            *(np.interp(fixes.index, path.index, path[name]) - fixes[name] for name in "xy")
        )
        assert np.sqrt(np.mean(apart**2)) < 0.1
        assert list(fixes.columns) == ["x", "y"]


def test_drive_name_from_generic_file_name_includes_folder(tmp_path):
    config = tmp_path / "config.ini"
    config.write_text("")

    def name(**settings):
        return drive_name(isf.load_configuration(config, settings, tmp_path))

    assert name(recording={"path": "monday/gps.csv.gz"}) == "monday_gps"
    assert name(recording={"path": "rosbag2_05_16/rosbag2_05_16_0.db3"}) == "rosbag2_05_16_0"
    assert name(reference={"path": "/gps.csv"}) == "gps"
    assert name(recording={"path": "gps.csv"}, experiment={"name": "mine"}) == "mine"
    assert name(recording={"drive": "a"}) == "trajectory_a"


def test_imu_covering_only_part_of_drive_is_reported():
    times = np.arange(100.0, 150.0, 0.1)
    remark = coverage_remark("imu.csv", times, 90.0, 190.0)
    assert "50 % of the trajectory, from 10.0 to 59.9 of 100.0 s" in remark
    assert coverage_remark("imu.csv", times, 100.0, 149.9) is None


def test_imu_without_time_overlap_is_rejected_with_both_intervals(tmp_path):
    path = tmp_path / "imu.csv"
    times = np.arange(100.0, 150.0, 0.1)
    writers.write_csv(path, {"time": times.tolist(), "yaw": yaw_at(times).tolist()})
    (tmp_path / "config.ini").write_text("[imu_recording]\npath = imu.csv\n")
    configuration = isf.load_configuration(tmp_path / "config.ini", {}, tmp_path)
    assert prepare_recorded_imu(configuration, 110.0, 120.0).table.index[-1] > 9.8
    with pytest.raises(RecordingError, match=r"imu\.csv") as caught:
        prepare_recorded_imu(configuration, 160.0, 190.0)
    for time in (times[0], times[-1], 160.0, 190.0):
        assert f"{time:.3f}" in str(caught.value)


def configure_single_lap(folder):
    overrides = {"recording": {"drive": "a", "laps": 1}, "experiment": {"output": str(folder)}}
    return isf.load_configuration(default_configuration_path(), overrides)


def test_stored_preparation_matches_new_preparation(tmp_path):
    configuration = configure_single_lap(tmp_path)
    text = configuration.to_ini()
    preparation, folder = PreparationSession(), ResultFolder(tmp_path, "prepared")
    preparation.keep(configuration, folder)
    written = ResultFolder(tmp_path, "written")
    expected = preparation.read(configuration)
    preparation.write(written)
    assert DriveToFollow.load(folder, text.replace("seed = 1", "seed = 2")) is None
    drive = DriveToFollow.load(folder, text)
    assert vars(drive.reference) == vars(expected.reference)
    for name in ("name", "start", "stop", "length"):
        assert getattr(drive, name) == getattr(expected, name)
    assert [*map(list, expected.read)] == drive.read
    for path in tmp_path.glob("written_*"):
        kept = tmp_path / path.name.replace("written", "prepared")
        assert kept.read_bytes() == path.read_bytes()
    assert len(list(tmp_path.glob("prepared_*"))) == len(list(tmp_path.glob("written_*"))) > 3
    # The stored preparation can be loaded only once.
    assert DriveToFollow.load(folder, text) is None


def test_preparation_that_could_not_be_stored_is_not_loaded(tmp_path):
    configuration = configure_single_lap(tmp_path)
    folder = ResultFolder(tmp_path / "missing", "prepared")
    PreparationSession().keep(configuration, folder)
    assert DriveToFollow.load(folder, configuration.to_ini()) is None


def test_missing_recording_is_reported_with_configuration_file_that_contains_it(tmp_path):
    file = tmp_path / "mine.ini"
    file.write_text("[recording]\npath = absent.bag\n")
    location = rf"mine\.ini: \[recording\] path: {tmp_path}/absent\.bag: no such file"
    with pytest.raises(RecordingError, match=location):
        prepare_drive(isf.load_configuration(file))
    file.write_text("[recording]\npath = /dev/null\n")
    with pytest.raises(RecordingError, match=r"mine\.ini: .*/dev/null: it is a device"):
        prepare_drive(isf.load_configuration(file))
    overrides = {"recording": {"path": str(tmp_path / "other.bag")}}
    with pytest.raises(RecordingError, match=rf"^{tmp_path}/other\.bag: no such file"):
        prepare_drive(isf.load_configuration(file, overrides))


def test_missing_robot_file_is_reported_with_configuration_file_that_contains_it(tmp_path):
    file = tmp_path / "mine.ini"
    file.write_text("[robot]\nparameters = absent.yaml\n")
    location = rf"mine\.ini: \[robot\] parameters: {tmp_path}/absent\.yaml: no such file"
    with pytest.raises(ConfigurationError, match=location):
        experiment_robot(isf.load_configuration(file))
