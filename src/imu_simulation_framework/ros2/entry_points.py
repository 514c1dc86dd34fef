"""Starts a node of ROS 2; importing takes seconds, so that nothing is imported before it has to be.

The scripts that call this have first let SIGINT end the process at once: nothing is to be saved.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Iterator

from ..core.programs import run_tool, use_one_thread

use_one_thread()


def start_node(module: str, class_name: str, launch: str = "experiment.launch") -> None:
    """Import a node's class and run it.

    With ``--help`` it says what the node is, without what it imports; ``module`` is the node's
    name, and ``launch`` the file that starts it.
    """
    home, purpose = _find(class_name)
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(run_tool(lambda _: print(_help(module, purpose, launch)), []))
    _start(module, [(home, class_name)])


def start_nodes(class_names: list[str]) -> None:
    """Import the classes of several nodes and run them in this process."""
    _start("run_experiment", [(_find(name)[0], name) for name in class_names])


def _start(program: str, places: list[tuple[str, str]]) -> None:
    with _where_ros2_is(program):
        kinds = [getattr(importlib.import_module(f"{__package__}.{h}"), name) for h, name in places]
    importlib.import_module(f"{__package__}.node").run_nodes(*kinds)


def start_launcher() -> int:
    """Import what runs an experiment, and run it; returns its exit code."""
    with _where_ros2_is("run_experiment"):
        main = importlib.import_module(f"{__package__}.launcher").main
    return int(run_tool(main))


@contextlib.contextmanager
def _where_ros2_is(program: str) -> Iterator[None]:
    """End with a sentence where the middleware or a Python package of ROS 2 is missing."""
    try:
        _check_middleware()
        yield
    except ModuleNotFoundError as error:
        sys.exit(
            f"[FATAL] {program}: the Python package {error.name} is not installed; call it as "
            f"./run ros2 {program}.py, or where ROS 2 was set up"
        )


def _check_middleware() -> None:
    """Say in a sentence what rcl would end the process for."""
    wanted = os.environ.get("RMW_IMPLEMENTATION", "")
    index = importlib.import_module("ament_index_python.resources")
    there = sorted(index.get_resources("rmw_typesupport"))
    if wanted and there and wanted not in there:
        sys.exit(
            f"[FATAL] RMW_IMPLEMENTATION is {wanted}, which is not installed here: expected "
            f"{' or '.join(name for name in there if name != 'rmw_implementation')}"
        )


def _find(class_name: str) -> tuple[str, str]:
    """Return the module in which a node's class stands, and what it says of it."""
    for home in ("node", "experiment", "external_robot"):
        tree = ast.parse(Path(__file__).with_name(f"{home}.py").read_text("utf-8"))
        for one in tree.body:
            if isinstance(one, ast.ClassDef) and one.name == class_name:
                return home, ast.get_docstring(one) or ""
    raise LookupError(class_name)


def _help(module: str, purpose: str, launch: str) -> str:
    of_experiment = "config, a config.ini, and SECTION.KEY, any key of it; run_experiment.py starts"
    return f"usage: {module}.py --ros-args -p PARAMETER:=VALUE ...\n\n{purpose}\n\n" + (
        f"Its parameters are {of_experiment} all\nnodes of an experiment."
        if launch == "experiment.launch"
        else f"Its parameters are the arguments of {launch}."
    )


if __name__ == "__main__":
    # As the scripts do it. Names of classes come before what is ROS's.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    start_nodes(sys.argv[1 : sys.argv.index("--ros-args")])
