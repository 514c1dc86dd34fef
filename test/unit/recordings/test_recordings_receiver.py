"""A receiver's velocity and heading, in topics beside its positions."""

import numpy as np
import pytest
import recording_writers as writers
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.reading import read_reference_samples

COUNT = 30
START, PERIOD = 1_700_000_000 * 10**9, 200_000_000
STAMPS = [START + PERIOD * k for k in range(COUNT)]
FIXES = [writers.fix(stamp, 48.0 + 1e-6 * k, 11.0) for k, stamp in enumerate(STAMPS)]
VELOCITIES = np.column_stack([np.arange(COUNT), -np.arange(COUNT), np.zeros(COUNT)])
HEADINGS = Rotation.from_euler("Z", 0.1 * np.arange(COUNT)[:, None]).as_quat()


def bag(tmp_path, **topics):
    content = {"/fix": FIXES, **{f"/{name}": messages for name, messages in topics.items()}}
    return writers.write_bag(tmp_path / "a.bag", content)


@pytest.mark.parametrize("make", [writers.twist_stamped, writers.twist_with_covariance_stamped])
@pytest.mark.parametrize("late", [-60_000_000, 0, 90_000_000])
def test_the_nearest_velocity_is_taken(tmp_path, make, late):
    messages = [make(stamp + late, velocity) for stamp, velocity in zip(STAMPS, VELOCITIES)]
    path = bag(tmp_path, vel=messages)
    samples = read_reference_samples(path, topic="/fix", velocity_topic="/vel")
    assert np.array_equal(samples.columns["velocity_east"], VELOCITIES[:, 0])
    assert np.array_equal(samples.columns["velocity_north"], VELOCITIES[:, 1])
    assert np.array_equal(samples.columns["latitude"], [fix.latitude for fix in FIXES])


def test_a_faster_velocity_of_ros_2(tmp_path):
    times = [START + PERIOD // 10 * k for k in range(10 * COUNT)]
    messages = [writers.twist_stamped(time, (k, 0.0, 0.0)) for k, time in enumerate(times)]
    path = writers.write_ros2_bag(tmp_path / "a", {"/fix": FIXES, "/vel": messages})
    samples = read_reference_samples(path, velocity_topic="vel")
    assert np.array_equal(samples.columns["velocity_east"], 10.0 * np.arange(COUNT))


def test_where_no_velocity_is_near_it_is_not_known(tmp_path):
    messages = [writers.twist_stamped(*row) for row in zip(STAMPS[:10], VELOCITIES)]
    path = bag(tmp_path, vel=messages)
    east = read_reference_samples(path, velocity_topic="/vel").columns["velocity_east"]
    assert np.array_equal(np.isfinite(east), np.arange(COUNT) < 10)


@pytest.mark.parametrize(
    "make",
    [
        writers.quaternion_stamped,
        lambda stamp, heading: writers.pose_stamped(stamp, np.zeros(3), heading),
        lambda stamp, heading: writers.imu(stamp, heading, np.zeros(3), np.zeros(3)),
        lambda stamp, heading: writers.odometry(stamp, np.zeros(3), heading),
    ],
)
def test_a_heading_of_two_antennas(tmp_path, make):
    messages = [make(stamp + 1000, heading) for stamp, heading in zip(STAMPS, HEADINGS)]
    path = bag(tmp_path, heading=messages)
    samples = read_reference_samples(path, topic="/fix", heading_topic="/heading")
    assert np.array_equal(samples.matrix(("qx", "qy", "qz", "qw")), HEADINGS)


def refusal(path, **options):
    with pytest.raises(RecordingError) as caught:
        read_reference_samples(path, **options)
    return str(caught.value)


def test_a_velocity_beside_odometry_is_refused(tmp_path):
    odometry = [writers.odometry(stamp, np.zeros(3), (0, 0, 0, 1)) for stamp in STAMPS]
    messages = [writers.twist_stamped(*row) for row in zip(STAMPS, VELOCITIES)]
    sentence = refusal(
        bag(tmp_path, odom=odometry, vel=messages), topic="/odom", velocity_topic="/vel"
    )
    assert "topic /vel: it is of use only beside positions in sensor_msgs/NavSatFix" in sentence


def test_a_velocity_of_another_day_is_refused(tmp_path):
    messages = [writers.twist_stamped(s + 10**14, v) for s, v in zip(STAMPS, VELOCITIES)]
    sentence = refusal(bag(tmp_path, vel=messages), velocity_topic="/vel")
    assert "topic /vel: none of its 30 messages is within 0.101 s of a position" in sentence


def test_a_topic_of_another_type_is_refused(tmp_path):
    sentence = refusal(bag(tmp_path), velocity_topic="/fix")
    assert "/fix is of type sensor_msgs/NavSatFix, expected geometry_msgs/TwistStamped" in sentence


@pytest.mark.parametrize("key", ["velocity_topic", "heading_topic"])
def test_a_file_without_topics_is_refused(tmp_path, key):
    columns = {"time": [0.1 * k for k in range(20)], "latitude": [48.0] * 20}
    path = writers.write_csv(tmp_path / "a.csv", {**columns, "longitude": [11.0] * 20})
    assert f"{key} is of use only in a bag, this is csv" in refusal(path, **{key: "/vel"})
