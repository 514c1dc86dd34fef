"""Fuzzing cases: input files, arguments and the required outcome of a program."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping

import sample_files
from hypothesis import settings
from hypothesis import strategies as st
from program_result import Expected
from strategies.files import damaged_archives, damaged_bytes
from strategies.tables import damaged_tables

# Output folder of all cases.
OUT = "out"

# Fewer examples for programs that take seconds, for example to draw figures.
EXPENSIVE = settings(max_examples=max(1, settings.default.max_examples // 10))


TEXTS = ("own.csv", "from_zero.csv", "imu.csv", "car.csv", "car_semicolon.csv", "car_ns.csv")
TEXTS += ("fixes.csv", "echoed.csv", "a.tum")
BAGS = ("drive.bag", "bz2.bag", "lz4.bag", "small_chunks.bag", "drive.db3", "packed.db3")
BAGS += ("drive.mcap", "flat.mcap")
# Text recordings that the package reads without a column map.
READABLE_TEXTS = tuple(name for name in TEXTS if not name.startswith("car"))


def recordings(*names):
    """Return a strategy that selects one of the named recordings."""
    return st.sampled_from(names).map(sample_files.recording)


def samples_in_use(sample_file, kind, unusable=0, repeated=0, missing=0) -> str:
    """Return a regular expression for the sample count in a report."""
    count = sample_files.samples(sample_file, kind) - missing
    return rf"\b{count - unusable} of {count + repeated} samples in use"


ANY_OUTCOME = Expected()


@dataclass(frozen=True)
class Case:
    """Program call with hostile inputs.

    Parameters
    ----------
    tool : str
        Name of the program, or a key of ``targets.PARTS``.
    arguments : sequence of str
        Command-line arguments.
    files : mapping
        Relative path -> content, or a special file of ``strategies.files``.
    expected : Expected
        Required outcome; the test oracle adds the files that the program always writes.
    draws_figures : bool
        Whether to draw figures, which takes most of the time.
    """

    tool: str
    arguments: tuple[str, ...]
    files: Mapping[str, object] = field(default_factory=dict)
    expected: Expected = ANY_OUTCOME
    draws_figures: bool = False

    def __repr__(self) -> str:
        return f"Case({self.command_text()}, files: {', '.join(map(repr, self.files))})"

    def command_text(self) -> str:
        """Return the command in shell syntax."""
        return " ".join(shlex.quote(word) for word in (self.tool, *self.arguments))[:1000]

    def put_files(self, folder) -> None:
        """Write the input files to a folder."""
        for name, content in self.files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                content.put(path)


@st.composite
def damaged_sample_files(draw, sample_file) -> tuple[str, bytes]:
    """Generate the corrupted content of a sample file, and a name that may have a wrong suffix."""
    name = sample_file.name
    if sample_file.separator and draw(st.integers(0, 5)):
        content = draw(damaged_tables(sample_file.content, sample_file.separator))
    else:
        content = draw(damaged_bytes(sample_file.content))
    disguise = draw(st.integers(0, 19))
    if disguise == 19:
        name = f"drive{draw(st.sampled_from(_SUFFIXES))}"
    elif disguise >= 17:
        content, suffix = draw(damaged_archives(content))
        name += suffix
    return name, content


_SUFFIXES = (".csv", ".bag", ".tum", ".db3", ".mcap", "", ".CSV", ".bag.gz")


def join_options(arguments) -> tuple[str, ...]:
    """Join options and values by ``=``, so that values may begin with a minus sign."""
    joined, remaining = [], list(arguments)
    while remaining:
        word = remaining.pop(0)
        if word.startswith("--") and len(word) > 2 and "=" not in word and remaining:
            word = f"{word}={remaining.pop(0)}"
        joined.append(word)
    return tuple(joined)
