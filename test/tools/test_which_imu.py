"""Tests of the command-line program which_imu.py, compared with the yaw error model."""

import math

import numpy as np
import pandas as pd
import pytest
from tool_calls import assert_refused, call_tool, printed_by

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.files import imu_catalogue
from imu_simulation_framework.sensors.measured import part_of


def ranked(*arguments, path="table.csv"):
    printed = printed_by(call_tool("which_imu.py", *arguments, "--table", "csv"))
    title, *rows = [line for line in printed.splitlines() if not line.startswith("note: ")]
    with open(path, "w") as file:
        file.write("\n".join(row for row in rows if not row.startswith("note: ")))
    return title, pd.read_csv(path, index_col="IMU")


def test_catalogue_imus_are_ranked_for_a_drive_by_yaw_error_model():
    title, table = ranked("a", "--within", "5deg", "--for", "10min")
    parts = [entry.specification for entry in imu_catalogue() if entry.specification.is_any_unit]
    assert set(table.index) == {part.name for part in parts} and len(parts) > 15
    passing = table[table["passes"] == "yes"]
    assert title == (
        f"drive a, zeroed at rest for 10 s, any individual sensor: the yaw error of "
        f"{len(passing)} of {len(table)} IMUs stays within 5 deg for 600 s in 95 % of drives"
    )
    assert table["95th percentile [deg]"].is_monotonic_increasing
    assert 0 < len(passing) < len(table) and list(passing.index) == list(
        table.index[: len(passing)]
    )
    motion, operation = isf.read_drive("a"), isf.Operation()
    for name in (table.index[0], table.index[-1]):
        part = part_of(isf.read_imu_specification(name)).specification
        model = isf.yaw_error_model(part, motion, 10.0, operation=operation).until(61)
        expected = math.degrees(model.absolute_quantile(0.95))
        assert table.loc[name, "95th percentile [deg]"] == pytest.approx(expected, rel=1e-3)
        assert table.loc[name, "limit / 95th percentile"] == pytest.approx(5.0 / expected, rel=1e-3)


@pytest.mark.parametrize("format, ending", [("terminal", "csv"), ("markdown", "md")])
def test_out_option_also_writes_the_printed_table(tmp_path, format, ending):
    arguments = ("--straight", "1min", "--within", "2deg", "--imu", "bno055", "--imu", "stim300")
    printed = printed_by(
        call_tool("which_imu.py", *arguments, "--out", tmp_path / "out", "--table", format)
    )
    path = tmp_path / "out" / f"which_imu.{ending}"
    assert list((tmp_path / "out").iterdir()) == [path]
    assert printed.splitlines()[-1] == str(path)
    if format == "markdown":
        assert path.read_text() in printed
    else:
        assert set(pd.read_csv(path)["IMU"]) == {"bno055", "stim300"}


def test_table_does_not_overwrite_an_input(tmp_path):
    imu = tmp_path / "which_imu.csv"
    imu.write_text("name: mine\ngyroscope: {white_noise: 1.0e-4}\n")
    arguments = ("--straight", "1min", "--within", "2deg", "--imu", imu, "--out", tmp_path)
    assert_refused(call_tool("which_imu.py", *arguments), imu)


def test_ranking_of_custom_imus_on_straight_line_matches_closed_form(tmp_path):
    for name, density in (("good", 1e-5), ("bad", 1e-3)):
        (tmp_path / f"{name}.yaml").write_text(
            f"name: {name}\ngyroscope: {{white_noise: {density}}}\n"
        )
    title, table = ranked(
        "--straight", "100s", "--for", "100s", "--within", "2deg", "--standstill", "20s",
        "--probability", "90%", "--imu", "bad.yaml", "--imu", "good.yaml",
    )  # fmt: skip
    assert "zeroed at rest for 20 s: the yaw error of 1 of 2 IMUs stays within 2 deg" in title
    assert list(table.index) == ["good", "bad"] and list(table["passes"]) == ["yes", "no"]
    std = np.degrees([1e-5, 1e-3]) * math.sqrt(100.0 + 100.0**2 / 20.0)
    np.testing.assert_allclose(
        table["90th percentile [deg]"], 1.644854 * std, rtol=1e-3, atol=0.005
    )
    assert list(table["largest source"]) == ["angle random walk"] * 2


def test_ranking_uses_complete_motion_by_default():
    title, _ = ranked("--straight", "3min", "--imu", "stim300")
    assert "within 5 deg for 180 s" in title


def test_omitted_bundled_imus_are_reported():
    printed = printed_by(call_tool("which_imu.py", "--straight", "1min", "--within", "5deg"))
    (note,) = [line for line in printed.splitlines() if "excluded" in line]
    assert "agisim, bno055, bno055_magnetometer" in note
    chosen = call_tool("which_imu.py", "--straight", "1min", "--within", "5deg", "--imu", "bmi088")
    assert "excluded" not in printed_by(chosen)
