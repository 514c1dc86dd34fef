"""Common functions for all formats of IMU parameters: reading, writing, remarks on losses.

Only the package's native format represents a complete specification. A reader returns remarks on
file content that a specification cannot represent. A writer returns remarks on errors that the
format cannot represent.

Each format has ``read(path, rate) -> Reading``; ``rate`` [Hz] is used if the file does not state
it. It raises :class:`.ConfigurationError` with file and line if a value is missing, not a number or
out of range, or if the rate is unknown. Unless the format is read-only, it also has ``write(draft)
-> str``, which returns the file without its comment.
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
    """Specification that was read from a file, and remarks on content that it does not represent.

    Attributes
    ----------
    specification : ImuSpecification
        Parameters of the file in standard units.
    remarks : list of str
        Messages on content that is not represented.
    """

    specification: ImuSpecification
    remarks: list[str]


class Writing(NamedTuple):
    """Text of a file, and remarks on parameters of the specification that it does not represent.

    Attributes
    ----------
    text : str
        Content of the file.
    remarks : list of str
        Messages on parameters that are not represented.
    """

    text: str
    remarks: list[str]


class WriteOptions(NamedTuple):
    """Options for writing a specification in a format of another tool.

    Parameters
    ----------
    random_walk_time : float, optional
        Correlation time [s] of a Gauss-Markov bias that replaces a random walk in formats without
        random walks.
    yaw_drift : tuple of 2 float, optional
        Standard deviation [rad] and correlation time [s] of the separate drift of the yaw in
        Hector's plug-in.
    walk_of_instability : bool, optional
        Whether a bias instability is written as the random walk with the same minimum of the Allan
        deviation in combination with the white noise, if there is no random walk.
    inflation : float, optional
        Factor for all noise (:func:`.inflate_noise`), in any format.
    subsampled : bool, optional
        Whether the written samples are picked from the sensor's samples without a filter, so that
        each keeps its standard deviation; if not, the sensor decimates ideally, and white noise
        keeps its density. In any format.
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
    """Create the specification of an IMU, with remarks, from the parameters in a file.

    Parameters
    ----------
    rate : float
        Sampling rate [Hz].
    triads : mapping of str to TriadSpecification
        Triads by their names.
    remarks : list of str
        Remarks on the file.
    name : str
        Name of the specification.
    **output
        Further fields of :class:`.OutputSpecification`.

    Returns
    -------
    Reading
    """
    return Reading(
        ImuSpecification(name=name, output=OutputSpecification(rate=rate, **output), **triads),
        remarks,
    )


def read_rate(stated_rate: float | None, fallback: float | None, where: str) -> float:
    """Return the sampling rate stated by a file, or that of the caller if the file states none.

    Parameters
    ----------
    stated_rate, fallback : float or None
        Rates stated by the file and by the caller [Hz].
    where : str
        Reason for an unknown rate, for the message.

    Returns
    -------
    float
        Rate [Hz].

    Raises
    ------
    ConfigurationError
        If both are None.
    """
    rate = fallback if stated_rate is None else stated_rate
    if rate is None:
        raise ConfigurationError(f"{where}; state the sample rate")
    return rate


def read_topic(tag: Tag | None, remarks: list[str]) -> str:
    """Read the topic name in an XML tag.

    Parameters
    ----------
    tag : Tag or None
        Tag with a topic.
    remarks : list of str
        List to which a remark on an invalid topic is appended.

    Returns
    -------
    str
        Topic; empty for none.
    """
    text = "" if tag is None else tag.text.strip()
    if tag is None or not text or is_topic(text):
        return text
    remarks.append(
        f"Line {tag.line}: <{tag.name}> is {quote(text)}, which is not a topic; ignored."
    )
    return ""


def list_unsupported(specification: ImuSpecification, supported: Iterable[str]) -> list[str]:
    """List the effective parameters of a specification that a format does not support.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to write.
    supported : iterable of str
        Parameters that the format represents: ``gyroscope.white_noise``, ``output.rate``, or
        ``white_noise`` for both triads.

    Returns
    -------
    list of str
        One message per parameter.
    """
    supported = set(supported)
    messages = []
    for part_name in (*IMU_TRIADS, *CONDITIONS, "output"):
        part = getattr(specification, part_name)
        for field in fields(part):
            name = f"{part_name}.{field.name}"
            if name in supported or (part_name in IMU_TRIADS and field.name in supported):
                continue
            value = getattr(part, field.name)
            if value != field.default and _has_effect(specification, part_name, field.name):
                text = f"{name} = {format_value(value)}"
                messages.append(f"{text} cannot be represented in this format.")
    if specification.magnetometer is not None and "magnetometer" not in supported:
        messages.append("the magnetometer cannot be represented in this format.")
    return messages


def format_value(value) -> str:
    """Format a parameter's value for a message.

    Parameters
    ----------
    value : object
        Number, text or tuple of them.

    Returns
    -------
    str
    """
    if isinstance(value, tuple):
        if len(value) == 3 and len(set(value)) == 1 and not isinstance(value[0], tuple):
            return format_value(value[0])
        return "(" + ", ".join(map(format_value, value)) + ")"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _has_effect(specification, part_name, name) -> bool:
    # Some parameters only refine other parameters, and have no effect if those are zero.
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
    """File that is being written, with remarks on parameters that it does not represent.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to write.
    rate : float
        Sampling rate of the written parameters [Hz].
    options : WriteOptions
        Options of the format.

    Attributes
    ----------
    supported : set of str
        Parameters that the format represents, as in :func:`list_unsupported`.
    remarks : list of str
        Messages on parameters that the format does not represent.
    notes : list of str
        Further lines for the comment of the file.
    """

    def __init__(self, specification: ImuSpecification, rate: float, options: WriteOptions):
        self.specification, self.rate, self.options = specification, rate, options
        self.supported: set[str] = set()
        self.remarks: list[str] = []
        self.notes: list[str] = []

    def common_value(self, name: str, values=None) -> float:
        """Return the root mean square of a parameter over the axes, with a remark if they differ.

        Parameters
        ----------
        name : str
            Parameter, for example ``gyroscope.white_noise``.
        values : sequence of float, optional
            Values that replace those of the specification.

        Returns
        -------
        float
            Root mean square, in the unit of the parameter.
        """
        if values is None:
            triad, _, parameter = name.partition(".")
            values = getattr(getattr(self.specification, triad), parameter)
        values = tuple(float(value) for value in values)
        if len(set(values)) == 1:
            return values[0]
        mean = float(np.sqrt(np.mean(np.square(values))))
        self.remarks.append(
            f"{name} = {format_value(values)} differs between the axes, but this format "
            f"has a single number: their root mean square {mean:.6g} is written."
        )
        return mean

    def slow_bias(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the Gauss-Markov bias of each axis of a triad, which may replace a random walk.

        A triad with only a random walk is represented by a process with the driving density of the
        random walk and the correlation time from the options, if there is one.

        Parameters
        ----------
        name : str
            Name of the triad.

        Returns
        -------
        sigma, time : ndarray, shape (3,)
            Standard deviation and correlation time [s] of each axis.
        """
        triad, walk_time = getattr(self.specification, name), self.options.random_walk_time
        time: Any = np.full(3, 1000.0 if walk_time is None else walk_time)
        if any(triad.gauss_markov_sigma) or not any(triad.random_walk):
            self.supported.update((f"{name}.gauss_markov_sigma", f"{name}.gauss_markov_time"))
            if any(triad.gauss_markov_sigma):
                time = np.array(triad.gauss_markov_time)
            return np.array(triad.gauss_markov_sigma), time
        self.supported.add(f"{name}.random_walk")
        walk = f"{name}.random_walk = {format_value(triad.random_walk)}"
        if walk_time is None:
            self.remarks.append(
                f"{walk} cannot be represented in this format; set a correlation time to write it "
                "as a bias that initially grows at the same rate."
            )
            return np.zeros(3), time
        self.remarks.append(
            f"{walk} is written as a bias with a correlation time of {walk_time:g} s, which is "
            "equivalent only for times well below it."
        )
        return driven_std(triad.random_walk, time), time

    def common_slow_bias(self, name: str) -> tuple[float, float]:
        """Return the Gauss-Markov bias of a triad as a single process for all axes.

        If the axes differ, a remark is added.

        Parameters
        ----------
        name : str
            Name of the triad.

        Returns
        -------
        sigma, time : float
            Standard deviation [unit of the triad] and correlation time [s].
        """
        sigmas, times = self.slow_bias(name)
        used_times = times[sigmas > 0.0]
        if not len(used_times):
            return 0.0, float(times[0])
        sigma = self.common_value(f"{name}.gauss_markov_sigma", sigmas)
        if len(set(used_times)) == 1:
            return sigma, float(used_times[0])
        mean = float(np.mean(used_times))
        self.remarks.append(
            f"{name}.gauss_markov_time = {format_value(tuple(map(float, times)))} differs between "
            f"the axes, for which this format has a single number: their mean {mean:.6g} is "
            "written."
        )
        return sigma, mean

    def note_fusion(self, simulator: str):
        """Add a remark that a simulator outputs the true orientation instead of a fused one.

        Parameters
        ----------
        simulator : str
            Name of the simulator, for the remark.
        """
        self.supported.add("output.orientation_reference")
        if self.specification.output.orientation_reference != "truth":
            self.remarks.append(
                f"output.orientation_reference = fusion cannot be represented: {simulator} outputs "
                "the true orientation, whose yaw does not drift."
            )

    def finish(self, format_name: str, body: str) -> Writing:
        """Return the complete text: a comment on all parameters not represented, and the body.

        Parameters
        ----------
        format_name : str
            Name of the format.
        body : str
            Content of the file.

        Returns
        -------
        Writing
        """
        self.remarks += list_unsupported(self.specification, self.supported)
        lines = [f"{self.specification.name}: IMU parameters in the format {format_name}."]
        if self.remarks:
            lines.append("Not represented here, or changed:")
            lines.extend(f"- {sentence}" for sentence in self.remarks)
        return Writing(add_comment([*lines, *self.notes], body), self.remarks)


# Patterns that occur in files of one format, and rarely in those of other formats.
_SIGNATURES = {
    "kalibr": re.compile(rb"^\s*gyroscope_noise_density\s*:", re.MULTILINE),
    "imu_utils": re.compile(rb"^\s+(x|avg)-axis\s*:", re.MULTILINE),
    "orb_slam3": re.compile(rb"^IMU\.NoiseGyro\s*:", re.MULTILINE),
    "vins": re.compile(rb"^gyr_n\s*:", re.MULTILINE),
    "rotors": re.compile(rb"gazebo_imu_plugin\.so"),
    "hector": re.compile(rb"libhector_gazebo_ros_imu\.so"),
    "sdf": re.compile(rb"<angular_velocity>"),
}


def note_unknown(tags, known: Iterable[str], fault: str, remarks: list[str], suggestion: str = ""):
    """Add a remark on each unknown XML tag, with the most similar known tag.

    Parameters
    ----------
    tags : iterable of Tag
        Tags to check.
    known : iterable of str
        Known names.
    fault : str
        Message with ``{}`` for the tag.
    remarks : list of str
        List to which remarks are appended.
    suggestion : str
        Known name to suggest instead of the most similar one.
    """
    for tag in tags:
        if tag.name not in known:
            near = suggestion or nearest(tag.name, known)
            hint = "." if near is None else f"; did you mean <{near}>?"
            remarks.append(f"Line {tag.line}: {fault.format(f'<{tag.name}>')}; ignored{hint}")


def detect_format(content: bytes, claimed: str) -> str | None:
    """Detect the format of a file that could not be read in the assumed format.

    Parameters
    ----------
    content : bytes
        Content of the file.
    claimed : str
        Format that was assumed when the file was read.

    Returns
    -------
    str or None
        Name of the detected format; None if it is the assumed format, or is not recognised.
    """
    formats = [name for name, pattern in _SIGNATURES.items() if pattern.search(content)]
    return formats[0] if formats and claimed not in formats else None


def number(value) -> str:
    """Format a number as the shortest text that is parsed to the same double.

    Parameters
    ----------
    value : float
        Value in any unit.

    Returns
    -------
    str
        Decimal notation.
    """
    return repr(float(value))


def add_comment(lines: Sequence[str], body: str) -> str:
    """Insert a comment at the beginning of a YAML or XML text.

    Parameters
    ----------
    lines : sequence of str
        Lines of the comment.
    body : str
        Text of the file.

    Returns
    -------
    str
    """
    if not body.lstrip().startswith("<"):
        return "".join(f"# {escape_unprintable(line)}\n" for line in lines) + body
    inside = ""
    for line in map(escape_unprintable, lines):
        # XML does not allow two adjacent hyphens in a comment.
        while "--" in line:
            line = line.replace("--", "- -")
        inside += f"  {line.rstrip('-')}\n"
    return f"<!--\n{inside}-->\n{body}" if lines else body


def tag(name: str, content, indent: int = 1) -> str:
    """Format an XML tag with a text, a number or several numbers on one line.

    Parameters
    ----------
    name : str
        Name of the tag.
    content : str, float or array_like
        Content; an empty text yields no tag.
    indent : int
        Depth of the tag.

    Returns
    -------
    str
    """
    if isinstance(content, str) and not content:
        return ""
    text = content if isinstance(content, str) else " ".join(map(number, np.ravel(content)))
    return f"{'  ' * indent}<{name}>{escape(text)}</{name}>\n"
