"""Ensembles on several processes: the same numbers, whoever drew them and whoever was lost."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ClusterError, ConfigurationError
from imu_simulation_framework.drive.ensembles import executors
from imu_simulation_framework.drive.ensembles.monte_carlo import draw_chunk, monte_carlo, versions
from imu_simulation_framework.drive.ensembles.samplers import LinearDrawing, SensorDrawing
from imu_simulation_framework.motion import sources

pytest.importorskip("distributed")

SOURCE = Path(__file__).resolve().parents[3] / "src"
GYROSCOPE = isf.TriadSpecification(white_noise=(1e-4,) * 3, random_walk=(1e-5,) * 3)
SENSOR = isf.ImuSpecification(name="sensor", gyroscope=GYROSCOPE)
RUNS = 150


def sensor(seconds=30.0):
    return SensorDrawing(sources.straight(seconds), SENSOR, chunk=8)


def equal(one, other):
    return all(np.array_equal(one.arrays()[key], other.arrays()[key]) for key in one.arrays())


@pytest.fixture
def free_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    return f"tcp://127.0.0.1:{port}"


@pytest.fixture
def start(tmp_path):
    """Start a program of Dask as a process of its own."""
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
    until = time.monotonic() + 60.0
    while True:
        try:
            socket.create_connection(("127.0.0.1", int(port)), 1.0).close()
            return process, free_address
        except OSError:
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.1)


def worker(start, address, **options):
    return start(
        "dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard", **options
    )


@pytest.mark.gate
def test_processes_of_this_computer_give_the_same_numbers():
    drawing = sensor()
    alone = monte_carlo(drawing, RUNS)
    assert equal(monte_carlo(drawing, RUNS, workers=2), alone)
    linear = LinearDrawing(isf.yaw_error_model(SENSOR, drawing.motion), chunk=256)
    assert equal(monte_carlo(linear, 1000, workers=3), monte_carlo(linear, 1000))


@pytest.mark.gate
def test_a_worker_killed_in_the_middle_changes_nothing(start, scheduler, tmp_path):
    _, address = scheduler
    workers = [worker(start, address), worker(start, address)]
    drawing, finished = sensor(), []

    def kill_one(runs):
        finished.append(runs)
        if len(finished) == 4:
            workers[0].kill()
            workers[0].wait()

    ensemble = monte_carlo(drawing, RUNS, tmp_path / "job", scheduler=address, on_runs=kill_one)
    assert len(finished) == 19 and workers[0].poll() == -signal.SIGKILL
    assert workers[1].poll() is None
    assert equal(ensemble, monte_carlo(drawing, RUNS))


@pytest.mark.gate
def test_a_scheduler_killed_in_the_middle_is_said(start, scheduler, tmp_path):
    process, address = scheduler
    worker(start, address)
    with pytest.raises(ClusterError, match=f"are kept in {tmp_path / 'job'}"):
        monte_carlo(sensor(), RUNS, tmp_path / "job", scheduler=address,
                    on_runs=lambda _: process.kill())  # fmt: skip
    assert list((tmp_path / "job" / "chunks").iterdir())


@pytest.mark.gate
def test_a_scheduler_without_workers_or_that_is_stopped_is_said(scheduler, monkeypatch):
    monkeypatch.setattr(executors, "ANSWER_WITHIN", 2.0)
    process, address = scheduler
    with pytest.raises(ClusterError, match="has no worker"):
        monte_carlo(sensor(), 5, scheduler=address)
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(ClusterError, match="no Dask scheduler answers"):
        monte_carlo(sensor(), 5, scheduler=address)


@pytest.mark.gate
def test_a_worker_without_the_package_is_named(start, scheduler):
    _, address = scheduler
    worker(start, address, package=False)
    with pytest.raises(ClusterError, match="does not have the package imu_simulation_framework"):
        monte_carlo(sensor(), 5, scheduler=address)


def test_a_scheduler_that_is_not_there_is_said(free_address):
    with pytest.raises(ClusterError, match="no Dask scheduler answers"):
        monte_carlo(sensor(), 5, scheduler=free_address)


@pytest.mark.parametrize("address", ["", "somewhere", "tcp://:1", "http://a:1/", "a b:3"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ConfigurationError, match="no address"):
        monte_carlo(sensor(), 5, scheduler=address)


def test_other_versions_of_a_library_are_refused():
    with pytest.raises(ClusterError, match=r"numpy .* but 1\.0 is needed"):
        draw_chunk(sensor(), "", 0, 2, 0, {**versions(), "numpy": "1.0"})
