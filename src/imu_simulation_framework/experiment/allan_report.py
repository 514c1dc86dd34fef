"""What an Allan analysis leaves behind: files, figures and a table."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.core.allan import SENSORS
from imu_simulation_framework.core.allan_model import SYMBOLS, TERMS
from imu_simulation_framework.core.noise_units import DATASHEET_UNITS, SI_UNITS, duration_text
from imu_simulation_framework.errors import ConfigurationError, ResultError
from imu_simulation_framework.files.csv_tables import table_to_csv
from imu_simulation_framework.files.imu_formats import write_imu_parameters
from imu_simulation_framework.files.imu_specification_file import imu_specification_text
from imu_simulation_framework.files.whole_files import reason_of, write_whole
from imu_simulation_framework.plots.allan_figures import allan_figure

NOT_IDENTIFIABLE = "not identifiable from this recording"


def write_allan_results(identification, folder, name) -> list[str]:
    """Write the specification, Kalibr's parameters, the numbers and the figures.

    All contents are made before the first file is written, and each file is there as a whole or
    not at all.

    Parameters
    ----------
    identification : AllanIdentification
    folder : str or Path
        Made if it is not there.
    name : str
        Of the sensor, for the specification.

    Returns
    -------
    list of str
        What could not be written and why, a sentence each.

    Raises
    ------
    ConfigurationError
        The name cannot be a sensor's.
    ResultError
        A file cannot be written.
    """
    folder = Path(folder)
    contents = {
        "imu.yaml": imu_specification_text(
            identification.to_specification(name), _comment(identification)
        ).encode(),
        "allan_parameters.json": (
            json.dumps(_parameters(identification), indent=2) + "\n"
        ).encode(),
        "allan_deviation.csv": table_to_csv(_deviations(identification)).encode(),
    }
    notes = []
    try:
        contents["kalibr_imu.yaml"] = _kalibr(identification, name)
    except ConfigurationError as error:
        notes.append(f"kalibr_imu.yaml is not written: {error}")
    for sensor in SENSORS:
        image = io.BytesIO()
        # Without a date and version in it, equal data give equal bytes.
        allan_figure(identification, sensor).savefig(
            image, format="png", metadata={"Software": None}
        )
        contents[f"allan_{sensor}.png"] = image.getvalue()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{folder}: cannot make this folder: {reason_of(error)}") from error
    for file_name, content in contents.items():
        write_whole(folder / file_name, content)
    return notes


def terminal_table(identification) -> str:
    """A table of all terms: SI, the 95 % interval, and the units of datasheets."""
    lines = []
    for sensor, axes in SENSORS.items():
        for term in TERMS:
            unit, factor = DATASHEET_UNITS[sensor][term]
            lines.append(
                f"{sensor}, {SYMBOLS[term]} {term.replace('_', ' ')}"
                f" [{SI_UNITS[sensor][term]}], [{unit}]"
            )
            lines += [
                f"  {axis}  {_line(identification.axes[axis], term, factor)}" for axis in axes
            ]
    return "\n".join(lines)


def _line(result, term, factor) -> str:
    estimate = result.fit.terms[term]
    if estimate.identified:
        value = result.signed(term)
        return (
            f"{value:10.3e}  ({estimate.low:.3e} to {estimate.high:.3e})"
            f"  {value * factor:10.4g}  ({estimate.low * factor:.4g} to "
            f"{estimate.high * factor:.4g})"
        )
    return (
        f"{NOT_IDENTIFIABLE}: below {estimate.high:.2e} ({estimate.high * factor:.3g}); "
        f"{_needed(result.needed[term], factor)}"
    )


def _needed(needed, factor) -> str:
    if not np.isfinite(needed.duration):
        return f"even a month would not show {needed.value:.1e} ({needed.value * factor:.2g})"
    return (
        f"{needed.value:.1e} ({needed.value * factor:.2g}) would need about "
        f"{duration_text(needed.duration)}"
    )


def findings(identification) -> list[str]:
    """What a person should know about the recordings and the fit, a sentence each."""
    sentences = []
    for recording in identification.recordings:
        sentences.append(
            f"{recording.source}: {recording.duration / 3600.0:.3f} h at {recording.rate:.4f} Hz "
            f"in {len(recording.parts)} part{'s' if len(recording.parts) > 1 else ''}"
        )
        sentences += recording.remarks
        sentences += [
            f"{name}: {finding.count} outlier{'s' if finding.count > 1 else ''} replaced by the "
            f"median around, the first at {finding.first_time:.2f} s"
            for name, finding in recording.outliers.items()
            if finding
        ]
    for name, result in identification.axes.items():
        if not result.fit.describes:
            sentences.append(
                f"{name}: Q, N, B, K and R alone do not describe this Allan deviation (mean "
                f"square of the residuals {result.fit.misfit:.1f} instead of 1), so look at the "
                "figure; intervals are widened accordingly"
            )
    return sentences


def _comment(identification) -> str:
    lines = ["Identified by Allan analysis; the 95 % intervals are in allan_parameters.json."]
    absent = [
        f"  {name} {term}: below {result.fit.terms[term].high:.3g}"
        for name, result in identification.axes.items()
        for term in result.needed
    ]
    if absent:
        lines += [f"0, or left out, is what was {NOT_IDENTIFIABLE}:", *absent]
    return "\n".join(lines)


def _kalibr(identification, name) -> bytes:
    specification = identification.to_specification(name, walk_limit=True)
    writing = write_imu_parameters(specification, "kalibr", identification.rate)
    limits = [
        axis
        for axis, result in identification.axes.items()
        if not result.fit.terms["random_walk"].identified
    ]
    comment = ""
    if limits:
        comment = (
            f"# The random walk of {', '.join(limits)} is {NOT_IDENTIFIABLE};\n"
            "# Kalibr needs one, so the upper end of its 95 % interval is used.\n"
        )
    return (comment + writing.text).encode()


def _parameters(identification) -> dict:
    return {
        "version": __version__,
        "rate_hz": identification.rate,
        "bias_instability_band_s": list(identification.band),
        "recordings": [
            {
                "source": recording.source,
                "rate_hz": recording.rate,
                "duration_s": recording.duration,
                "parts": [list(part) for part in recording.parts],
                "unused_samples": recording.unused,
                "gaps": asdict(recording.gaps),
                "outliers": {name: asdict(f) for name, f in recording.outliers.items()},
                "remarks": list(recording.remarks),
            }
            for recording in identification.recordings
        ],
        "axes": {
            name: _axis(sensor, identification.axes[name])
            for sensor, names in SENSORS.items()
            for name in names
        },
    }


def _axis(sensor, result) -> dict:
    return {
        "misfit": result.fit.misfit,
        "described_by_the_terms": result.fit.describes,
        "terms": {term: _term(sensor, result, term) for term in TERMS},
        "single_recordings": [
            {term: _estimate(fit.terms[term], 1.0) for term in TERMS} for fit in result.single_fits
        ],
    }


def _term(sensor, result, term) -> dict:
    unit, factor = DATASHEET_UNITS[sensor][term]
    estimate = result.fit.terms[term]
    content = {
        "symbol": SYMBOLS[term],
        "unit": SI_UNITS[sensor][term],
        **_estimate(estimate, 1.0),
        "datasheet": {"unit": unit, **_estimate(estimate, factor)},
    }
    if term == "rate_ramp" and estimate.identified:
        content["sign"] = int(result.ramp_sign)
    if term in result.needed:
        needed = result.needed[term]
        content["needed"] = {
            "for_value": needed.value,
            "duration_s": _number(needed.duration),
        }
    return content


def _estimate(estimate, factor) -> dict:
    return {
        "identified": estimate.identified,
        "value": estimate.value * factor if estimate.identified else None,
        "interval_95": [_number(estimate.low * factor), _number(estimate.high * factor)],
    }


def _number(value):
    return float(value) if np.isfinite(value) else None


def _deviations(identification):
    """Table of Allan deviations, one line for each averaging time of each recording."""
    tables = []
    for number in range(len(identification.recordings)):
        columns = {"recording": number + 1}
        for name, result in identification.axes.items():
            curve = result.curves[number]
            columns[f"{name}_deviation"] = curve.deviation
            columns[f"{name}_low"] = curve.low
            columns[f"{name}_high"] = curve.high
            columns[f"{name}_degrees_of_freedom"] = curve.degrees_of_freedom
        index = pd.Index(curve.tau, name="tau")
        tables.append(pd.DataFrame(columns, index=index))
    return pd.concat(tables)
