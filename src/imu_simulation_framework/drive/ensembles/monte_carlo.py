"""Monte Carlo simulation in chunks, computed by several processes and stored in a folder.

``job.json`` in the folder describes the ensemble. Each chunk is a file that is written atomically
and begins with a line that contains the format and the hash of the content.
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
from dataclasses import dataclass
from functools import lru_cache, partial
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
from .defaults import STORED_RUNS
from .samplers import Drawing, digest

JOB = "job.json"
CHUNKS = "chunks"
# Maximum size of a chunk in memory [bytes]; 1000 one-day curves at 1 Hz require 350 MB.
_MAX_CHUNK = 2**30
_FORMAT = b"imu_simulation_framework ensemble 1 "

# Exceptions that zipfile and NumPy raise for a file that is not an archive of arrays.
_ARCHIVE_ERRORS = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, OverflowError, EOFError,
    NotImplementedError, RuntimeError, MemoryError, SyntaxError, tokenize.TokenError,
)  # fmt: skip


class DamagedChunkError(ResultError):
    """Error raised for a damaged chunk file."""


def pack(reduction: Reduction, job: str, first_run: int) -> bytes:
    """Serialise the statistics of a chunk to the content of a chunk file.

    Parameters
    ----------
    reduction : Reduction
        Statistics of the runs in the chunk.
    job : str
        Hash of the job.
    first_run : int
        Index of the first run.

    Returns
    -------
    bytes
        Compressed arrays with a hash of their content.
    """
    body = io.BytesIO()
    arrays: dict[str, Any] = {"job": job, "first_run": first_run, **reduction.arrays()}
    np.savez_compressed(body, **arrays)
    content = body.getvalue()
    return _FORMAT + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unpack(content: bytes, time: np.ndarray, job: str, first_run: int) -> Reduction:
    """Deserialise and check the content of a chunk file.

    Error messages have no subject; the caller prepends the path.

    Parameters
    ----------
    content : bytes
        Content of the file.
    time : ndarray, shape (n,)
        Times of the yaw errors [s].
    job : str
        Hash of the expected job.
    first_run : int
        Expected index of the first run.

    Returns
    -------
    Reduction
        Statistics of the runs in the chunk.

    Raises
    ------
    DamagedChunkError
        The content is damaged.
    EnsembleError
        The chunk belongs to another job or to other runs.
    """
    head, _, body = content.partition(b"\n")
    if not head.startswith(_FORMAT):
        raise DamagedChunkError("not a chunk of an ensemble")
    if hashlib.sha256(body).hexdigest().encode() != head[len(_FORMAT) :]:
        raise DamagedChunkError("damaged chunk, whose hash does not match its content")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MAX_CHUNK:
                raise DamagedChunkError("content is larger than any chunk")
        with np.load(io.BytesIO(body), allow_pickle=False) as file:
            arrays = dict(file)
        is_same_job = str(arrays["job"]) == job and int(arrays["first_run"]) == first_run
    except _ARCHIVE_ERRORS:
        # A file with a correct hash may still have been written by another program.
        raise DamagedChunkError("does not contain the arrays of a chunk") from None
    if not is_same_job:
        raise EnsembleError("chunk of another ensemble, or of other runs")
    return Reduction.from_arrays(time, arrays)


# Libraries whose versions affect the last digits of the results.
_NUMERICAL_LIBRARIES = ("numpy", "scipy", "pandas", "mujoco", "vqf")


def versions() -> dict[str, str]:
    """Return the versions of the libraries that affect the last digits of the results.

    Returns
    -------
    dict of str to str
        Versions by library name; ``none`` for a missing library.
    """
    installed = {name: _installed_version(name) for name in _NUMERICAL_LIBRARIES}
    return {"imu_simulation_framework": imu_simulation_framework.__version__, **installed}


@lru_cache(maxsize=None)
def _installed_version(name):
    """Return the version of a library; cached, since each chunk asks for it."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return "none"


def draw_chunk(
    drawing: Drawing, job: str, first_run: int, runs: int, keep: int, needed: dict[str, str]
) -> bytes:
    """Simulate the runs of a chunk.

    Parameters
    ----------
    drawing : Drawing
        Source of yaw errors.
    job : str
        Hash of the job.
    first_run, runs : int
        Index of the first run, and number of runs.
    keep : int
        Number of runs, from the first one of the ensemble, whose yaw error over time is stored.
    needed : dict of str to str
        :func:`versions` of the process that merges the chunks.

    Returns
    -------
    bytes
        Content of the chunk file, see :func:`pack`.

    Raises
    ------
    ClusterError
        This process uses other library versions.
    """
    current_versions = versions()
    if current_versions != needed:
        name = next(name for name in needed if current_versions.get(name) != needed[name])
        raise ClusterError(
            f"a worker on {platform.node()} has {name} {current_versions.get(name)}, but "
            f"{needed[name]} is needed, as results differ between versions; install the same "
            "version on all computers"
        )
    errors = drawing.errors(first_run, runs)
    return pack(reduce_runs(drawing.time, errors, max(0, keep - first_run)), job, first_run)


MAX_RUNS = 100_000_000


@dataclass(frozen=True)
class Computers:
    """Processes that simulate the runs of an ensemble.

    Parameters
    ----------
    workers : int, optional
        Number of processes on this computer; 1 uses this process.
    scheduler : str, optional
        Address of a Dask scheduler whose workers are used instead of this computer. They need the
        same versions of this package and of the libraries in :func:`versions`.

    Raises
    ------
    ConfigurationError
        The number of workers is less than 1.
    """

    workers: int = 1
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ConfigurationError(f"workers is {self.workers}, expected at least 1")

    def choose_executor(self, tasks: int) -> Callable[..., Any]:
        """Return a function that runs tasks, with the interface of :func:`.run_here`.

        Parameters
        ----------
        tasks : int
            Number of tasks.

        Returns
        -------
        callable
        """
        if tasks == 0:
            return executors.run_here
        if self.scheduler is not None:
            return partial(executors.run_on_cluster, self.scheduler)
        workers = min(self.workers, tasks)
        if workers == 1:
            return executors.run_here
        return partial(executors.run_on_this_computer, workers)


THIS_PROCESS = Computers()


def monte_carlo(
    drawing: Drawing,
    runs: int,
    folder=None,
    *,
    computers: Computers = THIS_PROCESS,
    keep: int = STORED_RUNS,
    on_runs: Callable[[int], None] = lambda _: None,
    on_remark: Callable[[str], None] = lambda _: None,
) -> Reduction:
    """Simulate the runs of an ensemble and return their statistics.

    The result is identical, to the last bit, for any number of workers and after interruptions. An
    existing ensemble is extended if more runs are requested.

    Parameters
    ----------
    drawing : Drawing
        Source of yaw errors.
    runs : int
        Number of runs.
    folder : path, optional
        Folder of finished chunks. Without a folder, an interrupted job starts from the beginning.
    computers : Computers, optional
        Processes that simulate the runs; by default the current process.
    keep : int
        Number of runs, from the first one, whose yaw error over time is stored.
    on_runs : callable
        Function that is called with the number of runs in each finished chunk.
    on_remark : callable
        Function that is called with a message about each damaged chunk.

    Returns
    -------
    Reduction

    Raises
    ------
    EnsembleError
        The number of runs is out of range.
    ClusterError
        The workers do not respond or cannot run the tasks.
    ResultError
        The folder belongs to another ensemble, or cannot be used.
    """
    if not 1 <= runs <= MAX_RUNS:
        raise EnsembleError(
            f"{runs} runs were requested, but an ensemble must have 1 to {MAX_RUNS}"
        )
    if keep < 0:
        raise ConfigurationError(f"keep is {keep} runs, expected at least 0")
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
        execute = computers.choose_executor(len(tasks))
        for first, content in execute(draw_chunk, drawing, tasks):
            chunks.add(first, content)
            on_runs(chunks.size(first))
            drawn += chunks.size(first)
    except ClusterError as error:
        if folder is None or not drawn:
            raise
        raise ClusterError(
            f"{error}; {drawn} of {runs} runs are stored in {folder}; repeat the call to continue "
            "with the remaining runs"
        ) from error
    return merge_reductions(chunks.read(first) for first in chunks.firsts)


class _Chunks:
    """Chunks of a job, stored as files in a folder or in memory."""

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
                f"{chunks}: contains chunks, but {path}, which describes their ensemble, is "
                "missing; remove them or choose another folder"
            )
        else:
            write_whole(path, format_json({**job, "hash": self.job}).encode())

    def size(self, first) -> int:
        return min(self._chunk, self._runs - first)

    def _path(self, first) -> Path:
        assert self._folder is not None
        return self._folder / CHUNKS / f"runs_{first:09d}.chunk"

    def find(self, first, on_remark) -> bool:
        """Return whether a chunk exists and is intact; report a damaged chunk."""
        try:
            return self._load(first) is not None
        except DamagedChunkError as error:
            on_remark(f"{error}; its runs are simulated again")
            return False

    def add(self, first, content):
        if self._folder is None:
            self._contents[first] = content
        else:
            write_whole(self._path(first), content)

    def read(self, first) -> Reduction:
        part = self._load(first)
        if part is None:
            raise EnsembleError(f"{self._path(first)}: disappeared while runs were being simulated")
        return part

    def _load(self, first) -> Reduction | None:
        """Return a chunk, or None if it is missing or has a different number of runs."""
        if self._folder is None:
            content = self._contents.get(first)
            return None if content is None else unpack(content, self._time, self.job, first)
        path = self._path(first)
        try:
            with open_regular(path) as file:
                reduction = unpack(read_at_most(file, _MAX_CHUNK), self._time, self.job, first)
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
        stored_job = json.loads(read_settings(path))
        if not isinstance(stored_job, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise ResultError(
            f"{path}: does not describe the ensemble of the chunks in this folder; remove the "
            "folder or choose another one"
        ) from None
    requested_job = json.loads(format_json(job))
    stored_job.pop("hash", None)
    names = [
        key
        for key in dict.fromkeys([*requested_job, *stored_job])
        if stored_job.get(key) != requested_job.get(key)
    ]
    if names:
        raise ResultError(
            f"{path}: this folder belongs to another ensemble, which differs in "
            f"{' and '.join(names)}; choose another folder, or remove this one"
        )
