"""Command-line options that several programs share, and output of results."""

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
    """Parse a number and check that it satisfies a condition.

    Parameters
    ----------
    text : str
        Text to parse.
    accepted : callable
        Function that returns whether a number is accepted.
    refusal : str
        Error message.

    Returns
    -------
    float
        Parsed number.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a number, or does not satisfy the condition.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not accepted(value):
        raise argparse.ArgumentTypeError(refusal)
    return value


def number_type(accepted: Callable[[float], bool], refusal: str) -> Callable[[str], float]:
    """Return an argparse type for numbers that satisfy a condition.

    Parameters
    ----------
    accepted : callable
        Function that returns whether a number is accepted.
    refusal : str
        Part of the error message that follows the rejected text.

    Returns
    -------
    callable
        Function that converts text to a number.
    """
    return lambda text: accepted_number(text, accepted, f"{quote(text)} {refusal}")


def whole_type(minimum: int, maximum: float, refusal: str) -> Callable[[str], int]:
    """Return an argparse type for integers within bounds.

    Parameters
    ----------
    minimum, maximum : int
        Inclusive bounds.
    refusal : str
        Part of the error message that follows the rejected text.

    Returns
    -------
    callable
        Function that converts text to an integer.
    """

    def parse(text: str) -> int:
        # int() also accepts non-ASCII digits.
        if not (text.isascii() and text.isdecimal()) or not minimum <= int(text) <= maximum:
            raise argparse.ArgumentTypeError(f"{quote(text)} {refusal}")
        return int(text)

    return parse


whole_number = whole_type(0, math.inf, "is not valid, expected an integer of at least 0")
worker_count = whole_type(1, 1024, "is not a valid number of workers, expected 1 to 1024")
run_count = whole_type(1, math.inf, "is not a valid number of runs, expected 1 or more")
positive_number = number_type(
    lambda value: 0.0 < value < math.inf, "is not valid, expected a number above 0"
)
not_negative = number_type(
    lambda value: 0.0 <= value < math.inf, "is not valid, expected a number of at least 0"
)


def add_result(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``result`` to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    """
    parser.add_argument(
        "result", metavar="RESULT", help="folder of a run, FOLDER/PREFIX, or any file of the result"
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--seed`` to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    """
    parser.add_argument(
        "--seed", type=whole_number, default=1, metavar="S",
        help="seed of the random number generator, by default 1",
    )  # fmt: skip


def add_formats(
    parser: argparse.ArgumentParser, text: str = "file formats of the figures, by default png"
):
    """Add the option ``--formats`` to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    text : str, optional
        Help of the option.
    """
    parser.add_argument("--formats", nargs="+", choices=FIGURE_FORMATS, default=["png"], help=text)


def add_out(parser: argparse.ArgumentParser, folder: str) -> None:
    """Add the option ``--out`` to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    folder : str
        Default folder.
    """
    parser.add_argument(
        "-o", "--out", type=Path, default=Path(folder), metavar="DIR",
        help="folder for the results, by default %(default)s",
    )  # fmt: skip


def add_unit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options ``--gyro-unit`` and ``--accel-unit`` to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    """
    for sensor, units, usual in (
        ("gyro", GYRO_UNITS, ImuConventions.gyro_unit),
        ("accel", ACCEL_UNITS, ImuConventions.accel_unit),
    ):
        parser.add_argument(
            f"--{sensor}-unit",
            choices=tuple(units),
            default=usual,
            help="unit of recordings that do not state their unit, by default %(default)s",
        )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--table``, which selects the format of a printed table, to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    """
    # Imported here so that programs without a table do not load pandas.
    from ..report.table import ENDINGS

    parser.add_argument(
        "--table", choices=("terminal", *ENDINGS), default="terminal", metavar="FORMAT",
        help=f"format of the printed table: terminal (default), {', '.join(ENDINGS)}",
    )  # fmt: skip


def add_results(parser: argparse.ArgumentParser, folder: str) -> None:
    """Add the options for figures, web page and results folder to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    folder : str
        Default folder.
    """
    add_report(parser)
    add_formats(parser)
    add_out(parser, folder)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--report`` to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the program.
    """
    parser.add_argument("--report", action="store_true", help="also write a web page")


def results_folder(path: Path, names: Iterable[str], inputs: Sequence[Any]) -> Path:
    """Create the results folder, and check that no result overwrites an input.

    Parameters
    ----------
    path : Path
        Results folder.
    names : iterable of str
        File names of the results.
    inputs : sequence of str or Path
        Files that the program reads.

    Returns
    -------
    Path

    Raises
    ------
    ResultError
        A result would overwrite an input, or the folder cannot be created.
    """
    folder = make_folder(path)
    for name in names:
        refuse_overwriting(folder / name, inputs)
    return folder


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically and print its path.

    Parameters
    ----------
    path : Path
        Path of the file.
    content : bytes
        Content of the file.
    """
    write_whole(path, content)
    print(path)


def write_pictures(folder: Path, name: str, figure: Any, formats: Sequence[str]) -> None:
    """Write a matplotlib figure in several formats and print the paths of the files.

    Parameters
    ----------
    folder : Path
        Folder of the files.
    name : str
        File name without suffix.
    figure : matplotlib.figure.Figure
        Figure to write.
    formats : sequence of str
        File formats, such as ``png``.
    """
    for format in dict.fromkeys(formats):
        write_file(folder / f"{name}.{format}", render_figure(figure, format))


def write_report(path: Path, page: Any) -> None:
    """Write a :class:`~imu_simulation_framework.report.page.Page` and print its path.

    Parameters
    ----------
    path : Path
        Path of the file.
    page : Page
        Description of the page.
    """
    # Imported here so that programs load this module only with --report.
    from ..report.page import page_html

    write_file(path, page_html(page).encode("utf-8"))


def named_column(text) -> tuple[str, str]:
    """Split an argument of the form ``QUANTITY=NAME [UNIT]``.

    Parameters
    ----------
    text : str
        Argument of ``--column``.

    Returns
    -------
    quantity, column : str
        Name of the quantity, and name and unit of its column.

    Raises
    ------
    ConfigurationError
        The argument does not have this form.
    """
    quantity, separator, column = text.partition("=")
    if not separator or not quantity.strip() or not column.strip():
        raise ConfigurationError(
            f"--column is {quote(text)}, expected QUANTITY=NAME [UNIT] as in 'gyro_x=wx [deg/s]'"
        )
    return quantity.strip(), column.strip()


def add_layout_option(add) -> None:
    """Add the option ``--layout`` to a parser, for :func:`columns_by_name` and :func:`.set_up`.

    Parameters
    ----------
    add : callable
        Method ``add_argument`` of a parser or of a group.
    """
    add(
        "--layout", metavar="FILE", type=_layout,
        help="recording layout, which maps column names: a file, or the name of a bundled layout",
    )  # fmt: skip


def _layout(name):
    from ..recordings.layouts import read_layout

    return read_layout(name)


def columns_by_name(path, rate, remarks, layout=None) -> dict | None:
    """Find the columns of gyroscope and accelerometer in a text file.

    Parameters
    ----------
    path : path-like
        Recording.
    rate : float or None
        Sample rate, which replaces a time column [Hz].
    remarks : list of str
        List to which remarks on the columns are appended.
    layout : RecordingLayout, optional
        Layout that the user has chosen.

    Returns
    -------
    dict or None
        Column map; None if the format has no columns, or none is recognised.

    Raises
    ------
    RecordingError
        There is neither a time column nor a rate.
    """
    from ..recordings.file_access import has_columns

    if not has_columns(path):
        return None
    from ..recordings.columns import find_columns

    choice = find_columns(path, "imu_recording", layout=layout)
    quantities = ("time", *GYRO, *ACCEL)
    columns = {name: column for name, column in choice.columns.items() if name in quantities}
    if choice.open_columns:
        remarks += [
            f"{path}: {name} is ignored, since its column or unit is ambiguous; choose one of: "
            + " ".join(f"--column '{name}={line}'" for line in lines)
            for name, lines in choice.open_columns.items()
        ]
    if columns and "time" not in columns and rate is None:
        lines = choice.open_columns.get("time", ())
        options = "".join(f", or --column 'time={line}'" for line in lines)
        raise RecordingError(
            f"{path}: no column contains times; state the rate with --rate HZ{options}"
        )
    if columns:
        listing = ", ".join(f"{name}={column}" for name, column in columns.items())
        origin = f"those of the layout {choice.layout}" if choice.layout else "chosen by name"
        remarks.append(f"{path}: columns are {origin} (change them with --column): {listing}")
    return columns or None
