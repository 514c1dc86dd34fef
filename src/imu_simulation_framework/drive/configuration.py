"""The settings of an experiment: config.ini's sections, and what overrides them.

Each section is a frozen dataclass, a field is a key, its default is what an absent or empty key
means. A section that sets something of the library inherits from that one's settings and is passed
as such; its own keys come first.
"""

from __future__ import annotations

import configparser
import dataclasses
import difflib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Collection, Mapping, get_type_hints

from ..core import files, topics
from ..core.errors import ConfigurationError, prefix_errors
from ..core.sentences import escape_unprintable, join_names, quote
from ..core.settings import (
    LARGEST_SEED,
    Settings,
    keys_of,
    number_of_text,
    setting,
    setting_of_text,
)
from ..core.units import WORLD_GRAVITY
from ..core.whole_files import FIGURE_FORMATS, explain_file_error
from ..heading.yaw_comparison import LONGEST_WINDOW, ComparisonSettings
from ..motion.drives import MAX_LAPS, Terrain
from ..motion.positioning import FixSettings
from ..recordings import file_access
from ..recordings.frames import ImuConventions, ReferenceConventions
from ..sensors.imu_models.plugins import IMU_MODELS, PRESETS
from ..sensors.operation import Operation
from .tracking.controllers import CONTROLLERS, ControllerGains

SIMULATORS = ("mujoco", "gazebo", "external")
PUBLISHED = "published"
"""The IMU as an external robot publishes it, to which nothing is added."""

DRIVES = ("a", "b", "c", "d")
FORMATS = ("auto", *file_access.FORMATS)


NO_FIGURES = "none"
"""Value of ``figure_formats`` with which an experiment writes no figures."""

FASTEST = 1000.0
"""Times as fast as reality; no machine simulates faster, and 0 means as fast as possible."""

WEAKEST_GRAVITY, STRONGEST_GRAVITY = 1.0, 30.0
"""[m/s^2]: from less than the Moon's to more than Jupiter's."""

LOWEST_RATE = 0.1  # [Hz]: a robot that hears of its path less often than every 10 s follows none


@dataclass(frozen=True)
class ExperimentSection(Settings):
    name: str = setting("")
    output: str = setting("experiment_results", path=True)
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED)
    figure_formats: tuple = setting(("png",), choices=(*FIGURE_FORMATS, NO_FIGURES))
    accept_implausible: bool = setting(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if NO_FIGURES in self.figure_formats and len(self.figure_formats) > 1:
            raise ConfigurationError(
                f"figure_formats is {', '.join(self.figure_formats)}, expected formats or "
                f"{NO_FIGURES} alone."
            )

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats in which each figure is written; empty if no figures are written."""
        return () if self.figure_formats == (NO_FIGURES,) else self.figure_formats


@dataclass(frozen=True)
class RecordingSection(Settings):
    path: str = setting("", path=True)
    drive: str = setting("a", choices=DRIVES)
    laps: int = setting(0, minimum=0, maximum=MAX_LAPS)


@dataclass(frozen=True)
class ReferenceSection(ReferenceConventions, FixSettings):
    path: str = setting("", path=True)
    format: str = setting("auto", choices=FORMATS)
    topic: str = setting("")
    velocity_topic: str = setting("")
    heading_topic: str = setting("")
    time_offset: float = setting(0.0, unit="s")


@dataclass(frozen=True)
class ImuRecordingSection(ImuConventions):
    use: bool = setting(True)
    path: str = setting("", path=True)
    format: str = setting("auto", choices=FORMATS)
    topic: str = setting("")
    time_offset: float = setting(0.0, unit="s")


@dataclass(frozen=True)
class TrajectorySection(Settings):
    start: float | None = setting(None, minimum=0.0)
    stop: float | None = setting(None, above=0.0)
    start_index: int | None = setting(None, minimum=0)
    stop_index: int | None = setting(None, minimum=1)
    smoothing_window: float = setting(1.5, minimum=0.0, maximum=LONGEST_WINDOW)
    to_origin: bool = setting(True)
    scale: float = setting(1.0, above=0.0)
    rolling: bool = setting(False)
    check_limits: bool = setting(True)


@dataclass(frozen=True)
class ControlSection(ControllerGains):
    controller: str = setting("yaw_pid", choices=tuple(CONTROLLERS))
    rate: float = setting(20.0, unit="Hz", above=0.0, minimum=LOWEST_RATE, maximum=100.0)


@dataclass(frozen=True)
class RobotSection(Settings):
    parameters: str = setting("", path=True)


@dataclass(frozen=True)
class SimulationSection(Settings):
    simulator: str = setting("mujoco", choices=SIMULATORS)
    real_time_factor: float = setting(0.0, minimum=0.0, maximum=FASTEST)
    startup_timeout: float = setting(60.0, above=0.0, maximum=LONGEST_WINDOW)
    command_timeout: float = setting(10.0, above=0.0, maximum=LONGEST_WINDOW)
    gravity: float = setting(
        WORLD_GRAVITY, unit="m/s^2", minimum=WEAKEST_GRAVITY, maximum=STRONGEST_GRAVITY
    )
    latitude: float | None = setting(None, unit="deg", minimum=-90.0, maximum=90.0)


@dataclass(frozen=True)
class ExternalSection(Settings):
    """Topics of a robot that has controllers of its own, in somebody else's simulator or real."""

    command: str = setting("cmd_vel")
    odometry: str = setting("odom")
    twist_in_world: bool = setting(False)
    imu: str = setting("imu")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("command", "odometry", "imu"):
            topics.check_topic(name, getattr(self, name), needed=True)


@dataclass(frozen=True)
class TerrainSection(Terrain):
    kind: str = setting("flat", choices=("flat", "uneven"))

    def __post_init__(self) -> None:
        if self.kind != "flat":
            super().__post_init__()


@dataclass(frozen=True)
class ImuSection(Settings):
    model: str = setting("hector", choices=(*PRESETS, PUBLISHED))
    rate: float = setting(100.0, above=0.0, minimum=LOWEST_RATE, maximum=1000.0)


@dataclass(frozen=True)
class ImuSpecificationSection(Settings):
    file: str = setting("bno055", path="FORMAT:yaml")


@dataclass(frozen=True)
class OperationSection(Operation):
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stops.startswith("every"):
            raise ConfigurationError(
                f"stops is {quote(self.stops)}, but an experiment follows a recording, which has "
                "its own: none, found or detected."
            )


@dataclass(frozen=True)
class MagneticEnvironmentSection(Settings):
    file: str = setting("", path="yaml")
    latitude: float | None = setting(None, unit="deg", minimum=-90.0, maximum=90.0)
    longitude: float | None = setting(None, unit="deg", minimum=-360.0, maximum=360.0)
    height: float | None = setting(None, unit="m")
    date: str = setting("")


@dataclass(frozen=True)
class GnssSection(Settings):
    file: str = setting("", path="yaml")


@dataclass(frozen=True)
class OdometerSection(Settings):
    file: str = setting("", path="yaml")


COLUMN_SECTIONS = ("reference_columns", "imu_columns")
"""Sections whose keys are the quantities of a plain CSV file and whose values name its columns."""

IMU_PARAMETER_SECTIONS = {
    f"imu_{name}": name
    for name, kind in IMU_MODELS.items()
    if name != "specification" and dataclasses.fields(kind.parameters)
}
"""Section name -> IMU model whose parameters it holds."""


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
    external: ExternalSection
    terrain: TerrainSection
    imu: ImuSection
    imu_specification: ImuSpecificationSection
    operation: OperationSection
    magnetic_environment: MagneticEnvironmentSection
    gnss: GnssSection
    odometer: OdometerSection
    comparison: ComparisonSettings
    columns: Mapping[str, Mapping[str, str]]
    imu_parameters: Mapping[str, Mapping[str, float]]
    given: Mapping[str, Mapping[str, str]] = field(compare=False, default_factory=dict)

    def to_ini(self) -> str:
        """Return the settings in force, as the text of a config.ini that gives them again."""
        parser = _new_parser()
        for name, kind in SECTIONS.items():
            section = getattr(self, name)
            parser[name] = {key.name: _to_text(getattr(section, key.name)) for key in keys_of(kind)}
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


SECTIONS: dict[str, type[Settings]] = {
    name: kind
    for name, kind in get_type_hints(Configuration).items()
    if isinstance(kind, type) and issubclass(kind, Settings)
}
"""Section name -> dataclass of its keys."""


def load_configuration(
    path: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
    working_directory: str | os.PathLike[str] | None = None,
) -> Configuration:
    """Read a config.ini and apply overrides.

    Raises ConfigurationError: the file is missing or malformed, a section or key is unknown, or a
    value is not of its type, not among its choices, or out of range. ``path``: by default the
    package's own file; relative paths in it are taken from its folder. ``overrides``: ``{section:
    {key: value}}``; a value may be text or already of its type; what is empty does not override.
    ``working_directory``: where relative paths in ``overrides``, and the default output folder,
    start, by default the current folder.
    """
    path = files.default_configuration_path() if path is None else Path(path)
    working_directory = Path(working_directory or os.getcwd())
    given = _read(path)
    in_file = {section: dict(values) for section, values in given.items()}
    overridden = set()
    for section, values in (overrides or {}).items():
        if not isinstance(values, Mapping):
            raise ConfigurationError(
                f"override of section [{section}]: expected keys with values, got {quote(values)}"
            )
        for key, value in values.items():
            if isinstance(value, (Mapping, list, tuple, set)):
                raise ConfigurationError(
                    f"override of [{section}] {key}: expected one value, got {quote(value)}"
                )
            if _to_text(value):
                given.setdefault(section, {})[key] = _to_text(value)
                overridden.add((section, key))

    known = [*SECTIONS, *COLUMN_SECTIONS, *IMU_PARAMETER_SECTIONS]
    for section, values in given.items():
        if section not in known:
            raise ConfigurationError(
                f"configuration {path}: unknown section [{section}]{_suggestion(section, known)}"
            )
        for key, text in values.items():
            # What a config.ini cannot say: the results' one would say something else.
            where = _where(path, section, key, overridden)
            if escape_unprintable(key + text) != key + text:
                raise ConfigurationError(f"{where}: expected one line of text, got {quote(text)}")
            if _COMMENT.search(text):
                wrong = "a semicolon after a blank begins a comment in config.ini"
                raise ConfigurationError(f"{where}: {wrong}, got {quote(text)}")
    sections: dict[str, Any] = {}
    for name, section_type in SECTIONS.items():
        keys = {f.name: f for f in dataclasses.fields(section_type)}
        parsed = {}
        for key, text in given.get(name, {}).items():
            where = _where(path, name, key, overridden)
            if key not in keys:
                raise ConfigurationError(f"{where}: unknown key{_suggestion(key, keys)}")
            if text == "":
                continue
            parsed[key] = setting_of_text(where, keys[key], text)
            format_name, file = _path_in(keys[key], parsed[key])
            if file:
                base = working_directory if (name, key) in overridden else path.parent
                file = os.path.join(base, os.path.expanduser(file))
                parsed[key] = format_name + files.plain_path(file)
        with prefix_errors(f"configuration {path}, [{name}] "):
            sections[name] = section_type(**parsed)

    if not given.get("experiment", {}).get("output"):
        output = files.plain_path(working_directory / ExperimentSection.output)
        sections["experiment"] = dataclasses.replace(sections["experiment"], output=output)

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


def is_default(section: str, key: str, text: str) -> bool:
    """Return whether a key's text says what its absence says too."""
    if text == "":
        return True
    keys = {f.name: f for f in dataclasses.fields(SECTIONS[section])} if section in SECTIONS else {}
    return key in keys and _to_text(keys[key].default) == text


def paths_of(configuration: Configuration) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (section, key) -> ``FORMAT:`` or nothing, and the path, of all settings with one."""
    found = {
        (section, key.name): _path_in(key, getattr(getattr(configuration, section), key.name))
        for section, section_type in SECTIONS.items()
        for key in dataclasses.fields(section_type)
    }
    return {place: parts for place, parts in found.items() if parts[1]}


def _new_parser() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(
        interpolation=None, inline_comment_prefixes=(";",), comment_prefixes=("#", ";")
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    return parser


def _read(path: Path) -> dict[str, dict[str, str]]:
    parser = _new_parser()
    try:
        text = files.read_settings(path)
    except FileNotFoundError:
        raise ConfigurationError(f"configuration {path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"configuration {path}: cannot be read ({explain_file_error(error)})"
        ) from None
    try:
        parser.read_string(text, source=str(path))
    except configparser.Error as error:
        sentence = " ".join(str(error).split())
        raise ConfigurationError(f"configuration {path}: {sentence}") from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _where(path: Any, section: str, key: str, overridden: Collection[tuple[str, str]]) -> str:
    if (section, key) in overridden:
        return f"override of [{section}] {key}"
    return f"configuration {path}, [{section}] {key}"


def _suggestion(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {join_names(known)}"


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).strip()


def _path_in(key: dataclasses.Field, value: Any) -> tuple[str, str]:
    """Return what of a value is a path, and ``FORMAT:`` before it; where it is none, nothing.

    Where a name may stand instead, a path is told by its ending or by a format.
    """
    kind, text = key.metadata["path"], str(value)
    named = re.fullmatch("([a-z0-9_]{2,}:)(.+)", text) if kind == "FORMAT:yaml" else None
    if named:
        return named[1], named[2]
    return "", text if kind is True or (kind and text.endswith(".yaml")) else ""
