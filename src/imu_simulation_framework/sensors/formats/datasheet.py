"""YAML form for the values of a data sheet in their original units, with their meanings.

::

    name: BNO055
    rate: 100                        # Hz
    gyroscope:
      noise:
        density: 0.014               # a single number, or three for x, y, z
        unit: deg/s/sqrt(Hz)
        spectrum: one-sided          # or two-sided; required
    accelerometer:
      noise:
        rms: 1.5
        unit: mg
        bandwidth: 62.5              # Hz; required

Each sensor has these optional keys:

``noise``
    White noise, in one of three forms:

    - ``density`` with ``spectrum``: two-sided is N itself; one-sided, as in most data sheets,
      is sqrt(2) N;
    - ``rms`` with ``bandwidth``, the noise-equivalent bandwidth: one-sided density times
      sqrt(bandwidth), so that ``N = rms / sqrt(2 bandwidth)``;
    - ``random_walk``: the angle or velocity random walk, which is N.
``bias_instability``
    ``value`` with ``meaning``: ``coefficient`` for B of IEEE Std 952, or ``allan_minimum`` for
    the minimum of the Allan deviation, sqrt(2 ln 2 / pi) B = 0.664 B.
``random_walk``
    ``value`` of the rate or acceleration random walk K.
``zero_offset``
    ``value``: standard deviation over starts, or over sensors.
``temperature_drift``
    ``value`` of the bias change per kelvin.
``range``, ``resolution``
    ``value``: largest reading, or step of the readings.

Each key has its ``unit``, from :mod:`imu_simulation_framework.sensors.files`; g is 9.80665 m/s^2.
Ambiguous values are rejected. Sources: IEEE Std 952, annex C; for one- and two-sided densities any
text on spectral estimation.
"""

from __future__ import annotations

import numpy as np

from ...core.errors import prefix_errors
from ..files import MEANINGS, SPECTRA, UNITS
from ..imu_specification import IMU_TRIADS, TriadSpecification
from ..noise import processes
from .base import Draft, Reading, imu_reading, number, read_rate
from .trees import YamlMapping, read_mapping

# Key -> parameter of a specification, and kind of unit. Each entry has a value and a unit.
_PLAIN = {
    "random_walk": ("random_walk", "random_walk"),
    "zero_offset": ("turn_on_bias_sigma", "signal"),
    "temperature_drift": ("temperature_bias", "temperature"),
    "range": ("saturation", "signal"),
    "resolution": ("resolution", "signal"),
}
_KEYS = ("noise", "bias_instability", *_PLAIN)
_WRITTEN_UNITS = {
    "gyroscope": {
        "density": "deg/s/sqrt(Hz)",
        "random_walk": "deg/h/sqrt(h)",
        "temperature": "deg/s/K",
        "signal": "deg/s",
    },
    "accelerometer": {
        "density": "ug/sqrt(Hz)",
        "random_walk": "m/s/h/sqrt(h)",
        "temperature": "mg/K",
        "signal": "mg",
    },
}


def read(path, rate: float | None = None) -> Reading:
    """Read a data sheet form.

    Parameters
    ----------
    path : str or path
        YAML file.
    rate : float, optional
        Sampling rate [Hz], if the file does not state it.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, or the meaning of a number is ambiguous.
    """
    sheet = read_mapping(path)
    sheet.refuse_others(("name", "rate", *IMU_TRIADS))
    stated_rate = sheet.positive("rate") if "rate" in sheet else None
    rate = read_rate(stated_rate, rate, f"{path}: rate is missing")
    triads = {name: _read_triad(sheet.mapping(name), name) for name in IMU_TRIADS if name in sheet}
    name = sheet.text("name") if "name" in sheet else "imu"
    with prefix_errors(f"{path}: "):
        return imu_reading(rate, triads, [], name)


def _read_triad(values: YamlMapping, triad: str) -> TriadSpecification:
    values.refuse_others(_KEYS)
    parameters = {}
    if "noise" in values:
        parameters["white_noise"] = _noise(values, triad)
    if "bias_instability" in values:
        entry = values.mapping("bias_instability")
        entry.refuse_others(("value", "unit", "meaning"))
        size = np.array(_convert_to_si(entry, "value", triad, "signal"))
        plateau = entry.text("meaning", MEANINGS) == "allan_minimum"
        parameters["bias_instability"] = size / (processes.FLICKER_PLATEAU if plateau else 1.0)
    for key, (parameter, kind) in _PLAIN.items():
        if key in values:
            entry = values.mapping(key)
            entry.refuse_others(("value", "unit"))
            parameters[parameter] = _convert_to_si(entry, "value", triad, kind)
            if key == "range" and min(parameters[parameter]) == 0.0:
                raise entry.error("value", "is 0, expected a positive number")
    return TriadSpecification(**parameters)


# Notation for white noise -> kind of unit, required further key, and meaning of that key.
_NOISE_FORMS = {
    "density": (
        "density",
        "spectrum",
        "its spectrum, one-sided (as in most data sheets) or two-sided",
    ),
    "rms": ("signal", "bandwidth", "the bandwidth [Hz] of its rms"),
    "random_walk": ("white_noise_walk", None, ""),
}


def _noise(values, triad):
    entry = values.mapping("noise")
    forms = [form for form in _NOISE_FORMS if form in entry]
    if len(forms) != 1:
        raise values.error("noise", "must have exactly one of density, rms and random_walk")
    form = forms[0]
    kind, required, description = _NOISE_FORMS[form]
    entry.refuse_others((form, "unit", *filter(None, [required])))
    size = _convert_to_si(entry, form, triad, kind)
    if required is not None and required not in entry:
        raise values.error("noise", f"lacks {description}")
    if form == "rms":
        return processes.density_of_rms(size, entry.positive("bandwidth"))
    if form == "density" and entry.text("spectrum", SPECTRA) == "one-sided":
        return processes.density_of_one_sided(size)
    return size


def _convert_to_si(entry, key, triad, kind):
    sizes = entry.sizes(key)
    units = UNITS[kind][triad]
    factor = units[entry.text("unit", tuple(units))]
    return tuple(size * factor for size in sizes)


def write(draft: Draft) -> str:
    """Format a specification as a data sheet form, in the usual units and one-sided densities.

    Parameters
    ----------
    draft : Draft
        Specification to write.

    Returns
    -------
    str
    """
    name = draft.specification.name.replace("'", "''")
    lines = [f"name: '{name}'\n", f"rate: {number(draft.rate)}  # Hz\n"]
    draft.supported = {"output.rate", "white_noise", "bias_instability"}
    draft.supported.update(p for p, _ in _PLAIN.values() if p != "temperature_bias")
    for name in IMU_TRIADS:
        triad = getattr(draft.specification, name)
        entries = []
        if any(triad.white_noise):
            density = processes.one_sided_density(triad.white_noise)
            entries += _entry("noise", "density", density, name, "density", "spectrum: one-sided")
        if any(triad.bias_instability):
            entries += _entry(
                *("bias_instability", "value", triad.bias_instability, name, "signal"),
                "meaning: coefficient",
            )
        for key, (parameter, kind) in _PLAIN.items():
            value = getattr(triad, parameter)
            # Data sheets state magnitudes.
            if value is None or not any(value) or min(value) < 0.0:
                continue
            entries += _entry(key, "value", value, name, kind)
            draft.supported.add(f"{name}.{parameter}")
        if entries:
            lines.append(f"{name}:\n")
            lines.extend(f"  {line}\n" for line in entries)
    return "".join(lines)


def _entry(key, value_key, values, triad, kind, *more):
    unit = _WRITTEN_UNITS[triad][kind]
    factor = UNITS[kind][triad][unit]
    text = ", ".join(number(value / factor) for value in values)
    lines = [f"{key}:", f"  {value_key}: [{text}]", f"  unit: {unit}"]
    return lines + [f"  {line}" for line in more]
