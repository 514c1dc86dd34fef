import dataclasses
import json
import math
import os
import re
import sys
from datetime import datetime

import numpy as np
import pytest
from synthetic_experiment import cut, make_tables

from imu_simulation_framework.core.errors import ResultError
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.core.tables import REFERENCE_ERROR
from imu_simulation_framework.drive import report
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.figures import FIGURES
from imu_simulation_framework.drive.report import caption, experiment_page, write_results
from imu_simulation_framework.drive.results.files import ExperimentTables, create_result_folder
from imu_simulation_framework.drive.session.recording import experiment_facts
from imu_simulation_framework.drive.summary import (
    RunDescription,
    evaluate,
    missing_figures_sentence,
    terminal_table,
)
from imu_simulation_framework.heading.yaw_comparison import ComparisonSettings
from imu_simulation_framework.report.drawing import to_matplotlib

START = datetime(2019, 5, 16, 17, 42, 58)

TABLES = [
    *("trajectory_data", "reference", "imu_simulated", "imu_real", "ground_truth"),
    *("wheel_velocities", "wheel_velocities_actual", "control_error"),
]


@pytest.fixture
def folder(tmp_path):
    return create_result_folder(tmp_path, "drive", "ideal", START)


@pytest.fixture
def yaw_figure_only(monkeypatch):
    """Draw only one figure of a result, because drawing all figures takes seconds."""
    monkeypatch.setattr(report, "FIGURES", {"imu_yaw": FIGURES["imu_yaw"]})


def information(seed=1, wall_time=2.0):
    return RunDescription(
        {"seed": seed, "imu": "generic"},
        {"start": "2019-05-16T17:42:58", "wall_time_s": wall_time},
        {"imu_simulated": 2002},
    )


def test_summary_recomputed_from_result_files_is_identical(folder):
    summary = write_results(folder, make_tables(20.0), None, information())
    names = {path.name for path in folder.folder.iterdir()}
    assert names == (
        {f"20190516-174258_{name}.csv" for name in TABLES}
        | {f"20190516-174258_{name}.png" for name in FIGURES}
        | {"20190516-174258_summary.json"}
    )
    assert json.loads(folder.read_text("summary.json")) == summary
    assert summary["notes"] == []
    again, _ = evaluate(ExperimentTables.load(folder), None, information())
    assert again == summary


def test_summary_has_errors_and_counts_and_is_reproducible_except_execution_data():
    tables = make_tables(20.0)
    settings = ComparisonSettings(median_window=2.0, align=True)
    summary, comparison = evaluate(tables, settings, information())
    simulated = summary["yaw_error"]["simulated"]
    assert simulated["rms_rad"] == comparison.simulated.statistics.rms
    assert simulated["drift_rad_per_s"] == comparison.simulated.statistics.drift
    assert simulated["error_spectrum"]["sample_rate_hz"] == pytest.approx(100.0)
    assert summary["yaw_error"]["real"]["time_shift_s"] == comparison.real.time_shift.shift
    assert summary["tracking"]["distance_error"]["rms_m"] == pytest.approx(
        np.sqrt(np.mean(tables.control_error["distance_error"] ** 2))
    )
    assert summary["tracking"]["yaw_error"]["maximum_absolute_rad"] <= math.radians(0.6)
    assert summary["comparison_settings"]["median_window_s"] == 2.0
    assert summary["durations"]["recorded_s"] == pytest.approx(20.0)
    assert summary["execution"]["real_time_factor"] == pytest.approx(10.0)
    first, _ = evaluate(tables, None, information(wall_time=2.0))
    second, _ = evaluate(tables, None, information(wall_time=3.0))
    assert first != second
    first.pop("execution")
    second.pop("execution")
    assert first == second


@pytest.mark.usefixtures("yaw_figure_only")
def test_figures_are_written_reproducibly_in_requested_formats(folder):
    formats = ("png", "pdf", "svg")
    written = []
    for _ in range(2):
        write_results(folder, make_tables(5.0), None, information(), formats=formats)
        written.append({name: folder.path(f"imu_yaw.{name}").read_bytes() for name in formats})
    assert written[0] == written[1]
    for name, beginning in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        assert written[0][name].startswith(beginning)
    # The PNG file contains neither a date nor a program name.
    assert not any(chunk in written[0]["png"] for chunk in (b"tEXt", b"iTXt", b"zTXt", b"tIME"))


def test_report_without_format_writes_no_figure(folder):
    summary = write_results(folder, make_tables(5.0), None, information(), formats=())
    assert folder.path("summary.json").is_file()
    assert not summary["notes"] and not list(folder.folder.glob("*.png"))


@pytest.mark.usefixtures("yaw_figure_only")
def test_figure_caption_contains_drive_model_seed_and_date(folder):
    run = {"drive": "mine_gps", "imu": {"model": "hector", "label": "hector_sigma0.5"}, "seed": 7}
    summary = write_results(folder, make_tables(5.0), None, RunDescription(run), formats=("svg",))
    footer = caption(folder, summary)
    for words in ("drive mine_gps", "hector_sigma0.5", "seed 7", "2019-05-16 17:42:58"):
        assert words in footer
    # The text is drawn as glyphs, so the SVG file repeats it in a comment.
    assert f"<!-- {footer} -->" in folder.read_text("imu_yaw.svg")


@pytest.mark.parametrize(
    "parameters, name",
    [("", "robot.yaml"), (str(urdf_path("robot_ackermann.yaml")), "robot_ackermann.yaml")],
)
def test_summary_names_robot_and_caption_a_robot_other_than_the_bundled_one(
    folder, parameters, name
):
    folder.write_text("recording.json", "{}")
    configuration = load_configuration(overrides={"robot": {"parameters": parameters}})
    facts = experiment_facts(folder, configuration)
    summary, _ = evaluate(make_tables(5.0), None, RunDescription(facts))
    assert summary["run"]["robot"] == name
    assert ("robot_ackermann.yaml" in caption(folder, summary)) == bool(parameters)


def test_control_errors_with_faster_odometry_have_no_gaps():
    tables = make_tables(20.0)
    # Each error (20 Hz) has the stamp of the first odometry (30 Hz) after a control period.
    times = np.unique(np.ceil(0.05 * np.arange(400) * 30.0 - 1e-9) / 30.0)
    error = tables.control_error.iloc[: len(times)].set_axis(times, axis=0)

    def counted(table):
        tables.control_error = table
        run = RunDescription({"control_period_s": 0.05})
        counts = evaluate(tables, None, run)[0]["messages"]["control_error"]
        return counts["expected"], counts["received"], counts["gaps"]

    assert counted(error) == (400, 400, 0)
    assert counted(error.drop(error.index[[100, 101, 200]])) == (400, 397, 2)


def test_lost_messages_are_counted():
    tables = make_tables(20.0)
    tables.ground_truth = tables.ground_truth.drop(tables.ground_truth.index[[50, 51, 52, 700]])
    messages = evaluate(tables, None, information())[0]["messages"]
    assert messages["ground_truth"] == {
        "expected": 2001,
        "received": 1997,
        "gaps": 2,
        "longest_gap_s": pytest.approx(0.04),
        "expected_according_to": "stamps",
    }
    # The simulator counts messages lost at the ends, where stamps do not show a gap.
    assert messages["imu_simulated"]["expected"] == 2002
    assert messages["imu_simulated"]["received"] == 2001
    assert messages["imu_simulated"]["expected_according_to"] == "simulator"


@pytest.mark.usefixtures("yaw_figure_only")
def test_summary_with_numpy_and_nan_values_is_strict_json(folder):
    run = {"seed": np.int64(3), "speed": np.float32(0.5), "bad": float("nan"), "path": START}
    write_results(folder, cut(make_tables(5.0), 0.0), None, RunDescription(run))
    written = json.loads(folder.read_text("summary.json"), parse_constant=pytest.fail)["run"]
    assert written == {"seed": 3, "speed": 0.5, "bad": None, "path": str(START)}


@pytest.mark.parametrize("stop", [3.0, 0.05, 0.0, -1.0])
def test_experiment_that_ended_early_has_complete_result(folder, stop):
    tables = cut(make_tables(20.0), stop)
    tables.save(folder)
    summary, comparison = evaluate(tables, None, information())
    for describe in FIGURES.values():
        to_matplotlib(describe(comparison))
    assert summary["notes"]
    assert "yaw error, simulated IMU" in terminal_table(summary)
    assert len(ExperimentTables.load(folder).imu_simulated) == len(tables.imu_simulated)


@pytest.mark.usefixtures("yaw_figure_only")
def test_result_without_recorded_imu_has_neither_its_table_nor_its_error(folder):
    summary = write_results(folder, make_tables(20.0, with_real_imu=False))
    assert not folder.path("imu_real.csv").exists()
    assert summary["yaw_error"]["real"] is None
    assert ExperimentTables.load(folder).imu_real is None


def test_failing_figure_does_not_prevent_other_figures_and_summary(folder, monkeypatch, capsys):
    def fail(_):
        raise ZeroDivisionError("a defect")

    figures = {"trajectory": FIGURES["trajectory"], "imu_yaw": fail, "yaw_psd": FIGURES["yaw_psd"]}
    monkeypatch.setattr(report, "FIGURES", figures)
    summary = write_results(folder, make_tables(20.0))
    assert [note for note in summary["notes"] if "imu_yaw cannot be drawn" in note]
    assert json.loads(folder.read_text("summary.json")) == summary
    assert not folder.path("imu_yaw.png").exists()
    assert folder.path("trajectory.png").exists()
    assert folder.path("yaw_psd.png").exists()
    assert "a defect" in capsys.readouterr().err


class DeadlyFigure:
    """Figure that kills the process to which it is sent, like the kernel for lack of memory."""

    is_empty = False

    def __reduce__(self):
        return eval, ("(lambda os: os.kill(os.getpid(), 9))(__import__('os'))",)


def test_figure_of_killed_process_is_reported_and_others_are_drawn(folder, monkeypatch):
    names = ("trajectory", "imu_yaw", "yaw_error", "yaw_psd")
    figures = {name: FIGURES[name] for name in names}
    monkeypatch.setattr(report, "FIGURES", {**figures, "imu_yaw": lambda _: DeadlyFigure()})
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    summary = write_results(folder, make_tables(20.0))
    assert summary["missing_figures"] == ["imu_yaw"]
    assert json.loads(folder.read_text("summary.json")) == summary
    drawn = {path.name[len(folder.prefix) + 1 : -4] for path in folder.folder.glob("*.png")}
    assert drawn == {"trajectory", "yaw_error", "yaw_psd"}
    sentence = missing_figures_sentence(folder, summary)
    assert sentence.startswith(
        "the figure imu_yaw cannot be drawn: the drawing of figures was killed"
    )
    assert f"offline_result_comparison.py {folder.prefix_path}" in sentence
    assert ExperimentTables.load(folder).imu_real is not None


@pytest.mark.usefixtures("yaw_figure_only")
def test_failing_matplotlib_import_does_not_prevent_tables_and_summary(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "imu_simulation_framework.report.drawing", None)
    summary = write_results(folder, make_tables(20.0))
    assert [note for note in summary["notes"] if "imu_yaw cannot be drawn" in note]
    assert json.loads(folder.read_text("summary.json")) == summary
    assert len(ExperimentTables.load(folder).imu_simulated) > 0


def test_figures_drawn_by_one_and_two_processes_have_identical_bytes(folder, tmp_path, monkeypatch):
    figures = {name: FIGURES[name] for name in ("trajectory", "yaw_error", "yaw_psd")}
    monkeypatch.setattr(report, "FIGURES", figures)
    alone = create_result_folder(tmp_path, "drive", "alone", START)
    contents = []
    for cores, result in (({0, 1}, folder), ({0}, alone)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: cores)
        write_results(result, make_tables(20.0))
        contents.append([result.path(f"{name}.png").read_bytes() for name in figures])
    assert contents[0] == contents[1]


def test_full_disk_while_drawing_preserves_tables_and_summary(folder, monkeypatch):
    write_bytes = folder.write_bytes

    def write_on_full_disk(name, content):
        if name.endswith(".png"):
            raise ResultError(f"{name}: the disk is full")
        return write_bytes(name, content)

    monkeypatch.setattr(folder, "write_bytes", write_on_full_disk)
    with pytest.raises(ResultError, match=r"control_error\.png: the disk is full"):
        write_results(folder, make_tables(20.0))
    assert ExperimentTables.load(folder).imu_real is not None
    assert json.loads(folder.read_text("summary.json"))["yaw_error"]["real"]


def test_table_with_missing_column_or_huge_number_is_rejected(folder):
    tables = make_tables(5.0)
    tables.save(folder)
    folder.write_table("imu_real", tables.imu_real.drop(columns="yaw"))
    with pytest.raises(ResultError, match=r"imu_real\.csv: the column yaw is missing"):
        ExperimentTables.load(folder)
    table = tables.imu_real.copy()
    table.iloc[3, table.columns.get_loc("yaw")] = -7e300
    folder.write_table("imu_real", table)
    sentence = r"imu_real\.csv: line 5, column 'yaw': -7e\+300, expected at most 1e\+30"
    with pytest.raises(ResultError, match=sentence):
        ExperimentTables.load(folder)


def test_reference_error_is_in_summary_table_figures_and_page(folder):
    tables = make_tables(120.0)
    known = dict(zip(REFERENCE_ERROR, (math.radians(0.5), 5.0, 0.0, 0.0)))
    tables = dataclasses.replace(tables, reference=tables.reference.assign(**known))
    tables.save(folder)
    summary, _ = evaluate(tables, None, information())
    again, comparison = evaluate(ExperimentTables.load(folder), None, information())
    assert again == summary
    real, split = summary["yaw_error"]["real"], comparison.real.split
    assert "reference" not in summary["yaw_error"]["simulated"]
    assert real["reference"]["rms_rad"] == split.reference
    assert split.imu_low < split.imu < split.imu_high
    assert all(entry["reference_rms_rad"] > 0.0 for entry in real["over_distance"])
    _, recorded, simulated = terminal_table(summary).splitlines()[:3]
    imu_error = f"{math.degrees(split.imu):.2f} ({math.degrees(split.imu_low):.2f} to "
    assert (
        imu_error in recorded and f" +- {1.96 * math.degrees(split.final_std):.2g} deg" in recorded
    )
    assert "+-" not in simulated
    for name, label in (
        ("yaw_error", ", 95 %"),
        ("yaw_error_relative", ""),
        ("yaw_errors_psd", ""),
    ):
        layers = [layer for panel in FIGURES[name](comparison).panels for layer in panel.layers]
        named = [layer.values.get("name") for layer in layers]
        assert f"the reference alone (recorded IMU){label}" in named
    (answer, _) = experiment_page(comparison, summary, "").summary
    assert f"of the reference: {math.degrees(split.reference):.2f}" in answer


def test_terminal_table_is_in_degrees_and_metres():
    summary, comparison = evaluate(make_tables(120.0), None, information())
    title, recorded, _, _, distance, *_ = terminal_table(summary).splitlines()
    statistics = comparison.real.statistics
    expected = [statistics.rms, statistics.maximum_absolute, statistics.final]
    expected.append(60.0 * statistics.drift)
    for words, entries in (("over {:g} m", "over_distance"), ("over {:g} deg", "over_turn")):
        for entry in getattr(comparison.real, entries):
            length = entry.length if "m" in words else math.degrees(entry.length)
            if words.format(length) in title:
                expected.append(entry.rms)
    numbers = [float(number) for number in re.findall(r"(-?[0-9.]+) deg", recorded)]
    assert numbers == pytest.approx(np.degrees(expected), abs=6e-4)
    rms = np.sqrt(np.mean(make_tables(120.0).control_error["distance_error"] ** 2))
    assert float(re.findall(r"([0-9.]+) m", distance)[0]) == pytest.approx(rms, abs=6e-4)


def test_odometer_yaw_error_is_in_summary_table_figures_and_page(folder):
    tables = make_tables(120.0)
    truth = tables.ground_truth.iloc[::2]
    odometer = truth[["x", "y", "yaw", "v", "yaw_rate"]].assign(
        yaw=truth["yaw"] + 1e-3 * truth.index
    )
    measured = dataclasses.replace(tables, odometer=odometer)
    measured.save(folder)
    summary, _ = evaluate(measured, None, information())
    again, comparison = evaluate(ExperimentTables.load(folder), None, information())
    assert again == summary
    errors = summary["yaw_error"]
    assert errors["odometer"]["drift_rad_per_s"] == pytest.approx(-1e-3)
    plain, _ = evaluate(tables, None, information())
    assert list(plain["yaw_error"]) == ["simulated", "real", "difference"]
    assert {name: errors[name] for name in plain["yaw_error"]} == plain["yaw_error"]
    _, _, _, line, *_ = terminal_table(summary).splitlines()
    assert line.startswith("yaw error, odometer ")
    drift = math.degrees(60.0 * 1e-3)
    assert f"-{drift:.3f} deg/min" in line
    assert "odometer" not in terminal_table(plain)
    for name, label in (("yaw_error", "odometer, trend"), ("yaw_error_relative", "odometer")):
        layers = [layer for panel in FIGURES[name](comparison).panels for layer in panel.layers]
        assert label in [layer.values.get("name") for layer in layers]
    page = experiment_page(comparison, summary, "")
    assert "; the odometer had a yaw error of " in page.summary[0]
    assert page.sections[0].table.rows[2][0] == "yaw error, odometer [deg]"


def test_figure_layers_have_distinct_styles_and_steering_angles_are_plotted():
    tables = make_tables(60.0)
    wheels = {
        name: getattr(tables, name).assign(steering_left=0.1, steering_right=0.2)
        for name in ("wheel_velocities", "wheel_velocities_actual")
    }
    _, comparison = evaluate(dataclasses.replace(tables, **wheels))
    for describe in FIGURES.values():
        layers = [layer for panel in describe(comparison).panels for layer in panel.layers]
        named = {
            (layer.values["name"], repr(layer.values["look"]))
            for layer in layers
            if layer.values.get("look")
        }
        assert len({look for _, look in named}) == len(named)
    *_, angles = FIGURES["wheel_velocities"](comparison).panels
    assert angles.y == "difference [rad]"
    assert [layer.values["name"] for layer in angles.layers[1:]] == ["left", "right"]


def test_page_summary_reports_imu_and_odometer_separately():
    tables = make_tables(20.0, with_real_imu=False)
    odometer = tables.ground_truth[["x", "y", "yaw", "v", "yaw_rate"]]
    summary, comparison = evaluate(dataclasses.replace(tables, odometer=odometer))
    (answer,) = experiment_page(comparison, summary, "").summary
    assert "; the odometer had a yaw error of 0.00 deg" in answer
