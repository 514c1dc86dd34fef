"""The numbers of the thesis's chapter 4, and what they are here."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from imu_simulation_framework.configuration.imu_specification_file import read_imu_specification
from imu_simulation_framework.sensors.imu_models.hector_drift import drift_stationary_std
from imu_simulation_framework.tools.side_by_side.table_text import Column
from imu_simulation_framework.tools.thesis.experiments import (
    HECTOR,
    HECTOR_SLOW,
    LONG,
    ONE_ROUND,
    Experiments,
)

COLUMNS = (
    Column("place", "where"),
    Column("what", "what"),
    Column("thesis", "thesis"),
    Column("ours", "here"),
    Column("why", "why"),
)

_PERIOD = 0.01
"""Of the simulated IMU in thesis and package [s]."""


def numbers_table(experiments: Experiments) -> pd.DataFrame:
    """Return a row for each number of the chapter, with the keys of ``COLUMNS``."""
    rows = [*_white_noise(), *_errors(experiments), *_drift()]
    return pd.DataFrame(rows, columns=[column.key for column in COLUMNS])


def _white_noise():
    imu = read_imu_specification("bno055")
    velocity = float(np.mean(imu.accelerometer.white_noise))
    angle = math.degrees(float(np.mean(imu.gyroscope.white_noise)))
    yield (
        "(4.1)",
        "velocity random walk, mean of the axes",
        "7e-4 m/s²/√Hz",
        f"{velocity:.1e} m/s²/√Hz",
        "The mean of the thesis's table 3.2, in which ours is.",
    )
    yield (
        "(4.2)",
        "angle random walk, mean of the axes",
        "5e-2 deg/s/√Hz",
        f"{angle:.1e} deg/s/√Hz",
        "The mean of table 3.2 is a tenth of what stands there.",
    )
    yield (
        "(4.4), (4.5)",
        "noise of the gyroscope in 116 Hz",
        "0.06 deg/s = 0.00105 rad/s",
        f"{angle * math.sqrt(116.0):.2f} deg/s",
        "The result is that of table 3.2 and not that of (4.2), which would give 0.54 deg/s.",
    )


def _errors(experiments):
    short, long = experiments.comparison(ONE_ROUND), experiments.comparison(LONG)
    for place, comparison, told in (
        ("(4.5)", short, "0.00105"),
        ("(4.6)", long, "0.00215"),
    ):
        noise = comparison.simulated.statistics.standard_deviation
        yield (
            place,
            "noise of the generic plug-in, and that of the yaw",
            f"{told} rad/s",
            f"{noise:.5f} rad of yaw",
            "A rate's noise becomes that of a quaternion's components: twice as much of yaw.",
        )
    yield (
        "4.1.1",
        "largest recorded error in one round of A, smoothed",
        "1.5 deg",
        f"{np.degrees(short.real.trend_statistics.maximum_absolute):.2f} deg",
        "Another recording.",
    )
    yield (
        "4.1.1",
        "recorded error at the end of A",
        "0.25 rad, said to be 15 deg (it is 14.3)",
        f"{np.degrees(abs(long.real.statistics.final)):.1f} deg",
        "Another recording.",
    )
    yield (
        "4.3",
        "speed of the simulation",
        "real time",
        "tens of times faster",
        "Lock-step in one process; the terminal says how fast it was.",
    )


def _drift():
    for place, imu in (("(4.10), (4.13)", HECTOR), ("(4.14), (4.15)", HECTOR_SLOW)):
        told = imu.settings["imu_hector"]
        drift, frequency = told["yaw_drift"], told["yaw_drift_frequency"]
        size = float(drift_stationary_std(drift, frequency, _PERIOD))
        yield (
            place,
            f"drift of {imu.name}: standard deviation in the long run",
            f"{drift:g} rad, by (4.12)",
            f"{size:.3f} rad, {math.degrees(size):.1f} deg",
            "The plug-in scales each step with dt instead of its root, so that the size hangs on "
            "the sample rate. By (4.12) it would be 0.05 rad, which it is at 0.005 Hz and 100 Hz "
            "only.",
        )
    yield (
        "(4.16), (4.17)",
        "frequencies that are held to be reasonable",
        "0.0008 to 0.007 Hz",
        "see the judgement",
        "Both settings are inside; what the recorded drives say of them is tested here.",
    )
