"""An identified model in the words of the IMU models that a simulation has."""

from __future__ import annotations

import math
from typing import NamedTuple, Sequence

from imu_simulation_framework.heading.identification.fit import Fit, Likelihood, fit
from imu_simulation_framework.heading.identification.terms import (
    REFERENCE_DRIFT,
    REFERENCE_NOISE,
    YAW_DRIFT,
    ObservedYawError,
)
from imu_simulation_framework.heading.model.parameters import YawErrorParameters
from imu_simulation_framework.sensors.imu_models.plugins import HectorParameters, drift_parameters
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

_UNMOVED = 1000.0
"""Time constant of a filter that hardly leans while the body accelerates [s]: what the sensor's own
filter made of accelerations is in the yaw error that was observed, and shall not come twice."""


def specification_of(
    parameters: YawErrorParameters, name: str, rate: float
) -> tuple[ImuSpecification, list[str]]:
    """Return a specification whose gyroscope about z has these errors, and what it cannot say.

    The other axes and the accelerometer have no errors: a yaw shows none of theirs.

    ``name``: of the sensor. ``rate``: its samples per second [Hz]. Raises ConfigurationError if
    name or rate are not what they must be.
    """

    def about_z(value):
        return (0.0, 0.0, value)

    none = (0.0, 0.0, 0.0)
    gyroscope = TriadSpecification(
        white_noise=about_z(parameters.angle_random_walk),
        random_walk=about_z(parameters.rate_random_walk),
        gauss_markov_sigma=about_z(parameters.rate_drift_sigma),
        gauss_markov_time=(1000.0, 1000.0, parameters.rate_drift_time),
        turn_on_bias=about_z(parameters.rate_bias),
        turn_on_bias_sigma=about_z(parameters.rate_bias_spread),
        scale_factor_and_misalignment=(none, none, about_z(parameters.scale_factor)),
    )
    unsaid = []
    if parameters.yaw_drift_sigma:
        unsaid.append(
            "A specification has no drift of the yaw itself: the one of "
            f"{math.degrees(parameters.yaw_drift_sigma):.3g} deg over "
            f"{parameters.yaw_drift_time:.3g} s is left out; Hector's parameters have it."
        )
    if parameters.scale_factor_of_absolute_turn:
        unsaid.append(
            "A specification has no preference of a direction of turn: the one of "
            f"{100.0 * parameters.scale_factor_of_absolute_turn:.3g} % is left out."
        )
    if parameters.drives < 2:
        unsaid.append(
            "turn_on_bias is that of the one drive, and its sigma is 0 for want of others."
        )
    specification = ImuSpecification(
        name=name,
        gyroscope=gyroscope,
        output=OutputSpecification(rate=rate, filter_time_constant=_UNMOVED),
    )
    return specification, unsaid


class HectorFit(NamedTuple):
    """What comes nearest in the family of Hector's plug-in.

    ``parameters``; ``sigma`` [rad] and ``correlation_time`` [s] of the drift; ``loss`` of
    log-likelihood against the identified model, None if that is it, and by how many parameters that
    has more; ``sentences``.
    """

    parameters: HectorParameters
    sigma: float
    correlation_time: float
    loss: float | None
    more_parameters: int
    sentences: list[str]


def hector_of(chosen: Fit, period: float) -> HectorFit:
    """Return Hector's parameters for the drives of a fit.

    The plug-in's yaw has a Gauss-Markov drift, and neither a bias of its rate nor a scale factor;
    so a drift alone is fitted to the same drives, beside the noise of the reference. Likelihoods
    are compared with the constants at their estimates.

    ``period``: time between samples at which the plug-in will run [s].
    """
    drives = chosen.likelihood.drives
    terms = [
        term
        for term in (YAW_DRIFT, REFERENCE_NOISE, REFERENCE_DRIFT)
        if term is YAW_DRIFT or term in chosen.likelihood.random
    ]
    if chosen.likelihood.constants or set(chosen.likelihood.random) - set(terms):
        only = _fitted(drives, terms)
    else:
        only = chosen
    estimates, _ = chosen.constants
    best = chosen.likelihood.given(dict(enumerate(estimates)))(chosen.values)
    sigma, time = only.values["yaw_drift_sigma"], only.values["yaw_drift_time"]
    drift = drift_parameters(sigma, time, period)
    sentences = []
    shortest, longest = only.likelihood.scales.bounds("yaw_drift_time")
    if time < 1.1 * shortest:
        sentences.append(
            f"The drift is as fast as {time:.3g} s, the shortest correlation time that was looked "
            "for; shorter steps may show a faster one."
        )
    if time > 0.9 * longest:
        sentences.append(
            f"The drift does not turn back within these drives: {time:.3g} s is the longest "
            "correlation time that was looked for, and only sigma^2 over it is known."
        )
    return HectorFit(
        HectorParameters(yaw_drift=drift.drift, yaw_drift_frequency=drift.drift_frequency),
        sigma,
        time,
        None if only is chosen else best - only.log_likelihood,
        chosen.parameters + len(estimates) - only.parameters,
        sentences,
    )


def _fitted(drives: Sequence[ObservedYawError], terms) -> Fit:
    return fit(Likelihood(drives, terms, ()))
