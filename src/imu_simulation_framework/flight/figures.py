"""Figures and report of a flight: measured and ideal IMU signals, path, navigation errors.

The IMU figures correspond to figures 5 to 7 of the paper on AGISim, the figures of path and
navigation errors to figure 8. The path is shown in an oblique view with enlarged heights and a
shadow on the ground. Matplotlib's 3D toolkit is not used, because it fails if Matplotlib is
installed twice, by the distribution and by pip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping, NamedTuple

import numpy as np
import pandas as pd

from ..core import colours
from ..motion.earth_motion import EarthMotion, standing
from ..report import style
from ..report.figure import Figure, select_path_points
from ..report.page import Page, Section, Table, tabulate_values
from ..sensors.gnss.specification import GnssSpecification
from ..sensors.imu_specification import ImuSpecification
from ..sensors.simulation import ImuErrors, imu_model, imu_truth
from .airborne import AirborneImu
from .gimbal.geometry import JOINTS
from .gimbal.simulation import simulate_gimbal
from .gimbal.specification import GimbalSpecification, SinusoidalJoints
from .navigation.runs import RMSE_COLUMNS, NavigationErrors, navigate_runs

PERIODS = 3.0
"""Number of periods of the sinusoidal joint motion shown in figures 5 and 6."""

AROUND_LIFT_OFF = (10.0, 25.0)
"""Times before and after lift-off shown in figure 7 [s]."""


class Sensed(NamedTuple):
    """Measured and ideal IMU signals in IMU axes, averaged over each sampling period.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Times [s].
    measured, true : tuple of ndarray, shape (n, 3)
        Specific force [m/s^2] and angular velocity [rad/s].
    """

    time: np.ndarray
    measured: tuple[np.ndarray, np.ndarray]
    true: tuple[np.ndarray, np.ndarray]

    def between(self, begin: float, end: float) -> Sensed:
        """Return the IMU signals between two times.

        Parameters
        ----------
        begin, end : float
            Times, both inclusive [s].

        Returns
        -------
        Sensed
            Samples in the interval.
        """
        inside = (self.time >= begin) & (self.time <= end)
        measured, true = ((a[inside], b[inside]) for a, b in (self.measured, self.true))
        return Sensed(self.time[inside], measured, true)


def sensed(motion: EarthMotion, imu: ImuErrors, seed: int = 1) -> Sensed:
    """Simulate the signals of an IMU along a motion.

    Parameters
    ----------
    motion : EarthMotion
        Evenly sampled motion of the IMU.
    imu : ImuErrors
        Errors of the IMU, see :func:`.simulate_imu`.
    seed : int, optional
        Seed of the noise.

    Returns
    -------
    Sensed

    Raises
    ------
    ConfigurationError
        The IMU does not match the rate of the motion.
    """
    model = imu_model(imu, motion.period, seed)
    truth = imu_truth(motion, speed=model.requires_speed)
    reading = model.batch(truth, 1, parts=("angular_velocity", "specific_force"))
    new = model.new_samples(len(motion))
    return Sensed(
        motion.time[new],
        (reading.specific_force[0][new], reading.angular_velocity[0][new]),
        (truth.specific_force[new], truth.angular_velocity[new]),
    )


def sensed_in_flight(flown: AirborneImu) -> Sensed:
    """Return the measured and ideal IMU signals of a flight.

    Parameters
    ----------
    flown : AirborneImu
        Simulated flight.

    Returns
    -------
    Sensed
    """
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
    """Simulate the signals of an IMU while a single joint moves on a stationary platform.

    Parameters
    ----------
    joint : str
        ``pan``, ``tilt`` or ``roll``.
    gimbal : GimbalSpecification
        Gimbal with sinusoidal joints.
    imu : ImuErrors
        Errors of the IMU, see :func:`.simulate_imu`.
    place : ndarray, shape (3,)
        Latitude, longitude [rad] and height [m].
    rate : float
        Sampling rate of the motion [Hz].
    seed : int, optional
        Seed of the noise.

    Returns
    -------
    Sensed
    """
    number, drive = JOINTS.index(joint), gimbal.drive
    assert isinstance(drive, SinusoidalJoints)
    pan, tilt, roll = (size * (k == number) for k, size in enumerate(drive.amplitudes))
    single_joint = replace(drive, amplitudes=(pan, tilt, roll), offsets=(0.0, 0.0, 0.0))
    latitude, longitude = np.degrees(place[:2]).tolist()
    duration = PERIODS * drive.periods[number]
    platform = standing(duration, latitude, longitude, float(place[2]), rate=rate)
    motion = simulate_gimbal(platform, replace(gimbal, drive=single_joint), imu, seed).motion
    assert isinstance(motion, EarthMotion)
    return sensed(motion, imu, seed)


def navigated(
    motion: EarthMotion,
    imu: ImuSpecification,
    gnss: GnssSpecification,
    runs: int = 1,
    seed: int = 1,
) -> tuple[NavigationErrors, pd.DataFrame]:
    """Simulate navigation runs with a GNSS antenna at the IMU.

    Parameters
    ----------
    motion : EarthMotion
        Evenly sampled motion of the IMU.
    imu : ImuSpecification
        Errors of the IMU.
    gnss : GnssSpecification
        GNSS receiver, whose lever arm is ignored.
    runs : int, optional
        Number of runs.
    seed : int, optional
        Seed of all runs.

    Returns
    -------
    tuple of NavigationErrors and DataFrame
        Errors over time, and root mean square errors of each run.

    Raises
    ------
    ConfigurationError
        The rate of the motion is not a multiple of the receiver's or the IMU's rate.
    """
    receiver = replace(gnss, lever_arm=(0.0, 0.0, 0.0))
    errors = navigate_runs(motion, imu, receiver, runs, seed).errors
    return errors, errors.rmse()


def swinging(gimbal: GimbalSpecification, otherwise: GimbalSpecification) -> GimbalSpecification:
    """Return ``gimbal`` if all its joints move sinusoidally, and ``otherwise`` if not.

    Parameters
    ----------
    gimbal : GimbalSpecification
        Preferred gimbal.
    otherwise : GimbalSpecification
        Gimbal with sinusoidal joints.

    Returns
    -------
    GimbalSpecification
    """
    drive: Any = gimbal.drive
    is_sinusoidal = isinstance(drive, SinusoidalJoints) and all(
        size > 0.0 for size in drive.amplitudes
    )
    return gimbal if is_sinusoidal else otherwise


_AXES = ("x, forward", "y, left", "z, up")
_PATH = {"color": colours.REAL, "linestyle": "-", "linewidth": 1.6}
_SHADOW = {"color": colours.DISTANCE, "linestyle": "-", "linewidth": 2.2}
_MARK = {"color": colours.DIRECTION, "linestyle": (0, (2, 2)), "linewidth": 0.9}
_SIGNS = {
    "lift-off": "0",
    "start of ascent": "i",
    "start of cruise": "ii",
    "start of strong turn": "iii",
    "end of turn": "iv",
}
"""Label of each marked instant; i to iv are the labels in the AGISim paper."""


def numbered(instants) -> list[tuple[str, str, float]]:
    """Return the label, name and time of each marked instant in chronological order.

    Parameters
    ----------
    instants : mapping of str to float
        Times by name, as in :meth:`.FlightInstants.marked` [s].

    Returns
    -------
    list of tuple of str, str and float
        Label, name and time [s].
    """
    marked = [(_SIGNS.get(name, "?"), name, time) for name, time in instants.items()]
    return sorted(marked, key=lambda instant: instant[2])


def _mark_instants(figure, instants, time, signs=True):
    for sign, name, instant in numbered(instants):
        if time[0] <= instant <= time[-1]:
            figure.mark(instant, _MARK, f"({sign}) {name}", sign if signs else "")


# The specific force along the up axis contains gravity, and therefore has a separate panel.
_PANELS = (
    ("(a) specific force, forward and left", "[m/s^2]", 0, (0, 1), 240),
    ("specific force, up", "[m/s^2]", 0, (2,), 180),
    ("(b) angular velocity", "[rad/s]", 1, (0, 1, 2), 260),
)
"""Title, unit, quantity index, axis indices and height of each panel."""


def imu_figure(time, measured, true, instants=None) -> Figure:
    """Create the figure with measured and ideal IMU signals.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times [s].
    measured, true : tuple of ndarray, shape (n, 3)
        Specific force [m/s^2] and angular velocity [rad/s].
    instants : mapping of str to float, optional
        Instants to mark [s].

    Returns
    -------
    Figure
    """
    figure = Figure()
    for row, (title, unit, quantity, parts, height) in enumerate(_PANELS):
        figure.panel(unit, title, height=height)
        # The ideal signals are drawn as pale, wide lines behind the measured signals.
        for part in parts:
            look = {"color": colours.PALE_SERIES[part], "linestyle": "-", "linewidth": 4.0}
            figure.line(time, true[quantity][:, part], look, f"{_AXES[part]}, true")
        for part in parts:
            look = {**style.line_styles(3)[part], "linewidth": 1.1}
            figure.line(time, measured[quantity][:, part], look, f"{_AXES[part]}, measured")
        _mark_instants(figure, instants or {}, time, signs=row == 0)
    return figure


def navigation_figure(columns, instants) -> Figure:
    """Create the figure with the errors in the first run of each navigator, one column per run.

    Parameters
    ----------
    columns : mapping of str to NavigationErrors
        Errors by navigator name.
    instants : mapping of str to float
        Instants to mark [s].

    Returns
    -------
    Figure
    """
    count = len(columns)
    figure = Figure(widths=(1.0,) * count, width=5.4 * count + 0.3, share_y="row")
    for row, unit in enumerate(("heading [mrad]", "position [m]", "velocity [m/s]")):
        for letter, (name, errors) in zip("cdefgh", columns.items()):
            title = f"({letter}) {name}" if name and row == 0 else ""
            figure.panel(unit if letter == "c" else "", title, height=190).zero_line()
            values = (1000.0 * errors.attitude[0][:, 2:], errors.position[0], errors.velocity[0])
            labels = ("north", "east", "down") if row else ("heading",)
            for label, look, value in zip(labels, style.line_styles(3), values[row].T):
                figure.line(errors.time, value, {**look, "linewidth": 1.1}, label)
            _mark_instants(figure, instants, errors.time, signs=row == 0)
    return figure


def profile_figure(time, height, speed, joints, instants) -> Figure:
    """Create the figure with height, speed and joint angles over time.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times [s].
    height : ndarray, shape (n,)
        Height above the start [m].
    speed : ndarray, shape (n,)
        Speed over ground [m/s].
    joints : ndarray, shape (n, 3)
        Angles of pan, tilt and roll [rad].
    instants : mapping of str to float
        Instants to mark [s].

    Returns
    -------
    Figure
    """
    figure = Figure()
    for unit, lines in (
        ("height [m]", {"height above the start": height}),
        ("speed [m/s]", {"over ground": speed}),
        ("gimbal [deg]", dict(zip(("pan", "tilt", "roll"), np.degrees(joints).T))),
    ):
        figure.panel(unit, height=170)
        for look, (name, values) in zip(style.line_styles(3), lines.items()):
            figure.line(time, values, look, name)
        _mark_instants(figure, instants, time)
    return figure


_NORTH = np.radians(
    32.0
)  # rad; direction of the north axis in the view, relative to the horizontal
_DEPTH = 0.7  # scale factor of distances along the north axis
_HEIGHT_RATIO = 0.4  # ratio of the height range to the width of the view


def path_figure(position, time, instants, origin) -> Figure:
    """Create the figure of a path in an oblique view and in a top view.

    Parameters
    ----------
    position : ndarray, shape (n, 3)
        Position east, north and above the origin [m].
    time : ndarray, shape (n,)
        Times [s].
    instants : mapping of str to float
        Marked instants [s].
    origin : sequence of float or None
        Latitude, longitude [deg] and height [m] of the origin.

    Returns
    -------
    Figure
    """
    figure = map_figure(position, time, instants, origin)
    figure.widths, figure.width = (1.35, 1.0), 10.5
    figure.panels[0].title = "(b) from above"
    marks = [
        (
            sign,
            name,
            np.array([np.interp(instant, time, values) for values in np.transpose(position)]),
        )
        for sign, name, instant in numbered(instants)
    ]
    figure.panel(
        title="(a) flight, heights enlarged",
        draw=lambda axis: _draw_view(axis, np.asarray(position, dtype=float), marks),
    )
    figure.panels.reverse()
    return figure


def map_figure(position, time, instants, origin=None) -> Figure:
    """Create the figure of a path in a top view with its marked instants.

    Parameters
    ----------
    position : ndarray, shape (n, 3)
        Position east, north and above the origin [m].
    time : ndarray, shape (n,)
        Times [s].
    instants : mapping of str to float
        Instants to mark [s].
    origin : sequence of float, optional
        Latitude, longitude [deg] and height [m] of the origin.

    Returns
    -------
    Figure
    """
    east, north = np.asarray(position, dtype=float)[:, :2].T / 1000.0
    place = ""
    if origin is not None:
        place = f"; origin: {origin[0]:.5f} deg, {origin[1]:.5f} deg, {origin[2]:.1f} m"
    figure = Figure().panel("north [km]", x=f"east [km]{place}", equal=True, height=460)
    figure.path(east, north, _PATH, "flight")
    figure.points(east[:1], north[:1], colours.DARK_GREY, "start", size=6)
    marks = []
    for sign, name, instant in numbered(instants):
        x, y = np.interp(instant, time, east), np.interp(instant, time, north)
        marks.append((sign, name, np.array([x, y])))
        figure.points([x], [y], colours.DIRECTION, f"({sign}) {name}", size=6)
    for sign, (x, y) in _merge_close_marks(marks, 0.02 * max(np.ptp(east), np.ptp(north))):
        figure.text(x, y, f"({sign})", colours.DIRECTION)
    return figure


def _draw_view(axis, position, marks):
    low, high = position.min(axis=0), position.max(axis=0)
    steps = [_round_step(high[k] - low[k]) for k in range(2)]
    begin = [np.floor(low[k] / steps[k]) * steps[k] for k in range(2)]
    end = [np.ceil(high[k] / steps[k]) * steps[k] for k in range(2)]
    wide = (end[0] - begin[0]) + _DEPTH * np.cos(_NORTH) * (end[1] - begin[1])
    floor = min(low[2], 0.0)
    enlarged = _HEIGHT_RATIO * wide / max(high[2] - floor, 1.0)

    def project(points):
        east, north, up = np.asarray(points, dtype=float).T
        across = east + _DEPTH * np.cos(_NORTH) * north
        return across, _DEPTH * np.sin(_NORTH) * north + enlarged * (up - floor)

    def write(text, place, shift, colour=colours.TEXT_GREY, size=8.0, align="center"):
        axis.annotate(
            text, project(place), fontsize=size, color=colour, xytext=shift,
            textcoords="offset points", ha=align, va="center",
        )  # fmt: skip

    for k, (shift, align) in enumerate((((0, -9), "center"), ((4, 0), "left"))):
        for value in np.arange(begin[k], end[k] + 0.5 * steps[k], steps[k]):
            ends = [[value, begin[1], floor], [value, end[1], floor]]
            if k == 1:
                ends = [[begin[0], value, floor], [end[0], value, floor]]
            axis.plot(*project(ends), color=colours.GRID, linewidth=0.8)
            write(f"{value / 1000.0:g}", ends[k], shift, size=7.5, align=align)
    shadow = position * (1.0, 1.0, 0.0) + (0.0, 0.0, floor)
    for points, look in ((shadow, _SHADOW), (position, _PATH)):
        across, up = project(points)
        kept = select_path_points(across, up, 4000)
        axis.plot(across[kept], up[kept], **look)
    # A label occupies 5 % of the width of the view.
    merged = _merge_close_marks(marks, 0.05 * wide, lambda place: np.ravel(project([place])))
    for sign, place in merged:
        axis.plot(*project([place, [place[0], place[1], floor]]), **_MARK)
        axis.plot(*project([place]), "o", color=colours.DIRECTION, markersize=4)
        write(f"({sign})", place, (4, 9), colours.DIRECTION, 9.0, "left")
    corner = [[begin[0], end[1], floor], [begin[0], end[1], high[2]]]
    axis.plot(*project(corner), color=colours.LINE_GREY, linewidth=1.0)
    write(f"{high[2] - floor:.0f} m", corner[1], (0, 8))
    middle = [0.5 * (begin[0] + end[0]), begin[1], floor]
    write("east [km]", middle, (0, -22), colours.SENSOR, 8.5)
    middle = [end[0], 0.5 * (begin[1] + end[1]), floor]
    write("north [km]", middle, (26, -2), colours.SENSOR, 8.5, "left")
    axis.grid(False)
    axis.set_axis_off()
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.08)


def _merge_close_marks(marks, distance, project=lambda place: place):
    """Merge marks whose projections are close to each other; return joint labels and positions."""
    groups: list = []
    for sign, _, place in marks:
        if groups and np.linalg.norm(project(place) - project(groups[-1][1])) < distance:
            groups[-1][0].append(sign)
        else:
            groups.append(([sign], place))
    return [(", ".join(signs), place) for signs, place in groups]


def _round_step(extent):
    """Return a round grid spacing of about a quarter of the extent [m]."""
    rough = max(extent, 1.0) / 4.0
    power = 10.0 ** np.floor(np.log10(rough))
    return float(next(part for part in np.multiply(power, (1.0, 2.0, 5.0, 10.0)) if part >= rough))


_UNITS = ("mrad", "m", "m", "m", "m/s", "m/s", "m/s")


@dataclass(frozen=True)
class FlightResults:
    """Results of a flight that are shown on its page.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times [s].
    position : ndarray, shape (n, 3)
        Position east and north of the start, and ellipsoidal height above the start [m].
    speed : ndarray, shape (n,)
        Speed over ground [m/s].
    joints : ndarray, shape (n, 3)
        Angles of pan, tilt and roll [rad].
    instants : mapping of str to float
        Marked instants [s].
    alone : mapping of str to Sensed
        Signals while a single joint moves, by joint.
    sensed : Sensed
        Signals during take-off or during the complete flight.
    navigated : mapping of str to (NavigationErrors, pandas.DataFrame)
        Errors and root mean square errors of each navigator.
    """

    time: np.ndarray
    position: np.ndarray
    speed: np.ndarray
    joints: np.ndarray
    instants: Mapping[str, float]
    alone: Mapping[str, Sensed]
    sensed: Sensed
    navigated: Mapping[str, tuple[NavigationErrors, pd.DataFrame]]


def flight_page(title, results: FlightResults, *, summary, settings, remarks, footer) -> Page:
    """Create the web page of a flight.

    Parameters
    ----------
    title : str
        Title of the page.
    results : FlightResults
        Results of the flight.
    summary, remarks : sequence of str
        Messages.
    settings : mapping
        Settings by name.
    footer : str
        Text at the bottom of the page.

    Returns
    -------
    Page
    """
    time, position, instants = results.time, results.position, results.instants
    signal_time, measured, true = results.sensed
    rows = [(f"({sign}) {name}", f"{instant:.2f}") for sign, name, instant in numbered(instants)]
    parts = [
        (
            "The flight from above",
            map_figure(position, time, instants),
            "The marked instants are detected from the motion, independently of the script.",
        ),
        (
            "Height, speed and gimbal",
            profile_figure(time, position[:, 2], results.speed, results.joints, instants),
            "A positive pan turns to the left, a positive tilt turns the nose down.",
        ),
        *(
            (
                f"Stationary platform, only {joint} moves",
                imu_figure(*signals),
                "Pale, wide lines are the ideal signals; the measurements should overlap them.",
            )
            for joint, signals in results.alone.items()
        ),
        (
            "The IMU during take-off",
            imu_figure(signal_time, measured, true, instants),
            "All joints move; signals are in IMU axes: forward, left, up.",
        ),
        *(
            (
                f"Navigation errors over time, {name}",
                navigation_figure({"": errors}, instants),
                "Errors (estimate minus ground truth) of a filter with 15 states and an antenna at "
                "the IMU; they grow where the motion changes.",
            )
            for name, (errors, _) in results.navigated.items()
        ),
    ]
    sections = [Section(name, figure=figure, how_to_read=how) for name, figure, how in parts]
    if rows:
        sections[0] = sections[0]._replace(table=Table(("instant", "time [s]"), rows, 1))
    if results.navigated:
        table = _rmse_table(results.navigated)
        sections.append(Section("Summary of navigation errors", table=table))
    if remarks:
        sections.append(Section("Remarks", text=list(remarks)))
    sections.append(Section("Settings", table=tabulate_values(settings), folded=True))
    return Page(title, summary, sections, footer)


def _rmse_table(navigated) -> Table:
    headings = ["root mean square error", *(
        f"{name.replace('_', ' ')} [{unit}]" for name, unit in zip(RMSE_COLUMNS, _UNITS)
    )]  # fmt: skip
    rows = []
    for name, (_, table) in navigated.items():
        median = table.median() * [1000.0, *[1.0] * 6]
        label = name if len(table) == 1 else f"{name}, median of {len(table)} runs"
        rows.append([label, *(f"{value:.3g}" for value in median)])
    return Table(headings, rows, len(RMSE_COLUMNS))
