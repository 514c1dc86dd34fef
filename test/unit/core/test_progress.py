"""Progress output of long tasks if it is redirected, since capsys is not a terminal."""

from imu_simulation_framework.core import progress


def test_short_task_prints_no_progress(capsys):
    with progress.progress_bar(desc="driving", total=60.0, disable=False) as bar:
        for _ in range(60):
            bar.update(1.0)
    assert capsys.readouterr().err == ""


def test_long_task_prints_percentage_once_per_period(capsys, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.progress_bar(desc="driving", total=50.0, disable=False) as bar:
        for _ in range(50):
            clock[0] += progress.LINE_PERIOD / 20.0
            bar.update(1.0)
            bar.refresh()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["driving: 40 %", "driving: 80 %"]


def test_progress_without_total_prints_amount(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_PERIOD", 0.0)
    with progress.progress_bar(desc="reading", unit=" messages", disable=False) as bar:
        bar.update(12)
    assert "reading: 12 messages, " in capsys.readouterr().err
