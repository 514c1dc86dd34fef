"""Messages as ``rostopic echo`` and ``ros2 topic echo`` print them: YAML with ``---`` between.

Fields are columns, ``header.stamp.sec``; of a list in one line the first elements, ``data[0]``.
"""

from __future__ import annotations

import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.cleaning import MINIMUM_SAMPLES
from imu_simulation_framework.recordings.file_access import text_blocks
from imu_simulation_framework.recordings.text_table import text_lines

_END = "---"
_LONGEST_LIST = 9


def read_echoed(path) -> dict[str, pd.DataFrame]:
    """Return the table of the messages of a text.

    Raises RecordingError: there are too few, or a line is no field of a message.
    """
    rows: list[dict[str, float]] = [{}]
    within: list[tuple[int, str]] = []
    for number, line in enumerate(text_lines(text_blocks(path)), 1):
        text = line.strip()
        if text == _END:
            within = []
            rows += [{}] if rows[-1] else []
            continue
        if not text or text.startswith(("#", "-", "...")):
            continue  # an element of a list in lines of its own
        name, colon, value = text.partition(":")
        if not colon:
            raise RecordingError(
                f"{path}: line {number} is no field of a message, expected lines as x: 0.1 and "
                f"{_END} between messages, as rostopic echo prints them"
            )
        indent = len(line) - len(line.lstrip())
        while within and within[-1][0] >= indent:
            within.pop()
        within.append((indent, name.strip("\"'")))
        rows[-1].update(_numbers(".".join(part for _, part in within), value.strip()))
    whole = [row for row in rows if len(row) == len(rows[0])]
    if len(whole) < MINIMUM_SAMPLES:
        raise RecordingError(
            f"{path}: holds {len(whole)} whole messages as rostopic echo prints them, expected at "
            f"least {MINIMUM_SAMPLES}"
        )
    return {"messages": pd.DataFrame(whole)}


def _numbers(name, value):
    """Yield the column and the number of a field, or of each element of a list; none of a text."""
    parts = {name: value}
    if value.startswith("["):
        elements = value.strip("[]").split(",")[:_LONGEST_LIST]
        parts = {f"{name}[{place}]": element for place, element in enumerate(elements)}
    for column, text in parts.items():
        try:
            yield column, float(text)
        except ValueError:
            continue
