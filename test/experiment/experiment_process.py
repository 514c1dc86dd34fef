"""Experiments in separate processes with separate ROS masters, which tests can interrupt."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from xmlrpc.client import ServerProxy

import roslib.packages
from marked_processes import MARK, find_marked, kill_marked, new_mark
from rosbags.highlevel import AnyReader

from imu_simulation_framework.drive.results.files import ResultFolder, find_result

sys.path.append(str(Path(__file__).resolve().parents[1]))  # needed by programs outside pytest
from patience import PATIENCE, wait_until
from reservations import reserved_port

PACKAGE = "imu_simulation_framework"
STARTED = r"process\[{node}(?:-\d+)?\]: started with pid \[(\d+)\]"
PROGRESS = r"simulated (\d+\.\d) of \d+\.\d s"
COLOUR = re.compile(r"\x1b\[\d*m")
# Output of a Python interpreter that roslaunch interrupts before it runs the code of the node.
INTERRUPTED_START = re.compile(r"Fatal Python error: init_import_site.*\n.*\nTraceback")
DROPPED_VARIABLES = ("ROS_HOSTNAME", "ROS_NAMESPACE")
# Environment variable that identifies all processes on the ROS master of an experiment.
MASTER_MARK = f"{MARK}_MASTER"


@dataclass(frozen=True)
class EndedExperiment:
    """Exit code, output, wall-clock time [s] and working directory of an ended program."""

    code: int
    output: str
    seconds: float
    directory: Path

    @property
    def lines(self):
        return self.output.splitlines()

    @property
    def has_traceback(self) -> bool:
        """Return whether a program printed a traceback after its interpreter had started."""
        return "Traceback" in INTERRUPTED_START.sub("", self.output)

    @property
    def fatal_sentences(self):
        """Return the failure messages without time stamps."""
        sentences = re.findall(r"^\[FATAL\] \[[^]]*\]: (.*)$", self.output, re.MULTILINE)
        return sentences + re.findall(r"^run_experiment\.py: (.*)$", self.output, re.MULTILINE)

    @property
    def summary(self):
        """Return the summary of the only result."""
        assert not self.has_traceback, self.output
        return summary_of(self.result())

    def result(self, output="experiment_results") -> ResultFolder:
        """Return the only result below ``output`` in the working directory."""
        folders = {path.parent for path in (self.directory / output).glob("*/*/*/*")}
        assert len(folders) == 1, f"expected one result, got {folders}\n{self.output}"
        return find_result(folders.pop())

    def ensure_completed(self, output="experiment_results") -> EndedExperiment:
        """Assert that the complete drive was recorded; return the ended experiment."""
        assert self.code == 0, self.output
        assert not self.fatal_sentences, self.output
        assert not self.has_traceback, self.output
        summary = summary_of(self.result(output))
        assert summary["run"]["completed"] is True
        assert summary["durations"]["recorded_s"] == summary["durations"]["planned_s"]
        return self


def summary_of(result):
    return json.loads(result.read_text("summary.json"))


class ExperimentProcess:
    """Process of ``run_experiment.py`` or of another program of the package.

    Parameters
    ----------
    directory : path
        Working directory of the program, and folder of its ROS logs.
    arguments : iterable
        Arguments of the command line.
    program : list of str, optional
        Command; by default ``run_experiment.py -v``.
    leader : ExperimentProcess, optional
        Experiment with the ROS master; by default a new master on a reserved port.
    """

    def __init__(self, directory, arguments=(), program=None, leader=None) -> None:
        self.directory = Path(directory)
        self._reservation = contextlib.ExitStack()
        self._owns_master = leader is None
        if leader is None:
            port = self._reservation.enter_context(reserved_port())
            # The port may be used again by a later experiment, whereas the mark is unique.
            self._master_uri, self._mark = f"http://127.0.0.1:{port}", new_mark()
        else:
            self._master_uri, self._mark = leader._master_uri, leader._mark
        self._text = ""
        self._changed = threading.Condition()
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [*(program or [find_program("run_experiment.py"), "-v"]), *map(str, arguments)],
            cwd=self.directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _environment(self):
        environment = environment_of(self.directory, self._master_uri)
        inherited = {
            name: text for name, text in os.environ.items() if name not in DROPPED_VARIABLES
        }
        return {**inherited, **environment, MASTER_MARK: self._mark, "PYTHONUNBUFFERED": "1"}

    def _read(self):
        for line in self._process.stdout:
            with self._changed:
                self._text += COLOUR.sub("", line.decode("utf-8", "replace"))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ensure_running(self) -> None:
        """Assert that the experiment is running; print its output otherwise."""
        assert self.is_running, f"the experiment has ended, output:\n{self._text}"

    def wait_for(self, pattern, limit=PATIENCE):
        """Wait until the output matches a regular expression; return the match."""

        def search():
            return re.search(pattern, self._text, re.MULTILINE)

        with self._changed:
            self._changed.wait_for(lambda: search() or not self._reader.is_alive(), limit)
            match = search()
        assert match, f"no {pattern!r} within {limit:g} s in the output:\n{self._text}"
        return match

    def wait_until_driving(self) -> None:
        self.wait_for(PROGRESS)

    def wait_for_progress(self, count) -> None:
        """Wait for ``count`` more progress lines."""
        count += len(re.findall(PROGRESS, self._text))
        self.wait_for(rf"(?:{PROGRESS}[\s\S]*?){{{count}}}")

    @property
    def simulated_time(self) -> float:
        """Return the simulated time in the latest progress line [s]."""
        return float(re.findall(PROGRESS, self._text)[-1])

    def wait_until_started(self, node) -> int:
        """Wait until roslaunch has started a node; return its process id."""
        return int(self.wait_for(STARTED.format(node=node)).group(1))

    def signal_node(self, node, number) -> None:
        """Send a signal to a node once it has been started."""
        os.kill(self.wait_until_started(node), number)

    def ensure_node_running(self, node) -> None:
        """Wait until a node has been started, and assert that it is still running."""
        pid = self.wait_until_started(node)
        assert pid in self.members(), f"{node} has ended, output:\n{self._text}"

    def open_and_close_connection(self, node, topic) -> None:
        """Connect to a node like a subscriber of a topic, and close the connection unused."""
        _, _, address = ServerProxy(self._master_uri).lookupNode("/test", node)
        answer = ServerProxy(address).requestTopic("/test", topic, [["TCPROS"]])
        _, host, port = answer[2]
        socket.create_connection((host, port)).close()

    def run_client(self, *command):
        """Run a program on the ROS master of this experiment until it ends."""
        return subprocess.run(
            [*map(str, command)], env=self._environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, text=True,
        )  # fmt: skip

    def start_client(self, program, *arguments) -> ExperimentProcess:
        """Start another program on the ROS master of this experiment."""
        return ExperimentProcess(self.directory, arguments, program, self)

    def wait_for_file(self, pattern) -> Path:
        """Wait for a file that matches a pattern below the working directory."""

        def find():
            files = sorted(self.directory.glob(pattern))
            assert files or self.is_running, f"no {pattern}, output:\n{self._text}"
            return files

        return wait_until(find, f"file {pattern}")[0]

    def interrupt(self) -> None:
        """Send SIGINT to the program, like Ctrl+C."""
        os.kill(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Send SIGKILL to the program."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, limit=PATIENCE, others=PATIENCE) -> EndedExperiment:
        """Wait until the program and all other processes on its ROS master have ended.

        Parameters
        ----------
        limit, others : float, optional
            Wall-clock limits for the program and then for all other processes [s].

        Raises
        ------
        AssertionError
            If a process remains.
        """
        try:
            code = self._process.wait(limit)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(
                f"program is still running after {limit:g} s, expected it to exit:\n{self._text}"
            ) from None
        ended = time.monotonic()
        while self._owns_master and self.members() and time.monotonic() < ended + others:
            time.sleep(0.02)
        left = self.members() if self._owns_master else {}
        self.end()
        assert not left, f"processes remain: {left}\n{self._text}"
        return EndedExperiment(code, self._text, ended - self._started, self.directory)

    def members(self):
        """Return the command lines of all processes on the ROS master, by process id."""
        return find_marked(self._mark, MASTER_MARK)

    def end(self) -> None:
        """Kill all processes on the ROS master, or only this client program; close its pipe."""
        if self._owns_master:
            kill_marked(self._mark, MASTER_MARK)
        if self.is_running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(5.0)
        if not self._reader.is_alive():  # child processes of a client may still use the pipe
            self._process.stdout.close()
        self._reservation.close()


def environment_of(directory, master_uri):
    """Return environment variables for a ROS master, and for a ROS home below the directory."""
    home = f"{directory}/ros"
    variables = {"ROS_MASTER_URI": master_uri, "ROS_IP": "127.0.0.1", "PWD": str(directory)}
    return {**variables, "ROS_HOME": home, "ROS_LOG_DIR": f"{home}/log"}


def find_program(name) -> str:
    """Return the path of a program of the package in the devel or install space."""
    programs = roslib.packages.find_node(PACKAGE, name)
    assert programs, f"{name} of the package {PACKAGE} is not in this ROS environment"
    return programs[0]


def read_messages(bag):
    """Return the messages of a recorded bag by topic."""
    messages = {}
    with AnyReader([bag]) as reader:
        for connection, _, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            messages.setdefault(connection.topic, []).append(message)
    return messages
