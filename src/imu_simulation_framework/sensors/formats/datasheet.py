"""A form for what a datasheet says, in its own units, which must say what each number means.

::

    name: BNO055
    rate: 100                        # Hz
    gyroscope:
      noise:
        density: 0.014               # one number, or three for x, y, z
        unit: deg/s/sqrt(Hz)
        spectrum: one-sided          # or two-sided; must be said
    accelerometer:
      noise:
        rms: 1.5
        unit: mg
        bandwidth: 62.5              # Hz; must be said

For each sensor, all optional:

``noise``
    White noise, as one of

    - ``density`` with ``spectrum``: two-sided is N itself; one-sided, as most datasheets mean
      it, is sqrt(2) N;
    - ``rms`` with ``bandwidth``, the noise-equivalent one: one-sided density times
      sqrt(bandwidth), so that ``N = rms / sqrt(2 bandwidth)``;
    - ``random_walk``: the angle or velocity random walk, which is N.
``bias_instability``
    ``value`` with ``meaning``: ``coefficient`` for B of IEEE Std 952, or ``allan_minimum`` for
    the lowest point of the Allan deviation, sqrt(2 ln 2 / pi) B = 0.664 B.
``random_walk``
    ``value`` of the rate or acceleration random walk K.
``zero_offset``
    ``value``: standard deviation from one start, or one sensor, to the next.
``temperature_drift``
    ``value`` of the bias per kelvin.
``range``, ``resolution``
    ``value``: largest reading, step of the readings.

Each has its ``unit``, from :mod:`imu_simulation_framework.sensors.stated_values`; g is
9.80665 m/s^2. Nothing is guessed: what leaves its meaning open is refused. Sources: IEEE Std 952,
annex C; for one- and two-sided densities any text on the estimation of spectra.
"""

from __future__ import annotations

from typing import Any

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.formats.base import (
    NO_OPTIONS,
    Reading,
    WriteOptions,
    Writing,
    heading,
    number,
    read_rate,
    unsaid,
    yaml_comment,
)
from imu_simulation_framework.sensors.formats.yaml import YamlMapping, read_mapping
from imu_simulation_framework.sensors.imu_specification import (
    IMU_TRIADS,
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.sensors.noise.densities import (
    density_of_one_sided,
    density_of_rms,
    one_sided_density,
)
from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU
from imu_simulation_framework.sensors.stated_values import MEANINGS, SPECTRA, UNITS

# Key: parameter of a specification, kind of unit. These are a value and a unit, nothing else.
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
    """Read a datasheet form.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        The sensor's rate where the file does not state it [Hz].

    Raises
    ------
    ConfigurationError
        A key is unknown, something leaves open what it means, a value is no number or out of
        range, or nobody states the rate.
    """
    sheet = read_mapping(path)
    sheet.refuse_others(("name", "rate", *IMU_TRIADS))
    stated = sheet.positive("rate") if "rate" in sheet else None
    output = OutputSpecification(rate=read_rate(stated, rate, f"{path}: there is no rate"))
    triads: dict[str, Any] = {
        name: _read_triad(sheet.mapping(name), name) for name in IMU_TRIADS if name in sheet
    }
    name = sheet.text("name") if "name" in sheet else "imu"
    try:
        return Reading(ImuSpecification(name=name, output=output, **triads), [])
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _read_triad(values: YamlMapping, triad: str) -> TriadSpecification:
    values.refuse_others(_KEYS)
    parameters = {}
    if "noise" in values:
        parameters["white_noise"] = _noise(values, triad)
    if "bias_instability" in values:
        entry = values.mapping("bias_instability")
        entry.refuse_others(("value", "unit", "meaning"))
        size = _in_si(entry, "value", triad, "signal")
        meaning = entry.text("meaning", MEANINGS)
        factor = FLICKER_PLATEAU if meaning == "allan_minimum" else 1.0
        parameters["bias_instability"] = tuple(value / factor for value in size)
    for key, (parameter, kind) in _PLAIN.items():
        if key in values:
            entry = values.mapping(key)
            entry.refuse_others(("value", "unit"))
            parameters[parameter] = _in_si(entry, "value", triad, kind)
            if key == "range" and min(parameters[parameter]) == 0.0:
                raise entry.error("value", "must be above 0")
    return TriadSpecification(**parameters)


def _noise(values, triad):
    entry = values.mapping("noise")
    ways = [key for key in ("density", "rms", "random_walk") if key in entry]
    if len(ways) != 1:
        raise values.error("noise", "must have one of density, rms and random_walk")
    way = ways[0]
    needed = {"density": ("spectrum",), "rms": ("bandwidth",), "random_walk": ()}[way]
    entry.refuse_others((way, "unit", *needed))
    if way == "density":
        density = _in_si(entry, way, triad, "density")
        if "spectrum" not in entry:
            raise values.error(
                "noise",
                "does not say its spectrum, one-sided (as most datasheets mean it) or two-sided",
            )
        one_sided = entry.text("spectrum", SPECTRA) == "one-sided"
        return density_of_one_sided(density) if one_sided else density
    if way == "rms":
        rms = _in_si(entry, way, triad, "signal")
        if "bandwidth" not in entry:
            raise values.error("noise", "does not say the bandwidth [Hz] of its rms")
        return density_of_rms(rms, entry.positive("bandwidth"))
    return _in_si(entry, way, triad, "white_noise_walk")


def _in_si(entry, key, triad, kind):
    sizes = entry.sizes(key)
    units = UNITS[kind][triad]
    factor = units[entry.text("unit", tuple(units))]
    return tuple(size * factor for size in sizes)


def write(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return a datasheet form with one-sided densities in the units that datasheets use."""
    lines = [f"name: {_quoted(specification.name)}\n", f"rate: {number(rate)}  # Hz\n"]
    said = {"output.rate", "white_noise", "bias_instability"}
    said.update(parameter for parameter, _ in _PLAIN.values() if parameter != "temperature_bias")
    remarks = []
    for name in IMU_TRIADS:
        triad = getattr(specification, name)
        entries = []
        if any(triad.white_noise):
            density = one_sided_density(triad.white_noise)
            entries += _entry("noise", "density", density, name, "density", "spectrum: one-sided")
        if any(triad.bias_instability):
            size = triad.bias_instability
            meaning = "meaning: coefficient"
            entries += _entry("bias_instability", "value", size, name, "signal", meaning)
        for key, (parameter, kind) in _PLAIN.items():
            value = getattr(triad, parameter)
            if value is None or not any(value):
                continue
            if min(value) < 0.0:
                # What a datasheet states is a size.
                continue
            entries += _entry(key, "value", value, name, kind)
            said.add(f"{name}.{parameter}")
        if entries:
            lines.append(f"{name}:\n")
            lines.extend(f"  {line}\n" for line in entries)
    remarks.extend(unsaid(specification, said))
    comment = yaml_comment(heading(specification, "datasheet", remarks))
    return Writing(comment + "".join(lines), remarks)


def _entry(key, value_key, values, triad, kind, *more):
    unit = _WRITTEN_UNITS[triad][kind]
    factor = UNITS[kind][triad][unit]
    text = ", ".join(number(value / factor) for value in values)
    lines = [f"{key}:", f"  {value_key}: [{text}]", f"  unit: {unit}"]
    return lines + [f"  {line}" for line in more]


def _quoted(text):
    return "'" + text.replace("'", "''") + "'"
