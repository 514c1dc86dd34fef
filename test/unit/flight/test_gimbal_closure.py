"""Increments of an IMU on a gimbal, integrated, lead back to where it was."""

import numpy as np
import pytest
from earth_flights import flight
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.motion.strapdown import increments_of, integrate

IMU = isf.read_imu_specification("agisim")


def closure(name, rate):
    """Return by how much position, velocity and orientation are off at most, over 200 s."""
    carried = isf.simulate_gimbal(flight(rate), isf.read_gimbal(name), IMU).motion
    found = integrate(
        increments_of(carried), carried.position[0], carried.velocity[0], carried.orientation[0]
    )
    turned = Rotation.from_quat(found.orientation).inv() * Rotation.from_quat(carried.orientation)
    return np.array(
        [
            np.max(np.linalg.norm(found.position - carried.position, axis=1)),
            np.max(np.linalg.norm(found.velocity - carried.velocity, axis=1)),
            np.max(turned.magnitude()),
        ]
    )


@pytest.mark.parametrize("name", ["off", "agisim", "level", "ground_point"])
def test_increments_on_a_gimbal_close_with_second_order(name):
    at_100, at_50 = closure(name, 100.0), closure(name, 50.0)
    assert np.all(at_100 < (1e-3, 1e-4, 1e-6))
    assert at_50[0] / at_100[0] == pytest.approx(4.0, rel=0.1)
