"""Trials of which all is known: good files, and files with faults whose consequence is sure."""

import csv
from pathlib import Path

import numpy as np
import specimens
from left_files import messages
from trials import OUT, Trial, nothing, put
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
    if random.random() < 0.5:
        content = specimens.recording("drive.bag").content
        return realistic(random, put(folder, "drive.bag", content), _DONE)
    (Path(folder) / "drive").mkdir()
    for file in specimens.ros2_folder(random.random() < 0.3):
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
    tools = ("plot_multiple_errors.py", "compare_yaw.py", "offline_result_comparison.py")
    tool = random.choice(("export_tum.py", *tools))

    def compare(folder):
        for name, source in (("driven", "ground_truth"), ("simulated_imu", "imu_simulated")):
            lines = (folder / OUT / f"{name}.tum").read_text().splitlines()
            found = np.array([line.split() for line in lines if not line.startswith("#")], float)
            if len(found) != rows[f"{source}.csv"] or found.shape[1] != 8:
                yield f"{name}.tum has {len(found)} poses, {source}.csv {rows[f'{source}.csv']}"

    exports = tool == "export_tum.py"
    return Trial(tool, ["run", "--out", OUT], _DONE, compare=compare if exports else nothing)


def _settings(random, folder):
    texts = {"load": specimens.CONFIGURATION, "robot": specimens.ROBOT}
    texts.update(correction=specimens.CORRECTION, gimbal=random.choice(specimens.GIMBALS[:2]))
    tool, text = random.choice([*texts.items()])
    return Trial(tool, [put(folder, "settings", text.encode())], _DONE)


def known_faults(random, folder) -> Trial:
    """Recordings as text, with faults that are counted or refused with their line."""
    specimen = specimens.recording(random.choice(_WITH_VALUES))
    kind = random.choice(specimen.serves)
    lines = specimen.content.decode().splitlines()
    first = next(k for k, line in enumerate(lines) if line[0].isdigit())
    # Not at the ends, so that the time from first to last stays.
    rows = sorted(random.sample(range(first + 2, len(lines) - 2), random.choice((1, 2, 9))))
    row, count = rows[0], len(rows)
    fault = random.choice(("nan", "nan", "twice", "gone", "swapped", "number", "column", "same"))
    told, codes, words = (told_samples(specimen, kind),), (0,), ()
    if fault == "nan":
        for one in rows:
            bad = random.choice(("nan", "NaN", "inf"))
            lines[one] = _with_cell(specimen, lines[one], bad)
        told = (told_samples(specimen, kind, fewer=count), rf"\b{count} samples? with a value")
    elif fault == "twice":
        lines = [line for k, line in enumerate(lines) for _ in range(1 + (k in rows))]
        told = (told_samples(specimen, kind, more=count), "with the time stamp of another one")
    elif fault == "gone":
        lines = [line for k, line in enumerate(lines) if k not in rows]
        told = (told_samples(specimen, kind, gone=count),)
    elif fault == "swapped":
        lines[row : row + 2] = lines[row : row + 2][::-1]
        told = (*told, "older than one before, sorted in")
    elif fault == "number":
        lines[row] = _with_cell(specimen, lines[row], random.choice(("x", "1.2.3", "0x10")))
        told, codes, words = (), (2,), (f"{specimen.name}: line {row + 1}",)
    elif fault == "column":
        lines = [line.partition(specimen.separator)[2] for line in lines]
        told, codes, words = (), (2,), (specimen.name,)
    else:
        same = [[*lines[:row], remark, *lines[row:]] for remark in ("", "# a remark")]
        same += ([f"{line}\r" for line in lines], ["\ufeff" + lines[0], *lines[1:]])
        lines = random.choice(same)
    name = put(folder, specimen.name, "\n".join([*lines, ""]).encode())
    return Trial("read", [name, kind], Expected(codes, words, told=told))


_WITH_VALUES = ("own.csv", "from_zero.csv", "imu.csv", "a.tum")
"""Tables in which a cell is known without which a row cannot be used."""


def _with_cell(specimen, line, cell):
    cells = line.split(specimen.separator)
    cells[-1 if specimen.separator == "," else 4] = cell
    return specimen.separator.join(cells)


def cut_bags(random, folder) -> Trial:
    """Bags whose end is missing."""
    specimen = random.choice([one for one in specimens.recordings() if not one.separator])
    content = specimen.content[: int(len(specimen.content) * random.uniform(0.1, 0.9))]
    name = put(folder, specimen.name, content)
    kind = random.choice(specimen.serves)
    return Trial("read", [name, kind], Expected((2,), (name,)))
