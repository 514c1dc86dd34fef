"""Complete experiments in ROS 2, and their settings as parameters."""

import dataclasses
import json
import os
import re
import signal
import time

import numpy as np
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from ros2_peers import experiment_arguments, result_below
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

# Imported after ros2_peers, which adds the folders of these modules to the search path.
from patience import PATIENCE  # isort: skip
from scenarios import SCENARIOS, WITH_FIGURES, read_tables, repeat_in_process  # isort: skip
from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.ros2.domains import DOMAINS
from imu_simulation_framework.ros2.experiment import ErrorPublisher


def read_repeatable_result(folder, scenario):
    """Return the result of a complete drive; assert that one process yields the same tables."""
    result = result_below(folder / "out")
    assert json.loads(result.read_text("summary.json"))["run"]["completed"] is True
    repeated = repeat_in_process(result, folder)
    assert read_tables(repeated, scenario) == read_tables(result, scenario)
    return result


def test_ros2_nodes_write_figures_and_same_tables_as_single_process(program, tmp_path):
    scenario = SCENARIOS["receiver and odometer"]
    scenario.write(tmp_path)
    config = f"config:={tmp_path / 'mine.ini'}"
    arguments = experiment_arguments(tmp_path, config, settings=WITH_FIGURES)
    # Without this variable, the experiment chooses its ROS 2 domain.
    code, output = program(*arguments, ROS_DOMAIN_ID=None).wait()
    assert code == 0, output
    (domain,) = re.findall(r"^ROS_DOMAIN_ID=(\d+) shows the topics", output, re.MULTILINE)
    assert int(domain) in DOMAINS
    assert "yaw error, simulated IMU" in output
    result = read_repeatable_result(tmp_path, scenario)
    assert {path.suffix for path in result.folder.iterdir()} >= {".csv", ".png", ".json", ".ini"}


def test_temporarily_suspended_recorder_loses_no_samples(program, ros, tmp_path):
    scenario = SCENARIOS["car with magnetometer"]
    scenario.write(tmp_path)
    config = f"config:={tmp_path / 'mine.ini'}"
    # The drive lasts 30 s, because it begins at 4 s of the recording.
    simulation = {"real_time_factor": 3.0, "command_timeout": PATIENCE / 4.0}
    settings = {"trajectory": {"stop": 34.0}, "simulation": simulation}
    # A suspended process may hold a lock in the shared memory that all other processes use.
    environment = {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}
    running = program(*experiment_arguments(tmp_path, config, settings=settings), **environment)
    errors, truths = (
        ros.listen(f"imu_yaw/{name}", JointState, QoSProfile(depth=10000), raw=False)
        for name in ("simulated_error", "ground_truth")
    )
    clock = ros.listen("/clock", Clock, QoSProfile(depth=10000), raw=False)
    # The recorder is suspended only during the drive, because nodes wait for it before the drive.
    ros.until(lambda: clock and len(errors) > 100, "live yaw errors of a drive")
    recorder = running.child("ResultComparison")
    os.kill(recorder, signal.SIGSTOP)
    # Up to 1500 messages of each type are then queued; DDS removes a participant that does not
    # respond for 20 s.
    end = min(clock[-1].clock.sec + 15, 29)
    latest = time.monotonic() + 5.0
    ros.until(lambda: clock[-1].clock.sec >= end or time.monotonic() > latest, "simulated time")
    os.kill(recorder, signal.SIGCONT)
    ros.until(lambda: running.has_ended, "end of the experiment")
    code, output = running.wait()
    assert code == 0, output
    result = read_repeatable_result(tmp_path, scenario)
    messages = json.loads(result.read_text("summary.json"))["messages"]
    for name in ("imu_simulated", "ground_truth"):
        assert messages[name]["received"] == messages[name]["expected"] == 3001
    yaws = [result.read_table(name)["yaw"] for name in ("ground_truth", "imu_simulated")]
    assert len(errors) > 100 and len(truths) > 100
    differences = []
    for message in errors:
        assert list(message.name) == ["yaw", "yaw_unwrapped"]
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if stamp <= yaws[0].index[-1]:
            truth, imu = (np.interp(stamp, yaw.index, np.unwrap(yaw)) for yaw in yaws)
            differences.append(wrap(message.position[0] - (truth - imu)))
    # The errors are relative to the start of the drive.
    np.testing.assert_allclose(differences, differences[0], atol=1e-9)


def test_experiment_settings_are_ros2_parameters_with_values_and_ranges(ros):
    overrides = [Parameter("control.rate", value=25.0), Parameter("experiment.seed", value=9)]
    node = ErrorPublisher(parameter_overrides=overrides)
    ros.nodes.append(node)
    settings = load_configuration(overrides={"control": {"rate": 25.0}, "experiment": {"seed": 9}})
    for section in ("control", "simulation", "recording"):
        for key in dataclasses.fields(getattr(settings, section)):
            value = getattr(getattr(settings, section), key.name)
            if value is not None:
                assert node.get_parameter(f"{section}.{key.name}").value == value
    rate, seed = map(node.describe_parameter, ("control.rate", "experiment.seed"))
    assert rate.read_only and rate.description.endswith("[Hz]")
    (bounds,) = rate.floating_point_range
    assert (bounds.from_value, bounds.to_value) == (0.1, 100.0)
    assert seed.integer_range[0].to_value == 2**63 - 1
