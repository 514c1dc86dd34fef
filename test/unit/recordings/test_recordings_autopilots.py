"""Autopilot logs with a north-east-down world frame and a forward-right-down body frame."""

import numpy as np
import pytest
from column_tables import RATE, TIME, Car, assert_inertial
from refusals import refusal
from scipy.spatial.transform import Rotation
from table_writers import binary_log, text_log, ulog

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.recordings import reading
from imu_simulation_framework.recordings.columns import find_column_maps

START = 5_000_000  # us, since the autopilot was switched on
SLOW = slice(0, None, 10)
FRD = [1.0, -1.0, -1.0]


class Flat(Car):
    """Car on flat ground that is equipped with an autopilot."""

    def __init__(self):
        super().__init__()
        self.microseconds = START + np.rint(1e6 * TIME).astype(np.int64)
        heading = np.pi / 2.0 - self.yaw
        self.attitude = Rotation.from_euler("z", heading).as_quat()[:, [3, 0, 1, 2]]
        self.heading = np.degrees(heading) % 360.0


def assert_is_the_car(car, imu, reference):
    """Assert that the tables contain the signals of the car in ROS axes."""
    rows = np.rint((imu.index.to_numpy() - START / 1e6) * RATE).astype(int)
    assert len(rows) >= len(TIME) - 20
    assert_inertial(imu, car, rows, 2e-6)
    # Angles are recorded ten times per second with a resolution of 0.01 deg.
    assert wrap(imu["yaw"].to_numpy() - car.yaw[rows]) == pytest.approx(0.0, abs=1e-3)
    times = reference.index.to_numpy() - START / 1e6
    error = wrap(reference["yaw"].to_numpy() - np.interp(times, TIME, car.yaw))
    # The error is that of interpolation between fixes 0.2 s apart.
    assert np.sqrt(np.mean(error**2)) < np.radians(0.5)


def read_chosen(path):
    maps = find_column_maps(path)
    imu = reading.read_imu(path, format="tables", columns=maps.imu)
    return imu.table, reading.read_reference(path, format="tables", columns=maps.reference).table


def px4_topics(car):
    times = car.microseconds
    return {
        "sensor_combined": {
            "timestamp": ("uint64_t", times),
            "gyro_rad": ("float[3]", car.rates * FRD),
            "accelerometer_m_s2": ("float[3]", car.forces * FRD),
        },
        "vehicle_attitude_setpoint": {
            "timestamp": ("uint64_t", times),
            "q": ("float[4]", np.ones((len(TIME), 4)) / 2.0),
        },
        "vehicle_attitude": {
            "timestamp": ("uint64_t", times[1::2]),
            "q": ("float[4]", car.attitude[1::2]),
        },
        "vehicle_gps_position": {
            "timestamp": ("uint64_t", times[SLOW]),
            "lat": ("int32_t", np.rint(1e7 * car.latitude[SLOW])),
            "lon": ("int32_t", np.rint(1e7 * car.longitude[SLOW])),
            "alt": ("int32_t", np.full(len(times[SLOW]), 500_000)),
            "eph": ("float", np.full(len(times[SLOW]), 0.8)),
            "vel_n_m_s": ("float", (car.speed * np.sin(car.yaw))[SLOW]),
            "vel_e_m_s": ("float", (car.speed * np.cos(car.yaw))[SLOW]),
        },
    }


def ardupilot_messages(car):
    """Return the log messages of a drive as {message name: (field types, columns)}."""
    every, some = car.microseconds, car.microseconds[SLOW]
    rates, forces = (np.repeat(values * FRD, 2, axis=0) for values in (car.rates, car.forces))
    forces[1::2] *= 1.01  # second IMU
    return {
        "IMU": (
            "QBffffff",
            {
                "TimeUS": np.repeat(every, 2),
                "I": np.tile([0, 1], len(every)),
                **dict(zip(("GyrX", "GyrY", "GyrZ"), rates.T)),
                **dict(zip(("AccX", "AccY", "AccZ"), forces.T)),
            },
        ),
        "ATT": (
            "QcccC",
            {
                "TimeUS": every,
                "DesRoll": 0.0 * TIME + 3.0,
                "Roll": 0.0 * TIME,
                "Pitch": 0.0 * TIME,
                "Yaw": car.heading,
            },
        ),
        "GPS": (
            "QBcLLeff",
            {
                "TimeUS": some,
                "Status": 3.0 + 0.0 * some,
                "HDop": 0.8 + 0.0 * some,
                "Lat": car.latitude[SLOW],
                "Lng": car.longitude[SLOW],
                "Alt": 500.0 + 0.0 * some,
                "Spd": car.speed[SLOW],
                "GCrs": car.heading[SLOW],
            },
        ),
        "MSG": ("QZ", {"TimeUS": some[:1], "Message": np.array([b"ArduRover V4.4"])}),
    }


@pytest.fixture(scope="module")
def car():
    return Flat()


@pytest.fixture(scope="module")
def px4(car, tmp_path_factory):
    path = tmp_path_factory.mktemp("px4") / "drive.ulg"
    path.write_bytes(ulog(px4_topics(car)))
    return path


def test_px4_log_is_converted_to_ros_axes(car, px4):
    assert_is_the_car(car, *read_chosen(px4))


def test_px4_magnetometer_axes_are_converted_with_imu_axes(car, tmp_path):
    field = np.array([0.2, -0.05, 0.43])  # gauss; forward, right, down
    topic = {
        "timestamp": ("uint64_t", car.microseconds),
        "magnetometer_ga": ("float[3]", np.tile(field, (len(TIME), 1))),
    }
    path = tmp_path / "log.ulg"
    path.write_bytes(ulog({"vehicle_magnetometer": topic}))
    columns = {f"mag_{axis}": f"magnetometer_ga[{at}] [G]" for at, axis in enumerate("xyz")}
    columns["time"] = "timestamp [us]"
    table = reading.read_other_sensor(path, "magnetometer", columns=columns).table
    assert table.to_numpy() == pytest.approx(np.tile(1e-4 * field * FRD, (len(TIME), 1)), abs=1e-11)


def test_px4_north_east_positions_and_heading_are_converted_to_enu(car, tmp_path):
    topics = {
        "vehicle_local_position_groundtruth": {
            "timestamp": ("uint64_t", car.microseconds),
            "x": ("float", car.north),
            "y": ("float", car.east),
            "z": ("float", np.zeros(len(TIME))),
            "heading": ("float", wrap(np.pi / 2.0 - car.yaw)),
        }
    }
    path = tmp_path / "a.ulg"
    path.write_bytes(ulog({**px4_topics(car), **topics}))
    columns = find_column_maps(path).reference
    assert columns["x"] == "vehicle_local_position_groundtruth.x [m]"
    table = reading.read_reference(path, format="tables", columns=columns).table
    assert table["x"].to_numpy() == pytest.approx(car.east, abs=1e-4)
    assert table["y"].to_numpy() == pytest.approx(car.north, abs=1e-4)
    assert wrap(table["yaw"].to_numpy() - car.yaw) == pytest.approx(0.0, abs=1e-6)


def test_truncated_px4_log_is_read_up_to_truncation(car, px4, tmp_path):
    path = tmp_path / "cut.ulg"
    content = px4.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    table, _ = read_chosen(path)
    assert 0.45 * len(TIME) < len(table) < 0.55 * len(TIME)


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (slice(0, 12), "the header is truncated, expected a log of PX4"),
        (slice(0, 59), "all tables are empty"),
    ],
)
def test_px4_log_without_data_is_rejected(px4, tmp_path, cut, message):
    path = tmp_path / "cut.ulg"
    path.write_bytes(px4.read_bytes()[cut])
    assert message in refusal(find_column_maps, path)


@pytest.mark.parametrize("name", ["drive.bin", "drive.log"])
def test_ardupilot_log_is_converted_to_ros_axes(car, tmp_path, name):
    messages = ardupilot_messages(car)
    path = tmp_path / name
    text = f"{text_log(messages)}FMT, 1, broken\n".encode()
    path.write_bytes(binary_log(messages) if name == "drive.bin" else text)
    maps = find_column_maps(path)
    assert maps.imu["gyro_z"] == "IMU.GyrZ [rad/s]"
    assert maps.imu["yaw"] == "ATT.Yaw [deg]"
    assert {"IMU_1.GyrZ", "ATT.DesRoll"} <= set(maps.unused)
    assert_is_the_car(car, *read_chosen(path))


def test_damaged_section_of_ardupilot_log_is_skipped(car, tmp_path):
    content = binary_log(ardupilot_messages(car))
    path, middle = tmp_path / "a.bin", len(content) // 2
    path.write_bytes(content[:middle] + b"\0" * 700 + content[middle + 700 : -17])
    table, _ = read_chosen(path)
    assert len(TIME) - 20 <= len(table) < len(TIME)
    known = np.isin(car.rates[:, 2].astype(np.float32), table["gyro_z"].astype(np.float32))
    assert known.sum() == len(table)


@pytest.mark.parametrize("cut", [slice(0, 50), slice(0, 89)])
def test_ardupilot_log_without_messages_is_rejected(car, tmp_path, cut):
    path = tmp_path / "a.bin"
    path.write_bytes(binary_log(ardupilot_messages(car))[cut])
    assert "contains only FMT messages" in refusal(find_column_maps, path)
