"""Ensembles computed by several processes, with results independent of the process count."""

import os
import pickle
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE, wait_until
from reservations import reserved_port

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ClusterError, ConfigurationError
from imu_simulation_framework.drive.ensembles import executors
from imu_simulation_framework.drive.ensembles.monte_carlo import (
    Computers,
    draw_chunk,
    monte_carlo,
    versions,
)
from imu_simulation_framework.drive.ensembles.samplers import LinearDrawing, SensorDrawing
from imu_simulation_framework.motion import sources
from imu_simulation_framework.ros1.launching.guardian import is_stopped

distributed = pytest.importorskip("distributed")

SOURCE = Path(__file__).resolve().parents[3] / "src"
GYROSCOPE = isf.TriadSpecification(white_noise=(1e-4,) * 3, random_walk=(1e-5,) * 3)
SENSOR = isf.ImuSpecification(name="sensor", gyroscope=GYROSCOPE)
RUNS = 150


def sensor(seconds=30.0):
    return SensorDrawing(sources.straight(seconds), SENSOR, chunk=8)


def equal(ensemble, other):
    arrays = ensemble.arrays()
    return all(np.array_equal(arrays[key], other.arrays()[key]) for key in arrays)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Set generous time limits for slow machines; the tests of timeouts set shorter ones."""
    monkeypatch.setattr(executors, "ANSWER_WITHIN", PATIENCE)
    monkeypatch.setattr(executors, "PATIENCE", PATIENCE)


@pytest.fixture
def free_address():
    with reserved_port() as port:
        yield f"tcp://127.0.0.1:{port}"


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a Dask program as a separate process."""
    processes = []

    def start(program, *arguments, package=True):
        environment = {**os.environ, "PYTHONPATH": str(SOURCE) if package else ""}
        log = open(tmp_path / f"{len(processes)}.log", "wb")  # noqa: SIM115 - ends with the process
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        process = subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT
        )
        log.close()
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(start, free_address):
    port = free_address.rpartition(":")[2]
    process = start("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    wait_until(lambda: process.poll() is not None or _listens(int(port)), "scheduler of Dask")
    assert process.poll() is None
    return process, free_address


def _listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
    except OSError:
        return False
    return True


def worker(start, address, **options):
    return start(
        "dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard", **options
    )


@pytest.mark.gate
def test_local_processes_return_same_results_as_serial_run():
    drawing = sensor()
    assert equal(monte_carlo(drawing, RUNS, computers=Computers(2)), monte_carlo(drawing, RUNS))


def test_linear_sampler_in_another_process_returns_same_results():
    linear = LinearDrawing(isf.yaw_error_model(SENSOR, sensor().motion), chunk=256)
    received = pickle.loads(pickle.dumps(linear))
    assert equal(monte_carlo(received, 1000), monte_carlo(linear, 1000))


@pytest.mark.gate
def test_killed_worker_does_not_change_result_and_killed_scheduler_is_reported(
    start, scheduler, tmp_path
):
    process, address = scheduler
    workers = [worker(start, address), worker(start, address)]
    drawing, finished = sensor(), []

    def kill_worker(runs):
        finished.append(runs)
        if len(finished) == 4:
            workers[0].kill()
            workers[0].wait()

    ensemble = monte_carlo(
        drawing, RUNS, tmp_path / "job", computers=Computers(scheduler=address), on_runs=kill_worker
    )
    assert len(finished) == 19 and workers[0].poll() == -signal.SIGKILL
    assert workers[1].poll() is None
    assert equal(ensemble, monte_carlo(drawing, RUNS))
    kept = tmp_path / "another"
    with pytest.raises(ClusterError, match=f"are stored in {kept}"):
        monte_carlo(
            drawing,
            RUNS,
            kept,
            computers=Computers(scheduler=address),
            on_runs=lambda _: process.kill(),
        )
    assert list((kept / "chunks").iterdir())


@pytest.mark.gate
def test_scheduler_without_response_or_usable_worker_is_reported(start, scheduler, monkeypatch):
    process, address = scheduler
    wait_for_workers = distributed.Client.wait_for_workers

    def wait_briefly(client, count, **_):
        wait_for_workers(client, count, timeout=1.0)

    with monkeypatch.context() as patched:
        patched.setattr(distributed.Client, "wait_for_workers", wait_briefly)
        with pytest.raises(ClusterError, match="has no worker"):
            monte_carlo(sensor(), 5, computers=Computers(scheduler=address))
    worker(start, address, package=False)
    with pytest.raises(ClusterError, match="does not have the package imu_simulation_framework"):
        monte_carlo(sensor(), 5, computers=Computers(scheduler=address))
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: is_stopped(process.pid), "scheduler that is stopped")
    monkeypatch.setattr(executors, "ANSWER_WITHIN", 1.0)
    with pytest.raises(ClusterError, match="no Dask scheduler responds"):
        monte_carlo(sensor(), 5, computers=Computers(scheduler=address))


def test_unreachable_scheduler_is_reported(free_address):
    with pytest.raises(ClusterError, match="no Dask scheduler responds"):
        monte_carlo(sensor(), 5, computers=Computers(scheduler=free_address))


@pytest.mark.parametrize("address", ["", "somewhere", "tcp://:1", "http://a:1/", "a b:3"])
def test_malformed_scheduler_address_is_rejected(address):
    with pytest.raises(ConfigurationError, match="not the address"):
        monte_carlo(sensor(), 5, computers=Computers(scheduler=address))


def test_worker_with_different_library_version_is_rejected():
    with pytest.raises(ClusterError, match=r"numpy .* but 1\.0 is needed"):
        draw_chunk(sensor(), "", 0, 2, 0, {**versions(), "numpy": "1.0"})
