"""What all programs share, those of ROS as well: their arguments, and how they end.

They never end with a traceback. What takes much memory they have done in a process of its own.
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
"""Exit code of a program that cannot do its work."""
SIGNALLED = 128
"""Exit code of a program that a signal ended, less the signal's number, as shells have it."""

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def use_one_thread() -> None:
    """Have numpy and scipy compute in one thread unless the environment says otherwise.

    To be called before they are imported. Matrices of a few states are all that most programs have:
    with a thread for each core an exponential of one takes ten times as much processor time, on a
    busy machine more.
    """
    names = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL")]
    if not any(name in os.environ for name in names):
        os.environ.update(dict.fromkeys(names, "1"))


def use_one_arena() -> None:
    """Have all threads take their memory from one place, where the C library is glibc.

    To be called before there are others. What a thread frees stays with it otherwise: a node of
    ROS, with a thread for each connection, keeps 1 to 3 MB more, and one that then reads and draws
    a whole drive 20 MB.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


_M_ARENA_MAX = -8  # of malloc.h


class ArgumentParser(argparse.ArgumentParser):
    """As argparse's, with the text as it is; an error is one line without endless words."""

    def __init__(self, description: str | None = None, **others) -> None:
        others.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(description=description, **others)

    def parse_known_args(self, args=None, namespace=None):
        """Parse as argparse does, but refuse ``--option=--``, of which Python 3.11 makes a list."""
        for word in sys.argv[1:] if args is None else args:
            if word == "--":
                break
            if re.fullmatch(r"-[^=]*=--", word):
                self.error(f"argument {word[:-3]}: expected one argument")
        return super().parse_known_args(args, namespace)

    def error(self, message) -> NoReturn:
        """Print the error to standard error, with an option that may be meant; end with code 2."""
        words = re.sub(r"\S{200,}", lambda word: shorten(word.group()), escape_unprintable(message))
        unknown = re.match(r"unrecognized arguments: (-[^\s=]*)", message)
        if unknown:
            near = difflib.get_close_matches(unknown[1], self._option_string_actions, n=1)
            words += f"; did you mean {near[0]}?" if near else "; --help lists what is known"
        self.exit(REFUSED, f"{self.prog}: error: {words}\n")


class _Signalled(KeyboardInterrupt):
    """A signal that asks to end; like Ctrl+C no ``except Exception`` stops it."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def run_tool(main, arguments=None) -> int:
    """Run a tool's main function and turn what a user or the machine can cause into exit codes.

    ``main``: takes the list of arguments; returns an exit code, None meaning 0. ``arguments`` (list
    of str, optional): the command line without the program's name, by default ``sys.argv[1:]``.
    Returns 2 when the tool cannot do its work: after a :class:`.FrameworkError`, when a file or
    standard output cannot be read or written, when memory does not suffice or something is nested
    too deeply; 130, 143 or 129 after SIGINT (Ctrl+C), SIGTERM or SIGHUP; 141 when whoever read the
    output has gone, as for a program ended by SIGPIPE; else what ``main`` returned. But for the
    last two, a sentence goes to standard error.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the program
    if sys.stdout is None:
        _say("standard output is closed, so that nobody would see the result")
        return REFUSED
    # A name may hold what no text can; it is shown as well as it can be. What a caller has put in
    # the stream's place may not know how.
    with suppress(AttributeError):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    handlers = _catch_signals()
    try:
        code = _code(main, arguments)
        # A reader that has gone, or a full disk, is noticed here rather than at the end.
        flushed = _code(lambda _: sys.stdout.flush(), [], what="standard output")
        return code or flushed
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _code(main, arguments, what="the file system") -> int:
    """Return the exit code of a function; what it raises becomes one, after a sentence."""
    try:
        code = main(arguments)
        return 0 if code is None else code
    except FrameworkError as error:
        _say(f"{error}{_folder_of_call()}")
    except SystemExit as error:
        # argparse has said what there is to say.
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except _Signalled as error:
        _say(f"ended by {signal.Signals(error.number).name}; no file is left half-written")
        return SIGNALLED + error.number
    except KeyboardInterrupt:
        return SIGNALLED + signal.SIGINT
    except BrokenPipeError:
        _give_up_output()
        return SIGNALLED + signal.SIGPIPE
    except OSError as error:
        why = f"cannot be read or written: {explain_file_error(error)}{_folder_of_call()}"
        _say(f"{error.filename or what}: {why}")
        _give_up_output()
    except MemoryError:
        advice = "end other programs, or use a shorter recording or smaller numbers"
        _say(f"there is not enough memory for this; {advice}")
    except RecursionError:
        _say("the input is nested too deeply")
    return REFUSED


def _folder_of_call() -> str:
    """Return the end of a sentence when the current folder was removed, else nothing."""
    try:
        os.getcwd()
    except OSError:
        return "; the folder in which it was called does not exist any more: call it in another one"
    return ""


def _say(sentence) -> None:
    # No path of this machine is so long.
    sentence = re.sub(r"\S{4096,}", lambda word: shorten(word.group()), str(sentence))
    # Standard error may be closed or full, too; then the exit code must do.
    with suppress(OSError):
        print(f"{os.path.basename(sys.argv[0])}: {sentence}", file=sys.stderr)


def _give_up_output() -> None:
    """Drop what standard output could not take: the interpreter tries once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _catch_signals() -> dict:
    """Turn signals that would end the program into exceptions; return the handlers before.

    Whatever is being written is then cleared away. Who ignores a signal (nohup) goes on to.
    """

    def on_signal(number, _):
        for other in handlers:
            # Clearing away is not interrupted; it takes no time. roslaunch's handlers stay.
            if signal.getsignal(other) is on_signal:
                signal.signal(other, lambda *_: None)
        raise _Signalled(number)

    handlers = {}
    for number in _ENDING_SIGNALS:
        before = signal.getsignal(number)
        if before in (signal.SIG_DFL, signal.default_int_handler):
            try:
                handlers[number] = signal.signal(number, on_signal)
            except ValueError:  # not in the main thread, where no signal arrives either
                break
    return handlers


class SeparateProcess:
    """An object in a process of its own, which ends with the ``with`` statement it is used in.

    ``module``, ``class_name``: what the object is; its module is imported there only; ``what``:
    what it does, for the sentence of a process that has ended too early.

    Notes
    -----
    The process starts from nothing, so that this one may have other threads; and not as one of
    multiprocessing, which would leave another process beside this one until it ends.
    """

    def __init__(self, module: str, class_name: str, what: str) -> None:
        self._what = what
        self._pipe, theirs = multiprocessing.Pipe()
        with theirs:
            place = theirs.fileno()
            lines = (
                f"import sys; sys.path[:] = {list(map(str, sys.path))}",
                f"from {__name__} import _serve; _serve({place}, {module!r}, {class_name!r})",
            )
            command = [sys.executable, "-c", "\n".join(lines)]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[place])

    def __enter__(self) -> SeparateProcess:
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.wait()
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
            code = self._process.wait()
            if code == -signal.SIGXCPU:
                raise FrameworkError(f"{self._what} takes too much processor time") from None
            raise FrameworkError(f"{self._what} has ended with code {code}") from None
        if refused is not None:
            raise FrameworkError(refused)
        return result


def _serve(place: int, module: str, class_name: str) -> None:
    # Whoever started this process ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = multiprocessing.connection.Connection(place)
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
