"""Magnetic field and speed at an ideal IMU, computed from the robot's messages."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.realistic_imu.ideal_inputs import StreamSignals
from imu_simulation_framework.realistic_imu.session import RealisticImu
from imu_simulation_framework.realistic_imu.surroundings import Surroundings, WheelEfforts
from imu_simulation_framework.sensors.formats.registry import named_imu
from imu_simulation_framework.sensors.simulation import imu_truth

EARTH = isf.MagneticEnvironment(earth=(1e-6, 2e-5, -4e-5))
HALL = isf.MagneticEnvironment(
    earth=EARTH.earth, dipoles=[isf.Dipole((2.0, 1.0, 0.0), (0.0, 0.0, 5.0))]
)
PERIOD = 10_000_000


@pytest.fixture(scope="module")
def motion():
    time = np.arange(401) / 100.0
    position = np.column_stack([np.sin(time), 0.5 * time, 0.1 * np.cos(time)])
    angles = np.column_stack([0.6 * time, 0.2 * np.sin(time), 0.1 * np.cos(1.3 * time)])
    return isf.Motion.from_poses(time, position, Rotation.from_euler("ZYX", angles).as_quat())


def truths(motion):
    return list(imu_truth(motion).samples())


def test_uniform_earth_field_requires_no_poses(motion):
    surroundings = Surroundings(EARTH, poses=False)
    assert not surroundings.needs_poses
    results = [surroundings.add(stamp, truth) for stamp, truth in enumerate(truths(motion))]
    fields = [truth.magnetic_field for ((_, truth),) in results]
    expected = EARTH.measured_field(motion.position, motion.orientation)
    np.testing.assert_allclose(fields, expected, atol=1e-19)
    assert surroundings.add(5, None) == [(5, None)]


def test_message_gap_is_bridged_for_imu_with_magnetometer(motion):
    session = RealisticImu(
        named_imu("bno055_magnetometer").errors, 1, 0.01, signals=StreamSignals(field=True)
    )
    surroundings = Surroundings(EARTH, poses=False)
    for number, truth in enumerate(truths(motion)):
        if number % 100 < 80:
            for pair in surroundings.add(number * PERIOD, truth):
                session.add(*pair)
    assert session.report.bridged == 80


def test_ideal_signals_wait_for_slower_poses(motion):
    arm = np.array([0.1, -0.2, 0.3])
    surroundings = Surroundings(HALL, speed=True)
    surroundings.mount(arm)
    mounted = motion.mounted(arm)
    speed = np.linalg.norm(motion.velocity, axis=1)
    complete = []
    for number, truth in enumerate(truths(mounted)):
        complete += surroundings.add(number * PERIOD, truth)
        if number % 4 == 0:
            assert len(complete) == max(0, number - 3)
            robot = (motion.position[number], motion.orientation[number], speed[number])
            complete += surroundings.add_pose(number * PERIOD, *robot)
            assert len(complete) == number + 1
    fields = [truth.magnetic_field for _, truth in complete]
    expected = HALL.measured_field(mounted.position, mounted.orientation)
    # Poses are interpolated over 0.04 s: at 1 m/s^2 the error is up to 0.2 mm, and at 0.8 m
    # from this magnet, the field changes by less than 7.4e-6 T/m (6e-7 moment / r^4).
    assert np.abs(np.array(fields) - expected).max() < 1.5e-9
    np.testing.assert_allclose([truth.speed for _, truth in complete], speed, atol=1e-3)


def test_ideal_signals_far_behind_poses_are_completed_in_batches(motion):
    surroundings = Surroundings(HALL)
    for number, robot in enumerate(zip(motion.position, motion.orientation)):
        surroundings.add_pose(number * PERIOD, *robot, 0.0)
    complete, counts = [], []
    for number, truth in enumerate(truths(motion)):
        complete += surroundings.add(number * PERIOD, truth)
        counts.append(len(complete))
    assert counts[:51] == 49 * [0] + [50, 50]
    # In the last 0.1 s, poses are as recent as the IMU, so each sample is completed at once.
    assert counts[-10:] == list(range(len(motion) - 9, len(motion) + 1))
    fields = [truth.magnetic_field for _, truth in complete]
    expected = HALL.measured_field(motion.position, motion.orientation)
    np.testing.assert_allclose(fields, expected, atol=1e-16)


def test_imu_stream_with_magnetic_heading_matches_batch(motion):
    imu = isf.ImuSpecification(
        magnetometer=isf.MagnetometerSpecification(white_noise=1e-7),
        output=isf.OutputSpecification(magnetic_heading=True),
    )
    table = isf.simulate_imu(motion, imu, seed=3, magnetic_environment=EARTH)
    session = RealisticImu(imu, 3, 0.01, signals=StreamSignals(field=True))
    surroundings = Surroundings(EARTH, poses=False)
    readings = [
        known.reading
        for number, truth in enumerate(truths(motion))
        for pair in surroundings.add(number * PERIOD, truth)
        for known in session.add(*pair)
    ]
    fields = [reading.magnetic_field for reading in readings]
    np.testing.assert_allclose(fields, table[["mag_x", "mag_y", "mag_z"]], atol=1e-18)
    yaw = np.unwrap([float(reading.yaw) for reading in readings])
    np.testing.assert_allclose(yaw - yaw[0], table["yaw"] - table["yaw"].iloc[0], atol=1e-9)


def test_restart_of_time_discards_waiting_signals(motion):
    surroundings = Surroundings(HALL)
    first = truths(motion)[0]
    surroundings.add(5 * 10**9, first)
    assert surroundings.add(0, first) == []
    complete = surroundings.add_pose(0, motion.position[0], motion.orientation[0], 0.0)
    assert [stamp for stamp, _ in complete] == [0]


def test_missing_or_implausible_poses_and_fields_are_rejected(motion):
    surroundings = Surroundings(HALL)
    first = truths(motion)[0]
    surroundings.add(0, first)
    with pytest.raises(RecordingError, match="was not reported for 10 s"):
        surroundings.add(11 * 10**9, first)
    with pytest.raises(ConfigurationError, match="depends on the position"):
        Surroundings(HALL, poses=False)
    with pytest.raises(ConfigurationError, match="the speed is unknown"):
        Surroundings(None, speed=True, poses=False)
    assert not Surroundings(None, poses=False).has_field
    for field in ((0.0, 0.0, 0.0), (20.0, 0.0, -40.0), (0.2, 0.0, -0.4)):
        with pytest.raises(RecordingError, match="expected a value in tesla"):
            Surroundings(None, poses=False, fields=True).add_field(0, field)
    surroundings = Surroundings(None, poses=False, fields=True)
    surroundings.add(0, truths(motion)[0])
    with pytest.raises(RecordingError, match="the magnetic field was not reported for 10 s"):
        surroundings.add(11 * 10**9, truths(motion)[0])
    with pytest.raises(ConfigurationError, match="has two sources"):
        Surroundings(EARTH, fields=True)


def test_reported_magnetic_field_is_interpolated(motion):
    surroundings = Surroundings(None, poses=False, fields=True)
    assert (
        surroundings.has_field and surroundings.has_reported_field and not surroundings.needs_poses
    )
    first, second = truths(motion)[:2]
    assert surroundings.add(0, first) == []
    ((stamp, truth),) = surroundings.add_field(0, (1e-5, 2e-5, -4e-5))
    assert stamp == 0
    np.testing.assert_array_equal(truth.magnetic_field, (1e-5, 2e-5, -4e-5))
    assert surroundings.add(PERIOD, second) == []
    assert surroundings.add_field(2 * PERIOD, (np.nan, 0.0, 0.0)) == []
    ((_, truth),) = surroundings.add_field(2 * PERIOD, (3e-5, 2e-5, -2e-5))
    np.testing.assert_allclose(truth.magnetic_field, (2e-5, 2e-5, -3e-5), rtol=1e-12)


def test_invalid_pose_or_field_is_ignored_and_counted(motion):
    surroundings = Surroundings(None, speed=True, fields=True)
    surroundings.mount((0.1, 0.0, 0.0))
    place, turn = motion.position[0], motion.orientation[0]
    for pose in ((place, np.zeros(4), 0.5), (place, np.full(4, 1e-200), 0.5), (place, turn, 1e200)):
        surroundings.add_pose(0, *pose)
    surroundings.add_field(0, (1e-5, 2e-5, -4e-5))
    for field in (np.zeros(3), np.full(3, np.nan), (0.2, 0.0, -0.4)):
        surroundings.add_field(PERIOD, field)
    assert surroundings.add(0, truths(motion)[0]) == []
    ((_, truth),) = surroundings.add_pose(0, place, turn, 0.5)
    assert truth.speed == 0.5 and truth.magnetic_field[0] == 1e-5
    assert [sentence.split(": ")[1] for sentence in surroundings.report.sentences()] == ["3", "3"]


def test_magnetic_fields_of_motors_are_computed_from_reported_torques_without_poses(motion):
    motors = isf.MotorField((1e-6, 0.0, 0.0), (0.0, 2e-6, 0.0))
    pulled = isf.MagneticEnvironment(earth=EARTH.earth, motors=motors)
    surroundings = Surroundings(pulled, poses=False, torques=True)
    assert surroundings.needs_torques and not surroundings.needs_poses
    first, second, third = truths(motion)[:3]
    assert surroundings.add(0, first) == []
    ((_, truth),) = surroundings.add_torques(0, 3.0, 0.5)
    earth = EARTH.measured_field(np.zeros((3, 3)), motion.orientation[:3])
    np.testing.assert_allclose(truth.magnetic_field - earth[0], (3e-6, 1e-6, 0.0), atol=1e-15)
    assert surroundings.add(PERIOD, second) == surroundings.add(2 * PERIOD, third) == []
    _, (_, truth) = surroundings.add_torques(2 * PERIOD, -1.0, 0.0)
    np.testing.assert_allclose(truth.magnetic_field - earth[2], (-1e-6, 0.0, 0.0), atol=1e-15)
    # Without motors, the signals do not wait for torques.
    assert not Surroundings(EARTH, poses=False, torques=True).needs_torques


def test_wheel_joints_are_selected_by_name_or_argument():
    efforts = WheelEfforts()
    # Joint states of an arm, or of only one side, are ignored.
    assert efforts.torques(["left_arm", "right_arm"], [1.0, 2.0]) is None
    assert efforts.torques(["front_left_wheel"], [1.0]) is None
    names = ["front_left_wheel", "front_right_wheel", "rear_left_wheel", "rear_right_wheel", "arm"]
    assert efforts.torques(names, [1.0, 2.0, 3.0, 4.0, 50.0]) == (4.0, 6.0)
    assert efforts.joints == (
        ("front_left_wheel", "rear_left_wheel"),
        ("front_right_wheel", "rear_right_wheel"),
    )
    # The selected joints do not change.
    assert efforts.torques(["wheel_left_2", "wheel_right_2"], [1.0, 2.0]) is None
    efforts = WheelEfforts(["a"], ["b", "c"])
    assert efforts.torques(["b", "wheel_left", "wheel_right", "a"], [1.0] * 4) is None
    assert efforts.torques(["c", "b", "a"], [1.0, 2.0, 4.0]) == (4.0, 3.0)
    names = ["wheel_left", "a", "wheel_right"]
    assert WheelEfforts(left=["a"]).torques(names, [1.0, 2.0, 4.0]) == (2.0, 4.0)
    assert WheelEfforts(right=["a"]).torques(names, [1.0, 2.0, 4.0]) == (1.0, 2.0)
    # A missing side is not treated as zero torque.
    assert WheelEfforts(left=["a"]).torques(["a"], [1.0]) is None
    efforts = WheelEfforts()
    assert efforts.torques(["upright_left_wheel", "right_wheel"], [1.0, 2.0]) is None
    names = ["left_wheel", "right_wheel", "upright_left_wheel"]
    assert efforts.torques(names, [1.0, 2.0, 4.0]) == (1.0, 2.0)


def test_invalid_effort_is_ignored_and_zero_efforts_are_detected():
    efforts = WheelEfforts()
    names = ["wheel_left_joint", "wheel_right_joint"]
    assert efforts.torques(names, [math.nan, 1.0]) is None
    with pytest.raises(
        RecordingError, match="wheel_left_joint, wheel_right_joint contain no effort"
    ):
        efforts.torques(names, [])
    for right, is_all_zero in ((math.nan, False), (0.0, True), (0.1, False), (0.0, False)):
        efforts.torques(names, [0.0, right])
        assert efforts.is_all_zero == is_all_zero
