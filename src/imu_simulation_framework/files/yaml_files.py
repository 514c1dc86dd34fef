"""YAML files as nothing but data, or one sentence on what is wrong with one."""

from __future__ import annotations

import os
from typing import Any

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.plain_yaml import NOT_YAML, load_plain, yaml_fault
from imu_simulation_framework.files.reading import read_settings
from imu_simulation_framework.files.whole_files import reason_of


def read_yaml(path: str | os.PathLike[str], what: str) -> Any:
    """Return what a YAML file says, as :func:`.load_plain` does.

    Parameters
    ----------
    path : str or Path
    what : str
        What it holds, for the sentence: "the GNSS receiver".

    Raises
    ------
    ConfigurationError
        The file cannot be read, or is not YAML.
    """
    try:
        return load_plain(read_settings(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {what} cannot be read: {reason_of(error)}.") from error
    except NOT_YAML as error:
        raise ConfigurationError(f"{path}: not valid YAML: {yaml_fault(error)}.") from error
