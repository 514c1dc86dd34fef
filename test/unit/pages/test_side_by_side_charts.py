"""Several drives and experiments in one figure of a page."""

import numpy as np
import pandas as pd
import plotly.graph_objects
import pytest

from imu_simulation_framework.drive import side_by_side
from imu_simulation_framework.drive.side_by_side import ShownError
from imu_simulation_framework.heading.comparison import ComparisonSettings, compare_yaw


def shown(drive, name, recorded, seed):
    time = pd.Index(np.arange(0.0, 200.0, 0.1), name="time")
    walk = np.cumsum(np.random.default_rng(seed).normal(size=len(time))) * 1e-3
    reference = pd.Series(np.zeros(len(time)), index=time)
    compared = compare_yaw(pd.Series(-walk, index=time), reference, ComparisonSettings())
    return ShownError(drive, name, recorded, compared)


@pytest.fixture(scope="module")
def errors():
    return [
        shown(drive, name, recorded, seed)
        for drive, name, recorded, seed in (
            ("A", "recorded", True, 1),
            ("A", "run 1", False, 2),
            ("A", "run 2", False, 3),
            ("B", "recorded", True, 4),
        )
    ]


def panels(section):
    plotly.graph_objects.Figure(section.figure)
    return sorted({trace["yaxis"] for trace in section.figure["data"]})


def test_each_drive_has_a_panel_unless_it_has_one_line_only(errors):
    assert panels(side_by_side.yaw_error_chart(errors, 5.19)) == ["y", "y2"]
    assert panels(side_by_side.yaw_error_chart([errors[0], errors[3]], 5.19)) == ["y"]
    assert panels(side_by_side.yaw_error_spectrum_chart(errors)) == ["y", "y2"]


def test_a_spectrum_ends_where_it_is_asked_to(errors):
    section = side_by_side.yaw_error_spectrum_chart(errors, highest=0.1)
    assert all(max(trace["x"]) <= 0.1 for trace in section.figure["data"])


def test_what_has_no_spectrum_is_said(errors):
    still = shown("A", "recorded", True, 1)
    still.comparison.error_spectrum.density[:] = 0.0
    section = side_by_side.yaw_error_spectrum_chart([still])
    assert section.figure is None and "too few" in section.text[0]


def test_each_path_has_its_ends(errors):
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 0.0]})
    section = side_by_side.paths({"A": table, "B": table + 1.0})
    assert panels(section) == ["y", "y2"]
    points = [
        (trace["x"], trace["y"]) for trace in section.figure["data"] if trace["name"] == "end"
    ]
    assert points == [([2.0], [0.0]), ([3.0], [1.0])]
