r"""Independent sources of a yaw error, whose sum is the yaw error.

The yaw error :math:`e = \psi_{reference} - \psi_{imu}` obeys :math:`\dot e = -(b + n)`, where b are
the errors of the measured yaw rate and n is their white part. A source is one such b or n, or a
part of e itself. Sources of the same name form one entry of the budget.

The random processes form one linear state-space model with even steps. Its state consists of the
integral of the rate errors, one bias for each process of the rate, and one yaw for each process of
the yaw; the yaw error is the sum of the integral and of these yaws. Each step
:math:`x_{k+1} = \Phi x_k + w_k`, :math:`w_k \sim N(0, Q)` is exact for any step length: for a
continuous process by Van Loan's matrix exponential (Computing integrals involving the matrix
exponential, IEEE Transactions on Automatic Control 23(3), 1978), for a sampled sensor by the sum
over its samples.

If the sensor is stationary before the first step, and its mean rate error is subtracted from then
on, each source has an additional state: this mean, which is correlated with the biases at the end
of the standstill (:mod:`.sensors.operation`).
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
    """Base class of random yaw error sources, which checks their parameters.

    Parameters
    ----------
    name : str
        Name of the source.

    Raises
    ------
    ConfigurationError
        If a strength is negative or not finite, or a correlation time is not positive.
    """

    name: str

    def __post_init__(self) -> None:
        for name, condition in _BOUNDS.items():
            value = vars(self).get(name, 1.0)
            if not (
                math.isfinite(value) and (value > 0.0 or (value == 0.0 and "zero" in condition))
            ):
                raise ConfigurationError(
                    f"{self.name}: {name} is {value}, but it must be {condition}"
                )


@dataclass(frozen=True)
class KnownError:
    """Component of the yaw error that is identical in every run.

    Parameters
    ----------
    name : str
        Name of the source.
    curve : numpy.ndarray
        Yaw error at the model's times, shape (n,) [rad].
    """

    name: str
    curve: np.ndarray


@dataclass(frozen=True)
class RandomConstant(RandomSource):
    """Constant that is random over runs, times a known curve: ``c u``, c ~ N(0, sigma^2).

    Parameters
    ----------
    name : str
        Name of the source.
    regressor : numpy.ndarray
        Yaw error u for c = 1 at the model's times, shape (n,) [rad per unit of the constant].
    sigma : float
        Standard deviation [unit of the constant].
    """

    regressor: np.ndarray
    sigma: float


@dataclass(frozen=True)
class AngleRandomWalk(RandomSource):
    """White noise of the yaw rate, whose integral has the variance ``N^2 t``.

    Parameters
    ----------
    name : str
        Name of the source.
    density : float
        Two-sided density N of the median sensor [rad/s/sqrt(Hz)].
    is_gyroscope_error : bool, optional
        Whether the process is included in the rate that is measured at standstill.
    spread : float, optional
        Standard deviation of the logarithm of N over sensors.
    """

    density: float
    is_gyroscope_error: bool = True
    spread: float = 0.0


@dataclass(frozen=True)
class RateRandomWalk(RandomSource):
    """Random walk of the yaw rate bias, starting from zero.

    The variance of its integral is ``K^2 t^3 / 3``.

    Parameters
    ----------
    name : str
        Name of the source.
    density : float
        Two-sided density K of the median sensor [rad/s^2/sqrt(Hz)].
    spread : float, optional
        Standard deviation of the logarithm of K over sensors.
    """

    density: float
    spread: float = 0.0


@dataclass(frozen=True)
class RateGaussMarkov(RandomSource):
    """First-order Gauss-Markov process of the yaw rate bias, stationary from the start.

    Parameters
    ----------
    name : str
        Name of the source.
    sigma : float
        Stationary standard deviation of the median sensor [rad/s].
    correlation_time : float
        Correlation time [s].
    is_gyroscope_error : bool, optional
        Whether the process is included in the rate that is measured at standstill.
    spread : float, optional
        Standard deviation of the logarithm of sigma over sensors.
    """

    sigma: float
    correlation_time: float
    is_gyroscope_error: bool = True
    spread: float = 0.0


@dataclass(frozen=True)
class YawGaussMarkov(RandomSource):
    """First-order Gauss-Markov process of the yaw itself, as in Hector's Gazebo plug-in.

    Parameters
    ----------
    name : str
        Name of the source.
    sigma : float
        Stationary standard deviation [rad].
    correlation_time : float
        Correlation time [s].
    stationary : bool, optional
        Whether the process is stationary from the beginning; if not, it starts from zero.
    """

    sigma: float
    correlation_time: float
    stationary: bool = True


@dataclass(frozen=True)
class YawRandomWalk(RandomSource):
    """Random walk of the yaw with time-varying growth, for example due to wheel slip.

    Parameters
    ----------
    name : str
        Name of the source.
    variance : numpy.ndarray
        Variance at the model's times, starting from zero and never decreasing, shape (n,) [rad^2].
    """

    variance: np.ndarray


@dataclass(frozen=True)
class YawNoise(RandomSource):
    """White noise of the yaw itself, due to the sensor or the reference.

    Parameters
    ----------
    name : str
        Name of the source.
    sigma : float
        Standard deviation [rad].
    """

    sigma: float


PROCESSES = (AngleRandomWalk, RateRandomWalk, RateGaussMarkov, YawGaussMarkov, YawNoise)
YAW_PROCESSES = (YawGaussMarkov, YawNoise)
"""Types of processes of the yaw itself rather than of its rate."""
Process = Union[AngleRandomWalk, RateRandomWalk, RateGaussMarkov, YawGaussMarkov, YawNoise]
Source = Union[KnownError, RandomConstant, YawRandomWalk, Process]
CURVES = {KnownError: "curve", RandomConstant: "regressor", YawRandomWalk: "variance"}
"""Name of the field with one value per sample of the model, by type of source."""


@dataclass(frozen=True)
class StateSpace:
    """State-space model of g random sources with m states; the first is the integrated rate.

    Parameters
    ----------
    names : tuple of str
        Names of the sources without duplicates.
    transition : numpy.ndarray
        Transition from one step to the next, shape (m, m).
    noise : numpy.ndarray
        Covariance of the noise per step by source, shape (g, m, m).
    initial : numpy.ndarray
        Covariance of the initial state by source, shape (g, m, m).
    design : numpy.ndarray
        Row whose product with the state is the yaw error, shape (m,).
    yaw_noise : numpy.ndarray
        Variance of the white noise of the yaw by source, shape (g,) [rad^2].
    sources_of_states : tuple of int
        Index of the source of each state except the first.
    offsets : tuple of int
        Index of the state with each source's component of the estimated offset [rad/s]; empty
        without an offset.
    spreads : tuple of float
        Standard deviation of the logarithm of each source's strength over sensors. Covariances are
        means over sensors.
    """

    names: tuple[str, ...]
    transition: np.ndarray
    noise: np.ndarray
    initial: np.ndarray
    design: np.ndarray
    yaw_noise: np.ndarray
    sources_of_states: tuple[int, ...]
    offsets: tuple[int, ...]
    spreads: tuple[float, ...]

    @property
    def varies(self) -> bool:
        """Whether the strength of any error source differs between sensors."""
        return any(self.spreads)


@lru_cache(maxsize=32)
def state_space(
    sources: tuple,
    step: float,
    sensor_period: float | None,
    heading_time_constant: float | None = None,
    standstill: float = 0.0,
) -> StateSpace:
    """Create the state-space model of random processes, cached by arguments.

    Parameters
    ----------
    sources : tuple
        Sources whose types are in ``PROCESSES``.
    step : float
        Step of the model [s].
    sensor_period : float or None
        Sampling period of the sensor, of which the step is a multiple [s]; None for continuous
        processes.
    heading_time_constant : float, optional
        Time constant with which the integral decays due to a magnetic heading [s]; by default it
        does not decay.
    standstill : float, optional
        Duration of the standstill before the first step, over which the mean rate was estimated
        [s].

    Returns
    -------
    StateSpace

    Raises
    ------
    ConfigurationError
        If the step or the standstill is not a multiple of the sensor's period.
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
    offset_states = tuple(range(1 + len(states), size))
    if offsets:
        conditioned = _covariance_after_standstill(
            drift, density, initial, standstill, sensor_period, offset_states
        )
        for source in sources:
            if getattr(source, "is_gyroscope_error", isinstance(source, RateRandomWalk)):
                group = names.index(source.name)
                initial[group] = conditioned[group]
        drift[0, offset_states] = 1.0
    transition, noise = _discretised(drift, density, step, sensor_period)
    yaw_states = [float(biases <= index < len(states)) for index in range(size - 1)]
    sources_of_states = [*(names.index(source.name) for source in states), *range(offsets)]
    design = np.array([1.0, *yaw_states])
    spreads = dict.fromkeys(names, 0.0)
    spreads.update((s.name, s.spread) for s in sources if getattr(s, "spread", 0.0))
    matrices = transition, noise, initial, design, yaw_noise
    return StateSpace(
        names, *matrices, tuple(sources_of_states), offset_states, tuple(spreads.values())
    )


def _mean_square(source, size):
    """Return the mean square of a strength over sensors, given the median strength."""
    return size**2 * math.exp(2.0 * getattr(source, "spread", 0.0) ** 2)


def _discretised(drift, density, step, sensor_period):
    if sensor_period is None:
        return _discretise(drift, density, step)
    return _sampled(drift, density, step, sensor_period)


def _discretise(drift, density, step):
    """Discretise x' = A x + w exactly, if each state except the first depends on itself alone.

    Each such state forms a pair with the first state. A search changes one parameter at a time, so
    that most pairs are cached. ``drift`` (m, m): A [1/s]. ``density`` (g, m, m): diagonal two-sided
    power spectral densities of w. Returns the transition (m, m) and the noise (g, m, m).
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
    """Discretise two coupled states by Van Loan's method, with unit noise density of the second."""
    drift = np.array([[decay_rate, coupling], [0.0, state_rate]])
    block = np.zeros((4, 4))
    block[:2, :2] = -drift
    block[1, 3] = 1.0
    block[2:, 2:] = drift.T
    # The upper left block grows as exp(step / shortest time), so a short step is doubled.
    halvings = max(0, math.ceil(math.log2(max(1.0, -min(decay_rate, state_rate) * step))))
    exponential = expm(block * (step / 2**halvings))
    transition = exponential[2:, 2:].T
    noise = transition @ exponential[:2, 2:]
    for _ in range(halvings):
        noise = transition @ noise @ transition.T + noise
        transition = transition @ transition
    return transition, noise


def _covariance_after_standstill(drift, density, initial, standstill, sensor_period, offset_states):
    """Return the state covariances (g, m, m) after the offset is estimated over a standstill."""
    drift = drift.copy()
    drift[0, 0] = 0.0  # the offset is the mean rate, whether or not the heading decays
    transition, noise = _discretised(drift, density, standstill, sensor_period)
    conditioned = np.empty_like(initial)
    for group, (covariance, added) in enumerate(zip(initial, noise)):
        # The offset is minus the integral divided by the duration; then the integral is reset.
        correction = np.eye(len(drift))
        correction[offset_states[group], 0] = -1.0 / standstill
        correction[0, 0] = 0.0
        conditioned[group] = (
            correction @ (transition @ covariance @ transition.T + added) @ correction.T
        )
    return conditioned


def _sampled(drift, density, step, period):
    """Discretise as ``_discretise``, but for a rate that is constant over each sampling period."""
    ratio = step / period
    samples = round(ratio)
    if samples < 1 or abs(ratio - samples) > 1e-6 * ratio:
        raise ConfigurationError(
            f"the step of the yaw error is {step:g} s, expected a multiple of the sensor's period "
            f"of {period:g} s"
        )
    sample_transition, added = _one_sample(drift, density, period)
    # The sum over all samples is computed by repeated doubling (binary exponentiation).
    transition, noise = np.eye(len(drift)), np.zeros_like(density)
    while samples:
        if samples & 1:
            noise = sample_transition @ noise @ sample_transition.T + added
            transition = sample_transition @ transition
        added = sample_transition @ added @ sample_transition.T + added
        sample_transition = sample_transition @ sample_transition
        samples >>= 1
    return transition, noise


def _one_sample(drift, density, period):
    forgotten = -np.diag(drift) * period
    # A magnetic heading corrects the integral after each sample, including its noise.
    kept = np.exp(-forgotten[0])
    forgotten[0] = 0.0
    correlation = np.exp(-forgotten)
    # Noise of a Gauss-Markov process over one period, relative to that of a random walk.
    share = np.where(
        forgotten > 0.0, -np.expm1(-2.0 * forgotten) / np.maximum(2.0 * forgotten, 1e-300), 1.0
    )
    # The updated bias is the rate error until the next sample.
    step_transition = np.eye(len(drift)) + period * np.where(np.eye(len(drift)) > 0.0, 0.0, drift)
    step_transition[0] *= kept
    steps = period * share * np.diagonal(density, axis1=1, axis2=2)
    added = step_transition @ (steps[:, :, np.newaxis] * np.eye(len(drift))) @ step_transition.T
    return step_transition * correlation, added
