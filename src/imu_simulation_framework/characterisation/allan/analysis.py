"""Identification of an IMU's noise from recordings at rest, and the required recording time.

Recordings are divided into contiguous parts (:mod:`.characterisation.samples_at_rest`), from which
overlapping Allan variances are computed (:mod:`.allan.model`). For each axis, noise terms are then
fitted to the Allan variances of all recordings (:mod:`.allan.axis`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Iterable

import numpy as np

from ...core.checks import check_band
from ...sensors.imu_specification import (
    IMU_TRIADS,
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from ...sensors.triads import TRIADS
from ..samples_at_rest import SamplesAtRest, choose_thread_count
from . import model as allan_model
from .axis import AxisResult, RecordingModel, identify_axis
from .fit import DETECTION_DEVIATIONS, square_estimator

LONGEST = 30.0 * 86400.0
"""Longest recording time that is considered practical [s]."""

_FACTORS_PER_DECADE = 3


def duration_planner(
    rate: float, start: float, band: tuple[float, float]
) -> Callable[[np.ndarray, int, float], float]:
    """Return a function that computes the recording time required to identify a noise term.

    Parameters
    ----------
    rate : float
        Sampling rate [Hz].
    start : float
        Duration of the recording that was too short [s]. It is doubled until it suffices.
    band : tuple of float
        Shortest and longest averaging time of the bias instability [s].

    Returns
    -------
    callable
        Function of the squared coefficients of a fit (5,), the index of the term, and its assumed
        coefficient. It returns the duration [s], or infinity if it exceeds :data:`LONGEST`.
    """

    @lru_cache(maxsize=None)
    def model(duration: float) -> tuple[np.ndarray, Any]:
        length = round(duration * rate)
        factors = allan_model.averaging_factors(length, _FACTORS_PER_DECADE)
        shapes = allan_model.allan_variance_of_terms(factors * (1.0 / rate), 1.0 / rate, band)
        return shapes, allan_model.allan_covariance(factors, [length], 1.0 / rate, band)

    def required_duration(squares: np.ndarray, index: int, value: float) -> float:
        others = np.array(squares, dtype=float)
        others[index] = 0.0
        present = others.copy()
        present[index] = value**2
        duration = 2.0 * start
        while value > 0.0 and duration <= LONGEST:
            shapes, covariance = model(duration)
            weights = square_estimator(shapes, covariance.evaluate(present), index, present > 0.0)
            deviation = np.sqrt(weights @ covariance.evaluate(others) @ weights)
            if value**2 > DETECTION_DEVIATIONS * deviation:
                return duration
            duration *= 2.0
        return np.inf

    return required_duration


SENSORS = {name: TRIADS[name].columns for name in IMU_TRIADS}
AXES = tuple(axis for axes in SENSORS.values() for axis in axes)

DEFAULT_BAND = TriadSpecification().bias_instability_band
_DEFAULT_TIME = TriadSpecification().gauss_markov_time[0]


@dataclass(frozen=True)
class AllanIdentification:
    """Identified noise parameters of an IMU.

    Attributes
    ----------
    recordings : tuple of SamplesAtRest
    axes : dict of str to AxisResult
        Result for each recorded axis; the keys are elements of ``AXES``.
    band : tuple of float
        Shortest and longest averaging time of the assumed bias instability [s].
    """

    recordings: tuple[SamplesAtRest, ...]
    axes: dict[str, AxisResult]
    band: tuple[float, float]

    @property
    def rate(self) -> float:
        """Sampling rate of the first recording [Hz], rounded to an integer if within 0.1 %."""
        rate = self.recordings[0].rate
        whole = round(rate)
        return float(whole) if abs(rate - whole) < 1e-3 * rate else rate

    @property
    def sensors(self) -> dict[str, tuple[str, ...]]:
        """Names of the recorded axes, keyed by sensor."""
        recorded = {
            sensor: tuple(axis for axis in axes if axis in self.axes)
            for sensor, axes in SENSORS.items()
        }
        return {sensor: axes for sensor, axes in recorded.items() if axes}

    def to_specification(self, name: str, walk_limit: bool = False) -> ImuSpecification:
        """Return an IMU specification with the identified noise parameters.

        A term is 0 if it is neither identified nor needed to match the measured curve. Axes that
        were not recorded have no noise.

        Parameters
        ----------
        name : str
            Name of the specification.
        walk_limit : bool
            Whether to use the upper limit of a random walk that is not identified, for formats that
            require a random walk.

        Returns
        -------
        ImuSpecification
        """
        triads: dict[str, Any] = {}
        for sensor, axes in SENSORS.items():
            results: list[Any] = [self.axes.get(axis) for axis in axes]
            values: dict[str, Any] = {
                term: tuple(
                    result.signed_coefficient(term) if result else 0.0 for result in results
                )
                for term in allan_model.TERMS
            }
            if walk_limit:
                values["random_walk"] = tuple(
                    value or (result and _walk_limit(result)) or 0.0
                    for value, result in zip(values["random_walk"], results)
                )
            sigmas = tuple(
                result.signed_coefficient(allan_model.GAUSS_MARKOV) if result else 0.0
                for result in results
            )
            times = tuple(
                result.fit.gauss_markov_time.value if sigma else _DEFAULT_TIME
                for result, sigma in zip(results, sigmas)
            )
            values.update(gauss_markov_sigma=sigmas, gauss_markov_time=times)
            triads[sensor] = TriadSpecification(bias_instability_band=self.band, **values)
        return ImuSpecification(name=name, output=OutputSpecification(rate=self.rate), **triads)


def _walk_limit(result: AxisResult) -> float:
    walk = result.fit.terms["random_walk"]
    return walk.high if np.isfinite(walk.high) else walk.value


def identify(
    recordings: Iterable[SamplesAtRest],
    band: tuple[float, float] = DEFAULT_BAND,
    progress: Callable[[], object] | None = None,
) -> AllanIdentification:
    """Identify the noise coefficients Q, N, B, K and R, and additional terms, of each axis.

    The terms are fitted jointly to the Allan variances of all recordings, weighted by the inverse
    of their covariance. An average of separate fits with their inverse variances as weights would
    favour results that happen to be small.

    Parameters
    ----------
    recordings : iterable of SamplesAtRest
        Recordings of the same sensor, with the same axes.
    band : tuple of float
        Shortest and longest averaging time of the assumed bias instability [s].
    progress : callable, optional
        Function without arguments that is called once for each axis of each recording, and once
        more for each axis.

    Returns
    -------
    AllanIdentification

    Raises
    ------
    ConfigurationError
        The band does not consist of two positive, increasing times.
    """
    step = progress or (lambda: None)
    band = check_band("band", band)
    recordings = tuple(recordings)
    names = recordings[0].names
    models = [RecordingModel(recording, band) for recording in recordings]
    tasks = [(model, axis) for model in models for axis in range(len(names))]

    def compute_variance(task: tuple[Any, int]) -> Any:
        model, axis = task
        variance = model.variance(model.parts(axis))
        step()
        return variance

    # Threads suffice, because NumPy releases the global interpreter lock in long operations.
    longest = max(recording.duration * recording.rate for recording in recordings)
    with ThreadPoolExecutor(choose_thread_count(round(longest))) as pool:
        variances = list(pool.map(compute_variance, tasks))
    planner = duration_planner(recordings[0].rate, max(r.duration for r in recordings), band)
    comparisons = sum(map(len, variances))
    results = {}
    for axis, name in enumerate(names):
        axis_variances = variances[axis :: len(names)]
        results[name] = identify_axis(models, axis, axis_variances, planner, comparisons)
        step()
    return AllanIdentification(recordings, results, band)
