import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    RateRandomWalk,
    YawGaussMarkov,
    YawNoise,
    state_space,
)

TIME = np.arange(101.0)
SOURCES = (
    KnownError("offset", np.full(101, 0.01)),
    RandomConstant("rate bias", -TIME, 2e-4),
    AngleRandomWalk("angle random walk", 2e-3),
    RateRandomWalk("rate random walk", 3e-5),
    RateGaussMarkov("drift", 2e-4, 80.0),
    RateGaussMarkov("drift", 1e-3, 0.5),
    YawGaussMarkov("yaw drift", 0.02, 30.0, stationary=False),
    YawNoise("reference", 0.003),
)
MODEL = YawErrorModel(TIME, SOURCES)
RANDOM = [name for name in MODEL.names if name != "offset"]
RUNS = 10_000


def test_variances_of_sources_match_closed_forms():
    budget = MODEL.budget().iloc[100]
    t = 100.0

    def integrated_gauss_markov(sigma, time):
        # Integral of an exponentially correlated process (Brown and Hwang, chapter 3).
        return 2.0 * sigma**2 * time * (t - time * (1.0 - np.exp(-t / time)))

    assert budget["offset"] == 0.0
    assert budget["rate bias"] == pytest.approx((2e-4 * t) ** 2, rel=1e-12)
    assert budget["angle random walk"] == pytest.approx(2e-3**2 * t, rel=1e-12)
    assert budget["rate random walk"] == pytest.approx(3e-5**2 * t**3 / 3.0, rel=1e-9)
    drift = integrated_gauss_markov(2e-4, 80.0) + integrated_gauss_markov(1e-3, 0.5)
    assert budget["drift"] == pytest.approx(drift, rel=1e-9)
    assert budget["yaw drift"] == pytest.approx(0.02**2 * (1.0 - np.exp(-2.0 * t / 30.0)))
    assert budget["reference"] == pytest.approx(0.003**2, rel=1e-12)


def test_budget_bands_and_probabilities_are_consistent():
    np.testing.assert_allclose(MODEL.budget().sum(axis=1), MODEL.variance(), rtol=1e-12)
    np.testing.assert_allclose(MODEL.mean_by_source().sum(axis=1), MODEL.mean(), rtol=1e-12)
    np.testing.assert_allclose(np.diag(MODEL.covariance()), MODEL.variance(), rtol=1e-12)
    bands = MODEL.bands([0.5, 0.95])
    std = np.sqrt(MODEL.variance())
    np.testing.assert_allclose(bands["upper_95"] - bands["mean"], 1.959963985 * std)
    np.testing.assert_allclose(bands["mean"] - bands["lower_50"], 0.67448975 * std)
    within = MODEL.probability_within(0.05)[100]
    assert within == pytest.approx(norm.cdf(0.05, 0.01, std[100]) - norm.cdf(-0.05, 0.01, std[100]))
    # An error that is identical in all runs is either always or never within the limit.
    known = YawErrorModel(TIME, (KnownError("known", 0.01 * TIME),))
    for limit, share in ((1.001, 1.0), (0.999, 0.0)):
        assert known.probability_within(limit)[100] == share
        assert known.probability_always_within(limit) == (share, 0.0)


@pytest.mark.parametrize("names", [[name] for name in RANDOM] + [RANDOM])
def test_realisations_match_covariance_of_model(names):
    model = MODEL.only(*names)
    errors = model.realisations(RUNS, seed=3)
    variance = model.variance()
    random = variance > 0.0
    # The tolerance is three standard errors of a variance at each of 101 times.
    excess = np.var(errors, axis=0)[random] / variance[random] - 1.0
    assert np.max(np.abs(excess)) < 3.0 * np.sqrt(2.0 / RUNS)
    bias = np.mean(errors, axis=0)[random] / np.sqrt(variance[random])
    assert np.max(np.abs(bias)) < 3.0 / np.sqrt(RUNS)
    assert np.all(errors[:, ~random] == 0.0)
    # The standard errors of covariances between times follow from Isserlis's theorem.
    expected = model.covariance()
    between = np.cov(errors[:, ::10], rowvar=False, ddof=0)
    expected = expected[::10, ::10]
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / RUNS)
    assert np.all(np.abs(between - expected) <= 4.0 * error)


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: YawErrorModel(np.array([0.0]), ()), "n at least 2"),
        (
            lambda: YawErrorModel(np.array([0.0, 1.0, 3.0]), ()),
            "evenly spaced, but their steps are from 1 to 2",
        ),
        (lambda: YawErrorModel(np.array([1.0, 0.0]), ()), "must be finite and increasing"),
        (lambda: YawErrorModel(TIME[:5], SOURCES), r"offset: the curve has the shape \(101,\)"),
        (lambda: MODEL.only("offset", "wind"), "unknown source 'wind'"),
        (lambda: MODEL.realisations(0), "0 runs were requested"),
        (lambda: MODEL.bands([1.0]), "probability of a band is 1.0, but"),
        (lambda: MODEL.likelihood(np.zeros(5)), r"has the shape \(5,\), but the model has 101"),
        (lambda: AngleRandomWalk("n", -1.0), "n: density is -1.0, but it must be zero or positive"),
        (lambda: RateGaussMarkov("d", 1.0, 0.0), "correlation_time is 0.0, but it must be pos"),
    ],
)
def test_invalid_yaw_error_model_is_rejected(make, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        make()


def _wiener_within(limit, std):
    """Return the probability that a Wiener process with a final std stays within a limit."""
    k = np.arange(100)
    odd = 2 * k + 1
    return 4.0 / np.pi * np.sum((-1.0) ** k / odd * np.exp(-((odd * np.pi * std / limit) ** 2) / 8))


@pytest.mark.parametrize("steps", [20, 360])
@pytest.mark.parametrize("limit", [0.9, 1.5])
def test_survival_probability_of_wiener_process_matches_closed_form(steps, limit):
    time = np.linspace(0.0, 3600.0, steps + 1)
    model = YawErrorModel(time, (AngleRandomWalk("angle random walk", 1.0 / 60.0),))
    stays, half_width = model.survival(limit, 8000, seed=2)
    assert stays[0] == 1.0 and np.all(np.diff(stays) <= 0.0) and half_width[-1] < 0.011
    for place in (steps // 2, steps):
        expected = _wiener_within(limit, np.sqrt(place / steps))
        assert stays[place] == pytest.approx(expected, abs=1.5 * half_width[place])  # 3 sigma


def test_survival_between_steps_matches_fine_simulation():
    # Noise and a drift with 3 s correlation time are modelled in 5 s steps and simulated at 50 Hz.
    walk, sigma, correlation_time, limit, runs = 0.03, 0.02, 3.0, 0.6, 4000
    period = 0.02
    generator = np.random.default_rng(4)
    error, bias = np.zeros(runs), sigma * generator.standard_normal(runs)
    largest, keep = np.zeros(runs), np.exp(-period / correlation_time)
    for _ in range(10_000):
        error -= bias * period + walk * np.sqrt(period) * generator.standard_normal(runs)
        bias = keep * bias + sigma * np.sqrt(1.0 - keep**2) * generator.standard_normal(runs)
        np.maximum(largest, np.abs(error), out=largest)
    fine = float(np.mean(largest <= limit))
    both = (AngleRandomWalk("walk", walk), RateGaussMarkov("drift", sigma, correlation_time))
    model = YawErrorModel(np.arange(0.0, 201.0, 5.0), both, sensor_period=period)
    share, half_width = model.probability_always_within(limit, runs)
    error = np.hypot(half_width / 1.96, np.sqrt(fine * (1.0 - fine) / runs))
    assert share == pytest.approx(fine, abs=3.0 * error)
    step_survival = np.mean(np.max(np.abs(model.realisations(runs)), axis=1) <= limit)
    assert step_survival > fine + 3.0 * error


@pytest.mark.parametrize("gap", [slice(0, 0), slice(20, 60)])
def test_likelihood_matches_multivariate_normal_density(gap):
    observed = MODEL.realisations(1, seed=9)[0]
    observed[gap] = np.nan
    result = MODEL.likelihood(observed)
    is_finite = np.isfinite(observed)
    normal = multivariate_normal(
        MODEL.mean()[is_finite], MODEL.covariance()[np.ix_(is_finite, is_finite)]
    )
    assert result.log_likelihood == pytest.approx(normal.logpdf(observed[is_finite]), rel=1e-9)
    normalised = (result.innovations / result.innovation_std)[is_finite]
    # The tolerance is three standard errors of the mean square of independent normal samples.
    assert abs(np.mean(normalised**2) - 1.0) < 3.0 * np.sqrt(2.0 / is_finite.sum())


def test_realisation_depends_only_on_its_run_number():
    together = MODEL.realisations(50, seed=5)
    for first, runs in ((37, 1), (25, 20)):
        some = MODEL.realisations(runs, seed=5, first_run=first)
        np.testing.assert_array_equal(some, together[first : first + runs])
    assert not np.any(together[0, 1:] == MODEL.realisations(1, seed=6)[0, 1:])
    parts = sum(MODEL.only(name).realisations(50, seed=5) for name in MODEL.names)
    np.testing.assert_allclose(parts, together, rtol=0.0, atol=1e-14)
    model = YawErrorModel(np.arange(11.0), (YawNoise("noise", 0.1),), sensor_period=0.1)
    inside = 1.0 - 2.0 * norm.sf(3.0)
    assert model.probability_always_within(0.3) == pytest.approx((inside**101, 0.0))


def test_state_space_of_sampled_sensor_matches_sum_over_samples():
    period, samples = 0.1, 7
    sigma, time = 1e-3, 0.3
    space = state_space((RateGaussMarkov("fast", sigma, time),), samples * period, period)
    phi = np.exp(-period / time)
    integral = np.zeros((2, 2))
    once = np.array([[1.0, -period * phi], [0.0, phi]])
    kick = sigma * np.sqrt(1.0 - phi**2) * np.array([-period, 1.0])
    for _ in range(samples):
        integral = once @ integral @ once.T + np.outer(kick, kick)
    np.testing.assert_allclose(space.noise[0], integral, rtol=1e-12)
    np.testing.assert_allclose(space.transition, np.linalg.matrix_power(once, samples), rtol=1e-12)
    # The sampling period is 2e-4 of the correlation time of the fast process.
    continuous, sampled = (state_space(tuple(SOURCES[2:7]), 1.0, each) for each in (None, 1e-4))
    np.testing.assert_allclose(sampled.transition, continuous.transition, rtol=2e-3, atol=1e-9)
    np.testing.assert_allclose(sampled.noise, continuous.noise, rtol=2e-3, atol=1e-15)
    with pytest.raises(ConfigurationError, match=r"step .* is 1 s, expected a multiple .* 0\.3 s"):
        state_space(tuple(SOURCES[2:7]), 1.0, 0.3)
