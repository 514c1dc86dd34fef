"""Identify the noise parameters of an IMU from recordings at rest.

The way: contiguous parts (:mod:`.identification.samples_at_rest`), overlapping
Allan variances (:mod:`.allan.deviation`), and for each axis one
fit to those of all recordings (:mod:`.allan.axis`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from imu_simulation_framework.identification.allan.axis import (
    AxisResult,
    RecordingModel,
    identify_axis,
)
from imu_simulation_framework.identification.allan.duration import DurationPlanner
from imu_simulation_framework.identification.allan.model import GAUSS_MARKOV, TERMS
from imu_simulation_framework.identification.samples_at_rest import SamplesAtRest, threads_for
from imu_simulation_framework.sensors.imu_specification import (
    IMU_TRIADS,
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.sensors.triads import TRIADS

SENSORS = {name: TRIADS[name].columns for name in IMU_TRIADS}
AXES = tuple(axis for axes in SENSORS.values() for axis in axes)

DEFAULT_BAND = TriadSpecification().bias_instability_band
_DEFAULT_TIME = TriadSpecification().gauss_markov_time[0]


@dataclass(frozen=True)
class AllanIdentification:
    """The noise parameters of an IMU.

    Attributes
    ----------
    recordings : tuple of SamplesAtRest
    axes : dict of str to AxisResult
        For each axis of ``AXES`` that was recorded.
    band : pair of float
        Averaging times between which bias instability was assumed [s].
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

    def to_specification(self, name, walk_limit=False) -> ImuSpecification:
        """Return the specification that makes such noise.

        Terms that are neither identified nor needed to stay with the measured curve are 0, and so
        is all noise of axes that were not recorded.

        Parameters
        ----------
        name : str
            Of the sensor.
        walk_limit : bool
            Put the upper limit where there is no random walk, for formats that need one.
        """
        triads: dict[str, Any] = {}
        for sensor, axes in SENSORS.items():
            results = [self.axes.get(axis) for axis in axes]
            values: dict[str, Any] = {
                term: tuple(result.signed(term) if result else 0.0 for result in results)
                for term in TERMS
            }
            if walk_limit:
                values["random_walk"] = tuple(
                    value or (result and _finite_limit(result.fit.terms["random_walk"])) or 0.0
                    for value, result in zip(values["random_walk"], results)
                )
            sigmas = tuple(result.signed(GAUSS_MARKOV) if result else 0.0 for result in results)
            values["gauss_markov_sigma"] = sigmas
            values["gauss_markov_time"] = tuple(_gauss_markov_time(result) for result in results)
            triads[sensor] = TriadSpecification(bias_instability_band=self.band, **values)
        return ImuSpecification(name=name, output=OutputSpecification(rate=self.rate), **triads)


def _gauss_markov_time(result) -> float:
    identified = result is not None and result.signed(GAUSS_MARKOV)
    return result.fit.gauss_markov_time.value if identified else _DEFAULT_TIME


def _finite_limit(estimate) -> float:
    return estimate.high if np.isfinite(estimate.high) else estimate.value


def identify(recordings, band=DEFAULT_BAND, progress=None) -> AllanIdentification:
    """Identify Q, N, B, K and R of every axis, and what a real sensor has besides.

    Several recordings of one sensor count with the inverse of their covariance: the terms are
    fitted to the Allan variances of all at once. (Averages of separate results, weighted with
    their own variances, would prefer whichever happens to be small.)

    Parameters
    ----------
    recordings : sequence of SamplesAtRest
        With the same axes, of ``AXES``.
    band : pair of float
        Averaging times between which bias instability is assumed [s].
    progress : callable, optional
        Called without arguments, once for each axis of each recording and once more for each axis.
    """
    step = progress or (lambda: None)
    recordings = tuple(recordings)
    names = recordings[0].names
    models = [RecordingModel(recording, band) for recording in recordings]
    tasks = [(model, axis) for model in models for axis in range(len(names))]

    def variance_of(task):
        model, axis = task
        variance = model.variance(model.parts(axis))
        step()
        return variance

    # numpy gives other threads their turn in long operations.
    longest = max(recording.duration * recording.rate for recording in recordings)
    with ThreadPoolExecutor(threads_for(round(longest))) as pool:
        computed = list(pool.map(variance_of, tasks))
    planner = DurationPlanner(recordings[0].rate, max(r.duration for r in recordings), band)
    comparisons = sum(map(len, computed))
    results = {}
    for axis, name in enumerate(names):
        variances = computed[axis :: len(names)]
        results[name] = identify_axis(models, axis, variances, planner, comparisons)
        step()
    return AllanIdentification(recordings, results, tuple(band))
