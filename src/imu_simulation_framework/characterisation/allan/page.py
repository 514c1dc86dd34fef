"""Web page with the results of an Allan analysis."""

from __future__ import annotations

from typing import Sequence

from ... import __version__
from ...report.page import Page, Section, Table
from ...sensors.triads import TRIADS
from .analysis import AllanIdentification
from .figures import allan_figure, raw_figure
from .model import SYMBOLS, TERMS
from .sentences import format_coefficient


def allan_page(
    identification: AllanIdentification,
    name: str,
    summary: Sequence[str],
    findings: Sequence[str],
) -> Page:
    """Create the page with the results of an analysis.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.
    name : str
        Name of the sensor.
    summary : sequence of str
        Sentences at the beginning.
    findings : sequence of str
        Sentences on the recordings.

    Returns
    -------
    Page
    """
    sections = []
    for sensor, axes in identification.sensors.items():
        sections.append(
            Section(
                f"Allan deviation of the {sensor}",
                table=_coefficients(identification, sensor, axes),
                figure=allan_figure(identification, sensor),
                how_to_read="Band: 95 % interval of the measurement. Line: identified sensor.",
            )
        )
        for number, recording in enumerate(identification.recordings, 1):
            count = f" {number}" if len(identification.recordings) > 1 else ""
            sections.append(
                Section(
                    f"Recording{count} of the {sensor}",
                    figure=raw_figure(recording, sensor),
                    folded=True,
                )
            )
    sections.append(Section("Findings in the recordings", text=findings))
    sources = ", ".join(recording.source for recording in identification.recordings)
    return Page(
        title=f"Allan analysis of {name}",
        summary=summary,
        sections=sections,
        footer=f"{sources}, imu_simulation_framework {__version__}",
    )


def _coefficients(identification, sensor, axes) -> Table:
    triad, rows = TRIADS[sensor], []
    for term in TERMS:
        unit, factor = triad.datasheet(term)
        label = f"{SYMBOLS[term]} {term.replace('_', ' ')}"
        for axis in axes:
            line = format_coefficient(identification.axes[axis], term, factor)
            rows.append((label, triad.unit_of(term), unit, axis, line))
    headings = (
        "term",
        "SI unit",
        "data sheet unit",
        "axis",
        "estimate (95 % interval), first in the SI unit",
    )
    return Table(headings, rows)
