"""Conversion of figure descriptions to matplotlib figures, and helpers for titles and legends."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from ..core import colours
from ..core.stamps import find_gap_ends
from . import style
from .figure import Figure, count_decades, select_path_points, thin, thin_with_gaps

POINTS = 4000
"""Largest number of points in a line, more than three per pixel column."""

_DOTS_PER_INCH = 150
_FOOTER_HEIGHT = 0.2  # inches; space for the footer below the panels
_FOOTER_SIZE = 7.0  # points; font size of the footer
_MIN_LEGEND_LINEWIDTH = 1.5  # points; the colour of thinner lines is hardly visible in a legend
# Number of points of a coloured path along the longer side of its bounding box.
# The number is limited, because each point is an object in a PDF or SVG file.
_COLOURED_POINTS = 800
_PIXELS_PER_INCH = 100.0  # pixels on a web page that correspond to one inch in an image file
_MARKERS = {"circle": "o", "circle-open": "o", "square-open": "s", "x": "x"}


def to_matplotlib(figure: Figure, footer: str = "") -> Picture:
    """Convert a figure description to matplotlib, with a legend above all panels.

    Parameters
    ----------
    figure : Figure
        Description of the figure.
    footer : str
        Text below the panels, see :func:`write_footer`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    picture = _draw_message(figure.empty_message) if figure.is_empty else _draw_panels(figure)
    if footer:
        write_footer(picture, footer)
    return picture


def _draw_panels(figure):
    columns = len(figure.widths)
    rows = -(-len(figure.panels) // columns)
    panel_rows = [figure.panels[row * columns : (row + 1) * columns] for row in range(rows)]
    heights = [max(_panel_height(figure, panel, rows) for panel in row) for row in panel_rows]
    picture, axes = make_figure(
        rows, 1.0 + sum(heights), figure.width, columns, sharey=figure.share_y,
        gridspec_kw={"height_ratios": heights, "width_ratios": figure.widths},
    )  # fmt: skip
    for axis in axes[len(figure.panels) :]:
        axis.set_axis_off()
    for column in range(columns):
        pairs = list(zip(figure.panels, axes))[column::columns]
        sharing = [axis for panel, axis in pairs if panel.x is None and panel.draw is None]
        for upper, axis in zip(sharing, sharing[1:]):
            axis.sharex(sharing[0])
            upper.tick_params(labelbottom=False)
        if sharing:
            label_axis(sharing[-1], figure.x)
    for number, (panel, axis) in enumerate(zip(figure.panels, axes)):
        title = panel.title
        if number == 0 and figure.title:
            title = f"{figure.title}: {title}" if title else figure.title
        label_axis(axis, panel.x, panel.y, title)
        _scale(axis, panel)
        for layer in panel.layers:
            getattr(_Layers(axis), layer.kind)(**layer.values)
        if panel.draw is not None:
            panel.draw(axis)
    _write_signs(figure, axes)
    add_outside_legend(picture, axes, columns=max(3, 2 * columns))
    return picture


def _panel_height(figure, panel, rows):
    """Return the height of a panel in inches."""
    if not panel.equal:
        return panel.height / _PIXELS_PER_INCH
    # The height depends on the path, because equal axis scales could leave empty space.
    width, height = (
        np.ptp(np.hstack([layer.values[name] for layer in panel.layers if name in layer.values]))
        for name in "xy"
    )
    inside = (figure.width - 1.2) / len(figure.widths)
    return float(np.clip(inside * height / max(width, 1e-9), 2.0, 6.5 if rows == 1 else 4.5))


def _scale(axis, panel):
    if panel.equal:
        axis.set_aspect("equal", adjustable="datalim")
    for name in panel.log:
        getattr(axis, f"set_{name}scale")("log")
        if count_decades(panel, name) < 2.0:
            scale = getattr(axis, f"{name}axis")
            scale.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            scale.set_major_formatter(StrMethodFormatter("{x:g}"))
            scale.set_minor_formatter(NullFormatter())
    if "x" in panel.log and not len(panel.ticks):
        axis.grid(True, which="minor", axis="x", color=colours.FINE_GRID, linewidth=0.4)
    if len(panel.ticks):
        axis.set_xticks(panel.ticks, [f"{tick:g}" for tick in panel.ticks])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.xaxis.set_tick_params(which="minor", bottom=False)
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
    if panel.x_limits is not None:
        axis.set_xlim(*panel.x_limits)


class _Layers:
    """Methods that draw each type of layer in matplotlib axes, one method per type."""

    def __init__(self, axis):
        self.axis = axis

    def line(self, x, y, look, name, dots):
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        if len(x) and not dots:
            logarithmic = self.axis.get_xscale() == "log"
            x, y = (thin if logarithmic else thin_with_gaps)(x, y, POINTS)
        marker = {"marker": "o", "markersize": 4.0} if dots else {}
        self.axis.plot(x, y, label=name, **look, **marker)

    def path(self, x, y, look, name):
        kept = select_path_points(x, y, POINTS)
        self.axis.plot(np.asarray(x)[kept], np.asarray(y)[kept], label=name, **look)

    def points(self, x, y, colour, name, size, symbol):
        look = {"zorder": 2.5, "markeredgewidth": 1.0 if symbol == "x" else 0.0}
        if symbol.endswith("open"):
            look = {"zorder": 5, "markerfacecolor": "white", "markeredgewidth": 1.4}
        look.update(linestyle="none", marker=_MARKERS[symbol], markersize=0.8 * size)
        self.axis.plot(x, y, label=name, color=colour, **look)

    def coloured_path(self, time, x, y, values, name, title, largest):
        """Draw a path with gaps, in which the colour of each segment represents its value."""
        time, x, y, values = (np.asarray(array, dtype=float) for array in (time, x, y, values))
        pieces, piece_values = [], []
        for part in np.split(np.arange(len(time)), find_gap_ends(time)):
            kept = part[select_path_points(x[part], y[part], _COLOURED_POINTS)]
            points = np.column_stack([x[kept], y[kept]])
            pieces.append(np.stack([points[:-1], points[1:]], axis=1))
            piece_values.append(values[kept[1:]])
        # The colour scale is symmetric about zero.
        colouring = {"cmap": "coolwarm", "norm": Normalize(-largest, largest)}
        pieces = np.concatenate(pieces)
        lines = LineCollection(pieces, linewidth=3.0, capstyle="round", **colouring)
        lines.set_array(np.concatenate(piece_values))
        self.axis.add_collection(lines)
        self.axis.autoscale_view()
        bar = self.axis.figure.colorbar(lines, ax=self.axis, pad=0.02, aspect=30)
        bar.set_label(escape_dollars(title), fontsize=9)
        bar.ax.tick_params(labelsize=8)

    def arrows(self, positions, directions, colour, name):
        head = {"headwidth": 6.5, "headlength": 6.0, "headaxislength": 5.0, "width": 0.022}
        self.axis.quiver(
            *positions, *directions, angles="xy", scale_units="inches", scale=6.0, units="inches",
            pivot="mid", color=colour, zorder=4, label=name, **head,
        )  # fmt: skip

    def band(self, x, low, high, colour, opacity, name):
        indices = np.linspace(0, len(x) - 1, POINTS // 2).round().astype(int)
        kept = np.unique(indices) if len(x) else []
        x, low, high = (np.asarray(array, dtype=float)[kept] for array in (x, low, high))
        self.axis.fill_between(x, low, high, color=colour, alpha=opacity, linewidth=0.0, label=name)

    def span(self, begin, end, colour, opacity, name):
        shade = {"color": colour, "alpha": opacity, "linewidth": 0.0, "zorder": 0}
        self.axis.axvspan(begin, end, label=name, **shade)

    def stack(self, x, parts, styles):
        areas = self.axis.stackplot(
            x, list(parts.values()), labels=list(parts), colors=[styles[name][0] for name in parts],
            edgecolor="white", linewidth=0.3,
        )  # fmt: skip
        for area, name in zip(areas, parts):
            area.set_hatch(styles[name][1])

    def bars(self, edges, y, colour, name):
        look = {"color": colour, "edgecolor": "white", "linewidth": 0.2}
        edges = np.asarray(edges, dtype=float)
        self.axis.bar(edges[:-1], y, np.diff(edges), align="edge", label=name, **look)

    def level(self, value, look, name):
        self.axis.axhline(value, label=name, **look)

    def mark(self, value, look, name, sign):
        self.axis.axvline(value, label=name, **look)

    def zero_line(self):
        self.axis.axhline(0.0, **style.ZERO)

    def text(self, x, y, text, colour):
        offset = {"xytext": (0, 4), "textcoords": "offset points", "ha": "center"}
        self.axis.annotate(escape_dollars(text), (x, y), fontsize=9, color=colour, **offset)

    def message(self, text, **look):
        look = {"fontsize": 9, "color": colours.TEXT_GREY, **look}
        alignment = {"ha": "center", "va": "center", "transform": self.axis.transAxes}
        self.axis.text(0.5, 0.5, escape_dollars(text), **alignment, **look)


def _write_signs(figure, axes):
    """Write the symbols of vertical lines above the panels, and merge overlapping symbols."""
    for panel, axis in zip(figure.panels, axes):
        marks = [layer.values for layer in panel.layers if layer.values.get("sign")]
        groups: list = []
        for mark in sorted(marks, key=lambda mark: (mark["value"], mark["sign"])):
            if groups and mark["value"] - groups[-1][0] < 0.03 * np.ptp(axis.get_xlim()):
                groups[-1][1].append(mark["sign"])
            else:
                groups.append((mark["value"], [mark["sign"]], mark["look"]["color"]))
        for value, signs, colour in groups:
            alignment = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom"}
            text = f"({', '.join(signs)})"
            axis.annotate(text, (value, 1.0), fontsize=8, color=colour, **alignment)
        if groups:
            axis.set_title(axis.get_title(loc="left"), fontsize=11, loc="left", pad=14)


def escape_dollars(text: str) -> str:
    """Escape each ``$`` in a text, which matplotlib would interpret as the start of a formula.

    Parameters
    ----------
    text : str
        Any text, such as the name of a file.

    Returns
    -------
    str
    """
    return text.replace("$", r"\$")


def make_figure(rows=1, height=4.2, width=8.0, columns=1, **subplot_options):
    """Create a matplotlib figure without changing matplotlib's global state.

    Parameters
    ----------
    rows : int, optional
        Number of rows of panels.
    height : float, optional
        Height of the picture [inch].
    width : float, optional
        Width of the picture [inch].
    columns : int, optional
        Number of columns of panels.
    **subplot_options
        Options of matplotlib's ``Figure.subplots``.

    Returns
    -------
    tuple of matplotlib.figure.Figure and list of matplotlib.axes.Axes
        Picture, and its axes row by row.
    """
    figure = Picture(
        figsize=(width, height), dpi=_DOTS_PER_INCH, constrained_layout=True, facecolor="white"
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


def label_axis(axis, x=None, y=None, title=None):
    """Set the axis labels and the title of matplotlib axes.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        Axes to label.
    x, y : str, optional
        Quantity and unit of each axis.
    title : str, optional
        Left-aligned title above the axes.
    """
    if x is not None:
        axis.set_xlabel(escape_dollars(x), fontsize=10)
    if y is not None:
        axis.set_ylabel(escape_dollars(y), fontsize=10)
    if title is not None:
        axis.set_title(escape_dollars(title), fontsize=11, loc="left")


def add_outside_legend(figure, axes, columns=3):
    """Add a single legend above all axes, in which each name occurs once.

    If the legend is wider than the picture, the number of columns is reduced; if a single column is
    still too wide, the font size is reduced. A name with several colours is shown in grey.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Picture that receives the legend.
    axes : sequence of matplotlib.axes.Axes
        Axes with named lines.
    columns : int
        Largest number of columns.
    """
    handles: dict = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(name, []).append(handle)
    if not handles:
        return
    entries = [_merge_handles(same) for same in handles.values()]
    # Legend rows have the same length: four names in up to three columns become two rows of two.
    columns = -(-len(entries) // -(-len(entries) // columns))
    size = 8.0
    while True:
        box = figure.legend(
            entries, map(escape_dollars, handles), loc="outside upper right", ncol=columns,
            fontsize=size, frameon=False, handlelength=2.8,
        )  # fmt: skip
        width = box.get_window_extent(figure.canvas.get_renderer()).width
        if width <= figure.bbox.width or size < 8.0:
            break
        box.remove()
        if columns > 1:
            columns -= 1
        else:
            size *= 0.95 * figure.bbox.width / width
    for line in box.get_lines():
        line.set_linewidth(max(line.get_linewidth(), _MIN_LEGEND_LINEWIDTH))


def _merge_handles(handles):
    first = handles[0]
    area_colours = {
        tuple(np.ravel(handle.get_facecolor()))
        for handle in handles
        if hasattr(handle, "get_hatch")
    }
    if len(area_colours) > 1:
        return Patch(color=colours.BAND_GREY, alpha=0.3, linewidth=0.0)
    if len({handle.get_color() for handle in handles if isinstance(handle, Line2D)}) > 1:
        return Line2D([], [], color=colours.DARK_GREY, linewidth=first.get_linewidth())
    return first


def write_footer(figure, text):
    """Write a line of small text below a figure.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Picture created by :func:`make_figure`.
    text : str
        Description of the picture, such as drive, model, seed and date. The font size is reduced
        until the line fits.
    """
    width, height = figure.get_size_inches()
    bottom = _FOOTER_HEIGHT / height
    figure.get_layout_engine().set(rect=(0.0, bottom, 1.0, 1.0 - bottom))
    footer = figure.text(
        1.0 - 0.08 / width, 0.05 / height, text, fontsize=_FOOTER_SIZE, color=colours.FOOTER_GREY,
        ha="right", va="bottom", parse_math=False,
    )  # fmt: skip
    text_width = footer.get_window_extent(figure.canvas.get_renderer()).width
    footer.set_fontsize(_FOOTER_SIZE * min(1.0, 0.95 * figure.bbox.width / text_width))


def _draw_message(sentence):
    figure, (axis,) = make_figure(height=2.0)
    axis.set_axis_off()
    _Layers(axis).message(sentence, fontsize=11, wrap=True, color=None)
    return figure
