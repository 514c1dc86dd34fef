"""All that is measured and published of a flight, sample by sample, without ROS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, cast

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from imu_simulation_framework.checked_values import checked_choice, checked_number
from imu_simulation_framework.columns import GNSS_RECORD
from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.gimbal.simulation import simulate_gimbal
from imu_simulation_framework.gimbal.specification import GimbalSpecification
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.ellipsoid import geodetic_of
from imu_simulation_framework.motion.flight.states import FlightStates
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.noise.streams import child_seed, run_seed
from imu_simulation_framework.sensors.gnss.earth_fixes import record_earth_fixes
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification
from imu_simulation_framework.sensors.imu_models import SIGNALS
from imu_simulation_framework.sensors.simulation import ImuErrors, imu_model, imu_truth

GNSS_PLACES = ("body", "imu")
"""Where the receiver's antenna is: on the airframe, or, as no real one is, beside the IMU."""

_GNSS_CHILD = 1
"""Child of the seed that the receiver draws from, another one than the IMU's."""


@dataclass(frozen=True)
class Tick:
    """What belongs to one period of time; the arrays are those of its samples.

    Attributes
    ----------
    stamps : ndarray of int, shape (n,)
        Of all of the motion's samples [ns].
    truth, imu_truth : ndarray, shape (n, 13)
        Of the body and of the IMU: position and orientation in the world, velocity and angular
        velocity against the Earth in their own axes.
    imu_stamps : ndarray of int, shape (m,)
        Of the IMU's samples [ns].
    imu : ndarray, shape (m, 10)
        Orientation, angular velocity and specific force, as the IMU says them.
    fixes : pandas.DataFrame
        GnssRecord, those that have arrived since the period before.
    links : ndarray, shape (4, 7)
        Where pan, tilt, roll and imu are at the last sample, each on the one before: place [m] and
        quaternion.
    """

    stamps: np.ndarray
    truth: np.ndarray
    imu_truth: np.ndarray
    imu_stamps: np.ndarray
    imu: np.ndarray
    fixes: pd.DataFrame
    links: np.ndarray


class AirborneImu:
    """A flight with an IMU on a gimbal and a GNSS receiver.

    The world is the level plane that touches the Earth where the flight begins, its axes are east,
    north and up there.

    Parameters
    ----------
    states : FlightStates
        Of the aircraft.
    gimbal : GimbalSpecification
    imu : ImuErrors
        As for :func:`.simulate_imu`.
    gnss : GnssSpecification, optional
        Without one there are no fixes.
    rate : float
        Samples per second of the motion, whose means an IMU measures [Hz].
    seed, run : int
        Of every random number.
    gnss_on : str
        Which of :data:`GNSS_PLACES` the antenna's lever arm belongs to.

    Attributes
    ----------
    origin : ndarray, shape (3,)
        Of the world: latitude, longitude [rad], height [m].
    remarks : tuple of str
        What the gimbal has to say.
    covariances, magnetic_covariance : tuple
        Of the IMU's orientation, angular velocity and specific force, nine numbers each, and of its
        magnetometer.

    Raises
    ------
    MotionError
        The flight is too short.
    ConfigurationError
        A value is not what it must be, or gimbal, IMU or receiver do not go with the rate.
    """

    def __init__(
        self,
        states: FlightStates,
        gimbal: GimbalSpecification,
        imu: ImuErrors,
        gnss: GnssSpecification | None = None,
        rate: float = 100.0,
        seed: int = 1,
        run: int = 0,
        gnss_on: str = "body",
    ) -> None:
        rate = checked_number("rate", rate, above=0.0, maximum=1e4)
        checked_choice("gnss_on", gnss_on, GNSS_PLACES)
        first, last = float(states.time[0]), float(states.time[-1])
        count = int((last - first) * rate + 1e-6) + 1
        if count < 4:
            raise MotionError(f"the flight lasts {last - first:g} s, which is too short")
        time = np.minimum(first + np.arange(count) / rate, last)
        self.body = states.motion(at=time)
        carried = simulate_gimbal(self.body, gimbal, imu, seed, run)
        self.imu_motion = cast(EarthMotion, carried.motion)  # as the platform's
        self.joints = carried.joints
        self.geometry, self.remarks = carried.geometry, carried.remarks
        self.residual = carried.residual
        self.origin = geodetic_of(self.body.position[0])
        self.stamps = np.rint(time * NANOSECONDS).astype(np.int64)
        self.truth = _rows(self.body.local(self.origin))
        self.imu_truth = _rows(self.imu_motion.local(self.origin))
        self._measure(imu, seed, run)
        self.gnss = gnss
        self.fixes = pd.DataFrame(columns=list(GNSS_RECORD), index=pd.Index([], name="time"))
        if gnss is not None:
            receiver = self.body if gnss_on == "body" else self.imu_motion
            self.fixes = record_earth_fixes(
                receiver, gnss, child_seed(run_seed(seed, run), _GNSS_CHILD)
            )

    def _measure(self, imu, seed, run):
        model = imu_model(imu, self.imu_motion.period, seed)
        truth = imu_truth(self.imu_motion, speed=model.feels_speed)
        reading = model.batch(truth, 1, first_run=run, parts=SIGNALS)
        new = model.new_samples(len(self.stamps))
        self.imu_stamps = self.stamps[new]
        self.imu = np.hstack([getattr(reading, name)[0] for name in SIGNALS])[new]
        self.covariances = model.covariances()
        self.magnetic_covariance = model.magnetic_covariance()

    def ticks(self, period: float) -> Iterator[Tick]:
        """Yield the flight in periods of time.

        Parameters
        ----------
        period : float
            Of at least a sample [s].

        Raises
        ------
        ConfigurationError
            It is not positive.
        """
        period = checked_number("period", period, above=0.0)
        samples = max(1, round(period / self.body.period))
        begins = np.arange(0, len(self.stamps), samples)
        ends = np.minimum(begins + samples, len(self.stamps))
        arrival = np.rint(self.fixes["arrival"].to_numpy(dtype=float) * NANOSECONDS)
        # Up to and with each period's last sample.
        measured = np.searchsorted(self.imu_stamps, self.stamps[ends - 1], side="right")
        arrived = np.searchsorted(arrival, self.stamps[ends - 1], side="right")
        links = np.stack(
            [
                np.hstack([np.tile(link.translation, (len(ends), 1)), link.rotation])
                for link in self.geometry.links(self.joints.angle[ends - 1]).values()
            ],
            axis=1,
        )
        imu_from = fixes_from = 0
        for index, (begin, end) in enumerate(zip(begins, ends)):
            imu_to, fixes_to = measured[index], arrived[index]
            yield Tick(
                self.stamps[begin:end],
                self.truth[begin:end],
                self.imu_truth[begin:end],
                self.imu_stamps[imu_from:imu_to],
                self.imu[imu_from:imu_to],
                self.fixes.iloc[fixes_from:fixes_to],
                links[index],
            )
            imu_from, fixes_from = imu_to, fixes_to


def _rows(motion: Motion) -> np.ndarray:
    """Return position, orientation, and both velocities in the body's axes, (n, 13)."""
    velocity = Rotation.from_quat(motion.orientation).inv().apply(motion.velocity)
    return np.hstack([motion.position, motion.orientation, velocity, motion.angular_velocity])
