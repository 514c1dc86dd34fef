#!/usr/bin/env python3
"""Start the ROS node path_view, which publishes paths and the magnetic field for rviz.

See imu_simulation_framework.ros1.nodes.path_view.
"""

import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("path_view", "PathView")
