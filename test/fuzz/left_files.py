"""Files that a program leaves: changed inputs, half-written files, and unreadable results."""

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
_LARGEST = 2**26
_FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.]|inf|nan)")
"""Beginning of a cell that spreadsheets compute."""


def list_contents(folder) -> dict:
    """Return the content of a folder: path below it -> (mode, content), without following links."""
    contents = {}
    for path in sorted(Path(folder).rglob("*")):
        state = os.lstat(path)
        content = None
        if stat.S_ISREG(state.st_mode):
            # A sparse file may be larger than any memory.
            small = state.st_size <= _LARGEST
            # Without permission to read, the mode shows a change.
            is_readable = small and os.access(path, os.R_OK)
            content = hashlib.sha256(path.read_bytes()).digest() if is_readable else state.st_size
        elif stat.S_ISLNK(state.st_mode):
            content = os.readlink(path)
        contents[str(path.relative_to(folder))] = (state.st_mode, content)
    return contents


def is_below(name, places) -> bool:
    """Return whether a path is one of these files and folders, or in one of them."""
    return any(name == place or name.startswith(f"{place}/") for place in places)


def changed_files(before, after, changed=()) -> list[str]:
    """Return lines on files that were changed or removed, and on half-written new files.

    Parameters
    ----------
    before, after : dict
        Results of :func:`list_contents`.
    changed : iterable of str
        Files and folders that may change.
    """
    short = [
        f"{'changed' if name in after else 'removed'}: {name}"
        for name, content in before.items()
        if after.get(name) != content and not is_below(name, changed)
    ]
    new = (Path(name) for name in after if name not in before)
    half = (path for path in new if path.suffix in _HALF_WRITTEN or path.name.startswith("."))
    return short + [f"leaves {path}" for path in half]


def unreadable_files(folder, names) -> list[str]:
    """Return a line on each file that is not whole in its own format, with the reason."""
    short = []
    for name in names:
        try:
            if (path := Path(folder) / name).is_file():
                _read(path)
        except Exception as error:  # each reader has exceptions of its own
            short.append(
                f"leaves an unreadable file: {name}: {type(error).__name__}: {error}"[:300]
            )
    return short


class Extent(NamedTuple):
    """The extent of a whole table: its rows without a header, and the end of its first column."""

    rows: int | None = None
    last: float | None = None


def incomplete_tables(folder, tables) -> list[str]:
    """Return a line on each table that lacks rows.

    Parameters
    ----------
    folder : path-like
        The scratch folder.
    tables : mapping
        Path of a table below the folder -> its :class:`Extent`.
    """
    short = []
    for name, extent in tables.items():
        path = Path(folder) / name
        if not path.is_file():
            short.append(f"there is no {name}")
            continue
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        lines = text.splitlines()[path.suffix != ".tum" :]
        last = re.split("[, ]", lines[-1])[0] if lines else ""
        if extent.rows is not None and len(lines) != extent.rows:
            short.append(f"{name} has {len(lines)} rows, expected {extent.rows}")
        if extent.last is not None and not _is_close(last, extent.last):
            short.append(f"{name} ends at {last!r}, expected {extent.last}")
    return short


def _is_close(text, value) -> bool:
    try:
        return math.isclose(float(text), value, abs_tol=1e-6)
    except ValueError:
        return False


def _read(path):
    content = path.read_bytes()
    if not content:
        raise ValueError("empty")
    # A bag may have any name.
    suffix = ".bag" if content.startswith(b"#ROSBAG") else path.suffix
    if suffix == ".gz":
        content, suffix = gzip.decompress(content), path.with_suffix("").suffix
    if suffix in _READERS:
        _READERS[suffix](path, content)
    elif suffix not in _OTHERS:
        _text(content)


def _text(content) -> str:
    text = content.decode("utf-8")
    bad = next((line for line in text.split("\n") if not line.replace("\t", "").isprintable()), "")
    if bad:
        raise ValueError(f"unprintable: {bad[:100]!a}")
    if not text.endswith("\n"):
        raise ValueError(f"last line has no end: {text[-50:]!r}")
    return text


def _csv(_, content):
    header, *rows = csv.reader(io.StringIO(_text(content)), strict=True)
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"line {number} has {len(row)} cells, the header {len(header)}")
    formulas = [cell for row in (header, *rows) for cell in row if _FORMULA.match(cell)]
    if formulas:
        raise ValueError(f"a cell is a formula: {formulas[0][:100]!r}")


def _json(_, content):
    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    json.loads(_text(content), parse_constant=refuse)


def _html(_, content):
    text = content.decode("utf-8")
    if "\x1b" in text:
        raise ValueError("holds ESC")
    HTMLParser().feed(text)
    if not text.rstrip().endswith("</html>"):
        raise ValueError(f"ends with {text[-50:]!r}")


def _yaml(_, content):
    if yaml.safe_load(_text(content)) is None:
        raise ValueError("no content")


def _image(path, _):
    with Image.open(path) as image:
        image.load()


def _pdf(_, content):
    if not content.rstrip().endswith(b"%%EOF"):
        raise ValueError("end is missing")


def _arrays(path, _):
    with np.load(path, allow_pickle=False) as arrays:
        dict(arrays)


def _bag(path, _):
    # A bag may have any name.
    if not sum(1 for _ in _STORED.get(path.suffix, _in_bag)(path)):
        raise ValueError("no message")


def _in_bag(path):
    with rosbag1.Reader(path) as reader:
        yield from reader.messages()


def _in_mcap(path):
    with open(path, "rb") as file:
        yield from mcap.reader.make_reader(file).iter_messages()


def _in_db3(path):
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as database:
        ((answer,),) = database.execute("PRAGMA integrity_check")
        if answer != "ok":
            raise ValueError(answer)
        yield from database.execute(
            "SELECT name, timestamp, data FROM messages JOIN topics ON topic_id = topics.id"
        )


_STORED = {".bag": _in_bag, ".mcap": _in_mcap, ".db3": _in_db3}


_READERS = {
    ".csv": _csv,
    ".json": _json,
    ".html": _html,
    ".ini": lambda _, text: configparser.ConfigParser(interpolation=None).read_string(_text(text)),
    ".yaml": _yaml,
    ".png": _image,
    ".pdf": _pdf,
    ".npz": _arrays,
    **dict.fromkeys(_STORED, _bag),
    **dict.fromkeys(
        (".svg", ".world", ".sdf", ".xml"), lambda _, content: ElementTree.fromstring(content)
    ),
}
_OTHERS = (".chunk", ".zstd")
"""Formats of this package alone, and packed files that are read with their folder."""
