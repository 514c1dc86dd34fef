"""Simulation of the experiments of the thesis in this process."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Mapping, Sequence

from ...core.errors import ConfigurationError, RecordingError
from ...core.files import urdf_path
from ...heading.experiment_comparison import Comparison
from ...heading.yaw_comparison import ComparisonSettings, YawComparison, compare_yaw
from ...motion.drives import DRIVES
from ..configuration import Configuration
from ..recorded_drive.setup import CONFIGURATION_SUFFIX, set_up_named
from ..session.preparation import PreparationSession
from ..summary import RunDescription, evaluate
from .items import IMUS, RECORDED_WINDOW, Experiment


class Experiments:
    """Cache of the experiments of the thesis, each simulated only once, when it is first needed.

    Parameters
    ----------
    recordings : mapping of str to sequence of str
        Recording or config.ini, optionally followed by the IMU file, by letter of the drive. For
        other letters, the bundled drives are used.
    seed : int, optional
        Seed of all experiments.

    Attributes
    ----------
    driven : float
        Simulated duration of all experiments so far [s].
    description : str
        Simulator, seed and drives, for captions.
    own : str
        Letters of the drives that are not bundled.
    sources : dict of str to str
        Recording of each drive that has been read so far.
    """

    def __init__(self, recordings: Mapping[str, Sequence[str]], seed: int = 1) -> None:
        self.seed, self.driven = seed, 0.0
        self._setups = {letter: _setup(*recordings.get(letter, (letter,))) for letter in DRIVES}
        self.own = ", ".join(sorted(recordings)).upper()
        drives_text = f", user recordings for {self.own}" if self.own else ""
        self.description = f"robot in MuJoCo, seed {seed}, bundled synthetic drives{drives_text}"
        self.sources: dict[str, str] = {}
        # The methods are cached, because several figures use the same drive or experiment.
        self.prepared = lru_cache(maxsize=None)(self._prepared)
        self.recorded = lru_cache(maxsize=None)(self._recorded)
        self.compared = lru_cache(maxsize=None)(self._compared)

    def _prepared(self, letter: str, until: float | None = None) -> PreparationSession:
        from .. import in_process  # local import, because it needs MuJoCo

        prepared = in_process.prepared(self._configuration(letter, until))
        if prepared.recorded_imu is None:
            raise RecordingError(
                f"{prepared.drive.name}: [imu_recording] use is false, expected true for the "
                "comparison with the recorded IMU"
            )
        self.sources[drive_title(letter)] = prepared.drive.name
        return prepared

    def _recorded(self, letter: str) -> YawComparison:
        """Return the yaw error of the recorded IMU of a drive."""
        prepared = self.prepared(letter)
        reference, settings = prepared.drive.reference, ComparisonSettings(RECORDED_WINDOW)
        assert prepared.recorded_imu is not None  # guaranteed by _prepared
        yaw = prepared.recorded_imu.table["yaw"]
        compared = compare_yaw(yaw, reference["yaw"], settings, reference)
        if compared is None:
            raise RecordingError(
                f"{prepared.drive.name}: the IMU has no sample in the time range of its reference"
            )
        return compared

    def _compared(self, experiment: Experiment) -> Comparison:
        """Return the yaw errors of the recorded and the simulated IMU in an experiment."""
        from .. import in_process

        letter, imu, controller, robot, until, window, seed = experiment
        prepared, (model, parameters) = self.prepared(letter, until), IMUS[imu]
        configuration = self._configuration(
            letter,
            until,
            imu={"model": model},
            control={"controller": controller},
            robot={"parameters": str(urdf_path(robot)) if robot else ""},
            experiment={"seed": self.seed + seed},
            **{f"imu_{model}": parameters},
        )
        tables = in_process.run_prepared(configuration, prepared)
        run = RunDescription({"trajectory_scale": configuration.trajectory.scale})
        _, compared = evaluate(tables, ComparisonSettings(window), run)
        if compared.real is None or compared.simulated is None:
            raise RecordingError(f"{prepared.drive.name}: {' '.join(compared.remarks)}")
        self.driven += float(tables.ground_truth.index[-1])
        return compared

    def _configuration(self, letter: str, until: float | None, **settings) -> Configuration:
        setup = deepcopy(self._setups[letter])
        for section, values in {"terrain": {"kind": "flat"}, **settings}.items():
            setup.set(section, **values)
        if until is not None:
            setup.set("trajectory", stop=(setup.load().trajectory.start or 0.0) + until)
        return setup.load()


def drive_title(letter: str) -> str:
    """Return the title of a drive of the thesis.

    Parameters
    ----------
    letter : str
        Letter of the bundled drive, which corresponds to the drive in the thesis.

    Returns
    -------
    str
        For example ``drive A``.
    """
    return f"drive {letter.upper()}"


def _setup(text, *others):
    if len(others) > 1:
        raise ConfigurationError(
            f"{text}: {1 + len(others)} files, expected a recording, its config.ini, or one file "
            "with the reference and one with the IMU data"
        )
    if others and text.endswith(CONFIGURATION_SUFFIX):
        raise ConfigurationError(
            f"{text}: already names the IMU file, so that {others[0]} would be ignored; remove it"
        )
    return set_up_named(text, *others)
