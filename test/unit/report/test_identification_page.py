"""The page of an identification, from tables alone."""

import numpy as np
import plotly.graph_objects
from page_examples import fitted_drive as drive

from imu_simulation_framework.heading.page import identification_page
from imu_simulation_framework.report.charts import chart
from imu_simulation_framework.report.page import Section, Table, page_html

ESTIMATES = Section(
    "Estimates", table=Table(("parameter", "value"), [("rate bias", "3")], numbers=1)
)


def test_error_parts_and_what_is_left_of_each_drive_also_with_gaps():
    page = identification_page(
        "mine", [drive("a"), drive("b", seed=2)], [ESTIMATES], {"step": 1.0}, ["a sentence"]
    )
    assert [section.heading for section in page.sections] == [
        "Estimates",
        "Error and its parts: a",
        "What is left unexplained: a",
        "Error and its parts: b",
        "What is left unexplained: b",
        "Settings",
    ]
    names = [trace["name"] for trace in chart(page.sections[1].figure)["data"]]
    assert names == ["observed", "rate bias", "angle random walk"]
    for section in page.sections[1:5]:
        plotly.graph_objects.Figure(chart(section.figure))
    page_html(page)
    for known in (0, 2, 100):
        page_html(identification_page("mine", [drive("a", known=known)], [], {}))


def test_correlations_are_within_their_lines_and_show_a_mean_that_is_left():
    page = identification_page("mine", [drive("a", count=4000)], [], {})
    residuals = chart(page.sections[1].figure)
    correlation = next(one["y"] for one in residuals["data"] if one["type"] == "bar")
    lines = sorted({abs(shape["y0"]) for shape in residuals["layout"]["shapes"]})
    assert np.mean(np.abs(correlation) > lines[0]) < 0.2
    assert abs(lines[0] - 1.96 / np.sqrt(4000)) < 1e-9
    one = drive("a", count=4000)
    shifted = one._replace(normalised=one.normalised + 1.0)
    page = identification_page("mine", [shifted], [], {})
    data = chart(page.sections[1].figure)["data"]
    correlation = next(trace["y"] for trace in data if trace["type"] == "bar")
    # E[(w + 1)(w' + 1)] / E[(w + 1)^2] of white innovations w of variance 1.
    np.testing.assert_allclose(correlation, 0.5, atol=5.0 * 1.2 / np.sqrt(4000))
