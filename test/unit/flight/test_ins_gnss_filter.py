import math
from dataclasses import fields, replace

import numpy as np
import pytest
from earth_flights import flight, mount_on_gimbal
from navigated import ANTENNA, GNSS, IMU
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, EnsembleError, MotionError
from imu_simulation_framework.flight.navigation import filter
from imu_simulation_framework.flight.navigation.mechanisation import cross_matrix
from imu_simulation_framework.flight.navigation.runs import (
    NavigationErrors,
    consistency,
    mean_bounds,
    navigation_errors,
    simulate_increments,
)
from imu_simulation_framework.flight.navigation.tuning import tuning_of
from imu_simulation_framework.motion.earth import EARTH_RATE, geodetic_of, gravity_ecef
from imu_simulation_framework.motion.earth_motion import enu_to_ecef

RUNS = 30


@pytest.fixture(scope="module")
def airframe():
    return flight(rate=50.0, duration=80.0)


def _started(motion, errors):
    begin = motion.position[0], motion.velocity[0], motion.orientation[0]
    return filter.initial_state(*begin, errors)


def require_within(mean, degrees, count):
    """Check that a mean of chi-square variables is within its 99.9 % bounds."""
    low, high = mean_bounds(degrees, count, 0.999)
    assert low < mean < high


@pytest.mark.parametrize("gimbal", [False, True])
def test_navigation_errors_are_consistent_with_filter_covariance(airframe, gimbal):
    motion = mount_on_gimbal(airframe) if gimbal else airframe
    navigated = isf.navigate_runs(motion, IMU, GNSS, RUNS, seed=11)
    found = navigated.consistency()
    assert found.degrees == 15
    # 5 % are expected outside the 95 % bounds, but errors are correlated over half of the flight.
    assert found.nees_within > 0.8
    require_within(found.mean_nees, 15, 2 * RUNS)
    require_within(found.mean_nis, 6, RUNS * len(found.time))
    expected = 0.95 - 3.3 * np.sqrt(0.95 * 0.05 / len(found.time))
    assert found.nis_within > expected


def test_navigation_errors_are_evaluated_at_fixes_and_runs_are_independent(airframe):
    time = airframe.time[0] + np.array([0.0, 1.0, 2.0])
    attitude, velocity, position = np.random.default_rng(1).standard_normal((3, 2, 3, 3))
    found = NavigationErrors(time, attitude, velocity, position, np.zeros((2, 3, 9)))
    for begin, used in ((0.0, [0, 1, 2]), (0.5, [1, 2]), (1.0, [1, 2]), (2.0, [2])):
        expected = np.concatenate([attitude[..., 2:], position, velocity], axis=2)[:, used]
        np.testing.assert_allclose(found.rmse(begin), np.sqrt(np.mean(expected**2, axis=1)))
    many = isf.navigate_runs(airframe, IMU, GNSS, 4, seed=3).navigation
    single_run = isf.navigate_runs(airframe, IMU, GNSS, 1, seed=3, first_run=2).navigation
    assert single_run.position[0] == pytest.approx(many.position[2], abs=1e-7)
    assert single_run.covariance[0] == pytest.approx(many.covariance[2], rel=1e-6, abs=1e-12)


def test_navigation_beyond_end_of_true_motion_is_rejected(airframe):
    navigated = isf.navigate_runs(airframe, IMU, GNSS, 1)
    last = np.searchsorted(airframe.time, navigated.navigation.time[-1])

    def beginning(samples):
        arguments = {field.name: getattr(airframe, field.name) for field in fields(airframe)}
        return replace(airframe, **{k: v[:samples] for k, v in arguments.items() if np.ndim(v)})

    found = navigation_errors(navigated.navigation, beginning(last + 1))
    assert found.rmse().equals(navigation_errors(navigated.navigation, airframe).rmse())
    with pytest.raises(MotionError, match="times of the fixes"):
        navigation_errors(navigated.navigation, beginning(last))


def _textbook(motion, increments, fixes, tuning, errors):
    """Run a textbook filter sample by sample with matrix exponentials."""
    period = increments.time[1] - increments.time[0]
    start = _started(motion, errors)
    r, v, C = start.position[0], start.velocity[0], start.attitude[0]
    bias = np.zeros(6)
    P = filter.initial_covariance(start.position, tuning)[0]
    earth = cross_matrix(np.array([0.0, 0.0, EARTH_RATE]))
    stride = round((fixes.time[1] - fixes.time[0]) / period)
    Q = np.zeros((15, 15))
    Q[:3, :3] = np.diag(np.square(tuning.gyroscope_noise)) * period
    Q[3:6, 3:6] = np.diag(np.square(tuning.accelerometer_noise)) * period
    states, covariances = [], []
    for k in range(len(increments.time)):
        if k:
            turn = increments.delta_theta[0, k] - bias[3:] * period
            push = increments.delta_velocity[0, k] - bias[:3] * period
            middle = expm(-0.5 * period * earth) @ C @ expm(0.5 * cross_matrix(turn))
            f = middle @ push / period
            g = gravity_ecef(r)
            before = v
            v = v + period * (f + g - 2.0 * earth @ v)
            r = r + 0.5 * period * (before + v)
            C = expm(-period * earth) @ C @ expm(cross_matrix(turn))
            F = np.zeros((15, 15))
            F[:3, :3], F[:3, 12:] = -earth, middle
            F[3:6, :3], F[3:6, 3:6], F[3:6, 9:12] = -cross_matrix(f), -2.0 * earth, middle
            F[3:6, 6:9] = -2.0 * np.linalg.norm(g) / np.linalg.norm(r) ** 3 * np.outer(r, r)
            F[6:9, 3:6] = np.eye(3)
            step = np.eye(15) + F * period + 0.5 * (F * period) @ (F * period)
            P = step @ P @ step.T + Q
        if k % stride == 0:
            fix = k // stride
            z = np.concatenate([fixes.position[0, fix] - r, fixes.velocity[0, fix] - v])
            H = np.zeros((6, 15))
            H[:3, 6:9] = H[3:, 3:6] = -np.eye(3)
            local = np.kron(np.eye(2), enu_to_ecef(*geodetic_of(r)[:2]).as_matrix())
            R = local @ np.diag(fixes.variance[0, fix]) @ local.T
            K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
            x, P = K @ z, (np.eye(15) - K @ H) @ P
            C, v, r = expm(-cross_matrix(x[:3])) @ C, v - x[3:6], r - x[6:9]
            bias = bias + x[9:]
            states.append((r, v, C, bias[:3], bias[3:]))
            covariances.append(P)
    return [np.array(values) for values in zip(*states)], np.array(covariances)


def test_navigation_filter_matches_textbook_filter_at_imu_rate():
    motion = mount_on_gimbal(flight(rate=100.0, duration=40.0))
    tuning = tuning_of(IMU)
    increments = simulate_increments(motion, IMU, seed=4)
    fixes = isf.simulate_earth_fixes(motion, GNSS, seed=5)
    errors = tuning.initial.draw(1, 6)
    increment_arrays = increments.time, increments.delta_theta, increments.delta_velocity
    made = filter.run_filter(_started(motion, errors), *increment_arrays, fixes, tuning)
    states, covariances = _textbook(motion, increments, fixes, tuning, errors)
    sigma = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    std = np.sqrt(np.diagonal(made.covariance[0], axis1=1, axis2=2))
    assert std == pytest.approx(sigma, rel=0.01)
    position, velocity, attitude, *biases = states
    turned = Rotation.from_matrix(made.attitude[0] @ attitude.swapaxes(1, 2)).as_rotvec()
    off = [made.accelerometer_bias[0] - biases[0], made.gyroscope_bias[0] - biases[1]]
    differences = [turned, made.velocity[0] - velocity, made.position[0] - position, *off]
    # The tolerance is a tenth of the filter's uncertainty.
    assert np.all(np.abs(np.hstack(differences)) < 0.1 * sigma)


def test_navigation_uncertainty_grows_without_fixes(airframe):
    gnss = replace(GNSS, outages=isf.GnssOutages(times=((40.0, 60.0),)))
    navigated = isf.navigate_runs(airframe, IMU, gnss, RUNS, seed=2)
    navigation, found = navigated.navigation, navigated.consistency()
    away = (navigation.time >= 40.0) & (navigation.time < 60.0)
    missing = np.isnan(navigation.squared_innovation).all(axis=0)
    np.testing.assert_array_equal(missing, away)
    np.testing.assert_array_equal(np.isnan(found.nis), away)
    assert np.all(np.isfinite(navigation.position))
    sigma = np.sqrt(navigation.covariance[:, away][..., 6, 6])
    assert np.all(np.diff(sigma[:, 1:], axis=1) > 0.0)
    assert np.all(np.diff(navigation.gyroscope_bias[:, away], axis=1) == 0.0)
    require_within(found.nees[np.flatnonzero(away)[-1]], 15, RUNS)


@pytest.mark.gate
def test_navigation_with_antenna_on_airframe_is_as_accurate_as_with_antenna_at_imu(airframe):
    imu = mount_on_gimbal(airframe)
    away = replace(GNSS, lever_arm=ANTENNA)
    antenna_at_imu = isf.navigate_runs(imu, IMU, GNSS, RUNS, seed=7).rmse().mean()
    known = isf.navigate_runs(imu, IMU, away, RUNS, seed=7, airframe=airframe)
    unknown = isf.navigate_runs(imu, IMU, away, RUNS, seed=7, airframe=airframe, compensated=False)
    assert known.rmse().mean().to_numpy() == pytest.approx(antenna_at_imu.to_numpy(), rel=0.1)
    assert np.all(unknown.rmse().mean() > 1.2 * antenna_at_imu)
    for navigated, consistent in ((known.consistency(), True), (unknown.consistency(), False)):
        low, high = navigated.mean_nis_bounds
        assert (low <= navigated.mean_nis <= high) == consistent


def test_velocity_at_first_fix_includes_rotation_of_lever_arm(airframe):
    arm = np.array((20.0, 0.0, 0.0))
    away = replace(GNSS, lever_arm=tuple(arm))
    navigated = isf.navigate_runs(airframe, IMU, away, RUNS, seed=7, initial_errors=np.zeros(9))
    assert navigated.navigation.time[0] == airframe.time[0]
    innovation = navigated.navigation.innovation[:, 0, 3:].mean(axis=0)
    # The initial state is exact, so only the noise of the fixes remains. The bound is four
    # standard errors of the mean.
    bound = 4.0 * 0.15 / math.sqrt(RUNS)
    assert np.all(np.abs(innovation) < bound)
    # The rotation of the airframe moves the antenna much faster than this.
    assert np.linalg.norm(np.cross(airframe.angular_velocity[0], arm)) > 10.0 * bound


def test_navigation_errors_of_slower_imu_with_later_start_are_consistent():
    output = isf.OutputSpecification(rate=50.0, start_offset=1.0)
    motion = flight(rate=100.0, duration=50.0)
    slower = isf.navigate_runs(motion, replace(IMU, output=output), GNSS, RUNS, seed=11)
    assert slower.navigation.time[0] == 1.0
    require_within(slower.consistency().mean_nees, 15, 2 * RUNS)


def test_inconsistent_filter_inputs_and_exact_fixes_are_rejected(airframe):
    increments = simulate_increments(airframe, IMU, 2)
    turned, delta_velocity = increments.delta_theta, increments.delta_velocity
    fixes = isf.simulate_earth_fixes(airframe, GNSS, 2)
    start = _started(airframe, np.zeros((2, 9)))
    for delta_theta, others, arm, words in (
        (turned, fixes._replace(time=fixes.time + 0.007), (), "times at IMU samples"),
        (turned, fixes._replace(time=fixes.time + 90.0), (), "times at IMU samples"),
        (turned[:, 1:], fixes, (), "delta_theta has the shape"),
        (turned * np.nan, fixes, (), "not finite"),
        (turned, fixes, (filter.LeverArm(np.zeros(3), np.zeros(3)),), "lever_arm has the shapes"),
        (turned, isf.simulate_earth_fixes(airframe, GNSS, 3), (), "fixes have 3 runs"),
    ):
        with pytest.raises(MotionError, match=words):
            filter.run_filter(
                start, increments.time, delta_theta, delta_velocity, others, tuning_of(IMU), *arm
            )
    airframe = isf.circling(30.0, latitude=50.0, radius=800.0, speed=60.0)
    runs = isf.navigate_runs(airframe, "agisim", isf.GnssSpecification(rate=2.0), runs=2)
    with pytest.raises(EnsembleError, match="covariance of the filter is singular"):
        runs.consistency()


def _tuned(period=0.01, **errors):
    return tuning_of(isf.ImuSpecification(gyroscope=isf.TriadSpecification(**errors)), period)


MATRIX_SIZES = {"gyroscope_matrix": 1.7e-3, "accelerometer_matrix": 3.7e-3, "g_sensitivity": 6e-6}


def test_filter_tuning_matches_simulated_noise_and_slow_processes():
    tuning = _tuned(white_noise=(1e-5, 2e-5, 3e-5), random_walk=1e-7, turn_on_bias_sigma=1e-4)
    assert tuning.gyroscope_noise == pytest.approx((1e-5, 2e-5, 3e-5))
    assert tuning.gyroscope_random_walk == pytest.approx([1e-7] * 3)
    assert tuning.gyroscope_bias == pytest.approx([1e-4] * 3)
    rounded = _tuned(resolution=1e-3)
    assert rounded.gyroscope_noise == pytest.approx([1e-3 * math.sqrt(0.01 / 12.0)] * 3)
    slow = _tuned(gauss_markov_sigma=1e-4, gauss_markov_time=100.0)
    assert slow.gyroscope_bias == pytest.approx([1e-4] * 3)
    assert slow.gyroscope_random_walk == pytest.approx([1e-4 * math.sqrt(0.02)] * 3)
    assert slow.gyroscope_noise == (0.0, 0.0, 0.0)
    fast = _tuned(gauss_markov_sigma=1e-4, gauss_markov_time=1.0)
    assert fast.gyroscope_noise == pytest.approx([1e-4 * math.sqrt(2.0)] * 3)
    assert fast.gyroscope_bias == (0.0, 0.0, 0.0)
    tuning = _tuned(bias_instability=1e-5)
    assert np.all(np.array(tuning.gyroscope_noise) > 0.0)
    assert np.all(np.array(tuning.gyroscope_random_walk) > 0.0)
    assert np.all(np.array(tuning.gyroscope_bias) > 1e-5)


def test_filter_tuning_contains_error_magnitudes_without_signs():
    matrix = ((0.0, 3e-3, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -5e-3))
    bias = (0.0, 0.03, 0.0)
    triad = isf.TriadSpecification(turn_on_bias=bias, scale_factor_and_misalignment=matrix)
    tuning = tuning_of(isf.ImuSpecification(accelerometer=triad))
    expected = math.sqrt(17e-6) * (np.array(matrix) != 0.0)
    assert np.array(tuning.accelerometer_matrix) == pytest.approx(expected)
    assert tuning.accelerometer_bias == pytest.approx([0.03 / math.sqrt(3.0)] * 3)
    assert not np.any(tuning.gyroscope_matrix)


def test_initial_errors_match_stated_sigma_and_invalid_tuning_is_rejected():
    with pytest.raises(ConfigurationError, match="^heading"):
        isf.InitialUncertainty(heading=0.0)
    wrong = {"gyroscope_noise": (-1.0, 0, 0), "position_noise": 0.0, "gyroscope_matrix": 1e-3}
    for name, value in wrong.items():
        with pytest.raises(ConfigurationError, match=f"^{name}"):
            replace(tuning_of(IMU), **{name: value})
    uncertainty = isf.InitialUncertainty(tilt=1e-3, heading=0.02, velocity=0.3, position=5.0)
    drawn = uncertainty.draw(2000, seed=1)
    # The tolerance is three standard errors of a standard deviation from 2000 samples.
    assert np.std(drawn, axis=0) == pytest.approx(uncertainty.sigmas, rel=3.0 / math.sqrt(4000.0))
    assert np.array_equal(uncertainty.draw(2, seed=1, first_run=3), drawn[3:5])


def test_tuned_fix_noise_overrides_reported_noise():
    motion = flight(rate=50.0, duration=10.0)
    velocity = {"velocity_noise": 0.2, "vertical_velocity_noise": 0.2}
    quality = isf.FixQuality(horizontal_noise=5.0, vertical_noise=5.0, **velocity)
    tuning = tuning_of(IMU)
    reported = isf.navigate_runs(motion, IMU, replace(GNSS, qualities=(quality,)), 1, tuning=tuning)
    tuning = replace(tuning, position_noise=5.0, velocity_noise=0.2)
    tuned = isf.navigate_runs(motion, IMU, GNSS, 1, tuning=tuning)
    found, expected = (
        np.diagonal(runs.navigation.covariance, axis1=2, axis2=3) for runs in (tuned, reported)
    )
    # The attitude covariances differ slightly, because the runs have different noise.
    assert found == pytest.approx(expected, rel=0.02)


@pytest.mark.gate
@pytest.mark.parametrize("gimbal", [False, True])
def test_filter_without_scale_factor_states_is_not_overconfident(gimbal):
    airframe = flight(rate=50.0, duration=80.0)
    generator = np.random.default_rng(8)

    def drawn():
        scale, sensitivity, other = (
            size * generator.standard_normal((3, 3)) for size in (1.7e-3, 6e-6, 3.7e-3)
        )
        gyroscope = replace(
            IMU.gyroscope, scale_factor_and_misalignment=scale, g_sensitivity=sensitivity
        )
        accelerometer = replace(IMU.accelerometer, scale_factor_and_misalignment=other)
        return replace(IMU, gyroscope=gyroscope, accelerometer=accelerometer)

    imus = [drawn() for _ in range(20)]
    motion = mount_on_gimbal(airframe) if gimbal else airframe

    def navigated(share):
        """Navigate with a filter that is tuned for a fraction of the true error magnitudes."""
        matrices = {
            name: np.full((3, 3), share * size).tolist() for name, size in MATRIX_SIZES.items()
        }
        tuning = replace(tuning_of(imus[0]), **matrices)
        return isf.navigate_runs(motion, imus, GNSS, len(imus), seed=5, tuning=tuning)

    found, unknown = navigated(1.0).consistency(), navigated(0.0)
    assert found.degrees == 9
    # These errors hardly change, so a mean over time has the same uncertainty as one sample.
    require_within(found.mean_nees, 9, len(imus))
    errors = unknown.errors._replace(states=unknown.errors.states[..., :9])
    assert consistency(unknown.navigation, errors).mean_nees > 90.0
