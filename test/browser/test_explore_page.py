"""Page of explore.py in a browser without network access."""

import math
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from browsers import WIDTHS, requested
from patience import PATIENCE
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import imu_simulation_framework as isf

PROGRAM = Path(__file__).resolve().parents[2] / "offline_processing" / "explore.py"
SETTLED = """
    const quiet = !document.body.classList.contains("drawing");
    const error = document.querySelector("#mistake").textContent;
    return error !== "" || (quiet && document.querySelector("#ranking table") !== null);
"""
# The script returns when both the displayed number and the figure have changed after a key press.
PRESS = """
    const [name, key, done] = arguments;
    const handle = document.querySelector(`#slider-${name} [role=slider]`);
    const plot = document.querySelector("#bands .js-plotly-plot");
    const changed = new Set();
    const note = (part) => {
      changed.add(part);
      if (changed.size < 2) return;
      watch.disconnect();
      done();
    };
    const watch = new MutationObserver(() => note("number"));
    watch.observe(document.querySelector("#cards"),
                  { childList: true, subtree: true, characterData: true });
    plot.once("plotly_afterplot", () => note("figure"));
    const keyCode = key === "ArrowRight" ? 39 : 37;
    handle.dispatchEvent(new KeyboardEvent(
      "keydown", { key, code: key, keyCode, which: keyCode, bubbles: true }));
"""


@pytest.fixture(scope="module")
def address():
    """Start explore.py without a browser, and return the address that it prints."""
    command = [sys.executable, str(PROGRAM), "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        line = run.stdout.readline()
        match = re.fullmatch(r"(http://127\.0\.0\.1:\d+/) \(stop with Ctrl\+C\)\n", line)
        try:
            assert match, line
            yield match[1]
            run.send_signal(signal.SIGINT)
            _, errors = run.communicate(timeout=PATIENCE)
        finally:
            run.kill()
    # The log contains neither a traceback nor a line for each request.
    assert run.returncode == 128 + signal.SIGINT
    assert errors == "explore.py: terminated by SIGINT; no file is left half-written\n"


def opened(driver, address):
    driver.get("about:blank")
    requested(driver)
    driver.get_log("browser")
    driver.get(address)
    waited(driver, lambda _: driver.find_elements(By.ID, "cards"))
    settled(driver)


def waited(driver, condition):
    return WebDriverWait(driver, PATIENCE, poll_frequency=0.1).until(condition)


def settled(driver):
    waited(driver, lambda _: driver.execute_script(SETTLED))


def text(driver, name):
    return driver.find_element(By.ID, name).text


def asked(driver):
    """Return the query parameters in the browser's address bar."""
    return dict(parse_qsl(urlsplit(driver.current_url).query))


def written(driver, name, value):
    """Type text into an input field."""
    field = driver.find_element(By.ID, name)
    field.click()
    driver.execute_script("arguments[0].select()", field)
    field.send_keys(value)


def answer_of_model(imu, motion, operation, period=6.0):
    model = isf.yaw_error_model(
        isf.read_part(imu), motion, period, sample=0.01, operation=operation
    )
    return math.degrees(model.until(101).absolute_quantile(0.95))


@pytest.mark.parametrize("width", WIDTHS)
def test_explore_page_fits_screen_and_loads_only_from_its_server(request, address, width):
    driver = request.getfixturevalue(width)
    opened(driver, f"{address}?motion=mowing&stops=given&imu=bno055,stim300,adis16470&ranked=all")
    addresses = requested(driver)
    hosts = {urlsplit(url).netloc for url in addresses if not url.startswith("data:")}
    assert hosts == {urlsplit(address).netloc}
    assert driver.get_log("browser") == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= WIDTHS[width][0]
    for plot in driver.find_elements(By.CSS_SELECTOR, ".js-plotly-plot"):
        lines = "return arguments[0].querySelectorAll('.trace').length"
        assert driver.execute_script(lines, plot) >= 3
        panel = driver.execute_script("return arguments[0]._fullLayout._size", plot)
        assert panel["w"] > 0.7 * plot.size["width"] and panel["h"] > 120
    hidden = "return Array.from(document.querySelectorAll('table, pre')).map((part) => "
    hidden += "part.parentElement.scrollWidth - part.parentElement.clientWidth)"
    assert max(driver.execute_script(hidden)) <= 0
    rows = driver.find_elements(By.CSS_SELECTOR, "#ranking tbody tr")
    assert len(rows) > 15
    check_sliders_are_named(driver)
    assert text(driver, "busy") == ""
    check_plots_stay_in_their_boxes_when_window_changes(driver)


SLIDERS = """
    return Array.from(document.querySelectorAll("[role=slider]")).map(
      (handle) => [handle.getAttribute("aria-label"), handle.getAttribute("aria-valuetext")]);
"""


def check_sliders_are_named(driver):
    """Check the label and the value of each slider that screen readers announce."""
    named = dict(driver.execute_script(SLIDERS))
    assert None not in named and len(named) > 8
    limit = driver.find_element(By.ID, "limit")
    assert named["Limit of the yaw error [deg]"] == limit.get_attribute("value")


def check_plots_stay_in_their_boxes_when_window_changes(driver):
    size = driver.get_window_size()
    overlap = """
        return Array.from(document.querySelectorAll(".dash-graph")).map((graph) => {
          const drawn = graph.querySelector(".main-svg").getBoundingClientRect();
          const box = graph.getBoundingClientRect();
          return [graph.id, drawn.height, box.height];
        });
    """
    before = driver.execute_script(overlap)
    assert {name for name, *_ in before} == {"bands", "passages"}
    driver.set_window_size(size["width"] - 60, size["height"] - 200)
    width = "return document.querySelector('#bands .main-svg').getBoundingClientRect().width"
    drawn = "return document.querySelector('#bands').getBoundingClientRect().width"
    waited(
        driver,
        lambda _: abs(driver.execute_script(width) - driver.execute_script(drawn)) < 2.0,
    )
    for name, height, box in driver.execute_script(overlap):
        assert height == pytest.approx(box, abs=1.0), name
    assert driver.execute_script(overlap) == before
    driver.set_window_size(size["width"], size["height"])


def test_displayed_yaw_errors_respond_to_slider_and_match_model(desktop, address):
    opened(desktop, f"{address}?imu=bno055,stim300")
    motion, operation = isf.straight(600.0, rate=5.0), isf.Operation()
    for place, imu in enumerate(("bno055", "stim300")):
        assert (
            text(desktop, f"nearly-all-{place}")
            == f"{answer_of_model(imu, motion, operation):.3g} deg"
        )
    for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):
        before = text(desktop, "nearly-all-0")
        desktop.execute_async_script(PRESS, "standstill", key)
        assert text(desktop, "nearly-all-0") != before
    settled(desktop)
    assert asked(desktop)["standstill"] == "7s"
    operation = isf.Operation(standstill=7.0)
    assert (
        text(desktop, "nearly-all-0") == f"{answer_of_model('bno055', motion, operation):.3g} deg"
    )


def test_url_restores_page_state_in_another_browser(desktop, phone, address):
    opened(desktop, address)
    written(desktop, "duration", "20min")
    desktop.find_element(By.XPATH, "//div[@id='motion']//label[contains(., 'circles')]").click()
    waited(desktop, lambda _: asked(desktop) == {"motion": "circles", "duration": "20min"})
    desktop.execute_async_script(PRESS, "radius", "ArrowRight")
    settled(desktop)
    assert asked(desktop) == {"motion": "circles", "radius": "7", "duration": "20min"}
    opened(phone, desktop.current_url)
    names = ("nearly-all-0", "nearly-all-1", "budget-command", "ranking-command", "python")
    for name in names:
        content = [
            driver.find_element(By.ID, name).get_attribute("textContent")
            for driver in (desktop, phone)
        ]
        assert content[0] == content[1] != ""
    assert phone.find_element(By.ID, "radius").get_attribute("value") == "7"
    assert phone.current_url == desktop.current_url


def test_invalid_input_shows_one_message_until_it_is_corrected(desktop, address):
    opened(desktop, f"{address}?stops=given")
    for name, value, sentence in (
        ("duration", "-5min", "Time: is -5min, expected"),
        ("duration", "10min", ""),
        ("every", "4s", "leave no time to drive"),
        ("every", "1min", ""),
        ("limit", "wide", "Limit: is 'wide', expected"),
    ):
        written(desktop, name, value)
        waited(
            desktop,
            lambda _, message=sentence: message in text(desktop, "mistake")
            and bool(message) == bool(text(desktop, "mistake")),
        )
        assert "Traceback" not in desktop.page_source
    for query, sentence in (
        ("imu=nobody", "Unknown IMU nobody, expected one of adis16448,"),
        ("motion=drive&drive=gone.bag", "Unknown drive gone.bag, expected one of a, b, c, d;"),
        ("colour=red", "The page has no field colour; choose one of: motion,"),
    ):
        opened(desktop, f"{address}?{query}")
        assert text(desktop, "unread").startswith(sentence)
        # The page shows the defaults, and the message disappears when a setting is changed.
        assert text(desktop, "mistake") == "" and asked(desktop) == {}
        desktop.execute_async_script(PRESS, "limit", "ArrowRight")
        waited(desktop, lambda _: text(desktop, "unread") == "")


def dropped(driver, path):
    driver.find_element(By.CSS_SELECTOR, "#recording input[type=file]").send_keys(str(path))


def test_uploaded_recording_is_used_as_drive_or_rejected(desktop, address, tmp_path):
    opened(desktop, f"{address}?motion=drive&imu=bno055&duration=10min")
    bad, good = tmp_path / "bad.csv", tmp_path / "mine.csv"
    bad.write_text("nothing,of,use\n1,2,3\n")
    time = np.arange(0.0, 60.0, 0.1)
    poses = np.column_stack([time, time, 0.0 * time, 0.0 * time])
    np.savetxt(good, poses, delimiter=",", header="time,x,y,yaw", comments="", fmt="%.3f")
    dropped(desktop, bad)
    waited(desktop, lambda _: "bad.csv" in text(desktop, "mistake"))
    assert "Traceback" not in desktop.page_source
    dropped(desktop, good)
    waited(desktop, lambda _: "mine.csv lasts" in text(desktop, "remarks"))
    settled(desktop)
    assert asked(desktop)["drive"] == "mine.csv"
    assert text(desktop, "budget-command").startswith("heading_budget.py mine.csv --imu bno055 ")
    recorded = isf.read_motion(good, rate=20.0)
    seconds = math.floor(recorded.duration + 1e-6)
    expected = answer_of_model("bno055", recorded, isf.Operation(), seconds / 100.0)
    assert text(desktop, "nearly-all-0") == f"{expected:.3g} deg"


def test_request_with_foreign_host_name_is_rejected(address):
    import http.client

    port = urlsplit(address).port
    for host, status in ((f"127.0.0.1:{port}", 200), (f"elsewhere.example:{port}", 403)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/", headers={"Host": host})
        assert connection.getresponse().status == status
        connection.close()
