"""Add the errors of a realistic IMU to the ideal IMU in a bag.

IN is a bag of ROS 1, or the folder of a bag of ROS 2, with the topics of any simulator, among them
an ideal sensor_msgs/Imu. OUT is the same bag with an additional topic, the realistic IMU; all other
messages are copied unchanged. Errors follow the stamps: drift and orientation filter continue
through gaps between messages.

NAME is a bundled specification (bno055), a file of a specification, FORMAT:FILE for parameters of
another tool, or the model of a plug-in: generic, hector, hector_slow, ideal. The topic
OUTPUT/errors contains model, parameters and seed as text. The same seed gives the same bag.

With --magnetometer, the magnetometer of the specification measures as well. Its input is the only
sensor_msgs/MagneticField of the bag. Without such a topic it is the field of a magnetic
environment, rotated by the orientation of the ideal IMU.

    apply_imu_errors.py drive.bag --imu bno055 --out realistic.bag
    apply_imu_errors.py drive.bag --imu hector --out realistic.bag --input /mobile_base/imu --seed 7
    apply_imu_errors.py drive.bag --imu bno055_magnetometer --out realistic.bag --magnetometer
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from typing import NamedTuple

import numpy as np

import imu_simulation_framework

from ..core import topics
from ..core.errors import ConfigurationError, RecordingError, prefix_errors
from ..core.programs import ArgumentParser
from ..core.units import WORLD_GRAVITY
from ..core.whole_files import refuse_overwriting
from ..realistic_imu.files import DEFAULT_ENVIRONMENT, BagSurroundings
from ..realistic_imu.ideal_inputs import (
    ImuInput,
    check_frames,
    estimate_nominal_period,
    make_imu_payload,
    stamp_deviation,
)
from ..realistic_imu.session import RealisticImu, check_required_inputs, replace_rate
from ..recordings.formats.bag import choose_topic
from ..recordings.formats.written_bags import RawBag, bag_like, opened_bag
from ..recordings.messages import IMU, MAGNETIC_FIELD, read_numbers, with_numbers
from ..sensors.errors_in_motion import remark_on_motion_errors
from ..sensors.formats.registry import named_imu
from ..sensors.imu_specification import ImuSpecification
from .command_line import add_seed, number_type

OUTPUT = topics.absolute_topic(topics.IMU)
ERRORS = "errors"
"""Last part of the topic with model, parameters and seed, in the namespace of the output."""


def main(arguments):
    """Write the bag of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    chosen = named_imu(options.imu)
    refuse_overwriting(options.out, [options.bag, *chosen.files])
    if options.magnetic_output is None:
        options.magnetic_output = topics.sibling_topic(options.output, topics.IMU_MAG)
    field = options.magnetic_environment, options.magnetic_input
    measured = options.magnetometer or any(field)
    with opened_bag(options.bag) as bag:
        topic = choose_topic(options.bag, options.input, bag.topics(), {IMU.name: IMU})
        reported = BagSurroundings(bag, chosen.errors, measured, *field, options.pose)
        surroundings = reported.surroundings
        check_required_inputs(chosen.errors, surroundings.has_field, surroundings.has_speed)
        _check_outputs(bag, topic, reported, options)
        ideal = _read_ideal_imu(bag, topic, _source(options))
        sensor = chosen.errors.output.rate if isinstance(chosen.errors, ImuSpecification) else None
        period = _reported(
            bag, topic, estimate_nominal_period, ideal.stamps, options.rate or sensor
        )
        session = RealisticImu(
            replace_rate(chosen.errors, options.rate),
            options.seed,
            period,
            signals=surroundings.signals,
            report=surroundings.report,
        )
        if not ideal.has_orientation:
            _reported(bag, topic, session.drop_orientation)
        written = _copy(bag, topic, reported, session, ideal, options)
    understated = None
    if isinstance(chosen.errors, ImuSpecification):
        understated = remark_on_motion_errors(chosen.errors)
    for remark in (
        *chosen.remarks,
        *filter(None, [understated]),
        *reported.remarks,
        *_sentences(topic, ideal, reported, session, options, written),
    ):
        print(remark)


def _check_outputs(bag, topic, reported, options) -> None:
    """Check that no output is a topic of the bag, except those that it replaces."""
    outputs = [(options.output, topic, "--output")]
    outputs.append((f"{options.output}/{ERRORS}", None, "--output"))
    if reported.surroundings.has_field:
        outputs.append((options.magnetic_output, reported.field, "--magnetic-output"))
        if options.magnetic_output == options.output:
            raise ConfigurationError(
                f"the topic {options.output} is the IMU's; choose another topic with "
                "--magnetic-output"
            )
    present = bag.topics()
    for output, replaced, option in outputs:
        if output in present and output != replaced:
            raise ConfigurationError(
                f"{options.bag}: the topic {output} is in the bag already; choose another topic "
                f"with {option}"
            )


class _Ideal(NamedTuple):
    """Ideal IMU of a bag: stamps [ns], whether all messages have an orientation, and frames."""

    stamps: list[int]
    has_orientation: bool
    frames: list[str]


def _source(options, report=None) -> ImuInput:
    add_gravity = options.add_gravity or options.gazebo_ros_imu
    gravity = WORLD_GRAVITY if add_gravity else 0.0
    return ImuInput(
        missing_gravity=gravity, is_wrongly_rotated=options.gazebo_ros_imu, report=report
    )


def _read_ideal_imu(bag: RawBag, topic, source: ImuInput) -> _Ideal:
    """Read the ideal IMU, whose period and axes are required before the first step."""
    stamps, truths = [], []
    frames: dict[str, None] = {}
    for number, raw in enumerate(bag.messages(topic), 1):
        message = _parse(bag, topic, number, raw)
        stamps.append(message.stamp)
        frames[message.frame] = None
        truths += _reported(bag, topic, source.truths, message.stamp, message.numbers)
    if not any(stamps):
        raise RecordingError(f"{bag.path}, topic {topic}: no message has a stamp")
    truths += _reported(bag, topic, source.finish)
    finite = [truth for _, truth in truths if truth is not None]
    if not finite:
        raise RecordingError(f"{bag.path}, topic {topic}: all messages contain nan or inf")
    _reported(bag, topic, check_frames, finite, source.has_orientation)
    return _Ideal(stamps, bool(source.has_orientation), list(frames))


def _parse(bag, topic, number, raw):
    message = read_numbers(raw.data, IMU, bag.ros2)
    if message is None:
        raise RecordingError(
            f"{bag.path}, topic {topic}: message {number} is not laid out as {IMU.name} of "
            f"ROS {2 if bag.ros2 else 1}"
        )
    return message


def _reported(bag, topic, function, *arguments):
    """Call a function, and put bag and topic in front of its error messages."""
    with prefix_errors(f"{bag.path}, topic {topic}: ", RecordingError):
        return function(*arguments)


def _copy(bag, topic, reported, session, ideal, options) -> tuple[int, int]:
    """Copy the bag with the realistic IMU; return the counts of written and incomplete messages."""
    covariances, field_covariance = session.covariances(), session.magnetic_covariance()
    source = _source(options, session.report)
    source.has_orientation = ideal.has_orientation
    # Messages of the ideal IMU without complete inputs, such as a later field or pose.
    waiting: deque = deque()
    replaced = {options.output, options.magnetic_output} & {topic, reported.field}
    number = published = 0
    with bag_like(bag, options.out) as copy:
        for raw in bag.messages():
            if raw.topic not in replaced:
                copy.write(raw)
            if raw.topic == topic:
                number += 1
                if number == 1:
                    text = json.dumps(_record(topic, reported, session), sort_keys=True)
                    copy.write_text(f"{options.output}/{ERRORS}", raw.receipt, text)
                # The first pass has checked all messages.
                message = _parse(bag, topic, number, raw)
                truth = source.truth(message.stamp, message.numbers)
                waiting.append((raw, message))
                complete = _reported(bag, topic, reported.surroundings.add, message.stamp, truth)
            else:
                complete = reported.process(raw)
            for stamp, truth in complete:
                # Messages before a restart of time are never completed.
                while waiting[0][1].stamp != stamp:
                    waiting.popleft()
                like, message = waiting.popleft()
                for read_at, reading in session.add(stamp, truth):
                    changed = (bag.ros2, options.frame_id, read_at)
                    numbers = make_imu_payload(reading, covariances, session.has_orientation)
                    data = with_numbers(like.data, message, numbers, *changed)
                    copy.write(like, options.output, data)
                    if reported.surroundings.has_field:
                        field = np.append(reading.magnetic_field, field_covariance)
                        data = with_numbers(like.data, message, field, *changed)
                        output = options.magnetic_output
                        copy.write_new(output, MAGNETIC_FIELD.name, like.receipt, data)
                    published += 1
    return published, len(waiting)


def _record(topic, reported, session) -> dict:
    field = {"magnetic_environment": reported.environment, "magnetic_input": reported.field}
    return {
        "input": topic,
        "imu_simulation_framework": imu_simulation_framework.__version__,
        **{name: value for name, value in field.items() if value},
        **session.describe(),
    }


def _sentences(topic, ideal, reported, session, options, written):
    """Yield sentences on the outputs and on the recording."""
    frame = options.frame_id or ", ".join(ideal.frames) or "(no name)"
    published, incomplete = written
    count, label = session.report.taken, session.describe()["label"]
    yield (
        f"{options.out}: {options.output} has {published} messages of {label}, "
        f"seed {options.seed}, made of {count} of {len(ideal.stamps)} messages on {topic} at "
        f"{1.0 / session.period:g} Hz"
    )
    yield from _field_sentences(reported, options, frame)
    if incomplete:
        yield (
            "messages ignored at the end, since other inputs of their time are missing: "
            f"{incomplete}"
        )
    if options.gazebo_ros_imu:
        yield "the input's vectors were rotated back, as libgazebo_ros_imu.so rotates them wrongly"
    if options.add_gravity or options.gazebo_ros_imu:
        yield f"gravity of {WORLD_GRAVITY:g} m/s^2 was added to the input's acceleration"
    axes = "x forward, y left, z up (REP-103), as the input's"
    if not session.has_orientation:
        yield f"frame {frame}: {axes}; no orientation, as its covariance of -1 states (REP-145)"
    elif ideal.has_orientation:
        yield f"frame {frame}: {axes}; orientation from it to the input's world (east, north, up)"
    else:
        begins = "at magnetic north" if session.fuses_magnetometer else "with a yaw of zero"
        yield (
            f"frame {frame}: {axes}; the input has no orientation; the fused orientation begins "
            f"{begins}"
        )
    if len(ideal.frames) > 1:
        yield f"the input has {len(ideal.frames)} frames, which are assumed to be identical"
    deviation = stamp_deviation(ideal.stamps, session.period)
    if deviation > 0.01 * session.period:
        yield (
            f"its stamps deviate by up to {1e3 * deviation:.3g} ms from even steps of "
            f"{1e3 * session.period:.4g} ms; each message was used as one step"
        )
    yield from session.report.sentences()


def _field_sentences(reported, options, frame):
    if not reported.surroundings.has_field:
        return
    source = f"the field of the environment {reported.environment}"
    source = f"the field on {reported.field}, in tesla" if reported.field else source
    yield f"{options.magnetic_output} is its magnetometer, which measures {source}"
    others = [name for name in reported.frames if name != frame]
    if others:
        yield f"the field is in the frame {', '.join(others)}, which is assumed to equal {frame}"


def _topic(text: str) -> str:
    if not text.strip("/") or any(letter.isspace() for letter in text):
        raise argparse.ArgumentTypeError(f"'{text}' is not the name of a topic")
    return "/" + text.strip("/")


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("bag", metavar="IN", help="bag of ROS 1, or folder of a bag of ROS 2")
    add("--imu", required=True, metavar="NAME", help="IMU whose errors are added")
    add("-o", "--out", required=True, metavar="OUT", help="new bag, of the same kind")
    add("--input", default="", metavar="TOPIC",
        help="topic of the ideal IMU (default: the only one)")
    add("--output", default=OUTPUT, type=_topic, metavar="TOPIC",
        help=f"topic of the realistic IMU (default: {OUTPUT}); may replace the input")
    add_seed(parser)
    add("--rate", metavar="HZ",
        type=number_type(lambda rate: 0.0 < rate < 1e6, "is not a number of samples per second"),
        help="rate of the sensor, in place of the rate of its specification")
    add("--add-gravity", action="store_true", help="for an ideal IMU without gravity")
    add("--gazebo-ros-imu", action="store_true",
        help="for libgazebo_ros_imu.so, whose output lacks gravity and is wrongly rotated")
    add("--magnetometer", action="store_true",
        help="also simulate the magnetometer of the specification")
    field = parser.add_mutually_exclusive_group()
    field.add_argument("--magnetic-input", default="", metavar="TOPIC",
        help="topic of the ideal magnetic field (default: the only one in the bag)")
    field.add_argument("--magnetic-environment", default="", metavar="NAME",
        help="magnetic environment in place of a topic, by its name or file (default: "
        f"{DEFAULT_ENVIRONMENT})")
    add("--magnetic-output", type=_topic, metavar="TOPIC",
        help="topic of the magnetometer (default: mag next to the output); may replace its input")
    add("--pose", default="", metavar="TOPIC",
        help="topic of the robot's true pose (nav_msgs/Odometry), for iron, magnets and vibration")
    add("--frame-id", metavar="NAME", help="frame of the realistic IMU's messages")
    # fmt: on
    return parser
