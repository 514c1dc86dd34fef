"""Where a motion stands still, and the same motion with a stop now and then."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from imu_simulation_framework.core.errors import MotionError

if TYPE_CHECKING:
    from imu_simulation_framework.motion.motion import Motion, SampledMotion

MAX_SPEED = 5e-3
"""What stands still moves at less than this [m/s]."""
MAX_RATE = math.radians(0.1)
"""And turns at less than this [rad/s]."""
BRAKING = 1.0
"""How long a motion brakes before a stop that it is given, and speeds up after it [s]."""


def stands_still(speed: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return whether something stands at a speed (n,) [m/s] and a rate (n, 3) [rad/s]."""
    return (speed < MAX_SPEED) & (np.linalg.norm(rate, axis=-1) < MAX_RATE)


def found_standstills(motion: SampledMotion, shortest: float = 1.0) -> list[tuple[float, float]]:
    """Return when a motion stands still against the ground: beginnings and ends.

    ``motion``: n samples. ``shortest``: what lasts less is left out [s]. Times are since the
    motion's first sample [s].
    """
    speed = np.linalg.norm(motion.velocity, axis=1)
    standing = stands_still(speed, motion.rate_against_ground())
    still = np.concatenate([[False], standing, [False]])
    edges = np.flatnonzero(np.diff(still.astype(int))).reshape(-1, 2)
    since_start = motion.time - motion.time[0]
    found = [(float(since_start[a]), float(since_start[b - 1])) for a, b in edges]
    return [(start, end) for start, end in found if end - start >= shortest * (1.0 - 1e-9)]


def with_stops(motion: SampledMotion, every: float, duration: float) -> Motion:
    r"""Return a motion that stops now and then, and otherwise goes the same way as before.

    Its path is that of the motion at the time :math:`\tau(t)`, whose rate goes to zero and back as
    half a cosine, over :data:`BRAKING` each. With s that rate, velocities are s times as large, and
    the acceleration is :math:`s^2 \ddot r + \dot s \dot r`.

    ``motion`` (Motion): evenly sampled. ``every``: from the beginning of a stop to that of the
    next, and from the motion's start to the first [s]. ``duration``: of a stop [s]. The result
    lasts longer by ``duration`` and :data:`BRAKING` for each stop. Raises MotionError if stops
    follow each other before the motion can go on, or it is no motion in a flat world.
    """
    # Imported here, since every node knows what a stop is, and splines take 60 MB.
    from scipy.interpolate import CubicSpline
    from scipy.spatial.transform import Rotation

    from imu_simulation_framework.motion.kinematics import quaternion_spline, unit
    from imu_simulation_framework.motion.motion import Motion

    if not isinstance(motion, Motion):
        raise MotionError("stops on the way are for what drives, but this is a motion on the Earth")
    for name, value in (("every", every), ("duration", duration)):
        if not (math.isfinite(value) and value > 0.0):
            raise MotionError(f"{name} of a motion's stops is {value}, but it must be positive")
    if every < duration + 2.0 * BRAKING:
        raise MotionError(
            f"stops of {duration:g} s every {every:g} s leave no time to drive between them: with "
            f"braking and speeding up each takes {duration + 2.0 * BRAKING:g} s"
        )
    period = motion.period
    # Driven of each interval: all but the stop, and half of braking and speeding up.
    driven = every - duration - BRAKING
    count = int(motion.duration / driven) + 2
    time = np.arange(int((motion.duration + count * (duration + BRAKING)) / period) + 2) * period
    # Of the nearest stop: seconds before its beginning, or after its end.
    number = np.maximum(1.0, np.round((time - 0.5 * duration) / every))
    away = np.maximum(number * every - time, time - number * every - duration)
    share = np.clip(away / BRAKING, 0.0, 1.0)
    rate = 0.5 * (1.0 - np.cos(np.pi * share))
    side = np.where(time < number * every, -1.0, 1.0)
    change = side * 0.5 * np.pi / BRAKING * np.sin(np.pi * share)
    change[(share <= 0.0) | (share >= 1.0)] = 0.0
    # The trapezoidal rule is exact here but for the period's square, which no heading sees.
    tau = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * period)])
    kept = tau <= motion.duration * (1.0 + 1e-12)
    time, rate, change = time[kept], rate[kept, np.newaxis], change[kept, np.newaxis]
    at = motion.time[0] + np.minimum(tau[kept], motion.duration)
    orientation = unit(quaternion_spline(motion.time, motion.orientation)(at))
    position, velocity, turning, force = (
        CubicSpline(motion.time, getattr(motion, name))(at)
        for name in ("position", "velocity", "angular_velocity", "specific_force")
    )
    to_body = Rotation.from_quat(orientation).inv()
    weight = to_body.apply((0.0, 0.0, motion.gravity))
    force = (force - weight) * rate**2 + to_body.apply(velocity) * change + weight
    return replace(
        motion,
        time=motion.time[0] + time,
        position=position,
        orientation=orientation,
        velocity=velocity * rate,
        angular_velocity=turning * rate,
        specific_force=force,
    )
