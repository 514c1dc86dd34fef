"""Numbers that a xacro file gives by the properties that it defines itself.

``<xacro:property name="noise" value="0.0003"/>`` directly below the root, and ``${2 * noise}``
anywhere: where an expression has only numbers, such properties, ``pi``, ``+ - * / **`` and
brackets, the number it makes replaces it. Everything else, parameters and local properties of
macros and arguments above all, is left as it is, for xacro itself to expand.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from typing import Callable, Mapping

_EXPRESSION = re.compile(r"\$\{([^{}]{1,200})\}")
_PROPERTIES = ("xacro:property", "property")
_MACROS = ("xacro:macro", "macro")
_OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def expand_properties(root):
    """Replace expressions in the texts of a file's tags by the numbers that they are.

    Parameters
    ----------
    root : Tag
        Is changed.
    """
    values = {"pi": math.pi}
    again = set()
    for tag in root.children:
        name, text = tag.attributes.get("name"), tag.attributes.get("value")
        if tag.name not in _PROPERTIES or name is None or text is None:
            continue
        # Which of two values holds where is xacro's affair.
        if name in values:
            again.add(name)
        values[name] = _number(expanded(text, values))
    known = {
        name: value for name, value in values.items() if value is not None and name not in again
    }
    waiting = [(root, known)]
    while waiting:
        tag, visible = waiting.pop()
        if tag.name in _MACROS:
            hidden = _own_names(tag)
            visible = {name: value for name, value in visible.items() if name not in hidden}
        tag.text = expanded(tag.text, visible)
        waiting.extend((child, visible) for child in tag.children)


def expanded(text: str, values: Mapping[str, float | None]) -> str:
    """Return a text with each expression in it that values make a number replaced by that."""

    def replacement(match):
        try:
            result = _evaluate(ast.parse(match.group(1).strip(), mode="eval").body, values)
            return repr(result) if math.isfinite(result) else match.group()
        except (SyntaxError, ValueError, ArithmeticError, LookupError, TypeError, RecursionError):
            return match.group()

    return _EXPRESSION.sub(replacement, text) if "${" in text else text


def _own_names(macro):
    # A parameter may have a default: name:=value, name:=^; a block begins with a star.
    names = {word.lstrip("*").split(":=")[0] for word in macro.attributes.get("params", "").split()}
    inner = (tag for tag in macro.walk() if tag.name in _PROPERTIES)
    return names | {tag.attributes.get("name") for tag in inner}


def _evaluate(node, values) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        # Not int: 9 ** 9 ** 9 would be computed to its last digit.
        return float(node.value)
    if isinstance(node, ast.Name):
        value = values[node.id]
        if value is None:
            raise ValueError(node.id)
        return value
    if isinstance(node, ast.BinOp):
        sides = _evaluate(node.left, values), _evaluate(node.right, values)
        return _OPERATORS[type(node.op)](*sides)
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_evaluate(node.operand, values))
    raise ValueError(type(node).__name__)


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None
