"""What figures of a flight show: an IMU's samples beside the truth, and a navigator's errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from imu_simulation_framework.evaluation.navigation.errors_of_runs import NavigationErrors
from imu_simulation_framework.evaluation.navigation.runs import navigate_runs
from imu_simulation_framework.experiment.flight.airborne import AirborneImu
from imu_simulation_framework.gimbal.joints import JOINTS
from imu_simulation_framework.gimbal.profiles import SinusoidalJoints
from imu_simulation_framework.gimbal.simulation import simulate_gimbal
from imu_simulation_framework.gimbal.specification import GimbalSpecification
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.sources import standing
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sensors.simulation import ImuErrors, imu_model, imu_truth

PERIODS = 3.0
"""Of a joint's swinging that figures 5 and 6 show."""

AROUND_LIFT_OFF = (10.0, 25.0)
"""Time before and after the lift-off that figure 7 shows [s]."""


class Sensed(NamedTuple):
    """``time`` (n,) [s]; ``measured`` and ``true``, each specific force and angular velocity.

    Those are (n, 3) each [m/s^2; rad/s], in the IMU's axes, as means since the sample before.
    """

    time: np.ndarray
    measured: tuple[np.ndarray, np.ndarray]
    true: tuple[np.ndarray, np.ndarray]

    def between(self, begin: float, end: float) -> Sensed:
        """Return what is from one time to another [s]."""
        inside = (self.time >= begin) & (self.time <= end)
        return Sensed(
            self.time[inside],
            (self.measured[0][inside], self.measured[1][inside]),
            (self.true[0][inside], self.true[1][inside]),
        )


class Navigated(NamedTuple):
    """``errors`` of some runs of a navigator, and their ``rmse`` as a table, a row for each run."""

    errors: NavigationErrors
    rmse: pd.DataFrame


def sensed(motion: EarthMotion, imu: ImuErrors, seed: int = 1) -> Sensed:
    """Return what an IMU says of a motion, beside the truth.

    Parameters
    ----------
    motion : EarthMotion
        Of the IMU, evenly sampled.
    imu : ImuErrors
    seed : int

    Raises
    ------
    ConfigurationError
        The IMU does not go with the motion's rate.
    """
    model = imu_model(imu, motion.period, seed)
    truth = imu_truth(motion, speed=model.feels_speed)
    reading = model.batch(truth, 1, parts=("angular_velocity", "specific_force"))
    new = np.asarray(model.new_samples(len(motion)), dtype=bool)
    return Sensed(
        motion.time[new],
        (reading.specific_force[0][new], reading.angular_velocity[0][new]),
        (truth.specific_force[new], truth.angular_velocity[new]),
    )


def sensed_in_flight(flown: AirborneImu) -> Sensed:
    """Return what the IMU of a flight said, beside the truth."""
    rows = np.searchsorted(flown.stamps, flown.imu_stamps)
    rate, force = flown.imu_motion.means()
    return Sensed(
        flown.imu_motion.time[rows],
        (flown.imu[:, 7:], flown.imu[:, 4:7]),
        (force[rows], rate[rows]),
    )


def joint_alone(
    joint: str,
    gimbal: GimbalSpecification,
    imu: ImuErrors,
    place: np.ndarray,
    rate: float = 100.0,
    seed: int = 1,
) -> Sensed:
    """Return what an IMU says while one joint swings on a platform that stands.

    Parameters
    ----------
    joint : str
        ``pan``, ``tilt`` or ``roll``.
    gimbal : GimbalSpecification
        Whose joints swing as sines.
    imu : ImuErrors
    place : ndarray, shape (3,)
        Latitude, longitude [rad], height [m].
    rate : float
        Of the motion [Hz].
    seed : int
    """
    number, drive = JOINTS.index(joint), gimbal.drive
    assert isinstance(drive, SinusoidalJoints)
    pan, tilt, roll = (size * (k == number) for k, size in enumerate(drive.amplitudes))
    alone = replace(drive, amplitudes=(pan, tilt, roll), offsets=(0.0, 0.0, 0.0))
    latitude, longitude = np.degrees(place[:2]).tolist()
    duration = PERIODS * drive.periods[number]
    platform = standing(duration, latitude, longitude, float(place[2]), rate=rate)
    carried = simulate_gimbal(platform, replace(gimbal, drive=alone), imu, seed).motion
    assert isinstance(carried, EarthMotion)
    return sensed(carried, imu, seed)


def navigated(
    motion: EarthMotion,
    imu: ImuSpecification,
    gnss: GnssSpecification,
    runs: int = 1,
    seed: int = 1,
) -> Navigated:
    """Return how a loosely coupled navigator errs whose receiver is beside the IMU.

    Parameters
    ----------
    motion : EarthMotion
        Of the IMU, evenly sampled.
    imu : ImuSpecification
    gnss : GnssSpecification
        Its lever arm is not used.
    runs : int
    seed : int

    Raises
    ------
    ConfigurationError
        The motion's rate is no multiple of the receiver's or of the IMU's.
    """
    beside = replace(gnss, lever_arm=(0.0, 0.0, 0.0))
    found = navigate_runs(motion, imu, beside, runs, seed)
    return Navigated(found.errors, found.errors.rmse())


def swinging(gimbal: GimbalSpecification, otherwise: GimbalSpecification) -> GimbalSpecification:
    """Return a gimbal whose joints swing as sines: this one, or another one."""
    drive: Any = gimbal.drive
    swings = isinstance(drive, SinusoidalJoints) and all(size > 0.0 for size in drive.amplitudes)
    return gimbal if swings else otherwise
