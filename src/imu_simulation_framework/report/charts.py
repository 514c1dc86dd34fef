"""Figures of a page from arrays, in the colours and dashes of the package's other figures."""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, NamedTuple

import numpy as np

from imu_simulation_framework.report import colours
from imu_simulation_framework.report.style import path_steps, thin, thin_with_gaps

POINTS = 2000
"""Points left of a long line: about two for each column of pixels."""

_TOP, _BOTTOM = 28, 56
_TITLE, _LABEL, _GAP = 28, 56, 16
_PIXELS = 1.25
"""Of a point, in which the styles' lines are measured."""

_AXIS = {
    "gridcolor": colours.GRID, "zerolinecolor": colours.LINE_GREY, "zerolinewidth": 1,
    "showline": True, "linecolor": colours.LINE_GREY, "ticks": "outside", "ticklen": 4,
    "tickcolor": colours.LINE_GREY, "automargin": True,
}  # fmt: skip
_LOGARITHMIC = {"type": "log", "exponentformat": "power"}
_TWOS_AND_FIVES = "D2"
"""Of plotly's ticks; on an axis of few decades, powers of ten would be too few."""


class _Panel(NamedTuple):
    y: str
    title: str
    x: str | None
    logarithmic: bool
    equal: bool
    height: int
    limits: tuple[float, float] | None


class Chart:
    """A figure of panels one above the other, as it fits a screen of any width.

    Parameters
    ----------
    x : str
        Title of the axis that all panels share, with its unit.
    logarithmic : bool
        That axis.
    hover : str
        How values under the pointer are shown: ``x unified`` for lines over time, ``closest`` for
        a plane.
    """

    def __init__(self, x="time [s]", logarithmic=False, hover="x unified"):
        self._x, self._logarithmic, self._hover = x, logarithmic, hover
        self._panels: list[_Panel] = []
        self._traces: list[tuple[int, dict]] = []
        self._shapes: list[tuple[int, str, dict]] = []
        self._shown: set[str] = set()

    @property
    def empty(self) -> bool:
        """Whether it has no panel yet."""
        return not self._panels

    def panel(
        self, y, title="", x=None, logarithmic=False, equal=False, height=250, limits=None
    ) -> Chart:
        """Add a panel below the others; what is drawn from now on is in it.

        Parameters
        ----------
        y, title : str
            Of the axis, with its unit; of the panel.
        x : str, optional
            Title of an axis of its own.
        logarithmic, equal : bool
            The values; whether a unit is as long to the right as upwards.
        height : int
            [pixels]
        limits : tuple of float, optional
            Of the values.
        """
        self._panels.append(_Panel(y, title, x, logarithmic, equal, height, limits))
        return self

    def line(self, x, y, look, name, width=None):
        """Draw a line, thinned so that its peaks stay, with gaps where there are no samples.

        Along a logarithmic axis, where steps grow, there are no gaps.

        Parameters
        ----------
        x, y : array_like, shape (n,)
        look : Mapping
            A line's style, as in :mod:`.style`.
        name : str
            In the legend; of several lines of one name it stands there once.
        width : float, optional
            [points]
        """
        if len(x):
            x, y = (thin if self._logarithmic else thin_with_gaps)(x, y, POINTS)
        self._add(x, y, name, mode="lines", line=_line(look, width))

    def path(self, x, y, look, name):
        """Draw a line in the plane, thinned where it is slow."""
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        kept = path_steps(x, y, POINTS // 4)
        kept = kept[_some(len(kept), 2 * POINTS)]
        self._add(x[kept], y[kept], name, mode="lines", line=_line(look))

    def points(self, x, y, colour, name, size=4, symbol="circle"):
        """Draw points; of very many an even choice."""
        kept = _some(len(x), POINTS)
        marker = {"color": colour, "size": size, "symbol": symbol}
        self._add(_at(x, kept), _at(y, kept), name, mode="markers", marker=marker)

    def line_of_points(self, x, y, look, name):
        """Draw few points, and a line through them."""
        self._add(x, y, name, mode="lines+markers", line=_line(look), marker={"size": 6})

    def coloured(self, x, y, values, name, title):
        """Draw points in the colour of their value, the same for either sign.

        Parameters
        ----------
        x, y, values : array_like, shape (n,)
        name, title : str
            Of the points, of the scale.
        """
        kept = _some(len(x), POINTS)
        values = _at(values, kept)
        limit = float(np.max(np.abs(values), initial=1e-3))
        marker = {
            "color": _numbers(values), "size": 6, "cmin": -limit, "cmax": limit,
            "colorscale": [list(pair) for pair in colours.DIVERGING],
            "colorbar": {"title": {"text": _said(title), "side": "right"}, "thickness": 12},
        }  # fmt: skip
        self._add(
            _at(x, kept), _at(y, kept), name, mode="markers", marker=marker, showlegend=False,
            customdata=_numbers(values), hovertemplate="%{x}, %{y}: %{customdata}<extra></extra>",
        )  # fmt: skip

    def band(self, x, low, high, colour, opacity, name):
        """Fill the space between two curves, (n,) each."""
        x, low, high = (_at(values, _some(len(x), POINTS // 2)) for values in (x, low, high))
        known = np.isfinite(low) & np.isfinite(high)
        x, low, high = x[known], low[known], high[known]
        self._add(
            np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]), name, mode="lines",
            line={"width": 0, "color": colour}, fill="toself",
            fillcolor=_faded(colour, opacity), hoverinfo="skip",
        )  # fmt: skip

    def stack(self, x, parts, looks):
        """Fill shares of a whole one upon the other.

        Parameters
        ----------
        x : array_like, shape (n,)
        parts : Mapping of str to array_like, shape (n,)
        looks : Mapping of str to (colour, hatch)
            A hatch is one of plotly's, or empty; it tells areas apart in print.
        """
        kept = _some(len(x), POINTS // 4)
        for name, values in parts.items():
            colour, hatch = looks[name]
            pattern = {
                "shape": hatch, "bgcolor": colour, "fgcolor": "white", "size": 10, "solidity": 0.15,
            }  # fmt: skip
            self._add(
                _at(x, kept), _at(values, kept), name, mode="lines", fillcolor=colour,
                line={"width": 0.5, "color": "white"}, stackgroup=f"panel {len(self._panels)}",
                **({"fillpattern": pattern} if hatch else {}),
            )  # fmt: skip

    def bars(self, edges, counts, colour, name):
        """Draw a histogram: ``edges`` (n + 1,) and ``counts`` (n,)."""
        edges = np.asarray(edges, dtype=float)
        self._add(
            0.5 * (edges[1:] + edges[:-1]),
            counts,
            name,
            type="bar",
            width=_numbers(np.diff(edges)),
            marker={"color": colour, "line": {"width": 0.5, "color": "white"}},
        )

    def level(self, value, look, name):
        """Draw a horizontal line through the panel."""
        self._across("x", look, name, x0=0, x1=1, y0=float(value), y1=float(value))

    def mark(self, value, look, name):
        """Draw a vertical line through the panel."""
        self._across("y", look, name, y0=0, y1=1, x0=float(value), x1=float(value))

    def figure(self) -> Mapping[str, Any]:
        """Return ``data`` and ``layout`` for plotly."""
        inside, places = self._places()
        # The first panel's title stands in the margin, with the legend above it.
        title = _TITLE if self._panels[0].title else 6
        layout: dict[str, Any] = {
            "height": inside + title + _TOP + _BOTTOM, "autosize": True, "hovermode": self._hover,
            "margin": {"l": 48, "r": 16, "t": title + _TOP, "b": _BOTTOM},
            "font": {"family": "system-ui, sans-serif", "size": 12.5, "color": colours.SENSOR},
            "hoverlabel": {"namelength": -1}, "plot_bgcolor": "white", "paper_bgcolor": "white",
            "legend": {
                "orientation": "h", "x": 0, "y": 1.0 + title / inside,
                "xanchor": "left", "yanchor": "bottom", "font": {"size": 12},
            },
            "annotations": [], "shapes": [],
        }  # fmt: skip
        for number, (panel, (low, high)) in enumerate(zip(self._panels, places)):
            x, y = _axes(number)
            layout[_long(x)] = self._x_axis(number)
            layout[_long(y)] = {
                **_AXIS, "anchor": x, "domain": [low, high], "title": {"text": _said(panel.y)},
                **(self._logarithmic_ticks("y", [number]) if panel.logarithmic else {}),
                **({"scaleanchor": x} if panel.equal else {}),
                **({"range": list(panel.limits)} if panel.limits else {}),
            }  # fmt: skip
            if panel.title:
                layout["annotations"].append(
                    {
                        "text": f"<b>{_said(panel.title)}</b>", "x": 0, "y": high, "xref": "paper",
                        "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False,
                    }
                )  # fmt: skip
        for number, through, shape in self._shapes:
            x, y = _axes(number)
            ends = {"xref": x, "yref": y}
            ends[through + "ref"] += " domain"
            layout["shapes"].append({"type": "line", **ends, **shape})
        data = []
        for number, trace in self._traces:
            trace = {**trace, **dict(zip(("xaxis", "yaxis"), _axes(number)))}
            if "colorbar" in trace.get("marker", {}):
                low, high = places[number]
                trace["marker"]["colorbar"].update(y=0.5 * (low + high), len=high - low)
            data.append(trace)
        return {"data": data, "layout": layout}

    def _x_axis(self, number):
        panel = self._panels[number]
        last = number + 1 == len(self._panels)
        title = panel.x if panel.x is not None else self._x if last else ""
        shared = [place for place, other in enumerate(self._panels) if other.x is None]
        together = shared if number in shared else [number]
        axis = {
            **_AXIS, "anchor": _axes(number)[1], "title": {"text": _said(title)},
            "showticklabels": bool(panel.x is not None or last),
            **(self._logarithmic_ticks("x", together) if self._logarithmic else {}),
        }  # fmt: skip
        if number in shared[1:]:
            axis["matches"] = _axes(shared[0])[0]
        return axis

    def _logarithmic_ticks(self, axis, panels):
        values = [
            value
            for number, trace in self._traces
            if number in panels
            for value in trace[axis]
            if value is not None and value > 0.0
        ]
        decades = np.log10(max(values) / min(values)) if values else 0.0
        ticks = _TWOS_AND_FIVES if decades < 2.0 else 1 if decades < 8.0 else 2
        return {**_LOGARITHMIC, "dtick": ticks}

    def _places(self):
        """Height of all panels [pixels], and where in it each is, as shares from below."""
        inside = 0
        from_above = []
        for number, panel in enumerate(self._panels):
            inside += (_TITLE if panel.title else _GAP) if number else 0
            from_above.append((inside, inside + panel.height))
            inside += panel.height
            if panel.x is not None and number + 1 < len(self._panels):
                inside += _LABEL
        return inside, [(1.0 - low / inside, 1.0 - high / inside) for high, low in from_above]

    def _add(self, x, y, name, **trace):
        shown = {"showlegend": name not in self._shown}
        self._shown.add(name)
        self._traces.append(
            (
                len(self._panels) - 1,
                {
                    "type": "scatter", "x": _numbers(x), "y": _numbers(y), "name": _said(name),
                    "legendgroup": name, **shown, **trace,
                },
            )
        )  # fmt: skip

    def _across(self, through, look, name, **ends):
        shape = {
            "line": _line(look), "name": _said(name), "legendgroup": name, "layer": "above",
            "showlegend": name not in self._shown, **ends,
        }  # fmt: skip
        self._shown.add(name)
        self._shapes.append((len(self._panels) - 1, through, shape))


def _axes(number):
    suffix = "" if number == 0 else str(number + 1)
    return "x" + suffix, "y" + suffix


def _long(axis):
    return axis[0] + "axis" + axis[1:]


def _some(count, most):
    """Return an even choice of so many places, the last one among them."""
    return (
        np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(int)
    )


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


def _line(look, width=None) -> dict:
    points = look.get("linewidth", 1.5) if width is None else width
    line = {"color": _hexadecimal(look["color"]), "width": round(_PIXELS * points, 2)}
    dashes = look.get("linestyle", "-")
    if not isinstance(dashes, str):
        # In widths of the line.
        line["dash"] = ",".join(f"{max(1.0, part * line['width']):.1f}px" for part in dashes[1])
    return line


def _hexadecimal(colour) -> str:
    if isinstance(colour, str):
        return colour
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


def _faded(colour, opacity) -> str:
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({','.join(map(str, parts))},{opacity:g})"
