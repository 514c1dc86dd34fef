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
from typing import Sequence

from ...core import topics
from ...core.programs import ArgumentParser
from ...drive.experiment.environment import UNDISTURBED
from ..command_line import add_seed, number_type

OUTPUT = topics.absolute_topic(topics.IMU)


def _topic(text: str) -> str:
    if not text.strip("/") or any(letter.isspace() for letter in text):
        raise argparse.ArgumentTypeError(f"'{text}' is not the name of a topic")
    return "/" + text.strip("/")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line.

    Parameters
    ----------
    arguments : sequence of str
        Command line.

    Returns
    -------
    argparse.Namespace
        Options.
    """
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
        f"{UNDISTURBED})")
    add("--magnetic-output", type=_topic, metavar="TOPIC",
        help="topic of the magnetometer (default: mag next to the output); may replace its input")
    add("--pose", default="", metavar="TOPIC",
        help="topic of the robot's true pose (nav_msgs/Odometry), for iron, magnets and vibration")
    add("--frame-id", metavar="NAME", help="frame of the realistic IMU's messages")
    # fmt: on
    return parser.parse_args(arguments)
