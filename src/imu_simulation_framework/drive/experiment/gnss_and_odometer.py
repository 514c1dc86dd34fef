"""GNSS receiver and odometer of an experiment."""

from __future__ import annotations

from typing import Callable, TypeVar, Union

from ...core.errors import ConfigurationError, prefix_errors
from ...sensors.gnss.specification import GnssSpecification, read_gnss_specification
from ...sensors.odometer import OdometerSpecification, read_odometer
from ..configuration import Configuration

Sensor = TypeVar("Sensor", bound=Union[GnssSpecification, OdometerSpecification])


def experiment_gnss(configuration: Configuration) -> GnssSpecification | None:
    """Return the GNSS receiver configured in section ``[gnss]``.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    GnssSpecification or None
        None if no receiver is configured.

    Raises
    ------
    ConfigurationError
        The receiver file is invalid, or its rate exceeds the rate of the IMU.
    """
    file = configuration.gnss.file
    if not file:
        return None
    return _read_sensor("gnss", file, read_gnss_specification, configuration.imu.rate)


def experiment_odometer(configuration: Configuration) -> OdometerSpecification | None:
    """Return the odometer configured in section ``[odometer]``.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    OdometerSpecification or None
        None if no odometer is configured.

    Raises
    ------
    ConfigurationError
        The odometer file is invalid, its rate exceeds the rate of the IMU, or the simulator is not
        MuJoCo.
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
    # The robot state is available only at the IMU rate; the factor allows for rounding errors.
    if sensor.rate > max_rate * (1.0 + 1e-6):
        raise ConfigurationError(
            f"[{section}] file: {file} has a rate of {sensor.rate:g} Hz, which must "
            f"not be above [imu] rate, {max_rate:g} Hz"
        )
    return sensor
