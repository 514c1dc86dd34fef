"""Gyroscope zeroing at standstill, compared with closed-form equations and full simulations."""

import math
from dataclasses import replace

import numpy as np
import pytest
from earth_flights import require_same_motion
from scipy.stats import multivariate_normal

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.heading.improvements import better_part
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.sources import (
    AngleRandomWalk,
    RateGaussMarkov,
    YawNoise,
)
from imu_simulation_framework.heading.selection import which_imu
from imu_simulation_framework.sensors import Standstill
from imu_simulation_framework.sensors.conditions import TemperatureProfile, Vibration
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth, operated

RATE = 10.0
DEGREE = math.radians(1.0)
PLACES = [9, 16, -1]
"""Times [s] before, between and after the stops."""
TERMS = {
    "white noise": {"white_noise": 0.3 * DEGREE / 60.0},
    "flicker": {"bias_instability": 20 * DEGREE / 3600, "bias_instability_band": (0.1, 1e3)},
    "walk": {"random_walk": 2e-6},
    "Gauss-Markov": {"gauss_markov_sigma": 20 * DEGREE / 3600, "gauss_markov_time": 60.0},
    "offset": {"turn_on_bias_sigma": DEGREE, "white_noise": 1e-5},
    "quantisation": {"quantisation": 2e-4},
    "temperature": {"temperature_bias": (0.0, 0.0, 1e-4), "white_noise": 1e-5},
    "response": {
        "scale_factor_and_misalignment": np.diag([0.02] * 3).tolist(),
        "g_sensitivity": [[0.0] * 3, [0.0] * 3, [2e-4] * 3],
        "white_noise": 1e-5,
    },
}


def operations(stops):
    """Return isf.Operation objects by name; two of them zero the gyroscope at the stops."""
    return {
        "zeroed": isf.Operation(standstill=5.0),
        "stops": isf.Operation(standstill=5.0, stops=stops),
        "stops alone": isf.Operation(standstill=0.0, stops=stops),
        "warm": isf.Operation(standstill=2.0, warm_up=30.0),
    }


LONG_OPERATIONS = operations("every 20s for 3s")
SHORT_OPERATIONS = operations("every 10s for 2s")


def specification(**gyroscope):
    return isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(**gyroscope),
        temperature=TemperatureProfile(start=20.0, end=40.0, time_constant=20.0),
        output=isf.OutputSpecification(rate=RATE),
    )


def errors_of_runs(imu, motion, operation, runs, seed=11):
    """Return yaw errors (runs, samples) of the complete sensor with its filter."""
    model = imu_model(operated(imu, operation, motion), motion.period, seed)
    yaw = model.batch(imu_truth(motion, speed=True), runs, parts=("yaw",)).yaw
    return np.unwrap(motion.yaw - yaw, axis=1)


DISTINCT = ("walk", "offset", "quantisation", "temperature")
"""Sensor errors that gyroscope zeroing affects differently; others behave like one of these."""
RUNS = 600
QUICK_CASES = [(term, "stops") for term in DISTINCT]
GATE_CASES = [
    ("walk", "zeroed"),
    ("offset", "zeroed"),
    ("offset", "stops alone"),
    ("quantisation", "stops alone"),
    ("walk", "warm"),
    ("temperature", "warm"),
]
"""Each operation except ``stops``, with two sensor errors."""
OTHER_CASES = [
    *((term, "stops") for term in TERMS if term not in DISTINCT),
    *((term, name) for term in DISTINCT for name in ("zeroed", "stops alone", "warm")),
]
THOROUGH_CASES = [case for case in OTHER_CASES if case not in GATE_CASES]


@pytest.mark.parametrize(
    "term, name",
    [
        *QUICK_CASES,
        *(pytest.param(*case, marks=pytest.mark.gate) for case in GATE_CASES),
        *(pytest.param(*case, marks=pytest.mark.thorough) for case in THOROUGH_CASES),
    ],
)
def test_operation_model_matches_mean_and_deviation_of_full_simulations(term, name):
    operation = SHORT_OPERATIONS[name]
    motion = operation.insert_stops(isf.rounds(1, radius=2.5, speed=0.6, rate=RATE))
    imu = specification(**TERMS[term])
    model = isf.yaw_error_model(imu, motion, operation=operation)
    assert len(model.standstills) == (3 if "stops" in name else 0)
    errors = errors_of_runs(imu, motion, operation, RUNS)[:, :: int(RATE)][:, PLACES]
    bands = model.bands().iloc[PLACES]
    standard_error = bands["std"].to_numpy() / math.sqrt(RUNS)
    assert np.all(np.abs(errors.mean(axis=0) - bands["mean"]) < 4.5 * standard_error + 1e-9)
    expected, rel = bands["std"].to_numpy(), 4.5 / math.sqrt(2 * RUNS)
    assert np.std(errors, axis=0) == pytest.approx(expected, rel=rel, abs=1e-7)


@pytest.mark.parametrize("operation", LONG_OPERATIONS.values(), ids=LONG_OPERATIONS)
@pytest.mark.parametrize("term", ["response", "temperature"])
def test_operation_model_mean_matches_noise_free_run_of_tilted_filter(term, operation):
    motion = operation.insert_stops(isf.rounds(3, radius=2.5, speed=0.6, rate=RATE))
    imu = specification(**{**TERMS[term], "white_noise": 0.0})
    mean = isf.yaw_error_model(imu, motion, 1.0 / RATE, operation=operation).mean()
    error = errors_of_runs(imu, motion, operation, 1)[0]
    # The filter's tilt error affects a bias that is estimated at a stop only in third order.
    np.testing.assert_allclose(mean, error[: len(mean)], atol=5e-7)


def zeroed_model(source, stops=(), standstill=10.0, end=100, period=None):
    time = np.arange(end + 1.0)
    return YawErrorModel(time, (source,), period, standstill=standstill, standstills=stops)


def test_noise_variance_after_standstill_matches_closed_form():
    variance = zeroed_model(AngleRandomWalk("noise", 2e-4)).variance()
    time = np.arange(101.0)
    assert variance == pytest.approx(4e-8 * (time + time**2 / 10.0), rel=1e-9)
    model = zeroed_model(RateGaussMarkov("bias", 1e-2, 1e9))
    free = zeroed_model(RateGaussMarkov("bias", 1e-2, 1e9), standstill=0.0)
    assert free.variance()[-1] == pytest.approx(1.0, rel=1e-6)
    assert math.sqrt(model.variance()[-1]) < 1e-3


def test_gauss_markov_bias_variance_after_standstill_matches_integration():
    sigma, constant, standstill, end = 1e-3, 40.0, 20.0, 60.0
    step = 0.05
    before, after = np.arange(-standstill, 0.0, step), np.arange(0.0, end, step)
    times = np.concatenate([before, after]) + 0.5 * step
    weights = np.where(times < 0.0, end / standstill, -1.0) * step
    covariance = sigma**2 * np.exp(-np.abs(np.subtract.outer(times, times)) / constant)
    bias = RateGaussMarkov("bias", sigma, constant)
    model = zeroed_model(bias, standstill=standstill, end=int(end))
    assert model.variance()[-1] == pytest.approx(weights @ covariance @ weights, rel=2e-3)


@pytest.mark.parametrize(
    "source", [AngleRandomWalk("a", 1e-3), RateGaussMarkov("b", 1e-3, 30.0)], ids=["walk", "bias"]
)
def test_variances_covariances_and_realisations_with_stops_are_consistent(source):
    stops = (Standstill(20.0, 22.0, 30.0), Standstill(60.0, 60.0, 63.0))
    model = zeroed_model(source, stops, period=0.1)
    covariance = model.covariance()
    assert model.variance() == pytest.approx(np.diag(covariance), rel=1e-9, abs=1e-18)
    assert model.budget().sum(axis=1).to_numpy() == pytest.approx(model.variance(), rel=1e-9)
    drawn = model.realisations(4000, seed=3)
    scatter = np.var(drawn[:, 1:], axis=0)
    assert scatter == pytest.approx(model.variance()[1:], rel=5.0 * math.sqrt(2 / 4000))
    # The heading is constant while the robot is stationary, for any gyroscope readings.
    assert np.all(drawn[:, 22:31] == drawn[:, 22:23])
    correlation = np.corrcoef(drawn[:, 40], drawn[:, 90])[0, 1]
    expected = covariance[40, 90] / math.sqrt(covariance[40, 40] * covariance[90, 90])
    assert correlation == pytest.approx(expected, abs=5.0 / math.sqrt(4000))


def test_likelihood_with_stops_matches_normal_density():
    model = zeroed_model(AngleRandomWalk("a", 1e-3), (Standstill(20.0, 20.0, 25.0),), end=40)
    model = replace(model, sources=(*model.sources, YawNoise("reference", 1e-3)))
    observed = model.realisations(1, seed=5)[0]
    observed[7] = np.nan
    is_finite = np.isfinite(observed)
    covariance = model.covariance()[np.ix_(is_finite, is_finite)]
    expected = multivariate_normal(cov=covariance).logpdf(observed[is_finite])
    likelihood = model.likelihood(observed)
    assert likelihood.log_likelihood == pytest.approx(expected, rel=1e-9)
    assert np.isnan(likelihood.innovations[7])


def test_zeroing_at_standstill_removes_earth_rate():
    motion = isf.straight(600.0, rate=RATE)
    imu = specification(white_noise=1e-6)
    north = isf.on_earth(motion, 50.0)
    free = isf.yaw_error_model(imu, north).mean()[-1]
    assert math.degrees(free) == pytest.approx(-1.92, abs=0.01)
    operation = isf.Operation()
    zeroed = isf.yaw_error_model(imu, north, operation=operation).mean()[-1]
    assert abs(math.degrees(zeroed)) < 0.01
    sample = isf.simulate_imu(motion, imu, latitude=50.0, operation=operation)
    assert abs(math.degrees(isf.yaw_error(sample, motion).iloc[-1])) < 0.02


@pytest.mark.parametrize("chunk", [1, 7, 400])
@pytest.mark.parametrize("stops", ["every 12s for 2s", "every 12s for 2s, detected"])
def test_output_of_zeroed_gyroscope_is_identical_in_steps_and_batches(stops, chunk):
    operation = isf.Operation(standstill=4.0, stops=stops)
    motion = operation.insert_stops(isf.rounds(1, radius=2.5, speed=0.6, rate=RATE))
    errors = operated(specification(white_noise=1e-4, turn_on_bias_sigma=1e-2), operation, motion)
    truth = imu_truth(motion, speed=True)
    whole = imu_model(errors, motion.period, 3).batch(truth, parts=("yaw", "angular_velocity"))
    model = imu_model(errors, motion.period, 3)
    samples = list(truth.samples())
    parts = []
    for first in range(0, len(samples), chunk):
        some = ImuTruth(
            *(None if signal is None else signal[first : first + chunk] for signal in truth)
        )
        reading = model.steps(some)[0] if chunk > 1 else model.step(samples[first])
        parts.append(np.atleast_2d(reading.angular_velocity))
    np.testing.assert_array_equal(np.vstack(parts), whole.angular_velocity[0])


def test_stops_of_vibrating_robot_are_detected():
    operation = isf.Operation(standstill=4.0, stops="every 15s for 3s, detected")
    motion = operation.insert_stops(isf.straight(60.0, rate=100.0))
    imu = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(white_noise=1e-4),
        accelerometer=isf.TriadSpecification(white_noise=1e-3),
        vibration=Vibration(spectrum=((5.0, 0.05), (40.0, 0.05))),
    )
    model = isf.yaw_error_model(imu, motion, 0.5, operation=operation)
    # Exactly the standstills are detected, delayed by the window of 1 s.
    assert [stop.end for stop in model.standstills] == pytest.approx([18, 33, 48, 63, 78], abs=0.5)
    assert all(stop.held_from >= stop.start + 0.5 for stop in model.standstills)


@pytest.mark.parametrize(
    "stops, period", [("every 2min for 3s", 3.0), ("every 70s for 4s", 2.0), ("found", 0.5)]
)
def test_ranking_time_steps_resolve_stops(stops, period):
    # The default step, a sixtieth of ten minutes, is longer than any of the stops.
    scheduled, operation = isf.Operation(stops="every 2min for 3s"), isf.Operation(stops=stops)
    driven = isf.straight(600.0, rate=20.0)
    motion = scheduled.insert_stops(driven) if stops == "found" else driven
    motion_with_stops = operation.insert_stops(motion)
    imu = isf.read_imu_specification("bno055")
    rows = which_imu({"bno055": imu}, motion, 0.1, 600.0, operation, sample=0.01, runs=32)
    model = isf.yaw_error_model(imu, motion_with_stops, period, sample=0.01, operation=operation)
    model = model.until(round(600.0 / period) + 1)
    begun = [stop for stop in model.standstills if stop.start <= 600.0]
    assert len(begun) == 600 // (70 if "70s" in stops else 120)
    expected = model.absolute_quantile(0.95)
    # Without stops, the error is 50 % larger.
    free = isf.yaw_error_model(imu, driven, 10.0, sample=0.01, operation=isf.Operation())
    assert rows["required_percentile"].iloc[0] == pytest.approx(expected, rel=0.02)
    assert free.until(61).absolute_quantile(0.95) > 1.3 * expected


def test_stops_contained_in_motion_are_detected():
    motion = isf.Operation(stops="every 30s for 4s").insert_stops(isf.straight(100.0))
    assert motion.duration == pytest.approx(100.0 + 3 * 5.0, abs=0.5)
    assert motion.position[-1, 0] == pytest.approx(100.0, abs=0.05)
    stops = isf.Operation(stops="found").standstills(motion)
    found = [(stop.start, stop.end) for stop in stops]
    np.testing.assert_allclose(found, [(30.0, 34.0), (60.0, 64.0), (90.0, 94.0)], atol=0.11)
    # Velocity must be the derivative of position, and acceleration the derivative of velocity.
    step = motion.period
    velocity, force = (np.gradient(x[:, 0], step) for x in (motion.position, motion.velocity))
    np.testing.assert_allclose(velocity[1:-1], motion.velocity[1:-1, 0], atol=0.02)
    np.testing.assert_allclose(force, motion.specific_force[:, 0], atol=0.08)


@pytest.mark.parametrize("driven", [isf.straight(80.0, rate=RATE), isf.rounds(3, radius=4.0)])
def test_stop_removes_earth_rate_from_heading(driven):
    operation = isf.Operation(standstill=0.0, stops="every 30s for 4s")
    motion = operation.insert_stops(isf.on_earth(driven.resampled(RATE), 50.0))
    # The gyroscope measures the Earth's rate about the vertical until the first stop has lasted for
    # min_stop. Then the heading is held, and the mean rate of the stop is subtracted. East turns
    # against the ground by the transport rate (Groves, equation 5.44).
    vertical_rate = 2.0 * np.pi / 86164.1 * np.sin(np.radians(50.0))
    transport_rate = motion.local_velocity[:, 0] * np.tan(np.radians(50.0)) / 6.39e6
    expected, offset, samples = np.zeros(len(motion)), 0.0, []
    for index in range(1, len(motion)):
        time = index / RATE
        is_stopped = time >= 30.0 and time % 30.0 <= 4.0
        samples = [*samples, vertical_rate] if is_stopped else []
        is_held = len(samples) > RATE
        offset = np.mean(samples) if is_held else offset
        rate = vertical_rate + transport_rate[index] - offset
        step = 0.0 if is_held else rate / RATE
        expected[index] = expected[index - 1] + step
    imu = isf.ImuSpecification(output=isf.OutputSpecification(rate=RATE))
    model = isf.yaw_error_model(imu, motion, 1.0, operation=operation)
    modelled = model.mean_by_source()["Earth's turning"].to_numpy()
    # The error without the Earth's rotation is that of the filter's tilt in curves.
    simulated, tilt = (
        errors_of_runs(imu, motion_with_stops, operation, 1)[0]
        for motion_with_stops in (motion, operation.insert_stops(driven.resampled(RATE)))
    )
    tolerance = vertical_rate * 2.0 / RATE  # two samples
    np.testing.assert_allclose(-modelled, expected[:: int(RATE)], atol=tolerance)
    # On the circle, the filter is tilted by 1 / 4 / 9.81 rad against the horizontal part of the
    # Earth's rate, whose integral over half a circle is at most twice the radius over the speed.
    tolerance += 2.0 * 4.0 * (0.25 / 9.81) * vertical_rate / np.tan(np.radians(50.0))
    np.testing.assert_allclose(tilt - simulated, expected, atol=tolerance)


@pytest.mark.parametrize("driven", [isf.mowing(4, 20.0, 2.0), isf.rounds(2, radius=3.0)])
def test_stops_on_earth_are_those_of_flat_world(driven):
    operation = isf.Operation(stops="every 20s for 3s")
    motion = operation.insert_stops(isf.on_earth(driven, 50.0))
    expected = isf.on_earth(operation.insert_stops(driven), 50.0)
    assert operation.standstills(motion) == operation.standstills(expected)
    tolerances = {"position": 1e-8, "velocity": 1e-12, "angular_velocity": 1e-12}
    require_same_motion(motion, expected, **tolerances, orientation=1e-12, specific_force=1e-10)


def test_stops_in_flight_are_rejected():
    with pytest.raises(MotionError, match="flight"):
        isf.Operation(stops="every 20s for 3s").insert_stops(isf.circling(60.0, 50.0))


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"standstill": -1.0}, "standstill"),
        ({"standstill": math.nan}, "standstill"),
        ({"stops": "sometimes"}, "every 2min for 3s"),
        ({"stops": "every 0s for 3s"}, "every 2min for 3s"),
        ({"stops": "detected", "standstill": 0.0}, "standstill is 0 s"),
        ({"stops": "detected", "standstill": 0.5}, "min_stop, 1 s"),
    ],
)
def test_invalid_operation_settings_are_rejected(settings, words):
    with pytest.raises(ConfigurationError, match=words):
        isf.Operation(**settings)


def test_operation_without_driving_time_or_with_plugin_is_rejected():
    with pytest.raises(MotionError, match="leave no time to drive"):
        isf.Operation(stops="every 4s for 3s").insert_stops(isf.straight(10.0))
    with pytest.raises(ConfigurationError, match="operation is set for HectorParameters"):
        isf.simulate_imu(isf.straight(10.0), "hector", operation=isf.Operation())


def test_suggested_part_is_least_precise_within_limit_or_most_precise():
    parts = {
        f"noise {times}": specification(white_noise=times * 1e-4) for times in (1.0, 4.0, 16.0)
    }
    operation = isf.Operation(standstill=10.0)
    motion = isf.straight(100.0, rate=RATE)
    # White noise after a standstill has a variance of N^2 (t + t^2 / T); 1.96 sigma contains 95 %.
    size = 1.96e-4 * math.sqrt(100.0 + 100.0**2 / 10.0)
    for limit, times in ((5.0 * size, 4.0), (0.5 * size, 1.0), (100.0 * size, 16.0)):
        part = better_part(parts, motion, limit, 100.0, operation)
        assert (part.action, part.is_part) == (f"another part, noise {times},", True)
        assert part.percentile_95 == pytest.approx(times * size, rel=5e-3)


def test_deprecated_moved_warns_and_inserts_stops():
    operation, motion = isf.Operation(stops="every 30s for 4s"), isf.straight(100.0)
    with pytest.warns(DeprecationWarning, match="insert_stops"):
        moved = operation.moved(motion)
    assert moved.duration == operation.insert_stops(motion).duration


@pytest.mark.parametrize(
    ("former", "name"), [("nearly_all", "required_percentile"), ("stays", "probability_within")]
)
def test_deprecated_column_of_ranking_warns_and_returns_new_column(former, name):
    imus = {"part": isf.read_part("stim300").any_unit()}
    table = which_imu(imus, isf.straight(60.0), 0.1, 60.0, runs=100)
    with pytest.warns(DeprecationWarning, match=name):
        assert table[former].equals(table[name])
