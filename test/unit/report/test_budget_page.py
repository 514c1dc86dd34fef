"""The page of a budget, from models alone."""

import math

import plotly.graph_objects
import pytest

from imu_simulation_framework.heading.figures import ShownBudget
from imu_simulation_framework.heading.model.of_imu import yaw_error_model
from imu_simulation_framework.heading.page import budget_page
from imu_simulation_framework.motion import sources
from imu_simulation_framework.report.charts import chart
from imu_simulation_framework.report.page import Section, Table, page_html
from imu_simulation_framework.sensors.imu_models.plugins import GenericParameters, HectorParameters

ANSWER = [Section("Result", table=Table(("a", "b"), [("c", "1")], numbers=1))]


def made(*errors, limit=5.0):
    motion = sources.straight(600.0, 1.0, 10.0)
    budgets = [
        ShownBudget(f"imu {place}", yaw_error_model(each, motion, 1.0))
        for place, each in enumerate(errors)
    ]
    return budget_page(
        "straight on", budgets, math.radians(limit), ANSWER, {"seed": 1}, ["a remark"]
    )


def test_a_panel_for_each_imu_and_what_it_answers():
    page = made(HectorParameters(yaw_drift=0.5), HectorParameters(rate_gaussian_noise=1e-3))
    headings = [section.heading for section in page.sections]
    assert headings == ["Result", "Remarks", "Yaw error over time", "Causes", "Settings"]
    for section in page.sections[2:4]:
        plotly.graph_objects.Figure(chart(section.figure))
        assert "yaxis2" in chart(section.figure)["layout"]
        assert section.how_to_read
    assert page.sections[1].text == ["a remark"]
    assert "imu 0: 95 % of all drives end between -" in page.summary[1]
    page_html(page)


def test_shares_add_up_to_the_whole_and_without_errors_there_are_none():
    page = made(HectorParameters(yaw_drift=0.5, rate_gaussian_noise=1e-3))
    causes = next(section for section in page.sections if section.heading == "Causes")
    parts = [trace["y"] for trace in chart(causes.figure)["data"]]
    for shares in zip(*parts):
        assert sum(shares) == pytest.approx(100.0, abs=1e-3)
    page = made(GenericParameters(gaussian_noise=0.0))
    causes = next(section for section in page.sections if section.heading == "Causes")
    assert causes.figure is None
    assert "nothing is chance" in causes.text[0]
    page_html(page)


def test_a_limit_far_outside_is_not_drawn():
    near = made(HectorParameters(yaw_drift=0.5))
    far = made(HectorParameters(yaw_drift=0.5), limit=170.0)
    assert len(chart(near.sections[2].figure)["layout"]["shapes"]) == 2
    assert chart(far.sections[2].figure)["layout"]["shapes"] == []
