"""What a calibration found, as sentences and a table for the terminal."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from imu_simulation_framework.characterisation.calibration.estimates import SlowNoise
from imu_simulation_framework.characterisation.calibration.rest_times import RestTime
from imu_simulation_framework.core.checked_values import AXES
from imu_simulation_framework.core.sentences import duration_text

# Sensor -> unit for a person, its size in SI.
SHOWN_UNITS = {
    "gyroscope": ("deg/s", np.pi / 180.0),
    "accelerometer": ("m/s^2", 1.0),
    "magnetometer": ("uT", 1e-6),
}


def findings(result) -> list[str]:
    """Return which times were used, and remarks, a sentence each."""
    sentences = []
    if result.table is not None:
        times = result.table.index.to_numpy() - result.table.index[0]
        spans = [(times[rest.start], times[rest.stop - 1]) for rest in result.rests]
        total = sum(stop - start for start, stop in spans)
        listing = ", ".join(f"{start:.0f} to {stop:.0f}" for start, stop in spans[:20])
        more = f" and {len(spans) - 20} more" if len(spans) > 20 else ""
        sentences.append(
            f"at rest for {duration_text(total)} in {len(spans)} times [s]: {listing}{more}; there "
            "the scatter is that of the quietest tenth, neighbouring half seconds agree within "
            "noise, and it does not turn"
        )
        for turn in result.turns:
            axis = int(np.abs(turn.angle).argmax())
            sentences.append(
                f"turn from {times[turn.start]:.0f} to {times[turn.stop - 1]:.0f} s: "
                f"{np.degrees(turn.angle[axis]):.1f} deg about {AXES[axis]}"
            )
    for sensor, found in result.sensors.items():
        sentences.append(f"{sensor}: {found.method}")
    return sentences + result.remarks


def rows(result):
    """Return (sensor, quantity, unit, estimate, size of the unit) for all that was found."""
    found = []
    for sensor, one in result.sensors.items():
        unit, size = SHOWN_UNITS[sensor]
        for axis, estimate in zip(AXES, one.bias):
            found.append((sensor, f"bias {axis}", unit, estimate, size))
        for first, row in zip(AXES, one.matrix):
            for second, estimate in zip(AXES, row):
                if estimate is None or estimate.low == estimate.high:
                    continue
                name = f"scale factor {first}" if first == second else f"cross {first}{second}"
                found.append((sensor, name, "%", estimate, 0.01))
        for power, row in enumerate(one.temperature_bias, 1):
            by = f"{unit}/K" + (f"^{power}" if power > 1 else "")
            for axis, estimate in zip(AXES, row):
                found.append((sensor, f"bias {axis} by temperature", by, estimate, size))
        for power, row in enumerate(one.temperature_scale, 1):
            by = "%/K" + (f"^{power}" if power > 1 else "")
            for axis, estimate in zip(AXES, row):
                if estimate.low != estimate.high:
                    found.append((sensor, f"scale {axis} by temperature", by, estimate, 0.01))
    return found


def table_text(result) -> str:
    """Return all that was found with its 95 % interval."""
    lines = [f"{'':40s}{'found':>12s}   {'95 % interval':24s}"]
    for sensor, name, unit, estimate, size in rows(result):
        # As many digits as the interval has to say.
        half = 0.5 * (estimate.high - estimate.low) / size
        digits = int(np.clip(1 - np.floor(np.log10(half)), 0, 9)) if half > 0.0 else 6
        value, low, high = (
            f"{number / size:.{digits}f}"
            for number in (estimate.value, estimate.low, estimate.high)
        )
        lines.append(f"{sensor} {name:26s}".ljust(40) + f"{value:>12s}   {low} to {high} {unit}")
    return "\n".join(lines)


_MUCH = 3.0


def noise_remarks(
    sensor: str,
    noise: Sequence[SlowNoise],
    times: np.ndarray,
    readings: np.ndarray,
    rests: Sequence[RestTime],
) -> list[str]:
    """Return a remark where readings at rest scatter far more than the noise that is stated.

    Less is usual: sensors filter. ``sensor`` begins the sentence; ``noise`` of 3 axes is as stated;
    ``times`` (n,) [s]; ``readings`` (n, 3).
    """
    period = float(np.median(np.diff(times)))
    steps = np.concatenate([np.diff(readings[r.start : r.stop], axis=0) for r in rests])
    scatter = np.sqrt(np.mean(steps**2, axis=0) / 2.0)
    stated = np.array([one.white_noise for one in noise]) / np.sqrt(period)
    if not len(steps) or np.any(stated <= 0.0) or np.max(scatter / stated) < _MUCH:
        return []
    return [
        f"{sensor}: readings at rest scatter {np.max(scatter / stated):.2g} times as much as the "
        "stated noise does; if it is another sensor's, the intervals are too narrow by as much"
    ]


def constant_remarks(sensor: str, readings: np.ndarray, rests: Sequence[RestTime]) -> list[str]:
    """Return a remark where an axis says the same throughout each time at rest."""
    same = np.ones(3, dtype=bool)
    for rest in rests:
        same &= np.ptp(readings[rest.start : rest.stop], axis=0) == 0.0
    axes = [name for name, constant in zip(AXES, same) if constant]
    if not rests or not axes:
        return []
    return [
        f"{sensor}: readings of {', '.join(axes)} do not change at all at rest, of an axis that is "
        "not there or whose steps are larger than its noise: their intervals mean nothing"
    ]
