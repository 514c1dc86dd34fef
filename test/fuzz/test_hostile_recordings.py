"""Damaged recordings: text files, bags and logs of other programs."""

from __future__ import annotations

from dataclasses import dataclass

import sample_files
from cases import (
    BAGS,
    EXPENSIVE,
    OUT,
    READABLE_TEXTS,
    TEXTS,
    Case,
    damaged_sample_files,
    recordings,
    samples_in_use,
)
from hypothesis import given
from hypothesis import strategies as st
from program_result import CRITICAL_FINDING, REJECTED, SUCCESS_CODES, Expected
from strategies.files import SPECIALS
from strategies.values import numbers


@st.composite
def read_cases(draw, chosen):
    """Generate a case that reads a damaged recording."""
    sample_file = draw(chosen)
    name, content = draw(damaged_sample_files(sample_file))
    kind = draw(st.sampled_from(sample_file.data_kinds))
    return Case("read", (name, kind), {name: content}, Expected(names=(name,)))


@st.composite
def check_cases(draw, chosen, tool="check"):
    """Generate a case that checks a damaged recording, with a second recording if required."""
    sample_file = draw(chosen)
    name, content = draw(damaged_sample_files(sample_file))
    files = {name: content}
    if sample_file.data_kinds == sample_files.REFERENCE_ONLY:
        files["second_imu.csv"] = sample_files.recording("imu.csv").content
    elif sample_file.data_kinds == sample_files.IMU_ONLY:
        files = {"first_fixes.csv": sample_files.recording("fixes.csv").content, name: content}
    expected = Expected((*SUCCESS_CODES, REJECTED), names=tuple(files))
    if tool == "check":
        return Case(tool, tuple(files), files, expected)
    words = (*files, name) if tool == "compare_yaw.py" else tuple(files)
    return Case(tool, (*words, "--out", OUT), files, expected, draws_figures=True)


@given(case=read_cases(recordings(*READABLE_TEXTS)))
def test_damaged_text_recording_is_read_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@given(case=check_cases(recordings(*TEXTS)))
def test_damaged_text_recording_is_checked_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@given(case=read_cases(recordings(*BAGS)))
def test_damaged_bag_is_read_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@given(case=check_cases(recordings(*BAGS)))
def test_damaged_bag_is_checked_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@given(case=check_cases(st.deferred(lambda: st.sampled_from(sample_files.logs()))))
def test_damaged_log_is_checked_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@EXPENSIVE
@given(case=check_cases(recordings(*TEXTS, *BAGS), "check_recording.py"))
def test_damaged_file_is_accepted_or_rejected_by_check_recording(check_outcome, case):
    assert not check_outcome(case).violations


@EXPENSIVE
@given(case=check_cases(recordings(*TEXTS, *BAGS), "compare_yaw.py"))
def test_damaged_file_is_accepted_or_rejected_by_compare_yaw(check_outcome, case):
    assert not check_outcome(case).violations


@st.composite
def damaged_bags_with_errors(draw):
    """Generate a call of apply_imu_errors.py for a damaged bag."""
    name, content = draw(damaged_sample_files(draw(recordings(*BAGS))))
    imu = draw(st.sampled_from((("bno055",), ("bno055_magnetometer", "--magnetometer"))))
    words = (name, "--out", OUT, "--imu", *imu)
    return Case("apply_imu_errors.py", words, {name: content}, Expected(names=(name,)))


@given(case=damaged_bags_with_errors())
def test_damaged_bag_does_not_crash_apply_imu_errors(check_outcome, case):
    assert not check_outcome(case).violations


@st.composite
def damaged_recordings_at_rest(draw):
    """Generate an Allan analysis of a damaged recording of a stationary IMU."""
    name, content = draw(
        damaged_sample_files(draw(st.sampled_from(sample_files.recordings_at_rest())))
    )
    words = [name, "--out", OUT, "--quiet"]
    if draw(st.booleans()):
        rate = draw(st.one_of(st.sampled_from(("100", "1", "1e5")), numbers()))
        words.append(f"--rate={rate}".replace("\0", ""))
    expected = Expected((0, REJECTED, CRITICAL_FINDING), names=(name, "--rate"))
    return Case("allan_analysis.py", tuple(words), {name: content}, expected)


@EXPENSIVE
@given(case=damaged_recordings_at_rest())
def test_damaged_recording_is_accepted_or_rejected_by_allan_analysis(check_outcome, case):
    assert not check_outcome(case).violations


@st.composite
def objects_in_place_of_files(draw):
    """Generate a program call whose input file is a special file, empty or missing."""
    name = draw(
        st.sampled_from(
            ("in.csv", "in.bag", "in.tum", "in.csv.gz", "in.db3", "input", "a b'c.csv", "é.bag")
        )
    )
    tool, *words = draw(
        st.sampled_from(
            (
                ("check", name),
                ("read", name, "reference"),
                ("load", name),
                ("robot", name),
                ("correction", name),
                ("check_recording.py", name, "--out", OUT),
                ("check_recording.py", "--config", name, "--out", OUT),
                ("allan_analysis.py", name, "--out", OUT),
                ("plot_multiple_errors.py", name, "--out", OUT),
                ("offline_result_comparison.py", name),
                ("export_tum.py", name, "--out", OUT),
                ("compare_yaw.py", name, name, "--out", OUT),
                ("apply_imu_errors.py", name, "--imu", "bno055", "--out", OUT),
                ("convert_imu_parameters.py", name, "--from", "sdf", "--to", "kalibr"),
                ("simulate_static.py", f"./{name}", "--hours", "1e-3", "--out", "static.csv"),
            )
        )
    )
    # An empty config.ini is valid and selects the bundled drive.
    codes = (0, REJECTED) if tool == "load" or "--config" in words else (REJECTED,)
    files = {name: draw(SPECIALS)}
    return Case(tool, tuple(words), files, Expected(codes, names=(name,)))


@given(case=objects_in_place_of_files())
def test_missing_empty_or_special_input_file_is_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@st.composite
def whole_recordings(draw):
    """Generate a valid recording, sometimes compressed, with the expected sample count."""
    sample_file = draw(recordings(*READABLE_TEXTS, *BAGS))
    kind = draw(st.sampled_from(sample_file.data_kinds))
    expected = Expected((0,), output=(samples_in_use(sample_file, kind),))
    file = draw(st.sampled_from((sample_file, sample_files.packed(sample_file))))
    return Case("read", (file.name, kind), {file.name: file.content}, expected)


@given(case=whole_recordings())
def test_intact_recording_is_read_with_all_samples(check_outcome, case):
    assert not check_outcome(case).violations


@dataclass(frozen=True)
class Table:
    """Lines of a text recording, and numbers of some inner rows."""

    sample_file: sample_files.SampleFile
    kind: str
    lines: tuple[str, ...]
    rows: tuple[int, ...]

    def with_cell(self, line, cell) -> str:
        """Return a line with ``cell`` in a required column."""
        cells = line.split(self.sample_file.separator)
        cells[-1 if self.sample_file.separator == "," else 4] = cell
        return self.sample_file.separator.join(cells)

    def samples_in_use(self, **counts) -> str:
        """Return a regular expression for the sample count; see :func:`samples_in_use`."""
        return samples_in_use(self.sample_file, self.kind, **counts)

    def case(self, lines, expected) -> Case:
        """Return a case that reads the table with changed lines."""
        name = self.sample_file.name
        content = "\n".join([*lines, ""]).encode()
        return Case("read", (name, self.kind), {name: content}, expected)


@st.composite
def tables(draw):
    """Generate a text recording and one to nine row numbers."""
    sample_file = draw(recordings("own.csv", "from_zero.csv", "imu.csv", "a.tum"))
    lines = tuple(sample_file.content.decode().splitlines())
    first = next(k for k, line in enumerate(lines) if line[0].isdigit())
    place = st.integers(first + 2, len(lines) - 3)
    rows = draw(st.lists(place, min_size=1, max_size=9, unique=True))
    return Table(
        sample_file, draw(st.sampled_from(sample_file.data_kinds)), lines, tuple(sorted(rows))
    )


@given(table=tables(), value=st.sampled_from(("nan", "NaN", "inf")))
def test_unusable_values_in_table_are_counted(check_outcome, table, value):
    lines = [
        table.with_cell(line, value) if k in table.rows else line
        for k, line in enumerate(table.lines)
    ]
    count = len(table.rows)
    output = (table.samples_in_use(unusable=count), rf"\b{count} samples? with a value")
    assert not check_outcome(table.case(lines, Expected((0,), output=output))).violations


@given(table=tables())
def test_duplicate_rows_in_table_are_counted(check_outcome, table):
    lines = [line for k, line in enumerate(table.lines) for _ in range(1 + (k in table.rows))]
    output = (table.samples_in_use(repeated=len(table.rows)), "with a duplicate time stamp")
    assert not check_outcome(table.case(lines, Expected((0,), output=output))).violations


@given(table=tables())
def test_missing_rows_in_table_reduce_sample_count(check_outcome, table):
    lines = [line for k, line in enumerate(table.lines) if k not in table.rows]
    output = (table.samples_in_use(missing=len(table.rows)),)
    assert not check_outcome(table.case(lines, Expected((0,), output=output))).violations


@given(table=tables())
def test_swapped_rows_in_table_are_sorted(check_outcome, table):
    lines, row = list(table.lines), table.rows[0]
    lines[row : row + 2] = lines[row : row + 2][::-1]
    output = (table.samples_in_use(), "earlier than a previous sample, sorted")
    assert not check_outcome(table.case(lines, Expected((0,), output=output))).violations


@given(table=tables(), cell=st.sampled_from(("x", "1.2.3", "0x10")))
def test_malformed_number_in_table_is_rejected_with_line_number(check_outcome, table, cell):
    lines, row = list(table.lines), table.rows[0]
    lines[row] = table.with_cell(lines[row], cell)
    names = (f"{table.sample_file.name}: line {row + 1}",)
    assert not check_outcome(table.case(lines, Expected((REJECTED,), names=names))).violations


@given(table=tables())
def test_table_without_time_column_is_rejected(check_outcome, table):
    lines = [line.partition(table.sample_file.separator)[2] for line in table.lines]
    expected = Expected((REJECTED,), names=(table.sample_file.name,))
    assert not check_outcome(table.case(lines, expected)).violations


@given(table=tables(), variant=st.sampled_from(("", "# a comment", "\r", "\ufeff")))
def test_table_with_blank_line_comment_crlf_or_bom_is_read(check_outcome, table, variant):
    lines, row = list(table.lines), table.rows[0]
    if variant == "\r":
        lines = [f"{line}\r" for line in lines]
    elif variant == "\ufeff":
        lines[0] = f"\ufeff{lines[0]}"
    else:
        lines.insert(row, variant)
    expected = Expected((0,), output=(table.samples_in_use(),))
    assert not check_outcome(table.case(lines, expected)).violations
