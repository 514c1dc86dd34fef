"""Every key of config.ini: one frozen dataclass a section.

A field is a key, its default is what an absent or empty key means, and its metadata says what
is accepted.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from imu_simulation_framework.evaluation.comparison import LONGEST_WINDOW
from imu_simulation_framework.motion.drives import MOST_LAPS
from imu_simulation_framework.motion.positioning.fixes import FixSettings
from imu_simulation_framework.motion.terrain import LARGEST_LENGTH, Terrain
from imu_simulation_framework.recorded.frames import (
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
from imu_simulation_framework.sensors.imu_models import IMU_MODELS, PRESETS
from imu_simulation_framework.sensors.imu_specification import FILTERS
from imu_simulation_framework.tracking.controllers import CONTROLLERS, DEFAULT_SETTINGS

FIGURE_FORMATS = ("png", "pdf", "svg")
SIMULATORS = ("mujoco", "gazebo")
DRIVES = ("a", "b", "c", "d")
FORMATS = ("auto", "bag", "rostopic_csv", "csv", "tum")


LARGEST_NUMBER = 1e10
"""Of any key that has no closer bound, also below zero: a clock's seconds since 1970 fit in, and no
product of two of them overflows."""

FASTEST = 1000.0
"""Times as fast as reality; no machine simulates faster, and 0 means as fast as possible."""

LOWEST_RATE = 0.1
"""[Hz]: a robot that hears of its path less often than every 10 s follows none."""


def _setting(
    default,
    *,
    choices=None,
    other_names=None,
    minimum=-LARGEST_NUMBER,
    maximum=LARGEST_NUMBER,
    above=None,
    path=False,
):
    """A key with its default and what it accepts; ``above`` is an exclusive lower bound.

    A tuple is written as words with commas between them, each of its choices at most once. Other
    names lead to the choices that they had before.
    """
    return field(
        default=default,
        metadata={
            "choices": choices,
            "other_names": other_names or {},
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
    figure_formats: tuple = _setting(("png",), choices=FIGURE_FORMATS)
    accept_implausible: bool = _setting(False)


@dataclass(frozen=True)
class RecordingSection:
    path: str = _setting("", path=True)
    drive: str = _setting("a", choices=DRIVES)
    laps: int = _setting(0, minimum=0, maximum=MOST_LAPS)


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
    smoothing_window: float = _setting(1.5, minimum=0.0, maximum=LONGEST_WINDOW)
    to_origin: bool = _setting(True)
    scale: float = _setting(1.0, above=0.0)
    check_limits: bool = _setting(True)


@dataclass(frozen=True)
class ControlSection:
    controller: str = _setting("yaw_pid", choices=tuple(CONTROLLERS))
    rate: float = _setting(20.0, above=0.0, minimum=LOWEST_RATE, maximum=100.0)
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
    simulator: str = _setting("mujoco", choices=SIMULATORS, other_names={"embedded": "mujoco"})
    real_time_factor: float = _setting(0.0, minimum=0.0, maximum=FASTEST)
    startup_timeout: float = _setting(60.0, above=0.0, maximum=LONGEST_WINDOW)
    command_timeout: float = _setting(10.0, above=0.0, maximum=LONGEST_WINDOW)


@dataclass(frozen=True)
class TerrainSection:
    kind: str = _setting("flat", choices=("flat", "uneven"))
    height: float = _setting(Terrain.height, above=0.0, maximum=LARGEST_LENGTH)
    spacing: float = _setting(Terrain.spacing, above=0.0, maximum=LARGEST_LENGTH)
    radius: float = _setting(Terrain.radius, above=0.0, maximum=LARGEST_LENGTH)
    size: float = _setting(Terrain.size, above=0.0, maximum=LARGEST_LENGTH)
    seed: int = _setting(Terrain.seed, minimum=0, maximum=2**63 - 1)


@dataclass(frozen=True)
class ImuSection:
    model: str = _setting("hector", choices=tuple(PRESETS))
    rate: float = _setting(100.0, above=0.0, minimum=LOWEST_RATE, maximum=1000.0)


@dataclass(frozen=True)
class ImuSpecificationSection:
    file: str = _setting("bno055", path="yaml")


@dataclass(frozen=True)
class ComparisonSection:
    median_window: float = _setting(5.19, above=0.0, maximum=LONGEST_WINDOW)
    align: bool = _setting(False)
    max_shift: float = _setting(1.0, above=0.0, maximum=LONGEST_WINDOW)
    start_window: float = _setting(3.0, above=0.0, maximum=LONGEST_WINDOW)


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
