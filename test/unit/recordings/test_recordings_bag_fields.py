"""Bags with user-defined message types, whose definitions are read from the bag."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
import recording_writers as writers
import yaml
from column_tables import TIME
from refusals import refusal
from rosbags import rosbag2 as ros2
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.formats.bag_tables import read_bag_tables
from imu_simulation_framework.recordings.formats.contents import list_contents
from imu_simulation_framework.recordings.reading import read_imu, read_reference

NANOSECONDS = 10**9
START = 1_700_000_000
LINE = "=" * 80
VECTOR = f"{LINE}\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
HEADERS = {
    1: f"{LINE}\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n",
    2: f"{LINE}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
    f"{LINE}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n",
}
SENSOR = "string raw\nstd_msgs/Header header\nfloat32[3] ypr_deg\n"
SENSOR += (
    "geometry_msgs/Vector3 angular_velocity\ngeometry_msgs/Vector3 accel\nuint8[] spare\n" + VECTOR
)
RECEIVER = (
    "std_msgs/Header header\nfloat64 latitude\nfloat64 longitude\nfloat32 hdop\nstring zone\n"
)


def store_of(version):
    store, known = get_typestore(Stores.EMPTY), get_typestore(Stores.ROS1_NOETIC)
    fields = getattr(known, "FIELDDEFS", None) or known.fielddefs
    times = {name: fields[name] for name in ("builtin_interfaces/msg/Time",) if version == 1}
    types = {}
    for name, text in (("sensor", SENSOR), ("receiver", RECEIVER)):
        types.update(get_types_from_msg(text + HEADERS[version], f"mine/msg/{name.title()}"))
    store.register({**times, **types})
    return store


def messages_of(car, store):
    """Return the messages of a drive as {topic: (message type, [(time in ns, message)])}."""
    types = store.types

    def header(ns):
        time = types["builtin_interfaces/msg/Time"](*divmod(ns, NANOSECONDS))
        kind = types["std_msgs/msg/Header"]
        seq = {"seq": 0} if "seq" in kind.__dataclass_fields__ else {}
        return kind(stamp=time, frame_id="x" * (ns % 7), **seq)

    vector, sensor = types["geometry_msgs/msg/Vector3"], types["mine/msg/Sensor"]
    stamps = [START * NANOSECONDS + round(time * 1e9) for time in TIME]
    ypr = np.column_stack([np.degrees(wrap(car.yaw)), 0.0 * TIME, 0.0 * TIME]).astype(np.float32)
    imu = [
        sensor("$VNYMR", header(ns), angles, vector(*rate), vector(*force), np.zeros(3, np.uint8))
        for ns, angles, rate, force in zip(stamps, ypr, car.rates, car.forces)
    ]
    places = list(zip(stamps, car.latitude, car.longitude))[::10]
    gps = [types["mine/msg/Receiver"](header(ns), *place, 0.8, "32T") for ns, *place in places]
    return {
        "/vectornav": ("mine/msg/Sensor", list(zip(stamps, imu))),
        "/gps": ("mine/msg/Receiver", list(zip(stamps[::10], gps))),
    }


def write(path, car, version):
    store = store_of(version)
    options = {"version": 9} if version == 2 and writers.HAS_STORAGE_PLUGINS else {}
    with (Writer if version == 1 else ros2.Writer)(path, **options) as writer:
        for topic, (kind, messages) in messages_of(car, store).items():
            connection = writer.add_connection(topic, kind, typestore=store)
            pack = store.serialize_ros1 if version == 1 else store.serialize_cdr
            for ns, message in messages:
                writer.write(connection, ns, bytes(pack(message, kind)))
    return path


@pytest.fixture(scope="module")
def bag(car, tmp_path_factory):
    return write(tmp_path_factory.mktemp("bag") / "drive.bag", car, 1)


COLUMNS = {
    "time": "/vectornav.header.stamp [ns]",
    "yaw": "/vectornav.ypr_deg[0] [deg]",
    **{f"gyro_{axis}": f"/vectornav.angular_velocity.{axis} [rad/s]" for axis in "xyz"},
}


@pytest.mark.parametrize("version", [1, 2])
def test_message_fields_are_mapped_like_columns(car, tmp_path, version):
    path = write(tmp_path / "drive.bag", car, version)
    table = read_imu(path, columns=COLUMNS).table
    assert table.index.to_numpy() - START == pytest.approx(TIME, abs=3e-7)
    assert np.array_equal(table[["gyro_x", "gyro_y", "gyro_z"]], car.rates)
    # The yaw is in degrees in single precision.
    assert wrap(table["yaw"].to_numpy() - car.yaw) == pytest.approx(0.0, abs=3e-7)


@pytest.mark.parametrize(("version", "distribution"), [(4, "foxy"), (5, "humble"), (8, "iron")])
def test_messages_without_definitions_are_read_with_definitions_of_ros_distribution(
    tmp_path, version, distribution
):
    kind = "shape_msgs/msg/SolidPrimitive"
    store = get_typestore(Stores[f"ROS2_{distribution.upper()}"])
    names = [field for field in store.types[kind].__dataclass_fields__ if field != "__msgtype__"]
    parts = {"type": 3, "dimensions": np.array([1.0, 2.0])}
    if "polygon" in names:  # a field that Foxy does not have
        parts["polygon"] = store.types["geometry_msgs/msg/Polygon"](points=[])
    options = {"version": 8} if writers.HAS_STORAGE_PLUGINS else {}
    with ros2.Writer(tmp_path / "bag", **options) as writer:
        connection = writer.add_connection("/solid", kind, typestore=store)
        for time in (5, 6, 7):
            message = store.serialize_cdr(store.types[kind](**parts), kind)
            writer.write(connection, START * NANOSECONDS + time, bytes(message))
    with closing(sqlite3.connect(tmp_path / "bag/bag.db3")) as database, database:
        database.execute("DELETE FROM message_definitions")
    path = tmp_path / "bag/metadata.yaml"
    description = yaml.safe_load(path.read_text())
    information = description["rosbag2_bagfile_information"]
    information.update(version=version, ros_distro=distribution if version >= 8 else "")
    path.write_text(yaml.safe_dump(description))
    (table,) = read_bag_tables(tmp_path / "bag").tables.values()
    assert table.cells["/solid.type"].tolist() == [3, 3, 3]
    if distribution == "humble":  # Humble is the default where the distribution is not stated
        path.unlink()
        for path in (tmp_path / "bag", tmp_path / "bag/bag.db3"):
            (table,) = read_bag_tables(path).tables.values()
            assert table.cells["/solid.type"].tolist() == [3, 3, 3]


def test_bag_topics_are_listed_as_tables(bag):
    contents = list_contents(bag, "tables")
    assert contents.format == "bag"
    assert [table.name for table in contents.tables] == ["/gps", "/vectornav"]


def test_reference_is_chosen_from_topics_of_unknown_type(car, bag):
    recorded = read_reference(bag)
    assert any("check them" in remark for remark in recorded.report.remarks)
    assert recorded.report.usable == len(TIME[::10])
    times = recorded.table.index.to_numpy() - START
    error = wrap(recorded.table["yaw"].to_numpy() - np.interp(times, TIME, car.yaw))
    # The error is that of interpolation between fixes 0.2 s apart, without velocities.
    assert np.sqrt(np.mean(error**2)) < np.radians(1.0)


def test_imu_is_chosen_from_topics_of_unknown_type(car, bag):
    maps = find_column_maps(bag)
    assert maps.imu["time"] == "/vectornav.header.stamp [ns]"
    assert {"/vectornav.receipt", "/gps.receipt"} <= set(maps.unused)
    for named in ({}, {"topic": "/vectornav"}, {"topic": "vectornav"}):
        table = read_imu(bag, **named).table
        assert np.array_equal(table["gyro_z"], car.rates[:, 2])


def test_missing_field_or_topic_of_wrong_type_is_rejected(bag):
    for field in ("/vectornav.heading", "/compass.heading"):
        columns = {**COLUMNS, "yaw": f"{field} [deg]"}
        assert f"column '{field}' is missing, expected one of" in refusal(
            read_imu, bag, columns=columns
        )
    expected = "topic /gps has type mine/Receiver, expected sensor_msgs/Imu"
    assert expected in refusal(read_imu, bag, topic="/gps")
