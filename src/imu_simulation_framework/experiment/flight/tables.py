"""What is measured on a flight, and the truth, as tables and as the messages of a bag."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imu_simulation_framework import topics
from imu_simulation_framework.angles import roll_pitch_yaw_from_quaternion, unwrap
from imu_simulation_framework.columns import (
    FLIGHT_TRUTH,
    IMU_RECORD,
    INCREMENTS,
    LOCAL_VELOCITY,
    PLACE,
)
from imu_simulation_framework.experiment.flight.airborne import AirborneImu
from imu_simulation_framework.gimbal.joints import JOINTS
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.strapdown import increments_of
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.recordings import messages
from imu_simulation_framework.recordings.simulated.bundled_drives import FIRST_STAMP
from imu_simulation_framework.recordings.simulated.message_bag import Messages
from imu_simulation_framework.robot_names import (
    AIRCRAFT_FRAME,
    GNSS_FRAME,
    IMU_FRAME,
    WORLD_FRAME,
)

_NO_FIX, _FIX = -1, 0
_KNOWN = 2
"""Of the covariance of a NavSatFix: its diagonal."""


def truth_table(motion: EarthMotion) -> pd.DataFrame:
    """Return a motion on the Earth as a table FlightTruth, which :func:`.read_flight` reads.

    Parameters
    ----------
    motion : EarthMotion
    """
    degrees = (180.0 / np.pi, 180.0 / np.pi, 1.0)
    parts = [
        motion.latitude_longitude_height * degrees,
        motion.local_velocity,
        motion.local_orientation,
        motion.angular_velocity,
        motion.specific_force,
    ]
    index = pd.Index(motion.time, name="time")
    return pd.DataFrame(np.hstack(parts), columns=list(FLIGHT_TRUTH), index=index)


def flight_tables(flown: AirborneImu) -> dict[str, pd.DataFrame]:
    """Return the tables of a flight, by the names of their files.

    ``body`` and ``imu_truth``
        FlightTruth of the aircraft and of the IMU.
    ``imu``
        ImuRecord, as measured.
    ``increments``
        Increments of an IMU without errors, which integrates.
    ``gimbal``
        GimbalAngles.
    ``fixes``
        GnssRecord, of a receiver if there is one.
    """
    increments = increments_of(flown.imu_motion)
    angles = roll_pitch_yaw_from_quaternion(flown.imu[:, :4])
    angles[:, 2] = unwrap(angles[:, 2])
    tables = {
        "body": truth_table(flown.body),
        "imu_truth": truth_table(flown.imu_motion),
        "imu": pd.DataFrame(
            np.hstack([angles, flown.imu[:, 4:]]),
            columns=list(IMU_RECORD),
            index=pd.Index(flown.imu_stamps / NANOSECONDS, name="time"),
        ),
        "increments": pd.DataFrame(
            np.hstack([increments.delta_theta, increments.delta_velocity]),
            columns=list(INCREMENTS),
            index=pd.Index(increments.time, name="time"),
        ),
        "gimbal": pd.DataFrame(
            np.hstack([flown.joints.angle, flown.joints.rate]),
            columns=[*JOINTS, *(f"{joint}_rate" for joint in JOINTS)],
            index=pd.Index(flown.joints.time, name="time"),
        ),
    }
    if flown.gnss is not None:
        tables["fixes"] = flown.fixes
    return tables


def flight_messages(flown: AirborneImu) -> list[Messages]:
    """Return the topics of a bag: those that ``airborne.launch`` publishes, less tf and clock.

    Time zero is the beginning of 2019, UTC.
    """
    every = [
        _odometry(topics.GROUND_TRUTH, AIRCRAFT_FRAME, flown.stamps, flown.truth),
        _odometry(topics.GROUND_TRUTH_IMU, IMU_FRAME, flown.stamps, flown.imu_truth),
        _imu(flown),
        _fix(
            topics.GROUND_TRUTH_ORIGIN,
            WORLD_FRAME,
            flown.stamps[:1],
            np.atleast_2d(flown.origin * (180.0 / np.pi, 180.0 / np.pi, 1.0)),
        ),
    ]
    if len(flown.fixes):
        every += _receiver(flown.fixes)
    return every


def _odometry(topic, frame, stamps, rows):
    names = [
        *(f"pose.pose.position.{axis}" for axis in "xyz"),
        *(f"pose.pose.orientation.{axis}" for axis in "xyzw"),
        *(f"twist.twist.linear.{axis}" for axis in "xyz"),
        *(f"twist.twist.angular.{axis}" for axis in "xyz"),
    ]
    return Messages(
        topics.in_root(topic),
        messages.ODOMETRY,
        FIRST_STAMP + stamps,
        dict(zip(names, rows.T)),
        (WORLD_FRAME, frame),
    )


def _imu(flown):
    parts = ("orientation", "angular_velocity", "linear_acceleration")
    names = [
        *(f"orientation.{axis}" for axis in "xyzw"),
        *(f"angular_velocity.{axis}" for axis in "xyz"),
        *(f"linear_acceleration.{axis}" for axis in "xyz"),
    ]
    fields = dict(zip(names, flown.imu.T))
    for part, covariance in zip(parts, flown.covariances):
        fields.update({f"{part}_covariance{k}": value for k, value in enumerate(covariance)})
    return Messages(
        topics.in_root(topics.IMU),
        messages.IMU,
        FIRST_STAMP + flown.imu_stamps,
        fields,
        (IMU_FRAME,),
    )


def _fix(topic, frame, stamps, places, status=_FIX, variances=None):
    fields = dict(zip(PLACE, places.T))
    fields["status.status"] = status
    if variances is not None:
        known = np.isfinite(variances).all(axis=1)
        fields["position_covariance_type"] = np.where(known, _KNOWN, 0)
        for number, values in zip((0, 4, 8), np.where(known[:, np.newaxis], variances, 0.0).T):
            fields[f"position_covariance{number}"] = values
    return Messages(
        topics.in_root(topic), messages.NAV_SAT_FIX, FIRST_STAMP + stamps, fields, (frame,)
    )


def _receiver(fixes):
    stamps = np.rint(fixes.index.to_numpy() * NANOSECONDS).astype(np.int64)
    variances = fixes[["variance_east", "variance_north", "variance_up"]].to_numpy()
    places = fixes[list(PLACE)].to_numpy()
    status = np.where(np.isfinite(places).all(axis=1), _FIX, _NO_FIX)
    yield _fix(topics.GNSS_FIX, GNSS_FRAME, stamps, places, status, variances)
    moving = fixes[list(LOCAL_VELOCITY)].notna().all(axis=1).to_numpy()
    names = [f"twist.twist.linear.{axis}" for axis in "xyz"]
    fields = dict(zip(names, fixes[list(LOCAL_VELOCITY)].to_numpy()[moving].T))
    horizontal, vertical = fixes["velocity_variance"], fixes["velocity_variance_up"]
    for number, values in ((0, horizontal), (7, horizontal), (14, vertical)):
        fields[f"twist.covariance{number}"] = values.to_numpy()[moving]
    yield Messages(
        topics.in_root(topics.GNSS_VELOCITY),
        messages.TWIST_WITH_COVARIANCE_STAMPED,
        FIRST_STAMP + stamps[moving],
        fields,
        (WORLD_FRAME,),
    )
