"""The simulated IMU of an experiment: its error model, sampling, label and remarks."""

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
"""The IMU model of a specification, which a simulator with plug-ins of its own cannot apply."""


class PublishedImu(plugins.IdealImu):
    """IMU that an external robot publishes; the model adds no errors to it."""

    label = PUBLISHED


class ExperimentImuModel(NamedTuple):
    """The configured IMU model.

    Parameters
    ----------
    name : str
        Name of the model or of its preset.
    parameters : dict
        Parameters that differ from the model's defaults.
    """

    name: str
    parameters: dict[str, Any]


def experiment_imu_model(configuration: Configuration) -> ExperimentImuModel:
    """Return the IMU model of section ``[imu]`` and its configured parameters.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.

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
            f"the Earth's rotation, only the model {SPECIFICATION} does"
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
    # Imported here, since it loads the formats of all other tools.
    from ...sensors.formats.registry import named_imu

    file = configuration.imu_specification.file
    imu = named_imu(file)
    if not isinstance(imu.errors, ImuSpecification):
        raise ConfigurationError(
            f"[imu_specification] file is {file}, the parameters of a plug-in; set imu:={file}"
        )
    return imu


def make_experiment_imu(configuration: Configuration) -> ImuModel:
    """Make the simulated IMU's error model, seeded by the experiment.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.

    Returns
    -------
    ImuModel

    Raises
    ------
    ConfigurationError
        As for :func:`experiment_imu_model`.
    """
    name, parameters = experiment_imu_model(configuration)
    period, seed = 1.0 / configuration.imu.rate, configuration.experiment.seed
    if name == PUBLISHED:
        return PublishedImu(plugins.IdealParameters(), period, seed)
    return plugins.make_imu_model(name, parameters, period, seed)


class ImuSampling(NamedTuple):
    """Times of the simulated IMU's messages.

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
    """Return the rate and the first time of the simulated IMU's messages.

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
        # No sensor measures more often than there are samples of the truth.
        rate = min(model.parameters.specification.output.rate, rate)
    return ImuSampling(rate, model.first_sample_time)


def imu_remarks(configuration: Configuration) -> list[str]:
    """Return remarks on parameters of the simulated IMU that mislead on a moving robot.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    list of str
        Sentences.
    """
    specification = experiment_imu_model(configuration).parameters.get("specification")
    if specification is None:
        return []
    understated = errors_in_motion.remark_on_motion_errors(specification)
    remarks = [*_named_specification(configuration).remarks, understated]
    # A standstill before the drive estimates the gyroscope's bias and removes it.
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
    """Describe the model of the simulated IMU for the summary.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    dict of str to object
        Name of the model, its label and all its parameters.
    """
    imu: Any = make_experiment_imu(configuration)
    parameters = dataclasses.asdict(imu.parameters)
    return {"model": configuration.imu.model, "label": imu.label, "parameters": parameters}


def imu_label(configuration: Configuration) -> str:
    """Return the label of the IMU model for the folder of the results.

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
