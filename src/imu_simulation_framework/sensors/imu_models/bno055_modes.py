"""Fusion modes and calibration status of the Bosch BNO055.

The data sheet BST-BNO055-DS000-18, revision 1.8, October 2021, describes the modes in section
3.3.3, their rates in table 3-14, the time of a change of mode in table 3-6, the start-up time in
table 0-2 and the calibration in section 3.11. The sensor's fusion algorithm (BSXlite) is not
published. Here, each mode is represented by the filter of this package that uses the same sensors
at the same rate:

============ ===== ===== ==== === ===================================================
mode         gyro. acc.  mag. Hz  yaw
============ ===== ===== ==== === ===================================================
IMU          yes   yes   no   100 from the gyroscope alone
COMPASS      no    yes   yes  20  magnetic north, without a gyroscope
M4G          no    yes   yes  50  as in IMU from any start; turns are those of the field
NDOF_FMC_OFF yes   yes   yes  100 magnetic north
NDOF         yes   yes   yes  100 magnetic north; the magnetometer is calibrated sooner
============ ===== ===== ==== === ===================================================

Sensors and rates are those in the data sheet. With ``start_up=True`` in :func:`.bno055_in_mode`,
readings begin after 0.407 s. With ``output: {bno055_mode: NDOF}`` in a specification, the
calibration status is published on ``imu/calib_status`` whenever it changes, in the format of the
ROS 2 driver bno055 (https://github.com/flynneva/bno055)::

    {"sys": 0, "gyro": 3, "accel": 0, "mag": 0}

The gyroscope reaches status 3 after three seconds at rest; the accelerometer after six
orientations, which a wheeled robot never takes; the magnetometer after a figure of eight, that is,
field directions in eight octants, or in NDOF in four, a full turn on level ground. A wheeled robot
in NDOF_FMC_OFF never exceeds status 1. :func:`.bno055_calibration` computes the status from
samples.

Hard and soft iron of the specification are the residuals after calibration. The sensor's ongoing
calibration does not change the readings here; only its status is modelled
(:func:`.bno055_calibration`). The real sensor outputs no angular velocity in modes without a
gyroscope; the model still does.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.stamps import NANOSECONDS
from ...core.tables import ACCEL, GYRO, MAG
from ...core.units import STANDARD_GRAVITY
from ..imu_specification import ImuSpecification

if TYPE_CHECKING:
    import pandas as pd

START_UP = 0.4  # s; from power-on to the configuration mode, table 0-2; after a reset, it is 0.65 s
SWITCHING = 0.007  # s; from the configuration mode to any other mode, table 3-6
# Time constant of the modes without a gyroscope [s]. The magnetometer's bandwidth of 10 Hz in table
# 3-4 alone yields 0.016 s; the remaining time is an assumption about the fusion, for which the data
# sheet states no value.
COMPASS_TIME = 0.1

RESTING_TIME = 3.0  # s; time at rest for the gyroscope calibration, "a few seconds" in section 3.11
POSITION_TIME = 1.0  # s; time at rest in each orientation for the accelerometer calibration
RESTING_RATE = np.radians(1.0)  # rad/s; largest angular velocity at rest
RESTING_FORCE = 0.3  # m/s^2; largest change of the specific force between samples at rest


_GYROSCOPE_TIMES = (RESTING_TIME / 3.0, 2.0 * RESTING_TIME / 3.0, RESTING_TIME)
_POSITIONS = (2, 4, 6)
# Smallest specific force along an axis within 30 degrees of the vertical [m/s^2].
_UPRIGHT = np.cos(np.radians(30.0)) * STANDARD_GRAVITY


class Mode(NamedTuple):
    """Sensors and output rate of an operation mode.

    Parameters
    ----------
    gyroscope, magnetometer : bool
        Whether the mode uses the sensor.
    rate : float
        Output rate [Hz].
    octants : 3 int
        Number of octants of field directions, in the sensor's axes, that the magnetometer must have
        measured for its status 1, 2 and 3. Section 3.11 requires a figure of eight, which rotates
        the sensor about all axes. With the fast magnetometer calibration (FMC), any movement
        suffices: a full turn on level ground.
    """

    gyroscope: bool
    magnetometer: bool
    rate: float
    octants: tuple[int, int, int] = (4, 6, 8)


#: Operation modes by their names in the data sheet.
MODES = {
    "IMU": Mode(True, False, 100.0),
    "COMPASS": Mode(False, True, 20.0),
    "M4G": Mode(False, True, 50.0),
    "NDOF_FMC_OFF": Mode(True, True, 100.0),
    "NDOF": Mode(True, True, 100.0, octants=(2, 3, 4)),
}


def bno055_in_mode(
    specification: ImuSpecification, mode: str, start_up: bool = False
) -> ImuSpecification:
    """Return a specification with the output settings of a BNO055 in a given mode.

    The mode is appended to the name in lower case, and stored as ``bno055_mode`` of the output.

    Parameters
    ----------
    specification : ImuSpecification
        Errors of the sensors. Output settings that do not depend on the mode are unchanged.
    mode : str
        Key of :data:`MODES`.
    start_up : bool
        Whether the sensor is switched on at the start of the simulation, so that its readings start
        0.407 s later, rounded up to full samples.

    Returns
    -------
    ImuSpecification

    Raises
    ------
    ConfigurationError
        If the mode is unknown, or requires a magnetometer that the specification lacks.
    """
    kind = _mode(mode)
    if kind.magnetometer and specification.magnetometer is None:
        raise ConfigurationError(
            f"{specification.name} has no magnetometer, which the mode {mode} requires"
        )
    output, both = specification.output, kind.gyroscope and kind.magnetometer
    output = replace(
        output,
        rate=kind.rate,
        orientation_reference="fusion",
        magnetic_heading=kind.magnetometer and mode != "M4G",
        magnetic_disturbance_rejection=output.magnetic_disturbance_rejection and both,
        start_offset=START_UP + SWITCHING if start_up else output.start_offset,
        bno055_mode=mode,
    )
    if not kind.gyroscope:
        output = replace(output, filter="compass", filter_time_constant=COMPASS_TIME)
    name = f"{specification.name}_{mode.lower()}"
    return replace(specification, name=name, output=output)


def bno055_calibration(samples: pd.DataFrame, mode: str) -> pd.DataFrame:
    """Compute the calibration status that a BNO055 reports in its register CALIB_STAT.

    Each status is from 0 (not calibrated) to 3 (fully calibrated). The data sheet states the
    actions that lead to 3, but not how they are detected. In this model, a status never decreases.
    The gyroscope's status increases with each of three seconds at rest. The accelerometer's status
    is 1, 2 and 3 after two, four and six orientations with an axis up or down, with a second at
    rest in each. The magnetometer's status depends on the octants of measured fields
    (:class:`Mode`). A sensor that the mode does not use has the status 0. The system's status is
    the minimum over gyroscope and magnetometer, as far as they are used; the accelerometer is not
    required (Bosch Sensortec's forum, BNO055 System Calibration, May 2019).

    Parameters
    ----------
    samples : pandas.DataFrame
        Result of :func:`.simulate_imu`: gyro_x ... accel_z, and mag_x, mag_y, mag_z if the mode
        uses a magnetometer.
    mode : str
        Key of :data:`MODES`.

    Returns
    -------
    pandas.DataFrame
        Integers in the fields of :class:`CalibrationStatus`, at the times of the samples.

    Raises
    ------
    ConfigurationError
        If the mode is unknown, or the samples lack the magnetic field that it requires.
    """
    kind = _mode(mode)
    if kind.magnetometer and not set(MAG) <= set(samples.columns):
        raise ConfigurationError(
            f"samples have no columns {', '.join(MAG)}, which the mode {mode} requires"
        )
    # Imported here, since pandas takes 40 MB and every node imports this module.
    import pandas as pd

    calibration = Bno055Calibration(mode)
    signals = [samples[list(columns)].to_numpy() for columns in (GYRO, ACCEL)]
    signals += [samples[list(MAG)].to_numpy()] * kind.magnetometer
    rows = [calibration.add(*sample) for sample in zip(samples.index, *signals)]
    values = np.array(rows, dtype=int).reshape(-1, 4)
    return pd.DataFrame(values, samples.index, CalibrationStatus._fields)


class CalibrationStatus(NamedTuple):
    """Fields of the register CALIB_STAT, each from 0 (not calibrated) to 3 (fully calibrated).

    Attributes
    ----------
    system, gyroscope, accelerometer, magnetometer : int
        Calibration levels, from 0 to 3.
    """

    system: int
    gyroscope: int
    accelerometer: int
    magnetometer: int


class Bno055Calibration:
    """Calibration status of a BNO055 as in :func:`bno055_calibration`, updated with each sample.

    Parameters
    ----------
    mode : str
        Key of :data:`MODES`.
    """

    def __init__(self, mode: str) -> None:
        self._mode = _mode(mode)
        self._rest_start: float | None = None
        self._force: np.ndarray | None = None
        self._gyroscope = 0
        self._positions: set[int] = set()
        self._octants: set[int] = set()

    def add(
        self,
        time: float,
        angular_velocity: Sequence[float],
        specific_force: Sequence[float],
        magnetic_field: Sequence[float] | None = None,
    ) -> CalibrationStatus:
        """Update the calibration status with the next reading.

        Parameters
        ----------
        time : float
            Time of the reading [s].
        angular_velocity : 3 float
            Angular velocity [rad/s].
        specific_force : 3 float
            Specific force [m/s^2].
        magnetic_field : 3 float, optional
            Magnetic field [T].

        Returns
        -------
        CalibrationStatus
        """
        force = np.asarray(specific_force, dtype=float)
        calm = bool(np.linalg.norm(angular_velocity) < RESTING_RATE)
        if self._force is not None:
            calm = calm and bool(np.linalg.norm(force - self._force) < RESTING_FORCE)
        self._force = force
        if self._rest_start is None or not calm:
            self._rest_start = time
        resting = time - self._rest_start
        axis = int(np.argmax(np.abs(force)))
        if resting >= POSITION_TIME and abs(force[axis]) > _UPRIGHT:
            self._positions.add(2 * axis + int(force[axis] > 0.0))
        used = []
        if self._mode.gyroscope:
            self._gyroscope = max(self._gyroscope, bisect_right(_GYROSCOPE_TIMES, resting))
            used.append(self._gyroscope)
        magnetometer = 0
        if self._mode.magnetometer:
            if magnetic_field is not None:
                octant = sum(1 << bit for bit, part in enumerate(magnetic_field) if part > 0.0)
                self._octants.add(octant)
            magnetometer = bisect_right(self._mode.octants, len(self._octants))
            used.append(magnetometer)
        accelerometer = bisect_right(_POSITIONS, len(self._positions))
        return CalibrationStatus(min(used), self._gyroscope, accelerometer, magnetometer)


KEYS = ("sys", "gyro", "accel", "mag")  # as in the topic calib_status of the ROS driver bno055


class CalibrationTexts:
    """Changes of a BNO055's calibration status, formatted as JSON texts.

    Parameters
    ----------
    mode : str
        Key of :data:`MODES`.
    """

    def __init__(self, mode: str) -> None:
        self._last_status: CalibrationStatus | None = None
        self.restart(mode)

    def restart(self, mode: str) -> None:
        """Restart the calibration, as after power-on.

        Parameters
        ----------
        mode : str
            Key of :data:`MODES`.
        """
        self._mode, self._newest = mode, 0
        self._calibration = Bno055Calibration(mode)

    def add(
        self,
        stamps: np.ndarray,
        rates: np.ndarray,
        forces: np.ndarray,
        fields: np.ndarray | None = None,
    ) -> list[str]:
        """Update the calibration status with further readings.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rates, forces : ndarray, shape (n, 3)
            Angular velocities [rad/s] and specific forces [m/s^2].
        fields : ndarray, shape (n, 3), optional
            Magnetic fields [T].

        Returns
        -------
        list of str
            JSON text for each change of the status.
        """
        changes = []
        for number, stamp in enumerate(stamps.tolist()):
            if stamp < self._newest:
                self.restart(self._mode)  # time has jumped back
            self._newest = stamp
            field = None if fields is None else fields[number]
            status = self._calibration.add(
                stamp / NANOSECONDS, rates[number], forces[number], field
            )
            if status != self._last_status:
                self._last_status = status
                changes.append(json.dumps(dict(zip(KEYS, status))))
        return changes


def _mode(mode: Any) -> Mode:
    if isinstance(mode, str) and mode in MODES:
        return MODES[mode]
    raise ConfigurationError(f"mode is {quote(mode)}, expected one of {', '.join(MODES)}")
