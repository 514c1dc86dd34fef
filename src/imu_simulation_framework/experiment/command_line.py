"""How every command-line tool ends: with a sentence and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys

from imu_simulation_framework.errors import FrameworkError


def run_tool(main, arguments=None) -> int:
    """Run a tool's main function and turn what a user can cause into exit codes.

    Parameters
    ----------
    main : callable
        Takes the list of arguments; returns an exit code, None meaning 0.
    arguments : list of str, optional
        The command line without the program's name, by default ``sys.argv[1:]``.

    Returns
    -------
    int
        2 after a :class:`FrameworkError`, whose sentence went to standard error; 130 after
        Ctrl+C; 141 when whoever read the output has gone, as for a program ended by SIGPIPE;
        else what ``main`` returned.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = main(arguments)
        # A reader that has gone is noticed here rather than at the interpreter's end.
        sys.stdout.flush()
    except FrameworkError as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The interpreter flushes once more at its end; there that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0 if code is None else code
