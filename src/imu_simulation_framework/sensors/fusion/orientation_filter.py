"""What all filters of an orientation have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class OrientationFilter(ABC):
    """An orientation, followed from the readings of gyroscope, accelerometer and magnetometer."""

    @abstractmethod
    def start(self, orientation, specific_force, magnetic_field=None) -> np.ndarray:
        """Take the yaw from an orientation (4,), and the tilt from the accelerometer (3,).

        With a magnetic heading the yaw is that of the magnetic field (3,).

        Returns
        -------
        ndarray (4,)
            Orientation.

        Raises
        ------
        ConfigurationError
            A field is needed for the heading and not given; so from :meth:`update` and
            :meth:`update_all`.
        """

    @abstractmethod
    def update(self, angular_velocity, specific_force, magnetic_field=None) -> np.ndarray:
        """Take the next sample, (3,) each; return the orientation (4,).

        The angular velocity is the mean since the last sample.
        """

    @abstractmethod
    def update_all(self, angular_velocity, specific_force, magnetic_field=None) -> np.ndarray:
        """Take the next samples, (samples, 3) each; return orientations (samples, 4)."""
