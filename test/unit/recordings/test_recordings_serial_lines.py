"""Serial output of receivers and IMUs: NMEA 0183, VectorNav, and numbers within text."""

import numpy as np
import pandas as pd
import pytest
from column_tables import TIME, assert_inertial
from refusals import refusal
from table_writers import sentence

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.file_access import recording_format
from imu_simulation_framework.recordings.formats.table_files import read_table_file
from imu_simulation_framework.recordings.reading import (
    read_imu,
    read_imu_samples,
    read_reference,
)

SLOW = slice(0, None, 10)
MIDNIGHT = 23.0 * 3600.0 + 59.0 * 60.0 + 30.0  # the drive continues into the next day


def minutes(degrees, letters, digits):
    size = abs(degrees)
    whole = int(size)
    return f"{whole:0{digits}d}{60.0 * (size - whole):010.7f},{letters[int(degrees < 0.0)]}"


def nmea(car, stamp=lambda time: ""):
    """Return the output of a dual-antenna receiver at 5 Hz."""
    lines = []
    for k in range(0, len(TIME), 10):
        since = MIDNIGHT + TIME[k]
        day, since = 28 + int(since // 86400.0), since % 86400.0
        clock = f"{int(since // 3600):02d}{int(since % 3600 // 60):02d}{since % 60:06.3f}"
        place = f"{minutes(car.latitude[k], 'NS', 2)},{minutes(car.longitude[k], 'EW', 3)}"
        heading = np.degrees(car.azimuth[k])
        speed = car.speed[k] / 0.514444444
        for text in (
            f"GNGGA,{clock},{place},4,12,0.62,512.345,M,47.0,M,1.0,0000",
            f"GNRMC,{clock},A,{place},{speed:.6f},{heading:.5f},{day:02d}0224,,,R",
            "GPGSV,3,1,11,03,03,111,00,04,15,270,00,06,01,010,00,13,06,292,00",
            f"GNHDT,{heading:.5f},T",
            f"GNGST,{clock},0.02,,,,0.011,0.012,0.03",
        ):
            lines.append(f"{stamp(TIME[k])}{sentence(text)}")
    return lines


def test_nmea_epoch_becomes_table_row(car, tmp_path):
    path = tmp_path / "gps.nmea"
    path.write_text("\r\n".join(["73,M*1F", *nmea(car)]) + "\r\n$GNGGA,1234")
    assert recording_format(path) == "tables"
    recorded = read_reference(path)
    table = recorded.table
    assert recorded.report.usable == len(TIME[SLOW])
    # The day is from RMC; 2024 is a leap year.
    start = pd.Timestamp("2024-02-28").timestamp() + MIDNIGHT
    times = table.index.to_numpy() - start
    assert times[0] == pytest.approx(0.0, abs=3e-7)
    assert times[-1] == pytest.approx(
        TIME[SLOW][-1], abs=0.05 + 3e-7
    )  # the times are rounded to 0.05 s
    error = wrap(table["yaw"].to_numpy() - np.interp(times, TIME, car.yaw))
    # The antenna heading is interpolated between epochs 0.2 s apart.
    assert np.sqrt(np.mean(error**2)) < np.radians(0.2)
    cells = read_table_file(path).tables["GNSS"].cells
    assert cells["latitude [deg]"].to_numpy() == pytest.approx(car.latitude[SLOW], abs=2e-9)
    assert cells["longitude [deg]"].to_numpy() == pytest.approx(car.longitude[SLOW], abs=2e-9)
    assert cells["speed [m/s]"].to_numpy() == pytest.approx(car.speed[SLOW], rel=1e-6)
    assert set(cells["sigma_north [m]"]) == {0.011}


def test_damaged_nmea_lines_and_lines_without_fix_are_skipped(car, tmp_path):
    lines = [line for line in nmea(car) if "GGA" in line]
    lines[5] = lines[5].replace("1", "2", 1)  # wrong checksum
    lines[7] = sentence(lines[7][1:].split("*")[0].replace(",4,12,", ",0,00,"))
    lines[9] = sentence("GNGGA,235932.000,,,,,0,00,99.9,,M,,M,,")
    path = tmp_path / "gps.txt"
    path.write_text("\n".join(lines) + "\n")
    report = read_reference(path).report
    assert report.usable == len(lines) - 3
    assert report.no_fix.count == 1


@pytest.mark.parametrize("kind", ["number", "date"])
def test_receipt_time_before_nmea_sentence_becomes_column(car, tmp_path, kind):
    def stamp(time):
        if kind == "number":
            return f"{1.7e9 + time:.3f} "
        return pd.Timestamp(1.7e9 + time, unit="s").strftime("GPS %Y/%m/%d %H:%M:%S.%f ")

    path = tmp_path / "gps.txt"
    path.write_text("\n".join(nmea(car, stamp)) + "\n")
    columns = {"time": "receipt", "latitude": "latitude [deg]", "longitude": "longitude [deg]"}
    table = read_reference(path, columns=columns).table
    assert table.index[0] - 1.7e9 == pytest.approx(0.0, abs=1e-6)


def test_vectornav_messages_are_converted_to_ros_axes(car, tmp_path):
    lines = []
    for k, time in enumerate(TIME):
        gyro, accel = car.rates[k] * [1, -1, -1], car.forces[k] * [1, -1, -1]
        values = (np.degrees(wrap(np.pi / 2.0 - car.yaw[k])), 0, 0, 0.2, 0, 0.4, *accel, *gyro)
        lines.append(f"{time:.2f} " + sentence("VNYMR," + ",".join(f"{v:+.9f}" for v in values)))
    lines[3] = lines[3][:60]
    path = tmp_path / "imu.txt"
    path.write_text("\n".join(lines) + "\n")
    table = read_imu(path).table
    rows = np.delete(np.arange(len(TIME)), 3)
    assert table.index.to_numpy() == pytest.approx(TIME[rows])
    assert_inertial(table, car, rows)
    assert wrap(table["yaw"].to_numpy() - car.yaw[rows]) == pytest.approx(0.0, abs=1e-7)
    # Without receipt times, the sampling rate has to be specified.
    path.write_text("\n".join(line.split(" ")[-1] for line in lines) + "\n")
    assert len(read_imu(path, rate=50.0).table) == len(rows)


SIX = {
    "equal signs": "gx={gx:.9f} gy={gy:.9f} gz={gz:.9f} rad/s, "
    "acc X: {ax:.9f}, Y: {ay:.9f}, Z: {az:.9f}",
    "headings": "Gyro x: {gx:.9f} y: {gy:.9f} z: {gz:.9f} rad/s; "
    "Accel x: {ax:.9f} y: {ay:.9f} z: {az:.9f}",
    "bars": "wx = {gx:.9f} | wy = {gy:.9f} | wz = {gz:.9f} rad/s | ax = {ax:.9f} | ay = {ay:.9f} | "
    "az = {az:.9f} m/s^2 | T = 31 C",
}
WORDS = {
    f"t={{t:.2f}} s, {SIX['equal signs']}": 0.0,
    f"{{c}} -> {SIX['headings']}": 36000.0,
    f"{{m:.0f}} ms | {SIX['bars']}": 0.0,
}
"""Time of day at which the log begins [s], by line format."""


@pytest.mark.parametrize(("layout", "start"), WORDS.items())
def test_numbers_between_words_become_columns(car, tmp_path, layout, start):
    lines = ["Starting MPU6050 ... done", "calibrating: hold still"]
    for k, time in enumerate(TIME):
        clock = f"10:{int(time // 60):02d}:{time % 60:06.3f}"
        values = dict(zip(("gx", "gy", "gz", "ax", "ay", "az"), (*car.rates[k], *car.forces[k])))
        lines.append(layout.format(t=time, c=clock, m=1000.0 * time, **values))
    lines[40] = "FIFO overflow!"
    lines[50] = lines[50][:30]
    path = tmp_path / "log.txt"
    path.write_text("\n".join(lines) + "\n")
    table = read_imu(path).table
    rows = np.delete(np.arange(len(TIME)), [38, 48])
    assert table.index.to_numpy() - start == pytest.approx(TIME[rows], abs=1e-9)
    assert_inertial(table, car, rows)


@pytest.mark.parametrize(
    "text",
    [
        "time,x\n2024-05-01T10:00:00Z,1\n2024-05-01T10:00:01Z,2\n",
        "t x y z\n1 2 3 4\n",
        "key: 1\nvalue: 2\n",
    ],
)
def test_tables_are_not_read_as_serial_lines(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert recording_format(path) == "csv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$GPGGA,1,2,3*00\n", "no NMEA 0183 position or VectorNav sentence"),
        ("$VNYMR,1,2*00\n$GPGSV,1*00\n", "has a valid checksum, expected sentences such as $GPGGA"),
        ("x: 1 y: 2\n" * 9, "fewer than 10 lines have the same labels"),
    ],
)
def test_serial_log_without_usable_lines_is_rejected(tmp_path, text, message):
    path = tmp_path / "a.log"
    path.write_text(text)
    assert message in refusal(read_reference, path)


def tagged(car, kinds):
    """Yield gyroscope, accelerometer and, at a tenth of their rate, receiver records of a drive."""
    for k, time in enumerate(TIME):
        place = car.latitude[k], car.longitude[k], car.speed[k], np.degrees(car.azimuth[k])
        for kind, values in zip(kinds, (car.rates[k], car.forces[k], place)):
            if kind != kinds[2] or k % 10 == 0:
                yield kind, time, [f"{value:.9f}" for value in values]


def gnss_logger(car):
    """Return a log of Android's GnssLogger, with two clocks and two sources of fixes."""
    lines = ["# ", "# Version: v3.0 Platform: 13", "# "]
    lines.append("# UncalGyro,utcTimeMillis,elapsedRealtimeNanos,UncalGyroXRadPerSec,"
                 "UncalGyroYRadPerSec,UncalGyroZRadPerSec,DriftXRadPerSec")  # fmt: skip
    lines.append("# UncalAccel,utcTimeMillis,elapsedRealtimeNanos,UncalAccelXMps2,"
                 "UncalAccelYMps2,UncalAccelZMps2,BiasXMps2")  # fmt: skip
    lines.append("# Fix,Provider,LatitudeDegrees,LongitudeDegrees,SpeedMps,BearingDegrees,"
                 "UnixTimeMillis,elapsedRealtimeNanos")  # fmt: skip
    for kind, time, values in tagged(car, ("UncalGyro", "UncalAccel", "Fix")):
        since_1970, since_on = round(1e3 * (1.7e9 + time)), round(1e9 * (5e3 + time))
        if kind == "Fix":
            for source, late in (("GPS", 0), ("FLP", 700)):
                lines.append(f"Fix,{source},{','.join(values)},{since_1970 - late},{since_on},,")
        else:
            lines.append(f"{kind},{since_1970},{since_on},{','.join(values)},0.0")
    return lines


def get_sensor_data(car):
    """Return an IPIN competition log, whose fixes are stamped by a different sensor clock."""
    lines = ["% LogFile created by the 'GetSensorData' App", "%"]
    lines.append("% Gyroscope data: \t'GYRO;AppTimestamp(s);SensorTimestamp(s);Gyr_X(rad/s);"
                 "Gyr_Y(rad/s);Gyr_Z(rad/s);Accuracy(integer)'")  # fmt: skip
    lines.append("% Accelerometer data: \t'ACCE;AppTimestamp(s);SensorTimestamp(s);Acc_X(m/s^2);"
                 "Acc_Y(m/s^2);Acc_Z(m/s^2);Accuracy(integer)'")  # fmt: skip
    lines.append("% GNSS data: \t'GNSS;AppTimestamp(s);SensorTimeStamp(s);Latit(deg);Long(deg);"
                 "Speed(m/s);Bearing(deg)'")  # fmt: skip
    for kind, time, values in tagged(car, ("GYRO", "ACCE", "GNSS")):
        clock = 1.5e9 + time if kind == "GNSS" else 9e5 + time
        end = ";12;10" if kind == "GNSS" else ";3"
        lines.append(f"{kind};{time:.3f};{clock:.3f};{';'.join(values)}{end}")
    return lines


def with_a_header(car):
    """Return a log with one header for all record types, as in a phone positioning contest."""
    lines = ["MessageType,utcTimeMillis,MeasurementX,MeasurementY,MeasurementZ"]
    for kind, time, values in tagged(car, ("UncalGyro", "UncalAccel", "Fix")):
        if kind != "Fix":
            lines.append(f"{kind},{round(1e3 * (1.7e9 + time))},{','.join(values)}")
    return lines


@pytest.mark.parametrize("written", [gnss_logger, get_sensor_data, with_a_header])
def test_each_record_type_of_log_becomes_separate_table(car, tmp_path, written):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(written(car)) + "\n")
    assert recording_format(path) == "tables"
    recorded = read_imu(path).table
    assert_inertial(recorded, car, tolerance=1e-6)
    if written is not with_a_header:
        reference = read_reference(path)
        assert reference.report.usable == len(TIME[SLOW])
        start, end = reference.table.index[[0, -1]] - recorded.index[[0, -1]]
        assert [start, end] == pytest.approx([0.0, TIME[SLOW][-1] - TIME[-1]], abs=0.06)


def test_ardupilot_text_log_without_format_messages_is_read(car, tmp_path):
    path = tmp_path / "a.log"
    lines = []
    for kind, time, values in tagged(car, ("IMU", "ATT", "GPS")):
        clock = round(1e6 * (20.0 + time))
        if kind == "IMU":
            forces = [f"{force:.9f}" for force in car.forces[round(50.0 * time)]]
            lines.append(
                f"IMU, {clock}, 0, {', '.join(values + forces)}, 0, 0, 30.5, 1, 1, 1000, 1000"
            )
        elif kind == "ATT":
            lines.append(f"ATT, {clock}, 0, 0.1, 0, 0.2, 90, 90, 0.1, 0.1, 3")
        else:
            lines.append(f"GPS, {clock}, 0, 3, 1000, 2000, 12, 0.8, {', '.join(values[:2])}, 300, "
                         f"{', '.join(values[2:])}, 0.0, 0.0, 1")  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    recorded = read_table_file(path)
    imu, gps = recorded.tables["IMU"].cells, recorded.tables["GPS"].cells
    assert imu["IMU.GyrZ"].to_numpy() == pytest.approx(car.rates[:, 2], abs=1e-8)
    assert imu["IMU.AccZ"].to_numpy() == pytest.approx(car.forces[:, 2], abs=1e-8)
    assert gps["GPS.Lng"].to_numpy() == pytest.approx(car.longitude[SLOW], abs=1e-8)
    assert gps["GPS.GCrs"].to_numpy() == pytest.approx(np.degrees(car.azimuth[SLOW]), abs=1e-8)


def test_columns_of_record_types_without_header_are_numbered(car, tmp_path):
    path = tmp_path / "a.csv"
    lines = [
        f"{round(1e6 * time)},{kind},{','.join(values)}"
        for kind, time, values in tagged(car, ("gyro", "accel", "gps"))
    ]
    path.write_text("\n".join(lines) + "\n")
    columns = read_table_file(path).columns
    assert columns[:4] == ["gyro.col1", "gyro.col3", "gyro.col4", "gyro.col5"]
    mapped = {"time": "gyro.col1 [us]", "gyro_z": "gyro.col5", "accel_z": "accel.col5"}
    table = read_imu(path, columns=mapped).table
    assert table["accel_z"].to_numpy() == pytest.approx(car.forces[:, 2], abs=1e-8)


def test_line_number_counts_only_rows_of_mapped_table(tmp_path):
    """Samples have no times, and a BNO055 logger prints its calibration status in between."""
    path = tmp_path / "bno055.txt"
    path.write_text(
        "".join(
            f"Calibration status: sys 3, gyro 3\nqw = {16384 - k}, qx = 2, qy = 3, qz = {k}\n"
            for k in range(60)
        )
    )
    columns = {"time": "line / 50 [s]", **{f"q{a}": f"qw.q{a} / 16384 [1]" for a in "wxyz"}}
    samples = read_imu_samples(path, columns=columns).columns
    np.testing.assert_allclose(np.diff(samples["stamp"]), 0.02)
    np.testing.assert_allclose(samples["qz"], np.arange(60) / 16384)
    assert any("line / 100 [s]" in reason for reason in find_column_maps(path).reasons)
