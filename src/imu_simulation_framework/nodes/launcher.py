"""Runs experiment.launch from a program that reports how it ended."""

from __future__ import annotations

import argparse
import json
import os
import re
import time

import rosgraph
import roslaunch
import roslaunch.arg_dump
import roslaunch.parent
from roslaunch.pmon import ProcessListener

from imu_simulation_framework.errors import ConfigurationError, FrameworkError
from imu_simulation_framework.experiment.report import terminal_table
from imu_simulation_framework.files.locations import package_share
from imu_simulation_framework.files.results import ResultFolder

LEADER = "path_follower"
RESULT_PARAMETER = "/experiment/result"
ARGUMENT = re.compile(r"[A-Za-z_]\w*:=.*", re.DOTALL)
INTERRUPTED = 130


class _FirstEnd(ProcessListener):
    """Remembers the node that ended first; the others are ended because of it."""

    def __init__(self) -> None:
        self.node = None
        self.exit_code = None

    def process_died(self, process_name, exit_code):
        # roslaunch appends "-<number>" to the node's name.
        name = process_name.rsplit("-", 1)[0]
        if self.node is None and name not in ("rosout", "robot_state_publisher"):
            self.node, self.exit_code = name, exit_code


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
        An argument is unknown or malformed.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="The arguments are those of experiment.launch, name:=value."
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value")
    given = parser.parse_args(arguments).arguments
    launch_file = str(package_share() / "launch" / "experiment.launch")
    _check_arguments(launch_file, given)

    # Relative paths start where this program was called, see experiment.launch.
    os.environ["PWD"] = os.getcwd()
    listener = _FirstEnd()
    parent = roslaunch.parent.ROSLaunchParent(
        roslaunch.rlutil.get_or_generate_uuid(None, False),
        [(launch_file, [*given, "table:=false"])],
        process_listeners=[listener],
        show_summary=False,
    )
    prefix = _run(parent, listener)
    return _report(prefix, listener)


def _check_arguments(launch_file, given) -> None:
    known = roslaunch.arg_dump.get_args([launch_file])
    for argument in given:
        name = argument.split(":=")[0]
        if not ARGUMENT.fullmatch(argument) or name not in known:
            raise ConfigurationError(
                f"{argument}: expected name:=value with one of {', '.join(sorted(known))}"
            )


def _run(parent, listener):
    """Run roslaunch until a node ends; return the result's prefix, None without one."""
    prefix = None
    try:
        parent.start()
        master = rosgraph.Master("/run_experiment")
        while parent.pm.mainthread_spin_once():
            prefix = prefix or _result_prefix(master)
            if listener.node is not None:
                break
            time.sleep(0.1)
        prefix = prefix or _result_prefix(master)
    except roslaunch.RLException as error:
        raise FrameworkError(f"roslaunch: {error}") from None
    finally:
        parent.shutdown()
    return prefix


def _result_prefix(master):
    try:
        return master.getParam(RESULT_PARAMETER)
    except (rosgraph.MasterException, OSError):
        return None


def _report(prefix, listener) -> int:
    if prefix:
        folder = ResultFolder.from_prefix(prefix)
        if folder.path("summary.json").exists():
            print(terminal_table(json.loads(folder.read_text("summary.json"))))
        print(f"results: {folder.folder}")
    if listener.node is None:
        print("interrupted: what was recorded until then is saved")
        return INTERRUPTED
    if (listener.node, listener.exit_code) == (LEADER, 0):
        return 0
    print(f"the experiment ended early: {listener.node} ended with code {listener.exit_code}")
    return 1
