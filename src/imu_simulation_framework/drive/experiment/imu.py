"""Simulated IMU of an experiment: error model, sampling times, label and remarks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.errors import ConfigurationError
from ...sensors import errors_in_motion
from ...sensors.imu_models import plugins
from ...sensors.imu_models.base import ImuModel
from ...sensors.imu_specification import ImuSpecification
from ..configuration import PUBLISHED, Configuration

if TYPE_CHECKING:
    from ...sensors.formats.registry import NamedImu

SPECIFICATION = "specification"
"""IMU model defined by a specification, which the IMU plug-ins of a simulator cannot apply."""


class PublishedImu(plugins.IdealImu):
    """IMU published by an external robot, to which no errors are added."""

    label = PUBLISHED


class ExperimentImuModel(NamedTuple):
    """Configured IMU model.

    Parameters
    ----------
    name : str
        Name of the model or preset.
    parameters : dict
        Parameters that differ from the model's defaults.
    """

    name: str
    parameters: dict[str, Any]


def experiment_imu_model(configuration: Configuration) -> ExperimentImuModel:
    """Return the IMU model configured in section ``[imu]`` and its parameters.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    ExperimentImuModel

    Raises
    ------
    ConfigurationError
        The specification cannot be read, or the model does not support the simulator or the
        latitude.
    """
    name, latitude = configuration.imu.model, configuration.simulation.latitude
    external = configuration.simulation.simulator == "external"
    if name != SPECIFICATION and external != (name == PUBLISHED):
        raise ConfigurationError(
            f"[imu] model is {name}, but with [simulation] simulator = external the IMU is the "
            f"robot's own; expected {PUBLISHED}, or {SPECIFICATION} for errors added to it"
            if external
            else f"[imu] model is {PUBLISHED}, which requires [simulation] simulator = external"
        )
    if latitude is not None and name != SPECIFICATION:
        raise ConfigurationError(
            f"[simulation] latitude has no effect on the IMU model {name}: plug-ins do not model "
            f"the Earth's rotation; the model {SPECIFICATION} does"
        )
    if name == SPECIFICATION:
        parameters = {
            "specification": _named_specification(configuration).errors,
            "operation": configuration.operation,
            "latitude": latitude,
        }
        return ExperimentImuModel(name, parameters)
    if name == PUBLISHED:
        return ExperimentImuModel(name, {})
    model = plugins.PRESETS[name].model
    return ExperimentImuModel(name, dict(configuration.imu_parameters.get(model, {})))


def _named_specification(configuration: Configuration) -> NamedImu:
    # This import is slow, because it loads the formats of all other tools.
    from ...sensors.formats.registry import named_imu

    file = configuration.imu_specification.file
    imu = named_imu(file)
    if not isinstance(imu.errors, ImuSpecification):
        raise ConfigurationError(
            f"[imu_specification] file is {file}, which has the parameters of a plug-in; "
            f"set imu:={file}"
        )
    return imu


def make_experiment_imu(configuration: Configuration) -> ImuModel:
    """Create the error model of the simulated IMU, with a seed derived from the experiment's seed.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    ImuModel

    Raises
    ------
    ConfigurationError
        See :func:`experiment_imu_model`.
    """
    name, parameters = experiment_imu_model(configuration)
    period, seed = 1.0 / configuration.imu.rate, configuration.experiment.seed
    if name == PUBLISHED:
        return PublishedImu(plugins.IdealParameters(), period, seed)
    return plugins.make_imu_model(name, parameters, period, seed)


class ImuSampling(NamedTuple):
    """Message rate of the simulated IMU, and time of its first message.

    Parameters
    ----------
    rate : float
        Messages per second of simulated time [Hz].
    first_time : float
        Simulated time of the first message [s].
    """

    rate: float
    first_time: float


def imu_sampling(configuration: Configuration) -> ImuSampling:
    """Return the message rate of the simulated IMU, and the time of its first message.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    ImuSampling
        Rate [Hz] and time [s].
    """
    model: Any = make_experiment_imu(configuration)
    rate = configuration.imu.rate
    if model.drop_repeated:
        # The sampling rate of a sensor cannot exceed that of the true motion.
        rate = min(model.parameters.specification.output.rate, rate)
    return ImuSampling(rate, model.first_sample_time)


def imu_remarks(configuration: Configuration) -> list[str]:
    """Return remarks on the IMU parameters, such as missing errors that matter during motion.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    list of str
        Remarks as messages.
    """
    specification = experiment_imu_model(configuration).parameters.get("specification")
    if specification is None:
        return []
    understated = errors_in_motion.remark_on_motion_errors(specification)
    remarks = [*_named_specification(configuration).remarks, understated]
    # During the standstill before the drive, the gyroscope bias is estimated and removed.
    standstill = configuration.operation.standstill
    gyroscope = specification.gyroscope
    if standstill > 0.0 and any((*gyroscope.turn_on_bias, *gyroscope.turn_on_bias_sigma)):
        remarks.append(
            "the gyroscope's turn-on bias is measured during the standstill of "
            f"{standstill:g} s, [operation] standstill, and removed"
        )
    if configuration.simulation.latitude is None and standstill <= 0.0:
        remarks.append(errors_in_motion.remark_on_earth_rate(specification))
    return [sentence for sentence in remarks if sentence is not None]


def describe_imu(configuration: Configuration) -> dict[str, Any]:
    """Describe the IMU model for the summary.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    dict of str to object
        Name, label and all parameters of the model.
    """
    imu: Any = make_experiment_imu(configuration)
    parameters = dataclasses.asdict(imu.parameters)
    return {"model": configuration.imu.model, "label": imu.label, "parameters": parameters}


def imu_label(configuration: Configuration) -> str:
    """Return the label of the IMU model for the result path.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    str
        Model and parameters.
    """
    return make_experiment_imu(configuration).label
