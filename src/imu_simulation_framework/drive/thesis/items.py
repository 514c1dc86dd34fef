"""Figures of the thesis, with its statements and the experiments that the figures show."""

from __future__ import annotations

import csv
from functools import lru_cache
from typing import NamedTuple, Sequence

from ...core.errors import ConfigurationError
from ...core.files import package_share, read_settings

NOT_MADE = "cannot be made"
"""Statement about a figure that cannot be reproduced."""

GENERIC_FIRST, GENERIC = "generic, 0.00105", "generic, 0.00215"
HECTOR, HECTOR_SLOW = "Hector, 0.5 rad at 0.005 Hz", "Hector, 1.118 rad at 0.001 Hz"
IMUS: dict[str, tuple[str, dict[str, float]]] = {
    GENERIC_FIRST: ("generic", {"gaussian_noise": 0.00105}),
    GENERIC: ("generic", {"gaussian_noise": 0.00215}),
    HECTOR: ("hector", {"yaw_drift": 0.5, "yaw_drift_frequency": 0.005}),
    HECTOR_SLOW: ("hector", {"yaw_drift": 1.118, "yaw_drift_frequency": 0.001}),
}
"""Models and parameters of the simulated IMUs in the thesis."""

RECORDED_WINDOW = 5.91
"""Window of the median filter with which the thesis smooths all recorded errors [s]."""

_RUNS = 3  # number of repetitions of each experiment with Hector's model, as in the thesis


class Experiment(NamedTuple):
    """Drive with a simulated IMU from :data:`IMUS`.

    Attributes
    ----------
    drive : str
        Letter of the drive.
    imu : str
        Key of :data:`IMUS`.
    controller : str
        Name of the controller.
    robot : str
        File in urdf/; empty for the default robot.
    until : float or None
        End of the drive [s]; None for the complete drive.
    window : float
        Window of the median filter for the trend [s].
    seed : int
        Offset from the seed of all experiments.
    """

    drive: str
    imu: str
    controller: str
    robot: str
    until: float | None
    window: float
    seed: int


class Item(NamedTuple):
    """Figure of the thesis, or two figures of the thesis that are combined here.

    Attributes
    ----------
    label : str
        Figure numbers, for example ``4.6, 4.7``.
    title : str
        Title of the figure.
    shown : str
        Key of :data:`.FIGURES`, for the first experiment; or ``paths``, ``errors`` or ``spectra``,
        for several experiments. Without experiments, these figures show the recorded IMUs of all
        drives. Empty if the figure cannot be reproduced.
    experiments : tuple of Experiment
        Experiments shown in the figure.
    thesis : str
        Statement in the thesis.
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
        """File name without suffix, such as ``figure_4_06_4_07``, which sorts by number."""
        parts = (number.split(".") for number in self.label.split(", "))
        return "figure_" + "_".join(f"{chapter}_{place.zfill(2)}" for chapter, place in parts)


@lru_cache(maxsize=None)
def thesis_items() -> dict[str, Item]:
    """Read the figures of ``config/thesis.csv``.

    Experiments with Hector's model are repeated with different seeds. Hector's drift does not
    depend on the motion, so that four drives with the same seed would have the same drift.

    Returns
    -------
    dict of str to Item
        Figures by label, in the order of the thesis.
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
        Figure numbers in the thesis; ``3.10`` selects 3.10a and 3.10b. All figures if empty.

    Returns
    -------
    list of Item
        Figures in the order of the thesis.

    Raises
    ------
    ConfigurationError
        A number is unknown, or none of the figures can be reproduced.
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
        raise ConfigurationError(
            f"figure '{unknown[0]}' is unknown, expected one from {first} to {last}"
        )
    selected = [item for label, item in items.items() if names[label] & set(numbers)]
    if not any(item.shown for item in selected):
        raise ConfigurationError(f"figure {selected[0].label} {NOT_MADE}: {selected[0].why}")
    return selected
