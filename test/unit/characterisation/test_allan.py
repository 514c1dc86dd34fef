import functools
import zlib
from dataclasses import replace

import numpy as np
import pytest

from imu_simulation_framework.characterisation.allan import model
from imu_simulation_framework.characterisation.allan.analysis import AXES, identify
from imu_simulation_framework.characterisation.allan.fit import fit_terms
from imu_simulation_framework.characterisation.samples_at_rest import prepare_at_rest
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.files import imu_catalogue
from imu_simulation_framework.sensors.noise.processes import BiasInstability
from imu_simulation_framework.sensors.simulation import record_at_rest

RATE = 100.0
BAND = (0.1, 1e4)
WHITE = 1e-4


def recording(generator, hours, walk=0.0, ramp=0.0, instability=0.0, quantisation=0.0, axes=AXES):
    """Simulate a recording with white noise N = 1e-4 and other noise terms, equal on all axes."""
    length = round(hours * 3600.0 * RATE)
    values = WHITE * np.sqrt(RATE) * generator.standard_normal((length, 6))
    if walk:
        values += np.cumsum(walk / np.sqrt(RATE) * generator.standard_normal((length, 6)), axis=0)
    if instability:
        for triad in (slice(0, 3), slice(3, 6)):
            process = BiasInstability(instability, BAND, 1.0 / RATE, generator)
            values[:, triad] += process.batch(length, 1)[0]
    if quantisation:
        values += np.diff(quantisation * generator.standard_normal((length + 1, 6)), axis=0) * RATE
    times = np.arange(length) / RATE
    values = values[:, [AXES.index(axis) for axis in axes]]
    return prepare_at_rest(times, values + ramp * times[:, None], axes, "made")


def test_only_white_noise_is_identified_in_recording_of_white_noise():
    hours = 0.5
    axes = ("gyro_x", "accel_x")
    result = identify([recording(np.random.default_rng(11), hours, axes=axes)])
    for axis in result.axes.values():
        for term in model.TERMS:
            estimate = axis.fit.terms[term]
            assert estimate.identified == (term == "white_noise"), term
            assert estimate.low <= (WHITE if term == "white_noise" else 0.0) <= estimate.high
        assert set(axis.needed) == set(model.TERMS) - {"white_noise"}
        for needed in axis.needed.values():
            assert needed.duration > hours * 3600.0
            assert needed.value > 0.0
    made = recording(np.random.default_rng(11), 0.1, axes=axes)
    assert identify([made], list(BAND)).band == BAND
    with pytest.raises(ConfigurationError, match="band is 10 s to 1 s"):
        identify([made], (10.0, 1.0))


def test_outlier_removal_does_not_bias_white_noise_estimate():
    result = identify([recording(np.random.default_rng(1), 0.5)])
    estimates = [axis.fit.terms["white_noise"] for axis in result.axes.values()]
    widths = np.array([estimate.high - estimate.low for estimate in estimates]) / WHITE
    errors = np.array([estimate.value for estimate in estimates]) / WHITE - 1.0
    assert all(estimate.low <= estimate.value <= estimate.high for estimate in estimates)
    # An interval is about four standard errors wide; a bias of 0.25 % is tolerated.
    assert np.all(np.abs(errors) < 0.0025 + widths)
    assert abs(np.mean(errors)) < 0.0025 + np.mean(widths) / np.sqrt(len(errors))


@pytest.mark.gate
def test_true_noise_terms_are_within_confidence_intervals():
    truth = dict(zip(model.TERMS, (2e-6, WHITE, 1e-4, 4e-5, 2e-6)))
    made = recording(
        np.random.default_rng(5), 1.0, walk=4e-5, ramp=-2e-6, instability=1e-4, quantisation=2e-6
    )
    result = identify([made])
    held, identified = dict.fromkeys(model.TERMS, 0), dict.fromkeys(model.TERMS, 0)
    for axis in result.axes.values():
        for term in model.TERMS:
            estimate = axis.fit.terms[term]
            held[term] += estimate.low <= truth[term] <= estimate.high
            identified[term] += estimate.identified
        if axis.fit.terms["rate_ramp"].identified:
            assert axis.signed_coefficient("rate_ramp") < 0.0
    # Fewer than four of six 95 % intervals contain the true value in 0.2 % of all cases.
    assert all(count >= 4 for count in held.values()), held
    assert identified["quantisation"] == identified["white_noise"] == 6
    # A Gauss-Markov process fits equally well in 10 % of records, so a term is identified on fewer
    # than four of six axes in 2 % of all cases.
    assert identified["bias_instability"] >= 4
    assert identified["random_walk"] >= 4


@pytest.mark.gate
def test_joint_fit_of_recordings_has_narrower_intervals_than_single_fits():
    generator = np.random.default_rng(7)
    recordings = [recording(generator, 0.5, walk=3e-5, axes=("gyro_x",)) for _ in range(3)]
    together = identify(recordings)
    for axis in together.axes.values():
        estimate = axis.fit.terms["random_walk"]
        assert len(axis.single_fits) == 3
        width = np.log(estimate.high / estimate.low)
        for single in axis.single_fits:
            alone = single.terms["random_walk"]
            assert width < np.log(alone.high / max(alone.low, 1e-12))
        values = [single.terms["random_walk"].value for single in axis.single_fits]
        assert min(values) <= estimate.value <= max(values)


def test_specification_contains_identified_noise_terms():
    result = identify([recording(np.random.default_rng(9), 0.5, walk=3e-5)])
    specification = result.to_specification("made")
    assert specification.output.rate == RATE
    assert specification.gyroscope.white_noise == pytest.approx((WHITE,) * 3, rel=0.01)
    assert all(value > 0.0 for value in specification.accelerometer.random_walk)
    assert specification.gyroscope.quantisation == (0.0, 0.0, 0.0)
    limited = identify([recording(np.random.default_rng(9), 0.1, axes=AXES[:3])])
    assert limited.to_specification("made").gyroscope.random_walk == (0.0, 0.0, 0.0)
    walk = limited.to_specification("made", walk_limit=True).gyroscope.random_walk
    assert min(walk) > 0.0


def test_spectral_line_or_missing_axis_does_not_affect_other_axes():
    made = recording(np.random.default_rng(8), 0.5, axes=("gyro_x", "gyro_y"))
    made.values[0] += 1e-3 * np.sin(2.0 * np.pi * 0.5 * np.arange(made.values.shape[1]) / RATE)
    result = identify([made])
    assert len(result.axes["gyro_x"].lines[0]) == 1
    assert result.axes["gyro_y"].lines == ((),)
    for axis in ("gyro_x", "gyro_y"):
        estimate = result.axes[axis].fit.terms["white_noise"]
        assert abs(estimate.value / WHITE - 1.0) < (estimate.high - estimate.low) / WHITE
    noise = np.random.default_rng(12).standard_normal((60_000, 1))
    made = prepare_at_rest(np.arange(60_000) / RATE, noise, ("gyro_z",), "made")
    result = identify([made])
    assert result.sensors == {"gyroscope": ("gyro_z",)}
    specification = result.to_specification("made", walk_limit=True)
    assert specification.gyroscope.white_noise == pytest.approx((0.0, 0.0, 0.1), rel=0.02)
    assert specification.gyroscope.random_walk[:2] == (0.0, 0.0)
    assert specification.gyroscope.random_walk[2] > 0.0
    assert specification.accelerometer.white_noise == (0.0, 0.0, 0.0)


def test_confidence_intervals_scale_with_unit_of_data():
    factors = np.unique(np.geomspace(1, 20_000, 30).astype(int))
    shapes = model.allan_variance_of_terms(factors, 1.0, BAND)
    covariance = model.allan_covariance(factors, [100_000], 1.0, BAND)
    expected = shapes @ np.array([0.04, 1.0, 0.0, 1e-6, 0.0])
    noise = np.random.default_rng(10).standard_normal(len(factors))
    scatter = np.linalg.cholesky(covariance.evaluate([0.04, 1.0, 0.0, 1e-6, 0.0]))
    variances = expected + scatter @ noise
    large = fit_terms(variances, shapes, covariance.evaluate)
    small = fit_terms(variances * 1e-16, shapes, covariance.evaluate)
    for term in model.TERMS:
        large_estimate, small_estimate = large.terms[term], small.terms[term]
        assert large_estimate.identified == small_estimate.identified
        for name in ("value", "low", "high"):
            expected = getattr(large_estimate, name) * 1e-8
            assert getattr(small_estimate, name) == pytest.approx(expected, rel=1e-4, abs=1e-20)


IMUS = {entry.specification.name: entry.specification for entry in imu_catalogue()}
SLOW = 50.0
SAMPLES = 45_000
IDENTIFIED_AXES = ("gyro_z", "accel_z")
"""Axes whose noise terms are identified in the tests of the catalogue."""


@functools.lru_cache(maxsize=None)
def recorded(name):
    """Simulate a stationary IMU of the catalogue, with a seed that depends on its name."""
    specification = IMUS[name]
    # The orientation is not used.
    output = replace(specification.output, orientation_reference="truth")
    blocks = record_at_rest(
        replace(specification, output=output), SAMPLES, SLOW, zlib.crc32(name.encode())
    )
    times, _, rate, force = (np.concatenate(values) for values in zip(*blocks))
    return times, np.hstack([rate, force])


def specified_terms(name):
    """Return the noise terms of all six axes, with rounding included in the white noise."""
    triads = (IMUS[name].gyroscope, IMUS[name].accelerometer)
    terms = {term: np.hstack([getattr(triad, term) for triad in triads]) for term in model.TERMS}
    steps = np.hstack([triad.resolution for triad in triads])
    terms["white_noise"] = np.sqrt(terms["white_noise"] ** 2 + steps**2 / 12.0 / SLOW)
    return terms


@pytest.mark.parametrize("name", sorted(IMUS))
def test_allan_variance_of_simulated_imu_matches_its_specification(name):
    # At averaging times of up to a thirtieth of the recording, an estimate has about fifty or more
    # degrees of freedom and is nearly normally distributed.
    factors = np.unique(np.geomspace(1, SAMPLES // 30, 12).astype(int))
    terms, values = specified_terms(name), recorded(name)[1]
    for index, axis in enumerate(AXES):
        triad = IMUS[name].gyroscope if index < 3 else IMUS[name].accelerometer
        squares = np.array([terms[term][index] for term in model.TERMS]) ** 2
        band = triad.bias_instability_band
        covariance = model.allan_covariance(factors, [SAMPLES], 1.0 / SLOW, band).evaluate(squares)
        shapes = model.allan_variance_of_terms(factors / SLOW, 1.0 / SLOW, band)
        found = model.overlapping_allan_variance([values[:, index]], SLOW, factors)
        off = (found - shapes @ squares) / np.sqrt(np.diag(covariance))
        # None of about a thousand normal random numbers deviates by more than 5 sigma.
        assert np.max(np.abs(off)) < 5.0, axis


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(sorted(IMUS)[::3], marks=pytest.mark.gate, id="every third"),
        pytest.param(sorted(IMUS), marks=pytest.mark.thorough, id="all"),
    ],
)
def test_specified_noise_terms_of_catalogue_imus_are_within_confidence_intervals(names):
    held = {term: [] for term in model.TERMS}
    columns = [AXES.index(axis) for axis in IDENTIFIED_AXES]
    for name in names:
        times, values = recorded(name)
        truth = specified_terms(name)
        result = identify([prepare_at_rest(times, values[:, columns], IDENTIFIED_AXES, name)])
        for axis, column in zip(IDENTIFIED_AXES, columns):
            estimates = result.axes[axis].fit.terms
            for term in model.TERMS:
                value = truth[term][column]
                held[term].append(estimates[term].low <= value <= estimates[term].high)
            assert estimates["white_noise"].identified, (name, axis)
            noise = truth["white_noise"][column]
            assert estimates["white_noise"].value == pytest.approx(noise, rel=0.05), (name, axis)
    for term, holds in held.items():
        standard_error = np.sqrt(0.95 * 0.05 / len(holds))
        assert np.mean(holds) > 0.95 - 3.0 * standard_error, (term, np.mean(holds))
