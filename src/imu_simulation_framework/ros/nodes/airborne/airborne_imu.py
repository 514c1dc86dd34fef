"""Flies an aircraft, or replays a flight, and publishes what an IMU on a gimbal on it measures.

Private parameters: ``~source``, a script for JSBSim, a recorded flight, or ``udp:PORT``;
``~gimbal``, ``~imu`` and ``~gnss``, names or files; and the numbers that airborne.launch documents.
Topics: ``imu/data``, ``gnss/fix`` and ``gnss/velocity``; ``ground_truth/state`` of the aircraft,
``ground_truth/imu``, ``ground_truth/origin``; ``driven_path``, ``/clock`` and ``/tf``. No sample is
lost on its way, and with ``~answer``, a topic, none is published before that of before has been
answered there.
"""

from __future__ import annotations

import math
import os
import threading
import time
from typing import cast

import rospy
from sensor_msgs.msg import Imu

from imu_simulation_framework import topics
from imu_simulation_framework.configuration.gimbal_file import read_gimbal
from imu_simulation_framework.configuration.gnss_specification_file import read_gnss_specification
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.experiment.flight.airborne import AirborneImu
from imu_simulation_framework.experiment.flight.source import find_flight
from imu_simulation_framework.experiment.named_imu import named_imu
from imu_simulation_framework.robot_names import AIRCRAFT_FRAME, IMU_FRAME
from imu_simulation_framework.ros.gnss_messages import GnssPublisher
from imu_simulation_framework.ros.node import Node, advertise, subscribe
from imu_simulation_framework.ros.node_configuration import folder_of_call, node_configuration
from imu_simulation_framework.ros.nodes.airborne.flight_messages import FlightMessages
from imu_simulation_framework.ros.simulator_messages import ImuMessages
from imu_simulation_framework.sensors.simulation import ImuErrors
from imu_simulation_framework.sentences import shown

WAKE_PERIOD = 0.2
"""Wall-clock seconds after which a wait looks whether all has ended."""


class AirborneImuNode(Node):
    """Publishes a flight tick by tick; it ends with the flight."""

    name = "airborne_imu"
    nothing_to_save = True

    def __init__(self) -> None:
        super().__init__()
        # Relative paths start where roslaunch was called.
        os.chdir(folder_of_call(rospy.get_param("~", {})))
        source = str(rospy.get_param("~source", ""))
        if not source:
            raise ConfigurationError(
                f"{self.name}: the private parameter source is empty, expected a script of JSBSim, "
                "a recorded flight, or udp:PORT"
            )
        self._source = source
        self._wanted = (
            self._number("duration", 200.0, above=0.0),
            self._number("flight_rate", 50.0, above=0.0),
            self._number("start", 0.0),
        )
        gnss = str(rospy.get_param("~gnss", ""))
        self._receiver = read_gnss_specification(gnss) if gnss else None
        self._gnss_on = str(rospy.get_param("~gnss_on", "body"))
        self._gimbal = read_gimbal(str(rospy.get_param("~gimbal", "off")))
        self._chosen = named_imu(str(rospy.get_param("~imu", "ideal")))
        self._rate = self._number("rate", 100.0, above=0.0)
        self._seed = self._whole("seed", 1)
        self._tick = self._number("tick", 0.02, above=0.0)
        self._factor = self._number("real_time_factor", 1.0)
        self._listeners = self._whole("listeners", 0)
        self._timeout = self._number("timeout", 60.0, above=0.0)
        self._imu = advertise(topics.IMU, Imu)
        self._gnss = None
        if self._receiver is not None:
            self._gnss = GnssPublisher(self._receiver, on_robot=False)
        self._answers = 0
        self._answered = threading.Condition()
        self._answer = str(rospy.get_param("~answer", ""))
        if self._answer:
            self._input = subscribe(self._answer, rospy.AnyMsg, self._on_answer)

    def read_configuration(self):
        """Return the defaults: this node's parameters are no keys of config.ini."""
        return node_configuration(rospy.get_name(), {}, {})

    def run(self):
        """Publish tick by tick until the flight ends."""
        self._prepare()
        self._wait_for_listeners()
        of_gnss = () if self._gnss is None else self._gnss.publishers
        self.wait_for_subscribers(self._imu, *of_gnss, *self._messages.publishers)
        first, last = int(self._flight.stamps[0]), int(self._flight.stamps[-1])
        rospy.loginfo("the flight begins, of %.2f s", 1e-9 * (last - first))
        started = time.monotonic()
        for tick in self._flight.ticks(self._tick):
            if self.ended:
                break
            answers = self._answers
            self._publish(tick)
            if self._factor > 0.0:
                ahead = 1e-9 * (int(tick.stamps[-1]) - first) / self._factor
                self._ended.wait(max(0.0, ahead - (time.monotonic() - started)))
            if self._answer:
                self._wait_for_answer(answers, 1e-9 * int(tick.stamps[-1]))
        else:
            rospy.loginfo("the flight has ended")
        self.finish()
        return super().run()

    def _prepare(self):
        """Get the flight, which may be received while it is flown, and all that is measured."""
        flight, remarks = find_flight(self._source, *self._wanted)
        self._flight = AirborneImu(
            flight.states,
            self._gimbal,
            cast(ImuErrors, self._chosen.errors),
            self._receiver,
            self._rate,
            self._seed,
            gnss_on=self._gnss_on,
        )
        for remark in (*remarks, *self._chosen.remarks):
            rospy.logwarn("%s", remark)
        for remark in self._flight.remarks:
            rospy.loginfo("%s", remark)
        antenna = (0.0, 0.0, 0.0) if self._receiver is None else self._receiver.lever_arm
        on = AIRCRAFT_FRAME if self._gnss_on == "body" else IMU_FRAME
        self._messages = FlightMessages(self._flight.origin, antenna, on)
        self._imu_messages = ImuMessages(self._flight.covariances, self._flight.magnetic_covariance)

    def _publish(self, tick):
        self._messages.publish(tick)
        if self._gnss is not None and len(tick.fixes):
            self._gnss.publish(tick.fixes)
        # Last, so that who answers it has all the rest.
        if len(tick.imu_stamps) and self._imu.get_num_connections():
            self._imu_messages.publish_data(self._imu, tick.imu_stamps, tick.imu)

    def _wait_for_listeners(self):
        self.wait_until(
            lambda: self._imu.get_num_connections() >= self._listeners,
            self._timeout,
            f"{self._listeners} subscribers of {self._imu.resolved_name}",
        )

    def _wait_for_answer(self, answers, at):
        deadline = time.monotonic() + self._timeout
        with self._answered:
            while not self.ended and self._answers <= answers:
                self._answered.wait(WAKE_PERIOD)
                if time.monotonic() > deadline and self._answers <= answers:
                    self.fail(
                        f"{self.name}: no message on {self._answer} for {self._timeout:g} s at "
                        f"{at:.2f} s of the flight"
                    )

    def _on_answer(self, _):
        with self._answered:
            self._answers += 1
            self._answered.notify()

    def _number(self, name, default, above=None):
        value = rospy.get_param(f"~{name}", default)
        usable = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not usable or not math.isfinite(value) or value < 0.0 or value == above:
            expected = "a number" if above is None else "a positive number"
            raise ConfigurationError(
                f"{self.name}: {name} is {shown(value)}, expected {expected}"
                f"{', not below zero' if above is None else ''}"
            )
        return float(value)

    def _whole(self, name, default):
        value = rospy.get_param(f"~{name}", default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ConfigurationError(
                f"{self.name}: {name} is {shown(value)}, expected a whole number, not below zero"
            )
        return value
