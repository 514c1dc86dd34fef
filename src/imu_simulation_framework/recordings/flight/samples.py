"""Samples of a recorded flight as they were recorded, from one topic or several."""

from __future__ import annotations

import os
from typing import Mapping

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.recordings import messages
from imu_simulation_framework.recordings.formats.any_format import read_any_bag, read_samples
from imu_simulation_framework.recordings.samples import Samples


def read_flight_samples(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    *,
    attitude_topic: str = "",
    velocity_topic: str = "",
) -> tuple[Samples, Samples | None, Samples | None]:
    """Read the samples of a recorded flight as they were recorded.

    Parameters
    ----------
    path, format
        As for :func:`~imu_simulation_framework.recordings.read_reference_samples`.
    topic : str
        Of positions, in a bag.
    columns : mapping of str to str, optional
        For CSV: quantity -> ``"column [unit]"``.
    attitude_topic : str
        Beside satellite positions; empty for the only one that holds orientations.
    velocity_topic : str
        Beside satellite positions, to the east, to the north and up; empty for none.

    Returns
    -------
    positions, attitudes, velocities : Samples
        Of the latter two None where they are not in a topic of their own.

    Raises
    ------
    RecordingError
        The recording cannot be read.
    """
    samples = read_samples(path, topic, format, columns, messages.REFERENCE_TYPES, "flight")
    if samples.message_type != messages.NAV_SAT_FIX.name or samples.format != "bag":
        for key, beside in (("attitude_topic", attitude_topic), ("velocity_topic", velocity_topic)):
            if beside:
                raise RecordingError(f"{path}: {key} is of use only beside satellite positions")
        return samples, None, None
    attitude = read_any_bag(path, attitude_topic, messages.HEADING_TYPES)
    velocity = (
        read_any_bag(path, velocity_topic, messages.VELOCITY_TYPES) if velocity_topic else None
    )
    return samples, attitude, velocity
