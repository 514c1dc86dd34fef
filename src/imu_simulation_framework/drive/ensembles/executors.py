"""Who does chunks of work: this process, others on this computer, or a cluster, through Dask.

Dask is loaded only where it is used. What happens to a worker is Dask's concern: the chunks of one
that has gone are given to others, and as a chunk's content does not depend on who made it, nothing
else is to be done.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import importlib.util
import itertools
import logging
import os
import pickle
import queue
import re
import socket
import tempfile
import time
from contextlib import contextmanager, suppress
from typing import Callable, Iterable, Iterator, Sequence, Tuple

from ...core.errors import ClusterError, ConfigurationError, FrameworkError, import_optional
from ...core.sentences import quote

Task = Tuple[int, tuple]
"""The number of a chunk, and the arguments of the function after what they have in common."""

ANSWER_WITHIN = 10.0  # a scheduler answers, and has a worker, within this [s]
PATIENCE = 30.0  # a job whose workers have all gone waits so long for others [s]

_ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
# Of malloc.h: from which size on a piece of memory is fetched by itself, and how much is kept.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_PIECE = 4_000_000  # bytes that go with one message
_FOR_WHAT = "drawing in several processes"
_AHEAD = 2
"""Tasks for each thread that wait, so that none is idle and no result has to wait for long."""


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def alone(work: Callable, common, tasks: Iterable[Task]) -> Iterator[tuple[int, bytes]]:
    """Do all tasks in this process, and give each result as it is there."""
    for number, arguments in tasks:
        yield number, work(common, *arguments)


def on_this_computer(
    workers: int, work: Callable, common, tasks: Sequence[Task]
) -> Iterator[tuple[int, bytes]]:
    """Do tasks in so many processes, and give each result as it is there.

    Raises ConfigurationError: dask is not installed. Raises ClusterError: the processes do not
    begin, or end one after the other.
    """
    distributed = import_optional("distributed", _FOR_WHAT)
    with tempfile.TemporaryDirectory() as scratch, _quiet():
        try:
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                local_directory=scratch,
                silence_logs=logging.CRITICAL,
            )
        except (OSError, RuntimeError, TimeoutError) as error:
            raise ClusterError(f"{workers} processes cannot be started: {error}") from error
        try:
            with distributed.Client(cluster, set_as_default=False) as client:
                yield from _through(distributed, client, work, common, tasks)
        finally:
            # On a busy machine processes may take longer to end than Dask waits for them.
            with suppress(TimeoutError, asyncio.TimeoutError):
                cluster.close()


def on_cluster(
    address: str, work: Callable, common, tasks: Sequence[Task]
) -> Iterator[tuple[int, bytes]]:
    """Do tasks on the workers of a Dask scheduler, and give each result as it is there.

    Raises ConfigurationError: dask is not installed. Raises ClusterError: the scheduler does not
    answer, has no worker, or one that cannot do this. ``address``: of the scheduler, as
    ``tcp://10.0.0.1:8786``.
    """
    distributed = import_optional("distributed", _FOR_WHAT)
    _require_listener(address)
    with _quiet():
        try:
            client = distributed.Client(address, timeout=ANSWER_WITHIN, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(
                f"what listens at {address} is no Dask scheduler, or does not answer within "
                f"{ANSWER_WITHIN:g} s"
            ) from error
        with client:
            try:
                client.wait_for_workers(1, timeout=ANSWER_WITHIN)
            except (OSError, TimeoutError) as error:
                raise ClusterError(
                    f"the Dask scheduler at {address} has no worker; start one with: dask worker "
                    f"{address}"
                ) from error
            _require_package(client, address)
            yield from _through(distributed, client, work, common, tasks)


def _require_listener(address):
    """Refuse an address that does not answer; Dask would wait for a long time, or for ever."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ConfigurationError(
            f"{quote(address)} is no address of a Dask scheduler, as tcp://10.0.0.1:8786"
        )
    host, port = found.group(1).strip("[]"), int(found.group(2))
    try:
        with socket.create_connection((host, port), ANSWER_WITHIN) as connection:
            # Dask greets whoever comes.
            if not address.startswith("tls") and not connection.recv(1):
                raise OSError("the connection is closed at once")
    except (OSError, OverflowError, UnicodeError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from error


def _through(distributed, client, work, common, tasks):
    # What all tasks have in common travels as the result of tasks, not as data that are lost with
    # the worker that has them.
    content = pickle.dumps(common, protocol=4)
    pieces = [
        client.submit(bytes, content[first : first + _PIECE], pure=False)
        for first in range(0, len(content), _PIECE)
    ]
    shared = client.submit(_whole, pieces, pure=False)
    waiting = iter(tasks)
    numbers: dict = {}
    finished: queue.Queue = queue.Queue()

    def begin(count):
        for number, arguments in itertools.islice(waiting, count):
            future = client.submit(_at_work, work, shared, *arguments, pure=False)
            numbers[future] = number
            future.add_done_callback(finished.put)

    try:
        begin(_AHEAD * max(1, _threads(client)))
        while numbers:
            future = _next(finished, client)
            number = numbers.pop(future)
            yield number, _result(distributed, future)
            future.release()
            # Workers may have come or gone meanwhile, but somebody will be there.
            begin(max(1, _AHEAD * _threads(client) - len(numbers)))
    finally:
        with suppress(Exception):
            client.cancel([*pieces, shared, *numbers])


def _next(finished, client):
    """Return the next future that is done, as long as there is somebody who may do it."""
    idle_since = None
    while True:
        try:
            return finished.get(timeout=2.0)
        except queue.Empty:
            if _threads(client) > 0:
                idle_since = None
                continue
            now = time.monotonic()
            idle_since = now if idle_since is None else idle_since
            if now - idle_since > PATIENCE:
                raise ClusterError(f"there has been no worker for {PATIENCE:g} s") from None


def _threads(client):
    try:
        found = client.sync(client.scheduler.ncores, callback_timeout=60.0)  # it may be busy
    except (OSError, RuntimeError, AttributeError, asyncio.TimeoutError) as error:
        raise ClusterError("the Dask scheduler does not answer any more") from error
    return sum(found.values())


def _require_package(client, address):
    """Refuse workers without this package, which could not even say so."""
    name = __name__.split(".")[0]
    # Dask can send a function of the standard library to anybody.
    for worker, found in client.run(importlib.util.find_spec, name).items():
        if found is None:
            raise ClusterError(
                f"the worker {worker} of {address} does not have the package {name}; install the "
                "same version on all computers"
            )


def _at_work(work, *arguments):
    _keep_memory()
    return work(*arguments)


@functools.lru_cache(maxsize=None)
def _keep_memory():
    """Let this worker keep the memory of arrays, instead of fetching it anew for each.

    Dask has its workers give memory back at once (MALLOC_TRIM_THRESHOLD_), and the system clears
    every page that it hands out: a sensor's run took twice as long. What is kept is bounded.
    """
    # Not every C library has it.
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 32 * 2**20)
        mallopt(_TRIM_THRESHOLD, 256 * 2**20)


def _whole(pieces):
    return pickle.loads(b"".join(pieces))


def _result(distributed, future):
    try:
        return future.result()
    except FrameworkError:
        raise
    except distributed.KilledWorker as error:
        why = f"workers have ended while they drew the same runs, one after the other: {error}"
        raise ClusterError(why) from error
    except ImportError as error:
        raise ClusterError(
            f"a worker does not have this package, or another version of it ({error}); install the "
            "same on all computers"
        ) from error
    except RuntimeError as error:
        if "deserialization of the task graph" not in str(error):
            raise
        raise ClusterError(
            "the Dask scheduler does not have this package, or another version of it; install the "
            "same on all computers"
        ) from error
    except (OSError, MemoryError, distributed.CancelledError) as error:
        why = f"the workers or their scheduler have given up ({type(error).__name__})"
        raise ClusterError(why) from error


@contextmanager
def _quiet():
    """Keep what Dask says of workers that come and go from the person's terminal."""
    names = ("distributed", "distributed.client", "distributed.core", "distributed.nanny",
             "distributed.scheduler", "distributed.comm", "asyncio", "tornado")  # fmt: skip
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before):
            logger.setLevel(level)
