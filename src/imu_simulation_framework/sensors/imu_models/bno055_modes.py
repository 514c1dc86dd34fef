"""The modes of a Bosch BNO055 that fuse its sensors, and what it says of its calibration.

Data sheet BST-BNO055-DS000-18, revision 1.8, October 2021: the modes in section 3.3.3, their rates
in table 3-14, how long a change of the mode takes in table 3-6, how it is started in table 0-2,
how it is calibrated in section 3.11. Its fusion (BSXlite) is not published; here a mode is the
filter of this package that uses the same sensors at the same rate:

============ ===== ===== ==== === ===================================================
mode         gyro. acc.  mag. Hz  its yaw
============ ===== ===== ==== === ===================================================
IMU          yes   yes   no   100 from the gyroscope alone
COMPASS      no    yes   yes  20  magnetic north, without a gyroscope
M4G          no    yes   yes  50  as IMU's from any start; turns are those of the field
NDOF_FMC_OFF yes   yes   yes  100 magnetic north
NDOF         yes   yes   yes  100 magnetic north; the magnetometer is calibrated sooner
============ ===== ===== ==== === ===================================================

What the specification has as hard and soft iron is what the calibration has left. The sensor's own
ongoing calibration does not change the readings here; what it says of itself is made of them
(:func:`bno055_calibration`). Without a gyroscope the real sensor gives out no rate; here
its readings go on.
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

START_UP = 0.4
"""From power to the mode for configuration [s], table 0-2; after a reset it is 0.65 s."""
SWITCHING = 0.007
"""From there to any mode [s], table 3-6."""
COMPASS_TIME = 0.1
"""Time constant of the modes without a gyroscope [s]: that of the magnetometer's 10 Hz bandwidth in
table 3-4 is 0.016 s, to which the fusion adds its own; ours, as the data sheet does not say it."""

RESTING_TIME = 3.0
"""At rest [s], after which the gyroscope is calibrated, "a few seconds" of section 3.11."""
POSITION_TIME = 1.0
"""At rest [s] in each of the six positions that calibrate the accelerometer."""
RESTING_RATE = np.radians(1.0)
"""[rad/s]"""
RESTING_FORCE = 0.3
"""Change of the specific force [m/s^2]."""


_GYROSCOPE_TIMES = (RESTING_TIME / 3.0, 2.0 * RESTING_TIME / 3.0, RESTING_TIME)
_POSITIONS = (2, 4, 6)
_UPRIGHT = np.cos(np.radians(30.0)) * STANDARD_GRAVITY
"""Along an axis, where it is within 30 degrees of the vertical [m/s^2]."""


class Mode(NamedTuple):
    """A mode: which sensors it uses, and how fast it is [Hz]."""

    gyroscope: bool
    magnetometer: bool
    rate: float
    octants: tuple[int, int, int] = (4, 6, 8)
    """Of the directions of the field in the sensor's axes, how many it has to have seen for the
    magnetometer's status 1, 2 and 3. Section 3.11 wants a figure of eight, which is turns about all
    axes, or any movement where the fast calibration (FMC) is on: a full turn on level ground."""


MODES = {
    "IMU": Mode(True, False, 100.0),
    "COMPASS": Mode(False, True, 20.0),
    "M4G": Mode(False, True, 50.0),
    "NDOF_FMC_OFF": Mode(True, True, 100.0),
    "NDOF": Mode(True, True, 100.0, octants=(2, 3, 4)),
}
"""By the data sheet's names."""


def bno055_in_mode(
    specification: ImuSpecification, mode: str, start_up: bool = False
) -> ImuSpecification:
    """Return a specification whose output is that of a BNO055 in a mode.

    Its name has the mode, in small letters, and its output says it as ``bno055_mode``.

    ``specification``: errors of the sensors; of its output what the mode does not say stays.
    ``mode``: one of :data:`MODES`. ``start_up``: whether it is switched on at the beginning, so
    that its readings start 0.407 s later, in whole samples. Raises :class:`.ConfigurationError`:
    there is no such mode, or it needs a magnetometer that the specification does not have.
    """
    kind = _mode(mode)
    if kind.magnetometer and specification.magnetometer is None:
        raise ConfigurationError(
            f"The mode {mode} needs a magnetometer, which {specification.name} does not have."
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
    """Return what the register CALIB_STAT would say, 0 (not) to 3 (fully calibrated).

    The data sheet says what to do for a 3, not how the sensor tells. This is a model of it, which
    never forgets: the gyroscope has a status for each second of three at rest; the accelerometer 1,
    2 and 3 after two, four and six positions, an axis up or down, with a second's rest in each; the
    magnetometer by the octants in which it has seen the field (:class:`Mode`). A sensor that the
    mode does not use has 0. The system's is the least of gyroscope and magnetometer, as far as they
    are used: for that the accelerometer's is not needed (Bosch Sensortec's forum, BNO055 System
    Calibration, May 2019).

    ``samples``: as of :func:`.simulate_imu`: gyro_x ... accel_z, and mag_x, mag_y, mag_z where the
    mode uses a magnetometer. ``mode``: one of :data:`MODES`. Returns integers, the fields of
    :class:`CalibrationStatus`, with the samples' times. Raises :class:`.ConfigurationError`: there
    is no such mode, or the samples have no magnetic field for it.
    """
    kind = _mode(mode)
    if kind.magnetometer and not set(MAG) <= set(samples.columns):
        raise ConfigurationError(
            f"The mode {mode} calibrates a magnetometer, but the samples have no magnetic field."
        )
    # Imported here, since every node knows the modes, and it takes 40 MB.
    import pandas as pd

    calibration = Bno055Calibration(mode)
    signals = [samples[list(columns)].to_numpy() for columns in (GYRO, ACCEL)]
    signals += [samples[list(MAG)].to_numpy()] * kind.magnetometer
    rows = [calibration.add(*sample) for sample in zip(samples.index, *signals)]
    values = np.array(rows, dtype=int).reshape(-1, 4)
    return pd.DataFrame(values, samples.index, CalibrationStatus._fields)


class CalibrationStatus(NamedTuple):
    """What the register CALIB_STAT says of each, 0 (not) to 3 (fully calibrated)."""

    system: int
    gyroscope: int
    accelerometer: int
    magnetometer: int


class Bno055Calibration:
    """The same as :func:`bno055_calibration`, sample by sample."""

    def __init__(self, mode: str) -> None:
        self._mode = _mode(mode)
        self._restless: float | None = None
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
        """Take the next reading, [s, rad/s, m/s^2, T]; return the status that it leads to."""
        force = np.asarray(specific_force, dtype=float)
        calm = bool(np.linalg.norm(angular_velocity) < RESTING_RATE)
        if self._force is not None:
            calm = calm and bool(np.linalg.norm(force - self._force) < RESTING_FORCE)
        self._force = force
        if self._restless is None or not calm:
            self._restless = time
        resting = time - self._restless
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


KEYS = ("sys", "gyro", "accel", "mag")
"""As the driver bno055 for ROS has them on its topic calib_status."""


class CalibrationTexts:
    """Says the calibration's status as JSON where it has changed; ``mode`` as for the above."""

    def __init__(self, mode: str) -> None:
        self._said: CalibrationStatus | None = None
        self.restart(mode)

    def restart(self, mode: str) -> None:
        """Begin anew, in this mode: the sensor was switched on, or put elsewhere."""
        self._mode, self._newest = mode, 0
        self._calibration = Bno055Calibration(mode)

    def add(
        self,
        stamps: np.ndarray,
        rates: np.ndarray,
        forces: np.ndarray,
        fields: np.ndarray | None = None,
    ) -> list[str]:
        """Take readings: stamps (n,) [ns], rates, forces and fields (n, 3) [rad/s, m/s^2, T]."""
        changed = []
        for number, stamp in enumerate(stamps.tolist()):
            if stamp < self._newest:
                self.restart(self._mode)  # time began again
            self._newest = stamp
            field = None if fields is None else fields[number]
            status = self._calibration.add(
                stamp / NANOSECONDS, rates[number], forces[number], field
            )
            if status != self._said:
                self._said = status
                changed.append(json.dumps(dict(zip(KEYS, status))))
        return changed


def _mode(mode: Any) -> Mode:
    if isinstance(mode, str) and mode in MODES:
        return MODES[mode]
    raise ConfigurationError(
        f"The mode is {quote(mode)}, but those of a BNO055 are {', '.join(MODES)}."
    )
