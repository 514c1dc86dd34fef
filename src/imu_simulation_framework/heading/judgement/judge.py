"""Tests of a yaw error model against an observed error, corrected for multiple testing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

import numpy as np
import numpy.typing as npt

from ...core.errors import EnsembleError
from .blocks import ensemble_blocks
from .curve_statistics import curve_statistics
from .envelope import (
    LEVELS,
    GlobalEnvelope,
    PointwiseBand,
    fewest_runs,
    global_envelope,
    pointwise_bands,
)
from .statistic_tests import StatisticJudgement, holm, judge_statistic
from .verdict import describe_verdict


@dataclass(frozen=True)
class Judgement:
    """Result of testing a yaw error model by an observed error and an ensemble of simulations.

    Parameters
    ----------
    time, observed : numpy.ndarray
        Times [s] and observed error, shape (samples,) each.
    median : numpy.ndarray
        Median of the ensemble at each time, shape (samples,).
    bands : list of PointwiseBand
        Pointwise bands of the ensemble.
    envelope : GlobalEnvelope
        Test of the complete curve.
    adjusted : float
        P-value of the envelope, corrected for the number of tests.
    statistics : list of StatisticJudgement
        Test of each statistic.
    level : float
        One minus the significance level.
    rejected : bool
        Whether the corrected p-value of any test is at most ``1 - level``.
    verdict : str
        Deviation of the model: ``not rejected``, ``too little``, ``too much`` or ``other
        direction``.
    sentence : str
        Verdict as a message.
    """

    time: np.ndarray
    observed: np.ndarray
    median: np.ndarray
    bands: list[PointwiseBand]
    envelope: GlobalEnvelope
    adjusted: float
    statistics: list[StatisticJudgement]
    level: float
    rejected: bool
    verdict: str
    sentence: str

    @property
    def smallest(self) -> float:
        """Smallest p-value of all tests, corrected for multiple testing."""
        return min(self.adjusted, *(test.adjusted for test in self.statistics))


def judge(
    time: npt.ArrayLike,
    observed: npt.ArrayLike,
    ensemble: npt.ArrayLike,
    *,
    levels: Sequence[float] = LEVELS,
    level: float = 0.95,
    final_window: float = 3.0,
) -> Judgement:
    """Test a yaw error model by comparing an observed error with an ensemble of simulated ones.

    Both must have a common zero: if the median of the observed error over the start is zero, the
    simulated errors must be shifted in the same way (:func:`.zero_at_start`). The ensemble is
    processed in blocks and never copied.

    Parameters
    ----------
    time : array_like
        Strictly ascending times, shape (samples,) [s].
    observed : array_like
        Observed error, such as a yaw error, in any unit, shape (samples,).
    ensemble : array_like
        Simulated errors at the same times in the same unit, float32 or float64, shape (runs,
        samples).
    levels : sequence of float, optional
        Levels of the pointwise bands.
    level : float, optional
        Level of the envelope, and one minus the significance level of the tests.
    final_window : float, optional
        Length of the window at the end, whose median is the final error [s].

    Returns
    -------
    Judgement

    Raises
    ------
    EnsembleError
        If the shapes differ, or the number of runs is too small for this level.

    Examples
    --------
    >>> model = isf.yaw_error_model(isf.HectorParameters(), isf.read_drive("a"), period=1.0)
    >>> runs = model.realisations(500, seed=1)
    >>> observed = model.realisations(1, seed=2)[0]
    >>> isf.judge(model.time, observed, runs).verdict
    'not rejected'

    The model has too little error for an observation of three times the magnitude:

    >>> isf.judge(model.time, 3.0 * observed, runs).verdict
    'too little'
    """
    times, error, simulations = _checked_arrays(time, observed, ensemble)
    envelope = global_envelope(error, simulations, level)
    median, bands = pointwise_bands(simulations, levels)
    observed_statistics = curve_statistics(times, error[np.newaxis], final_window)
    simulated = curve_statistics(times, simulations, final_window)
    statistics = [
        judge_statistic(name, values[0], simulated[name])
        for name, values in observed_statistics.items()
    ]
    adjusted = holm([envelope.p_value] + [test.p_value for test in statistics])
    statistics = [
        replace(test, adjusted=float(value)) for test, value in zip(statistics, adjusted[1:])
    ]
    rejected = bool(np.min(adjusted) <= 1.0 - level + 1e-12)
    curve_p_value = float(adjusted[0])
    verdict, sentence = describe_verdict(
        error, median, envelope, curve_p_value, statistics, rejected
    )
    needed = fewest_runs(level, len(adjusted))
    if not rejected and len(simulations) < needed:
        sentence += (
            f" With {len(simulations)} drives, none of the {len(adjusted)} tests can reject a "
            f"model; simulate at least {needed}."
        )
    return Judgement(
        time=times,
        observed=error,
        median=median,
        bands=bands,
        envelope=envelope,
        adjusted=curve_p_value,
        statistics=statistics,
        level=level,
        rejected=rejected,
        verdict=verdict,
        sentence=sentence,
    )


def _checked_arrays(
    time: npt.ArrayLike, observed: npt.ArrayLike, ensemble: npt.ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check times, observed error and ensemble, and convert them to arrays."""
    time, observed = np.asarray(time, dtype=float), np.asarray(observed, dtype=float)
    ensemble = np.asarray(ensemble)
    if ensemble.dtype not in (np.dtype("f4"), np.dtype("f8")):
        ensemble = ensemble.astype(float)
    if ensemble.ndim != 2 or len(ensemble) == 0:
        raise EnsembleError("the ensemble must have at least one simulated drive")
    if time.shape != observed.shape or time.shape != ensemble.shape[1:]:
        raise EnsembleError(
            f"the observed error has {_count(observed)} samples at {_count(time)} times and each "
            f"simulated drive has {ensemble.shape[1]} samples, but all three must be equal"
        )
    if len(time) < 2:
        raise EnsembleError(f"{_count(time)} sample is too short for a test, at least 2 are needed")
    if not (np.all(np.isfinite(time)) and np.all(np.diff(time) > 0.0)):
        raise EnsembleError("the times of the errors must increase")
    if not np.all(np.isfinite(observed)):
        raise EnsembleError("the observed error contains nan or inf; select only finite samples")
    for rows in ensemble_blocks(ensemble):
        finite = np.isfinite(ensemble[rows]).all(axis=1)
        if not finite.all():
            run = rows.start + int(np.argmin(finite))
            raise EnsembleError(
                f"run {run} of the ensemble contains nan or inf, expected finite values"
            )
    return time, observed, ensemble


def _count(values: np.ndarray) -> int | str:
    return len(values) if values.ndim == 1 else f"{values.shape}"
