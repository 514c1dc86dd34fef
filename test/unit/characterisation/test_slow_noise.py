"""Distinction between flicker noise, random walk and a Gauss-Markov process."""

import numpy as np
import pytest

from imu_simulation_framework.characterisation.allan.analysis import DEFAULT_BAND, identify
from imu_simulation_framework.characterisation.allan.model import GAUSS_MARKOV
from imu_simulation_framework.characterisation.allan.slow_noise import (
    FLICKER,
    WALK,
    WHITE,
    SlowNoiseLikelihood,
)
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.sensors.noise.processes import BiasInstability, GaussMarkov

RATE, LENGTH = 10.0, 18_000
N = 1e-4
TIMES = np.geomspace(3.0, 60.0, 12)  # s


def make_noise(generator, walk=0.0, instability=0.0, sigma=0.0, time=60.0, length=LENGTH):
    """Simulate white noise with N = 1e-4 plus slow noise terms, shape (n,)."""
    values = N * np.sqrt(RATE) * generator.standard_normal(length)
    values += np.cumsum(walk / np.sqrt(RATE) * generator.standard_normal(length))
    process = BiasInstability(instability, DEFAULT_BAND, 1.0 / RATE, generator)
    values += process.batch(length, 1)[0, :, 0]
    return values + GaussMarkov(sigma, time, 1.0 / RATE, generator).batch(length)[0, :, 0]


@pytest.mark.parametrize("length", [1100, 11_000])
@pytest.mark.parametrize(
    "term, noise",
    [
        (WHITE, {}),
        (WALK, {"walk": 1e-3}),
        (FLICKER, {"instability": 1e-2}),
        (GAUSS_MARKOV, {"sigma": 1e-2, "time": 20.0}),
    ],
)
def test_expected_periodogram_matches_mean_of_simulated_periodograms(term, noise, length):
    generator = np.random.default_rng(3)
    records = [make_noise(generator, length=length, **noise) for _ in range(100)]
    likelihood = SlowNoiseLikelihood([(records, RATE)], DEFAULT_BAND)
    power = np.array([spectrum.power for spectrum in likelihood._spectra])
    coefficient = max(noise.get("walk", N), noise.get("instability", 0.0), noise.get("sigma", 0.0))
    shape = likelihood._shape(term, 20.0)[: power.shape[1]] * coefficient**2
    if term != WHITE:
        shape = shape + likelihood._shape(WHITE, None)[: power.shape[1]] * N**2
    # Each periodogram ordinate has two degrees of freedom, so its standard deviation equals its
    # mean.
    deviations = (power.mean(axis=0) / shape - 1.0) * np.sqrt(len(records))
    assert np.sqrt(np.mean(deviations**2)) == pytest.approx(1.0, abs=0.2)
    assert abs(np.mean(deviations)) < 4.0 / np.sqrt(len(deviations))


@pytest.mark.parametrize(
    "noise, terms",
    [
        ({}, ()),
        ({"walk": 5e-5}, (WALK,)),
        ({"instability": 3e-4}, (FLICKER,)),
        ({"sigma": 3e-4, "time": 20.0}, (GAUSS_MARKOV,)),
    ],
)
def test_model_selection_finds_simulated_noise_terms(noise, terms):
    record = make_noise(np.random.default_rng(5), **noise)
    choice = SlowNoiseLikelihood([([record], RATE)], DEFAULT_BAND).choose(TIMES, 3.84)
    assert choice.terms == terms
    assert choice.supported == set(terms)
    if GAUSS_MARKOV in terms:
        assert choice.possible_times[0] <= choice.time <= choice.possible_times[-1]
        assert choice.possible_times[0] < 20.0 * 1.32 < choice.possible_times[-1] * 1.32**2


def test_splitting_record_does_not_change_selected_noise_terms():
    record = make_noise(np.random.default_rng(6), walk=5e-5)
    whole = SlowNoiseLikelihood([([record], RATE)], DEFAULT_BAND).choose(TIMES, 3.84)
    parts = [record[:20], record[20:9000], record[9000:]]
    split = SlowNoiseLikelihood([(parts, RATE)], DEFAULT_BAND).choose(TIMES, 3.84)
    assert split.terms == whole.terms == (WALK,)


def test_one_minute_gauss_markov_process_is_not_identified_as_random_walk():
    # The Allan variance alone identifies a random walk in half of such records. If 5 % of axes are
    # identified by chance, the probability of four or more of 24 is 3 %.
    claims = []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        values = np.column_stack([make_noise(generator, sigma=1e-4) for _ in range(6)])
        names = ("gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z")
        made = prepare_at_rest(np.arange(LENGTH) / RATE, values, names, "made")
        for result in identify([made]).axes.values():
            terms = result.fit.terms
            claims.append(any(terms[name].low > 0.0 for name in (FLICKER, WALK)))
    assert sum(claims) < 4


def test_random_walk_fit_reports_gauss_markov_time_that_fits_equally_well():
    record = make_noise(np.random.default_rng(8), walk=5e-5)
    made = prepare_at_rest(np.arange(LENGTH) / RATE, record[:, None], ("gyro_x",), "made")
    fit = identify([made]).axes["gyro_x"].fit
    assert fit.terms[WALK].identified
    # In half an hour, only processes with time constants of minutes differ from a random walk.
    assert 60.0 < fit.time_like_walk <= 600.0
