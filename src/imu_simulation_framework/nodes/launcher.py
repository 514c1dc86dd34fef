"""Runs experiment.launch from a program that reports how it ended."""

from __future__ import annotations

import argparse
import json
import os
import socket
import time
import urllib.parse
from contextlib import suppress

import rosgraph
import roslaunch
import roslaunch.parent
import roslaunch.pmon
from roslaunch.pmon import ProcessListener

from imu_simulation_framework.embedded_simulator.robot_parameters import load_robot_parameters
from imu_simulation_framework.errors import FrameworkError
from imu_simulation_framework.experiment.parts import describe_imu, make_terrain
from imu_simulation_framework.experiment.recording_check import ensure_plausible
from imu_simulation_framework.files.locations import package_share
from imu_simulation_framework.files.results import ResultFolder
from imu_simulation_framework.nodes.launch_arguments import check_arguments, load_launch_file
from imu_simulation_framework.nodes.settings import EXPERIMENT_PARAMETERS, node_configuration
from imu_simulation_framework.nodes.start import INTERRUPTED

LEADER = "path_follower"
RESULT_PARAMETER = "/experiment/result"
FAILURE_PARAMETER = f"/{EXPERIMENT_PARAMETERS}/failure"

GAZEBO_MASTER_URI = "http://localhost:11345"
"""Where Gazebo's master is unless the environment says otherwise."""

BYSTANDERS = (
    "rosout",
    "robot_state_publisher",
    "yaw_view",
    "yaw_multiplot",
    "path_view",
    "rviz",
    "gazebo_gui",
)
"""An experiment goes on without them: a person may close a window."""

VIEWS = ("yaw_view", "yaw_multiplot")
"""Windows that stay after a drive, until a person closes them; without a display there are none."""

SAVING_NODES = ("result_comparison", "experiment_recorder")
SAVING_TIMEOUT = 60.0
"""Wall-clock seconds that these nodes have to write what was recorded, once they are to end."""

ENDING_TIMEOUT = 10.0
"""Wall-clock seconds that any other node has to end, before it is made to."""


class _FirstEnd(ProcessListener):
    """Remembers the node that ended first; the others are ended because of it.

    When nobody did, the experiment was interrupted: roslaunch's signal handlers end it.
    """

    def __init__(self) -> None:
        self.node = None
        self.exit_code = None

    def process_died(self, process_name, exit_code):
        name = _node_name(process_name)
        if self.node is None and name not in BYSTANDERS:
            self.node, self.exit_code = name, exit_code


def _node_name(process_name) -> str:
    """roslaunch appends ``-<number>`` to the node's name."""
    return process_name.rsplit("-", 1)[0]


def main(arguments) -> int:
    """Run one experiment.

    Parameters
    ----------
    arguments : list of str
        Arguments of experiment.launch, each ``name:=value``.

    Returns
    -------
    int
        0 when the drive was driven to its end, 1 when a node failed, 130 when it was
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
    end = _FirstEnd()
    prefix, failure = _run(config, end)
    return _report(prefix, end, failure)


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


def _run(config, end):
    """Run roslaunch until a node ends.

    Returns
    -------
    prefix, failure : str or None
        Of the result, and the sentence of the node that failed.
    """
    parent = roslaunch.parent.ROSLaunchParent(
        roslaunch.rlutil.get_or_generate_uuid(None, False),
        [],
        show_summary=False,
        sigint_timeout=ENDING_TIMEOUT,
    )
    parent.config = config
    # Listened to from the beginning, since a node may end before all of them are started.
    parent.pm = roslaunch.pmon.start_process_monitor()
    parent.pm.add_process_listener(end)
    prefix = failure = None
    try:
        parent.start()
        for process in list(parent.pm.procs):
            # Its end is seen below; roslaunch would call it a death even after a success.
            process.required = False
            if _node_name(process.name) in SAVING_NODES:
                process.sigint_timeout = SAVING_TIMEOUT
        master = rosgraph.Master("/run_experiment")
        while parent.pm.mainthread_spin_once():
            prefix = prefix or _parameter(master, RESULT_PARAMETER)
            if end.node is not None:
                break
            time.sleep(0.1)
        prefix = prefix or _parameter(master, RESULT_PARAMETER)
        failure = _parameter(master, FAILURE_PARAMETER)
        if (end.node, end.exit_code) == (LEADER, 0):
            _wait_for_views(parent.pm)
    except roslaunch.RLException as error:
        # A node that ended, or an interruption, is the reason why the next cannot be started.
        if not parent.pm.is_shutdown:
            raise FrameworkError(f"roslaunch: {error}") from None
    finally:
        parent.shutdown()
    return prefix, failure


def _wait_for_views(monitor) -> None:
    """Keep the live view after a drive until a person closes it; everybody else ends."""

    def views():
        return [p.name for p in list(monitor.procs) if _node_name(p.name) in VIEWS]

    if not views():
        return
    # The simulator is among the first: it would soon miss the others.
    for process in list(monitor.procs):
        if process not in monitor.core_procs and _node_name(process.name) not in VIEWS:
            # Not watched any more, since its end is no death to be told in red.
            with suppress(ValueError):  # it has just ended by itself
                monitor.unregister(process)
            process.stop([])
    if views():
        print(
            "the drive is over and saved; the live view stays until its window is closed, or "
            "until Ctrl+C",
            flush=True,
        )
    while views() and monitor.mainthread_spin_once():
        time.sleep(0.1)


def _parameter(master, name):
    try:
        return master.getParam(name)
    except (rosgraph.MasterException, OSError):
        return None


def _report(prefix, end, failure) -> int:
    saved = False
    if prefix:
        folder = ResultFolder.from_prefix(prefix)
        saved = folder.path("summary.json").exists()
        if saved:
            # Imported late: it loads matplotlib, for which nobody should wait at the start.
            from imu_simulation_framework.experiment.report import terminal_table

            print(terminal_table(json.loads(folder.read_text("summary.json"))))
        print(f"results: {folder.folder}")
    if (end.node, end.exit_code) == (LEADER, 0):
        return 0
    if end.node is None:
        print("interrupted:", "what was recorded is saved" if saved else "nothing was recorded")
        return INTERRUPTED
    reason = f": {failure}" if failure else ""
    print(f"the experiment ended early: {end.node} ended with code {end.exit_code}{reason}")
    return 1
