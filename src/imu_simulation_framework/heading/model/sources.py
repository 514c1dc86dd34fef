r"""What a yaw error is made of: sources, independent of each other, that add up to it.

The yaw error :math:`e = \psi_{reference} - \psi_{imu}` obeys, with b the errors of the measured
yaw rate and n their white part, :math:`\dot e = -(b + n)`; a source is one such b, or n, or a part
of e itself. Sources of one name belong together: they are one line of the budget.

Those that are random processes are one linear state-space model at even steps. Its state is the
integral of the yaw rate's errors, then one bias for each process of the rate, then one yaw for each
process of the yaw; the yaw error is the sum of the first and the last ones. From step to step
:math:`x_{k+1} = \Phi x_k + w_k`, :math:`w_k \sim N(0, Q)`, exactly, whatever the step: for a
continuous process by Van Loan's matrix exponential (Computing integrals involving the matrix
exponential, IEEE Transactions on Automatic Control 23(3), 1978), for a sensor that is sampled by
the sum over its samples.

Where the sensor stands still before the first step, and the mean of its rate's errors is taken off
from then on, each source has one more state: that mean, which is correlated with the biases that it
was taken of (:mod:`.sensors.operation`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Union

import numpy as np
from scipy.linalg import expm

from ...core.errors import ConfigurationError

_BOUNDS = {"density": "zero or positive", "sigma": "zero or positive"}
_BOUNDS["correlation_time"] = "positive"


@dataclass(frozen=True)
class RandomSource:
    """A source with strengths, which raises ConfigurationError if they are not finite and so."""

    name: str

    def __post_init__(self) -> None:
        for name, words in _BOUNDS.items():
            value = vars(self).get(name, 1.0)
            if not (math.isfinite(value) and (value > 0.0 or (value == 0.0 and "zero" in words))):
                raise ConfigurationError(f"{self.name}: {name} is {value}, but it must be {words}")


@dataclass(frozen=True)
class KnownError:
    """A part of the yaw error that is the same in every run.

    ``curve`` (n,): at the model's times [rad].
    """

    name: str
    curve: np.ndarray


@dataclass(frozen=True)
class RandomConstant(RandomSource):
    """A constant that each run draws anew, times a known curve: ``c u``, c ~ N(0, sigma^2).

    ``regressor`` (n,): u, the yaw error for c = 1, at the model's times [rad per unit of the
    constant]. ``sigma`` [unit of the constant].
    """

    regressor: np.ndarray
    sigma: float


@dataclass(frozen=True)
class AngleRandomWalk(RandomSource):
    """White noise of the yaw rate; the variance of its integral is ``N^2 t``.

    ``density``: N, two-sided [rad/s/sqrt(Hz)]. ``of_gyroscope``: whether it is read at standstill.
    ``spread``: standard deviation of its logarithm from unit to unit; N is the median unit's.
    """

    density: float
    of_gyroscope: bool = True
    spread: float = 0.0


@dataclass(frozen=True)
class RateRandomWalk(RandomSource):
    """Random walk of the yaw rate's bias, from zero; that of its integral ``K^2 t^3 / 3``.

    ``density``: K, two-sided [rad/s^2/sqrt(Hz)]. ``spread``: as of :class:`AngleRandomWalk`.
    """

    density: float
    spread: float = 0.0


@dataclass(frozen=True)
class RateGaussMarkov(RandomSource):
    """First-order Gauss-Markov process of the yaw rate's bias, stationary from the beginning.

    ``sigma``: stationary standard deviation [rad/s]. ``correlation_time`` [s]. ``of_gyroscope``:
    whether it is read at standstill. ``spread``: as of :class:`AngleRandomWalk`.
    """

    sigma: float
    correlation_time: float
    of_gyroscope: bool = True
    spread: float = 0.0


@dataclass(frozen=True)
class YawGaussMarkov(RandomSource):
    """First-order Gauss-Markov process of the yaw itself, as Hector's plug-in has it.

    ``sigma``: stationary standard deviation [rad]. ``correlation_time`` [s]. ``stationary``:
    whether it is stationary from the beginning, or begins with zero.
    """

    sigma: float
    correlation_time: float
    stationary: bool = True


@dataclass(frozen=True)
class YawRandomWalk(RandomSource):
    """Random walk of the yaw itself that grows unevenly, as with the distance of wheels that slip.

    ``variance`` (n,): at the model's times, from zero on, never falling [rad^2].
    """

    variance: np.ndarray


@dataclass(frozen=True)
class YawNoise(RandomSource):
    """White noise of the yaw itself, of the sensor or of the reference; ``sigma`` [rad]."""

    sigma: float


PROCESSES = (AngleRandomWalk, RateRandomWalk, RateGaussMarkov, YawGaussMarkov, YawNoise)
YAW_PROCESSES = (YawGaussMarkov, YawNoise)
"""Those that are no errors of the rate."""
Process = Union[AngleRandomWalk, RateRandomWalk, RateGaussMarkov, YawGaussMarkov, YawNoise]
Source = Union[KnownError, RandomConstant, YawRandomWalk, Process]
CURVES = {KnownError: "curve", RandomConstant: "regressor", YawRandomWalk: "variance"}
"""Field of those that have a value at each of the model's times."""


@dataclass(frozen=True)
class StateSpace:
    """States m, of which the first is the integrated error of the yaw rate.

    ``names``: of the sources, each once; g of them. ``transition`` (m, m): from one step to the
    next. ``noise`` (g, m, m): covariance of what a step adds, by source. ``initial`` (g, m, m):
    covariance of the first state, by source. ``design`` (m,): the yaw error is this times the
    state. ``yaw_noise`` (g,): variance of the white noise of the yaw, by source [rad^2].
    ``of_state``: which source each state but the first belongs to. ``offsets``: the state of each
    source that is what was taken for its offset [rad/s]; empty where none was taken. ``spreads``
    (g,): of each source's strength from unit to unit; covariances are the mean over units.
    """

    names: tuple[str, ...]
    transition: np.ndarray
    noise: np.ndarray
    initial: np.ndarray
    design: np.ndarray
    yaw_noise: np.ndarray
    of_state: tuple[int, ...]
    offsets: tuple[int, ...]
    spreads: tuple[float, ...]

    @property
    def varies(self) -> bool:
        """Whether units differ in how strong a source is."""
        return any(self.spreads)


@lru_cache(maxsize=32)
def state_space(
    sources: tuple,
    step: float,
    sensor_period: float | None,
    heading_time_constant: float | None = None,
    standstill: float = 0.0,
) -> StateSpace:
    """Return the model of the sources that are random processes; of the same ones, the same one.

    ``sources``: of ``PROCESSES``. ``step`` [s]. ``sensor_period``: time from one sample of the
    sensor to the next, a whole part of the step [s]; None for processes in continuous time.
    ``heading_time_constant``: of a heading that the integral forgets to [s]; by default it forgets
    nothing. ``standstill``: over which the rate's mean was taken off before the first step [s]; by
    default it was not. Raises ConfigurationError if the step, or the standstill, is no multiple of
    the sensor's period.
    """
    names = tuple(dict.fromkeys(source.name for source in sources))
    states: list = [s for s in sources if isinstance(s, (RateRandomWalk, RateGaussMarkov))]
    biases = len(states)
    states += [s for s in sources if isinstance(s, YawGaussMarkov)]
    offsets = len(names) if standstill > 0.0 else 0
    size = 1 + len(states) + offsets
    drift = np.zeros((size, size))
    if heading_time_constant is not None:
        drift[0, 0] = -1.0 / heading_time_constant
    density, initial = np.zeros((2, len(names), size, size))
    yaw_noise = np.zeros(len(names))
    for source in sources:
        if isinstance(source, AngleRandomWalk):
            density[names.index(source.name), 0, 0] += _mean_square(source, source.density)
        elif isinstance(source, YawNoise):
            yaw_noise[names.index(source.name)] += source.sigma**2
    for index, source in enumerate(states, start=1):
        group = names.index(source.name)
        if index <= biases:
            drift[0, index] = -1.0
        if isinstance(source, RateRandomWalk):
            density[group, index, index] = _mean_square(source, source.density)
            continue
        drift[index, index] = -1.0 / source.correlation_time
        variance = _mean_square(source, source.sigma)
        density[group, index, index] = 2.0 * variance / source.correlation_time
        if isinstance(source, RateGaussMarkov) or source.stationary:
            initial[group, index, index] = variance
    of_offset = tuple(range(1 + len(states), size))
    if offsets:
        after = _after_standstill(drift, density, initial, standstill, sensor_period, of_offset)
        for source in sources:
            if getattr(source, "of_gyroscope", isinstance(source, RateRandomWalk)):
                group = names.index(source.name)
                initial[group] = after[group]
        drift[0, of_offset] = 1.0
    transition, noise = _discretised(drift, density, step, sensor_period)
    of_yaw = [float(biases <= index < len(states)) for index in range(size - 1)]
    of_state = [*(names.index(source.name) for source in states), *range(offsets)]
    design = np.array([1.0, *of_yaw])
    spreads = dict.fromkeys(names, 0.0)
    spreads.update((s.name, s.spread) for s in sources if getattr(s, "spread", 0.0))
    matrices = transition, noise, initial, design, yaw_noise
    return StateSpace(names, *matrices, tuple(of_state), of_offset, tuple(spreads.values()))


def _mean_square(source, size):
    """Return the mean over units of the square of a strength whose median is the size."""
    return size**2 * math.exp(2.0 * getattr(source, "spread", 0.0) ** 2)


def _discretised(drift, density, step, sensor_period):
    if sensor_period is None:
        return _discretise(drift, density, step)
    return _sampled(drift, density, step, sensor_period)


def _discretise(drift, density, step):
    """Discretise x' = A x + w exactly, where all states but the first depend on themselves only.

    Each of them is a pair with the first one. A search changes one parameter at a time, so that
    most pairs are cached. ``drift`` (m, m): A [1/s]. ``density`` (g, m, m): two-sided power
    spectral densities of w, diagonal. Returns the transition (m, m) and the noise (g, m, m).
    """
    decay = drift[0, 0] * step
    transition, noise = np.zeros_like(drift), np.zeros_like(density)
    transition[0, 0] = math.exp(decay)
    mean_square = math.expm1(2.0 * decay) / (2.0 * decay) if decay else 1.0
    noise[:, 0, 0] = density[:, 0, 0] * step * mean_square
    for index in range(1, len(drift)):
        pair = np.ix_((0, index), (0, index))
        transition[pair], added = _van_loan(drift[0, 0], drift[0, index], drift[index, index], step)
        noise[(slice(None), *pair)] += density[:, index, index, np.newaxis, np.newaxis] * added
    return transition, noise


@lru_cache(maxsize=64)
def _van_loan(decay_rate, coupling, state_rate, step):
    """Return transition and noise (2, 2) of two states, the second of which has unit density."""
    drift = np.array([[decay_rate, coupling], [0.0, state_rate]])
    block = np.zeros((4, 4))
    block[:2, :2] = -drift
    block[1, 3] = 1.0
    block[2:, 2:] = drift.T
    # The upper left part grows with exp(step / shortest time): small steps, then doubled.
    halvings = max(0, math.ceil(math.log2(max(1.0, -min(decay_rate, state_rate) * step))))
    exponential = expm(block * (step / 2**halvings))
    transition = exponential[2:, 2:].T
    noise = transition @ exponential[:2, 2:]
    for _ in range(halvings):
        noise = transition @ noise @ transition.T + noise
        transition = transition @ transition
    return transition, noise


def _after_standstill(drift, density, initial, standstill, sensor_period, of_offset):
    """Return the covariances (g, m, m) of the states when the mean rate has become the offset."""
    drift = drift.copy()
    drift[0, 0] = 0.0  # the mean is that of the rate, whatever the heading forgets
    transition, noise = _discretised(drift, density, standstill, sensor_period)
    after = np.empty_like(initial)
    for group, (before, added) in enumerate(zip(initial, noise)):
        # The integral, minus the sum of the rate's errors, becomes the offset and begins anew.
        taken = np.eye(len(drift))
        taken[of_offset[group], 0] = -1.0 / standstill
        taken[0, 0] = 0.0
        after[group] = taken @ (transition @ before @ transition.T + added) @ taken.T
    return after


def _sampled(drift, density, step, period):
    """As _discretise, where the rate is read at a period and each reading held over it."""
    ratio = step / period
    samples = round(ratio)
    if samples < 1 or abs(ratio - samples) > 1e-6 * ratio:
        raise ConfigurationError(
            f"the yaw error's step of {step:g} s is no multiple of the sensor's period of "
            f"{period:g} s"
        )
    once, added = _one_sample(drift, density, period)
    # Sums over the samples by doubling, bit by bit of their number.
    transition, noise = np.eye(len(drift)), np.zeros_like(density)
    while samples:
        if samples & 1:
            noise = once @ noise @ once.T + added
            transition = once @ transition
        added = once @ added @ once.T + added
        once = once @ once
        samples >>= 1
    return transition, noise


def _one_sample(drift, density, period):
    forgotten = -np.diag(drift) * period
    # A heading corrects the integral after each sample, the new one and its noise included.
    kept = np.exp(-forgotten[0])
    forgotten[0] = 0.0
    correlation = np.exp(-forgotten)
    # Of a Gauss-Markov process, 2 sigma^2 / T over one period; of a random walk its limit.
    share = np.where(
        forgotten > 0.0, -np.expm1(-2.0 * forgotten) / np.maximum(2.0 * forgotten, 1e-300), 1.0
    )
    # The bias's new value is what the rate is wrong by until the next.
    reach = np.eye(len(drift)) + period * np.where(np.eye(len(drift)) > 0.0, 0.0, drift)
    reach[0] *= kept
    steps = period * share * np.diagonal(density, axis1=1, axis2=2)
    added = reach @ (steps[:, :, np.newaxis] * np.eye(len(drift))) @ reach.T
    return reach * correlation, added
