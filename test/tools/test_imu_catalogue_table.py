"""Tests of the command-line program imu_catalogue.py, whose tables the documentation shows."""

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.commands.start import run_program
from imu_simulation_framework.sensors.files import imu_catalogue
from imu_simulation_framework.sensors.measured import measured_values, part_of


def _printed_rows(capsys, arguments):
    """Return the rows of the table that the program prints, by the name of the IMU."""
    run_program("imu_catalogue", [*arguments, "--table", "csv"])
    title, header, *rows = capsys.readouterr().out.splitlines()
    columns = header.split(",")
    return title, {row.split(",")[0]: dict(zip(columns, row.split(","))) for row in rows}


def test_catalogue_table_for_drive_a_contains_all_imus_and_expected_values(capsys):
    _, shown = _printed_rows(capsys, [])
    assert list(shown) == [entry.specification.name for entry in imu_catalogue()]
    # The white noise in the data sheet is 0.014 deg/s/sqrt(Hz), one-sided. The heading errors are
    # also in the guide.
    assert shown["bmi088"] == {
        "IMU": "bmi088",
        "random walk [deg/sqrt(h)]": "0.594",
        "lowest Allan deviation [deg/h]": "not stated",
        "offset [deg/s]": "1",
        "scale factor [%]": "1",
        "heading drift [deg]": "25 / 72",
        "calibrated heading drift [deg]": "2.4 / 11",
    }


def test_tables_of_measured_values_contain_all_sources_and_reasons(capsys):
    run_program("imu_catalogue", ["--measured"])
    text = capsys.readouterr().out
    table = measured_values()
    assert all(source in text for source in table["source"])
    assert all(f"| {reason} " in text for reason in set(table["excluded"]) - {""})
    assert "| mti300              | industrial MEMS | 0.63 (1.2)" in text


def test_percentiles_on_straight_drive_match_yaw_error_model(capsys):
    title, shown = _printed_rows(capsys, ["--straight", "10min"])
    assert title == (
        "straight ahead for 600 s, zeroed at rest for 10 s, any individual sensor: "
        "yaw error after 600 s, 50th and 95th percentile"
    )
    adis = next(e for e in imu_catalogue() if e.specification.name == "adis16470")
    part = part_of(adis.specification).specification
    model = isf.yaw_error_model(part, isf.straight(600.0), operation=isf.Operation())
    noise = model.only("angle random walk", "bias instability", "rate random walk")
    bands = np.degrees(noise.bands((0.5, 0.95)))
    expected = [bands[f"upper_{p}"].iloc[-1] for p in ("50", "95")]
    numbers = shown["adis16470"]["calibrated heading drift [deg]"].split(" / ")
    np.testing.assert_allclose([float(n) for n in numbers], expected, rtol=0.05)
    assert shown["mpu6050"]["lowest Allan deviation [deg/h]"] == "not stated"
    assert shown["adis16470"]["lowest Allan deviation [deg/h]"] == "8"
