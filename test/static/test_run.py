"""First call of ./run, with substitutes for all programs that would change the machine."""

import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

TOOLS = [
    *("awk", "basename", "cat", "cksum", "cut", "dirname", "env", "find", "flock", "grep", "id"),
    *("kill", "ls", "mkdir", "paste", "readlink", "rm", "sed", "sh", "sleep", "sort", "stat"),
    *("nproc", "tail", "tr", "true", "uniq"),
]
MISSING = "ros-environment"
APT_SIZES = """\
0 upgraded, 384 newly installed, 0 to remove and 3 not upgraded.
Need to get 221 MB of archives.
After this operation, 1009 MB of additional disk space will be used.
"""
APT_GET = f"""\
echo "apt-get $*" >>"$CALLS"
case "$*" in *--print-uris*) printf %s '{APT_SIZES}'; exit 0 ;; esac
# A failure of apt-get ends ./run.
exit 100
"""
SUDO_WITHOUT_PASSWORD = """\
echo "sudo $*" >>"$CALLS"
[ "$1" != -v ] || exit 1  # sudo -v asks for a password if any rule requires it
[ "$1" != -n ] || shift
exec "$@"
"""
SUDO_WITH_PASSWORD = """\
echo "sudo $*" >>"$CALLS"
[ "$1" != -n ] || exit 1
[ "$1" != -v ] || exit 0
exec "$@"
"""
DISPATCH_LINE = 'case "${1:-}" in'
SUDO_REFUSED = 'echo "sudo $*" >>"$CALLS"\nexit 1\n'


class Machine:
    """Copy of ./run in a folder with fake commands that log their calls."""

    def __init__(self, repository, folder):
        self.programs = folder / "programs"
        self.checkout = folder / "checkout"
        self.calls = folder / "calls"
        self.calls.touch()
        for directory in (self.programs, self.checkout):
            directory.mkdir()
        for name in TOOLS:
            (self.programs / name).symlink_to(shutil.which(name))
        for name in ("requirements.txt", "requirements-dev.txt", "constraints.txt"):
            shutil.copy(repository / name, self.checkout)
        (folder / "os-release").write_text('ID=debian\nVERSION_ID="12"\n')
        self.release = folder / "os-release"
        text = (repository / "run").read_text()
        text = text.replace("/etc/os-release", str(self.release))
        self._add(self.checkout / "run", text.replace("/opt/ros/noetic", str(folder / "none")))
        self.add("apt-get", APT_GET)
        self.add("dpkg-query", f"printf '%s installed\\n' \"$@\" | sed '/^{MISSING} /d'")

    @staticmethod
    def _add(path, text):
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def add(self, name, text):
        """Write a fake command to the folder on PATH."""
        self._add(self.programs / name, f"#!/bin/sh\n{text}\n")

    def keep_definitions(self, command):
        """Replace the part of ./run that follows the definitions with a command."""
        definitions, dispatch, _ = (self.checkout / "run").read_text().partition(DISPATCH_LINE)
        assert dispatch
        self._add(self.checkout / "run", definitions + command)

    def run(self, *arguments, **environment):
        return subprocess.run(
            [self.checkout / "run", *arguments],
            env={"PATH": str(self.programs), "CALLS": str(self.calls), **environment},
            cwd=self.checkout,
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
            check=False,
        )

    def called(self):
        return self.calls.read_text().splitlines()


@pytest.fixture
def machine(repository, tmp_path):
    """Return a machine on which the caller is not root."""
    machine = Machine(repository, tmp_path)
    machine.add("id", "echo 1000")
    return machine


@pytest.mark.parametrize(
    "sudo", [SUDO_WITHOUT_PASSWORD, SUDO_WITH_PASSWORD], ids=["without password", "asks"]
)
def test_missing_packages_are_installed_with_sudo(machine, sudo):
    machine.add("sudo", sudo)
    done = machine.run("demo")
    assert "installing packages failed" in done.stderr, done.stderr
    assert (
        "run: 1 of 3: installing system packages with apt-get (384 packages, 221 MB to download, "
        "1009 MB on disk) ..." in done.stderr
    )
    # apt-get installs only the missing package.
    sizes, *installing = [call for call in machine.called() if call.startswith("apt-get")]
    assert "--print-uris" in sizes
    assert installing[0].endswith(f"install {MISSING}")
    assert all("--print-uris" in call or call.startswith("apt-get -y") for call in installing)
    assert ("sudo -v" in machine.called()) == (sudo is SUDO_WITH_PASSWORD)


@pytest.mark.parametrize("sudo", [SUDO_REFUSED, None])
def test_missing_packages_without_sudo_are_reported_with_install_command(machine, sudo):
    if sudo:
        machine.add("sudo", sudo)
    done = machine.run("demo")
    assert done.returncode == 1
    assert done.stderr.endswith(f"apt-get install --no-install-recommends {MISSING}\n")
    assert "refused" in done.stderr if sudo else "there is no sudo" in done.stderr
    assert not any(call.startswith("apt-get") for call in machine.called())


@pytest.mark.parametrize(
    ("version", "command", "has_sdf", "has_browser"),
    [
        ("12", ["demo"], True, False),
        ("13", ["demo"], False, False),
        ("12", ["test"], True, False),
        ("12", ["test", "--all"], True, True),
    ],
)
def test_installed_packages_depend_on_debian_release_and_run_command(
    machine, version, command, has_sdf, has_browser
):
    machine.release.write_text(f'ID=debian\nVERSION_ID="{version}"\n')
    machine.add("dpkg-query", "true")
    packages = machine.run(*command).stderr.split()
    assert {"catkin", "ros-environment", "rosbash", "python3-tk"} <= set(packages)
    assert ("ignition-tools" in packages) == ("libsdformat-dev" in packages) == has_sdf
    assert ("chromium" in packages) == ("chromium-driver" in packages) == has_browser


def test_build_folder_is_read_from_environment(machine, tmp_path):
    machine.run("demo", IMU_SIMULATION_FRAMEWORK_BUILD="../else where")
    assert (tmp_path / "else where" / "lock").exists()
    assert not (machine.checkout / ".build").exists()


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        ([], ["-m", "quick"]),
        (["--all"], ["-m", "quick or gate"]),
        (["--thorough"], ["-m", "thorough"]),
        (["test/unit", "-k", "yaw or gnss"], ["pytest", "test/unit", "-k", "yaw or gnss"]),
    ],
)
def test_run_test_selects_tier_or_passes_arguments_to_pytest(machine, arguments, passed):
    machine.keep_definitions('run_tests "$@"\n')
    machine.add("python", """printf '%s\\n' "$PWD" "$@"\nexit 3""")
    done = machine.run(*arguments)
    folder, *words = done.stdout.splitlines()
    assert folder == str(machine.checkout)
    assert words[:2] == ["-m", "pytest"] and words[-len(passed) :] == passed
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("typed", "suggestion"),
    [
        ("nothing.py", "./run --help"),
        ("heading_budgets.py", "heading_budget.py"),
        ("tests", "test"),
    ],
)
def test_unknown_command_of_run_is_reported_with_suggestion(machine, repository, typed, suggestion):
    machine.keep_definitions("command=$1\nshift\nrun_command\n")
    for folder in ("scripts", "offline_processing"):
        (machine.checkout / folder).symlink_to(repository / folder)
    (machine.checkout / ".build" / "venv" / "bin").mkdir(parents=True)
    (machine.checkout / ".build" / "venv" / "bin" / "python").symlink_to(sys.executable)
    done = machine.run(typed)
    assert done.returncode == 127
    assert done.stderr.startswith("run: ") and re.search(rf"\b{typed}\b", done.stderr)
    assert re.search(rf"(?<!\w){re.escape(suggestion)}(?!\w)", done.stderr)
    done = machine.run("true")
    assert (done.returncode, done.stderr) == (0, "")


def test_optional_pandas_libraries_of_debian_are_not_imported(tmp_path):
    for name in ("bottleneck", "numexpr"):
        (tmp_path / f"{name}.py").write_text("raise AttributeError('_ARRAY_API not found')")
    subprocess.run(
        [sys.executable, "-c", "import pandas"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=True,
    )
