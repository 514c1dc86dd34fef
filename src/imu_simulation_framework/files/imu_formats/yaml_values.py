"""YAML files as mappings that know the lines of their keys."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.imu_formats.xml_tags import read_bytes


class _Entry(NamedTuple):
    line: int
    node: object


class YamlMapping:
    """A mapping of a YAML file, whose values are asked for by the type they should have.

    Every method that returns a value raises a :class:`ConfigurationError` with file, line and key
    if the key is missing or its value is of another kind.
    """

    def __init__(self, file: Path, node, name: str = ""):
        self.file = file
        self.name = name
        self._entries = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            text = getattr(key, "value", None)
            if not isinstance(text, str):
                raise ConfigurationError(f"{file}, line {line}: a key must be a word.")
            if text in self._entries:
                raise ConfigurationError(
                    f"{file}, line {line}: {self.path(text)} stands here a second time, after line "
                    f"{self._entries[text].line}."
                )
            self._entries[text] = _Entry(line, value)

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
        if key in self._entries:
            place = f"{self.file}, line {self._entries[key].line}"
        else:
            place = str(self.file)
        return ConfigurationError(f"{place}: {self.path(key)} {message}.")

    def refuse_others(self, known):
        """Refuse keys that are not among the known ones."""
        for key in self._entries:
            if key not in known:
                raise self.error(key, f"is not known here; known are {', '.join(known)}")

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

    def text(self, key: str, choices=None) -> str:
        """Return the text under a key, one of the choices if there are any."""
        value = getattr(self._node(key), "value", None)
        if not isinstance(value, str):
            raise self.error(key, "must be a text")
        if choices is not None and value not in choices:
            raise self.error(key, f"is {value!r}, but must be one of {', '.join(choices)}")
        return value

    def number(self, key: str) -> float:
        """Return the finite number under a key."""
        return self._number(key, self._node(key))

    def positive(self, key: str) -> float:
        """Return the finite number above zero under a key."""
        value = self.number(key)
        if value <= 0.0:
            raise self.error(key, f"is {value!r}, but must be above 0")
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
        return self._entries[key].node

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

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    ConfigurationError
        The file cannot be read, is no YAML, or something else than a mapping.
    """
    import yaml

    path = Path(path)
    try:
        node = yaml.compose(read_bytes(path), Loader=yaml.SafeLoader)
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
