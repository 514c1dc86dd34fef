"""A trial: hostile inputs in a folder, what is to be run on them, and how it is to end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable

from harm_bytes import harmed_bytes, packed
from harm_tables import harmed_table
from verdict import Expected

OUT = "out"


def nothing(folder) -> Iterable[str]:
    """What is wrong with results of which no more is known than that they can be read."""
    return ()


@dataclass(frozen=True)
class Trial:
    """What is to be run in a folder that has been prepared, and how it is to end.

    ``compare`` takes the folder of a tool that has done its work, and yields what is wrong there.
    """

    tool: str
    arguments: list[str]
    expected: Expected  # to which the judge adds what the tool leaves behind, by its --out
    figures: bool = False
    compare: Callable[[Path], Iterable[str]] = nothing


def put(folder, name, content) -> str:
    """Put a file into a trial's folder; return its name."""
    (Path(folder) / name).write_bytes(content)
    return name


def harmed(random, specimen):
    """A specimen after an accident: its name, perhaps another one, and its bytes."""
    content, name = specimen.content, specimen.name
    if specimen.separator and random.random() < 0.85:
        content = harmed_table(random, content.decode(), specimen.separator)
    else:
        content = harmed_bytes(random, content)
    if random.random() < 0.1:
        content, ending = packed(random, content)
        name += ending
    if random.random() < 0.05:
        name = f"a{random.choice(('.csv', '.bag', '.tum', '.db3', '.mcap', '', '.CSV', '.bag.gz'))}"
    return name, content


def as_values(arguments):
    """Options and values in one word, so that a value that begins with a minus is one."""
    words, waiting = [], list(arguments)
    while waiting:
        item = waiting.pop(0)
        if item.startswith("--") and waiting and len(item) > 2 and "=" not in item:
            item = f"{item}={waiting.pop(0)}"
        words.append(item)
    return [item.replace("\0", "") for item in words]
