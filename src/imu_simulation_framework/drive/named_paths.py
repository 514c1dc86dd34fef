"""Command-line paths of recordings and results, with an optional part."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..core.errors import RecordingError
from ..recordings import file_access
from .results.files import MARKER

PART_SIGN = "@"
"""Separator between a path and the selected topic, column or table."""


class NamedPath(NamedTuple):
    """Path of a recording or a result, with an optional part such as a topic.

    Parameters
    ----------
    path : str
        Path of a recording or a result.
    part : str
        Topic, column or table; empty to select everything.
    """

    path: str
    part: str


def split_name(text: str) -> NamedPath:
    """Split ``PATH@PART`` into path and part; an existing path is not split.

    Parameters
    ----------
    text : str
        Argument of the command line.

    Returns
    -------
    NamedPath
        Path and part, split at the last separator that follows the path of a recording or a result.
        If there is no such path, the text is split at the first separator.
    """
    if os.path.exists(text) or PART_SIGN not in text:
        return NamedPath(text, "")
    places = [place for place, letter in enumerate(text) if letter == PART_SIGN]
    for place in reversed(places):
        if is_result(text[:place]) or os.path.exists(text[:place]):
            return NamedPath(text[:place], text[place + 1 :])
    return NamedPath(text[: places[0]], text[places[0] + 1 :])


def is_result(path: str | os.PathLike[str]) -> bool:
    """Return whether a path belongs to a result.

    Parameters
    ----------
    path : path-like
        Folder, or ``<folder>/<prefix>``.

    Returns
    -------
    bool
        Whether there is a result.
    """
    path = Path(path)
    if path.is_dir():
        if file_access.kitti_folder(path) or file_access.csv_files(path):
            return False
        try:
            file_access.storage_files(path)
        except RecordingError:
            # A folder that is not a bag is read as a result; reading it reports missing files.
            return True
        return False
    if path.exists():
        return False
    return bool(path.name) and (path.parent / f"{path.name}_{MARKER}").is_file()


def short_name(path: str | os.PathLike[str]) -> str:
    """Return the last parts of a path as the short name of a recording or a result.

    The name of a run folder is only a number, so that two parent folders are added to it.

    Parameters
    ----------
    path : path-like
        Path of a result or recording.

    Returns
    -------
    str
        Last part of the path, or the last three parts for a run folder.
    """
    parts = Path(os.path.abspath(path)).parts
    return "/".join(parts[-3:] if parts[-1].isdecimal() else parts[-1:])
