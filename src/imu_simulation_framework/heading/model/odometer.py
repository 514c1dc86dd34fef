r"""Yaw error of an odometer, and of the fusion of an odometer with a gyroscope.

Let w be the distance travelled by the midpoint between the wheels, :math:`\psi` the turn since the
start, E and F the errors E_d and E_b of UMBmark, s the scale and b the assumed track
(:mod:`.sensors.odometer`). Then the odometer's yaw is

.. math:: \frac{1 - E^2}{2 E s b} w + \frac{F (1 + E)^2}{4 E s} \psi .

The slip :math:`\sigma` of a wheel is a random walk of :math:`\sigma \sqrt{l}` over its rolling
distance l in either direction, which rotates the odometer by this divided by b. Ticks are rounded
down, which is noise with a uniform distribution from zero to one tick.

A gyroscope and an odometer measure the same yaw, so that their difference :math:`d = e_g - e_o` is
observed. It contains all errors that they do not have in common: a bias, a scale factor error,
unequal wheels. The best linear estimator subtracts from the gyroscope's yaw an estimate of its
error from the differences so far,

.. math:: e = e_g - A d, \qquad
          A_{t, \leq t} = C_g(t, \leq t) (C_g + C_o)(\leq t, \leq t)^{-1}

with the covariances of both. A Kalman filter with a state for each error of known variance yields
the same result; no filter on a robot is better. With the Cholesky root L of :math:`C_g + C_o` and
:math:`K = L^{-1} C_g`, A is the lower triangle of :math:`K^T`, times :math:`L^{-1}`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.linalg import cholesky, solve_triangular

from ...core.errors import ConfigurationError
from ...motion.motion import Motion
from ...sensors.odometer import OdometerSpecification, rolled_distance
from .distribution import ErrorDistribution
from .model import YawErrorModel
from .sources import PROCESSES, KnownError, RandomConstant, Source, YawNoise, YawRandomWalk
from .state_space import RunNormals

WHEELS, TRACK, WHEEL_SIZE = "unequal wheels", "track", "size of the wheels"


def odometer_sources(
    odometer: OdometerSpecification, motion: Motion, time: np.ndarray
) -> list[Source]:
    """Create the sources of an odometer's yaw error on a motion.

    Parameters
    ----------
    odometer : OdometerSpecification
        Errors of the odometer.
    motion : Motion
        Motion of the midpoint between the wheels on level ground.
    time : numpy.ndarray
        Times since the motion's start, shape (n,) [s].

    Returns
    -------
    list of Source
        Sources of the yaw error.
    """
    ratio, scale, tracks = odometer.diameter_ratio, odometer.scale, odometer.track_ratio
    since_start = motion.time - motion.time[0]
    way, turn = rolled_distance(motion, odometer), motion.yaw - motion.yaw[0]
    way_at, turn_at = (np.interp(time, since_start, curve) for curve in (way, turn))
    per_way = 1.0 / (2.0 * scale * odometer.track)
    turn_factor = (1.0 + ratio) ** 2 / (4.0 * ratio * scale) * turn_at
    wheel_error = (1.0 - ratio**2) / ratio * per_way * way_at
    sources: list[Source] = []
    for name, curve in (
        (WHEELS, wheel_error + (turn_factor - turn_at / scale) * tracks),
        (TRACK, (tracks - 1.0) / scale * turn_at),
        (WHEEL_SIZE, (1.0 / scale - 1.0) * turn_at),
    ):
        if np.any(curve):
            sources.append(KnownError(name, -curve))
    ratio_error = (ratio**2 - 1.0) / (4.0 * ratio**2 * scale) * tracks * turn_at
    ratio_error -= (1.0 + ratio**2) / ratio**2 * per_way * way_at
    scale_error = -(wheel_error + tracks * turn_factor) / scale
    for name, regressor, sigma in (
        (WHEELS, ratio_error, odometer.diameter_ratio_sigma),
        (TRACK, turn_factor, odometer.track_ratio_sigma),
        (WHEEL_SIZE, scale_error, odometer.scale_sigma),
    ):
        if sigma > 0.0 and np.any(regressor):
            sources.append(RandomConstant(name, -regressor, sigma))
    if odometer.slip > 0.0:
        half_track = 0.5 * odometer.track * tracks
        variance = np.zeros(len(since_start))
        for side, relative in ((-1.0, 1.0), (1.0, ratio)):
            steps = np.abs(np.diff(way + side * half_track * turn))
            # The odometer scales distances by the ratio of the assumed to the true radius.
            counted = odometer.slip * (1.0 + ratio) / (2.0 * scale * relative) / odometer.track
            variance[1:] += counted**2 * np.cumsum(steps)
        sources.append(YawRandomWalk("wheel slip", np.interp(time, since_start, variance)))
    if odometer.ticks_per_turn:
        tick = 2.0 * math.pi * odometer.wheel_radius / odometer.ticks_per_turn
        sources.append(YawNoise("encoder steps", tick / odometer.track / math.sqrt(6.0)))
    return sources


MAX_TIMES = 1000
"""Maximum number of samples of a fused heading; larger covariances take minutes."""
_MIN_DIFFERENCE_STD = 1e-5
"""Smallest std of the difference between both headings, relative to its maximum or 1 rad.

With this limit, the covariance has a Cholesky decomposition."""


class FusedYawError(ErrorDistribution):
    """Yaw error distribution of a heading that is optimally fused from an IMU and an odometer.

    Parameters
    ----------
    imu, odometer : YawErrorModel
        Independent models at the same times, at most :data:`MAX_TIMES`. Their known errors are
        unknown to the estimator.

    Raises
    ------
    ConfigurationError
        If the times differ or are too many.
    """

    def __init__(self, imu: YawErrorModel, odometer: YawErrorModel) -> None:
        if not np.array_equal(imu.time, odometer.time):
            raise ConfigurationError(
                "the yaw errors of two sensors must have the same times to be fused"
            )
        if len(imu.time) > MAX_TIMES:
            raise ConfigurationError(
                f"{len(imu.time)} times are too many to fuse the yaw errors of two sensors, "
                f"expected at most {MAX_TIMES}; use longer steps"
            )
        self.imu, self.odometer, self.time = imu, odometer, imu.time
        self.sources = (*imu.sources, *odometer.sources)
        self.limits = (*imu.limits, *odometer.limits)

    @cached_property
    def gains(self) -> np.ndarray:
        """Filter gains for all past differences between both headings, lower triangular (n, n)."""
        imu = self.imu.covariance()
        difference = imu + self.odometer.covariance()
        least = _MIN_DIFFERENCE_STD**2 * max(1.0, np.max(np.diag(difference)))
        difference[np.diag_indices_from(difference)] += least
        root = cholesky(difference, lower=True)
        weights = np.tril(solve_triangular(root, imu, lower=True).T)
        return solve_triangular(root, weights.T, lower=True, trans="T").T

    def _shares(self) -> tuple[tuple[YawErrorModel, np.ndarray], ...]:
        """Return each sensor's model, and the matrix (n, n) from its error to the fused error."""
        return (self.imu, np.eye(len(self.time)) - self.gains), (self.odometer, self.gains)

    def mean(self) -> np.ndarray:
        return np.sum([share @ model.mean() for model, share in self._shares()], axis=0)

    def mean_by_source(self) -> pd.DataFrame:
        tables = [
            pd.DataFrame(share @ table.to_numpy(), columns=table.columns, index=table.index)
            for model, share in self._shares()
            for table in [model.mean_by_source()]
        ]
        return pd.concat(tables, axis=1)

    def variance(self) -> np.ndarray:
        return self.budget().to_numpy().sum(axis=1)

    def budget(self) -> pd.DataFrame:
        return self._budget.copy()

    @cached_property
    def _budget(self) -> pd.DataFrame:
        columns = {
            name: _variance(share, model.only(name))
            for model, share in self._shares()
            for name in model.names
        }
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def _varying_variances(self) -> list[tuple[np.ndarray, float]]:
        return self._varying

    @cached_property
    def _varying(self) -> list[tuple[np.ndarray, float]]:
        varying = []
        for model, share in self._shares():
            for name, spread in zip(model.state_space.names, model.state_space.spreads):
                if spread == 0.0:
                    continue
                sources = model.only(name).sources
                processes = tuple(source for source in sources if isinstance(source, PROCESSES))
                varying.append((_variance(share, replace(model, sources=processes)), spread))
        return varying

    def realisations(self, runs: int, seed: int | RunNormals = 1, first_run: int = 0) -> np.ndarray:
        """Simulate realisations of the fused yaw error, as in :meth:`.YawErrorModel.realisations`.

        Parameters
        ----------
        runs : int
            Number of runs.
        seed : int or RunNormals, optional
            Seed of all runs, or normal random numbers shared by several models.
        first_run : int, optional
            Number of the first run.

        Returns
        -------
        numpy.ndarray
            Yaw errors, shape (runs, n) [rad].
        """
        return np.sum(
            [m.realisations(runs, seed, first_run) @ share.T for m, share in self._shares()], axis=0
        )

    def _draw_stays(
        self, limit: float, runs: int, seed: int | RunNormals, first_run: int
    ) -> np.ndarray:
        inside = np.abs(self.realisations(runs, seed, first_run)) <= limit
        return np.logical_and.accumulate(inside, axis=1).astype(float)


def _variance(share: np.ndarray, model: YawErrorModel) -> np.ndarray:
    """Return the variance (n,) of a matrix (n, n) times the yaw error of a model."""
    if all(isinstance(source, KnownError) for source in model.sources):
        return np.zeros(len(share))
    return np.sum((share @ model.covariance()) * share, axis=1)
