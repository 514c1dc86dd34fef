"""Lines and words that the pictures of a flight and its page have in common."""

from __future__ import annotations

from imu_simulation_framework.plots import colours
from imu_simulation_framework.plots.style import series

AXES = ("x, forward", "y, left", "z, up")
"""Of a body."""

MEASURED = series(3)
"""Of the three axes."""

TRUE = tuple(
    {"color": colour, "linestyle": "-", "linewidth": 4.0}
    for colour in ("#a8b8d0", "#f3cfa3", "#b5dcc5")
)
"""Pale and wide, behind what is measured; of the three axes."""

PATH = {"color": colours.REAL, "linestyle": "-", "linewidth": 1.6}
SHADOW = {"color": colours.DISTANCE, "linestyle": "-", "linewidth": 2.2}
MARK = {"color": colours.DIRECTION, "linestyle": (0, (2, 2)), "linewidth": 0.9}


def numbered(instants) -> list[tuple[str, str, float]]:
    """Return sign, name and time of marked instants; the seed's four are i to iv.

    Parameters
    ----------
    instants : Mapping of str to float
        As :meth:`.FlightInstants.marked` returns them.
    """
    signs = {
        "lift-off": "0",
        "start of ascent": "i",
        "start of cruise": "ii",
        "start of strong turn": "iii",
        "end of turn": "iv",
    }
    return [(signs.get(name, "?"), name, time) for name, time in instants.items()]
