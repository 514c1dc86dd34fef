"""``isf NAME ...``: all programs that need no ROS, by one name.

The files in ``offline_processing/`` are the same programs, for those who have the repository.
"""

from __future__ import annotations

import difflib
import importlib
import sys

import imu_simulation_framework

from ..core.errors import ConfigurationError
from ..core.programs import run_tool

JOBS = {
    "How far will a heading have drifted?": {
        "explore": "a page in the browser with sliders for all of it",
        "which_imu": "which of the bundled IMUs is good enough",
        "heading_budget": "how far, how probably, and what it comes from",
        "monte_carlo": "the same, counted in thousands of runs drawn at random",
        "imu_catalogue": "the bundled IMUs: parameters and drift in ten minutes",
    },
    "A recorded drive beside a simulated IMU": {
        "check_recording": "whether a recording will do, and the settings that mend it",
        "generate_drive": "makes the bundled drives, and variants",
        "tune_tracking": "gains with which a robot follows a drive more tightly",
        "generate_world": "makes the uneven ground for Gazebo",
    },
    "What came out": {
        "report": "a result as one web page",
        "plot_multiple_errors": "figures and a table of several results",
        "compare_yaw": "yaws from bags, CSV files and results side by side",
        "offline_result_comparison": "figures and tables again, also of a killed experiment",
        "export_tum": "trajectories for evo",
        "reproduce_thesis": "the figures of the thesis again, beside what it showed",
    },
    "Is the model right?": {
        "identify_yaw_error": "which error model recorded drives have",
        "identify_odometer": "errors of wheel odometry, from a drive",
        "judge_imu": "whether a recorded error may be one of a model's",
        "compare_plugins": "whether Gazebo's plug-ins behave as their models",
    },
    "Parameters of a sensor": {
        "allan_analysis": "noise and drift, from a recording without motion",
        "calibrate_imu": "biases, scale factors, misalignments and iron",
        "convert_imu_parameters": "from one simulator's or tool's format to another's",
        "simulate_static": "a recording without motion, of given parameters",
    },
    "Errors for another simulator's IMU, and aircraft": {
        "apply_imu_errors": "gives the ideal IMU of a bag the errors of a real one",
        "validate_imu": "holds an IMU against the truth, and against limits",
        "simulate_flight": "an IMU on an aircraft, also on a gimbal",
    },
}
"""What each program does, by the job that a person has."""

PROGRAMS = [name for programs in JOBS.values() for name in programs]

_COMPLETION = {
    "bash": "complete -o default -W '{names}' isf",
    "zsh": 'compdef \'_arguments "1:program:({names})" "*::file:_files"\' isf',
    "fish": "complete -c isf -n __fish_use_subcommand -a '{names}'",
}


def usage() -> str:
    """Return the list of programs by job."""
    lines = [
        "usage: isf NAME ...            runs a program; isf NAME --help says what it takes",
        "       isf --completion SHELL  prints what completes names in bash, zsh or fish",
        "       isf --version",
    ]
    for job, programs in JOBS.items():
        lines += ["", job, *(f"  {name:27} {text}" for name, text in programs.items())]
    return "\n".join([*lines, "", "An experiment through ROS nodes is run_experiment.py's."])


def main(arguments) -> int | None:
    """Run the program that the first argument names, with those behind it.

    Raises ConfigurationError if there is no such program or shell.
    """
    name, *rest = arguments or ["--help"]
    if name in ("-h", "--help"):
        print(usage())
        return 0
    if name == "--version":
        print(f"isf {imu_simulation_framework.__version__}")
        return 0
    if name == "--completion":
        shell = rest[0] if rest else "no shell"
        if shell not in _COMPLETION:
            raise ConfigurationError(f"--completion is of {shell}, expected bash, zsh or fish")
        print(_COMPLETION[shell].format(names=" ".join(PROGRAMS)))
        return 0
    program = (name[:-3] if name.endswith(".py") else name).replace("-", "_")
    if program not in PROGRAMS:
        near = difflib.get_close_matches(program, PROGRAMS, 1)
        hint = f"did you mean {near[0]}?" if near else "isf --help lists them"
        raise ConfigurationError(f"there is no program '{name}'; {hint}")
    sys.argv = [f"isf {program}", *rest]
    module = importlib.import_module(f"{__package__}.{program}")
    return module.main(rest)


def run() -> None:
    """Run the command line and end the process, as pip's script ``isf`` does."""
    sys.exit(run_tool(main))
