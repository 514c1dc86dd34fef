"""Orientation from a sensor's own readings, by the filter that its specification names.

Gyroscope and accelerometer alone leave the yaw without a reference. With a magnetometer it has one:
magnetic north. The world's axes are x east, y north, z up, so that the yaw of what heads for the
magnetic north is 90 degrees less the declination, the angle from the world's y axis clockwise to
magnetic north: with a declination of zero, the yaw counts from magnetic east, as with most sensors.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.fusion.complementary import (
    CompassFilter,
    ComplementaryFilter,
    OrientationFilter,
    checked_field,
    levelled,
)
from imu_simulation_framework.sensors.fusion.magnetic_heading import MagneticHeading
from imu_simulation_framework.sensors.imu_specification import OutputSpecification


class VqfFilter(OrientationFilter):
    """The filter of the library vqf.

    Laidig and Seel: VQF: highly accurate IMU orientation estimation with bias estimation and
    magnetic disturbance rejection, Information Fusion 91 (2023).

    Raises :class:`.ConfigurationError`: the library is not installed.

    ``period``: time from one sample to the next [s]. ``time_constant``: ``tauAcc`` [s].
    ``rate_bias``: whether it estimates the gyroscope's bias, in motion and at rest. ``heading``: of
    which only the settings count, ``tauMag`` and whether disturbances are rejected: the rest is the
    library's own. Without, the yaw has no reference.
    """

    def __init__(
        self,
        period: float,
        time_constant: float,
        rate_bias: bool = False,
        heading: MagneticHeading | None = None,
    ):
        try:
            # Imported here, as only those who choose it need it.
            from vqf import VQF
        except ImportError as error:
            raise ConfigurationError(
                "The filter vqf needs the Python library vqf, which is not installed; "
                "choose filter mahony or install it."
            ) from error

        biases: dict[str, Any] = {
            "motionBiasEstEnabled": rate_bias,
            "restBiasEstEnabled": rate_bias,
        }
        if heading is not None:
            biases["magDistRejectionEnabled"] = heading.rejection
            biases["tauMag"] = heading.time_constant
        self._magnetic = heading
        self._name = "quat6D" if heading is None else "quat9D"
        self._make = partial(VQF, period, tauAcc=time_constant, **biases)

    def start(self, orientation, specific_force, magnetic_field=None):
        from scipy.spatial.transform import Rotation

        self._filter = self._make()
        fused = self._advance(np.zeros(3), specific_force, magnetic_field)
        if self._magnetic is not None:
            # From magnetic north to the world's axes.
            self._turn = Rotation.from_euler("z", -self._magnetic.declination)
            return (self._turn * fused).as_quat()
        started = levelled(orientation, specific_force)
        # It starts with a yaw of its own choice: what leads from there to the wanted one.
        self._turn = Rotation.from_quat(started) * fused.inv()
        return started

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        fused = self._advance(angular_velocity, specific_force, magnetic_field)
        return (self._turn * fused).as_quat()

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        if len(angular_velocity) == 0:
            return np.empty((0, 4))
        signals = self._signals(angular_velocity, specific_force, magnetic_field)
        fused = self._filter.updateBatch(*signals)
        return (self._turn * _from_vqf(fused[self._name])).as_quat()

    def _advance(self, angular_velocity, specific_force, magnetic_field):
        self._filter.update(*self._signals(angular_velocity, specific_force, magnetic_field))
        return _from_vqf(getattr(self._filter, f"getQ{self._name[1:]}")())

    def _signals(self, angular_velocity, specific_force, magnetic_field):
        signals = [angular_velocity, specific_force]
        if self._magnetic is not None:
            signals.append(checked_field(magnetic_field))
        return [np.ascontiguousarray(signal, dtype=float) for signal in signals]


def _from_vqf(quaternions):
    from scipy.spatial.transform import Rotation

    # Its order is w, x, y, z.
    return Rotation.from_quat(np.roll(quaternions, -1, axis=-1))


def make_filter(output: OutputSpecification, period: float) -> OrientationFilter:
    """Return the filter that a specification names.

    Raises :class:`.ConfigurationError`: it needs a library that is not installed.
    """
    heading = None
    if output.magnetic_heading:
        wanted = (output.magnetic_time_constant, output.magnetic_disturbance_rejection)
        heading = MagneticHeading(period, *wanted, output.magnetic_declination)
    if output.filter == "compass":
        return CompassFilter(period, output.filter_time_constant, heading)
    kind = {"mahony": ComplementaryFilter, "vqf": VqfFilter}[output.filter]
    return kind(period, output.filter_time_constant, output.filter_rate_bias, heading)


def fuse_run(filter, orientation, angular_velocity, specific_force, magnetic_field=None):
    """Return the orientations (samples, 4) of a whole series, at least one sample.

    ``filter`` (OrientationFilter). ``orientation`` (array_like (4,)): the true one at the first
    sample, of which the yaw counts; with a magnetic heading, nothing. ``angular_velocity``,
    ``specific_force`` (samples, 3): [rad/s], [m/s^2]; of the first sample only the specific force
    counts. ``magnetic_field`` (samples, 3): [T]; needed for a magnetic heading.
    """
    fields = () if magnetic_field is None else (magnetic_field,)
    first = filter.start(orientation, specific_force[0], *(field[0] for field in fields))
    later = (signal[1:] for signal in (angular_velocity, specific_force, *fields))
    return np.vstack([first, filter.update_all(*later)])
