import math
import os
import re
from pathlib import Path

import drive_recordings as drives
import numpy as np
import pandas as pd
import pytest
import recording_writers as writers
import yaml
from column_tables import TIME, Car
from injected_faults import (
    QUATERNION,
    clockwise_from_north,
    scalar_first,
    scaled,
    shifted,
)
from tool_calls import PNG, assert_success, call_tool, run_as_process

from imu_simulation_framework.core import whole_files
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.recordings.plausibility import findings as faults

TOOL = "check_recording.py"
USABLE = "usable: "


@pytest.fixture
def undrawn(monkeypatch):
    """Write empty figures, since drawing takes most of the time of a call."""
    monkeypatch.setattr(whole_files, "render_figure", lambda *_: PNG)


def check(*arguments):
    """Call check_recording.py; return the exit code, and the completed call with its output."""
    done = call_tool(TOOL, *arguments)
    return done.returncode, done


def written_config(out):
    """Return the path of the written config.ini, after checking the figure in its folder."""
    assert (out / "recording.png").read_bytes().startswith(PNG)
    return out / "config.ini"


def test_recording_without_faults_is_reported_as_usable(tmp_path):
    bag = drives.write_bag(tmp_path / "drive.bag", *drives.drive())
    done = run_as_process(TOOL, "drive.bag", "--report", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert USABLE in done.stdout
    assert "/odom (nav_msgs/Odometry), 2000 samples" in done.stdout
    assert "/imu (sensor_msgs/Imu), 5000 samples" in done.stdout
    assert "if /odom is wheel odometry, the yaw error also includes the slip" in done.stdout
    out = tmp_path / "check_drive"
    assert done.stdout.splitlines()[-4:] == [
        "check_drive/recording.png",
        "check_drive/config.ini",
        "check_drive/recording.html",
        "usable: run_experiment.py config:=check_drive/config.ini",
    ]
    configuration = load_configuration(written_config(out))
    assert Path(configuration.recording.path).resolve() == bag.resolve()
    assert configuration.experiment.name == f"{tmp_path.name}_drive"
    files = {"recording.png", "recording.html", "config.ini"}
    assert {path.name for path in out.iterdir()} == files
    page = (out / "recording.html").read_text()
    assert "usable: run_experiment.py" in page and "turns by" in page


@pytest.mark.usefixtures("undrawn")
def test_columns_without_unit_are_written_as_commented_lines(tmp_path):
    # A hand-held phone is neither stationary nor turning fast, so the magnitude of its rates does
    # not reveal their unit.
    car = Car()
    rates = car.rates + np.random.default_rng(3).normal(0.0, 0.1, car.rates.shape)
    columns = {"t": TIME, "x": 0.1 * car.east, "y": 0.1 * car.north}
    columns.update(zip(("ax", "ay", "az", "gx", "gy", "gz"), np.hstack([car.forces, rates]).T))
    path, out = tmp_path / "drive.csv", tmp_path / "out"
    pd.DataFrame(columns).to_csv(path, index=False)
    code, done = check(str(path), "--out", str(out))
    assert code == 2 and "gyro_z" in done.stderr
    config = out / "config.ini"
    assert load_configuration(config).columns["imu_columns"].keys() == {
        *("time", "accel_x", "accel_y", "accel_z"),
    }
    config.write_text(re.sub(r"# (gyro_. = .*\[rad/s\])", r"\1", config.read_text()))
    code, done = check("--config", str(config), "--out", str(tmp_path / "again"))
    assert code == 0 and USABLE in done.stdout


@pytest.mark.usefixtures("undrawn")
def test_layout_option_maps_unknown_columns(tmp_path):
    car = Car()
    columns = {"tick": np.rint(1e3 * TIME), "x": 0.1 * car.east, "y": 0.1 * car.north}
    columns.update(zip("uvwabc", np.hstack([np.degrees(car.rates), car.forces]).T))
    path, layout = tmp_path / "drive.csv", tmp_path / "mine.yaml"
    pd.DataFrame(columns).to_csv(path, index=False)
    vectors = {
        **{f"gyro_{axis}": f"{name} [deg/s]" for axis, name in zip("xyz", "uvw")},
        **{f"accel_{axis}": f"{name} [m/s^2]" for axis, name in zip("xyz", "abc")},
    }
    content = {
        "header": ["tick", "u", "a"],
        "imu_columns": {"time": "tick [ms]", **vectors},
        "reference_columns": {"time": "tick [ms]", "x": "x [m]", "y": "y [m]"},
    }
    layout.write_text(yaml.safe_dump(content))
    done = assert_success(call_tool(TOOL, path, "--layout", layout, "--out", tmp_path / "out"))
    assert "by the layout mine" in done.stdout
    found = load_configuration(tmp_path / "out" / "config.ini").columns
    assert found["imu_columns"] == content["imu_columns"]
    assert found["reference_columns"] == content["reference_columns"]


@pytest.mark.usefixtures("undrawn")
def test_setting_on_command_line_is_applied_and_written_to_config(tmp_path):
    bag = drives.write_bag(tmp_path / "drive.bag", *drives.drive())
    setting = ("--setting", "reference/turn_slip=0.01")
    done = check(str(bag), *setting, "--out", str(tmp_path / "out"))[1]
    assert done.returncode == 0 and "wheel odometry" not in done.stdout
    assert load_configuration(written_config(tmp_path / "out")).reference.turn_slip == 0.01


@pytest.mark.usefixtures("undrawn")
def test_relative_paths_in_written_config_refer_to_same_files(tmp_path):
    drives.write_bag(tmp_path / "drive.bag", *drives.drive())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "robot.yaml").write_text("nothing that is read here")
    (tmp_path / "mine" / "config.ini").write_text(
        "[recording]\npath = ../drive.bag\n[imu_specification]\nfile = imu.yaml\n"
        "[experiment]\noutput = results\nname = mine\n"
    )
    assert check("config:=mine/config.ini", "out:=deep/er/out")[0] == 0
    configuration = load_configuration(tmp_path / "deep" / "er" / "out" / "config.ini")
    for path, place in (
        (configuration.recording.path, "drive.bag"),
        (configuration.imu_specification.file, "mine/imu.yaml"),
        (configuration.experiment.output, "mine/results"),
    ):
        assert os.path.realpath(path) == os.path.realpath(tmp_path / place)
    assert configuration.experiment.name == "mine"


@pytest.mark.parametrize(
    ("inject", "fault", "settings"),
    [
        (
            lambda r, i: (scalar_first(r), i),
            faults.QUATERNION_ORDER,
            ["[reference]", "quaternion_order = wxyz"],
        ),
        (
            lambda r, i: (r, shifted(clockwise_from_north(i), -2.0)),
            faults.SHIFTED_CLOCK,
            ["yaw_convention = cw_from_north", "time_offset = 2.0"],
        ),
    ],
)
def test_injected_fault_is_rejected_and_written_config_corrects_it(
    tmp_path, inject, fault, settings
):
    drives.write_bag(tmp_path / "drive.bag", *inject(*drives.drive()))
    code, printed = check("drive.bag", "out:=out")
    assert code == 3
    rejected = printed.stdout.split("rejected until it is corrected:")[1]
    assert f"  {fault}" in rejected and "to correct it: [" in rejected
    config = written_config(tmp_path / "out")
    text = config.read_text()
    assert all(setting in text for setting in [*settings, f"# {fault}"]), text
    code, printed = check(f"config:={config}", "out:=again")
    assert code == 0, printed.stdout
    assert USABLE in printed.stdout


def test_drive_too_fast_for_robot_is_scaled_down_in_written_config(tmp_path):
    drives.write_bag(tmp_path / "drive.bag", *drives.drive(speed=12.0))
    code, printed = check("drive.bag", "out:=out")
    assert code == 3
    assert "too fast for the robot: " in printed.stdout
    scale = load_configuration(written_config(tmp_path / "out")).trajectory.scale
    assert 0.01 < scale < 0.5
    assert check("config:=out/config.ini", "out:=again")[0] == 0


@pytest.mark.usefixtures("undrawn")
def test_columns_without_column_map_are_recognised(tmp_path):
    reference, imu = drives.drive()
    times = imu.columns["stamp"]
    x, y = (np.interp(times, reference.columns["stamp"], reference.columns[n]) for n in "xy")
    yaw = drives.yaw_at(times - drives.START)
    columns = {
        "Time (s)": times - drives.START,
        "pos_x [m]": x,
        "pos_y [m]": y,
        "gt_yaw (deg)": np.degrees(yaw),
        "imu_yaw (deg)": np.degrees(yaw),
        **{f"gyro{a} (deg/s)": np.degrees(imu.columns[f"gyro_{a.lower()}"]) for a in "XYZ"},
        **{f"acc{a} (g)": imu.columns[f"accel_{a.lower()}"] / 9.80665 for a in "XYZ"},
    }
    writers.write_csv(tmp_path / "log.csv", {n: v.tolist() for n, v in columns.items()})
    code, printed = check("log.csv", "out:=out")
    assert code == 0, printed.stdout
    assert "log.csv are chosen by name" in printed.stdout
    configuration = load_configuration(written_config(tmp_path / "out"))
    assert configuration.columns["reference_columns"]["yaw"] == "gt_yaw (deg) [deg]"
    assert configuration.columns["imu_columns"]["gyro_z"] == "gyroZ (deg/s) [deg/s]"
    assert configuration.columns["imu_columns"]["accel_x"] == "accX (g) [g]"
    code, printed = check("config:=out/config.ini", "out:=again")
    assert code == 0
    assert "chosen by name" not in printed.stdout


@pytest.mark.usefixtures("undrawn")
def test_two_files_and_run_experiment_arguments_are_accepted(tmp_path):
    reference, imu = drives.drive()
    empty = drives.drive()[1]
    bag = drives.write_bag(tmp_path / "drive.bag", reference, empty)
    turned = drives.write_bag(tmp_path / "imu.bag", reference, clockwise_from_north(imu))
    code, printed = check(bag, turned, "out:=out")
    assert code == 3
    assert faults.MIRRORED_YAW in printed.stdout
    configuration = load_configuration(tmp_path / "out" / "config.ini")
    assert Path(configuration.reference.path).resolve() == bag
    assert Path(configuration.imu_recording.path).resolve() == turned
    assert check(f"recording:={bag}", "out:=out")[0] == 0


def test_several_problems_are_reported_together(tmp_path):
    reference, imu = drives.drive()
    drives.write_bag(tmp_path / "drive.bag", reference, scaled(imu, QUATERNION, 3.0))
    (tmp_path / "my.ini").write_text(
        "[recording]\npath = drive.bag\n[reference]\ntopic = /nowhere\n"
    )
    code, printed = check("config:=my.ini", "out:=out")
    assert code == 2
    stops = printed.stdout.split("would stop an experiment:")[1]
    assert "/nowhere" in stops
    assert "the median norm of qx, qy, qz, qw is 3, expected 1" in stops
    # There is nothing to draw, but a config.ini is written.
    assert not (tmp_path / "out" / "recording.png").exists()
    assert load_configuration(tmp_path / "out" / "config.ini").reference.topic == "/nowhere"


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "no such file, expected a recording"), (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells")],
)
def test_invalid_recording_is_rejected_with_one_line_message(tmp_path, content, words):
    path = tmp_path / "file.csv"
    if content is not None:
        path.write_bytes(content)
    code, printed = check(path)
    assert (code, printed.stderr.count("\n")) == (2, 1) and printed.stderr.startswith(TOOL)
    sentences = (printed.stdout + printed.stderr).splitlines()
    assert sum(words in sentence for sentence in sentences) == 1
    assert not (tmp_path / "check_file").exists()


def test_bundled_drive_has_no_findings():
    code, printed = check("out:=out")
    assert code == 0, printed.stdout
    assert USABLE in printed.stdout


@pytest.mark.usefixtures("undrawn")
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("column", [0, 1, 3], ids=["time", "x", "yaw"])
def test_denormal_numbers_are_treated_as_zero(column):
    """Quotients of denormal numbers would overflow."""
    header = "time [s],x [m],y [m],yaw [rad]"
    time = np.arange(0.0, 60.0, 0.1)
    track = np.column_stack([time, np.cos(0.2 * time), np.sin(0.2 * time), 0.2 * time])
    np.savetxt("imu.csv", track[:, [0, 3]], delimiter=",", header="time [s],yaw [rad]", comments="")
    outputs = []
    for size in (1e-310, 0.0):
        track[:, column] *= size
        np.savetxt("track.csv", track, delimiter=",", header=header, comments="", fmt="%.17g")
        done = call_tool("check_recording.py", "track.csv", "imu.csv")
        outputs.append((done.returncode, done.stdout, done.stderr))
    assert outputs[0] == outputs[1]


def write_gpx(path):
    """Write the GPX track of a receiver on an S-shaped path of 60 m in two minutes."""
    points, x, y = [], 0.0, 0.0
    for second in range(120):
        heading = 0.8 * math.sin(2.0 * math.pi * second / 60.0)
        x, y = x + 0.5 * math.cos(heading), y + 0.5 * math.sin(heading)
        latitude, longitude = 48.0 + math.degrees(y / 6.371e6), 11.0 + math.degrees(x / 4.263e6)
        time = f"2026-05-01T10:{second // 60:02d}:{second % 60:02d}Z"
        points.append(
            f'<trkpt lat="{latitude:.9f}" lon="{longitude:.9f}"><ele>500</ele>'
            f"<time>{time}</time></trkpt>"
        )
    path.write_text(
        '<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><trk>'
        f"<trkseg>{''.join(points)}</trkseg></trk></gpx>"
    )


def test_track_without_imu_is_usable_with_imu_disabled_in_config(tmp_path):
    write_gpx(tmp_path / "track.gpx")
    done = assert_success(call_tool(TOOL, tmp_path / "track.gpx", "--out", tmp_path / "out"))
    last = done.stdout.splitlines()[-1]
    assert last.startswith("usable") and "no recorded IMU" in last
    (length,) = re.findall(r"the reference covers ([\d.]+) m", done.stdout)
    assert float(length) == pytest.approx(59.5, rel=0.02)
    configuration = load_configuration(tmp_path / "out" / "config.ini")
    assert configuration.imu_recording.use is False
    config, out = tmp_path / "out" / "config.ini", tmp_path / "again"
    again = assert_success(call_tool(TOOL, "--config", config, "--out", out))
    assert again.stdout.splitlines()[-1].startswith("usable")
