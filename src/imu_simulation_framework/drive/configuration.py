"""Settings of an experiment: the sections of config.ini, and overrides of their values.

Each section is a frozen dataclass and each key a field, whose default applies to an absent or empty
key. A section that extends a settings class of the library inherits from that class and is passed
in its place; the added keys come first. The bundled config.ini and the guide page on it are
generated from these declarations (:mod:`.configuration_text`); they introduce each section by its
docstring, up to the parameters.
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

SIMULATORS = {
    "mujoco": "",
    "gazebo": "",
    "external": "a robot that already runs with its own controllers, see [external]",
}
"""Simulators with descriptions; a description is empty if the name is self-explanatory."""

PUBLISHED = "published"
"""IMU model of an external robot whose published IMU is used without added errors."""

_MODELS = {
    **dict.fromkeys(PRESETS, ""),
    "ideal": "no errors",
    "generic": "Gazebo's generic plug-in",
    "hector": "Hector's plug-in",
    "specification": "standard parameters and a fused orientation; set it as a launch argument, "
    "because it runs in a separate node",
    "hector_slow": "Hector's plug-in with the slower of two drifts tuned to a BNO055",
    PUBLISHED: "IMU of an external robot, unchanged",
}
_STOPS = {
    "none": "",
    "found": "detected from the wheel speeds",
    "detected": "detected from the IMU samples",
}

DRIVES = ("a", "b", "c", "d")
# Recording formats with descriptions; a description is empty if the name is self-explanatory.
FORMATS = {
    **dict.fromkeys(("auto", *file_access.FORMATS), ""),
    "auto": "detected from the content",
    "bag": "ROS 1 or ROS 2 bag",
    "rostopic_csv": "output of rostopic echo -p",
    "csv": "a table with named columns",
    "tables": "several tables with separate time columns",
}

NO_FIGURES = "none"
"""Value of ``figure_formats`` that disables the figures."""

MAX_REAL_TIME_FACTOR = 1000.0
"""Upper limit of the real-time factor, beyond the speed of any machine; 0 means no pacing."""

MIN_GRAVITY, MAX_GRAVITY = 1.0, 30.0
"""Accepted range of gravity [m/s^2], which includes the Moon (1.6) and Jupiter (25)."""

MIN_RATE = 0.1  # Hz; with more than 10 s between commands a robot cannot follow a path


@dataclass(frozen=True)
class ExperimentSection(TextSettings):
    """Name, results folder and random seed of the experiment."""

    name: str = setting(
        "",
        about="name of the trajectory in the result path; empty: file name of the recording",
    )
    output: str = setting(
        "experiment_results",
        path=True,
        about="result folder; empty: experiment_results in the working directory",
    )
    seed: int = setting(
        1, minimum=0, maximum=LARGEST_SEED, about="seed of all random numbers in the experiment"
    )
    figure_formats: tuple = setting(
        ("png",),
        choices={**dict.fromkeys(FIGURE_FORMATS, ""), NO_FIGURES: "no figures"},
        about="figure formats, separated by commas",
    )
    accept_implausible: bool = setting(
        False,
        about="whether to accept a recording whose data contradict each other, as reported by "
        "check_recording.py",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if NO_FIGURES in self.figure_formats and len(self.figure_formats) > 1:
            raise ConfigurationError(
                f"figure_formats is {', '.join(self.figure_formats)}, expected figure formats, or "
                f"{NO_FIGURES} alone."
            )

    @property
    def formats(self) -> tuple[str, ...]:
        """Figure formats; empty if figures are disabled."""
        return () if self.figure_formats == (NO_FIGURES,) else self.figure_formats


@dataclass(frozen=True)
class RecordingSection(TextSettings):
    """Recorded drive that the simulated robot replays."""

    path: str = setting(
        "",
        path=True,
        about="recorded drive: ROS 1 bag, ROS 2 bag (folder, .db3 or .mcap), CSV, TUM or another "
        "format of the guide, also compressed; empty: a bundled drive",
    )
    drive: str = setting(
        "a", choices=DRIVES, about="bundled synthetic drive, used if the path is empty"
    )
    laps: int = setting(
        0, minimum=0, maximum=MAX_LAPS, about="number of laps in a bundled drive; 0: all"
    )


@dataclass(frozen=True)
class ReferenceSection(ReferenceConventions, FixSettings):
    """Independent measurement of the robot's motion.

    Conventions in a column map take precedence over this section.
    """

    path: str = setting(
        "", path=True, about="recording with the reference; empty: path in [recording]"
    )
    format: str = setting(
        "auto",
        choices=FORMATS,
        about="recording format; [reference_columns] names the columns of csv and tables",
    )
    topic: str = setting(
        "",
        about="topic of type nav_msgs/Odometry, geometry_msgs/PoseStamped, "
        "geometry_msgs/PoseWithCovarianceStamped or sensor_msgs/NavSatFix; empty: the only such "
        "topic in the recording",
    )
    velocity_topic: str = setting(
        "",
        about="velocity topic of a GNSS receiver that publishes NavSatFix: "
        "geometry_msgs/TwistStamped or TwistWithCovarianceStamped, with linear.x "
        "east and linear.y north",
    )
    heading_topic: str = setting(
        "",
        about="heading topic of a dual-antenna receiver that publishes NavSatFix: "
        "geometry_msgs/QuaternionStamped, PoseStamped or sensor_msgs/Imu",
    )
    time_offset: float = setting(
        0.0,
        unit="s",
        about="time added to the stamps; negative if the receiver stamps its data late",
    )


@dataclass(frozen=True)
class ImuRecordingSection(ImuConventions):
    """Recorded IMU to which the simulated IMU is compared.

    Conventions in a column map take precedence over this section.
    """

    use: bool = setting(
        True,
        about="whether to evaluate the recorded IMU; false: only the simulated IMU is evaluated",
    )
    path: str = setting("", path=True, about="recording with the IMU; empty: path in [recording]")
    format: str = setting(
        "auto",
        choices=FORMATS,
        about="recording format; [imu_columns] names the columns of csv and tables",
    )
    topic: str = setting(
        "", about="topic of type sensor_msgs/Imu; empty: the only such topic in the recording"
    )
    time_offset: float = setting(0.0, unit="s", about="time added to the stamps")


@dataclass(frozen=True)
class TrajectorySection(TextSettings):
    """Part of the reference trajectory that the robot follows, and its preparation."""

    start: float | None = setting(
        None,
        minimum=0.0,
        unit="s",
        about="start of the replayed part, relative to the first sample; empty: first sample",
    )
    stop: float | None = setting(
        None,
        above=0.0,
        unit="s",
        about="end of the replayed part, relative to the first sample; empty: last sample",
    )
    start_index: int | None = setting(
        None, minimum=0, about="index of the first replayed sample; empty: 0"
    )
    stop_index: int | None = setting(
        None, minimum=1, about="index after the last replayed sample; empty: number of samples"
    )
    smoothing_window: float = setting(
        1.5,
        minimum=0.0,
        maximum=LONGEST_WINDOW,
        unit="s",
        about="window of the smoothing filter for position and heading; 0: no smoothing",
    )
    to_origin: bool = setting(
        True, about="whether to move the first pose to x = 0, y = 0 and yaw = 0"
    )
    scale: float = setting(
        1.0,
        above=0.0,
        about="scale factor of the path, below 1 to shrink it; yaw over time does not change",
    )
    rolling: bool = setting(
        False,
        about="whether to remove the lateral position noise, which a wheeled robot cannot follow "
        "and which limits the tracking accuracy of every controller. The evaluation of the "
        "recorded IMU is not affected",
    )
    check_limits: bool = setting(
        True, about="whether to reject a trajectory that the robot cannot follow"
    )


@dataclass(frozen=True)
class ControlSection(ControllerGains):
    """Controller that keeps the robot on the path."""

    controller: str = setting(
        "yaw_pid", choices=tuple(CONTROLLERS), about="path-following controller"
    )
    rate: float = setting(
        20.0, unit="Hz", above=0.0, minimum=MIN_RATE, maximum=100.0, about="command rate"
    )


@dataclass(frozen=True)
class RobotSection(TextSettings):
    """Simulated robot."""

    parameters: str = setting(
        "",
        path=True,
        about="file with the robot's dimensions and limits; empty: the bundled urdf/robot.yaml. "
        "urdf/robot_four_wheels.yaml has two driven wheels on each side, urdf/robot_ackermann.yaml "
        "describes a car. In a file for your own robot, the key description names its URDF or "
        "xacro file, and further keys name the joints of the driven wheels and, for a car, of the "
        "steering",
    )


@dataclass(frozen=True)
class SimulationSection(TextSettings):
    """Simulator, timing, gravity and Earth rotation."""

    simulator: str = setting(
        "mujoco",
        choices=SIMULATORS,
        about="simulator that run_experiment.py starts. With roslaunch, also set the argument "
        "simulator:=gazebo",
    )
    real_time_factor: float = setting(
        0.0,
        minimum=0.0,
        maximum=MAX_REAL_TIME_FACTOR,
        about="real-time factor; 0: as fast as possible, 1: real time",
    )
    startup_timeout: float = setting(
        60.0,
        above=0.0,
        maximum=LONGEST_WINDOW,
        unit="s",
        about="wall-clock timeout for the start of the simulator and all nodes",
    )
    command_timeout: float = setting(
        10.0,
        above=0.0,
        maximum=LONGEST_WINDOW,
        unit="s",
        about="wall-clock timeout for messages, after which the experiment ends with an error",
    )
    gravity: float = setting(
        WORLD_GRAVITY,
        unit="m/s^2",
        minimum=MIN_GRAVITY,
        maximum=MAX_GRAVITY,
        about="gravity in both simulators",
    )
    latitude: float | None = setting(
        None,
        unit="deg",
        minimum=-90.0,
        maximum=90.0,
        about="latitude, north positive; empty: no Earth rotation. With a latitude, the gyroscope "
        "of imu:=specification measures the Earth rotation, and the x axis of the drive points "
        "east; heading_budget.py reports whether the rotation is significant",
    )


@dataclass(frozen=True)
class ExternalSection(TextSettings):
    """Topics of a robot with its own controllers, in an external simulator or in reality."""

    command: str = setting(
        "cmd_vel",
        about="topic for commands of speed and yaw rate: geometry_msgs/Twist or TwistStamped",
    )
    odometry: str = setting(
        "odom", about="topic with the true state of the robot: nav_msgs/Odometry"
    )
    twist_in_world: bool = setting(
        False,
        about="whether the odometry's twist is given in the frame header.frame_id instead of "
        "child_frame_id, as published by the p3d plug-in of gazebo_plugins",
    )
    imu: str = setting("imu", about="topic with the IMU of the robot: sensor_msgs/Imu")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("command", "odometry", "imu"):
            topics.check_topic(name, getattr(self, name), needed=True)


@dataclass(frozen=True)
class TerrainSection(Terrain):
    """Shape of the ground in both simulators."""

    kind: str = setting(
        "flat",
        choices={"flat": "", "uneven": "with bumps: caps of large spheres centred below the plane"},
        about="shape of the ground",
    )

    def __post_init__(self) -> None:
        if self.kind != "flat":
            super().__post_init__()


@dataclass(frozen=True)
class ImuSection(TextSettings):
    """Simulated IMU."""

    model: str = setting(
        "hector",
        choices=_MODELS,
        about="error model",
    )
    rate: float = setting(
        100.0, above=0.0, minimum=MIN_RATE, maximum=1000.0, unit="Hz", about="sampling rate"
    )


@dataclass(frozen=True)
class ImuSpecificationSection(TextSettings):
    """IMU specification, used with imu:=specification."""

    file: str = setting(
        "bno055",
        path="FORMAT:yaml",
        about="YAML file with a specification, name of a bundled specification such as bno055, "
        "bmi088 or adis16470 (imu_catalogue.py lists them), or FORMAT:FILE for parameters of "
        "another tool, such as sdf:robot.sdf",
    )


@dataclass(frozen=True)
class OperationSection(Operation):
    """Zeroing of the gyroscope while stationary, used with imu:=specification."""

    # An experiment has only the stops of its recording; further stops cannot be inserted.
    stops: str = setting(
        "none",
        choices=_STOPS,
        about="stops during the drive at which the gyroscope is zeroed and the heading is held",
    )


@dataclass(frozen=True)
class MagneticEnvironmentSection(TextSettings):
    """Magnetic environment of the drive, with location and date."""

    file: str = setting(
        "",
        path="yaml",
        about="YAML file, or the name of a bundled environment: clean, steel_beam; empty: clean if "
        "the specification has a magnetometer. Plug-in models have no magnetometer",
    )
    latitude: float | None = setting(
        None,
        unit="deg",
        minimum=-90.0,
        maximum=90.0,
        about="latitude, north positive; empty: from the file",
    )
    longitude: float | None = setting(
        None,
        unit="deg",
        minimum=-360.0,
        maximum=360.0,
        about="longitude, east positive; empty: from the file",
    )
    height: float | None = setting(
        None, unit="m", about="height above the ellipsoid; empty: from the file"
    )
    date: str = setting("", about="date in the format 2026-11-22; empty: from the file")


@dataclass(frozen=True)
class GnssSection(TextSettings):
    """GNSS receiver on the simulated robot."""

    file: str = setting(
        "",
        path="yaml",
        about="YAML file, or name of a bundled receiver: single, rtk, rtk_heading; empty: no "
        "receiver",
    )


@dataclass(frozen=True)
class OdometerSection(TextSettings):
    """Wheel odometry of the simulated robot; only with MuJoCo."""

    file: str = setting(
        "",
        path="yaml",
        about="YAML file, or name of a bundled odometer: differential, skid_steer; empty: no "
        "odometer",
    )


COLUMN_SECTIONS = ("reference_columns", "imu_columns")
"""Sections that map quantities (keys) to columns of a plain CSV file (values)."""

IMU_PARAMETER_SECTIONS = {
    f"imu_{name}": name
    for name, kind in IMU_MODELS.items()
    if name != "specification" and dataclasses.fields(kind.parameters)
}
"""Mapping from each section with IMU parameters to the name of its IMU model."""


_COMMENT = re.compile(r"(^|\s);")


@dataclass(frozen=True)
class Configuration:
    """Validated settings of an experiment, with one field per section.

    Parameters
    ----------
    path : Path
        The config.ini that was read.
    experiment : ExperimentSection
        Name, seed and output of the experiment.
    recording : RecordingSection
        Recorded or bundled drive.
    reference : ReferenceSection
        Recorded reference trajectory and its conventions.
    imu_recording : ImuRecordingSection
        Recorded IMU and its conventions.
    trajectory : TrajectorySection
        Part and smoothing of the reference that the robot follows.
    robot : RobotSection
        Description and parameters of the robot.
    control : ControlSection
        Controller and its gains.
    simulation : SimulationSection
        Simulator, gravity and timeouts.
    external : ExternalSection
        Topics of a robot in an external simulator.
    terrain : TerrainSection
        Bumps on the ground.
    imu : ImuSection
        Model of the simulated IMU.
    imu_specification : ImuSpecificationSection
        Specification of the simulated IMU.
    operation : OperationSection
        Gyroscope zeroing while the robot is stationary.
    magnetic_environment : MagneticEnvironmentSection
        Magnetic field at the simulated location.
    gnss : GnssSection
        Simulated GNSS receiver.
    odometer : OdometerSection
        Simulated wheel odometry.
    comparison : ComparisonSettings
        Evaluation of the yaw errors.
    columns : mapping
        Columns by quantity, for each of :data:`COLUMN_SECTIONS`.
    imu_parameters : mapping
        Configured parameters by name, for each IMU model; other parameters have the model's
        defaults.
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
        """Return all settings as the text of a config.ini.

        Returns
        -------
        str
            Text of a file that :func:`load_configuration` reads.
        """
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
"""Mapping from sections to the dataclasses that declare their keys."""


def load_configuration(
    path: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
    working_directory: str | os.PathLike[str] | None = None,
) -> Configuration:
    """Read a config.ini and apply overrides.

    Parameters
    ----------
    path : str or Path, optional
        The config.ini, by default that of the package; it may contain paths relative to its folder.
    overrides : mapping, optional
        Values by section and key, as text or of the setting's type. An empty value does not
        override.
    working_directory : str or Path, optional
        Base folder of relative paths in ``overrides`` and of the default output folder, by default
        the working directory.

    Returns
    -------
    Configuration

    Raises
    ------
    ConfigurationError
        The file is missing or malformed, a section or key is unknown, or a value has a wrong type,
        is not among its choices, or is out of range.

    Examples
    --------
    >>> configuration = isf.load_configuration(overrides={"trajectory": {"stop": 5.0}})
    >>> configuration.trajectory.stop
    5.0
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
    """Settings as text, by section and key, as read from the file and after applying overrides."""

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
        """Describe the location of a setting, for error messages."""
        if (section, key) in self.overridden:
            return f"override of [{section}] {key}"
        return f"configuration {self.path}, [{section}] {key}"

    def check(self) -> None:
        """Reject unknown sections, and values that cannot be written to a config.ini."""
        known_sections = [*SECTIONS, *COLUMN_SECTIONS, *IMU_PARAMETER_SECTIONS]
        for section, keys in self.values.items():
            if section not in known_sections:
                raise ConfigurationError(
                    f"configuration {self.path}: unknown section [{section}]"
                    f"{_suggestion(section, known_sections)}"
                )
            for key, text in keys.items():
                # Such a value would change when it is read back from the config.ini in the results.
                location = self.location(section, key)
                if escape_unprintable(key + text) != key + text:
                    raise ConfigurationError(
                        f"{location}: expected one line of text, got {quote(text)}"
                    )
                if _COMMENT.search(text):
                    raise ConfigurationError(
                        f"{location}: expected no semicolon after a space, because it begins a "
                        f"comment in config.ini, got {quote(text)}"
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
        """Return the IMU model parameters that are set in a section."""
        return {field.name: value for field, value in self._values(name, parameters)}

    def _values(
        self, name: str, settings: type[Settings]
    ) -> Iterator[tuple[dataclasses.Field, Any]]:
        """Yield each field that is set in a section, with its value."""
        fields = {field.name: field for field in dataclasses.fields(settings)}
        for key, text in self.section(name).items():
            location = self.location(name, key)
            if key not in fields:
                raise ConfigurationError(f"{location}: unknown key{_suggestion(key, fields)}")
            if text != "":
                yield fields[key], read_setting(settings, fields[key], text, location)

    def _absolute(self, section: str, field: dataclasses.Field, value: Any) -> Any:
        """Convert a value that is a path to an absolute path; return other values unchanged."""
        path = _path_in(field, value)
        if not path.path:
            return value
        is_override = (section, field.name) in self.overridden
        base = self.working_directory if is_override else self.path.parent
        return path.format + files.plain_path(os.path.join(base, os.path.expanduser(path.path)))


def _override_texts(overrides: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return all non-empty overrides as text, by section and key."""
    texts = {}
    for section, values in overrides.items():
        if not isinstance(values, Mapping):
            raise ConfigurationError(
                f"override of section [{section}]: expected a mapping of keys to "
                f"values, got {quote(values)}"
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
    """Return whether a value is the default of its key, so that the key can be omitted.

    Parameters
    ----------
    section : str
        Name of the section.
    key : str
        Name of the key.
    text : str
        Value as text.

    Returns
    -------
    bool
        True for the default value or an empty text.
    """
    if text == "":
        return True
    keys = {f.name: f for f in dataclasses.fields(SECTIONS[section])} if section in SECTIONS else {}
    return key in keys and setting_text(keys[key].default) == text


def paths_of(configuration: Configuration) -> dict[tuple[str, str], FormatPath]:
    """Return all settings whose values are paths.

    Parameters
    ----------
    configuration : Configuration
        Settings of an experiment.

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
    """Path with an optional format prefix.

    Parameters
    ----------
    format : str
        Prefix ``FORMAT:``, or empty.
    path : str
        Path without the prefix.
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
    """Split the value of a key into format prefix and path; both are empty if it is not a path.

    For keys that also accept a name, a path is recognised by its suffix or by a format prefix.
    """
    kind, text = field.metadata["path"], str(value)
    prefixed = re.fullmatch("([a-z0-9_]{2,}:)(.+)", text) if kind == "FORMAT:yaml" else None
    if prefixed:
        return FormatPath(prefixed[1], prefixed[2])
    is_path = kind is True or (kind and text.endswith(".yaml"))
    return FormatPath("", text if is_path else "")
