"""What a motion cannot tell of a yaw error, and which drive would."""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np

from imu_simulation_framework.identification.yaw_error.observation import ObservedYawError
from imu_simulation_framework.identification.yaw_error.terms import (
    CONSTANT_TERMS,
    DIRECTION,
    RATE_BIAS,
    SCALE_FACTOR,
    ConstantTerm,
)

_SAME = 1.0 - 1e-6
"""Share of a curve that others explain, from which on no data could tell them apart."""
_ALIKE = 0.9
"""Share from which on it is said that they are hard to tell apart."""
_LEAST_TURN = math.radians(45.0)


def identifiable_constants(
    drives: Sequence[ObservedYawError],
) -> tuple[list[ConstantTerm], list[str]]:
    """Return the constant terms that the drives can tell apart, and a sentence on each other one.

    From the information matrix of the constants beside each drive's own start offset: a term is
    unidentifiable where the others' curves add up to its own.

    Parameters
    ----------
    drives : sequence of ObservedYawError
    """
    kept: list[ConstantTerm] = []
    sentences = []
    for term in CONSTANT_TERMS:
        curve = _curve(term, drives)
        if term is not RATE_BIAS and np.ptp(curve) < _LEAST_TURN:
            sentences.append(
                f"{term.name}: the robot turned by {math.degrees(np.ptp(curve)):.0f} deg only, so "
                "it cannot be told; a drive of several full turns would"
            )
            continue
        explained = _explained(term, kept, drives)
        if explained > _SAME:
            sentences.append(f"{term.name}: {_why(term, explained, drives)}")
        else:
            kept.append(term)
    return kept, sentences


def likeness(term: ConstantTerm, drives: Sequence[ObservedYawError]) -> str | None:
    """Return why a constant is hard to tell from others, and which drive would; None if it is not.

    Parameters
    ----------
    term : ConstantTerm
    drives : sequence of ObservedYawError
    """
    before = CONSTANT_TERMS[: CONSTANT_TERMS.index(term)]
    explained = _explained(term, before, drives)
    return _why(term, explained, drives) if explained > _ALIKE else None


def weak_parameters(estimates, drives: Sequence[ObservedYawError]) -> list[str]:
    """Return a sentence on each parameter that the drives leave open.

    Parameters
    ----------
    estimates : dict of Estimate
    drives : sequence of ObservedYawError
    """
    sentences = []
    duration = max(drive.time[-1] for drive in drives)
    for name, estimate in estimates.items():
        words = name.replace("_", " ")
        if name.endswith("_time"):
            if estimate.low == 0.0:
                sentences.append(
                    f"{words}: only an upper limit of {estimate.high:.3g} s is known at steps of "
                    f"{drives[0].step:g} s; shorter steps would tell more"
                )
            elif not math.isfinite(estimate.high) or estimate.high > duration:
                sentences.append(
                    f"{words}: only a lower limit of {estimate.low:.3g} s is known from "
                    f"{duration:.0f} s; a drive of {3.0 * max(estimate.value, duration):.0f} s "
                    "would tell more"
                )
        elif name in ("rate_bias", "scale_factor", "scale_factor_of_absolute_turn"):
            continue
        elif estimate.low == 0.0:
            sentences.append(
                f"{words}: at most {estimate.high:.3g} {estimate.unit}, and it may be zero"
            )
        elif not math.isfinite(estimate.high):
            sentences.append(f"{words}: at least {estimate.low:.3g} {estimate.unit}")
    if len(drives) == 1:
        sentences.append(
            "rate bias: one drive cannot tell how it spreads from drive to drive; several of the "
            "same sensor, each after switching it on anew, would"
        )
    return sentences


def _explained(term, others, drives):
    """Return the share of a constant's curve that those of others make up."""
    curve = _curve(term, drives)
    power = float(np.sum(curve**2))
    if not others or power == 0.0:
        return 0.0
    curves = np.column_stack([_curve(other, drives) for other in others])
    curves /= np.max(np.abs(curves), axis=0) + np.finfo(float).tiny
    solution, *_ = np.linalg.lstsq(curves, curve, rcond=None)
    return 1.0 - float(np.sum((curve - curves @ solution) ** 2)) / power


def _curve(term, drives):
    """Return what a constant leads to, without each drive's own start, one drive after another."""
    curves = (term.regressor(drive)[np.isfinite(drive.error)] for drive in drives)
    return np.concatenate([curve - np.mean(curve) for curve in curves])


def _why(term, explained, drives):
    if term is SCALE_FACTOR:
        cause = "the robot turned at a steady rate, so that a scale factor looks like a rate bias"
        cure = "a drive with turns to both sides, or with stops, would tell them apart"
    elif term is DIRECTION and _explained(term, [RATE_BIAS], drives) > _explained(
        term, [SCALE_FACTOR], drives
    ):
        cause = (
            "the robot turned as much in any minute as in any other, so that a preferred direction "
            "looks like a rate bias"
        )
        cure = "a drive with long straight stretches or stops would tell them apart"
    elif term is DIRECTION:
        cause = (
            "the robot turned to one side nearly all the time, so that a preferred direction looks "
            "like a scale factor"
        )
        cure = "a drive with as many left as right turns would tell them apart"
    else:
        cause, cure = "nothing was observed for long enough", "a longer drive would"
    return f"{cause} ({100.0 * explained:.4g} % of its curve are the others'); {cure}"
