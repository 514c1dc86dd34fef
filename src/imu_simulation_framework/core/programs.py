"""Argument parsing, exit codes and separate processes, for all programs and ROS nodes.

No program prints a traceback for an error that a user or the machine can cause.
"""

from __future__ import annotations

import argparse
import ctypes
import difflib
import importlib
import multiprocessing.connection
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any, NoReturn

from .errors import FrameworkError
from .sentences import escape_unprintable, shorten
from .whole_files import explain_file_error

REFUSED = 2
"""Exit code of a program after an error."""

EXIT_CODES = (
    ("0", "all; `roslaunch` always", "results are written"),
    (
        "1",
        "`run_experiment.py`, `offline_result_comparison.py`",
        "the drive or the results are incomplete, such as without a figure",
    ),
    ("1", "`validate_imu.py`", "an error of the IMU exceeds a limit"),
    (
        "1",
        "`compare_plugins.py`",
        "a quantity deviates from the model by more than the accepted number of standard errors",
    ),
    (
        "2",
        "all",
        "invalid arguments, a file that cannot be read or written, or too little memory. One line "
        "on standard error states the reason",
    ),
    (
        "3",
        "`check_recording.py`",
        "serious problems: the recording is unusable, or usable only with the proposed settings",
    ),
    (
        "3",
        "`allan_analysis.py`",
        "the simulated sensor is outside the band of the recording; results are written",
    ),
    (
        "3",
        "`identify_yaw_error.py`",
        "no specification can be written; `yaw_error_model.yaml` states the reason",
    ),
    (
        "129, 130, 141, 143",
        "all",
        "SIGHUP, SIGINT (Ctrl+C), SIGPIPE (the reader of the output has exited), SIGTERM; no "
        "file is left half-written",
    ),
)
"""Exit codes, the programs that use them, and their meanings, in Markdown for the guide."""

SIGNALLED = 128
"""Offset between a signal's number and the exit code of a program that it terminates."""

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def use_one_thread() -> None:
    """Restrict numpy and scipy to one thread, unless environment variables set the thread count.

    Call this function before numpy and scipy are imported. Most programs use small matrices; with
    one thread per core, a matrix exponential needs ten times as much processor time.
    """
    names = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL")]
    if not any(name in os.environ for name in names):
        os.environ.update(dict.fromkeys(names, "1"))


def use_one_arena() -> None:
    """Have all threads allocate memory from one arena, if the C library is glibc.

    Call this function before other threads start. With one arena per thread, freed memory is
    reused only by its thread. A ROS node, which has one thread per connection, then needs 1 to 3 MB
    more, and 20 MB more after it has read and plotted a complete drive.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


_M_ARENA_MAX = -8  # parameter of mallopt, from glibc's malloc.h


class ArgumentParser(argparse.ArgumentParser):
    """Parser that preserves line breaks in its description and prints errors as one line.

    Parameters
    ----------
    description : str, optional
        Description for the help.
    **others
        Further arguments of :class:`argparse.ArgumentParser`.
    """

    def __init__(self, description: str | None = None, **others) -> None:
        others.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(description=description, **others)

    def parse_known_args(self, args=None, namespace=None):
        """Parse arguments like argparse, but reject ``--option=--``.

        Python 3.11 would return an empty list as the value of such an option.

        Parameters
        ----------
        args : sequence of str, optional
            Arguments; by default those of the process.
        namespace : argparse.Namespace, optional
            Object that receives the values.

        Returns
        -------
        tuple of argparse.Namespace and list of str
            Values and unknown arguments.
        """
        for word in sys.argv[1:] if args is None else args:
            if word == "--":
                break
            if re.fullmatch(r"-[^=]*=--", word):
                self.error(f"argument {word[:-3]}: expected one argument")
        return super().parse_known_args(args, namespace)

    def error(self, message) -> NoReturn:
        """Print an error to standard error, suggest the most similar option, and exit with code 2.

        Parameters
        ----------
        message : str
            Error message of argparse.
        """
        text = re.sub(r"\S{200,}", lambda word: shorten(word.group()), escape_unprintable(message))
        unknown = re.match(r"unrecognized arguments: (-[^\s=]*)", message)
        if unknown:
            near = difflib.get_close_matches(unknown[1], self._option_string_actions, n=1)
            text += f"; did you mean {near[0]}?" if near else "; --help lists all options"
        self.exit(REFUSED, f"{self.prog}: error: {text}\n")


class _EndingSignal(KeyboardInterrupt):
    """A signal terminates the program; ``except Exception`` does not catch this exception."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def run_tool(main, arguments=None) -> int:
    """Run the main function of a program, and convert exceptions to exit codes.

    Parameters
    ----------
    main : callable
        Function that receives the list of arguments. It returns an exit code, or None for 0.
    arguments : list of str, optional
        Command line without the program's name, by default ``sys.argv[1:]``.

    Returns
    -------
    int
        Exit code:

        - 2 after a :class:`.FrameworkError`, if a file or standard output cannot be read or
          written, if memory does not suffice, or if an input is nested too deeply,
        - 130, 143 or 129 after SIGINT (Ctrl+C), SIGTERM or SIGHUP,
        - 141 if the reader of standard output has exited, as after SIGPIPE,
        - the exit code of ``main`` in all other cases.

        In the first two cases, a message is printed to standard error.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the program ends
    if sys.stdout is None:
        _print_error("standard output is closed, but is needed for the result")
        return REFUSED
    # Bytes in file names that are not valid text are printed as escape sequences.
    # A stream that replaces standard output may not have the method reconfigure.
    with suppress(AttributeError):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    handlers = _catch_signals()
    try:
        code = _exit_code(main, arguments)
        # An explicit flush detects a closed pipe or a full disk before the interpreter exits.
        flushed = _exit_code(lambda _: sys.stdout.flush(), [], "standard output")
        return code or flushed
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _exit_code(main, arguments, target="the file system") -> int:
    """Run the main function of a program, print its error if any, and return the exit code."""
    try:
        code = main(arguments)
        return 0 if code is None else code
    except FrameworkError as error:
        _print_error(f"{error}{_explain_missing_folder()}")
    except SystemExit as error:
        # argparse has already printed the error.
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except _EndingSignal as error:
        _print_error(
            f"terminated by {signal.Signals(error.number).name}; no file is left half-written"
        )
        return SIGNALLED + error.number
    except KeyboardInterrupt:
        return SIGNALLED + signal.SIGINT
    except BrokenPipeError:
        _discard_output()
        return SIGNALLED + signal.SIGPIPE
    except OSError as error:
        reason = (
            f"cannot be read or written: {explain_file_error(error)}{_explain_missing_folder()}"
        )
        _print_error(f"{error.filename or target}: {reason}")
        _discard_output()
    except MemoryError:
        advice = "close other programs, use a shorter recording, or choose smaller values"
        _print_error(f"there is not enough memory; {advice}")
    except RecursionError:
        _print_error("the input is nested too deeply")
    return REFUSED


def _explain_missing_folder() -> str:
    """Return a remark for an error message if the working directory was removed, else ''."""
    try:
        os.getcwd()
    except OSError:
        return "; the working directory no longer exists: run the program in another one"
    return ""


def _print_error(message) -> None:
    # Words of 4096 or more characters cannot be paths on Linux, and are shortened.
    message = re.sub(r"\S{4096,}", lambda word: shorten(word.group()), str(message))
    # If standard error is also closed or full, only the exit code reports the error.
    with suppress(OSError):
        print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)


def _discard_output() -> None:
    """Discard buffered output that cannot be written, so that the interpreter does not retry."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _catch_signals() -> dict:
    """Convert signals that terminate the program to exceptions; return the previous handlers.

    The exceptions cause unfinished files to be removed. An ignored signal (nohup) stays ignored.
    """

    def on_signal(number, _):
        for other in handlers:
            # A second signal must not interrupt the removal of unfinished files.
            # Handlers that roslaunch has installed in the meantime are kept.
            if signal.getsignal(other) is on_signal:
                signal.signal(other, lambda *_: None)
        raise _EndingSignal(number)

    handlers = {}
    for number in _ENDING_SIGNALS:
        previous = signal.getsignal(number)
        if previous in (signal.SIG_DFL, signal.default_int_handler):
            try:
                handlers[number] = signal.signal(number, on_signal)
            except ValueError:  # only the main thread can set signal handlers
                break
    return handlers


class SeparateProcess:
    """Proxy for an object in a separate process, which ends with the ``with`` block.

    Parameters
    ----------
    module, class_name : str
        Module and name of the object's class. Only the separate process imports the module.
    task : str
        Subject of the error message if the process ends too early, such as "the expansion".

    Notes
    -----
    The process imports the module at once, while the calling process continues. It is not forked,
    so that the calling process may have threads. multiprocessing could spawn it as well, but would
    keep another process, its resource tracker, until the caller exits.
    """

    def __init__(self, module: str, class_name: str, task: str) -> None:
        self._task = task
        self._pipe, child_end = multiprocessing.Pipe()
        with child_end:
            descriptor = child_end.fileno()
            lines = (
                f"import sys; sys.path[:] = {list(map(str, sys.path))}",
                f"from {__name__} import _serve; _serve({descriptor}, {module!r}, {class_name!r})",
            )
            command = [sys.executable, "-c", "\n".join(lines)]
            # In a new session, the process does not receive Ctrl+C, so only its parent ends it.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[descriptor], start_new_session=True
            )

    def __enter__(self) -> SeparateProcess:
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def end(self) -> None:
        """Kill the separate process before the end of the ``with`` block."""
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def call(self, method: str, *arguments) -> Any:
        """Call a method of the object in the separate process, and wait for the result.

        Parameters
        ----------
        method : str
            Name of the method.
        *arguments
            Arguments of the method, which are pickled.

        Returns
        -------
        object
            Result of the method.

        Raises
        ------
        FrameworkError
            The method has raised this error, or the process has ended.
        """
        self.start(method, *arguments)
        return self.wait()

    def start(self, method: str, *arguments) -> None:
        """Call a method of the object in the separate process; :meth:`wait` returns its result.

        Parameters
        ----------
        method : str
            Name of the method.
        *arguments
            Arguments of the method, which are pickled.

        Raises
        ------
        FrameworkError
            The process has ended.
        """
        try:
            self._pipe.send((method, arguments))
        except OSError:
            raise self._early_end() from None

    def wait(self) -> Any:
        """Wait for the result of the method that was called by :meth:`start`.

        Returns
        -------
        object
            Result of the method.

        Raises
        ------
        FrameworkError
            The method has raised this error, or the process has ended.
        """
        try:
            error_message, result = self._pipe.recv()
        except (EOFError, OSError):
            raise self._early_end() from None
        if error_message is not None:
            raise FrameworkError(error_message)
        return result

    def _early_end(self) -> FrameworkError:
        # The separate process has already printed the traceback of any other exception.
        code = self._process.wait()
        if code == -signal.SIGXCPU:
            return FrameworkError(f"{self._task} exceeded its processor time limit")
        if code == -signal.SIGKILL:
            return FrameworkError(f"{self._task} was killed, perhaps for lack of memory")
        return FrameworkError(f"{self._task} exited with code {code}")


def _serve(descriptor: int, module: str, class_name: str) -> None:
    pipe = multiprocessing.connection.Connection(descriptor)
    home = importlib.import_module(module)
    served: Any = None
    while True:
        try:
            method, arguments = pipe.recv()
        except EOFError:
            return
        answer: tuple[str | None, Any]
        try:
            if served is None:
                served = getattr(home, class_name)()
            answer = None, getattr(served, method)(*arguments)
        except FrameworkError as error:
            answer = str(error), None
        except MemoryError:
            answer = "there is not enough memory; close other programs", None
        try:
            pipe.send(answer)
        except BrokenPipeError:  # the parent process was killed
            return
