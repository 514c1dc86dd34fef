"""Gimbals as YAML files, and their joints' angles as tables.

The keys are the fields of :class:`.GimbalGeometry`, what moves the joints, and how far they go;
meaning and unit of each are documented at :func:`.gimbal_from_mapping` and the classes there::

    pan_to_tilt: [0.0, 0.0, -0.1]
    tilt_to_roll: [0.1, 0.0, 0.0]
    limits: {pan: [-3.0, 3.0], tilt: [-1.2, 1.2], roll: [-0.8, 0.8]}
    stabilisation:
      hold: {roll: 0.0, pitch: 0.0}
      bandwidth: 3.0
      servo_bandwidth: 20.0
      rate_limits: [2.0, 2.0, 2.0]

A table that commands the joints is a CSV file beside it, ``table: angles.csv``, with columns
``time`` [s, after the start of the motion], ``pan``, ``tilt``, ``roll`` [rad].
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError, ResultError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.core.tables import read_csv
from imu_simulation_framework.core.yaml_files import find_description, read_described
from imu_simulation_framework.flight.gimbal.geometry import JOINTS
from imu_simulation_framework.flight.gimbal.specification import (
    GimbalSpecification,
    TabulatedJoints,
    gimbal_from_mapping,
)

LONGEST_STEP = 10.0
"""Of a table's times, in median steps; a longer one is a gap, through which no spline is led."""
MAX_ROWS = 1_000_000


def read_gimbal(name: str | os.PathLike[str]) -> GimbalSpecification:
    """Return a gimbal by its name, ``agisim``, or from its file.

    ``name`` (str or Path): a file, or the name of one in the package's config/gimbals. Raises
    ConfigurationError if there is neither, it cannot be read, or it is no description of one; the
    same of its table.
    """
    path = find_description(name, "gimbals", "a gimbal")

    def gimbal_of(content: Any) -> Any:
        if isinstance(content, dict) and not isinstance(content.get("table", {}), dict):
            content["table"] = _table(path.parent, content["table"])
        return gimbal_from_mapping(content)

    return read_described(path, "the gimbal", gimbal_of, named=True, may_be_empty=True)


def read_joint_table(path: str | os.PathLike[str]) -> TabulatedJoints:
    """Return the angles of a CSV file with columns time [s], pan, tilt, roll [rad].

    Raises ConfigurationError if it cannot be read, a column is missing, its time does not increase,
    a value is not finite, or there is a gap: a step of more than :data:`LONGEST_STEP` median ones.
    """
    try:
        table = read_csv(path)
    except ResultError as error:
        raise ConfigurationError(f"{path}: {str(error).replace(f'{path}: ', '', 1)}.") from None
    for name in JOINTS:
        if name not in table:
            raise ConfigurationError(
                f"{path}: line 1: there is no column {name}, expected time, {', '.join(JOINTS)}."
            )
    if not 2 <= len(table) <= MAX_ROWS:
        raise ConfigurationError(
            f"{path}: there are {len(table)} rows of angles, expected 2 to {MAX_ROWS}."
        )
    time, angles = table.index.to_numpy(), table[list(JOINTS)].to_numpy()
    wrong = np.argwhere(~np.isfinite(angles))
    if len(wrong):
        row, column = wrong[0]
        raise ConfigurationError(
            f"{path}: line {row + 2}, column {JOINTS[column]}: {angles[row, column]} is no angle."
        )
    steps = np.diff(time)
    longest = int(np.argmax(steps))
    if steps[longest] > LONGEST_STEP * np.median(steps):
        raise ConfigurationError(
            f"{path}: line {longest + 3}: there is a gap of {steps[longest]:g} s before it, while "
            f"the other times are {np.median(steps):g} s apart."
        )
    try:
        return TabulatedJoints(tuple(time.tolist()), tuple(map(tuple, angles.tolist())), str(path))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _table(folder: Any, name: Any) -> Any:
    if not isinstance(name, str):
        raise ConfigurationError(f"table is {shown(name)}, but it must be a file's name.")
    return read_joint_table(folder / name)
