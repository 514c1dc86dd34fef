"""Copies of what JSBSim reads that neither write files nor open sockets.

What a script or an aircraft says in ``<output>`` and ``<input>`` JSBSim opens while it reads: a
file is emptied, a FIFO waited for, an address connected to. So it reads copies that do not say it.
Components of a control system have tags of these names, too; those name properties, and stay.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.parsers.expat import ErrorString

from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.files.reading import open_regular, read_at_most
from imu_simulation_framework.files.whole_files import reason_of
from imu_simulation_framework.files.xml_files import (
    XML_LIMIT,
    UnusableXmlError,
    require_bounded_xml,
)
from imu_simulation_framework.sentences import shown

_OPENED = ("output", "input")
_MAX_FILES = 1000
_MAX_SIZE = 64 * 2**20
_OUTSIDE = re.compile(r"^[/\\~]|^\w:|\.\.")


def quiet_script(script: Path, target: Path) -> tuple[Path, list[str]]:
    """Copy a script, and return the copy and the names of the aircraft that it uses.

    Parameters
    ----------
    script : Path
    target : Path
        A folder.

    Raises
    ------
    SimulatorError
        It cannot be read, is no harmless XML, or names a file outside the aircraft's folder.
    """
    root = _quiet(script)
    copy = target / "script" / (script.stem + ".xml")
    _write(root, copy)
    return copy, [use.get("aircraft", "") for use in root.iter("use")]


def quiet_folder(folder: Path, target: Path) -> None:
    """Copy the XML files of a folder, with those in folders in it.

    Raises
    ------
    SimulatorError
        As for :func:`quiet_script`, or they are absurdly many or large.
    """
    count = size = 0
    for place, _, names in os.walk(folder, followlinks=True):
        for name in sorted(names):
            if not name.lower().endswith(".xml"):
                continue
            path = Path(place) / name
            copy = target / path.relative_to(folder)
            count += 1
            size += _write(_quiet(path), copy)
            if count > _MAX_FILES or size > _MAX_SIZE:
                raise SimulatorError(
                    f"{folder}: more than {_MAX_FILES} files or {_MAX_SIZE // 2**20} MiB of XML, "
                    "so no folder of an aircraft or of engines"
                )


def _quiet(path):
    try:
        with open_regular(path) as file:
            content = read_at_most(file, XML_LIMIT)
        require_bounded_xml(content)
        # Comments keep the lines that JSBSim's messages name.
        builder = ElementTree.TreeBuilder(insert_comments=True)
        root = ElementTree.fromstring(content, ElementTree.XMLParser(target=builder))
    except OSError as error:
        raise SimulatorError(f"{path}: it cannot be read: {reason_of(error)}") from None
    except UnusableXmlError as error:
        raise SimulatorError(
            f"{path}: JSBSim cannot fly this script: line {error.line}: {error}"
        ) from None
    except ElementTree.ParseError as error:
        raise SimulatorError(
            f"{path}: JSBSim cannot fly this script: line {error.position[0]}: "
            f"{ErrorString(error.code)}"
        ) from None
    except (ValueError, LookupError) as error:
        raise SimulatorError(f"{path}: JSBSim cannot fly this script: {error}") from None
    for child in list(root):
        if child.tag in _OPENED:
            root.remove(child)
    for tag in root.iter():
        for key in ("file", "aircraft", "initialize"):
            name = tag.get(key, "")
            if _OUTSIDE.search(name.strip()):
                raise SimulatorError(
                    f"{path}: <{tag.tag}> names {shown(name)}, which is not in the aircraft's own "
                    "folder; such files are not read"
                )
    return root


def _write(root, path) -> int:
    content = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return len(content)
