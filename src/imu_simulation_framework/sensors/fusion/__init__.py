"""Orientation from a sensor's own readings, by the filter that its specification names.

Gyroscope and accelerometer alone leave the yaw without a reference. With a magnetometer it has one:
magnetic north. The world's axes are x east, y north, z up, so that the yaw of what heads for the
magnetic north is 90 degrees less the declination, the angle from the world's y axis clockwise to
magnetic north: with a declination of zero, the yaw counts from magnetic east, as with most sensors.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.sensors.fusion.compass import CompassFilter
from imu_simulation_framework.sensors.fusion.complementary import ComplementaryFilter
from imu_simulation_framework.sensors.fusion.magnetic_heading import MagneticHeading
from imu_simulation_framework.sensors.fusion.orientation_filter import OrientationFilter
from imu_simulation_framework.sensors.fusion.vqf_library import VqfFilter
from imu_simulation_framework.sensors.output_specification import OutputSpecification

__all__ = [
    "CompassFilter",
    "ComplementaryFilter",
    "MagneticHeading",
    "OrientationFilter",
    "VqfFilter",
    "fuse",
    "fuse_run",
    "make_filter",
]


def make_filter(output: OutputSpecification, period: float) -> OrientationFilter:
    """Return the filter that a specification names.

    Raises
    ------
    ConfigurationError
        It needs a library that is not installed.
    """
    heading = None
    if output.magnetic_heading:
        heading = MagneticHeading(
            period,
            output.magnetic_time_constant,
            output.magnetic_disturbance_rejection,
            output.magnetic_declination,
        )
    if output.filter == "compass":
        return CompassFilter(period, output.filter_time_constant, heading)
    kind = {"mahony": ComplementaryFilter, "vqf": VqfFilter}[output.filter]
    return kind(period, output.filter_time_constant, output.filter_rate_bias, heading)


def fuse(
    output: OutputSpecification,
    period,
    orientation,
    angular_velocity,
    specific_force,
    magnetic_field=None,
):
    """Return the orientations of whole series of samples.

    Parameters
    ----------
    output : OutputSpecification
    period : float
        Time from one sample to the next [s].
    orientation : array_like (4,)
        The true one at the first sample, of which the yaw counts; with a magnetic heading, nothing.
    angular_velocity, specific_force : ndarray (runs, samples, 3)
        [rad/s], [m/s^2]; of the first sample only the specific force counts.
    magnetic_field : ndarray (runs, samples, 3), optional
        [T]; needed for a magnetic heading.

    Returns
    -------
    ndarray (runs, samples, 4)

    Raises
    ------
    ConfigurationError
        The filter needs a library that is not installed, or a magnetic field.
    """
    orientations = np.empty((*np.shape(angular_velocity)[:2], 4))
    if orientations.shape[1]:
        for index, run in enumerate(orientations):
            signals = [
                None if signal is None else signal[index]
                for signal in (angular_velocity, specific_force, magnetic_field)
            ]
            run[:] = fuse_run(make_filter(output, period), orientation, *signals)
    return orientations


def fuse_run(filter, orientation, angular_velocity, specific_force, magnetic_field=None):
    """Return the orientations (samples, 4) of one run, at least one sample; as :func:`fuse`."""
    started, following = (), ()
    if magnetic_field is not None:
        started, following = (magnetic_field[0],), (magnetic_field[1:],)
    first = filter.start(orientation, specific_force[0], *started)
    return np.vstack(
        [first, filter.update_all(angular_velocity[1:], specific_force[1:], *following)]
    )
