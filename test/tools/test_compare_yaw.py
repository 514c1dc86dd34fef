"""Tests of the command-line program compare_yaw.py."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tool_calls import PNG, assert_refused, assert_success, call_tool
from written_results import drive_recordings as drives
from written_results import make_tables, write_result

from imu_simulation_framework.drive.results.files import tum_text
from imu_simulation_framework.heading.yaw_comparison import ComparisonSettings, compare_yaw
from imu_simulation_framework.recordings.plausibility.findings import NOT_INDEPENDENT


@pytest.fixture(scope="module")
def tables():
    return make_tables(40.0)


run = partial(call_tool, "compare_yaw.py")


def compared(*arguments):
    """Return the table, indexed by signal name, and the standard output of a successful call."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("compare_yaw/compare_yaw.png").read_bytes().startswith(PNG)
    return pd.read_csv("compare_yaw/compare_yaw.csv", index_col=0), done.stdout


def write_csv(name, table):
    table.to_csv(name)
    return name


def write_tum(name, table, offset=0.0):
    Path(name).write_text(tum_text(table.index + offset, table["x"], table["y"], table["yaw"]))
    return name


def statistics_of(imu, truth):
    return compare_yaw(imu["yaw"], truth["yaw"], ComparisonSettings()).statistics


def test_yaw_signals_of_result_are_compared_with_reference_or_specified_table(tmp_path, tables):
    folder = write_result(tmp_path / "results", tables=tables)
    table, _ = compared(folder.folder)
    assert list(table.index) == ["recorded IMU", "simulator's truth", "simulated IMU"]
    expected = statistics_of(tables.imu_real, tables.reference)
    row = table.loc["recorded IMU"]
    assert row["rms [deg]"] == pytest.approx(np.degrees(expected.rms), rel=1e-9)
    assert row["final [deg]"] == pytest.approx(np.degrees(expected.final), rel=1e-9)
    assert row["drift [deg/min]"] == pytest.approx(60 * np.degrees(expected.drift), rel=1e-9)
    assert row["duration [s]"] == pytest.approx(40.0, abs=0.02)
    table, _ = compared(f"{folder.folder}@ground_truth", f"{folder.prefix_path}@imu_simulated")
    expected = statistics_of(tables.imu_simulated, tables.ground_truth)
    assert table["rms [deg]"].tolist() == pytest.approx([np.degrees(expected.rms)], rel=1e-9)


def test_bag_csv_and_tum_are_compared_in_one_table(tables):
    drives.write_bag("drive.bag", *drives.drive())
    table, printed = compared("drive.bag", "drive.bag@/imu", "drive.bag@odom", "--report")
    page = Path("compare_yaw/compare_yaw.html").read_text()
    assert "<h1>Comparison of yaws" in page and "drive.bag /imu (1)" in page
    assert list(table.index) == ["drive.bag /imu (1)", "drive.bag /imu (2)", "drive.bag odom"]
    # By default, the program uses the topic /imu.
    assert table["rms [deg]"].iloc[0] == table["rms [deg]"].iloc[1]
    assert table.loc["drive.bag odom", "rms [deg]"] == 0.0
    assert "samples in use" in printed
    assert "drive.bag /odom: " in printed

    # The settings of a configuration apply to its recording.
    Path("drive.ini").write_text(
        "[recording]\npath = drive.bag\n[imu_recording]\ntime_offset = 0.25\n"
    )
    described, _ = compared("drive.ini")
    assert len(described) == 1 and described.index[0].endswith("_drive IMU")
    assert described["delay [s]"].iloc[0] == pytest.approx(
        table["delay [s]"].iloc[0] + 0.25, abs=0.02
    )

    write_tum("truth.tum", tables.ground_truth)
    write_csv("imu.csv", tables.imu_simulated)
    write_csv("truth.csv", tables.ground_truth[["x", "y", "yaw"]])
    table, _ = compared("truth.tum", "truth.csv", "imu.csv")
    assert table.loc["truth.csv", "rms [deg]"] < 1e-9
    expected = statistics_of(tables.imu_simulated, tables.ground_truth)
    assert table.loc["imu.csv", "rms [deg]"] == pytest.approx(np.degrees(expected.rms), rel=1e-6)


def test_reference_that_may_depend_on_imu_is_reported_once_as_in_check_recording():
    drives.write_bag("copied.bag", *drives.drive(wander=False))
    checked = call_tool("check_recording.py", "copied.bag", "--out", "check").stdout
    warning = next(line for line in checked.splitlines() if NOT_INDEPENDENT in line)
    warning = warning[warning.index(NOT_INDEPENDENT) :]
    for arguments in (
        ("copied.bag",),
        ("copied.bag@/odom", "copied.bag@/imu"),
        ("check/config.ini",),
    ):
        _, printed = compared(*arguments)
        assert printed.count(NOT_INDEPENDENT) == 1
        assert warning in printed
    drives.write_bag("own.bag", *drives.drive())
    _, printed = compared("own.bag@/odom", "own.bag@/imu", "own.bag@/odom")
    assert NOT_INDEPENDENT not in printed


def test_csv_column_is_selected_with_unit_and_direction(tables):
    yaw = tables.ground_truth["yaw"]
    log = pd.DataFrame({"heading": 90.0 - np.degrees(yaw), "other": 0.1})
    write_csv("log.csv", log)
    write_tum("truth.tum", tables.ground_truth)
    table, _ = compared("truth.tum", "log.csv@heading [deg cw from north]")
    assert table["rms [deg]"].iloc[0] < 1e-6


def test_delay_is_reported_and_removed_by_align_option(tables):
    write_tum("truth.tum", tables.ground_truth)
    write_tum("late.tum", tables.ground_truth, offset=0.4)
    table, _ = compared("truth.tum", "late.tum")
    assert table["delay [s]"].iloc[0] == pytest.approx(0.4, abs=0.005)
    rms = table["rms [deg]"].iloc[0]
    table, _ = compared("truth.tum", "late.tum", "--align")
    assert table["rms [deg]"].iloc[0] < 0.05 * rms


def test_clocks_with_different_epochs_are_aligned_at_their_start(tables):
    write_tum("truth.tum", tables.ground_truth)
    write_tum("later.tum", tables.ground_truth, offset=1.5e9)
    table, printed = compared("truth.tum", "later.tum")
    assert table["rms [deg]"].iloc[0] < 0.01
    remarks = [line for line in printed.splitlines() if line.startswith("later.tum: does not")]
    assert len(remarks) == 1 and "truth.tum" in remarks[0]


def test_table_option_writes_markdown_and_latex(tables):
    write_tum("a_b.tum", tables.ground_truth)
    write_tum("c_d.tum", tables.ground_truth)
    assert_success(run("a_b.tum", "c_d.tum", "--table", "markdown", "latex"))
    lines = Path("compare_yaw/compare_yaw.md").read_text().splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| c_d.tum")
    latex = Path("compare_yaw/compare_yaw.tex").read_text()
    assert r"c\_d.tum" in latex
    assert not Path("compare_yaw/compare_yaw.csv").exists()


def test_output_that_would_overwrite_input_is_rejected(tables):
    Path("compare_yaw").mkdir()
    write_csv("compare_yaw/compare_yaw.csv", tables.imu_simulated)
    content = Path("compare_yaw/compare_yaw.csv").read_bytes()
    write_tum("truth.tum", tables.ground_truth)
    assert_refused(run("truth.tum", "compare_yaw/compare_yaw.csv"), "compare_yaw/compare_yaw.csv")
    assert Path("compare_yaw/compare_yaw.csv").read_bytes() == content


def test_unusable_input_is_rejected_naming_the_input(tmp_path, tables):
    write_tum("truth.tum", tables.ground_truth)
    write_tum("one.tum", tables.ground_truth.iloc[:1])
    folder = write_result(tmp_path / "results", with_real_imu=False).folder
    for words, *arguments in (
        ("truth.tum",),
        ("gone.bag: ", "gone.bag"),
        ("one.tum", "one.tum"),
        ("truth.tum", "truth.tum@yaw"),
        ("imu_real", f"{folder}@imu_real"),
        ("'yaw'", f"{folder}@yaw"),
        (tmp_path / "results", tmp_path / "results"),
        ("median_window", "truth.tum", "--median-window", -1),
    ):
        assert_refused(run("truth.tum", *arguments), words)


def write_course_and_compass():
    """Write course and compass heading, clockwise from north, as CSV; the first course is 0."""
    time = np.arange(0.0, 30.0, 0.05)
    heading = np.degrees(0.5 * np.sin(time / 4.0)) + 130.0
    noise = np.random.default_rng(3).normal(0.0, 1.0, len(time))
    course = np.where(np.arange(len(time)) < 1, 0.0, heading)
    table = pd.DataFrame({"time": time, "course": course, "yaw": heading + noise})
    return write_csv("car.csv", table.set_index("time"))


def test_implausible_recording_is_rejected_unless_configuration_accepts_it():
    drives.write_bag("drive.bag", *drives.drive())
    settings = "[recording]\npath = drive.bag\n[imu_recording]\nyaw_convention = cw_from_east\n"
    Path("drive.ini").write_text(settings)
    sentence = assert_refused(
        run("drive.ini"), "IMU's yaw turns -", "[experiment] accept_implausible = true"
    )
    assert not Path("compare_yaw").exists()
    Path("drive.ini").write_text(f"{settings}[experiment]\naccept_implausible = true\n")
    table, printed = compared("drive.ini")
    assert table["rms [deg]"].iloc[0] > 10.0
    assert sentence.split(": ", 2)[2].split("; to run it")[0] in printed


def test_reference_with_standard_deviation_yields_final_error_of_imu():
    drives.write_bag("drive.bag", *drives.drive())
    known = "[recording]\npath = drive.bag\n[imu_recording]\ntime_offset = 0.1\n"
    known += "[reference]\nyaw_deviation = 0.005\n"
    Path("drive.ini").write_text(known)
    table, _ = compared("drive.ini")
    row = table.iloc[0]
    assert 0.0 < row["final uncertainty [deg]"] < 10.0
    within = row["final uncertainty [deg]"] + 1e-9
    assert row["IMU final [deg]"] == pytest.approx(row["final [deg]"], abs=within)
    Path("drive.ini").write_text(known.replace("0.005", ""))
    table, _ = compared("drive.ini")
    assert "final [deg]" in table and "final uncertainty [deg]" not in table


@pytest.mark.parametrize("pitch, is_reported", [(50.0, False), (-80.0, True)])
def test_imu_with_steep_pitch_is_reported(tables, pitch, is_reported):
    imu = tables.imu_simulated[["yaw"]].assign(roll=0.0, pitch=np.radians(pitch))
    _, printed = compared(write_tum("truth.tum", tables.ground_truth), write_csv("imu.csv", imu))
    assert ("above 60 deg in 100 % of the samples" in printed) == is_reported


def test_jump_and_opposite_sign_of_yaw_are_reported():
    path = write_course_and_compass()
    course = f"{path}@course [deg cw from north]"
    table, correct = compared(course, f"{path}@yaw [deg cw from north]")
    assert table["max [deg]"].iloc[0] > 100.0
    (remark,) = [line for line in correct.splitlines() if "jumps" in line]
    for word in ("course", "once", "at 0.000 s", "-130.4 deg within 0.050 s"):
        assert word in remark
    assert "opposite sign" not in correct
    table, wrong = compared(course, f"{path}@yaw [deg]")
    assert table["rms [deg]"].iloc[0] > 25.0
    (remark,) = [line for line in wrong.splitlines() if "opposite sign" in line]
    correct_rms = float(correct.splitlines()[-4].split()[-6])
    assert float(remark.split("would be ")[1].split()[0]) == pytest.approx(correct_rms, abs=0.002)
