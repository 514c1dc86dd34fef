import numpy as np
import pytest

from imu_simulation_framework.configuration.imu_specification_file import read_imu_specification
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.sensors.errors_in_motion import (
    inflated,
    understated_in_motion,
    without_wandering_bias,
)
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

AT_REST = ImuSpecification(name="mine", gyroscope=TriadSpecification(white_noise=1e-3))


def test_noise_alone_is_a_sensor_at_rest():
    assert understated_in_motion(AT_REST).startswith("mine holds what a sensor shows at rest")
    assert understated_in_motion(read_imu_specification("bno055")) is not None
    assert understated_in_motion(read_imu_specification("bno055_datasheet")) is None


@pytest.mark.parametrize(
    "field, value",
    [
        ("scale_factor_and_misalignment", ((0, 0, 0), (0, 0, 0), (0, 0, 1e-3))),
        ("g_sensitivity", ((0, 0, 1e-5), (0, 0, 0), (0, 0, 0))),
        ("turn_on_bias", (0, 0, 1e-4)),
        ("turn_on_bias_sigma", (0, 0, 1e-4)),
    ],
)
def test_any_error_of_motion_is_enough(field, value):
    imu = ImuSpecification(gyroscope=TriadSpecification(white_noise=1e-3, **{field: value}))

    assert understated_in_motion(imu) is None


def test_who_is_told_the_truth_does_not_drift():
    output = OutputSpecification(orientation_reference="truth")

    assert understated_in_motion(ImuSpecification(output=output)) is None


def test_a_bias_that_stands_still_is_told():
    sentence = without_wandering_bias(read_imu_specification("mpu6050"))
    assert sentence.startswith("mpu6050 has a bias that never changes")
    assert without_wandering_bias(read_imu_specification("adis16470")) is None
    for field in ("bias_instability", "random_walk", "gauss_markov_sigma"):
        triad = TriadSpecification(white_noise=1e-3, **{field: (0.0, 0.0, 1e-6)})
        assert without_wandering_bias(ImuSpecification(gyroscope=triad)) is None
    output = OutputSpecification(orientation_reference="truth")
    assert without_wandering_bias(ImuSpecification(output=output)) is None
    assert without_wandering_bias(ImuSpecification()) is None


def test_inflated_noise():
    imu = read_imu_specification("bno055")
    larger = inflated(imu, 10.0)

    assert larger.name == "bno055_x10"
    for triad in ("gyroscope", "accelerometer"):
        before, after = getattr(imu, triad), getattr(larger, triad)
        for field in ("white_noise", "bias_instability", "random_walk", "gauss_markov_sigma"):
            np.testing.assert_allclose(
                getattr(after, field), 10.0 * np.array(getattr(before, field))
            )
        assert after.saturation == before.saturation
    assert larger.output == imu.output


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan")])
def test_no_factor(factor):
    with pytest.raises(ConfigurationError, match="factor is"):
        inflated(AT_REST, factor)
