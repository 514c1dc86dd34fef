"""Options and results that several command lines share."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, Callable, Iterable, Sequence

from ..core.errors import ConfigurationError, RecordingError
from ..core.sentences import quote
from ..core.tables import ACCEL, GYRO
from ..core.whole_files import (
    FIGURE_FORMATS,
    make_folder,
    refuse_overwriting,
    render_figure,
    write_whole,
)
from ..recordings.frames import ACCEL_UNITS, GYRO_UNITS, ImuConventions


def accepted_number(text: str, accepted: Callable[[float], bool], refusal: str) -> float:
    """Return a number that is accepted; else the refusal is said, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not accepted(value):
        raise argparse.ArgumentTypeError(refusal)
    return value


def number_type(accepted: Callable[[float], bool], refusal: str) -> Callable[[str], float]:
    """Return a type for argparse: a number that is accepted; else the refusal is said of it."""
    return lambda text: accepted_number(text, accepted, f"{quote(text)} {refusal}")


def whole_type(least: int, most: float, refusal: str) -> Callable[[str], int]:
    """Return a type for argparse: a whole number within bounds; else the refusal is said of it."""

    def whole(text: str) -> int:
        # Python reads other alphabets' digits, too.
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{quote(text)} {refusal}")
        return int(text)

    return whole


whole_number = whole_type(0, math.inf, "is not a whole number, zero or positive")
worker_count = whole_type(1, 1024, "is no number of workers from 1 to 1024")
run_count = whole_type(1, math.inf, "is no number of runs, 1 or more")
above_zero = number_type(lambda value: 0.0 < value < math.inf, "is no number above zero")
not_negative = number_type(lambda value: 0.0 <= value < math.inf, "is no number, zero or positive")


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


def add_out(parser: argparse.ArgumentParser, folder: str) -> None:
    """Give a parser the option ``--out``, a folder."""
    parser.add_argument(
        "-o", "--out", type=Path, default=Path(folder), metavar="DIR",
        help="%(default)s by default",
    )  # fmt: skip


def add_unit_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser the options ``--gyro-unit`` and ``--accel-unit``."""
    for sensor, units, usual in (
        ("gyro", GYRO_UNITS, ImuConventions.gyro_unit),
        ("accel", ACCEL_UNITS, ImuConventions.accel_unit),
    ):
        parser.add_argument(
            f"--{sensor}-unit",
            choices=tuple(units),
            default=usual,
            help="of a recording that does not state it, by default %(default)s",
        )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Give a parser the option ``--table``, of a program that prints one."""
    # Programs without a table do not wait for pandas.
    from ..report.table import ENDINGS

    parser.add_argument(
        "--table", choices=("terminal", *ENDINGS), default="terminal", metavar="FORMAT",
        help=f"how it is printed: terminal (default), {', '.join(ENDINGS)}",
    )  # fmt: skip


def add_results(parser: argparse.ArgumentParser, folder: str) -> None:
    """Give a parser the options on figures, the web page, and the folder that all is written to."""
    add_report(parser)
    add_formats(parser)
    add_out(parser, folder)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Give a parser the option ``--report``."""
    parser.add_argument("--report", action="store_true", help="write a web page, too")


def results_folder(path: Path, names: Iterable[str], inputs: Sequence[Any]) -> Path:
    """Return a folder, which is made; a result of these names must not be one of the inputs."""
    folder = make_folder(path)
    for name in names:
        refuse_overwriting(folder / name, inputs)
    return folder


def write_file(path: Path, content: bytes) -> None:
    """Write a file as a whole, and print its name."""
    write_whole(path, content)
    print(path)


def write_pictures(folder: Path, name: str, figure: Any, formats: Sequence[str]) -> None:
    """Write a matplotlib figure in each of the formats, and print the files' names."""
    for format in dict.fromkeys(formats):
        write_file(folder / f"{name}.{format}", render_figure(figure, format))


def write_report(path: Path, page: Any) -> None:
    """Write a :class:`~imu_simulation_framework.report.page.Page`, and print the file's name."""
    # Imported here, so that a call without a report does not load it.
    from ..report.page import page_html

    write_file(path, page_html(page).encode("utf-8"))


def named_column(text) -> tuple[str, str]:
    """Return quantity and column of ``QUANTITY=NAME [UNIT]``; raises ConfigurationError."""
    quantity, separator, column = text.partition("=")
    if not separator or not quantity.strip() or not column.strip():
        raise ConfigurationError(
            f"--column {quote(text)} is not understood, expected for instance 'gyro_x=wx [deg/s]'"
        )
    return quantity.strip(), column.strip()


def add_layout_option(add) -> None:
    """Add ``--layout``, which :func:`guessed_columns` and :func:`.set_up` take."""
    add(
        "--layout", metavar="FILE", type=_layout,
        help="a recording layout that names the columns, or the name of a bundled one",
    )  # fmt: skip


def _layout(name):
    from ..recordings.layouts import read_layout

    return read_layout(name)


def guessed_columns(path, rate, sentences, layout=None) -> dict | None:
    """Find gyroscope and accelerometer in a text file with names of its own.

    Parameters
    ----------
    path : path-like
        The recording.
    rate : float or None
        Samples per second, which replaces a time [Hz].
    sentences : list of str
        A sentence on the columns is added.
    layout : RecordingLayout, optional
        The layout that the user names.

    Returns
    -------
    dict or None
        Column map; None where none is needed or found.

    Raises
    ------
    RecordingError
        No column is the time, and there is no rate.
    """
    from ..recordings.file_access import has_columns

    if not has_columns(path):
        return None
    from ..recordings.columns import find_columns

    found = find_columns(path, "imu_recording", layout=layout)
    wanted = ("time", *GYRO, *ACCEL)
    columns = {name: column for name, column in found.columns.items() if name in wanted}
    if found.open_columns:
        sentences += [
            f"{path}: {name} is not known; state it with one of: "
            + " ".join(f"--column '{name}={line}'" for line in lines)
            for name, lines in found.open_columns.items()
        ]
    if columns and "time" not in columns and rate is None:
        lines = found.open_columns.get("time", ())
        options = "".join(f", or --column 'time={line}'" for line in lines)
        raise RecordingError(
            f"{path}: no column is the time; state the rate with --rate HZ{options}"
        )
    if columns:
        listing = ", ".join(f"{name}={column}" for name, column in columns.items())
        by = f"by the layout {found.layout}" if found.layout else "guessed"
        sentences.append(f"{path}: columns are {by}, say it with --column if not so: {listing}")
    return columns or None
