"""IMU plug-ins of RotorS, ``librotors_gazebo_imu_plugin.so``, and of PX4's Gazebo models.

A single number applies to all three axes of a sensor; ``X`` is ``gyroscope`` or ``accelerometer``:

============================== ==================== =========================================
tag                            unit                 specification
============================== ==================== =========================================
``XNoiseDensity``              rad/s/sqrt(Hz);      ``white_noise``
                               m/s^2/sqrt(Hz)
``XRandomWalk``                rad/s^2/sqrt(Hz);    driving density
                               m/s^3/sqrt(Hz)       ``gauss_markov_sigma * sqrt(2 / time)``
``XBiasCorrelationTime``       s                    ``gauss_markov_time``
``XTurnOnBiasSigma``           rad/s; m/s^2         ``turn_on_bias_sigma``
============================== ==================== =========================================

Densities are two-sided. The bias is ``b = phi b + sqrt(-q^2 tau / 2 (exp(-2 dt / tau) - 1)) w``,
starting at zero, with the random walk q: it has a stationary standard deviation of ``q sqrt(tau /
2)``, and is a random walk of strength q for times well below tau. The plug-in outputs a sample in
each physics step. In PX4's plug-in the turn-on bias decays like the other bias, in RotorS it is
constant.

A missing tag has the default of the plug-in, with a remark:

.. list-table::
   :header-rows: 1
   :widths: 34 40 26

   * - default
     - RotorS, and PX4 until March 2025 (ADIS16448)
     - PX4 since then (IIM42653)
   * - gyroscope, noise density
     - 3.394e-4 rad/s/sqrt(Hz) (70 deg/h/sqrt(Hz))
     - 8.726646e-4
   * - gyroscope, random walk
     - 3.879e-5 rad/s^2/sqrt(Hz) (8 deg/h/s/sqrt(Hz))
     - 0
   * - gyroscope, correlation time
     - 1000 s
     - 1000 s
   * - gyroscope, turn-on bias
     - 0.5 deg/s
     - 0
   * - accelerometer, noise density
     - 0.004 m/s^2/sqrt(Hz)
     - 0.00637
   * - accelerometer, random walk
     - 0.006 m/s^3/sqrt(Hz)
     - 0
   * - accelerometer, correlation time
     - 300 s
     - 300 s
   * - accelerometer, turn-on bias
     - 0.196 m/s^2
     - 0

The library of the model, ``librotors_gazebo_imu_plugin.so`` or ``libgazebo_imu_plugin.so``, selects
the column: in March 2025, PX4 removed the numbers from its models and added those of an IIM42653 to
its plug-in. For an older PX4, state the numbers in the model. Unknown tags, which the plug-in
ignores, are listed with the most similar known tag.

The macros of RotorS write ``gyroscopeRandomWalk``, but its plug-in reads
``gyroscopeBiasRandomWalk``; PX4's plug-in reads the former. Both are written, and either is read.
Source: ``gazebo_imu_plugin.h`` and ``.cpp`` of rotors_gazebo_plugins (ethz-asl/rotors_simulator)
and of PX4/PX4-SITL_gazebo-classic.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..imu_specification import IMU_TRIADS, TriadSpecification
from ..noise.processes import driven_std, driving_density
from ..triads import TRIADS
from .base import Draft, Reading, imu_reading, note_unknown, read_rate, read_topic, tag
from .trees import Tag, find_plugin, read_tags

_ROTORS, _PX4 = "librotors_gazebo_imu_plugin.so", "libgazebo_imu_plugin.so"
_OTHER_GYROSCOPE_WALK = "gyroscopeBiasRandomWalk"
# Suffix of the plug-in's tag -> parameter of a specification with the same unit.
_ERRORS = {
    "NoiseDensity": "white_noise",
    "RandomWalk": "random_walk",
    "BiasCorrelationTime": "gauss_markov_time",
    "TurnOnBiasSigma": "turn_on_bias_sigma",
}
_WALK = ("gyroscope", "RandomWalk")
_PLACE = ("robotNamespace", "linkName", "imuTopic")


class _Defaults(NamedTuple):
    """Defaults of a plug-in for missing tags of ``_ERRORS``, and their source."""

    source: str
    gyroscope: tuple[float, ...]
    accelerometer: tuple[float, ...]


_DEFAULTS = {
    _ROTORS: _Defaults(
        "rotors_gazebo_plugins/gazebo_imu_plugin.h, for an ADIS16448",
        (*map(math.radians, (2.0 * 35.0 / 3600.0, 2.0 * 4.0 / 3600.0)), 1000.0, math.radians(0.5)),
        (2.0 * 2.0e-3, 2.0 * 3.0e-3, 300.0, 20.0e-3 * 9.8),
    ),
    _PX4: _Defaults(
        "PX4-SITL_gazebo-classic/include/gazebo_imu_plugin.h since March 2025, for an IIM42653",
        (0.0008726646, 0.0, 1000.0, 0.0),
        (0.00637, 0.0, 300.0, 0.0),
    ),
}


def read(path, rate: float | None = None) -> Reading:
    """Read the parameters of the RotorS or PX4 IMU plug-in in a URDF or SDF file.

    Parameters
    ----------
    path : str or path
        File with a single RotorS IMU.
    rate : float, optional
        Sampling rate [Hz], the rate of the physics engine; required.

    Returns
    -------
    Reading

    Raises
    ------
    ConfigurationError
        If the file is invalid, does not contain exactly one such IMU, or the rate is missing.
    """
    plugin = find_plugin(read_tags(path), _ROTORS, _PX4)
    sample_rate = read_rate(
        None,
        rate,
        f"{path}, line {plugin.line}: the plug-in runs at the rate of the physics, 250 Hz in PX4's "
        "worlds, 100 or 500 Hz in RotorS",
    )
    remarks: list[str] = []
    library = plugin.attributes["filename"].split("/")[-1]
    triads = {name: _read_triad(plugin, name, _DEFAULTS[library], remarks) for name in IMU_TRIADS}
    if remarks and library == _PX4:
        remarks.append("PX4's plug-in before March 2025 has the defaults of RotorS instead.")
    known = {f"{name}{error}" for name in IMU_TRIADS for error in _ERRORS}
    known.update((*_PLACE, _OTHER_GYROSCOPE_WALK))
    note_unknown(plugin.children, known, "the plug-in does not know {}", remarks)
    topic = read_topic(plugin.child("imuTopic"), remarks)
    return imu_reading(sample_rate, triads, remarks, orientation_reference="truth", topic=topic)


def _read_triad(plugin, name, defaults, remarks):
    values = {}
    for (error, parameter), default in zip(_ERRORS.items(), getattr(defaults, name)):
        unit = TRIADS[name].unit_of(parameter)
        tag = _random_walk(plugin) if (name, error) == _WALK else plugin.child(f"{name}{error}")
        if tag is None:
            values[error] = default
            remarks.append(
                f"Line {plugin.line}: <{name}{error}> is missing: {default:.7g} {unit}, the "
                f"plug-in's default ({defaults.source})."
            )
        else:
            values[error] = tag.positive() if error == "BiasCorrelationTime" else tag.size()
    return TriadSpecification(
        white_noise=values["NoiseDensity"],
        gauss_markov_sigma=float(driven_std(values["RandomWalk"], values["BiasCorrelationTime"])),
        gauss_markov_time=values["BiasCorrelationTime"],
        turn_on_bias_sigma=values["TurnOnBiasSigma"],
    )


def _random_walk(plugin) -> Tag | None:
    usual, other = (plugin.child(name) for name in ("".join(_WALK), _OTHER_GYROSCOPE_WALK))
    if usual is not None and other is not None and usual.size() != other.size():
        raise other.error(
            f"and <{usual.name}> in line {usual.line} disagree, expected the same value; RotorS "
            "reads the first, PX4 the second"
        )
    return usual or other


def write(draft: Draft) -> str:
    """Format a ``<plugin>`` tag with the parameters, which are valid at every sampling rate.

    Parameters
    ----------
    draft : Draft
        Specification to write.

    Returns
    -------
    str
    """
    draft.supported = {"output.rate", "output.topic", "white_noise", "turn_on_bias_sigma"}
    topic = draft.specification.output.topic
    tags = tag("imuTopic", topic)
    for name in IMU_TRIADS:
        sigma, time = draft.common_slow_bias(name)
        walk = driving_density(sigma, time)
        tags += tag(f"{name}NoiseDensity", draft.common_value(f"{name}.white_noise"))
        tags += tag(f"{name}RandomWalk", walk)
        if name == "gyroscope":
            tags += tag(_OTHER_GYROSCOPE_WALK, walk)
        turn_on = draft.common_value(f"{name}.turn_on_bias_sigma")
        tags += tag(f"{name}BiasCorrelationTime", time) + tag(f"{name}TurnOnBiasSigma", turn_on)
    draft.note_fusion("RotorS")
    draft.notes = [
        "The samples have the rate of the physics. Add robotNamespace, linkName"
        + ("." if topic else " and imuTopic."),
    ]
    return f'<plugin name="rotors_gazebo_imu_plugin" filename="{_ROTORS}">\n{tags}</plugin>\n'
