"""The thesis's experiments, each driven when a figure asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, NamedTuple, Sequence

from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.drive.check import CONFIGURATION, RecordingSetup, set_up_named
from imu_simulation_framework.drive.configuration import Configuration
from imu_simulation_framework.drive.session.preparation import PreparationSession
from imu_simulation_framework.drive.summary import RunDescription, evaluate
from imu_simulation_framework.heading.comparison import (
    Comparison,
    ComparisonSettings,
    YawComparison,
    compare_yaw,
)
from imu_simulation_framework.motion.drives import DRIVES

SHORT = 60.0
"""Of the experiment that is one round of trajectory A in the thesis [s]."""

RUNS = (1, 2, 3)
"""Repetitions with Hector's model."""

RECORDED_WINDOW = 5.91
"""Of the median by which the thesis smooths the recorded errors of all drives [s]."""

_TERRAIN = {"terrain": {"kind": "flat"}}


@dataclass(frozen=True)
class Imu:
    """A simulated IMU of the thesis: its name, and settings by section."""

    name: str
    settings: Mapping[str, Mapping[str, Any]] = field(compare=False)


def _generic(noise):
    settings = {"imu": {"model": "generic"}, "imu_generic": {"gaussian_noise": noise}}
    return Imu(f"generic, {noise:g}", settings)


def _hector(drift, frequency):
    parameters = {"yaw_drift": drift, "yaw_drift_frequency": frequency}
    name = f"Hector, {drift:g} rad at {frequency:g} Hz"
    return Imu(name, {"imu": {"model": "hector"}, "imu_hector": parameters})


GENERIC_FIRST, GENERIC = _generic(0.00105), _generic(0.00215)
HECTOR, HECTOR_SLOW = _hector(0.5, 0.005), _hector(1.118, 0.001)


class Experiment(NamedTuple):
    """A drive, by its letter, with a simulated IMU.

    ``seed`` is added to that of all experiments; ``until`` is its end [s], None the drive's;
    ``window`` that of the trend's median [s].
    """

    drive: str
    imu: Imu
    seed: int = 0
    run: int = 1
    until: float | None = None
    window: float = 5.19
    controller: str = "yaw_pid"


class Compared(NamedTuple):
    """``whole`` of what an experiment shows; ``real`` and ``simulated``, both IMUs' yaw errors."""

    whole: Comparison
    real: YawComparison
    simulated: YawComparison


def repeated(drive, imu, first) -> list[Experiment]:
    """Return the repetitions of an experiment.

    Hector's drift does not depend on what is driven: with one seed four drives would show one
    drift. So each has numbers of its own, from ``first`` on.
    """
    return [Experiment(drive, imu, first + place, run) for place, run in enumerate(RUNS)]


ONE_ROUND = Experiment("a", GENERIC_FIRST, until=SHORT, window=1.01)
LONG = Experiment("a", GENERIC)
REPEATED = {
    ("a", HECTOR): 1,
    ("a", HECTOR_SLOW): 4,
    ("b", HECTOR_SLOW): 7,
    ("c", HECTOR_SLOW): 10,
    ("d", HECTOR_SLOW): 13,
}


class Experiments:
    """All experiments, driven once each.

    ``recordings``: letter -> a recording or its config.ini, and perhaps its IMU's file, instead of
    the bundled drive of that letter. ``say`` is called with a few words before something that
    lasts; ``driven`` is how long all experiments were [s].
    """

    def __init__(self, recordings: Mapping[str, Sequence[str]], seed: int = 1):
        self.seed = seed
        self.setups = {letter: _setup(recordings.get(letter, (letter,))) for letter in DRIVES}
        self.own = sorted(recordings)
        self.say: Callable[[str], object] = lambda _: None
        self._prepared: dict[tuple, PreparationSession] = {}
        self._compared: dict[Experiment, Compared] = {}
        self.driven = 0.0

    @property
    def described(self) -> str:
        """What stands below each figure."""
        own = f", own recordings for {', '.join(self.own).upper()}" if self.own else ""
        return f"robot in MuJoCo, seed {self.seed}, bundled synthetic drives{own}"

    def sources(self) -> dict[str, str]:
        """Return what was read as which drive."""
        return {
            self.name(letter): prepared.drive.name
            for (letter, _), prepared in sorted(self._prepared.items(), key=str)
        }

    def name(self, letter) -> str:
        """Return what a drive is called: that of the thesis has the same letter."""
        return f"drive {letter.upper()}"

    def prepared(self, letter, until=None) -> PreparationSession:
        """Return a drive as it is to be followed, and its recorded IMU."""
        key = (letter, until)
        if key not in self._prepared:
            from imu_simulation_framework.drive import in_process  # which needs MuJoCo

            self.say(f"reading {self.name(letter)}")
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
        settings = ComparisonSettings(median_window=RECORDED_WINDOW)
        reference = drive.reference
        compared = compare_yaw(
            imu.table["yaw"], reference["yaw"], settings, reference.get("yaw_known")
        )
        if compared is None:
            raise RecordingError(f"{drive.name}: the IMU has no sample within its reference's time")
        return compared

    def comparison(self, experiment: Experiment) -> Compared:
        """Return what an experiment shows."""
        if experiment not in self._compared:
            from imu_simulation_framework.drive import in_process

            prepared = self.prepared(experiment.drive, experiment.until)
            self.say(f"{self.name(experiment.drive)}, {experiment.imu.name}, run {experiment.run}")
            configuration = self._configuration(
                experiment.drive,
                experiment.until,
                {
                    **experiment.imu.settings,
                    "control": {"controller": experiment.controller},
                    "experiment": {"seed": self.seed + experiment.seed},
                },
            )
            tables = in_process.run_prepared(configuration, prepared)
            settings = ComparisonSettings(median_window=experiment.window)
            run = RunDescription({"trajectory_scale": configuration.trajectory.scale})
            _, whole = evaluate(tables, settings, run)
            if whole.real is None or whole.simulated is None:
                raise RecordingError(f"{prepared.drive.name}: {' '.join(whole.remarks)}")
            self._compared[experiment] = Compared(whole, whole.real, whole.simulated)
            self.driven += float(tables.ground_truth.index[-1])
        return self._compared[experiment]

    def repetitions(self, letter, imu) -> list[Compared]:
        """Return all repetitions of an experiment with Hector's model."""
        first = REPEATED[letter, imu]
        return [self.comparison(one) for one in repeated(letter, imu, first)]

    def _configuration(self, letter, until, settings=None) -> Configuration:
        setup = self.setups[letter]
        one = RecordingSetup(
            setup.path, {name: dict(keys) for name, keys in setup.overrides.items()}
        )
        for section, values in {**_TERRAIN, **(settings or {})}.items():
            one.set(section, **values)
        if until is not None:
            start = one.load().trajectory.start or 0.0
            one.set("trajectory", stop=start + until)
        return one.load()


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
