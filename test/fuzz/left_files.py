"""What a program has left in its folder: what it should not have touched, and what is no good."""

from __future__ import annotations

import configparser
import csv
import gzip
import hashlib
import io
import json
import os
import re
import sqlite3
import stat
import tempfile
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import mcap.reader
import numpy as np
import yaml
import zstandard
from PIL import Image
from rosbags import rosbag1

_HALF_WRITTEN = (".part", ".active", ".tmp")
_LARGEST = 2**26
_FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.]|inf|nan)")
"""How a cell begins that programs with tables compute."""


def contents(folder) -> dict:
    """What is in a folder: path below it -> (mode, content) without following links."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        state = os.lstat(path)
        content = None
        if stat.S_ISREG(state.st_mode):
            # A sparse file may be larger than any memory.
            small = state.st_size <= _LARGEST
            # Only root reads what nobody may; to others its mode tells that it changed.
            readable = small and os.access(path, os.R_OK)
            content = hashlib.sha256(path.read_bytes()).digest() if readable else state.st_size
        elif stat.S_ISLNK(state.st_mode):
            content = os.readlink(path)
        found[str(path.relative_to(folder))] = (state.st_mode, content)
    return found


def below(name, places) -> bool:
    """Whether a path is one of these files and folders, or in one."""
    return any(name == place or name.startswith(f"{place}/") for place in places)


def harmed(before, after, changed=()) -> list[str]:
    """Files that changed or have gone, but for those of ``changed``, and half-written new ones."""
    short = [
        f"{'changed' if name in after else 'removed'}: {name}"
        for name, content in before.items()
        if after.get(name) != content and not below(name, changed)
    ]
    new = (Path(name) for name in after if name not in before)
    half = (path for path in new if path.suffix in _HALF_WRITTEN or path.name.startswith("."))
    return short + [f"left behind: {path}" for path in half]


def unreadable(folder, names) -> list[str]:
    """Files that their own format does not let one read as a whole, each with the reason."""
    short = []
    for name in names:
        try:
            if (path := Path(folder) / name).is_file():
                _read(path)
        except Exception as error:  # whatever a reader raises tells that it cannot be read
            short.append(f"left what cannot be read: {name}: {type(error).__name__}: {error}"[:300])
    return short


def _read(path):
    content = path.read_bytes()
    if not content:
        raise ValueError("it is empty")
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
        raise ValueError(f"its last line has no end: {text[-50:]!r}")
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
        raise ValueError(f"{constant} is no JSON")

    json.loads(_text(content), parse_constant=refuse)


def _html(_, content):
    text = content.decode("utf-8")
    if "\x1b" in text:
        raise ValueError("it holds ESC")
    HTMLParser().feed(text)
    if not text.rstrip().endswith("</html>"):
        raise ValueError(f"it ends with {text[-50:]!r}")


def _yaml(_, content):
    if yaml.safe_load(_text(content)) is None:
        raise ValueError("it says nothing")


def _image(path, _):
    with Image.open(path) as image:
        image.load()


def _pdf(_, content):
    if not content.rstrip().endswith(b"%%EOF"):
        raise ValueError("its end is missing")


def _arrays(path, _):
    with np.load(path, allow_pickle=False) as arrays:
        dict(arrays)


def _bag(path, _):
    if not messages(path):
        raise ValueError("it has no message")


def messages(path) -> dict:
    """Topic -> times [ns] and bytes of a bag's messages, as they were before they were packed.

    Of ROS 2 it is a file, or a folder with one; its description is not needed.
    """
    path = Path(path)
    if path.is_dir():
        (path,) = (file for file in path.iterdir() if {".db3", ".mcap"} & {*file.suffixes})
    found: dict[str, list] = {}
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix == ".zstd":
            packed, path = path, Path(folder) / path.stem
            path.write_bytes(zstandard.decompress(packed.read_bytes()))
        for topic, time, data in _STORED.get(path.suffix, _in_bag)(path):
            packed = bytes(data[:4]) == b"\x28\xb5\x2f\xfd"
            plain = zstandard.decompress(data) if packed else bytes(data)
            found.setdefault(topic, []).append((time, plain))
    return found


def _in_bag(path):
    with rosbag1.Reader(path) as reader:
        yield from ((of.topic, time, data) for of, time, data in reader.messages())


def _in_mcap(path):
    with open(path, "rb") as file:
        for _, channel, message in mcap.reader.make_reader(file).iter_messages():
            yield channel.topic, message.log_time, message.data


def _in_db3(path):
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as database:
        ((answer,),) = database.execute("PRAGMA integrity_check")
        if answer != "ok":
            raise ValueError(answer)
        yield from database.execute(
            "SELECT name, timestamp, data FROM messages JOIN topics ON topic_id = topics.id "
            "ORDER BY timestamp, messages.id"
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
"""Formats that only this package reads, or whose content was read with their folder."""
