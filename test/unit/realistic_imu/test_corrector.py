"""Correction of messages by the node imu_corrector, in ROS 1 and ROS 2 serialisation."""

import numpy as np
import pytest
from recording_shell import shell_of

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.realistic_imu import node_sessions
from imu_simulation_framework.recordings.messages import (
    FIELD,
    IMU,
    MAGNETIC_FIELD,
    SIGNALS,
    TEMPERATURE,
    Packer,
    read_numbers,
    separate,
)
from imu_simulation_framework.sensors.correction import TriadCorrection, imu_correction_text

MATRIX = ((0.1, 0.02, 0.0), (0.0, -0.1, 0.0), (0.03, 0.0, 0.2))
TRIAD = TriadCorrection(
    (0.1, 0.2, 0.3), scale_factor_and_misalignment=MATRIX, temperature_bias=((0.01, 0.0, 0.0),)
)
CORRECTION = isf.sensors.ImuCorrection("x", TRIAD, TriadCorrection((1.0, 2.0, 3.0)), TRIAD)
TRUTH = np.array([0.5, -0.6, 0.7])
READ = TRIAD.matrix @ TRUTH + TRIAD.bias
ROW = (0.0, 0.0, 0.6, 0.8, *READ, 1.0, 2.0, 12.8)
STAMP = 12_000_000_034


@pytest.fixture(params=[False, True], ids=["ros1", "ros2"])
def ros2(request):
    return request.param


def message(kind, ros2, fields, stamp=STAMP, frame="imu_link"):
    (data,) = separate(Packer(kind, [frame], None, ros2).pack(np.array([stamp]), fields))
    return data


def imu(ros2, row=ROW, stamp=STAMP, **fields):
    return message(IMU, ros2, {**dict(zip(SIGNALS, row)), **fields}, stamp)


def covariance(quantity, values):
    return {f"{quantity}_covariance{place}": value for place, value in enumerate(values)}


def run_corrector(tmp_path, messages, ros2, correction=CORRECTION, **arguments):
    path = ""
    if correction is not None:
        path = tmp_path / "correction.yaml"
        path.write_text(imu_correction_text(correction))
    arguments = node_sessions.CorrectorArguments(correction=str(path), **arguments)
    return shell_of(node_sessions.LiveCorrector, arguments, messages, ros2)


def corrected_imu(tmp_path, data, ros2, before=()):
    shell = run_corrector(tmp_path, [*before, ("imu/data_raw", data)], ros2)
    (done,) = shell.sent["imu/data"]
    read = read_numbers(done, IMU, ros2)
    return done, dict(zip(IMU.names, read.numbers))


def vector(numbers, quantity):
    return [numbers[f"{quantity}.{axis}"] for axis in "xyz"]


def matrix(numbers, quantity):
    return np.reshape([numbers[f"{quantity}_covariance{place}"] for place in range(9)], (3, 3))


def test_corrector_changes_only_bytes_of_readings(tmp_path, ros2):
    raw = imu(ros2, **covariance("orientation", [1.0] * 9))
    done, numbers = corrected_imu(tmp_path, raw, ros2)
    np.testing.assert_allclose(vector(numbers, "angular_velocity"), TRUTH)
    np.testing.assert_allclose(vector(numbers, "linear_acceleration"), [0.0, 0.0, 9.8], atol=1e-12)
    # Header, orientation and its covariance precede both readings in the message.
    place = raw.index(np.asarray(READ, "<f8").tobytes())
    assert done[:place] == raw[:place] and len(done) == len(raw)
    assert not matrix(numbers, "linear_acceleration").any()


def test_corrector_uses_last_finite_temperature(tmp_path, ros2):
    warm, none = (
        ("imu/temperature", message(TEMPERATURE, ros2, {"temperature": value}))
        for value in (35.0, np.nan)
    )
    _, numbers = corrected_imu(tmp_path, imu(ros2), ros2, [warm, none])
    shift = np.linalg.solve(TRIAD.matrix, [0.1, 0.0, 0.0])
    np.testing.assert_allclose(vector(numbers, "angular_velocity"), TRUTH - shift)


def test_corrector_does_not_change_readings_marked_as_missing(tmp_path, ros2):
    raw = imu(ros2, angular_velocity_covariance0=-1.0)
    _, numbers = corrected_imu(tmp_path, raw, ros2)
    assert vector(numbers, "angular_velocity") == READ.tolist()
    assert matrix(numbers, "angular_velocity").ravel().tolist() == [-1.0] + [0.0] * 8


def test_corrector_propagates_covariances(tmp_path, ros2):
    variances = np.diag([0.01, 0.02, 0.03])
    raw = imu(ros2, **covariance("angular_velocity", variances.ravel()))
    _, numbers = corrected_imu(tmp_path, raw, ros2)
    inverse = np.linalg.inv(TRIAD.matrix)
    expected = inverse @ variances @ inverse.T
    np.testing.assert_allclose(matrix(numbers, "angular_velocity"), expected)


def test_corrector_corrects_magnetic_field(tmp_path, ros2):
    truth = np.array([2e-5, 0.0, -4e-5])
    raw = message(MAGNETIC_FIELD, ros2, dict(zip(FIELD, TRIAD.matrix @ truth + TRIAD.bias)))
    (done,) = run_corrector(tmp_path, [("imu/mag_raw", raw)], ros2).sent["imu/mag"]
    read = read_numbers(done, MAGNETIC_FIELD, ros2)
    np.testing.assert_allclose(read.numbers[:3], truth, atol=1e-16)
    assert (read.stamp, read.frame) == (STAMP, "imu_link") and not read.numbers[3:].any()


@pytest.mark.parametrize(
    ("reading", "is_mismatch"),
    [(4.8e-5, False), (1.0e-3, False), (48.0, True), (0.48, True), (0.0, False), (np.nan, False)],
)
def test_unit_mismatch_between_field_and_correction_causes_single_warning(
    tmp_path, reading, is_mismatch
):
    field, part = np.array([0.0, reading, 0.0]), TriadCorrection(bias=(2e-5, 0.0, -1e-5))
    assert bool(node_sessions.explain_unit_mismatch(field, part)) == is_mismatch
    # A correction in microtesla matches only readings in microtesla.
    other = TriadCorrection(bias=(20.0, 0.0, -10.0))
    assert bool(node_sessions.explain_unit_mismatch(field, other)) == (0.0 < reading < 0.02)
    raw = message(MAGNETIC_FIELD, True, dict(zip(FIELD, field)))
    correction = isf.sensors.ImuCorrection(magnetometer=part)
    warnings = run_corrector(tmp_path, 2 * [("imu/mag_raw", raw)], True, correction).warned
    assert len(warnings) == is_mismatch


def test_gyroscope_bias_is_removed_after_standstill(tmp_path, ros2):
    row = (0.0, 0.0, 0.0, 1.0, 0.1, 0.0, -0.2, 0.0, 0.0, 0.0)
    messages = [
        ("imu/data_raw", imu(ros2, row, stamp=number * 20_000_000)) for number in range(100)
    ]
    shell = run_corrector(tmp_path, messages, ros2, None, standstill=1.0)
    for number, done in enumerate(shell.sent["imu/data"]):
        corrected = dict(zip(IMU.names, read_numbers(done, IMU, ros2).numbers))
        expected = [0.1, 0.0, -0.2] if number < 50 else [0.0, 0.0, 0.0]
        assert vector(corrected, "angular_velocity") == pytest.approx(expected)
    (sentence,) = shell.informed
    assert "zeroed at standstill: 5.73, 0, -11.5 deg/s are subtracted from x, y, z" in sentence


def test_missing_standstill_for_zeroing_is_reported_at_end(tmp_path):
    shell = run_corrector(tmp_path, [("imu/data_raw", imu(True))], True, None, standstill=1.0)
    assert "no offset was subtracted: the robot was not stationary for 1 s" in shell.warned[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "imu_corrector: correction is empty"),
        ({"correction": "/none.yaml"}, "/none.yaml"),
        ({"standstill": 1.0, "stops": "found"}, "stops is found"),
    ],
)
def test_invalid_corrector_arguments_are_rejected(arguments, words):
    with pytest.raises(ConfigurationError) as refused:
        shell_of(node_sessions.LiveCorrector, node_sessions.CorrectorArguments(**arguments), [])
    assert words in str(refused.value)


def test_message_with_wrong_layout_is_rejected(tmp_path, ros2):
    with pytest.raises(
        SimulatorError, match="imu/data_raw: a message does not match the layout of sensor"
    ):
        run_corrector(tmp_path, [("imu/data_raw", imu(ros2)[:-9])], ros2)
