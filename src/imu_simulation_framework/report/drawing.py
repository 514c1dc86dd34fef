"""Pictures with matplotlib: of described figures, and what those have in common that are drawn."""

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
from .figure import Figure, decades, path_steps, thin, thin_with_gaps

POINTS = 4000
"""Points left of a long line, more than three per column of pixels."""

_DOTS_PER_INCH = 150
_FOOTER_HEIGHT, _FOOTER_SIZE = 0.2, 7.0  # inches that sign() keeps free, and points
_LEGEND_LINEWIDTH = 1.5  # at least, so that a thin line's colour is visible in the legend
# Along the longer side of the path's box; each is an object of its own in a PDF or SVG.
_COLOURED_POINTS = 800
_PIXELS = 100.0  # of a page, for an inch of a picture
_MARKERS = {"circle": "o", "circle-open": "o", "square-open": "s", "x": "x"}


def drawing(figure: Figure, footer: str = "") -> Picture:
    """Return a described figure as matplotlib has it, with one legend above all panels.

    The ``footer`` is written small below it, see :func:`sign`.
    """
    picture = _message(figure.nothing) if figure.empty else _panels(figure)
    if footer:
        sign(picture, footer)
    return picture


def _panels(figure):
    columns = len(figure.widths)
    rows = -(-len(figure.panels) // columns)
    in_rows = [figure.panels[row * columns : (row + 1) * columns] for row in range(rows)]
    heights = [max(_inches(figure, panel, rows) for panel in row) for row in in_rows]
    picture, axes = make_figure(
        rows, 1.0 + sum(heights), figure.width, columns, sharey=figure.share_y,
        gridspec_kw={"height_ratios": heights, "width_ratios": figure.widths},
    )  # fmt: skip
    for axis in axes[len(figure.panels) :]:
        axis.set_axis_off()
    for column in range(columns):
        both = list(zip(figure.panels, axes))[column::columns]
        together = [axis for panel, axis in both if panel.x is None and panel.draw is None]
        for above, axis in zip(together, together[1:]):
            axis.sharex(together[0])
            above.tick_params(labelbottom=False)
        for axis in together[-1:]:
            label(axis, figure.x)
    for number, (panel, axis) in enumerate(zip(figure.panels, axes)):
        title = panel.title
        if number == 0 and figure.title:
            title = f"{figure.title}: {title}" if title else figure.title
        label(axis, panel.x, panel.y, title)
        _scale(axis, panel)
        for layer in panel.layers:
            getattr(_Layers(axis), layer.kind)(**layer.values)
        if panel.draw is not None:
            panel.draw(axis)
    _signs(figure, axes)
    outside_legend(picture, axes, columns=max(3, 2 * columns))
    return picture


def _inches(figure, panel, rows):
    if not panel.equal:
        return panel.height / _PIXELS
    # As tall as a path asks for: equal scales would leave the rest of the panel empty.
    width, height = (
        np.ptp(np.hstack([one.values[name] for one in panel.layers if name in one.values]))
        for name in "xy"
    )
    inside = (figure.width - 1.2) / len(figure.widths)
    return float(np.clip(inside * height / max(width, 1e-9), 2.0, 6.5 if rows == 1 else 4.5))


def _scale(axis, panel):
    if panel.equal:
        axis.set_aspect("equal", adjustable="datalim")
    for name in panel.log:
        getattr(axis, f"set_{name}scale")("log")
        if decades(panel, name) < 2.0:
            of = getattr(axis, f"{name}axis")
            of.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            of.set_major_formatter(StrMethodFormatter("{x:g}"))
            of.set_minor_formatter(NullFormatter())
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
    """What draws each kind of layer of a described figure in axes, as :class:`.charts._Chart`."""

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
        kept = path_steps(x, y, POINTS)
        self.axis.plot(np.asarray(x)[kept], np.asarray(y)[kept], label=name, **look)

    def points(self, x, y, colour, name, size, symbol):
        look = {"zorder": 2.5, "markeredgewidth": 1.0 if symbol == "x" else 0.0}
        if symbol.endswith("open"):
            look = {"zorder": 5, "markerfacecolor": "white", "markeredgewidth": 1.4}
        look.update(linestyle="none", marker=_MARKERS[symbol], markersize=0.8 * size)
        self.axis.plot(x, y, label=name, color=colour, **look)

    def coloured(self, time, x, y, values, name, title, largest):
        """Draw a path without its gaps, each piece in the colour of its value."""
        time, x, y, values = (np.asarray(one, dtype=float) for one in (time, x, y, values))
        pieces, shown = [], []
        for part in np.split(np.arange(len(time)), find_gap_ends(time)):
            kept = part[path_steps(x[part], y[part], _COLOURED_POINTS)]
            points = np.column_stack([x[kept], y[kept]])
            pieces.append(np.stack([points[:-1], points[1:]], axis=1))
            shown.append(values[kept[1:]])
        shown = np.concatenate(shown)
        # Zero in the middle of the colours.
        colouring = {"cmap": "coolwarm", "norm": Normalize(-largest, largest)}
        pieces = np.concatenate(pieces)
        lines = LineCollection(pieces, linewidth=3.0, capstyle="round", **colouring)
        lines.set_array(shown)
        self.axis.add_collection(lines)
        self.axis.autoscale_view()
        bar = self.axis.figure.colorbar(lines, ax=self.axis, pad=0.02, aspect=30)
        bar.set_label(plain(title), fontsize=9)
        bar.ax.tick_params(labelsize=8)

    def arrows(self, places, ahead, colour, name):
        head = {"headwidth": 6.5, "headlength": 6.0, "headaxislength": 5.0, "width": 0.022}
        self.axis.quiver(
            *places, *ahead, angles="xy", scale_units="inches", scale=6.0, units="inches",
            pivot="mid", color=colour, zorder=4, label=name, **head,
        )  # fmt: skip

    def band(self, x, low, high, colour, opacity, name):
        places = np.linspace(0, len(x) - 1, POINTS // 2).round().astype(int)
        kept = np.unique(places) if len(x) else []
        x, low, high = (np.asarray(one, dtype=float)[kept] for one in (x, low, high))
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

    def zero(self):
        self.axis.axhline(0.0, **style.ZERO)

    def text(self, x, y, text, colour):
        above = {"xytext": (0, 4), "textcoords": "offset points", "ha": "center"}
        self.axis.annotate(plain(text), (x, y), fontsize=9, color=colour, **above)

    def words(self, text, **look):
        look = {"fontsize": 9, "color": colours.TEXT_GREY, **look}
        place = {"ha": "center", "va": "center", "transform": self.axis.transAxes}
        self.axis.text(0.5, 0.5, plain(text), **place, **look)


def _signs(figure, axes):
    """Write the signs of marks above their panels, those that would hide each other as one."""
    for panel, axis in zip(figure.panels, axes):
        marks = [layer.values for layer in panel.layers if layer.values.get("sign")]
        together: list = []
        for mark in sorted(marks, key=lambda mark: (mark["value"], mark["sign"])):
            if together and mark["value"] - together[-1][0] < 0.03 * np.ptp(axis.get_xlim()):
                together[-1][1].append(mark["sign"])
            else:
                together.append((mark["value"], [mark["sign"]], mark["look"]["color"]))
        for at, names, colour in together:
            place = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom"}
            axis.annotate(f"({', '.join(names)})", (at, 1.0), fontsize=8, color=colour, **place)
        if together:
            axis.set_title(axis.get_title(loc="left"), fontsize=11, loc="left", pad=14)


def plain(text: str) -> str:
    """Return a text, as of a file's name, so that no ``$`` in it begins a formula of matplotlib."""
    return text.replace("$", r"\$")


def make_figure(rows=1, height=4.2, width=8.0, columns=1, **subplot_options):
    """Return a figure, and its axes row by row, without any global state."""
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


def label(axis, x=None, y=None, title=None):
    """Label an axis: quantity and unit."""
    if x is not None:
        axis.set_xlabel(plain(x), fontsize=10)
    if y is not None:
        axis.set_ylabel(plain(y), fontsize=10)
    if title is not None:
        axis.set_title(plain(title), fontsize=11, loc="left")


def outside_legend(figure, axes, columns=3):
    """Put one legend above all axes, each name once; in fewer columns if it is too wide.

    If one column is too wide still, its font shrinks until it fits. What has one name and several
    colours is grey in it.
    """
    handles: dict = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(name, []).append(handle)
    if not handles:
        return
    shown = [_handle(same) for same in handles.values()]
    # As many columns as its rows need, so that of four names in three columns none stands alone.
    columns = -(-len(shown) // -(-len(shown) // columns))
    size = 8.0
    while True:
        box = figure.legend(
            shown, map(plain, handles), loc="outside upper right", ncol=columns,
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
        line.set_linewidth(max(line.get_linewidth(), _LEGEND_LINEWIDTH))


def _handle(same):
    first = same[0]
    areas = {tuple(np.ravel(one.get_facecolor())) for one in same if hasattr(one, "get_hatch")}
    if len(areas) > 1:
        return Patch(color=colours.BAND_GREY, alpha=0.3, linewidth=0.0)
    if len({one.get_color() for one in same if isinstance(one, Line2D)}) > 1:
        return Line2D([], [], color=colours.DARK_GREY, linewidth=first.get_linewidth())
    return first


def sign(figure, text):
    """Write small below a figure of :func:`make_figure` what it shows: drive, model, seed, date.

    It is one line, in a font that shrinks until it fits.
    """
    width, height = figure.get_size_inches()
    room = _FOOTER_HEIGHT / height
    figure.get_layout_engine().set(rect=(0.0, room, 1.0, 1.0 - room))
    footer = figure.text(
        1.0 - 0.08 / width, 0.05 / height, text, fontsize=_FOOTER_SIZE, color=colours.FOOTER_GREY,
        ha="right", va="bottom", parse_math=False,
    )  # fmt: skip
    taken = footer.get_window_extent(figure.canvas.get_renderer()).width
    footer.set_fontsize(_FOOTER_SIZE * min(1.0, 0.95 * figure.bbox.width / taken))


def _message(sentence):
    figure, (axis,) = make_figure(height=2.0)
    axis.set_axis_off()
    _Layers(axis).words(sentence, fontsize=11, wrap=True, color=None)
    return figure
