"""Writers of small logs and tables in the formats of autopilots, phones, Excel and receivers."""

import functools
import operator
import struct
import zipfile
import zlib

import numpy as np
import pandas as pd


def ulog(topics, start=0):
    """Return the content of a PX4 ULog file.

    Parameters
    ----------
    topics : dict
        Topic -> column -> type and values; the column ``timestamp`` has the times [us].
    start : int, optional
        Time of the header [us].
    """
    content = b"ULog\x01\x12\x35\x01" + struct.pack("<Q", start)
    content += _message("B", bytes(40))
    rows = []
    for number, (name, columns) in enumerate(topics.items()):
        text = ";".join(f"{kind} {column}" for column, (kind, _) in columns.items())
        content += _message("F", f"{name}:{text};".encode())
        kinds = {"uint64_t": "u8", "int32_t": "i4", "float": "f4", "uint8_t": "u1", "double": "f8"}
        fields = []
        for column, (kind, _) in columns.items():
            kind, _, count = kind.rstrip("]").partition("[")
            fields.append((column, f"<{kinds[kind]}", (int(count),) if count else ()))
        table = np.zeros(len(columns["timestamp"][1]), fields)
        for column, (_, values) in columns.items():
            table[column] = values
        rows += [(row["timestamp"], number, row.tobytes()) for row in table]
    for number, name in enumerate(topics):
        content += _message("A", struct.pack("<BH", 0, number) + name.encode())
    rows.sort(key=lambda row: row[:2])
    data = (_message("D", struct.pack("<H", number) + row) for _, number, row in rows)
    return b"".join([content, *data])


def _message(kind, content):
    return struct.pack("<Hc", len(content), kind.encode()) + content


TYPES = dict(zip("QBfcCeLZ", ("<u8", "u1", "<f4", "<i2", "<u2", "<i4", "<i4", "S64")))
FACTORS = {"c": 100.0, "C": 100.0, "e": 100.0, "L": 1e7}


def binary_log(messages):
    """Return the content of a binary ArduPilot DataFlash log."""
    content, rows = b"", []
    for number, (name, (types, columns)) in enumerate(messages.items(), 1):
        table = np.zeros(len(columns["TimeUS"]), [(c, TYPES[t]) for c, t in zip(columns, types)])
        for (column, values), letter in zip(columns.items(), types):
            factor = FACTORS.get(letter)
            table[column] = np.rint(factor * values) if factor else values
        definition = struct.pack(
            "<BB4s16s64s",
            *(number, 3 + table.itemsize, name.encode(), types.encode()),
            ",".join(columns).encode(),
        )
        content += b"\xa3\x95\x80" + definition
        header = b"\xa3\x95" + bytes([number])
        rows += [(row["TimeUS"], number, header + row.tobytes()) for row in table]
    format_definition = struct.pack(
        "<BB4s16s64s", 128, 89, b"FMT", b"BBnNZ", b"Type,Length,Name,Format,Columns"
    )
    rows.sort(key=lambda row: row[:2])
    return b"\xa3\x95\x80" + format_definition + content + b"".join(row for _, _, row in rows)


def text_log(messages):
    """Return an ArduPilot DataFlash log in text format."""
    lines, rows = ["FMT, 128, 89, FMT, BBnNZ, Type,Length,Name,Format,Columns"], []
    for number, (name, (types, columns)) in enumerate(messages.items(), 1):
        lines.append(f"FMT, {number}, 50, {name}, {types}, {','.join(columns)}")
        for row in zip(*(values.tolist() for values in columns.values())):
            words = [cell.decode() if isinstance(cell, bytes) else f"{cell:.12g}" for cell in row]
            rows.append((row[0], ", ".join([name, *words])))
    rows.sort(key=lambda row: row[0])
    return "\n".join([*lines, *(row for _, row in rows)]) + "\n"


def write_zip(path, tables, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, columns in tables.items():
            text = pd.DataFrame(columns).to_csv(index=False)
            archive.writestr(f"2024-05-01/{name}.csv", text)
        archive.writestr("2024-05-01/Metadata.csv", "version,device name\n3,telephone\n")
        archive.writestr("__MACOSX/2024-05-01/._Gyroscope.csv", b"\0\0")
    return path


def write_xlsx(path, rows):
    """Write a workbook with one sheet and inline strings."""

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{float(value)!r}</v></c>"

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="Raw Data" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0"?>{text}')
    return path


def as_mat_7_3(path):
    """Write a MATLAB 7.3 header into the 512-byte user block of an HDF5 file."""
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM"
    path.write_bytes(header.ljust(512, b"\0") + path.read_bytes()[512:])
    return path


def sentence(text):
    """Return an NMEA sentence with its checksum."""
    checksum = functools.reduce(operator.xor, text.encode())
    return f"${text}*{checksum:02X}"


def novatel(name, week, seconds, fields, short=False):
    """Return an ASCII log of a NovAtel receiver, with a short or a long header."""
    head = f"{week},{seconds:.3f}"
    head = head if short else f"COM1,0,31.0,FINESTEERING,{head},0,0,0"
    text = f"{name}{'S' if short else ''}A,{head};{','.join(map(str, fields))}"
    checksum = zlib.crc32(text.encode(), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return f"{'%' if short else '#'}{text}*{checksum:08x}"
