r"""The drift of Hector's IMU plug-in, as it really behaves.

In each step of length dt the plug-in computes (hector_gazebo_plugins, sensor_model.h)

.. math:: d_k = e^{-f dt} d_{k-1} + dt \, \sqrt{2 f} \, \sigma \, w_k, \qquad w_k \sim N(0, 1).

A first-order Gauss-Markov process with standard deviation sigma would have the innovation
``sqrt(1 - exp(-2 f dt)) sigma``, about ``sqrt(2 f dt) sigma``: the plug-in multiplies by dt where
it should by sqrt(dt). Its parameter ``drift`` is therefore not the drift's standard deviation,
and what that is depends on the sample rate; the functions here tell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from imu_simulation_framework.errors import ConfigurationError


class DriftParameters(NamedTuple):
    """The plug-in's ``drift`` [the signal's unit] and ``drift_frequency`` [Hz]."""

    drift: float
    drift_frequency: float


def drift_correlation(drift_frequency, period):
    """Return the correlation of two successive values, ``exp(-f dt)``.

    Parameters
    ----------
    drift_frequency : float or array_like
        f, the inverse of the correlation time [1/s; the plug-in says Hz].
    period : float
        dt [s].
    """
    return np.exp(-np.asarray(drift_frequency, dtype=float) * period)


def drift_innovation_std(drift, drift_frequency, period):
    """Return the standard deviation of what each step adds, ``drift * dt * sqrt(2 f)``.

    Parameters
    ----------
    drift : float or array_like
        The plug-in's parameter [the signal's unit].
    drift_frequency : float or array_like
        f [1/s].
    period : float
        dt [s].
    """
    frequency = np.asarray(drift_frequency, dtype=float)
    return np.asarray(drift, dtype=float) * period * np.sqrt(2.0 * frequency)


def drift_stationary_std(drift, drift_frequency, period):
    """Return the standard deviation that the drift approaches after several correlation times.

    ``drift * dt * sqrt(2 f / (1 - exp(-2 f dt)))``, about ``drift * sqrt(dt)``: the innovation's
    over ``sqrt(1 - phi^2)``, as for any first-order autoregressive process.

    Parameters
    ----------
    drift : float or array_like
        The plug-in's parameter [the signal's unit].
    drift_frequency : float or array_like
        f, positive [1/s].
    period : float
        dt [s].
    """
    frequency = np.asarray(drift_frequency, dtype=float)
    forgotten = -np.expm1(-2.0 * frequency * period)
    return drift_innovation_std(drift, frequency, period) / np.sqrt(forgotten)


def drift_parameters(stationary_std: float, correlation_time: float, period: float):
    """Return what the plug-in must be told for a wanted drift.

    Parameters
    ----------
    stationary_std : float
        Wanted standard deviation [the signal's unit].
    correlation_time : float
        Wanted correlation time [s].
    period : float
        Sample period at which the plug-in will run [s].

    Returns
    -------
    DriftParameters

    Raises
    ------
    ConfigurationError
        A value is not positive.
    """
    for name, value in (
        ("standard deviation", stationary_std),
        ("correlation time", correlation_time),
        ("sample period", period),
    ):
        if not (np.isfinite(value) and value > 0.0):
            raise ConfigurationError(f"The drift's {name} is {value}, but it must be positive.")
    frequency = 1.0 / correlation_time
    drift = stationary_std / float(drift_stationary_std(1.0, frequency, period))
    return DriftParameters(drift, frequency)
