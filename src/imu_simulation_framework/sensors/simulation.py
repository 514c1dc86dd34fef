"""What an IMU says of a motion: from a motion and an IMU's errors to a table of its samples."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Iterator, Union

import numpy as np
import pandas as pd

from imu_simulation_framework.core.angles import (
    roll_pitch_yaw_from_quaternion,
    unwrap,
    yaw_from_quaternion,
)
from imu_simulation_framework.core.columns import IMU_RECORD, MAG
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.yaml_files import by_name
from imu_simulation_framework.motion.earth_motion import EarthMotion, on_earth
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.sensors.files import (
    find_imu_specification,
    load_imu_specification,
    read_magnetic_environment,
)
from imu_simulation_framework.sensors.imu_models.base import (
    MAGNETIC_PARTS,
    SIGNALS,
    ImuModel,
    ImuSamples,
    ImuTruth,
)
from imu_simulation_framework.sensors.imu_models.plugins import (
    GenericParameters,
    HectorParameters,
    IdealParameters,
)
from imu_simulation_framework.sensors.imu_models.registry import IMU_MODELS, PRESETS, make_imu_model
from imu_simulation_framework.sensors.imu_models.specification import (
    SpecificationImu,
    SpecificationParameters,
)
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sensors.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.sensors.operation import Operation

ImuErrors = Union[
    ImuSpecification,
    IdealParameters,
    GenericParameters,
    HectorParameters,
    SpecificationParameters,
    str,
]
"""What says which errors an IMU has: a specification, a plug-in's parameters, or the name of a
model or of a set of its parameters (``PRESETS`` of :mod:`.sensors.imu_models.registry`)."""


def imu_truth(
    motion: Motion | EarthMotion,
    magnetic_environment: MagneticEnvironment | None = None,
    wheel_torque: np.ndarray | None = None,
    speed: bool = False,
) -> ImuTruth:
    """Return what an IMU without errors would say, as means since the sample before.

    ``motion``: of the IMU itself, n samples. On the turning Earth the gyroscope feels its turning,
    and orientation and magnetic field are against east, north, up where the IMU is.
    ``magnetic_environment``: without one there is no magnetic field. What disturbs it is, on the
    turning Earth, in the level plane at the motion's first sample. ``wheel_torque`` (n, 2): of the
    motors of the left and the right wheel [N m], for their own fields. ``speed``: whether it shall
    have the speed, for an IMU that :attr:`~.ImuModel.feels_speed`.
    """
    rate, force = motion.means()
    orientation, field = motion.orientation, None
    if isinstance(motion, EarthMotion):
        orientation = motion.local_orientation
    if magnetic_environment is not None:
        local = motion.local() if isinstance(motion, EarthMotion) else motion
        field = magnetic_environment.felt(local.position, orientation, wheel_torque)
    speeds = np.linalg.norm(motion.velocity, axis=1) if speed else None
    return ImuTruth(orientation, rate, force, field, speeds)


def imu_model(imu: ImuErrors, period: float, seed: int | np.random.SeedSequence = 0) -> ImuModel:
    """Return the model that has these errors.

    Raises :class:`.ConfigurationError`: it is nothing of the kind, or does not go with the period.

    ``period``: time from one sample to the next [s]. ``seed``: of all runs.
    """
    if isinstance(imu, str):
        return make_imu_model(imu, {}, period, seed)
    if isinstance(imu, ImuSpecification):
        imu = SpecificationParameters(imu)
    for kind in IMU_MODELS.values():
        if isinstance(imu, kind.parameters):
            return kind.model(imu, period, seed)
    raise ConfigurationError(
        f"an IMU's errors are an ImuSpecification, parameters of a plug-in or the name of a "
        f"model, but this is a {type(imu).__name__}"
    )


def operated(
    imu: ImuErrors, operation: Operation | None, motion: Motion | EarthMotion
) -> ImuErrors:
    """Return the errors of an IMU that is used like that on a motion.

    Raises :class:`.ConfigurationError`: it is no specified IMU, of which alone the heading comes
    from the gyroscope.
    """
    if operation is None:
        return imu
    specification = imu.specification if isinstance(imu, SpecificationParameters) else imu
    if not isinstance(specification, ImuSpecification):
        raise ConfigurationError(
            "an operation is that of a specified IMU: the yaw of a plug-in is not its gyroscope's"
        )
    latitude = None
    if isinstance(motion, EarthMotion):
        latitude = math.degrees(float(motion.latitude_longitude_height[0, 0]))
    return SpecificationParameters(specification, operation, latitude)


def named_errors(name) -> ImuErrors:
    """Return the errors of an IMU model, ``ideal`` or ``hector_slow``, or of a bundled IMU.

    Raises :class:`.ConfigurationError`: there is none of that name, nor such a file.
    """
    preset = PRESETS.get(str(name))
    if preset is not None:
        return IMU_MODELS[preset.model].parameters(**preset.parameters)
    try:
        path = find_imu_specification(name)
    except ConfigurationError as error:
        models = ", ".join(sorted(PRESETS))
        raise ConfigurationError(f"{str(error).rstrip('.')}, and the models {models}.") from None
    return load_imu_specification(path)


@by_name(imu=named_errors, magnetic_environment=read_magnetic_environment)
def simulate_imu(
    motion: Motion | EarthMotion,
    imu: ImuErrors,
    seed: int = 1,
    run: int = 0,
    magnetic_environment: MagneticEnvironment | None = None,
    wheel_torque: np.ndarray | None = None,
    latitude: float | None = None,
    operation: Operation | None = None,
) -> pd.DataFrame:
    """Return what an IMU with these errors says of a motion.

    Raises :class:`.MotionError`: the motion is not evenly sampled, or the latitude is beyond a
    pole; :class:`.ConfigurationError`: the IMU's errors are no such thing, its rate does not go
    with the motion's, or a latitude is given for a motion that is on the Earth already.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Of the IMU itself (:meth:`.Motion.mounted`), evenly sampled. On the turning Earth roll,
        pitch and yaw are against east, north, up where the IMU is.
    imu : ImuErrors
        A sensor slower than the motion is sampled gives its own, fewer samples, each the mean
        since the one before.
    seed : int
        Of all runs.
    run : int
        Which one. It has the same numbers whatever other runs there are.
    magnetic_environment : MagneticEnvironment, optional
        What its magnetometer is in, if it has one; without, it measures nothing.
    wheel_torque : ndarray, shape (n, 2), optional
        Of the motors of the left and the right wheel [N m]; without, they have no current.
    latitude : float, optional
        Where on the turning Earth a :class:`.Motion` is, x to the east (:func:`.on_earth`) [deg];
        without, the Earth does not turn.
    operation : Operation, optional
        How a specified sensor is used: zeroed at standstill, before the motion and at the motion's
        own stops (:meth:`.Operation.moved` gives it some). Without, readings are as the sensor has
        them, as it is switched on.

    Returns
    -------
    pandas.DataFrame
        ImuRecord, with the motion's times: roll, pitch, yaw [rad], gyro_x, gyro_y, gyro_z [rad/s],
        accel_x, accel_y, accel_z [m/s^2]. The yaw begins within half a turn of the true one.
        With a magnetometer in an environment also mag_x, mag_y, mag_z [T].
    """
    if latitude is not None:
        if isinstance(motion, EarthMotion):
            raise ConfigurationError(
                "latitude has no meaning for an EarthMotion, which is on the turning Earth already"
            )
        motion = on_earth(motion, latitude)
    model = imu_model(operated(imu, operation, motion), motion.period, seed)
    truth = imu_truth(motion, magnetic_environment, wheel_torque, model.feels_speed)
    magnetic = truth.magnetic_field is not None and model.has_magnetometer
    parts = (*SIGNALS, *MAGNETIC_PARTS) if magnetic else SIGNALS
    reading = model.batch(truth, 1, first_run=run, parts=parts)
    orientation, rate, force = (getattr(reading, name)[0] for name in SIGNALS)
    angles = roll_pitch_yaw_from_quaternion(orientation)
    yaw = yaw_from_quaternion(truth.orientation[0])
    angles[:, 2] = unwrap(angles[:, 2])
    angles[:, 2] += 2.0 * np.pi * np.round((yaw - angles[0, 2]) / (2.0 * np.pi))
    columns, values = list(IMU_RECORD), [angles, rate, force]
    if magnetic:
        columns += MAG
        values.append(reading.magnetic_field[0])
    table = pd.DataFrame(np.hstack(values), pd.Index(motion.time, name="time"), columns)
    return table[model.new_samples(len(table))]


BLOCK = 16_384
"""Samples of a block."""


def record_at_rest(
    specification: ImuSpecification, samples: int, rate: float, seed
) -> Iterator[ImuSamples]:
    """Simulate an IMU that stands level and still, without the Earth's rotation.

    Raises :class:`.ConfigurationError`: the rate is not positive, or the specification's filter is
    not installed.

    ``specification``: its output's start offset does not count. ``samples``: how many in all.
    ``rate``: samples per second, whatever the specification says [Hz]. ``seed`` (int or
    numpy.random.SeedSequence).

    Yields
    ------
    ImuSamples
        Up to :data:`BLOCK` samples, with times from 0.
    """
    output = replace(specification.output, rate=rate, start_offset=0.0)
    parameters = SpecificationParameters(replace(specification, output=output))
    imu = SpecificationImu(parameters, 1.0 / rate, seed)
    for first in range(0, samples, BLOCK):
        count = min(BLOCK, samples - first)
        reading = imu.advance(ImuTruth.at_rest(count))
        time = np.arange(first, first + count) / rate
        yield ImuSamples(time, *(getattr(reading, name) for name in SIGNALS))
