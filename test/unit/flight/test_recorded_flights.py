import numpy as np
import pandas as pd
import pytest
import recording_writers as writers
from earth_flights import (
    HEIGHT,
    LATITUDE,
    LONGITUDE,
    aviation_of_orientation,
    flight,
    require_same_motion,
)
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, MotionError, RecordingError
from imu_simulation_framework.flight.recording import find_flight, read_flight
from imu_simulation_framework.motion.earth import ecef_of
from imu_simulation_framework.motion.earth_motion import enu_to_ecef, ned_to_ecef

RATE, START = 50.0, 1_700_000_000
ORIGIN = (np.degrees(LATITUDE), np.degrees(LONGITUDE), HEIGHT)


@pytest.fixture(scope="module")
def flown():
    return flight(RATE, 20.0)


@pytest.fixture
def aviation(flown):
    """Return the flight as a table in aviation axes."""
    latitude, longitude, height = flown.latitude_longitude_height.T
    body = Rotation.from_quat(flown.orientation)
    angles = aviation_of_orientation(latitude, longitude, body)
    velocity = ned_to_ecef(latitude, longitude).inv().apply(flown.velocity)
    values = {
        "time [s]": flown.time,
        "latitude [deg]": np.degrees(latitude),
        "longitude [deg]": np.degrees(longitude),
        "altitude [m]": height,
        **{f"velocity_{name} [m/s]": v for name, v in zip(("north", "east", "down"), velocity.T)},
        **dict(zip(("roll [rad]", "pitch [rad]", "heading [rad]"), angles.T)),
    }
    return pd.DataFrame(values)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a table and returns its path."""

    def written(table):
        table.to_csv(tmp_path / "flight.csv", index=False)
        return tmp_path / "flight.csv"

    return written


def ros(flown, aviation):
    """Return the flight as a table in ROS axes."""
    level = enu_to_ecef(*np.radians(aviation[["latitude [deg]", "longitude [deg]"]].to_numpy().T))
    table = aviation.drop(columns=["roll [rad]", "pitch [rad]", "heading [rad]"])
    table["velocity_up [m/s]"] = -table.pop("velocity_down [m/s]")
    quaternions = (level.inv() * Rotation.from_quat(flown.orientation)).as_quat()
    return table.assign(**dict(zip(("qx", "qy", "qz", "qw"), quaternions.T)))


def about_the_origin(flown):
    """Return positions and quaternions in a level plane at ORIGIN."""
    level = enu_to_ecef(LATITUDE, LONGITUDE)
    place = level.inv().apply(flown.position - ecef_of(LATITUDE, LONGITUDE, HEIGHT))
    quaternions = (level.inv() * Rotation.from_quat(flown.orientation)).as_quat()
    return place, quaternions


def require_same(states, flown, place=1e-6, angle=1e-9):
    require_same_motion(states, flown, angle=angle, position=place)


def test_tables_in_aviation_and_ros_axes_reproduce_flight(flown, aviation, write):
    recorded = read_flight(write(aviation))
    require_same(recorded.flight.states, flown)
    np.testing.assert_allclose(recorded.flight.states.velocity, flown.velocity, atol=1e-9)
    assert recorded.flight.settings["axes"] == "ned"
    assert any("aviation's convention" in remark for remark in recorded.flight.remarks)
    recorded = read_flight(write(ros(flown, aviation)))
    require_same(recorded.flight.states, flown)
    assert recorded.flight.settings["axes"] == "enu"


def test_column_map_specifies_units_and_names(flown, aviation, write):
    table = aviation.rename(columns=lambda name: name.split()[0])
    table["velocity_north"] /= 0.3048
    table["altitude"] /= 0.3048
    table["roll"] = np.degrees(table["roll"])
    names = {name: name for name in table.columns}
    names.update(altitude="altitude [ft]", velocity_north="velocity_north [ft/s]")
    recorded = read_flight(write(table), columns={**names, "roll": "roll [deg]"})
    require_same(recorded.flight.states, flown)


def test_local_positions_reproduce_flight_and_require_origin(flown, aviation, write):
    place, quaternions = about_the_origin(flown)
    names = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")
    table = pd.DataFrame(np.column_stack([flown.time, place, quaternions]), columns=names)
    require_same(read_flight(write(table), origin=ORIGIN).flight.states, flown)
    with pytest.raises(RecordingError, match=r"flight.csv: positions x, y, z require an origin"):
        read_flight(write(table))


def test_coarsely_rounded_positions_are_replaced_by_velocities_or_reported(flown, aviation, write):
    places = ["latitude [deg]", "longitude [deg]"]
    aviation[places] = aviation[places].round(7)
    recorded = read_flight(write(aviation))
    assert "the path is the integral of the velocities" in recorded.flight.remarks[-1]
    assert recorded.flight.remarks[-1].endswith("the resolution of the positions is 0.011 m")
    require_same(recorded.flight.states, flown, place=2e-3, angle=1e-8)
    force_error = recorded.flight.states.motion().specific_force - flown.specific_force
    assert np.max(np.abs(force_error[5:-5])) < 1e-3
    kept = read_flight(write(aviation), along="positions").flight.states.motion()
    assert np.max(np.abs(kept.specific_force - flown.specific_force)) > 1.0
    aviation["longitude [deg]"] = aviation["longitude [deg]"].round(6)
    table = aviation[[name for name in aviation if not name.startswith("velocity")]]
    assert "accelerations are meaningless" in read_flight(write(table)).flight.remarks[-1]
    with pytest.raises(RecordingError, match=r"flight.csv: velocities are missing"):
        read_flight(write(table), along="velocities")


@pytest.mark.parametrize("column", ["latitude [deg]", "velocity_down [m/s]", "heading [rad]"])
def test_sample_with_missing_number_is_dropped_and_reported_with_line_number(
    aviation, write, column
):
    aviation.loc[100, column] = np.nan
    recorded = read_flight(write(aviation))
    assert len(recorded.flight.states) == len(aviation) - 1
    messages = [remark for remark in recorded.flight.remarks if "not a number" in remark]
    assert messages == [
        "1 sample with a value that is not a number, dropped, the first is line 102 at 2.000 s"
    ]


def test_short_gaps_are_reported_and_invalid_settings_are_rejected(aviation, write):
    few = read_flight(write(aviation.drop(index=range(500, 504))))
    assert any("the first is line 502" in remark for remark in few.flight.remarks)
    path = write(aviation)
    for settings in ({"axes": "frd"}, {"along": "time"}, {"origin": (1.0, 2.0)}):
        with pytest.raises(ConfigurationError):
            read_flight(path, **settings)


@pytest.mark.parametrize(
    "every, bridged, refused",
    [(1, 11, 13), (5, 3, 5)],
    ids=["a quarter of a second at 50 Hz", "five samples at 10 Hz"],
)
def test_gaps_up_to_quarter_second_or_five_samples_are_interpolated(
    aviation, write, every, bridged, refused
):
    table = aviation.iloc[::every].reset_index(drop=True)
    read_flight(write(table.drop(index=range(100, 100 + bridged))))
    with pytest.raises(RecordingError, match="line 102: the gap before this sample lasts"):
        read_flight(write(table.drop(index=range(100, 100 + refused))))


def test_invalid_quaternions_are_rejected_with_line_number(flown, aviation, write):
    table = ros(flown, aviation)
    table.loc[300, "qx"] = 3.0
    with pytest.raises(RecordingError, match=r"flight.csv: line 302: qx, qy, qz, qw have the leng"):
        read_flight(write(table))
    table.loc[300, ["qx", "qy", "qz", "qw"]] = 0.0
    messages = read_flight(write(table)).flight.remarks
    assert any(
        "quaternion of norm 0, dropped, the first is line 302" in message for message in messages
    )


NORTH, EAST = "velocity_north [m/s]", "velocity_east [m/s]"


def but_for(column, row, value):
    """Return a function that changes one cell of a table."""
    return lambda table: table.assign(**{column: table[column].where(table.index != row, value)})


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda t: t.rename(columns={NORTH: EAST, EAST: NORTH}), "between the velocities and"),
        (but_for("time [s]", 700, 1.0), "clock runs backwards by 12.980 s at line 702"),
        (but_for("latitude [deg]", 7, 91.0), "line 9: latitude and longitude are 91"),
        *(
            (lambda t, name=name: t.drop(columns=name), "expected time and latitude")
            for name in ("altitude [m]", "roll [rad]", "time [s]")
        ),
    ],
)
def test_invalid_flight_table_is_rejected_with_line_number(aviation, write, change, words):
    with pytest.raises(RecordingError, match=f"flight.csv: .*{words}"):
        read_flight(write(change(aviation)))


def bag(tmp_path, flown, aviation, every=1):
    """Write positions, attitudes and velocities to separate topics of a bag."""
    latitude, longitude, height = aviation.iloc[:, 1:4].to_numpy().T
    table = ros(flown, aviation)
    stamps = [round(time * 1e9) + START * 10**9 for time in flown.time]
    quaternions = table[["qx", "qy", "qz", "qw"]].to_numpy()
    east_north_up = ["velocity_east [m/s]", "velocity_north [m/s]", "velocity_up [m/s]"]
    velocities = table[east_north_up].to_numpy()
    fixes = [
        writers.fix(stamp, latitude[k], longitude[k], altitude=height[k])
        for k, stamp in enumerate(stamps)
        if k % every == 0
    ]
    zero = np.zeros(3)
    imus = [writers.imu(stamp, q, zero, zero) for stamp, q in zip(stamps, quaternions)]
    twists = [writers.twist_stamped(stamp, v) for stamp, v in zip(stamps, velocities)]
    return writers.write_bag(tmp_path / "a.bag", {"/fix": fixes, "/imu": imus, "/vel": twists})


def test_bag_with_fixes_attitudes_and_velocities_reproduces_flight(tmp_path, flown, aviation):
    path = bag(tmp_path, flown, aviation)
    recorded = read_flight(path, topic="/fix", attitude_topic="/imu", velocity_topic="/vel")
    require_same(recorded.flight.states, flown)
    np.testing.assert_allclose(recorded.flight.states.velocity, flown.velocity, atol=1e-8)
    # Seconds since 1970 are rounded to 2e-7 s, which must not add noise to the motion.
    np.testing.assert_array_equal(recorded.flight.states.time, np.arange(len(flown)) / RATE)
    assert recorded.flight.settings["start"] == START
    force_error = recorded.flight.states.motion().specific_force - flown.specific_force
    assert np.max(np.abs(force_error)) < 1e-3


def test_fixes_slower_than_attitudes_are_interpolated_at_attitude_times(tmp_path, flown, aviation):
    path = bag(tmp_path, flown, aviation, every=5)
    states = read_flight(path, topic="/fix", attitude_topic="/imu").flight.states
    assert len(states) == len(flown)
    require_same(states, flown, place=1e-3)


def test_poses_in_bag_are_relative_to_origin(tmp_path, flown):
    place, quaternions = about_the_origin(flown)
    stamps = [round(time * 1e9) + 10**9 for time in flown.time]
    poses = [writers.odometry(*row) for row in zip(stamps, place, quaternions)]
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": poses})
    require_same(read_flight(path, origin=ORIGIN).flight.states, flown)
    with pytest.raises(RecordingError, match="attitude_topic is set, expected only with GNSS"):
        read_flight(path, origin=ORIGIN, attitude_topic="/odom")


def test_topics_without_common_time_are_rejected(tmp_path):
    stamps, zero = [10**9 * k for k in range(10, 20)], np.zeros(3)
    fixes = [writers.fix(stamp, 48.0, 11.0) for stamp in stamps]
    imus = [writers.imu(stamp + 10**11, (0.0, 0.0, 0.0, 1.0), zero, zero) for stamp in stamps]
    path = writers.write_bag(tmp_path / "a.bag", {"/fix": fixes, "/imu": imus})
    with pytest.raises(RecordingError, match=r"topic /imu: .* not overlap in time .* topic /fix"):
        read_flight(path, topic="/fix", attitude_topic="/imu")


def test_recorded_flight_is_cropped_and_start_after_its_end_is_rejected(flown, tmp_path):
    path = tmp_path / "flight.csv"
    flown.table().to_csv(path)
    found, _ = find_flight(path, duration=5.0, start=2.0)
    assert found.states.time[[0, -1]] == pytest.approx([2.0, 7.0])
    np.testing.assert_allclose(found.states.position, flown.position[100:351], atol=1e-3)
    with pytest.raises(MotionError, match="no states from 30"):
        find_flight(path, start=30.0)


@pytest.mark.parametrize(
    "wanted, message",
    [("udp:", "'udp:', expected udp:PORT"), ("udp:99999", "99999")],
)
def test_unknown_flight_source_is_rejected_with_its_name(wanted, message):
    pytest.importorskip("jsbsim")
    with pytest.raises(isf.FrameworkError, match=message):
        find_flight(wanted)
