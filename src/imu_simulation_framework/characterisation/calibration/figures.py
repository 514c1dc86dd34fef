"""Figure of a calibration: the times that were used, and what was found in them."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.checked_values import AXES
from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.report import colours, style

_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 200)


def calibration_figure(result):
    """Draw readings with the times used, bias over temperature, and the magnetometer's sphere.

    Parameters
    ----------
    result : object
        With ``table``, ``rests``, ``turns``, ``temperature``, ``sensors``, ``sphere`` and
        ``magnetic``, as :class:`.commands.calibrate_imu.Calibrated` has them.

    Returns
    -------
    Figure
    """
    draws = []
    if result.table is not None:
        if set(GYRO) <= set(result.table):
            draws.append((_over_time, (result, GYRO, np.degrees(1.0), "angular velocity [deg/s]")))
        if set(ACCEL) <= set(result.table):
            draws.append((_over_time, (result, ACCEL, 1.0, "specific force [m/s^2]")))
        if result.temperature is not None and "gyroscope" in result.sensors:
            draws.append((_over_temperature, (result,)))
    if result.sphere is not None:
        draws.append((_sphere, (result,)))
    figure, axes = style.make_figure(rows=len(draws), height=3.4 * len(draws))
    for axis, (draw, arguments) in zip(axes, draws):
        draw(axis, *arguments)
    return figure


def _over_time(axis, result, names, size, text):
    times = result.table.index.to_numpy() - result.table.index[0]
    for name, line in zip(names, style.series(3)):
        axis.plot(*style.thin(times, size * result.table[name].to_numpy()), label=name, **line)
    for place, rest in enumerate(result.rests):
        axis.axvspan(
            times[rest.start], times[rest.stop - 1], color=colours.REFERENCE, alpha=0.35,
            linewidth=0.0, label="at rest, used" if place == 0 else None, zorder=0,
        )  # fmt: skip
    for place, turn in enumerate(result.turns):
        axis.axvspan(
            times[turn.start], times[turn.stop - 1], color=colours.TRUTH, alpha=0.5, linewidth=0.0,
            label="turn, used" if place == 0 else None, zorder=0,
        )  # fmt: skip
    style.label(axis, x="time [s]", y=text)
    style.legend(axis, columns=5)


def _over_temperature(axis, result):
    """Bias of the gyroscope in parts of the times at rest, and the polynomials through them."""
    gyro = np.degrees(result.table[list(GYRO)].to_numpy())
    found = result.sensors["gyroscope"]
    means, temperatures = [], []
    total = sum(rest.stop - rest.start for rest in result.rests)
    for rest in result.rests:
        count = max(1, 120 * (rest.stop - rest.start) // total)
        edges = np.linspace(rest.start, rest.stop, count + 1).round().astype(int)
        for first, last in zip(edges[:-1], edges[1:]):
            means.append(gyro[first:last].mean(axis=0))
            temperatures.append(result.temperature[first:last].mean())
    drawn = np.linspace(min(temperatures), max(temperatures), 100)
    powers = [(drawn - result.reference) ** k for k in range(1, 1 + len(found.temperature_bias))]
    for place, (axis_name, line) in enumerate(zip(AXES, style.series(3))):
        axis.plot(
            temperatures, np.array(means)[:, place], ".", color=line["color"], markersize=3,
        )  # fmt: skip
        curve = found.bias[place].value + sum(
            row[place].value * power for row, power in zip(found.temperature_bias, powers)
        )
        axis.plot(drawn, np.degrees(curve), label=f"{axis_name}, fitted", **line)
    style.label(axis, x="temperature [degC]", y="gyroscope at rest [deg/s]")
    style.legend(axis, columns=3)


def _sphere(axis, result):
    """Return readings before and after the correction in two planes, over the size of the field."""
    size = result.sphere.size
    raw = result.magnetic.to_numpy() / size
    bias = np.array([one.value for one in result.sphere.calibration.bias]) / size
    matrix = np.eye(3) + np.array(
        [[one.value for one in row] for row in result.sphere.calibration.matrix]
    )
    corrected = np.linalg.solve(matrix, (raw - bias).T).T
    for shift, (first, second) in zip((0.0, 4.0), ((0, 1), (0, 2))):
        for values, colour, name in (
            (raw, colours.SIMULATED, "as recorded"),
            (corrected, colours.REAL, "corrected"),
        ):
            axis.plot(
                values[:, first] + shift, values[:, second], ".", color=colour, markersize=1.5,
            )  # fmt: skip
            if shift == 0.0:  # in the legend large enough to be seen
                axis.plot([], [], "o", color=colour, markersize=5, label=name)
        axis.plot(
            shift + np.cos(_CIRCLE), np.sin(_CIRCLE), color=colours.SENSOR, linewidth=0.8,
            label="the field's size" if shift == 0.0 else None,
        )  # fmt: skip
    axis.set_aspect("equal")
    style.label(axis, x="x and y (left), x and z (right, moved by 4)", y="reading / field")
    style.legend(axis, columns=3)
