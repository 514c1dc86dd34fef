"""Gaussian noise of SDF, and from a specification's axes and processes to the fewer of simulators.

The Gaussian noise of one axis as SDF describes it, and as Gazebo and Unity simulate it.

================================= ==================== =========================================
tag                               unit                 ours
================================= ==================== =========================================
``mean``                          rad/s; m/s^2         ``turn_on_bias``
``stddev``                        rad/s; m/s^2         ``white_noise * sqrt(rate)``
``bias_mean``, ``bias_stddev``    rad/s; m/s^2         ``turn_on_bias_sigma``, see below
``dynamic_bias_stddev``           rad/s^2/sqrt(Hz);    driving density
                                  m/s^3/sqrt(Hz)       ``gauss_markov_sigma * sqrt(2 / time)``
``dynamic_bias_correlation_time`` s                    ``gauss_markov_time``
``precision``                     rad/s; m/s^2         ``resolution``
================================= ==================== =========================================

What Gazebo does with them (``GaussianNoiseModel.cc`` in gz-sensors and in classic Gazebo 11)
decides what they mean:

- Each sample gets ``N(mean, stddev)``: the standard deviation is that of a sample, so that the
  density depends on the sensor's ``update_rate``.
- At the start a bias is drawn from ``N(bias_mean, bias_stddev)`` and its sign is reversed with a
  probability of one half. A bias of known sign is therefore ``mean``, and ``bias_mean`` adds to
  the standard deviation of the unknown one: ``sqrt(bias_mean^2 + bias_stddev^2)``.
- ``bias = phi bias + sqrt(-q^2 tau / 2 (exp(-2 dt / tau) - 1)) w`` with ``phi = exp(-dt / tau)``
  from sample to sample, q being ``dynamic_bias_stddev``: its stationary standard deviation is
  ``q sqrt(tau / 2)``. It begins at the bias drawn at the start, which decays with it.
- A precision of 1e-6 or less has no effect. The sample is rounded for the types ``gaussian`` and
  ``gaussian_quantized`` alike; SDF means the second.
- Older releases of classic Gazebo do not know the dynamic bias and leave it out.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.sensors.formats.base import quoted, tag, unknown_tag
from imu_simulation_framework.sensors.formats.xml import Tag
from imu_simulation_framework.sensors.imu_specification import IMU_TRIADS, ImuSpecification
from imu_simulation_framework.sensors.noise.densities import (
    density_of_samples,
    driven_std,
    driving_density,
    random_walk_of_minimum,
    sampled_std,
)
from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU

NOISE_TYPES = ("none", "gaussian", "gaussian_quantized")
_SMALLEST_PRECISION = 1e-6
_TAGS = (
    "mean",
    "stddev",
    "bias_mean",
    "bias_stddev",
    "dynamic_bias_stddev",
    "dynamic_bias_correlation_time",
    "precision",
)


class AxisNoise(NamedTuple):
    """One axis of a triad; the names are those of a specification."""

    white_noise: float = 0.0
    turn_on_bias: float = 0.0
    turn_on_bias_sigma: float = 0.0
    gauss_markov_sigma: float = 0.0
    gauss_markov_time: float = 1000.0
    resolution: float = 0.0


def read_noise(
    noise: Tag,
    rate: float,
    remarks: list[str],
    default_type: str = "none",
    bias_sign_is_drawn: bool = True,
) -> AxisNoise:
    """Read a ``<noise>`` of a sensor of this rate [Hz]; remarks are added to.

    ``default_type``: what a missing ``type`` means. ``bias_sign_is_drawn``: whether the sign of
    ``bias_mean`` is drawn at the start, as Gazebo does; otherwise it is a bias as ``mean`` is.
    """
    kind = noise.attributes.get("type", default_type)
    if kind not in NOISE_TYPES:
        raise noise.error(f"has the type {shown(kind)}, but there are {', '.join(NOISE_TYPES)}")
    for child in noise.children:
        if child.name not in _TAGS:
            remarks.append(unknown_tag(child, _TAGS, "{} is no part of <noise>"))
    if kind == "none":
        return AxisNoise()
    bias_mean = _read(noise, "bias_mean", Tag.number)
    unknown_bias = bias_mean if bias_sign_is_drawn else 0.0
    if unknown_bias != 0.0:
        remarks.append(
            f"Line {noise.line}: bias_mean, whose sign Gazebo chooses at random, became part of "
            "turn_on_bias_sigma."
        )
    sigma, time = _read_dynamic_bias(noise)
    precision = _read(noise, "precision", Tag.size)
    if 0.0 < precision <= _SMALLEST_PRECISION:
        remarks.append(f"Line {noise.line}: a precision of {precision:g} has no effect in Gazebo.")
    return AxisNoise(
        white_noise=float(density_of_samples(_read(noise, "stddev", Tag.size), rate)),
        turn_on_bias=_read(noise, "mean", Tag.number) + bias_mean - unknown_bias,
        turn_on_bias_sigma=math.hypot(unknown_bias, _read(noise, "bias_stddev", Tag.size)),
        gauss_markov_sigma=sigma,
        gauss_markov_time=time,
        resolution=precision,
    )


def noise_text(axis: AxisNoise, rate: float, indent: int) -> str:
    """Return the lines of a ``<noise>``, each with this indentation."""
    kind = "gaussian_quantized" if axis.resolution > 0.0 else "gaussian"
    values = {
        "mean": axis.turn_on_bias,
        "stddev": sampled_std(axis.white_noise, rate),
        "bias_mean": 0.0,
        "bias_stddev": axis.turn_on_bias_sigma,
    }
    if axis.gauss_markov_sigma > 0.0:
        density = driving_density(axis.gauss_markov_sigma, axis.gauss_markov_time)
        values["dynamic_bias_stddev"] = density
        values["dynamic_bias_correlation_time"] = axis.gauss_markov_time
    if axis.resolution > 0.0:
        values["precision"] = axis.resolution
    lines = "".join(tag(name, value, indent + 1) for name, value in values.items())
    return f'{"  " * indent}<noise type="{kind}">\n{lines}{"  " * indent}</noise>\n'


def differences(triad, name: str, simulator: str = "Gazebo") -> list[str]:
    """Return sentences on what a simulator makes otherwise of what is written for a triad."""
    sentences = []
    if any(triad.turn_on_bias_sigma) and any(triad.gauss_markov_sigma):
        sentences.append(
            f"{name}.turn_on_bias_sigma: {simulator} lets the bias drawn at the start decay with "
            "the correlation time of the dynamic bias."
        )
    if any(0.0 < step <= _SMALLEST_PRECISION for step in triad.resolution):
        sentences.append(
            f"{name}.resolution: a precision of {_SMALLEST_PRECISION:g} or less has no effect in "
            f"{simulator}."
        )
    return sentences


def _read(noise, name, read):
    child = noise.child(name)
    return 0.0 if child is None else read(child)


def _read_dynamic_bias(noise):
    density = _read(noise, "dynamic_bias_stddev", Tag.size)
    if density == 0.0:
        # Nothing to correlate; the time may be its default of zero.
        _read(noise, "dynamic_bias_correlation_time", Tag.size)
        return 0.0, AxisNoise().gauss_markov_time
    time = noise.require("dynamic_bias_correlation_time").positive()
    return float(driven_std(density, time)), time


def slow_bias(
    triad, name: str, random_walk_time: float | None, said: set[str], remarks: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return what a format with one Gauss-Markov process per axis says of a triad's slow errors.

    That is the triad's Gauss-Markov process. If it has none, but a random walk, and a correlation
    time is given [s], it is the process with that time and the random walk's driving density, which
    is the random walk for times well below the correlation time. ``said`` and ``remarks`` are
    added to.

    Returns
    -------
    sigma, time : ndarray, shape (3,)
        Standard deviation, and correlation time [s].
    """
    time: Any = np.full(3, 1000.0 if random_walk_time is None else random_walk_time)
    if any(triad.gauss_markov_sigma) or not any(triad.random_walk):
        said.update((f"{name}.gauss_markov_sigma", f"{name}.gauss_markov_time"))
        if any(triad.gauss_markov_sigma):
            time = np.array(triad.gauss_markov_time)
        return np.array(triad.gauss_markov_sigma), time
    said.add(f"{name}.random_walk")
    walk = f"{name}.random_walk = {quoted(triad.random_walk)}"
    if random_walk_time is None:
        remarks.append(
            f"{walk} cannot be said in this format; with a correlation time it is said as a bias "
            "that begins like it."
        )
        return np.zeros(3), time
    remarks.append(
        f"{walk} is said as a bias with a correlation time of {random_walk_time:g} s, which is the "
        "same for times well below that only."
    )
    return driven_std(triad.random_walk, time), time


def one_value(values, name: str, remarks: list[str]) -> float:
    """Return one value of the parameter of a name for three axes, with a remark where they differ.

    That is their root mean square, which keeps the power of all three together.
    """
    values = tuple(float(value) for value in values)
    if len(set(values)) == 1:
        return values[0]
    mean = float(np.sqrt(np.mean(np.square(values))))
    remarks.append(
        f"{name} = {quoted(values)} differs between the axes, for which this format has one "
        f"number: their root mean square {mean:.6g} is written."
    )
    return mean


def one_slow_bias(
    triad, name: str, random_walk_time: float | None, said: set[str], remarks: list[str]
) -> tuple[float, float]:
    """Return :func:`slow_bias` as one standard deviation and one correlation time [s].

    Where the axes differ the first is the root mean square, the second the mean over the axes
    that have a bias, with a remark.
    """
    sigmas, times = slow_bias(triad, name, random_walk_time, said, remarks)
    of_biases = times[sigmas > 0.0]
    if not len(of_biases):
        return 0.0, float(times[0])
    sigma = one_value(sigmas, f"{name}.gauss_markov_sigma", remarks)
    if len(set(of_biases)) == 1:
        return sigma, float(of_biases[0])
    mean = float(np.mean(of_biases))
    remarks.append(
        f"{name}.gauss_markov_time = {quoted(tuple(map(float, times)))} differs between the "
        f"axes, for which this format has one number: their mean {mean:.6g} is written."
    )
    return sigma, mean


def with_noise_of_picked_samples(specification: ImuSpecification, rate: float) -> ImuSpecification:
    """Return a specification whose samples at a slower rate are as noisy as its own are.

    Of a sensor that filters before it decimates, a sample at the slower rate has less white noise:
    ``N * sqrt(rate)``. Where samples are merely left out, each keeps its standard deviation, and so
    the density is larger by the root of how many there were for each (Kalibr's wiki, IMU Noise
    Model). The rate is that of the samples that are kept [Hz].

    Raises :class:`.ConfigurationError`: the rate is above the sensor's own, or the same.
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
            f"{name}.bias_instability = {quoted(triad.bias_instability)} is said as a random walk "
            f"of {quoted(walk)}, whose Allan deviation with the white noise has the same lowest "
            "point; beyond it the sensor drifts less than that."
        )
    return replace(specification, **triads), remarks
