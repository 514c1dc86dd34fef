"""Simulation of the samples of an IMU from a motion and the errors of the IMU."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Iterator, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core.angles import roll_pitch_yaw_from_quaternion, unwrap, yaw_from_quaternion
from ..core.checks import check_number
from ..core.errors import ConfigurationError, StepError
from ..core.tables import IMU_RECORD, MAG
from ..core.yaml_files import accept_names
from ..motion.earth_motion import EarthMotion, on_earth
from ..motion.motion import Motion
from .files import find_imu_specification, load_imu_specification, read_imu_specification
from .imu_models import plugins
from .imu_models.base import MAGNETIC_PARTS, SIGNALS, ImuModel, ImuReading, ImuSamples, ImuTruth
from .imu_models.specification import SpecificationImu, SpecificationParameters
from .imu_specification import ImuSpecification
from .magnetism.environment import MagneticEnvironment, read_magnetic_environment
from .noise.streams import child_seed, run_seed
from .operation import Operation
from .triad_errors import create_triads

# Errors of an IMU: a specification, plug-in parameters, or the name of a model or preset.
ImuErrors = Union[
    ImuSpecification,
    plugins.IdealParameters,
    plugins.GenericParameters,
    plugins.HectorParameters,
    SpecificationParameters,
    str,
]


def imu_truth(
    motion: Motion | EarthMotion,
    magnetic_environment: MagneticEnvironment | None = None,
    wheel_torque: np.ndarray | None = None,
    speed: bool = False,
) -> ImuTruth:
    """Compute the ideal signals of an IMU along a motion, averaged since the previous sample.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion of the IMU itself, n samples. On the rotating Earth, orientation and magnetic field
        are relative to the local east, north, up, and magnetic bodies are placed in the horizontal
        plane at the first sample of the motion.
    magnetic_environment : MagneticEnvironment, optional
        Field around the IMU; by default there is no field.
    wheel_torque : ndarray, shape (n, 2), optional
        Torques of the motors of the left and the right wheel [N m], for the fields of the motors.
    speed : bool
        Whether to compute the speed, which is required if ``ImuModel.requires_speed``.

    Returns
    -------
    ImuTruth
    """
    rate, force = motion.means()
    orientation, field = motion.local_orientation, None
    if magnetic_environment is not None:
        field = magnetic_environment.measured_field(
            motion.local().position, orientation, wheel_torque
        )
    speeds = np.linalg.norm(motion.velocity, axis=1) if speed else None
    return ImuTruth(orientation, rate, force, field, speeds)


def imu_model(imu: ImuErrors, period: float, seed: int | np.random.SeedSequence = 0) -> ImuModel:
    """Create the model of an IMU from its errors and sampling period.

    Parameters
    ----------
    imu : ImuErrors
        Errors of the IMU.
    period : float
        Period of the samples [s].
    seed : int or numpy.random.SeedSequence
        Seed of all runs.

    Returns
    -------
    ImuModel

    Raises
    ------
    ConfigurationError
        If the errors have an unsupported type, or do not match the period.
    """
    if isinstance(imu, str):
        return plugins.make_imu_model(imu, {}, period, seed)
    if isinstance(imu, ImuSpecification):
        imu = SpecificationParameters(imu)
    for kind in plugins.IMU_MODELS.values():
        if isinstance(imu, kind.parameters):
            return kind.model(imu, period, seed)
    raise ConfigurationError(
        f"errors of an IMU are of type {type(imu).__name__}, expected ImuSpecification, parameters "
        "of a plug-in, or the name of a model"
    )


def operated(
    imu: ImuErrors, operation: Operation | None, motion: Motion | EarthMotion
) -> ImuErrors:
    """Add gyroscope zeroing to the errors of an IMU.

    Parameters
    ----------
    imu : ImuErrors
        Errors of the IMU.
    operation : Operation or None
        Gyroscope zeroing; None for no zeroing.
    motion : Motion or EarthMotion
        Motion, whose latitude is used if it is on the Earth.

    Returns
    -------
    ImuErrors

    Raises
    ------
    ConfigurationError
        If an operation is set and the errors are not those of a specification.
    """
    if operation is None:
        return imu
    specification = imu.specification if isinstance(imu, SpecificationParameters) else imu
    if not isinstance(specification, ImuSpecification):
        raise ConfigurationError(
            f"operation is set for {type(imu).__name__}, expected an ImuSpecification: the yaw of "
            "a plug-in does not come from its gyroscope"
        )
    latitude = None
    if isinstance(motion, EarthMotion):
        latitude = math.degrees(float(motion.latitude_longitude_height[0, 0]))
    return SpecificationParameters(specification, operation, latitude)


def named_errors(name) -> ImuErrors:
    """Return the errors of an IMU, given by the name of a model or bundled IMU, or by a file.

    Parameters
    ----------
    name : str or path
        Name of a model, name of a bundled specification, or path of a specification.

    Returns
    -------
    ImuErrors

    Raises
    ------
    ConfigurationError
        If there is no such model or specification, or the file is invalid.
    """
    preset = plugins.PRESETS.get(str(name))
    if preset is not None:
        return plugins.IMU_MODELS[preset.model].parameters(**preset.parameters)
    try:
        path = find_imu_specification(name)
    except ConfigurationError as error:
        models = ", ".join(sorted(plugins.PRESETS))
        raise ConfigurationError(f"{str(error).rstrip('.')}, and the models {models}.") from None
    return load_imu_specification(path)


@accept_names(imu=named_errors, magnetic_environment=read_magnetic_environment)
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
    """Simulate the output of an IMU, with its errors, along a motion.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Evenly sampled motion of the IMU itself (:meth:`.SampledMotion.mounted`). On the rotating
        Earth, roll, pitch and yaw are relative to the local east, north, up.
    imu : ImuErrors
        Errors of the IMU. A sensor with a lower rate than the motion outputs fewer samples, each of
        which is the mean since the previous sample.
    seed : int
        Seed of all runs.
    run : int
        Number of the run, whose random numbers do not depend on other runs.
    magnetic_environment : MagneticEnvironment, optional
        Field around a magnetometer; by default it measures nothing.
    wheel_torque : ndarray, shape (n, 2), optional
        Torques of the motors of the left and the right wheel [N m]; by default they have no
        current.
    latitude : float, optional
        Latitude [deg] on the rotating Earth of a :class:`.Motion` with x to the east
        (:func:`.on_earth`); by default the Earth does not rotate.
    operation : Operation, optional
        Gyroscope zeroing of a specified sensor at standstill, before the motion and at stops of the
        motion (:meth:`.Operation.insert_stops` adds stops). By default readings are not zeroed.

    Returns
    -------
    pandas.DataFrame
        ImuRecord, with the motion's times: roll, pitch, yaw [rad], gyro_x, gyro_y, gyro_z [rad/s],
        accel_x, accel_y, accel_z [m/s^2]. The yaw begins within half a turn of the true yaw.
        With a magnetometer in an environment also mag_x, mag_y, mag_z [T].

    Raises
    ------
    MotionError
        If the motion is not evenly sampled, or the latitude is not between -90 and 90 degrees.
    ConfigurationError
        If the errors have an unsupported type, the IMU's rate does not match the motion's rate, or
        a latitude is combined with an EarthMotion.

    Examples
    --------
    >>> motion = isf.straight(60.0, speed=1.0)
    >>> samples = isf.simulate_imu(motion, "bno055", seed=1)
    >>> samples.shape
    (6001, 9)
    """
    if latitude is not None:
        if isinstance(motion, EarthMotion):
            raise ConfigurationError(
                "latitude is set together with an EarthMotion, which already has one; leave it out"
            )
        motion = on_earth(motion, latitude)
    model = imu_model(operated(imu, operation, motion), motion.period, seed)
    truth = imu_truth(motion, magnetic_environment, wheel_torque, model.requires_speed)
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


BLOCK = 16_384  # number of samples


def record_at_rest(
    specification: ImuSpecification, samples: int, rate: float, seed
) -> Iterator[ImuSamples]:
    """Simulate an IMU that is level and at rest without Earth rotation, in blocks of samples.

    Parameters
    ----------
    specification : ImuSpecification
        Errors of the IMU; the rate and start offset of its output are ignored.
    samples : int
        Total number of samples in all blocks.
    rate : float
        Sampling rate [Hz].
    seed : int or numpy.random.SeedSequence
        Seed of all runs.

    Yields
    ------
    ImuSamples

    Raises
    ------
    ConfigurationError
        If the rate is not positive, or the library of the specification's filter is not installed.
    """
    output = replace(specification.output, rate=rate, start_offset=0.0)
    parameters = SpecificationParameters(replace(specification, output=output))
    imu = SpecificationImu(parameters, 1.0 / rate, seed)
    for first in range(0, samples, BLOCK):
        count = min(BLOCK, samples - first)
        reading = imu.advance(ImuTruth.at_rest(count))
        time = np.arange(first, first + count) / rate
        yield ImuSamples(time, *(getattr(reading, name) for name in SIGNALS))


class Imu:
    """Simulated IMU, or several in parallel, to be stepped in a user-defined simulation loop.

    Member i, or a single IMU with i = 0, is run ``run + i`` of the seed: it has the same random
    numbers as :func:`simulate_imu` in this run at this rate, independent of other members. If the
    specification is that of a part number, each run simulates another individual sensor.
    Readings are those of gyroscope, accelerometer and magnetometer, without a fused orientation.

    Parameters
    ----------
    specification : ImuSpecification, str or path
        Specification, name of a bundled specification, or its file. The rate and start offset of
        its output are ignored.
    rate : float
        Rate of steps and of samples [Hz].
    seed : int or numpy.random.SeedSequence
        Seed of all runs.
    count : int, optional
        Number of members, which is the length of the first axis of all arrays. By default, there is
        a single IMU without this axis.
    run : int
        Run of the first member.

    Raises
    ------
    StepError
        A ValueError: the specification does not exist or depends on the speed, the rate is not
        positive, or the count is less than 1.

    Examples
    --------
    >>> imu = isf.Imu("bno055", rate=100.0, seed=1)
    >>> reading = imu.step(angular_velocity=(0.0, 0.0, 0.1), specific_force=(0.0, 0.0, 9.81))
    >>> reading.angular_velocity.shape
    (3,)
    """

    def __init__(
        self,
        specification: ImuSpecification | str | os.PathLike[str],
        rate: float,
        seed: int | np.random.SeedSequence = 1,
        count: int | None = None,
        run: int = 0,
    ):
        try:
            if not isinstance(specification, ImuSpecification):
                specification = read_imu_specification(specification)
            self.rate = check_number("The IMU's rate", rate, above=0.0)
        except ConfigurationError as error:
            raise StepError(str(error)) from None
        if specification.vibration.active:
            raise StepError(
                "the specification has vibration, which depends on the speed, but a step has no "
                "speed; remove vibration from the specification"
            )
        if count is not None and count < 1:
            raise StepError(f"count is {count}, expected at least 1")
        self.specification, self.count = specification, count
        self._seed, self._period, self._members = seed, 1.0 / self.rate, count or 1
        self._common = create_triads(specification, self._period)
        # Run index of each ensemble member, and number of steps since the start of that run.
        self._runs = run + np.arange(self._members)
        self._steps = np.zeros(self._members)
        units, noises = self._start_runs(self._runs)
        self._noises = [noise[0].stack(noise) for noise in noises]
        self._triads = self._common
        if specification.is_any_unit:
            self._triads = [triads[0].stack(triads) for triads in units]
        self._limits = [triad.band_limit() for triad in self._triads]

    def _start_runs(self, runs):
        """Create the individual sensors and their noise for new runs."""
        units, noises = [], []
        for seed in (run_seed(self._seed, int(run)) for run in runs):
            unit = self._common
            if self.specification.is_any_unit:
                unit = create_triads(self.specification.draw_unit(seed), self._period)
            units.append(unit)
            noises.append(
                [triad.noise.restarted(child_seed(seed, child)) for child, triad in enumerate(unit)]
            )
        return zip(*units), zip(*noises)

    def reset(self, indices: ArrayLike | None = None) -> None:
        """Restart members in new runs, whose numbers are higher by the number of members.

        Parameters
        ----------
        indices : array_like, optional
            Indices of members, or a Boolean mask of shape (count,); by default all members.

        Raises
        ------
        StepError
            If an index is out of range.
        """
        try:
            members: np.ndarray = np.arange(self._members)
            if indices is not None:
                members = members[np.asarray(indices) if np.size(indices) else []]
        except IndexError:
            raise StepError(
                f"indices are out of range, expected indices below {self._members} or a mask of "
                "that length"
            ) from None
        members = np.unique(members)
        if not len(members):
            return
        self._runs[members] += self._members
        self._steps[members] = 0.0
        units, noises = self._start_runs(self._runs[members])
        for noise, others in zip(self._noises, noises):
            noise.replace_members(members, others)
        if self.specification.is_any_unit:
            for triad, others in zip(self._triads, units):
                triad.replace_members(members, others)
        for limit in filter(None, self._limits):
            limit.replace_members(members)

    def step(
        self,
        angular_velocity: ArrayLike,
        specific_force: ArrayLike,
        dt: float | None = None,
        magnetic_field: ArrayLike | None = None,
    ) -> ImuReading:
        """Simulate the next sample of each member.

        Parameters
        ----------
        angular_velocity : array_like, shape (3,) or (count, 3)
            Ideal angular velocity in the IMU's axes, as the mean since the previous step [rad/s].
        specific_force : array_like, shape (3,) or (count, 3)
            Ideal specific force in the same form: acceleration minus gravity, +9.8 on z at rest
            [m/s^2].
        dt : float, optional
            Time since the previous step [s], which must match the rate.
        magnetic_field : array_like, shape (3,) or (count, 3), optional
            Magnetic field in the IMU's axes [T]; by default the magnetometer outputs nothing.

        Returns
        -------
        ImuReading
            ``angular_velocity``, ``specific_force``, ``angular_velocity_bias`` and
            ``specific_force_bias``, and ``magnetic_field`` if a field is given, in the shapes and
            units of the inputs.

        Raises
        ------
        StepError
            If a signal is not three finite numbers per member, ``dt`` does not match the rate, or a
            field is given for a specification without a magnetometer.
        """
        if dt is not None and not abs(dt - self._period) <= 1e-6 * self._period:
            raise StepError(
                f"dt is {dt:g} s, expected {self._period:g} s for an IMU of {self.rate:g} Hz"
            )
        names = (*SIGNALS[1:], *MAGNETIC_PARTS)
        signals = [angular_velocity, specific_force]
        if magnetic_field is not None:
            if len(self._triads) < 3:
                raise StepError(
                    f"magnetic_field is set, but {self.specification.name} has no magnetometer"
                )
            signals.append(magnetic_field)
        truth = [self._check_signal(*signal) for signal in zip(names, signals)]
        time = (self._steps * self._period)[np.newaxis, :, np.newaxis]
        parts = {}
        for name, signal, triad, noises, limit in zip(
            names, truth, self._triads, self._noises, self._limits
        ):
            noise, bias = (values.T[np.newaxis] for values in noises.step())
            response = triad.respond(signal, truth[1], time)
            reading, bias = triad.read(response, noise, bias, time, limit, None)
            parts[name], parts[f"{name}_bias"] = (
                values[0, 0] if self.count is None else values[0] for values in (reading, bias)
            )
        parts.pop("magnetic_field_bias", None)
        self._steps += 1.0
        return ImuReading(**parts)

    def _check_signal(self, name, signal):
        """Check a signal, and return it as one sample of all members, shape (1, members, 3)."""
        expected = (3,) if self.count is None else (self.count, 3)
        try:
            values = np.asarray(signal, dtype=float)
        except (ValueError, TypeError) as error:
            raise StepError(f"{name} is not an array of numbers: {error}") from None
        if values.shape != expected:
            raise StepError(f"{name} has the shape {values.shape}, expected {expected}")
        if not np.isfinite(values).all():
            count = np.sum(~np.isfinite(values))
            raise StepError(f"{name} has {count} numbers that are not finite, expected none")
        # As in the noise, each axis is contiguous, so that no operation has to transpose.
        return np.ascontiguousarray(values.reshape(-1, 3).T).T[np.newaxis]
