from dataclasses import replace

import numpy as np
import pytest
from earth_flights import flight

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.motion.earth_motion import enu_to_ecef

RECEIVER = isf.GnssSpecification(
    rate=2.0,
    lever_arm=(-1.0, 0.4, 1.5),
    qualities=(
        isf.FixQuality(
            horizontal_noise=1.0,
            vertical_noise=2.0,
            velocity_noise=0.1,
            vertical_velocity_noise=0.2,
        ),
    ),
)


@pytest.fixture(scope="module")
def motion():
    return flight(duration=20.0)


def test_a_receiver_without_errors_says_where_its_antenna_is(motion):
    fixes = isf.simulate_earth_fixes(motion, replace(RECEIVER, qualities=(isf.FixQuality(),)))
    antenna = motion.mounted(RECEIVER.lever_arm)
    assert fixes.time == pytest.approx(motion.time[::50])
    assert fixes.position[0] == pytest.approx(antenna.position[::50], abs=1e-8)
    assert fixes.velocity[0] == pytest.approx(antenna.velocity[::50], abs=1e-12)


def test_errors_are_along_east_north_and_up_as_large_as_specified(motion):
    runs = 100
    fixes = isf.simulate_earth_fixes(motion, RECEIVER, runs)
    antenna = motion.mounted(RECEIVER.lever_arm)
    latitude, longitude, _ = antenna.latitude_longitude_height[::50].T
    to_local = enu_to_ecef(latitude, longitude).as_matrix().swapaxes(1, 2)
    for measured, true, sigmas in (
        (fixes.position, antenna.position, (1.0, 1.0, 2.0)),
        (fixes.velocity, antenna.velocity, (0.1, 0.1, 0.2)),
    ):
        local = (to_local @ (measured - true[::50])[..., np.newaxis])[..., 0].reshape(-1, 3)
        # Three standard errors of a standard deviation.
        assert np.std(local, axis=0) == pytest.approx(sigmas, rel=3.0 / np.sqrt(2.0 * len(local)))
        correlation = np.corrcoef(local.T)[np.triu_indices(3, 1)]
        assert np.max(np.abs(correlation)) < 3.5 / np.sqrt(len(local))
    assert np.unique(fixes.variance.reshape(-1, 6), axis=0) == pytest.approx(
        np.array([[1.0, 1.0, 4.0, 0.01, 0.01, 0.04]])
    )


def test_in_an_outage_there_is_no_number_and_a_run_is_its_own(motion):
    receiver = replace(RECEIVER, outages=isf.GnssOutages(times=((5.0, 7.0),)))
    fixes = isf.simulate_earth_fixes(motion, receiver, 3, seed=2)
    away = (fixes.time >= 5.0) & (fixes.time < 7.0)
    assert fixes.between(4.0, 6.0).time.tolist() == [4.0, 4.5, 5.0, 5.5, 6.0]
    for values in (fixes.position, fixes.velocity, fixes.variance):
        assert np.all(np.isnan(values[:, away]))
        assert np.all(np.isfinite(values[:, ~away]))
    alone = isf.simulate_earth_fixes(motion, receiver, 1, seed=2, first_run=1)
    assert np.array_equal(alone.position[0], fixes.position[1], equal_nan=True)


def test_a_rate_that_does_not_go_into_the_motions_is_refused(motion):
    with pytest.raises(ConfigurationError, match="no multiple"):
        isf.simulate_earth_fixes(motion, replace(RECEIVER, rate=3.0))
    with pytest.raises(ConfigurationError, match="no multiple"):
        isf.simulate_earth_fixes(motion, replace(RECEIVER, rate=500.0))
