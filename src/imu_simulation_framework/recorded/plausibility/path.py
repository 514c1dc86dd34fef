"""Whether a reference's yaw is the direction in which its positions move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STEP = 0.5
"""The course is taken over displacements of this length [m]."""

LONGEST_STEP = 3.0
"""A displacement that takes longer [s] is no driving."""

MINIMUM_STEPS = 20


@dataclass(frozen=True)
class PathDirection:
    """The directions of a path against the yaw of the robot on it, as circular statistics.

    Attributes
    ----------
    steps : int
        Displacements that were compared.
    concentration, mirrored_concentration : float
        Mean resultant length of twice the course minus the yaw, and of twice the course plus the
        yaw (Mardia and Jupp, Directional Statistics, 2000, section 2.3): 1 if they are the same
        all the time up to a constant, 0 if they have nothing in common. Twice, so that driving
        backwards is no difference.
    offset : float
        Mean of the course minus the yaw [rad], in (-pi/2, pi/2]: 0 for a yaw that is right.
    """

    steps: int
    concentration: float
    mirrored_concentration: float
    offset: float

    @property
    def conclusive(self) -> bool:
        """Whether the path has directions enough to tell right from left."""
        return self.steps >= MINIMUM_STEPS and (
            abs(self.concentration - self.mirrored_concentration) > 0.1
        )

    @property
    def concentrated(self) -> bool:
        """Whether the yaw is the course up to a constant."""
        return self.steps >= MINIMUM_STEPS and self.concentration > 0.9

    @property
    def mirrored(self) -> bool:
        """Whether the path turns left where the yaw turns right."""
        return self.conclusive and self.mirrored_concentration > self.concentration


def path_direction(reference) -> PathDirection:
    """Compare the courses of Poses with their yaw."""
    times = reference.index.to_numpy(dtype=float)
    positions = reference[["x", "y"]].to_numpy()
    path = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(positions, axis=0).T))])
    # The first sample beyond each whole step; a path may be absurdly long, and jump over most.
    steps = np.floor(path / STEP)
    places = np.append(0, 1 + np.flatnonzero(np.diff(steps) > 0.0))
    steps = np.diff(positions[places], axis=0)
    driven = (np.diff(times[places]) < LONGEST_STEP) & (np.hypot(*steps.T) > 0.5 * STEP)
    if np.count_nonzero(driven) == 0:
        return PathDirection(0, 0.0, 0.0, 0.0)
    middle = 0.5 * (times[places[1:]] + times[places[:-1]])[driven]
    course = np.arctan2(steps[driven, 1], steps[driven, 0])
    yaw = np.interp(middle, times, reference["yaw"].to_numpy())
    difference = np.mean(np.exp(2j * (course - yaw)))
    total = np.mean(np.exp(2j * (course + yaw)))
    return PathDirection(
        steps=len(course),
        concentration=float(abs(difference)),
        mirrored_concentration=float(abs(total)),
        offset=float(0.5 * np.angle(difference)),
    )
