r"""Error of the heading that serves as the reference of a yaw error.

A recorded yaw error is the reference's error minus the IMU's. The former is a Gaussian process

.. math:: r(t) = \sigma(t) g(t) - l \dot\psi(t) + k \psi(t) + s w(|\psi|)

where :math:`g` has unit variance and the correlation :math:`e^{-|t|/T}`, :math:`\sigma` is stated
by the recording or by its smoothing, :math:`l` is the constant lag of a receiver's filter,
:math:`k` is the constant by which odometry turns too far, for example due to a wrong track width
(Borenstein and Feng: Measurement and correction of systematic odometry errors in mobile robots,
IEEE Transactions on Robotics and Automation 12(6), 1996), and :math:`w` is a random walk over the
turn to either side, since wheels slip in turns.
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
"""Averaging window for the heading rate [s], long enough to suppress noise."""
_PHASES = 20
"""Number of time offsets in the search for the samples at which a heading is most certain."""
_SEED = 1
_SPECTRA = 20
"""Number of error realisations over which a power spectral density is averaged."""


@dataclass(frozen=True)
class ReferenceError:
    """Model of the error of a reference heading over n samples.

    Parameters
    ----------
    time : numpy.ndarray
        Times, shape (n,) [s].
    std : numpy.ndarray
        Standard deviation of the correlated noise, shape (n,) [rad].
    correlation_time : float
        Correlation time of the correlated noise [s].
    rate, turn : numpy.ndarray
        Rate of the heading [rad/s], and turn of the heading since the start [rad], shape (n,) each.
    lag : float, optional
        Standard deviation of the constant lag [s].
    turn_error : float, optional
        Standard deviation of the constant relative error of the turn.
    slip : float, optional
        Strength of the random walk over the turn [rad/sqrt(rad)].
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
    def from_poses(
        cls, reference: pd.DataFrame, lag: float | None = None, turning: pd.Series | None = None
    ) -> ReferenceError | None:
        """Create the error model that the columns of a pose table describe.

        Parameters
        ----------
        reference : pandas.DataFrame
            Poses, optionally with the columns ``yaw_std``, ``yaw_error_time``, ``yaw_lag``,
            ``turn_error`` and ``turn_slip``.
        lag : float, optional
            Standard deviation of the remaining lag after its estimate was corrected [s]; by default
            the value in the table.
        turning : pandas.Series, optional
            Heading that describes the robot's turning [rad], indexed by time [s], such as an IMU's.
            The turning of the noisier reference itself would be correlated with its error.

        Returns
        -------
        ReferenceError or None
            The model; None if the table does not describe an error.
        """
        if not set(REFERENCE_ERROR) <= set(reference.columns):
            return None
        table = reference[["yaw", *REFERENCE_ERROR]].dropna()
        if len(table) < 2:
            return None
        time, yaw = table.index.to_numpy(dtype=float), unwrap(table["yaw"].to_numpy(dtype=float))
        correlation_time, stated_lag, turn_error = (
            float(table[name].median()) for name in REFERENCE_ERROR[1:]
        )
        rate, turn = np.gradient(yaw, time), yaw
        if turning is not None:
            rate, turn = _turning(turning, time)
        return cls(
            time=time,
            std=table["yaw_std"].to_numpy(dtype=float),
            correlation_time=correlation_time,
            rate=rate,
            turn=turn - turn[0],
            lag=stated_lag if lag is None else lag,
            turn_error=turn_error,
            slip=float(reference[TURN_SLIP].median()) if TURN_SLIP in reference else 0.0,
        )

    @property
    def absolute_turn(self) -> np.ndarray:
        """Accumulated absolute turn of the heading, shape (n,) [rad]."""
        # Imported here to save memory, since every node imports the settings of this module.
        from ..motion.motion import absolute_turn

        return absolute_turn(self.turn)

    def resampled(self, time: np.ndarray) -> ReferenceError:
        """Resample the error model at other times, with turns relative to the first of them.

        Parameters
        ----------
        time : numpy.ndarray
            Times, shape (m,) [s].

        Returns
        -------
        ReferenceError
            Model over m samples.
        """
        curves = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        std, rate, turn = curves
        return replace(self, time=time - time[:1], std=std, rate=rate, turn=turn - turn[:1])

    def surest_phase(self, first: float, last: float, step: float) -> float:
        """Return the time offset of an evenly spaced grid at which the heading is most certain.

        A course is known best at the times of measured velocities; between them the robot may have
        turned.

        Parameters
        ----------
        first, last : float
            First and last time of the grid [s].
        step : float
            Step of the grid [s].

        Returns
        -------
        float
            Delay, at least 0 and less than a step [s].
        """
        phases = step * np.linspace(0.0, 1.0, _PHASES, endpoint=False)
        sample_times = np.arange(first, last - step, step)
        stds = [np.median(np.interp(sample_times + phase, self.time, self.std)) for phase in phases]
        return float(phases[np.argmin(stds)]) if len(sample_times) else 0.0

    def covariance(self, time: np.ndarray) -> np.ndarray:
        """Compute the covariance of the reference's error at given times.

        Parameters
        ----------
        time : numpy.ndarray
            Times, shape (m,) [s].

        Returns
        -------
        numpy.ndarray
            Covariance, shape (m, m) [rad^2].
        """
        std, rate, turn = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        distance = np.abs(np.subtract.outer(time, time))
        covariance = np.outer(std, std) * np.exp(-distance / self.correlation_time)
        covariance += self.lag**2 * np.outer(rate, rate)
        if self.slip:
            turned_angle = np.interp(time, self.time, self.absolute_turn)
            covariance += self.slip**2 * np.minimum.outer(turned_angle, turned_angle)
        return covariance + self.turn_error**2 * np.outer(turn, turn)

    def covariance_of_means(self, time: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """Compute the covariance of means of the reference's error over intervals.

        Parameters
        ----------
        time : numpy.ndarray
            Times of the samples, nearly even within an interval, shape (n,) [s].
        begins : numpy.ndarray
            Index of the first sample of each interval, beginning with 0, shape (m,).

        Returns
        -------
        numpy.ndarray
            Covariance, shape (m, m) [rad^2].
        """
        std, rate, turn = (np.interp(time, self.time, a) for a in (self.std, self.rate, self.turn))
        counts = np.diff(begins, append=len(time))
        firsts, lasts = (np.repeat(time[index], counts) for index in (begins, begins + counts - 1))

        def means(values: np.ndarray) -> np.ndarray:
            return np.add.reduceat(values, begins) / counts

        # Between two intervals, exp(-|t|/T) is the product of the decays in both and in the gap.
        to_end = means(std * np.exp((time - lasts) / self.correlation_time))
        from_begin = means(std * np.exp((firsts - time) / self.correlation_time))
        between = np.maximum(np.subtract.outer(firsts[begins], lasts[begins]), 0.0).T
        later = np.outer(to_end, from_begin) * np.exp(-between / self.correlation_time)
        covariance = np.triu(later, 1)
        covariance += covariance.T
        steps = (lasts - firsts)[begins] / np.maximum(counts - 1, 1)
        correlation = _mean_correlation(counts, steps / self.correlation_time)
        covariance[np.diag_indices(len(begins))] = means(std**2) * correlation
        for constant, curve in ((self.lag, rate), (self.turn_error, turn)):
            covariance += constant**2 * np.outer(means(curve), means(curve))
        if self.slip:
            turned_angle = np.interp(time, self.time, self.absolute_turn)
            covariance += self.slip**2 * walk_of_means(turned_angle, begins)
        return covariance

    def draw(self, runs: int, random: np.random.Generator) -> np.ndarray:
        """Simulate realisations of the reference's error.

        Parameters
        ----------
        runs : int
            Number of realisations.
        random : numpy.random.Generator
            Source of the random numbers.

        Returns
        -------
        numpy.ndarray
            Realisations, shape (runs, n) [rad].
        """
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
        """Compute the variance of the change in the reference's error between pairs of times.

        Parameters
        ----------
        starts, ends : numpy.ndarray
            Times, shape (m,) each [s].

        Returns
        -------
        numpy.ndarray
            Variance, shape (m,) [rad^2].
        """
        std, other = (np.interp(instants, self.time, self.std) for instants in (starts, ends))
        correlation = np.exp(-np.abs(ends - starts) / self.correlation_time)
        variance = std**2 + other**2 - 2.0 * correlation * std * other
        for constant, curve in ((self.lag, self.rate), (self.turn_error, self.turn)):
            change = np.interp(ends, self.time, curve) - np.interp(starts, self.time, curve)
            variance += (constant * change) ** 2
        if self.slip:
            turn_at_start, turn_at_end = (
                np.interp(instants, self.time, self.absolute_turn) for instants in (starts, ends)
            )
            variance += self.slip**2 * np.abs(turn_at_end - turn_at_start)
        return variance


def walk_of_means(variance: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Compute the covariance of means of a random walk over intervals.

    Parameters
    ----------
    variance : numpy.ndarray
        Variance of the random walk at each sample, which never decreases, shape (n,).
    begins : numpy.ndarray
        Index of the first sample of each interval, beginning with 0, shape (m,).

    Returns
    -------
    numpy.ndarray
        Covariance, shape (m, m).
    """
    counts = np.repeat(np.diff(begins, append=len(variance)), np.diff(begins, append=len(variance)))
    means = np.add.reduceat(variance / counts, begins)
    covariance = np.minimum.outer(means, means)
    # Sample i is the earlier one in 2 (n - i) - 1 of the n^2 ordered pairs in an interval.
    places = np.arange(len(variance)) - np.repeat(begins, counts[begins])
    pairs = variance * (2 * (counts - places) - 1) / counts.astype(float) ** 2
    covariance[np.diag_indices(len(begins))] = np.add.reduceat(pairs, begins)
    return covariance


def _mean_correlation(counts: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return the mean of exp(-|i - j| step) over all pairs of ``counts`` samples, shape (m,)."""
    kept, lost = np.exp(-steps), -np.expm1(-steps)
    # For steps near zero, numerator and denominator of the closed form both vanish.
    series = 1.0 - steps * (counts - 1.0 / counts) / 3.0
    safe = np.where(counts * lost < 1e-3, 1.0, lost)
    exact = counts * (1.0 - kept**2) - 2.0 * kept * (1.0 - kept**counts)
    return np.where(counts * lost < 1e-3, series, exact / (counts * safe) ** 2)


def expected_spectrum(reference: ReferenceError, time: np.ndarray) -> Spectrum | None:
    """Estimate the power spectral density of a yaw error that is due to the reference alone.

    The density is the mean over realisations of the reference's error. Like a yaw error, they are
    interpolated between the samples of the reference.

    Parameters
    ----------
    reference : ReferenceError
        Model of the reference's error.
    time : numpy.ndarray
        Times of the yaw error, shape (m,) [s].

    Returns
    -------
    Spectrum or None
        Density [rad^2/Hz]; None if there are too few samples.
    """
    drawn = reference.draw(_SPECTRA, np.random.default_rng(_SEED))
    errors = (np.interp(time, reference.time, error) for error in drawn)
    spectra = [power_spectral_density(time, error) for error in errors]
    known_spectra = [spectrum for spectrum in spectra if spectrum is not None]
    if not known_spectra:
        return None
    return replace(
        known_spectra[0], density=np.mean([spectrum.density for spectrum in known_spectra], axis=0)
    )


def _turning(heading: pd.Series, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rate (n,) [rad/s] and angle (n,) [rad] of a heading at given times."""
    stamps, yaw = heading.index.to_numpy(dtype=float), unwrap(heading.to_numpy(dtype=float))
    earlier, now, later = (
        np.interp(time + a * _RATE_WINDOW, stamps, yaw) for a in (-0.5, 0.0, 0.5)
    )
    return (later - earlier) / _RATE_WINDOW, now
