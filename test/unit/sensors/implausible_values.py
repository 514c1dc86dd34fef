"""Values of the tables of measured IMUs that lie far from the others, with the likely mistake."""

import math
from typing import NamedTuple

import numpy as np

from imu_simulation_framework.core.units import STANDARD_GRAVITY
from imu_simulation_framework.sensors.measured import NOISE, SMALLEST_SPREAD, measured_parts

_USUAL_RATES = (100.0, 200.0, 400.0)  # where a rate is not stated [Hz]


class Implausible(NamedTuple):
    """A value far from the others; ``ratio`` to their median, and a ``sentence`` with its cause."""

    part: str
    unit: str
    sensor: str
    quantity: str
    ratio: float
    sentence: str


def implausible(table, limit=3.5):
    """Return the noise values that lie far from what others measured, with the likely mistake.

    ``table``: as ``measurements`` returns it. ``limit``: the distance that is far, in units of
    1.4826 times the median absolute distance (B. Iglewicz, D. Hoaglin, How to Detect and Handle
    Outliers, 1993).

    A value is put beside the median of the other units of its part, or, where there are none, of
    the parts of its class. What was left out is judged, but nothing is judged by it.
    """
    classes = measured_parts()["class"]
    found = []
    for (sensor, quantity), rows in table.groupby(["sensor", "quantity"]):
        if quantity not in NOISE:
            continue
        logs = np.log(rows["value"].to_numpy())
        used = (rows["excluded"] == "").to_numpy()
        part, unit = rows["part"].to_numpy(), rows["unit"].to_numpy()
        kind = classes.loc[part].to_numpy()
        distances, scales = _distances(logs, used, part, unit, kind)
        for place in np.flatnonzero(np.abs(distances) > limit * scales):
            rate = rows["rate"].to_numpy()[place]
            ratio = math.exp(distances[place])
            cause = _cause(distances[place], sensor, quantity, rate)
            sentence = (
                f"{part[place]} {unit[place]}: {quantity} of the {sensor} is {ratio:.3g} times "
                f"that of other units; {cause}"
            )
            found.append(Implausible(part[place], unit[place], sensor, quantity, ratio, sentence))
    return found


def _distances(logs, used, part, unit, kind):
    """Return the distance of each value to the median of others, and the robust scale of that."""
    centres, own = np.full(len(logs), np.nan), np.zeros(len(logs), dtype=bool)
    for place in range(len(logs)):
        others = used & ~((part == part[place]) & (unit == unit[place]))
        siblings = others & (part == part[place])
        own[place] = siblings.any()
        if own[place]:
            centres[place] = np.median(logs[siblings])
        else:
            relatives = others & (kind == kind[place])
            medians = [np.median(logs[relatives & (part == p)]) for p in {*part[relatives]}]
            centres[place] = np.median(medians) if len(medians) > 2 else np.nan
    distances = logs - centres
    scales = np.full(len(logs), np.inf)
    for group in {*zip(kind, own)}:
        alike = (kind == group[0]) & (own == group[1])
        known = np.abs(distances[alike & used & np.isfinite(distances)])
        if len(known) > 2:
            scales[alike] = max(1.4826 * np.median(known), SMALLEST_SPREAD)
    return np.nan_to_num(distances), scales


def _cause(distance, sensor, quantity, rate):
    """Return the known mistake that explains three quarters of a logarithm, if one does."""
    causes = {}
    if quantity == "white_noise":
        causes["one-sided instead of two-sided density"] = math.log(2.0) / 2.0
        for hertz in [rate] if rate > 0.0 else _USUAL_RATES:
            causes[f"per sample instead of density (root of {hertz:g} Hz)"] = math.log(hertz) / 2.0
    if sensor == "gyroscope":
        causes["degrees instead of radians"] = math.log(180.0 / math.pi)
    else:
        causes["g instead of m/s^2"] = -math.log(STANDARD_GRAVITY)
    misses = {text: abs(distance - size) for text, size in causes.items()}
    best = min(misses, key=misses.__getitem__)
    if misses[best] > 0.25 * abs(distance):
        return "no usual mistake explains it"
    # Factors that are as near cannot be told apart.
    near = [text for text in misses if misses[text] <= misses[best] + 0.1]
    return f"probably {' or '.join(near)}"
