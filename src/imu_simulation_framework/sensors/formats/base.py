"""What all formats of IMU parameters share: reading, writing, and what is unsaid.

No format but our own can say everything. Whoever reads gets remarks on what was in the file and has
no place in a specification; whoever writes gets the list of what the format cannot say.

Each format has ``read(path, rate) -> Reading``; ``rate`` is the samples' [Hz] where the file does
not state it, and :class:`.ConfigurationError` is raised with file and line where a value is
missing, no number or out of range, or where nobody states the rate. Unless it is only read it also
has ``write(specification, rate, options) -> Writing``, with the rate for which it is written.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import fields
from typing import Any, Iterable, Mapping, NamedTuple, Sequence
from xml.sax.saxutils import escape

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import printable
from imu_simulation_framework.core.sentences import shown as shown_text
from imu_simulation_framework.sensors.formats.xml import Tag
from imu_simulation_framework.sensors.imu_specification import (
    CONDITIONS,
    IMU_TRIADS,
    ImuSpecification,
    OutputSpecification,
    is_topic,
)

AXES = ("x", "y", "z")


class Reading(NamedTuple):
    """A specification, and sentences on what of the file it does not say."""

    specification: ImuSpecification
    remarks: list[str]


class Writing(NamedTuple):
    """A file's text, and sentences on what of the specification it does not say."""

    text: str
    remarks: list[str]


class WriteOptions(NamedTuple):
    """What a format may need beside the specification.

    Parameters
    ----------
    random_walk_time : float or None
        Correlation time [s] at which a format without random walk, but with a Gauss-Markov bias,
        shall say a random walk.
    yaw_drift : (float, float) or None
        Standard deviation [rad] and correlation time [s] of the yaw's own drift, which Hector's
        plug-in has.
    walk_of_instability : bool or None
        Whether a bias instability is said as the random walk that would lift the Allan deviation of
        the white noise to the same lowest point, where there is no random walk.
    inflation : float or None
        Factor by which all noise is written larger than it is (:func:`.inflated`), in any format.
    subsampled : bool or None
        Whether the samples that are written for are picked from the sensor's without a filter, so
        that each keeps the standard deviation of the sensor's own; otherwise the sensor decimates
        ideally, and white noise keeps its density. In any format.
    """

    random_walk_time: float | None = None
    yaw_drift: tuple[float, float] | None = None
    walk_of_instability: bool | None = None
    inflation: float | None = None
    subsampled: bool | None = None


NO_OPTIONS = WriteOptions()


def imu_reading(
    rate: float, triads: Mapping[str, Any], remarks: list[str], name: str = "imu", **output
) -> Reading:
    """Return the reading of these triads by their names, at this rate, with these outputs."""
    return Reading(
        ImuSpecification(name=name, output=OutputSpecification(rate=rate, **output), **triads),
        remarks,
    )


def read_rate(stated: float | None, given: float | None, where: str) -> float:
    """Return the rate that a file states, or the one that was given because it states none."""
    rate = given if stated is None else stated
    if rate is None:
        raise ConfigurationError(f"{where}; state the samples' rate.")
    return rate


def topic_of(tag: Tag | None, remarks: list[str]) -> str:
    """Return the topic that a tag says, empty for none; of what is none remarks get a sentence."""
    text = "" if tag is None else tag.text.strip()
    if not text or is_topic(text):
        return text
    assert tag is not None
    remarks.append(f"Line {tag.line}: <{tag.name}> says {shown_text(text)}, no topic; left out.")
    return ""


def unsaid(specification: ImuSpecification, said: Iterable[str]) -> list[str]:
    """Return a sentence for each parameter with an effect that a format does not say.

    ``said`` are the parameters that it says: ``gyroscope.white_noise``, ``output.rate``; those of
    both triads may be called ``white_noise``.
    """
    said = set(said)
    sentences = []
    for part_name in (*IMU_TRIADS, *CONDITIONS, "output"):
        part = getattr(specification, part_name)
        for field in fields(part):
            name = f"{part_name}.{field.name}"
            if name in said or (part_name in IMU_TRIADS and field.name in said):
                continue
            value = getattr(part, field.name)
            if value != field.default and _has_effect(specification, part_name, field.name):
                sentences.append(f"{name} = {quoted(value)} cannot be said in this format.")
    if specification.magnetometer is not None and "magnetometer" not in said:
        sentences.append("the magnetometer cannot be said in this format.")
    return sentences


def without_fusion(specification: ImuSpecification, simulator: str, said: set[str]) -> list[str]:
    """Return a sentence if a specification has a fused orientation, for one that has the truth."""
    said.add("output.orientation_reference")
    if specification.output.orientation_reference == "truth":
        return []
    return [
        f"output.orientation_reference = fusion cannot be said: {simulator} gives out the true "
        "orientation, whose yaw does not drift."
    ]


def quoted(value) -> str:
    """Return a parameter's value as a reader writes it."""
    if isinstance(value, tuple):
        if len(set(value)) == 1 and not isinstance(value[0], tuple) and len(value) == 3:
            return quoted(value[0])
        return "(" + ", ".join(map(quoted, value)) + ")"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _has_effect(specification, part_name, name) -> bool:
    # Some parameters only say more about another one, and nothing where that is zero.
    part = getattr(specification, part_name)
    triads = [getattr(specification, triad) for triad in IMU_TRIADS]
    if name == "gauss_markov_time":
        return any(part.gauss_markov_sigma)
    if name == "bias_instability_band":
        return any(part.bias_instability)
    if part_name == "temperature":
        return any(any(t.temperature_bias + t.temperature_scale_factor) for t in triads)
    if part_name == "supply":
        return any(any(t.supply_bias + t.supply_scale_factor) for t in triads)
    if part_name == "vibration":
        return part.active
    if name.startswith("filter"):
        return part.orientation_reference == "fusion"
    return True


# What stands in the files of one format and hardly in those of another.
_TELLING = {
    "kalibr": re.compile(rb"^\s*gyroscope_noise_density\s*:", re.MULTILINE),
    "imu_utils": re.compile(rb"^\s+(x|avg)-axis\s*:", re.MULTILINE),
    "orb_slam3": re.compile(rb"^IMU\.NoiseGyro\s*:", re.MULTILINE),
    "vins": re.compile(rb"^gyr_n\s*:", re.MULTILINE),
    "rotors": re.compile(rb"gazebo_imu_plugin\.so"),
    "hector": re.compile(rb"libhector_gazebo_ros_imu\.so"),
    "sdf": re.compile(rb"<angular_velocity>"),
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like another one, None if none is much like it."""
    lower = {other.lower(): other for other in known}
    # Not less: gyroscope_random_walk and accelerometer_random_walk have 0.65 in common.
    found = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.75)
    return lower[found[0]] if found else None


def unknown_tag(tag, known: Iterable[str], fault: str, meant: str | None = None) -> str:
    """Return a remark on a tag that says nothing here, with the known one that is most like it.

    Parameters
    ----------
    tag : Tag
    fault : str
        With ``{}`` where the tag shall stand.
    meant : str, optional
        The known tag that it stands for, where likeness does not tell.
    """
    near = meant or nearest(tag.name, known)
    hint = "." if near is None else f"; did you mean <{near}>?"
    return f"Line {tag.line}: {fault.format(f'<{tag.name}>')}; left out{hint}"


def looks_like(content: bytes, claimed: str) -> str | None:
    """Return the format whose words stand in a file, None if that is the claimed one or none."""
    found = [name for name, pattern in _TELLING.items() if pattern.search(content)]
    return found[0] if found and claimed not in found else None


def number(value) -> str:
    """Return the shortest text that reads back as the same double."""
    return repr(float(value))


def yaml_comment(lines: Sequence[str]) -> str:
    """Return lines as comments of a YAML file."""
    return "".join(f"# {printable(line)}\n" for line in lines)


def xml_comment(lines: Sequence[str]) -> str:
    """Return lines as one comment of an XML file, in which two hyphens may not touch."""
    if not lines:
        return ""
    inside = ""
    for line in map(printable, lines):
        while "--" in line:
            line = line.replace("--", "- -")
        inside += f"  {line.rstrip('-')}\n"
    return f"<!--\n{inside}-->\n"


def tag(name: str, content, indent: int = 1) -> str:
    """Return a line with a tag around a text, a number, or several with spaces between them."""
    text = content if isinstance(content, str) else " ".join(map(number, np.ravel(content)))
    return f"{'  ' * indent}<{name}>{escape(text)}</{name}>\n"


def heading(specification, format_name: str, remarks: Sequence[str]) -> list[str]:
    """Return the lines of the comment that a written file begins with."""
    lines = [f"{specification.name}: IMU parameters in the format {format_name}."]
    if remarks:
        lines.append("Not said here, or not as it was:")
        lines.extend(f"- {sentence}" for sentence in remarks)
    return lines
