"""ROS 1 node that runs a session, which itself is independent of ROS."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import roslib.message
import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ..core import topics
from ..core.errors import FrameworkError
from ..realistic_imu.node_sessions import Session, read_arguments
from .messages import publish_packed
from .node import Node, advertise, subscribe

CLOCK_TIMEOUT = 1.0  # wall-clock seconds; timeout for the clock
QUEUE_SIZE = 100  # queue size of an input with several publishers; older messages are dropped


class LiveNode(Node):
    """ROS 1 node that runs a :class:`.Session`; see :class:`.Shell`.

    Attributes
    ----------
    session_type : type of Session
        Class of the session.
    session : Session
        Session that processes the messages.
    """

    session_type: type[Any]
    has_settings = False
    ros2 = False

    def __init__(self) -> None:
        super().__init__()
        arguments = read_arguments(
            self.session_type.arguments_type,
            self.name,
            lambda name, default: rospy.get_param(f"~{name}", default),
        )
        session: Session = self.session_type(arguments, self)
        self.session = session
        self._publishers = {
            topic: advertise(topic, roslib.message.get_message_class(kind.name))
            for topic, kind in session.outputs.items()
        }
        if session.publishes_diagnostics:
            self._diagnostics = rospy.Publisher(topics.DIAGNOSTICS, DiagnosticArray, queue_size=1)
        for topic in session.text_outputs:
            self._publishers[topic] = rospy.Publisher(topic, String, latch=True, queue_size=1)
        if session.joint_states_topic:
            # Several nodes may publish joint states, each for different joints.
            subscribe(session.joint_states_topic, JointState, self._on_joints)
        for topic, (kind, _) in reversed(session.inputs.items()):
            message_type = roslib.message.get_message_class(kind.name)
            if session.requires_single_publisher:
                self.subscribe(topic, message_type, partial(session.process, topic), raw=True)
            else:
                subscribe(
                    topic,
                    _make_serialised_type(message_type),
                    partial(self._process, topic),
                    QUEUE_SIZE,
                )

    def spin_once(self):
        self.session.on_timer()

    def close(self):
        self.session.close()

    def _process(self, topic, message):
        try:
            self.session.process(topic, message.data)
        except FrameworkError as error:
            self.fail(f"{self.name}: {error}")

    def _on_joints(self, message):
        try:
            stamp = message.header.stamp.to_nsec()
            self.session.process_joint_states(stamp, message.name, message.effort)
        except FrameworkError as error:
            self.fail(f"{self.session.joint_states_topic}: {error}")

    def warn(self, sentence):
        rospy.logwarn("%s", sentence)

    def inform(self, sentence):
        rospy.loginfo("%s", sentence)

    def resolve(self, topic):
        return rospy.resolve_name(topic)

    def send(self, topic, packed):
        publish_packed(self._publishers[topic], packed)

    def send_text(self, topic, text):
        self._publishers[topic].publish(String(data=text))

    def publish_diagnostic(self, diagnostic):
        """Publish a diagnostic on ``/diagnostics``.

        Parameters
        ----------
        diagnostic : Diagnostic
            Content of the status.
        """
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if diagnostic.is_warning else DiagnosticStatus.OK,
            name=rospy.get_name(),
            message=diagnostic.message,
            values=[KeyValue(*pair) for pair in diagnostic.values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = rospy.Time.from_sec(time.time())
        self._diagnostics.publish(message)

    def simulated_time(self):
        """Return the simulated time.

        Returns
        -------
        int or None
            Time [ns], or None if there is no simulator clock.
        """
        if not rospy.get_param("/use_sim_time", False):
            return None
        try:
            clock = rospy.wait_for_message(topics.CLOCK, Clock, timeout=CLOCK_TIMEOUT).clock
        except rospy.ROSException:
            return None  # a paused simulator does not publish the clock
        return clock.to_nsec()


def _make_serialised_type(message_type):
    """Return a message class that stores the received bytes.

    rospy deserialises every message of a typed subscriber; rospy.AnyMsg avoids this, but matches
    publishers of any type.
    """

    def deserialize(self, data):
        self.data = data
        return self

    return type(message_type.__name__, (message_type,), {"deserialize": deserialize})
