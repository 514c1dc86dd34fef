"""From satellite fixes to a path that a robot can have driven.

A fix says where the robot was, not where it pointed, and is noisy. Its positions are smoothed,
with Doppler velocities if there are any, as strongly as they themselves tell; the heading is the
course of the smooth path while the robot moves, and is held while it stands, unless two
antennas tell it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.angles import wrap
from ..core.settings import Settings, setting
from ..core.stamps import Occurrences, count_occurrences
from ..core.tables import REFERENCE_ERROR, TURN_SLIP
from . import course, fix_noise
from .smoothing import SmoothMotion, bridge_variance

if TYPE_CHECKING:
    import pandas as pd

MAX_SAMPLES = 20_000_000
"""Of a trajectory: two days at 100 Hz, of which one column takes 160 MB."""

RANGE_ERROR = 2.5
"""Error of a horizontal coordinate [m] at a dilution of precision of 1, as a single receiver
without corrections has under open sky. HDOP is the root of the sum of both coordinates' variances
over the range error (Kaplan and Hegarty, Understanding GPS, 2006), which 2.5 sqrt(2) = 3.5 m is."""
UNKNOWN_VARIANCE = RANGE_ERROR**2
"""Variance [m^2] of a horizontal coordinate whose variance is not known."""
VELOCITY_TOLERANCE = 1.5
"""Velocities that differ from the positions' by a larger factor are not used."""
HELD_COURSE = 1e-9
"""Two courses that differ by less are one and the same number [rad]."""
HOLDING_SPEED = 2.0
"""From this speed on a receiver is taken to give a new course with every fix [m/s]."""

_DRAWS, _SEED = 20, 1


def _usable_fixes(fix, minimum_speed):
    """Return the fixes of a table of n rows that say something new, with times since the first row.

    Beside them the rows (n,) that they are, and what was left out, as :class:`FixReport` says it.
    Below ``minimum_speed`` the robot rests [m/s].
    """
    # Times since 1970 squared would cost digits.
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
    # A receiver that gives speed and course holds its course while it is slow, so that the velocity
    # points where the robot came from. What is fast keeps its velocity: a course that is given in
    # whole degrees is often that of before.
    east, north = velocities.T
    again = np.append(False, np.abs(wrap(np.diff(np.arctan2(north, east)))) < HELD_COURSE)
    speeds = np.hypot(east, north)
    held = again & (speeds >= minimum_speed) & (speeds < HOLDING_SPEED)
    left_out["held_courses"] = int(held.sum())
    with_velocities = replace(fixes, velocities=np.where(held[:, None], np.nan, velocities))
    scale = fix_noise.velocity_scale(with_velocities)
    if scale is not None and not 1.0 / VELOCITY_TOLERANCE < scale < VELOCITY_TOLERANCE:
        return fixes, kept, {**left_out, "refused_velocity_scale": scale}
    lag = fix_noise.velocity_lag(with_velocities)
    return replace(with_velocities, velocity_lag=lag), kept, left_out


def local_position(fix):
    """Turn a table of fixes into metres east and north of the first one, shape (n, 2).

    They are on the plane that touches the ellipsoid (WGS 84) there; local ones stay as they are.
    The altitude of the first fix (0 if unknown) is used for all: the horizontal position hardly
    depends on it, and so the noise of the altitude stays out.
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
    """Return the variance of a horizontal coordinate by what a receiver says, (n,) [m^2], or nan.

    A position error (epe) [m] is taken as the root mean square distance from the truth, so that
    each coordinate has half its square; where it is not known, a dilution of precision times
    :data:`RANGE_ERROR` is the standard deviation of each coordinate.
    """
    given = [values for values in (position_error, hdop) if values is not None]
    variances = np.full(len(given[0]), np.nan)
    for values, factor in ((hdop, RANGE_ERROR), (position_error, np.sqrt(0.5))):
        if values is not None:
            known = np.isfinite(values) & (values > 0.0)
            variances[known] = (factor * values[known]) ** 2
    return variances


def repeated_fixes(times, coordinates, minimum_speed):
    """Return which rows (n,) only repeat a position that the receiver gave before.

    While the robot moves every row but the first of those with one position is a repetition. A
    receiver that is seen to hold its positions so is taken to do it at rest too, so that there one
    row in its period remains. ``coordinates`` (n, 2) [m] are compared exactly; below
    ``minimum_speed`` [m/s] the robot rests.
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
        # A tenth of a row's time earlier, so that rounded stamps do not cost a row.
        slack = 0.1 * np.median(np.diff(times))
        number = np.floor((times - times[starts[run]] + slack) / period)
        again = np.append(False, (np.diff(number) == 0.0) & (np.diff(run) == 0))
        repeated |= ~moving[run] & again
    return repeated


_NOTABLE_SCALE = 4.0
_NOTABLE_RESIDUAL = 2.0
_FAR_RESIDUAL = 3.0
_NOTABLE_OFFSET = np.radians(10.0)


@dataclass(frozen=True)
class FixReport:
    """How a path was made from fixes, and what that tells of them.

    Not used were: ``repeated``: rows that only repeat the position before; ``outliers``,
    ``velocity_outliers`` (stamps.Occurrences): positions and Doppler velocities that no motion
    explains; ``held_courses``: Doppler velocities of a receiver that holds its course when slow;
    ``refused_velocity_scale`` (float or None): how far the positions go for each metre of all the
    velocities. ``fixes``: positions that were used. ``doppler``: whether velocities were.

    ``acceleration_density``: how lively the robot is [m/s^2/sqrt(Hz)]. ``estimated``: whether that
    and the errors were estimated, or given. ``stated_deviation``: standard deviation of a
    coordinate as the receiver states it, rms [m]. ``assumed``: whether that is assumed, since
    nothing states it. ``white_deviation``, ``slow_deviation``: of the error's white and of its slow
    part, as the smoothing takes them [m]. ``residual_rms``: of measured less smooth coordinates
    [m]. ``velocity_deviation``: of a component of the velocities, as the smoothing takes it [m/s].
    ``velocity_lag``: how late they were against the positions, which was taken off [s].

    ``heading_source``: ``the course``, ``the antennas`` or ``the antennas and the course``.
    ``heading_deviation`` (float or None): expected standard deviation of a heading from the course,
    rms [rad], above ``heading_speed`` [m/s]. ``antennas`` (CourseCheck or None): their heading
    beside the course. ``backwards``: how long the robot is taken to drive so [s].
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
        """Variance of a position as the smoothing takes it over what the receiver states."""
        taken = self.white_deviation**2 + self.slow_deviation**2
        return float(taken / self.stated_deviation**2)

    def sentences(self, place_name="sample") -> list[str]:
        """Return what a person should know."""
        origin = "estimated from the fixes" if self.estimated else "as set"
        stated, whose = "the receiver states", "the receiver's"
        if self.assumed:
            stated, whose = "assumed are", "the assumed"
        if self.doppler:
            origin += f", with Doppler velocities of {self.velocity_deviation:.2g} m/s a component"
        sentences = [
            f"the path is smoothed with an acceleration density of {self.acceleration_density:.3g} "
            f"m/s^2/sqrt(Hz), {origin}; positions are {self.residual_rms:.2g} m rms from it, "
            f"{stated} {self.stated_deviation:.2g} m"
        ]
        scale = self.variance_scale
        taken = np.hypot(self.white_deviation, self.slow_deviation)
        if self.estimated and not 1.0 / _NOTABLE_SCALE < scale < _NOTABLE_SCALE:
            sentences.append(
                f"{whose} variances fit {scale:.2g} times: the errors are taken as "
                f"{taken:.2g} m, as far as they change during the drive"
            )
        if self.estimated and not self.doppler and self.residual_rms > _FAR_RESIDUAL * taken:
            sentences.append(
                f"the path leaves the positions by {self.residual_rms / taken:.1f} times what "
                "their errors are taken for, so it is too smooth; a larger acceleration_density "
                "follows them"
            )
        if self.repeated:
            rows = "row repeats" if self.repeated == 1 else "rows repeat"
            sentences.append(
                f"{self.repeated} {rows} the position before, since the receiver gives new ones "
                "less often, and are not used"
            )
        for finding, one, many in (
            (self.outliers, "position", "positions"),
            (self.velocity_outliers, "Doppler velocity", "Doppler velocities"),
        ):
            if finding:
                sentences.append(
                    f"{finding.count} {one if finding.count == 1 else many} that no motion "
                    "explains, not used, the first is "
                    f"{place_name} {finding.first_place} at {finding.first_time:.3f} s"
                )
        if self.held_courses:
            sentences.append(
                f"at {self.held_courses} of the fixes the receiver holds its course, since it is "
                "slow, and their speed is not used"
            )
        if self.velocity_lag:
            late = "late" if self.velocity_lag > 0.0 else "early"
            sentences.append(
                f"the Doppler velocities are {abs(self.velocity_lag):.2g} s {late} against the "
                "positions, which is taken off"
            )
        if self.doppler and self.residual_rms > _NOTABLE_RESIDUAL * self.stated_deviation:
            sentences.append(
                "the positions and the Doppler velocities contradict each other, and the path "
                "follows the velocities; are the time stamps those of the fixes?"
            )
        if self.refused_velocity_scale is not None:
            sentences.append(
                f"the positions go {self.refused_velocity_scale:.2f} m for each metre of the "
                "velocities, which are not used; are their unit, course and axes right?"
            )
        if self.heading_deviation is not None:
            expected = np.degrees(self.heading_deviation)
            sentences.append(
                f"heading from {self.heading_source}; that of the course is expected within "
                f"{expected:.2g} deg rms above {self.heading_speed:g} m/s"
            )
        if self.backwards > 0.0:
            sentences.append(
                f"for {self.backwards:.1f} s the robot is taken to drive backwards or to sway: "
                "the course flips and flips back faster than maximum_turn_rate allows; a robot "
                "that turns so fast needs a larger one"
            )
        check = self.antennas
        if check is not None and max(abs(check.offset), check.rms) > _NOTABLE_OFFSET:
            sentences.append(
                f"the antennas' heading is {np.degrees(check.offset):+.1f} deg from the course in "
                f"the mean, with {np.degrees(check.rms):.1f} deg rms about that; are they mounted "
                "turned?"
            )
        if check is not None and check.backwards > 0.0:
            sentences.append(f"the robot drives backwards for {check.backwards:.1f} s")
        return sentences

    def to_dict(self) -> dict:
        """Return everything as plain values, for a summary; angles in degrees."""
        values = {**asdict(self), "variance_scale": self.variance_scale}
        deviation, check = values.pop("heading_deviation"), values["antennas"]
        values["heading_deviation_deg"] = deviation and float(np.degrees(deviation))
        if check is not None:
            degrees = {f"{name}_deg": float(np.degrees(check[name])) for name in ("offset", "rms")}
            values["antennas"] = {**degrees, "backwards": check["backwards"]}
        return values


HEADING_SPEED = 2.0
"""Above this speed the expected deviation of the heading is reported [m/s]."""
TRAJECTORY_RATE = 20.0
"""Samples per second [Hz] of the trajectory that is made of fixes."""


@dataclass(frozen=True)
class FixSettings(Settings):
    """How a trajectory is made from fixes.

    ``minimum_speed``: below it the course means nothing and the heading is held [m/s].
    ``maximum_turn_rate``: how fast the heading goes from one course to the next one after a stop
    [rad/s]. A course that flips faster through a standstill, and back again, is that of a robot
    that drives backwards in between. ``acceleration_density`` (float or None): how lively the robot
    is: density of the white noise that drives its velocity [m/s^2/sqrt(Hz)]. Smaller gives a
    smoother path. None: estimated from the fixes, with the size of their errors.
    ``error_correlation_time``: time over which the receiver's error stays alike [s]. Errors that
    are alike do not average out, so that fixes that follow faster than this weigh less each. 0: not
    at all.

    How wrong the heading is, of poses too: ``yaw_deviation`` (float or None): standard deviation
    [rad]; None: as the recording or the smoothing says. ``yaw_error_time``: how long such an error
    stays alike where positions do not tell it [s]. ``turn_error``: standard deviation of the share
    by which the heading turns too far all the time, as that of odometry may. ``turn_slip``: of a
    random walk that grows with the turn, as that of wheels that slip. ``course_lag``: that of a
    constant delay of a course [s], as a receiver's filter has it. Raises ConfigurationError if
    a value is out of range.
    """

    minimum_speed: float = setting(0.2, unit="m/s", above=0.0)
    maximum_turn_rate: float = setting(0.8, unit="rad/s", above=0.0)
    acceleration_density: float | None = setting(None, unit="m/s^2/sqrt(Hz)", above=0.0)
    error_correlation_time: float = setting(4.0, unit="s", minimum=0.0)
    yaw_deviation: float | None = setting(None, unit="rad", minimum=0.0)
    yaw_error_time: float = setting(10.0, unit="s", above=0.0)
    turn_error: float = setting(0.0, minimum=0.0, maximum=1.0)
    turn_slip: float = setting(0.0, unit="rad/sqrt(rad)", minimum=0.0, maximum=1.0)
    course_lag: float = setting(0.5, unit="s", minimum=0.0)


@dataclass(frozen=True)
class FixTrajectory:
    """``poses`` is Poses in east and north of the first fix, uniformly sampled.

    Its column ``yaw_known`` is 1 where the heading was measured, by antennas or by a course at a
    significant speed, and 0 where it was held or bridged; ``yaw_std``, ``yaw_error_time``,
    ``yaw_lag`` and ``turn_error`` say how wrong it may be (:class:`.ReferenceError`). ``fixes`` has
    the columns x, y: the positions as received, in the same axes, outliers among them.
    """

    poses: pd.DataFrame
    fixes: pd.DataFrame
    report: FixReport


def trajectory_from_fixes(
    fix, settings=None, places=None, rate: float = TRAJECTORY_RATE
) -> FixTrajectory:
    """Return the trajectory of a robot, from its fixes.

    ``fix`` (pandas.DataFrame): Fix table with at least 3 samples, or one with ``x y`` [m] in place
    of latitude and longitude; variances positive. ``velocity_east velocity_north`` [m/s] and
    ``heading`` [rad, counter-clockwise from east], nan where there is none, are used if they are
    there. ``places`` (sequence of int): number of each fix in the recording, for the report.
    ``rate``: samples of the trajectory per second. Raises NoHeadingError if the robot is nowhere as
    fast as the minimum speed. Raises ValueError if the fixes do not determine a path.
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
    """The smooth path of k fixes at m even times, and how it was found.

    ``used`` are the fixes, without velocities that no motion explains, and ``left_out`` (k,) says
    which positions none explains. ``time`` (m,) is since the first fix [s]; ``positions`` [m],
    ``velocities`` [m/s] and ``variances`` of those [m^2/s^2] are (m, 2), east and north;
    ``motions`` at the model's times.
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
        """Of the robot, (m,) [m/s]."""
        return np.hypot(self.velocities[:, 0], self.velocities[:, 1])

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of a component of the velocity, (m,) [m/s]."""
        return np.sqrt(self.variances.mean(axis=1))


def _smooth_path(fixes, settings, duration, rate) -> _Path:
    # Imported here, since every node knows the settings above, and it takes 40 MB.
    from scipy.interpolate import CubicHermiteSpline

    if duration * rate > MAX_SAMPLES:
        raise ValueError(
            f"the positions last {duration:.3g} s, expected at most {MAX_SAMPLES / rate:.3g} s; "
            "check the unit of their time"
        )
    correlation_time, given = settings.error_correlation_time, settings.acceleration_density
    left_out = np.zeros(len(fixes.times), dtype=bool)
    densities = None
    if given is None:
        noise, used, left_out = fix_noise.estimate_robustly(fixes, correlation_time)
        densities = fix_noise.step_densities(used, noise, left_out)
    else:
        used, noise = fix_noise.stated_noise(fixes, given, correlation_time)
    model = fix_noise.motion_model(used, noise)
    motions = fix_noise.smooth_plane(used, noise, left_out, model, densities)
    time = np.arange(0.0, duration + 1e-9, 1.0 / rate)
    splines = [
        CubicHermiteSpline(model.times, motion.positions, motion.velocities) for motion in motions
    ]
    known = (motion.covariances[:, 1, 1] for motion in motions)
    # Rounding may leave nothing of a variance.
    variances = [np.interp(time, model.times, np.where(one > 0.0, one, np.inf)) for one in known]
    densities = np.full(len(model.steps), given) if densities is None else densities
    between = _between(model.times, time, densities)
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


def _between(known, time, densities):
    """Return how uncertain a velocity is at some times (m,), beside those at ``known`` (k,) [s].

    In [m^2/s^2], with the ``densities`` (k - 1,) of the white acceleration [m/s^2/sqrt(Hz)].
    """
    before = np.clip(np.searchsorted(known, time), 1, len(known) - 1) - 1
    step = np.diff(known)[before]
    share = np.clip((time - known[before]) / step, 0.0, 1.0)
    return densities[before] ** 2 * step * bridge_variance(share)


class _Heading(NamedTuple):
    """``yaw`` (m,) [rad], where it is ``known`` (m,), from what, and the antennas' beside it.

    ``backwards`` is how long the robot is taken to drive so where only its course tells [s].
    ``deviations`` (m,) of its error [rad], how long that stays alike, ``error_time``, and by how
    much it may lag [s].
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
    """Return the heading along a path, of antennas where a table of fixes has them."""
    import pandas as pd

    speeds, deviations = path.speeds, path.deviations
    moving = speeds >= settings.minimum_speed
    significant = moving & (speeds >= course.SIGNIFICANT_SPEED * deviations)
    headings = fix["heading"].dropna() if "heading" in fix else pd.Series(dtype=float)
    # With a density that is given the errors are not known well enough to hold a heading by them.
    unsure = deviations if settings.acceleration_density is None else 0.0
    try:
        yaw = course.heading_from_course(
            path.time, path.velocities, settings.minimum_speed, settings.maximum_turn_rate, unsure
        )
    except course.NoHeadingError:
        if len(headings) == 0:
            raise
        yaw = np.zeros(len(path.time))
    of_course = _course_deviations(path.velocities, speeds, path.variances)
    if len(headings) == 0:
        directions = np.arctan2(path.velocities[:, 1], path.velocities[:, 0])
        backwards = float((significant & (np.cos(yaw - directions) < 0.0)).sum() / rate)
        error = of_course, _course_error_time(path, settings.minimum_speed), settings.course_lag
        return _Heading(yaw, significant, "the course", None, backwards, *error)
    measured_times = headings.index.to_numpy(dtype=float) - fix.index.to_numpy(dtype=float)[0]
    yaw, silent = course.heading_from_antennas(path.time, yaw, measured_times, headings.to_numpy())
    check = course.compare_with_course(path.time, yaw, path.velocities, significant & ~silent)
    source = "the antennas and the course" if silent.any() else "the antennas"
    # What the two differ by is the antennas' error at most, as the course has one of its own.
    deviations = np.where(silent, of_course, of_course if check is None else check.rms)
    known = significant | ~silent
    return _Heading(yaw, known, source, check, 0.0, deviations, settings.yaw_error_time, 0.0)


def heading_errors(settings, deviations, error_time, lag) -> dict:
    """Return the columns of poses that say how wrong their heading may be.

    ``deviations`` (n,) [rad], unless the settings state one. ``error_time``, ``lag`` [s].
    """
    if settings.yaw_deviation is not None:
        deviations = np.full(len(deviations), settings.yaw_deviation)
    values = deviations, error_time, lag, settings.turn_error
    slip = {TURN_SLIP: settings.turn_slip} if settings.turn_slip > 0.0 else {}
    return {**dict(zip(REFERENCE_ERROR, values)), **slip}


def _course_deviations(velocities, speeds, variances):
    """Return standard deviations (m,) of the direction of velocities [rad], a half turn at most."""
    across = np.sum(velocities[:, ::-1] ** 2 * variances, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.sqrt(across) / speeds**2
    return np.where(deviations < np.pi, deviations, np.pi)


def _course_error_time(path, minimum_speed):
    """Return over which time the error of a smooth path's course falls to 1/e of its correlation.

    By errors that the measurements leave possible, drawn of all samples together [s].
    """
    random = np.random.default_rng(_SEED)
    east, north = (motion.drawn_velocity_errors(_DRAWS, random) for motion in path.motions)
    velocity = np.array([motion.velocities for motion in path.motions])
    speed = np.hypot(*velocity)
    moving = speed >= minimum_speed
    step = float(np.median(np.diff(path.used.times)))
    if np.sum(moving) < 3:
        return step
    errors = (velocity[0] * north - velocity[1] * east)[:, moving] / speed[moving] ** 2
    errors /= np.sqrt(np.mean(errors**2, axis=0))
    before = 1.0
    for lag in range(1, errors.shape[1]):
        alike = float(np.mean(errors[:, lag:] * errors[:, :-lag]))
        if alike < math.exp(-1.0):
            return step * (lag - 1.0 + (before - math.exp(-1.0)) / (before - alike))
        before = alike
    return step * errors.shape[1]


def _report(fixes, path, heading, settings, times, places, left_out) -> FixReport:
    """Return what was found; ``times`` and ``places`` are those of the usable fixes."""
    used, noise = path.used, path.noise
    dropped = np.zeros(len(path.left_out), dtype=bool)
    if used.velocities is not None and fixes.velocities is not None:
        dropped = np.isnan(used.velocities[:, 0]) & ~np.isnan(fixes.velocities[:, 0])
    above = HEADING_SPEED if np.any(path.speeds > HEADING_SPEED) else settings.minimum_speed
    fast, expected = path.speeds > above, None
    if fast.any():
        of_course = path.velocities[fast], path.speeds[fast], path.variances[fast]
        expected = _rms(_course_deviations(*of_course))
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
        heading_speed=float(above),
        antennas=heading.check,
        backwards=heading.backwards,
        **left_out,
    )


def _rms(values):
    return float(np.sqrt(np.mean(np.square(values))))
