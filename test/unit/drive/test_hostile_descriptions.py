"""Malicious robot descriptions, which must neither run code nor exhaust memory or time."""

import os

import pytest
import yaml
from test_own_robot import FILE, description

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.xacro_expansion import require_harmless
from imu_simulation_framework.drive.mujoco import MujocoSimulator
from imu_simulation_framework.drive.turning import load_robot_parameters

XACRO = '<robot name="x" xmlns:xacro="http://ros.org/wiki/xacro">'


def load(folder, text, **keys):
    (folder / "own.urdf").write_text(text)
    (folder / "own.yaml").write_text(yaml.safe_dump({**FILE, **keys}))
    return load_robot_parameters(folder / "own.yaml")


def describe_with(added):
    """Return the xacro file of a valid robot with additional elements."""
    return description().replace('<robot name="own">', XACRO + added)


def refuse(folder, text, **keys):
    """Return the error message for a description, which must be rejected."""
    with pytest.raises(ConfigurationError) as caught:
        MujocoSimulator(load(folder, text, **keys))
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "own." in sentence
    return sentence


@pytest.mark.parametrize(
    "expression",
    [
        "().__class__",
        "[[c for c in ().__class__.__base__.__subclasses__()] for _ in [1]]",
        "(lambda: ().__class__)()",
        "[g for g in [(x for x in [1])]][0].gi_frame",
        "'{0.__class__}'.format(1)",
        "str.format_map",
        "__import__('os')",
        "[__import__ for x in [1]]",
        "{'a': x.f_globals}",
        "names['__class__']",
    ],
)
def test_xacro_expression_with_undefined_names_is_rejected(expression):
    with pytest.raises(ValueError, match="an expression"):
        require_harmless(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "2 * radius + pi / 4",
        "[0.1 * i for i in range(4)][2]",
        "xacro.load_yaml('robot.yaml')['wheel']['radius']",
        "python.round(wheel.radius, 3)",
        "' '.join(['left', 'right'])",
        "radius if has_wheels else 0",
    ],
)
def test_common_xacro_expression_is_accepted(expression):
    require_harmless(expression)


def test_xacro_expression_cannot_create_file(tmp_path):
    created = tmp_path / "created"
    reaching = (
        "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'catch_warnings']"
        f"[0]()._module.__builtins__['open']('{created}', 'w')"
    )
    text = describe_with(f'<xacro:property name="p" value="${{{reaching}}}"/><link name="${{p}}"/>')
    assert "expression" in refuse(tmp_path, text)
    assert not created.exists()


@pytest.mark.parametrize(
    ("name", "words"), [("fifo", "not a regular file"), ("/dev/zero", "not a regular file")]
)
def test_include_of_pipe_or_device_file_is_rejected(tmp_path, name, words):
    os.mkfifo(tmp_path / "fifo")
    text = describe_with(f'<xacro:include filename="{name}"/>')
    assert words in refuse(tmp_path, text)


def test_included_files_of_excessive_total_size_are_rejected(tmp_path):
    (tmp_path / "large.xacro").write_text(f"{XACRO}<!--{3 * 2**20 * 'x'}--></robot>")
    text = describe_with('<xacro:include filename="large.xacro"/>' * 3)
    assert "8 MiB" in refuse(tmp_path, text)


def test_expansion_exceeding_memory_is_rejected(tmp_path):
    text = describe_with('<xacro:property name="p" value="${2000000000 * \'a\'}"/><l name="${p}"/>')
    assert "MB" in refuse(tmp_path, text)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "added",
    [
        '<xacro:property name="p" value="${10**10**9}"/><link name="${p}"/>',
        '<xacro:macro name="m0"><link name="a"/></xacro:macro>'
        + "".join(
            f'<xacro:macro name="m{i + 1}"><xacro:m{i}/><xacro:m{i}/></xacro:macro>'
            for i in range(40)
        )
        + "<xacro:m40/>",
    ],
)
def test_description_requiring_hours_of_expansion_is_rejected(tmp_path, added):
    assert "processor time" in refuse(tmp_path, describe_with(added))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('mass value="3.0"', 'mass value="1e-320"', "link base_link: value of mass is '1e-320'"),
        ('mass value="3.0"', 'mass value="1_0"', "link base_link: value of mass is '1_0'"),
        ('xyz="0.1 0 0"', 'xyz="0.1 0"', "xyz of origin is '0.1 0'"),
        (
            '<inertial><mass value="3.0"/>',
            '<inertial><origin xyz="nan nan nan"/><mass value="3.0"/>',
            "link base_link: xyz of origin is 'nan nan nan'",
        ),
        (
            '<inertial><mass value="3.0"/>',
            '<inertial/><inertial><mass value="3.0"/>',
            "link base_link: has 2 inertials",
        ),
        ('effort="1"', 'effort="-1"', "joint finger_joint: effort of limit is -1"),
        ('ixx="0.01"', 'ixx="-0.01"', "MuJoCo rejects the robot"),
    ],
)
def test_unrealistic_number_is_rejected_with_its_element(tmp_path, before, after, words):
    assert before in description()
    assert words in refuse(tmp_path, description().replace(before, after, 1))


def test_root_element_other_than_robot_is_rejected(tmp_path):
    text = description().replace("<robot ", "<sdf ").replace("</robot>", "</sdf>")
    assert "its root is <sdf>" in refuse(tmp_path, text)


def test_xacro_warning_is_not_an_error_when_output_is_a_file(tmp_path):
    added = '<xacro:property name="p" value="${xacro.warning(\'old\')}"/><xacro:if value="${p}"/>'
    with open(tmp_path / "printed", "w") as printed:
        former = os.dup(2)
        os.dup2(printed.fileno(), 2)
        try:
            parameters = load(tmp_path, describe_with(added.replace("${p}", "${p == 1}")))
        finally:
            os.dup2(former, 2)
            os.close(former)
    assert parameters.drivetrain.wheel_radius > 0.0


def test_malformed_expansion_is_rejected(tmp_path):
    refuse(tmp_path, description().replace("</robot>", ""))


def test_mujoco_settings_in_description_are_ignored(tmp_path):
    settings = '<mujoco><option timestep="-1"/></mujoco></robot>'
    MujocoSimulator(load(tmp_path, description().replace("</robot>", settings)))


def test_description_with_thousands_of_links_is_rejected(tmp_path):
    links = "".join(f'<link name="l{number}"/>' for number in range(3000))
    assert "links, expected at most 1000" in refuse(
        tmp_path, description().replace("</robot>", f"{links}</robot>")
    )


@pytest.mark.parametrize(
    "keys", [{"left_wheel": [["left_joint"]]}, {"left_wheel": [{}]}, {"wheel_radius": 1e-320}]
)
def test_key_with_value_of_wrong_type_or_size_is_rejected(tmp_path, keys):
    assert next(iter(keys)) in refuse(tmp_path, description(), **keys)
