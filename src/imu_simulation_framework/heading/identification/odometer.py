r"""UMBmark's errors of an odometer, identified from one drive with a reference of its yaw.

With w the way of the middle between the wheels and :math:`\psi` the reference's turn, wheels of
diameters 1 to E_d and a track E_b times the believed one, b, make the odometer say

.. math:: q \psi + p w, \qquad q = \frac{E_b (1 + E_d)^2}{4 E_d}, \quad
          p = \frac{1 - E_d^2}{2 E_d b}

(:mod:`.heading.model.odometer`, the mean radius taken as right), so that the reference minus the
odometer is linear in both. Steps of that difference have the variance of the slip, which grows with
what both wheels roll, and that of white noise at either end; both are found by restricted maximum
likelihood (H. D. Patterson and R. Thompson, "Recovery of inter-block information when block sizes
are unequal", Biometrika 58, 1971), p and q by generalised least squares. Where what is left wanders
further over the drive than its steps tell, as by wheels or ground that change, the variances of
what was found and of the slip are as many times larger (the long-run variance by equally weighted
cosines of E. Lazarus, D. Lewis, J. Stock and M. Watson, "HAR inference: recommendations for
practice", Journal of Business and Economic Statistics 36, 2018).
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
from ...core.errors import RecordingError
from ...core.tables import POSES
from ...sensors.odometer import OdometerSpecification
from ..statistics import TWO_SIDED

MIN_STEPS = 30
"""Of a drive, at least, from which errors are identified."""
LARGEST_SIGMA = 0.1
"""Of a ratio that was identified; beyond it the drive has not told it."""
_COSINES, _MAX_WANDER = 6, 2.8
"""By how many the long-run variance is found, and how much of it a hundredth of all drives exceeds
where each step's slip is its own: chi-squared over its degrees of freedom."""
_SMALLEST = 1e-14
"""Of the variances that are looked for [rad^2]; it keeps the steps' covariance positive."""


class Prediction(NamedTuple):
    """The second half of a drive, predicted by what its first half tells.

    ``predicted``, ``observed``: how much the error grows in it [rad]; ``std`` [rad].
    """

    predicted: float
    std: float
    observed: float


@dataclass(frozen=True)
class IdentifiedOdometer:
    """What a drive tells of an odometer.

    ``specification`` (OdometerSpecification): E_d, E_b and slip, E_d and E_b with standard errors
    as what is not known of this one. ``slip_factor``: by which the slip may be larger or smaller,
    95 %; infinite where the drive does not tell. ``noise``: white, of the difference [rad].
    ``error`` (Series): reference minus odometer [rad], zero at first, indexed by time [s];
    ``explained`` (n,): by wheels and track [rad]. ``way`` [m] and ``turn`` [rad] that the drive
    holds. ``wander``: by what factor variances were widened, as what is left wanders further than
    its steps tell; 1 where it does not. ``prediction``: None where a half is too short, or does not
    tell.
    """

    specification: OdometerSpecification
    slip_factor: float
    noise: float
    error: pd.Series
    explained: np.ndarray
    way: float
    turn: float
    wander: float
    prediction: Prediction | None


class _Fit(NamedTuple):
    of_turn: float
    of_way: float
    covariance: np.ndarray
    walk: float
    noise: float
    walk_factor: float
    wander: float


def identify_odometer(
    odometry: pd.DataFrame, reference: pd.Series, track: float, step: float = 1.0
) -> IdentifiedOdometer:
    """Return the errors of an odometer on a drive.

    ``odometry``: columns x, y [m] and yaw [rad], indexed by time [s]. ``reference``: the yaw [rad]
    on the same clock; of it only white noise is allowed for, a drift counts as the odometer's.
    ``track``: which the odometer believes in [m]. ``step``: from one difference to the next [s].
    Raises RecordingError: there are fewer than :data:`MIN_STEPS` steps in common, or the drive does
    not tell E_d or E_b.
    """
    time, way, yaw, turn = _on_common_times(odometry, reference, step)
    error = turn - yaw
    steps = np.diff(error)
    regressors = np.column_stack([-np.diff(turn), -np.diff(way)])
    rolled = np.sum([np.abs(np.diff(way + side * 0.5 * track * yaw)) for side in (-1, 1)], axis=0)
    if not np.any(rolled > 0.0):
        raise RecordingError("the odometer stands still all the time; there is nothing to identify")
    fit = _fitted(steps, regressors, rolled)
    explained = np.concatenate([[0.0], np.cumsum(regressors @ [fit.of_turn, fit.of_way])])
    return IdentifiedOdometer(
        _specification(fit, track),
        math.sqrt(fit.walk_factor),
        math.sqrt(fit.noise),
        pd.Series(error, index=pd.Index(time, name="time")),
        explained,
        float(np.sum(np.abs(np.diff(way)))),
        float(np.sum(np.abs(np.diff(turn)))),
        fit.wander,
        _prediction(steps, regressors, rolled),
    )


def _on_common_times(
    odometry: pd.DataFrame, reference: pd.Series, step: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return times (n,), and way, yaw and the reference's yaw since the first of them, (n,)."""
    at, of_reference = (table.index.to_numpy(dtype=float) for table in (odometry, reference))
    first, last = max(at[0], of_reference[0]), min(at[-1], of_reference[-1])
    count = int((last - first) / step + 1e-9) + 1
    if count <= MIN_STEPS:
        raise RecordingError(
            f"odometry and reference have {max(last - first, 0.0):.3g} s in common, but at least "
            f"{MIN_STEPS} steps of {step:g} s are needed"
        )
    x, y, yaw = (odometry[name].to_numpy() for name in POSES)
    yaw = unwrap(yaw)
    along = 0.5 * (yaw[1:] + yaw[:-1])
    forward = np.cos(along) * np.diff(x) + np.sin(along) * np.diff(y)
    way = np.concatenate([[0.0], np.cumsum(forward)])
    time = first + step * np.arange(count)
    curves = [np.interp(time, at, way), np.interp(time, at, yaw)]
    curves.append(np.interp(time, of_reference, unwrap(reference.to_numpy())))
    way_at, yaw_at, turn = (curve - curve[0] for curve in curves)
    return time, way_at, yaw_at, turn


def _fitted(steps: np.ndarray, regressors: np.ndarray, rolled: np.ndarray) -> _Fit:
    """Return what explains steps (n,) by regressors (n, 2) and what rolled (n,) [m]."""
    plain, *_ = np.linalg.lstsq(regressors, steps, rcond=None)
    left = max(float(np.mean((steps - regressors @ plain) ** 2)), _SMALLEST)
    total = float(np.mean(rolled))

    def criterion(logarithms: np.ndarray) -> float:
        return _solved(steps, regressors, rolled, *np.exp(logarithms))[0]

    starts = [
        np.log([share * left / total, max(0.5 * (1.0 - share) * left, _SMALLEST)])
        for share in (0.99, 0.5, 0.01)
    ]
    lowest = math.log(_SMALLEST)
    bounds = [(lowest - math.log(total), None), (lowest, None)]
    found = min(
        (minimize(criterion, start, bounds=bounds, method="L-BFGS-B") for start in starts),
        key=lambda one: float(one.fun),
    )
    walk, noise = np.exp(found.x)
    _, covariance, (of_turn, of_way), remainder = _solved(steps, regressors, rolled, walk, noise)
    factor, wander = _factor(criterion, found.x), _wander(remainder)
    if wander > 1.0:
        covariance, walk = wander * covariance, wander * walk
        factor *= math.exp(TWO_SIDED * math.sqrt(2.0 / _COSINES))
    return _Fit(of_turn, of_way, covariance, float(walk), float(noise), factor, wander)


def _wander(remainder: np.ndarray) -> float:
    """Return the variance of remainders' (n,) slowest changes, or 1 where it is not above it."""
    count = len(remainder)
    phase = np.pi * (np.arange(count) + 0.5) / count
    slow = np.cos(np.outer(np.arange(1, _COSINES + 1), phase)) @ remainder
    found = 2.0 * float(slow @ slow) / (count * _COSINES)
    return found if found > _MAX_WANDER else 1.0


def _solved(
    steps: np.ndarray, regressors: np.ndarray, rolled: np.ndarray, walk: float, noise: float
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Return minus the restricted log likelihood, the estimates' covariance, they, and remainders.

    ``walk``: variance by metre [rad^2/m]; ``noise``: of each error [rad^2].
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


def _factor(criterion: Callable[[np.ndarray], float], found: np.ndarray) -> float:
    """Return by what factor the walk's variance may differ, 95 %, by the curvature."""
    away = 0.1 * np.eye(2)
    middle = criterion(found)
    hessian = np.empty((2, 2))
    for row in range(2):
        ends = criterion(found + away[row]) + criterion(found - away[row])
        hessian[row, row] = (ends - 2.0 * middle) / 0.01
    same = criterion(found + away[0] + away[1]) + criterion(found - away[0] - away[1])
    other = criterion(found + away[0] - away[1]) + criterion(found - away[0] + away[1])
    hessian[0, 1] = hessian[1, 0] = (same - other) / 0.04
    if hessian[1, 1] < 1e-3:  # the noise is not seen, and takes nothing from the walk
        variance = 1.0 / hessian[0, 0] if hessian[0, 0] > 0.0 else math.inf
    else:
        rest = hessian[0, 0] - hessian[0, 1] ** 2 / hessian[1, 1]
        variance = 1.0 / rest if rest > 0.0 else math.inf
    if math.isinf(variance):
        return math.inf
    return math.exp(min(TWO_SIDED * math.sqrt(variance), 700.0))


def _specification(fit: _Fit, track: float) -> OdometerSpecification:
    # E_d of p: E_d^2 + 2 b p E_d = 1.
    half = track * fit.of_way
    ratio = math.hypot(half, 1.0) - half
    turn_std, way_std = np.sqrt(np.diag(fit.covariance))
    tracks = (1.0 + fit.of_turn) * 4.0 * ratio / (1.0 + ratio) ** 2
    sigmas = {"E_d": track * way_std, "E_b": turn_std}
    for name, sigma in sigmas.items():
        if not sigma <= LARGEST_SIGMA:
            raise RecordingError(
                f"the drive tells {name} to +- {sigma:.2g} only; E_d needs a long way straight on, "
                "E_b turns"
            )
    if not (0.5 <= ratio <= 2.0 and 0.5 <= tracks <= 2.0):
        raise RecordingError(
            f"E_d would be {ratio:.3g} and E_b {tracks:.3g}, expected between 0.5 and 2; do both "
            "yaws count the same way round, in one unit, and is the track right?"
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
    half = len(steps) // 2
    if half < MIN_STEPS or not np.any(rolled[:half] > 0.0):
        return None
    fit = _fitted(steps[:half], regressors[:half], rolled[:half])
    if not np.all(np.isfinite(fit.covariance)):
        return None
    rest = np.sum(regressors[half:], axis=0)
    variance = rest @ fit.covariance @ rest + fit.walk * np.sum(rolled[half:]) + 2.0 * fit.noise
    predicted = float(rest @ [fit.of_turn, fit.of_way])
    return Prediction(predicted, math.sqrt(float(variance)), float(np.sum(steps[half:])))
