"""Robot with its own controllers: it subscribes to cmd_vel and publishes odometry and an IMU.

    fake_robot.py COMMAND_TYPE [IMU_TOPIC]

The program prints READY when it starts to publish.
"""

import math
import sys
import threading

import rospy
from geometry_msgs.msg import Quaternion, Twist, TwistStamped
from lagging_robot import DRIFT, PERIOD, LaggingRobot
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState

READY = "the robot publishes"
COMMANDS = {"Twist": Twist, "TwistStamped": TwistStamped, "JointState": JointState}


def quaternion(yaw):
    return Quaternion(z=math.sin(0.5 * yaw), w=math.cos(0.5 * yaw))


def main(kind, imu_topic="/imu"):
    rospy.init_node("fake_robot", disable_signals=True)
    robot, commanded = LaggingRobot(), threading.Condition()

    def receive_command(message):
        twist = getattr(message, "twist", message)
        with commanded:
            robot.command(twist.linear.x, twist.angular.z)
            commanded.notify()

    rospy.Subscriber("/cmd_vel", COMMANDS[kind], receive_command, tcp_nodelay=True)
    odometry = rospy.Publisher("/odom", Odometry, queue_size=1000, tcp_nodelay=True)
    imu = rospy.Publisher(imu_topic, Imu, queue_size=1000, tcp_nodelay=True)
    print(READY, flush=True)
    while True:
        with commanded:
            if not robot.is_due():
                commanded.wait(PERIOD)
                continue
            robot.step()
        stamp = rospy.Time(0, robot.stamp)
        sample = Imu(orientation=quaternion(robot.measured_yaw))
        sample.header.stamp, sample.header.frame_id = stamp, "imu"
        sample.angular_velocity.z = robot.yaw_rate + DRIFT
        sample.linear_acceleration.y = robot.v * robot.yaw_rate
        sample.linear_acceleration.z = 9.81
        imu.publish(sample)
        if robot.has_odometry:
            place = Odometry(child_frame_id="base_footprint")
            place.header.stamp, place.header.frame_id = stamp, "odom"
            place.pose.pose.position.x, place.pose.pose.position.y = robot.x, robot.y
            place.pose.pose.orientation = quaternion(robot.yaw)
            place.twist.twist.linear.x, place.twist.twist.angular.z = robot.v, robot.yaw_rate
            odometry.publish(place)


if __name__ == "__main__":
    main(*sys.argv[1:])
