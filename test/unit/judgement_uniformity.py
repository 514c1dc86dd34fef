"""Many drives and their ensembles: whether the model is right about how much drives differ.

If a model is right, a statistic's place among those that the model gives for the same drive is
anywhere between 0 and 1, as often here as there (probability integral transform). One drive has
one place only; many of them make a histogram, which is flat.

References
----------
A. P. Dawid, Statistical theory: the prequential approach, J. R. Stat. Soc. A 147 (1984) 278-292.
J. Neyman, "Smooth" test for goodness of fit, Skand. Aktuarietidskr. 20 (1937) 149-199.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from imu_simulation_framework.core.errors import EnsembleError

FEWEST_DRIVES = 5
_CERTAIN = 0.05


@dataclass(frozen=True)
class PlacesOfDrives:
    """The places of many drives in their ensembles.

    Attributes
    ----------
    places : ndarray, shape (drives,)
        Between 0 and 1.
    edges, counts : ndarray
        The histogram.
    p_value : float
        That places so far from uniform come from a right model: Neyman's smooth test of order 2.
    location, spread : float
        Its two parts, standard normal under a right model: whether the observed values are larger
        than the model's, and whether they lie at its ends more often than in its middle.
    sentence : str
    """

    places: np.ndarray
    edges: np.ndarray
    counts: np.ndarray
    p_value: float
    location: float
    spread: float
    sentence: str


def place_in_ensemble(observed, simulated, generator) -> float:
    """Return where a value lies among an ensemble's, between 0 and 1.

    Of a right model it is uniform, to the last digit, for any number of runs: a value between two
    simulated ones has a place at random between theirs, and so have equal ones.

    Parameters
    ----------
    observed : float
    simulated : array_like, shape (runs,)
    generator : numpy.random.Generator
    """
    simulated = np.asarray(simulated)
    below, equal = np.sum(simulated < observed), np.sum(simulated == observed)
    return float((below + generator.uniform() * (equal + 1)) / (len(simulated) + 1))


def uniformity(places, bins=10) -> PlacesOfDrives:
    """Test whether the places of many drives in their ensembles are uniform.

    Parameters
    ----------
    places : array_like, shape (drives,)
        Of :func:`place_in_ensemble`, of independent drives.
    bins : int
        Of the histogram; fewer where there are few drives.

    Raises
    ------
    EnsembleError
        There are fewer than five drives, or a place is not between 0 and 1.
    """
    places = np.asarray(places, dtype=float)
    drives = places.size
    if places.ndim != 1 or drives < FEWEST_DRIVES:
        raise EnsembleError(
            f"{drives} drives do not tell whether a model is right about how drives differ, it "
            f"takes at least {FEWEST_DRIVES}"
        )
    if not np.all((places >= 0.0) & (places <= 1.0)):
        raise EnsembleError("a place in an ensemble is not between 0 and 1")
    counts, edges = np.histogram(places, min(bins, max(2, drives // 4)), (0.0, 1.0))
    # Normalised Legendre polynomials on (0, 1).
    centred = 2.0 * places - 1.0
    location = np.sum(np.sqrt(3.0) * centred) / np.sqrt(drives)
    spread = np.sum(np.sqrt(5.0) * 0.5 * (3.0 * centred**2 - 1.0)) / np.sqrt(drives)
    p_value = float(stats.chi2.sf(location**2 + spread**2, 2))
    return PlacesOfDrives(
        places=places,
        edges=edges,
        counts=counts,
        p_value=p_value,
        location=float(location),
        spread=float(spread),
        sentence=_sentence(drives, p_value, location, spread),
    )


def _sentence(drives, p_value, location, spread):
    begin = f"Of {drives} drives (p = {p_value:.2g})"
    if p_value > _CERTAIN:
        return f"{begin} nothing speaks against this model."
    if abs(location) > abs(spread):
        size = "larger" if location > 0.0 else "smaller"
        return f"{begin} the values are {size} than this model's."
    width = "differ more" if spread > 0.0 else "differ less"
    return f"{begin} the values {width} from drive to drive than this model's."
