"""Which topic of a bag to read."""

from __future__ import annotations

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.sentences import listed


def choose_topic(path, topic, topics, types) -> str:
    """Return the topic that is named, or the only one that can be used.

    Parameters
    ----------
    path : path-like
        For messages.
    topic : str
        With or without its first slash; empty for the only one with a suitable type.
    topics : dict of str to (str, int)
        Those of the bag, with type as ROS 1 writes it and number of messages.
    types : collection of str
        Those that can be used.

    Raises
    ------
    RecordingError
        There is none, or several.
    """
    expected = " or ".join(types)
    if not any(count for _, count in topics.values()):
        raise RecordingError(f"{path}: the bag holds no messages, expected {expected}")
    listing = listed(f"{name} ({kind})" for name, (kind, _) in sorted(topics.items()))
    if not topic:
        suitable = [name for name, (kind, count) in topics.items() if kind in types and count]
        if len(suitable) == 1:
            return suitable[0]
        if suitable:
            raise RecordingError(
                f"{path}: several topics can be used, say which: {listed(sorted(suitable))}"
            )
        raise RecordingError(f"{path}: no topic of type {expected}; the bag has {listing}")
    bare = topic.strip("/")
    name = next((known for known in (topic, f"/{bare}", bare) if known in topics), None)
    if name is None:
        raise RecordingError(f"{path}: no topic {topic}; the bag has {listing}")
    kind, count = topics[name]
    if kind not in types:
        raise RecordingError(f"{path}: topic {name} is of type {kind}, expected {expected}")
    if not count:
        raise RecordingError(f"{path}: topic {name} has no messages")
    return name
