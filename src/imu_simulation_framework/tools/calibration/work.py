"""From a recording and what is wanted of it to the calibrations of an IMU's sensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

import numpy as np
import pandas as pd

from imu_simulation_framework.columns import ACCEL, GYRO, MAG
from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.identification.calibration.directions import turning_times
from imu_simulation_framework.identification.calibration.free_positions import (
    calibrate_accelerometer_freely,
)
from imu_simulation_framework.identification.calibration.inertial import (
    PLACEMENT,
    TemperatureFit,
    calibrate_accelerometer,
    calibrate_gyroscope,
    noise_of,
)
from imu_simulation_framework.identification.calibration.inertial_units import (
    check_inertial_units,
)
from imu_simulation_framework.identification.calibration.rest_times import RestTime, find_rest
from imu_simulation_framework.identification.calibration.sphere_fit import SphereFit, fit_to_sphere
from imu_simulation_framework.identification.calibration.triad_fit import TriadCalibration
from imu_simulation_framework.identification.calibration.turns import (
    Turn,
    turns_of_reference,
    whole_turns,
)
from imu_simulation_framework.recordings import (
    ImuConventions,
    read_imu,
    read_other_sensor,
    read_reference,
)
from imu_simulation_framework.recordings.columns.guess import guess_columns
from imu_simulation_framework.recordings.formats.listing import recording_format
from imu_simulation_framework.recordings.imu import MOUNTED_TURNED
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.tools.arguments import guessed_columns
from imu_simulation_framework.tools.calibration.noise_check import constant_remarks, noise_remarks

_EARTHS_FIELD = (15e-6, 100e-6)
"""Sizes [T] that may be Earth's, with scale factors that are wrong by a third."""

_MUCH_SCATTER = 0.05


@dataclass(frozen=True)
class Wishes:
    """What is to be found, in which recording; angles in rad, everything in SI."""

    recording: str
    topic: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    six_positions: bool = False
    free_positions: bool = False
    turns: Any = None
    wants_turns: bool = False
    reference: str | None = None
    reference_topic: str = ""
    reference_sigma: float = float(np.radians(0.5))
    magnetometer: bool = False
    magnetic_topic: str = ""
    rate: float | None = None
    gyro_unit: str = ImuConventions.gyro_unit
    accel_unit: str = ImuConventions.accel_unit
    field: float | None = None
    temperature: str | None = None
    temperature_topic: str = ""
    degree: int = 2
    scale_degree: int = 0
    gravity: float = STANDARD_GRAVITY
    placement: float = float(PLACEMENT)
    shortest_rest: float = 5.0
    noise: ImuSpecification | None = None

    @property
    def inertial(self) -> bool:
        """Whether gyroscope or accelerometer are wanted."""
        return (
            self.six_positions
            or self.free_positions
            or self.wants_turns
            or self.temperature is not None
            or not self.magnetometer
        )


@dataclass
class Calibrated:
    """What was found.

    Attributes
    ----------
    wishes : Wishes
    table : pandas.DataFrame or None
        The IMU's samples.
    rests, turns : list
        That were used.
    sensors : dict of str to TriadCalibration
    sphere : SphereFit or None
    magnetic : pandas.DataFrame or None
    temperature : ndarray or None
        Of each sample of the IMU [degC].
    reference : float
        Where the temperature's polynomials are 0 [degC].
    remarks : list of str
    """

    wishes: Wishes
    table: pd.DataFrame | None = None
    rests: list[RestTime] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    sensors: dict[str, TriadCalibration] = field(default_factory=dict)
    sphere: SphereFit | None = None
    magnetic: pd.DataFrame | None = None
    temperature: np.ndarray | None = None
    reference: float = 25.0
    remarks: list[str] = field(default_factory=list)


def calibrate(wishes: Wishes) -> Calibrated:
    """Find what is wanted.

    Raises
    ------
    FrameworkError
        A recording cannot be read, or does not show what is wanted.
    """
    found = Calibrated(wishes)
    if wishes.inertial:
        _inertial(wishes, found)
    if wishes.magnetometer:
        _magnetic(wishes, found)
    return found


def _magnetic(wishes, found):
    source = wishes.recording
    recorded = read_other_sensor(
        source,
        "magnetometer",
        wishes.magnetic_topic,
        _columns(wishes, MAG),
        rate=wishes.rate,
    )
    found.remarks += recorded.report.sentences()[1:]
    found.magnetic = recorded.table
    times, readings = found.magnetic.index.to_numpy(), found.magnetic[list(MAG)].to_numpy()
    parts = turning_times(times, readings)
    used = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    if len(used) < len(times):
        found.remarks.append(
            f"of {len(times)} samples of the magnetometer {len(times) - len(used)} are left out, "
            "where it lay for more than 2 s as it had before: only turning shows iron"
        )
    ends = np.cumsum([part.stop - part.start for part in parts]).tolist()
    found.sphere = fit_to_sphere(
        times[used],
        readings[used],
        wishes.field,
        noise=_magnetic_noise(wishes),
        source=source,
        parts=[RestTime(start, stop) for start, stop in zip([0, *ends], ends)],
    )
    found.sensors["magnetometer"] = found.sphere.calibration
    found.remarks += _field_remarks(wishes, found.sphere)


def _field_remarks(wishes, sphere) -> list[str]:
    """Return what size and scatter of the field say; a size in another unit is refused."""
    scale = 1.0 + np.mean([sphere.calibration.matrix[axis][axis].value for axis in range(3)])
    if wishes.field is not None and abs(np.log2(scale)) > 1.0:
        raise RecordingError(
            f"{wishes.recording}: the magnetometer's readings are {scale:.3g} times as large as "
            f"the field that is stated, {1e6 * wishes.field:.4g} uT; is one of them in another "
            "unit?"
        )
    share = sphere.scatter / sphere.size
    remarks = [
        f"the corrected field is {1e6 * sphere.size:.4g} uT and scatters by {100.0 * share:.2g} %"
        + (
            ": much, so that a heading is off by degrees; perhaps iron or a magnet was near that "
            "did not move with the sensor"
            if share > _MUCH_SCATTER
            else ""
        )
    ]
    if not _EARTHS_FIELD[0] < sphere.size < _EARTHS_FIELD[1]:
        remarks.append(
            f"the field's size of {sphere.size:.3g} T is not Earth's, which is 22 to 67 uT: the "
            "readings may be in another unit than tesla, and then the correction is, too; it fits "
            "them, but not the same sensor's readings in tesla"
        )
    if wishes.field is None:
        remarks.append(
            "the size of the magnetic field is not known: the mean of the magnetometer's "
            "scale factors is taken as right, which a heading does not depend on"
        )
    return remarks


def _inertial(wishes, found):
    source = wishes.recording
    columns = _columns(wishes, (*GYRO, *ACCEL))
    recorded = read_imu(
        source,
        wishes.topic,
        columns=columns or guessed_columns(source, wishes.rate, found.remarks),
        conventions=ImuConventions(gyro_unit=wishes.gyro_unit, accel_unit=wishes.accel_unit),
        rate=wishes.rate,
        require=(),
    )
    found.table = table = recorded.table
    found.remarks += [r for r in recorded.report.remarks if MOUNTED_TURNED not in r]
    names = [name for name in (*GYRO, *ACCEL) if name in table]
    times = table.index.to_numpy()
    if set(ACCEL) <= set(names):
        turned = table[list(GYRO)].to_numpy() if set(GYRO) <= set(names) else None
        check_inertial_units(times, turned, table[list(ACCEL)].to_numpy(), wishes.gravity, source)
    found.rests = find_rest(times, table[names].to_numpy(), names, source, wishes.shortest_rest)
    temperature = _temperature(wishes, found, times)
    noise = wishes.noise
    if set(GYRO) <= set(names):
        gyro = table[list(GYRO)].to_numpy()
        if wishes.wants_turns:
            found.turns = _turns(wishes, times, gyro, found.rests)
        found.sensors["gyroscope"] = calibrate_gyroscope(
            times,
            gyro,
            found.rests,
            found.turns,
            noise=noise and noise_of(noise.gyroscope),
            placement=wishes.placement,
            temperature=temperature,
            source=source,
        )
    elif wishes.wants_turns or not (wishes.six_positions or wishes.free_positions):
        raise RecordingError(f"{source}: has no {', '.join(GYRO)}, a gyroscope with three axes")
    if wishes.six_positions or wishes.free_positions:
        if not set(ACCEL) <= set(names):
            raise RecordingError(
                f"{source}: has no {', '.join(ACCEL)}, an accelerometer with three axes"
            )
        accel = table[list(ACCEL)].to_numpy()
        found.sensors["accelerometer"] = _accelerometer(
            wishes, times, accel, found.rests, temperature
        )
    for sensor, axes in (("gyroscope", GYRO), ("accelerometer", ACCEL)):
        if sensor not in found.sensors:
            continue
        values = table[list(axes)].to_numpy()
        found.remarks += constant_remarks(sensor, values, found.rests)
        if noise is not None:
            stated = noise_of(getattr(noise, sensor))
            found.remarks += noise_remarks(sensor, stated, times, values, found.rests)
    if noise is None:
        found.remarks.append(
            "noise is found in this recording, which knows little of its slow part: the intervals "
            "are wider than with the noise of an Allan analysis"
        )


def _accelerometer(wishes, times, accel, rests, temperature):
    noise, source = wishes.noise and noise_of(wishes.noise.accelerometer), wishes.recording
    if wishes.six_positions:
        return calibrate_accelerometer(
            times,
            accel,
            rests,
            gravity=wishes.gravity,
            noise=noise,
            placement=wishes.placement,
            temperature=temperature,
            source=source,
        )
    if noise is None:
        raise RecordingError(
            f"{source}: positions of any kind take the noise of the accelerometer, expected a "
            "specification that has it"
        )
    return calibrate_accelerometer_freely(
        times, accel, rests, noise=noise, gravity=wishes.gravity, source=source
    )


def _magnetic_noise(wishes):
    """Return the noise of the magnetometer, None where it is not known."""
    magnetometer = wishes.noise and wishes.noise.magnetometer
    noise = noise_of(magnetometer) if magnetometer else ()
    return noise if any(one.white_noise for one in noise) else None


def _turns(wishes, times, gyro, rests):
    if wishes.reference and wishes.turns is None:
        reference = read_reference(wishes.reference, wishes.reference_topic).table
        return turns_of_reference(
            times,
            gyro,
            rests,
            reference.index.to_numpy(),
            reference["yaw"].to_numpy(),
            wishes.reference_sigma,
            wishes.recording,
        )
    return whole_turns(times, gyro, rests, wishes.turns, wishes.recording)


def _temperature(wishes, found, times) -> TemperatureFit | None:
    if wishes.temperature is None:
        return None
    path = wishes.temperature or wishes.recording
    columns = _columns(wishes, ("temperature",)) if path == wishes.recording else None
    rate = wishes.rate if path == wishes.recording else None
    recorded = read_other_sensor(path, "thermometer", wishes.temperature_topic, columns, rate=rate)
    found.remarks += recorded.report.sentences()[1:]
    read = recorded.table
    if read.index[-1] < times[0] or read.index[0] > times[-1]:
        raise RecordingError(f"{path}: the temperature is of another time than the IMU")
    values = np.interp(times, read.index.to_numpy(), read["temperature"].to_numpy())
    still = np.concatenate([values[rest.start : rest.stop] for rest in found.rests])
    found.temperature = values
    found.reference = float(np.round(still.mean()))
    return TemperatureFit(values, found.reference, wishes.degree, wishes.scale_degree)


def _columns(wishes, names):
    """Return the columns of some quantities, as they were named; None for a bag."""
    if recording_format(wishes.recording) != "csv":
        return dict(wishes.columns) or None
    chosen = {key: wishes.columns[key] for key in ("time", *names) if key in wishes.columns}
    if not any(key in chosen for key in names):
        return None
    if "time" not in chosen and wishes.rate is None:
        guess = guess_columns(wishes.recording)
        plain = "time" if "time" in guess.unused else ""
        time = guess.imu.get("time") or guess.reference.get("time") or plain
        chosen.update({"time": time} if time else {})
    return chosen
