"""A gimbal: its geometry, how far its joints go, and what moves them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Tuple, Union

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.gimbal.geometry import GimbalGeometry
from imu_simulation_framework.gimbal.joints import JOINTS
from imu_simulation_framework.gimbal.profiles import (
    FixedJoints,
    SinusoidalJoints,
    TabulatedJoints,
)
from imu_simulation_framework.gimbal.stabilisation.settings import Stabilisation
from imu_simulation_framework.sentences import shown

Limits = Tuple[Tuple[float, float], Tuple[float, float], Tuple[float, float]]
Drive = Union[FixedJoints, SinusoidalJoints, TabulatedJoints, Stabilisation]

_NO_ARMS = GimbalGeometry()
_STANDING = FixedJoints()
_FREE = (-math.inf, math.inf)
_UPRIGHT = 0.5 * math.pi


@dataclass(frozen=True)
class GimbalSpecification:
    """A gimbal; without arguments one that stands and has no arms, as if there were none.

    Parameters
    ----------
    name : str
    geometry : GimbalGeometry
    drive : FixedJoints, SinusoidalJoints, TabulatedJoints or Stabilisation
        What moves the joints.
    limits : sequence of 3, each 2 float or None
        Smallest and largest angle of pan, tilt and roll [rad]; None, for both or one, is without
        end, of the tilt a quarter turn. Two equal ones are a joint that cannot move.

    Raises
    ------
    ConfigurationError
        A value is not what it must be, or prescribed angles are beyond the limits.
    """

    name: str = "gimbal"
    geometry: GimbalGeometry = _NO_ARMS
    drive: Drive = _STANDING
    limits: Any = (None, None, None)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ConfigurationError(f"name is {shown(self.name)}, but it must be a text.")
        if not isinstance(self.geometry, GimbalGeometry):
            raise ConfigurationError(
                f"geometry is {shown(self.geometry)}, but it must be a GimbalGeometry."
            )
        if not isinstance(self.limits, (list, tuple)) or len(self.limits) != 3:
            raise ConfigurationError(
                f"limits is {shown(self.limits)}, but it must be three pairs of angles, of pan, "
                "tilt and roll."
            )
        limits = tuple(_pair(joint, pair) for joint, pair in zip(JOINTS, self.limits))
        object.__setattr__(self, "limits", limits)
        if isinstance(self.drive, Stabilisation):
            return
        if not isinstance(self.drive, (FixedJoints, SinusoidalJoints, TabulatedJoints)):
            raise ConfigurationError(
                f"drive is {shown(self.drive)}, but it must be joints or a stabilisation."
            )
        for joint, (low, high), (least, most) in zip(JOINTS, limits, self.drive.reach):
            if least < low or most > high:
                beyond = least if least < low else most
                raise ConfigurationError(
                    f"the gimbal is at its limits: {joint} shall go to {beyond:.6g} rad, but it "
                    f"goes from {low:.6g} rad to {high:.6g} rad."
                )


def _pair(joint, pair):
    least, most = (-_UPRIGHT, _UPRIGHT) if joint == "tilt" else _FREE
    if pair is None:
        return least, most
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ConfigurationError(
            f"limits of {joint} are {shown(pair)}, but they must be two angles."
        )
    low, high = (
        end
        if value is None or value == end
        else checked_number(f"limits of {joint}", value, maximum=min(most, 1e3))
        for value, end in zip(pair, (least, most))
    )
    if not low <= high:
        raise ConfigurationError(
            f"limits of {joint} are {low:g} rad and {high:g} rad, but the smaller one must be "
            "first."
        )
    return low, high
