r"""The sources of the yaw error that an odometer's errors cause on a given motion.

With w the distance that the middle between the wheels has rolled, :math:`\psi` the turn since the
start, E and F UMBmark's E_d and E_b, s the scale and b the believed track
(:mod:`.sensors.odometer`), the odometer says the yaw

.. math:: \frac{1 - E^2}{2 E s b} w + \frac{F (1 + E)^2}{4 E s} \psi .

A wheel's slip :math:`\sigma` walks by :math:`\sigma \sqrt{l}` in the way l that it rolls to and
fro, and turns the odometer by that over b; ticks that are rounded down are noise, even from zero to
a tick.
"""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.heading.model.sources import (
    KnownError,
    RandomConstant,
    Source,
    YawNoise,
    YawRandomWalk,
)
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.sensors.odometer import OdometerSpecification, rolled_way

WHEELS, TRACK, WHEEL_SIZE = "unequal wheels", "track", "size of the wheels"


def odometer_sources(
    odometer: OdometerSpecification, motion: Motion, time: np.ndarray
) -> list[Source]:
    """Return the sources of an odometer's yaw error at times (n,) since the motion's start [s].

    ``motion``: of the middle between the wheels, on level ground.
    """
    ratio, scale, tracks = odometer.diameter_ratio, odometer.scale, odometer.track_ratio
    since_start = motion.time - motion.time[0]
    way, turn = rolled_way(motion, odometer), motion.yaw - motion.yaw[0]
    way_at, turn_at = (np.interp(time, since_start, one) for one in (way, turn))
    per_way = 1.0 / (2.0 * scale * odometer.track)
    of_turn = (1.0 + ratio) ** 2 / (4.0 * ratio * scale) * turn_at
    of_wheels = (1.0 - ratio**2) / ratio * per_way * way_at
    sources: list[Source] = []
    for name, curve in (
        (WHEELS, of_wheels + (of_turn - turn_at / scale) * tracks),
        (TRACK, (tracks - 1.0) / scale * turn_at),
        (WHEEL_SIZE, (1.0 / scale - 1.0) * turn_at),
    ):
        if np.any(curve):
            sources.append(KnownError(name, -curve))
    by_ratio = (ratio**2 - 1.0) / (4.0 * ratio**2 * scale) * tracks * turn_at
    by_ratio -= (1.0 + ratio**2) / ratio**2 * per_way * way_at
    by_scale = -(of_wheels + tracks * of_turn) / scale
    for name, regressor, sigma in (
        (WHEELS, by_ratio, odometer.diameter_ratio_sigma),
        (TRACK, of_turn, odometer.track_ratio_sigma),
        (WHEEL_SIZE, by_scale, odometer.scale_sigma),
    ):
        if sigma > 0.0 and np.any(regressor):
            sources.append(RandomConstant(name, -regressor, sigma))
    if odometer.slip > 0.0:
        half_track = 0.5 * odometer.track * tracks
        variance = np.zeros(len(since_start))
        for side, relative in ((-1.0, 1.0), (1.0, ratio)):
            steps = np.abs(np.diff(way + side * half_track * turn))
            # From the true wheel's distance to that which the believed radius makes of its turns.
            counted = odometer.slip * (1.0 + ratio) / (2.0 * scale * relative) / odometer.track
            variance[1:] += counted**2 * np.cumsum(steps)
        sources.append(YawRandomWalk("wheel slip", np.interp(time, since_start, variance)))
    if odometer.ticks_per_turn:
        tick = 2.0 * math.pi * odometer.wheel_radius / odometer.ticks_per_turn
        sources.append(YawNoise("encoder steps", tick / odometer.track / math.sqrt(6.0)))
    return sources
