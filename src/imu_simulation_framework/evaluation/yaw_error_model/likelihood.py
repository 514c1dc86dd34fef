"""The likelihood of observed yaw errors, by the Kalman filter of statsmodels.

Several drives are one series: between two of them what belongs to a drive starts anew, and what
belongs to the sensor stays.
"""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.evaluation.yaw_error_model.state_space import StateSpace


class ObservedDrive(NamedTuple):
    """What was observed on a drive, and the constants that may be in it.

    ``error`` (n,): yaw error less what is known of it, NaN where nothing was observed [rad].
    ``own`` (n, p) and ``shared`` (n, q): what one standard deviation of each random constant adds
    to it [rad]; the own ones are drawn for this drive, the shared ones once for all drives.
    """

    error: np.ndarray
    own: np.ndarray
    shared: np.ndarray


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


def filter_drives(space: StateSpace, drives: Sequence[ObservedDrive]) -> FilteredDrives:
    """Filter the drives by a state-space model and random constants.

    Parameters
    ----------
    space : StateSpace
        The processes, of all drives.
    drives : sequence of ObservedDrive
        With the same numbers of constants.

    Raises
    ------
    ConfigurationError
        statsmodels is not installed.
    """
    kalman = _kalman_filter(space, drives)
    results = kalman.filter()
    count = drives[0].shared.shape[1]
    shared = slice(results.filtered_state.shape[0] - count, None)
    ends = np.cumsum([len(drive.error) for drive in drives])[:-1]
    return FilteredDrives(
        float(results.llf),
        np.split(results.forecasts_error[0], ends),
        np.split(np.sqrt(results.forecasts_error_cov[0, 0]), ends),
        results.filtered_state[shared, -1],
        results.filtered_state_cov[shared, shared, -1],
    )


def log_likelihood(space: StateSpace, drives: Sequence[ObservedDrive]) -> float:
    """Return the natural logarithm of the drives' joint density; faster than filtering."""
    return float(_kalman_filter(space, drives).loglike())


def _kalman_filter(space, drives):
    try:
        # Imported here, as it takes a second and only those who identify need it.
        from statsmodels.tsa.statespace.kalman_filter import KalmanFilter
    except ImportError as error:
        raise ConfigurationError(
            "the likelihood of a yaw error needs the Python library statsmodels, which is not "
            "installed"
        ) from error
    states = len(space.design)
    own, shared = drives[0].own.shape[1], drives[0].shared.shape[1]
    each = states + own
    size = each + shared
    lengths = [len(drive.error) for drive in drives]
    count = sum(lengths)

    design = np.empty((1, size, count))
    design[0, :states] = space.design[:, np.newaxis]
    design[0, states:each] = np.concatenate([drive.own for drive in drives]).T
    design[0, each:] = np.concatenate([drive.shared for drive in drives]).T
    transition, noise = np.eye(size), np.zeros((size, size))
    transition[:states, :states] = space.transition
    noise[:states, :states] = np.sum(space.noise, axis=0)
    initial = np.eye(size)
    initial[:states, :states] = np.sum(space.initial, axis=0)
    if len(drives) > 1:
        # A drive's last step leads to the first sample of the next one.
        lasts = np.cumsum(lengths)[:-1] - 1
        transition = np.repeat(transition[:, :, np.newaxis], count, axis=2)
        noise = np.repeat(noise[:, :, np.newaxis], count, axis=2)
        transition[:each, :, lasts] = 0.0
        noise[:each, :each, lasts] = initial[:each, :each, np.newaxis]

    kalman = KalmanFilter(1, size, loglikelihood_burn=0)
    kalman.bind(np.concatenate([drive.error for drive in drives])[:, np.newaxis])
    kalman["design"] = design
    kalman["transition"] = transition
    kalman["selection"] = np.eye(size)
    kalman["state_cov"] = noise
    kalman["obs_cov"] = np.array([[np.sum(space.yaw_noise)]])
    kalman.initialize_known(np.zeros(size), initial)
    return kalman
