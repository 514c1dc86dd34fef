"""The live view in a window of a virtual screen."""

import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from PIL import ImageGrab

from imu_simulation_framework.core import colours

pytestmark = pytest.mark.gate

STAYS = "the live view stays until its window is closed"
SHORT = "settings:={trajectory: {stop: 8.0}}"
SCREEN = (1024, 768)
COLOURS = {
    "ground truth": colours.LIVE_TRUTH,
    "recorded IMU": colours.REAL,
    "simulated IMU": colours.SIMULATED,
}


@pytest.fixture(scope="module")
def display():
    """A virtual screen's name."""
    program = shutil.which("Xvfb")
    assert program, "Xvfb (Debian's package xvfb) is not installed"
    size = f"{SCREEN[0]}x{SCREEN[1]}x24"
    server = subprocess.Popen(
        [program, "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        number = server.stdout.readline().strip()
        assert number, "Xvfb has not started"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10.0)
        server.stdout.close()


def pixels_of(display, colour) -> int:
    """How many pixels of the screen have exactly this colour."""
    picture = np.asarray(ImageGrab.grab(xdisplay=display).convert("RGB"))
    wanted = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return int((picture == wanted).all(axis=2).sum())


def wait_for(condition, timeout=30.0):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "not seen on the screen in time"
        time.sleep(0.1)


def test_the_window_shows_all_curves_while_the_robot_drives(experiment, display, monkeypatch):
    monkeypatch.setenv("DISPLAY", display)
    running = experiment("view:=matplotlib", "real_time_factor:=1", SHORT)
    running.wait_until_driving()
    # The legends alone have some dozens of pixels of each colour.
    wait_for(lambda: all(pixels_of(display, colour) > 300 for colour in COLOURS.values()))
    running.wait_for(STAYS, timeout=180.0)
    # Everybody else has ended, and the window still shows the curves.
    wait_for(lambda: all(pixels_of(display, colour) > 300 for colour in COLOURS.values()))
    assert list(running.directory.glob("experiment_results/*/*/*/*_summary.json"))
    running.signal_node("yaw_view", signal.SIGTERM)
    ended = running.wait()
    assert ended.code == 0, ended.output
    assert ended.lines[-1].startswith("results: ")


def test_ctrl_c_closes_a_view_that_stayed_and_the_drive_counts_as_driven(
    experiment, display, monkeypatch
):
    monkeypatch.setenv("DISPLAY", display)
    running = experiment("view:=matplotlib", "settings:={trajectory: {stop: 3.0}}")
    running.wait_for(STAYS, timeout=180.0)
    running.interrupt()
    ended = running.wait()
    assert ended.code == 0, ended.output
    assert ended.lines[-1].startswith("results: ")


def test_without_a_display_the_view_says_so_and_the_experiment_goes_on(experiment, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":98765")
    ended = experiment.run("view:=matplotlib", SHORT)
    assert ended.code == 0, ended.output
    assert STAYS not in ended.output
    assert "yaw_view: no window can be opened" in ended.output
    assert not ended.has_traceback
