"""From fixes to a path: local coordinates, smoothing, heading."""

import numpy as np
import pandas as pd
import pymap3d
import pytest

from imu_simulation_framework.core.positioning import (
    FixSettings,
    heading_from_course,
    local_position,
    poses_from_fix,
    smoothing_spline,
)

ORIGIN = (48.1, 11.6, 500.0)


def fixes(times, east, north, variance):
    latitude, longitude, altitude = pymap3d.enu2geodetic(
        np.asarray(east), np.asarray(north), 0.0, *ORIGIN
    )
    return pd.DataFrame(
        {
            "latitude": latitude,
            "longitude": longitude,
            "altitude": altitude,
            "variance_east": variance,
            "variance_north": variance,
        },
        index=pd.Index(times, name="time"),
    )


def test_local_position_is_in_metres_east_and_north_of_the_first_fix():
    east, north = np.array([0.0, 100.0, -30.0]), np.array([0.0, 50.0, 200.0])
    position = local_position(fixes([0.0, 1.0, 2.0], east, north, 1.0))
    # A plane and its ellipsoid differ by d^2 / 2 R in height, which moves the rest by 1e-5 of it.
    assert position[:, 0] == pytest.approx(east, abs=1e-3)
    assert position[:, 1] == pytest.approx(north, abs=1e-3)


def test_noise_of_the_altitude_does_not_reach_the_position():
    table = fixes(np.arange(3.0), [0.0, 10.0, 20.0], [0.0, 0.0, 0.0], 1.0)
    noisy = table.assign(altitude=[500.0, np.nan, 900.0])
    # Bit for bit but for the first altitude, which enu2geodetic has in the last digits.
    assert local_position(noisy) == pytest.approx(local_position(table), abs=1e-6)


def test_without_an_altitude_positions_are_still_finite():
    table = fixes(np.arange(3.0), [0.0, 10.0, 20.0], [0.0, 0.0, 0.0], 1.0)
    east = local_position(table.assign(altitude=np.nan))[:, 0]
    assert east == pytest.approx([0.0, 10.0, 20.0], rel=1e-3)


def rauch_tung_striebel(times, values, variances, density):
    """The same estimate, step by step, as an independent reference."""
    count = len(times)
    state, covariance = np.array([values[0], 0.0]), np.diag([1e6, 1e6])
    transitions, priors, filtered = [], [], []
    for k in range(count):
        step = times[k] - times[k - 1] if k else 0.0
        transition = np.array([[1.0, step], [0.0, 1.0]])
        noise = density**2 * np.array([[step**3 / 3, step**2 / 2], [step**2 / 2, step]])
        state = transition @ state
        covariance = transition @ covariance @ transition.T + noise
        transitions.append(transition)
        priors.append((state, covariance))
        gain = covariance[:, 0] / (covariance[0, 0] + variances[k])
        state = state + gain * (values[k] - state[0])
        covariance = covariance - np.outer(gain, covariance[0])
        filtered.append((state, covariance))
    smooth = [filtered[-1][0]]
    for k in range(count - 2, -1, -1):
        prior, prior_covariance = priors[k + 1]
        state, covariance = filtered[k]
        gain = covariance @ transitions[k + 1].T @ np.linalg.inv(prior_covariance)
        smooth.append(state + gain @ (smooth[-1] - prior))
    return np.array(smooth[::-1])


@pytest.mark.parametrize("count", [3, 4, 5, 60])
def test_smoothing_equals_a_rauch_tung_striebel_smoother(count):
    generator = np.random.default_rng(3)
    times = np.cumsum(generator.uniform(0.2, 0.6, count))
    variances = generator.uniform(0.2, 3.0, count)
    values = np.sin(times / 3.0) + np.sqrt(variances) * generator.standard_normal(count)
    spline = smoothing_spline(times, values, variances, 0.2)
    expected = rauch_tung_striebel(times, values, variances, 0.2)
    # The filter's first covariance of 1e6 instead of infinity leaves 1e-6 of the values.
    assert spline(times) == pytest.approx(expected[:, 0], abs=1e-5)
    assert spline(times, 1) == pytest.approx(expected[:, 1], abs=1e-5)


def test_smoothing_keeps_a_straight_line_whatever_the_variances():
    times = np.array([0.0, 1.0, 1.5, 4.0, 4.1])
    spline = smoothing_spline(times, 2.0 * times - 1.0, [1.0, 9.0, 0.1, 4.0, 1.0], 0.1)
    assert spline(times) == pytest.approx(2.0 * times - 1.0, abs=1e-9)


def test_a_position_of_large_variance_hardly_counts():
    times = np.arange(21.0)
    values = np.zeros(21)
    values[10] = 50.0
    trusted = smoothing_spline(times, values, np.ones(21), 0.5)
    variances = np.ones(21)
    variances[10] = 1e4
    doubted = smoothing_spline(times, values, variances, 0.5)
    assert abs(doubted(10.0)) < 0.01 * abs(trusted(10.0))


def test_heading_is_the_course_while_moving():
    times = np.arange(0.0, 60.0, 0.1)
    yaw = 0.3 * times  # nearly three turns
    velocities = np.column_stack([np.cos(yaw), np.sin(yaw)])
    assert heading_from_course(times, velocities, 0.2, 1.0) == pytest.approx(yaw, abs=1e-9)


def stop_between(yaw_before, yaw_after, stop=10.0, rate=20.0):
    """20 s straight on, a stop, 20 s straight on in another direction."""
    times = np.arange(0.0, 40.0 + stop, 1.0 / rate)
    speed = np.where((times < 20.0) | (times >= 20.0 + stop), 1.0, 0.0)
    yaw = np.where(times < 20.0 + stop / 2.0, yaw_before, yaw_after)
    return times, np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw)])


def test_heading_is_held_in_a_stop_and_turned_at_its_end():
    times, velocities = stop_between(0.2, 1.7)
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    needed = 1.5 * 1.5 / 0.8
    held = (times >= 20.0) & (times < 30.0 - needed - 0.1)
    assert np.all(heading[held] == pytest.approx(0.2))
    assert heading[times >= 30.0] == pytest.approx(1.7)
    assert np.abs(np.diff(heading) / np.diff(times)).max() <= 0.8 + 1e-9


def test_a_turn_in_a_short_stop_is_no_faster_than_the_limit():
    times, velocities = stop_between(0.0, -2.0, stop=0.5)
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    rate = np.diff(heading) / np.diff(times)
    assert np.abs(rate).max() <= 0.8 + 1e-9
    assert np.abs(rate).max() > 0.75
    assert heading[0] == pytest.approx(0.0)
    assert heading[-1] == pytest.approx(-2.0)


def test_noise_of_the_course_in_a_stop_does_not_reach_the_heading():
    times, velocities = stop_between(0.5, 0.5)
    velocities += 0.01 * np.random.default_rng(1).standard_normal(velocities.shape)
    velocities[times < 20.0] = velocities[0]
    velocities[times >= 30.0] = velocities[0]
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert np.ptp(heading) < 1e-9


def test_before_the_first_movement_the_heading_is_that_of_the_first_movement():
    times = np.arange(0.0, 10.0, 0.1)
    velocities = np.where(times[:, None] < 5.0, 0.0, [[0.0, 1.0]])
    heading = heading_from_course(times, velocities, 0.2, 0.8)
    assert heading == pytest.approx(np.full(100, np.pi / 2.0))


def test_a_robot_that_never_moves_has_no_heading():
    with pytest.raises(ValueError, match="minimum speed"):
        heading_from_course(np.arange(5.0), np.zeros((5, 2)), 0.2, 0.8)


def test_heading_of_a_noisy_drive_has_the_error_that_its_velocity_implies():
    # Steady state of a smoother for a random walk of velocity, density q, measured with variance
    # R every dt: with w = (q^2 / (R dt))^(1/4) the velocity's variance is q^2 / (2 sqrt(2) w),
    # from the integral of the error's spectrum q^2 u^2 / (w^4 + u^4) over u; that is for dt to 0,
    # here (w dt)^2 = 0.04.
    density, variance, period = 0.1, 0.04, 0.2
    bandwidth = (density**2 / (variance * period)) ** 0.25
    velocity_variance = density**2 / (2.0 * np.sqrt(2.0) * bandwidth)
    errors = []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        times = np.arange(0.0, 200.0, period)
        fine = 10
        step = period / fine
        kicks = density * np.sqrt(step) * generator.standard_normal((len(times) * fine, 2))
        velocity = np.array([5.0, 0.0]) + np.cumsum(kicks, axis=0)
        position = np.cumsum(velocity * step, axis=0)[fine - 1 :: fine]
        measured = position + np.sqrt(variance) * generator.standard_normal(position.shape)
        for axis in range(2):
            spline = smoothing_spline(
                times, measured[:, axis], np.full(len(times), variance), density
            )
            inside = slice(50, -50)
            truth = velocity[fine - 1 :: fine, axis]
            errors.append(np.mean((spline(times, 1) - truth)[inside] ** 2))
    ratio = np.array(errors) / velocity_variance
    assert abs(ratio.mean() - 1.0) < 3.0 * ratio.std(ddof=1) / np.sqrt(len(ratio)) + 0.05


def test_poses_of_a_circle_follow_it():
    generator = np.random.default_rng(5)
    times = 1.5e9 + np.arange(0.0, 120.0, 0.2)
    angle = 0.1 * (times - times[0])
    east, north = 10.0 * np.sin(angle), 10.0 * (1.0 - np.cos(angle))
    sigma = 0.02
    noise = sigma * generator.standard_normal((2, len(times)))
    noise[:, 0] = 0.0
    table = fixes(times, east + noise[0], north + noise[1], sigma**2)
    poses = poses_from_fix(table, FixSettings(error_correlation_time=0.0))
    assert list(poses.columns) == ["x", "y", "yaw"]
    assert poses.index.name == "time"
    assert np.diff(poses.index) == pytest.approx(np.full(len(poses) - 1, 0.05), abs=1e-6)
    truth = 0.1 * (poses.index.to_numpy() - times[0])
    middle = slice(60, -60)
    error = (poses["yaw"].to_numpy() - truth)[middle]
    # Bandwidth (q^2 / (R dt))^(1/4) = 3.3 rad/s, so velocities err by sqrt(q^2 / (2 sqrt(2) 3.3)),
    # 0.033 m/s of 1 m/s at most.
    assert np.sqrt(np.mean(error**2)) < 0.033
    x, y = poses["x"].to_numpy(), poses["y"].to_numpy()
    distance = np.hypot(x - 10.0 * np.sin(truth), y - 10.0 + 10.0 * np.cos(truth))
    assert distance[middle].max() < 4.0 * sigma


def test_correlated_errors_are_smoothed_more():
    generator = np.random.default_rng(6)
    times = np.arange(0.0, 60.0, 0.4)
    table = fixes(times, times + generator.standard_normal(len(times)), 0.0 * times, 1.0)
    alike = poses_from_fix(table, FixSettings(error_correlation_time=4.0))
    apart = poses_from_fix(table, FixSettings(error_correlation_time=0.0))
    assert np.diff(alike["x"]).std() < 0.7 * np.diff(apart["x"]).std()
