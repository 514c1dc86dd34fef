"""From the axes and processes of a specification to the fewer ones that simulators have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.imu_formats.base import shown
from imu_simulation_framework.noise.densities import (
    density_of_samples,
    driven_std,
    random_walk_of_minimum,
    sampled_std,
)
from imu_simulation_framework.noise.flicker import FLICKER_PLATEAU
from imu_simulation_framework.sensors.imu_specification import IMU_TRIADS, ImuSpecification


class SlowBias(NamedTuple):
    """The Gauss-Markov bias to write for a triad.

    ``sigma`` (3,) its standard deviation, ``time`` (3,) its correlation time [s], ``said`` the
    names of the parameters that it says, ``remarks`` sentences on what it says otherwise.
    """

    sigma: np.ndarray
    time: np.ndarray
    said: tuple[str, ...]
    remarks: list[str]


def slow_bias(triad, name: str, random_walk_time: float | None = None) -> SlowBias:
    """Return what a format with one Gauss-Markov process per axis says of a triad's slow errors.

    That is the triad's Gauss-Markov process. If it has none, but a random walk, and a correlation
    time is given, it is the process with that time and the random walk's driving density, which
    is the random walk for times well below the correlation time.

    Parameters
    ----------
    triad : TriadSpecification
    name : str
        ``gyroscope`` or ``accelerometer``.
    random_walk_time : float, optional
        [s]
    """
    if any(triad.gauss_markov_sigma):
        return SlowBias(
            np.array(triad.gauss_markov_sigma),
            np.array(triad.gauss_markov_time),
            ("gauss_markov_sigma", "gauss_markov_time"),
            [],
        )
    time = np.full(3, 1000.0 if random_walk_time is None else random_walk_time)
    if not any(triad.random_walk):
        return SlowBias(np.zeros(3), time, ("gauss_markov_sigma", "gauss_markov_time"), [])
    if random_walk_time is None:
        remark = (
            f"{name}.random_walk = {shown(triad.random_walk)} cannot be said in this format; with "
            "a correlation time it is said as a bias that begins like it."
        )
        return SlowBias(np.zeros(3), time, ("random_walk",), [remark])
    remark = (
        f"{name}.random_walk = {shown(triad.random_walk)} is said as a bias with a correlation "
        f"time of {random_walk_time:g} s, which is the same for times well below that only."
    )
    sigma = driven_std(triad.random_walk, time)
    return SlowBias(sigma, time, ("random_walk",), [remark])


def one_value(values, name: str, remarks: list[str]) -> float:
    """Return one value for three axes, with a remark where they differ.

    That is their root mean square, which keeps the power of all three together.

    Parameters
    ----------
    values : 3 float
    name : str
        The parameter's.
    remarks : list of str
        Is added to.
    """
    values = tuple(float(value) for value in values)
    if len(set(values)) == 1:
        return values[0]
    mean = float(np.sqrt(np.mean(np.square(values))))
    remarks.append(
        f"{name} = {shown(values)} differs between the axes, for which this format has one "
        f"number: their root mean square {mean:.6g} is written."
    )
    return mean


def one_slow_bias(bias: SlowBias, name: str, remarks: list[str]) -> tuple[float, float]:
    """Return one standard deviation and one correlation time [s] for three axes.

    Where the axes differ the first is the root mean square, the second the mean over the axes
    that have a bias, with a remark.
    """
    remarks.extend(bias.remarks)
    times = {float(time) for time, sigma in zip(bias.time, bias.sigma) if sigma > 0.0}
    if not times:
        return 0.0, float(bias.time[0])
    sigma = one_value(bias.sigma, f"{name}.gauss_markov_sigma", remarks)
    if len(times) == 1:
        return sigma, times.pop()
    mean = float(np.mean([time for time, std in zip(bias.time, bias.sigma) if std > 0.0]))
    remarks.append(
        f"{name}.gauss_markov_time = {shown(tuple(map(float, bias.time)))} differs between the "
        f"axes, for which this format has one number: their mean {mean:.6g} is written."
    )
    return sigma, mean


def with_noise_of_picked_samples(specification: ImuSpecification, rate: float) -> ImuSpecification:
    """Return a specification whose samples at a slower rate are as noisy as its own are.

    Of a sensor that filters before it decimates, a sample at the slower rate has less white noise:
    ``N * sqrt(rate)``. Where samples are merely left out, each keeps its standard deviation, and so
    the density is larger by the root of how many there were for each (Kalibr's wiki, IMU Noise
    Model).

    Parameters
    ----------
    specification : ImuSpecification
    rate : float
        Of the samples that are kept [Hz].

    Raises
    ------
    ConfigurationError
        The rate is above the sensor's own, or the same.
    """
    own = specification.output.rate
    if not rate < own:
        raise ConfigurationError(
            f"samples at {rate:g} Hz cannot be picked from those of a sensor that has {own:g} Hz; "
            "expected a rate below that."
        )
    triads: dict[str, Any] = {}
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        white = density_of_samples(sampled_std(triad.white_noise, own), rate)
        triads[name] = replace(triad, white_noise=tuple(map(float, white)))
    return replace(specification, **triads)


def with_walk_of_instability(
    specification: ImuSpecification,
) -> tuple[ImuSpecification, list[str]]:
    """Return a specification with random walks in place of its bias instabilities, and remarks.

    The walk is that of :func:`.random_walk_of_minimum` for the plateau 0.664 B. A triad that has a
    random walk already, or an axis of a bias instability without white noise, stays what it is.

    Parameters
    ----------
    specification : ImuSpecification
    """
    triads: dict[str, Any] = {}
    remarks = []
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        if not any(triad.bias_instability) or any(triad.random_walk):
            continue
        if min(triad.white_noise) == 0.0:
            continue
        minimum = FLICKER_PLATEAU * np.array(triad.bias_instability)
        walk = tuple(map(float, random_walk_of_minimum(minimum, triad.white_noise)))
        triads[name] = replace(triad, random_walk=walk, bias_instability=0.0)
        remarks.append(
            f"{name}.bias_instability = {shown(triad.bias_instability)} is said as a random walk "
            f"of {shown(walk)}, whose Allan deviation with the white noise has the same lowest "
            "point; beyond it the sensor drifts less than that."
        )
    return replace(specification, **triads), remarks
