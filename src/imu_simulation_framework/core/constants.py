"""Constants of nature and of the simulated world, each in one place.

The unit and the world are two things: an accelerometer's data sheet in g means the one, what a
robot's accelerometer feels at rest is the other.
"""

STANDARD_GRAVITY = 9.80665
"""The unit g, by definition (3rd General Conference on Weights and Measures, 1901) [m/s^2]."""

WORLD_GRAVITY = 9.81
"""Acceleration due to gravity in the simulated worlds, MuJoCo's and Gazebo's default [m/s^2]."""

VACUUM_PERMEABILITY = 1.25663706127e-6
"""The magnetic constant (CODATA 2022) [T m/A]."""
