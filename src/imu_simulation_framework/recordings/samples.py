"""What every reader returns: columns of numbers as recorded, nothing cleaned yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

POSITION = ("x", "y")
GLOBAL_POSITION = ("latitude", "longitude")
VELOCITY = ("velocity_east", "velocity_north")
VARIANCES = ("variance_east", "variance_north")


MIN_VALUE = 1e-30
"""In any SI unit: what is smaller is zero to every sensor, but squares and quotients of it leave
the range of numbers."""


@dataclass
class Samples:
    """Samples in the order of recording; a number below :data:`MIN_VALUE` is zero.

    Attributes
    ----------
    path : str
        File they come from.
    format : str
        ``bag``, ``rostopic_csv``, ``csv`` or ``tum``.
    columns : dict of str to ndarray, shape (n,)
        ``stamp`` [s, nan where not set], ``receipt`` [s, when it was recorded; ROS only], and
        quantities in SI units: ``x y z``, ``qx qy qz qw``, ``roll pitch yaw``, ``gyro_x`` ...,
        ``accel_x`` ..., ``latitude longitude`` [deg] ``altitude variance_east
        variance_north position_error hdop status covariance_type speed course velocity_east
        velocity_north``, and ``orientation_covariance gyro_covariance accel_covariance``, the
        first element of each matrix. Axes, senses of rotation and orders are the recording's;
        :mod:`~imu_simulation_framework.recordings.conventions` turns them.
    places : ndarray of int, shape (n,)
        Number of each sample in the file, as a person counts.
    place_name : str
        What ``places`` counts: ``message`` or ``line``.
    topic, message_type : str
        Empty if the format does not tell.
    yaw_conventions : dict of str to str
        Of ``yaw`` and ``course``, where the column map says it in words.
    stated_units : frozenset of str
        Quantities whose unit the recording or its column map states.
    """

    path: str
    format: str
    columns: dict[str, np.ndarray]
    places: np.ndarray
    place_name: str
    topic: str = ""
    message_type: str = ""
    yaw_conventions: dict[str, str] = field(default_factory=dict)
    stated_units: frozenset[str] = frozenset()

    def __post_init__(self):
        for name, column in self.columns.items():
            tiny = (np.abs(column) < MIN_VALUE) & (column != 0.0)
            if tiny.any():
                self.columns[name] = np.where(tiny, 0.0, column)

    def __len__(self):
        return len(self.places)

    def __contains__(self, name):
        return name in self.columns

    def has(self, names) -> bool:
        """Return whether all these columns are there."""
        return all(name in self.columns for name in names)

    def matrix(self, names) -> np.ndarray:
        """Return these columns side by side, shape (n, len(names))."""
        return np.column_stack([self.columns[name] for name in names])

    @property
    def source(self) -> str:
        """File and topic, to begin a sentence with."""
        return f"{self.path}, topic {self.topic}" if self.topic else self.path
