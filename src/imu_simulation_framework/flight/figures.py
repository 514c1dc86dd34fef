"""Figures of a flight: an IMU beside the truth, the path, and a navigator's errors.

What figures of a flight show: an IMU's samples beside the truth, and a navigator's errors.

Lines and words that the pictures of a flight and its page have in common.

What an IMU measures, beside the truth: specific force above, angular velocity below.

Errors of a navigator along a flight: heading, position and velocity, as figure 8, c and d.

Where a flight went: a drawing in three dimensions and a map, as figure 8, a and b, of the seed.

The drawing is an oblique view made here: heights are drawn larger than distances, and the path has
a shadow on the ground. (matplotlib's own three dimensions are not used: where a distribution's and
a pinned matplotlib are both installed, its toolkits do not fit together.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from imu_simulation_framework.flight.airborne import AirborneImu
from imu_simulation_framework.flight.gimbal.geometry import JOINTS
from imu_simulation_framework.flight.gimbal.simulation import simulate_gimbal
from imu_simulation_framework.flight.gimbal.specification import (
    GimbalSpecification,
    SinusoidalJoints,
)
from imu_simulation_framework.flight.navigation.runs import NavigationErrors, navigate_runs
from imu_simulation_framework.motion.earth_motion import EarthMotion, standing
from imu_simulation_framework.report import colours
from imu_simulation_framework.report.style import (
    ZERO,
    label,
    make_figure,
    outside_legend,
    plain,
    series,
    thin_path,
    thin_with_gaps,
)
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


AXES = ("x, forward", "y, left", "z, up")
"""Of a body."""

MEASURED = series(3)
"""Of the three axes."""

TRUE = tuple(
    {"color": colour, "linestyle": "-", "linewidth": 4.0} for colour in colours.PALE_SERIES
)
"""Pale and wide, behind what is measured; of the three axes."""

PATH = {"color": colours.REAL, "linestyle": "-", "linewidth": 1.6}
SHADOW = {"color": colours.DISTANCE, "linestyle": "-", "linewidth": 2.2}
MARK = {"color": colours.DIRECTION, "linestyle": (0, (2, 2)), "linewidth": 0.9}


_SIGNS = {
    "lift-off": "0",
    "start of ascent": "i",
    "start of cruise": "ii",
    "start of strong turn": "iii",
    "end of turn": "iv",
}
"""The seed's four are i to iv."""


def numbered(instants) -> list[tuple[str, str, float]]:
    """Return sign, name and time of marked instants, in the order of time.

    Parameters
    ----------
    instants : Mapping of str to float
        As :meth:`.FlightInstants.marked` returns them.
    """
    marked = [(_SIGNS.get(name, "?"), name, time) for name, time in instants.items()]
    return sorted(marked, key=lambda one: one[2])


def apart(signs, places, distance) -> list[tuple[str, float]]:
    """Return signs and places, those nearer to each other than a distance as one: ``0, i``.

    Parameters
    ----------
    signs : sequence of str
    places : sequence of float
        In their order.
    distance : float
    """
    together: list[tuple[list[str], float]] = []
    for sign, place in zip(signs, places):
        if together and place - together[-1][1] < distance:
            together[-1][0].append(sign)
        else:
            together.append(([sign], place))
    return [(", ".join(names), place) for names, place in together]


def mark_instants(axis, instants, begin, end, named=True):
    """Draw marked instants as vertical lines, with their signs above the axes.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
    instants : Mapping of str to float
    begin, end : float
        What the axis shows [s].
    named : bool
        Whether signs are written.
    """
    inside = [one for one in numbered(instants) if begin <= one[2] <= end]
    for _, _, at in inside:
        axis.axvline(at, **MARK)
    signs, times = [one[0] for one in inside], [one[2] for one in inside]
    for sign, at in apart(signs, times, 0.03 * (end - begin)) if named else ():
        axis.annotate(
            f"({sign})", (at, 1.0), xycoords=("data", "axes fraction"), fontsize=8, ha="center",
            va="bottom", color=MARK["color"],
        )  # fmt: skip


PANELS = (
    ("specific force, forward and left", "[m/s^2]", 0, (0, 1)),
    ("specific force, up", "[m/s^2]", 0, (2,)),
    ("angular velocity", "[rad/s]", 1, (0, 1, 2)),
)
"""Title, unit, which of the two quantities, and which of its axes: gravity alone is so large that
nothing else would be seen beside it."""


def imu_figure(time, measured, true, instants=None):
    """Return a figure as the seed's figures 5 to 7.

    Parameters
    ----------
    time : array_like, shape (n,)
        [s]
    measured, true : sequence of 2 ndarray, shape (n, 3)
        Specific force [m/s^2] and angular velocity [rad/s].
    instants : Mapping of str to float, optional
        Marked ones.
    """
    figure, axes = make_figure(
        rows=3, height=7.4, sharex=True, gridspec_kw={"height_ratios": (1.2, 0.9, 1.3)}
    )
    for axis, sign, (title, unit, quantity, parts) in zip(axes, ("a", "", "b"), PANELS):
        for part in parts:
            line = thin_with_gaps(time, true[quantity][:, part])
            axis.plot(*line, **TRUE[part], label=f"{AXES[part]}, true")
        for part in parts:
            line = thin_with_gaps(time, measured[quantity][:, part])
            look = {**MEASURED[part], "linewidth": 1.1}
            axis.plot(*line, **look, label=f"{AXES[part]}, measured")
        mark_instants(axis, instants or {}, time[0], time[-1], named=axis is axes[0])
        label(axis, y=unit)
        said = f"({sign}) {title}" if sign else title
        axis.set_title(said, fontsize=11, loc="left", pad=14 if axis is axes[0] else 6)
    label(axes[-1], x="time [s]")
    outside_legend(figure, axes[-1:], columns=3)
    return figure


PARTS = ("north", "east", "down")
ROWS = (
    ("heading [mrad]", ("heading",)),
    ("position [m]", PARTS),
    ("velocity [m/s]", PARTS),
)
"""Unit, and what the lines are."""


def curves(errors, run=0):
    """Return the values of each row of ``ROWS`` of one run, each (k, 1) or (k, 3).

    Parameters
    ----------
    errors : NavigationErrors
    run : int
    """
    return (
        1000.0 * errors.attitude[run][:, 2:],
        errors.position[run],
        errors.velocity[run],
    )


def navigation_figure(columns, instants):
    """Return a figure with the errors of each navigator in a column.

    Parameters
    ----------
    columns : Mapping of str to NavigationErrors
        By what it is called.
    instants : Mapping of str to float
        Name -> time [s].
    """
    figure, axes = make_figure(
        rows=3, columns=len(columns), height=6.6, width=5.4 * len(columns) + 0.3, sharex=True,
        sharey="row",
    )  # fmt: skip
    grid = np.array(axes).reshape(3, len(columns))
    looks = [{**look, "linewidth": 1.1} for look in series(3)]
    for column, (name, errors) in enumerate(columns.items()):
        for row, ((unit, parts), values) in enumerate(zip(ROWS, curves(errors))):
            axis = grid[row, column]
            axis.axhline(0.0, **ZERO)
            for part, word in enumerate(parts):
                look = looks[part] if len(parts) > 1 else looks[0]
                named = {"label": word} if len(parts) > 1 and column == 0 else {}
                axis.plot(errors.time, values[:, part], **look, **named)
            mark_instants(axis, instants, errors.time[0], errors.time[-1], named=row == 0)
            if column == 0:
                label(axis, y=unit)
        letter = "cdefgh"[column]
        grid[0, column].set_title(f"({letter}) {name}", fontsize=11, loc="left", pad=14)
        label(grid[2, column], x="time [s]")
    outside_legend(figure, [grid[1, 0]], columns=3)
    return figure


_NORTH = np.radians(32.0)
"""Direction in which north is drawn, against the horizontal of the page."""
_DEPTH = 0.7
"""By how much what goes north is drawn shorter."""
_RISE = 0.4
"""Part of the drawing's width that heights take."""


def path_figure(position, time, instants, origin):
    """Return a figure of a path and its marked instants.

    Parameters
    ----------
    position : array_like, shape (n, 3)
        East and north of the origin, and above it [m].
    time : array_like, shape (n,)
        [s]
    instants : Mapping of str to float
        Name -> time [s].
    origin : sequence of 3 float
        Latitude, longitude [deg], height [m].
    """
    position = np.asarray(position, dtype=float)
    figure, (view, plan) = make_figure(
        columns=2, height=4.6, width=10.5, gridspec_kw={"width_ratios": (1.35, 1.0)}
    )
    marks = [(sign, name, _at(time, position, at)) for sign, name, at in numbered(instants)]
    _draw_view(view, position, marks)
    label(view, title="(a) flight, heights enlarged")
    east, north = thin_path(*(position[:, :2] / 1000.0).T)
    plan.plot(east, north, **PATH)
    for sign, place in _apart(marks, 0.02 * np.ptp(position, axis=0).max()):
        _mark(plan, place[:2] / 1000.0, f"({sign})")
    plan.plot(*(position[:1, :2] / 1000.0).T, "o", color=colours.DARK_GREY, markersize=4)
    plan.annotate(
        "start", tuple(position[0, :2] / 1000.0), fontsize=8.5, color=colours.DARK_GREY,
        xytext=(0, -12), textcoords="offset points", ha="center",
    )  # fmt: skip
    plan.set_aspect("equal", adjustable="datalim")
    label(plan, "east [km]", "north [km]", "(b) from above")
    told = plain("   ".join(f"({sign}) {name}" for sign, name, _ in marks))
    figure.text(0.02, 0.045, told, fontsize=8, color=MARK["color"], va="bottom")
    figure.get_layout_engine().set(rect=(0.0, 0.08, 1.0, 0.92))
    place = f"origin: {origin[0]:.5f} deg, {origin[1]:.5f} deg, {origin[2]:.1f} m"
    plan.annotate(
        place, (1.0, 1.01), xycoords="axes fraction", fontsize=7.5, ha="right", va="bottom",
        color=colours.TEXT_GREY,
    )  # fmt: skip
    return figure


def _draw_view(axis, position, marks):
    low, high = position.min(axis=0), position.max(axis=0)
    steps = [_step(high[k] - low[k]) for k in range(2)]
    begin = [np.floor(low[k] / steps[k]) * steps[k] for k in range(2)]
    end = [np.ceil(high[k] / steps[k]) * steps[k] for k in range(2)]
    wide = (end[0] - begin[0]) + _DEPTH * np.cos(_NORTH) * (end[1] - begin[1])
    floor = min(low[2], 0.0)
    enlarged = _RISE * wide / max(high[2] - floor, 1.0)

    def seen(points):
        east, north, up = np.asarray(points, dtype=float).T
        across = east + _DEPTH * np.cos(_NORTH) * north
        return across, _DEPTH * np.sin(_NORTH) * north + enlarged * (up - floor)

    for k in range(2):
        for value in np.arange(begin[k], end[k] + 0.5 * steps[k], steps[k]):
            ends = np.array([[value, begin[1], floor], [value, end[1], floor]])
            if k == 1:
                ends = np.array([[begin[0], value, floor], [end[0], value, floor]])
            axis.plot(*seen(ends), color=colours.GRID, linewidth=0.8)
            x, y = seen(ends[:1] if k == 0 else ends[1:])
            axis.annotate(
                f"{value / 1000.0:g}", (x[0], y[0]), fontsize=7.5, color=colours.TEXT_GREY,
                xytext=(0, -9) if k == 0 else (4, 0), textcoords="offset points",
                ha="center" if k == 0 else "left", va="center",
            )  # fmt: skip
    shadow = position * (1.0, 1.0, 0.0) + (0.0, 0.0, floor)
    axis.plot(*thin_path(*seen(shadow)), **SHADOW)
    axis.plot(*thin_path(*seen(position)), **PATH)
    for sign, place in _apart(marks, 0.02 * np.ptp(position, axis=0).max()):
        ends = np.array([place, [place[0], place[1], floor]])
        axis.plot(*seen(ends), **MARK)
        x, y = seen(ends[:1])
        _mark(axis, (x[0], y[0]), f"({sign})")
    height = high[2] - floor
    corner = np.array([[begin[0], end[1], floor], [begin[0], end[1], floor + height]])
    axis.plot(*seen(corner), color=colours.LINE_GREY, linewidth=1.0)
    x, y = seen(corner[1:])
    axis.annotate(
        f"{height:.0f} m", (x[0], y[0]), fontsize=8, xytext=(0, 3), textcoords="offset points",
        ha="center", va="bottom", color=colours.TEXT_GREY,
    )  # fmt: skip
    x, y = seen([[0.5 * (begin[0] + end[0]), begin[1], floor]])
    axis.annotate(
        "east [km]", (x[0], y[0]), fontsize=8.5, xytext=(0, -22), textcoords="offset points",
        ha="center",
    )  # fmt: skip
    x, y = seen([[end[0], 0.5 * (begin[1] + end[1]), floor]])
    axis.annotate(
        "north [km]", (x[0], y[0]), fontsize=8.5, xytext=(26, -2), textcoords="offset points",
        ha="left",
    )  # fmt: skip
    axis.grid(False)
    axis.set_axis_off()
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.08)


def _mark(axis, place, text, colour=MARK["color"]):
    axis.plot([place[0]], [place[1]], "o", color=colour, markersize=4)
    axis.annotate(
        text, tuple(place), fontsize=9, color=colour, xytext=(4, 5), textcoords="offset points"
    )


def _apart(marks, distance):
    """Return signs and places, those that would hide each other as one."""
    together: list = []
    for sign, _, place in marks:
        if together and np.linalg.norm(place - together[-1][1]) < distance:
            together[-1][0].append(sign)
        else:
            together.append(([sign], place))
    return [(", ".join(signs), place) for signs, place in together]


def _at(time, position, at):
    return np.array([np.interp(at, time, position[:, k]) for k in range(3)])


def _step(extent):
    """Return a round step of which some fit into an extent [m]."""
    rough = max(extent, 1.0) / 4.0
    power = 10.0 ** np.floor(np.log10(rough))
    return float(
        next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough)
    )
