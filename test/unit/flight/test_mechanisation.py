from dataclasses import replace

import numpy as np
import pytest
from earth_flights import flight, mount_on_gimbal
from navigated import ANTENNA, GNSS
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.flight.navigation import filter
from imu_simulation_framework.flight.navigation.mechanisation import (
    NavigationState,
    cross_matrix,
    navigate,
    rotation_matrix,
)
from imu_simulation_framework.flight.navigation.runs import lever_arm_between
from imu_simulation_framework.motion.strapdown import increments_of, integrate
from imu_simulation_framework.sensors.gnss.receiver import mount_antenna

BETWEEN_FIXES = 50


@pytest.fixture(scope="module")
def motion():
    return mount_on_gimbal(flight(duration=20.0))


@pytest.fixture(scope="module")
def increments(motion):
    return increments_of(motion)


def _state(motion, index=0):
    single_sample = slice(index, index + 1)
    attitude = Rotation.from_quat(motion.orientation[single_sample]).as_matrix()
    nothing = np.zeros((1, 3))
    return NavigationState(
        motion.position[single_sample], motion.velocity[single_sample], attitude, nothing, nothing
    )


def _navigated(state, increments, begin, samples=BETWEEN_FIXES):
    window = slice(begin + 1, begin + samples + 1)
    shape = (len(state.position), samples, 3)
    return navigate(
        state,
        np.broadcast_to(increments.delta_theta[window], shape),
        np.broadcast_to(increments.delta_velocity[window], shape),
        increments.time[1] - increments.time[0],
    )


def _error(estimate, truth):
    """Return the errors (runs, 15) of navigation states, in the order of the filter's states."""
    turn = Rotation.from_matrix(estimate.attitude @ truth.attitude.swapaxes(1, 2)).as_rotvec()
    away = estimate.velocity - truth.velocity, estimate.position - truth.position
    accelerometer = truth.accelerometer_bias - estimate.accelerometer_bias
    return np.hstack([turn, *away, accelerometer, truth.gyroscope_bias - estimate.gyroscope_bias])


def test_piecewise_navigation_matches_integration_of_complete_path(motion, increments):
    path = integrate(increments, motion.position[0], motion.velocity[0], motion.orientation[0])
    state = _state(motion)
    for begin in range(0, len(motion) - 1, BETWEEN_FIXES):
        state, _ = _navigated(state, increments, begin)
    assert state.position[0] == pytest.approx(path.position[-1], abs=5e-7)
    assert state.velocity[0] == pytest.approx(path.velocity[-1], abs=1e-8)
    expected = Rotation.from_quat(path.orientation[-1]).as_matrix()
    assert state.attitude[0] == pytest.approx(expected, abs=1e-12)


def test_rotation_matrices_match_scipy_and_correction_removes_error():
    vectors = np.array([[0.0, 0.0, 0.0], [1e-9, 0.0, 0.0], [1e-4, -2e-4, 1e-5], [1.0, -2.0, 0.5]])
    expected = Rotation.from_rotvec(vectors).as_matrix()
    assert rotation_matrix(vectors) == pytest.approx(expected, abs=1e-15)
    assert cross_matrix(vectors) @ vectors[3] == pytest.approx(np.cross(vectors, vectors[3]))
    truth = _turned()
    error = np.arange(1.0, 16.0)[np.newaxis] * 1e-3
    back = filter.corrected(filter.corrected(truth, -error), error)
    for name, value in truth._asdict().items():
        assert getattr(back, name) == pytest.approx(value, abs=1e-8), name


def test_small_navigation_errors_propagate_with_transition_matrix(motion, increments):
    begin = 700
    truth = _state(motion, begin)
    sizes = np.repeat([1e-4, 0.1, 10.0, 1e-2, 1e-4], 3)
    wrong = np.diag(sizes)
    runs = NavigationState(*(np.repeat(part, 15, axis=0) for part in truth))
    estimates = filter.corrected(runs, -wrong)
    assert _error(estimates, runs) == pytest.approx(wrong, abs=1e-9)
    end, stretch = _navigated(truth, increments, begin)
    ends, _ = _navigated(estimates, increments, begin)
    grown = _error(ends, NavigationState(*(np.repeat(part, 15, axis=0) for part in end)))
    predicted = wrong @ filter.transition(end, stretch)[0].T
    # The tolerance is due to the Earth's rotation by 4e-5 rad, to errors that are not
    # infinitesimal, and to the rounding of ECEF positions to 1e-9 m.
    largest = np.max(np.abs(grown), axis=1, keepdims=True)
    assert np.all(np.abs(predicted - grown) < 2e-4 * largest + 4e-9)


def test_effect_of_scale_factor_and_g_sensitivity_errors_matches_influence_matrix(
    motion, increments
):
    begin = 700
    truth = _state(motion, begin)
    window = slice(begin + 1, begin + BETWEEN_FIXES + 1)
    delta_theta, delta_velocity = increments.delta_theta[window], increments.delta_velocity[window]
    end, stretch = _navigated(truth, increments, begin)
    size = 1e-4
    for element in range(27):
        matrices = np.zeros((3, 9))
        matrices.flat[element] = size
        gyroscope, accelerometer, sensitivity = matrices.reshape(3, 3, 3)
        ends, _ = navigate(
            truth,
            (delta_theta + delta_theta @ gyroscope.T + delta_velocity @ sensitivity.T)[np.newaxis],
            (delta_velocity + delta_velocity @ accelerometer.T)[np.newaxis],
            0.01,
        )
        grown = _error(ends, end)[0]
        predicted = size * filter.influence(stretch)[0][:, element]
        largest = np.max(np.abs(filter.influence(stretch)[0]), axis=1) * size
        # The filter assumes that a tilt grows linearly between fixes, which affects the position.
        assert np.all(np.abs(predicted - grown)[:3] < 2e-3 * largest[:3])
        assert np.all(np.abs(predicted - grown)[3:9] < 0.1 * largest[3:9])


def test_last_angular_rate_is_extrapolated_linearly(motion):
    period, samples = 0.02, 6
    begin, slope = np.array([0.3, -0.2, 0.1]), np.array([0.5, 0.4, -0.7])
    # Increments are integrals of a linearly increasing rate over one period.
    edges = period * np.arange(samples + 1)[:, np.newaxis]
    turns = np.diff(begin * edges + 0.5 * slope * edges**2, axis=0)[np.newaxis]
    _, stretch = navigate(_state(motion), turns, np.zeros((1, samples, 3)), period)
    assert stretch.last_rate[0] == pytest.approx(begin + slope * samples * period, abs=1e-12)


ARM, ARM_RATE = np.array([-1.2, 0.4, 2.0]), np.array([0.1, -0.3, 0.2])
RATE = np.array([0.3, -0.5, 0.9])


def _turned():
    nothing = np.zeros((1, 3))
    attitude = Rotation.from_rotvec([[0.4, -1.1, 2.0]]).as_matrix()
    place, velocity = np.array([[4e6, 3e6, 4e6]]), np.array([[30.0, -50.0, 20.0]])
    return NavigationState(place, velocity, attitude, nothing, nothing)


@pytest.mark.parametrize("arm, arm_rate", [(ARM, ARM_RATE), (0.0 * ARM, 0.0 * ARM)])
def test_innovation_depends_on_errors_through_measurement_matrix(arm, arm_rate):
    truth = _turned()
    _, matrix = filter.antenna_matrix(truth, RATE[np.newaxis], arm, arm_rate)

    def seen(error):
        estimate = filter.corrected(truth, -error[np.newaxis])
        # A gyroscope with an underestimated bias appears to turn faster.
        rate = RATE + error[12:]
        return filter.antenna_matrix(estimate, rate[np.newaxis], arm, arm_rate)[0][0]

    sizes = np.repeat([1e-3, 0.1, 1.0, 0.01, 1e-3], 3)
    for state, size in enumerate(sizes):
        error = size * np.eye(15)[state]
        # The central difference leaves an error of third order, 1e-9 of the arm. Earth rotation
        # contributes 1e-7 m/s of these errors, and positions of 4e6 m are rounded to 1e-9 m.
        innovation = 0.5 * (seen(-error) - seen(error))
        assert innovation[:3] == pytest.approx((matrix[0] @ error)[:3], abs=2e-8)
        assert innovation[3:] == pytest.approx((matrix[0] @ error)[3:], abs=5e-9)


def test_varying_lever_arm_points_from_imu_to_antenna():
    airframe = flight(duration=10.0)
    imu = mount_on_gimbal(airframe)
    antenna = mount_antenna(airframe, replace(GNSS, lever_arm=ANTENNA))
    at = np.arange(100, 900, 50)
    arm = lever_arm_between(imu, antenna, imu.time[at])
    for index, sample in enumerate(at):
        rate = imu.angular_velocity[[sample]]
        seen, _ = filter.antenna_matrix(_state(imu, sample), rate, arm.arm[index], arm.rate[index])
        assert seen[0, :3] == pytest.approx(antenna.position[sample], abs=1e-8)
        assert seen[0, 3:] == pytest.approx(antenna.velocity[sample], abs=1e-9)
    # The rate must be the derivative of the lever arm.
    whole = lever_arm_between(imu, antenna, imu.time)
    rate = np.gradient(whole.arm, imu.time, axis=0)
    assert whole.rate[2:-2] == pytest.approx(rate[2:-2], abs=2e-4)
    with pytest.raises(MotionError, match="times"):
        lever_arm_between(airframe, flight(rate=50.0, duration=10.0), [1.0])
