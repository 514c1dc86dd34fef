"""Checks of the paths in config.ini, whose errors name the configuration."""

from __future__ import annotations

import os

from ..core.errors import ConfigurationError, FrameworkError
from ..core.whole_files import describe_file_kind
from .configuration import Configuration


def require_configured_path(
    configuration: Configuration,
    section: str,
    key: str,
    expected: str,
    error: type[FrameworkError] = ConfigurationError,
) -> None:
    """Check that a path in config.ini refers to a file or a folder.

    A path that a launch argument or a default has replaced is not checked.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.
    section, key : str
        Section and key of the path.
    expected : str
        Expected content, such as ``a recording``.
    error : type of FrameworkError, optional
        Class of the error.

    Raises
    ------
    FrameworkError
        The path in config.ini is neither a file nor a folder.
    """
    path = getattr(getattr(configuration, section), key)
    text = configuration.given.get(section, {}).get(key)
    is_from_file = path and text and path.endswith(os.path.normpath(text))
    if not is_from_file or os.path.isfile(path) or os.path.isdir(path):
        return
    kind = "no such file"
    if os.path.exists(path):
        kind = f"it is {describe_file_kind(os.stat(path).st_mode)}"
    raise error(
        f"configuration {configuration.path}: [{section}] {key}: {path}: {kind}, expected "
        f"{expected}"
    )


def robot_file(configuration: Configuration) -> str | None:
    """Return the file of the configured robot.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    str or None
        Path; None for the bundled robot.

    Raises
    ------
    ConfigurationError
        The path in config.ini does not exist.
    """
    require_configured_path(configuration, "robot", "parameters", "the parameters of a robot")
    return configuration.robot.parameters or None
