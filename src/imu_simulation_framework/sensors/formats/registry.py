"""Conversion between IMU specifications and the parameter formats of other tools.

:func:`named_imu` finds an IMU by any name, including a file in such a format. Each module documents
its format: tags, units, meaning, and source.
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
from .base import (
    NO_OPTIONS,
    Draft,
    Reading,
    WriteOptions,
    Writing,
    add_comment,
    detect_format,
    format_value,
)
from .trees import read_bytes


@dataclass(frozen=True)
class Format:
    """File format for IMU parameters.

    Parameters
    ----------
    description : str
        Description for the user.
    read : callable
        Function of path and rate that returns a :class:`.Reading`.
    write : callable or None
        Function of a draft that returns a text; None for a read-only format.
    options : tuple of str
        Fields of :class:`.WriteOptions` that the format uses.
    """

    description: str
    read: Callable[..., Reading]
    write: Callable[[Draft], str] | None = None
    options: tuple[str, ...] = ()


def _read_own(path: str | os.PathLike, rate: float | None = None) -> Reading:
    return Reading(load_imu_specification(path), [])


def _write_own(draft: Draft) -> str:
    output = replace(draft.specification.output, rate=float(draft.rate))
    return imu_specification_text(replace(draft.specification, output=output))


_COMMON_OPTIONS = ("inflation", "subsampled")
_WALKS = ("random_walk_time", "walk_of_instability")
FORMATS = {
    "specification": Format(
        "YAML of this package, for complete specifications", _read_own, _write_own
    ),
    "kalibr": Format(
        "Kalibr's imu.yaml, and the files of OpenVINS, EuRoC and Kimera-VIO",
        estimators.read_kalibr,
        estimators.write_kalibr,
        ("walk_of_instability",),
    ),
    "imu_utils": Format(
        "result of imu_utils from a recording (read only)", estimators.read_imu_utils
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
        "YAML form for the numbers of a data sheet in their units", datasheet.read, datasheet.write
    ),
}


_CONDITION = re.compile(rb"\{%[-+]?\s*(if|for)\b")


def read_imu_parameters(
    path: str | os.PathLike[str], format_name: str, rate: float | None = None
) -> Reading:
    """Read IMU parameters from a file in a given format.

    Parameters
    ----------
    path : str or path
        File to read.
    format_name : str
        Key of ``FORMATS``.
    rate : float, optional
        Sampling rate [Hz], if the file does not state it.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the format is unknown, or the file does not conform to it.
    """
    source = _format(format_name)
    try:
        # A conversion that overflows yields no finite number, which the specification rejects.
        with np.errstate(over="ignore", invalid="ignore"):
            reading = source.read(path, rate)
    except ConfigurationError as error:
        sentence = str(error)
        # An error of the specification does not contain the file name.
        if str(path) not in sentence:
            sentence = f"{path}: {sentence}"
        other = detect_format(_content(path), format_name)
        if other is not None:
            sentence = f"{sentence.rstrip('.')}; the file looks like the format {other}"
        raise ConfigurationError(sentence) from error
    if _CONDITION.search(_content(path)):
        reading.remarks.append(
            "The file is a jinja template: the content of conditions was read as if they were true."
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
    """Format IMU parameters as the content of a file in a given format.

    Parameters
    ----------
    values : ImuSpecification or str
        Specification to write.
    format_name : str
        Key of ``FORMATS``.
    rate : float, optional
        Sampling rate of the written parameters [Hz]; by default that of the specification.
    options : WriteOptions
        Options of the format.
    comment : sequence of str
        Lines at the top of the file.

    Returns
    -------
    Writing

    Raises
    ------
    ConfigurationError
        If the format is unknown or read-only, does not have a given option, or requires a parameter
        that the specification lacks.

    Examples
    --------
    >>> writing = isf.write_imu_parameters("bno055", "kalibr")
    >>> "gyroscope_noise_density" in writing.text
    True
    """
    target = _format(format_name)
    if target.write is None:
        raise ConfigurationError(
            f"format {format_name} is read-only; choose another format for writing"
        )
    for name in WriteOptions._fields:
        if getattr(options, name) is not None and name not in (*target.options, *_COMMON_OPTIONS):
            raise ConfigurationError(
                f"{name.replace('_', ' ')} is set, but the format {format_name} does not support it"
            )
    rate, remarks = values.output.rate if rate is None else rate, []
    if options.subsampled:
        values = _subsample(values, rate)
        remarks.append(
            f"white_noise applies to samples decimated to {rate:g} Hz without a filter: each "
            "sample has the standard deviation of the sensor's original samples."
        )
    if options.inflation is not None:
        values = inflate_noise(values, options.inflation)
        remarks.append(
            f"All noise is {options.inflation:g} times the sensor's, as Kalibr's wiki (IMU Noise "
            "Model) recommends for estimators with a low-cost sensor."
        )
    if options.walk_of_instability:
        values = _replace_instability(values, remarks)
    draft = Draft(values, rate, options)
    with np.errstate(over="ignore", invalid="ignore"):
        body = target.write(draft)
    # The package's native format represents the complete specification.
    text, more = (body, []) if target.write is _write_own else draft.finish(format_name, body)
    lines = [*comment, *(f"- {remark}" for remark in remarks)]
    return Writing(add_comment(lines, text), remarks + more)


def _subsample(specification: ImuSpecification, rate: float) -> ImuSpecification:
    """Return a specification for subsampling to a lower rate [Hz] without a filter.

    Each sample keeps the standard deviation of the sensor's samples.
    """
    sensor_rate = specification.output.rate
    if not rate < sensor_rate:
        raise ConfigurationError(
            f"rate is {rate:g} Hz with subsampling, expected less than the sensor's "
            f"{sensor_rate:g} Hz"
        )
    triads: dict[str, Any] = {}
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        white = processes.density_of_samples(
            processes.sampled_std(triad.white_noise, sensor_rate), rate
        )
        triads[name] = replace(triad, white_noise=white)
    return replace(specification, **triads)


def _replace_instability(specification: ImuSpecification, remarks: list[str]) -> ImuSpecification:
    """Return a specification with random walks in place of bias instabilities.

    A triad with a random walk, or with an axis without white noise, is unchanged.
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
            f"{name}.bias_instability = {format_value(triad.bias_instability)} is written as a "
            f"random walk of {format_value(walk)}, whose Allan deviation with the white noise has "
            "the same minimum; at longer times, the sensor drifts less."
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
    raise ConfigurationError(f"format is {quote(name)}, expected one of {', '.join(FORMATS)}")


class NamedImu(NamedTuple):
    """IMU found by its name, with its files and remarks.

    Attributes
    ----------
    name : str
        Name of the IMU in tables and messages.
    errors : object
        Specification, or parameters of a plug-in.
    files : tuple of str
        Files from which it was read.
    remarks : tuple of str
        Remarks for the user.
    origins : mapping of str to str
        Origin of each field of the gyroscope, for a bundled part number.
    """

    name: str
    errors: object
    files: tuple[str, ...]
    remarks: tuple[str, ...]
    origins: Mapping[str, str] = MappingProxyType({})


def named_imu(text: str) -> NamedImu:
    """Find an IMU by the name of a specification or preset, or by a file.

    Parameters
    ----------
    text : str
        Name of a bundled specification, file of a specification, ``FORMAT:FILE`` for the parameters
        of another tool, or the name of a plug-in's parameters.

    Returns
    -------
    NamedImu

    Raises
    ------
    ConfigurationError
        If there is no such IMU, or its file is invalid.
    """
    is_file = Path(text).exists()
    files: tuple[str, ...] = (text,) if is_file else ()
    if text in PRESETS and not is_file:
        preset = PRESETS[text]
        if preset.model == "specification":
            raise ConfigurationError(
                f"IMU is {text}, expected the file of a specification, or the name of a "
                "bundled one such as bno055"
            )
        return NamedImu(text, IMU_MODELS[preset.model].parameters(**preset.parameters), (), ())
    format_name, colon, path = text.partition(":")
    if colon and format_name in FORMATS and not is_file:
        (specification, remarks), files = read_imu_parameters(path, format_name), (path,)
        if specification.name == ImuSpecification().name:
            # In most formats, files contain no name, so that several IMUs would have the same name.
            specification = replace(specification, name=Path(path).stem)
    else:
        specification, remarks = read_imu_specification(text), []
    name = specification.name
    if specification.output.orientation_reference == "truth":
        remarks = [
            *remarks,
            f"{name} outputs the true orientation, like the IMUs of simulators, so that its "
            "heading has no error; set output.orientation_reference: fusion in a specification "
            "for a heading from its gyroscope",
        ]
    return NamedImu(name, specification, files, tuple(remarks))
