"""Yaw errors of one sensor, judged by ensembles of the same one and of others."""

import numpy as np
import pytest

from imu_simulation_framework.configuration.imu_specification_file import read_imu_specification
from imu_simulation_framework.evaluation.judgement.ensemble import started_at_zero
from imu_simulation_framework.evaluation.judgement.judge import judge
from imu_simulation_framework.evaluation.yaw_error_model import yaw_error_model
from imu_simulation_framework.motion.sources import straight
from imu_simulation_framework.sensors.imu_models import HectorParameters

TIME = np.arange(601.0)
SLOW = HectorParameters(yaw_drift=1.118, yaw_drift_frequency=0.001)


@pytest.fixture(scope="module")
def motion():
    return straight(600.0)


def errors(imu, motion, runs, seed):
    drawn = yaw_error_model(imu, motion).realisations(runs, seed)
    assert drawn.shape == (runs, len(TIME))
    return started_at_zero(TIME, drawn)


def test_a_sensor_is_not_refuted_by_an_ensemble_of_its_own(motion):
    judgement = judge(TIME, errors(SLOW, motion, 1, 5)[0], errors(SLOW, motion, 1999, 1))
    assert not judgement.refuted


def test_a_resting_sensors_parameters_drift_too_little_for_what_hector_drifts(motion):
    resting = read_imu_specification("bno055")
    judgement = judge(TIME, errors(SLOW, motion, 1, 5)[0], errors(resting, motion, 1999, 1))
    assert judgement.refuted and judgement.verdict == "too little"
    assert judgement.sentence == (
        "A real error like this occurs in none of 1999 simulated drives: "
        "this model drifts too little."
    )
    other = judge(TIME, errors(resting, motion, 1, 5)[0], errors(SLOW, motion, 1999, 1))
    assert other.refuted and other.verdict == "too much"
