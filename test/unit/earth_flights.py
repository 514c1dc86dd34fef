"""Flights in closed form over the turning Earth, and the paper's gimbal, for tests."""

from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.motion.earth import ecef_of
from imu_simulation_framework.motion.earth_motion import FRD_TO_FLU, enu_to_ecef, ned_to_ecef

LATITUDE, LONGITUDE, HEIGHT = 0.65, 2.1, 400.0
GIMBAL = ((np.pi / 6, 4.0), (np.pi / 6, 6.0), (np.pi / 12, 10.0))
"""Amplitude [rad] and period [s] of pan, tilt and roll, table 3 of the paper on AGISim."""
LEVER_ARM = 0.1
WHOLE = slice(None)


def poses(rate, duration=200.0):
    """Return times, positions and orientations of a flight with climbs and turns, in ECEF."""
    time = np.arange(int(duration * rate) + 1) / rate
    fine = np.linspace(0.0, duration, int(duration * 2000) + 1)
    heading = 1.5 * np.sin(fine / 20.0) + 0.3 * np.sin(fine / 3.0)
    speed = 60.0 + 10.0 * np.sin(fine / 15.0)
    climb = 3.0 * np.sin(fine / 30.0) ** 2 + np.sin(fine / 5.0)
    velocity = np.column_stack([speed * np.sin(heading), speed * np.cos(heading), climb])
    way = CubicSpline(fine, velocity).antiderivative()(time)
    heading = 1.5 * np.sin(time / 20.0) + 0.3 * np.sin(time / 3.0)
    angles = [np.pi / 2 - heading, 0.1 * np.sin(time / 5.0), 0.5 * np.sin(time / 4.0)]
    local = enu_to_ecef(LATITUDE, LONGITUDE)
    body = local * Rotation.from_euler("ZYX", np.stack(angles, axis=1))
    return time, ecef_of(LATITUDE, LONGITUDE, HEIGHT) + local.apply(way), body.as_quat()


@lru_cache(maxsize=None)
def flight(rate=100.0, duration=200.0):
    """Return the motion of :func:`poses`, which tests share and do not change."""
    return isf.EarthMotion.from_poses(*poses(rate, duration))


def on_gimbal(motion, arm=LEVER_ARM):
    """Return the motion of what pans, tilts and rolls on a body, link by link."""
    pan, tilt, roll = (
        amplitude * np.sin(2.0 * np.pi / period * motion.time) for amplitude, period in GIMBAL
    )
    panned = motion.mounted(rotation=Rotation.from_euler("z", pan))
    tilted = panned.mounted((arm, 0.0, 0.0), Rotation.from_euler("y", tilt))
    return tilted.mounted((arm, 0.0, 0.0), Rotation.from_euler("x", roll))


def aviation_of_orientation(latitude, longitude, orientation):
    """Return roll, pitch and heading (n, 3) [rad], of a Rotation to ECEF."""
    aircraft = ned_to_ecef(latitude, longitude).inv() * orientation * FRD_TO_FLU
    return aircraft.as_euler("ZYX")[..., ::-1]


def require_same_motion(found, expected, inner=WHOLE, angle=None, **off):
    """Each of these quantities of two motions is the same within so much, away from the ends.

    ``angle``: of what is between their orientations [rad].
    """
    if angle is not None:
        turned = Rotation.from_quat(found.orientation).inv()
        turned = turned * Rotation.from_quat(expected.orientation)
        assert np.max(turned.magnitude()) < angle
    for name, most in off.items():
        ours, theirs = getattr(found, name)[inner], getattr(expected, name)[inner]
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=most, err_msg=name)
