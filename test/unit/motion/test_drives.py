"""Synthetic drives: their motion and the statistics of their sensor errors."""

import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core import angles
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.units import STANDARD_GRAVITY
from imu_simulation_framework.drive.drivetrain import DifferentialDrivetrain, RobotLimits
from imu_simulation_framework.drive.tracking import wheel_limits
from imu_simulation_framework.motion import drives, trajectory
from imu_simulation_framework.motion.drives import DRIVES, MOTION_RATE, random_lap, true_motion
from imu_simulation_framework.motion.sources import planar
from imu_simulation_framework.recordings import bundled_drives
from imu_simulation_framework.recordings.bundled_drives import DRIVE_IMU
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth

LIMITS = RobotLimits(max_wheel_velocity=15.0, max_wheel_acceleration=40.0)
DRIVETRAIN = DifferentialDrivetrain(wheel_radius=0.1, half_track=0.25, limits=LIMITS)


@pytest.fixture(scope="module", params=list(DRIVES))
def drive(request):
    return DRIVES[request.param]


@pytest.fixture(scope="module")
def simulated(drive):
    return bundled_drives.simulate_drive(drive)


def test_drive_has_specified_duration_and_ends_stationary(drive, simulated):
    motion, poses, samples = simulated
    assert motion.index[-1] == drive.duration
    assert len(poses) == 5 * drive.duration + 1
    assert len(samples.time) == 100 * drive.duration + 1
    assert 600.0 <= drive.duration <= 660.0
    assert motion.iloc[0].tolist() == [0.0] * 6
    assert motion.iloc[-1][["v", "yaw_rate"]].tolist() == [0.0, 0.0]
    speed = motion["v"].abs()
    assert speed.max() <= 1.0 + 1e-12 and 0.5 < speed[speed > 0.05].mean() < 1.0
    if drive.closing:
        for lap in range(1, drive.laps + 1):
            end = motion.iloc[round(lap * drive.lap_duration * MOTION_RATE)]
            assert math.hypot(end["x"], end["y"]) < 1e-8
            assert math.remainder(end["yaw"], 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_true_motion_follows_differential_drive_kinematics(simulated):
    motion = simulated[0]
    derived = trajectory.add_velocities(motion)
    # Tolerances of central differences at 100 Hz, with at most 1 m/s and 1.4 rad/s.
    assert np.max(np.abs(derived["v"] - motion["v"])) < 1e-3
    assert np.max(np.abs(derived["yaw_rate"] - motion["yaw_rate"])) < 1e-3
    x, y, cosine, sine = motion["x"], motion["y"], np.cos(motion["yaw"]), np.sin(motion["yaw"])
    sideways = cosine * np.gradient(y, 0.01) - sine * np.gradient(x, 0.01)
    assert np.max(np.abs(sideways)) < 1e-3
    acceleration = np.gradient(motion["v"], 0.01)
    assert np.max(np.abs(acceleration - motion["acceleration"])) < 0.01
    motion, poses, _ = simulated
    wheel_limits.check_limits(motion, DRIVETRAIN)
    prepared = trajectory.smooth(trajectory.resample(poses, 20.0), 1.5)
    wheel_limits.check_limits(trajectory.add_velocities(prepared), DRIVETRAIN)


def test_laps_repeat_exactly_and_drive_with_fewer_laps_is_start_of_complete_drive():
    motion, whole, read = bundled_drives.simulate_drive(DRIVES["a"])
    part = motion.iloc[1000:5500]
    assert part["yaw_rate"].max() > 1.2
    standing = part["v"].abs() < 1e-9
    assert np.count_nonzero(standing & (part["yaw_rate"].abs() < 1e-9)) > 100
    assert np.count_nonzero(standing & (part["yaw_rate"].abs() > 0.1)) > 100
    lap = round(DRIVES["a"].lap_duration * MOTION_RATE)
    first, last = motion.iloc[:lap], motion.iloc[10 * lap : 11 * lap]
    assert np.array_equal(first[["x", "y", "v"]], last[["x", "y", "v"]])
    assert np.allclose(last["yaw"].to_numpy() - first["yaw"].to_numpy(), 20.0 * math.pi)
    motion, poses, samples = bundled_drives.simulate_drive(drives.with_laps(DRIVES["a"], 2))
    assert motion.index[-1] == 120.0
    assert poses.iloc[:-1].equals(whole.iloc[: len(poses) - 1])
    # The first sample of the next lap equals the last sample of this lap, except for rounding.
    assert np.allclose(poses.iloc[-1], whole.iloc[len(poses) - 1], atol=1e-7)
    assert np.array_equal(samples.orientation, read.orientation[: len(motion)])


def test_drive_b_reverses_and_depends_on_seed():
    motion = true_motion(DRIVES["b"])
    assert motion["v"].min() < -0.3
    assert np.hypot(motion["x"], motion["y"]).max() < 60.0
    # A repetition would appear as autocorrelation of the yaw rate at lags of a minute or more.
    rate = motion["yaw_rate"].iloc[::20].to_numpy()
    rate = rate - rate.mean()
    correlation = np.correlate(rate, rate, mode="full")[len(rate) - 1 :] / np.sum(rate**2)
    assert np.max(correlation[150:]) < 0.5
    generators = [np.random.default_rng(seed) for seed in (1, 1, 2)]
    first, repeated, other = (random_lap(600.0, generator) for generator in generators)
    assert first == repeated
    assert first != other
    assert sum(manoeuvre.duration for manoeuvre in other) < 600.0


@pytest.mark.gate
def test_yaw_error_statistics_match_bias_scale_factor_and_random_walks(drive):
    # Without rounding, the final yaw error has this mean and standard deviation over seeds.
    motion, gyroscope, duration, runs = true_motion(drive), DRIVE_IMU.gyroscope, drive.duration, 40
    scale = gyroscope.scale_factor_and_misalignment[2][2]
    mean = gyroscope.turn_on_bias[2] * duration + scale * motion["yaw"].iloc[-1]
    variance = gyroscope.white_noise[2] ** 2 * duration
    deviation = math.sqrt(variance + gyroscope.random_walk[2] ** 2 * duration**3 / 3.0)
    truth = imu_truth(planar(motion, STANDARD_GRAVITY))
    finals = imu_model(DRIVE_IMU, 0.01, 1).batch(truth, runs, parts=("yaw_bias",)).yaw_bias[:, -1]
    assert abs(np.mean(finals) - mean) < 3.0 * deviation / math.sqrt(runs)
    ratio = np.std(finals, ddof=1) / deviation
    assert abs(ratio - 1.0) < 3.0 / math.sqrt(2.0 * (runs - 1))


def test_reference_noise_matches_specified_standard_deviations(drive, simulated):
    motion, poses, _ = simulated
    noise = (poses - motion[["x", "y", "yaw"]].iloc[::20]).to_numpy()
    stated_accuracy = np.array([0.02, 0.02, math.radians(0.25)])
    count = len(noise)
    assert np.all(np.abs(noise.std(axis=0) / stated_accuracy - 1.0) < 4.0 / math.sqrt(2.0 * count))
    assert np.all(np.abs(noise.mean(axis=0)) < 4.0 * stated_accuracy / math.sqrt(count))
    lag_one = np.mean(noise[1:] * noise[:-1], axis=0) / stated_accuracy**2
    assert np.all(np.abs(lag_one) < 4.0 / math.sqrt(count))


def test_simulated_output_is_quantised_like_sensor_output(simulated):
    samples = simulated[2]
    for values, step in (
        (samples.orientation, 2.0**-14),
        (samples.angular_velocity, math.radians(1.0 / 16.0)),
        (samples.specific_force, 0.01),
    ):
        steps = values / step
        assert np.max(np.abs(steps - np.round(steps))) < 1e-6
        assert not np.any(np.signbit(values[values == 0.0]))
    assert np.max(np.abs(np.linalg.norm(samples.orientation, axis=1) - 1.0)) < 2.0**-14


def test_sensor_errors_of_drive_can_be_disabled():
    motion, poses, samples = bundled_drives.simulate_drive(
        drives.with_laps(DRIVES["d"], 1),
        isf.GnssSpecification(rate=5.0, heading=isf.GnssHeading("antennas")),
        isf.ImuSpecification(output=isf.OutputSpecification(orientation_reference="truth")),
    )
    assert poses.equals(motion[["x", "y", "yaw"]].iloc[::20])
    yaw = angles.unwrap(angles.yaw_from_quaternion(samples.orientation))
    assert np.max(np.abs(yaw - motion["yaw"].to_numpy())) < 2.0**-13


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: drives.with_laps(DRIVES["a"], 0), "1 or more"),
        (lambda: drives.with_laps(DRIVES["b"], 2), "does not repeat"),
        (lambda: drives.get_drive("e"), "drive is 'e', expected one of a, b, c, d"),
    ],
)
def test_invalid_laps_and_unknown_drives_are_rejected(call, words):
    with pytest.raises(ConfigurationError, match=words):
        call()
