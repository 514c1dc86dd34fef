"""Set-up of a recording: choice of topics, columns and layout, and the resulting config.ini."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from ...core import errors
from ...core.files import default_configuration_path
from ...motion.drives import DRIVES
from ...recordings.columns import find_columns
from ...recordings.file_access import COLUMN_FORMATS, recording_format
from ...recordings.formats.any_format import likely_topics, topics_of_bag
from ...recordings.layouts import RecordingLayout
from ...recordings.messages import IMU_TYPES, REFERENCE_TYPES, MessageType
from ...recordings.plausibility.findings import Finding
from ..configuration import Configuration, is_default, load_configuration, paths_of
from ..results.files import safe_name
from .sources import RecordingSources, drive_name, recording_sources

CONFIGURATION_SUFFIX = ".ini"
"""Suffix of configuration files."""


@dataclass
class RecordingSetup:
    """Settings with which a recording is read.

    Parameters
    ----------
    path : str
        Path of the config.ini on which the set-up is based.
    overrides : dict
        Settings that differ from the config.ini: ``{section: {key: value}}``.
    sentences : list of str
        Messages about the chosen topics and columns, and the reasons for choosing them.
    open_columns : dict of str to dict of str to list of str
        Candidate lines for the sections ``imu_columns`` and ``reference_columns``, by section and
        by quantity, for quantities whose column or unit cannot be determined.
    """

    path: str
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    open_columns: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def load(self) -> Configuration:
        """Load the configuration of the recording.

        Returns
        -------
        Configuration
            Checked settings.

        Raises
        ------
        ConfigurationError
            A setting is invalid.
        """
        return load_configuration(self.path, self.overrides)

    def set(self, section: str, **values: Any) -> None:
        """Override settings of a section.

        Parameters
        ----------
        section : str
            Name of the section.
        **values : object
            Values by key.
        """
        self.overrides.setdefault(section, {}).update(values)

    def add_sentences(self, sentences: Sequence[str]) -> None:
        """Add messages to the report, without duplicates.

        Parameters
        ----------
        sentences : sequence of str
            Messages; those that are already in the report are ignored.
        """
        self.sentences += [new for new in dict.fromkeys(sentences) if new not in self.sentences]


@dataclass(frozen=True)
class _Part:
    """Sections, title and message types of the reference or of the IMU in a config.ini."""

    section: str
    columns_section: str
    title: str
    message_types: Sequence[MessageType]


_REFERENCE = _Part("reference", "reference_columns", "the reference", REFERENCE_TYPES)
_IMU = _Part("imu_recording", "imu_columns", "the IMU", IMU_TYPES)


def set_up(
    config: str | os.PathLike[str],
    reference: str = "",
    imu: str = "",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    layout: RecordingLayout | None = None,
) -> RecordingSetup:
    """Choose the topics and columns from which a recording is read.

    Settings in the config.ini are used unchanged. If it does not specify topics, they are chosen by
    their types, and unmapped columns of CSV files are chosen by name.

    Parameters
    ----------
    config : str or Path
        Path of the config.ini.
    reference : str
        Path of the recording; empty for the path in the config.ini.
    imu : str
        Path of the recorded IMU if it is in a separate file.
    settings : mapping, optional
        Further settings, by section and key.
    layout : RecordingLayout, optional
        Layout of the recording; it applies to the reference and the IMU if it has their columns.

    Returns
    -------
    RecordingSetup

    Raises
    ------
    FrameworkError
        The config.ini or a recording cannot be read.
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
        # A bundled drive needs no set-up.
        return setup
    sources = recording_sources(configuration)
    reference_layout = layout if layout is not None and layout.reference_columns else None
    imu_layout = layout if layout is not None and layout.imu_columns else None
    reasons = _set_up_part(setup, _REFERENCE, sources, configuration, reference_layout)
    if configuration.imu_recording.use:
        reasons += _set_up_part(setup, _IMU, sources, configuration, imu_layout)
    setup.add_sentences(reasons)
    return setup


def set_up_named(
    text: str, imu: str = "", config: str | os.PathLike[str] | None = None
) -> RecordingSetup:
    """Create the set-up for a recording named on the command line.

    Parameters
    ----------
    text : str
        Path of a recording or of its config.ini, or the name of a bundled drive.
    imu : str
        Path of the recorded IMU if it is in a separate file.
    config : str or Path, optional
        A config.ini that describes recordings, by default the bundled one.

    Returns
    -------
    RecordingSetup

    Raises
    ------
    FrameworkError
        The recording does not exist or cannot be read.
    """
    base = config or default_configuration_path()
    if text in DRIVES and not os.path.exists(text):
        setup = set_up(base)
        setup.set("recording", drive=text, path="")
        return setup
    for path in (text, imu) if imu else (text,):
        if not (os.path.exists(path) or path.endswith(CONFIGURATION_SUFFIX)):
            raise errors.RecordingError(f"{path}: no such recording or result")
    if text.endswith(CONFIGURATION_SUFFIX):
        return set_up(text)
    return set_up(base, text, imu)


def _set_up_part(
    setup: RecordingSetup,
    part: _Part,
    sources: RecordingSources,
    configuration: Configuration,
    layout: RecordingLayout | None,
) -> list[str]:
    """Choose the topic or columns of the reference or the IMU; return the reasons for a failure."""
    settings = getattr(configuration, part.section)
    path = sources.reference if part is _REFERENCE else sources.imu
    if configuration.columns[part.columns_section]:
        return []
    format = settings.format if settings.format != "auto" else recording_format(path)
    is_open = format == "bag" and not settings.topic
    topics = likely_topics(topics_of_bag(path), part.message_types) if is_open else []
    if len(topics) > 1:
        setup.set(part.section, topic=topics[0])
        others = f"to use another, set [{part.section}] topic: {', '.join(topics[1:])}"
        setup.sentences.append(f"{part.title}: {topics[0]} is used; {others}")
    if format not in COLUMN_FORMATS and not (is_open and not topics):
        return []
    has_two_files = sources.reference != sources.imu
    columns = find_columns(
        path, part.section, orientation=has_two_files, shared=not has_two_files, layout=layout
    )
    if columns.open_columns:
        setup.open_columns[part.columns_section] = {
            quantity: list(lines) for quantity, lines in columns.open_columns.items()
        }
    if not columns.columns:
        # If reference and IMU share a file with mapped IMU columns, the reasons do not apply.
        is_imu_mapped = not has_two_files and bool(configuration.columns[_IMU.columns_section])
        return [] if is_imu_mapped else columns.reasons
    setup.set(part.section, format=format)
    setup.set(part.columns_section, **columns.columns)
    source = f"by the layout {columns.layout}" if columns.layout else "chosen by name, check them"
    setup.sentences.append(f"{part.title}: the columns of {path} are {source}")
    setup.sentences += [reason for reason in columns.reasons if reason not in setup.sentences]
    return []


def config_text(
    setup: RecordingSetup, findings: Sequence[Finding], folder: str | os.PathLike[str]
) -> str:
    """Return the text of a config.ini with the settings found for a recording.

    Parameters
    ----------
    setup : RecordingSetup
        Settings with which the recording is read.
    findings : sequence of Finding
        Findings whose settings are written, each with the finding as a comment.
    folder : str or Path
        Folder of the config.ini, from which its relative paths start.

    Returns
    -------
    str
    """
    values = _configured_values(setup, os.path.realpath(folder))
    comments = {}
    for finding in findings:
        for section, key, value in finding.settings:
            values.setdefault(section, {})[key] = value
            comments[section, key] = f"{finding.fault}: {finding.evidence}"
    lines = ["# Written by check_recording.py; keys that are not listed have their default values."]
    for section in setup.open_columns:
        values.setdefault(section, {})
    for section, keys in values.items():
        lines += ["", f"[{section}]"] if keys or section in setup.open_columns else []
        for key, value in keys.items():
            if (section, key) in comments:
                lines.append(f"# {comments[section, key]}")
            lines.append(f"{key} = {value}".rstrip())
        if section in setup.open_columns:
            lines.append("# Cannot be determined. Uncomment one line for each quantity:")
            lines += [f"# {line}" for line in open_lines(setup, section)]
    return "\n".join(lines) + "\n"


def _configured_values(setup: RecordingSetup, folder: str) -> dict[str, dict[str, Any]]:
    """Return the settings that differ from their defaults, with paths relative to a folder."""
    configuration = setup.load()
    values = {
        section: {key: value for key, value in keys.items() if not is_default(section, key, value)}
        for section, keys in configuration.given.items()
    }
    for section, keys in setup.overrides.items():
        values.setdefault(section, {}).update(keys)
    # The name is written explicitly, because its default depends on the path of the recording.
    name = safe_name(drive_name(configuration))
    values.setdefault("experiment", {}).setdefault("name", name)
    for (section, key), (format_name, path) in paths_of(configuration).items():
        if key in values.get(section, {}):
            # Both the folder and the recording may be reached through symbolic links.
            relative = os.path.relpath(os.path.realpath(path), folder)
            values[section][key] = format_name + relative
    return values


def open_lines(setup: RecordingSetup, section: str) -> list[str]:
    """Return the candidate lines for a section, of which the user keeps one per quantity.

    Parameters
    ----------
    setup : RecordingSetup
        Set-up of the recording.
    section : str
        ``imu_columns`` or ``reference_columns``.

    Returns
    -------
    list of str
        Lines of config.ini.
    """
    return [
        f"{quantity} = {description}"
        for quantity, descriptions in setup.open_columns.get(section, {}).items()
        for description in descriptions
    ]
