"""The program explore.py: what it refuses before there is a page."""

import socket
import sys

import pytest
from tool_calls import call_tool, refused


def test_a_port_that_is_taken_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = call_tool("explore.py", "--no-browser", "--port", port)
    refused(done, f"port {port} cannot be listened on (Address already in use)", "--port names")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--port", "65536"], "'65536' is no port from 0 to 65535"),
        (["--imu", "hector"], "hector is no specification of an IMU"),
        (["--setting", "nothing", __file__], "'nothing' is not SECTION/KEY=VALUE"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(arguments, words):
    refused(call_tool("explore.py", "--no-browser", *arguments), words)


def test_without_dash_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dash", None)
    done = call_tool("explore.py", "--no-browser", "--port", 0)
    refused(done, "the page needs the Python library dash", 'pip install ".[explore]"')
