"""The judge of cases: runs each in a folder of its own and lists the shortcomings."""

from __future__ import annotations

import shutil
from pathlib import Path

import targets
from reservations import reserved_port
from strategies.values import EXECUTED
from verdict import Limits, Verdict, run_judged

DEFAULT_LIMITS = Limits()


class Judge:
    """Runs cases below a folder; keeps the files of the last case that fell short."""

    def __init__(self, base, limits=DEFAULT_LIMITS) -> None:
        self._base = Path(base)
        self._limits = limits
        self._number = 0
        self._short: Path | None = None
        targets.prepare()

    def __call__(self, case, own_process=False) -> Verdict:
        """Run a case to its end.

        Parameters
        ----------
        case : Case
            The inputs and the required ending.
        own_process : bool, optional
            Whether the tool starts as a command; a forked function spares the start.

        Returns
        -------
        Verdict
            The ending and the shortcomings; of the last case with any the folder is kept.
        """
        self._number += 1
        place = self._base / str(self._number)
        # Deep enough that files written to ../.. are found.
        folder = place / "a" / "case"
        folder.mkdir(parents=True)
        case.put_files(folder)
        if own_process:
            program = targets.command(case.tool, case.arguments)
        else:
            program = targets.program(case.tool, case.arguments, case.draws_figures)
        expected = targets.with_results(case)
        with reserved_port() as port:
            environment = _ros_environment(folder, port) if own_process else {}
            verdict = run_judged(program, folder, expected, self._limits, environment)
        if any((parent / EXECUTED).exists() for parent in (folder, folder.parent)):
            verdict = verdict.with_short("executes an input")
        if not verdict.short:
            shutil.rmtree(place)
            return verdict
        if self._short is not None:
            shutil.rmtree(self._short, ignore_errors=True)
        self._short = place
        return verdict.with_short(f"in {folder}: {case.command_text()}")


def _ros_environment(folder, port):
    home = f"{folder}.judge/ros"
    places = {"ROS_HOME": home, "ROS_LOG_DIR": f"{home}/log", "PWD": str(folder)}
    return {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", **places}
