"""What a GNSS receiver says of a motion: from a motion and its errors to a table of its fixes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imu_simulation_framework.columns import GNSS_RECORD
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.noise.streams import run_seed
from imu_simulation_framework.sensors.gnss.receiver import GnssReceiver, antenna_motion
from imu_simulation_framework.sensors.gnss.specification import GnssOrigin, GnssSpecification


def simulate_gnss(
    motion: Motion,
    gnss: GnssSpecification,
    seed: int | np.random.SeedSequence = 1,
    run: int = 0,
) -> pd.DataFrame:
    """Return what a GNSS receiver says of a motion.

    Parameters
    ----------
    motion : Motion
        Of the robot, to whose axes the antenna's lever arm belongs, evenly sampled. Where its
        rate is no multiple of the receiver's it is interpolated (:meth:`.SampledMotion.resampled`).
    gnss : GnssSpecification
    seed : int or numpy.random.SeedSequence
        Of all runs.
    run : int
        Which one. It has the same numbers whatever other runs there are.

    Returns
    -------
    pandas.DataFrame
        GnssRecord at the times of measurement, without those in outages: x, y, z [m, the
        antenna's, in the motion's world], latitude, longitude [deg], altitude [m above the
        ellipsoid], variance_east, variance_north, variance_up [m^2], velocity_east,
        velocity_north, velocity_up [m/s], velocity_variance (of east and of north),
        velocity_variance_up [m^2/s^2], heading [rad, counter-clockwise from east, within half a
        turn of the true one, which is unwrapped], heading_variance [rad^2], quality
        (:data:`.QUALITIES`) and arrival [s]. Not a number is what the receiver does not tell.

    Raises
    ------
    MotionError
        The motion is not evenly sampled.
    ConfigurationError
        The receiver is faster than the motion is sampled.
    """
    ratio = 1.0 / (motion.period * gnss.rate)
    if ratio < 1.0 - 1e-6:
        raise ConfigurationError(
            f"rate is {gnss.rate:g} Hz, but the motion has only {1.0 / motion.period:g} samples "
            "per second."
        )
    step = max(1, round(ratio))
    yaw = motion.yaw[::step]
    if abs(ratio - step) > 1e-6:
        motion, step = motion.resampled(gnss.rate), 1
        yaw = motion.yaw
    antenna = antenna_motion(
        motion.position[::step],
        motion.orientation[::step],
        motion.velocity[::step],
        motion.angular_velocity[::step],
        yaw,
        gnss.lever_arm,
    )
    receiver = GnssReceiver(gnss, run_seed(seed, run))
    return with_places(receiver.measure(motion.time[::step], antenna), gnss.origin)


def with_places(table: pd.DataFrame, origin: GnssOrigin) -> pd.DataFrame:
    """Return a receiver's table with latitude, longitude [deg] and altitude [m] beside x, y, z.

    x, y, z are taken for east, north and up on the plane that touches the ellipsoid (WGS 84) at
    the origin.
    """
    import pymap3d

    x, y, z = table[["x", "y", "z"]].to_numpy().T
    place = pymap3d.enu2geodetic(x, y, z, origin.latitude, origin.longitude, origin.height)
    table = table.assign(**dict(zip(("latitude", "longitude", "altitude"), place)))
    return table[list(GNSS_RECORD)]
