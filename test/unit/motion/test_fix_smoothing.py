"""The smoothing's strength as the fixes tell it, on motions of known density and noise."""

import numpy as np
import pytest

from imu_simulation_framework.motion import smoothing
from imu_simulation_framework.motion.smoothing import (
    VELOCITY_DEVIATION,
    FixNoise,
    PlaneFixes,
    estimate_noise,
    estimate_robustly,
    find_outliers,
    smooth_plane,
    velocity_scale,
    white_variances,
)

SEEDS = range(12)


def motion(generator, times, density, speed=8.0):
    """Positions and velocities of an integrated Wiener process in the plane, drawn exactly."""
    steps = np.diff(times)
    velocities, positions = np.zeros((2, len(times), 2))
    velocities[0] = speed, 0.0
    first, second = generator.standard_normal((2, len(steps), 2))
    jumps = density * np.sqrt(steps)[:, None] * first
    velocities[1:] = velocities[0] + np.cumsum(jumps, axis=0)
    # Given both velocities the place in the middle scatters by q^2 dt^3 / 12.
    bridges = density * np.sqrt(steps**3 / 12.0)[:, None] * second
    means = steps[:, None] * (velocities[1:] + velocities[:-1]) / 2.0
    positions[1:] = np.cumsum(means + bridges, axis=0)
    return positions, velocities


def slow_errors(generator, times, deviation, slow_time):
    """A Gauss-Markov process of second order, correlation (1 + t/l) exp(-t/l), by its matrix."""
    apart = np.abs(np.subtract.outer(times, times)) / slow_time
    factor = np.linalg.cholesky((1.0 + apart) * np.exp(-apart) + 1e-9 * np.eye(len(times)))
    return deviation * factor @ generator.standard_normal((len(times), 2))


def fixes(times, positions, stated, velocities=None):
    return PlaneFixes(times, positions, np.full((len(times), 2), stated), velocities)


def standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("rate", [1.0, 5.0, 10.0])
@pytest.mark.parametrize("density, deviation, stated", [(0.8, 0.5, 0.5), (0.3, 0.1, 1.0)])
def test_density_and_white_noise_are_found_whatever_the_receiver_states(
    rate, density, deviation, stated
):
    found = []
    for seed in SEEDS:
        generator = np.random.default_rng(seed)
        times = np.arange(600) / rate
        positions, _ = motion(generator, times, density)
        noisy = positions + deviation * generator.standard_normal(positions.shape)
        noise = estimate_noise(fixes(times, noisy, stated), 0.0)
        found.append(
            np.log([noise.acceleration_density / density, noise.white_scale * stated / deviation])
        )
    found = np.array(found)
    for logarithms in found.T:
        assert abs(logarithms.mean()) < 3.0 * standard_error(logarithms) + 0.01
    # At 1 Hz and 0.1 m a fix moves more by the motion than by its noise: that is known less well.
    assert found[:, 0].std() < 0.2


def test_slow_errors_are_told_from_the_motion_and_the_velocity_is_consistent():
    logarithms, normalised = [], []
    for seed in SEEDS:
        generator = np.random.default_rng(seed)
        times = np.arange(800) / 5.0
        positions, velocities = motion(generator, times, 0.5)
        noisy = positions + slow_errors(generator, times, 1.0, 2.0)
        noisy += 0.2 * generator.standard_normal(positions.shape)
        given = fixes(times, noisy, 1.0)
        noise = estimate_noise(given, 4.0)
        logarithms.append(
            np.log([noise.acceleration_density / 0.5, noise.slow_scale, noise.white_scale / 0.2])
        )
        for axis, smooth in enumerate(smooth_plane(given, noise)):
            errors = smooth.velocities - velocities[:, axis]
            normalised.append(np.mean(errors**2 / smooth.covariances()[:, 1, 1]))
    for values in np.array(logarithms).T:
        assert abs(values.mean()) < 3.0 * standard_error(values) + 0.05
    assert np.mean(normalised) == pytest.approx(1.0, abs=3.0 * standard_error(normalised) + 0.05)


def test_motion_is_not_taken_for_an_error_that_no_receiver_has(monkeypatch):
    """A lively robot, and a receiver that states ten times its error of 0.3 m."""
    times = np.arange(0.0, 80.0, 0.1)
    bounded, free = [], []
    for seed in range(6):
        generator = np.random.default_rng(seed)
        positions, velocities = motion(generator, times, 2.0)
        noisy = fixes(times, positions + slow_errors(generator, times, 0.3, 2.0), 3.0)
        for found, largest in ((bounded, 0.5), (free, np.inf)):
            monkeypatch.setattr(smoothing, "_LARGEST_SLOW_RATE", largest)
            noise = estimate_noise(noisy, 4.0)
            assert noise.slow_scale * 3.0 / noise.slow_time <= largest + 1e-9
            smooth = np.column_stack([part.velocities for part in smooth_plane(noisy, noise)])
            found.append(np.sqrt(np.mean((smooth - velocities) ** 2)))
    gain = np.subtract(free, bounded)
    assert np.mean(gain) > 3.0 * standard_error(gain)


def test_doppler_velocities_are_weighed_by_their_own_noise():
    deviations, gains = [], []
    for seed in SEEDS:
        generator = np.random.default_rng(seed)
        times = np.arange(400) / 5.0
        positions, velocities = motion(generator, times, 0.8)
        noisy = positions + generator.standard_normal(positions.shape)
        doppler = velocities + 0.3 * generator.standard_normal(velocities.shape)
        doppler[100:150] = np.nan
        with_doppler = fixes(times, noisy, 1.0, doppler)
        noise = estimate_noise(with_doppler, 0.0)
        deviations.append(noise.velocity_deviation)
        errors = [
            np.mean(
                (smooth_plane(given, estimate_noise(given, 0.0))[0].velocities - velocities[:, 0])
                ** 2
            )
            for given in (with_doppler, fixes(times, noisy, 1.0))
        ]
        gains.append(errors[0] / errors[1])
    assert np.mean(deviations) == pytest.approx(0.3, abs=3.0 * standard_error(deviations) + 0.005)
    assert np.mean(gains) < 0.5


def test_exact_velocities_are_trusted_no_more_than_data_sheets_allow():
    generator = np.random.default_rng(1)
    times = np.arange(200) / 5.0
    positions, velocities = motion(generator, times, 0.8)
    noise = estimate_noise(fixes(times, positions, 1.0, velocities), 0.0)
    assert noise.velocity_deviation == pytest.approx(VELOCITY_DEVIATION, rel=0.1)


def disturbed(seed, rate=5.0):
    """A drive with four wrong positions and one wrong velocity."""
    generator = np.random.default_rng(seed)
    times = np.arange(int(80 * rate)) / rate
    positions, velocities = motion(generator, times, 0.8)
    positions += 0.5 * generator.standard_normal(positions.shape)
    velocities += 0.1 * generator.standard_normal(velocities.shape)
    wrong = np.array([40, 150, 151, 300])
    positions[wrong] += [[30.0, 0.0], [0.0, -20.0], [-10.0, -20.0], [0.0, 12.0]]
    velocities[200] = 0.0
    return times, positions, velocities, wrong


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("doppler", [False, True])
def test_outliers_are_found_and_nothing_else(seed, doppler):
    times, positions, velocities, wrong = disturbed(seed)
    given = fixes(times, positions, 0.5, velocities if doppler else None)
    noise, used, left_out = estimate_robustly(given, 0.0)
    assert np.array_equal(np.flatnonzero(left_out), wrong)
    # Without a correlation time there is no slow error.
    assert (noise.slow_scale, noise.slow_time) == (0.0, 0.0)
    if doppler:
        assert np.array_equal(np.flatnonzero(np.isnan(used.velocities[:, 0])), [200])
    assert noise.white_scale == pytest.approx(1.0, rel=0.15)
    assert noise.acceleration_density == pytest.approx(0.8, rel=0.4)


def test_the_white_error_of_a_position_is_the_stated_one_scaled_and_never_none():
    stated = np.array([[0.5, 2.0], [0.0, 1e-4]])
    given = PlaneFixes(np.arange(2.0), np.zeros((2, 2)), stated, None)
    noise = FixNoise(1.0, 3.0, 0.0, 0.0, VELOCITY_DEVIATION)
    # Nobody's position is better than a tenth of a millimetre.
    np.testing.assert_allclose(white_variances(given, noise), 9.0 * stated**2 + 1e-8, rtol=1e-12)


def test_a_clean_drive_has_no_outliers():
    for seed in SEEDS:
        generator = np.random.default_rng(seed)
        times = np.arange(400) / 5.0
        positions, _ = motion(generator, times, 0.8)
        given = fixes(times, positions + 0.5 * generator.standard_normal(positions.shape), 0.5)
        noise = estimate_noise(given, 4.0)
        assert not find_outliers(given, noise, np.zeros(400, dtype=bool)).any()
    # A slow error is looked for however short its time is.
    assert estimate_noise(given, 1.0).slow_scale > 0.0


def test_a_long_recording_is_judged_by_stretches_of_it():
    found = []
    for seed in range(6):
        generator = np.random.default_rng(seed)
        times = np.arange(9000) / 10.0
        positions, _ = motion(generator, times, 0.5)
        noisy = positions + 0.3 * generator.standard_normal(positions.shape)
        found.append(
            np.log(estimate_noise(fixes(times, noisy, 0.3), 0.0).acceleration_density / 0.5)
        )
    assert abs(np.mean(found)) < 3.0 * standard_error(found)
    assert np.std(found) < 0.08


def test_of_a_fast_recording_the_stretches_are_not_shorter():
    # Quarter turns of two seconds every 35 s, which stretches of four seconds all miss.
    times = np.arange(18000) / 100.0
    turning = np.where((times + 20.0) % 35.2 > 33.2, np.pi / 4.0, 0.0)
    yaw = np.cumsum(turning) / 100.0
    velocities = 0.5 * np.column_stack([np.cos(yaw), np.sin(yaw)])
    noise = 0.01 * np.random.default_rng(1).standard_normal((18000, 2))
    given = fixes(times, np.cumsum(velocities, axis=0) / 100.0 + noise, 0.01)
    found, used, left_out = estimate_robustly(given, 4.0)
    for motion_found in smooth_plane(used, found, left_out):
        assert np.sqrt(np.mean(motion_found.residuals**2)) < 0.02


def test_a_drive_without_noise_is_left_as_it_is():
    times = np.arange(50) / 5.0
    positions = np.column_stack([3.0 * times, 4.0 * times])
    given = fixes(times, positions, 1.0)
    for correlation_time in (0.0, 4.0):
        noise, used, left_out = estimate_robustly(given, correlation_time)
        smooth = smooth_plane(used, noise, left_out)
        assert not left_out.any()
        assert smooth[0].positions == pytest.approx(positions[:, 0], abs=1e-6)
        assert smooth[1].velocities == pytest.approx(np.full(50, 4.0), abs=1e-6)


@pytest.mark.parametrize("factor", [1.0, 3.6, -1.0])
def test_the_scale_of_velocities_is_told_by_the_positions(factor):
    generator = np.random.default_rng(2)
    times = np.arange(300) / 5.0
    positions, velocities = motion(generator, times, 0.5)
    noisy = positions + generator.standard_normal(positions.shape)
    velocities[:20] = np.nan
    scale = velocity_scale(fixes(times, noisy, 1.0, factor * velocities))
    assert scale == pytest.approx(1.0 / factor, rel=0.02)


def test_velocities_that_lead_nowhere_have_no_scale():
    generator = np.random.default_rng(2)
    noise = 0.1 * generator.standard_normal((2, 100, 2))
    assert velocity_scale(fixes(np.arange(100.0), noise[0], 1.0, noise[1])) is None


def test_positions_that_the_receiver_doubts_count_less():
    generator = np.random.default_rng(5)
    times = np.arange(400) / 5.0
    positions, _ = motion(generator, times, 0.5)
    stated = np.where((np.arange(400) % 100 < 50)[:, None], 0.2, 5.0) * np.ones((1, 2))
    noisy = positions + stated * generator.standard_normal(positions.shape)
    noise = estimate_noise(PlaneFixes(times, noisy, stated), 0.0)
    assert noise.white_scale == pytest.approx(1.0, rel=0.15)
    assert noise.acceleration_density == pytest.approx(0.5, rel=0.4)
