"""What programs print: messages as ``rostopic echo`` does, and logs of NovAtel receivers."""

import numpy as np
import pytest
from column_tables import RATE, TIME, Car
from refusals import refusal
from table_writers import novatel

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.recordings.guessing.files import guess_columns
from imu_simulation_framework.recordings.reading import (
    read_imu,
    read_imu_samples,
    read_reference_samples,
)

CAR = Car()
START = 1_700_000_000


def echoed(time, yaw, rates, forces, ros):
    second, rest = ("secs", "nsecs") if ros == 1 else ("sec", "nanosec")
    seconds, nanoseconds = divmod(round(1e9 * time), 10**9)
    lines = [
        "header:",
        "  stamp:",
        f"    {second}: {START + seconds}",
        f"    {rest}: {nanoseconds}",
    ]
    lines += ["  frame_id: imu", "orientation:", "  x: 0.0", "  y: 0.0"]
    lines += [f"  z: {np.sin(0.5 * yaw)}", f"  w: {np.cos(0.5 * yaw)}"]
    inline = " [" + ", ".join(["0.1"] * 9) + "]" if ros == 1 else "\n- 0.1" * 9
    lines.append(f"orientation_covariance:{inline}")
    for name, values in (("angular_velocity", rates), ("linear_acceleration", forces)):
        lines += [f"{name}:", *(f"  {axis}: {one}" for axis, one in zip("xyz", values))]
    return "\n".join([*lines, "---"])


@pytest.mark.parametrize("ros", [1, 2])
def test_messages_as_topic_echo_prints_them(tmp_path, ros):
    path = tmp_path / "imu.txt"
    samples = zip(TIME, CAR.yaw, CAR.rates, CAR.forces)
    # The last one is cut off.
    path.write_text("\n".join([*(echoed(*one, ros) for one in samples), "header:", "  stamp:"]))
    table = read_imu(path).table
    assert len(table) == len(TIME)
    stamps = table.index.to_numpy()
    assert stamps - stamps[0] == pytest.approx(TIME, abs=1e-6)
    assert wrap(table["yaw"].to_numpy() - CAR.yaw) == pytest.approx(0.0 * TIME, abs=1e-9)
    assert table["gyro_z"].to_numpy() == pytest.approx(CAR.rates[:, 2])


def test_what_is_no_echoed_message_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("header:\n  stamp:\nnothing here\n---\n")
    assert "line 3 is no field of a message" in refusal(read_imu, path)
    path.write_text("x: 0.1\n---\n")
    assert "holds 1 whole messages" in refusal(read_imu, path)


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
            sensed = [round(scale[0] * one) for one in (fz, -fy, fx)]
            sensed = ["00000077", *sensed, *(round(scale[1] * one) for one in (wz, -wy, wx))]
        else:
            sensed = [f"{one:.12f}" for one in (-wy, wx, wz, -fy, fx, fz)]
        lines.append(novatel(imu, 2000, seconds, (2000, f"{seconds:.9f}", *sensed), short))
    return "\n".join(lines)


@pytest.mark.parametrize("short", [True, False])
def test_a_log_of_a_novatel_receiver(tmp_path, short):
    path = tmp_path / "a.ASC"
    path.write_text(log(short=short))
    found = guess_columns(path)
    assert found.reference["heading"] == "INSPVA.heading [deg] [deg cw from north]"
    assert found.imu["gyro_z"] == "CORRIMUDATA.gyro_z * 50 [rad/s]"
    recorded = read_imu_samples(path, format="tables", columns=found.imu)
    assert recorded.columns["gyro_z"] == pytest.approx(CAR.rates[:, 2], abs=1e-8)
    assert recorded.columns["accel_y"] == pytest.approx(CAR.forces[:, 1], abs=1e-6)
    reference = read_reference_samples(path, format="tables", columns=found.reference).columns
    # Without the lines of a receiver that has no solution yet.
    places = np.arange(0, len(TIME), 5)[TIME[::5] > 1.0]
    heading = np.exp(1j * (np.pi / 2.0 - reference["yaw"]))
    assert heading == pytest.approx(np.exp(1j * CAR.yaw[places]), abs=1e-9)
    assert reference["velocity_east"] == pytest.approx((CAR.speed * np.cos(CAR.yaw))[places])


def test_counts_of_novatels_raw_imu_have_no_unit(tmp_path):
    path = tmp_path / "a.ASC"
    path.write_text(log("RAWIMU", (2.0**15 / 0.05, 2.0**33)))
    found = guess_columns(path)
    assert not found.imu and found.reference
    assert any("counts, of which the file does not say" in reason for reason in found.reasons)


@pytest.mark.parametrize("counts", [(2.0**22, np.degrees(2.0**21)), (2.0**27 / 0.3048, 2.0**33)])
def test_gravity_tells_which_of_novatels_imus_counts(tmp_path, counts):
    path = tmp_path / "a.ASC"
    path.write_text(log("RAWIMU", counts))
    found = guess_columns(path)
    assert found.imu["gyro_z"] == "RAWIMU.gyro_z [rad/s] [rad/s]"
    recorded = read_imu_samples(path, format="tables", columns=found.imu)
    assert recorded.columns["gyro_z"] == pytest.approx(CAR.rates[:, 2], abs=2e-5)
    assert recorded.columns["accel_y"] == pytest.approx(CAR.forces[:, 1], abs=1e-4)


def test_a_log_with_wrong_checksums_is_refused(tmp_path):
    path = tmp_path / "a.ASC"
    path.write_text(log().replace("*", "*0"))
    assert "none of NovAtel's logs INSPVA" in refusal(read_imu, path)
