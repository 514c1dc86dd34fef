"""Strategies for implausible numbers and words."""

from hypothesis import strategies as st

# This file exists only if a program has executed an input.
EXECUTED = "executed_by_a_case"

# Implausible numbers, and text that some parsers accept as a number.
NUMERALS = (
    *("5", "60", "0.1", "-1", "0", "", " ", "nan", "NaN", "inf", "-inf", "infinity", "-0.0"),
    *("-180", "360", "1000", "99999", "1e5", "1e9", "-1e9", "1e12", "1e18", "1e30", "1e100"),
    *("1e308", "-1e308", "1e400", "1e-320", "1e99999", "-5e-324", "1e-9", "9" * 400),
    *("2147483648", "9223372036854775808", "18446744073709551616", "1500000000"),
    *("0x10", "1_000", "1,5", "--1", "1e", "+", "true", "null", "~", "0.1.2", "½", "٣", "1 2"),
    *("1d5", "12:30:45", "2019-05-16", "2019-05-16T12:00:00Z", "${1/0}", "3.0j", "#", "x"),
    "0." + "3" * 400,
)

# Words that a user, a script or an attacker may enter.
WORDS = (
    *("x", "a b", "", " ", "'", '"', "''", '"a', "a" * 300, "b" * 5000, "../../nowhere/x"),
    *(f"$(touch {EXECUTED})", f"`touch {EXECUTED}`", f"${{open('{EXECUTED}','w')}}", "%s%n%x"),
    *(f"!!python/object/apply:os.system ['touch {EXECUTED}']", f"' + open('{EXECUTED}','w') + '"),
    *(f"!radians \"open('{EXECUTED}', 'w')\"", f"rad(open('{EXECUTED}', 'w'))"),
    *(f"$(eval open('{EXECUTED}', 'w'))", "$(arg x)", "$(find x)", "$(env HOME)", "{x}", "{0}"),
    *("☃", "a\u202eb", "e\u0301", "\U0001f600", "a\\b", "\\", "a\nb", "a\rb", "\x7f"),
    *("-", "--", "--help", "-1", "~", "{", "[", "[[", "]", "&a", "*a", "<<", "<", "&amp;"),
    *("true", "null", "none", "yes", "a\tb", "a;b", "a ; b", "a#b", "a=b", "a:b", "=", ":="),
    *("/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem", "CON", "NUL"),
    *("csv", "bag", "tum", "time", "yaw"),
)

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


def numbers():
    """Return a strategy for numbers as text, many of them unusable."""
    return st.one_of(
        st.sampled_from(NUMERALS),
        st.floats().map(repr),
        st.integers(-(2**65), 2**65).map(str),
    )


def words():
    """Return a strategy for words, including text that parsers, shells or terminals interpret."""
    return st.one_of(st.sampled_from(WORDS), st.sampled_from(WORDS), TEXT, numbers())


def arguments():
    """Return a strategy for words that the operating system accepts as arguments."""
    return words().map(lambda word: word.replace("\0", ""))
