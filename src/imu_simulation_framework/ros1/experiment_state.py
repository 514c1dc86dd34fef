"""Parameters on the ROS master with the state of an experiment."""

from __future__ import annotations

import contextlib

import rospy

from ..drive.experiment_arguments import EXPERIMENT_PARAMETERS
from .blocking_calls import NoAnswerError, ask_master

# Parameter with the error message of the first node that failed.
FAILURE = f"{EXPERIMENT_PARAMETERS}/failure"

# Parameter with the simulated time and the duration of the drive [s], for the launcher.
PROGRESS = f"{EXPERIMENT_PARAMETERS}/progress"

# Parameter with the folder and prefix of the results, for the launcher.
RESULT = f"{EXPERIMENT_PARAMETERS}/result"


def experiment_parameter(name: str, default):
    """Return a parameter that all nodes of the experiment share.

    Parameters
    ----------
    name : str
        Name below ``experiment/``.
    default : object
        Value if the parameter is not set.

    Returns
    -------
    object
        Value of the parameter.
    """
    value = ask_master("getParam", rospy.resolve_name(f"{EXPERIMENT_PARAMETERS}/{name}"))
    return default if value is None else value


def report_failure(sentence) -> None:
    """Log the reason for a failure, and store it for the launcher if it is the first failure.

    Parameters
    ----------
    sentence : str
        Reason for the failure.
    """
    rospy.logfatal(sentence)
    # Without a master, there is no launcher that would read the parameter.
    with contextlib.suppress(NoAnswerError):
        if not ask_master("hasParam", rospy.resolve_name(FAILURE)):
            ask_master("setParam", rospy.resolve_name(FAILURE), str(sentence))
