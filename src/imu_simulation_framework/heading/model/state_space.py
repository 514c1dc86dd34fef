r"""Realisations of a linear state-space model, and the likelihood of observed yaw errors.

For :math:`x_{k+1} = \Phi x_k + L w_k` with :math:`L L^T = Q`, b steps can be combined into a lifted
model: matrices yield each of the b outputs and the final states from the initial states and all
random numbers. Then nearly all of the work is one matrix product, and the loop over time is b times
shorter.

Given both ends of a step, white noise of the rate turns the error into a Brownian bridge. Its
probability of staying between two barriers has a closed form, the sum over the images of its start
at the barriers (Karatzas and Shreve: Brownian Motion and Stochastic Calculus, 2nd edition, section
2.8).

The likelihood comes from the Kalman filter of statsmodels. Several drives form one series: the
states of the drive are reset between two drives, while the constants of the sensor persist.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, Sequence

import numpy as np

from ...core.errors import ConfigurationError
from ...sensors.noise.streams import run_seed
from .sources import StateSpace

RUNS_AT_ONCE = 32
"""Number of runs per batch; each batch begins at a multiple of it.

A matrix product with a different number of rows may differ in the last digits."""
STEPS_AT_ONCE = 8
"""Number of time steps that a lifted model combines."""


def draw_runs(
    space: StateSpace,
    mean: np.ndarray,
    constants: Sequence[tuple[str, np.ndarray]],
    walks: Sequence[tuple[str, np.ndarray]],
    runs: int,
    seed: int | RunNormals,
    first_run: int = 0,
) -> np.ndarray:
    """Simulate realisations: a mean plus processes, random constants and random walks.

    Parameters
    ----------
    space : StateSpace
        State-space model of the processes.
    mean : numpy.ndarray
        Mean, shape (n,).
    constants : sequence of tuple
        Name of each constant's source, and the yaw error (n,) for one standard deviation.
    walks : sequence of tuple
        Name of each uneven random walk's source, without duplicates, and its variance (n,).
    runs : int
        Number of runs.
    seed : int or RunNormals
        Seed of all runs, or normal random numbers shared by several models.
    first_run : int
        Number of the first run.

    Returns
    -------
    numpy.ndarray
        Realisations, shape (runs, n).
    """
    drawing = _RunSampler(space, constants, walks, len(mean))
    errors = np.empty((runs, len(mean)))
    last = first_run + runs
    for first in range(first_run - first_run % RUNS_AT_ONCE, last, RUNS_AT_ONCE):
        run_range = range(max(first, first_run), min(first + RUNS_AT_ONCE, last))
        drawn = drawing.draw(seed, run_range, first)[
            run_range.start - first : run_range.stop - first
        ]
        errors[run_range.start - first_run : run_range.stop - first_run] = drawn + mean
    return errors


def numbers_per_run(
    space: StateSpace, constants: Sequence[tuple], walks: Sequence[tuple], samples: int
) -> int:
    """Return the number of normal random numbers that one realisation requires.

    Parameters
    ----------
    space : StateSpace
        State-space model of the processes.
    constants : sequence of tuple
        Name of each constant's source, and the yaw error (n,) for one standard deviation.
    walks : sequence of tuple
        Name of each uneven random walk's source, and its variance (n,).
    samples : int
        Number of samples.

    Returns
    -------
    int
        Number of random numbers.
    """
    return sum(stream.numbers for stream in _streams(space, constants, walks, samples))


@dataclass(frozen=True)
class _Stream:
    """Stream of random numbers for one source's states, yaw noise, constants or random walk."""

    name: str
    numbers: int
    root: np.ndarray | None = None
    initial: np.ndarray | None = None
    yaw_noise: float = 0.0
    constants: tuple[int, ...] = ()
    walk: np.ndarray | None = None
    spread: float = 0.0

    @cached_property
    def place(self) -> int:
        """Offset of the stream in a run's random numbers, far from all other streams."""
        return zlib.crc32(self.name.encode()) << 64


def _streams(space, constants, walks, samples):
    steps = -(-(samples - 1) // STEPS_AT_ONCE) * STEPS_AT_ONCE
    streams = []
    for group, name in enumerate(space.names):
        root = _root(space.noise[group])
        if root.shape[1] > 0:
            initial = _initial_root(space, group, root.shape[1])
            numbers = len(initial) + root.shape[1] * steps
            spread = space.spreads[group]
            streams.append(_Stream(name, numbers, root=root, initial=initial, spread=spread))
        if space.yaw_noise[group] > 0.0:
            std = float(np.sqrt(space.yaw_noise[group]))
            streams.append(_Stream(f"{name}, yaw", samples, yaw_noise=std))
    names = [name for name, _ in constants]
    for name in dict.fromkeys(names):
        indices = tuple(index for index, other in enumerate(names) if other == name)
        streams.append(_Stream(f"{name}, constant", len(indices), constants=indices))
    for name, variance in walks:
        steps = np.sqrt(np.diff(variance, prepend=0.0))
        streams.append(_Stream(f"{name}, walk", samples, walk=steps))
    return streams


def _root(covariance, shared=0):
    """Return a root L (m, inputs), L L^T = Q, of the noise covariance of a source.

    The processes of the source are independent: each has a separate input. The state ``shared``,
    which is the integrated rate, is correlated with all inputs and has one more for the remainder.
    """
    std = np.sqrt(np.diag(covariance))
    states = np.delete(np.arange(len(std)), shared)
    states = states[std[states] > 0.0]
    root = np.zeros((len(std), len(states)))
    root[states, np.arange(len(states))] = std[states]
    root[shared] = covariance[shared, states] / std[states]
    own_variance = covariance[shared, shared] - np.sum(root[shared] ** 2)
    # A smaller difference is a rounding error.
    if own_variance > 1e-14 * covariance[shared, shared]:
        root = np.column_stack([root, np.sqrt(own_variance) * np.eye(len(std))[shared]])
    return root


class _RunSampler:
    """Sampler of realisations, with all matrices that do not depend on the run."""

    def __init__(self, space, constants, walks, samples):
        self._samples = samples
        self._blocks = -(-(samples - 1) // STEPS_AT_ONCE)
        self._streams = _streams(space, constants, walks, samples)
        self._curves = np.array([curve for _, curve in constants])
        # The last random number of a run determines the individual sensor.
        self._drawn = [np.zeros((RUNS_AT_ONCE, stream.numbers + 1)) for stream in self._streams]
        self._design = space.design
        self._lift(space)

    def _lift(self, space):
        size, steps = len(space.design), STEPS_AT_ONCE
        powers = [np.eye(size)]
        for _ in range(steps):
            powers.append(space.transition @ powers[-1])
        self._block_transition = powers[steps]
        # Effect of the states at the start of a block on the block's outputs, (states, steps).
        self._output_of_state = np.column_stack([power.T @ space.design for power in powers[1:]])
        # Effect of the noise in each step on the block's outputs and on its final states.
        both = np.zeros((steps, size, steps + size))
        for step in range(steps):
            both[step, :, steps:] = powers[steps - 1 - step].T
            for later in range(step, steps):
                both[step, :, later] = space.design @ powers[later - step]
        # The random numbers of a block are ordered by input.
        self._lifted = [
            None
            if stream.root is None
            else np.moveaxis(stream.root.T @ both, 0, 1).reshape(-1, steps + size)
            for stream in self._streams
        ]

    def draw(self, seed, runs, first):
        """Simulate errors (RUNS_AT_ONCE, n), of which only the rows of requested runs are valid."""
        self._fill(seed, runs, first)
        size, steps = len(self._design), STEPS_AT_ONCE
        states = np.zeros((self._blocks + 1, RUNS_AT_ONCE, size))
        total = np.zeros((RUNS_AT_ONCE, self._blocks, steps + size))
        errors = np.zeros((RUNS_AT_ONCE, self._samples))
        for stream, drawn, lifted in zip(self._streams, self._drawn, self._lifted):
            numbers = drawn[:, :-1]
            if stream.root is not None:
                initial_count = len(stream.initial)
                states[0] += numbers[:, :initial_count] @ stream.initial
                # Each run is a separate product, since multithreaded BLAS would be slower.
                block_size = stream.root.shape[1] * steps
                total += numbers[:, initial_count:].reshape(RUNS_AT_ONCE, -1, block_size) @ lifted
            elif stream.constants:
                errors += numbers @ self._curves[list(stream.constants)]
            elif stream.walk is not None:
                errors += np.cumsum(numbers * stream.walk, axis=1)
            else:
                errors += stream.yaw_noise * numbers
        errors[:, 0] += states[0] @ self._design
        # The matrices are small, so that dot, with less overhead than matmul, is faster.
        innovations = np.ascontiguousarray(np.moveaxis(total[:, :, steps:], 1, 0))
        for state, next_state, innovation in zip(states, states[1:], innovations):
            np.dot(state, self._block_transition.T, out=next_state)
            next_state += innovation
        yaw_errors = total[:, :, :steps] + np.moveaxis(states[:-1] @ self._output_of_state, 0, 1)
        errors[:, 1:] += yaw_errors.reshape(RUNS_AT_ONCE, -1)[:, : self._samples - 1]
        return errors

    def _fill(self, seed, runs, first):
        normals = seed if isinstance(seed, RunNormals) else RunNormals(seed)
        rows = slice(runs.start - first, runs.stop - first)
        for stream, numbers in zip(self._streams, self._drawn):
            normals.fill(numbers[rows], runs, stream.place)
            if stream.spread:
                # Covariances are means over sensors; the last random number selects the sensor.
                units = stream.spread * numbers[rows, -1] - stream.spread**2
                numbers[rows, :-1] *= np.array(list(map(math.exp, units)))[:, np.newaxis]


class RunNormals:
    """Standard normal random numbers of runs, which several models share by source name.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence
        Seed of all runs.
    capacity : int, optional
        Maximum number of stored random numbers; by default none are stored.
    """

    def __init__(self, seed: int | np.random.SeedSequence, capacity: int = 0):
        self._seed = seed
        self._free = capacity
        self._stored: dict[tuple[range, int, int], np.ndarray] = {}
        self._bits = np.random.PCG64(0)
        self._generator = np.random.Generator(self._bits)

    def fill(self, numbers: np.ndarray, runs: range, place: int) -> None:
        """Fill an array with the normal random numbers of runs.

        Parameters
        ----------
        numbers : numpy.ndarray
            Array to fill, shape (runs, n).
        runs : range
            Numbers of the runs.
        place : int
            Offset in the random numbers of each run.
        """
        key = runs, place, numbers.shape[1]
        if key in self._stored:
            numbers[:] = self._stored[key]
            return
        for row, run in zip(numbers, runs):
            # Creating a generator for each run and offset would take longer than sampling.
            self._bits.state = _first_state(self._seed, run)
            self._bits.advance(place)
            self._generator.standard_normal(out=row)
        if numbers.size <= self._free:
            self._stored[key] = numbers.copy()
            self._free -= numbers.size


@lru_cache(maxsize=8192)
def _first_state(seed, run):
    """Return the initial state of a run's random generator, cached for several sources."""
    return np.random.PCG64(run_seed(seed, run)).state


def _initial_root(space, group, inputs):
    """Return the matrix that maps a source's first random numbers to the initial states."""
    if space.offsets:
        # The estimated gyroscope offset is correlated with the biases.
        root = _root(space.initial[group], space.offsets[group]).T
        return np.vstack([root, np.zeros((max(0, inputs - len(root)), root.shape[1]))])
    states = 1 + np.flatnonzero(np.diag(space.noise[group])[1:])
    root = np.zeros((inputs, len(space.design)))
    root[np.arange(len(states)), states] = np.sqrt(np.diag(space.initial[group])[states])
    return root


SAMPLED_BARRIER = 0.5826
"""Shift of the barriers of a sampled random walk, in standard deviations of a step.

A random walk that is observed only at its samples crosses the shifted barrier as often as the
continuous random walk crosses the original one: -zeta(1/2) / sqrt(2 pi) (Broadie, Glasserman and
Kou: A continuity correction for discrete barrier options, Mathematical Finance 7(4), 1997)."""

_IMAGES = 2
"""Number of images on either side; more matter only if a step exceeds the band width."""
_MAX_EXPONENT = 20.0
"""Scaled distance from the barriers beyond which a crossing, exp(-40), is neglected."""


def bridges_within(
    errors: np.ndarray, variance: np.ndarray, limit: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """Compute the probability that no Brownian bridge between samples has left a band so far.

    Parameters
    ----------
    errors : numpy.ndarray
        Errors at even steps, shape (runs, n).
    variance : numpy.ndarray
        Variance that each step adds to the error where it is free, shape (n - 1,) [unit of the
        errors squared].
    limit : numpy.ndarray
        Half width of the band in each step, shape (n - 1,).
    free : numpy.ndarray
        Whether the error is free rather than held in each step, shape (n - 1,).

    Returns
    -------
    numpy.ndarray
        Probability, shape (runs, n); zero once an error itself is outside.
    """
    inside = np.ones(errors.shape, dtype=bool)
    for ends in (errors[:, :-1], errors[:, 1:]):
        inside[:, 1:] &= np.abs(ends) <= limit
    inside[:, 0] = np.abs(errors[:, 0]) <= limit[0]
    within = np.logical_and.accumulate(inside, axis=1).astype(float)
    if not np.any(variance):
        return within
    width = 2.0 * limit
    start, end = errors[:, :-1] + limit, errors[:, 1:] + limit
    nearest = np.minimum(start * end, (width - start) * (width - end))
    rows, steps = np.nonzero((nearest < _MAX_EXPONENT * variance) & free & (within[:, 1:] > 0.0))
    x, y = start[rows, steps], end[rows, steps]
    variance, width = variance[steps], width[steps]
    probability = np.zeros(len(x))
    for image in range(-_IMAGES, _IMAGES + 1):
        image_distance = image * width
        probability += np.exp(-2.0 * image_distance * (image_distance + y - x) / variance)
        probability -= np.exp(-2.0 * (image_distance + x) * (image_distance + y) / variance)
    step_probability = np.ones_like(start)
    # Due to rounding and neglected images, the sum may be slightly outside [0, 1].
    step_probability[rows, steps] = np.clip(probability, 0.0, 1.0)
    within[:, 1:] *= np.cumprod(step_probability, axis=1)
    return within


_SMOOTHER_STATE = 0x01
"""Option of statsmodels' Kalman smoother to skip all covariances."""


class DriveObservations(NamedTuple):
    """Observed yaw error of a drive, with regressors for its constants.

    Attributes
    ----------
    error : numpy.ndarray
        Yaw error minus its known component, shape (n,) [rad]; NaN without an observation.
    own, shared : numpy.ndarray
        Yaw errors for one standard deviation of each random constant, shape (n, p) and (n, q)
        [rad]. The ``own`` constants differ between drives, the ``shared`` constants are the same on
        all drives.
    gain : numpy.ndarray or None
        Factor of the model's last state in the error, shape (n,); by default 1.
    turned : numpy.ndarray or None
        Turn to either side since the previous sample, shape (n,) [rad]; by default none.
    jumped : numpy.ndarray or None
        Variance of the error's jump since the previous sample, shape (n,) [rad^2]; by default none.
    """

    error: np.ndarray
    own: np.ndarray
    shared: np.ndarray
    gain: np.ndarray | None = None
    turned: np.ndarray | None = None
    jumped: np.ndarray | None = None


class FilteredDrives(NamedTuple):
    """Result of the Kalman filter over observed drives.

    Attributes
    ----------
    log_likelihood : float
        Natural logarithm of the joint density.
    innovations, innovation_std : list of numpy.ndarray
        For each drive, the difference of each observation from its prediction by earlier
        observations, and the standard deviation of this difference, shape (n,) each [rad]; NaN
        without an observation.
    shared_mean, shared_covariance : numpy.ndarray
        Shared constants after all observations, in units of their standard deviations, shape (q,)
        and (q, q).
    """

    log_likelihood: float
    innovations: list[np.ndarray]
    innovation_std: list[np.ndarray]
    shared_mean: np.ndarray
    shared_covariance: np.ndarray


class DriveFilter:
    """Kalman filter for the same drives and many models with the same number of states.

    Unchanged parts are set up once, since this takes longer than filtering.

    Parameters
    ----------
    drives : sequence of DriveObservations
        Drives with the same numbers of constants.
    states : int
        Number of states of the models.

    Raises
    ------
    ConfigurationError
        If statsmodels is not installed.
    """

    def __init__(self, drives: Sequence[DriveObservations], states: int):
        try:
            # Imported here, since the import takes a second and only identification needs it.
            from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother
        except ImportError as error:
            raise ConfigurationError(
                "the likelihood of a yaw error requires the Python package statsmodels; install "
                "it with pip install statsmodels"
            ) from error
        lengths = [len(drive.error) for drive in drives]
        self._own, self._shared = drives[0].own.shape[1], drives[0].shared.shape[1]
        self._states, self._count = states, sum(lengths)
        self._ends = np.cumsum(lengths)[:-1]
        self._design = np.empty((1, states + self._own + self._shared, self._count))
        self._design[0, states : states + self._own] = np.concatenate([d.own for d in drives]).T
        self._design[0, states + self._own :] = np.concatenate([d.shared for d in drives]).T
        self._gain = _concatenate_or_default([drive.gain for drive in drives], lengths, 1.0)
        # statsmodels indexes the change between two samples by the first one.
        self._turned, self._jumped = (
            np.append(_concatenate_or_default(values, lengths, 0.0)[1:], 0.0)
            for values in zip(*((drive.turned, drive.jumped) for drive in drives))
        )
        self._kalman = KalmanSmoother(1, self._design.shape[1], loglikelihood_burn=0)
        self._kalman.bind(np.concatenate([drive.error for drive in drives])[:, np.newaxis])
        self._kalman["selection"] = np.eye(self._design.shape[1])

    def log_likelihood(
        self, space: StateSpace, own_std: Sequence[float] | None = None, slip: float = 0.0
    ) -> float:
        """Compute the joint log-likelihood of all drives, faster than :meth:`filtered`.

        Parameters
        ----------
        space : StateSpace
            Model.
        own_std : sequence of float, optional
            Standard deviations of the constants that differ between drives; by default 1.
        slip : float, optional
            Strength of a random walk of the error over the turn [rad/sqrt(rad)].

        Returns
        -------
        float
            Log-likelihood.
        """
        return float(self._set(space, own_std, slip).loglike())

    def filtered(
        self, space: StateSpace, own_std: Sequence[float] | None = None, slip: float = 0.0
    ) -> FilteredDrives:
        """Filter the observations of all drives with the Kalman filter.

        Parameters
        ----------
        space : StateSpace
            Model.
        own_std : sequence of float, optional
            Standard deviations of the constants that differ between drives; by default 1.
        slip : float, optional
            Strength of a random walk of the error over the turn [rad/sqrt(rad)].

        Returns
        -------
        FilteredDrives
        """
        results = self._set(space, own_std, slip).filter()
        shared = slice(self._states + self._own, None)
        return FilteredDrives(
            float(results.llf),
            np.split(results.forecasts_error[0], self._ends),
            np.split(np.sqrt(results.forecasts_error_cov[0, 0]), self._ends),
            results.filtered_state[shared, -1],
            results.filtered_state_cov[shared, shared, -1],
        )

    def smoothed(
        self, space: StateSpace, own_std: Sequence[float] | None = None, slip: float = 0.0
    ) -> list[np.ndarray]:
        """Estimate the states of all drives by Kalman smoothing.

        Parameters
        ----------
        space : StateSpace
            Model.
        own_std : sequence of float, optional
            Standard deviations of the constants that differ between drives; by default 1.
        slip : float, optional
            Strength of a random walk of the error over the turn [rad/sqrt(rad)].

        Returns
        -------
        list of numpy.ndarray
            For each drive, the means of the model's states, followed by the ``own`` and the
            ``shared`` constants in units of standard deviations, shape (states, n).
        """
        results = self._set(space, own_std, slip).smooth(smoother_output=_SMOOTHER_STATE)
        return np.split(results.smoothed_state, self._ends, axis=1)

    def own_constants(
        self, space: StateSpace, own_std: Sequence[float] | None = None, slip: float = 0.0
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Estimate the constants that differ between drives by Kalman smoothing.

        Parameters
        ----------
        space : StateSpace
            Model.
        own_std : sequence of float, optional
            Standard deviations of the constants that differ between drives; by default 1.
        slip : float, optional
            Strength of a random walk of the error over the turn [rad/sqrt(rad)].

        Returns
        -------
        list of tuple
            For each drive, estimates (p,) and their covariance (p, p), in units of standard
            deviations.
        """
        results = self._set(space, own_std, slip).smooth()
        own_states, last_steps = (
            slice(self._states, self._states + self._own),
            [*self._ends - 1, -1],
        )
        means, covariances = results.smoothed_state, results.smoothed_state_cov
        return [
            (means[own_states, last], covariances[own_states, own_states, last])
            for last in last_steps
        ]

    def _set(self, space, own_std, slip):
        kalman, size, states = self._kalman, self._design.shape[1], self._states
        each = states + self._own
        transition, noise, initial = np.eye(size), np.zeros((size, size)), np.eye(size)
        transition[:states, :states] = space.transition
        noise[:states, :states] = np.sum(space.noise, axis=0)
        initial[:states, :states] = np.sum(space.initial, axis=0)
        if own_std is not None:
            initial[range(states, each), range(states, each)] = np.square(own_std)
        wander = slip**2 * self._turned + self._jumped
        if len(self._ends) or wander.any():
            noise = np.repeat(noise[:, :, np.newaxis], self._count, axis=2)
            noise[0, 0] += wander
        if len(self._ends):
            # The transition after a drive's last sample resets the states for the next drive.
            lasts = self._ends - 1
            transition = np.repeat(transition[:, :, np.newaxis], self._count, axis=2)
            transition[:each, :, lasts] = 0.0
            noise[:each, :each, lasts] = initial[:each, :each, np.newaxis]
        self._design[0, :states] = space.design[:, np.newaxis]
        self._design[0, states - 1] *= self._gain
        kalman["design"] = self._design
        kalman["transition"] = transition
        kalman["state_cov"] = noise
        kalman["obs_cov"] = np.array([[np.sum(space.yaw_noise)]])
        kalman.initialize_known(np.zeros(size), initial)
        return kalman


def _concatenate_or_default(parts, lengths, default):
    """Concatenate the values of all drives, with a default for drives without values."""
    return np.concatenate(
        [np.full(n, default) if part is None else part for part, n in zip(parts, lengths)]
    )
