"""What an IMU gives out, and how it gets its orientation."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from imu_simulation_framework.checked_values import check_numbers, checked_choice
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.sentences import shown

ORIENTATION_REFERENCES = ("fusion", "truth")
GYROSCOPE_FILTERS = ("mahony", "vqf")
FILTERS = (*GYROSCOPE_FILTERS, "compass")
BNO055_MODES = ("IMU", "COMPASS", "M4G", "NDOF_FMC_OFF", "NDOF")
"""By the data sheet's names; see :mod:`.sensors.imu_models.bno055_modes`."""

_TOPIC = re.compile(r"[~/]?[A-Za-z0-9_][A-Za-z0-9_./:-]{0,199}")


def is_topic(text: str) -> bool:
    """Whether a text may be a topic's name, in ROS or in Gazebo."""
    return _TOPIC.fullmatch(text) is not None


@dataclass(frozen=True)
class OutputSpecification:
    """What the sensor gives out, and how it gets its orientation.

    Parameters
    ----------
    rate : float
        Samples per second [Hz]. Where the simulation is slower, it has the simulation's rate.
    start_offset : float
        Time from the simulation's first sample to the sensor's [s].
    random_start_offset : float
        Largest further time to it [s]: the seed decides how much, evenly between zero and this.
    drop_repeated : bool
        Where the simulation is faster than the sensor: whether the samples between two readings
        are left out, or repeat the last reading.
    repeat_samples : bool
        Where the simulation is slower than the sensor: whether each sample is given away as often
        as the sensor would, with the same time stamp. Otherwise it is given away once.
    orientation_reference : str
        ``fusion``: orientation from the sensor's own readings, without a reference for the yaw
        unless there is a ``magnetic_heading``.
        ``truth``: the true orientation.
    filter : str
        Of the fusion: ``mahony``, complementary, or ``vqf``. ``compass`` has no gyroscope, only
        accelerometer and magnetometer; its yaw starts as the true one unless there is a
        ``magnetic_heading``.
    filter_time_constant : float
        How fast the accelerometer corrects the tilt [s]; of ``compass`` how late it is.
    filter_rate_bias : bool
        Whether the filter estimates the gyroscope's bias as well: ``mahony`` about the horizontal
        axes, at rest and in gentle motion, ``vqf`` at rest about all; with a magnetic heading both
        about all.
    magnetic_heading : bool
        Whether the magnetometer is the yaw's reference.
    magnetic_time_constant : float
        How fast the magnetometer corrects the yaw [s].
    magnetic_disturbance_rejection : bool
        Whether the filter leaves out readings of a field that is not as strong or steep as before
        (:mod:`.sensors.fusion.magnetic_heading`).
    magnetic_declination : float
        What the sensor is told of where magnetic north is: the angle from the world's y axis, which
        is north, clockwise to it [rad]. With 0 the yaw is that to magnetic east.
    topic : str
        Of its messages at whoever states the parameters, which conversions keep; empty for none.
        Nothing is published on it here.
    bno055_mode : str
        One of :data:`BNO055_MODES`, as which the sensor says how far it is calibrated
        (:class:`.Bno055Calibration`); empty for a sensor that does not. It changes no reading.

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with the field's name.
    """

    rate: float = 100.0
    start_offset: float = 0.0
    drop_repeated: bool = False
    orientation_reference: str = "fusion"
    filter: str = "mahony"
    filter_time_constant: float = 3.0
    filter_rate_bias: bool = False
    magnetic_heading: bool = False
    magnetic_time_constant: float = 9.0
    magnetic_disturbance_rejection: bool = False
    magnetic_declination: float = 0.0
    topic: str = ""
    random_start_offset: float = 0.0
    repeat_samples: bool = False
    bno055_mode: str = ""

    def __post_init__(self) -> None:
        bounds: dict[str, dict[str, float]] = {
            "rate": {"above": 0.0},
            "start_offset": {"minimum": 0.0},
            "random_start_offset": {"minimum": 0.0},
            "filter_time_constant": {"above": 0.0},
            "magnetic_time_constant": {"above": 0.0},
            "magnetic_declination": {"maximum": math.pi},
        }
        check_numbers(self, bounds)
        for name in (
            "drop_repeated",
            "repeat_samples",
            "filter_rate_bias",
            "magnetic_heading",
            "magnetic_disturbance_rejection",
        ):
            checked_choice(name, getattr(self, name), (False, True))
        checked_choice("orientation_reference", self.orientation_reference, ORIENTATION_REFERENCES)
        checked_choice("filter", self.filter, FILTERS)
        checked_choice("bno055_mode", self.bno055_mode, ("", *BNO055_MODES))
        if not (isinstance(self.topic, str) and (not self.topic or is_topic(self.topic))):
            raise ConfigurationError(
                f"topic is {shown(self.topic)}, but it must be the name of a topic, as /imu/data."
            )
        if self.filter == "compass" and (
            self.filter_rate_bias or self.magnetic_disturbance_rejection
        ):
            raise ConfigurationError(
                "filter is compass, which has no gyroscope: it can neither estimate its bias nor "
                "do without a disturbed field."
            )
        if self.magnetic_disturbance_rejection and not self.magnetic_heading:
            raise ConfigurationError(
                "magnetic_disturbance_rejection is true, but without magnetic_heading there is "
                "nothing to reject."
            )

    @property
    def fuses_magnetometer(self) -> bool:
        """Whether the orientation needs a magnetometer."""
        fuses = self.orientation_reference == "fusion"
        return fuses and (self.magnetic_heading or self.filter == "compass")
