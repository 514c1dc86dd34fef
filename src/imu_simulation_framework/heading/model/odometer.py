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
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.integrate import cumulative_trapezoid
from scipy.linalg import cholesky, solve_triangular

from ...core.errors import ConfigurationError
from ...motion.motion import Motion
from ...sensors.odometer import OdometerSpecification, forward_speed, rolled_distance
from .distribution import ErrorDistribution
from .model import YawErrorModel
from .sources import PROCESSES, KnownError, RandomConstant, Source, YawNoise, YawRandomWalk
from .state_space import RunNormals

WHEELS, TRACK, WHEEL_SIZE = "unequal wheels", "track", "size of the wheels"
SLIP, ACCELERATION_SLIP = "wheel slip", "slip under acceleration"
ENCODER = "encoder steps"


@dataclass(frozen=True)
class OdometerConstant:
    """Constant error of an odometer, and its effect on the measured yaw and distance.

    Parameters
    ----------
    name : str
        Name of the source.
    yaw : numpy.ndarray
        Yaw error per unit of the constant, shape (n,) [rad].
    distance : numpy.ndarray
        Error of the distance since the start per unit of the constant, shape (n,) [m].
    sigma : float or None
        Standard deviation of the constant over robots; None for a known error, which is the same
        in every run.
    """

    name: str
    yaw: np.ndarray
    distance: np.ndarray
    sigma: float | None


@dataclass(frozen=True)
class WheelSlip:
    """Random slip of a wheel, and its effect on the measured yaw and distance.

    Parameters
    ----------
    variance : numpy.ndarray
        Variance of the slipped distance since the start, shape (n,) [m^2].
    yaw_factor : float
        Yaw error per slipped distance [rad/m].
    distance_factor : float
        Distance error per slipped distance [1].
    """

    variance: np.ndarray
    yaw_factor: float
    distance_factor: float


def odometer_constants(
    odometer: OdometerSpecification, motion: Motion, time: np.ndarray
) -> list[OdometerConstant]:
    """Compute the effects of an odometer's constant errors on a motion.

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
    list of OdometerConstant
        Constants that affect the yaw or the distance on this motion.
    """
    ratio, scale, tracks = odometer.diameter_ratio, odometer.scale, odometer.track_ratio
    since_start = motion.time - motion.time[0]
    rolled, turn = rolled_distance(motion, odometer), motion.yaw - motion.yaw[0]
    speed = forward_speed(motion.yaw, motion.velocity)
    slipped = rolled - cumulative_trapezoid(speed, since_start, initial=0.0)
    distance_at, turn_at, slipped_at = (
        np.interp(time, since_start, curve) for curve in (rolled, turn, slipped)
    )
    yaw_per_distance = 1.0 / (2.0 * scale * odometer.track)
    turn_factor = (1.0 + ratio) ** 2 / (4.0 * ratio * scale) * turn_at
    wheel_error = (1.0 - ratio**2) / ratio * yaw_per_distance * distance_at
    # Distance that the wheels roll in opposite directions while the robot turns.
    opposite = 0.5 * odometer.track * turn_at
    wheel_distance = (1.0 + ratio) ** 2 / (4.0 * ratio * scale) * distance_at
    opposite_distance = (1.0 - ratio**2) / (4.0 * ratio * scale) * opposite
    constants = [
        OdometerConstant(name, -yaw, -distance, None)
        for name, yaw, distance in (
            (
                WHEELS,
                wheel_error + (turn_factor - turn_at / scale) * tracks,
                wheel_distance - distance_at / scale + opposite_distance * tracks,
            ),
            (TRACK, (tracks - 1.0) / scale * turn_at, np.zeros(len(time))),
            (WHEEL_SIZE, (1.0 / scale - 1.0) * turn_at, (1.0 / scale - 1.0) * distance_at),
            (ACCELERATION_SLIP, np.zeros(len(time)), slipped_at),
        )
    ]
    ratio_error = (ratio**2 - 1.0) / (4.0 * ratio**2 * scale) * tracks * turn_at
    ratio_error -= (1.0 + ratio**2) / ratio**2 * yaw_per_distance * distance_at
    ratio_distance = (ratio**2 - 1.0) / (4.0 * ratio**2 * scale) * distance_at
    ratio_distance -= (1.0 + ratio**2) / (4.0 * ratio**2 * scale) * tracks * opposite
    scale_error = -(wheel_error + tracks * turn_factor) / scale
    scale_distance = -(wheel_distance + tracks * opposite_distance) / scale
    constants += [
        OdometerConstant(name, -yaw, -distance, sigma)
        for name, yaw, distance, sigma in (
            (WHEELS, ratio_error, ratio_distance, odometer.diameter_ratio_sigma),
            (TRACK, turn_factor, opposite_distance, odometer.track_ratio_sigma),
            (WHEEL_SIZE, scale_error, scale_distance, odometer.scale_sigma),
        )
        if sigma > 0.0
    ]
    return [each for each in constants if np.any(each.yaw) or np.any(each.distance)]


def wheel_slips(
    odometer: OdometerSpecification, motion: Motion, time: np.ndarray
) -> list[WheelSlip]:
    """Compute the random slip of the left and of the right wheel on a motion.

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
    list of WheelSlip
        Slip of the left and of the right wheel; empty for an odometer without slip.
    """
    if odometer.slip == 0.0:
        return []
    ratio, since_start = odometer.diameter_ratio, motion.time - motion.time[0]
    rolled, turn = rolled_distance(motion, odometer), motion.yaw - motion.yaw[0]
    half_track = 0.5 * odometer.track * odometer.track_ratio
    slips = []
    for side, relative in ((-1.0, 1.0), (1.0, ratio)):
        steps = np.abs(np.diff(rolled + side * half_track * turn))
        variance = odometer.slip**2 * np.concatenate([[0.0], np.cumsum(steps)])
        # The odometer scales distances by the ratio of the assumed to the true radius.
        counted = (1.0 + ratio) / (2.0 * odometer.scale * relative)
        slips.append(
            WheelSlip(
                np.interp(time, since_start, variance),
                -side * counted / odometer.track,
                -0.5 * counted,
            )
        )
    return slips


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
    sources: list[Source] = [
        KnownError(each.name, each.yaw)
        if each.sigma is None
        else RandomConstant(each.name, each.yaw, each.sigma)
        for each in odometer_constants(odometer, motion, time)
        if np.any(each.yaw)
    ]
    slips = wheel_slips(odometer, motion, time)
    if slips:
        variance = np.sum([slip.yaw_factor**2 * slip.variance for slip in slips], axis=0)
        sources.append(YawRandomWalk(SLIP, variance))
    noise = encoder_noise(odometer)
    if noise > 0.0:
        sources.append(YawNoise(ENCODER, noise))
    return sources


def encoder_noise(odometer: OdometerSpecification) -> float:
    """Return the standard deviation of the yaw error due to the resolution of the encoders.

    Parameters
    ----------
    odometer : OdometerSpecification
        Encoders and wheels.

    Returns
    -------
    float
        Standard deviation [rad]; zero for encoders with infinite resolution.
    """
    if not odometer.ticks_per_turn:
        return 0.0
    tick = 2.0 * math.pi * odometer.wheel_radius / odometer.ticks_per_turn
    return tick / odometer.track / math.sqrt(6.0)


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

    def draw_survival(
        self, limit: float, runs: int, seed: int | RunNormals, first_run: int
    ) -> np.ndarray:
        inside = np.abs(self.realisations(runs, seed, first_run)) <= limit
        return np.logical_and.accumulate(inside, axis=1).astype(float)


def _variance(share: np.ndarray, model: YawErrorModel) -> np.ndarray:
    """Return the variance (n,) of a matrix (n, n) times the yaw error of a model."""
    if all(isinstance(source, KnownError) for source in model.sources):
        return np.zeros(len(share))
    return np.sum((share @ model.covariance()) * share, axis=1)
