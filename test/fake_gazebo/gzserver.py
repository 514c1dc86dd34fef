#!/usr/bin/env python3
"""Substitute for gzserver with gazebo_ros, gazebo_ros_control and the plug-ins of the robot.

The robot rolls without slip or inertia, so the accelerometer measures a spike at each new command.
Like Gazebo, the program waits only at the limit on the topic simulation_limit, answers a request to
switch controllers after its next step, publishes nothing while it is paused, and samples its
generic IMU between the samples of the ground truth.

The environment variable FAKE_GAZEBO_ROBOT names the file of a robot; by default the bundled robot.
"""

import os
import re
import signal
import socket
import threading
import time
import urllib.parse

import rospy
import yaml
from controller_manager_msgs.srv import LoadController, SwitchController
from gazebo_msgs.srv import (
    GetPhysicsProperties,
    GetWorldProperties,
    SetModelState,
    SetPhysicsProperties,
    SpawnModel,
)
from geometry_msgs.msg import Quaternion
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64, Float64MultiArray, Time
from std_srvs.srv import Empty

from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw, yaw_from_quaternion
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.srv import SetImuParameters, SetImuParametersResponse

SAMPLE = 10_000_000  # sampling period [ns]
SAMPLES_PER_JOINT_STATE = 5  # the joint state controller publishes at 20 Hz
STEPS = 10  # physics steps per sample
GENERIC_PHASE = 4_000_000  # time from a ground truth sample to the next generic IMU sample [ns]
TORQUE_PER_SPEED = 0.05  # motor torque per commanded wheel velocity [N m s/rad]
MAX_OFFSET = 10.0  # range of the plug-in's parameter [rad]
DELAY = 0.1  # response delay of get_world_properties [s]
GRAVITY = 9.81
QUEUE = 1000


class FakeGazebo:
    """Simulated world with a robot, which provides the services and topics of Gazebo."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._samples = 0
        self._paused = False
        self._update_rate = 1000.0
        self._pose = [0.0, 0.0, 0.0]
        robot = load_robot_parameters(os.environ.get("FAKE_GAZEBO_ROBOT") or None, "gazebo")
        self._drivetrain = robot.drivetrain
        self._controller, self._joints = "", []
        self._angles = dict.fromkeys(robot.steering_joints, 0.0)
        self._command = (0.0, 0.0)
        self._driving = False
        self._ground_truth = self._imu = self._joint_states = self._torques = None
        self._phase = 0
        self._offset = self._drift = self._drifted = 0.0
        self._limit = None
        self._v = 0.0
        self._ended = False
        self._clock = rospy.Publisher("/clock", Clock, queue_size=QUEUE)
        for name, kind, answer in (
            ("get_world_properties", GetWorldProperties, self._handle_world),
            ("get_physics_properties", GetPhysicsProperties, self._handle_physics),
            ("set_physics_properties", SetPhysicsProperties, self._handle_set_physics),
            ("pause_physics", Empty, lambda _: self._set_paused(True)),
            ("unpause_physics", Empty, lambda _: self._set_paused(False)),
            ("reset_simulation", Empty, self._handle_reset),
            ("set_model_state", SetModelState, self._handle_set_state),
            ("spawn_urdf_model", SpawnModel, self._handle_spawn_urdf),
            ("spawn_sdf_model", SpawnModel, lambda _: (True, "")),
        ):
            rospy.Service(f"/gazebo/{name}", kind, answer)

    def end(self) -> None:
        self._ended = True

    def run(self) -> None:
        due = time.monotonic()
        while not (self._ended or rospy.is_shutdown()):
            due = max(due + STEPS / self._update_rate, time.monotonic() - 0.1)
            time.sleep(max(0.0, due - time.monotonic()))
            with self._changed:
                if not (self._paused or self._is_held()):
                    self._step()
                    self._changed.notify_all()

    def _is_held(self) -> bool:
        return self._limit is not None and (self._samples + 1) * SAMPLE > self._limit.to_nsec()

    def _step(self) -> None:
        self._samples += 1
        command = self._command if self._driving else (0.0, 0.0)
        v, turn = self._drivetrain.forward(*command, *self._angles.values())
        x, y, yaw = self._pose
        q = quaternion_from_roll_pitch_yaw((0.0, 0.0, yaw))
        forward = (1.0 - 2.0 * q[2] ** 2, 2.0 * q[2] * q[3])
        period = 1e-9 * SAMPLE
        self._pose = [x + v * period * forward[0], y + v * period * forward[1], yaw + turn * period]
        stamp = rospy.Time(0, self._samples * SAMPLE)
        self._clock.publish(Clock(stamp))
        per_side = len(self._joints) // 2
        velocities = [velocity for velocity in command for _ in range(per_side)]
        if self._ground_truth is not None:
            self._publish(stamp, v, turn)
            efforts = [TORQUE_PER_SPEED * velocity for velocity in velocities]
            self._torques.publish(_joint_states(stamp, self._joints, [], efforts))
        if self._joint_states is not None and self._samples % SAMPLES_PER_JOINT_STATE == 0:
            message = _joint_states(stamp, [*self._joints, *self._angles], velocities)
            message.position += self._angles.values()
            message.velocity += [0.0] * len(self._angles)
            self._joint_states.publish(message)

    def _publish(self, stamp, v, turn) -> None:
        x, y, yaw = self._pose
        truth = Odometry(child_frame_id="base_footprint")
        truth.header.stamp = stamp
        truth.pose.pose.position.x, truth.pose.pose.position.y = x, y
        truth.pose.pose.orientation = _orientation(yaw)
        truth.twist.twist.linear.x, truth.twist.twist.angular.z = v, turn
        self._ground_truth.publish(truth)
        measured = yaw + 1e-9 * self._phase * turn + self._offset + self._drifted
        imu = Imu(orientation=_orientation(measured))
        imu.header.stamp = stamp + rospy.Duration(0, self._phase)
        imu.angular_velocity.z = turn
        imu.linear_acceleration.x = (v - self._v) / (1e-9 * SAMPLE)
        imu.linear_acceleration.z = GRAVITY
        self._v = v
        self._imu.publish(imu)
        self._drifted += self._drift

    def _set_paused(self, paused):
        with self._changed:
            self._paused = paused
        return ()

    def _handle_world(self, _):
        simulated = 1e-9 * SAMPLE * self._samples
        time.sleep(DELAY)  # the simulation continues during this time
        return simulated, True, ""

    def _handle_physics(self, _):
        values = {"pause": self._paused, "time_step": 0.001, "max_update_rate": self._update_rate}
        return GetPhysicsProperties._response_class(success=True, **values)

    def _handle_set_physics(self, request):
        self._update_rate = request.max_update_rate
        return True, ""

    def _handle_reset(self, _):
        with self._changed:
            self._samples = 0
        return ()

    def _handle_set_state(self, request):
        pose = request.model_state.pose
        q = pose.orientation
        yaw = float(yaw_from_quaternion((q.x, q.y, q.z, q.w)))
        with self._changed:
            self._pose = [pose.position.x, pose.position.y, yaw]
        return True, ""

    def _handle_spawn_urdf(self, request):
        (topic,) = re.findall(r"<topicName>(imu/\w+)</topicName>", request.model_xml)
        if "libgazebo_ros_imu_sensor.so" in request.model_xml:
            self._phase = GENERIC_PHASE
        else:
            rospy.Publisher(f"{topic}/bias", Imu, queue_size=QUEUE)
            for sensor in ("accel", "rate", "yaw"):
                rospy.Service(f"{topic}/{sensor}/set_parameters", SetImuParameters, self._configure)
        self._imu = rospy.Publisher(topic, Imu, queue_size=QUEUE)
        self._torques = rospy.Publisher("ground_truth/wheel_torques", JointState, queue_size=QUEUE)
        self._ground_truth = rospy.Publisher("ground_truth/state", Odometry, queue_size=QUEUE)
        rospy.Subscriber("simulation_limit", Time, self._handle_limit)
        rospy.Service("controller_manager/load_controller", LoadController, self._handle_load)
        rospy.Service("controller_manager/switch_controller", SwitchController, self._handle_switch)
        return True, ""

    def _handle_limit(self, message):
        with self._changed:
            self._limit = message.data

    def _configure(self, request):
        """Set parameters of the fake Hector plug-in; only yaw parameters have an effect."""
        values = yaml.safe_load(request.parameters)
        # dynamic_reconfigure silently limits parameters to their ranges.
        values["offset"] = min(values["offset"], MAX_OFFSET)
        if "/yaw/" in request._connection_header["service"]:
            self._offset, self._drift = values["offset"], values["drift"]
            self._drifted = self._drifted if self._drift else 0.0
        return SetImuParametersResponse(True, yaml.safe_dump(values))

    def _handle_load(self, request):
        controller = rospy.get_param(request.name)
        if "Velocity" in controller["type"]:
            self._controller, self._joints = request.name, controller["joints"]
        elif "JointPosition" in controller["type"]:
            topic = f"{request.name}/command"
            rospy.Subscriber(topic, Float64, self._handle_angle, controller["joint"], queue_size=1)
        return True

    def _handle_switch(self, request):
        with self._changed:
            samples_at_request = self._samples
            self._changed.wait_for(lambda: self._samples > samples_at_request, request.timeout)
            self._driving = self._samples > samples_at_request
            self._joint_states = rospy.Publisher("joint_states", JointState, queue_size=QUEUE)
        rospy.Subscriber(
            f"{self._controller}/command", Float64MultiArray, self._handle_command, queue_size=1
        )
        return self._driving

    def _handle_angle(self, message, joint):
        self._angles[joint] = message.data

    def _handle_command(self, message):
        # The real controller ignores commands with a different number of joints.
        if len(message.data) == len(self._joints):
            self._command = message.data[0], message.data[-1]


def _joint_states(stamp, joints, velocities, efforts=()) -> JointState:
    message = JointState(name=joints, velocity=velocities, effort=efforts)
    message.position = [0.0] * len(velocities)
    message.header.stamp = stamp
    return message


def _orientation(yaw) -> Quaternion:
    return Quaternion(*quaternion_from_roll_pitch_yaw((0.0, 0.0, yaw)))


def main() -> None:
    place = urllib.parse.urlsplit(os.environ["GAZEBO_MASTER_URI"])
    with socket.create_server((place.hostname, place.port)):
        # The signal handler of rospy writes to the log, which fails if the signal interrupts the
        # writing of another log entry.
        rospy.init_node("gazebo", disable_signals=True)
        gazebo = FakeGazebo()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: gazebo.end())
        gazebo.run()
        rospy.signal_shutdown("ended by a signal")


if __name__ == "__main__":
    main()
