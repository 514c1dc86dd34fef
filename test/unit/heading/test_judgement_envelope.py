"""The global envelope test, against its definition and against chance."""

import numpy as np
import pytest
from scipy import stats

from imu_simulation_framework.core.errors import EnsembleError
from imu_simulation_framework.heading import judgement as ensembles
from imu_simulation_framework.heading.judgement import global_envelope, pointwise_bands


def random_walks(generator, runs, samples):
    """Errors that begin at zero, where all are equal, and drift apart."""
    walks = np.cumsum(generator.normal(size=(runs, samples)), axis=1)
    return walks - walks[:, :1]


def by_definition(observed, ensemble):
    """P-value and 95 % hull as the paper defines them, curve by curve and time by time."""
    curves = [list(observed), *map(list, ensemble)]
    count = len(curves)
    sorted_ranks = []
    for curve in curves:
        ranks = []
        for k, value in enumerate(curve):
            below = sum(other[k] < value for other in curves)
            equal = sum(other[k] == value for other in curves)
            from_below = below + (equal + 1) / 2
            ranks.append(min(from_below, count + 1 - from_below))
        sorted_ranks.append(sorted(ranks))
    # Lists are compared as extreme rank lengths are: by the first element that differs.
    measures = [sum(other < mine for other in sorted_ranks) for mine in sorted_ranks]
    p_value = sum(other <= sorted_ranks[0] for other in sorted_ranks) / count
    allowed = [m for m in measures if sum(other < m for other in measures) <= 0.05 * count]
    inside = [curve for curve, m in zip(curves, measures) if m >= max(allowed)]
    return p_value, np.min(inside, axis=0), np.max(inside, axis=0)


@pytest.mark.parametrize("steps", [None, 1.0], ids=["continuous", "many_ties"])
@pytest.mark.parametrize("seed", range(6))
def test_the_envelope_is_what_its_definition_says(seed, steps):
    generator = np.random.default_rng(seed)
    curves = random_walks(generator, 60, 15)
    curves[0] *= 1.0 + 0.5 * seed
    if steps:
        curves = np.round(curves / steps) * steps
    found = global_envelope(curves[0], curves[1:])
    p_value, low, high = by_definition(curves[0], curves[1:])
    assert found.p_value == pytest.approx(p_value, abs=1e-12)
    np.testing.assert_array_equal(found.low, low)
    np.testing.assert_array_equal(found.high, high)


def test_equal_curves_share_their_place_and_are_not_extreme():
    found = global_envelope(np.zeros(30), np.zeros((40, 30)))
    assert found.p_value == 1.0
    assert found.as_extreme == 40


def test_the_envelope_does_not_see_jumps_within_usual_values_which_is_what_spectra_are_for():
    # Within the pointwise bands throughout, but at the upper and lower end in turn.
    curves = random_walks(np.random.default_rng(4), 999, 200)
    _, (band,) = pointwise_bands(curves, [0.9])
    observed = np.where(np.arange(200) % 2, band.high, band.low)
    assert global_envelope(observed, curves).p_value > 0.05


def test_blocks_and_single_precision_change_nothing(monkeypatch):
    curves = random_walks(np.random.default_rng(5), 300, 70).astype(np.float32)
    whole = global_envelope(curves[0], curves[1:])
    _, bands = pointwise_bands(curves)
    monkeypatch.setattr(ensembles, "BLOCK", 1000)
    parts = global_envelope(curves[0], curves[1:])
    assert parts.p_value == whole.p_value
    np.testing.assert_array_equal(parts.low, whole.low)
    np.testing.assert_array_equal(parts.high, whole.high)
    for band, other in zip(pointwise_bands(curves)[1], bands):
        np.testing.assert_array_equal(band.low, other.low)
    wide = global_envelope(curves[0].astype(float), curves[1:].astype(float))
    assert wide.p_value == whole.p_value


def test_pointwise_bands_are_the_ensembles_quantiles():
    curves = np.random.default_rng(6).normal(size=(20_000, 3))
    median, bands = pointwise_bands(curves)
    assert [band.level for band in bands] == [0.5, 0.95, 0.99]
    # Four standard errors of a quantile.
    for band in bands:
        z = stats.norm.ppf(0.5 + 0.5 * band.level)
        error = 4.0 * np.sqrt(0.25 * (1 - band.level**2) / 20_000) / stats.norm.pdf(z)
        np.testing.assert_allclose(band.high, z, atol=error)
        np.testing.assert_allclose(band.low, -z, atol=error)
    np.testing.assert_allclose(median, 0.0, atol=4.0 * 1.2533 / np.sqrt(20_000))


def test_too_few_runs_for_the_level_are_refused():
    curves = random_walks(np.random.default_rng(7), 19, 10)
    assert global_envelope(curves[0] + 100.0, curves).p_value == 0.05
    with pytest.raises(EnsembleError, match="18 simulated drives .* at least 19"):
        global_envelope(curves[0], curves[1:])
