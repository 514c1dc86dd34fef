"""What an experiment is started with: arguments of experiment.launch, parameters, config.ini.

They mean the same in ROS 1, in ROS 2 and to whoever starts the nodes.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Mapping

from ..core.errors import ConfigurationError
from ..core.files import default_configuration_path, package_share
from ..core.programs import ArgumentParser
from ..core.sentences import quote, shorten
from ..core.yaml_files import NOT_YAML, explain_yaml_error, load_plain
from .configuration import Configuration, load_configuration

EXPERIMENT_PARAMETERS = "experiment"
"""Parameters that all nodes of an experiment share: ``config``, ``working_directory``,
``simulator`` (the one that was started), ``participants``, ``settings``, which has sections and
keys as config.ini has, and ``settings_text``, which is the same as the text of a YAML mapping."""

CHOICES = {
    **dict.fromkeys(("gui", "record", "rviz", "table"), ("true", "false")),
    "view": ("none", "multiplot", "matplotlib"),
}
"""What roslaunch itself decides on; all else is checked as a setting of config.ini."""

_ARGUMENT = re.compile(r"[A-Za-z_]\w*:=.*", re.DOTALL)
_ARGUMENT_ALONE = re.compile(r"\$\(arg (\w+)\)")
_HERE = "$(find imu_simulation_framework)"


def launch_file() -> str:
    """Return the path of experiment.launch."""
    return str(package_share() / "launch" / "experiment.launch")


def documented_arguments() -> dict[str, tuple[str, str]]:
    """Return meaning and default of the launch file's arguments by their names."""
    # roslaunch's own list of them is made with the arguments of this program in force.
    here = str(package_share())
    return {
        argument.attrib["name"]: (
            argument.get("doc", ""),
            argument.attrib["default"].replace(_HERE, here),
        )
        for argument in ElementTree.parse(launch_file()).getroot().findall("arg")
        if argument.get("default") is not None
    }


def read_command_line(purpose: str, arguments) -> tuple[Any, dict[str, str]]:
    """Read the arguments and options with which run_experiment.py was called.

    Raises ConfigurationError: as :func:`check_arguments`. ``purpose``: what it does, for its help.
    Returns the options, ``verbose`` and the ``arguments`` of the launch file, and what
    :func:`check_arguments` makes of these.
    """
    known = documented_arguments()
    width = max(map(len, known)) + 2
    lines = [
        f"  {name + ':=':{width}}  {meaning}" + (f" (default: {default})" if default else "")
        for name, (meaning, default) in known.items()
    ]
    parser = ArgumentParser(
        description=f"{purpose}; print the result and exit with a code that tells of it: 0 after "
        "the whole drive, 1 after a failure, 2 when nothing was started, 130 after Ctrl+C.",
        epilog="\n".join(["arguments, each name:=value:", *lines]),
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="see below")
    verbose = "print what the nodes and their launcher say, not only warnings and the result"
    parser.add_argument("-v", "--verbose", action="store_true", help=verbose)
    options = parser.parse_intermixed_args(arguments)
    return options, check_arguments(options.arguments)


def check_arguments(given) -> dict[str, str]:
    """Return every argument's value by its name, its default where none is given.

    Raises ConfigurationError: experiment.launch does not know one of those that are given, or its
    value is not among the choices.
    """
    known = documented_arguments()
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


def experiment_parameters(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters that the nodes of an experiment share, as the launch file sets them.

    ``values``: of all arguments. What is returned is what :func:`node_configuration` takes.
    """
    root = ElementTree.parse(launch_file()).getroot()
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


def node_configuration(
    node: str, experiment: Mapping[str, Any], private: Mapping[str, Any]
) -> Configuration:
    """Return the experiment's config.ini, overridden by the shared settings, then by private ones.

    Raises ConfigurationError: the settings are not what config.ini accepts. ``node``: whose
    settings they are, for the sentence of an error; ``experiment`` (mapping): the parameters below
    ``experiment``; ``private`` (mapping): the node's own parameters, ``{section: {key: value}}``.
    """
    overrides: dict = {}
    text = experiment.get("settings_text", "")
    for layer in (experiment.get("settings", {}), _settings_of(text), private):
        for section, values in layer.items():
            if not isinstance(values, Mapping):
                raise ConfigurationError(
                    f"{node}: the parameter {section} is {quote(values)}, expected a "
                    "section of config.ini, {key: value}"
                )
            overrides.setdefault(str(section), {}).update(
                {str(key): value for key, value in values.items() if value not in ("", None)}
            )
    working_directory = folder_of_call(experiment)
    path = experiment.get("config", "") or default_configuration_path()
    configuration = load_configuration(working_directory / path, overrides, working_directory)
    wanted = configuration.simulation.simulator
    if experiment.get("simulator", wanted) != wanted:
        raise ConfigurationError(
            f"{configuration.path}: [simulation] simulator is {wanted}, which roslaunch does not "
            f"know when it starts nodes; say simulator:={wanted} as well, or use run_experiment.py"
        )
    return configuration


def folder_of_call(parameters: Mapping[str, Any]) -> Path:
    """Return the folder in which a launch file was called, where relative paths start.

    Raises ConfigurationError: it was removed; the shell still has its name, or none.
    """
    folder = str(parameters.get("working_directory", "."))
    if not os.path.isdir(folder):
        raise ConfigurationError(
            "the folder in which it was called does not exist any more: call it in another one"
        )
    return Path(folder)


def _settings_of(text) -> Mapping[str, Any]:
    text = str(text)
    given, expected = shorten(text), "expected {section: {key: value}}"
    try:
        settings = load_plain(text)
    except NOT_YAML as error:
        raise ConfigurationError(
            f"settings:={given}: {expected}; {explain_yaml_error(error)}"
        ) from error
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise ConfigurationError(f"settings:={given}: {expected}")
    return settings
