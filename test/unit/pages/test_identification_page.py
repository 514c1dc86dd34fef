"""The page of an identification, from tables alone."""

import numpy as np
import pandas as pd
import plotly.graph_objects

from imu_simulation_framework.pages.identification_page import FittedDrive, identification_page
from imu_simulation_framework.pages.page import Section, Table
from imu_simulation_framework.pages.page_text import page_html

ESTIMATES = Section(
    "Estimates", table=Table(("parameter", "value"), [("rate bias", "3")], numbers=1)
)


def drive(name, count=400, seed=1, known=None):
    generator = np.random.default_rng(seed)
    time = pd.Index(np.arange(float(count)), name="time")
    bias, walk = 1e-4 * time.to_numpy(), np.cumsum(generator.normal(size=count)) * 1e-3
    parts = pd.DataFrame(
        {"error": bias + walk, "rate bias": bias, "angle random walk": walk}, index=time
    )
    normalised = generator.normal(size=count)
    if known is not None:
        normalised[known:] = np.nan
        parts.loc[known:, "error"] = np.nan
    return FittedDrive(name, parts, normalised)


def test_error_parts_and_what_is_left_of_each_drive():
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
    names = [trace["name"] for trace in page.sections[1].figure["data"]]
    assert names == ["error", "rate bias", "angle random walk"]
    for section in page.sections[1:5]:
        plotly.graph_objects.Figure(section.figure)
    page_html(page)


def test_the_correlation_of_white_innovations_is_within_its_lines():
    page = identification_page("mine", [drive("a", count=4000)], [], {})
    residuals = page.sections[1].figure
    correlation = residuals["data"][-1]["y"]
    lines = sorted({abs(shape["y0"]) for shape in residuals["layout"]["shapes"]})
    assert np.mean(np.abs(correlation) > lines[0]) < 0.2
    assert abs(lines[0] - 1.96 / np.sqrt(4000)) < 1e-9


def test_gaps_and_drives_of_which_nothing_was_seen():
    for known in (0, 2, 100):
        page_html(identification_page("mine", [drive("a", known=known)], [], {}))
