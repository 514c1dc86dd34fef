"""Conditions at the IMU and the GNSS receiver, computed from the robot's states."""

import numpy as np
import pandas as pd
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.drive.experiment.gnss_and_odometer import experiment_gnss
from imu_simulation_framework.drive.session.gnss_and_odometer import PositioningSession
from imu_simulation_framework.drive.session.imu_conditions import ImuConditions
from imu_simulation_framework.sensors.imu_models.base import ImuTruth

LEVEL = (0.0, 0.0, 0.0, 1.0)
TRUTH = ImuTruth(np.array(LEVEL), np.zeros(3), np.array([0.0, 0.0, 9.8]))
ARM = (0.1, 0.0, 0.2)
HALL = isf.MagneticEnvironment(
    earth=(0.0, 2e-5, -4e-5),
    dipoles=[isf.Dipole((1.0, 1.0, 0.0), (0.0, 0.0, 5.0))],
    motors=isf.MotorField((1e-6, 0.0, 0.0), (0.0, 2e-6, 0.0)),
)


@pytest.fixture
def conditions():
    return ImuConditions(HALL, ARM)


def field_at(x, y):
    return HALL.field(np.array([[x + 0.1, y, 0.2]]))[0]


def field(conditions, stamp):
    return conditions.complete([stamp], [TRUTH])[0].magnetic_field


def test_magnetic_field_between_poses_is_evaluated_at_interpolated_position(conditions):
    assert not conditions.is_complete(0)
    conditions.add_state(10, (0.0, 0.0, 0.0), LEVEL)
    conditions.add_state(20, (1.0, 0.5, 0.0), LEVEL)
    assert conditions.is_complete(20) and not conditions.is_complete(21)
    np.testing.assert_allclose(field(conditions, 15), field_at(0.5, 0.25), rtol=1e-12)
    np.testing.assert_allclose(field(conditions, 5), field_at(0.0, 0.0), rtol=1e-12)


def test_magnetic_field_after_setting_pose_is_evaluated_at_new_pose(conditions):
    conditions.add_state(10, (0.0, 0.0, 0.0), LEVEL)
    conditions.add_state(10, (3.0, 0.0, 0.0), LEVEL)
    np.testing.assert_allclose(field(conditions, 10), field_at(3.0, 0.0), rtol=1e-12)


def test_magnetic_fields_of_motors_and_speed_are_interpolated_at_stamp():
    conditions = ImuConditions(HALL, ARM, torques=True)
    conditions.add_state(10, (0.0, 0.0, 0.0), LEVEL)
    conditions.add_state(20, (0.0, 0.0, 0.0), LEVEL)
    assert not conditions.is_complete(10)
    conditions.add_torques(10, 3.0, 0.5)
    assert conditions.is_complete(10) and not conditions.is_complete(20)
    conditions.add_torques(20, -1.0, 0.0)
    np.testing.assert_allclose(
        field(conditions, 10) - field_at(0.0, 0.0), (3e-6, 1e-6, 0.0), atol=1e-15
    )
    np.testing.assert_allclose(
        field(conditions, 20) - field_at(0.0, 0.0), (-1e-6, 0.0, 0.0), atol=1e-15
    )
    conditions = ImuConditions(None, speed=True)
    conditions.add_state(10, (0.0, 0.0, 0.0), LEVEL, 1.0)
    conditions.add_state(20, (0.0, 0.0, 0.0), LEVEL, 2.0)
    truth = conditions.complete([15], [TRUTH])[0]
    assert truth.speed == pytest.approx(1.5)
    assert truth.magnetic_field is None
    conditions = ImuConditions(HALL)
    conditions.add_state(10, (0.0, 0.0, 0.0), LEVEL, 1.0)
    assert conditions.complete([10], [TRUTH])[0].speed is None


def test_imu_conditions_in_batch_match_single_samples():
    single, batched = (ImuConditions(HALL, ARM, speed=True, torques=True) for _ in range(2))
    for conditions in (single, batched):
        for stamp in range(0, 100, 20):
            conditions.add_state(stamp, (0.1 * stamp, 0.0, 0.0), LEVEL, 0.5 * stamp)
            conditions.add_torques(stamp, 1.0 * stamp, -2.0 * stamp)
    stamps = [0, 5, 20, 33, 34, 79, 80]
    batch = batched.complete(stamps, len(stamps) * [TRUTH])
    for stamp, truth in zip(stamps, batch):
        (expected,) = single.complete([stamp], [TRUTH])
        np.testing.assert_allclose(truth.magnetic_field, expected.magnetic_field, rtol=1e-12)
        assert truth.speed == pytest.approx(expected.speed) == 0.5 * stamp


GNSS = isf.GnssSpecification(
    rate=5.0,
    latency=0.25,
    lever_arm=(0.3, 0.0, 0.5),
    qualities=(isf.FixQuality("rtk", 0.01, 0.02, 0.02, 0.03, 30.0, 0.05, 0.05),),
    heading=isf.GnssHeading("antennas", across_noise=0.01),
    outages=isf.GnssOutages(times=((3.0, 8.0),)),
)


@pytest.fixture(scope="module")
def motion():
    # A 10 s drive contains the outage and fixes after it.
    return isf.rounds(1, radius=1.6, speed=1.0)


def states(motion, chosen):
    velocity = np.zeros_like(motion.velocity)
    velocity[:, 0] = motion.table()["v"]
    stamps = np.rint(motion.time * 1e9).astype(np.int64)
    parts = (stamps, motion.position, motion.orientation, velocity, motion.angular_velocity)
    return tuple(part[chosen] for part in parts)


def drive(session, motion, step):
    """Return ``[(time, fixes), ...]`` for a drive whose states are passed in blocks."""
    published = []
    for first in range(0, len(motion), step):
        piece = states(motion, slice(first, first + step))
        fixes = session.add(*piece)
        if fixes is not None:
            published.append((piece[0][-1] / 1e9, fixes))
    return published


@pytest.mark.parametrize("step", [1, 5, 7])
def test_published_fixes_match_simulated_fixes_of_motion(motion, step):
    expected = isf.simulate_gnss(motion, GNSS, seed=6)
    published = drive(PositioningSession(GNSS, 6), motion, step)
    fixes = pd.concat([table for _, table in published])
    pd.testing.assert_frame_equal(
        fixes.drop(columns="heading"),
        expected.iloc[: len(fixes)].drop(columns="heading"),
        rtol=0.0,
        atol=1e-9,
    )
    turn = fixes["heading"] - expected["heading"].iloc[: len(fixes)]
    np.testing.assert_allclose(np.exp(1j * turn), 1.0, atol=1e-9)
    assert len(expected) - len(fixes) in (1, 2)  # the last fixes arrive after the end
    for time, table in published:
        assert (table["arrival"] <= time + 1e-9).all()
        assert (table["arrival"] > time - step / 100.0 - 1e-9).all()


def test_gnss_receiver_restarts_after_pose_is_set(motion):
    session = PositioningSession(GNSS, 6)
    first = drive(session, motion, 5)
    session.restart()
    again = drive(session, motion, 5)
    for (_, fixes), (_, repeated) in zip(first, again):
        pd.testing.assert_frame_equal(fixes, repeated, check_exact=True)


def test_fix_due_between_states_is_output_at_next_state(motion):
    session = PositioningSession(isf.GnssSpecification(rate=8.0), 6)
    published = pd.concat([table for _, table in drive(session, motion, 5)])
    np.testing.assert_allclose(published.index[:5], [0.0, 0.13, 0.25, 0.38, 0.5])
    assert len(published) == int(8 * motion.duration) + 1


def configured(tmp_path, text):
    path = tmp_path / "mine.ini"
    path.write_text(text)
    return isf.load_configuration(path)


def test_gnss_receiver_is_read_by_name_or_file_and_invalid_receiver_is_rejected(tmp_path):
    assert experiment_gnss(configured(tmp_path, "")) is None
    assert experiment_gnss(isf.load_configuration()) is None
    gnss = experiment_gnss(configured(tmp_path, "[gnss]\nfile = rtk_heading\n"))
    assert gnss == isf.read_gnss_specification("rtk_heading")
    (tmp_path / "receiver.yaml").write_text("rate: 4\n")
    gnss = experiment_gnss(configured(tmp_path, "[gnss]\nfile = receiver.yaml\n"))
    assert gnss.rate == 4.0
    with pytest.raises(ConfigurationError, match="nor the name of a GNSS receiver"):
        experiment_gnss(configured(tmp_path, "[gnss]\nfile = gps\n"))
    (tmp_path / "receiver.yaml").write_text("rate: 200\n")
    with pytest.raises(ConfigurationError, match=r"rate of 200 Hz, which must not be above \[imu"):
        experiment_gnss(configured(tmp_path, "[gnss]\nfile = receiver.yaml\n"))
