"""From ROS parameters to the settings of one node; no ROS is asked here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping

from imu_simulation_framework.configuration.load import Configuration, load_configuration
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.locations import default_configuration_path
from imu_simulation_framework.files.plain_yaml import NOT_YAML, load_plain, yaml_fault
from imu_simulation_framework.sentences import as_written, shown

EXPERIMENT_PARAMETERS = "experiment"
"""Parameters that all nodes of an experiment share: ``config``, ``working_directory``,
``simulator`` (the one that was started), ``participants``, ``settings``, which has sections and
keys as config.ini has, and ``settings_text``, which is the same as the text of a YAML mapping."""


def node_configuration(
    node: str, experiment: Mapping[str, Any], private: Mapping[str, Any]
) -> Configuration:
    """Return the experiment's config.ini, overridden by the shared settings, then by private ones.

    Parameters
    ----------
    node : str
        Whose settings they are, for the sentence of an error.
    experiment : mapping
        The parameters below ``experiment``.
    private : mapping
        The node's own parameters, ``{section: {key: value}}``.

    Raises
    ------
    ConfigurationError
        The settings are not what config.ini accepts.
    """
    overrides: dict = {}
    text = experiment.get("settings_text", "")
    for layer in (experiment.get("settings", {}), _settings_of(text), private):
        for section, values in layer.items():
            if not isinstance(values, Mapping):
                raise ConfigurationError(
                    f"{node}: the parameter {section} is {shown(values)}, expected a "
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

    Raises
    ------
    ConfigurationError
        It was removed; the shell still has its name, or none.
    """
    folder = str(parameters.get("working_directory", "."))
    if not os.path.isdir(folder):
        raise ConfigurationError(
            "the folder in which it was called does not exist any more: call it in another one"
        )
    return Path(folder)


def _settings_of(text) -> Mapping[str, Any]:
    """Return the sections in the text of a YAML mapping; none in an empty one."""
    text = str(text)
    given, expected = as_written(text), "expected {section: {key: value}}"
    try:
        settings = load_plain(text)
    except NOT_YAML as error:
        raise ConfigurationError(f"settings:={given}: {expected}; {yaml_fault(error)}") from error
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise ConfigurationError(f"settings:={given}: {expected}")
    return settings
