"""What an Allan analysis says on the terminal: a table, and sentences."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.evaluation.yaw_error_model import yaw_error_model
from imu_simulation_framework.identification.allan.band import LONGEST_SHARE, SHORTEST
from imu_simulation_framework.identification.allan.model import GAUSS_MARKOV, SYMBOLS, TERMS
from imu_simulation_framework.motion.sources import straight
from imu_simulation_framework.sensors.triads import TRIADS
from imu_simulation_framework.sentences import duration_text

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
