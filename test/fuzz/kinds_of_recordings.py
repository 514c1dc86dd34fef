"""Trials whose hostile inputs are measured: recordings, flights and results."""

from __future__ import annotations

from pathlib import Path

import specimens
from harm_files import hostile_place
from harm_settings import harmed_settings
from harm_tables import harmed_table
from harm_values import number
from trials import OUT, Trial, as_values, harmed, put
from verdict import GRAVE, Expected


def tables(random, folder) -> Trial:
    """Recordings that are text."""
    texts = [specimen for specimen in specimens.recordings() if specimen.separator]
    return _on_recording(random, folder, random.choice(texts))


def bags(random, folder) -> Trial:
    """Recordings that are bags of ROS 1 and ROS 2."""
    chosen = [specimen for specimen in specimens.recordings() if not specimen.separator]
    return _on_recording(random, folder, random.choice(chosen))


def at_rest(random, folder) -> Trial:
    """Recordings of a resting IMU, for its Allan deviation."""
    name = put(folder, *harmed(random, random.choice(specimens.at_rest())))
    arguments = [name, "--out", OUT, "--quiet"]
    if random.random() < 0.3:
        arguments += ["--rate", random.choice(("100", "1", "1e5", number(random)))]
    return Trial("allan_analysis.py", arguments, Expected((0, 2, GRAVE), (name, "--rate")))


def places(random, folder) -> Trial:
    """What lies where a file is expected is something else."""
    name = random.choice(
        ("a.csv", "a.bag", "a.tum", "a.csv.gz", "a.db3", "a", "a b'c.csv", "é.bag")
    )
    hostile_place(random, Path(folder) / name)
    expected = Expected((2,), (name,))
    # A config.ini without a word is the bundled drive.
    empty_too = Expected((0, 2), (name,))
    return random.choice(
        (
            Trial("check", [name], expected),
            Trial("read", [name, "reference"], expected),
            Trial("load", [name], empty_too),
            Trial("robot", [name], expected),
            Trial("correction", [name], expected),
            Trial("check_recording.py", [name, "--out", OUT], expected),
            Trial("allan_analysis.py", [name, "--out", OUT], expected),
            Trial("offline_result_comparison.py", [name], expected),
            Trial("plot_multiple_errors.py", [name, "--out", OUT], expected),
            Trial("export_tum.py", [name, "--out", OUT], expected),
            Trial("compare_yaw.py", [name, name, "--out", OUT], expected),
            Trial("apply_imu_errors.py", [name, "--imu", "bno055", "--out", OUT], expected),
            Trial("convert_imu_parameters.py", [name, "--from", "sdf", "--to", "kalibr"], expected),
            Trial(
                "simulate_static.py",
                [f"./{name}", "--hours", "1e-3", "--out", "a.out.csv"],
                expected,
            ),
            Trial("check_recording.py", ["--config", name, "--out", OUT], empty_too),
        )
    )


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
        content, joints = specimens.GIMBALS[-1], harmed_table(random, joints, ",")
    else:
        content, joints = harmed_settings(random, content), joints.encode()
    if isinstance(content, str):
        content = content.encode()
    put(folder, "joints.csv", joints)
    name = put(folder, "mount.yaml", content)
    return Trial("gimbal", [name], Expected(words=(name, "gimbal mount: ")))


def results(random, folder) -> Trial:
    """The files of a result, for its evaluation."""
    files = specimens.result()
    chosen = random.choice([file for file in files if "summary" in file.name] * 4 + list(files))
    run = Path(folder) / "run"
    run.mkdir()
    for file in files:
        content = file.content
        if file is chosen:
            table = file.separator and random.random() < 0.9
            content = (
                harmed_table(random, content.decode(), ",")
                if table
                else harmed_settings(random, content.decode())
            )
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
        return Trial("check", files, Expected(words=tuple(files)))
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
    other = next(
        other
        for other in specimens.recordings()
        if len(other.serves) == 1 and other.serves != specimen.serves
    )
    put(folder, f"other_{other.name}", other.content)
    files = {specimen.serves: name, other.serves: f"other_{other.name}"}
    return [files[specimens.FIRST], files[specimens.SECOND]]
