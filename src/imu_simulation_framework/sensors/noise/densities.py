r"""Relations between the ways in which simulators and datasheets state the same noise.

White noise is stated here by N, the square root of its *two-sided* power spectral density, which
is also the angle or velocity random walk of IEEE Std 952 and Kalibr's noise density:

- sampled with period dt by an averaging sensor its standard deviation is ``N / sqrt(dt)``;
- a *one-sided* density, as most datasheets state it, is ``sqrt(2) N``, and the root mean square
  within a bandwidth is the one-sided density times ``sqrt(bandwidth)``.

``N / sqrt(dt)`` takes for granted that what lies above half the rate was filtered out before the
samples were taken, or averaged. Where each tenth of a fast sensor's samples is kept and the others
are merely left out, a sample has the standard deviation that it had: the density is that of the
slower rate, ``density_of_samples(std, rate)``, sqrt(10) times the sensor's (Kalibr's wiki, IMU
Noise Model).

A first-order Gauss-Markov process of standard deviation sigma and correlation time tau is

.. math:: \dot b = -b / \tau + q \, w, \qquad q = \sigma \sqrt{2 / \tau},

with white noise w of unit (two-sided) density. Gazebo and RotorS state its driving density q: a
random walk of strength q for times well below tau (P. S. Maybeck, Stochastic Models, Estimation,
and Control, volume 1, 1979, section 4.11).
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU


def sampled_std(density, rate: float):
    """Return the standard deviation [unit] of white noise in a sample, ``N * sqrt(rate)``."""
    return np.asarray(density, dtype=float) * np.sqrt(rate)


def density_of_samples(std, rate: float):
    """Return N [unit/sqrt(Hz)] from white noise's deviation in a sample, ``std / sqrt(rate)``."""
    return np.asarray(std, dtype=float) / np.sqrt(rate)


def density_of_one_sided(one_sided):
    """Return N from a one-sided density, ``one_sided / sqrt(2)`` [unit/sqrt(Hz)]."""
    return np.asarray(one_sided, dtype=float) / np.sqrt(2.0)


def one_sided_density(density):
    """Return the one-sided density of white noise, ``sqrt(2) * N`` [unit/sqrt(Hz)]."""
    return np.asarray(density, dtype=float) * np.sqrt(2.0)


def density_of_rms(rms, bandwidth: float):
    """Return N from the root mean square within a bandwidth, ``rms / sqrt(2 * bandwidth)``.

    The bandwidth is the noise-equivalent one, from zero up [Hz].
    """
    return np.asarray(rms, dtype=float) / np.sqrt(2.0 * bandwidth)


def random_walk_of_minimum(minimum, white_noise):
    r"""Return the random walk K that lifts the Allan deviation of white noise off its minimum.

    With nothing but white noise N and a random walk K the Allan variance is
    :math:`N^2 / \tau + K^2 \tau / 3`, whose lowest value, at :math:`\tau = \sqrt 3 N / K`, is
    :math:`2 N K / \sqrt 3`; so

    .. math:: K = \frac{\sqrt 3}{2} \frac{\sigma_{min}^2}{N}.

    That is the assumption under which Kalibr's wiki (P. Geneva and others, IMU Noise Model, "From
    the Datasheet of the IMU") lets the in-run bias stability stand for a random walk. A sensor
    whose minimum is a plateau of flicker noise drifts less than this says beyond the minimum.

    ``minimum`` (float or array_like): the lowest Allan deviation, in-run bias stability [unit].
    ``white_noise`` (float or array_like): N, two-sided, positive [unit/sqrt(Hz)].

    Returns (ndarray): K [unit/s/sqrt(Hz)].
    """
    return (
        0.5
        * np.sqrt(3.0)
        * np.square(np.asarray(minimum, dtype=float))
        / np.asarray(white_noise, dtype=float)
    )


def flicker_and_walk_of_minimum(minimum, averaging_time: float, white_noise, random_walk=None):
    r"""Return B and K of an Allan deviation whose lowest value and its averaging time are known.

    Of white noise N, flicker noise B and a random walk K the Allan variance is
    :math:`N^2 / \tau + (2 \ln 2 / \pi) B^2 + K^2 \tau / 3` (IEEE Std 952-1997, annex C), which is
    lowest where :math:`K = \sqrt 3 N / \tau`; what is left of it there is the flicker's.

    ``minimum`` (float or array_like): the lowest Allan deviation, in-run bias stability [unit].
    ``averaging_time``: at which it is the lowest [s]. ``white_noise`` (float or array_like): N,
    two-sided [unit/sqrt(Hz)]. ``random_walk`` (float or array_like): K, where it is known
    [unit/s/sqrt(Hz)].

    Returns ``flicker``: B; nan where white noise and random walk exceed the minimum
    [unit]; ``random_walk``: K [unit/s/sqrt(Hz)].
    """
    noise = np.asarray(white_noise, dtype=float)
    walk = np.sqrt(3.0) * noise / averaging_time if random_walk is None else np.array(random_walk)
    left = np.square(minimum) - noise**2 / averaging_time - walk**2 * averaging_time / 3.0
    with np.errstate(invalid="ignore"):
        return np.sqrt(left) / FLICKER_PLATEAU, walk


def driving_density(stationary_std, correlation_time):
    """Return the driving density q of a Gauss-Markov process, ``sigma * sqrt(2 / tau)``.

    Of sigma [unit] and tau, positive [s]; q is in unit/s/sqrt(Hz).
    """
    return np.asarray(stationary_std, dtype=float) * np.sqrt(
        2.0 / np.asarray(correlation_time, dtype=float)
    )


def driven_std(density, correlation_time):
    """Return the stationary standard deviation of a driven process, ``q * sqrt(tau / 2)``."""
    return np.asarray(density, dtype=float) * np.sqrt(
        0.5 * np.asarray(correlation_time, dtype=float)
    )
