"""Line styles that distinguish signals on screen and in print, even without colour."""

from __future__ import annotations

from ..core import colours

# Without colour, signals are distinguished by their dashes.
DASHED = (0, (5, 1.5))
REAL = {"color": colours.REAL, "linestyle": "-", "linewidth": 1.6}
SIMULATED = {"color": colours.SIMULATED, "linestyle": DASHED, "linewidth": 1.8}
ODOMETER = {"color": colours.ODOMETER, "linestyle": (0, (5, 1.2, 1, 1.2)), "linewidth": 1.6}
DIFFERENCE = {"color": colours.DIFFERENCE, "linestyle": "-", "linewidth": 1.6}
REFERENCE = {"color": colours.REFERENCE, "linewidth": 5.5, "solid_capstyle": "butt"}
TRUTH = {"color": colours.TRUTH, "linewidth": 3.5, "solid_capstyle": "butt"}
DISTANCE = {"color": colours.DISTANCE, "linewidth": 2.4, "solid_capstyle": "butt"}
THIN = {**REAL, "linewidth": 1.0}
MEDIAN = {"color": colours.SENSOR, "linewidth": 0.9}
ZERO = {"color": colours.DARK_GREY, "linewidth": 0.7}
LIMIT = {"color": colours.OUTSIDE, "linewidth": 1.0, "linestyle": (0, (4, 2))}

BANDS = ((0.99, 0.16), (0.95, 0.28), (0.5, 0.5))
"""Probability and opacity of each band around simulated signals, starting with the widest."""

# Dashes are ordered from dark to light, so that successive styles also differ in print.
_DASHES = (DASHED, (0, (5, 1.2, 1, 1.2)), (0, (2, 1)), (0, (1, 1)))
_SERIES = tuple(
    zip(
        (*colours.SERIES, colours.DARK_GREY), (line for dashes in _DASHES for line in ("-", dashes))
    )
)
SHADES = tuple(zip(colours.SIMULATED_SERIES, ("-", *_DASHES)))
"""Colours and dashes of the curves of simulated IMUs in a comparison with a recorded IMU."""


def lighten(look) -> dict:
    """Return the style of a signal before filtering: a thin line in a lighter colour.

    Parameters
    ----------
    look : dict
        Style of the filtered signal, with the colour as ``#rrggbb``.

    Returns
    -------
    dict
        Options of matplotlib's ``plot``.
    """
    parts = bytes.fromhex(look["color"][1:])
    pale = "".join(f"{round(0.35 * part + 0.65 * 255):02x}" for part in parts)
    return {"color": "#" + pale, "linestyle": "-", "linewidth": 0.5}


def line_styles(count, styles=_SERIES, width=1.5) -> list:
    """Return distinguishable styles for several lines of the same kind.

    Parameters
    ----------
    count : int
        Number of lines. If there are more lines than ``styles``, the styles repeat.
    styles : sequence of tuple
        Colour and line style of each line.
    width : float
        Line width [points].

    Returns
    -------
    list of dict
        Options of matplotlib's ``plot`` for each line.
    """
    return [
        {"color": colour, "linestyle": dashes, "linewidth": width}
        for colour, dashes in (styles[index % len(styles)] for index in range(count))
    ]


def choose_time_unit(longest) -> tuple[float, str]:
    """Choose the unit of a time axis.

    Parameters
    ----------
    longest : float
        Length of the axis [s].

    Returns
    -------
    size : float
        Size of the unit [s].
    name : str
        ``s``, or ``min`` for an axis of more than three minutes.
    """
    return (60.0, "min") if longest > 180.0 else (1.0, "s")


def label_headings(comparison):
    """Return the compared headings with their styles and names, starting with the recorded IMU.

    Parameters
    ----------
    comparison : Comparison
        Result of :func:`.experiment_comparison.compare`.

    Returns
    -------
    list of tuple
        Result, style and name of each heading in the comparison.
    """
    headings = (
        (comparison.real, REAL, "recorded IMU"),
        (comparison.simulated, SIMULATED, "simulated IMU"),
        (comparison.odometer, ODOMETER, "odometer"),
    )
    return [heading for heading in headings if heading[0] is not None]
