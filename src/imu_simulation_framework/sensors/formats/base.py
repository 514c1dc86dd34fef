"""What all formats of IMU parameters share: reading, writing, and what is unsaid.

No format but our own can say everything. Whoever reads gets remarks on what was in the file and has
no place in a specification; whoever writes gets the list of what the format cannot say.

Each format has ``read(path, rate) -> Reading``; ``rate`` is the samples' [Hz] where the file does
not state it, and :class:`.ConfigurationError` is raised with file and line where a value is
missing, no number or out of range, or where the rate is not stated. Unless it is only read it also
has ``write(draft) -> str``, which returns the file without its comment.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any, Iterable, Mapping, NamedTuple, Sequence
from xml.sax.saxutils import escape

import numpy as np

from ...core.errors import ConfigurationError
from ...core.sentences import escape_unprintable, quote
from ..imu_specification import (
    CONDITIONS,
    IMU_TRIADS,
    ImuSpecification,
    OutputSpecification,
    is_topic,
)
from ..noise.processes import driven_std
from .trees import Tag, nearest


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

    ``random_walk_time``: correlation time [s] at which a format without random walk, but with a
    Gauss-Markov bias, shall say a random walk. ``yaw_drift``: standard deviation [rad] and
    correlation time [s] of the yaw's own drift, which Hector's plug-in has.
    ``walk_of_instability``: whether a bias instability is said as the random walk that would lift
    the Allan deviation of the white noise to the same lowest point, where there is no random walk.
    ``inflation``: factor by which all noise is written larger than it is (:func:`.inflate_noise`),
    in any format. ``subsampled``: whether the samples that are written for are picked from the
    sensor's without a filter, so that each keeps the standard deviation of the sensor's own;
    otherwise the sensor decimates ideally, and white noise keeps its density. In any format.
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
    if tag is None or not text or is_topic(text):
        return text
    remarks.append(f"Line {tag.line}: <{tag.name}> says {quote(text)}, no topic; left out.")
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


def quoted(value) -> str:
    """Return a parameter's value as a reader writes it."""
    if isinstance(value, tuple):
        if len(value) == 3 and len(set(value)) == 1 and not isinstance(value[0], tuple):
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


class Draft:
    """What is being written of a specification, and sentences on what of it is not.

    ``rate``: for which it is written [Hz]. ``said``: parameters that the format says, as of
    :func:`unsaid`. ``notes``: further lines of the file's comment.
    """

    def __init__(self, specification: ImuSpecification, rate: float, options: WriteOptions):
        self.specification, self.rate, self.options = specification, rate, options
        self.said: set[str] = set()
        self.remarks: list[str] = []
        self.notes: list[str] = []

    def one_value(self, name: str, values=None) -> float:
        """Return the root mean square over the axes of a parameter, with a remark if they differ.

        ``name``: ``gyroscope.white_noise``. ``values``: in place of the specification's.
        """
        if values is None:
            triad, _, parameter = name.partition(".")
            values = getattr(getattr(self.specification, triad), parameter)
        values = tuple(float(value) for value in values)
        if len(set(values)) == 1:
            return values[0]
        mean = float(np.sqrt(np.mean(np.square(values))))
        self.remarks.append(
            f"{name} = {quoted(values)} differs between the axes, for which this format has one "
            f"number: their root mean square {mean:.6g} is written."
        )
        return mean

    def slow_bias(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return sigma and correlation time [s] of one Gauss-Markov process per axis, (3,) each.

        That is the triad's. If it has none, but a random walk, and a correlation time is among the
        options, it has that time and the random walk's driving density.
        """
        triad, given = getattr(self.specification, name), self.options.random_walk_time
        time: Any = np.full(3, 1000.0 if given is None else given)
        if any(triad.gauss_markov_sigma) or not any(triad.random_walk):
            self.said.update((f"{name}.gauss_markov_sigma", f"{name}.gauss_markov_time"))
            if any(triad.gauss_markov_sigma):
                time = np.array(triad.gauss_markov_time)
            return np.array(triad.gauss_markov_sigma), time
        self.said.add(f"{name}.random_walk")
        walk = f"{name}.random_walk = {quoted(triad.random_walk)}"
        if given is None:
            self.remarks.append(
                f"{walk} cannot be said in this format; with a correlation time it is said as a "
                "bias that begins like it."
            )
            return np.zeros(3), time
        self.remarks.append(
            f"{walk} is said as a bias with a correlation time of {given:g} s, which is the same "
            "for times well below that only."
        )
        return driven_std(triad.random_walk, time), time

    def one_slow_bias(self, name: str) -> tuple[float, float]:
        """Return :meth:`slow_bias` as one sigma and one time, with a remark where axes differ."""
        sigmas, times = self.slow_bias(name)
        of_biases = times[sigmas > 0.0]
        if not len(of_biases):
            return 0.0, float(times[0])
        sigma = self.one_value(f"{name}.gauss_markov_sigma", sigmas)
        if len(set(of_biases)) == 1:
            return sigma, float(of_biases[0])
        mean = float(np.mean(of_biases))
        self.remarks.append(
            f"{name}.gauss_markov_time = {quoted(tuple(map(float, times)))} differs between the "
            f"axes, for which this format has one number: their mean {mean:.6g} is written."
        )
        return sigma, mean

    def leave_fusion(self, simulator: str):
        """Remark on a fused orientation, for a simulator that gives out the true one."""
        self.said.add("output.orientation_reference")
        if self.specification.output.orientation_reference != "truth":
            self.remarks.append(
                f"output.orientation_reference = fusion cannot be said: {simulator} gives out the "
                "true orientation, whose yaw does not drift."
            )

    def finished(self, format_name: str, body: str) -> Writing:
        """Return the file: a comment with all that the format does not say, and the body."""
        self.remarks += unsaid(self.specification, self.said)
        lines = [f"{self.specification.name}: IMU parameters in the format {format_name}."]
        if self.remarks:
            lines.append("Not said here, or not as it was:")
            lines.extend(f"- {sentence}" for sentence in self.remarks)
        return Writing(commented([*lines, *self.notes], body), self.remarks)


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


def note_unknown(tags, known: Iterable[str], fault: str, remarks: list[str], meant: str = ""):
    """Remark on tags that say nothing here, each with the known one that is most like it.

    ``fault``: with ``{}`` where the tag shall stand. ``meant``: the known one, if likeness does not
    tell.
    """
    for tag in tags:
        if tag.name not in known:
            near = meant or nearest(tag.name, known)
            hint = "." if near is None else f"; did you mean <{near}>?"
            remarks.append(f"Line {tag.line}: {fault.format(f'<{tag.name}>')}; left out{hint}")


def looks_like(content: bytes, claimed: str) -> str | None:
    """Return the format whose words stand in a file, None if that is the claimed one or none."""
    found = [name for name, pattern in _TELLING.items() if pattern.search(content)]
    return found[0] if found and claimed not in found else None


def number(value) -> str:
    """Return the shortest text that reads back as the same double."""
    return repr(float(value))


def commented(lines: Sequence[str], body: str) -> str:
    """Return a file of YAML or XML with lines as its first comment."""
    if not body.lstrip().startswith("<"):
        return "".join(f"# {escape_unprintable(line)}\n" for line in lines) + body
    inside = ""
    for line in map(escape_unprintable, lines):
        # Two hyphens may not touch there.
        while "--" in line:
            line = line.replace("--", "- -")
        inside += f"  {line.rstrip('-')}\n"
    return f"<!--\n{inside}-->\n{body}" if lines else body


def tag(name: str, content, indent: int = 1) -> str:
    """Return a line with a tag around a text, a number or several; nothing for an empty text."""
    if isinstance(content, str) and not content:
        return ""
    text = content if isinstance(content, str) else " ".join(map(number, np.ravel(content)))
    return f"{'  ' * indent}<{name}>{escape(text)}</{name}>\n"
