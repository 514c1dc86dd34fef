"""YAML files, read as nothing but data, or one sentence on what is wrong with one.

rosparam and xacro, once imported, make ``yaml.safe_load`` of the whole process evaluate the text
behind ``!radians`` and in ``rad(...)`` as Python. Here nothing that a file or an argument says is
evaluated. ruamel.yaml has unique keys and YAML 1.2's numbers of itself, but neither limits aliases
and depth (a text of ten lines keeps it busy for minutes) nor reads ``yes`` as PyYAML does.
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
"""Levels of lists and mappings in each other. Parameters have a handful; PyYAML's time grows with
the square of their number, and some thousands end its recursion."""

MAX_VALUES = 10**6
"""Values of a text with each alias unfolded; ten lines can stand for more than any memory holds."""

Described = TypeVar("Described")
Function = TypeVar("Function", bound=Callable[..., Any])

_OF_YAML = "tag:yaml.org,2002:"


class PlainLoader(yaml.SafeLoader):
    """The safe loader with YAML's own tags only, and limits on depth and aliases.

    A key may not occur twice, and 1e-4 is a number, also without a point; 12:30 is a text, as in
    YAML 1.2, where PyYAML reads a number to the base of 60. Anything else is a
    ``yaml.YAMLError``.
    """

    def __init__(self, stream) -> None:
        super().__init__(stream)
        self._values = 0
        self._values_of_anchor: dict = {}

    def compose_node(self, parent, index):
        """Build what stands next, and count the values that it stands for."""
        before, event = self._values, self.peek_event()
        node = super().compose_node(parent, index)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._values_of_anchor:
                self._refuse(f"{event.anchor!r} stands within itself", event.start_mark)
            self._values += self._values_of_anchor[event.anchor]
            if self._values > MAX_VALUES:
                many = f"its aliases stand for more than {MAX_VALUES} values"
                self._refuse(many, event.start_mark)
        else:
            self._values += 1
            if event.anchor is not None:
                self._values_of_anchor[event.anchor] = self._values - before
        return node

    def resolve(self, kind, value, implicit):
        """Return the tag of a node that has none."""
        tag = super().resolve(kind, value, implicit)
        sexagesimal = tag in (f"{_OF_YAML}int", f"{_OF_YAML}float") and ":" in value
        return self.DEFAULT_SCALAR_TAG if sexagesimal else tag

    # Told where the text is split into words: PyYAML reads ahead of what it builds.
    def fetch_flow_collection_start(self, TokenClass):
        """Begin a list or mapping in brackets."""
        self._require_shallow()
        super().fetch_flow_collection_start(TokenClass)

    def add_indent(self, column):
        """Begin a list or mapping by indentation."""
        if column > self.indent:
            self._require_shallow()
        return super().add_indent(column)

    def construct_object(self, node, deep=False):
        """Make what a node says; a text that is not of the kind its tag claims is refused."""
        try:
            return super().construct_object(node, deep)
        except (AttributeError, IndexError, KeyError):  # PyYAML's words for it
            kind = node.tag[len(_OF_YAML) :]
            raise yaml.constructor.ConstructorError(
                None, None, f"{quote(node.value)} is tagged {kind}, but is none", node.start_mark
            ) from None

    def construct_mapping(self, node, deep=False):
        """Make a mapping whose keys are all different."""
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == f"{_OF_YAML}merge":  # what it brings may be said again
                continue
            key = self.construct_object(key_node, deep=True)
            # What cannot be a key is refused by the loader itself.
            if not isinstance(key, Hashable):
                continue
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {quote(key)} occurs twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)

    def _require_shallow(self):
        if self.flow_level + len(self.indents) >= MAX_DEPTH:
            self._refuse(f"it is nested too deeply, more than {MAX_DEPTH} levels", self.get_mark())

    @staticmethod
    def _refuse(sentence, mark):
        mark.buffer = None  # a hundred brackets, which do not help
        raise yaml.MarkedYAMLError(None, None, sentence, mark)


# Tables of this class alone: what is added to SafeLoader later does not reach them either.
PlainLoader.yaml_constructors = {
    tag: constructor
    for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.startswith(_OF_YAML)
}
PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.startswith(_OF_YAML)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
PlainLoader.yaml_multi_constructors = {}
PlainLoader.add_implicit_resolver(
    f"{_OF_YAML}float",
    re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)

NOT_YAML = (yaml.YAMLError, RecursionError, ValueError, TypeError)
"""What :func:`load_plain` raises for a text that is no YAML, or nested too deeply."""


def load_plain(text):
    """Return what a YAML text says: mappings, lists, texts, numbers, truth values, dates, None.

    ``text`` (str or file). Raises what :data:`NOT_YAML` has.
    """
    return yaml.load(text, Loader=PlainLoader)


def explain_yaml_error(error) -> str:
    """Return what is wrong with a text that is no YAML, in one line, for the end of a sentence."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return " ".join(str(error).split())


def read_yaml(path: str | os.PathLike[str], what: str) -> Any:
    """Return what a YAML file says, as :func:`.load_plain` does.

    ``what``: what it holds, for the sentence: "the GNSS receiver". Raises
    :class:`.ConfigurationError`: the file cannot be read, or is not YAML.
    """
    try:
        return load_plain(read_settings(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path}: {what} cannot be read: {explain_file_error(error)}."
        ) from error
    except NOT_YAML as error:
        raise ConfigurationError(f"{path}: not valid YAML: {explain_yaml_error(error)}.") from error


def accept_names(**readers: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Decorate a function so that it takes these parameters also by a name, or from a file.

    ``**readers``: by parameter, what makes its value of a text or a path; also of each in a list.
    """

    def decorate(function):
        signature = inspect.signature(function)

        def read(value, reader):
            return reader(value) if isinstance(value, (str, os.PathLike)) else value

        @functools.wraps(function)
        def named(*args, **kwargs):
            given = signature.bind(*args, **kwargs)
            for parameter, reader in readers.items():
                value = given.arguments.get(parameter)
                if isinstance(value, (list, tuple)):
                    given.arguments[parameter] = [read(one, reader) for one in value]
                elif value is not None:
                    given.arguments[parameter] = read(value, reader)
            return function(*given.args, **given.kwargs)

        return named

    return decorate


def bundled_names(folder: str) -> list[str]:
    """Return the names of the descriptions in a folder of the package's config."""
    return sorted(path.stem for path in (package_share() / "config" / folder).glob("*.yaml"))


def find_description(name: str | os.PathLike[str], folder: str, kind: str) -> Path:
    """Return the file that is meant: a path, or the name of one in the package's config.

    ``folder``: of the package's config. ``kind``: what it describes, with its article: "a GNSS
    receiver". Raises :class:`.ConfigurationError`: there is neither.
    """
    path = Path(name)
    # Unlike Path.exists, this finds nothing behind a name that is too long for a file.
    if os.path.exists(path):
        return path
    bundled = package_share() / "config" / folder / f"{path.name}.yaml"
    if str(path) == path.name and os.path.isfile(bundled):
        return bundled
    names = ", ".join(bundled_names(folder))
    raise ConfigurationError(
        f"{path}: there is no such file, nor {kind} of that name; there are {names}."
    )


def read_description(
    path: str | os.PathLike[str],
    what: str,
    make: Callable[[Any], Described],
    named: bool = False,
    may_be_empty: bool = False,
) -> Described:
    """Return what a file describes.

    ``what``: what it describes, for the sentence: "the GNSS receiver". ``make``: makes it of the
    file's keys and values. ``named``: whether it has a name, which is the file's unless it says
    one. ``may_be_empty``: whether a file that says nothing is one in which every key is left out.
    Raises :class:`.ConfigurationError`: the file cannot be read, or ``make`` refuses what it holds.
    """
    content = read_yaml(path, what)
    if content is None and may_be_empty:
        content = {}
    with prefix_errors(f"{path}: "):
        if named and isinstance(content, dict):
            content.setdefault("name", Path(path).stem)
        return make(content)
