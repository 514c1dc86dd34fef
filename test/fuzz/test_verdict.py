"""The judge sees each thing that it is there for."""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from verdict import Expected, Limits, tried


@pytest.fixture
def scratch(tmp_path):
    for name in ("other", "scratch"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "input").write_text("one\n")
    return tmp_path / "scratch"


def python(text):
    return [sys.executable, "-c", text]


def judged(program, scratch, **options):
    return tried(program, scratch, **options).short


@pytest.mark.parametrize(
    "text, short",
    [
        ("1 / 0", "exit code 1"),
        ("import sys; sys.exit(2)", "its last line is no sentence"),
        ("import sys; print('a b' * 1000); sys.exit(2)", "its last line has 3000 characters"),
        ("import os; os.kill(os.getpid(), 11)", "exit code -11"),
        ("import warnings; warnings.warn('x', RuntimeWarning)", "prints: <string>:1: RuntimeW"),
        ("open('input', 'w')", "changed: input"),
        ("import os; os.remove('input')", "removed: input"),
        ("import os; os.chmod('input', 0)", "changed: input"),
        ("open('a.part', 'w')", "left behind: a.part"),
        ("import os; os.makedirs('out/.x/y')", "left behind: out/.x"),
        ("import tempfile; tempfile.mkstemp('', 'made')", "left behind: temporary made"),
        ("while True: pass", "exit code -9"),
        ("print('{', file=open('a.json', 'w'))", "left what cannot be read: a.json"),
        ("print('a,b\\n1', file=open('a.csv', 'w'))", "left what cannot be read: a.csv"),
        ("print('a,b\\n1,=2', file=open('a.csv', 'w'))", "left what cannot be read: a.csv"),
        ("open('a', 'w').write('a: 1')", "left what cannot be read: a"),
        ("pass", "exit code 0, but it says nothing"),
        ("raise SystemExit(1)", "says 0 sentences, expected one"),
        (
            "import sys; print('a b'); print('x: error: a b', file=sys.stderr)",
            "exit code 0, but it",
        ),
        ("import sys; print('x: a b\\n' * 10, file=sys.stderr); sys.exit(2)", "says 10 sentences"),
        ("import sys; sys.exit('x: \\x1b[31ma b')", "prints what cannot be seen: 'x: \\x1b"),
        ("import sys; sys.exit('x: \\u202ea b')", "prints what cannot be seen: 'x: \\u202e"),
        ("import os; os.write(1, b'a \\xff b')", "prints what cannot be seen: 'a \\udcff"),
        ("open('../x', 'w')", "wrote outside of its folder: "),
        ("open('../../x', 'w')", "wrote outside of its folder: "),
    ],
)
def test_each_short_coming_is_seen(scratch, text, short):
    limits = Limits(cpu=1.0 if text.startswith("while") else 20.0)
    found = judged(python(text), scratch, limits=limits)
    assert any(sentence.startswith(short) for sentence in found), found


def test_more_memory_than_allowed_is_seen(scratch):
    found = judged(python("b = b'1' * 2**29; print('done')"), scratch, limits=Limits(memory=2**29))
    (sentence,) = (sentence for sentence in found if sentence.endswith("MiB of memory"))
    # Linux counts the process that started it, which may be as large, until the program is loaded.
    assert int(sentence.split()[1]) >= 512


@pytest.mark.parametrize(
    "expected, short",
    [
        (Expected(told=("200 samples",)), "does not say '200 samples'"),
        (Expected(results=("out/*.csv",)), "exit code 0, but there is no out/*.csv"),
        (Expected(places=("out",)), "wrote where nobody asked it to: made"),
        (Expected((2,)), "exit code 0, expected one of (2,)"),
        (Expected(), None),
    ],
)
def test_what_a_program_has_to_give_is_looked_for(scratch, expected, short):
    text = "print('20 samples'); open('made', 'w').write('a\\n'); open('input', 'a').write('b\\n')"
    expected = replace(expected, changed=("input",))
    assert judged(python(text), scratch, expected=expected) == ((short,) if short else ())


def test_a_function_that_writes_elsewhere_is_seen(scratch, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")

    def write():
        (other / "away").write_text("a")
        (scratch / "here").write_text("a\n")
        print("done")
        return 0

    assert judged(write, scratch) == (f"wrote outside of its folder: {other / 'away'}",)


def test_waiting_for_ever_is_seen(scratch):
    os.mkfifo(scratch / "fifo")
    found = judged(python("open('fifo')"), scratch, limits=Limits(wall=1.0))
    assert found == ("did not end within 1 s",)


def test_what_is_left_running_is_seen_and_ended(scratch):
    start = "import subprocess; subprocess.Popen(['sleep', '77.25'], start_new_session=True)"
    start = f"print('done'); {start}"
    assert judged(python(start), scratch) == ("left running: sleep 77.25",)
    time.sleep(0.05)
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert b"sleep\x0077.25\x00" not in lines
