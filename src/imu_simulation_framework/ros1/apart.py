"""Work whose memory is given back as a whole, since it is done in a process of its own."""

from __future__ import annotations

import importlib
import multiprocessing
import signal
from typing import Any

from imu_simulation_framework.core.errors import FrameworkError

PREPARATION = (
    "imu_simulation_framework.drive.session.preparation",
    "PreparationSession",
    "the preparation of the drive",
)
"""Readers of recordings, and tables, which take 100 MB."""


class Apart:
    """An object in a process of its own, which ends with the ``with`` statement it is used in.

    Parameters
    ----------
    module, class_name : str
        What the object is; its module is imported there only.
    what : str
        What it does, for the sentence of a process that has ended too early.

    Notes
    -----
    The process starts from nothing (``spawn``), so that this one may have other threads.
    """

    def __init__(self, module: str, class_name: str, what: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._what = what
        self._pipe, theirs = context.Pipe()
        served = (theirs, module, class_name)
        self._process = context.Process(target=_serve, args=served, daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def call(self, method: str, *arguments) -> Any:
        """Call a method of the object and return what it returns.

        Raises FrameworkError: as the method has raised it, with its sentence; or the process has
        ended.
        """
        try:
            self._pipe.send((method, arguments))
            refused, result = self._pipe.recv()
        except (EOFError, OSError):
            # Whatever else was raised there was printed there.
            self._process.join()
            raise FrameworkError(
                f"{self._what} has ended with code {self._process.exitcode}"
            ) from None
        if refused is not None:
            raise FrameworkError(refused)
        return result


def _serve(pipe, module: str, class_name: str) -> None:
    """Answer calls until nobody is there any more to call."""
    # Whoever started this process ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    served: Any = None
    while True:
        try:
            method, arguments = pipe.recv()
        except EOFError:
            return
        answer: tuple[str | None, Any]
        try:
            if served is None:
                served = getattr(importlib.import_module(module), class_name)()
            answer = None, getattr(served, method)(*arguments)
        except FrameworkError as error:
            answer = str(error), None
        except MemoryError:
            answer = "there is not enough memory; end other programs", None
        pipe.send(answer)
