"""Column maps: units, expressions, column numbers, dates, and rejected column descriptions."""

import math

import numpy as np
import pytest
import recording_writers as writers
from refusals import refusal

from imu_simulation_framework.recordings.column_maps import QUANTITIES, USES
from imu_simulation_framework.recordings.frames import ReferenceConventions, conventional_reference
from imu_simulation_framework.recordings.reading import (
    read_imu,
    read_imu_samples,
    read_reference,
    read_reference_samples,
)

COUNT = 20
NUMBERS = 1.0 + np.arange(COUNT)
SECONDS = 0.1 * np.arange(COUNT)
FIXES = {"time": "t", "latitude": "n", "longitude": "n"}
POSES = {"time": "t", "x": "n", "y": "n", "yaw": "n"}
IMU = {"time": "t", "yaw": "n"}


def table(tmp_path, **columns):
    columns = {"t": SECONDS.tolist(), "n": NUMBERS.tolist(), **columns}
    return writers.write_csv(tmp_path / "a.csv", columns)


def imu(tmp_path, description, **columns):
    """Read the z axis of the gyroscope with a column description."""
    path = table(tmp_path, **columns)
    samples = read_imu_samples(path, columns={"time": "t", "gyro_z": description})
    return samples.columns["gyro_z"]


def times(path, description):
    return read_imu(path, columns={"time": description, "yaw": "n"}).table.index.to_numpy()


UNITS = {
    "gyro_x": {"deg/s": math.pi / 180.0, "dps": math.pi / 180.0, "rpm": math.pi / 30.0},
    "gyro_y": {"rad s^-1": 1.0, "mrad/s": 1e-3},
    "accel_y": {"mg": 9.80665e-3, "g": 9.80665, "m s^-2": 1.0},
    "speed": {"km/h": 1.0 / 3.6, "mph": 1609.344 / 3600.0, "kn": 1852.0 / 3600.0, "fps": 0.3048},
    "altitude": {"ft": 0.3048, "cm": 0.01},
    "variance_east": {"cm^2": 1e-4},
    "latitude": {"rad": 180.0 / math.pi},
}


@pytest.mark.parametrize("quantity", UNITS)
def test_column_units_are_converted_to_si(quantity):
    for unit, factor in UNITS[quantity].items():
        assert QUANTITIES[quantity].units[unit] == pytest.approx(factor, rel=1e-15)


def test_every_quantity_has_use_description_and_si_unit_listed_first():
    assert {next(iter(quantity.units.values())) for quantity in QUANTITIES.values()} == {1.0}
    assert {name for names in USES.values() for name in names} == set(QUANTITIES)
    assert all(quantity.meaning for quantity in QUANTITIES.values())


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("n", NUMBERS),
        ("-n", -NUMBERS),
        ("n * 0.0625", 0.0625 * NUMBERS),
        ("0.0625 * n", 0.0625 * NUMBERS),
        ("n / 16", NUMBERS / 16.0),
        ("n*1e-3", NUMBERS * 1e-3),
        ("n * -2", -2.0 * NUMBERS),
        ("n - 512", NUMBERS - 512.0),
        ("n * 2 + 3", 2.0 * NUMBERS + 3.0),
        ("(n - 512) * 0.1", 0.1 * (NUMBERS - 512.0)),
        ("(n + 2) / 4 - 1", (NUMBERS + 2.0) / 4.0 - 1.0),
        ("-(n + 2)", -NUMBERS - 2.0),
        ("#2", NUMBERS),
        ("col2 * 2", 2.0 * NUMBERS),
    ],
)
def test_factor_and_offset_of_column_are_applied(tmp_path, description, expected):
    assert imu(tmp_path, description) == pytest.approx(expected, rel=1e-14)
    assert imu(tmp_path, f"{description} [deg/s]") == pytest.approx(np.radians(expected))


def test_column_name_resembling_expression_is_read_as_name(tmp_path):
    assert np.array_equal(imu(tmp_path, "n - 512", **{"n - 512": [7.0] * COUNT}), [7.0] * COUNT)


@pytest.mark.parametrize("description", ["m * 2", "n * two", "n / 0", "n ** 2", "(n", "#3", "#0"])
def test_invalid_column_expression_is_rejected(tmp_path, description):
    sentence = refusal(read_imu, table(tmp_path), columns={"time": "t", "gyro_z": description})
    assert f"column '{description}' is missing, expected one of t, n" in sentence


def test_standard_deviation_columns_and_nmea_angles_are_converted(tmp_path):
    path = table(tmp_path, lat=[4807.038] * COUNT, lon=[-1131.5] * COUNT)
    columns = {"time": "t", "latitude": "lat [ddmm.mmmm]", "longitude": "lon [ddmm.mmmm]"}
    columns.update({"sigma_east": "n [cm]", "sigma_north": "n * 2"})
    samples = read_reference_samples(path, columns=columns)
    assert samples.columns["latitude"] == pytest.approx(np.full(COUNT, 48.0 + 7.038 / 60.0))
    assert samples.columns["longitude"] == pytest.approx(np.full(COUNT, -11.0 - 31.5 / 60.0))
    assert samples.columns["variance_east"] == pytest.approx((0.01 * NUMBERS) ** 2)
    assert samples.columns["variance_north"] == pytest.approx((2.0 * NUMBERS) ** 2)


def test_speed_and_course_of_receiver_become_velocity(tmp_path):
    """The course turns from north to east; the columns are in km/h and in degrees from north."""
    course = np.linspace(0.0, 90.0, COUNT)
    path = table(tmp_path, course=course.tolist(), v=[36.0] * COUNT)
    columns = {**FIXES, "speed": "v [km/h]", "course": "course [deg]"}
    samples = read_reference_samples(path, columns=columns)
    assert samples.columns["speed"] == pytest.approx(np.full(COUNT, 10.0))
    angles = np.radians(course)
    for frame in ("enu", "ned"):
        converted = conventional_reference(samples, ReferenceConventions(frame)).columns
        assert converted["velocity_east"] == pytest.approx(10.0 * np.sin(angles), abs=1e-12)
        assert converted["velocity_north"] == pytest.approx(10.0 * np.cos(angles), abs=1e-12)
    path = table(tmp_path, v=[-1.0] * 5 + [1.0] * (COUNT - 5))
    columns = {**FIXES, "speed": "v", "course": "v [deg]"}
    samples = read_reference_samples(path, columns=columns)
    converted = conventional_reference(samples, ReferenceConventions())
    assert np.array_equal(np.isnan(converted.columns["velocity_east"]), np.arange(COUNT) < 5)


def test_times_in_one_or_two_columns_are_converted_to_seconds(tmp_path):
    for unit, factor in {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}.items():
        assert times(table(tmp_path), f"n [{unit}]") == pytest.approx(factor * NUMBERS, rel=1e-15)
    sec, nsec = ([int(k) for k in numbers] for numbers in np.divmod(np.arange(COUNT), 10))
    path = table(tmp_path, sec=[1_700_000_000 + k for k in sec], nsec=[k * 10**8 for k in nsec])
    expected = 1_700_000_000 + SECONDS
    assert times(path, "sec [s] + nsec [ns]") == pytest.approx(expected, abs=3e-7, rel=0)
    assert times(path, "#3 [s] + #4 [ns]") == pytest.approx(expected, abs=3e-7, rel=0)


DATES = [f"2015-05-21{{}}10:00:{k / 10.0:06.3f}" for k in range(COUNT)]
MORNING = 1_432_202_400.0  # 10:00 UTC on that day, 16576 days and ten hours after 1970


@pytest.mark.parametrize(
    ("between", "suffix", "zone"),
    [("T", "Z", 0), (" ", "", 0), ("T", "+02:00", -7200), (" ", ".000", None)],
)
@pytest.mark.parametrize("unit", ["", " [iso8601]"])
def test_dates_are_read_as_times(tmp_path, between, suffix, zone, unit):
    path = table(tmp_path, date=[date.format(between) + suffix for date in DATES])
    if zone is None:
        sentence = refusal(read_imu, path, columns={"time": f"date{unit}", "yaw": "n"})
        assert "line 2, column 'date': '2015-05-21 10:00:00.000.000' is not valid" in sentence
    else:
        assert times(path, f"date{unit}") == pytest.approx(MORNING + zone + SECONDS, abs=1e-6)


def test_missing_date_is_counted_and_separate_time_of_day_column_is_read(tmp_path):
    dates = [date.format("T") for date in DATES]
    dates[3] = ""
    missing = read_imu(table(tmp_path, date=dates), columns={"time": "date", "yaw": "n"}).report
    assert (missing.stamps.missing.count, missing.stamps.missing.first_place) == (1, 5)
    date, clock = zip(*(date.split("{}") for date in DATES))
    path = table(tmp_path, date=[d.replace("-", "/") for d in date], clock=list(clock))
    assert times(path, "date + clock [iso8601]") == pytest.approx(MORNING + SECONDS, abs=1e-6)
    assert times(path, "date + clock") == pytest.approx(MORNING + SECONDS, abs=1e-6)


def test_file_without_header_is_mapped_by_column_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(f"{t},{n}" for t, n in zip(SECONDS, NUMBERS)))
    for columns in ({"time": "#1", "yaw": "#2 [deg]"}, {"time": "col1 [s]", "yaw": "col2 [deg]"}):
        recorded = read_imu(path, columns=columns)
        assert recorded.table["yaw"].to_numpy() == pytest.approx(np.radians(NUMBERS))
        assert recorded.report.samples == COUNT
    assert "the columns of the file: col1, col2" in refusal(read_imu, path)


def test_quoted_cell_spanning_two_lines_is_read(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f'{t},"$GPGGA,{n}\n",{n}' for t, n in zip(SECONDS, NUMBERS)]
    rows[7] = '0.7,"$GPGGA\n",'
    path.write_text("time,sentence,yaw\n" + "\n".join(rows))
    report = read_imu(path).report
    assert (report.samples, report.nan.count, report.nan.first_place) == (COUNT, 1, 2 + 2 * 7)


def test_column_names_in_comment_above_numbers_are_read(tmp_path):
    path = tmp_path / "a.csv"
    lines = ["# a drive", "#timestamp [ns],yaw [deg]"]
    lines += [f"{round(1e9 * t)},{n}" for t, n in zip(SECONDS, NUMBERS)]
    path.write_text("\n".join(lines))
    columns = {"time": "timestamp [ns]", "yaw": "yaw [deg]"}
    recorded = read_imu(path, columns=columns).table
    assert recorded.index.to_numpy() == pytest.approx(SECONDS)
    assert recorded["yaw"].to_numpy() == pytest.approx(np.radians(NUMBERS))


@pytest.mark.parametrize("names", [("time [ms]", "yaw [deg cw]"), ("time (ms)", "yaw (deg cw)")])
def test_units_in_header_are_read_without_column_map(tmp_path, names):
    columns = {names[0]: (1000.0 * SECONDS).tolist(), names[1]: NUMBERS.tolist()}
    recorded = read_imu(writers.write_csv(tmp_path / "a.csv", columns)).table
    assert recorded.index.to_numpy() == pytest.approx(SECONDS)
    assert np.diff(recorded["yaw"]) == pytest.approx(np.full(COUNT - 1, -np.radians(1.0)))


@pytest.mark.parametrize(
    ("step", "start", "unit"),
    [
        *((50.3, 1.5e12, "ms"), (10_000.0, 1.5e15, "us"), (10_000_000.0, 1.5e18, "ns")),
        *((10.0, 0.0, "ms"), (5_000.0, 0.0, "us"), (5_000_000.0, 0.0, "ns")),
    ],
)
def test_times_that_seem_not_to_be_in_seconds_are_rejected_with_likely_unit(
    tmp_path, step, start, unit
):
    path = table(tmp_path, clock=(start + step * np.arange(COUNT)).tolist())
    sentence = refusal(read_imu, path, columns={"time": "clock", "yaw": "n"})
    assert f"write time = clock [{unit}], or [s] if the times are in seconds" in sentence
    assert len(read_imu(path, columns={"time": f"clock [{unit}]", "yaw": "n"}).table) == COUNT
    assert len(read_imu(path, columns={"time": "clock [s]", "yaw": "n"}).table) == COUNT


@pytest.mark.parametrize("start", [0.0, 1.5e9])
@pytest.mark.parametrize("step", [0.001, 0.05, 1.0, 2.5])
def test_times_in_seconds_require_no_unit_in_column_map(tmp_path, step, start):
    path = table(tmp_path, clock=(start + step * np.arange(COUNT)).tolist())
    assert len(read_imu(path, columns={"time": "clock", "yaw": "n"}).table) == COUNT


@pytest.mark.parametrize(
    ("read", "columns", "more", "reason"),
    [
        (read_imu, {**IMU, "yaw": "n [deg sideways]"}, (), "expected one of [rad], [mrad], [deg]"),
        (
            read_imu,
            {**IMU, "yaw": "n [furlong]"},
            (),
            "yaw in the column map is [furlong], expected one of",
        ),
        (
            read_imu,
            {"time": "t", "gyro_z": "n [deg/s cw]"},
            (),
            "gyro_z in the column map is [deg/s cw]",
        ),
        (read_reference, POSES, ("gyro_z",), "contains gyro_z, which a reference of poses cannot"),
        (read_reference, POSES, ("qx", "qy"), "contains qx, which can be used only with qz, qw"),
        (
            read_reference,
            POSES,
            ("qx", "qy", "qz", "qw"),
            "yaw, which qx, qy, qz, qw also determine",
        ),
        (read_reference, POSES, ("heading",), "yaw and heading in the column map are the same"),
        (read_reference, FIXES, ("x",), "contains x, which a reference of fixes cannot"),
        (read_reference, FIXES, ("speed",), "contains speed, which can be used only with course"),
        (read_imu, IMU, ("x",), "contains x, which an IMU cannot"),
        (read_imu, IMU, ("roll",), "contains roll, which can be used only if all of roll, pitch"),
    ],
)
def test_unusable_mapped_column_is_rejected_with_column_name(tmp_path, read, columns, more, reason):
    mapping = {**columns, **dict.fromkeys(more, "n")}
    assert reason in refusal(read, table(tmp_path), columns=mapping)


def test_unusable_unmapped_column_is_ignored(tmp_path):
    columns = ("x", "y", "z", "yaw", "speed", "gyro_z", "latitude", "longitude")
    path = table(tmp_path, time=SECONDS.tolist(), **{name: NUMBERS.tolist() for name in columns})
    recorded = read_reference(path)
    assert recorded.table["x"].to_numpy() == pytest.approx(NUMBERS)
    assert recorded.report.remarks == ()
    assert list(read_imu(path).table.columns) == ["roll", "pitch", "yaw", "gyro_z"]
    mapped = read_reference(table(tmp_path), columns={**POSES, "z": "n", "roll": "n"}).report
    assert any("ignored, since the drive is planar: z, roll" in s for s in mapped.remarks)


@pytest.mark.parametrize(
    "name", ["x [m/s2]", "z [rad/s^2]", "y (g)", "roll [deg/s]", "temperature [°C]", "pitch [dps]"]
)
def test_column_with_unit_of_another_quantity_is_not_chosen(tmp_path, name):
    """The message does not mention a column map, because the user has not given one."""
    columns = {"time": SECONDS.tolist(), "gyro_z [rad/s]": NUMBERS.tolist()}
    path = table(tmp_path, **columns, **{name: NUMBERS.tolist()})
    assert read_imu(path).table["gyro_z"].to_numpy() == pytest.approx(NUMBERS)
    assert "expected time and x y yaw" in refusal(read_reference, path)
    assert "yaw in the column map is [furlong]" in refusal(
        read_imu, table(tmp_path, **{"yaw [furlong]": [1.0]})
    )


@pytest.mark.parametrize("name", ["gyro_x", "accel_y"])
def test_recording_without_times_uses_specified_rate(tmp_path, name):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(map(repr, NUMBERS.tolist())))
    recorded = read_imu(path, columns={name: "#1"}, rate=10.0, require=())
    assert list(recorded.table.columns) == [name]
    assert np.array_equal(recorded.table[name], NUMBERS)
    assert recorded.table.index.to_numpy() == pytest.approx(SECONDS, abs=1e-15)
    assert "expected time and" in refusal(read_imu, path, columns={name: "#1"})


def test_file_with_column_map_is_read_as_csv(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(f"{t} 0 0 {n} 0 0 0 1" for t, n in zip(SECONDS, NUMBERS)))
    recorded = read_imu(path, columns={"time": "#1", "yaw": "#4", "gyro_z": "#4 [deg/s]"}, rate=5.0)
    assert list(recorded.table.columns) == ["roll", "pitch", "yaw", "gyro_z"]
    # The specified rate replaces unusable times.
    assert recorded.table.index.to_numpy() == pytest.approx(2.0 * SECONDS)
    assert recorded.table["yaw"].to_numpy() == pytest.approx(NUMBERS)
    assert recorded.table["gyro_z"].to_numpy() == pytest.approx(np.radians(NUMBERS))
    sentence = refusal(read_imu, path, format="tum", columns={"time": "#1", "yaw": "#4"})
    assert "column map requires the format csv" in sentence
