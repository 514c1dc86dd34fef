"""Runs experiment.launch from a program that reports how it ended."""

from __future__ import annotations

import argparse
import os
import socket
import urllib.parse

import roslaunch

from imu_simulation_framework.embedded_simulator.robot_parameters import load_robot_parameters
from imu_simulation_framework.errors import FrameworkError
from imu_simulation_framework.experiment.parts import describe_imu, make_terrain
from imu_simulation_framework.experiment.recording_check import ensure_plausible
from imu_simulation_framework.files.locations import package_share
from imu_simulation_framework.nodes.launch_arguments import check_arguments, load_launch_file
from imu_simulation_framework.nodes.settings import EXPERIMENT_PARAMETERS, node_configuration
from imu_simulation_framework.nodes.supervision import report, run

GAZEBO_MASTER_URI = "http://localhost:11345"
"""Where Gazebo's master is unless the environment says otherwise."""


def main(arguments) -> int:
    """Run one experiment.

    Parameters
    ----------
    arguments : list of str
        Arguments of experiment.launch, each ``name:=value``.

    Returns
    -------
    int
        0 when the drive was recorded to its end, 1 when it was not, 130 when it was
        interrupted; whatever was recorded is saved in each case.

    Raises
    ------
    ConfigurationError
        An argument or a setting is unknown, malformed or out of range; nothing was started.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="The arguments are those of experiment.launch, name:=value."
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value")
    given = parser.parse_args(arguments).arguments
    launch_file = str(package_share() / "launch" / "experiment.launch")
    check_arguments(launch_file, given)

    if "simulator:=gazebo" in given:
        _check_that_no_gazebo_runs()
    try:
        config, configuration = _load(launch_file, [*given, "table:=false"])
    except roslaunch.RLException as error:
        raise FrameworkError(f"roslaunch: {error}") from None
    # What cannot be driven, or gives no answer, is said before anything is started.
    ensure_plausible(configuration)
    return report(run(config, configuration.simulation.command_timeout))


def _check_that_no_gazebo_runs() -> None:
    """A second gzserver would end at once, with a code but without a sentence."""
    uri = os.environ.get("GAZEBO_MASTER_URI") or GAZEBO_MASTER_URI
    place = urllib.parse.urlsplit(uri)
    try:
        socket.create_connection((place.hostname, place.port), timeout=1.0).close()
    except (OSError, ValueError):
        return
    raise FrameworkError(
        f"a gzserver is running already at {uri}: end it, or set GAZEBO_MASTER_URI to another port"
    )


def _load(launch_file, arguments):
    """Load the launch file, and check the settings in it once instead of in every node."""
    config = load_launch_file(launch_file, arguments)
    experiment = {}
    beginning = f"/{EXPERIMENT_PARAMETERS}/"
    for name, parameter in config.params.items():
        if name.startswith(beginning):
            *groups, key = name[len(beginning) :].split("/")
            target = experiment
            for group in groups:
                target = target.setdefault(group, {})
            target[key] = parameter.value
    configuration = node_configuration("run_experiment", experiment, {})
    # Makes sure of the parameters of IMU, ground and robot, too.
    describe_imu(configuration)
    make_terrain(configuration)
    load_robot_parameters(configuration.robot.parameters or None)
    return config, configuration
