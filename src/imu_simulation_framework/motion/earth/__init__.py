"""Motion on the turning Earth: ellipsoid, gravity, frames, and what inertial sensors feel of it."""
