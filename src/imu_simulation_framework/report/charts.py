"""Conversion of figure descriptions to plotly, for web pages."""

from html import escape
from typing import Any, Mapping

import numpy as np

from ..core import colours
from .figure import Figure, count_decades, select_path_points, thin, thin_with_gaps

POINTS = 2000
"""Largest number of points in a line, about two per pixel column."""

# Heights in pixels: margins of the figure, title and axis label of a panel, gap between panels.
_TOP_MARGIN, _BOTTOM_MARGIN = 28, 56
_TITLE, _LABEL, _GAP = 28, 56, 16
_PIXELS_PER_POINT = 1.25  # converts the line widths of styles, which are in points, to pixels
_AXIS = {
    "gridcolor": colours.GRID, "zerolinecolor": colours.LINE_GREY, "zerolinewidth": 1,
    "showline": True, "linecolor": colours.LINE_GREY, "ticks": "outside", "ticklen": 4,
    "tickcolor": colours.LINE_GREY, "automargin": True,
}  # fmt: skip


def to_plotly(figure: Figure) -> Mapping[str, Any]:
    """Convert a figure description to plotly, with panels one above the other.

    Parameters
    ----------
    figure : Figure
        Description of the figure.

    Returns
    -------
    mapping
        Plotly's ``data`` and ``layout``. The figure is as wide as the page.
    """
    return _Chart(figure).build()


class _Chart:
    def __init__(self, figure):
        self.figure = figure
        self.panels = [panel for panel in figure.panels if panel.draw is None]
        self.data, self.shapes, self.annotations = [], [], []
        self.legend_names, self.number = set(), 0

    def build(self):
        inside, domains = self._panel_domains()
        # The first panel's title is in the top margin, below the legend.
        title = _TITLE if self._title(0) else 6
        is_plane = any(panel.equal or _kinds(panel)[:1] == ["bars"] for panel in self.panels)
        legend = {"orientation": "h", "x": 0, "y": 1.0 + title / inside, "xanchor": "left"}
        layout: dict[str, Any] = {
            "height": inside + title + _TOP_MARGIN + _BOTTOM_MARGIN, "autosize": True,
            "hovermode": "closest" if is_plane else "x unified",
            "margin": {"l": 48, "r": 16, "t": title + _TOP_MARGIN, "b": _BOTTOM_MARGIN},
            "font": {"family": "system-ui, sans-serif", "size": 12.5, "color": colours.SENSOR},
            "hoverlabel": {"namelength": -1}, "plot_bgcolor": "white", "paper_bgcolor": "white",
            "legend": {**legend, "yanchor": "bottom", "font": {"size": 12}},
            "annotations": self.annotations, "shapes": self.shapes,
        }  # fmt: skip
        for number, (panel, (low, high)) in enumerate(zip(self.panels, domains)):
            self.number = number
            x, y = self._axes()
            layout[f"xaxis{x[1:]}"] = self._x_axis(panel)
            layout[f"yaxis{y[1:]}"] = {
                **_AXIS, "anchor": x, "domain": [low, high], "title": {"text": _escape(panel.y)},
                **(_log_options(panel, "y") if "y" in panel.log else {}),
                **({"scaleanchor": x} if panel.equal else {}),
                **({"range": _axis_coordinates(panel, "y", panel.limits)} if panel.limits else {}),
            }  # fmt: skip
            if self._title(number):
                anchors = {"xanchor": "left", "yanchor": "bottom"}
                self._annotate(
                    f"<b>{_escape(panel.title)}</b>", 0, high, "paper", "paper", **anchors
                )
            for layer in panel.layers:
                getattr(self, layer.kind)(**layer.values)
            for trace in self.data:
                if "colorbar" in trace.get("marker", {}) and trace["xaxis"] == x:
                    trace["marker"]["colorbar"].update(y=0.5 * (low + high), len=high - low)
        return {"data": self.data, "layout": layout}

    def _title(self, number):
        # A single panel needs no title, because the section has a heading.
        return self.panels[number].title if len(self.panels) > 1 else ""

    def _axes(self, number=None):
        number = self.number if number is None else number
        suffix = "" if number == 0 else str(number + 1)
        return "x" + suffix, "y" + suffix

    def _x_axis(self, panel):
        sharing = [number for number, other in enumerate(self.panels) if other.x is None]
        is_last = [self.number] == sharing[-1:]
        title = panel.x if panel.x is not None else self.figure.x if is_last else ""
        axis = {
            **_AXIS, "anchor": self._axes()[1], "title": {"text": _escape(title)},
            "showticklabels": bool(panel.x is not None or is_last),
            **(_log_options(panel, "x") if "x" in panel.log else {}),
            **({"range": _axis_coordinates(panel, "x", panel.x_limits)} if panel.x_limits else {}),
            **({"tickvals": _to_numbers(panel.ticks)} if len(panel.ticks) else {}),
        }  # fmt: skip
        if self.number in sharing[1:]:
            axis["matches"] = self._axes(sharing[0])[0]
        return axis

    def _panel_domains(self):
        """Return the total height [pixels], and the ends of each panel as fractions of it."""
        inside = 0
        from_above = []
        for number, panel in enumerate(self.panels):
            inside += (_TITLE if panel.title else _GAP) if number else 0
            from_above.append((inside, inside + panel.height))
            inside += panel.height
            if panel.x is not None and number + 1 < len(self.panels):
                inside += _LABEL
        return inside, [(1.0 - low / inside, 1.0 - high / inside) for high, low in from_above]

    def line(self, x, y, look, name, dots):
        logarithmic = "x" in self.panels[self.number].log
        if len(x) and not dots:
            x, y = (thin if logarithmic else thin_with_gaps)(x, y, POINTS)
        options = {"mode": "lines+markers", "marker": {"size": 6}} if dots else {"mode": "lines"}
        self._add(x, y, name, line=_line_options(look), **options)

    def path(self, x, y, look, name):
        kept = select_path_points(x, y, POINTS // 4)
        kept = kept[_even_indices(kept, 2 * POINTS)]
        self._add(_take(x, kept), _take(y, kept), name, mode="lines", line=_line_options(look))

    def points(self, x, y, colour, name, size, symbol):
        kept = _even_indices(x, POINTS)
        marker = {"color": colour, "size": size, "symbol": symbol}
        self._add(_take(x, kept), _take(y, kept), name, mode="markers", marker=marker)

    def coloured_path(self, time, x, y, values, name, title, largest):
        kept = _even_indices(x, POINTS)
        values = _take(values, kept)
        marker = {
            "color": _to_numbers(values), "size": 6, "cmin": -largest, "cmax": largest,
            "colorscale": [list(pair) for pair in colours.DIVERGING],
            "colorbar": {"title": {"text": _escape(title), "side": "right"}, "thickness": 12},
        }  # fmt: skip
        self._add(
            _take(x, kept), _take(y, kept), name, mode="markers", marker=marker, showlegend=False,
            customdata=marker["color"], hovertemplate="%{x}, %{y}: %{customdata}<extra></extra>",
        )  # fmt: skip

    def arrows(self, positions, directions, colour, name):
        angles = _to_numbers(np.degrees(np.arctan2(*directions)))
        marker = {"color": colour, "size": 11, "symbol": "arrow", "angle": angles}
        self._add(*positions, name, mode="markers", marker=marker, hoverinfo="skip")

    def band(self, x, low, high, colour, opacity, name):
        x, low, high = (_take(values, _even_indices(x, POINTS // 2)) for values in (x, low, high))
        known = np.isfinite(low) & np.isfinite(high)
        x, low, high = x[known], low[known], high[known]
        self._add(
            np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]), name, mode="lines",
            line={"width": 0, "color": colour}, fill="toself",
            fillcolor=_to_rgba(colour, opacity), hoverinfo="skip",
        )  # fmt: skip

    def span(self, begin, end, colour, opacity, name):
        look = {"fillcolor": _to_rgba(colour, opacity), "line": {"width": 0}, "layer": "below"}
        ends = {"y0": 0, "y1": 1, "x0": float(begin), "x1": float(end)}
        self._add_shape("y", name, type="rect", **ends, **look)

    def stack(self, x, parts, styles):
        kept = _even_indices(x, POINTS // 4)
        for name, values in parts.items():
            colour, hatch = styles[name]
            pattern = {"shape": hatch[:1], "bgcolor": colour, "fgcolor": "white", "size": 10}
            filled = {"fillpattern": {**pattern, "solidity": 0.15}} if hatch else {}
            self._add(
                _take(x, kept), _take(values, kept), name, mode="lines", fillcolor=colour,
                line={"width": 0.5, "color": "white"}, stackgroup=f"panel {self.number}", **filled,
            )  # fmt: skip

    def bars(self, edges, y, colour, name):
        edges = np.asarray(edges, dtype=float)
        marker = {"color": colour, "line": {"width": 0.5, "color": "white"}}
        middle, width = 0.5 * (edges[1:] + edges[:-1]), _to_numbers(np.diff(edges))
        self._add(middle, y, name, type="bar", width=width, marker=marker)

    def level(self, value, look, name):
        ends = {"x0": 0, "x1": 1, "y0": float(value), "y1": float(value)}
        self._add_shape("x", name, **ends, line=_line_options(look))

    def mark(self, value, look, name, sign):
        ends = {"y0": 0, "y1": 1, "x0": float(value), "x1": float(value)}
        self._add_shape("y", name, **ends, line=_line_options(look))

    def zero_line(self):
        """Draw nothing, because plotly's axes include a zero line."""

    def text(self, x, y, text, colour):
        options = {"xanchor": "center", "yanchor": "bottom", "font": {"color": colour}}
        panel = self.panels[self.number]
        (x,), (y,) = _axis_coordinates(panel, "x", [x]), _axis_coordinates(panel, "y", [y])
        self._annotate(_escape(text), x, y, *self._axes(), **options)

    def message(self, text):
        x, y = self._axes()
        self._annotate(_escape(text), 0.5, 0.5, f"{x} domain", f"{y} domain", xanchor="center")

    def _annotate(self, text, x, y, xref, yref, **options):
        position = {"x": x, "y": y, "xref": xref, "yref": yref}
        self.annotations.append({"text": text, **position, "showarrow": False, **options})

    def _add(self, x, y, name, **trace):
        axes = dict(zip(("xaxis", "yaxis"), self._axes()))
        values = {"type": "scatter", "x": _to_numbers(x), "y": _to_numbers(y)}
        self.data.append({**values, **self._legend_entry(name), **trace, **axes})

    def _add_shape(self, full_axis, name, **shape):
        """Add a shape that spans the panel along one axis, ``x`` or ``y``."""
        x, y = self._axes()
        axes = {"xref": x, "yref": y}
        axes[full_axis + "ref"] += " domain"
        legend = self._legend_entry(name)
        self.shapes.append({"type": "line", **axes, "layer": "above", **legend, **shape})

    def _legend_entry(self, name):
        is_new = bool(name) and name not in self.legend_names
        self.legend_names.add(name)
        return {"name": _escape(name), "legendgroup": name, "showlegend": is_new}


def _kinds(panel):
    return [layer.kind for layer in panel.layers]


def _log_options(panel, axis):
    decades = count_decades(panel, axis)
    # On an axis of less than two decades, there would be too few ticks at powers of ten.
    ticks = "D2" if decades < 2.0 else 1 if decades < 8.0 else 2
    return {"type": "log", "exponentformat": "power", "dtick": ticks}


def _axis_coordinates(panel, axis, values) -> list:
    """Return values as plotly expects them in ranges and annotations: logarithms on a log axis."""
    return [float(np.log10(value) if axis in panel.log else value) for value in values]


def _even_indices(values, most):
    """Return at most ``most`` evenly spaced indices, including the index of the last value."""
    count = len(values)
    return np.linspace(0, count - 1, min(count, most)).round().astype(int)


def _take(values, indices):
    return np.asarray(values, dtype=float)[indices]


def _to_numbers(values) -> list:
    """Round values to six digits, and replace values that are not finite by None."""
    return [
        float(f"{value:.6g}") if np.isfinite(value) else None
        for value in np.asarray(values, dtype=float).tolist()
    ]


def _escape(text) -> str:
    # Markup is escaped, because plotly interprets it and creates links.
    return escape(str(text), quote=False)


def _line_options(look) -> dict:
    width = max(1.0, round(_PIXELS_PER_POINT * look.get("linewidth", 1.5), 2))
    dashes, line = look.get("linestyle", "-"), {"color": look["color"], "width": width}
    if not isinstance(dashes, str):
        # The dash lengths of the styles are multiples of the line width, but plotly expects pixels.
        line["dash"] = ",".join(f"{max(1.0, part * width):.1f}px" for part in dashes[1])
    return line


def _to_rgba(colour, opacity) -> str:
    return f"rgba({','.join(map(str, bytes.fromhex(colour[1:])))},{opacity:g})"
