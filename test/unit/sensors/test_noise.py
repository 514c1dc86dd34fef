"""Noise: process statistics, seeds of runs and quantities, densities, standard deviations."""

import math

import numpy as np
import pytest
from scipy.signal import welch

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_specification import TriadSpecification
from imu_simulation_framework.sensors.noise import processes
from imu_simulation_framework.sensors.noise.processes import (
    density_of_one_sided,
    density_of_rms,
    density_of_samples,
    driven_std,
    driving_density,
    one_sided_density,
    sampled_std,
)
from imu_simulation_framework.sensors.noise.streams import (
    BLOCK,
    NormalStreams,
    child_seed,
    run_seed,
)
from imu_simulation_framework.sensors.triad_errors import TriadNoise

PERIOD = 0.05
SCALES = (1.0, 2.0, 0.5)
TIMES = (0.4, 2.0, 10.0)
BAND = (0.5, 50.0)

PROCESSES = {
    "white": lambda generator: processes.WhiteNoise(SCALES, PERIOD, generator),
    "random walk": lambda generator: processes.RandomWalk(SCALES, PERIOD, generator),
    "Gauss-Markov": lambda generator: processes.GaussMarkov(SCALES, TIMES, PERIOD, generator),
    "Gauss-Markov, one time": lambda generator: processes.GaussMarkov(
        SCALES, 3.0, PERIOD, generator
    ),
    "bias instability": lambda generator: processes.BiasInstability(
        SCALES, BAND, PERIOD, generator
    ),
    "ramp": lambda generator: processes.RateRamp(SCALES, PERIOD, generator),
    "quantisation": lambda generator: processes.Quantisation(SCALES, PERIOD, generator),
}


def _make(name, seed=1):
    return PROCESSES[name](np.random.default_rng(seed))


def _allan_variances(values, count):
    """Compute overlapping Allan variances of noise with the shape (runs, samples, axes)."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0), (0, 0))), axis=1)
    second = sums[:, 2 * count :] - 2.0 * sums[:, count:-count] + sums[:, : -2 * count]
    return 0.5 * np.mean((second / count) ** 2, axis=1)


@pytest.mark.parametrize("name", PROCESSES)
def test_noise_from_samples_blocks_and_batch_is_bit_identical(name):
    samples = 2 * processes.BLOCK + 7
    batch = _make(name).batch(samples, 1)[0]
    block_values = _make(name)
    blocks = [block_values.advance(size) for size in (1, 0, 300, processes.BLOCK + 1)]
    one_by_one = [block_values.step() for _ in range(200)]
    rest = block_values.advance(samples - 200 - sum(map(len, blocks)))
    np.testing.assert_array_equal(np.concatenate([*blocks, one_by_one, rest]), batch)


@pytest.mark.parametrize("name", PROCESSES)
def test_noise_of_runs_does_not_depend_on_batch_size(name):
    together = _make(name).batch(60, 5)
    process = _make(name)
    few = np.concatenate([process.batch(60, 2), process.batch(60, 3)])
    np.testing.assert_array_equal(few, together)
    generator = np.random.default_rng(1)
    for run in range(2):
        stepped = process.restarted(generator)
        np.testing.assert_array_equal([stepped.step() for _ in range(60)], together[run])
    restarted = process.restarted(np.random.default_rng(3))
    np.testing.assert_array_equal(restarted.advance(20), _make(name, seed=3).advance(20))


# Allan variance by averaging time and number of samples, for a coefficient of 1.
ALLAN_VARIANCES = {
    "white": lambda tau, count: 1.0 / tau,
    # Sampling at count points in tau adds a fraction of 1 / (2 count^2) to the variance.
    "random walk": lambda tau, count: tau / 3.0 * (1.0 + 0.5 / count**2),
    "Gauss-Markov": lambda tau, count: processes.gauss_markov_allan_variance(TIMES, tau, PERIOD),
    "bias instability": lambda tau, count: processes.FLICKER_PLATEAU**2,
    "quantisation": lambda tau, count: 3.0 / tau**2,
}


@pytest.mark.parametrize("name", ALLAN_VARIANCES)
def test_noise_process_allan_variance_matches_formula(name):
    """The mean over runs is within four standard errors; a flicker plateau is flat to 1 %."""
    values = _make(name).batch(2048, 150)
    plateau = name == "bias instability"
    for count in (10, 30, 100, 300) if plateau else (1, 3, 10, 40, 160):
        variances = _allan_variances(values, count)
        error = variances.std(axis=0, ddof=1) / math.sqrt(len(variances))
        desired = np.square(SCALES) * ALLAN_VARIANCES[name](count * PERIOD, count)
        off = np.abs(variances.mean(axis=0) - desired)
        assert np.all(off < 4.0 * error + 0.01 * plateau * desired), count
        # The comparison is meaningful only if the standard error is small.
        assert np.all(error < 0.1 * desired)


def test_ramp_allan_deviation_matches_formula_and_axes_are_independent():
    values = _make("ramp").batch(500)
    for count in (1, 10, 100):
        deviation = np.sqrt(_allan_variances(values, count)[0])
        np.testing.assert_allclose(deviation, np.multiply(SCALES, count * PERIOD / math.sqrt(2.0)))
    runs, samples = 1, 20_000
    for name in ("white", "quantisation"):
        correlation = np.corrcoef(_make(name).batch(samples, runs)[0].T)
        assert np.abs(correlation - np.eye(3)).max() < 4.0 * math.sqrt(1.5 / samples), name


def test_random_walk_grows_from_zero_and_gauss_markov_is_stationary():
    runs = 4000
    first, last = _make("Gauss-Markov").batch(60, runs)[:, [0, -1]].transpose(1, 0, 2)
    # The variance of a sample variance is 2 sigma^4 / runs.
    tolerance = 4.0 * math.sqrt(2.0 / runs)
    np.testing.assert_allclose(first.var(axis=0), np.square(SCALES), rtol=tolerance)
    np.testing.assert_allclose(last.var(axis=0), np.square(SCALES), rtol=tolerance)
    correlation = np.mean(first * last, axis=0) / np.square(SCALES)
    expected = np.exp(-59 * PERIOD / np.array(TIMES))
    np.testing.assert_allclose(correlation, expected, atol=4.0 * math.sqrt(2.0 / runs))
    values = _make("random walk").batch(100, runs)
    for index in (0, 24, 99):
        expected = np.square(SCALES) * (index + 1) * PERIOD
        variance = values[:, index].var(axis=0)
        np.testing.assert_allclose(variance, expected, rtol=4.0 * math.sqrt(2.0 / runs))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda g: processes.WhiteNoise(-1.0, PERIOD, g), "density is -1.0"),
        (lambda g: processes.GaussMarkov(1.0, 0.0, PERIOD, g), "correlation_time is 0.0"),
        (lambda g: processes.BiasInstability(1.0, (10.0, 1.0), PERIOD, g), "band is 10 s to 1 s"),
    ],
)
def test_invalid_noise_parameters_are_rejected(make, words):
    with pytest.raises(ConfigurationError, match=words):
        make(np.random.default_rng(1))


@pytest.mark.parametrize(
    "band, period",
    [((0.1, 1e4), 0.01), ((1.0, 1000.0), 0.01), ((0.001, 1e5), 0.01), ((0.5, 50.0), 0.05)],
)
def test_flicker_plateau_is_flat_to_one_percent_within_any_band(band, period):
    times, sigmas = processes.flicker_processes(band, period)
    inside = np.geomspace(max(band[0], 4.0 * period), band[1], 977)
    shares = processes.gauss_markov_allan_variance(times, inside[:, np.newaxis], period)
    np.testing.assert_allclose(shares @ sigmas**2 / processes.FLICKER_PLATEAU**2, 1.0, atol=0.01)
    # Two Gauss-Markov processes per decade suffice.
    assert len(times) <= 2 + 2 * math.log10(band[1] / max(band[0], period))


def test_gauss_markov_allan_limits_match_ieee_952_and_turn_on_bias_matches_sigma():
    # At long times, a Gauss-Markov process is white noise of density q_c T_c; at short times, it is
    # a random walk of density q_c.
    time, period = 5.0, 1e-4
    density_squared = 2.0 / time  # density of the driving noise, for a variance of 1
    long, short = 1e4 * time, 1e-2 * time
    actual = processes.gauss_markov_allan_variance(time, long, period)
    assert actual == pytest.approx(density_squared * time**2 / long, rel=1e-3)
    actual = processes.gauss_markov_allan_variance(time, short, period)
    assert actual == pytest.approx(density_squared * short / 3.0, rel=0.01)
    runs = 2000
    specification = TriadSpecification(turn_on_bias=(0.1, -0.2, 0.3), turn_on_bias_sigma=0.05)
    prototype = TriadNoise(specification, PERIOD, np.random.SeedSequence(1))
    values = np.array(
        [prototype.restarted(np.random.SeedSequence(run)).advance(3)[1] for run in range(runs)]
    )
    assert np.ptp(values, axis=1).max() == 0.0
    error = 0.05 / np.sqrt(runs)
    np.testing.assert_allclose(values[:, 0].mean(axis=0), [0.1, -0.2, 0.3], atol=4.0 * error)
    np.testing.assert_allclose(values[:, 0].std(axis=0), 0.05, atol=4.0 * error / np.sqrt(2.0))


def test_random_numbers_of_run_have_documented_seed():
    expected = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(3, 1))).standard_normal(5)
    streams = NormalStreams(run_seed(7, 3), [False, True])
    np.testing.assert_array_equal(streams.take(5)[:, 1], expected)
    parent = np.random.SeedSequence(1)
    assert child_seed(run_seed(parent, 2), 4).spawn_key == (2, 4)
    assert parent.n_children_spawned == 0
    alone = NormalStreams(5, [False, False, True]).take(20)
    among = NormalStreams(5, [True, True, True]).take(20)
    np.testing.assert_array_equal(alone[:, 2], among[:, 2])


@pytest.mark.parametrize("singles", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1])
def test_single_random_numbers_match_blocks(singles):
    active = [True, False, True]
    expected = NormalStreams(5, active).take(3 * BLOCK)
    streams = NormalStreams(5, active)
    first = [streams.next() for _ in range(singles)]
    remaining = streams.take(3 * BLOCK - singles)
    np.testing.assert_array_equal(np.array([*first, *remaining]), expected)
    assert not expected[:, 1].any()


RATE = 200.0
DENSITY = 3e-3


def test_sampled_noise_matches_one_sided_density():
    noise = sampled_std(DENSITY, RATE) * np.random.default_rng(5).standard_normal(400_000)
    assert density_of_rms(sampled_std(DENSITY, RATE), RATE / 2.0) == pytest.approx(DENSITY)
    # Welch's spectrum is one-sided; its first and last frequencies are not doubled.
    _, power = welch(noise, RATE, nperseg=256)
    inner = power[2:-2]
    # With half-overlapping segments, each frequency has about 2 * 11/9 * n / 256 degrees of
    # freedom, and adjacent frequencies are correlated over about two bins.
    freedom = inner.size / 2.0 * (22.0 / 9.0) * noise.size / 256.0
    error = 4.0 * np.sqrt(2.0 / freedom)
    assert abs(np.mean(inner) / one_sided_density(DENSITY) ** 2 - 1.0) < error
    assert error < 0.1


def test_density_conversions_round_trip_and_driven_process_starts_as_random_walk():
    values = np.array([0.0, 1e-6, 3.0])
    for there, back in (
        (one_sided_density(values), density_of_one_sided),
        (sampled_std(values, 7.0), lambda std: density_of_samples(std, 7.0)),
        (driving_density(values, 11.0), lambda density: driven_std(density, 11.0)),
    ):
        np.testing.assert_allclose(back(there), values, rtol=1e-15, atol=0.0)
    # At t << tau, the variance of a process that starts at zero is q^2 t.
    sigma, time, elapsed = 2.0, 5000.0, 0.5
    variance = sigma**2 * -np.expm1(-2.0 * elapsed / time)
    np.testing.assert_allclose(variance, driving_density(sigma, time) ** 2 * elapsed, rtol=2e-4)
