"""Add the errors of a realistic IMU to the ideal IMU in a bag.

IN is a ROS 1 bag or the folder of a ROS 2 bag from any simulator, with an ideal sensor_msgs/Imu
topic. OUT is a copy of this bag with an additional topic for the realistic IMU; all other messages
are unchanged. The errors depend on the stamps: drift and orientation filter continue during gaps
between messages.

NAME is a bundled specification such as bno055, the file of a specification, FORMAT:FILE for the
parameters of another tool, or the model of a plug-in: generic, hector, hector_slow, ideal. The
topic OUTPUT/errors contains model, parameters and seed as text. The same seed gives the same bag.

With --magnetometer, the magnetometer of the specification is simulated as well. Its input is the
only sensor_msgs/MagneticField topic of the bag. If there is no such topic, the input is the field
of a magnetic environment, rotated by the orientation of the ideal IMU.

    apply_imu_errors.py drive.bag --imu bno055 --out realistic.bag
    apply_imu_errors.py drive.bag --imu hector --out realistic.bag --input /mobile_base/imu --seed 7
    apply_imu_errors.py drive.bag --imu bno055_magnetometer --out realistic.bag --magnetometer
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core import topics
from ...core.programs import ArgumentParser
from ...drive.experiment.environment import UNDISTURBED
from ..command_line import add_seed, number_type

OUTPUT = topics.absolute_topic(topics.IMU)


def _topic(text: str) -> str:
    if not text.strip("/") or any(letter.isspace() for letter in text):
        raise argparse.ArgumentTypeError(f"'{text}' is not valid, expected the name of a topic")
    return "/" + text.strip("/")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line arguments of the program.

    Parameters
    ----------
    arguments : sequence of str
        Arguments after the name of the program.

    Returns
    -------
    argparse.Namespace
        Values of the options.
    """
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("bag", metavar="IN", help="ROS 1 bag, or folder of a ROS 2 bag")
    add("--imu", required=True, metavar="NAME", help="IMU whose errors are added")
    add("-o", "--out", required=True, metavar="OUT", help="new bag in the same format")
    add("--input", default="", metavar="TOPIC",
        help="topic of the ideal IMU (default: the only IMU topic)")
    add("--output", default=OUTPUT, type=_topic, metavar="TOPIC",
        help=f"topic of the realistic IMU (default: {OUTPUT}); may replace the input")
    add_seed(parser)
    add("--rate", metavar="HZ",
        type=number_type(
            lambda rate: 0.0 < rate < 1e6, "is not valid, expected a rate above 0 and below 1e6 Hz"
        ),
        help="sample rate of the sensor, instead of the rate in its specification")
    add("--add-gravity", action="store_true", help="add gravity to an ideal IMU that lacks it")
    add("--gazebo-ros-imu", action="store_true",
        help="correct the output of libgazebo_ros_imu.so, which lacks gravity and is rotated "
             "wrongly")
    add("--magnetometer", action="store_true",
        help="also simulate the magnetometer of the specification")
    field = parser.add_mutually_exclusive_group()
    field.add_argument("--magnetic-input", default="", metavar="TOPIC",
        help="topic of the ideal magnetic field (default: the only such topic in the bag)")
    field.add_argument("--magnetic-environment", default="", metavar="NAME",
        help="name or file of a magnetic environment, if the field does not come from a topic "
        f"(default: {UNDISTURBED})")
    add("--magnetic-output", type=_topic, metavar="TOPIC",
        help="topic of the magnetometer (default: mag in the namespace of the output); may replace "
             "its input")
    add("--pose", default="", metavar="TOPIC",
        help="topic with the true pose of the robot (nav_msgs/Odometry), which errors due to iron, "
             "magnets and vibration require")
    add("--frame-id", metavar="NAME", help="frame of the realistic IMU's messages")
    # fmt: on
    return parser.parse_args(arguments)
