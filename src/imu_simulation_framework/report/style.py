"""How figures look: one line style per signal, readable in print and without colour."""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from imu_simulation_framework.core.gaps import behind_gaps
from imu_simulation_framework.report import colours

WIDTH = 8.0
"""Inches; with ``DOTS_PER_INCH`` a figure fits a page and a screen."""

DOTS_PER_INCH = 150

DRAWN_POINTS = 4000
"""Points left of a long line, more than three per column of pixels."""

# Dashes tell the signals apart, too, where there is no colour.
REAL = {"color": colours.REAL, "linestyle": "-", "linewidth": 1.6}
SIMULATED = {"color": colours.SIMULATED, "linestyle": (0, (5, 1.5)), "linewidth": 1.8}
DIFFERENCE = {"color": colours.DIFFERENCE, "linestyle": "-", "linewidth": 1.6}
REFERENCE = {"color": colours.REFERENCE, "linewidth": 5.5, "solid_capstyle": "butt"}
TRUTH = {"color": colours.TRUTH, "linewidth": 3.5, "solid_capstyle": "butt"}
DISTANCE = {"color": colours.DISTANCE, "linewidth": 2.4, "solid_capstyle": "butt"}
ZERO = {"color": colours.DARK_GREY, "linewidth": 0.7}

# From dark to light, so that neighbours differ in print, too.
_SERIES_DASHES = (
    "-",
    (0, (5, 1.5)),
    "-",
    (0, (5, 1.2, 1, 1.2)),
    "-",
    (0, (2, 1)),
    "-",
    (0, (1, 1)),
)
_SERIES = tuple(zip((*colours.SERIES, colours.DARK_GREY), _SERIES_DASHES))
_SHADES_DASHES = ("-", (0, (5, 1.5)), (0, (5, 1.2, 1, 1.2)), (0, (2, 1)), (0, (1, 1)))
_SHADES = tuple(zip(colours.SIMULATED_SERIES, _SHADES_DASHES))

FOOTER_HEIGHT = 0.2
"""Inches that :func:`sign` keeps free."""

FOOTER_SIZE = 7.0

RAW_LINEWIDTH = 0.5
LEGEND_LINEWIDTH = 1.5
"""At least, so that a thin line's colour can be told in the legend."""


def plain(text: str) -> str:
    """Return a text as matplotlib has to be given it so that no ``$`` begins a formula.

    What is written in a figure comes from names of files, drives and IMUs.
    """
    return text.replace("$", r"\$")


def raw(style) -> dict:
    """Return the style of a signal before filtering: its colour, mixed with white, and thin."""
    red, green, blue = (int(style["color"][i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    colour = tuple(0.35 * part + 0.65 for part in (red, green, blue))
    return {"color": colour, "linestyle": "-", "linewidth": RAW_LINEWIDTH}


def series(count) -> list:
    """Return styles of so many lines that are all alike; of more than eight some look the same."""
    return _styles(_SERIES, count, 1.5)


def shades(count) -> list:
    """Return styles of so many simulated IMUs beside one that was recorded."""
    return _styles(_SHADES, count, 1.3)


def _styles(looks, count, width):
    return [
        {"color": colour, "linestyle": dashes, "linewidth": width}
        for colour, dashes in (looks[place % len(looks)] for place in range(count))
    ]


def make_figure(rows=1, height=4.2, width=WIDTH, columns=1, **subplot_options):
    """Return a figure with axes in rows and columns, without any global state.

    Returns
    -------
    figure : Figure
    axes : list of Axes
        Row by row.
    """
    figure = Figure(
        figsize=(width, height), dpi=DOTS_PER_INCH, constrained_layout=True, facecolor="white"
    )
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(rows, columns, squeeze=False, **subplot_options).flat)
    for axis in axes:
        axis.grid(True, color=colours.GRID, linewidth=0.6)
        axis.set_axisbelow(True)
        axis.margins(x=0.01)
        axis.tick_params(labelsize=9)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return figure, axes


def imus(comparison):
    """Return the IMUs that were compared, each with its line and name: the recorded one first."""
    every = (
        (comparison.real, REAL, "recorded IMU"),
        (comparison.simulated, SIMULATED, "simulated IMU"),
    )
    return [imu for imu in every if imu[0] is not None]


def label(axis, x=None, y=None, title=None):
    """Label an axis: quantity and unit."""
    if x is not None:
        axis.set_xlabel(plain(x), fontsize=10)
    if y is not None:
        axis.set_ylabel(plain(y), fontsize=10)
    if title is not None:
        axis.set_title(plain(title), fontsize=11, loc="left")


def legend(axis, columns=2):
    """Put a legend above the axes, where it never hides a line."""
    handles, names = axis.get_legend_handles_labels()
    if handles:
        box = axis.legend(
            handles,
            [*map(plain, names)],
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncol=columns,
            fontsize=9,
            frameon=False,
            borderaxespad=0.2,
            handlelength=2.8,
        )
        for line in box.get_lines():
            line.set_linewidth(max(line.get_linewidth(), LEGEND_LINEWIDTH))


def outside_legend(figure, axes, columns=3):
    """One legend above all axes of a figure, each name once; in fewer columns if it is too wide.

    If one column is too wide still, its font shrinks until it fits.
    """
    labelled = [axis.get_legend_handles_labels() for axis in axes]
    handles = {name: handle for pair in labelled for handle, name in zip(*pair)}
    # As many columns as its rows need, so that of four names in three columns none stands alone.
    columns = -(-len(handles) // -(-len(handles) // columns)) if handles else 1
    size = 8.0
    while True:
        box = figure.legend(
            handles.values(), map(plain, handles), loc="outside upper right", ncol=columns,
            fontsize=size, frameon=False, handlelength=2.8,
        )  # fmt: skip
        taken = box.get_window_extent(figure.canvas.get_renderer()).width
        if taken <= figure.bbox.width or size < 8.0:
            break
        box.remove()
        if columns > 1:
            columns -= 1
        else:
            size *= 0.95 * figure.bbox.width / taken
    for line in box.get_lines():
        line.set_linewidth(max(line.get_linewidth(), LEGEND_LINEWIDTH))


def sign(figure, text):
    """Write small below a figure what it shows: drive, model, seed, date.

    Parameters
    ----------
    figure : Figure
        Laid out by constraints, as :func:`make_figure` does.
    text : str
        One line; in a font that shrinks until it fits.
    """
    width, height = figure.get_size_inches()
    room = FOOTER_HEIGHT / height
    figure.get_layout_engine().set(rect=(0.0, room, 1.0, 1.0 - room))
    footer = figure.text(
        1.0 - 0.08 / width, 0.05 / height, text, fontsize=FOOTER_SIZE, color=colours.FOOTER_GREY,
        ha="right", va="bottom", parse_math=False,
    )  # fmt: skip
    taken = footer.get_window_extent(figure.canvas.get_renderer()).width
    footer.set_fontsize(FOOTER_SIZE * min(1.0, 0.95 * figure.bbox.width / taken))


def message_figure(sentence):
    """Return a figure that says why there is nothing to see."""
    figure, (axis,) = make_figure(height=2.0)
    axis.set_axis_off()
    axis.text(
        0.5, 0.5, plain(sentence), ha="center", va="center", fontsize=11, wrap=True,
        transform=axis.transAxes,
    )  # fmt: skip
    return figure


def thin(x, y, points=DRAWN_POINTS):
    """Thin a long line for drawing and keep its peaks.

    The line is cut into blocks of equal count; of each the smallest and the largest value
    stay, in their order.

    Parameters
    ----------
    x, y : array_like, shape (n,)
    points : int
        Most points to keep, apart from the ends.

    Returns
    -------
    x, y : ndarray
    """
    x, y = np.asarray(x), np.asarray(y)
    if len(x) <= points:
        return x, y
    blocks = points // 2
    size = -(-len(x) // blocks)
    padding = -len(y) % size
    grid = np.pad(y, (0, padding), mode="edge").reshape(-1, size)
    start = np.arange(len(grid)) * size
    kept = np.concatenate(
        ([0], start + grid.argmin(axis=1), start + grid.argmax(axis=1), [len(y) - 1])
    )
    kept = np.unique(np.minimum(kept, len(y) - 1))
    return x[kept], y[kept]


def thin_with_gaps(time, values, points=DRAWN_POINTS):
    """Thin a line over time as :func:`thin` does, and break it where there are no samples.

    Parameters
    ----------
    time, values : array_like, shape (n,)
    points : int
        Most points to keep, apart from the ends of each stretch.

    Returns
    -------
    time, values : ndarray
        With a value that is not a number in each gap.
    """
    time, values = np.asarray(time, dtype=float), np.asarray(values, dtype=float)
    places = behind_gaps(time)
    stretches = []
    for part in np.split(np.arange(len(time)), places):
        share = max(4, round(points * len(part) / max(1, len(time))))
        stretches += [thin(time[part], values[part], share), (time[part][-1:], [np.nan])]
    columns = (np.concatenate(column) for column in zip(*stretches[:-1]))
    return tuple(columns)


def thin_path(x, y, points=DRAWN_POINTS):
    """Thin a path in the plane: keep a point each time it has gone far enough to be seen.

    Parameters
    ----------
    x, y : array_like, shape (n,)
    points : int
        A step is at least the longer side of the path's box divided by this.

    Returns
    -------
    x, y : ndarray
    """
    x, y = np.asarray(x), np.asarray(y)
    kept = path_steps(x, y, points)
    return x[kept], y[kept]


def path_steps(x, y, points=DRAWN_POINTS):
    """Return indices of the points that :func:`thin_path` keeps."""
    if len(x) <= 2:
        return np.arange(len(x))
    travelled = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    extent = max(np.ptp(x), np.ptp(y))
    if extent <= 0.0:
        return np.arange(1)
    step = np.floor(travelled / extent * points)
    kept = np.flatnonzero(np.diff(step, prepend=-1.0) > 0.0)
    return np.unique(np.append(kept, len(x) - 1))
