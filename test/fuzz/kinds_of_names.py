"""Trials of names that mean something to whoever draws or computes, and of forged results."""

import dataclasses
import functools
import hashlib
import io
import tempfile
from pathlib import Path

import numpy as np
import specimens
import targets
import yaml
from harm_bytes import harmed_bytes
from harm_settings import harmed_settings
from trials import OUT, Trial, put
from verdict import DONE, Expected

_NAMES = (
    *("$\\frac{", "a$b", "$x$", "$$", "$\\alpha$", "a_{b", "\\textbf{x", "100 % $", "\\", "^_^"),
    *("=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+1+2", "-1+2", "\t=1", "|x", "%s%n", "{0}", "{x}"),
    *("<script>alert(1)</script>", "a&b;", '"><b>', "]]>", "é☃", "_hidden", "a,b", 'a"b', "a;b"),
)


def names(random, folder) -> Trial:
    """Names of files, IMUs and results, which stand in figures, tables and pages."""
    return random.choice((_of_imu, _of_imu, _of_result, _of_result, _of_recording))(random, folder)


def _of_imu(random, folder):
    """The name that a specification gives itself."""
    specimen = next(one for kind, one in specimens.parameters() if one.name == "bno055.yaml")
    text = yaml.safe_load(specimen.content)
    text["name"] = random.choice(_NAMES)
    name = put(folder, "mine.yaml", yaml.safe_dump(text).encode())
    arguments = ["--straight", "20s", "--imu", name, "--out", OUT]
    runs = ["--runs", "20", "--what", "linear", "--workers", "1"]
    tool, more = random.choice((("heading_budget.py", []), ("monte_carlo.py", runs)))
    # A name with a slash would lead to another folder.
    expected = Expected((2,), (name,)) if "/" in text["name"] else Expected((0,))
    return Trial(tool, [*arguments, *more, "--report"], expected, figures=True)


def _of_result(random, folder):
    """The name of a result's folder."""
    name = random.choice([name for name in _NAMES if not name.startswith(("-", "_", "\t"))])
    name = name.replace("/", "_")
    (Path(folder) / name).mkdir()
    for file in specimens.result():
        put(folder, f"{name}/{file.name}", file.content)
    tool = random.choice(("plot_multiple_errors.py", "offline_result_comparison.py", "report.py"))
    # The page would stand beside the tables, otherwise.
    out = "report.html" if tool == "report.py" else OUT
    return Trial(tool, [name, "--out", out], Expected((0,)), figures=True)


def _of_recording(random, folder):
    """The name of a recording's file."""
    specimen = specimens.recording("drive.bag")
    names = [f"{name}.bag".replace("/", "_").lstrip("-\t") for name in random.sample(_NAMES, 2)]
    for name in names:
        put(folder, name, specimen.content)
    if random.random() < 0.4:
        expected = Expected(DONE)
        return Trial("check_recording.py", [names[0], "--out", OUT], expected, figures=True)
    return Trial("compare_yaw.py", [*names, "--out", OUT], Expected((0,)), figures=True)


_DRAWN = ["--straight", "20s", "--imu", "generic", "--what", "linear", "--workers", "1"]


@functools.lru_cache(maxsize=None)
def _ensemble() -> dict:
    """Files of an ensemble: path below its folder -> content."""
    with tempfile.TemporaryDirectory() as place:
        arguments = [*_DRAWN, "--runs", "20", "--out", f"{place}/{OUT}"]
        run = targets.program("monte_carlo.py", arguments)
        if targets.in_silence(run):
            raise AssertionError("an ensemble that is to be forged was not drawn")
        root = Path(place) / OUT
        files = (path for path in root.rglob("*") if path.is_file())
        return {str(path.relative_to(root)): path.read_bytes() for path in files}


def chunks(random, folder) -> Trial:
    """An ensemble that somebody else has begun, and perhaps damaged or forged."""
    (Path(folder) / OUT / "chunks").mkdir(parents=True)
    files = dict(_ensemble())
    expected = Expected((0,))
    (name,) = (name for name in files if name.endswith(".chunk"))
    choice = random.random()
    if choice < 0.3:
        files["job.json"] = harmed_settings(random, files["job.json"].decode())
        expected = Expected((0, 2), ("job.json",))
    elif choice < 0.9:
        head, _, body = files[name].partition(b"\n")
        body = harmed_bytes(random, body) if random.random() < 0.5 else _other_arrays(random, body)
        if random.random() < 0.9:
            head = head[:-64] + hashlib.sha256(body).hexdigest().encode()
        files[name] = head + b"\n" + body
        # Drawn anew, as if it were not there, or refused by name.
        expected = Expected((0, 2), (Path(name).name,))
    for path, content in files.items():
        put(folder, f"{OUT}/{path}", content)
    arguments = [*_DRAWN, "--runs", random.choice(("20", "20", "30")), "--out", OUT]
    expected = dataclasses.replace(expected, changed=tuple(f"{OUT}/{path}" for path in files))
    return Trial("monte_carlo.py", arguments, expected)


def _other_arrays(random, body):
    """One array has other numbers, another shape or kind, or needs pickle to be read."""
    with np.load(io.BytesIO(body), allow_pickle=False) as file:
        arrays = dict(file)
    name = random.choice(sorted(arrays))
    array = arrays[name]
    others = (np.full_like(array, 7), array[..., np.newaxis], np.zeros(0), np.array("text"))
    arrays[name] = random.choice((*others, np.array([{"a": 1}, None], dtype=object)))
    target = io.BytesIO()
    np.savez_compressed(target, **arrays)
    return target.getvalue()
