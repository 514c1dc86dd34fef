"""Work whose memory is given back as a whole, since it is done in a process of its own."""

from __future__ import annotations

import multiprocessing

from imu_simulation_framework.errors import FrameworkError


def do_apart(function, *arguments) -> None:
    """Call a function in a copy of this process, which must have no other thread.

    Raises
    ------
    FrameworkError
        As the function has raised it, with its sentence; or the process has been killed.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        refused = receiver.recv()
    except EOFError:
        # Whatever else it has raised was printed there.
        refused = f"the check of the experiment has ended with code {_code(process)}"
    process.join()
    if refused is not None:
        raise FrameworkError(refused)


def _call(sender, function, arguments) -> None:
    try:
        function(*arguments)
    except FrameworkError as error:
        sender.send(str(error))
    else:
        sender.send(None)


def _code(process):
    process.join()
    return process.exitcode
