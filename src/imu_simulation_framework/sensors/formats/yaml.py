"""YAML files as mappings that know the lines of their keys.

OpenCV's files are read as well: their first line ``%YAML:1.0`` is no directive of YAML's, and tags
like ``!!opencv-matrix`` say nothing of numbers.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Iterable

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.sensors.formats.base import nearest
from imu_simulation_framework.sensors.formats.xml import read_bytes

_OPENCV_HEADER = re.compile(rb"^%(?=YAML\s*:)", re.MULTILINE)


class YamlMapping:
    """A mapping of a YAML file, whose values are asked for by the type they should have.

    Every method that returns a value raises a :class:`.ConfigurationError` with file, line and key
    if the key is missing or its value is of another kind.
    """

    def __init__(self, file: Path, node, name: str = ""):
        self.file = file
        self.name = name
        # Key -> its line, and the node of its value.
        self._entries: dict[str, tuple[int, Any]] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            text = getattr(key, "value", None)
            if not isinstance(text, str):
                raise ConfigurationError(f"{file}, line {line}: a key must be a word.")
            if text in self._entries:
                raise ConfigurationError(
                    f"{file}, line {line}: {self.path(text)} stands here a second time, after line "
                    f"{self._entries[text][0]}."
                )
            self._entries[text] = line, value

    def __contains__(self, key):
        return key in self._entries

    def names(self) -> list[str]:
        """Return the keys in the file's order."""
        return list(self._entries)

    def path(self, key: str) -> str:
        """Return the key with those of the mappings around it."""
        return f"{self.name}.{key}" if self.name else key

    def error(self, key: str, message: str) -> ConfigurationError:
        """Return an error that names the file, the key's line and the key."""
        line = f", line {self._entries[key][0]}" if key in self._entries else ""
        return ConfigurationError(f"{self.file}{line}: {self.path(key)} {message}.")

    def refuse_others(self, known):
        """Refuse keys that are not among the known ones."""
        for key in self._entries:
            if key not in known:
                near = nearest(key, known)
                hint = "" if near is None else f"did you mean {near}? "
                raise self.error(key, f"is not known here; {hint}known are {', '.join(known)}")

    def require(self, keys: Iterable[str], known: Iterable[str] = ()):
        """Refuse a mapping that lacks one of some keys, with the key that may be meant for it.

        Known ones are not meant for another one.
        """
        keys = tuple(keys)
        for key in keys:
            if key not in self._entries:
                near = nearest(key, set(self._entries) - {*keys, *known})
                if near is None:
                    raise self.error(key, "is missing")
                line, _ = self._entries[near]
                raise self.error(key, f"is missing; perhaps {near} in line {line} is meant for it")

    def mapping(self, key: str) -> YamlMapping:
        """Return the mapping under a key."""
        import yaml

        node = self._node(key)
        if not isinstance(node, yaml.MappingNode):
            raise self.error(key, "must have keys and values below it")
        return YamlMapping(self.file, node, self.path(key))

    def is_mapping(self, key: str) -> bool:
        """Tell whether a mapping stands under a key."""
        import yaml

        return isinstance(self._node(key), yaml.MappingNode)

    def is_neutral(self, key: str) -> bool:
        """Tell whether zeros or an identity matrix stand under a key: a calibration without one."""
        rows = _numbers(self._node(key))
        if rows in (0.0, 1.0):
            return rows == 0.0
        square = isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == len(rows) for row in rows
        )
        return square and any(
            all(
                value == one * (i == j) for i, row in enumerate(rows) for j, value in enumerate(row)
            )
            for one in (0.0, 1.0)
        )

    def text(self, key: str, choices=None) -> str:
        """Return the text under a key, one of the choices if there are any."""
        value = getattr(self._node(key), "value", None)
        if not isinstance(value, str):
            raise self.error(key, "must be a text")
        if choices is not None and value not in choices:
            raise self.error(key, f"is {shown(value)}, but must be one of {', '.join(choices)}")
        return value

    def number(self, key: str) -> float:
        """Return the finite number under a key."""
        return self._number(key, self._node(key))

    def positive(self, key: str) -> float:
        """Return the finite number above zero under a key."""
        value = self.number(key)
        if value <= 0.0:
            raise self.error(key, f"is {shown(value)}, but must be above 0")
        return value

    def sizes(self, key: str) -> tuple[float, float, float]:
        """Return finite numbers, not negative, for three axes: a list of three, or one for all."""
        import yaml

        node = self._node(key)
        if isinstance(node, yaml.SequenceNode):
            values = tuple(self._number(key, item) for item in node.value)
            if len(values) != 3:
                raise self.error(key, f"has {len(values)} values, but must have 1 or 3")
        else:
            values = (self._number(key, node),) * 3
        if min(values) < 0.0:
            raise self.error(key, f"is {min(values)!r}, but must not be negative")
        return values

    def _node(self, key):
        if key not in self._entries:
            raise self.error(key, "is missing")
        return self._entries[key][1]

    def _number(self, key, node):
        # As text, since YAML takes 1e-5 for a word.
        text = getattr(node, "value", None)
        try:
            value = float(text) if isinstance(text, str) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            shown = repr(text) if isinstance(text, str) else "no number"
            raise self.error(key, f"is {shown}, but must be a finite number")
        return value


def read_mapping(path) -> YamlMapping:
    """Read a YAML file whose top level is a mapping.

    Raises :class:`.ConfigurationError`: the file cannot be read, is no YAML, or something else than
    a mapping.
    """
    import yaml

    from imu_simulation_framework.core.yaml_files import PlainLoader

    path = Path(path)
    try:
        # As a comment, so that the lines keep their numbers.
        content = _OPENCV_HEADER.sub(b"#", read_bytes(path), count=1)
        node = yaml.compose(content, Loader=PlainLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(
            f"{path}, line {line}: not valid YAML: {error.problem}."
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ConfigurationError(f"{path}: cannot be read as YAML: {reason}.") from error
    if not isinstance(node, yaml.MappingNode):
        raise ConfigurationError(f"{path}: keys and values were expected at the top level.")
    return YamlMapping(path, node)


def _numbers(node):
    """Return a node as a number or as lists of them, with None where there is something else."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return [_numbers(item) for item in node.value]
    try:
        return float(node.value)
    except (TypeError, ValueError):
        return None
