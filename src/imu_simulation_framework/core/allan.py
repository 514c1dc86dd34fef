"""Identify the noise parameters of an IMU from recordings at rest.

The way: contiguous parts (:mod:`~imu_simulation_framework.core.static_samples`), overlapping
Allan variances (:mod:`~imu_simulation_framework.core.allan_deviation`), and for each axis one
fit to those of all recordings (:mod:`~imu_simulation_framework.core.allan_fit`).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from imu_simulation_framework.core.allan_deviation import (
    AllanCurve,
    allan_curve,
    averaging_factors,
    equivalent_degrees_of_freedom,
    overlapping_allan_variance,
)
from imu_simulation_framework.core.allan_duration import DurationPlanner
from imu_simulation_framework.core.allan_fit import CONFIDENCE, AllanFit, fit_terms
from imu_simulation_framework.core.allan_model import (
    TERMS,
    allan_covariance,
    allan_variance_of_terms,
)
from imu_simulation_framework.core.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.core.static_samples import StaticSamples

SENSORS = {
    "gyroscope": ("gyro_x", "gyro_y", "gyro_z"),
    "accelerometer": ("accel_x", "accel_y", "accel_z"),
}
AXES = SENSORS["gyroscope"] + SENSORS["accelerometer"]

DEFAULT_BAND = TriadSpecification().bias_instability_band


@dataclass(frozen=True)
class NeededDuration:
    """How long to record to identify a term that was not.

    Attributes
    ----------
    value : float
        The coefficient that is assumed: the estimate, or half the upper limit where that is
        far below it.
    duration : float
        [s]; infinite if a month would not be enough.
    """

    value: float
    duration: float


@dataclass(frozen=True)
class AxisResult:
    """What is known of one axis.

    Attributes
    ----------
    fit : AllanFit
        To all recordings together.
    single_fits : tuple of AllanFit
        To each recording alone, if there are several.
    curves : tuple of AllanCurve
        One for each recording.
    contributions : ndarray, shape (taus, 5)
        Allan variance of each term of the fit at the averaging times of the first recording.
    needed : dict of str to NeededDuration
        For each term that is not identified.
    ramp_sign : float
        1 or -1: whether the reading grew or fell over the recordings.
    """

    fit: AllanFit
    single_fits: tuple[AllanFit, ...]
    curves: tuple[AllanCurve, ...]
    contributions: np.ndarray
    needed: dict[str, NeededDuration]
    ramp_sign: float

    def signed(self, term) -> float:
        """The coefficient of a term, 0 if it is not identified."""
        estimate = self.fit.terms[term]
        if not estimate.identified:
            return 0.0
        return estimate.value * (self.ramp_sign if term == "rate_ramp" else 1.0)


@dataclass(frozen=True)
class AllanIdentification:
    """The noise parameters of an IMU.

    Attributes
    ----------
    recordings : tuple of StaticSamples
    axes : dict of str to AxisResult
        For each of :data:`AXES`.
    band : pair of float
        Averaging times between which bias instability was assumed [s].
    """

    recordings: tuple[StaticSamples, ...]
    axes: dict[str, AxisResult]
    band: tuple[float, float]

    @property
    def rate(self) -> float:
        """Rate of the first recording, rounded to what its clock can tell [Hz]."""
        rate = self.recordings[0].rate
        whole = round(rate)
        return float(whole) if abs(rate - whole) < 1e-3 * rate else rate

    def to_specification(self, name, walk_limit=False) -> ImuSpecification:
        """Return the specification that makes such noise; terms not identified are 0.

        Parameters
        ----------
        name : str
            Of the sensor.
        walk_limit : bool
            Put the upper limit where a random walk is not identified, for formats that need one.
        """
        triads = {}
        for sensor, axes in SENSORS.items():
            values = {term: tuple(self.axes[axis].signed(term) for axis in axes) for term in TERMS}
            if walk_limit:
                values["random_walk"] = tuple(
                    value or _finite_limit(self.axes[axis].fit.terms["random_walk"])
                    for value, axis in zip(values["random_walk"], axes)
                )
            triads[sensor] = TriadSpecification(bias_instability_band=self.band, **values)
        return ImuSpecification(name=name, output=OutputSpecification(rate=self.rate), **triads)


def _finite_limit(estimate) -> float:
    return estimate.high if np.isfinite(estimate.high) else estimate.value


def identify(recordings, band=DEFAULT_BAND, progress=None) -> AllanIdentification:
    """Identify Q, N, B, K and R of every axis.

    Several recordings of one sensor count with the inverse of their covariance: the terms are
    fitted to the Allan variances of all at once. (Averages of separate results, weighted with
    their own variances, would prefer whichever happens to be small.)

    Parameters
    ----------
    recordings : sequence of StaticSamples
        With the six axes of :data:`AXES` in this order.
    band : pair of float
        Averaging times between which bias instability is assumed [s].
    progress : callable, optional
        Called without arguments, six times for each recording and six times more.
    """
    step = progress or (lambda: None)
    recordings = tuple(recordings)
    models = [_RecordingModel(recording, band) for recording in recordings]
    tasks = [(model, axis) for model in models for axis in range(len(AXES))]

    def variance_of(task):
        model, axis = task
        variance = model.variance(axis)
        step()
        return variance

    # numpy gives other threads their turn in long operations.
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        computed = list(pool.map(variance_of, tasks))
    planner = DurationPlanner(recordings[0].rate, max(r.duration for r in recordings), band)
    results = {}
    for axis, name in enumerate(AXES):
        results[name] = _identify_axis(models, axis, computed[axis :: len(AXES)], planner)
        step()
    return AllanIdentification(recordings, results, tuple(band))


class _RecordingModel:
    """What all axes of a recording share."""

    def __init__(self, recording, band):
        self.recording = recording
        self.factors = averaging_factors(max(recording.lengths))
        period = 1.0 / recording.rate
        self.tau = self.factors * period
        self.shapes = allan_variance_of_terms(self.tau, period, band)
        self.covariance = allan_covariance(self.factors, recording.lengths, period, band)

    def parts(self, axis):
        """The contiguous parts of one axis."""
        return [self.recording.values[axis, start:stop] for start, stop in self.recording.parts]

    def variance(self, axis):
        """Overlapping Allan variance of one axis."""
        return overlapping_allan_variance(self.parts(axis), self.recording.rate, self.factors)

    def curve(self, variance, squares) -> AllanCurve:
        """The Allan deviation with its interval."""
        contributions = dict(zip(TERMS, (self.shapes * squares).T))
        freedom = equivalent_degrees_of_freedom(self.recording.lengths, self.factors, contributions)
        return allan_curve(self.tau, variance, freedom, CONFIDENCE)


def _identify_axis(models, axis, variances, planner) -> AxisResult:
    fit = fit_terms(
        np.concatenate(variances),
        np.concatenate([model.shapes for model in models]),
        lambda squares: block_diag(*(model.covariance.of(squares) for model in models)),
    )
    single = [
        fit_terms(variance, model.shapes, model.covariance.of)
        for model, variance in zip(models, variances)
        if len(models) > 1
    ]
    needed = {
        term: _needed(planner, fit, term)
        for term in TERMS
        if not fit.terms[term].identified
    }  # fmt: skip
    rise = sum(_rise(part) * len(part) for model in models for part in model.parts(axis))
    return AxisResult(
        fit,
        tuple(single),
        tuple(model.curve(value, fit.squares) for model, value in zip(models, variances)),
        models[0].shapes * fit.squares,
        needed,
        -1.0 if rise < 0.0 else 1.0,
    )


def _needed(planner, fit, term) -> NeededDuration:
    estimate = fit.terms[term]
    assumed = estimate.value
    if np.isfinite(estimate.high):
        assumed = assumed if assumed > 0.25 * estimate.high else 0.5 * estimate.high
    return NeededDuration(assumed, planner.duration(fit.squares, TERMS.index(term), assumed))


def _rise(part) -> float:
    """Mean of the second half less that of the first."""
    half = len(part) // 2
    return float(np.mean(part[half:]) - np.mean(part[:half]))
