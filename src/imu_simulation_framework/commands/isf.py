"""Program ``isf NAME ...``, which runs each program that does not need ROS.

The files in ``offline_processing/`` run the same programs from the repository.
"""

from __future__ import annotations

import difflib
import sys

import imu_simulation_framework

from ..core.errors import ConfigurationError
from ..core.programs import run_tool
from .start import run_program

JOBS = {
    "Heading drift of a planned robot": {
        "explore": "shows the drift on a web page with sliders for all parameters",
        "which_imu": "ranks the bundled IMUs against a requirement",
        "heading_budget": "computes percentiles of the drift and the shares of error sources",
        "position_budget": "computes the position error of dead reckoning and its sources",
        "monte_carlo": "estimates percentiles from thousands of random realisations",
        "imu_catalogue": "lists the bundled IMUs with their drift after ten minutes",
    },
    "Recorded drives compared with a simulated IMU": {
        "check_recording": "checks a recording and suggests settings",
        "generate_drive": "generates the bundled drives and variants of them",
        "tune_tracking": "optimises a robot's controller gains for a drive",
        "generate_world": "generates a Gazebo world with level or uneven ground",
    },
    "Results": {
        "report": "writes a report of a result as a single web page",
        "plot_multiple_errors": "plots and tabulates the yaw errors of several results",
        "compare_yaw": "compares yaws in bags, CSV files and results",
        "offline_result_comparison": "regenerates figures and tables of an experiment",
        "export_tum": "exports trajectories for evo",
        "reproduce_thesis": "reproduces the figures of the thesis",
    },
    "Validation of models": {
        "identify_yaw_error": "identifies a yaw error model from recorded drives",
        "identify_odometer": "identifies the errors of wheel odometry",
        "judge_imu": "tests whether a model explains a recorded error",
        "compare_plugins": "compares Gazebo's IMU plug-ins with their emulations",
    },
    "Parameters of a sensor": {
        "allan_analysis": "identifies noise and drift from static recordings",
        "calibrate_imu": "estimates bias, scale factor, misalignment, hard/soft iron",
        "convert_imu_parameters": "converts between formats of simulators and tools",
        "simulate_static": "simulates a static recording",
    },
    "Errors for the IMU of another simulator, and aircraft": {
        "apply_imu_errors": "adds the errors of an IMU to a bag's ideal IMU",
        "validate_imu": "compares an IMU with ground truth and checks limits",
        "simulate_flight": "simulates an IMU on an aircraft or on its gimbal",
    },
}
"""Programs and their descriptions, grouped by task."""

PROGRAMS = [name for programs in JOBS.values() for name in programs]

_COMPLETION = {
    "bash": "complete -o default -W '{names}' isf",
    "zsh": 'compdef \'_arguments "1:program:({names})" "*::file:_files"\' isf',
    "fish": "complete -c isf -n __fish_use_subcommand -a '{names}'",
}


def usage() -> str:
    """Return the list of programs, grouped by task.

    Returns
    -------
    str
        Text for the terminal.
    """
    lines = [
        "usage: isf NAME ...            runs a program; isf NAME --help lists its options",
        "       isf --completion SHELL  prints the completion script for bash, zsh or fish",
        "       isf --version",
    ]
    for job, programs in JOBS.items():
        lines += ["", job, *(f"  {name:27} {text}" for name, text in programs.items())]
    return "\n".join([*lines, "", "run_experiment.py runs an experiment with ROS nodes."])


def main(arguments) -> int | None:
    """Run the program that the first argument names.

    Parameters
    ----------
    arguments : list of str
        Name of the program and its arguments.

    Returns
    -------
    int or None
        Exit code; None for 0.

    Raises
    ------
    ConfigurationError
        The program or the shell of ``--completion`` is unknown.
    """
    name, *others = arguments or ["--help"]
    if name in ("-h", "--help"):
        print(usage())
        return 0
    if name == "--version":
        print(f"isf {imu_simulation_framework.__version__}")
        return 0
    if name == "--completion":
        shell = others[0] if others else "missing"
        if shell not in _COMPLETION:
            raise ConfigurationError(f"--completion is {shell}, expected bash, zsh or fish")
        print(_COMPLETION[shell].format(names=" ".join(PROGRAMS)))
        return 0
    program = (name[:-3] if name.endswith(".py") else name).replace("-", "_")
    if program not in PROGRAMS:
        near = difflib.get_close_matches(program, PROGRAMS, 1)
        hint = f"did you mean {near[0]}?" if near else "list all programs with isf --help"
        raise ConfigurationError(f"'{name}' is not the name of a program; {hint}")
    sys.argv = [f"isf {program}", *others]
    return run_program(program, others)


def run() -> None:
    """Run the command line of the entry point ``isf`` and exit."""
    sys.exit(run_tool(main))
