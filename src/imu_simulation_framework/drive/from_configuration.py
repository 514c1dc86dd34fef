"""From a configuration to what runs in an experiment: the follower and the IMU's error model."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import ConfigurationError, prefix_errors
from ..core.units import WORLD_GRAVITY
from ..motion.drives import Terrain
from ..motion.earth import EARTH_RATE
from ..sensors import errors_in_motion
from ..sensors.gnss.specification import GnssSpecification, read_gnss_specification
from ..sensors.imu_models import plugins
from ..sensors.imu_models.base import ImuTruth
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import MagneticEnvironment, read_magnetic_environment, turned
from ..sensors.odometer import OdometerSpecification, read_odometer
from .configuration import PUBLISHED, Configuration
from .robots.parameters import RobotParameters
from .tracking.controllers import Follower, Reference, make_controller
from .turning import load_robot_parameters

if TYPE_CHECKING:
    from ..sensors.formats.registry import NamedImu

UNDISTURBED = "clean"  # the bundled magnetic environment that has nothing but Earth's field

SPECIFICATION = "specification"
"""The IMU model of a specification, which a simulator with plug-ins of its own cannot apply."""


class PublishedImu(plugins.IdealImu):
    """That of an external robot, to which nothing is added; it is as good as it is."""

    label = PUBLISHED


def experiment_robot(configuration: Configuration) -> RobotParameters:
    """Return the robot of section robot, as it turns in the experiment's simulator."""
    return load_robot_parameters(
        configuration.robot.parameters or None, configuration.simulation.simulator
    )


def refuse_what_has_no_effect(configuration: Configuration) -> None:
    """Refuse settings of a simulator's world for a robot that somebody else simulates.

    Raises ConfigurationError.
    """
    if configuration.simulation.simulator != "external":
        return
    set_in_vain = {
        "[terrain] kind": configuration.terrain.kind != "flat",
        "[simulation] real_time_factor": configuration.simulation.real_time_factor != 0.0,
        "[simulation] gravity": configuration.simulation.gravity != WORLD_GRAVITY,
    }
    for key, is_set in set_in_vain.items():
        if is_set:
            raise ConfigurationError(
                f"{key} has no effect with [simulation] simulator = external: the robot drives in "
                "a world of its own"
            )


def make_follower(configuration: Configuration, reference: Reference) -> Follower:
    """Return what commands the robot along a reference, as section control says.

    ``reference``: with velocities.
    """
    control, period = configuration.control, 1.0 / configuration.control.rate
    robot = experiment_robot(configuration)
    controller = make_controller(control.controller, control, period, robot)
    return Follower(reference, controller, period, robot.drivetrain)


def make_terrain(configuration: Configuration) -> Terrain | None:
    """Return the bumps of section terrain; None on level ground."""
    return None if configuration.terrain.kind == "flat" else configuration.terrain


def make_magnetic_environment(configuration: Configuration) -> MagneticEnvironment | None:
    """Return what the simulated IMU's magnetometer is in; None where it measures no field.

    Raises ConfigurationError: the environment cannot be read, or its place and date are none of the
    model's.
    """
    section = configuration.magnetic_environment
    name = section.file
    if not name:
        _, parameters = imu_model_and_parameters(configuration)
        specification = parameters.get("specification")
        if specification is None or specification.magnetometer is None:
            return None
        name = UNDISTURBED
    with prefix_errors("[magnetic_environment] file: "):
        environment = read_magnetic_environment(name)
    given = {key: getattr(section, key) for key in ("latitude", "longitude", "height", "date")}
    given = {key: value for key, value in given.items() if value not in (None, "")}
    if not given:
        return environment
    if environment.earth is not None:
        raise ConfigurationError(
            f"[magnetic_environment] {next(iter(given))} has no effect, as {name} states Earth's "
            "field as it was measured"
        )
    with prefix_errors("[magnetic_environment] "):
        place = dataclasses.replace(environment.place, **given)
    return dataclasses.replace(environment, place=place)


def measures_magnetic_field(configuration: Configuration) -> bool:
    """Return whether the simulated IMU has a magnetometer, and a field to measure."""
    if make_magnetic_environment(configuration) is None:
        return False
    return make_experiment_imu(configuration).has_magnetometer


def experiment_gnss(configuration: Configuration) -> GnssSpecification | None:
    """Return the receiver of section gnss; None where there is none.

    Raises ConfigurationError: there is no such receiver, or it is faster than the robot's state is
    known.
    """
    if not configuration.gnss.file:
        return None
    return _sensor_on_robot(configuration, "gnss", read_gnss_specification)


def experiment_odometer(configuration: Configuration) -> OdometerSpecification | None:
    """Return the odometer of section odometer; None where there is none.

    Raises ConfigurationError: its file cannot be used, it is faster than the robot's state is
    known, or another simulator than MuJoCo is to have it.
    """
    if not configuration.odometer.file:
        return None
    simulator = configuration.simulation.simulator
    if simulator != "mujoco":
        raise ConfigurationError(
            f"[odometer] file is {configuration.odometer.file}, expected none with [simulation] "
            f"simulator = {simulator}: only the robot in MuJoCo has an odometer"
        )
    return _sensor_on_robot(configuration, "odometer", read_odometer)


def _sensor_on_robot(configuration, section, read):
    file = getattr(configuration, section).file
    with prefix_errors(f"[{section}] file: "):
        sensor = read(file)
    if sensor.rate > configuration.imu.rate * (1.0 + 1e-6):
        raise ConfigurationError(
            f"[{section}] file: {file} has a rate of {sensor.rate:g} Hz, which must "
            f"not be above [imu] rate, {configuration.imu.rate:g} Hz"
        )
    return sensor


def ensure_all_can_be_made(configuration: Configuration) -> None:
    """Make sure of IMU, sensors, ground and robot before anything starts, instead of in every node.

    Raises ConfigurationError.
    """
    for make in (
        *(refuse_what_has_no_effect, describe_imu, make_terrain, make_magnetic_environment),
        *(experiment_gnss, experiment_odometer, experiment_robot),
    ):
        make(configuration)


def samples_per_tick(configuration: Configuration) -> int:
    """Return how many samples of the IMU a control period has.

    Raises ConfigurationError: that is not a whole number.
    """
    sample_rate, control_rate = configuration.imu.rate, configuration.control.rate
    ratio = sample_rate / control_rate
    if abs(ratio - round(ratio)) > 1e-9 or ratio < 1.0:
        raise ConfigurationError(
            "[imu] rate must be a multiple of [control] rate in lock-step, "
            f"got {sample_rate:g} and {control_rate:g} Hz"
        )
    return round(ratio)


def imu_model_and_parameters(configuration: Configuration):
    """Return the IMU model's name (or its preset's) and the parameters given for it.

    Raises ConfigurationError: the specification cannot be read, or the model does not go with a
    latitude. Returns ``name``; ``parameters`` (dict).
    """
    name, latitude = configuration.imu.model, configuration.simulation.latitude
    external = configuration.simulation.simulator == "external"
    if name != SPECIFICATION and external != (name == PUBLISHED):
        raise ConfigurationError(
            f"[imu] model is {name}, but with [simulation] simulator = external the IMU is the "
            f"robot's own; expected {PUBLISHED}, or {SPECIFICATION} for errors added to it"
            if external
            else f"[imu] model {PUBLISHED} is that of a robot of [simulation] simulator = external"
        )
    if latitude is not None and name != SPECIFICATION:
        raise ConfigurationError(
            f"[simulation] latitude has no effect on the IMU model {name}: plug-ins know no "
            f"turning Earth, only the model {SPECIFICATION} feels it"
        )
    if name == SPECIFICATION:
        specification, operation = _specified(configuration).errors, configuration.operation
        given = {"specification": specification, "operation": operation, "latitude": latitude}
        return name, given
    if name == PUBLISHED:
        return name, {}
    return name, dict(configuration.imu_parameters.get(plugins.PRESETS[name].model, {}))


def _specified(configuration) -> NamedImu:
    # Imported here, since it knows the formats of all other tools.
    from ..sensors.formats.registry import named_imu

    file = configuration.imu_specification.file
    chosen = named_imu(file)
    if not isinstance(chosen.errors, ImuSpecification):
        raise ConfigurationError(
            f"[imu_specification] file is {file}, the parameters of a plug-in: say imu:={file}"
        )
    return chosen


def make_experiment_imu(configuration: Configuration):
    """Return the simulated IMU's error model, its random numbers from the experiment's seed."""
    name, parameters = imu_model_and_parameters(configuration)
    period, seed = 1.0 / configuration.imu.rate, configuration.experiment.seed
    if name == PUBLISHED:
        return PublishedImu(plugins.IdealParameters(), period, seed)
    return plugins.make_imu_model(name, parameters, period, seed)


def with_earth_turning(truth: ImuTruth, latitude: float | None) -> ImuTruth:
    """Return what an IMU feels in a flat world, with the Earth's turning where a latitude is known.

    ``truth``: of one sample or of n, x of the world to the east, y to the north; ``latitude``
    [deg]; None where the Earth does not turn.
    """
    if latitude is None:
        return truth
    angle = math.radians(latitude)
    axis = EARTH_RATE * np.array([0.0, math.cos(angle), math.sin(angle)])
    rate = truth.angular_velocity
    to_body = np.reshape(truth.orientation, (-1, 4)) * (-1.0, -1.0, -1.0, 1.0)
    return truth._replace(angular_velocity=rate + turned(to_body, axis).reshape(rate.shape))


def published_samples(configuration: Configuration) -> tuple[float, float]:
    """Return the rate of the IMU's messages [Hz] and the time of the first one [s], simulated."""
    model = make_experiment_imu(configuration)
    rate = configuration.imu.rate
    if model.drop_repeated:
        # No sensor measures more often than there are samples of the truth.
        rate = min(model.parameters.specification.output.rate, rate)
    return rate, model.first_sample_time


def imu_remarks(configuration: Configuration) -> list[str]:
    """Return where the numbers of the simulated IMU mislead on a moving robot, in sentences."""
    _, parameters = imu_model_and_parameters(configuration)
    specification = parameters.get("specification")
    if specification is None:
        return []
    in_motion = errors_in_motion.understated_in_motion(specification)
    remarks = [*_specified(configuration).remarks, in_motion]
    zeroed = configuration.operation.standstill > 0.0  # which takes it off
    gyroscope = specification.gyroscope
    if zeroed and any((*gyroscope.turn_on_bias, *gyroscope.turn_on_bias_sigma)):
        remarks.append(
            "the gyroscope's bias at switching on is measured at the standstill of "
            f"{configuration.operation.standstill:g} s, [operation] standstill, and removed"
        )
    if configuration.simulation.latitude is None and not zeroed:
        remarks.append(errors_in_motion.without_earth_turning(specification))
    return [sentence for sentence in remarks if sentence is not None]


def describe_imu(configuration: Configuration) -> dict:
    """Return the IMU model's name, its label and all its parameters, for the summary."""
    imu = make_experiment_imu(configuration)
    parameters = dataclasses.asdict(imu.parameters)
    return {"model": configuration.imu.model, "label": imu.label, "parameters": parameters}


def imu_label(configuration: Configuration) -> str:
    """Return the name of the IMU model and its parameters, for the results' folder."""
    return make_experiment_imu(configuration).label
