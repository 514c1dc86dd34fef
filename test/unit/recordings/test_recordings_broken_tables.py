"""CSV tables as damaged by spreadsheets, editors and crashes."""

import csv

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings import reading
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.text_table import parse_table

HEADER = "time,x,y,yaw"
ROWS = [f"{0.1 * k:.1f},{0.05 * k},0.0,0.0" for k in range(100)]
BEYOND = csv.field_size_limit() + 1


def write(tmp_path, lines, header=HEADER):
    path = tmp_path / "drive.csv"
    text = "\n".join([header, *lines, ""])
    path.write_bytes(text.replace("LONG", BEYOND * "1").encode())
    return path


def with_row(row, place=50):
    """Return the rows of a table with ``row`` in place of line ``place + 2`` of the file."""
    return [*ROWS[:place], row, *ROWS[place + 1 :]]


TWICE = [row.replace(",0.0,0.0", ",0.0,7.0,0.0") for row in ROWS]
LONG = ("LONG", '"LONG"')
IMU_ROWS = [f"{0.1 * k:.1f},{'1e308' if k == 50 else 0.01},9.8,0.1" for k in range(100)]


@pytest.mark.parametrize(
    "lines, header, words",
    [
        (with_row('5.0,"2\n.5",0.0,0.0'), HEADER, "line 52, column 'x': '2 .5' is not valid"),
        *(
            (with_row(f"5.0,{cell},0.0,0.0"), HEADER, "line 52: unclosed quotation mark")
            for cell in ('"2.5', '2.5"')
        ),
        # An unclosed quotation mark absorbs lines; pandas reports one of two errors.
        (with_row('5.0,2"5,"0.0,0.0'), HEADER, "drive.csv: "),
        *((with_row(f"5.0,{cell},0.0,0.0"), HEADER, "line 52 has 1310") for cell in LONG),
        *((ROWS, f"{HEADER},{cell}", "line 1 has 1310") for cell in LONG),
        # The long value is shortened in the message.
        (with_row(f"5.0,{'x' * 9000},0.0,0.0"), HEADER, "'xxx"),
        (TWICE, "time,x,y,x,yaw", "2 columns are named 'x', with different values"),
        (with_row("5.0,-1e308,0,0"), HEADER, "line 52: x is -1e+308, expected"),
        (with_row("5.0,2.5,0,1e30"), HEADER, "line 52: yaw is 1e+30, expected"),
        *(
            (with_row(f"{time},2.5,0,0", k), HEADER, f"line {k + 2}: the time is {float(time):g} s")
            for time, k in (("1e308", 0), ("-inf", 50), ("1e20", 99))
        ),
        (with_row("5.0,2.5,0,0,1"), HEADER, "line 52 has 5 cells, expected 4 as in line 1"),
        (ROWS, "time,x,y", "line 2 has 4 cells, expected 3"),
        (IMU_ROWS, "time,gyro_z,accel_z,yaw", "line 52: gyro_z is 1e+308"),
    ],
)
def test_malformed_row_is_rejected_with_line_number(tmp_path, lines, header, words):
    read = reading.read_imu if "gyro_z" in header else reading.read_reference
    sentence = refusal(read, write(tmp_path, lines, header))
    assert words in sentence and len(sentence) < 400


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("time", ["nan", ""])
@pytest.mark.parametrize("unit, unit_factor", [("s", 1.0), ("ns", 1e9)])
def test_missing_time_is_counted_and_located_for_any_time_unit(tmp_path, unit, unit_factor, time):
    times = [f"{unit_factor * (1e5 + k):.0f}" for k in range(100)]
    times[50] = time
    path = write(tmp_path, [f"{time},0.0,0.0,0.0" for time in times], f"time [{unit}],x,y,yaw")
    recorded = reading.read_reference(path)
    missing = recorded.report.stamps.missing
    assert (len(recorded.table), missing.count, missing.first_place) == (99, 1, 52)


def test_quote_in_comment_and_duplicate_columns_are_accepted(tmp_path):
    # A quote in a comment opens no quotation; columns with the same name are identical or unused.
    rows = [f"{row},{row.split(',')[1]},{k},1,2" for k, row in enumerate(ROWS)]
    path = write(tmp_path, ['# wheels of 10"', *rows], HEADER + ",x,n,n,n.1")
    assert len(reading.read_reference(path).table) == 100
    table = parse_table("a.csv", "// Start Time: unknown\n// Rate: 50.0Hz\na,b\n1,2\n")
    assert list(table.cells.columns) == ["a", "b"]
    np.testing.assert_array_equal(table.lines, [4])


@pytest.mark.parametrize("rows_at_once", [1, 3, 1000])
def test_table_parsed_in_blocks_matches_table_parsed_at_once(rows_at_once):
    # The table has integers and fractions, a column with text and numbers, a column that begins
    # with empty cells, quoted cells, comments, empty lines, and two types of line endings.
    text = (
        "time,mixed,late,name\n1,1.50,,a\n# no row\n2.25,x,,b\r\n\n3,2.50,7,'c\nc'\n"
        "4,007,8,d\n9007199254740993,1e3,,e\n"
    ).replace("'", '"')
    whole = parse_table("t.csv", text, rows_at_once=None)
    parts = parse_table("t.csv", text, rows_at_once=rows_at_once)
    pd.testing.assert_frame_equal(parts.cells, whole.cells, check_exact=True)
    np.testing.assert_array_equal(parts.lines, whole.lines)
    assert whole.texts("mixed").tolist() == ["1.50", "x", "2.50", "007", "1e3"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "#"])
def test_trailing_separators_do_not_add_cells(separator, mark):
    lines = [mark + "a,b,c", "1,2,3,", "4,5,,", "6,7,8"]
    table = parse_table("a.csv", "\n".join(lines).replace(",", separator))
    assert list(table.cells.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(table.numbers("b"), [2, 5, 7])
    np.testing.assert_array_equal(table.numbers("c"), [3, np.nan, 8])


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_with_semicolons_or_tabs_are_read(separator):
    lines = ['"Time (s)";"x (m)"', "0;1", "0,1;1", "2,5E-1;-3,25", "1e3;"]
    table = parse_table("a.csv", "\n".join(lines).replace(";", separator))
    np.testing.assert_array_equal(table.numbers("Time (s)"), [0.0, 0.1, 0.25, 1000.0])
    np.testing.assert_array_equal(table.numbers("x (m)"), [1.0, 1.0, -3.25, np.nan])
    bare = parse_table("a.csv", "0,01;0,5;-1,2\n0,02;;1e1\n".replace(";", separator))
    for name, numbers in (("col1", [0.01, 0.02]), ("col2", [0.5, np.nan]), ("col3", [-1.2, 10.0])):
        np.testing.assert_array_equal(bare.numbers(name), numbers)


def test_decimal_commas_after_many_integers_are_read():
    rows = [f"{k};0" for k in range(250)] + ["250;0,5"]
    table = parse_table("a.csv", "a;b\n" + "\n".join(rows), rows_at_once=100)
    np.testing.assert_array_equal(table.numbers("a"), np.arange(251))
    np.testing.assert_array_equal(table.numbers("b")[-2:], [0.0, 0.5])
    with pytest.raises(RecordingError, match="line 253, column 'b': '1,000' is not valid"):
        parse_table("a.csv", "a;b\n" + "\n".join([*rows[:-1], "1.5;0", "1;1,000"])).numbers("b")


@pytest.mark.parametrize(
    "preamble",
    [
        ["device opened", "handle 0, address 68"],
        ["@ Logger 1.0", "", "@ Date:Sat Apr 04 23:54:11, Sampling Rate: 200ms"],
        ["FILE_INFO", "ListSeparator=comma", "StartTime,02/10/2017 16:13:52", "DATA_START"],
        ["Made by a Logger of version 9.1 ( http://a.b/ ).", 'Title,"53, A Street, B, C"', "Note,"],
    ],
)
@pytest.mark.parametrize("end", ["", ","])
def test_preamble_written_by_logger_is_skipped(tmp_path, preamble, end):
    rows = [row + end for row in ROWS]
    path = write(tmp_path, [*preamble[1:], HEADER + end, *rows], preamble[0])
    assert len(reading.read_reference(path).table) == len(ROWS)
    table = parse_table(path, path.read_text())
    assert table.lines[0] == len(preamble) + 2


def test_header_with_names_units_and_sources_is_read(tmp_path):
    """RaceChrono writes such headers; the source distinguishes columns with the same name."""
    lines = [
        "Made by a Logger of version 9.1.",
        "Format,3",
        'Title,"a, b"',
        "",
        "timestamp,lap,lat,lon,speed,speed",
    ]
    lines += ["unix time,,deg,deg,m/s,m/s", ",,100: gps,100: gps,100: gps,calc"]
    lines += [
        f"{1.7e9 + k},,{48 + 1e-4 * k},{11 + 2e-5 * k},11,{5 if k % 2 else ''}" for k in range(90)
    ]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    names = list(parse_table("a.csv", "\n".join(lines)).cells.columns)
    assert names[2:] == ["lat [deg]", "lon [deg]", "gps speed [m/s]", "calc speed [m/s]"]
    reference = find_column_maps(tmp_path / "a.csv").reference
    assert reference["time"] == "timestamp [unix time] [s]"


def test_latin_1_characters_are_read(tmp_path):
    lines = ["Time [s],GyrZ [\xb0/s],Temp [\xb0C]", *(f"{0.01 * k},{k % 7},20" for k in range(300))]
    (tmp_path / "a.csv").write_bytes("\n".join(lines).encode("latin-1"))
    assert find_column_maps(tmp_path / "a.csv").imu["gyro_z"] == "GyrZ [\xb0/s] [deg/s]"


def test_empty_cells_after_last_name_are_ignored(tmp_path):
    path = write(tmp_path, [f"{row},,," for row in ROWS])
    assert len(reading.read_reference(path).table) == len(ROWS)


def test_repeated_fields_of_flattened_message_are_prefixed_with_group_name(tmp_path):
    header = "stamp,secs,nsecs,pose,position,x,y,z,orientation,x,y,z,w,twist,linear,x,y,z"
    rows = [f",{100 + k},500,,,{0.5 * k},0,0,,0,0,0.6,0.8,,,0.5,0,0" for k in range(100)]
    path = write(tmp_path, rows, header)
    names = list(parse_table(path, path.read_text()).cells.columns)
    assert names[5:8] == ["position.x", "position.y", "position.z"]
    assert names[9:13] == ["orientation.x", "orientation.y", "orientation.z", "orientation.w"]
    assert names[:4] == ["stamp", "secs", "nsecs", "pose"] and "linear.x" in names
    columns = find_column_maps(path).reference
    assert columns["x"] == "position.x [m]" and columns["qw"] == "orientation.w [1]"


@pytest.mark.parametrize("more", ["altitude", "hdop"])
def test_unused_duplicate_columns_are_accepted(tmp_path, more):
    rows = [f"{k},45.00{k:02},7.0,{k},{k + 1}" for k in range(100)]
    path = write(tmp_path, rows, f"time,latitude,longitude,{more},{more}")
    samples = reading.read_reference_samples(path)
    assert samples.has(("latitude", "longitude")) and more not in samples.columns


def test_table_with_nmea_sentence_names_is_not_read_as_nmea_log(tmp_path):
    rows = [f"{1.7e9 + k:.1f},$GPGGA,45.00{k:02},7.0" for k in range(100)]
    path = write(tmp_path, rows, "Time,header,latitude,longitude")
    assert find_column_maps(path).reference["latitude"] == "latitude [deg]"
