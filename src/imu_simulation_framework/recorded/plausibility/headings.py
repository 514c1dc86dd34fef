"""What each part of a recording says about how the robot turned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.columns import ACCEL, GYRO


@dataclass(frozen=True)
class Heading:
    """An angle over time, of which only differences count.

    Attributes
    ----------
    name : str
        As a person reads it.
    time : ndarray, shape (n,)
        Strictly increasing [s].
    angle : ndarray, shape (n,)
        [rad, unwrapped]
    """

    name: str
    time: np.ndarray
    angle: np.ndarray

    def at(self, times):
        """Return the angle at times [s]; before and after, the ends hold."""
        return np.interp(times, self.time, self.angle)

    @property
    def period(self) -> float:
        """Median time between samples [s]."""
        return float(np.median(np.diff(self.time)))


def part_of(heading, start, stop) -> Heading:
    """Return a heading between two times [s]."""
    inside = (heading.time >= start) & (heading.time <= stop)
    return Heading(heading.name, heading.time[inside], heading.angle[inside])


def reference_heading(reference) -> Heading:
    """Return the yaw of Poses."""
    return Heading("the reference's yaw", _times(reference), reference["yaw"].to_numpy())


def imu_heading(imu):
    """Return the yaw of an ImuRecord; None if it has none."""
    if "yaw" not in imu:
        return None
    return Heading("the IMU's yaw", _times(imu), imu["yaw"].to_numpy())


def gyro_heading(imu, axis="gyro_z"):
    """Return the integral of the gyroscope about one of the robot's axes; None without one.

    The robot is taken for level, which costs one part in two hundred at six degrees.
    """
    if axis not in imu:
        return None
    name = "the gyroscope" if axis == "gyro_z" else f"the gyroscope's {axis[-1]} axis"
    return Heading(name, _times(imu), _integral(_times(imu), imu[axis].to_numpy()))


def vertical_gyro_heading(imu):
    """Return the integral of the gyroscope about the direction in which the specific force points.

    It does not matter how the sensor is mounted or which axes it has, as long as gyroscope and
    accelerometer share them. None without both, or if gravity does not show.
    """
    up = mean_specific_force(imu)
    if up is None or not set(GYRO) <= set(imu):
        return None
    rate = imu[list(GYRO)].to_numpy() @ (up / np.linalg.norm(up))
    return Heading("the gyroscope about the vertical", _times(imu), _integral(_times(imu), rate))


def mean_specific_force(imu):
    """Return the accelerometer's mean [m/s^2], shape (3,); None without one, or if it is small.

    Over a drive the accelerations average out and gravity remains; some IMUs subtract it.
    """
    if not set(ACCEL) <= set(imu):
        return None
    forces = imu[list(ACCEL)].to_numpy()
    mean = forces.mean(axis=0)
    typical = float(np.median(np.linalg.norm(forces, axis=1)))
    return mean if np.linalg.norm(mean) > 0.7 * typical > 0.0 else None


def _times(table):
    return table.index.to_numpy(dtype=float)


def _integral(times, values):
    """Return the trapezoidal integral, zero at the beginning."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(times)
    return np.concatenate([[0.0], np.cumsum(steps)])
