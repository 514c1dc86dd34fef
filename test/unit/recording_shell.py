"""Shell that records the output of a session, without ROS."""

from imu_simulation_framework.recordings.messages import separate


class RecordingShell:
    """Shell of a session that records messages, texts and diagnostics.

    Attributes
    ----------
    sent, texts : dict of str to list
        Messages and texts by topic.
    warned, informed : list of str
        Warnings and information.
    diagnosed : list
        Diagnostics.
    """

    def __init__(self, ros2):
        self.ros2 = ros2
        self.sent, self.texts, self.warned, self.informed = {}, {}, [], []
        self.diagnosed = []
        self.publish_diagnostic = self.diagnosed.append
        self.warn, self.inform = self.warned.append, self.informed.append

    def resolve(self, topic):
        return topic if topic.startswith("/") else f"/{topic}"

    def send(self, topic, packed):
        self.sent.setdefault(topic, []).extend(separate(packed))

    def send_text(self, topic, text):
        self.texts.setdefault(topic, []).append(text)

    def simulated_time(self):
        return None


def shell_of(session_type, arguments, messages, ros2=True):
    """Return a recording shell after its session has processed (topic, bytes) messages."""
    shell = RecordingShell(ros2)
    session = session_type(arguments, shell)
    for topic, data in messages:
        session.process(topic, data)
    session.close()
    return shell
