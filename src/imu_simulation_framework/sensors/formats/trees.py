"""Parsing of XML and YAML files into trees with line numbers and typed access to values.

XML is used for robots and plug-ins. Entities, document type declarations and external references
are rejected by defusedxml, so that a file can neither expand without limit nor access other files.
The trees of defusedxml have no line numbers, and lxml, whose trees have them, accepts such
declarations.

A xacro file is expanded first, see :mod:`.xacro_expansion`. If the result contains no sensor, as
for a file of macros, the file itself is read, and values that are expressions are rejected.

OpenCV's YAML files are also read: their first line ``%YAML:1.0`` is not a YAML directive, and tags
such as ``!!opencv-matrix`` do not affect numbers.
"""

from __future__ import annotations

import difflib
import math
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

import numpy as np
import yaml

from ...core.errors import ConfigurationError, FrameworkError
from ...core.files import XML_LIMIT, UnusableXmlError, open_regular, require_bounded_xml
from ...core.sentences import quote
from ...core.whole_files import explain_file_error
from ...core.xacro_expansion import expand_description
from ...core.yaml_files import PlainLoader

EXPAND_WITH_XACRO = "expand the file with xacro first (xacro FILE.xacro -o FILE.urdf)"


@dataclass
class Tag:
    """Tag of an XML file, with the tags inside it.

    The methods from ``numbers`` on convert the text to finite numbers, separated by blanks, or to a
    Boolean value. The ``size`` methods require non-negative numbers. All raise
    :class:`.ConfigurationError` for other texts.

    Parameters
    ----------
    name : str
        Name including the prefix.
    attributes : dict of str to str
        Attribute values by name.
    file : pathlib.Path
        File of the tag.
    line : int
        Line where the tag starts.
    text : str
        Text directly inside the tag.
    children : list of Tag
        Tags directly inside the tag.
    """

    name: str
    attributes: dict[str, str]
    file: Path
    line: int
    text: str = ""
    children: list[Tag] = field(default_factory=list)

    def walk(self) -> Iterator[Tag]:
        """Yield this tag and all tags nested inside it, in the order of the file.

        Yields
        ------
        Tag
            Next tag, before the tags inside it.
        """
        waiting = [self]
        while waiting:
            tag = waiting.pop()
            yield tag
            waiting.extend(reversed(tag.children))

    def error(self, message: str) -> ConfigurationError:
        """Return an error that reports the file, the line and the tag.

        Parameters
        ----------
        message : str
            Message without its subject, which is the tag.

        Returns
        -------
        ConfigurationError
        """
        return ConfigurationError(f"{self.file}, line {self.line}: <{self.name}> {message}.")

    def child(self, name: str) -> Tag | None:
        """Return the direct child tag with a given name.

        Parameters
        ----------
        name : str
            Name of the tag.

        Returns
        -------
        Tag or None

        Raises
        ------
        ConfigurationError
            If there are several.
        """
        tags = [tag for tag in self.children if tag.name == name]
        if len(tags) > 1:
            raise tags[1].error(f"occurs a second time, after line {tags[0].line}")
        return tags[0] if tags else None

    def require(self, name: str) -> Tag:
        """Return the direct child tag with a given name, which must exist.

        Parameters
        ----------
        name : str
            Name of the tag.

        Returns
        -------
        Tag
            The only tag of that name.

        Raises
        ------
        ConfigurationError
            If there is no such tag, or there are several.
        """
        tag = self.child(name)
        if tag is None:
            raise self.error(f"has no <{name}>, which is required")
        return tag

    def inside(self, name: str, read: Callable[[Tag], Any], default: Any = 0.0) -> Any:
        """Return the value of a direct child tag, or a default value.

        Parameters
        ----------
        name : str
            Name of the tag.
        read : callable
            Method that converts the tag to a value.
        default : object
            Value if the tag is missing.

        Returns
        -------
        object
        """
        tag = self.child(name)
        return default if tag is None else read(tag)

    def numbers(self, count: int) -> tuple[float, ...]:
        """Convert the text of the tag to finite numbers, separated by blanks.

        Parameters
        ----------
        count : int
            Required number of values.

        Returns
        -------
        tuple of float
            The numbers.

        Raises
        ------
        ConfigurationError
            If the text is not as expected.
        """
        parts = self.text.split()
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        try:
            values = tuple(float(part) for part in parts)
        except ValueError:
            values = ()
        if len(values) != count or not all(map(math.isfinite, values)):
            raise self._unexpected(f"{expected}{_macro_hint(self.text)}")
        return values

    def number(self) -> float:
        """Convert the text of the tag to a finite number.

        Returns
        -------
        float
            The number.

        Raises
        ------
        ConfigurationError
            If the text is not a finite number.
        """
        return self.numbers(1)[0]

    def sizes(self, count: int) -> tuple[float, ...]:
        """Convert the text of the tag to finite non-negative numbers.

        Parameters
        ----------
        count : int
            Required number of values.

        Returns
        -------
        tuple of float
            The numbers.

        Raises
        ------
        ConfigurationError
            If the text is not as expected.
        """
        values = self.numbers(count)
        if min(values) < 0.0:
            raise self._unexpected("a non-negative number")
        return values

    def size(self) -> float:
        """Convert the text of the tag to a finite non-negative number.

        Returns
        -------
        float
            The number.

        Raises
        ------
        ConfigurationError
            If the text is not such a number.
        """
        return self.sizes(1)[0]

    def positive(self) -> float:
        """Convert the text of the tag to a positive number.

        Returns
        -------
        float
            The number.

        Raises
        ------
        ConfigurationError
            If the text is not a positive number.
        """
        value = self.number()
        if value <= 0.0:
            raise self._unexpected("a positive number")
        return value

    def flag(self) -> bool:
        """Convert the text of the tag to a Boolean value.

        Returns
        -------
        bool
            True for ``true`` and ``1``, False for ``false`` and ``0``.

        Raises
        ------
        ConfigurationError
            If the text is none of these.
        """
        text = self.text.strip().lower()
        if text not in ("true", "1", "false", "0"):
            raise self._unexpected("true or false")
        return text in ("true", "1")

    def _unexpected(self, expected):
        return self.error(f"is {quote(self.text.strip())}, expected {expected}")


def read_tags(path) -> Tag:
    """Return the root of an XML file, which is expanded first if it is a xacro file.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    Tag
        Root; its lines refer to the expanded file, if it was expanded.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, is not XML, is larger than 8 MB, is nested too deeply, or has a
        document type declaration, entities or external references.
    """
    path = Path(path)
    content = read_bytes(path)
    root = _parse(content, path)
    if b"xacro" in content:
        with suppress(FrameworkError):
            expanded = _parse(expand_description(path, {}).encode(), path)
            if any(tag.name in ("plugin", "sensor") for tag in expanded.walk()):
                return expanded
    return root


def _parse(content: bytes, path: Path) -> Tag:
    # Imported here, since every program imports this module.
    from defusedxml import DefusedXmlException
    from defusedxml.sax import parseString

    builder = _TreeBuilder(path)
    try:
        require_bounded_xml(content)
        parseString(content, builder, forbid_dtd=True)
    except UnusableXmlError as error:
        raise ConfigurationError(f"{path}, line {error.line}: {error}.") from None
    except DefusedXmlException as error:
        raise ConfigurationError(
            f"{path}, line {builder.line}: document type declarations, entities and external "
            "references are not read; remove them"
        ) from error
    except SAXParseException as error:
        hint = _macro_hint(content.decode("utf-8", "replace"))
        raise ConfigurationError(
            f"{path}, line {error.getLineNumber()}: not well-formed XML: "
            f"{error.getMessage()}{hint}."
        ) from error
    except (SAXException, ValueError, LookupError) as error:
        raise ConfigurationError(f"{path}: cannot be read as XML: {error}.") from error
    return builder.root


def _macro_hint(text) -> str:
    if "{{" in text or "{%" in text:
        return (
            "; the file is a template: render it with jinja first (PX4: scripts/jinja_gen.py) and "
            "use the resulting .sdf"
        )
    if "${" in text or "$(" in text:
        return f"; {EXPAND_WITH_XACRO}"
    return ""


def read_bytes(path: Path) -> bytes:
    """Read the content of a parameter file.

    Parameters
    ----------
    path : pathlib.Path
        File to read.

    Returns
    -------
    bytes

    Raises
    ------
    ConfigurationError
        If the file cannot be read, or is larger than 8 MB.
    """
    try:
        with open_regular(path) as file:
            content = file.read(XML_LIMIT + 1)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {explain_file_error(error)}.") from error
    if len(content) > XML_LIMIT:
        raise ConfigurationError(f"{path}: larger than 8 MB, expected a file with IMU parameters")
    return content


class _TreeBuilder(ContentHandler):
    def __init__(self, path):
        super().__init__()
        self.root, self._path = None, path
        self._open, self._texts = [], []

    @property
    def line(self):
        return 1 if self._locator is None else self._locator.getLineNumber()

    def startElement(self, name, attrs):
        tag = Tag(name, dict(attrs.items()), self._path, self.line)
        if self._open:
            self._open[-1].children.append(tag)
        else:
            self.root = tag
        self._open.append(tag)
        self._texts.append([])

    def endElement(self, name):
        self._open.pop().text = "".join(self._texts.pop())

    def characters(self, content):
        self._texts[-1].append(content)


def find_imu_sensor(root: Tag) -> Tag:
    """Return the ``<sensor type="imu">`` tag of a file.

    Parameters
    ----------
    root : Tag
        Root of the file.

    Returns
    -------
    Tag

    Raises
    ------
    ConfigurationError
        If there is none, or there are several.
    """
    sensors = (tag for tag in root.walk() if tag.name == "sensor")
    imu_sensors = [tag for tag in sensors if tag.attributes.get("type") == "imu"]
    return _require_single(imu_sensors, root, '<sensor type="imu">')


def find_plugin(root: Tag, *libraries: str) -> Tag:
    """Return the ``<plugin>`` tag that loads one of the given libraries.

    Parameters
    ----------
    root : Tag
        Root of the file.
    *libraries : str
        File names of the libraries.

    Returns
    -------
    Tag

    Raises
    ------
    ConfigurationError
        If there is none, or there are several.
    """
    plugins = ((tag, tag.attributes.get("filename", "").split("/")[-1]) for tag in root.walk())
    tags = [tag for tag, library in plugins if tag.name == "plugin" and library in libraries]
    return _require_single(tags, root, f'<plugin filename="{libraries[0]}">')


def _require_single(tags, root, description):
    if not tags:
        macros = any(tag.name.startswith("xacro:") for tag in root.walk())
        hint = f"; {EXPAND_WITH_XACRO}" if macros else ""
        raise ConfigurationError(
            f"{root.file}: there is no {description} in this file with the root "
            f"<{root.name}>{hint}."
        )
    if len(tags) > 1:
        lines = ", ".join(str(tag.line) for tag in tags)
        raise ConfigurationError(
            f"{root.file}: there are {len(tags)} {description}, on lines {lines}; keep one."
        )
    return tags[0]


_OPENCV_HEADER = re.compile(rb"^%(?=YAML\s*:)", re.MULTILINE)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to an unknown name.

    Parameters
    ----------
    name : str
        Unknown name.
    known : iterable of str
        Known names.

    Returns
    -------
    str or None
        The name; None if no known name is similar.
    """
    lower = {other.lower(): other for other in known}
    # With a cutoff of 0.65, gyroscope_random_walk and accelerometer_random_walk would be similar.
    matches = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.75)
    return lower[matches[0]] if matches else None


class YamlMapping:
    """Mapping of a YAML file with typed access to its values.

    Every method that returns the value of a key raises a :class:`.ConfigurationError` with file,
    line and key if the key is missing or its value has another type. Numbers are finite.

    Parameters
    ----------
    file : pathlib.Path
        File of the mapping.
    node : yaml.MappingNode
        Content of the mapping.
    name : str
        Keys of the enclosing mappings.
    """

    def __init__(self, file: Path, node, name: str = ""):
        self.file = file
        self.name = name
        # Key -> line of the key, and node of its value.
        self._entries: dict[str, tuple[int, Any]] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            text = getattr(key, "value", None)
            if not isinstance(text, str):
                raise ConfigurationError(f"{file}, line {line}: the key is not a string")
            if text in self._entries:
                raise ConfigurationError(
                    f"{file}, line {line}: {self.path(text)} occurs a second time, after line "
                    f"{self._entries[text][0]}"
                )
            self._entries[text] = line, value

    def __contains__(self, key):
        return key in self._entries

    def names(self) -> list[str]:
        """Return the keys of the mapping in the order of the file.

        Returns
        -------
        list of str
            Keys of this mapping.
        """
        return list(self._entries)

    def path(self, key: str) -> str:
        """Return a key, preceded by the keys of the enclosing mappings, separated by dots.

        Parameters
        ----------
        key : str
            Key of this mapping.

        Returns
        -------
        str
            For example ``output.rate``.
        """
        return f"{self.name}.{key}" if self.name else key

    def error(self, key: str, message: str) -> ConfigurationError:
        """Return an error that reports the file, the line and the key.

        Parameters
        ----------
        key : str
            Key of the value.
        message : str
            Message without its subject, which is the key.

        Returns
        -------
        ConfigurationError
        """
        line = f", line {self._entries[key][0]}" if key in self._entries else ""
        return ConfigurationError(f"{self.file}{line}: {self.path(key)} {message}.")

    def refuse_others(self, known):
        """Raise an error if the mapping contains an unknown key.

        Parameters
        ----------
        known : collection of str
            Known keys.

        Raises
        ------
        ConfigurationError
            If a key is unknown.
        """
        for key in self._entries:
            if key not in known:
                near = nearest(key, known)
                hint = "" if near is None else f"did you mean {near}? "
                raise self.error(key, f"is unknown, {hint}expected one of {', '.join(known)}")

    def require(self, keys: Iterable[str], known: Iterable[str] = ()):
        """Raise an error if a required key is missing.

        Parameters
        ----------
        keys : iterable of str
            Required keys.
        known : iterable of str
            Further known keys. The message suggests an unknown key that is similar to a missing
            key.

        Raises
        ------
        ConfigurationError
            If a key is missing.
        """
        keys = tuple(keys)
        for key in keys:
            if key not in self._entries:
                near = nearest(key, set(self._entries) - {*keys, *known})
                if near is None:
                    raise self.error(key, "is missing")
                line, _ = self._entries[near]
                raise self.error(key, f"is missing; did you mean {near} in line {line}?")

    def mapping(self, key: str) -> YamlMapping:
        """Return the nested mapping that is the value of a key.

        Parameters
        ----------
        key : str
            Key of this mapping.

        Returns
        -------
        YamlMapping
            Inner mapping.

        Raises
        ------
        ConfigurationError
            If the key is missing, or its value is not a mapping.
        """
        node = self._node(key)
        if not isinstance(node, yaml.MappingNode):
            raise self.error(key, "is not a mapping, expected keys and values below it")
        return YamlMapping(self.file, node, self.path(key))

    def is_mapping(self, key: str) -> bool:
        """Return whether the value of a key is a mapping.

        Parameters
        ----------
        key : str
            Key of this mapping.

        Returns
        -------
        bool
            True for a mapping.

        Raises
        ------
        ConfigurationError
            If the key is missing.
        """
        return isinstance(self._node(key), yaml.MappingNode)

    def is_neutral(self, key: str) -> bool:
        """Return whether the value of a key has no effect as a calibration: zero or identity.

        Parameters
        ----------
        key : str
            Key of this mapping.

        Returns
        -------
        bool
            True for the number zero, a square matrix of zeros and an identity matrix.
        """
        try:
            rows = np.array(_numbers(self._node(key)), dtype=float)
        except ValueError:
            return False
        if rows.ndim == 2:
            return any(np.array_equal(rows, size * np.eye(len(rows))) for size in (0.0, 1.0))
        return rows.ndim == 0 and rows == 0.0

    def text(self, key: str, choices=None) -> str:
        """Return the value of a key as a text.

        Parameters
        ----------
        key : str
            Key of the value.
        choices : sequence of str, optional
            Accepted texts.

        Returns
        -------
        str
        """
        value = getattr(self._node(key), "value", None)
        if not isinstance(value, str):
            raise self.error(key, "has another type, expected a string")
        if choices is not None and value not in choices:
            raise self.error(key, f"is {quote(value)}, expected one of {', '.join(choices)}")
        return value

    def number(self, key: str) -> float:
        """Return the value of a key as a finite number.

        Parameters
        ----------
        key : str
            Key of this mapping.

        Returns
        -------
        float
            The number.

        Raises
        ------
        ConfigurationError
            If the key is missing, or its value is not a finite number.
        """
        return self._number(key, self._node(key))

    def positive(self, key: str) -> float:
        """Return the value of a key as a positive number.

        Parameters
        ----------
        key : str
            Key of this mapping.

        Returns
        -------
        float
            The number.

        Raises
        ------
        ConfigurationError
            If the key is missing, or its value is not a positive number.
        """
        value = self.number(key)
        if value <= 0.0:
            raise self.error(key, f"is {quote(value)}, expected a positive number")
        return value

    def sizes(self, key: str) -> tuple[float, float, float]:
        """Return finite non-negative numbers for three axes.

        Parameters
        ----------
        key : str
            Key of this mapping, whose value is a list of three numbers or one number for all axes.

        Returns
        -------
        tuple of float
            Numbers for x, y and z.

        Raises
        ------
        ConfigurationError
            If the key is missing, or its value is not as expected.
        """
        node = self._node(key)
        if isinstance(node, yaml.SequenceNode):
            values = tuple(self._number(key, item) for item in node.value)
            if len(values) != 3:
                raise self.error(key, f"has {len(values)} values, expected 1 or 3")
        else:
            values = (self._number(key, node),) * 3
        if min(values) < 0.0:
            raise self.error(key, f"is {min(values)!r}, expected a non-negative number")
        return values

    def _node(self, key):
        if key not in self._entries:
            raise self.error(key, "is missing")
        return self._entries[key][1]

    def _number(self, key, node):
        # The number is parsed from the text, since YAML 1.1 reads 1e-5 as a string.
        text = getattr(node, "value", None)
        try:
            value = float(text) if isinstance(text, str) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            text_description = repr(text) if isinstance(text, str) else "no number"
            raise self.error(key, f"is {text_description}, expected a finite number")
        return value


def read_mapping(path) -> YamlMapping:
    """Read a YAML file whose top level is a mapping.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    YamlMapping

    Raises
    ------
    ConfigurationError
        If the file cannot be read, is not YAML, or is not a mapping.
    """
    path = Path(path)
    try:
        # OpenCV's header becomes a comment, so that line numbers do not change.
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
        raise ConfigurationError(
            f"{path}: the top level is not a mapping, expected keys and values"
        )
    return YamlMapping(path, node)


def _numbers(node):
    """Convert a YAML node to a number or to nested lists of numbers, with None for other values."""
    if isinstance(node, yaml.SequenceNode):
        return [_numbers(item) for item in node.value]
    try:
        return float(node.value)
    except (TypeError, ValueError):
        return None
