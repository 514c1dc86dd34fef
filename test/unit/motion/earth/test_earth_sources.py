"""Frames on the Earth and motions from states of flights, aviation's among them."""

import numpy as np
import pytest
from earth_flights import flight
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import turns
from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.motion.earth.ellipsoid import ecef_of
from imu_simulation_framework.motion.earth.frames import (
    aviation_of_orientation,
    enu_to_ecef,
    ned_to_ecef,
    orientation_of_aviation,
)
from imu_simulation_framework.motion.earth.sources import of_aviation, of_table, standing


@pytest.mark.parametrize("latitude, longitude", [(0.7, 2.0), (-1.2, -3.0), (0.0, np.pi)])
def test_local_axes_are_where_steps_east_north_and_up_lead(latitude, longitude):
    step = 1e-6
    place = ecef_of(latitude, longitude, 0.0)
    east = ecef_of(latitude, longitude + step, 0.0) - place
    north = ecef_of(latitude + step, longitude, 0.0) - place
    up = ecef_of(latitude, longitude, 10.0) - place
    axes = np.array([direction / np.linalg.norm(direction) for direction in (east, north, up)])
    assert enu_to_ecef(latitude, longitude).as_matrix() == pytest.approx(axes.T, abs=2e-6)
    ned = ned_to_ecef(latitude, longitude).as_matrix()
    assert ned == pytest.approx(np.array([axes[1], axes[0], -axes[2]]).T, abs=2e-6)


def test_at_a_pole_the_longitude_says_where_east_is():
    assert enu_to_ecef(0.5 * np.pi, 0.0).as_matrix() == pytest.approx(
        np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), abs=1e-15
    )


def test_an_aircraft_to_the_north_has_its_nose_there_and_its_left_wing_in_the_west():
    local = enu_to_ecef(0.7, 2.0).inv() * orientation_of_aviation(0.7, 2.0, (0.0, 0.0, 0.0))
    assert local.as_matrix() @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)
    assert local.as_matrix() @ [0.0, 1.0, 0.0] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-15)
    assert local.as_matrix() @ [0.0, 0.0, 1.0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-15)


@pytest.mark.parametrize(
    "angles, body_axis, direction",
    [
        ((0.0, 0.1, 0.0), (1.0, 0.0, 0.0), (0.0, np.cos(0.1), np.sin(0.1))),  # nose up
        ((0.1, 0.0, 0.0), (0.0, 1.0, 0.0), (-np.cos(0.1), 0.0, np.sin(0.1))),  # right wing down
        ((0.0, 0.0, 0.5 * np.pi), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),  # to the east
    ],
)
def test_aviations_angles_turn_the_aircraft_as_pilots_say(angles, body_axis, direction):
    local = enu_to_ecef(0.7, 2.0).inv() * orientation_of_aviation(0.7, 2.0, angles)
    assert local.apply(body_axis) == pytest.approx(direction, abs=1e-15)


def test_aviations_angles_come_back():
    random = np.random.default_rng(1)
    latitude, longitude = random.uniform(-1.5, 1.5, 50), random.uniform(-3.1, 3.1, 50)
    angles = random.uniform(-1.5, 1.5, (50, 3)) * (2.0, 1.0, 2.0)
    back = aviation_of_orientation(
        latitude, longitude, orientation_of_aviation(latitude, longitude, angles)
    )
    assert back == pytest.approx(angles, abs=1e-12)


def _in_aviation(motion):
    latitude, longitude, height = motion.latitude_longitude_height.T
    angles = aviation_of_orientation(latitude, longitude, Rotation.from_quat(motion.orientation))
    place = np.column_stack([np.degrees(latitude), np.degrees(longitude), height])
    return place, angles, motion.local_velocity[:, [1, 0, 2]] * (1.0, 1.0, -1.0)


def _assert_same(motion, other, of_force):
    inner = slice(20, -20)
    assert motion.position == pytest.approx(other.position, abs=1e-4)
    assert turns(motion.orientation, other.orientation) == pytest.approx(0.0, abs=1e-9)
    assert motion.velocity[inner] == pytest.approx(other.velocity[inner], abs=1e-5)
    assert motion.angular_velocity[inner] == pytest.approx(other.angular_velocity[inner], abs=1e-9)
    assert motion.specific_force[inner] == pytest.approx(other.specific_force[inner], abs=of_force)


@pytest.mark.parametrize("with_velocity", [False, True])
def test_a_flight_in_aviations_axes_is_the_same_flight(with_velocity):
    motion = flight(50.0, 60.0)
    place, angles, velocity = _in_aviation(motion)
    again = of_aviation(motion.time, place, angles, velocity if with_velocity else None)
    _assert_same(again, motion, 1e-3)


@pytest.mark.parametrize("rely_on_velocity", [False, True])
def test_a_flight_of_its_own_table_is_the_same_flight(rely_on_velocity):
    motion = flight(50.0, 60.0)
    again = of_table(motion.table(), rely_on_velocity)
    _assert_same(again, motion, 1e-3)


def test_a_flight_can_be_sampled_faster_than_it_was_recorded():
    motion = flight(50.0, 60.0)
    place, angles, _ = _in_aviation(motion)
    at = np.arange(6001) / 100.0
    again = of_aviation(motion.time, place, angles, at=at)
    _assert_same(again, flight(100.0, 60.0), 1e-2)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"place": lambda place: place[:-1]}, "places"),
        ({"place": lambda place: np.where(place > 400.0, np.nan, place)}, "not finite"),
        ({"place": lambda place: place * (10.0, 1.0, 1.0)}, "beyond a pole"),
        ({"angles": lambda angles: angles * np.nan}, "angle of a flight is not finite"),
        ({"angles": lambda angles: angles[:, :2]}, "angles"),
        ({"velocity": lambda velocity: velocity[:, :2]}, "velocities"),
        ({"time": lambda time: time[::-1]}, "increase"),
    ],
)
def test_what_is_no_flight_is_refused(change, words):
    motion = standing(1.0, 47.0, 11.0, 500.0)
    place, angles, velocity = _in_aviation(motion)
    values = {"time": motion.time, "place": place, "angles": angles, "velocity": velocity}
    ((name, how),) = change.items()
    values[name] = how(values[name])
    with pytest.raises(MotionError, match=words):
        of_aviation(values["time"], values["place"], values["angles"], values["velocity"])


def test_a_table_beyond_a_pole_is_refused():
    table = standing(1.0, 47.0).table()
    with pytest.raises(MotionError, match="beyond a pole"):
        of_table(table.assign(latitude=91.0))
    with pytest.raises(MotionError, match="not finite"):
        of_table(table.assign(altitude=np.nan))
    with pytest.raises(MotionError):
        of_table(table.iloc[:1])
