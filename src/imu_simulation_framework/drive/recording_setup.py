"""How a recording is going to be read: its topics, columns and layout, and a config.ini for it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ..core import errors
from ..core.files import default_configuration_path
from ..motion.drives import DRIVES
from ..recordings.file_access import COLUMN_FORMATS, recording_format
from ..recordings.formats.any_format import likely_topics, topics_of_bag
from ..recordings.guessing.files import find_columns
from ..recordings.messages import IMU_TYPES, REFERENCE_TYPES
from . import preparation
from .configuration import Configuration, is_default, load_configuration, paths_of
from .results.files import safe_name

CONFIGURATION = ".ini"
"""Suffix of a file with settings."""


@dataclass
class RecordingSetup:
    """How a recording is going to be read.

    ``path``: the config.ini that it rests on; ``overrides`` (dict): ``{section: {key: value}}``:
    what differs from that; ``sentences`` (list of str): what is taken for what, and why;
    ``open_columns``: quantity of the IMU -> possible lines of ``[imu_columns]``, where the unit of
    its column cannot be determined.
    """

    path: str
    overrides: dict = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    open_columns: dict[str, list[str]] = field(default_factory=dict)

    def load(self) -> Configuration:
        """Return the configuration; ConfigurationError if it cannot be read."""
        return load_configuration(self.path, self.overrides)

    def set(self, section, **values) -> None:
        """Add overrides."""
        self.overrides.setdefault(section, {}).update(values)


def set_up(config, reference="", imu="", settings=None, layout=None) -> RecordingSetup:
    """Find out how to read a recording.

    What the config.ini says stays; topics that it leaves open are chosen, and the columns of CSV
    files that it does not map are guessed. Raises FrameworkError: the config.ini or a recording
    cannot be read. ``reference``, ``imu``: paths of the recording, and of the IMU's if it is in a
    file of its own; empty for those of the config.ini. ``settings``: section -> key -> value, what
    else is to be as in a config.ini. ``layout`` (RecordingLayout, optional): of the parts for which
    it has columns.
    """
    setup = RecordingSetup(str(config))
    for section, values in (settings or {}).items():
        setup.set(section, **values)
    if reference and imu:
        setup.set("reference", path=reference)
        setup.set("imu_recording", path=imu)
    elif reference:
        setup.set("recording", path=reference)
    configuration = setup.load()
    if not (configuration.recording.path or configuration.reference.path):
        # A bundled drive is described already.
        return setup
    sources = preparation.recording_sources(configuration)
    of_reference = layout if layout is not None and layout.reference_columns else None
    of_imu = layout if layout is not None and layout.imu_columns else None
    left_open = _set_up_part(
        setup, "reference", sources, configuration, REFERENCE_TYPES, "the reference", of_reference
    )
    if configuration.imu_recording.use:
        left_open += _set_up_part(
            setup, "imu_recording", sources, configuration, IMU_TYPES, "the IMU", of_imu
        )
    setup.sentences += [one for one in dict.fromkeys(left_open) if one not in setup.sentences]
    return setup


def set_up_named(text: str, imu: str = "", config=None) -> RecordingSetup:
    """Find out how to read what a person names.

    Raises FrameworkError: there is no such recording, or it cannot be read. ``text``: a recording,
    the config.ini of one, or the name of a bundled drive; ``imu``: path of the recorded IMU, if it
    is in a file of its own; ``config``: a config.ini that describes recordings, by default the
    package's own.
    """
    base = config or default_configuration_path()
    if text in DRIVES and not os.path.exists(text):
        setup = set_up(base)
        setup.set("recording", drive=text, path="")
        return setup
    for path in (text, imu) if imu else (text,):
        if not (os.path.exists(path) or path.endswith(CONFIGURATION)):
            raise errors.RecordingError(f"{path}: there is no such recording or result")
    if text.endswith(CONFIGURATION):
        return set_up(text)
    return set_up(base, text, imu)


def _set_up_part(setup, section, sources, configuration, message_types, what, layout) -> list[str]:
    """Choose the topic or the columns of a part; return why none could be guessed."""
    settings = getattr(configuration, section)
    path = sources.reference if section == "reference" else sources.imu
    columns = {"reference": "reference_columns", "imu_recording": "imu_columns"}[section]
    if configuration.columns[columns]:
        return []
    format = settings.format if settings.format != "auto" else recording_format(path)
    is_open = format == "bag" and not settings.topic
    topics = likely_topics(topics_of_bag(path), message_types) if is_open else []
    if len(topics) > 1:
        setup.set(section, topic=topics[0])
        others = f"{', '.join(topics[1:])} could serve as well, [{section}] topic"
        setup.sentences.append(f"{what}: {topics[0]} is taken; {others}")
    if format in COLUMN_FORMATS or (is_open and not topics):
        apart = sources.reference != sources.imu
        found = find_columns(path, section, orientation=apart, shared=not apart, layout=layout)
        setup.open_columns.update(found.open_columns)
        if found.columns:
            setup.set(section, format=format)
            setup.set(columns, **found.columns)
            by = f"by the layout {found.layout}" if found.layout else "guessed, look at them"
            setup.sentences.append(f"{what}: the columns of {path} are {by}")
            setup.sentences += [one for one in found.reasons if one not in setup.sentences]
            return []
        return found.reasons
    return []


def config_text(setup, findings, folder) -> str:
    """Return a config.ini that reads the recording as it was understood.

    ``findings`` (sequence of findings.Finding): their settings are in it, each with its finding as
    a comment; ``folder``: where it is to be, for relative paths.
    """
    configuration = setup.load()
    values = {
        section: {key: value for key, value in keys.items() if not is_default(section, key, value)}
        for section, keys in configuration.given.items()
    }
    for section, keys in setup.overrides.items():
        values.setdefault(section, {}).update(keys)
    # The recording's own name and place, as seen from where the check was made.
    name = safe_name(preparation.drive_name(configuration))
    values.setdefault("experiment", {}).setdefault("name", name)
    # Relative to a folder whose own path may go through links.
    folder = os.path.realpath(folder)
    for (section, key), (format_name, path) in paths_of(configuration).items():
        if key in values.get(section, {}):
            relative = os.path.relpath(os.path.realpath(path), folder)
            values[section][key] = format_name + relative
    comments = {}
    for finding in findings:
        for section, key, value in finding.settings:
            values.setdefault(section, {})[key] = value
            comments[section, key] = f"{finding.fault}: {finding.evidence}"
    lines = ["# Made by check_recording.py; what is not here keeps its default."]
    for section, keys in values.items():
        lines += ["", f"[{section}]"] if keys else []
        for key, value in keys.items():
            if (section, key) in comments:
                lines.append(f"# {comments[section, key]}")
            lines.append(f"{key} = {value}".rstrip())
        if section == "imu_columns" and setup.open_columns:
            lines.append("# The unit cannot be determined. Keep one line of each quantity:")
            lines += [f"# {line}" for line in open_lines(setup)]
    return "\n".join(lines) + "\n"


def open_lines(setup) -> list[str]:
    """Return lines of ``[imu_columns]``, of which one of each quantity is right."""
    return [
        f"{quantity} = {description}"
        for quantity, descriptions in setup.open_columns.items()
        for description in descriptions
    ]
