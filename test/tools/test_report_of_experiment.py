"""report.py, as a person calls it."""

import re
import shlex
import subprocess
import sys

from tool_calls import TOOLS, call_tool, refused, succeeded
from written_results import write_result


def test_a_report_of_a_result_is_the_same_each_time_and_goes_where_it_is_told(tmp_path):
    folder = write_result(tmp_path, drive="a<b>")
    done = call_tool("report.py", folder.folder)
    assert (done.returncode, done.stderr) == (0, "")
    place = folder.path("report.html")
    assert done.stdout == f"{place}\n"
    text = place.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<h1>Yaw error on a&lt;b&gt;</h1>" in text
    folder = write_result(tmp_path)
    for name in ("one.html", "two.html"):
        succeeded(call_tool("report.py", folder.folder, "--out", tmp_path / name))
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert not folder.path("report.html").exists()


def test_a_terminal_shows_the_steps_and_how_long_they_take(tmp_path):
    folder = write_result(tmp_path)
    command = shlex.join([sys.executable, str(TOOLS / "report.py"), str(folder.folder)])
    # script gives it a terminal.
    script = ["script", "-qefc", f"stty cols 100; {command}", "/dev/null"]
    told = subprocess.run(script, stdout=subprocess.PIPE, text=True, check=True).stdout
    for step in ("reading tables", "comparing yaws", "drawing figures"):
        assert f"{step}: " in told
    assert re.search(r"report: 100%.* 3/3 \[\d\d:\d\d", told)


def test_a_table_is_not_written_over(tmp_path):
    folder = write_result(tmp_path)
    table = folder.path("imu_real.csv")
    before = table.read_bytes()
    refused(call_tool("report.py", folder.folder, "--out", table), "this is the input")
    assert table.read_bytes() == before
