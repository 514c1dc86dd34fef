"""Static recordings: made in blocks, written in every format, read back by our readers."""

import gzip

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import roll_pitch_yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.recordings.bundled_drives import FIRST_STAMP
from imu_simulation_framework.recordings.imu_writer import format_of, write_imu_recording
from imu_simulation_framework.sensors.simulation import BLOCK, record_at_rest

RATE = 100.0
SPECIFICATION = isf.ImuSpecification(
    "noisy",
    isf.TriadSpecification(white_noise=1e-3, random_walk=1e-4, turn_on_bias=(0.0, 0.0, 2.0)),
    isf.TriadSpecification(white_noise=1e-2),
)
COVARIANCES = SPECIFICATION.covariances()


def _blocks(samples, specification=SPECIFICATION, rate=RATE, seed=1):
    return list(record_at_rest(specification, samples, rate, seed))


def _joined(blocks):
    return [np.concatenate(values) for values in zip(*blocks)]


def test_blocks_are_bounded_and_follow_each_other():
    samples = BLOCK + 10
    blocks = _blocks(samples)
    assert [len(block.time) for block in blocks] == [BLOCK, 10]
    time, orientation, rate, force = _joined(blocks)
    np.testing.assert_array_equal(time, np.arange(samples) / RATE)
    # The random walk does not start anew: no step at the seam larger than noise makes it.
    yaw = np.unwrap(roll_pitch_yaw_from_quaternion(orientation)[:, 2])
    np.testing.assert_allclose(np.diff(yaw), rate[1:, 2] / RATE, atol=1e-4)
    assert force[:, 2].mean() == pytest.approx(9.81, abs=4.0 * 0.1 / np.sqrt(samples))


def test_rate_goes_before_that_of_the_specification_and_density_stays():
    slow = isf.ImuSpecification(
        gyroscope=SPECIFICATION.gyroscope,
        output=isf.OutputSpecification(rate=10.0, start_offset=5.0, orientation_reference="truth"),
    )
    samples = 20_000
    time, _, rate, _ = _joined(_blocks(samples, slow, 200.0))
    assert time[-1] == pytest.approx((samples - 1) / 200.0)
    differences = np.diff(rate, axis=0)
    # Successive differences: twice the white noise's variance, and next to nothing of the walk.
    variance = 2.0 * (1e-3**2 * 200.0)
    np.testing.assert_allclose(differences.var(axis=0), variance, rtol=4.0 * np.sqrt(3.0 / samples))


@pytest.mark.parametrize(
    "name, format, epoch",
    [
        ("static.bag", "", FIRST_STAMP / 1e9),
        ("static.csv", "", 0.0),
        ("static.csv.gz", "csv", 0.0),
        ("static.csv.gz", "rostopic_csv", FIRST_STAMP / 1e9),
    ],
)
def test_what_was_written_reads_back(tmp_path, name, format, epoch):
    path = tmp_path / name
    blocks = _blocks(500)
    # In uneven pieces, as a file's rows know nothing of blocks.
    pieces = [
        type(blocks[0])(*(values[first:last] for values in blocks[0]))
        for first, last in ((0, 3), (3, 3), (3, 500))
    ]
    write_imu_recording(path, pieces, COVARIANCES, format)
    table = isf.read_imu(path).table
    time, orientation, rate, force = _joined(blocks)
    np.testing.assert_allclose(table.index - epoch, time, atol=3e-7)
    np.testing.assert_array_equal(table[["gyro_x", "gyro_y", "gyro_z"]], rate)
    np.testing.assert_array_equal(table[["accel_x", "accel_y", "accel_z"]], force)
    angles = roll_pitch_yaw_from_quaternion(orientation)
    angles[:, 2] = np.unwrap(angles[:, 2])
    # Over half a turn, so that it does unwrap.
    assert np.ptp(angles[:, 2]) > np.pi
    np.testing.assert_allclose(table[["roll", "pitch", "yaw"]], angles, atol=1e-12)
    assert [other.name for other in tmp_path.iterdir()] == [name]


def test_same_recording_is_the_same_file(tmp_path):
    one, other = tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"
    for path in (one, other):
        write_imu_recording(path, _blocks(50), COVARIANCES)
    assert one.read_bytes() == other.read_bytes()
    assert gzip.decompress(one.read_bytes()).startswith(b"time,roll,pitch,yaw,gyro_x")


@pytest.mark.parametrize("name", ["static.bag", "static.csv.gz"])
def test_nothing_is_left_when_it_cannot_be_finished(tmp_path, name):
    def interrupted():
        yield from _blocks(100)
        raise KeyboardInterrupt

    (tmp_path / name).write_text("of before")
    with pytest.raises(KeyboardInterrupt):
        write_imu_recording(tmp_path / name, interrupted(), COVARIANCES)
    assert [other.name for other in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "of before"


@pytest.mark.parametrize(
    "name, format, words",
    [
        ("static.txt", "", "must end in .bag, or in .csv"),
        ("static.csv", "bag", "must end in .bag"),
        ("static.bag", "csv", "must end in .bag"),
        ("static.bag", "mat", "'mat' is no format; there are bag, rostopic_csv, csv"),
    ],
)
def test_names_that_do_not_fit_the_format_are_refused(name, format, words):
    with pytest.raises(ConfigurationError, match=words):
        format_of(name, format)
