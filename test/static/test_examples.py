"""The examples are short; the guide's gallery and the tests of the wheel run them."""

MAX_LINES = 30


def test_examples_are_short(repository):
    examples = sorted((repository / "examples").glob("*.py"))
    assert examples
    for path in examples:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES, path
