#!/usr/bin/env python3
"""Start the ROS node gazebo_robot, which spawns the robot and its controllers in Gazebo.

See imu_simulation_framework.ros1.nodes.gazebo_robot.
"""

import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("gazebo_robot", "GazeboRobot")
