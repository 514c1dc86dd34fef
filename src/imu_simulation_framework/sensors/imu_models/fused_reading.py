"""A reading whose orientation is fused: its errors are those against the true orientation."""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.angles import difference, quaternion_product
from imu_simulation_framework.sensors.imu_models.reading import MAGNETIC_PARTS, ImuReading


def reading_of(truth, orientation, rate, force, rate_bias, force_bias, magnetic=None, **parts):
    """Return a reading of one sample or of (samples, ...); some parts are computed if asked for.

    That is what is given as a function: the orientation of a series, and the magnetic field.
    """

    def ask(reading, name):
        if name == "orientation":
            return orientation()
        if name in MAGNETIC_PARTS:
            if magnetic is None:
                raise AttributeError(f"this reading has no {name}")
            return magnetic()
        if reading.orientation.ndim == 1:
            # One sample at a time, a general library's overhead is most of the time.
            ours, true, functions = reading.orientation.tolist(), np.asarray(truth).tolist(), math
        else:
            ours, true, functions = reading.orientation.T, truth.T, np
        if name == "yaw_bias":
            return difference(_yaw(*ours, functions), _yaw(*true, functions))
        # orientation * truth^-1
        conjugate = (*(-component for component in true[:3]), true[3])
        return np.stack(quaternion_product(*ours, *conjugate), axis=-1)

    if not callable(orientation):
        parts["orientation"] = orientation
    return ImuReading(
        ask,
        angular_velocity=rate,
        specific_force=force,
        angular_velocity_bias=rate_bias,
        specific_force_bias=force_bias,
        **parts,
    )


def last_of(reading):
    """Return the last sample of a reading, with all its parts."""
    return ImuReading(lambda _, name: getattr(reading, name)[-1])


def _yaw(x, y, z, w, functions):
    arctan2 = functions.atan2 if functions is math else functions.arctan2
    return arctan2(2.0 * (x * y + w * z), w * w + x * x - y * y - z * z)
