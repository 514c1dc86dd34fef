"""Flights in closed form over the rotating Earth, and the gimbal of the AGISim paper."""

from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.motion.earth import ecef_of
from imu_simulation_framework.motion.earth_motion import FRD_TO_FLU, enu_to_ecef, ned_to_ecef

LATITUDE, LONGITUDE, HEIGHT = 0.65, 2.1, 400.0
# Amplitude [rad] and period [s] of pan, tilt and roll, table 3 of the AGISim paper.
GIMBAL = ((np.pi / 6, 4.0), (np.pi / 6, 6.0), (np.pi / 12, 10.0))
LEVER_ARM = 0.1  # from one joint to the next [m]
WHOLE = slice(None)


def poses(rate, duration=200.0):
    """Return times, positions and orientations of a flight with climbs and turns, in ECEF."""
    time = np.arange(int(duration * rate) + 1) / rate
    fine = np.linspace(0.0, duration, int(duration * 2000) + 1)
    heading = 1.5 * np.sin(fine / 20.0) + 0.3 * np.sin(fine / 3.0)
    speed = 60.0 + 10.0 * np.sin(fine / 15.0)
    climb = 3.0 * np.sin(fine / 30.0) ** 2 + np.sin(fine / 5.0)
    velocity = np.column_stack([speed * np.sin(heading), speed * np.cos(heading), climb])
    displacement = CubicSpline(fine, velocity).antiderivative()(time)
    heading = 1.5 * np.sin(time / 20.0) + 0.3 * np.sin(time / 3.0)
    angles = [np.pi / 2 - heading, 0.1 * np.sin(time / 5.0), 0.5 * np.sin(time / 4.0)]
    local = enu_to_ecef(LATITUDE, LONGITUDE)
    body = local * Rotation.from_euler("ZYX", np.stack(angles, axis=1))
    return time, ecef_of(LATITUDE, LONGITUDE, HEIGHT) + local.apply(displacement), body.as_quat()


@lru_cache(maxsize=None)
def flight(rate=100.0, duration=200.0):
    """Return the motion of :func:`poses`, which tests share and must not modify."""
    return isf.EarthMotion.from_poses(*poses(rate, duration))


def mount_on_gimbal(motion, arm=LEVER_ARM):
    """Return the motion of a camera on a body's gimbal, computed joint by joint."""
    pan, tilt, roll = (
        amplitude * np.sin(2.0 * np.pi / period * motion.time) for amplitude, period in GIMBAL
    )
    panned = motion.mounted(rotation=Rotation.from_euler("z", pan))
    tilted = panned.mounted((arm, 0.0, 0.0), Rotation.from_euler("y", tilt))
    return tilted.mounted((arm, 0.0, 0.0), Rotation.from_euler("x", roll))


def aviation_of_orientation(latitude, longitude, orientation):
    """Return roll, pitch and heading (n, 3) [rad] of a Rotation to ECEF."""
    aircraft = ned_to_ecef(latitude, longitude).inv() * orientation * FRD_TO_FLU
    return aircraft.as_euler("ZYX")[..., ::-1]


def require_same_motion(actual, expected, inner=WHOLE, angle=None, **tolerances):
    """Assert that two motions agree.

    Parameters
    ----------
    actual, expected : motion
        Motions with the same times.
    inner : slice, optional
        Samples to compare, for instance without the ends.
    angle : float, optional
        Limit of the angle between the orientations [rad].
    **tolerances : float
        Absolute tolerance of each quantity, by name.
    """
    if angle is not None:
        difference = Rotation.from_quat(actual.orientation).inv()
        difference = difference * Rotation.from_quat(expected.orientation)
        assert np.max(difference.magnitude()) < angle
    for name, tolerance in tolerances.items():
        actual_values, expected_values = (
            getattr(actual, name)[inner],
            getattr(expected, name)[inner],
        )
        np.testing.assert_allclose(
            actual_values, expected_values, rtol=0.0, atol=tolerance, err_msg=name
        )
