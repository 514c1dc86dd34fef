"""Give the ideal IMU in a bag the errors of a real one.

IN is a bag of ROS 1, or the folder of one of ROS 2, that any simulator's topics were recorded to;
one of them is an ideal sensor_msgs/Imu. OUT is the same bag with another topic, the realistic IMU:
every other message is the same to the byte. The errors follow the stamps: what is missing between
two messages, the IMU's drift and its orientation filter go through.

NAME is a bundled specification (bno055), a specification's file, FORMAT:FILE for parameters of
another tool, or a plug-in's model: generic, hector, hector_slow, ideal. Model, parameters and seed
are in the bag, as text on the topic OUTPUT/errors: the same seed gives the same bag.

    apply_imu_errors.py drive.bag --imu bno055 --out realistic.bag
    apply_imu_errors.py drive.bag --imu hector --out realistic.bag --input /mobile_base/imu --seed 7
"""

from __future__ import annotations

import argparse
import json
from typing import NamedTuple

import numpy as np

import imu_simulation_framework
from imu_simulation_framework import topics
from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError, RecordingError
from imu_simulation_framework.experiment.named_imu import named_imu
from imu_simulation_framework.experiment.realistic_imu.messages import imu_numbers
from imu_simulation_framework.experiment.realistic_imu.session import RealisticImu
from imu_simulation_framework.experiment.realistic_imu.stamps import usual_period
from imu_simulation_framework.experiment.realistic_imu.truth import (
    ImuInput,
    check_frames,
)
from imu_simulation_framework.files.whole_files import refuse_overwriting
from imu_simulation_framework.recordings.messages import IMU
from imu_simulation_framework.recordings.simulated.raw_bags import (
    RawBag,
    bag_like,
    changed_imu_message,
    opened_bag,
    read_imu_message,
)
from imu_simulation_framework.recordings.topics import choose_topic
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.tools.arguments import whole_number

OUTPUT = topics.in_root(topics.IMU)
ERRORS = "errors"
"""Topic below the output's on which it is said what was done."""


def main(arguments):
    """Write the bag that the command line describes."""
    options = _parser().parse_args(arguments)
    chosen = named_imu(options.imu)
    refuse_overwriting(options.out, [options.bag, *chosen.files])
    with opened_bag(options.bag) as bag:
        present = bag.topics()
        topic = choose_topic(options.bag, options.input, present, {IMU.name: IMU})
        for taken in (options.output, f"{options.output}/{ERRORS}"):
            if taken in present and taken != topic:
                raise ConfigurationError(
                    f"{options.bag}: the topic {taken} is in the bag already; choose another one "
                    "with --output"
                )
        ideal = _look_through(bag, topic, _source(options))
        sensor = chosen.errors.output.rate if isinstance(chosen.errors, ImuSpecification) else None
        period = _told(bag, topic, usual_period, ideal.stamps, options.rate or sensor)
        session = RealisticImu(chosen.errors, options.seed, period, rate=options.rate)
        if not ideal.has_orientation:
            session.without_orientation()
        written = _write(bag, topic, session, ideal, options)
    for remark in (*chosen.remarks, *_sentences(topic, ideal, session, options, written)):
        print(remark)


class _Ideal(NamedTuple):
    """The ideal IMU of a bag: stamps [ns], whether each has an orientation, and its frames."""

    stamps: list[int]
    has_orientation: bool
    frames: list[str]


def _source(options) -> ImuInput:
    add_gravity = options.add_gravity or options.gazebo_ros_imu
    gravity = WORLD_GRAVITY if add_gravity else 0.0
    return ImuInput(missing_gravity=gravity, turned_wrongly=options.gazebo_ros_imu)


def _look_through(bag: RawBag, topic, source: ImuInput) -> _Ideal:
    """Read the ideal IMU once: the period and the axes must be known before the first step."""
    stamps, truths = [], []
    frames: dict[str, None] = {}
    for number, raw in enumerate(bag.messages(topic), 1):
        message = _understood(bag, topic, number, raw)
        stamps.append(message.stamp)
        frames[message.frame] = None
        truths.append(_told(bag, topic, source.truth, message.stamp, message.numbers))
    if not any(stamps):
        raise RecordingError(f"{bag.path}, topic {topic}: no message has a stamp")
    finite = [truth for truth in truths if truth is not None]
    if not finite:
        raise RecordingError(f"{bag.path}, topic {topic}: no message holds numbers only")
    _told(bag, topic, check_frames, finite, source.has_orientation)
    return _Ideal(stamps, source.has_orientation, list(frames))


def _understood(bag, topic, number, raw):
    message = read_imu_message(raw.data, bag.ros2)
    if message is None:
        raise RecordingError(
            f"{bag.path}, topic {topic}: message {number} is not laid out as {IMU.name} of "
            f"ROS {2 if bag.ros2 else 1}"
        )
    return message


def _told(bag, topic, function, *arguments):
    """Call a function, and say of which recording it speaks when it refuses."""
    try:
        return function(*arguments)
    except RecordingError as error:
        raise RecordingError(f"{bag.path}, topic {topic}: {error}") from None


def _write(bag, topic, session, ideal, options) -> int:
    """Write the bag; return how many messages the realistic IMU has."""
    source = _source(options)
    source.has_orientation = ideal.has_orientation
    covariances = session.covariances()
    count = 0
    with bag_like(bag, options.out) as copy:
        told = False
        for raw in bag.messages():
            is_ideal = raw.connection.topic == topic
            if not is_ideal or options.output != topic:
                copy.write(raw)
            if not is_ideal:
                continue
            if not told:
                text = json.dumps(_record(topic, session), sort_keys=True)
                copy.write_text(f"{options.output}/{ERRORS}", raw.receipt, text)
                told = True
            # All of them were understood before.
            message = _understood(bag, topic, count + 1, raw)
            truth = source.truth(message.stamp, message.numbers)
            for stamp, reading in session.add(message.stamp, truth):
                numbers = imu_numbers(reading, covariances, session.gives_orientation)
                data = changed_imu_message(
                    raw.data, message, numbers, bag.ros2, options.frame_id, stamp
                )
                copy.write(raw, options.output, data)
                count += 1
    return count


def _record(topic, session) -> dict:
    """Return what is needed to make the same topic again."""
    return {
        "input": topic,
        "imu_simulation_framework": imu_simulation_framework.__version__,
        **session.describe(),
    }


def _sentences(topic, ideal, session, options, written):
    """Yield what was done, and what there was in the recording."""
    frame = options.frame_id or ", ".join(ideal.frames) or "(no name)"
    count = session.report.taken
    yield (
        f"{options.out}: {options.output} has {written} messages of {session.describe()['label']}, "
        f"seed {options.seed}, made of {count} of {len(ideal.stamps)} messages on {topic} at "
        f"{1.0 / session.period:g} Hz"
    )
    if options.gazebo_ros_imu:
        yield "the input's vectors were turned back, as libgazebo_ros_imu.so turns them wrongly"
    if options.add_gravity or options.gazebo_ros_imu:
        yield f"gravity of {WORLD_GRAVITY:g} m/s^2 was added to the input's acceleration"
    axes = "x forward, y left, z up (REP-103), as the input's"
    if not session.gives_orientation:
        yield f"frame {frame}: {axes}; no orientation, which its covariance of -1 says (REP-145)"
    elif ideal.has_orientation:
        yield f"frame {frame}: {axes}; orientation from it to the input's world (east, north, up)"
    else:
        yield (
            f"frame {frame}: {axes}; the input has no orientation, so the fused one begins with a "
            "yaw of zero"
        )
    if len(ideal.frames) > 1:
        yield f"the input is in {len(ideal.frames)} frames, which were taken for one"
    steps = np.diff(np.array(ideal.stamps, dtype=np.int64)) / 1e9
    usual = np.abs(steps - session.period) <= 0.5 * session.period
    scatter = float(np.max(np.abs(steps[usual] - session.period))) if usual.any() else 0.0
    if scatter > 0.01 * session.period:
        yield (
            f"its stamps are up to {1e3 * scatter:.3g} ms beside even steps of "
            f"{1e3 * session.period:.4g} ms; each message was taken for one step"
        )
    yield from session.report.sentences()


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of samples a second")
    return value


def _topic(text: str) -> str:
    if not text.strip("/") or any(letter.isspace() for letter in text):
        raise argparse.ArgumentTypeError(f"'{text}' is no name of a topic")
    return "/" + text.strip("/")


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag", metavar="IN", help="bag of ROS 1, or folder of one of ROS 2")
    parser.add_argument("--imu", required=True, metavar="NAME", help="whose errors")
    parser.add_argument("--out", required=True, metavar="OUT", help="bag of the same kind")
    parser.add_argument(
        "--input", default="", metavar="TOPIC", help="the ideal IMU (default: the only one)"
    )
    parser.add_argument(
        "--output",
        default=OUTPUT,
        type=_topic,
        metavar="TOPIC",
        help=f"the realistic one (default: {OUTPUT}); that of the input takes its place",
    )
    parser.add_argument("--seed", type=whole_number, default=1, metavar="S", help="default: 1")
    parser.add_argument(
        "--rate", type=_rate, metavar="HZ", help="of the sensor, instead of its specification's"
    )
    parser.add_argument(
        "--add-gravity", action="store_true", help="for an ideal IMU that is without"
    )
    parser.add_argument(
        "--gazebo-ros-imu",
        action="store_true",
        help="for that of libgazebo_ros_imu.so: without gravity, and turned wrongly",
    )
    parser.add_argument("--frame-id", metavar="NAME", help="of the realistic IMU's messages")
    return parser
