"""Show the yaws of both IMUs and the ground truth in a Matplotlib window, without rqt."""

from __future__ import annotations

import math
import time

import matplotlib
import rospy
from matplotlib import pyplot

from ...core import colours, topics
from ...core.errors import FrameworkError
from ...drive.experiment.imu import imu_label
from ...drive.recorded_drive.sources import drive_name
from ...msg import ImuYaw
from ..node import Node

DRAWING_PERIOD = 0.1  # wall-clock seconds between updates of the window

_TRUTH = {"color": colours.LIVE_TRUTH, "linewidth": 4}
_REAL = {"color": colours.REAL}
_SIMULATED = {"color": colours.SIMULATED, "linestyle": "--"}
CURVES = (
    # (topic, axes, label, style)
    (topics.YAW_GROUND_TRUTH, 0, "ground truth", _TRUTH),
    (topics.YAW_REAL, 0, "recorded IMU", _REAL),
    (topics.YAW_SIMULATED, 0, "simulated IMU", _SIMULATED),
    (topics.YAW_ERROR_REAL, 1, "recorded IMU", _REAL),
    (topics.YAW_ERROR_SIMULATED, 1, "simulated IMU", _SIMULATED),
)


class YawView(Node):
    """Plot the messages of :mod:`.imu_yaw_publisher`, and update the plot ten times per second.

    Each subscription stores only the latest message, so that the view never blocks a publisher and
    does not slow down a simulation in lock-step that is much faster than real time.
    """

    name = "yaw_view"

    def __init__(self) -> None:
        super().__init__()
        try:
            matplotlib.use("TkAgg", force=True)
            self._figure, self._axes = pyplot.subplots(
                2, 1, sharex=True, figsize=(8.0, 6.0), layout="constrained", num="IMU yaw"
            )
        except (ImportError, RuntimeError) as error:
            raise FrameworkError(
                f"{self.name}: cannot open a window ({error}); check that there is a display and "
                "that python3-tk is installed"
            ) from None
        self._axes[0].set_ylabel("yaw, unwrapped [deg]")
        self._axes[1].set(xlabel="simulated time [s]", ylabel="yaw error [deg]")
        self._curves = []
        self._drawn = 0
        settings = self.configuration
        drive, imu = drive_name(settings), imu_label(settings)
        self._figure.suptitle(
            f"{drive}, simulated IMU {imu}, seed {settings.experiment.seed}",
            fontsize=9, color=colours.FOOTER_GREY, parse_math=False,
        )  # fmt: skip
        for topic, axes_index, label, style in CURVES:
            (line,) = self._axes[axes_index].plot([], [], label=label, **style)
            samples: list = []
            self._curves.append((line, samples))
            rospy.Subscriber(
                topic,
                ImuYaw,
                self._append_sample,
                samples,
                queue_size=1,
                buff_size=2**20,
                tcp_nodelay=True,
            )
        for axes in self._axes:
            axes.grid(alpha=0.3)
        # A common legend above the axes does not hide curves.
        self._axes[0].legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(self._axes[0].lines)
        )
        self._figure.canvas.mpl_connect("close_event", lambda _: self.finish())
        self._figure.show()

    @staticmethod
    def _append_sample(message, samples) -> None:
        samples.append((message.header.stamp.to_sec(), message.yaw_unwrapped))

    def run(self):
        """Update the plot until the window is closed or the node is terminated."""
        while not self.ended:
            started = time.monotonic()
            self._draw()
            self._ended.wait(max(0.0, DRAWING_PERIOD - (time.monotonic() - started)))
        return super().run()

    def _draw(self) -> None:
        if sum(len(samples) for _, samples in self._curves) == self._drawn:
            # Window events are still processed after the drive.
            self._figure.canvas.flush_events()
            return
        self._drawn = 0
        for line, samples in self._curves:
            drawn = list(samples)
            self._drawn += len(drawn)
            line.set_data([stamp for stamp, _ in drawn], [math.degrees(yaw) for _, yaw in drawn])
        for axes in self._axes:
            axes.relim()
            axes.autoscale_view()
        self._figure.canvas.draw_idle()
        self._figure.canvas.flush_events()
