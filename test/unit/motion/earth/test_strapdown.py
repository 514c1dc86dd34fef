import numpy as np
import pytest
from earth_flights import flight, on_gimbal

from imu_simulation_framework.angles import turns
from imu_simulation_framework.motion.earth.strapdown import increments_of, integrate


def _closure(motion):
    """Return how far integrated increments end up from the truth: [m], [m/s], [rad]."""
    path = integrate(
        increments_of(motion), motion.position[0], motion.velocity[0], motion.orientation[0]
    )
    return (
        np.abs(path.position - motion.position).max(),
        np.abs(path.velocity - motion.velocity).max(),
        np.abs(turns(path.orientation, motion.orientation)).max(),
    )


@pytest.mark.parametrize("gimbal", [False, True])
def test_increments_of_a_flight_lead_back_to_it(gimbal):
    motion = flight()
    position, velocity, attitude = _closure(on_gimbal(motion) if gimbal else motion)
    assert position < 1e-3
    assert velocity < 1e-4
    assert attitude < 1e-6


@pytest.mark.parametrize("gimbal", [False, True])
def test_half_the_step_leaves_a_quarter_of_the_error(gimbal):
    errors = []
    for rate in (50.0, 100.0, 200.0):
        motion = flight(rate)
        errors.append(_closure(on_gimbal(motion) if gimbal else motion)[:2])
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert ratios == pytest.approx(4.0, rel=0.1)
