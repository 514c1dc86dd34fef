"""Seed corpus: small valid sample files of every input format, with fixed content."""

from __future__ import annotations

import functools
import gzip
import json
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import drive_recordings
import h5py
import numpy as np
import pandas as pd
import recording_writers as writers
import table_writers as tables
from column_tables import Car
from format_files import GOOD as OTHER_FORMATS
from scipy import io
from synthetic_experiment import make_tables

from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.drive.report import write_results
from imu_simulation_framework.drive.results.files import create_result_folder
from imu_simulation_framework.drive.summary import RunDescription
from imu_simulation_framework.flight.airborne import truth_table
from imu_simulation_framework.motion.earth_motion import circling
from imu_simulation_framework.recordings.imu_writer import write_imu_recording
from imu_simulation_framework.sensors.files import read_imu_specification
from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.formats.registry import FORMATS, write_imu_parameters
from imu_simulation_framework.sensors.simulation import record_at_rest

DURATION, RATES = 20.0, (10.0, 25.0)
REFERENCE_ONLY, IMU_ONLY = ("reference",), ("imu",)


@dataclass(frozen=True)
class SampleFile:
    """Valid sample file that the fuzzer damages.

    Parameters
    ----------
    name : str
        Name of the file.
    content : bytes
        Content of the file.
    separator : str, optional
        Column separator, empty for a binary file.
    serves : tuple of str, optional
        Kinds of data in the recording: ``reference``, ``imu`` or both.
    """

    name: str
    content: bytes
    separator: str = ""
    data_kinds: tuple[str, ...] = ("reference", "imu")


def _make_sample_file(write, name, separator="", data_kinds=SampleFile.data_kinds):
    """Return a sample file that is written by a function."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        written = write(path) or path
        return SampleFile(name, Path(written).read_bytes(), separator, data_kinds)


def written_files(write, name) -> dict[str, bytes]:
    """Return the contents of the files that a function writes, by relative path."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        paths = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@functools.lru_cache(maxsize=None)
def recordings() -> tuple[SampleFile, ...]:
    """Return text recordings and bags of a drive with an IMU."""
    return (*_texts(), *_bags())


def recording(name) -> SampleFile:
    """Return the recording of the given name."""
    return next(sample_file for sample_file in recordings() if sample_file.name == name)


def samples(sample_file, kind) -> int:
    """Return the number of reference or IMU samples in a recording."""
    is_fast = kind == "imu" and (not sample_file.separator or sample_file.data_kinds == IMU_ONLY)
    return round(DURATION * RATES[is_fast])


def _drive():
    return drive_recordings.drive(duration=DURATION, rates=RATES)


@functools.lru_cache(maxsize=None)
def drive_topics() -> dict:
    """Return the messages of a bag by topic."""
    return drive_recordings.topics_of(*_drive())


def _texts():
    reference, imu = _drive()
    seconds, x, y = (reference.columns[name] for name in ("stamp", "x", "y"))
    yaw = drive_recordings.yaw_at(seconds - drive_recordings.START)
    package_columns = {"time": seconds, "x": x, "y": y, "yaw": yaw}
    inertial = {"time": imu.columns["stamp"], **imu.columns}
    del inertial["stamp"]
    driven = Car()
    car = {"t": np.arange(len(driven.speed)) / 50.0 + 1.6e9, "lat": driven.latitude}
    car.update(lon=driven.longitude, speed=driven.speed, heading=driven.azimuth)
    car = {name: column[::5][:200] for name, column in {**car, **driven.inertial(57.3)}.items()}
    stamps = np.round(seconds * 1e9).astype(np.int64).tolist()
    places = zip(stamps, 48.0 + y / 1.11e5, 11.0 + x / 7.4e4)
    positions = np.column_stack([x, y, 0.0 * x])
    poses = (stamps, positions, reference.matrix(drive_recordings.QUATERNION))

    def table(columns, separator=","):
        plain = {name: np.asarray(column).tolist() for name, column in columns.items()}
        return lambda path: writers.write_csv(path, plain, separator)

    def echoed(messages):
        return lambda path: writers.write_rostopic_csv(path, messages)

    fixes = [writers.fix(*place) for place in places]
    return (
        _make_sample_file(table(package_columns), "own.csv", ","),
        _make_sample_file(
            table({**package_columns, "time": seconds - seconds[0]}), "from_zero.csv", ","
        ),
        _make_sample_file(table(inertial), "imu.csv", ",", IMU_ONLY),
        _make_sample_file(table(car), "car.csv", ",", ()),
        _make_sample_file(table(car, ";"), "car_semicolon.csv", ";", ()),
        _make_sample_file(
            table({**car, "t": (1e9 * car["t"]).astype(np.int64)}), "car_ns.csv", ",", ()
        ),
        _make_sample_file(echoed(fixes), "fixes.csv", ",", REFERENCE_ONLY),
        _make_sample_file(echoed(drive_topics()["/imu"]), "echoed.csv", ",", IMU_ONLY),
        _make_sample_file(lambda path: writers.write_tum(path, *poses), "a.tum", " "),
    )


def _bags():
    topics = drive_topics()

    def db3(path, **options):
        folder = writers.write_ros2_bag(path.with_suffix(""), topics, **options)
        (file,) = [*Path(folder).glob("*.db3"), *Path(folder).glob("*.db3.zstd")]
        return file

    ros1 = {"drive": {}, "bz2": {"compression": "BZ2"}, "lz4": {"compression": "LZ4"}}
    ros1["small_chunks"] = {"chunk_size": 4096}
    return (
        *(
            _make_sample_file(
                functools.partial(writers.write_bag, topics=topics, **options), f"{name}.bag"
            )
            for name, options in ros1.items()
        ),
        _make_sample_file(db3, "drive.db3"),
        _make_sample_file(functools.partial(db3, compression="MESSAGE"), "packed.db3"),
        _make_sample_file(lambda path: writers.write_mcap(path, topics), "drive.mcap"),
        _make_sample_file(
            lambda path: writers.write_mcap(path, topics, chunked=False), "flat.mcap"
        ),
    )


@functools.lru_cache(maxsize=None)
def logs() -> tuple[SampleFile, ...]:
    """Return logs of autopilots, phones and GNSS receivers, and data files of other programs."""
    car = Car()
    rows = slice(0, 500, 2)
    times, force, rate = np.arange(250) / 25.0, car.forces[rows], car.rates[rows]
    us = np.rint(1e6 * times + 5e6).astype(np.int64)
    half = np.pi / 4.0 - car.yaw[rows] / 2.0
    north, east = (np.rint(1e7 * place[rows]) for place in (car.latitude, car.longitude))
    topics = {
        "sensor_combined": {
            "timestamp": ("uint64_t", us),
            "gyro_rad": ("float[3]", rate),
            "accelerometer_m_s2": ("float[3]", -force),
        },
        "vehicle_attitude": {
            "timestamp": ("uint64_t", us),
            "q": ("float[4]", np.column_stack([np.cos(half), 0 * half, 0 * half, np.sin(half)])),
        },
        "vehicle_gps_position": {
            "timestamp": ("uint64_t", us),
            "lat": ("int32_t", north),
            "lon": ("int32_t", east),
        },
    }
    vectors = dict(zip(("GyrX", "GyrY", "GyrZ", "AccX", "AccY", "AccZ"), (*rate.T, *-force.T)))
    places = {"Lat": north / 1e7, "Lng": east / 1e7}
    messages = {
        "IMU": ("QBffffff", {"TimeUS": us, "I": 0 * us, **vectors}),
        "ATT": ("QccC", {"TimeUS": us, "Roll": 0 * us, "Pitch": 0 * us, "Yaw": times}),
        "GPS": ("QBLL", {"TimeUS": us, "Status": 0 * us + 3, **places}),
    }
    stamps = (1e9 * times).astype(np.int64) + 17 * 10**17
    sensors = {
        "Gyroscope": {"time": stamps, **dict(zip("xyz", rate.T))},
        "TotalAcceleration": {"time": stamps + 10**6, **dict(zip("xyz", force.T))},
        "Location": {"time": stamps, "latitude": north / 1e7, "longitude": east / 1e7},
    }
    plain = {"t": times, "lat": north / 1e7, "lon": east / 1e7, "gyro": rate, "acc": force}
    columns = {"t": times, **dict(zip(("wx", "wy", "wz", "ax", "ay", "az"), (*rate.T, *force.T)))}
    lines = [
        tables.sentence("VNYMR,1,2,3,0.1,0,0.4," + ",".join(f"{number:+.6f}" for number in row))
        for row in np.column_stack([-force, rate])
    ]
    clocks = [f"1000{time:06.3f}" for time in times]
    lines += [tables.sentence(f"GNGGA,{c},4807.0,N,01131.0,E,1,8,0.9,5,M,46,M,,") for c in clocks]
    words = [f"t: {t:.2f} s, gx={row[0]:.4f} gz={row[2]:.4f}" for t, row in zip(times, rate)]
    echoed = [f"t: {t}\ngyro:\n  z: {row[2]}\n" for t, row in zip(times, rate)]
    sensed = [
        tables.novatel("CORRIMUDATA", 2000, t, (2000, t, *rate_row, *force_row), short=True)
        for t, rate_row, force_row in zip(times, 0.01 * rate, 0.01 * force)
    ]
    samples = [json.dumps({"t": t, "gyro": g}) for t, g in zip(times.tolist(), rate.tolist())]
    contents = {
        "drive.ulg": tables.ulog(topics),
        "drive.bin": tables.binary_log(messages),
        "drive.log": tables.text_log(messages).encode(),
        "drive.nmea": "\n".join(lines).encode(),
        "words.txt": "\n".join(words).encode(),
        "echoed.txt": "---\n".join(echoed).encode(),
        "drive.asc": "\n".join(sensed).encode(),
        "drive.jsonl": "\n".join(samples).encode(),
    }
    return (
        *(SampleFile(name, content) for name, content in contents.items()),
        _make_sample_file(functools.partial(tables.write_zip, tables=sensors), "drive.zip"),
        _make_sample_file(
            lambda path: tables.write_xlsx(path, [columns, *zip(*columns.values())]), "a.xlsx"
        ),
        _make_sample_file(lambda path: io.savemat(path, plain), "a.mat"),
        _make_sample_file(functools.partial(_write_hdf5, columns=plain), "a.h5"),
        _make_sample_file(lambda path: pd.DataFrame(columns).to_parquet(path), "a.parquet"),
    )


def _write_hdf5(path, columns):
    with h5py.File(path, "w") as file:
        for name, values in columns.items():
            file[name] = values


@functools.lru_cache(maxsize=None)
def recordings_at_rest() -> tuple[SampleFile, ...]:
    """Return recordings of a stationary IMU."""
    specification = read_imu_specification("bno055")

    def make(name, kind, separator=""):
        blocks = record_at_rest(specification, 2000, 25.0, 1)
        covariances = specification.covariances(0.04, 80.0)
        return _make_sample_file(
            lambda path: write_imu_recording(path, blocks, covariances, kind), name, separator
        )

    return (
        make("rest.csv", "csv", ","),
        make("rest_echoed.csv", "rostopic_csv", ","),
        make("rest.bag", "bag"),
    )


@functools.lru_cache(maxsize=None)
def parameters() -> tuple[tuple[str, SampleFile], ...]:
    """Return IMU parameter files with the names of their formats."""
    specification = read_imu_specification("bno055")
    files = []
    for name, kind in FORMATS.items():
        if kind.write is None:
            text = OTHER_FORMATS[name]
        else:
            time = 100.0 if "random_walk_time" in kind.options else None
            text = write_imu_parameters(specification, name, 100.0, WriteOptions(time)).text
        files.append((name, SampleFile(f"{name}.txt", text.encode())))
    files += [
        ("specification", SampleFile(path.name, path.read_bytes()))
        for path in sorted((package_share() / "config" / "imus").glob("*.yaml"))
    ]
    return tuple(files)


CONFIGURATION = (package_share() / "config.ini").read_text()
ROBOT = (package_share() / "urdf" / "robot.yaml").read_text()
# IMU correction in the format of calibrate_imu.py.
CORRECTION = """\
name: mine
gyroscope:
  bias: [0.0021, -0.0008, 0.0004]  # rad/s
  bias_sigma: [2.0e-05, 2.0e-05, 2.0e-05]  # rad/s
  scale_factor_and_misalignment: [[0.004, 0.0, 0.001], [0.0, -0.002, 0.0], [0.0, 0.0, 0.001]]
  scale_factor_and_misalignment_sigma: [[0.001, 0.0, 0.0], [0.0, 0.001, 0.0], [0.0, 0.0, 0.001]]
  temperature_bias: [[1.0e-05, 0.0, 2.0e-05], [1.0e-07, 0.0, 0.0]]  # rad/s/K, rad/s/K^2, ...
  temperature_scale_factor: [[1.0e-05, 0.0, 0.0]]  # 1/K, 1/K^2, ...
  temperature_reference: 25.0  # degC
  temperature_range: [-10.0, 60.0]  # degC
magnetometer:
  bias: [2.0e-05, 1.0e-06, -3.0e-05]  # T
"""


GIMBALS = (
    """\
pan_to_tilt: [0.0, 0.0, -0.1]  # m
tilt_to_roll: [0.1, 0.0, 0.0]  # m
sinusoid: {amplitudes: [0.52, 0.52, 0.26], periods: [4.0, 6.0, 10.0]}  # rad, s
limits: {pan: [-3.1, 3.1], tilt: [-0.6, 0.6], roll: [-0.6, 0.6]}  # rad
""",
    """\
stabilisation:
  hold: {roll: 0.0, pitch: 0.05}  # rad
  bandwidth: 3.0  # Hz
  servo_bandwidth: 20.0  # Hz
  rate_limits: [2.0, 2.0, 2.0]  # rad/s
limits: {pan: [-3.1, 3.1], tilt: [-0.6, 0.6], roll: [-0.6, 0.6]}  # rad
""",
    "table: joints.csv\n",
)
# Time [s] and joint angles [rad] of a gimbal.
JOINTS = "time,pan,tilt,roll\n" + "".join(
    f"{0.5 * k},{0.1 * (k % 3)},{-0.05 * (k % 5)},{0.02 * k}\n" for k in range(20)
)


@functools.lru_cache(maxsize=None)
def flight() -> SampleFile:
    """Return a recorded flight: a turn of six seconds."""
    table = truth_table(circling(6.0, latitude=47.0, longitude=8.5, height=500.0, rate=20.0))
    return SampleFile("flight.csv", table.to_csv().encode(), ",", ())


@functools.lru_cache(maxsize=None)
def result() -> tuple[SampleFile, ...]:
    """Return the result files of an experiment except the figures."""
    with tempfile.TemporaryDirectory() as output:
        folder = create_result_folder(output, "drive", "ideal", datetime(2019, 5, 16, 17, 42))
        description = RunDescription({"seed": 5}, {"wall_time_s": 1.0}, {"imu_simulated": 3001})
        write_results(folder, make_tables(12.0), None, description)
        return tuple(
            SampleFile(path.name, path.read_bytes(), "," if path.suffix == ".csv" else "")
            for path in sorted(folder.folder.iterdir())
            if path.suffix != ".png"
        )


@functools.lru_cache(maxsize=None)
def ros2_folder(mcap=False) -> tuple[SampleFile, ...]:
    """Return the files of a ROS 2 bag folder."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(writers.write_ros2_bag(Path(place) / "drive", drive_topics()))
        if mcap:
            (folder / "drive.db3").unlink()
            writers.write_mcap(folder / "drive.mcap", drive_topics())
            metadata = (folder / "metadata.yaml").read_text()
            metadata = metadata.replace("drive.db3", "drive.mcap").replace("sqlite3", "mcap")
            (folder / "metadata.yaml").write_text(metadata)
        return tuple(SampleFile(path.name, path.read_bytes()) for path in sorted(folder.iterdir()))


@functools.lru_cache(maxsize=None)
def packed(sample_file) -> SampleFile:
    """Return a sample file, compressed with gzip."""
    return SampleFile(f"{sample_file.name}.gz", gzip.compress(sample_file.content, mtime=0))
