"""From ROS parameters to the settings of one node; no ROS is asked here."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.configuration import Configuration, load_configuration
from imu_simulation_framework.files.locations import default_configuration_path

EXPERIMENT_PARAMETERS = "experiment"
"""Parameters that all nodes of an experiment share: ``config``, ``working_directory``,
``participants``, and ``settings``, which has sections and keys as config.ini has."""


def node_configuration(
    node: str, experiment: Mapping[str, Any], private: Mapping[str, Any]
) -> Configuration:
    """The experiment's config.ini, overridden by the shared settings, then by private ones.

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
    overrides = {}
    for layer in (experiment.get("settings", {}), private):
        for section, values in layer.items():
            if not isinstance(values, Mapping):
                raise ConfigurationError(
                    f"{node}: the parameter {section} is no section of config.ini"
                )
            overrides.setdefault(section, {}).update(
                {key: value for key, value in values.items() if value not in ("", None)}
            )
    working_directory = Path(experiment.get("working_directory", "."))
    path = experiment.get("config", "") or default_configuration_path()
    return load_configuration(working_directory / path, overrides, working_directory)
