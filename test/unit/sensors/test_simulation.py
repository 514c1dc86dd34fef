"""From a motion and an IMU's errors to its samples."""

import numpy as np
import pytest

from imu_simulation_framework.core.columns import IMU_RECORD
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.heading.yaw_error import yaw_error
from imu_simulation_framework.motion.sources import at_rest, read_drive, rounds, straight
from imu_simulation_framework.sensors.imu_models.plugins import GenericParameters
from imu_simulation_framework.sensors.imu_models.registry import PRESETS
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth, simulate_imu


@pytest.fixture(scope="module")
def motion():
    return read_drive("a", laps=1)


@pytest.mark.parametrize("imu", [*PRESETS, ImuSpecification(), GenericParameters(0.01)])
def test_every_kind_of_imu_gives_the_same_table(motion, imu):
    samples = simulate_imu(motion, imu)
    assert tuple(samples.columns) == IMU_RECORD
    np.testing.assert_array_equal(samples.index, motion.time)
    assert np.isfinite(samples.to_numpy()).all()
    assert samples["accel_z"].mean() == pytest.approx(9.81, abs=0.01)


def test_without_a_seed_it_is_zero(motion):
    truth = imu_truth(motion)
    without, seeded = (
        imu_model("generic", motion.period, *seed).batch(truth, 1) for seed in ((), (0,))
    )
    np.testing.assert_array_equal(without.specific_force, seeded.specific_force)


def added_error(motion, **gyroscope):
    """What errors of the gyroscope add to the yaw's error: fusion alone has one, in curves."""
    errors = [
        yaw_error(simulate_imu(motion, ImuSpecification(gyroscope=triad)), motion)
        for triad in (TriadSpecification(**gyroscope), TriadSpecification())
    ]
    return errors[0] - errors[1]


def test_a_rate_bias_drifts_as_its_integral(motion):
    error = added_error(motion, turn_on_bias=(0.0, 0.0, 1e-3))
    # The IMU turns too far, and the error is the truth less the IMU. In curves the accelerometer
    # tilts the filter's vertical by up to 0.1 rad, and 1 - cos of that is missing.
    np.testing.assert_allclose(error, -1e-3 * motion.time, rtol=0.005, atol=1e-6)


def test_a_scale_factor_drifts_with_the_turn():
    motion = rounds(10, radius=5.0, speed=0.5)
    matrix = np.diag([0.0, 0.0, 0.002])
    error = added_error(motion, scale_factor_and_misalignment=matrix)
    expected = -0.002 * (motion.yaw - motion.yaw[0])
    assert error.iloc[-1] == pytest.approx(expected[-1], rel=1e-3)


def test_white_noise_walks_as_its_density_says():
    density, duration, runs = 1e-3, 60.0, 200
    motion = at_rest(duration)
    imu = ImuSpecification(gyroscope=TriadSpecification(white_noise=density))
    ends = [yaw_error(simulate_imu(motion, imu, run=run), motion).iloc[-1] for run in range(runs)]
    expected = density * np.sqrt(duration)
    assert np.std(ends) == pytest.approx(expected, rel=4.0 / np.sqrt(2.0 * runs))
    assert abs(np.mean(ends)) < 4.0 * expected / np.sqrt(runs)


def test_a_slower_sensor_gives_its_own_samples(motion):
    imu = ImuSpecification(output=OutputSpecification(rate=20.0, start_offset=0.03))
    samples = simulate_imu(motion, imu)
    np.testing.assert_allclose(np.diff(samples.index), 0.05)
    assert samples.index[0] == pytest.approx(0.03)
    # Each is the mean over its own period: the turn is all there.
    turned = samples["gyro_z"].iloc[1:].sum() * 0.05
    expected = np.interp(samples.index[[0, -1]], motion.time, motion.yaw)
    assert turned == pytest.approx(expected[1] - expected[0], abs=1e-9)


def test_runs_have_their_own_numbers_and_seeds_theirs(motion):
    first = simulate_imu(motion, "hector", seed=3, run=2)
    np.testing.assert_array_equal(first, simulate_imu(motion, "hector", seed=3, run=2))
    for other in ({"seed": 3, "run": 1}, {"seed": 4, "run": 2}):
        assert not np.array_equal(first, simulate_imu(motion, "hector", **other))


def test_what_cannot_be_simulated_is_refused(motion):
    with pytest.raises(ConfigurationError, match="this is a float"):
        simulate_imu(motion, 3.0)
    with pytest.raises(ConfigurationError, match="nothing: there is no such file"):
        simulate_imu(motion, "nothing")
    samples = simulate_imu(straight(1.0), "ideal")
    samples.index += 100.0
    with pytest.raises(MotionError, match="no yaw was measured within"):
        yaw_error(samples, motion)
