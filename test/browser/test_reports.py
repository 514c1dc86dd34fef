"""Reports in a browser without network access: on a desktop, on a phone and in print."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from browsers import WIDTHS, requested
from page_examples import fitted_drive, random_walk_errors, shown_ensemble
from patience import wait_until
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from tool_calls import assert_success, call_tool
from written_results import write_result

from imu_simulation_framework.drive.ensembles.page import ensemble_page
from imu_simulation_framework.heading.identification.report import identification_page
from imu_simulation_framework.heading.judgement.judge import judge
from imu_simulation_framework.report.page import page_html

HOSTILE = "<img src='http://127.0.0.1:{port}/leak' onerror='document.title=1'>"

SPECIFICATION = """
gyroscope:
  white_noise: 1.0e-4
  turn_on_bias_sigma: 2.0e-4
  bias_instability: 1.0e-5
  scale_factor_and_misalignment: [[0, 0, 0], [0, 0, 0], [0, 0, 0.002]]
"""


@pytest.fixture(scope="module")
def server():
    """Start a server that a page could reach; return it with the list of requested paths."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.reached.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def log_message(self, *_):
            pass

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    listening.reached = []
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield listening
    listening.shutdown()
    thread.join()
    listening.server_close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory, server):
    """Write one report of each type; return the files by type."""
    folder = tmp_path_factory.mktemp("reports")
    name = HOSTILE.format(port=server.server_port)
    result = write_result(folder, drive=name, duration=40.0)
    specification = folder / "mine.yaml"
    # The name of a specification must not contain a slash.
    specification.write_text(f"name: {json.dumps(name.replace('/', ''))}\n{SPECIFICATION}")
    made = {
        "report": (result.folder,),
        "monte_carlo": ("--straight", "60s", "--imu", "hector_slow", "--runs", 50)
        + ("--what", "linear", "--workers", 1, "--report"),
        "heading_budget": ("--rounds", "2", "--radius", "5", "--imu", specification)
        + ("--imu", "hector_slow", "--require", "5deg", "--report"),
        "reproduce_thesis": ("--figures", "4.1", "4.3", "4.5", "4.12"),
        "simulate_flight": ("c3104", "--gimbal", "agisim", "--imu", specification)
        + ("--duration", 18),
    }
    for tool, arguments in made.items():
        out = () if tool == "report" else ("--out", folder / tool)
        assert_success(call_tool(f"{tool}.py", *arguments, *out))
    time, errors = random_walk_errors()
    judgement = judge(time, 0.1 * time / time[-1], errors)
    pages = {
        "identification": identification_page(name, [fitted_drive(name)], [], {"name": name}),
        "ensemble": ensemble_page(
            name, shown_ensemble(time, errors), 0.1, {"name": name}, judgement=judgement
        ),
    }
    for kind, page in pages.items():
        (folder / f"{kind}.html").write_text(page_html(page), encoding="utf-8")
    return {
        "experiment": result.path("report.html"),
        "budget": folder / "heading_budget" / "heading_budget.html",
        "drawn": folder / "monte_carlo" / "ensemble.html",
        "thesis": folder / "reproduce_thesis" / "thesis.html",
        "flight": folder / "simulate_flight" / "report.html",
        **{kind: folder / f"{kind}.html" for kind in pages},
    }


KINDS = ["experiment", "budget", "drawn", "thesis", "flight", "identification", "ensemble"]


def opened(driver, path):
    """Open a page, and wait until its figures are drawn."""
    driver.get("about:blank")
    requested(driver)
    driver.get_log("browser")
    driver.get(path.as_uri())
    found = []

    def is_drawn():
        found[:] = driver.find_elements(By.CSS_SELECTOR, ".plot")
        drawn = driver.execute_script("return document.documentElement.dataset.drawn")
        return bool(found) and drawn == str(len(found))

    wait_until(is_drawn, "figures of the page")
    return found


def axis(driver, plot):
    return driver.execute_script("return arguments[0]._fullLayout.xaxis.range", plot)


def area(driver, plot):
    """Scroll to a figure and return the drag area of its first panel."""
    panel = plot.find_elements(By.CSS_SELECTOR, ".nsewdrag")[0]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    return panel


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_report_fits_screen_without_network_requests(request, reports, server, kind, width):
    driver = request.getfixturevalue(width)
    plots = opened(driver, reports[kind])
    addresses = [address for address in requested(driver) if not address.startswith("data:")]
    assert addresses == [reports[kind].as_uri()]
    # The browser log would contain a line for each blocked request or script.
    assert driver.get_log("browser") == []
    assert server.reached == []
    page = driver.execute_script(MEASURE)
    assert page["width"] <= WIDTHS[width][0]
    assert max(page["hidden"]) <= 0
    assert len(page["plots"]) == len(plots)
    for plot in page["plots"]:
        assert plot["traces"] > 0
        assert plot["drawing"] == pytest.approx(plot["box"], abs=1.0)
        # The labels leave enough space for the plot area.
        assert plot["panel"][0] > 0.55 * plot["box"][0]
        assert plot["panel"][1] > 0.45 * plot["box"][1]


# Width of the page, hidden width of each table, and sizes of the figures [px].
MEASURE = """
    const size = (part) => {
      const box = part.getBoundingClientRect();
      return [box.width, box.height];
    };
    return {
      width: document.documentElement.scrollWidth,
      hidden: Array.from(document.querySelectorAll(".table"))
        .map((table) => table.scrollWidth - table.clientWidth),
      plots: Array.from(document.querySelectorAll(".plot")).map((plot) => ({
        traces: plot.querySelectorAll(".trace, .shapelayer path").length,
        box: size(plot),
        drawing: size(plot.querySelector(".main-svg")),
        panel: [plot._fullLayout._size.w, plot._fullLayout._size.h],
      })),
    };
"""


def test_security_policy_of_report_blocks_every_request(desktop, reports, server):
    opened(desktop, reports["experiment"])
    address = f"http://127.0.0.1:{server.server_port}/asked"
    script = """
        const [address, done] = arguments;
        const image = new Promise((after) => {
          const made = new Image(); made.onload = made.onerror = after; made.src = address;
        });
        const fetched = fetch(address).then(() => "reached", () => "refused");
        Promise.all([fetched, image]).then(([answer]) => done(answer));
    """
    assert desktop.execute_async_script(script, address) == "refused"
    assert server.reached == []
    # Outside the report, the browser can load the address.
    desktop.get(address)
    assert server.reached[0] == "/asked"
    server.reached.clear()


def test_dragging_zooms_or_pans_figure_and_button_resets_it(desktop, reports):
    plot = opened(desktop, reports["experiment"])[0]
    before = axis(desktop, plot)
    hold = ActionChains(desktop).move_to_element_with_offset(area(desktop, plot), -150, 0)
    hold.click_and_hold().move_by_offset(150, 0).move_by_offset(50, 0).release().perform()
    zoomed = axis(desktop, plot)
    assert before[0] < zoomed[0] < zoomed[1] < before[1]
    assert zoomed[1] - zoomed[0] < 0.5 * (before[1] - before[0])
    plot.find_element(By.CSS_SELECTOR, "[data-title='Reset axes']").click()
    assert axis(desktop, plot) == pytest.approx(before)
    panel = area(desktop, plot)
    plot.find_element(By.CSS_SELECTOR, "[data-title=Pan]").click()
    before = axis(desktop, plot)
    hold = ActionChains(desktop).move_to_element(panel).click_and_hold()
    hold.move_by_offset(100, 0).release().perform()
    panned_axis = axis(desktop, plot)
    assert panned_axis[0] < before[0]
    assert panned_axis[1] - panned_axis[0] == pytest.approx(before[1] - before[0])


def test_printed_report_shows_collapsed_sections_and_fits_paper_width(desktop, reports):
    plots = opened(desktop, reports["flight"])
    widths = "return Array.from(document.querySelectorAll('.plot > .plot-container .main-svg'))"
    widths += ".map((drawing) => drawing.getBoundingClientRect().width)"
    closed = "return document.querySelectorAll('details:not([open])').length"
    before, folded = desktop.execute_script(widths), desktop.execute_script(closed)
    assert folded > 0
    desktop.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert set(desktop.execute_script(widths)) == {680.0}
    assert desktop.execute_script(closed) == 0
    desktop.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert desktop.execute_script(widths) == pytest.approx(before)
    assert desktop.execute_script(closed) == folded
    # WebDriver's print command has a fixed time limit of 10 s.
    printed = base64.b64decode(desktop.execute_cdp_cmd("Page.printToPDF", {})["data"])
    # The printed pages are A4, with one or two figures each.
    assert printed.startswith(b"%PDF")
    assert len(plots) / 2 <= printed.count(b"/Type /Page\n") <= 2 * len(plots)
