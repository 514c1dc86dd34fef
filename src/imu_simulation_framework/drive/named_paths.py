"""Paths by which a person names a recording, a result, or a part of either."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..core.errors import RecordingError
from ..recordings import file_access
from .results.files import MARKER

PART_SIGN = "@"
"""Sign between a path and the topic, column or table that is selected."""


class NamedPath(NamedTuple):
    """A path and its selected part.

    Parameters
    ----------
    path : str
        Path of a recording or a result.
    part : str
        Topic, column or table; empty for the whole.
    """

    path: str
    part: str


def split_name(text: str) -> NamedPath:
    """Split ``PATH@PART``; a path that exists is not split.

    Parameters
    ----------
    text : str
        Name as a person gives it.

    Returns
    -------
    NamedPath
        Split at the last sign before which there is a recording or a result, otherwise at the first
        one.
    """
    if os.path.exists(text) or PART_SIGN not in text:
        return NamedPath(text, "")
    places = [place for place, letter in enumerate(text) if letter == PART_SIGN]
    for place in reversed(places):
        if is_result(text[:place]) or os.path.exists(text[:place]):
            return NamedPath(text[:place], text[place + 1 :])
    return NamedPath(text[: places[0]], text[places[0] + 1 :])


def is_result(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a result.

    Parameters
    ----------
    path : path-like
        Folder, or ``<folder>/<prefix>``.

    Returns
    -------
    bool
        True for a result.
    """
    path = Path(path)
    if path.is_dir():
        if file_access.kitti_folder(path) or file_access.csv_files(path):
            return False
        try:
            file_access.storage_files(path)
        except RecordingError:
            # A folder that is not a bag is read as a result, which reports the files that it lacks.
            return True
        return False
    if path.exists():
        return False
    return bool(path.name) and (path.parent / f"{path.name}_{MARKER}").is_file()


def short_name(path: str | os.PathLike[str]) -> str:
    """Return the end of a path by which it is distinguished from others.

    The folder of a run is named by a number only, and is returned with its parents.

    Parameters
    ----------
    path : path-like
        Path of a result or recording.

    Returns
    -------
    str
        Last part of the path; for the folder of a run the last three parts.
    """
    parts = Path(os.path.abspath(path)).parts
    return "/".join(parts[-3:] if parts[-1].isdecimal() else parts[-1:])
