"""Validation of an IMU against the ground truth, axis by axis, and limits on its errors."""

import numpy as np
import pandas as pd
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.characterisation.validation.errors import validate_imu
from imu_simulation_framework.characterisation.validation.limits import (
    Limit,
    judge_limits,
    read_limits,
)
from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.core.tables import IMU_RECORD


@pytest.fixture(scope="module")
def truth():
    return isf.simulate_imu(isf.rounds(3.0, radius=2.0), "ideal")


def test_validation_errors_have_expected_statistics_and_allan_deviation(truth):
    random = np.random.default_rng(1)
    wrong = random.normal(0.0, 0.01, truth.shape) + np.arange(9) * 0.1
    validation = validate_imu(truth - wrong, truth)
    for name, column in zip(IMU_RECORD, wrong.T):
        quantity = {"g": "rate", "a": "force"}.get(name[0], "orientation")
        compared = validation.axis(quantity, name if quantity == "orientation" else name[-1])
        statistics = compared.statistics
        np.testing.assert_allclose(compared.error, column, atol=1e-9)
        assert statistics.mean == pytest.approx(column.mean())
        assert statistics.standard_deviation == pytest.approx(column.std())
        assert statistics.maximum_absolute == pytest.approx(np.abs(column).max())
        # The Allan deviation of white noise is sigma / sqrt(n) for an averaging time of n samples.
        assert compared.allan_deviation[0] == pytest.approx(0.01, rel=0.1)
        assert compared.value("allan_deviation", compared.tau[0] * 10) == pytest.approx(
            0.01 / np.sqrt(10), rel=0.2
        )
    lengths = np.linalg.norm(wrong[:, 3:6], axis=1)
    assert validation.axis("rate", "norm").statistics.mean == pytest.approx(lengths.mean())


def test_angle_wrap_at_180_degrees_is_not_an_error(truth):
    turned = truth.copy()
    turned["yaw"] = (truth["yaw"] + 2.0 * np.pi) % (2.0 * np.pi) - np.pi + np.pi
    yaw = validate_imu(turned, truth).axis("orientation", "yaw")
    assert yaw.statistics.maximum_absolute < 1e-9


def test_pitch_near_gimbal_lock_is_reported(truth):
    tumbled = truth.copy()
    tumbled["pitch"] = 1.5 * np.sin(0.5 * truth.index.to_numpy())
    remarks = validate_imu(tumbled, tumbled).remarks
    assert any("the true pitch reaches 86 deg" in remark for remark in remarks)
    assert not any("true pitch" in remark for remark in validate_imu(truth, truth).remarks)


def test_ground_truth_is_interpolated_across_at_most_two_missing_samples(truth):
    imu = truth.iloc[:3000].copy()
    imu.index = imu.index + 0.003
    coarse = pd.concat([truth.iloc[100:1000], truth.iloc[1500:2500]])
    validation = validate_imu(imu, coarse)
    assert len(validation.time) == 899 + 999
    assert "1102 of 3000 samples are excluded" in validation.remarks[1]
    assert "the ground truth was interpolated" in validation.remarks[2]
    imu = truth.iloc[100:900].copy()
    imu.index = imu.index + 0.003
    for missing, left_out in ((1, 0), (4, 5)):
        holed = truth.drop(index=truth.index[500 : 500 + missing])
        assert len(validate_imu(imu, holed).time) == 800 - left_out


def test_clocks_are_aligned_with_yaw_rates_on_request(truth):
    slow = isf.simulate_imu(isf.read_drive("a"), "ideal").iloc[:6000]
    late = slow.copy()
    late.index = late.index + 0.15
    validation = validate_imu(late, slow, align=True)
    assert validation.shift == pytest.approx(0.15, abs=0.005)
    assert "the IMU is 0.15" in validation.remarks[0]
    # A constant yaw rate contains no information about the time offset.
    assert "times were not aligned" in validate_imu(truth, truth, align=True).remarks[0]
    with pytest.raises(RecordingError, match="requires a yaw in both"):
        validate_imu(truth.drop(columns="yaw"), truth, align=True)


def test_quantity_missing_from_ground_truth_is_reported_and_has_no_error_norm(truth):
    validation = validate_imu(truth, truth[["yaw", "gyro_z"]])
    compared = [(compared_axis.quantity, compared_axis.axis) for compared_axis in validation.axes]
    assert compared == [("rate", "z"), ("orientation", "yaw")]
    expected = "not compared, because missing in the IMU or the ground truth: gyro_x"
    assert expected in validation.remarks[-1]


def test_incomparable_tables_are_rejected(truth):
    with pytest.raises(
        RecordingError, match="axes of the IMU are yaw, and axes of the ground truth are gyro_z"
    ):
        validate_imu(truth[["yaw"]], truth[["gyro_z"]])
    later = truth.copy()
    later.index = later.index + 1000.0
    with pytest.raises(RecordingError, match="only 0 samples of the IMU are within the time range"):
        validate_imu(later, truth)
    with pytest.raises(RecordingError, match="fewer than two samples"):
        validate_imu(truth.iloc[:1], truth)


def test_errors_are_compared_with_limits_and_nan_exceeds_limit(truth):
    wrong = truth.copy()
    wrong["gyro_z"] -= 0.002
    validation = validate_imu(wrong, truth)
    rate = {"z": {"mean": 0.0019}, "norm": {"mean": 0.0021}}
    judged = judge_limits(validation, read_limits({"rate": rate, "force": {"x": {"rms": 1}}}))
    assert [limit.is_kept(value) for limit, value in judged] == [False, True, True]
    assert judged[0][0].name == "rate z mean"
    allan = read_limits({"rate": {"z": {"allan_deviation": {1: 1e-3, 2.5: 1e-9}}}})
    assert [limit.tau for limit, _ in judge_limits(validation, allan)] == [1.0, 2.5]
    with pytest.raises(RecordingError, match="rate z is 1000 s"):
        judge_limits(validation, [Limit("rate", "z", "allan_deviation", 1.0, 1000.0)])
    with pytest.raises(RecordingError, match="rate x could not be compared"):
        judge_limits(validate_imu(wrong, truth[["gyro_z"]]), [Limit("rate", "x", "mean", 1.0)])
    assert not Limit("rate", "z", "mean", 1.0).is_kept(float("nan"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "limits are empty"),
        ({"speed": {}}, "'speed' is an unknown quantity, expected one of rate, force, orientation"),
        (
            {"rate": {"yaw": {"mean": 1}}},
            "'yaw' is an unknown axis of rate, expected one of x, y, z, norm",
        ),
        ({"rate": {"x": {"median": 1}}}, "'median' is an unknown statistic of rate.x"),
        ({"rate": {"x": {"mean": -1}}}, "rate.x.mean is -1, expected"),
        ({"rate": {"x": {"mean": float("nan")}}}, "rate.x.mean is nan"),
        ({"rate": {"x": {"allan_deviation": {"a": 1}}}}, "an averaging time of"),
        ({"rate": [1]}, "rate is [1], expected keys"),
    ],
)
def test_invalid_limits_are_rejected(content, words):
    with pytest.raises(ConfigurationError) as refused:
        read_limits(content)
    assert words in str(refused.value)
