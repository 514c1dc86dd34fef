"""Odometer errors compared with closed-form UMBmark equations and with a random walk."""

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.odometer import Odometer

PERFECT = isf.OdometerSpecification()
ROUND = isf.rounds(2, radius=5.0, speed=1.0)
STRAIGHT = isf.straight(100.0, speed=1.0)


@pytest.mark.parametrize("motion", [ROUND, STRAIGHT, isf.rounds(-1, radius=1.0, speed=0.5)])
def test_odometer_without_errors_matches_true_motion(motion):
    readings = isf.simulate_odometer(motion, PERFECT)
    assert abs(isf.yaw_error(readings, motion)).max() < 1e-9
    # A step of 0.02 s is a chord, shorter than its arc by a fraction of (0.004)^2 / 24.
    for axis, name in enumerate("xy"):
        true = np.interp(readings.index, motion.time, motion.position[:, axis])
        np.testing.assert_allclose(readings[name], true, atol=1e-4)
    assert readings["v"].iloc[1:].to_numpy() == pytest.approx(np.linalg.norm(motion.velocity[0]))


def test_odometer_with_wrong_track_width_and_wheel_radii_matches_umbmark():
    readings = isf.simulate_odometer(ROUND, isf.OdometerSpecification(track_ratio=1.02))
    assert readings["yaw"].iloc[-1] == pytest.approx(1.02 * 4.0 * np.pi, rel=1e-3)
    ratio, distance = 1.01, 100.0
    readings = isf.simulate_odometer(STRAIGHT, isf.OdometerSpecification(diameter_ratio=ratio))
    # Borenstein and Feng, with radii of 2 R / (1 + E_d) and E_d times that; the mean is R.
    left, right = (1.0 + ratio) / 2.0, (1.0 + ratio) / (2.0 * ratio)
    turned = distance * (right - left) / PERFECT.track
    assert readings["yaw"].iloc[-1] == pytest.approx(turned, rel=1e-9)
    readings = isf.simulate_odometer(STRAIGHT, isf.OdometerSpecification(scale=0.98))
    assert readings["x"].iloc[-1] == pytest.approx(100.0 / 0.98, rel=1e-9)


@pytest.mark.parametrize("motion", [ROUND, STRAIGHT, isf.rounds(-3, radius=1.0, speed=0.5)])
@pytest.mark.parametrize(
    "errors",
    [(1.01, 1.0, 1.0), (1.0, 1.02, 1.0), (1.0, 1.0, 0.98), (1.01, 1.02, 0.98)],
    ids=["unequal wheels", "track", "size of the wheels", "all"],
)
def test_odometer_on_circles_and_lines_matches_closed_form(motion, errors):
    ratio, track, scale = errors
    odometer = isf.OdometerSpecification(
        diameter_ratio=ratio, track_ratio=track, scale=scale, rate=100.0
    )
    readings = isf.simulate_odometer(motion, odometer)
    time = readings.index[-1]
    rolled = time * np.linalg.norm(motion.velocity[0])
    turn = motion.yaw[-1] - motion.yaw[0]
    half = 0.5 * track * odometer.track * turn
    # Wheel angles are distances over true radii (mean: R times scale); readings assume radius R.
    left = (rolled - half) * (1.0 + ratio) / (2.0 * scale)
    right = (rolled + half) * (1.0 + ratio) / (2.0 * scale * ratio)
    forward, turned = 0.5 * (left + right), (right - left) / odometer.track
    assert readings["yaw"].iloc[-1] - readings["yaw"].iloc[0] == pytest.approx(
        turned, rel=1e-6, abs=1e-9
    )
    along = readings["yaw"].iloc[0] + 0.5 * turned
    chord = forward * np.sinc(turned / (2.0 * np.pi))
    end = readings[["x", "y"]].iloc[-1] - readings[["x", "y"]].iloc[0]
    # Each step advances along its mean direction by the length of its arc.
    np.testing.assert_allclose(end, chord * np.array([np.cos(along), np.sin(along)]), atol=1e-4)


def test_encoder_error_is_within_one_tick_and_acceleration_causes_slip():
    fine = isf.simulate_odometer(ROUND, PERFECT)
    coarse = isf.simulate_odometer(ROUND, isf.OdometerSpecification(ticks_per_turn=64))
    tick = 2.0 * np.pi / 64
    for wheel in ("left", "right"):
        late = fine[wheel] - coarse[wheel]
        assert late.min() > -1e-9 and late.max() < tick + 1e-9
        np.testing.assert_allclose(coarse[wheel] / tick, np.round(coarse[wheel] / tick), atol=1e-6)
    time = np.arange(0.0, 10.0, 0.01)
    x = 0.5 * time**2
    level = np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1))
    motion = isf.Motion.from_poses(time, np.column_stack([x, 0 * x, 0 * x]), level)
    readings = isf.simulate_odometer(motion, isf.OdometerSpecification(acceleration_slip=0.5))
    expected = np.interp(readings.index[-1], time, x) * (1.0 + 0.5 / 9.80665)
    assert readings["x"].iloc[-1] == pytest.approx(expected, rel=1e-3)


def test_odometer_slip_is_random_walk_and_track_ratio_varies_between_runs():
    slip, runs = 2e-3, 400
    straight, circles = isf.straight(100.0, rate=10.0), isf.rounds(2, radius=5.0, rate=10.0)
    odometer = isf.OdometerSpecification(slip=slip, rate=10.0)
    ends = [isf.simulate_odometer(straight, odometer, run=k)["yaw"].iloc[-1] for k in range(runs)]
    sigma = slip * np.sqrt(2.0 * 100.0) / odometer.track
    # The standard deviation of n runs has a relative standard error of 1 / sqrt(2 (n - 1)).
    assert abs(np.std(ends, ddof=1) / sigma - 1.0) < 4.0 / np.sqrt(2.0 * (runs - 1))
    assert abs(np.mean(ends)) < 4.0 * sigma / np.sqrt(runs)
    odometer = isf.OdometerSpecification(track_ratio_sigma=0.01, rate=1.0)
    ends = [isf.simulate_odometer(circles, odometer, run=k)["yaw"].iloc[-1] for k in range(400)]
    spread = np.std(np.array(ends), ddof=1) / circles.yaw[-1]
    assert abs(spread / 0.01 - 1.0) < 4.0 / np.sqrt(2.0 * 399)


@pytest.mark.parametrize("pieces", [[500, 501], [1, 2, 998], [1001]])
def test_odometer_readings_do_not_depend_on_block_size(pieces):
    odometer = isf.OdometerSpecification(
        ticks_per_turn=512, slip=2e-3, diameter_ratio_sigma=0.01, track_ratio_sigma=0.01
    )
    time = 0.1 * np.arange(1001.0)
    rolled, poses = 0.3 * time, np.column_stack([time, -time, np.sin(time)])
    whole = Odometer(odometer, 3).read(time, rolled, poses)
    odometer_in_parts, ends = Odometer(odometer, 3), np.cumsum(pieces)
    parts = [
        odometer_in_parts.read(time[a:b], rolled[a:b], poses[a:b])
        for a, b in zip(ends - pieces, ends)
    ]
    for name, values in whole.items():
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), values)


def test_odometer_files_are_read_and_invalid_files_are_rejected(tmp_path):
    path = tmp_path / "odometer.yaml"
    path.write_text("wheel_radius: 0.165\ntrack: 0.55\nticks_per_turn: 512\n")
    expected = isf.OdometerSpecification(wheel_radius=0.165, track=0.55, ticks_per_turn=512)
    assert isf.read_odometer(path) == expected
    path.write_text("wheel_radius: -1\n")
    with pytest.raises(ConfigurationError, match="odometer.yaml: wheel_radius is -1"):
        isf.read_odometer(path)
    bundled = isf.read_odometer("skid_steer")
    assert (bundled.track, bundled.slip) == (0.55, 0.02)
    with pytest.raises(ConfigurationError, match="choose one of: differential, skid_steer"):
        isf.read_odometer("tracked")
    path.write_text("wheel: 1\n")
    with pytest.raises(ConfigurationError, match="odometer.yaml: .*wheel"):
        isf.read_odometer(path)
    with pytest.raises(ConfigurationError, match="rate is 1000 Hz"):
        isf.simulate_odometer(ROUND, isf.OdometerSpecification(rate=1000.0))
