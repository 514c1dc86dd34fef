"""Damaged settings files: config.ini, robots, corrections and gimbals."""

from __future__ import annotations

import dataclasses

import sample_files
from cases import EXPENSIVE, OUT, Case
from hypothesis import given
from hypothesis import strategies as st
from program_result import REJECTED, Expected
from strategies.settings import damaged_settings, damaged_trees
from strategies.tables import damaged_tables
from strategies.values import numbers, words

from imu_simulation_framework.drive import configuration
from imu_simulation_framework.sensors.imu_models.plugins import IMU_MODELS

CONFIG = "config.ini"

# Messages about several settings or about a trajectory, which contain no file name.
NAMELESS = (
    r"^\w+: The IMU's \w+ is ",
    r"^\w+: \[\w+\] \w+ (has no effect|is|must be) ",
    r"^\w+: \[(magnetic_environment|imu_specification|gnss|odometer)\] file: ",
    r"^\w+: (The robot cannot follow the|The) trajectory",
    r"^\w+: (start|start index|the reference has|smoothing window) ",
    r"^\w+: ((rate|scale) of the )?trajectory ",
    r"^\w+: (IMU model is|parameter .* of the IMU model) ",
)


def damaged_files(name, text, tool, **more):
    """Return a strategy for calls of a program with a damaged YAML file."""
    content = st.one_of(damaged_settings(text), damaged_trees(text))
    return content.map(
        lambda data: Case(tool, (name,), {name: data}, Expected(names=(name,)), **more)
    )


@given(case=damaged_files("robot.yaml", sample_files.ROBOT, "robot"))
def test_damaged_robot_file_is_loaded_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@given(case=damaged_files("mine.yaml", sample_files.CORRECTION, "correction"))
def test_damaged_correction_file_is_loaded_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@EXPENSIVE
@given(content=damaged_settings(sample_files.CORRECTION))
def test_damaged_correction_file_is_accepted_or_rejected_by_calibrate_imu(check_outcome, content):
    files = {"mine.yaml": content, "rest.csv": sample_files.recordings_at_rest()[0].content}
    arguments = ("rest.csv", "--onto", "mine.yaml", "--out", OUT)
    expected = Expected(names=tuple(files))
    assert not check_outcome(Case("calibrate_imu.py", arguments, files, expected)).violations


@st.composite
def damaged_gimbals(draw):
    """Generate a gimbal with damaged settings or a damaged table of joint angles."""
    text, joints = draw(st.sampled_from(sample_files.GIMBALS)), sample_files.JOINTS.encode()
    content = text.encode()
    if "joints.csv" in text:
        joints = draw(damaged_tables(joints))
    else:
        content = draw(st.one_of(damaged_settings(text), damaged_trees(text)))
    files = {"mount.yaml": content, "joints.csv": joints}
    expected = Expected(names=("mount.yaml", "joints.csv"), nameless=("gimbal mount: ",))
    return Case("gimbal", ("mount.yaml",), files, expected)


@given(case=damaged_gimbals())
def test_damaged_gimbal_file_is_loaded_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@given(
    item=st.sampled_from(
        (
            ("load", sample_files.CONFIGURATION),
            ("robot", sample_files.ROBOT),
            ("correction", sample_files.CORRECTION),
            *(("gimbal", text) for text in sample_files.GIMBALS[:2]),
        )
    )
)
def test_intact_settings_files_are_loaded(check_outcome, item):
    tool, text = item
    assert not check_outcome(
        Case(tool, ("settings",), {"settings": text.encode()}, Expected((0,)))
    ).violations


def config_case(tool, content, files=()) -> Case:
    """Return a case that calls a program with a config.ini."""
    expected = Expected(names=(CONFIG, *dict(files)), nameless=NAMELESS)
    return Case(tool, (CONFIG,), {CONFIG: content, **dict(files)}, expected)


@given(content=damaged_settings(sample_files.CONFIGURATION))
def test_damaged_configuration_is_loaded_or_rejected(check_outcome, content):
    assert not check_outcome(config_case("load", content)).violations


def _keys():
    """Yield the section and the field of each key in config.ini."""
    for section, kind in configuration.SECTIONS.items():
        yield from ((section, key) for key in dataclasses.fields(kind))
    for section, model in configuration.IMU_PARAMETER_SECTIONS.items():
        yield from ((section, key) for key in dataclasses.fields(IMU_MODELS[model].parameters))


def _is_float(key) -> bool:
    return isinstance(key.default, float)


_KEYS = tuple(_keys())
# Values of the keys ``drive`` and ``output``.
_FOLDERS = ("a", "e", "", OUT)


@st.composite
def settings_of_keys(draw):
    """Generate one to three settings by section and key, including column maps."""
    drawn: dict[str, dict] = {}
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 19)) == 0:
            section = draw(st.sampled_from(configuration.COLUMN_SECTIONS))
            key = draw(st.one_of(st.sampled_from(("time", "x", "qx", "gyro_x")), words()))
            value = draw(words())
        else:
            section, field = draw(st.sampled_from(_KEYS))
            key, choices = field.name, field.metadata.get("choices") or ()
            value = draw(st.one_of(numbers(), words(), *(st.just(str(item)) for item in choices)))
            if key in ("drive", "output"):
                value = draw(st.sampled_from(_FOLDERS))
        drawn.setdefault(section, {})[key] = value
    return drawn


def config_text(settings) -> bytes:
    """Return the content of a config.ini with the settings."""
    lines = []
    for section, keys in settings.items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in keys.items()), ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


@given(settings=settings_of_keys())
def test_arbitrary_configuration_value_is_loaded_or_rejected(check_outcome, settings):
    assert not check_outcome(config_case("load", config_text(settings))).violations


_FLOATS = tuple((section, field.name) for section, field in _KEYS if _is_float(field))


@given(
    item=st.sampled_from(_FLOATS), value=st.sampled_from(("nan", "inf", "-inf", "1e400", "-1e400"))
)
def test_non_finite_number_in_configuration_is_rejected(check_outcome, item, value):
    section, key = item
    case = config_case("load", config_text({section: {key: value}}))
    case = dataclasses.replace(case, expected=Expected((REJECTED,), names=(key,)))
    assert not check_outcome(case).violations


def _values_out_of_range(field):
    """Yield numbers beyond the declared bounds of a field."""
    bounds = field.metadata if type(field.default) in (int, float) else {}
    if bounds.get("minimum") is not None:
        yield bounds["minimum"] - 1
    if bounds.get("above") is not None:
        yield from (bounds["above"], bounds["above"] - 1)
    if bounds.get("maximum") is not None:
        yield bounds["maximum"] + 1


_OUT_OF_RANGE = tuple(
    (section, field.name, value)
    for section, field in _KEYS
    for value in _values_out_of_range(field)
)


@given(item=st.sampled_from(_OUT_OF_RANGE))
def test_out_of_range_number_in_configuration_is_rejected(check_outcome, item):
    section, key, value = item
    case = config_case("load", config_text({section: {key: value}}))
    case = dataclasses.replace(case, expected=Expected((REJECTED,), names=(key,)))
    assert not check_outcome(case).violations


def drive_case(settings, files=()) -> Case:
    """Return a case that runs a short drive with additional settings."""
    recording = sample_files.recording("own.csv")
    base = {
        "recording": {"path": recording.name},
        "imu_recording": {"use": "false"},
        "trajectory": {"stop": "4"},
    }
    merged = {
        section: {**base.get(section, {}), **settings.get(section, {})}
        for section in {**base, **settings}
    }
    return config_case(
        "drive", config_text(merged), {recording.name: recording.content, **dict(files)}
    )


@given(settings=settings_of_keys())
def test_drive_with_arbitrary_configuration_value_succeeds_or_is_rejected(check_outcome, settings):
    assert not check_outcome(drive_case(settings)).violations


@given(content=st.one_of(damaged_settings(sample_files.ROBOT), damaged_trees(sample_files.ROBOT)))
def test_drive_with_damaged_robot_file_succeeds_or_is_rejected(check_outcome, content):
    case = drive_case({"robot": {"parameters": "robot.yaml"}}, {"robot.yaml": content})
    assert not check_outcome(case).violations
