"""Figures of an Allan analysis, with one panel for each axis of a sensor."""

import numpy as np

from ...core import colours
from ...report.figure import Figure
from ...sensors.triads import TRIADS
from . import model

_READING_TIMES = (1.0, 3.0)  # s; averaging times at which N and K are read from their asymptotes
_FIT = {"color": colours.SIMULATED, "linewidth": 1.8}
_SENSOR = {"color": colours.SENSOR, "linewidth": 1.1, "linestyle": (0, (2, 1.5))}
_LIMIT = {"color": colours.SIMULATED, "linewidth": 1.4, "linestyle": (0, (5, 1.5))}
_THIN_GREY = {"color": colours.LINE_GREY, "linewidth": 0.6}
_QUARTILE = {"color": colours.LINE_GREY, "linewidth": 1.2, "linestyle": (0, (2, 1))}
# Ratios of the vertical axis limits to the smallest and the largest deviation.
_LOWER_MARGIN, _UPPER_MARGIN = 4.0, 2.0
# Position of each noise term's letter along its line, from 0 to 1, so that letters do not overlap.
_LABEL_POSITIONS = {"random_walk": 0.8, "bias_instability": 0.5, model.GAUSS_MARKOV: 0.6}
_TERMS = {
    "quantisation": {"color": colours.QUANTISATION, "linestyle": (0, (1, 1.5))},
    "white_noise": {"color": colours.DARK_GREY, "linestyle": (0, (6, 2))},
    "bias_instability": {"color": colours.DIFFERENCE, "linestyle": (0, (4, 1.5, 1, 1.5))},
    "random_walk": {"color": colours.RANDOM_WALK, "linestyle": (0, (3, 2))},
    "rate_ramp": {"color": colours.RATE_RAMP, "linestyle": (0, (1, 3))},
    model.GAUSS_MARKOV: {"color": colours.GAUSS_MARKOV, "linestyle": (0, (5, 1, 1, 1, 1, 1))},
}


def raw_figure(recording, sensor) -> Figure:
    """Create the figure of a recording at rest, with its outliers and the outlier limits.

    The panel to the right of each axis shows the distribution of the deviations from the ten-second
    median, with the quartiles from which the limits are computed.

    Parameters
    ----------
    recording : SamplesAtRest
        Recording with its outliers.
    sensor : str
        ``gyroscope`` or ``accelerometer``.

    Returns
    -------
    Figure
    """
    unit = TRIADS[sensor].unit.replace("^2", "²")
    figure = Figure(x="time after the first sample [s]", widths=(3.0, 1.0))
    for name in TRIADS[sensor].columns:
        if name not in recording.raw:
            continue
        raw, count = recording.raw[name], recording.outliers[name].count
        limits = [limit for limit in raw.limits if np.isfinite(limit)]
        title = f"{name}: {count or 'no'} outlier{'' if count == 1 else 's'} replaced"
        figure.panel(f"{name} [{unit}]", title, height=230)
        low, high = np.repeat(raw.lowest, 2), np.repeat(raw.highest, 2)
        times = np.repeat(raw.times, 2)[1:-1]
        figure.band(times, low, high, colours.REAL, 1.0, "recorded: minimum to maximum")
        for limit in limits:
            figure.line(raw.times[:-1], raw.level + limit, _LIMIT, "outlier limits")
        if len(raw.outliers):
            positions = raw.outlier_times, raw.outliers
            figure.points(*positions, colours.OUTSIDE, "outliers", 6, "circle-open")
        tick = float(f"{0.5 * np.max(np.abs(raw.edges)):.1g}")
        ticks = (-tick, 0.0, tick)
        figure.panel("samples", "distribution", x=f"deviation [{unit}]", log="y", ticks=ticks)
        figure.bars(raw.edges, raw.counts, colours.REAL)
        for quartile in raw.quartiles:
            figure.mark(quartile, _QUARTILE, "quartiles")
        for limit in limits:
            figure.mark(limit, _LIMIT)
    return figure


def allan_figure(identification, sensor) -> Figure:
    """Create the figure of the Allan deviation, with intervals, fit and individual noise terms.

    Parameters
    ----------
    identification : AllanIdentification
        Result of the analysis.
    sensor : str
        ``gyroscope`` or ``accelerometer``.

    Returns
    -------
    Figure
    """
    unit = TRIADS[sensor].unit.replace("^2", "²")
    figure = Figure(x="averaging time [s]")
    for name in identification.sensors[sensor]:
        result = identification.axes[name]
        limits = (
            min(curve.deviation.min() for curve in result.curves) / _LOWER_MARGIN,
            max(curve.deviation.max() for curve in result.curves) * _UPPER_MARGIN,
        )
        title = ", ".join([name, *_title_parts(result)])
        figure.panel(f"Allan deviation [{unit}]", title, log="xy", limits=limits, height=280)
        _draw_measurement(figure, result)
        _draw_fit(figure, identification, result, limits)
        _mark_coefficients(figure, result, limits)
    return figure


def _title_parts(result):
    fit, lines = result.fit, sum(map(len, result.lines))
    if fit.model_error:
        yield f"model error {50.0 * fit.model_error:.1f} % of the deviation"
    if fit.gauss_markov_time:
        yield f"Gauss-Markov {fit.gauss_markov_time.value:.0f} s"
    if lines:
        yield f"{lines} spectral line{'s' if lines > 1 else ''} removed"


def _draw_measurement(figure, result):
    for number, (curve, band) in enumerate(zip(result.curves, result.bands)):
        colour = colours.RECORDINGS[number % len(colours.RECORDINGS)]
        name = f"recording {number + 1}" if len(result.curves) > 1 else "recording"
        figure.band(curve.tau, curve.low, curve.high, colour, 0.18)
        if result.lines[number]:
            recorded = result.recorded[number]
            figure.points(
                curve.tau, recorded, colours.OUTSIDE, "before removing spectral lines", 5, "x"
            )
        figure.points(curve.tau, curve.deviation, colour, f"{name}, shaded: 95 % interval")
        look = {"color": colour, "linewidth": 0.7, "alpha": 0.7}
        for limit in (band.low, band.high):
            figure.line(band.tau, limit, look, "" if number else "band for the identified sensor")
    for departure in result.departures:
        tau, curve = departure.tau, result.curves[departure.recording]
        value = departure.ratio * np.interp(tau, curve.tau, curve.deviation)
        figure.points([tau], [value], colours.OUTSIDE, "outside the band", 11, "circle-open")


def _draw_fit(figure, identification, result, limits):
    fit, tau = result.fit, result.curves[0].tau
    dense = np.geomspace(tau[0], tau[-1], 200)
    time = fit.gauss_markov_time
    shapes = model.allan_variance_of_terms(
        dense, 1.0 / identification.rate, identification.band, time and time.value
    )
    for term, shape, square in zip(fit.terms, shapes.T, fit.squares):
        if square <= 0.0:
            continue
        deviation = np.sqrt(shape * square)
        identified = fit.terms[term].identified
        look = {**_TERMS[term], "linewidth": 1.4 if identified else 0.6}
        name = "identified term" if identified else "upper limit of a term"
        figure.line(dense, deviation, look, name)
        # The letter of a term is placed near the end of the visible part of its line.
        inside = np.flatnonzero((deviation > 1.2 * limits[0]) & (deviation < limits[1] / 1.2))
        if len(inside):
            index = inside[int(_LABEL_POSITIONS.get(term, 1.0) * (len(inside) - 1))]
            figure.text(dense[index], deviation[index], model.SYMBOLS[term], look["color"])
    described = dense >= fit.start
    total = np.sqrt(np.maximum(shapes[described] @ fit.squares, 0.0))
    figure.line(dense[described], total, _FIT, "fit")
    figure.line(dense, np.sqrt(shapes @ result.squares), _SENSOR, "identified sensor")
    if fit.start > tau[0]:
        figure.span(tau[0], fit.start, colours.SHADE, 0.05, "excluded from the fit")


def _mark_coefficients(figure, result, limits):
    """Mark the points at which N and K are read from the white noise and random walk lines."""
    tau = result.curves[0].tau
    squares = dict(zip(result.fit.terms, result.fit.squares))
    for time, term in zip(_READING_TIMES, ("white_noise", "random_walk")):
        figure.mark(time, _THIN_GREY)
        figure.text(time, 1.05 * limits[0], f"{time:g} s", colours.TEXT_GREY)
        value = np.sqrt(max(0.0, squares[term]))
        if tau[0] <= time <= tau[-1] and value > 0.0:
            name = "N at 1 s, K at 3 s"
            figure.points([time], [value], colours.DARK_GREY, name, 7, "square-open")
