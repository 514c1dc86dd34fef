"""How figures look: one line style per signal, readable in print and without colour."""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

WIDTH = 8.0
"""Inches; with :data:`DOTS_PER_INCH` a figure fits a page and a screen."""

DOTS_PER_INCH = 150

DRAWN_POINTS = 4000
"""Points left of a long line, more than three per column of pixels."""

# Luminance as well as hue and dashes tell the signals apart, so they survive a grey print.
REAL = {"color": "#0b2a5b", "linestyle": "-", "linewidth": 1.6}
SIMULATED = {"color": "#e07a10", "linestyle": (0, (5, 1.5)), "linewidth": 1.8}
DIFFERENCE = {"color": "#1d6b4f", "linestyle": "-", "linewidth": 1.6}
REFERENCE = {"color": "#a8b8d0", "linewidth": 5.5, "solid_capstyle": "butt"}
TRUTH = {"color": "#f6d6a8", "linewidth": 3.5, "solid_capstyle": "butt"}
DISTANCE = {"color": "#c2c2c2", "linewidth": 2.4, "solid_capstyle": "butt"}
ZERO = {"color": "#555555", "linewidth": 0.7}

RAW_LINEWIDTH = 0.5
LEGEND_LINEWIDTH = 1.5
"""At least, so that a thin line's colour can be told in the legend."""


def raw(style) -> dict:
    """The style of a signal before filtering: its colour, mixed with white, and thin."""
    red, green, blue = (int(style["color"][i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    colour = tuple(0.35 * part + 0.65 for part in (red, green, blue))
    return {"color": colour, "linestyle": "-", "linewidth": RAW_LINEWIDTH}


def make_figure(rows=1, height=4.2, width=WIDTH, **subplot_options):
    """A figure with axes one above the other, without any global state.

    Returns
    -------
    figure : Figure
    axes : list of Axes
    """
    figure = Figure(
        figsize=(width, height), dpi=DOTS_PER_INCH, constrained_layout=True, facecolor="white"
    )
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(rows, 1, squeeze=False, **subplot_options)[:, 0])
    for axis in axes:
        axis.grid(True, color="#d8d8d8", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.margins(x=0.01)
        axis.tick_params(labelsize=9)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return figure, axes


def label(axis, x=None, y=None, title=None):
    """Label an axis: quantity and unit."""
    if x is not None:
        axis.set_xlabel(x, fontsize=10)
    if y is not None:
        axis.set_ylabel(y, fontsize=10)
    if title is not None:
        axis.set_title(title, fontsize=11, loc="left")


def legend(axis, columns=2):
    """A legend above the axes, where it never hides a line."""
    if axis.get_legend_handles_labels()[0]:
        box = axis.legend(
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


def message_figure(sentence):
    """A figure that says why there is nothing to see."""
    figure, (axis,) = make_figure(height=2.0)
    axis.set_axis_off()
    axis.text(
        0.5, 0.5, sentence, ha="center", va="center", fontsize=11, wrap=True,
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
    if len(x) <= 2:
        return x, y
    travelled = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    extent = max(np.ptp(x), np.ptp(y))
    if extent <= 0.0:
        return x[:1], y[:1]
    step = np.floor(travelled / extent * points)
    kept = np.flatnonzero(np.diff(step, prepend=-1.0) > 0.0)
    kept = np.unique(np.append(kept, len(x) - 1))
    return x[kept], y[kept]
