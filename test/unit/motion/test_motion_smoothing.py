"""The smoother in banded form against dense matrices, a plain filter and the smoothing spline."""

import numpy as np
import pytest
from scipy.interpolate import make_smoothing_spline
from scipy.stats import multivariate_normal

from imu_simulation_framework.motion.smoothing import Measurements, MotionModel

DENSITY = 0.4


def measured(count=40, seed=3):
    generator = np.random.default_rng(seed)
    times = np.cumsum(generator.uniform(0.2, 0.6, count))
    variances = generator.uniform(0.2, 3.0, count)
    values = np.sin(times / 3.0) + np.sqrt(variances) * generator.standard_normal(count)
    return times, values, variances


def wiener_covariances(times, density):
    """Prior covariances of integrated Wiener positions and velocities begun at rest at time 0."""
    a, b = np.minimum.outer(times, times), np.maximum.outer(times, times)
    positions = a**2 * (3.0 * b - a) / 6.0
    mixed = np.where(
        times[:, None] <= times, times[:, None] ** 2 / 2.0, times * (times[:, None] - times / 2.0)
    )
    return density**2 * positions, density**2 * mixed, density**2 * a


def test_positions_alone_give_the_smoothing_spline():
    times, values, variances = measured()
    motion = MotionModel(times).smooth(Measurements(values, variances), DENSITY)
    # It minimises sum w (y - f)^2 + lam integral f''^2.
    spline = make_smoothing_spline(times, values, w=1.0 / variances, lam=DENSITY**-2)
    assert motion.positions == pytest.approx(spline(times), abs=1e-8)
    assert motion.velocities == pytest.approx(spline.derivative()(times), abs=1e-8)


def test_velocities_of_infinite_variance_change_nothing():
    times, values, variances = measured()
    alone = MotionModel(times).smooth(Measurements(values, variances), DENSITY)
    unknown = np.full(len(times), np.nan)
    beside = MotionModel(times).smooth(
        Measurements(values, variances, None, unknown, np.full(len(times), np.inf)), DENSITY
    )
    assert np.array_equal(beside.positions, alone.positions)
    assert beside.deviance == alone.deviance


@pytest.mark.parametrize("count, slow_time", [(3, 0.0), (30, 0.0), (30, 1.5)])
def test_positions_velocities_and_slow_errors_equal_dense_gaussian_conditioning(count, slow_time):
    times, values, variances = measured(count)
    generator = np.random.default_rng(8)
    velocities = np.cos(times / 3.0) / 3.0 + 0.1 * generator.standard_normal(count)
    velocity_variances = generator.uniform(0.01, 0.05, count)
    slow_deviations = generator.uniform(0.5, 2.0, count) if slow_time else None
    motion = MotionModel(times, slow_time).smooth(
        Measurements(values, variances, slow_deviations, velocities, velocity_variances), DENSITY
    )
    elapsed = times - times[0]
    positions, mixed, speeds = wiener_covariances(elapsed, DENSITY)
    # Position and velocity at the beginning: a variance so large that it hardly tells anything.
    vague = 1e5
    positions += vague * (1.0 + np.multiply.outer(elapsed, elapsed))
    mixed += vague * elapsed[:, None]
    speeds += vague
    error = np.diag(variances)
    if slow_time:
        apart = np.abs(np.subtract.outer(times, times)) / slow_time
        error += np.outer(slow_deviations, slow_deviations) * (1.0 + apart) * np.exp(-apart)
    state = np.block([[positions, mixed], [mixed.T, speeds]])
    total = state + np.block(
        [[error, np.zeros_like(error)], [np.zeros_like(error), np.diag(velocity_variances)]]
    )
    both = np.append(values, velocities)
    expected = state @ np.linalg.solve(total, both)
    assert motion.positions == pytest.approx(expected[:count], abs=1e-3)
    assert motion.velocities == pytest.approx(expected[count:], abs=1e-3)
    left = np.diag(state - state @ np.linalg.solve(total, state))
    assert motion.covariances()[:, 0, 0] == pytest.approx(left[:count], abs=1e-3)
    assert motion.covariances()[:, 1, 1] == pytest.approx(left[count:], abs=1e-3)
    deviance = -2.0 * multivariate_normal.logpdf(both, cov=total) - 2.0 * count * np.log(
        2.0 * np.pi
    )
    # Nothing known beforehand leaves out the two vague variances.
    assert motion.deviance == pytest.approx(deviance - 2.0 * np.log(vague), abs=1e-3)
    assert motion.residuals == pytest.approx(values - motion.positions)


def test_a_position_of_infinite_variance_does_not_count():
    times, values, variances = measured()
    variances[10] = np.inf
    values[10] = 1e3
    motion = MotionModel(times).smooth(Measurements(values, variances), DENSITY)
    kept = np.arange(len(times)) != 10
    without = MotionModel(times[kept]).smooth(Measurements(values[kept], variances[kept]), DENSITY)
    assert motion.positions[kept] == pytest.approx(without.positions, abs=1e-8)
    assert motion.deviance == pytest.approx(without.deviance, abs=1e-6)


def test_what_is_no_number_is_refused():
    times, values, variances = measured()
    values[3] = np.nan
    with pytest.raises(ValueError, match="do not determine"):
        MotionModel(times).smooth(Measurements(values, variances), DENSITY)


def test_an_hour_at_ten_hertz_keeps_its_digits():
    # Residuals from a rate of 10 Hz over 36 km; the slow error's innovations are 1e-6 of it.
    times = np.arange(36000) / 10.0
    truth = 10.0 * times + 50.0 * np.sin(times / 40.0)
    motion = MotionModel(times, 2.0).smooth(
        Measurements(truth, np.full(36000, 1e-4), np.full(36000, 0.1)), 1.0
    )
    inside = slice(100, -100)
    assert np.abs(motion.positions - truth)[inside].max() < 1e-3
    speed = 10.0 + 50.0 / 40.0 * np.cos(times / 40.0)
    assert np.abs(motion.velocities - speed)[inside].max() < 1e-3
