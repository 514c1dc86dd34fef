"""report.py, as a person calls it."""

from tool_calls import call_tool
from written_results import write_result


def test_a_report_of_a_result(tmp_path):
    folder = write_result(tmp_path, drive="a<b>")
    done = call_tool("report.py", folder.folder)
    assert (done.returncode, done.stderr) == (0, "")
    place = folder.path("report.html")
    assert done.stdout == f"{place}\n"
    text = place.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<h1>Yaw error on a&lt;b&gt;</h1>" in text


def test_it_is_the_same_each_time_and_goes_where_it_is_told(tmp_path):
    folder = write_result(tmp_path)
    for name in ("one.html", "two.html"):
        assert call_tool("report.py", folder.folder, "--out", tmp_path / name).returncode == 0
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert not folder.path("report.html").exists()


def test_no_result_and_no_table_to_write_over(tmp_path):
    done = call_tool("report.py", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no result in this folder" in done.stderr
    folder = write_result(tmp_path)
    table = folder.path("imu_real.csv")
    before = table.read_bytes()
    done = call_tool("report.py", folder.folder, "--out", table)
    assert done.returncode == 2
    assert "this is the input" in done.stderr
    assert table.read_bytes() == before
