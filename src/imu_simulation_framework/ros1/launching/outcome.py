"""How an experiment ended: what its results say, its exit code, and the last line."""

from __future__ import annotations

import contextlib
import json
import signal
from dataclasses import dataclass, field

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.drive.results.record import ENDING as SAMPLES
from imu_simulation_framework.ros1.entry_points import INTERRUPTED
from imu_simulation_framework.ros1.launching.processes import SAVING_NODES

LEADER = "path_follower"

_NAMES = {"master": "the ROS master"}
_WELL_ENDED = (0, INTERRUPTED)


@dataclass
class Outcome:
    """What is known when all nodes have ended.

    Attributes
    ----------
    result : str or None
        Folder and prefix of the results.
    failure : str or None
        The sentence of the node that failed first.
    node : str or None
        Who ended first, because of which all others were ended.
    codes : dict
        Exit code of each node, negative for a signal, None if it could not be had.
    fault : str
        Why the launcher itself has ended the experiment, else empty.
    """

    result: str | None = None
    failure: str | None = None
    node: str | None = None
    codes: dict = field(default_factory=dict)
    fault: str = ""

    @property
    def folder(self) -> ResultFolder | None:
        """Where the results are."""
        try:
            return ResultFolder.from_prefix(self.result) if self.result else None
        except FrameworkError:
            return None

    @property
    def summary(self) -> dict | None:
        """What the results say; None without any."""
        folder = self.folder
        if folder is None or not folder.path("summary.json").exists():
            return None
        try:
            return json.loads(folder.read_text("summary.json"))
        except (FrameworkError, ValueError):
            return None

    @property
    def completed(self) -> bool:
        """Whether the drive was recorded to its end."""
        summary = self.summary
        return summary is not None and summary["run"]["completed"] is True

    @property
    def interrupted(self) -> bool:
        """Whether somebody has ended the experiment as a whole."""
        return self.node is None and not self.fault

    def exit_code(self) -> int:
        """0 only for a drive that was recorded to its end, and written as a whole."""
        if self.interrupted:
            return INTERRUPTED
        if not self.completed or self.codes.get(LEADER) == 1:
            return 1
        # Whoever else ended when the drive was over was not needed any more.
        written = [self.codes.get(name, 0) in _WELL_ENDED for name in SAVING_NODES]
        return 0 if all(written) else 1

    def _has_samples(self) -> bool:
        """Whether a killed node has left what it had recorded, but no tables."""
        folder = self.folder
        return folder is not None and any(folder.folder.glob(f"{folder.prefix}_*.{SAMPLES}"))

    def last_line(self) -> str:
        """Why it ended, in one line; empty after a success."""
        if self.interrupted:
            saved = "what was recorded is saved" if self.summary else "nothing was recorded"
            return f"interrupted: {saved}"
        if self.exit_code() == 0:
            return ""
        node = self.node or ""
        reason = self.fault or f"{_NAMES.get(node, node)} {_ended(self.codes[node])}"
        if self.failure:
            reason += f": {self.failure}"
        elif self._has_samples():
            reason += "; offline_result_comparison.py makes results of what it had recorded"
        elif self.completed:
            reason += ", the drive was over, but nobody could make sure that everything is written"
        return " ".join(f"the experiment ended early: {reason}".split())


def _ended(code) -> str:
    if code == INTERRUPTED:
        return "was told to end"
    if code is not None:
        # A shell that has started the program adds 128.
        number = -code if code < 0 else code - 128
        with contextlib.suppress(ValueError):
            return f"ended with code {code} ({signal.Signals(number).name})"
    return f"ended with code {code}"
