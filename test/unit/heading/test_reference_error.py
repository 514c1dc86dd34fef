"""Attribution of a yaw error to reference and IMU, compared with equations and simulations."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.signals import logarithmic_average, power_spectral_density
from imu_simulation_framework.core.tables import REFERENCE_ERROR
from imu_simulation_framework.heading.error_split import ESTIMATED, split_error
from imu_simulation_framework.heading.reference_error import ReferenceError, expected_spectrum
from imu_simulation_framework.heading.relative_error import Progress, relative_errors
from imu_simulation_framework.heading.statistics import TWO_SIDED
from imu_simulation_framework.motion.positioning import (
    TRAJECTORY_RATE,
    FixSettings,
    trajectory_from_fixes,
)

DEGREE = math.radians(1.0)
STEP = 0.5
TIME = np.arange(0.0, 600.0, STEP)
START = 3.0
DRIVE_TIME = TIME[TIME < 300.0]
"""Times of a simulated drive [s]."""


def correlated(random, time_constant):
    """Return a correlated series of unit variance, computed by recursion."""
    kept = math.exp(-STEP / time_constant)
    values = np.empty(len(DRIVE_TIME))
    values[0] = random.standard_normal()
    for k, new in enumerate(random.standard_normal(len(DRIVE_TIME) - 1), 1):
        values[k] = kept * values[k - 1] + math.sqrt(1.0 - kept**2) * new
    return values


def drive(random, kind, imu_size):
    """Return an observed yaw error, the reference error model, and the rms and final IMU error."""
    rate = 8.0 * DEGREE * correlated(random, 6.0)
    turn = np.cumsum(rate) * STEP
    std, time_constant, lag, turn_error = np.zeros(len(DRIVE_TIME)), 10.0, 0.0, 0.0
    if kind == "white":
        std, time_constant = std + 3.0 * DEGREE, 0.05
    elif kind == "correlated":
        std, time_constant = std + 3.0 * DEGREE, 20.0
    elif kind == "course":
        std, time_constant = 3.0 * DEGREE * np.exp(0.5 * correlated(random, 10.0)), 4.0
    elif kind == "lag":
        lag = 0.5
    elif kind == "turn error":
        turn_error = 0.02
    slip = 0.01 * (kind == "slip")
    known = ReferenceError(DRIVE_TIME, std, time_constant, rate, turn, lag, turn_error, slip)
    reference_noise = std * correlated(random, time_constant)
    reference_noise -= lag * random.standard_normal() * rate
    reference_noise += turn_error * random.standard_normal() * turn
    if slip:
        turned = np.sqrt(np.diff(known.absolute_turn, prepend=0.0))
        reference_noise += slip * np.cumsum(turned * random.standard_normal(len(DRIVE_TIME)))
    steps = 0.15 * DEGREE * math.sqrt(STEP) * random.standard_normal(len(DRIVE_TIME))
    imu = np.cumsum(steps) + 0.005 * DEGREE * random.standard_normal() * DRIVE_TIME
    imu = imu_size * (imu + 0.01 * random.standard_normal() * turn)
    first = slice(round(START / STEP))
    # The IMU error has a mean of zero over the first START seconds.
    error = pd.Series(reference_noise - imu + np.mean(imu[first]), DRIVE_TIME)
    imu_error = np.mean(imu[first]) - imu
    return error, known, math.sqrt(np.mean(imu_error**2)), np.mean(imu_error[-first.stop :])


KINDS = ["white", "correlated", "course", "lag", "turn error", "slip"]
DRIVES = 7
"""Number of drives per kind of reference error.

If one kind failed, the coverage over all kinds would deviate by more than four standard errors.
test/benchmarks/coverage_zero.py has a hundred drives of each kind.
"""


@pytest.mark.gate
def test_error_split_intervals_contain_true_imu_error_and_zero_offset():
    random, held = np.random.default_rng(7), []
    for kind in [*KINDS] * DRIVES:
        error, known, imu_error, final = drive(random, kind, 1.5)
        split = split_error(error, known, START, ESTIMATED)
        apparent_bias = np.median(error.to_numpy()[-round(START / STEP) :]) - split.zero
        held.append(
            (
                split.imu_low <= imu_error <= split.imu_high,
                split.imu_final_low <= final <= split.imu_final_high,
                abs(split.zero) <= TWO_SIDED * split.zero_std,
                abs(apparent_bias - final) <= TWO_SIDED * split.final_std,
            )
        )
    # The tolerance is four standard errors of a coverage of 95 %.
    assert np.mean(held, axis=0).min() > 0.95 - 4.0 * math.sqrt(0.95 * 0.05 / len(held))


@pytest.mark.gate
def test_error_split_attributes_pure_reference_error_to_reference():
    random = np.random.default_rng(8)
    drives = [drive(random, kind, 0.0)[:2] for kind in [*KINDS] * DRIVES]
    # The limit is NaN where the reference is better than stated.
    found = [split_error(error, known, START).imu_low > 0.0 for error, known in drives]
    assert np.mean(found) < 0.05 + 4.0 * math.sqrt(0.05 * 0.95 / len(found))


def test_error_split_reference_rms_matches_closed_form():
    std, turn_error = 2.0 * DEGREE, 0.03
    rate = np.full(len(TIME), 3.0 * DEGREE)
    known = ReferenceError(TIME, np.full(len(TIME), std), 30.0, rate, rate * TIME, 0.5, turn_error)
    starts, ends = np.array([10.0, 100.0]), np.array([40.0, 400.0])
    alike = 2.0 * std**2 * (1.0 - np.exp(-(ends - starts) / 30.0))
    expected = alike + (turn_error * 3.0 * DEGREE * (ends - starts)) ** 2
    assert known.change_variance(starts, ends) == pytest.approx(expected)
    covariance = known.covariance(np.append(starts, ends))
    change = np.diag(covariance)[2:] + np.diag(covariance)[:2] - 2.0 * np.diag(covariance, 2)
    assert change == pytest.approx(expected)
    error = pd.Series(0.1 * np.sin(TIME), TIME)
    length_errors = relative_errors(error, Progress(TIME, TIME), [30.0], known.change_variance)
    expected = math.sqrt(alike[0] + (turn_error * 90.0 * DEGREE) ** 2)
    assert length_errors[0].reference_rms == pytest.approx(expected)
    # The error from a lag is constant in a steady turn, so the zero offset at the start removes it.
    split = split_error(error, known, START)
    constant = split_error(error, ReferenceError(TIME, 0.0 * TIME, 1.0, rate, TIME, 0.5), START)
    assert constant.reference == pytest.approx(0.0, abs=1e-6)
    is_end = 2.0 * std**2 + (turn_error * 3.0 * DEGREE * TIME[-1]) ** 2
    assert split.final_std == pytest.approx(math.sqrt(is_end), rel=0.05)


def test_imu_error_is_unknown_if_reference_error_is_overstated():
    known = ReferenceError(TIME, np.full(len(TIME), DEGREE), 1.0, 0.0 * TIME, 0.0 * TIME)
    error = pd.Series(1e-3 * DEGREE * np.sin(TIME), TIME)
    split = split_error(error, known, START)
    assert math.isnan(split.imu) and math.isnan(split.imu_high)
    assert math.isnan(split.imu_final)
    assert split.imu_words().startswith("unknown")


def test_error_split_does_not_weight_samples_by_gaps():
    # The error is unknown most of the time, and large in the first seconds after the gap.
    time = np.concatenate([np.arange(0.0, 20.0, STEP), np.arange(400.0, 600.0, STEP)])
    error = np.where((time >= 400.0) & (time < 405.0), 90.0, 20.0) * DEGREE
    error = pd.Series(np.where(time < 20.0, 0.0, error), time)
    zero = np.zeros(len(time))
    known = ReferenceError(time, zero + 0.1 * DEGREE, 5.0, zero, zero)
    split = split_error(error, known, START)
    assert split.imu == pytest.approx(math.sqrt(np.mean(error**2)), rel=0.03)


def test_sampled_reference_errors_match_covariance():
    time, runs = np.arange(0.0, 20.0, 0.5), 20_000
    std = np.linspace(0.01, 0.03, len(time))
    known = ReferenceError(time, std, 4.0, 0.3 * np.sin(time), 0.3 * (1.0 - np.cos(time)), 0.3, 0.1)
    expected = known.covariance(time)
    found = np.cov(known.draw(runs, np.random.default_rng(8)), rowvar=False)
    variances = np.diag(expected)
    deviations = np.sqrt((np.outer(variances, variances) + expected**2) / runs)
    # None of about 800 correlated entries deviates by more than 5 standard errors.
    assert np.max(np.abs(found - expected) / deviations) < 5.0


def test_covariance_of_means_matches_covariance_of_samples():
    random = np.random.default_rng(9)
    time = np.arange(0.0, 40.0, 0.1)
    for std, correlation_time in ((0.02, 0.01), (0.02, 3.0), (0.02, 1e9)):
        turn = np.cumsum(0.01 * random.standard_normal(len(time)))
        constants = 0.3 * turn, turn, 0.3, 0.1, 0.05
        known = ReferenceError(time, std + 0.0 * time, correlation_time, *constants)
        begins = np.array([0, 1, 11, 50, 51, 52, 300])
        means = np.zeros((len(begins), len(time)))
        for row, (begin, end) in zip(means, zip(begins, [*begins[1:], len(time)])):
            row[begin:end] = 1.0 / (end - begin)
        expected = means @ known.covariance(time) @ means.T
        np.testing.assert_allclose(known.covariance_of_means(time, begins), expected, rtol=1e-6)


def test_jump_and_outlier_hardly_affect_estimated_zero_offset():
    random = np.random.default_rng(3)
    error, known, *_ = drive(random, "correlated", 0.3)
    right = split_error(error, known, START, ESTIMATED)
    wrong = error + np.radians(
        np.where(DRIVE_TIME > 100.0, 60.0, 0.0) + np.where(DRIVE_TIME == 60.0, 900.0, 0.0)
    )
    found = split_error(wrong, known, START, ESTIMATED)
    assert {(round(fault.time, -1), fault.persists) for fault in found.faults} == {
        (100, True),
        (60, False),
    }
    assert abs(found.zero - right.zero) < found.zero_std < 2.0 * right.zero_std


def test_reference_error_is_read_from_poses_and_alignment_reduces_lag():
    poses = pd.DataFrame({"yaw": 0.01 * TIME}, TIME)
    assert ReferenceError.from_poses(poses) is None
    poses = poses.assign(**dict(zip(REFERENCE_ERROR, (0.1, 5.0, 0.5, 0.02))))
    known = ReferenceError.from_poses(poses)
    assert (known.correlation_time, known.lag, known.turn_error) == (5.0, 0.5, 0.02)
    assert known.rate == pytest.approx(np.full(len(TIME), 0.01))
    turning = pd.Series(0.03 * TIME, TIME)
    aligned = ReferenceError.from_poses(poses, 0.01, turning)
    assert aligned.lag == 0.01
    margin = int(1.0 / STEP) + 1
    assert aligned.rate[margin:-margin] == pytest.approx(0.03)
    assert aligned.turn == pytest.approx(0.03 * (TIME - TIME[0]))


def test_course_error_of_smoothed_fixes_matches_stated_error():
    random, step = np.random.default_rng(5), 0.05
    fine, ratios, consistent = np.arange(0.0, 240.0, step), [], []
    for _ in range(8):
        # The motion has the assumed acceleration density; with less, the error is smaller.
        jumps = 0.2 * math.sqrt(step) * random.standard_normal((len(fine), 2))
        velocity = np.array([4.0, 0.0]) + np.cumsum(jumps, axis=0)
        true = np.unwrap(np.arctan2(velocity[:, 1], velocity[:, 0]))
        positions = np.cumsum(step * velocity, axis=0)[::10]
        table = pd.DataFrame(
            positions + 0.3 * random.standard_normal(positions.shape), fine[::10], ["x", "y"]
        ).assign(variance_east=0.09, variance_north=0.09)
        poses = trajectory_from_fixes(table, FixSettings(error_correlation_time=0.0)).poses
        poses = poses[(poses.index > 10.0) & (poses.index < 230.0)]
        error = wrap(poses["yaw"] - np.interp(poses.index, fine, true)) / poses["yaw_std"]
        ratios.append(float(np.mean(error**2)))
        later = round(float(poses["yaw_error_time"].iloc[0]) * TRAJECTORY_RATE)
        products = error.to_numpy()[later:] * error.to_numpy()[:-later]
        consistent.append(float(np.mean(products)) / ratios[-1])
    # About 150 independent errors in each of eight drives determine sigma to 2 %; the
    # acceleration density of the robot is estimated to about 10 %.
    assert math.sqrt(np.mean(ratios)) == pytest.approx(1.0, abs=0.2)
    assert np.mean(consistent) == pytest.approx(math.exp(-1.0), abs=0.1)


def test_course_error_follows_from_receiver_error_across_path():
    # The northward variance is sixteen times larger and affects the course of an eastward path.
    random, times = np.random.default_rng(5), np.arange(0.0, 100.0, 0.2)
    noise = random.standard_normal((len(times), 2)) * (0.1, 0.4)
    deviations = []
    for direction in np.eye(2):
        table = pd.DataFrame(2.0 * np.outer(times, direction) + noise, times, ["x", "y"])
        table = table.assign(variance_east=0.01, variance_north=0.16)
        deviations.append(trajectory_from_fixes(table).poses["yaw_std"].median())
    # Smoothing removes more of the larger error, since the motion is estimated for each path.
    assert deviations[0] > 1.3 * deviations[1]


@pytest.mark.parametrize("lag, turn_error", [(0.0, 0.0), (0.5, 0.0), (0.0, 0.02)])
def test_expected_reference_error_spectrum_matches_density_of_process(lag, turn_error):
    time_constant, std = 4.0, 3.0 * DEGREE
    rate = 8.0 * DEGREE * np.cos(0.5 * TIME)
    turn = np.cumsum(rate) * STEP
    known = ReferenceError(
        TIME, np.full(len(TIME), std), time_constant, rate, turn, lag, turn_error
    )
    found = expected_spectrum(known, TIME)
    kept = math.exp(-STEP / time_constant)
    # The process is a first-order autoregression (Priestley, Spectral analysis and time series,
    # 1981).
    cosine = np.cos(2.0 * math.pi * found.frequency * STEP)
    density = 2.0 * STEP * std**2 * (1.0 - kept**2) / (1.0 - 2.0 * kept * cosine + kept**2)
    density = [density, lag**2 * power_spectral_density(TIME, rate).density]
    density += [turn_error**2 * power_spectral_density(TIME, turn).density]
    _, expected = logarithmic_average(dataclasses.replace(found, density=sum(density)), 3)
    frequency, mean = logarithmic_average(found, 3)
    # With at least four values per band and 20 runs, the standard error is 0.11. The peak of the
    # turns is excluded, because it depends on only 20 random constants, one per run.
    is_in_band = (frequency > 0.01) & (
        np.abs(np.log10(frequency * 4.0 * math.pi)) > 0.3 * (lag > 0.0)
    )
    assert mean[is_in_band] == pytest.approx(expected[is_in_band], rel=0.35)
    # The interpolated error between samples of a slower reference has no noise at high frequencies.
    finer = expected_spectrum(known, np.arange(0.0, TIME[-1], 0.05))
    assert np.all(finer.density[finer.frequency > 5.0] < 1e-3 * np.max(mean))
    assert expected_spectrum(known, TIME[:10]) is None
