"""Figure of a calibration: the times that were used, and what was found in them."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.checked_values import AXES
from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.figure import Figure

_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 200)


def calibration_figure(result) -> Figure:
    """Return readings with the times used, bias over temperature, and the magnetometer's sphere.

    Parameters
    ----------
    result : object
        With ``table``, ``rests``, ``turns``, ``temperature``, ``sensors``, ``sphere`` and
        ``magnetic``, as :class:`.commands.calibrate_imu.Calibrated` has them.
    """
    figure = Figure()
    if result.table is not None:
        if set(GYRO) <= set(result.table):
            _over_time(figure, result, GYRO, np.degrees(1.0), "angular velocity [deg/s]")
        if set(ACCEL) <= set(result.table):
            _over_time(figure, result, ACCEL, 1.0, "specific force [m/s^2]")
        if result.temperature is not None and "gyroscope" in result.sensors:
            _over_temperature(figure, result)
    if result.sphere is not None:
        _sphere(figure, result)
    return figure


def _over_time(figure, result, names, size, text):
    times = result.table.index.to_numpy() - result.table.index[0]
    figure.panel(text, x="time [s]", height=280)
    for used, colour, opacity, name in (
        (result.rests, colours.REFERENCE, 0.35, "at rest, used"),
        (result.turns, colours.TRUTH, 0.5, "turn, used"),
    ):
        for one in used:
            figure.span(times[one.start], times[one.stop - 1], colour, opacity, name)
    for axis, name, look in zip(AXES, names, style.series(3)):
        figure.line(times, size * result.table[name].to_numpy(), look, axis)


def _over_temperature(figure, result):
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
    figure.panel("gyroscope at rest [deg/s]", x="temperature [degC]", height=280)
    for place, (axis, look) in enumerate(zip(AXES, style.series(3))):
        figure.points(temperatures, np.array(means)[:, place], look["color"])
        curve = found.bias[place].value + sum(
            row[place].value * power for row, power in zip(found.temperature_bias, powers)
        )
        figure.line(drawn, np.degrees(curve), look, f"{axis}, fitted")


def _sphere(figure, result):
    """Draw readings before and after the correction in two planes, over the size of the field."""
    size = result.sphere.size
    raw = result.magnetic.to_numpy() / size
    bias = np.array([one.value for one in result.sphere.calibration.bias]) / size
    matrix = np.eye(3) + np.array(
        [[one.value for one in row] for row in result.sphere.calibration.matrix]
    )
    corrected = np.linalg.solve(matrix, (raw - bias).T).T
    figure.panel("reading / field", x="x and y (left), x and z (right, moved by 4)", equal=True)
    for shift, second in ((0.0, 1), (4.0, 2)):
        for values, colour, name in (
            (raw, colours.SIMULATED, "as recorded"),
            (corrected, colours.REAL, "corrected"),
        ):
            figure.points(values[:, 0] + shift, values[:, second], colour, name, size=2)
        look = {"color": colours.SENSOR, "linewidth": 0.8}
        figure.path(shift + np.cos(_CIRCLE), np.sin(_CIRCLE), look, "the field's size")
