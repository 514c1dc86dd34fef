"""Frames on the Earth, aviation's among them, and tables and poses of flights."""

import numpy as np
import pytest
from earth_flights import flight

from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw, turns
from imu_simulation_framework.core.columns import FLIGHT
from imu_simulation_framework.motion.earth import ecef_of
from imu_simulation_framework.motion.earth_motion import (
    enu_to_ecef,
    ned_to_ecef,
    orientation_of_aviation,
)
from imu_simulation_framework.motion.flight import FlightStates


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


@pytest.mark.parametrize(
    "angles, body_axis, direction",
    [
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),  # to the north
        ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),  # left wing in the west
        ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
        ((0.0, 0.1, 0.0), (1.0, 0.0, 0.0), (0.0, np.cos(0.1), np.sin(0.1))),  # nose up
        ((0.1, 0.0, 0.0), (0.0, 1.0, 0.0), (-np.cos(0.1), 0.0, np.sin(0.1))),  # right wing down
        ((0.0, 0.0, 0.5 * np.pi), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),  # to the east
    ],
)
def test_aviations_angles_turn_the_aircraft_as_pilots_say(angles, body_axis, direction):
    local = enu_to_ecef(0.7, 2.0).inv() * orientation_of_aviation(0.7, 2.0, angles)
    assert local.apply(body_axis) == pytest.approx(direction, abs=1e-15)


@pytest.mark.parametrize("with_velocity", [False, True])
def test_the_table_of_a_flight_is_the_flight(with_velocity):
    motion = flight(50.0, 60.0)
    table = motion.table()
    place, velocity, angles = (
        table[list(names)].to_numpy() for names in (FLIGHT[:3], FLIGHT[3:6], FLIGHT[6:])
    )
    states = FlightStates.from_local(
        motion.time,
        place * (np.pi / 180.0, np.pi / 180.0, 1.0),
        quaternion_from_roll_pitch_yaw(angles),
        velocity,
    )
    again = states.integrated().motion() if with_velocity else states.motion()
    inner = slice(20, -20)
    assert again.position == pytest.approx(motion.position, abs=1e-4)
    assert turns(again.orientation, motion.orientation) == pytest.approx(0.0, abs=1e-12)
    assert again.velocity[inner] == pytest.approx(motion.velocity[inner], abs=1e-5)
    assert again.angular_velocity[inner] == pytest.approx(motion.angular_velocity[inner], abs=1e-9)
    assert again.specific_force[inner] == pytest.approx(motion.specific_force[inner], abs=1e-3)
