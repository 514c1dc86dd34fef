"""The figures of the page: bands of several parts over time, and when they pass the limit."""

from __future__ import annotations

from typing import Mapping, Sequence

import numpy as np

from imu_simulation_framework.core import colours
from imu_simulation_framework.heading.answer import Passage
from imu_simulation_framework.heading.explore.answers import Part
from imu_simulation_framework.report import style
from imu_simulation_framework.report.figure import Figure

SHOWN_LIMIT = 3.0
"""A limit that is further out than so many times the bands would squeeze them to a line."""


def colour_of(place: int) -> str:
    """Return the colour of a part by its place."""
    return colours.SERIES[place % len(colours.SERIES)]


def bands_figure(parts: Sequence[Part], limit: float) -> Figure:
    """Return bands of 50 and 95 % of drives over time, and a limit [deg] to either side."""
    unit, name = style.unit_of_time(max(float(part.bands.index[-1]) for part in parts))
    figure = Figure(x=f"time [{name}]").panel("yaw error [deg]", height=300)
    looks, reach = style.series(len(parts)), 0.0
    # The narrow ones stand in front of the wide ones.
    for place in sorted(range(len(parts)), key=lambda place: -parts[place].nearly_all):
        bands, colour = parts[place].bands, colour_of(place)
        time = bands.index.to_numpy() / unit
        for share, opacity in (("95", 0.18), ("50", 0.42)):
            low, high = (np.degrees(bands[f"{edge}_{share}"]) for edge in ("lower", "upper"))
            said = parts[place].name if share == "50" else ""
            figure.band(time, low, high, colour, opacity, said)
            reach = max(reach, float(np.max(np.abs([low, high]))))
            if share == "95":
                for edge in (low, high):
                    figure.line(time, edge, {**looks[place], "linewidth": 1.0})
    if limit < SHOWN_LIMIT * max(reach, 1e-9):
        for side in (1.0, -1.0):
            figure.level(side * limit, style.LIMIT, f"limit of {limit:g} deg")
    return figure


def passages_figure(passages: Mapping[str, Passage]) -> Figure:
    """Return which share of drives has passed the limit by each time."""
    unit, name = style.unit_of_time(max(float(one.time[-1]) for one in passages.values()))
    figure = Figure(x=f"time [{name}]")
    passed = {part: 100.0 * (1.0 - passage.stays) for part, passage in passages.items()}
    most = max(float(share[-1]) for share in passed.values())
    upper = next(upper for upper in (10.0, 25.0, 50.0, 100.0, 101.0) if upper >= most)
    figure.panel("drives [%]", height=230, limits=(0.0, upper))
    looks = style.series(len(passages))
    for place, (part, passage) in enumerate(passages.items()):
        figure.line(passage.time / unit, passed[part], {**looks[place], "linewidth": 1.8}, part)
    return figure
