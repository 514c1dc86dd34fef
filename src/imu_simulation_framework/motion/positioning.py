"""Computation of robot trajectories from GNSS fixes.

A fix contains a noisy position of the robot, but no heading. The positions are smoothed together
with Doppler velocities, if there are any; the amount of smoothing is estimated from the data. The
heading is the course of the smoothed path while the robot moves, and is held constant at
standstill, unless two antennas measure it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.angles import wrap
from ..core.settings import TextSettings, setting
from ..core.stamps import Occurrences, count_occurrences
from ..core.tables import REFERENCE_ERROR, TURN_SLIP
from . import course, fix_noise
from .smoothing import SmoothMotion, bridge_variance

if TYPE_CHECKING:
    import pandas as pd

MAX_SAMPLES = 20_000_000  # per trajectory; two days at 100 Hz, 160 MB per column

#: Standard deviation of a horizontal coordinate at HDOP 1, without corrections, under open sky [m].
#: The range error is 2.5 sqrt(2) = 3.5 m; times HDOP, it is the root of the sum of both variances.
#: See Kaplan and Hegarty, Understanding GPS, 2006.
RANGE_ERROR = 2.5
UNKNOWN_VARIANCE = RANGE_ERROR**2  # m^2; assumed if a recording states no variance
VELOCITY_TOLERANCE = 1.5  # largest accepted ratio of displacements to integrated velocities
HELD_COURSE = 1e-9  # rad; courses that differ by less are considered identical
HOLDING_SPEED = 2.0  # m/s; at higher speeds, a receiver outputs a new course with each fix

_DRAWS, _SEED = 20, 1  # number of random samples of the course error, and the random seed


def _usable_fixes(fix, minimum_speed):
    """Return the fixes with new information, a mask of their rows, and counts of ignored data.

    Times are relative to the first row. Below ``minimum_speed`` [m/s], the robot is at rest.
    """
    # Subtracting the first time preserves the precision of squared times.
    times = fix.index.to_numpy(dtype=float)
    times = times - times[0]
    position, velocities = local_position(fix), None
    kept = ~repeated_fixes(times, position, minimum_speed)
    if "velocity_east" in fix and "velocity_north" in fix:
        velocities = fix[["velocity_east", "velocity_north"]].to_numpy(dtype=float)[kept]
        velocities = np.where(np.isfinite(velocities).all(axis=1)[:, None], velocities, np.nan)
    deviations = np.sqrt(fix[["variance_east", "variance_north"]].to_numpy()[kept])
    fixes = fix_noise.PlaneFixes(times[kept], position[kept], deviations)
    left_out = {"repeated": int((~kept).sum())}
    if velocities is None or not np.isfinite(velocities).any():
        return fixes, kept, left_out
    # Velocities of slow fixes with a repeated course are ignored.
    # At low speed, a receiver that outputs speed and course holds the course, which is outdated.
    # At higher speeds, a repeated course is normal if the receiver rounds it to degrees.
    east, north = velocities.T
    is_same_course = np.append(False, np.abs(wrap(np.diff(np.arctan2(north, east)))) < HELD_COURSE)
    speeds = np.hypot(east, north)
    held = is_same_course & (speeds >= minimum_speed) & (speeds < HOLDING_SPEED)
    left_out["held_courses"] = int(held.sum())
    with_velocities = replace(fixes, velocities=np.where(held[:, None], np.nan, velocities))
    scale = fix_noise.velocity_scale(with_velocities)
    if scale is not None and not 1.0 / VELOCITY_TOLERANCE < scale < VELOCITY_TOLERANCE:
        return fixes, kept, {**left_out, "refused_velocity_scale": scale}
    lag = fix_noise.velocity_lag(with_velocities)
    return replace(with_velocities, velocity_lag=lag), kept, left_out


def local_position(fix):
    """Convert a table of fixes to positions east and north of the first fix, in metres.

    The positions are on the plane that is tangent to the WGS 84 ellipsoid at the first fix. Local
    positions are returned unchanged. The altitude of the first fix (0 if unknown) is used for all
    fixes: the horizontal position hardly depends on it, and altitude noise then has no effect.

    Parameters
    ----------
    fix : pandas.DataFrame
        Fix table, or a table with ``x y`` [m].

    Returns
    -------
    ndarray, shape (n, 2)
        Positions [m].
    """
    import pymap3d

    if "x" in fix:
        return fix[["x", "y"]].to_numpy(dtype=float)
    latitude, longitude = fix["latitude"].to_numpy(), fix["longitude"].to_numpy()
    altitude = float(fix["altitude"].iloc[0]) if "altitude" in fix else 0.0
    if not np.isfinite(altitude):
        altitude = 0.0
    east, north, _ = pymap3d.geodetic2enu(
        latitude, longitude, np.full(len(fix), altitude), latitude[0], longitude[0], altitude
    )
    return np.column_stack([east, north])


def variances_from_quality(position_error=None, hdop=None):
    """Compute the variances of horizontal coordinates from a receiver's error estimates.

    An estimated position error (epe) is the root mean square distance from the true position, so
    that the variance of each coordinate is half of its square. Where it is unknown, the standard
    deviation of each coordinate is the dilution of precision times :data:`RANGE_ERROR`.

    Parameters
    ----------
    position_error : ndarray, shape (n,), optional
        Estimated position errors [m].
    hdop : ndarray, shape (n,), optional
        Horizontal dilutions of precision.

    Returns
    -------
    ndarray, shape (n,)
        Variances [m^2], nan if unknown.
    """
    known_statements = [values for values in (position_error, hdop) if values is not None]
    variances = np.full(len(known_statements[0]), np.nan)
    for values, factor in ((hdop, RANGE_ERROR), (position_error, np.sqrt(0.5))):
        if values is not None:
            known = np.isfinite(values) & (values > 0.0)
            variances[known] = (factor * values[known]) ** 2
    return variances


def repeated_fixes(times, coordinates, minimum_speed):
    """Find the rows of a fix table that only repeat an earlier position of the receiver.

    While the robot moves, all rows with the same position, except the first, are repetitions. A
    receiver whose positions repeat during motion is assumed to repeat them at rest as well. At
    rest, one row per period of the receiver therefore remains.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times [s].
    coordinates : ndarray, shape (n, 2)
        Positions [m], which are compared for equality.
    minimum_speed : float
        Speed below which the robot is at rest [m/s].

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether each row repeats an earlier position.
    """
    repeated = np.zeros(len(times), dtype=bool)
    starts = np.flatnonzero(np.append(True, np.any(np.diff(coordinates, axis=0) != 0.0, axis=1)))
    if len(starts) < 3 or len(starts) == len(times):
        return repeated
    lengths = np.diff(np.append(starts, len(times)))
    chords = np.linalg.norm(coordinates[starts[2:]] - coordinates[starts[:-2]], axis=1)
    speeds = chords / (times[starts[2:]] - times[starts[:-2]])
    moving = np.concatenate([[False], speeds >= minimum_speed, [False]])
    if not moving.any():
        return repeated
    run = np.repeat(np.arange(len(starts)), lengths)
    first = np.zeros(len(times), dtype=bool)
    first[starts] = True
    repeated |= moving[run] & ~first
    if np.median(lengths[moving]) > 1.0:
        period = np.median(np.diff(times[starts])[moving[:-1]])
        # With a tolerance of a tenth of a step, rows with rounded stamps are kept.
        slack = 0.1 * np.median(np.diff(times))
        number = np.floor((times - times[starts[run]] + slack) / period)
        is_repeated = np.append(False, (np.diff(number) == 0.0) & (np.diff(run) == 0))
        repeated |= ~moving[run] & is_repeated
    return repeated


# Thresholds above which the report contains a remark.
_NOTABLE_SCALE = 4.0  # ratio of the estimated position variance to the reported one
_NOTABLE_RESIDUAL = 2.0  # ratio of the residual to the reported standard deviation, with velocities
_FAR_RESIDUAL = 3.0  # ratio of the residual to the estimated position error, without velocities
_NOTABLE_OFFSET = np.radians(10.0)  # rad; difference between dual-antenna heading and course


@dataclass(frozen=True)
class FixReport:
    """Report on the quality of GNSS fixes, and on the path computed from them.

    Parameters
    ----------
    fixes : int
        Number of positions used.
    repeated : int
        Number of rows that only repeat the previous position.
    acceleration_density : float
        Density of the robot's acceleration [m/s^2/sqrt(Hz)].
    estimated : bool
        Whether density and errors were estimated; false if they were set by the user.
    stated_deviation : float
        Standard deviation of a coordinate as reported by the receiver, rms [m].
    white_deviation, slow_deviation : float
        Standard deviations of the white and the slow position error that the smoother uses [m].
    residual_rms : float
        Root mean square difference between measured and smoothed coordinates [m].
    doppler : bool
        Whether velocities were used.
    velocity_deviation : float
        Standard deviation of a velocity component that the smoother uses [m/s].
    heading_source : str
        ``the course``, ``the antennas`` or ``the antennas and the course``.
    heading_deviation : float or None
        Expected standard deviation of the heading from the course while the robot is faster than
        ``heading_speed``, rms [rad].
    heading_speed : float
        Speed above which ``heading_deviation`` applies [m/s].
    antennas : CourseCheck or None
        Comparison of the dual-antenna heading with the course.
    held_courses : int
        Number of Doppler velocities that are ignored because the receiver holds its course at low
        speed.
    backwards : float
        Time during which the robot is assumed to drive backwards [s].
    refused_velocity_scale : float or None
        Ratio of displacements to the integrated velocities, if all velocities were ignored.
    velocity_lag : float
        Lag of the velocities behind the positions, which was corrected [s].
    assumed : bool
        Whether ``stated_deviation`` is assumed because the recording does not contain it.
    outliers, velocity_outliers : Occurrences
        Positions and Doppler velocities that contradict any plausible motion and are ignored.
    """

    fixes: int
    repeated: int
    acceleration_density: float
    estimated: bool
    stated_deviation: float
    white_deviation: float
    slow_deviation: float
    residual_rms: float
    doppler: bool
    velocity_deviation: float
    heading_source: str
    heading_deviation: float | None
    heading_speed: float
    antennas: course.CourseCheck | None = None
    held_courses: int = 0
    backwards: float = 0.0
    refused_velocity_scale: float | None = None
    velocity_lag: float = 0.0
    assumed: bool = False
    outliers: Occurrences = field(default_factory=Occurrences)
    velocity_outliers: Occurrences = field(default_factory=Occurrences)

    @property
    def variance_scale(self) -> float:
        """Ratio of the position variance that the smoother uses to the reported variance."""
        variance = self.white_deviation**2 + self.slow_deviation**2
        return float(variance / self.stated_deviation**2)

    def sentences(self, place_name="sample") -> list[str]:
        """Return remarks on the fixes and on the path, for the user.

        Parameters
        ----------
        place_name : str
            Noun for the location of a sample in the recording, such as "message".

        Returns
        -------
        list of str
            Remarks on the smoothing, the deviations, ignored fixes and the heading.
        """
        origin = "estimated from the fixes" if self.estimated else "set by the user"
        description, adjective = "reported by the receiver", "reported"
        if self.assumed:
            description, adjective = "assumed", "assumed"
        if self.doppler:
            origin += (
                f", with Doppler velocities whose error is {self.velocity_deviation:.2g} m/s per "
                "component"
            )
        sentences = [
            f"the path is smoothed with an acceleration density of {self.acceleration_density:.3g} "
            f"m/s^2/sqrt(Hz), {origin}; positions deviate from the path by {self.residual_rms:.2g} "
            f"m rms ({description}: {self.stated_deviation:.2g} m)"
        ]
        scale = self.variance_scale
        estimated_std = np.hypot(self.white_deviation, self.slow_deviation)
        if self.estimated and not 1.0 / _NOTABLE_SCALE < scale < _NOTABLE_SCALE:
            sentences.append(
                f"the estimated position variances are {scale:.2g} times the {adjective} ones: "
                "errors that vary during the drive have a standard deviation of "
                f"{estimated_std:.2g} m"
            )
        if (
            self.estimated
            and not self.doppler
            and self.residual_rms > _FAR_RESIDUAL * estimated_std
        ):
            sentences.append(
                f"the path deviates from the positions by {self.residual_rms / estimated_std:.1f} "
                "times their estimated error, so it is too smooth; set a larger "
                "acceleration_density"
            )
        if self.repeated:
            rows = "row repeats" if self.repeated == 1 else "rows repeat"
            sentences.append(
                f"{self.repeated} {rows} the previous position, because the receiver has a lower "
                "rate; ignored"
            )
        for finding, singular, plural in (
            (self.outliers, "position", "positions"),
            (self.velocity_outliers, "Doppler velocity", "Doppler velocities"),
        ):
            if finding:
                sentences.append(
                    f"{finding.count} {singular if finding.count == 1 else plural} ignored as "
                    "inconsistent with any plausible motion; the first is "
                    f"{place_name} {finding.first_place} at {finding.first_time:.3f} s"
                )
        if self.held_courses:
            sentences.append(
                f"at {self.held_courses} of the fixes, the receiver holds its course constant, "
                "because the speed is low; their velocities are ignored"
            )
        if self.velocity_lag:
            late = "late" if self.velocity_lag > 0.0 else "early"
            sentences.append(
                f"the Doppler velocities are {abs(self.velocity_lag):.2g} s {late} relative to the "
                "positions; this delay is corrected"
            )
        if self.doppler and self.residual_rms > _NOTABLE_RESIDUAL * self.stated_deviation:
            sentences.append(
                "the positions and the Doppler velocities contradict each other, and the path "
                "follows the velocities; check the time stamps of the fixes"
            )
        if self.refused_velocity_scale is not None:
            sentences.append(
                f"the displacements are {self.refused_velocity_scale:.2f} times the integrated "
                "Doppler velocities, which are ignored; check their unit, course and axes"
            )
        if self.heading_deviation is not None:
            expected = np.degrees(self.heading_deviation)
            sentences.append(
                f"heading from {self.heading_source}; above {self.heading_speed:g} m/s, the course "
                f"has an expected error of {expected:.2g} deg rms"
            )
        if self.backwards > 0.0:
            sentences.append(
                f"for {self.backwards:.1f} s, the robot seems to drive backwards or to sway: "
                "the course reverses and returns faster than maximum_turn_rate; increase "
                "maximum_turn_rate if the robot turns faster"
            )
        check = self.antennas
        if check is not None and max(abs(check.offset), check.rms) > _NOTABLE_OFFSET:
            sentences.append(
                f"the heading from the antennas differs from the course by "
                f"{np.degrees(check.offset):+.1f} deg on average, with {np.degrees(check.rms):.1f} "
                "deg rms about the average; check the mounting of the antennas"
            )
        if check is not None and check.backwards > 0.0:
            sentences.append(f"the robot drives backwards for {check.backwards:.1f} s")
        return sentences

    def to_dict(self) -> dict:
        """Return the values of the report for a summary, with angles in degrees.

        Returns
        -------
        dict of str to object
            Number or string for each name.
        """
        values = {**asdict(self), "variance_scale": self.variance_scale}
        deviation, check = values.pop("heading_deviation"), values["antennas"]
        values["heading_deviation_deg"] = deviation and float(np.degrees(deviation))
        if check is not None:
            degrees = {f"{name}_deg": float(np.degrees(check[name])) for name in ("offset", "rms")}
            values["antennas"] = {**degrees, "backwards": check["backwards"]}
        return values


HEADING_SPEED = 2.0  # m/s; the expected heading error is reported for higher speeds
TRAJECTORY_RATE = 20.0  # Hz; sample rate of a trajectory that is computed from fixes


@dataclass(frozen=True)
class FixSettings(TextSettings):
    """Settings for computing a trajectory from GNSS fixes.

    Parameters
    ----------
    minimum_speed : float
        Speed below which the course is ignored and the heading is held constant [m/s].
    maximum_turn_rate : float
        Largest turn rate from one course to the next after a stop [rad/s]. If the course reverses
        and returns faster than this, the robot is assumed to drive backwards in between.
    acceleration_density : float, optional
        Density of the white noise that drives the robot's velocity [m/s^2/sqrt(Hz)]. A smaller
        density gives a smoother path. By default, the density and the magnitude of the errors are
        estimated from the fixes.
    error_correlation_time : float
        Correlation time of the receiver's error [s]; 0 for uncorrelated errors. Correlated errors
        do not average out, so that each fix has a smaller weight at a higher rate.
    yaw_deviation : float, optional
        Standard deviation of the heading, for fixes and poses [rad]; by default, it is taken from
        the recording or estimated by the smoother.
    yaw_error_time : float
        Correlation time of the heading error, unless it is determined from positions [s].
    turn_error : float
        Standard deviation of the scale factor error of turns, as in odometry [1].
    turn_slip : float
        Random walk of the heading per square root of the turned angle, as caused by wheel slip
        [rad/sqrt(rad)].
    course_lag : float
        Standard deviation of a constant delay of the course, as caused by a receiver's filter [s].

    Raises
    ------
    ConfigurationError
        A value is out of range.
    """

    minimum_speed: float = setting(
        0.2,
        unit="m/s",
        above=0.0,
        about="for GPS fixes without heading: speed below which the heading is held",
    )
    maximum_turn_rate: float = setting(
        0.8,
        unit="rad/s",
        above=0.0,
        about="for GPS fixes without heading: largest rate at which the heading turns to the next "
        "course after a stop. If the course reverses and returns faster than that, the robot is "
        "assumed to drive backwards",
    )
    acceleration_density: float | None = setting(
        None,
        unit="m/s^2/sqrt(Hz)",
        above=0.0,
        about="for GPS fixes: density of the acceleration noise in the smoother; a smaller value "
        "gives a smoother path; empty: estimated from the fixes",
    )
    error_correlation_time: float = setting(
        4.0,
        unit="s",
        minimum=0.0,
        about="for GPS fixes: correlation time of the receiver's error; 0: uncorrelated errors",
    )
    yaw_deviation: float | None = setting(
        None,
        unit="rad",
        minimum=0.0,
        about="standard deviation of the error of the reference's heading, for poses and fixes; "
        "empty: stated by the recording, or estimated by the smoothing of fixes",
    )
    yaw_error_time: float = setting(
        10.0, unit="s", above=0.0, about="correlation time of the error of the reference's heading"
    )
    turn_error: float = setting(
        0.0,
        minimum=0.0,
        maximum=1.0,
        about="standard deviation of the relative error of turns, as in odometry",
    )
    turn_slip: float = setting(
        0.0,
        unit="rad/sqrt(rad)",
        minimum=0.0,
        maximum=1.0,
        about="random walk of the reference's heading over the turned angle, due to wheel slip",
    )
    course_lag: float = setting(
        0.5,
        unit="s",
        minimum=0.0,
        about="standard deviation of the lag of a receiver's course",
    )


@dataclass(frozen=True)
class FixTrajectory:
    """Trajectory computed from GNSS fixes.

    Parameters
    ----------
    poses : pandas.DataFrame
        Evenly sampled poses, relative to the first fix, with x east and y north. The column
        ``yaw_known`` is 1 where the heading was measured, by antennas or by the course at a
        significant speed, and 0 where it was held constant or interpolated. ``yaw_std``,
        ``yaw_error_time``, ``yaw_lag`` and ``turn_error`` describe the heading error
        (:class:`.ReferenceError`).
    fixes : pandas.DataFrame
        Columns x, y: the received positions in the same axes, including outliers.
    report : FixReport
        Report on the fixes and the path.
    """

    poses: pd.DataFrame
    fixes: pd.DataFrame
    report: FixReport


def trajectory_from_fixes(
    fix, settings=None, places=None, rate: float = TRAJECTORY_RATE
) -> FixTrajectory:
    """Compute the trajectory of a robot from its GNSS fixes.

    Parameters
    ----------
    fix : pandas.DataFrame
        Fix table with at least 3 samples and positive variances, or a table with ``x y`` [m]
        instead of latitude and longitude. The columns ``velocity_east velocity_north`` [m/s] and
        ``heading`` [rad, counter-clockwise from east], nan where missing, are used if present.
    settings : FixSettings, optional
        Settings of the smoother.
    places : sequence of int, optional
        Number of each fix in the recording, for the report.
    rate : float
        Sample rate of the trajectory [Hz].

    Returns
    -------
    FixTrajectory

    Raises
    ------
    NoHeadingError
        The speed of the robot never reaches the minimum speed.
    ValueError
        The fixes do not determine a path.
    """
    import pandas as pd

    settings = settings or FixSettings()
    places = np.arange(1, len(fix) + 1) if places is None else np.asarray(places)
    times = fix.index.to_numpy(dtype=float)
    fixes, kept, left_out = _usable_fixes(fix, settings.minimum_speed)
    path = _smooth_path(fixes, settings, times[-1] - times[0], rate)
    heading = _heading(fix, path, settings, rate)
    report = _report(fixes, path, heading, settings, times[kept], places[kept], left_out)
    poses = pd.DataFrame(
        {
            "x": path.positions[:, 0],
            "y": path.positions[:, 1],
            "yaw": heading.yaw,
            "yaw_known": heading.known * 1.0,
            **heading_errors(settings, heading.deviations, heading.error_time, heading.lag),
        },
        index=pd.Index(times[0] + path.time, name="time"),
    )
    received = pd.DataFrame(
        fixes.positions, columns=["x", "y"], index=pd.Index(times[kept], name="time")
    )
    return FixTrajectory(poses, received, report)


class _Path(NamedTuple):
    """Path smoothed from k fixes, at m evenly spaced times.

    ``used`` are the fixes, without outliers among the velocities, and ``left_out`` (k,) is a mask
    of outliers among the positions. ``time`` (m,) is relative to the first fix [s]. ``positions``
    [m], ``velocities`` [m/s] and the ``variances`` of the velocities [m^2/s^2] are (m, 2), east and
    north. ``motions`` are the smoothed motions at the times of the model.
    """

    used: fix_noise.PlaneFixes
    noise: fix_noise.FixNoise
    left_out: np.ndarray
    time: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    variances: np.ndarray
    motions: list[SmoothMotion]

    @property
    def speeds(self) -> np.ndarray:
        """Speeds of the robot, (m,) [m/s]."""
        return np.hypot(self.velocities[:, 0], self.velocities[:, 1])

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of each velocity component, (m,) [m/s]."""
        return np.sqrt(self.variances.mean(axis=1))


def _smooth_path(fixes, settings, duration, rate) -> _Path:
    # Imported on first use: every node imports this module, and scipy.interpolate needs 40 MB.
    from scipy.interpolate import CubicHermiteSpline

    if duration * rate > MAX_SAMPLES:
        raise ValueError(
            f"positions span {duration:.3g} s, expected at most {MAX_SAMPLES / rate:.3g} s; "
            "check the unit of time"
        )
    correlation_time, density = settings.error_correlation_time, settings.acceleration_density
    left_out = np.zeros(len(fixes.times), dtype=bool)
    densities = None
    if density is None:
        noise, used, left_out = fix_noise.estimate_robustly(fixes, correlation_time)
        densities = fix_noise.step_densities(used, noise, left_out)
    else:
        used, noise = fix_noise.stated_noise(fixes, density, correlation_time)
    model = fix_noise.motion_model(used, noise)
    motions = fix_noise.smooth_plane(used, noise, left_out, model, densities)
    time = np.arange(0.0, duration + 1e-9, 1.0 / rate)
    splines = [
        CubicHermiteSpline(model.times, motion.positions, motion.velocities) for motion in motions
    ]
    known = (motion.posterior.covariances[:, 1, 1] for motion in motions)
    # Rounding can make a variance zero.
    variances = [
        np.interp(time, model.times, np.where(values > 0.0, values, np.inf)) for values in known
    ]
    densities = np.full(len(model.steps), density) if densities is None else densities
    between = _variance_between(model.times, time, densities)
    return _Path(
        used,
        noise,
        left_out,
        time,
        np.column_stack([spline(time) for spline in splines]),
        np.column_stack([spline(time, 1) for spline in splines]),
        np.column_stack(variances) + between[:, np.newaxis],
        motions,
    )


def _variance_between(known, time, densities):
    """Return the additional variance of velocities that are interpolated in time, (m,) [m^2/s^2].

    ``known`` (k,) are the times with a known variance [s], ``time`` (m,) the times of the result
    [s], and ``densities`` (k - 1,) those of the white acceleration noise [m/s^2/sqrt(Hz)].
    """
    lower = np.clip(np.searchsorted(known, time), 1, len(known) - 1) - 1
    step = np.diff(known)[lower]
    share = np.clip((time - known[lower]) / step, 0.0, 1.0)
    return densities[lower] ** 2 * step * bridge_variance(share)


class _Heading(NamedTuple):
    """Heading along a path, with its source and the statistics of its error.

    ``yaw`` (m,) is the heading [rad], and ``known`` (m,) a mask where it was measured. ``check``
    compares the antennas with the course. ``backwards`` is the time during which the robot is
    assumed to drive backwards, according to the course alone [s]. ``deviations`` (m,) [rad],
    ``error_time`` and ``lag`` [s] describe the heading error.
    """

    yaw: np.ndarray
    known: np.ndarray
    source: str
    check: course.CourseCheck | None
    backwards: float
    deviations: np.ndarray
    error_time: float
    lag: float


def _heading(fix, path, settings, rate) -> _Heading:
    """Return the heading along a path, from the antennas where possible, else from the course."""
    import pandas as pd

    speeds, deviations = path.speeds, path.deviations
    moving = speeds >= settings.minimum_speed
    significant = moving & (speeds >= course.SIGNIFICANT_SPEED * deviations)
    headings = fix["heading"].dropna() if "heading" in fix else pd.Series(dtype=float)
    # Velocity errors decide where the heading is held constant, unless the user sets the density.
    unsure = deviations if settings.acceleration_density is None else 0.0
    try:
        yaw = course.heading_from_course(
            path.time, path.velocities, settings.minimum_speed, settings.maximum_turn_rate, unsure
        )
    except course.NoHeadingError:
        if len(headings) == 0:
            raise
        yaw = np.zeros(len(path.time))
    course_deviations = _course_deviations(path.velocities, speeds, path.variances)
    if len(headings) == 0:
        directions = np.arctan2(path.velocities[:, 1], path.velocities[:, 0])
        backwards = float((significant & (np.cos(yaw - directions) < 0.0)).sum() / rate)
        error_time = _course_error_time(path, settings.minimum_speed)
        error = course_deviations, error_time, settings.course_lag
        return _Heading(yaw, significant, "the course", None, backwards, *error)
    measured_times = headings.index.to_numpy(dtype=float) - fix.index.to_numpy(dtype=float)[0]
    yaw, silent = course.heading_from_antennas(path.time, yaw, measured_times, headings.to_numpy())
    check = course.compare_with_course(path.time, yaw, path.velocities, significant & ~silent)
    source = "the antennas and the course" if silent.any() else "the antennas"
    # The difference is an upper bound on the heading error, because the course has errors as well.
    antenna_deviations = course_deviations if check is None else check.rms
    deviations = np.where(silent, course_deviations, antenna_deviations)
    known = significant | ~silent
    return _Heading(yaw, known, source, check, 0.0, deviations, settings.yaw_error_time, 0.0)


def heading_errors(settings, deviations, error_time, lag) -> dict:
    """Return the columns of a pose table that describe the heading error.

    Parameters
    ----------
    settings : FixSettings
        Settings; ``yaw_deviation``, if set, replaces ``deviations``.
    deviations : ndarray, shape (n,)
        Standard deviations of the heading [rad].
    error_time, lag : float
        Correlation time and lag of the error [s].

    Returns
    -------
    dict of str to object
        Columns ``yaw_std`` [rad], ``yaw_error_time``, ``yaw_lag`` [s], ``turn_error`` and, if it is
        not zero, ``turn_slip`` [rad/sqrt(rad)].
    """
    if settings.yaw_deviation is not None:
        deviations = np.full(len(deviations), settings.yaw_deviation)
    values = deviations, error_time, lag, settings.turn_error
    slip = {TURN_SLIP: settings.turn_slip} if settings.turn_slip > 0.0 else {}
    return {**dict(zip(REFERENCE_ERROR, values)), **slip}


def _course_deviations(velocities, speeds, variances):
    """Return the standard deviations of the course, at most half a turn, (m,) [rad]."""
    across = np.sum(velocities[:, ::-1] ** 2 * variances, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.sqrt(across) / speeds**2
    return np.where(deviations < np.pi, deviations, np.pi)


def _course_error_time(path, minimum_speed):
    """Return the time in which the autocorrelation of the course error falls to 1/e [s].

    The time is estimated from random samples of the joint posterior distribution of all velocities.
    """
    random = np.random.default_rng(_SEED)
    posteriors = (motion.posterior for motion in path.motions)
    east, north = (posterior.draw_velocity_errors(_DRAWS, random) for posterior in posteriors)
    velocity = np.array([motion.velocities for motion in path.motions])
    speed = np.hypot(*velocity)
    moving = speed >= minimum_speed
    step = float(np.median(np.diff(path.used.times)))
    if np.sum(moving) < 3:
        return step
    errors = (velocity[0] * north - velocity[1] * east)[:, moving] / speed[moving] ** 2
    errors /= np.sqrt(np.mean(errors**2, axis=0))
    previous = 1.0
    for lag in range(1, errors.shape[1]):
        correlation = float(np.mean(errors[:, lag:] * errors[:, :-lag]))
        if correlation < math.exp(-1.0):
            return step * (lag - 1.0 + (previous - math.exp(-1.0)) / (previous - correlation))
        previous = correlation
    return step * errors.shape[1]


def _report(fixes, path, heading, settings, times, places, left_out) -> FixReport:
    """Create the report; ``times`` and ``places`` are those of the usable fixes."""
    used, noise = path.used, path.noise
    dropped = np.zeros(len(path.left_out), dtype=bool)
    if used.velocities is not None and fixes.velocities is not None:
        dropped = np.isnan(used.velocities[:, 0]) & ~np.isnan(fixes.velocities[:, 0])
    heading_speed = HEADING_SPEED if np.any(path.speeds > HEADING_SPEED) else settings.minimum_speed
    fast, expected = path.speeds > heading_speed, None
    if fast.any():
        fast_path = path.velocities[fast], path.speeds[fast], path.variances[fast]
        expected = _rms(_course_deviations(*fast_path))
    return FixReport(
        fixes=int((~path.left_out).sum()),
        outliers=count_occurrences(path.left_out, times, places),
        velocity_outliers=count_occurrences(dropped, times, places),
        acceleration_density=float(noise.acceleration_density),
        estimated=settings.acceleration_density is None,
        stated_deviation=_rms(fixes.deviations),
        white_deviation=float(np.sqrt(fix_noise.white_variances(used, noise).mean())),
        slow_deviation=_rms(noise.slow_scale * fixes.deviations),
        residual_rms=_rms([motion.residuals[~path.left_out] for motion in path.motions]),
        doppler=used.velocities is not None,
        velocity_deviation=float(noise.velocity_deviation),
        velocity_lag=fixes.velocity_lag,
        heading_source=heading.source,
        heading_deviation=expected,
        heading_speed=float(heading_speed),
        antennas=heading.check,
        backwards=heading.backwards,
        **left_out,
    )


def _rms(values):
    return float(np.sqrt(np.mean(np.square(values))))
