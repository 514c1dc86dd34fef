"""Gazebo worlds with the same ground as in MuJoCo, and models of iron bodies."""

from __future__ import annotations

from typing import Sequence

from ..core.units import WORLD_GRAVITY
from ..motion.drives import Terrain
from ..sensors.magnetism.bodies import Ellipsoid, FerrousBody

PHYSICS_RATE = 1000  # physics steps per second of simulated time [Hz]

HIGHEST_UPDATE_RATE = 1500
"""Physics steps per second of wall-clock time [Hz], which limit Gazebo to 1.5 times real time. On
two cores, Gazebo's IMU sensor skips 1 % of its measurements at twice real time."""


def world_sdf(terrain: Terrain | None = None) -> str:
    """Create a world file with physics, light and ground.

    Parameters
    ----------
    terrain : Terrain, optional
        Bumps on the ground, which is level by default.

    Returns
    -------
    str
        World in SDF.
    """
    return f"""<?xml version="1.0"?>
<!-- Made by offline_processing/generate_world.py; change it there. -->
<sdf version="1.6">
  <world name="{"flat" if terrain is None else "uneven"}">
    <gravity>0 0 -{WORLD_GRAVITY}</gravity>
    <physics name="ode_1khz" type="ode">
      <max_step_size>{1.0 / PHYSICS_RATE}</max_step_size>
      <real_time_update_rate>{HIGHEST_UPDATE_RATE}</real_time_update_rate>
      <ode>
        <!-- Exact solver; with the iterative one, a stationary robot creeps by 0.3 mm/s. Without
             cfm, it warns about wheels that touch the ground at more points than needed. -->
        <solver>
          <type>world</type>
        </solver>
        <constraints>
          <cfm>1e-5</cfm>
          <erp>0.2</erp>
          <contact_surface_layer>0.001</contact_surface_layer>
        </constraints>
      </ode>
    </physics>
    <scene>
      <ambient>0.6 0.6 0.6 1</ambient>
      <background>0.8 0.9 1.0 1</background>
    </scene>
    <light name="sun" type="directional">
      <pose>0 0 10 0 0 0</pose>
      <direction>-0.5 0.1 -0.9</direction>
      <diffuse>0.8 0.8 0.8 1</diffuse>
    </light>
    <model name="ground">
      <static>true</static>
      <link name="ground">
        <collision name="plane">
          <geometry>
            <plane><normal>0 0 1</normal><size>1000 1000</size></plane>
          </geometry>
        </collision>
        <visual name="plane_visual">
          <geometry>
            <plane><normal>0 0 1</normal><size>1000 1000</size></plane>
          </geometry>
          <material><ambient>0.5 0.5 0.45 1</ambient><diffuse>0.5 0.5 0.45 1</diffuse></material>
        </visual>
{_bumps(terrain)}      </link>
    </model>
  </world>
</sdf>
"""


_IRON = "<material><diffuse>0.35 0.2 0.15 1</diffuse></material>"
_MATERIAL = "<material><diffuse>0.45 0.5 0.4 1</diffuse></material>"


def terrain_sdf(terrain: Terrain) -> str:
    """Create a static model of the bumps, to be added to a level world.

    Parameters
    ----------
    terrain : Terrain
        Bumps on the ground.

    Returns
    -------
    str
        Model in SDF.
    """
    return _static_model("bumps", _bumps(terrain))


def iron_sdf(bodies: Sequence[FerrousBody]) -> str:
    """Create a static model that shows iron bodies, without contacts.

    Parameters
    ----------
    bodies : sequence of FerrousBody
        Iron bars and ellipsoids.

    Returns
    -------
    str
        Model in SDF.
    """
    visuals = []
    for index, body in enumerate(bodies):
        place = " ".join(f"{value:.6f}" for value in (*body.position, *body.orientation))
        sides = " ".join(f"{side:g}" for side in body.size)
        shape = f"<box><size>{sides}</size></box>"
        if isinstance(body, Ellipsoid):
            # SDF 1.6 has no ellipsoids.
            shape = f"<sphere><radius>{0.5 * max(body.size):g}</radius></sphere>"
        visuals.append(
            f"""\
      <visual name="iron_{index}">
        <pose>{place}</pose><geometry>{shape}</geometry>{_IRON}
      </visual>
"""
        )
    return _static_model("iron", "".join(visuals))


def _static_model(name, content) -> str:
    return f"""<?xml version="1.0"?>
<sdf version="1.6">
  <model name="{name}">
    <static>true</static>
    <link name="{name}">
{content}    </link>
  </model>
</sdf>
"""


def _bumps(terrain) -> str:
    if terrain is None:
        return ""
    parts = []
    for index, (x, y, z) in enumerate(terrain.spheres()):
        place = f"<pose>{x:.6f} {y:.6f} {z:.6f} 0 0 0</pose>"
        sphere = f"<geometry><sphere><radius>{terrain.radius:g}</radius></sphere></geometry>"
        parts.append(
            f"""\
        <collision name="bump_{index}">{place}{sphere}</collision>
        <visual name="bump_{index}_visual">{place}{sphere}{_MATERIAL}</visual>
"""
        )
    return "".join(parts)
