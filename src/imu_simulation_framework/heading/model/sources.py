r"""What a yaw error is made of: sources, independent of each other, that add up to it.

The yaw error :math:`e = \psi_{reference} - \psi_{imu}` obeys, with b the errors of the measured
yaw rate and n their white part, :math:`\dot e = -(b + n)`; a source is one such b, or n, or a part
of e itself. Sources of one name belong together: they are one line of the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Union

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError


def _require(source, **bounds):
    for name, zero_allowed in bounds.items():
        value = getattr(source, name)
        if not (math.isfinite(value) and (value > 0.0 or (zero_allowed and value == 0.0))):
            raise ConfigurationError(
                f"{source.name}: {name} is {value}, but it must be "
                f"{'zero or positive' if zero_allowed else 'positive'}"
            )


@dataclass(frozen=True)
class KnownError:
    """A part of the yaw error that is the same in every run.

    ``curve`` (n,): at the model's times [rad].
    """

    name: str
    curve: np.ndarray


@dataclass(frozen=True)
class RandomConstant:
    """A constant that each run draws anew, times a known curve: ``c u``, c ~ N(0, sigma^2).

    ``regressor`` (n,): u, the yaw error for c = 1, at the model's times [rad per unit of the
    constant]. ``sigma`` [unit of the constant].
    """

    name: str
    regressor: np.ndarray
    sigma: float

    def __post_init__(self) -> None:
        _require(self, sigma=True)


@dataclass(frozen=True)
class AngleRandomWalk:
    """White noise of the yaw rate; the variance of its integral is ``N^2 t``.

    ``density``: N, two-sided [rad/s/sqrt(Hz)].
    """

    name: str
    density: float

    def __post_init__(self) -> None:
        _require(self, density=True)


@dataclass(frozen=True)
class RateRandomWalk:
    """Random walk of the yaw rate's bias, from zero; that of its integral ``K^2 t^3 / 3``.

    ``density``: K, two-sided [rad/s^2/sqrt(Hz)].
    """

    name: str
    density: float

    def __post_init__(self) -> None:
        _require(self, density=True)


@dataclass(frozen=True)
class RateGaussMarkov:
    """First-order Gauss-Markov process of the yaw rate's bias, stationary from the beginning.

    ``sigma``: stationary standard deviation [rad/s]. ``correlation_time`` [s].
    """

    name: str
    sigma: float
    correlation_time: float

    def __post_init__(self) -> None:
        _require(self, sigma=True, correlation_time=False)


@dataclass(frozen=True)
class YawGaussMarkov:
    """First-order Gauss-Markov process of the yaw itself, as Hector's plug-in has it.

    ``sigma``: stationary standard deviation [rad]. ``correlation_time`` [s]. ``stationary``:
    whether it is stationary from the beginning, or begins with zero.
    """

    name: str
    sigma: float
    correlation_time: float
    stationary: bool = True

    def __post_init__(self) -> None:
        _require(self, sigma=True, correlation_time=False)


@dataclass(frozen=True)
class YawNoise:
    """White noise of the yaw itself, of the sensor or of the reference.

    ``sigma`` [rad].
    """

    name: str
    sigma: float

    def __post_init__(self) -> None:
        _require(self, sigma=True)


Source = Union[
    KnownError,
    RandomConstant,
    AngleRandomWalk,
    RateRandomWalk,
    RateGaussMarkov,
    YawGaussMarkov,
    YawNoise,
]
