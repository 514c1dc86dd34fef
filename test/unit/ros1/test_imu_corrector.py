"""Messages as the node imu_corrector corrects them."""

import numpy as np
import pytest

pytest.importorskip("rospy")
from geometry_msgs.msg import Quaternion, Vector3
from sensor_msgs.msg import Imu, MagneticField

from imu_simulation_framework.ros1.nodes.imu_corrector import (
    another_unit,
    corrected_field,
    corrected_imu,
    needs_temperature,
    zero,
)
from imu_simulation_framework.sensors.correction import (
    ImuCorrection,
    TriadCorrection,
)
from imu_simulation_framework.sensors.operation import LiveZeroing, Operation

MATRIX = ((0.1, 0.02, 0.0), (0.0, -0.1, 0.0), (0.03, 0.0, 0.2))
TRIAD = TriadCorrection(
    (0.1, 0.2, 0.3), scale_factor_and_misalignment=MATRIX, temperature_bias=((0.01, 0.0, 0.0),)
)
CORRECTION = ImuCorrection("x", TRIAD, TriadCorrection((1.0, 2.0, 3.0)), TRIAD)


def message(**covariances):
    truth = np.array([0.5, -0.6, 0.7])
    read = TRIAD.matrix @ truth + TRIAD.bias
    made = Imu(
        orientation=Quaternion(0.0, 0.0, 0.6, 0.8),
        angular_velocity=Vector3(*read),
        linear_acceleration=Vector3(1.0, 2.0, 12.8),
        **covariances,
    )
    made.header.seq, made.header.frame_id = 7, "imu_link"
    made.header.stamp.secs = 12
    return made, truth


def numbers(vector):
    return [vector.x, vector.y, vector.z]


def test_readings_are_corrected_and_the_rest_or_what_the_sensor_lacks_is_kept():
    raw, truth = message(orientation_covariance=[1.0] * 9)
    done = corrected_imu(raw, CORRECTION)
    assert np.allclose(numbers(done.angular_velocity), truth)
    assert np.allclose(numbers(done.linear_acceleration), [0.0, 0.0, 9.8])
    assert done.header == raw.header and done.orientation == raw.orientation
    assert list(done.orientation_covariance) == [1.0] * 9
    warm = corrected_imu(raw, CORRECTION, 35.0)
    shift = np.linalg.solve(TRIAD.matrix, [0.1, 0.0, 0.0])
    assert np.allclose(numbers(warm.angular_velocity), truth - shift)
    assert needs_temperature(CORRECTION) and not needs_temperature(ImuCorrection())
    raw, _ = message(angular_velocity_covariance=[-1.0] + [0.0] * 8)
    done = corrected_imu(raw, CORRECTION)
    assert done.angular_velocity == raw.angular_velocity
    assert list(done.angular_velocity_covariance) == [-1.0] + [0.0] * 8


def test_covariances_are_propagated_unless_they_are_unknown():
    variances = np.diag([0.01, 0.02, 0.03])
    raw, _ = message(angular_velocity_covariance=variances.ravel().tolist())
    done = corrected_imu(raw, CORRECTION)
    inverse = np.linalg.inv(TRIAD.matrix)
    wanted = inverse @ variances @ inverse.T
    assert np.allclose(np.reshape(done.angular_velocity_covariance, (3, 3)), wanted)
    assert not any(done.linear_acceleration_covariance)


def test_a_magnetic_field_is_corrected_too():
    truth = np.array([2e-5, 0.0, -4e-5])
    raw = MagneticField(magnetic_field=Vector3(*(TRIAD.matrix @ truth + TRIAD.bias)))
    raw.header.frame_id = "mag"
    done = corrected_field(raw, CORRECTION)
    assert np.allclose(numbers(done.magnetic_field), truth)
    assert done.header == raw.header and not any(done.magnetic_field_covariance)


@pytest.mark.parametrize(
    ("reading", "told"),
    [(4.8e-5, False), (1.0e-3, False), (48.0, True), (0.48, True), (0.0, False), (np.nan, False)],
)
def test_a_field_in_another_unit_than_the_correction_is_told(reading, told):
    correction = ImuCorrection(magnetometer=TriadCorrection(bias=(2e-5, 0.0, -1e-5)))
    said = another_unit(MagneticField(magnetic_field=Vector3(0.0, reading, 0.0)), correction)
    assert bool(said) == told
    # A correction of readings in microtesla fits those, and no others.
    other = ImuCorrection(magnetometer=TriadCorrection(bias=(20.0, 0.0, -10.0)))
    said = another_unit(MagneticField(magnetic_field=Vector3(0.0, reading, 0.0)), other)
    assert bool(said) == (0.0 < reading < 0.02)


def test_a_message_is_zeroed_after_the_standstill():
    zeroing = LiveZeroing(Operation(standstill=1.0))
    for number in range(100):
        made = Imu(angular_velocity=Vector3(0.1, 0.0, -0.2))
        made.header.stamp.secs, made.header.stamp.nsecs = divmod(number * 20_000_000, 10**9)
        zero(made, zeroing)
        wanted = [0.1, 0.0, -0.2] if number < 50 else [0.0, 0.0, 0.0]
        assert numbers(made.angular_velocity) == pytest.approx(wanted)
