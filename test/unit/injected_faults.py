"""Recording faults, injected into the samples of a plausible recording."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.tables import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.frames import ImuConventions, ReferenceConventions
from imu_simulation_framework.recordings.plausibility import findings as faults
from imu_simulation_framework.recordings.plausibility.check import RecordingCheck
from imu_simulation_framework.recordings.plausibility.diagnosis import diagnose
from imu_simulation_framework.recordings.plausibility.interpretation import Interpretation

FROZEN = (30.0, 60.0)  # interval of constant values, since the start of the recording [s]

_WORLD_FROM_NED = Rotation.from_quat([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
_BODY_FROM_FRD = Rotation.from_quat([1.0, 0.0, 0.0, 0.0])


def check(reference, imu, reference_changes=None, offset=0.0, **changes):
    """Check a recording with changed conventions and clock offset, and return the result."""
    result, conventions = RecordingCheck(), ReferenceConventions(**(reference_changes or {}))
    imu_conventions = ImuConventions(**changes)
    diagnose(result, Interpretation(reference, imu, conventions, imu_conventions, (0.0, offset)))
    return result


def elapsed(samples):
    return samples.columns["stamp"] - samples.columns["stamp"][0]


def drop_columns(samples, *names):
    columns = {n: values for n, values in samples.columns.items() if n not in names}
    return replace(samples, columns=columns)


def with_columns(samples, **columns):
    return replace(samples, columns={**samples.columns, **columns})


def scaled(samples, names, factor):
    return with_columns(samples, **{name: factor * samples.columns[name] for name in names})


def orientation(samples):
    return Rotation.from_quat(samples.matrix(QUATERNION))


def with_orientation(samples, rotation):
    return with_columns(samples, **dict(zip(QUATERNION, rotation.as_quat().T)))


def with_yaw(samples, convert):
    angles = orientation(samples).as_euler("ZYX")
    angles[:, 0] = convert(np.unwrap(angles[:, 0]))
    return with_orientation(samples, Rotation.from_euler("ZYX", angles))


def clockwise_from_north(samples):
    return with_yaw(samples, lambda yaw: np.pi / 2 - yaw)


def north_east_down(samples):
    turned = _WORLD_FROM_NED.inv() * orientation(samples) * _BODY_FROM_FRD.inv()
    samples = with_orientation(samples, turned)
    if "x" in samples:
        samples = exchanged(samples, "x", "y")
    return scaled(samples, [name for name in (*GYRO[1:], *ACCEL[1:]) if name in samples], -1.0)


def mounted(samples, axis, degrees):
    turn = Rotation.from_euler(axis, degrees, degrees=True)
    for names in (GYRO, ACCEL):
        vectors = turn.apply(samples.matrix(names))
        samples = with_columns(samples, **dict(zip(names, vectors.T)))
    return with_orientation(samples, orientation(samples) * turn.inv())


def scalar_first(samples):
    names = ("qw", "qx", "qy", "qz")
    return with_columns(samples, **{q: samples.columns[n] for q, n in zip(QUATERNION, names)})


def frozen(samples, names):
    inside = (elapsed(samples) >= FROZEN[0]) & (elapsed(samples) < FROZEN[1])
    columns = {name: samples.columns[name].copy() for name in names}
    for column in columns.values():
        column[inside] = column[inside][0]
    return with_columns(samples, **columns)


def scaled_turns(samples, factor_at):
    """Return odometry whose yaw increments, and therefore path, are scaled by a factor."""
    yaw = np.unwrap(orientation(samples).as_euler("ZYX")[:, 0])
    factors = factor_at(elapsed(samples)[1:])
    turned = yaw[0] + np.concatenate([[0.0], np.cumsum(np.diff(yaw) * factors)])
    cosine, sine = np.cos(turned - yaw)[:-1], np.sin(turned - yaw)[:-1]
    dx, dy = np.diff(samples.columns["x"]), np.diff(samples.columns["y"])
    steps = {"x": cosine * dx - sine * dy, "y": sine * dx + cosine * dy}
    path = {name: np.concatenate([[0.0], np.cumsum(step)]) for name, step in steps.items()}
    return with_yaw(with_columns(samples, **path), lambda _: turned)


def shifted(samples, seconds, rate=0.0):
    stamps = samples.columns["stamp"] + seconds + rate * elapsed(samples)
    return with_columns(samples, stamp=stamps)


def exchanged(samples, first, second):
    return with_columns(samples, **{first: samples.columns[second], second: samples.columns[first]})


def inverse(samples):
    return with_orientation(samples, orientation(samples).inv())


def constant(samples, names, values):
    return with_columns(samples, **{n: np.full(len(samples), v) for n, v in zip(names, values)})


DEGREES = 180.0 / np.pi  # per radian

_FAULTS_OF_BOTH = {
    "'s yaw clockwise from north": (clockwise_from_north, faults.MIRRORED_YAW),
    " north-east-down": (north_east_down, faults.FRAME),
    "'s quaternion scalar first": (scalar_first, faults.QUATERNION_ORDER),
    "'s quaternion from world to body": (inverse, faults.QUATERNION_DIRECTION),
}
_FAULTS_OF_IMU = {
    **{f"IMU{name}": injected for name, injected in _FAULTS_OF_BOTH.items()},
    "gyroscope in deg/s": (lambda s: scaled(s, GYRO, DEGREES), faults.DEGREES),
    "gyroscope converted to radians twice": (
        lambda s: scaled(s, GYRO, 1.0 / DEGREES),
        faults.RADIANS,
    ),
    "gyroscope with the wrong sign": (lambda s: scaled(s, GYRO, -1.0), faults.MIRRORED_GYRO),
    "accelerometer in g": (lambda s: scaled(s, ACCEL, 1.0 / 9.80665), faults.ACCELERATION_UNIT),
    "accelerometer measures gravity": (lambda s: scaled(s, ACCEL, -1.0), faults.ACCELERATION_SIGN),
    "IMU upside down": (lambda s: mounted(s, "x", 180), faults.MOUNTING),
    "IMU on its side": (lambda s: mounted(s, "x", 90), faults.MOUNTING),
    "IMU on its nose": (lambda s: mounted(s, "y", 90), faults.MOUNTING),
    "gyroscope's axes permuted": (lambda s: exchanged(s, "gyro_x", "gyro_z"), faults.MOUNTING),
    "gyroscope's z axis missing": (lambda s: constant(s, ["gyro_z"], [0.0]), faults.DROPPED_AXIS),
    "orientation constant": (
        lambda s: constant(s, QUATERNION, (0.0, 0.0, 0.0, 1.0)),
        faults.DROPPED_AXIS,
    ),
    "IMU's orientation frozen": (lambda s: frozen(s, QUATERNION), faults.FROZEN),
    "IMU half a second late": (lambda s: shifted(s, 0.5), faults.SHIFTED_CLOCK),
    "IMU three seconds early": (lambda s: shifted(s, -3.0), faults.SHIFTED_CLOCK),
    "IMU on a clock of its own": (lambda s: shifted(s, -1e6), faults.NO_OVERLAP),
    "IMU's clock one percent fast": (lambda s: shifted(s, 0.0, 0.01), faults.CLOCK_RATE),
}
_FAULTS_OF_REFERENCE = {
    **{f"reference{name}": injected for name, injected in _FAULTS_OF_BOTH.items()},
    "reference frozen": (lambda s: frozen(s, ("x", "y", *QUATERNION)), faults.FROZEN),
    "wheels spin": (
        lambda s: scaled_turns(s, lambda t: np.where((t // 7) % 2 == 0, 3.0, 1.0)),
        faults.SPINNING_WHEELS,
    ),
    "wrong track": (lambda s: scaled_turns(s, lambda t: np.full(len(t), 1.3)), faults.SCALE),
    "positions in mm": (lambda s: scaled(s, ("x", "y"), 1000.0), faults.LENGTH_UNIT),
    "positions in km": (lambda s: scaled(s, ("x", "y"), 0.001), faults.LENGTH_UNIT),
    "x and y exchanged": (lambda s: exchanged(s, "x", "y"), faults.MIRRORED_POSITIONS),
    "reference's yaw from north": (
        lambda s: with_yaw(s, lambda yaw: yaw - np.pi / 2),
        faults.YAW_OFFSET,
    ),
}
# Description -> function that injects the fault into reference and IMU, and the finding's name.
INJECTED_FAULTS = {
    **{n: (lambda ref, imu, p=p: (ref, p(imu)), fault) for n, (p, fault) in _FAULTS_OF_IMU.items()},
    **{
        n: (lambda ref, imu, p=p: (p(ref), imu), fault)
        for n, (p, fault) in _FAULTS_OF_REFERENCE.items()
    },
}
