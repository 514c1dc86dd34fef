"""IMU model on irregular stamps, and ideal signals from messages."""

import dataclasses

import numpy as np
import pytest
from ideal_recordings import START, odometry_rows, stamps_of
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.realistic_imu.ideal_inputs import (
    ImuInput,
    Mounting,
    OdometryInput,
    StreamReport,
    StreamSignals,
    check_frames,
    estimate_nominal_period,
    stamp_deviation,
)
from imu_simulation_framework.realistic_imu.session import (
    PERIOD_MESSAGES,
    RealisticImu,
    replace_rate,
)
from imu_simulation_framework.recordings.messages import IMU
from imu_simulation_framework.sensors.conditions import Vibration
from imu_simulation_framework.sensors.formats.registry import named_imu
from imu_simulation_framework.sensors.imu_models.base import SIGNALS, ImuTruth
from imu_simulation_framework.sensors.simulation import imu_truth

BNO055 = named_imu("bno055").errors


@pytest.fixture(scope="module")
def motion():
    """Return a motion with yaw, roll and pitch on a path that is not a circle."""
    time = np.arange(2001) / 100.0
    position = np.column_stack([np.sin(0.5 * time), 0.5 * time, 0.1 * np.cos(time)])
    angles = np.column_stack([0.6 * time, 0.2 * np.sin(time), 0.1 * np.cos(1.3 * time)])
    return isf.Motion.from_poses(time, position, Rotation.from_euler("ZYX", angles).as_quat())


def samples(motion):
    truth = imu_truth(motion)
    return list(zip(stamps_of(motion), truth.samples()))


def run_stream(session, pairs):
    truths = [known for stamp, truth in pairs for known in session.add(stamp, truth)]
    truths += session.finish()
    return np.array([stamp for stamp, _ in truths]), np.array(
        [np.hstack([r.angular_velocity, r.specific_force]) for _, r in truths]
    )


def test_imu_stream_with_estimated_period_matches_batch(motion):
    table = isf.simulate_imu(motion, BNO055, seed=5, run=2).to_numpy()[:, 3:]
    stamps, numbers = run_stream(RealisticImu(BNO055, seed=5, run=2), samples(motion))
    assert list(stamps) == stamps_of(motion)
    np.testing.assert_array_equal(numbers, table)
    known = RealisticImu(BNO055, seed=5, run=2, period=0.01)
    np.testing.assert_array_equal(run_stream(known, samples(motion))[1], table)
    session, pairs = RealisticImu(BNO055), samples(motion)
    counts = [len(session.add(*pair)) for pair in pairs[: PERIOD_MESSAGES + 2]]
    assert counts == (PERIOD_MESSAGES - 1) * [0] + [PERIOD_MESSAGES, 1, 1]
    assert session.period == 0.01


def test_drift_and_orientation_continue_through_message_gap(motion):
    pairs = samples(motion)
    whole, session = (RealisticImu(BNO055, period=0.01) for _ in range(2))
    complete = run_stream(whole, pairs)[1]
    stamps, numbers = run_stream(session, pairs[:800] + pairs[1000:])
    np.testing.assert_array_equal(numbers[800:], complete[1000:])
    assert (session.report.bridged, session.report.gaps) == (200, 1)
    # The robot turns by 1.2 rad in the gap. The fused orientation uses linearly interpolated rates,
    # which differ from the true rates of a robot that rolls and pitches.
    last = session.add(stamps_of(motion)[-1] + 10**7, pairs[-1][1])[0].reading
    other = whole.add(stamps_of(motion)[-1] + 10**7, pairs[-1][1])[0].reading
    assert abs(last.yaw - other.yaw) < np.radians(2.0)


def test_missing_message_at_sample_of_slow_sensor_is_bridged(motion):
    slow = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(white_noise=1e-4),
        output=isf.OutputSpecification(rate=10.0, drop_repeated=True),
    )
    pairs = samples(motion)
    stamps, numbers = run_stream(RealisticImu(slow, period=0.01), pairs)
    # First, the message at a sensor sample and the next one are missing; later, messages are
    # missing for longer than one sampling period of the sensor.
    missing = {500, 501, *range(700, 725)}
    session = RealisticImu(slow, period=0.01)
    kept = [pair for number, pair in enumerate(pairs) if number not in missing]
    truths, others = run_stream(session, kept)
    lost = [START + number * 10**7 for number in (700, 710, 720)]
    assert list(truths) == [stamp for stamp in stamps if stamp not in lost]
    # Means over ten steps contain a few interpolated steps.
    np.testing.assert_allclose(others, numbers[np.isin(stamps, truths)], atol=2e-3)
    slow = isf.ImuSpecification(
        output=isf.OutputSpecification(rate=25.0, start_offset=0.1, drop_repeated=False)
    )
    stamps, numbers = run_stream(RealisticImu(slow, period=0.01), samples(motion))
    assert stamps[0] == START + 10**8
    assert len(np.unique(numbers[:40], axis=0)) == 10


def test_restarted_or_paused_simulation_uses_next_realisation(motion):
    pairs = samples(motion)[:300]
    session = RealisticImu(BNO055, seed=3, period=0.01)
    _, numbers = run_stream(session, pairs + pairs)
    assert session.report.restarts == 1
    runs = [isf.simulate_imu(motion, BNO055, 3, run).to_numpy()[:300, 3:] for run in (0, 1)]
    np.testing.assert_array_equal(numbers, np.vstack(runs))
    pairs = samples(motion)[:100]
    late = [(stamp + 3600 * 10**9, truth) for stamp, truth in pairs]
    session = RealisticImu(BNO055, period=0.01)
    assert len(run_stream(session, pairs + late)[0]) == 200
    assert (session.report.restarts, session.report.bridged) == (1, 0)
    assert "the IMU restarted with new random numbers" in session.report.sentences()[0]


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
def test_nominal_period_is_estimated_from_irregular_stamps(steps, period):
    stamps = START + np.concatenate([[0], np.cumsum(np.tile(steps, 60))])
    assert estimate_nominal_period(stamps, 100.0) == pytest.approx(period, rel=1e-12)


def test_period_of_constant_stamps_is_rejected():
    with pytest.raises(RecordingError, match="fewer than two different stamps"):
        estimate_nominal_period([5, 5, 5])


def test_stamp_deviation_ignores_gaps():
    stamps = START + np.cumsum([0, 10_000_000, 10_000_000, 11_500_000, 90_000_000, 9_000_000])
    assert stamp_deviation(stamps, 0.01) == pytest.approx(1.5e-3)
    assert stamp_deviation([START, START + 90_000_000], 0.01) == 0.0


MAGNETIC, HECTOR = (named_imu(name).errors for name in ("bno055_magnetometer", "hector"))
HEADING, COMPASS = (
    dataclasses.replace(MAGNETIC, output=isf.OutputSpecification(**output))
    for output in ({"magnetic_heading": True}, {"filter": "compass"})
)
SHAKEN = dataclasses.replace(BNO055, vibration=Vibration(((10.0, 0.02), (40.0, 0.02))))


@pytest.mark.parametrize(
    ("errors", "options", "words"),
    [
        (HEADING, {}, "magnetic_heading needs the magnetic field"),
        (COMPASS, {}, "filter compass needs the magnetic field"),
        (SHAKEN, {}, "vibration depends on the speed"),
        (BNO055, {"signals": StreamSignals(field=True)}, "whose specification has a magnetometer"),
    ],
)
def test_errors_without_required_input_are_rejected(errors, options, words):
    with pytest.raises(ConfigurationError, match=words):
        RealisticImu(errors, **options)


def test_rate_argument_replaces_only_rate_of_specification():
    assert RealisticImu(replace_rate(BNO055, 50.0)).sensor_rate == 50.0
    assert replace_rate(HECTOR, None) is HECTOR
    with pytest.raises(ConfigurationError, match="only an IMU from a specification"):
        replace_rate(HECTOR, 50.0)


def test_simulated_field_without_orientation_is_rejected():
    RealisticImu(HEADING, period=0.01, signals=StreamSignals(field=True))
    RealisticImu(SHAKEN, period=0.01, signals=StreamSignals(speed=True))
    # A magnetometer that the orientation does not use may lack a field.
    RealisticImu(MAGNETIC, period=0.01)
    session = RealisticImu(MAGNETIC, signals=StreamSignals(field=True))
    with pytest.raises(RecordingError, match="no orientation"):
        session.drop_orientation()
    reported = StreamSignals(field=True, field_reported=True)
    RealisticImu(MAGNETIC, signals=reported).drop_orientation()


def imu_payload(truth, orientation_covariance=0.0):
    numbers = np.zeros(len(IMU.names))
    numbers[:4], numbers[13:16], numbers[25:28] = truth[:3]
    numbers[4] = orientation_covariance
    return numbers


def test_mounted_imu_measures_motion_at_its_mounting(motion):
    mounting = Mounting(np.array([0.3, -0.2, 0.1]), Rotation.from_euler("ZYX", [0.7, 0.2, -0.4]))
    mounted = motion.mounted(mounting.lever_arm, mounting.rotation)
    source = ImuInput(mounting)
    source.has_orientation = True
    signals = zip(motion.orientation, motion.angular_velocity, motion.specific_force)
    truths = [
        source.truth(stamp, imu_payload(truth)) for stamp, truth in zip(stamps_of(motion), signals)
    ]
    turns = Rotation.from_quat([truth.orientation for truth in truths])
    assert (turns.inv() * Rotation.from_quat(mounted.orientation)).magnitude().max() < 1e-12
    rates = np.array([truth.angular_velocity for truth in truths])
    np.testing.assert_allclose(rates, mounted.angular_velocity, atol=1e-12)
    # The angular acceleration is delayed by half a period, which changes the force by at most
    # 0.005 s times the jerk of 0.3 rad/s^3 times the lever arm.
    forces = np.array([truth.specific_force for truth in truths])
    np.testing.assert_allclose(forces[1:], mounted.specific_force[1:], atol=1e-3)


@pytest.mark.parametrize("arm", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.1)])
def test_odometry_yields_ideal_signals_without_delay(motion, arm):
    mounting = Mounting(np.array(arm), Rotation.from_euler("ZYX", [0.7, 0.2, -0.4]))
    expected = imu_truth(motion.mounted(mounting.lever_arm, mounting.rotation))
    source = OdometryInput(mounting)
    truths = [source.truth(*pair) for pair in zip(stamps_of(motion), odometry_rows(motion))]
    assert truths[0] is None
    assert [stamp for stamp, _ in truths[1:]] == stamps_of(motion)[1:]
    for part, (name, signal) in enumerate(zip(SIGNALS, expected)):
        measured = np.array([truth[part] for _, truth in truths[1:]])
        if name == "orientation":
            signal = signal * np.sign(np.sum(signal[1:] * measured, axis=1))[0]
        np.testing.assert_allclose(measured, signal[1:], atol=1e-9)


def test_odometry_without_twist_yields_ideal_signals_one_message_late(motion):
    numbers, stamps = odometry_rows(motion)[:700], stamps_of(motion)[:700]
    numbers[:, 7:] = 99.0
    source = OdometryInput(use_twist=False)
    truths = [source.truth(*pair) for pair in zip(stamps, numbers)]
    assert truths[:3] == [None, None, None]
    assert [stamp for stamp, _ in truths[3:]] == stamps[2:-1]
    expected, known = imu_truth(motion), slice(2, len(stamps) - 1)
    # Parabolas through three poses have errors of the third derivative times the period squared.
    rates = np.array([truth.angular_velocity for _, truth in truths[3:]])
    np.testing.assert_allclose(rates, expected.angular_velocity[known], atol=1e-4)
    forces = np.array([truth.specific_force for _, truth in truths[3:]])
    np.testing.assert_allclose(forces, expected.specific_force[known], atol=1e-3)


def test_repeated_or_invalid_odometry_is_ignored(motion):
    stamps, numbers = stamps_of(motion), odometry_rows(motion)
    for use_twist in (True, False):
        source = OdometryInput(use_twist=use_twist)
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
    imu_payload(LEVEL, orientation_covariance=-1.0),
    imu_payload(LEVEL._replace(orientation=np.zeros(4))),
    imu_payload(LEVEL._replace(orientation=np.full(4, 1e-200))),
)


def test_missing_orientation_is_detected_from_first_messages():
    for unset in UNSET:
        report = StreamReport()
        source = ImuInput(report=report)
        for stamp in range(PERIOD_MESSAGES - 1):
            assert source.truths(stamp, unset) == [] and source.has_orientation is None
        known = source.truths(PERIOD_MESSAGES - 1, unset)
        assert [stamp for stamp, _ in known] == list(range(PERIOD_MESSAGES))
        assert source.has_orientation is False
        # An orientation in later messages is ignored and reported.
        ((_, late),) = source.truths(PERIOD_MESSAGES, imu_payload(LEVEL))
        assert late is not None and "orientation is ignored" in report.sentences()[0]
        few = ImuInput()
        assert few.truths(0, unset) == [] and len(few.finish()) == 1 and not few.has_orientation


@pytest.mark.parametrize("place", [0, 1, PERIOD_MESSAGES - 2, 2 * PERIOD_MESSAGES])
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        *((numbers, "lack an orientation") for numbers in UNSET),
        (imu_payload(LEVEL._replace(orientation=np.full(4, np.nan))), "NaN or infinite"),
        (imu_payload(LEVEL._replace(angular_velocity=np.full(3, np.nan))), "NaN or infinite"),
        (imu_payload(LEVEL._replace(specific_force=np.full(3, 1e200))), "above 1e+09"),
    ],
)
def test_single_invalid_message_is_ignored_and_counted(place, bad, words):
    report = StreamReport()
    source = ImuInput(report=report)
    known = []
    for stamp in range(3 * PERIOD_MESSAGES):
        known += source.truths(stamp, bad if stamp == place else imu_payload(LEVEL))
    assert source.has_orientation
    assert [stamp for stamp, _ in known] == list(range(3 * PERIOD_MESSAGES))
    assert [stamp for stamp, truth in known if truth is None] == [place]
    (sentence,) = report.sentences()
    assert words in sentence and sentence.endswith(": 1")


def test_imu_without_acceleration_is_rejected_and_single_message_is_ignored():
    lacking = imu_payload(LEVEL)
    lacking[28] = -1.0
    with pytest.raises(RecordingError, match="has no acceleration"):
        ImuInput().truths(1, lacking)
    report = StreamReport()
    source = ImuInput(report=report)
    source.truths(0, imu_payload(LEVEL))
    assert source.truths(1, lacking) == [(1, None)]
    assert "acceleration that other messages have: 1" in report.sentences()[0]


def test_missing_gravity_is_added_along_vertical(motion):
    up = Rotation.from_quat(motion.orientation).inv().apply([0.0, 0.0, motion.gravity])
    source = ImuInput(missing_gravity=motion.gravity)
    source.has_orientation = True
    # Quaternions need not be normalised.
    signals = zip(2.0 * motion.orientation, motion.angular_velocity, motion.specific_force - up)
    truths = [source.truth(1, imu_payload(ImuTruth(*row))).specific_force for row in signals]
    np.testing.assert_allclose(truths, motion.specific_force, atol=1e-12)
    with pytest.raises(RecordingError, match="required to add gravity"):
        ImuInput(missing_gravity=motion.gravity).truth(2, UNSET[0])


@pytest.mark.parametrize(
    ("force", "orientation", "words"),
    [
        ((0.0, 0.0, 0.1), False, "lacks gravity"),
        ((0.0, 0.0, -9.8), True, "not x forward, y left, z up"),
        ((9.8, 0.0, 0.0), True, "not x forward, y left, z up"),
    ],
)
def test_imu_axes_other_than_rep_103_are_rejected(force, orientation, words):
    with pytest.raises(RecordingError, match=words):
        check_frames(10 * [LEVEL._replace(specific_force=np.array(force))], orientation)


def test_rotated_mounting_passes_axes_check(motion):
    check_frames([truth for _, truth in samples(motion)], True)
    turned = Rotation.from_euler("ZYX", [0.4, 1.2, 2.0])
    check_frames([truth for _, truth in samples(motion.mounted(rotation=turned))], True)
    # Without an orientation, the direction of gravity cannot be checked.
    check_frames([LEVEL._replace(specific_force=np.array([0.0, 9.8, 0.0]))], False)
