"""The random processes: their statistics, and that every way to run them gives the same."""

import math

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_specification import TriadSpecification
from imu_simulation_framework.sensors.noise.processes import (
    BLOCK,
    FLICKER_PLATEAU,
    BiasInstability,
    GaussMarkov,
    Quantisation,
    RandomWalk,
    RateRamp,
    WhiteNoise,
    flicker_processes,
    gauss_markov_allan_variance,
)
from imu_simulation_framework.sensors.triad_errors import TriadNoise

PERIOD = 0.05
SCALES = (1.0, 2.0, 0.5)
TIMES = (0.4, 2.0, 10.0)
BAND = (0.5, 50.0)

PROCESSES = {
    "white": lambda generator: WhiteNoise(SCALES, PERIOD, generator),
    "random walk": lambda generator: RandomWalk(SCALES, PERIOD, generator),
    "Gauss-Markov": lambda generator: GaussMarkov(SCALES, TIMES, PERIOD, generator),
    "Gauss-Markov, one time": lambda generator: GaussMarkov(SCALES, 3.0, PERIOD, generator),
    "bias instability": lambda generator: BiasInstability(SCALES, BAND, PERIOD, generator),
    "ramp": lambda generator: RateRamp(SCALES, PERIOD, generator),
    "quantisation": lambda generator: Quantisation(SCALES, PERIOD, generator),
}


def _make(name, seed=1):
    return PROCESSES[name](np.random.default_rng(seed))


def _allan_variances(values, count):
    """Overlapping Allan variance of each realisation (runs, samples, axes) at count samples."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0), (0, 0))), axis=1)
    second = sums[:, 2 * count :] - 2.0 * sums[:, count:-count] + sums[:, : -2 * count]
    return 0.5 * np.mean((second / count) ** 2, axis=1)


@pytest.mark.parametrize("name", PROCESSES)
def test_samples_blocks_and_batch_are_equal_to_the_bit(name):
    samples = 2 * BLOCK + 7
    batch = _make(name).batch(samples, 1)[0]
    in_blocks = _make(name)
    blocks = [in_blocks.advance(size) for size in (1, 0, 300, BLOCK + 1)]
    one_by_one = [in_blocks.step() for _ in range(200)]
    rest = in_blocks.advance(samples - 200 - sum(map(len, blocks)))
    np.testing.assert_array_equal(np.concatenate([*blocks, one_by_one, rest]), batch)


@pytest.mark.parametrize("name", PROCESSES)
def test_many_runs_equal_a_few_runs_at_a_time(name):
    together = _make(name).batch(60, 5)
    process = _make(name)
    few = np.concatenate([process.batch(60, 2), process.batch(60, 3)])
    np.testing.assert_array_equal(few, together)
    stepped = _make(name)
    for run in range(2):
        np.testing.assert_array_equal([stepped.step() for _ in range(60)], together[run])
        stepped.reset()
    restarted = process.restarted(np.random.default_rng(3))
    np.testing.assert_array_equal(restarted.advance(20), _make(name, seed=3).advance(20))


@pytest.mark.parametrize("name", PROCESSES)
def test_a_batch_leaves_the_streamed_state_alone(name):
    generators = [np.random.default_rng(1) for _ in range(2)]
    process, other = (PROCESSES[name](generator) for generator in generators)
    process.advance(10), other.advance(10)
    process.batch(500, 2)
    # The batch has drawn random numbers: the others go on from the same place.
    generators[1].bit_generator.state = generators[0].bit_generator.state
    np.testing.assert_array_equal(process.advance(20), other.advance(20))


# Square of the Allan deviation at an averaging time and so many samples, for a size of one.
ALLAN_VARIANCES = {
    "white": lambda tau, count: 1.0 / tau,
    # Sampled at count points in tau, 1 / (2 count^2) is added to the variance.
    "random walk": lambda tau, count: tau / 3.0 * (1.0 + 0.5 / count**2),
    "Gauss-Markov": lambda tau, count: gauss_markov_allan_variance(TIMES, tau, PERIOD),
    "bias instability": lambda tau, count: FLICKER_PLATEAU**2,
    "quantisation": lambda tau, count: 3.0 / tau**2,
}


@pytest.mark.parametrize("name", ALLAN_VARIANCES)
def test_a_process_has_its_allan_variance(name):
    """Mean over runs within 4 of its standard errors; a plateau is flat to 1 %."""
    values = _make(name).batch(2048, 150)
    plateau = name == "bias instability"
    for count in (10, 30, 100, 300) if plateau else (1, 3, 10, 40, 160):
        variances = _allan_variances(values, count)
        error = variances.std(axis=0, ddof=1) / math.sqrt(len(variances))
        wanted = np.square(SCALES) * ALLAN_VARIANCES[name](count * PERIOD, count)
        off = np.abs(variances.mean(axis=0) - wanted)
        assert np.all(off < 4.0 * error + 0.01 * plateau * wanted), count
        # Otherwise the comparison says nothing.
        assert np.all(error < 0.1 * wanted)


def test_ramp_has_allan_deviation_r_tau_over_root_two():
    values = _make("ramp").batch(500)
    for count in (1, 10, 100):
        deviation = np.sqrt(_allan_variances(values, count)[0])
        np.testing.assert_allclose(deviation, np.multiply(SCALES, count * PERIOD / math.sqrt(2.0)))


def test_gauss_markov_process_is_stationary_from_the_first_sample():
    runs = 4000
    first, last = _make("Gauss-Markov").batch(60, runs)[:, [0, -1]].transpose(1, 0, 2)
    # Variance of a sample variance: 2 sigma^4 / runs.
    tolerance = 4.0 * math.sqrt(2.0 / runs)
    np.testing.assert_allclose(first.var(axis=0), np.square(SCALES), rtol=tolerance)
    np.testing.assert_allclose(last.var(axis=0), np.square(SCALES), rtol=tolerance)
    correlation = np.mean(first * last, axis=0) / np.square(SCALES)
    expected = np.exp(-59 * PERIOD / np.array(TIMES))
    np.testing.assert_allclose(correlation, expected, atol=4.0 * math.sqrt(2.0 / runs))


def test_random_walk_grows_from_zero():
    runs = 4000
    values = _make("random walk").batch(100, runs)
    for index in (0, 24, 99):
        expected = np.square(SCALES) * (index + 1) * PERIOD
        np.testing.assert_allclose(
            values[:, index].var(axis=0), expected, rtol=4.0 * math.sqrt(2.0 / runs)
        )


def test_axes_are_independent():
    runs, samples = 1, 20_000
    for name in ("white", "quantisation"):
        correlation = np.corrcoef(_make(name).batch(samples, runs)[0].T)
        assert np.abs(correlation - np.eye(3)).max() < 4.0 * math.sqrt(1.5 / samples), name


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda g: WhiteNoise(-1.0, PERIOD, g), "density is -1.0"),
        (lambda g: WhiteNoise((1.0, -1.0, 1.0), PERIOD, g), "density y is -1.0"),
        (lambda g: RandomWalk(math.nan, PERIOD, g), "density is nan"),
        (lambda g: GaussMarkov(1.0, 0.0, PERIOD, g), "correlation_time is 0.0"),
        (lambda g: BiasInstability(1.0, (10.0, 1.0), PERIOD, g), "band is 10 s to 1 s"),
        (lambda g: Quantisation(1.0, 0.0, g), "period is 0.0"),
    ],
)
def test_impossible_parameters_are_refused(make, words):
    with pytest.raises(ConfigurationError, match=words):
        make(np.random.default_rng(1))


@pytest.mark.parametrize(
    "band, period",
    [((0.1, 1e4), 0.01), ((1.0, 1000.0), 0.01), ((0.001, 1e5), 0.01), ((0.5, 50.0), 0.05)],
)
def test_flicker_is_flat_within_one_percent_inside_any_band(band, period):
    times, sigmas = flicker_processes(band, period)
    inside = np.geomspace(max(band[0], 4.0 * period), band[1], 977)
    shares = gauss_markov_allan_variance(times, inside[:, np.newaxis], period)
    np.testing.assert_allclose(shares @ sigmas**2 / FLICKER_PLATEAU**2, 1.0, atol=0.01)
    # Two processes for each decade are enough.
    assert len(times) <= 2 + 2 * math.log10(band[1] / max(band[0], period))


def test_allan_variance_of_a_gauss_markov_process_has_the_limits_of_ieee_952():
    # White noise of density q_c T_c for long times, a random walk of density q_c for short ones.
    time, period = 5.0, 1e-4
    density_squared = 2.0 / time  # of the driving noise, for a variance of 1
    long, short = 1e4 * time, 1e-2 * time
    assert gauss_markov_allan_variance(time, long, period) == pytest.approx(
        density_squared * time**2 / long, rel=1e-3
    )
    assert gauss_markov_allan_variance(time, short, period) == pytest.approx(
        density_squared * short / 3.0, rel=0.01
    )


def test_turn_on_bias_is_constant_in_a_run_and_spread_over_runs():
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
