"""Publish the fixes of a GNSS receiver on the simulated robot."""

from __future__ import annotations

import threading

import numpy as np
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64MultiArray

from ...core import topics
from ...drive.experiment.gnss_and_odometer import experiment_gnss
from ...drive.session.gnss_and_odometer import PositioningSession
from ...drive.session.messages import ground_truth_rows
from ...recordings.messages import stamp_of
from ..messages import GnssPublisher
from ..participant import Participant


class GnssReceiver(Participant):
    """Convert ``ground_truth/state`` to ``gnss/fix``, ``gnss/velocity`` and ``gnss/heading``.

    The receiver starts with the first ground truth after the first wheel command, so that its
    random numbers are used for the same fixes in every run. Without a receiver in section
    ``[gnss]``, the node does nothing; launch files always start it, because they cannot read
    config.ini.
    """

    name = "gnss_receiver"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        gnss = experiment_gnss(self.configuration)
        if gnss is None:
            return
        self._session = PositioningSession(gnss, self.configuration.experiment.seed)
        self._publisher = GnssPublisher(gnss)
        self._has_started = False
        self._has_ground_truth = False
        self.inputs = (
            self.subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth, raw=True),
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
        )
        self.offer_start()

    def prepare(self, start, stop):
        self.wait_until(
            lambda: self._has_ground_truth, f"the first message on {topics.GROUND_TRUTH}"
        )
        self.wait_for_subscribers(*self._publisher.publishers)

    def _on_command(self, _):
        with self._lock:
            if not self._has_started:
                self._has_started = True
                self._session.restart()

    def _on_ground_truth(self, data):
        with self._lock:
            self._has_ground_truth = True
            stamps, rows = ground_truth_rows([data])
            fixes = self._session.add(stamps, *np.split(rows, (3, 7, 10), axis=1))
            if fixes is not None:
                self._publisher.publish(fixes)
            self.report_processed(stamp_of(data))
