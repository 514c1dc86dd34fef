"""Command line of imu_catalogue.py, and its tables in the documentation."""

from pathlib import Path

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.commands.imu_catalogue import (
    BEGIN,
    between_marks,
    main,
)
from imu_simulation_framework.sensors.files import imu_catalogue
from imu_simulation_framework.sensors.measured import part_of

PAGE = Path(__file__).resolve().parents[2] / "doc" / "reference" / "imu_catalogue.md"
MEASURED = PAGE.with_name("measured_imus.md")


def test_documented_catalogue_equals_specifications(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    main(["--write", str(copy)])
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_documented_measurements_equal_their_files(tmp_path):
    page = MEASURED.read_text(encoding="utf-8")
    copy = tmp_path / "page.md"
    copy.write_text(between_marks(page, ""), encoding="utf-8")
    main(["--measured", "--write", str(copy)])
    assert copy.read_text(encoding="utf-8") == page


def test_bands_on_straight_drive_equal_yaw_error_model(capsys):
    main(["--straight", "10min", "--table", "csv"])
    title, header, *rows = capsys.readouterr().out.splitlines()
    assert title == (
        "straight on for 600 s, zeroed at rest for 10 s, any unit: yaw error after 600 s, "
        "50 and 95 %"
    )
    columns = header.split(",")
    shown = {row.split(",")[0]: dict(zip(columns, row.split(","))) for row in rows}
    adis = next(e for e in imu_catalogue() if e.specification.name == "adis16470")
    part = part_of(adis.specification).specification
    model = isf.yaw_error_model(part, isf.straight(600.0), operation=isf.Operation())
    noise = model.only("angle random walk", "bias instability", "rate random walk")
    bands = np.degrees(noise.bands((0.5, 0.95)))
    expected = [bands[f"upper_{p}"].iloc[-1] for p in ("50", "95")]
    numbers = shown["adis16470"]["calibrated [deg]"].split(" / ")
    np.testing.assert_allclose([float(n) for n in numbers], expected, rtol=0.05)
    assert shown["mpu6050"]["lowest Allan deviation [deg/h]"] == "not stated"
    assert shown["adis16470"]["lowest Allan deviation [deg/h]"] == "8"


def test_table_is_written_between_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}old\n<!-- catalogue: end -->\nafter\n")
    main(["--straight", "60", "--at", "60", "--write", str(page)])
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}\n| IMU") and text.endswith("end -->\nafter\n")
    assert "old" not in text and "BST-BMI088-DS001-14" in text
