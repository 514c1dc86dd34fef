"""The GNSS receiver and the odometer of an experiment."""

from __future__ import annotations

from typing import Callable, TypeVar, Union

from ...core.errors import ConfigurationError, prefix_errors
from ...sensors.gnss.specification import GnssSpecification, read_gnss_specification
from ...sensors.odometer import OdometerSpecification, read_odometer
from ..configuration import Configuration

Sensor = TypeVar("Sensor", bound=Union[GnssSpecification, OdometerSpecification])


def experiment_gnss(configuration: Configuration) -> GnssSpecification | None:
    """Return the receiver of section ``[gnss]``.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.

    Returns
    -------
    GnssSpecification or None
        None if no receiver is configured.

    Raises
    ------
    ConfigurationError
        The receiver's file cannot be used, or its rate is above that of the robot's states.
    """
    file = configuration.gnss.file
    if not file:
        return None
    return _read_sensor("gnss", file, read_gnss_specification, configuration.imu.rate)


def experiment_odometer(configuration: Configuration) -> OdometerSpecification | None:
    """Return the odometer of section ``[odometer]``.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.

    Returns
    -------
    OdometerSpecification or None
        None if no odometer is configured.

    Raises
    ------
    ConfigurationError
        The odometer's file cannot be used, its rate is above that of the robot's states, or the
        simulator is another than MuJoCo.
    """
    file = configuration.odometer.file
    if not file:
        return None
    simulator = configuration.simulation.simulator
    if simulator != "mujoco":
        raise ConfigurationError(
            f"[odometer] file is {file}, expected none with [simulation] "
            f"simulator = {simulator}: only the robot in MuJoCo has an odometer"
        )
    return _read_sensor("odometer", file, read_odometer, configuration.imu.rate)


def _read_sensor(section: str, file: str, read: Callable[[str], Sensor], max_rate: float) -> Sensor:
    with prefix_errors(f"[{section}] file: "):
        sensor = read(file)
    # The robot's state is known at each sample of the IMU; the factor allows for rounding.
    if sensor.rate > max_rate * (1.0 + 1e-6):
        raise ConfigurationError(
            f"[{section}] file: {file} has a rate of {sensor.rate:g} Hz, which must "
            f"not be above [imu] rate, {max_rate:g} Hz"
        )
    return sensor
