"""The report of an ensemble that was drawn, as ``monte_carlo.py`` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

from imu_simulation_framework import __version__
from imu_simulation_framework.evaluation.ensemble import Reduction
from imu_simulation_framework.experiment.versions import versions
from imu_simulation_framework.files.whole_files import write_whole
from imu_simulation_framework.pages.ensemble_page import ShownEnsemble, ensemble_page
from imu_simulation_framework.pages.page_text import page_html
from imu_simulation_framework.tools.heading_drift.ensemble_files import (
    COLUMNS,
    PROBABILITIES,
    Caption,
    statistics_table,
)
from imu_simulation_framework.tools.side_by_side.table_text import page_table


def write_report(
    folder: Path, ensemble: Reduction, caption: Caption, parameters: Mapping[str, Any]
) -> Path:
    """Write an ensemble as one web page, ``ensemble.html``.

    Parameters
    ----------
    folder : Path
    ensemble : Reduction
    caption : Caption
    parameters : Mapping
        Of the IMU.

    Raises
    ------
    ResultError
        It cannot be written.
    """
    shown = ShownEnsemble(
        ensemble.runs,
        ensemble.time[ensemble.places],
        dict(zip(PROBABILITIES, ensemble.quantiles(PROBABILITIES).T)),
        ensemble.statistics,
        ensemble.frequency,
        ensemble.density.mean,
        ensemble.time,
        ensemble.curves,
    )
    settings = {
        "drive": caption.drive,
        "what": caption.what,
        "runs": ensemble.runs,
        "seed": caption.seed,
        "period [s]": float(ensemble.time[1] - ensemble.time[0]),
        "imu": {caption.imu: parameters},
        "versions": versions(),
    }
    page = ensemble_page(
        f"Yaw error, {caption.drive}, {caption.imu}",
        shown,
        caption.limit,
        settings,
        list(dict.fromkeys(caption.remarks)),
        page_table(statistics_table(ensemble), COLUMNS, texts=2),
        footer=f"{ensemble.runs} runs, {caption.what}, seed {caption.seed}, "
        f"imu_simulation_framework {__version__}",
    )
    path = folder / "ensemble.html"
    write_whole(path, page_html(page).encode("utf-8"))
    return path
