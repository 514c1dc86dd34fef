"""Smoothing of GNSS fixes: estimated noise parameters, and accuracy for known motions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from imu_simulation_framework.motion import fix_noise, smoothing

SEEDS = range(12)


def motion(generator, times, density, speed=8.0):
    """Simulate an integrated Wiener process in the plane without discretisation errors."""
    steps = np.diff(times)
    velocities, positions = np.zeros((2, len(times), 2))
    velocities[0] = speed, 0.0
    first, second = generator.standard_normal((2, len(steps), 2))
    jumps = density * np.sqrt(steps)[:, None] * first
    velocities[1:] = velocities[0] + np.cumsum(jumps, axis=0)
    # Given the velocities at both ends of a step, the displacement has a variance of q^2 dt^3 / 12.
    bridges = density * np.sqrt(steps**3 / 12.0)[:, None] * second
    means = steps[:, None] * (velocities[1:] + velocities[:-1]) / 2.0
    positions[1:] = np.cumsum(means + bridges, axis=0)
    return positions, velocities


def drawn(seed, count, rate, density, deviation):
    """Simulate a motion; return the generator, times, positions, velocities, noisy positions."""
    generator = np.random.default_rng(seed)
    times = np.arange(count) / rate
    positions, velocities = motion(generator, times, density)
    noisy = positions + deviation * generator.standard_normal(positions.shape)
    return generator, times, positions, velocities, noisy


def slow_errors(generator, times, deviation, slow_time):
    """Simulate a second-order Gauss-Markov process with correlation (1 + t/l) exp(-t/l)."""
    apart = np.abs(np.subtract.outer(times, times)) / slow_time
    factor = np.linalg.cholesky((1.0 + apart) * np.exp(-apart) + 1e-9 * np.eye(len(times)))
    return deviation * factor @ generator.standard_normal((len(times), 2))


def fixes(times, positions, stated_deviation, velocities=None):
    return fix_noise.PlaneFixes(
        times, positions, np.full((len(times), 2), stated_deviation), velocities
    )


def standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.gate
@pytest.mark.parametrize("rate", [1.0, 5.0, 10.0])
@pytest.mark.parametrize("density, deviation, stated", [(0.8, 0.5, 0.5), (0.3, 0.1, 1.0)])
def test_estimated_density_and_white_noise_do_not_depend_on_stated_sigma(
    rate, density, deviation, stated
):
    actual = []
    for seed in SEEDS:
        _, times, _, _, noisy = drawn(seed, 600, rate, density, deviation)
        noise = fix_noise.estimate_noise(fixes(times, noisy, stated), 0.0)
        white = noise.white_scale * stated / deviation
        actual.append(np.log([noise.acceleration_density / density, white]))
    actual = np.array(actual)
    for logarithms in actual.T:
        assert abs(logarithms.mean()) < 3.0 * standard_error(logarithms) + 0.01
    # At 1 Hz and 0.1 m, motion dominates the position changes, so the noise is less certain.
    assert actual[:, 0].std() < 0.2


@pytest.mark.gate
def test_correlated_errors_are_separated_from_motion_with_consistent_velocity_variance():
    logarithms, normalised = [], []
    for seed in SEEDS:
        generator = np.random.default_rng(seed)
        times = np.arange(800) / 5.0
        positions, velocities = motion(generator, times, 0.5)
        noisy = positions + slow_errors(generator, times, 1.0, 2.0)
        noisy += 0.2 * generator.standard_normal(positions.shape)
        noisy_fixes = fixes(times, noisy, 1.0)
        noise = fix_noise.estimate_noise(noisy_fixes, 4.0)
        ratios = noise.acceleration_density / 0.5, noise.slow_scale, noise.white_scale / 0.2
        logarithms.append(np.log(ratios))
        for axis, smooth in enumerate(fix_noise.smooth_plane(noisy_fixes, noise)):
            errors = smooth.velocities - velocities[:, axis]
            normalised.append(np.mean(errors**2 / smooth.posterior.covariances[:, 1, 1]))
    for values in np.array(logarithms).T:
        assert abs(values.mean()) < 3.0 * standard_error(values) + 0.05
    assert np.mean(normalised) == pytest.approx(1.0, abs=3.0 * standard_error(normalised) + 0.05)


@pytest.mark.gate
def test_agile_motion_is_not_mistaken_for_correlated_position_error():
    """The robot accelerates strongly, and the stated errors are ten times the actual 0.3 m."""
    times = np.arange(0.0, 80.0, 0.1)
    for seed in range(6):
        generator = np.random.default_rng(seed)
        positions, _ = motion(generator, times, 2.0)
        noisy = positions + slow_errors(generator, times, 0.3, 2.0)
        noise = fix_noise.estimate_noise(fixes(times, noisy, 3.0), 4.0)
        # The rate of change of the correlated error is limited to 0.5 m/s.
        assert noise.slow_scale * 3.0 / noise.slow_time <= 0.5 + 1e-9


@pytest.mark.gate
def test_doppler_velocities_are_weighted_by_estimated_noise():
    deviations, gains = [], []
    for seed in SEEDS:
        generator, times, _, velocities, noisy = drawn(seed, 400, 5.0, 0.8, 1.0)
        doppler = velocities + 0.3 * generator.standard_normal(velocities.shape)
        doppler[100:150] = np.nan
        with_doppler = fixes(times, noisy, 1.0, doppler)
        noise = fix_noise.estimate_noise(with_doppler, 0.0)
        deviations.append(noise.velocity_deviation)
        combined, alone = (
            fix_noise.smooth_plane(plane_fixes, fix_noise.estimate_noise(plane_fixes, 0.0))[
                0
            ].velocities
            - velocities[:, 0]
            for plane_fixes in (with_doppler, fixes(times, noisy, 1.0))
        )
        gains.append(np.mean(combined**2) / np.mean(alone**2))
    assert np.mean(deviations) == pytest.approx(0.3, abs=3.0 * standard_error(deviations) + 0.005)
    assert np.mean(gains) < 0.5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("doppler", [False, True])
def test_only_outlier_fixes_are_rejected(seed, doppler):
    generator, times, _, velocities, noisy = drawn(seed, 400, 5.0, 0.8, 0.5)
    velocities += 0.1 * generator.standard_normal(velocities.shape)
    wrong = np.array([40, 150, 151, 300])
    noisy[wrong] += [[30.0, 0.0], [0.0, -20.0], [-10.0, -20.0], [0.0, 12.0]]
    velocities[200] = 0.0
    noisy_fixes = fixes(times, noisy, 0.5, velocities if doppler else None)
    noise, used, left_out = fix_noise.estimate_robustly(noisy_fixes, 0.0)
    assert np.array_equal(np.flatnonzero(left_out), wrong)
    # Without a correlation time, there is no correlated error.
    assert (noise.slow_scale, noise.slow_time) == (0.0, 0.0)
    if doppler:
        assert np.array_equal(np.flatnonzero(np.isnan(used.velocities[:, 0])), [200])
    assert noise.white_scale == pytest.approx(1.0, rel=0.15)
    assert noise.acceleration_density == pytest.approx(0.8, rel=0.4)


@pytest.mark.gate
def test_clean_drive_has_no_outliers():
    for seed in SEEDS:
        _, times, _, _, noisy = drawn(seed, 400, 5.0, 0.8, 0.5)
        noisy_fixes = fixes(times, noisy, 0.5)
        noise = fix_noise.estimate_noise(noisy_fixes, 4.0)
        assert not fix_noise.find_outliers(noisy_fixes, noise, np.zeros(400, dtype=bool)).any()
    # A correlated error is estimated even for a short correlation time.
    assert fix_noise.estimate_noise(noisy_fixes, 1.0).slow_scale > 0.0


def test_drive_without_noise_is_not_changed_by_smoothing():
    times = np.arange(50) / 5.0
    positions = np.column_stack([3.0 * times, 4.0 * times])
    plane_fixes = fixes(times, positions, 1.0)
    for correlation_time in (0.0, 4.0):
        noise, used, left_out = fix_noise.estimate_robustly(plane_fixes, correlation_time)
        smooth = fix_noise.smooth_plane(used, noise, left_out)
        assert not left_out.any()
        assert smooth[0].positions == pytest.approx(positions[:, 0], abs=1e-6)
        assert smooth[1].velocities == pytest.approx(np.full(50, 4.0), abs=1e-6)


@pytest.mark.gate
def test_acceleration_density_estimate_from_long_recording_is_unbiased():
    logarithms = []
    for seed in range(6):
        _, times, _, _, noisy = drawn(seed, 9000, 10.0, 0.5, 0.3)
        noise = fix_noise.estimate_noise(fixes(times, noisy, 0.3), 0.0)
        logarithms.append(np.log(noise.acceleration_density / 0.5))
    assert abs(np.mean(logarithms)) < 3.0 * standard_error(logarithms)
    assert np.std(logarithms) < 0.08


def test_rare_turns_in_high_rate_recording_are_not_smoothed_away():
    # The 90 degree turns last two seconds, every 35 s; four-second intervals miss all of them.
    times = np.arange(18000) / 100.0
    turning = np.where((times + 20.0) % 35.2 > 33.2, np.pi / 4.0, 0.0)
    yaw = np.cumsum(turning) / 100.0
    velocities = 0.5 * np.column_stack([np.cos(yaw), np.sin(yaw)])
    noise = 0.01 * np.random.default_rng(1).standard_normal((18000, 2))
    noisy_fixes = fixes(times, np.cumsum(velocities, axis=0) / 100.0 + noise, 0.01)
    actual, used, left_out = fix_noise.estimate_robustly(noisy_fixes, 4.0)
    for estimated_motion in fix_noise.smooth_plane(used, actual, left_out):
        assert np.sqrt(np.mean(estimated_motion.residuals**2)) < 0.02


@pytest.mark.parametrize("factor", [1.0, 3.6, -1.0])
def test_velocity_scale_factor_is_estimated_from_positions(factor):
    generator, times, _, velocities, noisy = drawn(2, 300, 5.0, 0.5, 1.0)
    velocities[:20] = np.nan
    scale = fix_noise.velocity_scale(fixes(times, noisy, 1.0, factor * velocities))
    assert scale == pytest.approx(1.0 / factor, rel=0.02)
    # Without displacement, the scale factor of velocities is undetermined.
    noise = 0.1 * generator.standard_normal((2, 100, 2))
    assert fix_noise.velocity_scale(fixes(np.arange(100.0), noise[0], 1.0, noise[1])) is None


def test_positions_with_large_variance_have_less_weight():
    stated_deviations = np.where((np.arange(400) % 100 < 50)[:, None], 0.2, 5.0) * np.ones((1, 2))
    _, times, _, _, noisy = drawn(5, 400, 5.0, 0.5, stated_deviations)
    noise = fix_noise.estimate_noise(fix_noise.PlaneFixes(times, noisy, stated_deviations), 0.0)
    assert noise.white_scale == pytest.approx(1.0, rel=0.15)
    assert noise.acceleration_density == pytest.approx(0.5, rel=0.4)
    _, times, positions, velocities, _ = drawn(1, 200, 5.0, 0.8, 0.0)
    noise = fix_noise.estimate_noise(fixes(times, positions, 1.0, velocities), 0.0)
    assert noise.velocity_deviation == pytest.approx(fix_noise.VELOCITY_DEVIATION, rel=0.1)
    stated_deviations = np.array([[0.5, 2.0], [0.0, 1e-4]])
    plane_fixes = fix_noise.PlaneFixes(np.arange(2.0), np.zeros((2, 2)), stated_deviations, None)
    actual = fix_noise.white_variances(plane_fixes, fix_noise.FixNoise(1.0, 3.0, 0.0, 0.0, 0.1))
    # The standard deviation of a position has a minimum of a tenth of a millimetre.
    np.testing.assert_allclose(actual, 9.0 * stated_deviations**2 + 1e-8, rtol=1e-12)


DENSITY = 0.4


def measured(count=40, seed=3):
    generator = np.random.default_rng(seed)
    times = np.cumsum(generator.uniform(0.2, 0.6, count))
    variances = generator.uniform(0.2, 3.0, count)
    values = np.sin(times / 3.0) + np.sqrt(variances) * generator.standard_normal(count)
    return times, values, variances


def smoothed(times, *measured, density=DENSITY, slow_time=0.0):
    measurements = smoothing.Measurements(*measured)
    return smoothing.MotionModel(times, slow_time).smooth(measurements, density)


def wiener_covariances(times, density):
    """Return covariances of integrated Wiener positions and velocities from rest at time 0."""
    a, b = np.minimum.outer(times, times), np.maximum.outer(times, times)
    positions = a**2 * (3.0 * b - a) / 6.0
    mixed = np.where(
        times[:, None] <= times, times[:, None] ** 2 / 2.0, times * (times[:, None] - times / 2.0)
    )
    return density**2 * positions, density**2 * mixed, density**2 * a


@pytest.mark.parametrize("lag", [0.15, -0.15, 0.7])
def test_smoothing_with_delayed_velocities_matches_dense_gaussian_conditioning(lag):
    times, values, variances = measured(30)
    count, at = len(times), times - lag
    velocities = np.cos(at / 3.0) / 3.0
    model = smoothing.MotionModel(times, 0.0, lag)
    measurements = smoothing.Measurements(values, variances, None, velocities, np.full(count, 0.02))
    motion = model.smooth(measurements, DENSITY)
    every = np.concatenate([times, at, model.times])
    elapsed, vague = every - every.min(), 1e5
    positions, mixed, speeds = wiener_covariances(elapsed, DENSITY)
    positions += vague * (1.0 + np.multiply.outer(elapsed, elapsed))
    state = np.block([[positions, mixed + vague * elapsed[:, None]], [mixed.T, speeds + vague]])
    state[len(every) :, : len(every)] = state[: len(every), len(every) :].T
    reported = np.concatenate([np.arange(count), len(every) + count + np.arange(count)])
    total = state[np.ix_(reported, reported)] + np.diag(np.append(variances, np.full(count, 0.02)))
    expected = state[:, reported] @ np.linalg.solve(total, np.append(values, velocities))
    left = np.diag(state - state[:, reported] @ np.linalg.solve(total, state[reported]))
    # The smoother neglects motion between measurements within the same time step.
    close = {"abs": 1e-3} if abs(lag) < 0.2 else {"abs": 0.01}
    assert motion.positions == pytest.approx(expected[2 * count : len(every)], **close)
    assert motion.velocities == pytest.approx(expected[len(every) + 2 * count :], **close)
    assert motion.residuals == pytest.approx(values - expected[:count], **close)
    known = motion.posterior.known_variances
    covariances = motion.posterior.covariances
    assert known == pytest.approx(left[:count], **close)
    assert covariances[:, 1, 1] == pytest.approx(left[len(every) + 2 * count :], **close)


def test_acceleration_densities_adapt_to_motion():
    generator = np.random.default_rng(4)
    times = np.arange(600.0)
    # The robot hardly accelerates during half of each minute.
    steady = (times // 30.0) % 2.0 == 0.0
    kicks = np.where(steady, 0.02, 0.8)[:, np.newaxis] * generator.standard_normal((600, 2))
    velocities = np.cumsum(kicks, axis=0)
    places = np.cumsum(velocities - 0.5 * kicks, axis=0)
    noisy = places + 0.3 * generator.standard_normal((600, 2))
    reported = velocities + 0.3 * generator.standard_normal((600, 2))
    noisy_fixes, left_out = fixes(times, noisy, 0.3, reported), np.zeros(600, dtype=bool)
    noise = fix_noise.estimate_noise(noisy_fixes, 0.0)
    densities = fix_noise.step_densities(noisy_fixes, noise, left_out)
    actual = []
    for chosen_densities in (None, densities):
        motions = fix_noise.smooth_plane(noisy_fixes, noise, densities=chosen_densities)
        errors = np.column_stack([axis.velocities for axis in motions]) - velocities
        stds = np.sqrt([axis.posterior.covariances[:, 1, 1] for axis in motions]).T
        actual.append([errors[steady], (errors / stds)[steady], (errors / stds)[~steady]])
    constant, adapted = np.sqrt([[np.mean(values**2) for values in rows] for rows in actual])
    # 600 errors of each type, correlated over a few seconds: an rms has a standard error of 6 %.
    assert 0.6 < adapted[1] < adapted[2] < 1.2
    assert adapted[0] < 0.85 * constant[0]
    assert np.median(densities[steady[1:]]) < 0.7 * np.median(densities[~steady[1:]])


@pytest.mark.parametrize("count, slow_time", [(3, 0.0), (30, 0.0), (30, 1.5)])
def test_positions_velocities_and_correlated_errors_match_dense_gaussian_conditioning(
    count, slow_time
):
    times, values, variances = measured(count)
    generator = np.random.default_rng(8)
    velocities = np.cos(times / 3.0) / 3.0 + 0.1 * generator.standard_normal(count)
    velocity_variances = generator.uniform(0.01, 0.05, count)
    slow_deviations = generator.uniform(0.5, 2.0, count) if slow_time else None
    arrays = values, variances, slow_deviations, velocities, velocity_variances
    motion = smoothed(times, *arrays, slow_time=slow_time)
    elapsed = times - times[0]
    positions, mixed, speeds = wiener_covariances(elapsed, DENSITY)
    # The large variance makes the prior of the initial position and velocity uninformative.
    vague = 1e5
    positions += vague * (1.0 + np.multiply.outer(elapsed, elapsed))
    mixed += vague * elapsed[:, None]
    speeds += vague
    error = np.diag(variances)
    if slow_time:
        apart = np.abs(np.subtract.outer(times, times)) / slow_time
        error += np.outer(slow_deviations, slow_deviations) * (1.0 + apart) * np.exp(-apart)
    state = np.block([[positions, mixed], [mixed.T, speeds]])
    total = state + block_diag(error, np.diag(velocity_variances))
    both = np.append(values, velocities)
    expected = state @ np.linalg.solve(total, both)
    assert motion.positions == pytest.approx(expected[:count], abs=1e-3)
    assert motion.velocities == pytest.approx(expected[count:], abs=1e-3)
    left = np.diag(state - state @ np.linalg.solve(total, state))
    assert motion.posterior.covariances[:, 0, 0] == pytest.approx(left[:count], abs=1e-3)
    assert motion.posterior.covariances[:, 1, 1] == pytest.approx(left[count:], abs=1e-3)
    deviance = -2.0 * multivariate_normal.logpdf(both, cov=total)
    deviance -= 2.0 * count * np.log(2.0 * np.pi)
    # The contribution of the two large prior variances to the deviance is subtracted.
    assert motion.deviance == pytest.approx(deviance - 2.0 * np.log(vague), abs=1e-3)
    assert motion.residuals == pytest.approx(values - motion.positions)


def test_measurements_with_infinite_variance_are_ignored():
    times, values, variances = measured()
    variances[10] = np.inf
    values[10] = 1e3
    motion = smoothed(times, values, variances)
    kept = np.arange(len(times)) != 10
    reduced = smoothed(times[kept], values[kept], variances[kept])
    assert motion.positions[kept] == pytest.approx(reduced.positions, abs=1e-8)
    assert motion.deviance == pytest.approx(reduced.deviance, abs=1e-6)
    times, values, variances = measured()
    alone = smoothed(times, values, variances)
    unknown, infinite = np.full((2, len(times)), [[np.nan], [np.inf]])
    combined = smoothed(times, values, variances, None, unknown, infinite)
    assert np.array_equal(combined.positions, alone.positions)
    assert combined.deviance == alone.deviance


def test_smoothing_of_one_hour_at_ten_hertz_is_precise_and_nan_is_rejected():
    # One hour at 10 Hz over 36 km; the correlated error changes by 1e-6 of that per step.
    times = np.arange(36000) / 10.0
    truth = 10.0 * times + 50.0 * np.sin(times / 40.0)
    arrays = truth, np.full(36000, 1e-4), np.full(36000, 0.1)
    motion = smoothed(times, *arrays, density=1.0, slow_time=2.0)
    inside = slice(100, -100)
    assert np.abs(motion.positions - truth)[inside].max() < 1e-3
    speed = 10.0 + 50.0 / 40.0 * np.cos(times / 40.0)
    assert np.abs(motion.velocities - speed)[inside].max() < 1e-3
    times, values, variances = measured()
    values[3] = np.nan
    with pytest.raises(ValueError, match="do not determine"):
        smoothed(times, values, variances)


def circle(times, radius=1.0):
    """Return positions on a circle at 0.5 m/s."""
    angle = 0.5 * times / radius
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("rate", [5.0, 100.0])
@pytest.mark.parametrize("error", [0.01, 0.5])
def test_jitter_matches_standard_deviation_of_white_errors(rate, error):
    actual = []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        # The stamps are irregular.
        times = np.cumsum(generator.uniform(0.5, 1.5, 1000)) / rate
        noise = error * generator.standard_normal((1000, 2))
        actual.append(fix_noise.jitter(times, circle(times) + noise))
    deviation = np.std(actual, ddof=1)
    assert abs(np.mean(actual) - error) < 3.0 * deviation / np.sqrt(20) + 0.01 * error
    assert deviation < 0.06 * error


def test_jitter_estimate_is_unaffected_by_motion_jumps_and_stationary_periods():
    times = np.arange(200) / 20.0
    assert fix_noise.jitter(times, circle(times)) == fix_noise.SMALLEST_JITTER
    assert fix_noise.jitter(times[:3], circle(times[:3])) == fix_noise.SMALLEST_JITTER
    generator = np.random.default_rng(3)
    times = np.arange(2000) / 20.0
    positions = circle(times) + 0.02 * generator.standard_normal((2000, 2))
    positions[::50] += 5.0
    assert fix_noise.jitter(times, positions) == pytest.approx(0.02, rel=0.2)
    generator = np.random.default_rng(4)
    along = np.column_stack([times + 0.1 * generator.standard_normal(2000), np.zeros(2000)])
    assert 0.04 < fix_noise.jitter(times, along) < 0.1
    held = circle(times) + 0.1 * generator.standard_normal((2000, 2))
    held[:1200] = held[1200]
    assert fix_noise.jitter(times, held) == pytest.approx(0.1, rel=0.2)
    assert fix_noise.jitter(times, np.zeros((2000, 2))) == fix_noise.SMALLEST_JITTER


@pytest.mark.parametrize("lag", [0.0, 0.4, -0.3])
def test_velocity_delay_is_estimated_and_compensated(lag):
    generator, fine = np.random.default_rng(8), np.arange(0.0, 400.0, 0.05)
    # The acceleration of a car changes over seconds.
    course = np.cumsum(0.3 * np.sin(0.31 * fine) * 0.05)
    velocity = 10.0 * np.column_stack([np.cos(course), np.sin(course)])
    velocity *= (1.0 + 0.5 * np.sin(0.13 * fine))[:, np.newaxis]
    place = np.cumsum(velocity * 0.05, axis=0)

    def at(times, values):
        return np.column_stack([np.interp(times, fine, axis) for axis in values.T])

    times = np.arange(5.0, 395.0, 1.0)
    places = at(times, place) + 0.3 * generator.standard_normal((len(times), 2))
    velocities = at(times - lag, velocity) + 0.1 * generator.standard_normal((len(times), 2))
    actual = fix_noise.velocity_lag(fixes(times, places, 0.3, velocities))
    change = np.diff(at(times, velocity), axis=0)
    assert actual == pytest.approx(lag, abs=4.0 * 0.3 * np.sqrt(2.0 / np.sum(change**2)))
    if lag == 0.0:
        assert actual == 0.0
        return
    late = fixes(times, places, 0.3, velocities)
    wrong = []
    for assumed in (0.0, actual):
        late_fixes = replace(late, velocity_lag=assumed)
        noise = fix_noise.FixNoise(1.0)
        model = fix_noise.motion_model(late_fixes, noise)
        smooth = np.column_stack(
            [axis.velocities for axis in fix_noise.smooth_plane(late_fixes, noise)]
        )
        inside = slice(2, -2)
        wrong.append(np.sqrt(np.mean((smooth - at(model.times, velocity))[inside] ** 2)))
    assert wrong[1] < 0.5 * wrong[0]
