"""Comparison of the columns of CSV files with the declared columns."""

import re

from imu_simulation_framework.core.csv_files import CSV_FILES


def _matches(declared, name):
    """Return whether a name matches a declared name, whose placeholders <...> match any text."""
    pattern = re.sub(r"<[^>]*>", "\0", declared)
    return re.fullmatch(re.escape(pattern).replace("\0", ".+"), name) is not None


def unexpected_columns(file, names):
    """Return undeclared column names, and missing names that are declared and not optional."""
    names = list(names)
    declared = [column.name for column in file.columns]
    unknown = [name for name in names if not any(_matches(each, name) for each in declared)]
    return unknown + [
        column.name
        for column in file.columns
        if not column.is_optional and not any(_matches(column.name, name) for name in names)
    ]


def find_csv_file(name, columns):
    """Return the declaration of a CSV file, or None if there is none.

    Two programs may write files of the same name: the one with the fewest unexpected columns is
    returned.

    Parameters
    ----------
    name : str
        Name of the file, with or without a leading date and time.
    columns : iterable of str
        Names in its first line.
    """
    columns = list(columns)
    name = re.sub(r"^\d{8}-\d{6}_", "", name)
    declared = [file for file in CSV_FILES if _matches(file.name, name)]
    return min(declared, key=lambda file: len(unexpected_columns(file, columns)), default=None)
