"""Headless browser with the width of a desktop or of a phone."""

import ctypes
import json
import shutil
import signal
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import PATIENCE
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.remote_connection import RemoteConnection

WIDTHS = {"desktop": (1200, 900), "phone": (390, 844)}
# Chromium has no sandbox for root; other options prevent requests to the vendor of the browser.
SWITCHES = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)


def programs():
    """Return the paths of browser and driver; without them, fail the test, or skip it on Noetic."""
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in paths and Path("/opt/ros/noetic").exists():
        pytest.skip("Ubuntu 20.04 has Chromium as a snap only")
    message = "chromium or chromium-driver is missing; run ./run test --all"
    assert None not in paths, message
    return paths


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # from linux/prctl.h


def _end_with_parent():
    """Have the kernel terminate the driver, and with it the browser, when the test process ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def browser(kind):
    """Start a browser with a given window width; a phone has a touch screen."""
    program, driver = programs()
    width, height = WIDTHS[kind]
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for switch in (*SWITCHES, f"--window-size={width},{height}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    if kind == "phone":
        metrics = {"width": width, "height": height, "pixelRatio": 2.0, "touch": True}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    service = Service(driver, popen_kw={"preexec_fn": _end_with_parent})
    started = webdriver.Chrome(options=options, service=service)
    # A busy machine exceeds the default timeout of 120 s. The Chrome argument that replaces this
    # deprecated function is not available in this release.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        RemoteConnection.set_timeout(PATIENCE)
    try:
        started.set_page_load_timeout(PATIENCE)
        started.set_script_timeout(PATIENCE)
        yield started
    finally:
        started.quit()


def requested(driver):
    """Return the addresses that the page has requested since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
