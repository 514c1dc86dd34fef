"""Figures of a page, as plotly takes them, from descriptions."""

from html import escape
from typing import Any, Mapping

import numpy as np

from ..core import colours
from .figure import Figure, decades, path_steps, thin, thin_with_gaps

POINTS = 2000
"""Points left of a long line: about two for each column of pixels."""

_TOP, _BOTTOM = 28, 56
_TITLE, _LABEL, _GAP = 28, 56, 16
_PIXELS = 1.25  # of a point, in which the styles' lines are measured
_AXIS = {
    "gridcolor": colours.GRID, "zerolinecolor": colours.LINE_GREY, "zerolinewidth": 1,
    "showline": True, "linecolor": colours.LINE_GREY, "ticks": "outside", "ticklen": 4,
    "tickcolor": colours.LINE_GREY, "automargin": True,
}  # fmt: skip


def chart(figure: Figure) -> Mapping[str, Any]:
    """Return ``data`` and ``layout`` for plotly: panels one above the other, of any width."""
    return _Chart(figure).made()


class _Chart:
    def __init__(self, figure):
        self.figure = figure
        self.panels = [panel for panel in figure.panels if panel.draw is None]
        self.data, self.shapes, self.annotations = [], [], []
        self.shown, self.number = set(), 0

    def made(self):
        inside, places = self._places()
        # The first panel's title stands in the margin, with the legend above it.
        title = _TITLE if self._title(0) else 6
        plane = any(panel.equal or _kinds(panel)[:1] == ["bars"] for panel in self.panels)
        legend = {"orientation": "h", "x": 0, "y": 1.0 + title / inside, "xanchor": "left"}
        layout: dict[str, Any] = {
            "height": inside + title + _TOP + _BOTTOM, "autosize": True,
            "hovermode": "closest" if plane else "x unified",
            "margin": {"l": 48, "r": 16, "t": title + _TOP, "b": _BOTTOM},
            "font": {"family": "system-ui, sans-serif", "size": 12.5, "color": colours.SENSOR},
            "hoverlabel": {"namelength": -1}, "plot_bgcolor": "white", "paper_bgcolor": "white",
            "legend": {**legend, "yanchor": "bottom", "font": {"size": 12}},
            "annotations": self.annotations, "shapes": self.shapes,
        }  # fmt: skip
        for number, (panel, (low, high)) in enumerate(zip(self.panels, places)):
            self.number = number
            x, y = self._axes()
            layout[f"xaxis{x[1:]}"] = self._x_axis(panel)
            layout[f"yaxis{y[1:]}"] = {
                **_AXIS, "anchor": x, "domain": [low, high], "title": {"text": _said(panel.y)},
                **(_logarithmic(panel, "y") if "y" in panel.log else {}),
                **({"scaleanchor": x} if panel.equal else {}),
                **({"range": _in_axis(panel, "y", panel.limits)} if panel.limits else {}),
            }  # fmt: skip
            if self._title(number):
                places = {"xanchor": "left", "yanchor": "bottom"}
                self._write(f"<b>{_said(panel.title)}</b>", 0, high, "paper", "paper", **places)
            for layer in panel.layers:
                getattr(self, layer.kind)(**layer.values)
            for trace in self.data:
                if "colorbar" in trace.get("marker", {}) and trace["xaxis"] == x:
                    trace["marker"]["colorbar"].update(y=0.5 * (low + high), len=high - low)
        return {"data": self.data, "layout": layout}

    def _title(self, number):
        # Of a single panel the section's heading says it.
        return self.panels[number].title if len(self.panels) > 1 else ""

    def _axes(self, number=None):
        number = self.number if number is None else number
        suffix = "" if number == 0 else str(number + 1)
        return "x" + suffix, "y" + suffix

    def _x_axis(self, panel):
        sharing = [place for place, other in enumerate(self.panels) if other.x is None]
        last = [self.number] == sharing[-1:]
        title = panel.x if panel.x is not None else self.figure.x if last else ""
        axis = {
            **_AXIS, "anchor": self._axes()[1], "title": {"text": _said(title)},
            "showticklabels": bool(panel.x is not None or last),
            **(_logarithmic(panel, "x") if "x" in panel.log else {}),
            **({"range": _in_axis(panel, "x", panel.x_limits)} if panel.x_limits else {}),
            **({"tickvals": _numbers(panel.ticks)} if len(panel.ticks) else {}),
        }  # fmt: skip
        if self.number in sharing[1:]:
            axis["matches"] = self._axes(sharing[0])[0]
        return axis

    def _places(self):
        """Height of all panels [pixels], and where in it each is, as shares from below."""
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
        self._add(x, y, name, line=_line(look), **options)

    def path(self, x, y, look, name):
        kept = path_steps(x, y, POINTS // 4)
        kept = kept[_some(kept, 2 * POINTS)]
        self._add(_at(x, kept), _at(y, kept), name, mode="lines", line=_line(look))

    def points(self, x, y, colour, name, size, symbol):
        kept = _some(x, POINTS)
        marker = {"color": colour, "size": size, "symbol": symbol}
        self._add(_at(x, kept), _at(y, kept), name, mode="markers", marker=marker)

    def coloured(self, time, x, y, values, name, title, largest):
        kept = _some(x, POINTS)
        values = _at(values, kept)
        marker = {
            "color": _numbers(values), "size": 6, "cmin": -largest, "cmax": largest,
            "colorscale": [list(pair) for pair in colours.DIVERGING],
            "colorbar": {"title": {"text": _said(title), "side": "right"}, "thickness": 12},
        }  # fmt: skip
        self._add(
            _at(x, kept), _at(y, kept), name, mode="markers", marker=marker, showlegend=False,
            customdata=_numbers(values), hovertemplate="%{x}, %{y}: %{customdata}<extra></extra>",
        )  # fmt: skip

    def arrows(self, places, ahead, colour, name):
        angles = _numbers(np.degrees(np.arctan2(*ahead)))
        marker = {"color": colour, "size": 11, "symbol": "arrow", "angle": angles}
        self._add(*places, name, mode="markers", marker=marker, hoverinfo="skip")

    def band(self, x, low, high, colour, opacity, name):
        x, low, high = (_at(values, _some(x, POINTS // 2)) for values in (x, low, high))
        known = np.isfinite(low) & np.isfinite(high)
        x, low, high = x[known], low[known], high[known]
        self._add(
            np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]), name, mode="lines",
            line={"width": 0, "color": colour}, fill="toself",
            fillcolor=_faded(colour, opacity), hoverinfo="skip",
        )  # fmt: skip

    def span(self, begin, end, colour, opacity, name):
        look = {"fillcolor": _faded(colour, opacity), "line": {"width": 0}, "layer": "below"}
        ends = {"y0": 0, "y1": 1, "x0": float(begin), "x1": float(end)}
        self._across("y", name, type="rect", **ends, **look)

    def stack(self, x, parts, styles):
        kept = _some(x, POINTS // 4)
        for name, values in parts.items():
            colour, hatch = styles[name]
            pattern = {"shape": hatch[:1], "bgcolor": colour, "fgcolor": "white", "size": 10}
            filled = {"fillpattern": {**pattern, "solidity": 0.15}} if hatch else {}
            self._add(
                _at(x, kept), _at(values, kept), name, mode="lines", fillcolor=colour,
                line={"width": 0.5, "color": "white"}, stackgroup=f"panel {self.number}", **filled,
            )  # fmt: skip

    def bars(self, edges, y, colour, name):
        edges = np.asarray(edges, dtype=float)
        marker = {"color": colour, "line": {"width": 0.5, "color": "white"}}
        middle, width = 0.5 * (edges[1:] + edges[:-1]), _numbers(np.diff(edges))
        self._add(middle, y, name, type="bar", width=width, marker=marker)

    def level(self, value, look, name):
        self._across("x", name, x0=0, x1=1, y0=float(value), y1=float(value), line=_line(look))

    def mark(self, value, look, name, sign):
        self._across("y", name, y0=0, y1=1, x0=float(value), x1=float(value), line=_line(look))

    def zero(self):
        """Draw nothing: an axis of plotly has its own."""

    def text(self, x, y, text, colour):
        places = {"xanchor": "center", "yanchor": "bottom", "font": {"color": colour}}
        panel = self.panels[self.number]
        (x,), (y,) = _in_axis(panel, "x", [x]), _in_axis(panel, "y", [y])
        self._write(_said(text), x, y, *self._axes(), **places)

    def words(self, text):
        x, y = self._axes()
        self._write(_said(text), 0.5, 0.5, f"{x} domain", f"{y} domain", xanchor="center")

    def _write(self, text, x, y, xref, yref, **options):
        place = {"x": x, "y": y, "xref": xref, "yref": yref}
        self.annotations.append({"text": text, **place, "showarrow": False, **options})

    def _add(self, x, y, name, **trace):
        ends = dict(zip(("xaxis", "yaxis"), self._axes()))
        values = {"type": "scatter", "x": _numbers(x), "y": _numbers(y)}
        self.data.append({**values, **self._named(name), **trace, **ends})

    def _across(self, through, name, **shape):
        x, y = self._axes()
        ends = {"xref": x, "yref": y}
        ends[through + "ref"] += " domain"
        self.shapes.append({"type": "line", **ends, "layer": "above", **self._named(name), **shape})

    def _named(self, name):
        shown = bool(name) and name not in self.shown
        self.shown.add(name)
        return {"name": _said(name), "legendgroup": name, "showlegend": shown}


def _kinds(panel):
    return [layer.kind for layer in panel.layers]


def _logarithmic(panel, axis):
    reach = decades(panel, axis)
    # Of few decades powers of ten would be too few.
    ticks = "D2" if reach < 2.0 else 1 if reach < 8.0 else 2
    return {"type": "log", "exponentformat": "power", "dtick": ticks}


def _in_axis(panel, axis, values) -> list:
    """Return places on an axis as plotly takes them for ranges and annotations: logarithms."""
    return [float(np.log10(value) if axis in panel.log else value) for value in values]


def _some(values, most):
    """Return an even choice of so many places of values, the last one among them."""
    count = len(values)
    return np.linspace(0, count - 1, min(count, most)).round().astype(int)


def _at(values, places):
    return np.asarray(values, dtype=float)[places]


def _numbers(values) -> list:
    """Six digits of each number; None where there is none."""
    return [
        float(f"{value:.6g}") if np.isfinite(value) else None
        for value in np.asarray(values, dtype=float).tolist()
    ]


def _said(text) -> str:
    # plotly reads markup in texts, links too.
    return escape(str(text), quote=False)


def _line(look) -> dict:
    width = max(1.0, round(_PIXELS * look.get("linewidth", 1.5), 2))
    dashes, line = look.get("linestyle", "-"), {"color": look["color"], "width": width}
    if not isinstance(dashes, str):
        # In widths of the line.
        line["dash"] = ",".join(f"{max(1.0, part * width):.1f}px" for part in dashes[1])
    return line


def _faded(colour, opacity) -> str:
    return f"rgba({','.join(map(str, bytes.fromhex(colour[1:])))},{opacity:g})"
