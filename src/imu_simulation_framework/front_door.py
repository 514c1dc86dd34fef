"""What the front door offers that takes a sensor: also by its bundled name, or from its file."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, TypeVar, cast

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.flight.gimbal import simulation as gimbals
from imu_simulation_framework.flight.gimbal.files import read_gimbal
from imu_simulation_framework.flight.navigation import runs as navigation
from imu_simulation_framework.heading.model import of_imu as yaw_error_models
from imu_simulation_framework.sensors import simulation as imus
from imu_simulation_framework.sensors.files import (
    find_imu_specification,
    read_gnss_specification,
    read_imu_specification,
    read_magnetic_environment,
)
from imu_simulation_framework.sensors.formats import registry
from imu_simulation_framework.sensors.gnss import earth_fixes
from imu_simulation_framework.sensors.gnss import receiver as gnss
from imu_simulation_framework.sensors.imu_models.registry import IMU_MODELS, PRESETS

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _imu(name):
    """Return the errors of an IMU model, ``ideal`` or ``hector_slow``, or of a bundled IMU."""
    preset = PRESETS.get(str(name))
    if preset is not None:
        return IMU_MODELS[preset.model].parameters(**preset.parameters)
    try:
        path = find_imu_specification(name)
    except ConfigurationError as error:
        models = ", ".join(sorted(PRESETS))
        raise ConfigurationError(f"{str(error).rstrip('.')}, and the models {models}.") from None
    return read_imu_specification(path)


def _by_name(function: _Function, **readers: Callable[[Any], Any]) -> _Function:
    """Return the function, with a name or path read where one is given for these parameters."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def named(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        for parameter, read in readers.items():
            value = given.arguments.get(parameter)
            if isinstance(value, (str, os.PathLike)):
                given.arguments[parameter] = read(value)
            elif isinstance(value, (list, tuple)):
                given.arguments[parameter] = [
                    read(one) if isinstance(one, (str, os.PathLike)) else one for one in value
                ]
        return function(*given.args, **given.kwargs)

    # What is pickled is found again under this name.
    named.__module__ = __name__
    return cast(_Function, named)


simulate_imu = _by_name(imus.simulate_imu, imu=_imu, magnetic_environment=read_magnetic_environment)
simulate_gimbal = _by_name(gimbals.simulate_gimbal, gimbal=read_gimbal, imu=_imu)
simulate_gnss = _by_name(gnss.simulate_gnss, gnss=read_gnss_specification)
simulate_earth_fixes = _by_name(earth_fixes.simulate_earth_fixes, gnss=read_gnss_specification)
navigate_runs = _by_name(
    navigation.navigate_runs, imus=read_imu_specification, gnss=read_gnss_specification
)
yaw_error_model = _by_name(
    yaw_error_models.yaw_error_model, imu=_imu, magnetic_environment=read_magnetic_environment
)
write_imu_parameters = _by_name(registry.write_imu_parameters, values=read_imu_specification)
