"""The settings of an experiment: config.ini, its schema, and overrides.

Each section of config.ini is one frozen dataclass below; a field is a key, its
default is what an absent or empty key means, and its metadata says what is
accepted. :func:`load_configuration` merges the file with overrides (ROS private
parameters, launch arguments) and refuses what it does not know.
"""

from __future__ import annotations

import configparser
import dataclasses
import difflib
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping

from imu_simulation_framework.core.control import CONTROLLERS, DEFAULT_SETTINGS
from imu_simulation_framework.core.frames import (
    ACCEL_CONVENTIONS,
    ACCEL_UNITS,
    FRAMES,
    GYRO_UNITS,
    ORIENTATIONS,
    QUATERNION_ORDERS,
    SENSOR_AXES,
    YAW_CONVENTIONS,
    ImuConventions,
)
from imu_simulation_framework.core.imu_models import IMU_MODELS, PRESETS
from imu_simulation_framework.core.imu_specification import FILTERS
from imu_simulation_framework.core.positioning import FixSettings
from imu_simulation_framework.core.terrain import Terrain
from imu_simulation_framework.errors import ConfigurationError

SIMULATORS = ("embedded", "gazebo")
DRIVES = ("a", "b", "c", "d")
FORMATS = ("auto", "bag", "rostopic_csv", "csv", "tum")


def _setting(default, *, choices=None, minimum=None, maximum=None, above=None, path=False):
    """A key with its default and what it accepts; ``above`` is an exclusive lower bound."""
    return field(
        default=default,
        metadata={
            "choices": choices,
            "minimum": minimum,
            "maximum": maximum,
            "above": above,
            "path": path,
        },
    )


@dataclass(frozen=True)
class ExperimentSection:
    name: str = _setting("")
    output: str = _setting("experiment_results", path=True)
    seed: int = _setting(1, minimum=0, maximum=2**63 - 1)
    accept_implausible: bool = _setting(False)


@dataclass(frozen=True)
class RecordingSection:
    path: str = _setting("", path=True)
    drive: str = _setting("a", choices=DRIVES)
    laps: int = _setting(0, minimum=0)


@dataclass(frozen=True)
class ReferenceSection:
    path: str = _setting("", path=True)
    format: str = _setting("auto", choices=FORMATS)
    topic: str = _setting("")
    velocity_topic: str = _setting("")
    heading_topic: str = _setting("")
    time_offset: float = _setting(0.0)
    frame: str = _setting("enu", choices=FRAMES)
    yaw_convention: str = _setting("", choices=tuple(YAW_CONVENTIONS))
    quaternion_order: str = _setting("xyzw", choices=QUATERNION_ORDERS)
    quaternion_inverse: bool = _setting(False)
    minimum_speed: float = _setting(FixSettings.minimum_speed, above=0.0)
    maximum_turn_rate: float = _setting(FixSettings.maximum_turn_rate, above=0.0)
    acceleration_density: float | None = _setting(FixSettings.acceleration_density, above=0.0)
    error_correlation_time: float = _setting(FixSettings.error_correlation_time, minimum=0.0)


@dataclass(frozen=True)
class ImuRecordingSection:
    use: bool = _setting(True)
    path: str = _setting("", path=True)
    format: str = _setting("auto", choices=FORMATS)
    topic: str = _setting("")
    time_offset: float = _setting(0.0)
    frame: str = _setting("enu", choices=FRAMES)
    yaw_convention: str = _setting("", choices=tuple(YAW_CONVENTIONS))
    quaternion_order: str = _setting("xyzw", choices=QUATERNION_ORDERS)
    quaternion_inverse: bool = _setting(False)
    sensor_axes: str = _setting("", choices=SENSOR_AXES)
    gyro_unit: str = _setting("rad/s", choices=tuple(GYRO_UNITS))
    accel_unit: str = _setting("m/s^2", choices=tuple(ACCEL_UNITS))
    accel_convention: str = _setting("specific_force", choices=tuple(ACCEL_CONVENTIONS))
    mounting_roll: float = _setting(0.0)
    mounting_pitch: float = _setting(0.0)
    mounting_yaw: float = _setting(0.0)
    orientation: str = _setting("auto", choices=ORIENTATIONS)
    filter: str = _setting(ImuConventions.filter, choices=FILTERS)
    filter_time_constant: float = _setting(ImuConventions.filter_time_constant, above=0.0)
    filter_rate_bias: bool = _setting(ImuConventions.filter_rate_bias)


@dataclass(frozen=True)
class TrajectorySection:
    start: float | None = _setting(None, minimum=0.0)
    stop: float | None = _setting(None, above=0.0)
    start_index: int | None = _setting(None, minimum=0)
    stop_index: int | None = _setting(None, minimum=1)
    smoothing_window: float = _setting(1.5, minimum=0.0)
    to_origin: bool = _setting(True)
    scale: float = _setting(1.0, above=0.0)
    check_limits: bool = _setting(True)


@dataclass(frozen=True)
class ControlSection:
    controller: str = _setting("yaw_pid", choices=tuple(CONTROLLERS))
    rate: float = _setting(20.0, above=0.0, maximum=100.0)
    yaw_proportional: float = _setting(DEFAULT_SETTINGS["yaw_proportional"], minimum=0.0)
    yaw_integral: float = _setting(DEFAULT_SETTINGS["yaw_integral"], minimum=0.0)
    yaw_derivative: float = _setting(DEFAULT_SETTINGS["yaw_derivative"], minimum=0.0)
    distance_proportional: float = _setting(DEFAULT_SETTINGS["distance_proportional"], minimum=0.0)
    distance_integral: float = _setting(DEFAULT_SETTINGS["distance_integral"], minimum=0.0)
    distance_derivative: float = _setting(DEFAULT_SETTINGS["distance_derivative"], minimum=0.0)
    derivative_time_constant: float = _setting(
        DEFAULT_SETTINGS["derivative_time_constant"], minimum=0.0
    )
    correction_limit: float = _setting(DEFAULT_SETTINGS["correction_limit"], above=0.0)


@dataclass(frozen=True)
class RobotSection:
    parameters: str = _setting("", path=True)


@dataclass(frozen=True)
class SimulationSection:
    simulator: str = _setting("embedded", choices=SIMULATORS)
    real_time_factor: float = _setting(0.0, minimum=0.0)
    startup_timeout: float = _setting(60.0, above=0.0)
    command_timeout: float = _setting(10.0, above=0.0)


@dataclass(frozen=True)
class TerrainSection:
    kind: str = _setting("flat", choices=("flat", "uneven"))
    height: float = _setting(Terrain.height, above=0.0)
    spacing: float = _setting(Terrain.spacing, above=0.0)
    radius: float = _setting(Terrain.radius, above=0.0)
    size: float = _setting(Terrain.size, above=0.0)
    seed: int = _setting(Terrain.seed, minimum=0)


@dataclass(frozen=True)
class ImuSection:
    model: str = _setting("hector", choices=tuple(PRESETS))
    rate: float = _setting(100.0, above=0.0, maximum=1000.0)


@dataclass(frozen=True)
class ImuSpecificationSection:
    file: str = _setting("bno055", path="yaml")


@dataclass(frozen=True)
class ComparisonSection:
    median_window: float = _setting(5.19, above=0.0)
    align: bool = _setting(False)
    max_shift: float = _setting(1.0, above=0.0)
    start_window: float = _setting(3.0, above=0.0)


SECTIONS = {
    "experiment": ExperimentSection,
    "recording": RecordingSection,
    "reference": ReferenceSection,
    "imu_recording": ImuRecordingSection,
    "trajectory": TrajectorySection,
    "robot": RobotSection,
    "control": ControlSection,
    "simulation": SimulationSection,
    "terrain": TerrainSection,
    "imu": ImuSection,
    "imu_specification": ImuSpecificationSection,
    "comparison": ComparisonSection,
}
"""Section name -> dataclass of its keys."""

COLUMN_SECTIONS = ("reference_columns", "imu_columns")
"""Sections whose keys are the quantities of a plain CSV file and whose values name its columns."""

IMU_PARAMETER_SECTIONS = {
    f"imu_{name}": name
    for name, kind in IMU_MODELS.items()
    if name != "specification" and dataclasses.fields(kind.parameters)
}
"""Section name -> IMU model whose parameters it holds."""


@dataclass(frozen=True)
class Configuration:
    """Every setting of one experiment, checked.

    ``columns`` and ``imu_parameters`` map a section, respectively an IMU model, to
    what was given for it; what was not given keeps the model's own default. ``path``
    is the file that was read, ``given`` what stands in it, as text.
    """

    path: Path
    experiment: ExperimentSection
    recording: RecordingSection
    reference: ReferenceSection
    imu_recording: ImuRecordingSection
    trajectory: TrajectorySection
    robot: RobotSection
    control: ControlSection
    simulation: SimulationSection
    terrain: TerrainSection
    imu: ImuSection
    imu_specification: ImuSpecificationSection
    comparison: ComparisonSection
    columns: Mapping[str, Mapping[str, str]]
    imu_parameters: Mapping[str, Mapping[str, float]]
    given: Mapping[str, Mapping[str, str]] = field(compare=False, default_factory=dict)

    def to_ini(self) -> str:
        """The settings in force, as the text of a config.ini that gives them again."""
        parser = _new_parser()
        for name in SECTIONS:
            section = dataclasses.asdict(getattr(self, name))
            parser[name] = {key: _to_text(value) for key, value in section.items()}
        for name in COLUMN_SECTIONS:
            parser[name] = dict(self.columns[name])
        for name, model in IMU_PARAMETER_SECTIONS.items():
            values = self.imu_parameters[model]
            parser[name] = {key: _to_text(value) for key, value in values.items()}
        lines = []
        for name in parser.sections():
            lines.append(f"[{name}]")
            lines += [f"{key} = {value}".rstrip() for key, value in parser[name].items()]
            lines.append("")
        return "\n".join(lines)


def load_configuration(path, overrides=None, working_directory=None) -> Configuration:
    """Read a config.ini and apply overrides.

    Parameters
    ----------
    path : str or Path
        The file. Relative paths in it are taken from its own folder.
    overrides : mapping, optional
        ``{section: {key: value}}``; a value may be text or already of its type. What is
        empty does not override.
    working_directory : str or Path, optional
        Where relative paths in ``overrides``, and the default output folder, start;
        the current folder if absent.

    Raises
    ------
    ConfigurationError
        The file is missing or malformed, a section or key is unknown, or a value is
        not of its type, not among its choices, or out of range.
    """
    path = Path(path)
    working_directory = Path(working_directory or os.getcwd())
    given = _read(path)
    in_file = {section: dict(values) for section, values in given.items()}
    overridden = set()
    for section, values in (overrides or {}).items():
        if not isinstance(values, Mapping):
            raise ConfigurationError(
                f"override of section [{section}]: expected keys with values, got {values!r}"
            )
        for key, value in values.items():
            if _to_text(value):
                given.setdefault(section, {})[key] = _to_text(value)
                overridden.add((section, key))

    _refuse_unknown_sections(path, given)
    sections = {}
    for name, section_type in SECTIONS.items():
        values = dict(given.get(name, {}))
        keys = {f.name: f for f in dataclasses.fields(section_type)}
        parsed = {}
        for key, text in values.items():
            where = _where(path, name, key, overridden)
            if key not in keys:
                raise ConfigurationError(f"{where}: unknown key{_suggestion(key, keys)}")
            if text == "":
                continue
            parsed[key] = _parse(where, keys[key], text)
            if _is_path(keys[key], parsed[key]):
                base = working_directory if (name, key) in overridden else path.parent
                parsed[key] = os.path.join(base, os.path.expanduser(parsed[key]))
        sections[name] = section_type(**parsed)

    if not given.get("experiment", {}).get("output"):
        output = working_directory / sections["experiment"].output
        sections["experiment"] = dataclasses.replace(sections["experiment"], output=str(output))

    columns = {name: dict(given.get(name, {})) for name in COLUMN_SECTIONS}
    imu_parameters = {
        model: {
            key: _parse_number(_where(path, name, key, overridden), text)
            for key, text in given.get(name, {}).items()
            if text != ""
        }
        for name, model in IMU_PARAMETER_SECTIONS.items()
    }
    return Configuration(
        path=path, columns=columns, imu_parameters=imu_parameters, given=in_file, **sections
    )


def is_default(section, key, text) -> bool:
    """Whether a key's text says what its absence says too."""
    if text == "":
        return True
    keys = {f.name: f for f in dataclasses.fields(SECTIONS[section])} if section in SECTIONS else {}
    return key in keys and _to_text(keys[key].default) == text


def paths_of(configuration) -> dict:
    """Return (section, key) -> path, of all settings that are paths and not empty."""
    values = {
        (section, key.name): (key, getattr(getattr(configuration, section), key.name))
        for section, section_type in SECTIONS.items()
        for key in dataclasses.fields(section_type)
    }
    return {
        place: value for place, (key, value) in values.items() if value and _is_path(key, value)
    }


def _new_parser():
    parser = configparser.ConfigParser(
        interpolation=None, inline_comment_prefixes=(";",), comment_prefixes=("#", ";")
    )
    parser.optionxform = str
    return parser


def _read(path: Path) -> Mapping[str, Mapping[str, str]]:
    parser = _new_parser()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"configuration {path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"configuration {path}: cannot be read ({error})") from None
    try:
        parser.read_string(text, source=str(path))
    except configparser.Error as error:
        sentence = " ".join(str(error).split())
        raise ConfigurationError(f"configuration {path}: {sentence}") from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _refuse_unknown_sections(path: Path, given) -> None:
    known = [*SECTIONS, *COLUMN_SECTIONS, *IMU_PARAMETER_SECTIONS]
    for name in given:
        if name not in known:
            raise ConfigurationError(
                f"configuration {path}: unknown section [{name}]{_suggestion(name, known)}"
            )


def _where(path, section, key, overridden) -> str:
    if (section, key) in overridden:
        return f"override of [{section}] {key}"
    return f"configuration {path}, [{section}] {key}"


def _suggestion(word, known) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known are {', '.join(known)}"


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()


def _parse(where: str, key: dataclasses.Field, text: str):
    kind = key.type.replace(" | None", "")
    accepted = key.metadata
    if kind == "bool":
        states = configparser.ConfigParser.BOOLEAN_STATES
        if text.lower() not in states:
            raise ConfigurationError(f"{where}: expected true or false, got {text!r}")
        return states[text.lower()]
    if kind == "str":
        if accepted["choices"] and text not in accepted["choices"]:
            raise ConfigurationError(
                f"{where}: expected one of {', '.join(accepted['choices'])}, got {text!r}"
            )
        return text
    value = _parse_number(where, text)
    if kind == "int":
        try:
            value = int(text)
        except ValueError:
            raise ConfigurationError(f"{where}: expected a whole number, got {text!r}") from None
    if accepted["minimum"] is not None and value < accepted["minimum"]:
        raise ConfigurationError(f"{where}: expected at least {accepted['minimum']}, got {text}")
    if accepted["above"] is not None and value <= accepted["above"]:
        raise ConfigurationError(f"{where}: expected more than {accepted['above']}, got {text}")
    if accepted["maximum"] is not None and value > accepted["maximum"]:
        raise ConfigurationError(f"{where}: expected at most {accepted['maximum']}, got {text}")
    return value


def _is_path(key: dataclasses.Field, value) -> bool:
    """Whether a value is a path; where a name may stand instead, by its ending."""
    ending = key.metadata["path"]
    return ending is True or (bool(ending) and str(value).endswith(f".{ending}"))


def _parse_number(where: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ConfigurationError(f"{where}: expected a number, got {text!r}") from None
    if not math.isfinite(value):
        raise ConfigurationError(f"{where}: expected a finite number, got {text!r}")
    return value
