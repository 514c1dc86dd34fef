"""What can happen to settings: INI, YAML, XML, JSON."""

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
    """Put something for one match of a pattern, or behind the text that has none."""
    match = random.choice([*pattern.finditer(text)] or [None])
    if match is None:
        return text + other(random, "")
    return text[: match.start()] + other(random, match.group()) + text[match.end() :]


def _near(random, found):
    """A word with a letter too many."""
    place = random.randrange(len(found) or 1)
    return found[:place] + random.choice("xe_A1") + found[place:]


def _setting_lines(random, text):
    """A line, or all of them, is gone, doubled, moved, or something hostile stands there."""
    lines = text.splitlines() or [""]
    place = random.randrange(len(lines))
    before, line, after = lines[:place], lines[place], lines[place + 1 :]
    snippet = [*before, random.choice(_SNIPPETS), line, *after]
    lines = random.choice(
        (
            before + after[random.choice((0, 0, 2)) :],
            [*before, line, line, *after],
            [*before, random.choice((" ", "  ", "\t", "    ")) + line, *after],
            [*before, line.strip(), *after],
            random.sample(lines, len(lines)),
            [*before, line],
            *[snippet] * 5,
        )
    )
    return "\n".join(lines) + "\n"


_NESTED = 3000


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
    *("\n".join(f.format(k) for k in range(3000)) for f in ("key_{0} = 1", "k{0}: 1", "<t{0}/>")),
    *("k" * 70_000 + sign for sign in (" = 1", ": 1")),
    "[" + "s" * 5000 + "]",
    "[DEFAULT]\nrate = 5",
    "[experiment]\nname = %(name)s",
    "# é " * 1000,
    *("\0", "=", ":"),
)


def _short_snippet(random, found):
    return random.choice(_SNIPPETS[:12]).replace("\n", " ")


_SETTING_ACCIDENTS = (
    *[lambda random, text: _replaced(random, _VALUE, text, lambda r, _: number(r))] * 4,
    lambda random, text: _replaced(random, _VALUE, text, lambda r, _: word(r)),
    lambda random, text: _replaced(random, _WORD, text, lambda r, _: word(r)),
    lambda random, text: _replaced(random, _WORD, text, _near),
    lambda random, text: _replaced(random, _VALUE, text, _short_snippet),
    *[_setting_lines] * 4,
)
