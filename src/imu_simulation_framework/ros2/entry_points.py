"""Starts a node of ROS 2; importing takes seconds, so that nothing is imported before it has to be.

The scripts that call this have first let SIGINT end the process at once: nothing is to be saved.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from pathlib import Path

_LIBRARY = __package__.rpartition(".")[0]


def start_node(module: str, class_name: str, launch: str) -> None:
    """Import a node's class from ``imu_simulation_framework.ros2.nodes`` and run it.

    With ``--help`` it says what the node is, without what it imports; ``module`` is the node's
    name, and ``launch`` the file that starts it.
    """
    if {"-h", "--help"} & set(sys.argv[1:]):
        run_tool = importlib.import_module(f"{_LIBRARY}.core.programs").run_tool
        sys.exit(run_tool(lambda _: print(_help(module, class_name, launch)), []))
    try:
        _check_middleware()
        node_type = getattr(importlib.import_module(f"{__package__}.nodes"), class_name)
    except ModuleNotFoundError as error:
        sys.exit(
            f"[FATAL] {module}: the Python package {error.name} is not installed; call it as "
            f"./run ros2 {module}.py, or where ROS 2 was set up"
        )
    importlib.import_module(f"{__package__}.node").run_node(node_type)


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


def _help(module: str, class_name: str, launch: str) -> str:
    tree = ast.parse(Path(__file__).with_name("nodes.py").read_text("utf-8"))
    (node,) = (one for one in tree.body if getattr(one, "name", "") == class_name)
    assert isinstance(node, ast.ClassDef)
    purpose = ast.get_docstring(node)
    return (
        f"usage: {module}.py --ros-args -p PARAMETER:=VALUE ...\n\n{purpose}\n\n"
        f"Its parameters are the arguments of {launch}."
    )
