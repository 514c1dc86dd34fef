"""How lines look: one style per signal, readable in print and without colour."""

from __future__ import annotations

from ..core import colours

# Dashes tell the signals apart, too, where there is no colour.
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
"""Probability and opacity of bands around what is simulated, from the widest to the narrowest."""

# From dark to light, so that neighbours differ in print, too.
_DASHES = (DASHED, (0, (5, 1.2, 1, 1.2)), (0, (2, 1)), (0, (1, 1)))
_SERIES = tuple(
    zip(
        (*colours.SERIES, colours.DARK_GREY), (line for dashes in _DASHES for line in ("-", dashes))
    )
)
SHADES = tuple(zip(colours.SIMULATED_SERIES, ("-", *_DASHES)))
"""Of simulated IMUs beside one that was recorded."""


def raw(look) -> dict:
    """Return the style of a signal before filtering: its colour, mixed with white, and thin."""
    parts = bytes.fromhex(look["color"][1:])
    pale = "".join(f"{round(0.35 * part + 0.65 * 255):02x}" for part in parts)
    return {"color": "#" + pale, "linestyle": "-", "linewidth": 0.5}


def series(count, styles=_SERIES, width=1.5) -> list:
    """Return styles of so many lines that are all alike; of more than eight some look the same."""
    return [
        {"color": colour, "linestyle": dashes, "linewidth": width}
        for colour, dashes in (styles[place % len(styles)] for place in range(count))
    ]


def unit_of_time(longest) -> tuple[float, str]:
    """Return the unit of an axis that is so long [s]: its size [s] and its name."""
    return (60.0, "min") if longest > 180.0 else (1.0, "s")


def headings(comparison):
    """Return what was compared, each with its line and name: IMUs, the recorded one first."""
    every = (
        (comparison.real, REAL, "recorded IMU"),
        (comparison.simulated, SIMULATED, "simulated IMU"),
        (comparison.odometer, ODOMETER, "odometer"),
    )
    return [one for one in every if one[0] is not None]
