"""Tests of the fuzzing oracle, which must report each violated requirement."""

import os
import sys
from dataclasses import replace

import psutil
import pytest
from patience import wait_until
from program_result import REJECTED, Expected, Limits, run_and_check


@pytest.fixture
def scratch(tmp_path):
    for name in ("other", "scratch"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "input").write_text("1\n")
    return tmp_path / "scratch"


def python(text):
    return [sys.executable, "-c", text]


def violations(program, scratch, **options):
    return run_and_check(program, scratch, **options).violations


@pytest.mark.parametrize(
    "text, expected_violation",
    [
        ("1 / 0", "exit code 1"),
        ("1 / 0", "prints: Traceback"),
        ("import sys; sys.exit(2)", "last line is not a sentence"),
        ("import sys; print('a b' * 1000); sys.exit(2)", "last line has 3000 characters"),
        ("import os; os.kill(os.getpid(), 11)", "exit code -11"),
        ("import warnings; warnings.warn('x', RuntimeWarning)", "prints: <string>:1: RuntimeW"),
        ("open('input', 'w')", "changed: input"),
        ("import os; os.remove('input')", "removed: input"),
        ("import os; os.chmod('input', 0)", "changed: input"),
        ("open('a.part', 'w')", "leaves a.part"),
        ("import os; os.makedirs('out/.x/y')", "leaves out/.x"),
        ("import tempfile; tempfile.mkstemp('', 'made')", "leaves temporary made"),
        ("while True: pass", "exit code -9"),
        ("print('{', file=open('a.json', 'w'))", "leaves an unreadable file: a.json"),
        ("print('a,b\\n1', file=open('a.csv', 'w'))", "leaves an unreadable file: a.csv"),
        ("print('a,b\\n1,=2', file=open('a.csv', 'w'))", "leaves an unreadable file: a.csv"),
        ("open('a', 'w').write('a: 1')", "leaves an unreadable file: a"),
        ("pass", "exit code 0 without output"),
        ("raise SystemExit(1)", "prints 0 messages, expected 1"),
        (
            "import sys; print('a b'); print('x: error: a b', file=sys.stderr)",
            "exit code 0 with a message",
        ),
        ("import sys; print('x: a b\\n' * 10, file=sys.stderr); sys.exit(2)", "prints 10 messages"),
        ("import sys; sys.exit('x: \\x1b[31ma b')", "prints unprintable characters: 'x: \\x1b"),
        ("import sys; sys.exit('x: \\u202ea b')", "prints unprintable characters: 'x: \\u202e"),
        ("import os; os.write(1, b'a \\xff b')", "prints unprintable characters: 'a \\udcff"),
        ("open('../x', 'w')", "writes outside of its folder: "),
        ("open('../../x', 'w')", "writes outside of its folder: "),
    ],
)
def test_oracle_reports_violated_requirement(scratch, text, expected_violation):
    limits = Limits(cpu=1.0 if text.startswith("while") else Limits.cpu)
    reported = violations(python(text), scratch, limits=limits)
    assert any(message.startswith(expected_violation) for message in reported), reported


@pytest.mark.parametrize(
    "line, is_reported",
    [
        ("x: a.csv: column t is missing", False),
        ("x: a.csv, line 7: column t is missing", False),
        ("x: column t is missing", True),
        ("x: extra.csv: column t is missing", True),
        ("x: a.csv.gz, line 7: column t is missing", False),
        ("x: the format sdf has no such key", False),
    ],
)
def test_oracle_requires_file_name_in_rejection(scratch, line, is_reported):
    expected = Expected((REJECTED,), names=("a.csv",), nameless=("^x: the format ",))
    text = f"import sys; print({line!r}, file=sys.stderr); sys.exit(2)"
    reported = violations(python(text), scratch, expected=expected)
    assert bool(reported) == is_reported, reported


def test_oracle_reports_excessive_memory(scratch):
    program = python("b = b'1' * 2**29; print('done')")
    reported = violations(program, scratch, limits=Limits(memory=2**29))
    (message,) = (message for message in reported if message.endswith("MiB of memory"))
    # Linux includes the memory of the parent until exec, so the usage is at least 512 MiB.
    assert int(message.split()[1]) >= 512


@pytest.mark.parametrize(
    "expected, expected_violation",
    [
        (Expected(output=("200 samples",)), "output without '200 samples'"),
        (Expected(results=("out/*.csv",)), "exit code 0, but there is no out/*.csv"),
        (Expected(places=("out",)), "writes outside of the output: made"),
        (Expected((2,)), "exit code 0, expected one of (2,)"),
        (Expected(), None),
    ],
)
def test_oracle_reports_unmet_expectation(scratch, expected, expected_violation):
    text = "print('20 samples'); open('made', 'w').write('a\\n'); open('input', 'a').write('b\\n')"
    expected = replace(expected, changed=("input",))
    reported = violations(python(text), scratch, expected=expected)
    assert reported == ((expected_violation,) if expected_violation else ())


def test_oracle_reports_file_written_outside_folder_by_function(scratch, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")

    def write():
        (other / "away").write_text("a")
        (scratch / "here").write_text("a\n")
        print("done")
        return 0

    assert violations(write, scratch) == (f"writes outside of its folder: {other / 'away'}",)


def test_oracle_terminates_program_at_time_limit(scratch):
    os.mkfifo(scratch / "fifo")
    reported = violations(python("open('fifo')"), scratch, limits=Limits(wall=1.0))
    assert reported == ("does not end within 1 s",)


def test_oracle_terminates_and_reports_remaining_process(scratch):
    seconds = f"{10_000 + os.getpid()}"  # a duration that identifies this process
    start = f"import subprocess; subprocess.Popen(['sleep', '{seconds}'], start_new_session=True)"
    start = f"print('done'); {start}"
    assert violations(python(start), scratch) == (f"leaves a process: sleep {seconds}",)

    def is_gone():
        running = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
        return ["sleep", seconds] not in running

    wait_until(is_gone, f"end of sleep {seconds}")
