"""Trials whose hostile inputs are measured: recordings, flights and results."""

from __future__ import annotations

from pathlib import Path

import specimens
from harm_bytes import hostile_place
from harm_settings import harmed_settings
from harm_tables import harmed_table
from harm_values import number
from trials import OUT, Trial, as_values, harmed, put
from verdict import DONE, GRAVE, Expected


def tables(random, folder) -> Trial:
    """Recordings that are text."""
    texts = [specimen for specimen in specimens.recordings() if specimen.separator]
    return _on_recording(random, folder, random.choice(texts))


def bags(random, folder) -> Trial:
    """Recordings that are bags of ROS 1 and ROS 2."""
    chosen = [specimen for specimen in specimens.recordings() if not specimen.separator]
    return _on_recording(random, folder, random.choice(chosen))


def logs(random, folder) -> Trial:
    """Recordings that are files of several tables, or of another program's."""
    return _on_recording(random, folder, random.choice(specimens.logs()))


def at_rest(random, folder) -> Trial:
    """Recordings of a resting IMU, for its Allan deviation."""
    name = put(folder, *harmed(random, random.choice(specimens.at_rest())))
    arguments = [name, "--out", OUT, "--quiet"]
    if random.random() < 0.3:
        arguments += ["--rate", random.choice(("100", "1", "1e5", number(random)))]
    return Trial("allan_analysis.py", arguments, Expected((0, 2, GRAVE), (name, "--rate")))


def places(random, folder) -> Trial:
    """What lies where a file is expected is something else."""
    names = ("a.csv", "a.bag", "a.tum", "a.csv.gz", "a.db3", "a", "a b'c.csv", "é.bag")
    name = random.choice(names)
    hostile_place(random, Path(folder) / name)
    tool, *words = random.choice(
        (
            *(["check", name], ["read", name, "reference"], ["load", name], ["robot", name]),
            *(["correction", name], ["offline_result_comparison.py", name]),
            *(["check_recording.py", *given] for given in ([name], ["--config", name])),
            *([tool, name] for tool in ("allan_analysis.py", "plot_multiple_errors.py")),
            *(["export_tum.py", name], ["compare_yaw.py", name, name]),
            ["apply_imu_errors.py", name, "--imu", "bno055"],
            ["convert_imu_parameters.py", name, "--from", "sdf", "--to", "kalibr"],
            ["simulate_static.py", f"./{name}", "--hours", "1e-3"],
        )
    )
    if tool == "simulate_static.py":
        words += ["--out", "a.out.csv"]
    elif tool.endswith(".py") and tool not in _WITHOUT_OUT:
        words += ["--out", OUT]
    # A config.ini without a word is the bundled drive.
    codes = (0, 2) if tool == "load" or "--config" in words else (2,)
    return Trial(tool, words, Expected(codes, (name,)))


_WITHOUT_OUT = ("offline_result_comparison.py", "convert_imu_parameters.py")


def flights(random, folder) -> Trial:
    """Recorded flights, gimbals, and tables of a gimbal's joints."""
    if random.random() < 0.5:
        name = put(folder, *harmed(random, specimens.flight()))
        if random.random() < 0.8:
            return Trial("flight", [name], Expected(words=(name,)))
        arguments = [name, "--imu", "bno055", "--out", OUT]
        return Trial("simulate_flight.py", arguments, Expected(words=(name,)), figures=True)
    content, joints = random.choice(specimens.GIMBALS), specimens.JOINTS
    if random.random() < 0.3:
        content, joints = specimens.GIMBALS[-1].encode(), harmed_table(random, joints, ",")
    else:
        content, joints = harmed_settings(random, content), joints.encode()
    put(folder, "joints.csv", joints)
    name = put(folder, "mount.yaml", content)
    return Trial("gimbal", [name], Expected(words=(name, "joints.csv: ", "gimbal mount: ")))


def results(random, folder) -> Trial:
    """The files of a result, for its evaluation."""
    files = specimens.result()
    chosen = random.choice([file for file in files if "summary" in file.name] * 4 + list(files))
    run = Path(folder) / "run"
    run.mkdir()
    for file in files:
        content = file.content
        if file is chosen:
            harm = harmed_table if file.separator and random.random() < 0.9 else harmed_settings
            content = harm(random, content.decode())
        (run / file.name).write_bytes(content)
    if random.random() < 0.08:
        path = run / random.choice(files).name
        path.unlink()
        hostile_place(random, path)
    tool, options = random.choice(
        (
            ("offline_result_comparison.py", ("--median-window", "--max-shift", "--start-window")),
            ("plot_multiple_errors.py", ("--median-window", "--until")),
            ("compare_yaw.py", ("--median-window", "--max-shift", "--start-window")),
            ("export_tum.py", ()),
        )
    )
    arguments = ["run", "--out", OUT]
    for option in options:
        if random.random() < 0.1:
            arguments += [option, number(random)]
    if random.random() < 0.3:
        arguments.append("--align")
    words = (chosen.name, "run", "--", "window", "shift")
    return Trial(tool, as_values(arguments), Expected(words=words))


def _on_recording(random, folder, specimen) -> Trial:
    name = put(folder, *harmed(random, specimen))
    files = _pair(folder, specimen, name)
    choice = random.random()
    if choice < 0.45 or not specimen.serves:
        return Trial("check", files, Expected((*DONE, 2), tuple(files)))
    if choice < 0.48:
        imu = random.choice((["bno055"], ["bno055_magnetometer", "--magnetometer"]))
        arguments = [name, "--out", OUT, "--imu", *imu]
        return Trial("apply_imu_errors.py", arguments, Expected(words=(name,)))
    if choice < 0.92:
        return Trial("read", [name, random.choice(specimen.serves)], Expected(words=(name,)))
    if random.random() < 0.3:
        arguments = [*files, files[0], "--out", OUT]
        return Trial("compare_yaw.py", arguments, Expected(words=tuple(files)), figures=True)
    expected = Expected((0, 2, GRAVE), tuple(files))
    return Trial("check_recording.py", [*files, "--out", OUT], expected, figures=True)


def _pair(folder, specimen, name) -> list[str]:
    """The files of a drive of which one is this; if it needs another, that is as it should be."""
    if len(specimen.serves) != 1:
        return [name]
    first = specimen.serves == specimens.FIRST
    other = specimens.recording("imu.csv" if first else "fixes.csv")
    added = put(folder, f"other_{other.name}", other.content)
    return [name, added] if first else [added, name]
