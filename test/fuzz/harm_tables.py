"""What can happen to a table of text."""

from __future__ import annotations

from harm_bytes import harmed_bytes
from harm_values import number, word


def harmed_table(random, text, separator=",") -> bytes:
    """A table of text after one or several accidents, some of them to whole columns."""
    rows = [line.split(separator) for line in text.splitlines()]
    for _ in range(random.choice((1, 1, 2, 3))):
        rows = random.choice(_TABLE_ACCIDENTS)(random, rows) or rows
    text = "\n".join(separator.join(row) for row in rows) + "\n"
    return written(random, text, separator)


def _cell(random, rows):
    row = random.choice(rows)
    row[random.randrange(len(row))] = random.choice((number, number, number, word))(random)


def _cells(random, rows):
    for _ in range(random.randrange(2, 40)):
        _cell(random, rows)


def _column(random, rows):
    """A column becomes another: constant, scaled, shifted, as a unit mistake or a fault has it."""
    place = random.randrange(len(rows[0]))
    change = random.choice(
        (
            lambda value, k: value * random_factor,
            lambda value, k: value * random_factor,
            lambda value, k: value + random_factor,
            lambda value, k: random_factor,
            lambda value, k: value if k % 7 else float("nan"),
            lambda value, k: value if k % 50 else 1e9,
            lambda value, k: -value,
            lambda value, k: k,
            lambda value, k: round(value),
            lambda value, k: random.gauss(0.0, 1.0),
        )
    )
    random_factor = random.choice((1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 57.29578, 0.0, 1e15, 1e300))
    constant = number(random) if random.random() < 0.2 else None
    for k, row in enumerate(rows[1:]):
        if place < len(row):
            try:
                row[place] = repr(change(float(row[place]), k)) if constant is None else constant
            except (ValueError, OverflowError):
                continue


def _name(random, rows):
    header = rows[0]
    place = random.randrange(len(header))
    header[place] = random.choice((word(random), random.choice(header), header[place] + "x"))


def _without_header(random, rows):
    return rows[1:] or rows


def _only_header(random, rows):
    return rows[: random.choice((1, 1, 2, 3))]


def _lines(random, rows):
    """Lines are gone, doubled, in another order."""
    start, count = random.randrange(len(rows)), int(len(rows) ** random.random())
    part = rows[start : start + count]
    other = random.choice(([], part * 2, part[::-1], part * 3))
    return (rows[:start] + other + rows[start + count :]) or rows


def _shuffled(random, rows):
    body = rows[1:]
    random.shuffle(body)
    return rows[:1] + body


def _columns(random, rows):
    """Columns are gone, doubled, in another order."""
    width = len(rows[0])
    order = list(range(width))
    choice = random.randrange(4)
    if choice == 0:
        random.shuffle(order)
    elif choice == 1 and width > 1:
        order.remove(random.randrange(width))
    elif choice == 2:
        order.insert(random.randrange(width), random.randrange(width))
    else:
        order = [*order, *order]
    return [[row[k] for k in order if k < len(row)] for row in rows]


def _ragged(random, rows):
    row = random.choice(rows)
    row += [number(random)] * random.choice((1, 2, 1000))


def _wide(random, rows):
    for row in rows:
        row += ["0"] * 300


def _long_cell(random, rows):
    row = random.choice(rows)
    row[random.randrange(len(row))] = random.choice('1x" ,') * random.choice((200, 9000, 131073))


def _comment(random, rows):
    rows.insert(
        random.randrange(len(rows)), [random.choice(("#", "# a", "%", "//", "", " ", "\t"))]
    )


def _stopped(random, rows):
    """The clock stands still, jumps, or runs backwards from somewhere on."""
    start = random.randrange(1, len(rows)) if len(rows) > 1 else 0
    step = random.choice((0.0, 3600.0, -3600.0, 1e9, -1e9, 1e-7))
    for row in rows[start:]:
        try:
            row[0] = repr(float(row[0]) + step) if step else rows[start][0]
        except ValueError:
            continue


_TABLE_ACCIDENTS = (
    *(_cell, _cell, _cells, _column, _column, _column, _name, _name, _without_header, _only_header),
    *(_lines, _lines, _shuffled, _columns, _columns, _ragged, _wide, _long_cell, _comment),
    *(_stopped, _stopped),
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
        text = (
            text[:place] + random.choice(('"', "'", '"""', "\0", "\x1a", "é", "#")) + text[place:]
        )
    elif choice == 5:
        return harmed_bytes(random, text.encode())
    elif choice == 6:
        text = "\n".join(f'"{line}"' for line in text.splitlines())
    elif choice == 7:
        text = text.rstrip("\n")
    return text.encode("utf-8", "surrogateescape")
