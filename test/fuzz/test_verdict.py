"""The judge sees each thing that it is there for."""

import gzip
import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import specimens
from left_files import unreadable
from PIL import Image
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


def test_an_end_as_it_should_be_has_no_short_coming(scratch):
    verdict = tried(python("print('done')"), scratch)
    assert (verdict.code, verdict.output, verdict.short) == (0, "done\n", ())
    refusal = python("import sys; sys.exit('x: input: line 3 is bad')")
    judge = tried(refusal, scratch.with_name("other"), expected=Expected((1,), ("input",)))
    assert judge.short == ()


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
    limits = Limits(cpu=1.0, memory=2**27)
    found = judged(python(text), scratch, limits=limits)
    assert any(sentence.startswith(short) for sentence in found), found


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


@pytest.mark.parametrize(
    "name, good, bad",
    [
        ("a.csv", b"x,y\n1,-2\n", (b"x,y\n1,-2\n3", b"x,y\n1\n", b"x,y\n1,=2\n", b"")),
        ("a.json", b'{"x": [1, null]}\n', (b'{"x": [1,', b'{"x": NaN}\n', b'{"x": "\x1b"}\n')),
        ("a.html", b"<html></html>\n", (b"<html>\n", b"<html>\x1b[31m</html>\n")),
        ("a.ini", b"[a]\nb = 1\n", (b"b = 1\n",)),
        ("a.yaml", b"a: 1\n", (b"a: [1\n", b"\n")),
        ("a.svg", b"<svg/>", (b"<svg>",)),
        ("a.pdf", b"%PDF\n%%EOF\n", (b"%PDF\n",)),
        ("made", b"a: 1\n", (b"a: 1", b"\xff\n", b"a\x00\n")),
    ],
)
def test_files_that_are_not_whole_are_seen(tmp_path, name, good, bad):
    path = tmp_path / name
    path.write_bytes(good)
    assert unreadable(tmp_path, [name]) == []
    path.with_name(f"{name}.gz").write_bytes(gzip.compress(good)[:-8])
    assert len(unreadable(tmp_path, [f"{name}.gz"])) == 1
    for content in bad:
        path.write_bytes(content)
        assert len(unreadable(tmp_path, [name])) == 1, content


def test_pictures_and_bags_that_are_cut_are_seen(tmp_path):
    Image.effect_noise((64, 64), 99).save(tmp_path / "a.png")
    drive = {specimen.name: specimen.content for specimen in specimens.recordings()}
    for name in ("drive.bag", "drive.db3"):
        (tmp_path / name).write_bytes(drive[name])
    names = ["a.png", "drive.bag", "drive.db3"]
    assert unreadable(tmp_path, names) == []
    for name in names:
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
    assert len(unreadable(tmp_path, names)) == 3


def test_a_function_that_writes_elsewhere_is_seen(scratch, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")

    def write():
        (other / "away").write_text("a")
        (scratch / "here").write_text("a\n")
        print("done")
        return 0

    assert judged(write, scratch) == (f"wrote outside of its folder: {other / 'away'}",)


def test_memory_of_a_judge_is_not_the_programs(scratch):
    held = b"1" * 2**30
    verdict = tried(python("sum(range(10**7))"), scratch)
    assert 2**20 < verdict.memory < 2**28 < len(held)


def test_memory_is_seen(scratch):
    # More than this process has had is counted exactly, less is looked at now and then.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    taken = own + 2**29
    (found,) = judged(
        python(f"print('done'); b = b'1' * {taken}"), scratch, limits=Limits(memory=taken)
    )
    took, amount, *unit = found.split()
    assert (took, unit) == ("took", ["MiB", "of", "memory"])
    assert 0 < int(amount) - taken / 2**20 < 176


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


def test_a_function_is_judged_in_a_process_of_its_own(scratch):
    def refuse():
        print(f"input: {os.getcwd()} {os.getpid()} is bad", file=sys.stderr)
        return 2

    verdict = tried(refuse, scratch, expected=Expected(words=("output",)))
    (unnamed,) = verdict.short
    assert unnamed.startswith("its last line names none of output: 'input: ")
    assert str(scratch) in verdict.error
    assert str(os.getpid()) not in verdict.error.split()


def test_what_a_function_raises_is_seen(scratch):
    found = judged(lambda: 1 // 0, scratch)
    assert found[0].startswith("exit code 70")
    assert found[1].startswith("prints: Traceback")
