"""From a recording that nobody has described to a config.ini to start from."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from imu_simulation_framework.columns import EULER, QUATERNION
from imu_simulation_framework.configuration.load import (
    Configuration,
    is_default,
    load_configuration,
    paths_of,
)
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.experiment.preparation.drive import drive_name, recording_sources
from imu_simulation_framework.files.locations import default_configuration_path
from imu_simulation_framework.motion.drives import DRIVES
from imu_simulation_framework.recordings.columns.guess import guess_columns
from imu_simulation_framework.recordings.formats.any_format import sample_blocks
from imu_simulation_framework.recordings.formats.listing import (
    likely_topics,
    recording_format,
    topics_of_bag,
)
from imu_simulation_framework.recordings.messages import IMU_TYPES, REFERENCE_TYPES
from imu_simulation_framework.recordings.text_table import ROWS_AT_ONCE
from imu_simulation_framework.results.folder import safe_name

CONFIGURATION = ".ini"
"""How the name of a file with settings ends."""


@dataclass
class RecordingSetup:
    """How a recording is going to be read.

    Attributes
    ----------
    path : str
        The config.ini that it rests on.
    overrides : dict
        ``{section: {key: value}}``: what differs from that.
    sentences : list of str
        What is taken for what, and why.
    """

    path: str
    overrides: dict = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)

    def load(self) -> Configuration:
        """Return the configuration; ConfigurationError if it cannot be read."""
        return load_configuration(self.path, self.overrides)

    def set(self, section, **values) -> None:
        """Add overrides."""
        self.overrides.setdefault(section, {}).update(values)


def set_up(config, reference="", imu="") -> RecordingSetup:
    """Find out how to read a recording.

    What the config.ini says stays; topics that it leaves open are chosen, and the columns of
    CSV files that it does not map are guessed.

    Parameters
    ----------
    config : path-like
    reference, imu : str
        Paths of the recording, and of the IMU's if it is in a file of its own; empty for
        those of the config.ini.

    Raises
    ------
    FrameworkError
        The config.ini or a recording cannot be read.
    """
    setup = RecordingSetup(str(config))
    if reference and imu:
        setup.set("reference", path=reference)
        setup.set("imu_recording", path=imu)
    elif reference:
        setup.set("recording", path=reference)
    configuration = setup.load()
    if not (configuration.recording.path or configuration.reference.path):
        # A bundled drive is described already.
        return setup
    sources = recording_sources(configuration)
    _set_up_part(
        setup, "reference", sources.reference, configuration, REFERENCE_TYPES, "the reference"
    )
    if configuration.imu_recording.use:
        _set_up_part(setup, "imu_recording", sources.imu, configuration, IMU_TYPES, "the IMU")
    return setup


def set_up_named(text: str, imu: str = "", config=None) -> RecordingSetup:
    """Find out how to read what a person names.

    Parameters
    ----------
    text : str
        A recording, the config.ini of one, or the name of a bundled drive.
    imu : str
        Path of the recorded IMU, if it is in a file of its own.
    config : path-like, optional
        A config.ini that describes recordings, by default the package's own.

    Raises
    ------
    FrameworkError
        There is no such recording, or it cannot be read.
    """
    base = config or default_configuration_path()
    if text in DRIVES and not os.path.exists(text):
        setup = set_up(base)
        setup.set("recording", drive=text, path="")
        return setup
    for path in (text, imu) if imu else (text,):
        if not (os.path.exists(path) or path.endswith(CONFIGURATION)):
            raise RecordingError(f"{path}: there is no such recording or result")
    if text.endswith(CONFIGURATION):
        return set_up(text)
    return set_up(base, text, imu)


def _set_up_part(setup, section, path, configuration, message_types, what) -> None:
    settings = getattr(configuration, section)
    columns = {"reference": "reference_columns", "imu_recording": "imu_columns"}[section]
    format = settings.format if settings.format != "auto" else recording_format(path)
    if format == "bag" and not settings.topic:
        _choose_topic(setup, section, path, message_types, what)
    if format == "csv" and not configuration.columns[columns]:
        guessed, reasons = guess_where_unknown(path, section)
        if guessed:
            setup.set(section, format="csv")
            setup.set(columns, **guessed)
            setup.sentences.append(f"{what}: the columns of {path} are guessed, look at them")
            setup.sentences += [reason for reason in reasons if reason not in setup.sentences]


def _choose_topic(setup, section, path, message_types, what) -> None:
    topics = likely_topics(topics_of_bag(path), message_types)
    if len(topics) < 2:
        return
    setup.set(section, topic=topics[0])
    setup.sentences.append(
        f"{what}: {topics[0]} is taken; {', '.join(topics[1:])} could serve as well, "
        f"[{section}] topic"
    )


def guess_where_unknown(path, section):
    """Guess the columns of a text file, unless they are named as this package's own.

    Parameters
    ----------
    path : path-like
    section : str
        ``reference`` or ``imu_recording``: what it is to be read as.

    Returns
    -------
    columns : dict of str to str
        Empty if no guess is needed or possible.
    reasons : list of str

    Raises
    ------
    RecordingError
        The file cannot be read at all.
    """
    kinds = (REFERENCE_TYPES, "reference") if section == "reference" else (IMU_TYPES, "IMU")
    try:
        next(sample_blocks(path, "", "csv", None, *kinds, rows_at_once=ROWS_AT_ONCE))
    except RecordingError:
        guess = guess_columns(path)
        columns = guess.reference if section == "reference" else guess.imu
        if section != "reference" and not columns:
            # Whoever calls it an IMU means the orientation that stands beside positions.
            names = (*QUATERNION, *EULER, "heading")
            columns = {name: guess.reference[name] for name in names if name in guess.reference}
            if columns and "time" in guess.reference:
                columns = {"time": guess.reference["time"], **columns}
        return columns, guess.reasons
    return {}, []


def config_text(setup, findings, folder) -> str:
    """Return a config.ini that reads the recording as it was understood.

    Parameters
    ----------
    setup : RecordingSetup
    findings : sequence of findings.Finding
        Their settings are in it, each with its finding as a comment.
    folder : path-like
        Where it is to be, for relative paths.
    """
    configuration = setup.load()
    values = {
        section: {key: value for key, value in keys.items() if not is_default(section, key, value)}
        for section, keys in configuration.given.items()
    }
    for section, keys in setup.overrides.items():
        values.setdefault(section, {}).update(keys)
    # The recording's own name and place, as seen from where the check was made.
    values.setdefault("experiment", {}).setdefault("name", safe_name(drive_name(configuration)))
    # Relative to a folder whose own path may go through links.
    folder = os.path.realpath(folder)
    for (section, key), path in paths_of(configuration).items():
        if key in values.get(section, {}):
            values[section][key] = os.path.relpath(os.path.realpath(path), folder)
    comments = {}
    for finding in findings:
        for section, key, value in finding.settings:
            values.setdefault(section, {})[key] = value
            comments[section, key] = f"{finding.fault}: {finding.evidence}"
    lines = ["# Made by check_recording.py; what is not here keeps its default."]
    for section, keys in values.items():
        if not keys:
            continue
        lines += ["", f"[{section}]"]
        for key, value in keys.items():
            if (section, key) in comments:
                lines.append(f"# {comments[section, key]}")
            lines.append(f"{key} = {value}".rstrip())
    return "\n".join(lines) + "\n"
