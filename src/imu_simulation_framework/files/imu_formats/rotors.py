"""The IMU plug-in of RotorS, ``librotors_gazebo_imu_plugin.so``, and of PX4's Gazebo models.

One number for the three axes of each sensor; ``X`` is ``gyroscope`` or ``accelerometer``:

============================== ==================== =========================================
tag                            unit                 ours
============================== ==================== =========================================
``XNoiseDensity``              rad/s/sqrt(Hz);      ``white_noise``
                               m/s^2/sqrt(Hz)
``XRandomWalk``                rad/s^2/sqrt(Hz);    driving density
                               m/s^3/sqrt(Hz)       ``gauss_markov_sigma * sqrt(2 / time)``
``XBiasCorrelationTime``       s                    ``gauss_markov_time``
``XTurnOnBiasSigma``           rad/s; m/s^2         ``turn_on_bias_sigma``
============================== ==================== =========================================

Densities are two-sided. The bias is ``b = phi b + sqrt(-q^2 tau / 2 (exp(-2 dt / tau) - 1)) w``,
beginning at zero, q being the random walk: a stationary standard deviation of ``q sqrt(tau / 2)``,
and a random walk of strength q for times well below tau. There is one sample for each step of
the physics. A missing tag means that of an ADIS16448, which no other sensor should get unasked.

RotorS' own macros write ``gyroscopeRandomWalk``, but its plug-in reads
``gyroscopeBiasRandomWalk``; PX4's reads the former. Both are written, and either is read.
Source: ``gazebo_imu_plugin.h`` and ``.cpp`` of rotors_gazebo_plugins.
"""

from __future__ import annotations

from imu_simulation_framework.core.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)
from imu_simulation_framework.core.noise_densities import driven_std, driving_density
from imu_simulation_framework.files.imu_formats.base import (
    NO_OPTIONS,
    TRIADS,
    Reading,
    WriteOptions,
    Writing,
    read_rate,
    unsaid,
    without_fusion,
)
from imu_simulation_framework.files.imu_formats.sensors import find_plugin
from imu_simulation_framework.files.imu_formats.texts import heading, number, tag, xml_comment
from imu_simulation_framework.files.imu_formats.triads import (
    one_slow_bias,
    one_value,
    slow_bias,
)
from imu_simulation_framework.files.imu_formats.xml_tags import Tag, read_tags

LIBRARIES = ("librotors_gazebo_imu_plugin.so", "libgazebo_imu_plugin.so")
_OTHER_GYROSCOPE_WALK = "gyroscopeBiasRandomWalk"
_ERRORS = ("NoiseDensity", "RandomWalk", "BiasCorrelationTime", "TurnOnBiasSigma")
_PLACE = ("robotNamespace", "linkName", "imuTopic")


def read(path, rate: float | None = None) -> Reading:
    """Read the parameters of the one RotorS IMU in a URDF or SDF file.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        That of the physics, which is the sensor's and nowhere in the file [Hz].

    Raises
    ------
    ConfigurationError
        There is no such plug-in or several, a tag is missing, a value is no number or out of
        range, or no rate was given.
    """
    plugin = find_plugin(read_tags(path), *LIBRARIES)
    sample_rate = read_rate(
        None, rate, f"{path}, line {plugin.line}: the plug-in has the rate of the physics"
    )
    triads = {name: _read_triad(plugin, name) for name in TRIADS}
    known = {f"{name}{error}" for name in TRIADS for error in _ERRORS}
    notes = [
        f"Line {child.line}: the plug-in does not know <{child.name}>; left out."
        for child in plugin.children
        if child.name not in (*known, *_PLACE, _OTHER_GYROSCOPE_WALK)
    ]
    output = OutputSpecification(rate=sample_rate, orientation_reference="truth")
    return Reading(ImuSpecification(**triads, output=output), notes)


def _read_triad(plugin, name):
    walk = _random_walk(plugin, name)
    time = plugin.require(f"{name}BiasCorrelationTime").positive()
    return TriadSpecification(
        white_noise=plugin.require(f"{name}NoiseDensity").size(),
        gauss_markov_sigma=float(driven_std(walk.size(), time)),
        gauss_markov_time=time,
        turn_on_bias_sigma=plugin.require(f"{name}TurnOnBiasSigma").size(),
    )


def _random_walk(plugin, name) -> Tag:
    usual = plugin.child(f"{name}RandomWalk")
    other = plugin.child(_OTHER_GYROSCOPE_WALK) if name == "gyroscope" else None
    if usual is not None and other is not None and usual.size() != other.size():
        raise other.error(
            f"and <{usual.name}> in line {usual.line} disagree; RotorS reads the first, PX4 the "
            "second"
        )
    return usual or other or plugin.require(f"{name}RandomWalk")


def write(
    specification: ImuSpecification, rate: float, options: WriteOptions = NO_OPTIONS
) -> Writing:
    """Return a ``<plugin>`` with the parameters, which hold for every rate."""
    said = {"output.rate", "output.orientation_reference", "white_noise", "turn_on_bias_sigma"}
    omissions = []
    tags = []
    for name in TRIADS:
        triad = getattr(specification, name)
        bias = slow_bias(triad, name, options.random_walk_time)
        said.update(f"{name}.{field}" for field in bias.said)
        sigma, time = one_slow_bias(bias, name, omissions)
        walk = number(driving_density(sigma, time))
        noise = one_value(triad.white_noise, f"{name}.white_noise", omissions)
        turn_on = one_value(triad.turn_on_bias_sigma, f"{name}.turn_on_bias_sigma", omissions)
        tags.append(tag(f"{name}NoiseDensity", number(noise), 1))
        tags.append(tag(f"{name}RandomWalk", walk, 1))
        if name == "gyroscope":
            tags.append(tag(_OTHER_GYROSCOPE_WALK, walk, 1))
        tags.append(tag(f"{name}BiasCorrelationTime", number(time), 1))
        tags.append(tag(f"{name}TurnOnBiasSigma", number(turn_on), 1))
    omissions.extend(without_fusion(specification, "RotorS"))
    omissions.extend(unsaid(specification, said))
    comment = [
        *heading(specification, "rotors", omissions),
        "The samples have the rate of the physics. Add robotNamespace, linkName and imuTopic.",
    ]
    text = (
        xml_comment(comment)
        + f'<plugin name="rotors_gazebo_imu_plugin" filename="{LIBRARIES[0]}">\n'
        + "".join(tags)
        + "</plugin>\n"
    )
    return Writing(text, omissions)
