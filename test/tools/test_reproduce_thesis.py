"""Tests of the command-line program reproduce_thesis.py."""

import html
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tool_calls import PNG, call_tool

from imu_simulation_framework.drive.thesis.items import HECTOR_SLOW, IMUS, thesis_items
from imu_simulation_framework.motion.drives import get_drive, with_laps
from imu_simulation_framework.recordings.bundled_drives import write_drive
from imu_simulation_framework.sensors.imu_models.plugins import PRESETS

run = partial(call_tool, "reproduce_thesis.py")


def make_figures(*arguments):
    """Return the table of figures and the standard output of a successful call."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return pd.read_csv("thesis/figures.csv", dtype={"figure": str}), done.stdout


def test_figure_list_contains_each_figure_once():
    done = run("--list")
    assert (done.returncode, done.stderr) == (0, "")
    numbers = [
        number for line in done.stdout.splitlines() for number in line[:9].strip().split(", ")
    ]
    control, chapter = numbers[:5], numbers[5:]
    assert control == ["3.9", "3.10a", "3.10b", "3.11a", "3.11b"]
    assert sorted(chapter, key=lambda number: int(number[2:])) == [f"4.{n}" for n in range(1, 25)]
    assert done.stdout.count("cannot be made") == 1


def test_thesis_experiments_use_different_seeds_and_slow_drift_preset():
    every = {experiment for item in thesis_items().values() for experiment in item.experiments}
    seeds = [experiment.seed for experiment in every if experiment.seed]
    assert len(set(seeds)) == len(seeds) == 15 and len(every) == 20
    assert IMUS[HECTOR_SLOW][1] == PRESETS["hector_slow"].parameters


def test_figure_of_one_lap_shows_drift_and_filtered_noise():
    table, output = make_figures("--figures", "4.5")
    (row,) = table.to_dict("records")
    results = row["this package"]
    assert (row["figure"], row["file"]) == ("4.5", "figure_4_05.png")
    assert Path("thesis/figure_4_05.png").read_bytes().startswith(PNG)
    recorded, simulated = map(float, re.findall(r"([\d.]+) deg \(", results))
    # A median over 101 samples reduces the white noise of 2 * 0.00105 rad by a factor of 12.
    assert recorded > 1.0 and simulated < 6.0 * np.degrees(0.0021) / 8.0
    assert "60 s of drives" in output
    page = html.unescape(Path("thesis/thesis.html").read_text(encoding="utf-8"))
    for part in (row["thesis"], results, "Figure 4.5"):
        assert part in page


@pytest.fixture
def short_drives(tmp_path):
    """Return arguments that replace the recordings with 70 s drives."""
    drives = {name: write_drive(_shortened(get_drive(name)), tmp_path) for name in "abcd"}
    return [word for name, paths in drives.items() for word in ("--drive", name, *paths)]


def _shortened(drive):
    if drive.laps == 1:
        return replace(drive, lap_duration=SHORT)
    return with_laps(drive, round(SHORT / drive.lap_duration))


SHORT = 70.0  # s


@pytest.mark.thorough
def test_user_recordings_produce_all_figures_of_thesis_chapter(short_drives):
    table, output = make_figures(*short_drives)
    assert list(table["file"].isna()) == [not item.shown for item in thesis_items().values()]
    for name in table["file"].dropna():
        assert Path("thesis", name).read_bytes().startswith(PNG)
    assert "26 of 27 figures (4.3 cannot be made), " in output


def test_distance_control_reduces_distance_error_and_increases_yaw_error(short_drives):
    table, _ = make_figures("--figures", "3.9", "3.10a", "3.10b", "3.11a", "3.11b", *short_drives)
    parts = ["3_09", "3_10a", "3_10b", "3_11a", "3_11b"]
    assert list(table["file"]) == [f"figure_{part}.png" for part in parts]
    sizes = [
        [*map(float, re.findall(r"(-?[\d.]+) (?:deg|m)\b", here))] for here in table["this package"]
    ]
    assert sizes[1] == sizes[2] and sizes[3] == sizes[4]
    (open_yaw, *_), (both_yaw, both_distance, *_), (yaw, distance, *_) = sizes[0], *sizes[1::2]
    assert yaw < both_yaw and both_distance < distance
    # Without control, wheels that differ by 1 % turn the robot by 1 rad in 50 m.
    assert open_yaw > 20.0 * both_yaw


def test_figures_with_identical_content_are_drawn_once_in_selected_format(tmp_path):
    reference, imu = write_drive(replace(with_laps(get_drive("a"), 1), seed=9), tmp_path)
    drive_options = ("--drive", "A", reference, imu)
    form = ("--formats", "svg", "--table", "csv", "markdown")
    table, _ = make_figures("--figures", "4.4", "4.2", *form, *drive_options)
    assert list(table["figure"]) == ["4.2, 4.4"]
    assert Path("thesis/figure_4_02_4_04.svg").exists()
    assert "| 4.2, 4.4 |" in Path("thesis/figures.md").read_text(encoding="utf-8")
    page = Path("thesis/thesis.html").read_text(encoding="utf-8")
    assert "user recordings for A" in page and "your recordings for A" in page
