"""Figure of the growth of a yaw error over distance and over accumulated turn."""

from __future__ import annotations

import numpy as np

from ...core.signals import variance_interval
from ...report import style
from ...report.figure import Figure

CONFIDENCE = 0.95
"""Confidence level of the bands around spectral densities and relative errors."""


def yaw_error_relative(comparison) -> Figure:
    """Create a figure of the rms change of the yaw error versus interval length.

    Parameters
    ----------
    comparison : Comparison
        Comparison of an experiment.

    Returns
    -------
    Figure
    """
    figure = Figure(
        empty_message="The drive is too short for a drift over distance or turning.",
        widths=(1.0, 1.0),
        share_y=True,
    )
    headings = style.label_headings(comparison)
    positive = all(
        entry.rms > 0.0 for imu, _, _ in headings for entry in (*imu.over_distance, *imu.over_turn)
    )
    for part, factor, title, x in (
        ("over_distance", 1.0, "Drift over distance", "distance [m]"),
        ("over_turn", np.degrees(1.0), "Drift over turning", "accumulated turn [deg]"),
    ):
        curves = [(getattr(result, part), look, name) for result, look, name in headings]
        curves = [curve for curve in curves if curve[0]]
        if not curves:
            continue
        lengths = {entry.length for entries, _, _ in curves for entry in entries}
        figure.panel(
            "rms change of the yaw error [deg]", title, x=x, log="xy" if positive else "x",
            ticks=factor * np.array(sorted(lengths)), height=300,
        )  # fmt: skip
        for entries, look, name in curves:
            length = factor * np.array([entry.length for entry in entries])
            rms = np.degrees([entry.rms for entry in entries])
            low, high = variance_interval([entry.independent for entry in entries], CONFIDENCE)
            figure.band(
                length, rms * np.sqrt(low), rms * np.sqrt(high), look["color"], 0.18,
                f"{100.0 * CONFIDENCE:.0f} %, if intervals are independent",
            )  # fmt: skip
            figure.line(length, rms, look, name, dots=True)
            if entries[0].reference_rms is not None:
                expected = np.degrees([entry.reference_rms for entry in entries])
                figure.line(length, expected, style.REFERENCE, f"the reference alone ({name})")
    return figure
