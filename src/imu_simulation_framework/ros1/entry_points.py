"""Entry points of the ROS 1 nodes and the launcher.

Imports take seconds. During the imports there is nothing to save after a SIGINT from a user or from
roslaunch, and the traceback of a KeyboardInterrupt would obscure the reason why the process ended.
Therefore, until the imports are complete, SIGINT ends the process immediately.
"""

from __future__ import annotations

import ast
import importlib
import signal
import sys
from pathlib import Path

from ..core.programs import SeparateProcess, run_tool, use_one_arena, use_one_thread

use_one_thread()
use_one_arena()

PURPOSE = "Run experiment.launch"
INTERRUPTED = 130  # exit code after SIGINT, as reported by shells (128 + 2)


def start_launcher() -> int:
    """Import and run the launcher, and ignore signals after it has returned its exit code.

    Returns
    -------
    int
        Exit code.
    """
    code = run_tool(launch_experiment)
    # A signal during interpreter shutdown would change the exit code that was reported.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return code


def launch_experiment(arguments) -> int:
    """Run the experiment described by command-line arguments.

    Parameters
    ----------
    arguments : list of str
        Arguments of experiment.launch, each ``name:=value``, and options.

    Returns
    -------
    int
        Exit code, see :func:`.launching.launcher.launch`.
    """
    # Printing help or rejecting a command line does not require roslaunch (0.3 s to import).
    from ..drive.experiment_arguments import read_command_line
    from ..drive.session.driving import PREPARATION

    options, values = read_command_line(PURPOSE, arguments)
    # A separate process imports the modules for recordings while this process imports roslaunch.
    with SeparateProcess(*PREPARATION) as preparation:
        launcher = importlib.import_module(f"{__package__}.launching.launcher")
        return launcher.launch(options, values, preparation)


def start_node(module: str, class_name: str, launch: str = "experiment.launch") -> None:
    """Import and run a node, or print its help with ``--help``.

    Printing the help requires neither a ROS master nor the imports of the node.

    Parameters
    ----------
    module : str
        Module in ``imu_simulation_framework.ros1.nodes``.
    class_name : str
        Class name of the node.
    launch : str
        Launch file that starts the node, for the help.
    """
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(run_tool(lambda _: print(_format_help(module, launch)), []))
    try:
        node_type = getattr(importlib.import_module(f"{__package__}.nodes.{module}"), class_name)
    except ModuleNotFoundError as error:
        sys.exit(
            f"[FATAL] {_program_name(module)}: the Python package {error.name} is not installed"
        )
    importlib.import_module(f"{__package__}.node_process").run_node(node_type)


def _format_help(module, launch) -> str:
    source = Path(__file__).with_name("nodes").joinpath(f"{module}.py")
    purpose = ast.get_docstring(ast.parse(source.read_text("utf-8")))
    usage = f"usage: {_program_name(module)}.py\n\n{purpose}\n\n"
    if launch != "experiment.launch":
        return f"{usage}A node of {launch}, whose arguments are its private parameters."
    return (
        f"{usage}A node of {launch}, which starts it; run_experiment.py --help lists its arguments."
        "\nEvery key of config.ini is also a private parameter of the node, ~<section>/<key>."
    )


def _program_name(module) -> str:
    return module.rpartition(".")[2]
