"""Text of the bundled config.ini, which is generated from the settings declarations."""

import re

import pytest

from imu_simulation_framework.core.files import default_configuration_path
from imu_simulation_framework.drive import configuration
from imu_simulation_framework.drive.configuration_text import (
    LINE_LENGTH,
    configuration_text,
    describe_sections,
)

SECTIONS = list(describe_sections())
KEYS = [(section.name, key) for section in SECTIONS for key in section.keys]


def test_bundled_config_ini_matches_declarations():
    assert default_configuration_path().read_text(encoding="utf-8") == configuration_text(), (
        "config.ini differs from the declarations of the settings; write it with\n"
        "./run python -m imu_simulation_framework.drive.configuration_text"
    )


def test_each_section_is_described_exactly_once():
    names = [section.name for section in SECTIONS]
    known = (
        *configuration.SECTIONS,
        *configuration.COLUMN_SECTIONS,
        *configuration.IMU_PARAMETER_SECTIONS,
    )
    assert sorted(names) == sorted(known)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_section_has_introduction_in_complete_sentences(section):
    assert section.introduction.endswith(".")
    assert not re.search(r"[`|*]|:\w+:", section.introduction)


@pytest.mark.parametrize(("section", "key"), KEYS, ids=lambda part: getattr(part, "name", part))
def test_key_has_description_in_plain_sentences(section, key):
    assert re.fullmatch(r"[A-Z].*[^.,;]\.", key.meaning)
    assert not re.search(r"[`|*]", key.meaning)


def test_comments_in_config_ini_fit_line_length():
    assert max(map(len, configuration_text().splitlines())) <= LINE_LENGTH


def test_generated_text_yields_default_settings(tmp_path):
    path = tmp_path / "config.ini"
    path.write_text(configuration_text(), encoding="utf-8")
    empty = tmp_path / "empty.ini"
    empty.write_text("", encoding="utf-8")
    read, default = (configuration.load_configuration(p, None, tmp_path) for p in (path, empty))
    for name in configuration.SECTIONS:
        assert getattr(read, name) == getattr(default, name)
    assert read.imu_parameters == default.imu_parameters
    assert read.columns == default.columns
