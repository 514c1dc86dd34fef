"""What our drives show in place of each figure: a picture, a section of the page, a sentence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from imu_simulation_framework.commands.thesis.experiments import (
    LONG,
    ONE_ROUND,
    RECORDED_WINDOW,
    REPEATED,
    RUNS,
    Compared,
    Experiments,
    repeated,
)
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.spectrum import Spectrum
from imu_simulation_framework.core.time_alignment import find_time_shift
from imu_simulation_framework.drive import figures, page, side_by_side
from imu_simulation_framework.drive import side_by_side as side_by_side_charts
from imu_simulation_framework.drive.figures import FIGURES
from imu_simulation_framework.drive.side_by_side import ShownError
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.report.page import Section

SLOW, WANDER, FAST = (0.0, 0.01), (0.02, 0.2), (1.0, np.inf)
"""Bands of frequency [Hz]: drift, what goes with the rounds, noise."""

LOW = 0.1
"""Frequency up to which figure 4.13 goes [Hz]."""

_LONGEST_DELAY = 5.0


class Shown(NamedTuple):
    """``figure`` for a file, ``section`` of the page, and ``ours``: what is seen, in a sentence."""

    figure: Figure
    section: Section
    ours: str


def paths(experiments: Experiments) -> Shown:
    """Return the paths of all drives."""
    drives = {letter: experiments.prepared(letter).drive for letter in DRIVES}
    named = {experiments.name(letter): drive.trajectory for letter, drive in drives.items()}
    ours = "; ".join(
        f"{letter.upper()}: {drive.length:.0f} m in {drive.trajectory.index[-1]:.0f} s"
        for letter, drive in drives.items()
    )
    return Shown(figures.paths(named), side_by_side_charts.paths(named), ours)


def controlled(controller, picture):
    """Return what makes a figure of how a controller follows the whole of drive A."""

    def make(experiments: Experiments) -> Shown:
        comparison = experiments.comparison(LONG._replace(controller=controller))
        table = comparison.whole.control_error
        yaw, distance = np.degrees(table["yaw_error"]), table["distance_error"]
        ours = (
            f"the yaw is {yaw.abs().mean():.2f} deg off on average and the robot "
            f"{distance.mean():.2f} m, at most {yaw.abs().max():.2f} deg and {distance.max():.2f} m"
        )
        return _of_experiment(picture, comparison, ours)

    return make


def yaw_of_one_round(experiments: Experiments) -> Shown:
    """Return the headings over one round, and its end enlarged."""
    comparison = experiments.comparison(ONE_ROUND)
    real, simulated = comparison.real, comparison.simulated
    new = np.mean(np.diff(real.imu_yaw.to_numpy()) != 0.0) / np.median(np.diff(real.imu_yaw.index))
    ours = (
        f"both follow what is right for them: {_end(real)} deg off "
        f"(recorded) and {_end(simulated)} deg (simulated) at the end; the "
        f"recorded IMU has {new:.0f} new values in a second"
    )
    return _of_experiment("imu_yaw", comparison, ours)


def error_of_one_round(experiments: Experiments) -> Shown:
    """Return the yaw errors over one round."""
    comparison = experiments.comparison(ONE_ROUND)
    real, simulated = comparison.real.trend_statistics, comparison.simulated.trend_statistics
    ours = (
        f"the smoothed error reaches {np.degrees(real.maximum_absolute):.2f} deg (recorded) and "
        f"{np.degrees(simulated.maximum_absolute):.2f} deg (simulated)"
    )
    return _of_experiment("yaw_error", comparison, ours)


def yaw_of_all_rounds(experiments: Experiments) -> Shown:
    """Return the headings over the whole drive, and its end enlarged."""
    comparison = experiments.comparison(LONG)
    truth, wanted = comparison.whole.ground_truth["yaw"], comparison.whole.trajectory["yaw"]
    delay = find_time_shift(truth.index, truth, wanted.index, wanted, _LONGEST_DELAY).shift
    ours = (
        f"the recorded IMU ends {_end(comparison.real)} deg off, the "
        f"simulated one {_end(comparison.simulated)} deg; the simulated "
        f"robot is {1000.0 * delay:.0f} ms late"
    )
    return _of_experiment("imu_yaw", comparison, ours)


def tracking_error(experiments: Experiments) -> Shown:
    """Return how well the robot followed."""
    comparison = experiments.comparison(LONG)
    table = comparison.whole.control_error
    time = table.index.to_numpy(dtype=float)
    first, last = (
        table[inside]["yaw_error"].to_numpy() for inside in (time <= 60.0, time >= time[-1] - 60.0)
    )
    begin, end = (float(np.degrees(np.sqrt(np.mean(part**2)))) for part in (first, last))
    ours = (
        f"the yaw's tracking error is {begin:.2f} deg rms in the first minute and {end:.2f} deg in "
        "the last one; as nobody steers to the path, the robot is up to "
        f"{table['distance_error'].max():.2f} m off it"
    )
    return _of_experiment("control_error", comparison, ours)


def error_of_all_rounds(experiments: Experiments) -> Shown:
    """Return the yaw errors over the whole drive."""
    comparison = experiments.comparison(LONG)
    real, simulated = comparison.real.statistics, comparison.simulated.statistics
    ours = (
        f"the recorded error grows by {60.0 * np.degrees(real.drift):.2f} deg in a minute to "
        f"{_degrees(real.final)} deg; the simulated one has {np.degrees(simulated.rms):.2f} deg of "
        f"noise and ends at {_degrees(simulated.final)} deg"
    )
    return _of_experiment("yaw_error", comparison, ours)


def spectrum_of_yaw(experiments: Experiments) -> Shown:
    """Return the densities of the headings."""
    comparison = experiments.comparison(LONG)
    slow, fast = (
        _power(comparison.simulated.yaw_spectrum, band) / _power(comparison.real.yaw_spectrum, band)
        for band in ((0.0, LOW), FAST)
    )
    ours = (
        f"below {LOW:g} Hz the two lie upon each other: their power differs by "
        f"{100.0 * abs(slow - 1.0):.1f} %; above {FAST[0]:g} Hz the plug-in's white noise makes "
        f"the simulated one's {_times(fast)} times the recorded one's"
    )
    return _of_experiment("yaw_psd", comparison, ours)


def spectrum_of_errors(experiments: Experiments) -> Shown:
    """Return the densities of the errors with the generic plug-in's model."""
    comparison = experiments.comparison(LONG)
    slow, fast = (
        _power(comparison.real.error_spectrum, band)
        / _power(comparison.simulated.error_spectrum, band)
        for band in (SLOW, FAST)
    )
    ours = (
        f"below {SLOW[1]:g} Hz the recorded error has {_times(slow)} times the power of the "
        f"simulated one, above {FAST[0]:g} Hz {_times(fast)} times"
    )
    return _of_experiment("yaw_errors_psd", comparison, ours)


def recorded_errors(experiments: Experiments) -> Shown:
    """Return the recorded IMUs' errors on all drives."""
    errors = _recorded(experiments)
    ours = "at the end " + ", ".join(
        f"{_end(error.comparison)} deg ({letter.upper()})" for letter, error in zip(DRIVES, errors)
    )
    return _errors(errors, RECORDED_WINDOW, ours)


def recorded_spectra(experiments: Experiments) -> Shown:
    """Return the slow part of the recorded errors' densities."""
    errors = _recorded(experiments)
    peaks = []
    for letter, error in zip(DRIVES, errors):
        spectrum = _known(error.comparison.error_spectrum)
        inside = (spectrum.frequency >= SLOW[1]) & (spectrum.frequency <= LOW)
        peak = spectrum.frequency[inside][np.argmax(spectrum.density[inside])]
        peaks.append(f"{peak:.4f} Hz ({letter.upper()})")
    ours = f"largest density from {SLOW[1]:g} to {LOW:g} Hz at {', '.join(peaks)}"
    return _spectra(errors, ours, LOW)


def errors_with_hector(letter, imu):
    """Return what makes the figure of the errors of a drive's repetitions with Hector's model."""

    def make(experiments: Experiments) -> Shown:
        recorded, *simulated = errors = _with_hector(experiments, letter, imu)
        ends = ", ".join(_end(error.comparison) for error in simulated)
        ours = f"at the end {_end(recorded.comparison)} deg (recorded) and {ends} deg (simulated)"
        return _errors(errors, _first(letter, imu).window, ours)

    return make


def spectra_with_hector(letter, imu):
    """Return what makes the figure of the densities of the same errors."""

    def make(experiments: Experiments) -> Shown:
        recorded, *simulated = errors = _with_hector(experiments, letter, imu)
        slow, wander = (
            _power(recorded.comparison.error_spectrum, band)
            / np.mean([_power(error.comparison.error_spectrum, band) for error in simulated])
            for band in (SLOW, WANDER)
        )
        ours = (
            f"below {SLOW[1]:g} Hz the recorded error has {_times(slow)} times the mean power of "
            f"the simulated ones, from {WANDER[0]:g} to {WANDER[1]:g} Hz {_times(wander)} times"
        )
        return _spectra(errors, ours)

    return make


def yaw_with_hector(letter, imu):
    """Return what makes the figure of the headings in the first repetition."""

    def make(experiments: Experiments) -> Shown:
        comparison = experiments.comparison(_first(letter, imu))
        ours = (
            f"the recorded IMU ends {_end(comparison.real)} deg off what is "
            f"right for it, the simulated one {_end(comparison.simulated)} deg"
        )
        return _of_experiment("imu_yaw", comparison, ours)

    return make


def _first(letter, imu):
    return repeated(letter, imu, REPEATED[letter, imu])[0]


def _of_experiment(name, comparison: Compared, ours) -> Shown:
    section = page.section(name, comparison.whole)
    return Shown(FIGURES[name](comparison.whole), section or Section(name), ours)


def _errors(errors, window, ours) -> Shown:
    return Shown(
        side_by_side.yaw_errors(errors, window),
        side_by_side_charts.yaw_error_chart(errors, window),
        ours,
    )


def _spectra(errors, ours, highest=np.inf) -> Shown:
    return Shown(
        side_by_side.yaw_error_spectra(errors, highest),
        side_by_side_charts.yaw_error_spectrum_chart(errors, highest),
        ours,
    )


def _recorded(experiments) -> list[ShownError]:
    names = [experiments.name(letter) for letter in DRIVES]
    return [
        ShownError(name, name, True, experiments.recorded(letter))
        for name, letter in zip(names, DRIVES)
    ]


def _with_hector(experiments, letter, imu) -> list[ShownError]:
    comparisons = experiments.repetitions(letter, imu)
    name = experiments.name(letter)
    recorded = comparisons[0].real
    return [
        ShownError(name, "recorded IMU", True, recorded),
        *(
            ShownError(name, f"simulated IMU, run {run}", False, one.simulated)
            for run, one in zip(RUNS, comparisons)
        ),
    ]


def _known(spectrum: Spectrum | None) -> Spectrum:
    if spectrum is None:
        raise RecordingError("a drive has too few samples for a power spectral density")
    return spectrum


def _power(spectrum: Spectrum | None, band) -> float:
    """Return a signal's power within a band of frequency [rad^2]."""
    spectrum = _known(spectrum)
    low, high = band
    inside = (spectrum.frequency >= low) & (spectrum.frequency <= high)
    return float(np.sum(spectrum.density[inside]) * spectrum.frequency[0])


def _times(ratio) -> str:
    rounded = f"{ratio:.2g}"
    return rounded if ratio < 100.0 else f"{float(rounded):,.0f}"


def _end(comparison) -> str:
    """Return how far off a heading is at the end, in degrees."""
    return _degrees(comparison.statistics.final)


def _degrees(angle) -> str:
    return f"{np.degrees(angle):.2f}"
