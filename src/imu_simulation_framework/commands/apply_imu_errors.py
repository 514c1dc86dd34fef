"""Add the errors of a realistic IMU to the ideal IMU in a bag.

The command line is defined in :mod:`.parsers.apply_imu_errors`.
"""

from __future__ import annotations

import json
from collections import deque
from typing import NamedTuple

import numpy as np

import imu_simulation_framework

from ..core import topics
from ..core.errors import ConfigurationError, RecordingError, prefix_errors
from ..core.units import WORLD_GRAVITY
from ..core.whole_files import refuse_overwriting
from ..realistic_imu.files import BagSurroundings
from ..realistic_imu.ideal_inputs import (
    ImuInput,
    check_frames,
    estimate_nominal_period,
    make_imu_payload,
    stamp_deviation,
)
from ..realistic_imu.session import RealisticImu, check_required_inputs, replace_rate
from ..recordings.formats.bag import choose_topic
from ..recordings.formats.written_bags import RawBag, copy_bag, opened_bag
from ..recordings.messages import IMU, MAGNETIC_FIELD, read_numbers, with_numbers
from ..sensors.errors_in_motion import remark_on_motion_errors
from ..sensors.formats.registry import named_imu
from ..sensors.imu_specification import ImuSpecification

ERRORS = "errors"
"""Last component of the topic name under which model, parameters and seed are written."""


def run(options):
    """Write the bag with the realistic IMU specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    imu = named_imu(options.imu)
    refuse_overwriting(options.out, [options.bag, *imu.files])
    if options.magnetic_output is None:
        options.magnetic_output = topics.sibling_topic(options.output, topics.IMU_MAG)
    field = options.magnetic_environment, options.magnetic_input
    measured = options.magnetometer or any(field)
    with opened_bag(options.bag) as bag:
        topic = choose_topic(options.bag, options.input, bag.topics(), {IMU.name: IMU})
        reported = BagSurroundings(bag, imu.errors, measured, *field, options.pose)
        surroundings = reported.surroundings
        check_required_inputs(imu.errors, surroundings.has_field, surroundings.has_speed)
        _check_outputs(bag, topic, reported, options)
        ideal = _read_ideal_imu(bag, topic, _source(options))
        sensor = imu.errors.output.rate if isinstance(imu.errors, ImuSpecification) else None
        period = _reported(
            bag, topic, estimate_nominal_period, ideal.stamps, options.rate or sensor
        )
        session = RealisticImu(
            replace_rate(imu.errors, options.rate),
            options.seed,
            period,
            signals=surroundings.signals,
            report=surroundings.report,
        )
        if not ideal.has_orientation:
            _reported(bag, topic, session.drop_orientation)
        written = _copy(bag, topic, reported, session, ideal, options)
    understated = None
    if isinstance(imu.errors, ImuSpecification):
        understated = remark_on_motion_errors(imu.errors)
    for remark in (
        *imu.remarks,
        *filter(None, [understated]),
        *reported.remarks,
        *_sentences(topic, ideal, reported, session, options, written),
    ):
        print(remark)


def _check_outputs(bag, topic, reported, options) -> None:
    """Check that the bag does not contain an output topic, unless the output replaces it."""
    outputs = [(options.output, topic, "--output")]
    outputs.append((f"{options.output}/{ERRORS}", None, "--output"))
    if reported.surroundings.has_field:
        outputs.append((options.magnetic_output, reported.field, "--magnetic-output"))
        if options.magnetic_output == options.output:
            raise ConfigurationError(
                f"--magnetic-output is {options.output}, the topic of the IMU, expected a "
                "different topic"
            )
    present = bag.topics()
    for output, replaced, option in outputs:
        if output in present and output != replaced:
            raise ConfigurationError(
                f"{options.bag}: the bag already contains the topic {output}; choose another topic "
                f"with {option}"
            )


class _Ideal(NamedTuple):
    """Stamps [ns] and frame names of the ideal IMU in a bag, and whether it has orientations."""

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
    """Read all messages of the ideal IMU to get their stamps and frames, and check its axes."""
    stamps, truths = [], []
    frames: dict[str, None] = {}
    for number, raw in enumerate(bag.messages(topic), 1):
        message = _parse(bag, topic, number, raw)
        stamps.append(message.stamp)
        frames[message.frame] = None
        truths += _reported(bag, topic, source.truths, message.stamp, message.numbers)
    if not any(stamps):
        raise RecordingError(f"{bag.path}, topic {topic}: all stamps are 0, expected times")
    truths += _reported(bag, topic, source.finish)
    finite = [truth for _, truth in truths if truth is not None]
    if not finite:
        raise RecordingError(
            f"{bag.path}, topic {topic}: all messages contain nan or inf, expected finite values"
        )
    _reported(bag, topic, check_frames, finite, source.has_orientation)
    return _Ideal(stamps, bool(source.has_orientation), list(frames))


def _parse(bag, topic, number, raw):
    message = read_numbers(raw.data, IMU, bag.ros2)
    if message is None:
        raise RecordingError(
            f"{bag.path}, topic {topic}: message {number} does not have the structure of "
            f"{IMU.name} in ROS {2 if bag.ros2 else 1}"
        )
    return message


def _reported(bag, topic, function, *arguments):
    """Call a function and prepend bag and topic to its error messages."""
    with prefix_errors(f"{bag.path}, topic {topic}: ", RecordingError):
        return function(*arguments)


def _copy(bag, topic, reported, session, ideal, options) -> tuple[int, int]:
    """Copy the bag and add the realistic IMU; return the numbers of written and ignored ones."""
    covariances, field_covariance = session.covariances(), session.magnetic_covariance()
    source = _source(options, session.report)
    source.has_orientation = ideal.has_orientation
    # Messages of the ideal IMU that wait for another input, such as a magnetic field or a pose.
    waiting: deque = deque()
    replaced = {options.output, options.magnetic_output} & {topic, reported.field}
    number = published = 0
    with copy_bag(bag, options.out) as copy:
        for raw in bag.messages():
            if raw.topic not in replaced:
                copy.write(raw)
            if raw.topic == topic:
                number += 1
                if number == 1:
                    text = json.dumps(_record(topic, reported, session), sort_keys=True)
                    copy.write_text(f"{options.output}/{ERRORS}", raw.receipt, text)
                # All messages were checked when the ideal IMU was read.
                message = _parse(bag, topic, number, raw)
                truth = source.truth(message.stamp, message.numbers)
                waiting.append((raw, message))
                complete = _reported(bag, topic, reported.surroundings.add, message.stamp, truth)
            else:
                complete = reported.process(raw)
            for stamp, truth in complete:
                # Messages before a backward jump in time are never completed.
                while waiting[0][1].stamp != stamp:
                    waiting.popleft()
                like, message = waiting.popleft()
                for read_at, reading in session.add(stamp, truth):
                    settings = (bag.ros2, options.frame_id, read_at)
                    numbers = make_imu_payload(reading, covariances, session.has_orientation)
                    data = with_numbers(like.data, message, numbers, *settings)
                    copy.write(like, options.output, data)
                    if reported.surroundings.has_field:
                        field = np.append(reading.magnetic_field, field_covariance)
                        data = with_numbers(like.data, message, field, *settings)
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
    """Yield remarks on the written topics and on the input recording."""
    frame = options.frame_id or ", ".join(ideal.frames) or "(no name)"
    published, incomplete = written
    count, label = session.report.accepted, session.describe()["label"]
    yield (
        f"{options.out}: {options.output} has {published} messages of {label}, "
        f"seed {options.seed}, computed from {count} of {len(ideal.stamps)} messages on {topic} at "
        f"{1.0 / session.period:g} Hz"
    )
    yield from _field_sentences(reported, options, frame)
    if incomplete:
        yield (
            f"messages ignored at the end: {incomplete}; other inputs with the same time are "
            "missing"
        )
    if options.gazebo_ros_imu:
        yield "the input's vectors were rotated back, as libgazebo_ros_imu.so rotates them wrongly"
    if options.add_gravity or options.gazebo_ros_imu:
        yield f"gravity of {WORLD_GRAVITY:g} m/s^2 was added to the input's acceleration"
    axes = "x forward, y left, z up (REP-103), as in the input"
    if not session.has_orientation:
        yield f"frame {frame}: {axes}; no orientation, marked by a covariance of -1 (REP-145)"
    elif ideal.has_orientation:
        yield (
            f"frame {frame}: {axes}; orientation with respect to the input's world frame (east, "
            "north, up)"
        )
    else:
        begins = "at magnetic north" if session.fuses_magnetometer else "with a yaw of zero"
        yield (
            f"frame {frame}: {axes}; the input has no orientation, so the fused orientation begins "
            f"{begins}"
        )
    if len(ideal.frames) > 1:
        yield f"the input has {len(ideal.frames)} frames, which are assumed to be identical"
    deviation = stamp_deviation(ideal.stamps, session.period)
    if deviation > 0.01 * session.period:
        yield (
            f"the stamps of the input deviate by up to {1e3 * deviation:.3g} ms from a constant "
            f"period of {1e3 * session.period:.4g} ms; each message counts as one period"
        )
    yield from session.report.sentences()


def _field_sentences(reported, options, frame):
    if not reported.surroundings.has_field:
        return
    source = f"the field of the environment {reported.environment}"
    source = f"the field on {reported.field}, in tesla" if reported.field else source
    yield f"{options.magnetic_output} is the magnetometer of the IMU, which measures {source}"
    others = [name for name in reported.frames if name != frame]
    if others:
        yield (
            f"the frame of the field is {', '.join(others)}, which is assumed to be the same as "
            f"{frame}"
        )
