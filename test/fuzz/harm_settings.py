"""What can happen to settings: INI, YAML, XML, JSON."""

from __future__ import annotations

import re

from harm_tables import written
from harm_values import MADE, number, word

_VALUE = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_]\w+")


def harmed_settings(random, text) -> bytes:
    """A file of settings after one or several accidents."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        text = random.choice(_SETTING_ACCIDENTS)(random, text)
    return written(random, text, ":")


def _replaced(random, pattern, text, other):
    places = list(pattern.finditer(text))
    if not places:
        return text + other
    match = random.choice(places)
    return text[: match.start()] + other + text[match.end() :]


def _value(random, text):
    return _replaced(random, _VALUE, text, number(random))


def _value_by_word(random, text):
    return _replaced(random, _VALUE, text, word(random))


def _other_word(random, text):
    return _replaced(random, _WORD, text, word(random))


def _near_word(random, text):
    places = list(_WORD.finditer(text))
    if not places:
        return text
    match = random.choice(places)
    letters = list(match.group())
    letters.insert(random.randrange(len(letters)), random.choice("xe_A1"))
    return text[: match.start()] + "".join(letters) + text[match.end() :]


def _setting_lines(random, text):
    lines = text.splitlines() or [""]
    place = random.randrange(len(lines))
    choice = random.randrange(6)
    if choice == 0:
        del lines[place : place + random.choice((1, 1, 3))]
    elif choice == 1:
        lines.insert(place, lines[place])
    elif choice == 2:
        lines[place] = random.choice((" ", "  ", "\t", "    ")) + lines[place]
    elif choice == 3:
        lines[place] = lines[place].strip()
    elif choice == 4:
        random.shuffle(lines)
    else:
        lines = lines[: place + 1]
    return "\n".join(lines) + "\n"


_NESTED = 3000


def _snippet(random, text):
    """Something that means more than it looks like, at a random line."""
    lines = text.splitlines() or [""]
    place = random.randrange(len(lines) + 1)
    lines.insert(place, random.choice(_SNIPPETS))
    return "\n".join(lines) + "\n"


def _snippet_value(random, text):
    return _replaced(random, _VALUE, text, random.choice(_SNIPPETS[:12]).replace("\n", " "))


_LAUGHS = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "\n".join(
    f"a{k}: &a{k} [" + ", ".join([f"*a{k - 1}"] * 9) + "]" for k in range(1, 10)
)
_ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY a{k} "{f"&a{k - 1 if k > 1 else str()};" * 9}">' for k in range(1, 10))
    + "]><x>&a9;</x>"
)
_SNIPPETS = (
    "[" * _NESTED,
    "{a: " * _NESTED,
    "[" * _NESTED + "]" * _NESTED,
    "[1, 2, 3]",
    "[[1, 2], [3]]",
    "{a: 1, a: 2}",
    "&a [*a]",
    "*b",
    "!!binary aGVsbG8=",
    "!!python/object/apply:os.system ['touch " + MADE + "']",
    "!!timestamp 2001-01-01",
    "${open('" + MADE + "', 'w')}",
    "{" + '"a": {' * _NESTED,
    _LAUGHS,
    "&a\n<<: *a",
    "<<: [{a: 1}, {b: 2}]",
    "? [a, b]\n: c",
    "--- \n... \n---",
    "%YAML 9.9\n---",
    "- - - - - -" * 300,
    _ENTITIES,
    '<!DOCTYPE x SYSTEM "/etc/passwd"><x/>',
    '<!DOCTYPE x [<!ENTITY y SYSTEM "/etc/passwd">]><x>&y;</x>',
    "<a>" * _NESTED,
    "<a>" * _NESTED + "</a>" * _NESTED,
    "<![CDATA[ 1 ]]>",
    '<?xml version="1.0" encoding="nonsense"?>',
    '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>',
    '<xacro:include filename="/etc/passwd"/>',
    "&#0; &#xD800; &lt;",
    "\n".join(f"key_{k} = {k}" for k in range(3000)),
    "\n".join(f"key_{k}: {k}" for k in range(3000)),
    "\n".join(f"<tag{k}>{k}</tag{k}>" for k in range(3000)),
    "k" * 70_000 + " = 1",
    "k" * 70_000 + ": 1",
    "[" + "s" * 5000 + "]",
    "[DEFAULT]\nrate = 5",
    "[experiment]\nname = %(name)s",
    "# é " * 1000,
    "\0",
    "=",
    ":",
)

_SETTING_ACCIDENTS = (
    *(_value, _value, _value, _value, _value_by_word, _other_word, _near_word, _setting_lines),
    *(_setting_lines, _snippet, _snippet, _snippet_value),
)
