"""Writing numbers, comments and XML tags so that they read back as what they were."""

from __future__ import annotations

from typing import Iterable, Sequence
from xml.sax.saxutils import escape

from imu_simulation_framework.sentences import printable


def number(value) -> str:
    """Return the shortest text that reads back as the same double."""
    return repr(float(value))


def numbers(values: Iterable) -> str:
    """Return several numbers with spaces between them."""
    return " ".join(map(number, values))


def yaml_comment(lines: Sequence[str]) -> str:
    """Return lines as comments of a YAML file."""
    return "".join(f"# {printable(line)}\n" for line in lines)


def xml_comment(lines: Sequence[str]) -> str:
    """Return lines as one comment of an XML file, in which two hyphens may not touch."""
    if not lines:
        return ""
    inside = "\n".join(f"  {_without_double_hyphen(printable(line))}" for line in lines)
    return f"<!--\n{inside}\n-->\n"


def tag(name: str, content, indent: int = 0) -> str:
    """Return a line with a tag around a text or a number."""
    text = content if isinstance(content, str) else number(content)
    return f"{'  ' * indent}<{name}>{escape(text)}</{name}>\n"


def heading(specification, format_name: str, remarks: Sequence[str]) -> list[str]:
    """Return the lines of the comment that a written file begins with."""
    lines = [f"{specification.name}: IMU parameters in the format {format_name}."]
    if remarks:
        lines.append("Not said here, or not as it was:")
        lines.extend(f"- {sentence}" for sentence in remarks)
    return lines


def _without_double_hyphen(text):
    while "--" in text:
        text = text.replace("--", "- -")
    return text.rstrip("-")
