r"""How wrong the heading is that counts as right, and what is left of a yaw error for the IMU.

A recorded yaw error is the reference's error less the IMU's. The first is taken as a normal process

.. math:: r(t) = \sigma(t) g(t) - l \dot\psi(t) + k \psi(t)

with :math:`g` of unit variance and the correlation :math:`e^{-|t|/T}`, :math:`\sigma` as the
recording or its smoothing says it, a constant lag :math:`l` of a receiver's filter, and a constant
:math:`k` by which odometry turns too far, as by a wrong track width (Borenstein and Feng:
Measurement and correction of systematic odometry errors in mobile robots, IEEE Transactions on
Robotics and Automation 12(6), 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from imu_simulation_framework.core.angles import unwrap
from imu_simulation_framework.core.signals import Spectrum, power_spectral_density
from imu_simulation_framework.core.tables import REFERENCE_ERROR
from imu_simulation_framework.heading.statistics import edge_samples

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
_MAX_POINTS, _MAX_AT_EDGE = 150, 10
"""Of an error that is split; more cost time and tell little more."""
_DRAWS = 1000
_STRENGTHS = np.logspace(-2.0, 1.0, 5)
"""Of what the IMU's error may consist of, at the end, over the observed error's size."""
_PASSING = 0.05
"""Correlation time of an IMU's error that passes, as of one that tilts, over the duration."""
_PASSING_STRENGTHS = np.array([0.01, 0.2, 0.5])
"""Of it, as of the others."""
_LARGE, _SMALL = 1e2, 1e-3
"""Of an unknown offset, and of what neither model means, over that size."""
_CHOSEN = 0.02
"""By which share the chosen samples may miss the rms of all."""
_NOTHING = 0.1
"""A limit below this share of the whole error cannot be told from nothing."""
_RATE_WINDOW = 0.5
"""Over which a heading's rate is taken [s], so that its noise is no turning."""
_SEED = 1
_SPECTRA = 20
"""Errors that a reference may have whose densities are averaged."""


@dataclass(frozen=True)
class ReferenceError:
    """What is known of the error of a reference's heading, over n samples.

    ``time`` (n,) [s]. ``std`` (n,): of the part that changes, with the correlation time
    ``correlation_time`` [s], in [rad]. ``rate`` and ``turn`` (n,): the heading's rate [rad/s], and
    how far it has turned [rad]. ``lag`` [s] and ``turn_error``: standard deviations of the two
    constants.
    """

    time: np.ndarray
    std: np.ndarray
    correlation_time: float
    rate: np.ndarray
    turn: np.ndarray
    lag: float = 0.0
    turn_error: float = 0.0

    @classmethod
    def of(
        cls, reference: pd.DataFrame, lag: float | None = None, turning: pd.Series | None = None
    ) -> ReferenceError | None:
        """Return what a table of poses says; None if it says nothing.

        ``reference``: Poses, perhaps with the columns ``yaw_std yaw_error_time yaw_lag
        turn_error``. ``lag``: how well it is known, if it has been found and taken off [s].
        ``turning``: heading that says how the robot turns [rad], indexed by time [s]; that of an
        IMU has less noise than the reference's, whose turning would be like its own error.
        """
        if not set(REFERENCE_ERROR) <= set(reference.columns):
            return None
        table = reference[["yaw", *REFERENCE_ERROR]].dropna()
        if len(table) < 2:
            return None
        time, yaw = table.index.to_numpy(dtype=float), unwrap(table["yaw"].to_numpy(dtype=float))
        correlation_time, stated, turn_error = (
            float(table[name].median()) for name in REFERENCE_ERROR[1:]
        )
        lag = stated if lag is None else lag
        rate, turn = np.gradient(yaw, time), yaw
        if turning is not None:
            rate, turn = _turning(turning, time)
        return cls(
            time,
            table["yaw_std"].to_numpy(dtype=float),
            correlation_time,
            rate,
            turn - turn[0],
            lag,
            turn_error,
        )

    def at(self, time: np.ndarray) -> ReferenceError:
        """Return the same at other times (m,), which are counted from the first of them."""
        curves = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        std, rate, turn = curves
        return replace(self, time=time - time[:1], std=std, rate=rate, turn=turn - turn[:1])

    def covariance(self, time: np.ndarray) -> np.ndarray:
        """Return the error's covariance at some times (m,), (m, m) [rad^2]."""
        std, rate, turn = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        apart = np.abs(np.subtract.outer(time, time))
        covariance = np.outer(std, std) * np.exp(-apart / self.correlation_time)
        covariance += self.lag**2 * np.outer(rate, rate)
        return covariance + self.turn_error**2 * np.outer(turn, turn)

    def drawn(self, runs: int, random: np.random.Generator) -> np.ndarray:
        """Return errors that the reference may have, (runs, n) [rad]."""
        lag, turn_error = random.standard_normal((2, runs, 1))
        errors = self.turn_error * turn_error * self.turn - self.lag * lag * self.rate
        kept = np.exp(-np.diff(self.time, prepend=self.time[:1] - np.inf) / self.correlation_time)
        process = np.zeros(runs)
        for sample, share in enumerate(kept):
            process = share * process
            process += math.sqrt(1.0 - share**2) * random.standard_normal(runs)
            errors[:, sample] += self.std[sample] * process
        return errors

    def change_variance(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the variance of what the error changes from some times to others (m,) [rad^2]."""
        std, other = (np.interp(at, self.time, self.std) for at in (starts, ends))
        alike = np.exp(-np.abs(ends - starts) / self.correlation_time)
        variance = std**2 + other**2 - 2.0 * alike * std * other
        for constant, curve in ((self.lag, self.rate), (self.turn_error, self.turn)):
            change = np.interp(ends, self.time, curve) - np.interp(starts, self.time, curve)
            variance += (constant * change) ** 2
        return variance


def expected_spectrum(reference: ReferenceError, time: np.ndarray) -> Spectrum | None:
    """Return the density that a reference's error alone gives to a yaw error [rad^2/Hz].

    The mean of drawn errors, between the reference's samples as a yaw error is. ``time`` (m,): of
    the yaw error [s]. None if there are too few samples.
    """
    drawn = reference.drawn(_SPECTRA, np.random.default_rng(_SEED))
    errors = (np.interp(time, reference.time, error) for error in drawn)
    spectra = [found for found in (power_spectral_density(time, e) for e in errors) if found]
    if not spectra:
        return None
    return replace(spectra[0], density=np.mean([one.density for one in spectra], axis=0))


def _turning(heading, time):
    """Return how fast a heading turns at some times (n,) [rad/s], and that heading [rad]."""
    stamps, yaw = heading.index.to_numpy(dtype=float), unwrap(heading.to_numpy(dtype=float))
    before, now, later = (np.interp(time + a * _RATE_WINDOW, stamps, yaw) for a in (-0.5, 0.0, 0.5))
    return (later - before) / _RATE_WINDOW, now


@dataclass(frozen=True)
class ErrorSplit:
    """Whose a yaw error is.

    ``reference``: rms that the reference's error is expected to have [rad]. ``imu``: rms of the
    IMU's own, and its 95 % interval from ``imu_low`` to ``imu_high`` [rad]: with a ``imu_low`` of
    zero the reference alone may be all of it. These three are NaN where less was observed than the
    reference alone leads to in 97.5 % of drives: then it is better than it says, and nothing can be
    said of the IMU. ``imu_final``: the IMU's own final error [rad] from where it was over the
    start, as all samples together tell it, and its 95 % interval from ``imu_final_low`` to
    ``imu_final_high``; NaN as above. ``final_std`` [rad] and ``drift_std`` [rad/s]:
    standard deviations that the reference's error gives to the final error and to its slope.
    ``band``: its standard deviation [rad], indexed by time [s], zero on the start as the error is.
    ``process``: what it was taken for.
    """

    reference: float
    imu: float
    imu_low: float
    imu_high: float
    imu_final: float
    imu_final_low: float
    imu_final_high: float
    final_std: float
    drift_std: float
    band: pd.Series
    process: ReferenceError

    def imu_words(self) -> str:
        """Return what can be said of the IMU's own rms, in degrees."""
        if math.isnan(self.imu):
            return "nothing, as the reference is better than it says"
        low, own, high = (f"{math.degrees(a):.2f}" for a in (self.imu_low, self.imu, self.imu_high))
        return f"{own} ({low} to {high})" if self.imu_low > 0.0 else f"< {high}"


def split_error(error: pd.Series, reference: ReferenceError, start_window: float) -> ErrorSplit:
    """Split a yaw error into the reference's part and the IMU's.

    Both are normal processes, and what is observed is their sum and a constant. The IMU's is an
    angle random walk, a rate bias, a scale factor and an error that passes, as of misaligned axes
    that tilt, whose strengths are unknown over powers of ten and weighed by their likelihood; of
    the IMU's part, given what was observed, the rms is drawn (Rasmussen and Williams: Gaussian
    processes for machine learning, 2006, chapter 2; draws by Matheron's rule, Wilson et al.,
    Journal of Machine Learning Research 22, 2021).

    ``error``: zero at the start [rad]; index time [s]. ``start_window``: over whose mean both parts
    are zero [s].
    """
    import pandas as pd

    inside = (error.index >= reference.time[0]) & (error.index <= reference.time[-1])
    error = error[inside] if inside.any() else error
    times = error.index.to_numpy(dtype=float)
    first, last = (edge_samples(times, start_window, at_end) for at_end in (False, True))
    every = len(times)
    chosen = np.unique(
        np.concatenate(
            [
                np.linspace(begin, end - 1, min(end - begin, most)).astype(int)
                for begin, end, most in (
                    (0, every, _MAX_POINTS),
                    (0, first, _MAX_AT_EDGE),
                    (every - last, every, _MAX_AT_EDGE),
                )
            ]
        )
    )
    time = times[chosen]
    values = error.to_numpy(dtype=float)[chosen]
    count, random = len(time), np.random.default_rng(_SEED)
    at_start = np.zeros(count)
    at_start[: edge_samples(time, start_window)] = 1.0
    zeroed = np.eye(count) - at_start / at_start.sum()
    raw = reference.covariance(time)
    covariance = zeroed @ raw @ zeroed.T
    # Each stands for the samples around it, and none for a gap beside it.
    lasting = np.gradient(chosen.astype(float)) if count > 1 else np.ones(1)
    lasting = lasting / lasting.sum()
    variance, squares = np.diag(covariance), float(lasting @ values**2)
    drawn = zeroed @ _root(raw) @ random.standard_normal((count, _DRAWS))
    outside = 0.5 - 0.5 * CONFIDENCE
    slope = time - time.mean()
    slope /= max(slope @ slope, np.finfo(float).tiny)
    at_end = np.zeros(count)
    at_end[-edge_samples(time, start_window, at_end=True) :] = 1.0
    at_end /= at_end.sum()
    if squares < np.quantile(lasting @ drawn**2, outside):
        own, final = np.full(3, math.nan), np.full(3, math.nan)
    else:
        turn = np.interp(time, reference.time, reference.turn)
        sensor = zeroed @ _drawn_of_imu(time - time[0], values, turn, raw, random)
        shares = [0.5, outside, 1.0 - outside]
        own, final = (
            np.quantile(of_runs, shares)
            for of_runs in (np.sqrt(lasting @ sensor**2), at_end @ sensor)
        )
        own[1:] *= 1.0 - _CHOSEN, 1.0 + _CHOSEN
        if own[1] < _NOTHING * math.sqrt(squares):
            own[1] = 0.0
    (imu, low, high), (final_error, final_low, final_high) = own.tolist(), final.tolist()
    return ErrorSplit(
        math.sqrt(max(0.0, lasting @ variance)),
        imu,
        low,
        high,
        final_error,
        final_low,
        final_high,
        math.sqrt(max(0.0, at_end @ covariance @ at_end)),
        math.sqrt(max(0.0, slope @ covariance @ slope)),
        pd.Series(
            np.sqrt(np.maximum(variance, 0.0)),
            index=pd.Index(time, name="time"),
            name="reference_std",
        ),
        reference,
    )


def _root(covariance):
    """Return a matrix whose product with its transpose is the covariance, singular or not."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _drawn_of_imu(time, error, turn, of_reference, random):
    """Return what of an error (m,) may be the IMU's, (m, draws) [rad]."""
    from scipy.linalg import cho_factor, cho_solve

    count, size = len(time), max(float(np.std(error)), 1e-9)
    walk = np.minimum.outer(time, time) / max(time[-1], 1e-9)
    apart = np.abs(np.subtract.outer(time, time))
    passing = np.exp(-apart / max(_PASSING * time[-1], 1e-9))
    curves = np.column_stack([curve / max(np.max(np.abs(curve)), 1e-9) for curve in (time, turn)])
    fixed = of_reference + (_LARGE * size) ** 2 + (_SMALL * size) ** 2 * np.eye(count)
    grid, likelihoods = [], []
    for lasting, short in product(size * _STRENGTHS, size * _PASSING_STRENGTHS):
        own = lasting**2 * walk + short**2 * passing
        root, factor = _root(own), cho_factor(fixed + own, lower=True)
        explained = cho_solve(factor, curves)
        alike, common = curves.T @ explained, explained.T @ error
        rest = error @ cho_solve(factor, error) + 2.0 * np.sum(np.log(np.diag(factor[0])))
        for strengths in product(size * _STRENGTHS, repeat=2):
            # Two curves more are a matrix of two rows more (Woodbury's identity).
            inner = np.diag(np.array(strengths) ** -2.0) + alike
            likelihoods.append(
                -0.5 * (rest - common @ np.linalg.solve(inner, common))
                - 0.5 * np.linalg.slogdet(inner)[1]
                - np.sum(np.log(strengths))
            )
            grid.append((own, root, factor, explained, inner, np.array(strengths)))
    weights = np.exp(np.array(likelihoods) - max(likelihoods))
    root_of_fixed, drawn = _root(fixed), []
    for which, times in enumerate(random.multinomial(_DRAWS, weights / weights.sum())):
        if times == 0:
            continue
        own, root, factor, explained, inner, strengths = grid[which]
        sensor = root @ random.standard_normal((count, times))
        sensor += curves * strengths @ random.standard_normal((2, times))
        rest = error[:, np.newaxis] - sensor
        rest -= root_of_fixed @ random.standard_normal((count, times))
        solved = cho_solve(factor, rest)
        solved -= explained @ np.linalg.solve(inner, explained.T @ rest)
        drawn.append(sensor + own @ solved + curves * strengths**2 @ (curves.T @ solved))
    return np.hstack(drawn)
