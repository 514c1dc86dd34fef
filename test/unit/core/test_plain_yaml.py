"""Restriction of YAML to plain data, even after rosparam and xacro have changed PyYAML."""

import pytest
import rosparam
import yaml

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.core.xacro_expansion import expand_xacro
from imu_simulation_framework.core.yaml_files import MAX_DEPTH, load_plain
from imu_simulation_framework.drive.experiment_arguments import node_configuration
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.sensors.files import load_imu_specification
from imu_simulation_framework.sensors.formats.registry import read_imu_parameters
from imu_simulation_framework.sensors.formats.trees import read_mapping


@pytest.fixture(scope="module", autouse=True)
def modified_pyyaml():
    """Load PyYAML as modified by a node that imported rosparam and expanded a xacro file."""
    expand_xacro(urdf_path("robot.xacro"))
    yaml.SafeLoader.add_constructor("!radians", rosparam.construct_angle_radians)


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """Return a YAML value that creates a file when evaluated by rosparam, and the file's path."""
    monkeypatch.chdir(tmp_path)
    return "!radians \"open('made', 'w').close()\"", tmp_path / "made"


@pytest.mark.parametrize(
    "text, words",
    [
        *((f"!{tag} 1", "") for tag in ("degrees", "radians", "inches", "!python/name:os.system")),
        ("!!timestamp 2001-01-#", "is tagged .*, but is not a valid"),
        ("!!bool perhaps", "is tagged .*, but is not a valid"),
        ("!!int ''", "is tagged .*, but is not a valid"),
        ("&a [1, {y: *a}]", "'a' contains itself"),
        ("1\nb: 2\na: 3", r"(?s)the key 'a' occurs twice.*line 3"),
    ],
)
def test_yaml_beyond_plain_subset_is_rejected(text, words):
    with pytest.raises(yaml.YAMLError, match=words):
        load_plain(f"a: {text}")


def test_plain_yaml_values_are_read():
    read = load_plain("{a: 1, b: 2.5, c: [true, null, x], d: !!str 3, e: [12:30:45, 1:30.5]}")
    assert read == {"a": 1, "b": 2.5, "c": [True, None, "x"], "d": "3", "e": ["12:30:45", "1:30.5"]}
    # Values that rosparam converts to angles remain strings.
    assert load_plain("[deg(90), rad(1)]") == ["deg(90)", "rad(1)"]
    assert load_plain("{a: &a [1, 2], c: &c {<<: {d: *a}}, e: *c}")["e"] == {"d": [1, 2]}
    for number in ("2e-2", "2E-2", "+.2e-1", "2.e-2", "0.02"):
        assert load_plain(f"radius: {number}") == {"radius": 0.02}


@pytest.mark.parametrize(
    "load",
    [
        load_robot_parameters,
        load_imu_specification,
        lambda path: node_configuration("x", {"settings_text": path.read_text()}, {}),
    ],
)
def test_python_tags_in_yaml_are_not_evaluated(trap, load, tmp_path):
    text, made = trap
    path = tmp_path / "parameters.yaml"
    path.write_text(f"{{imu: {{rate: {text}}}}}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="valid YAML|expected {section: {key: value}}"):
        load(path)
    assert not made.exists()


def nest_by_indentation(levels):
    return "".join(" " * level + "a:\n" for level in range(levels))


NESTED = {
    "lists": lambda levels: "[" * levels + "]" * levels,
    "mappings": lambda levels: "{a: " * levels + "1" + "}" * levels,
    "lines": lambda levels: "[\n" * levels + "]" * levels,
    "indentation": nest_by_indentation,
}


@pytest.mark.parametrize("load", [load_robot_parameters, load_imu_specification, read_mapping])
@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 3000])
def test_file_nested_beyond_limit_is_rejected(load, nested, levels, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_text(nested(levels), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="nested too deeply, more than 100 levels"):
        load(path)


@pytest.mark.parametrize("name", NESTED)
def test_file_nested_up_to_limit_is_read(name):
    value = load_plain(NESTED[name](MAX_DEPTH))
    for _ in range(MAX_DEPTH - 1):
        (value,) = value.values() if isinstance(value, dict) else value
    assert value in (None, [], [1], {"a": 1}, {"a": None})


def test_aliases_expanding_to_millions_of_values_are_rejected(tmp_path):
    lists = "".join(f", &a{k + 1} [{','.join([f'*a{k}'] * 10)}]" for k in range(9))
    bomb = f"[&a0 [{','.join('0123456789')}]{lists}]"
    path = tmp_path / "calibration.yaml"
    path.write_text(f"imu0:\n  T_i_b: {bomb}\n  update_rate: 200.0\n", encoding="utf-8")
    with pytest.raises(yaml.YAMLError, match="more than 1000000 values"):
        load_plain(bomb)
    with pytest.raises(ConfigurationError, match="line 2: .* more than 1000000 values"):
        read_imu_parameters(path, "kalibr")
