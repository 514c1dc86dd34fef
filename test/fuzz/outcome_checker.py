"""Test oracle that runs each case in a separate folder and reports violated requirements."""

from __future__ import annotations

import shutil
from pathlib import Path

import targets
from program_result import Limits, ProgramResult, run_and_check
from reservations import reserved_port
from strategies.values import EXECUTED

DEFAULT_LIMITS = Limits()


class OutcomeChecker:
    """Test oracle, which keeps the files of the last failed case."""

    def __init__(self, base, limits=DEFAULT_LIMITS) -> None:
        self._base = Path(base)
        self._limits = limits
        self._number = 0
        self._kept_folder: Path | None = None
        targets.prepare()

    def __call__(self, case, as_command=False) -> ProgramResult:
        """Run a case and check its outcome.

        Parameters
        ----------
        case : Case
            Inputs and required outcome.
        as_command : bool, optional
            Whether to run the program as a command, not as a function in a forked process.

        Returns
        -------
        ProgramResult
            Outcome of the program, with violated requirements.
        """
        self._number += 1
        place = self._base / str(self._number)
        # The folder is two levels deeper, so that files written to ../.. are detected.
        folder = place / "a" / "case"
        folder.mkdir(parents=True)
        case.put_files(folder)
        if as_command:
            program = targets.command(case.tool, case.arguments)
        else:
            program = targets.program(case.tool, case.arguments, case.draws_figures)
        expected = targets.with_results(case)
        with reserved_port() as port:
            environment = _ros_environment(folder, port) if as_command else {}
            result = run_and_check(program, folder, expected, self._limits, environment)
        if any((parent / EXECUTED).exists() for parent in (folder, folder.parent)):
            result = result.with_violations("executes an input")
        if not result.violations:
            shutil.rmtree(place)
            return result
        if self._kept_folder is not None:
            shutil.rmtree(self._kept_folder, ignore_errors=True)
        self._kept_folder = place
        return result.with_violations(f"in {folder}: {case.command_text()}")


def _ros_environment(folder, port):
    home = f"{folder}.outcome/ros"
    places = {"ROS_HOME": home, "ROS_LOG_DIR": f"{home}/log", "PWD": str(folder)}
    return {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", **places}
