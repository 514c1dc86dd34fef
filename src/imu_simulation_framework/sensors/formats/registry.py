"""IMU parameters in the formats of other tools, each converted to and from a specification.

:func:`named_imu` takes any word by which a person names an IMU, its errors in such a file included.
Each module documents its format: tags, units, what they mean, and the source.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.yaml_files import accept_names
from ..errors_in_motion import inflate_noise
from ..files import imu_specification_text, load_imu_specification, read_imu_specification
from ..imu_models.plugins import IMU_MODELS, PRESETS
from ..imu_specification import IMU_TRIADS, ImuSpecification
from ..noise import processes
from . import datasheet, estimators, hector, rotors, sdf
from .base import NO_OPTIONS, Draft, Reading, WriteOptions, Writing, commented, looks_like, quoted
from .trees import read_bytes


@dataclass(frozen=True)
class Format:
    """A format: how it is read and written, None if it is only read, with which options."""

    description: str
    read: Callable[..., Reading]
    write: Callable[[Draft], str] | None = None
    options: tuple[str, ...] = ()


def _read_own(path: str | os.PathLike, rate: float | None = None) -> Reading:
    return Reading(load_imu_specification(path), [])


def _write_own(draft: Draft) -> str:
    output = replace(draft.specification.output, rate=float(draft.rate))
    return imu_specification_text(replace(draft.specification, output=output))


_FOR_ALL = ("inflation", "subsampled")
_WALKS = ("random_walk_time", "walk_of_instability")
FORMATS = {
    "specification": Format("our own YAML, which can say everything", _read_own, _write_own),
    "kalibr": Format(
        "Kalibr's imu.yaml, and the files of OpenVINS, EuRoC and Kimera-VIO",
        estimators.read_kalibr,
        estimators.write_kalibr,
        ("walk_of_instability",),
    ),
    "imu_utils": Format(
        "what imu_utils finds in a recording (read only)", estimators.read_imu_utils
    ),
    "vins": Format("configuration of VINS-Mono or VINS-Fusion (read only)", estimators.read_vins),
    "orb_slam3": Format("configuration of ORB-SLAM3 (read only)", estimators.read_orb_slam3),
    "sdf": Format(
        'noise of an SDF <sensor type="imu">, for new Gazebo and classic Gazebo 11',
        sdf.read,
        sdf.write,
        _WALKS,
    ),
    "hector": Format("Hector's Gazebo plug-in", hector.read, hector.write, (*_WALKS, "yaw_drift")),
    "rotors": Format("the Gazebo plug-in of RotorS and PX4", rotors.read, rotors.write, _WALKS),
    "unity": Format("Unity's sensor XML", sdf.read_unity, sdf.write_unity, _WALKS),
    "datasheet": Format(
        "YAML form for a datasheet's numbers in its own units", datasheet.read, datasheet.write
    ),
}


_CONDITION = re.compile(rb"\{%[-+]?\s*(if|for)\b")


def read_imu_parameters(
    path: str | os.PathLike[str], format_name: str, rate: float | None = None
) -> Reading:
    """Read IMU parameters in one of the formats.

    ``format_name``: a key of ``FORMATS``. ``rate``: the samples' rate where the file does not state
    it [Hz]. Raises :class:`.ConfigurationError`: the format is unknown, or the file is not what the
    format asks for.
    """
    source = _format(format_name)
    try:
        # What overflows in a conversion is no finite number, and refused as such by its name.
        with np.errstate(over="ignore", invalid="ignore"):
            reading = source.read(path, rate)
    except ConfigurationError as error:
        sentence = str(error)
        # What a specification refuses does not know where it comes from.
        if str(path) not in sentence:
            sentence = f"{path}: {sentence}"
        other = looks_like(_content(path), format_name)
        if other is not None:
            sentence = f"{sentence.rstrip('.')}; the file looks like one of the format {other}."
        raise ConfigurationError(sentence) from error
    if _CONDITION.search(_content(path)):
        reading.remarks.append(
            "The file is a jinja template: what stands under a condition was read as if it held."
        )
    return reading


@accept_names(values=read_imu_specification)
def write_imu_parameters(
    values: ImuSpecification,
    format_name: str,
    rate: float | None = None,
    options: WriteOptions = NO_OPTIONS,
    comment: Sequence[str] = (),
) -> Writing:
    """Return the text of a file in one of the formats.

    ``format_name``: a key of ``FORMATS``. ``rate``: of the samples for which it is written [Hz]; by
    default the specification's. ``comment``: lines that the file begins with. Raises
    :class:`.ConfigurationError`: the format is unknown or only read, has no use for an option, or
    needs something that the specification does not have.
    """
    target = _format(format_name)
    if target.write is None:
        raise ConfigurationError(f"The format {format_name} is only read.")
    for name in WriteOptions._fields:
        if getattr(options, name) is not None and name not in (*target.options, *_FOR_ALL):
            raise ConfigurationError(
                f"The format {format_name} has no use for {name.replace('_', ' ')}."
            )
    rate, remarks = values.output.rate if rate is None else rate, []
    if options.subsampled:
        values = _with_noise_of_picked_samples(values, rate)
        remarks.append(
            f"white_noise is that of samples picked at {rate:g} Hz without a filter: each has the "
            "standard deviation that the sensor's own have."
        )
    if options.inflation is not None:
        values = inflate_noise(values, options.inflation)
        remarks.append(
            f"All noise is {options.inflation:g} times the sensor's, as Kalibr's wiki (IMU Noise "
            "Model) recommends for estimators with a low-cost sensor."
        )
    if options.walk_of_instability:
        values = _with_walk_of_instability(values, remarks)
    draft = Draft(values, rate, options)
    with np.errstate(over="ignore", invalid="ignore"):
        body = target.write(draft)
    # Our own format has nothing that it does not say.
    text, more = (body, []) if target.write is _write_own else draft.finished(format_name, body)
    lines = [*comment, *(f"- {remark}" for remark in remarks)]
    return Writing(commented(lines, text), remarks + more)


def _with_noise_of_picked_samples(specification: ImuSpecification, rate: float) -> ImuSpecification:
    """Return a specification whose samples at a slower rate [Hz] are as noisy as its own are."""
    own = specification.output.rate
    if not rate < own:
        raise ConfigurationError(
            f"samples at {rate:g} Hz cannot be picked from those of a sensor that has {own:g} Hz; "
            "expected a rate below that."
        )
    triads: dict[str, Any] = {}
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        white = processes.density_of_samples(processes.sampled_std(triad.white_noise, own), rate)
        triads[name] = replace(triad, white_noise=white)
    return replace(specification, **triads)


def _with_walk_of_instability(
    specification: ImuSpecification, remarks: list[str]
) -> ImuSpecification:
    """Return a specification with random walks (:func:`.random_walk_of_minimum`) for plateaus.

    A triad that has a random walk already, or an axis without white noise, stays what it is.
    """
    triads: dict[str, Any] = {}
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        instable = any(triad.bias_instability) and not any(triad.random_walk)
        if not instable or min(triad.white_noise) == 0.0:
            continue
        minimum = processes.FLICKER_PLATEAU * np.array(triad.bias_instability)
        walk = tuple(map(float, processes.random_walk_of_minimum(minimum, triad.white_noise)))
        triads[name] = replace(triad, random_walk=walk, bias_instability=0.0)
        remarks.append(
            f"{name}.bias_instability = {quoted(triad.bias_instability)} is said as a random walk "
            f"of {quoted(walk)}, whose Allan deviation with the white noise has the same lowest "
            "point; beyond it the sensor drifts less than that."
        )
    return replace(specification, **triads)


def _content(path: str | os.PathLike) -> bytes:
    try:
        return read_bytes(Path(path))
    except ConfigurationError:
        return b""


def _format(name: str) -> Any:
    if name in FORMATS:
        return FORMATS[name]
    raise ConfigurationError(f"There is no format {quote(name)}; there are {', '.join(FORMATS)}.")


class NamedImu(NamedTuple):
    """An IMU that a word means.

    Attributes
    ----------
    name : str
        For a person.
    errors : object
        Specification, or a plug-in's parameters.
    files : tuple of str
        Files that it was read from.
    remarks : tuple of str
        Sentences for who uses it.
    origins : mapping of str to str
        Of any unit of a bundled part where the gyroscope's numbers are from, by field.
    """

    name: str
    errors: object
    files: tuple[str, ...]
    remarks: tuple[str, ...]
    origins: Mapping[str, str] = MappingProxyType({})


def named_imu(text: str) -> NamedImu:
    """Return the IMU that a word means.

    ``text``: the name of a bundled specification, a specification's file, ``FORMAT:FILE`` for the
    parameters of another tool, or the name of a plug-in's parameters. Raises
    :class:`.ConfigurationError`: it is none of these, or its file is not what it must be.
    """
    is_file = Path(text).exists()
    files: tuple[str, ...] = (text,) if is_file else ()
    if text in PRESETS and not is_file:
        preset = PRESETS[text]
        if preset.model == "specification":
            raise ConfigurationError(
                f"the IMU {text} needs a specification; name its file, or a bundled one as bno055"
            )
        return NamedImu(text, IMU_MODELS[preset.model].parameters(**preset.parameters), (), ())
    format_name, colon, path = text.partition(":")
    if colon and format_name in FORMATS and not is_file:
        (specification, remarks), files = read_imu_parameters(path, format_name), (path,)
        if specification.name == ImuSpecification().name:
            # Most formats have no name; several such files shall be distinguished.
            specification = replace(specification, name=Path(path).stem)
    else:
        specification, remarks = read_imu_specification(text), []
    name = specification.name
    if specification.output.orientation_reference == "truth":
        remarks = [
            *remarks,
            f"{name} gives out the true orientation, as simulators' IMUs do, so that its heading "
            "has no error; output.orientation_reference: fusion in a specification is what its "
            "gyroscope would make of it",
        ]
    return NamedImu(name, specification, files, tuple(remarks))
