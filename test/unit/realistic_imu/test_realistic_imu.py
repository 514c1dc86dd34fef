"""An IMU model that follows stamps, and the truth that messages tell."""

import dataclasses

import numpy as np
import pytest
from ideal_recordings import START, odometry_rows, stamps_of
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.realistic_imu.session import MEASURED, RealisticImu
from imu_simulation_framework.realistic_imu.truth import (
    ImuInput,
    Mounting,
    OdometryTruth,
    StreamReport,
    check_frames,
    usual_period,
)
from imu_simulation_framework.recordings.messages import IMU
from imu_simulation_framework.sensors.conditions import Vibration
from imu_simulation_framework.sensors.formats.registry import named_imu
from imu_simulation_framework.sensors.imu_models.base import SIGNALS, ImuTruth
from imu_simulation_framework.sensors.simulation import imu_truth

BNO055 = named_imu("bno055").errors


@pytest.fixture(scope="module")
def motion():
    """Turning about the vertical, rolling and pitching, and on a path that is no circle."""
    time = np.arange(2001) / 100.0
    position = np.column_stack([np.sin(0.5 * time), 0.5 * time, 0.1 * np.cos(time)])
    angles = np.column_stack([0.6 * time, 0.2 * np.sin(time), 0.1 * np.cos(1.3 * time)])
    return isf.Motion.from_poses(time, position, Rotation.from_euler("ZYX", angles).as_quat())


def samples(motion):
    truth = imu_truth(motion)
    return list(zip(stamps_of(motion), truth.samples()))


def fed(session, pairs):
    found = [known for stamp, truth in pairs for known in session.add(stamp, truth)]
    found += session.finish()
    return np.array([stamp for stamp, _ in found]), np.array(
        [np.hstack([r.angular_velocity, r.specific_force]) for _, r in found]
    )


def test_with_its_period_measured_a_stream_has_the_same_numbers_as_the_batch(motion):
    table = isf.simulate_imu(motion, BNO055, seed=5, run=2).to_numpy()[:, 3:]
    stamps, numbers = fed(RealisticImu(BNO055, seed=5, run=2), samples(motion))
    assert list(stamps) == stamps_of(motion)
    np.testing.assert_array_equal(numbers, table)
    known = RealisticImu(BNO055, seed=5, run=2, period=0.01)
    np.testing.assert_array_equal(fed(known, samples(motion))[1], table)
    session, pairs = RealisticImu(BNO055), samples(motion)
    counts = [len(session.add(*pair)) for pair in pairs[: MEASURED + 2]]
    assert counts == (MEASURED - 1) * [0] + [MEASURED, 1, 1]
    assert session.period == 0.01


def test_drift_and_orientation_go_on_through_a_gap(motion):
    pairs = samples(motion)
    whole, session = (RealisticImu(BNO055, period=0.01) for _ in range(2))
    complete = fed(whole, pairs)[1]
    stamps, numbers = fed(session, pairs[:800] + pairs[1000:])
    np.testing.assert_array_equal(numbers[800:], complete[1000:])
    assert (session.report.bridged, session.report.gaps) == (200, 1)
    # The robot turned by 1.2 rad meanwhile, which the fused orientation has seen; between the two
    # rates it took a straight line, while this robot rolls and pitches.
    last = session.add(stamps_of(motion)[-1] + 10**7, pairs[-1][1])[0].reading
    other = whole.add(stamps_of(motion)[-1] + 10**7, pairs[-1][1])[0].reading
    assert abs(last.yaw - other.yaw) < np.radians(2.0)


def test_a_slower_sensor_loses_no_sample_with_one_message_and_waits_for_its_first(motion):
    slow = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(white_noise=1e-4),
        output=isf.OutputSpecification(rate=10.0, drop_repeated=True),
    )
    pairs = samples(motion)
    stamps, numbers = fed(RealisticImu(slow, period=0.01), pairs)
    # The sensor's own message is missing, then more of them than it has in a sample.
    missing = {500, 501, *range(700, 725)}
    session = RealisticImu(slow, period=0.01)
    kept = [pair for number, pair in enumerate(pairs) if number not in missing]
    found, others = fed(session, kept)
    lost = [START + number * 10**7 for number in (700, 710, 720)]
    assert list(found) == [stamp for stamp in stamps if stamp not in lost]
    # A few of ten means are on a line in place of the curve.
    np.testing.assert_allclose(others, numbers[np.isin(stamps, found)], atol=2e-3)
    slow = isf.ImuSpecification(
        output=isf.OutputSpecification(rate=25.0, start_offset=0.1, drop_repeated=False)
    )
    stamps, numbers = fed(RealisticImu(slow, period=0.01), samples(motion))
    assert stamps[0] == START + 10**8
    assert len(np.unique(numbers[:40], axis=0)) == 10


def test_a_simulation_that_begins_again_or_pauses_too_long_gets_another_realisation(motion):
    pairs = samples(motion)[:300]
    session = RealisticImu(BNO055, seed=3, period=0.01)
    _, numbers = fed(session, pairs + pairs)
    assert session.report.restarts == 1
    runs = [isf.simulate_imu(motion, BNO055, 3, run).to_numpy()[:300, 3:] for run in (0, 1)]
    np.testing.assert_array_equal(numbers, np.vstack(runs))
    pairs = samples(motion)[:100]
    late = [(stamp + 3600 * 10**9, truth) for stamp, truth in pairs]
    session = RealisticImu(BNO055, period=0.01)
    assert len(fed(session, pairs + late)[0]) == 200
    assert (session.report.restarts, session.report.bridged) == (1, 0)
    assert "the IMU began anew there" in session.report.sentences()[0]


@pytest.mark.parametrize(
    ("steps", "period"),
    [
        ([10_000_000], 0.01),
        ([10_000_013], 0.01),
        ([4_166_666, 4_166_667, 4_166_667], 1 / 240),
        ([8_000_000], 0.008),
        ([9_000_000, 11_000_000], 0.01),
        ([10_000_000, 10_000_000, 10_000_000, 900_000_000, 0], 0.01),
        ([12_399_999], 0.012399999),
    ],
)
def test_the_period_is_the_one_that_was_meant(steps, period):
    stamps = START + np.concatenate([[0], np.cumsum(np.tile(steps, 60))])
    assert usual_period(stamps, 100.0) == pytest.approx(period, rel=1e-12)


def test_stamps_that_do_not_go_on_have_no_period():
    with pytest.raises(RecordingError, match="less than two different stamps"):
        usual_period([5, 5, 5])


MAGNETIC, HECTOR = (named_imu(name).errors for name in ("bno055_magnetometer", "hector"))
HEADING, COMPASS = (
    dataclasses.replace(MAGNETIC, output=isf.OutputSpecification(**output))
    for output in ({"magnetic_heading": True}, {"filter": "compass"})
)
SHAKEN = dataclasses.replace(BNO055, vibration=Vibration(((10.0, 0.02), (40.0, 0.02))))


@pytest.mark.parametrize(
    ("errors", "options", "words"),
    [
        (HECTOR, {"rate": 50.0}, "only an IMU by a specification"),
        (HEADING, {}, "magnetic_heading needs the magnetic field"),
        (COMPASS, {}, "filter compass needs the magnetic field"),
        (SHAKEN, {}, "vibration depends on the speed"),
        (BNO055, {"field": True}, "whose specification has a magnetometer"),
    ],
)
def test_what_errors_need_or_cannot_have_is_refused(errors, options, words):
    with pytest.raises(ConfigurationError, match=words):
        RealisticImu(errors, **options)


def test_what_errors_need_may_be_told_but_no_field_without_an_orientation():
    assert RealisticImu(BNO055, rate=50.0).sensor_rate == 50.0
    RealisticImu(HEADING, period=0.01, field=True)
    RealisticImu(SHAKEN, period=0.01, speed=True)
    # A magnetometer alone is left out.
    RealisticImu(MAGNETIC, period=0.01)
    session = RealisticImu(MAGNETIC, field=True)
    with pytest.raises(RecordingError, match="nobody knows the magnetic field"):
        session.without_orientation()
    RealisticImu(MAGNETIC, field=True, field_reported=True).without_orientation()


def numbers_of(truth, orientation_covariance=0.0):
    numbers = np.zeros(len(IMU.names))
    numbers[:4], numbers[13:16], numbers[25:28] = truth[:3]
    numbers[4] = orientation_covariance
    return numbers


def test_a_mounted_imu_feels_what_its_place_feels(motion):
    mounting = Mounting(np.array([0.3, -0.2, 0.1]), Rotation.from_euler("ZYX", [0.7, 0.2, -0.4]))
    mounted = motion.mounted(mounting.lever_arm, mounting.rotation)
    source = ImuInput(mounting)
    source.has_orientation = True
    felt = zip(motion.orientation, motion.angular_velocity, motion.specific_force)
    found = [source.truth(at, numbers_of(truth)) for at, truth in zip(stamps_of(motion), felt)]
    turns = Rotation.from_quat([truth.orientation for truth in found])
    assert (turns.inv() * Rotation.from_quat(mounted.orientation)).magnitude().max() < 1e-12
    rates = np.array([truth.angular_velocity for truth in found])
    np.testing.assert_allclose(rates, mounted.angular_velocity, atol=1e-12)
    # The angular acceleration is that of half a period before: at most 0.005 s times its change,
    # 0.3 rad/s^3, times the arm.
    forces = np.array([truth.specific_force for truth in found])
    np.testing.assert_allclose(forces[1:], mounted.specific_force[1:], atol=1e-3)


@pytest.mark.parametrize("arm", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.1)])
def test_odometry_tells_what_an_imu_on_it_feels_without_delay(motion, arm):
    mounting = Mounting(np.array(arm), Rotation.from_euler("ZYX", [0.7, 0.2, -0.4]))
    expected = imu_truth(motion.mounted(mounting.lever_arm, mounting.rotation))
    source = OdometryTruth(mounting)
    found = [source.truth(*pair) for pair in zip(stamps_of(motion), odometry_rows(motion))]
    assert found[0] is None
    assert [stamp for stamp, _ in found[1:]] == stamps_of(motion)[1:]
    for part, (name, signal) in enumerate(zip(SIGNALS, expected)):
        ours = np.array([truth[part] for _, truth in found[1:]])
        if name == "orientation":
            signal = signal * np.sign(np.sum(signal[1:] * ours, axis=1))[0]
        np.testing.assert_allclose(ours, signal[1:], atol=1e-9)


def test_odometry_without_twist_gives_the_truth_one_message_late(motion):
    numbers, stamps = odometry_rows(motion)[:700], stamps_of(motion)[:700]
    numbers[:, 7:] = 99.0
    source = OdometryTruth(use_twist=False)
    found = [source.truth(*pair) for pair in zip(stamps, numbers)]
    assert found[:3] == [None, None, None]
    assert [stamp for stamp, _ in found[3:]] == stamps[2:-1]
    expected, known = imu_truth(motion), slice(2, len(stamps) - 1)
    # Parabolas through three poses: errors of the third derivative times a period's square.
    rates = np.array([truth.angular_velocity for _, truth in found[3:]])
    np.testing.assert_allclose(rates, expected.angular_velocity[known], atol=1e-4)
    forces = np.array([truth.specific_force for _, truth in found[3:]])
    np.testing.assert_allclose(forces, expected.specific_force[known], atol=1e-3)


def test_odometry_that_does_not_go_on_or_is_no_number_tells_nothing(motion):
    stamps, numbers = stamps_of(motion), odometry_rows(motion)
    for use_twist in (True, False):
        source = OdometryTruth(use_twist=use_twist)
        for index in (0, 1, 2):
            source.truth(stamps[index], numbers[index])
        bad, short = numbers[3].copy(), numbers[3].copy()
        bad[0], short[3:7] = np.nan, 1e-200
        again = zip(stamps[1:3], numbers[1:3])
        for wrong in (*again, *((stamps[3], row) for row in (bad, np.zeros(13), short))):
            assert source.truth(*wrong) is None
        assert source.truth(stamps[3], numbers[3]) is not None


LEVEL = ImuTruth(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.array([0.0, 0.0, 9.8]))
UNSET = (
    numbers_of(LEVEL, orientation_covariance=-1.0),
    numbers_of(LEVEL._replace(orientation=np.zeros(4))),
    numbers_of(LEVEL._replace(orientation=np.full(4, 1e-200))),
)


def test_an_imu_without_orientation_is_known_by_its_first_messages():
    for unset in UNSET:
        report = StreamReport()
        source = ImuInput(report=report)
        for stamp in range(MEASURED - 1):
            assert source.truths(stamp, unset) == [] and source.has_orientation is None
        known = source.truths(MEASURED - 1, unset)
        assert [stamp for stamp, _ in known] == list(range(MEASURED))
        assert source.has_orientation is False
        # What comes later is not used, which is said.
        ((_, late),) = source.truths(MEASURED, numbers_of(LEVEL))
        assert late is not None and "orientation is not used" in report.sentences()[0]
        few = ImuInput()
        assert few.truths(0, unset) == [] and len(few.finish()) == 1 and not few.has_orientation


@pytest.mark.parametrize("place", [0, 1, MEASURED - 2, 2 * MEASURED])
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        *((numbers, "lack an orientation") for numbers in UNSET),
        (numbers_of(LEVEL._replace(orientation=np.full(4, np.nan))), "no numbers"),
        (numbers_of(LEVEL._replace(angular_velocity=np.full(3, np.nan))), "no numbers"),
        (numbers_of(LEVEL._replace(specific_force=np.full(3, 1e200))), "values above 1e+09"),
    ],
)
def test_a_single_message_that_cannot_be_used_is_left_out_and_counted(place, bad, words):
    report = StreamReport()
    source = ImuInput(report=report)
    known = []
    for stamp in range(3 * MEASURED):
        known += source.truths(stamp, bad if stamp == place else numbers_of(LEVEL))
    assert source.has_orientation
    assert [stamp for stamp, _ in known] == list(range(3 * MEASURED))
    assert [stamp for stamp, truth in known if truth is None] == [place]
    (sentence,) = report.sentences()
    assert words in sentence and sentence.endswith(": 1")


def test_an_imu_that_has_no_acceleration_is_refused_and_a_message_that_lacks_it_left_out():
    lacking = numbers_of(LEVEL)
    lacking[28] = -1.0
    with pytest.raises(RecordingError, match="has no acceleration"):
        ImuInput().truths(1, lacking)
    report = StreamReport()
    source = ImuInput(report=report)
    source.truths(0, numbers_of(LEVEL))
    assert source.truths(1, lacking) == [(1, None)]
    assert "rate or acceleration, which others have: 1" in report.sentences()[0]


def test_gravity_that_is_missing_is_added_along_the_vertical(motion):
    up = Rotation.from_quat(motion.orientation).inv().apply([0.0, 0.0, motion.gravity])
    source = ImuInput(missing_gravity=motion.gravity)
    source.has_orientation = True
    # A quaternion's length does not count.
    felt = zip(2.0 * motion.orientation, motion.angular_velocity, motion.specific_force - up)
    found = [source.truth(1, numbers_of(ImuTruth(*row))).specific_force for row in felt]
    np.testing.assert_allclose(found, motion.specific_force, atol=1e-12)
    with pytest.raises(RecordingError, match="nobody knows on which of its axes"):
        ImuInput(missing_gravity=motion.gravity).truth(2, UNSET[0])


@pytest.mark.parametrize(
    ("force", "orientation", "words"),
    [
        ((0.0, 0.0, 0.1), False, "without gravity"),
        ((0.0, 0.0, -9.8), True, "not x forward, y left, z up"),
        ((9.8, 0.0, 0.0), True, "not x forward, y left, z up"),
    ],
)
def test_other_axes_than_those_of_rep_103_are_refused(force, orientation, words):
    with pytest.raises(RecordingError, match=words):
        check_frames(10 * [LEVEL._replace(specific_force=np.array(force))], orientation)


def test_an_imu_that_is_mounted_turned_is_no_other_frame(motion):
    check_frames([truth for _, truth in samples(motion)], True)
    turned = Rotation.from_euler("ZYX", [0.4, 1.2, 2.0])
    check_frames([truth for _, truth in samples(motion.mounted(rotation=turned))], True)
    # Without an orientation nobody can tell.
    check_frames([LEVEL._replace(specific_force=np.array([0.0, 9.8, 0.0]))], False)
