"""What an Allan analysis says on the terminal and leaves behind: text, files and figures."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import numpy as np
import pandas as pd

from imu_simulation_framework import __version__
from imu_simulation_framework.characterisation.allan.analysis import SENSORS
from imu_simulation_framework.characterisation.allan.axis import LONGEST_SHARE, SHORTEST
from imu_simulation_framework.characterisation.allan.figures import allan_figure, raw_figure
from imu_simulation_framework.characterisation.allan.model import GAUSS_MARKOV, SYMBOLS, TERMS
from imu_simulation_framework.core.csv_tables import table_to_csv
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import duration_text
from imu_simulation_framework.core.whole_files import (
    make_folder,
    picture,
    refuse_overwriting,
    write_whole,
)
from imu_simulation_framework.report.drawing import drawing
from imu_simulation_framework.sensors.files import imu_specification_text
from imu_simulation_framework.sensors.triads import TRIADS

NOT_IDENTIFIABLE = "not identifiable from this recording"
HIDDEN = "unknown, hidden behind the sensor's low-pass filter or resonances"

_SHOWN_LINES = 5
_DRIFTS, _DRIFT_STEP = (60.0, 600.0, 3600.0), 10.0  # s


def terminal_table(identification) -> str:
    """Return a table of all terms: SI, the 95 % interval, and the units of datasheets."""
    lines = []
    for sensor, axes in identification.sensors.items():
        for term in TERMS:
            unit, factor = TRIADS[sensor].datasheet(term)
            lines.append(
                f"{sensor}, {SYMBOLS[term]} {term.replace('_', ' ')}"
                f" [{TRIADS[sensor].unit_of(term)}], [{unit}]"
            )
            lines += [
                f"  {axis}  {_line(identification.axes[axis], term, factor)}" for axis in axes
            ]
        lines += _gauss_markov(identification, sensor, axes)
    return "\n".join(lines)


def _line(result, term, factor) -> str:
    estimate = result.fit.terms[term]
    if estimate.identified:
        value = estimate.value * (result.ramp_sign if term == "rate_ramp" else 1.0)
        return (
            f"{value:10.3e}  ({estimate.low:.3e} to {estimate.high:.3e})"
            f"  {value * factor:10.4g}  ({estimate.low * factor:.4g} to "
            f"{estimate.high * factor:.4g})"
        )
    if term not in result.needed:
        return HIDDEN
    written = result.signed(term)
    kept = f"; {written:.2e} is written to stay with the curve" if written else ""
    limit = "no upper limit"
    if np.isfinite(estimate.high):
        limit = f"below {estimate.high:.2e} ({estimate.high * factor:.3g})"
    return f"{NOT_IDENTIFIABLE}: {limit}; {_needed(result.needed[term], factor)}{kept}"


def _needed(needed, factor) -> str:
    if not np.isfinite(needed.duration):
        return f"even a month would not show {needed.value:.1e} ({needed.value * factor:.2g})"
    return (
        f"{needed.value:.1e} ({needed.value * factor:.2g}) would need about "
        f"{duration_text(needed.duration)}"
    )


def _gauss_markov(identification, sensor, axes) -> list[str]:
    unit, factor = TRIADS[sensor].datasheet("bias_instability")
    lines = []
    for axis in axes:
        fit = identification.axes[axis].fit
        if GAUSS_MARKOV not in fit.terms:
            continue
        sigma, time = fit.terms[GAUSS_MARKOV], fit.gauss_markov_time
        lines.append(
            f"  {axis}  {sigma.value:10.3e}  ({sigma.low:.3e} to {sigma.high:.3e})"
            f"  {sigma.value * factor:10.4g}  correlation time {time.value:.0f} s"
            f" ({time.low:.0f} to {time.high:.0f} s)"
        )
    if lines:
        lines.insert(0, f"{sensor}, Gauss-Markov sigma [{TRIADS[sensor].unit}], [{unit}]")
    return lines


def findings(identification) -> list[str]:
    """Return what a person should know about the recordings and the fit, a sentence each."""
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
    for sensor, axes in identification.sensors.items():
        for name in axes:
            sentences += _fit_findings(identification, sensor, name)
    return sentences


def _fit_findings(identification, sensor, name):
    result = identification.axes[name]
    fit = result.fit
    for recording, lines in zip(identification.recordings, result.lines):
        if lines:
            place = f" of {recording.source}" if len(result.lines) > 1 else ""
            yield (
                f"{name}{place}: {len(lines)} narrow line{'s' if len(lines) > 1 else ''} left out "
                f"of the spectrum, {lines_text(lines, TRIADS[sensor].unit)}"
            )
    if fit.start:
        time = fit.gauss_markov_time
        process = f", and a Gauss-Markov process of {time.value:.0f} s" if time else ""
        error = f" within {100.0 * fit.model_error:.1f} %" if fit.model_error else ""
        yield (
            f"{name}: the standard terms alone do not describe this sensor; with a 1/tau^2 term of "
            f"either sign for its filter{process} they do{error} of the Allan variance from "
            f"{fit.start:.3g} s on"
        )
    if not fit.describes:
        yield (
            f"{name}: the terms do not describe this Allan deviation (mean square of the "
            f"residuals {fit.misfit:.1f} instead of 1), so look at the figure; intervals are "
            "widened accordingly"
        )
    if result.without_identification:
        symbols = ", ".join(SYMBOLS[term] for term in result.without_identification)
        yield (
            f"{name}: {symbols} not identified alone, but written, since without that the sensor "
            "would leave the measured curve"
        )


def heading_drift(identification) -> list[str]:
    """Return a sentence on how far a heading drifts by the noise that was found about z."""
    if "gyro_z" not in identification.axes:
        return []
    # Imported here, since only what is written of it takes the model and the formats.
    from imu_simulation_framework.heading.model.of_imu import yaw_error_model
    from imu_simulation_framework.motion.sources import straight

    motion = straight(_DRIFTS[-1], rate=1.0 / _DRIFT_STEP)
    shown = []
    for walk_limit in (False, True):
        specification = identification.to_specification("imu", walk_limit=walk_limit)
        model = yaw_error_model(specification, motion, _DRIFT_STEP)
        rms = np.degrees(np.sqrt(model.mean() ** 2 + model.variance()))
        shown.append([f"{rms[round(time / _DRIFT_STEP)]:.3g}" for time in _DRIFTS])
    listed = [f"{one} deg after {duration_text(time)}" for one, time in zip(shown[0], _DRIFTS)]
    sentence = (
        f"the heading drifts by {', '.join(listed)} (rms, straight ahead, z up), by this noise "
        "alone: a bias from switching on, scale factor and temperature come on top"
    )
    if shown[1] != shown[0]:
        sentence += f"; with a random walk at the end of its interval by {', '.join(shown[1])} deg"
    return [sentence]


def lines_text(lines, unit) -> str:
    """Return the strongest lines, with frequency and amplitude."""
    shown = [f"{line.frequency:.4g} Hz ({line.amplitude:.2g} {unit})" for line in lines]
    rest = len(shown) - _SHOWN_LINES
    return ", ".join(shown[:_SHOWN_LINES]) + (f" and {rest} weaker" if rest > 0 else "")


def departures(identification) -> list[str]:
    """Where the identified sensor leaves the measured band, a sentence for each such axis."""
    sentences = []
    for name, result in identification.axes.items():
        if not result.departures:
            continue
        worst = max(result.departures, key=lambda place: abs(np.log(max(place.ratio, 1e-300))))
        times = [place.tau for place in result.departures]
        sentences.append(
            f"{name}: the identified sensor's Allan deviation is outside the measured band at "
            f"{len(times)} averaging time{'s' if len(times) > 1 else ''} from {min(times):.3g} to "
            f"{max(times):.3g} s, most at {worst.tau:.3g} s with {worst.ratio:.2f} times the "
            f"measured one (compared from {SHORTEST:g} s to 1/{LONGEST_SHARE:g} of the recording)"
        )
    return sentences


_FIGURE = re.compile(rf"(allan|raw)_({'|'.join(SENSORS)})(_\d+)?\.png")


def write_allan_results(identification, folder, name, inputs=()) -> list[str]:
    """Write the specification, Kalibr's parameters, the numbers and the figures.

    All contents are made before the first file is written, and each file is there as a whole or
    not at all. ``name`` is the sensor's, for the specification; the ``inputs`` must not be
    replaced. Returns what could not be written, or not be said in a format, and why, a sentence
    each.

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
        contents[f"allan_{sensor}.png"] = picture(drawing(allan_figure(identification, sensor)))
        for number, recording in enumerate(identification.recordings, 1):
            ending = f"_{number}" if len(identification.recordings) > 1 else ""
            contents[f"raw_{sensor}{ending}.png"] = picture(drawing(raw_figure(recording, sensor)))
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


def _missing(identification) -> list[str]:
    return [axis for axes in SENSORS.values() for axis in axes if axis not in identification.axes]


def _comment(identification) -> str:
    lines = ["Identified by Allan analysis; the 95 % intervals are in allan_parameters.json."]
    missing = _missing(identification)
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
    from imu_simulation_framework.sensors.formats.registry import write_imu_parameters

    missing = _missing(identification)
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
        "gauss_markov": _gauss_markov_row(sensor, result),
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


def _gauss_markov_row(sensor, result):
    fit = result.fit
    if GAUSS_MARKOV not in fit.terms:
        return None
    return {
        "unit": TRIADS[sensor].unit,
        **_estimate(fit.terms[GAUSS_MARKOV], 1.0),
        "written": result.signed(GAUSS_MARKOV),
        "time_s": fit.gauss_markov_time.value,
        "time_interval_95_s": [fit.gauss_markov_time.low, _number(fit.gauss_markov_time.high)],
    }


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
        content["needed"] = {"for_value": needed.value, "duration_s": _number(needed.duration)}
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
