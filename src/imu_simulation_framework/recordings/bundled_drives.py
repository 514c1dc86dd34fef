"""Simulate the sensors of the bundled drives, and write CSV files as ``rostopic echo -p`` does.

On each drive, the reference is a GNSS receiver, and the IMU has onboard fusion.

A drive consists of two files, ``drive_<name>_gps.csv.gz`` (geometry_msgs/PoseStamped) and
``drive_<name>_imu.csv.gz`` (sensor_msgs/Imu). Since this format has no comments, the frame name in
each line contains the name of the drive: ``synthetic_drive_<name>``.
"""

import gzip
import math
from pathlib import Path

import numpy as np

from ..core.angles import quaternion_from_roll_pitch_yaw
from ..core.errors import ResultError
from ..core.units import STANDARD_GRAVITY
from ..core.whole_files import write_whole
from ..motion.drives import DRIVES, MOTION_RATE, generator_for, get_drive, seed_for, true_motion
from ..motion.sources import planar
from ..sensors.gnss.receiver import WHITE, AntennaMotion, GnssReceiver
from ..sensors.gnss.specification import FixQuality, GnssHeading, GnssSpecification
from ..sensors.imu_models.base import ImuSamples
from ..sensors.imu_specification import ImuSpecification, OutputSpecification, TriadSpecification
from ..sensors.simulation import imu_model, imu_truth
from .messages import IMU, POSE_STAMPED

IMU_RATE = MOTION_RATE
"""Sample rate of the IMU [Hz]."""
REFERENCE_RATE = 5
"""Rate of the reference poses [Hz]."""

DRIVE_GNSS = GnssSpecification(
    "synthetic_rtk",
    rate=float(REFERENCE_RATE),
    qualities=(FixQuality("rtk", horizontal_noise=0.02),),
    heading=GnssHeading("antennas", baseline=1.0, across_noise=math.radians(0.25)),
)
"""Reference sensor of the bundled drives: a GNSS receiver with two antennas one metre apart.

The antennas are above the centre of the axle. The errors are white: 0.02 m in x and in y, and
0.25 deg in yaw."""

DRIVE_IMU = ImuSpecification(
    "synthetic_bno055",
    gyroscope=TriadSpecification(
        # The typical value in the data sheet is 0.014 deg/s/sqrt(Hz), one-sided.
        white_noise=(math.radians(0.014) / math.sqrt(2.0),) * 3,
        # Bias and scale factor of a moving sensor are less accurate than those of a stationary one.
        turn_on_bias=(0.0, 0.0, 2.1e-4),
        random_walk=(0.0, 0.0, 3e-6),
        scale_factor_and_misalignment=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.3e-3)),
    ),
    accelerometer=TriadSpecification(
        # 150 ug/sqrt(Hz), one-sided, in the 62.5 Hz bandwidth of fusion mode, sampled at 100 Hz.
        white_noise=(150e-6 * STANDARD_GRAVITY * math.sqrt(62.5 / IMU_RATE),) * 3,
    ),
    # With a long filter time constant, accelerations of the robot hardly tilt the orientation.
    output=OutputSpecification(rate=float(IMU_RATE), filter_time_constant=30.0),
)
"""IMU of the bundled drives: like a BNO055 in IMU fusion mode, which uses no magnetometer."""

RESOLUTIONS = {
    "orientation": 2.0**-14,
    "angular_velocity": math.radians(1.0 / 16.0),
    "specific_force": 0.01,
}
"""Resolutions of the BNO055's output registers in fusion mode [1, rad/s, m/s^2]."""


def reference_poses(motion, gnss, generator):
    """Simulate the poses that the GNSS receiver outputs as the reference.

    Parameters
    ----------
    motion : pandas.DataFrame
        True motion, as :func:`.drives.true_motion` returns it.
    gnss : GnssSpecification
        Receiver with two antennas and without outages; only its white errors are simulated.
    generator : numpy.random.Generator
        Random number generator for the noise.

    Returns
    -------
    pandas.DataFrame
        Columns x, y [m] and yaw [rad] over time [s].
    """
    truth = motion.iloc[:: round(IMU_RATE / gnss.rate)]
    nothing, yaw, speed = np.zeros(len(truth)), truth["yaw"].to_numpy(), truth["v"].to_numpy()
    antenna = AntennaMotion(
        np.column_stack([truth["x"], truth["y"], nothing]),
        np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw), nothing]),
        yaw,
    )
    receiver = GnssReceiver(gnss, 0, _PoseNumbers(generator))
    table = receiver.measure(truth.index.to_numpy(), antenna)
    return table[["x", "y", "heading"]].set_axis(["x", "y", "yaw"], axis=1)


class _PoseNumbers:
    """Standard normal random numbers for the errors of x, y and heading, sample by sample."""

    def __init__(self, generator):
        self._generator = generator

    def take(self, samples):
        numbers = np.zeros((samples, WHITE))
        numbers[:, [0, 1, WHITE - 1]] = self._generator.standard_normal((samples, 3))
        return numbers


def imu_samples(motion, imu, seed) -> ImuSamples:
    """Simulate an IMU at the centre of the axle, aligned with the axes of the robot.

    Parameters
    ----------
    motion : pandas.DataFrame
        True motion, as :func:`.drives.true_motion` returns it.
    imu : ImuSpecification
        IMU with the rate :data:`IMU_RATE`.
    seed : int or numpy.random.SeedSequence
        Seed of the errors.

    Returns
    -------
    ImuSamples
        Samples after the fusion, rounded to :data:`RESOLUTIONS`.
    """
    truth = imu_truth(planar(motion, STANDARD_GRAVITY))
    reading = imu_model(imu, 1.0 / IMU_RATE, seed).batch(truth)[0]
    steps = ((getattr(reading, name), step) for name, step in RESOLUTIONS.items())
    # Adding zero turns -0.0 into 0.0, so that no negative zero is written.
    rounded = (step * np.round(values / step) + 0.0 for values, step in steps)
    return ImuSamples(motion.index.to_numpy(), *rounded)


def simulate_drive(drive, gnss=DRIVE_GNSS, imu=DRIVE_IMU):
    """Simulate a drive with a reference and an IMU.

    Parameters
    ----------
    drive : Drive
        Drive of :data:`.DRIVES`, possibly with a different number of laps or seed.
    gnss : GnssSpecification, optional
        Receiver that serves as the reference.
    imu : ImuSpecification, optional
        IMU on the robot.

    Returns
    -------
    tuple of Motion, DataFrame and DataFrame
        True motion, :func:`reference_poses` and :func:`imu_samples`.
    """
    motion = true_motion(drive)
    poses = reference_poses(motion, gnss, generator_for(drive.seed, 1))
    return motion, poses, imu_samples(motion, imu, seed_for(drive.seed, 2))


FIRST_STAMP = 1_546_300_800_000_000_000
"""Stamp of the first sample of each drive [ns]: 1 January 2019, 0:00 UTC."""

_HEADER_FIELDS = ["%time", "field.header.seq", "field.header.stamp", "field.header.frame_id"]

GPS_FIELDS, IMU_FIELDS = (
    [*_HEADER_FIELDS, *(f"field.{name}" for name in message.names)]
    for message in (POSE_STAMPED, IMU)
)


def _csv(fields, rate, frame, values, line_format):
    """Return the text of a CSV file with one line per row of values."""
    lines = [",".join(fields)]
    for sequence, row in enumerate(values.tolist()):
        stamp = FIRST_STAMP + sequence * (1_000_000_000 // rate)
        lines.append(f"{stamp},{sequence},{stamp},{frame},{line_format % tuple(row)}")
    return "\n".join(lines) + "\n"


def gps_csv(drive, poses):
    """Format the reference as CSV text.

    Parameters
    ----------
    drive : Drive
        Drive, whose name is part of the frame name.
    poses : DataFrame
        Columns x, y [m] and yaw [rad].

    Returns
    -------
    str
        CSV text with a resolution of 0.1 mm for positions and 1e-6 for quaternions.
    """
    angles = np.zeros((len(poses), 3))
    angles[:, 2] = poses["yaw"]
    quaternions = quaternion_from_roll_pitch_yaw(angles)[:, 2:]
    # The values are rounded here, since formatting -0.00001 would write -0.0000.
    values = np.hstack([poses[["x", "y"]].to_numpy().round(4), quaternions.round(6)]) + 0.0
    frame = f"synthetic_drive_{drive.name}_map"
    return _csv(GPS_FIELDS, REFERENCE_RATE, frame, values, "%.4f,%.4f,0.0,0.0,0.0,%.6f,%.6f")


def imu_csv(drive, samples, imu=DRIVE_IMU):
    """Format the IMU samples as CSV text with more digits than the sensor resolves.

    All elements of the orientation covariance are zero, which means unknown (REP-145), since the
    sensor does not output a covariance.

    Parameters
    ----------
    drive : Drive
        Drive, whose name is part of the frame name.
    samples : DataFrame
        Columns gyro_x to gyro_z [rad/s] and accel_x to accel_z [m/s^2].
    imu : SpecificationImu, optional
        IMU that determines the covariances in the file.

    Returns
    -------
    str
        Content of the file.
    """
    _, rate_covariance, force_covariance = imu.covariances()

    def diagonal(covariance, resolution):
        rounding = resolution**2 / 12.0
        return ",".join(
            f"{variance + rounding:.3e}" if index % 4 == 0 else "0.0"
            for index, variance in enumerate(covariance)
        )

    rate = "%.6f,%.6f,%.6f," + diagonal(rate_covariance, RESOLUTIONS["angular_velocity"])
    force = "%.2f,%.2f,%.2f," + diagonal(force_covariance, RESOLUTIONS["specific_force"])
    line_format = ",".join(["%.6f,%.6f,%.6f,%.6f", *["0.0"] * 9, rate, force])
    values = np.hstack([samples.orientation, samples.angular_velocity, samples.specific_force])
    return _csv(IMU_FIELDS, IMU_RATE, f"synthetic_drive_{drive.name}_imu", values, line_format)


def drive_paths(drive, directory):
    """Return the paths of the two files of a drive.

    The file names contain the number of laps and the seed if these differ from :data:`.DRIVES`.

    Parameters
    ----------
    drive : Drive
        Drive of the files.
    directory : path-like
        Folder of the files.

    Returns
    -------
    reference, imu : Path
        Compressed CSV files.
    """
    standard = get_drive(drive.name)
    laps = f"_{drive.laps}laps" if drive.laps != standard.laps else ""
    seed = f"_seed{drive.seed}" if drive.seed != standard.seed else ""
    stem = Path(directory) / f"drive_{drive.name}{laps}{seed}"
    return stem.with_name(f"{stem.name}_gps.csv.gz"), stem.with_name(f"{stem.name}_imu.csv.gz")


def write_drive(drive, directory):
    """Simulate a drive and write its two files atomically.

    A missing folder is created.

    Parameters
    ----------
    drive : Drive
        Drive to simulate.
    directory : path-like
        Folder of the files.

    Returns
    -------
    reference, imu : Path
        Written files.

    Raises
    ------
    ResultError
        The files cannot be written.
    """
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{directory}: cannot be created: {error.strerror}") from error
    _, poses, samples = simulate_drive(drive)
    reference_path, imu_path = drive_paths(drive, directory)
    texts = {imu_path: imu_csv(drive, samples), reference_path: gps_csv(drive, poses)}
    for path, text in texts.items():
        # Without time and name in the gzip header, the files of a drive are always identical.
        write_whole(path, gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0))
    return reference_path, imu_path


def ensure_drive(name, directory):
    """Return the paths of a bundled drive's files; the files are created on first use.

    Parameters
    ----------
    name : str
        Name of the drive, ``a`` to ``d``.
    directory : path-like
        Folder of the files.

    Returns
    -------
    tuple of pathlib.Path
        Paths of the reference file and the IMU file.

    Raises
    ------
    ConfigurationError
        There is no drive of this name.
    ResultError
        The files cannot be written.
    """
    paths = drive_paths(get_drive(name), directory)
    if not all(path.is_file() for path in paths):
        write_drive(DRIVES[name], directory)
    return paths
