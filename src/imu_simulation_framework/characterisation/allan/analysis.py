"""Identifying the noise of an IMU from recordings at rest, and how long to record.

The way: contiguous parts (:mod:`.characterisation.samples_at_rest`), overlapping
Allan variances (:mod:`.allan.model`), and for each axis one
fit to those of all recordings (:mod:`.allan.axis`).
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
from ..samples_at_rest import SamplesAtRest, threads_for
from . import model as allan_model
from .axis import AxisResult, RecordingModel, identify_axis
from .fit import DETECTION_DEVIATIONS, square_estimator

LONGEST = 30.0 * 86400.0
"""Nobody leaves a sensor alone for longer [s]."""

_PER_DECADE = 3


def duration_planner(
    rate: float, start: float, band: tuple[float, float]
) -> Callable[[np.ndarray, int, float], float]:
    """Return a function that says how long to record until a noise term of a given size shows [s].

    ``start`` is the duration of the recording that was not long enough [s], ``band`` that of the
    bias instability [s]. The function takes the squares of a fit (5,), the place of the term and
    its assumed coefficient; the duration is doubled from ``start``, and infinite beyond
    :data:`LONGEST`.
    """

    @lru_cache(maxsize=None)
    def model(duration: float) -> tuple[np.ndarray, Any]:
        length = round(duration * rate)
        factors = allan_model.averaging_factors(length, _PER_DECADE)
        shapes = allan_model.allan_variance_of_terms(factors * (1.0 / rate), 1.0 / rate, band)
        return shapes, allan_model.allan_covariance(factors, [length], 1.0 / rate, band)

    def needed(squares: np.ndarray, index: int, value: float) -> float:
        others = np.array(squares, dtype=float)
        others[index] = 0.0
        present = others.copy()
        present[index] = value**2
        duration = 2.0 * start
        while value > 0.0 and duration <= LONGEST:
            shapes, covariance = model(duration)
            weights = square_estimator(shapes, covariance.of(present), index, present > 0.0)
            deviation = np.sqrt(weights @ covariance.of(others) @ weights)
            if value**2 > DETECTION_DEVIATIONS * deviation:
                return duration
            duration *= 2.0
        return np.inf

    return needed


SENSORS = {name: TRIADS[name].columns for name in IMU_TRIADS}
AXES = tuple(axis for axes in SENSORS.values() for axis in axes)

DEFAULT_BAND = TriadSpecification().bias_instability_band
_DEFAULT_TIME = TriadSpecification().gauss_markov_time[0]


@dataclass(frozen=True)
class AllanIdentification:
    """The noise parameters of an IMU, for each of ``AXES`` that was recorded.

    ``band`` are the averaging times between which bias instability was assumed [s].
    """

    recordings: tuple[SamplesAtRest, ...]
    axes: dict[str, AxisResult]
    band: tuple[float, float]

    @property
    def rate(self) -> float:
        """Rate of the first recording, rounded to what its clock can tell [Hz]."""
        rate = self.recordings[0].rate
        whole = round(rate)
        return float(whole) if abs(rate - whole) < 1e-3 * rate else rate

    @property
    def sensors(self) -> dict[str, tuple[str, ...]]:
        """Those of ``SENSORS`` that were recorded, with their recorded axes."""
        recorded = {
            sensor: tuple(axis for axis in axes if axis in self.axes)
            for sensor, axes in SENSORS.items()
        }
        return {sensor: axes for sensor, axes in recorded.items() if axes}

    def to_specification(self, name: str, walk_limit: bool = False) -> ImuSpecification:
        """Return the specification that makes such noise.

        Terms that are neither identified nor needed to stay with the measured curve are 0, and so
        is all noise of axes that were not recorded. ``walk_limit`` puts the upper limit where there
        is no random walk, for formats that need one.
        """
        triads: dict[str, Any] = {}
        for sensor, axes in SENSORS.items():
            results: list[Any] = [self.axes.get(axis) for axis in axes]
            values: dict[str, Any] = {
                term: tuple(result.signed(term) if result else 0.0 for result in results)
                for term in allan_model.TERMS
            }
            if walk_limit:
                values["random_walk"] = tuple(
                    value or (result and _limit(result)) or 0.0
                    for value, result in zip(values["random_walk"], results)
                )
            sigmas = tuple(
                result.signed(allan_model.GAUSS_MARKOV) if result else 0.0 for result in results
            )
            times = tuple(
                result.fit.gauss_markov_time.value if sigma else _DEFAULT_TIME
                for result, sigma in zip(results, sigmas)
            )
            values.update(gauss_markov_sigma=sigmas, gauss_markov_time=times)
            triads[sensor] = TriadSpecification(bias_instability_band=self.band, **values)
        return ImuSpecification(name=name, output=OutputSpecification(rate=self.rate), **triads)


def _limit(result: AxisResult) -> float:
    walk = result.fit.terms["random_walk"]
    return walk.high if np.isfinite(walk.high) else walk.value


def identify(
    recordings: Iterable[SamplesAtRest],
    band: tuple[float, float] = DEFAULT_BAND,
    progress: Callable[[], object] | None = None,
) -> AllanIdentification:
    """Identify Q, N, B, K and R of every axis, and what a real sensor has besides.

    Several recordings of one sensor count with the inverse of their covariance: the terms are
    fitted to the Allan variances of all at once. (Averages of separate results, weighted with their
    own variances, would prefer whichever happens to be small.)

    ``recordings`` (sequence of SamplesAtRest): with the same axes, of ``AXES``. ``band``: averaging
    times between which bias instability is assumed [s]. ``progress``: called without arguments,
    once for each axis of each recording and once more for each axis. Raises ConfigurationError: the
    band is not two positive times, the shorter one first.
    """
    step = progress or (lambda: None)
    band = check_band("band", band)
    recordings = tuple(recordings)
    names = recordings[0].names
    models = [RecordingModel(recording, band) for recording in recordings]
    tasks = [(model, axis) for model in models for axis in range(len(names))]

    def variance_of(task: tuple[Any, int]) -> Any:
        model, axis = task
        variance = model.variance(model.parts(axis))
        step()
        return variance

    # numpy gives other threads their turn in long operations.
    longest = max(recording.duration * recording.rate for recording in recordings)
    with ThreadPoolExecutor(threads_for(round(longest))) as pool:
        computed = list(pool.map(variance_of, tasks))
    planner = duration_planner(recordings[0].rate, max(r.duration for r in recordings), band)
    comparisons = sum(map(len, computed))
    results = {}
    for axis, name in enumerate(names):
        variances = computed[axis :: len(names)]
        results[name] = identify_axis(models, axis, variances, planner, comparisons)
        step()
    return AllanIdentification(recordings, results, band)
