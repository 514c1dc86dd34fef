"""IMU increments and motions, compared with those of the independent package pyins."""

import numpy as np
import pandas as pd
import pytest
from earth_flights import aviation_of_orientation, flight, mount_on_gimbal
from pyins import earth, sim, strapdown, transform, util
from scipy.spatial.transform import Rotation

from imu_simulation_framework.motion.earth import geodetic_of
from imu_simulation_framework.motion.strapdown import increments_of

pytestmark = pytest.mark.gate  # because each process compiles pyins, which takes several seconds

FRD = np.array([1.0, -1.0, -1.0])
INCREMENTS = ["theta_x", "theta_y", "theta_z", "dv_x", "dv_y", "dv_z"]


def _place(position):
    """Return latitude and longitude [deg] and height of positions in ECEF."""
    return geodetic_of(position) * (180.0 / np.pi, 180.0 / np.pi, 1.0)


def _gravitation(position):
    """Return gravitation as modelled by pyins: vertical gravity that is linear in height."""
    return earth.gravitation_ecef(_place(position))


def _trajectory(motion):
    """Return a motion as a pyins table in north-east-down, forward-right-down and degrees."""
    latitude, longitude, _ = motion.latitude_longitude_height.T
    angles = aviation_of_orientation(latitude, longitude, Rotation.from_quat(motion.orientation))
    velocity = motion.local_velocity[:, [1, 0, 2]] * (1.0, 1.0, -1.0)
    values = np.hstack([_place(motion.position), velocity, np.degrees(angles)])
    return pd.DataFrame(values, motion.time, util.TRAJECTORY_COLS)


def _pyins_increments(increments):
    """Convert increments for pyins, with velocity in the body axes at the start of the period."""
    delta_theta, velocity_change = increments.delta_theta[1:], increments.delta_velocity[1:]
    size = np.linalg.norm(delta_theta, axis=1, keepdims=True)
    once = np.cross(delta_theta, velocity_change)
    velocity_change = velocity_change + (1.0 - np.cos(size)) / size**2 * once
    velocity_change += (1.0 - np.sin(size) / size) / size**2 * np.cross(delta_theta, once)
    steps = np.diff(increments.time)[:, np.newaxis]
    values = np.hstack([steps, delta_theta * FRD, velocity_change * FRD])
    return pd.DataFrame(values, increments.time[1:], ["dt", *INCREMENTS])


def _integration_error(increments, truth):
    """Return the largest position [m], velocity [m/s], angle [rad] errors of pyins' integration."""
    path = strapdown.Integrator(truth.iloc[0]).integrate(increments)
    difference = transform.compute_state_difference(path, truth).abs().max().to_numpy()
    return difference[:3].max(), difference[3:6].max(), np.radians(difference[6:].max())


def _generated(truth, kind):
    columns = (util.LLA_COLS, util.RPH_COLS, util.VEL_COLS)
    place, angles, velocity = (truth[names].to_numpy() for names in columns)
    return sim.generate_imu(truth.index.to_numpy(), place, angles, velocity, kind)[1]


@pytest.fixture(scope="module", params=[False, True], ids=["gimbal off", "gimbal on"])
def motion(request):
    motion = flight(100.0, 100.0)
    return mount_on_gimbal(motion) if request.param else motion


def test_pyins_integrates_package_increments_more_accurately_than_its_own(motion):
    truth = _trajectory(motion)
    computed = _integration_error(_pyins_increments(increments_of(motion, _gravitation)), truth)
    # pyins uses the Coriolis acceleration at the start of the period, a first-order error.
    assert np.all(np.array(computed) < (5e-3, 1e-4, 1e-8))
    increments = strapdown.compute_increments_from_imu(_generated(truth, "increment"), "increment")
    reference = _integration_error(increments, truth)
    assert all(our <= their for our, their in zip(computed, reference))


def test_pyins_simulation_matches_rates_forces_and_increments(motion):
    truth = _trajectory(motion)
    measured = _generated(truth, "rate")
    # Both ends are excluded, because the splines of pyins use mean rates there.
    inner = slice(50, -50)
    rate, force = (measured[names].to_numpy() * FRD for names in (util.GYRO_COLS, util.ACCEL_COLS))
    assert rate[inner] == pytest.approx(motion.angular_velocity[inner], abs=1e-7)
    # pyins derives forces from the curvature of splines through positions rounded to nanometres.
    curvature = 6.0 * 4e-9 / motion.period**2
    assert force[inner] == pytest.approx(motion.specific_force[inner], abs=2.0 * curvature)
    measured = _generated(truth, "increment")
    rate, force = (
        measured[names].to_numpy() * FRD / motion.period
        for names in (util.GYRO_COLS, util.ACCEL_COLS)
    )
    our_rate, our_force = motion.means()
    # pyins has second-order coning and sculling errors of up to 1e-5 rad/s and 1e-4 m/s^2 here.
    assert rate[inner] == pytest.approx(our_rate[inner], abs=1e-5)
    assert force[inner] == pytest.approx(our_force[inner], abs=2e-4)
