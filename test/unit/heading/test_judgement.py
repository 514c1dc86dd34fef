"""Looks at an error, their p-values and the sentence."""

import numpy as np
import pytest
from scipy import stats

from imu_simulation_framework.core.errors import EnsembleError
from imu_simulation_framework.core.spectrum import logarithmic_average, power_spectral_density
from imu_simulation_framework.heading import judgement as ensembles
from imu_simulation_framework.heading.judgement import (
    curve_statistics,
    from_zero_where_known,
    holm,
    judge,
    judge_statistic,
    shown_tests,
    started_at_zero,
)
from imu_simulation_framework.heading.statistics import error_statistics

TIME = np.arange(120) * 5.0
DRAWS = 500
RUNS = 199


def drives(generator, runs, drift=1.0, bias=0.0, noise=0.0):
    """Errors of a random walk, a rate of its own for each and one for all, and white noise."""
    walk = np.cumsum(generator.normal(size=(runs, len(TIME))), axis=1)
    rate = bias + generator.normal(size=(runs, 1)) / 100.0
    errors = drift * (0.1 * walk + rate * TIME) + noise * generator.normal(size=walk.shape)
    return errors - errors[:, :1]


def test_statistics_of_many_curves_are_those_of_each():
    time = np.sort(np.random.default_rng(1).uniform(0.0, 300.0, 400))
    curves = np.cumsum(np.random.default_rng(2).normal(size=(7, 400)), axis=1)
    found = curve_statistics(time, curves)
    for place, curve in enumerate(curves):
        single = error_statistics(time, curve)
        _, density = logarithmic_average(power_spectral_density(time, curve), 1)
        expected = [single.final, 60.0 * single.drift, single.maximum_absolute, single.rms]
        ours = [found[name][place] for name in ("final", "drift", "maximum", "rms")]
        np.testing.assert_allclose(ours, expected, rtol=1e-9)
        of_bands = [values[place] for name, values in found.items() if name.startswith("psd")]
        np.testing.assert_allclose(of_bands, density, rtol=1e-9)
    names = list(curve_statistics(np.arange(4096) / 10.0, np.zeros((1, 4096))))
    assert names[4::3] == ["psd 0.0024 to 0.024 Hz", "psd 2.4 to 5 Hz"]


def test_blocks_of_runs_change_nothing(monkeypatch):
    curves = drives(np.random.default_rng(3), 50)
    whole = curve_statistics(TIME, curves)
    monkeypatch.setattr(ensembles, "BLOCK", 7 * len(TIME))
    for name, values in curve_statistics(TIME, curves).items():
        np.testing.assert_allclose(values, whole[name], rtol=1e-12)


def test_holm_steps_down():
    # By hand: 0.01 * 4, 0.02 * 3, 0.03 * 2, and never less than the one before.
    np.testing.assert_allclose(holm([0.03, 0.01, 0.9, 0.02]), [0.06, 0.04, 0.9, 0.06])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])


def test_every_look_at_drives_of_the_model_has_uniform_p_values():
    generator = np.random.default_rng(30)
    p_values, rejected = {}, 0
    for _ in range(DRAWS):
        curves = drives(generator, RUNS + 1, noise=0.1).astype(np.float32)
        judgement = judge(TIME, curves[0], curves[1:])
        p_values.setdefault("envelope", []).append(judgement.envelope.p_value)
        for look in judgement.statistics:
            p_values.setdefault(look.name, []).append(look.p_value)
        rejected += judgement.rejected
    assert len(p_values) >= 7
    for name, values in p_values.items():
        # Even within their steps, the last of which is half as wide where two sides meet.
        step = np.minimum((1.0 if name == "envelope" else 2.0) / (RUNS + 1), values)
        places = np.array(values) - step * generator.uniform(size=DRAWS)
        # Of seven looks at chance one has a p-value of 0.01 in every fourteenth test.
        assert stats.kstest(places, "uniform").pvalue > 0.01 / len(p_values), name
    # Corrected, a true model is rejected in 5 % of the drives at most, at whichever look.
    assert rejected / DRAWS < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / DRAWS)


@pytest.mark.parametrize(
    "observed, model, verdict",
    [
        ({"drift": 12.0, "bias": 0.02}, {}, "too little"),
        ({"drift": 0.002}, {}, "too much"),
        ({"bias": -0.1}, {"bias": 0.1}, "other direction"),
        ({"noise": 2.0}, {"noise": 0.05}, "too little"),
        ({}, {}, "not rejected"),
    ],
)
def test_the_sentence_says_how_often_and_what_is_wrong(observed, model, verdict):
    ensemble = drives(np.random.default_rng(40), 999, **model)
    judgement = judge(TIME, drives(np.random.default_rng(41), 1, **observed)[0], ensemble)
    assert judgement.verdict == verdict
    assert verdict in judgement.sentence and "of 999 simulated drives" in judgement.sentence
    assert judgement.rejected == (verdict != "not rejected")


def test_a_model_in_one_direction_only_drifts_too_much_where_less_was_seen():
    ensemble = drives(np.random.default_rng(42), 999, bias=0.3)
    judgement = judge(TIME, 0.02 * TIME, ensemble)
    assert judgement.verdict == "too much"


def test_an_error_like_three_of_a_thousand_is_said_so():
    ensemble = np.outer(np.linspace(-1.0, 1.0, 1000), TIME)
    judgement = judge(TIME, ensemble[998] + 1e-6 * TIME, ensemble)
    # One on this side is farther out; on the other side two are as far from the end.
    assert judgement.envelope.as_extreme == 3
    assert "3 of 1000 simulated drives" in judgement.sentence
    look = judge_statistic("rms", 2.5, np.arange(1.0, 100.0))
    assert (look.tail, look.as_extreme, look.p_value) == (-1, 2, 0.06)
    assert judge_statistic("rms", 50.0, np.arange(1.0, 100.0)).p_value == 1.0


def test_too_few_drives_to_refute_by_so_many_looks_are_mentioned():
    curves = drives(np.random.default_rng(43), 41)
    judgement = judge(TIME, 50.0 * curves[0], curves[1:])
    assert not judgement.rejected and "With 40 drives" in judgement.sentence


@pytest.mark.parametrize(
    "time, observed, ensemble, words",
    [
        (TIME, TIME[:-1], np.zeros((50, 120)), "119 samples at 120 times .* drive 120"),
        (TIME, TIME, np.zeros((0, 120)), "no simulated drive"),
        (TIME[:1], TIME[:1], np.zeros((50, 1)), "1 sample is too short"),
        (TIME, TIME, np.full((50, 120), np.nan), "run 0 of the ensemble"),
        (TIME, np.full(120, np.inf), np.zeros((50, 120)), "not known throughout"),
        (-TIME, TIME, np.zeros((50, 120)), "times of the errors do not ascend"),
        (TIME, TIME, np.zeros((5, 120)), "5 simulated drives cannot reject"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(time, observed, ensemble, words):
    with pytest.raises(EnsembleError, match=words):
        judge(time, observed, ensemble)


def test_errors_start_at_zero_as_recorded_ones_do():
    errors = started_at_zero(TIME, np.array([TIME + 5.0, TIME - 3.0], dtype=np.float32), 20.0)
    np.testing.assert_allclose(np.median(errors[:, :4], axis=1), 0.0, atol=1e-6)
    assert errors.dtype == np.float32


def test_looks_are_shown_in_degrees():
    generator = np.random.default_rng(8)
    judged = judge(TIME, drives(generator, 1)[0], drives(generator, RUNS))
    curve, *shown = shown_tests(judged)
    assert len(shown) == len(judged.statistics)
    assert (curve.p_value, curve.adjusted) == (judged.envelope.p_value, judged.adjusted)
    for row, look in zip(shown, judged.statistics):
        power = 2 if look.name.startswith("psd") else 1
        for name in ("observed", "median", "low", "high"):
            expected = getattr(look, name) * np.degrees(1.0) ** power
            assert getattr(row, name) == pytest.approx(expected)
        assert row.unit.startswith("deg²" if power == 2 else "deg")


def test_only_what_was_observed_is_compared():
    observed = np.full(8, 3.0)
    observed[[0, 4]] = np.nan
    curves = np.arange(20.0).reshape(2, 10) ** 2
    known = [1, 2, 3, 5, 6, 7]
    time, error, ensemble = from_zero_where_known(np.arange(10.0), observed, curves)
    np.testing.assert_array_equal(time, known)
    np.testing.assert_array_equal(error, np.zeros(6))
    np.testing.assert_array_equal(ensemble, started_at_zero(time, curves[:, known]))
