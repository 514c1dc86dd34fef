"""Tables in workbooks, Parquet, JSON, HDF5 and MATLAB files."""

import functools
import json
import sys

import h5py
import numpy as np
import pandas as pd
import pyarrow
import pytest
from column_tables import TIME, assert_inertial
from pyarrow import parquet
from refusals import refusal
from scipy import io
from table_writers import as_mat_7_3, write_xlsx

from imu_simulation_framework.core.errors import MissingLibraryError, RecordingError
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.reading import read_imu

NAMES = (
    "time_s",
    "angular_velocity_x",
    "angular_velocity_y",
    "angular_velocity_z",
    "acc_x",
    "acc_y",
    "acc_z",
)


def columns_of(car):
    return dict(zip(NAMES, [TIME, *car.rates.T, *car.forces.T]))


def xlsx(path, car):
    return write_xlsx(path, [NAMES, *zip(*columns_of(car).values())])


def xlsx_with_units(path, car):
    names = ("Time", *NAMES[1:])
    units = ("ms", *["rad/s"] * 3, *["m/s^2"] * 3)
    rows = np.column_stack(list(columns_of(car).values())) * [1000.0, *[1.0] * 6]
    return write_xlsx(path, [names, units, *rows])


def parquet_of_columns(path, car):
    parquet.write_table(pyarrow.table(columns_of(car)), path)
    return path


def parquet_of_structs_with_an_index(path, car):
    vectors = {
        name: pyarrow.StructArray.from_arrays([pyarrow.array(v) for v in values.T], list("xyz"))
        for name, values in (("angular_velocity", car.rates), ("acc", car.forces))
    }
    stamps = pyarrow.array(np.rint(1e9 * TIME).astype(np.int64)).cast(pyarrow.timestamp("ns"))
    table = {"header": pyarrow.array(["imu"] * len(TIME)), **vectors, "stamp": stamps}
    parquet.write_table(pyarrow.table(table), path)
    return path


def json_lines(path, car, written=json.dumps):
    lines = (
        {"t": time, "angular_velocity": dict(zip("xyz", rate)), "acc": list(force), "frame": "imu"}
        for time, rate, force in zip(TIME.tolist(), car.rates.tolist(), car.forces.tolist())
    )
    path.write_text("".join(f"{written(line)}\n" for line in lines))
    return path


def json_of_sensors(path, car):
    """Write JSON as Sensor Logger does: numbers as text, all sensors in one array."""
    samples = [
        {
            "sensor": name,
            "time": f"{round(1e9 * time)}",
            "seconds_elapsed": repr(time - 1.7e9),
            **dict(zip("xyz", map(repr, values))),
        }
        for name, rows in (("Gyroscope", car.rates), ("TotalAcceleration", car.forces))
        for time, values in zip(TIME + 1.7e9, rows.tolist())
    ]
    path.write_text(json.dumps(samples, indent=1))
    return path


def mat(path, car):
    io.savemat(
        path, {"t": TIME[:, None], "angular_velocity": car.rates, "acc": car.forces.T, "rate": 50.0}
    )
    return path


def mat_of_structs(path, car):
    clock = {"time": TIME}
    structs = {
        "angular_velocity": {**clock, "xyz": car.rates},
        "Accelerometer": {**clock, "xyz": car.forces},
    }
    io.savemat(path, {"data": structs, "info": "a drive"}, do_compression=True)
    return path


def mat_of_labelled_matrices(path, car):
    """Write a log as ArduPilot's ground station does, with axes forward-right-down."""
    names = ["LineNo", "TimeUS", *(f"{kind}{axis}" for kind in ("Gyr", "Acc") for axis in "XYZ")]
    vectors = [[1.0, -1.0, -1.0] * car.rates, [1.0, -1.0, -1.0] * car.forces]
    rows = np.column_stack([np.arange(len(TIME)), np.rint(1e6 * TIME), *vectors])
    io.savemat(path, {"IMU": rows, "IMU_label": np.array(names, dtype=object)[:, None]})
    return path


def mat_of_structs_beside_their_time(path, car):
    io.savemat(
        path, {"t": TIME, "imu": {"angular_velocity": car.rates, "acc": car.forces}, "rate": 50.0}
    )
    return path


def numpy_arrays(path, car):
    np.savez(path, t=TIME, angular_velocity=car.rates, acc=car.forces)
    return path


def json_of_columns(path, car):
    """Write a multi-line JSON object with one list per column."""
    vectors = {
        "angular_velocity": car.rates.tolist(),
        "acc": dict(zip("xyz", car.forces.T.tolist())),
    }
    path.write_text(json.dumps({"device": "a", "data": {"t": TIME.tolist(), **vectors}}, indent=1))
    return path


def json_of_a_camera(path, car):
    """Write camera telemetry as exported, with separate names of vector components."""
    streams = {
        key: {
            "samples": [
                {"value": [z, x, y], "cts": 1e3 * time, "date": f"1970-01-01T00:00:{time:06.3f}Z"}
                for time, (x, y, z) in zip(TIME, values.tolist())
            ],
            "name": f"{name} (z,x,y)",
            "units": unit,
        }
        for key, name, unit, values in (
            ("ACCL", "Accelerometer", "m/s2", car.forces),
            ("GYRO", "Gyroscope", "rad/s", car.rates),
        )
    }
    path.write_text(json.dumps({"1": {"streams": streams, "device name": "Camera"}}))
    return path


def mat_7_3(path, car):
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("imu/t", data=TIME[None, :])
        file.create_dataset("imu/angular_velocity", data=car.rates.T)
        file.create_dataset("imu/acc", data=car.forces.T)
        file.create_dataset("name", data=np.frombuffer(b"drive", np.uint8))
    return as_mat_7_3(path)


def hdf5(path, car):
    table = np.zeros(len(TIME), [(name, "f8") for name in NAMES])
    for name, values in columns_of(car).items():
        table[name] = values
    with h5py.File(path, "w") as file:
        file.create_dataset("imu", data=table, compression="gzip")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/imu")
    return path


WRITERS = {
    "a.xlsx": xlsx,
    "units.xlsx": xlsx_with_units,
    "a.parquet": parquet_of_columns,
    "structs.parquet": parquet_of_structs_with_an_index,
    "a.jsonl": json_lines,
    "printed.jsonl": functools.partial(json_lines, written=repr),
    "sensors.json": json_of_sensors,
    "a.mat": mat,
    "structs.mat": mat_of_structs,
    "beside.mat": mat_of_structs_beside_their_time,
    "labelled.mat": mat_of_labelled_matrices,
    "new.mat": mat_7_3,
    "a.npz": numpy_arrays,
    "columns.json": json_of_columns,
    "camera.json": json_of_a_camera,
    "a.h5": hdf5,
}


@pytest.mark.parametrize("name", WRITERS)
def test_same_content_yields_same_table_in_every_file_format(car, tmp_path, name):
    table = read_imu(WRITERS[name](tmp_path / name, car)).table
    start = 1.7e9 if name == "sensors.json" else 0.0
    # Times of 1.7e9 s have a resolution of 2.4e-7 s.
    assert table.index.to_numpy() - start == pytest.approx(TIME, abs=3e-7 if start else 1e-12)
    assert_inertial(table, car, tolerance=1e-14)


@pytest.mark.parametrize("name", WRITERS)
def test_truncated_file_is_rejected_with_one_line_message(car, tmp_path, name):
    path = WRITERS[name](tmp_path / name, car)
    content = path.read_bytes()
    for size in (len(content) // 2, len(content) - 9):
        path.write_bytes(content[:size])
        if name.endswith(".jsonl") and content[size - 1 :][:1] == b"\n":
            continue
        refusal(find_column_maps, path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"t": 1}\n{"t": 2\n', "line 2 is not valid JSON .*, expected one object per line"),
        ("{'t': 1}\n{'t': array([2])}\n", "line 2 is not valid JSON"),
        ("{'t': " * 5_000, "line 1 is not valid JSON"),
        ('[{"t": 1}, 3]', "sample 2 is not an object"),
        ('{"t":' * 100_000, "not valid JSON|has .* characters"),
    ],
)
def test_json_without_recording_is_rejected(tmp_path, content, message):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(RecordingError, match=message):
        find_column_maps(path)


def test_matlab_objects_are_rejected_with_remedy(tmp_path):
    path = tmp_path / "a.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("#subsystem#/MCOS", data=np.zeros(3))
        file.create_dataset("Position", data=np.zeros(6, np.uint32))
    as_mat_7_3(path)
    with pytest.raises(RecordingError, match="timetables or other objects .*timetable2table"):
        find_column_maps(path)


@pytest.mark.parametrize(
    ("name", "module"),
    [("a.xlsx", "python_calamine"), ("a.parquet", "pyarrow"), ("a.h5", "h5py")],
)
def test_missing_library_is_reported_with_pip_extra(car, tmp_path, monkeypatch, name, module):
    path = WRITERS[name](tmp_path / name, car)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingLibraryError, match=r"pip install \"\.\[formats\]\""):
        find_column_maps(path)


def test_workbook_dates_are_read_as_times(tmp_path, car):
    stamps = [f"2024-05-01 10:00:{time:09.6f}" for time in TIME[:2900]]
    rows = zip(stamps, *car.rates[:2900].T)
    path = write_xlsx(
        tmp_path / "a.xlsx", [("time", "wx (rad/s)", "wy (rad/s)", "wz (rad/s)"), *rows]
    )
    table = read_imu(path).table
    start = pd.Timestamp("2024-05-01 10:00").timestamp()
    assert table.index.to_numpy() - start == pytest.approx(TIME[:2900], abs=3e-7)
