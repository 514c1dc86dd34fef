"""JSON: an object a line, or one array of objects, each a sample.

Objects inside an object are columns with a dot, ``gyro.x``. Where all have a text in ``sensor``,
``name`` or ``topic``, as Sensor Logger writes it, each of them is a table.
"""

from __future__ import annotations

import collections
import json

import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.file_access import text_blocks
from imu_simulation_framework.recordings.text_table import text_lines

_SENSORS = ("sensor", "name", "topic")


def read_json(path) -> dict[str, pd.DataFrame]:
    """Return the tables of a file; raises RecordingError where it is no JSON of samples."""
    samples: list[dict] = []
    owners: collections.Counter = collections.Counter()
    for place, one in _objects(path):
        if not isinstance(one, dict):
            raise RecordingError(
                f"{path}: {place} is no object, expected samples as {{'time': 0.1, 'gyro_z': 0.2}}"
            )
        samples.append(dict(_flat(one)))
        owners.update(key for key in _SENSORS if isinstance(one.get(key), str))
    key = next((key for key in _SENSORS if owners[key] == len(samples)), None)
    tables = collections.defaultdict(list)
    for sample in samples:
        tables[sample.pop(key) if key else "table"].append(sample)
    return {name: pd.DataFrame(rows).apply(_column) for name, rows in tables.items()}


def _objects(path):
    """Yield place and value of each sample."""
    lines = text_lines(text_blocks(path))
    first = next((line for line in lines if line.strip()), "")
    try:
        if first.lstrip().startswith("["):
            values = json.loads("\n".join([first, *lines]))
            yield from ((f"sample {number}", one) for number, one in enumerate(values, 1))
            return
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: no JSON: {error}") from None
    number = 0
    for number, line in enumerate([first, *lines], 1):
        try:
            if line.strip():
                yield f"line {number}", json.loads(line)
        except (ValueError, RecursionError) as error:
            raise RecordingError(
                f"{path}: line {number} is no JSON ({error}), expected an object a line"
            ) from None


def _flat(sample, prefix=""):
    for key, value in sample.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            # Of a few numbers, as a vector or a quaternion.
            yield from ((f"{prefix}{key}[{k}]", part) for k, part in enumerate(value[:9]))
        else:
            yield f"{prefix}{key}", value


def _column(cells):
    numbers = pd.to_numeric(cells, errors="coerce")
    return numbers if numbers.notna().sum() == cells.notna().sum() else cells
