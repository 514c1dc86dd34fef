"""Increments of a motion on the Earth: what they are, and that they lead back to it."""

import time

import numpy as np
import pytest
from earth_flights import flight, on_gimbal, poses
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import turns
from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.earth import EARTH_RATE, gravity_ecef
from imu_simulation_framework.motion.earth_motion import EarthMotion, circling, standing
from imu_simulation_framework.motion.strapdown import Increments, increments_of, integrate


def _integrated(motion, increments=None):
    return integrate(
        increments_of(motion) if increments is None else increments,
        motion.position[0],
        motion.velocity[0],
        motion.orientation[0],
    )


def _errors(path, motion):
    """Return the largest differences [m], [m/s], [rad]."""
    return (
        np.abs(path.position - motion.position).max(),
        np.abs(path.velocity - motion.velocity).max(),
        np.abs(turns(path.orientation, motion.orientation)).max(),
    )


def _require_closed(motion, *limits):
    """Increments lead back to their motion within so many metres, m/s and rad."""
    for error, limit in zip(_errors(_integrated(motion), motion), limits):
        assert error < limit


@pytest.mark.parametrize("latitude, longitude", [(90.0, 0.0), (-90.0, 0.0), (3.0, 180.0)])
def test_poles_and_date_line_are_no_obstacles(latitude, longitude):
    motion = on_gimbal(circling(200.0, latitude, longitude, 300.0))
    _require_closed(motion, 1e-3, 1e-4, 1e-6)


def test_what_stands_stays_for_an_hour():
    motion = standing(3600.0, 47.0, 11.0, 500.0, yaw=1.0, rate=10.0)
    _require_closed(motion, 1e-2, 1e-5, 1e-9)


@pytest.mark.parametrize("gimbal", [False, True])
def test_increments_are_the_integrals_of_what_is_felt_within_a_period(gimbal):
    coarse, fine = 50, 40
    # In closed form but for the gimbal's angles: no derivative of positions, which are rounded.
    finer = circling(4.0, 47.0, 11.0, 300.0, radius=300.0, rate=float(coarse * fine))
    finer = on_gimbal(finer) if gimbal else finer
    samples = slice(None, None, fine)
    names = ("time", "position", "orientation", "velocity", "angular_velocity", "specific_force")
    motion = EarthMotion(*(getattr(finer, name)[samples] for name in names))
    increments = increments_of(motion)
    step = 1.0 / (coarse * fine)
    for number in range(20, 180, 16):
        within = slice((number - 1) * fine, number * fine + 1)
        start = Rotation.from_quat(finer.orientation[(number - 1) * fine])
        # Axes that stay as those of the Earth at the start.
        earth = Rotation.from_rotvec(
            np.outer(EARTH_RATE * step * np.arange(fine + 1), [0.0, 0.0, 1.0])
        )
        turned = start.inv() * earth * Rotation.from_quat(finer.orientation[within])
        assert increments.delta_theta[number] == pytest.approx(
            turned[-1].as_rotvec(), rel=1e-10, abs=1e-14
        )
        gained = simpson(turned.apply(finer.specific_force[within]), dx=step, axis=0)
        mean = np.mean(
            Rotation.from_rotvec(
                np.outer((np.arange(1000) + 0.5) / 1000.0, increments.delta_theta[number])
            ).as_matrix(),
            axis=0,
        )
        assert mean @ increments.delta_velocity[number] == pytest.approx(gained, abs=1e-9)
        # And without any correction: coning and sculling are of the third power of the period.
        plain = simpson(finer.specific_force[within], dx=step, axis=0)
        assert increments.delta_velocity[number] == pytest.approx(plain, abs=3e-5)
        rate = simpson(finer.angular_velocity[within], dx=step, axis=0)
        assert increments.delta_theta[number] == pytest.approx(rate, abs=1e-6)


def test_grovess_integrator_is_led_back_by_ours_within_its_own_order():
    """The update of Groves (2nd edition, 5.3), as the paper's tests use it, sample by sample."""
    errors = []
    for rate in (50.0, 100.0):
        motion = on_gimbal(flight(rate, 60.0))
        increments = increments_of(motion)
        step, turning = 1.0 / rate, np.array([0.0, 0.0, EARTH_RATE])
        of_earth = Rotation.from_rotvec(-turning * step).as_matrix()
        position, velocity = motion.position[0], motion.velocity[0]
        attitude = Rotation.from_quat(motion.orientation[0]).as_matrix()
        new_old = Rotation.from_rotvec(increments.delta_theta).as_matrix()
        for number in range(1, len(motion)):
            alpha, gained = increments.delta_theta[number], increments.delta_velocity[number]
            size = np.linalg.norm(alpha)
            once = np.cross(alpha, gained)
            mean = gained + (1.0 - np.cos(size)) / size**2 * once
            mean += (1.0 - np.sin(size) / size) / size**2 * np.cross(alpha, once)
            felt = attitude @ mean - 0.5 * step * np.cross(turning, attitude @ gained)
            before = velocity
            pull = gravity_ecef(position) - 2.0 * np.cross(turning, velocity)
            velocity = velocity + felt + step * pull
            position = position + 0.5 * step * (velocity + before)
            attitude = of_earth @ attitude @ new_old[number]
        errors.append(np.linalg.norm(position - motion.position[-1]))
    assert errors[1] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15)


def test_means_are_the_increments_by_their_time():
    motion = on_gimbal(flight(100.0, 10.0))
    increments = increments_of(motion)
    rate, force = motion.means()
    step = np.diff(motion.time)[:, np.newaxis]
    assert rate[1:] * step == pytest.approx(increments.delta_theta[1:], abs=1e-14)
    assert force[1:] * step == pytest.approx(increments.delta_velocity[1:], abs=1e-14)
    assert np.all(increments.delta_theta[0] == 0.0)
    assert np.all(increments.delta_velocity[0] == 0.0)
    assert rate[0] == pytest.approx(motion.angular_velocity[0])
    assert force[0] == pytest.approx(motion.specific_force[0])


def test_great_rotations_within_a_period_close_too():
    # Half a turn per sample about axes that change.
    count = 200
    moments = np.arange(count) / 10.0
    still = standing(moments[-1], 20.0, rate=10.0)
    steps = Rotation.from_rotvec(
        np.column_stack([2.9 * np.cos(moments), 2.9 * np.sin(moments), 0.1 * moments])
    )
    orientation = [Rotation.from_quat(still.orientation[0])]
    for step in steps[1:]:
        orientation.append(orientation[-1] * step)
    nothing = np.zeros((count, 3))
    motion = EarthMotion(
        moments,
        still.position,
        Rotation.concatenate(orientation).as_quat(),
        nothing,
        nothing,
        nothing,
    )
    _require_closed(motion, 1e-5, 1e-8, 1e-9)


def test_uneven_times_close_as_well():
    given, position, orientation = poses(100.0, 60.0)
    random = np.random.default_rng(2)
    at = np.sort(random.uniform(0.0, 60.0, 6000))
    motion = EarthMotion.from_poses(given, position, orientation, at)
    _require_closed(motion, 1e-2, 1e-4, 1e-6)


@pytest.mark.parametrize(
    "time, turned, gained, words",
    [
        (np.arange(3.0), np.zeros((3, 3)), np.zeros((2, 3)), "shapes"),
        (np.arange(3.0)[:, np.newaxis], np.zeros((3, 3)), np.zeros((3, 3)), "shapes"),
        (np.arange(2.0), np.zeros((2, 3)), np.zeros((2, 4)), "shapes"),
        (np.arange(3.0), np.zeros((3, 3)), np.full((3, 3), np.inf), "not finite"),
        (np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), "increase"),
    ],
)
def test_malformed_increments_are_refused(time, turned, gained, words):
    with pytest.raises(MotionError, match=words):
        Increments(time, turned, gained)


def test_a_path_through_the_earths_centre_is_refused():
    free_fall = Increments(np.arange(2000.0), np.zeros((2000, 3)), np.zeros((2000, 3)))
    with pytest.raises(MotionError, match="nowhere"):
        integrate(free_fall, (6378137.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def test_two_hundred_seconds_take_less_than_a_tenth_of_a_second():
    motion = flight()
    taken = []
    for _ in range(5):
        begin = time.process_time()
        increments_of(on_gimbal(motion))
        taken.append(time.process_time() - begin)
    assert min(taken) < 0.1
