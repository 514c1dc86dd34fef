"""From a motion and an IMU's errors to its samples."""

import numpy as np
import pytest

from imu_simulation_framework.core.columns import IMU_RECORD
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.heading.statistics import yaw_error
from imu_simulation_framework.motion.sources import read_drive, straight
from imu_simulation_framework.sensors.imu_models.plugins import GenericParameters, HectorParameters
from imu_simulation_framework.sensors.imu_models.registry import PRESETS
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
)
from imu_simulation_framework.sensors.simulation import simulate_imu


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


def test_an_ideal_imu_has_no_yaw_error_and_a_plugin_that_of_its_parameters(motion):
    for imu, error in (("ideal", 0.0), (HectorParameters(yaw_offset=0.2, yaw_drift=0.0), -0.2)):
        found = yaw_error(simulate_imu(motion, imu), motion)
        np.testing.assert_allclose(found, error, rtol=0.0, atol=1e-9)


def test_a_slower_sensor_gives_its_own_samples(motion):
    imu = ImuSpecification(output=OutputSpecification(rate=20.0, start_offset=0.03))
    samples = simulate_imu(motion, imu)
    np.testing.assert_allclose(np.diff(samples.index), 0.05)
    assert samples.index[0] == pytest.approx(0.03)
    # Each is the mean over its own period: the turn is all there.
    turned = samples["gyro_z"].iloc[1:].sum() * 0.05
    expected = np.interp(samples.index[[0, -1]], motion.time, motion.yaw)
    assert turned == pytest.approx(expected[1] - expected[0], abs=1e-9)


def test_what_cannot_be_simulated_is_refused(motion):
    with pytest.raises(ConfigurationError, match="this is a float"):
        simulate_imu(motion, 3.0)
    with pytest.raises(ConfigurationError, match="nothing: there is no such file"):
        simulate_imu(motion, "nothing")
    samples = simulate_imu(straight(1.0), "ideal")
    samples.index += 100.0
    with pytest.raises(MotionError, match="no yaw was measured within"):
        yaw_error(samples, motion)
