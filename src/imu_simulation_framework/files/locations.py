"""Where the package keeps what it reads at run time, in a source, devel or install space."""

from __future__ import annotations

import os
from pathlib import Path

from imu_simulation_framework.errors import FrameworkError

PACKAGE = "imu_simulation_framework"


def package_share() -> Path:
    """Return the folder with config.ini, urdf, data, ...

    That is the repository's root when the library runs from its source or devel space, and
    share/imu_simulation_framework of the install space otherwise.

    Raises
    ------
    FrameworkError
        Neither is found.
    """
    library = Path(__file__).resolve().parents[1]
    source = library.parents[1]
    if (source / "package.xml").is_file() and (source / "urdf").is_dir():
        return source
    # <prefix>/lib/python3*/{dist,site}-packages/imu_simulation_framework -> <prefix>/share
    for prefix in library.parents:
        share = prefix / "share" / PACKAGE
        if (share / "package.xml").is_file():
            return share
    raise FrameworkError(f"the folder of the package {PACKAGE} was not found above {library}")


def plain_path(path) -> str:
    """Return the path without ``..`` and ``.``, as a person would write it, to the same place.

    Where a link is in front of a ``..`` the way without both would lead elsewhere; there it
    is the path behind all links.
    """
    shortened, real = os.path.normpath(path), os.path.realpath(path)
    return shortened if os.path.realpath(shortened) == real else real


ENDINGS = (".bag", ".csv", ".db3", ".gz", ".log", ".mcap", ".txt", ".tum", ".zst")
"""Of recordings; what else stands behind a point is a part of the name, as in a date."""


def name_of_recording(path) -> str:
    """Return the name of a recording's file or folder without its endings."""
    name = Path(path).name
    while Path(name).suffix.lower() in ENDINGS:
        name = Path(name).stem
    return name


def default_configuration_path() -> Path:
    """Return the bundled config.ini."""
    return package_share() / "config.ini"


def urdf_path(name: str) -> Path:
    """Return a file of the bundled robot description."""
    return package_share() / "urdf" / name


def drive_folder() -> Path:
    """Return where the bundled drives are, and the others are made on first use.

    That is the package's data folder, or where ROS keeps its files (``ROS_HOME``) when the
    package's folder cannot be written, as when it is installed for everybody.
    """
    bundled = package_share() / "data"
    if os.access(bundled, os.W_OK):
        return bundled
    home = os.environ.get("ROS_HOME") or Path.home() / ".ros"
    return Path(home) / PACKAGE
