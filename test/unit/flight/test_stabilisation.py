"""Residual motion of a stabilised gimbal."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from shaken_platforms import SPEED, shaken, shaken_on_earth

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.flight.gimbal.loop import gains, servo, transition
from imu_simulation_framework.motion.earth import EARTH_RATE

SHAKEN = (0.05, 0.04, 0.03)  # rad
ARMS = isf.GimbalGeometry(pan_to_tilt=(0.0, 0.0, -0.1), tilt_to_roll=(0.1, 0.0, 0.0))
LOOP = isf.Stabilisation(isf.HeldAttitude(yaw=0.0), bandwidth=3.0, servo_bandwidth=15.0)


def simulated(platform, drive=LOOP, limits=(None, None, None), imu=None, **options):
    gimbal = isf.GimbalSpecification(geometry=ARMS, drive=drive, limits=limits)
    return isf.simulate_gimbal(platform, gimbal, imu, **options)


def response(error, frequency, time):
    """Return the complex gain from a sine with an amplitude of 0.02 rad to an error."""
    phase = 2.0 * np.pi * frequency * time
    waves = np.column_stack([np.sin(phase), np.cos(phase)])
    (phase_part, across), *_ = np.linalg.lstsq(waves, error, rcond=None)
    return (phase_part + 1j * across) / 0.02


def residual_gain(stabilisation, frequency, period):
    r"""Return the transfer function from a platform's angle to the residual angle of an axis.

    The state x of ``transition`` follows :math:`x_{k+1} = F x_k + G d_k`, where d is the
    platform's angle. It acts on the error like the joint's angle, so the residual is
    d + (1, 0, 0) x and the transfer function is :math:`1 + H (z I - F)^{-1} G` at
    :math:`z = \exp(2 \pi i f T)`.
    """
    decay, _, command_gain = servo(stabilisation, period)
    proportional, integral = gains(stabilisation)
    enters = np.array(
        [-command_gain * proportional, -(1.0 - decay) * proportional, -integral * period]
    ).reshape(3, 1)
    z = np.exp(2j * np.pi * np.asarray(frequency, dtype=float) * period)
    resolvent = z[..., np.newaxis, np.newaxis] * np.eye(3) - transition(stabilisation, period)
    return 1.0 + np.linalg.solve(resolvent, np.broadcast_to(enters, (*z.shape, 3, 1)))[..., 0, 0]


def gyroscope(**errors):
    return isf.ImuSpecification("test", gyroscope=isf.TriadSpecification(**errors))


@pytest.mark.parametrize("make", [shaken, shaken_on_earth])
def test_ideal_gimbal_maintains_attitude(make):
    platform = make(SHAKEN)
    found = simulated(platform, isf.Stabilisation())
    assert found.residual.largest_pointing_error < 1e-12
    assert found.residual.largest_rate_error < 1e-12
    rate = np.linalg.norm(found.motion.angular_velocity, axis=1)
    # The remaining rate is that of a level platform moving over the rotating Earth.
    expected = 0.0 if make is shaken else EARTH_RATE
    assert np.max(np.abs(rate - expected)) < (1e-12 if make is shaken else 1e-5)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("frequency", [0.2, 1.0, 5.0])
def test_gimbal_residual_for_sine_matches_transfer_function(axis, frequency):
    size = np.zeros(3)
    size[axis] = 0.02
    platform = shaken(size, (frequency,) * 3)
    error = -simulated(platform).residual.attitude_error[2000:, axis]
    gain = residual_gain(LOOP, frequency, 0.01)
    assert response(error, frequency, platform.time[2000:]) == pytest.approx(gain, abs=1e-9)


def test_transfer_function_with_fast_sampling_and_servos_matches_textbook():
    fast = replace(LOOP, servo_bandwidth=5000.0)
    frequency = np.array([0.1, 1.0, 3.0, 10.0])
    s, natural = 2j * np.pi * frequency, 2.0 * np.pi * 3.0
    expected = s**2 / (s**2 + 2.0 * 0.7 * natural * s + natural**2)
    np.testing.assert_allclose(residual_gain(fast, frequency, 1e-5), expected, rtol=2e-3)


def test_stabilisation_loop_starts_with_target_rate():
    # The line of sight turns fastest abeam, at a nearly constant rate.
    abeam = isf.PointAhead(0.0, 300.0, -900.0)
    found = simulated(shaken((0.0, 0.0, 0.0), duration=2.0), replace(LOOP, target=abeam))
    turning = SPEED / np.hypot(300.0, 900.0)
    # A loop that initially assumed a stationary target would lag by about this angle.
    lag = turning / (2.0 * np.pi * LOOP.bandwidth)
    assert found.residual.largest_pointing_error < 0.01 * lag


def test_gyroscope_bias_rotates_line_of_sight_unless_aided():
    bias = 1e-3
    imu = gyroscope(turn_on_bias=(0.0, 0.0, bias))
    found = simulated(shaken((0.0, 0.0, 0.0)), imu=imu)
    off = found.residual.attitude_error[:, 2]
    # The joints follow with the delay of the loop, which is constant.
    slope = np.polyfit(found.motion.time[1000:], off[1000:], 1)[0]
    assert slope == pytest.approx(bias, rel=1e-6)
    found = simulated(shaken((0.0, 0.0, 0.0)), replace(LOOP, aid_time=5.0), imu=imu)
    assert found.residual.attitude_error[-1, 2] == pytest.approx(bias * 5.0, rel=2e-3)


@pytest.mark.parametrize(
    "errors",
    [
        {"white_noise": 1e-3},
        {"turn_on_bias": (1e-3, -2e-3, 3e-3), "resolution": 1e-3},
        {"scale_factor_and_misalignment": ((0.02, 0.01, 0), (0, 0.03, 0), (0.01, 0, -0.02))},
        {"nonlinearity": 0.1, "saturation": 1.0},
    ],
)
def test_stabilisation_loop_uses_same_readings_as_recorded_imu(errors):
    # The camera has to turn while passing the point, so that scale factor errors have an effect.
    platform, imu = shaken(SHAKEN, duration=20.0), gyroscope(**errors)
    passed = isf.PointAhead(400.0, 300.0, -900.0)
    drive = replace(LOOP, target=passed, bandwidth=5.0, servo_bandwidth=50.0)
    found = simulated(platform, drive, imu=imu, seed=7, run=3)
    samples = isf.simulate_imu(found.motion, imu, seed=7, run=3)
    rates = samples[["gyro_x", "gyro_y", "gyro_z"]].to_numpy()
    estimated = [Rotation.from_quat(found.motion.orientation[0])]
    for rate in rates[1:]:
        estimated.append(estimated[-1] * Rotation.from_rotvec(0.01 * rate))
    ideal = Rotation.from_quat(simulated(platform, drive).motion.orientation).inv()
    drifted = (ideal * Rotation.from_quat(found.motion.orientation)).magnitude()
    # Despite errors, the estimated attitude is on target, but the true attitude is not.
    estimated_error = (ideal * Rotation.concatenate(estimated)).magnitude()
    assert np.max(drifted) > 1e-3
    assert np.max(estimated_error) < 0.1 * np.max(drifted)


def test_gimbal_runs_have_independent_noise_and_loop_is_causal():
    platform, imu = shaken(SHAKEN, duration=5.0), gyroscope(white_noise=1e-4)
    first_run, again, other = (
        simulated(platform, imu=imu, seed=5, run=run).joints.angle for run in (0, 0, 1)
    )
    np.testing.assert_array_equal(first_run, again)
    assert np.max(np.abs(first_run - other)) > 1e-6
    platform = shaken(SHAKEN, duration=10.0)
    turned = platform.orientation.copy()
    turned[600:] = platform.orientation[300:701]
    other = isf.Motion.from_poses(platform.time, platform.position, turned)
    first_run, second_run = (
        simulated(motion, imu=imu).joints.angle for motion in (platform, other)
    )
    np.testing.assert_array_equal(first_run[:600], second_run[:600])
    assert np.max(np.abs(first_run[600:] - second_run[600:])) > 1e-3


def test_joint_angles_stay_within_limits_and_reached_limits_are_reported():
    limits = (None, (-0.02, 0.02), None)
    found = simulated(shaken(SHAKEN), limits=limits)
    assert np.max(np.abs(found.joints.angle[:, 1])) == 0.02
    at = found.residual.angle_limited
    assert not at[:, (0, 2)].any() and np.all(found.joints.rate[at] == 0.0)
    # The magnitude of a sine exceeds half of its amplitude for two thirds of the time.
    assert found.residual.time_at_angle_limit[1] == pytest.approx(40.0, abs=3.0)
    assert "The gimbal reaches its limits: its tilt is at an angle limit" in found.remarks[1]
    # Between the limits, the gimbal is on target again.
    free = np.flatnonzero(~at[:, 1] & (found.motion.time > 1.0))
    assert np.median(np.abs(found.residual.attitude_error[free, 1])) < 5e-3
    found = simulated(shaken(SHAKEN), isf.Stabilisation(), (None, (-0.02, 0.02), None))
    assert np.max(np.abs(found.joints.angle[:, 1])) == 0.02
    assert found.residual.largest_pointing_error == pytest.approx(0.02, rel=0.1)
    assert len(found.remarks) == 2


def test_joint_rates_stay_within_limits_and_fixed_joints_do_not_move():
    slow = replace(LOOP, rate_limits=(2.0, 0.1, 2.0))
    found = simulated(shaken(SHAKEN), slow)
    assert np.max(np.abs(found.joints.rate[:, 1])) <= 0.1
    assert found.residual.time_at_rate_limit[1] > 10.0
    assert found.residual.time_at_rate_limit[0] == 0.0
    assert any("its tilt is at its rate limit" in remark for remark in found.remarks)
    assert found.residual.largest_pointing_error > 5e-3
    found = simulated(shaken(SHAKEN), limits=(None, None, (0.0, 0.0)))
    assert np.all(found.joints.angle[:, 2] == 0.0)
    error = np.max(np.abs(found.residual.attitude_error[500:]), axis=0)
    assert error[0] == pytest.approx(0.05, rel=0.1)
    assert np.max(error[1:]) < 5e-3
    assert len(found.remarks) == 1


@pytest.mark.parametrize("bandwidth", [None, 3.0])
def test_motion_through_gimbal_lock_stays_finite_and_recovers(bandwidth):
    # The platform pitches by more than 90 degrees in total, and the target is straight ahead.
    platform = shaken((0.1, 1.7, 0.1), (0.05, 0.05, 0.03), duration=40.0)
    drive = replace(LOOP, bandwidth=bandwidth)
    found = simulated(platform, drive)
    for values in (found.joints.angle, found.joints.rate, found.motion.specific_force):
        assert np.all(np.isfinite(values))
    assert np.max(np.abs(found.joints.angle[:, 1])) <= 0.5 * np.pi
    if bandwidth is not None:
        assert np.max(np.abs(found.joints.rate)) <= 2.0
    assert found.residual.pointing_error[-1] < 0.05


@pytest.mark.parametrize("make", [shaken, shaken_on_earth])
@pytest.mark.parametrize("boresight", ["forward", "down"])
def test_lines_of_sight_from_imu_meet_at_target(make, boresight):
    platform = make(SHAKEN, duration=20.0)
    drive = isf.Stabilisation(isf.PointAhead(800.0, 300.0, -900.0), boresight, bandwidth=4.0)
    perfect = replace(drive, bandwidth=None)
    found = simulated(platform, perfect, limits=(None, (-1.5, 1.5), None))
    axis = (1.0, 0.0, 0.0) if boresight == "forward" else (0.0, 0.0, -1.0)
    sights = Rotation.from_quat(found.motion.orientation).apply(axis)
    # All lines of sight intersect at one point, which is estimated by least squares.
    across = np.eye(3) - sights[:, :, np.newaxis] * sights[:, np.newaxis, :]
    near = found.motion.position - found.motion.position[0]
    point = np.linalg.solve(across.sum(axis=0), (across @ near[:, :, np.newaxis]).sum(axis=0))
    distance = np.linalg.norm(across @ (near[:, :, np.newaxis] - point), axis=1)
    assert np.max(distance) < 1e-3
    assert np.linalg.norm(point) == pytest.approx(np.sqrt(800.0**2 + 300.0**2 + 900.0**2), abs=0.3)
    looped = simulated(platform, drive, limits=(None, (-1.5, 1.5), None))
    assert looped.residual.rms_pointing_error < 5e-3


def test_forward_view_is_level_and_point_on_earth_requires_earth_motion():
    drive = isf.Stabilisation(isf.PointAhead(2000.0, 100.0, -500.0))
    found = simulated(shaken(SHAKEN, duration=10.0), drive)
    left = Rotation.from_quat(found.motion.orientation).apply((0.0, 1.0, 0.0))
    np.testing.assert_allclose(left[:, 2], 0.0, atol=1e-12)
    drive = isf.Stabilisation(isf.PointOnEarth(50.0, 14.0, 200.0))
    with pytest.raises(ConfigurationError, match="points at latitude 50 and longitude 14"):
        simulated(shaken(SHAKEN, duration=1.0), drive)
    platform = shaken_on_earth(SHAKEN, duration=5.0)
    place = platform.latitude_longitude_height[-1]
    ground_point = isf.PointOnEarth(np.degrees(place[0]) + 0.01, np.degrees(place[1]), 0.0)
    found = simulated(platform, isf.Stabilisation(ground_point))
    assert found.residual.largest_pointing_error < 1e-9


def test_target_on_path_and_unstable_loop_are_rejected():
    drive = isf.Stabilisation(isf.PointAhead(100.0))
    platform = shaken((0.0, 0.0, 0.0), duration=4.0)
    with pytest.raises(MotionError, match="target point .* at 2 s"):
        isf.simulate_gimbal(platform, isf.GimbalSpecification(drive=drive))
    with pytest.raises(ConfigurationError, match="of 30 Hz, a servo bandwidth of 15 Hz"):
        simulated(shaken(SHAKEN, duration=1.0), replace(LOOP, bandwidth=30.0))


def test_stabilisation_loop_runs_at_rate_of_slow_gyroscope():
    platform = shaken((0.0, 0.0, 0.02), (0.5,) * 3)
    imu = isf.ImuSpecification("slow", output=isf.OutputSpecification(rate=50.0))
    found = simulated(platform, imu=imu)
    error = -found.residual.attitude_error[2000::2, 2]
    gain = residual_gain(LOOP, 0.5, 0.02)
    assert response(error, 0.5, platform.time[2000::2]) == pytest.approx(gain, abs=1e-9)
    # Between samples, the servos continue to move.
    angle, rate = found.joints.angle[:, 0], found.joints.rate[:, 0]
    np.testing.assert_allclose(np.diff(angle) / 0.01, 0.5 * (rate[1:] + rate[:-1]), atol=2e-3)
