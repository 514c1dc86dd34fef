"""Command-line paths of recordings and results, with an optional topic, column or table."""

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
    """Path of a recording or a result, with an optional topic, column or table.

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
    """Split the argument ``PATH@PART`` at the separator, unless it is an existing path.

    Parameters
    ----------
    text : str
        Argument of the command line.

    Returns
    -------
    NamedPath
        Split at the last separator that follows the path of a recording or a result. If there is no
        such path, the text is split at the first separator.
    """
    if os.path.exists(text) or PART_SIGN not in text:
        return NamedPath(text, "")
    places = [place for place, letter in enumerate(text) if letter == PART_SIGN]
    for place in reversed(places):
        if is_result(text[:place]) or os.path.exists(text[:place]):
            return NamedPath(text[:place], text[place + 1 :])
    return NamedPath(text[: places[0]], text[places[0] + 1 :])


def is_result(path: str | os.PathLike[str]) -> bool:
    """Return whether a path refers to the result of an experiment.

    Parameters
    ----------
    path : path-like
        Folder, or ``<folder>/<prefix>``.

    Returns
    -------
    bool
        True if the path is a folder that is not a recording, or the prefix of an existing result.
    """
    path = Path(path)
    if path.is_dir():
        if file_access.kitti_folder(path) or file_access.csv_files(path):
            return False
        try:
            file_access.storage_files(path)
        except RecordingError:
            # A folder that is not a bag is treated as a result; reading it reports missing files.
            return True
        return False
    if path.exists():
        return False
    return bool(path.name) and (path.parent / f"{path.name}_{MARKER}").is_file()


def short_name(path: str | os.PathLike[str]) -> str:
    """Return the last components of a path as the short name of a recording or a result.

    The name of a run folder is only a number, so that two parent folders are added to it.

    Parameters
    ----------
    path : path-like
        Path of a result or recording.

    Returns
    -------
    str
        Last component of the path, or the last three components for a run folder.
    """
    parts = Path(os.path.abspath(path)).parts
    return "/".join(parts[-3:] if parts[-1].isdecimal() else parts[-1:])
