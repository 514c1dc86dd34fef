"""Figures in the plane: where the robot drove, and where on the way the heading was how wrong."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from scipy.spatial.distance import pdist

from imu_simulation_framework.evaluation.stretches import behind_gaps
from imu_simulation_framework.plots import colours, style

ARROWS = 8
"""Along a path, evenly."""

FIXES = {"color": colours.FIXES, "linestyle": "none", "marker": ".", "markersize": 2.5}
PATH = {**style.REAL, "linewidth": 1.2}
COLOUR_MAP = "coolwarm"
COLOURED_POINTS = 800
"""Along the longer side of the path's box; each is an object of its own in a PDF or SVG."""

NOTHING = "There is no path to show: the robot did not drive."


def trajectory(comparison):
    """Return path to be followed and path of the simulated robot, and the fixes it was made of."""
    wanted, driven, fixes = comparison.trajectory, comparison.ground_truth, comparison.fixes
    figure, (axis,) = style.make_figure(width=7.0, height=_height(wanted, driven))
    if fixes is not None and len(fixes):
        axis.plot(fixes["x"], fixes["y"], label="fixes as received", zorder=2.5, **FIXES)
    for table, line, name in (
        (wanted, {**style.REFERENCE, "linewidth": 4.5}, "trajectory"),
        (driven, {**style.REAL, "linewidth": 0.9, "zorder": 3}, "simulated robot"),
    ):
        if len(table):
            x, y = style.thin_path(table["x"], table["y"])
            axis.plot(x, y, label=name, **line)
    if len(wanted):
        _arrows(axis, wanted)
        _ends(axis, wanted)
    axis.set_aspect("equal", adjustable="datalim")
    style.label(axis, x="x [m]", y="y [m]", title="Trajectory")
    style.legend(axis, columns=3)
    return figure


def paths(trajectories):
    """Return several paths, each in a panel of its own with direction, start and end.

    Parameters
    ----------
    trajectories : Mapping of str to DataFrame
        What each is called -> Trajectory.
    """
    columns = min(2, len(trajectories))
    rows = -(-len(trajectories) // columns)
    figure, axes = style.make_figure(rows, height=0.6 + 3.4 * rows, columns=columns)
    for axis, (name, table) in zip(axes, trajectories.items()):
        axis.plot(*style.thin_path(table["x"], table["y"]), label="path", **PATH)
        _arrows(axis, table)
        _ends(axis, table)
        axis.set_aspect("equal", adjustable="datalim")
        style.label(axis, x="x [m]", y="y [m]", title=name)
    for axis in axes[len(trajectories) :]:
        axis.set_axis_off()
    style.outside_legend(figure, axes[:1], columns=4)
    return figure


def yaw_error_along_path(comparison):
    """Return yaw error of each IMU as a colour on the path, where it is judged."""
    imus = [
        (result, name, path)
        for result, name, path in (
            (comparison.real, "Recorded IMU", comparison.trajectory),
            (comparison.simulated, "Simulated IMU", comparison.ground_truth),
        )
        if result is not None and len(path)
    ]
    if not imus:
        return style.message_figure(NOTHING)
    x, y = (np.concatenate([path[name] for _, _, path in imus]) for name in ("x", "y"))
    wide = np.ptp(x) > 1.3 * np.ptp(y)
    rows, columns = (len(imus), 1) if wide else (1, len(imus))
    share = float(np.clip(np.ptp(y) / max(np.ptp(x), 1e-9), 0.25, 1.3))
    height = 1.1 + rows * min(4.5, (6.5 / columns) * share)
    figure, axes = style.make_figure(rows, height=height, columns=columns)
    for axis, (result, name, path) in zip(axes, imus):
        axis.plot(*style.thin_path(path["x"], path["y"]), color=colours.LINE_GREY, linewidth=0.6)
        lines = _coloured(axis, result.error, path)
        _ends(axis, path)
        axis.set_aspect("equal", adjustable="datalim")
        style.label(axis, x="x [m]", y="y [m]", title=name)
        bar = figure.colorbar(lines, ax=axis, pad=0.02, aspect=30)
        bar.set_label("yaw error [deg], the latest on top", fontsize=9)
        bar.ax.tick_params(labelsize=8)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper right", ncol=2, fontsize=9,
        frameon=False,
    )  # fmt: skip
    return figure


def _coloured(axis, error, path):
    """Return the path at the error's times, each piece in the colour of its error."""
    time = error.index.to_numpy(dtype=float)
    x, y = (np.interp(time, path.index, path[name]) for name in ("x", "y"))
    pieces, values = [], []
    for part in np.split(np.arange(len(time)), behind_gaps(time)):
        kept = part[style.path_steps(x[part], y[part], COLOURED_POINTS)]
        points = np.column_stack([x[kept], y[kept]])
        pieces.append(np.stack([points[:-1], points[1:]], axis=1))
        values.append(np.degrees(error.to_numpy()[kept[1:]]))
    values = np.concatenate(values)
    # Zero in the middle of the colours, and some span even of an ideal IMU.
    largest = float(np.max(np.abs(values), initial=1e-3))
    lines = LineCollection(
        np.concatenate(pieces), cmap=COLOUR_MAP, norm=Normalize(-largest, largest), linewidth=3.0,
        capstyle="round",
    )  # fmt: skip
    lines.set_array(values)
    axis.add_collection(lines)
    axis.autoscale_view()
    return lines


def _height(*paths):
    """As tall as the path asks for: equal scales would leave the rest of the page empty [in]."""
    width, height = (_extent(*(path[name] for path in paths)) for name in ("x", "y"))
    return float(np.clip(0.9 + 6.2 * height / max(width, 1e-9), 3.2, 7.5))


def _arrows(axis, path):
    """Arrows in the direction of motion, evenly along a path."""
    x, y = style.thin_path(path["x"], path["y"])
    if len(x) < 3:
        return
    travelled = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))

    def at(distance):
        return np.array([np.interp(distance, travelled, values) for values in (x, y)])

    # Of as many rounds as arrows each would point at the same place.
    evenly = ((np.arange(count) + 0.5) / count * travelled[-1] for count in (ARROWS, ARROWS - 1))
    places = max(evenly, key=lambda distances: pdist(at(distances).T).min())
    # Over a fiftieth of the way, so that the noise of two neighbours does not decide.
    reach = 0.01 * travelled[-1]
    ahead = at(places + reach) - at(places - reach)
    length = np.hypot(*ahead)
    moving = length > 0.0
    ahead = ahead[:, moving] / length[moving]
    axis.quiver(
        *at(places)[:, moving], *ahead, angles="xy", scale_units="inches", scale=6.0,
        units="inches", width=0.022, headwidth=6.5, headlength=6.0, headaxislength=5.0,
        pivot="mid", color=colours.DIRECTION, zorder=4, label="direction",
    )  # fmt: skip


def _ends(axis, path):
    for row, marker, size, name in ((0, "o", 9.0, "start"), (-1, "s", 6.5, "end")):
        axis.plot(
            *path[["x", "y"]].iloc[row], linestyle="none", marker=marker, markersize=size,
            markerfacecolor="white", markeredgecolor="black", markeredgewidth=1.4, label=name,
            zorder=5,
        )  # fmt: skip


def _extent(*columns) -> float:
    values = np.concatenate(columns)
    return float(np.ptp(values)) if len(values) else 0.0
