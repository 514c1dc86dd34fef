"""The thesis's figures of control and of chapter 4: what each showed, what ours shows, and why."""

from __future__ import annotations

from functools import partial
from typing import Callable, NamedTuple

import numpy as np

from imu_simulation_framework.commands.thesis.experiments import (
    HECTOR,
    HECTOR_SLOW,
    LONG,
    ONE_ROUND,
    RECORDED_WINDOW,
    REPEATED,
    RUNS,
    Experiments,
    Imu,
    repeated,
)
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.spectrum import Spectrum
from imu_simulation_framework.core.time_alignment import find_time_shift
from imu_simulation_framework.drive import figures
from imu_simulation_framework.drive.figures import ShownError
from imu_simulation_framework.drive.page import section as experiment_section
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.report.page import Section

SLOW, WANDER, FAST = (0.0, 0.01), (0.02, 0.2), (1.0, np.inf)
"""Bands of frequency [Hz]: drift, what goes with the rounds, noise."""

LOW = 0.1
"""Frequency up to which figure 4.13 goes [Hz]."""

_LONGEST_DELAY = 5.0


class Shown(NamedTuple):
    """``section`` of the page with its figure, and ``ours``: what is seen, in a sentence."""

    section: Section
    ours: str


def _paths(experiments):
    drives = {letter: experiments.prepared(letter).drive for letter in DRIVES}
    named = {experiments.name(letter): drive.trajectory for letter, drive in drives.items()}
    ours = "; ".join(
        f"{letter.upper()}: {drive.length:.0f} m in {drive.trajectory.index[-1]:.0f} s"
        for letter, drive in drives.items()
    )
    return _shown(figures.paths(named), "Each drive's path, from its own start.", ours)


def _of_control(controller, picture, experiments):
    comparison = experiments.comparison(LONG._replace(controller=controller))
    table = comparison.whole.control_error
    yaw, distance = np.degrees(table["yaw_error"]), table["distance_error"]
    ours = (
        f"the yaw is {yaw.abs().mean():.2f} deg off on average and the robot "
        f"{distance.mean():.2f} m, at most {yaw.abs().max():.2f} deg and {distance.max():.2f} m"
    )
    return _of_experiment(picture, comparison, ours)


def _yaw_of_one_round(experiments):
    comparison = experiments.comparison(ONE_ROUND)
    real, simulated = comparison.real, comparison.simulated
    new = np.mean(np.diff(real.imu_yaw.to_numpy()) != 0.0) / np.median(np.diff(real.imu_yaw.index))
    ours = (
        f"both follow what is right for them: {_end(real)} deg off "
        f"(recorded) and {_end(simulated)} deg (simulated) at the end; the "
        f"recorded IMU has {new:.0f} new values in a second"
    )
    return _of_experiment("imu_yaw", comparison, ours)


def _error_of_one_round(experiments):
    comparison = experiments.comparison(ONE_ROUND)
    real, simulated = comparison.real.trend_statistics, comparison.simulated.trend_statistics
    ours = (
        f"the smoothed error reaches {np.degrees(real.maximum_absolute):.2f} deg (recorded) and "
        f"{np.degrees(simulated.maximum_absolute):.2f} deg (simulated)"
    )
    return _of_experiment("yaw_error", comparison, ours)


def _yaw_of_all_rounds(experiments):
    comparison = experiments.comparison(LONG)
    truth, wanted = comparison.whole.ground_truth["yaw"], comparison.whole.trajectory["yaw"]
    delay = find_time_shift(truth.index, truth, wanted.index, wanted, _LONGEST_DELAY).shift
    ours = (
        f"the recorded IMU ends {_end(comparison.real)} deg off, the "
        f"simulated one {_end(comparison.simulated)} deg; the simulated "
        f"robot is {1000.0 * delay:.0f} ms late"
    )
    return _of_experiment("imu_yaw", comparison, ours)


def _tracking_error(experiments):
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


def _error_of_all_rounds(experiments):
    comparison = experiments.comparison(LONG)
    real, simulated = comparison.real.statistics, comparison.simulated.statistics
    ours = (
        f"the recorded error grows by {60.0 * np.degrees(real.drift):.2f} deg in a minute to "
        f"{_degrees(real.final)} deg; the simulated one has {np.degrees(simulated.rms):.2f} deg of "
        f"noise and ends at {_degrees(simulated.final)} deg"
    )
    return _of_experiment("yaw_error", comparison, ours)


def _spectrum_of_yaw(experiments):
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


def _spectrum_of_errors(experiments):
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


def _recorded_errors(experiments):
    errors = _recorded(experiments)
    ours = "at the end " + ", ".join(
        f"{_end(error.comparison)} deg ({letter.upper()})" for letter, error in zip(DRIVES, errors)
    )
    return _errors(errors, RECORDED_WINDOW, ours)


def _recorded_spectra(experiments):
    errors = _recorded(experiments)
    peaks = []
    for letter, error in zip(DRIVES, errors):
        spectrum = _known(error.comparison.error_spectrum)
        inside = (spectrum.frequency >= SLOW[1]) & (spectrum.frequency <= LOW)
        peak = spectrum.frequency[inside][np.argmax(spectrum.density[inside])]
        peaks.append(f"{peak:.4f} Hz ({letter.upper()})")
    ours = f"largest density from {SLOW[1]:g} to {LOW:g} Hz at {', '.join(peaks)}"
    return _spectra(errors, ours, LOW)


def _errors_with_hector(letter, imu, experiments):
    recorded, *simulated = errors = _repetitions(experiments, letter, imu)
    ends = ", ".join(_end(error.comparison) for error in simulated)
    ours = f"at the end {_end(recorded.comparison)} deg (recorded) and {ends} deg (simulated)"
    return _errors(errors, _first(letter, imu).window, ours)


def _spectra_with_hector(letter, imu, experiments):
    recorded, *simulated = errors = _repetitions(experiments, letter, imu)
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


def _yaw_with_hector(letter, imu, experiments):
    comparison = experiments.comparison(_first(letter, imu))
    ours = (
        f"the recorded IMU ends {_end(comparison.real)} deg off what is "
        f"right for it, the simulated one {_end(comparison.simulated)} deg"
    )
    return _of_experiment("imu_yaw", comparison, ours)


def _first(letter, imu):
    return repeated(letter, imu, REPEATED[letter, imu])[0]


def _of_experiment(name, comparison, ours) -> Shown:
    return Shown(experiment_section(name, comparison.whole), ours)


def _errors(errors, window, ours) -> Shown:
    how_to_read = (
        f"Running medians over {window:g} s, zero at the start. Each line is one realisation of "
        "chance: compare size and manner, not the course."
    )
    return _shown(figures.yaw_errors(errors, window), how_to_read, ours)


def _spectra(errors, ours, highest=np.inf) -> Shown:
    how_to_read = (
        "Drift is at the left, noise at the right. A single value at low frequency scatters by its "
        "own size."
    )
    return _shown(figures.yaw_error_spectra(errors, highest), how_to_read, ours)


def _shown(figure, how_to_read, ours) -> Shown:
    return Shown(Section("", figure=figure, how_to_read=how_to_read), ours)


def _recorded(experiments) -> list[ShownError]:
    names = [experiments.name(letter) for letter in DRIVES]
    return [
        ShownError(name, name, True, experiments.recorded(letter))
        for name, letter in zip(names, DRIVES)
    ]


def _repetitions(experiments, letter, imu) -> list[ShownError]:
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


class Item(NamedTuple):
    """A figure, or two that ours shows as one.

    ``numbers`` as in the thesis; ``title``; ``thesis``: what it showed; ``why`` ours differs;
    ``make``: from :class:`.Experiments` to what ours shows, None for what cannot be made.
    """

    numbers: tuple[str, ...]
    title: str
    thesis: str
    why: str
    make: Callable[[Experiments], Shown] | None

    @property
    def label(self) -> str:
        """As ``4.6, 4.7``."""
        return ", ".join(self.numbers)

    @property
    def name(self) -> str:
        """Of its files, as ``figure_4_06_4_07``; in the order of the numbers."""
        parts = (number.split(".") for number in self.numbers)
        return "figure_" + "_".join(f"{chapter}_{place.zfill(2)}" for chapter, place in parts)


_DATA = "Other recordings: the thesis's are not at hand, ours are made by a program."
_CHANCE = (
    "Other recordings, and other random numbers: the plug-in's cannot be seeded, ours are. The "
    "model takes the same steps as the plug-in."
)
_RAW = (
    "Spectra of errors as they are: the thesis smoothed errors by a median first, which takes "
    "noise away and is not linear."
)
_WHEELS = (
    "The wheels in MuJoCo turn as they are told and the robot is symmetric, so that less has to be "
    "controlled; and the parts of the controllers are signed each."
)
_SAME = "The same setting; nothing is said of what came out."


def _with_hector(letter: str, imu: Imu, first: int, said_errors: str, said_spectra: str):
    name = f"Trajectory {letter.upper()}, {imu.name}"
    return (
        Item(
            (f"4.{first}",),
            f"{name}: yaw errors",
            said_errors,
            _CHANCE,
            partial(_errors_with_hector, letter, imu),
        ),
        Item(
            (f"4.{first + 1}",),
            f"{name}: spectra of the yaw errors",
            said_spectra,
            _RAW,
            partial(_spectra_with_hector, letter, imu),
        ),
    )


def _controlled(number, name, controller, picture, thesis):
    make = partial(_of_control, controller, picture)
    return Item((f"3.{number}",), f"Trajectory A, {name}", thesis, _WHEELS, make)


ITEMS: tuple[Item, ...] = (
    _controlled(
        "9", "open loop: path", "open_loop", "trajectory",
        "Too slow in sharp bends and drawn to one side by its front wheels, the robot leaves the "
        "path more and more.",
    ),
    _controlled(
        "10a", "control of yaw and distance: path", "yaw_distance_pid", "trajectory",
        "Held to be the best by the average errors of distance and yaw.",
    ),
    _controlled(
        "10b", "control of yaw and distance: errors", "yaw_distance_pid", "control_error",
        "The distance's controller brings small oscillations into the yaw.",
    ),
    _controlled(
        "11a", "control of yaw only: path", "yaw_pid", "trajectory",
        "Nothing steers to the path, which is held to be unnecessary for judging a yaw.",
    ),
    _controlled(
        "11b", "control of yaw only: errors", "yaw_pid", "control_error",
        "The best for the yaw, which is what is compared; so all experiments use it.",
    ),
    Item(
        ("4.1",), "The four trajectories",
        "Paths of four recorded drives of about ten minutes. A, C and D repeat a round, B does "
        "not.",
        "Other recordings, of the same kind: A, C and D repeat a round here, too. No robot has "
        "driven them.",
        _paths,
    ),
    Item(
        ("4.2", "4.4"), "Trajectory A, one round: yaw",
        "The simulated yaw lies on the truth but for white noise; the recorded one has drifted a "
        "little after a minute, and comes far less often than 100 times a second.",
        "The bundled recording has 100 readings in a second; those repeat that the resolution of "
        "its quaternions, 2^-14, does not tell apart.",
        _yaw_of_one_round,
    ),
    Item(
        ("4.3",), "Trajectory A, one round",
        "Not known: the text that we have lacks the figure and its caption, and never mentions it.",
        "What it showed is not known.", None,
    ),
    Item(
        ("4.5",), "Trajectory A, one round: yaw errors, median over 101 samples",
        "The recorded error reaches about 1.5 deg, the simulated one stays at its noise.",
        f"{_DATA} Errors are signed here, in the thesis they are sizes.", _error_of_one_round,
    ),
    Item(
        ("4.6", "4.7"), "Trajectory A, all rounds: yaw, and its end enlarged",
        "The recorded yaw ends 0.25 rad (about 15 deg) off. The simulated robot turns a few "
        "seconds late.",
        "In lock-step no command is late, so that the simulated robot keeps the recorded one's "
        "time.",
        _yaw_of_all_rounds,
    ),
    Item(
        ("4.8",), "Trajectory A, all rounds: tracking error",
        "The yaw's tracking error grows, with oscillations in sharp bends, as the loop falls "
        "behind.",
        "Lock-step; and a controller whose parts are signed each, with a limited integral.",
        _tracking_error,
    ),
    Item(
        ("4.9",), "Trajectory A, all rounds: yaw errors, median over 519 samples",
        "The recorded error grows steadily to about 15 deg; the simulated one, with white noise "
        "only, does not grow.",
        f"{_DATA} The yaw's noise is twice what the plug-in is told: it is added to the components "
        "of a quaternion, which hold half the angle.",
        _error_of_all_rounds,
    ),
    Item(
        ("4.10",), "Trajectory A, all rounds: spectra of the yaw",
        "Recorded and simulated yaw look alike: the rounds' peaks hide the drift.",
        "The linear trend is taken out here, which full turns would leave in each spectrum.",
        _spectrum_of_yaw,
    ),
    Item(
        ("4.11",), "Trajectory A, all rounds: spectra of the yaw errors",
        "At low frequency the simulated error has less power by some orders of magnitude.", _RAW,
        _spectrum_of_errors,
    ),
    Item(
        ("4.12",), "Recorded yaw errors of all trajectories, median over 591 samples",
        "Errors of four drives, from which steps of up to about 0.05 rad (2.9 deg) are read off.",
        f"{_DATA} Their IMU has a rate bias and a scale factor, so that its error grows with time "
        "and with the turns to one side, and is not made of steps.",
        _recorded_errors,
    ),
    Item(
        ("4.13",), "Recorded yaw errors: spectra at low frequency",
        "A peak at 0.015 Hz, a round of about 70 s; below 0.01 Hz too few values to tell.",
        f"{_DATA} Their rounds last 60 s (A), 40 s (C) and 75 s (D), and peaks are at a round's "
        f"frequency or a multiple of it. {_RAW}",
        _recorded_spectra,
    ),
    *_with_hector(
        "a", HECTOR, 14,
        "Three runs with drift; found much better than the generic plug-in, and realistic to the "
        "eye.",
        "Found much better than the generic plug-in here, too.",
    ),
    *_with_hector(
        "a", HECTOR_SLOW, 16,
        "Three runs with a slower and larger drift, as steps seemed to come from the robot's "
        "turns.",
        _SAME,
    ),
    *_with_hector("b", HECTOR_SLOW, 18, _SAME, _SAME),
    Item(
        ("4.20",), f"Trajectory B, {HECTOR_SLOW.name}: yaw, and its end enlarged",
        "After ten minutes both IMUs are off what is right for them, as both drift.",
        f"{_DATA} Each pair of lines has a zero of its own.",
        partial(_yaw_with_hector, "b", HECTOR_SLOW),
    ),
    *_with_hector("c", HECTOR_SLOW, 21, _SAME, _SAME),
    *_with_hector("d", HECTOR_SLOW, 23, _SAME, _SAME),
)  # fmt: skip
"""All figures, in their order."""
