"""CSV that is broken in ways that spreadsheets, editors and crashes break it."""

import csv

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings import text_table
from imu_simulation_framework.recordings.reading import read_imu, read_reference
from imu_simulation_framework.recordings.text_table import parse_table

HEADER = "time,x,y,yaw"
ROWS = [f"{0.1 * k:.1f},{0.05 * k},0.0,0.0" for k in range(100)]
BEYOND = csv.field_size_limit() + 1


def write(tmp_path, lines, header=HEADER):
    path = tmp_path / "drive.csv"
    path.write_bytes("\n".join([header, *lines, ""]).encode())
    return path


def with_row(row, place=50):
    """The rows with another one in the place of line ``place + 2``."""
    return [*ROWS[:place], row, *ROWS[place + 1 :]]


def refusal(path, read=read_reference):
    with pytest.raises(RecordingError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value)) < 400
    return str(caught.value)


def test_tens_of_thousands_of_columns_without_a_name_take_no_time():
    # Each name was once compared with all before it, for each of these.
    table = parse_table("wide.csv", "time," + 49_000 * "," + "\n0.0" + 49_001 * ",1" + "\n")
    assert len(set(table.cells.columns)) == table.cells.shape[1] == 49_002


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_break_within_quotes_belongs_to_the_cell(tmp_path, end):
    rows = [f'{row},"two{end}lines"' for row in ROWS]
    table = read_reference(write(tmp_path, rows, HEADER + ",note")).table
    np.testing.assert_allclose(table["x"], 0.05 * np.arange(100))


def test_a_number_that_is_broken_by_a_quoted_line_break_names_the_line(tmp_path):
    path = write(tmp_path, with_row('5.0,"2\n.5",0.0,0.0'))
    assert "line 52, column 'x': '2 .5' is no number" in refusal(path)


@pytest.mark.parametrize("place", [5, 50, 99])
@pytest.mark.parametrize("cell", ['"2.5', '2.5"', '2"5'])
def test_a_quotation_mark_that_is_not_closed_names_the_line(tmp_path, place, cell):
    path = write(tmp_path, with_row(f"{0.1 * place},{cell},0.0,0.0", place))
    assert f"line {place + 2}: a quotation mark is not closed" in refusal(path)


def test_quotation_marks_that_swallow_lines_are_refused(tmp_path):
    path = write(tmp_path, with_row('5.0,2"5,"0.0,0.0'))
    assert "quotation" in refusal(path) or "is no table" in refusal(path)


def test_a_quotation_mark_in_a_comment_opens_nothing(tmp_path):
    table = read_reference(write(tmp_path, ['# wheels of 10"', *ROWS])).table
    assert len(table) == 100


@pytest.mark.parametrize("cell", ["1" * BEYOND, f'"{"x" * BEYOND}"'], ids=["number", "quoted"])
@pytest.mark.parametrize("header", [False, True])
def test_a_cell_longer_than_readers_take_names_the_line(tmp_path, cell, header):
    path = (
        write(tmp_path, ROWS, f"{HEADER},{cell}")
        if header
        else write(tmp_path, with_row(f"5.0,{cell},0.0,0.0"))
    )
    assert f"line {1 if header else 52} has 1310" in refusal(path)


def test_a_long_cell_that_is_no_number_is_cut_in_the_sentence(tmp_path):
    assert "'xxx" in refusal(write(tmp_path, with_row(f"5.0,{'x' * 9000},0.0,0.0")))


@pytest.mark.parametrize(
    ("header", "name"), [("time,x,y,x,yaw", "x"), ("time,x,y,time,yaw", "time")]
)
def test_columns_of_one_name_that_differ_are_refused(tmp_path, header, name):
    rows = [row.replace(",0.0,0.0", ",0.0,7.0,0.0") for row in ROWS]
    reason = refusal(write(tmp_path, rows, header))
    assert f"2 columns are called '{name}' and do not say the same" in reason


def test_columns_of_one_name_that_are_equal_or_unused_do_no_harm(tmp_path):
    rows = [f"{row},{row.split(',')[1]},{k},1,2" for k, row in enumerate(ROWS)]
    table = read_reference(write(tmp_path, rows, HEADER + ",x,n,n,n.1")).table
    assert len(table) == 100


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e30"])
@pytest.mark.parametrize("name", ["x", "y", "yaw"])
def test_a_number_that_no_reference_says_names_the_line(tmp_path, name, value):
    cells = {"time": "5.0", "x": "2.5", "y": "0.0", "yaw": "0.0", name: value}
    reason = refusal(write(tmp_path, with_row(",".join(cells.values()))))
    assert f"line 52: {name} is {float(value):g}, expected at most 1e+09" in reason


@pytest.mark.parametrize("time", ["1e308", "-1e308", "1e20", "1e300"])
@pytest.mark.parametrize("place", [0, 50, 99])
def test_a_time_that_no_clock_says_names_the_line(tmp_path, time, place):
    reason = refusal(write(tmp_path, with_row(f"{time},2.5,0.0,0.0", place)))
    assert f"line {place + 2}: its time is {float(time):g} s, expected at most 1e+19" in reason


def with_time(path, time, unit, in_one):
    """A drive with this time in line 52, as CSV or as rostopic prints it."""
    times = [f"{in_one * (1e5 + k):.0f}" for k in range(100)]
    times[50] = time
    if unit != "rostopic":
        return write(path, [f"{time},0.0,0.0,0.0" for time in times], f"time [{unit}],x,y,yaw")
    names = [f"field.pose.{part}" for part in ("position.x", "position.y", "position.z")]
    names += [f"field.pose.orientation.{part}" for part in "xyzw"]
    rows = [f"{time},{time},0,0,0,0,0,0,1" for time in times]
    return write(path, rows, ",".join(["%time,field.header.stamp", *names]))


UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "rostopic": 1e9}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit, in_one", UNITS.items())
@pytest.mark.parametrize("time", ["inf", "-inf"])
def test_an_infinite_time_names_the_line_in_any_unit(tmp_path, time, unit, in_one):
    reason = refusal(with_time(tmp_path, time, unit, in_one))
    assert f"line 52: its time is {time} s, expected at most 1e+19" in reason


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit, in_one", UNITS.items())
@pytest.mark.parametrize("time", ["nan", ""])
def test_a_time_that_is_missing_is_a_finding_in_any_unit(tmp_path, time, unit, in_one):
    recorded = read_reference(with_time(tmp_path, time, unit, in_one))
    assert len(recorded.table) == 99
    assert any("without a time stamp" in sentence for sentence in recorded.report.sentences())


def test_a_number_that_no_imu_says_names_the_line(tmp_path):
    rows = [f"{0.1 * k:.1f},0.0,0.0,0.01,0.0,0.0,9.8,0.1" for k in range(100)]
    rows[50] = "5.0,0.0,0.0,1e308,0.0,0.0,9.8,0.1"
    header = "time,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z,yaw"
    reason = refusal(write(tmp_path, rows, header), read_imu)
    assert "line 52: gyro_z is 1e+308" in reason


@pytest.mark.parametrize("rows_at_once", [1, 3, 1000])
def test_a_table_that_is_parsed_in_blocks_is_the_same(rows_at_once):
    # Whole numbers and fractions, a column of text here and numbers there, one that begins
    # empty, cells within quotes, comments and empty lines in between, two ways to end a line.
    text = (
        "time,mixed,late,name\n1,1.50,,a\n# no row\n2.25,x,,b\r\n\n3,2.50,7,'c\nc'\n"
        "4,007,8,d\n9007199254740993,1e3,,e\n"
    ).replace("'", '"')
    whole = parse_table("t.csv", text, rows_at_once=None)
    parts = parse_table("t.csv", text, rows_at_once=rows_at_once)
    pd.testing.assert_frame_equal(parts.cells, whole.cells, check_exact=True)
    np.testing.assert_array_equal(parts.lines, whole.lines)
    assert whole.texts("mixed").tolist() == ["1.50", "x", "2.50", "007", "1e3"]


def test_lines_are_those_of_splitlines(monkeypatch):
    text = "a\nb\r\nc\x0bd\re\u2028f\n\n\ng"
    monkeypatch.setattr(text_table, "_LONGEST_LINE", 3)
    assert list(text_table.text_lines([text])) == text.splitlines()
    for place in range(len(text)):
        blocks = [text[:place], text[place:]]
        assert list(text_table.text_lines(blocks)) == text.splitlines()
    assert list(text_table.text_lines(["a\r", "\nb\r", "c"])) == ["a", "b", "c"]
    assert list(text_table.text_lines([])) == []


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "#"])
def test_separators_at_the_ends_of_lines_begin_no_cell(separator, mark):
    lines = [mark + "a,b,c", "1,2,3,", "4,5,,", "6,7,8"]
    table = parse_table("a.csv", "\n".join(lines).replace(",", separator))
    assert list(table.cells.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(table.numbers("b"), [2, 5, 7])
    np.testing.assert_array_equal(table.numbers("c"), [3, np.nan, 8])


def test_a_cell_too_many_is_refused_with_or_without_a_separator_behind_it():
    for end in ("", ","):
        with pytest.raises(RecordingError, match="line 3 has"):
            parse_table("a.csv", f"a,b\n1,2,\n1,2,3{end}\n")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_between_semicolons_or_tabs(separator):
    lines = ['"Time (s)";"x (m)"', "0;1", "0,1;1", "2,5E-1;-3,25", "1e3;"]
    table = parse_table("a.csv", "\n".join(lines).replace(";", separator))
    np.testing.assert_array_equal(table.numbers("Time (s)"), [0.0, 0.1, 0.25, 1000.0])
    np.testing.assert_array_equal(table.numbers("x (m)"), [1.0, 1.0, -3.25, np.nan])


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_without_a_header(separator):
    table = parse_table("a.csv", "0,01;0,5;-1,2\n0,02;;1e1\n".replace(";", separator))
    assert list(table.cells.columns) == ["col1", "col2", "col3"]
    np.testing.assert_array_equal(table.numbers("col1"), [0.01, 0.02])
    np.testing.assert_array_equal(table.numbers("col2"), [0.5, np.nan])
    np.testing.assert_array_equal(table.numbers("col3"), [-1.2, 10.0])


@pytest.mark.parametrize("rows_at_once", [100, 5000])
def test_decimal_commas_behind_many_whole_numbers(rows_at_once):
    rows = [f"{k};0" for k in range(250)] + ["250;0,5"]
    table = parse_table("a.csv", "a;b\n" + "\n".join(rows), rows_at_once=rows_at_once)
    np.testing.assert_array_equal(table.numbers("a"), np.arange(251))
    np.testing.assert_array_equal(table.numbers("b")[-2:], [0.0, 0.5])
    with pytest.raises(RecordingError, match="line 253, column 'b': '1,000' is no number"):
        parse_table("a.csv", "a;b\n" + "\n".join([*rows[:-1], "1.5;0", "1;1,000"])).numbers("b")


def test_a_comma_among_points_is_no_number():
    table = parse_table("a.csv", "a;b\n0.1;1,000\n0.2;2,000\n")
    with pytest.raises(RecordingError, match="'1,000' is no number"):
        table.numbers("b")


def test_lines_that_begin_with_two_slashes_are_comments():
    table = parse_table("a.csv", "// Start Time: unknown\n// Rate: 50.0Hz\na,b\n1,2\n")
    assert list(table.cells.columns) == ["a", "b"]
    np.testing.assert_array_equal(table.lines, [4])
