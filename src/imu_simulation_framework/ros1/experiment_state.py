"""Parameters on the ROS master in which nodes leave the state of their experiment."""

from __future__ import annotations

import contextlib

import rospy

from ..drive.experiment_arguments import EXPERIMENT_PARAMETERS
from .answers import NoAnswerError, ask_master

FAILURE = f"{EXPERIMENT_PARAMETERS}/failure"
"""Parameter with the sentence of the first node that failed."""

PROGRESS = f"{EXPERIMENT_PARAMETERS}/progress"
"""Parameter with the simulated time and the drive's duration [s], for the launcher."""

RESULT = f"{EXPERIMENT_PARAMETERS}/result"
"""Parameter with folder and prefix of the results, for the launcher."""


def experiment_parameter(name: str, default):
    """Return a parameter that all nodes of the experiment share."""
    value = ask_master("getParam", rospy.resolve_name(f"{EXPERIMENT_PARAMETERS}/{name}"))
    return default if value is None else value


def report_failure(sentence) -> None:
    """Log why the experiment ends and store it for the launcher, unless a reason is stored."""
    rospy.logfatal(sentence)
    # The master may be gone; then there is no reader left.
    with contextlib.suppress(NoAnswerError):
        if not ask_master("hasParam", rospy.resolve_name(FAILURE)):
            ask_master("setParam", rospy.resolve_name(FAILURE), str(sentence))
