"""Runs experiment.launch from a program that reports how it ended."""

from __future__ import annotations

import argparse

import roslaunch

from imu_simulation_framework.commands.command_line import ArgumentParser
from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.drive.from_configuration import (
    describe_imu,
    experiment_gnss,
    make_magnetic_environment,
    make_terrain,
)
from imu_simulation_framework.drive.robot import load_robot_parameters, robot_description
from imu_simulation_framework.ros1.apart import PREPARATION, Apart
from imu_simulation_framework.ros1.launching.installation import (
    check_environment,
    check_installation,
)
from imu_simulation_framework.ros1.launching.launch_arguments import (
    argument_help,
    check_arguments,
    experiment_parameters,
    load_launch_file,
)
from imu_simulation_framework.ros1.launching.supervision import report, run
from imu_simulation_framework.ros1.node import node_configuration
from imu_simulation_framework.ros1.simulators.gazebo_server import ensure_no_gazebo_runs

ROBOT_DESCRIPTION = "/robot_description"
"""The parameter from which robot_state_publisher and rviz know the robot."""


def main(arguments) -> int:
    """Run one experiment.

    Raises FrameworkError: an argument or a setting is unknown, malformed or out of range, the
    recording cannot be used, or something is missing on this machine; nothing was started.

    Parameters
    ----------
    arguments : list of str
        Arguments of experiment.launch, each ``name:=value``, and options.

    Returns
    -------
    int
        0 when the drive was recorded to its end, 1 when it was not, 130 when it was
        interrupted; whatever was recorded is saved in each case.
    """
    launch_file = str(package_share() / "launch" / "experiment.launch")
    parser = ArgumentParser(
        description="Run experiment.launch; print the result and exit with a code that tells of "
        "it: 0 after the whole drive, 1 after a failure, 2 when nothing was started, 130 after "
        "Ctrl+C.",
        epilog=argument_help(launch_file),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="see below")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print what roslaunch and the nodes say, not only warnings and the result",
    )
    options = parser.parse_intermixed_args(arguments)
    given = options.arguments
    values = check_arguments(launch_file, given)
    check_environment()
    configuration = node_configuration(
        "run_experiment", experiment_parameters(launch_file, values), {}
    )
    # What config.ini says of it decides, too: which nodes there are follows from one resolved
    # configuration.
    simulator = configuration.simulation.simulator
    values.update(simulator=simulator, imu=configuration.imu.model)
    if simulator == "gazebo":
        ensure_no_gazebo_runs()
    check_installation(values)
    _check_parts(configuration)
    try:
        config = load_launch_file(launch_file, [*given, f"simulator:={simulator}", "table:=false"])
    except roslaunch.RLException as error:
        raise FrameworkError(f"roslaunch: {error}") from None
    # tf and rviz show the robot that drives; a launch file knows the bundled one only.
    robot = load_robot_parameters(configuration.robot.parameters or None)
    config.params[ROBOT_DESCRIPTION].value = robot_description(robot)
    # What cannot be driven, or gives no answer, is said before anything is started.
    with Apart(*PREPARATION) as preparation:
        preparation.call("check", configuration)
    return report(run(config, configuration.simulation.command_timeout, options.verbose))


def _check_parts(configuration) -> None:
    """Make sure of IMU, receiver, ground and robot once, instead of in every node."""
    describe_imu(configuration)
    make_terrain(configuration)
    make_magnetic_environment(configuration)
    experiment_gnss(configuration)
    load_robot_parameters(configuration.robot.parameters or None)
