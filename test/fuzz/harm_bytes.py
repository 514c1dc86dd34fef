"""What can happen to the bytes of a file."""

from __future__ import annotations

import struct


def harmed_bytes(random, content) -> bytes:
    """A file after one or several accidents."""
    content = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        content = random.choice(_ACCIDENTS)(random, content)
    return bytes(content)


def _flip(random, content):
    for _ in range(random.choice((1, 1, 2, 8, 64)) if content else 0):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return content


def _place(random, content, longest=4096):
    start = random.randrange(len(content) + 1)
    # Most of what decides on the rest stands at the two ends.
    start = random.choice((start, start, start % 256, len(content) - start % 256))
    return max(start, 0), max(start, 0) + int(longest ** random.random())


def _cut(random, content):
    return content[: random.randrange(len(content) + 1)]


def _behead(random, content):
    return content[_place(random, content)[0] :]


def _remove(random, content):
    start, stop = _place(random, content)
    del content[start:stop]
    return content


def _repeat(random, content):
    start, stop = _place(random, content)
    return content[:stop] + content[start:stop] * random.choice((1, 2, 50)) + content[stop:]


def _overwrite(random, content):
    start, stop = _place(random, content, 512)
    length = len(content[start:stop])
    junk = bytes(random.randrange(256) for _ in range(length))
    content[start:stop] = random.choice((bytes(length), b"\xff" * length, junk))
    return content


def _insert(random, content):
    start, _ = _place(random, content)
    junk = random.choice((b"\0", b"\xff\xfe", b"\n", b'"', b"'", b",", b"\r", bytes(5000), b"\x80"))
    return content[:start] + junk + content[start:]


def _length(random, content):
    """A length, a count or a place in the file that is far off."""
    start, _ = _place(random, content)
    size, code = random.choice(((4, "<I"), (8, "<Q"), (4, "<i")))
    value = random.choice((0, 1, 2**31 - 1, 2**31 - 16, 2**20, 2**24, 2**28, len(content)))
    if start + size <= len(content):
        struct.pack_into(code, content, start, value)
    return content


def _append(random, content):
    more = random.choice((bytes(1), bytes(2**16), b"\xff" * 100, bytes(content[:1000]), b"junk\n"))
    return content + more


def _zeros_at_end(random, content):
    """As file systems leave a file after the power went."""
    start, _ = _place(random, content)
    return content[:start] + bytes(len(content) - start)


_ACCIDENTS = (
    *(_flip, _flip, _cut, _cut, _behead, _remove, _repeat, _overwrite, _insert, _length, _length),
    *(_append, _zeros_at_end),
)
