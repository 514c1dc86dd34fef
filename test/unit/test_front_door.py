"""What a person gets by importing the package."""

import subprocess
import sys

import numpy as np
import pytest

import imu_simulation_framework as isf


def test_every_name_is_there():
    for name in isf.__all__:
        assert getattr(isf, name) is not None
    assert set(isf.__all__) <= set(dir(isf))


def test_a_wrong_name_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'simulate_gps'"):
        _ = isf.simulate_gps


def test_importing_costs_nothing():
    code = "import sys, imu_simulation_framework; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "False\n"


def test_a_recorded_drive_is_a_motion(tmp_path):
    time = np.arange(0.0, 30.0, 0.2) + 100.0
    yaw = 0.3 * (time - 100.0)
    table = np.column_stack([time, 2.0 * np.sin(yaw), 2.0 * (1.0 - np.cos(yaw)), yaw])
    path = tmp_path / "drive.csv"
    np.savetxt(path, table, delimiter=",", header="time,x,y,yaw", comments="")
    motion = isf.read_motion(path, trajectory={"stop": 20.0})
    assert motion.time[0] == 0.0
    assert motion.duration == pytest.approx(20.0)
    inner = slice(200, -200)
    np.testing.assert_allclose(motion.angular_velocity[inner, 2], 0.3, rtol=0.0, atol=0.003)
    np.testing.assert_allclose(motion.specific_force[inner, 1], 0.18, rtol=0.0, atol=0.05)
    np.testing.assert_allclose(motion.specific_force[inner, 1].mean(), 0.18, rtol=0.01)


def test_what_cannot_be_read_is_a_sentence(tmp_path):
    with pytest.raises(isf.FrameworkError, match=r"nowhere\.bag"):
        isf.read_motion(tmp_path / "nowhere.bag")
    with pytest.raises(isf.FrameworkError, match="there is no such file, nor an IMU of that name"):
        isf.read_imu_specification("bno56")
