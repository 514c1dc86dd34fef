"""Which coefficients go into the specification of the identified sensor.

Those that are identified, as a rule. But where two slow terms can stand for each other neither is
identified, and without both the sensor would have no slow drift at all: then the terms of the fit
go in as they are, and if even these are far from the curve, those closest to it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from imu_simulation_framework.identification.allan.model import TERMS

IDENTIFIED, FITTED, CLOSEST = "identified", "fitted", "closest to the curve"


def chosen_coefficients(fit, bands, shapes_at):
    """Return squared coefficients of a sensor whose curve lies inside the measured bands.

    Parameters
    ----------
    fit : AllanFit
    bands : sequence of AllanBand
        Of each recording, not widened by an error of the model.
    shapes_at : callable
        From averaging times [s] to the Allan variances of the terms, shape (n, terms).

    Returns
    -------
    squares : ndarray, shape (terms,)
        Of the first choice that lies inside, or else is the least outside.
    choice : str
        ``IDENTIFIED``, ``FITTED`` or ``CLOSEST``.
    """
    names = list(fit.terms)
    identified = np.array([fit.terms[name].identified for name in names])
    fitted = np.maximum(fit.squares, 0.0)
    if not fit.terms[TERMS[0]].identified:
        # Next to a filter the data may show any quantisation.
        fitted[0] = 0.0
    # A ramp is the same in every run of the simulated sensor: not without need.
    steady = np.where(identified | (np.array(names) != TERMS[4]), fitted, 0.0)
    choices = [
        (np.where(identified, fitted, 0.0), IDENTIFIED),
        (steady, FITTED),
        (fitted, FITTED),
    ]
    shapes = [shapes_at(band.tau) for band in bands]
    outside = []
    for squares, choice in choices:
        outside.append(_outside(squares, bands, shapes))
        if outside[-1] <= 0.0:
            return squares, choice
    closest = _closest(bands, shapes)
    choices.append((closest, CLOSEST))
    outside.append(_outside(closest, bands, shapes))
    return choices[int(np.argmin(outside))]


def _outside(squares, bands, shapes):
    excess = [0.0]
    for band, columns in zip(bands, shapes):
        with np.errstate(divide="ignore"):
            excess.append(band.excess(np.sqrt(columns @ squares)).max(initial=0.0))
    return max(excess)


def _closest(bands, shapes):
    """Non-negative coefficients with the least square of errors relative to the bands' widths."""
    rows, targets = [], []
    for band, columns in zip(bands, shapes):
        width = np.log(band.high / band.low)
        rows.append(columns[:, 1:] / (band.deviation**2 * width)[:, None])
        targets.append(1.0 / width)
    matrix = np.concatenate(rows)
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0.0] = 1.0
    return np.append(0.0, nnls(matrix / scale, np.concatenate(targets))[0] / scale)
