"""Execution of tasks in this process, in several local processes or on a Dask cluster.

Dask is imported only if it is used. If a worker exits, Dask reassigns its tasks to other workers.
The result of a task does not depend on the worker.
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
"""Task: chunk number, and the function arguments that follow the common first argument."""

ANSWER_WITHIN = 10.0  # s; timeout for the response and for the first worker of a scheduler
PATIENCE = 30.0  # s; timeout for new workers after all workers have exited

_ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
# Constants of malloc.h: M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_MAX_MESSAGE_BYTES = 4_000_000  # maximum number of bytes per message
_PURPOSE = "drawing in several processes"
# Submitted tasks per thread: enough that no thread is idle, few enough that results do not queue.
_TASKS_PER_THREAD = 2


def processors() -> int:
    """Return the number of processors that this process may use.

    Returns
    -------
    int
        Number of processors in the affinity mask of the process.
    """
    return len(os.sched_getaffinity(0))


def run_here(work: Callable, common, tasks: Iterable[Task]) -> Iterator[tuple[int, bytes]]:
    """Run all tasks in this process.

    Parameters
    ----------
    work : callable
        Function of ``common`` and the arguments of a task.
    common : object
        First argument for all tasks.
    tasks : iterable of Task
        Numbers and arguments of the calls.

    Yields
    ------
    tuple of int and bytes
        Number and result of each task.
    """
    for number, arguments in tasks:
        yield number, work(common, *arguments)


def run_on_this_computer(
    workers: int, work: Callable, common, tasks: Sequence[Task]
) -> Iterator[tuple[int, bytes]]:
    """Run tasks in several local processes.

    Parameters
    ----------
    workers : int
        Number of processes.
    work : callable
        Function of ``common`` and the arguments of a task.
    common : object
        First argument for all tasks.
    tasks : sequence of Task
        Numbers and arguments of the calls.

    Yields
    ------
    tuple of int and bytes
        Number and result of each finished task.

    Raises
    ------
    ConfigurationError
        Dask is not installed.
    ClusterError
        The processes cannot be started, or exit repeatedly.
    """
    distributed = import_optional("distributed", _PURPOSE)
    with tempfile.TemporaryDirectory() as scratch, _silent_log():
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
                yield from _submit(distributed, client, work, common, tasks)
        finally:
            # On a busy machine, closing the processes may exceed Dask's timeout.
            with suppress(TimeoutError, asyncio.TimeoutError):
                cluster.close()


def run_on_cluster(
    address: str, work: Callable, common, tasks: Sequence[Task]
) -> Iterator[tuple[int, bytes]]:
    """Run tasks on the workers of a Dask scheduler; see :func:`run_on_this_computer`.

    Parameters
    ----------
    address : str
        Address of the scheduler, for example ``tcp://10.0.0.1:8786``.
    work : callable
        Function of ``common`` and the arguments of a task.
    common : object
        First argument for all tasks.
    tasks : sequence of Task
        Numbers and arguments of the calls.

    Yields
    ------
    tuple of int and bytes
        Number and result of each finished task.

    Raises
    ------
    ConfigurationError
        Dask is not installed.
    ClusterError
        The scheduler does not respond, has no worker, or has a worker without this package.
    """
    distributed = import_optional("distributed", _PURPOSE)
    _require_listener(address)
    with _silent_log():
        try:
            client = distributed.Client(address, timeout=ANSWER_WITHIN, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(
                f"the program that listens at {address} is not a Dask scheduler, or does not "
                f"respond within {ANSWER_WITHIN:g} s"
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
            yield from _submit(distributed, client, work, common, tasks)


def _require_listener(address):
    """Reject an address that does not respond, for which Dask would wait very long."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ConfigurationError(
            f"{quote(address)} is not the address of a Dask scheduler, expected for example tcp://10.0.0.1:8786"
        )
    host, port = match.group(1).strip("[]"), int(match.group(2))
    try:
        with socket.create_connection((host, port), ANSWER_WITHIN) as connection:
            # After a connection is opened, the Dask scheduler sends the first message.
            if not address.startswith("tls") and not connection.recv(1):
                raise OSError("the connection was closed immediately")
    except (OSError, OverflowError, UnicodeError) as error:
        raise ClusterError(f"no Dask scheduler responds at {address}: {error}") from error


def _submit(distributed, client, work, common, tasks):
    # The common argument is sent as the result of a task, because Dask recomputes lost results.
    content = pickle.dumps(common, protocol=4)
    pieces = [
        client.submit(bytes, content[first : first + _MAX_MESSAGE_BYTES], pure=False)
        for first in range(0, len(content), _MAX_MESSAGE_BYTES)
    ]
    shared = client.submit(_join, pieces, pure=False)
    waiting = iter(tasks)
    numbers: dict = {}
    finished: queue.Queue = queue.Queue()

    def begin(count):
        for number, arguments in itertools.islice(waiting, count):
            future = client.submit(_run_task, work, shared, *arguments, pure=False)
            numbers[future] = number
            future.add_done_callback(finished.put)

    try:
        begin(_TASKS_PER_THREAD * max(1, _threads(client)))
        while numbers:
            future = _next(finished, client)
            number = numbers.pop(future)
            yield number, _result(distributed, future)
            future.release()
            # The number of workers may have changed, but at least one task must be submitted.
            begin(max(1, _TASKS_PER_THREAD * _threads(client) - len(numbers)))
    finally:
        with suppress(Exception):
            client.cancel([*pieces, shared, *numbers])


def _next(finished, client):
    """Return the next finished future; raise an error if all workers have exited."""
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
                raise ClusterError(f"no worker was available for {PATIENCE:g} s") from None


def _threads(client):
    try:
        # The long timeout allows for a busy scheduler.
        threads = client.sync(client.scheduler.ncores, callback_timeout=60.0)
    except (OSError, RuntimeError, AttributeError, asyncio.TimeoutError) as error:
        raise ClusterError("the Dask scheduler has stopped responding") from error
    return sum(threads.values())


def _require_package(client, address):
    """Reject workers without this package, which would otherwise raise obscure errors."""
    name = __name__.split(".")[0]
    # A worker without this package can still run a function of the standard library.
    for worker, specification in client.run(importlib.util.find_spec, name).items():
        if specification is None:
            raise ClusterError(
                f"the worker {worker} at {address} does not have the package {name}; install the "
                "same version on all computers"
            )


def _run_task(work, *arguments):
    _keep_memory()
    return work(*arguments)


@functools.lru_cache(maxsize=None)
def _keep_memory():
    """Configure malloc to retain freed memory in this worker process, up to a limit.

    Dask sets MALLOC_TRIM_THRESHOLD_ so that workers return freed memory to the system immediately.
    The system then clears each newly allocated page, which doubles the run time of the simulation.
    """
    # Some C libraries do not provide mallopt.
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 32 * 2**20)
        mallopt(_TRIM_THRESHOLD, 256 * 2**20)


def _join(pieces):
    return pickle.loads(b"".join(pieces))


def _result(distributed, future):
    try:
        return future.result()
    except FrameworkError:
        raise
    except distributed.KilledWorker as error:
        message = f"several workers exited while simulating the same runs: {error}"
        raise ClusterError(message) from error
    except ImportError as error:
        raise ClusterError(
            f"a worker does not have this package, or has a different version ({error}); install "
            "the same version on all computers"
        ) from error
    except RuntimeError as error:
        if "deserialization of the task graph" not in str(error):
            raise
        raise ClusterError(
            "the Dask scheduler does not have this package, or has a different version; install "
            "the same version on all computers"
        ) from error
    except (OSError, MemoryError, distributed.CancelledError) as error:
        message = f"the workers or their scheduler failed ({type(error).__name__})"
        raise ClusterError(message) from error


@contextmanager
def _silent_log():
    """Silence the log output of Dask's workers."""
    names = ("distributed", "distributed.client", "distributed.core", "distributed.nanny",
             "distributed.scheduler", "distributed.comm", "asyncio", "tornado")  # fmt: skip
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
