"""Identify an IMU's noise parameters from recordings at rest, by their Allan deviation.

Reads bags and CSV files with gyroscope, accelerometer or both, or with single axes; several
recordings of one sensor are combined. Writes to DIR:

    imu.yaml               the specification, for imu:=specification
    kalibr_imu.yaml        the same for Kalibr
    allan_parameters.json  all coefficients with their 95 % intervals, and what was found
    allan_deviation.csv    the Allan deviation with its 95 % interval
    allan_gyroscope.png, allan_accelerometer.png
    raw_gyroscope.png, raw_accelerometer.png    what was recorded, and what is an outlier of it
    allan_analysis.html    with --report: all of this as one web page

    allan_analysis.py static.bag --topic /imu/data --out bno055_identified

Exit code 3: results are written, but the identified sensor's Allan deviation leaves the measured
band somewhere between 1 s and a tenth of the recording; the last lines say where.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from .. import __version__
from ..characterisation.allan import analysis
from ..characterisation.allan.axis import LONGEST_SHARE, SHORTEST
from ..characterisation.allan.figures import allan_figure, raw_figure
from ..characterisation.allan.model import GAUSS_MARKOV, SYMBOLS, TERMS
from ..characterisation.samples_at_rest import RestSettings, prepare_axes
from ..core.errors import ConfigurationError, RecordingError
from ..core.files import json_text
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.sentences import duration_text
from ..core.stamps import StampLimits
from ..core.tables import table_to_csv
from ..core.whole_files import picture, write_whole
from ..recordings.at_rest import read_at_rest
from ..recordings.frames import ImuConventions
from ..report.drawing import drawing
from ..report.page import Page, Section, Table
from ..sensors.files import imu_specification_text
from ..sensors.triads import TRIADS
from .command_line import (
    add_layout_option,
    add_report,
    add_unit_options,
    guessed_columns,
    named_column,
    number_type,
    results_folder,
    write_report,
)

LEAVES_THE_BAND = 3
"""Exit code where the identified sensor is not what was measured."""

_MANY_DUPLICATES = 0.1
_TRIAD_OF = {axis: TRIADS[sensor] for sensor, axes in analysis.SENSORS.items() for axis in axes}
_SHORT_NAMES = {"gyro": analysis.SENSORS["gyroscope"], "accel": analysis.SENSORS["accelerometer"]}
NOT_IDENTIFIABLE = "not identifiable from this recording"
HIDDEN = "unknown, hidden behind the sensor's low-pass filter or resonances"

REPORT = "allan_analysis.html"
_SHOWN_LINES = 5
_DRIFTS, _DRIFT_STEP = (60.0, 600.0, 3600.0), 10.0  # s
_FIGURE = re.compile(rf"(allan|raw)_({'|'.join(analysis.SENSORS)})(_\d+)?\.png")


def main(arguments):
    """Analyse the recordings named on the command line."""
    options = _parser().parse_args(arguments)
    if not 0.0 < options.band[0] < options.band[1] < float("inf"):
        raise ConfigurationError(
            f"--band is {options.band[0]:g} {options.band[1]:g}, expected two times above 0, the "
            "shorter one first"
        )
    settings = RestSettings(outlier_range=options.outliers)
    conventions = ImuConventions(gyro_unit=options.gyro_unit, accel_unit=options.accel_unit)
    columns = dict(named_column(text) for text in options.column) or None
    recordings, sentences = [], []
    axes = None
    for path in options.recordings:
        # What is packed does not tell by its size how much there is to read.
        plain = os.path.isfile(path) and not path.endswith(".gz")
        size = os.path.getsize(path) if plain else None
        with _bar(options, "reading", unit="B", unit_scale=True, total=size) as bar:
            recorded = read_at_rest(
                path,
                options.topic,
                columns or guessed_columns(path, options.rate, sentences, options.layout),
                conventions=conventions,
                rate=options.rate,
                stamp_limits=StampLimits(longest_gap=options.longest_gap),
                progress=bar.update,
            )
            bar.set_description("looking for gaps and outliers")
            stamps = recorded.report.stamps
            if stamps.duplicates.count > _MANY_DUPLICATES * stamps.samples:
                rate = stamps.mean_rate
                raise RecordingError(
                    f"{path}: {stamps.duplicates.count} of {stamps.samples} samples have the time "
                    "stamp of another one, so that the stamps are too coarse; state the rate with "
                    f"--rate HZ; the mean is {rate:.4g} Hz"
                )
            if stamps.packets_text:
                raise RecordingError(
                    f"{path}: {stamps.packets_text}; state the rate with --rate HZ"
                )
            axes = _axes(path, recorded.axes.names, options.axis, axes)
            sentences += recorded.report.sentences()[1:]
            recordings.append(
                prepare_axes(recorded.times, recorded.axes.only(axes), axes, path, settings)
            )
            del recorded
    steps = (len(options.recordings) + 1) * len(axes)
    with _bar(options, "analysing", unit="step", total=steps) as bar:
        identification = analysis.identify(recordings, tuple(options.band), bar.update)
        bar.set_description("writing")
        remarks = _write(identification, options.out, options.name, options.recordings)
    outside = list(_departures(identification))
    findings, table = list(_findings(identification)), list(_terminal_table(identification))
    drift = _heading_drift(identification)
    print(*sentences, *findings, *table, *remarks, *outside, *drift, options.out, sep="\n")
    if options.report:
        page = _page(identification, options.name, [*drift, *outside], [*sentences, *findings])
        write_report(Path(options.out) / REPORT, page)
    return LEAVES_THE_BAND if outside else 0


def _bar(options, what, **settings):
    return progress_bar(desc=what, disable=options.quiet or None, leave=False, **settings)


def _axes(path, names, wanted, before) -> tuple[str, ...]:
    """Return the axes to analyse: those wanted, or all that were recorded."""
    recorded = tuple(axis for axis in analysis.AXES if axis in names)
    chosen = {axis for name in wanted for axis in _SHORT_NAMES.get(name, (name,))}
    missing = sorted(chosen - set(recorded))
    if missing or not recorded:
        raise RecordingError(
            f"{path}: has no {', '.join(missing) or 'gyroscope and no accelerometer'}, recorded "
            f"are {', '.join(recorded) or 'none of ' + ', '.join(analysis.AXES)}"
        )
    axes = tuple(axis for axis in recorded if axis in chosen or not chosen)
    if before is not None and axes != before:
        raise RecordingError(
            f"{path}: has {', '.join(axes)}, but the recordings before {', '.join(before)}; "
            "expected the same axes of one sensor, choose them with --axis"
        )
    return axes


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("recordings", metavar="RECORDING", nargs="+", help="bag or CSV file")
    add("--topic", default="", metavar="T", help="in bags; by default the only sensor_msgs/Imu")
    add("--column", action="append", default=[], metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file with names of its own, if they are not guessed rightly, for "
             "instance 'gyro_x=wx [deg/s]'; once for each of time, gyro_x to accel_z, or some of "
             "them")
    add_layout_option(add)
    add("--rate", metavar="HZ",
        type=number_type(lambda rate: 1e-3 <= rate <= 1e7, "is no rate from 0.001 to 1e7 Hz"),
        help="samples per second, for recordings without time stamps or with useless ones: all "
             "samples then follow each other evenly")
    add_unit_options(parser)
    add("--axis", action="append", default=[], choices=(*_SHORT_NAMES, *analysis.AXES),
        help="analyse only these axes, once for each; by default all that were recorded")
    add("-o", "--out", default="allan_analysis", metavar="DIR",
        help="folder for the results, by default %(default)s")
    add("--name", default="imu", help="of the sensor in imu.yaml, by default %(default)s")
    add("--outliers", type=float, default=RestSettings().outlier_range, metavar="IQR",
        help="samples further from the quartiles than this many interquartile ranges are outliers, "
             "0 for none; by default %(default)g")
    add("--band", type=float, nargs=2, default=analysis.DEFAULT_BAND, metavar=("MIN", "MAX"),
        help="averaging times between which bias instability is assumed [s], by default "
             f"{analysis.DEFAULT_BAND[0]:g} {analysis.DEFAULT_BAND[1]:g}")
    add("--longest-gap", type=float, default=StampLimits().longest_gap, metavar="S",
        help="refuse a recording with a longer gap [s], by default %(default)g")
    add_report(parser)
    add("--quiet", action="store_true", help="no progress bar, and no lines of progress")
    # fmt: on
    return parser


def _page(identification, name, answers, findings) -> Page:
    """Return all of an analysis as one web page."""
    sections = []
    for sensor, axes in identification.sensors.items():
        triad, rows = TRIADS[sensor], []
        for term in TERMS:
            unit, factor = triad.datasheet(term)
            label = f"{SYMBOLS[term]} {term.replace('_', ' ')}"
            for axis in axes:
                line = _line(identification.axes[axis], term, factor)
                rows.append((label, triad.unit_of(term), unit, axis, line))
        headings = ("term", "unit", "and", "axis", "estimate (95 % interval), in both units")
        sections.append(
            Section(
                f"Allan deviation of the {sensor}",
                table=Table(headings, rows),
                figure=allan_figure(identification, sensor),
                how_to_read="The band is the measured deviation's 95 % interval, the line the "
                "identified sensor's.",
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
    sections.append(Section("Found in the recordings", text=findings))
    sources = ", ".join(recording.source for recording in identification.recordings)
    return Page(
        title=f"Allan analysis of {name}",
        summary=answers,
        sections=sections,
        footer=f"{sources}, imu_simulation_framework {__version__}",
    )


def _terminal_table(identification):
    for sensor, names in identification.sensors.items():
        triad, axes = TRIADS[sensor], {name: identification.axes[name] for name in names}
        for term in TERMS:
            unit, factor = triad.datasheet(term)
            said = f"{SYMBOLS[term]} {term.replace('_', ' ')}"
            yield f"{sensor}, {said} [{triad.unit_of(term)}], [{unit}]"
            yield from (f"  {one}  {_line(axes[one], term, factor)}" for one in names)
        fits = {one: axes[one].fit for one in names if GAUSS_MARKOV in axes[one].fit.terms}
        unit, factor = triad.datasheet("bias_instability")
        if fits:
            yield f"{sensor}, Gauss-Markov sigma [{triad.unit}], [{unit}]"
        for axis, fit in fits.items():
            sigma, time = fit.terms[GAUSS_MARKOV], fit.gauss_markov_time
            yield (
                f"  {axis}  {sigma.value:10.3e}  ({sigma.low:.3e} to {sigma.high:.3e})"
                f"  {sigma.value * factor:10.4g}  correlation time {time.value:.0f} s"
                f" ({time.low:.0f} to {time.high:.0f} s)"
            )


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
    needed = result.needed[term]
    value = f"{needed.value:.1e} ({needed.value * factor:.2g})"
    shown = f"even a month would not show {value}"
    if np.isfinite(needed.duration):
        shown = f"{value} would need about {duration_text(needed.duration)}"
    return f"{NOT_IDENTIFIABLE}: {limit}; {shown}{kept}"


def _counted(things, name) -> str:
    return f"{len(things)} {name}{'s' if len(things) > 1 else ''}"


def _findings(identification):
    for recording in identification.recordings:
        yield (
            f"{recording.source}: {recording.duration / 3600.0:.3f} h at {recording.rate:.4f} Hz "
            f"in {_counted(recording.parts, 'part')}"
        )
        yield from recording.remarks
        for name, finding in recording.outliers.items():
            if finding:
                yield (
                    f"{name}: {finding.count} outlier{'s' if finding.count > 1 else ''} replaced "
                    f"by the median around, the first at {finding.first_time:.2f} s"
                )
    for name, result in identification.axes.items():
        yield from _fit_findings(identification, name, result)


def _fit_findings(identification, name, result):
    fit = result.fit
    for recording, lines in zip(identification.recordings, result.lines):
        if lines:
            place = f" of {recording.source}" if len(result.lines) > 1 else ""
            yield (
                f"{name}{place}: {_counted(lines, 'narrow line')} left out "
                f"of the spectrum, {_lines_text(lines, name)}"
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
    yield from _model_findings(name, fit)
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


def _model_findings(name, fit):
    """Yield which other model of the slow noise describes the recording as well."""
    process = fit.terms.get(GAUSS_MARKOV)
    if process and not fit.start:
        time = fit.gauss_markov_time
        yield (
            f"{name}: a Gauss-Markov process of {time.value:.0f} s describes the slow noise best"
            + ("" if process.identified else "; flicker noise or a random walk is not ruled out")
        )
    if fit.time_like_walk:
        yield (
            f"{name}: instead of the random walk, a Gauss-Markov process of "
            f"{fit.time_like_walk:.0f} s or longer would describe this recording as well; a longer "
            "recording distinguishes them"
        )


def _heading_drift(identification) -> list[str]:
    """Return a sentence on how far a heading drifts by the noise that was found about z."""
    if "gyro_z" not in identification.axes:
        return []
    # Imported here, since only what is written of it takes the model and the formats.
    from ..heading.model.of_imu import yaw_error_model
    from ..motion.sources import straight

    motion = straight(_DRIFTS[-1], rate=1.0 / _DRIFT_STEP)
    shown = []
    for walk_limit in (False, True):
        specification = identification.to_specification("imu", walk_limit=walk_limit)
        model = yaw_error_model(specification, motion, _DRIFT_STEP)
        rms = np.degrees(np.sqrt(model.mean() ** 2 + model.variance()))
        shown.append([f"{rms[round(time / _DRIFT_STEP)]:.3g}" for time in _DRIFTS])
    listed = [f"{one} deg after {duration_text(time)}" for one, time in zip(shown[0], _DRIFTS)]
    sentence = (
        f"the heading drifts by {', '.join(listed)} (rms, straight ahead, z up, not zeroed), "
        "by this noise alone: a bias from switching on, scale factor and temperature come on top"
    )
    if shown[1] != shown[0]:
        sentence += f"; with a random walk at the end of its interval by {', '.join(shown[1])} deg"
    return [sentence]


def _lines_text(lines, axis) -> str:
    """Return the strongest lines, with frequency and amplitude."""
    unit = _TRIAD_OF[axis].unit
    shown = [f"{line.frequency:.4g} Hz ({line.amplitude:.2g} {unit})" for line in lines]
    rest = len(shown) - _SHOWN_LINES
    return ", ".join(shown[:_SHOWN_LINES]) + (f" and {rest} weaker" if rest > 0 else "")


def _departures(identification):
    for name, result in identification.axes.items():
        if result.departures:
            worst = max(result.departures, key=lambda place: abs(np.log(max(place.ratio, 1e-300))))
            times = [place.tau for place in result.departures]
            yield (
                f"{name}: the identified sensor's Allan deviation is outside the measured band at "
                f"{_counted(times, 'averaging time')} from {min(times):.3g} to "
                f"{max(times):.3g} s, most at {worst.tau:.3g} s with {worst.ratio:.2f} times the "
                f"measured one (compared from {SHORTEST:g} s to 1/{LONGEST_SHARE:g} of the "
                "recording)"
            )


def _write(identification, folder, name, inputs) -> list[str]:
    """Write what was found, all or nothing, over no input; return remarks."""
    contents = {
        "imu.yaml": imu_specification_text(
            identification.to_specification(name), _comment(identification)
        ).encode(),
        "allan_parameters.json": json_text(_parameters(identification)).encode(),
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
    folder = results_folder(folder, contents, inputs)
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
    missing = [axis for axis in analysis.AXES if axis not in identification.axes]
    if missing:
        lines.append(f"Not recorded, so without errors here: {', '.join(missing)}.")
    absent, kept = [], []
    for name, result in identification.axes.items():
        if np.isinf(result.fit.terms[TERMS[0]].high):
            absent.append(f"  {name} {TERMS[0]}: {HIDDEN}")
        absent += [
            f"  {name} {term}: below {result.fit.terms[term].high:.3g}"
            for term in result.needed
            if not result.signed(term)
        ]
        kept += [f"  {name} {term}" for term in result.without_identification]
        lines += [
            f"{name}: lines left out: {_lines_text(found, name)}" for found in result.lines if found
        ]
    if absent:
        lines += [f"0, or left out, is what was {NOT_IDENTIFIABLE}:", *absent]
    if kept:
        lines += ["Not identified alone, but needed to stay with the measured curve:", *kept]
    return "\n".join(lines)


def _kalibr(identification, name):
    """Return the content of Kalibr's file, and what of the slow drift it cannot say."""
    from ..sensors.formats.registry import write_imu_parameters

    missing = [axis for axis in analysis.AXES if axis not in identification.axes]
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
            name: _axis(_TRIAD_OF[name], result) for name, result in identification.axes.items()
        },
    }


def _axis(triad, result) -> dict:
    fit, gauss_markov = result.fit, None
    if GAUSS_MARKOV in fit.terms:
        time = fit.gauss_markov_time
        gauss_markov = {
            "unit": triad.unit,
            **_estimate(fit.terms[GAUSS_MARKOV], 1.0),
            "written": result.signed(GAUSS_MARKOV),
            "time_s": time.value,
            "time_interval_95_s": [time.low, time.high],
        }
    return {
        "misfit": fit.misfit,
        "described_by_the_terms": fit.describes,
        "standard_terms_suffice": not fit.start,
        "described_from_s": fit.start or float(min(curve.tau[0] for curve in result.curves)),
        "model_error_of_variance": fit.model_error,
        "terms": {term: _term(triad, result, term) for term in TERMS},
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
            "outside": [asdict(place) for place in result.departures],
        },
        "single_recordings": [
            {term: _estimate(fit.terms[term], 1.0) for term in TERMS} for fit in result.single_fits
        ],
    }


def _term(triad, result, term) -> dict:
    unit, factor = triad.datasheet(term)
    estimate = result.fit.terms[term]
    content = {
        "symbol": SYMBOLS[term],
        "unit": triad.unit_of(term),
        **_estimate(estimate, 1.0),
        "written": result.signed(term),
        "datasheet": {"unit": unit, **_estimate(estimate, factor)},
    }
    if term == "rate_ramp" and estimate.identified:
        content["sign"] = int(result.ramp_sign)
    if term in result.needed:
        needed = result.needed[term]
        content["needed"] = {"for_value": needed.value, "duration_s": needed.duration}
    return content


def _estimate(estimate, factor) -> dict:
    return {
        "identified": estimate.identified,
        "value": estimate.value * factor if estimate.identified else None,
        "interval_95": [estimate.low * factor, estimate.high * factor],
    }


def _deviations(identification):
    tables = []
    for number in range(len(identification.recordings)):
        columns = {"recording": number + 1}
        for name, result in identification.axes.items():
            curve = result.curves[number]
            for part in ("deviation", "low", "high", "degrees_of_freedom"):
                columns[f"{name}_{part}"] = getattr(curve, part)
        tables.append(pd.DataFrame(columns, index=pd.Index(curve.tau, name="tau")))
    return pd.concat(tables)
