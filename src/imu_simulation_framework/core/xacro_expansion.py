"""Expansion of xacro files that contain robot descriptions or IMU parameters.

A xacro file contains Python expressions, and macros whose output may grow exponentially. A file
from outside the package is therefore expanded in a separate process with limits on processor time,
memory and output. Each expression is checked before it is evaluated, and the size of each file is
checked before it is parsed. The files of this package are expanded in the calling process.
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
MEMORY = 300 * 2**20  # bytes, in addition to the memory that the process uses at its start
MAX_TOTAL_SIZE = XML_LIMIT  # bytes; largest total size of the xacro file and all included files
OPEN_FILES = 64
MAX_EXPRESSION_LENGTH = 10_000  # characters

# Some attributes of generators, frames and functions give access to all objects of Python.
# Methods such as format access attributes whose names are in a string.
_UNSAFE_PREFIXES = ("_", "gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_")
_UNSAFE_ATTRIBUTES = {"format", "format_map", "mro", "with_traceback"}
_UNSAFE_BUILTINS = ("vars", "type")  # removed from xacro's namespace ``python``


def expand_xacro(path, arguments: Mapping[str, Any] | None = None) -> str:
    """Expand a xacro file in the calling process, without limits.

    Parameters
    ----------
    path : str or Path
        The xacro file.
    arguments : mapping, optional
        Values of its ``xacro:arg`` tags. A mapping is passed unchanged, for ``xacro.arg(...)``;
        other values are converted to text, as on the command line.

    Returns
    -------
    str
        The URDF.

    Raises
    ------
    ConfigurationError
        The file cannot be read or evaluated.
    MissingLibraryError
        xacro is not installed.
    """
    arguments = arguments or {}
    mappings = {k: v if isinstance(v, Mapping) else str(v) for k, v in arguments.items()}
    xacro = import_optional("xacro", "a xacro file")
    # xacro raises RuntimeError for a missing attribute and ValueError for text that is not UTF-8.
    # A macro that calls itself causes a RecursionError, which is a RuntimeError.
    xacro_errors = (xacro.XacroException, ExpatError, OSError, RuntimeError, ValueError)
    try:
        with open_regular(path) as file:
            require_bounded(read_at_most(file, XML_LIMIT))
        document = xacro.process_file(str(Path(path).resolve()), mappings=mappings)
    except xacro_errors as error:
        raise ConfigurationError(f"{path}: the file cannot be expanded: {error}.") from error
    return document.toxml()


def expand_description(file: Path, arguments: Mapping[str, Any]) -> str:
    """Read a robot description; a xacro file is expanded with limits.

    Parameters
    ----------
    file : Path
        URDF or xacro file.
    arguments : mapping
        Values of its ``xacro:arg`` tags.

    Returns
    -------
    str
        The URDF.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or cannot be expanded within the limits.
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
    with SeparateProcess(__name__, XacroExpander.__name__, f"{file}: its expansion") as process:
        try:
            return process.call("expand", str(file.resolve()), dict(arguments))
        except FrameworkError as error:
            raise ConfigurationError(str(error)) from None


class XacroExpander:
    """Expander of xacro files, to be run with resource limits in a separate process."""

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
        # The soft limit raises SIGXCPU, which identifies the cause; the hard limit raises SIGKILL.
        _lower_limit(resource.RLIMIT_CPU, time, time + 1)

    def expand(self, path: str, arguments: Mapping[str, Any]) -> str:
        """Expand a xacro file.

        Parameters
        ----------
        path : str
            Absolute path of the file.
        arguments : mapping
            Values of its ``xacro:arg`` tags. A mapping is passed unchanged; other values are
            converted to text.

        Returns
        -------
        str
            The URDF.

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
            self._search_parents_for_packages(Path(path))
            # This process cannot write files, so a warning fails if standard error is a file.
            printed = io.StringIO()
            with redirect_stdout(printed), redirect_stderr(printed):
                text = self._xacro.process_file(path, mappings=mappings).toxml()
            require_bounded(text.encode())
            return text
        except UnusableXmlError as error:
            reason = f"line {error.line} of the result: {error}"
        except Exception as error:  # An expression may raise any exception.
            reason = self._explain(error)
        raise ConfigurationError(f"{path}: the file cannot be expanded: {reason}.")

    def _explain(self, error: Exception) -> str:
        cause: Any = error
        while getattr(cause, "exc", None) is not None:
            cause = cause.exc
        if isinstance(cause, MemoryError):
            return f"it needs more than {MEMORY // 2**20} MB"
        if self._missing:
            name = self._missing[-1]
            return (
                f"it refers to the package {name} by $(find {name}), but no folder above the "
                "file contains this package with a package.xml"
            )
        return " ".join(str(error).split()) or type(error).__name__

    def _guard(self) -> None:
        """Replace the functions open, eval and compile in xacro's modules with checked versions."""
        modules = [self._xacro]
        for name in ("xacro.substitution_args", "roslaunch.substitution_args"):
            with suppress(ImportError):
                modules.append(importlib.import_module(name))
        for module in modules:
            # A global name in a module of xacro takes precedence over the built-in function.
            module.open = self._open  # type: ignore[attr-defined]
            module.eval = _checked_eval  # type: ignore[attr-defined]
            module.compile = _checked_compile  # type: ignore[attr-defined]
        python = getattr(self._xacro, "_global_symbols", {}).get("python", {})
        for name in _UNSAFE_BUILTINS:
            python.pop(name, None)

    def _open(self, name, *_, **__) -> io.TextIOBase:
        """Open an included xacro file or a YAML file as text, with limits."""
        # xacro prints the second and the third argument of an OSError.
        try:
            with open_regular(name) as file:
                content = read_at_most(file, XML_LIMIT)
        except OSError as error:
            raise OSError(errno.EINVAL, explain_file_error(error), name) from None
        self._read += len(content)
        if self._read > MAX_TOTAL_SIZE:
            raise OSError(
                errno.EFBIG,
                f"the total size of the files exceeds {MAX_TOTAL_SIZE // 2**20} MiB",
                name,
            )
        if content.lstrip()[:1] == b"<":
            try:
                require_bounded(content)
            except UnusableXmlError as error:
                raise OSError(errno.EINVAL, f"line {error.line}: {error}", name) from None
        return io.StringIO(content.decode("utf-8"))

    def _search_parents_for_packages(self, file: Path) -> None:
        """Make ``$(find PACKAGE)`` search the folders above the file, and then ROS_PACKAGE_PATH.

        A robot description can then be read from a repository outside any workspace.
        """
        try:
            arguments: Any = importlib.import_module("xacro.substitution_args")
            find = arguments._eval_find
        except (ImportError, AttributeError):  # in ROS 1, xacro uses rospkg
            return

        def find_in_parents(name: str) -> str:
            folder = find_package_above(file, name)
            if folder is not None:
                return str(folder)
            self._missing.append(name)
            return find(name)

        arguments._eval_find = find_in_parents


def _lower_limit(limit: int, soft: int, hard: int) -> None:
    """Set a resource limit of this process, but never above the inherited hard limit."""
    inherited = resource.getrlimit(limit)[1]
    if inherited != resource.RLIM_INFINITY:
        soft, hard = min(soft, inherited), min(hard, inherited)
    resource.setrlimit(limit, (soft, hard))


def find_package_above(file: Path, name: str) -> Path | None:
    """Find a ROS package among the parent folders of a file and their direct subfolders.

    Parameters
    ----------
    file : Path
        File inside the package.
    name : str
        Name of the package.

    Returns
    -------
    Path or None
        Folder of the package; None if there is none.
    """
    for folder in file.resolve().parents:
        for place in (folder, folder / name):
            if place.name == name and (place / "package.xml").is_file():
                return place
    return None


def require_harmless(expression: str) -> None:
    """Check that a Python expression cannot access objects outside its namespace.

    Parameters
    ----------
    expression : str
        Expression in a xacro file.

    Raises
    ------
    ValueError
        The expression is too long, or uses an attribute or a name that is not allowed.
    SyntaxError, RecursionError
        The text is not an expression, or it is nested too deeply.
    """
    if len(expression) > MAX_EXPRESSION_LENGTH:
        raise ValueError(f"an expression is longer than {MAX_EXPRESSION_LENGTH} characters")
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
            if name.startswith(_UNSAFE_PREFIXES) or name in _UNSAFE_ATTRIBUTES:
                raise ValueError(f"an expression uses the forbidden attribute {quote(name)}")
        elif isinstance(node, (ast.Name, ast.arg)):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name.startswith("__"):
                raise ValueError(f"an expression uses the forbidden name {quote(name)}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("__"):
                raise ValueError(f"an expression contains the forbidden text {quote(node.value)}")


def _checked_compile(source, *others, **named) -> Any:
    require_harmless(source)
    return builtins.compile(source, *others, **named)


def _checked_eval(source, *others) -> Any:
    if not isinstance(source, CodeType):
        require_harmless(source)
    return builtins.eval(source, *others)


def is_plain_urdf(content: bytes) -> bool:
    """Return whether a robot description is plain URDF, which xacro would not change.

    Parameters
    ----------
    content : bytes
        Text of the description.

    Returns
    -------
    bool
        True if there is neither a xacro tag nor an expression.
    """
    return b"xacro" not in content and b"${" not in content and b"$(" not in content
