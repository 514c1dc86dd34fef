"""The settings of an experiment: the sections of config.ini and their overrides.

Each section is a frozen dataclass and each key a field, whose default applies to an absent or empty
key. A section with settings of the library inherits from the library's settings, and is passed in
their place; its own keys come first.
"""

from __future__ import annotations

import configparser
import dataclasses
import difflib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Collection, Iterator, Mapping, NamedTuple, get_type_hints

from ..core import files, topics
from ..core.checks import LARGEST_SEED
from ..core.errors import ConfigurationError, prefix_errors
from ..core.sentences import escape_unprintable, join_names, quote
from ..core.settings import (
    Settings,
    TextSettings,
    keys_of,
    read_setting,
    setting,
    setting_text,
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
"""Name of the IMU that an external robot publishes, without added errors."""

DRIVES = ("a", "b", "c", "d")
FORMATS = ("auto", *file_access.FORMATS)


NO_FIGURES = "none"
"""Value of ``figure_formats`` with which an experiment writes no figures."""

MAX_REAL_TIME_FACTOR = 1000.0
"""Simulated per real time that no machine exceeds; 0 means as fast as possible."""

MIN_GRAVITY, MAX_GRAVITY = 1.0, 30.0
"""Limits of gravity [m/s^2]: below the Moon's 1.6 and above Jupiter's 25."""

MIN_RATE = 0.1  # Hz; a robot with one command in more than 10 s follows no path


@dataclass(frozen=True)
class ExperimentSection(TextSettings):
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
class RecordingSection(TextSettings):
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
class TrajectorySection(TextSettings):
    start: float | None = setting(None, minimum=0.0, unit="s")
    stop: float | None = setting(None, above=0.0, unit="s")
    start_index: int | None = setting(None, minimum=0)
    stop_index: int | None = setting(None, minimum=1)
    smoothing_window: float = setting(1.5, minimum=0.0, maximum=LONGEST_WINDOW, unit="s")
    to_origin: bool = setting(True)
    scale: float = setting(1.0, above=0.0)
    rolling: bool = setting(False)
    check_limits: bool = setting(True)


@dataclass(frozen=True)
class ControlSection(ControllerGains):
    controller: str = setting("yaw_pid", choices=tuple(CONTROLLERS))
    rate: float = setting(20.0, unit="Hz", above=0.0, minimum=MIN_RATE, maximum=100.0)


@dataclass(frozen=True)
class RobotSection(TextSettings):
    parameters: str = setting("", path=True)


@dataclass(frozen=True)
class SimulationSection(TextSettings):
    simulator: str = setting("mujoco", choices=SIMULATORS)
    real_time_factor: float = setting(0.0, minimum=0.0, maximum=MAX_REAL_TIME_FACTOR)
    startup_timeout: float = setting(60.0, above=0.0, maximum=LONGEST_WINDOW, unit="s")
    command_timeout: float = setting(10.0, above=0.0, maximum=LONGEST_WINDOW, unit="s")
    gravity: float = setting(WORLD_GRAVITY, unit="m/s^2", minimum=MIN_GRAVITY, maximum=MAX_GRAVITY)
    latitude: float | None = setting(None, unit="deg", minimum=-90.0, maximum=90.0)


@dataclass(frozen=True)
class ExternalSection(TextSettings):
    """Topics of a robot with its own controllers, in an external simulator or in reality."""

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
class ImuSection(TextSettings):
    model: str = setting("hector", choices=(*PRESETS, PUBLISHED))
    rate: float = setting(100.0, above=0.0, minimum=MIN_RATE, maximum=1000.0, unit="Hz")


@dataclass(frozen=True)
class ImuSpecificationSection(TextSettings):
    file: str = setting("bno055", path="FORMAT:yaml")


@dataclass(frozen=True)
class OperationSection(Operation):
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stops.startswith("every"):
            raise ConfigurationError(
                f"stops is {quote(self.stops)}, expected none, found or detected: an experiment "
                "has the stops of its recording."
            )


@dataclass(frozen=True)
class MagneticEnvironmentSection(TextSettings):
    file: str = setting("", path="yaml")
    latitude: float | None = setting(None, unit="deg", minimum=-90.0, maximum=90.0)
    longitude: float | None = setting(None, unit="deg", minimum=-360.0, maximum=360.0)
    height: float | None = setting(None, unit="m")
    date: str = setting("")


@dataclass(frozen=True)
class GnssSection(TextSettings):
    file: str = setting("", path="yaml")


@dataclass(frozen=True)
class OdometerSection(TextSettings):
    file: str = setting("", path="yaml")


COLUMN_SECTIONS = ("reference_columns", "imu_columns")
"""Sections that map quantities, their keys, to columns of a plain CSV file, their values."""

IMU_PARAMETER_SECTIONS = {
    f"imu_{name}": name
    for name, kind in IMU_MODELS.items()
    if name != "specification" and dataclasses.fields(kind.parameters)
}
"""IMU model of each section with parameters, by the section's name."""


_COMMENT = re.compile(r"(^|\s);")


@dataclass(frozen=True)
class Configuration:
    """All settings of an experiment, checked; each section is a field of its name.

    Parameters
    ----------
    path : Path
        The config.ini that was read.
    columns : mapping
        Columns by quantity, for each of :data:`COLUMN_SECTIONS`.
    imu_parameters : mapping
        Configured parameters by name, for each IMU model; others keep the model's default.
    given : mapping
        Content of the config.ini as text, by section and key.
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
        """Return the text of a config.ini with all settings."""
        parser = _new_parser()
        for name, kind in SECTIONS.items():
            section = getattr(self, name)
            names = [key.name for key in keys_of(kind)]
            parser[name] = {key: setting_text(getattr(section, key)) for key in names}
        for name in COLUMN_SECTIONS:
            parser[name] = dict(self.columns[name])
        for name, model in IMU_PARAMETER_SECTIONS.items():
            values = self.imu_parameters[model]
            parser[name] = {key: setting_text(value) for key, value in values.items()}
        lines = []
        for name in parser.sections():
            lines.append(f"[{name}]")
            lines += [f"{key} = {value}".rstrip() for key, value in parser[name].items()]
            lines.append("")
        return "\n".join(lines)


SECTIONS: dict[str, type[TextSettings]] = {
    name: kind
    for name, kind in get_type_hints(Configuration).items()
    if isinstance(kind, type) and issubclass(kind, TextSettings)
}
"""Dataclass of each section's keys, by the section's name."""


def load_configuration(
    path: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
    working_directory: str | os.PathLike[str] | None = None,
) -> Configuration:
    """Read a config.ini and apply overrides.

    Parameters
    ----------
    path : str or Path, optional
        The config.ini, by default the package's own; relative paths in it start from its folder.
    overrides : mapping, optional
        Values by section and key, as text or of the setting's type. An empty value does not
        override.
    working_directory : str or Path, optional
        Folder from which relative paths in ``overrides`` and the default output folder start, by
        default the current folder.

    Returns
    -------
    Configuration

    Raises
    ------
    ConfigurationError
        The file is missing or malformed, a section or key is unknown, or a value has a wrong type,
        is not among its choices, or is out of range.
    """
    path = files.default_configuration_path() if path is None else Path(path)
    texts = _SettingTexts.read(path, overrides or {}, Path(working_directory or os.getcwd()))
    texts.check()
    sections: dict[str, Any] = {
        name: texts.parse(name, section_type) for name, section_type in SECTIONS.items()
    }
    imu_parameters = {
        model: texts.parse_parameters(name, IMU_MODELS[model].parameters)
        for name, model in IMU_PARAMETER_SECTIONS.items()
    }
    return Configuration(
        path=path,
        columns={name: dict(texts.section(name)) for name in COLUMN_SECTIONS},
        imu_parameters=imu_parameters,
        given=texts.file,
        **sections,
    )


@dataclass(frozen=True)
class _SettingTexts:
    """Settings as text by section and key: those of the file, and those that are in force."""

    path: Path
    file: Mapping[str, Mapping[str, str]]
    values: Mapping[str, Mapping[str, str]]
    overridden: Collection[tuple[str, str]]
    working_directory: Path

    @classmethod
    def read(
        cls, path: Path, overrides: Mapping[str, Mapping[str, Any]], working_directory: Path
    ) -> _SettingTexts:
        file = _read(path)
        values = {section: dict(keys) for section, keys in file.items()}
        override_texts = _override_texts(overrides)
        for (section, key), text in override_texts.items():
            values.setdefault(section, {})[key] = text
        return cls(path, file, values, override_texts.keys(), working_directory)

    def section(self, name: str) -> Mapping[str, str]:
        return self.values.get(name, {})

    def location(self, section: str, key: str) -> str:
        """Return the location of a setting, as error messages name it."""
        if (section, key) in self.overridden:
            return f"override of [{section}] {key}"
        return f"configuration {self.path}, [{section}] {key}"

    def check(self) -> None:
        """Reject unknown sections, and texts that a config.ini cannot contain."""
        known = [*SECTIONS, *COLUMN_SECTIONS, *IMU_PARAMETER_SECTIONS]
        for section, keys in self.values.items():
            if section not in known:
                raise ConfigurationError(
                    f"configuration {self.path}: unknown section [{section}]"
                    f"{_suggestion(section, known)}"
                )
            for key, text in keys.items():
                # The results' config.ini would otherwise contain another setting.
                location = self.location(section, key)
                if escape_unprintable(key + text) != key + text:
                    raise ConfigurationError(
                        f"{location}: expected one line of text, got {quote(text)}"
                    )
                if _COMMENT.search(text):
                    raise ConfigurationError(
                        f"{location}: a semicolon after a blank begins a comment in config.ini, "
                        f"got {quote(text)}"
                    )

    def parse(self, name: str, section_type: type[TextSettings]) -> TextSettings:
        """Return the settings of a section."""
        parsed = {
            field.name: self._absolute(name, field, value)
            for field, value in self._values(name, section_type)
        }
        if section_type is ExperimentSection and "output" not in parsed:
            output = files.plain_path(self.working_directory / ExperimentSection.output)
            parsed["output"] = output
        with prefix_errors(f"configuration {self.path}, [{name}] "):
            return section_type(**parsed)

    def parse_parameters(self, name: str, parameters: type[Settings]) -> dict[str, float]:
        """Return the parameters of an IMU model that a section states."""
        return {field.name: value for field, value in self._values(name, parameters)}

    def _values(
        self, name: str, settings: type[Settings]
    ) -> Iterator[tuple[dataclasses.Field, Any]]:
        """Yield the fields that a section states, and their values."""
        fields = {field.name: field for field in dataclasses.fields(settings)}
        for key, text in self.section(name).items():
            location = self.location(name, key)
            if key not in fields:
                raise ConfigurationError(f"{location}: unknown key{_suggestion(key, fields)}")
            if text != "":
                yield fields[key], read_setting(settings, fields[key], text, location)

    def _absolute(self, section: str, field: dataclasses.Field, value: Any) -> Any:
        """Return a value that names a file with its absolute path, any other value as it is."""
        path = _path_in(field, value)
        if not path.path:
            return value
        is_override = (section, field.name) in self.overridden
        base = self.working_directory if is_override else self.path.parent
        return path.format + files.plain_path(os.path.join(base, os.path.expanduser(path.path)))


def _override_texts(overrides: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return the texts of all overrides that are not empty, by section and key."""
    texts = {}
    for section, values in overrides.items():
        if not isinstance(values, Mapping):
            raise ConfigurationError(
                f"override of section [{section}]: expected keys with values, got {quote(values)}"
            )
        for key, value in values.items():
            if isinstance(value, (Mapping, list, tuple, set)):
                raise ConfigurationError(
                    f"override of [{section}] {key}: expected one value, got {quote(value)}"
                )
            if setting_text(value):
                texts[section, key] = setting_text(value)
    return texts


def is_default(section: str, key: str, text: str) -> bool:
    """Return whether a key's text is its default, so that it can be left out."""
    if text == "":
        return True
    keys = {f.name: f for f in dataclasses.fields(SECTIONS[section])} if section in SECTIONS else {}
    return key in keys and setting_text(keys[key].default) == text


def paths_of(configuration: Configuration) -> dict[tuple[str, str], FormatPath]:
    """Return the paths among the settings.

    Returns
    -------
    dict of (str, str) to FormatPath
        Paths by section and key.
    """
    paths = {
        (section, key.name): _path_in(key, getattr(getattr(configuration, section), key.name))
        for section, section_type in SECTIONS.items()
        for key in dataclasses.fields(section_type)
    }
    return {place: path for place, path in paths.items() if path.path}


class FormatPath(NamedTuple):
    """A path and its format.

    Parameters
    ----------
    format : str
        ``FORMAT:``, or empty.
    path : str
        The path.
    """

    format: str
    path: str


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


def _suggestion(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {join_names(known)}"


def _path_in(field: dataclasses.Field, value: Any) -> FormatPath:
    """Return the path in a value; it is empty if the value is none.

    Where a name can replace a path, a path is recognised by its ending or by a format.
    """
    kind, text = field.metadata["path"], str(value)
    prefixed = re.fullmatch("([a-z0-9_]{2,}:)(.+)", text) if kind == "FORMAT:yaml" else None
    if prefixed:
        return FormatPath(prefixed[1], prefixed[2])
    is_path = kind is True or (kind and text.endswith(".yaml"))
    return FormatPath("", text if is_path else "")
