"""Calibration of gyroscope, accelerometer and magnetometer from simulated recordings."""

from dataclasses import replace

import numpy as np
import pytest
from calibration_records import (
    chamber_record,
    free_record,
    magnetic_record,
    symmetric_part,
    table_record,
)
from scipy.linalg import solve_triangular
from scipy.spatial.transform import Rotation

from imu_simulation_framework.characterisation.calibration import rest_times
from imu_simulation_framework.characterisation.calibration.estimates import (
    SlowNoise,
    average_blocks,
    unit_covariances,
)
from imu_simulation_framework.characterisation.calibration.files import constant_remarks
from imu_simulation_framework.characterisation.calibration.inertial import (
    TemperatureFit,
    calibrate_accelerometer,
    calibrate_gyroscope,
    to_slow_noise,
)
from imu_simulation_framework.characterisation.calibration.sphere_fit import (
    calibrate_accelerometer_by_magnitude,
    fit_sphere,
)
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.sensors.imu_specification import TriadSpecification

AXES = [*GYRO, *ACCEL]
# None of a few hundred normal random numbers exceeds 5 standard deviations.
FAR = 5.0


@pytest.fixture(scope="module")
def table():
    sensor, times, values = table_record(3)
    return sensor, times, values, rest_times.find_rest(times, values, AXES, "table")


def off(estimate, truth):
    return abs(estimate.value - truth) / estimate.sigma


def all_off(found, triad):
    biases = [off(interval, truth) for interval, truth in zip(found.bias, triad.turn_on_bias)]
    rows = zip(found.matrix, triad.scale_factor_and_misalignment)
    return biases + [
        off(interval, truth)
        for row, true_values in rows
        for interval, truth in zip(row, true_values)
    ]


def test_stationary_periods_are_between_movements_and_bias_sigma_includes_slow_noise(table):
    _, times, _, rests = table
    # One stationary period in each of six orientations, and one after each of the six turns.
    assert len(rests) == 12
    begin = times[[rest.start for rest in rests[:6]]]
    assert np.all((begin - 35.0 * np.arange(6) >= 0.0) & (begin - 35.0 * np.arange(6) < 1.6))
    sensor, times, values, rests = table
    found = calibrate_gyroscope(times, values[:, :3], rests)
    white = [density / np.sqrt(300.0) for density in sensor.gyroscope.white_noise]
    for estimate, truth, naive in zip(found.bias, sensor.gyroscope.turn_on_bias, white):
        assert off(estimate, truth) < FAR
        assert estimate.sigma > naive


def test_slow_turn_is_not_stationary_and_gap_ends_stationary_period():
    generator = np.random.default_rng(1)
    times = np.arange(12_000) / 100.0
    values = np.tile([0.01, 0.0, -0.02, 0.0, 0.0, 9.8], (len(times), 1))
    turning = (times > 30.0) & (times < 90.0)
    values[turning, 2] += 0.05
    values += generator.normal(0.0, 1e-3, values.shape)
    rests = rest_times.find_rest(times, values, AXES, "turning")
    assert len(rests) == 2
    assert not any(turning[rest.start : rest.stop].any() for rest in rests)
    times = np.arange(6000) / 100.0
    times[3000:] += 10.0
    values = np.random.default_rng(1).normal(0.0, 1e-3, (len(times), 6))
    first, second = rest_times.find_rest(times, values, AXES, "gap")
    assert first.start == 0 and 2700 < first.stop <= 3000 <= second.start < 3300


def test_stationary_blocks_have_same_duration():
    times = np.arange(10_000) / 10.0
    values = np.column_stack([times, -times])
    parts = [rest_times.RestTime(1000, 2000), rest_times.RestTime(7000, 9000)]
    means = average_blocks(times, values, parts, most=15)
    np.testing.assert_array_equal(means.group, np.repeat([0, 1], [5, 10]))
    # Each block of 20 s begins at the time stamp before that of its first sample.
    first = np.concatenate([100.0 + 20.0 * np.arange(5), 700.0 + 20.0 * np.arange(10)])
    np.testing.assert_allclose(means.begin, first, atol=1e-9)
    np.testing.assert_allclose(means.end, first + 20.0, atol=1e-9)
    middle = first + 9.95
    np.testing.assert_allclose(means.values, np.column_stack([middle, -middle]), atol=1e-9)


def test_turn_angle_includes_interval_before_first_sample():
    times = np.arange(100) / 10.0
    rests = [rest_times.RestTime(0, 20), rest_times.RestTime(80, 100)]
    still, yaw = np.zeros((100, 3)), 0.5 * times
    (turn,) = rest_times.find_reference_turns(times, still, rests, times, yaw, 0.01)
    assert turn.angle == pytest.approx((0.0, 0.0, 0.5 * (times[79] - times[19])))


def test_gyroscope_and_accelerometer_calibration_errors_are_within_uncertainty(table):
    sensor, times, values, rests = table
    turns = rest_times.find_whole_turns(times, values[:, :3], rests, 10)
    noise = to_slow_noise(sensor.gyroscope)
    gyroscope = calibrate_gyroscope(times, values[:, :3], rests, turns, noise=noise)
    accelerometer = calibrate_accelerometer(
        times,
        values[:, 3:],
        rests,
        gravity=WORLD_GRAVITY,
        noise=to_slow_noise(sensor.accelerometer),
    )
    assert max(all_off(gyroscope, sensor.gyroscope)) < FAR
    assert max(all_off(accelerometer, sensor.accelerometer)) < FAR
    assert gyroscope.matrix[2][2].sigma < 5e-4 and gyroscope.bias[2].sigma < 2e-5


@pytest.mark.parametrize("misalignment", [0.0, 0.01])
def test_placement_errors_do_not_inflate_scale_factor_uncertainty(misalignment):
    generator = np.random.default_rng(6)
    runs, placement, samples = 150, np.radians(0.5), 2
    force = WORLD_GRAVITY * np.concatenate([np.eye(3), -np.eye(3)])
    rests = [rest_times.RestTime(k, k + samples) for k in range(0, 6 * samples, samples)]
    errors, sigmas = [], []
    for _ in range(runs):
        matrix = generator.normal(0.0, misalignment, (3, 3))
        tilted = Rotation.from_rotvec(generator.normal(0.0, placement, (6, 3))).apply(force)
        accel = np.repeat(tilted @ (np.eye(3) + matrix).T, samples, axis=0)
        times = 0.5 * np.arange(len(accel))
        found = calibrate_accelerometer(
            times, accel, rests, gravity=WORLD_GRAVITY, noise=(SlowNoise(1e-6),) * 3
        )
        errors += [found.matrix[j][j].value - matrix[j, j] for j in range(3)]
        sigmas += [found.matrix[j][j].sigma for j in range(3)]
    reported_std, scatter = (np.sqrt(np.mean(np.square(each))) for each in (sigmas, errors))
    # The error due to tilts is a sum of four squares, which has a kurtosis of 6. Clipping of
    # negative variances at zero increases the sigma of the scale factor by 10 % on average.
    error = 0.5 * np.sqrt((6.0 - 1.0) / (3 * runs))
    assert 1.0 - 3.0 * error < reported_std / scatter < 1.1 + 3.0 * error


def test_axis_is_accepted_as_vertical_within_twenty_degrees():
    rests = [rest_times.RestTime(100 * k, 100 * (k + 1)) for k in range(6)]
    for angle in np.radians([18.0, 22.0]):
        up = np.vstack([np.eye(3)[:2], -np.eye(3), [np.sin(angle), 0.0, np.cos(angle)]])
        readings = np.arange(600) / 10.0, 9.81 * np.repeat(up, 100, axis=0), rests
        if angle < np.radians(20.0):
            calibrate_accelerometer(*readings, noise=(SlowNoise(1e-3),) * 3)
        else:
            with pytest.raises(RecordingError, match=r"\+z point up"):
                calibrate_accelerometer(*readings)


def test_temperature_chamber_recording_yields_biases_and_scale_factors():
    generator = np.random.default_rng(2)
    times = np.arange(60_000) / 50.0
    temperature = np.linspace(-10.0, 50.0, len(times))
    away = temperature[:, None] - 20.0
    truth = [0.01, -0.02, 0.0], [1e-4, 2e-4, -1e-4], [1e-6, -2e-6, 0.0]
    gyro = sum(np.array(row) * away**k for k, row in enumerate(truth))
    gyro = gyro + generator.normal(0.0, 2e-3, gyro.shape)
    rests = rest_times.find_rest(times, gyro, GYRO, "chamber")
    fit = TemperatureFit(temperature, 20.0)
    noise = (SlowNoise(2e-3 / np.sqrt(50.0)),) * 3
    found = calibrate_gyroscope(times, gyro, rests, noise=noise, temperature=fit)
    rows = [found.bias, *found.temperature_bias]
    worst = [
        off(interval, true_values)
        for row, want in zip(rows, truth)
        for interval, true_values in zip(row, want)
    ]
    assert len(worst) == 9 and max(worst) < FAR
    far = []
    for seed in range(10):
        times, accel, temperature, sensor, scale, bias = chamber_record(seed)
        rests = rest_times.find_rest(times, accel, ACCEL, "chamber")
        assert len(rests) == 18
        found = calibrate_accelerometer(
            times, accel, rests, gravity=WORLD_GRAVITY, noise=(SlowNoise(1e-4),) * 3,
            temperature=TemperatureFit(temperature, 20.0, bias_degree=1, scale_degree=1),
        )  # fmt: skip
        assert max(all_off(found, sensor)) < FAR
        pairs = zip([*found.temperature_bias[0], *found.temperature_scale[0]], [*bias, *scale])
        far.append([off(interval, true_values) for interval, true_values in pairs])
        assert max(interval.sigma for interval in found.temperature_scale[0]) < 1e-6
    # Tilts add an error: the scale factor also acts on the gravity component across an axis.
    assert np.all(np.sqrt(np.mean(np.square(far), axis=0)) < 1.0 + 3.0 / np.sqrt(20.0))


def test_accelerometer_is_calibrated_from_gravity_in_arbitrary_orientations():
    sensor, times, values = free_record(3)
    rests = rest_times.find_rest(times, values, AXES, "free")
    noise = to_slow_noise(sensor.accelerometer)
    options = {"noise": noise, "gravity": WORLD_GRAVITY}
    found = calibrate_accelerometer_by_magnitude(times, values[:, 3:], rests, **options)
    matrix = symmetric_part(sensor.accelerometer)
    expected = replace(sensor.accelerometer, scale_factor_and_misalignment=matrix)
    assert max(all_off(found, expected)) < FAR
    assert max(interval.sigma for interval in found.bias) < 1e-3
    for some, words in ((rests[:8], "8 orientations"), ([rests[0]] * 20, "1 orientations")):
        with pytest.raises(RecordingError, match=words):
            calibrate_accelerometer_by_magnitude(times, values[:, 3:], some, noise=noise)


def test_known_flicker_noise_widens_intervals_without_biasing_scale_factors():
    times, readings, hard, _ = magnetic_record(4, wandering=0.1e-6)
    white = 0.6e-6 * np.sqrt(0.04)
    quiet, wandering = (
        fit_sphere(times, readings, noise=(SlowNoise(white, flicker),) * 3).calibration
        for flicker in (0.0, 0.1e-6)
    )
    assert max(off(interval, truth) for interval, truth in zip(wandering.bias, hard)) < FAR
    # Flicker noise components of up to three hours are constant for a minute, like hard iron.
    assert wandering.bias[0].sigma > 4.0 * quiet.bias[0].sigma
    far = []
    for seed in range(30):
        times, readings, _, soft = magnetic_record(seed)
        found = fit_sphere(times, readings, noise=(SlowNoise(0.12e-6),) * 3).calibration
        far.append([(found.matrix[i][i].value - soft[i, i]) / found.matrix[i][i].sigma
                    for i in range(3)])  # fmt: skip
    assert np.abs(np.mean(far, axis=0)).max() < 3.0 / np.sqrt(30.0)


def test_sphere_fit_residual_matches_noise_and_scale_factor_is_unbiased(table):
    generator = np.random.default_rng(7)
    directions = generator.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    readings = 2.0 * directions * [1.0, 0.8, 1.2] + 0.01 * generator.normal(size=(2000, 3))
    found = fit_sphere(0.04 * np.arange(2000), readings, 1.0).calibration
    # The tolerance is four standard errors of a standard deviation.
    assert found.residual == pytest.approx(0.01, rel=4.0 / np.sqrt(2.0 * 2000))
    # Scale factors of 1, 0.5 and 2 on the three axes are implausible and are rejected.
    with pytest.raises(RecordingError, match="does not span all directions"):
        fit_sphere(0.04 * np.arange(2000), readings * [1.0, 0.625, 5.0 / 3.0], 1.0)
    _, times, values, rests = table
    interval, hundredfold = (
        calibrate_accelerometer(
            times, unit * values[:, 3:], rests, gravity=9.8 * unit, noise=(SlowNoise(unit),) * 3
        ).residual
        for unit in (1.0, 100.0)
    )
    assert hundredfold == pytest.approx(100.0 * interval)
    # Noise increases magnitudes of 2 by 0.1^2 / 2, which must not bias the scale factors.
    directions = generator.normal(size=(20_000, 3))
    readings = 2.0 * directions / np.linalg.norm(directions, axis=1)[:, None]
    readings += 0.1 * generator.normal(size=readings.shape)
    found = fit_sphere(0.04 * np.arange(20_000), readings, 1.0).calibration
    scale = np.mean([found.matrix[axis][axis].value for axis in range(3)])
    assert scale == pytest.approx(1.0, abs=4.0 * 0.1 / np.sqrt(20_000))


def test_covariances_of_block_means_match_noise_processes():
    from imu_simulation_framework.sensors.noise.processes import BiasInstability, RandomWalk

    period, runs = 0.1, 4000
    begin, end = np.array([0.0, 5.0, 20.0]), np.array([5.0, 10.0, 40.0])
    for process, expected in (
        (BiasInstability((1.0, 1.0, 1.0), (0.1, 10_000.0), period, np.random.default_rng(1)), 1),
        (RandomWalk((1.0, 1.0, 1.0), period, np.random.default_rng(2)), 2),
    ):
        samples = process.batch(400, runs)[..., 0]
        means = np.column_stack(
            [samples[:, round(a / period) : round(b / period)].mean(axis=1)
             for a, b in zip(begin, end)]
        )  # fmt: skip
        theory = unit_covariances(begin, end)[expected]
        # Whitened with the theoretical covariance, the sample covariance is the identity matrix.
        white = solve_triangular(np.linalg.cholesky(theory), means.T, lower=True)
        assert np.abs(white @ white.T / runs - np.eye(3)).max() < 5.0 * np.sqrt(2.0 / runs) + 0.03


@pytest.mark.parametrize("wandering", [0.0, 0.1e-6])
def test_hard_and_soft_iron_estimates_are_within_uncertainty(wandering):
    times, readings, hard, soft = magnetic_record(4, wandering=wandering)
    found = fit_sphere(times, readings).calibration
    expected = TriadSpecification(turn_on_bias=hard, scale_factor_and_misalignment=soft)
    assert max(all_off(found, expected)) < FAR
    assert found.bias[0].sigma < (2e-6 if wandering else 0.1e-6)


def test_unusable_recordings_are_rejected(table):
    _, times, values, rests = table
    gyro = values[:, :3]
    level = np.column_stack([np.cos(times), np.sin(times), 0.0 * times]) * 2e-5
    broken = values.copy()
    broken[100, 2] = np.nan
    shaken = np.random.default_rng(1).normal(0.0, 1.0, values.shape).cumsum(axis=0)
    for words, call in (
        ("never at rest", lambda: rest_times.find_rest(times, shaken, AXES, "made")),
        ("not a finite number", lambda: rest_times.find_rest(times, broken, AXES, "made")),
        ("six orientations", lambda: calibrate_accelerometer(times, values[:, 3:], rests[:5])),
        ("or a reference", lambda: rest_times.find_whole_turns(times, gyro, rests, None)),
        ("does not span all directions", lambda: fit_sphere(times, level)),
        ("too short", lambda: calibrate_gyroscope(times, gyro, [rest_times.RestTime(0, 300)])),
    ):
        with pytest.raises(RecordingError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def tumbled():
    """Return times, angular rates and specific forces of a sensor turned to 15 orientations."""
    _, times, values = free_record(3, rest=4.0)
    return times, values[:, :3], values[:, 3:]


def rested(seed, seconds):
    """Simulate a magnetometer that is stationary before and after it tumbles."""
    times, readings, hard, matrix = magnetic_record(seed)
    generator = np.random.default_rng(seed)
    count = round(seconds / 0.04)
    noise = generator.normal(0.0, 0.6e-6, (2, count, 3))
    readings = np.concatenate([readings[0] + noise[0], readings, readings[-1] + noise[1]])
    return 0.04 * np.arange(len(readings)), readings, hard, matrix, count


def test_stationary_magnetometer_periods_do_not_change_calibration():
    times, readings, _, _, count = rested(2, 120.0)
    parts = rest_times.find_turning_times(times, readings)
    assert [part.start for part in parts] == [0, pytest.approx(count, abs=7)]
    assert parts[0].stop * 0.04 == pytest.approx(2.0, abs=0.3)
    assert parts[1].stop == pytest.approx(count + 1500 + 50, abs=14)
    # If the magnetometer is never stationary, all samples are used.
    for moving in (readings[count : count + 1500], readings[:2]):
        (whole,) = rest_times.find_turning_times(times[: len(moving)], moving)
        assert (whole.start, whole.stop) == (0, len(moving))
    times, readings, hard, matrix, count = rested(2, 240.0)
    with pytest.raises(RecordingError, match="does not span all directions"):
        fit_sphere(times, readings)
    parts = rest_times.find_turning_times(times, readings)
    used = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    rest = fit_sphere(times[used], readings[used]).calibration
    alone = slice(count, count + 1500)
    turned = fit_sphere(times[alone], readings[alone]).calibration
    for axis in range(3):
        # 100 additional samples change the bias by up to 0.6 uT * 3 * 100 / 1600.
        assert rest.bias[axis].value == pytest.approx(hard[axis], abs=0.2e-6)
        assert rest.bias[axis].value == pytest.approx(turned.bias[axis].value, abs=0.15e-6)
    diagonal = [rest.matrix[axis][axis].value for axis in range(3)]
    assert np.allclose(diagonal, np.diag(matrix), atol=5e-3)


@pytest.mark.parametrize("seconds", [5.0, 900.0])
def test_detected_rotation_does_not_depend_on_duration_of_stationary_period(seconds):
    times, readings, _, _, count = rested(2, seconds)
    spiked = readings[: count + 1500].copy()
    spiked[count // 2] *= 50.0
    parts = rest_times.find_turning_times(times[: len(spiked)], spiked)
    used = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    # The field has three directions: before, at and after the spike; two seconds of each are used.
    assert np.count_nonzero(used < count) * 0.04 < 3.0 * 2.0
    assert np.count_nonzero(used >= count) >= 1500 - 14


TWO_RESTS = [rest_times.RestTime(0, 50), rest_times.RestTime(80, 100)]


def test_axis_constant_while_stationary_is_reported():
    readings = np.random.default_rng(1).normal(size=(100, 3))
    assert constant_remarks("gyroscope", readings, TWO_RESTS) == []
    readings[:50, 0] = 0.1
    # The axis is constant in only one of the stationary periods.
    assert constant_remarks("gyroscope", readings, TWO_RESTS) == []
    readings[80:, 0], readings[:, 2] = 0.2, 0.0
    (remark,) = constant_remarks("gyroscope", readings, TWO_RESTS)
    assert remark.startswith("gyroscope: readings of x, z are constant")
    assert constant_remarks("gyroscope", readings, []) == []
