"""Linear model of the position error, compared with formulas and simulated dead reckoning."""

import dataclasses
import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.position.model import PositionFix, StartUncertainty
from imu_simulation_framework.heading.position.prediction import (
    DeadReckoning,
    position_error_model,
)
from imu_simulation_framework.heading.position.radial import (
    distance_quantile,
    probability_within_distance,
)
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth, operated

RUNS = 400
SPEED, DURATION = 1.5, 600.0


def gyroscope(**errors):
    return isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(**{name: (0.0, 0.0, e) for name, e in errors.items()})
    )


def final_std(model):
    return np.sqrt(np.diag(model.covariance()[-1]))


@pytest.fixture(scope="module")
def straight():
    return isf.straight(DURATION, SPEED, rate=10.0)


def test_constant_rate_bias_shifts_straight_drive_across_track(straight):
    bias = 1e-5
    model = position_error_model(gyroscope(turn_on_bias=bias), straight)
    expected = bias * SPEED * model.time**2 / 2.0
    np.testing.assert_allclose(-model.mean()[:, 1], expected, rtol=1e-9)
    np.testing.assert_array_equal(model.mean()[:, 0], 0.0)


def test_angle_random_walk_matches_closed_form_across_track(straight):
    density = 1e-4
    model = position_error_model(gyroscope(white_noise=density), straight)
    expected = density * SPEED * np.sqrt(model.time**3 / 3.0)
    across = np.sqrt(model.component("across").variance())
    np.testing.assert_allclose(across, expected, rtol=1e-9)


def test_wheel_scale_error_is_proportional_to_displacement(straight):
    scale = 0.01
    wheels = isf.OdometerSpecification(scale_sigma=scale)
    model = position_error_model(gyroscope(), straight, DeadReckoning(wheels))
    np.testing.assert_allclose(final_std(model), [scale * SPEED * DURATION, 0.0], atol=1e-9)

    circle = isf.rounds(1, 5.0, SPEED, rate=100.0)
    model = position_error_model(gyroscope(), circle, DeadReckoning(wheels), circle.duration / 200)
    # The error grows and vanishes again, since the displacement is zero after a whole circle.
    assert np.max(model.covariance()[:, 0, 0]) > (scale * 4.9) ** 2
    displacement = np.linalg.norm(circle.position[-1] - circle.position[0])
    assert displacement < 0.01
    np.testing.assert_allclose(final_std(model), 0.0, atol=scale * displacement + 1e-9)


def test_heading_error_at_corner_is_multiplied_by_distance_after_it():
    time = np.arange(0.0, 40.1, 0.1)
    yaw = np.where(time < 20.0, 0.0, 0.5 * np.pi)
    position = np.column_stack([np.minimum(time, 20.0), np.maximum(time - 20.0, 0.0), 0.0 * time])
    orientation = np.column_stack([0 * yaw, 0 * yaw, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])
    velocity = np.column_stack([np.cos(yaw), np.sin(yaw), 0.0 * yaw])
    still = np.zeros((len(time), 3))
    force = np.tile([0.0, 0.0, 9.8], (len(time), 1))
    motion = isf.Motion(time, position, orientation, velocity, still, force, 9.8)
    scale = 0.01
    imu = gyroscope()
    wheels = isf.OdometerSpecification(track_ratio_sigma=scale)
    model = position_error_model(None, motion, DeadReckoning(wheels))
    # The odometer's track error rotates the second leg of 20 m about the corner.
    expected = scale * 0.5 * math.pi * 20.0
    assert final_std(model)[0] == pytest.approx(expected, rel=0.02)  # half a step at the corner
    assert np.all(final_std(position_error_model(imu, motion)) == 0.0)


def test_start_uncertainty_adds_heading_times_distance(straight):
    reckoning = DeadReckoning(start=StartUncertainty(position=0.2, heading=0.01))
    model = position_error_model(gyroscope(), straight, reckoning)
    length = SPEED * DURATION
    np.testing.assert_allclose(final_std(model), [0.2, math.hypot(0.2, 0.01 * length)], rtol=1e-9)


def test_single_fix_reduces_variance_as_in_kalman_update(straight):
    fix = PositionFix(300.0, 0.05)
    reckoning = DeadReckoning(start=StartUncertainty(position=0.2), fixes=(fix,))
    model = position_error_model(gyroscope(), straight, reckoning)
    variance = model.covariance()[:, 0, 0]
    np.testing.assert_allclose(variance[model.time < 300.0], 0.2**2, rtol=1e-9)
    fused = 1.0 / (1.0 / 0.2**2 + 1.0 / 0.05**2)
    np.testing.assert_allclose(variance[model.time >= 300.0], fused, rtol=1e-9)


def test_two_fixes_at_same_time_equal_one_more_accurate_fix(straight):
    start = StartUncertainty(position=0.2)
    pair = DeadReckoning(start=start, fixes=(PositionFix(300.0, 0.1), PositionFix(300.0, 0.1)))
    single = DeadReckoning(start=start, fixes=(PositionFix(300.0, 0.1 / math.sqrt(2.0)),))
    found = [
        position_error_model(gyroscope(), straight, each).covariance() for each in (pair, single)
    ]
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_fix_between_samples_is_not_used_before_its_time(straight):
    fix = PositionFix(300.4, 0.05)
    reckoning = DeadReckoning(start=StartUncertainty(position=0.2), fixes=(fix,))
    variance = position_error_model(gyroscope(), straight, reckoning).covariance()[:, 0, 0]
    assert variance[300] == pytest.approx(0.2**2)
    assert variance[301] < 0.05**2


def test_loop_closure_leaves_start_error_and_removes_growth(straight):
    fix = PositionFix(600.0, 1e-3, since=0.0)
    start = StartUncertainty(position=0.2)
    imu = gyroscope(white_noise=1e-4)
    model = position_error_model(imu, straight, DeadReckoning(start=start, fixes=(fix,)))
    assert final_std(model)[1] == pytest.approx(math.hypot(0.2, 1e-3), rel=1e-6)


def test_frequent_fixes_of_random_walk_reach_steady_state_of_kalman_filter(straight):
    """Distance slips as a random walk, and a fix measures it each second."""
    slip, sigma = 0.02, 0.1
    wheels = isf.OdometerSpecification(slip=slip)
    fixes = tuple(PositionFix(time, sigma) for time in np.arange(1.0, 301.0))
    model = position_error_model(
        gyroscope(), isf.straight(300.0, SPEED, 10.0), DeadReckoning(wheels, fixes=fixes)
    )
    growth = 0.5 * slip**2 * SPEED  # the mean of two wheels
    predicted = 0.5 * (growth + math.sqrt(growth**2 + 4.0 * growth * sigma**2))
    expected = predicted - growth
    assert model.covariance()[-1, 0, 0] == pytest.approx(expected, rel=1e-6)


def test_radial_probability_matches_rayleigh_and_rice_distributions():
    variance, limit = 4.0, 3.0
    circular, shares = variance * np.eye(2)[np.newaxis], np.ones(1)
    expected = 1.0 - math.exp(-(limit**2) / (2.0 * variance))
    found = probability_within_distance(limit, np.zeros(2), circular, shares)
    assert found == pytest.approx(expected, abs=1e-9)
    median = distance_quantile(0.5, np.zeros(2), circular, shares)
    assert median == pytest.approx(math.sqrt(2.0 * variance * math.log(2.0)), rel=1e-8)
    # The squared length of a shifted normal vector has a noncentral chi-squared distribution.
    from scipy.stats import ncx2

    found = probability_within_distance(limit, np.array([1.0, -2.0]), circular, shares)
    expected = ncx2.cdf(limit**2 / variance, 2, 5.0 / variance)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mean", [0.0, 1.0, 2.9])
@pytest.mark.parametrize("short", [0.0, 1e-3])
def test_radial_probability_of_flat_distribution_is_one_dimensional(mean, short):
    flat = np.array([[[short**2, 0.0], [0.0, 9.0]]])
    found = probability_within_distance(3.0, np.array([mean, 0.0]), flat, np.ones(1))
    expected = math.erf(math.sqrt(3.0**2 - mean**2) / 3.0 / math.sqrt(2.0))
    # The curvature of the circle over the short axis has an effect of second order.
    assert found == pytest.approx(expected, abs=1e-9 + 3.0 * short**2)


def dead_reckon(motion, yaws, distances):
    """Return the final position (runs, 2) of dead reckoning with measured yaws and distances."""
    steps = np.diff(distances, axis=-1)
    mean_yaws = 0.5 * (yaws[:, 1:] + yaws[:, :-1])
    displacements = np.stack([steps * np.cos(mean_yaws), steps * np.sin(mean_yaws)], axis=-1)
    return motion.position[0, :2] + np.cumsum(displacements, axis=1)


IMU = isf.ImuSpecification(
    gyroscope=isf.TriadSpecification(
        white_noise=(2e-4,) * 3,
        bias_instability=(3e-5,) * 3,
        random_walk=(5e-6,) * 3,
        turn_on_bias_sigma=(5e-3,) * 3,
        scale_factor_and_misalignment=((4e-3, 0.0, 0.0), (0.0, 4e-3, 0.0), (0.0, 0.0, 4e-3)),
    )
)
WHEELS = isf.OdometerSpecification(
    rate=20.0, scale_sigma=4e-3, diameter_ratio_sigma=1e-3, track_ratio_sigma=4e-3, slip=2e-3
)
MOTIONS = {
    "straight": isf.straight(60.0, 1.0, 20.0),
    "circles": isf.rounds(2, 4.0, 1.0, 20.0),
    "aisles": isf.mowing(4, 12.0, 2.0, 1.0, rate=20.0),
}


@pytest.mark.parametrize(
    "name, stops",
    [(name, "none") for name in MOTIONS] + [("aisles", "every 20s for 4s")],
)
def test_position_model_matches_simulated_gyroscopes_and_odometers(name, stops):
    operation = isf.Operation(standstill=10.0, stops=stops)
    motion = operation.insert_stops(MOTIONS[name])
    model = position_error_model(IMU, motion, DeadReckoning(WHEELS), 0.5, operation)
    gyroscopes = imu_model(operated(IMU, operation, motion), motion.period, 1)
    truth = imu_truth(motion, speed=True)
    readings = gyroscopes.batch(truth, RUNS, parts=("orientation",))
    yaws = np.unwrap([yaw_from_quaternion(run) for run in readings.orientation], axis=1)
    odometers = [isf.simulate_odometer(motion, WHEELS, run=run) for run in range(RUNS)]
    distances = np.array([np.cumsum(run["v"]) * motion.period for run in odometers])
    places = round(model.track.step / motion.period) * np.arange(len(model.time))
    found = dead_reckon(motion, yaws, distances)[:, places[1:] - 1]
    errors = motion.position[places[1:], :2] - found
    # The cosine of a yaw error shortens the path.
    squares = model.heading.imu.mean() ** 2 + model.heading.imu.variance()
    steps = np.diff(model.track.distance, prepend=0.0)
    second_order = 0.5 * np.cumsum(squares * steps)
    for component in ("along", "across"):
        axes = model.track.axes(component)[1:]
        simulated = np.sum(axes * errors, axis=2)
        distribution = model.component(component)
        std = np.sqrt(distribution.variance())[1:]
        for place in (len(std) // 3, len(std) // 2, len(std) - 1):
            at_place = simulated[:, place]
            assert std[place] > 1e-3
            shift = at_place.mean() - distribution.mean()[1:][place]
            margin = second_order[1:][place]
            assert abs(shift) < 4.0 * std[place] / math.sqrt(RUNS) + margin
            ratio = at_place.std(ddof=1) / std[place]
            assert abs(ratio - 1.0) < 4.0 / math.sqrt(2.0 * RUNS) + 0.01
    lengths = np.hypot(*np.moveaxis(errors[:, -1], -1, 0))
    for probability in (0.5, 0.95):
        limit = model.distance_quantile(probability)
        error = math.sqrt(probability * (1.0 - probability) / RUNS)
        assert abs(np.mean(lengths <= limit) - probability) < 4.0 * error
    limit = model.distance_quantile(0.8)
    ((stays, half_width),) = model.survivals([("distance", limit)], 4000)
    simulated = np.mean(np.all(np.linalg.norm(errors, axis=2) <= limit, axis=1))
    error = math.sqrt(simulated * (1.0 - simulated) / RUNS)
    assert abs(stays[-1] - simulated) < 4.0 * error + 2.0 * half_width[-1]


@pytest.mark.parametrize("fuse", [False, True])
def test_realisations_have_covariance_of_model(fuse):
    motion = MOTIONS["aisles"]
    fixes = (PositionFix(20.0, 0.02), PositionFix(40.0, 0.02, since=10.0))
    start = StartUncertainty(0.01, 0.005)
    wheels = dataclasses.replace(WHEELS, ticks_per_turn=50)
    reckoning = DeadReckoning(wheels, fuse, fixes, start)
    model = position_error_model(IMU, motion, reckoning)
    runs = 4000
    errors = model.realisations(runs)
    for place in (15, 25, 45, -1):
        expected = model.covariance()[place]
        found = np.cov(errors[:, place].T)
        sizes = np.sqrt(np.outer(np.diag(expected), np.diag(expected)) + expected**2)
        assert np.all(abs(found - expected) < 4.5 * sizes / math.sqrt(runs))
        mean = errors[:, place].mean(axis=0) - model.mean()[place]
        assert np.all(abs(mean) < 4.5 * np.sqrt(np.diag(expected) / runs))
    np.testing.assert_array_equal(model.realisations(3, first_run=40), errors[40:43])


def test_fused_heading_reduces_error_of_either_sensor():
    motion = MOTIONS["aisles"]
    fused, alone = (
        position_error_model(IMU, motion, DeadReckoning(WHEELS, fuse)) for fuse in (True, False)
    )
    wheels = position_error_model(None, motion, DeadReckoning(WHEELS))
    size = fused.distance_quantile(0.95)
    assert size < alone.distance_quantile(0.95)
    assert size < wheels.distance_quantile(0.95)


def test_likelihood_of_track_prefers_model_that_made_it():
    motion = MOTIONS["aisles"]
    model = position_error_model(IMU, motion, DeadReckoning(WHEELS))
    observed = model.realisations(1, seed=3)[0]
    likelihood = model.likelihood(observed, 1e-4)
    weaker = position_error_model(IMU, motion)  # without errors of the odometer
    assert likelihood.log_likelihood > weaker.likelihood(observed, 1e-4).log_likelihood
    white = likelihood.innovations / likelihood.innovation_std
    seen = np.isfinite(white)
    assert abs(np.var(white[seen]) - 1.0) < 4.0 * math.sqrt(2.0 / np.sum(seen))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m: position_error_model(None, m), "odometer"),
        (lambda m: DeadReckoning(fuse=True), "odometer"),
        (lambda m: position_error_model(IMU, isf.at_rest(60.0, 10.0)), "0 m"),
        (lambda m: fixed(m, PositionFix(10.0, 0.0)), "0.0 m"),
        (lambda m: fixed(m, PositionFix(1e4, 0.1)), "10000 s"),
        (lambda m: fixed(m, PositionFix(10.0, 0.1, since=20.0)), "since 20 s"),
        (lambda m: position_error_model(IMU, m).likelihood(np.zeros((601, 2)), 0.0), "0.0 m"),
        (lambda m: position_error_model(IMU, m, period=0.5), "1201 times"),
        (lambda m: started(m, -1.0), "start.position"),
    ],
)
def test_invalid_dead_reckoning_is_rejected(straight, call, words):
    with pytest.raises(ConfigurationError, match=words):
        call(straight)


def fixed(motion, fix):
    return position_error_model(IMU, motion, DeadReckoning(fixes=(fix,)))


def started(motion, position):
    return position_error_model(
        IMU, motion, DeadReckoning(start=StartUncertainty(position=position))
    )


@pytest.mark.parametrize("yaw", [0.89, 1.68, 2.47])
def test_straight_drive_in_any_direction_has_no_variance_along_it(yaw):
    time = np.arange(0.0, 60.0, 0.1)
    path = np.outer(time, [np.cos(yaw), np.sin(yaw), 0.0])
    level = np.tile([0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)], (len(time), 1))
    model = position_error_model(IMU, isf.Motion.from_poses(time, path, level))
    bands = model.component("along").bands()
    np.testing.assert_allclose(bands["std"], 0.0, atol=1e-6)
