"""What all command lines share: how they end, never with a traceback, options, and results."""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Sequence

from imu_simulation_framework.core.arguments import REFUSED
from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.core.errors import ConfigurationError, FrameworkError, RecordingError
from imu_simulation_framework.core.sentences import as_written, shown
from imu_simulation_framework.core.whole_files import (
    FIGURE_FORMATS,
    picture,
    reason_of,
    write_whole,
)

SIGNALLED = 128
"""Exit code of a program that a signal ended, less the signal's number, as shells have it."""

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
        _say(
            f"{error.filename or what}: cannot be read or written: {reason_of(error)}"
            f"{_folder_of_call()}"
        )
        _give_up_output()
    except MemoryError:
        _say(
            "there is not enough memory for this; end other programs, or use a shorter recording "
            "or smaller numbers"
        )
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
    sentence = re.sub(r"\S{4096,}", lambda word: as_written(word.group()), str(sentence))
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


def accepted_number(text: str, accepted: Callable[[float], bool], refusal: str) -> float:
    """Return a number that is accepted; else the refusal is said, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not accepted(value):
        raise argparse.ArgumentTypeError(refusal)
    return value


def whole_number(text: str) -> int:
    """Return a whole number, zero or positive, as seeds are; for argparse."""
    # Python reads other alphabets' digits, too.
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a whole number, zero or positive")
    return int(text)


def worker_count(text: str) -> int:
    """Return a number of processes, 1 to 1024, for ``argparse``."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{shown(text)} is no number of workers from 1 to 1024")
    return int(text)


def add_result(parser: argparse.ArgumentParser) -> None:
    """Give a parser the argument ``result``."""
    said = "a run's folder, FOLDER/PREFIX, or a file of the result"
    parser.add_argument("result", metavar="RESULT", help=said)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Give a parser the option ``--seed``."""
    parser.add_argument("--seed", type=whole_number, default=1, metavar="S", help="default: 1")


def add_formats(parser: argparse.ArgumentParser, said: str = "of the figures, png by default"):
    """Give a parser the option ``--formats``."""
    parser.add_argument("--formats", nargs="+", choices=FIGURE_FORMATS, default=["png"], help=said)


def add_out(parser: argparse.ArgumentParser, folder: str, *names: str) -> None:
    """Give a parser the option ``--out``, a folder; ``names``: others of the option."""
    parser.add_argument(
        *names, "--out", type=Path, default=Path(folder), metavar="DIR",
        help="%(default)s by default",
    )  # fmt: skip


def add_results(parser: argparse.ArgumentParser, folder: str, report: bool = True) -> None:
    """Give a parser the options on figures, the web page, and the folder that all is written to."""
    if report:
        parser.add_argument("--report", action="store_true", help="write a web page, too")
    add_formats(parser)
    add_out(parser, folder, "-o")


def write_file(path: Path, content: bytes) -> None:
    """Write a file as a whole, and print its name."""
    write_whole(path, content)
    print(path)


def write_pictures(folder: Path, name: str, figure: Any, formats: Sequence[str]) -> None:
    """Write a matplotlib figure in each of the formats, and print the files' names."""
    for format in dict.fromkeys(formats):
        write_file(folder / f"{name}.{format}", picture(figure, format))


def named_column(text) -> tuple[str, str]:
    """Return quantity and column of ``QUANTITY=NAME [UNIT]``; raises ConfigurationError."""
    quantity, separator, column = text.partition("=")
    if not separator or not quantity.strip() or not column.strip():
        raise ConfigurationError(
            f"--column {shown(text)} is not understood, expected for instance 'gyro_x=wx [deg/s]'"
        )
    return quantity.strip(), column.strip()


def guessed_columns(path, rate, sentences) -> dict | None:
    """Return gyroscope and accelerometer of a text file with names of its own, as they seem to be.

    None where nothing has to be guessed, or nothing can be. Raises RecordingError if no column is
    the time and no ``rate`` [Hz] is given; a sentence on what was guessed is added to
    ``sentences``.
    """
    from imu_simulation_framework.recordings.file_access import has_columns

    if not has_columns(path):
        return None
    from imu_simulation_framework.recordings.guessing.files import guess_where_unknown

    guessed, _ = guess_where_unknown(path, "imu_recording")
    columns = {name: column for name, column in guessed.items() if name in ("time", *GYRO, *ACCEL)}
    if columns and "time" not in columns and rate is None:
        raise RecordingError(f"{path}: no column is the time; state the rate with --rate HZ")
    if columns:
        listing = ", ".join(f"{name}={column}" for name, column in columns.items())
        sentences.append(f"{path}: columns are guessed, say it with --column if not so: {listing}")
    return columns or None
