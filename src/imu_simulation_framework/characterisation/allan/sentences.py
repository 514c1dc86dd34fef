"""Text output of an Allan analysis: coefficients, findings, and departures from the measurement."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from ...core.sentences import format_duration
from ...sensors.triads import TRIADS
from . import analysis
from .axis import LONGEST_SHARE, SHORTEST
from .model import GAUSS_MARKOV, SYMBOLS, TERMS

NOT_IDENTIFIABLE = "not identifiable from this recording"
HIDDEN = "unknown, hidden behind the sensor's low-pass filter or resonances"

AXIS_TRIADS = {axis: TRIADS[sensor] for sensor, axes in analysis.SENSORS.items() for axis in axes}
"""Triad to which each axis belongs, keyed by the name of the axis, such as ``gyro_x``."""

_SHOWN_LINES = 5


def format_coefficients(identification) -> Iterator[str]:
    """Yield the lines of a table of all noise coefficients, for the terminal.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.

    Yields
    ------
    str
    """
    for sensor, names in identification.sensors.items():
        triad, axes = TRIADS[sensor], {name: identification.axes[name] for name in names}
        for term in TERMS:
            unit, factor = triad.datasheet(term)
            title = f"{SYMBOLS[term]} {term.replace('_', ' ')}"
            yield f"{sensor}, {title} [{triad.unit_of(term)}], [{unit}]"
            for axis in names:
                yield f"  {axis}  {format_coefficient(axes[axis], term, factor)}"
        fits = {axis: axes[axis].fit for axis in names if GAUSS_MARKOV in axes[axis].fit.terms}
        unit, factor = triad.datasheet("bias_instability")
        if fits:
            yield f"{sensor}, Gauss-Markov sigma [{triad.unit}], [{unit}]"
        for axis, fit in fits.items():
            sigma, time = fit.terms[GAUSS_MARKOV], fit.gauss_markov_time
            yield (
                f"  {axis}  {sigma.value:10.3e}  ({sigma.low:.3e} to {sigma.high:.3e})"
                f"  {sigma.value * factor:10.4g}  correlation time {time.value:.0f} s"
                f" ({time.low:.0f} to {time.high:.0f} s)"
            )


def format_coefficient(result, term, factor) -> str:
    """Format a noise coefficient of one axis with its 95 % interval, in SI and data sheet units.

    Parameters
    ----------
    result : AxisResult
        Analysis of the axis.
    term : str
        Name of the coefficient.
    factor : float
        Factor from the SI unit to the unit of data sheets.

    Returns
    -------
    str
    """
    estimate = result.fit.terms[term]
    if estimate.identified:
        value = estimate.value * (result.ramp_sign if term == "rate_ramp" else 1.0)
        return (
            f"{value:10.3e}  ({estimate.low:.3e} to {estimate.high:.3e})"
            f"  {value * factor:10.4g}  ({estimate.low * factor:.4g} to "
            f"{estimate.high * factor:.4g})"
        )
    if term not in result.needed:
        return HIDDEN
    coefficient = result.signed_coefficient(term)
    kept = f"; {coefficient:.2e} is written to match the measured curve" if coefficient else ""
    limit = "no upper limit"
    if np.isfinite(estimate.high):
        limit = f"below {estimate.high:.2e} ({estimate.high * factor:.3g})"
    needed = result.needed[term]
    value = f"{needed.value:.1e} ({needed.value * factor:.2g})"
    requirement = f"to identify {value}, even a one-month recording would be too short"
    if np.isfinite(needed.duration):
        duration = format_duration(needed.duration)
        requirement = f"to identify {value}, a recording of about {duration} would be needed"
    return f"{NOT_IDENTIFIABLE}: {limit}; {requirement}{kept}"


def _format_count(items, name) -> str:
    return f"{len(items)} {name}{'s' if len(items) > 1 else ''}"


def describe_recordings(identification) -> Iterator[str]:
    """Yield messages on each recording, its outliers, and the noise model of each axis.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.

    Yields
    ------
    str
        Message for the user.
    """
    for recording in identification.recordings:
        yield (
            f"{recording.source}: {recording.duration / 3600.0:.3f} h at {recording.rate:.4f} Hz "
            f"in {_format_count(recording.parts, 'part')}"
        )
        yield from recording.remarks
        for name, finding in recording.outliers.items():
            if finding:
                yield (
                    f"{name}: {finding.count} outlier{'s' if finding.count > 1 else ''} replaced "
                    f"by the local median, the first at {finding.first_time:.2f} s"
                )
    for name, result in identification.axes.items():
        yield from _fit_findings(identification, name, result)


def _fit_findings(identification, name, result):
    fit = result.fit
    for recording, lines in zip(identification.recordings, result.lines):
        if lines:
            place = f" of {recording.source}" if len(result.lines) > 1 else ""
            yield (
                f"{name}{place}: {_format_count(lines, 'narrow line')} removed "
                f"from the spectrum, {format_spectral_lines(lines, name)}"
            )
    if fit.start:
        time = fit.gauss_markov_time
        process = f" and a Gauss-Markov process (time {time.value:.0f} s)" if time else ""
        error = (
            f" within {100.0 * fit.model_error:.1f} % of the Allan variance"
            if fit.model_error
            else ""
        )
        yield (
            f"{name}: the standard terms alone do not describe this sensor; together with a "
            f"1/tau^2 term of either sign for its filter{process}, they describe it{error} from "
            f"{fit.start:.3g} s on"
        )
    yield from _model_findings(name, fit)
    if not fit.describes:
        yield (
            f"{name}: the mean square of the residuals is {fit.misfit:.1f}, expected 1: the terms "
            "do not describe this Allan deviation, so the intervals are widened accordingly; "
            "compare the curves in the figure"
        )
    if result.unidentified_terms:
        symbols = ", ".join(SYMBOLS[term] for term in result.unidentified_terms)
        yield (
            f"{name}: {symbols} written although not identified individually, because the "
            "simulated sensor would deviate from the measured curve without this noise"
        )


def _model_findings(name, fit):
    """Yield messages on alternative models of an axis' slow noise."""
    process = fit.terms.get(GAUSS_MARKOV)
    if process and not fit.start:
        time = fit.gauss_markov_time
        yield (
            f"{name}: a Gauss-Markov process with a correlation time of {time.value:.0f} s "
            "describes the slow noise best"
            + ("" if process.identified else "; flicker noise or a random walk is not ruled out")
        )
    if fit.time_like_walk:
        yield (
            f"{name}: a Gauss-Markov process with a correlation time of {fit.time_like_walk:.0f} s "
            "or more would describe this recording as well as the random walk does; a longer "
            "recording can distinguish them"
        )


def format_spectral_lines(lines, axis) -> str:
    """Format the frequencies and amplitudes of the strongest spectral lines.

    Parameters
    ----------
    lines : sequence of SpectralLine
        Lines, the strongest first.
    axis : str
        Name of the axis.

    Returns
    -------
    str
    """
    unit = AXIS_TRIADS[axis].unit
    texts = [f"{line.frequency:.4g} Hz ({line.amplitude:.2g} {unit})" for line in lines]
    weaker = len(texts) - _SHOWN_LINES
    return ", ".join(texts[:_SHOWN_LINES]) + (f" and {weaker} weaker" if weaker > 0 else "")


def describe_departures(identification) -> Iterator[str]:
    """Yield a message for each axis whose model leaves the confidence band of the Allan deviation.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.

    Yields
    ------
    str
        Message for the user.
    """
    for name, result in identification.axes.items():
        if result.departures:
            worst = max(result.departures, key=lambda d: abs(np.log(max(d.ratio, 1e-300))))
            times = [departure.tau for departure in result.departures]
            yield (
                f"{name}: the identified sensor's Allan deviation is outside the measured band at "
                f"{_format_count(times, 'averaging time')} from {min(times):.3g} to "
                f"{max(times):.3g} s; the largest departure is at {worst.tau:.3g} s, "
                f"{worst.ratio:.2f} times the measured value (compared from {SHORTEST:g} s to "
                f"1/{LONGEST_SHARE:g} of the recording)"
            )
