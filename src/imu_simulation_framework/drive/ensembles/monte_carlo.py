"""An ensemble from first run to last, in chunks that any process can do and that a folder keeps.

``job.json`` says what the chunks in a folder are of; each chunk is one file, there as a whole or
not at all, that begins with a line on what it is and the hash of all that follows.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tokenize
import zipfile
import zlib
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, Callable, Mapping

import numpy as np

import imu_simulation_framework

from ...core.errors import ClusterError, ConfigurationError, EnsembleError, ResultError
from ...core.files import format_json, open_regular, read_at_most, read_settings
from ...core.whole_files import explain_file_error, make_folder, write_whole
from ...heading.ensemble import Reduction, merge_reductions, reduce_runs
from . import executors
from .samplers import Drawing, digest

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
    """Return the content of a chunk's file; ``job``: hash of the job."""
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


_DECIDING = ("numpy", "scipy", "pandas", "mujoco", "vqf")  # libraries whose version decides digits


def versions() -> dict[str, str]:
    """Return the versions of what decides the digits of a result, in this process."""
    found = {"imu_simulation_framework": imu_simulation_framework.__version__}
    for name in _DECIDING:
        found[name] = "none"
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def draw_chunk(
    drawing: Drawing, job: str, first_run: int, runs: int, keep: int, needed: dict[str, str]
) -> bytes:
    """Return what is kept of a chunk, as the content of its file.

    Raises ClusterError: this process has other versions. ``job``: hash of the job; ``keep``: up to
    which run whole curves are kept; ``needed``: :func:`versions` of the program that puts the
    chunks together.
    """
    own = versions()
    if own != needed:
        name = next(name for name in needed if own.get(name) != needed[name])
        raise ClusterError(
            f"a worker on {platform.node()} has {name} {own.get(name)}, but {needed[name]} is "
            "needed: other versions give other digits; install the same on all computers"
        )
    errors = drawing.errors(first_run, runs)
    return pack(reduce_runs(drawing.time, errors, max(0, keep - first_run)), job, first_run)


MAX_RUNS = 100_000_000
KEEP = 1000  # runs whose whole curves are kept


def monte_carlo(
    drawing: Drawing,
    runs: int,
    folder=None,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    keep: int = KEEP,
    on_runs: Callable[[int], None] = lambda _: None,
    on_remark: Callable[[str], None] = lambda _: None,
) -> Reduction:
    """Draw many runs and return what is kept of them.

    The result is the same to the bit whatever the number of workers, and whether it was drawn at
    once or the job was interrupted. More runs go on from those that are there. Raises
    EnsembleError: there shall be less than one run, or too many. Raises ClusterError: the workers
    do not answer or cannot do it. Raises ResultError: the folder is of another ensemble, or cannot
    be used. ``runs``: how many; ``folder`` (path-like): where finished chunks are kept, and taken
    from; without it an interrupted job begins anew; ``workers``: processes on this computer; 1 is
    this one; ``scheduler``: address of a Dask scheduler whose workers do it instead. They need this
    package and the libraries that decide its digits, in the same versions; ``keep``: how many of
    the first runs are kept as whole curves; ``on_runs``: called with a number of runs when they are
    there; ``on_remark``: called with a sentence on what was done anew.
    """
    if not 1 <= runs <= MAX_RUNS:
        raise EnsembleError(
            f"an ensemble of {runs} runs is asked for, but it has at least 1 and at most {MAX_RUNS}"
        )
    if workers < 1 or keep < 0:
        raise ConfigurationError(
            f"{workers} workers and {keep} kept runs are asked for, but there is at least one "
            "worker, and no negative number of runs"
        )
    needed = versions()
    job = {
        **drawing.identity(),
        "times": digest(drawing.time),
        "runs in a chunk": drawing.chunk,
        "kept as curves": keep,
        "versions": needed,
    }
    chunks = _Chunks(drawing, runs, folder, job)
    missing = []
    for first in chunks.firsts:
        if chunks.find(first, on_remark):
            on_runs(chunks.size(first))
        else:
            missing.append(first)
    tasks = [(first, (chunks.job, first, chunks.size(first), keep, needed)) for first in missing]
    drawn = runs - sum(chunks.size(first) for first in missing)
    try:
        for first, content in _crew(workers, scheduler, len(tasks))(draw_chunk, drawing, tasks):
            chunks.add(first, content)
            on_runs(chunks.size(first))
            drawn += chunks.size(first)
    except ClusterError as error:
        if folder is None or not drawn:
            raise
        raise ClusterError(
            f"{error}; {drawn} of {runs} runs are kept in {folder}: the same call goes on from "
            "them, with any workers"
        ) from error
    return merge_reductions(chunks.read(first) for first in chunks.firsts)


def _crew(workers, scheduler, tasks):
    if tasks == 0:
        return executors.alone
    if scheduler is not None:
        return partial(executors.on_cluster, scheduler)
    workers = min(workers, tasks)
    return executors.alone if workers == 1 else partial(executors.on_this_computer, workers)


class _Chunks:
    """The chunks of a job, each a file in a folder, or all in memory.

    Raises ResultError: the folder belongs to another job, or cannot be used.
    """

    def __init__(self, drawing, runs, folder, job: Mapping[str, Any]):
        self.firsts = range(0, runs, drawing.chunk)
        self._runs, self._chunk, self._time = runs, drawing.chunk, drawing.time
        self._contents: dict[int, bytes] = {}
        self._folder = None if folder is None else Path(folder)
        self.job = ""
        if self._folder is None:
            return
        self.job = hashlib.sha256(format_json(job).encode()).hexdigest()
        path, chunks = self._folder / JOB, make_folder(self._folder / CHUNKS)
        if path.exists():
            _require_same(path, job)
        elif any(chunks.iterdir()):
            raise ResultError(
                f"{chunks}: holds chunks, but {path} that says of what is missing; remove them or "
                "choose another folder"
            )
        else:
            write_whole(path, format_json({**job, "hash": self.job}).encode())

    def size(self, first) -> int:
        return min(self._chunk, self._runs - first)

    def _path(self, first) -> Path:
        assert self._folder is not None
        return self._folder / CHUNKS / f"runs_{first:09d}.chunk"

    def find(self, first, on_remark) -> bool:
        """Whether a chunk is there; a damaged one is not, and a remark is made."""
        try:
            return self._found(first) is not None
        except DamagedChunkError as error:
            on_remark(f"{error}; its runs are drawn again")
            return False

    def add(self, first, content):
        if self._folder is None:
            self._contents[first] = content
        else:
            write_whole(self._path(first), content)

    def read(self, first) -> Reduction:
        part = self._found(first)
        if part is None:
            raise EnsembleError(f"{self._path(first)}: has gone while runs were drawn")
        return part

    def _found(self, first) -> Reduction | None:
        """Return a chunk, or None if it is not there, or was of fewer or more runs.

        Raises DamagedChunkError: it is not what was written; the sentence names the file. Raises
        ResultError: it is of another job, or cannot be read.
        """
        if self._folder is None:
            content = self._contents.get(first)
            return None if content is None else unpack(content, self._time, self.job, first)
        path = self._path(first)
        try:
            with open_regular(path) as file:
                reduction = unpack(read_at_most(file, _LARGEST), self._time, self.job, first)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {explain_file_error(error)}") from error
        except DamagedChunkError as error:
            raise DamagedChunkError(f"{path}: {error}") from error
        except EnsembleError as error:
            raise ResultError(f"{path}: {error}; remove it or choose another folder") from error
        return reduction if reduction.runs == self.size(first) else None


def _require_same(path, job):
    try:
        known = json.loads(read_settings(path))
        if not isinstance(known, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise ResultError(
            f"{path}: does not say what the chunks beside it are of; remove the folder or choose "
            "another one"
        ) from None
    wanted = json.loads(format_json(job))
    known.pop("hash", None)
    names = [key for key in dict.fromkeys([*wanted, *known]) if known.get(key) != wanted.get(key)]
    if names:
        raise ResultError(
            f"{path}: this folder is of another ensemble, with another {' and '.join(names)}; "
            "choose another folder, or remove this one"
        )
