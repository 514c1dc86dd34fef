"""Calibration of an accelerometer from positions that nobody has to know.

At rest it measures gravity, however it lies: readings in many positions lie on an ellipsoid
(:mod:`.calibration.sphere_fit`; Tedaldi, Pretto, Menegatti: A robust and easy to implement method
for IMU calibration without external equipments, ICRA 2014). Which way gravity points is not
asked, so that placement does not count; a turn of all three axes together does not show, so that
the misalignment that is found is symmetric.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.identification.calibration.rest_times import RestTime
from imu_simulation_framework.identification.calibration.slow_noise import SlowNoise
from imu_simulation_framework.identification.calibration.sphere_fit import fit_to_sphere
from imu_simulation_framework.identification.calibration.triad_fit import TriadCalibration

LEAST_POSITIONS = 9
"""As many as there are numbers to be found."""

_ANOTHER_POSITION = np.cos(np.radians(15.0))


def calibrate_accelerometer_freely(
    times: np.ndarray,
    accel: np.ndarray,
    rests: Sequence[RestTime],
    *,
    noise: Sequence[SlowNoise],
    gravity: float = STANDARD_GRAVITY,
    source: str = "the recording",
) -> TriadCalibration:
    """Find bias, scale factors and misalignments from rest in nine or more positions.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    accel : ndarray, shape (n, 3)
        Specific force [m/s^2].
    rests : sequence of RestTime
        Of :func:`.find_rest`.
    noise : 3 SlowNoise
        Of each axis. It has to be known: sizes of gravity do not tell one axis from another, and
        where axes are as unlike as those of many sensors, intervals of a common noise do not hold.
    gravity : float
        At the place [m/s^2].
    source : str
        To begin a sentence with.

    Raises
    ------
    RecordingError
        There are fewer positions that are 15 degrees or more apart, or they do not span all
        directions.
    """
    gravity = checked_number("gravity", gravity, above=0.0)
    means = np.array([accel[rest.start : rest.stop].mean(axis=0) for rest in rests])
    means = means.reshape(-1, 3) / np.maximum(np.linalg.norm(means, axis=-1), 1e-9)[..., None]
    positions: list[np.ndarray] = []
    for direction in means:
        if all(direction @ other < _ANOTHER_POSITION for other in positions):
            positions.append(direction)
    if len(positions) < LEAST_POSITIONS:
        raise RecordingError(
            f"{source}: the accelerometer takes {LEAST_POSITIONS} positions at rest or more, in "
            f"all directions and 15 degrees apart, but there are {len(positions)} in {len(rests)} "
            "times at rest"
        )
    lengths = [rest.stop - rest.start for rest in rests]
    ends = np.cumsum(lengths).tolist()
    used = np.concatenate([np.arange(rest.start, rest.stop) for rest in rests])
    fit = fit_to_sphere(
        times[used],
        accel[used],
        gravity,
        noise=noise,
        source=source,
        what="accelerometer",
        parts=[RestTime(end - length, end) for length, end in zip(lengths, ends)],
    )
    return replace(
        fit.calibration, method=f"gravity's size in {len(positions)} positions of any kind"
    )
