"""Starts a node; imports little itself, so that hardly anything can be interrupted before."""

from __future__ import annotations

import importlib
import signal

INTERRUPTED = 130
"""Exit code of a program that a signal ended before its work was done, as shells have it."""


def start_launcher() -> int:
    """Import the launcher and run it; as for a node, an early Ctrl+C ends the process at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    package = __package__
    run_tool = importlib.import_module("..experiment.command_line", package).run_tool
    return run_tool(importlib.import_module(f"{package}.launcher").main)


def start_node(module: str, class_name: str) -> None:
    """Import a node's class from ``imu_simulation_framework.nodes`` and run it.

    Importing takes seconds. An experiment that ends meanwhile sends SIGINT, which ends the
    process at once: there is nothing to save yet, and a KeyboardInterrupt's traceback would
    only hide why the experiment ended.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    package = __package__
    node_type = getattr(importlib.import_module(f"{package}.{module}"), class_name)
    importlib.import_module(f"{package}.node").run_node(node_type)
