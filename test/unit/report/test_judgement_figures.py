import numpy as np
import pytest

from imu_simulation_framework.heading.figures import judgement
from imu_simulation_framework.heading.judgement import judge
from imu_simulation_framework.report.drawing import drawing

TIME = np.arange(300.0)


@pytest.fixture(scope="module")
def result():
    walks = np.cumsum(np.random.default_rng(1).normal(size=(400, 300)), axis=1) * 1e-3
    return judge(TIME, 4.0 * walks[0], walks[1:])


def test_a_judgement_shows_its_sentence_and_every_p_value(result):
    figure = drawing(judgement(result))
    curve, places = figure.axes
    assert curve.get_title(loc="left").replace("\n", " ") == result.sentence
    assert [text.get_text() for text in places.texts] == [
        f"p = {look.p_value:.2g}, corrected {look.adjusted:.2g}"
        for look in reversed(result.statistics)
    ]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "95 % for the whole curve" in named
    assert f"observed, p = {result.envelope.p_value:.2g}" in named


def test_what_is_far_out_is_drawn_at_the_edge(result):
    walks = np.zeros((100, 300))
    walks[:, -1] = np.linspace(-1e-6, 1e-6, 100)
    _, places = drawing(judgement(judge(TIME, np.radians(TIME), walks))).axes
    points = [line for line in places.lines if line.get_marker() in "<>o"]
    assert all(abs(line.get_xdata()[0]) <= 4.0 for line in points)
    assert any(line.get_marker() == ">" for line in points)


def test_nothing_of_a_judgement_leaves_the_figure(result):
    figure = drawing(judgement(result))
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    for axis in figure.axes:
        shown = [axis._left_title, axis.xaxis.label, *axis.texts, *axis.get_yticklabels()]
        for text in shown:
            box = text.get_window_extent(renderer)
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text
