"""The thesis's experiments, and its figures of control and of chapter 4 as a table.

A row of :data:`ITEMS` has what a figure showed in the thesis, why ours differs, and how ours is
made: of which experiment, and what is seen in it.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.core.spectrum import Spectrum
from imu_simulation_framework.core.time_alignment import find_time_shift
from imu_simulation_framework.drive import figures
from imu_simulation_framework.drive.check import CONFIGURATION, RecordingSetup, set_up_named
from imu_simulation_framework.drive.configuration import Configuration
from imu_simulation_framework.drive.figures import ShownError
from imu_simulation_framework.drive.page import section as experiment_section
from imu_simulation_framework.drive.session.preparation import PreparationSession
from imu_simulation_framework.drive.summary import RunDescription, evaluate
from imu_simulation_framework.heading.comparison import (
    Comparison,
    ComparisonSettings,
    YawComparison,
    compare_yaw,
)
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.report.page import Section

RUNS = (1, 2, 3)
"""Repetitions with Hector's model."""

_RECORDED_WINDOW = 5.91
"""Of the median by which the thesis smooths the recorded errors of all drives [s]."""

_SLOW, _WANDER, _FAST = (0.0, 0.01), (0.02, 0.2), (1.0, np.inf)
"""Bands of frequency [Hz]: drift, what goes with the rounds, noise."""

_LOW = 0.1
"""Frequency up to which figure 4.13 goes [Hz]."""

_LONGEST_DELAY = 5.0


GENERIC_FIRST, GENERIC = "generic, 0.00105", "generic, 0.00215"
HECTOR, HECTOR_SLOW = "Hector, 0.5 rad at 0.005 Hz", "Hector, 1.118 rad at 0.001 Hz"
IMUS: dict[str, dict[str, dict[str, Any]]] = {
    GENERIC_FIRST: {"imu": {"model": "generic"}, "imu_generic": {"gaussian_noise": 0.00105}},
    GENERIC: {"imu": {"model": "generic"}, "imu_generic": {"gaussian_noise": 0.00215}},
    HECTOR: {
        "imu": {"model": "hector"},
        "imu_hector": {"yaw_drift": 0.5, "yaw_drift_frequency": 0.005},
    },
    HECTOR_SLOW: {
        "imu": {"model": "hector"},
        "imu_hector": {"yaw_drift": 1.118, "yaw_drift_frequency": 0.001},
    },
}
"""The simulated IMUs of the thesis -> settings by section."""


class Experiment(NamedTuple):
    """A drive, by its letter, with one of :data:`IMUS`.

    ``seed`` is added to that of all experiments; ``until`` is its end [s], None the drive's;
    ``window`` that of the trend's median [s].
    """

    drive: str
    imu: str
    seed: int = 0
    run: int = 1
    until: float | None = None
    window: float = 5.19
    controller: str = "yaw_pid"


ONE_ROUND = Experiment("a", GENERIC_FIRST, until=60.0, window=1.01)
LONG = Experiment("a", GENERIC)

# Hector's drift does not depend on what is driven: with one seed four drives would show one drift.
REPEATED = {
    (letter, imu): [Experiment(letter, imu, first + run, run) for run in RUNS]
    for first, (letter, imu) in zip(
        range(0, 99, len(RUNS)), [("a", HECTOR), *((letter, HECTOR_SLOW) for letter in DRIVES)]
    )
}
"""The repetitions of each experiment with Hector's model, which have seeds of their own."""


def name_of(letter) -> str:
    """Return what a drive is called: that of the thesis has the same letter."""
    return f"drive {letter.upper()}"


class Experiments:
    """All experiments, driven once each.

    ``recordings``: letter -> a recording or its config.ini, and perhaps its IMU's file, instead of
    the bundled drive of that letter. ``say`` is called with a few words before something that
    lasts; ``driven`` is how long all experiments were [s]; ``described`` stands below each figure.
    """

    def __init__(self, recordings: Mapping[str, Sequence[str]], seed: int = 1):
        self.seed = seed
        self._setups = {letter: _setup(recordings.get(letter, (letter,))) for letter in DRIVES}
        self.own = ", ".join(sorted(recordings)).upper()
        self.say: Callable[[str], object] = lambda _: None
        self._prepared: dict[tuple, PreparationSession] = {}
        self._compared: dict[Experiment, Comparison] = {}
        self.driven = 0.0
        own = f", own recordings for {self.own}" if self.own else ""
        self.described = f"robot in MuJoCo, seed {seed}, bundled synthetic drives{own}"

    def sources(self) -> dict[str, str]:
        """Return what was read as which drive."""
        return {
            name_of(letter): prepared.drive.name
            for (letter, _), prepared in sorted(self._prepared.items(), key=str)
        }

    def prepared(self, letter, until=None) -> PreparationSession:
        """Return a drive as it is to be followed, and its recorded IMU."""
        key = (letter, until)
        if key not in self._prepared:
            from imu_simulation_framework.drive import in_process  # which needs MuJoCo

            self.say(f"reading {name_of(letter)}")
            prepared = in_process.prepared(self._configuration(letter, until))
            if prepared.recorded_imu is None:
                raise RecordingError(
                    f"{prepared.drive.name}: [imu_recording] use is false, so that there is no "
                    "recorded IMU to compare with"
                )
            self._prepared[key] = prepared
        return self._prepared[key]

    def recorded(self, letter) -> YawComparison:
        """Return the recorded IMU's yaw error on a whole drive."""
        prepared = self.prepared(letter)
        drive, imu = prepared.drive, prepared.recorded_imu
        assert imu is not None  # prepared() has refused it
        settings = ComparisonSettings(median_window=_RECORDED_WINDOW)
        reference = drive.reference
        compared = compare_yaw(
            imu.table["yaw"], reference["yaw"], settings, reference.get("yaw_known")
        )
        if compared is None:
            raise RecordingError(f"{drive.name}: the IMU has no sample within its reference's time")
        return compared

    def compared(self, experiment: Experiment) -> Comparison:
        """Return what an experiment shows."""
        if experiment not in self._compared:
            from imu_simulation_framework.drive import in_process

            prepared = self.prepared(experiment.drive, experiment.until)
            self.say(f"{name_of(experiment.drive)}, {experiment.imu}, run {experiment.run}")
            settings = {
                **IMUS[experiment.imu],
                "control": {"controller": experiment.controller},
                "experiment": {"seed": self.seed + experiment.seed},
            }
            configuration = self._configuration(experiment.drive, experiment.until, settings)
            tables = in_process.run_prepared(configuration, prepared)
            run = RunDescription({"trajectory_scale": configuration.trajectory.scale})
            _, compared = evaluate(tables, ComparisonSettings(median_window=experiment.window), run)
            if compared.real is None or compared.simulated is None:
                raise RecordingError(f"{prepared.drive.name}: {' '.join(compared.remarks)}")
            self._compared[experiment] = compared
            self.driven += float(tables.ground_truth.index[-1])
        return self._compared[experiment]

    def _configuration(self, letter, until, settings=None) -> Configuration:
        setup = deepcopy(self._setups[letter])
        for section, values in {"terrain": {"kind": "flat"}, **(settings or {})}.items():
            setup.set(section, **values)
        if until is not None:
            setup.set("trajectory", stop=(setup.load().trajectory.start or 0.0) + until)
        return setup.load()


def _setup(words) -> RecordingSetup:
    text, *others = words
    if len(others) > 1:
        raise ConfigurationError(
            f"{text}: a drive is one recording, its config.ini, or two files, a reference and an "
            f"IMU's; {len(words)} are named"
        )
    if others and text.endswith(CONFIGURATION):
        raise ConfigurationError(
            f"{text}: names the IMU's file itself, so that {others[0]} is idle"
        )
    return set_up_named(text, *others)


class Shown(NamedTuple):
    """``section`` of the page with its figure, and ``ours``: what is seen, in a sentence."""

    section: Section
    ours: str


def _experiment(picture, experiment, said, experiments) -> Shown:
    """Show one of an experiment's own figures; ``said``: makes a sentence of the comparison."""
    compared = experiments.compared(experiment)
    return Shown(experiment_section(picture, compared), said(compared))


def _errors(lines, window, said, experiments) -> Shown:
    """Show several yaw errors, which ``lines`` returns as ``ShownError``."""
    errors = lines(experiments)
    how_to_read = (
        f"Running medians over {window:g} s, zero at the start. Each line is one realisation of "
        "chance: compare size and manner, not the course."
    )
    section = Section("", figure=figures.yaw_errors(errors, window), how_to_read=how_to_read)
    return Shown(section, said([error.comparison for error in errors]))


def _spectra(lines, highest, said, experiments) -> Shown:
    """Show the spectra of several yaw errors up to a frequency [Hz]."""
    errors = lines(experiments)
    how_to_read = (
        "Drift is at the left, noise at the right. A single value at low frequency scatters by its "
        "own size."
    )
    figure = figures.yaw_error_spectra(errors, highest)
    section = Section("", figure=figure, how_to_read=how_to_read)
    return Shown(section, said([error.comparison for error in errors]))


def _recorded(experiments) -> list[ShownError]:
    return [
        ShownError(name_of(letter), name_of(letter), True, experiments.recorded(letter))
        for letter in DRIVES
    ]


def _paths(experiments) -> Shown:
    drives = {letter: experiments.prepared(letter).drive for letter in DRIVES}
    figure = figures.paths({name_of(letter): one.trajectory for letter, one in drives.items()})
    ours = "; ".join(
        f"{letter.upper()}: {drive.length:.0f} m in {drive.trajectory.index[-1]:.0f} s"
        for letter, drive in drives.items()
    )
    return Shown(
        Section("", figure=figure, how_to_read="Each drive's path, from its own start."), ours
    )


def _largest(compared):
    real, simulated = (
        _degrees(one.trend_statistics.maximum_absolute)
        for one in (compared.real, compared.simulated)
    )
    return f"the smoothed error reaches {real} deg (recorded) and {simulated} deg (simulated)"


def _tracking(compared):
    table = compared.control_error
    yaw, distance = np.degrees(table["yaw_error"]), table["distance_error"]
    return (
        f"the yaw is {yaw.abs().mean():.2f} deg off on average and the robot "
        f"{distance.mean():.2f} m, at most {yaw.abs().max():.2f} deg and {distance.max():.2f} m"
    )


def _tracking_in_time(compared):
    table = compared.control_error
    time = table.index.to_numpy(dtype=float)
    begin, end = (
        _degrees(np.sqrt(np.mean(table[inside]["yaw_error"].to_numpy() ** 2)))
        for inside in (time <= 60.0, time >= time[-1] - 60.0)
    )
    return (
        f"the yaw's tracking error is {begin} deg rms in the first minute and {end} deg in "
        "the last one; as nobody steers to the path, the robot is up to "
        f"{table['distance_error'].max():.2f} m off it"
    )


def _yaw_of_one_round(compared):
    real, simulated = compared.real, compared.simulated
    new = np.mean(np.diff(real.imu_yaw.to_numpy()) != 0.0) / np.median(np.diff(real.imu_yaw.index))
    return (
        f"both follow what is right for them: {_end(real)} deg off (recorded) and "
        f"{_end(simulated)} deg (simulated) at the end; the recorded IMU has {new:.0f} new values "
        "in a second"
    )


def _yaw_of_all_rounds(compared):
    truth, wanted = compared.ground_truth["yaw"], compared.trajectory["yaw"]
    delay = find_time_shift(truth.index, truth, wanted.index, wanted, _LONGEST_DELAY).shift
    return (
        f"the recorded IMU ends {_end(compared.real)} deg off, the simulated one "
        f"{_end(compared.simulated)} deg; the simulated robot is {1000.0 * delay:.0f} ms late"
    )


def _error_of_all_rounds(compared):
    real, simulated = compared.real.statistics, compared.simulated.statistics
    return (
        f"the recorded error grows by {60.0 * np.degrees(real.drift):.2f} deg in a minute to "
        f"{_degrees(real.final)} deg; the simulated one has {_degrees(simulated.rms)} deg of "
        f"noise and ends at {_degrees(simulated.final)} deg"
    )


def _spectrum_of_yaw(compared):
    slow, fast = (
        _power(compared.simulated.yaw_spectrum, band) / _power(compared.real.yaw_spectrum, band)
        for band in ((0.0, _LOW), _FAST)
    )
    return (
        f"below {_LOW:g} Hz the two lie upon each other: their power differs by "
        f"{100.0 * abs(slow - 1.0):.1f} %; above {_FAST[0]:g} Hz the plug-in's white noise makes "
        f"the simulated one's {_times(fast)} times the recorded one's"
    )


def _spectra_of_errors(compared):
    slow, fast = _powers([compared.real, compared.simulated], _SLOW, _FAST)
    return (
        f"below {_SLOW[1]:g} Hz the recorded error has {slow} times the power of the "
        f"simulated one, above {_FAST[0]:g} Hz {fast} times"
    )


def _peaks(recorded):
    peaks = []
    for letter, one in zip(DRIVES, recorded):
        spectrum = _known(one.error_spectrum)
        inside = (spectrum.frequency >= _SLOW[1]) & (spectrum.frequency <= _LOW)
        peak = spectrum.frequency[inside][np.argmax(spectrum.density[inside])]
        peaks.append(f"{peak:.4f} Hz ({letter.upper()})")
    return f"largest density from {_SLOW[1]:g} to {_LOW:g} Hz at {', '.join(peaks)}"


def _ends(errors):
    recorded, *simulated = map(_end, errors)
    return f"at the end {recorded} deg (recorded) and {', '.join(simulated)} deg (simulated)"


def _drift_and_wander(errors):
    slow, wander = _powers(errors, _SLOW, _WANDER)
    return (
        f"below {_SLOW[1]:g} Hz the recorded error has {slow} times the mean power of the "
        f"simulated ones, from {_WANDER[0]:g} to {_WANDER[1]:g} Hz {wander} times"
    )


def _powers(errors, *bands) -> list[str]:
    """Return by band how many times the mean power of the others the first error has."""
    powers = [[_power(error.error_spectrum, band) for error in errors] for band in bands]
    return [_times(recorded / np.mean(simulated)) for recorded, *simulated in powers]


def _known(spectrum: Spectrum | None) -> Spectrum:
    if spectrum is None:
        raise RecordingError("a drive has too few samples for a power spectral density")
    return spectrum


def _power(spectrum, band) -> float:
    """Return a signal's power within a band of frequency [rad^2]."""
    spectrum = _known(spectrum)
    inside = (spectrum.frequency >= band[0]) & (spectrum.frequency <= band[1])
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
    ``make``: from :class:`Experiments` to what ours shows, None for what cannot be made.
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


def _controlled(number, name, controller, picture, thesis):
    make = partial(_experiment, picture, LONG._replace(controller=controller), _tracking)
    return Item((f"3.{number}",), f"Trajectory A, {name}", thesis, _WHEELS, make)


def _with_hector(letter, imu, first, said_errors=_SAME, said_spectra=_SAME):
    """Return two figures of all repetitions: the errors and their spectra."""

    def lines(experiments):
        every = [experiments.compared(one) for one in REPEATED[letter, imu]]
        shown = [("recorded IMU", True, every[0].real)]
        shown += [(f"simulated IMU, run {n}", False, one.simulated) for n, one in zip(RUNS, every)]
        return [ShownError(name_of(letter), *one) for one in shown]

    name = f"Trajectory {letter.upper()}, {imu}"
    errors = partial(_errors, lines, REPEATED[letter, imu][0].window, _ends)
    spectra = partial(_spectra, lines, np.inf, _drift_and_wander)
    return (
        Item((f"4.{first}",), f"{name}: yaw errors", said_errors, _CHANCE, errors),
        Item(
            (f"4.{first + 1}",), f"{name}: spectra of the yaw errors", said_spectra, _RAW, spectra
        ),
    )


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
        partial(_experiment, "imu_yaw", ONE_ROUND, _yaw_of_one_round),
    ),
    Item(
        ("4.3",), "Trajectory A, one round",
        "Not known: the text that we have lacks the figure and its caption, and never mentions it.",
        "What it showed is not known.", None,
    ),
    Item(
        ("4.5",), "Trajectory A, one round: yaw errors, median over 101 samples",
        "The recorded error reaches about 1.5 deg, the simulated one stays at its noise.",
        f"{_DATA} Errors are signed here, in the thesis they are sizes.",
        partial(_experiment, "yaw_error", ONE_ROUND, _largest),
    ),
    Item(
        ("4.6", "4.7"), "Trajectory A, all rounds: yaw, and its end enlarged",
        "The recorded yaw ends 0.25 rad (about 15 deg) off. The simulated robot turns a few "
        "seconds late.",
        "In lock-step no command is late, so that the simulated robot keeps the recorded one's "
        "time.",
        partial(_experiment, "imu_yaw", LONG, _yaw_of_all_rounds),
    ),
    Item(
        ("4.8",), "Trajectory A, all rounds: tracking error",
        "The yaw's tracking error grows, with oscillations in sharp bends, as the loop falls "
        "behind.",
        "Lock-step; and a controller whose parts are signed each, with a limited integral.",
        partial(_experiment, "control_error", LONG, _tracking_in_time),
    ),
    Item(
        ("4.9",), "Trajectory A, all rounds: yaw errors, median over 519 samples",
        "The recorded error grows steadily to about 15 deg; the simulated one, with white noise "
        "only, does not grow.",
        f"{_DATA} The yaw's noise is twice what the plug-in is told: it is added to the components "
        "of a quaternion, which hold half the angle.",
        partial(_experiment, "yaw_error", LONG, _error_of_all_rounds),
    ),
    Item(
        ("4.10",), "Trajectory A, all rounds: spectra of the yaw",
        "Recorded and simulated yaw look alike: the rounds' peaks hide the drift.",
        "The linear trend is taken out here, which full turns would leave in each spectrum.",
        partial(_experiment, "yaw_psd", LONG, _spectrum_of_yaw),
    ),
    Item(
        ("4.11",), "Trajectory A, all rounds: spectra of the yaw errors",
        "At low frequency the simulated error has less power by some orders of magnitude.", _RAW,
        partial(_experiment, "yaw_errors_psd", LONG, _spectra_of_errors),
    ),
    Item(
        ("4.12",), "Recorded yaw errors of all trajectories, median over 591 samples",
        "Errors of four drives, from which steps of up to about 0.05 rad (2.9 deg) are read off.",
        f"{_DATA} Their IMU has a rate bias and a scale factor, so that its error grows with time "
        "and with the turns to one side, and is not made of steps.",
        partial(_errors, _recorded, _RECORDED_WINDOW, lambda recorded: "at the end " + ", ".join(
            f"{_end(one)} deg ({letter.upper()})" for letter, one in zip(DRIVES, recorded)
        )),
    ),
    Item(
        ("4.13",), "Recorded yaw errors: spectra at low frequency",
        "A peak at 0.015 Hz, a round of about 70 s; below 0.01 Hz too few values to tell.",
        f"{_DATA} Their rounds last 60 s (A), 40 s (C) and 75 s (D), and peaks are at a round's "
        f"frequency or a multiple of it. {_RAW}",
        partial(_spectra, _recorded, _LOW, _peaks),
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
    ),
    *_with_hector("b", HECTOR_SLOW, 18),
    Item(
        ("4.20",), f"Trajectory B, {HECTOR_SLOW}: yaw, and its end enlarged",
        "After ten minutes both IMUs are off what is right for them, as both drift.",
        f"{_DATA} Each pair of lines has a zero of its own.",
        partial(_experiment, "imu_yaw", REPEATED["b", HECTOR_SLOW][0], lambda compared: (
            f"the recorded IMU ends {_end(compared.real)} deg off what is right for it, the "
            f"simulated one {_end(compared.simulated)} deg"
        )),
    ),
    *_with_hector("c", HECTOR_SLOW, 21),
    *_with_hector("d", HECTOR_SLOW, 23),
)  # fmt: skip
"""All figures, in their order."""
