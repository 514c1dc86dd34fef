"""Legibility of heading budget figures."""

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.heading.figures.budget import ShownBudget, budget_bands, budget_shares
from imu_simulation_framework.heading.model.imu_error_sources import yaw_error_model
from imu_simulation_framework.report.drawing import to_matplotlib
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification
from imu_simulation_framework.sensors.operation import Operation

LIMIT = np.radians(5.0)


def shown(name, motion, noise, scale_factor=0.0):
    """Return the budget of an angle random walk and of a random scale factor."""
    triad = TriadSpecification(
        white_noise=[noise] * 3, scale_factor_and_misalignment=np.diag([scale_factor] * 3).tolist()
    )
    imu = ImuSpecification(gyroscope=triad).any_unit()
    model = yaw_error_model(imu, motion, 1.0, operation=Operation(standstill=0.0))
    return ShownBudget(name, model)


@pytest.fixture(scope="module")
def straight():
    return isf.straight(120.0)


def test_budget_bands_of_similar_imus_share_axis_scale(straight):
    budgets = [shown("one", straight, 1e-3), shown("other", straight, 3e-3)]
    first, second = to_matplotlib(budget_bands(budgets, LIMIT)).axes
    assert first.get_ylim() == second.get_ylim()


def test_budget_bands_of_much_smaller_error_have_separate_axis_scale(straight):
    budgets = [shown("coarse", straight, 1e-2), shown("fine", straight, 1e-4)]
    coarse, fine = to_matplotlib(budget_bands(budgets, LIMIT)).axes
    assert fine.get_ylim()[1] < 0.1 * coarse.get_ylim()[1]
    assert fine.get_title(loc="left") == "fine (different scale)"


def test_error_sources_on_mowing_lanes_are_plotted_as_lines():
    lanes = isf.mowing(20, 20.0, 2.0, 1.0)
    budget = shown("mower", lanes, 1e-4, scale_factor=0.01)
    (axis,) = to_matplotlib(budget_shares([budget])).axes
    assert axis.get_ylabel() == "std of each source [deg]"
    lines = {line.get_label(): line.get_ydata() for line in axis.lines}
    # The error is 1 % of the 180 degree turn between adjacent lanes.
    assert max(lines["scale factor"]) == pytest.approx(1.8, rel=1e-2)
    end = np.degrees(1e-4 * np.sqrt(lanes.duration))
    assert lines["angle random walk"][-1] == pytest.approx(end, rel=1e-2)


def test_error_sources_on_straight_drive_are_plotted_as_variance_shares(straight):
    (axis,) = to_matplotlib(budget_shares([shown("rover", straight, 1e-3)])).axes
    assert axis.get_ylabel() == "share of variance [%]"
