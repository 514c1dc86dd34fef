"""Messages as ROS 2 lays them out (CDR), decoded all at once.

As in a ROS 1 bag only strings vary in length. Unlike there a number begins at a multiple of its
size, counted from behind the four bytes that say how the message is written
(OMG, Common Object Request Broker Architecture 3.0, section 15.3): messages whose payloads begin
alike are laid out alike.
"""

from __future__ import annotations

import numpy as np

_HEADER = 4
_LITTLE_ENDIAN = 1


def decode_cdr(messages, message_type):
    """Decode messages of one type.

    Parameters
    ----------
    messages : list of bytes
    message_type : MessageType

    Returns
    -------
    columns : dict of str to ndarray, shape (n,)
        The type's quantities, and ``stamp`` [s, nan where not set].
    good : ndarray of bool, shape (n,)
        Which messages are laid out as they should be; the values of others mean nothing.
    """
    lengths = np.fromiter(map(len, messages), np.int64, len(messages))
    # Room behind the last message, so that a broken one is found and not run into.
    data = np.frombuffer(b"".join(messages) + bytes(_room(message_type)), np.uint8)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    sizes = lengths - _HEADER
    good = sizes >= 8
    good &= data[np.minimum(starts + 1, len(data) - 1)] == _LITTLE_ENDIAN

    starts = starts + _HEADER
    position = np.full(len(messages), 8)
    for _ in range(1 + message_type.strings):
        position = _aligned(position, 4)
        good &= position + 4 <= sizes
        position = np.where(good, position, 0)
        position = position + 4 + _uint32(data, starts + position)
        good &= position <= sizes
        position = np.where(good, position, 8)

    columns = {name: np.full(len(messages), np.nan) for name in message_type.quantities}
    for phase in range(8):
        rows = np.flatnonzero(good & (position % 8 == phase))
        if len(rows) == 0:
            continue
        layout = _layout(message_type.payload, phase)
        spare = sizes[rows] - position[rows] - layout.itemsize
        good[rows[(spare < 0) | (spare >= 8)]] = False
        begin = starts[rows] + position[rows]
        payload = data[begin[:, None] + np.arange(layout.itemsize)].view(layout)[:, 0]
        for quantity, name in message_type.quantities.items():
            columns[quantity][rows] = payload[name]
    seconds, nanoseconds = _uint32(data, starts), _uint32(data, starts + 4)
    stamp = seconds + nanoseconds / 1e9
    columns["stamp"] = np.where((seconds == 0) & (nanoseconds == 0), np.nan, stamp)
    return columns, good


def _room(message_type):
    return _HEADER + 16 + 2 * message_type.payload.itemsize


def _aligned(position, size):
    return -(-position // size) * size


def _layout(payload, phase):
    """Give a payload's fields where they are if it begins so many bytes behind a multiple of 8."""
    offsets, end = [], phase
    for name in payload.names:
        size = payload[name].itemsize
        end = _aligned(end, size)
        offsets.append(end - phase)
        end += size
    formats = [payload[name] for name in payload.names]
    return np.dtype(
        {
            "names": list(payload.names),
            "formats": formats,
            "offsets": offsets,
            "itemsize": end - phase,
        }
    )


def _uint32(data, positions):
    """Return little-endian unsigned numbers at any positions, as int64."""
    return data[np.asarray(positions)[:, None] + np.arange(4)].view("<u4")[:, 0].astype(np.int64)
