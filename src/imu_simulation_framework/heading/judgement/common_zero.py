"""Common zero point of observed and simulated yaw errors, which makes them comparable."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...core.error_statistics import edge_samples
from ..error_split import zero_weights
from ..reference_error import ReferenceError


def zero_at_start(time: np.ndarray, errors: np.ndarray, window: float = 3.0) -> np.ndarray:
    """Shift yaw errors so that their median over the start window is zero.

    Only errors with a common zero are comparable; :func:`.compare_yaw` shifts recorded errors in
    the same way.

    Parameters
    ----------
    time : numpy.ndarray
        Times, shape (samples,) [s].
    errors : numpy.ndarray
        Errors, shape (..., samples).
    window : float, optional
        Duration of the start [s].

    Returns
    -------
    numpy.ndarray
        Shifted errors with the same shape and type.
    """
    beginning = edge_samples(np.asarray(time, dtype=float), window)
    errors = np.asarray(errors)
    return errors - np.median(errors[..., :beginning], axis=-1, keepdims=True)


def zero_where_known(
    time: np.ndarray,
    observed: ArrayLike,
    ensemble: np.ndarray,
    reference: ReferenceError | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Select samples with an observation, and shift all errors to a common zero point.

    Parameters
    ----------
    time : numpy.ndarray
        Times of the ensemble, shape (samples,) [s].
    observed : array_like
        Observed error at the first of these times; NaN without an observation.
    ensemble : numpy.ndarray
        Simulated errors, shape (runs, samples).
    reference : ReferenceError, optional
        Error of the observed error's reference. If it is given, the zero of all errors is estimated
        from the complete drive, with the weights of the observed error; by default, it is the zero
        of :func:`zero_at_start`.

    Returns
    -------
    time, observed : numpy.ndarray
        Times and observed error at the known samples, shape (known,) each.
    ensemble : numpy.ndarray
        Simulated errors at the known samples, shape (runs, known).
    """
    observed = np.asarray(observed, dtype=float)[: len(time)]
    observed_indices = np.flatnonzero(np.isfinite(observed))
    time = np.asarray(time, dtype=float)[observed_indices]
    ensemble = np.asarray(ensemble)[:, observed_indices]
    if reference is not None:
        import pandas as pd

        weights = zero_weights(pd.Series(observed[observed_indices], time), reference)
        zeros = (ensemble @ weights)[:, np.newaxis].astype(ensemble.dtype)
        return (
            time,
            observed[observed_indices] - weights @ observed[observed_indices],
            ensemble - zeros,
        )
    return time, zero_at_start(time, observed[observed_indices]), zero_at_start(time, ensemble)
