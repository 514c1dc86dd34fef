"""Every key of config.ini: one frozen dataclass a section.

A field is a key, its default is what an absent or empty key means. A section that sets something of
the library inherits from that one's settings and is passed as such; its own keys come first.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.declared_settings import LARGEST_SEED, Settings, setting
from imu_simulation_framework.evaluation.yaw_comparison import LONGEST_WINDOW, ComparisonSettings
from imu_simulation_framework.motion.drives import MOST_LAPS
from imu_simulation_framework.motion.positioning.fixes import FixSettings
from imu_simulation_framework.motion.terrain import Terrain
from imu_simulation_framework.recorded.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.sensors.imu_models import IMU_MODELS, PRESETS
from imu_simulation_framework.tracking.controllers import CONTROLLERS, ControllerGains

FIGURE_FORMATS = ("png", "pdf", "svg")
SIMULATORS = ("mujoco", "gazebo")
DRIVES = ("a", "b", "c", "d")
FORMATS = ("auto", "bag", "rostopic_csv", "csv", "tum")


FASTEST = 1000.0
"""Times as fast as reality; no machine simulates faster, and 0 means as fast as possible."""

WEAKEST_GRAVITY, STRONGEST_GRAVITY = 1.0, 30.0
"""[m/s^2]: from less than the Moon's to more than Jupiter's."""

LOWEST_RATE = 0.1
"""[Hz]: a robot that hears of its path less often than every 10 s follows none."""


@dataclass(frozen=True)
class ExperimentSection(Settings):
    name: str = setting("")
    output: str = setting("experiment_results", path=True)
    seed: int = setting(1, minimum=0, maximum=LARGEST_SEED)
    figure_formats: tuple = setting(("png",), choices=FIGURE_FORMATS)
    accept_implausible: bool = setting(False)


@dataclass(frozen=True)
class RecordingSection(Settings):
    path: str = setting("", path=True)
    drive: str = setting("a", choices=DRIVES)
    laps: int = setting(0, minimum=0, maximum=MOST_LAPS)


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
    simulator: str = setting("mujoco", choices=SIMULATORS, other_names={"embedded": "mujoco"})
    real_time_factor: float = setting(0.0, minimum=0.0, maximum=FASTEST)
    startup_timeout: float = setting(60.0, above=0.0, maximum=LONGEST_WINDOW)
    command_timeout: float = setting(10.0, above=0.0, maximum=LONGEST_WINDOW)
    gravity: float = setting(
        WORLD_GRAVITY, unit="m/s^2", minimum=WEAKEST_GRAVITY, maximum=STRONGEST_GRAVITY
    )
    latitude: float | None = setting(None, unit="deg", minimum=-90.0, maximum=90.0)


@dataclass(frozen=True)
class TerrainSection(Terrain):
    kind: str = setting("flat", choices=("flat", "uneven"))

    def __post_init__(self) -> None:
        if self.kind != "flat":
            super().__post_init__()


@dataclass(frozen=True)
class ImuSection(Settings):
    model: str = setting("hector", choices=tuple(PRESETS))
    rate: float = setting(100.0, above=0.0, minimum=LOWEST_RATE, maximum=1000.0)


@dataclass(frozen=True)
class ImuSpecificationSection(Settings):
    file: str = setting("bno055", path="yaml")


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
    "magnetic_environment": MagneticEnvironmentSection,
    "gnss": GnssSection,
    "comparison": ComparisonSettings,
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
