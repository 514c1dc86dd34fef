"""Trials of which all is known: good files, and files with faults whose consequence is sure."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import specimens
from left_files import messages
from trials import OUT, Trial, put
from verdict import DONE, Expected

_DONE = Expected((0,))


def good(random, folder) -> Trial:
    """Good files, of which every sample is told and every result is there."""
    return random.choice(
        (_read, _read, _read, _read, _checked, _realistic, _parameters, _static, _result, _settings)
    )(random, folder)


def told_samples(specimen, kind, fewer=0, more=0, gone=0) -> str:
    """What is said of a recording of which so many samples are unusable, repeated or not there."""
    count = specimens.samples(specimen, kind) - gone
    return rf"\b{count - fewer} of {count + more} samples in use"


def _read(random, folder):
    specimen = random.choice([found for found in specimens.recordings() if found.serves])
    kind = random.choice(specimen.serves)
    told = (told_samples(specimen, kind),)
    if random.random() < 0.2:
        specimen = specimens.packed(specimen)
    name = put(folder, specimen.name, specimen.content)
    return Trial("read", [name, kind], Expected((0,), told=told))


def _checked(random, folder):
    specimen = random.choice([found for found in specimens.recordings() if len(found.serves) != 1])
    name = put(folder, specimen.name, specimen.content)
    told = tuple(told_samples(specimen, kind) for kind in specimen.serves)
    if random.random() < 0.7:
        return Trial("check", [name], Expected((*DONE, 2), (name,), told=told))
    expected = Expected(DONE, told=told)
    return Trial("check_recording.py", [name, "--out", OUT], expected)


def _realistic(random, folder):
    files = specimens.ros2_folder(random.random() < 0.3)
    if random.random() < 0.5:
        specimen = next(one for one in specimens.recordings() if one.name == "drive.bag")
        return realistic(random, put(folder, specimen.name, specimen.content), _DONE)
    (Path(folder) / "drive").mkdir()
    for file in files:
        put(folder, f"drive/{file.name}", file.content)
    return realistic(random, "drive", _DONE)


def realistic(random, name, expected) -> Trial:
    """A bag with a realistic IMU added: all else in it has to be as before."""
    out = f"{OUT}.bag" if name.endswith(".bag") else OUT
    arguments = [name, "--out", out, "--imu", random.choice(("bno055", "hector", "generic"))]

    def compare(folder):
        before, after = (messages(folder / bag) for bag in (name, out))
        added = [after.pop("/imu/data", []), after.pop("/imu/data/errors", [])]
        if before != after:
            yield "the copied bag's other messages are not those of the bag"
        if not all(added):
            yield f"the bag has {len(added[0])} readings and {len(added[1])} words on them"

    return Trial("apply_imu_errors.py", arguments, expected, compare=compare)


def _parameters(random, folder):
    source, specimen = random.choice(specimens.parameters())
    name = put(folder, specimen.name, specimen.content)
    arguments = [name, "--from", source, "--to", "specification", "--rate", "100"]
    if random.random() < 0.5:
        arguments += ["--out", "a.yaml"]
    return Trial("convert_imu_parameters.py", arguments, _DONE)


def _static(random, folder):
    count, rate = random.randrange(20, 2000), random.choice((10, 25, 100))
    arguments = ["bno055", "--hours", repr(count / rate / 3600.0), "--rate", f"{rate}"]

    def compare(folder):
        with open(folder / "static.csv", newline="") as file:
            rows = sum(1 for _ in csv.reader(file)) - 1
        if rows != count:
            yield f"{rows} rows of {count} samples"

    expected = Expected((0,), told=(rf"\({count} samples",))
    arguments += ["--out", "static.csv", "--format", "csv"]
    return Trial("simulate_static.py", arguments, expected, compare=compare)


def _result(random, folder):
    (Path(folder) / "run").mkdir()
    rows = {}
    for file in specimens.result():
        put(folder, f"run/{file.name}", file.content)
        rows[file.name.split("_", 1)[1]] = file.content.count(b"\n") - 1
    tool = random.choice(("export_tum.py", "export_tum.py", "plot_multiple_errors.py"))
    tool = random.choice((tool, "compare_yaw.py", "offline_result_comparison.py"))

    def compare(folder):
        for name, source in (("driven", "ground_truth"), ("simulated_imu", "imu_simulated")):
            lines = (folder / OUT / f"{name}.tum").read_text().splitlines()
            found = np.array([line.split() for line in lines if not line.startswith("#")], float)
            if len(found) != rows[f"{source}.csv"] or found.shape[1] != 8:
                yield f"{name}.tum has {len(found)} poses, {source}.csv {rows[f'{source}.csv']}"

    if tool != "export_tum.py":
        return Trial(tool, ["run", "--out", OUT], _DONE)
    return Trial(tool, ["run", "--out", OUT], _DONE, compare=compare)


def _settings(random, folder):
    text, tool = random.choice(
        (
            (specimens.configuration(), "load"),
            (specimens.robot(), "robot"),
            (specimens.CORRECTION, "correction"),
            (specimens.GIMBALS[0], "gimbal"),
            (specimens.GIMBALS[1], "gimbal"),
        )
    )
    return Trial(tool, [put(folder, "settings", text.encode())], _DONE)


def known_faults(random, folder) -> Trial:
    """Recordings as text, with faults that are counted or refused with their line."""
    specimen = random.choice(
        [found for found in specimens.recordings() if found.name in _VALUE_COLUMNS]
    )
    kind = random.choice(specimen.serves)
    lines = specimen.content.decode().splitlines()
    first = next(k for k, line in enumerate(lines) if line[0].isdigit())
    # Not at the ends, so that the time from first to last stays.
    rows = sorted(random.sample(range(first + 2, len(lines) - 2), random.choice((1, 2, 9))))
    fault = random.choice((_nan, _nan, _twice, _gone, _swapped, _no_number, _no_column, _same))
    lines, expected = fault(random, specimen, kind, lines, rows)
    name = put(folder, specimen.name, "\n".join([*lines, ""]).encode())
    return Trial("read", [name, kind], expected)


_VALUE_COLUMNS = {"own.csv": 1, "from_zero.csv": 1, "imu.csv": 5, "a.tum": 1}
"""A column of each table without which a row cannot be used, be it a reference's or an IMU's."""


def _with_cell(specimen, line, cell):
    cells = line.split(specimen.separator)
    cells[-1 if specimen.separator == "," else 4] = cell
    return specimen.separator.join(cells)


def _nan(random, specimen, kind, lines, rows):
    for row in rows:
        lines[row] = _with_cell(specimen, lines[row], random.choice(("nan", "NaN", "inf")))
    told = (told_samples(specimen, kind, fewer=len(rows)), rf"\b{len(rows)} samples? with a value")
    return lines, Expected((0,), told=told)


def _twice(random, specimen, kind, lines, rows):
    for row in reversed(rows):
        lines.insert(row, lines[row])
    told = (told_samples(specimen, kind, more=len(rows)), "with the time stamp of another one")
    return lines, Expected((0,), told=told)


def _gone(random, specimen, kind, lines, rows):
    kept = [line for row, line in enumerate(lines) if row not in rows]
    return kept, Expected((0,), told=(told_samples(specimen, kind, gone=len(rows)),))


def _swapped(random, specimen, kind, lines, rows):
    row = rows[0]
    lines[row], lines[row + 1] = lines[row + 1], lines[row]
    told = (told_samples(specimen, kind), "older than one before, sorted in")
    return lines, Expected((0,), told=told)


def _no_number(random, specimen, kind, lines, rows):
    lines[rows[0]] = _with_cell(specimen, lines[rows[0]], random.choice(("x", "1.2.3", "0x10")))
    return lines, Expected((2,), (f"{specimen.name}: line {rows[0] + 1}",))


def _no_column(random, specimen, kind, lines, rows):
    lines = [line.partition(specimen.separator)[2] for line in lines]
    return lines, Expected((2,), (specimen.name,))


def _same(random, specimen, kind, lines, rows):
    lines = random.choice(
        (
            [f"{line}\r" for line in lines],
            ["\ufeff" + lines[0], *lines[1:]],
            [*lines[: rows[0]], "", *lines[rows[0] :]],
            [*lines[: rows[0]], "# a remark", *lines[rows[0] :]],
        )
    )
    return lines, Expected((0,), told=(told_samples(specimen, kind),))


def cut_bags(random, folder) -> Trial:
    """Bags whose end is missing."""
    specimen = random.choice([one for one in specimens.recordings() if not one.separator])
    content = specimen.content[: int(len(specimen.content) * random.uniform(0.1, 0.9))]
    name = put(folder, specimen.name, content)
    kind = random.choice(specimen.serves)
    return Trial("read", [name, kind], Expected((2,), (name,)))
