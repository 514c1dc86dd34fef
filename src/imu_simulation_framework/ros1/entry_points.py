"""Starts a node, or the launcher.

Importing takes seconds. Whoever is to end meanwhile gets SIGINT, from a person or from roslaunch,
and has nothing to save yet; a traceback of KeyboardInterrupt would only hide why it ended.
So the scripts that call this have first let SIGINT end the process at once.
"""

from __future__ import annotations

import ast
import importlib
import signal
import sys
from pathlib import Path

from ..core.programs import run_tool, use_one_arena, use_one_thread

use_one_thread()
use_one_arena()

INTERRUPTED = 130
"""Exit code of a program that a signal ended before its work was done, as shells have it."""


def start_launcher() -> int:
    """Import the launcher and run it.

    A late signal changes nothing: when the last line is printed the exit code is what that says.
    """
    code = run_tool(importlib.import_module(f"{__package__}.launching.launcher").main)
    # The interpreter takes a moment to end.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return code


def start_node(module: str, class_name: str, launch: str = "experiment.launch") -> None:
    """Import a node's class from ``imu_simulation_framework.ros1.nodes`` and run it.

    With ``--help`` it says what the node is, without a ROS master and without what it imports;
    ``launch`` is the file that starts it.
    """
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(run_tool(lambda _: print(_help(module, launch)), []))
    try:
        kind = getattr(importlib.import_module(f"{__package__}.nodes.{module}"), class_name)
    except ModuleNotFoundError as error:
        sys.exit(f"[FATAL] {_name(module)}: the Python package {error.name} is not installed")
    importlib.import_module(f"{__package__}.node_process").run_node(kind)


def _help(module, launch) -> str:
    source = Path(__file__).with_name("nodes").joinpath(f"{module}.py")
    purpose = ast.get_docstring(ast.parse(source.read_text("utf-8")))
    usage = f"usage: {_name(module)}.py\n\n{purpose}\n\n"
    if launch != "experiment.launch":
        return f"{usage}A node of {launch}, whose arguments are its private parameters."
    return (
        f"{usage}A node of {launch}, which starts it; run_experiment.py --help tells what that "
        "takes.\nEvery key of config.ini is also a private parameter of it, ~<section>/<key>."
    )


def _name(module) -> str:
    return module.rpartition(".")[2]
