"""Runs the nodes of an experiment by means of roslaunch, sees to it that they end, and says how."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import xmlrpc.client
from dataclasses import dataclass, field
from http.client import HTTPException

import rosgraph
import roslaunch
import roslaunch.parent
import roslaunch.pmon
from roslaunch.pmon import ProcessListener

from ...core.errors import FrameworkError
from ...core.progress import DRIVE_BAR, progress_bar
from ...drive.experiment_arguments import EXPERIMENT_PARAMETERS
from ...drive.results.files import ResultFolder, tidy
from ...drive.results.record import ENDING as SAMPLES
from ...drive.summary import terminal_table
from ..answers import MASTER_TIMEOUT, NoAnswerError, ask_master
from ..entry_points import INTERRUPTED
from ..experiment_state import FAILURE, PROGRESS, RESULT
from . import guardian
from .alone import ensure_alone
from .guardian import LEADER

_ESCAPE = re.compile(r"\x1b(\[[\d;]*m|\][^\a]*\a)")
"""Colours, bold type and the title of a terminal's window."""


class Plain:
    """A stream without the codes that only a terminal understands."""

    def __init__(self, stream) -> None:
        self._stream = stream

    def write(self, text) -> int:
        self._stream.write(_ESCAPE.sub("", text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


@contextlib.contextmanager
def _printing(verbose: bool):
    """Let what roslaunch prints be seen by who has asked for it; warnings and errors always are.

    Yields a file, where those lines go that are for everybody.
    """
    everybody = sys.stdout
    with open(os.devnull, "w") as nowhere, contextlib.ExitStack() as redirected:
        stdout = sys.stdout if verbose else nowhere
        redirected.enter_context(contextlib.redirect_stdout(_as_shown(stdout)))
        redirected.enter_context(contextlib.redirect_stderr(_as_shown(sys.stderr)))
        yield everybody


def _as_shown(stream):
    return stream if stream.isatty() else Plain(stream)


WRITER = "result_comparison"

_NAMES = {"master": "the ROS master"}
_WELL_ENDED = (0, INTERRUPTED)


@dataclass
class Outcome:
    """What is known when all nodes have ended.

    ``result``: folder and prefix of the results; ``failure``: the sentence of the node that failed
    first; ``node``: who ended first, because of which all others were ended; ``codes``: exit code
    of each node, negative for a signal, None if it could not be had; ``fault``: why the launcher
    itself has ended the experiment, else empty.
    """

    result: str | None = None
    failure: str | None = None
    node: str | None = None
    codes: dict = field(default_factory=dict)
    fault: str = ""

    @property
    def folder(self) -> ResultFolder | None:
        """Where the results are."""
        with contextlib.suppress(FrameworkError):
            return ResultFolder.from_prefix(self.result) if self.result else None
        return None

    @property
    def summary(self) -> dict | None:
        """What the results say; None without any."""
        with contextlib.suppress(FrameworkError, ValueError):
            return json.loads(self.folder.read_text("summary.json")) if self.folder else None
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
        written = [self.codes.get(name, 0) in _WELL_ENDED for name in guardian.SAVING_NODES]
        return 0 if all(written) else 1

    def last_line(self) -> str:
        """Why it ended, in one line; empty after a success."""
        if self.interrupted:
            saved = "what was recorded is saved" if self.summary else "nothing was recorded"
            return f"interrupted: {saved}"
        if self.exit_code() == 0:
            return ""
        node = self.node or ""
        reason = self.fault or f"{_NAMES.get(node, node)} {_ended(self.codes[node])}"
        folder = self.folder
        if self.failure:
            reason += f": {self.failure}"
        elif folder is not None and any(folder.folder.glob(f"{folder.prefix}_*.{SAMPLES}")):
            # A killed node has left what it had recorded, but no tables.
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


GUARDIAN = "guardian"

VIEWS = ("yaw_view", "yaw_multiplot")
"""Windows that stay after a drive until a person closes them; without a display there are none."""

_ASIDE = ("rosout", "robot_state_publisher", "path_view", "rviz", "gazebo_gui")
BYSTANDERS = (GUARDIAN, *VIEWS, *_ASIDE)
"""An experiment goes on without them: a person may close a window."""

LOOK_PERIOD = 0.1

MONITOR_TIMEOUT = 5.0  # wall-clock seconds for roslaunch to see that all processes have ended


class _Ends(ProcessListener):
    """Remembers how each node ended, and who was the first; the others are ended because of it.

    When nobody was, the experiment was interrupted.
    """

    def __init__(self) -> None:
        self.first: str | None = None
        self.codes: dict[str, int | None] = {}

    def process_died(self, process_name, exit_code):
        name = _node_name(process_name)
        self.codes[name] = exit_code
        if self.first is None and name not in BYSTANDERS:
            self.first = name


class _Monitor(roslaunch.pmon.ProcessMonitor):
    """roslaunch's monitor of processes, which leaves it to us to end them.

    It, or its signal handlers, would send SIGINT to whatever has been started, which prints a
    traceback where an interpreter is still starting.
    """

    def __init__(self, is_ending) -> None:
        super().__init__()
        self._is_ending = is_ending

    def register(self, process):
        """Take in a process that is about to be started, unless all are to end."""
        if self._is_ending():
            raise roslaunch.RLException("the experiment ends")
        # The end of one that is required is seen by who watches; roslaunch would call it a death
        # even after a success.
        process.required = False
        super().register(process)

    def unregister(self, process):
        """Forget a process; one that was taken out of roslaunch's hands is forgotten already."""
        with contextlib.suppress(ValueError):
            super().unregister(process)


def _node_name(process_name) -> str:
    """roslaunch appends ``-<number>`` to the node's name."""
    head, dash, number = process_name.rpartition("-")
    return head if dash and number.isdigit() else process_name


def run(config, patience: float, verbose: bool = True) -> Outcome:
    """Run the nodes until one of them ends.

    Raises FrameworkError: nothing was started. ``patience``: wall-clock seconds that a node which
    was stopped, or a master that is silent, is waited for; ``verbose``: whether roslaunch and the
    nodes print more than warnings; otherwise it is in their logs, and the progress is shown.
    """
    config.nodes = [node for node in config.nodes if node.name != GUARDIAN]
    for node in config.nodes if not verbose else ():
        # Warnings and errors are shown even so: they go to standard error.
        node.output = "log"
    ensure_alone([rosgraph.names.ns_join(node.namespace, node.name) for node in config.nodes])
    config.add_param(
        roslaunch.core.Param(f"/{EXPERIMENT_PARAMETERS}/supervised", True), verbose=False
    )
    # roslaunch asks the master without a limit of its own.
    socket.setdefaulttimeout(MASTER_TIMEOUT)
    os.environ[guardian.MARK] = f"{os.getpid()}-{secrets.token_hex(8)}"
    watcher = subprocess.Popen(
        [sys.executable, "-m", "imu_simulation_framework.ros1.launching.guardian", guardian.MARKED],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        # Until it has a handler; from a starting interpreter it would get a traceback.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        with _printing(verbose) as everybody, progress_bar(
            desc="starting", disable=verbose or None, leave=False, bar_format="{desc}, {elapsed}"
        ) as bar:
            return _Run(config, patience, everybody, bar).outcome()
    finally:
        watcher.kill()
        watcher.wait()


class _Run:
    def __init__(self, config, patience, everybody, bar) -> None:
        self._patience = patience
        self._everybody = everybody
        self._bar = bar
        self._ends = _Ends()
        self._outcome = Outcome()
        self._processes: dict = {}
        self._stopped_since: dict[str, float] = {}
        self._answered_at = time.monotonic()
        self._interrupted = False
        self._parent = roslaunch.parent.ROSLaunchParent(
            roslaunch.rlutil.get_or_generate_uuid(None, False),
            [],
            show_summary=False,
            sigint_timeout=guardian.ENDING_TIMEOUT,
        )
        self._parent.config = config
        # Listened to from the beginning, since a node may end before all of them are started.
        self._monitor = self._parent.pm = _Monitor(self._is_ending)
        self._monitor.add_process_listener(self._ends)
        self._monitor.start()
        self._catch_signals()

    def outcome(self) -> Outcome:
        """Run to the end; say how it ended."""
        outcome = self._outcome
        try:
            self._parent.start()
            self._take_in_processes()
            for process in list(self._monitor.procs):
                if _node_name(process.name) in guardian.SAVING_NODES:
                    process.sigint_timeout = guardian.SAVING_TIMEOUT
            self._watch(lambda: self._ends.first is not None)
        except (roslaunch.RLException, OSError, HTTPException, xmlrpc.client.Error) as error:
            # A node that ended, or an interruption, is the reason why the next cannot be started.
            if not (self._monitor.is_shutdown or self._is_ending()):
                outcome.fault = f"roslaunch could not start it: {error}"
        finally:
            if self._is_over():
                self._await_results()
            # Whoever ends from here on was told to.
            first = self._ends.first
            ended_by_us = self._interrupted or outcome.fault
            # What nodes have left for us; they may have failed a moment ago.
            outcome.result = outcome.result or self._parameter(RESULT)
            outcome.failure = self._parameter(FAILURE)
            if self._is_over():
                self._keep_views()
            self._end()
        outcome.node = first if ended_by_us else self._ends.first
        outcome.codes = {name: _code_of(process) for name, process in self._processes.items()}
        outcome.codes.update(self._ends.codes)
        if outcome.folder is not None:
            tidy(outcome.folder)
        return outcome

    def _is_over(self) -> bool:
        """Whether the robot has driven to the end."""
        return self._ends.first == LEADER and self._ends.codes[LEADER] == 0

    def _watch(self, has_happened) -> None:
        """Wait until something has happened, an interruption, or what is a fault."""
        while not (self._interrupted or self._monitor.is_shutdown):
            self._outcome.result = self._outcome.result or self._parameter(RESULT)
            if has_happened():
                return
            self._outcome.fault = self._who_is_stopped() or self._is_master_silent()
            if self._outcome.fault:
                return
            time.sleep(LOOK_PERIOD)

    def _catch_signals(self) -> None:
        ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        # It does so once, when the first process is started.
        roslaunch.pmon._init_signal_handlers()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        if ignored:  # nohup
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _is_ending(self) -> bool:
        return self._interrupted or self._ends.first is not None

    def _on_signal(self, *_) -> None:
        self._interrupted = True

    def _take_in_processes(self) -> None:
        for process in list(self._monitor.procs):
            # roslaunch forgets it when it has ended it, and starts a rosout that died once more.
            if process.popen is not None:
                self._processes[_node_name(process.name)] = process.popen

    def _parameter(self, name):
        try:
            return ask_master("getParam", f"/{name}", timeout=self._patience)
        except NoAnswerError:
            return None

    def _who_is_stopped(self) -> str:
        """Say which node was stopped (SIGSTOP) for too long; end a bystander that was."""
        now = time.monotonic()
        for name, process in self._processes.items():
            if process.poll() is not None or not guardian.is_stopped(process.pid):
                self._stopped_since.pop(name, None)
                continue
            stopped = now - self._stopped_since.setdefault(name, now)
            if name in BYSTANDERS and stopped > 0.5 * self._patience:
                self._say(f"{name} was stopped (SIGSTOP), and is ended: others would wait for it")
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            elif stopped > 2.0 * self._patience:
                return f"{name} was stopped (SIGSTOP) for {2.0 * self._patience:g} s"
        return ""

    def _is_master_silent(self) -> str:
        now = time.monotonic()
        if now - self._answered_at < 1.0:
            return ""
        try:
            ask_master("getPid", timeout=2.0 * self._patience)
        except NoAnswerError as error:
            master = self._processes.get("master")
            # One that has ended is noticed as a process.
            return "" if master is not None and master.poll() is not None else str(error)
        self._answered_at = time.monotonic()
        self._show_progress()
        return ""

    def _show_progress(self) -> None:
        if self._bar.disable:
            return
        bar = self._bar
        with contextlib.suppress(NoAnswerError):
            # Simulated time and all that is to be simulated; nothing before the drive.
            progress = ask_master("getParam", f"/{PROGRESS}", timeout=self._patience)
            if progress is not None:
                done, bar.total = progress
                bar.desc = "driving" if done < bar.total - 0.05 else "writing results"
                bar.bar_format = DRIVE_BAR
                bar.n = done
            bar.refresh()

    def _say(self, sentence) -> None:
        self._bar.clear()
        print(sentence, file=self._everybody, flush=True)

    def _await_results(self) -> None:
        """End those that have driven, which makes room, and wait for the results.

        The drive's end is no good end of the experiment when these are missing.
        """
        self._take_in_processes()
        self._end_all_but((WRITER, *VIEWS))
        writer = self._processes[WRITER]
        self._watch(lambda: writer.poll() is not None)
        if self._interrupted:
            self._ends.first = None
        elif writer.poll() not in (None, *_WELL_ENDED):
            self._ends.first, self._ends.codes[WRITER] = WRITER, writer.poll()

    def _end_all_but(self, names) -> None:
        """End all nodes but these and the master's."""
        others = {}
        for process in list(self._monitor.procs):
            if process in self._monitor.core_procs or _node_name(process.name) in names:
                continue
            # Not watched any more, since its end is no death to be reported in red.
            self._monitor.unregister(process)
            others[process.popen.pid] = guardian.started(process.popen.pid)
        guardian.end_all(others)

    def _keep_views(self) -> None:
        """Return when a person has closed the views."""
        views = [self._processes[name] for name in VIEWS if name in self._processes]
        if all(view.poll() is not None for view in views):
            return
        self._say(
            "the drive is over and saved; the live view stays until its window is closed, or "
            "until Ctrl+C"
        )
        while any(view.poll() is None for view in views):
            if self._interrupted or self._monitor.is_shutdown:
                return
            time.sleep(LOOK_PERIOD)

    def _end(self) -> None:
        """End all nodes, in time: without memory roslaunch itself would wait for ever."""
        self._take_in_processes()
        processes = {
            process.pid: guardian.started(process.pid) for process in self._processes.values()
        }
        # Out of roslaunch's hands: it would tell each node a second time, and call it dead.
        with self._monitor.plock:
            del self._monitor.procs[:]
            del self._monitor.core_procs[:]
        guardian.end_all(processes)
        self._monitor.shutdown()
        self._monitor.join(MONITOR_TIMEOUT)
        if not self._monitor.is_alive():
            self._parent.shutdown()


def _code_of(process):
    try:
        return process.wait(1.0)
    except subprocess.TimeoutExpired:
        return None


def report(outcome: Outcome) -> int:
    """Print the results and, last, why the experiment ended early; return the exit code."""
    if outcome.summary is not None:
        print(terminal_table(outcome.summary))
    if outcome.folder is not None:
        print(f"results: {outcome.folder.folder}")
    if outcome.last_line():
        print(outcome.last_line())
    return outcome.exit_code()
