"""Expansion of xacro files, of robots as of IMU parameters.

A xacro file holds Python expressions, and macros that may double without end. A file that somebody
else has written is expanded in a process of its own with limits of processor time, memory and
output; each expression is checked before it is evaluated, and each file is bounded before it is
read. The package's own files are expanded in this process.
"""

from __future__ import annotations

import ast
import builtins
import errno
import importlib
import io
import resource
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import CodeType
from typing import Any, Mapping
from xml.parsers.expat import ExpatError

from .errors import ConfigurationError, FrameworkError, import_optional
from .files import XML_LIMIT, UnusableXmlError, open_regular, read_at_most, urdf_path
from .files import require_bounded_xml as require_bounded
from .programs import SeparateProcess
from .sentences import quote
from .whole_files import explain_file_error

CPU_TIME = 3  # s; a description of 1000 links takes 1 s
MEMORY = 300 * 2**20  # bytes beyond those that the process has at its beginning
INCLUDED = XML_LIMIT  # bytes of all files together
OPEN_FILES = 64
LONGEST_EXPRESSION = 10_000  # letters

# Attributes that lead from a generator, a frame or a function to everything else, and those that
# look up attributes by names in texts.
_REACHING = ("_", "gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_")
_REACHING_NAMES = {"format", "format_map", "mro", "with_traceback"}
_REMOVED = ("vars", "type")  # of xacro's namespace ``python``


def expand_xacro(path, arguments: Mapping[str, Any] | None = None) -> str:
    """Return the URDF that a xacro file describes.

    Raises ConfigurationError: the file cannot be read or evaluated, or xacro is not installed.
    ``path`` (str or Path): the xacro file; ``arguments``: values of its ``xacro:arg``. A mapping
    stays one, for ``xacro.arg(...)``; anything else becomes text, as on the command line.
    """
    arguments = arguments or {}
    mappings = {k: v if isinstance(v, Mapping) else str(v) for k, v in arguments.items()}
    xacro = import_optional("xacro", "a xacro file")
    # Of a missing attribute xacro makes a RuntimeError, of a macro that calls itself a
    # RecursionError, and of what is no UTF-8 a ValueError.
    refusals = (xacro.XacroException, ExpatError, OSError, RuntimeError, ValueError)
    try:
        with open_regular(path) as file:
            require_bounded(read_at_most(file, XML_LIMIT))
        document = xacro.process_file(str(Path(path).resolve()), mappings=mappings)
    except refusals as error:
        raise ConfigurationError(f"{path}: the file cannot be expanded: {error}.") from error
    return document.toxml()


def expand_description(file: Path, arguments: Mapping[str, Any]) -> str:
    """Return the URDF of a description, which may be a xacro file.

    Raises ConfigurationError: it cannot be read or expanded within the limits.
    """
    try:
        with open_regular(file) as opened:
            content = read_at_most(opened, XML_LIMIT)
        require_bounded(content)
        if is_plain_urdf(content):
            return content.decode("utf-8")
    except (OSError, UnicodeDecodeError, UnusableXmlError) as error:
        reason = explain_file_error(error) if isinstance(error, OSError) else error
        raise ConfigurationError(f"{file}: the file cannot be read: {reason}.") from None
    if not arguments and urdf_path("").resolve() in file.resolve().parents:
        return expand_xacro(file)
    with SeparateProcess(__name__, XacroExpander.__name__, f"{file}: its expansion") as apart:
        try:
            return apart.call("expand", str(file.resolve()), dict(arguments))
        except FrameworkError as error:
            raise ConfigurationError(str(error)) from None


class XacroExpander:
    """What runs in the process of its own."""

    def __init__(self) -> None:
        self._xacro = import_optional("xacro", "a xacro file")
        self._read = 0
        self._missing: list[str] = []
        self._guard()
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory = pages * resource.getpagesize() + MEMORY
        used = resource.getrusage(resource.RUSAGE_SELF)
        time = int(used.ru_utime + used.ru_stime) + 1 + CPU_TIME
        for limit, value in (
            (resource.RLIMIT_AS, memory),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_NOFILE, OPEN_FILES),
        ):
            _lower_limit(limit, value, value)
        # The first limit ends it by SIGXCPU, by which it is recognised, the second by SIGKILL.
        _lower_limit(resource.RLIMIT_CPU, time, time + 1)

    def expand(self, path: str, arguments: Mapping[str, Any]) -> str:
        """Return the URDF that a xacro file describes.

        Parameters
        ----------
        path : str
            Absolute path of the file.
        arguments : mapping
            Values of its ``xacro:arg``; a mapping stays one.

        Raises
        ------
        ConfigurationError
            The file cannot be read or evaluated, or exceeds a limit.
        """
        mappings = {
            name: value if isinstance(value, Mapping) else str(value)
            for name, value in arguments.items()
        }
        try:
            self._find_packages_beside(Path(path))
            # Its warnings would fail where standard error is a file, which is not to grow.
            printed = io.StringIO()
            with redirect_stdout(printed), redirect_stderr(printed):
                text = self._xacro.process_file(path, mappings=mappings).toxml()
            require_bounded(text.encode())
            return text
        except UnusableXmlError as error:
            reason = f"line {error.line} of the result: {error}"
        except Exception as error:  # whatever an expression of somebody else's file raises
            reason = self._reason(error)
        raise ConfigurationError(f"{path}: the file cannot be expanded: {reason}.")

    def _reason(self, error: Exception) -> str:
        cause: Any = error
        while getattr(cause, "exc", None) is not None:
            cause = cause.exc
        if isinstance(cause, MemoryError):
            return f"it needs more than {MEMORY // 2**20} MB"
        if self._missing:
            name = self._missing[-1]
            return (
                f"it names the package {name} by $(find {name}), but no folder above it has that, "
                "with a package.xml in it"
            )
        return " ".join(str(error).split()) or type(error).__name__

    def _guard(self) -> None:
        """Have xacro read bounded files only, and evaluate nothing that is not checked."""
        modules = [self._xacro]
        for name in ("xacro.substitution_args", "roslaunch.substitution_args"):
            with suppress(ImportError):
                modules.append(importlib.import_module(name))
        for module in modules:
            # A name of the module hides the builtin function.
            module.open = self._open  # type: ignore[attr-defined]
            module.eval = _checked_eval  # type: ignore[attr-defined]
            module.compile = _checked_compile  # type: ignore[attr-defined]
        python = getattr(self._xacro, "_global_symbols", {}).get("python", {})
        for name in _REMOVED:
            python.pop(name, None)

    def _open(self, name, *_, **__) -> io.TextIOBase:
        """Return a file as text; YAML files as well as included ones."""
        # xacro prints the second and third argument of an OSError.
        try:
            with open_regular(name) as file:
                content = read_at_most(file, XML_LIMIT)
        except OSError as error:
            raise OSError(errno.EINVAL, explain_file_error(error), name) from None
        self._read += len(content)
        if self._read > INCLUDED:
            raise OSError(errno.EFBIG, f"all files have more than {INCLUDED // 2**20} MiB", name)
        if content.lstrip()[:1] == b"<":
            try:
                require_bounded(content)
            except UnusableXmlError as error:
                raise OSError(errno.EINVAL, f"line {error.line}: {error}", name) from None
        return io.StringIO(content.decode("utf-8"))

    def _find_packages_beside(self, file: Path) -> None:
        """Have ``$(find PACKAGE)`` look in the folders above the file, before where ROS looks.

        A robot's description can then be read from a clone without a workspace around it.
        """
        try:
            arguments: Any = importlib.import_module("xacro.substitution_args")
            find = arguments._eval_find
        except (ImportError, AttributeError):  # xacro of ROS 1 asks rospkg
            return

        def find_beside(name: str) -> str:
            place = find_package_above(file, name)
            if place is not None:
                return str(place)
            self._missing.append(name)
            return find(name)

        arguments._eval_find = find_beside


def _lower_limit(limit: int, soft: int, hard: int) -> None:
    """Set a limit of this process, unless the limit that it has inherited is lower."""
    inherited = resource.getrlimit(limit)[1]
    if inherited != resource.RLIM_INFINITY:
        soft, hard = min(soft, inherited), min(hard, inherited)
    resource.setrlimit(limit, (soft, hard))


def find_package_above(file: Path, name: str) -> Path | None:
    """Return the folder of a package in the folders above a file; None if there is none."""
    for folder in file.resolve().parents:
        for place in (folder, folder / name):
            if place.name == name and (place / "package.xml").is_file():
                return place
    return None


def require_harmless(expression: str) -> None:
    """Refuse a Python expression that reaches beyond the names that it is given.

    Raises ValueError, SyntaxError, RecursionError: it does, or is no expression.
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise ValueError(f"an expression has more than {LONGEST_EXPRESSION} letters")
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
            if name.startswith(_REACHING) or name in _REACHING_NAMES:
                raise ValueError(f"an expression uses the attribute {quote(name)}")
        elif isinstance(node, (ast.Name, ast.arg)):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name.startswith("__"):
                raise ValueError(f"an expression uses the name {quote(name)}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("__"):
                raise ValueError(f"an expression names {quote(node.value)}")


def _checked_compile(source, *others, **named) -> Any:
    require_harmless(source)
    return builtins.compile(source, *others, **named)


def _checked_eval(source, *others) -> Any:
    if not isinstance(source, CodeType):
        require_harmless(source)
    return builtins.eval(source, *others)


def is_plain_urdf(content: bytes) -> bool:
    """Return whether a description has nothing for xacro to expand."""
    return b"xacro" not in content and b"${" not in content and b"$(" not in content
