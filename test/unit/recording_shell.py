"""A shell that keeps what a session sends, without any ROS."""

from imu_simulation_framework.recordings.messages import separate


class RecordingShell:
    """``sent`` and ``texts``: by topic; ``warned`` and ``informed``: sentences."""

    def __init__(self, ros2):
        self.ros2 = ros2
        self.sent, self.texts, self.warned, self.informed = {}, {}, [], []
        self.diagnosed = []
        self.diagnose = self.diagnosed.append
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
    """The shell after a session's messages, pairs of topic and bytes."""
    shell = RecordingShell(ros2)
    session = session_type(arguments, shell)
    for topic, data in messages:
        session.take(topic, data)
    session.close()
    return shell
