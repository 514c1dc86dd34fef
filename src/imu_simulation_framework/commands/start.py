"""Start programs by name; libraries are imported only after the options have been parsed."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Sequence

from ..core.programs import run_tool


def run_program(name: str, arguments: Sequence[str]) -> int | None:
    """Run the program with a given name and command line.

    Parameters
    ----------
    name : str
        Name of the program, which is a module of this package.
    arguments : sequence of str
        Arguments after the name of the program.

    Returns
    -------
    int or None
        Exit code; None for 0.
    """
    options = importlib.import_module(f".parsers.{name}", __package__).parse_arguments(arguments)
    return importlib.import_module(f".{name}", __package__).run(options)


def start_program(name: str) -> int:
    """Run the program with a given name and the command line of this process.

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
