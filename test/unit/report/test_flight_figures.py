from types import SimpleNamespace

import numpy as np

from imu_simulation_framework.core.whole_files import picture
from imu_simulation_framework.flight.figures import (
    imu_figure,
    navigation_figure,
    numbered,
    path_figure,
)
from imu_simulation_framework.report.drawing import drawing

TIME = np.arange(0.0, 100.0, 0.1)
INSTANTS = {"start of cruise": 40.0, "lift-off": 10.0, "start of ascent": 10.5}


def sensed(seed=1):
    noise = np.random.default_rng(seed).normal(size=(2, len(TIME), 3))
    return tuple(noise), tuple(0.0 * noise)


def path():
    return np.column_stack([30.0 * TIME, 2000.0 * np.sin(TIME / 30.0), 3.0 * TIME])


def errors():
    walk = np.cumsum(np.random.default_rng(2).normal(size=(2, len(TIME), 3)), axis=1)
    return SimpleNamespace(time=TIME, attitude=1e-3 * walk, position=walk, velocity=0.1 * walk)


def test_an_imu_is_drawn_over_the_truth_and_instants_near_each_other_are_one():
    assert [sign for sign, _, _ in numbered(INSTANTS)] == ["0", "i", "ii"]
    figure = drawing(imu_figure(TIME, *sensed(), INSTANTS))
    assert [text.get_text() for text in figure.axes[0].texts] == ["(0, i)", "(ii)"]
    figure = drawing(imu_figure(TIME, *sensed()))
    assert [len(axis.lines) for axis in figure.axes] == [4, 2, 6]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(named) == 6 and "y, left, measured" in named
    assert picture(figure).startswith(b"\x89PNG")


def test_nothing_of_a_figure_leaves_it():
    for described in (
        imu_figure(TIME, *sensed(), INSTANTS),
        path_figure(path(), TIME, INSTANTS, (30.0, -95.0, 10.0)),
        navigation_figure({"gimbal off": errors(), "gimbal on": errors()}, INSTANTS),
    ):
        figure = drawing(described)
        picture(figure)
        whole, renderer = figure.bbox, figure.canvas.get_renderer()
        texts = [text for axis in figure.axes for text in axis.texts] + figure.texts
        texts += [text for box in figure.legends for text in box.get_texts()]
        for text in texts:
            box = text.get_window_extent(renderer)
            assert box.x0 >= whole.x0 - 1 and box.x1 <= whole.x1 + 1, text.get_text()
            assert box.y0 >= whole.y0 - 1 and box.y1 <= whole.y1 + 1, text.get_text()


def test_paths_without_instants_and_navigators_are_drawn():
    level = path() * (1.0, 1.0, 0.0)
    assert picture(drawing(path_figure(level, TIME, {}, (0.0, 0.0, 0.0))))
    standing = np.zeros((len(TIME), 3))
    assert picture(drawing(path_figure(standing, TIME, {}, (0.0, 0.0, 0.0))))
    figure = drawing(navigation_figure({"gimbal off": errors(), "gimbal on": errors()}, INSTANTS))
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles[:2] == ["(c) gimbal off", "(d) gimbal on"]
    assert len(navigation_figure({"gimbal off": errors()}, {}).panels) == 3
