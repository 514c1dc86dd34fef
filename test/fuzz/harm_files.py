"""What can lie where a file is expected."""

from __future__ import annotations

import bz2
import gzip
import os

import zstandard
from harm_bytes import harmed_bytes


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
            (bomb, ".gz"),
            (bomb, ""),
            (zst, ".zst"),
            (zst, ""),
            (zst[: random.randrange(len(zst))], ".zst"),
            (zstandard.ZstdCompressor().compress(bytes(2**26)), ".db3.zst"),
            (bz2.compress(content), ".bz2"),
            (bz2.compress(content), ""),
            (b"PK\x03\x04" + content, ""),
        )
    )


def hostile_place(random, path) -> None:
    """Put something at a path that is no ordinary file."""
    random.choice(_PLACES)(random, path)


def _fifo(_, path):
    os.mkfifo(path)


def _device(random, path):
    path.symlink_to(
        random.choice(("/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/dev/tty"))
    )


def _folder(_, path):
    path.mkdir()


def _full_folder(random, path):
    path.mkdir()
    for name in random.sample(("a.db3", "b.mcap", "metadata.yaml", "c.csv", "d.db3.zst"), 3):
        (path / name).write_bytes(
            random.choice((b"", b"x", b"SQLite format 3\0", b"\x89MCAP0\r\n"))
        )


def _dangling(_, path):
    path.symlink_to("nowhere")


def _loop(_, path):
    path.symlink_to(path.name)


def _nothing(_, path):
    pass


def _empty(_, path):
    path.touch()


def _sparse(random, path):
    path.touch()
    os.truncate(path, random.choice((2**30, 2**40)))


def _process(random, path):
    path.symlink_to(random.choice(("/proc/self/mem", "/proc/self/environ", "/proc/kmsg", "/sys")))


_PLACES = (
    _fifo,
    _device,
    _folder,
    _full_folder,
    _dangling,
    _loop,
    _nothing,
    _empty,
    _sparse,
    _process,
)
