"""Where a flight went: a drawing in three dimensions and a map, as figure 8, a and b, of the seed.

The drawing is an oblique view made here: heights are drawn larger than distances, and the path has
a shadow on the ground. (matplotlib's own three dimensions are not used: where a distribution's and
a pinned matplotlib are both installed, its toolkits do not fit together.)
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.plots import colours
from imu_simulation_framework.plots.flight.looks import MARK, PATH, SHADOW, numbered
from imu_simulation_framework.plots.style import label, make_figure, plain, thin_path

_NORTH = np.radians(32.0)
"""Direction in which north is drawn, against the horizontal of the page."""
_DEPTH = 0.7
"""By how much what goes north is drawn shorter."""
_RISE = 0.4
"""Part of the drawing's width that heights take."""


def path_figure(position, time, instants, origin):
    """Return a figure of a path and its marked instants.

    Parameters
    ----------
    position : array_like, shape (n, 3)
        East and north of the origin, and above it [m].
    time : array_like, shape (n,)
        [s]
    instants : Mapping of str to float
        Name -> time [s].
    origin : sequence of 3 float
        Latitude, longitude [deg], height [m].
    """
    position = np.asarray(position, dtype=float)
    figure, (view, plan) = make_figure(
        columns=2, height=4.6, width=10.5, gridspec_kw={"width_ratios": (1.35, 1.0)}
    )
    marks = [(sign, name, _at(time, position, at)) for sign, name, at in numbered(instants)]
    _draw_view(view, position, marks)
    label(view, title="(a) flight, heights enlarged")
    east, north = thin_path(*(position[:, :2] / 1000.0).T)
    plan.plot(east, north, **PATH)
    for sign, place in _apart(marks, 0.02 * np.ptp(position, axis=0).max()):
        _mark(plan, place[:2] / 1000.0, f"({sign})")
    plan.plot(*(position[:1, :2] / 1000.0).T, "o", color=colours.DARK_GREY, markersize=4)
    plan.annotate(
        "start", tuple(position[0, :2] / 1000.0), fontsize=8.5, color=colours.DARK_GREY,
        xytext=(0, -12), textcoords="offset points", ha="center",
    )  # fmt: skip
    plan.set_aspect("equal", adjustable="datalim")
    label(plan, "east [km]", "north [km]", "(b) from above")
    told = plain("   ".join(f"({sign}) {name}" for sign, name, _ in marks))
    figure.text(0.02, 0.045, told, fontsize=8, color=MARK["color"], va="bottom")
    figure.get_layout_engine().set(rect=(0.0, 0.08, 1.0, 0.92))
    place = f"origin: {origin[0]:.5f} deg, {origin[1]:.5f} deg, {origin[2]:.1f} m"
    plan.annotate(
        place, (1.0, 1.01), xycoords="axes fraction", fontsize=7.5, ha="right", va="bottom",
        color=colours.TEXT_GREY,
    )  # fmt: skip
    return figure


def _draw_view(axis, position, marks):
    low, high = position.min(axis=0), position.max(axis=0)
    steps = [_step(high[k] - low[k]) for k in range(2)]
    begin = [np.floor(low[k] / steps[k]) * steps[k] for k in range(2)]
    end = [np.ceil(high[k] / steps[k]) * steps[k] for k in range(2)]
    wide = (end[0] - begin[0]) + _DEPTH * np.cos(_NORTH) * (end[1] - begin[1])
    floor = min(low[2], 0.0)
    enlarged = _RISE * wide / max(high[2] - floor, 1.0)

    def seen(points):
        east, north, up = np.asarray(points, dtype=float).T
        across = east + _DEPTH * np.cos(_NORTH) * north
        return across, _DEPTH * np.sin(_NORTH) * north + enlarged * (up - floor)

    for k in range(2):
        for value in np.arange(begin[k], end[k] + 0.5 * steps[k], steps[k]):
            ends = np.array([[value, begin[1], floor], [value, end[1], floor]])
            if k == 1:
                ends = np.array([[begin[0], value, floor], [end[0], value, floor]])
            axis.plot(*seen(ends), color=colours.GRID, linewidth=0.8)
            x, y = seen(ends[:1] if k == 0 else ends[1:])
            axis.annotate(
                f"{value / 1000.0:g}", (x[0], y[0]), fontsize=7.5, color=colours.TEXT_GREY,
                xytext=(0, -9) if k == 0 else (4, 0), textcoords="offset points",
                ha="center" if k == 0 else "left", va="center",
            )  # fmt: skip
    shadow = position * (1.0, 1.0, 0.0) + (0.0, 0.0, floor)
    axis.plot(*thin_path(*seen(shadow)), **SHADOW)
    axis.plot(*thin_path(*seen(position)), **PATH)
    for sign, place in _apart(marks, 0.02 * np.ptp(position, axis=0).max()):
        ends = np.array([place, [place[0], place[1], floor]])
        axis.plot(*seen(ends), **MARK)
        x, y = seen(ends[:1])
        _mark(axis, (x[0], y[0]), f"({sign})")
    height = high[2] - floor
    corner = np.array([[begin[0], end[1], floor], [begin[0], end[1], floor + height]])
    axis.plot(*seen(corner), color=colours.LINE_GREY, linewidth=1.0)
    x, y = seen(corner[1:])
    axis.annotate(
        f"{height:.0f} m", (x[0], y[0]), fontsize=8, xytext=(0, 3), textcoords="offset points",
        ha="center", va="bottom", color=colours.TEXT_GREY,
    )  # fmt: skip
    x, y = seen([[0.5 * (begin[0] + end[0]), begin[1], floor]])
    axis.annotate(
        "east [km]", (x[0], y[0]), fontsize=8.5, xytext=(0, -22), textcoords="offset points",
        ha="center",
    )  # fmt: skip
    x, y = seen([[end[0], 0.5 * (begin[1] + end[1]), floor]])
    axis.annotate(
        "north [km]", (x[0], y[0]), fontsize=8.5, xytext=(26, -2), textcoords="offset points",
        ha="left",
    )  # fmt: skip
    axis.grid(False)
    axis.set_axis_off()
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.08)


def _mark(axis, place, text, colour=MARK["color"]):
    axis.plot([place[0]], [place[1]], "o", color=colour, markersize=4)
    axis.annotate(
        text, tuple(place), fontsize=9, color=colour, xytext=(4, 5), textcoords="offset points"
    )


def _apart(marks, distance):
    """Return signs and places, those that would hide each other as one."""
    together: list = []
    for sign, _, place in marks:
        if together and np.linalg.norm(place - together[-1][1]) < distance:
            together[-1][0].append(sign)
        else:
            together.append(([sign], place))
    return [(", ".join(signs), place) for signs, place in together]


def _at(time, position, at):
    return np.array([np.interp(at, time, position[:, k]) for k in range(3)])


def _step(extent):
    """Return a round step of which some fit into an extent [m]."""
    rough = max(extent, 1.0) / 4.0
    power = 10.0 ** np.floor(np.log10(rough))
    return float(
        next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough)
    )
