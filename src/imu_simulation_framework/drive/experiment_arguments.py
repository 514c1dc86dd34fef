"""Arguments of experiment.launch and node parameters, and their conversion to a configuration.

They have the same meaning in ROS 1 and in ROS 2.
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
"""Namespace of the parameters that all nodes of an experiment share: ``config``,
``working_directory``, ``simulator`` (the simulator that was started), ``participants``,
``settings`` with sections and keys of config.ini, and ``settings_text``, a YAML mapping with the
same structure."""

CHOICES = {
    **dict.fromkeys(("gui", "record", "rviz", "table"), ("true", "false")),
    "view": ("none", "multiplot", "matplotlib"),
}
"""Valid values of the arguments that roslaunch itself evaluates; others are checked as settings."""

_ARGUMENT = re.compile(r"[A-Za-z_]\w*:=.*", re.DOTALL)
_ARGUMENT_ALONE = re.compile(r"\$\(arg (\w+)\)")
_PACKAGE_PATH = "$(find imu_simulation_framework)"


def launch_file() -> str:
    """Return the path of experiment.launch.

    Returns
    -------
    str
        Path in the share folder of the package.
    """
    return str(package_share() / "launch" / "experiment.launch")


def documented_arguments() -> dict[str, tuple[str, str]]:
    """Return the arguments of the launch file with their descriptions and default values.

    Returns
    -------
    dict of str to tuple of str and str
        Description and default value by name.
    """
    # The XML is read directly, because roslaunch would report command-line values as defaults.
    package_folder = str(package_share())
    return {
        argument.attrib["name"]: (
            argument.get("doc", ""),
            argument.attrib["default"].replace(_PACKAGE_PATH, package_folder),
        )
        for argument in ElementTree.parse(launch_file()).getroot().findall("arg")
        if argument.get("default") is not None
    }


def read_command_line(purpose: str, arguments) -> tuple[Any, dict[str, str]]:
    """Parse the command line of run_experiment.py.

    Parameters
    ----------
    purpose : str
        Description of the program for its help.
    arguments : sequence of str
        Command line arguments.

    Returns
    -------
    options : argparse.Namespace
        Option ``verbose`` and the ``arguments`` of the launch file.
    values : dict of str to str
        Result of :func:`check_arguments`.

    Raises
    ------
    ConfigurationError
        See :func:`check_arguments`.
    """
    documented = documented_arguments()
    width = max(map(len, documented)) + 2
    lines = [
        f"  {name + ':=':{width}}  {meaning}" + (f" (default: {default})" if default else "")
        for name, (meaning, default) in documented.items()
    ]
    parser = ArgumentParser(
        description=f"{purpose}; print the result and exit with one of these codes: 0 after "
        "the complete drive, 1 after a failure, 2 if no node was started, 130 after Ctrl+C.",
        epilog="\n".join(["arguments, each name:=value:", *lines]),
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="see below")
    verbose = "print all messages of the nodes and their launcher, not only warnings and the result"
    parser.add_argument("-v", "--verbose", action="store_true", help=verbose)
    options = parser.parse_intermixed_args(arguments)
    return options, check_arguments(options.arguments)


def check_arguments(given) -> dict[str, str]:
    """Check the arguments of an experiment, and add defaults for missing arguments.

    Parameters
    ----------
    given : sequence of str
        Arguments as ``name:=value``.

    Returns
    -------
    dict of str to str
        Values of all arguments by name.

    Raises
    ------
    ConfigurationError
        experiment.launch does not have the argument, or its value is not one of its choices.
    """
    documented = documented_arguments()
    for argument in given:
        name, _, value = argument.partition(":=")
        if not _ARGUMENT.fullmatch(argument) or name not in documented:
            raise ConfigurationError(
                f"{argument}: expected name:=value with one of {', '.join(sorted(documented))}"
            )
        if name in CHOICES and value not in CHOICES[name]:
            raise ConfigurationError(f"{argument}: expected one of {', '.join(CHOICES[name])}")
        if "\0" in value:
            raise ConfigurationError(f"{name}:= contains a NUL character, expected none")
    values = {name: default for name, (_, default) in documented.items()}
    values.update(argument.split(":=", 1) for argument in given)
    return values


def experiment_parameters(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the shared node parameters of an experiment, as set by the launch file.

    Parameters
    ----------
    values : mapping of str to str
        Values of all arguments by name.

    Returns
    -------
    dict of str to object
        Parameters for :func:`node_configuration`.
    """
    root = ElementTree.parse(launch_file()).getroot()
    settings: dict[str, dict] = {}
    for parameter in root.iterfind(f"group[@ns='{EXPERIMENT_PARAMETERS}/settings']/param"):
        section, key = parameter.attrib["name"].split("/")
        argument = _ARGUMENT_ALONE.sub(r"\1", parameter.attrib["value"])
        settings.setdefault(section, {})[key] = values[argument]
    return {
        "config": values["config"],
        # Relative paths start from the working directory.
        "working_directory": os.getcwd(),
        "settings": settings,
        "settings_text": values["settings"],
    }


def node_configuration(
    node: str, experiment: Mapping[str, Any], private: Mapping[str, Any]
) -> Configuration:
    """Return the configuration of a node: config.ini with shared and private overrides.

    Parameters
    ----------
    node : str
        Name of the node, for messages.
    experiment : mapping of str to object
        Parameters in the namespace ``experiment``.
    private : mapping of str to object
        Private parameters of the node, ``{section: {key: value}}``, which take precedence.

    Returns
    -------
    Configuration
        Checked settings.

    Raises
    ------
    ConfigurationError
        A setting is invalid.
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
    simulator = configuration.simulation.simulator
    if experiment.get("simulator", simulator) != simulator:
        raise ConfigurationError(
            f"{configuration.path}: [simulation] simulator is {simulator}, which roslaunch cannot "
            f"read when it starts nodes; set simulator:={simulator} as well, or use "
            "run_experiment.py"
        )
    return configuration


def folder_of_call(parameters: Mapping[str, Any]) -> Path:
    """Return the working directory in which roslaunch was called, the base of relative paths.

    Parameters
    ----------
    parameters : mapping of str to object
        Parameters in the namespace ``experiment``.

    Returns
    -------
    Path
        The folder; by default, the working directory of this process.

    Raises
    ------
    ConfigurationError
        The folder has been removed since the call.
    """
    folder = str(parameters.get("working_directory", "."))
    if not os.path.isdir(folder):
        raise ConfigurationError("the working directory no longer exists; change to another one")
    return Path(folder)


def _settings_of(text) -> Mapping[str, Any]:
    text = str(text)
    text_excerpt, expected = shorten(text), "expected {section: {key: value}}"
    try:
        settings = load_plain(text)
    except NOT_YAML as error:
        raise ConfigurationError(
            f"settings:={text_excerpt}: {expected}; {explain_yaml_error(error)}"
        ) from error
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise ConfigurationError(f"settings:={text_excerpt}: {expected}")
    return settings
