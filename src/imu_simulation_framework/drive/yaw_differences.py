"""Differences of yaw signals from the first one: delays, statistics, table and remarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Sequence

import numpy as np
import pandas as pd

from ..core.errors import RecordingError
from ..core.signals import TimeShift, find_time_shift
from ..heading.statistics import TWO_SIDED
from ..heading.yaw_comparison import (
    FASTEST_TURN,
    ComparisonSettings,
    YawComparison,
    compare_yaw,
    jumps,
)
from ..report.table import Column
from .yaw_signals import MIN_SAMPLES

COLUMNS = (
    Column("name", "yaw signal"),
    Column("duration", "duration", "s", 1),
    Column("rms", "rms", "deg", 3),
    Column("reference", "reference rms", "deg", 3),
    Column("imu", "IMU rms [deg]"),
    Column("maximum_absolute", "max", "deg", 3),
    Column("final", "final", "deg", 3),
    Column("final_within", "final uncertainty", "deg", 3),
    Column("imu_final", "IMU final", "deg", 3),
    Column("imu_final_within", "IMU final uncertainty", "deg", 3),
    Column("drift", "drift", "deg/min", 3),
    Column("delay", "delay", "s", 3),
    Column("correlation", "correlation", "", 3),
)
"""Columns of the table of yaw differences."""

_REFERENCE_KEYS = ("reference", "imu", "final_within", "imu_final", "imu_final_within")

_MIN_RMS = np.radians(5.0)  # smallest RMS difference for which the opposite sign is tested
_MIN_RMS_RATIO = 3.0  # ratio of RMS differences above which a wrong sign is reported


@dataclass(frozen=True)
class YawDifference:
    """Difference between the first yaw signal and another one.

    Parameters
    ----------
    name : str
        Name of the other yaw signal.
    comparison : YawComparison
        Comparison whose error is the first yaw minus the other yaw, zero at the start.
    shift : TimeShift
        Delay of the other yaw; it is subtracted from the stamps only with ``align``.
    clock_offset : float
        Offset that was added to the stamps [s], because the time ranges did not overlap.
    rms_with_opposite_sign : float, optional
        RMS difference after reversing the sign of the other yaw [rad]; None unless it is much
        smaller.
    """

    name: str
    comparison: YawComparison
    shift: TimeShift
    clock_offset: float
    rms_with_opposite_sign: float | None = None


def yaw_differences(
    names: Sequence[str],
    yaws: Sequence[pd.Series],
    settings: ComparisonSettings,
    poses: pd.DataFrame | None = None,
) -> list[YawDifference]:
    """Compare each yaw signal with the first one.

    If the time range of a yaw signal does not overlap with that of the first one, for example
    because only one of them belongs to a result, it is shifted to the start of the first one.

    Parameters
    ----------
    names : sequence of str
        Names of the yaw signals, for error messages.
    yaws : sequence of pandas.Series
        Yaw signals [rad], indexed by time [s].
    settings : ComparisonSettings
        Settings; with ``align``, delays are subtracted.
    poses : pandas.DataFrame, optional
        Poses of the first yaw signal, see :func:`.compare_yaw`.

    Returns
    -------
    list of YawDifference
        Difference for each yaw signal except the first.

    Raises
    ------
    RecordingError
        There are fewer than two yaw signals, or one of them has too few samples in the time range
        of the first.
    """
    if len(yaws) < 2:
        raise RecordingError(
            f"only one yaw signal found, {', '.join(names)}, expected at least two"
        )
    first = yaws[0]
    differences = []
    for name, yaw in zip(names[1:], yaws[1:]):
        is_apart = yaw.index[0] > first.index[-1] or yaw.index[-1] < first.index[0]
        offset = float(first.index[0] - yaw.index[0]) if is_apart else 0.0
        shifted_yaw = pd.Series(yaw.to_numpy(), index=yaw.index.to_numpy(dtype=float) + offset)
        shift = find_time_shift(
            shifted_yaw.index, shifted_yaw, first.index, first, settings.max_shift
        )
        comparison = compare_yaw(shifted_yaw, first, settings, poses)
        if comparison is None or len(comparison.error) < MIN_SAMPLES:
            raise RecordingError(
                f"{name}: has fewer than {MIN_SAMPLES} samples in the time range of {names[0]}"
            )
        rms_with_opposite_sign = _rms_with_opposite_sign(
            comparison, shifted_yaw, first, settings, poses
        )
        differences.append(YawDifference(name, comparison, shift, offset, rms_with_opposite_sign))
    return differences


def _rms_with_opposite_sign(comparison, yaw, first, settings, poses) -> float | None:
    """Return the RMS difference with reversed sign [rad], or None if it is not much smaller."""
    rms = comparison.statistics.rms
    if rms < _MIN_RMS:
        return None
    opposite_comparison = compare_yaw(-yaw, first, settings, poses)
    if opposite_comparison is None or _MIN_RMS_RATIO * opposite_comparison.statistics.rms > rms:
        return None
    return float(opposite_comparison.statistics.rms)


def differences_table(differences: Sequence[YawDifference]) -> pd.DataFrame:
    """Create the table of yaw differences.

    Parameters
    ----------
    differences : sequence of YawDifference
        Differences between the first yaw signal and each of the others.

    Returns
    -------
    pandas.DataFrame
        One row per difference, with the keys of :data:`COLUMNS`:

        - name,
        - duration [s], rms and maximum_absolute [deg],
        - reference: expected RMS error of the first yaw [deg]; imu: error of the other, as text,
        - final and final_within: final difference, and half the width of its 95 % interval, which
          results from the reference and the zero [deg],
        - imu_final and imu_final_within: final error of the other, and half the width of its 95 %
          interval [deg],
        - drift [deg/min], delay [s], and correlation of the yaw rates.
    """
    rows = []
    for difference in differences:
        comparison = difference.comparison
        statistics, time = comparison.statistics, comparison.error.index
        split = comparison.split
        rows.append(
            {
                "name": difference.name,
                "duration": time[-1] - time[0],
                "rms": np.degrees(statistics.rms),
                "reference": np.degrees(split.reference) if split else float("nan"),
                "imu": split.imu_words() if split else "",
                "maximum_absolute": np.degrees(statistics.maximum_absolute),
                "final": np.degrees(statistics.final),
                "final_within": TWO_SIDED * np.degrees(split.final_std) if split else float("nan"),
                "imu_final": np.degrees(split.imu_final) if split else float("nan"),
                "imu_final_within": np.degrees(0.5 * (split.imu_final_high - split.imu_final_low))
                if split
                else float("nan"),
                "drift": 60.0 * np.degrees(statistics.drift),
                "delay": float("nan") if difference.shift.problem else difference.shift.shift,
                "correlation": difference.shift.correlation,
            }
        )
    return pd.DataFrame(rows)


def known_columns(table: pd.DataFrame) -> tuple[Column, ...]:
    """Return the columns of a difference table; omit reference errors if they are unknown.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of :func:`differences_table`.

    Returns
    -------
    tuple of Column
        Subset of :data:`COLUMNS`.
    """
    if not table["reference"].isna().all():
        return COLUMNS
    return tuple(column for column in COLUMNS if column.key not in _REFERENCE_KEYS)


def describe_jumps(names: Sequence[str], yaws: Sequence[pd.Series]) -> Iterator[str]:
    """Describe yaw jumps that are faster than a robot can turn.

    Parameters
    ----------
    names : sequence of str
        Names of the yaw signals.
    yaws : sequence of pandas.Series
        Yaw signals [rad], indexed by time [s].

    Yields
    ------
    str
        Message without a full stop for each yaw signal with jumps.
    """
    for name, yaw in zip(names, yaws):
        table = jumps(yaw)
        if len(table):
            time, (turn, interval) = table.index[0], table.iloc[0]
            times = "once" if len(table) == 1 else f"{len(table)} times, the first"
            yield (
                f"{name}: jumps {times} at {time - yaw.index[0]:.3f} s after its start, by "
                f"{np.degrees(turn):.1f} deg within {interval:.3f} s, faster than "
                f"{np.degrees(FASTEST_TURN):.0f} deg/s; this affects differences, delay and "
                "correlation"
            )
