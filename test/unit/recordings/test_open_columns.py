"""Axes, units and scale factors that values determine where column names do not."""

import numpy as np
import pandas as pd
import pytest
import recording_writers as writers
from column_tables import GRAVITY, RATE, TIME, Car, choose, wrapped
from refusals import refusal
from scipy.spatial.transform import Rotation
from table_writers import write_xlsx

from imu_simulation_framework.recordings.column_maps import seconds_of_dates
from imu_simulation_framework.recordings.columns import find_column_maps, find_columns
from imu_simulation_framework.recordings.reading import read_imu_samples, read_reference_samples
from imu_simulation_framework.recordings.vocabulary.times import FIX_STEPS, IMU_STEPS, time_unit

CAR = Car()
ZEROS = np.zeros(len(TIME))
HEADING = np.degrees(CAR.azimuth)
YAW = np.degrees(wrapped(CAR.yaw))
SWAY = 3.0 * np.sin(0.7 * TIME)


def has_reason(chosen, *words):
    """Return whether one of the reasons contains all words."""
    return any(all(word in reason for word in words) for reason in chosen.reasons)


def euler(x, y, z, form="Euler_{}"):
    return {form.format(axis): values for axis, values in zip("XYZ", (x, y, z))}


@pytest.mark.parametrize("form", ["Euler_{}", "euler{}", "imu.euler_angles.{}", "EULER {} (deg)"])
def test_bno055_euler_x_is_identified_as_heading_from_gyroscope(form):
    chosen = choose(t=TIME, **euler(HEADING, SWAY, -SWAY, form), **CAR.inertial())
    angles = {"roll", "pitch", "yaw", "heading"} & set(chosen.imu)
    assert angles == {"heading"}
    assert chosen.imu["heading"] == f"{form.format('X')} [deg cw from north]"
    assert has_reason(chosen, "is the heading", "against the gyroscope")
    assert set(chosen.unused) == {form.format("Y"), form.format("Z")}


def test_euler_z_is_identified_as_yaw_from_gyroscope():
    chosen = choose(t=TIME, **euler(SWAY, -SWAY, YAW), **CAR.inertial())
    assert [chosen.imu[name] for name in ("roll", "pitch", "yaw")] == [
        f"Euler_{axis} [deg]" for axis in "XYZ"
    ]


def test_heading_among_euler_angles_is_inferred_with_sensor_on_its_side():
    side = {f"gyro_{a}": CAR.rates[:, k] for a, k in zip("xyz", (2, 0, 1))}
    side.update({f"acc_{a}": CAR.forces[:, k] for a, k in zip("xyz", (2, 0, 1))})
    assert "heading" in choose(t=TIME, **euler(HEADING, SWAY, -SWAY), **side).imu


def test_euler_angles_without_gyroscope_are_assigned_by_range():
    """Only the angle about the vertical covers a full turn."""
    chosen = choose(t=TIME, **euler(HEADING, SWAY, -SWAY))
    assert chosen.imu["heading"] == "Euler_X [deg cw from north]"
    assert choose(t=TIME, **euler(SWAY, -SWAY, HEADING)).imu["yaw"] == "Euler_Z [deg]"
    chosen = choose(t=TIME, **euler(YAW, SWAY, YAW))
    assert chosen.imu == {}
    assert has_reason(chosen, "Euler_X", "cannot be determined which is the heading")


@pytest.mark.parametrize("scalar", ["first", "last"])
@pytest.mark.parametrize("form", ["q{}", "quat_{}", "Quaternion{}"])
def test_scalar_part_of_quaternion_columns_numbered_from_1_is_inferred(scalar, form):
    quaternions = Rotation.from_euler("z", CAR.yaw).as_quat()
    parts = np.roll(quaternions, scalar == "first", axis=1).T
    columns = {form.format(place): part for place, part in enumerate(parts, 1)}
    chosen = choose(t=TIME, **columns, **CAR.inertial())
    assert chosen.imu["qw"] == f"{form.format({'first': 1, 'last': 4}[scalar])} [1]"
    assert chosen.imu["qz"] == f"{form.format({'first': 4, 'last': 3}[scalar])} [1]"
    assert has_reason(chosen, "numbered from 1", f"with the {scalar} as w")
    assert has_reason(
        choose(**columns, **CAR.inertial()), "numbered from 1", f"with the {scalar} as w"
    )
    chosen = choose(t=TIME, **columns)
    assert has_reason(chosen, "numbered from 1", "so the first is assumed to be w")


EAST, NORTH = CAR.speed * np.cos(CAR.yaw), CAR.speed * np.sin(CAR.yaw)
PLACE = {"x": CAR.east, "y": CAR.north}


def test_velocities_along_x_and_y_are_assigned_to_reference():
    chosen = choose(t=TIME, **PLACE, vx=EAST, vy=NORTH)
    assert chosen.reference["velocity_east"] == "vx [m/s]"
    assert chosen.reference["velocity_north"] == "vy [m/s]"


@pytest.mark.parametrize(
    "columns, words",
    [
        ({"vx": CAR.speed, "vy": ZEROS + 0.01}, "differs from the path of the positions"),
        ({"vx": EAST, "vy": NORTH, "yaw": CAR.yaw}, "a velocity is used only with"),
    ],
)
def test_unused_velocities_are_reported(columns, words):
    chosen = choose(t=TIME, **PLACE, **columns)
    assert "velocity_east" not in chosen.reference
    assert has_reason(chosen, "vx, vy", words)


def test_velocities_with_unknown_direction_are_omitted():
    straight = {"x": CAR.speed.cumsum() / RATE, "y": 0.01 * np.sin(TIME)}
    chosen = choose(t=TIME, **straight, vx=CAR.speed, vy=ZEROS + 0.001)
    assert "velocity_east" not in chosen.reference
    assert has_reason(chosen, "vx, vy", "the axes cannot be determined")


def test_columns_with_same_name_are_distinguished_by_unit(tmp_path):
    forces = {f"{axis} [m/s^2]": CAR.forces[:, k] for k, axis in enumerate("xyz")}
    rates = {f"{axis} [rad/s]": CAR.rates[:, k] for k, axis in enumerate("xyz")}
    chosen = choose(t=TIME, **forces, **rates)
    assert chosen.imu["gyro_z"] == "z [rad/s] [rad/s]"
    assert chosen.imu["accel_x"] == "x [m/s^2] [m/s^2]"
    assert not chosen.reference
    # The units are on a separate line.
    path = tmp_path / "a.csv"
    lines = ["t,x,y,z,x,y,z", "s,m/s^2,m/s^2,m/s^2,deg/s,deg/s,deg/s"]
    rows = np.column_stack([TIME, CAR.forces, np.degrees(CAR.rates)])
    path.write_text("\n".join([*lines, *(",".join(map(repr, row)) for row in rows.tolist())]))
    recorded = read_imu_samples(path, columns=find_column_maps(path).imu)
    assert recorded.columns["gyro_z"] == pytest.approx(CAR.rates[:, 2], abs=1e-9)
    assert recorded.columns["accel_y"] == pytest.approx(CAR.forces[:, 1], abs=1e-9)


@pytest.mark.parametrize("name", ["Gyroscope.csv", "2020-my_gyro.csv", "drive.csv"])
def test_bare_axis_names_are_assigned_to_sensor_in_file_name(tmp_path, name):
    path = tmp_path / name
    axes = {axis: CAR.rates[:, k].tolist() for k, axis in enumerate("xyz")}
    writers.write_csv(path, {"seconds_elapsed": TIME.tolist(), **axes})
    chosen = find_column_maps(path)
    expected = {} if name == "drive.csv" else {f"gyro_{a}": f"{a} [rad/s]" for a in "xyz"}
    assert {n: lines[-1] for n, lines in chosen.open_columns.items() if n != "time"} == expected


def increments(**columns):
    step = {name: values / RATE for name, values in CAR.inertial().items()}
    return choose(t=TIME, **step, **columns)


def test_axes_numbered_from_1_are_recognised():
    """Matrix libraries write such names; nine numbered columns are a matrix, not a quaternion."""
    names = {f"gyro_{k + 1}": CAR.rates[:, k] for k in range(3)}
    names.update({f"acc_{k + 1}": CAR.forces[:, k] for k in range(3)})
    chosen = choose(t=TIME, **names, pos_1=CAR.east, pos_2=CAR.north, pos_3=ZEROS + 0.5)
    columns = [chosen.open_columns[f"gyro_{axis}"][0].split()[0] for axis in "xyz"]
    assert columns == list(names)[:3]
    assert chosen.reference["x"] == "pos_1 [m]" and chosen.reference["z"] == "pos_3 [m]"
    turned = Rotation.from_euler("z", CAR.yaw).as_matrix().reshape(-1, 9).T
    chosen = choose(t=TIME, **{f"quat_{k}": part for k, part in enumerate(turned, 1)}, **names)
    assert not {"qw", "qx"} & set(chosen.imu)


def test_velocity_increments_are_recognised_from_gravity():
    """NovAtel's CORRIMU and the messages of its early ROS drivers contain such increments."""
    chosen = increments()
    assert chosen.imu["accel_z"] == "acc_z * 50 [m/s^2]"
    assert chosen.open_columns["gyro_z"] == ["gyro_z * 50 [deg/s]", "gyro_z * 50 [rad/s]"]
    assert has_reason(chosen, "as velocity increments per sample")


def test_accelerations_without_gravity_are_not_read_as_increments():
    """0.2 m/s^2, multiplied by the sampling rate of 50 Hz, is as large as gravity."""
    noise = 0.13 * np.random.default_rng(8).standard_normal((len(TIME), 3))
    chosen = choose(t=TIME, **{f"acc_{axis}": noise[:, k] for k, axis in enumerate("xyz")})
    assert has_reason(chosen, "acc_x, acc_y, acc_z", "which is not gravity; ignored")


def test_angle_increments_are_recognised_from_heading():
    turned = {f"gyro_{axis}": 4.0 * CAR.rates[:, k] / 200.0 for k, axis in enumerate("xyz")}
    chosen = choose(t=0.25 * TIME, yaw=YAW, **turned)
    assert chosen.imu["gyro_z"] == "gyro_z * 200 [rad/s]"
    assert has_reason(chosen, "as increments per sample")


def counts(**columns):
    forces = {
        f"a{axis}": np.rint(CAR.forces[:, k] / GRAVITY * 8192) for k, axis in enumerate("xyz")
    }
    rates = np.rint(np.degrees(CAR.rates) * 65.5)
    return choose(
        t=TIME, **forces, **{f"g{a}": rates[:, k] for k, a in enumerate("xyz")}, **columns
    )


def test_raw_counts_are_scaled_with_gravity_and_yaw():
    chosen = counts()
    assert chosen.imu["accel_z"] == "az / 8192 [g]"
    assert "gyro_z" not in chosen.imu
    assert "gz / 131 [deg/s]" in chosen.open_columns["gyro_z"]
    assert counts(yaw=YAW).imu["gyro_z"] == "gz / 65.5 [deg/s]"


def test_large_integers_are_not_read_as_degrees_per_second():
    """NovAtel's RAWIMU contains such counts."""
    rates = np.rint(1e5 * CAR.rates)
    chosen = choose(t=TIME, **{f"gyro_{axis}": rates[:, k] for k, axis in enumerate("xyz")})
    assert chosen.imu == {}
    assert has_reason(chosen, "gyro_x, gyro_y, gyro_z: counts")


@pytest.mark.parametrize("start", [9 * 3600.0 + 59 * 60.0 + 50.0, 86400.0 - 20.0])
def test_time_of_day_is_used_as_time_if_it_is_the_only_clock(tmp_path, start):
    def clock(time):
        minutes, seconds = divmod((start + time) % 86400.0, 60.0)
        return f"{int(minutes) // 60}:{int(minutes) % 60:02d}:{seconds:06.3f}"

    path = tmp_path / "a.csv"
    table = {"Time": [clock(time) for time in TIME], **CAR.inertial()}
    path.write_text(
        "\n".join([",".join(table), *(",".join(map(str, row)) for row in zip(*table.values()))])
    )
    chosen = find_column_maps(path)
    assert chosen.imu["time"] == "Time [iso8601]"
    stamps = read_imu_samples(path, columns=chosen.imu).columns["stamp"]
    assert stamps[0] == pytest.approx(start)
    assert stamps - stamps[0] == pytest.approx(TIME, abs=1e-6)


def test_clock_with_one_second_resolution_is_not_used_as_sample_time():
    clock = np.array([f"12:00:{int(time):02d}" for time in TIME])
    chosen = choose(clock=clock, **CAR.inertial())
    assert "time" not in chosen.imu
    assert has_reason(chosen, "clock is not used as the time", "whole seconds")


def test_date_and_millisecond_columns_are_combined_into_time(tmp_path):
    path = tmp_path / "a.csv"
    whole = np.datetime64("2024-05-06T07:08:09") + np.floor(TIME).astype("m8[s]")
    table = {"Timestamp": [f"{item.replace('T', ' ')} UTC" for item in whole.astype(str)]}
    table["Milliseconds"] = np.rint(1e3 * (TIME % 1.0)).astype(int)
    writers.write_csv(path, {**table, **CAR.inertial()})
    chosen = find_column_maps(path)
    assert chosen.imu["time"] == "Timestamp [iso8601] + Milliseconds [ms]"
    stamps = read_imu_samples(path, columns=chosen.imu).columns["stamp"]
    assert stamps - stamps[0] == pytest.approx(TIME, abs=1e-6)
    table["Milliseconds"] = np.rint(1e3 * TIME).astype(int)
    writers.write_csv(path, {**table, **CAR.inertial()})
    assert find_column_maps(path).imu["time"] == "Milliseconds [ms]"


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_line_number_is_suggested_as_time(tmp_path, name):
    path, columns = tmp_path / name, CAR.inertial()
    if name == "a.csv":
        writers.write_csv(path, columns)
    else:
        write_xlsx(path, [columns, *zip(*columns.values())])
    chosen = find_column_maps(path)
    assert "time" not in chosen.imu and has_reason(chosen, "time = line / 100 [s]")
    columns = {"time": "line / 50 [s]", **chosen.imu}
    stamps = read_imu_samples(path, columns=columns).columns["stamp"]
    assert stamps - stamps[0] == pytest.approx(TIME, abs=1e-9)
    assert "column 'line' is missing" in refusal(read_imu_samples, path, columns={"gyro_z": "line"})


@pytest.mark.parametrize(
    "name, unit", [("Gyro_X_deg_per_s", "deg/s"), ("gyro_x_rad_per_sec", "rad/s")]
)
def test_units_written_with_per_are_recognised(name, unit):
    columns = {name.replace("X", axis.upper()).replace("_x_", f"_{axis}_"): CAR.rates[:, k]
               for k, axis in enumerate("xyz")}  # fmt: skip
    assert choose(t=TIME, **columns).imu["gyro_x"] == f"{name} [{unit}]"


def test_gps_seconds_are_recognised_as_time():
    assert choose(GPST=3.9e5 + TIME, **CAR.inertial()).imu["time"] == "GPST [s]"


def test_text_file_with_only_comments_is_rejected(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("# one\n// two\n")
    assert "contains only comments" in refusal(read_reference_samples, path)


def test_first_line_with_numbers_and_words_is_not_read_as_header(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"odom {0.1 * k:.1f} {0.5 * k:.2f} 1.25 ok\n" for k in range(9)))
    assert "expected one of col1, col2, col3" in refusal(
        read_reference_samples, path, columns={"x": "a"}
    )


def test_odometry_orientation_is_not_used_for_imu(tmp_path):
    path = tmp_path / "a.bag"
    turned = Rotation.from_euler("z", CAR.yaw).as_quat()
    messages = [
        writers.odometry(round(1e9 * (1e9 + time)), (east, north, 0.0), quaternion)
        for time, east, north, quaternion in zip(TIME, CAR.east, CAR.north, turned)
    ]
    writers.write_bag(path, {"/odom": messages, "/raw_odom": messages})
    assert not find_column_maps(path).imu
    columns, reasons, *_ = find_columns(path, "imu_recording", shared=True)
    assert columns == {} and any(
        "belongs to the reference, not to an IMU" in item for item in reasons
    )


@pytest.mark.parametrize("further, unit", [({}, ""), ({"yaw": YAW}, "mrad/s")])
def test_integer_milliradian_rates_are_not_read_as_degrees_per_second(further, unit):
    """MAVLink's RAW_IMU contains mg and mrad/s in xacc and xgyro."""
    forces, rates = np.rint(1e3 * CAR.forces / GRAVITY), np.rint(1e3 * CAR.rates)
    columns = {f"{axis}acc": forces[:, k] for k, axis in enumerate("xyz")}
    columns.update({f"{axis}gyro": rates[:, k] for k, axis in enumerate("xyz")})
    chosen = choose(time_boot_ms=1e3 * TIME, **columns, **further)
    assert chosen.imu["accel_z"] == "zacc [mg]"
    assert chosen.imu.get("gyro_z", "") == (f"zgyro [{unit}]" if unit else "")


@pytest.mark.parametrize("size", [100.0, 1000.0 / GRAVITY])
@pytest.mark.parametrize("names", ["{}acc {}gyro", "acc_{} gyro_{}"])
def test_bno055_counts_are_not_read_as_mg_and_milliradians(size, names):
    """A BNO055 outputs 100 counts per m/s^2 and 16 per deg/s, which resemble mg and mrad/s."""
    lean, rates = 0.15 * np.sin(0.9 * TIME), CAR.rates.copy()
    rates[:, 1] += np.gradient(lean, TIME)
    forces = GRAVITY * np.column_stack([-np.sin(lean), ZEROS, np.cos(lean)])
    columns = {}
    for values, name in zip((size * forces, 16.0 * np.degrees(rates)), names.split()):
        columns.update({name.format(a): np.rint(values[:, k]) for k, a in enumerate("xyz")})
    chosen = choose(t=TIME, **columns)
    assert chosen.imu["accel_z"].endswith(" / 100 [m/s^2]" if size == 100.0 else "[mg]")
    assert has_reason(chosen, "[mg]" if size == 100.0 else "/ 100 [m/s^2]", "nearly as well")
    assert "gyro_z" not in chosen.imu
    z = names.split()[1].format("z")
    assert {f"{z} [mrad/s]", f"{z} / 16 [deg/s]"} <= set(chosen.open_columns["gyro_z"])
    chosen = choose(t=TIME, yaw=YAW, **columns)
    assert chosen.imu["gyro_z"].endswith("gyro_z / 16 [deg/s]" if names[0] == "a" else "[deg/s]")


@pytest.mark.parametrize("count", [16.0, 900.0 / np.degrees(1.0), 131.0])
def test_gyroscope_counts_with_orientation_get_nearest_unit(count):
    rates = {f"g{a}": np.rint(count * np.degrees(CAR.rates[:, k])) for k, a in enumerate("xyz")}
    forces = {f"a{a}": CAR.forces[:, k] for k, a in enumerate("xyz")}
    chosen = choose(t=TIME, yaw=np.degrees(CAR.yaw), **rates, **forces)
    per_radian = "gz / 900 [rad/s]" if 15.0 < count < 15.9 else f"gz / {count:g} [deg/s]"
    assert chosen.imu["gyro_z"] == per_radian


def test_unit_of_integer_rates_remains_undetermined():
    rates = {f"g{a}": np.rint(16.4 * np.degrees(CAR.rates[:, k])) for k, a in enumerate("xyz")}
    forces = {f"a{a}": CAR.forces[:, k] for k, a in enumerate("xyz")}
    chosen = choose(t=TIME, **rates, **forces)
    assert "gyro_z" not in chosen.imu
    assert "gz [deg/s]" in chosen.open_columns["gyro_z"]


def test_magnetic_field_named_like_angular_rates_is_omitted():
    """A VectorNav table contains the magnetic field under the names of angular velocities."""
    north, down = 0.2, 0.4  # gauss
    field = np.column_stack([north * np.cos(CAR.yaw), -north * np.sin(CAR.yaw), ZEROS - down])
    names = {f"Angular Velocity {a}": field[:, k] for k, a in enumerate("XYZ")}
    forces = {f"acc_{a}": CAR.forces[:, k] for k, a in enumerate("xyz")}
    chosen = choose(t=TIME, **names, **forces)
    assert "accel_z" in chosen.imu
    assert "gyro_z" not in {**chosen.imu, **chosen.open_columns}
    assert has_reason(chosen, "Angular Velocity X", "magnetic field")
    # Turning left and right at the same rate also gives a vector of constant magnitude.
    sides = np.where(np.sin(0.2 * TIME) > 0.0, 0.5, -0.5)
    noise = 0.005 * np.random.default_rng(1).standard_normal((len(TIME), 3))
    rates = np.column_stack([ZEROS, ZEROS, sides]) + noise
    names = {f"Angular Velocity {a}": rates[:, k] for k, a in enumerate("XYZ")}
    assert "gyro_z" in choose(t=TIME, **names, **forces).imu


def test_gyroscope_counts_beside_accelerations_are_not_read_as_degrees_per_second():
    lean = 0.15 * np.sin(0.9 * TIME)
    rates = CAR.rates + np.column_stack([ZEROS, np.gradient(lean, TIME), ZEROS])
    forces = GRAVITY * np.column_stack([-np.sin(lean), ZEROS, np.cos(lean)])
    columns = {f"a{a}": forces[:, k] for k, a in enumerate("xyz")}
    columns.update({f"g{a}": np.rint(16 * np.degrees(rates[:, k])) for k, a in enumerate("xyz")})
    chosen = choose(t=TIME, **columns)
    assert "gyro_z" not in chosen.imu and "gz / 16 [deg/s]" in chosen.open_columns["gyro_z"]


@pytest.mark.parametrize("kind", ["Gyroscope{} [rad/s]", "Accelerometer{} [m/s²]"])
def test_numbered_gopro_columns_require_axis_in_name_of_first_column(tmp_path, kind):
    """Only the first of three columns has a name; the order z, x, y is known if it states z."""
    values = CAR.rates + 0.001 if kind.startswith("G") else CAR.forces
    for first, count in ((" (z)", 3), ("", 0)):
        path = tmp_path / f"{count}.csv"
        table = {"cts": 1e3 * TIME, kind.format(first): values[:, 2], "1": values[:, 0]}
        pd.DataFrame({**table, "2": values[:, 1]}).to_csv(path, index=False)
        vector = {n: c for n, c in find_column_maps(path).imu.items() if n != "time"}
        assert len(vector) == count
        assert [c.split()[0] for n, c in vector.items() if n[-1] in "xy"] == ["1", "2"][:count]


def test_inline_lateral_and_vertical_acceleration_columns_are_recognised():
    """AiM's RaceStudio exports such names, with the vertical acceleration positive downwards."""
    names = ("InlineAcc [g]", "LateralAcc [g]", "VerticalAcc [g]")
    columns = dict(zip(names, (CAR.forces * [1.0, -1.0, -1.0] / GRAVITY).T))
    rates = {"YawRate [deg/s]": -np.degrees(CAR.rates[:, 2])}
    chosen = choose(**{"Time [s]": TIME, "GPS LateralAcc [g]": ZEROS}, **columns, **rates)
    assert [chosen.imu[f"accel_{a}"] for a in "xyz"] == [f"{name} [g]" for name in names]


def test_text_in_time_column_is_reported():
    stamps = np.array([f"2024-3-23--13-41-{time:06.3f}" for time in TIME])
    assert has_reason(
        choose(Time=stamps, **CAR.inertial()), "Time is not used", "has no known format"
    )
    clocks = np.array([f"12:00:{time:06.3f}" for time in TIME])
    clocks[7] = "reset"
    assert has_reason(choose(Time=clocks, **CAR.inertial()), "Time is not used", "'reset'")


def test_comment_line_above_numbers_and_words_is_read_as_header(tmp_path):
    path = tmp_path / "a.csv"
    rows = (f"A1, ok, {time:.2f}, {rate:.5f}" for time, rate in zip(TIME, CAR.rates[:, 2]))
    path.write_text("\n".join(["#serial,state,time,gyro_z", *rows]))
    assert find_column_maps(path).time == "time [s]"


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("day", ["", "2024-03-01 ", "2024/03/01 "])
def test_fractional_seconds_after_point_or_comma_are_read(mark, day):
    texts = pd.Series([f"{day}09:59:59{mark}250", f"{day}10:00:01{mark}000"])
    assert np.diff(seconds_of_dates(texts)) == pytest.approx([1.75], abs=1e-6)


@pytest.mark.parametrize(
    ("begin", "step", "unit"),
    [
        (672_705_976_809_250, 2_000_000, "ns"),  # uptime of a week
        (1_279_034_942, 2, "ms"),
        (1_279_034_942_000, 2_000, "us"),
        (1_766_385_749_423_015, 5_000, "us"),  # microseconds since 1970
        (1_766_385_749, 1, "s"),
    ],
)
def test_uptime_counts_of_phone_are_not_read_as_dates(begin, step, unit):
    count = begin + step * np.arange(200)
    pieces = np.zeros(200, dtype=int)
    assert time_unit(count.astype(float), pieces, IMU_STEPS)[0] == unit


def test_microseconds_and_nanoseconds_since_1970_are_distinguished():
    count = 1_766_385_749_423_015 + 1_000_000 * np.arange(200.0)
    assert time_unit(count, np.zeros(200, dtype=int), FIX_STEPS)[0] == "us"
    # Uptime of a phone in nanoseconds; read as microseconds, it would be in the year 2000.
    count = 951_412_773_297_707 + 8_000_000 * np.arange(200.0)
    assert time_unit(count, np.zeros(200, dtype=int), FIX_STEPS)[0] == "ns"


@pytest.mark.parametrize(
    ("gyro", "accel"),
    [
        ("mpu6050_gyro_{}", "mpu6050_acc_{}"),
        ("gyroscope_lsm6ds3_c.{}", "accelerometer_lsm6ds3_c.{}"),
        ("{} Gyro [x8005]", "{} Accel [x8004]"),
        ("w_{}", "f_{}"),
        ("pqr", "f_{}"),
    ],
)
def test_column_names_with_sensor_model_or_protocol_field_are_recognised(gyro, accel):
    names = list("pqr") if gyro == "pqr" else [gyro.format(axis.upper()) for axis in "xyz"]
    columns = {name: CAR.rates[:, k] for k, name in enumerate(names)}
    columns.update({accel.format(axis): CAR.forces[:, k] for k, axis in enumerate("xyz")})
    chosen = choose(t=TIME, **columns, azi=HEADING)
    assert chosen.imu["gyro_z"] == f"{names[2]} [rad/s]"
    assert chosen.imu["accel_x"] == f"{accel.format('x')} [m/s^2]"


def test_isolated_single_letter_columns_are_not_read_as_imu():
    forces = {f"f_{axis}": CAR.forces[:, k] for k, axis in enumerate("xyz")}
    assert not choose(t=TIME, **forces).imu
    assert not choose(t=TIME, r=CAR.rates[:, 2]).imu


def test_noisy_rates_with_ros_names_are_in_rad_per_second():
    """A hand-held phone is neither stationary nor turning fast."""
    noisy = CAR.rates + np.random.default_rng(3).normal(0.0, 0.1, CAR.rates.shape)
    forces = {f"linear_acceleration_{a}": CAR.forces[:, k] for k, a in enumerate("xyz")}
    for stem in ("angular_velocity", "gyro"):
        rates = {f"{stem}_{a}": noisy[:, k] for k, a in enumerate("xyz")}
        chosen = choose(t=TIME, **rates, **forces)
        assert ("gyro_z" in chosen.imu) == (stem == "angular_velocity"), chosen.reasons


@pytest.mark.parametrize(
    "largest, unit_is_known",
    [
        (34.9, True),  # rad/s: 2000 deg/s, the full scale of most gyroscopes
        (50.0, False),  # more than a robot turns in rad/s, and little in deg/s
    ],
)
def test_unit_of_rates_with_ros_names_beyond_full_scale_is_undetermined(largest, unit_is_known):
    rates = {f"angular_velocity_{axis}": largest * np.sin(3.0 * TIME) for axis in "xyz"}
    chosen = choose(t=TIME, **rates)
    assert ("gyro_z" in chosen.imu) == unit_is_known
    assert ("gyro_z" in chosen.open_columns) != unit_is_known


def test_north_and_east_velocities_are_recognised_from_positions():
    """Programs with a north-east-down frame write such names; positions reveal which is north."""
    north, east = (CAR.speed * wave(CAR.yaw) for wave in (np.sin, np.cos))
    columns = {"lat": CAR.latitude, "lon": CAR.longitude, "vel[0]": north, "vel[1]": east}
    chosen = choose(t=TIME, **columns)
    assert chosen.reference["velocity_north"] == "vel[0] [m/s]"
    assert chosen.reference["velocity_east"] == "vel[1] [m/s]"
    swapped = choose(t=TIME, **{**columns, "vel[0]": east, "vel[1]": north})
    assert swapped.reference["velocity_east"] == "vel[0] [m/s]"


def test_quaternion_matching_gyroscope_replaces_euler_angles_that_are_not_zyx():
    """HiPNUC's Euler angles are rotations about z, x and y, in this order."""
    angles = np.column_stack([YAW, 40.0 * np.sin(0.5 * TIME), 50.0 * np.sin(0.8 * TIME + 1.0)])
    turned = Rotation.from_euler("ZXY", angles, degrees=True)
    rates = (turned[:-1].inv() * turned[1:]).as_rotvec() * RATE
    columns = dict(zip(("yaw", "pitch", "roll"), angles.T))
    columns.update(zip(("qx", "qy", "qz", "qw"), turned.as_quat().T))
    columns.update({f"gyr_{a}": np.append(rates[:, k], rates[-1, k]) for k, a in enumerate("xyz")})
    chosen = choose(t=TIME, **columns)
    assert {"qw", "qx", "qy", "qz"} <= set(chosen.imu) and "yaw" not in chosen.imu
    assert has_reason(chosen, "yaw", "the angles are in a different order")


@pytest.mark.parametrize("name", ["gyro.csv", "my_accelerometer.csv"])
def test_axis_columns_in_sensor_file_are_not_read_as_positions(tmp_path, name):
    path = tmp_path / name
    values = CAR.rates if name == "gyro.csv" else CAR.forces
    axes = {axis: values[:, k].tolist() for k, axis in enumerate("xyz")}
    writers.write_csv(path, {"time": TIME.tolist(), **axes})
    assert "quantities are time, expected" in refusal(read_reference_samples, path)
    kind = "gyro" if name == "gyro.csv" else "accel"
    chosen = find_columns(path, "imu_recording")
    lines = [chosen.columns.get(f"{kind}_z"), *chosen.open_columns.get(f"{kind}_z", ())]
    assert lines[-1].startswith("z [")


def test_vector_index_in_name_is_not_read_as_unit(tmp_path):
    path = tmp_path / "a.csv"
    writers.write_csv(path, {"time": TIME.tolist(), "y[0]": TIME.tolist(), "y[1]": TIME.tolist()})
    assert "quantities are time, expected" in refusal(read_reference_samples, path)


@pytest.mark.parametrize(
    "name, count, unit",
    [("time_us", 1e9, "ns"), ("timestamp_ms", 1.0, "s"), ("time_ms", 1e3, ""), ("t_s", 1.0, "")],
)
def test_time_unit_in_name_is_used_unless_steps_are_implausible(name, count, unit):
    chosen = choose(**{name: count * (1.7e9 + TIME)}, **CAR.inertial())
    if unit:
        assert chosen.time == "" and has_reason(chosen, name, f"[{unit}] fits")
    else:
        assert chosen.time.startswith(name)


def test_candidate_time_columns_are_listed_for_imu_and_reference():
    # Time steps of 1 may be sample counts or milliseconds.
    columns = {"stamp": np.arange(len(TIME)) + 7.0, **CAR.inertial()}
    chosen = choose(**columns, lat=CAR.latitude, lon=CAR.longitude)
    for lines in (chosen.open_columns, chosen.open_reference):
        assert "stamp [ms]" in lines["time"] and "line / 100 [s]" in lines["time"]
    assert chosen.open_reference["latitude"] == ["lat [deg]"]


def test_latitude_with_unknown_unit_is_listed_with_each_candidate_unit():
    # Near the equator and Greenwich, values in degrees and radians have similar magnitudes.
    chosen = choose(t=TIME, lat=1e-4 * CAR.latitude, lon=1e-4 * CAR.longitude)
    assert chosen.reference == {} and chosen.open_reference["time"] == ["t [s]"]
    assert {"lat [deg]", "lat [rad]", "lat * 1e-7 [deg]"} <= set(chosen.open_reference["latitude"])


def test_position_with_two_possible_units_is_listed_with_both_units():
    chosen = choose(**{"t": TIME, "x [m]": CAR.east, "y [km]": 1e-3 * CAR.north})
    assert set(chosen.open_reference["x"]) == {"x [m] [m]", "x [m] [km]"}


def test_candidate_gyroscope_units_are_listed_for_multi_table_recording(tmp_path):
    rates = CAR.rates + np.random.default_rng(3).normal(0.0, 0.1, CAR.rates.shape)
    for name, vectors in (("gyro", rates), ("magnetometer", CAR.forces)):
        table = {"seconds": TIME, **dict(zip("xyz", vectors.T))}
        pd.DataFrame(table).to_csv(tmp_path / f"{name}.csv", index=False)
    chosen = find_columns(tmp_path, "imu_recording")
    assert chosen.columns == {}
    assert chosen.open_columns["time"] == ["gyro.seconds [s]"]
    assert chosen.open_columns["gyro_z"] == ["gyro.z [deg/s]", "gyro.z [rad/s]"]
