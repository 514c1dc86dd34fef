"""What a receiver's messages hold: as it publishes them, and as an experiment records them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from imu_simulation_framework.core.columns import (
    GNSS_TOLD_POSITION,
    GNSS_TOLD_VELOCITY,
    LOCAL_VELOCITY,
)
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.sensors.gnss.specification import QUALITIES

if TYPE_CHECKING:
    import pandas as pd

STATUS = {
    QUALITIES["none"]: -1,
    QUALITIES["single"]: 0,
    QUALITIES["differential"]: 1,
    QUALITIES["float"]: 2,
    QUALITIES["rtk"]: 2,
}
"""Quality -> what sensor_msgs/NavSatStatus has for it, which does not tell float from fixed."""

VARIANCES = ("variance_east", "variance_north", "variance_up")


class Told(NamedTuple):
    """Messages of one kind: ``stamps`` (n,) of int [ns], ``rows`` (n, columns)."""

    stamps: np.ndarray
    rows: np.ndarray


class ToldFixes(NamedTuple):
    """What was published of some fixes.

    ``positions`` has ``GNSS_TOLD_POSITION`` of ``core.columns.py``, ``velocities`` its
    ``GNSS_TOLD_VELOCITY``, and ``headings`` z and w of the quaternion about the vertical; each of
    the fixes that have it.
    """

    positions: Told
    velocities: Told
    headings: Told


def told_fixes(fixes: pd.DataFrame) -> ToldFixes:
    """Return what is published of fixes.

    ``fixes``: GnssRecord.
    """
    stamps = np.array([round(time * NANOSECONDS) for time in fixes.index], dtype=np.int64)
    status = fixes["quality"].map(STATUS).to_numpy(float)
    positions = fixes.assign(status=status)[list(GNSS_TOLD_POSITION)]
    # A covariance is known as a whole or not at all.
    known = np.isfinite(fixes[list(VARIANCES)].to_numpy()).all(axis=1)
    positions.loc[~known, list(VARIANCES)] = np.nan
    moving = np.isfinite(fixes[LOCAL_VELOCITY[0]].to_numpy())
    velocities = fixes[list(GNSS_TOLD_VELOCITY)].to_numpy()
    turned = np.isfinite(fixes["heading"].to_numpy())
    headings = [heading_quaternion(heading) for heading in fixes["heading"][turned]]
    return ToldFixes(
        Told(stamps, positions.to_numpy()),
        Told(stamps[moving], velocities[moving]),
        Told(stamps[turned], np.array(headings).reshape(-1, 2)),
    )


def heading_quaternion(heading: float) -> tuple[float, float]:
    """Return z and w of the turn about the vertical by a heading [rad]."""
    return math.sin(0.5 * heading), math.cos(0.5 * heading)
