"""A robot with controllers of its own, without wheels: cmd_vel in, odometry and an IMU out.

    fake_robot.py COMMAND_TYPE [KEY=VALUE ...]

It takes a tenth of a second to follow a command, and its IMU's yaw drifts. Its time is the clock's:
nothing that it could react to says when to measure.
"""

import math
import sys
import threading
import time

import rospy
from geometry_msgs.msg import Quaternion, Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState

DRIFT = 0.001  # rad/s
LAG = 0.1  # s
IMU_RATE, ODOMETRY_RATE = 100, 50  # Hz
START = (3.0, -2.0, 1.0)  # m, m, rad


def turned(yaw):
    return Quaternion(z=math.sin(0.5 * yaw), w=math.cos(0.5 * yaw))


class Robot:
    def __init__(self):
        self.wanted = (0.0, 0.0)
        self.v = self.yaw_rate = 0.0
        self.x, self.y, self.yaw = START
        self.drifted = 0.0

    def command(self, message):
        twist = getattr(message, "twist", message)
        self.wanted = (twist.linear.x, twist.angular.z)

    def step(self, period):
        rolled = 1.0 - math.exp(-period / LAG)
        self.v += rolled * (self.wanted[0] - self.v)
        self.yaw_rate += rolled * (self.wanted[1] - self.yaw_rate)
        middle = self.yaw + 0.5 * period * self.yaw_rate
        self.x += period * self.v * math.cos(middle)
        self.y += period * self.v * math.sin(middle)
        self.yaw += period * self.yaw_rate
        self.drifted += period * DRIFT


def main(kind, *options):
    values = dict(option.split("=") for option in options)
    rospy.init_node("somebodys_robot", disable_signals=True)
    robot, lock = Robot(), threading.Lock()
    robot.v = float(values.get("speed", 0.0))
    robot.wanted = (robot.v, 0.0)

    def on_command(message):
        with lock:
            robot.command(message)

    type_of = {"Twist": Twist, "TwistStamped": TwistStamped, "JointState": JointState}[kind]
    rospy.Subscriber("/cmd_vel", type_of, on_command, tcp_nodelay=True)
    odometry = rospy.Publisher("/odom", Odometry, queue_size=1000, tcp_nodelay=True)
    imu = rospy.Publisher(values.get("imu", "/imu"), Imu, queue_size=1000, tcp_nodelay=True)
    began, tick = time.monotonic(), 0
    while True:
        tick += 1
        time.sleep(max(0.0, began + tick / IMU_RATE - time.monotonic()))
        with lock:
            robot.step(1.0 / IMU_RATE)
            v, yaw_rate, x, y = robot.v, robot.yaw_rate, robot.x, robot.y
            yaw, measured = robot.yaw, robot.yaw + robot.drifted
        stamp = rospy.Time(10, 0) + rospy.Duration(0, tick * (10**9 // IMU_RATE))
        sample = Imu(orientation=turned(measured))
        sample.header.stamp, sample.header.frame_id = stamp, "imu"
        sample.angular_velocity.z = yaw_rate + DRIFT
        sample.linear_acceleration.y, sample.linear_acceleration.z = v * yaw_rate, 9.81
        imu.publish(sample)
        if tick % (IMU_RATE // ODOMETRY_RATE) == 0:
            place = Odometry(child_frame_id="base_footprint")
            place.header.stamp, place.header.frame_id = stamp, "odom"
            place.pose.pose.position.x, place.pose.pose.position.y = x, y
            place.pose.pose.orientation = turned(yaw)
            place.twist.twist.linear.x, place.twist.twist.angular.z = v, yaw_rate
            odometry.publish(place)


if __name__ == "__main__":
    main(*sys.argv[1:])
