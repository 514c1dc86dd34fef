"""What is written of an experiment: its tables, its summary and its figures."""

from __future__ import annotations

import traceback

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.core.files import json_text
from imu_simulation_framework.drive.figures import FIGURES
from imu_simulation_framework.drive.summary import NOTHING_TOLD, evaluate
from imu_simulation_framework.report.drawing import drawing


def write_results(
    folder, tables, settings=None, run=NOTHING_TOLD, save_tables=True, formats=("png",)
):
    """Write an experiment's CSV files, its summary and its figures, in this order.

    The tables may be complete, or as far as they came; without ``save_tables`` the CSV files are
    left alone. ``formats`` of the figures are ``png``, ``pdf`` and ``svg``. Returns the summary.
    Raises ResultError: a file cannot be written. What came before in the order is there and whole.
    """
    if save_tables:
        tables.save(folder)
    summary, comparison = evaluate(tables, settings, run)
    folder.write_text("summary.json", json_text(summary))
    failures = _write_figures(folder, comparison, formats, caption(folder, summary))
    if failures:
        summary["notes"].extend(failures)
        folder.write_text("summary.json", json_text(summary))
    return summary


def caption(folder, summary) -> str:
    """Return what stands below each figure: drive, IMUs, seed and date of an experiment."""
    run = summary["run"]
    imu = run.get("imu")
    label = (imu.get("label") or imu.get("model")) if isinstance(imu, dict) else imu
    scale = run.get("trajectory_scale")
    parts = [
        f"drive {run['drive']}" if run.get("drive") else None,
        f"{summary['durations']['recorded_s']:.0f} s",
        f"path scaled by {scale:g}" if isinstance(scale, float) and scale != 1.0 else None,
        f"simulated IMU {label}" if label else None,
        f"seed {run['seed']}" if run.get("seed") is not None else None,
        run.get("simulator"),
        folder.start,
    ]
    return " · ".join(str(part) for part in parts if part)


def _write_figures(folder, comparison, formats, footer):
    """Write all figures; a sentence for each that could not be drawn.

    A defect in one figure must cost neither the other figures nor the experiment.
    """
    failures = []
    for name, describe in FIGURES.items():
        try:
            figure = drawing(describe(comparison), footer)
            for format in formats:
                folder.write_figure(name, figure, format)
        except FrameworkError:
            raise
        except Exception as error:
            traceback.print_exc()
            failures.append(f"The figure {name} could not be drawn: {error!r}.")
    return failures
