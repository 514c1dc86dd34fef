"""The kinds of trial: each takes random numbers and a folder, puts hostile inputs there and says
what is to be run on them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import specimens
import yaml
from harm_bytes import harmed_bytes
from harm_files import hostile_place, packed
from harm_settings import harmed_settings
from harm_tables import harmed_table
from harm_values import number, word
from verdict import Expected

from imu_simulation_framework.configuration.sections import (
    COLUMN_SECTIONS,
    IMU_PARAMETER_SECTIONS,
    SECTIONS,
)
from imu_simulation_framework.sensors.imu_models import IMU_MODELS


@dataclass(frozen=True)
class Trial:
    """What is to be run in a folder that has been prepared, and how it is to end."""

    tool: str
    arguments: list[str]
    expected: Expected
    figures: bool = False


OUT = "out"
GRAVE = 3
"""Exit code of check_recording.py and allan_analysis.py beside 0 and 2."""


def _put(folder, name, content) -> str:
    (Path(folder) / name).write_bytes(content)
    return name


def _harmed(random, specimen):
    """A specimen after an accident: its name, perhaps another one, and its bytes."""
    content, name = specimen.content, specimen.name
    if specimen.separator and random.random() < 0.85:
        content = harmed_table(random, content.decode(), specimen.separator)
    else:
        content = harmed_bytes(random, content)
    if random.random() < 0.1:
        content, ending = packed(random, content)
        name += ending
    if random.random() < 0.05:
        name = f"a{random.choice(('.csv', '.bag', '.tum', '.db3', '.mcap', '', '.CSV', '.bag.gz'))}"
    return name, content


def _on_recording(random, folder, specimen) -> Trial:
    name = _put(folder, *_harmed(random, specimen))
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
    _put(folder, f"other_{other.name}", other.content)
    files = {specimen.serves: name, other.serves: f"other_{other.name}"}
    return [files[specimens.FIRST], files[specimens.SECOND]]


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
    name = _put(folder, *_harmed(random, random.choice(specimens.at_rest())))
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


def parameters(random, folder) -> Trial:
    """Files of IMU parameters in every format."""
    source, specimen = random.choice(specimens.parameters())
    name = _put(folder, specimen.name, harmed_settings(random, specimen.content.decode()))
    if random.random() < 0.1:
        source = random.choice(specimens.parameters())[0]
    if source == "specification" and random.random() < 0.3:
        arguments = [f"./{name}", "--hours", "1e-3", "--out", "static.csv"]
        return Trial("simulate_static.py", arguments, Expected(words=(name, "--")))
    target = random.choice(
        ("specification", "kalibr", "sdf", "hector", "rotors", "unity", "datasheet")
    )
    arguments = [name, "--from", source, "--to", target]
    if random.random() < 0.5:
        arguments += ["--rate", random.choice(("100", "200", number(random)))]
    if random.random() < 0.4:
        arguments += ["--correlation-time", random.choice(("100", number(random)))]
    if random.random() < 0.5:
        arguments += ["--out", "converted"]
    words = (
        name,
        "--",
        f"The format {target}",
        "The samples' rate",
        "[",
        "random walk",
        "rate",
        "needs",
    )
    return Trial("convert_imu_parameters.py", _as_values(arguments), Expected(words=words))


def _as_values(arguments):
    """Options and values in one word, so that a value that begins with a minus is one."""
    words, waiting = [], list(arguments)
    while waiting:
        item = waiting.pop(0)
        if item.startswith("--") and waiting and len(item) > 2 and "=" not in item:
            item = f"{item}={waiting.pop(0)}"
        words.append(item)
    return [item.replace("\0", "") for item in words]


def robots(random, folder) -> Trial:
    """The robot's parameters."""
    name = _put(folder, "robot.yaml", harmed_settings(random, specimens.robot()))
    if random.random() < 0.7:
        return Trial("robot", [name], Expected(words=(name,)))
    return _drive(random, folder, {"robot": {"parameters": name}}, (name,))


def corrections(random, folder) -> Trial:
    """The correction of an IMU, for a node and to be completed."""
    name = _put(folder, "mine.yaml", harmed_settings(random, specimens.CORRECTION))
    if random.random() < 0.9:
        return Trial("correction", [name], Expected(words=(name,)))
    rest = _put(folder, "rest.csv", specimens.at_rest()[0].content)
    arguments = [rest, "--onto", name, "--out", OUT]
    return Trial("calibrate_imu.py", arguments, Expected(words=(name, rest)), figures=True)


def flights(random, folder) -> Trial:
    """Recorded flights, gimbals, and tables of a gimbal's joints."""
    if random.random() < 0.5:
        name = _put(folder, *_harmed(random, specimens.flight()))
        if random.random() < 0.8:
            return Trial("flight", [name], Expected(words=(name,)))
        imu = random.choice((["bno055"], ["bno055_magnetometer", "--magnetometer"]))
        arguments = [name, "--out", OUT, "--imu", *imu]
        return Trial("simulate_flight.py", arguments, Expected(words=(name,)), figures=True)
    content, joints = random.choice(specimens.GIMBALS), specimens.JOINTS
    if random.random() < 0.3:
        content, joints = specimens.GIMBALS[-1], harmed_table(random, joints, ",")
    else:
        content, joints = harmed_settings(random, content), joints.encode()
    if isinstance(content, str):
        content = content.encode()
    _put(folder, "joints.csv", joints)
    name = _put(folder, "mount.yaml", content)
    return Trial("gimbal", [name], Expected(words=(name, "gimbal mount: ")))


_NAMED = ("[", "robot's parameters", "specification", "The IMU", "trajectory", "recording", "gain")
"""What stands in a sentence about a setting instead of its section or file."""


def configurations(random, folder) -> Trial:
    """Every key of config.ini, and the file as a whole."""
    if random.random() < 0.35:
        content = harmed_settings(random, specimens.configuration())
        name = _put(folder, "config.ini", content)
        return Trial("load", [name], Expected(words=(name, *_NAMED)))
    given = {}
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        section, key, value = _setting(random)
        given.setdefault(section, {})[key] = value
    if random.random() < 0.6:
        _put(folder, "config.ini", _ini(given))
        return Trial("load", ["config.ini"], Expected(words=("config.ini", *_NAMED)))
    return _drive(random, folder, given, ("config.ini", *_NAMED))


def _drive(random, folder, given, words) -> Trial:
    specimen = specimens.recordings()[random.choice((0, 0, 1))]
    name = _put(folder, specimen.name, specimen.content)
    settings = {
        "recording": {"path": name},
        "imu_recording": {"use": "false"},
        "trajectory": {"stop": "4"},
    }
    for section, keys in given.items():
        settings[section] = {**settings.get(section, {}), **keys}
    _put(folder, "config.ini", _ini(settings))
    return Trial("drive", ["config.ini"], Expected(words=(*words, name)))


def _setting(random):
    """A section, a key of it, and a value that it perhaps should not have."""
    kinds = [
        (section, key.name, key)
        for section, kind in SECTIONS.items()
        for key in dataclasses.fields(kind)
    ]
    kinds += [
        (section, key.name, key)
        for section, model in IMU_PARAMETER_SECTIONS.items()
        for key in dataclasses.fields(IMU_MODELS[model].parameters)
    ] * 2
    section, name, key = random.choice(kinds)
    if random.random() < 0.05:
        section = random.choice(COLUMN_SECTIONS)
        return section, random.choice(("time", "x", "qx", "gyro_x", word(random))), word(random)
    if name in ("drive", "output"):
        return section, name, random.choice(("a", "e", "", "out"))
    choices = key.metadata.get("choices")
    if choices and random.random() < 0.6:
        return section, name, str(random.choice(choices))
    value = random.choice((number, number, word))(random)
    return section, name, value


def _ini(settings) -> bytes:
    lines = []
    for section, keys in settings.items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in keys.items()), ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


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
    return Trial(tool, _as_values(arguments), Expected(words=words))


def arguments(random, folder) -> Trial:
    """Tools with arguments that nobody should give them."""
    rest = _put(folder, "rest.csv", specimens.at_rest()[0].content)
    drive = _put(folder, "drive.csv", specimens.recordings()[0].content)
    spec = _put(folder, "imu.yaml", specimens.parameters()[0][1].content)
    tool, positional, options = random.choice(
        (
            (
                "allan_analysis.py",
                (rest,),
                ("--topic", "--column", "--rate", "--axis", "--name", "--outliers", "--band")
                + ("--longest-gap",),
            ),
            ("check_recording.py", (drive,), ("--config",)),
            (
                "convert_imu_parameters.py",
                (spec,),
                ("--from", "--to", "--rate", "--correlation-time", "--yaw-drift"),
            ),
            (
                "generate_world.py",
                ("uneven",),
                ("--height", "--spacing", "--radius", "--size", "--seed"),
            ),
            ("generate_drive.py", ("a",), ("--laps", "--seed")),
            ("simulate_static.py", (spec,), ("--rate", "--seed", "--format", "--hours")),
            ("compare_plugins.py", (), ("--results", "--imu", "--parameters", "--runs", "--seed")),
        )
    )
    words = list(positional)
    if words and random.random() < 0.15:
        words[random.randrange(len(words))] = word(random) or "x"
    given = {
        "--out": {"generate_world.py": "a.world", "simulate_static.py": "static.csv"}.get(tool, OUT)
    }
    if tool == "simulate_static.py":
        given["--hours"] = "1e-3"
    if tool == "generate_drive.py":
        given["--laps"] = "1"
    if tool == "convert_imu_parameters.py":
        given.update({"--from": "specification", "--to": "sdf", "--correlation-time": "100"})
    if tool == "compare_plugins.py":
        given.update({"--results": "nowhere"})
    for option in random.sample(options, min(len(options), random.choice((1, 1, 2, 3)))):
        given[option] = random.choice((number, number, word))(random)
        if option in ("--hours", "--laps") and _huge(given[option], option):
            del given[option]
    listed = []
    for option, value in given.items():
        pair = option in ("--band", "--yaw-drift") and random.random() < 0.8
        listed += [option, value, number(random)] if pair else [f"{option}={value}"]
    if random.random() < 0.05:
        listed.append(random.choice(("--nonsense", "--", "-x", "", "a b", "--out")))
    Path(folder, OUT).mkdir()
    everything = [item.replace("\0", "") for item in (*words, *listed)]
    codes = (0, 1, 2) if tool == "compare_plugins.py" else (0, 2, GRAVE)
    return Trial(tool, everything, Expected(codes))


def _huge(value, option) -> bool:
    """Whether a number is allowed, and means hours of work."""
    try:
        number = float(value)
    except ValueError:
        return False
    return 0.02 < number <= 1e4 if option == "--hours" else 2 < number <= 1000


def experiments(random, folder) -> Trial:
    """Whole experiments, with nodes and a ROS master of their own."""
    specimen = random.choice(specimens.recordings())
    good = random.random() < 0.3
    name, content = (specimen.name, specimen.content) if good else _harmed(random, specimen)
    _put(folder, name, content)
    given = {"trajectory": {"stop": "3"}, "imu_recording": {"use": "false"}}
    for _ in range(random.choice((0, 1, 1, 2))):
        section, key, value = _setting(random)
        given.setdefault(section, {})[key] = value
    text = yaml.safe_dump(given, default_flow_style=True, width=10**7).strip()
    listed = [f"recording:={name}", f"settings:={text}", f"output:={OUT}"]
    if random.random() < 0.3:
        argument = random.choice(("seed", "imu", "controller", "real_time_factor", "view", "laps"))
        listed.append(f"{argument}:={word(random)}")
    listed = [item.replace("\0", "") for item in listed]
    return Trial("run_experiment.py", listed, Expected((0, 1, 2)))


KINDS = {
    tables: 22,
    flights: 4,
    bags: 15,
    at_rest: 3,
    places: 7,
    parameters: 17,
    robots: 4,
    corrections: 4,
    configurations: 14,
    results: 4,
    arguments: 6,
}
"""Each kind and how many of a hundred trials are of it."""
