"""Strategies for files with damaged bytes, and for special files such as pipes and links."""

from __future__ import annotations

import bz2
import gzip
import os
import struct
from dataclasses import dataclass

import zstandard
from hypothesis import strategies as st

_JUNK = (b"\0", b"\xff\xfe", b"\n", b'"', b"'", b",", b"\r", b"\x80", b"junk\n", bytes(5000))
_COUNTS = (0, 1, 2**20, 2**24, 2**28, 2**31 - 16, 2**31 - 1)


@st.composite
def damaged_bytes(draw, content) -> bytes:
    """Generate file content with one to four edits of its bytes."""
    for _ in range(draw(st.integers(1, 4))):
        # Edits are near the ends of a file, where headers, footers and indices are.
        end = st.integers(0, min(256, len(content)))
        start = draw(st.one_of(st.integers(0, len(content)), end, end.map(lambda k: -k)))
        start %= len(content) + 1
        stop = start + draw(st.sampled_from((1, 2, 8, 64, 512, 4096)))
        head, part, tail = content[:start], content[start:stop], content[stop:]
        content = draw(_edited(head, part, tail))
    return content


def _edited(head, part, tail):
    """Return a strategy for edits of a file's middle part, between its head and its tail."""
    length = len(head + part + tail)
    joined = part + tail
    truncated = st.just(head)
    flipped = st.tuples(st.integers(0, 7), st.integers(0, max(len(part) - 1, 0))).map(
        lambda place: head + _flip(part, *place) + tail
    )
    replaced = st.one_of(
        st.sampled_from((b"", bytes(len(part)), b"\xff" * len(part), 2 * part, 51 * part)),
        st.binary(min_size=1, max_size=16).map(lambda junk: (junk * len(part))[: len(part)]),
    ).map(lambda other: head + other + tail)
    inserted = st.sampled_from(_JUNK).map(lambda junk: head + junk + joined)
    appended = st.sampled_from((*_JUNK, bytes(2**16), head[:1000])).map(
        lambda junk: head + joined + junk
    )
    # This edit corrupts a count, length or offset.
    counted = st.tuples(
        st.sampled_from(("<I", "<Q", "<i")), st.sampled_from((*_COUNTS, length))
    ).map(lambda item: head + struct.pack(*item) + joined[struct.calcsize(item[0]) :])
    # A file system may fill a file with zeros after a power failure.
    zeroed = st.just(head + bytes(len(joined)))
    return st.one_of(
        truncated, flipped, replaced, inserted, appended, counted, zeroed, st.just(joined)
    )


def _flip(part, bit, place):
    if not part:
        return part
    return part[:place] + bytes([part[place] ^ (1 << bit)]) + part[place + 1 :]


@st.composite
def damaged_archives(draw, content) -> tuple[bytes, str]:
    """Generate a compressed file that may be damaged, and a suffix that may be wrong."""
    pack, suffix = draw(st.sampled_from(_ARCHIVES))
    packed = pack(content)
    return draw(st.one_of(st.just(packed), damaged_bytes(packed))), suffix


def _gzip(content):
    return gzip.compress(content, mtime=0)


def _zstandard(content):
    return zstandard.ZstdCompressor().compress(content)


# Compression functions with file name suffixes, some of which do not match.
_ARCHIVES = (
    (_gzip, ".gz"),
    (_gzip, ""),
    (lambda content: content, ".gz"),
    (lambda content: 2 * _gzip(content), ".gz"),
    (lambda content: _gzip(content) + b"junk", ".gz"),
    (lambda content: _gzip(content) + bytes(2**20), ".gz"),
    (lambda content: _gzip(_gzip(content)), ".gz"),
    (lambda content: _gzip(content + bytes(2**24)), ".gz"),
    (lambda content: _gzip(content + bytes(2**24)), ""),
    (_zstandard, ".zst"),
    (_zstandard, ""),
    (lambda content: _zstandard(bytes(2**26)), ".db3.zst"),
    (bz2.compress, ".bz2"),
    (bz2.compress, ""),
    (lambda content: b"PK\x03\x04" + content, ""),
)


@dataclass(frozen=True)
class Special:
    """Special file: ``kind`` is a key of ``_MAKERS`` or the target of a symbolic link."""

    kind: str

    def put(self, path) -> None:
        """Create the special file."""
        make = _MAKERS.get(self.kind)
        if make is None:
            path.symlink_to(self.kind)
        else:
            make(path)


def _make_bag_folder(path):
    path.mkdir()
    for name, content in (
        ("a.db3", b"SQLite format 3\0"),
        ("b.mcap", b""),
        ("metadata.yaml", b"x"),
    ):
        (path / name).write_bytes(content)


def _make_sparse_file(path):
    path.touch()
    os.truncate(path, 2**40)


_MAKERS = {
    "nothing": lambda path: None,
    "empty file": lambda path: path.touch(),
    "named pipe": os.mkfifo,
    "folder": lambda path: path.mkdir(),
    "folder of a bag": _make_bag_folder,
    "sparse file": _make_sparse_file,
    "link to itself": lambda path: path.symlink_to(path.name),
}
_LINK_TARGETS = (
    *("nowhere", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/tty", "/sys"),
    *("/proc/self/mem", "/proc/self/environ", "/proc/kmsg"),
)
# Strategy for special files.
SPECIALS = st.sampled_from((*_MAKERS, *_LINK_TARGETS)).map(Special)
