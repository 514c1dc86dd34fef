"""Several yaws of one drive against the first of them, on clocks of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.signals import TimeShift, find_time_shift
from imu_simulation_framework.heading.comparison import (
    ComparisonSettings,
    YawComparison,
    compare_yaw,
)

if TYPE_CHECKING:
    import pandas as pd

FEWEST_COMMON = 2
_MIN_RMS = np.radians(5.0)
_FAR_BETTER = 3.0


def rms_with_sign_turned(comparison, yaw, first, settings, poses=None) -> float | None:
    """Return how far apart two yaws are if one of them counts the other way round, where it may.

    ``comparison`` (YawComparison): of the two as they are. ``yaw``, ``first`` (Series) [rad]
    indexed by time [s] of one clock. ``settings`` (ComparisonSettings). ``poses`` (DataFrame,
    optional): those of the first, as of :func:`.compare_yaw`. The result is in [rad]; None unless
    that is far less than it is now.
    """
    rms = comparison.statistics.rms
    if rms < _MIN_RMS:
        return None
    turned = compare_yaw(-yaw, first, settings, poses)
    if turned is None or _FAR_BETTER * turned.statistics.rms > rms:
        return None
    return float(turned.statistics.rms)


@dataclass(frozen=True)
class YawDifference:
    """One yaw against the first.

    ``comparison``: its error is the first yaw minus this one, zero at the start. ``shift``: how
    late it was found to be; subtracted from its stamps only if that was asked for.
    ``clock_offset``: what was added to its stamps [s] because the two had no time in common.
    ``rms_with_sign_turned``: how far apart the two are if this one counts the other way round
    [rad]; None unless that is far less.
    """

    name: str
    comparison: YawComparison
    shift: TimeShift
    clock_offset: float
    rms_with_sign_turned: float | None = None


def yaw_differences(names, yaws, settings=None, poses=None) -> list[YawDifference]:
    """Compare yaws with the first of them.

    ``names`` (sequence of str): for messages; the first is what the others are compared with.
    ``yaws`` (sequence of Series) [rad] indexed by time [s]. Where one has no time in common with
    the first, which is so with a recording's clock and a result's, the two begin together.
    ``settings`` (ComparisonSettings): ``align`` says whether a found delay is taken off.
    ``poses`` (DataFrame): those of the first yaw, if it is one of poses, as of
    :func:`.compare_yaw`. Returns one less than there are yaws. Raises RecordingError if there are
    less than two, or one has fewer than two samples, on its own or in common with the first.
    """
    import pandas as pd

    settings = ComparisonSettings() if settings is None else settings
    if len(yaws) < 2:
        raise RecordingError(f"there is one yaw only, {', '.join(names)}; name another one")
    for name, yaw in zip(names, yaws):
        if len(yaw) < FEWEST_COMMON:
            raise RecordingError(
                f"{name}: holds too few yaws, {len(yaw)}; at least {FEWEST_COMMON} are needed to "
                "compare"
            )
    first = yaws[0]
    found = []
    for name, yaw in zip(names[1:], yaws[1:]):
        offset = _clock_offset(first, yaw)
        moved = pd.Series(yaw.to_numpy(), index=yaw.index.to_numpy(dtype=float) + offset)
        shift = find_time_shift(moved.index, moved, first.index, first, settings.max_shift)
        comparison = compare_yaw(moved, first, settings, poses)
        if comparison is None or len(comparison.error) < FEWEST_COMMON:
            raise RecordingError(
                f"{name}: has fewer than {FEWEST_COMMON} samples within the time of {names[0]}"
            )
        turned = rms_with_sign_turned(comparison, moved, first, settings, poses)
        found.append(YawDifference(name, comparison, shift, offset, turned))
    return found


def _clock_offset(first, yaw) -> float:
    apart = yaw.index[0] > first.index[-1] or yaw.index[-1] < first.index[0]
    return float(first.index[0] - yaw.index[0]) if apart else 0.0


def differences_table(differences) -> pd.DataFrame:
    """Sum up differences: a row each, with degrees and seconds.

    Indexed by name: duration [s], rms, reference (what of it is expected of the first), imu (in
    words, what is left for this one), maximum_absolute, final [deg], imu_final and
    imu_final_within (this one's own, and half its 95 % interval) [deg], drift [deg/min], delay [s],
    correlation of the rates.
    """
    import pandas as pd

    rows = {}
    for one in differences:
        statistics, time = one.comparison.statistics, one.comparison.error.index
        split = one.comparison.split
        rows[one.name] = {
            "duration": time[-1] - time[0],
            "rms": np.degrees(statistics.rms),
            "reference": np.degrees(split.reference) if split else float("nan"),
            "imu": split.imu_words() if split else "",
            "maximum_absolute": np.degrees(statistics.maximum_absolute),
            "final": np.degrees(statistics.final),
            "imu_final": np.degrees(split.imu_final) if split else float("nan"),
            "imu_final_within": np.degrees(0.5 * (split.imu_final_high - split.imu_final_low))
            if split
            else float("nan"),
            "drift": 60.0 * np.degrees(statistics.drift),
            "delay": float("nan") if one.shift.problem else one.shift.shift,
            "correlation": one.shift.correlation,
        }
    return pd.DataFrame.from_dict(rows, orient="index")
