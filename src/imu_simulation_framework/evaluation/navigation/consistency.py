r"""Whether a filter's errors are as large as it says: NEES and NIS, with bounds.

With the errors e of n states and their covariance P, as the filter says it, the normalised
squared error :math:`e^T P^{-1} e` (NEES) of a consistent filter has a :math:`\chi^2` distribution
of n degrees of freedom, and so has the squared innovation in units of its own covariance (NIS) of
the number of measurements. The mean over r independent runs, times r, has one of r n (Bar-Shalom,
Li and Kirubarajan: Estimation with Applications to Tracking and Navigation, section 5.4.2).
Innovations of different times are independent, too, so NIS may be averaged over all; errors are
not, so NEES has bounds at each time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from imu_simulation_framework.errors import EnsembleError
from imu_simulation_framework.evaluation.navigation.aiding import MEASUREMENTS
from imu_simulation_framework.evaluation.navigation.errors_of_runs import NavigationErrors
from imu_simulation_framework.evaluation.navigation.ins_gnss_filter import Navigation

PROBABILITY = 0.95


def mean_bounds(degrees: int, count: int, probability: float = PROBABILITY) -> tuple[float, float]:
    """Return between which values the mean of chi-square numbers is.

    Parameters
    ----------
    degrees : int
        Degrees of freedom of each.
    count : int
        How many independent ones there are.
    probability : float
        Two-sided.
    """
    from scipy.stats import chi2

    tail = 0.5 * (1.0 - probability)
    low, high = chi2.ppf([tail, 1.0 - tail], degrees * count) / count
    return float(low), float(high)


class Consistency(NamedTuple):
    """How a filter's errors compare with what it says of them.

    ``time`` (k,) [s]; ``nees`` (k,), mean over the runs of the normalised squared error, and
    ``nis`` (k,) of the innovation, not a number where no run has a fix; ``degrees`` of NEES;
    ``nees_bounds``, ``nis_bounds``: of such a mean, two-sided; ``nees_within``, ``nis_within``:
    shares of the times that are within; ``mean_nees``; ``mean_nis``, over runs and times, and
    ``mean_nis_bounds``.
    """

    time: np.ndarray
    nees: np.ndarray
    nis: np.ndarray
    degrees: int
    nees_bounds: tuple[float, float]
    nis_bounds: tuple[float, float]
    nees_within: float
    nis_within: float
    mean_nees: float
    mean_nis: float
    mean_nis_bounds: tuple[float, float]

    @property
    def innovations_consistent(self) -> bool:
        """Whether the mean of NIS is within its bounds."""
        low, high = self.mean_nis_bounds
        return low <= self.mean_nis <= high


def normalised_squared_errors(errors: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return e^T P^-1 e of errors (..., n) and covariances (..., n, n), (...)."""
    solved = np.linalg.solve(covariance, errors[..., np.newaxis])[..., 0]
    return np.sum(errors * solved, axis=-1)


def consistency(
    navigation: Navigation,
    errors: NavigationErrors,
    begin: float = 0.0,
    probability: float = PROBABILITY,
) -> Consistency:
    """Return how the errors of many runs compare with what the filter says of them.

    Parameters
    ----------
    navigation : Navigation
    errors : NavigationErrors
        Of the same runs and times, with the biases' errors or without.
    begin : float
        Fixes before that time after the first one are left out [s].
    probability : float
        Of the bounds.

    Raises
    ------
    EnsembleError
        There is no fix after the beginning.
    """
    used = navigation.time >= navigation.time[0] + begin
    states = errors.states[:, used]
    degrees = states.shape[-1]
    nis = navigation.squared_innovation[:, used]
    if not np.any(np.isfinite(nis)):
        raise EnsembleError(f"there is no fix after {begin:g} s by which a filter could be judged")
    covariance = navigation.covariance[:, used, :degrees, :degrees]
    nees = np.mean(normalised_squared_errors(states, covariance), axis=0)
    known = np.isfinite(nis)
    count = np.sum(known, axis=0)
    sums = np.sum(np.where(known, nis, 0.0), axis=0)
    with np.errstate(invalid="ignore"):
        nis_over_runs = sums / count
    runs = len(nis)
    nees_bounds = mean_bounds(degrees, runs, probability)
    nis_bounds = mean_bounds(MEASUREMENTS, runs, probability)
    return Consistency(
        time=navigation.time[used],
        nees=nees,
        nis=nis_over_runs,
        degrees=degrees,
        nees_bounds=nees_bounds,
        nis_bounds=nis_bounds,
        nees_within=_share(nees, nees_bounds),
        nis_within=_share(nis_over_runs[count == runs], nis_bounds),
        mean_nees=float(np.mean(nees)),
        mean_nis=float(np.sum(sums) / np.sum(count)),
        mean_nis_bounds=mean_bounds(MEASUREMENTS, int(np.sum(count)), probability),
    )


def _share(values, bounds):
    if len(values) == 0:
        return float("nan")
    return float(np.mean((values >= bounds[0]) & (values <= bounds[1])))
