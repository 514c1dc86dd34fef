"""Finding the one sensor or plug-in that is meant in an XML file of any size."""

from __future__ import annotations

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.imu_formats.parsing.xml_tags import EXPAND_WITH_XACRO, Tag


def find_imu_sensor(root: Tag) -> Tag:
    """Return the one ``<sensor type="imu">`` of a file.

    Raises
    ------
    ConfigurationError
        There is none, or several.
    """
    found = [
        tag for tag in root.walk() if tag.name == "sensor" and tag.attributes.get("type") == "imu"
    ]
    return _only(found, root, '<sensor type="imu">')


def find_plugin(root: Tag, *libraries: str) -> Tag:
    """Return the one ``<plugin>`` of a file that loads one of some libraries.

    Parameters
    ----------
    root : Tag
    libraries : str
        The libraries' file names; the first is the one to ask for.

    Raises
    ------
    ConfigurationError
        There is none, or several.
    """
    found = [
        tag
        for tag in root.walk()
        if tag.name == "plugin" and tag.attributes.get("filename", "").split("/")[-1] in libraries
    ]
    return _only(found, root, f'<plugin filename="{libraries[0]}">')


def _only(found, root, what):
    if not found:
        macros = any(tag.name.startswith("xacro:") for tag in root.walk())
        hint = f"; {EXPAND_WITH_XACRO}" if macros else ""
        raise ConfigurationError(
            f"{root.file}: there is no {what} in this file, whose root is <{root.name}>{hint}."
        )
    if len(found) > 1:
        lines = ", ".join(str(tag.line) for tag in found)
        raise ConfigurationError(
            f"{root.file}: there are {len(found)} {what}, in the lines {lines}; keep one."
        )
    return found[0]
