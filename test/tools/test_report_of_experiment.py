"""Tests of the command-line program report.py."""

import re
import shlex
import subprocess
import sys

from patience import PATIENCE
from tool_calls import TOOLS, assert_refused, assert_success, call_tool
from written_results import write_result


def test_report_has_same_content_in_result_folder_and_in_out_file(tmp_path):
    folder = write_result(tmp_path, drive="a<b>")
    done = call_tool("report.py", folder.folder)
    assert (done.returncode, done.stderr) == (0, "")
    path = folder.path("report.html")
    assert done.stdout == f"{path}\n"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<h1>Yaw error on a&lt;b&gt;</h1>" in text
    path.unlink()
    assert_success(call_tool("report.py", folder.folder, "--out", tmp_path / "again.html"))
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text
    assert not path.exists()


def test_report_progress_is_shown_in_terminal(tmp_path):
    folder = write_result(tmp_path)
    command = shlex.join([sys.executable, str(TOOLS / "report.py"), str(folder.folder)])
    # The command ``script`` provides a terminal.
    script = ["script", "-qefc", f"stty cols 100; unset TQDM_DISABLE; {command}", "/dev/null"]
    options = {"stdout": subprocess.PIPE, "text": True, "timeout": PATIENCE}
    shown = subprocess.run(script, check=True, **options).stdout
    for step in ("reading tables", "comparing yaws", "drawing figures"):
        assert f"{step}: " in shown
    assert re.search(r"report: 100%.* 3/3 \[\d\d:\d\d", shown)


def test_report_that_would_overwrite_table_is_rejected(tmp_path):
    folder = write_result(tmp_path)
    table = folder.path("imu_real.csv")
    content = table.read_bytes()
    assert_refused(call_tool("report.py", folder.folder, "--out", table), table)
    assert table.read_bytes() == content
