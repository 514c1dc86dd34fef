"""IMU on the rotating Earth: its signals, and the local axes of its orientation."""

import numpy as np
import pytest
from earth_flights import flight, require_same_motion
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.motion.earth import EARTH_RATE

GYRO, ACCEL, MAG = ([f"{kind}_{axis}" for axis in "xyz"] for kind in ("gyro", "accel", "mag"))


def test_imu_on_earth_measures_earth_rate_and_outputs_local_angles():
    motion = isf.standing(2.0, latitude=30.0, roll=0.2, pitch=-0.1, yaw=0.5)
    samples = isf.simulate_imu(motion, "ideal")
    assert np.linalg.norm(samples[GYRO].to_numpy(), axis=1) == pytest.approx(EARTH_RATE, rel=1e-8)
    assert samples[ACCEL].to_numpy() == pytest.approx(motion.specific_force, abs=1e-9)
    angles = np.tile([0.2, -0.1, 0.5], (201, 1))
    assert samples[["roll", "pitch", "yaw"]].to_numpy() == pytest.approx(angles, abs=1e-9)
    motion = flight(100.0, 20.0)
    output = isf.OutputSpecification(rate=100.0, orientation_reference="truth")
    samples = isf.simulate_imu(motion, isf.ImuSpecification(output=output))
    assert samples["yaw"].to_numpy() == pytest.approx(motion.yaw, abs=1e-9)
    rate, force = motion.means()
    assert samples[GYRO].to_numpy() == pytest.approx(rate, abs=1e-12)
    assert samples[ACCEL].to_numpy() == pytest.approx(force, abs=1e-12)


def test_magnetometer_on_earth_measures_field_in_local_axes():
    field = (1e-6, 20e-6, -43e-6)
    motion = isf.standing(1.0, 47.0, 180.0, yaw=0.5 * np.pi)
    imu = isf.ImuSpecification(magnetometer=isf.MagnetometerSpecification())
    there = isf.MagneticEnvironment(earth=field)
    samples = isf.simulate_imu(motion, imu, magnetic_environment=there)
    # The robot faces north: x points north, y points west.
    expected = np.tile([20e-6, -1e-6, -43e-6], (101, 1))
    assert samples[MAG].to_numpy() == pytest.approx(expected, abs=1e-12)
    dipole = isf.Dipole(position=(600.0, 0.0, 0.0), moment=(0.0, 0.0, 1e6))
    environment = isf.MagneticEnvironment(earth=(0.0, 0.0, 0.0), dipoles=[dipole])
    motion = isf.circling(60.0, 47.0, 11.0, 500.0, radius=500.0, speed=60.0)
    computed, local = (
        isf.simulate_imu(each, imu, magnetic_environment=environment)[MAG].to_numpy()
        for each in (motion, motion.local())
    )
    assert computed == pytest.approx(local, abs=2e-4 * np.abs(local).max())


def test_planar_motion_is_placed_on_rotating_earth():
    drive = isf.read_drive("a", laps=1).resampled(20.0)
    motion = isf.on_earth(drive, 50.0, 14.0, 250.0)
    angle = np.radians(50.0)
    back = motion.local((angle, np.radians(14.0), 250.0))
    off = {"position": 1e-8, "orientation": 1e-12, "velocity": 1e-12, "angular_velocity": 1e-15}
    require_same_motion(back, drive, **off)
    # Expected: specific force in a flat world with local gravity, plus Coriolis acceleration.
    earth = EARTH_RATE * np.array([0.0, np.cos(angle), np.sin(angle)])
    change = 2.0 * np.cross(earth, drive.velocity) + [0.0, 0.0, back.gravity - drive.gravity]
    expected = drive.specific_force + Rotation.from_quat(drive.orientation).inv().apply(change)
    # Some metres away, the vertical is tilted by 1e-6.
    np.testing.assert_allclose(motion.specific_force, expected, rtol=0.0, atol=5e-5)


def test_latitude_adds_vertical_earth_rate_to_yaw_drift():
    motion = isf.straight(600.0, 1.0, 20.0)
    imu = isf.ImuSpecification(output=isf.OutputSpecification(rate=20.0))
    samples = isf.simulate_imu(motion, imu, latitude=50.0)
    still = isf.simulate_imu(motion, imu)
    drift = 600.0 * EARTH_RATE * np.sin(np.radians(50.0))
    turned = (samples["yaw"] - still["yaw"]).iloc[-1]
    # The drive is 600 m long on a plane whose north direction is constant.
    assert turned == pytest.approx(drift, abs=2e-4)
    with pytest.raises(isf.FrameworkError, match="latitude is set"):
        isf.simulate_imu(isf.standing(1.0, 50.0), imu, latitude=50.0)
    with pytest.raises(isf.FrameworkError, match="expected -90 to 90 deg"):
        isf.simulate_imu(motion, imu, latitude=95.0)
