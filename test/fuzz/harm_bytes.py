"""What can happen to the bytes of a file, and what can lie where a file is expected."""

from __future__ import annotations

import bz2
import gzip
import os
import struct

import zstandard

_JUNK = (b"\0", b"\xff\xfe", b"\n", b'"', b"'", b",", b"\r", bytes(5000), b"\x80")
_MORE = (bytes(1), bytes(2**16), b"\xff" * 100, b"junk\n")


def harmed_bytes(random, content) -> bytes:
    """A file after one or several accidents."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        start = random.randrange(len(content) + 1)
        # Most of what decides on the rest stands at the two ends.
        start = random.choice((start, start, start % 256, max(len(content) - start % 256, 0)))
        stop = start + int(4096 ** random.random())
        before, part, after = content[:start], content[start:stop], content[stop:]
        content = random.choice(_ACCIDENTS)(random, before, part, after)
    return content


def _flip(random, *parts):
    content = bytearray(b"".join(parts))
    for _ in range(random.choice((1, 1, 2, 8, 64)) if content else 0):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def _overwrite(random, before, part, after):
    junk = bytes(random.randrange(256) for _ in part)
    return before + random.choice((bytes(len(part)), b"\xff" * len(part), junk)) + after


def _length(random, before, part, after):
    """A length, a count or a place in the file that is far off."""
    code = random.choice(("<I", "<Q", "<i"))
    size = len(before + part + after)
    value = random.choice((0, 1, 2**31 - 1, 2**31 - 16, 2**20, 2**24, 2**28, size))
    return before + struct.pack(code, value) + (part + after)[struct.calcsize(code) :]


_ACCIDENTS = (
    *(_flip, _flip, _overwrite, _length, _length),
    # Cut off, beheaded, a part removed, repeated, something put in and behind.
    *[lambda random, before, part, after: before] * 2,
    lambda random, before, part, after: part + after,
    lambda random, before, part, after: before + after,
    lambda random, before, part, after: before + part * random.choice((2, 3, 51)) + after,
    lambda random, before, part, after: before + random.choice(_JUNK) + part + after,
    lambda random, before, part, after: (
        before + part + after + random.choice((*_MORE, before[:1000]))
    ),
    # As file systems leave a file after the power went.
    lambda random, before, part, after: before + bytes(len(part + after)),
)


def packed(random, content) -> tuple[bytes, str]:
    """A file packed in one of many ways, rightly or not, and what is put behind its name."""
    squeezed = gzip.compress(content, mtime=0)
    zst = zstandard.ZstdCompressor().compress(content)
    bomb = gzip.compress(content + bytes(2**24), mtime=0)
    return random.choice(
        (
            (squeezed, ".gz"),
            (squeezed, ""),
            (content, ".gz"),
            (squeezed[: random.randrange(len(squeezed))], ".gz"),
            (squeezed + bytes(2**20), ".gz"),
            (squeezed + b"junk", ".gz"),
            (squeezed + squeezed, ".gz"),
            (gzip.compress(squeezed, mtime=0), ".gz"),
            (harmed_bytes(random, squeezed), ".gz"),
            *((bomb, ending) for ending in (".gz", "")),
            *((zst, ending) for ending in (".zst", "")),
            (zst[: random.randrange(len(zst))], ".zst"),
            (zstandard.ZstdCompressor().compress(bytes(2**26)), ".db3.zst"),
            *((bz2.compress(content), ending) for ending in (".bz2", "")),
            (b"PK\x03\x04" + content, ""),
        )
    )


def hostile_place(random, path) -> None:
    """Put something at a path that is no ordinary file."""
    choice = random.choice(("fifo", "folder", "full", "empty", "sparse", "nothing", *_LINKS))
    if choice == "fifo":
        os.mkfifo(path)
    elif choice in ("folder", "full"):
        path.mkdir()
    elif choice in ("empty", "sparse"):
        path.touch()
    elif choice != "nothing":
        path.symlink_to(random.choice(choice) or path.name)
    if choice == "sparse":
        os.truncate(path, random.choice((2**30, 2**40)))
    elif choice == "full":
        for name in random.sample(("a.db3", "b.mcap", "metadata.yaml", "c.csv", "d.db3.zst"), 3):
            content = random.choice((b"", b"x", b"SQLite format 3\0", b"\x89MCAP0\r\n"))
            (path / name).write_bytes(content)


_LINKS = (
    ("/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/dev/tty"),
    ("/proc/self/mem", "/proc/self/environ", "/proc/kmsg", "/sys"),
    ("nowhere",),
    ("",),
)
"""Where links lead; that without a word leads to itself."""
