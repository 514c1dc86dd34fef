"""Terrain: positions and heights of bumps and iron, identical in both simulators."""

import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.drive.gazebo_world import iron_sdf, world_sdf
from imu_simulation_framework.drive.mujoco import MujocoSimulator
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.motion.drives import START_CLEARANCE, Terrain
from imu_simulation_framework.sensors.magnetism.bodies import Bar, Ellipsoid


def height_at(terrain, x, y):
    """Return the height of the ground at a position [m]."""
    middle_x, middle_y, middle_z = terrain.spheres().T
    inside = terrain.radius**2 - (x - middle_x) ** 2 - (y - middle_y) ** 2
    return np.max(np.where(inside > 0.0, middle_z + np.sqrt(np.maximum(inside, 0.0)), 0.0))


def test_bumps_have_configured_height_and_avoid_start():
    terrain = Terrain(height=0.03)
    spheres = terrain.spheres()
    heights = spheres[:, 2] + terrain.radius
    assert np.all((heights >= 0.015) & (heights <= 0.03))
    assert np.hypot(spheres[:, 0], spheres[:, 1]).min() >= START_CLEARANCE
    top = spheres[len(spheres) // 2]
    assert height_at(terrain, top[0], top[1]) == pytest.approx(top[2] + terrain.radius)
    assert height_at(terrain, 0.0, 0.0) == 0.0


def test_distance_to_bumps_is_measured_to_their_edges():
    terrain = Terrain(height=0.02, radius=2.0)
    x, y, z = terrain.spheres()[0]  # at a corner of the square
    foot = np.sqrt(2.0**2 - z**2)
    outwards = np.array([x, y]) / np.hypot(x, y)
    for beyond, near in ((0.49, True), (0.51, False)):
        place = [x, y] + (foot + beyond) * outwards
        assert terrain.has_bumps_near(*place, 0.5) is near
        assert height_at(terrain, *place) == 0.0
    assert height_at(terrain, *([x, y] + 0.99 * foot * outwards)) > 0.0


def test_bump_positions_depend_only_on_seed():
    np.testing.assert_array_equal(Terrain(seed=3).spheres(), Terrain(seed=3).spheres())
    assert not np.array_equal(Terrain(seed=3).spheres(), Terrain(seed=4).spheres())


@pytest.mark.parametrize("name", ["flat", "uneven"])
def test_bundled_worlds_match_generated_worlds(name):
    terrain = None if name == "flat" else Terrain()
    assert (package_share() / "worlds" / f"{name}.world").read_text() == world_sdf(terrain)


def test_world_contains_every_sphere_of_terrain():
    terrain = Terrain(size=9.0)
    places = re.findall(r"<collision name=\"bump_\d+\"><pose>(\S+) (\S+) (\S+)", world_sdf(terrain))
    np.testing.assert_allclose(np.array(places, dtype=float), terrain.spheres(), atol=1e-6)


def test_robot_rolls_over_bumps_and_stops_on_them():
    terrain = Terrain(height=0.02, spacing=1.0, size=12.0)
    simulator = MujocoSimulator(load_robot_parameters(), terrain=terrain)
    level = simulator.set_pose(0.0, 0.0, 0.0)
    assert abs(level.position[2]) < 1e-5
    x, y, z = terrain.spheres()[0]
    # The middle of the axle is over the bump; the wheels are on its flanks or next to it.
    standing = simulator.set_pose(x, y - load_robot_parameters().drivetrain.half_track, 0.0)
    assert standing.position[2] == pytest.approx(0.5 * (z + terrain.radius), abs=0.003)
    simulator.reset()
    simulator.command(8.0, 8.0)
    states = [simulator.step() for _ in range(500)]
    heights = np.array([state.position[2] for state in states])
    tilts = [2.0 * math.asin(min(1.0, np.hypot(*s.orientation[:2]))) for s in states]
    assert heights.max() > 0.004
    assert 0.005 < max(tilts) < 0.2


LENGTHS = ("height", "spacing", "radius", "size")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        *(({key: value}, key) for key in LENGTHS for value in (0.0, math.nan, math.inf, 1001.0)),
        *(({"seed": seed}, "seed") for seed in (-1, 2**63)),
        ({"height": 1.0, "radius": 0.5}, "height is 1.0 m"),
        ({"size": 101.0, "spacing": 1.0}, "10000 bumps"),
        ({"spacing": 1e-300}, "10000 bumps"),
    ],
)
def test_invalid_terrain_is_rejected_with_setting_name(settings, words):
    assert len(Terrain(size=100.0, spacing=1.0).spheres()) > 9000
    with pytest.raises(ConfigurationError, match=words):
        Terrain(**settings)


def test_gazebo_displays_iron_at_its_position_without_contacts():
    bodies = [
        Bar((1.0, 2.0, 0.1), (0.1, 3.0, 0.2), (0.0, 0.0, 0.5)),
        Ellipsoid((0.0, 0.0, 1.0), 0.4),
    ]
    link = ElementTree.fromstring(iron_sdf(bodies)).find("model/link")
    assert link.find("collision") is None
    poses = [[float(value) for value in pose.text.split()] for pose in link.iter("pose")]
    assert poses == [[1.0, 2.0, 0.1, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
    assert link.find("visual/geometry/box/size").text == "0.1 3 0.2"
    assert float(link.find("visual/geometry/sphere/radius").text) == 0.2


@pytest.mark.parametrize("spacing", [0.5, 3.0])
def test_bump_centres_are_within_quarter_spacing_of_grid(spacing):
    size = 12.0 * spacing
    middles = Terrain(spacing=spacing, size=size).spheres()[:, :2]
    count = int(size // spacing)
    line = (np.arange(count) - 0.5 * (count - 1)) * spacing
    away = np.abs(middles[..., np.newaxis] - line).min(axis=-1)
    assert away.max() <= 0.25 * spacing
    # With over 100 uniform coordinates, the outer fifth is empty with a probability of 2e-10.
    assert away.max() > 0.2 * spacing
