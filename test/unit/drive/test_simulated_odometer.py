"""Odometer of the simulated robot: readings from known states, readings in MuJoCo, settings."""

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import unwrap, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.drive.experiment.gnss_and_odometer import experiment_odometer
from imu_simulation_framework.drive.session.gnss_and_odometer import OdometerSession
from imu_simulation_framework.drive.session.recording import RecordingSession
from imu_simulation_framework.drive.session.simulation import SimulatedRobot
from imu_simulation_framework.drive.tracking.controllers import TrackingError
from imu_simulation_framework.motion.drives import DRIVES, true_motion, with_laps
from imu_simulation_framework.motion.sources import planar
from imu_simulation_framework.sensors.noise.streams import child_seed, run_seed
from imu_simulation_framework.sensors.odometer import Odometer

ERRORS = isf.OdometerSpecification(
    rate=25.0, diameter_ratio_sigma=0.002, track_ratio_sigma=0.01, slip=2e-3, acceleration_slip=0.1
)


@pytest.fixture(scope="module")
def motion():
    """Return the first 20 s of a drive whose speed and turn rate change."""
    return planar(true_motion(with_laps(DRIVES["a"], 1)).iloc[:2001], WORLD_GRAVITY)


def read_in_pieces(session, motion, step):
    """Return stamps [s] and odometer readings for a drive whose states are passed in blocks."""
    stamps = np.rint(motion.time * 1e9).astype(np.int64)
    body = motion.velocity.copy()
    yaw = motion.yaw
    body[:, 0] = np.cos(yaw) * motion.velocity[:, 0] + np.sin(yaw) * motion.velocity[:, 1]
    body[:, 1] = np.cos(yaw) * motion.velocity[:, 1] - np.sin(yaw) * motion.velocity[:, 0]
    pieces = (slice(first, first + step) for first in range(0, len(motion), step))
    parts = (stamps, motion.position, motion.orientation, body)
    readings = [session.add(*(part[piece] for part in parts)) for piece in pieces]
    stamps, rows = (np.concatenate(part) for part in zip(*filter(None, readings)))
    return stamps / 1e9, rows


@pytest.mark.parametrize("step", [1, 5, 7])
def test_odometer_readings_match_motion_for_any_chunk_size(motion, step):
    expected = isf.simulate_odometer(motion, ERRORS, seed=6)
    time, rows = read_in_pieces(OdometerSession(ERRORS, 6), motion, step)
    np.testing.assert_allclose(time, expected.index, rtol=0.0, atol=1e-9)
    x, y, z, w, *moving = rows.T
    np.testing.assert_allclose(x, expected["x"], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(y, expected["y"], rtol=0.0, atol=1e-9)
    turned = 2.0 * np.arctan2(z, w) - expected["yaw"]
    np.testing.assert_allclose(np.exp(1j * turned), 1.0, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(np.array(moving).T, expected[["v", "yaw_rate"]], rtol=0.0, atol=1e-7)


def test_restarted_odometer_repeats_its_readings(motion):
    session = OdometerSession(ERRORS, 6)
    _, first = read_in_pieces(session, motion, 5)
    session.restart()
    _, again = read_in_pieces(session, motion, 5)
    np.testing.assert_array_equal(first, again)


def test_odometer_reading_due_between_states_is_output_at_next_state(motion):
    odometer = isf.OdometerSpecification(rate=30.0)
    time, rows = read_in_pieces(OdometerSession(odometer, 1), motion, 5)
    np.testing.assert_allclose(time[:5], [0.0, 0.04, 0.07, 0.1, 0.14], atol=1e-9)
    turned = np.diff(unwrap(2.0 * np.arctan2(rows[:, 2], rows[:, 3])))
    np.testing.assert_allclose(rows[1:, 5], turned / np.diff(time), rtol=0.0, atol=1e-9)


def test_odometer_errors_in_mujoco_match_umbmark_equations():
    """A straight drive reveals unequal wheels, and a circle reveals a wrong track."""
    odometer = isf.OdometerSpecification(diameter_ratio=1.01, track_ratio=1.02, scale=0.99)
    ratio, tracks, scale = odometer.diameter_ratio, odometer.track_ratio, odometer.scale
    per_way = (1.0 - ratio**2) / (2.0 * ratio * scale * odometer.track)
    per_turn = tracks * (1.0 + ratio) ** 2 / (4.0 * ratio * scale)
    for wheels in ((5.0, 5.0), (3.0, 6.0), (-4.0, 4.0)):
        robot = SimulatedRobot(isf.load_configuration())
        robot.odometer = OdometerSession(odometer, 1)
        robot.set_pose(0.0, 0.0, 0.3)
        ticks = [robot.last, *(robot.tick(*wheels) for _ in range(200))]
        position, orientation, velocity = (
            np.concatenate([getattr(control_tick.state, name) for control_tick in ticks])
            for name in ("position", "orientation", "linear_velocity")
        )
        rows = np.concatenate([control_tick.odometer_rows()[1] for control_tick in ticks])
        yaw = unwrap(yaw_from_quaternion(orientation))
        # The distance is computed from poses alone: steps projected onto the mean heading.
        (x, y), along = np.diff(position[:, :2], axis=0).T, 0.5 * (yaw[1:] + yaw[:-1])
        distance, turn = np.sum(np.cos(along) * x + np.sin(along) * y), yaw[-1] - yaw[0]
        odometer_yaw = unwrap(2.0 * np.arctan2(rows[:, 2], rows[:, 3]))
        expected = per_way * distance + per_turn * turn
        # The rolled distance is the integral of speed. The error of a 0.01 s trapezoid is at most
        # the step times the speed change, and a chord is shorter than its arc by a fraction of
        # (turn per step)^2 / 24.
        unsure = 0.01 * np.sum(np.abs(np.diff(velocity[:, 0])))
        unsure += np.max(np.diff(yaw) ** 2) / 24.0 * 200 * 0.05 * np.max(np.abs(velocity[:, 0]))
        assert odometer_yaw[-1] - odometer_yaw[0] == pytest.approx(
            expected, abs=abs(per_way) * unsure + 1e-9
        )
        # The simulated error is large compared with this bound.
        assert abs(expected - turn) > 50.0 * abs(per_way) * unsure


def test_odometer_in_experiment_measures_robot_motion(tmp_path):
    (tmp_path / "odometer.yaml").write_text("scale_sigma: 0.01\nslip: 0.001\n")
    text = "[trajectory]\nstop = 3\n[odometer]\nfile = odometer.yaml\n[experiment]\nseed = 4\n"
    configuration = configured(tmp_path, text)
    table = isf.run_in_process(configuration).odometer
    motion = isf.robot_motion(configuration)
    expected = isf.simulate_odometer(motion, experiment_odometer(configuration), seed=4)
    np.testing.assert_allclose(table, expected[list(table)], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(table.index, expected.index, rtol=0.0, atol=1e-9)


def test_odometer_noise_is_independent_of_imu_and_receiver():
    odometer = isf.OdometerSpecification(wheel_radius=1.0, track=1.0, scale_sigma=0.01)
    time, run = np.array([0.0, 1.0]), run_seed(7, 0)
    read = Odometer(odometer, run).read(time, time, np.zeros((2, 3)))
    drawn = (1.0 / read["left"][1] - 1.0) / 0.01
    children = (*range(50), *range(1000, 1050))
    others = [np.random.default_rng(child_seed(run, k)).standard_normal() for k in children]
    assert np.abs(np.array(others) - drawn).min() > 1e-6


def configured(tmp_path, text):
    path = tmp_path / "mine.ini"
    path.write_text(text)
    return isf.load_configuration(path)


def test_experiment_odometer_is_read_from_file_and_absent_by_default(tmp_path):
    assert experiment_odometer(configured(tmp_path, "")) is None
    assert experiment_odometer(isf.load_configuration()) is None
    named, path = "[odometer]\nfile = odometer.yaml\n", tmp_path / "odometer.yaml"
    path.write_text("rate: 20\ntrack: 0.6\n")
    odometer = experiment_odometer(configured(tmp_path, named))
    assert odometer == isf.OdometerSpecification(rate=20.0, track=0.6)
    for simulator in ("gazebo", "external"):
        elsewhere = configured(tmp_path, f"{named}[simulation]\nsimulator = {simulator}\n")
        with pytest.raises(ConfigurationError, match=f"none with .* = {simulator}: only .* MuJoCo"):
            experiment_odometer(elsewhere)
    path.write_text("rate: 200\n")
    with pytest.raises(ConfigurationError, match=r"rate of 200 Hz, which must not be above \[imu"):
        experiment_odometer(configured(tmp_path, named))
    path.write_text("wheel: 1\n")
    with pytest.raises(ConfigurationError, match=r"\[odometer\] file: .*odometer.yaml: .*wheel"):
        experiment_odometer(configured(tmp_path, named))
    path.unlink()
    with pytest.raises(
        ConfigurationError, match=r"\[odometer\] file: .*yaml: .*neither a file nor"
    ):
        experiment_odometer(configured(tmp_path, named))


def test_drive_with_odometer_is_complete_after_last_odometer_reading():
    session = RecordingSession(0.05, odometer=isf.OdometerSpecification(rate=30.0))
    session.ends_after(1.0)
    end, row = 10**9, np.zeros((1, 6))
    session.add_error(end, 1.0, TrackingError(0.0, 0.0, 0.0, 0.0))
    session.add_command(0.0, 0.0)
    session.add_command(0.0, 0.0)
    for add, columns in ((session.add_imu, 10), (session.add_ground_truth, 13)):
        add(np.array([end]), np.zeros((1, columns)))
    assert not session.complete
    # Readings at 0 s, 29/30 s and the end; the sampled states are 10 ms apart.
    for stamp, is_last in ((0, False), (970_000_000, False), (end, True)):
        session.add_odometry(np.array([stamp]), row)
        assert session.complete is is_last
