"""Layouts of recordings: recognition by header, column maps, and contradicting values."""

import numpy as np
import pandas as pd
import pytest
from column_tables import TIME, Car

from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.core.yaml_files import bundled_names
from imu_simulation_framework.recordings.columns import find_column_maps, find_columns
from imu_simulation_framework.recordings.frames import (
    ReferenceConventions,
    conventional_reference,
)
from imu_simulation_framework.recordings.layouts import (
    FOLDER,
    RecordingLayout,
    bundled_layouts,
    find_layouts,
    read_layout,
)
from imu_simulation_framework.recordings.reading import (
    read_imu,
    read_imu_samples,
    read_reference_samples,
)

CAR = Car()
GRAVITY = 9.80665
AXES = "xyz"
LAYOUT = RecordingLayout(
    name="two sensors",
    header=("counter", "p", "q2"),
    imu_columns={
        "time": ["counter [ms]"],
        **{f"gyro_{axis}": f"{name} [deg/s]" for axis, name in zip(AXES, ("p", "q2", "r9"))},
        **{f"accel_{axis}": [f"a{axis} [g]", f"b{axis} [m/s^2]"] for axis in AXES},
    },
)


def write_table(path, accel="b", gravity=1.0):
    columns = {"counter": 1e3 * TIME}
    columns.update(zip(("p", "q2", "r9"), np.degrees(CAR.rates).T))
    columns.update(zip((f"{accel}{axis}" for axis in AXES), gravity * CAR.forces.T))
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", bundled_names(FOLDER))
def test_bundled_layout_is_valid_and_recognises_its_columns(name):
    layout = read_layout(name)
    descriptions = [*layout.imu_columns.values(), *layout.reference_columns.values()]
    # A map entry consists of column names and a unit; the unit is removed here.
    columns = [
        text.rpartition(" [")[0].partition(" * ")[0].split(" + ")
        for alternatives in descriptions
        for text in alternatives
    ]
    present = list(dict.fromkeys([*layout.header, *(name for names in columns for name in names)]))
    path = layout.files[0] if layout.files else "a.csv"
    (maps,) = (maps for maps in find_layouts(path, present) if maps.layout.name == layout.name)
    assert set(maps.imu) == set(layout.imu_columns)
    assert set(maps.reference) == set(layout.reference_columns)


def test_layout_with_longest_matching_header_has_priority():
    names = [maps.layout.name for maps in find_layouts("a.csv", read_layout("xsens_mti").header)]
    assert names == ["Xsens MTi"]
    both = [*read_layout("xsens_dot").header, *read_layout("xsens_dot_euler").header]
    names = [maps.layout.name for maps in find_layouts("a.csv", both)]
    assert names == ["Xsens DOT", "Xsens DOT with Euler angles"]
    assert len({layout.name for layout in bundled_layouts()}) == len(bundled_layouts())


@pytest.mark.parametrize(
    "count, size, name",
    [(1e4, 1.0, "Xsens MTi without orientation"), (1e6, 57.3, "Xsens DOT without orientation")],
)
def test_layouts_with_same_header_are_distinguished_by_clock_resolution(
    tmp_path, count, size, name
):
    path = tmp_path / "a.csv"
    columns = {"PacketCounter": np.arange(len(TIME)), "SampleTimeFine": np.rint(count * TIME)}
    for axis, force, rate in zip("XYZ", CAR.forces.T, size * CAR.rates.T):
        columns.update({f"Acc_{axis}": force, f"Gyr_{axis}": rate})
    pd.DataFrame(columns).to_csv(path, index=False)
    chosen = find_columns(path, "imu_recording")
    assert chosen.layout == name
    stamps = read_imu_samples(path, columns=chosen.columns).columns["stamp"]
    np.testing.assert_allclose(stamps, TIME, atol=1e-4)


def test_handheld_phone_recording_is_read_with_units_of_its_logger(tmp_path):
    # Angular rates that are neither small nor large do not reveal their unit.
    rates = CAR.rates + np.random.default_rng(3).normal(0.0, 0.1, CAR.rates.shape)
    stamps = np.rint(1e9 * (1.7e9 + TIME)).astype(np.int64)
    for name, vectors in (("Gyroscope", rates), ("TotalAcceleration", CAR.forces)):
        columns = {"time": stamps, "seconds_elapsed": TIME, **dict(zip("zyx", vectors.T[::-1]))}
        pd.DataFrame(columns).to_csv(tmp_path / f"{name}.csv", index=False)
    maps = find_column_maps(tmp_path)
    assert maps.layout == "Sensor Logger"
    assert maps.imu["gyro_z"] == "Gyroscope.z [rad/s]"
    samples = read_imu_samples(tmp_path)
    np.testing.assert_allclose(samples.columns["gyro_z"], rates[:, 2])
    np.testing.assert_allclose(samples.columns["accel_x"], CAR.forces[:, 0])


def test_bno055_logger_layout_has_rates_in_degrees_and_no_specific_force(tmp_path):
    path = tmp_path / "a.csv"
    columns = {"Arduino_Timestamp_ms": 1e3 * TIME}
    # The acceleration of this logger excludes gravity.
    linear = CAR.forces - [0.0, 0.0, GRAVITY]
    for name, vectors in (("Accel", linear), ("Gyro", np.degrees(CAR.rates)), ("Mag", CAR.forces)):
        columns.update(zip((f"{name}_{axis}" for axis in "XYZ"), vectors.T))
    columns["Euler_Heading"] = np.degrees(-CAR.yaw) % 360.0
    columns["Euler_Roll"] = columns["Euler_Pitch"] = np.zeros(len(TIME))
    pd.DataFrame(columns).to_csv(path, index=False)
    chosen = find_columns(path, "imu_recording")
    assert chosen.layout == "BNO055 on an Arduino"
    samples = read_imu_samples(path, columns=chosen.columns)
    np.testing.assert_allclose(samples.columns["gyro_z"], CAR.rates[:, 2], atol=1e-9)
    assert "accel_x" not in samples


@pytest.mark.parametrize("accel, gravity, unit", [("a", 1.0 / GRAVITY, "g"), ("b", 1.0, "m/s^2")])
def test_first_alternative_column_present_in_file_is_mapped(tmp_path, accel, gravity, unit):
    path = write_table(tmp_path / "a.csv", accel, gravity)
    chosen = find_columns(path, "imu_recording", layout=LAYOUT)
    assert chosen.layout == LAYOUT.name
    assert chosen.columns["accel_z"] == f"{accel}z [{unit}]"
    samples = read_imu_samples(path, columns=chosen.columns)
    np.testing.assert_allclose(samples.columns["gyro_z"], CAR.rates[:, 2], atol=1e-9)
    np.testing.assert_allclose(samples.columns["accel_z"], CAR.forces[:, 2], atol=1e-9)


def test_table_contradicting_its_layout_is_read_by_column_names(tmp_path):
    # The table lacks the column time, which the layout maps.
    for name, vectors in (("Gyroscope", CAR.rates), ("TotalAcceleration", CAR.forces)):
        columns = {"seconds_elapsed": TIME, **dict(zip("xyz", vectors.T))}
        pd.DataFrame(columns).to_csv(tmp_path / f"{name}.csv", index=False)
    maps = find_column_maps(tmp_path)
    assert maps.layout == "" and maps.time == "Gyroscope.seconds_elapsed [s]"
    assert maps.open_columns["gyro_z"] == ["Gyroscope.z [deg/s]", "Gyroscope.z [rad/s]"]
    samples = read_imu_samples(tmp_path)
    np.testing.assert_allclose(samples.columns["stamp"], TIME)
    np.testing.assert_allclose(samples.columns["accel_z"], CAR.forces[:, 2])


def test_missing_gyroscope_unit_error_lists_candidate_column_map_lines(tmp_path):
    for name, vectors in (("Gyroscope", CAR.rates), ("TotalAcceleration", CAR.forces)):
        columns = {"seconds_elapsed": TIME, **dict(zip("xyz", vectors.T))}
        pd.DataFrame(columns).to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(RecordingError, match=r"gyro_z = Gyroscope.z \[deg/s\]"):
        read_imu(tmp_path)


def test_quantities_missing_from_table_are_omitted():
    present = ["counter", "p", "q2", "ax", "ay"]
    (maps,) = find_layouts("a.csv", present, LAYOUT)
    assert sorted(maps.imu) == ["accel_x", "accel_y", "gyro_x", "gyro_y", "time"]


def test_accelerations_without_gravity_contradict_layout(tmp_path):
    path = write_table(tmp_path / "a.csv", "b", 1.0 / GRAVITY)
    maps = find_column_maps(path, layout=LAYOUT)
    assert maps.layout == ""
    assert LAYOUT.name in maps.reasons[0] and "accel_x" in maps.reasons[0]


def test_implausibly_large_rates_contradict_layout(tmp_path):
    layout = RecordingLayout(
        name="with yaw",
        header=("t", "yaw"),
        imu_columns={
            "time": "t [s]",
            "yaw": "yaw [rad]",
            **{f"gyro_{axis}": f"g{axis} [rad/s]" for axis in AXES},
        },
    )
    path = tmp_path / "a.csv"
    rates = zip((f"g{axis}" for axis in AXES), np.degrees(CAR.rates).T)
    yaw = np.angle(np.exp(1j * CAR.yaw))
    pd.DataFrame({"t": TIME, "yaw": yaw, **dict(rates)}).to_csv(path, index=False)
    maps = find_column_maps(path, layout=layout)
    assert maps.layout == "" and "gyro_x" in maps.reasons[0]
    assert maps.imu["gyro_z"] == "gz [deg/s]"


def test_requested_layout_with_missing_header_columns_is_rejected(tmp_path):
    path = tmp_path / "a.csv"
    pd.DataFrame({"t": TIME, "p": TIME}).to_csv(path, index=False)
    with pytest.raises(RecordingError, match="counter"):
        find_columns(path, "imu_recording", layout=LAYOUT)


def test_column_missing_for_requested_layout_is_reported(tmp_path):
    path, description = tmp_path / "a.csv", tmp_path / "acme.yaml"
    rates = {f"w{axis}": np.degrees(rate) for axis, rate in zip(AXES, CAR.rates.T)}
    pd.DataFrame({"t": TIME, "psi": np.degrees(CAR.yaw), **rates}).to_csv(path, index=False)
    description.write_text(
        "name: Acme\nheader: [t, wx]\nimu_columns:\n  time: t [s]\n  yaw: psy [deg]\n"
        "  gyro_x: wx [deg/s]\n  gyro_y: wy [deg/s]\n  gyro_z: wz [deg/s]\n"
    )
    choice = find_columns(path, "imu_recording", layout=read_layout(description))
    assert any("psy" in reason and reason.startswith("yaw") for reason in choice.reasons)


@pytest.mark.parametrize(
    "header, columns, key",
    [
        ("[a]", "{}", "imu_columns"),
        ("[]", '{time: "a [s]"}', "header"),
        ("[a]", '{tme: "a [s]"}', "tme"),
        ("[a]", '{time: "a [furlong]"}', "furlong"),
        ("[a]", "{time: 3}", "imu_columns.time"),
        ("[a]", "[a]", "imu_columns"),
        ("a", '{time: "a [s]"}', "header"),
        ("[a]", '{time: "a [s]"}\nunits: SI', "units"),
        ("[a]", '{time: "a [s]"}\nframe: nwu', "frame"),
        ("[a]", '{time: "a [s]", qw: "b [1]"}\nframe: ned', "frame"),
    ],
)
def test_invalid_layout_is_rejected_with_offending_key(tmp_path, header, columns, key):
    path = tmp_path / "mine.yaml"
    path.write_text(f"header: {header}\nimu_columns: {columns}\n")
    with pytest.raises(ConfigurationError, match=key) as refusal:
        read_layout(path)
    assert str(path) in str(refusal.value)


def test_layout_in_north_east_down_is_read_in_east_north_up(tmp_path):
    path = tmp_path / "log_sensor_combined_0.csv"
    columns = {"timestamp": np.rint(1e6 * TIME).astype(int), "gyro_integral_dt": 4000}
    for place, sign in enumerate((1.0, -1.0, -1.0)):
        columns[f"gyro_rad[{place}]"] = sign * CAR.rates[:, place]
        columns[f"accelerometer_m_s2[{place}]"] = sign * CAR.forces[:, place]
    pd.DataFrame(columns).to_csv(path, index=False)
    chosen = find_columns(path, "imu_recording")
    assert chosen.layout == "PX4"
    samples = read_imu_samples(path, columns=chosen.columns)
    for place, axis in enumerate(AXES):
        np.testing.assert_allclose(samples.columns[f"gyro_{axis}"], CAR.rates[:, place])
        np.testing.assert_allclose(samples.columns[f"accel_{axis}"], CAR.forces[:, place])


def test_poses_in_north_east_down_are_read_in_east_north_up(tmp_path):
    path = tmp_path / "groundtruth_2013-01-10.csv"
    height = np.linspace(0.0, 2.0, len(TIME))
    columns = [1e6 * (1.35e9 + TIME), CAR.north, CAR.east, -height, 0.0 * TIME, 0.1 + 0.0 * TIME]
    np.savetxt(path, np.column_stack([*columns, CAR.azimuth]), delimiter=",", fmt="%.17g")
    chosen = find_columns(path, "reference", orientation=True)
    assert chosen.layout == "NCLT ground truth"
    samples = read_reference_samples(path, columns=chosen.columns)
    samples = conventional_reference(samples, ReferenceConventions())
    for name, values in (("x", CAR.east), ("y", CAR.north), ("z", height)):
        np.testing.assert_allclose(samples.columns[name], values, atol=1e-9)
    turns = np.angle(np.exp(1j * (samples.columns["yaw"] - CAR.yaw)))
    np.testing.assert_allclose(turns, 0.0, atol=1e-9)
    np.testing.assert_allclose(samples.columns["pitch"], -0.1)


@pytest.mark.parametrize("name", ["ms25.csv", "other.csv"])
def test_table_without_header_is_recognised_by_its_file_name(tmp_path, name):
    path = tmp_path / name
    signs = [1.0, -1.0, -1.0]
    magnetic = 0.2 + 0.01 * np.random.default_rng(2).standard_normal((len(TIME), 3))
    columns = [1e6 * (1.35e9 + TIME), magnetic, signs * CAR.forces, signs * CAR.rates]
    np.savetxt(path, np.column_stack(columns), delimiter=",", fmt="%.17g")
    chosen = find_columns(path, "imu_recording")
    assert (chosen.layout == "NCLT, Microstrain MS25") == (name == "ms25.csv")
    if chosen.layout:
        samples = read_imu_samples(path, columns=chosen.columns)
        np.testing.assert_allclose(samples.columns["gyro_z"], CAR.rates[:, 2])
        np.testing.assert_allclose(samples.columns["accel_z"], CAR.forces[:, 2])


def test_axes_of_autopilot_log_are_converted_only_once():
    present = ["TimeUS", *(f"{kind}{axis}" for kind in ("Gyr", "Acc") for axis in "XYZ")]
    (as_text,) = find_layouts("a.csv", present)
    (as_log,) = find_layouts("a.bin", present, frame="ned")
    assert as_text.imu["gyro_z"] == "-GyrZ [rad/s]"
    assert as_log.imu["gyro_z"] == "GyrZ [rad/s]"
