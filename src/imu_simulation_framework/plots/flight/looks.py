"""Lines and words that the pictures of a flight and its page have in common."""

from __future__ import annotations

from imu_simulation_framework.plots import colours
from imu_simulation_framework.plots.style import series

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
