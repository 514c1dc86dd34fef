"""Clocks of reference and IMU that differ: shifted, of another rate, of another epoch."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.evaluation.spectrum import uniform_grid
from imu_simulation_framework.evaluation.time_alignment import normalised_correlation, parabola_peak
from imu_simulation_framework.recorded.plausibility import findings as faults
from imu_simulation_framework.recorded.plausibility.findings import Finding
from imu_simulation_framework.recorded.plausibility.headings import (
    gyro_heading,
    imu_heading,
    part_of,
    reference_heading,
)
from imu_simulation_framework.recorded.plausibility.relation import relate

NOTICED_DELAY = 0.15
GRAVE_DELAY = 1.0
"""Of a clock against the other [s]."""

PART = 40.0
"""Delays of clocks of another rate are looked for in parts of about this length [s]."""

NOTICED_RATE = 1e-3
"""Of a clock against the other [s/s]."""


def clock_faults(observations, course_is_yaw, offsets) -> list[Finding]:
    """Find a clock that is shifted against the other, or of another rate; see symptoms()."""
    best = None
    for relation in (observations.reference_gyro, observations.reference_imu):
        if relation is not None and relation.conclusive and relation.correlation > 0.4:
            best = best or relation
    if best is None:
        return []
    rate, ends = _clock_rate(observations, best)
    if rate:
        return [
            Finding(
                faults.CLOCK_RATE,
                f"{best.second} is {ends[0]:.2f} s late at first and {ends[1]:.2f} s at last: "
                f"its clock runs {abs(100.0 * rate):.2f} % too {'slow' if rate < 0.0 else 'fast'}",
                "correct the stamps, no setting does",
                abs(ends[1] - ends[0]) > GRAVE_DELAY and not course_is_yaw,
            )
        ]
    trusted = best.correlation > (0.9 if course_is_yaw else 0.8) and 0.5 < best.scale < 2.0
    if abs(best.delay) < NOTICED_DELAY or not trusted:
        return []
    evidence = (
        f"{best.second} is {abs(best.delay):.2f} s {'late' if best.delay > 0.0 else 'early'} "
        f"against {best.first} (correlation {best.correlation:.2f}, "
        f"{best.correlation_as_recorded:.2f} as recorded)"
    )
    # It is the receiver that tells late where it was.
    setting = ("imu_recording", offsets[1] - best.delay)
    if course_is_yaw and best.delay < 0.0:
        setting = ("reference", offsets[0] + best.delay)
    section, value = setting
    return [
        Finding(
            faults.SHIFTED_CLOCK,
            evidence,
            grave=abs(best.delay) > GRAVE_DELAY,
            settings=((section, "time_offset", f"{value:.2f}"),),
        )
    ]


def _clock_rate(observations, relation):
    """How much faster [s/s] the IMU's clock runs, 0 if not noticed, and delays at both ends."""
    first = reference_heading(observations.reference)
    gyro = observations.reference_gyro is relation
    second = (gyro_heading if gyro else imu_heading)(observations.imu)
    start = max(first.time[0], second.time[0])
    stop = min(first.time[-1], second.time[-1])
    edges = np.linspace(start, stop, 1 + int(np.clip((stop - start) / PART, 3, 12)))
    middles, delays = [], []
    for begin, end in zip(edges[:-1], edges[1:]):
        parts = [part_of(heading, begin, end) for heading in (first, second)]
        if min(len(heading.time) for heading in parts) < 3:
            continue
        part = relate(*parts)
        if part is not None and part.conclusive and part.correlation > 0.9:
            middles.append(0.5 * (begin + end) - start)
            delays.append(part.delay)
    if len(delays) < 3:
        return 0.0, (0.0, 0.0)
    rate, at_start = np.polyfit(middles, delays, 1)
    grown = rate * (middles[-1] - middles[0])
    scatter = np.std(np.array(delays) - np.polyval((rate, at_start), middles))
    if abs(grown) < max(2.0 * NOTICED_DELAY, 4.0 * scatter) or abs(rate) < NOTICED_RATE:
        return 0.0, (0.0, 0.0)
    return rate, (at_start, at_start + rate * (stop - start))


def clock_offset(first, second):
    """Find by how much two headings on different clocks are apart.

    Returns
    -------
    offset : float
        To be added to the times of the second [s].
    correlation : float
        Of the rates of turn there.
    """
    period = max(0.1, first.period, second.period)
    rates = []
    for heading in (first, second):
        grid = uniform_grid(heading.time[0], heading.time[-1], 1.0 / period)
        rate = np.gradient(heading.at(grid)) / period
        rates.append(rate - rate.mean())
    short = min(map(len, rates))
    lags = np.arange(-(len(rates[0]) - short // 2), len(rates[1]) - short // 2)
    correlations = normalised_correlation(rates[1], rates[0], lags)
    overlaps = np.minimum(len(rates[0]), len(rates[1]) - lags) - np.maximum(0, -lags)
    # One of the two may be mirrored. The logarithm of the likelihood of a regression grows with
    # what overlaps: a part of a drive that repeats itself fits a part of another round, too.
    likeness = np.abs(correlations)
    best = int(np.argmax(-overlaps * np.log1p(1e-12 - np.minimum(likeness, 1.0) ** 2)))
    lag = lags[best] + parabola_peak(likeness, best)
    offset = (first.time[0] - second.time[0]) - lag * period
    return float(offset), float(correlations[best])
