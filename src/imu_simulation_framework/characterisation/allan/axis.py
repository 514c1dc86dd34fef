"""Identification of the noise of one axis, and comparison of the result with the measurement.

The model consists of the standard terms if they describe the data, and of an extended set of terms
if they do not. The specification of the identified sensor usually contains only the coefficients
that are identified. If two slow terms can replace each other, neither is identified, and a sensor
with neither of them would have no slow drift. The specification then contains all terms of the
fit. If these also deviate from the measured curve, it contains the coefficients that are closest to
the curve.
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
"""Shortest averaging time at which the identified noise is compared with the recording [s]."""
LONGEST_SHARE = 10.0
"""Ratio of a recording's longest contiguous part to the longest averaging time compared."""

_FAMILY_ERROR_RATE = 0.05  # probability of at least one false alarm in all comparisons
_MIN_MODEL_ERROR = 0.02  # relative error of the Allan variance; sensors of a batch differ by more


@dataclass(frozen=True)
class AllanBand:
    """Simultaneous confidence band of a recording's Allan deviation.

    It covers averaging times from 1 s to a tenth of the longest contiguous part.

    Attributes
    ----------
    tau : ndarray, shape (n,)
        Averaging times [s].
    deviation, low, high : ndarray, shape (n,)
        Measured Allan deviation, and limits of the true Allan deviation, in the unit of the axis.
    """

    tau: np.ndarray
    deviation: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def excess(self, deviation) -> np.ndarray:
        """Return the logarithmic distance of another Allan deviation from the confidence band.

        Parameters
        ----------
        deviation : ndarray, shape (n,)
            Allan deviation at the same averaging times, in the unit of the axis.

        Returns
        -------
        ndarray, shape (n,)
            Natural logarithm of the ratio to the nearer limit, negative inside the band.
        """
        return np.maximum(np.log(deviation / self.high), np.log(self.low / deviation))


@dataclass(frozen=True)
class Departure:
    """Averaging time at which the identified Allan deviation is outside the confidence band.

    Attributes
    ----------
    recording : int
        Index of the recording.
    tau : float
        Averaging time [s].
    ratio : float
        Ratio of the identified to the measured Allan deviation.
    """

    recording: int
    tau: float
    ratio: float


def compute_band(curve: allan_model.AllanCurve, longest, comparisons, model_error=0.0) -> AllanBand:
    """Compute an Allan deviation's confidence band, corrected for the number of comparisons.

    Parameters
    ----------
    curve : AllanCurve
        Measured Allan deviation.
    longest : float
        Duration of the longest contiguous part [s].
    comparisons : int
        Number of comparisons that are inside the band jointly with 95 % probability (Sidak's
        correction).
    model_error : float
        Relative error of the modelled Allan variance, which widens the band; at least 2 %.

    Returns
    -------
    AllanBand
    """
    compared = (curve.tau >= SHORTEST) & (curve.tau <= longest / LONGEST_SHARE)
    deviation, freedom = curve.deviation[compared], curve.degrees_of_freedom[compared]
    tail = 0.5 * (1.0 - (1.0 - _FAMILY_ERROR_RATE) ** (1.0 / max(1, comparisons)))
    allowed = 0.5 * norm.isf(tail) * max(model_error, _MIN_MODEL_ERROR)
    up = 0.5 * np.log(freedom / chi2.ppf(tail, freedom))
    down = 0.5 * np.log(chi2.isf(tail, freedom) / freedom)
    return AllanBand(
        curve.tau[compared],
        deviation,
        deviation * np.exp(-np.hypot(down, allowed)),
        deviation * np.exp(np.hypot(up, allowed)),
    )


IDENTIFIED, FITTED, CLOSEST = "identified", "fitted", "closest to the curve"


def choose_coefficients(fit, bands, shapes_at):
    """Choose squared noise coefficients whose Allan deviation is inside the confidence bands.

    Parameters
    ----------
    fit : AllanFit
        Fit of the terms with their intervals.
    bands : sequence of AllanBand
        Band of each recording, without model error.
    shapes_at : callable
        Function of the averaging times [s] that returns the Allan variances of the terms, shape
        (n, terms).

    Returns
    -------
    squares : ndarray, shape (terms,)
        Squared coefficients of the first choice that is inside the bands, or of the choice that is
        closest to them.
    choice : str
        ``IDENTIFIED``, ``FITTED`` or ``CLOSEST``.
    """
    names = list(fit.terms)
    identified = np.array([fit.terms[name].identified for name in names])
    fitted = np.maximum(fit.squares, 0.0)
    if not fit.terms[allan_model.TERMS[0]].identified:
        # The sensor's low-pass filter hides its quantisation noise.
        fitted[0] = 0.0
    # A rate ramp is avoided, because it is the same in all realisations of a simulated sensor.
    steady = np.where(identified | (np.array(names) != allan_model.TERMS[4]), fitted, 0.0)
    choices = [(np.where(identified, fitted, 0.0), IDENTIFIED), (steady, FITTED), (fitted, FITTED)]
    shapes = [shapes_at(band.tau) for band in bands]
    outside = []
    for squares, choice in choices:
        outside.append(_largest_excess(squares, bands, shapes))
        if outside[-1] <= 0.0:
            return squares, choice
    closest = _closest_squares(bands, shapes)
    choices.append((closest, CLOSEST))
    outside.append(_largest_excess(closest, bands, shapes))
    return choices[int(np.argmin(outside))]


def _largest_excess(squares, bands, shapes):
    with np.errstate(divide="ignore"):
        deviations = [np.sqrt(columns @ squares) for columns in shapes]
        excess = [
            band.excess(deviation).max(initial=0.0) for band, deviation in zip(bands, deviations)
        ]
    return max(0.0, *excess)


def _closest_squares(bands, shapes):
    """Fit non-negative squared coefficients to Allan variances, weighted by inverse band widths."""
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
    """Recording time required to identify a noise term.

    Attributes
    ----------
    value : float
        Assumed coefficient: the estimate, or half of the upper limit if the estimate is below a
        quarter of this limit.
    duration : float
        Recording time [s]; infinite if a month does not suffice.
    """

    value: float
    duration: float


@dataclass(frozen=True)
class AxisResult:
    """Result of the noise identification of one axis.

    Attributes
    ----------
    fit : AllanFit
        Joint fit to all recordings.
    single_fits : tuple of AllanFit
        Separate fit to each recording, if there are several.
    lines : tuple of tuple of SpectralLine
        Spectral lines of each recording, which were removed before the fit.
    curves : tuple of AllanCurve
        Allan deviation of each recording after removing the lines.
    recorded : tuple of ndarray
        Allan deviation of each recording before removing the lines, at the same averaging times.
    bands : tuple of AllanBand
        Confidence band of each recording, inside which the identified noise is expected.
    squares : ndarray, shape (terms,)
        Squared noise coefficients for the specification.
    choice : str
        Origin of these coefficients, see :func:`choose_coefficients`.
    departures : tuple of Departure
        Averaging times at which the identified noise is outside a band.
    needed : dict of str to NeededDuration
        Recording time required for each term that is not identified, except for quantisation that
        the sensor's low-pass filter hides.
    ramp_sign : float
        1 if the output increased over the recordings, -1 if it decreased.
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

    def signed_coefficient(self, term) -> float:
        """Return a noise coefficient for the specification; only a rate ramp may be negative.

        Parameters
        ----------
        term : str
            Name of the term.

        Returns
        -------
        float
            Coefficient in the unit of the term; 0 if the term is absent.
        """
        names = list(self.fit.terms)
        if term not in names:
            return 0.0
        value = float(np.sqrt(self.squares[names.index(term)]))
        return value * (self.ramp_sign if term == "rate_ramp" and value else 1.0)

    @property
    def unidentified_terms(self) -> tuple[str, ...]:
        """Noise terms with a non-zero coefficient that are not individually significant."""
        if self.choice == IDENTIFIED:
            return ()
        return tuple(
            name
            for name, square in zip(self.fit.terms, self.squares)
            if square > 0.0 and not self.fit.terms[name].identified
        )


class RecordingModel:
    """Averaging times, noise terms and covariances that all axes of a recording share.

    Parameters
    ----------
    recording : SamplesAtRest
        Recording of all axes.
    band : tuple of float
        Shortest and longest averaging time of the bias instability [s].
    """

    def __init__(self, recording, band):
        self.recording = recording
        self.band = band
        self.period = 1.0 / recording.rate
        self.factors = allan_model.averaging_factors(max(recording.lengths))
        self.tau = self.factors * self.period
        self.longest = max(recording.lengths) * self.period
        self._terms = {}

    def terms(self, gauss_markov_time=None):
        """Return the noise terms' Allan variances for unit coefficients, and the data covariance.

        Parameters
        ----------
        gauss_markov_time : float, optional
            Correlation time of a Gauss-Markov process [s]; by default there is no such process.

        Returns
        -------
        shapes : ndarray, shape (n, terms)
            Allan variances of the terms for unit coefficients.
        covariance : AllanCovariance
            Covariance of the Allan variances.
        """
        if gauss_markov_time not in self._terms:
            model = (self.period, self.band, gauss_markov_time)
            self._terms[gauss_markov_time] = (
                allan_model.allan_variance_of_terms(self.tau, *model),
                allan_model.allan_covariance(self.factors, self.recording.lengths, *model),
            )
        return self._terms[gauss_markov_time]

    def parts(self, axis):
        """Return the samples of one axis in each contiguous part of the recording.

        Parameters
        ----------
        axis : int
            Index of the axis.

        Returns
        -------
        list of ndarray, shape (m,)
            Samples of each part.
        """
        values = self.recording.values[axis]
        return [values[start:stop] for start, stop in self.recording.parts]

    def variance(self, parts):
        """Compute the overlapping Allan variance of one axis from its contiguous parts.

        Parameters
        ----------
        parts : sequence of ndarray, shape (m,)
            Samples of each part.

        Returns
        -------
        ndarray, shape (n,)
            Allan variance [square of the unit of the axis].
        """
        return allan_model.overlapping_allan_variance(parts, self.recording.rate, self.factors)

    def curve(self, variance, fit) -> allan_model.AllanCurve:
        """Compute the measured Allan deviation, with confidence intervals from a fitted model.

        Parameters
        ----------
        variance : ndarray, shape (n,)
            Measured Allan variance.
        fit : AllanFit
            Fit of the terms to the variance.

        Returns
        -------
        AllanCurve
            Allan deviation with its interval.
        """
        time = fit.gauss_markov_time
        shapes = self.terms(time and time.value)[0] * np.maximum(fit.squares, 0.0)
        contributions = dict(zip(fit.terms, shapes.T))
        contributions.pop(allan_model.GAUSS_MARKOV, None)
        freedom = allan_model.equivalent_degrees_of_freedom(
            self.recording.lengths, self.factors, contributions
        )
        return allan_model.allan_curve(self.tau, variance, freedom, CONFIDENCE)


def identify_axis(models, axis, variances, planner, comparisons) -> AxisResult:
    """Identify the noise terms of one axis.

    Parameters
    ----------
    models : sequence of RecordingModel
        Models of all recordings.
    axis : int
        Index of the axis.
    variances : sequence of ndarray
        Overlapping Allan variances of each recording.
    planner : callable
        Result of :func:`.duration_planner`.
    comparisons : int
        Total number of averaging times, over all axes, at which results are compared with the
        measurement.

    Returns
    -------
    AxisResult
    """
    recorded = tuple(np.sqrt(variance) for variance in variances)
    lines = ((),) * len(models)
    parts = [model.parts(axis) for model in models]
    fit = _fit_standard_terms(models, variances, comparisons)
    if fit is None:
        variances, lines, parts = _remove_lines(models, parts, variances)
        fit = _fit_standard_terms(models, variances, comparisons) if any(lines) else None
    data = np.concatenate(variances), lambda time: _joint_terms(models, time)
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
        _fit_single_recording(model, variance, fit)
        for model, variance in zip(models, variances)
        if len(models) > 1
    ]
    curves = tuple(model.curve(value, fit) for model, value in zip(models, variances))
    squares, choice, bands, departures = _choose_sensor(models, curves, fit, comparisons)
    hidden = {allan_model.TERMS[0]} if np.isinf(fit.terms[allan_model.TERMS[0]].high) else set()
    needed = {
        term: _required_duration(planner, fit, term)
        for term in allan_model.TERMS
        if not fit.terms[term].identified and term not in hidden
    }
    rise = 0.0
    for model in models:
        for part in model.parts(axis):
            half_length = len(part) // 2
            rise += float(np.mean(part[half_length:]) - np.mean(part[:half_length])) * len(part)
    return AxisResult(
        fit=fit,
        single_fits=tuple(single),
        lines=lines,
        curves=curves,
        recorded=recorded,
        bands=bands,
        squares=squares,
        choice=choice,
        departures=departures,
        needed=needed,
        ramp_sign=-1.0 if rise < 0.0 else 1.0,
    )


def _joint_terms(models, time):
    """Concatenate the noise terms' Allan variances of all recordings, and their covariances."""
    shapes, covariances = zip(*(model.terms(time) for model in models))
    if len(models) == 1:
        return shapes[0], covariances[0].evaluate
    return (
        np.concatenate(shapes),
        lambda squares: block_diag(*(covariance.evaluate(squares) for covariance in covariances)),
    )


def _fit_standard_terms(models, single_variances, comparisons):
    """Fit the standard noise terms; return None if they do not describe the data."""
    variances = np.concatenate(single_variances)
    shapes, covariances = _joint_terms(models, None)
    fit = fit_terms(variances, shapes, covariances)
    if not fit.describes:
        return None
    if fit.squares[0] == 0.0:
        # A weak low-pass filter may bias N by more than its interval even if the fit is good.
        plain = AllanProblem(variances, shapes, covariances)
        free = AllanProblem(variances, shapes, covariances, smoothing=True)
        gain = plain.deviance(fit.squares) - free.deviance(free.solve())
        if gain > DETECTION_DEVIATIONS**2:
            return None
    # A test of squared residuals is insensitive to variances with few degrees of freedom.
    for model, variance in zip(models, single_variances):
        band = compute_band(model.curve(variance, fit), model.longest, comparisons)
        curve = (
            allan_model.allan_variance_of_terms(band.tau, model.period, model.band) @ fit.squares
        )
        if np.any(band.excess(np.sqrt(curve)) > 0.0):
            return None
    return fit


def _remove_lines(models, parts, variances):
    cleaned_variances, lines, cleaned_parts = [], [], []
    for model, recording_parts, variance in zip(models, parts, variances):
        cleaned, removed = extended.remove_lines(recording_parts, model.recording.rate)
        cleaned_variances.append(model.variance(cleaned) if removed else variance)
        lines.append(removed)
        cleaned_parts.append(cleaned)
    return cleaned_variances, tuple(lines), cleaned_parts


def _fit_single_recording(model, variance, fit) -> AllanFit:
    """Fit the noise terms of the joint fit to a single recording."""
    time = fit.gauss_markov_time
    shapes, covariance = model.terms(time and time.value)
    if not fit.start:
        return fit_terms(variance, shapes, covariance.evaluate)
    error = fit.model_error
    return extended.fit_from(fit.start, model.tau, variance, shapes, covariance.evaluate, error)


def _choose_sensor(models, curves, fit, comparisons):
    """Choose squared coefficients for the specification, and find departures from the bands."""
    time = fit.gauss_markov_time

    def shapes_at(tau):
        band = models[0].band
        return allan_model.allan_variance_of_terms(tau, models[0].period, band, time and time.value)

    pairs = list(zip(models, curves))
    narrow = [compute_band(curve, model.longest, comparisons) for model, curve in pairs]
    squares, choice = choose_coefficients(fit, narrow, shapes_at)
    bands = tuple(
        compute_band(curve, model.longest, comparisons, fit.model_error) for model, curve in pairs
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


def _required_duration(planner, fit, term) -> NeededDuration:
    estimate = fit.terms[term]
    assumed = estimate.value
    if np.isfinite(estimate.high):
        assumed = assumed if assumed > 0.25 * estimate.high else 0.5 * estimate.high
    squares = np.maximum(fit.squares[: len(allan_model.TERMS)], 0.0)
    return NeededDuration(assumed, planner(squares, allan_model.TERMS.index(term), assumed))
