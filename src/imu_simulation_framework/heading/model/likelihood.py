"""The likelihood of observed yaw errors, by the Kalman filter of statsmodels.

Several drives are one series: between two of them what belongs to a drive starts anew, and what
belongs to the sensor stays.
"""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.model.sources import StateSpace

_SMOOTHED_STATE = 0x01
"""What statsmodels' smoother shall compute: no covariances."""


class ObservedDrive(NamedTuple):
    """What was observed on a drive, and the constants that may be in it.

    ``error`` (n,): yaw error less what is known of it, NaN where nothing was observed [rad].
    ``own`` (n, p) and ``shared`` (n, q): what one standard deviation of each random constant adds
    to it [rad]; the own ones are drawn for this drive, the shared ones once for all drives.
    ``gain`` (n,): what the model's last state is multiplied by before it adds to the error, by
    default 1. ``turned`` (n,): by how much the robot has turned to either side since the sample
    before [rad]; ``jumped`` (n,): variance of what the error has jumped by since then [rad^2]; by
    default none.
    """

    error: np.ndarray
    own: np.ndarray
    shared: np.ndarray
    gain: np.ndarray | None = None
    turned: np.ndarray | None = None
    jumped: np.ndarray | None = None


class FilteredDrives(NamedTuple):
    """What the Kalman filter says of observed drives.

    ``log_likelihood``: natural logarithm of their joint density. ``innovations``,
    ``innovation_std``: for each drive (n,), each observation less what those before it predict,
    and what that should be [rad]; NaN where nothing was observed. ``shared_mean`` (q,),
    ``shared_covariance`` (q, q): of the shared constants, in their standard deviations, after all
    observations.
    """

    log_likelihood: float
    innovations: list[np.ndarray]
    innovation_std: list[np.ndarray]
    shared_mean: np.ndarray
    shared_covariance: np.ndarray


class DriveFilter:
    """Filter of the same drives by many models with as many states.

    What does not change is set up once, which takes longer than filtering does.

    ``drives``: with the same numbers of constants. ``states``: of the models. Raises
    ConfigurationError if statsmodels is not installed.
    """

    def __init__(self, drives: Sequence[ObservedDrive], states: int):
        try:
            # Imported here, as it takes a second and only those who identify need it.
            from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother
        except ImportError as error:
            raise ConfigurationError(
                "the likelihood of a yaw error needs the Python library statsmodels, which is not "
                "installed"
            ) from error
        lengths = [len(drive.error) for drive in drives]
        self._own, self._shared = drives[0].own.shape[1], drives[0].shared.shape[1]
        self._states, self._count = states, sum(lengths)
        self._ends = np.cumsum(lengths)[:-1]
        self._design = np.empty((1, states + self._own + self._shared, self._count))
        self._design[0, states : states + self._own] = np.concatenate([d.own for d in drives]).T
        self._design[0, states + self._own :] = np.concatenate([d.shared for d in drives]).T
        self._gain = _joined([drive.gain for drive in drives], lengths, 1.0)
        # What lies between two samples belongs to the first one's step.
        self._turned, self._jumped = (
            np.append(_joined(values, lengths, 0.0)[1:], 0.0)
            for values in zip(*((drive.turned, drive.jumped) for drive in drives))
        )
        self._kalman = KalmanSmoother(1, self._design.shape[1], loglikelihood_burn=0)
        self._kalman.bind(np.concatenate([drive.error for drive in drives])[:, np.newaxis])
        self._kalman["selection"] = np.eye(self._design.shape[1])

    def log_likelihood(
        self, space: StateSpace, own_std: Sequence[float] | None = None, slip: float = 0.0
    ) -> float:
        """Return the natural logarithm of the drives' joint density; faster than filtering.

        ``own_std``: standard deviations of each drive's own constants; by default 1. ``slip``: of a
        random walk of the error that grows with the turn [rad/sqrt(rad)].
        """
        return float(self._set(space, own_std, slip).loglike())

    def filtered(
        self, space: StateSpace, own_std: Sequence[float] | None = None, slip: float = 0.0
    ) -> FilteredDrives:
        """Return what the Kalman filter says; parameters as of :meth:`log_likelihood`."""
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
        """Return the states' means by all observations, for each drive (states, n).

        The model's states first, then the own constants and the shared ones, in standard
        deviations; parameters as of :meth:`log_likelihood`.
        """
        results = self._set(space, own_std, slip).smooth(smoother_output=_SMOOTHED_STATE)
        return np.split(results.smoothed_state, self._ends, axis=1)

    def own_constants(
        self, space: StateSpace, own_std: Sequence[float] | None = None, slip: float = 0.0
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return each drive's own constants (p,) and their covariance (p, p), by all observations.

        In standard deviations; parameters as of :meth:`log_likelihood`.
        """
        results = self._set(space, own_std, slip).smooth()
        own, lasts = slice(self._states, self._states + self._own), [*self._ends - 1, -1]
        means, covariances = results.smoothed_state, results.smoothed_state_cov
        return [(means[own, last], covariances[own, own, last]) for last in lasts]

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
            # A drive's last step leads to the first sample of the next one.
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


def _joined(parts, lengths, default):
    """Return values of all drives, one after another; those that are not given are the default."""
    return np.concatenate(
        [np.full(n, default) if part is None else part for part, n in zip(parts, lengths)]
    )
