"""Supervision of an experiment: start with roslaunch, termination of all nodes, and outcome."""

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
from ..blocking_calls import MASTER_TIMEOUT, NoAnswerError, ask_master
from ..entry_points import INTERRUPTED
from ..experiment_state import FAILURE, PROGRESS, RESULT
from . import guardian
from .guardian import LEADER
from .name_conflicts import check_names_are_free

# Escape sequences for terminal colours, bold type and window titles.
_ESCAPE = re.compile(r"\x1b(\[[\d;]*m|\][^\a]*\a)")


class PlainTextStream:
    """Stream that removes terminal escape sequences.

    Parameters
    ----------
    stream : file object
        Output stream.
    """

    def __init__(self, stream) -> None:
        self._stream = stream

    def write(self, text) -> int:
        """Write a text without escape sequences.

        Parameters
        ----------
        text : str
            Text with escape sequences.

        Returns
        -------
        int
            Number of characters in the text.
        """
        self._stream.write(_ESCAPE.sub("", text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return False, because the stream is not a terminal.

        Returns
        -------
        bool
            False.
        """
        return False


@contextlib.contextmanager
def _redirect_output(verbose: bool):
    """Hide the output of roslaunch if ``verbose`` is false; yield the stream for other output.

    Warnings and errors are always shown.
    """
    terminal = sys.stdout
    with open(os.devnull, "w") as null_file, contextlib.ExitStack() as redirected:
        stdout = sys.stdout if verbose else null_file
        redirected.enter_context(contextlib.redirect_stdout(_strip_escapes(stdout)))
        redirected.enter_context(contextlib.redirect_stderr(_strip_escapes(sys.stderr)))
        yield terminal


def _strip_escapes(stream):
    return stream if stream.isatty() else PlainTextStream(stream)


WRITER = "result_comparison"

_NAMES = {"master": "the ROS master"}
_REGULAR_EXIT_CODES = (0, INTERRUPTED)


@dataclass
class Outcome:
    """Outcome of an experiment after all nodes have ended.

    Attributes
    ----------
    result : str or None
        Folder and prefix of the results.
    failure : str or None
        Error message of the node that failed first.
    node : str or None
        Name of the first node that ended, which ended the experiment.
    codes : dict of str to (int or None)
        Exit codes of the nodes, negative for a signal, None if unknown.
    fault : str
        Reason why the launcher ended the experiment; empty if it did not.
    """

    result: str | None = None
    failure: str | None = None
    node: str | None = None
    codes: dict = field(default_factory=dict)
    fault: str = ""

    @property
    def folder(self) -> ResultFolder | None:
        """Result folder; None if there are no results."""
        with contextlib.suppress(FrameworkError):
            return ResultFolder.from_prefix(self.result) if self.result else None
        return None

    @property
    def summary(self) -> dict | None:
        """Summary of the results; None if there is no summary."""
        with contextlib.suppress(FrameworkError, ValueError):
            return json.loads(self.folder.read_text("summary.json")) if self.folder else None
        return None

    @property
    def completed(self) -> bool:
        """Whether the complete drive was recorded."""
        summary = self.summary
        return summary is not None and summary["run"]["completed"] is True

    @property
    def interrupted(self) -> bool:
        """Whether a signal interrupted the experiment before a node ended or a fault occurred."""
        return self.node is None and not self.fault

    def exit_code(self) -> int:
        """Return the exit code of the launcher.

        Returns
        -------
        int
            0 if the complete drive was recorded and written.
        """
        if self.interrupted:
            return INTERRUPTED
        if not self.completed or self.codes.get(LEADER) == 1:
            return 1
        # After the end of the drive, only the exit codes of nodes that save data are relevant.
        has_written = [
            self.codes.get(name, 0) in _REGULAR_EXIT_CODES for name in guardian.SAVING_NODES
        ]
        return 0 if all(has_written) else 1

    def final_message(self) -> str:
        """Return the reason why the experiment ended, in one line.

        Returns
        -------
        str
            Line for the terminal; empty after success.
        """
        if self.interrupted:
            saved = "the recorded data are saved" if self.summary else "nothing was recorded"
            return f"interrupted: {saved}"
        if self.exit_code() == 0:
            return ""
        node = self.node or ""
        reason = self.fault or f"{_NAMES.get(node, node)} {_ended(self.codes[node])}"
        folder = self.folder
        if self.failure:
            reason += f": {self.failure}"
        elif folder is not None and any(folder.folder.glob(f"{folder.prefix}_*.{SAMPLES}")):
            # If a node was killed, its recorded samples remain, but there are no tables.
            reason += "; offline_result_comparison.py creates results from the recorded samples"
        elif self.completed:
            reason += "; the results may be incomplete"
        outcome = "failed after the drive" if self.completed else "ended early"
        return " ".join(f"the experiment {outcome}: {reason}".split())


def _ended(code) -> str:
    if code == INTERRUPTED:
        return "was interrupted"
    if code is not None:
        # Shells report a signal as 128 plus the signal number.
        number = -code if code < 0 else code - 128
        with contextlib.suppress(ValueError):
            return f"exited with code {code} ({signal.Signals(number).name})"
    return f"exited with code {code}"


GUARDIAN = "guardian"

# Nodes whose window remains open after a drive until the user closes it.
VIEWS = ("yaw_view", "yaw_multiplot")

_OPTIONAL_NODES = ("rosout", "robot_state_publisher", "path_view", "rviz", "gazebo_gui")
# Nodes that are not required for an experiment; for example, the user may close a window.
OPTIONAL_PROCESSES = (GUARDIAN, *VIEWS, *_OPTIONAL_NODES)

CHECK_PERIOD = 0.05  # wall-clock seconds between checks of the nodes
MASTER_CHECK_PERIOD = 1.0  # wall-clock seconds between checks of the master

# Wall-clock seconds; timeout for roslaunch to detect that all processes have ended.
MONITOR_TIMEOUT = 5.0


class _ExitRecorder(ProcessListener):
    """Listener that records exit codes, and the first node whose exit ends the experiment."""

    def __init__(self) -> None:
        self.first: str | None = None
        self.codes: dict[str, int | None] = {}

    def process_died(self, process_name, exit_code):
        name = _node_name(process_name)
        self.codes[name] = exit_code
        if self.first is None and name not in OPTIONAL_PROCESSES:
            self.first = name


class _Monitor(roslaunch.pmon.ProcessMonitor):
    """Process monitor of roslaunch that does not terminate processes; the guardian module does.

    roslaunch would send SIGINT, after which an interpreter that is still starting prints a
    traceback.
    """

    def __init__(self, is_ending) -> None:
        super().__init__()
        self._is_ending = is_ending

    def register(self, process):
        """Register a process before its start; reject it if the experiment is ending."""
        if self._is_ending():
            raise roslaunch.RLException("the experiment is ending")
        # _Run handles the end of required nodes; roslaunch would print an error even after success.
        process.required = False
        super().register(process)

    def unregister(self, process):
        """Unregister a process, unless _Run has already unregistered it."""
        with contextlib.suppress(ValueError):
            super().unregister(process)


def _node_name(process_name) -> str:
    """Return the name of a node without the suffix ``-<number>`` that roslaunch appends."""
    head, dash, number = process_name.rpartition("-")
    return head if dash and number.isdigit() else process_name


def run(config, patience: float, verbose: bool = True) -> Outcome:
    """Run the nodes until one of them ends.

    Parameters
    ----------
    config : roslaunch.config.ROSLaunchConfig
        Nodes and parameters.
    patience : float
        Wall-clock timeout for a stopped node or an unresponsive master [s].
    verbose : bool
        Whether roslaunch and the nodes print all messages. If not, they print only warnings and
        errors, a progress bar is shown, and other messages are only in the logs.

    Returns
    -------
    Outcome
        Outcome of the experiment.

    Raises
    ------
    FrameworkError
        Another experiment is running. No node is started in this case.
    """
    config.nodes = [node for node in config.nodes if node.name != GUARDIAN]
    for node in config.nodes if not verbose else ():
        # Warnings and errors are still shown, because nodes write them to standard error.
        node.output = "log"
    check_names_are_free(
        [rosgraph.names.ns_join(node.namespace, node.name) for node in config.nodes]
    )
    config.add_param(
        roslaunch.core.Param(f"/{EXPERIMENT_PARAMETERS}/supervised", True), verbose=False
    )
    # roslaunch calls the master without a timeout, so a default timeout is set here.
    socket.setdefaulttimeout(MASTER_TIMEOUT)
    os.environ[guardian.EXPERIMENT_MARK] = f"{os.getpid()}-{secrets.token_hex(8)}"
    watcher = subprocess.Popen(
        [sys.executable, "-m", "imu_simulation_framework.ros1.launching.guardian", guardian.MARKED],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        # SIGINT during the start of the interpreter would cause a traceback.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        with _redirect_output(verbose) as terminal, progress_bar(
            desc="starting", disable=verbose or None, leave=False, bar_format="{desc}, {elapsed}"
        ) as bar:
            return _Run(config, patience, terminal, bar).outcome()
    finally:
        watcher.kill()
        watcher.wait()


class _Run:
    def __init__(self, config, patience, terminal, bar) -> None:
        self._patience = patience
        self._terminal = terminal
        self._bar = bar
        self._exits = _ExitRecorder()
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
        # The listener is added first, because a node may end before all nodes are started.
        self._monitor = self._parent.pm = _Monitor(self._is_ending)
        self._monitor.add_process_listener(self._exits)
        self._monitor.start()
        self._catch_signals()

    def outcome(self) -> Outcome:
        """Run the experiment until it ends, and return its outcome."""
        outcome = self._outcome
        try:
            self._parent.start()
            self._collect_processes()
            for process in list(self._monitor.procs):
                if _node_name(process.name) in guardian.SAVING_NODES:
                    process.sigint_timeout = guardian.SAVING_TIMEOUT
            self._watch(lambda: self._exits.first is not None)
        except (roslaunch.RLException, OSError, HTTPException, xmlrpc.client.Error) as error:
            # After a node has ended or after an interruption, roslaunch cannot start further nodes.
            if not (self._monitor.is_shutdown or self._is_ending()):
                outcome.fault = f"roslaunch cannot start the nodes: {error}"
        finally:
            if self._is_over():
                self._wait_for_results()
            # From here on, this process terminates the nodes.
            first = self._exits.first
            ended_by_us = self._interrupted or outcome.fault
            # The parameters are read again, because a node may have failed since the last check.
            outcome.result = outcome.result or self._parameter(RESULT)
            outcome.failure = self._parameter(FAILURE)
            if self._is_over():
                self._keep_views()
            self._end()
        outcome.node = first if ended_by_us else self._exits.first
        outcome.codes = {name: _exit_code_of(process) for name, process in self._processes.items()}
        outcome.codes.update(self._exits.codes)
        if outcome.folder is not None:
            tidy(outcome.folder)
        return outcome

    def _is_over(self) -> bool:
        """Return whether the drive is complete."""
        return self._exits.first == LEADER and self._exits.codes[LEADER] == 0

    def _watch(self, has_happened) -> None:
        """Wait until an event, an interruption or a fault occurs."""
        while not (self._interrupted or self._monitor.is_shutdown):
            self._outcome.result = self._outcome.result or self._parameter(RESULT)
            if has_happened():
                return
            self._outcome.fault = self._find_stopped_process() or self._check_master()
            if self._outcome.fault:
                return
            time.sleep(CHECK_PERIOD)

    def _catch_signals(self) -> None:
        ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        # roslaunch installs its handlers only once, with the first process; they are replaced here.
        roslaunch.pmon._init_signal_handlers()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        if ignored:  # nohup
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _is_ending(self) -> bool:
        return self._interrupted or self._exits.first is not None

    def _on_signal(self, *_) -> None:
        self._interrupted = True

    def _collect_processes(self) -> None:
        for process in list(self._monitor.procs):
            # Process handles are stored here, because roslaunch removes those of ended processes
            # and restarts rosout.
            if process.popen is not None:
                self._processes[_node_name(process.name)] = process.popen

    def _parameter(self, name):
        try:
            return ask_master("getParam", f"/{name}", timeout=self._patience)
        except NoAnswerError:
            return None

    def _find_stopped_process(self) -> str:
        """Return a fault if a node is stopped (SIGSTOP) for too long; kill optional nodes."""
        now = time.monotonic()
        for name, process in self._processes.items():
            if process.poll() is not None or not guardian.is_stopped(process.pid):
                self._stopped_since.pop(name, None)
                continue
            stopped = now - self._stopped_since.setdefault(name, now)
            if name in OPTIONAL_PROCESSES and stopped > 0.5 * self._patience:
                self._print(
                    f"{name} was stopped (SIGSTOP) and is killed, as other nodes wait for it"
                )
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            elif stopped > 2.0 * self._patience:
                return f"{name} was stopped (SIGSTOP) for {2.0 * self._patience:g} s"
        return ""

    def _check_master(self) -> str:
        now = time.monotonic()
        if now - self._answered_at < MASTER_CHECK_PERIOD:
            return ""
        try:
            ask_master("getPid", timeout=2.0 * self._patience)
        except NoAnswerError as error:
            master = self._processes.get("master")
            # If the master has ended, this is handled like the end of any process.
            return "" if master is not None and master.poll() is not None else str(error)
        self._answered_at = time.monotonic()
        self._show_progress()
        return ""

    def _show_progress(self) -> None:
        if self._bar.disable:
            return
        bar = self._bar
        with contextlib.suppress(NoAnswerError):
            # Simulated time and duration of the drive, which are not set before the drive.
            progress = ask_master("getParam", f"/{PROGRESS}", timeout=self._patience)
            if progress is not None:
                processed, bar.total = progress
                bar.desc = "driving" if processed < bar.total - 0.05 else "writing results"
                bar.bar_format = DRIVE_BAR
                bar.n = processed
            bar.refresh()

    def _print(self, sentence) -> None:
        self._bar.clear()
        print(sentence, file=self._terminal, flush=True)

    def _wait_for_results(self) -> None:
        """Terminate nodes needed only for driving, to free memory, and wait for the results.

        If the node that writes the results fails, it is reported as the first node that ended.
        """
        self._collect_processes()
        self._end_others((WRITER, *VIEWS))
        writer = self._processes[WRITER]
        self._watch(lambda: writer.poll() is not None)
        if self._interrupted:
            self._exits.first = None
        elif writer.poll() not in (None, *_REGULAR_EXIT_CODES):
            self._exits.first, self._exits.codes[WRITER] = WRITER, writer.poll()

    def _end_others(self, names) -> None:
        """Terminate all nodes except the given nodes and the processes of the master."""
        others = {}
        for process in list(self._monitor.procs):
            if process in self._monitor.core_procs or _node_name(process.name) in names:
                continue
            # If the process remained registered, roslaunch would report its end as an error.
            self._monitor.unregister(process)
            others[process.popen.pid] = guardian.start_time(process.popen.pid)
        guardian.end_all(others)

    def _keep_views(self) -> None:
        """Wait until the user has closed the live views."""
        views = [self._processes[name] for name in VIEWS if name in self._processes]
        if all(view.poll() is not None for view in views):
            return
        self._print(
            "the drive is over and saved; close the window of the live view or press Ctrl+C to end"
        )
        while any(view.poll() is None for view in views):
            if self._interrupted or self._monitor.is_shutdown:
                return
            time.sleep(CHECK_PERIOD)

    def _end(self) -> None:
        """Terminate all nodes with a timeout, which roslaunch does not support."""
        self._collect_processes()
        processes = {
            process.pid: guardian.start_time(process.pid) for process in self._processes.values()
        }
        # roslaunch would signal registered processes again, and report their end as an error.
        with self._monitor.plock:
            del self._monitor.procs[:]
            del self._monitor.core_procs[:]
        guardian.end_all(processes)
        self._monitor.shutdown()
        self._monitor.join(MONITOR_TIMEOUT)
        if not self._monitor.is_alive():
            self._parent.shutdown()


def _exit_code_of(process):
    try:
        return process.wait(1.0)
    except subprocess.TimeoutExpired:
        return None


def report(outcome: Outcome) -> int:
    """Print the results and, in the last line, why the experiment failed.

    Parameters
    ----------
    outcome : Outcome
        Outcome of the experiment.

    Returns
    -------
    int
        Exit code.
    """
    if outcome.summary is not None:
        print(terminal_table(outcome.summary))
    if outcome.folder is not None:
        print(f"results: {outcome.folder.folder}")
    if outcome.final_message():
        print(outcome.final_message())
    return outcome.exit_code()
