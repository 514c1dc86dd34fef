"""Ensemble statistics, which do not depend on the chunk size."""

import numpy as np
import pytest

from imu_simulation_framework.core.errors import EnsembleError
from imu_simulation_framework.heading import ensemble
from imu_simulation_framework.heading.ensemble import (
    Moments,
    Reduction,
    merge_reductions,
    reduce_runs,
)

TIME = np.arange(301.0)


def walks(runs, seed=1):
    return np.cumsum(1e-4 * np.random.default_rng(seed).standard_normal((runs, 301)), axis=1)


def equal(first, second):
    return all(np.array_equal(first.arrays()[key], second.arrays()[key]) for key in first.arrays())


def test_merged_reductions_of_ensemble_parts_match_complete_reduction():
    values = 1e6 + np.random.default_rng(2).standard_normal((1000, 5))
    parts = np.split(values, [1, 37, 600])
    whole = Moments.of(parts[0])
    assert np.all(whole.mean == values[0]) and np.all(np.isnan(whole.std))
    for part in parts[1:]:
        whole = whole.combined(Moments.of(part))
    assert whole.count == 1000
    np.testing.assert_allclose(whole.mean, values.mean(axis=0), rtol=1e-14)
    # Numbers of about a million are rounded to 1e-10.
    np.testing.assert_allclose(whole.std, values.std(axis=0, ddof=1), rtol=1e-9)
    errors = walks(200)
    whole = reduce_runs(TIME, errors)
    merged = merge_reductions([reduce_runs(TIME, part) for part in np.split(errors, [3, 100])])
    other = merge_reductions([reduce_runs(TIME, errors[100:]), reduce_runs(TIME, errors[:100])])
    assert np.array_equal(whole.counts, merged.counts)
    assert np.array_equal(whole.counts, other.counts)
    assert np.array_equal(merged.statistics["final"], whole.statistics["final"])
    np.testing.assert_allclose(merged.error.mean, whole.error.mean, rtol=0, atol=1e-18)
    np.testing.assert_allclose(merged.density.mean, whole.density.mean, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0, 1e3])
def test_ensemble_quantiles_are_within_one_bin_of_exact_quantiles(scale):
    values = scale * np.random.default_rng(3).standard_normal((20000, 2)) + 0.3 * scale
    probabilities = [0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995]
    found = ensemble.quantiles(ensemble.count_values(values), probabilities)
    exact = np.quantile(values, probabilities, axis=0).T
    assert np.all(np.abs(found - exact) <= ensemble.RESOLUTION * np.abs(exact) + 1.1e-8)


def test_value_beyond_histogram_yields_infinite_quantile():
    counts = ensemble.count_values(np.array([[-1e9], [0.1], [0.1], [1e9]]))
    assert counts[0, 0] == 1 and counts[0, -1] == 1
    low, middle, high = ensemble.quantiles(counts, [0.1, 0.5, 0.99])[0]
    assert low == -np.inf and high == np.inf and middle == pytest.approx(0.1, rel=0.01)
    # If all values are identical, minimum and maximum are in the same bin.
    equals = ensemble.count_values(np.full((7, 1), -0.2))
    found = ensemble.quantiles(equals, [0.0, 0.5, 1.0])
    np.testing.assert_allclose(found, -0.2, rtol=ensemble.RESOLUTION)


def test_ensemble_reduction_limits_quantile_times_and_omits_spectrum_of_short_run():
    for times in (2, 121, 122, 601, 86401):
        places = ensemble.quantile_places(times)
        assert places[-1] == times - 1 and len(places) <= 121
    assert ensemble.quantile_places(601)[0] == 0
    reduction = reduce_runs([0.0, 1.0], [[0.0, 0.1]])
    assert len(reduction.frequency) == 0
    assert reduction.statistics["final"][0] == pytest.approx(0.1)


def test_reduced_ensemble_is_restored_from_its_arrays():
    reduction = reduce_runs(TIME, walks(50), keep=7)
    again = Reduction.from_arrays(TIME, reduction.arrays())
    assert equal(again, reduction) and again.curves.shape == (7, 301)
    np.testing.assert_array_equal(again.quantiles([0.5]), reduction.quantiles([0.5]))
    arrays = reduce_runs(TIME, walks(1000)).arrays()
    assert sum(values.nbytes for values in arrays.values()) < 250_000


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: reduce_runs(TIME, np.empty((0, 301))), "0 runs"),
        (lambda: reduce_runs([0.0], np.zeros((3, 1))), "1 samples"),
        (lambda: reduce_runs(TIME, walks(3) + [[0.0], [np.nan], [0.0]]), "run 1"),
        (lambda: merge_reductions([]), "at least one part"),
        (
            lambda: merge_reductions([reduce_runs(at, walks(2)) for at in (TIME, 2.0 * TIME)]),
            "times",
        ),
        (
            lambda: Reduction.from_arrays(TIME[1:], reduce_runs(TIME, walks(5)).arrays()),
            "do not belong to an ensemble",
        ),
        (
            lambda: Reduction.from_arrays(TIME, {"runs": np.array(5)}),
            "do not belong to an ensemble",
        ),
    ],
)
def test_invalid_ensembles_and_parts_are_rejected(make, word):
    with pytest.raises(EnsembleError, match=word):
        make()
