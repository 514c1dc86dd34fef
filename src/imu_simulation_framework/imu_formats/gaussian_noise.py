"""The Gaussian noise of one axis as SDF describes it, and as Gazebo and Unity simulate it.

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
from typing import NamedTuple

from imu_simulation_framework.imu_formats.parsing.near_names import unknown_tag
from imu_simulation_framework.imu_formats.parsing.texts import number, tag
from imu_simulation_framework.imu_formats.parsing.xml_tags import Tag
from imu_simulation_framework.noise.densities import (
    density_of_samples,
    driven_std,
    driving_density,
    sampled_std,
)
from imu_simulation_framework.sentences import shown

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
    """Read a ``<noise>``.

    Parameters
    ----------
    noise : Tag
    rate : float
        The sensor's [Hz].
    remarks : list of str
        Is added to.
    default_type : str
        What a missing ``type`` means.
    bias_sign_is_drawn : bool
        Whether the sign of ``bias_mean`` is drawn at the start, as Gazebo does; otherwise it is a
        bias as ``mean`` is.

    Raises
    ------
    ConfigurationError
        A value is no number or out of range, or the type is unknown.
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
    lines = [f'{"  " * indent}<noise type="{kind}">\n']
    for name, value in (
        ("mean", axis.turn_on_bias),
        ("stddev", sampled_std(axis.white_noise, rate)),
        ("bias_mean", 0.0),
        ("bias_stddev", axis.turn_on_bias_sigma),
    ):
        lines.append(tag(name, number(value), indent + 1))
    if axis.gauss_markov_sigma > 0.0:
        density = driving_density(axis.gauss_markov_sigma, axis.gauss_markov_time)
        lines.append(tag("dynamic_bias_stddev", number(density), indent + 1))
        lines.append(
            tag("dynamic_bias_correlation_time", number(axis.gauss_markov_time), indent + 1)
        )
    if axis.resolution > 0.0:
        lines.append(tag("precision", number(axis.resolution), indent + 1))
    lines.append(f"{'  ' * indent}</noise>\n")
    return "".join(lines)


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
