import numpy as np
import pytest

from imu_simulation_framework.experiment.session.magnetic_field import FieldAlongTheWay
from imu_simulation_framework.magnetism.dipoles import Dipole
from imu_simulation_framework.magnetism.environment import MagneticEnvironment

LEVEL = (0.0, 0.0, 0.0, 1.0)
HALL = MagneticEnvironment(
    earth=(0.0, 2e-5, -4e-5), dipoles=[Dipole((1.0, 1.0, 0.0), (0.0, 0.0, 5.0))]
)


@pytest.fixture
def along():
    return FieldAlongTheWay(HALL, (0.1, 0.0, 0.2))


def there(x, y):
    return HALL.field(np.array([[x + 0.1, y, 0.2]]))[0]


def test_between_two_poses_the_place_is_between(along):
    assert not along.knows(0)
    along.add(10, (0.0, 0.0, 0.0), LEVEL)
    along.add(20, (1.0, 0.5, 0.0), LEVEL)
    assert along.knows(20) and not along.knows(21)
    np.testing.assert_allclose(along.at(15, np.array(LEVEL)), there(0.5, 0.25), rtol=1e-12)
    np.testing.assert_allclose(along.at(5, np.array(LEVEL)), there(0.0, 0.0), rtol=1e-12)


def test_samples_that_come_late_get_the_place_of_their_time(along):
    for stamp in range(0, 100, 10):
        along.add(stamp, (0.1 * stamp, 0.0, 0.0), LEVEL)
    for stamp in (5, 10, 42, 90):
        np.testing.assert_allclose(
            along.at(stamp, np.array(LEVEL)), there(0.1 * stamp, 0.0), rtol=1e-12
        )


def test_a_robot_that_is_put_elsewhere_is_there(along):
    along.add(10, (0.0, 0.0, 0.0), LEVEL)
    along.add(10, (3.0, 0.0, 0.0), LEVEL)
    np.testing.assert_allclose(along.at(10, np.array(LEVEL)), there(3.0, 0.0), rtol=1e-12)
