from dataclasses import replace

import numpy as np
import pytest
from earth_flights import flight, on_gimbal
from navigated import ANTENNA, GNSS
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.flight.navigation.filter import antenna_matrix, corrected
from imu_simulation_framework.flight.navigation.mechanisation import NavigationState
from imu_simulation_framework.flight.navigation.runs import lever_arm_between
from imu_simulation_framework.sensors.gnss.earth_fixes import antenna_on

ARM, ARM_RATE = np.array([-1.2, 0.4, 2.0]), np.array([0.1, -0.3, 0.2])
RATE = np.array([0.3, -0.5, 0.9])


def _state(motion=None, at=0):
    nothing = np.zeros((1, 3))
    if motion is None:
        attitude = Rotation.from_rotvec([[0.4, -1.1, 2.0]]).as_matrix()
        place, velocity = np.array([[4e6, 3e6, 4e6]]), np.array([[30.0, -50.0, 20.0]])
    else:
        attitude = Rotation.from_quat(motion.orientation[[at]]).as_matrix()
        place, velocity = motion.position[[at]], motion.velocity[[at]]
    return NavigationState(place, velocity, attitude, nothing, nothing)


@pytest.mark.parametrize("arm, arm_rate", [(ARM, ARM_RATE), (0.0 * ARM, 0.0 * ARM)])
def test_an_innovation_depends_on_the_errors_as_the_matrix_says(arm, arm_rate):
    truth = _state()
    _, matrix = antenna_matrix(truth, RATE[np.newaxis], arm, arm_rate)

    def seen(error):
        estimate = corrected(truth, -error[np.newaxis])
        # A gyroscope whose bias is underestimated seems to turn faster.
        rate = RATE + error[12:]
        return antenna_matrix(estimate, rate[np.newaxis], arm, arm_rate)[0][0]

    sizes = np.repeat([1e-3, 0.1, 1.0, 0.01, 1e-3], 3)
    for state, size in enumerate(sizes):
        error = size * np.eye(15)[state]
        # From both sides, so that what is left is of third order, 1e-9 of the arm: the Earth's
        # turning makes 1e-7 m/s of these errors. Positions of 4e6 m are rounded to 1e-9 m.
        innovation = 0.5 * (seen(-error) - seen(error))
        assert innovation[:3] == pytest.approx((matrix[0] @ error)[:3], abs=2e-8)
        assert innovation[3:] == pytest.approx((matrix[0] @ error)[3:], abs=5e-9)


def test_a_correction_takes_away_the_error_that_it_is_given():
    truth = _state()
    error = np.arange(1.0, 16.0)[np.newaxis] * 1e-3
    back = corrected(corrected(truth, -error), error)
    for name, value in truth._asdict().items():
        assert getattr(back, name) == pytest.approx(value, abs=1e-8), name


def test_a_lever_arm_over_time_leads_from_the_imu_to_the_antenna():
    airframe = flight(duration=10.0)
    imu = on_gimbal(airframe)
    antenna = antenna_on(airframe, replace(GNSS, lever_arm=ANTENNA))
    at = np.arange(100, 900, 50)
    arm = lever_arm_between(imu, antenna, imu.time[at])
    for index, sample in enumerate(at):
        rate = imu.angular_velocity[[sample]]
        seen, _ = antenna_matrix(_state(imu, sample), rate, arm.arm[index], arm.rate[index])
        assert seen[0, :3] == pytest.approx(antenna.position[sample], abs=1e-8)
        assert seen[0, 3:] == pytest.approx(antenna.velocity[sample], abs=1e-9)
    # The arm's rate is that of the arm.
    whole = lever_arm_between(imu, antenna, imu.time)
    rate = np.gradient(whole.arm, imu.time, axis=0)
    assert whole.rate[2:-2] == pytest.approx(rate[2:-2], abs=2e-4)
    with pytest.raises(MotionError, match="the same times"):
        lever_arm_between(airframe, flight(rate=50.0, duration=10.0), [1.0])
