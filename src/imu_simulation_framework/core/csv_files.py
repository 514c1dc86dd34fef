"""Columns of all CSV files that the programs write, with units and meanings.

The guide shows :data:`CSV_FILES` as tables, and the tests check that each file written by a
program has the columns declared here.
"""

from __future__ import annotations

from typing import Iterable, Mapping, NamedTuple

from . import tables


class CsvColumn(NamedTuple):
    """Column of a CSV file.

    Parameters
    ----------
    name : str
        Name in the header line; words in angle brackets are placeholders.
    unit : str
        Unit of measurement; 1 for a dimensionless number, empty for text.
    meaning : str
        Short description of the values.
    is_optional : bool, optional
        Whether the column may be missing from a file, or occur several times with different names.
    """

    name: str
    unit: str
    meaning: str
    is_optional: bool = False


class CsvFile(NamedTuple):
    """CSV file that a program writes.

    Parameters
    ----------
    name : str
        File name without the leading date and time; words in angle brackets are placeholders.
    program : str
        Program that writes the file.
    content : str
        Short description of the content. It begins with the meaning of a row, except for time
        series, in which each row contains the values at one time.
    columns : tuple of CsvColumn
        Columns in their order in the file.
    """

    name: str
    program: str
    content: str
    columns: tuple[CsvColumn, ...]


_TIME = CsvColumn("time", "s", "since the start of the drive")

_MEANINGS = {
    "x": ("m", "position, east"),
    "y": ("m", "position, north"),
    "z": ("m", "height"),
    "roll": ("rad", "about the forward axis, right side down is positive"),
    "pitch": ("rad", "about the left axis, nose down is positive"),
    "yaw": ("rad", "counter-clockwise from east, unwrapped"),
    "v": ("m/s", "velocity forward, along the robot's x axis"),
    "v_y": ("m/s", "velocity to the left"),
    "v_z": ("m/s", "velocity upwards, along the robot's z axis"),
    "yaw_rate": ("rad/s", "angular velocity about the robot's z axis"),
    "gyro_x": ("rad/s", "angular velocity about x (forward)"),
    "gyro_y": ("rad/s", "angular velocity about y (left)"),
    "gyro_z": ("rad/s", "angular velocity about z (up)"),
    "accel_x": ("m/s^2", "specific force along x (forward)"),
    "accel_y": ("m/s^2", "specific force along y (left)"),
    "accel_z": ("m/s^2", "specific force along z (up), +9.8 at rest"),
    "mag_x": ("T", "magnetic flux density along x (forward)"),
    "mag_y": ("T", "magnetic flux density along y (left)"),
    "mag_z": ("T", "magnetic flux density along z (up)"),
    "qx": ("1", "quaternion from the body to east, north, up: x"),
    "qy": ("1", "quaternion: y"),
    "qz": ("1", "quaternion: z"),
    "qw": ("1", "quaternion: w"),
    "left": ("rad/s", "speed of the left wheels"),
    "right": ("rad/s", "speed of the right wheels"),
    "yaw_error": (
        "rad",
        "reference minus robot, in (-pi, pi]; negative if the robot must turn right",
    ),
    "distance_error": ("m", "distance of the robot from the reference position, never negative"),
    "along_track_error": ("m", "positive if the robot is behind"),
    "cross_track_error": ("m", "positive if the reference is to the left"),
    "latitude": ("deg", "WGS 84, north positive"),
    "longitude": ("deg", "WGS 84, east positive"),
    "altitude": ("m", "height above the WGS 84 ellipsoid"),
    "status": ("1", "status, as in NavSatStatus; negative without a fix"),
    "variance_east": ("m^2", "variance of the position to the east"),
    "variance_north": ("m^2", "variance of the position to the north"),
    "variance_up": ("m^2", "variance of the height"),
    "velocity_east": ("m/s", ""),
    "velocity_north": ("m/s", ""),
    "velocity_up": ("m/s", ""),
    "velocity_variance": ("m^2/s^2", "variance of velocity_east and of velocity_north"),
    "velocity_variance_up": ("m^2/s^2", ""),
    "heading": ("rad", "dual-antenna heading, counter-clockwise from east, unwrapped"),
    "heading_variance": ("rad^2", ""),
    "quality": ("1", "fix quality, as in NMEA GGA sentences"),
    "arrival": ("s", "arrival time of the message"),
    "yaw_known": ("1", "1 where the reference has a heading, 0 elsewhere"),
    "yaw_std": ("rad", "standard deviation of the heading"),
    "yaw_error_time": ("s", "correlation time of the heading's error"),
    "yaw_lag": ("s", "standard deviation of the heading's lag"),
    "turn_error": ("1", "standard deviation of the scale factor error of turns"),
    "turn_slip": (
        "rad/sqrt(rad)",
        "random walk of the heading, per square root of the turned angle",
    ),
    "steering": ("rad", "angle of the steered joint"),
    "steering_left": ("rad", "angle of the left steered joint"),
    "steering_right": ("rad", "angle of the right steered joint"),
    "delta_theta_x": ("rad", "integrated angular velocity over the period, about x"),
    "delta_theta_y": ("rad", "about y"),
    "delta_theta_z": ("rad", "about z"),
    "delta_velocity_x": ("m/s", "integrated specific force over the period, along x"),
    "delta_velocity_y": ("m/s", "along y"),
    "delta_velocity_z": ("m/s", "along z"),
    "pan": ("rad", "angle of the joint"),
    "tilt": ("rad", "angle of the joint"),
    "pan_rate": ("rad/s", ""),
    "tilt_rate": ("rad/s", ""),
    "roll_rate": ("rad/s", ""),
}
"""Units and meanings of columns that occur in several CSV files."""

_STEERING = ("steering", "steering_left", "steering_right")


def _shared(
    names: Iterable[str],
    optional: Iterable[str] = (),
    meanings: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[CsvColumn, ...]:
    """Return the columns of a time series; ``meanings`` overrides entries of ``_MEANINGS``."""
    definitions = {**_MEANINGS, **(meanings or {})}
    return (
        _TIME,
        *(CsvColumn(name, *definitions[name]) for name in names),
        *(CsvColumn(name, *definitions[name], is_optional=True) for name in optional),
    )


def _columns(*texts: str) -> tuple[CsvColumn, ...]:
    """Parse columns from ``name | unit | meaning``; a leading ``?`` marks an optional column."""
    cells = [[cell.strip() for cell in text.split("|")] for text in texts]
    return tuple(
        CsvColumn(name.lstrip("?"), unit, meaning, name.startswith("?"))
        for name, unit, meaning in cells
    )


_EXPERIMENT = "run_experiment.py"
_FLIGHT = "simulate_flight.py"
_SMALLEST_P = (
    "smallest corrected p-value | 1 | smallest p-value of all tests, corrected for their number"
)
_DRIVE = (
    "drive | | name of the drive",
    "final error [deg] | deg | final error of the recorded IMU",
    "2.5th percentile of runs [deg] | deg | percentile of the final error under the model",
    "97.5th percentile of runs [deg] | deg | percentile of the final error under the model",
    "percentile of final error | 1 | of the recorded final error under the model, 0 to 100",
    "percentile of rms error | 1 | of the recorded rms error under the model, 0 to 100",
    "p-value of curve | 1 | p-value of a test of the complete error curve",
    _SMALLEST_P,
)

CSV_FILES = (
    CsvFile(
        "ground_truth.csv",
        _EXPERIMENT,
        "true motion of the simulated robot, at 100 Hz. `yaw_rate` is an instantaneous value, "
        "whereas `gyro_z` of an IMU is the mean over the preceding sampling period",
        _shared(tables.GROUND_TRUTH),
    ),
    CsvFile(
        "imu_simulated.csv",
        _EXPERIMENT,
        "output of the simulated IMU",
        _shared(tables.IMU_RECORD, tables.MAG),
    ),
    CsvFile(
        "imu_real.csv",
        _EXPERIMENT,
        "output of the recorded IMU, if there is one. Columns that were not recorded are missing",
        _shared(("yaw",), (*tables.IMU_RECORD[:2], *tables.GYRO, *tables.ACCEL, *tables.MAG)),
    ),
    CsvFile(
        "reference.csv",
        _EXPERIMENT,
        "unsmoothed reference at its original stamps, with which the recorded IMU is compared",
        _shared(tables.POSES, ("yaw_known", *tables.REFERENCE_ERROR, tables.TURN_SLIP)),
    ),
    CsvFile(
        "trajectory_data.csv",
        _EXPERIMENT,
        "trajectory to be followed, with wheel speeds computed by inverse kinematics",
        _shared((*tables.TRAJECTORY, *tables.WHEELS), _STEERING),
    ),
    CsvFile(
        "control_error.csv",
        _EXPERIMENT,
        "tracking error: trajectory minus robot",
        _shared(tables.CONTROL_ERROR),
    ),
    CsvFile(
        "wheel_velocities.csv",
        _EXPERIMENT,
        "commanded wheel speeds, at the times from which they apply",
        _shared(tables.WHEELS, _STEERING),
    ),
    CsvFile(
        "wheel_velocities_actual.csv",
        _EXPERIMENT,
        "actual wheel speeds, from `joint_states`",
        _shared(tables.WHEELS, _STEERING),
    ),
    CsvFile(
        "fixes.csv",
        _EXPERIMENT,
        "received GNSS positions, in the frame of the trajectory; only for GNSS references",
        _shared(tables.POSES[:2]),
    ),
    CsvFile(
        "magnetometer_simulated.csv",
        _EXPERIMENT,
        "output of the simulated magnetometer, if there is one",
        _shared(tables.MAG),
    ),
    CsvFile(
        "gnss_simulated.csv",
        _EXPERIMENT,
        "messages of the simulated GNSS receiver, if there is one",
        _shared(tables.GNSS_PUBLISHED),
    ),
    CsvFile(
        "odometer.csv",
        _EXPERIMENT,
        "output of the simulated odometer, if there is one",
        _shared(tables.TRAJECTORY),
    ),
    CsvFile(
        "bands.csv",
        "heading_budget.py",
        "percentiles of the heading drift over time",
        _columns(
            "time | s | since the start",
            "imu | | name of the IMU",
            "mean | deg | mean over drives",
            "std | deg | standard deviation over drives",
            *(
                f"{edge}_{share} | deg | {edge} edge of the band with {share} % of all drives"
                for share in (50, 95, 99)
                for edge in ("lower", "upper")
            ),
        ),
    ),
    CsvFile(
        "budget.csv",
        "heading_budget.py",
        "a row for each error source of each IMU, at the time for which the budget is reported",
        _columns(
            "IMU | | name of the IMU",
            "source | | error source",
            "mean [deg] | deg | contribution to the mean",
            "std [deg] | deg | contribution to the standard deviation",
            "share of variance [%] | % | share of the total variance",
            "differs | | whether it differs between sensors, between switch-ons or within a drive",
        ),
    ),
    CsvFile(
        "bands.csv",
        "position_budget.py",
        "position error over time",
        _columns(
            "time | s | since the start",
            "robot | | names of IMU and odometer",
            "distance | m | distance travelled since the start",
            "x | m | true position relative to the start",
            "y | m | true position relative to the start",
            "mean_x | m | mean error over drives",
            "mean_y | m | mean error over drives",
            "std_x | m | standard deviation over drives",
            "std_y | m | standard deviation over drives",
            "correlation | 1 | correlation of the errors of x and y",
            *(
                f"{name}_std | m | standard deviation of the error {name} the track"
                for name in ("along", "across")
            ),
            *(
                f"{name}_{edge}_{share} | m | {edge} edge of the band with {share} % of all drives"
                for name in ("along", "across")
                for share in (50, 95)
                for edge in ("lower", "upper")
            ),
        ),
    ),
    CsvFile(
        "budget.csv",
        "position_budget.py",
        "a row for each error source of each robot, at the time for which the budget is reported",
        _columns(
            "robot | | names of IMU and odometer",
            "source | | error source",
            "mean [m] | m | length of the contribution to the mean error",
            "std along [m] | m | contribution to the standard deviation along the track",
            "std across [m] | m | contribution to the standard deviation across the track",
            "share of variance [%] | % | share of the total variance",
        ),
    ),
    CsvFile(
        "requirements.csv",
        "heading_budget.py",
        "a row for each error source; only with `--require`",
        _columns(
            "error source | | name of the error source",
            "maximum alone | unit | largest permitted value if it is the only error source",
            "maximum with equal shares | unit | largest permitted value if all sources contribute "
            "equally",
            "unit | | unit of the values",
            "data sheet value with equal shares | | the same value in the unit of data sheets",
        ),
    ),
    CsvFile(
        "summary.csv",
        "monte_carlo.py",
        "distribution of the yaw error over time",
        _columns(
            "time [s] | s | since the start",
            "mean [deg] | deg | mean of all runs",
            "standard error of mean [deg] | deg | standard error due to the finite number of runs",
            "std [deg] | deg | standard deviation of all runs",
            "<number>th percentile [deg] | deg | 0.5th, 2.5th, 25th, 50th, 75th, 97.5th and 99.5th",
        ),
    ),
    CsvFile(
        "spectrum.csv",
        "monte_carlo.py",
        "a row for each frequency",
        _columns(
            "frequency [Hz] | Hz | frequency",
            "density [deg^2/Hz] | deg^2/Hz | mean power spectral density of the yaw error",
            "standard error [deg^2/Hz] | deg^2/Hz | due to the finite number of runs",
        ),
    ),
    CsvFile(
        "runs.csv.gz",
        "monte_carlo.py",
        "a row for each run",
        _columns(
            "run | 1 | number of the run, from 0",
            "final [deg] | deg | error at the end",
            "maximum [deg] | deg | largest absolute error",
            "rms [deg] | deg | rms error",
            "drift [deg/min] | deg/min | slope of the error",
            "?psd <from> to <to> Hz [deg^2/Hz] | deg^2/Hz | mean density within a frequency band",
        ),
    ),
    CsvFile(
        "models.csv",
        "identify_yaw_error.py",
        "a row for each model that was compared",
        _columns(
            "model | | error sources in the model",
            "parameters | 1 | number of parameters",
            "log-likelihood | 1 | log-likelihood of the fit",
            "AIC | 1 | Akaike's information criterion",
            "AIC difference | 1 | AIC minus the smallest AIC",
            "likelihood ratio | 1 | statistic of the test against the chosen model",
            "p-value | 1 | p-value of that test",
            "chosen | | yes for the chosen model",
        ),
    ),
    CsvFile(
        "parts.csv",
        "identify_yaw_error.py",
        "parts of the yaw error over time",
        _columns(
            "time | s | on the clock of the recording",
            "?drive | 1 | number of the drive, if there are several",
            "error | rad | yaw error; sum of the parts and the residual",
            "?<part> | rad | part of the chosen model, by its name in models.csv",
            "residual | rad | error that the parts do not explain",
            "IMU error | rad | sum of the IMU's parts and the initial offset",
            "innovation | rad | observation minus its prediction",
            "innovation_std | rad | standard deviation of the innovation",
        ),
    ),
    CsvFile(
        "predictions.csv",
        "identify_yaw_error.py",
        "a row for each drive, if there are several: prediction by a model of the other drives",
        _columns(
            *_DRIVE,
            "verdict | | verdict on the model of the other drives",
        ),
    ),
    CsvFile(
        "judgement.csv",
        "judge_imu.py",
        "a row for each test of each model",
        _columns(
            "?drive | | name of the drive, if there are several",
            "imu | | name of the model",
            "statistic | | tested statistic",
            "unit | | unit of the statistic",
            "deviation of the model | | if rejected: too little, too much or other direction",
            "recorded | unit | value of the recorded IMU",
            "median of runs | unit | median under the model",
            "2.5th percentile of runs | unit | 2.5th percentile under the model",
            "97.5th percentile of runs | unit | 97.5th percentile under the model",
            "percentile | 1 | percentile of the recorded IMU under the model, 0 to 100",
            "p-value | 1 | two-sided p-value",
            "corrected p-value | 1 | p-value, corrected for the number of tests",
        ),
    ),
    CsvFile(
        "judgement_drives.csv",
        "judge_imu.py",
        "a row for each of several drives",
        _columns("imu | | name of the model", *_DRIVE, "verdict | | verdict on the model"),
    ),
    CsvFile(
        "allan_deviation.csv",
        "allan_analysis.py",
        "Allan deviation by averaging time",
        _columns(
            "tau | s | averaging time",
            "recording | 1 | number of the recording, from 1",
            "?<axis>_deviation | rad/s, m/s^2 | Allan deviation of gyro_x, ..., accel_z",
            "?<axis>_low | rad/s, m/s^2 | lower limit of the 95 % interval",
            "?<axis>_high | rad/s, m/s^2 | upper limit of the 95 % interval",
            "?<axis>_degrees_of_freedom | 1 | degrees of freedom of the interval",
        ),
    ),
    CsvFile(
        "allan_deviation.csv",
        "validate_imu.py",
        "a row for each axis and averaging time",
        _columns(
            "quantity | | rate, force or orientation",
            "axis | | x, y, z; roll, pitch, yaw",
            "tau | s | averaging time",
            "allan_deviation | rad/s, m/s^2, rad | Allan deviation of the error",
        ),
    ),
    CsvFile(
        "validation.csv",
        "validate_imu.py",
        "a row for each axis, with statistics of the error (truth minus IMU)",
        _columns(
            "quantity | | rate, force or orientation",
            "axis | | x, y, z; roll, pitch, yaw",
            "unit | | unit of the statistics",
            "mean | unit | mean error",
            "standard_deviation | unit | standard deviation of the error",
            "rms | unit | rms error",
            "maximum_absolute | unit | largest absolute error",
        ),
    ),
    CsvFile(
        "comparison.csv",
        "compare_plugins.py",
        "a row for each statistic of each experiment",
        _columns(
            "experiment | | simulator and plug-in",
            "quantity | | quantity of the plug-in",
            "statistic | | statistic of the quantity",
            "unit | | unit of the values",
            "recorded | unit | value of the plug-in",
            "model | unit | mean of the emulation",
            "standard_error | unit | standard error of the difference",
            "deviation | 1 | difference divided by its standard error",
        ),
    ),
    CsvFile(
        "compare_yaw.csv",
        "compare_yaw.py",
        "a row for each yaw signal after the first; the error is the first minus this signal",
        _columns(
            "yaw signal | | name of the yaw signal that is subtracted from the first",
            "duration [s] | s | duration of the common time interval",
            "rms [deg] | deg | rms error",
            "?reference rms [deg] | deg | expected rms error of the reference, if known",
            "?IMU rms [deg] | deg | remaining rms error of the IMU with its 95 % interval",
            "max [deg] | deg | largest absolute error",
            "final [deg] | deg | error at the end",
            "?final uncertainty [deg] | deg | uncertainty of the final error due to the reference",
            "?IMU final [deg] | deg | final error that is due to the IMU alone",
            "?IMU final uncertainty [deg] | deg | uncertainty of the IMU's final error",
            "drift [deg/min] | deg/min | slope of the error",
            "delay [s] | s | delay of the yaw signal relative to the first",
            "correlation | 1 | correlation of the yaw rates",
        ),
    ),
    CsvFile(
        "yaw_errors.csv",
        "plot_multiple_errors.py",
        "a row for each yaw error",
        _columns(
            "drive | | name of the drive",
            "IMU | | recorded IMU, or model with its parameters",
            "run | | number of the run in the ensemble",
            "seed | 1 | random seed of the run",
            "duration [s] | s | duration of the drive",
            "rms [deg] | deg | rms error",
            "max [deg] | deg | largest absolute error",
            "final [deg] | deg | error at the end",
            "drift [deg/min] | deg/min | slope of the error",
            "over 10 m [deg] | deg | rms change over 10 m of the unscaled path",
            "over 90 deg [deg] | deg | rms change over 90 deg of turning",
        ),
    ),
    CsvFile(
        "identification.csv",
        "identify_odometer.py",
        "heading error of the odometer",
        _columns(
            "time | s | on the clock of the recording",
            "error | rad | reference minus odometer",
            "explained | rad | part due to wheel radii and track width",
        ),
    ),
    CsvFile(
        "figures.csv",
        "reproduce_thesis.py",
        "a row for each figure of the thesis",
        _columns(
            "figure | | number of the figure",
            "title | | title of the figure",
            "thesis | | result of the thesis",
            "this package | | result of this package",
            "reason for difference | | reason for the difference",
            "file | | file of the figure",
        ),
    ),
    CsvFile("body.csv", _FLIGHT, "true motion of the aircraft", _shared(tables.FLIGHT_TRUTH)),
    CsvFile("imu_truth.csv", _FLIGHT, "true motion of the IMU", _shared(tables.FLIGHT_TRUTH)),
    CsvFile("imu.csv", _FLIGHT, "output of the IMU", _shared(tables.IMU_RECORD)),
    CsvFile(
        "fixes.csv",
        _FLIGHT,
        "measurements of the GNSS receiver, at the times of measurement",
        _shared(
            tables.GNSS_RECORD,
            meanings={axis: ("m", f"ECEF {axis} of the antenna") for axis in "xyz"},
        ),
    ),
    CsvFile(
        "increments.csv",
        _FLIGHT,
        "error-free increments over the sampling period that ends at each time",
        _shared(tables.INCREMENTS),
    ),
    CsvFile(
        "gimbal.csv",
        _FLIGHT,
        "angles of the joints",
        _shared(
            ("pan", "tilt", "roll", "pan_rate", "tilt_rate", "roll_rate"),
            meanings={"roll": ("rad", "angle of the joint")},
        ),
    ),
    CsvFile(
        "navigation_<case>.csv",
        _FLIGHT,
        "errors of the navigator in the first run",
        _shared(
            (
                "heading",
                *(f"{name}_{axis}" for name in ("position", "velocity") for axis in "ned"),
            ),
            meanings={
                "heading": ("rad", "error of the heading"),
                **{
                    f"{name}_{axis}": (unit, f"error, {direction}")
                    for name, unit in (("position", "m"), ("velocity", "m/s"))
                    for axis, direction in zip("ned", ("north", "east", "down"))
                },
            },
        ),
    ),
)
"""CSV files of all programs; files of different programs may have the same name."""
