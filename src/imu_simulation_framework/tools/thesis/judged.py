"""Whether the recorded errors may be Hector's: what the thesis had too few drives to answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from imu_simulation_framework.columns import POSES
from imu_simulation_framework.evaluation.judgement.ensemble import from_zero_where_known
from imu_simulation_framework.evaluation.judgement.judge import Judgement, judge
from imu_simulation_framework.evaluation.yaw_error_model import yaw_error_model
from imu_simulation_framework.identification.yaw_error import observed_yaw_error
from imu_simulation_framework.motion import sources
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.sensors.imu_models import HectorParameters
from imu_simulation_framework.tools.side_by_side.table_text import Column
from imu_simulation_framework.tools.thesis.experiments import (
    HECTOR,
    HECTOR_SLOW,
    Experiments,
    Imu,
)

DRAWN = 2000
"""Drives of a model that a recorded error is judged by."""

COLUMNS = (
    Column("drive", "drive"),
    Column("imu", "model"),
    Column("expected", "model's rms at the end", "deg", 2),
    Column("final", "recorded at the end", "deg", 2),
    Column("p", "p, whole curve", "", 4),
    Column("smallest", "smallest p of all looks, corrected", "", 4),
    Column("sentence", "verdict"),
)


class JudgedDrive(NamedTuple):
    """``drive``, ``imu``, ``judgement``; ``expected``: the model's rms at the end [rad]."""

    drive: str
    imu: Imu
    judgement: Judgement
    expected: float


def judged_drives(experiments: Experiments) -> list[JudgedDrive]:
    """Judge the recorded error of each drive by many drives with each of Hector's settings."""
    return [_judged(experiments, letter, imu) for letter in DRIVES for imu in (HECTOR, HECTOR_SLOW)]


def judgement_table(judged) -> pd.DataFrame:
    """Return a row for each judgement, with the keys of ``COLUMNS``."""
    return pd.DataFrame(
        {
            "drive": one.drive.upper(),
            "imu": one.imu.name,
            "expected": np.degrees(one.expected),
            "final": np.degrees(_final(one.judgement)),
            "p": one.judgement.envelope.p_value,
            "smallest": min(
                [one.judgement.adjusted, *(look.adjusted for look in one.judgement.statistics)]
            ),
            "sentence": one.judgement.sentence,
        }
        for one in judged
    )


def _judged(experiments, letter, imu) -> JudgedDrive:
    trajectory = experiments.prepared(letter).drive.trajectory
    samples = int(trajectory.index[-1] * sources.RATE + 1e-6) + 1
    motion = sources.planar(trajectory[list(POSES)], at=np.arange(samples) / sources.RATE)
    model = yaw_error_model(HectorParameters(**imu.settings["imu_hector"]), motion)
    recorded = experiments.recorded(letter)
    name = experiments.name(letter)
    observed = observed_yaw_error(name, recorded.error, recorded.reference_yaw).error
    drawn = model.realisations(DRAWN, experiments.seed)
    time, observed, drawn = from_zero_where_known(model.time, observed, drawn)
    expected = float(np.sqrt(np.mean(drawn[:, -1] ** 2)))
    return JudgedDrive(letter, imu, judge(time, observed, drawn), expected)


def _final(judgement) -> float:
    return next(look.observed for look in judgement.statistics if look.name == "final")
