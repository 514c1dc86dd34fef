"""Arguments of experiment.launch: checked, and taken as they stand."""

from __future__ import annotations

import os
import re
import secrets
import xml.etree.ElementTree as ElementTree

import roslaunch.config

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.ros1.node import EXPERIMENT_PARAMETERS

BOOLEANS = ("true", "false")
CHOICES = {
    "gui": BOOLEANS,
    "record": BOOLEANS,
    "rviz": BOOLEANS,
    "table": BOOLEANS,
    "view": ("none", "multiplot", "matplotlib"),
}
"""What roslaunch itself decides on; all else is checked as a setting of config.ini."""

_ARGUMENT = re.compile(r"[A-Za-z_]\w*:=.*", re.DOTALL)
_ARGUMENT_ALONE = re.compile(r"\$\(arg (\w+)\)")
_SUBSTITUTION = "$("
_HERE = "$(find imu_simulation_framework)"


def check_arguments(launch_file, given) -> dict:
    """Refuse what experiment.launch does not know.

    Raises ConfigurationError: an argument is none, or its value not among the choices.

    Returns
    -------
    dict of str
        Every argument's value by its name, its default where none is given.
    """
    known = _documented(launch_file)
    for argument in given:
        name, _, value = argument.partition(":=")
        if not _ARGUMENT.fullmatch(argument) or name not in known:
            raise ConfigurationError(
                f"{argument}: expected name:=value with one of {', '.join(sorted(known))}"
            )
        if name in CHOICES and value not in CHOICES[name]:
            raise ConfigurationError(f"{argument}: expected one of {', '.join(CHOICES[name])}")
        if "\0" in value:
            raise ConfigurationError(f"{name}:= holds the character NUL, expected text")
    values = {name: default for name, (_, default) in known.items()}
    values.update(argument.split(":=", 1) for argument in given)
    return values


def experiment_parameters(launch_file, values) -> dict:
    """Return the parameters that the nodes of an experiment share, as the launch file sets them.

    Parameters
    ----------
    values : mapping of str
        Every argument's value by its name.

    Returns
    -------
    dict
        As :func:`.node.node_configuration` takes them.
    """
    root = ElementTree.parse(launch_file).getroot()
    settings: dict[str, dict] = {}
    for parameter in root.iterfind(f"group[@ns='{EXPERIMENT_PARAMETERS}/settings']/param"):
        section, key = parameter.attrib["name"].split("/")
        argument = _ARGUMENT_ALONE.sub(r"\1", parameter.attrib["value"])
        settings.setdefault(section, {})[key] = values[argument]
    return {
        "config": values["config"],
        # Relative paths start where this program was called.
        "working_directory": os.getcwd(),
        "settings": settings,
        "settings_text": values["settings"],
    }


def argument_help(launch_file) -> str:
    """Every argument of a launch file with its meaning and its default, a line each."""
    known = _documented(launch_file)
    width = max(map(len, known)) + 2
    lines = [
        f"  {name + ':=':{width}}  {meaning}" + (f" (default: {default})" if default else "")
        for name, (meaning, default) in known.items()
    ]
    return "\n".join(["arguments, each name:=value:", *lines])


def _documented(launch_file) -> dict:
    """Meaning and default of each argument that can be given."""
    # roslaunch's own list of them is made with the arguments of this program in force.
    here = str(package_share())
    return {
        argument.attrib["name"]: (
            argument.get("doc"),
            argument.attrib["default"].replace(_HERE, here),
        )
        for argument in ElementTree.parse(launch_file).getroot().findall("arg")
        if argument.get("default") is not None
    }


def load_launch_file(launch_file, arguments):
    """Load a launch file with arguments and the current folder as they stand.

    roslaunch replaces ``$(...)`` also in what an argument says, so that a path with these
    characters would be another one, or an error. Such a value is put in when that is over. Raises
    roslaunch.RLException: the file and the arguments do not go together.

    Parameters
    ----------
    arguments : list of str
        Each ``name:=value``.
    """
    kept = {}

    def plain(value):
        if _SUBSTITUTION not in value:
            return value
        # No file can have been prepared to hold a word that nobody knows before.
        word = f"kept_{secrets.token_hex(16)}"
        kept[word] = value
        return word

    pairs = [argument.partition(":=") for argument in arguments]
    folder = os.getcwd()
    # Relative paths start where this program was called, see experiment.launch.
    os.environ["PWD"] = plain(folder)
    try:
        config = roslaunch.config.load_config_default(
            [(launch_file, [f"{name}:={plain(value)}" for name, _, value in pairs])], None
        )
    finally:
        os.environ["PWD"] = folder
    for parameter in config.params.values():
        for word, value in kept.items():
            if isinstance(parameter.value, str):
                parameter.value = parameter.value.replace(word, value)
    return config
