"""The settings of an experiment: config.ini and what overrides it.

Its keys are in :mod:`~imu_simulation_framework.configuration.sections`.
:func:`load_configuration` merges the file with overrides (ROS private
parameters, launch arguments) and refuses what it does not know.
"""

from __future__ import annotations

import configparser
import dataclasses
import difflib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping

from imu_simulation_framework.configuration.sections import (
    COLUMN_SECTIONS,
    IMU_PARAMETER_SECTIONS,
    SECTIONS,
    ControlSection,
    ExperimentSection,
    GnssSection,
    ImuRecordingSection,
    ImuSection,
    ImuSpecificationSection,
    MagneticEnvironmentSection,
    RecordingSection,
    ReferenceSection,
    RobotSection,
    SimulationSection,
    TerrainSection,
    TrajectorySection,
)
from imu_simulation_framework.declared_settings import keys_of, number_of_text, setting_of_text
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.evaluation.yaw_comparison import ComparisonSettings
from imu_simulation_framework.files.locations import default_configuration_path, plain_path
from imu_simulation_framework.files.reading import read_settings
from imu_simulation_framework.files.whole_files import reason_of
from imu_simulation_framework.sentences import listed, shown

_COMMENT = re.compile(r"(^|\s);")


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
    magnetic_environment: MagneticEnvironmentSection
    gnss: GnssSection
    comparison: ComparisonSettings
    columns: Mapping[str, Mapping[str, str]]
    imu_parameters: Mapping[str, Mapping[str, float]]
    given: Mapping[str, Mapping[str, str]] = field(compare=False, default_factory=dict)

    def to_ini(self) -> str:
        """Return the settings in force, as the text of a config.ini that gives them again."""
        parser = _new_parser()
        for name in SECTIONS:
            section = getattr(self, name)
            keys = [key.name for key in keys_of(SECTIONS[name])]
            parser[name] = {key: _to_text(getattr(section, key)) for key in keys}
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


def load_configuration(
    path: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
    working_directory: str | os.PathLike[str] | None = None,
) -> Configuration:
    """Read a config.ini and apply overrides.

    Parameters
    ----------
    path : str or Path, optional
        The file, by default the package's own. Relative paths in it are taken from its own
        folder.
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
    path = default_configuration_path() if path is None else Path(path)
    working_directory = Path(working_directory or os.getcwd())
    given = _read(path)
    in_file = {section: dict(values) for section, values in given.items()}
    overridden = set()
    for section, values in (overrides or {}).items():
        if not isinstance(values, Mapping):
            raise ConfigurationError(
                f"override of section [{section}]: expected keys with values, got {shown(values)}"
            )
        for key, value in values.items():
            if isinstance(value, (Mapping, list, tuple, set)):
                raise ConfigurationError(
                    f"override of [{section}] {key}: expected one value, got {shown(value)}"
                )
            if _to_text(value):
                given.setdefault(section, {})[key] = _to_text(value)
                overridden.add((section, key))

    _refuse_unknown_sections(path, given)
    for section, values in given.items():
        for key, text in values.items():
            _refuse_unwritable(_where(path, section, key, overridden), key, text)
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
            parsed[key] = setting_of_text(where, keys[key], text)
            if _is_path(keys[key], parsed[key]):
                base = working_directory if (name, key) in overridden else path.parent
                parsed[key] = plain_path(os.path.join(base, os.path.expanduser(parsed[key])))
        try:
            sections[name] = section_type(**parsed)
        except ConfigurationError as error:
            raise ConfigurationError(f"configuration {path}, [{name}] {error}") from None

    if not given.get("experiment", {}).get("output"):
        output = working_directory / sections["experiment"].output
        sections["experiment"] = dataclasses.replace(
            sections["experiment"], output=plain_path(output)
        )

    columns = {name: dict(given.get(name, {})) for name in COLUMN_SECTIONS}
    imu_parameters = {
        model: {
            key: number_of_text(_where(path, name, key, overridden), text)
            for key, text in given.get(name, {}).items()
            if text != ""
        }
        for name, model in IMU_PARAMETER_SECTIONS.items()
    }
    return Configuration(
        path=path, columns=columns, imu_parameters=imu_parameters, given=in_file, **sections
    )


def is_default(section, key, text) -> bool:
    """Return whether a key's text says what its absence says too."""
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


def _read(path: Path) -> dict[str, dict[str, str]]:
    parser = _new_parser()
    try:
        text = read_settings(path)
    except FileNotFoundError:
        raise ConfigurationError(f"configuration {path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"configuration {path}: cannot be read ({reason_of(error)})"
        ) from None
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


def _refuse_unwritable(where, key, text) -> None:
    """Refuse what a config.ini cannot say: the results' one would say something else."""
    if "\0" in text:
        raise ConfigurationError(f"{where}: holds the character NUL, expected text")
    if len(f"{key}{text}.".splitlines()) > 1:
        raise ConfigurationError(f"{where}: expected one line, got {shown(text)}")
    if _COMMENT.search(text):
        raise ConfigurationError(
            f"{where}: a semicolon after a blank begins a comment in config.ini, got {shown(text)}"
        )


def _where(path, section, key, overridden) -> str:
    if (section, key) in overridden:
        return f"override of [{section}] {key}"
    return f"configuration {path}, [{section}] {key}"


def _suggestion(word, known) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known are {listed(known)}"


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).strip()


def _is_path(key: dataclasses.Field, value) -> bool:
    """Return whether a value is a path; where a name may stand instead, by its ending."""
    ending = key.metadata["path"]
    return ending is True or (bool(ending) and str(value).endswith(f".{ending}"))
