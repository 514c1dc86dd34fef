"""The page of an ensemble, with and without a judgement."""

import json
import math

import numpy as np
import plotly.graph_objects
import pytest
from page_examples import drawn_errors, shown_ensemble

from imu_simulation_framework.drive.ensembles.page import ensemble_page
from imu_simulation_framework.heading.figures import ShownEnsemble
from imu_simulation_framework.heading.judgement import curve_statistics, judge
from imu_simulation_framework.report.charts import chart
from imu_simulation_framework.report.page import page_html


@pytest.fixture(scope="module")
def drawn():
    return drawn_errors()


def test_bands_distributions_and_spectrum(drawn):
    page = ensemble_page("drive a, mine", shown_ensemble(*drawn), math.radians(1.0), {"seed": 1})
    assert [section.heading for section in page.sections] == [
        "Statistics of all runs",
        "Yaw error over time",
        "Distribution of each statistic",
        "Spectrum",
        "Settings",
    ]
    for section in page.sections[1:4]:
        plotly.graph_objects.Figure(chart(section.figure))
        assert section.how_to_read
    inside = np.sum(np.abs(curve_statistics(*drawn)["final"]) <= math.radians(1.0))
    assert page.summary[0] == f"{inside} of 800 runs end within 1 deg."
    page_html(page)


def test_its_size_does_not_grow_with_the_runs(drawn):
    ensemble = shown_ensemble(*drawn)
    many = {name: np.tile(values, 100) for name, values in ensemble.statistics.items()}
    few = ensemble_page("a", ensemble, 0.1, {})
    more = ensemble_page("a", ensemble._replace(statistics=many, runs=80_000), 0.1, {})
    sizes = [
        sum(len(json.dumps(chart(part.figure))) for part in page.sections if part.figure)
        for page in (few, more)
    ]
    assert sizes[1] < 1.1 * sizes[0]


def test_one_run_without_spectrum_or_curves(drawn):
    time, errors = drawn
    ensemble = ShownEnsemble(1, time, {0.5: errors[0]}, curve_statistics(time, errors[:1]))
    page_html(ensemble_page("a", ensemble, 0.1, {}))


def test_a_judgement_stands_first_and_in_the_distributions(drawn):
    time, errors = drawn
    observed = 0.2 * time / time[-1]
    result = judge(time, observed, errors)
    page = ensemble_page("a", shown_ensemble(*drawn), 0.1, {}, judgement=result)
    assert page.summary[0] == result.sentence
    assert page.sections[0].heading == "The recorded error in the ensemble"
    looks = page.sections[1].table.rows
    assert len(looks) == 1 + len(result.statistics)
    final = next(row for row in looks if row[0] == "final error [deg]")
    assert float(final[2]) == pytest.approx(math.degrees(0.2), rel=0.02)
    histograms = next(part for part in page.sections if part.heading.startswith("Distribution"))
    assert len(chart(histograms.figure)["layout"]["shapes"]) == 4
    page_html(page)
