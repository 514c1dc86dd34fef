"""Figures of the thesis: statements of the thesis, and the experiments that a figure shows."""

from __future__ import annotations

import csv
from functools import lru_cache
from typing import NamedTuple, Sequence

from ...core.errors import ConfigurationError
from ...core.files import package_share, read_settings

NOT_MADE = "cannot be made"
"""Statement on a figure whose content is unknown."""

GENERIC_FIRST, GENERIC = "generic, 0.00105", "generic, 0.00215"
HECTOR, HECTOR_SLOW = "Hector, 0.5 rad at 0.005 Hz", "Hector, 1.118 rad at 0.001 Hz"
IMUS: dict[str, tuple[str, dict[str, float]]] = {
    GENERIC_FIRST: ("generic", {"gaussian_noise": 0.00105}),
    GENERIC: ("generic", {"gaussian_noise": 0.00215}),
    HECTOR: ("hector", {"yaw_drift": 0.5, "yaw_drift_frequency": 0.005}),
    HECTOR_SLOW: ("hector", {"yaw_drift": 1.118, "yaw_drift_frequency": 0.001}),
}
"""Model and parameters of each simulated IMU of the thesis."""

RECORDED_WINDOW = 5.91
"""Window of the median by which the thesis smooths the recorded errors of all drives [s]."""

_RUNS = 3  # repetitions of each experiment with Hector's model, as in the thesis


class Experiment(NamedTuple):
    """A drive with one of :data:`IMUS`.

    Attributes
    ----------
    drive : str
        Letter of the drive.
    imu : str
        Key of :data:`IMUS`.
    controller : str
        Name of the controller.
    robot : str
        File in urdf/, empty for the bundled robot.
    until : float or None
        End of the drive [s]; None for the whole drive.
    window : float
        Window of the trend's median [s].
    seed : int
        Number that is added to the seed of all experiments.
    """

    drive: str
    imu: str
    controller: str
    robot: str
    until: float | None
    window: float
    seed: int


class Item(NamedTuple):
    """A figure of the thesis, or two figures that are shown as a single one here.

    Attributes
    ----------
    label : str
        Numbers of the figures, as ``4.6, 4.7``.
    title : str
        Title.
    shown : str
        Key of :data:`.FIGURES`, for the first experiment; or ``paths``, ``errors`` or ``spectra``
        of several experiments. Without experiments, these show the recorded IMUs of all drives.
        Empty if the figure cannot be made.
    experiments : tuple of Experiment
        Experiments.
    thesis : str
        Statement of the thesis.
    why : str
        Reason for the difference between the thesis and this package.
    """

    label: str
    title: str
    shown: str
    experiments: tuple[Experiment, ...]
    thesis: str
    why: str

    @property
    def file(self) -> str:
        """Name of the file without ending, as ``figure_4_06_4_07``, in the order of numbers."""
        parts = (number.split(".") for number in self.label.split(", "))
        return "figure_" + "_".join(f"{chapter}_{place.zfill(2)}" for chapter, place in parts)


@lru_cache(maxsize=None)
def thesis_items() -> dict[str, Item]:
    """Read the figures of ``config/thesis.csv``.

    Hector's experiments are repeated with seeds of their own: Hector's drift does not depend on the
    motion, so that four drives with the same seed would show the same drift.

    Returns
    -------
    dict of str to Item
        Figures by their labels, in the order of the thesis.
    """
    text = read_settings(package_share() / "config" / "thesis.csv")
    items: dict[str, Item] = {}
    first_seeds: dict[tuple, int] = {}
    for label, title, shown, *experiment, thesis, why in csv.reader(text.splitlines()[1:]):
        drive, imu, controller, robot, until, window = experiment
        seeds = range(1)
        if imu in (HECTOR, HECTOR_SLOW):
            first = first_seeds.setdefault((drive, imu), 1 + _RUNS * len(first_seeds))
            seeds = range(first, first + _RUNS)
        end = float(until) if until else None
        experiments = (
            Experiment(drive, imu, controller, robot, end, float(window or 0.0), seed)
            for seed in seeds
            if imu
        )
        items[label] = Item(label, title, shown, tuple(experiments), thesis, why)
    return items


def choose_items(numbers: Sequence[str]) -> list[Item]:
    """Choose figures by their numbers.

    Parameters
    ----------
    numbers : sequence of str
        Numbers as in the thesis; ``3.10`` chooses 3.10a and 3.10b. All figures if empty.

    Returns
    -------
    list of Item
        Figures in the order of the thesis.

    Raises
    ------
    ConfigurationError
        A number is unknown, or none of the figures can be made.
    """
    items = thesis_items()
    if not numbers:
        return list(items.values())
    names = {
        label: {name for number in label.split(", ") for name in (number, number.rstrip("ab"))}
        for label in items
    }
    unknown = [number for number in numbers if number not in set().union(*names.values())]
    if unknown:
        first, *_, last = items
        raise ConfigurationError(f"there is no figure '{unknown[0]}' here, only {first} to {last}")
    chosen = [item for label, item in items.items() if names[label] & set(numbers)]
    if not any(item.shown for item in chosen):
        raise ConfigurationError(f"figure {chosen[0].label} {NOT_MADE}: {chosen[0].why}")
    return chosen
