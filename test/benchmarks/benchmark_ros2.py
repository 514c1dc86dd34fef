"""Latency and CPU time of realistic_imu under ROS 2 at a message rate of 1 kHz.

The node and a reference node run alternately in separate processes. The reference is an rclpy node
in the default executor that only forwards the bytes of each message. Messages are published at
regular times. The latency of a message is the time from its scheduled publication to the arrival of
the output message. The latency of this process is included for both nodes. The first two seconds
are not evaluated, because the node measures the message rate.
"""

import importlib.util
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from _timing import Measurements

ROOT = Path(__file__).resolve().parents[2]
MAX_LATENCY = 5.0  # 99th percentile [ms]
MAX_CORES = 0.5
RATE, DURATION = 1000.0, 4.0  # message rate [Hz] and duration [s]
WARM_UP = 2.0  # initial interval that is not evaluated [s]
FORWARDING_NODE = """
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu

rclpy.init()
node = rclpy.create_node("forwarder")
qos = QoSProfile(depth=1000, reliability=ReliabilityPolicy.{reliability})
publisher = node.create_publisher(Imu, "/{output}", qos)
node.create_subscription(Imu, "/ideal", publisher.publish, qos, raw=True)
rclpy.spin(node)
"""


def measure_answers(command, output, reliability, rate, seconds):
    """Return the latencies of the output messages [s], and the mean number of cores in use."""
    import rclpy
    from rclpy.experimental.events_executor import EventsExecutor
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import Imu

    warm_up_count = int(rate * WARM_UP)
    count = warm_up_count + int(rate * seconds)
    stamps = np.arange(1, count + 1) * round(1e9 / rate)
    qos = QoSProfile(depth=10_000, reliability=ReliabilityPolicy[reliability])
    arrived = np.full(count, np.nan)

    def receive(data):
        seconds, nanoseconds = np.frombuffer(data, "<u4", 2, 4).tolist()
        number = (seconds * 10**9 + nanoseconds) // stamps[0]
        arrived[number - 1] = time.perf_counter()
        if number == count:
            complete.set()

    message = Imu()
    message.header.frame_id = "imu"
    message.orientation.w, message.linear_acceleration.z = 1.0, 9.81
    messages = []
    for stamp in stamps.tolist():
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        messages.append(serialize_message(message))
    peer = rclpy.create_node("peer")
    peer.create_subscription(Imu, f"/{output}", receive, qos, raw=True)
    publisher = peer.create_publisher(Imu, "/ideal", qos)
    executor = EventsExecutor()
    executor.add_node(peer)
    done, complete = threading.Event(), threading.Event()

    def listen():
        while not done.is_set():
            executor.spin_once(0.1)

    listener = threading.Thread(target=listen)
    listener.start()
    # The reference node prints a traceback when SIGTERM terminates it.
    node = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while not (publisher.get_subscription_count() and peer.count_publishers(f"/{output}")):
            if node.poll() is not None:
                sys.exit(f"{command[0]}: exited before its topics were connected")
            time.sleep(0.1)
        due = time.perf_counter() + np.arange(count) / rate
        for index, (due_time, data) in enumerate(zip(due.tolist(), messages)):
            remaining = due_time - time.perf_counter()
            if remaining > 0.0:
                time.sleep(remaining)
            if index == warm_up_count:
                cpu_seconds, begin = cpu_time(node.pid), time.perf_counter()
            publisher.publish(data)
        cpu_seconds = cpu_time(node.pid) - cpu_seconds
        elapsed = time.perf_counter() - begin
        complete.wait(1.0)  # the last message may have been lost
    finally:
        node.terminate()
        node.wait()
        done.set()
        listener.join()
        executor.shutdown()
        peer.destroy_node()
    latencies = (arrived - due)[warm_up_count:]
    return latencies[np.isfinite(latencies)], cpu_seconds / elapsed


def main():
    import rclpy

    measurements = Measurements(__doc__)
    options = measurements.parse()
    os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)
    rclpy.init()
    count = int(RATE * DURATION)
    for qos, reliability in (("reliable", "RELIABLE"), ("sensor_data", "BEST_EFFORT")):
        settings = ("input:=/ideal", "output:=/real", f"qos:={qos}")
        parameters = [word for setting in settings for word in ("-p", setting)]
        forwarder = FORWARDING_NODE.format(reliability=reliability, output="forwarded")
        commands = {
            "forwarder": ([sys.executable, "-c", forwarder], "forwarded"),
            "realistic_imu": (["realistic_imu.py", "--ros-args", *parameters], "real"),
        }
        figures = {name: [] for name in commands}
        for _ in range(options.repeats):
            for name, command in commands.items():
                latencies, cores = measure_answers(*command, reliability, RATE, DURATION)
                median, percentile_99 = 1e3 * np.quantile(latencies, [0.5, 0.99])
                answered = 100.0 * len(latencies) / count
                figures[name].append((answered, median, percentile_99, cores))
        answered, median, percentile_99, cores = np.transpose(figures["realistic_imu"])
        *_, cores_of_forwarder = np.transpose(figures["forwarder"])
        title = f"realistic_imu under ROS 2, {qos}"
        measurements.add(f"{title}, answered", answered, "%")
        measurements.add(f"{title}, median latency", median, "ms")
        measurements.add(f"{title}, 99 % latency", percentile_99, "ms", MAX_LATENCY)
        measurements.add(f"{title}, cores", cores, "", MAX_CORES)
        measurements.add(f"{title}, cores of a forwarder", cores / cores_of_forwarder)
    measurements.save()
    rclpy.shutdown()


def cpu_time(pid):
    """Return the CPU time of a process [s], see proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    if importlib.util.find_spec("rclpy") is None:
        command = [ROOT / "run", "ros2", "python", __file__, *sys.argv[1:]]
        sys.exit(subprocess.run(command, check=False).returncode)
    main()
