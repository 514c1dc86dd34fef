"""Descriptions of one kind as YAML files: bundled ones by name, others by path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, TypeVar

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.core.yaml_files import read_yaml

Described = TypeVar("Described")


def bundled_names(folder: str) -> list[str]:
    """Return the names of the descriptions in a folder of the package's config."""
    return sorted(path.stem for path in _bundled(folder).glob("*.yaml"))


def find_description(name: str | os.PathLike[str], folder: str, kind: str) -> Path:
    """Return the file that is meant: a path, or the name of one in the package's config.

    Parameters
    ----------
    name : str or Path
    folder : str
        Of the package's config.
    kind : str
        What it describes, with its article: "a GNSS receiver".

    Raises
    ------
    ConfigurationError
        There is neither.
    """
    path = Path(name)
    # Unlike Path.exists, this finds nothing behind a name that is too long for a file.
    if os.path.exists(path):
        return path
    bundled = _bundled(folder) / f"{path.name}.yaml"
    if str(path) == path.name and os.path.isfile(bundled):
        return bundled
    names = ", ".join(bundled_names(folder))
    raise ConfigurationError(
        f"{path}: there is no such file, nor {kind} of that name; there are {names}."
    )


def read_described(
    name: str | os.PathLike[str],
    folder: str,
    kind: str,
    make: Callable[[Any], Described],
    named: bool = False,
) -> Described:
    """Return what a description by its name, or in its file, describes.

    Parameters
    ----------
    name, folder, kind
        As for :func:`find_description`.
    make : callable
        Makes it of the file's keys and values.
    named : bool
        Whether it has a name, which is the file's unless it says one.

    Raises
    ------
    ConfigurationError
        There is no such file, it cannot be read, or ``make`` refuses what it holds.
    """
    path = find_description(name, folder, kind)
    return load_described(path, f"the {kind.split(' ', 1)[1]}", make, named, may_be_empty=True)


def load_described(
    path: str | os.PathLike[str],
    what: str,
    make: Callable[[Any], Described],
    named: bool = False,
    may_be_empty: bool = False,
) -> Described:
    """Return what a file describes.

    Parameters
    ----------
    path : str or Path
    what : str
        What it describes, for the sentence: "the GNSS receiver".
    make, named
        As for :func:`read_described`.
    may_be_empty : bool
        Whether a file that says nothing is one in which every key is left out.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or ``make`` refuses what it holds.
    """
    content = read_yaml(path, what)
    if content is None and may_be_empty:
        content = {}
    try:
        if named and isinstance(content, dict):
            content.setdefault("name", Path(path).stem)
        return make(content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _bundled(folder: str) -> Path:
    return package_share() / "config" / folder
