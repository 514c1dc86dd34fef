r"""How wrong the heading is that counts as right.

A recorded yaw error is the reference's error less the IMU's. The first is taken as a normal process

.. math:: r(t) = \sigma(t) g(t) - l \dot\psi(t) + k \psi(t) + s w(|\psi|)

with :math:`g` of unit variance and the correlation :math:`e^{-|t|/T}`, :math:`\sigma` as the
recording or its smoothing says it, a constant lag :math:`l` of a receiver's filter, and a constant
:math:`k` by which odometry turns too far, as by a wrong track width (Borenstein and Feng:
Measurement and correction of systematic odometry errors in mobile robots, IEEE Transactions on
Robotics and Automation 12(6), 1996), and a random walk :math:`w` over what it has turned to either
side, as wheels slip in turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.angles import unwrap
from ..core.signals import Spectrum, power_spectral_density
from ..core.tables import REFERENCE_ERROR, TURN_SLIP

if TYPE_CHECKING:
    import pandas as pd

_RATE_WINDOW = 0.5
"""Over which a heading's rate is taken [s], so that its noise is no turning."""
_PHASES = 20
"""Of a step at which a heading may be looked at."""
_SEED = 1
_SPECTRA = 20
"""Errors that a reference may have whose densities are averaged."""


@dataclass(frozen=True)
class ReferenceError:
    """What is known of the error of a reference's heading, over n samples.

    ``time`` (n,) [s]. ``std`` (n,): of the part that changes, with the correlation time
    ``correlation_time`` [s], in [rad]. ``rate`` and ``turn`` (n,): the heading's rate [rad/s], and
    how far it has turned [rad]. ``lag`` [s] and ``turn_error``: standard deviations of the two
    constants. ``slip``: strength of the walk over the turn [rad/sqrt(rad)].
    """

    time: np.ndarray
    std: np.ndarray
    correlation_time: float
    rate: np.ndarray
    turn: np.ndarray
    lag: float = 0.0
    turn_error: float = 0.0
    slip: float = 0.0

    @classmethod
    def of(
        cls, reference: pd.DataFrame, lag: float | None = None, turning: pd.Series | None = None
    ) -> ReferenceError | None:
        """Return what a table of poses says; None if it says nothing.

        ``reference``: Poses, perhaps with the columns ``yaw_std yaw_error_time yaw_lag
        turn_error`` and ``turn_slip``. ``lag``: how well it is known, if it has been found and
        taken off [s]. ``turning``: heading that says how the robot turns [rad], indexed by time
        [s]; that of an IMU has less noise than the reference's, whose turning would be like its own
        error.
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
            float(reference[TURN_SLIP].median()) if TURN_SLIP in reference else 0.0,
        )

    @property
    def absolute_turn(self) -> np.ndarray:
        """How far the heading has turned to either side, (n,) [rad]."""
        # Imported here, since every node knows this module's settings, and it takes memory.
        from ..motion.motion import absolute_turn

        return absolute_turn(self.turn)

    def at(self, time: np.ndarray) -> ReferenceError:
        """Return the same at other times (m,), which are counted from the first of them."""
        curves = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        std, rate, turn = curves
        return replace(self, time=time - time[:1], std=std, rate=rate, turn=turn - turn[:1])

    def surest_phase(self, first: float, last: float, step: float) -> float:
        """Return how much later than the first time the heading is best known, step by step [s].

        A course is best known where velocities were measured, between which the robot may have
        turned as it likes. ``first``, ``last``, ``step`` [s].
        """
        phases = step * np.linspace(0.0, 1.0, _PHASES, endpoint=False)
        at = np.arange(first, last - step, step)
        known = [np.median(np.interp(at + phase, self.time, self.std)) for phase in phases]
        return float(phases[np.argmin(known)]) if len(at) else 0.0

    def covariance(self, time: np.ndarray) -> np.ndarray:
        """Return the error's covariance at some times (m,), (m, m) [rad^2]."""
        std, rate, turn = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        apart = np.abs(np.subtract.outer(time, time))
        covariance = np.outer(std, std) * np.exp(-apart / self.correlation_time)
        covariance += self.lag**2 * np.outer(rate, rate)
        if self.slip:
            turned = np.interp(time, self.time, self.absolute_turn)
            covariance += self.slip**2 * np.minimum.outer(turned, turned)
        return covariance + self.turn_error**2 * np.outer(turn, turn)

    def covariance_of_means(self, time: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """Return the covariance of the error's means over stretches, (m, m) [rad^2].

        ``time`` (n,): of the samples [s], about even within a stretch. ``begins`` (m,): number of
        each stretch's first sample, 0 first.
        """
        std, rate, turn = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        counts = np.diff(begins, append=len(time))
        firsts, lasts = (np.repeat(time[at], counts) for at in (begins, begins + counts - 1))

        def means(values: np.ndarray) -> np.ndarray:
            return np.add.reduceat(values, begins) / counts

        # exp(-|t|/T) between samples of two stretches is a product: to the end of the first one,
        # from there to the beginning of the second one, and on from that.
        up_to_end = means(std * np.exp((time - lasts) / self.correlation_time))
        from_begin = means(std * np.exp((firsts - time) / self.correlation_time))
        between = np.maximum(np.subtract.outer(firsts[begins], lasts[begins]), 0.0).T
        later = np.outer(up_to_end, from_begin) * np.exp(-between / self.correlation_time)
        covariance = np.triu(later, 1)
        covariance += covariance.T
        steps = (lasts - firsts)[begins] / np.maximum(counts - 1, 1)
        alike = _mean_correlation(counts, steps / self.correlation_time)
        covariance[np.diag_indices(len(begins))] = means(std**2) * alike
        for constant, curve in ((self.lag, rate), (self.turn_error, turn)):
            covariance += constant**2 * np.outer(means(curve), means(curve))
        if self.slip:
            turned = np.interp(time, self.time, self.absolute_turn)
            covariance += self.slip**2 * walk_of_means(turned, begins)
        return covariance

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
        if self.slip:
            steps = self.slip * np.sqrt(np.diff(self.absolute_turn, prepend=0.0))
            errors += np.cumsum(steps * random.standard_normal(errors.shape), axis=1)
        return errors

    def change_variance(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the variance of what the error changes from some times to others (m,) [rad^2]."""
        std, other = (np.interp(at, self.time, self.std) for at in (starts, ends))
        alike = np.exp(-np.abs(ends - starts) / self.correlation_time)
        variance = std**2 + other**2 - 2.0 * alike * std * other
        for constant, curve in ((self.lag, self.rate), (self.turn_error, self.turn)):
            change = np.interp(ends, self.time, curve) - np.interp(starts, self.time, curve)
            variance += (constant * change) ** 2
        if self.slip:
            begun, ended = (np.interp(at, self.time, self.absolute_turn) for at in (starts, ends))
            variance += self.slip**2 * np.abs(ended - begun)
        return variance


def walk_of_means(variance: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return the covariance of a random walk's means over stretches, (m, m).

    ``variance`` (n,): of the walk at each sample, which never decreases. ``begins`` (m,): number of
    each stretch's first sample, 0 first.
    """
    counts = np.repeat(np.diff(begins, append=len(variance)), np.diff(begins, append=len(variance)))
    means = np.add.reduceat(variance / counts, begins)
    covariance = np.minimum.outer(means, means)
    # Of all pairs within a stretch each sample is the first one in so many.
    places = np.arange(len(variance)) - np.repeat(begins, counts[begins])
    pairs = variance * (2 * (counts - places) - 1) / counts.astype(float) ** 2
    covariance[np.diag_indices(len(begins))] = np.add.reduceat(pairs, begins)
    return covariance


def _mean_correlation(counts: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return the mean of exp(-|i - j| step) over all pairs of so many samples each, (m,)."""
    kept, lost = np.exp(-steps), -np.expm1(-steps)
    # Numerator and denominator of the closed form vanish together where the samples are alike.
    nearly = 1.0 - steps * (counts - 1.0 / counts) / 3.0
    safe = np.where(counts * lost < 1e-3, 1.0, lost)
    exact = counts * (1.0 - kept**2) - 2.0 * kept * (1.0 - kept**counts)
    return np.where(counts * lost < 1e-3, nearly, exact / (counts * safe) ** 2)


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
