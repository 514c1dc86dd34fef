"""What an Allan analysis leaves behind: files and figures."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.configuration.imu_specification_file import imu_specification_text
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.csv_tables import table_to_csv
from imu_simulation_framework.files.whole_files import (
    make_folder,
    picture,
    refuse_overwriting,
    write_whole,
)
from imu_simulation_framework.identification.allan.analysis import SENSORS
from imu_simulation_framework.identification.allan.band import LONGEST_SHARE, SHORTEST
from imu_simulation_framework.identification.allan.model import GAUSS_MARKOV, SYMBOLS, TERMS
from imu_simulation_framework.imu_formats import write_imu_parameters
from imu_simulation_framework.plots.allan_figures import allan_figure, raw_figure
from imu_simulation_framework.sensors.triads import TRIADS
from imu_simulation_framework.tools.allan.text import HIDDEN, NOT_IDENTIFIABLE, lines_text

_FIGURE = re.compile(rf"(allan|raw)_({'|'.join(SENSORS)})(_\d+)?\.png")


def write_allan_results(identification, folder, name, inputs=()) -> list[str]:
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
    inputs : iterable of str or Path
        The recordings, which must not be replaced.

    Returns
    -------
    list of str
        What could not be written, or not be said in a format, and why, a sentence each.

    Raises
    ------
    ConfigurationError
        The name cannot be a sensor's.
    ResultError
        A file cannot be written, or is an input.
    """
    contents = {
        "imu.yaml": imu_specification_text(
            identification.to_specification(name), _comment(identification)
        ).encode(),
        "allan_parameters.json": (
            json.dumps(_parameters(identification), indent=2) + "\n"
        ).encode(),
        "allan_deviation.csv": table_to_csv(_deviations(identification)).encode(),
    }
    remarks = []
    try:
        contents["kalibr_imu.yaml"], unsaid = _kalibr(identification, name)
        remarks += unsaid
    except ConfigurationError as error:
        remarks.append(f"kalibr_imu.yaml is not written: {error}")
    for sensor in identification.sensors:
        contents[f"allan_{sensor}.png"] = picture(allan_figure(identification, sensor))
        for number, recording in enumerate(identification.recordings, 1):
            ending = f"_{number}" if len(identification.recordings) > 1 else ""
            contents[f"raw_{sensor}{ending}.png"] = picture(raw_figure(recording, sensor))
    folder = make_folder(folder)
    for file_name in contents:
        refuse_overwriting(folder / file_name, inputs)
    for file_name, content in contents.items():
        write_whole(folder / file_name, content)
    # Of an analysis before this one in the same folder; they would pass for this one's.
    figures = (path.name for path in folder.glob("*.png") if _FIGURE.fullmatch(path.name))
    for file_name in sorted({"kalibr_imu.yaml", *figures}):
        if file_name not in contents and (folder / file_name).is_file():
            (folder / file_name).unlink()
            remarks.append(f"{file_name} of an earlier analysis is removed")
    return remarks


def _comment(identification) -> str:
    lines = ["Identified by Allan analysis; the 95 % intervals are in allan_parameters.json."]
    missing = [
        axis for axes in SENSORS.values() for axis in axes if axis not in identification.axes
    ]
    if missing:
        lines.append(f"Not recorded, so without errors here: {', '.join(missing)}.")
    absent, kept = [], []
    for sensor, axes in identification.sensors.items():
        for name in axes:
            result = identification.axes[name]
            if np.isinf(result.fit.terms[TERMS[0]].high):
                absent.append(f"  {name} {TERMS[0]}: {HIDDEN}")
            absent += [
                f"  {name} {term}: below {result.fit.terms[term].high:.3g}"
                for term in result.needed
                if not result.signed(term)
            ]
            kept += [f"  {name} {term}" for term in result.without_identification]
            lines += [
                f"{name}: lines left out: {lines_text(found, TRIADS[sensor].unit)}"
                for found in result.lines
                if found
            ]
    if absent:
        lines += [f"0, or left out, is what was {NOT_IDENTIFIABLE}:", *absent]
    if kept:
        lines += ["Not identified alone, but needed to stay with the measured curve:", *kept]
    return "\n".join(lines)


def _kalibr(identification, name):
    """Return the content of Kalibr's file, and what of the slow drift it cannot say."""
    missing = [
        axis for axes in SENSORS.values() for axis in axes if axis not in identification.axes
    ]
    if missing:
        raise ConfigurationError(
            f"Kalibr needs both sensors with three axes, but {', '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} not recorded"
        )
    specification = identification.to_specification(name, walk_limit=True)
    writing = write_imu_parameters(specification, "kalibr", identification.rate)
    limits = [
        axis for axis, result in identification.axes.items() if not result.signed("random_walk")
    ]
    comment = ""
    if limits:
        comment = (
            f"# The random walk of {', '.join(limits)} is {NOT_IDENTIFIABLE};\n"
            "# Kalibr needs one, so the upper end of its 95 % interval is used.\n"
        )
    unsaid = [
        f"kalibr_imu.yaml: {remark}"
        for remark in writing.remarks
        if GAUSS_MARKOV in remark or "bias_instability" in remark
    ]
    return (comment + writing.text).encode(), unsaid


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
            for sensor, names in identification.sensors.items()
            for name in names
        },
    }


def _axis(sensor, result) -> dict:
    fit = result.fit
    return {
        "misfit": fit.misfit,
        "described_by_the_terms": fit.describes,
        "standard_terms_suffice": not fit.start,
        "described_from_s": fit.start or float(min(curve.tau[0] for curve in result.curves)),
        "model_error_of_variance": fit.model_error,
        "terms": {term: _term(sensor, result, term) for term in TERMS},
        "gauss_markov": _gauss_markov(sensor, result),
        "written": result.choice,
        "lines": [
            [{"frequency_hz": line.frequency, "amplitude": line.amplitude} for line in lines]
            for lines in result.lines
        ],
        "band": {
            "from_s": SHORTEST,
            "to_part_of_recording": 1.0 / LONGEST_SHARE,
            "inside": not result.departures,
            "outside": [asdict(place) for place in result.departures],
        },
        "single_recordings": [
            {term: _estimate(fit.terms[term], 1.0) for term in TERMS} for fit in result.single_fits
        ],
    }


def _gauss_markov(sensor, result):
    """Return the Gauss-Markov process, None if there is none."""
    fit = result.fit
    if GAUSS_MARKOV not in fit.terms:
        return None
    return {
        "unit": TRIADS[sensor].unit,
        **_estimate(fit.terms[GAUSS_MARKOV], 1.0),
        "written": result.signed(GAUSS_MARKOV),
        "time_s": fit.gauss_markov_time.value,
        "time_interval_95_s": [
            fit.gauss_markov_time.low, _number(fit.gauss_markov_time.high)
        ],
    }  # fmt: skip


def _term(sensor, result, term) -> dict:
    unit, factor = TRIADS[sensor].datasheet(term)
    estimate = result.fit.terms[term]
    content = {
        "symbol": SYMBOLS[term],
        "unit": TRIADS[sensor].unit_of(term),
        **_estimate(estimate, 1.0),
        "written": result.signed(term),
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
    """Return the table of Allan deviations, one line for each averaging time of each recording."""
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
