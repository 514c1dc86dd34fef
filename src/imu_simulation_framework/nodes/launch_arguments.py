"""Arguments of experiment.launch: checked, and taken as they stand."""

from __future__ import annotations

import os
import re
import secrets
import urllib.parse

import roslaunch.arg_dump
import roslaunch.config

from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.errors import ConfigurationError, FrameworkError

MASTER_URI = "ROS_MASTER_URI"
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
_SUBSTITUTION = "$("


def check_arguments(launch_file, given) -> None:
    """Refuse what experiment.launch does not know, and an address of the master that is none.

    Raises
    ------
    ConfigurationError
        An argument is none, or its value not among the choices.
    FrameworkError
        The environment's ROS_MASTER_URI is no address.
    """
    known = roslaunch.arg_dump.get_args([launch_file])
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
    _check_master_uri(os.environ.get(MASTER_URI, ""))


def _check_master_uri(uri) -> None:
    try:
        parts = urllib.parse.urlsplit(uri)
        usable = parts.scheme == "http" and parts.hostname and parts.port
    except ValueError:  # the port is no number, or too large
        usable = False
    if not usable:
        raise FrameworkError(
            f"the environment's {MASTER_URI} is {shown(uri)}, expected http://HOST:PORT as in "
            "http://localhost:11311"
        )


def load_launch_file(launch_file, arguments):
    """Load a launch file with arguments and the current folder as they stand.

    roslaunch replaces ``$(...)`` also in what an argument says, so that a path with these
    characters would be another one, or an error. Such a value is put in when that is over.

    Parameters
    ----------
    launch_file : str
    arguments : list of str
        Each ``name:=value``.

    Returns
    -------
    roslaunch.config.ROSLaunchConfig

    Raises
    ------
    roslaunch.RLException
        The file and the arguments do not go together.
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
