"""Set-up of recordings without a configuration: inferred settings, and the written config.ini."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.drive.configuration import is_default, load_configuration, paths_of
from imu_simulation_framework.drive.recorded_drive.check import check_configured_recording
from imu_simulation_framework.drive.recorded_drive.setup import RecordingSetup, config_text, set_up
from imu_simulation_framework.recordings.columns import find_columns
from imu_simulation_framework.recordings.formats.any_format import likely_topics
from imu_simulation_framework.recordings.messages import IMU_TYPES, REFERENCE_TYPES
from imu_simulation_framework.recordings.plausibility.findings import Finding

ODOMETRY, POSE = "nav_msgs/Odometry", "geometry_msgs/PoseStamped"
FIX, IMU = "sensor_msgs/NavSatFix", "sensor_msgs/Imu"


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        ({"/odom": (ODOMETRY, 9), "/fix": (FIX, 9)}, ["/odom", "/fix"]),
        # Ground truth has priority, and poses fused with the evaluated IMU come last.
        (
            {
                "/odometry/filtered": (ODOMETRY, 9),
                "/amcl_pose": (POSE, 9),
                "/vicon/robot": (POSE, 9),
            },
            ["/vicon/robot", "/amcl_pose", "/odometry/filtered"],
        ),
        ({"/wheel_odom": (ODOMETRY, 9), "/slam": (ODOMETRY, 9)}, ["/wheel_odom", "/slam"]),
        ({"/odom": (ODOMETRY, 0), "/fix": (FIX, 1)}, ["/fix"]),
        ({"/imu": (IMU, 9), "/scan": ("sensor_msgs/LaserScan", 9)}, []),
        ({}, []),
    ],
)
def test_likely_reference_topics_are_listed_first(topics, expected):
    found = likely_topics(topics, REFERENCE_TYPES)
    assert sorted(found) == sorted(expected)
    assert found[:1] == expected[:1]
    fused = [name for name in found if "filtered" in name or "amcl" in name]
    assert found[len(found) - len(fused) :] == fused


def test_imu_topic_with_orientation_is_listed_first():
    topics = {"/imu/data_raw": (IMU, 9), "/imu/data": (IMU, 9), "/odom": (ODOMETRY, 9)}
    assert likely_topics(topics, IMU_TYPES) == ["/imu/data", "/imu/data_raw"]


@pytest.mark.parametrize(
    ("section", "key", "text", "default"),
    [
        ("reference", "frame", "enu", True),
        ("reference", "frame", "ned", False),
        ("imu_recording", "use", "true", True),
        ("imu_recording", "time_offset", "0.5", False),
        ("reference_columns", "yaw", "", True),
        ("nowhere", "key", "1", False),
    ],
)
def test_default_value_of_key_is_recognised(section, key, text, default):
    assert is_default(section, key, text) is default


def test_written_config_contains_changed_settings_with_reasons(tmp_path):
    base = tmp_path / "base" / "config.ini"
    base.parent.mkdir()
    base.write_text(
        "[recording]\npath = log.csv\n[reference]\nframe = enu\nminimum_speed = 0.4\n"
        "[reference_columns]\ntime = t [s]\n"
    )
    setup = RecordingSetup(str(base))
    setup.set("reference", format="csv")
    setup.set("reference_columns", x="east [m]")
    findings = [
        Finding("mirrored yaw", "it turns", settings=(("imu_recording", "frame", "ned"),)),
        Finding("shifted clock", "late", settings=(("imu_recording", "time_offset", "-0.50"),)),
        Finding("slip", "slips", "buy better tyres"),
    ]
    text = config_text(setup, findings, tmp_path)
    lines = text.splitlines()
    assert "frame = enu" not in lines
    assert lines[lines.index("frame = ned") - 1] == "# mirrored yaw: it turns"
    assert lines[lines.index("time_offset = -0.50") - 1] == "# shifted clock: late"
    assert "tyres" not in text
    (tmp_path / "config.ini").write_text(text)
    read = load_configuration(tmp_path / "config.ini")
    assert Path(read.recording.path).resolve() == base.parent / "log.csv"
    assert (read.reference.format, read.reference.minimum_speed) == ("csv", 0.4)
    assert (read.imu_recording.frame, read.imu_recording.time_offset) == ("ned", -0.5)
    assert read.columns["reference_columns"] == {"time": "t [s]", "x": "east [m]"}
    (tmp_path / "config.ini").write_text("")
    findings = [
        Finding("a", "first", settings=(("imu_recording", "time_offset", "5.0"),)),
        Finding("b", "second", settings=(("imu_recording", "time_offset", "5.3"),)),
    ]
    text = config_text(RecordingSetup(str(tmp_path / "config.ini")), findings, tmp_path)
    assert text.count("time_offset") == 1
    assert "# b: second\ntime_offset = 5.3\n" in text


@pytest.mark.parametrize(("format_name", "file"), [("", "imu.yaml"), ("sdf:", "imu.sdf")])
def test_relative_paths_in_configuration_are_resolved(tmp_path, format_name, file):
    config = tmp_path / "config.ini"
    imu = f"[imu_specification]\nfile = {format_name}{file}\n"
    config.write_text(f"[recording]\npath = drive.bag\n{imu}")
    configuration = load_configuration(config, working_directory=tmp_path)
    assert configuration.imu_specification.file == f"{format_name}{tmp_path / file}"
    assert paths_of(configuration) == {
        ("recording", "path"): ("", str(tmp_path / "drive.bag")),
        ("imu_specification", "file"): (format_name, str(tmp_path / file)),
        ("experiment", "output"): ("", str(tmp_path / "experiment_results")),
    }
    checked = config_text(RecordingSetup(str(config)), [], tmp_path / "check_drive")
    assert f"file = {format_name}../{file}\n" in checked


def test_orientation_in_file_with_positions_is_attributed_to_imu(tmp_path):
    times = np.arange(0.0, 60.0, 0.2)
    yaw = 0.1 * times
    table = {
        "t_s": times,
        "lat_deg": 45.0 + 1e-5 * np.cumsum(np.sin(yaw)),
        "lon_deg": 7.0 + 1e-5 * np.cumsum(np.cos(yaw)) / np.cos(np.radians(45.0)),
        "yaw_rad": np.pi / 2 - yaw,
    }
    path = tmp_path / "ins.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    columns = find_columns(path, "imu_recording").columns
    assert columns == {"time": "t_s [s]", "yaw": "yaw_rad [rad cw from north]"}
    columns = find_columns(path, "reference").columns
    assert columns["latitude"] == "lat_deg [deg]"


def test_file_with_only_orientation_is_reference_for_imu_in_another_file(tmp_path):
    times = np.arange(0.0, 60.0, 0.02)
    yaw = np.sin(0.3 * times)
    compass = {"timestamps": times, "heading_deg": np.degrees(np.pi / 2.0 - yaw)}
    pd.DataFrame(compass).to_csv(tmp_path / "compass.csv", index=False)
    rates = {"wx": 0.0 * times, "wy": 0.0 * times, "wz": np.gradient(yaw, times)}
    pd.DataFrame({"time_s": times, **rates}).to_csv(tmp_path / "imu.csv", index=False)
    config = tmp_path / "config.ini"
    config.write_text("[imu_columns]\ntime = time_s\ngyro_z = wz\n")
    paths = [str(tmp_path / name) for name in ("compass.csv", "imu.csv")]
    check = check_configured_recording(set_up(config, *paths).load())
    assert check.problems == []
    assert check.reference.table["yaw"].to_numpy() == pytest.approx(yaw, abs=1e-9)
    assert not check.reference.table[["x", "y"]].any(axis=None)
    assert "the reference has no positions: it is assumed to turn on the spot" in check.remarks
    # With a single file, the orientation would be compared with itself.
    alone = check_configured_recording(set_up(config, paths[0]).load())
    assert "expected time and x y yaw" in alone.problems[0]


def test_odometry_with_rates_next_to_imu_file_is_not_used_as_imu(tmp_path):
    times = np.arange(0.0, 60.0, 0.05)
    yaw = np.sin(0.3 * times)
    odometry = {
        "s": times // 1.0,
        "ns": np.rint(1e9 * (times % 1.0)),
        "x": np.cumsum(0.05 * np.cos(yaw)),
        "y": np.cumsum(0.05 * np.sin(yaw)),
        "wx": 0.0 * times,
        "wy": 0.0 * times,
        "wz": np.gradient(yaw, times),
        "q.x": 0.0,
        "q.y": 0.0,
        "q.z": np.sin(0.5 * yaw),
        "q.w": np.cos(0.5 * yaw),
    }
    pd.DataFrame(odometry).to_csv(tmp_path / "odom.csv")
    columns = find_columns(tmp_path / "odom.csv", "reference", orientation=True).columns
    assert columns["qz"] == "q.z [1]" and columns["x"] == "x [m]"
    columns, reasons, *_ = find_columns(tmp_path / "odom.csv", "reference", shared=True)
    assert "qz" not in columns and any("may belong to the IMU" in reason for reason in reasons)


@pytest.mark.parametrize("place", ["latitude longitude", "x y"])
def test_orientation_of_imu_is_not_used_for_reference(tmp_path, place):
    times = np.arange(0.0, 120.0, 0.1)
    yaw = 2.0 * np.sin(0.2 * times)
    north, east = (np.cumsum(0.5 * wave(yaw)) for wave in (np.sin, np.cos))
    positions = {
        "latitude": 45.0 + np.degrees(north / 6.37e6),
        "longitude": 7.0 + np.degrees(east / 6.37e6) / np.cos(np.radians(45.0)),
        "x": east,
        "y": north,
    }
    # The file has this package's column names, and an orientation that is inconsistent with the
    # course of the positions.
    table = {
        "time": times,
        **{name: positions[name] for name in place.split()},
        "qx": 0.0,
        "qy": 0.0,
        "qz": np.sin(0.5 * yaw + 0.001 * times),
        "qw": np.cos(0.5 * yaw + 0.001 * times),
        "gyro_z": np.gradient(yaw, times),
    }
    pd.DataFrame(table).to_csv(tmp_path / "phone.csv", index=False)
    (tmp_path / "config.ini").write_text("")
    check = check_configured_recording(
        set_up(tmp_path / "config.ini", str(tmp_path / "phone.csv")).load()
    )
    assert check.reference is not None and not check.problems
    at = check.reference.table.index.to_numpy()
    apart = check.reference.table["yaw"] - 2.0 * np.sin(0.2 * at)
    assert np.std(apart[(at > at[0] + 5.0) & (at < at[-1] - 5.0)]) < np.radians(2.0)
    assert "yaw_known" in check.reference.table  # the yaw is the course


def test_raw_counts_in_custom_columns_are_reported_as_problem(tmp_path):
    times = np.arange(0.0, 60.0, 0.05)
    yaw = 2.0 * np.sin(0.2 * times)
    noise = np.random.default_rng(1).standard_normal((len(times), 3))
    counts = 16384.0 * np.array([0.0, 0.0, 1.0]) + 30.0 * noise
    table = {
        "time": times,
        "x": np.cumsum(0.2 * np.cos(yaw)),
        "y": np.cumsum(0.2 * np.sin(yaw)),
        **{f"gyro_{a} [rad/s]": 0.01 * noise[:, k] for k, a in enumerate("xy")},
        "gyro_z [rad/s]": np.gradient(yaw, times),
        **{f"accel_{a}": np.rint(counts[:, k]) for k, a in enumerate("xyz")},
    }
    pd.DataFrame(table).to_csv(tmp_path / "counts.csv", index=False)
    (tmp_path / "config.ini").write_text("")
    check = check_configured_recording(
        set_up(tmp_path / "config.ini", str(tmp_path / "counts.csv")).load()
    )
    assert any("accel_x = accel_x / 16384 [g]" in problem for problem in check.problems)
