"""End of a node: ignored interrupts and closed connections."""

import subprocess
import sys
import threading
from types import SimpleNamespace

from patience import PATIENCE

from imu_simulation_framework.ros1.messages import publish_serialised

INTERRUPTED_IN_WEAKREF_CALLBACK = """
import os, signal, time, weakref
from imu_simulation_framework.ros1.node_process import reraise_dropped_interrupts

reraise_dropped_interrupts()
try:
    watched = set("a")
    reference = weakref.ref(watched, lambda _: os.kill(os.getpid(), signal.SIGINT) or time.sleep(9))
    del watched
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    print("ended")
"""


def test_interrupt_ignored_by_python_is_raised_again():
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IN_WEAKREF_CALLBACK],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("ended\n", "")


class ClosedConnection:
    """Connection of a subscriber that rospy has closed."""

    def write_data(self, _):
        raise BrokenPipeError

    def close(self):
        raise TypeError("'NoneType' object is not iterable")


def test_closed_connection_does_not_block_other_subscribers():
    written = []
    lock = threading.Lock()
    topic = SimpleNamespace(
        closed=False,
        seq=6,
        acquire=lock.acquire,
        release=lock.release,
        connections=[ClosedConnection(), SimpleNamespace(write_data=written.append)],
    )
    publish_serialised(SimpleNamespace(impl=topic), bytearray(b"....message"))
    assert written == [b"\x0b\0\0\0\x07\0\0\0message"]
    assert topic.seq == 7 and not lock.locked()
