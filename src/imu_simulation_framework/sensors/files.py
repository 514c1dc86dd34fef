"""Reading and writing of IMU specifications as YAML files, bundled or user-defined.

The keys are the fields of :class:`.sensors.imu_specification.ImuSpecification` and of its sections,
where their meaning and unit are documented. The default of a missing key is no error::

    name: example
    gyroscope:
      white_noise: 1.0e-4                       # a number for three identical axes
      random_walk: [1.7e-7, 0.0, 1.8e-7]        # or x, y, z
    output:
      rate: 100.0

``1e-4`` may be written without a decimal point. A number can also be stated as in a data sheet,
with its unit, meaning and source; ``source`` at the top level is the name of the document::

    source: BST-BMI088-DS001-14, revision 1.4
    gyroscope:
      white_noise: {density: 0.014, unit: deg/s/sqrt(Hz), spectrum: one-sided, source: table 5}

``white_noise``
    ``density`` with ``spectrum``, ``one-sided`` or ``two-sided``; or ``rms`` with its
    ``bandwidth`` [Hz]; or ``walk``, the angle or velocity random walk. They are defined in
    :mod:`.noise.processes`.
``bias_instability``
    ``value`` with ``meaning``: ``coefficient`` for B of IEEE Std 952, or ``allan_minimum`` for the
    minimum of the Allan deviation, sqrt(2 ln 2 / pi) B = 0.664 B. If the data sheet states the
    ``averaging_time`` [s] of the minimum, the contribution of white noise at that time is
    subtracted, and a missing random walk is computed:
    :func:`.noise.processes.flicker_and_walk_of_minimum`.
``random_walk``
    ``value``; or ``allan_minimum``, from which K is computed, given the triad's white noise and no
    flicker noise: :func:`.noise.processes.random_walk_of_minimum`.
``resolution``
    ``value``; or ``steps``, the number of steps per ``unit``.
``scale_factor_and_misalignment``
    ``scale_factor`` on the diagonal in ``unit``, ``cross_axis`` off the diagonal in
    ``cross_axis_unit``; the default is the unit of the scale factor.
``g_sensitivity``
    ``value``, sensitivity of each axis to the force along any axis.
all other parameters
    ``value``.

Numbers that differ between individual sensors may have a ``tolerance``: ``typical`` (the default)
for a standard deviation, or ``maximum`` for a bound, which is treated as three standard deviations.
A value is a single number, or three numbers for x, y and z. ``source`` is documentation and has no
effect.
"""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any, Callable, Collection, Iterable, Mapping, NamedTuple

import numpy as np
import yaml

from ..core.checks import Matrix, check_axes, check_number
from ..core.errors import ConfigurationError, prefix_errors
from ..core.sentences import quote
from ..core.settings import from_mapping, to_mapping
from ..core.units import factors
from ..core.yaml_files import bundled_names, find_description, read_description, read_yaml
from .imu_specification import LARGEST_TOLERANCE, PARTS, TOLERANCES, ImuSpecification
from .noise import processes
from .triads import TRIADS

_SPECIFICATION = "the IMU's specification"


def find_imu_specification(name: str | os.PathLike) -> Path:
    """Find the file of an IMU specification.

    Parameters
    ----------
    name : str or path
        Path of a file, or name of a bundled IMU.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ConfigurationError
        If neither exists.
    """
    return find_description(name, "imus", "an IMU")


def imu_names() -> list[str]:
    """Return the names of the bundled IMUs.

    Returns
    -------
    list of str
        Sorted names, which ``imu:=`` and :func:`read_imu_specification` accept.
    """
    return bundled_names("imus")


def read_imu_specification(name: str | os.PathLike[str]) -> ImuSpecification:
    """Read an IMU specification by its name, for example ``bno055``, or from a file.

    Parameters
    ----------
    name : str or path
        Path of a file, or name of an IMU in the package's folder config/imus.

    Returns
    -------
    ImuSpecification

    Raises
    ------
    ConfigurationError
        If neither exists, or the file is not a specification.
    """
    return load_imu_specification(find_imu_specification(name))


def load_imu_specification(path: str | os.PathLike) -> ImuSpecification:
    """Read an IMU specification from a YAML file.

    Parameters
    ----------
    path : str or path
        YAML file.

    Returns
    -------
    ImuSpecification

    Raises
    ------
    ConfigurationError
        If the file cannot be read, a key is unknown, or a value is invalid.
    """
    return read_description(path, _SPECIFICATION, _specification_of, named=True)


def _specification_of(content: Any) -> ImuSpecification:
    """Create the specification from the content of a file, converted to SI units."""
    if isinstance(content, dict):
        if not isinstance(content.pop("source", ""), str):
            raise ConfigurationError("source is not a string, expected the name of a document")
        for triad in TRIADS:
            if isinstance(content.get(triad), dict):
                with prefix_errors(f"{triad}."):
                    content[triad] = convert_to_si(content[triad], triad)
    return from_mapping(ImuSpecification, content, "the specification")


def imu_specification_text(specification: ImuSpecification, comment: str = "") -> str:
    """Format an IMU specification as YAML with units, omitting default values.

    Parameters
    ----------
    specification : ImuSpecification
        Specification to write.
    comment : str
        Comment at the top of the file.

    Returns
    -------
    str
    """
    content = to_mapping(specification)
    parts = {key: content[key] for key in PARTS if key in content}
    return format_parts(specification.name, parts, _unit, comment)


def format_parts(
    name: str, parts: Mapping[str, Any], unit: Callable[[str, str], str], comment: str
) -> str:
    """Format YAML text with a name and several mappings, and the unit after each value.

    Parameters
    ----------
    name : str
        Value of the key ``name``.
    parts : mapping of str to mapping
        Mappings by key.
    unit : callable
        Function of a mapping's key and a key in the mapping, which returns the unit, or an empty
        text.
    comment : str
        Comment at the top of the file.

    Returns
    -------
    str
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"name: {_text(name)}")
    for part, values in parts.items():
        lines.append(f"{part}:" if values else f"{part}: {{}}")
        for key, value in values.items():
            value_unit = unit(part, key)
            suffix = f"  # {value_unit}" if value_unit else ""
            lines.append(f"  {key}: {_value(value)}{suffix}")
    return "\n".join(lines) + "\n"


def _unit(part: str, name: str) -> str:
    (key,) = (key for key in fields(PARTS[part]) if key.name == name)
    return key.metadata["unit"] or (TRIADS[part].unit_of(name) if part in TRIADS else "")


def _text(text: str) -> str:
    # The result is a single line, quoted if YAML requires it.
    return yaml.safe_dump(text, width=10**6, allow_unicode=True).split("\n...")[0].strip()


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(float(value)) if isinstance(value, float) else _text(value)


class CatalogueEntry(NamedTuple):
    """Specification of a bundled IMU, with the content of its file.

    Parameters
    ----------
    specification : ImuSpecification
        Errors of the IMU.
    source : str
        Source of the parameters.
    content : mapping
        Keys and values in the file.
    """

    specification: ImuSpecification
    source: str
    content: Mapping[str, Any]

    def states(self, triad: str, parameter: str) -> bool:
        """Return whether the file states a parameter of a triad.

        Parameters
        ----------
        triad, parameter : str
            Names of the triad and of the parameter in the specification.

        Returns
        -------
        bool
        """
        return parameter in self.content.get(triad, {})


def imu_catalogue() -> list[CatalogueEntry]:
    """Return the bundled IMUs whose files have a ``source``, sorted by name.

    Returns
    -------
    list of CatalogueEntry
        Entries in alphabetical order.

    Raises
    ------
    ConfigurationError
        If a file in the package's folder config/imus is not a specification.
    """
    entries = []
    for name in imu_names():
        path = find_imu_specification(name)
        content = read_yaml(path, _SPECIFICATION)
        if "source" in content:
            with prefix_errors(f"{path}: "):
                specification = _specification_of({"name": name, **content})
            entries.append(CatalogueEntry(specification, content["source"], content))
    return entries


_RATES = ("rad/s", "mrad/s", "deg/s", "mdeg/s", "rad/h", "deg/h")
_FORCES = ("m/s^2", "mm/s^2", "g", "mg", "ug")
_FIELDS = ("T", "uT", "nT", "G", "mG")


def _per_all(suffix: str) -> dict[str, dict[str, float]]:
    return {
        name: factors(*(f"{unit}{suffix}" for unit in units))
        for name, units in zip(TRIADS, (_RATES, _FORCES, _FIELDS))
    }


# Kind of quantity -> triad -> accepted units with their factors to SI units.
UNITS = {
    "signal": {
        "gyroscope": factors(*_RATES),
        "accelerometer": factors(*_FORCES, "m/s/h"),
        "magnetometer": factors(*_FIELDS),
    },
    "density": _per_all("/sqrt(Hz)"),
    "white_noise_walk": {
        "gyroscope": factors("rad/sqrt(s)", "deg/sqrt(s)", "rad/sqrt(h)", "deg/sqrt(h)"),
        "accelerometer": factors("m/s/sqrt(s)", "m/s/sqrt(h)"),
        "magnetometer": {},
    },
    "random_walk": {
        "gyroscope": factors("rad/s/sqrt(s)", "rad/s^2/sqrt(Hz)", "deg/s/sqrt(s)", "deg/h/sqrt(h)"),
        "accelerometer": factors("m/s^2/sqrt(s)", "m/s^3/sqrt(Hz)", "m/s/h/sqrt(h)", "mg/sqrt(h)"),
        "magnetometer": _per_all("/sqrt(s)")["magnetometer"],
    },
    "temperature": _per_all("/K"),
    "supply": _per_all("/V"),
}
# Units of scale factors, misalignments and cross-axis sensitivities.
RATIOS = {"1": 1.0, "%": 1e-2, "ppm": 1e-6, **factors("deg", "mrad", "rad")}
_PLAIN_RATIOS = {unit: RATIOS[unit] for unit in ("1", "%", "ppm")}
_RATIOS_PER_KELVIN = {f"{unit}/K": ratio for unit, ratio in _PLAIN_RATIOS.items()}
_RATIOS_PER_VOLT = {f"{unit}/V": ratio for unit, ratio in _PLAIN_RATIOS.items()}

SPECTRA = ("one-sided", "two-sided")
MEANINGS = ("coefficient", "allan_minimum")
_SIGNALS = ("bias_instability", "gauss_markov_sigma", "turn_on_bias", "turn_on_bias_sigma")
_KINDS = dict.fromkeys((*_SIGNALS, "saturation", "resolution"), "signal")
_KINDS.update(random_walk="random_walk", temperature_bias="temperature", supply_bias="supply")

# Parameter -> YAML notation for a number in a non-SI unit.
_NOTATIONS = {
    **dict.fromkeys(_KINDS, "{value: NUMBER, unit: UNIT}"),
    "bias_instability": "{value: NUMBER, unit: UNIT, meaning: coefficient}",
    "white_noise": "{density: NUMBER, unit: UNIT, spectrum: two-sided}",
}


def convert_to_si(content: Mapping[str, Any], triad: str) -> dict[str, Any]:
    """Convert the values of a triad that are stated in non-SI units to SI units.

    Parameters
    ----------
    content : mapping
        Value of each parameter of a :class:`.TriadSpecification`, or a mapping with its unit.
    triad : str
        Name of the triad in the specification.

    Returns
    -------
    dict of str to object
        Parameters in SI units by name.

    Raises
    ------
    ConfigurationError
        If the meaning of a value is ambiguous, or a unit or key is unknown. The message begins with
        the parameter's name.
    """
    values = dict(content)
    # White noise and random walk come first, since other parameters may depend on them.
    order = ("white_noise", "random_walk")
    for name in sorted(values, key=lambda name: (name != order[0], name != order[1])):
        if isinstance(values[name], str) and name in _NOTATIONS:
            raise ConfigurationError(
                f"{name} is {quote(values[name])}, expected a number in "
                f"{TRIADS[triad].unit_of(name)}; write a number in another unit as "
                f"{_NOTATIONS[name]}"
            )
        if not isinstance(values[name], Mapping):
            continue
        quantity = _QuantityEntry(name, values[name], triad)
        if name == "bias_instability" and "averaging_time" in quantity.entry:
            values.update(_convert_minimum(quantity, *map(values.get, order)))
        else:
            values[name] = _stated_value(quantity, values.get("white_noise"))
    return values


class _QuantityEntry:
    """Value of a parameter, as stated in a file with its unit and meaning."""

    def __init__(self, name: str, entry: Mapping[str, Any], triad: str) -> None:
        self.name, self.entry, self.triad = name, dict(entry), triad
        self.deviations = 1.0
        if name in TOLERANCES and "tolerance" in entry:
            if self.choice("tolerance", ("typical", "maximum")) == "maximum":
                self.deviations = LARGEST_TOLERANCE
            del self.entry["tolerance"]
        if "source" in entry and not isinstance(entry["source"], str):
            raise self.error("source", "is not a string, expected a location in the document")

    def error(self, key: str, problem: str) -> ConfigurationError:
        return ConfigurationError(f"{self.name}: {key} {problem}")

    def find_key(self, *keys: str, others: Iterable[str] = ()) -> str:
        """Return the key that is present among alternative keys; exactly one must be present."""
        present = [key for key in keys if key in self.entry]
        if len(present) != 1:
            raise self.error(" or ".join(keys), "is required, and only one of them may be set")
        known_keys = (present[0], "unit", "source", *others)
        for key in self.entry:
            if key not in known_keys:
                raise self.error(quote(key), f"is unknown; known keys are {', '.join(known_keys)}")
        return present[0]

    def choice(self, key: str, choices: Collection[str]) -> str:
        value: Any = self.entry.get(key)
        if value not in choices:
            raise self.error(key, f"is {quote(value)}, expected {' or '.join(choices)}")
        return value

    def factor(self, units: Mapping[str, float]) -> float:
        return units[self.choice("unit", tuple(units))]

    def axes(self, key: str, units: Mapping[str, float]) -> tuple[float, ...]:
        return self.scaled(key, self.factor(units))

    def scaled(self, key: str, factor: float) -> tuple[float, ...]:
        sizes = check_axes(f"{self.name}: {key}", self.entry.get(key, 0.0))
        return tuple(factor * size / self.deviations for size in sizes)

    def signal(self, key: str) -> tuple[float, ...]:
        return self.axes(key, UNITS["signal"][self.triad])


def _stated_value(quantity: _QuantityEntry, white_noise: Any) -> Any:
    name, triad = quantity.name, quantity.triad
    if name == "white_noise":
        return _white_noise(quantity)
    if name == "bias_instability":
        key = quantity.find_key("value", others=("meaning",))
        plateau = quantity.choice("meaning", MEANINGS) == "allan_minimum"
        return tuple(
            size / (processes.FLICKER_PLATEAU if plateau else 1.0) for size in quantity.signal(key)
        )
    if name == "random_walk" and "allan_minimum" in quantity.entry:
        minimum = quantity.signal(quantity.find_key("allan_minimum"))
        if white_noise is None:
            raise quantity.error(
                "allan_minimum", "is set, which also requires the triad's white_noise"
            )
        noise = check_axes("white_noise", white_noise, above=0.0)
        return tuple(processes.random_walk_of_minimum(minimum, noise))
    if name == "resolution" and "steps" in quantity.entry:
        key = quantity.find_key("steps")
        factor = quantity.factor(UNITS["signal"][triad])
        steps = check_axes(f"{name}: {key}", quantity.entry[key], above=0.0)
        return tuple(factor / number for number in steps)
    if name == "scale_factor_and_misalignment":
        return _matrix(quantity)
    if name == "g_sensitivity":
        key = quantity.find_key("value")
        units = {
            f"{rate}/{force}": UNITS["signal"]["gyroscope"][rate] / size
            for force, size in factors("g", "m/s^2").items()
            for rate in _RATES
        }
        return tuple((size, size, size) for size in quantity.axes(key, units))
    if name == "temperature_scale_factor":
        return quantity.axes(quantity.find_key("value"), _RATIOS_PER_KELVIN)
    if name == "supply_scale_factor":
        return quantity.axes(quantity.find_key("value"), _RATIOS_PER_VOLT)
    if name == "bandwidth":
        (size, *_) = quantity.axes(quantity.find_key("value"), factors("Hz"))
        return size
    if name == "nonlinearity":
        return _nonlinearity(quantity)
    if name not in _KINDS:
        raise ConfigurationError(f"{name} is a mapping, expected a number without a unit")
    return quantity.axes(quantity.find_key("value"), UNITS[_KINDS[name]][triad])


def _nonlinearity(quantity: _QuantityEntry) -> tuple[float, ...]:
    """Convert a nonlinearity, the largest relative deviation from the best straight line, to K2.

    With a full scale from ``-F`` to ``F``, the response ``f + K2 f^2`` deviates by up to ``K2 F^2 /
    2``.
    """
    key = quantity.find_key("value", others=("full_scale", "full_scale_unit"))
    units = UNITS["signal"][quantity.triad]
    unit = quantity.choice("full_scale_unit", tuple(units))
    number = quantity.entry.get("full_scale")
    full_scale = check_number(f"{quantity.name}: full_scale", number, above=0.0) * units[unit]
    return tuple(2.0 * share / full_scale for share in quantity.axes(key, _PLAIN_RATIOS))


def _white_noise(quantity: _QuantityEntry) -> tuple[float, ...]:
    key = quantity.find_key("density", "rms", "walk", others=("spectrum", "bandwidth"))
    required = {"density": ("spectrum",), "rms": ("bandwidth",), "walk": ()}[key]
    quantity.find_key(key, others=required)
    if key == "density":
        density = quantity.axes(key, UNITS["density"][quantity.triad])
        one_sided = quantity.choice("spectrum", SPECTRA) == "one-sided"
        return tuple(processes.density_of_one_sided(density)) if one_sided else density
    if key == "rms":
        bandwidth = quantity.entry.get("bandwidth")
        bandwidth = check_number(f"{quantity.name}: bandwidth", bandwidth, above=0.0)
        return tuple(processes.density_of_rms(quantity.signal(key), bandwidth))
    return quantity.axes(key, UNITS["white_noise_walk"][quantity.triad])


def _convert_minimum(
    quantity: _QuantityEntry, white_noise: Any, random_walk: Any
) -> dict[str, Any]:
    """Convert the minimum of an Allan deviation to a bias instability and a random walk."""
    key = quantity.find_key("value", others=("meaning", "averaging_time"))
    quantity.choice("meaning", ("allan_minimum",))
    time = quantity.entry["averaging_time"]
    time = check_number(f"{quantity.name}: averaging_time", time, above=0.0)
    if white_noise is None:
        raise quantity.error(
            "averaging_time", "is set, which also requires the triad's white_noise"
        )
    noise = check_axes("white_noise", white_noise, minimum=0.0)
    known = None if random_walk is None else check_axes("random_walk", random_walk, minimum=0.0)
    flicker, walk = processes.flicker_and_walk_of_minimum(quantity.signal(key), time, noise, known)
    if not all(size >= 0.0 for size in flicker):
        raise quantity.error(
            key, f"is below the contribution of white noise and random walk after {time:g} s"
        )
    return {"bias_instability": tuple(flicker), "random_walk": tuple(walk)}


def _matrix(quantity: _QuantityEntry) -> Matrix:
    if not {"scale_factor", "cross_axis"} & set(quantity.entry):
        raise quantity.error("scale_factor or cross_axis", "is required")
    quantity.find_key("unit", others=("scale_factor", "cross_axis", "cross_axis_unit"))
    factor = quantity.factor(RATIOS)
    scale = quantity.scaled("scale_factor", factor)
    if "cross_axis_unit" in quantity.entry:
        factor = RATIOS[quantity.choice("cross_axis_unit", tuple(RATIOS))]
    cross = quantity.scaled("cross_axis", factor)
    identity = np.eye(3, dtype=bool)
    return np.where(identity, np.diag(scale), np.transpose([cross] * 3)).tolist()
