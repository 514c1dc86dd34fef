"""Strategies for damaged settings: INI, YAML, XML and JSON."""

import re

import yaml
from hypothesis import strategies as st

from .tables import encoded_text
from .values import EXECUTED, numbers, words

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_]\w+")


@st.composite
def damaged_settings(draw, text) -> bytes:
    """Generate a settings file with one to three edits of its text."""
    for _ in range(draw(st.integers(1, 3))):
        text = draw(st.sampled_from(_EDITS))(draw, text)
    return draw(encoded_text(text, ":"))


def _replace(draw, pattern, text, values):
    """Replace one match of a pattern; without a match, append the replacement."""
    matches = [match.span() for match in pattern.finditer(text)] or [(len(text), len(text))]
    start, stop = draw(st.sampled_from(matches))
    return text[:start] + draw(values) + text[stop:]


def _replace_number(draw, text):
    return _replace(draw, _NUMBER, text, numbers())


def _replace_value(draw, text):
    return _replace(draw, _NUMBER, text, st.one_of(words(), st.sampled_from(_STRUCTURES)))


def _replace_word(draw, text):
    return _replace(draw, _WORD, text, words())


def _misspell_word(draw, text):
    spans = [match.span() for match in _WORD.finditer(text)] or [(0, len(text))]
    place = draw(st.integers(*draw(st.sampled_from(spans))))
    return text[:place] + draw(st.sampled_from("xe_A1")) + text[place:]


def _edit_line(draw, text):
    """Remove, repeat or indent a line, truncate the text after a line, or reverse all lines."""
    lines = text.splitlines() or [""]
    place = draw(st.integers(0, len(lines) - 1))
    head, line, tail = lines[:place], lines[place], lines[place + 1 :]
    lines = draw(
        st.sampled_from(
            (
                head + tail,
                head + tail[2:],
                [*head, line, line, *tail],
                [*head, f"  {line}", *tail],
                [*head, f"\t{line}", *tail],
                [*head, line.strip(), *tail],
                [*head, line],
                lines[::-1],
            )
        )
    )
    return "\n".join(lines) + "\n"


def _insert_line(draw, text):
    lines = text.splitlines()
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(_LINES)))
    return "\n".join(lines) + "\n"


_EDITS = (
    *(_replace_number, _replace_number, _replace_number, _replace_value, _replace_word),
    *(_misspell_word, _edit_line, _edit_line, _insert_line, _insert_line),
)


@st.composite
def damaged_trees(draw, text) -> bytes:
    """Generate a YAML mapping in which one value is removed or replaced by arbitrary data."""
    tree = yaml.safe_load(text)
    parent, key = draw(st.sampled_from([*_places(tree)]))
    if draw(st.booleans()):
        parent[key] = draw(yaml_data())
    elif isinstance(parent, dict) and draw(st.booleans()):
        parent[draw(words())] = parent.pop(key)
    else:
        del parent[key]
    return yaml.safe_dump(tree, allow_unicode=True).encode()


def _places(tree):
    """Yield the container and the key or index of each value in a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def yaml_data():
    """Return a strategy for arbitrary YAML data: scalars, sequences and mappings."""
    scalars = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), words(), st.dates(), st.binary()
    )
    return st.recursive(
        scalars,
        lambda items: st.one_of(
            st.lists(items, max_size=4), st.dictionaries(words(), items, max_size=3)
        ),
        max_leaves=6,
    )


_DEPTH = 3000
_LAUGHS = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "\n".join(
    f"a{k}: &a{k} [" + ", ".join([f"*a{k - 1}"] * 9) + "]" for k in range(1, 10)
)
_ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY a{k} "{f"&a{k - 1 if k > 1 else str()};" * 9}">' for k in range(1, 10))
    + "]><x>&a9;</x>"
)
# Values that are not numbers: structures, tags, references and code.
_STRUCTURES = (
    *("[1, 2, 3]", "[[1, 2], [3]]", "{a: 1, a: 2}", "&a [*a]", "*b", "!!binary aGVsbG8="),
    *(f"!!python/object/apply:os.system ['touch {EXECUTED}']", "!!timestamp 2001-01-01"),
    *("[" * _DEPTH, "{a: " * _DEPTH, "[" * _DEPTH + "]" * _DEPTH, f"${{open('{EXECUTED}', 'w')}}"),
)
# Lines that exhaust a parser, change its structure or include other data.
_LINES = (
    *_STRUCTURES,
    *("\0", "=", ":", "# é " * 1000, "[" + "s" * 5000 + "]", "k" * 70_000 + ": 1"),
    *("k" * 70_000 + " = 1", "[DEFAULT]\nrate = 5", "[experiment]\nname = %(name)s"),
    *(_LAUGHS, "&a\n<<: *a", "<<: [{a: 1}, {b: 2}]", "? [a, b]\n: c", "--- \n... \n---"),
    *("%YAML 9.9\n---", "- - - - - -" * 300, "{" + '"a": {' * _DEPTH),
    *(_ENTITIES, '<!DOCTYPE x SYSTEM "/etc/passwd"><x/>', "<![CDATA[ 1 ]]>"),
    '<!DOCTYPE x [<!ENTITY y SYSTEM "/etc/passwd">]><x>&y;</x>',
    *("<a>" * _DEPTH, "<a>" * _DEPTH + "</a>" * _DEPTH, "&#0; &#xD800; &lt;"),
    '<?xml version="1.0" encoding="nonsense"?>',
    '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>',
    '<xacro:include filename="/etc/passwd"/>',
    *("\n".join(f.format(k) for k in range(3000)) for f in ("key_{0} = 1", "k{0}: 1", "<t{0}/>")),
)
