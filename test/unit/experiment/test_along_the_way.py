import numpy as np
import pytest

from imu_simulation_framework.drive.session.along_the_way import AlongTheWay
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.magnetism.bodies import Dipole, MotorField
from imu_simulation_framework.sensors.magnetism.environment import MagneticEnvironment

LEVEL = (0.0, 0.0, 0.0, 1.0)
TRUTH = ImuTruth(np.array(LEVEL), np.zeros(3), np.array([0.0, 0.0, 9.8]))
ARM = (0.1, 0.0, 0.2)
HALL = MagneticEnvironment(
    earth=(0.0, 2e-5, -4e-5),
    dipoles=[Dipole((1.0, 1.0, 0.0), (0.0, 0.0, 5.0))],
    motors=MotorField((1e-6, 0.0, 0.0), (0.0, 2e-6, 0.0)),
)


@pytest.fixture
def along():
    return AlongTheWay(HALL, ARM)


def there(x, y):
    return HALL.field(np.array([[x + 0.1, y, 0.2]]))[0]


def field(along, stamp):
    return along.met([stamp], [TRUTH])[0].magnetic_field


def test_between_two_poses_the_place_is_between(along):
    assert not along.knows(0)
    along.add(10, (0.0, 0.0, 0.0), LEVEL)
    along.add(20, (1.0, 0.5, 0.0), LEVEL)
    assert along.knows(20) and not along.knows(21)
    np.testing.assert_allclose(field(along, 15), there(0.5, 0.25), rtol=1e-12)
    np.testing.assert_allclose(field(along, 5), there(0.0, 0.0), rtol=1e-12)


def test_samples_that_come_late_get_the_place_of_their_time(along):
    for stamp in range(0, 100, 10):
        along.add(stamp, (0.1 * stamp, 0.0, 0.0), LEVEL)
    for stamp in (5, 10, 42, 90):
        np.testing.assert_allclose(field(along, stamp), there(0.1 * stamp, 0.0), rtol=1e-12)


def test_a_robot_that_is_put_elsewhere_is_there(along):
    along.add(10, (0.0, 0.0, 0.0), LEVEL)
    along.add(10, (3.0, 0.0, 0.0), LEVEL)
    np.testing.assert_allclose(field(along, 10), there(3.0, 0.0), rtol=1e-12)


def test_the_motors_fields_are_those_of_the_torques_at_the_time():
    along = AlongTheWay(HALL, ARM, torques=True)
    along.add(10, (0.0, 0.0, 0.0), LEVEL)
    along.add(20, (0.0, 0.0, 0.0), LEVEL)
    assert not along.knows(10)
    along.add_torques(10, 3.0, 0.5)
    assert along.knows(10) and not along.knows(20)
    along.add_torques(20, -1.0, 0.0)
    np.testing.assert_allclose(field(along, 10) - there(0.0, 0.0), (3e-6, 1e-6, 0.0), atol=1e-15)
    np.testing.assert_allclose(field(along, 20) - there(0.0, 0.0), (-1e-6, 0.0, 0.0), atol=1e-15)


def test_the_speed_is_that_on_the_way_and_there_only_if_it_is_wanted():
    along = AlongTheWay(None, speed=True)
    along.add(10, (0.0, 0.0, 0.0), LEVEL, 1.0)
    along.add(20, (0.0, 0.0, 0.0), LEVEL, 2.0)
    truth = along.met([15], [TRUTH])[0]
    assert truth.speed == pytest.approx(1.5)
    assert truth.magnetic_field is None
    along = AlongTheWay(HALL)
    along.add(10, (0.0, 0.0, 0.0), LEVEL, 1.0)
    assert along.met([10], [TRUTH])[0].speed is None


def test_many_at_once_meet_what_each_of_them_meets():
    ones, all_at_once = (AlongTheWay(HALL, ARM, speed=True, torques=True) for _ in range(2))
    for along in (ones, all_at_once):
        for stamp in range(0, 100, 20):
            along.add(stamp, (0.1 * stamp, 0.0, 0.0), LEVEL, 0.5 * stamp)
            along.add_torques(stamp, 1.0 * stamp, -2.0 * stamp)
    stamps = [0, 5, 20, 33, 34, 79, 80]
    met = all_at_once.met(stamps, len(stamps) * [TRUTH])
    for stamp, truth in zip(stamps, met):
        (one,) = ones.met([stamp], [TRUTH])
        np.testing.assert_allclose(truth.magnetic_field, one.magnetic_field, rtol=1e-12)
        assert truth.speed == pytest.approx(one.speed) == 0.5 * stamp
