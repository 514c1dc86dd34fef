"""An ensemble of simulated errors over time, and the error that is judged by it."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.errors import EnsembleError
from imu_simulation_framework.evaluation.error_statistics import edge_samples

BLOCK = 4_000_000
"""Numbers of an ensemble that are looked at at a time, so that little more than it is in memory."""


def require_ensemble(time, observed, ensemble):
    """Return times, observed error and ensemble as arrays, of which the ensemble is never copied.

    Parameters
    ----------
    time : array_like, shape (samples,)
        Strictly ascending [s].
    observed : array_like, shape (samples,)
        The error that is judged, in any unit.
    ensemble : array_like, shape (runs, samples)
        Simulated errors in the same unit, float32 or float64.

    Raises
    ------
    EnsembleError
        Shapes do not fit, there is no run, fewer than two samples, or something is not finite.
    """
    time = np.asarray(time, dtype=float)
    observed = np.asarray(observed, dtype=float)
    ensemble = np.asarray(ensemble)
    if ensemble.dtype not in (np.dtype("f4"), np.dtype("f8")):
        ensemble = ensemble.astype(float)
    if ensemble.ndim != 2 or len(ensemble) == 0:
        raise EnsembleError("the ensemble has no simulated drive; simulate at least one")
    if time.shape != observed.shape or time.shape != ensemble.shape[1:]:
        raise EnsembleError(
            f"the observed error has {_count(observed)} samples at {_count(time)} times and each "
            f"simulated drive {ensemble.shape[1]}; bring them to the same times"
        )
    if len(time) < 2:
        raise EnsembleError(f"{_count(time)} sample is too short to judge, at least 2 are needed")
    if not (np.all(np.isfinite(time)) and np.all(np.diff(time) > 0.0)):
        raise EnsembleError("the times of the errors do not ascend")
    if not np.all(np.isfinite(observed)):
        raise EnsembleError("the observed error is not known throughout; judge a part where it is")
    for rows in blocks_of_runs(ensemble):
        finite = np.isfinite(ensemble[rows]).all(axis=1)
        if not finite.all():
            run = rows.start + int(np.argmin(finite))
            raise EnsembleError(f"run {run} of the ensemble has values that are not finite")
    return time, observed, ensemble


def _count(values):
    return len(values) if values.ndim == 1 else f"{values.shape}"


def blocks_of_runs(ensemble):
    """Yield slices of runs that together are all of them."""
    return _slices(len(ensemble), ensemble.shape[1])


def blocks_of_time(ensemble):
    """Yield slices of samples that together are all of them."""
    return _slices(ensemble.shape[1], len(ensemble))


def _slices(length, other):
    step = max(1, BLOCK // max(1, other))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def started_at_zero(time, errors, window=3.0):
    """Return errors that are zero on the median over their beginning, as recorded ones are.

    Recorded yaw errors start at zero that way
    (:func:`~imu_simulation_framework.evaluation.yaw_comparison.compare_yaw`), and only what was
    treated alike can be compared.

    Parameters
    ----------
    time : array_like, shape (samples,)
        [s]
    errors : ndarray, shape (..., samples)
    window : float
        Length of the beginning [s].

    Returns
    -------
    ndarray, shape (..., samples)
        Of the errors' type.
    """
    beginning = edge_samples(np.asarray(time, dtype=float), window)
    errors = np.asarray(errors)
    return errors - np.median(errors[..., :beginning], axis=-1, keepdims=True)


def from_zero_where_known(time, observed, ensemble):
    """Return times, observed error and ensemble where all are known, each error from zero.

    Parameters
    ----------
    time : array_like, shape (samples,)
        Of the ensemble [s].
    observed : array_like, shape (other,)
        At the same times from the first on, not a number where nothing was observed.
    ensemble : ndarray, shape (runs, samples)

    Returns
    -------
    time, observed : ndarray, shape (known,)
    ensemble : ndarray, shape (runs, known)
    """
    observed = np.asarray(observed, dtype=float)[: len(time)]
    known = np.flatnonzero(np.isfinite(observed))
    time = np.asarray(time, dtype=float)[known]
    return (
        time,
        started_at_zero(time, observed[known]),
        started_at_zero(time, np.asarray(ensemble)[:, known]),
    )
