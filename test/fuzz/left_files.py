"""Checks of the files after a program run: changed inputs, incomplete and unreadable files."""

from __future__ import annotations

import configparser
import csv
import gzip
import hashlib
import io
import json
import math
import os
import re
import sqlite3
import stat
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import mcap.reader
import numpy as np
import yaml
from PIL import Image
from rosbags import rosbag1

_HALF_WRITTEN = (".part", ".active", ".tmp")
_MAX_HASHED_SIZE = 2**26
# First characters of cells that spreadsheets evaluate as formulas.
_FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.]|inf|nan)")


def list_contents(folder) -> dict:
    """Return mode and content of all files below a folder by path; do not follow links."""
    contents = {}
    for path in sorted(Path(folder).rglob("*")):
        state = os.lstat(path)
        content = None
        if stat.S_ISREG(state.st_mode):
            # A sparse file may be larger than the memory, so large files are compared by size.
            small = state.st_size <= _MAX_HASHED_SIZE
            # An unreadable file is also compared by size.
            is_readable = small and os.access(path, os.R_OK)
            content = hashlib.sha256(path.read_bytes()).digest() if is_readable else state.st_size
        elif stat.S_ISLNK(state.st_mode):
            content = os.readlink(path)
        contents[str(path.relative_to(folder))] = (state.st_mode, content)
    return contents


def is_below(name, places) -> bool:
    """Return whether a path is one of the given paths or below one of them."""
    return any(name == place or name.startswith(f"{place}/") for place in places)


def changed_files(initial, final, changed=()) -> list[str]:
    """List files that were changed or removed, and incomplete new files.

    Parameters
    ----------
    initial, final : dict
        Results of :func:`list_contents` before and after the run.
    changed : iterable of str
        Files and folders that may change.
    """
    violations = [
        f"{'changed' if name in final else 'removed'}: {name}"
        for name, content in initial.items()
        if final.get(name) != content and not is_below(name, changed)
    ]
    new = (Path(name) for name in final if name not in initial)
    half_written = (
        path for path in new if path.suffix in _HALF_WRITTEN or path.name.startswith(".")
    )
    return violations + [f"leaves {path}" for path in half_written]


def unreadable_files(folder, names) -> list[str]:
    """Return a message for each file that the reader of its format rejects."""
    violations = []
    for name in names:
        try:
            if (path := Path(folder) / name).is_file():
                _check_file(path)
        except Exception as error:  # each reader raises different exceptions
            violations.append(
                f"leaves an unreadable file: {name}: {type(error).__name__}: {error}"[:300]
            )
    return violations


class Extent(NamedTuple):
    """Size of a complete table: rows without header, and last value of the first column."""

    rows: int | None = None
    last: float | None = None


def incomplete_tables(folder, tables) -> list[str]:
    """Return a message for each table that is missing or incomplete.

    Parameters
    ----------
    folder : path-like
        Scratch folder.
    tables : mapping
        Relative path of a table -> its :class:`Extent`.
    """
    violations = []
    for name, extent in tables.items():
        path = Path(folder) / name
        if not path.is_file():
            violations.append(f"there is no {name}")
            continue
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        lines = text.splitlines()[path.suffix != ".tum" :]
        last = re.split("[, ]", lines[-1])[0] if lines else ""
        if extent.rows is not None and len(lines) != extent.rows:
            violations.append(f"{name} has {len(lines)} rows, expected {extent.rows}")
        if extent.last is not None and not _is_close(last, extent.last):
            violations.append(f"{name} ends at {last!r}, expected {extent.last}")
    return violations


def _is_close(text, value) -> bool:
    try:
        return math.isclose(float(text), value, abs_tol=1e-6)
    except ValueError:
        return False


def _check_file(path):
    content = path.read_bytes()
    if not content:
        raise ValueError("file is empty")
    # A bag may have any name.
    suffix = ".bag" if content.startswith(b"#ROSBAG") else path.suffix
    if suffix == ".gz":
        content, suffix = gzip.decompress(content), path.with_suffix("").suffix
    if suffix in _READERS:
        _READERS[suffix](path, content)
    elif suffix not in _UNCHECKED_SUFFIXES:
        _check_text(content)


def _check_text(content) -> str:
    text = content.decode("utf-8")
    bad = next((line for line in text.split("\n") if not line.replace("\t", "").isprintable()), "")
    if bad:
        raise ValueError(f"line {bad[:100]!a} is unprintable, expected printable text")
    if not text.endswith("\n"):
        raise ValueError(f"end of file is {text[-50:]!r}, expected a line feed")
    return text


def _check_csv(_, content):
    header, *rows = csv.reader(io.StringIO(_check_text(content)), strict=True)
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"line {number}: number of cells is {len(row)}, expected {len(header)}"
            )
    formulas = [cell for row in (header, *rows) for cell in row if _FORMULA.match(cell)]
    if formulas:
        raise ValueError(f"cell {formulas[0][:100]!r} is a formula, expected text or a number")


def _check_json(_, content):
    def reject(constant):
        raise ValueError(f"number is {constant}, expected valid JSON")

    json.loads(_check_text(content), parse_constant=reject)


def _check_html(_, content):
    text = content.decode("utf-8")
    if "\x1b" in text:
        raise ValueError("page contains an escape character, expected printable text")
    HTMLParser().feed(text)
    if not text.rstrip().endswith("</html>"):
        raise ValueError(f"end of page is {text[-50:]!r}, expected </html>")


def _check_yaml(_, content):
    if yaml.safe_load(_check_text(content)) is None:
        raise ValueError("file has no content")


def _check_image(path, _):
    with Image.open(path) as image:
        image.load()


def _check_pdf(_, content):
    if not content.rstrip().endswith(b"%%EOF"):
        raise ValueError("%%EOF is missing at the end")


def _check_arrays(path, _):
    with np.load(path, allow_pickle=False) as arrays:
        dict(arrays)


def _check_bag(path, _):
    # A bag may have any name.
    if not sum(1 for _ in _MESSAGE_READERS.get(path.suffix, _read_bag_messages)(path)):
        raise ValueError("bag contains no message")


def _read_bag_messages(path):
    with rosbag1.Reader(path) as reader:
        yield from reader.messages()


def _read_mcap_messages(path):
    with open(path, "rb") as file:
        yield from mcap.reader.make_reader(file).iter_messages()


def _read_db3_messages(path):
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as database:
        ((answer,),) = database.execute("PRAGMA integrity_check")
        if answer != "ok":
            raise ValueError(answer)
        yield from database.execute(
            "SELECT name, timestamp, data FROM messages JOIN topics ON topic_id = topics.id"
        )


_MESSAGE_READERS = {
    ".bag": _read_bag_messages,
    ".mcap": _read_mcap_messages,
    ".db3": _read_db3_messages,
}


_READERS = {
    ".csv": _check_csv,
    ".json": _check_json,
    ".html": _check_html,
    ".ini": lambda _, text: configparser.ConfigParser(interpolation=None).read_string(
        _check_text(text)
    ),
    ".yaml": _check_yaml,
    ".png": _check_image,
    ".pdf": _check_pdf,
    ".npz": _check_arrays,
    **dict.fromkeys(_MESSAGE_READERS, _check_bag),
    **dict.fromkeys(
        (".svg", ".world", ".sdf", ".xml"), lambda _, content: ElementTree.fromstring(content)
    ),
}
# Formats without a check: those of this package, and files that are read only in their folder.
_UNCHECKED_SUFFIXES = (".chunk", ".zstd")
