"""Figures of an ensemble of simulated yaw errors: bands, distributions and mean spectrum."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Sequence

import numpy as np

from ...core import colours
from ...report import style
from ...report.figure import Figure
from ..ensemble import Reduction
from ..judgement.curve_statistics import STATISTICS
from .limit_lines import draw_limit

_MAX_BINS = 60
_MAX_CURVES = 12


class ShownEnsemble(NamedTuple):
    """Statistics of an ensemble of yaw errors for plotting.

    Attributes
    ----------
    runs : int
        Number of runs.
    time : numpy.ndarray
        Times, shape (n,) [s].
    quantiles : mapping of float to numpy.ndarray
        Error by probability, shape (n,) [rad]: the median and the edges of the 50, 95 and 99 %
        bands, such as 0.025 and 0.975; a band without edges is not drawn.
    statistics : mapping of str to numpy.ndarray
        ``final``, ``maximum``, ``rms`` [rad], ``drift`` [rad/min], shape (runs,) each; missing
        statistics are not drawn.
    frequency, density : numpy.ndarray
        Frequency [Hz] and density [rad^2/Hz], shape (bands,) each, or empty.
    curve_time, curves : numpy.ndarray
        Times (m,) [s] and complete curves of some runs (kept, m) [rad], or empty.
    """

    runs: int
    time: np.ndarray
    quantiles: Mapping[float, np.ndarray]
    statistics: Mapping[str, np.ndarray]
    frequency: np.ndarray = np.empty(0)
    density: np.ndarray = np.empty(0)
    curve_time: np.ndarray = np.empty(0)
    curves: np.ndarray = np.empty((0, 0))

    @classmethod
    def from_reduction(cls, ensemble: Reduction, probabilities: Sequence[float]) -> ShownEnsemble:
        """Convert a reduced ensemble to the data for plotting.

        Parameters
        ----------
        ensemble : Reduction
            Reduced yaw errors of all runs.
        probabilities : sequence of float
            Probabilities of the quantiles.

        Returns
        -------
        ShownEnsemble
        """
        return cls(
            ensemble.runs,
            ensemble.time[ensemble.places],
            dict(zip(probabilities, ensemble.quantiles(probabilities).T)),
            ensemble.statistics,
            ensemble.frequency,
            ensemble.density.mean,
            ensemble.time,
            ensemble.curves,
        )


def ensemble_figure(ensemble: ShownEnsemble, title: str, limit: float) -> Figure:
    """Create a figure of yaw error bands, a histogram of final errors, and the mean spectrum.

    Parameters
    ----------
    ensemble : ShownEnsemble
        Reduced yaw errors of all runs, for figures.
    title : str
        Title.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
    """
    over_time, spectrum = ensemble_over_time(ensemble, limit), ensemble_spectrum(ensemble)
    final = Figure()
    _distribution(final, ensemble, "final", "Final error; 2.5, 50, 97.5 %", height=420)
    for value in np.quantile(np.degrees(ensemble.statistics["final"]), (0.025, 0.5, 0.975)):
        final.mark(value, style.THIN)
    panels = [*over_time.panels, *final.panels, *spectrum.panels]
    widths = (2.2, 1.1, 1.4)[: len(panels)]
    return Figure(title, over_time.x, widths=widths, width=2.8 * sum(widths), panels=panels)


def ensemble_over_time(ensemble: ShownEnsemble, limit: float) -> Figure:
    """Create a figure of yaw error bands over time, with the curves of some simulation runs.

    Parameters
    ----------
    ensemble : ShownEnsemble
        Reduced yaw errors of all runs, for figures.
    limit : float
        Limit of the yaw error [rad].

    Returns
    -------
    Figure
    """
    unit, name = style.choose_time_unit(ensemble.time[-1])
    figure = Figure(x=f"time [{name}]").panel("yaw error [deg]", height=360)
    largest_error = 0.0
    for level, opacity in style.BANDS:
        low, high = (_quantile(ensemble, 0.5 + side * 0.5 * level) for side in (-1.0, 1.0))
        if low is not None and high is not None:
            largest_error = max(largest_error, float(np.nanmax(np.abs([low, high]))))
            name = f"{100.0 * level:g} % of runs"
            figure.band(ensemble.time / unit, low, high, colours.SIMULATED, opacity, name)
    for curve in ensemble.curves[:_MAX_CURVES]:
        look = {"color": colours.LINE_GREY, "linewidth": 0.6}
        figure.line(ensemble.curve_time / unit, np.degrees(curve), look, "some runs")
    median = _quantile(ensemble, 0.5)
    if median is not None:
        figure.line(ensemble.time / unit, median, style.MEDIAN, "median")
    draw_limit(figure, limit, largest_error)
    return figure


def ensemble_distributions(ensemble: ShownEnsemble, observed: Mapping[str, float]) -> Figure:
    """Create histograms of the yaw error statistics, with marks at observed values.

    Parameters
    ----------
    ensemble : ShownEnsemble
        Reduced yaw errors of all runs, for figures.
    observed : mapping of str to float
        Observed value by statistic [rad, rad/min].

    Returns
    -------
    Figure
    """
    figure = Figure()
    for name, (description, _) in STATISTICS.items():
        if name in ensemble.statistics:
            _distribution(figure, ensemble, name, description.capitalize(), height=150)
            if name in observed:
                figure.mark(np.degrees(observed[name]), style.REAL, "observed")
    return figure


def _distribution(figure, ensemble, name, title, height):
    values = np.degrees(ensemble.statistics[name])
    # A few extreme values would compress the histogram of all other values.
    low, high = np.quantile(values, (0.0005, 0.9995))
    displayed_values = values[(values >= low) & (values <= high)]
    bins = int(np.clip(np.sqrt(len(displayed_values)), 5, _MAX_BINS))
    counts, edges = np.histogram(displayed_values, bins=bins)
    description, unit = STATISTICS[name]
    figure.panel("runs", title, x=f"{description} [{unit}]", height=height)
    figure.bars(edges, counts, colours.SIMULATED, "runs")


def ensemble_spectrum(ensemble: ShownEnsemble) -> Figure:
    """Create a figure of the mean power spectral density of an ensemble's yaw errors.

    Parameters
    ----------
    ensemble : ShownEnsemble
        Reduced yaw errors of all runs, for figures.

    Returns
    -------
    Figure
        The figure; empty without a density.
    """
    figure = Figure()
    density = np.degrees(1.0) ** 2 * np.asarray(ensemble.density)
    if np.any(density > 0.0):
        title = "Mean power spectral density"
        figure.panel("density [deg²/Hz]", title, x="frequency [Hz]", log="xy", height=280)
        figure.line(ensemble.frequency, density, style.SIMULATED, "mean of all runs", dots=True)
    elif len(density):
        figure.panel("density [deg²/Hz]", height=280, x="frequency [Hz]").message(
            "the errors do not change over time"
        )
    return figure


def _quantile(ensemble, probability):
    for level, values in ensemble.quantiles.items():
        if abs(level - probability) < 1e-9:
            return np.degrees(values)
    return None
