"""Environment of the robot and its IMU: terrain, magnetic field and Earth rotation."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ...core.errors import ConfigurationError, prefix_errors
from ...motion.drives import Terrain
from ...motion.earth import EARTH_RATE
from ...sensors.imu_models.base import ImuTruth
from ...sensors.magnetism.environment import (
    MagneticEnvironment,
    read_magnetic_environment,
    rotate_vectors,
)
from ..configuration import Configuration
from .imu import experiment_imu_model, make_experiment_imu

UNDISTURBED = "clean"
"""Name of the bundled magnetic environment that contains only the Earth's field."""

_PLACE_KEYS = ("latitude", "longitude", "height", "date")


def make_terrain(configuration: Configuration) -> Terrain | None:
    """Return the terrain configured in section ``[terrain]``.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    Terrain or None
        Terrain with bumps; None for level ground.
    """
    return None if configuration.terrain.kind == "flat" else configuration.terrain


def make_magnetic_environment(configuration: Configuration) -> MagneticEnvironment | None:
    """Create the magnetic environment of the simulated IMU.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    MagneticEnvironment or None
        None if the IMU has no magnetometer and no environment is configured.

    Raises
    ------
    ConfigurationError
        The environment cannot be read, or the magnetic model does not cover its location and date.
    """
    section = configuration.magnetic_environment
    name = section.file
    if not name:
        specification = experiment_imu_model(configuration).parameters.get("specification")
        if specification is None or specification.magnetometer is None:
            return None
        name = UNDISTURBED
    with prefix_errors("[magnetic_environment] file: "):
        environment = read_magnetic_environment(name)
    configured = {key: getattr(section, key) for key in _PLACE_KEYS}
    changes = {key: value for key, value in configured.items() if value not in (None, "")}
    if not changes:
        return environment
    if environment.earth is not None:
        raise ConfigurationError(
            f"[magnetic_environment] {next(iter(changes))} has no effect, as {name} contains a "
            "measured value of the Earth's field"
        )
    with prefix_errors("[magnetic_environment] "):
        place = dataclasses.replace(environment.place, **changes)
    return dataclasses.replace(environment, place=place)


def measures_magnetic_field(configuration: Configuration) -> bool:
    """Return whether the simulated IMU has a magnetometer in a magnetic environment.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    bool
        False without a magnetometer or without a magnetic environment.
    """
    if make_magnetic_environment(configuration) is None:
        return False
    return make_experiment_imu(configuration).has_magnetometer


def add_earth_rotation(truth: ImuTruth, latitude: float | None) -> ImuTruth:
    """Add the Earth rotation to the angular velocity of an IMU in a flat world.

    The angular velocity of the Earth in east, north and up axes is EARTH_RATE (0, cos latitude,
    sin latitude).

    Parameters
    ----------
    truth : ImuTruth
        True signals of one or n samples; the x and y axes of the world point east and north.
    latitude : float or None
        Latitude [deg]; None to omit the Earth rotation.

    Returns
    -------
    ImuTruth
    """
    if latitude is None:
        return truth
    angle = math.radians(latitude)
    axis = EARTH_RATE * np.array([0.0, math.cos(angle), math.sin(angle)])
    rate = truth.angular_velocity
    to_body = np.reshape(truth.orientation, (-1, 4)) * (-1.0, -1.0, -1.0, 1.0)
    return truth._replace(angular_velocity=rate + rotate_vectors(to_body, axis).reshape(rate.shape))
