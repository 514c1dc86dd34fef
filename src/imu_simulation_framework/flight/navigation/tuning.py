"""What a navigation filter takes for granted of its IMU and of its beginning."""

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

_NOTHING: Matrix = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_MATRICES = ("gyroscope_matrix", "accelerometer_matrix", "g_sensitivity")

SLOW = 10.0
"""From this correlation time on [s] a process is a bias that walks; faster ones are white noise."""


@dataclass(frozen=True)
class InitialUncertainty(Settings):
    """Standard deviations of a navigator's errors at its beginning.

    The defaults are those of the attitude in the demonstrations of Groves's book (0.05 deg of roll
    and pitch, 1 deg of heading) and of its filter otherwise.

    ``tilt``: of roll and of pitch [rad]. ``heading`` [rad]. ``velocity``: of each of north, east,
    down [m/s]. ``position``: of each of north, east, down [m].
    """

    tilt: float = setting(math.radians(0.05), above=0.0)
    heading: float = setting(math.radians(1.0), above=0.0)
    velocity: float = setting(0.1, above=0.0)
    position: float = setting(3.0, above=0.0)

    @property
    def sigmas(self) -> np.ndarray:
        """Of attitude, velocity and position, about or along north, east, down, (9,)."""
        return np.array(
            [self.tilt, self.tilt, self.heading, *[self.velocity] * 3, *[self.position] * 3]
        )

    def draw(
        self, runs: int, seed: int | np.random.SeedSequence = 1, first_run: int = 0
    ) -> np.ndarray:
        """Return errors (runs, 9), estimate less truth, as :func:`.initial_state` takes them.

        A run's are the same whatever others there are.
        """
        numbers = [
            np.random.default_rng(run_seed(seed, run)).standard_normal(len(self.sigmas))
            for run in range(first_run, first_run + runs)
        ]
        return np.array(numbers).reshape(runs, -1) * self.sigmas


@dataclass(frozen=True)
class FilterTuning(Settings):
    """The noise that a filter reckons with.

    ``gyroscope_noise``, ``accelerometer_noise`` (3 float): white noise [rad/s/sqrt(Hz);
    m/s^2/sqrt(Hz)]. ``gyroscope_random_walk``, ``accelerometer_random_walk`` (3 float): of the
    biases [rad/s^2/sqrt(Hz); m/s^3/sqrt(Hz)]. ``gyroscope_bias``, ``accelerometer_bias`` (3 float):
    standard deviations of the biases at the beginning [rad/s; m/s^2]. ``gyroscope_matrix``,
    ``accelerometer_matrix`` (3 x 3 float): standard deviations of the scale factor errors and
    misalignments, which the filter does not estimate, but considers [1]. ``g_sensitivity`` (3 x 3
    float): the same of the gyroscope's sensitivity to specific force [rad/s per m/s^2].
    ``position_noise``, ``velocity_noise``: of each coordinate of a fix [m; m/s]; by default what
    the receiver says of it.
    """

    gyroscope_noise: Axes = setting(check=check_axes, minimum=0.0)
    accelerometer_noise: Axes = setting(check=check_axes, minimum=0.0)
    gyroscope_bias: Axes = setting(check=check_axes, minimum=0.0)
    accelerometer_bias: Axes = setting(check=check_axes, minimum=0.0)
    gyroscope_random_walk: Axes = setting((0.0, 0.0, 0.0), check_axes, minimum=0.0)
    accelerometer_random_walk: Axes = setting((0.0, 0.0, 0.0), check_axes, minimum=0.0)
    gyroscope_matrix: Matrix = setting(_NOTHING, check_matrix)
    accelerometer_matrix: Matrix = setting(_NOTHING, check_matrix)
    g_sensitivity: Matrix = setting(_NOTHING, check_matrix)
    position_noise: float | None = setting(None, above=0.0)
    velocity_noise: float | None = setting(None, above=0.0)
    initial: InitialUncertainty = setting(InitialUncertainty(), part=InitialUncertainty)

    @property
    def considered_variances(self) -> np.ndarray:
        """Of the elements of the three matrices, row by row, (27,)."""
        return np.square([getattr(self, name) for name in _MATRICES]).ravel()


def tuning_of(
    imu: ImuSpecification,
    period: float | None = None,
    initial: InitialUncertainty | None = None,
) -> FilterTuning:
    r"""Return the tuning that an IMU's errors call for.

    Of each triad, by axis: white noise is :math:`N^2`, with rounding
    :math:`\mathit{resolution}^2 \Delta t / 12`. A Gauss-Markov process of :math:`\sigma` and a
    correlation time T of at least :data:`SLOW` is a bias that begins with :math:`\sigma` and walks
    with :math:`2 \sigma^2 / T`, a faster one is white noise of :math:`2 \sigma^2 T`; flicker noise
    is a sum of such processes (:mod:`.noise.processes`). The walk adds :math:`K^2`. A filter does
    not know the signs of errors, only their size: the bias begins with the root mean square, over
    the three axes, of the turn-on bias, its mean included, and each element of a matrix of scale
    factors, misalignments or g-sensitivities that is not 0 has the root mean square of those.

    ``period``: from one sample to the next [s]; by default 1 / ``output.rate``.
    """
    period = 1.0 / imu.output.rate if period is None else period
    gyroscope, accelerometer = imu.gyroscope, imu.accelerometer
    values: dict[str, Any] = {
        "gyroscope_matrix": _sizes(gyroscope.scale_factor_and_misalignment),
        "accelerometer_matrix": _sizes(accelerometer.scale_factor_and_misalignment),
        "g_sensitivity": _sizes(gyroscope.g_sensitivity),
    }
    for name, triad in (("gyroscope", gyroscope), ("accelerometer", accelerometer)):
        noise, walk, bias = _of_triad(triad, period)
        constant = np.mean(np.square(triad.turn_on_bias) + np.square(triad.turn_on_bias_sigma))
        values[f"{name}_noise"] = tuple(np.sqrt(noise))
        values[f"{name}_random_walk"] = tuple(np.sqrt(walk))
        values[f"{name}_bias"] = tuple(np.sqrt(bias + constant))
    return FilterTuning(**values, initial=initial or InitialUncertainty())


def _sizes(matrix: Any) -> list[list[float]]:
    there = np.array(matrix) != 0.0
    square = np.sum(np.square(matrix)) / max(1, np.count_nonzero(there))
    return (math.sqrt(square) * there).tolist()


def _of_triad(
    triad: TriadSpecification, period: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return variances (3,) each: density of white noise, of the bias's walk; initial bias."""
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
