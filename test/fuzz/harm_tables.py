"""What can happen to a table of text."""

from harm_bytes import harmed_bytes
from harm_values import number, word


def harmed_table(random, text, separator=",") -> bytes:
    """A table of text after one or several accidents, some of them to whole columns."""
    rows = [line.split(separator) for line in text.splitlines()]
    for _ in range(random.choice((1, 1, 2, 3))):
        rows = random.choice(_TABLE_ACCIDENTS)(random, rows) or rows
    text = "\n".join(separator.join(row) for row in rows) + "\n"
    return written(random, text, separator)


def _cells(random, rows):
    for _ in range(random.choice((1, 1, random.randrange(2, 40)))):
        row = random.choice(rows)
        row[random.randrange(len(row))] = random.choice((number, number, number, word))(random)


_CHANGES = (
    *[lambda random, value, k, factor: value * factor] * 2,
    lambda random, value, k, factor: value + factor,
    lambda random, value, k, factor: factor,
    lambda random, value, k, factor: value if k % 7 else float("nan"),
    lambda random, value, k, factor: value if k % 50 else 1e9,
    lambda random, value, k, factor: -value,
    lambda random, value, k, factor: k,
    lambda random, value, k, factor: round(value),
    lambda random, value, k, factor: random.gauss(0.0, 1.0),
)
"""What becomes of a column: constant, scaled, shifted, as a unit mistake or a fault has it."""


def _column(random, rows):
    place, change = random.randrange(len(rows[0])), random.choice(_CHANGES)
    factor = random.choice((1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 57.29578, 0.0, 1e15, 1e300))
    constant = number(random) if random.random() < 0.2 else None
    for k, row in enumerate(rows[1:]):
        try:
            row[place] = constant or repr(change(random, float(row[place]), k, factor))
        except (ValueError, OverflowError, IndexError):
            continue


def _name(random, rows):
    header = rows[0]
    place = random.randrange(len(header))
    header[place] = random.choice((word(random), random.choice(header), header[place] + "x"))


def _lines(random, rows):
    """Lines are gone, doubled, in another order."""
    start, count = random.randrange(len(rows)), int(len(rows) ** random.random())
    part = rows[start : start + count]
    other = random.choice(([], part * 2, part[::-1], part * 3))
    return rows[:start] + other + rows[start + count :]


def _columns(random, rows):
    """Columns are gone, doubled, in another order."""
    order = [*range(len(rows[0]))]
    one = random.randrange(len(order))
    without, more = [k for k in order if k != one], order[:one] + [random.choice(order)]
    shuffled = random.sample(order, len(order))
    order = random.choice((shuffled, without or order, more + order[one:], order * 2))
    return [[row[k] for k in order if k < len(row)] or [""] for row in rows]


def _stopped(random, rows):
    """The clock stands still, jumps, or runs backwards from somewhere on."""
    start = random.randrange(1, len(rows)) if len(rows) > 1 else 0
    step = random.choice((0.0, 3600.0, -3600.0, 1e9, -1e9, 1e-7))
    for row in rows[start:]:
        try:
            row[0] = repr(float(row[0]) + step) if step else rows[start][0]
        except ValueError:
            continue


def _in_one_row(random, rows):
    """One row is too long, or a cell of it."""
    row = random.choice(rows)
    if random.random() < 0.5:
        row += [number(random)] * random.choice((1, 2, 1000))
    else:
        long = random.choice('1x" ,') * random.choice((200, 9000, 131073))
        row[random.randrange(len(row))] = long


def _comment(random, rows):
    remark = [random.choice(("#", "# a", "%", "//", "", " ", "\t"))]
    rows.insert(random.randrange(len(rows)), remark)


_TABLE_ACCIDENTS = (
    *(_cells, _cells, _cells, _column, _column, _column, _name, _name, _lines, _lines),
    *(_columns, _columns, _stopped, _stopped, _in_one_row, _in_one_row, _comment),
    # Without a header, nearly nothing but it, in another order, far wider.
    lambda random, rows: rows[1:],
    lambda random, rows: rows[: random.choice((1, 1, 2, 3))],
    lambda random, rows: rows[:1] + random.sample(rows[1:], len(rows) - 1),
    lambda random, rows: [row + ["0"] * 300 for row in rows],
)


def written(random, text, separator):
    """The bytes of a text, as some program or other writes it."""
    choice = random.randrange(16)
    if choice == 0:
        text = text.replace("\n", random.choice(("\r\n", "\r", "\n\n", "\n\r", "\x0b", "\u2028")))
    elif choice == 1:
        text = text.replace(separator, random.choice((";", "\t", " ", ", ", " ,", "|", ",,")))
    elif choice == 2:
        text = text.replace(".", ",") if separator != "," else text.replace(".", "")
    elif choice == 3:
        return text.encode(random.choice(("utf-16", "utf-8-sig", "utf-32", "cp500")), "replace")
    elif choice == 4:
        place = random.randrange(len(text) + 1)
        inserted = random.choice(('"', "'", '"""', "\0", "\x1a", "é", "#"))
        text = text[:place] + inserted + text[place:]
    elif choice == 5:
        return harmed_bytes(random, text.encode())
    elif choice == 6:
        text = "\n".join(f'"{line}"' for line in text.splitlines())
    elif choice == 7:
        text = text.rstrip("\n")
    return text.encode("utf-8", "surrogateescape")
