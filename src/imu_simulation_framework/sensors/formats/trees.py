"""XML and YAML files as trees that know their lines, whose values are asked for by type.

XML is that of robots and plug-ins. Entities, document type declarations and external references are
refused, so that a file can neither grow while it is read nor reach for another one: that is
defusedxml's work. Its own trees know no lines, and lxml's, which do, come of a parser that accepts
such declarations.

A xacro file is expanded first, see :mod:`.xacro_expansion`. Where that gives no sensor, as in a
file of macros, the file is read as it stands, and a value that is an expression is refused.

Of YAML OpenCV's files are read as well: their first line ``%YAML:1.0`` is no directive of YAML's,
and tags like ``!!opencv-matrix`` say nothing of numbers.
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
    """A tag of an XML file: its name with the prefix, the line where it starts, its own text.

    ``numbers`` and what follows it return what the text says, finite numbers, separated by blanks,
    or a truth value. Sizes are not negative. Raises :class:`.ConfigurationError`: it says something
    else.
    """

    name: str
    attributes: dict[str, str]
    file: Path
    line: int
    text: str = ""
    children: list[Tag] = field(default_factory=list)

    def walk(self) -> Iterator[Tag]:
        """Go through this tag and all tags inside it, in the file's order."""
        waiting = [self]
        while waiting:
            tag = waiting.pop()
            yield tag
            waiting.extend(reversed(tag.children))

    def error(self, message: str) -> ConfigurationError:
        """Return an error that names the file, the line and the tag."""
        return ConfigurationError(f"{self.file}, line {self.line}: <{self.name}> {message}.")

    def child(self, name: str) -> Tag | None:
        """Return the tag of that name directly inside, None for none; raises for several."""
        found = [tag for tag in self.children if tag.name == name]
        if len(found) > 1:
            raise found[1].error(f"stands here a second time, after line {found[0].line}")
        return found[0] if found else None

    def require(self, name: str) -> Tag:
        """Return the tag of that name as :meth:`child` does, of which there must be one."""
        tag = self.child(name)
        if tag is None:
            raise self.error(f"has no <{name}>, which is needed")
        return tag

    def inside(self, name: str, read: Callable[[Tag], Any], default: Any = 0.0) -> Any:
        """Return what one of the methods below reads in the tag of that name inside this one."""
        tag = self.child(name)
        return default if tag is None else read(tag)

    def numbers(self, count: int) -> tuple[float, ...]:
        parts = self.text.split()
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        try:
            values = tuple(float(part) for part in parts)
        except ValueError:
            values = ()
        if len(values) != count or not all(map(math.isfinite, values)):
            raise self._refusal(f"say {expected}{_macro_hint(self.text)}")
        return values

    def number(self) -> float:
        return self.numbers(1)[0]

    def sizes(self, count: int) -> tuple[float, ...]:
        values = self.numbers(count)
        if min(values) < 0.0:
            raise self._refusal("not be negative")
        return values

    def size(self) -> float:
        return self.sizes(1)[0]

    def positive(self) -> float:
        value = self.number()
        if value <= 0.0:
            raise self._refusal("be above 0")
        return value

    def flag(self) -> bool:
        text = self.text.strip().lower()
        if text not in ("true", "1", "false", "0"):
            raise self._refusal("say true or false")
        return text in ("true", "1")

    def _refusal(self, wanted):
        return self.error(f"says {quote(self.text.strip())}, but must {wanted}")


def read_tags(path) -> Tag:
    """Return the root of an XML file, expanded if it is a xacro file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Tag
        Lines are those of the expanded file, where they differ.

    Raises
    ------
    ConfigurationError
        The file cannot be read, is no XML, is larger than 8 MB, nested too deeply, or has a
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
    # Imported here, since every format is known to the tools whichever is used.
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
            "references are not read; remove them."
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
            "give the .sdf that comes out"
        )
    if "${" in text or "$(" in text:
        return f"; {EXPAND_WITH_XACRO}"
    return ""


def read_bytes(path: Path) -> bytes:
    """Return what a file of parameters holds; raises :class:`.ConfigurationError` above 8 MB."""
    try:
        with open_regular(path) as file:
            content = file.read(XML_LIMIT + 1)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {explain_file_error(error)}.") from error
    if len(content) > XML_LIMIT:
        raise ConfigurationError(f"{path}: larger than 8 MB, so no file of IMU parameters.")
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
    """Return the one ``<sensor type="imu">`` of a file; raises if there is none, or several."""
    sensors = (tag for tag in root.walk() if tag.name == "sensor")
    found = [tag for tag in sensors if tag.attributes.get("type") == "imu"]
    return _only(found, root, '<sensor type="imu">')


def find_plugin(root: Tag, *libraries: str) -> Tag:
    """Return the one ``<plugin>`` of a file that loads one of some libraries; or raises."""
    plugins = ((tag, tag.attributes.get("filename", "").split("/")[-1]) for tag in root.walk())
    found = [tag for tag, library in plugins if tag.name == "plugin" and library in libraries]
    return _only(found, root, f'<plugin filename="{libraries[0]}">')


def _only(found, root, what):
    if not found:
        macros = any(tag.name.startswith("xacro:") for tag in root.walk())
        hint = f"; {EXPAND_WITH_XACRO}" if macros else ""
        raise ConfigurationError(
            f"{root.file}: there is no {what} in this file, whose root is <{root.name}>{hint}."
        )
    if len(found) > 1:
        lines = ", ".join(str(tag.line) for tag in found)
        raise ConfigurationError(
            f"{root.file}: there are {len(found)} {what}, in the lines {lines}; keep one."
        )
    return found[0]


_OPENCV_HEADER = re.compile(rb"^%(?=YAML\s*:)", re.MULTILINE)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like another one, None if none is much like it."""
    lower = {other.lower(): other for other in known}
    # Not less: gyroscope_random_walk and accelerometer_random_walk have 0.65 in common.
    found = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.75)
    return lower[found[0]] if found else None


class YamlMapping:
    """A mapping of a YAML file, whose values are asked for by the type they should have.

    Every method that returns the value of a key raises a :class:`.ConfigurationError` with file,
    line and key if the key is missing or its value is of another kind. Numbers are finite.
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
        """Refuse a mapping that lacks one of some keys, with the unknown key that may be meant."""
        keys = tuple(keys)
        for key in keys:
            if key not in self._entries:
                near = nearest(key, set(self._entries) - {*keys, *known})
                if near is None:
                    raise self.error(key, "is missing")
                line, _ = self._entries[near]
                raise self.error(key, f"is missing; perhaps {near} in line {line} is meant for it")

    def mapping(self, key: str) -> YamlMapping:
        node = self._node(key)
        if not isinstance(node, yaml.MappingNode):
            raise self.error(key, "must have keys and values below it")
        return YamlMapping(self.file, node, self.path(key))

    def is_mapping(self, key: str) -> bool:
        return isinstance(self._node(key), yaml.MappingNode)

    def is_neutral(self, key: str) -> bool:
        """Tell whether zeros or an identity matrix stand under a key: a calibration without one."""
        try:
            rows = np.array(_numbers(self._node(key)), dtype=float)
        except ValueError:
            return False
        if rows.ndim == 2:
            return any(np.array_equal(rows, one * np.eye(len(rows))) for one in (0.0, 1.0))
        return rows.ndim == 0 and rows == 0.0

    def text(self, key: str, choices=None) -> str:
        """Return the text under a key, one of the choices if there are any."""
        value = getattr(self._node(key), "value", None)
        if not isinstance(value, str):
            raise self.error(key, "must be a text")
        if choices is not None and value not in choices:
            raise self.error(key, f"is {quote(value)}, but must be one of {', '.join(choices)}")
        return value

    def number(self, key: str) -> float:
        return self._number(key, self._node(key))

    def positive(self, key: str) -> float:
        value = self.number(key)
        if value <= 0.0:
            raise self.error(key, f"is {quote(value)}, but must be above 0")
        return value

    def sizes(self, key: str) -> tuple[float, float, float]:
        """Return finite numbers, not negative, for three axes: a list of three, or one for all."""
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
    if isinstance(node, yaml.SequenceNode):
        return [_numbers(item) for item in node.value]
    try:
        return float(node.value)
    except (TypeError, ValueError):
        return None
