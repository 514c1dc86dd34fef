"""The same question as a command line, and as lines of Python."""

from __future__ import annotations

import shlex
from typing import Mapping

from imu_simulation_framework.explore.answers import Moved, described
from imu_simulation_framework.explore.question import Question, time_text
from imu_simulation_framework.motion.drives import DRIVES


class Words:
    """Says questions in words.

    ``written``: what a person calls those parts and drives that have another name on the page, as
    a file's path.
    """

    def __init__(self, written: Mapping[str, str] | None = None) -> None:
        self.written = {} if written is None else written

    def budget_command(self, question: Question, moved: Moved) -> str:
        """Return the call of heading_budget.py that gives the same answer."""
        words = ["heading_budget.py", *self._motion(question), *self._imus(question)]
        return shlex.join([*words, "--at", time_text(moved.at), *_asked(question)])

    def ranking_command(self, question: Question, moved: Moved) -> str:
        """Return the call of which_imu.py that ranks the same parts."""
        words = ["which_imu.py", *self._motion(question), "--for", time_text(moved.at)]
        if question.ranked == "chosen":
            words += self._imus(question)
        return shlex.join([*words, *_asked(question)])

    def python_lines(self, question: Question, moved: Moved, step: float) -> str:
        """Return lines of Python that give the same answer; ``step``: of the models [s]."""
        names = [self.written.get(name, name) for name in question.imu]
        several = len(names) > 1
        imu = "name" if several else repr(names[0])
        read = f"isf.read_part({imu})"
        if question.unit == "this":
            read = f"isf.read_imu_specification({imu}).this_unit()"
        elif question.unit == "any":
            read = f"{read}.any_unit()"
        model = f"isf.yaw_error_model({read}, motion, {step:.12g}, operation=operation)"
        lines = [
            f"model = {model}.until({round(moved.at / step) + 1})",
            f"print(isf.heading.heading_answer(model, limit).sentence({imu}, limit))",
        ]
        if several:
            lines = [f"for name in {names}:", *(f"    {line}" for line in lines)]
        head = (
            "import imu_simulation_framework as isf",
            f"operation, limit = {_python_operation(question)}, {question.limit_angle:.12g}",
            f"motion = operation.moved({self._python_motion(question)})",
        )
        return "\n".join([*head, *lines])

    def _imus(self, question):
        names = (self.written.get(name, name) for name in question.imu)
        return [word for name in names for word in ("--imu", name)]

    def _motion(self, question):
        amount, speed = described(question), ("--speed", f"{question.speed:.12g}")
        if question.motion == "drive":
            return [self.written.get(question.drive, question.drive)]
        if question.motion == "straight":
            return ["--straight", time_text(amount)]
        if question.motion == "circles":
            return ["--rounds", f"{amount:.12g}", "--radius", f"{question.radius:.12g}", *speed]
        lane = ("--length", f"{question.length:.12g}", "--width", f"{question.width:.12g}")
        return ["--mowing", f"{amount:.0f}", *lane, *speed]

    def _python_motion(self, question):
        amount, speed = described(question), f"{question.speed:.12g}"
        if question.motion == "drive":
            read = "read_drive" if question.drive in DRIVES else "read_motion"
            return f"isf.{read}({self.written.get(question.drive, question.drive)!r})"
        if question.motion == "straight":
            return f"isf.straight({amount:.12g})"
        if question.motion == "circles":
            return f"isf.rounds({amount:.12g}, {question.radius:.12g}, {speed})"
        return f"isf.mowing({amount:.0f}, {question.length:.12g}, {question.width:.12g}, {speed})"


def _asked(question):
    operation = question.operation
    words = ["--within", f"{question.limit:.12g}deg"]
    if question.unit != "stated":
        words += ["--unit", question.unit]
    words += ["--standstill", time_text(operation.standstill)]
    if operation.stops != "none":
        words += ["--stops", operation.stops]
    if operation.warm_up:
        words += ["--warm-up", time_text(operation.warm_up)]
    return words


def _python_operation(question):
    operation = question.operation
    arguments = [f"standstill={operation.standstill:.12g}"]
    if operation.stops != "none":
        arguments.append(f"stops={operation.stops!r}")
    if operation.warm_up:
        arguments.append(f"warm_up={operation.warm_up:.12g}")
    return f"isf.Operation({', '.join(arguments)})"
