"""A whole experiment as a process of its own, with its own ROS master, that can be disturbed."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import roslib.packages
from rosbags.highlevel import AnyReader

from imu_simulation_framework.drive.results.files import ResultFolder, find_result

PACKAGE = "imu_simulation_framework"
STARTED = r"process\[{node}(?:-\d+)?\]: started with pid \[(\d+)\]"
PROGRESS = r"simulated (\d+\.\d) of \d+\.\d s"
POLL_PERIOD = 0.02
COLOUR = re.compile(r"\x1b\[\d*m")
# A Python that roslaunch interrupts before it has run a line of a node's says so in this way.
INTERRUPTED_START = re.compile(r"Fatal Python error: init_import_site.*\n.*\nTraceback")


@dataclass(frozen=True)
class Ended:
    """How an experiment ended: exit code, everything it printed, wall-clock seconds, its place."""

    code: int
    output: str
    seconds: float
    directory: Path

    @property
    def lines(self):
        return self.output.splitlines()

    @property
    def has_traceback(self) -> bool:
        """Whether a program, once it ran, printed a traceback."""
        return "Traceback" in INTERRUPTED_START.sub("", self.output)

    @property
    def fatal_sentences(self):
        """What the experiment says about why it failed, each sentence without its stamp."""
        sentences = re.findall(r"^\[FATAL\] \[[^]]*\]: (.*)$", self.output, re.MULTILINE)
        return sentences + re.findall(r"^run_experiment\.py: (.*)$", self.output, re.MULTILINE)

    @property
    def summary(self):
        """What the only result says."""
        assert not self.has_traceback, self.output
        return summary_of(self.result())

    def result(self, output="experiment_results") -> ResultFolder:
        """The only result below ``output`` in the place where the experiment was started."""
        folders = {path.parent for path in (self.directory / output).glob("*/*/*/*")}
        assert len(folders) == 1, f"expected one result, found {folders}\n{self.output}"
        return find_result(folders.pop())


def summary_of(result):
    return json.loads(result.read_text("summary.json"))


class ExperimentProcess:
    """Start ``run_experiment.py`` (or another program of the package's environment).

    ``program`` is by default run_experiment.py as the workspace has it, with all that nodes say;
    ``master_uri`` that of another experiment's ROS master instead of one of its own.
    """

    def __init__(self, directory, arguments=(), program=None, master_uri=None) -> None:
        self.directory = Path(directory)
        self._own_master = master_uri is None
        self._master_uri = master_uri or f"http://127.0.0.1:{_free_port()}"
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
        given = environment_of(self.directory, self._master_uri)
        kept = {name: text for name, text in os.environ.items() if name not in NOT_HANDED_ON}
        return {**kept, **given, "PYTHONUNBUFFERED": "1"}

    def _read(self):
        for line in self._process.stdout:
            with self._changed:
                self._text += COLOUR.sub("", line.decode("utf-8", "replace"))
                self._changed.notify_all()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait_for(self, pattern, timeout=180.0):
        """Wait until the output matches; return the match."""
        found = []

        def matches():
            found[:] = [re.search(pattern, self._text, re.MULTILINE)]
            return found[0] or not self._reader.is_alive()

        with self._changed:
            self._changed.wait_for(matches, timeout)
        assert found[0], f"no {pattern!r} within {timeout:g} s in the output:\n{self._text}"
        return found[0]

    def wait_until_driving(self) -> None:
        self.wait_for(PROGRESS)

    def signal_node(self, node, number) -> None:
        """Send a signal to a node; waits until it has been started."""
        os.kill(int(self.wait_for(STARTED.format(node=node)).group(1)), number)

    def run_beside(self, *command, timeout=60.0):
        """Run a program that speaks to this experiment's ROS master; return how it ended."""
        return subprocess.run(
            [*map(str, command)], env=self._environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, text=True,
        )  # fmt: skip

    def beside(self, program, *arguments) -> ExperimentProcess:
        """Start another program on this one's ROS master."""
        return ExperimentProcess(self.directory, arguments, program, self._master_uri)

    def wait_for_file(self, pattern, timeout=180.0) -> Path:
        """Wait for a file that matches below the place where the experiment was started."""
        deadline = time.monotonic() + timeout
        while True:
            found = sorted(self.directory.glob(pattern))
            if found:
                return found[0]
            running = time.monotonic() < deadline and self.is_running
            assert running, f"no {pattern} within {timeout:g} s, output:\n{self._text}"
            time.sleep(POLL_PERIOD)

    def interrupt(self) -> None:
        """What Ctrl+C does."""
        os.kill(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """End the program itself without leaving it the time for anything."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout=180.0, others=2.0) -> Ended:
        """Wait for the end by itself, and at most ``others`` seconds for all other processes."""
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(f"did not end within {timeout:g} s:\n{self._text}") from None
        ended = time.monotonic()
        while self._own_master and self.members() and time.monotonic() < ended + others:
            time.sleep(POLL_PERIOD)
        left = self.members() if self._own_master else {}
        self.end()
        assert not left, f"left behind: {left}\n{self._text}"
        return Ended(code, self._text, ended - self._started, self.directory)

    def members(self):
        """Command lines of the living processes that speak to this experiment's ROS master."""
        wanted = f"ROS_MASTER_URI={self._master_uri}".encode()
        members = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    members[int(entry.name)] = b" ".join(words).decode("utf-8", "replace")
            except OSError:
                continue  # it has ended, or belongs to somebody else
        return members

    def end(self) -> None:
        """Kill whatever is left, and close the pipe."""
        for pid in self.members() if self._own_master else [self.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()
        self._reader.join(5.0)
        self._process.stdout.close()


NOT_HANDED_ON = ("ROS_HOSTNAME", "ROS_NAMESPACE")


def environment_of(directory, master_uri):
    """Variables by which a program has this ROS master, and its own home below the directory."""
    home = f"{directory}/ros"
    given = {"ROS_MASTER_URI": master_uri, "ROS_IP": "127.0.0.1", "PWD": str(directory)}
    return {**given, "ROS_HOME": home, "ROS_LOG_DIR": f"{home}/log"}


def find_program(name) -> str:
    """The path of a program of the package, in the devel or install space."""
    programs = roslib.packages.find_node(PACKAGE, name)
    assert programs, f"{name} of the package {PACKAGE} is not in this ROS environment"
    return programs[0]


def messages_of(bag):
    """``{topic: [message, ...]}`` of a recorded bag."""
    messages = {}
    with AnyReader([bag]) as reader:
        for connection, _, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            messages.setdefault(connection.topic, []).append(message)
    return messages


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
