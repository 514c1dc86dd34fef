"""The motion of a recorded drive."""

from __future__ import annotations

import os
from typing import Any, Mapping

import numpy as np
import pandas as pd

from imu_simulation_framework.columns import POSES
from imu_simulation_framework.configuration.load import load_configuration
from imu_simulation_framework.experiment.preparation.drive import (
    chosen_part,
    read_configured_reference,
)
from imu_simulation_framework.motion import sources
from imu_simulation_framework.motion.motion import Motion


def read_motion(
    path: str | os.PathLike[str], rate: float = sources.RATE, **sections: Mapping[str, Any]
) -> Motion:
    """Return the motion of a recorded drive, taken for level, from time 0.

    The reference's poses are smoothed and cut as in an experiment, and sampled evenly. What cannot
    be told from the recording alone is said by settings::

        read_motion("drive.bag", reference={"topic": "/odom"}, trajectory={"stop": 60.0})

    Parameters
    ----------
    path : str or Path
        A bag, or a table of poses or fixes, see doc/recordings.md.
    rate : float
        Samples per second of the motion [Hz].
    **sections : mapping
        Settings that differ from config.ini's, by section and key.

    Raises
    ------
    ConfigurationError
        There is no such setting, or its value is out of range.
    RecordingError
        The recording cannot be read, or its data cannot be used.
    TrajectoryError
        The chosen part is empty.
    """
    return read_motion_and_latitude(path, rate, **sections)[0]


def read_motion_and_latitude(
    path: str | os.PathLike[str], rate: float = sources.RATE, **sections: Mapping[str, Any]
) -> tuple[Motion, float | None]:
    """As :func:`read_motion`, with the latitude [deg] that satellite positions tell, or None."""
    overrides = {name: dict(values) for name, values in sections.items()}
    overrides.setdefault("recording", {})["path"] = str(path)
    configuration = load_configuration(overrides=overrides)
    recorded = read_configured_reference(configuration)
    # Sampled as densely as recorded, so that a spline, which has continuous accelerations, neither
    # follows the monotone interpolation's kinks nor swings in a gap.
    recorded_rate = 1.0 / float(np.median(np.diff(recorded.table.index)))
    driven, _ = chosen_part(configuration, recorded.table, recorded_rate)
    # Even steps from zero, whatever the recording's clock was rounded to.
    driven.index = pd.RangeIndex(len(driven)) / recorded_rate
    samples = int(driven.index[-1] * rate + 1e-6) + 1
    motion = sources.planar(driven[list(POSES)], at=np.arange(samples) / rate)
    return motion, recorded.report.latitude
