"""Live view of yaw signals in a window on a virtual screen."""

import shutil
import signal
import subprocess

import numpy as np
import pytest
from patience import wait_until
from PIL import ImageGrab

from imu_simulation_framework.core import colours

CLOSE_WINDOW_MESSAGE = "close the window of the live view"
SCREEN = (1024, 768)
COLOURS = {
    "ground truth": colours.LIVE_TRUTH,
    "recorded IMU": colours.REAL,
    "simulated IMU": colours.SIMULATED,
}


@pytest.fixture(scope="module")
def display():
    """Start a virtual screen; return its value of DISPLAY."""
    program = shutil.which("Xvfb")
    assert program, "Xvfb (Debian's package xvfb) is not installed"
    size = f"{SCREEN[0]}x{SCREEN[1]}x24"
    server = subprocess.Popen(
        # Without -noreset, the server resets whenever its last client disconnects, and refuses
        # a client that connects at that moment.
        [program, "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp", "-noreset"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        number = server.stdout.readline().strip()
        assert number, "Xvfb has not started"
        yield f":{number}"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def count_pixels(display, colour) -> int:
    """Return the number of pixels on the screen that have a given colour."""
    picture = np.asarray(ImageGrab.grab(xdisplay=display).convert("RGB"))
    rgb = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return int((picture == rgb).all(axis=2).sum())


def test_live_view_stays_open_after_drive_until_ctrl_c(experiment, display, monkeypatch):
    monkeypatch.setenv("DISPLAY", display)
    settings = {"trajectory": {"stop": 8.0}}
    running = experiment("view:=matplotlib", "real_time_factor:=1", settings=settings)

    def shows(pixels):
        running.ensure_running()
        running.ensure_node_running("yaw_view")
        return all(count_pixels(display, colour) > pixels for colour in COLOURS.values())

    def shows_curves():
        # A legend has only a few dozen pixels of each colour.
        return shows(300)

    # The drive waits for the window, which may take longer to open than the drive lasts.
    running.signal_node("path_follower", signal.SIGSTOP)
    wait_until(lambda: shows(10), "legends in the window")
    running.signal_node("path_follower", signal.SIGCONT)
    running.wait_until_driving()
    wait_until(shows_curves, "curves in the window")
    running.wait_for(CLOSE_WINDOW_MESSAGE)
    # All other nodes have exited.
    wait_until(shows_curves, "curves in the window that stays")
    running.interrupt()
    ended = running.wait().ensure_completed()
    assert ended.lines[-1].startswith("results: ")
