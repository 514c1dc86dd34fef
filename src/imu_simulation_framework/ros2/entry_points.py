"""Entry points of the ROS 2 nodes and the launcher.

Imports take seconds, so that modules are imported as late as possible. Before that there is nothing
to save, and SIGINT ends the process immediately.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Iterator, Sequence

from ..core.programs import REFUSED, run_tool, use_one_thread
from ..core.sentences import shorten

use_one_thread()


def start_node(module: str, class_name: str, launch: str = "experiment.launch") -> None:
    """Import and run a node, or print its help with ``--help``.

    Parameters
    ----------
    module : str
        Name of the node.
    class_name : str
        Class name of the node.
    launch : str
        Launch file that starts the node, for the help.
    """
    home, purpose = _find_node(class_name)
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(run_tool(lambda _: print(_format_help(module, purpose, launch)), []))
    refusal = _refuse_ros1_syntax(sys.argv[1:])
    if refusal:
        print(f"{module}.py: {refusal}", file=sys.stderr)
        sys.exit(REFUSED)
    _start(module, [(home, class_name)])


def _refuse_ros1_syntax(arguments: Sequence[str]) -> str:
    """Return an error message if an argument outside ``--ros-args`` is ``NAME:=VALUE``, else ''.

    rcl would take such an argument for a remapping of a topic, and start the node without it.
    """
    is_ros_argument = False
    for argument in arguments:
        if is_ros_argument or argument == "--ros-args":
            is_ros_argument = argument != "--"
            continue
        name, separator, value = argument.partition(":=")
        if not separator:
            continue
        if name.startswith("__"):
            ros2_name = {"__name": "__node"}.get(name, name)
            syntax = shlex.join(["--ros-args", "-r", f"{ros2_name}:={value}"])
        elif name.startswith(("_", "~")):
            syntax = shlex.join(["--ros-args", "-p", f"{name.lstrip('_~/')}:={value}"])
        else:
            setting = shlex.quote(argument)
            syntax = f"--ros-args -p {setting} for a parameter, --ros-args -r {setting} for a topic"
        return f"{shorten(argument)} is the syntax of ROS 1; in ROS 2, write {syntax}"
    return ""


def start_nodes(class_names: list[str]) -> None:
    """Import several nodes and run them in this process.

    Parameters
    ----------
    class_names : list of str
        Class names of the nodes.
    """
    _start("run_experiment", [(_find_node(name)[0], name) for name in class_names])


def _start(program: str, places: list[tuple[str, str]]) -> None:
    with _require_ros2(program):
        node_types = [
            getattr(importlib.import_module(f"{__package__}.{home}"), name) for home, name in places
        ]
    importlib.import_module(f"{__package__}.node").run_nodes(*node_types)


def start_launcher() -> int:
    """Import and run the launcher of an experiment.

    Returns
    -------
    int
        Exit code.
    """
    with _require_ros2("run_experiment"):
        main = importlib.import_module(f"{__package__}.launcher").main
    return int(run_tool(main))


@contextlib.contextmanager
def _require_ros2(program: str) -> Iterator[None]:
    """Exit with an error message if the middleware or a Python package of ROS 2 is missing."""
    try:
        _check_middleware()
        yield
    except ModuleNotFoundError as error:
        sys.exit(
            f"[FATAL] {program}: the Python package {error.name} is not installed; call it as "
            f"./run ros2 {program}.py, or in a shell with ROS 2's setup.bash"
        )


def _check_middleware() -> None:
    """Exit with an error message if the middleware is missing, as rcl would abort the process."""
    requested = os.environ.get("RMW_IMPLEMENTATION", "")
    index = importlib.import_module("ament_index_python.resources")
    installed = sorted(index.get_resources("rmw_typesupport"))
    if requested and installed and requested not in installed:
        sys.exit(
            f"[FATAL] RMW_IMPLEMENTATION is {requested}, which is not installed; expected "
            f"{' or '.join(name for name in installed if name != 'rmw_implementation')}"
        )


def _find_node(class_name: str) -> tuple[str, str]:
    """Return the module and the docstring of a node class without importing it."""
    for home in ("node", "experiment", "external_robot"):
        tree = ast.parse(Path(__file__).with_name(f"{home}.py").read_text("utf-8"))
        for statement in tree.body:
            if isinstance(statement, ast.ClassDef) and statement.name == class_name:
                return home, ast.get_docstring(statement) or ""
    raise LookupError(class_name)


def _format_help(module: str, purpose: str, launch: str) -> str:
    usage = f"usage: {module}.py --ros-args -p PARAMETER:=VALUE ...\n\n{purpose}\n\n"
    if launch != "experiment.launch":
        return f"{usage}Its parameters are the arguments of {launch}."
    return (
        f"{usage}The parameters are config, the path of a config.ini, and SECTION.KEY for any of "
        "its keys; run_experiment.py starts\nall nodes of an experiment."
    )


if __name__ == "__main__":
    # Same as in the scripts; the class names precede the ROS arguments.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    start_nodes(sys.argv[1 : sys.argv.index("--ros-args")])
