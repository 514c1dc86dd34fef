"""A summary in a few lines, for the person who waited for it."""

from __future__ import annotations

import math

OFTEN = 4
"""Stretches of a length that the table tells of, at least, end to end."""


def terminal_table(summary) -> str:
    """Return a few aligned lines on a summary, for the person who waited for it.

    Behind rms, largest and final yaw error and drift over time stands the rms change of the error
    over stretches of path and of turning, as long as fit :data:`OFTEN` times.
    """
    imus = [summary["yaw_error"][key] or {} for key in ("real", "simulated")]
    distance = _telling_length(imus, "over_distance", "length_m")
    turn = _telling_length(imus, "over_turn", "turn_rad")
    rows = [
        (
            "",
            *("rms", "max", "final", "drift"),
            "" if distance is None else f"over {distance:g} m",
            "" if turn is None else f"over {math.degrees(turn):.0f} deg",
        )
    ]
    degrees = math.degrees(1.0)
    for key, name in (("real", "recorded IMU"), ("simulated", "simulated IMU")):
        statistics = summary["yaw_error"][key] or {}
        rows.append(
            (
                f"yaw error, {name}",
                *_numbers(statistics, "rad", "deg", degrees),
                _number(statistics.get("drift_rad_per_s"), "deg/min", 60.0 * degrees),
                _relative(statistics, "over_distance", "length_m", distance),
                _relative(statistics, "over_turn", "turn_rad", turn),
            )
        )
    for key, name, unit, unit_key, factor in (
        ("yaw_error", "yaw", "deg", "rad", degrees),
        ("distance_error", "distance", "m", "m", 1.0),
    ):
        statistics = summary["tracking"].get(key) or {}
        found = _numbers(statistics, unit_key, unit, factor)
        rows.append((f"tracking error, {name}", *found, "", "", ""))
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        ).rstrip()
        for row in rows
    ]
    factor = summary["execution"].get("real_time_factor")
    if factor is not None:
        lines.append(f"{'real-time factor'.ljust(widths[0])}  {factor:.1f}")
    return "\n".join(lines)


def _numbers(statistics, unit_key, unit, factor):
    for key in ("rms", "maximum_absolute", "final"):
        yield _number(statistics.get(f"{key}_{unit_key}"), unit, factor)


def _telling_length(imus, key, length):
    """Return the longest stretch that fits often enough into what is known of each IMU; or None."""
    often = [
        {entry[length] for entry in imu.get(key) or () if entry["independent"] >= OFTEN}
        for imu in imus
        if imu
    ]
    return max(set.intersection(*often), default=None) if often else None


def _relative(statistics, key, length, wanted) -> str:
    if wanted is None:
        return ""
    for entry in statistics.get(key) or ():
        if entry[length] == wanted:
            return _number(entry["rms_rad"], "deg", math.degrees(1.0))
    return "-"


def _number(value, unit, factor) -> str:
    return "-" if value is None else f"{factor * value:.3f} {unit}"
