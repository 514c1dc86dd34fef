"""Identifying the noise of one axis, and whether what was found fits.

The standard terms where they do, what else there is if not. Into the specification of the
identified sensor go the coefficients that are identified, as a rule. But where two slow terms can
stand for each other neither is identified, and without both the sensor would have no slow drift at
all: then the terms of the fit go in as they are, and if even these are far from the curve, those
closest to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import nnls
from scipy.stats import chi2, norm

from . import extended
from . import model as allan_model
from .fit import CONFIDENCE, DETECTION_DEVIATIONS, AllanFit, AllanProblem, fit_terms
from .slow_noise import SlowNoiseLikelihood

SHORTEST = 1.0
"""The comparison begins here [s]..."""
LONGEST_SHARE = 10.0
"""...and ends at this part of the longest contiguous part."""

_LEVEL = 0.05
# Two sensors of one batch differ by more than this share of the Allan variance.
_NEGLIGIBLE = 0.02


@dataclass(frozen=True)
class AllanBand:
    """Within these limits lies the true Allan deviation, at all its averaging times together.

    ``tau``, ``deviation``, ``low`` and ``high`` (n,) are from 1 s to a tenth of the recording.
    """

    tau: np.ndarray
    deviation: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def excess(self, deviation) -> np.ndarray:
        """Return how far another deviation is outside, as a logarithm; negative inside."""
        return np.maximum(np.log(deviation / self.high), np.log(self.low / deviation))


@dataclass(frozen=True)
class Departure:
    """Where the identified sensor leaves the band: averaging time [s], and how far.

    ``recording`` is counted from 0; ``ratio`` is the identified over the measured Allan deviation.
    """

    recording: int
    tau: float
    ratio: float


def measured_band(
    curve: allan_model.AllanCurve, longest, comparisons, model_error=0.0
) -> AllanBand:
    """Widen an Allan deviation's interval to one for many comparisons and a model's error.

    ``longest`` is the longest contiguous part [s]. All of so many ``comparisons`` hold with 95 %
    (Sidak). ``model_error`` is relative, of the Allan variance; 2 % at least.
    """
    seen = (curve.tau >= SHORTEST) & (curve.tau <= longest / LONGEST_SHARE)
    deviation, freedom = curve.deviation[seen], curve.degrees_of_freedom[seen]
    tail = 0.5 * (1.0 - (1.0 - _LEVEL) ** (1.0 / max(1, comparisons)))
    allowed = 0.5 * norm.isf(tail) * max(model_error, _NEGLIGIBLE)
    up = 0.5 * np.log(freedom / chi2.ppf(tail, freedom))
    down = 0.5 * np.log(chi2.isf(tail, freedom) / freedom)
    return AllanBand(
        curve.tau[seen],
        deviation,
        deviation * np.exp(-np.hypot(down, allowed)),
        deviation * np.exp(np.hypot(up, allowed)),
    )


IDENTIFIED, FITTED, CLOSEST = "identified", "fitted", "closest to the curve"


def chosen_coefficients(fit, bands, shapes_at):
    """Return squared coefficients of a sensor whose curve lies inside the measured bands.

    ``bands`` (sequence of AllanBand): of each recording, not widened by an error of the model;
    ``shapes_at``: from averaging times [s] to the Allan variances of the terms, shape (n, terms).
    Returns ``squares`` (terms,): of the first choice that lies inside, or else is the least
    outside; ``choice``: ``IDENTIFIED``, ``FITTED`` or ``CLOSEST``.
    """
    names = list(fit.terms)
    identified = np.array([fit.terms[name].identified for name in names])
    fitted = np.maximum(fit.squares, 0.0)
    if not fit.terms[allan_model.TERMS[0]].identified:
        # Next to a filter the data may show any quantisation.
        fitted[0] = 0.0
    # A ramp is the same in every run of the simulated sensor: not without need.
    steady = np.where(identified | (np.array(names) != allan_model.TERMS[4]), fitted, 0.0)
    choices = [(np.where(identified, fitted, 0.0), IDENTIFIED), (steady, FITTED), (fitted, FITTED)]
    shapes = [shapes_at(band.tau) for band in bands]
    outside = []
    for squares, choice in choices:
        outside.append(_outside(squares, bands, shapes))
        if outside[-1] <= 0.0:
            return squares, choice
    closest = _closest(bands, shapes)
    choices.append((closest, CLOSEST))
    outside.append(_outside(closest, bands, shapes))
    return choices[int(np.argmin(outside))]


def _outside(squares, bands, shapes):
    with np.errstate(divide="ignore"):
        deviations = [np.sqrt(columns @ squares) for columns in shapes]
        excess = [band.excess(one).max(initial=0.0) for band, one in zip(bands, deviations)]
    return max(0.0, *excess)


def _closest(bands, shapes):
    """Non-negative coefficients with the least square of errors relative to the bands' widths."""
    rows, targets = [], []
    for band, columns in zip(bands, shapes):
        width = np.log(band.high / band.low)
        rows.append(columns[:, 1:] / (band.deviation**2 * width)[:, None])
        targets.append(1.0 / width)
    matrix = np.concatenate(rows)
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0.0] = 1.0
    return np.append(0.0, nnls(matrix / scale, np.concatenate(targets))[0] / scale)


@dataclass(frozen=True)
class NeededDuration:
    """How long to record [s] to identify a term that was not; infinite if a month is not enough.

    ``value`` is the coefficient that is assumed: the estimate, or half the upper limit where that
    is far below it.
    """

    value: float
    duration: float


@dataclass(frozen=True)
class AxisResult:
    """What is known of one axis.

    ``fit`` is one to all recordings together, ``single_fits`` are those to each alone, if there are
    several. For each recording there are ``lines`` that were taken out of it before the fit,
    ``curves`` without them, the Allan deviations with them as ``recorded`` at the same averaging
    times, and ``bands`` where the identified sensor's is expected. ``squares`` (terms,) are the
    squared coefficients of that sensor, ``choice`` says why these (see
    :func:`chosen_coefficients`), and ``departures`` where it leaves a band. ``needed`` has each of
    the five terms that is not identified, but for a quantisation hidden by the sensor's filter;
    ``ramp_sign`` is 1 or -1: whether the reading grew or fell over the recordings.
    """

    fit: AllanFit
    single_fits: tuple[AllanFit, ...]
    lines: tuple[tuple[extended.SpectralLine, ...], ...]
    curves: tuple[allan_model.AllanCurve, ...]
    recorded: tuple[np.ndarray, ...]
    bands: tuple[AllanBand, ...]
    squares: np.ndarray
    choice: str
    departures: tuple[Departure, ...]
    needed: dict[str, NeededDuration]
    ramp_sign: float

    def signed(self, term) -> float:
        """Return the coefficient of a term in the identified sensor, 0 if it has none."""
        names = list(self.fit.terms)
        if term not in names:
            return 0.0
        value = float(np.sqrt(self.squares[names.index(term)]))
        return value * (self.ramp_sign if term == "rate_ramp" and value else 1.0)

    @property
    def without_identification(self) -> tuple[str, ...]:
        """Terms that the identified sensor has although none of them is identified alone."""
        if self.choice == IDENTIFIED:
            return ()
        return tuple(
            name
            for name, square in zip(self.fit.terms, self.squares)
            if square > 0.0 and not self.fit.terms[name].identified
        )


class RecordingModel:
    """What all axes of a recording share; ``band`` is that of the bias instability [s]."""

    def __init__(self, recording, band):
        self.recording = recording
        self.band = band
        self.period = 1.0 / recording.rate
        self.factors = allan_model.averaging_factors(max(recording.lengths))
        self.tau = self.factors * self.period
        self.longest = max(recording.lengths) * self.period
        self._terms = {}

    def terms(self, gauss_markov_time=None):
        """Allan variances of the terms, and their covariance."""
        if gauss_markov_time not in self._terms:
            model = (self.period, self.band, gauss_markov_time)
            self._terms[gauss_markov_time] = (
                allan_model.allan_variance_of_terms(self.tau, *model),
                allan_model.allan_covariance(self.factors, self.recording.lengths, *model),
            )
        return self._terms[gauss_markov_time]

    def parts(self, axis):
        """Return the contiguous parts of one axis."""
        values = self.recording.values[axis]
        return [values[start:stop] for start, stop in self.recording.parts]

    def variance(self, parts):
        """Return the overlapping Allan variance of contiguous parts."""
        return allan_model.overlapping_allan_variance(parts, self.recording.rate, self.factors)

    def curve(self, variance, fit) -> allan_model.AllanCurve:
        """Return the Allan deviation with its interval."""
        time = fit.gauss_markov_time
        shapes = self.terms(time and time.value)[0] * np.maximum(fit.squares, 0.0)
        contributions = dict(zip(fit.terms, shapes.T))
        contributions.pop(allan_model.GAUSS_MARKOV, None)
        freedom = allan_model.equivalent_degrees_of_freedom(
            self.recording.lengths, self.factors, contributions
        )
        return allan_model.allan_curve(self.tau, variance, freedom, CONFIDENCE)


def identify_axis(models, axis, variances, planner, comparisons) -> AxisResult:
    """Identify the terms of one axis from the overlapping Allan ``variances`` of each recording.

    ``comparisons`` is the number of averaging times of all axes at which the result is compared
    with what was measured.
    """
    recorded = tuple(np.sqrt(variance) for variance in variances)
    lines = ((),) * len(models)
    parts = [model.parts(axis) for model in models]
    fit = _fit_standard_terms(models, variances, comparisons)
    if fit is None:
        variances, lines, parts = _without_lines(models, parts, variances)
        fit = _fit_standard_terms(models, variances, comparisons) if any(lines) else None
    data = np.concatenate(variances), lambda time: _joined(models, time)
    duration = max(model.longest for model in models)
    rates = [model.recording.rate for model in models]
    slow_noise = SlowNoiseLikelihood(list(zip(parts, rates)), models[0].band)
    if fit is None:
        tau = np.concatenate([model.tau for model in models])
        fit = extended.fit_real_sensor(tau, *data, duration)
        fit = extended.require_support(fit, duration, slow_noise)
    else:
        fit = extended.weigh_slow_terms(fit, *data, duration, slow_noise)
    single = [
        _fit_alike(model, variance, fit)
        for model, variance in zip(models, variances)
        if len(models) > 1
    ]
    curves = tuple(model.curve(value, fit) for model, value in zip(models, variances))
    squares, choice, bands, departures = _sensor(models, curves, fit, comparisons)
    hidden = {allan_model.TERMS[0]} if np.isinf(fit.terms[allan_model.TERMS[0]].high) else set()
    needed = {
        term: _needed(planner, fit, term)
        for term in allan_model.TERMS
        if not fit.terms[term].identified and term not in hidden
    }
    rise = 0.0
    for part in (one for model in models for one in model.parts(axis)):
        half = len(part) // 2
        rise += float(np.mean(part[half:]) - np.mean(part[:half])) * len(part)
    measured = (tuple(single), lines, curves, recorded, bands)
    sign = -1.0 if rise < 0.0 else 1.0
    return AxisResult(fit, *measured, squares, choice, departures, needed, sign)


def _joined(models, time):
    shapes, covariances = zip(*(model.terms(time) for model in models))
    if len(models) == 1:
        return shapes[0], covariances[0].of
    return (
        np.concatenate(shapes),
        lambda squares: block_diag(*(covariance.of(squares) for covariance in covariances)),
    )


def _fit_standard_terms(models, single_variances, comparisons):
    """Return the fit of the standard terms, None if the data reject it."""
    variances = np.concatenate(single_variances)
    shapes, covariances = _joined(models, None)
    fit = fit_terms(variances, shapes, covariances)
    if not fit.describes:
        return None
    if fit.squares[0] == 0.0:
        # A weak low-pass filter moves N by more than its interval before the fit as a whole fails.
        plain = AllanProblem(variances, shapes, covariances)
        free = AllanProblem(variances, shapes, covariances, smoothing=True)
        gain = plain.deviance(fit.squares) - free.deviance(free.solve())
        if gain > DETECTION_DEVIATIONS**2:
            return None
    # Squares of the residuals hardly notice a fit far above few degrees of freedom.
    for model, variance in zip(models, single_variances):
        band = measured_band(model.curve(variance, fit), model.longest, comparisons)
        curve = (
            allan_model.allan_variance_of_terms(band.tau, model.period, model.band) @ fit.squares
        )
        if np.any(band.excess(np.sqrt(curve)) > 0.0):
            return None
    return fit


def _without_lines(models, parts, variances):
    cleaned, lines, remaining = [], [], []
    for model, own, variance in zip(models, parts, variances):
        own, found = extended.remove_lines(own, model.recording.rate)
        cleaned.append(model.variance(own) if found else variance)
        lines.append(found)
        remaining.append(own)
    return cleaned, tuple(lines), remaining


def _fit_alike(model, variance, fit) -> AllanFit:
    """Fit one recording alone, with the choices made for all of them."""
    time = fit.gauss_markov_time
    shapes, covariance = model.terms(time and time.value)
    if not fit.start:
        return fit_terms(variance, shapes, covariance.of)
    error = fit.model_error
    return extended.fit_from(fit.start, model.tau, variance, shapes, covariance.of, error)


def _sensor(models, curves, fit, comparisons):
    """Coefficients of the identified sensor, and where its Allan deviation leaves the bands."""
    time = fit.gauss_markov_time

    def shapes_at(tau):
        band = models[0].band
        return allan_model.allan_variance_of_terms(tau, models[0].period, band, time and time.value)

    pairs = list(zip(models, curves))
    narrow = [measured_band(curve, model.longest, comparisons) for model, curve in pairs]
    squares, choice = chosen_coefficients(fit, narrow, shapes_at)
    bands = tuple(
        measured_band(curve, model.longest, comparisons, fit.model_error) for model, curve in pairs
    )
    departures = []
    for number, band in enumerate(bands):
        deviation = np.sqrt(shapes_at(band.tau) @ squares)
        with np.errstate(divide="ignore"):
            outside = np.flatnonzero(band.excess(deviation) > 0.0)
        departures += [
            Departure(number, float(band.tau[i]), float(deviation[i] / band.deviation[i]))
            for i in outside
        ]
    return squares, choice, bands, tuple(departures)


def _needed(planner, fit, term) -> NeededDuration:
    estimate = fit.terms[term]
    assumed = estimate.value
    if np.isfinite(estimate.high):
        assumed = assumed if assumed > 0.25 * estimate.high else 0.5 * estimate.high
    squares = np.maximum(fit.squares[: len(allan_model.TERMS)], 0.0)
    return NeededDuration(assumed, planner(squares, allan_model.TERMS.index(term), assumed))
