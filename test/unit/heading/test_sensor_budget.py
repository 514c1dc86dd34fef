"""Heading budgets and drifts of a sensor, computed without the command-line programs."""

import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.heading.budget import distinguish_budgets
from imu_simulation_framework.heading.sensor_budget import BudgetTask, sensor_budget
from imu_simulation_framework.heading.straight_drift import straight_drift
from imu_simulation_framework.sensors.imu_models.plugins import GenericParameters
from imu_simulation_framework.sensors.operation import Operation

NOISE = 2e-3


def noisy_imu():
    return isf.ImuSpecification(gyroscope=isf.TriadSpecification(white_noise=NOISE))


def task(at=50.0):
    path = isf.rounds(2.0, radius=5.0)
    return BudgetTask(path, path, Operation(standstill=0.0), at, 1.0, None)


def test_drift_of_white_noise_on_straight_line_grows_with_root_of_time():
    times = (60.0, 600.0, 3600.0)
    np.testing.assert_allclose(
        straight_drift(noisy_imu(), times), NOISE * np.sqrt(times), rtol=1e-6
    )


def test_sensor_budget_ends_at_requested_time():
    budget = sensor_budget("mine", noisy_imu(), task(), origins={})
    assert budget.model.time[-1] == pytest.approx(50.0)
    assert math.sqrt(budget.model.variance()[-1]) == pytest.approx(
        NOISE * math.sqrt(50.0), rel=1e-3
    )


def test_budget_turn_angle_matches_driven_circles():
    # A circle of 5 m radius at 1 m/s takes 31.4 s.
    assert task(at=10.0 * math.pi).turn == pytest.approx(2.0 * math.pi, rel=1e-3)


def test_ineffective_gyroscope_zeroing_of_plugin_is_reported():
    zeroed = task()._replace(operation=Operation())
    errors = GenericParameters(gaussian_noise=1e-3)
    remarks = sensor_budget("plug-in", errors, zeroed, origins={}).remarks
    assert any("zeroing" in remark for remark in remarks)
    assert not any("zeroing" in r for r in sensor_budget("x", errors, task(), origins={}).remarks)


def test_budgets_with_same_name_are_numbered():
    budget = sensor_budget("mine", noisy_imu(), task(), origins={})
    names = [named.name for named in distinguish_budgets([budget, budget])]
    assert len(set(names)) == 2 and all(name.startswith("mine") for name in names)
