r"""Identification of an odometer's systematic errors (as in UMBmark) and slip from a drive.

Let w be the distance travelled by the midpoint between the wheels, and :math:`\psi` the turn of the
reference. An odometer with the ratio E_d of wheel diameters and a track E_b times the assumed track
b outputs the yaw

.. math:: q \psi + p w, \qquad q = \frac{E_b (1 + E_d)^2}{4 E_d}, \quad
          p = \frac{1 - E_d^2}{2 E_d b}

(:mod:`.heading.model.odometer`, with the correct mean radius), so that the difference between
reference and odometer is linear in both. Steps of that difference have the variance of the slip,
which grows with the rolling distance of both wheels, plus that of white noise at either end. Both
variances are estimated by restricted maximum likelihood (H. D. Patterson and R. Thompson, "Recovery
of inter-block information when block sizes are unequal", Biometrika 58, 1971), p and q by
generalised least squares. If the residuals wander more over the drive than their steps predict, for
example because wheels or ground change, the variances of the estimates and of the slip are
multiplied by that ratio (the long-run variance from equally weighted cosines by E. Lazarus, D.
Lewis, J. Stock and M. Watson, "HAR inference: recommendations for practice", Journal of Business
and Economic Statistics 36, 2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import cho_solve_banded, cholesky_banded, solve_banded
from scipy.optimize import minimize

from ...core.angles import unwrap
from ...core.deprecated import deprecated_names
from ...core.errors import RecordingError
from ...core.tables import POSES
from ...sensors.odometer import OdometerSpecification
from ..statistics import TWO_SIDED

MIN_STEPS = 30
"""Minimum number of time steps of a drive from which odometer errors are identified."""
MAX_SIGMA = 0.1
"""Largest accepted standard error of the diameter ratio E_d or the track ratio E_b."""
_COSINE_COUNT, _WANDER_LIMIT = 6, 2.8
"""Number of cosines for the long-run variance, and limit of the variance ratio.

The limit is chi-squared over its degrees of freedom; independent slips exceed it in one of a
hundred drives."""
_MIN_VARIANCE = 1e-14
"""Lower bound on variances in the search [rad^2], which keeps covariances positive definite."""


class Prediction(NamedTuple):
    """Prediction of the odometer's error in the second half of a drive from the first half.

    Attributes
    ----------
    predicted, observed : float
        Growth of the error in the second half [rad].
    std : float
        Standard deviation of the prediction [rad].
    """

    predicted: float
    std: float
    observed: float


@deprecated_names(way="distance")
@dataclass(frozen=True)
class IdentifiedOdometer:
    """Errors of an odometer identified from a drive.

    Parameters
    ----------
    specification : OdometerSpecification
        E_d, E_b and slip. The standard deviations of E_d and E_b are the standard errors of their
        estimates.
    slip_factor : float
        Ratio between the slip and either end of its 95 % interval; infinite if the drive does not
        determine the slip.
    noise : float
        Standard deviation of the white noise in the difference [rad].
    error : pandas.Series
        Reference minus odometer, starting at zero [rad], indexed by time [s].
    explained : numpy.ndarray
        Error due to wheels and track, shape (n,) [rad].
    distance, turn : float
        Travelled distance [m] and accumulated turn to either side [rad] of the drive.
    wander : float
        Factor for the variances due to the wander of the residuals; 1 without wander.
    prediction : Prediction or None
        Prediction; None if a half is too short, or does not determine the errors.
    """

    specification: OdometerSpecification
    slip_factor: float
    noise: float
    error: pd.Series
    explained: np.ndarray
    distance: float
    turn: float
    wander: float
    prediction: Prediction | None


class _CommonSamples(NamedTuple):
    """Odometer distance [m], odometer yaw and reference yaw [rad] at common times [s]."""

    time: np.ndarray
    distance: np.ndarray
    yaw: np.ndarray
    reference_yaw: np.ndarray


class _Fit(NamedTuple):
    turn_coefficient: float
    distance_coefficient: float
    covariance: np.ndarray
    walk: float
    noise: float
    walk_factor: float
    wander: float


def identify_odometer(
    odometry: pd.DataFrame, reference: pd.Series, track: float, step: float = 1.0
) -> IdentifiedOdometer:
    """Identify the errors of an odometer from a drive.

    Parameters
    ----------
    odometry : pandas.DataFrame
        Columns x, y [m] and yaw [rad], indexed by time [s].
    reference : pandas.Series
        Yaw on the same clock [rad]. Its white noise is estimated; its drift is attributed to the
        odometer.
    track : float
        Track that the odometer assumes [m].
    step : float, optional
        Time step between differences [s].

    Returns
    -------
    IdentifiedOdometer

    Raises
    ------
    RecordingError
        If odometry and reference have fewer than :data:`MIN_STEPS` steps in common, the odometer
        does not move, or the drive does not determine E_d or E_b.
    """
    common = _sample_common_times(odometry, reference, step)
    time, distance, yaw, turn = common.time, common.distance, common.yaw, common.reference_yaw
    error = turn - yaw
    steps = np.diff(error)
    regressors = np.column_stack([-np.diff(turn), -np.diff(distance)])
    rolled = np.sum(
        [np.abs(np.diff(distance + side * 0.5 * track * yaw)) for side in (-1, 1)], axis=0
    )
    if not np.any(rolled > 0.0):
        raise RecordingError("odometry: all wheel speeds are zero, expected motion")
    fit = _fit(steps, regressors, rolled)
    explained = np.concatenate(
        [[0.0], np.cumsum(regressors @ [fit.turn_coefficient, fit.distance_coefficient])]
    )
    return IdentifiedOdometer(
        specification=_specification(fit, track),
        slip_factor=math.sqrt(fit.walk_factor),
        noise=math.sqrt(fit.noise),
        error=pd.Series(error, index=pd.Index(time, name="time")),
        explained=explained,
        distance=float(np.sum(np.abs(np.diff(distance)))),
        turn=float(np.sum(np.abs(np.diff(turn)))),
        wander=fit.wander,
        prediction=_prediction(steps, regressors, rolled),
    )


def _sample_common_times(
    odometry: pd.DataFrame, reference: pd.Series, step: float
) -> _CommonSamples:
    odometry_times, reference_times = (
        table.index.to_numpy(dtype=float) for table in (odometry, reference)
    )
    first, last = (
        max(odometry_times[0], reference_times[0]),
        min(odometry_times[-1], reference_times[-1]),
    )
    count = int((last - first) / step + 1e-9) + 1
    if count <= MIN_STEPS:
        raise RecordingError(
            f"odometry and reference have {max(last - first, 0.0):.3g} s in common, expected at "
            f"least {MIN_STEPS} steps of {step:g} s"
        )
    x, y, yaw = (odometry[name].to_numpy() for name in POSES)
    yaw = unwrap(yaw)
    mean_yaw = 0.5 * (yaw[1:] + yaw[:-1])
    forward = np.cos(mean_yaw) * np.diff(x) + np.sin(mean_yaw) * np.diff(y)
    distance = np.concatenate([[0.0], np.cumsum(forward)])
    time = first + step * np.arange(count)
    curves = [np.interp(time, odometry_times, distance), np.interp(time, odometry_times, yaw)]
    curves.append(np.interp(time, reference_times, unwrap(reference.to_numpy())))
    distance_at, yaw_at, turn = (curve - curve[0] for curve in curves)
    return _CommonSamples(time, distance_at, yaw_at, turn)


def _fit(steps: np.ndarray, regressors: np.ndarray, rolled: np.ndarray) -> _Fit:
    """Fit error increments (n,) by regressors (n, 2), with slip per rolled distance (n,) [m]."""
    plain, *_ = np.linalg.lstsq(regressors, steps, rcond=None)
    remaining_variance = max(float(np.mean((steps - regressors @ plain) ** 2)), _MIN_VARIANCE)
    total = float(np.mean(rolled))

    def criterion(logarithms: np.ndarray) -> float:
        return _solve(steps, regressors, rolled, *np.exp(logarithms))[0]

    starts = [
        np.log(
            [
                share * remaining_variance / total,
                max(0.5 * (1.0 - share) * remaining_variance, _MIN_VARIANCE),
            ]
        )
        for share in (0.99, 0.5, 0.01)
    ]
    lowest = math.log(_MIN_VARIANCE)
    bounds = [(lowest - math.log(total), None), (lowest, None)]
    optimum = min(
        (minimize(criterion, start, bounds=bounds, method="L-BFGS-B") for start in starts),
        key=lambda result: float(result.fun),
    )
    walk, noise = np.exp(optimum.x)
    _, covariance, (turn_coefficient, distance_coefficient), remainder = _solve(
        steps, regressors, rolled, walk, noise
    )
    factor, wander = _walk_variance_factor(criterion, optimum.x), _wander_factor(remainder)
    if wander > 1.0:
        covariance, walk = wander * covariance, wander * walk
        factor *= math.exp(TWO_SIDED * math.sqrt(2.0 / _COSINE_COUNT))
    return _Fit(
        turn_coefficient,
        distance_coefficient,
        covariance,
        float(walk),
        float(noise),
        factor,
        wander,
    )


def _wander_factor(remainder: np.ndarray) -> float:
    """Return the variance inflation due to slow variations of the residuals (n,), at least 1."""
    count = len(remainder)
    phase = np.pi * (np.arange(count) + 0.5) / count
    slow = np.cos(np.outer(np.arange(1, _COSINE_COUNT + 1), phase)) @ remainder
    ratio = 2.0 * float(slow @ slow) / (count * _COSINE_COUNT)
    return ratio if ratio > _WANDER_LIMIT else 1.0


def _solve(
    steps: np.ndarray, regressors: np.ndarray, rolled: np.ndarray, walk: float, noise: float
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Return the negative restricted log-likelihood, covariance, estimates and residuals.

    ``walk``: variance per metre [rad^2/m]; ``noise``: variance of each error [rad^2].
    """
    band = np.vstack([walk * rolled + 2.0 * noise, np.full(len(steps), -noise)])
    root = cholesky_banded(band, lower=True)
    weighted = cho_solve_banded((root, True), regressors)
    information = regressors.T @ weighted
    covariance = np.linalg.pinv(information, hermitian=True)
    estimates = covariance @ (weighted.T @ steps)
    remainder = solve_banded((1, 0), root, steps - regressors @ estimates)
    minus = float(np.sum(np.log(root[0])) + 0.5 * remainder @ remainder)
    sign, determinant = np.linalg.slogdet(information)
    return minus + (0.5 * determinant if sign > 0.0 else 0.0), covariance, estimates, remainder


def _walk_variance_factor(criterion: Callable[[np.ndarray], float], optimum: np.ndarray) -> float:
    """Return the factor between the slip variance and either end of its 95 % interval."""
    steps = 0.1 * np.eye(2)
    minimum = criterion(optimum)
    hessian = np.empty((2, 2))
    for row in range(2):
        ends = criterion(optimum + steps[row]) + criterion(optimum - steps[row])
        hessian[row, row] = (ends - 2.0 * minimum) / 0.01
    same_signs = criterion(optimum + steps[0] + steps[1]) + criterion(optimum - steps[0] - steps[1])
    opposite_signs = criterion(optimum + steps[0] - steps[1]) + criterion(
        optimum - steps[0] + steps[1]
    )
    hessian[0, 1] = hessian[1, 0] = (same_signs - opposite_signs) / 0.04
    if hessian[1, 1] < 1e-3:  # the noise is not identifiable, and not correlated with the slip
        variance = 1.0 / hessian[0, 0] if hessian[0, 0] > 0.0 else math.inf
    else:
        curvature = hessian[0, 0] - hessian[0, 1] ** 2 / hessian[1, 1]
        variance = 1.0 / curvature if curvature > 0.0 else math.inf
    if math.isinf(variance):
        return math.inf
    return math.exp(min(TWO_SIDED * math.sqrt(variance), 700.0))


def _specification(fit: _Fit, track: float) -> OdometerSpecification:
    # E_d follows from p: E_d^2 + 2 b p E_d = 1.
    half = track * fit.distance_coefficient
    ratio = math.hypot(half, 1.0) - half
    turn_std, distance_std = np.sqrt(np.diag(fit.covariance))
    tracks = (1.0 + fit.turn_coefficient) * 4.0 * ratio / (1.0 + ratio) ** 2
    sigmas = {"E_d": track * distance_std, "E_b": turn_std}
    for name, sigma in sigmas.items():
        if not sigma <= MAX_SIGMA:
            raise RecordingError(
                f"the drive determines {name} only to +- {sigma:.2g}; E_d requires a long straight "
                "path, E_b turns"
            )
    if not (0.5 <= ratio <= 2.0 and 0.5 <= tracks <= 2.0):
        raise RecordingError(
            f"E_d is {ratio:.3g} and E_b is {tracks:.3g}, expected both between 0.5 and 2; check "
            "that both yaws have the same sign and unit, and that the track width is correct"
        )
    return OdometerSpecification(
        track=track,
        diameter_ratio=ratio,
        track_ratio=float(tracks),
        diameter_ratio_sigma=float(sigmas["E_d"]),
        track_ratio_sigma=float(sigmas["E_b"]),
        slip=min(math.sqrt(fit.walk) * track, 1.0),
    )


def _prediction(steps: np.ndarray, regressors: np.ndarray, rolled: np.ndarray) -> Prediction | None:
    half_count = len(steps) // 2
    if half_count < MIN_STEPS or not np.any(rolled[:half_count] > 0.0):
        return None
    fit = _fit(steps[:half_count], regressors[:half_count], rolled[:half_count])
    if not np.all(np.isfinite(fit.covariance)):
        return None
    total = np.sum(regressors[half_count:], axis=0)
    variance = (
        total @ fit.covariance @ total + fit.walk * np.sum(rolled[half_count:]) + 2.0 * fit.noise
    )
    predicted = float(total @ [fit.turn_coefficient, fit.distance_coefficient])
    return Prediction(predicted, math.sqrt(float(variance)), float(np.sum(steps[half_count:])))
