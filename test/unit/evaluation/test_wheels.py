import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.heading.comparison import compare_wheels


def wheels(time, left, right):
    return pd.DataFrame({"left": left, "right": right}, index=pd.Index(time, name="time"))


def test_a_velocity_is_judged_by_the_command_that_has_led_to_it():
    commanded = wheels([0.0, 1.0, 2.0], [5.0, 6.0, 7.0], [-5.0, -6.0, -7.0])
    # The first one is from before any command; the second from the moment the next one comes.
    actual = wheels([0.0, 1.0, 1.5, 3.0], [0.0, 4.5, 6.0, 7.5], [0.0, -5.0, -6.0, -7.0])
    found = compare_wheels(commanded, actual)
    np.testing.assert_array_equal(found.error.index, [1.0, 1.5, 3.0])
    np.testing.assert_allclose(found.error["left"], [0.5, 0.0, -0.5])
    np.testing.assert_allclose(found.error["right"], 0.0)
    assert found.statistics["left"].maximum_absolute == pytest.approx(0.5)


def test_what_nobody_has_recorded_is_not_compared():
    commanded = wheels([0.0, 1.0], [5.0, 6.0], [5.0, 6.0])
    found = compare_wheels(commanded, None)
    assert found.error is None and found.statistics == {}
    assert compare_wheels(None, commanded) is None
    assert compare_wheels(commanded.iloc[:0], commanded) is None
    assert compare_wheels(commanded, commanded.iloc[:1]).statistics == {}
