"""Parts of bags that are packed by themselves, unpacked within limits: none is a bomb.

Each function takes the packed bytes and raises ValueError if they are cut off or make more than
the limit.
"""

from __future__ import annotations

import bz2
from typing import Callable

import zstandard
from lz4.frame import LZ4FrameDecompressor

LARGEST_CHUNK = 2**28
"""Bytes; recorders fill chunks to some MB, and a message stays in one."""

LARGEST_MESSAGE = 2**20
"""Bytes of a message that is packed by itself, of the types that are read here: some hundred."""


def unpack_bz2(packed, limit=None) -> bytes:
    """Return what bzip2 has packed."""
    return _unpacked(bz2.BZ2Decompressor(), packed, limit)


def unpack_lz4(packed, limit=None) -> bytes:
    """Return what is in a frame of LZ4."""
    return _unpacked(LZ4FrameDecompressor(), packed, limit)


def _unpacked(unpacker, packed, limit):
    data = unpacker.decompress(packed, LARGEST_CHUNK if limit is None else limit)
    if not unpacker.eof:
        raise ValueError("a chunk that is cut off, or unpacks to more than a bag's chunks hold")
    return data


def unpack_zstd(packed, limit=None) -> bytes:
    """Return what is in a frame of zstd."""
    limit = LARGEST_CHUNK if limit is None else limit
    # The buffer is made before anything is read, so it is not larger than the frame says.
    size = zstandard.get_frame_parameters(packed).content_size
    known = size != zstandard.CONTENTSIZE_UNKNOWN
    if not known or size <= limit:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            data = reader.read((size if known else limit) + 1)
        if len(data) == size or (not known and len(data) <= limit):
            return data
    raise ValueError("a chunk that is cut off, or unpacks to more than a bag's chunks hold")


def unpack_mcap(kind, packed, size) -> bytes:
    """Return a chunk of MCAP that says how it is packed, and how many bytes it makes."""
    if size > LARGEST_CHUNK:
        raise ValueError(f"a chunk of {size} bytes")
    data = _MCAP[kind](packed)
    if len(data) != size:
        raise ValueError(f"a chunk of {len(data)} bytes that should have {size}")
    return data


_MCAP: dict[str, Callable[..., bytes]] = {
    "": lambda packed: packed,
    "lz4": unpack_lz4,
    "zstd": unpack_zstd,
}
