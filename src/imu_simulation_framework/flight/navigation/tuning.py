"""Tuning of a navigation filter: assumed IMU errors and initial errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.checks import Axes, Matrix, check_axes, check_matrix
from ...core.settings import Settings, setting
from ...sensors.imu_specification import ImuSpecification, TriadSpecification
from ...sensors.noise.processes import flicker_processes
from ...sensors.noise.streams import run_seed

_ZERO_MATRIX: Matrix = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_MATRICES = ("gyroscope_matrix", "accelerometer_matrix", "g_sensitivity")

SLOW = 10.0
"""Shortest correlation time [s] of a process modelled as bias random walk, not white noise."""


@dataclass(frozen=True)
class InitialUncertainty(Settings):
    """Standard deviations of the initial navigation errors.

    The defaults are those of the demonstrations in Groves's book: 0.05 deg for roll and pitch,
    1 deg for heading, and the values of its filter for velocity and position.

    Attributes
    ----------
    tilt : float
        Standard deviation of roll and pitch [rad].
    heading : float
        Standard deviation of heading [rad].
    velocity : float
        Standard deviation of each velocity component [m/s].
    position : float
        Standard deviation of each position component [m].
    """

    tilt: float = setting(math.radians(0.05), above=0.0)
    heading: float = setting(math.radians(1.0), above=0.0)
    velocity: float = setting(0.1, above=0.0)
    position: float = setting(3.0, above=0.0)

    @property
    def sigmas(self) -> np.ndarray:
        """Standard deviations of attitude, velocity and position in NED axes, shape (9,)."""
        return np.array(
            [self.tilt, self.tilt, self.heading, *[self.velocity] * 3, *[self.position] * 3]
        )

    def draw(
        self, runs: int, seed: int | np.random.SeedSequence = 1, first_run: int = 0
    ) -> np.ndarray:
        """Draw the initial errors of each run, which do not depend on the number of runs.

        Parameters
        ----------
        runs : int
            Number of runs.
        seed : int or numpy.random.SeedSequence, optional
            Seed of all runs.
        first_run : int
            Index of the first run.

        Returns
        -------
        ndarray, shape (runs, 9)
            Errors, estimate minus true value, for :func:`.initial_state`.
        """
        numbers = [
            np.random.default_rng(run_seed(seed, run)).standard_normal(len(self.sigmas))
            for run in range(first_run, first_run + runs)
        ]
        return np.array(numbers).reshape(runs, -1) * self.sigmas


@dataclass(frozen=True)
class FilterTuning(Settings):
    """Noise and initial errors assumed by a navigation filter.

    Attributes
    ----------
    gyroscope_noise, accelerometer_noise : tuple of float
        White noise densities [rad/s/sqrt(Hz)] and [m/s^2/sqrt(Hz)].
    gyroscope_bias, accelerometer_bias : tuple of float
        Standard deviations of the initial biases [rad/s] and [m/s^2].
    gyroscope_random_walk, accelerometer_random_walk : tuple of float
        Bias random walks [rad/s^2/sqrt(Hz)] and [m/s^3/sqrt(Hz)].
    gyroscope_matrix, accelerometer_matrix : 3 by 3 matrix of float
        Standard deviations of scale factor errors and misalignments, which the filter considers
        without estimating them.
    g_sensitivity : 3 by 3 matrix of float
        Standard deviations of the g-sensitivity of the gyroscope [rad/s per m/s^2], which the
        filter considers without estimating it.
    position_noise, velocity_noise : float, optional
        Standard deviations of each coordinate of a fix [m] and [m/s]; by default the values
        reported by the receiver.
    initial : InitialUncertainty
    """

    gyroscope_noise: Axes = setting(check=check_axes, minimum=0.0)
    accelerometer_noise: Axes = setting(check=check_axes, minimum=0.0)
    gyroscope_bias: Axes = setting(check=check_axes, minimum=0.0)
    accelerometer_bias: Axes = setting(check=check_axes, minimum=0.0)
    gyroscope_random_walk: Axes = setting((0.0, 0.0, 0.0), check_axes, minimum=0.0)
    accelerometer_random_walk: Axes = setting((0.0, 0.0, 0.0), check_axes, minimum=0.0)
    gyroscope_matrix: Matrix = setting(_ZERO_MATRIX, check_matrix)
    accelerometer_matrix: Matrix = setting(_ZERO_MATRIX, check_matrix)
    g_sensitivity: Matrix = setting(_ZERO_MATRIX, check_matrix)
    position_noise: float | None = setting(None, above=0.0)
    velocity_noise: float | None = setting(None, above=0.0)
    initial: InitialUncertainty = setting(InitialUncertainty(), part=InitialUncertainty)

    @property
    def considered_variances(self) -> np.ndarray:
        """Variances of the consider parameters: elements of the matrices by row, shape (27,)."""
        return np.square([getattr(self, name) for name in _MATRICES]).ravel()


def tuning_of(
    imu: ImuSpecification,
    period: float | None = None,
    initial: InitialUncertainty | None = None,
) -> FilterTuning:
    r"""Derive the tuning of a navigation filter from an IMU specification.

    For each axis, the white noise is :math:`N^2` plus the rounding noise
    :math:`\mathit{resolution}^2 \Delta t / 12`. A Gauss-Markov process with :math:`\sigma` and a
    correlation time T of at least :data:`SLOW` is modelled as a bias with the initial standard
    deviation :math:`\sigma` and the random walk :math:`2 \sigma^2 / T`, a faster process as white
    noise of :math:`2 \sigma^2 T`. Flicker noise is a sum of such processes
    (:mod:`.noise.processes`). The bias random walk adds :math:`K^2`.

    The filter does not know the signs of the errors. The initial bias is the root mean square over
    the three axes of the turn-on bias, including its mean. The standard deviation of each nonzero
    element of a matrix (scale factors, misalignments or g-sensitivities) is the root mean square of
    these elements.

    Parameters
    ----------
    imu : ImuSpecification
        Errors of the IMU.
    period : float, optional
        Sampling period [s]; by default 1 / ``output.rate``.
    initial : InitialUncertainty, optional
        Uncertainty of the initial state.

    Returns
    -------
    FilterTuning
    """
    period = 1.0 / imu.output.rate if period is None else period
    gyroscope, accelerometer = imu.gyroscope, imu.accelerometer
    values: dict[str, Any] = {
        "gyroscope_matrix": _rms_elements(gyroscope.scale_factor_and_misalignment),
        "accelerometer_matrix": _rms_elements(accelerometer.scale_factor_and_misalignment),
        "g_sensitivity": _rms_elements(gyroscope.g_sensitivity),
    }
    for name, triad in (("gyroscope", gyroscope), ("accelerometer", accelerometer)):
        noise, walk, bias = _noise_variances(triad, period)
        constant = np.mean(np.square(triad.turn_on_bias) + np.square(triad.turn_on_bias_sigma))
        values[f"{name}_noise"] = tuple(np.sqrt(noise))
        values[f"{name}_random_walk"] = tuple(np.sqrt(walk))
        values[f"{name}_bias"] = tuple(np.sqrt(bias + constant))
    return FilterTuning(**values, initial=initial or InitialUncertainty())


def _rms_elements(matrix: Any) -> list[list[float]]:
    is_nonzero = np.array(matrix) != 0.0
    square = np.sum(np.square(matrix)) / max(1, np.count_nonzero(is_nonzero))
    return (math.sqrt(square) * is_nonzero).tolist()


def _noise_variances(
    triad: TriadSpecification, period: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return squared densities of white noise and bias random walk, and the bias variance."""
    noise = np.square(triad.white_noise) + np.square(triad.resolution) * period / 12.0
    walk = np.square(triad.random_walk)
    bias = np.zeros(3)
    processes: list[tuple[Any, Any, Any]] = list(
        zip(np.square(triad.gauss_markov_sigma), triad.gauss_markov_time, np.eye(3))
    )
    if np.any(triad.bias_instability):
        times, sigmas = flicker_processes(triad.bias_instability_band, period)
        squares = np.square(triad.bias_instability)
        processes += [(sigma**2, time, squares) for time, sigma in zip(times, sigmas)]
    for variance, time, axes in processes:
        if time >= SLOW:
            walk = walk + 2.0 * variance / time * axes
            bias = bias + variance * axes
        else:
            noise = noise + 2.0 * variance * time * axes
    return noise, walk, bias
