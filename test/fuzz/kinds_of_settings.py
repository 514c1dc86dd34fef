"""Trials whose hostile inputs are what a person writes: parameters, settings, arguments."""

import dataclasses
from pathlib import Path

import specimens
import yaml
from harm_settings import harmed_settings
from harm_values import number, word
from trials import OUT, Trial, as_values, harmed, put
from verdict import GRAVE, Expected

from imu_simulation_framework.drive import configuration
from imu_simulation_framework.sensors.imu_models.plugins import IMU_MODELS

_NAMED = ("[", "robot's parameters", "specification", "The IMU", "trajectory", "recording", "gain")
"""What stands in a sentence about a setting instead of its section or file."""


def parameters(random, folder) -> Trial:
    """Files of IMU parameters in every format."""
    source, specimen = random.choice(specimens.parameters())
    name = put(folder, specimen.name, harmed_settings(random, specimen.content.decode()))
    if random.random() < 0.1:
        source = random.choice(specimens.parameters())[0]
    if source == "specification" and random.random() < 0.3:
        arguments = [f"./{name}", "--hours", "1e-3", "--out", "static.csv"]
        return Trial("simulate_static.py", arguments, Expected(words=(name, "--")))
    targets = ("specification", "kalibr", "sdf", "hector", "rotors", "unity", "datasheet")
    target = random.choice(targets)
    arguments = [name, "--from", source, "--to", target]
    if random.random() < 0.5:
        arguments += ["--rate", random.choice(("100", "200", number(random)))]
    if random.random() < 0.4:
        arguments += ["--correlation-time", random.choice(("100", number(random)))]
    if random.random() < 0.5:
        arguments += ["--out", "converted"]
    words = (name, "--", f"The format {target}", "[", "random walk", "rate", "needs")
    return Trial("convert_imu_parameters.py", as_values(arguments), Expected(words=words))


def robots(random, folder) -> Trial:
    """The robot's parameters."""
    name = put(folder, "robot.yaml", harmed_settings(random, specimens.ROBOT))
    if random.random() < 0.7:
        return Trial("robot", [name], Expected(words=(name,)))
    return _drive(random, folder, {"robot": {"parameters": name}}, (name,))


def corrections(random, folder) -> Trial:
    """The correction of an IMU, for a node and to be completed."""
    name = put(folder, "mine.yaml", harmed_settings(random, specimens.CORRECTION))
    if random.random() < 0.9:
        return Trial("correction", [name], Expected(words=(name,)))
    rest = put(folder, "rest.csv", specimens.at_rest()[0].content)
    arguments = [rest, "--onto", name, "--out", OUT]
    return Trial("calibrate_imu.py", arguments, Expected(words=(name, rest)), figures=True)


def configurations(random, folder) -> Trial:
    """Every key of config.ini, and the file as a whole."""
    if random.random() < 0.35:
        content = harmed_settings(random, specimens.CONFIGURATION)
        name = put(folder, "config.ini", content)
        return Trial("load", [name], Expected(words=(name, *_NAMED)))
    given = {}
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        section, key, value = _setting(random)
        given.setdefault(section, {})[key] = value
    if random.random() < 0.6:
        put(folder, "config.ini", _ini(given))
        return Trial("load", ["config.ini"], Expected(words=("config.ini", *_NAMED)))
    return _drive(random, folder, given, ("config.ini", *_NAMED))


def arguments(random, folder) -> Trial:
    """Tools with arguments that nobody should give them."""
    rest = put(folder, "rest.csv", specimens.at_rest()[0].content)
    drive = put(folder, "drive.csv", specimens.recordings()[0].content)
    spec = put(folder, "imu.yaml", specimens.parameters()[0][1].content)
    tool = random.choice(sorted(_OPTIONS))
    always, options = _OPTIONS[tool]
    words = {"allan_analysis.py": [rest], "check_recording.py": [drive], "generate_drive.py": ["a"]}
    words |= {"generate_world.py": ["uneven"], "compare_plugins.py": []}
    words = words.get(tool, [spec])
    if words and random.random() < 0.15:
        words[0] = word(random) or "x"
    given, options = {"--out": OUT, **always}, options.split()
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


_OPTIONS = {
    "allan_analysis.py": (
        {},
        "--topic --column --rate --axis --name --outliers --band --longest-gap",
    ),
    "check_recording.py": ({}, "--config"),
    "convert_imu_parameters.py": (
        {"--from": "specification", "--to": "sdf", "--correlation-time": "100"},
        "--from --to --rate --correlation-time --yaw-drift",
    ),
    "generate_world.py": ({"--out": "a.world"}, "--height --spacing --radius --size --seed"),
    "generate_drive.py": ({"--laps": "1"}, "--laps --seed"),
    "simulate_static.py": (
        {"--out": "static.csv", "--hours": "1e-3"},
        "--rate --seed --format --hours",
    ),
    "compare_plugins.py": ({"--results": "nowhere"}, "--results --imu --parameters --runs --seed"),
}
"""What each tool is always given, and options with values that nobody should give it."""


def experiments(random, folder) -> Trial:
    """Whole experiments, with nodes and a ROS master of their own."""
    specimen = random.choice(specimens.recordings())
    good = random.random() < 0.3
    name, content = (specimen.name, specimen.content) if good else harmed(random, specimen)
    put(folder, name, content)
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
    return Trial("run_experiment.py", listed, Expected((0, 1, 2), log=True))


def _drive(random, folder, given, words) -> Trial:
    specimen = specimens.recordings()[random.choice((0, 0, 1))]
    name = put(folder, specimen.name, specimen.content)
    settings = {"recording": {"path": name}, "imu_recording": {"use": "false"}}
    settings["trajectory"] = {"stop": "4"}
    for section, keys in given.items():
        settings[section] = {**settings.get(section, {}), **keys}
    put(folder, "config.ini", _ini(settings))
    # A file that cannot be read is named by its own path.
    values = [value for keys in given.values() for value in keys.values()]
    paths = [value for value in values if value.startswith("/") or len(value) > 255]
    return Trial("drive", ["config.ini"], Expected(words=(*words, name, *paths)))


def _setting(random):
    """A section, a key of it, and a value that it perhaps should not have."""
    kinds = [*configuration.SECTIONS.items()]
    for section, model in configuration.IMU_PARAMETER_SECTIONS.items():
        kinds += [(section, IMU_MODELS[model].parameters)] * 2
    keys = [(section, key) for section, kind in kinds for key in dataclasses.fields(kind)]
    section, key = random.choice(keys)
    if random.random() < 0.05:
        section = random.choice(configuration.COLUMN_SECTIONS)
        return section, random.choice(("time", "x", "qx", "gyro_x", word(random))), word(random)
    if key.name in ("drive", "output"):
        return section, key.name, random.choice(("a", "e", "", "out"))
    choices = key.metadata.get("choices")
    if choices and random.random() < 0.6:
        return section, key.name, str(random.choice(choices))
    return section, key.name, random.choice((number, number, word))(random)


def _ini(settings) -> bytes:
    lines = []
    for section, keys in settings.items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in keys.items()), ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _huge(value, option) -> bool:
    """Whether a number is allowed, and means hours of work."""
    try:
        number = float(value)
    except ValueError:
        return False
    return 0.02 < number <= 1e4 if option == "--hours" else 2 < number <= 1000
