"""Figures of an Allan analysis: for each sensor, its three axes one above the other."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from imu_simulation_framework.characterisation.allan.model import (
    GAUSS_MARKOV,
    SYMBOLS,
    allan_variance_of_terms,
)
from imu_simulation_framework.report import colours
from imu_simulation_framework.report.drawing import label, make_figure, outside_legend
from imu_simulation_framework.sensors.triads import TRIADS

READ_OFF = (1.0, 3.0)
"""Averaging times [s] at which N and K are where their lines pass."""

_FIT = {"color": colours.SIMULATED, "linewidth": 1.8}
_SENSOR = {"color": colours.SENSOR, "linewidth": 1.1, "linestyle": (0, (2, 1.5))}
_LINES = {"color": colours.OUTSIDE, "marker": "x", "markersize": 4.0, "linestyle": "none"}
_OUTSIDE = {
    "color": colours.OUTSIDE, "marker": "o", "markersize": 9.0, "markerfacecolor": "none",
    "linestyle": "none",
}  # fmt: skip
_LIMIT = {"color": colours.SIMULATED, "linewidth": 1.4, "linestyle": (0, (5, 1.5))}
_OUTLIER = {
    "color": colours.OUTSIDE, "marker": "o", "markersize": 5.0, "markerfacecolor": "none",
    "linestyle": "none",
}  # fmt: skip
_IDENTIFIED, _UNSURE = 1.4, 0.6
"""Line widths of a term that the recording shows, and of one of which it only gives a limit."""

_TERM = "term"
_BELOW, _ABOVE = 4.0, 2.0
_NAMED_AT = {"random_walk": 0.8, "bias_instability": 0.5, GAUSS_MARKOV: 0.6}

_TERMS = {
    "quantisation": {"color": colours.QUANTISATION, "linestyle": (0, (1, 1.5))},
    "white_noise": {"color": colours.DARK_GREY, "linestyle": (0, (6, 2))},
    "bias_instability": {"color": colours.DIFFERENCE, "linestyle": (0, (4, 1.5, 1, 1.5))},
    "random_walk": {"color": colours.RANDOM_WALK, "linestyle": (0, (3, 2))},
    "rate_ramp": {"color": colours.RATE_RAMP, "linestyle": (0, (1, 3))},
    GAUSS_MARKOV: {"color": colours.GAUSS_MARKOV, "linestyle": (0, (5, 1, 1, 1, 1, 1))},
}


def raw_figure(recording, sensor):
    """Draw what was recorded at rest, the limits beyond which a sample is an outlier, and those.

    Beside each axis is the distribution of its deviations from the median of some seconds, with
    the quartiles from which the limits are counted.

    Parameters
    ----------
    recording : SamplesAtRest
    sensor : str
        ``gyroscope`` or ``accelerometer``.

    Returns
    -------
    Figure
    """
    names = [name for name in TRIADS[sensor].columns if name in recording.raw]
    unit = TRIADS[sensor].unit.replace("^2", "²")
    figure, axes = make_figure(
        len(names), height=1.3 + 2.3 * len(names), columns=2, gridspec_kw={"width_ratios": (3, 1)}
    )
    for name, axis, beside in zip(names, axes[::2], axes[1::2]):
        raw, count = recording.raw[name], recording.outliers[name].count
        _draw_raw(axis, raw)
        label(axis, y=f"{name} [{unit}]", title=f"{name}: {_outliers_text(count)}")
        _draw_distribution(beside, raw)
        label(beside, title="distribution")
    label(axes[-2], x="time after the first sample [s]")
    label(axes[-1], x=f"deviation [{unit}]")
    outside_legend(figure, axes, columns=3)
    return figure


def _outliers_text(count):
    return f"{count or 'no'} outlier{'' if count == 1 else 's'} replaced"


def _draw_raw(axis, raw):
    axis.fill_between(
        raw.times, np.append(raw.lowest, raw.lowest[-1]), np.append(raw.highest, raw.highest[-1]),
        step="post", color=colours.REAL, linewidth=0.0, label="recorded: lowest to highest",
    )  # fmt: skip
    for limit in raw.limits:
        if np.isfinite(limit):
            axis.plot(raw.times[:-1], raw.level + limit, label="limits of outliers", **_LIMIT)
    if len(raw.outliers):
        axis.plot(raw.outlier_times, raw.outliers, label="outliers", **_OUTLIER)


def _draw_distribution(axis, raw):
    axis.stairs(raw.counts, raw.edges, fill=True, color=colours.REAL, linewidth=0.0)
    for place, quartile in enumerate(raw.quartiles):
        axis.axvline(
            quartile, color=colours.LINE_GREY, linewidth=1.2, linestyle=(0, (2, 1)),
            label="" if place else "quartiles",
        )  # fmt: skip
    for limit in raw.limits:
        if np.isfinite(limit):
            axis.axvline(limit, **_LIMIT)
    axis.set_yscale("log")
    axis.set_ylabel("samples", fontsize=9)
    # No power of ten beside the axis, which would stand on its label.
    axis.xaxis.set_major_locator(MaxNLocator(2, symmetric=True))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2g}"))


def allan_figure(identification, sensor):
    """Allan deviation with its interval, the fit and its terms.

    Parameters
    ----------
    identification : AllanIdentification
    sensor : str
        ``gyroscope`` or ``accelerometer``.

    Returns
    -------
    Figure
    """
    names = identification.sensors[sensor]
    unit = TRIADS[sensor].unit.replace("^2", "²")
    figure, axes = make_figure(len(names), height=2.1 + 2.8 * len(names), sharex=True)
    for axis, name in zip(axes, names):
        _draw_axis(axis, identification, name)
        label(axis, y=f"Allan deviation [{unit}]", title=name)
    label(axes[-1], x="averaging time [s]")
    handles = {}
    for axis in axes:
        handles.update(zip(*reversed(axis.get_legend_handles_labels())))
    for name, width in (("term, identified", _IDENTIFIED), ("term, only a limit", _UNSURE)):
        if width in {line.get_linewidth() for axis in axes for line in _term_lines(axis)}:
            handles[name] = Line2D([], [], color=colours.DARK_GREY, linewidth=width)
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", ncol=3, fontsize=9,
        frameon=False, handlelength=3.2,
    )  # fmt: skip
    return figure


def _draw_axis(axis, identification, name):
    result = identification.axes[name]
    several = len(result.curves) > 1
    for number, curve in enumerate(result.curves):
        colour = colours.RECORDINGS[number % len(colours.RECORDINGS)]
        name = f"recording {number + 1}" if several else "recording"
        axis.fill_between(curve.tau, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0.0)
        if result.lines[number]:
            axis.plot(
                curve.tau, result.recorded[number], label="with its narrow lines", **_LINES
            )  # fmt: skip
        axis.plot(
            curve.tau, curve.deviation, "o", color=colour, markersize=3.0,
            label=f"{name}, shaded: 95 % interval",
        )  # fmt: skip
        band = result.bands[number]
        for limit in (band.low, band.high):
            axis.plot(
                band.tau, limit, color=colour, linewidth=0.7, alpha=0.7,
                label="" if number else "band for the identified sensor",
            )  # fmt: skip
    _draw_model(axis, identification, result)
    for place in result.departures:
        axis.plot(
            [place.tau], [place.ratio * np.interp(place.tau, result.curves[place.recording].tau,
            result.curves[place.recording].deviation)], label="outside the band", **_OUTSIDE,
        )  # fmt: skip
    axis.set_xscale("log")
    axis.set_yscale("log")
    smallest = min(curve.deviation.min() for curve in result.curves)
    largest = max(curve.deviation.max() for curve in result.curves)
    axis.set_ylim(smallest / _BELOW, largest * _ABOVE)
    _mark_points(axis, result)


def _draw_model(axis, identification, result):
    """Return the fit with its terms, and the sensor that is written."""
    fit = result.fit
    tau = result.curves[0].tau
    dense = np.geomspace(tau[0], tau[-1], 200)
    time = fit.gauss_markov_time
    shapes = allan_variance_of_terms(
        dense, 1.0 / identification.rate, identification.band, time and time.value
    )
    for term, shape, square in zip(fit.terms, shapes.T, fit.squares):
        if square <= 0.0:
            continue
        deviation = np.sqrt(shape * square)
        axis.plot(
            dense, deviation, gid=_TERM, **_TERMS[term],
            linewidth=_IDENTIFIED if fit.terms[term].identified else _UNSURE,
        )  # fmt: skip
        _name_line(axis, result, dense, deviation, term)
    described = dense >= fit.start
    total = shapes[described] @ fit.squares
    axis.plot(dense[described], np.sqrt(np.maximum(total, 0.0)), label="fit", **_FIT)
    axis.plot(dense, np.sqrt(shapes @ result.squares), label="identified sensor", **_SENSOR)
    if fit.start > tau[0]:
        axis.axvspan(tau[0], fit.start, color=colours.SHADE, alpha=0.05, linewidth=0.0,
                     label="not described")  # fmt: skip
    words = (
        [f"model error {50.0 * fit.model_error:.1f} % of the deviation"] if fit.model_error else []
    )
    if time:
        words.append(f"Gauss-Markov {time.value:.0f} s")
    lines = sum(map(len, result.lines))
    if lines:
        words.append(f"{lines} line{'s' if lines > 1 else ''} left out")
    axis.annotate(
        ", ".join(words), (0.99, 1.0), xycoords="axes fraction", fontsize=9, ha="right",
        va="bottom", xytext=(0, 4), textcoords="offset points",
    )  # fmt: skip


def _term_lines(axis):
    return [line for line in axis.get_lines() if line.get_gid() == _TERM]


def _name_line(axis, result, tau, deviation, term):
    """Write a term's letter near the end of its line where that is within the figure."""
    low = min(curve.deviation.min() for curve in result.curves) / _BELOW
    high = max(curve.deviation.max() for curve in result.curves) * _ABOVE
    inside = np.flatnonzero((deviation > 1.2 * low) & (deviation < high / 1.2))
    if len(inside):
        # Of lines that end at the same place each has its own.
        at = inside[int(_NAMED_AT.get(term, 1.0) * (len(inside) - 1))]
        axis.annotate(
            SYMBOLS[term], (tau[at], deviation[at]), xytext=(0, 3), textcoords="offset points",
            fontsize=9, fontweight="bold", color=_TERMS[term]["color"], ha="center",
        )  # fmt: skip


def _mark_points(axis, result):
    """Return the lines of white noise and random walk where they have the values N and K."""
    tau = result.curves[0].tau
    names = list(result.fit.terms)
    for time, term in zip(READ_OFF, ("white_noise", "random_walk")):
        axis.axvline(time, color=colours.LINE_GREY, linewidth=0.6)
        axis.annotate(
            f"{time:g} s", (time, 0.02), xycoords=("data", "axes fraction"), fontsize=8,
            color=colours.TEXT_GREY, xytext=(2, 0), textcoords="offset points",
        )  # fmt: skip
        value = np.sqrt(max(0.0, result.fit.squares[names.index(term)]))
        if tau[0] <= time <= tau[-1] and value > 0.0:
            axis.plot(
                [time], [value], "s", markersize=6, markerfacecolor="none", zorder=5,
                markeredgecolor=colours.DARK_GREY, clip_on=True,
                label="N at 1 s, K at 3 s",
            )  # fmt: skip
