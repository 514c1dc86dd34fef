"""A figure as a description: panels of lines, bands and points, for a file and for a page alike.

:func:`.drawing` makes a picture of it with matplotlib, :func:`.chart` a figure of a page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from ..core.stamps import find_gap_ends


class Layer(NamedTuple):
    """``kind``: a method of :class:`Figure` that draws; ``values``: its arguments by name."""

    kind: str
    values: Mapping[str, Any]


@dataclass
class Panel:
    """Axes and what is drawn in them, see :meth:`Figure.panel`."""

    y: str = ""
    title: str = ""
    x: str | None = None
    log: str = ""
    equal: bool = False
    height: float = 250.0
    limits: tuple[float, float] | None = None
    x_limits: tuple[float, float] | None = None
    ticks: Sequence[float] = ()
    draw: Callable[[Any], None] | None = None
    layers: list[Layer] = field(default_factory=list)


@dataclass
class Figure:
    """Panels one above the other, or in a file's picture in columns; each method returns itself.

    ``title``: of a picture; on a page a section's heading says it. ``x``: title of the axis that
    panels share, with its unit; ``nothing``: what a picture says instead if there is no panel;
    ``widths``: of a picture's columns, relative to each other; panels fill row after row.
    ``width``: of a picture [inches]; ``share_y``: which panels of a picture have one scale, as
    matplotlib's ``subplots`` takes it.
    """

    title: str = ""
    x: str = "time [s]"
    nothing: str = ""
    widths: Sequence[float] = (1.0,)
    width: float = 8.0
    share_y: bool | str = False
    panels: list[Panel] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether it has no panel yet."""
        return not self.panels

    def panel(self, y="", title="", **options) -> Figure:
        """Add a panel; what is drawn from now on is in it.

        ``y``, ``title``: of the axis, with its unit, and of the panel; ``x``: title of an axis of
        its own; ``log``: which axes are logarithmic, ``x``, ``y``, ``xy`` or none; ``equal``:
        whether a unit is as long to the right as upwards; ``height``: on a page [pixels]; a picture
        has an inch for 100. ``limits``, ``x_limits`` (tuple of float): of both axes; ``ticks``: of
        the horizontal axis, where not the usual ones; ``draw``: draws in axes of matplotlib what
        no method can; a page leaves such a panel out.
        """
        self.panels.append(Panel(y, title, **options))
        return self

    def line(self, x, y, look, name="", dots=False) -> Figure:
        """Draw a line with its peaks, and gaps where there are no samples.

        Along a logarithmic axis, where steps grow, there are no gaps. ``x``, ``y`` (n,); ``look``:
        a line's style, as in :mod:`.style`; ``name``: in the legend, where of several lines of one
        name it stands once; ``dots``: whether each sample is marked, for few of them.
        """
        return self._add("line", x=x, y=y, look=look, name=name, dots=dots)

    def path(self, x, y, look, name="") -> Figure:
        """Draw a line in the plane, thinned where it is slow."""
        return self._add("path", x=x, y=y, look=look, name=name)

    def points(self, x, y, colour, name="", size=4.0, symbol="circle") -> Figure:
        """Draw points: ``circle``, ``circle-open``, ``square-open``, ``x``; of many an even choice.

        On a page ``size`` is in pixels.
        """
        return self._add("points", x=x, y=y, colour=colour, name=name, size=size, symbol=symbol)

    def coloured(self, time, x, y, values, name, title, largest) -> Figure:
        """Draw a path (n,) in the colours of its values, the same for either sign.

        ``name``, ``title``: of the path, of the scale, which ends at ``largest`` to either side.
        """
        scale = {"title": title, "largest": float(largest)}
        return self._add("coloured", time=time, x=x, y=y, values=values, name=name, **scale)

    def arrows(self, places, ahead, colour, name) -> Figure:
        """Draw arrows at places, each (2, n), into directions of length one."""
        return self._add("arrows", places=places, ahead=ahead, colour=colour, name=name)

    def band(self, x, low, high, colour, opacity, name="") -> Figure:
        """Fill the space between two curves, (n,) each."""
        return self._add("band", x=x, low=low, high=high, colour=colour, opacity=opacity, name=name)

    def span(self, begin, end, colour, opacity, name="") -> Figure:
        """Shade all that is between two values of the horizontal axis."""
        return self._add("span", begin=begin, end=end, colour=colour, opacity=opacity, name=name)

    def stack(self, x, parts, styles) -> Figure:
        """Fill shares of a whole one upon the other.

        ``parts``: name -> share (n,); ``styles``: name -> colour and hatch, one of matplotlib's or
        empty, which tells areas apart in print.
        """
        return self._add("stack", x=x, parts=parts, styles=styles)

    def bars(self, edges, y, colour, name="") -> Figure:
        """Draw a histogram: ``edges`` (n + 1,) and heights ``y`` (n,)."""
        return self._add("bars", edges=edges, y=y, colour=colour, name=name)

    def level(self, value, look, name="") -> Figure:
        """Draw a horizontal line through the panel."""
        return self._add("level", value=value, look=look, name=name)

    def mark(self, value, look, name="", sign="") -> Figure:
        """Draw a vertical line through the panel; in a picture a sign may stand above it."""
        return self._add("mark", value=value, look=look, name=name, sign=sign)

    def zero(self) -> Figure:
        """Draw the line of zero, which a page has anyway."""
        return self._add("zero")

    def text(self, x, y, text, colour) -> Figure:
        """Write above a place."""
        return self._add("text", x=x, y=y, text=text, colour=colour)

    def words(self, text) -> Figure:
        """Write in the middle of the panel why nothing is in it."""
        return self._add("words", text=text)

    def _add(self, kind, **values):
        self.panels[-1].layers.append(Layer(kind, values))
        return self


def decades(panel: Panel, axis: str) -> float:
    """Return over how many decades the positive values of a panel's ``x`` or ``y`` reach."""
    values = [np.ravel(layer.values[axis]) for layer in panel.layers if axis in layer.values]
    found = np.concatenate(values).astype(float) if values else np.empty(0)
    found = found[np.isfinite(found) & (found > 0.0)]
    return float(np.log10(found.max() / found.min())) if len(found) else 0.0


def thin(x, y, points):
    """Return a long line (n,) thinned to at most so many points, and its ends, with its peaks.

    The line is cut into blocks of equal count; of each the smallest and the largest value
    stay, in their order.
    """
    x, y = np.asarray(x), np.asarray(y)
    if len(x) <= points:
        return x, y
    blocks = points // 2
    size = -(-len(x) // blocks)
    grid = np.pad(y, (0, -len(y) % size), mode="edge").reshape(-1, size)
    start = np.arange(len(grid)) * size
    extremes = start + grid.argmin(axis=1), start + grid.argmax(axis=1)
    kept = np.unique(np.minimum(np.concatenate(([0], *extremes, [len(y) - 1])), len(y) - 1))
    return x[kept], y[kept]


def thin_with_gaps(time, values, points):
    """Thin a line over time as :func:`thin` does; nan breaks it where there are no samples."""
    time, values = np.asarray(time, dtype=float), np.asarray(values, dtype=float)
    stretches = []
    for part in np.split(np.arange(len(time)), find_gap_ends(time)):
        share = max(4, round(points * len(part) / max(1, len(time))))
        stretches += [thin(time[part], values[part], share), (time[part][-1:], [np.nan])]
    return tuple(np.concatenate(column) for column in zip(*stretches[:-1]))


def path_steps(x, y, points):
    """Return indices of a path's points (n,) that are far enough from each other to be seen.

    A step is at least the longer side of the path's box divided by ``points``.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) <= 2:
        return np.arange(len(x))
    travelled = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    extent = max(np.ptp(x), np.ptp(y))
    if extent <= 0.0:
        return np.arange(1)
    step = np.floor(travelled / extent * points)
    kept = np.flatnonzero(np.diff(step, prepend=-1.0) > 0.0)
    return np.unique(np.append(kept, len(x) - 1))
