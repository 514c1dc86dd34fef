"""Topics between nodes that share a process: a message is handed over by a function call.

rospy would send it to itself through a socket and wake a thread for it. Everybody else sees the
same topics as ever.
"""

import struct
import threading
from typing import Callable

import rospy
import rospy.impl.tcpros
from rospy.exceptions import TransportTerminated
from rospy.impl.tcpros_pubsub import TCPROSHandler
from rospy.impl.transport import BIDIRECTIONAL, Transport

_LENGTH = struct.Struct("<I")


class DirectTransport(Transport):
    """A connection from a publisher to the subscribers of its own process.

    The callbacks run in the thread that publishes, before it goes on.

    ``publisher``, ``subscriber``: what rospy keeps of the topic on either side; ``address``: of
    this process, as rospy names the other end of a connection.
    """

    transport_type = "DIRECT"
    callerid_pub = property(lambda self: self._header["callerid"])

    def __init__(self, publisher, subscriber, address: str) -> None:
        super().__init__(BIDIRECTIONAL, publisher.resolved_name)
        self.endpoint_id = address
        self.latch = None
        self._latches = publisher.is_latch
        self._subscriber = subscriber
        self._type = subscriber.data_class
        self._header = {
            "callerid": rospy.get_caller_id(),
            "latching": str(int(publisher.is_latch)),
            "md5sum": publisher.data_class._md5sum,
            "message_definition": publisher.data_class._full_text,
            "topic": publisher.resolved_name,
            "type": publisher.data_class._type,
        }

    def write_data(self, data: bytes) -> None:
        """Hand messages over, each in its bytes behind their number.

        Raises TransportTerminated: it was closed.
        """
        if self.done:
            raise TransportTerminated(f"{self.name}: the subscribers of this process have gone")
        messages = []
        begin = 0
        while begin < len(data):
            (length,) = _LENGTH.unpack_from(data, begin)
            begin += _LENGTH.size + length
            message = self._type().deserialize(data[begin - length : begin])
            message._connection_header = self._header
            messages.append(message)
        self.stat_bytes += len(data)
        self.stat_num_msg += len(messages)
        if self._latches:
            self.latch = messages[-1]
        self._subscriber.receive_callback(messages, self)

    def close(self) -> None:
        """Take it off both sides, once."""
        if not self.done:
            super().close()

    def get_transport_info(self) -> str:
        return f"{self.transport_type} connection to the subscribers of this process"


class _Connecting(TCPROSHandler):
    """Connects to other processes as rospy does, and to its own publishers directly."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def create_transport(self, resolved_name, pub_uri, protocol_params):
        known = rospy.topics.get_topic_manager()
        publisher = known.get_publisher_impl(resolved_name)
        subscriber = known.get_subscriber_impl(resolved_name)
        if pub_uri != rospy.core.get_node_uri() or None in (publisher, subscriber):
            return super().create_transport(resolved_name, pub_uri, protocol_params)
        with self._lock:
            if subscriber.has_connection(pub_uri):
                return 1, f"{resolved_name} is connected", 0
            connection = DirectTransport(publisher, subscriber, pub_uri)
            if not subscriber.add_connection(connection):
                return 0, f"the subscriber of {resolved_name} is closed", 0
        publisher.add_connection(connection)
        if connection.done:  # by a subscriber that has gone meanwhile
            publisher.remove_connection(connection)
        return 1, f"connected {resolved_name} directly", 0


def connect_directly() -> None:
    """Have topics within this process be function calls; to be called before rospy.init_node."""
    rospy.impl.tcpros._handler = _Connecting()


def is_shared() -> bool:
    """Return whether several nodes are in this process, connected directly."""
    return isinstance(rospy.impl.tcpros.get_tcpros_handler(), _Connecting)


def reading(message_type, callback: Callable) -> Callable:
    """Return what reads a rospy.AnyMsg before a callback takes it.

    rospy has one type for each topic in a process, which is the first subscriber's; this lets
    every subscriber have its own. A message of another type is left to the log.
    """

    def read(message):
        if message._connection_header["md5sum"] != message_type._md5sum:
            raise rospy.ROSException(f"expected {message_type._type}")
        its = message_type().deserialize(message._buff)
        its._connection_header = message._connection_header
        callback(its)

    return read
