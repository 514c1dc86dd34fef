"""What an identified model of the yaw error may consist of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

import numpy as np

from imu_simulation_framework.evaluation.yaw_error_model import (
    AngleRandomWalk,
    RateGaussMarkov,
    RateRandomWalk,
    Source,
    YawGaussMarkov,
    YawNoise,
)
from imu_simulation_framework.identification.yaw_error.observation import ObservedYawError


@dataclass(frozen=True)
class RandomTerm:
    """A random process: its parameters, in the order of its source's, are positive.

    Parameters
    ----------
    name : str
    parameters : tuple of str
        Names, of which the first is a strength, and a second one a correlation time.
    units : tuple of str
    """

    name: str
    parameters: tuple[str, ...]
    units: tuple[str, ...]


@dataclass(frozen=True)
class ConstantTerm:
    """A constant, the same in all drives, times a known curve."""

    name: str
    parameter: str
    unit: str

    def regressor(self, drive: ObservedYawError) -> np.ndarray:
        """Return the yaw error that a constant of 1 leads to, (n,) [rad]."""
        return -{
            "rate_bias": drive.time,
            "scale_factor": drive.net_turn,
            "scale_factor_of_absolute_turn": drive.absolute_turn,
        }[self.parameter]


ANGLE_RANDOM_WALK = RandomTerm("angle random walk", ("angle_random_walk",), ("rad/s/sqrt(Hz)",))
RATE_RANDOM_WALK = RandomTerm("rate random walk", ("rate_random_walk",), ("rad/s^2/sqrt(Hz)",))
RATE_DRIFT = RandomTerm(
    "Gauss-Markov drift of the rate", ("rate_drift_sigma", "rate_drift_time"), ("rad/s", "s")
)
YAW_DRIFT = RandomTerm(
    "Gauss-Markov drift of the yaw", ("yaw_drift_sigma", "yaw_drift_time"), ("rad", "s")
)
REFERENCE_NOISE = RandomTerm("white noise of the reference", ("reference_noise",), ("rad",))
REFERENCE_DRIFT = RandomTerm(
    "correlated noise of the reference",
    ("reference_drift_sigma", "reference_drift_time"),
    ("rad", "s"),
)
RANDOM_TERMS = (
    ANGLE_RANDOM_WALK,
    RATE_RANDOM_WALK,
    RATE_DRIFT,
    YAW_DRIFT,
    REFERENCE_NOISE,
    REFERENCE_DRIFT,
)

RATE_BIAS = ConstantTerm("rate bias", "rate_bias", "rad/s")
SCALE_FACTOR = ConstantTerm("scale factor per net turn", "scale_factor", "1")
DIRECTION = ConstantTerm("scale factor per absolute turn", "scale_factor_of_absolute_turn", "1")
CONSTANT_TERMS = (RATE_BIAS, SCALE_FACTOR, DIRECTION)

SPREAD = "rate_bias_spread"
"""Standard deviation of the rate's bias from drive to drive [rad/s]; known from several only."""
START_OFFSET = "start_offset"
"""Of each drive, unknown."""

UNITS = {
    **{name: unit for term in RANDOM_TERMS for name, unit in zip(term.parameters, term.units)},
    **{term.parameter: term.unit for term in CONSTANT_TERMS},
    SPREAD: "rad/s",
    START_OFFSET: "rad",
}


def sources(terms: Sequence[RandomTerm], values: dict[str, float]) -> list[Source]:
    """Return the processes of the terms, as :class:`.YawErrorModel` takes them."""
    made: list[Source] = []
    for term in terms:
        numbers = [values[name] for name in term.parameters]
        if term is ANGLE_RANDOM_WALK:
            made.append(AngleRandomWalk(term.name, *numbers))
        elif term is RATE_RANDOM_WALK:
            made.append(RateRandomWalk(term.name, *numbers))
        elif term is RATE_DRIFT:
            made.append(RateGaussMarkov(term.name, *numbers))
        elif term is REFERENCE_NOISE:
            made.append(YawNoise(term.name, *numbers))
        else:
            made.append(YawGaussMarkov(term.name, numbers[0], numbers[1]))
    return made


@dataclass(frozen=True)
class Scales:
    """What size parameters have on given drives: where a search begins, and how far it goes."""

    step: float
    duration: float
    step_change: float
    total_change: float

    def typical(self, parameter: str) -> float:
        """Return a size from which to search."""
        return {
            "angle_random_walk": self.step_change / math.sqrt(2.0 * self.step),
            "rate_random_walk": self.total_change / self.duration**1.5,
            "rate_drift_sigma": self.total_change / self.duration,
            "rate_drift_time": 0.1 * self.duration,
            "yaw_drift_sigma": 0.5 * self.total_change,
            "yaw_drift_time": 0.1 * self.duration,
            "reference_noise": self.step_change / 2.0,
            "reference_drift_sigma": self.step_change,
            "reference_drift_time": 4.0 * self.step,
            SPREAD: self.total_change / self.duration,
        }[parameter]

    def bounds(self, parameter: str) -> tuple[float, float]:
        """Return the smallest and the largest value that a search may take."""
        if parameter in ("rate_drift_time", "yaw_drift_time"):
            # Faster than that is the reference, or white; slower than that is constant.
            return 5.0 * self.step, 10.0 * self.duration
        if parameter == "reference_drift_time":
            return 0.5 * self.step, 0.05 * self.duration
        typical = self.typical(parameter)
        return 1e-5 * typical, 1e3 * typical


def scales(drives: Sequence[ObservedYawError]) -> Scales:
    """Return what size parameters have on these drives."""
    changes, totals = [], []
    for drive in drives:
        observed = drive.error[np.isfinite(drive.error)]
        changes.append(np.diff(observed))
        line = np.polynomial.Polynomial.fit(drive.time[np.isfinite(drive.error)], observed, 1)
        totals.append(observed - line(drive.time[np.isfinite(drive.error)]))
    step_change = float(np.sqrt(np.mean(np.square(np.concatenate(changes)))))
    total_change = float(np.sqrt(np.mean(np.square(np.concatenate(totals)))))
    smallest = np.finfo(float).tiny ** 0.25
    return Scales(
        drives[0].step,
        float(max(drive.time[-1] for drive in drives)),
        max(step_change, smallest),
        max(total_change, smallest),
    )
