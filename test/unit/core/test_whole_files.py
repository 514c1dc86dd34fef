"""Atomic replacement of files: permissions, links, and interrupted writes."""

import os
import signal
import socket
import stat
import subprocess
import sys

import pytest
from patience import PATIENCE

from imu_simulation_framework.core.errors import ResultError
from imu_simulation_framework.core.whole_files import refuse_overwriting, replace_file, write_whole


def refusal(path):
    with pytest.raises(ResultError) as caught:
        write_whole(path, b"new")
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def test_replaced_file_preserves_mode_and_new_file_follows_umask(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    for mode in (0o600, 0o640, 0o444, 0o755):
        path.chmod(mode)
        write_whole(path, b"new")
        assert path.read_bytes() == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == mode
    for umask in (0o022, 0o077):
        before = os.umask(umask)
        try:
            write_whole(tmp_path / f"new_{umask}", b"new")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / f"new_{umask}").stat().st_mode) == 0o666 & ~umask


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_replaced_file_preserves_owner(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    write_whole(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_fifo_device_socket_or_folder_is_not_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # because the path of a socket must be short
    os.mkfifo("fifo")
    os.mkdir("folder")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path, kind, is_kind in (
            ("fifo", "FIFO", stat.S_ISFIFO),
            ("/dev/null", "device", stat.S_ISCHR),
            ("socket", "socket", stat.S_ISSOCK),
            ("folder", "folder", stat.S_ISDIR),
        ):
            assert f"is a {kind}" in refusal(path)
            assert is_kind(os.stat(path).st_mode)


@pytest.mark.parametrize("target", ["there", "nowhere", "/dev/null"])
def test_symbolic_link_is_rejected_and_its_target_is_reported(tmp_path, target):
    (tmp_path / "there").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    assert f"is a link to {target}," in refusal(link)
    assert link.is_symlink()
    assert (tmp_path / "there").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


def test_temporary_file_is_in_new_private_folder(tmp_path):
    names = set()
    for _ in range(3):
        with replace_file(tmp_path / "file") as aside:
            assert stat.S_IMODE(aside.parent.stat().st_mode) == 0o700
            assert aside.parent.parent == tmp_path
            aside.write_bytes(b"new")
            names.add(aside)
    assert len(names) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
def test_interrupted_write_leaves_only_old_file(tmp_path, error):
    (tmp_path / "file").write_bytes(b"old")

    def break_off():
        with replace_file(tmp_path / "file") as aside:
            aside.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        break_off()
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_input_is_never_overwritten_through_alias_and_missing_folder_is_reported(tmp_path):
    source = tmp_path / "imu.yaml"
    source.write_bytes(b"old")
    (tmp_path / "link").symlink_to(source)
    os.link(source, tmp_path / "hard")
    for name in ("imu.yaml", "link", "hard", "../" + tmp_path.name + "/imu.yaml"):
        with pytest.raises(ResultError, match="is the input"):
            refuse_overwriting(tmp_path / name, [tmp_path / "other", source])
    refuse_overwriting(tmp_path / "new.yaml", [source, tmp_path / "nowhere"])
    assert "No such file" in refusal(tmp_path / "nowhere" / "file")


WRITING_FOR_EVER = """
import sys, time
from imu_simulation_framework.core.programs import run_tool
from imu_simulation_framework.core.whole_files import replace_file

def main(arguments):
    with replace_file(arguments[0]) as aside, open(aside, "wb") as file:
        file.write(b"half")
        file.flush()
        print("writing", flush=True)
        # A signal that comes just before a sleep is handled after it.
        while True:
            time.sleep(0.05)

sys.exit(run_tool(main))
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signal_during_write_leaves_only_old_file(tmp_path, number, code):
    (tmp_path / "file").write_bytes(b"old")
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING_FOR_EVER, str(tmp_path / "file")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(number)
        _, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == code
    assert len(error.splitlines()) == 1 and "Traceback" not in error
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
