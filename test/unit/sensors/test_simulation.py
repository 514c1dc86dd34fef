"""Simulation of moving and stationary IMUs, and files of their samples."""

import gzip

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import roll_pitch_yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.core.tables import IMU_RECORD
from imu_simulation_framework.recordings.bundled_drives import FIRST_STAMP
from imu_simulation_framework.recordings.imu_writer import write_imu_recording
from imu_simulation_framework.recordings.written_formats import format_of
from imu_simulation_framework.sensors.imu_models.plugins import PRESETS
from imu_simulation_framework.sensors.simulation import BLOCK, record_at_rest


@pytest.fixture(scope="module")
def motion():
    return isf.read_drive("a", laps=1)


@pytest.mark.parametrize("imu", [*PRESETS, isf.ImuSpecification(), isf.GenericParameters(0.01)])
def test_imu_models_return_tables_with_same_columns(motion, imu):
    samples = isf.simulate_imu(motion, imu)
    assert tuple(samples.columns) == IMU_RECORD
    np.testing.assert_array_equal(samples.index, motion.time)
    assert np.isfinite(samples.to_numpy()).all()
    assert samples["accel_z"].mean() == pytest.approx(9.81, abs=0.01)


def test_plugin_yaw_error_matches_parameters_and_slow_sensor_has_fewer_samples(motion):
    for imu, error in (("ideal", 0.0), (isf.HectorParameters(yaw_offset=0.2, yaw_drift=0.0), -0.2)):
        actual = isf.yaw_error(isf.simulate_imu(motion, imu), motion)
        np.testing.assert_allclose(actual, error, rtol=0.0, atol=1e-9)
    imu = isf.ImuSpecification(output=isf.OutputSpecification(rate=20.0, start_offset=0.03))
    samples = isf.simulate_imu(motion, imu)
    np.testing.assert_allclose(np.diff(samples.index), 0.05)
    assert samples.index[0] == pytest.approx(0.03)
    # Each sample is the mean over its period, so their sum contains the complete turn.
    turned = samples["gyro_z"].iloc[1:].sum() * 0.05
    expected = np.interp(samples.index[[0, -1]], motion.time, motion.yaw)
    assert turned == pytest.approx(expected[1] - expected[0], abs=1e-9)


def test_invalid_imu_simulation_is_rejected(motion):
    with pytest.raises(ConfigurationError, match="of type float"):
        isf.simulate_imu(motion, 3.0)
    with pytest.raises(ConfigurationError, match="nothing: neither a file nor"):
        isf.simulate_imu(motion, "nothing")
    samples = isf.simulate_imu(isf.straight(1.0), "ideal")
    samples.index += 100.0
    with pytest.raises(MotionError, match="no yaw was measured"):
        isf.yaw_error(samples, motion)


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


def test_stationary_samples_have_requested_rate():
    samples = BLOCK + 10
    blocks = _blocks(samples)
    assert [len(block.time) for block in blocks] == [BLOCK, 10]
    time, orientation, rate, force = _joined(blocks)
    np.testing.assert_array_equal(time, np.arange(samples) / RATE)
    # The yaw is continuous across blocks, because the random walk continues.
    yaw = np.unwrap(roll_pitch_yaw_from_quaternion(orientation)[:, 2])
    np.testing.assert_allclose(np.diff(yaw), rate[1:, 2] / RATE, atol=1e-4)
    assert force[:, 2].mean() == pytest.approx(9.81, abs=4.0 * 0.1 / np.sqrt(samples))
    slow = isf.ImuSpecification(
        gyroscope=SPECIFICATION.gyroscope,
        output=isf.OutputSpecification(rate=10.0, start_offset=5.0, orientation_reference="truth"),
    )
    samples = 20_000
    time, _, rate, _ = _joined(_blocks(samples, slow, 200.0))
    assert time[-1] == pytest.approx((samples - 1) / 200.0)
    differences = np.diff(rate, axis=0)
    # A difference of samples has twice the white-noise variance; the walk adds almost nothing.
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
def test_written_samples_round_trip(tmp_path, name, format, epoch):
    path = tmp_path / name
    blocks = _blocks(500)
    # The blocks have different lengths, because they must not affect the rows of the file.
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
    # The yaw spans more than 180 degrees, so unwrapping has an effect.
    assert np.ptp(angles[:, 2]) > np.pi
    np.testing.assert_allclose(table[["roll", "pitch", "yaw"]], angles, atol=1e-12)
    assert [other.name for other in tmp_path.iterdir()] == [name]


def test_identical_recordings_are_written_as_identical_files(tmp_path):
    first, other = tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"
    for path in (first, other):
        write_imu_recording(path, _blocks(50), COVARIANCES)
    assert first.read_bytes() == other.read_bytes()
    assert gzip.decompress(first.read_bytes()).startswith(b"time,roll,pitch,yaw,gyro_x")


@pytest.mark.parametrize(
    "name, format, words",
    [
        ("static.txt", "", "suffix of the file is not known, expected .bag, or .csv"),
        ("static.bag", "mat", "format is 'mat', expected one of bag, rostopic_csv, csv"),
    ],
)
def test_file_names_that_do_not_match_format_are_rejected(name, format, words):
    with pytest.raises(ConfigurationError, match=words):
        format_of(name, format)
