"""Contents of the files that an Allan analysis writes."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Iterable

import numpy as np
import pandas as pd

from ... import __version__
from ...core.errors import ConfigurationError
from ...core.files import format_json
from ...core.tables import table_to_csv
from ...core.whole_files import render_figure
from ...report.drawing import to_matplotlib
from ...sensors.files import imu_specification_text
from . import analysis
from .axis import LONGEST_SHARE, SHORTEST
from .figures import allan_figure, raw_figure
from .model import GAUSS_MARKOV, SYMBOLS, TERMS
from .sentences import AXIS_TRIADS, HIDDEN, NOT_IDENTIFIABLE, format_spectral_lines

KALIBR = "kalibr_imu.yaml"
"""Name of the Kalibr IMU file, which is written only if all axes were recorded."""

_FIGURE = re.compile(rf"(allan|raw)_({'|'.join(analysis.SENSORS)})(_\d+)?\.png")


def file_contents(
    identification: analysis.AllanIdentification, name: str, topic: str = ""
) -> tuple[dict[str, bytes], list[str]]:
    """Create the contents of all files of an Allan analysis in memory, before any is written.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.
    name : str
        Name of the sensor.
    topic : str
        Topic of the recordings, which Kalibr's file contains; empty if they have none.

    Returns
    -------
    contents : dict of str to bytes
        Content of each file, keyed by file name.
    remarks : list of str
        Remarks on the file for Kalibr.
    """
    contents = {
        "imu.yaml": imu_specification_text(
            identification.to_specification(name), specification_comment(identification)
        ).encode(),
        "allan_parameters.json": format_json(list_parameters(identification)).encode(),
        "allan_deviation.csv": table_to_csv(deviation_table(identification)).encode(),
    }
    remarks = []
    try:
        contents[KALIBR], omissions = make_kalibr_file(identification, name, topic)
        remarks += omissions
    except ConfigurationError as error:
        remarks.append(f"{KALIBR} is not written: {error}")
    for sensor in identification.sensors:
        contents[f"allan_{sensor}.png"] = render_figure(
            to_matplotlib(allan_figure(identification, sensor))
        )
        for number, recording in enumerate(identification.recordings, 1):
            ending = f"_{number}" if len(identification.recordings) > 1 else ""
            contents[f"raw_{sensor}{ending}.png"] = render_figure(
                to_matplotlib(raw_figure(recording, sensor))
            )
    return contents, remarks


def remove_earlier_files(folder: Path, names: Iterable[str]) -> list[str]:
    """Remove files of an earlier analysis that could be mistaken for results of this one.

    Parameters
    ----------
    folder : Path
        Folder of the results.
    names : iterable of str
        Names of the files of this analysis, which are not removed.

    Returns
    -------
    list of str
        Remark on each removed file.
    """
    figures = (path.name for path in folder.glob("*.png") if _FIGURE.fullmatch(path.name))
    remarks = []
    for name in sorted({KALIBR, *figures}):
        if name not in names and (folder / name).is_file():
            (folder / name).unlink()
            remarks.append(f"{name} of an earlier analysis is removed")
    return remarks


def specification_comment(identification) -> str:
    """Return the comment at the beginning of the IMU specification file.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.

    Returns
    -------
    str
        Lines of the comment, without comment characters.
    """
    lines = ["Identified by Allan analysis; allan_parameters.json contains the 95 % intervals."]
    missing = [axis for axis in analysis.AXES if axis not in identification.axes]
    if missing:
        lines.append(f"Not recorded, so their errors are zero here: {', '.join(missing)}.")
    absent, kept = [], []
    for name, result in identification.axes.items():
        if np.isinf(result.fit.terms[TERMS[0]].high):
            absent.append(f"  {name} {TERMS[0]}: {HIDDEN}")
        absent += [
            f"  {name} {term}: below {result.fit.terms[term].high:.3g}"
            for term in result.needed
            if not result.signed_coefficient(term)
        ]
        kept += [f"  {name} {term}" for term in result.unidentified_terms]
        lines += [
            f"{name}: removed spectral lines: {format_spectral_lines(removed, name)}"
            for removed in result.lines
            if removed
        ]
    if absent:
        lines += [f"Zero or omitted, because {NOT_IDENTIFIABLE}:", *absent]
    if kept:
        lines += ["Not identified individually, but needed to match the measured curve:", *kept]
    return "\n".join(lines)


def make_kalibr_file(identification, name, topic) -> tuple[bytes, list[str]]:
    """Return the content of the Kalibr IMU file, and remarks on properties that it omits.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.
    name : str
        Name of the specification.
    topic : str
        Topic of the recordings; if empty, the file contains the package's topic of the IMU.

    Returns
    -------
    tuple of bytes and list of str
        Content of the file, and remarks.

    Raises
    ------
    ConfigurationError
        An axis was not recorded.
    """
    from ...sensors.formats.registry import write_imu_parameters

    missing = [axis for axis in analysis.AXES if axis not in identification.axes]
    if missing:
        raise ConfigurationError(
            f"{', '.join(missing)} {'are' if len(missing) > 1 else 'is'} not recorded, expected "
            "all axes of gyroscope and accelerometer"
        )
    specification = identification.to_specification(name, walk_limit=True)
    output = replace(specification.output, topic=topic)
    specification = replace(specification, output=output)
    writing = write_imu_parameters(specification, "kalibr", identification.rate)
    limits = [
        axis
        for axis, result in identification.axes.items()
        if not result.signed_coefficient("random_walk")
    ]
    comment = ""
    if limits:
        comment = (
            f"# The random walk of {', '.join(limits)} is {NOT_IDENTIFIABLE};\n"
            "# Kalibr requires a value, so the upper limit of the 95 % interval is used.\n"
        )
    remarks = [
        f"kalibr_imu.yaml: {remark}"
        for remark in writing.remarks
        if GAUSS_MARKOV in remark or "bias_instability" in remark
    ]
    return (comment + writing.text).encode(), remarks


def list_parameters(identification) -> dict[str, Any]:
    """Return all noise coefficients with 95 % intervals, and all findings, as JSON types.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.

    Returns
    -------
    dict of str to object
        Content of ``allan_parameters.json``.
    """
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
            name: _axis_content(AXIS_TRIADS[name], result)
            for name, result in identification.axes.items()
        },
    }


def _axis_content(triad, result) -> dict:
    fit, gauss_markov = result.fit, None
    if GAUSS_MARKOV in fit.terms:
        time = fit.gauss_markov_time
        gauss_markov = {
            "unit": triad.unit,
            **_estimate_content(fit.terms[GAUSS_MARKOV], 1.0),
            "written": result.signed_coefficient(GAUSS_MARKOV),
            "time_s": time.value,
            "time_interval_95_s": [time.low, time.high],
        }
    return {
        "misfit": fit.misfit,
        "described_by_the_terms": fit.describes,
        "standard_terms_suffice": not fit.start,
        "described_from_s": fit.start or float(min(curve.tau[0] for curve in result.curves)),
        "model_error_of_variance": fit.model_error,
        "terms": {term: _term_content(triad, result, term) for term in TERMS},
        "gauss_markov": gauss_markov,
        "gauss_markov_time_like_random_walk_s": fit.time_like_walk,
        "written": result.choice,
        "lines": [
            [{"frequency_hz": line.frequency, "amplitude": line.amplitude} for line in lines]
            for lines in result.lines
        ],
        "band": {
            "from_s": SHORTEST,
            "to_part_of_recording": 1.0 / LONGEST_SHARE,
            "inside": not result.departures,
            "outside": [asdict(departure) for departure in result.departures],
        },
        "single_recordings": [
            {term: _estimate_content(fit.terms[term], 1.0) for term in TERMS}
            for fit in result.single_fits
        ],
    }


def _term_content(triad, result, term) -> dict:
    unit, factor = triad.datasheet(term)
    estimate = result.fit.terms[term]
    content = {
        "symbol": SYMBOLS[term],
        "unit": triad.unit_of(term),
        **_estimate_content(estimate, 1.0),
        "written": result.signed_coefficient(term),
        "datasheet": {"unit": unit, **_estimate_content(estimate, factor)},
    }
    if term == "rate_ramp" and estimate.identified:
        content["sign"] = int(result.ramp_sign)
    if term in result.needed:
        needed = result.needed[term]
        content["needed"] = {"for_value": needed.value, "duration_s": needed.duration}
    return content


def _estimate_content(estimate, factor) -> dict:
    return {
        "identified": estimate.identified,
        "value": estimate.value * factor if estimate.identified else None,
        "interval_95": [estimate.low * factor, estimate.high * factor],
    }


def deviation_table(identification) -> pd.DataFrame:
    """Create the table of each recording's Allan deviation with its 95 % interval.

    Parameters
    ----------
    identification : AllanIdentification
        The analysis.

    Returns
    -------
    pandas.DataFrame
        Deviations in SI units; the index ``tau`` is the averaging time [s].
    """
    tables = []
    for number in range(len(identification.recordings)):
        columns = {"recording": number + 1}
        for name, result in identification.axes.items():
            curve = result.curves[number]
            for part in ("deviation", "low", "high", "degrees_of_freedom"):
                columns[f"{name}_{part}"] = getattr(curve, part)
        tables.append(pd.DataFrame(columns, index=pd.Index(curve.tau, name="tau")))
    return pd.concat(tables)
