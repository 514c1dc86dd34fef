"""Preparation of a recorded trajectory: cropping, resampling, smoothing and scaling."""

import math

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.errors import TrajectoryError
from imu_simulation_framework.drive.drivetrain import DifferentialDrivetrain
from imu_simulation_framework.drive.tracking import wheel_limits
from imu_simulation_framework.motion import trajectory

DRIVETRAIN = DifferentialDrivetrain(wheel_radius=0.1, half_track=0.25)


def _poses(times, x, y, yaw):
    values = map(np.array, np.broadcast_arrays(times, x, y, yaw)[1:])
    return pd.DataFrame(dict(zip(("x", "y", "yaw"), values)), index=pd.Index(times, name="time"))


def _uneven_times(duration, generator, mean_period=0.05):
    steps = mean_period * generator.uniform(0.2, 1.8, int(duration / mean_period))
    return np.concatenate(([0.0], np.cumsum(steps)))


def _circle(times, v=0.8, yaw_rate=0.4):
    yaw = 0.5 + yaw_rate * times
    radius = v / yaw_rate
    return _poses(times, 3.0 + radius * np.sin(yaw), -radius * np.cos(yaw), yaw)


@pytest.fixture
def generator():
    return np.random.default_rng(3)


def test_cropping_by_time_includes_both_ends_and_by_index_excludes_stop():
    table = _circle(1.5e9 + np.arange(11) / 10.0)
    kept = trajectory.crop(table, 0.2, 0.5)
    assert kept.index.tolist() == table.index[2:6].tolist()
    assert len(trajectory.crop(table)) == 11
    table = _circle(np.arange(11) / 10.0)
    assert trajectory.crop_by_index(table, 3, 6).equals(table.iloc[3:6])
    assert trajectory.crop_by_index(table).equals(table)


def test_resampled_trajectory_is_regular_from_first_sample_and_follows_curve(generator):
    times = 100.0 + _uneven_times(20.0, generator)
    resampled = trajectory.resample(_circle(times), 20.0)
    assert resampled.index[0] == times[0]
    assert np.allclose(np.diff(resampled.index), 0.05, atol=1e-9)
    assert 0.0 <= times[-1] - resampled.index[-1] < 0.05
    expected = _circle(resampled.index.to_numpy())
    assert np.max(np.abs((resampled - expected).to_numpy())) < 2e-3


def test_resampling_does_not_overshoot_and_preserves_samples_at_same_rate():
    times = np.arange(0.0, 4.0, 0.2)
    x = np.minimum(times, 2.0)
    resampled = trajectory.resample(_poses(times, x, 0.0, 0.0), 50.0)
    assert resampled["x"].max() == 2.0
    assert np.all(np.diff(resampled["x"]) >= 0.0)
    table = _circle(1.5e9 + np.arange(100) / 20.0)
    resampled = trajectory.resample(table, 20.0)
    assert len(resampled) == 100
    assert np.allclose(resampled, table, atol=1e-6)


def test_smoothing_preserves_lines_turns_and_curves(generator):
    times = _uneven_times(30.0, generator)
    line = _poses(times, 0.7 * times, -0.2 * times, 0.1)
    turn = _poses(times, 4.0, 1.0, 0.9 * times)
    for table in (line, turn):
        assert np.allclose(trajectory.smooth(table, 1.5), table, atol=1e-9)
    circle = _circle(times)
    # A moving average over this window would cut the curve by 2 cm.
    assert np.max(np.abs((trajectory.smooth(circle, 1.5) - circle).to_numpy())) < 1e-3
    times = np.arange(401) / 20.0
    step = np.tanh(times - 10.0)
    smoothed = trajectory.smooth(_poses(times, step, -step, step), 2.0)
    assert np.allclose(smoothed["x"], -smoothed["x"][::-1].to_numpy(), atol=1e-12)
    assert np.allclose(smoothed["x"], smoothed["yaw"], atol=1e-12)


def test_smoothing_reduces_noise_according_to_its_kernel(generator):
    # At regular times, the local regression is a convolution, and the variance of its output is
    # the sum of the squared kernel.
    # The trajectory is longer than one processing block.
    times = np.arange(40_000) / 20.0
    window = 2.0
    u = np.arange(-20, 21) / 20.0
    weight = (1.0 - np.abs(u) ** 3) ** 3
    moments = [np.sum(weight * u**power) for power in (0, 2, 4)]
    kernel = weight * (moments[2] - moments[1] * u**2)
    kernel /= kernel.sum()
    sigma = 0.02
    noise = sigma * generator.standard_normal((3, len(times)))
    smoothed = trajectory.smooth(_poses(times, *noise), window).iloc[40:-40]
    expected = sigma * math.sqrt(np.sum(kernel**2))
    # There is about one independent value per effective kernel width.
    independent = 3 * len(smoothed) * np.sum(kernel**2)
    ratio = smoothed.to_numpy().std() / expected
    assert abs(ratio - 1.0) < 3.0 / math.sqrt(2.0 * independent)
    interior = np.convolve(noise[0], kernel, mode="valid")[20:-20]
    assert np.allclose(smoothed["x"].iloc[: len(interior)], interior, atol=1e-12)


def test_smoothing_requires_four_samples_and_does_not_distort_at_gaps(generator):
    noisy = generator.standard_normal((4, 3))
    times = np.array([0.0, 0.1, 0.2, 0.3])
    smoothed = trajectory.smooth(_poses(times, *noisy.T), 0.8).to_numpy()
    for row, time in enumerate(times):
        distance = np.abs(times - time) / 0.4
        fitted = np.polyfit(times, noisy, 2, w=np.sqrt((1.0 - distance**3) ** 3))
        assert smoothed[row] == pytest.approx(np.array([time**2, time, 1.0]) @ fitted, abs=1e-9)
    few = _poses(times[:3], *noisy[:3].T)
    for table, window in ((few, 0.8), (_circle(np.arange(100) / 10.0), 0.0)):
        assert np.allclose(trajectory.smooth(table, window), table, rtol=0.0, atol=1e-12)
    times = np.concatenate([np.arange(50) / 10.0, [10.0], 15.0 + np.arange(50) / 10.0])
    table = _circle(times)
    smoothed = trajectory.smooth(table, 1.5)
    assert np.max(np.abs((smoothed - table).to_numpy())) < 5e-3
    assert np.allclose(smoothed.iloc[50], table.iloc[50], rtol=0.0, atol=1e-12)


def test_moving_to_origin_and_scaling_preserve_shape():
    table = trajectory.add_velocities(_circle(np.arange(200) / 20.0))
    moved_table = trajectory.move_to_origin(table)
    assert moved_table[["x", "y", "yaw"]].iloc[0].tolist() == [0.0, 0.0, 0.0]
    again = trajectory.add_velocities(moved_table[["x", "y", "yaw"]])
    assert np.allclose(again["v"], table["v"], atol=1e-12)
    assert np.allclose(moved_table["yaw"], table["yaw"] - 0.5)
    scaled = trajectory.scale(table, 0.5)
    assert scaled["yaw"].equals(table["yaw"])
    assert scaled.iloc[0][["x", "y"]].tolist() == table.iloc[0][["x", "y"]].tolist()
    again = trajectory.add_velocities(scaled[["x", "y", "yaw"]])
    assert np.allclose(again["v"], scaled["v"], atol=1e-12)
    assert np.allclose(scaled["v"], 0.5 * table["v"])


@pytest.mark.parametrize("v", [0.8, -0.8])
def test_velocity_sign_matches_driving_direction(v, generator):
    times = _uneven_times(20.0, generator)
    table = trajectory.add_velocities(_circle(times, v=v))
    # Chords of an arc of 0.4 rad/s over up to 0.18 s, with different weights.
    assert np.allclose(table["v"], v, atol=2e-3)
    assert np.allclose(table["yaw_rate"], 0.4, atol=1e-9)


def test_turn_on_the_spot_has_zero_speed():
    times = np.arange(100) / 20.0
    turn = trajectory.add_velocities(_poses(times, 2.0, 1.0, 0.7 * times))
    assert np.allclose(turn["v"], 0.0, atol=1e-12)
    assert np.allclose(turn["yaw_rate"], 0.7)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda t: trajectory.crop(t, 20.0, 30.0), r"start 20 s and stop 30 s .* 1\.0 s"),
        (lambda t: trajectory.crop_by_index(t, 0, 12), "11 samples"),
        (lambda t: trajectory.crop_by_index(t, 7, 3), "11 samples"),
        (lambda t: trajectory.resample(t, 0.0), "Hz"),
        (lambda t: trajectory.resample(t, 1e6), "11 samples in 1 s, one per 0.1 s"),
        (lambda t: trajectory.scale(t, 0.0), "scale of the trajectory is 0"),
        (lambda t: trajectory.add_velocities(t.iloc[:1]), "at least 2"),
    ],
)
def test_invalid_trajectory_preparation_is_rejected(call, words):
    with pytest.raises(TrajectoryError, match=words):
        call(_circle(np.arange(11) / 10.0))


def test_trajectory_functions_do_not_modify_their_arguments(generator):
    times = _uneven_times(10.0, generator)
    poses = _circle(times)
    table = trajectory.add_velocities(poses)
    before = table.copy()
    for changed in (
        trajectory.crop(table, 1.0, 2.0),
        trajectory.crop_by_index(table, 1, 20),
        trajectory.resample(table, 20.0),
        trajectory.smooth(table, 1.0),
        trajectory.smooth(table, 0.0),
        trajectory.move_to_origin(table),
        trajectory.scale(table, 0.3),
        wheel_limits.wheel_velocities(table, DRIVETRAIN),
    ):
        changed.iloc[0] = 99.0
    assert table.equals(before)


def test_cropped_drive_has_velocities_of_complete_drive(generator):
    times = np.arange(0.0, 60.0, 0.1)
    noisy = _circle(times) + 0.02 * generator.standard_normal((len(times), 3))
    grid = trajectory.even_times(noisy, 20.0)
    whole = trajectory.motion_at(noisy, grid)
    resampled = trajectory.resample(noisy, 20.0)
    pd.testing.assert_frame_equal(whole, trajectory.add_velocities(resampled))
    for first, last in ((0, 200), (1, 2), (101, 400), (len(grid) - 3, len(grid) - 1)):
        part = trajectory.motion_at(noisy, grid[first : last + 1])
        # The time grids of these second-order differences differ in the last bit.
        pd.testing.assert_frame_equal(part, whole.iloc[first : last + 1], rtol=0.0, atol=1e-9)
    # Velocities at the ends of the cropped drive use the samples beyond them.
    noisy.index = pd.Index(0.125 * np.arange(len(noisy)), name="time")
    whole = trajectory.motion_at(noisy, noisy.index)
    part = trajectory.motion_at(noisy, noisy.index[1:-1])
    pd.testing.assert_frame_equal(part, whole.iloc[1:-1], rtol=0.0, atol=1e-9)
