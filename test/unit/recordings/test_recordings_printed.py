"""Recordings in text form: ``rostopic echo`` output, and text logs of receivers."""

import numpy as np
import pytest
from column_tables import RATE, TIME, Car
from refusals import refusal
from table_writers import novatel

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.reading import read_imu_samples, read_reference_samples

CAR = Car()
START = 1_700_000_000


def echoed(time, yaw, rates, forces, ros):
    second, fraction = ("secs", "nsecs") if ros == 1 else ("sec", "nanosec")
    seconds, nanoseconds = divmod(round(1e9 * time), 10**9)
    lines = [
        "header:",
        "  stamp:",
        f"    {second}: {START + seconds}",
        f"    {fraction}: {nanoseconds}",
    ]
    lines += ["  frame_id: imu", "orientation:", "  x: 0.0", "  y: 0.0"]
    lines += [f"  z: {np.sin(0.5 * yaw)}", f"  w: {np.cos(0.5 * yaw)}"]
    inline = " [" + ", ".join(["0.1"] * 9) + "]" if ros == 1 else "\n- 0.1" * 9
    lines.append(f"orientation_covariance:{inline}")
    for name, values in (("angular_velocity", rates), ("linear_acceleration", forces)):
        lines += [f"{name}:", *(f"  {axis}: {value}" for axis, value in zip("xyz", values))]
    return "\n".join([*lines, "---"])


@pytest.mark.parametrize("ros", [1, 2])
def test_rostopic_echo_output_is_read(tmp_path, ros):
    path = tmp_path / "imu.txt"
    samples = zip(TIME, CAR.yaw, CAR.rates, CAR.forces)
    # The last message is truncated.
    path.write_text(
        "\n".join([*(echoed(*sample, ros) for sample in samples), "header:", "  stamp:"])
    )
    table = isf.read_imu(path).table
    assert len(table) == len(TIME)
    stamps = table.index.to_numpy()
    assert stamps - stamps[0] == pytest.approx(TIME, abs=1e-6)
    assert wrap(table["yaw"].to_numpy() - CAR.yaw) == pytest.approx(0.0 * TIME, abs=1e-9)
    assert table["gyro_z"].to_numpy() == pytest.approx(CAR.rates[:, 2])


def test_ros2_topic_echo_csv_output_is_read(tmp_path):
    """``--csv`` prints no field names, so the number of columns determines the message type."""
    imu, odometry, pose = (tmp_path / f"{name}.csv" for name in ("imu", "odometry", "pose"))
    rows: tuple = ([], [], [])
    matrix, zeros = [0.0] * 9, [0.0] * 36
    for time, yaw, rates, forces, *place in zip(
        TIME, CAR.yaw, CAR.rates, CAR.forces, CAR.east, CAR.north
    ):
        stamp = [*divmod(round(1e9 * (START + time)), 10**9), "base_link"]
        turned = [0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)]
        rows[0].append([*stamp, *turned, *matrix, *rates, *matrix, *forces, *matrix])
        rows[1].append([*stamp, "odom", *place, 0.0, *turned, *zeros, *[0.0] * 6, *zeros])
        rows[2].append([*stamp, *place, 0.0, *turned])
    for path, lines in zip((imu, odometry, pose), rows):
        path.write_text("\n".join(",".join(map(str, line)) for line in lines))
    table = read_imu_samples(imu, columns=find_column_maps(imu).imu)
    assert table.columns["stamp"] - START == pytest.approx(TIME, abs=1e-6)
    assert table.matrix(ACCEL) == pytest.approx(CAR.forces)
    assert table.matrix(GYRO) == pytest.approx(CAR.rates)
    for path in (odometry, pose):
        columns = find_column_maps(path).reference
        assert columns["time"] == "col1 [s] + col2 [ns]"
        samples = read_reference_samples(path, columns=columns)
        assert samples.matrix(("x", "y")) == pytest.approx(np.column_stack([CAR.east, CAR.north]))
        assert samples.columns["qz"] == pytest.approx(np.sin(0.5 * CAR.yaw))


def test_invalid_echoed_message_is_rejected(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("header:\n  stamp:\nnothing here\n---\n")
    assert "line 3 is not a message field" in refusal(isf.read_imu, path)
    path.write_text("x: 0.1\n---\n")
    assert "complete messages printed by rostopic echo is 1" in refusal(isf.read_imu, path)


def log(imu="CORRIMUDATA", scale=(1.0, 1.0), short=True):
    lines = ["#VERSIONA,COM1,0,31.0,UNKNOWN,0,0.0,0,0,0;1,GPSCARD*00000000"]
    for row, time in enumerate(TIME):
        seconds, place = 144088.0 + time, (CAR.latitude[row], CAR.longitude[row], 300.0)
        velocity = CAR.speed[row] * np.sin(CAR.yaw[row]), CAR.speed[row] * np.cos(CAR.yaw[row])
        heading = (*velocity, 0.0, 0.1, 0.2, np.degrees(CAR.azimuth[row]))
        state = "INS_SOLUTION_GOOD" if time > 1.0 else "INS_ALIGNING"
        solution = (2000, seconds, *place, *heading, state)
        lines += [novatel("INSPVA", 2000, seconds, solution, short)] if row % 5 == 0 else []
        (wx, wy, wz), (fx, fy, fz) = CAR.rates[row] / RATE, CAR.forces[row] / RATE
        if imu == "RAWIMU":
            sensed = [round(scale[0] * value) for value in (fz, -fy, fx)]
            sensed = ["00000077", *sensed, *(round(scale[1] * value) for value in (wz, -wy, wx))]
        else:
            sensed = [f"{value:.12f}" for value in (-wy, wx, wz, -fy, fx, fz)]
        lines.append(novatel(imu, 2000, seconds, (2000, f"{seconds:.9f}", *sensed), short))
    return "\n".join(lines)


@pytest.mark.parametrize("short", [True, False])
def test_novatel_log_is_read(tmp_path, short):
    path = tmp_path / "a.ASC"
    path.write_text(log(short=short))
    chosen = find_column_maps(path)
    assert chosen.reference["heading"] == "INSPVA.heading [deg] [deg cw from north]"
    assert chosen.imu["gyro_z"] == "CORRIMUDATA.gyro_z [rad/s] [rad/s]"
    recorded = read_imu_samples(path, format="tables", columns=chosen.imu)
    assert recorded.columns["gyro_z"] == pytest.approx(CAR.rates[:, 2], abs=1e-8)
    assert recorded.columns["accel_y"] == pytest.approx(CAR.forces[:, 1], abs=1e-6)
    reference = read_reference_samples(path, format="tables", columns=chosen.reference).columns
    # The lines of a receiver that has no solution yet are skipped.
    places = np.arange(0, len(TIME), 5)[TIME[::5] > 1.0]
    heading = np.exp(1j * (np.pi / 2.0 - reference["yaw"]))
    assert heading == pytest.approx(np.exp(1j * CAR.yaw[places]), abs=1e-9)
    assert reference["velocity_east"] == pytest.approx((CAR.speed * np.cos(CAR.yaw))[places])


def test_novatel_raw_imu_counts_have_undetermined_unit(tmp_path):
    path = tmp_path / "a.ASC"
    path.write_text(log("RAWIMU", (2.0**15 / 0.05, 2.0**33)))
    chosen = find_column_maps(path)
    assert not chosen.imu and chosen.reference
    assert all(" / " in line for line in chosen.open_columns["gyro_z"])


@pytest.mark.parametrize("counts", [(2.0**22, np.degrees(2.0**21)), (2.0**27 / 0.3048, 2.0**33)])
def test_novatel_imu_scale_factor_is_inferred_from_gravity(tmp_path, counts):
    path = tmp_path / "a.ASC"
    path.write_text(log("RAWIMU", counts))
    chosen = find_column_maps(path)
    assert chosen.imu["gyro_z"] == "RAWIMU.gyro_z [rad/s] [rad/s]"
    recorded = read_imu_samples(path, format="tables", columns=chosen.imu)
    assert recorded.columns["gyro_z"] == pytest.approx(CAR.rates[:, 2], abs=2e-5)
    assert recorded.columns["accel_y"] == pytest.approx(CAR.forces[:, 1], abs=1e-4)


def test_novatel_log_with_invalid_checksums_is_rejected(tmp_path):
    path = tmp_path / "a.ASC"
    path.write_text(log().replace("*", "*0"))
    assert "no line is a NovAtel log" in refusal(isf.read_imu, path)


NOON = 12.0 * 3600.0 - 20.0  # time of day [s] at the start; the drive passes noon


def clock(seconds):
    return f"{int(seconds // 3600):02d}{int(seconds % 3600 // 60):02d}{seconds % 60.0:06.3f}"


def vbox():
    """Return a Latin-1 Racelogic log with positions in arc minutes and west longitude positive."""
    header = ["satellites", "time", "latitude", "longitude", "velocity kmh", "heading", "height"]
    header += ["Vertical velocity m/s", "Long accel g", "Lat accel g"]
    rate_columns = ["RollRate", "PitchRate", "YawRate", "X_Accel", "Y_Accel", "Z_Accel"]
    units = ["\xb0/s"] * 3 + ["g"] * 3
    names = "sats time lat long velocity heading height vert-vel Longacc Latacc"
    lines = ["File created on 01/03/2016 @ 14:26", "", "[header]", *header, *rate_columns, ""]
    lines += ["[channel units]", *units, "", "[comments]", "Log Rate (Hz) : 50.00", ""]
    lines += ["[column names]", f"{names} {' '.join(rate_columns)}", "", "[data]"]
    rates, forces = np.degrees(CAR.rates), CAR.forces / 9.80665
    for k, time in enumerate(TIME):
        place = f"{60.0 * CAR.latitude[k]:+014.8f} {-60.0 * CAR.longitude[k]:+014.8f}"
        course = f"{3.6 * CAR.speed[k]:.6f} {np.degrees(CAR.azimuth[k]):.6f}"
        sensed = " ".join(f"{value:+.6E}" for value in (*rates[k], *forces[k]))
        lines.append(f"012 {clock(NOON + time)} {place} {course} +300.25 0.0 0.0 0.0 {sensed}")
    return "\r\n".join(lines).encode("latin-1")


def test_racelogic_vbox_log_is_read(tmp_path):
    path = tmp_path / "a.vbo"
    path.write_bytes(vbox())
    chosen = find_column_maps(path)
    assert chosen.imu["gyro_z"] == "YawRate [\xb0/s] [deg/s]"
    recorded = read_imu_samples(path, format="tables", columns=chosen.imu)
    assert recorded.columns["stamp"] == pytest.approx(NOON + TIME, abs=1e-6)
    assert recorded.columns["gyro_z"] == pytest.approx(CAR.rates[:, 2], abs=1e-7)
    assert recorded.columns["accel_z"] == pytest.approx(CAR.forces[:, 2], abs=1e-4)
    reference = read_reference_samples(path).columns
    assert reference["latitude"] == pytest.approx(CAR.latitude, abs=1e-9)
    assert reference["longitude"] == pytest.approx(CAR.longitude, abs=1e-9)
    assert reference["speed"] == pytest.approx(CAR.speed, abs=1e-6)
    assert reference["course"] == pytest.approx(CAR.azimuth, abs=1e-7)
    path.write_bytes(vbox().partition(b"[data]")[0])
    assert "VBOX data are missing" in refusal(find_column_maps, path)


def test_gpx_track_points_are_read(tmp_path):
    path = tmp_path / "a.gpx"
    rows = range(0, len(TIME), 50)
    points = "".join(
        f'<trkpt lat="{CAR.latitude[k]:.9f}" lon="{CAR.longitude[k]:.9f}"><ele>300.25</ele>'
        f"<time>2024-02-28T10:00:{TIME[k]:06.3f}Z</time><speed>{CAR.speed[k]:.6f}</speed></trkpt>\n"
        for k in rows
    )
    path.write_text(f"<?xml version='1.0'?>\n<gpx><trk><trkseg>{points}</trkseg></trk></gpx>")
    reference = read_reference_samples(path).columns
    assert np.diff(reference["stamp"]) == pytest.approx(1.0, abs=1e-6)
    assert reference["latitude"] == pytest.approx(CAR.latitude[::50], abs=1e-9)
    path.write_text("<gpx><wpt lat='1' lon='2'/></gpx>")
    assert "the GPX file has no track" in refusal(find_column_maps, path)
