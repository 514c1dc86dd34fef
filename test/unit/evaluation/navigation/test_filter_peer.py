"""Our filter beside that of pyins: north, east, down, matrices of its own, one run."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from earth_flights import flight
from navigated import GNSS, IMU
from pyins import filters, inertial_sensor, measurements, util
from scipy.spatial.transform import Rotation

from imu_simulation_framework.flight.navigation.filter import initial_state, run_filter
from imu_simulation_framework.flight.navigation.runs import simulate_increments
from imu_simulation_framework.flight.navigation.tuning import InitialUncertainty, tuning_of
from imu_simulation_framework.motion.earth import geodetic_of
from imu_simulation_framework.motion.earth_frames import aviation_of_orientation, ned_to_ecef
from imu_simulation_framework.sensors.gnss.earth_fixes import simulate_earth_fixes
from imu_simulation_framework.sensors.gnss.specification import FixQuality

FRD = np.array([1.0, -1.0, -1.0])
POSITION_SIGMA, VELOCITY_SIGMA = 2.5, 0.1
RECEIVER = replace(
    GNSS,
    qualities=(
        FixQuality(
            horizontal_noise=POSITION_SIGMA,
            vertical_noise=POSITION_SIGMA,
            velocity_noise=VELOCITY_SIGMA,
            vertical_velocity_noise=VELOCITY_SIGMA,
        ),
    ),
)


def _places(position):
    return geodetic_of(position) * (180.0 / np.pi, 180.0 / np.pi, 1.0)


def _local(position, velocity):
    latitude, longitude, _ = geodetic_of(position).T
    return ned_to_ecef(latitude, longitude).inv().apply(velocity)


def _states(position, velocity, attitude):
    latitude, longitude, _ = geodetic_of(position).T
    angles = aviation_of_orientation(latitude, longitude, Rotation.from_matrix(attitude))
    return np.hstack([_places(position), _local(position, velocity), np.degrees(angles)])


def _their_increments(said):
    """Their velocity increments are in the axes at the start of the period."""
    turned, gained = said.delta_theta[0, 1:], said.delta_velocity[0, 1:]
    once = np.cross(turned, gained)
    gained = gained + 0.5 * once + np.cross(turned, once) / 6.0
    period = np.diff(said.time)[:, np.newaxis]
    return pd.DataFrame(
        np.hstack([period, turned * FRD, gained * FRD]),
        index=said.time[1:],
        columns=["dt", *util.THETA_COLS, *util.DV_COLS],
    )


def test_another_filter_comes_to_the_same_estimates_and_is_as_sure_of_them():
    motion = flight(duration=12.0)
    # Their beginning has the order roll, pitch, heading of one another's errors; ours is NED.
    tuning = replace(tuning_of(IMU), initial=InitialUncertainty(tilt=1e-3))
    said = simulate_increments(motion, IMU, seed=4)
    fixes = simulate_earth_fixes(motion, RECEIVER, seed=5)
    start = initial_state(
        motion.position[0],
        motion.velocity[0],
        motion.orientation[0],
        tuning.initial.draw(1, seed=6),
    )
    ours = run_filter(start, said.time, said.delta_theta, said.delta_velocity, fixes, tuning)

    initial = tuning.initial
    theirs = filters.run_feedback_filter(
        pd.Series(
            _states(start.position, start.velocity, start.attitude)[0],
            index=util.TRAJECTORY_COLS,
            name=said.time[0],
        ),
        initial.position,
        initial.velocity,
        np.degrees(initial.tilt),
        np.degrees(initial.heading),
        _their_increments(said),
        inertial_sensor.EstimationModel(tuning.gyroscope_bias, tuning.gyroscope_noise),
        inertial_sensor.EstimationModel(tuning.accelerometer_bias, tuning.accelerometer_noise),
        [
            measurements.Position(
                pd.DataFrame(_places(fixes.position[0]), index=fixes.time, columns=util.LLA_COLS),
                POSITION_SIGMA,
            ),
            measurements.NedVelocity(
                pd.DataFrame(
                    _local(fixes.position[0], fixes.velocity[0]),
                    index=fixes.time,
                    columns=util.VEL_COLS,
                ),
                VELOCITY_SIGMA,
            ),
        ],
        time_step=0.1,
    )
    # Theirs ends before the last fix is used.
    used = slice(0, len(ours.time) - 1)
    at = np.searchsorted(theirs.trajectory.index, ours.time[used] + 1e-6) - 1
    difference = (
        _states(ours.position[0], ours.velocity[0], ours.attitude[0])[used]
        - theirs.trajectory.iloc[at].to_numpy()
    )
    difference[:, :2] *= 111e3
    difference[:, 8] = (difference[:, 8] + 180.0) % 360.0 - 180.0
    at = np.searchsorted(theirs.trajectory_sd.index, ours.time[used] - 1e-6)
    sigma = theirs.trajectory_sd.iloc[at].to_numpy()
    # A tenth of what they are unsure of: their matrices are constant over 0.1 s.
    assert np.all(np.abs(difference) < 0.1 * sigma)

    latitude, longitude, _ = geodetic_of(ours.position[0]).T
    to_local = ned_to_ecef(latitude, longitude).as_matrix().swapaxes(1, 2)
    for place, part in ((slice(0, 3), slice(6, 9)), (slice(3, 6), slice(3, 6))):
        covariance = to_local @ ours.covariance[0, :, part, part] @ to_local.swapaxes(1, 2)
        found = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))[used]
        assert found == pytest.approx(sigma[:, place], rel=0.02)
