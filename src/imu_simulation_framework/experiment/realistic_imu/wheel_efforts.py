"""What the motors of any robot pull with, of its joints' states."""

from __future__ import annotations

import math
from typing import Sequence

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.robot_names import SIDES
from imu_simulation_framework.sentences import listed

_WHEEL = "wheel"


class WheelEfforts:
    """Sums the efforts of the wheels' joints on each side.

    Parameters
    ----------
    left, right : sequence of str
        Names of the driven wheels' joints. On a side without them they are those of the first joint
        states with both sides that have ``wheel`` and this side, but not the other, in their names.
    """

    def __init__(self, left: Sequence[str] = (), right: Sequence[str] = ()) -> None:
        self._sides = (tuple(left), tuple(right))
        self.only_zeros = False
        """Whether efforts were told, and all of them were zero: joints that a simulator moves by
        their velocity have none."""
        self._has_pulled = False

    @property
    def joints(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the joints, left and right; empty where they are not known yet."""
        return self._sides

    def torques(self, names: Sequence[str], efforts: Sequence[float]) -> tuple[float, float] | None:
        """Return the torques of the motors, left and right [N m].

        Parameters
        ----------
        names, efforts : sequence
            As sensor_msgs/JointState has them.

        Returns
        -------
        tuple of 2 float
            None where the message is of other joints, or an effort is no number.

        Raises
        ------
        RecordingError
            The joints are there without efforts.
        """
        left, right = self._sides
        sides = (left or _wheels(names, *SIDES), right or _wheels(names, *SIDES[::-1]))
        if not all(sides) or not all(name in names for side in sides for name in side):
            return None
        if len(efforts) != len(names):
            raise RecordingError(
                f"the joint states of {listed([*sides[0], *sides[1]])} have no effort, which tells "
                "what the motors pull with"
            )
        self._sides = sides
        of_joint = dict(zip(names, efforts))
        torques = [float(sum(of_joint[name] for name in side)) for side in sides]
        if not all(map(math.isfinite, torques)):
            return None
        self._has_pulled = self._has_pulled or any(torques)
        self.only_zeros = not self._has_pulled
        return torques[0], torques[1]


def _wheels(names, side, other) -> tuple[str, ...]:
    """Return which of the names are of wheels on a side."""
    small = ((name, name.lower()) for name in names)
    return tuple(name for name, n in small if _WHEEL in n and side in n and other not in n)
