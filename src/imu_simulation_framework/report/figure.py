"""Figure descriptions: panels with lines, bands and points, independent of a plotting library.

:func:`.to_matplotlib` converts a description to an image file, and :func:`.to_plotly` to a
figure on a web page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from ..core.stamps import find_gap_ends


class Layer(NamedTuple):
    """Element of a panel, such as a line or a band.

    Attributes
    ----------
    kind : str
        Name of the method of :class:`Figure` that added the element.
    values : mapping
        Arguments of this method, keyed by name.
    """

    kind: str
    values: Mapping[str, Any]


@dataclass
class Panel:
    """Axes, with the layers that are drawn in them.

    Attributes
    ----------
    y, title : str
        Title and unit of the vertical axis, and title of the panel.
    x : str or None
        Title and unit of a horizontal axis that is not shared.
    log : str
        Logarithmic axes: ``x``, ``y``, ``xy`` or empty.
    equal : bool
        Whether both axes have the same scale.
    height : float
        Height on a web page [pixels].
    limits, x_limits : tuple of float, or None
        Limits of the vertical and of the horizontal axis.
    ticks : sequence of float
        Ticks of the horizontal axis, which replace the default ticks.
    draw : callable or None
        Function that draws into matplotlib axes.
    layers : list of Layer
        Elements in the order in which they are drawn.
    """

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
    """Description of a figure with panels in one column or, in image files, in a grid.

    Each method that adds an element returns the figure.

    Attributes
    ----------
    title : str
        Title in an image file. A web page shows the heading of the section instead.
    x : str
        Title and unit of the horizontal axis that the panels share.
    empty_message : str
        Message that replaces a figure without panels.
    widths : sequence of float
        Relative widths of the columns in an image file, which are filled with panels row by row.
    width : float
        Width in an image file [inches].
    share_y : bool or str
        Which panels share their vertical scale, as in matplotlib's ``subplots``.
    panels : list of Panel
    """

    title: str = ""
    x: str = "time [s]"
    empty_message: str = ""
    widths: Sequence[float] = (1.0,)
    width: float = 8.0
    share_y: bool | str = False
    panels: list[Panel] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the figure has no panel."""
        return not self.panels

    def panel(self, y="", title="", **options) -> Figure:
        """Add a panel, to which all subsequent elements are added.

        Parameters
        ----------
        y : str
            Title and unit of the vertical axis.
        title : str
            Title of the panel.
        **options : object
            Fields of :class:`Panel`: ``x``, ``log``, ``equal``, ``height``, ``limits``,
            ``x_limits``, ``ticks`` and ``draw``. In an image file, 100 pixels of height are
            one inch. A web page does not show panels with ``draw``.

        Returns
        -------
        Figure
        """
        self.panels.append(Panel(y, title, **options))
        return self

    def line(self, x, y, look, name="", dots=False) -> Figure:
        """Draw a line with gaps where samples are missing; it is thinned without losing peaks.

        On a logarithmic horizontal axis, where steps increase, the line has no gaps.

        Parameters
        ----------
        x, y : array_like, shape (n,)
            Samples.
        look : dict
            Style of the line, see :mod:`.style`.
        name : str
            Name in the legend, in which each name occurs once.
        dots : bool
            Whether to mark each sample.

        Returns
        -------
        Figure
        """
        return self._add("line", x=x, y=y, look=look, name=name, dots=dots)

    def path(self, x, y, look, name="") -> Figure:
        """Draw a path in the plane, which is thinned where its points are close to each other.

        Parameters
        ----------
        x, y : array_like, shape (n,)
            Points.
        look : dict
            Style of the line, see :mod:`.style`.
        name : str, optional
            Name in the legend.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("path", x=x, y=y, look=look, name=name)

    def points(self, x, y, colour, name="", size=4.0, symbol="circle") -> Figure:
        """Draw points; if there are very many, a web page shows an evenly spaced subset.

        Parameters
        ----------
        x, y : array_like, shape (n,)
            Positions.
        colour : str
            Colour as ``#rrggbb``.
        name : str
            Name in the legend.
        size : float
            Size on a web page [pixels].
        symbol : str
            ``circle``, ``circle-open``, ``square-open`` or ``x``.

        Returns
        -------
        Figure
        """
        return self._add("points", x=x, y=y, colour=colour, name=name, size=size, symbol=symbol)

    def coloured_path(self, time, x, y, values, name, title, largest) -> Figure:
        """Draw a path whose colour represents a value, on a scale that is symmetric about zero.

        Parameters
        ----------
        time : array_like, shape (n,)
            Time of each point [s]; the path is interrupted where samples are missing.
        x, y : array_like, shape (n,)
            Positions.
        values : array_like, shape (n,)
            Values of the colour scale.
        name : str
            Name of the path in the legend.
        title : str
            Title and unit of the colour scale.
        largest : float
            Value at the end of the colour scale.

        Returns
        -------
        Figure
        """
        scale = {"title": title, "largest": float(largest)}
        return self._add("coloured_path", time=time, x=x, y=y, values=values, name=name, **scale)

    def arrows(self, positions, directions, colour, name) -> Figure:
        """Draw arrows of the same length.

        Parameters
        ----------
        positions, directions : array_like, shape (2, n)
            Position and unit vector of each arrow.
        colour : str
            Colour as ``#rrggbb``.
        name : str
            Name in the legend.

        Returns
        -------
        Figure
        """
        return self._add(
            "arrows", positions=positions, directions=directions, colour=colour, name=name
        )

    def band(self, x, low, high, colour, opacity, name="") -> Figure:
        """Fill the area between two curves.

        Parameters
        ----------
        x : array_like, shape (n,)
            Horizontal positions.
        low, high : array_like, shape (n,)
            Lower and upper curve.
        colour : str
            Colour as ``#rrggbb``.
        opacity : float
            Opacity, 0 to 1.
        name : str, optional
            Name in the legend.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("band", x=x, low=low, high=high, colour=colour, opacity=opacity, name=name)

    def span(self, begin, end, colour, opacity, name="") -> Figure:
        """Shade the panel between two values on the horizontal axis.

        Parameters
        ----------
        begin, end : float
            Values of the horizontal axis.
        colour : str
            Colour as ``#rrggbb``.
        opacity : float
            Opacity, 0 to 1.
        name : str, optional
            Name in the legend.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("span", begin=begin, end=end, colour=colour, opacity=opacity, name=name)

    def stack(self, x, parts, styles) -> Figure:
        """Draw shares of a total as stacked areas.

        Parameters
        ----------
        x : array_like, shape (n,)
            Horizontal positions.
        parts : mapping
            Share (n,) for each name.
        styles : mapping
            Colour and hatch for each name. The hatch is a matplotlib hatch or empty; it
            distinguishes areas in print.

        Returns
        -------
        Figure
        """
        return self._add("stack", x=x, parts=parts, styles=styles)

    def bars(self, edges, y, colour, name="") -> Figure:
        """Draw a histogram.

        Parameters
        ----------
        edges : array_like, shape (n + 1,)
            Edges of the bins.
        y : array_like, shape (n,)
            Heights of the bars.
        colour : str
            Colour as ``#rrggbb``.
        name : str, optional
            Name in the legend.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("bars", edges=edges, y=y, colour=colour, name=name)

    def level(self, value, look, name="") -> Figure:
        """Draw a horizontal line through the panel.

        Parameters
        ----------
        value : float
            Value of the vertical axis.
        look : dict
            Style of the line, see :mod:`.style`.
        name : str, optional
            Name in the legend.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("level", value=value, look=look, name=name)

    def mark(self, value, look, name="", sign="") -> Figure:
        """Draw a vertical line through the panel; an image file may show a symbol above it.

        Parameters
        ----------
        value : float
            Value of the horizontal axis.
        look : dict
            Style of the line, see :mod:`.style`.
        name : str, optional
            Name in the legend.
        sign : str, optional
            Symbol above the line in an image file.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("mark", value=value, look=look, name=name, sign=sign)

    def zero_line(self) -> Figure:
        """Draw a horizontal line at zero in an image file; a web page always shows this line.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("zero_line")

    def text(self, x, y, text, colour) -> Figure:
        """Write text above a point.

        Parameters
        ----------
        x, y : float
            Point below the text.
        text : str
            Text to write above the point.
        colour : str
            Colour as ``#rrggbb``.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("text", x=x, y=y, text=text, colour=colour)

    def message(self, text) -> Figure:
        """Write a message, such as why there are no curves, in the middle of the panel.

        Parameters
        ----------
        text : str
            Message to write.

        Returns
        -------
        Figure
            The figure itself.
        """
        return self._add("message", text=text)

    def _add(self, kind, **values):
        self.panels[-1].layers.append(Layer(kind, values))
        return self


def count_decades(panel: Panel, axis: str) -> float:
    """Return the number of decades that the positive values of a panel span.

    Parameters
    ----------
    panel : Panel
        Panel with its layers.
    axis : str
        ``x`` or ``y``.

    Returns
    -------
    float
        Decimal logarithm of the ratio of the largest to the smallest positive value; 0 if there are
        no positive values.
    """
    arrays = [np.ravel(layer.values[axis]) for layer in panel.layers if axis in layer.values]
    values = np.concatenate(arrays).astype(float) if arrays else np.empty(0)
    positive = values[np.isfinite(values) & (values > 0.0)]
    return float(np.log10(positive.max() / positive.min())) if len(positive) else 0.0


def thin(x, y, points):
    """Thin out a long line without losing its ends and peaks.

    The line is divided into blocks of equal length. The smallest and the largest value of each
    block remain, in their original order.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Samples.
    points : int
        Largest number of points, not counting the ends.

    Returns
    -------
    x, y : ndarray
        Remaining samples.
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
    """Thin out a line over time as :func:`thin` does, with nan in each gap.

    Parameters
    ----------
    time : array_like, shape (n,)
        Time [s].
    values : array_like, shape (n,)
        Samples of the line.
    points : int
        Approximate number of remaining points.

    Returns
    -------
    time, values : ndarray
        Remaining samples, with a nan in each gap.
    """
    time, values = np.asarray(time, dtype=float), np.asarray(values, dtype=float)
    pieces = []
    for part in np.split(np.arange(len(time)), find_gap_ends(time)):
        share = max(4, round(points * len(part) / max(1, len(time))))
        pieces += [thin(time[part], values[part], share), (time[part][-1:], [np.nan])]
    return tuple(np.concatenate(column) for column in zip(*pieces[:-1]))


def select_path_points(x, y, points):
    """Select points of a path that can be visually distinguished from each other.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Positions.
    points : int
        Number of steps along the longer side of the path's bounding box. Points that are closer
        than such a step to the previous point are omitted.

    Returns
    -------
    ndarray of int
        Ascending indices, including the first and the last point.
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
