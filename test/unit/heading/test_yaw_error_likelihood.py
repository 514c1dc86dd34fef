from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from statsmodels.stats.diagnostic import acorr_ljungbox

from imu_simulation_framework.heading.identification import terms
from imu_simulation_framework.heading.identification.fit import Fit, Likelihood, fitted_parts
from imu_simulation_framework.heading.identification.reliability import LAGS, check_residuals
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.sources import AngleRandomWalk, YawGaussMarkov, YawNoise
from imu_simulation_framework.heading.reference_error import ReferenceError

RANDOM = (terms.ANGLE_RANDOM_WALK, terms.YAW_DRIFT, terms.REFERENCE_NOISE)
CONSTANTS = (terms.RATE_BIAS, terms.SCALE_FACTOR)
VALUES = {
    "angle_random_walk": 4e-4,
    "yaw_drift_sigma": 0.01,
    "yaw_drift_time": 20.0,
    "reference_noise": 3e-3,
}
OTHERS = {**VALUES, "angle_random_walk": 8e-4, "reference_noise": 2e-3}


def drive(length, seed, wobble):
    """Return a drive whose turn rate varies with a specified amplitude [rad/s]."""
    times = np.arange(length + 1.0)
    rate = 0.1 + wobble * np.sin(times / 20.0)
    turn = np.concatenate([[0.0], np.cumsum(rate[1:])])
    error = YawErrorModel(times, sources(VALUES)).realisations(1, seed)[0]
    error = error + 0.3 - 2e-4 * times - 4e-3 * turn
    return terms.ObservedYawError(f"drive {seed}", times, error, turn, turn)


def sources(values):
    return (
        AngleRandomWalk("walk", values["angle_random_walk"]),
        YawGaussMarkov("drift", values["yaw_drift_sigma"], values["yaw_drift_time"]),
        YawNoise("noise", values["reference_noise"]),
    )


def test_search_bounds_scale_with_data_and_whiteness_statistic_matches_ljung_box():
    drives = [drive(100, 1, 0.0), drive(600, 2, 0.0), drive(300, 3, 0.0)]
    found = terms.scales(drives)
    assert found.bounds("rate_drift_time") == pytest.approx((5.0, 6000.0))
    # Over a time T, a rate random walk K yields an angle of K T^1.5 / sqrt(3), and a constant rate
    # its product with T. The typical values ignore the factor of sqrt(3).
    walk, rate = found.typical("rate_random_walk"), found.typical("rate_drift_sigma")
    assert walk * 600.0**1.5 == pytest.approx(rate * 600.0)
    residuals = np.concatenate([d.error - np.polyval(np.polyfit(d.time, d.error, 1), d.time)
                                for d in drives])  # fmt: skip
    assert rate * 600.0 == pytest.approx(np.sqrt(np.mean(residuals**2)))
    drives = np.random.default_rng(9).normal(size=(2, 400))
    # The autocorrelations are computed about zero, which is the mean of innovations.
    drives -= drives.mean(axis=1)[:, None]
    expected = [acorr_ljungbox(drive, lags=[LAGS])["lb_stat"].iloc[0] for drive in drives]
    whiteness = check_residuals(drives)[0]
    assert whiteness.statistic == pytest.approx(sum(expected))
    assert whiteness.p == pytest.approx(chi2.sf(sum(expected), 2 * LAGS))


def test_fitted_rate_drift_error_is_integral_of_fitted_rate():
    times = 5.0 * np.arange(200)
    error = 0.1 * np.sin(times / 100.0)
    observed = terms.ObservedYawError("slow", times, error, 0.0 * times, 0.0 * times)
    random = terms.ANGLE_RANDOM_WALK, terms.RATE_DRIFT, terms.REFERENCE_NOISE
    likelihood = Likelihood([observed], random, (), False)
    values = {"angle_random_walk": 1e-6, "rate_drift_sigma": 1e-3, "rate_drift_time": 100.0,
              "reference_noise": 1e-6}  # fmt: skip
    part = fitted_parts(Fit(likelihood, values, likelihood(values)))[terms.RATE_DRIFT.name]
    # The tolerance is the decay of a drift in 1.5 steps of 5 s.
    np.testing.assert_allclose(part - part.iloc[0], error, rtol=0.0, atol=0.075 * 0.1)


class Dense:
    """Restricted likelihood computed with dense matrices (Harville 1977), up to a constant."""

    def __init__(self, drives):
        self.drives = drives
        self.error = np.concatenate([drive.error for drive in drives])
        starts = np.zeros((len(self.error), len(drives)))
        ends = np.cumsum([0] + [len(drive.time) for drive in drives])
        for index in range(len(drives)):
            starts[ends[index] : ends[index + 1], index] = 1.0
        curves = [np.concatenate([term.regressor(drive) for drive in drives]) for term in CONSTANTS]
        self.design = np.column_stack([starts, *curves])
        self.ends = ends

    def __call__(self, values, spread=0.0):
        covariance = np.zeros((len(self.error), len(self.error)))
        for index, observed in enumerate(self.drives):
            part = slice(self.ends[index], self.ends[index + 1])
            covariance[part, part] = YawErrorModel(observed.time, sources(values)).covariance()
            covariance[part, part] += spread**2 * np.outer(observed.time, observed.time)
            covariance[part, part] += reference_covariance(observed, values)
        inverse = np.linalg.inv(covariance)
        information = self.design.T @ inverse @ self.design
        # The prior standard deviation of the scale factor is 5 %.
        information[-1, -1] += 0.05**-2
        self.covariance = np.linalg.inv(information)[-2:, -2:]
        solution = np.linalg.solve(information, self.design.T @ inverse @ self.error)
        self.constants = solution[-2:]
        left = self.error - self.design @ solution
        logarithms = (np.linalg.slogdet(matrix)[1] for matrix in (covariance, information))
        log_prior = (solution[-1] / 0.05) ** 2
        return -0.5 * (sum(logarithms) + left @ inverse @ left + log_prior)


def reference_covariance(observed, values):
    """Return the covariance of the reference error, with a default lag of 0.2 s."""
    slip = values.get("reference_slip", 0.0)
    covariance = slip**2 * np.minimum.outer(observed.absolute_turn, observed.absolute_turn)
    if observed.reference is None:
        rate = np.gradient(observed.net_turn, observed.time)
        return covariance + 0.2**2 * np.outer(rate, rate)
    scaled = replace(
        observed.reference,
        std=values["reference_scale"] * observed.reference.std,
        correlation_time=values["reference_error_time"],
    )
    return covariance + scaled.covariance(observed.time)


def test_likelihood_with_reference_error_matches_dense_matrices():
    drives = []
    for seed in (1, 2):
        observed = drive(200, seed, 0.1)
        std = 0.01 + 0.005 * np.sin(observed.time / 9.0)
        rate = np.gradient(observed.net_turn, observed.time)
        known = ReferenceError(observed.time, std, 4.0, rate, observed.net_turn, 0.3, 0.02)
        drives.append(replace(observed, reference=known))
    random = (*RANDOM, terms.REFERENCE_SLIP, terms.REFERENCE_ERROR)
    dense, likelihood = Dense(drives), Likelihood(drives, random, CONSTANTS)
    changed, others = (
        {**VALUES, "reference_slip": slip, "reference_scale": scale, "reference_error_time": time}
        for slip, scale, time in ((3e-3, 1.0, 4.0), (6e-3, 0.6, 8.0))
    )
    # The prior standard deviation of reference_scale and reference_error_time is a factor of two.
    prior = -0.5 * ((np.log(0.6) ** 2 + np.log(2.0) ** 2) / np.log(2.0) ** 2)
    expected = dense(others) - dense(changed) + prior
    assert likelihood(others) - likelihood(changed) == pytest.approx(expected, rel=2e-3)
    estimates, covariance = likelihood.constants_of(likelihood.filtered(changed))
    std = np.sqrt(np.diag(dense.covariance))
    np.testing.assert_allclose(estimates / std, dense.constants / std, rtol=0.0, atol=0.01)
    # The scale factor is poorly determined, because the turn error of the reference masks it, and
    # its prior is broad but not flat.
    np.testing.assert_allclose(covariance, dense.covariance, rtol=0.015)


# With an amplitude of 0.003, the turn angle is proportional to time, apart from a fraction of 6e-6.
@pytest.mark.parametrize("wobble", [0.1, 0.003])
def test_restricted_likelihood_and_constants_match_dense_matrices(wobble):
    drives = [drive(300, 1, wobble)]
    dense, likelihood = Dense(drives), Likelihood(drives, RANDOM, CONSTANTS)
    expected = dense(OTHERS) - dense(VALUES)
    assert likelihood(OTHERS) - likelihood(VALUES) == pytest.approx(expected, rel=1e-4)
    estimates, covariance = likelihood.constants_of(likelihood.filtered(VALUES))
    np.testing.assert_allclose(estimates, dense.constants, rtol=1e-3)
    np.testing.assert_allclose(covariance, dense.covariance, rtol=1e-3)


def test_drives_share_constants_but_not_start_offset():
    drives = [drive(200, 1, 0.1), drive(150, 2, 0.05), drive(100, 3, 0.1)]
    dense, likelihood = Dense(drives), Likelihood(drives, RANDOM, CONSTANTS, spread=True)
    for spread in (1e-4, 5e-4):
        expected = dense(VALUES, spread) - dense(VALUES, 2e-4)
        some, others = ({**VALUES, terms.SPREAD: size} for size in (spread, 2e-4))
        found = likelihood(some) - likelihood(others)
        # The prior is broad but not flat.
        assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("wobble", [0.1, 0.003])
def test_log_likelihood_of_fixed_constant_decreases_with_square_of_its_deviation(wobble):
    likelihood = Likelihood([drive(300, 1, wobble)], RANDOM, CONSTANTS)
    estimates, covariance = likelihood.constants_of(likelihood.filtered(VALUES))
    for index in range(2):
        std = np.sqrt(covariance[index, index])
        best = likelihood.with_constants({index: estimates[index]})(VALUES)
        for away in (-3.0, 2.0):
            conditional = likelihood.with_constants({index: estimates[index] + away * std})(VALUES)
            assert conditional - best == pytest.approx(-0.5 * away**2, rel=1e-3)


def test_likelihood_ignores_missing_observations():
    whole = drive(300, 1, 0.1)
    gap = np.where((whole.time > 100.0) & (whole.time < 200.0), np.nan, whole.error)
    holed = terms.ObservedYawError("holed", whole.time, gap, whole.net_turn, whole.absolute_turn)
    likelihood = Likelihood([holed], RANDOM, CONSTANTS)
    filtered = likelihood.filtered(VALUES)
    np.testing.assert_array_equal(np.isnan(filtered.innovations[0]), np.isnan(gap))
    assert np.isfinite(filtered.log_likelihood)
