import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.errors_in_motion import (
    inflate_noise,
    remark_on_constant_bias,
    remark_on_earth_rate,
    remark_on_motion_errors,
)

AT_REST = isf.ImuSpecification(name="mine", gyroscope=isf.TriadSpecification(white_noise=1e-3))


MOTION_ERRORS = {
    "scale factor": {"scale_factor_and_misalignment": ((0, 0, 0), (0, 0, 0), (0, 0, 1e-3))},
    "misalignment": {"scale_factor_and_misalignment": ((0, 0, 0), (0, 0, 0), (1e-3, 0, 0))},
    "g-sensitivity": {"g_sensitivity": ((0, 0, 1e-5), (0, 0, 0), (0, 0, 0))},
    "turn-on bias": {"turn_on_bias_sigma": (0, 0, 1e-4)},
}


@pytest.mark.parametrize("stated", sorted(MOTION_ERRORS))
def test_remark_lists_each_motion_error_missing_from_specification(stated):
    triad = isf.TriadSpecification(white_noise=1e-3, **MOTION_ERRORS[stated])
    sentence = remark_on_motion_errors(isf.ImuSpecification(name="mine", gyroscope=triad))
    assert all((name in sentence) == (name != stated) for name in MOTION_ERRORS)


def test_missing_earth_rate_and_constant_bias_are_reported():
    assert "15 deg/h" in remark_on_earth_rate(isf.read_imu_specification("stim300"))
    assert remark_on_earth_rate(isf.read_imu_specification("bmi088")) is None
    assert "mpu6050" in remark_on_constant_bias(isf.read_imu_specification("mpu6050"))
    assert remark_on_constant_bias(isf.read_imu_specification("adis16470")) is None
    for field in ("bias_instability", "random_walk", "gauss_markov_sigma"):
        triad = isf.TriadSpecification(white_noise=1e-3, **{field: (0.0, 0.0, 1e-6)})
        assert remark_on_constant_bias(isf.ImuSpecification(gyroscope=triad)) is None
    assert remark_on_constant_bias(isf.ImuSpecification()) is None


def test_noise_inflation_scales_only_noise_parameters():
    imu = isf.read_imu_specification("bno055")
    larger = inflate_noise(imu, 10.0)
    assert larger.name == "bno055_x10"
    for triad in ("gyroscope", "accelerometer"):
        before, after = getattr(imu, triad), getattr(larger, triad)
        for field in ("white_noise", "bias_instability", "random_walk", "gauss_markov_sigma"):
            expected = 10.0 * np.array(getattr(before, field))
            np.testing.assert_allclose(getattr(after, field), expected)
        assert after.saturation == before.saturation
    assert larger.output == imu.output


def test_specification_with_only_stationary_errors_has_remark():
    assert "stationary errors" in remark_on_motion_errors(AT_REST)
    assert remark_on_motion_errors(isf.read_imu_specification("bno055")) is not None
    assert remark_on_motion_errors(isf.read_imu_specification("bno055_datasheet")) is None
    # A missing g-sensitivity alone causes no remark.
    matrix = ((0, 0, 0), (0, 0, 0), (1e-3, 0, 1e-3))
    triad = isf.TriadSpecification(scale_factor_and_misalignment=matrix, turn_on_bias=(0, 0, 1e-4))
    assert remark_on_motion_errors(isf.ImuSpecification(gyroscope=triad)) is None


@pytest.mark.parametrize(
    "remark", [remark_on_motion_errors, remark_on_earth_rate, remark_on_constant_bias]
)
def test_imu_that_outputs_true_orientation_has_no_remark(remark):
    reported = isf.OutputSpecification(orientation_reference="truth")
    assert remark(isf.ImuSpecification(output=reported)) is None
