"""What a person is told about a recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIRRORED_YAW = "mirrored yaw"
MIRRORED_GYRO = "mirrored gyroscope"
QUATERNION_ORDER = "wrong quaternion order"
QUATERNION_DIRECTION = "quaternions from world to body"
FRAME = "north-east-down axes"
SENSOR_AXES = "sensors in other axes than the orientation"
DEGREES = "degrees taken for radians"
RADIANS = "radians taken for degrees"
ACCELERATION_UNIT = "accelerometer in g"
ACCELERATION_SIGN = "accelerometer upside down"
MOUNTING = "wrong axis"
YAW_OFFSET = "turned yaw"
MIRRORED_POSITIONS = "mirrored positions"
LENGTH_UNIT = "wrong unit of length"
SPINNING_WHEELS = "spinning wheels"
SCALE = "wrong scale"
SHIFTED_CLOCK = "shifted clock"
CLOCK_RATE = "clock of another rate"
FROZEN = "frozen values"
DROPPED_AXIS = "dropped axis"
SAME_YAW = "the reference itself"
NOT_INDEPENDENT = "perhaps not independent"
NO_OVERLAP = "no overlap in time"
TOO_FAST = "too fast for the robot"
DISTURBED_YAW = "disturbed yaw"
UNRELATED = "unrelated turns"
UNVERIFIED = "not verified"


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    Attributes
    ----------
    fault : str
        One of the names in this module.
    evidence : str
        What shows it, with figures; a clause without a full stop.
    remedy : str
        What to do, where no setting does it; empty if nothing helps.
    grave : bool
        Whether a yaw error computed from such a recording is meaningless, or there can be none.
    settings : tuple of (str, str, str)
        Sections, keys and values of a config.ini that mend it.
    """

    fault: str
    evidence: str
    remedy: str = ""
    grave: bool = False
    settings: tuple = ()

    def remedies(self) -> list[str]:
        """Return what to write, then what else to do."""
        written = [f"[{section}] {key} = {value}" for section, key, value in self.settings]
        return written + ([self.remedy] if self.remedy else [])

    def sentence(self) -> str:
        """Return all of it in one line."""
        remedies = self.remedies()
        remedy = f"; to mend it: {', '.join(remedies)}" if remedies else ""
        return f"{self.fault}: {self.evidence}{remedy}"


def describe_relation(relation) -> str:
    """Return figures of a relation in words."""
    one, other = np.degrees(relation.net)
    return (
        f"{relation.first} turns {one:.0f} deg where {relation.second} turns {other:.0f} deg "
        f"(correlation {relation.correlation:.2f}, scale {relation.scale_text('.3g')})"
    )
