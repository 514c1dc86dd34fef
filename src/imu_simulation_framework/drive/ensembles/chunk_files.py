"""Finished chunks of an ensemble on the disk, so that an interrupted job goes on from them.

``job.json`` says what the chunks in a folder are of; each chunk is one file, there as a whole or
not at all, that begins with a line on what it is and the hash of all that follows.
"""

from __future__ import annotations

import hashlib
import io
import json
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from imu_simulation_framework.core.errors import EnsembleError, ResultError
from imu_simulation_framework.core.files import json_text, open_regular, read_at_most, read_settings
from imu_simulation_framework.core.whole_files import make_folder, reason_of, write_whole
from imu_simulation_framework.heading.ensemble import Reduction

JOB = "job.json"
CHUNKS = "chunks"
_LARGEST = 2**30
"""Bytes of a chunk, as it is in memory; a day at 1 Hz with a thousand whole curves has 350 MB."""
_FORMAT = b"imu_simulation_framework ensemble 1 "

_NO_ARRAYS = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, OverflowError, EOFError,
    NotImplementedError, RuntimeError, MemoryError, SyntaxError, tokenize.TokenError,
)  # fmt: skip
"""What zipfile and numpy raise at whatever is no archive of arrays."""


class DamagedChunkError(ResultError):
    """A chunk's file is not what was written."""


def pack(reduction: Reduction, job: str, first_run: int) -> bytes:
    """Return the content of a chunk's file.

    Parameters
    ----------
    job : str
        Hash of the job.
    """
    body = io.BytesIO()
    arrays: dict[str, Any] = {"job": job, "first_run": first_run, **reduction.arrays()}
    np.savez_compressed(body, **arrays)
    content = body.getvalue()
    return _FORMAT + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unpack(content: bytes, time: np.ndarray, job: str, first_run: int) -> Reduction:
    """Return what a chunk's file holds.

    Raises DamagedChunkError: it is damaged; the sentence has no subject. Raises EnsembleError: it
    is of another job or another place in it; likewise.
    """
    head, _, body = content.partition(b"\n")
    if not head.startswith(_FORMAT):
        raise DamagedChunkError("is no chunk of an ensemble")
    if hashlib.sha256(body).hexdigest().encode() != head[len(_FORMAT) :]:
        raise DamagedChunkError("is damaged, its hash is not that of its content")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _LARGEST:
                raise DamagedChunkError("is larger than any chunk")
        with np.load(io.BytesIO(body), allow_pickle=False) as file:
            arrays = dict(file)
        same = str(arrays["job"]) == job and int(arrays["first_run"]) == first_run
    except _NO_ARRAYS:
        # The hash is right, but who can write a file can write a hash.
        raise DamagedChunkError("does not hold the arrays of a chunk") from None
    if not same:
        raise EnsembleError("is of another ensemble, or of other runs")
    return Reduction.of_arrays(time, arrays)


class ChunkFolder:
    """The folder of a job.

    Raises ResultError: the folder belongs to another job, or cannot be used.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    job : mapping
        What the chunks are of, as values that JSON knows.
    """

    def __init__(self, folder, job: Mapping[str, Any]):
        self._folder = Path(folder)
        self.job = hashlib.sha256(json_text(job).encode()).hexdigest()
        make_folder(self._folder / CHUNKS)
        path = self._folder / JOB
        if path.exists():
            self._require_same(path, job)
        elif any((self._folder / CHUNKS).iterdir()):
            raise ResultError(
                f"{self._folder / CHUNKS}: holds chunks, but {path} that says of what is missing; "
                "remove them or choose another folder"
            )
        else:
            write_whole(path, json_text({**job, "hash": self.job}).encode())

    def _require_same(self, path, job):
        try:
            known = json.loads(read_settings(path))
            if not isinstance(known, dict):
                raise ValueError
        except (ValueError, RecursionError):
            raise ResultError(
                f"{path}: does not say what the chunks beside it are of; remove the folder or "
                "choose another one"
            ) from None
        wanted = json.loads(json_text(job))
        known.pop("hash", None)
        if known != wanted:
            names = [
                name for name in dict.fromkeys([*wanted, *known])
                if known.get(name) != wanted.get(name)
            ]  # fmt: skip
            raise ResultError(
                f"{path}: this folder is of another ensemble, with another {' and '.join(names)}; "
                "choose another folder, or remove this one"
            )

    def path(self, first_run: int) -> Path:
        """Return where the chunk of these runs is."""
        return self._folder / CHUNKS / f"runs_{first_run:09d}.chunk"

    def write(self, first_run: int, content: bytes) -> None:
        """Write a chunk as a whole. Raises ResultError: it cannot be written."""
        write_whole(self.path(first_run), content)

    def read(self, first_run: int, runs: int, time: np.ndarray) -> Reduction | None:
        """Return a chunk, or None if it is not there, or was of fewer or more runs.

        Raises DamagedChunkError: it is not what was written; the sentence names the file. Raises
        ResultError: it is of another job, or cannot be read.
        """
        path = self.path(first_run)
        try:
            with open_regular(path) as file:
                content = read_at_most(file, _LARGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {reason_of(error)}") from error
        try:
            reduction = unpack(content, time, self.job, first_run)
        except DamagedChunkError as error:
            raise DamagedChunkError(f"{path}: {error}") from error
        except EnsembleError as error:
            raise ResultError(f"{path}: {error}; remove it or choose another folder") from error
        return reduction if reduction.runs == runs else None
