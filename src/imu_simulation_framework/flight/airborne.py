"""Simulation of measurements during a flight, without ROS: samples, tables and messages.

Topics of the node airborne_imu:

- ``imu/data``, sensor_msgs/Imu: output of the IMU
- ``gnss/fix``, sensor_msgs/NavSatFix, and ``gnss/velocity``,
  geometry_msgs/TwistWithCovarianceStamped: output of the receiver, published after the delay of the
  receiver with the stamp of the measurement
- ``ground_truth/state``, ``ground_truth/imu``, nav_msgs/Odometry: states of the aircraft,
  ``base_link``, and of the IMU, ``imu_link``
- ``ground_truth/origin``, sensor_msgs/NavSatFix, latched: origin of ``odom``
- ``driven_path``, nav_msgs/Path: path of the aircraft, once per second
- ``/clock``: simulated time; ``/tf``: chain ``odom``, ``base_link``, ``pan_link``, ``tilt_link``,
  ``roll_link``, ``imu_link``, and ``gnss_link``

``odom`` is the tangent plane of the Earth at the start, with x east and y north. At a distance of
ten kilometres, the local vertical differs by 0.1 degrees; ``gnss/velocity`` refers to the local
axes. If a flight runs faster than real time, rosbag drops messages. If the flight cannot be
simulated or read, the node reports the error and ends the launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Iterator, cast

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from ..core import topics
from ..core.angles import roll_pitch_yaw_from_quaternion, unwrap
from ..core.checks import check_choice, check_number
from ..core.errors import MotionError
from ..core.stamps import NANOSECONDS
from ..core.tables import (
    FLIGHT_TRUTH,
    GNSS_RECORD,
    IMU_RECORD,
    INCREMENTS,
    LOCAL_VARIANCE,
    LOCAL_VELOCITY,
    PLACE,
)
from ..motion.earth import geodetic_of
from ..motion.earth_motion import EarthMotion
from ..motion.flight import FlightStates
from ..motion.motion import Motion
from ..motion.strapdown import increments_of
from ..recordings import messages
from ..recordings.bundled_drives import FIRST_STAMP
from ..recordings.formats.written_bags import Messages
from ..sensors.gnss.receiver import record_earth_fixes
from ..sensors.gnss.specification import GnssSpecification
from ..sensors.imu_models.base import SIGNALS
from ..sensors.noise.streams import child_seed, run_seed
from ..sensors.simulation import ImuErrors, imu_model, imu_truth
from .gimbal.geometry import JOINTS
from .gimbal.simulation import simulate_gimbal
from .gimbal.specification import GimbalSpecification

GNSS_PLACES = ("body", "imu")
"""Mounting of the GNSS antenna: on the airframe or, as an idealisation, at the IMU."""

_GNSS_CHILD = 1  # index of the GNSS receiver's child seed, independent of the IMU


@dataclass(frozen=True)
class Tick:
    """Samples of all sensors in one publishing period.

    Attributes
    ----------
    stamps : ndarray of int, shape (n,)
        Stamps of the motion samples [ns].
    truth, imu_truth : ndarray, shape (n, 13)
        Ground truth of the body and of the IMU: position and orientation in the world, velocity and
        angular velocity relative to the Earth in the axes of the body or the IMU.
    imu_stamps : ndarray of int, shape (m,)
        Stamps of the IMU samples [ns].
    imu : ndarray, shape (m, 10)
        Measured orientation, angular velocity and specific force.
    fixes : pandas.DataFrame
        GnssRecord of the fixes that arrived in this period.
    links : ndarray, shape (4, 7)
        Poses of :meth:`.GimbalGeometry.links` at the last sample.
    """

    stamps: np.ndarray
    truth: np.ndarray
    imu_truth: np.ndarray
    imu_stamps: np.ndarray
    imu: np.ndarray
    fixes: pd.DataFrame
    links: np.ndarray


class AirborneImu:
    """Simulated measurements of a gimbal-mounted IMU and a GNSS receiver during a flight.

    The world is the tangent plane at the start of the flight, with the axes east, north and up.

    Parameters
    ----------
    states : FlightStates
        States of the aircraft.
    gimbal : GimbalSpecification
        Gimbal on which the IMU is mounted.
    imu : ImuErrors
        Errors of the IMU, see :func:`.simulate_imu`.
    gnss : GnssSpecification, optional
        GNSS receiver; by default there are no fixes.
    rate : float
        Sampling rate of the motion [Hz]; the IMU measures means over the sampling periods.
    seed : int
        Seed of all random numbers.
    gnss_on : str
        Mounting of the antenna, an element of :data:`GNSS_PLACES`.

    Raises
    ------
    MotionError
        The flight is too short.
    ConfigurationError
        A value is invalid, or gimbal, IMU or receiver do not match the rate.

    Attributes
    ----------
    origin : ndarray, shape (3,)
        Origin of the world: latitude, longitude [rad] and height [m].
    remarks : tuple of str
        Notes on the gimbal.
    covariances : tuple
        Covariances of the IMU's orientation, angular velocity and specific force, each with nine
        elements.
    magnetic_covariance : tuple
        Covariance of the magnetometer.
    """

    def __init__(
        self,
        states: FlightStates,
        gimbal: GimbalSpecification,
        imu: ImuErrors,
        gnss: GnssSpecification | None = None,
        rate: float = 100.0,
        seed: int = 1,
        gnss_on: str = "body",
    ) -> None:
        rate = check_number("rate", rate, above=0.0, maximum=1e4)
        check_choice("gnss_on", gnss_on, GNSS_PLACES)
        first, last = float(states.time[0]), float(states.time[-1])
        count = int((last - first) * rate + 1e-6) + 1
        if count < 4:
            raise MotionError(
                f"the flight lasts {last - first:g} s, expected at least 4 samples at {rate:g} Hz"
            )
        time = np.minimum(first + np.arange(count) / rate, last)
        self.body = states.motion(at=time)
        simulated = simulate_gimbal(self.body, gimbal, imu, seed)
        self.imu_motion = cast(
            EarthMotion, simulated.motion
        )  # motion of the same type as the platform motion
        self.joints = simulated.joints
        self.geometry, self.remarks = simulated.geometry, simulated.remarks
        self.residual = simulated.residual
        self.origin = geodetic_of(self.body.position[0])
        self.stamps = np.rint(time * NANOSECONDS).astype(np.int64)
        self.truth = _rows(self.body.local(self.origin))
        self.imu_truth = _rows(self.imu_motion.local(self.origin))
        self._measure(imu, seed)
        self.gnss = gnss
        self.fixes = pd.DataFrame(columns=list(GNSS_RECORD), index=pd.Index([], name="time"))
        if gnss is not None:
            receiver = self.body if gnss_on == "body" else self.imu_motion
            self.fixes = record_earth_fixes(
                receiver, gnss, child_seed(run_seed(seed, 0), _GNSS_CHILD)
            )

    def _measure(self, imu, seed):
        model = imu_model(imu, self.imu_motion.period, seed)
        truth = imu_truth(self.imu_motion, speed=model.requires_speed)
        reading = model.batch(truth, parts=SIGNALS)
        new = model.new_samples(len(self.stamps))
        self.imu_stamps = self.stamps[new]
        self.imu = np.hstack([getattr(reading, name)[0] for name in SIGNALS])[new]
        self.covariances = model.covariances()
        self.magnetic_covariance = model.magnetic_covariance()

    def ticks(self, period: float) -> Iterator[Tick]:
        """Yield the samples of the flight, one publishing period at a time.

        Parameters
        ----------
        period : float
            Publishing period [s]; a period contains at least one sample.

        Yields
        ------
        Tick

        Raises
        ------
        ConfigurationError
            The period is not positive.
        """
        period = check_number("period", period, above=0.0)
        samples = max(1, round(period / self.body.period))
        count = len(self.stamps)
        ends = np.minimum(np.arange(0, count, samples) + samples, count)
        arrival = np.rint(self.fixes["arrival"].to_numpy(dtype=float) * NANOSECONDS)
        # The sample at the end of a publishing period belongs to that period.
        measured = np.searchsorted(self.imu_stamps, self.stamps[ends - 1], side="right")
        arrived = np.searchsorted(arrival, self.stamps[ends - 1], side="right")
        previous = (0, 0, 0)
        poses = self.geometry.links(self.joints.angle[ends - 1])
        for current, links in zip(zip(ends, measured, arrived), poses):
            samples_of_motion, imu, fixes = map(slice, previous, current)
            yield Tick(
                self.stamps[samples_of_motion],
                self.truth[samples_of_motion],
                self.imu_truth[samples_of_motion],
                self.imu_stamps[imu],
                self.imu[imu],
                self.fixes.iloc[fixes],
                links,
            )
            previous = current


_DEGREES = (180.0 / np.pi, 180.0 / np.pi, 1.0)
"""Conversion factors for latitude and longitude [rad] to degrees, and for height [m]."""


def _rows(motion: Motion) -> np.ndarray:
    """Return position, orientation, body-frame velocity and angular velocity, shape (n, 13)."""
    velocity = Rotation.from_quat(motion.orientation).inv().apply(motion.velocity)
    return np.hstack([motion.position, motion.orientation, velocity, motion.angular_velocity])


_NO_FIX, _FIX = -1, 0  # status values of sensor_msgs/NavSatStatus
_KNOWN = 2  # COVARIANCE_TYPE_DIAGONAL_KNOWN of sensor_msgs/NavSatFix


def truth_table(motion: EarthMotion) -> pd.DataFrame:
    """Convert a motion on the Earth to a FlightTruth table.

    Parameters
    ----------
    motion : EarthMotion
        True motion.

    Returns
    -------
    pandas.DataFrame
        Table that :func:`.read_flight` can read from a file.
    """
    place = motion.latitude_longitude_height * _DEGREES
    level = motion.local_velocity, motion.local_orientation
    signals = motion.angular_velocity, motion.specific_force
    return _table(motion.time, FLIGHT_TRUTH, place, *level, *signals)


def _table(time, columns, *parts) -> pd.DataFrame:
    index = pd.Index(time, name="time")
    return pd.DataFrame(np.hstack(parts), columns=list(columns), index=index)


def flight_tables(flown: AirborneImu) -> dict[str, pd.DataFrame]:
    """Return the tables of a flight by file name.

    Parameters
    ----------
    flown : AirborneImu
        Simulated flight.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``body`` and ``imu_truth``: FlightTruth of the aircraft and of the IMU. ``imu``: measured
        ImuRecord. ``increments``: ideal Increments. ``gimbal``: GimbalAngles. ``fixes``:
        GnssRecord, only with a receiver.
    """
    increments = increments_of(flown.imu_motion)
    angles = roll_pitch_yaw_from_quaternion(flown.imu[:, :4])
    angles[:, 2] = unwrap(angles[:, 2])
    joints, rates = flown.joints, [f"{joint}_rate" for joint in JOINTS]
    gains = increments.delta_theta, increments.delta_velocity
    tables = {
        "body": truth_table(flown.body),
        "imu_truth": truth_table(flown.imu_motion),
        "imu": _table(flown.imu_stamps / NANOSECONDS, IMU_RECORD, angles, flown.imu[:, 4:]),
        "increments": _table(increments.time, INCREMENTS, *gains),
        "gimbal": _table(joints.time, [*JOINTS, *rates], joints.angle, joints.rate),
    }
    if flown.gnss is not None:
        tables["fixes"] = flown.fixes
    return tables


def flight_messages(flown: AirborneImu) -> list[Messages]:
    """Return the messages of ``airborne.launch``, except tf and clock, for writing to a bag.

    Parameters
    ----------
    flown : AirborneImu
        Simulated flight.

    Returns
    -------
    list of Messages
        Messages of each topic; time zero is the start of 2019 UTC.
    """
    topic_messages = [
        _odometry(topics.GROUND_TRUTH, topics.AIRCRAFT_FRAME, flown.stamps, flown.truth),
        _odometry(topics.GROUND_TRUTH_IMU, topics.IMU_FRAME, flown.stamps, flown.imu_truth),
        _imu(flown),
        _fix(
            topics.GROUND_TRUTH_ORIGIN, topics.WORLD_FRAME, flown.stamps[:1],
            np.atleast_2d(flown.origin * _DEGREES),
        ),
    ]  # fmt: skip
    if len(flown.fixes):
        topic_messages += _receiver(flown.fixes)
    return topic_messages


def _odometry(topic, frame, stamps, rows):
    fields = dict(zip(messages.STATE, rows.T))
    return _message(topic, messages.ODOMETRY, stamps, fields, topics.WORLD_FRAME, frame)


def _message(topic, kind, stamps, fields, *frames):
    return Messages(topics.absolute_topic(topic), kind, FIRST_STAMP + stamps, fields, frames)


def _imu(flown):
    fields = dict(zip(messages.SIGNALS, flown.imu.T))
    fields.update(zip(messages.COVARIANCES, chain(*flown.covariances)))
    return _message(topics.IMU, messages.IMU, flown.imu_stamps, fields, topics.IMU_FRAME)


def _fix(topic, frame, stamps, places, status=_FIX, variances=None):
    fields = dict(zip(PLACE, places.T))
    fields["status.status"] = status
    if variances is not None:
        known = np.isfinite(variances).all(axis=1)
        fields["position_covariance_type"] = np.where(known, _KNOWN, 0)
        for number, values in zip((0, 4, 8), np.where(known[:, np.newaxis], variances, 0.0).T):
            fields[f"position_covariance{number}"] = values
    return _message(topic, messages.NAV_SAT_FIX, stamps, fields, frame)


def _receiver(fixes):
    stamps = np.rint(fixes.index.to_numpy() * NANOSECONDS).astype(np.int64)
    variances = fixes[list(LOCAL_VARIANCE)].to_numpy()
    places = fixes[list(PLACE)].to_numpy()
    status = np.where(np.isfinite(places).all(axis=1), _FIX, _NO_FIX)
    yield _fix(topics.GNSS_FIX, topics.GNSS_FRAME, stamps, places, status, variances)
    moving = fixes[list(LOCAL_VELOCITY)].notna().all(axis=1).to_numpy()
    velocities = fixes[list(LOCAL_VELOCITY)].to_numpy()[moving]
    kind = messages.TWIST_WITH_COVARIANCE_STAMPED
    fields = dict(zip(kind.fields("twist.twist.linear."), velocities.T))
    horizontal, vertical = fixes["velocity_variance"], fixes["velocity_variance_up"]
    for number, values in ((0, horizontal), (7, horizontal), (14, vertical)):
        fields[f"twist.covariance{number}"] = values.to_numpy()[moving]
    yield _message(topics.GNSS_VELOCITY, kind, stamps[moving], fields, topics.WORLD_FRAME)
