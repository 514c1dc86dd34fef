"""Figures of a flight's page."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.pages.charts import Chart
from imu_simulation_framework.plots import colours
from imu_simulation_framework.plots.flight.imu_figure import PANELS
from imu_simulation_framework.plots.flight.looks import (
    AXES,
    MARK,
    MEASURED,
    PATH,
    TRUE,
    numbered,
)
from imu_simulation_framework.plots.flight.navigation_figure import ROWS, curves
from imu_simulation_framework.plots.style import series


def imu_chart(time, measured, true, instants=None):
    """Return what an IMU measures, beside the truth; parameters as of :func:`.imu_figure`."""
    chart = Chart()
    for title, unit, quantity, parts in PANELS:
        chart.panel(unit, title, height=200)
        for part in parts:
            chart.line(time, true[quantity][:, part], TRUE[part], f"{AXES[part]}, true")
        for part in parts:
            said = f"{AXES[part]}, measured"
            chart.line(time, measured[quantity][:, part], MEASURED[part], said, width=1.1)
        for sign, name, at in numbered(instants or {}):
            if time[0] <= at <= time[-1]:
                chart.mark(at, MARK, f"({sign}) {name}")
    return chart.figure()


def map_chart(position, time, instants):
    """Return a path from above; parameters as of :func:`.path_figure`."""
    position = np.asarray(position) / 1000.0
    chart = Chart(x="east [km]", hover="closest")
    chart.panel("north [km]", equal=True, height=460)
    chart.path(position[:, 0], position[:, 1], PATH, "flight")
    for sign, name, at in numbered(instants):
        place = [[np.interp(at, time, position[:, k])] for k in range(2)]
        chart.points(*place, colours.DIRECTION, f"({sign}) {name}", size=9)
    return chart.figure()


def profile_chart(time, height, speed, joints, instants):
    """Return height, speed and joints over time.

    Parameters
    ----------
    time, height, speed : array_like, shape (n,)
        [s]; above the start [m]; over ground [m/s].
    joints : array_like, shape (n, 3)
        Pan, tilt, roll [rad].
    instants : Mapping of str to float
    """
    chart = Chart()
    for unit, lines in (
        ("height [m]", {"height above the start": height}),
        ("speed [m/s]", {"over ground": speed}),
        ("gimbal [deg]", dict(zip(("pan", "tilt", "roll"), np.degrees(joints).T))),
    ):
        chart.panel(unit, height=170)
        for look, (name, values) in zip(series(3), lines.items()):
            chart.line(time, values, look, name)
        for sign, name, at in numbered(instants):
            chart.mark(at, MARK, f"({sign}) {name}")
    return chart.figure()


def navigation_chart(errors, instants):
    """Return the errors of a navigator over time, a :class:`.NavigationErrors`."""
    chart = Chart()
    looks = series(3)
    for (unit, parts), values in zip(ROWS, curves(errors)):
        chart.panel(unit, height=190)
        for part, word in enumerate(parts):
            chart.line(errors.time, values[:, part], looks[part], word)
        for sign, name, at in numbered(instants):
            chart.mark(at, MARK, f"({sign}) {name}")
    return chart.figure()
