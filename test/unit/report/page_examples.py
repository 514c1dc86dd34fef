"""Synthetic drives and ensembles for the pages of identifications and ensembles."""

import numpy as np
import pandas as pd

from imu_simulation_framework.heading.figures.ensemble import ShownEnsemble
from imu_simulation_framework.heading.identification.report import FittedDrive
from imu_simulation_framework.heading.judgement.curve_statistics import curve_statistics

PROBABILITIES = (0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995)


def fitted_drive(name, count=400, seed=1, known=None):
    """Return a fitted rate bias and random walk, without observations from sample ``known`` on."""
    generator = np.random.default_rng(seed)
    time = pd.Index(np.arange(float(count)), name="time")
    bias, walk = 1e-4 * time.to_numpy(), np.cumsum(generator.normal(size=count)) * 1e-3
    parts = pd.DataFrame(
        {"error": bias + walk, "rate bias": bias, "angle random walk": walk}, index=time
    )
    normalised = generator.normal(size=count)
    if known is not None:
        normalised[known:] = np.nan
        parts.loc[known:, "error"] = np.nan
    return FittedDrive(name, parts, normalised)


def random_walk_errors(runs=800):
    """Return times (300,) [s] and random walks (runs, 300) [rad]."""
    generator = np.random.default_rng(1)
    return np.arange(0.0, 300.0), np.cumsum(generator.normal(size=(runs, 300)), axis=1) * 1e-3


def shown_ensemble(time, errors):
    """Return the statistics of an ensemble for its page."""
    quantiles = dict(zip(PROBABILITIES, np.quantile(errors, PROBABILITIES, axis=0)))
    return ShownEnsemble(
        len(errors), time, quantiles, curve_statistics(time, errors), np.array([0.01, 0.1]),
        np.array([1.0, 0.1]), time, errors[:5],
    )  # fmt: skip
