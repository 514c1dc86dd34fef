"""Safe reading of YAML files, without evaluation of text as code.

When rosparam or xacro is imported, it changes ``yaml.safe_load`` for the whole process so that the
text after ``!radians`` and in ``rad(...)`` is evaluated as Python. The loader of this module is not
affected.

ruamel.yaml also requires unique keys and parses the numbers of YAML 1.2. However, it does not limit
aliases and depth (a ten-line text can take minutes), and it interprets ``yes`` differently.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from pathlib import Path
from typing import Any, Callable, Hashable, TypeVar

import yaml

from .errors import ConfigurationError, prefix_errors
from .files import package_share, read_settings
from .sentences import quote
from .whole_files import explain_file_error

MAX_DEPTH = 100
"""Largest nesting depth of lists and mappings.

Parameter files have up to about five levels. PyYAML's run time grows with the square of the depth,
and a few thousand levels exceed Python's recursion limit.
"""

MAX_VALUES = 10**6
"""Largest number of values after expanding all aliases; ten lines can expand to any size."""

DescribedType = TypeVar("DescribedType")
Function = TypeVar("Function", bound=Callable[..., Any])

_YAML_TAG = "tag:yaml.org,2002:"


class PlainLoader(yaml.SafeLoader):
    """Safe loader that supports only YAML's standard tags, and limits depth and aliases.

    Keys must be unique. As in YAML 1.2, 1e-4 is a number although it has no decimal point, and
    12:30 is a string, which PyYAML would parse as a base-60 number. Violations raise
    ``yaml.YAMLError``.

    Parameters
    ----------
    stream : str or file
        YAML text.
    """

    def __init__(self, stream) -> None:
        super().__init__(stream)
        self._values = 0
        self._values_of_anchor: dict = {}

    def compose_node(self, parent, index):
        """Compose the next node, and count its values after expanding aliases."""
        count, event = self._values, self.peek_event()
        node = super().compose_node(parent, index)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._values_of_anchor:
                self._refuse(f"the anchor {event.anchor!r} contains itself", event.start_mark)
            self._values += self._values_of_anchor[event.anchor]
            if self._values > MAX_VALUES:
                problem = f"its aliases expand to more than {MAX_VALUES} values"
                self._refuse(problem, event.start_mark)
        else:
            self._values += 1
            if event.anchor is not None:
                self._values_of_anchor[event.anchor] = self._values - count
        return node

    def resolve(self, kind, value, implicit):
        """Return the tag of a node without an explicit tag."""
        tag = super().resolve(kind, value, implicit)
        sexagesimal = tag in (f"{_YAML_TAG}int", f"{_YAML_TAG}float") and ":" in value
        return self.DEFAULT_SCALAR_TAG if sexagesimal else tag

    # The scanner checks the depth, because PyYAML's scanner is ahead of its composer.
    def fetch_flow_collection_start(self, TokenClass):
        """Begin a list or mapping in brackets, and check the nesting depth."""
        self._require_shallow()
        super().fetch_flow_collection_start(TokenClass)

    def add_indent(self, column):
        """Begin an indented list or mapping, and check the nesting depth."""
        if column > self.indent:
            self._require_shallow()
        return super().add_indent(column)

    def construct_object(self, node, deep=False):
        """Construct the value of a node, and reject text that does not match the node's tag."""
        try:
            return super().construct_object(node, deep)
        except (AttributeError, IndexError, KeyError):  # raised by PyYAML for a mismatch
            kind = node.tag[len(_YAML_TAG) :]
            raise yaml.constructor.ConstructorError(
                None,
                None,
                f"{quote(node.value)} is tagged {kind}, but is not a valid {kind}",
                node.start_mark,
            ) from None

    def construct_mapping(self, node, deep=False):
        """Construct a mapping, and reject duplicate keys."""
        present_keys = set()
        for key_node, _ in node.value:
            if key_node.tag == f"{_YAML_TAG}merge":  # a mapping may override keys that it merges
                continue
            key = self.construct_object(key_node, deep=True)
            # PyYAML itself rejects unhashable keys.
            if not isinstance(key, Hashable):
                continue
            if key in present_keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {quote(key)} occurs twice", key_node.start_mark
                )
            present_keys.add(key)
        return super().construct_mapping(node, deep)

    def _require_shallow(self):
        if self.flow_level + len(self.indents) >= MAX_DEPTH:
            self._refuse(f"it is nested too deeply, more than {MAX_DEPTH} levels", self.get_mark())

    @staticmethod
    def _refuse(problem, mark):
        mark.buffer = None  # omits the quoted line, which would consist of a hundred brackets
        raise yaml.MarkedYAMLError(None, None, problem, mark)


# The class copies SafeLoader's tables, so that later additions to SafeLoader do not change it.
PlainLoader.yaml_constructors = {
    tag: constructor
    for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.startswith(_YAML_TAG)
}
PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.startswith(_YAML_TAG)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
PlainLoader.yaml_multi_constructors = {}
PlainLoader.add_implicit_resolver(
    f"{_YAML_TAG}float",
    re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)

NOT_YAML = (yaml.YAMLError, RecursionError, ValueError, TypeError)
"""Exceptions that :func:`load_plain` raises if text is invalid YAML or nested too deeply."""


def load_plain(text):
    """Load a YAML text.

    Parameters
    ----------
    text : str or file
        YAML text.

    Returns
    -------
    object
        Mappings, lists, strings, numbers, Booleans, dates and None.

    Raises
    ------
    yaml.YAMLError, RecursionError, ValueError, TypeError
        The text is not YAML or is nested too deeply; see :data:`NOT_YAML`.
    """
    return yaml.load(text, Loader=PlainLoader)


def explain_yaml_error(error) -> str:
    """Explain a loading error in one line.

    Parameters
    ----------
    error : Exception
        Error that :func:`load_plain` has raised.

    Returns
    -------
    str
        Reason, to be appended to a message.
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return " ".join(str(error).split())


def read_yaml(path: str | os.PathLike[str], subject: str) -> Any:
    """Read a YAML file.

    Parameters
    ----------
    path : str or Path
        The file.
    subject : str
        Object that the file describes, for error messages, such as "the GNSS receiver".

    Returns
    -------
    object
        Content of the file, as :func:`load_plain` returns it.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or is not YAML.
    """
    try:
        return load_plain(read_settings(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path}: {subject} cannot be read: {explain_file_error(error)}."
        ) from error
    except NOT_YAML as error:
        raise ConfigurationError(f"{path}: not valid YAML: {explain_yaml_error(error)}.") from error


def accept_names(**readers: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Decorate a function so that some parameters also accept the name or path of a YAML file.

    Parameters
    ----------
    **readers : callable
        For each such parameter, the function that reads its value from a name or a path. It is
        applied to each item of a list.

    Returns
    -------
    callable
    """

    def decorate(function):
        signature = inspect.signature(function)

        def read(value, reader):
            return reader(value) if isinstance(value, (str, os.PathLike)) else value

        @functools.wraps(function)
        def call(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            for parameter, reader in readers.items():
                value = bound.arguments.get(parameter)
                if isinstance(value, (list, tuple)):
                    bound.arguments[parameter] = [read(item, reader) for item in value]
                elif value is not None:
                    bound.arguments[parameter] = read(value, reader)
            return function(*bound.args, **bound.kwargs)

        return call

    return decorate


def bundled_names(folder: str) -> list[str]:
    """Return the names of all bundled YAML descriptions in a folder.

    Parameters
    ----------
    folder : str
        Name of a folder in the package's ``config`` folder.

    Returns
    -------
    list of str
        Sorted names of the YAML files, without their suffix.
    """
    return sorted(path.stem for path in (package_share() / "config" / folder).glob("*.yaml"))


def find_description(name: str | os.PathLike[str], folder: str, kind: str) -> Path:
    """Find a YAML description by its path, or by its name in the ``config`` folder.

    Parameters
    ----------
    name : str or Path
        Path of a file, or name of a bundled description.
    folder : str
        Name of a folder in the package's ``config`` folder.
    kind : str
        Described object with its article, for the error message, such as "a GNSS receiver".

    Returns
    -------
    Path

    Raises
    ------
    ConfigurationError
        There is neither such a file nor such a bundled description.
    """
    path = Path(name)
    # Unlike Path.exists, os.path.exists does not raise for a name that is too long.
    if os.path.exists(path):
        return path
    bundled = package_share() / "config" / folder / f"{path.name}.yaml"
    if str(path) == path.name and os.path.isfile(bundled):
        return bundled
    names = ", ".join(bundled_names(folder))
    raise ConfigurationError(
        f"{path}: neither a file nor the name of {kind}; choose one of: {names}"
    )


def read_description(
    path: str | os.PathLike[str],
    subject: str,
    make: Callable[[Any], DescribedType],
    named: bool = False,
    may_be_empty: bool = False,
) -> DescribedType:
    """Read a description, such as that of a GNSS receiver, from a YAML file.

    Parameters
    ----------
    path : str or Path
        The file.
    subject : str
        Described object, for error messages, such as "the GNSS receiver".
    make : callable
        Function that creates the description from the file's keys and values.
    named : bool, optional
        Whether the description has the key ``name``, whose default is the name of the file.
    may_be_empty : bool, optional
        Whether an empty file is accepted as a description without keys.

    Returns
    -------
    object
        Result of ``make``.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or ``make`` rejects its content.
    """
    content = read_yaml(path, subject)
    if content is None and may_be_empty:
        content = {}
    with prefix_errors(f"{path}: "):
        if named and isinstance(content, dict):
            content.setdefault("name", Path(path).stem)
        return make(content)
