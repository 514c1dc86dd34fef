"""Statistical tests of whether recorded yaw errors can be realisations of an IMU model."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import imu_simulation_framework as isf
from imu_simulation_framework.core.error_statistics import error_statistics
from imu_simulation_framework.core.errors import EnsembleError
from imu_simulation_framework.core.signals import logarithmic_average, power_spectral_density
from imu_simulation_framework.heading import several_drives
from imu_simulation_framework.heading.judgement import blocks
from imu_simulation_framework.heading.judgement.common_zero import zero_at_start, zero_where_known
from imu_simulation_framework.heading.judgement.curve_statistics import curve_statistics
from imu_simulation_framework.heading.judgement.envelope import global_envelope, pointwise_bands
from imu_simulation_framework.heading.judgement.shown_tests import shown_tests
from imu_simulation_framework.heading.judgement.statistic_tests import holm, judge_statistic
from imu_simulation_framework.heading.reference_error import ReferenceError
from imu_simulation_framework.heading.yaw_comparison import ComparisonSettings, compare_yaw

TIME = np.arange(120) * 5.0
DRAWS = 500
RUNS = 199


def drives(generator, runs, drift=1.0, bias=0.0, noise=0.0):
    """Return yaw errors (runs, time) with random walks, drift rates and white noise."""
    walk = np.cumsum(generator.normal(size=(runs, len(TIME))), axis=1)
    rate = bias + generator.normal(size=(runs, 1)) / 100.0
    errors = drift * (0.1 * walk + rate * TIME) + noise * generator.normal(size=walk.shape)
    return errors - errors[:, :1]


def test_statistics_of_many_curves_match_those_of_single_curves():
    time = np.sort(np.random.default_rng(1).uniform(0.0, 300.0, 400))
    curves = np.cumsum(np.random.default_rng(2).normal(size=(7, 400)), axis=1)
    found = curve_statistics(time, curves)
    for place, curve in enumerate(curves):
        single = error_statistics(time, curve)
        _, density = logarithmic_average(power_spectral_density(time, curve), 1)
        expected = [single.final, 60.0 * single.drift, single.maximum_absolute, single.rms]
        statistics = [found[name][place] for name in ("final", "drift", "maximum", "rms")]
        np.testing.assert_allclose(statistics, expected, rtol=1e-9)
        band_statistics = [
            values[place] for name, values in found.items() if name.startswith("psd")
        ]
        np.testing.assert_allclose(band_statistics, density, rtol=1e-9)
    names = list(curve_statistics(np.arange(4096) / 10.0, np.zeros((1, 4096))))
    assert names[4::3] == ["psd 0.0024 to 0.024 Hz", "psd 2.4 to 5 Hz"]


def test_holm_correction_matches_manual_step_down_computation():
    # Manually: 0.01 * 4, 0.02 * 3, 0.03 * 2, but at least the previous value.
    np.testing.assert_allclose(holm([0.03, 0.01, 0.9, 0.02]), [0.06, 0.04, 0.9, 0.06])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])


@pytest.mark.gate
def test_p_values_of_true_model_are_uniform():
    generator = np.random.default_rng(30)
    p_values, rejected = {}, 0
    for _ in range(DRAWS):
        curves = drives(generator, RUNS + 1, noise=0.1).astype(np.float32)
        judgement = isf.judge(TIME, curves[0], curves[1:])
        p_values.setdefault("envelope", []).append(judgement.envelope.p_value)
        for test in judgement.statistics:
            p_values.setdefault(test.name, []).append(test.p_value)
        rejected += judgement.rejected
    assert len(p_values) >= 7
    for name, values in p_values.items():
        # The p-values are uniform on a grid; the outermost steps are half as wide.
        step = np.minimum((1.0 if name == "envelope" else 2.0) / (RUNS + 1), values)
        places = np.array(values) - step * generator.uniform(size=DRAWS)
        # One of seven true hypotheses has a p-value below 0.01 in every fourteenth test.
        assert stats.kstest(places, "uniform").pvalue > 0.01 / len(p_values), name
    # After Holm's correction, at most 5 % of the drives reject a true model by any statistic.
    assert rejected / DRAWS < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / DRAWS)


@pytest.mark.parametrize(
    "observed, model, verdict",
    [
        ({"drift": 12.0, "bias": 0.02}, {}, "too little"),
        ({"drift": 0.002}, {}, "too much"),
        ({"drift": 0.002, "bias": 0.02}, {"bias": 0.3}, "too much"),
        ({"bias": -0.1}, {"bias": 0.1}, "other direction"),
        ({"noise": 2.0}, {"noise": 0.05}, "too little"),
        ({}, {}, "not rejected"),
    ],
)
def test_judgement_message_contains_test_result_and_number_of_drives(observed, model, verdict):
    ensemble = drives(np.random.default_rng(40), 999, **model)
    judgement = isf.judge(TIME, drives(np.random.default_rng(41), 1, **observed)[0], ensemble)
    assert judgement.verdict == verdict
    assert verdict in judgement.sentence and "of 999 simulated drives" in judgement.sentence
    assert judgement.rejected == (verdict != "not rejected")


def test_judgement_with_few_simulated_drives_recommends_more_drives():
    ensemble = np.outer(np.linspace(-1.0, 1.0, 1000), TIME)
    judgement = isf.judge(TIME, ensemble[998] + 1e-6 * TIME, ensemble)
    # One curve is more extreme on this side, and two are at least as extreme on the other side.
    assert judgement.envelope.as_extreme == 3
    assert "3 of 1000 simulated drives" in judgement.sentence
    test = judge_statistic("rms", 2.5, np.arange(1.0, 100.0))
    assert (test.tail, test.as_extreme, test.p_value) == (-1, 2, 0.06)
    assert judge_statistic("rms", 50.0, np.arange(1.0, 100.0)).p_value == 1.0
    curves = drives(np.random.default_rng(43), 41)
    few = isf.judge(TIME, 50.0 * curves[0], curves[1:])
    assert not few.rejected and "With 40 drives" in few.sentence


def test_judgement_with_enough_simulated_drives_does_not_recommend_more_drives():
    curves = drives(np.random.default_rng(44), 1000)
    enough = isf.judge(TIME, curves[0], curves[1:])
    assert not enough.rejected and "With 999 drives" not in enough.sentence


@pytest.mark.parametrize(
    "time, observed, ensemble, words",
    [
        (TIME, TIME[:-1], np.zeros((50, 120)), "119 samples at 120 times .* drive has 120"),
        (TIME, TIME, np.zeros((0, 120)), "at least one simulated drive"),
        (TIME[:1], TIME[:1], np.zeros((50, 1)), "1 sample is too short"),
        (TIME, TIME, np.full((50, 120), np.nan), "run 0 of the ensemble"),
        (TIME, np.full(120, np.inf), np.zeros((50, 120)), "nan or inf"),
        (-TIME, TIME, np.zeros((50, 120)), "times of the errors must increase"),
        (TIME, TIME, np.zeros((5, 120)), "5 simulated drives are too few"),
    ],
)
def test_judgement_rejects_mismatched_or_invalid_arrays(time, observed, ensemble, words):
    with pytest.raises(EnsembleError, match=words):
        isf.judge(time, observed, ensemble)


def test_calibration_of_true_model_is_uniform():
    generator = np.random.default_rng(7)
    model = drives(generator, 999)

    def found(count, **options):
        observed = drives(generator, count, **options)
        return several_drives.calibrations([isf.judge(TIME, drive, model) for drive in observed])

    # One of a thousand seeds is expected to yield a smaller p-value.
    assert min(holm([verdict.p_value for verdict in found(20)])) > 0.001
    twice = found(20, drift=3.0)
    assert all(verdict.p_value < 1e-4 for verdict in twice)
    assert "are not uniform" in several_drives.calibration_sentences(twice)[1]
    five = found(5, drift=0.1)
    assert five[0].inside == 5
    # If all five drives are inside the intervals, the lower limit p of the coverage solves
    # p^5 = 5 %.
    assert five[0].least == pytest.approx(0.05 ** (1 / 5))
    assert "these intervals contain at least 55 %" in several_drives.calibration_sentences(five)[0]
    # The critical value is from Massey (1951).
    assert several_drives.unseen_share(5) == pytest.approx(0.565, abs=0.003)
    assert "fewer than 4 drives" in several_drives.calibration_sentences(found(3))[1]


def test_drives_of_single_sensor_are_tested_jointly():
    random, count, time = np.random.default_rng(8), 5, TIME[:40]

    def drawn(runs, size=1.0, unit_share=0.0):
        # Each drive has new random walks, and all drives share a constant error of the sensor.
        constant = unit_share * random.standard_normal((runs, 1))
        walks = np.cumsum(random.standard_normal((count, runs, len(time))), axis=2)
        return size * walks + constant * np.sin(0.01 * time)

    def pooled(observed, ensembles, **options):
        judged = [isf.judge(time, drive[0], runs) for drive, runs in zip(observed, ensembles)]
        simulated = [curve_statistics(time, runs) for runs in ensembles]
        return several_drives.pooled_verdict(list("abcde"), judged, simulated, **options)

    model = drawn(999)
    for size, verdict in ((1.0, "not rejected"), (2.0, "too little"), (0.3, "too much")):
        observed = drawn(1, size)
        found = pooled(observed, model)
        assert found.verdict == verdict and found.rejected == (verdict != "not rejected")
        rms = next(test for test in found.tests if test.name == "rms")
        squares = np.mean(observed[:, 0] ** 2, axis=1) / np.mean(model**2, axis=(1, 2))
        assert rms.observed == pytest.approx(np.sqrt(np.mean(squares)))
        assert f"rms error {rms.observed:.2g}" in found.sentence
    # No single drive is rejected, because the runs are too few for so many tests.
    assert found.alone > 0.05 >= found.together
    apart = pooled(observed, model, one_unit=False)
    assert np.isnan(apart.together) and not apart.rejected and "together" not in apart.sentence
    # One of the five drives is rejected.
    model = drawn(2999)
    observed = drawn(1)
    observed[2] *= 20.0
    found = pooled(observed, model, one_unit=False)
    assert found.rejected and "c rejects this model: A" in found.sentence

    # An error shared by all drives is no more evidence against a model than a single drive.
    rejected = [pooled(drawn(1, 1.0, 30.0), drawn(299, 1.0, 30.0)).rejected for _ in range(40)]
    assert sum(rejected) <= stats.binom.ppf(0.999, 40, 0.05)


def test_evaluated_errors_start_at_zero_and_cover_only_observed_times():
    errors = zero_at_start(TIME, np.array([TIME + 5.0, TIME - 3.0], dtype=np.float32), 20.0)
    np.testing.assert_allclose(np.median(errors[:, :4], axis=1), 0.0, atol=1e-6)
    assert errors.dtype == np.float32
    observed = np.full(8, 3.0)
    observed[[0, 4]] = np.nan
    curves = np.arange(20.0).reshape(2, 10) ** 2
    known = [1, 2, 3, 5, 6, 7]
    time, error, ensemble = zero_where_known(np.arange(10.0), observed, curves)
    np.testing.assert_array_equal(time, known)
    np.testing.assert_array_equal(error, np.zeros(6))
    np.testing.assert_array_equal(ensemble, zero_at_start(time, curves[:, known]))


def test_zero_offset_of_ensemble_is_estimated_like_that_of_observed_error():
    time, random = np.arange(200.0), np.random.default_rng(1)
    std = np.where(time < 20.0, 0.3, 0.01)
    known = ReferenceError(time, std, 5.0, 0.0 * time, 0.0 * time)
    curves = known.draw(400, random)
    time, observed, ensemble = zero_where_known(time, curves[0] + 3.0, curves, known)
    # All curves have the same weights, which are small in the uncertain first 20 s.
    np.testing.assert_allclose(ensemble[0], observed, atol=1e-9)
    assert np.std(ensemble[:, -1]) < 0.02 < 0.1 < np.std(zero_at_start(time, curves)[:, -1])


def test_displayed_test_statistics_are_in_degrees():
    generator = np.random.default_rng(8)
    judged = isf.judge(TIME, drives(generator, 1)[0], drives(generator, RUNS))
    curve, *shown = shown_tests(judged)
    assert len(shown) == len(judged.statistics)
    assert (curve.p_value, curve.adjusted) == (judged.envelope.p_value, judged.adjusted)
    for row, test in zip(shown, judged.statistics):
        power = 2 if test.name.startswith("psd") else 1
        for name in ("observed", "median", "low", "high"):
            expected = getattr(test, name) * np.degrees(1.0) ** power
            assert getattr(row, name) == pytest.approx(expected)
        assert row.unit.startswith("deg²" if power == 2 else "deg")


def random_walks(generator, runs, samples):
    """Return random walks that are all zero at the start."""
    walks = np.cumsum(generator.normal(size=(runs, samples)), axis=1)
    return walks - walks[:, :1]


def define_envelope(observed, ensemble):
    """Return p-value and 95 % hull by the paper's definition, per curve and time."""
    curves = [list(observed), *map(list, ensemble)]
    count = len(curves)
    sorted_ranks = []
    for curve in curves:
        ranks = []
        for k, value in enumerate(curve):
            count_below = sum(other[k] < value for other in curves)
            equal = sum(other[k] == value for other in curves)
            from_below = count_below + (equal + 1) / 2
            ranks.append(min(from_below, count + 1 - from_below))
        sorted_ranks.append(sorted(ranks))
    # Rank lists are ordered by extreme rank length: by the first element that differs.
    measures = [sum(other < ranks for other in sorted_ranks) for ranks in sorted_ranks]
    p_value = sum(other <= sorted_ranks[0] for other in sorted_ranks) / count
    allowed = [m for m in measures if sum(other < m for other in measures) <= 0.05 * count]
    inside = [curve for curve, m in zip(curves, measures) if m >= max(allowed)]
    return p_value, np.min(inside, axis=0), np.max(inside, axis=0)


@pytest.mark.parametrize("steps", [None, 1.0], ids=["continuous", "many_ties"])
@pytest.mark.parametrize("seed", range(6))
def test_global_envelope_matches_its_definition(seed, steps):
    generator = np.random.default_rng(seed)
    curves = random_walks(generator, 60, 15)
    curves[0] *= 1.0 + 0.5 * seed
    if steps:
        curves = np.round(curves / steps) * steps
    found = global_envelope(curves[0], curves[1:])
    p_value, low, high = define_envelope(curves[0], curves[1:])
    assert found.p_value == pytest.approx(p_value, abs=1e-12)
    np.testing.assert_array_equal(found.low, low)
    np.testing.assert_array_equal(found.high, high)


def test_global_envelope_assigns_equal_ranks_to_identical_curves():
    found = global_envelope(np.zeros(30), np.zeros((40, 30)))
    assert found.p_value == 1.0
    assert found.as_extreme == 40
    curves = random_walks(np.random.default_rng(7), 19, 10)
    assert global_envelope(curves[0] + 100.0, curves).p_value == 0.05
    with pytest.raises(EnsembleError, match="18 simulated drives .* at least 19"):
        global_envelope(curves[0], curves[1:])
    # The curve is always within the pointwise bands, alternating between their two limits.
    curves = random_walks(np.random.default_rng(4), 999, 200)
    _, (band,) = pointwise_bands(curves, [0.9])
    observed = np.where(np.arange(200) % 2, band.high, band.low)
    assert global_envelope(observed, curves).p_value > 0.05


def test_judgement_is_identical_if_computed_in_blocks_or_in_single_precision(monkeypatch):
    curves = random_walks(np.random.default_rng(5), 300, 70).astype(np.float32)
    whole = global_envelope(curves[0], curves[1:])
    statistics = curve_statistics(np.arange(70.0), curves)
    median, bands = pointwise_bands(curves)
    monkeypatch.setattr(blocks, "BLOCK", 1000)
    parts = global_envelope(curves[0], curves[1:])
    assert parts.p_value == whole.p_value
    np.testing.assert_array_equal(parts.low, whole.low)
    np.testing.assert_array_equal(parts.high, whole.high)
    again, other_bands = pointwise_bands(curves)
    np.testing.assert_array_equal(again, median)
    np.testing.assert_allclose(median, np.median(curves, axis=0), rtol=1e-6)
    for band, other, level in zip(bands, other_bands, (0.5, 0.95, 0.99)):
        ends = np.quantile(curves, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        np.testing.assert_allclose([band.low, band.high], ends, rtol=1e-5)
        assert band.level == level and np.array_equal(band.low, other.low)
    for name, values in curve_statistics(np.arange(70.0), curves).items():
        np.testing.assert_allclose(values, statistics[name], rtol=1e-12)
    wide = global_envelope(curves[0].astype(float), curves[1:].astype(float))
    assert wide.p_value == whole.p_value


DATA = Path(__file__).resolve().parents[3] / "data"
SLOW = isf.HectorParameters(yaw_drift=1.118, yaw_drift_frequency=0.001)


@pytest.fixture(scope="module")
def recorded():
    """Return the yaw error of drive A's recorded IMU each second [rad]."""
    reference = isf.read_reference(DATA / "drive_a_gps.csv.gz").table["yaw"]
    imu = isf.read_imu(DATA / "drive_a_imu.csv.gz").table["yaw"]
    error = compare_yaw(imu, reference, ComparisonSettings()).error
    times = np.arange(661.0)
    values = np.interp(times, error.index - error.index[0], error)
    return times, zero_at_start(times, values)


@pytest.mark.parametrize(
    "imu, curve, too_little",
    [(isf.HectorParameters(), True, True), (SLOW, False, False)],
    ids=["hector", "hector_slow"],
)
def test_hector_settings_of_thesis_are_rejected_for_drive_a(recorded, imu, curve, too_little):
    times, observed = recorded
    model = isf.yaw_error_model(imu, isf.read_drive("a"))
    ensemble = zero_at_start(times, model.realisations(2000, 1))
    judgement = isf.judge(times, observed, ensemble)
    tests = {test.name: test for test in judgement.statistics}
    assert judgement.rejected
    # The error of hector_slow has the correct magnitude, but varies too much within a minute.
    assert (judgement.envelope.p_value <= 0.05) == curve
    assert (tests["rms"].p_value <= 0.05) == too_little
    wander = tests["psd 0.02 to 0.2 Hz"]
    assert (wander.tail, wander.as_extreme) == (-1, 0)
    assert judgement.verdict == ("too little" if too_little else "too much")
