"""Start of a program by its name, which imports its libraries after it has parsed its options."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Sequence

from ..core.programs import run_tool


def run_program(name: str, arguments: Sequence[str]) -> int | None:
    """Run a program.

    Parameters
    ----------
    name : str
        Name of the program, a module of this package.
    arguments : sequence of str
        Command line without the name.

    Returns
    -------
    int or None
        Exit code; None for 0.
    """
    options = importlib.import_module(f".parsers.{name}", __package__).parse_arguments(arguments)
    return importlib.import_module(f".{name}", __package__).run(options)


def start_program(name: str) -> int:
    """Run a program with the command line of the process.

    Parameters
    ----------
    name : str
        Name of the program.

    Returns
    -------
    int
        Exit code, see :func:`.run_tool`.
    """
    return run_tool(partial(run_program, name))
