"""Faults that are found by reading the recording in another way.

A mirrored yaw, a quaternion in another order and the like leave no doubt once the recording is
read as it was meant: then everything goes together. So each such fault is an alternative way of
reading, and the fault is there if that way explains what the given one does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np

from imu_simulation_framework.core.plausibility.findings import Finding, describe_relation
from imu_simulation_framework.core.plausibility.observations import GOOD, Observations
from imu_simulation_framework.errors import FrameworkError

_GAIN = 0.1
"""By how much the weighted mean of the marks must rise, so that an alternative is believed."""

_RIVALS = 0.02
"""Of alternatives whose marks are so close the one that is listed first is taken."""

_WEIGHTS = {"upright": 0.3, "gravity": 0.3, "tilt": 0.3}
"""Of marks that rest on one number instead of a whole drive; all others weigh 1."""

_MOST = 3
"""Faults looked for on top of each other."""


@dataclass(frozen=True)
class Alternative:
    """Another way to read the recording.

    Attributes
    ----------
    fault : str
        What is wrong if this way is right.
    remedy : str
        The setting that makes the package read it so.
    observe : callable
        Returns the Observations of the recording read so; may raise FrameworkError.
    grave : bool
        Whether a yaw error is worth nothing without it.
    then : callable
        Returns the alternatives that remain once this one is taken.
    """

    fault: str
    remedy: str
    observe: Callable[[], Observations]
    grave: bool
    then: Callable[[], list]


def explain(observations, alternatives):
    """Look for the ways of reading under which everything goes together.

    Parameters
    ----------
    observations : Observations
        Of the recording as it was to be read.
    alternatives : sequence of Alternative
        The likeliest first.

    Returns
    -------
    findings : list of Finding
        One for each alternative that was taken; empty if the recording is well as it is, or if
        nothing helps.
    observations : Observations
        Of the recording read so.
    """
    findings = []
    for _ in range(_MOST):
        marks = observations.marks()
        if not marks or min(marks.values()) > GOOD:
            break
        best = _best(marks, alternatives)
        if best is None:
            break
        alternative, better = best
        findings.append(
            Finding(
                alternative.fault,
                _evidence(observations, better),
                alternative.remedy,
                alternative.grave,
            )
        )
        observations, alternatives = better, alternative.then()
    return findings, observations


def _best(marks, alternatives):
    best = None
    for alternative in alternatives:
        try:
            observations = alternative.observe()
        except (FrameworkError, ValueError):
            # Read so it is no recording at all.
            continue
        gain = _gain(marks, observations.marks())
        if gain > _GAIN and (best is None or gain > best[0] + _RIVALS):
            best = gain, alternative, observations
    return None if best is None else best[1:]


def _gain(before, after) -> float:
    """Rise of the mean mark; a mark that an alternative loses counts as 0 there."""
    # A relation that was none before and appears is a gain too.
    names = set(before) | set(after)
    weights = np.array([_WEIGHTS.get(name, 1.0) for name in names])
    gains = [after.get(name, 0.0) - before.get(name, 0.0) for name in names]
    return float(weights @ gains / weights.sum())


def _evidence(before, after) -> str:
    """What was worst before, and what it is after."""
    marks, better = before.marks(), after.marks()
    name = max(set(marks) | set(better), key=lambda n: better.get(n, 0.0) - marks.get(n, 0.0))
    return f"{describe_mark(before, name)}; read otherwise, {describe_mark(after, name)}"


def describe_mark(observations, name) -> str:
    """What a mark was made of, in words."""
    if name == "path":
        path = observations.path
        if path.mirrored_concentration > path.concentration:
            return "the reference's path turns left where its yaw turns right"
        return (
            f"the reference's path points {np.degrees(path.offset):.0f} deg beside its yaw "
            f"(concentration {path.concentration:.2f})"
        )
    if name in ("upright", "gravity"):
        x, y, z = observations.specific_force
        return f"at rest the accelerometer would read ({x:.2f}, {y:.2f}, {z:.2f}) m/s^2"
    if name == "tilt":
        return (
            f"the orientation is tilted by {np.degrees(observations.tilt):.0f} deg against the "
            "accelerometer"
        )
    relation = getattr(observations, name)
    return describe_relation(relation) if relation is not None else "one of the two is missing"
