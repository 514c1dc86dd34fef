"""Numbers and words that nobody should write, and somebody does.

Each function takes a ``random.Random``, whose numbers are the same in every version of Python.
"""

MADE = "made_by_a_trial"  # a file that appears only if something that was read has been executed

NUMBERS = (
    *("nan", "NaN", "inf", "-inf", "infinity", "1e308", "-1e308", "1e400", "1e-320", "-0.0", "0"),
    *("", " ", "-1", "1e9", "-1e9", "1e12", "1e18", "1e30", "1e100", "9" * 400, "0." + "3" * 400),
    *("0x10", "1_000", "1,5", "--1", "1e", "+", "true", "null", "~", "1e99999", "0.1.2", "½", "٣"),
    *("1d5", "12:30:45", "2019-05-16", "2019-05-16T12:00:00Z", "${1/0}", "1 2", "3.0j", "#", "x"),
    *("2147483648", "9223372036854775808", "18446744073709551616", "1500000000", "1e-9", "0.1"),
    *("5", "60", "-180", "360", "1000", "99999", "1e5", "-5e-324"),
)

WORDS = (
    *("", " ", "'", '"', "''", '"a', "a" * 300, "b" * 5000, "../../nowhere/x"),
    *("$(touch " + MADE + ")", "`touch " + MADE + "`", "${open('" + MADE + "','w')}", "%s%n%x"),
    *("!!python/object/apply:os.system ['touch " + MADE + "']", "' + open('" + MADE + "','w') + '"),
    *("!radians \"open('" + MADE + "', 'w')\"", "rad(open('" + MADE + "', 'w'))"),
    *("$(eval open('" + MADE + "', 'w'))", "$(arg x)", "$(find x)", "$(env HOME)", "{x}", "{0}"),
    *("☃", "a\u202eb", "e\u0301", "\U0001f600"),
    *("-", "--", "--help", "-1", "~", "{", "[", "[[", "]", "&a", "*a", "<<", "<", "&amp;"),
    *("true", "null", "none", "yes", "a b", "a\tb", "a;b", "a ; b", "a#b", "a=b", "a:b", "=", ":="),
    *("nan", "1e308", "0", "-1", "/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem"),
    *("csv", "bag", "tum", "time", "x", "yaw", "CON", "NUL", "a\\b", "\\", "a\nb", "a\rb", "\x7f"),
)


def number(random) -> str:
    """A number as no file should have it, or one that is only in the wrong place."""
    if random.random() < 0.15:
        return repr(random.choice((-1, 1)) * 10.0 ** random.uniform(-320, 308))
    return random.choice(NUMBERS)


def word(random) -> str:
    """A word that a person, a script or an enemy may write."""
    return random.choice(WORDS) if random.random() < 0.7 else number(random)
