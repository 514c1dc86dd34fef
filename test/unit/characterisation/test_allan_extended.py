"""Allan analysis of sensors with a low-pass filter, spectral lines, rounding, or limited drift."""

import numpy as np
import pytest
from scipy.signal import butter, lfilter

from imu_simulation_framework.characterisation.allan import model as allan_model
from imu_simulation_framework.characterisation.allan.analysis import identify
from imu_simulation_framework.characterisation.allan.extended import fit_real_sensor, remove_lines
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.sensors.noise.processes import GaussMarkov

RATE, LENGTH = 50.0, 180_000
WHITE, WALK = 1e-3, 3e-5
NAMES = ("gyro_x",)


def noise(seed, order=0):
    """Simulate white noise, low-pass filtered with an order (0: unfiltered), plus a random walk."""
    generator = np.random.default_rng(seed)
    values = WHITE * np.sqrt(RATE) * generator.standard_normal((LENGTH, len(NAMES)))
    if order:
        values = lfilter(*butter(order, RATE / 3.0, fs=RATE), values, axis=0)
    steps = WALK / np.sqrt(RATE) * generator.standard_normal(values.shape)
    return values + np.cumsum(steps, axis=0)


def results(values):
    made = prepare_at_rest(np.arange(LENGTH) / RATE, values, NAMES, "made")
    return identify([made]).axes.values()


def holds(estimate, truth):
    """Return whether a true value is within four standard errors, the width of a 95 % interval."""
    middle = 0.5 * (estimate.low + estimate.high)
    return abs(truth - middle) <= estimate.high - estimate.low


@pytest.mark.parametrize("order", [pytest.param(1, marks=pytest.mark.gate), 2])
def test_low_pass_filtered_white_noise_is_identified_without_quantisation(order):
    for result in results(noise(1, order)):
        assert result.fit.start > 0.0
        assert result.fit.squares[0] < 0.0
        assert np.isinf(result.fit.terms["quantisation"].high)
        assert "quantisation" not in result.needed
        estimate = result.fit.terms["white_noise"]
        assert holds(estimate, WHITE)
        assert estimate.high / estimate.low < 1.1
        walk = result.fit.terms["random_walk"]
        assert walk.low <= WALK <= walk.high
        # One hour may not suffice to separate the slow terms, but shows that there are some.
        assert result.squares[2:].any()
        assert not result.departures


@pytest.mark.gate
def test_spectral_lines_are_removed_and_rounding_adds_white_noise():
    values = noise(2) + 2e-3 * np.sin(2.0 * np.pi * 16.01 * np.arange(LENGTH) / RATE)[:, None]
    for result in results(values):
        ((line,),) = result.lines
        assert line.frequency == pytest.approx(16.01, abs=0.01)
        assert line.amplitude == pytest.approx(2e-3, rel=0.05)
        assert result.fit.start == 0.0
        assert holds(result.fit.terms["white_noise"], WHITE)
        assert result.recorded[0][0] > result.curves[0].deviation[0]
    step = WHITE * np.sqrt(RATE)
    for result in results(np.round(noise(3, 1) / step) * step):
        # The rounding error is not low-pass filtered and adds a variance of step^2 / 12 per sample.
        truth = np.sqrt(WHITE**2 + step**2 / 12.0 / RATE)
        assert holds(result.fit.terms["white_noise"], truth)


def terms_of(factors, length, rate=2.0):
    """Return a function from Gauss-Markov time to Allan variances of terms and their covariance."""

    def model(time):
        period, band = 1.0 / rate, (1.0, 1e4)
        variances = allan_model.allan_variance_of_terms(factors * period, period, band, time)
        return variances, allan_model.allan_covariance(
            factors, [length], period, band, time
        ).evaluate

    return model


def identified(signal, rate=2.0):
    """Fit the model of a real sensor to one axis, without trying the five standard terms first."""
    factors = allan_model.averaging_factors(len(signal))
    variances = allan_model.overlapping_allan_variance([signal], rate, factors)
    model = terms_of(factors, len(signal), rate)
    return fit_real_sensor(factors / rate, variances, model, len(signal) / rate)


@pytest.mark.gate
def test_correlation_time_is_fitted_for_gauss_markov_process_but_not_for_random_walk():
    factors = allan_model.averaging_factors(40_000)[::3]
    model = terms_of(factors, 40_000)
    exact = model(150.0)[0] @ [0.0, WHITE**2, 0.0, 0.0, 0.0, 25.0 * WHITE**2]
    fit = fit_real_sensor(factors / 2.0, exact, model, 20_000.0)
    assert fit.gauss_markov_time.value == pytest.approx(150.0, rel=0.05)
    generator = np.random.default_rng(5)
    signal = WHITE * np.sqrt(2.0) * generator.standard_normal(40_000)
    signal += np.cumsum(WALK / np.sqrt(2.0) * generator.standard_normal(40_000))
    fit = identified(signal)
    assert fit.gauss_markov_time is None
    assert holds(fit.terms["random_walk"], WALK)


def drifting(seed, sigma):
    """Simulate 20 000 s of white noise and a Gauss-Markov process with a time constant of 150 s."""
    generator = np.random.default_rng(seed)
    signal = WHITE * np.sqrt(2.0) * generator.standard_normal(40_000)
    return signal + GaussMarkov(sigma, 150.0, 0.5, generator).batch(40_000)[0, :, 0]


@pytest.mark.gate
def test_stationary_drift_is_identified_and_specified_as_gauss_markov_process():
    fit = identified(drifting(4, 5e-4))
    assert fit.gauss_markov_time.low <= 150.0 <= fit.gauss_markov_time.high
    assert holds(fit.terms[allan_model.GAUSS_MARKOV], 5e-4)
    assert fit.terms[allan_model.GAUSS_MARKOV].identified
    assert holds(fit.terms["white_noise"], WHITE)
    signal = drifting(6, 2e-3)[:, None]
    made = prepare_at_rest(np.arange(40_000) / 2.0, signal, ("gyro_y",), "made")
    identification = identify([made])
    fit = identification.axes["gyro_y"].fit
    triad = identification.to_specification("made").gyroscope
    assert triad.gauss_markov_sigma == (0.0, fit.terms[allan_model.GAUSS_MARKOV].value, 0.0)
    assert triad.gauss_markov_time == (1000.0, fit.gauss_markov_time.value, 1000.0)
    assert holds(fit.terms[allan_model.GAUSS_MARKOV], 2e-3)


@pytest.mark.gate
def test_one_minute_gauss_markov_bias_is_not_identified_as_random_walk_in_an_hour():
    # By chance, more than one of six 95 % intervals excludes zero in less than 1 % of cases;
    # when the Gauss-Markov process is not tried, more than half of the intervals exclude zero.
    called = []
    for seed in range(2):
        generator = np.random.default_rng(seed)
        rate, length, time = 10.0, 36_000, 60.0
        values = WHITE * np.sqrt(rate) * generator.standard_normal((length, 3))
        phi = np.exp(-1.0 / rate / time)
        steps = 5e-4 * np.sqrt(1.0 - phi**2) * generator.standard_normal((length, 3))
        steps[0] = 5e-4 * generator.standard_normal(3)
        values += lfilter([1.0], [1.0, -phi], steps, axis=0)
        names = ("gyro_x", "gyro_y", "gyro_z")
        made = prepare_at_rest(np.arange(length) / rate, values, names, "made")
        called += [
            result.fit.terms["random_walk"].low > 0.0 for result in identify([made]).axes.values()
        ]
    assert sum(called) <= 1


@pytest.mark.parametrize("share, known", [(2.0, True), (0.2, False)])
def test_quantisation_is_identified_only_from_shortest_averaging_times(share, known):
    factors = np.unique(np.geomspace(1.0, LENGTH // 10, 30).astype(int))
    tau, model = factors / RATE, terms_of(factors, LENGTH, RATE)
    # Quantisation exceeds white noise up to 0.3 s; the first three variances are scaled.
    variances = model(None)[0] @ np.array([0.1 * WHITE**2, WHITE**2, 0.0, 0.0, 0.0])
    variances[:3] *= share
    fit = fit_real_sensor(tau, variances, model, LENGTH / RATE)
    assert tau[2] < fit.start < 0.3
    assert fit.terms["white_noise"].value == pytest.approx(WHITE, rel=1e-3)
    quantisation = fit.terms["quantisation"]
    assert np.isfinite(quantisation.high) == quantisation.identified == known
    if known:
        assert quantisation.value == pytest.approx(np.sqrt(0.1) * WHITE, rel=1e-3)


LINED = 100_000
FACTORS = np.array([1, 2, 5, 12, 30, 50, 100, 300, 1000, 5000])


def white(seed=1):
    return np.random.default_rng(seed).standard_normal(LINED)


def sine(frequency, amplitude):
    return amplitude * np.sin(2.0 * np.pi * frequency * np.arange(LINED) / RATE + 1.0)


@pytest.mark.parametrize(
    "frequency, amplitude", [(0.47, 0.3), (0.47, 3.0), (12.34567, 10.0), (24.99, 1.0)]
)
def test_spectral_line_is_reported_and_noise_is_unchanged(frequency, amplitude):
    clean = white()
    parts, lines = remove_lines([clean + sine(frequency, amplitude)], RATE)
    assert len(lines) == 1
    assert lines[0].frequency == pytest.approx(frequency, abs=0.01)
    # White noise causes an amplitude error of sqrt(2 / n) = 0.0045; the window spreads weak lines.
    assert lines[0].amplitude == pytest.approx(amplitude, rel=0.05)
    before = allan_model.overlapping_allan_variance([clean], RATE, FACTORS)
    after = allan_model.overlapping_allan_variance(parts, RATE, FACTORS)
    # About seven bins of 4 mHz are rescaled, so the noise may change by their share of the band.
    assert np.abs(after / before - 1.0).max() < 0.02 + 7 * 0.004 / frequency


def test_spectral_lines_are_removed_up_to_ends_of_recording_segments():
    signal = white() + sine(3.3, 5.0)
    parts, lines = remove_lines([signal[:60_000], signal[60_700:]], RATE)
    assert [len(part) for part in parts] == [60_000, 39_300]
    assert lines[0].frequency == pytest.approx(3.3, abs=0.01)
    for part in parts:
        for end in (part[:500], part[-500:]):
            # The variance is 12.5 for the line and 1 for the noise, with a standard error of 0.063.
            assert np.var(end) < 1.0 + 5.0 * 0.063


@pytest.mark.parametrize("seed", range(4))
def test_drifting_noise_has_no_spectral_lines(seed):
    generator = np.random.default_rng(seed)
    signal = white(seed) + 0.01 * np.cumsum(generator.standard_normal(LINED))
    parts, lines = remove_lines([signal], RATE)
    assert lines == ()
    np.testing.assert_array_equal(parts[0], signal)


def test_resonance_and_short_recording_have_no_spectral_lines():
    numerator, denominator = butter(1, [6.0, 10.0], btype="bandpass", fs=RATE)
    hump = lfilter(numerator, denominator, 3.0 * white(2))
    assert remove_lines([white() + hump], RATE)[1] == ()
    signal = (white() + sine(10.0, 3.0))[:5000]
    parts, lines = remove_lines([signal], RATE)
    assert lines == ()
    np.testing.assert_array_equal(parts[0], signal)
