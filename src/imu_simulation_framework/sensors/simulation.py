"""What an IMU says of a motion: from a motion and an IMU's errors to a table of its samples."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Iterator, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core.angles import roll_pitch_yaw_from_quaternion, unwrap, yaw_from_quaternion
from ..core.errors import ConfigurationError, StepError
from ..core.settings import check_number
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

ImuErrors = Union[
    ImuSpecification,
    plugins.IdealParameters,
    plugins.GenericParameters,
    plugins.HectorParameters,
    SpecificationParameters,
    str,
]
"""What says which errors an IMU has: a specification, a plug-in's parameters, or the name of a
model or of a set of its parameters (``PRESETS`` of :mod:`.sensors.imu_models.plugins`)."""


def imu_truth(
    motion: Motion | EarthMotion,
    magnetic_environment: MagneticEnvironment | None = None,
    wheel_torque: np.ndarray | None = None,
    speed: bool = False,
) -> ImuTruth:
    """Return what an IMU without errors would say, as means since the sample before.

    ``motion``: of the IMU itself, n samples. On the turning Earth orientation and magnetic field
    are against east, north, up where the IMU is, and what disturbs the field is in the level plane
    at the motion's first sample. ``wheel_torque`` (n, 2): of the motors of the left and the right
    wheel [N m], for their own fields. ``speed``: whether it shall have the speed, for an IMU that
    :attr:`~.ImuModel.requires_speed`.
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
    """Return the model that has these errors, of samples of this period [s]; ``seed``: of all runs.

    Raises :class:`.ConfigurationError`: it is nothing of the kind, or does not go with the period.
    """
    if isinstance(imu, str):
        return plugins.make_imu_model(imu, {}, period, seed)
    if isinstance(imu, ImuSpecification):
        imu = SpecificationParameters(imu)
    for kind in plugins.IMU_MODELS.values():
        if isinstance(imu, kind.parameters):
            return kind.model(imu, period, seed)
    raise ConfigurationError(
        f"an IMU's errors are an ImuSpecification, parameters of a plug-in or the name of a "
        f"model, but this is a {type(imu).__name__}"
    )


def operated(
    imu: ImuErrors, operation: Operation | None, motion: Motion | EarthMotion
) -> ImuErrors:
    """Return the errors of a specified IMU that is used like that on a motion; or raise."""
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
    """Return the errors of an IMU model, ``ideal``, of a bundled IMU, or of a file; or raise."""
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
    """Return what an IMU with these errors says of a motion.

    Raises :class:`.MotionError`: the motion is not evenly sampled, or the latitude is beyond a
    pole; :class:`.ConfigurationError`: the IMU's errors are no such thing, its rate does not go
    with the motion's, or a latitude is given for a motion that is on the Earth already.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Of the IMU itself (:meth:`.SampledMotion.mounted`), evenly sampled. On the turning Earth
        roll, pitch and yaw are against east, north, up where the IMU is.
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


BLOCK = 16_384  # samples


def record_at_rest(
    specification: ImuSpecification, samples: int, rate: float, seed
) -> Iterator[ImuSamples]:
    """Yield blocks of an IMU that stands level and still, without the Earth's rotation.

    ``specification``: its output's rate and start offset do not count. ``samples``: how many in
    all. ``rate`` [Hz]. ``seed`` (int or numpy.random.SeedSequence). Raises
    :class:`.ConfigurationError`: the rate is not positive, or the specification's filter is not
    installed.
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
    """A specified IMU, or many, one sample a step, for a simulation that has a loop of its own.

    Member i of many, or the only one, is run ``run + i`` of the seed: it gives the numbers that
    :func:`simulate_imu` gives in this run at this rate, whatever other members there are, and where
    the specification is any unit of a part, it is that run's unit. Readings are those of gyroscope,
    accelerometer and magnetometer; an orientation is not fused of them.

    Raises :class:`.StepError`, which is a ValueError: there is no such specification, the rate is
    not positive, there is no member, or what the specification says depends on the speed.

    Parameters
    ----------
    specification : ImuSpecification, str or path
        Or the name of a bundled one, or its file. Its output's rate and start offset do not count.
    rate : float
        Steps, and samples, per second [Hz].
    seed : int or numpy.random.SeedSequence
        Of all runs.
    count : int, optional
        How many members there are; all arrays then have them as their first axis. Without, there is
        one IMU, and no such axis.
    run : int
        That of the first member.
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
            raise StepError("vibration depends on the speed, which no step is told; leave it out")
        if count is not None and count < 1:
            raise StepError(f"count is {count}, but there must be at least one IMU")
        self.specification, self.count = specification, count
        self._seed, self._period, self._members = seed, 1.0 / self.rate, count or 1
        self._common = create_triads(specification, self._period)
        # The run of each member, and how many steps of it were made.
        self._runs = run + np.arange(self._members)
        self._steps = np.zeros(self._members)
        units, noises = self._begun(self._runs)
        self._noises = [noise[0].stack(noise) for noise in noises]
        self._triads = self._common
        if specification.is_any_unit:
            self._triads = [triads[0].stack(triads) for triads in units]
        self._limits = [triad.band_limit() for triad in self._triads]

    def _begun(self, runs):
        """Return of each triad the units, and the noises, of runs that begin."""
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
        """Let members begin anew, each in the run that is ``count`` after its last one.

        ``indices``: numbers of members, or a mask of bool (count,); by default all begin anew.
        Raises :class:`.StepError`: there are no such members.
        """
        try:
            members: np.ndarray = np.arange(self._members)
            if indices is not None:
                members = members[np.asarray(indices) if np.size(indices) else []]
        except IndexError:
            raise StepError(
                f"indices must be those of {self._members} members, from 0 on, or a mask of as many"
            ) from None
        members = np.unique(members)
        if not len(members):
            return
        self._runs[members] += self._members
        self._steps[members] = 0.0
        units, noises = self._begun(self._runs[members])
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
        """Return the next sample of each member.

        Raises :class:`.StepError`: they are not three finite numbers for each member, ``dt`` is not
        the rate's, or there is a field and no magnetometer.

        Parameters
        ----------
        angular_velocity : array_like, shape (3,) or (count, 3)
            True, in the IMU's axes, as the mean since the step before [rad/s].
        specific_force : array_like, shape (3,) or (count, 3)
            Likewise: the acceleration less gravity's, +9.8 on z at rest [m/s^2].
        dt : float, optional
            Since the step before, to be checked [s].
        magnetic_field : array_like, shape (3,) or (count, 3), optional
            In the IMU's axes [T]; without, its magnetometer measures nothing.

        Returns
        -------
        ImuReading
            ``angular_velocity``, ``specific_force``, ``angular_velocity_bias`` and
            ``specific_force_bias``, and with a field ``magnetic_field``, in these shapes and units.
        """
        if dt is not None and not abs(dt - self._period) <= 1e-6 * self._period:
            raise StepError(
                f"dt is {dt:g} s, but an IMU of {self.rate:g} Hz takes steps of {self._period:g} s"
            )
        names = (*SIGNALS[1:], *MAGNETIC_PARTS)
        given = [angular_velocity, specific_force]
        if magnetic_field is not None:
            if len(self._triads) < 3:
                raise StepError(f"{self.specification.name} has no magnetometer")
            given.append(magnetic_field)
        truth = [self._checked(*signal) for signal in zip(names, given)]
        time = (self._steps * self._period)[np.newaxis, :, np.newaxis]
        parts = {}
        for name, signal, triad, noises, limit in zip(
            names, truth, self._triads, self._noises, self._limits
        ):
            noise, bias = (np.ascontiguousarray(one.T)[np.newaxis] for one in noises.step())
            of_truth = triad.respond(signal, truth[1], time)
            reading, bias = triad.read(of_truth, noise, bias, time, limit, None)
            parts[name], parts[f"{name}_bias"] = (
                one[0, 0] if self.count is None else one[0] for one in (reading, bias)
            )
        parts.pop("magnetic_field_bias", None)
        self._steps += 1.0
        return ImuReading(**parts)

    def _checked(self, name, signal):
        """Return a signal as one sample of all members, (1, members, 3)."""
        expected = (3,) if self.count is None else (self.count, 3)
        try:
            values = np.asarray(signal, dtype=float)
        except (ValueError, TypeError) as error:
            raise StepError(f"{name} must be numbers: {error}") from None
        if values.shape != expected:
            raise StepError(f"{name} has the shape {values.shape}, but it must have {expected}")
        if not np.isfinite(values).all():
            raise StepError(f"{name} is not finite in {np.sum(~np.isfinite(values))} numbers")
        return values.reshape(1, -1, 3)
