#!/usr/bin/env python3
"""Start the ROS node gnss_receiver, which publishes GNSS fixes of the simulated robot.

See imu_simulation_framework.ros1.nodes.gnss_receiver.
"""

import signal

if __name__ == "__main__":
    # From here on, SIGINT ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from imu_simulation_framework.ros1.entry_points import start_node

    start_node("gnss_receiver", "GnssReceiver")
